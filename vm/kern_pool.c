/* kern_pool.c: pooling: the largest element or the mean of each window of the last one or two axes, and
 * what carries derivatives through them. Axes before those are planes, one after the other. */
#include "window.h"

typedef struct pool {
    window w;
    int64_t planes;
    int rank;
    int64_t shape[RANK_MAX];
    dtype d;
} pool; /* shape: the result's */

/* x: shape (and dtype) of what is pooled; `size` is followed by stride, padding and perhaps dilation. */
static bool pool_read(prim_call *c, const shaped *x, uint32_t size, bool dilated, pool *p)
{
    *p = (pool){.rank = x->rank, .planes = 1};
    value s = c->args[size];
    int axes = s.tag == V_TUPLE ? (int)as_tuple(s)->n : s.tag == V_ARRAY ? (int)as_array(s)->size : x->rank - 2;
    if (axes < 1 || axes > 2 || axes > x->rank)
        return arg_misshapen(
            c, 0, x, "[n, channels, length] or [n, channels, height, width], or with a tuple as size have the axes that are pooled last");
    p->w.axes = axes;
    p->d = x->dtype >= DTYPE_F32 ? x->dtype : c->vm->config.float_dtype;
    if (!window_pair(c, size, axes, 1, p->w.size)) return false;
    if (axes == 1) p->w.size[0] = 1;
    for (int a = 0; a < 2; a++) p->w.in[a] = axes == 2 || a == 1 ? x->shape[x->rank - 2 + a] : 1;
    for (int i = 0; i < x->rank - axes; i++) p->planes *= x->shape[i];
    if (!window_read(c, &p->w, size + 1, size + 2, dilated ? size + 3 : 0)) return false;
    for (int a = 0; a < 2; a++)
        if (2 * p->w.lo[a] > p->w.size[a]) return prim_fail(c, (int)size + 2, DIAG_VALUE, "padding may be half the window's size at most");
    memcpy(p->shape, x->shape, sizeof p->shape);
    p->shape[x->rank - 1] = p->w.out[1];
    if (axes == 2) p->shape[x->rank - 2] = p->w.out[0];
    return true;
}

typedef enum pool_kind { POOL_MAX, POOL_MEAN, UNPOOL_MEAN, POOL_PICK, POOL_SPREAD } pool_kind;

/* a: at the elements (of x, or added to), b: at the windows, x and m: elements and maxima. */
#define POOL(T) \
    static void pool_##T(const window *w, pool_kind kind, T *a, T *b, const T *x, const T *m) \
    { \
        int64_t at = 0; \
        T part = (T)(w->size[0] * w->size[1]); \
        for (int64_t i = 0; i < w->out[0]; i++) \
            for (int64_t j = 0; j < w->out[1]; j++, at++) { \
                int64_t li, hi, lj, hj, r = window_span(w, 0, i, &li, &hi), q = window_span(w, 1, j, &lj, &hj), ties = 0; \
                T y = kind == POOL_MAX ? -(T)INFINITY : 0; \
                if (kind == POOL_SPREAD) \
                    for (int64_t k = li; k < hi; k++) \
                        for (int64_t l = lj; l < hj; l++) { \
                            T e = x[(r + k * w->gap[0]) * w->in[1] + q + l * w->gap[1]]; \
                            ties += e == m[at] || (e != e && m[at] != m[at]); \
                        } \
                for (int64_t k = li; k < hi; k++) \
                    for (int64_t l = lj; l < hj; l++) { \
                        int64_t o = (r + k * w->gap[0]) * w->in[1] + q + l * w->gap[1]; \
                        if (kind == POOL_MAX) y = y != y ? y : a[o] > y || a[o] != a[o] ? a[o] : y; \
                        else if (kind == POOL_MEAN) y += a[o]; \
                        else if (kind == UNPOOL_MEAN) a[o] += b[at] / part; \
                        else if (x[o] == m[at] || (x[o] != x[o] && m[at] != m[at])) { \
                            if (kind == POOL_PICK) y += a[o], ties++; \
                            else a[o] += b[at] / (T)ties; \
                        } \
                    } \
                if (kind == POOL_MAX) b[at] = y; \
                if (kind == POOL_MEAN) b[at] = y / part; \
                if (kind == POOL_PICK) b[at] = ties ? y / (T)ties : 0; \
            } \
    }
POOL(float)
POOL(double)

static void pool_run(prim_call *c, const pool *p, dtype d, pool_kind kind, void *a, void *b, const void *x, const void *m)
{
    int64_t in = p->w.in[0] * p->w.in[1], out = p->w.out[0] * p->w.out[1];
    int threads = threads_for(c->vm, p->planes * out * p->w.size[0] * p->w.size[1]);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t k = 0; k < p->planes; k++) {
        if (INTERRUPTED(c->vm)) continue;
        if (d == DTYPE_F32)
            pool_float(&p->w, kind, (float *)a + k * in, (float *)b + k * out, x ? (const float *)x + k * in : NULL,
                       m ? (const float *)m + k * out : NULL);
        else
            pool_double(&p->w, kind, (double *)a + k * in, (double *)b + k * out, x ? (const double *)x + k * in : NULL,
                        m ? (const double *)m + k * out : NULL);
    }
}

static bool pool_forward(prim_call *c, pool_kind kind)
{
    shaped x;
    pool p;
    result r;
    array *own;
    if (!arg_shaped(c, 0, &x) || !pool_read(c, &x, 1, kind == POOL_MAX, &p) || !result_open(c, &r, p.d, p.rank, p.shape)) return false;
    if (!arg_dense(c, 0, p.d, &x, &own)) return result_drop(c, &r);
    pool_run(c, &p, p.d, kind, x.data, r.data, NULL, NULL);
    release_array(c->vm, own);
    return result_give(c, &r);
}
bool kern_max_pool(prim_call *c) { return pool_forward(c, POOL_MAX); }
bool kern_avg_pool(prim_call *c) { return pool_forward(c, POOL_MEAN); }

bool kern_unavg_pool(prim_call *c)
{
    shaped g, f;
    pool p;
    result r;
    array *own;
    if (!arg_shaped(c, 0, &g) || !arg_form(c, 1, &f) || !pool_read(c, &f, 2, false, &p)) return false;
    dtype d = g.dtype >= DTYPE_F32 ? g.dtype : p.d;
    if (!shape_equal(g.rank, g.shape, p.rank, p.shape))
        return prim_fail(c, 0, DIAG_INTERNAL, "the cotangent of a mean of windows has another shape");
    if (!result_open(c, &r, d, f.rank, f.shape)) return false;
    if (!arg_dense(c, 0, d, &g, &own)) return result_drop(c, &r);
    memset(r.data, 0, (size_t)r.size * dtype_size[d]);
    pool_run(c, &p, d, UNPOOL_MEAN, r.data, g.data, NULL, NULL);
    release_array(c->vm, own);
    return result_give(c, &r);
}

/* (d or c, x, m, size …) */
static bool pool_chosen(prim_call *c, pool_kind kind)
{
    shaped g, x, m;
    pool p;
    result r = {0};
    array *own[3] = {NULL, NULL, NULL};
    if (!arg_shaped(c, 0, &g) || !arg_shaped(c, 1, &x) || !arg_shaped(c, 2, &m) || !pool_read(c, &x, 3, true, &p)) return false;
    dtype d = p.d;
    bool pick = kind == POOL_PICK;
    if (!shape_equal(m.rank, m.shape, p.rank, p.shape) ||
        (pick ? !shape_equal(g.rank, g.shape, x.rank, x.shape) : !shape_equal(g.rank, g.shape, m.rank, m.shape)))
        return prim_fail(c, 0, DIAG_INTERNAL, "the tangent or cotangent of max_pool has another shape");
    if (g.dtype == DTYPE_F64) d = DTYPE_F64;
    if (!result_open(c, &r, d, p.rank, pick ? p.shape : x.shape)) return false;
    bool ok = arg_dense(c, 0, d, &g, &own[0]) && arg_dense(c, 1, d, &x, &own[1]) && arg_dense(c, 2, d, &m, &own[2]);
    if (ok) {
        if (!pick) memset(r.data, 0, (size_t)r.size * dtype_size[d]);
        pool_run(c, &p, d, kind, pick ? g.data : r.data, pick ? r.data : g.data, x.data, m.data);
    }
    for (int i = 0; i < 3; i++) release_array(c->vm, own[i]);
    return ok ? result_give(c, &r) : result_drop(c, &r);
}
bool kern_pool_pick(prim_call *c) { return pool_chosen(c, POOL_PICK); }
bool kern_pool_spread(prim_call *c) { return pool_chosen(c, POOL_SPREAD); }
