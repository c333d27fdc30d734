/* fuse_parts.h: a fused group, between reading it (fuse.c) and running it (fuse_run.c). */
#ifndef REPLAY_FUSE_PARTS_H
#define REPLAY_FUSE_PARTS_H
#include "elementwise.h"
#include "fuse_sink.h"

enum {
    NODES = 40,             /* the most primitives in one group */
    OPERANDS = 24,          /* arrays and numbers read */
    CELLS = 128,            /* values known by slot */
    TOUCHED = 96,           /* slots read or written */
    FUSE_TILE_BYTES = 4096, /* of a node in a tile: ten of them in a first-level cache of 48 KiB */
};

/* A value somebody reads in the group: one that exists, or a node. */
typedef struct cell {
    value v; /* when node < 0; borrowed from `home`, or owned */
    int16_t node;
    int16_t sink; /* its number, -1: none; then v is not known yet */
    bool owned;
    uint32_t home; /* slot it was found in, SLOT_NONE: made here */
} cell;

typedef struct origin {
    enum { FROM_NODE, FROM_OPERAND } from;
    uint8_t at;
} origin;

typedef struct node {
    tile_kernel *kernel; /* NULL: converts its one source */
    origin src[ELEMENTWISE_ARGS];
    uint8_t n;
    dtype type, from; /* of the result; converting: of the source */
    int16_t last;     /* node that reads it last */
    int16_t buffer;   /* tile it is computed in; -1: in `result` */
    int16_t output;   /* number of its array, -1: none */
} node;

typedef struct operand {
    int16_t cell;
    dtype to;
    bool single, flat;    /* one element for all; lies as the result does */
    int16_t last, buffer; /* node that reads it last; tile it is gathered in */
    shaped s;             /* strides along the group's axes */
    union {
        double f64;
        float f32;
        int64_t i64;
        uint8_t b;
    } one;
} operand;

typedef struct touched {
    uint32_t slot;
    int16_t cell;
    bool taken;
} touched; /* cell -1: empty; taken: what was there is used up */

typedef struct fuser {
    node nodes[NODES];
    int nnodes;
    operand operands[OPERANDS];
    int noperands;
    cell cells[CELLS];
    int ncells;
    touched touched[TOUCHED];
    int ntouched;
    uint32_t *stamp, *where, nslots, now; /* by slot: stamp == now: it is touched[where] */
    int rank;
    int64_t shape[RANK_MAX], size;
    int axes;
    int64_t merged[RANK_MAX];
    bool rows, gathers;
    uint64_t ops;
    double work;
    int tile, buffers;
    array *out[NODES];
    int nout;
    sink sinks[SINKS];
    int nsinks;
    char *state;
    size_t state_each, state_bytes; /* of the sinks: one after the other, for each thread */
    const volatile int *stop;       /* set: the program is to stop */
    char own[4096];                 /* … when that is enough */
} fuser;

/* Merges axes that all operands walk alike, and says of each how its elements are found. */
void fuse_collapse(fuser *u);
/* Who reads what last, which nodes nobody needs, and tiles for the others. */
void fuse_assign(fuser *u);
/* Every element of what is wanted: u->out and the sinks are open. */
void fuse_run_all(const fuser *u, int threads);
#endif
