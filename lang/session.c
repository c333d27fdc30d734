/* session.c: texts over common variables.
 *
 * A text is compiled as a function of the variables there are; it returns its last value and all
 * variables as they are after it. Everything the new state needs is allocated before the old one is let
 * go of, so that a refusal changes nothing. */
#include "session.h"
#include <string.h>

void session_open(session *s, host *h) { *s = (session){.h = h}; }

static memory *memory_of(const session *s) { return &s->h->vm->mem; }

static void list_free(session *s, symbol **list, uint32_t *n)
{
    memory_free(memory_of(s), MEM_OTHER, *list, *n * sizeof **list);
    *list = NULL;
    *n = 0;
}

void session_close(session *s)
{
    if (!s->h) return;
    for (uint32_t i = 0; i < s->n; i++) value_release(s->h->vm, s->values[i]);
    memory_free(memory_of(s), MEM_OTHER, s->values, s->n * sizeof *s->values);
    list_free(s, &s->names, &s->n);
    list_free(s, &s->fns, &s->nfns);
    list_free(s, &s->after, &s->nafter);
    list_free(s, &s->defined, &s->ndefined);
    *s = (session){0};
}

static bool is_in(const symbol *list, uint32_t n, symbol name)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == name) return true;
    return false;
}

/* What the text will leave: taken from its resolved tree. */
static void inspect(void *ctx, const ast *t)
{
    session *s = ctx;
    list_free(s, &s->after, &s->nafter);
    list_free(s, &s->defined, &s->ndefined);
    uint32_t nvars = t->main->nvars, nfns = 0;
    for (const node *n = t->main->body->list; n; n = n->next) nfns += n->kind == N_FN && n->fn->top;
    symbol *after = memory_alloc(memory_of(s), MEM_OTHER, nvars * sizeof *after);
    symbol *defined = memory_alloc(memory_of(s), MEM_OTHER, nfns * sizeof *defined);
    s->no_memory = !after || !defined;
    if (s->no_memory) {
        memory_free(memory_of(s), MEM_OTHER, after, nvars * sizeof *after);
        memory_free(memory_of(s), MEM_OTHER, defined, nfns * sizeof *defined);
        return;
    }
    for (uint32_t i = 0; i < nvars; i++) after[i] = t->main->vars[i].name;
    nfns = 0;
    for (const node *n = t->main->body->list; n; n = n->next)
        if (n->kind == N_FN && n->fn->top) defined[nfns++] = n->fn->name;
    s->after = after;
    s->nafter = nvars;
    s->defined = defined;
    s->ndefined = nfns;
}

/* What was before, with a way to give its memory back. */
static void variables_free(session *s, symbol *names, value *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) value_release(s->h->vm, values[i]);
    memory_free(memory_of(s), MEM_OTHER, names, n * sizeof *names);
    memory_free(memory_of(s), MEM_OTHER, values, n * sizeof *values);
}

/* Puts the text's results in the place of what was: v[i] is the value of after[i]. */
static bool take_over(session *s, const value *v)
{
    memory *mem = memory_of(s);
    uint32_t n = 0, nfns = 0, most = s->nfns + s->ndefined;
    for (uint32_t i = 0; i < s->nafter; i++) n += v[i].tag != V_UNDEF && !is_in(s->defined, s->ndefined, s->after[i]);
    symbol *names = memory_alloc(mem, MEM_OTHER, n * sizeof *names);
    value *values = memory_alloc(mem, MEM_OTHER, n * sizeof *values);
    symbol *fns = memory_alloc(mem, MEM_OTHER, most * sizeof *fns);
    if (!names || !values || !fns) {
        memory_free(mem, MEM_OTHER, names, n * sizeof *names);
        memory_free(mem, MEM_OTHER, values, n * sizeof *values);
        memory_free(mem, MEM_OTHER, fns, most * sizeof *fns);
        return vm_out_of_memory(s->h->vm);
    }
    n = 0;
    for (uint32_t i = 0; i < s->nafter; i++) {
        if (v[i].tag == V_UNDEF || is_in(s->defined, s->ndefined, s->after[i])) continue;
        names[n] = s->after[i];
        values[n++] = value_retain(v[i]);
    }
    for (uint32_t i = 0; i < s->ndefined; i++)
        if (!is_in(fns, nfns, s->defined[i])) fns[nfns++] = s->defined[i];
    for (uint32_t i = 0; i < s->nfns; i++)
        if (!is_in(fns, nfns, s->fns[i]) && !is_in(names, n, s->fns[i])) fns[nfns++] = s->fns[i];
    symbol *fit = memory_resize(mem, MEM_OTHER, fns, most * sizeof *fns, nfns * sizeof *fns); /* shrinks: never refused */
    variables_free(s, s->names, s->values, s->n);
    list_free(s, &s->fns, &s->nfns);
    s->names = names;
    s->values = values;
    s->n = n;
    s->fns = fit;
    s->nfns = nfns;
    return true;
}

/* --- notes on captured variables ---------------------------------------------------------------- */

static const value *variable_now(const session *s, symbol name)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->names[i] == name) return &s->values[i];
    return NULL;
}

static bool same_value(value a, value b) { return a.tag == b.tag && (value_is_heap(a) ? a.u.o == b.u.o : value_same(a, b)); }

static bool captures(const code *c, symbol name)
{
    for (uint32_t i = 0; i < c->ncaptures; i++)
        if (c->reg_names[c->body->params[i]] == name) return true;
    return false;
}

/* A note when `name` has another value now and `f`, called `called`, was made when it had the old one. */
static void note_capture(session *s, symbol name, value f, symbol called)
{
    if (f.tag != V_FUNCTION || called == name || !captures(as_closure(f)->code, name)) return;
    symbols *y = s->h->vm->symbols;
    diag *d = diag_new(memory_of(s), SEVERITY_NOTE, DIAG_CAPTURE, "the function `%s` keeps the value that `%s` had when it was made",
                       symbol_name(y, called), symbol_name(y, name));
    if (d) host_show(s->h, d);
}

/* After an entry: functions that were there before captured the values variables had then. */
static void note_captures(session *s, const value *v)
{
    for (uint32_t i = 0; i < s->nafter; i++) {
        const value *old = variable_now(s, s->after[i]);
        if (!old || v[i].tag == V_UNDEF || same_value(*old, v[i])) continue;
        for (uint32_t k = 0; k < s->nafter; k++) {
            const value *f = variable_now(s, s->after[k]);
            if (f && same_value(*f, v[k])) note_capture(s, s->after[i], *f, s->after[k]);
        }
        for (uint32_t k = 0; k < s->nfns; k++) {
            const value *f = table_get(s->h->vm->globals, s->fns[k]);
            if (f && !is_in(s->defined, s->ndefined, s->fns[k])) note_capture(s, s->after[i], *f, s->fns[k]);
        }
    }
}

/* --- running ------------------------------------------------------------------------------------ */

static bool run(session *s, code *c, bool keep, value *out)
{
    vm *m = s->h->vm;
    closure *fn = closure_new(m, c, 0);
    if (!fn) return false;
    random_state random = m->random;
    value globals = value_retain(m->globals), all, f = value_object(&fn->h);
    bool fine = vm_call(m, f, s->values, s->n, &all, 1);
    value_release(m, f);
    if (fine) {
        const tuple *t = as_tuple(all);
        if (keep && s->notes) note_captures(s, t->v + 1);
        fine = !keep || take_over(s, t->v + 1);
        if (fine) *out = t->v[0].tag == V_UNDEF ? value_none() : value_retain(t->v[0]);
        value_release(m, all);
    }
    if (fine) value_release(m, globals);
    else {
        m->random = random;
        value_release(m, m->globals);
        m->globals = globals;
    }
    return fine;
}

bool session_run(session *s, const char *name, const char *text_, size_t length, value *out)
{
    vm *m = s->h->vm;
    *out = value_undef();
    source *src = source_new(&m->mem, name, text_, length);
    if (!src) return vm_out_of_memory(m);
    diag *diags = NULL;
    compile_options o = {
        .module = "", .result = EMIT_ENTRY, .vars = s->names, .nvars = s->n, .fns = s->fns, .nfns = s->nfns, .inspect = inspect, .ctx = s};
    s->no_memory = false;
    code *c = host_compile(s->h, src, &o, &diags, NULL);
    source_release(src);
    if (!c && !m->error) {
        diag **p = &diags;
        while (*p && (*p)->severity != SEVERITY_ERROR) p = &(*p)->next;
        if (*p) {
            m->error = *p;
            *p = m->error->next;
            m->error->next = NULL;
        } else vm_fail(m, DIAG_SYNTAX, "the text stops in the middle");
    }
    host_show(s->h, diags);
    if (c && s->no_memory) vm_out_of_memory(m);
    bool fine = c && !s->no_memory && run(s, c, true, out);
    code_release(c);
    return fine;
}

static session_status enter(session *s, const char *name, const char *text_, size_t n, bool last, bool keep, value *out)
{
    vm *m = s->h->vm;
    value v = value_undef();
    if (out) *out = v;
    source *src = source_new(&m->mem, name, text_, n);
    diag *diags = NULL;
    bool more = false;
    compile_options o = {.module = "",
                         .result = EMIT_ENTRY,
                         .notes = s->notes,
                         .repl = !last,
                         .vars = s->names,
                         .nvars = s->n,
                         .fns = s->fns,
                         .nfns = s->nfns,
                         .inspect = inspect,
                         .ctx = s};
    s->no_memory = false;
    if (!src) vm_out_of_memory(m);
    code *c = src ? host_compile(s->h, src, &o, &diags, &more) : NULL;
    if (src) source_release(src);
    if (more && !last) {
        code_release(c);
        diag_free(diags);
        return SESSION_MORE;
    }
    host_show(s->h, diags);
    if (c && s->no_memory) vm_out_of_memory(m);
    bool fine = c && !s->no_memory && run(s, c, keep, &v);
    session_status status = fine ? SESSION_FINE : c || m->error ? SESSION_FAILED : SESSION_WRONG;
    if (!fine) host_show_error(s->h);
    code_release(c);
    if (fine && out) *out = v;
    else value_release(m, v);
    return status;
}

session_status session_enter(session *s, const char *name, const char *text_, size_t n, bool last, value *out)
{
    return enter(s, name, text_, n, last, true, out);
}

bool session_eval(session *s, const char *expression, value *out)
{
    return enter(s, "<command>", expression, strlen(expression), true, false, out) == SESSION_FINE;
}

const value *session_get(const session *s, symbol name)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->names[i] == name) return &s->values[i];
    return is_in(s->fns, s->nfns, name) ? table_get(s->h->vm->globals, name) : NULL;
}

bool session_set(session *s, symbol name, value v)
{
    vm *m = s->h->vm;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->names[i] == name) {
            value before = s->values[i];
            s->values[i] = value_retain(v);
            value_release(m, before);
            return true;
        }
    size_t n = s->n;
    symbol *names = memory_alloc(&m->mem, MEM_OTHER, (n + 1) * sizeof *names);
    value *values = memory_alloc(&m->mem, MEM_OTHER, (n + 1) * sizeof *values);
    if (!names || !values) {
        memory_free(&m->mem, MEM_OTHER, names, (n + 1) * sizeof *names);
        memory_free(&m->mem, MEM_OTHER, values, (n + 1) * sizeof *values);
        return vm_out_of_memory(m);
    }
    if (n) memcpy(names, s->names, n * sizeof *names);
    if (n) memcpy(values, s->values, n * sizeof *values);
    names[n] = name;
    values[n] = value_retain(v);
    memory_free(&m->mem, MEM_OTHER, s->names, n * sizeof *names);
    memory_free(&m->mem, MEM_OTHER, s->values, n * sizeof *values);
    s->names = names;
    s->values = values;
    s->n++;
    for (uint32_t i = 0; i < s->nfns; i++)
        if (s->fns[i] == name) {
            s->fns[i] = s->fns[s->nfns - 1];
            s->fns = memory_resize(&m->mem, MEM_OTHER, s->fns, s->nfns * sizeof *s->fns, (s->nfns - 1) * sizeof *s->fns);
            s->nfns--;
            break;
        }
    return true;
}
