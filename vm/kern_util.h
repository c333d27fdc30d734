/* kern_util.h: what kernels of arrays share: a result that may be a scalar, loops over strided shapes,
 * shapes given as arguments, and how many threads a piece of work is worth. */
#ifndef REPLAY_KERN_UTIL_H
#define REPLAY_KERN_UTIL_H
#include "vm.h"
#include "kern.h"
#include <math.h>
#include <omp.h>
#include <string.h>

/* Functions with wide loops are compiled for several processors and chosen at load time; all of them
   give the same bits, since nothing is contracted or reassociated. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if defined(__clang__)
#define KERN_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define KERN_CLONES __attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#endif
#else
#define KERN_CLONES
#endif

/* A numeric result of any rank, uninitialised: an array, or a scalar held here. */
typedef struct result {
    array *a;
    dtype dtype;
    void *data; /* where the elements go, dense */
    int64_t size;
    union {
        double f64;
        float f32;
        int64_t i64;
        uint8_t b;
    } scalar;
} result;

static inline bool result_open(prim_call *c, result *r, dtype d, int rank, const int64_t *shape)
{
    *r = (result){.dtype = d, .size = 1};
    if (rank == 0) {
        r->data = &r->scalar;
        return true;
    }
    r->a = array_new(c->vm, d, rank, shape);
    if (!r->a) return false;
    r->data = r->a->data;
    r->size = r->a->size;
    return true;
}
static inline bool result_give(prim_call *c, result *r)
{
    if (r->a) return give_array(c, r->a);
    switch (r->dtype) {
    case DTYPE_BOOL: c->out = value_bool(r->scalar.b != 0); break;
    case DTYPE_I64: c->out = value_i64(r->scalar.i64); break;
    case DTYPE_F32: c->out = value_f32(r->scalar.f32); break;
    case DTYPE_F64: c->out = value_f64(r->scalar.f64); break;
    }
    return true;
}
/* Lets go of a result that will not be given. Always false. */
static inline bool result_drop(prim_call *c, result *r)
{
    if (r->a) value_release(c->vm, value_object(&r->a->h));
    return false;
}
/* As result_give; a scalar float result of a weak scalar stays weak. */
static inline bool result_give_weak(prim_call *c, result *r, weakness w)
{
    bool ok = result_give(c, r);
    if (ok && !r->a && r->dtype == DTYPE_F64) c->out.weak = (uint8_t)w;
    return ok;
}

static inline int64_t shape_size(int rank, const int64_t *shape)
{
    int64_t n = 1;
    for (int i = 0; i < rank; i++) n *= shape[i];
    return n;
}
static inline void dense_strides(int rank, const int64_t *shape, int64_t *stride)
{
    int64_t s = 1;
    for (int i = rank - 1; i >= 0; i--) {
        stride[i] = s;
        s *= shape[i] > 0 ? shape[i] : 1;
    }
}
static inline bool shape_equal(int ra, const int64_t *a, int rb, const int64_t *b)
{
    if (ra != rb) return false;
    for (int i = 0; i < ra; i++)
        if (a[i] != b[i]) return false;
    return true;
}

/* Whether the program is to stop; looked up at every 65,536th place along the last axis. */
static inline bool odometer_stops(const vm *m, int rank, const int64_t *at)
{
    return rank > 0 && at[rank - 1] % 65536 == 0 && INTERRUPTED(m);
}
/* Steps an odometer over shape[0..rank) in row-major order and keeps two offsets in step with it.
   False when it has gone round. */
static inline bool odometer(int rank, const int64_t *shape, int64_t *at, const int64_t *sa, int64_t *oa, const int64_t *sb, int64_t *ob)
{
    for (int i = rank - 1; i >= 0; i--) {
        if (++at[i] < shape[i]) {
            *oa += sa[i];
            *ob += sb[i];
            return true;
        }
        *oa -= sa[i] * (shape[i] - 1);
        *ob -= sb[i] * (shape[i] - 1);
        at[i] = 0;
    }
    return false;
}

/* Copies a strided block into another of the same shape, elements of `width` bytes (1, 4 or 8). */
void copy_strided(const vm *m, size_t width, int rank, const int64_t *shape, void *dst, const int64_t *ds, const void *src,
                  const int64_t *ss);
/* Writes elements of s, converted to d, densely. */
void copy_converted(const vm *m, const shaped *s, dtype d, void *dst);
/* One element as double or i64, whatever its dtype. */
static inline double read_f64(dtype d, const void *p, int64_t i)
{
    switch (d) {
    case DTYPE_BOOL: return ((const uint8_t *)p)[i];
    case DTYPE_I64: return (double)((const int64_t *)p)[i];
    case DTYPE_F32: return ((const float *)p)[i];
    default: return ((const double *)p)[i];
    }
}
static inline void write_f64(dtype d, void *p, int64_t i, double x)
{
    switch (d) {
    case DTYPE_BOOL: ((uint8_t *)p)[i] = x != 0; break;
    case DTYPE_I64: ((int64_t *)p)[i] = (int64_t)x; break;
    case DTYPE_F32: ((float *)p)[i] = (float)x; break;
    default: ((double *)p)[i] = x; break;
    }
}
static inline void *element(dtype d, const void *p, int64_t i) { return (char *)p + i * dtype_size[d]; }

/* Threads for work of about n scalar operations. */
static inline int threads_for(const vm *m, int64_t n)
{
    if (n < 1 << 16) return 1;
    int t = m->config.threads > 0 ? m->config.threads : omp_get_num_procs();
    return n / (1 << 14) < t ? (int)(n / (1 << 14)) : t;
}

/* A shape from arguments [first, n): whole scalars, or one tuple or vector of them. -1 allowed once when
   `infer`. Errors point at the argument. */
bool arg_shape(prim_call *c, uint32_t first, bool infer, int *rank, int64_t *shape);
/* Whole numbers from one argument: a scalar, a tuple or a vector; at most cap. */
bool arg_wholes(prim_call *c, uint32_t i, int cap, int *n, int64_t *out);
/* One axis, or none: *axis -1 then. */
bool arg_axis(prim_call *c, uint32_t i, int rank, int *axis);
/* The argument as i64 elements: its own when it has that dtype, else a checked, new array (whole floats,
   bools are an error). *owned must be released when not NULL. */
bool arg_i64_array(prim_call *c, uint32_t i, shaped *s, array **owned);
/* The argument as a dense row-major shaped of dtype d; *owned must be released when not NULL. */
bool arg_dense(prim_call *c, uint32_t i, dtype d, shaped *s, array **owned);
void release_array(vm *m, array *a); /* NULL is fine */
/* A form argument's shape and dtype as a shaped without data (row-major strides). False (with the error)
   when it is not the form of a number or array. */
bool arg_form(prim_call *c, uint32_t i, shaped *s);
bool form_shaped(value f, shaped *s);
/* A view of x, or the scalar when rank is 0. `x` is args[i], numeric; offset in elements. */
bool give_view(prim_call *c, const value *x, int rank, const int64_t *shape, const int64_t *stride, int64_t offset);
#endif
