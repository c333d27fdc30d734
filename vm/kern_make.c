/* kern_make.c: arrays from nothing: zeros, ones, full, eye, linspace, a..b, zeros_like, ones_like. */
#include "kern_util.h"

/* Every element the same. */
static void fill_with(const vm *m, result *r, double x)
{
    enum { PIECE = 1 << 20 };
    for (int64_t i = 0, n; i < r->size && !INTERRUPTED(m); i += n) {
        n = r->size - i < PIECE ? r->size - i : PIECE;
        if (x == 0) memset(element(r->dtype, r->data, i), 0, (size_t)n * dtype_size[r->dtype]);
        else
            for (int64_t k = i; k < i + n; k++) write_f64(r->dtype, r->data, k, x);
    }
}

static bool constant_kernel(prim_call *c, double x)
{
    int rank;
    int64_t shape[RANK_MAX];
    result r;
    if (!arg_shape(c, 0, false, &rank, shape)) return false;
    if (!result_open(c, &r, c->vm->config.float_dtype, rank, shape)) return false;
    fill_with(c->vm, &r, x);
    return result_give(c, &r);
}
bool kern_zeros(prim_call *c) { return constant_kernel(c, 0); }
bool kern_ones(prim_call *c) { return constant_kernel(c, 1); }

bool kern_full(prim_call *c)
{
    int rank;
    int64_t shape[RANK_MAX];
    shaped v;
    result r;
    prim_call head = *c;
    head.n = 1; /* the shape alone */
    if (!arg_shape(&head, 0, false, &rank, shape) || !arg_shaped(c, 1, &v)) return false;
    if (v.rank) {
        prim_fail(c, 1, DIAG_SHAPE, "value must be a number");
        vm_help(c->vm, "expand(x, shape) repeats an array");
        return false;
    }
    if (!result_open(c, &r, v.weak ? c->vm->config.float_dtype : v.dtype, rank, shape)) return false;
    uint64_t one = 0;
    int64_t zero[RANK_MAX] = {0}, ds[RANK_MAX];
    copy_converted(c->vm, &v, r.dtype, &one);
    dense_strides(rank, shape, ds);
    copy_strided(c->vm, dtype_size[r.dtype], rank, shape, r.data, ds, &one, zero);
    return result_give(c, &r);
}

static bool like_kernel(prim_call *c, double v)
{
    shaped x;
    result r;
    if (!arg_shaped(c, 0, &x)) return false;
    if (x.weak) {
        c->out = value_weak(v, x.weak);
        return true;
    }
    if (!result_open(c, &r, x.dtype, x.rank, x.shape)) return false;
    fill_with(c->vm, &r, v);
    return result_give(c, &r);
}
bool kern_zeros_like(prim_call *c) { return like_kernel(c, 0); }
bool kern_ones_like(prim_call *c) { return like_kernel(c, 1); }

bool kern_eye(prim_call *c)
{
    int64_t n, m, k;
    result r;
    if (!arg_int(c, 0, &n)) return false;
    m = n;
    if (c->args[1].tag != V_NONE && !arg_int(c, 1, &m)) return false;
    if (!arg_offset(c, 2, &k)) return false;
    if (n < 0 || m < 0)
        return prim_fail(c, n < 0 ? 0 : 1, DIAG_VALUE, "%s must not be negative, and is %lld", n < 0 ? "n" : "m",
                         (long long)(n < 0 ? n : m));
    int64_t shape[2] = {n, m};
    if (!result_open(c, &r, c->vm->config.float_dtype, 2, shape)) return false;
    fill_with(c->vm, &r, 0);
    for (int64_t i = k < 0 ? -k : 0; i < n && i + k < m; i++) write_f64(r.dtype, r.data, i * m + i + k, 1);
    return result_give(c, &r);
}

/* (start, stop, num, endpoint) */
bool kern_linspace(prim_call *c)
{
    shaped a, b;
    double lo, hi;
    int64_t n;
    bool end;
    result r;
    if (!arg_number(c, 0, &lo) || !arg_number(c, 1, &hi) || !arg_int(c, 2, &n) || !arg_bool(c, 3, &end)) return false;
    if (n < 0) return prim_fail(c, 2, DIAG_VALUE, "num must not be negative, and is %lld", (long long)n);
    arg_shaped(c, 0, &a), arg_shaped(c, 1, &b);
    weakness w;
    dtype d = dtype_promote(c->vm, &a, &b, &w);
    if (w || d < DTYPE_F32) d = c->vm->config.float_dtype;
    if (!result_open(c, &r, d, 1, &n)) return false;
    double parts = (double)(end ? n - 1 : n), step = parts > 0 ? (hi - lo) / parts : 0;
    for (int64_t i = 0; i < n && !odometer_stops(c->vm, 1, &i); i++) {
        double x = end && i == n - 1 && n > 1 ? hi : lo + (double)i * step;
        write_f64(d, r.data, i, x);
    }
    return result_give(c, &r);
}

/* (lo, hi): lo, lo + 1, … below hi. */
bool kern_range(prim_call *c)
{
    int64_t lo, hi, n;
    result r;
    if (!arg_int(c, 0, &lo) || !arg_int(c, 1, &hi)) return false;
    if (hi < lo) n = 0;
    else if (__builtin_sub_overflow(hi, lo, &n)) return prim_fail(c, 1, DIAG_SHAPE, "the range is too long");
    if (!result_open(c, &r, DTYPE_I64, 1, &n)) return false;
    for (int64_t i = 0; i < n && !INTERRUPTED(c->vm);)
        for (int64_t end = n - i < 65536 ? n : i + 65536; i < end; i++) ((int64_t *)r.data)[i] = lo + i;
    return result_give(c, &r);
}
