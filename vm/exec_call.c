/* exec_call.c: entering a function and handing back what it returns.
 *
 * In goes a function value and arguments, as operands of the caller or as an array; out comes a frame
 * with captures and parameters in their slots. Nothing is consumed unless the frame stands. When the
 * call holds the last reference to a closure, its captures are moved into the frame and die there one
 * by one: that is how an adjoint program lets go of what the forward pass kept. */
#include "run.h"
#include <string.h>

bool not_a_function(vm *m, value v)
{
    text t;
    text_open(&t, &m->mem);
    value_describe(m, v, &t);
    if (v.tag == V_ARRAY || value_is_scalar(v)) {
        vm_fail(m, DIAG_TYPE, "this is not a function but %s%s%s", value_a_type(v), v.tag == V_ARRAY ? ", " : "",
                v.tag == V_ARRAY ? text_str(&t) : "");
        if (v.tag == V_ARRAY) vm_help(m, "an element is written `x[i]`");
    } else vm_fail(m, DIAG_TYPE, "this is not a function but %s", v.tag == V_NONE ? "none" : text_str(&t));
    text_close(&t);
    return false;
}

bool arity_error(vm *m, const code *c, uint32_t n)
{
    text t;
    text_open(&t, &m->mem);
    for (; c->role == CODE_JVP && c->primal; c = c->primal) n -= n > 0; /* the first argument is the tangents, which nobody wrote */
    uint32_t fixed = c->nparams - c->rest, least = c->required < fixed ? c->required : fixed;
    const char *count = c->rest || least < fixed ? (n < least ? "at least " : "at most ") : "";
    uint32_t want = n < least ? least : fixed;
    text_printf(&t, "%s takes %s%u argument%s", code_display_name(c), count, want, want == 1 ? "" : "s");
    if (c->nparams) {
        text_puts(&t, " (");
        for (uint32_t i = 0; i < c->nparams; i++)
            text_printf(&t, "%s%s%s", i ? ", " : "", symbol_name(m->symbols, c->param_names[i]),
                        c->rest && i + 1 == c->nparams ? "..." : "");
        text_puts(&t, ")");
    }
    text_printf(&t, ", and %u %s given", n, n == 1 ? "is" : "are");
    vm_fail(m, DIAG_ARITY, "%s", text_str(&t));
    text_close(&t);
    return false;
}

call_args args_of_tuple(value *r, uint32_t operand)
{
    value v = r[operand >> 1];
    tuple *t = as_tuple(v);
    return (call_args){.v = t->v, .n = t->n, .own = (operand & 1) && t->h.refs == 1};
}

static inline value arg_take(const call_args *a, uint32_t i)
{
    if (a->words) return operand_take(a->regs, a->words[i]);
    value v = a->v[i];
    if (a->own) a->v[i].tag = V_UNDEF;
    else value_retain(v);
    return v;
}

static void captures_in(vm *m, frame *f, closure *k)
{
    const run *r = f->run;
    if (k->h.refs == 1 && !r->uses_self) {
        for (uint32_t i = 0; i < k->n; i++) {
            value v = k->captures[i];
            k->captures[i].tag = V_UNDEF;
            if (k->residual) value_unhold(m, v);
            if (r->entry[i] != SLOT_NONE) f->r[r->entry[i]] = v;
            else value_release(m, v);
        }
        return;
    }
    for (uint32_t i = 0; i < k->n; i++)
        if (r->entry[i] != SLOT_NONE) f->r[r->entry[i]] = value_retain(k->captures[i]);
}

frame *exec_enter(struct exec *x, value fn, bool own_fn, const call_args *a, frame_kind kind)
{
    vm *m = x->m;
    if (fn.tag != V_FUNCTION) {
        not_a_function(m, fn);
        return NULL;
    }
    closure *k = as_closure(fn);
    code *c = k->code;
    const run *r = c->run ? c->run : run_of(m, c);
    if (!r) return NULL;
    uint32_t n = a->n, fixed = c->nparams - c->rest;
    if (n > fixed && !c->rest) {
        arity_error(m, c, n);
        return NULL;
    }
    if (n < c->required && n < fixed) {
        arity_error(m, c, n);
        return NULL;
    }
    tuple *rest = NULL;
    if (c->rest) {
        uint32_t extra = n > fixed ? n - fixed : 0;
        if (!(rest = tuple_new(m, extra, extra))) return NULL;
    }
    frame *f = frame_push(x, r, &k->h, kind);
    if (!f) {
        if (rest) value_release(m, value_object(&rest->h));
        return NULL;
    }
    if (!own_fn) k->h.refs++;
    if (k->n) captures_in(m, f, k);
    const uint32_t *entry = r->entry + c->ncaptures;
    uint32_t given = n < fixed ? n : fixed;
    for (uint32_t i = 0; i < given; i++) {
        value v = arg_take(a, i);
        if (entry[i] != SLOT_NONE) f->r[entry[i]] = v;
        else value_release(m, v);
    }
    if (rest) {
        for (uint32_t i = 0; i < rest->n; i++) rest->v[i] = arg_take(a, fixed + i);
        if (entry[fixed] != SLOT_NONE) f->r[entry[fixed]] = value_object(&rest->h);
        else value_release(m, value_object(&rest->h));
    }
    return f;
}

/* Symbolic zeros for a call of nothing; its operands are let go. */
static bool call_nothing(vm *m, frame *f, const uint32_t *w)
{
    uint32_t nd = w[2], ns = w[3];
    for (uint32_t i = 0; i < ns; i++) operand_done(m, f->r, w[4 + nd + i]);
    for (uint32_t i = 0; i < nd; i++) f->r[w[4 + i]] = value_zero();
    return true;
}

bool exec_call(struct exec *x, frame *f, const uint32_t *w)
{
    vm *m = x->m;
    uint32_t flags = w[1], nd = w[2];
    const uint32_t *src = w + 4 + nd;
    value *r = f->r;
    value fn = r[src[0] >> 1];
    if (fn.tag != V_FUNCTION && flags & CALL_LENIENT && (fn.tag == V_NONE || fn.tag == V_ZERO)) return call_nothing(m, f, w);
    /* The function's own register may be an argument as well (f(f)): then that is the one that dies. */
    bool own = src[0] & 1;
    m->fail_arg = 0;
    if (!(flags & CALL_SPREAD)) {
        call_args a = {.words = src + 1, .regs = r, .n = w[3] - 1};
        if (!exec_enter(x, fn, own, &a, FRAME_CALL)) return false;
        if (own) r[src[0] >> 1].tag = V_UNDEF;
        return true;
    }
    value t = r[src[1] >> 1];
    if (t.tag != V_TUPLE) return vm_fail(m, DIAG_TYPE, "`...` spreads a tuple, and this is %s", value_a_type(t));
    call_args a = args_of_tuple(r, src[1]);
    if (!exec_enter(x, fn, own, &a, FRAME_CALL)) return false;
    if (own) r[src[0] >> 1].tag = V_UNDEF;
    operand_done(m, r, src[1]);
    return true;
}

/* --- results -------------------------------------------------------------------------------- */

static bool results_mismatch(struct exec *x, value *v, uint32_t n, uint32_t want)
{
    for (uint32_t i = 0; i < n; i++) value_release(x->m, v[i]);
    return vm_fail(x->m, DIAG_INTERNAL, "a call that gives %u results where %u are expected", n, want);
}

static bool results_pack(struct exec *x, frame *f, uint32_t d, value *v, uint32_t n)
{
    tuple *t = tuple_new(x->m, n, n);
    for (uint32_t i = 0; i < n; i++)
        if (t) t->v[i] = v[i];
        else value_release(x->m, v[i]);
    if (!t) return false;
    f->r[d] = value_object(&t->h);
    return true;
}

bool exec_results(struct exec *x, frame *f, const uint32_t *w, value *v, uint32_t n)
{
    uint32_t want = w[2];
    const uint32_t *d = w + 4;
    bool call = (run_op)(uint8_t)*w == RUN_CALL;
    if (call && w[1] & CALL_PACK) return results_pack(x, f, d[0], v, n);
    if (n != want) return results_mismatch(x, v, n, want);
    for (uint32_t i = 0; i < want; i++) f->r[d[i]] = v[i];
    return true;
}
