/* kern_text.c: strings in, strings out; print; and the program's own errors.
 *
 * Strings are valid UTF-8; everything here keeps them so. */
#include "kern.h"
#include "kern_util.h"
#include "format.h"
#include "help.h"
#include "print.h"

/* Sets c->out from t and closes it. */
static bool give_text(prim_call *c, text *t)
{
    string *s = t->failed ? NULL : string_new(c->vm, text_str(t), t->n);
    if (t->failed) vm_out_of_memory(c->vm);
    text_close(t);
    if (!s) return false;
    c->out = value_object(&s->h);
    return true;
}

bool kern_print(prim_call *c)
{
    c->out = value_none();
    if (c->vm->mute) return true;
    text t;
    text_open(&t, &c->vm->mem);
    for (uint32_t i = 0; i < c->n; i++) {
        if (i > 0) text_putc(&t, ' ');
        value_print(c->vm, c->args[i], PRINT_PLAIN, &t);
    }
    text_putc(&t, '\n');
    bool ok = t.failed ? vm_out_of_memory(c->vm) : vm_write(c->vm, t.s, t.n);
    text_close(&t);
    return ok;
}

/* An error between on and off does no harm: the frame that catches it puts `mute` back. */
bool kern_hush(prim_call *c)
{
    bool on;
    c->out = value_none();
    if (!arg_bool(c, 0, &on)) return false;
    if (on) c->vm->mute++;
    else if (c->vm->mute) c->vm->mute--;
    return true;
}

bool kern_help(prim_call *c)
{
    c->out = value_none();
    value f = c->args[0];
    if (f.tag != V_FUNCTION && f.tag != V_NONE) return prim_fail(c, 0, DIAG_TYPE, "f must be a function, not %s", value_type_name(f));
    if (c->vm->mute) return true;
    text t;
    text_open(&t, &c->vm->mem);
    if (f.tag == V_NONE) help_all(c->vm, &t);
    else help_function(c->vm, as_closure(f)->code, &t);
    bool ok = t.failed ? vm_out_of_memory(c->vm) : vm_write(c->vm, t.s, t.n);
    text_close(&t);
    return ok;
}

bool kern_format(prim_call *c)
{
    const string *s;
    int which;
    if (!arg_string(c, 0, &s)) return false;
    text t;
    text_open(&t, &c->vm->mem);
    if (format_text(c->vm, s->s, s->length, c->args + 1, c->n - 1, &t, &which)) return give_text(c, &t);
    c->vm->fail_arg = which + 1;
    text_close(&t);
    return false;
}

/* --- cutting and joining -------------------------------------------------------------------------- */

/* White space in Unicode's sense. */
static bool is_blank(uint32_t cp)
{
    return cp == ' ' || (cp >= 9 && cp <= 13) || cp == 0x85 || cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) ||
           cp == 0x2028 || cp == 0x2029 || cp == 0x202f || cp == 0x205f || cp == 0x3000;
}
/* Bytes of the character at s when it is a blank (or when it is not, for `blank` false), else 0. */
static size_t step(const char *s, const char *end, bool blank)
{
    uint32_t cp = 0;
    int n = s < end ? utf8_decode(s, (size_t)(end - s), &cp) : 0;
    return n > 0 && is_blank(cp) == blank ? (size_t)n : 0;
}
static const char *skip(const char *s, const char *end, bool blank)
{
    for (size_t n; (n = step(s, end, blank)) > 0;) s += n;
    return s;
}

static bool add_part(vm *m, value *t, const char *s, size_t n)
{
    string *part = string_new(m, s, n);
    if (!part) return false;
    if (tuple_append(m, t, value_object(&part->h))) return true;
    value_release(m, value_object(&part->h));
    return false;
}

bool kern_split_text(prim_call *c)
{
    const string *s, *sep = NULL;
    if (!arg_string(c, 0, &s) || (c->args[1].tag != V_NONE && !arg_string(c, 1, &sep))) return false;
    if (sep && sep->length == 0) return prim_fail(c, 1, DIAG_VALUE, "the separator is empty; ord(s) gives the characters one by one");
    tuple *t = tuple_new(c->vm, 0, 8);
    if (!t) return false;
    value v = value_object(&t->h);
    const char *at = s->s, *end = s->s + s->length;
    bool ok = true;
    if (!sep)
        for (at = skip(at, end, true); ok && at < end;) {
            const char *stop = skip(at, end, false);
            ok = add_part(c->vm, &v, at, (size_t)(stop - at));
            at = skip(stop, end, true);
        }
    else
        for (bool more = true; ok && more;) {
            const char *hit = memmem(at, (size_t)(end - at), sep->s, sep->length);
            more = hit != NULL;
            ok = add_part(c->vm, &v, at, (size_t)((hit ? hit : end) - at));
            if (hit) at = hit + sep->length;
        }
    if (ok) c->out = v;
    else value_release(c->vm, v);
    return ok;
}

bool kern_join(prim_call *c)
{
    const string *sep;
    if (c->args[0].tag != V_TUPLE) return prim_fail(c, 0, DIAG_TYPE, "parts must be a tuple of strings, not %s", value_a_type(c->args[0]));
    if (!arg_string(c, 1, &sep)) return false;
    const tuple *parts = as_tuple(c->args[0]);
    text t;
    text_open(&t, &c->vm->mem);
    for (uint32_t i = 0; i < parts->n; i++) {
        if (parts->v[i].tag != V_STRING) {
            text_close(&t);
            prim_fail(c, 0, DIAG_TYPE, "parts must hold strings, and part %u is %s", i, value_a_type(parts->v[i]));
            vm_help(c->vm, "format(\"{}\", x) makes a string of any value");
            return false;
        }
        if (i > 0) text_add(&t, sep->s, sep->length);
        text_add(&t, as_string(parts->v[i])->s, as_string(parts->v[i])->length);
    }
    return give_text(c, &t);
}

bool kern_trim(prim_call *c)
{
    const string *s;
    if (!arg_string(c, 0, &s)) return false;
    const char *end = s->s + s->length, *start = skip(s->s, end, true), *last = start;
    for (const char *p = start; p < end;) {
        p = skip(p, end, false);
        last = p;
        p = skip(p, end, true);
    }
    if (start == s->s && last == end) {
        c->out = value_retain(c->args[0]);
        return true;
    }
    string *t = string_new(c->vm, start, (size_t)(last - start));
    if (t) c->out = value_object(&t->h);
    return t != NULL;
}

bool kern_replace(prim_call *c)
{
    const string *s, *old, *new;
    if (!arg_string(c, 0, &s) || !arg_string(c, 1, &old) || !arg_string(c, 2, &new)) return false;
    if (old->length == 0) return prim_fail(c, 1, DIAG_VALUE, "the string to replace is empty");
    text t;
    text_open(&t, &c->vm->mem);
    const char *at = s->s, *end = s->s + s->length;
    for (const char *hit; (hit = memmem(at, (size_t)(end - at), old->s, old->length)); at = hit + old->length) {
        text_add(&t, at, (size_t)(hit - at));
        text_add(&t, new->s, new->length);
    }
    text_add(&t, at, (size_t)(end - at));
    return give_text(c, &t);
}

bool kern_ord(prim_call *c)
{
    const string *s;
    if (!arg_string(c, 0, &s)) return false;
    int64_t n = s->points;
    array *a = array_new(c->vm, DTYPE_I64, 1, &n);
    if (!a) return false;
    const char *at = s->s, *end = s->s + s->length;
    for (int64_t i = 0; i < n; i++) {
        uint32_t cp = 0xfffd;
        int k = utf8_decode(at, (size_t)(end - at), &cp);
        ((int64_t *)a->data)[i] = cp;
        at += k > 0 ? k : 1;
    }
    return give_array(c, a);
}

bool kern_chr(prim_call *c)
{
    shaped s;
    array *owned;
    if (!arg_i64_array(c, 0, &s, &owned)) return false;
    text t;
    text_open(&t, &c->vm->mem);
    bool ok = s.rank <= 1 || prim_fail(c, 0, DIAG_SHAPE, "codes must be one number or a vector, and has %d axes", s.rank);
    for (int64_t i = 0; ok && i < s.size && !odometer_stops(c->vm, 1, &i); i++) {
        int64_t x = ((const int64_t *)s.data)[s.rank ? i * s.stride[0] : 0];
        char bytes[4];
        if (x < 0 || x > 0x10ffff || (x >= 0xd800 && x < 0xe000))
            ok = prim_fail(c, 0, DIAG_VALUE, "codes holds %lld, which is not a code point", (long long)x);
        else text_add(&t, bytes, (size_t)utf8_encode((uint32_t)x, bytes));
    }
    release_array(c->vm, owned);
    if (ok) return give_text(c, &t);
    text_close(&t);
    return false;
}

/* --- the program's own errors --------------------------------------------------------------------- */

bool kern_error(prim_call *c)
{
    text t;
    text_open(&t, &c->vm->mem);
    value_print(c->vm, c->args[0], PRINT_PLAIN, &t);
    vm_fail(c->vm, DIAG_USER, "%s", text_str(&t));
    text_close(&t);
    return false;
}

/* The first place that is false, as "[1, 2]"; empty for a scalar. False when all hold. */
static bool first_false(const vm *m, const shaped *s, text *where)
{
    int64_t at[RANK_MAX] = {0}, o = 0, p = 0;
    if (s->size == 0) return false;
    do {
        if (((const uint8_t *)s->data)[o]) continue;
        if (s->rank > 0) shape_print(s->rank, at, where);
        return true;
    } while (!odometer_stops(m, s->rank, at) && odometer(s->rank, s->shape, at, s->stride, &o, s->stride, &p));
    return false;
}

bool kern_assert(prim_call *c)
{
    shaped s;
    c->out = value_none();
    if (!shaped_of(&c->args[0], &s) || s.dtype != DTYPE_BOOL)
        return prim_fail(c, 0, DIAG_TYPE, "condition must be a bool or an array of bools, as of a comparison");
    text where, t;
    text_open(&where, &c->vm->mem);
    bool wrong = first_false(c->vm, &s, &where);
    if (wrong) {
        text_open(&t, &c->vm->mem);
        if (c->args[1].tag == V_NONE) text_puts(&t, "assertion failed");
        else value_print(c->vm, c->args[1], PRINT_PLAIN, &t);
        vm_fail(c->vm, DIAG_ASSERT, "%s", text_str(&t));
        if (where.n) vm_note(c->vm, "the condition is false at %s", text_str(&where));
        c->vm->fail_arg = 0;
        text_close(&t);
    }
    text_close(&where);
    return !wrong;
}
