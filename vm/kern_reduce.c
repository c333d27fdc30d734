/* kern_reduce.c: sum, mean, prod, max, min, var, std, norm over axes, and what their rules use.
 *
 * Floats go through the fixed tree of reduce.h. Sums and products of whole numbers and bools are exact
 * i64, and an error where the result does not fit one. The reductions that answer with places and
 * counts (argmax, any, …) are in kern_find.c. */
#include "reduce.h"
#include "index.h"
#include "prim_ids.h"

/* An i64 or bool reduction over one output. */
typedef bool whole_fold(const int64_t *x, int64_t n, __int128 *acc);

static bool fold_sum(const int64_t *x, int64_t n, __int128 *acc)
{
    int64_t low = 0, high = 0; /* halves: neither can overflow within a block */
    for (int64_t i = 0; i < n; i++) {
        low += x[i] & 0xffffffff;
        high += x[i] >> 32;
    }
    *acc += (__int128)high * 4294967296 + low;
    return true;
}
static bool fold_prod(const int64_t *x, int64_t n, __int128 *acc)
{
    __int128 limit = (__int128)1 << 63, p = *acc;
    for (int64_t i = 0; i < n; i++) {
        p *= x[i];
        if (x[i] == 0) break;                                                /* nothing after matters, and what came before does not */
        if (p > limit || p < -limit) p = p > 0 ? limit << 1 : -(limit << 1); /* sticks until a zero */
    }
    *acc = p;
    return p != 0;
}
static bool fold_max(const int64_t *x, int64_t n, __int128 *acc)
{
    int64_t m = (int64_t)*acc;
    for (int64_t i = 0; i < n; i++) m = x[i] > m ? x[i] : m;
    *acc = m;
    return true;
}
static bool fold_min(const int64_t *x, int64_t n, __int128 *acc)
{
    int64_t m = (int64_t)*acc;
    for (int64_t i = 0; i < n; i++) m = x[i] < m ? x[i] : m;
    *acc = m;
    return true;
}

static bool reduce_whole(prim_call *c, const shaped *x, const reduce_axes *r, reduce_op op, dtype d)
{
    static whole_fold *const folds[] = {fold_sum, fold_prod, fold_max, fold_min};
    const __int128 start[] = {0, 1, INT64_MIN, INT64_MAX};
    result out;
    if (!result_open(c, &out, d, r->rank, r->shape)) return false;
    bool fits = true;
    int threads = threads_for(c->vm, r->n * r->outs);
    const volatile int *stop = &c->vm->interrupt;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1) reduction(&& : fits)
    for (int64_t k = 0; k < r->outs; k++) {
        int64_t buf[512], base = reduce_base(r, k);
        __int128 acc = start[op];
        for (int64_t i = 0; i < r->n && !STOPPED(stop); i += 512) {
            int64_t n = r->n - i < 512 ? r->n - i : 512;
            const int64_t *src = buf;
            if (x->dtype == DTYPE_I64 && r->nr == 1 && r->rstride[0] == 1) src = (const int64_t *)x->data + base + i;
            else reduce_load_i64(x, r, base, i, n, buf);
            if (!folds[op](src, n, &acc)) break;
        }
        if (acc > INT64_MAX || acc < INT64_MIN) fits = false;
        else if (d == DTYPE_BOOL) ((uint8_t *)out.data)[k] = (uint8_t)acc;
        else ((int64_t *)out.data)[k] = (int64_t)acc;
    }
    if (!fits) {
        result_drop(c, &out);
        return prim_fail(c, 0, DIAG_ARITHMETIC, "integer overflow");
    }
    return result_give(c, &out);
}

static bool reduce_kernel(prim_call *c, reduce_op op)
{
    shaped x;
    reduce_axes r;
    if (!arg_shaped(c, 0, &x) || !arg_reduce_axes(c, &x, 1, 2, &r)) return false;
    if (op >= REDUCE_MAX && r.n == 0 && r.outs > 0)
        return prim_fail(c, 0, DIAG_VALUE, "there is no %s of no elements", op == REDUCE_MAX ? "largest" : "smallest");
    if (x.dtype < DTYPE_F32) return reduce_whole(c, &x, &r, op, op >= REDUCE_MAX ? x.dtype : DTYPE_I64);
    result out;
    if (!result_open(c, &out, x.dtype, r.rank, r.shape)) return false;
    if (!reduce_run(c->vm, &x, &r, op, TERM_X, NULL, out.data)) return result_drop(c, &out);
    return result_give_weak(c, &out, x.weak);
}
bool kern_sum(prim_call *c) { return reduce_kernel(c, REDUCE_SUM); }
bool kern_prod(prim_call *c) { return reduce_kernel(c, REDUCE_PROD); }
bool kern_max(prim_call *c) { return reduce_kernel(c, REDUCE_MAX); }
bool kern_min(prim_call *c) { return reduce_kernel(c, REDUCE_MIN); }

/* The result's dtype for reductions that give floats. */
static dtype float_of(prim_call *c, const shaped *x) { return x->dtype >= DTYPE_F32 ? x->dtype : c->vm->config.float_dtype; }

/* Room for outs values of the dtype that x is reduced in, when the result cannot hold them. */
static void *work_open(prim_call *c, const reduce_axes *r, dtype d, size_t *bytes)
{
    *bytes = (size_t)r->outs * dtype_size[d];
    void *p = memory_alloc(&c->vm->mem, MEM_OTHER, *bytes);
    if (!p) vm_out_of_memory(c->vm);
    return p;
}
static void work_close(prim_call *c, void *p, size_t bytes) { memory_free(&c->vm->mem, MEM_OTHER, p, bytes); }

/* work[i] = work[i] / by, in its own dtype; then the square root when asked; stored in out. */
static void finish_into(result *out, dtype d, void *work, int64_t n, double by, bool root)
{
    for (int64_t i = 0; i < n; i++) {
        if (d == DTYPE_F32) {
            float v = ((float *)work)[i] / (float)by;
            write_f64(out->dtype, out->data, i, root ? sqrtf(v) : v);
        } else {
            double v = ((double *)work)[i] / by;
            write_f64(out->dtype, out->data, i, root ? sqrt(v) : v);
        }
    }
}

bool kern_mean(prim_call *c)
{
    shaped x;
    reduce_axes r;
    result out;
    size_t bytes;
    if (!arg_shaped(c, 0, &x) || !arg_reduce_axes(c, &x, 1, 2, &r)) return false;
    dtype d = reduce_dtype(x.dtype);
    void *work = work_open(c, &r, d, &bytes);
    if (!work) return false;
    bool ok = result_open(c, &out, float_of(c, &x), r.rank, r.shape);
    if (ok && !reduce_run(c->vm, &x, &r, REDUCE_SUM, TERM_X, NULL, work)) ok = result_drop(c, &out);
    if (ok) finish_into(&out, d, work, r.outs, (double)r.n, false);
    work_close(c, work, bytes);
    return ok && result_give_weak(c, &out, x.weak);
}

/* var and std: the mean by one tree, the squares about it by another. (x, axis, ddof, keepdims) */
static bool spread_kernel(prim_call *c, bool root)
{
    shaped x;
    reduce_axes r;
    result out;
    size_t bytes;
    double ddof;
    if (!arg_shaped(c, 0, &x) || !arg_reduce_axes(c, &x, 1, 3, &r) || !arg_number(c, 2, &ddof)) return false;
    dtype d = reduce_dtype(x.dtype);
    void *mu = work_open(c, &r, d, &bytes), *sum = mu ? work_open(c, &r, d, &bytes) : NULL;
    bool ok = sum && result_open(c, &out, float_of(c, &x), r.rank, r.shape);
    if (ok && reduce_run(c->vm, &x, &r, REDUCE_SUM, TERM_X, NULL, mu)) {
        for (int64_t i = 0; i < r.outs; i++)
            if (d == DTYPE_F32) ((float *)mu)[i] /= (float)r.n;
            else ((double *)mu)[i] /= (double)r.n;
        if (!reduce_run(c->vm, &x, &r, REDUCE_SUM, TERM_DEVIATION, mu, sum)) ok = result_drop(c, &out);
        double by = (double)r.n - ddof;
        if (ok) finish_into(&out, d, sum, r.outs, by > 0 ? by : 0, root);
    } else if (ok) ok = result_drop(c, &out);
    if (mu) work_close(c, mu, bytes);
    if (sum) work_close(c, sum, bytes);
    return ok && result_give(c, &out);
}
bool kern_var(prim_call *c) { return spread_kernel(c, false); }
bool kern_std(prim_call *c) { return spread_kernel(c, true); }

bool kern_norm(prim_call *c)
{
    shaped x;
    reduce_axes r;
    result out;
    size_t bytes;
    if (!arg_shaped(c, 0, &x) || !arg_reduce_axes(c, &x, 1, 2, &r)) return false;
    dtype d = reduce_dtype(x.dtype);
    void *work = work_open(c, &r, d, &bytes);
    if (!work) return false;
    bool ok = result_open(c, &out, float_of(c, &x), r.rank, r.shape);
    if (ok && !reduce_run(c->vm, &x, &r, REDUCE_SUM, TERM_SQUARE, NULL, work)) ok = result_drop(c, &out);
    if (ok) finish_into(&out, d, work, r.outs, 1, true);
    work_close(c, work, bytes);
    return ok && result_give(c, &out);
}

/* --- softmax and its kin ---------------------------------------------------------------------- */

/* The largest of each output, 0 where it is infinite (so that inf - inf does not arise from -inf alone). */
static void calm(dtype d, void *mu, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (d == DTYPE_F32 && isinf(((float *)mu)[i])) ((float *)mu)[i] = 0;
        if (d == DTYPE_F64 && isinf(((double *)mu)[i])) ((double *)mu)[i] = 0;
    }
}

/* Replaces *a, which it owns, by p(*a) or p(*a, b). */
static bool step(vm *m, enum prim_id p, value *a, value b)
{
    value args[2] = {*a, b}, out;
    if (!prim_apply(m, &prims[p], args, b.tag == V_UNDEF ? 1 : 2, 1, &out)) return false;
    value_release(m, *a);
    *a = out;
    return true;
}

/* With m the largest along the axes: of x, e = exp(x - m) and s = sum(e): m + log(s), e / s, or x - m - log(s).
   The steps are the elementwise primitives themselves, so the bits are those of writing them out. */
typedef enum soft_kind { SOFT_SUM, SOFT_MAX, SOFT_LOG } soft_kind;
static bool soft_kernel(prim_call *c, soft_kind kind)
{
    vm *m = c->vm;
    shaped x;
    reduce_axes r, kept;
    array *own = NULL;
    int axes[RANK_MAX], n;
    if (!arg_shaped(c, 0, &x) || !arg_reduce_axes(c, &x, 1, kind == SOFT_SUM ? 2 : -1, &r)) return false;
    if (!arg_axes(c, 1, x.rank, axes, &n)) return false;
    dtype d = float_of(c, &x);
    if (x.dtype != d && !arg_dense(c, 0, d, &x, &own)) return false;
    reduce_axes_make(&x, axes, n, true, &kept);
    if (kind == SOFT_SUM) memcpy(kept.shape, r.shape, sizeof kept.shape), kept.rank = r.rank;
    result top, sum;
    value mu = value_undef(), s = value_undef(), e = value_undef();
    bool ok = result_open(c, &top, d, kept.rank, kept.shape), summed = false;
    if (ok) {
        ok = reduce_run(m, &x, &kept, REDUCE_MAX, TERM_X, NULL, top.data);
        if (ok) calm(d, top.data, kept.outs);
        if (ok && kind != SOFT_MAX) summed = ok = result_open(c, &sum, d, kept.rank, kept.shape);
        if (summed) ok = reduce_run(m, &x, &kept, REDUCE_SUM, TERM_EXP, top.data, sum.data);
        result_give(c, &top), mu = c->out;
        if (summed) result_give(c, &sum), s = c->out;
    }
    if (ok && summed) ok = step(m, PRIM_log, &s, value_undef());
    if (ok && kind == SOFT_SUM) {
        ok = step(m, PRIM_add, &mu, s);
        e = value_retain(mu);
    } else if (ok) {
        e = own ? value_retain(value_object(&own->h)) : x.rank ? value_retain(c->args[0]) : c->args[0];
        if (!x.rank) e = scalar_of(d, read_f64(x.dtype, &x.scalar, 0));
        ok = step(m, PRIM_sub, &e, mu);
        if (ok && kind == SOFT_LOG) ok = step(m, PRIM_sub, &e, s);
        if (ok && kind == SOFT_MAX) {
            value args[3] = {0};
            ok = step(m, PRIM_exp, &e, value_undef());
            args[0] = e, args[1] = c->args[1], args[2] = value_bool(true);
            ok = ok && prim_apply(m, &prims[PRIM_sum], args, 3, 0, &s) && step(m, PRIM_div, &e, s);
        }
    }
    release_array(m, own);
    value_release(m, mu);
    value_release(m, s);
    if (ok) c->out = e;
    else value_release(m, e);
    return ok;
}
bool kern_logsumexp(prim_call *c) { return soft_kernel(c, SOFT_SUM); }
bool kern_softmax(prim_call *c) { return soft_kernel(c, SOFT_MAX); }
bool kern_log_softmax(prim_call *c) { return soft_kernel(c, SOFT_LOG); }

/* --- for rules -------------------------------------------------------------------------------- */

/* (c, f, axis, keepdims): a reduction's cotangent spread back over the shape of form f. */
bool kern_unreduce(prim_call *c)
{
    shaped g, f;
    int axes[RANK_MAX], n;
    bool keep;
    if (!arg_shaped(c, 0, &g) || !arg_form(c, 1, &f) || !arg_axes(c, 2, f.rank, axes, &n) || !arg_bool(c, 3, &keep)) return false;
    int64_t stride[RANK_MAX];
    int next = 0, k = 0;
    for (int i = 0; i < f.rank; i++) {
        bool reduced = next < n && axes[next] == i;
        next += reduced;
        stride[i] = reduced || g.rank == 0 ? 0 : k < g.rank ? g.stride[k] : 0;
        if (!reduced || keep) k++;
    }
    if (g.rank && k != g.rank) return prim_fail(c, 0, DIAG_INTERNAL, "a cotangent of rank %d for a result of rank %d", g.rank, k);
    if (c->args[0].tag != V_ARRAY && f.rank) { /* one number everywhere: a stored element seen by stride 0 */
        int64_t one = 1;
        array *a = array_new(c->vm, g.dtype, 1, &one);
        if (!a) return false;
        memcpy(a->data, g.data, dtype_size[g.dtype]);
        array *v = array_view(c->vm, a, f.rank, f.shape, stride, 0);
        release_array(c->vm, a);
        return give_array(c, v);
    }
    return give_view(c, &c->args[0], f.rank, f.shape, stride, 0);
}

/* (f, axis): how many elements of form f are reduced into each output, as i64. */
bool kern_reduced_count(prim_call *c)
{
    shaped x;
    reduce_axes r;
    if (!arg_form(c, 0, &x) || !arg_reduce_axes(c, &x, 1, -1, &r)) return false;
    c->out = value_i64(r.n);
    return true;
}

/* (x, y, axis, keepdims): 1/k at the k elements of x that equal their y (NaN equals NaN), else 0. */
bool kern_ties(prim_call *c)
{
    shaped x, f;
    reduce_axes r, o;
    array *own;
    int axes[RANK_MAX], n;
    shaped y;
    if (!arg_shaped(c, 0, &x) || !arg_reduce_axes(c, &x, 2, 3, &r) || !arg_axes(c, 2, x.rank, axes, &n)) return false;
    if (!arg_dense(c, 1, DTYPE_F64, &y, &own)) return false;
    shaped_dense(&f, x.dtype, x.rank, x.shape);
    reduce_axes_make(&f, axes, n, false, &o);
    result out;
    if (!result_open(c, &out, float_of(c, &x), x.rank, x.shape)) {
        release_array(c->vm, own);
        return false;
    }
    shaped xs = x, os;
    if (x.rank == 0) xs.data = &xs.scalar;
    shaped_dense(&os, out.dtype, x.rank, x.shape);
    int threads = threads_for(c->vm, x.size * 2);
    const volatile int *stop = &c->vm->interrupt;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t k = 0; k < r.outs; k++) {
        double v = ((const double *)y.data)[k];
        int64_t count = 0;
        for (int pass = 0; pass < 2 && !STOPPED(stop); pass++) {
            int64_t at[RANK_MAX] = {0}, ap[RANK_MAX] = {0}, p = reduce_base(&r, k), q = reduce_base(&o, k), d0 = 0, d1 = 0;
            double share = 1.0 / (double)count;
            for (int64_t i = 0; i < r.n; i++) {
                double e = read_f64(xs.dtype, xs.data, p);
                bool tie = e == v || (e != e && v != v);
                if (pass) write_f64(out.dtype, out.data, q, tie ? share : 0);
                else count += tie;
                odometer(r.nr, r.rshape, at, r.rstride, &p, r.rstride, &d0);
                if (pass) odometer(o.nr, o.rshape, ap, o.rstride, &q, o.rstride, &d1);
            }
        }
    }
    release_array(c->vm, own);
    return result_give(c, &out);
}
