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

static bool run(session *s, code *c, value *out)
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
        fine = take_over(s, t->v + 1);
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
    compile_options o = {.module = "", .result = EMIT_ENTRY, .vars = s->names, .nvars = s->n, .fns = s->fns, .nfns = s->nfns,
                         .inspect = inspect, .ctx = s};
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
    bool fine = c && !s->no_memory && run(s, c, out);
    code_release(c);
    return fine;
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
