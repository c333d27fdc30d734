/* kern_derive.c: kernels of prim_derive.def: tuples of cotangents, and the checks that grad and its kin
 * make of what they are given. Values in, values out; a symbolic zero is an ordinary guest here. */
#include "vm.h"
#include "diff.h"
#include "kern.h"
#include "residual.h"
#include <stdio.h>
#include <string.h>

static int64_t whole(value v) { return value_is_scalar(v) ? (v.tag == V_I64 || v.tag == V_BOOL ? v.u.i : (int64_t)v.u.f) : 0; }

static bool give(prim_call *c, value v)
{
    c->out = v;
    return true;
}

/* A tuple of `before` symbolic zeros, elements [lo, hi) of t, and zeros up to `total`. */
static bool give_elements(prim_call *c, uint32_t before, value t, uint32_t lo, uint32_t hi, uint32_t total)
{
    tuple *out = tuple_new(c->vm, total, total);
    if (!out) return false;
    for (uint32_t k = 0; k < total; k++) out->v[k] = value_zero();
    for (uint32_t k = lo; k < hi && before + (k - lo) < total; k++) {
        value v = as_tuple(t)->v[k];
        out->v[before + (k - lo)] = value_retain(v);
    }
    return give(c, value_object(&out->h));
}

static uint32_t count(value t) { return t.tag == V_TUPLE ? as_tuple(t)->n : 0; }

static bool tuple_or_zero(prim_call *c, uint32_t i)
{
    if (c->args[i].tag == V_TUPLE || c->args[i].tag == V_ZERO) return true;
    return prim_fail(c, (int)i, DIAG_INTERNAL, "a tuple of cotangents was expected, not a value of type %s", value_type_name(c->args[i]));
}

bool kern_part(prim_call *c)
{
    value t = c->args[0];
    if (!tuple_or_zero(c, 0)) return false;
    if (t.tag == V_ZERO) return give(c, t);
    int64_t n = count(t), lo = whole(c->args[1]), hi = c->args[2].tag == V_NONE ? n : whole(c->args[2]);
    if (lo < 0) lo += n;
    if (hi < 0) hi += n;
    if (lo < 0) lo = 0;
    if (hi > n) hi = n;
    /* Nothing of it may belong to a symbolic zero, which any tuple was joined to as no elements. */
    if (lo >= hi) return give(c, value_zero());
    return give_elements(c, 0, t, (uint32_t)lo, (uint32_t)hi, (uint32_t)(hi - lo));
}

bool kern_place(prim_call *c)
{
    value t = c->args[0];
    if (!tuple_or_zero(c, 0)) return false;
    uint32_t lo = (uint32_t)whole(c->args[1]), n = count(t);
    if (t.tag == V_ZERO) return give(c, t);
    return give_elements(c, lo, t, 0, n, lo + n);
}

bool kern_prepend(prim_call *c)
{
    value t = c->args[1];
    if (!tuple_or_zero(c, 1)) return false;
    uint32_t n = count(t);
    if (!give_elements(c, 1, t, 0, n, n + 1)) return false;
    as_tuple(c->out)->v[0] = value_retain(c->args[0]);
    return true;
}

bool kern_half(prim_call *c)
{
    value t = c->args[0];
    if (!tuple_or_zero(c, 0)) return false;
    if (t.tag == V_ZERO) return give(c, t);
    uint32_t h = count(t) / 2, lo = whole(c->args[1]) ? h : 0;
    return give_elements(c, 0, t, lo, lo + h, h);
}

bool kern_cot_tuple(prim_call *c)
{
    value t = c->args[0], f = c->args[1];
    if (!tuple_or_zero(c, 0)) return false;
    uint32_t n = f.tag == V_FORMOBJ && as_form(f)->kind == V_TUPLE ? as_form(f)->n : count(t);
    if (!give_elements(c, 0, t, 0, count(t) < n ? count(t) : n, n)) return false;
    for (uint32_t k = 0; k < n; k++) {
        value *v = &as_tuple(c->out)->v[k];
        if (v->tag == V_UNDEF) *v = value_zero();
    }
    return true;
}

bool kern_cot_join(prim_call *c)
{
    value t = c->args[0], r = c->args[1];
    if (!tuple_or_zero(c, 0) || !tuple_or_zero(c, 1)) return false;
    uint32_t n = (uint32_t)whole(c->args[2]);
    if (!give_elements(c, 0, t, 0, count(t) < n ? count(t) : n, n + count(r))) return false;
    for (uint32_t k = 0; k < count(r); k++) as_tuple(c->out)->v[n + k] = value_retain(as_tuple(r)->v[k]);
    return true;
}

/* Nested no deeper than the structure that tangents are made for; see __instantiate for whole zeros. */
bool kern_fill_parts(prim_call *c)
{
    value d = c->args[0];
    if (d.tag == V_TUPLE || d.tag == V_RECORD) return kern_instantiate(c);
    return give(c, value_retain(d));
}

bool kern_refuse(prim_call *c)
{
    if (c->args[0].tag == V_ZERO) return give(c, value_zero());
    return vm_fail(c->vm, DIAG_DERIVATIVE, "%s", as_string(c->args[1])->s);
}

/* Does v hold a float anywhere? Bounded by the value's own size. */
static bool has_float(vm *m, value v, int depth)
{
    if (value_is_float(v)) return true;
    if (v.tag == V_ARRAY) return as_array(v)->dtype >= DTYPE_F32;
    if (depth > 1000 || INTERRUPTED(m)) return true;
    if (v.tag == V_TUPLE)
        for (uint32_t k = 0; k < as_tuple(v)->n; k++)
            if (has_float(m, as_tuple(v)->v[k], depth + 1)) return true;
    if (v.tag == V_RECORD)
        for (uint32_t k = 0; k < as_record(v)->n; k++)
            if (has_float(m, as_record(v)->v[k], depth + 1)) return true;
    return v.tag == V_FUNCTION;
}

static const char *argument_name(vm *m, value f, int64_t k, char *name, size_t n)
{
    const code *fc = f.tag == V_FUNCTION ? as_closure(f)->code : NULL;
    if (fc && k < fc->nparams && !fc->rest) snprintf(name, n, "argument `%s`", symbol_name(m->symbols, fc->param_names[k]));
    else snprintf(name, n, "argument %lld", (long long)k);
    return name;
}

static bool one_position(prim_call *c, value w, value args, int64_t *out)
{
    vm *m = c->vm;
    value f = c->args[0];
    char name[128];
    int64_t n = count(args);
    if (w.tag == V_STRING) {
        const code *fc = as_closure(f)->code;
        for (uint32_t k = 0; k < fc->nparams; k++)
            if (!strcmp(symbol_name(m->symbols, fc->param_names[k]), as_string(w)->s)) {
                *out = k;
                goto found;
            }
        const char *names[64];
        uint32_t known = fc->nparams < 64 ? fc->nparams : 64;
        for (uint32_t k = 0; k < known; k++) names[k] = symbol_name(m->symbols, fc->param_names[k]);
        vm_fail(m, DIAG_NAME, "%s has no parameter `%s` to differentiate by", code_display_name(fc), as_string(w)->s);
        const char *near = nearest_name(as_string(w)->s, names, known);
        if (near) vm_help(m, "wrt = \"%s\"", near);
        return false;
    }
    if (!value_is_scalar(w) || (double)whole(w) != (w.tag == V_F64 || w.tag == V_F32 ? w.u.f : (double)w.u.i))
        return vm_fail(m, DIAG_TYPE, "wrt is the position or the name of an argument, or a tuple of them, not a value of type %s",
                       value_type_name(w));
    *out = whole(w) < 0 ? whole(w) + n : whole(w);
found:
    if (*out < 0 || *out >= n) {
        vm_fail(m, DIAG_ARITY, "wrt asks for argument %lld, but %s was called with %lld", (long long)*out,
                code_display_name(as_closure(f)->code), (long long)n);
        vm_help(m, "grad(f) is a function of the arguments of f, and what follows f in `grad(f, 0)` is wrt, a position or a name");
        return false;
    }
    value x = as_tuple(args)->v[*out];
    if (has_float(m, x, 0)) return true;
    text t;
    text_open(&t, &m->mem);
    value_describe(m, x, &t);
    vm_fail(m, DIAG_DERIVATIVE, "%s is %s: there is no float in it to differentiate by", argument_name(m, f, *out, name, sizeof name),
            text_str(&t));
    if (x.tag == V_I64 || (x.tag == V_ARRAY && as_array(x)->dtype == DTYPE_I64)) vm_help(m, "pass f64(…) of it");
    text_close(&t);
    return false;
}

bool kern_wrt(prim_call *c)
{
    value f = c->args[0], w = c->args[1], args = c->args[2];
    if (f.tag != V_FUNCTION) {
        vm_fail(c->vm, DIAG_TYPE, "only a function can be differentiated, and this is %s", value_a_type(f));
        vm_help(c->vm, "pass the function itself: `grad(f)(x)`, or `grad(fn(x) = …)(x)`");
        return false;
    }
    uint32_t n = w.tag == V_TUPLE ? as_tuple(w)->n : 1;
    tuple *out = tuple_new(c->vm, n, n);
    if (!out) return false;
    for (uint32_t k = 0; k < n; k++) {
        int64_t at;
        if (!one_position(c, w.tag == V_TUPLE ? as_tuple(w)->v[k] : w, args, &at)) {
            value_release(c->vm, value_object(&out->h));
            return false;
        }
        out->v[k] = value_i64(at);
    }
    return give(c, value_object(&out->h));
}

/* What was meant by grad(f, x) is grad(f)(x). */
static bool wrt_misfit(prim_call *c)
{
    const char *who = as_string(c->args[2])->s;
    vm_help(c->vm, "%s(f) is a function of the arguments of f: its value at x is `%s(f)(x)`, and what follows f is wrt", who, who);
    return false;
}

static bool position_fits(prim_call *c, value w)
{
    vm *m = c->vm;
    const code *fc = as_closure(c->args[0])->code;
    int64_t n = fc->nparams, k = whole(w);
    const char *who = as_string(c->args[2])->s;
    if (w.tag == V_STRING) return true; /* looked for when the arguments are there */
    if (!value_is_scalar(w) || (value_is_float(w) && (double)k != w.u.f)) {
        vm_fail(m, DIAG_TYPE, "%s: wrt is the position or the name of an argument, or a tuple of them, not %s", who,
                value_is_scalar(w) ? "a fraction" : value_a_type(w));
        return wrt_misfit(c);
    }
    if (fc->rest || fc->special != SPECIAL_NONE || (k < n && k >= -n)) return true;
    vm_fail(m, DIAG_ARITY, "%s: %s has %lld argument%s, and wrt asks for the one at position %lld, counted from 0", who,
            code_display_name(fc), (long long)n, n == 1 ? "" : "s", (long long)k);
    return wrt_misfit(c);
}

bool kern_wrt_fits(prim_call *c)
{
    value w = c->args[1];
    if (c->args[0].tag == V_FUNCTION) { /* else it is said when that is called */
        if (w.tag != V_TUPLE && !position_fits(c, w)) return false;
        for (uint32_t k = 0; w.tag == V_TUPLE && k < as_tuple(w)->n; k++)
            if (!position_fits(c, as_tuple(w)->v[k])) return false;
    }
    return give(c, value_none());
}

bool kern_mask(prim_call *c)
{
    value t = c->args[0];
    if (t.tag == V_NONE) return give(c, value_i64((int64_t)~1ull));
    uint64_t mask = 0;
    for (uint32_t k = 0; k < count(t); k++) {
        int64_t bit = whole(as_tuple(t)->v[k]) + 1;
        mask |= 1ull << (bit > 63 ? 63 : bit);
    }
    return give(c, value_i64((int64_t)mask));
}

bool kern_cotangent_one(prim_call *c)
{
    value y = c->args[0];
    if (value_is_float(y)) {
        y.u.f = 1;
        return give(c, y);
    }
    vm *m = c->vm;
    const char *who = as_string(c->args[1])->s;
    text t;
    text_open(&t, &m->mem);
    value_describe(m, y, &t);
    vm_fail(m, DIAG_DERIVATIVE, "%s needs a function whose result is one float; this one's is %s%s", who,
            value_is_heap(y) && y.tag != V_ARRAY ? "a " : "", text_str(&t));
    text_close(&t);
    if (y.tag == V_ARRAY)
        vm_help(m, "take its sum, as in `grad(fn(x) = sum(f(x)))`; or use jacobian(f), or vjp(f, x) with a cotangent of its shape");
    else if (y.tag == V_TUPLE) vm_help(m, "%s(f, aux = true) differentiates the first of two results", who);
    else if (y.tag == V_I64 || y.tag == V_BOOL)
        vm_help(m, "a whole number such as 2 became an i64 where it met one: start from a float, 2.0, or convert with f64(…)");
    return false;
}

bool kern_unused(prim_call *c)
{
    if (c->args[0].tag == V_ZERO && c->args[1].tag == V_FUNCTION && !c->vm->mute) {
        char name[128];
        code *fc = as_closure(c->args[1])->code;
        vm_report(c->vm, SEVERITY_NOTE, DIAG_DERIVATIVE, fc->at, "the result of %s does not depend on %s: its gradient is zero",
                  code_display_name(fc), argument_name(c->vm, c->args[1], whole(c->args[2]), name, sizeof name));
    }
    return give(c, value_none());
}

static bool matches(prim_call *c, value d, value x, const char *what, int depth);

static bool mismatch(prim_call *c, value d, value x, const char *what)
{
    vm *m = c->vm;
    text a, b;
    text_open(&a, &m->mem);
    text_open(&b, &m->mem);
    value_describe(m, d, &a);
    value_describe(m, x, &b);
    vm_fail(m, DIAG_SHAPE, "the %s is %s, but what it belongs to is %s", what, text_str(&a), text_str(&b));
    text_close(&a);
    text_close(&b);
    return false;
}

static bool matches(prim_call *c, value d, value x, const char *what, int depth)
{
    if (d.tag == V_ZERO || d.tag == V_NONE || depth > 1000 || INTERRUPTED(c->vm)) return true;
    if (x.tag == V_TUPLE) {
        if (d.tag != V_TUPLE || as_tuple(d)->n != as_tuple(x)->n) return mismatch(c, d, x, what);
        for (uint32_t k = 0; k < as_tuple(x)->n; k++)
            if (!matches(c, as_tuple(d)->v[k], as_tuple(x)->v[k], what, depth + 1)) return false;
        return true;
    }
    if (x.tag == V_RECORD) {
        if (d.tag != V_RECORD) return mismatch(c, d, x, what);
        for (uint32_t k = 0; k < as_record(d)->n; k++) {
            int64_t at = record_find(as_record(x), as_record(d)->names[k]);
            if (at < 0) return mismatch(c, d, x, what);
            if (!matches(c, as_record(d)->v[k], as_record(x)->v[at], what, depth + 1)) return false;
        }
        return true;
    }
    shaped sd, sx;
    if (!shaped_of(&x, &sx)) return true;
    if (!shaped_of(&d, &sd) || sd.rank != sx.rank || memcmp(sd.shape, sx.shape, (size_t)sd.rank * sizeof *sd.shape))
        return mismatch(c, d, x, what);
    return true;
}

/* d with symbolic zeros for its `none` parts: a part without numbers has neither cotangent nor tangent. */
static bool without_none(vm *m, value d, int depth, value *out)
{
    if (d.tag == V_NONE) {
        *out = value_zero();
        return true;
    }
    uint32_t n = d.tag == V_TUPLE ? as_tuple(d)->n : d.tag == V_RECORD ? as_record(d)->n : 0;
    if (!n || depth > 1000 || INTERRUPTED(m)) {
        *out = value_retain(d);
        return true;
    }
    value *to = container_like(m, d, out);
    if (!to) return false;
    const value *from = d.tag == V_TUPLE ? as_tuple(d)->v : as_record(d)->v;
    for (uint32_t k = 0; k < n; k++)
        if (!without_none(m, from[k], depth + 1, &to[k])) {
            value_release(m, *out);
            *out = value_undef(); /* it stands within another, which goes too */
            return false;
        }
    return true;
}

bool kern_match(prim_call *c)
{
    if (!matches(c, c->args[0], c->args[1], as_string(c->args[2])->s, 0)) return false;
    value f, d;
    if (!form_of(c->vm, c->args[1], &f)) return false;
    if (!without_none(c->vm, c->args[0], 0, &d)) {
        value_release(c->vm, f);
        return false;
    }
    value args[2] = {d, f};
    bool fine = prim_apply(c->vm, &prims[PRIM_reduce_to], args, 2, 0, &c->out);
    value_release(c->vm, f);
    value_release(c->vm, d);
    return fine;
}

bool kern_custom(prim_call *c)
{
    vm *m = c->vm;
    for (uint32_t k = 0; k < 2; k++)
        if (c->args[k].tag != V_FUNCTION)
            return vm_fail(m, DIAG_TYPE, "custom_vjp() takes two functions, but its %s argument is %s", k ? "second" : "first",
                           value_a_type(c->args[k]));
    code *custom = code_of_custom(m);
    closure *out = custom ? closure_new(m, custom, 2) : NULL;
    if (!out) return false;
    out->captures[0] = value_retain(c->args[0]);
    out->captures[1] = value_retain(c->args[1]);
    return give(c, value_object(&out->h));
}

bool kern_no_captures(prim_call *c)
{
    value f = c->args[0];
    if (f.tag == V_FUNCTION && as_closure(f)->n) {
        vm_fail(c->vm, DIAG_DERIVATIVE, "%s, a custom_vjp function, captured `%s`, which is being differentiated",
                code_display_name(as_closure(f)->code),
                symbol_name(c->vm->symbols, as_closure(f)->code->reg_names[as_closure(f)->code->body->params[0]]));
        vm_help(c->vm, "make it an argument of the function, so that `back` can give its cotangent");
        return false;
    }
    return give(c, value_none());
}

bool kern_is_function(prim_call *c) { return give(c, value_bool(c->args[0].tag == V_FUNCTION)); }

bool kern_cotangents(prim_call *c)
{
    value d = c->args[0], args = c->args[1];
    uint32_t n = count(args);
    if (n != 1 && d.tag != V_ZERO && (d.tag != V_TUPLE || as_tuple(d)->n != n))
        return vm_fail(c->vm, DIAG_DERIVATIVE, "`back` of a custom_vjp with %u arguments must return a tuple of %u cotangents", n, n);
    tuple *out = tuple_new(c->vm, n, n);
    if (!out) return false;
    for (uint32_t k = 0; k < n; k++) {
        value x = as_tuple(args)->v[k], g = n == 1 || d.tag == V_ZERO ? d : as_tuple(d)->v[k], f;
        /* `none` from the user is no cotangent at all */
        value in[2] = {g.tag == V_NONE ? value_zero() : g, value_none()};
        bool fine = matches(c, in[0], x, "cotangent that `back` returned", 0) && form_of(c->vm, x, &f);
        if (fine) {
            in[1] = f;
            fine = prim_apply(c->vm, &prims[PRIM_reduce_to], in, 2, 0, &out->v[k]);
            value_release(c->vm, f);
        }
        if (!fine) {
            value_release(c->vm, value_object(&out->h));
            return false;
        }
    }
    return give(c, value_object(&out->h));
}

bool kern_uncotangents(prim_call *c)
{
    value t = c->args[0];
    if (!tuple_or_zero(c, 0)) return false;
    if (t.tag == V_ZERO || count(c->args[1]) != 1) return give(c, value_retain(t));
    return give(c, count(t) ? value_retain(as_tuple(t)->v[0]) : value_zero());
}

/* A residual of order k is one whose region is a k-fold tangent: what entered the plain region comes first, then
   for each direction, in the order of the passes, a tuple that holds the tuple of the tangents of all that stands
   before it. Either may be symbolic zero, and the latter short. */

static void hold_entered(vm *m, residual *r, uint32_t k, value v)
{
    r->entered[k] = v;
    value_hold(m, v);
}

/* A tuple like that of n tangents, of which the last `order` are of directions, with symbolic zeros in one direction
   more, before these. Takes nothing, gives a new reference; V_UNDEF when refused. */
static value lift_tangents(vm *m, value t, uint32_t n, uint32_t order);

/* The same of what entered a residual, or of the tangents of that: v[0…had) of n are there. */
static bool lift_into(vm *m, value *out, const value *v, uint32_t had, uint32_t n, uint32_t order)
{
    for (uint32_t k = 0; k < n; k++) {
        value x = k < had ? v[k] : value_zero();
        if (k < n - order) {
            out[k] = value_retain(x);
            continue;
        }
        if (k == n - order) out[k] = value_zero();
        out[k + 1] = x.tag == V_ZERO ? x : lift_tangents(m, x, k, k - (n - order));
        if (out[k + 1].tag == V_UNDEF) return false;
    }
    if (!order) out[n] = value_zero();
    return true;
}

static value lift_tangents(vm *m, value t, uint32_t n, uint32_t order)
{
    value d = t.tag == V_TUPLE && as_tuple(t)->n ? as_tuple(t)->v[0] : value_zero();
    if (d.tag != V_TUPLE) return value_zero();
    tuple *inner = tuple_new(m, n + 1, n + 1), *outer = inner ? tuple_new(m, 1, 1) : NULL;
    if (!outer || !lift_into(m, inner->v, as_tuple(d)->v, as_tuple(d)->n, n, order)) {
        if (inner) value_release(m, value_object(&inner->h));
        if (outer) value_release(m, value_object(&outer->h));
        return value_undef();
    }
    outer->v[0] = value_object(&inner->h);
    return value_object(&outer->h);
}

/* A residual like `old`, of order `order` or more, in one direction more, in which its tangents are zero: the one
   before the last `order` directions. */
static bool lift(prim_call *c, const residual *old, uint32_t order)
{
    vm *m = c->vm;
    code *region = diff_region_tangent(old->region);
    residual *both = region ? residual_new(m, region, old->n + 1) : NULL;
    value *entered = both ? memory_alloc(&m->mem, MEM_OTHER, (old->n + 1) * sizeof(value)) : NULL;
    if (both && !entered) vm_out_of_memory(m);
    if (!entered) {
        if (both) value_release(m, value_object(&both->h));
        return false;
    }
    for (uint32_t k = 0; k <= old->n; k++) entered[k] = value_undef();
    bool fine = lift_into(m, entered, old->entered, old->n, old->n, order);
    for (uint32_t k = 0; k <= old->n; k++) hold_entered(m, both, k, entered[k]);
    memory_free(&m->mem, MEM_OTHER, entered, (old->n + 1) * sizeof(value));
    both->random = old->random;
    value_release(m, both->globals);
    both->globals = value_retain(old->globals);
    fine = fine && keep_list_copy(m, &both->keep, &old->keep);
    if (!fine) value_release(m, value_object(&both->h));
    return fine && give(c, value_object(&both->h));
}

bool kern_dual_residual(prim_call *c)
{
    value t = c->args[0], r = c->args[1];
    if (t.tag != V_ZERO) return give(c, value_retain(t));
    if (r.tag != V_RESIDUAL) return prim_fail(c, 1, DIAG_INTERNAL, "a replayable residual was expected");
    return lift(c, as_residual(r), 0);
}

bool kern_dual_tangent(prim_call *c)
{
    value t = c->args[0], u = c->args[1], v = c->args[2];
    if (u.tag != V_ZERO || v.tag == V_ZERO) return give(c, value_retain(u));
    if (t.tag != V_ZERO || v.tag != V_RESIDUAL)
        return prim_fail(c, 1, DIAG_INTERNAL, "a residual has a tangent that its tangent has none of");
    return lift(c, as_residual(v), (uint32_t)whole(c->args[3]) + 1);
}

/* Cotangents of what FORCE of a tangent gives: 2^order runs of values followed by their tangents. The values are
   those of the residual itself, and their cotangents go to it, never to its tangent: where that is not active
   they would be lost. */
enum dual_part { DUAL_VALUES, DUAL_WIDEN, DUAL_TANGENTS };
static bool dual_runs(prim_call *c, enum dual_part part)
{
    value g = c->args[0], f = c->args[2];
    if (!tuple_or_zero(c, 0)) return false;
    bool formed = f.tag == V_FORMOBJ && as_form(f)->kind == V_TUPLE;
    if (g.tag == V_ZERO || (f.tag != V_NONE && !formed)) return give(c, value_zero());
    uint32_t n = as_tuple(g)->n, all = formed ? as_form(f)->n : part == DUAL_VALUES ? n / 2 : part == DUAL_WIDEN ? 2 * n : n;
    uint32_t run = all >> whole(c->args[1]), half = part == DUAL_VALUES ? run : run / 2; /* of the result; its values */
    if (all && !run) return prim_fail(c, 0, DIAG_INTERNAL, "cotangents of values and their tangents were expected");
    tuple *out = tuple_new(c->vm, all, all);
    if (!out) return false;
    for (uint32_t k = 0; k < all; k++) {
        bool value_here = k % run < half;
        uint32_t from = part == DUAL_VALUES ? k / run * 2 * run + k % run : part == DUAL_WIDEN ? k / run * half + k % run : k;
        bool there = from < n && value_here == (part != DUAL_TANGENTS);
        out->v[k] = there ? value_retain(as_tuple(g)->v[from]) : value_zero();
    }
    return give(c, value_object(&out->h));
}

bool kern_dual_split(prim_call *c) { return dual_runs(c, DUAL_VALUES); }
bool kern_dual_join(prim_call *c) { return dual_runs(c, DUAL_WIDEN); }
bool kern_dual_rest(prim_call *c) { return dual_runs(c, DUAL_TANGENTS); }
