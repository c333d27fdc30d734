/* opt.h: what the parts of the optimiser share. */
#ifndef REPLAY_OPT_H
#define REPLAY_OPT_H
#include "code.h"
#include "vm.h"

/* Removes what is unused from a body, in place; see code_drop_dead. `fallible`: what could fail may go
   although the user wrote it; `output`: so may A_OUTPUT primitives. False when refused. */
bool dead_sweep(vm *m, block *body, uint32_t nregs, bool fallible, bool output);

/* How many of a LOOP's sources and block parameters stand before the carried ones, and how many values
   its block yields before them. */
typedef struct loop_shape {
    uint32_t sources, params, yields;
} loop_shape;
loop_shape loop_shape_of(const instr *i);

static inline instr *block_end(const block *k) { return k->list[k->n - 1]; }
#endif
