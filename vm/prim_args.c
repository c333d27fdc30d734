/* prim_args.c: what kernels use to read their arguments, give their result, and fail.
 *
 * Each reader says, when the argument is not what it should be, which function, which parameter,
 * what was expected and what came. Nothing here changes a reference count except take_array, whose
 * result the kernel owns and hands to give_array. */
#include "vm.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool prim_fail(prim_call *c, int i, int code_number, const char *fmt, ...)
{
    vm *m = c->vm;
    if (m->error) return false;
    char name[64];
    text t;
    text_open(&t, &m->mem);
    text_printf(&t, "%s: ", prim_display(c->p, name));
    va_list ap;
    va_start(ap, fmt);
    text_vprintf(&t, fmt, ap);
    va_end(ap);
    vm_fail(m, (diag_code)code_number, "%s", text_str(&t));
    text_close(&t);
    m->fail_arg = i;
    return false;
}

/* The parameter's name; a rest parameter's arguments are numbered from 1. */
static void param_print(prim_call *c, uint32_t i, text *t)
{
    const prim_info *info = prim_info_of(c->vm, c->p);
    uint32_t fixed = info->nparams - info->variadic;
    if (i < fixed) text_puts(t, symbol_name(c->vm->symbols, info->params[i].name));
    else if (info->variadic) text_printf(t, "%s number %u", symbol_name(c->vm->symbols, info->params[fixed].name), i - fixed + 1);
    else text_printf(t, "argument %u", i + 1);
}

/* "axis must be a whole number, not a string" */
static bool unsuitable(prim_call *c, uint32_t i, const char *expected)
{
    text t;
    text_open(&t, &c->vm->mem);
    param_print(c, i, &t);
    text_printf(&t, " must be %s, not ", expected);
    value v = c->args[i];
    if (v.tag == V_NONE || v.tag == V_F64 || v.tag == V_F32 || v.tag == V_I64 || v.tag == V_BOOL) {
        if (v.tag == V_NONE) text_puts(&t, "none");
        else if (v.tag == V_BOOL) text_puts(&t, v.u.i ? "true" : "false");
        else if (v.tag == V_I64) text_printf(&t, "%lld", (long long)v.u.i);
        else text_printf(&t, "%.9g", v.u.f);
    } else {
        text_puts(&t, "a ");
        value_describe(c->vm, v, &t);
    }
    prim_fail(c, (int)i, DIAG_TYPE, "%s", text_str(&t));
    text_close(&t);
    return false;
}

bool arg_shaped(prim_call *c, uint32_t i, shaped *s)
{
    return shaped_of(&c->args[i], s) || unsuitable(c, i, "a number or an array");
}

bool arg_array(prim_call *c, uint32_t i, shaped *s) { return arg_shaped(c, i, s); }

/* A whole scalar that fits i64. */
static bool whole_of(value v, int64_t *out)
{
    if (v.tag == V_I64) { *out = v.u.i; return true; }
    if (!value_is_float(v) || v.u.f != floor(v.u.f) || !in_i64(v.u.f)) return false;
    *out = (int64_t)v.u.f;
    return true;
}

bool arg_int(prim_call *c, uint32_t i, int64_t *out)
{
    return whole_of(c->args[i], out) || unsuitable(c, i, "a whole number");
}

bool arg_bool(prim_call *c, uint32_t i, bool *out)
{
    if (c->args[i].tag != V_BOOL) return unsuitable(c, i, "true or false");
    *out = c->args[i].u.i != 0;
    return true;
}

bool arg_number(prim_call *c, uint32_t i, double *out)
{
    value v = c->args[i];
    if (v.tag == V_I64) *out = (double)v.u.i;
    else if (value_is_float(v)) *out = v.u.f;
    else return unsuitable(c, i, "a number");
    return true;
}

bool arg_string(prim_call *c, uint32_t i, const string **out)
{
    if (c->args[i].tag != V_STRING) return unsuitable(c, i, "a string");
    *out = as_string(c->args[i]);
    return true;
}

static bool add_axis(prim_call *c, uint32_t i, int64_t axis, int rank, int *axes, int *n)
{
    if (axis < -rank || axis >= rank) {
        if (!rank) return prim_fail(c, (int)i, DIAG_SHAPE, "axis %lld of a scalar, which has no axes", (long long)axis);
        return prim_fail(c, (int)i, DIAG_SHAPE, "axis %lld is out of range for an array of rank %d", (long long)axis, rank);
    }
    int k = (int)(axis < 0 ? axis + rank : axis), at = 0;
    while (at < *n && axes[at] < k) at++;
    if (at < *n && axes[at] == k) return prim_fail(c, (int)i, DIAG_SHAPE, "axis %lld is named twice", (long long)axis);
    memmove(axes + at + 1, axes + at, (size_t)(*n - at) * sizeof *axes);
    axes[at] = k;
    ++*n;
    return true;
}

bool arg_axes(prim_call *c, uint32_t i, int rank, int *axes, int *n)
{
    static const char expected[] = "an axis, a tuple of axes, or none";
    value v = c->args[i];
    *n = 0;
    int64_t axis;
    if (v.tag == V_NONE) {
        for (int k = 0; k < rank; k++) axes[k] = k;
        *n = rank;
        return true;
    }
    if (v.tag == V_TUPLE) {
        for (uint32_t k = 0; k < as_tuple(v)->n; k++) {
            if (!whole_of(as_tuple(v)->v[k], &axis)) return unsuitable(c, i, expected);
            if (!add_axis(c, i, axis, rank, axes, n)) return false;
        }
        return true;
    }
    if (v.tag == V_ARRAY && as_array(v)->rank == 1) {
        for (int64_t k = 0; k < as_array(v)->size; k++) {
            if (!whole_of(array_get(as_array(v), &k), &axis)) return unsuitable(c, i, expected);
            if (!add_axis(c, i, axis, rank, axes, n)) return false;
        }
        return true;
    }
    if (!whole_of(v, &axis)) return unsuitable(c, i, expected);
    return add_axis(c, i, axis, rank, axes, n);
}

array *take_array(prim_call *c, uint32_t i, dtype d)
{
    if (i >= 64 || !(c->last >> i & 1) || c->args[i].tag != V_ARRAY) return NULL;
    array *a = as_array(c->args[i]);
    if (a->dtype != d || !a->dense || !array_unique(a)) return NULL;
    for (uint32_t k = 0; k < c->n; k++)
        if (k != i && value_is_heap(c->args[k]) && c->args[k].u.o == &a->h) return NULL; /* it is read, too */
    a->h.refs++;
    return a;
}

bool give_array(prim_call *c, array *a)
{
    if (!a) return false;
    c->out = value_object(&a->h);
    return true;
}
