/* kern_join.c: arrays made of arrays, and arrays cut into others: concat, stack, […], split, and the transposes
 * that their rules name. What is cut out is a view. */
#include "index.h"
#include "kern_util.h"

/* --- joining ----------------------------------------------------------------------------------- */

static bool shapes_differ(prim_call *c, uint32_t i, const shaped *a, const shaped *b, const char *how)
{
    text s, t;
    text_open(&s, &c->vm->mem);
    text_open(&t, &c->vm->mem);
    shape_print(a->rank, a->shape, &s);
    shape_print(b->rank, b->shape, &t);
    if (c->p->attrs & A_INTERNAL) /* […] */
        vm_fail(c->vm, DIAG_SHAPE, "element %u of […] has shape %s and element 0 has %s", i, text_str(&t), text_str(&s));
    else prim_fail(c, 0, DIAG_SHAPE, "element %u of t has shape %s and element 0 has %s%s", i, text_str(&t), text_str(&s), how);
    text_close(&s);
    text_close(&t);
    return false;
}

/* Adds an element's dtype to the common one. */
static dtype join_dtype(vm *m, shaped *all, const shaped *x, bool first)
{
    if (first) {
        all->dtype = x->dtype;
        all->weak = x->weak;
    } else if (all->dtype != x->dtype || all->weak || x->weak) {
        weakness w;
        dtype d = dtype_promote(m, all, x, &w);
        all->dtype = d;
        all->weak = w;
    }
    return all->dtype;
}

static bool parts_of(prim_call *c, const char *usage, const value **v, uint32_t *n)
{
    if (c->args[0].tag == V_TUPLE) {
        *v = as_tuple(c->args[0])->v;
        *n = as_tuple(c->args[0])->n;
        if (*n) return true;
        return prim_fail(c, 0, DIAG_SHAPE, "there is nothing to join in ()");
    }
    arg_unsuitable(c, 0, "a tuple of arrays");
    vm_help(c->vm, "%s", usage);
    return false;
}

/* Stacks v[0..n), equal in shape, along a new axis `axis` (arg marks errors). */
static bool stack_parts(prim_call *c, const value *v, uint32_t n, int axis_arg)
{
    shaped first, x, all = {0};
    int axis = 0;
    bool scalars = true;
    for (uint32_t i = 0; i < n; i++) {
        if (!shaped_of(&v[i], &x))
            return prim_fail(c, 0, DIAG_TYPE, "element %u of t is %s, not a number or an array", i, value_a_type(v[i]));
        if (i == 0) shaped_of(&v[0], &first);
        if (i && !shape_equal(first.rank, first.shape, x.rank, x.shape)) return shapes_differ(c, i, &first, &x, "");
        join_dtype(c->vm, &all, &x, i == 0);
        scalars = scalars && x.rank == 0;
    }
    if (first.rank == RANK_MAX) return prim_fail(c, 0, DIAG_SHAPE, "the result would have more than %d axes", RANK_MAX);
    if (axis_arg >= 0 && (!arg_axis(c, (uint32_t)axis_arg, first.rank + 1, &axis))) return false;
    if (axis < 0) return prim_fail(c, axis_arg, DIAG_TYPE, "axis must be a whole number");
    dtype d = all.weak ? c->vm->config.float_dtype : all.dtype;
    int64_t shape[RANK_MAX], ds[RANK_MAX];
    for (int i = 0; i <= first.rank; i++) shape[i] = i == axis ? n : first.shape[i < axis ? i : i - 1];
    array *a = array_new(c->vm, d, first.rank + 1, shape);
    if (!a) return false;
    dense_strides(first.rank + 1, shape, ds);
    int64_t step = ds[axis];
    for (int i = axis; i < first.rank; i++) ds[i] = ds[i + 1];
    for (uint32_t i = 0; i < n; i++) {
        void *to = element(d, a->data, i * step);
        if (scalars && value_is_float(v[i])) {
            write_f64(d, a->data, i, v[i].u.f);
            continue;
        }
        shaped_of(&v[i], &x);
        if (x.size == 0) continue;
        if (x.dtype == d) copy_strided(c->vm, dtype_size[d], x.rank, x.shape, to, ds, x.data, x.stride);
        else if (axis == 0) copy_converted(c->vm, &x, d, to);
        else {
            array *t = x.rank ? array_copy(c->vm, as_array(v[i]), d) : NULL;
            uint64_t one = 0;
            if (x.rank && !t) {
                release_array(c->vm, a);
                return false;
            }
            if (t) copy_strided(c->vm, dtype_size[d], x.rank, x.shape, to, ds, t->data, array_stride(t));
            else {
                copy_converted(c->vm, &x, d, &one);
                memcpy(to, &one, dtype_size[d]);
            }
            release_array(c->vm, t);
        }
    }
    return give_array(c, a);
}

bool kern_stack(prim_call *c)
{
    const value *v;
    uint32_t n;
    if (!parts_of(c, "stack((a, b)), or [a, b]", &v, &n)) return false;
    return stack_parts(c, v, n, 1);
}

/* (parts): what […] makes of the tuple of its elements. */
bool kern_array(prim_call *c)
{
    if (c->args[0].tag != V_TUPLE) return prim_fail(c, 0, DIAG_INTERNAL, "expects a tuple");
    const tuple *t = as_tuple(c->args[0]);
    if (t->n == 0) {
        int64_t none = 0;
        return give_array(c, array_new(c->vm, c->vm->config.float_dtype, 1, &none));
    }
    uint32_t strings = 0, numbers = 0, odd = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        strings += t->v[i].tag == V_STRING;
        numbers += t->v[i].tag == V_ARRAY || value_is_scalar(t->v[i]);
        if (strings + numbers == i) odd = i + 1;
        if (odd) break;
    }
    if (odd) {
        value v = t->v[odd - 1];
        vm_fail(c->vm, DIAG_TYPE, "element %u of […] is %s; numbers, arrays or strings can stand there", odd - 1, value_a_type(v));
        c->vm->fail_arg = 0;
        vm_help(c->vm, "a tuple holds anything: (a, b)");
        return false;
    }
    if (strings == t->n) {
        c->out = value_retain(c->args[0]);
        return true;
    }
    if (strings) return vm_fail(c->vm, DIAG_TYPE, "strings and numbers cannot stand in one […]");
    return stack_parts(c, t->v, t->n, -1);
}

bool kern_concat(prim_call *c)
{
    const value *v;
    uint32_t n;
    shaped first, x, all = {0};
    int axis = 0;
    int64_t total = 0;
    if (!parts_of(c, "concat((a, b))", &v, &n)) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!shaped_of(&v[i], &x)) return prim_fail(c, 0, DIAG_TYPE, "element %u of t is %s, not an array", i, value_a_type(v[i]));
        if (x.rank == 0) {
            prim_fail(c, 0, DIAG_SHAPE, "element %u of t is a number, which has no axis to join along", i);
            vm_help(c->vm, "[a, b] makes a vector of numbers");
            return false;
        }
        if (i == 0) {
            shaped_of(&v[0], &first);
            if (!arg_axis(c, 1, x.rank, &axis)) return false;
            if (axis < 0) return prim_fail(c, 1, DIAG_TYPE, "axis must be a whole number");
        }
        bool fits = x.rank == first.rank;
        for (int k = 0; fits && k < x.rank; k++) fits = k == axis || x.shape[k] == first.shape[k];
        if (!fits) return shapes_differ(c, i, &first, &x, "; they may differ along the joined axis alone");
        if (x.shape[axis] > ELEMENTS_MOST - total)
            return prim_fail(c, 0, DIAG_SHAPE, "the result would have more than 2^48 elements along the joined axis");
        total += x.shape[axis];
        join_dtype(c->vm, &all, &x, i == 0);
    }
    int64_t shape[RANK_MAX], ds[RANK_MAX];
    memcpy(shape, first.shape, sizeof shape);
    shape[axis] = total;
    array *a = array_new(c->vm, all.dtype, first.rank, shape);
    if (!a) return false;
    dense_strides(first.rank, shape, ds);
    int64_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        array *t = as_array(v[i]), *conv = NULL;
        if (t->dtype != all.dtype) {
            conv = array_copy(c->vm, t, all.dtype);
            if (!conv) {
                release_array(c->vm, a);
                return false;
            }
            t = conv;
        }
        if (t->size)
            copy_strided(c->vm, dtype_size[all.dtype], t->rank, array_shape(t), element(all.dtype, a->data, at * ds[axis]), ds, t->data,
                         array_stride(t));
        at += array_shape(t)[axis];
        release_array(c->vm, conv);
    }
    return give_array(c, a);
}

/* --- cutting ----------------------------------------------------------------------------------- */

/* A tuple of views of args[0] along an axis, cut at n + 1 places. */
static bool give_cuts(prim_call *c, const shaped *x, int axis, uint32_t n, const int64_t *cut)
{
    tuple *t = tuple_new(c->vm, n, n);
    if (!t) return false;
    int64_t shape[RANK_MAX];
    memcpy(shape, x->shape, sizeof shape);
    for (uint32_t i = 0; i < n; i++) {
        shape[axis] = cut[i + 1] > cut[i] ? cut[i + 1] - cut[i] : 0;
        array *v = array_view(c->vm, as_array(c->args[0]), x->rank, shape, x->stride, shape[axis] ? cut[i] * x->stride[axis] : 0);
        if (!v) {
            value_release(c->vm, value_object(&t->h));
            return false;
        }
        t->v[i] = value_object(&v->h);
    }
    c->out = value_object(&t->h);
    return true;
}

bool kern_split_array(prim_call *c)
{
    shaped x;
    int axis;
    int64_t parts;
    if (!arg_shaped(c, 0, &x)) return false;
    if (x.rank == 0) return prim_fail(c, 0, DIAG_SHAPE, "x is a number, which has no axis to split");
    if (!arg_axis(c, 2, x.rank, &axis)) return false;
    if (axis < 0) return prim_fail(c, 2, DIAG_TYPE, "axis must be a whole number");
    int64_t n = x.shape[axis];
    bool even = index_whole(c->args[1], &parts);
    if (even && (parts <= 0 || n % parts)) {
        prim_fail(c, 1, DIAG_SHAPE, "axis %d of x has %lld elements and does not split into %lld equal parts", axis, (long long)n,
                  (long long)parts);
        vm_help(c->vm, "a tuple gives the places to cut at: split(x, (2, 5))");
        return false;
    }
    int64_t cap = parts;
    if (!even) {
        if (c->args[1].tag == V_TUPLE) cap = (int64_t)as_tuple(c->args[1])->n + 1;
        else if (c->args[1].tag == V_ARRAY) cap = as_array(c->args[1])->size + 1;
        else return prim_fail(c, 1, DIAG_TYPE, "parts must be a whole number, or the places to cut at");
    }
    if (cap >= INT32_MAX) return prim_fail(c, 1, DIAG_SHAPE, "%lld parts are too many", (long long)cap);
    int count = 0;
    int64_t total = cap;
    size_t bytes = (size_t)(total + 2) * sizeof(int64_t);
    int64_t *cut = memory_alloc(&c->vm->mem, MEM_OTHER, bytes);
    if (!cut) return vm_out_of_memory(c->vm);
    bool ok = true;
    if (even)
        for (int64_t i = 0; i <= parts; i++) cut[i] = i * (n / parts);
    else {
        ok = arg_wholes(c, 1, (int)cap, &count, cut + 1);
        total = count + 1;
        cut[0] = 0;
        for (int i = 1; i <= count; i++) {
            if (cut[i] < 0) cut[i] += n;
            cut[i] = cut[i] < 0 ? 0 : cut[i] > n ? n : cut[i];
        }
        cut[total] = n;
    }
    ok = ok && give_cuts(c, &x, axis, (uint32_t)total, cut);
    memory_free(&c->vm->mem, MEM_OTHER, cut, bytes);
    return ok;
}

bool kern_split(prim_call *c) { return c->args[0].tag == V_STRING ? kern_split_text(c) : kern_split_array(c); }

/* (c, f, axis): the parts of a concat's cotangent, by the tuple's form f. */
bool kern_unconcat(prim_call *c)
{
    shaped x, p;
    int axis;
    if (!arg_shaped(c, 0, &x) || !arg_axis(c, 2, x.rank, &axis)) return false;
    value fv = c->args[1];
    if (fv.tag != V_FORMOBJ || as_form(fv)->kind != V_TUPLE || axis < 0) return prim_fail(c, 1, DIAG_INTERNAL, "not a tuple's form");
    const form *f = as_form(fv);
    size_t bytes = (size_t)(f->n + 1) * sizeof(int64_t);
    int64_t *cut = memory_alloc(&c->vm->mem, MEM_OTHER, bytes);
    if (!cut) return vm_out_of_memory(c->vm);
    bool ok = true;
    for (uint32_t i = 0; ok && i < f->n; i++) {
        ok = form_shaped(f->parts[i], &p) && p.rank == x.rank;
        cut[i + 1] = cut[i] + (ok ? p.shape[axis] : 0);
    }
    ok = ok ? give_cuts(c, &x, axis, f->n, cut) : prim_fail(c, 1, DIAG_INTERNAL, "the form does not fit");
    memory_free(&c->vm->mem, MEM_OTHER, cut, bytes);
    return ok;
}

/* (c, axis): a tuple of slices along an axis. */
bool kern_unstack(prim_call *c)
{
    shaped x;
    int axis;
    if (!arg_shaped(c, 0, &x) || !arg_axis(c, 1, x.rank, &axis)) return false;
    if (axis < 0 || c->args[0].tag != V_ARRAY) return prim_fail(c, 0, DIAG_INTERNAL, "nothing to unstack");
    uint32_t n = (uint32_t)x.shape[axis];
    tuple *t = tuple_new(c->vm, n, n);
    if (!t) return false;
    int64_t shape[RANK_MAX], stride[RANK_MAX], step = x.stride[axis];
    for (int i = 0, k = 0; i < x.rank; i++)
        if (i != axis) shape[k] = x.shape[i], stride[k++] = x.stride[i];
    for (uint32_t i = 0; i < n; i++) {
        const array *a = as_array(c->args[0]);
        if (x.rank == 1) {
            t->v[i] = array_at(a, i * step);
            continue;
        }
        array *v = array_view(c->vm, a, x.rank - 1, shape, stride, x.size ? i * step : 0);
        if (!v) {
            value_release(c->vm, value_object(&t->h));
            return false;
        }
        t->v[i] = value_object(&v->h);
    }
    c->out = value_object(&t->h);
    return true;
}
