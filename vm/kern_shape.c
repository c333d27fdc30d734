/* kern_shape.c: what depends on shape alone: questions about it, and new views of the same elements
 * (reshape, transpose, expand, squeeze, flip). Only a reshape of an array that is not dense copies. */
#include "index.h"
#include "kern_util.h"

/* --- questions -------------------------------------------------------------------------------- */

bool kern_shape(prim_call *c)
{
    shaped x;
    if (!arg_shaped(c, 0, &x)) return false;
    tuple *t = tuple_new(c->vm, (uint32_t)x.rank, (uint32_t)x.rank);
    if (!t) return false;
    for (int i = 0; i < x.rank; i++) t->v[i] = value_i64(x.shape[i]);
    c->out = value_object(&t->h);
    return true;
}
bool kern_size(prim_call *c)
{
    shaped x;
    if (!arg_shaped(c, 0, &x)) return false;
    c->out = value_i64(x.size);
    return true;
}
bool kern_rank(prim_call *c)
{
    shaped x;
    if (!arg_shaped(c, 0, &x)) return false;
    c->out = value_i64(x.rank);
    return true;
}
bool kern_dtype(prim_call *c)
{
    shaped x;
    if (!arg_shaped(c, 0, &x)) return false;
    const char *name = dtype_name(x.weak ? c->vm->config.float_dtype : x.dtype);
    string *s = string_new(c->vm, name, strlen(name));
    if (!s) return false;
    c->out = value_object(&s->h);
    return true;
}

/* --- reshape ---------------------------------------------------------------------------------- */

/* args[0] with another shape of the same size. */
static bool give_reshaped(prim_call *c, int rank, const int64_t *shape)
{
    const value *x = &c->args[0];
    int64_t stride[RANK_MAX];
    dense_strides(rank, shape, stride);
    if (x->tag != V_ARRAY || rank == 0) return give_view(c, x, rank, shape, stride, 0);
    array *a = as_array(*x);
    if (a->rank == rank && shape_equal(rank, shape, a->rank, array_shape(a))) {
        c->out = value_retain(*x);
        return true;
    }
    a = array_dense(c->vm, a);
    if (!a) return false;
    array *v = array_view(c->vm, a, rank, shape, stride, 0);
    release_array(c->vm, a);
    return give_array(c, v);
}

static bool reshape_failed(prim_call *c, int arg, const shaped *x, int rank, const int64_t *shape)
{
    text a, b;
    text_open(&a, &c->vm->mem);
    text_open(&b, &c->vm->mem);
    shape_print(x->rank, x->shape, &a);
    shape_print(rank, shape, &b);
    prim_fail(c, arg, DIAG_SHAPE, "x has shape %s, %lld element%s, and they do not fill the shape %s", text_str(&a), (long long)x->size,
              x->size == 1 ? "" : "s", text_str(&b));
    text_close(&a);
    text_close(&b);
    return false;
}

bool kern_reshape(prim_call *c)
{
    shaped x;
    int rank, unknown = -1;
    int64_t shape[RANK_MAX], rest = 1;
    if (!arg_shaped(c, 0, &x) || !arg_shape(c, 1, true, &rank, shape)) return false;
    for (int i = 0; i < rank; i++) {
        if (shape[i] == -1) unknown = i;
        else if (__builtin_mul_overflow(rest, shape[i], &rest)) return prim_fail(c, 1, DIAG_SHAPE, "the shape is too large");
    }
    if (unknown >= 0) {
        if (rest == 0 || x.size % rest) return reshape_failed(c, 1, &x, rank, shape);
        shape[unknown] = x.size / rest;
    } else if (rest != x.size) return reshape_failed(c, 1, &x, rank, shape);
    return give_reshaped(c, rank, shape);
}

/* (c, f): reshaped to form f. */
bool kern_reshape_to(prim_call *c)
{
    shaped x, f;
    if (!arg_shaped(c, 0, &x) || !arg_form(c, 1, &f)) return false;
    if (x.size != f.size) return reshape_failed(c, 0, &x, f.rank, f.shape);
    return give_reshaped(c, f.rank, f.shape);
}

bool kern_squeeze(prim_call *c)
{
    shaped x;
    int axes[RANK_MAX], n, rank = 0, next = 0;
    int64_t shape[RANK_MAX], stride[RANK_MAX];
    if (!arg_shaped(c, 0, &x) || !arg_axes(c, 1, x.rank, axes, &n)) return false;
    bool named = c->args[1].tag != V_NONE;
    for (int i = 0; i < x.rank; i++) {
        bool listed = next < n && axes[next] == i;
        next += listed;
        if (listed && x.shape[i] == 1) continue;
        if (listed && named)
            return prim_fail(c, 1, DIAG_SHAPE, "axis %d has %lld elements and cannot be dropped", i, (long long)x.shape[i]);
        shape[rank] = x.shape[i];
        stride[rank++] = x.stride[i];
    }
    return give_view(c, &c->args[0], rank, shape, stride, 0);
}

/* --- axes in another order --------------------------------------------------------------------- */

static bool give_permuted(prim_call *c, const shaped *x, const int *axes)
{
    int64_t shape[RANK_MAX], stride[RANK_MAX];
    bool same = true;
    for (int i = 0; i < x->rank; i++) {
        shape[i] = x->shape[axes[i]];
        stride[i] = x->stride[axes[i]];
        same = same && axes[i] == i;
    }
    if (same) {
        c->out = value_retain(c->args[0]);
        return true;
    }
    return give_view(c, &c->args[0], x->rank, shape, stride, 0);
}

bool kern_transpose(prim_call *c)
{
    shaped x;
    int axes[RANK_MAX], n = 0;
    int64_t named[RANK_MAX];
    if (!arg_shaped(c, 0, &x)) return false;
    if (c->args[1].tag == V_NONE) {
        for (int i = 0; i < x.rank; i++) axes[i] = x.rank - 1 - i;
        return give_permuted(c, &x, axes);
    }
    if (!arg_wholes(c, 1, RANK_MAX, &n, named)) return false;
    if (n != x.rank) return prim_fail(c, 1, DIAG_SHAPE, "axes names %d ax%s and x has %d", n, n == 1 ? "is" : "es", x.rank);
    bool seen[RANK_MAX] = {0};
    for (int i = 0; i < n; i++) {
        int64_t a = named[i] < 0 ? named[i] + n : named[i];
        if (a < 0 || a >= n) return arg_axis_fail(c, 1, named[i], n);
        if (seen[a]) return prim_fail(c, 1, DIAG_VALUE, "axis %lld is named twice", (long long)named[i]);
        seen[a] = true;
        axes[i] = (int)a;
    }
    return give_permuted(c, &x, axes);
}

/* (axes): the order that undoes transpose by axes; none for none. */
bool kern_inverse_axes(prim_call *c)
{
    if (c->args[0].tag == V_NONE) {
        c->out = value_none();
        return true;
    }
    int n;
    int64_t axes[RANK_MAX];
    if (!arg_wholes(c, 0, RANK_MAX, &n, axes)) return false;
    tuple *t = tuple_new(c->vm, (uint32_t)n, (uint32_t)n);
    if (!t) return false;
    for (int i = 0; i < n; i++) t->v[axes[i] < 0 ? axes[i] + n : axes[i]] = value_i64(i);
    c->out = value_object(&t->h);
    return true;
}

static bool swap_two(prim_call *c, const shaped *x, int a, int b)
{
    int axes[RANK_MAX];
    for (int i = 0; i < x->rank; i++) axes[i] = i == a ? b : i == b ? a : i;
    return give_permuted(c, x, axes);
}

bool kern_swap_axes(prim_call *c)
{
    shaped x;
    int a, b;
    if (!arg_shaped(c, 0, &x) || !arg_axis(c, 1, x.rank, &a) || !arg_axis(c, 2, x.rank, &b)) return false;
    if (a < 0 || b < 0) return arg_unsuitable(c, a < 0 ? 1 : 2, "a whole number");
    return swap_two(c, &x, a, b);
}

bool kern_transpose_last(prim_call *c)
{
    shaped x;
    if (!arg_shaped(c, 0, &x)) return false;
    return swap_two(c, &x, x.rank < 2 ? 0 : x.rank - 2, x.rank < 2 ? 0 : x.rank - 1);
}

bool kern_flip(prim_call *c)
{
    shaped x;
    int axes[RANK_MAX], n;
    int64_t offset = 0;
    if (!arg_shaped(c, 0, &x) || !arg_axes(c, 1, x.rank, axes, &n)) return false;
    for (int i = 0; i < n; i++) {
        if (x.shape[axes[i]] > 0) offset += (x.shape[axes[i]] - 1) * x.stride[axes[i]];
        x.stride[axes[i]] = -x.stride[axes[i]];
    }
    return give_view(c, &c->args[0], x.rank, x.shape, x.stride, offset);
}

/* --- expand ------------------------------------------------------------------------------------ */

bool kern_expand(prim_call *c)
{
    shaped x;
    int rank;
    int64_t shape[RANK_MAX], stride[RANK_MAX];
    if (!arg_shaped(c, 0, &x) || !arg_shape(c, 1, false, &rank, shape)) return false;
    if (x.rank > rank || !shaped_stretch(&x, rank, shape, stride)) {
        text a, b;
        text_open(&a, &c->vm->mem);
        text_open(&b, &c->vm->mem);
        shape_print(x.rank, x.shape, &a);
        shape_print(rank, shape, &b);
        prim_fail(c, 1, DIAG_SHAPE, "x of shape %s does not expand to %s: axes align from the last, and only those of 1 grow", text_str(&a),
                  text_str(&b));
        text_close(&a);
        text_close(&b);
        return false;
    }
    if (c->args[0].tag != V_ARRAY && rank) { /* one stored element seen by stride 0 */
        int64_t one = 1;
        array *a = array_new(c->vm, x.dtype, 1, &one);
        if (!a) return false;
        memcpy(a->data, x.data, dtype_size[x.dtype]);
        array *v = array_view(c->vm, a, rank, shape, stride, 0);
        release_array(c->vm, a);
        return give_array(c, v);
    }
    return give_view(c, &c->args[0], rank, shape, stride, 0);
}
