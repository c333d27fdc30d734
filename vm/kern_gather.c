/* kern_gather.c: gathers and scatters by arrays of places (take, take_along and their transposes), one_hot,
 * bincount, nonzero. Places count from the end when negative; one out of range is an error. */
#include "index.h"
#include "kern_util.h"

static bool bad_place(prim_call *c, int arg, int64_t i, int64_t n)
{
    return prim_fail(c, arg, DIAG_INDEX, "indices: index %lld is out of range for an axis of %lld element%s", (long long)i, (long long)n,
                     n == 1 ? "" : "s");
}

/* Normalises dense places in a copy of their own. NULL when one is out of range. */
static int64_t *places_of(prim_call *c, int arg, const shaped *ix, int64_t n, size_t *bytes)
{
    *bytes = (size_t)ix->size * sizeof(int64_t) + 1;
    int64_t *p = memory_alloc(&c->vm->mem, MEM_OTHER, *bytes);
    if (!p) {
        vm_out_of_memory(c->vm);
        return NULL;
    }
    copy_converted(c->vm, ix, DTYPE_I64, p);
    for (int64_t k = 0; k < ix->size; k++) {
        int64_t i = p[k];
        if (i < 0) p[k] = i + n;
        if (i >= -n && i < n) continue;
        memory_free(&c->vm->mem, MEM_OTHER, p, *bytes);
        bad_place(c, arg, i, n);
        return NULL;
    }
    return p;
}

/* The view of a shape as [outer, n, inner] about an axis; -1: all as one. */
static void about(const shaped *x, int axis, int64_t *outer, int64_t *n, int64_t *inner)
{
    *outer = *inner = 1;
    *n = axis < 0 ? x->size : x->shape[axis];
    for (int i = 0; axis >= 0 && i < x->rank; i++) {
        if (i < axis) *outer *= x->shape[i];
        if (i > axis) *inner *= x->shape[i];
    }
}

/* (x, indices, axis) */
bool kern_take(prim_call *c)
{
    shaped x, ix;
    int axis, rank = 0;
    int64_t shape[2 * RANK_MAX], outer, n, inner;
    array *ox, *oi = NULL;
    size_t bytes = 0;
    result out;
    if (!arg_shaped(c, 0, &x) || !arg_axis(c, 2, x.rank, &axis) || !arg_i64_array(c, 1, &ix, &oi)) return false;
    for (int i = 0; i < axis; i++) shape[rank++] = x.shape[i];
    for (int i = 0; i < ix.rank; i++) shape[rank++] = ix.shape[i];
    for (int i = axis + 1; axis >= 0 && i < x.rank; i++) shape[rank++] = x.shape[i];
    if (rank > RANK_MAX) {
        release_array(c->vm, oi);
        return prim_fail(c, 1, DIAG_SHAPE, "the result would have more than %d axes", RANK_MAX);
    }
    about(&x, axis, &outer, &n, &inner);
    int64_t *p = places_of(c, 1, &ix, n, &bytes);
    bool ok = p != NULL;
    ox = NULL;
    ok = ok && arg_dense(c, 0, x.dtype, &x, &ox) && result_open(c, &out, x.dtype, rank, shape);
    if (ok) {
        size_t row = (size_t)inner * dtype_size[x.dtype];
        char *dst = out.data;
        for (int64_t o = 0; o < outer && !INTERRUPTED(c->vm) && row; o++)
            for (int64_t k = 0; k < ix.size && !odometer_stops(c->vm, 1, &k); k++, dst += row)
                memcpy(dst, (char *)x.data + (size_t)(o * n + p[k]) * row, row);
    }
    if (p) memory_free(&c->vm->mem, MEM_OTHER, p, bytes);
    release_array(c->vm, oi);
    release_array(c->vm, ox);
    return ok && result_give(c, &out);
}

static void add_row(dtype d, int64_t n, void *dst, const void *src)
{
    if (d == DTYPE_F32)
        for (int64_t i = 0; i < n; i++) ((float *)dst)[i] += ((const float *)src)[i];
    else
        for (int64_t i = 0; i < n; i++) ((double *)dst)[i] += ((const double *)src)[i];
}

/* (c, f, indices, axis): zeros of form f with c added at the places, in order. */
bool kern_untake(prim_call *c)
{
    shaped g, f, ix;
    int axis;
    int64_t outer, n, inner;
    array *og, *oi = NULL;
    size_t bytes = 0;
    result out;
    if (!arg_shaped(c, 0, &g) || !arg_form(c, 1, &f) || !arg_axis(c, 3, f.rank, &axis) || !arg_i64_array(c, 2, &ix, &oi)) return false;
    about(&f, axis, &outer, &n, &inner);
    int64_t *p = places_of(c, 2, &ix, n, &bytes);
    og = NULL;
    dtype d = g.dtype == DTYPE_F32 ? DTYPE_F32 : DTYPE_F64;
    bool ok = p && arg_dense(c, 0, d, &g, &og) && result_open(c, &out, d, f.rank, f.shape);
    if (ok) {
        memset(out.data, 0, (size_t)out.size * dtype_size[d]);
        const char *src = g.data;
        size_t row = (size_t)inner * dtype_size[d];
        for (int64_t o = 0; o < outer && !INTERRUPTED(c->vm) && row; o++)
            for (int64_t k = 0; k < ix.size && !odometer_stops(c->vm, 1, &k); k++, src += row)
                add_row(d, inner, (char *)out.data + (size_t)(o * n + p[k]) * row, src);
    }
    if (p) memory_free(&c->vm->mem, MEM_OTHER, p, bytes);
    release_array(c->vm, oi);
    release_array(c->vm, og);
    return ok && result_give(c, &out);
}

/* Shapes of x and indices may differ along the axis alone. */
static bool along_fits(prim_call *c, int arg, const shaped *x, const shaped *ix, int axis)
{
    bool ok = x->rank == ix->rank;
    for (int i = 0; ok && i < x->rank; i++) ok = i == axis || x->shape[i] == ix->shape[i];
    if (ok) return true;
    text a, b;
    text_open(&a, &c->vm->mem);
    text_open(&b, &c->vm->mem);
    shape_print(x->rank, x->shape, &a);
    shape_print(ix->rank, ix->shape, &b);
    prim_fail(c, arg, DIAG_SHAPE, "indices of shape %s do not fit %s: they may differ along the axis alone", text_str(&b), text_str(&a));
    text_close(&a);
    text_close(&b);
    return false;
}

/* (x, indices, axis): y[…, i, …] = x[…, indices[…, i, …], …]; without an axis x is read as one vector. */
bool kern_take_along(prim_call *c)
{
    shaped x, ix;
    int axis;
    int64_t outer, n, inner;
    array *ox = NULL, *oi = NULL;
    result out;
    size_t bytes = 0;
    if (!arg_shaped(c, 0, &x) || !arg_axis(c, 2, x.rank, &axis) || !arg_i64_array(c, 1, &ix, &oi)) return false;
    shaped v = x;
    if (axis < 0) shaped_dense(&v, x.dtype, 1, &x.size);
    int along = axis < 0 ? 0 : axis;
    bool ok = along_fits(c, 1, &v, &ix, along);
    about(&v, along, &outer, &n, &inner);
    int64_t *p = ok ? places_of(c, 1, &ix, n, &bytes) : NULL;
    ok = p && arg_dense(c, 0, x.dtype, &x, &ox) && result_open(c, &out, x.dtype, ix.rank, ix.shape);
    if (ok) {
        int64_t k = ix.shape[along], w = dtype_size[x.dtype], q = 0;
        for (int64_t o = 0; o < outer && !INTERRUPTED(c->vm); o++)
            for (int64_t i = 0; i < k && !odometer_stops(c->vm, 1, &i); i++)
                for (int64_t j = 0; j < inner; j++, q++)
                    memcpy((char *)out.data + q * w, (char *)x.data + ((o * n + p[q]) * inner + j) * w, (size_t)w);
    }
    if (p) memory_free(&c->vm->mem, MEM_OTHER, p, bytes);
    release_array(c->vm, oi);
    release_array(c->vm, ox);
    return ok && result_give(c, &out);
}

/* (c, indices, f, axis): the transpose of take_along onto form f; repeated places add in order. */
bool kern_add_along(prim_call *c)
{
    shaped g, f, ix;
    int axis;
    int64_t outer, n, inner;
    array *og = NULL, *oi = NULL;
    result out;
    size_t bytes = 0;
    if (!arg_shaped(c, 0, &g) || !arg_form(c, 2, &f) || !arg_axis(c, 3, f.rank, &axis) || !arg_i64_array(c, 1, &ix, &oi)) return false;
    shaped v = f;
    if (axis < 0) shaped_dense(&v, f.dtype, 1, &f.size);
    int along = axis < 0 ? 0 : axis;
    bool ok = along_fits(c, 1, &v, &ix, along) &&
              (shape_equal(g.rank, g.shape, ix.rank, ix.shape) || prim_fail(c, 0, DIAG_INTERNAL, "shapes differ"));
    about(&v, along, &outer, &n, &inner);
    int64_t *p = ok ? places_of(c, 1, &ix, n, &bytes) : NULL;
    dtype d = g.dtype == DTYPE_F32 ? DTYPE_F32 : DTYPE_F64;
    ok = p && arg_dense(c, 0, d, &g, &og) && result_open(c, &out, d, f.rank, f.shape);
    if (ok) {
        int64_t k = ix.shape[along], q = 0;
        memset(out.data, 0, (size_t)out.size * dtype_size[d]);
        for (int64_t o = 0; o < outer && !INTERRUPTED(c->vm); o++)
            for (int64_t i = 0; i < k && !odometer_stops(c->vm, 1, &i); i++)
                for (int64_t j = 0; j < inner; j++, q++)
                    add_row(d, 1, element(d, out.data, (o * n + p[q]) * inner + j), element(d, g.data, q));
    }
    if (p) memory_free(&c->vm->mem, MEM_OTHER, p, bytes);
    release_array(c->vm, oi);
    release_array(c->vm, og);
    return ok && result_give(c, &out);
}

/* (indices, n): a last axis of n, 1 at the index. */
bool kern_one_hot(prim_call *c)
{
    shaped ix;
    int64_t n, shape[RANK_MAX];
    array *oi = NULL;
    result out;
    size_t bytes = 0;
    if (!arg_int(c, 1, &n) || !arg_i64_array(c, 0, &ix, &oi)) return false;
    bool ok = true;
    if (n < 0) ok = prim_fail(c, 1, DIAG_VALUE, "n must not be negative, and is %lld", (long long)n);
    else if (ix.rank == RANK_MAX) ok = prim_fail(c, 0, DIAG_SHAPE, "the result would have more than %d axes", RANK_MAX);
    else {
        memcpy(shape, ix.shape, sizeof(int64_t) * (size_t)ix.rank);
        shape[ix.rank] = n;
    }
    int64_t *p = ok ? places_of(c, 0, &ix, n, &bytes) : NULL;
    dtype d = c->vm->config.float_dtype;
    ok = p && result_open(c, &out, d, ix.rank + 1, shape);
    if (ok) {
        memset(out.data, 0, (size_t)out.size * dtype_size[d]);
        for (int64_t k = 0; k < ix.size; k++) write_f64(d, out.data, k * n + p[k], 1);
    }
    if (p) memory_free(&c->vm->mem, MEM_OTHER, p, bytes);
    release_array(c->vm, oi);
    return ok && result_give(c, &out);
}

/* (x, weights, minlength): how often each whole number occurs, or the sum of its weights. */
bool kern_bincount(prim_call *c)
{
    shaped ix, w;
    int64_t n;
    array *oi = NULL, *ow = NULL;
    result out;
    size_t bytes = 0;
    if (!arg_int(c, 2, &n) || !arg_i64_array(c, 0, &ix, &oi)) return false;
    bool ok = true, weighted = c->args[1].tag != V_NONE;
    if (n < 0) ok = prim_fail(c, 2, DIAG_VALUE, "minlength must not be negative, and is %lld", (long long)n);
    else if (ix.rank != 1) ok = arg_misshapen(c, 0, &ix, "a vector");
    bytes = (size_t)ix.size * sizeof(int64_t) + 1;
    int64_t *p = ok ? memory_alloc(&c->vm->mem, MEM_OTHER, bytes) : NULL;
    if (ok && !p) vm_out_of_memory(c->vm);
    ok = p != NULL;
    if (ok) copy_converted(c->vm, &ix, DTYPE_I64, p);
    for (int64_t k = 0; ok && k < ix.size; k++) {
        if (p[k] < 0) ok = prim_fail(c, 0, DIAG_VALUE, "x must not be negative and holds %lld", (long long)p[k]);
        else if (p[k] >= INT64_MAX / 8) ok = prim_fail(c, 0, DIAG_VALUE, "%lld bins are too many", (long long)p[k]);
        else if (p[k] >= n) n = p[k] + 1;
    }
    dtype d = DTYPE_I64;
    if (ok && weighted) {
        ok = arg_shaped(c, 1, &w);
        if (ok && !shape_equal(1, ix.shape, w.rank, w.shape))
            ok = prim_fail(c, 1, DIAG_SHAPE, "weights must have the shape of x, %lld element%s", (long long)ix.size,
                           ix.size == 1 ? "" : "s");
        if (ok) d = w.dtype == DTYPE_F32 ? DTYPE_F32 : DTYPE_F64;
        ok = ok && arg_dense(c, 1, d, &w, &ow);
    }
    ok = ok && result_open(c, &out, d, 1, &n);
    if (ok) {
        memset(out.data, 0, (size_t)out.size * dtype_size[d]);
        for (int64_t k = 0; k < ix.size && !odometer_stops(c->vm, 1, &k); k++)
            if (weighted) add_row(d, 1, element(d, out.data, p[k]), element(d, w.data, k));
            else ((int64_t *)out.data)[p[k]]++;
    }
    if (p) memory_free(&c->vm->mem, MEM_OTHER, p, bytes);
    release_array(c->vm, oi);
    release_array(c->vm, ow);
    return ok && result_give(c, &out);
}

/* (x): a tuple with one i64 vector for each axis: where x is not 0, in row-major order. */
bool kern_nonzero(prim_call *c)
{
    vm *m = c->vm;
    shaped x;
    int64_t at[RANK_MAX] = {0}, o = 0, dummy = 0, n = 0, k = 0;
    if (!arg_shaped(c, 0, &x)) return false;
    if (x.rank == 0) return prim_fail(c, 0, DIAG_SHAPE, "x must have at least one axis");
    if (x.size) do
            n += read_f64(x.dtype, x.data, o) != 0;
        while (!odometer_stops(m, x.rank, at) && odometer(x.rank, x.shape, at, x.stride, &o, x.stride, &dummy));
    if (vm_interrupted(m)) return false; /* n counts some of them only */
    tuple *t = tuple_new(m, (uint32_t)x.rank, (uint32_t)x.rank);
    if (!t) return false;
    int64_t *to[RANK_MAX];
    for (int i = 0; i < x.rank; i++) {
        array *a = array_new(m, DTYPE_I64, 1, &n);
        if (!a) {
            value_release(m, value_object(&t->h));
            return false;
        }
        to[i] = a->data;
        t->v[i] = value_object(&a->h);
    }
    memset(at, 0, sizeof at);
    o = 0;
    if (x.size) do {
            if (read_f64(x.dtype, x.data, o) == 0) continue;
            for (int i = 0; i < x.rank; i++) to[i][k] = at[i];
            k++;
        } while (!odometer_stops(m, x.rank, at) && odometer(x.rank, x.shape, at, x.stride, &o, x.stride, &dummy));
    c->out = value_object(&t->h);
    return true;
}
