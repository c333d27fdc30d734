/* repl_command.c: the `:commands` of the REPL. Each takes what stands after its name, and shows something;
 * none changes a variable, except :load. */
#include "repl.h"
#include "adjoint_view.h"
#include "command.h"
#include "view.h"
#include "../vm/help.h"
#include "../vm/print.h"
#include "../vm/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void command(repl *r, const char *arg);
typedef struct row {
    const char *name, *args;
    command *run;
    const char *help;
} row;

static command do_help, do_load, do_vars, do_time, do_mem, do_type, do_dis, do_rule, do_adjoint, do_table, do_graph, do_saved, do_memory,
    do_schedule, do_step, do_quit;

static const row rows[] = {
    {":help", "[NAME]", do_help, "what a function does, or this list"},
    {":load", "FILE", do_load, "runs a script; its variables and functions stay"},
    {":vars", "", do_vars, "the variables, with shapes and sizes"},
    {":time", "CODE", do_time, "runs code and says how long it took"},
    {":mem", "", do_mem, "bytes of arrays now and at most"},
    {":type", "EXPRESSION", do_type, "dtype and shape of a value"},
    {":dis", "f", do_dis, "lists a function's Code"},
    {":rule", "NAME", do_rule, "a builtin's derivative, as Replay text"},
    {":adjoint", "f [-o FILE]", do_adjoint, "forward and adjoint program side by side"},
    {":table", "f(args) [-o FILE]", do_table, "every intermediate, its value and its cotangent"},
    {":graph", "f(args) [-o FILE]", do_graph, "the computation as a picture"},
    {":saved", "f(args) [-o FILE]", do_saved, "what the forward pass keeps, and why"},
    {":memory", "f(args) [-o FILE]", do_memory, "bytes held over the run of a gradient"},
    {":schedule", "f(args) [-o FILE]", do_schedule, "steps run, stored, restored and reversed"},
    {":step", "f(args)", do_step, "goes through both programs line by line"},
    {":quit", "", do_quit, "leaves"},
};
enum { COMMANDS = sizeof rows / sizeof *rows };

const char *const repl_commands[] = {":help",  ":load",  ":vars",  ":time",   ":mem",      ":type", ":dis",  ":rule", ":adjoint",
                                     ":table", ":graph", ":saved", ":memory", ":schedule", ":step", ":quit", NULL};

void repl_command(repl *r, const char *line)
{
    size_t n = strcspn(line, " \t\r\n");
    const char *arg = line + n + strspn(line + n, " \t");
    char *copy = strdup(arg);
    if (!copy) return;
    size_t k = strlen(copy);
    while (k && strchr(" \t\r\n", copy[k - 1])) copy[--k] = 0;
    const row *found = NULL;
    int matches = 0;
    for (int i = 0; i < COMMANDS; i++) {
        if (strlen(rows[i].name) == n && !memcmp(rows[i].name, line, n)) {
            found = &rows[i];
            matches = 1;
            break;
        }
        if (n > 1 && !memcmp(rows[i].name, line, n < strlen(rows[i].name) ? n : strlen(rows[i].name)) && n < strlen(rows[i].name)) {
            found = &rows[i];
            matches++;
        }
    }
    r->h->vm->interrupt = 0;
    if (matches == 1 && !*copy && found->args[0] && found->args[0] != '[') printf("%s needs %s\n", found->name, found->args);
    else if (matches == 1) found->run(r, copy);
    else {
        char *word = strndup(line, n);
        const char *near = word ? nearest_name(word, repl_commands, COMMANDS) : NULL;
        if (matches > 1) printf("%s is the start of several commands\n", word ? word : "");
        else if (near) printf("there is no command %s; did you mean %s?\n", word, near);
        else printf("there is no command %s; `:help` lists them\n", word ? word : "");
        free(word);
    }
    fflush(stdout);
    free(copy);
}

/* --- small ones -------------------------------------------------------------------------------- */

static void show(repl *r, text *t, bool fine)
{
    if (!fine) host_show_error(r->h);
    else command_print(t);
    text_close(t);
}

static void do_help(repl *r, const char *arg)
{
    if (!*arg) {
        for (int i = 0; i < COMMANDS; i++) printf("%-10s %-18s %s\n", rows[i].name, rows[i].args, rows[i].help);
        puts("\nA value is echoed and kept as `ans`; a `;` at the end silences it. Ctrl-C stops, Ctrl-D leaves.\n"
             "f(args) is a call, such as loss(p, x); FILE ends in .svg, .txt, .json or .dot.\n"
             "--save=POLICY behind a call tries nothing, everything, dots or dots_no_batch for every block.");
        return;
    }
    value v;
    if (!session_eval(&r->s, arg, &v)) return;
    text t;
    text_open(&t, &r->h->vm->mem);
    if (v.tag == V_FUNCTION) help_function(r->h->vm, as_closure(v)->code, &t);
    else {
        value_describe(r->h->vm, v, &t);
        text_putc(&t, '\n');
    }
    show(r, &t, true);
    value_release(r->h->vm, v);
}

static void do_load(repl *r, const char *arg)
{
    size_t n = 0;
    char path[4096];
    size_t k = strlen(arg);
    if (k > 1 && arg[0] == '"' && arg[k - 1] == '"') arg++, k -= 2;
    snprintf(path, sizeof path, "%.*s", (int)k, arg);
    char *s = host_read(r->h, path, &n);
    if (!s) {
        host_show_error(r->h);
        return;
    }
    r->failed = session_enter(&r->s, path, s, n, true, NULL) != SESSION_FINE;
    free(s);
}

static size_t bytes_of(value v, int depth)
{
    if (v.tag == V_ARRAY) return as_array(v)->buf->bytes;
    size_t sum = 0;
    uint32_t n = v.tag == V_TUPLE ? as_tuple(v)->n : v.tag == V_RECORD ? as_record(v)->n : 0;
    for (uint32_t i = 0; i < n && depth < 100; i++) sum += bytes_of(v.tag == V_TUPLE ? as_tuple(v)->v[i] : as_record(v)->v[i], depth + 1);
    return sum;
}

static void do_vars(repl *r, const char *arg)
{
    text t;
    text_open(&t, &r->h->vm->mem);
    size_t widest = 4;
    for (uint32_t i = 0; i < r->s.n; i++) {
        const char *name = symbol_name(r->h->vm->symbols, r->s.names[i]);
        if (text_columns(name, strlen(name)) > widest) widest = text_columns(name, strlen(name));
    }
    for (uint32_t i = 0; i < r->s.n; i++) {
        const char *name = symbol_name(r->h->vm->symbols, r->s.names[i]);
        text_puts(&t, name);
        for (size_t k = text_columns(name, strlen(name)); k < widest + 2; k++) text_putc(&t, ' ');
        value_describe(r->h->vm, r->s.values[i], &t);
        size_t bytes = bytes_of(r->s.values[i], 0);
        if (bytes) text_printf(&t, "  %zu bytes", bytes);
        text_putc(&t, '\n');
    }
    for (uint32_t i = 0; i < r->s.nfns; i++) text_printf(&t, "%s%s", i ? ", " : "fn ", symbol_name(r->h->vm->symbols, r->s.fns[i]));
    if (r->s.nfns) text_putc(&t, '\n');
    show(r, &t, true);
}

static void do_time(repl *r, const char *arg)
{
    double before = exec_seconds();
    if (repl_enter(r, arg, strlen(arg), true) == SESSION_FINE) printf("%.6f s\n", exec_seconds() - before);
}

static void do_mem(repl *r, const char *arg)
{
    const memory *m = &r->h->vm->mem;
    printf("arrays: %zu bytes now, %zu at most\nall: %zu bytes now, %zu at most; %zu free for reuse\n", m->live[MEM_ARRAY],
           m->peak[MEM_ARRAY], m->live_all, m->peak_all, memory_pooled(m));
}

static void do_type(repl *r, const char *arg)
{
    value v;
    if (!session_eval(&r->s, arg, &v)) return;
    text t;
    text_open(&t, &r->h->vm->mem);
    if (v.tag == V_UNDEF) text_puts(&t, "no value");
    else value_describe(r->h->vm, v, &t);
    text_putc(&t, '\n');
    show(r, &t, true);
    value_release(r->h->vm, v);
}

/* The function that a text gives; V_UNDEF with the reason shown when it is none. */
static value function_of(repl *r, const char *arg)
{
    value v;
    if (!session_eval(&r->s, arg, &v)) return value_undef();
    if (v.tag == V_FUNCTION) return v;
    printf("%s is not a function but %s\n", arg, value_type_name(v));
    value_release(r->h->vm, v);
    return value_undef();
}

static void do_dis(repl *r, const char *arg)
{
    value v = function_of(r, arg);
    if (v.tag == V_UNDEF) return;
    text t;
    text_open(&t, &r->h->vm->mem);
    code_list(as_closure(v)->code, (dis_options){.lines = true, .marks = true, .children = true}, &t);
    show(r, &t, true);
    value_release(r->h->vm, v);
}

static void do_rule(repl *r, const char *arg)
{
    static const char *const kinds[] = {"",
                                        "elementwise: the partial derivative by each argument",
                                        "linear: the transpose, of the cotangent g",
                                        "bilinear: the transpose for each argument, of the cotangent g",
                                        "its own rule: cotangents from g, the cotangent of y",
                                        "constant: its derivative is zero",
                                        "it has no derivative"};
    vm *m = r->h->vm;
    const prim *p = prim_find(m, symbol_of(m->symbols, arg, strlen(arg)));
    if (!p || p->attrs & A_INTERNAL) {
        value v = function_of(r, arg);
        if (v.tag != V_UNDEF) printf("%s is written in Replay, and differentiated like any function: `:adjoint %s`\n", arg, arg);
        value_release(m, v);
        return;
    }
    printf("y = %s(%s)\n%s\n", p->name, p->signature, kinds[p->kind]);
    if (p->kind == RULE_REFUSE) printf("  %s\n", p->vjp);
    else if (p->vjp[0]) {
        const prim_info *info = prim_info_of(m, p);
        for (uint32_t i = 0; i < info->nparams; i++) {
            size_t n;
            const char *name = symbol_name(m->symbols, info->params[i].name), *s = rule_part(p->vjp, name, &n);
            if (!s) continue;
            printf(p->kind == RULE_ELEMENTWISE ? "  dy/d%s = %.*s\n" : "  %s_adj = %.*s\n", name, (int)n, s);
        }
    }
    if (p->jvp[0]) printf("  tangent: %s\n", p->jvp);
}

static void do_quit(repl *r, const char *arg) { r->leave = true; }

/* --- views ------------------------------------------------------------------------------------- */

static void look(repl *r, view_kind kind, const char *arg)
{
    view_request q = {.kind = kind};
    char *copy = strdup(arg);
    if (!copy) return;
    /* Options stand behind the call, in any order. */
    char *o = strstr(copy, " -o "), *save = strstr(copy, " --save=");
    if (o) {
        *o = 0;
        q.out = o + 4 + strspn(o + 4, " ");
    }
    if (save) {
        *save = 0;
        q.save = save + 8;
    }
    char *ends[2] = {(char *)q.out, (char *)q.save};
    for (int k = 0; k < 2; k++)
        if (ends[k]) ends[k][strcspn(ends[k], " ")] = 0;
    q.call = copy;
    q.interactive = r->edit != NULL;
    if (!view_show(&r->s, &q)) host_show_error(r->h);
    free(copy);
}

static void do_adjoint(repl *r, const char *arg) { look(r, VIEW_ADJOINT, arg); }
static void do_table(repl *r, const char *arg) { look(r, VIEW_TABLE, arg); }
static void do_graph(repl *r, const char *arg) { look(r, VIEW_GRAPH, arg); }
static void do_saved(repl *r, const char *arg) { look(r, VIEW_SAVED, arg); }
static void do_memory(repl *r, const char *arg) { look(r, VIEW_MEMORY, arg); }
static void do_schedule(repl *r, const char *arg) { look(r, VIEW_SCHEDULE, arg); }
static void do_step(repl *r, const char *arg) { look(r, VIEW_STEP, arg); }
