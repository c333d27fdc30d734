/* examples.c: a row's examples, `expression  # result` a line, run as the REPL would show them. */
#include "walker.h"
#include "modules.h"

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
    char program[1200];
    snprintf(program, sizeof program, "%s%s", w->imports ? w->imports : "", expression);
    source *src = source_new(&m->mem, "example", program, strlen(program));
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

/* Runs the lines of s up to `end` that hold an example; how many there were. */
static unsigned run_examples(walker *w, const char *s, const char *end)
{
    unsigned n = 0;
    char line[1000];
    while (s < end && *s) {
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
    return n;
}

void walk_examples(walker *w, const prim *p)
{
    unsigned n = run_examples(w, p->examples, p->examples + strlen(p->examples));
    if (p->attrs & A_INTERNAL) return;
    if (n < 2) fail(w, "examples", "%u, and two are needed", n);
    if (p->shape == S_CUSTOM && p->dtype != D_OTHER && !strstr(p->doc, "\nshape: ")) fail(w, "documentation", "has no line `shape: …`");
}

/* A function of a module: the comment above it begins `name(`, and ends with two examples or more. */
static void walk_function(walker *w, const char *name, const char *comment, const char *end)
{
    static char examples[4000];
    size_t n = 0;
    examples[0] = 0;
    if (strncmp(comment, "# ", 2) || strncmp(comment + 2, name, strlen(name)) || comment[2 + strlen(name)] != '(')
        fail(w, name, "its comment does not begin with what it is called like");
    for (const char *s = comment; s < end; s += strcspn(s, "\n") + 1)
        if (!strncmp(s, "#   ", 4) || n)
            n += (size_t)snprintf(examples + n, sizeof examples - n, "%.*s\n", (int)strcspn(s + 4, "\n"), s + 4);
    if (run_examples(w, examples, examples + n) < 2) fail(w, name, "two examples are needed");
    w->n.functions++;
}

void walk_modules(walker *w)
{
    for (const struct stdlib_module *m = stdlib_modules; m->name; m++) {
        char imports[1000] = "";
        for (const struct stdlib_module *i = stdlib_modules; i->name; i++)
            if (!host_preloads(i->name) && !host_preloads(m->name))
                snprintf(imports + strlen(imports), sizeof imports - strlen(imports), "import \"%s\" as %s; ", i->name, i->name);
        w->imports = imports;
        const char *comment = NULL;
        for (const char *s = m->text, *next; *s; s = next) {
            next = s + strcspn(s, "\n");
            next += *next == '\n';
            if (*s == '#') {
                if (!comment) comment = s;
                continue;
            }
            if (!strncmp(s, "fn ", 3) && s[3] != '_') {
                char name[64];
                snprintf(name, sizeof name, "%.*s", (int)strcspn(s + 3, "("), s + 3);
                walk_function(w, name, comment ? comment : s, s);
            }
            comment = NULL;
        }
    }
    w->imports = NULL;
}
