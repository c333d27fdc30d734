/* trace.h: what happens while a gradient runs, recorded through vm->observer for the views.
 *
 * Rows are the values that the user's functions computed, in order, each with the cotangent the adjoint
 * program gave it; lines are those values, their cotangents and what replays made again, as they came. Samples are the bytes held over the run. Events are steps of loops: run, stored,
 * restored, reversed. */
#ifndef REPLAY_TRACE_H
#define REPLAY_TRACE_H
#include "host.h"

typedef enum trace_phase { PHASE_OUTSIDE, PHASE_FORWARD, PHASE_REPLAY, PHASE_ADJOINT, PHASES } trace_phase;

typedef struct trace_row {
    const code *code; /* the user's function */
    const instr *i;   /* what gave the value */
    reg r;
    uint32_t depth;  /* calls around it */
    value v, cot;    /* owned; cot V_UNDEF: none reached it */
    uint32_t before; /* the row of the same register before it without a cotangent yet, UINT32_MAX none */
    bool block;      /* inside a checkpoint block */
} trace_row;

/* One line of the walk through both programs. */
/* PHASE_ADJOINT: the row's cotangent is whole; PHASE_REPLAY: `row` counts in trace.again. */
typedef struct trace_line {
    trace_phase phase;
    uint32_t row;
} trace_line;

typedef struct trace_sample {
    double at;                /* scalar operations so far */
    size_t live, saved, high; /* bytes: of all arrays, of those held by residuals; the most since the last sample */
    size_t base;              /* live when the gradient began */
    trace_phase phase;
} trace_sample;

typedef enum trace_act { ACT_ADVANCE, ACT_RECORD, ACT_REPLAY, ACT_REVERSE, ACT_STORE, ACT_RESTORE } trace_act;
typedef struct trace_event {
    trace_act act;
    uint32_t step;
    bool block; /* STORE, RESTORE: of a block, not of a loop with slots */
} trace_event;

enum { TRACE_ROWS = 1, TRACE_MEMORY = 2, TRACE_EVENTS = 4 };

typedef struct trace {
    vm *m;
    unsigned want;
    trace_row *rows;
    uint32_t nrows, rows_cap;
    trace_row *again;
    uint32_t nagain, again_cap; /* values that replays made again */
    trace_line *lines;
    uint32_t nlines, lines_cap;
    trace_sample *samples;
    uint32_t nsamples, samples_cap;
    trace_event *events;
    uint32_t nevents, events_cap;
    uint32_t nsteps; /* distinct steps */
    bool full;       /* something was left out: too much to keep */
    struct watcher *w;
} trace;

/* Starts observing the VM; false with the error set. */
bool trace_open(trace *t, vm *m, unsigned want);
/* Stops observing; the records stay. */
void trace_stop(trace *t);
void trace_close(trace *t);
const trace_row *trace_line_row(const trace *t, const trace_line *l);
/* The user's name of a register, or 0. */
symbol trace_symbol(const code *c, reg r);
/* The source of an instruction on one line, cut after `most` bytes. */
void trace_source(const instr *i, size_t most, text *out);
/* Is the primitive one that the user wrote? */
bool trace_is_shown(const prim *p);
/* Does it make the key of an index, as `:, 0` of x[:, 0]? */
bool trace_is_key(const instr *i);
uint32_t trace_line_of(const trace_row *r);
#endif
