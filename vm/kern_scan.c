/* kern_scan.c: running sums, products and maxima along an axis, and the linear recurrence and shift that
 * their derivatives are written with.
 *
 * An axis of `none` means the elements in row-major order as one vector. Steps are taken in order of the
 * index, one rounding each; neighbouring lines go side by side. */
#include "reduce.h"
#include "index.h"

/* A dense array as [outer, n, inner], stepping along n. */
typedef struct lines {
    int64_t outer, n, inner;
    int rank;
    int64_t shape[RANK_MAX];
} lines;

static bool lines_of(prim_call *c, const shaped *x, uint32_t axis_arg, lines *l)
{
    int axis;
    if (c->args[axis_arg].tag == V_NONE) {
        *l = (lines){1, x->size, 1, 1, {x->size}};
        return true;
    }
    if (!arg_axis(c, axis_arg, x->rank, &axis)) return false;
    *l = (lines){1, x->shape[axis], 1, x->rank, {0}};
    for (int i = 0; i < x->rank; i++) {
        l->shape[i] = x->shape[i];
        if (i < axis) l->outer *= x->shape[i];
        if (i > axis) l->inner *= x->shape[i];
    }
    return true;
}

typedef enum scan_kind { SCAN_SUM, SCAN_PROD, SCAN_MAX } scan_kind;

#define SCAN(T, EXPR) \
    { \
        const T *u = (const T *)in + o * l->n * l->inner; \
        T *v = (T *)out + o * l->n * l->inner; \
        memcpy(v, u, (size_t)l->inner * sizeof(T)); \
        for (int64_t i = l->inner, all = l->n * l->inner; i < all && !STOPPED(stop);) \
            for (int64_t end = all - i < 65536 ? all : i + 65536; i < end; i++) { \
                T a = v[i - l->inner], b = u[i]; \
                v[i] = EXPR; \
            } \
    }
static bool scan_i64(const volatile int *stop, scan_kind k, const lines *l, const int64_t *in, int64_t *out)
{
    for (int64_t o = 0; o < l->outer; o++)
        for (int64_t i = 0; i < l->n * l->inner && (i % 65536 || !STOPPED(stop)); i++) {
            int64_t p = o * l->n * l->inner + i, *y = &out[p], a = i < l->inner ? 0 : out[p - l->inner];
            if (i < l->inner) *y = in[p];
            else if (k == SCAN_SUM && __builtin_add_overflow(a, in[p], y)) return false;
            else if (k == SCAN_PROD && __builtin_mul_overflow(a, in[p], y)) return false;
            else if (k == SCAN_MAX) *y = a > in[p] ? a : in[p];
        }
    return true;
}

static bool scan_kernel(prim_call *c, scan_kind kind)
{
    shaped x;
    lines line, *l = &line;
    result r;
    array *own;
    if (!arg_shaped(c, 0, &x)) return false;
    dtype d = x.dtype == DTYPE_BOOL ? DTYPE_I64 : x.dtype;
    if (!lines_of(c, &x, 1, l) || !arg_dense(c, 0, d, &x, &own)) return false;
    bool ok = result_open(c, &r, d, l->rank, l->shape);
    const volatile int *stop = &c->vm->interrupt;
    if (ok && x.size > 0) {
        const void *in = x.data;
        void *out = r.data;
        if (d == DTYPE_I64 && !scan_i64(stop, kind, l, in, out)) {
            result_drop(c, &r);
            ok = prim_fail(c, 0, DIAG_ARITHMETIC, "integer overflow");
        }
        if (d != DTYPE_I64) {
            int threads = threads_for(c->vm, x.size);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1 && l->outer > 1)
            for (int64_t o = 0; o < l->outer; o++) {
                if (d == DTYPE_F32) {
                    if (kind == SCAN_SUM) SCAN(float, a + b)
                    else if (kind == SCAN_PROD) SCAN(float, a *b)
                    else SCAN(float, a >= b || a != a ? a : b)
                } else {
                    if (kind == SCAN_SUM) SCAN(double, a + b)
                    else if (kind == SCAN_PROD) SCAN(double, a *b)
                    else SCAN(double, a >= b || a != a ? a : b)
                }
            }
        }
    }
    release_array(c->vm, own);
    return ok && result_give(c, &r);
}
bool kern_cumsum(prim_call *c) { return scan_kernel(c, SCAN_SUM); }
bool kern_cumprod(prim_call *c) { return scan_kernel(c, SCAN_PROD); }
bool kern_cummax(prim_call *c) { return scan_kernel(c, SCAN_MAX); }

/* (x, axis): the place along the axis where each running maximum was first reached. */
bool kern_cummax_at(prim_call *c)
{
    shaped x;
    lines l;
    result r;
    array *own;
    if (!arg_shaped(c, 0, &x) || !lines_of(c, &x, 1, &l) || !arg_dense(c, 0, DTYPE_F64, &x, &own)) return false;
    bool ok = result_open(c, &r, DTYPE_I64, l.rank, l.shape);
    if (ok)
        for (int64_t o = 0; o < l.outer; o++)
            for (int64_t j = 0; j < l.inner; j++) {
                const double *v = (const double *)x.data + o * l.n * l.inner + j;
                int64_t *at = (int64_t *)r.data + o * l.n * l.inner + j, best = 0;
                for (int64_t i = 0; i < l.n && !odometer_stops(c->vm, 1, &i); i++) {
                    double a = v[best * l.inner], b = v[i * l.inner];
                    if (!(a >= b || a != a)) best = i;
                    at[i * l.inner] = best;
                }
            }
    release_array(c->vm, own);
    return ok && result_give(c, &r);
}

/* Both a and b as dense arrays of one float dtype. */
static dtype common_float(const shaped *a, const shaped *b)
{
    bool f32 = (a->dtype == DTYPE_F32 && (b->dtype == DTYPE_F32 || b->weak)) || (b->dtype == DTYPE_F32 && a->weak);
    return f32 ? DTYPE_F32 : DTYPE_F64;
}

#define RECUR(T) \
    for (int64_t o = 0; o < l.outer; o++) \
        for (int64_t q = 0; q < l.n && !odometer_stops(c->vm, 1, &q); q++) { \
            int64_t i = reverse ? l.n - 1 - q : q, step = reverse ? l.inner : -l.inner; \
            for (int64_t j = 0; j < l.inner; j++) { \
                int64_t p = (o * l.n + i) * l.inner + j; \
                T bi = ((const T *)b.data)[p]; \
                ((T *)r.data)[p] = q ? bi + ((const T *)a.data)[p] * ((T *)r.data)[p + step] : bi; \
            } \
        }
/* (a, b, axis, reverse): s[i] = b[i] + a[i] s[i - 1], or s[i + 1] in reverse. */
bool kern_linrec(prim_call *c)
{
    shaped a, b;
    lines l;
    result r;
    array *oa, *ob = NULL;
    bool reverse;
    if (!arg_shaped(c, 0, &a) || !arg_shaped(c, 1, &b) || !arg_bool(c, 3, &reverse) || !lines_of(c, &a, 2, &l)) return false;
    if (!shape_equal(a.rank, a.shape, b.rank, b.shape)) return prim_fail(c, 1, DIAG_INTERNAL, "shapes differ");
    dtype d = common_float(&a, &b);
    bool ok = arg_dense(c, 0, d, &a, &oa) && arg_dense(c, 1, d, &b, &ob) && result_open(c, &r, d, l.rank, l.shape);
    if (ok) {
        if (d == DTYPE_F32) {
            RECUR(float)
        } else {
            RECUR(double)
        }
    }
    release_array(c->vm, oa);
    release_array(c->vm, ob);
    return ok && result_give(c, &r);
}

/* (x, axis, by, fill): y[i] = x[i - by], fill where there is none. */
bool kern_shift(prim_call *c)
{
    shaped x;
    lines l;
    result r;
    array *own;
    int64_t by;
    double fill;
    if (!arg_shaped(c, 0, &x) || !lines_of(c, &x, 1, &l) || !arg_offset(c, 2, &by) || !arg_number(c, 3, &fill)) return false;
    if (!arg_dense(c, 0, x.dtype, &x, &own)) return false;
    bool ok = result_open(c, &r, x.dtype, l.rank, l.shape);
    if (ok) {
        size_t row = (size_t)l.inner * dtype_size[x.dtype];
        for (int64_t o = 0; o < l.outer; o++)
            for (int64_t i = 0; i < l.n && !odometer_stops(c->vm, 1, &i); i++) {
                int64_t p = (o * l.n + i) * l.inner, q = i - by;
                if (q >= 0 && q < l.n) memcpy(element(x.dtype, r.data, p), element(x.dtype, x.data, (o * l.n + q) * l.inner), row);
                else
                    for (int64_t j = 0; j < l.inner; j++) write_f64(x.dtype, r.data, p + j, fill);
            }
    }
    release_array(c->vm, own);
    return ok && result_give(c, &r);
}

#define BEFORE(T) \
    for (int64_t o = 0; o < outer; o++) { \
        const T *v = (const T *)x.data + o * n; \
        T *y = (T *)r.data + o * n, p = 1; \
        for (int64_t q = 0; q < n && !odometer_stops(c->vm, 1, &q); q++) { \
            int64_t i = reverse ? n - 1 - q : q; \
            y[i] = p; \
            p *= v[i]; \
        } \
    }
/* (x, reverse): along the last axis, the product of all elements before (after) each one. */
bool kern_cumprod_before(prim_call *c)
{
    shaped x;
    result r;
    array *own;
    bool reverse;
    if (!arg_shaped(c, 0, &x) || !arg_bool(c, 1, &reverse)) return false;
    dtype d = reduce_dtype(x.dtype);
    if (!arg_dense(c, 0, d, &x, &own)) return false;
    bool ok = result_open(c, &r, d, x.rank, x.shape);
    int64_t n = x.rank ? x.shape[x.rank - 1] : 1, outer = n ? x.size / n : 0;
    if (ok) {
        if (d == DTYPE_F32) {
            BEFORE(float)
        } else {
            BEFORE(double)
        }
    }
    release_array(c->vm, own);
    return ok && result_give(c, &r);
}

/* (x, axis): [kept axes…, all elements of the reduced axes in order]. */
bool kern_flat(prim_call *c)
{
    shaped x;
    reduce_axes r;
    result out;
    if (!arg_shaped(c, 0, &x) || !arg_reduce_axes(c, &x, 1, -1, &r)) return false;
    dtype d = reduce_dtype(x.dtype);
    r.shape[r.rank] = r.n;
    if (r.rank == RANK_MAX) return prim_fail(c, 0, DIAG_SHAPE, "arrays have at most %d axes", RANK_MAX);
    if (!result_open(c, &out, d, r.rank + 1, r.shape)) return false;
    for (int64_t k = 0; k < r.outs && r.n > 0 && !INTERRUPTED(c->vm); k++) {
        if (d == DTYPE_F32) reduce_load_f32(&x, &r, reduce_base(&r, k), 0, r.n, (float *)out.data + k * r.n);
        else reduce_load_f64(&x, &r, reduce_base(&r, k), 0, r.n, (double *)out.data + k * r.n);
    }
    return result_give(c, &out);
}

/* (c, f, axis): the inverse of flat for a result of form f. */
bool kern_unflat(prim_call *c)
{
    shaped x, f;
    int axes[RANK_MAX], n;
    reduce_axes r;
    result out;
    array *own;
    if (!arg_shaped(c, 0, &x) || !arg_form(c, 1, &f) || !arg_axes(c, 2, f.rank, axes, &n)) return false;
    reduce_axes_make(&f, axes, n, false, &r);
    if (!arg_dense(c, 0, x.dtype, &x, &own)) return false;
    bool ok = result_open(c, &out, x.dtype, f.rank, f.shape);
    for (int64_t k = 0; ok && k < r.outs && r.n > 0 && !INTERRUPTED(c->vm); k++) {
        int64_t at[RANK_MAX] = {0}, off = reduce_base(&r, k), dummy = 0, w = dtype_size[x.dtype];
        for (int64_t i = 0; i < r.n; i++) {
            memcpy((char *)out.data + off * w, (const char *)x.data + (k * r.n + i) * w, (size_t)w);
            odometer(r.nr, r.rshape, at, r.rstride, &off, r.rstride, &dummy);
        }
    }
    release_array(c->vm, own);
    return ok && result_give(c, &out);
}
