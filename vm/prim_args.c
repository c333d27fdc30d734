/* prim_args.c: what kernels use to read their arguments, give their result, and fail.
 *
 * Each reader says, when the argument is not what it should be, which function, which parameter,
 * what was expected and what came. Nothing here changes a reference count except take_array, whose
 * result the kernel owns and hands to give_array. */
#include "vm.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void arg_name(prim_call *c, uint32_t i, text *t)
{
    const prim_info *info = prim_info_of(c->vm, c->p);
    uint32_t fixed = info->nparams - info->variadic;
    if (i < fixed) text_puts(t, symbol_name(c->vm->symbols, info->params[i].name));
    else if (info->variadic) text_printf(t, "%s number %u", symbol_name(c->vm->symbols, info->params[fixed].name), i - fixed + 1);
    else text_printf(t, "argument %u", i + 1);
}

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* To a message that does not name argument i: what it is called, and the shape it has. Operators have no names
   for theirs. */
static void put_guilty(prim_call *c, uint32_t i, text *t)
{
    shaped s;
    text name;
    if (i >= c->n || c->args[i].tag != V_ARRAY || !shaped_of(&c->args[i], &s) || !strstr(text_str(t), "(): ")) return;
    text_open(&name, &c->vm->mem);
    arg_name(c, i, &name);
    bool named = false;
    for (const char *at = strstr(text_str(t), "(): ") + 3; !named && (at = strstr(at + 1, text_str(&name)));)
        named = !is_letter(at[-1]) && !is_letter(at[name.n]);
    if (!named) {
        text_printf(t, "; %s has shape ", text_str(&name));
        shape_print(s.rank, s.shape, t);
    }
    text_close(&name);
}

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
    if (i >= 0 && code_number != DIAG_INTERNAL && code_number != DIAG_FILE) put_guilty(c, (uint32_t)i, &t);
    vm_fail(m, (diag_code)code_number, "%s", text_str(&t));
    text_close(&t);
    m->fail_arg = i;
    return false;
}

/* "axis must be a whole number, not a string" */
bool arg_unsuitable(prim_call *c, uint32_t i, const char *expected)
{
    text t, what;
    text_open(&t, &c->vm->mem);
    arg_name(c, i, &t);
    text_printf(&t, " must be %s, not ", expected);
    value v = c->args[i];
    if (v.tag == V_NONE || v.tag == V_F64 || v.tag == V_F32 || v.tag == V_I64 || v.tag == V_BOOL) {
        if (v.tag == V_NONE) text_puts(&t, "none");
        else if (v.tag == V_BOOL) text_puts(&t, v.u.i ? "true" : "false");
        else if (v.tag == V_I64) text_printf(&t, "%lld", (long long)v.u.i);
        else text_printf(&t, "%.9g", v.u.f);
    } else {
        text_open(&what, &c->vm->mem);
        value_describe(c->vm, v, &what);
        text_printf(&t, strchr("aefi", text_str(&what)[0]) && strncmp(text_str(&what), "function", 8) ? "an %s" : "a %s", text_str(&what));
        text_close(&what);
    }
    prim_fail(c, (int)i, DIAG_TYPE, "%s", text_str(&t));
    text_close(&t);
    return false;
}

bool arg_misshapen(prim_call *c, uint32_t i, const shaped *x, const char *expected)
{
    text t;
    text_open(&t, &c->vm->mem);
    arg_name(c, i, &t);
    text_printf(&t, " must be %s, and has shape ", expected);
    shape_print(x->rank, x->shape, &t);
    prim_fail(c, (int)i, DIAG_SHAPE, "%s", text_str(&t));
    text_close(&t);
    return false;
}

bool arg_shaped(prim_call *c, uint32_t i, shaped *s) { return shaped_of(&c->args[i], s) || arg_unsuitable(c, i, "a number or an array"); }

bool arg_array(prim_call *c, uint32_t i, shaped *s) { return arg_shaped(c, i, s); }

/* A whole scalar that fits i64. */
static bool whole_of(value v, int64_t *out)
{
    if (v.tag == V_I64) {
        *out = v.u.i;
        return true;
    }
    if (!value_is_float(v) || v.u.f != floor(v.u.f) || !in_i64(v.u.f)) return false;
    *out = (int64_t)v.u.f;
    return true;
}

bool arg_int(prim_call *c, uint32_t i, int64_t *out)
{
    value v = c->args[i];
    if (whole_of(v, out)) return true;
    if (!value_is_float(v) || v.u.f != floor(v.u.f) || isinf(v.u.f)) return arg_unsuitable(c, i, "a whole number");
    text t;
    text_open(&t, &c->vm->mem);
    arg_name(c, i, &t);
    prim_fail(c, (int)i, DIAG_VALUE, "%s is %.9g, which is too large for a whole number", text_str(&t), v.u.f);
    text_close(&t);
    return false;
}

bool arg_offset(prim_call *c, uint32_t i, int64_t *out)
{
    if (!arg_int(c, i, out)) return false;
    if (*out > ELEMENTS_MOST) *out = ELEMENTS_MOST;
    if (*out < -ELEMENTS_MOST) *out = -ELEMENTS_MOST;
    return true;
}

bool arg_bool(prim_call *c, uint32_t i, bool *out)
{
    if (c->args[i].tag != V_BOOL) return arg_unsuitable(c, i, "true or false");
    *out = c->args[i].u.i != 0;
    return true;
}

bool arg_number(prim_call *c, uint32_t i, double *out)
{
    value v = c->args[i];
    if (v.tag == V_I64) *out = (double)v.u.i;
    else if (value_is_float(v)) *out = v.u.f;
    else return arg_unsuitable(c, i, "a number");
    return true;
}

bool arg_string(prim_call *c, uint32_t i, const string **out)
{
    if (c->args[i].tag != V_STRING) return arg_unsuitable(c, i, "a string");
    *out = as_string(c->args[i]);
    return true;
}

bool arg_axis_fail(prim_call *c, uint32_t i, int64_t axis, int rank)
{
    shaped x;
    text t;
    text_open(&t, &c->vm->mem);
    arg_name(c, i, &t);
    text_printf(&t, " %lld is out of range for ", (long long)axis);
    if (c->n > 0 && i > 0 && shaped_of(&c->args[0], &x) && x.rank == rank) {
        arg_name(c, 0, &t);
        text_puts(&t, rank ? " of shape " : ", a number, which has no axes");
        if (rank) shape_print(x.rank, x.shape, &t);
    } else if (rank) text_printf(&t, "an array of rank %d", rank);
    else text_puts(&t, "a number, which has no axes");
    prim_fail(c, (int)i, DIAG_SHAPE, "%s", text_str(&t));
    text_close(&t);
    return false;
}

static bool add_axis(prim_call *c, uint32_t i, int64_t axis, int rank, int *axes, int *n)
{
    if (axis < -rank || axis >= rank) { return arg_axis_fail(c, i, axis, rank); }
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
            if (!whole_of(as_tuple(v)->v[k], &axis)) return arg_unsuitable(c, i, expected);
            if (!add_axis(c, i, axis, rank, axes, n)) return false;
        }
        return true;
    }
    if (v.tag == V_ARRAY && as_array(v)->rank == 1) {
        for (int64_t k = 0; k < as_array(v)->size; k++) {
            if (!whole_of(array_get(as_array(v), &k), &axis)) return arg_unsuitable(c, i, expected);
            if (!add_axis(c, i, axis, rank, axes, n)) return false;
        }
        return true;
    }
    if (!whole_of(v, &axis)) return arg_unsuitable(c, i, expected);
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
