/* prim.h: the table of primitives, as C.  prim.def is the list; this is what a row becomes.
 *
 * A row without a rule kind does not compile. The derivative of a primitive is Replay text in its
 * row, compiled once and lazily; the differentiation passes inline the resulting Code.
 *
 * Rule texts. In a vjp text `g` is the cotangent of the result, `y` the result, and each argument
 * goes by its name in the signature. It is a list `x: expression; w: expression`, one for each
 * argument that has a derivative; an argument not listed has none. Broadcasting and dtypes never
 * appear: the passes put `reduce_to(…, form(x))` and `spread_to(…, form(y))` around.
 *   ELEMENTWISE  text gives ∂y/∂x for each argument; vjp is zmul(g, p), jvp the sum of zmul(dx, p)
 *   LINEAR       text gives the transpose for each linear argument; the jvp is the operation
 *                itself with tangents in place of the linear arguments
 *   BILINEAR     as LINEAR, linear in each listed argument apart; jvp is op(da, b) + op(a, db)
 *   CUSTOM       vjp text as LINEAR's; jvp text is one expression in dx (tangent of x, instantiated
 *                when it is a symbolic zero), x …, y
 *   CONSTANT     no text; the derivative is structurally zero
 *   REFUSE       vjp text is the reason the user is told */
#ifndef REPLAY_PRIM_H
#define REPLAY_PRIM_H
#include "array.h"

typedef enum rule_kind { RULE_ELEMENTWISE = 1, RULE_LINEAR, RULE_BILINEAR, RULE_CUSTOM, RULE_CONSTANT, RULE_REFUSE } rule_kind;

/* Attributes, or-ed. */
enum {
    A_PURE = 0,
    A_MAPS = 1,          /* maps over tuples and records of equal structure, scalars broadcasting */
    A_RANDOM = 2,        /* draws from the random state; never removed, never moved */
    A_OUTPUT = 4,        /* visible effect: silent while a region is replayed */
    A_INPUT = 8,         /* reads the world: a replay gives what the first run got */
    A_EFFECT = 16,       /* must run even if its result is unused (assert, error, seed), again on replay */
    A_DOT = 32,          /* a matrix product, for save = "dots" */
    A_NAMED = 64,        /* name(…): kept by save = [names] */
    A_INTERNAL = 128,    /* not a name of the language (starts with __ in the table) */
    A_META = 256,        /* depends on form alone (shape, form, dtype, rank): the fwd pass hoists it */
    A_ZERO_ABSORB = 512, /* symbolic zero in any argument that the vjp text lists gives symbolic zero */
    A_ZERO_SKIP = 1024,  /* the kernel itself understands V_ZERO arguments (acc, add, instantiate …) */
    A_VARIADIC = 2048,   /* set from a signature ending in `...` */
    A_COMMUTES = 4096
};

/* What dtype the result has, given the arguments. */
typedef enum dtype_class {
    D_ARITH, /* promotion of all arguments; bool counts as i64 */
    D_FLOAT, /* as D_ARITH, then i64 becomes the program's float */
    D_SAME,  /* that of the first argument */
    D_BOOL,
    D_I64,
    D_OTHER /* the kernel's business (strings, structures, options) */
} dtype_class;

/* What shape the result has (shape_rule.c predicts it; the table-walking test compares). */
typedef enum shape_class {
    S_BROADCAST, /* broadcast of all array arguments */
    S_SAME,      /* that of the first */
    S_REDUCE,    /* (x, axis, keepdims) */
    S_SCALAR,
    S_MATMUL,
    S_CUSTOM /* whatever the kernel gives: no prediction */
} shape_class;

typedef struct prim prim;

typedef struct prim_call {
    vm *vm;
    const prim *p;
    const value *args; /* borrowed; missing optional ones are filled with the signature's defaults */
    uint32_t n;
    uint64_t last; /* bit i: args[i] is the last reference the program has: if array_unique, the
                          kernel may write into it (see take_array) */
    value out;     /* owned result */
} prim_call;
/* False with the error set (vm_fail…). */
typedef bool prim_kernel(prim_call *c);

/* Tile kernels of an elementwise primitive: n elements; each argument is dense (stride 1) or one
   broadcast element (stride 0, given by bit i of `scalars`); out may be the same as any dense argument. */
typedef void tile_kernel(int64_t n, void *out, const void *const *args, unsigned scalars);
typedef struct tiles {
    tile_kernel *f64, *f32, *i64, *b; /* by dtype of the arguments, NULL: not defined there */
    /* i64 kernels that can overflow or divide by zero: returns false at the first such element */
    bool (*i64_checked)(int64_t n, void *out, const void *const *args, unsigned scalars, int64_t *where);
    const char *i64_fault; /* "integer overflow", "division of an integer by zero" */
    bool condition;        /* the first argument is bool and stands outside promotion, and bools stay
                              bools (where); D_BOOL rows keep bools too */
} tiles;

typedef struct prim_param {
    symbol name;
    bool optional, rest;
    value deflt;
} prim_param;

struct prim {
    const char *name, *signature;
    rule_kind kind;
    unsigned attrs;
    shape_class shape;
    dtype_class dtype;
    prim_kernel *kernel;
    const tiles *tile;     /* ELEMENTWISE rows */
    const char *vjp, *jvp; /* rule texts, "" when none */
    const char *doc;       /* one line, then paragraphs */
    const char *examples;  /* lines `expression  # result`, run by the tests */
    const char *cost;      /* scalar operations per result element, "" is 1 */
};
extern const prim prims[];
extern const uint32_t prim_count;
uint32_t prim_number(const prim *p);

/* Per-VM state of a row (parsed signature, compiled rules). */
typedef struct prim_info {
    prim_param *params;
    uint32_t nparams;
    symbol name;
    code **vjp; /* one per parameter: fn(g, y, params…), NULL when that argument has none (or not yet compiled) */
    code *jvp;  /* CUSTOM: fn(y, params…, d<param>…) */
    bool vjp_ready, jvp_ready;
    bool variadic;
    uint32_t required; /* parameters without default, not counting a rest parameter */
    uint64_t listed;   /* bit i: the vjp text lists parameter i */
    code *as_value;    /* code_of_prim: made at first use, released by prims_close */
} prim_info;
/* Parses all signatures; called once by vm_open. */
bool prims_open(vm *m);
void prims_close(vm *m);
const prim_info *prim_info_of(vm *m, const prim *p);
const prim *prim_find(vm *m, symbol name);
const prim *prim_named(const char *name); /* aborts when there is none: for the VM's own use */

/* Runs a primitive on n arguments given in signature order (missing trailing optionals allowed):
   maps over structures, treats symbolic zeros, calls the kernel. The one door to kernels. */
bool prim_apply(vm *m, const prim *p, const value *args, uint32_t n, uint64_t last, value *out);

/* The expression a rule text gives for parameter `name`: its bytes (not NUL-terminated), or NULL. */
const char *rule_part(const char *rule, const char *name, size_t *length);
/* How messages call it: "+" for add, "sum()" for sum. */
const char *prim_display(const prim *p, char out[64]);

/* --- for kernels --------------------------------------------------------------------------- */
/* The i-th argument as numbers; error naming the parameter when it is not. */
bool arg_shaped(prim_call *c, uint32_t i, shaped *s);
bool arg_array(prim_call *c, uint32_t i, shaped *s);  /* same as arg_shaped; kept for clarity */
bool arg_int(prim_call *c, uint32_t i, int64_t *out); /* a whole scalar of any dtype */
/* … that is added to or taken from indices: one beyond any array is as good as ELEMENTS_MOST. */
bool arg_offset(prim_call *c, uint32_t i, int64_t *out);
bool arg_bool(prim_call *c, uint32_t i, bool *out);
bool arg_number(prim_call *c, uint32_t i, double *out);
bool arg_string(prim_call *c, uint32_t i, const string **out);
/* What parameter argument i is for; a rest parameter's arguments are numbered from 1. */
void arg_name(prim_call *c, uint32_t i, text *out);
/* Fail with what argument i must be and what it is, or what shape it has. */
bool arg_unsuitable(prim_call *c, uint32_t i, const char *expected);
bool arg_misshapen(prim_call *c, uint32_t i, const shaped *x, const char *expected);
/* Fails because argument i asks for an axis beyond an array's rank; names argument 0 when it is that array. */
bool arg_axis_fail(prim_call *c, uint32_t i, int64_t axis, int rank);
/* An axis, a tuple of axes, or none (all): sorted, distinct, normalised. */
bool arg_axes(prim_call *c, uint32_t i, int rank, int *axes, int *n);
/* The array of args[i] for writing in place: retained and returned when bit i of c->last is set, its
   dtype is d, it is dense and array_unique; else NULL (no error). */
array *take_array(prim_call *c, uint32_t i, dtype d);
/* Sets c->out from a (consumed; a NULL passes the failure on); rank 0 is not possible here. */
bool give_array(prim_call *c, array *a);
/* Error with "name(): …" in front, marking argument i (-1: none) for the caret. Always false. */
bool prim_fail(prim_call *c, int i, int diag_code, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
#endif
