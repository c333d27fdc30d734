/* value.h: what a register holds.
 *
 * A value is 16 bytes. Scalars are unboxed; everything else is a reference-counted immutable
 * object. There are no cycles: captures are by value and a function reaches itself by opcode.
 *
 * Ownership: a `value` variable owns one reference unless a comment says borrowed; `const value *`
 * parameters are borrowed, `value *out` is owned by the caller afterwards. Kernels never touch
 * reference counts. Objects may be changed only by the one holder of their only reference.
 *
 * A rank-0 array is always an unboxed scalar: V_ARRAY has rank 1 to 8. */
#ifndef REPLAY_VALUE_H
#define REPLAY_VALUE_H
#include "memory.h"
#include "text.h"

typedef struct vm vm;
typedef struct code code;

/* In order of promotion. */
typedef enum dtype { DTYPE_BOOL, DTYPE_I64, DTYPE_F32, DTYPE_F64 } dtype;
static const uint8_t dtype_size[] = {1, 8, 4, 8};
const char *dtype_name(dtype d); /* "bool", "i64", "f32", "f64" */

typedef enum value_tag {
    V_UNDEF, /* no value: an unassigned variable, an argument left to its default */
    V_NONE,
    V_ZERO, /* symbolic zero: a cotangent or tangent no contribution has reached; reads as +0 */
    V_BOOL, /* u.i 0 or 1 */
    V_I64,  /* u.i */
    V_F32,  /* u.f holds a double that is exactly a float */
    V_F64,  /* u.f; `weak` as below */
    V_FORM, /* the form of a scalar or of something without numbers: aux, see form.h */
    V_HEAP, /* from here on u.o points to an object */
    V_ARRAY = V_HEAP,
    V_STRING,
    V_TUPLE,
    V_RECORD,
    V_FUNCTION, /* closure; a pullback is one over saved values */
    V_RESIDUAL, /* replayable residual, see residual.h */
    V_TAPE,     /* loop tape, see residual.h */
    V_SLICE,    /* a:b:c inside an index */
    V_ELLIPSIS, /* `...` inside an index (object-less: u.o is NULL) */
    V_FORMOBJ,  /* the form of an array, tuple or record */
    V_TABLE,    /* top-level functions by name */
    V_LOOP,     /* the loop tape of a lazy loop, see looptape.h */
    V_TAGS
} value_tag;

/* Only V_F64 is ever weak. Weak numbers take the dtype of what they meet. */
typedef enum weakness { STRONG, WEAK_FLOAT, WEAK_WHOLE } weakness;

typedef struct object {
    uint32_t refs;
    uint32_t holds; /* how many residuals and tapes hold this object: see residual.h */
    uint8_t kind;   /* its value_tag */
    uint8_t flags;
} object;

typedef struct value {
    uint8_t tag, weak;
    uint32_t aux;
    union {
        double f;
        int64_t i;
        object *o;
    } u;
} value;

static inline value value_none(void) { return (value){.tag = V_NONE}; }
static inline value value_undef(void) { return (value){.tag = V_UNDEF}; }
static inline value value_zero(void) { return (value){.tag = V_ZERO}; }
static inline value value_bool(bool b) { return (value){.tag = V_BOOL, .u.i = b}; }
static inline value value_i64(int64_t i) { return (value){.tag = V_I64, .u.i = i}; }
static inline value value_f64(double f) { return (value){.tag = V_F64, .u.f = f}; }
static inline value value_weak(double f, weakness w) { return (value){.tag = V_F64, .weak = (uint8_t)w, .u.f = f}; }
static inline value value_f32(float f) { return (value){.tag = V_F32, .u.f = (double)f}; }
static inline value value_object(object *o) { return (value){.tag = o->kind, .u.o = o}; }
static inline bool value_is_heap(value v) { return v.tag >= V_HEAP && v.u.o != NULL; }
static inline bool value_is_scalar(value v) { return v.tag >= V_BOOL && v.tag <= V_F64; }
static inline bool value_is_float(value v) { return v.tag == V_F64 || v.tag == V_F32; }
/* Is x within the range of i64? (The bounds are written out: both are exact doubles.) */
static inline bool in_i64(double x) { return x >= -9223372036854775808.0 && x < 9223372036854775808.0; }
static inline dtype scalar_dtype(value v) { return (dtype)(v.tag - V_BOOL + DTYPE_BOOL); }
/* The scalar of dtype d nearest to x (f32 rounds once). */
value scalar_of(dtype d, double x);

static inline value value_retain(value v)
{
    if (value_is_heap(v)) v.u.o->refs++;
    return v;
}
/* Never recurses: freeing a structure of any depth uses an explicit list. */
void object_free(vm *v, object *o);
static inline void value_release(vm *m, value v)
{
    if (value_is_heap(v) && --v.u.o->refs == 0) object_free(m, v.u.o);
}

typedef struct string {
    object h;
    uint32_t length; /* bytes */
    uint32_t points;
    char s[];
} string;
/* Elements v[0..n); cap leaves room for append in place. */
typedef struct tuple {
    object h;
    uint32_t n, cap;
    value v[];
} tuple;
/* Fields in order; names[i] names v[i]. A sparse cotangent has only some of its primal's fields. */
typedef struct record {
    object h;
    uint32_t n, cap;
    symbol *names;
    value *v;
    uint32_t indexed; /* so many of the names are in the table that record_find keeps of a large one */
} record;
/* captures[0..n), in the order of the Code's captures. */
typedef struct closure {
    object h;
    code *code;
    uint32_t n;
    bool residual;
    value captures[];
} closure;
typedef struct slice {
    object h;
    value start, stop, step; /* i64-like scalars or none */
} slice;

/* All constructors: NULL with the error set (vm_out_of_memory) when refused. */
string *string_new(vm *m, const char *s, size_t n); /* s may be NULL: uninitialised; call string_seal */
void string_seal(string *s);                        /* recounts code points */
tuple *tuple_new(vm *m, uint32_t n, uint32_t cap);  /* elements V_UNDEF */
record *record_new(vm *m, uint32_t n, uint32_t cap);
/* A new tuple or record with as many parts as v, of v's kind and names, in *out; its parts, all V_UNDEF. NULL: no memory. */
value *container_like(vm *m, value v, value *out);
closure *closure_new(vm *m, code *c, uint32_t n); /* retains c; captures V_UNDEF */
slice *slice_new(vm *m, value start, value stop, value step);

static inline string *as_string(value v) { return (string *)v.u.o; }
static inline tuple *as_tuple(value v) { return (tuple *)v.u.o; }
static inline record *as_record(value v) { return (record *)v.u.o; }
static inline closure *as_closure(value v) { return (closure *)v.u.o; }
static inline slice *as_slice(value v) { return (slice *)v.u.o; }

/* Index of the field, or -1. */
int64_t record_find(const record *r, symbol name);

/* Functional updates: consume *t (in place when its only reference), give the new value in *t; false
   on refusal, *t unchanged. `x` is consumed on success. */
bool tuple_append(vm *m, value *t, value x);
bool tuple_set(vm *m, value *t, uint32_t i, value x);
bool record_set(vm *m, value *r, symbol name, value x); /* adds the field when absent */

/* Equal structure, dtypes and bits (NaN equals the same NaN); weak numbers compare as f64. */
bool value_same(value a, value b);
/* The same for a program's own values, however deep: memory counts as its, and it can be interrupted. False: the error is set. */
bool value_same_to(vm *m, value a, value b, bool *same);
/* "f64[1000, 3]", "record", "f64", "function tanh", … for messages and headers. */
void value_describe(vm *m, value v, text *out);
/* "array", "record", "tuple", "string", "function", "none". */
const char *value_type_name(value v);
const char *value_a_type(value v); /* "an array", "a number", "none": for messages */
#endif
