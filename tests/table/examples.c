/* examples.c: a row's examples, `expression  # result` a line, run as the REPL would show them. */
#include "walker.h"

/* Layout is not compared: lines joined, and one space where there are several. */
static void join_lines(char *s)
{
    char *to = s;
    bool quoted = false;
    for (const char *from = s; *from; from++) {
        if (*from == '"' && (from == s || from[-1] != '\\')) quoted = !quoted;
        bool blank = !quoted && (*from == ' ' || *from == '\n');
        if (blank && to > s && (to[-1] == ' ' || to[-1] == '[')) continue;
        *to++ = blank ? ' ' : *from;
    }
    *to = 0;
}

void run_example(walker *w, const char *expression, const char *expected)
{
    vm *m = w->h.vm;
    source *src = source_new(&m->mem, "example", expression, strlen(expression));
    diag *diags = NULL;
    compile_options o = {.module = "", .result = EMIT_ENTRY};
    code *c = src ? host_compile(&w->h, src, &o, &diags, NULL) : NULL;
    source_release(src);
    value out;
    if (!c) fail(w, "example", "%s: %s", expression, diags ? diags->message : take_error(&w->h));
    else if (!vm_run(m, c, &out)) fail(w, "example", "%s: %s", expression, take_error(&w->h));
    else {
        text t;
        text_open(&t, &m->mem);
        value_print(m, as_tuple(out)->v[0], PRINT_REPR, &t);
        char shown[4000];
        snprintf(shown, sizeof shown, "%s", text_str(&t));
        join_lines(shown);
        if (strcmp(shown, expected)) fail(w, "example", "%s gives %s, not %s", expression, shown, expected);
        text_close(&t);
        value_release(m, out);
    }
    diag_free(diags);
    code_release(c);
}

void walk_examples(walker *w, const prim *p)
{
    unsigned n = 0;
    char line[1000];
    for (const char *s = p->examples; *s;) {
        size_t k = strcspn(s, "\n");
        snprintf(line, sizeof line, "%.*s", (int)k, s);
        s += k + (s[k] == '\n');
        char *mark = NULL;
        for (char *q = line; (q = strstr(q, "  # ")); q++) mark = q;
        if (!mark) {
            fail(w, "example", "%s has no result", line);
            continue;
        }
        *mark = 0;
        if (strncmp(line, "print(", 6) && strncmp(line, "help(", 5)) run_example(w, line, mark + 4);
        n++;
    }
    w->n.examples += n;
    if (n < 2 && !(p->attrs & A_INTERNAL)) fail(w, "examples", "%u, and two are needed", n);
}
