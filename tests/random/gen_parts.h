/* gen_parts.h: what the files of the generator share: types, nodes, the state of a generation. */
#ifndef RANDOM_GEN_PARTS_H
#define RANDOM_GEN_PARTS_H
#include "gen.h"

/* What an expression gives. Floats have rank 0 to 2. A list is a tuple of unknown length of `part[0]`.
   A function's parameters are part[0..n-2], its result is part[n-1]. */
typedef enum type_kind { T_FLOAT, T_INT, T_BOOL, T_TEXT, T_RECORD, T_TUPLE, T_LIST, T_FN } type_kind;
enum { PARTS_MAX = 6 };
typedef struct type {
    type_kind kind;
    int rank, dim[2];
    int n;
    const struct type *part[PARTS_MAX];
    const char *name[PARTS_MAX]; /* of a record's fields */
} type;

typedef enum node_kind {
    N_EXPR,      /* form with `$` for each kid, in order */
    N_STMT,      /* the same, a statement */
    N_SEQ,       /* statements, a line each; kids */
    N_COND,      /* a condition: kid 0, printed through tr(mark, …) in a trace */
    N_PRINT,     /* print("tag", kids…) */
    N_CHECKPOINT /* form: the options, with parentheses, or ""; kid 0: the block's N_SEQ */
} node_kind;

typedef struct node {
    node_kind kind;
    const char *form;
    const type *type; /* of an expression */
    double bound;     /* of a float expression: |each element| is at most this */
    int mark;         /* of a condition */
    int nkids, cap;
    struct node **kid;
    /* What the minimiser did: */
    bool gone;  /* prints nothing (a statement) or a constant (an expression) */
    bool plain; /* a checkpoint that is none any more */
    bool bare;  /* a checkpoint that lost its options */
    struct node *instead;
} node;

typedef struct var {
    const char *name;
    const type *type;
    int owner;   /* number of the function it is local to; 0: top level */
    bool fixed;  /* not to be assigned again */
    int cost;    /* of calling it, if it is a function */
    bool global; /* a top-level fn: may be called from everywhere */
} var;

/* What surrounds the code being made. */
typedef struct place {
    int fn;             /* number of the function */
    const type *result; /* what its `return` gives; NULL where it may not stand */
    bool loop;          /* break and continue may stand here */
    int depth;          /* constructs around */
    int blocks;         /* checkpoint blocks around, within this function */
    int times;          /* how often this runs per call of the function */
    bool pure;          /* nothing random and no print (a function given to a derivative) */
} place;

enum { VARS_MAX = 400 };
struct gen {
    uint64_t seed, rng;
    gen_config config;
    struct chunk {
        struct chunk *next;
        char *at;
        size_t left;
    } * chunks;
    var vars[VARS_MAX];
    int nvars;
    int serial;    /* fresh names */
    int functions; /* fresh function numbers */
    int marks;
    int dims[3];       /* the sizes this program uses */
    int cost;          /* of the function being made, in statements executed per call */
    int room;          /* statements the function may still have */
    bool big;          /* has an axis too long to print */
    bool stops;        /* stop_grad of something active */
    bool names;        /* name("n0", …) was used */
    const type *param; /* of p */
    node *top, *driver, *trace;
    node *edited, saved;
    struct edit {
        node *of;
        int kind, arg;
    } * edits;
    size_t nedits, edits_cap;
    bool listed;
};

/* --- gen_tree.c ----------------------------------------------------------------------------- */
void *gen_alloc(gen *g, size_t bytes);
const char *gen_format(gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
uint64_t gen_random(gen *g);
int gen_below(gen *g, int n); /* 0 … n - 1 */
bool gen_chance(gen *g, int percent);
double gen_number(gen *g); /* within [-1.5, 1.5], four decimals, never 0 */
int gen_dim(gen *g);
bool gen_knows(gen *g, const char *name);

const type *gen_type_float(gen *g, int rank, int d0, int d1);
const type *gen_type_of_kind(gen *g, type_kind kind);
const type *gen_type_of_parts(gen *g, type_kind kind, int n, const type *const *parts, const char *const *names);
bool gen_type_equal(const type *a, const type *b);
int gen_type_size(const type *t); /* elements of a float */

node *gen_node(gen *g, node_kind kind, const char *form, int nkids, ...);
node *gen_part(gen *g, const type *t, double bound, const char *form, int nkids, ...);
void gen_add(gen *g, node *n, node *kid);

/* --- gen_expr.c ----------------------------------------------------------------------------- */
/* An expression of type t. depth bounds its nesting. */
node *gen_expr(gen *g, const place *at, const type *t, int depth);
/* The same, of a float, within [-2, 2]. */
node *gen_tame(gen *g, const place *at, const type *t, int depth);
node *gen_condition(gen *g, const place *at, int depth); /* an N_COND */
/* A literal, the same for equal seeds: with numbers within [-1.5, 1.5]. */
node *gen_literal(gen *g, const type *t);
const type *gen_float_type(gen *g);
const type *gen_any_type(gen *g, int depth);

/* --- gen_stmt.c ----------------------------------------------------------------------------- */
void gen_statements(gen *g, place at, node *seq, int n);
/* `fn(a, b) = …` or `fn(a, b) { … }` of type t; *cost is what a call costs. */
node *gen_function(gen *g, const place *at, const type *t, int *cost, bool pure);
/* A top-level `fn`, added to seq and to the variables. */
void gen_function_statement(gen *g, node *seq, const char *name, const type *t, const char *const *params, int room);
void gen_recursive(gen *g, node *seq);
node *gen_block(gen *g, const place *at, const type *t, int depth); /* with its own statements */
#endif
