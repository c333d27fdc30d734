/* check_calls.c: arguments of calls whose function is known before the program runs: builtins, by
 * their signatures, and top-level functions that are defined once. */
#include "check_parts.h"
#include <string.h>

typedef struct sig {
    const char *name;
    const prim_param *params;
    uint32_t n;
    span defined; /* src NULL: a builtin */
    bool intrinsic;
} sig;

static bool sig_of(checker *c, const node *callee, sig *out)
{
    if (callee->ref.kind == REF_BUILTIN) {
        bool known;
        out->params = builtin_params(c->o->builtins, callee->ref.index, &out->n, &known);
        out->name = builtin_name(c->o->builtins, callee->ref.index);
        return known && builtin_intrinsic(c->o->builtins, callee->ref.index) < 0;
    }
    if (callee->ref.kind != REF_TOP) return false;
    slot *k = slot_find(c, UINT32_MAX - 1, callee->name);
    if (!k || c->tops[k->index].count != 1) return false;
    const function *f = c->tops[k->index].fn;
    prim_param *params = checker_take(c, f->nparams * sizeof *params);
    if (!params) return false;
    uint32_t i = 0;
    for (const param *p = f->params; p; p = p->next)
        params[i++] = (prim_param){.name = p->name, .optional = p->deflt != NULL, .rest = p->rest};
    *out = (sig){symbol_name(c->symbols, f->name), params, f->nparams, f->head, false};
    return true;
}

/* "f(x, w, b = …)" */
static void print_sig(checker *c, const sig *s, text *t)
{
    text_printf(t, "%s(", s->name);
    for (uint32_t i = 0; i < s->n; i++)
        text_printf(t, "%s%s%s", i ? ", " : "", symbol_name(c->symbols, s->params[i].name),
                    s->params[i].rest       ? "..."
                    : s->params[i].optional ? " = …"
                                            : "");
    text_puts(t, ")");
}

static void add_sig(checker *c, diag *d, const sig *s)
{
    if (!d) return;
    text t;
    text_open(&t, c->m);
    print_sig(c, s, &t);
    if (s->defined.src) diag_label_add(d, s->defined, "%s is defined here", s->name);
    else diag_note_add(d, "it is called as `%s`", text_str(&t));
    text_close(&t);
}

/* The call as it was written, with the argument it wants. */
static void help_needs(diag *d, const node *call, const char *name)
{
    const source *src = call->at.src;
    size_t n = call->at.hi - call->at.lo;
    const char *s = src ? src->text + call->at.lo : NULL;
    if (!s || n < 2 || n > 60 || memchr(s, '\n', n) || s[n - 1] != ')') return;
    for (n--; n && (s[n - 1] == ' ' || s[n - 1] == ','); n--) continue;
    diag_help_set(d, "write `%.*s%s%s = …)`", (int)n, s, s[n - 1] == '(' ? "" : ", ", name);
}

static int64_t param_named(const sig *s, symbol name)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->params[i].name == name) return i;
    return -1;
}

static void unknown_param(checker *c, const sig *s, const node *arg)
{
    const char *name = symbol_name(c->symbols, arg->name);
    diag *d = checker_report(c, SEVERITY_ERROR, DIAG_ARITY, arg->op_at, "%s() has no parameter `%s`", s->name, name);
    if (!d) return;
    const char **names = memory_alloc(c->m, MEM_AST, (s->n + 1) * sizeof *names);
    if (names) {
        for (uint32_t i = 0; i < s->n; i++) names[i] = symbol_name(c->symbols, s->params[i].name);
        const char *near = nearest_name(name, names, s->n);
        if (near) diag_help_set(d, "did you mean `%s`?", near);
        memory_free(c->m, MEM_AST, names, (s->n + 1) * sizeof *names);
    }
    add_sig(c, d, s);
}

static const char *plural(uint32_t n) { return n == 1 ? "" : "s"; }

void check_call(checker *c, scope *s, node *call)
{
    (void)s;
    sig g = {0};
    if (!sig_of(c, call->a, &g)) return;
    uint32_t positional = 0, least = 0, rest = UINT32_MAX;
    bool spread = false;
    for (const node *e = call->list; e; e = e->next) {
        if (e->kind == N_SPREAD) spread = true;
        else if (e->kind == N_ERROR) return;
        else if (e->kind != N_NAMED) positional++;
    }
    for (uint32_t i = 0; i < g.n; i++) {
        if (g.params[i].rest) rest = i;
        else if (!g.params[i].optional) least++;
    }
    if (!spread && rest == UINT32_MAX && positional > g.n) {
        const node *extra = call->list;
        for (uint32_t i = 0; i < g.n; i++) extra = extra->next;
        diag *d = checker_report(c, SEVERITY_ERROR, DIAG_ARITY, extra->at, "%s() takes %s%u argument%s, and %u are given", g.name,
                                 least < g.n ? "at most " : "", g.n, plural(g.n), positional);
        add_sig(c, d, &g);
        return;
    }
    bool *given = checker_take(c, g.n + 1);
    if (!given) return;
    for (uint32_t i = 0; i < g.n && i < positional; i++) given[i] = true;
    for (const node *e = call->list; e; e = e->next) {
        if (e->kind != N_NAMED) continue;
        int64_t i = param_named(&g, e->name);
        if (i < 0 || g.params[i].rest) {
            unknown_param(c, &g, e);
            return;
        }
        if ((uint32_t)i < positional) {
            checker_report(c, SEVERITY_ERROR, DIAG_ARITY, e->op_at, "%s() is given `%s` by position and by name", g.name,
                           symbol_name(c->symbols, e->name));
            return;
        }
        given[i] = true;
    }
    if (spread) return;
    for (uint32_t i = 0; i < g.n; i++) {
        if (g.params[i].optional || g.params[i].rest || given[i]) continue; /* a rest parameter is the last */
        diag *d = checker_report(c, SEVERITY_ERROR, DIAG_ARITY, call->at, "%s() needs `%s`", g.name,
                                 symbol_name(c->symbols, g.params[i].name));
        add_sig(c, d, &g);
        help_needs(d, call, symbol_name(c->symbols, g.params[i].name));
        return;
    }
}
