/* exec_bind.c: named and spread arguments.
 *
 * BIND puts arguments as they were written into the order of the callee's parameters, with V_UNDEF
 * where a default is due. UNBIND is its way back for cotangents: from positions to the arguments. */
#include "run.h"
#include <string.h>

static const char *name_of(vm *m, symbol y) { return symbol_name(m->symbols, y); }

/* The parameter called `name`; a rest parameter cannot be named. -1: none. */
static int64_t param_named(const code *c, symbol name)
{
    for (uint32_t i = 0; i < c->nparams - c->rest; i++)
        if (c->param_names[i] == name) return i;
    return -1;
}

static bool unknown_param(vm *m, const code *c, symbol name)
{
    const char *names[64];
    uint32_t n = 0;
    text t;
    text_open(&t, &m->mem);
    for (uint32_t i = 0; i < c->nparams - c->rest && n < 64; i++) {
        names[n] = name_of(m, c->param_names[i]);
        text_printf(&t, "%s%s", n ? ", " : "", names[n]);
        n++;
    }
    if (n) vm_fail(m, DIAG_ARITY, "%s has no parameter `%s`; it has %s", code_display_name(c), name_of(m, name), text_str(&t));
    else vm_fail(m, DIAG_ARITY, "%s has no parameter `%s`, nor any that can be named", code_display_name(c), name_of(m, name));
    const char *near = nearest_name(name_of(m, name), names, n);
    if (near) vm_help(m, "did you mean `%s`?", near);
    text_close(&t);
    return false;
}

static bool missing_params(vm *m, const code *c, const tuple *t)
{
    text names;
    text_open(&names, &m->mem);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->required; i++)
        if (i >= t->n || t->v[i].tag == V_UNDEF) text_printf(&names, "%s`%s`", n++ ? ", " : "", name_of(m, c->param_names[i]));
    if (n) vm_fail(m, DIAG_ARITY, "%s is called without %s", code_display_name(c), text_str(&names));
    text_close(&names);
    return n == 0;
}

/* Where arguments go: the tuple being filled, and how many positions are in use. */
typedef struct binding {
    vm *m;
    const code *c;
    tuple *t;
    uint32_t next;
} binding;

static bool bind_named(binding *b, symbol name, value v)
{
    int64_t k = param_named(b->c, name);
    if (k < 0) return unknown_param(b->m, b->c, name);
    if (b->t->v[k].tag != V_UNDEF) return vm_fail(b->m, DIAG_ARITY, "%s gets `%s` twice", code_display_name(b->c), name_of(b->m, name));
    b->t->v[k] = value_retain(v);
    return true;
}

/* Positional arguments, spread ones among them; how many there are is known before the tuple is made. */
static uint64_t positional(const frame *f, const name_list *names, uint32_t nsrc, const uint32_t *src)
{
    uint64_t n = 0;
    for (uint32_t s = 1; s < nsrc; s++) {
        symbol y = names->names[s];
        value v = f->r[src[s] >> 1];
        if (y == 0) n++;
        else if (y == SPREAD_MARK) n += v.tag == V_TUPLE ? as_tuple(v)->n : 0;
    }
    return n;
}

static bool bind_all(binding *b, frame *f, const name_list *names, uint32_t nsrc, const uint32_t *src)
{
    for (uint32_t s = 1; s < nsrc; s++) {
        symbol y = names->names[s];
        value v = f->r[src[s] >> 1];
        if (y == 0) b->t->v[b->next++] = value_retain(v);
        else if (y == SPREAD_MARK) {
            b->m->fail_arg = (int)s;
            if (v.tag != V_TUPLE) return vm_fail(b->m, DIAG_TYPE, "`...` spreads a tuple, and this is %s", value_a_type(v));
            const tuple *part = as_tuple(v);
            for (uint32_t k = 0; k < part->n; k++) b->t->v[b->next++] = value_retain(part->v[k]);
        }
    }
    for (uint32_t s = 1; s < nsrc; s++) {
        symbol y = names->names[s];
        if (y == 0 || y == SPREAD_MARK) continue;
        b->m->fail_arg = (int)s;
        if (!bind_named(b, y, f->r[src[s] >> 1])) return false;
    }
    b->m->fail_arg = 0;
    return missing_params(b->m, b->c, b->t);
}

bool exec_bind(struct exec *x, frame *f, const instr *i, const uint32_t *src, value *out)
{
    vm *m = x->m;
    const name_list *names = &f->run->tree->names[i->imm];
    value fn = f->r[src[0] >> 1];
    m->fail_arg = 0;
    if (fn.tag != V_FUNCTION) return not_a_function(m, fn);
    binding b = {m, as_closure(fn)->code, NULL, 0};
    uint64_t given = positional(f, names, i->nsrc, src);
    uint32_t fixed = b.c->nparams - b.c->rest;
    if (given > fixed && !b.c->rest) return arity_error(m, b.c, given > UINT32_MAX ? UINT32_MAX : (uint32_t)given);
    if (given >= UINT32_MAX) return vm_fail(m, DIAG_ARITY, "too many arguments");
    /* As long as its last argument needs, so that a missing trailing one is missing in the call, too. */
    uint32_t n = (uint32_t)given;
    for (uint32_t s = 1; s < i->nsrc; s++) {
        symbol y = names->names[s];
        int64_t k = y && y != SPREAD_MARK ? param_named(b.c, y) : -1;
        if (k >= n) n = (uint32_t)k + 1;
    }
    if (!(b.t = tuple_new(m, n, n))) return false;
    *out = value_object(&b.t->h);
    if (!bind_all(&b, f, names, i->nsrc, src)) {
        value_release(m, *out);
        return false;
    }
    for (uint32_t s = 0; s < i->nsrc; s++) operand_done(m, f->r, src[s]);
    return true;
}

/* --- cotangents back ------------------------------------------------------------------------- */

static value part_at(value t, uint64_t k)
{
    if (t.tag == V_TUPLE && k < as_tuple(t)->n) return value_retain(as_tuple(t)->v[k]);
    return value_zero();
}

/* How many elements a spread argument had, from its form. */
static uint32_t form_count(value f)
{
    if (f.tag == V_FORMOBJ && as_form(f)->kind == V_TUPLE) return as_form(f)->n;
    if (f.tag == V_TUPLE) return as_tuple(f)->n;
    return 0;
}

/* Elements [at, at + n) of t; symbolic zero when t has none of them. */
static bool slice_of(vm *m, value t, uint64_t at, uint32_t n, value *out)
{
    *out = value_zero();
    if (t.tag != V_TUPLE || at >= as_tuple(t)->n || n == 0) return true;
    tuple *s = tuple_new(m, n, n);
    if (!s) return false;
    for (uint32_t k = 0; k < n; k++) s->v[k] = part_at(t, at + k);
    *out = value_object(&s->h);
    return true;
}

/* Source 0: the function (none: all arguments are by position); 1: cotangents by position, a tuple
   that may be short, or symbolic zero; 2: a tuple of the arguments' forms. */
bool exec_unbind(struct exec *x, frame *f, const instr *i, const uint32_t *src, value *out)
{
    vm *m = x->m;
    const name_list *names = &f->run->tree->names[i->imm];
    value fn = f->r[src[0] >> 1], g = f->r[src[1] >> 1], forms = f->r[src[2] >> 1];
    bool tree = forms.tag == V_FORMOBJ && as_form(forms)->kind == V_TUPLE;
    if (forms.tag != V_TUPLE && !tree) return vm_fail(m, DIAG_INTERNAL, "no forms of the arguments");
    uint32_t n = tree ? as_form(forms)->n : as_tuple(forms)->n;
    if (names->n < n || names->n > n + 1) return vm_fail(m, DIAG_INTERNAL, "%u names for %u arguments", names->n, n);
    const symbol *name = names->names + (names->n - n); /* BIND's list starts with the function itself */
    tuple *t = tuple_new(m, n, n);
    if (!t) return false;
    *out = value_object(&t->h);
    uint64_t at = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (name[k] == 0) t->v[k] = part_at(g, at++);
        else if (name[k] == SPREAD_MARK) {
            uint32_t count = form_count(tree ? as_form(forms)->parts[k] : as_tuple(forms)->v[k]);
            if (!slice_of(m, g, at, count, &t->v[k])) {
                value_release(m, *out);
                return false;
            }
            at += count;
        } else {
            int64_t p = fn.tag == V_FUNCTION ? param_named(as_closure(fn)->code, name[k]) : -1;
            t->v[k] = p < 0 ? value_zero() : part_at(g, (uint64_t)p);
        }
    }
    for (uint32_t s = 0; s < 3; s++) operand_done(m, f->r, src[s]);
    return true;
}
