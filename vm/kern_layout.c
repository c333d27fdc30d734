/* kern_layout.c: one array's elements laid out anew: tile, repeat, pad, roll, tril, triu, diag; and the
 * transposes that their rules name, which add in row-major order of what they are given. */
#include "index.h"
#include "kern_util.h"

/* A cotangent's dtype: it is a float. */
static dtype cot_dtype(const shaped *g) { return g->dtype == DTYPE_F32 ? DTYPE_F32 : DTYPE_F64; }

static void add_strided(dtype d, int rank, const int64_t *shape, void *dst, const int64_t *ds, const void *src, const int64_t *ss)
{
    int64_t at[RANK_MAX] = {0}, o = 0, q = 0;
    if (shape_size(rank, shape) == 0) return;
    do {
        if (d == DTYPE_F32) ((float *)dst)[o] += ((const float *)src)[q];
        else ((double *)dst)[o] += ((const double *)src)[q];
    } while (odometer(rank, shape, at, ds, &o, ss, &q));
}

/* A result of zeros. */
static bool zeros_open(prim_call *c, result *r, dtype d, int rank, const int64_t *shape)
{
    if (!result_open(c, r, d, rank, shape)) return false;
    memset(r->data, 0, (size_t)r->size * dtype_size[d]);
    return true;
}

/* --- tile -------------------------------------------------------------------------------------- */

/* x's shape and the repetitions, both with leading ones to the same rank. */
static bool tile_shape(prim_call *c, const shaped *x, uint32_t arg, int *rank, int64_t *n, int64_t *reps)
{
    int k;
    int64_t given[RANK_MAX];
    if (!arg_wholes(c, arg, RANK_MAX, &k, given)) return false;
    *rank = k > x->rank ? k : x->rank;
    for (int i = 0; i < *rank; i++) {
        n[i] = i < *rank - x->rank ? 1 : x->shape[i - (*rank - x->rank)];
        reps[i] = i < *rank - k ? 1 : given[i - (*rank - k)];
        if (reps[i] < 0) return prim_fail(c, (int)arg, DIAG_VALUE, "reps must not be negative, and holds %lld", (long long)reps[i]);
    }
    return true;
}

bool kern_tile(prim_call *c)
{
    shaped x;
    int rank;
    int64_t n[RANK_MAX], reps[RANK_MAX], shape[RANK_MAX], ds[RANK_MAX], xs[RANK_MAX] = {0};
    result r;
    if (!arg_shaped(c, 0, &x) || !tile_shape(c, &x, 1, &rank, n, reps)) return false;
    for (int i = 0; i < rank; i++) {
        if (__builtin_mul_overflow(n[i], reps[i], &shape[i])) return prim_fail(c, 1, DIAG_SHAPE, "the result is too large");
        if (i >= rank - x.rank) xs[i] = x.stride[i - (rank - x.rank)];
    }
    if (!result_open(c, &r, x.dtype, rank, shape)) return false;
    dense_strides(rank, shape, ds);
    int64_t at[RANK_MAX] = {0}, step[RANK_MAX], o = 0, z = 0;
    for (int i = 0; i < rank; i++) step[i] = n[i] * ds[i];
    if (r.size) do
            copy_strided(c->vm, dtype_size[x.dtype], rank, n, element(x.dtype, r.data, o), ds, x.data, xs);
        while (!INTERRUPTED(c->vm) && odometer(rank, reps, at, step, &o, step, &z));
    return result_give(c, &r);
}

/* (c, f, reps): the copies added together. */
bool kern_untile(prim_call *c)
{
    shaped g, f;
    int rank;
    int64_t n[RANK_MAX], reps[RANK_MAX], ds[RANK_MAX], step[RANK_MAX], at[RANK_MAX] = {0}, o = 0, z = 0;
    array *own;
    result r;
    if (!arg_shaped(c, 0, &g) || !arg_form(c, 1, &f) || !tile_shape(c, &f, 2, &rank, n, reps)) return false;
    dtype d = cot_dtype(&g);
    if (!arg_dense(c, 0, d, &g, &own)) return false;
    bool ok = zeros_open(c, &r, d, f.rank, f.shape);
    dense_strides(rank, n, ds);
    for (int i = 0; i < rank; i++) step[i] = n[i] * g.stride[i];
    if (ok && g.size) do
            add_strided(d, rank, n, r.data, ds, element(d, g.data, o), g.stride);
        while (!INTERRUPTED(c->vm) && odometer(rank, reps, at, step, &o, step, &z));
    release_array(c->vm, own);
    return ok && result_give(c, &r);
}

/* --- repeat ------------------------------------------------------------------------------------ */

/* The source place of each result place along the axis; counts from argument `arg` (one, or n of them). */
static int64_t *repeat_places(prim_call *c, uint32_t arg, int64_t n, int64_t *total, size_t *bytes)
{
    shaped k;
    array *own;
    if (!arg_i64_array(c, arg, &k, &own)) return NULL;
    int64_t step = k.rank ? k.stride[0] : 0, *p = NULL;
    *total = 0;
    bool ok = k.rank == 0 || (k.rank == 1 && (k.shape[0] == n || k.shape[0] == 1));
    if (k.rank == 1 && k.shape[0] == 1) step = 0;
    if (!ok) prim_fail(c, (int)arg, DIAG_SHAPE, "repeats must be one number or one for each of %lld elements", (long long)n);
    if (ok && k.rank == 0 && k.dtype != DTYPE_I64) ok = prim_fail(c, (int)arg, DIAG_TYPE, "repeats must be whole numbers");
    for (int64_t i = 0; ok && i < n && !odometer_stops(c->vm, 1, &i); i++) {
        int64_t v = ((const int64_t *)k.data)[i * step];
        if (v < 0) ok = prim_fail(c, (int)arg, DIAG_VALUE, "repeats must not be negative, and holds %lld", (long long)v);
        if (ok && (__builtin_add_overflow(*total, v, total) || *total > INT64_MAX / 16))
            ok = prim_fail(c, (int)arg, DIAG_SHAPE, "the result is too large");
    }
    ok = ok && !vm_interrupted(c->vm); /* the total is of some of them only */
    if (ok) {
        *bytes = (size_t)*total * sizeof(int64_t) + 1;
        p = memory_alloc(&c->vm->mem, MEM_OTHER, *bytes);
        if (!p) vm_out_of_memory(c->vm);
    }
    for (int64_t i = 0, o = 0; p && i < n; i++)
        for (int64_t v = ((const int64_t *)k.data)[i * step]; v > 0; v--) p[o++] = i;
    release_array(c->vm, own);
    return p;
}

/* [outer, n, inner] about an axis; without one, all as one axis. */
static void about(const shaped *x, int axis, int64_t *outer, int64_t *n, int64_t *inner)
{
    *outer = *inner = 1;
    *n = axis < 0 ? x->size : x->shape[axis];
    for (int i = 0; axis >= 0 && i < x->rank; i++) {
        if (i < axis) *outer *= x->shape[i];
        if (i > axis) *inner *= x->shape[i];
    }
}

bool kern_repeat(prim_call *c)
{
    shaped x;
    int axis;
    int64_t outer, n, inner, total, shape[RANK_MAX];
    size_t bytes;
    array *own = NULL;
    result r;
    if (!arg_shaped(c, 0, &x) || !arg_axis(c, 2, x.rank, &axis)) return false;
    about(&x, axis, &outer, &n, &inner);
    int64_t *p = repeat_places(c, 1, n, &total, &bytes);
    if (!p) return false;
    memcpy(shape, x.shape, sizeof shape);
    shape[axis < 0 ? 0 : axis] = total;
    bool ok = arg_dense(c, 0, x.dtype, &x, &own) && result_open(c, &r, x.dtype, axis < 0 ? 1 : x.rank, shape);
    if (ok) {
        size_t row = (size_t)inner * dtype_size[x.dtype];
        char *dst = r.data;
        for (int64_t o = 0; o < outer && row; o++)
            for (int64_t i = 0; i < total && !odometer_stops(c->vm, 1, &i); i++, dst += row)
                memcpy(dst, (char *)x.data + (size_t)(o * n + p[i]) * row, row);
    }
    memory_free(&c->vm->mem, MEM_OTHER, p, bytes);
    release_array(c->vm, own);
    return ok && result_give(c, &r);
}

/* (c, f, repeats, axis): the repeated elements added together. */
bool kern_unrepeat(prim_call *c)
{
    shaped g, f;
    int axis;
    int64_t outer, n, inner, total;
    size_t bytes;
    array *own = NULL;
    result r;
    if (!arg_shaped(c, 0, &g) || !arg_form(c, 1, &f) || !arg_axis(c, 3, f.rank, &axis)) return false;
    about(&f, axis, &outer, &n, &inner);
    int64_t *p = repeat_places(c, 2, n, &total, &bytes);
    if (!p) return false;
    dtype d = cot_dtype(&g);
    bool ok = arg_dense(c, 0, d, &g, &own) && zeros_open(c, &r, d, f.rank, f.shape);
    int64_t one = 1;
    if (ok)
        for (int64_t o = 0, q = 0; o < outer; o++)
            for (int64_t i = 0; i < total && !odometer_stops(c->vm, 1, &i); i++, q += inner)
                add_strided(d, 1, &inner, element(d, r.data, (o * n + p[i]) * inner), &one, element(d, g.data, q), &one);
    memory_free(&c->vm->mem, MEM_OTHER, p, bytes);
    release_array(c->vm, own);
    return ok && result_give(c, &r);
}

/* --- pad --------------------------------------------------------------------------------------- */

/* before[i], after[i] for each axis: a number, (before, after), or one such pair for each axis. */
static bool pad_widths(prim_call *c, uint32_t arg, int rank, int64_t *before, int64_t *after)
{
    int n;
    int64_t w[2 * RANK_MAX];
    value v = c->args[arg];
    bool matrix = v.tag == V_ARRAY && as_array(v)->rank == 2;
    if (matrix) { /* [[before, after], …] */
        array *a = as_array(v);
        n = 0;
        if (a->size != 2 * rank || array_shape(a)[1] != 2)
            return prim_fail(c, (int)arg, DIAG_SHAPE, "width must have a (before, after) for each of %d axes", rank);
        for (int64_t i = 0; i < rank; i++)
            for (int64_t k = 0; k < 2; k++)
                if (!index_whole(array_get(a, (int64_t[]){i, k}), &w[n++]))
                    return prim_fail(c, (int)arg, DIAG_VALUE, "width must be whole numbers");
    } else if (!arg_wholes(c, arg, 2 * RANK_MAX, &n, w)) return false;
    bool pairs = v.tag == V_TUPLE && as_tuple(v)->n && !value_is_scalar(as_tuple(v)->v[0]);
    for (int i = 0; i < rank; i++) {
        if (n == 1 && !pairs) before[i] = after[i] = w[0];
        else if (n == 2 && !matrix) before[i] = w[0], after[i] = w[1]; /* also ((before, after),) for all */
        else if (n == 2 * rank && (pairs || matrix)) before[i] = w[2 * i], after[i] = w[2 * i + 1];
        else return prim_fail(c, (int)arg, DIAG_SHAPE, "width must be a number, (before, after), or such a pair for each of %d axes", rank);
        if (before[i] < 0 || after[i] < 0) return prim_fail(c, (int)arg, DIAG_VALUE, "width must not be negative");
        if (before[i] > ELEMENTS_MOST || after[i] > ELEMENTS_MOST) return prim_fail(c, (int)arg, DIAG_SHAPE, "width is too large");
    }
    return true;
}

bool kern_pad(prim_call *c)
{
    shaped x, v;
    int64_t before[RANK_MAX], after[RANK_MAX], shape[RANK_MAX], ds[RANK_MAX], offset = 0;
    result r;
    array *conv = NULL;
    if (!arg_shaped(c, 0, &x) || !arg_shaped(c, 2, &v) || !pad_widths(c, 1, x.rank, before, after)) return false;
    if (v.rank) return prim_fail(c, 2, DIAG_SHAPE, "value must be a number");
    weakness weak;
    dtype d = v.dtype == x.dtype || (v.weak == WEAK_WHOLE && x.dtype != DTYPE_BOOL) ? x.dtype : dtype_promote(c->vm, &x, &v, &weak);
    for (int i = 0; i < x.rank; i++) shape[i] = x.shape[i] + before[i] + after[i];
    if (x.rank && x.dtype != d) {
        conv = array_copy(c->vm, as_array(c->args[0]), d);
        if (!conv) return false;
        shaped_array(&x, conv);
    }
    bool ok = result_open(c, &r, d, x.rank, shape);
    if (ok) {
        uint64_t one = 0;
        copy_converted(c->vm, &v, d, &one);
        int64_t zero[RANK_MAX] = {0};
        dense_strides(x.rank, shape, ds);
        copy_strided(c->vm, dtype_size[d], x.rank, shape, r.data, ds, &one, zero);
        for (int i = 0; i < x.rank; i++) offset += before[i] * ds[i];
        if (x.size) copy_strided(c->vm, dtype_size[x.dtype], x.rank, x.shape, element(d, r.data, offset), ds, x.data, x.stride);
    }
    release_array(c->vm, conv);
    return ok && result_give(c, &r);
}

/* (c, width): the inside of what was padded, a view. */
bool kern_unpad(prim_call *c)
{
    shaped g;
    int64_t before[RANK_MAX], after[RANK_MAX], offset = 0;
    if (!arg_shaped(c, 0, &g) || !pad_widths(c, 1, g.rank, before, after)) return false;
    for (int i = 0; i < g.rank; i++) {
        g.shape[i] -= before[i] + after[i];
        offset += before[i] * g.stride[i];
    }
    return give_view(c, &c->args[0], g.rank, g.shape, g.stride, shape_size(g.rank, g.shape) ? offset : 0);
}

/* (c, width): c with zeros inside: what belongs to the padding. */
bool kern_pad_edge(prim_call *c)
{
    shaped g;
    int64_t before[RANK_MAX], after[RANK_MAX], ds[RANK_MAX], zs[RANK_MAX] = {0}, offset = 0;
    result r;
    uint64_t zero = 0;
    if (!arg_shaped(c, 0, &g) || !pad_widths(c, 1, g.rank, before, after)) return false;
    if (!result_open(c, &r, g.dtype, g.rank, g.shape)) return false;
    copy_converted(c->vm, &g, g.dtype, r.data);
    dense_strides(g.rank, g.shape, ds);
    for (int i = 0; i < g.rank; i++) {
        offset += before[i] * ds[i];
        g.shape[i] -= before[i] + after[i];
    }
    if (shape_size(g.rank, g.shape))
        copy_strided(c->vm, dtype_size[g.dtype], g.rank, g.shape, element(g.dtype, r.data, offset), ds, &zero, zs);
    return result_give(c, &r);
}

/* --- roll, triangles, diagonals ------------------------------------------------------------------ */

bool kern_roll(prim_call *c)
{
    shaped x;
    int nshift, naxes;
    int64_t shift[RANK_MAX], named[RANK_MAX], by[RANK_MAX] = {0}, ds[RANK_MAX];
    array *own;
    result r;
    if (!arg_shaped(c, 0, &x) || !arg_wholes(c, 1, RANK_MAX, &nshift, shift)) return false;
    bool flat = c->args[2].tag == V_NONE;
    shaped v = x;
    if (flat) {
        if (nshift != 1) return prim_fail(c, 1, DIAG_SHAPE, "shift must be one number when there is no axis");
        shaped_dense(&v, x.dtype, 1, &x.size);
        by[0] = x.size ? shift[0] % x.size : 0;
    } else {
        if (!arg_wholes(c, 2, RANK_MAX, &naxes, named)) return false;
        if (nshift != naxes && nshift != 1 && naxes != 1)
            return prim_fail(c, 1, DIAG_SHAPE, "shift has %d numbers and axis %d", nshift, naxes);
        for (int i = 0; i < (nshift > naxes ? nshift : naxes); i++) {
            int64_t a = named[naxes == 1 ? 0 : i];
            if (a < -x.rank || a >= x.rank) return arg_axis_fail(c, 2, a, x.rank);
            if (a < 0) a += x.rank;
            if (x.shape[a]) by[a] += shift[nshift == 1 ? 0 : i] % x.shape[a];
        }
    }
    if (!arg_dense(c, 0, x.dtype, &x, &own)) return false;
    bool ok = result_open(c, &r, x.dtype, x.rank, x.shape);
    if (ok && x.size) {
        /* Each rolled axis falls into two runs; every combination of runs is one block. */
        dense_strides(v.rank, v.shape, ds);
        for (int i = 0; i < v.rank; i++) by[i] = ((by[i] % v.shape[i]) + v.shape[i]) % v.shape[i];
        for (int mask = 0; mask < 1 << v.rank; mask++) {
            int64_t n[RANK_MAX], from = 0, to = 0;
            bool any = true;
            for (int i = 0; i < v.rank; i++) {
                bool wrap = mask >> i & 1;
                n[i] = wrap ? by[i] : v.shape[i] - by[i];
                any = any && n[i] > 0;
                from += (wrap ? v.shape[i] - by[i] : 0) * ds[i];
                to += (wrap ? 0 : by[i]) * ds[i];
            }
            if (any)
                copy_strided(c->vm, dtype_size[x.dtype], v.rank, n, element(x.dtype, r.data, to), ds, element(x.dtype, x.data, from), ds);
        }
    }
    release_array(c->vm, own);
    return ok && result_give(c, &r);
}

static bool triangle(prim_call *c, bool lower)
{
    shaped x;
    int64_t k;
    result r;
    if (!arg_shaped(c, 0, &x) || !arg_offset(c, 1, &k)) return false;
    if (x.rank < 2) return arg_misshapen(c, 0, &x, "a matrix, or a batch of them");
    if (!result_open(c, &r, x.dtype, x.rank, x.shape)) return false;
    copy_converted(c->vm, &x, x.dtype, r.data);
    int64_t rows = x.shape[x.rank - 2], cols = x.shape[x.rank - 1], batch = rows && cols ? x.size / (rows * cols) : 0;
    size_t w = dtype_size[x.dtype];
    for (int64_t b = 0; b < batch; b++)
        for (int64_t i = 0; i < rows; i++) {
            int64_t lo = lower ? i + k + 1 : 0, hi = lower ? cols : i + k;
            lo = lo < 0 ? 0 : lo, hi = hi > cols ? cols : hi;
            if (lo < hi) memset((char *)r.data + (size_t)((b * rows + i) * cols + lo) * w, 0, (size_t)(hi - lo) * w);
        }
    return result_give(c, &r);
}
bool kern_tril(prim_call *c) { return triangle(c, true); }
bool kern_triu(prim_call *c) { return triangle(c, false); }

/* Where the k-th diagonal of [rows, cols] starts and how long it is. */
static int64_t diagonal(int64_t rows, int64_t cols, int64_t k, int64_t *i, int64_t *j)
{
    *i = k < 0 ? -k : 0;
    *j = k > 0 ? k : 0;
    int64_t n = rows - *i < cols - *j ? rows - *i : cols - *j;
    return n > 0 ? n : 0;
}

/* A matrix of zeros with x on a diagonal. */
static bool diag_fill(prim_call *c, const shaped *x, int64_t rows, int64_t cols, int64_t k)
{
    int64_t i, j, n = diagonal(rows, cols, k, &i, &j), shape[2] = {rows, cols};
    result r;
    if (n != x->shape[0]) return prim_fail(c, 0, DIAG_INTERNAL, "a diagonal of another length");
    if (!zeros_open(c, &r, x->dtype, 2, shape)) return false;
    for (int64_t q = 0; q < n; q++)
        memcpy(element(x->dtype, r.data, (i + q) * cols + j + q), element(x->dtype, x->data, q * x->stride[0]), dtype_size[x->dtype]);
    return result_give(c, &r);
}

bool kern_diag(prim_call *c)
{
    shaped x;
    int64_t k, i, j;
    if (!arg_shaped(c, 0, &x) || !arg_offset(c, 1, &k)) return false;
    if (x.rank == 1) {
        int64_t n = x.shape[0] + (k < 0 ? -k : k);
        return diag_fill(c, &x, n, n, k);
    }
    if (x.rank != 2) return arg_misshapen(c, 0, &x, "a vector or a matrix");
    int64_t n = diagonal(x.shape[0], x.shape[1], k, &i, &j), stride = x.stride[0] + x.stride[1];
    return give_view(c, &c->args[0], 1, &n, &stride, n ? i * x.stride[0] + j * x.stride[1] : 0);
}

/* (c, f, k): the transpose of diag onto form f. */
bool kern_undiag(prim_call *c)
{
    shaped g, f;
    int64_t k;
    if (!arg_shaped(c, 0, &g) || !arg_form(c, 1, &f) || !arg_offset(c, 2, &k)) return false;
    if (f.rank == 2) return diag_fill(c, &g, f.shape[0], f.shape[1], k);
    int64_t i, j, n = diagonal(g.shape[0], g.shape[1], k, &i, &j), stride = g.stride[0] + g.stride[1];
    return give_view(c, &c->args[0], 1, &n, &stride, n ? i * g.stride[0] + j * g.stride[1] : 0);
}
