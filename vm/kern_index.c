/* kern_index.c: reading x[…] and the functional update behind x[…] = v.
 *
 * Arrays go through the index plans of index.h; tuples and strings take a whole number or a slice, records
 * a field's name. The ordinary cases (an element of a vector, a row, an element of a tuple) are met first
 * and cost a few comparisons. An update writes in place when the program holds no other reference. */
#include "index.h"
#include "kern_util.h"

static bool index_failed(prim_call *c, int arg)
{
    c->vm->fail_arg = arg;
    return false;
}
/* The user wrote x[…], so no function is named; but for scatter_add, which says so before what was found. */
static bool named_failed(prim_call *c, int arg, const char *param)
{
    vm *m = c->vm;
    diag *e = m->error;
    if (!e || e->code == DIAG_MEMORY) return false;
    m->error = NULL;
    prim_fail(c, -1, (int)e->code, "%s: %s", param, e->message);
    diag_free(e);
    return index_failed(c, arg);
}
#define FAIL(arg, ...) (vm_fail(c->vm, __VA_ARGS__), index_failed(c, arg))

/* --- reading --------------------------------------------------------------------------------- */

static bool index_array(prim_call *c, const value *x, value ix)
{
    shaped s;
    index_plan plan;
    shaped_of(x, &s);
    if (!index_resolve(c->vm, &s, ix, &plan)) return index_failed(c, 1);
    if (plan.basic) return give_view(c, x, plan.rank, plan.shape, plan.stride, plan.offset);
    array *a = array_new(c->vm, s.dtype, plan.rank, plan.shape);
    if (a) index_gather(&plan, s.dtype, s.data, a->data);
    index_close(c->vm, &plan);
    return give_array(c, a);
}

static bool index_tuple(prim_call *c, const tuple *t, value ix)
{
    bool single;
    int64_t start, step, count;
    if (!index_sequence(c->vm, "a tuple", t->n, ix, &single, &start, &step, &count)) return index_failed(c, 1);
    if (single) {
        c->out = value_retain(t->v[start]);
        return true;
    }
    tuple *r = tuple_new(c->vm, (uint32_t)count, (uint32_t)count);
    if (!r) return false;
    for (int64_t i = 0; i < count; i++) r->v[i] = value_retain(t->v[start + i * step]);
    c->out = value_object(&r->h);
    return true;
}

/* Byte offset of code point k. */
static size_t point_at(const string *s, int64_t k)
{
    if (s->points == s->length) return (size_t)k;
    size_t i = 0;
    uint32_t cp;
    while (k-- > 0 && i < s->length) {
        int w = utf8_decode(s->s + i, s->length - i, &cp);
        i += w > 0 ? (size_t)w : 1;
    }
    return i;
}

static bool index_string(prim_call *c, const string *s, value ix)
{
    bool single;
    int64_t start, step, count;
    if (!index_sequence(c->vm, "a string", s->points, ix, &single, &start, &step, &count)) return index_failed(c, 1);
    if (count == 0 || step == 1) {
        size_t lo = point_at(s, start), hi = point_at(s, start + count);
        string *r = string_new(c->vm, s->s + lo, hi - lo);
        if (!r) return false;
        c->out = value_object(&r->h);
        return true;
    }
    text t;
    text_open(&t, &c->vm->mem);
    for (int64_t i = 0; i < count; i++) {
        size_t lo = point_at(s, start + i * step), hi = lo + 1;
        while (hi < s->length && ((unsigned char)s->s[hi] & 0xc0) == 0x80) hi++;
        text_add(&t, s->s + lo, hi - lo);
    }
    string *r = t.failed ? NULL : string_new(c->vm, text_str(&t), t.n);
    if (t.failed) vm_out_of_memory(c->vm);
    text_close(&t);
    if (!r) return false;
    c->out = value_object(&r->h);
    return true;
}

static bool no_field(prim_call *c, const record *r, const string *key)
{
    vm *m = c->vm;
    const char *names[16];
    uint32_t n = r->n < 16 ? r->n : 16;
    for (uint32_t i = 0; i < n; i++) names[i] = symbol_name(m->symbols, r->names[i]);
    vm_fail(m, DIAG_NAME, "the record has no field \"%.*s\"", (int)key->length, key->s);
    const char *near = nearest_name(key->s, names, n);
    if (near) vm_help(m, "did you mean \"%s\"?", near);
    else if (n) {
        text t;
        text_open(&t, &m->mem);
        for (uint32_t i = 0; i < n; i++) text_printf(&t, "%s%s", i ? ", " : "", names[i]);
        vm_note(m, "it has %s%s", text_str(&t), r->n > n ? ", …" : "");
        text_close(&t);
    }
    return index_failed(c, 1);
}

static bool index_record(prim_call *c, const record *r, value ix)
{
    if (ix.tag == V_TUPLE && as_tuple(ix)->n == 1) ix = as_tuple(ix)->v[0];
    if (ix.tag != V_STRING)
        return FAIL(1, DIAG_INDEX, "a record is indexed by the name of a field, not by a%s %s", ix.tag == V_ARRAY ? "n" : "",
                    value_is_scalar(ix) ? "number" : value_type_name(ix));
    const string *key = as_string(ix);
    symbol y = symbol_of(c->vm->symbols, key->s, key->length);
    if (!y) return vm_out_of_memory(c->vm);
    int64_t i = record_find(r, y);
    if (i < 0) return no_field(c, r, key);
    c->out = value_retain(r->v[i]);
    return true;
}

bool kern_index(prim_call *c)
{
    const value *x = &c->args[0];
    value ix = c->args[1];
    int64_t i;
    switch (x->tag) {
    case V_ARRAY: {
        const array *a = as_array(*x);
        if (index_whole(ix, &i)) { /* an element of a vector, a row of a matrix */
            int64_t n = array_shape(a)[0];
            if (i < -n || i >= n)
                return FAIL(1, DIAG_INDEX, "index %lld is out of range for axis 0, which has %lld element%s", (long long)i, (long long)n,
                            n == 1 ? "" : "s");
            if (i < 0) i += n;
            int64_t offset = i * array_stride(a)[0];
            if (a->rank > 1) return give_array(c, array_view(c->vm, a, a->rank - 1, array_shape(a) + 1, array_stride(a) + 1, offset));
            c->out = array_at(a, offset);
            return true;
        }
        return index_array(c, x, ix);
    }
    case V_TUPLE:
        if (ix.tag == V_I64 && ix.u.i >= 0 && ix.u.i < as_tuple(*x)->n) {
            c->out = value_retain(as_tuple(*x)->v[ix.u.i]);
            return true;
        }
        return index_tuple(c, as_tuple(*x), ix);
    case V_STRING: return index_string(c, as_string(*x), ix);
    case V_RECORD: return index_record(c, as_record(*x), ix);
    case V_BOOL:
    case V_I64:
    case V_F32:
    case V_F64: return index_array(c, x, ix);
    default: return FAIL(0, DIAG_TYPE, "%s cannot be indexed", value_a_type(*x));
    }
}

/* --- updating -------------------------------------------------------------------------------- */

/* v as elements of dtype d: may it be stored in an array of that dtype? */
static bool storable(prim_call *c, dtype d, const shaped *v)
{
    if (v->dtype == d || v->weak == WEAK_WHOLE) {
        if (d == DTYPE_I64 && v->weak == WEAK_WHOLE && fabs(v->scalar.f64) >= 9223372036854775808.0)
            return FAIL(2, DIAG_ARITHMETIC, "%.17g does not fit an i64", v->scalar.f64);
        if (d != DTYPE_BOOL || v->dtype == d) return true;
    }
    if (d == DTYPE_BOOL) {
        FAIL(2, DIAG_TYPE, "%s cannot be stored in an array of bools", dtype_name(v->dtype));
        vm_help(c->vm, "bool(v) says whether a number is not 0");
        return false;
    }
    if (d == DTYPE_I64 && v->dtype > DTYPE_I64) {
        FAIL(2, DIAG_TYPE, "a float cannot be stored in an array of i64 without losing its fraction");
        vm_help(c->vm, "make the array float first: x = f64(x); or drop the fraction: i64(v)");
        return false;
    }
    return true;
}

static bool stretch_failed(prim_call *c, const shaped *v, const index_plan *plan)
{
    text a, b;
    text_open(&a, &c->vm->mem);
    text_open(&b, &c->vm->mem);
    shape_print(v->rank, v->shape, &a);
    shape_print(plan->rank, plan->shape, &b);
    FAIL(2, DIAG_SHAPE, "a value of shape %s does not fit the selection of shape %s", text_str(&a), text_str(&b));
    text_close(&a);
    text_close(&b);
    return false;
}

/* The array to write into: x itself when nobody else holds it, else a dense copy. */
static array *target_of(prim_call *c, const array *x)
{
    array *t = take_array(c, 0, (dtype)x->dtype);
    return t ? t : array_copy(c->vm, x, (dtype)x->dtype);
}

static bool set_array(prim_call *c, const array *x, value ix, const value *v)
{
    vm *m = c->vm;
    shaped s, from;
    dtype d = (dtype)x->dtype;
    if (!shaped_of(v, &from)) return FAIL(2, DIAG_TYPE, "%s cannot be stored in an array", value_a_type(*v));
    if (!storable(c, d, &from)) return false;
    array *conv = NULL, *t = target_of(c, x);
    if (!t) return false;
    shaped_array(&s, t);
    index_plan plan;
    int64_t stride[RANK_MAX];
    uint64_t one = 0;
    const void *data = from.data;
    bool ok = index_resolve(m, &s, ix, &plan);
    if (!ok) index_failed(c, 1);
    else {
        if (from.rank == 0 && from.dtype != d) copy_converted(c->vm, &from, d, &one), data = &one;
        else if (from.dtype != d) {
            conv = array_copy(m, as_array(*v), d);
            ok = conv != NULL;
            if (ok) shaped_array(&from, conv), data = conv->data;
        }
        if (ok && !shaped_stretch(&from, plan.rank, plan.shape, stride)) ok = stretch_failed(c, &from, &plan);
        if (t == x) plan.stop = NULL; /* it may be seen after an interrupt */
        if (ok) index_scatter(&plan, d, t->data, data, stride);
        index_close(m, &plan);
    }
    release_array(m, conv);
    if (ok) return give_array(c, t);
    release_array(m, t);
    return false;
}

/* The object itself, retained, when it may be changed in place. */
static bool owned(prim_call *c, const object *o) { return (c->last & 1) && o->refs == 1; }

static bool set_tuple(prim_call *c, tuple *t, value ix, value v)
{
    vm *m = c->vm;
    bool single;
    int64_t start, step, count;
    if (!index_sequence(m, "a tuple", t->n, ix, &single, &start, &step, &count)) return index_failed(c, 1);
    const value *from = &v;
    if (!single) {
        if (v.tag != V_TUPLE || as_tuple(v)->n != count)
            return FAIL(2, DIAG_SHAPE, "a slice of %lld elements of a tuple takes a tuple of as many", (long long)count);
        from = as_tuple(v)->v;
    }
    if (owned(c, &t->h)) value_retain(c->args[0]);
    else {
        tuple *copy = tuple_new(m, t->n, t->n);
        if (!copy) return false;
        for (uint32_t i = 0; i < t->n; i++) copy->v[i] = value_retain(t->v[i]);
        t = copy;
    }
    for (int64_t i = 0; i < count; i++) {
        value old = t->v[start + i * step];
        t->v[start + i * step] = value_retain(from[i]);
        value_release(m, old);
    }
    c->out = value_object(&t->h);
    return true;
}

static bool set_record(prim_call *c, record *r, value ix, value v)
{
    vm *m = c->vm;
    if (ix.tag == V_TUPLE && as_tuple(ix)->n == 1) ix = as_tuple(ix)->v[0];
    if (ix.tag != V_STRING) return FAIL(1, DIAG_INDEX, "a record is indexed by the name of a field");
    symbol y = symbol_of(m->symbols, as_string(ix)->s, as_string(ix)->length);
    if (!y) return vm_out_of_memory(m);
    int64_t i = record_find(r, y);
    if (owned(c, &r->h) && (i >= 0 || r->n < r->cap)) {
        value_retain(c->args[0]);
        if (i < 0) {
            i = r->n++;
            r->names[i] = y;
            r->v[i] = value_undef();
        }
        value old = r->v[i];
        r->v[i] = value_retain(v);
        value_release(m, old);
        c->out = c->args[0];
        return true;
    }
    record *copy = record_new(m, r->n + (i < 0), i < 0 ? 2 * r->n + 2 : r->n);
    if (!copy) return false;
    for (uint32_t k = 0; k < r->n; k++) {
        copy->names[k] = r->names[k];
        copy->v[k] = k == i ? value_retain(v) : value_retain(r->v[k]);
    }
    if (i < 0) {
        copy->names[r->n] = y;
        copy->v[r->n] = value_retain(v);
    }
    c->out = value_object(&copy->h);
    return true;
}

bool kern_setindex(prim_call *c)
{
    const value *x = &c->args[0], *v = &c->args[2];
    value ix = c->args[1];
    int64_t i;
    switch (x->tag) {
    case V_ARRAY: {
        array *a = as_array(*x);
        if (a->rank == 1 && v->tag == a->dtype - DTYPE_BOOL + V_BOOL && index_whole(ix, &i)) {
            int64_t n = a->size;
            if (i < -n || i >= n)
                return FAIL(1, DIAG_INDEX, "index %lld is out of range for axis 0, which has %lld element%s", (long long)i, (long long)n,
                            n == 1 ? "" : "s");
            array *t = target_of(c, a);
            if (!t) return false;
            array_put(t, (i < 0 ? i + n : i) * array_stride(t)[0], *v);
            return give_array(c, t);
        }
        return set_array(c, a, ix, v);
    }
    case V_TUPLE: return set_tuple(c, as_tuple(*x), ix, *v);
    case V_RECORD: return set_record(c, as_record(*x), ix, *v);
    case V_STRING:
        FAIL(0, DIAG_TYPE, "a string's characters cannot be assigned");
        vm_help(c->vm, "build a new one: s[:i] + new + s[i + 1:]");
        return false;
    default: FAIL(0, DIAG_TYPE, "an element of %s cannot be assigned", value_a_type(*x)); return false;
    }
}

bool kern_scatter_add(prim_call *c)
{
    vm *m = c->vm;
    shaped x, v, s;
    if (!arg_shaped(c, 0, &x) || !arg_shaped(c, 2, &v)) return false;
    if (x.rank == 0) return prim_fail(c, 0, DIAG_SHAPE, "x must have at least one axis");
    weakness weak;
    dtype d = dtype_promote(m, &x, &v, &weak);
    if (d == DTYPE_BOOL) d = DTYPE_I64;
    array *t = take_array(c, 0, d), *conv = NULL;
    if (!t) t = array_copy(m, as_array(c->args[0]), d);
    if (!t) return false;
    shaped_array(&s, t);
    index_plan plan;
    int64_t stride[RANK_MAX];
    uint64_t one = 0;
    const void *data = v.data;
    bool ok = index_resolve(m, &s, c->args[1], &plan);
    if (!ok) named_failed(c, 1, "indices");
    else {
        if (v.rank == 0 && v.dtype != d) copy_converted(c->vm, &v, d, &one), data = &one;
        else if (v.dtype != d) {
            conv = array_copy(m, as_array(c->args[2]), d);
            ok = conv != NULL;
            if (ok) shaped_array(&v, conv), data = conv->data;
        }
        if (ok && !shaped_stretch(&v, plan.rank, plan.shape, stride)) ok = stretch_failed(c, &v, &plan) || named_failed(c, 2, "v");
        if (c->args[0].tag == V_ARRAY && t == as_array(c->args[0])) plan.stop = NULL; /* it may be seen after an interrupt */
        if (ok) index_add(&plan, d, t->data, data, stride);
        index_close(m, &plan);
    }
    release_array(m, conv);
    if (ok) return give_array(c, t);
    release_array(m, t);
    return false;
}

/* --- counting -------------------------------------------------------------------------------- */

static int64_t length_of(value x)
{
    switch (x.tag) {
    case V_ARRAY: return array_shape(as_array(x))[0];
    case V_TUPLE: return as_tuple(x)->n;
    case V_STRING: return as_string(x)->points;
    case V_RECORD: return as_record(x)->n;
    default: return -1;
    }
}

bool kern_len(prim_call *c)
{
    int64_t n = length_of(c->args[0]);
    if (n < 0) {
        arg_unsuitable(c, 0, "an array with an axis, a tuple, a record or a string");
        return false;
    }
    c->out = value_i64(n);
    return true;
}

bool kern_iter_len(prim_call *c)
{
    value x = c->args[0];
    int64_t n = x.tag == V_RECORD ? -1 : length_of(x);
    if (n >= 0) {
        c->out = value_i64(n);
        return true;
    }
    bool number = value_is_scalar(x);
    vm_fail(c->vm, DIAG_TYPE, "cannot loop over %s", value_a_type(x));
    if (number) vm_help(c->vm, "count with a range: for (i in 0..n) { … }");
    else if (x.tag == V_RECORD) vm_help(c->vm, "go over its fields: for (k in keys(r)) { … r[k] … }");
    return index_failed(c, 0);
}
