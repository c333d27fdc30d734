/* kern_cotangent.c: cotangents of indexed and named parts: __acc_index, __acc_field, __cot_index,
 * __cot_field, __cot_clear.
 *
 * In go the cotangent of a whole (or a symbolic zero, or a tuple shorter than its primal, or a record
 * with only some fields) and an index or name; out comes the updated whole, or the part. A whole that
 * nobody else holds is updated where it lies, so that a loop that reads t[i] costs its adjoint loop
 * one element a step. Indices were valid when the primal ran; an error here is that of a derivative
 * taken of something else. */
#include "adjoint.h"
#include "index.h"
#include "prim_ids.h"
#include "kern_util.h"

static bool own_argument(const prim_call *c, uint32_t i)
{
    value v = c->args[i];
    if (!(c->last >> i & 1) || !value_is_heap(v) || v.u.o->refs != 1) return false;
    for (uint32_t k = 0; k < c->n; k++)
        if (k != i && value_is_heap(c->args[k]) && c->args[k].u.o == v.u.o) return false;
    return true;
}

/* How many elements the primal tuple had: from its shallow form, else as many as t shows. */
static int64_t whole_count(value form_or_none, value t)
{
    if (form_or_none.tag == V_FORMOBJ && as_form(form_or_none)->kind == V_TUPLE) return as_form(form_or_none)->n;
    return t.tag == V_TUPLE ? as_tuple(t)->n : 0;
}

/* The tuple args[0], or a copy of it, with at least n elements (symbolic zeros where it had none), as an
   owned value that may be written into; room for `most`. V_UNDEF on refusal. */
static value tuple_for_writing(prim_call *c, uint32_t n, uint32_t most)
{
    value t = c->args[0];
    if (t.tag == V_TUPLE && own_argument(c, 0) && as_tuple(t)->cap >= n) {
        for (tuple *a = as_tuple(t); a->n < n; a->n++) a->v[a->n] = value_zero();
        return value_retain(t);
    }
    uint32_t have = t.tag == V_TUPLE ? as_tuple(t)->n : 0;
    uint32_t total = have > n ? have : n;
    tuple *b = tuple_new(c->vm, total, most > total ? most : total);
    if (!b) return value_undef();
    for (uint32_t i = 0; i < total; i++) b->v[i] = i < have ? value_retain(as_tuple(t)->v[i]) : value_zero();
    return value_object(&b->h);
}

/* Adds x to *slot, in place when the slot's is the only reference and `own`. */
static bool add_to_slot(prim_call *c, value *slot, value x, bool own)
{
    value sum;
    if (!cot_add(c, *slot, x, own ? 1 : 0, &sum)) return false;
    value old = *slot;
    *slot = sum;
    value_release(c->vm, old);
    return true;
}

static bool acc_tuple(prim_call *c, value x, value ix, int64_t n)
{
    bool single, own = own_argument(c, 0);
    int64_t start, step, count;
    /* Beyond its end a cotangent of a tuple is symbolic zero, and so is what reaches it. */
    if ((ix.tag == V_I64 && ix.u.i >= n) || (ix.tag == V_F64 && ix.u.f >= (double)n)) {
        c->out = value_retain(c->args[0]);
        return true;
    }
    if (!index_sequence(c->vm, "a tuple", n, ix, &single, &start, &step, &count)) return false;
    if (single) count = step = 1;
    if (!single && x.tag != V_TUPLE) return prim_fail(c, 1, DIAG_INTERNAL, "a cotangent of several elements that is no tuple");
    if (!single && as_tuple(x)->n < count) count = as_tuple(x)->n;
    if (count <= 0) {
        c->out = value_retain(c->args[0]);
        return true;
    }
    int64_t far = step > 0 ? start + (count - 1) * step : start;
    value t = tuple_for_writing(c, (uint32_t)far + 1, (uint32_t)n);
    if (t.tag == V_UNDEF) return false;
    for (int64_t k = 0; k < count; k++) {
        value part = single ? x : as_tuple(x)->v[k];
        if (!add_to_slot(c, &as_tuple(t)->v[start + k * step], part, own)) {
            value_release(c->vm, t);
            return false;
        }
    }
    c->out = t;
    return true;
}

/* acc (args[0]) with x added to field `name`. */
static bool acc_named(prim_call *c, value x, symbol name)
{
    vm *m = c->vm;
    value acc = c->args[0];
    if (acc.tag != V_RECORD && !cot_is_zero(acc))
        return prim_fail(c, 0, DIAG_INTERNAL, "the cotangent of a record is a %s", value_type_name(acc));
    int64_t at = acc.tag == V_RECORD ? record_find(as_record(acc), name) : -1;
    bool own = acc.tag == V_RECORD && own_argument(c, 0);
    value sum;
    if (at < 0) sum = value_retain(x);
    else if (!cot_add(c, as_record(acc)->v[at], x, own ? 1 : 0, &sum)) return false;
    value r;
    if (acc.tag != V_RECORD) {
        record *fresh = record_new(m, 0, 4);
        if (!fresh) {
            value_release(m, sum);
            return false;
        }
        r = value_object(&fresh->h);
    } else {
        r = own ? acc : value_retain(acc); /* with its only reference it is changed where it lies */
    }
    if (!record_set(m, &r, name, sum)) {
        value_release(m, sum);
        if (!own) value_release(m, r);
        return false;
    }
    c->out = own ? value_retain(r) : r;
    return true;
}

bool kern_acc_field(prim_call *c)
{
    const string *s;
    if (!arg_string(c, 2, &s)) return false;
    symbol name = symbol_of(c->vm->symbols, s->s, s->length);
    if (!name) return vm_out_of_memory(c->vm);
    if (cot_is_zero(c->args[1])) {
        c->out = value_retain(c->args[0]);
        return true;
    }
    return acc_named(c, c->args[1], name);
}

/* Adds x into the number acc of dtype d and this shape (a symbolic zero: nothing yet), at ix. */
static bool acc_number(prim_call *c, dtype d, weakness weak, int rank, const int64_t *shape, value x, value ix)
{
    vm *m = c->vm;
    value acc = c->args[0];
    if (d < DTYPE_F32) { /* integers have no cotangent */
        c->out = value_retain(acc);
        return true;
    }
    if (!cot_is_number(x) || !(cot_is_zero(acc) || cot_is_number(acc)))
        return prim_fail(c, 1, DIAG_INTERNAL, "the cotangent of an array's elements is a %s", value_type_name(cot_is_number(x) ? acc : x));
    union {
        double f64;
        float f32;
    } one = {0};
    array *a = NULL;
    void *data = &one;
    value converted = value_undef();
    shaped s, v;
    if (rank > 0) {
        a = take_array(c, 0, d);
        if (a && !shape_equal(a->rank, array_shape(a), rank, shape)) {
            value_release(m, value_object(&a->h));
            a = NULL;
        }
        if (!a && cot_is_zero(acc)) {
            if (!(a = array_zeros(m, d, rank, shape))) return false;
        } else if (!a) {
            value f = form_of_array(m, d, STRONG, rank, shape), fitted;
            if (f.tag == V_UNDEF) return false;
            bool fine = cot_fit(c, acc, f, &fitted);
            value_release(m, f);
            if (!fine) return false;
            a = array_copy(m, as_array(fitted), d);
            value_release(m, fitted);
            if (!a) return false;
        }
        data = a->data;
    } else if (!cot_is_zero(acc)) {
        if (d == DTYPE_F32) one.f32 = (float)acc.u.f;
        else one.f64 = acc.u.f;
    }
    shaped_dense(&s, d, rank, shape);
    index_plan plan;
    bool fine = index_resolve(m, &s, ix, &plan);
    if (fine) {
        shaped_of(&x, &v);
        if (v.rank > 0 && v.dtype != d) {
            array *b = array_copy(m, as_array(x), d);
            fine = b != NULL;
            if (b) {
                converted = value_object(&b->h);
                shaped_array(&v, b);
            }
        } else if (v.dtype != d) {
            converted = scalar_of(d, x.u.f);
            shaped_of(&converted, &v);
        }
        int64_t stride[RANK_MAX];
        if (fine && !shaped_stretch(&v, plan.rank, plan.shape, stride))
            fine = prim_fail(c, 1, DIAG_INTERNAL, "the cotangent of a selection has another shape");
        if (fine) index_add(&plan, d, data, v.data, stride);
        index_close(m, &plan);
    }
    value_release(m, converted);
    if (!fine) {
        if (a) value_release(m, value_object(&a->h));
        return false;
    }
    if (a) return give_array(c, a);
    c->out = scalar_of(d, d == DTYPE_F32 ? (double)one.f32 : one.f64);
    if (d == DTYPE_F64 && weak) c->out.weak = WEAK_FLOAT;
    return true;
}

bool kern_acc_index(prim_call *c)
{
    value acc = c->args[0], x = c->args[1], f = c->args[2], ix = c->args[3];
    if (cot_is_zero(x) || (f.tag == V_FORM && f.aux == FORM_OTHER)) {
        c->out = acc.tag == V_UNDEF ? value_zero() : value_retain(acc);
        return true;
    }
    if (f.tag == V_FORM) return acc_number(c, (dtype)(f.aux & 0xff), (weakness)(f.aux >> 8), 0, NULL, x, ix);
    if (f.tag != V_FORMOBJ) return prim_fail(c, 2, DIAG_INTERNAL, "a %s where a form was expected", value_type_name(f));
    const form *o = as_form(f);
    if (o->kind == V_ARRAY) return acc_number(c, (dtype)o->dtype, STRONG, o->rank, o->shape, x, ix);
    if (o->kind == V_TUPLE) {
        if (acc.tag != V_TUPLE && !cot_is_zero(acc))
            return prim_fail(c, 0, DIAG_INTERNAL, "the cotangent of a tuple is a %s", value_type_name(acc));
        return acc_tuple(c, x, ix, o->n);
    }
    if (ix.tag != V_STRING) return prim_fail(c, 3, DIAG_INTERNAL, "a record indexed by a %s", value_type_name(ix));
    symbol name = symbol_of(c->vm->symbols, as_string(ix)->s, as_string(ix)->length);
    if (!name) return vm_out_of_memory(c->vm);
    return acc_named(c, x, name);
}

/* --- reading -------------------------------------------------------------------------------- */

/* c[ix] as it is, before it is made to fit. */
static bool part_at(prim_call *c, value whole_form, value *out)
{
    value v = c->args[0], ix = c->args[1];
    vm *m = c->vm;
    if (v.tag == V_RECORD && ix.tag == V_STRING) {
        symbol name = symbol_of(m->symbols, as_string(ix)->s, as_string(ix)->length);
        int64_t at = name ? record_find(as_record(v), name) : -1;
        *out = at < 0 ? value_zero() : value_retain(as_record(v)->v[at]);
        return true;
    }
    if (v.tag == V_TUPLE) {
        int64_t k, n = whole_count(whole_form, v);
        const tuple *t = as_tuple(v);
        if (index_whole(ix, &k)) {
            if (k < 0) k += n;
            *out = k >= 0 && k < t->n && t->v[k].tag != V_UNDEF ? value_retain(t->v[k]) : value_zero();
            return true;
        }
        bool single;
        int64_t start, step, count;
        if (!index_sequence(m, "a tuple", n, ix, &single, &start, &step, &count)) return false;
        tuple *part = tuple_new(m, (uint32_t)count, (uint32_t)count);
        if (!part) return false;
        for (int64_t i = 0; i < count; i++) {
            int64_t at = start + i * step;
            part->v[i] = at < t->n && t->v[at].tag != V_UNDEF ? value_retain(t->v[at]) : value_zero();
        }
        *out = value_object(&part->h);
        return true;
    }
    return prim_apply(m, &prims[PRIM_index], c->args, 2, 0, out);
}

bool kern_cot_index(prim_call *c)
{
    value v = c->args[0], f = c->args[2];
    if (cot_is_zero(v)) {
        c->out = v.tag == V_UNDEF ? value_zero() : v;
        return true;
    }
    value part;
    if (!part_at(c, c->args[3], &part)) return false;
    if (f.tag == V_NONE) {
        c->out = part;
        return true;
    }
    bool fine = cot_reduce_to(c, part, f, &c->out);
    value_release(c->vm, part);
    return fine;
}

bool kern_cot_field(prim_call *c)
{
    const string *s;
    if (!arg_string(c, 1, &s)) return false;
    c->out = value_zero();
    if (cot_is_zero(c->args[0])) return true;
    if (c->args[0].tag != V_RECORD) return prim_fail(c, 0, DIAG_INTERNAL, "the cotangent of a record is a %s", value_type_name(c->args[0]));
    symbol name = symbol_of(c->vm->symbols, s->s, s->length);
    if (!name) return vm_out_of_memory(c->vm);
    int64_t at = record_find(as_record(c->args[0]), name);
    if (at >= 0) c->out = value_retain(as_record(c->args[0])->v[at]);
    if (c->out.tag == V_UNDEF) c->out = value_zero();
    return true;
}

/* --- clearing ------------------------------------------------------------------------------- */

static bool clear_number(prim_call *c)
{
    vm *m = c->vm;
    value v = c->args[0];
    shaped s;
    if (v.tag != V_ARRAY) { /* x[...] = v of a scalar: all of it is replaced */
        bool fine = cot_zeros_like(m, v, &c->out);
        if (fine && v.weak) c->out.weak = v.weak;
        return fine;
    }
    dtype d = (dtype)as_array(v)->dtype;
    array *a = take_array(c, 0, d);
    if (!a && !(a = array_copy(m, as_array(v), d))) return false;
    shaped_array(&s, a);
    index_plan plan;
    if (!index_resolve(m, &s, c->args[1], &plan)) {
        value_release(m, value_object(&a->h));
        return false;
    }
    index_clear(&plan, d, a->data);
    index_close(m, &plan);
    return give_array(c, a);
}

bool kern_cot_clear(prim_call *c)
{
    vm *m = c->vm;
    value v = c->args[0], ix = c->args[1];
    if (cot_is_zero(v)) {
        c->out = value_zero();
        return true;
    }
    if (cot_is_number(v)) return clear_number(c);
    if (v.tag == V_RECORD && ix.tag == V_STRING) {
        symbol name = symbol_of(m->symbols, as_string(ix)->s, as_string(ix)->length);
        if (!name) return vm_out_of_memory(m);
        if (record_find(as_record(v), name) < 0) {
            c->out = value_retain(v);
            return true;
        }
        bool own = own_argument(c, 0);
        value r = own ? v : value_retain(v);
        if (!record_set(m, &r, name, value_zero())) {
            if (!own) value_release(m, r);
            return false;
        }
        c->out = own ? value_retain(r) : r;
        return true;
    }
    if (v.tag != V_TUPLE) return prim_fail(c, 0, DIAG_INTERNAL, "a cotangent that is a %s has no parts", value_type_name(v));
    bool single;
    int64_t start, step, count, k;
    int64_t n = whole_count(c->args[2], v);
    if (index_whole(ix, &k) && k >= (int64_t)as_tuple(v)->n) { /* beyond what there is: zero already */
        c->out = value_retain(v);
        return true;
    }
    if (!index_sequence(m, "a tuple", n, ix, &single, &start, &step, &count)) return false;
    if (single) count = step = 1;
    value t = tuple_for_writing(c, as_tuple(v)->n, as_tuple(v)->n);
    if (t.tag == V_UNDEF) return false;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = start + i * step;
        if (at >= as_tuple(t)->n) continue;
        value old = as_tuple(t)->v[at];
        as_tuple(t)->v[at] = value_zero();
        value_release(m, old);
    }
    c->out = t;
    return true;
}
