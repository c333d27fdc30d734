/* kern_find.c: reductions that answer with places, counts and truth: argmax, argmin, any, all, count_nonzero. */
#include "reduce.h"

/* The first place of the largest (smallest) element; a NaN is larger (smaller) than all, as in NumPy. */
#define EXTREME(T, LOAD) \
    T buf[256], best = 0; \
    int64_t where = 0; \
    bool nan = false; \
    for (int64_t i = 0; i < r->n && !nan && !STOPPED(stop); i += 256) { \
        int64_t n = r->n - i < 256 ? r->n - i : 256; \
        LOAD(x, r, base, i, n, buf); \
        if (i == 0) best = buf[0], nan = best != best; \
        for (int64_t j = 0; j < n && !nan; j++) \
            if ((least ? buf[j] < best : buf[j] > best) || buf[j] != buf[j]) best = buf[j], where = i + j, nan = best != best; \
    } \
    return where
static int64_t extreme_f64(const volatile int *stop, const shaped *x, const reduce_axes *r, int64_t base, bool least)
{
    EXTREME(double, reduce_load_f64);
}
static int64_t extreme_i64(const volatile int *stop, const shaped *x, const reduce_axes *r, int64_t base, bool least)
{
    EXTREME(int64_t, reduce_load_i64);
}

static bool place_kernel(prim_call *c, bool least)
{
    shaped x;
    reduce_axes r;
    result out;
    if (!arg_shaped(c, 0, &x) || !arg_reduce_axes(c, &x, 1, 2, &r)) return false;
    if (r.n == 0 && r.outs > 0) return prim_fail(c, 0, DIAG_VALUE, "there is no %s of no elements", least ? "smallest" : "largest");
    if (!result_open(c, &out, DTYPE_I64, r.rank, r.shape)) return false;
    int threads = threads_for(c->vm, x.size);
    const volatile int *stop = &c->vm->interrupt;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t k = 0; k < r.outs; k++) {
        int64_t base = reduce_base(&r, k);
        ((int64_t *)out.data)[k] = x.dtype < DTYPE_F32 ? extreme_i64(stop, &x, &r, base, least) : extreme_f64(stop, &x, &r, base, least);
    }
    return result_give(c, &out);
}
bool kern_argmax(prim_call *c) { return place_kernel(c, false); }
bool kern_argmin(prim_call *c) { return place_kernel(c, true); }

/* Elements of one output that are not 0; stops early where `any` or `all` is decided. */
static int64_t count_true(const volatile int *stop, const shaped *x, const reduce_axes *r, int64_t base, bool any, bool all)
{
    double buf[256];
    int64_t count = 0;
    for (int64_t i = 0; i < r->n && !STOPPED(stop); i += 256) {
        int64_t n = r->n - i < 256 ? r->n - i : 256;
        if (x->dtype == DTYPE_BOOL && r->nr == 1 && r->rstride[0] == 1) {
            const uint8_t *b = (const uint8_t *)x->data + base + i;
            for (int64_t j = 0; j < n; j++) count += b[j];
        } else {
            reduce_load_f64(x, r, base, i, n, buf);
            for (int64_t j = 0; j < n; j++) count += buf[j] != 0;
        }
        if ((any && count) || (all && count < i + n)) break;
    }
    return count;
}

typedef enum truth { TRUTH_ANY, TRUTH_ALL, TRUTH_COUNT } truth;

static bool truth_kernel(prim_call *c, truth kind)
{
    shaped x;
    reduce_axes r;
    result out;
    if (!arg_shaped(c, 0, &x) || !arg_reduce_axes(c, &x, 1, 2, &r)) return false;
    if (!result_open(c, &out, kind == TRUTH_COUNT ? DTYPE_I64 : DTYPE_BOOL, r.rank, r.shape)) return false;
    int threads = threads_for(c->vm, x.size);
    const volatile int *stop = &c->vm->interrupt;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t k = 0; k < r.outs; k++) {
        int64_t n = count_true(stop, &x, &r, reduce_base(&r, k), kind == TRUTH_ANY, kind == TRUTH_ALL);
        if (kind == TRUTH_COUNT) ((int64_t *)out.data)[k] = n;
        else ((uint8_t *)out.data)[k] = kind == TRUTH_ANY ? n > 0 : n == r.n;
    }
    return result_give(c, &out);
}
bool kern_any(prim_call *c) { return truth_kernel(c, TRUTH_ANY); }
bool kern_all(prim_call *c) { return truth_kernel(c, TRUTH_ALL); }
bool kern_count_nonzero(prim_call *c) { return truth_kernel(c, TRUTH_COUNT); }
