/* walker.h: the table walker, a program that goes over every row of vm/prim.def and tests what the row
 * says of itself. A new row is tested by being a row: its samples come from its class, or from its
 * examples, and only rows with structured arguments need a line in samples.c.
 *
 * Shared here: the walker's state, samples, and how texts become values. */
#ifndef REPLAY_WALKER_H
#define REPLAY_WALKER_H
#include "host.h"
#include "print.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct counts {
    unsigned rows, functions, examples, samples, predicted, differentiated, constant, bits, naive, awkward, mistakes, failures;
} counts;

typedef struct walker {
    host h;     /* one thread */
    host pair;  /* two threads */
    value asks; /* the record of walk.rl's functions, in h */
    counts n;
    const prim *row;
    const char *imports; /* put before an example; NULL: nothing */
} walker;

enum {
    SAMPLE_VALUE = 1, /* no derivatives: a kink, or whole numbers */
    SAMPLE_LARGE = 2, /* enough elements for two threads; values only */
};
typedef struct sample {
    const char *row;
    const char *args; /* a tuple, in Replay; arguments by position */
    unsigned flags;
    const char *call; /* the function applied, NULL: the row with as many arguments as the tuple has */
} sample;

/* --- samples.c ----------------------------------------------------------------------------------- */
/* Calls `take` with each sample of a row: those listed, those of its class, and when there are neither
   those its examples give. Texts live during the call only. Returns how many there were. */
unsigned samples_of(walker *w, const prim *p, void (*take)(walker *w, const prim *p, const sample *s));
/* Why a row has no derivative test, or NULL. */
const char *exempt(const prim *p);
/* Splits `name(…)` of an example into its positional arguments; see samples.c. */

/* --- main.c -------------------------------------------------------------------------------------- */
/* Reports a failure of the current row. */
void fail(walker *w, const char *what, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The value of an expression; V_UNDEF after a failure was reported. */
value evaluate(walker *w, host *h, const char *expression);
/* The sample's function and its arguments, a tuple. False after a failure was reported. */
bool sample_values(walker *w, host *h, const prim *p, const sample *s, value *f, value *args);
/* The message of vm->error, which is cleared; the text is good until the next call. */
const char *take_error(host *h);

/* --- examples.c, predict.c, bits.c, derive.c, awkward.c, mistakes.c ----------------------------------- */
void walk_examples(walker *w, const prim *p);
/* The same for every function of the modules in stdlib/. */
void walk_modules(walker *w);
/* Runs an expression and compares what the REPL would show, on one line. */
void run_example(walker *w, const char *expression, const char *expected);
void walk_prediction(walker *w, const prim *p, const sample *s);
void walk_bits(walker *w, const prim *p, const sample *s);
void walk_naive(walker *w, const prim *p, const sample *s);
bool walk_derivatives(walker *w, const prim *p, const sample *s); /* whether anything was tested */
void walk_awkward(walker *w);
void walk_mistakes(walker *w, const prim *p, const sample *s);

/* True when the row may be called again and again with nothing but values in and a value out. */
static inline bool repeatable(const prim *p) { return !(p->attrs & (A_RANDOM | A_OUTPUT | A_INPUT | A_EFFECT)); }
#endif
