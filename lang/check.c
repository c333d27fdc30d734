/* check.c: the checker's walk.
 *
 * In goes a parsed tree, out comes the same tree with every name resolved, and diagnostics in order of
 * the text. A function's assigned names are collected when it is entered (check_names.c); then its body
 * is visited with an explicit stack, so that neither long lists nor deep nesting need any C stack. */
#include "check_parts.h"
#include "modules.h"
#include <math.h>
#include <string.h>

enum { S_NODE, S_LIST, S_FN_END, S_CONTEXT };
enum { ERRORS_SHOWN = 25 };

void *checker_take(checker *c, size_t bytes)
{
    void *p = arena_alloc(&c->t->arena, bytes ? bytes : 1);
    if (!p) c->no_memory = true;
    return p;
}

diag *checker_report(checker *c, severity s, diag_code kind, span at, const char *fmt, ...)
{
    if (s == SEVERITY_ERROR && ++c->nerrors > ERRORS_SHOWN) return NULL;
    text t;
    text_open(&t, c->m);
    va_list ap;
    va_start(ap, fmt);
    text_vprintf(&t, fmt, ap);
    va_end(ap);
    diag *d = diag_new(c->m, s, kind, "%s", text_str(&t));
    text_close(&t);
    if (!d) return NULL;
    diag_label_add(d, at, "%s", "");
    if (c->last) c->last->next = d;
    else c->first = d;
    c->last = d;
    return d;
}

bool checker_push(checker *c, step s)
{
    if (c->n == c->cap) {
        uint32_t cap = c->cap ? c->cap * 2 : 64;
        step *stack = memory_resize(c->m, MEM_AST, c->stack, c->cap * sizeof *stack, cap * sizeof *stack);
        if (!stack) {
            c->no_memory = true;
            return false;
        }
        c->stack = stack;
        c->cap = cap;
    }
    c->stack[c->n++] = s;
    return true;
}

/* --- names ------------------------------------------------------------------------------------ */

static const char *foreign_name(const char *name)
{
    static const struct {
        const char *theirs, *ours;
    } rows[] = {
        {"True", "true"},    {"False", "false"}, {"None", "none"}, {"null", "none"},   {"nil", "none"},   {"NaN", "nan"},
        {"elif", "else if"}, {"lambda", "fn"},   {"def", "fn"},    {"function", "fn"}, {"let", NULL},     {"var", NULL},
        {"pow", "^"},        {"length", "len"},  {"float", "f64"}, {"int", "i64"},     {"str", "format"}, {"println", "print"},
        {"printf", "print"}, {"array", "[…]"},   {"pinv", "inv"},  {"matmul", "@"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(name, rows[i].theirs)) return rows[i].ours;
    return NULL;
}

/* Names for which one word is no answer. */
static const char *foreign_habit(const char *name)
{
    static const char *const modules[] = {"np", "numpy", "jnp", "jax", "torch", "tf", "math", "scipy", "plt"};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (!strcmp(name, modules[i])) return "a builtin stands by itself: `mean(x)`; the modules are imported, as `import \"nn\" as nn`";
    return !strcmp(name, "range")  ? "count with a range: `0..n`"
           : !strcmp(name, "dict") ? "a record is written `{w: a, b: c}`"
           : !strcmp(name, "list") ? "a tuple is written `(a, b)`, an array `[1, 2]`"
                                   : NULL;
}

static void unknown_name(checker *c, scope *s, node *n)
{
    if (slot_find(c, UINT32_MAX - 2, n->name)) return; /* said already */
    slot_put(c, UINT32_MAX - 2, n->name, SLOT_REPORTED, 0);
    const char *name = symbol_name(c->symbols, n->name);
    diag *d = checker_report(c, SEVERITY_ERROR, DIAG_NAME, n->at, "unknown name `%s`", name);
    if (!d) return;
    for (const struct stdlib_module *m = stdlib_modules; m->name; m++)
        if (!strcmp(m->name, name)) {
            diag_help_set(d, "import \"%s\" as %s", name, name);
            return;
        }
    const char *meant = foreign_name(name), *habit = foreign_habit(name);
    if (habit) {
        diag_help_set(d, "%s", habit);
        return;
    }
    if (!meant) meant = checker_nearest(c, s, name);
    if (meant) diag_help_set(d, "did you mean `%s`?", meant);
}

static void visit_name(checker *c, scope *s, node *n)
{
    n->ref = scope_find(c, s, n->name, n->at, true);
    if (c->o->notes && n->ref.kind == REF_LOCAL && !slot_find(c, s->id | SCOPE_READS, n->name))
        slot_put(c, s->id | SCOPE_READS, n->name, SLOT_REPORTED, 0);
    if (n->ref.kind == REF_UNKNOWN && !strcmp(symbol_name(c->symbols, n->name), "pi")) {
        /* The one builtin that is a number: weak, like a literal. */
        n->kind = N_NUMBER;
        n->number = M_PI;
        return;
    }
    if (n->ref.kind == REF_UNKNOWN && !c->no_memory) unknown_name(c, s, n);
}

/* --- statements ------------------------------------------------------------------------------- */

static const char *jump_word(const node *n) { return n->kind == N_BREAK ? "break" : n->kind == N_CONTINUE ? "continue" : "return"; }

static void visit_jump(checker *c, scope *s, node *n)
{
    const char *word = jump_word(n);
    if (s->in_condition) checker_report(c, SEVERITY_ERROR, DIAG_SYNTAX, n->at, "`%s` cannot stand in the condition of a loop", word);
    else if (n->kind == N_RETURN && !s->outer)
        checker_report(c, SEVERITY_ERROR, DIAG_SYNTAX, n->at, "`return` stands outside of any function");
    else if (n->kind != N_RETURN && s->loops == 0)
        checker_report(c, SEVERITY_ERROR, DIAG_SYNTAX, n->at, "`%s` stands outside of any loop%s", word,
                       s->outer ? " of its function" : "");
}

/* The source of a node when it is short and on one line. */
static const char *short_source(const checker *c, const node *n, char out[64])
{
    uint32_t k = n->at.hi - n->at.lo;
    if (!n->at.src || k >= 60 || memchr(n->at.src->text + n->at.lo, '\n', k)) return NULL;
    memcpy(out, n->at.src->text + n->at.lo, k);
    out[k] = 0;
    return out;
}

/* A statement that only computes something, and is not its block's value. */
static void unused_result(checker *c, const node *n)
{
    if (n->kind != N_BINARY && n->kind != N_UNARY && n->kind != N_TRANSPOSE) return;
    diag *d = checker_report(c, SEVERITY_WARNING, DIAG_UNUSED, n->at, "nothing is done with the result of this");
    char left[64], right[64];
    if (!d || n->kind != N_BINARY || (n->a->kind != N_NAME && n->a->kind != N_FIELD && n->a->kind != N_INDEX)) return;
    if (!short_source(c, n->a, left) || !short_source(c, n->b, right)) return;
    if (n->oper == OP_EQ) diag_help_set(d, "to assign, write `%s = %s`", left, right);
    else if (n->oper >= OP_ADD && n->oper <= OP_POW && n->oper != OP_NEG && n->oper != OP_FLOORDIV && n->oper != OP_MOD)
        diag_help_set(d, "values do not change by themselves; write `%s %s= %s`", left, oper_name(n->oper), right);
}

/* A comparison for equality with a number that has digits behind the point. */
static void compared_floats(checker *c, const node *n)
{
    if (!c->o->notes || (n->oper != OP_EQ && n->oper != OP_NE)) return;
    const node *number = n->b->kind == N_NUMBER ? n->b : n->a->kind == N_NUMBER ? n->a : NULL;
    if (!number || number->whole || number->number == (double)(int64_t)number->number) return;
    diag *d = checker_report(c, SEVERITY_NOTE, DIAG_VALUE, n->op_at, "a computed float is rarely equal to a number that was written");
    char left[64], right[64];
    if (d && short_source(c, n->a, left) && short_source(c, n->b, right))
        diag_help_set(d, "compare with a tolerance: `abs(%s - %s) %s 1e-9`", left, right, n->oper == OP_EQ ? "<" : ">=");
}

static void visit_block(checker *c, node *block)
{
    for (const node *n = block->list; n && n->next; n = n->next) unused_result(c, n);
    for (node *n = block->list; n && n->next; n = n->next)
        if (n->kind == N_BREAK || n->kind == N_CONTINUE || n->kind == N_RETURN) {
            diag *d = checker_report(c, SEVERITY_WARNING, DIAG_UNREACHABLE, n->next->at, "this is never reached");
            diag_label_add(d, n->at, "because of this `%s`", jump_word(n));
            return;
        }
}

static void visit_fn(checker *c, scope *outer, node *n)
{
    function *f = n->fn;
    for (param *p = f->params; p; p = p->next)
        if (p->deflt) checker_push(c, (step){.kind = S_NODE, .n = p->deflt, .scope = outer});
    scope *s = scope_enter(c, f, outer);
    if (!s) return;
    s->before = c->newest;
    c->newest = s;
    if (f->body) checker_push(c, (step){.kind = S_NODE, .n = f->body, .scope = s});
}

static void visit_loop(checker *c, scope *s, node *n)
{
    /* In reverse: what is pushed last is visited first. */
    step back = {.kind = S_CONTEXT, .scope = s, .saved = s->loops, .flag = s->in_condition};
    step body = {.kind = S_CONTEXT, .scope = s, .saved = s->loops + 1, .flag = false};
    checker_push(c, back);
    if (n->kind == N_FOR) {
        checker_push(c, (step){.kind = S_NODE, .n = n->c, .scope = s});
        checker_push(c, body);
        checker_push(c, (step){.kind = S_NODE, .n = n->a, .scope = s});
        checker_push(c, (step){.kind = S_NODE, .n = n->b, .scope = s});
        /* A jump in what is gone over would leave the loop around, but the loop's assigned set is one. */
        checker_push(c, (step){.kind = S_CONTEXT, .scope = s, .saved = s->loops, .flag = true});
    } else {
        checker_push(c, (step){.kind = S_NODE, .n = n->b, .scope = s});
        checker_push(c, body);
        checker_push(c, (step){.kind = S_NODE, .n = n->a, .scope = s});
        checker_push(c, (step){.kind = S_CONTEXT, .scope = s, .saved = s->loops, .flag = true});
    }
}

static void visit(checker *c, scope *s, node *n)
{
    switch (n->kind) {
    case N_NAME: visit_name(c, s, n); return;
    case N_BREAK:
    case N_CONTINUE: visit_jump(c, s, n); return;
    case N_RETURN: visit_jump(c, s, n); break;
    case N_BLOCK: visit_block(c, n); break;
    case N_BINARY: compared_floats(c, n); break;
    case N_FN:
        if (n->fn->name && !n->fn->top) n->ref = scope_find(c, s, n->fn->name, n->op_at, false);
        visit_fn(c, s, n);
        return;
    case N_ASSIGN:
        if (n->a->kind != N_NAME || n->oper != OP_NONE) break;
        n->a->ref = scope_find(c, s, n->a->name, n->a->at, false);
        checker_push(c, (step){.kind = S_NODE, .n = n->b, .scope = s});
        return;
    case N_IMPORT: n->ref = scope_find(c, s, n->name, n->at, false); return;
    case N_FOR:
    case N_WHILE: visit_loop(c, s, n); return;
    case N_CHECKPOINT:
        check_options_of(c, s, n);
        checker_push(c, (step){.kind = S_NODE, .n = n->b, .scope = s});
        return;
    case N_CALL:
        if (n->a->kind == N_NAME) {
            visit_name(c, s, n->a);
            check_call(c, s, n);
            if (n->list) checker_push(c, (step){.kind = S_LIST, .n = n->list, .scope = s});
            return;
        }
        break;
    default: break;
    }
    if (n->list) checker_push(c, (step){.kind = S_LIST, .n = n->list, .scope = s});
    if (n->c) checker_push(c, (step){.kind = S_NODE, .n = n->c, .scope = s});
    if (n->b) checker_push(c, (step){.kind = S_NODE, .n = n->b, .scope = s});
    if (n->a) checker_push(c, (step){.kind = S_NODE, .n = n->a, .scope = s});
}

static void walk(checker *c, scope *main)
{
    checker_push(c, (step){.kind = S_NODE, .n = main->fn->body, .scope = main});
    while (c->n && !c->no_memory) {
        step e = c->stack[--c->n];
        if (e.kind == S_CONTEXT) {
            e.scope->loops = e.saved;
            e.scope->in_condition = e.flag;
            continue;
        }
        if (e.kind == S_LIST && e.n->next) checker_push(c, (step){.kind = S_LIST, .n = e.n->next, .scope = e.scope});
        if (e.n) visit(c, e.scope, e.n);
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

/* The REPL's variables enter `main` as parameters. */
static void add_existing(checker *c, function *main)
{
    param **to = &main->params;
    for (uint32_t i = 0; i < c->o->nvars; i++) {
        param *p = checker_take(c, sizeof *p);
        if (!p) return;
        p->name = c->o->vars[i];
        p->at = (span){c->t->src, 0, 0};
        *to = p;
        to = &p->next;
    }
    main->nparams = c->o->nvars;
}

static bool warn_before(const diag *a, const diag *b)
{
    span x = a->nlabels ? a->labels[0].at : (span){0}, y = b->nlabels ? b->labels[0].at : (span){0};
    return x.lo <= y.lo;
}

/* By place, stable: merge sort of a list. */
static diag *in_order(diag *d)
{
    if (!d || !d->next) return d;
    diag *slow = d, *fast = d->next;
    while (fast && fast->next) slow = slow->next, fast = fast->next->next;
    diag *b = in_order(slow->next);
    slow->next = NULL;
    diag *a = in_order(d), *first = NULL, **to = &first;
    while (a && b) {
        diag **from = warn_before(a, b) ? &a : &b;
        *to = *from;
        *from = (*from)->next;
        to = &(*to)->next;
    }
    *to = a ? a : b;
    return first;
}

/* A function that assigns a name it never reads, while there is one outside: the outer one was meant. */
static void note_own_variables(checker *c, const scope *main)
{
    for (const scope *s = c->newest; s && c->o->notes && !c->no_memory; s = s->before)
        for (uint32_t k = 0; k < s->fn->nvars; k++) {
            const variable *v = &s->fn->vars[k];
            if (v->is_param || !v->name || !slot_find(c, main->id, v->name) || slot_find(c, s->id | SCOPE_READS, v->name)) continue;
            const char *name = symbol_name(c->symbols, v->name);
            diag *d = checker_report(c, SEVERITY_NOTE, DIAG_CAPTURE, v->first_assigned,
                                     "this `%s` is the function's own; the one outside does not change", name);
            diag_help_set(d, "return the new value, and assign it outside: `%s = …`", name);
        }
}

bool check(ast *t, const check_options *o, checked *out, diag **diags)
{
    checker c = {.m = t->arena.m, .t = t, .symbols = t->symbols, .o = o, .out = out};
    *out = (checked){0};
    *diags = NULL;
    add_existing(&c, t->main);
    collect_tops(&c, t->main->body);
    scope *main = c.no_memory ? NULL : scope_enter(&c, t->main, NULL);
    /* A name that is assigned as well as defined by `fn` is a variable like any other. */
    for (node *n = t->main->body->list; main && n; n = n->next)
        if (n->kind == N_FN && n->fn->top) {
            if (!slot_find(&c, main->id, n->fn->name)) continue;
            n->fn->top = false;
            scope_var(&c, main, n->fn->name, n->op_at, false);
        }
    if (main) walk(&c, main);
    if (main) note_own_variables(&c, main);
    if (c.nerrors > ERRORS_SHOWN) {
        diag *d = diag_new(c.m, SEVERITY_ERROR, DIAG_SYNTAX, "and %u more errors", c.nerrors - ERRORS_SHOWN);
        if (d && c.last) c.last->next = d;
    }
    *diags = in_order(c.first);
    memory_free(c.m, MEM_AST, c.slots, c.nslots * sizeof *c.slots);
    memory_free(c.m, MEM_AST, c.stack, c.cap * sizeof *c.stack);
    memory_free(c.m, MEM_AST, c.log, c.log_cap * sizeof *c.log);
    memory_free(c.m, MEM_AST, c.stamp, c.nstamp * sizeof *c.stamp);
    if (c.no_memory) {
        diag_free(*diags);
        *diags = NULL;
        return false;
    }
    return c.nerrors == 0;
}
