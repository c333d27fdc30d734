/* kern_core.c: kernels of prim_core.def. Small questions about one or two values, whose errors are
 * worded as the program's text would say them. */
#include "kern.h"
#include "vm.h"
#include <math.h>

static bool core_fail(prim_call *c, int arg, diag_code kind, const char *what, value v)
{
    text t;
    text_open(&t, &c->vm->mem);
    value_describe(c->vm, v, &t);
    vm_fail(c->vm, kind, "%s, not %s", what, text_str(&t));
    c->vm->fail_arg = arg;
    text_close(&t);
    return false;
}

bool kern_decides(prim_call *c)
{
    value a = c->args[0], is_or = c->args[1];
    if (a.tag == V_BOOL) {
        c->out = value_bool(a.u.i == is_or.u.i);
        return true;
    }
    if (a.tag == V_ARRAY && as_array(a)->dtype == DTYPE_BOOL) {
        c->out = value_bool(false);
        return true;
    }
    return core_fail(c, 0, DIAG_TYPE, is_or.u.i ? "`or` is between bools" : "`and` is between bools", a);
}

/* A whole scalar as i64; false when it is none. */
static bool whole(value v, value *out)
{
    if (v.tag == V_I64) *out = v;
    else if (value_is_float(v) && v.u.f == floor(v.u.f) && in_i64(v.u.f)) *out = value_i64((int64_t)v.u.f);
    else return false;
    return true;
}

bool kern_slice(prim_call *c)
{
    static const char *const names[3] = {"start", "stop", "step"};
    value part[3];
    for (int i = 0; i < 3; i++) {
        value v = c->args[i];
        part[i] = value_none();
        if (v.tag == V_NONE || whole(v, &part[i])) continue;
        if (!value_is_float(v)) vm_fail(c->vm, DIAG_INDEX, "a slice's %s must be a whole number, not %s", names[i], value_a_type(v));
        else
            vm_fail(c->vm, DIAG_INDEX, "a slice's %s must be whole%s, not %.9g", names[i],
                    v.u.f == floor(v.u.f) ? " and within 64 bits" : "", v.u.f);
        c->vm->fail_arg = i;
        return false;
    }
    if (part[2].tag == V_I64 && part[2].u.i == 0) {
        vm_fail(c->vm, DIAG_INDEX, "a slice's step cannot be 0");
        c->vm->fail_arg = 2;
        return false;
    }
    slice *s = slice_new(c->vm, part[0], part[1], part[2]);
    if (!s) return false;
    c->out = value_object(&s->h);
    return true;
}

bool kern_bound(prim_call *c)
{
    if (whole(c->args[0], &c->out)) return true;
    value v = c->args[0];
    if (value_is_float(v) && v.u.f == floor(v.u.f) && !isinf(v.u.f))
        return prim_fail(c, 0, DIAG_VALUE, "%.9g is too large for an end of a range", v.u.f);
    return core_fail(c, 0, DIAG_TYPE, "a range goes between whole numbers", v);
}

bool kern_takeout(prim_call *c)
{
    value x = c->args[0], ix = c->args[1], at;
    c->out = value_retain(x);
    bool own = (c->last & 1) && value_is_heap(x) && x.u.o->refs == 2; /* the caller's, and ours just now */
    bool fine = true;
    value *part = NULL;
    if (x.tag == V_RECORD && ix.tag == V_STRING) {
        symbol name = symbol_of(c->vm->symbols, as_string(ix)->s, as_string(ix)->length);
        int64_t i = name ? record_find(as_record(x), name) : -1;
        if (i < 0) return true;
        part = &as_record(x)->v[i];
        fine = own || record_set(c->vm, &c->out, name, value_none());
    } else if (x.tag == V_TUPLE && whole(ix, &at)) {
        int64_t n = as_tuple(x)->n, i = at.u.i < 0 ? at.u.i + n : at.u.i;
        if (i < 0 || i >= n) return true;
        part = &as_tuple(x)->v[i];
        fine = own || tuple_set(c->vm, &c->out, (uint32_t)i, value_none());
    } else return true;
    if (!fine) value_release(c->vm, c->out);
    if (!own) return fine;
    value old = *part;
    *part = value_none();
    value_release(c->vm, old);
    return true;
}
