/* budget.h: running within a number of bytes: what to keep of loops, and what to let go when memory is short.
 *
 * Under a budget every loop of a forward pass is lazy and runs recording. While memory lasts it keeps its
 * entries and, far apart, a state. When an allocation would pass the budget, budget_evict lets go of what
 * costs least to make again per byte: an entry (one step) or a state (the steps from the one below). From
 * then on the loop holds states where a plan for the room it has puts them: Revolve over blocks of w steps,
 * w entries being recorded at once, with w such that the fewest steps are repeated. The same choice is made
 * anew, for the room there is then, whenever the adjoint program needs an entry that is gone.
 *
 * Costs are scalar operations, counted, never time; so is room: the same run lets go of the same things. */
#ifndef REPLAY_BUDGET_H
#define REPLAY_BUDGET_H
#include "looptape.h"

/* memory.evict; ctx is the VM. */
/* Measuring what is taken for the moment, from here to there: the two nest. */
void budget_mark(vm *m, looptape *l);
size_t budget_spike(vm *m, looptape *l);
bool budget_evict(void *ctx, size_t bytes);
void budget_join(vm *m, looptape *l);
void budget_leave(vm *m, looptape *l);

/* How to reverse n steps from a held state with `room` bytes for further states and entries: blocks of w steps,
   and states held at once, the first included. */
typedef struct budget_plan {
    uint64_t w, s;
} budget_plan;
budget_plan budget_choose(uint64_t n, size_t room, size_t entry, size_t state);
/* Steps that p repeats, beside recording each once. */
uint64_t budget_runs(uint64_t n, budget_plan p);
/* How far to run from the state before holding the next one; n or more: not at all, record. */
uint64_t budget_split(uint64_t n, budget_plan p);

/* l begins an iteration: should its state be held? */
bool budget_holds(vm *m, looptape *l);
/* Bytes of arrays that v leads to, structures gone into. */
size_t budget_size(const value *v, uint32_t n);
/* About how many bytes the loops born from one moment to another (vm->tapes_made) hold and may let go of. */
size_t budget_left(const vm *m, uint64_t from, uint64_t to);
/* The adjoint program is through with the entry it took last (looptape_has), and about to take one. */
void budget_reversed(vm *m, looptape *l);
/* As looptape_aim, for a loop under a budget. */
bool budget_aim(vm *m, looptape *l, uint64_t want);
#endif
