/* kern_structure.c: tuples, records and sequences: append, zip, enumerate, has, keys, same, type; casts, which
 * map over structures; name and stop_grad, which give back what they get. Structures taken apart and put
 * together again (flatten, unflatten) are in kern_flat.c. */
#include "residual.h"
#include "index.h"
#include "kern_util.h"
#include "number.h"
#include <errno.h>
#include <stdlib.h>
#include "prim_ids.h"

static bool give_string(prim_call *c, const char *s, size_t n)
{
    string *t = string_new(c->vm, s, n);
    if (!t) return false;
    c->out = value_object(&t->h);
    return true;
}

/* --- append ------------------------------------------------------------------------------------- */

static bool append_tuple(prim_call *c, tuple *t, value v)
{
    vm *m = c->vm;
    if (t->n >= UINT32_MAX / 2) return prim_fail(c, 0, DIAG_VALUE, "the tuple is full");
    bool mine = (c->last & 1) && t->h.refs == 1;
    if (mine && t->n < t->cap && t != as_tuple(v)) {
        t->v[t->n++] = value_retain(v);
        c->out = value_retain(c->args[0]);
        return true;
    }
    tuple *r = tuple_new(m, t->n + 1, mine ? 2 * t->n + 4 : t->n + 1 + t->n / 2);
    if (!r) return false;
    for (uint32_t i = 0; i < t->n; i++) r->v[i] = mine ? t->v[i] : value_retain(t->v[i]);
    r->v[t->n] = value_retain(v);
    if (mine) t->n = 0; /* its elements have moved */
    c->out = value_object(&r->h);
    return true;
}

bool kern_append(prim_call *c)
{
    shaped t, v;
    if (c->args[0].tag == V_TUPLE) return append_tuple(c, as_tuple(c->args[0]), c->args[1]);
    if (c->args[0].tag != V_ARRAY) return arg_unsuitable(c, 0, "a tuple, a vector or a matrix");
    shaped_of(&c->args[0], &t);
    if (!arg_shaped(c, 1, &v)) return false;
    if (!shape_equal(t.rank - 1, t.shape + 1, v.rank, v.shape)) {
        text a, b;
        text_open(&a, &c->vm->mem);
        text_open(&b, &c->vm->mem);
        shape_print(t.rank - 1, t.shape + 1, &a);
        shape_print(v.rank, v.shape, &b);
        prim_fail(c, 1, DIAG_SHAPE, "v has shape %s and the elements of t have %s", text_str(&b), text_str(&a));
        text_close(&a);
        text_close(&b);
        return false;
    }
    weakness w;
    dtype d = t.dtype == v.dtype ? t.dtype : dtype_promote(c->vm, &t, &v, &w);
    int64_t n = t.size;
    t.shape[0]++;
    array *r = array_new(c->vm, d, t.rank, t.shape);
    t.shape[0]--;
    if (!r) return false;
    copy_converted(c->vm, &t, d, r->data);
    copy_converted(c->vm, &v, d, element(d, r->data, n));
    return give_array(c, r);
}

/* acc + part for cotangents; consumes part. */
static bool give_added(prim_call *c, value acc, value part)
{
    if (acc.tag == V_ZERO) {
        c->out = part;
        return true;
    }
    value args[2] = {acc, part};
    bool ok = prim_apply(c->vm, &prims[PRIM_acc], args, 2, (c->last & 1) | 2, &c->out);
    value_release(c->vm, part);
    return ok;
}

/* (acc, c, f): acc + the part of an append's cotangent c that belongs to t, of shallow form f. */
bool kern_acc_head(prim_call *c)
{
    vm *m = c->vm;
    value acc = c->args[0], g = c->args[1], f = c->args[2], part = g;
    if (g.tag == V_ZERO) {
        c->out = value_retain(acc);
        return true;
    }
    if (g.tag == V_TUPLE) {
        uint32_t n = f.tag == V_FORMOBJ ? as_form(f)->n : 0;
        tuple *t = as_tuple(g);
        if (t->n <= n) value_retain(g);
        else if ((c->last & 2) && t->h.refs == 1) { /* cut it short where it is */
            while (t->n > n) value_release(m, t->v[--t->n]);
            value_retain(g);
        } else {
            tuple *r = tuple_new(m, n, n);
            if (!r) return false;
            for (uint32_t i = 0; i < n; i++) r->v[i] = value_retain(t->v[i]);
            part = value_object(&r->h);
        }
        return give_added(c, acc, part);
    }
    shaped x, to;
    if (!arg_shaped(c, 1, &x) || !arg_form(c, 2, &to)) return false;
    array *v = array_view(m, as_array(g), x.rank, to.shape, x.stride, 0), *r = v;
    if (!v) return false;
    if (x.dtype != to.dtype && to.dtype >= DTYPE_F32) {
        r = array_copy(m, v, to.dtype);
        release_array(m, v);
        if (!r) return false;
    }
    return give_added(c, acc, value_object(&r->h));
}

/* (c, f): the transpose: a tuple as it is, an array with rows of zeros up to shallow form f. */
bool kern_cot_grow(prim_call *c)
{
    shaped x, f;
    if (c->args[0].tag != V_ARRAY) {
        c->out = value_retain(c->args[0]);
        return true;
    }
    if (!arg_shaped(c, 0, &x) || !arg_form(c, 1, &f)) return false;
    array *a = array_zeros(c->vm, x.dtype, f.rank, f.shape);
    if (a) copy_converted(c->vm, &x, x.dtype, a->data);
    return give_array(c, a);
}

/* --- zip and enumerate ---------------------------------------------------------------------------- */

/* The i-th item of a tuple or array, owned. */
static bool item_of(vm *m, value x, int64_t i, value *out)
{
    if (x.tag == V_TUPLE) {
        *out = value_retain(as_tuple(x)->v[i]);
        return true;
    }
    const array *a = as_array(x);
    if (a->rank == 1) {
        *out = array_at(a, i * array_stride(a)[0]);
        return true;
    }
    array *v = array_view(m, a, a->rank - 1, array_shape(a) + 1, array_stride(a) + 1, a->size ? i * array_stride(a)[0] : 0);
    if (!v) return false;
    *out = value_object(&v->h);
    return true;
}
static bool items_in(prim_call *c, int arg, value x, int64_t *n)
{
    if (x.tag == V_TUPLE) *n = as_tuple(x)->n;
    else if (x.tag == V_ARRAY) *n = array_shape(as_array(x))[0];
    else return arg_unsuitable(c, (uint32_t)arg, "a tuple or an array");
    return true;
}

/* A tuple of n tuples of `width`, elements V_UNDEF. */
static tuple *pairs_new(vm *m, int64_t n, uint32_t width)
{
    if (n > UINT32_MAX) {
        vm_fail(m, DIAG_SHAPE, "a tuple of %lld elements cannot be: the most is %lld", (long long)n, (long long)UINT32_MAX);
        return NULL;
    }
    tuple *t = tuple_new(m, (uint32_t)n, (uint32_t)n);
    for (int64_t i = 0; t && i < n; i++) {
        tuple *p = tuple_new(m, width, width);
        if (!p) {
            value_release(m, value_object(&t->h));
            return NULL;
        }
        t->v[i] = value_object(&p->h);
    }
    return t;
}

/* Fills place k of each pair with an item of x. */
static bool pairs_fill(vm *m, tuple *t, uint32_t k, value x)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!item_of(m, x, i, &as_tuple(t->v[i])->v[k])) return false;
    return true;
}

static bool give_pairs(prim_call *c, tuple *t, bool ok)
{
    if (!t) return false;
    if (!ok) {
        value_release(c->vm, value_object(&t->h));
        return false;
    }
    c->out = value_object(&t->h);
    return true;
}

bool kern_zip(prim_call *c)
{
    uint32_t width = c->n;
    int64_t n = 0, k = 0;
    while (width > 1 && c->args[width - 1].tag == V_NONE) width--;
    for (uint32_t i = 0; i < width; i++) {
        if (!items_in(c, (int)i, c->args[i], &k)) return false;
        if (i && k != n)
            return prim_fail(c, (int)i, DIAG_SHAPE, "%c has %lld items and a has %lld", (int)('a' + i), (long long)k, (long long)n);
        n = k;
    }
    tuple *t = pairs_new(c->vm, n, width);
    bool ok = t != NULL;
    for (uint32_t i = 0; ok && i < width; i++) ok = pairs_fill(c->vm, t, i, c->args[i]);
    return give_pairs(c, t, ok);
}

bool kern_enumerate(prim_call *c)
{
    int64_t n = 0, start;
    int64_t end;
    if (!items_in(c, 0, c->args[0], &n) || !arg_int(c, 1, &start)) return false;
    if (n > 0 && __builtin_add_overflow(start, n - 1, &end)) return prim_fail(c, 1, DIAG_ARITHMETIC, "the count leaves 64 bits");
    tuple *t = pairs_new(c->vm, n, 2);
    for (int64_t i = 0; t && i < n; i++) as_tuple(t->v[i])->v[0] = value_i64(start + i);
    return give_pairs(c, t, t && pairs_fill(c->vm, t, 1, c->args[0]));
}

/* (c, k, f): element k of each tuple in the cotangent c, as a cotangent of shallow form f. */
bool kern_column(prim_call *c)
{
    vm *m = c->vm;
    int64_t k;
    if (c->args[0].tag != V_TUPLE || !arg_int(c, 1, &k)) return prim_fail(c, 0, DIAG_INTERNAL, "not a tuple's cotangent");
    const tuple *g = as_tuple(c->args[0]);
    value f = c->args[2];
    shaped to, x;
    if (!form_shaped(f, &to)) {
        tuple *t = tuple_new(m, g->n, g->n);
        if (!t) return false;
        for (uint32_t i = 0; i < g->n; i++) {
            const tuple *p = g->v[i].tag == V_TUPLE ? as_tuple(g->v[i]) : NULL;
            t->v[i] = p && k < p->n ? value_retain(p->v[k]) : value_zero();
        }
        c->out = value_object(&t->h);
        return true;
    }
    array *a = array_zeros(m, to.dtype >= DTYPE_F32 ? to.dtype : m->config.float_dtype, to.rank, to.shape);
    if (!a) return false;
    int64_t row = to.shape[0] ? to.size / to.shape[0] : 0;
    for (uint32_t i = 0; i < g->n && i < to.shape[0]; i++) {
        const tuple *p = g->v[i].tag == V_TUPLE ? as_tuple(g->v[i]) : NULL;
        if (p && k < p->n && shaped_of(&p->v[k], &x) && x.size == row)
            copy_converted(c->vm, &x, (dtype)a->dtype, element((dtype)a->dtype, a->data, i * row));
    }
    return give_array(c, a);
}

/* (d, k): a tuple for each item of d, with it at place k and symbolic zeros before. */
bool kern_uncolumn(prim_call *c)
{
    int64_t n = 0, k;
    if (!items_in(c, 0, c->args[0], &n) || !arg_int(c, 1, &k)) return false;
    tuple *t = pairs_new(c->vm, n, (uint32_t)k + 1);
    for (int64_t i = 0; t && i < n; i++)
        for (int64_t j = 0; j < k; j++) as_tuple(t->v[i])->v[j] = value_zero();
    return give_pairs(c, t, t && pairs_fill(c->vm, t, (uint32_t)k, c->args[0]));
}

/* (t): zip of the elements of t that are sequences; symbolic zeros stand for the others. */
bool kern_zip_parts(prim_call *c)
{
    if (c->args[0].tag != V_TUPLE) return prim_fail(c, 0, DIAG_INTERNAL, "not a tuple");
    const tuple *x = as_tuple(c->args[0]);
    uint32_t width = x->n;
    int64_t n = INT64_MAX, k = 0;
    while (width && x->v[width - 1].tag != V_TUPLE && x->v[width - 1].tag != V_ARRAY) width--;
    for (uint32_t i = 0; i < width; i++)
        if (x->v[i].tag == V_TUPLE || x->v[i].tag == V_ARRAY) items_in(c, 0, x->v[i], &k), n = k < n ? k : n;
    tuple *t = pairs_new(c->vm, width ? n : 0, width);
    bool ok = t != NULL;
    for (uint32_t i = 0; ok && i < width; i++) {
        if (x->v[i].tag == V_TUPLE || x->v[i].tag == V_ARRAY) ok = pairs_fill(c->vm, t, i, x->v[i]);
        else
            for (uint32_t j = 0; j < t->n; j++) as_tuple(t->v[j])->v[i] = value_zero();
    }
    return give_pairs(c, t, ok);
}

/* (c, f): the transpose: a tuple of columns, by the form f of the tuple of sequences. */
bool kern_unzip_parts(prim_call *c)
{
    if (c->args[1].tag != V_FORMOBJ || as_form(c->args[1])->kind != V_TUPLE) return prim_fail(c, 1, DIAG_INTERNAL, "not a tuple's form");
    const form *f = as_form(c->args[1]);
    tuple *t = tuple_new(c->vm, f->n, f->n);
    bool ok = t != NULL;
    for (uint32_t i = 0; ok && i < f->n; i++) {
        t->v[i] = value_zero();
        if (f->parts[i].tag != V_FORMOBJ || as_form(f->parts[i])->kind == V_RECORD) continue;
        value args[3] = {c->args[0], value_i64(i), f->parts[i]};
        ok = prim_apply(c->vm, &prims[PRIM_column], args, 3, 0, &t->v[i]);
    }
    return give_pairs(c, t, ok);
}

/* --- questions ------------------------------------------------------------------------------------- */

bool kern_type(prim_call *c)
{
    const char *s = value_type_name(c->args[0]);
    return give_string(c, s, strlen(s));
}

bool kern_same(prim_call *c)
{
    bool same;
    if (!value_same_to(c->vm, c->args[0], c->args[1], &same)) return false;
    c->out = value_bool(same);
    return true;
}

bool kern_keys(prim_call *c)
{
    if (c->args[0].tag != V_RECORD) return arg_unsuitable(c, 0, "a record");
    const record *r = as_record(c->args[0]);
    tuple *t = tuple_new(c->vm, r->n, r->n);
    for (uint32_t i = 0; t && i < r->n; i++) {
        const char *s = symbol_name(c->vm->symbols, r->names[i]);
        string *k = string_new(c->vm, s, strlen(s));
        if (!k) {
            value_release(c->vm, value_object(&t->h));
            return false;
        }
        t->v[i] = value_object(&k->h);
    }
    return give_pairs(c, t, true);
}

/* Numbers compare by value, all else as same() does. False: the error is set. */
static bool equal_items(vm *m, value a, value b, bool *same)
{
    if (value_is_scalar(a) && value_is_scalar(b)) {
        if (a.tag < V_F32 && b.tag < V_F32) *same = a.u.i == b.u.i;
        else *same = (a.tag < V_F32 ? (double)a.u.i : a.u.f) == (b.tag < V_F32 ? (double)b.u.i : b.u.f);
        return true;
    }
    return value_same_to(m, a, b, same);
}

bool kern_has(prim_call *c)
{
    value r = c->args[0], v = c->args[1];
    bool found = false;
    if (r.tag == V_RECORD) {
        const string *key;
        if (!arg_string(c, 1, &key)) return false;
        symbol y = symbol_of(c->vm->symbols, key->s, key->length);
        found = y && record_find(as_record(r), y) >= 0;
    } else if (r.tag == V_TUPLE) {
        for (uint32_t i = 0; i < as_tuple(r)->n && !found; i++)
            if (!equal_items(c->vm, as_tuple(r)->v[i], v, &found)) return false;
    } else if (r.tag == V_STRING) {
        const string *part;
        if (!arg_string(c, 1, &part)) return false;
        found = memmem(as_string(r)->s, as_string(r)->length, part->s, part->length) != NULL;
    } else if (r.tag == V_ARRAY) {
        if (!value_is_scalar(v)) return prim_fail(c, 1, DIAG_TYPE, "v must be a number to be in an array, not %s", value_a_type(v));
        const array *a = as_array(r);
        int64_t at[RANK_MAX] = {0}, o = 0, z = 0;
        if (a->size) do
                equal_items(c->vm, array_at(a, o), v, &found); /* numbers */
            while (!found && !odometer_stops(c->vm, a->rank, at) &&
                   odometer(a->rank, array_shape(a), at, array_stride(a), &o, array_stride(a), &z));
    } else return arg_unsuitable(c, 0, "a record, a tuple, an array or a string");
    c->out = value_bool(found);
    return true;
}

bool kern_name(prim_call *c)
{
    const string *label;
    if (!arg_string(c, 0, &label)) return false;
    c->out = value_retain(c->args[1]);
    return true;
}
bool kern_stop_grad(prim_call *c)
{
    c->out = value_retain(c->args[0]);
    return true;
}

/* --- casts ----------------------------------------------------------------------------------------- */

/* A float that i64 cannot hold: not finite, or too large. */
static bool whole_range(prim_call *c, const shaped *x)
{
    if (x->dtype < DTYPE_F32 || x->size == 0) return true;
    int64_t at[RANK_MAX] = {0}, o = 0, z = 0;
    do {
        double v = read_f64(x->dtype, x->data, o);
        if (!(v > -9223372036854777856.0 && v < 9223372036854775808.0))
            return prim_fail(c, 0, DIAG_ARITHMETIC, "x holds %.17g, which does not fit an i64", v);
    } while (!odometer_stops(c->vm, x->rank, at) && odometer(x->rank, x->shape, at, x->stride, &o, x->stride, &z));
    return true;
}

static bool cast_kernel(prim_call *c, dtype d)
{
    shaped x;
    result r;
    if (c->args[0].tag == V_STRING && d != DTYPE_BOOL) {
        const string *s = as_string(c->args[0]);
        double v;
        size_t lo = 0, hi = s->length;
        while (lo < hi && strchr(" \t\r\n", s->s[lo])) lo++;
        while (hi > lo && strchr(" \t\r\n", s->s[hi - 1])) hi--;
        if (!number_parse(s->s + lo, hi - lo, &v)) return prim_fail(c, 0, DIAG_VALUE, "x is \"%s\", which is not a number", s->s);
        if (d == DTYPE_I64) {
            char *end;
            int64_t i;
            errno = 0;
            i = strtoll(s->s + lo, &end, 10); /* exact beyond 2^53 */
            if (errno == 0 && end == s->s + hi) {
                c->out = value_i64(i);
                return true;
            }
            if (!index_whole(value_f64(v), &i)) return prim_fail(c, 0, DIAG_VALUE, "\"%s\" is not a whole number", s->s);
        }
        c->out = scalar_of(d, v);
        return true;
    }
    if (!arg_shaped(c, 0, &x)) return false;
    if (x.dtype == d && x.rank) {
        c->out = value_retain(c->args[0]);
        return true;
    }
    if (d == DTYPE_I64 && !whole_range(c, &x)) return false;
    if (!result_open(c, &r, d, x.rank, x.shape)) return false;
    copy_converted(c->vm, &x, d, r.data);
    return result_give(c, &r);
}
bool kern_f64(prim_call *c) { return cast_kernel(c, DTYPE_F64); }
bool kern_f32(prim_call *c) { return cast_kernel(c, DTYPE_F32); }
bool kern_i64(prim_call *c) { return cast_kernel(c, DTYPE_I64); }
bool kern_bool(prim_call *c) { return cast_kernel(c, DTYPE_BOOL); }
