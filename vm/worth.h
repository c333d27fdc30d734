/* worth.h: whether checkpoint blocks save memory, seen while a program runs; a warning for each that never did.
 *
 * What a block's replay records (S bytes) would without the block have been held from its first run on. That
 * costs something only in so far as other values were held for the adjoint meanwhile and are gone when the
 * replay runs: with H the most that was held from the block's run to its replay (residuals, and what other
 * replays recorded), and B what is held when the replay begins, this block saved min(S, H − B). A block that
 * saves less than a sixteenth of S every time it is replayed saves nothing: it encloses everything, or is the
 * last thing before the adjoint begins, or what it records is no larger than what it is replayed from.
 * Where that cannot be told (nothing but scalars, a derived residual, a budget) it is taken to save. All are
 * bytes of arrays; nothing is timed. */
#ifndef REPLAY_WORTH_H
#define REPLAY_WORTH_H
#include "residual.h"

typedef struct worth worth;
/* What is known about a replay that runs: from worth_replay to worth_recorded. */
typedef struct worth_run {
    uint32_t block; /* UINT32_MAX: not followed */
    size_t most, held, live;
} worth_run;

bool worth_open(vm *m);
void worth_close(vm *m);
/* p's block is about to run for the first time. A list that finds no memory follows less. */
void worth_made(vm *m, residual *p);
/* p dies. */
void worth_gone(vm *m, residual *p);
/* p is about to be forced, and was: what that gave is live. */
worth_run worth_replay(vm *m, const residual *p);
void worth_recorded(vm *m, worth_run r);
/* A run is over: a warning for each block that saved nothing, once in a program. */
void worth_report(vm *m);
#endif
