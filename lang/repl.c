/* repl.c: the REPL, line by line.
 *
 * An entry is compiled as a function of the variables there are; it returns its last value and all
 * variables as they are after it. Only when it succeeds do they take the place of the old ones, so a
 * failed entry leaves every variable, the top-level functions and the random state as they were. */
#include "command.h"
#include "../vm/print.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct repl {
    host *h;
    symbol *names; value *values; uint32_t n, cap;  /* variables */
    symbol *fns; uint32_t nfns, fns_cap;            /* top-level functions */
    symbol *after; uint32_t nafter;                 /* variables after the entry being compiled */
    symbol *defined; uint32_t ndefined;             /* functions it defines */
    bool no_memory;
} repl;

static bool room(symbol **list, uint32_t n)
{
    symbol *p = realloc(*list, (n + 1) * sizeof *p);
    if (!p) return false;
    *list = p;
    return true;
}

/* What the entry will leave: taken from its resolved tree. */
static void inspect(void *ctx, const ast *t)
{
    repl *r = ctx;
    r->nafter = r->ndefined = 0;
    for (uint32_t i = 0; i < t->main->nvars && !r->no_memory; i++) {
        if (!room(&r->after, r->nafter)) r->no_memory = true;
        else r->after[r->nafter++] = t->main->vars[i].name;
    }
    for (const node *n = t->main->body->list; n && !r->no_memory; n = n->next) {
        if (n->kind != N_FN || !n->fn->top) continue;
        if (!room(&r->defined, r->ndefined)) r->no_memory = true;
        else r->defined[r->ndefined++] = n->fn->name;
    }
}

static void forget_variable(repl *r, symbol name)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (r->names[i] == name) {
            value_release(r->h->vm, r->values[i]);
            memmove(r->names + i, r->names + i + 1, (r->n - i - 1) * sizeof *r->names);
            memmove(r->values + i, r->values + i + 1, (r->n - i - 1) * sizeof *r->values);
            r->n--;
            return;
        }
}

static void forget_function(repl *r, symbol name)
{
    for (uint32_t i = 0; i < r->nfns; i++)
        if (r->fns[i] == name) {
            r->fns[i] = r->fns[--r->nfns];
            return;
        }
}

/* The value a variable has now, before the entry's results take over. */
static const value *variable_now(const repl *r, symbol name)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (r->names[i] == name) return &r->values[i];
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
static void note_capture(repl *r, symbol name, value f, symbol called)
{
    if (f.tag != V_FUNCTION || called == name || !captures(as_closure(f)->code, name)) return;
    symbols *y = r->h->vm->symbols;
    diag *d = diag_new(&r->h->vm->mem, SEVERITY_NOTE, DIAG_CAPTURE, "the function `%s` keeps the value that `%s` had when it was made",
                       symbol_name(y, called), symbol_name(y, name));
    if (d) host_show(r->h, d);
}

/* After an entry: functions that were there before captured the values variables had then. */
static void note_captures(repl *r, const tuple *t)
{
    for (uint32_t i = 0; i < r->nafter; i++) {
        const value *old = variable_now(r, r->after[i]), now = t->v[i + 1];
        if (!old || now.tag == V_UNDEF || same_value(*old, now)) continue;
        for (uint32_t k = 0; k < r->nafter; k++) {
            const value *f = variable_now(r, r->after[k]);
            if (f && same_value(*f, t->v[k + 1])) note_capture(r, r->after[i], *f, r->after[k]);
        }
        for (uint32_t k = 0; k < r->nfns; k++) {
            const value *f = table_get(r->h->vm->globals, r->fns[k]);
            bool made_now = false;
            for (uint32_t j = 0; j < r->ndefined; j++) made_now |= r->defined[j] == r->fns[k];
            if (f && !made_now) note_capture(r, r->after[i], *f, r->fns[k]);
        }
    }
}

/* Puts the entry's results in the place of what was. */
static void take_over(repl *r, const tuple *t)
{
    vm *m = r->h->vm;
    value *values = calloc(r->nafter + 1, sizeof *values);
    symbol *names = calloc(r->nafter + 1, sizeof *names);
    if (!values || !names) {
        free(values);
        free(names);
        fputs("replay: no memory\n", stderr);
        return;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->nafter; i++) {
        if (t->v[i + 1].tag == V_UNDEF) continue;
        names[n] = r->after[i];
        values[n++] = value_retain(t->v[i + 1]);
        forget_function(r, r->after[i]);
    }
    for (uint32_t i = 0; i < r->n; i++) value_release(m, r->values[i]);
    free(r->values);
    free(r->names);
    r->values = values;
    r->names = names;
    r->n = n;
    for (uint32_t i = 0; i < r->ndefined; i++) {
        forget_variable(r, r->defined[i]);
        forget_function(r, r->defined[i]);
        if (room(&r->fns, r->nfns)) r->fns[r->nfns++] = r->defined[i];
    }
}

static void echo(repl *r, value v)
{
    if (v.tag == V_NONE || v.tag == V_UNDEF) return;
    text t;
    text_open(&t, &r->h->vm->mem);
    value_print(r->h->vm, v, PRINT_HEADER, &t);
    text_putc(&t, '\n');
    command_print(&t);
    text_close(&t);
}

static void run_entry(repl *r, code *c)
{
    vm *m = r->h->vm;
    closure *fn = closure_new(m, c, 0);
    if (!fn) {
        host_show_error(r->h);
        return;
    }
    random_state random = m->random;
    value globals = value_retain(m->globals), out, f = value_object(&fn->h);
    bool fine = vm_call(m, f, r->values, r->n, &out, 1);
    if (fine) {
        const tuple *t = as_tuple(out);
        echo(r, t->v[0]);
        note_captures(r, t);
        take_over(r, t);
        value_release(m, out);
        value_release(m, globals);
    } else {
        m->random = random;
        value_release(m, m->globals);
        m->globals = globals;
        host_show_error(r->h);
    }
    value_release(m, f);
}

/* True when the text stops in the middle and more is wanted. */
static bool enter(repl *r, const char *s, size_t n, bool last)
{
    vm *m = r->h->vm;
    source *src = source_new(&m->mem, "<repl>", s, n);
    if (!src) {
        vm_out_of_memory(m);
        host_show_error(r->h);
        return false;
    }
    diag *diags;
    bool more = false;
    compile_options o = {.module = "", .result = EMIT_ENTRY, .notes = true, .repl = !last, .vars = r->names, .nvars = r->n,
                         .fns = r->fns, .nfns = r->nfns, .inspect = inspect, .ctx = r};
    code *c = host_compile(r->h, src, &o, &diags, &more);
    source_release(src);
    if (more && !last) {
        code_release(c);
        diag_free(diags);
        return true;
    }
    host_show(r->h, diags);
    if (c) run_entry(r, c);
    else host_show_error(r->h);
    code_release(c);
    return false;
}

int command_repl(host *h)
{
    repl r = {.h = h};
    text t;
    text_open(&t, &h->vm->mem);
    bool terminal = isatty(0) && isatty(1);
    char *line = NULL;
    size_t cap = 0;
    if (terminal) printf("Replay %s. Ctrl-D leaves.\n", REPLAY_VERSION);
    for (;;) {
        if (terminal) {
            fputs(t.n ? "... " : "> ", stdout);
            fflush(stdout);
        }
        ssize_t n = getline(&line, &cap, stdin);
        if (n < 0) break;
        text_add(&t, line, (size_t)n);
        if (t.failed || !enter(&r, text_str(&t), t.n, false)) text_clear(&t);
        fflush(stdout);
    }
    if (t.n) enter(&r, text_str(&t), t.n, true);
    if (terminal) putchar('\n');
    free(line);
    text_close(&t);
    for (uint32_t i = 0; i < r.n; i++) value_release(h->vm, r.values[i]);
    free(r.names);
    free(r.values);
    free(r.fns);
    free(r.after);
    free(r.defined);
    return 0;
}
