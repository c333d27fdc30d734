/* array.h: arrays, their buffers, and the forms (structure, shapes, dtypes without the numbers).
 *
 * An array is a view of a buffer: data pointer, shape, strides in elements (0 when broadcast,
 * negative when reversed). Views share the buffer. Row-major and dense is the ordinary case;
 * `dense` caches it. */
#ifndef REPLAY_ARRAY_H
#define REPLAY_ARRAY_H
#include "value.h"

#define RANK_MAX 8
/* No array has more elements, nor a shape with a zero in it otherwise, even a view that takes no memory: sizes in bytes and the
   sums and products of a few sizes then fit 64 bits. */
#define ELEMENTS_MOST ((int64_t)1 << 48)

typedef struct buffer {
    uint32_t refs;  /* arrays that view it */
    uint32_t holds; /* arrays among them that residuals hold */
    size_t bytes;
    bool counted;   /* in vm->stats.saved: see residual.h */
    bool foreign;   /* a foreign_buffer: the data is the host's */
    uint64_t birth; /* vm clock when it was made */
    void *data;
} buffer;

/* A buffer around memory of the embedding program: never written, not counted as live bytes. */
typedef struct foreign_buffer {
    buffer b;
    void (*done)(void *user, void *data); /* called when nothing views it any more; may be NULL */
    void *user;
} foreign_buffer;

typedef struct array {
    object h;
    uint8_t dtype, rank;
    bool dense;   /* strides are those of a row-major array of this shape */
    int64_t size; /* product of shape */
    buffer *buf;
    void *data;     /* first element, inside buf */
    int64_t dims[]; /* shape[rank], then stride[rank] */
} array;

static inline array *as_array(value v) { return (array *)v.u.o; }
static inline int64_t *array_shape(const array *a) { return (int64_t *)a->dims; }
static inline int64_t *array_stride(const array *a) { return (int64_t *)a->dims + a->rank; }

/* A dense, uninitialised array. rank >= 1. NULL on refusal (error set); a size that overflows is an error. */
array *array_new(vm *m, dtype d, int rank, const int64_t *shape);
array *array_zeros(vm *m, dtype d, int rank, const int64_t *shape);
/* An array of this shape over `data`, of another's memory that stays readable and unchanged until `done` is
   called; stride in elements, NULL: dense. NULL with the error set and `done` not called. */
array *array_wrap(vm *m, dtype d, int rank, const int64_t *shape, const int64_t *stride, void *data, void (*done)(void *user, void *data),
                  void *user);
/* A view with other shape and strides; `offset` in elements from a->data. Retains the buffer. */
array *array_view(vm *m, const array *a, int rank, const int64_t *shape, const int64_t *stride, int64_t offset);
/* A dense copy with dtype d (i64 to float rounds to nearest; float to i64 truncates toward zero,
   out of range is the caller's check; to bool is != 0). */
array *array_copy(vm *m, const array *a, dtype d);
/* The same reference retained when already dense, else a dense copy. */
array *array_dense(vm *m, const array *a);
/* True when v's array and its buffer have no other reference: it may be written in place. */
bool array_unique(const array *a);
/* One element as a scalar value; index[rank]. */
value array_get(const array *a, const int64_t *index);
value array_at(const array *a, int64_t offset);         /* offset in elements from data */
void array_put(array *a, int64_t offset, value scalar); /* scalar is converted to a's dtype */

/* Converts n elements, src at stride ss, into dense dst: i64 to float rounds to nearest, float to i64
   truncates (out of range and NaN give INT64_MIN: the caller checks), to bool is != 0. */
void array_convert(dtype to, void *dst, dtype from, const void *src, int64_t ss, int64_t n);

/* --- shape arithmetic (shape.c) ------------------------------------------------------------ */
/* A plain description of any numeric value: a scalar has rank 0. Borrowed pointers only. */
typedef struct shaped {
    dtype dtype;
    weakness weak;
    int rank;
    int64_t size;
    int64_t shape[RANK_MAX], stride[RANK_MAX];
    void *data; /* NULL unless from a value */
    union {
        double f64;
        float f32;
        int64_t i64;
        uint8_t b;
    } scalar; /* data points here for scalars */
} shaped;
/* False when v is not a number or array (no error set). `s` must outlive uses of s->data for scalars. */
bool shaped_of(const value *v, shaped *s);

/* Broadcast of two shapes by trailing axes, with the language's exception: two operands of different
   rank that would both have to grow are an error with the advice. *rank, shape get the result. */
bool shape_broadcast(vm *m, const char *what, const shaped *a, const shaped *b, int *rank, int64_t *shape);
/* Dtype of a numeric result of a and b with weakness; *weak gets the result's weakness. */
dtype dtype_promote(vm *m, const shaped *a, const shaped *b, weakness *weak);
/* Merges neighbouring axes that one stride can walk and drops those of size 1, in row-major order of
   elements. s->size stays. */
void shape_collapse(shaped *s);
/* Elements first .. first + n of s in row-major order, converted into dense dst. (array.c) */
void shape_gather(const shaped *s, dtype to, void *dst, int64_t first, int64_t n);
/* "[2, 3]" */
void shape_print(int rank, const int64_t *shape, text *out);

/* --- forms (form.c) -------------------------------------------------------------------------
 * form(x): dtype, weakness and shape for numbers; the tree of forms for tuples and records;
 * "other" for all else. Scalars' forms are unboxed (V_FORM, aux = dtype | weak << 8, or FORM_OTHER). */
#define FORM_OTHER 0xffffu
typedef struct form {
    object h;
    uint8_t kind; /* V_ARRAY, V_TUPLE or V_RECORD */
    uint8_t dtype, rank;
    uint32_t n;
    int64_t *shape;
    symbol *names;
    value *parts;
} form;
static inline form *as_form(value v) { return (form *)v.u.o; }
size_t form_bytes(const form *f); /* of the whole object, for its sized free */
bool form_same(const form *a, const form *b);
void form_print(vm *m, value f, text *out); /* "f64[2, 3]", "{w: f64[2], b: f64}", "(f64, ...)" */
/* A form equal to that of an array of this dtype and shape (rank 0: unboxed). V_UNDEF on refusal. */
value form_of_array(vm *m, dtype d, weakness w, int rank, const int64_t *shape);
/* Zeros of form f: numbers and arrays of zeros, structures of them; FORM_OTHER gives none. */
bool form_zeros(vm *m, value f, value *out);
bool form_of(vm *m, value x, value *out);
/* Only the outermost level: a tuple's or record's parts are FORM_OTHER (O(1) in the parts' size). */
bool form_shallow(vm *m, value x, value *out);
#endif
