/* view.c: what the views share: taking a call apart, running its gradient, and the subcommands. */
#include "view.h"
#include "adjoint_view.h"
#include "command.h"
#include "placing.h"
#include "trace.h"
#include "../vm/print.h"
#include "../vm/run.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- a call ------------------------------------------------------------------------------------ */

/* The opening parenthesis of the last call in s[0..n), or n. */
static size_t last_call(const char *s, size_t n)
{
    size_t open[256], depth = 0, found = n;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (quoted) {
            if (s[i] == '\\') i++;
            else if (s[i] == '"') quoted = false;
        } else if (s[i] == '"') quoted = true;
        else if (s[i] == '(' || s[i] == '[' || s[i] == '{') {
            if (depth < 256) open[depth] = i;
            depth++;
        } else if ((s[i] == ')' || s[i] == ']' || s[i] == '}') && depth) {
            depth--;
            if (depth == 0 && s[i] == ')' && i + 1 == n) found = open[0];
        }
    }
    return found;
}

/* Whether s[0..n) has a comma outside brackets and strings. */
static bool has_comma(const char *s, size_t n)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (quoted) {
            if (s[i] == '\\') i++;
            else if (s[i] == '"') quoted = false;
        } else if (s[i] == '"') quoted = true;
        else if (strchr("([{", s[i])) depth++;
        else if (strchr(")]}", s[i]) && depth) depth--;
        else if (s[i] == ',' && !depth) return true;
    }
    return false;
}

bool view_call_of(session *s, const char *call, view_call *out)
{
    vm *m = s->h->vm;
    *out = (view_call){value_undef(), value_undef()};
    size_t n = strlen(call);
    while (n && strchr(" \t\r\n;", call[n - 1])) n--;
    size_t at = last_call(call, n);
    if (at == n || at == 0) {
        vm_fail(m, DIAG_VALUE, "a call is wanted here, such as `loss(p, x)`, and this is `%s`", call);
        host_show_error(s->h);
        return false;
    }
    text t;
    text_open(&t, &m->mem);
    const char *inside = call + at + 1;
    size_t k = n - at - 2;
    bool empty = true;
    for (size_t i = 0; i < k; i++) empty &= inside[i] == ' ';
    if (k > 3 && !has_comma(inside, k) && !memcmp(inside + k - 3, "...", 3))
        text_printf(&t, "(%.*s, %.*s)", (int)at, call, (int)k - 3, inside); /* f(args...) */
    else text_printf(&t, "(%.*s, (%.*s%s))", (int)at, call, (int)k, inside, empty ? "" : ",");
    value both;
    bool fine = !t.failed && session_eval(s, text_str(&t), &both);
    text_close(&t);
    if (!fine) return false;
    out->f = value_retain(as_tuple(both)->v[0]);
    out->args = value_retain(as_tuple(both)->v[1]);
    value_release(m, both);
    if (out->f.tag == V_FUNCTION && out->args.tag == V_TUPLE) return true;
    if (out->f.tag == V_FUNCTION)
        vm_fail(m, DIAG_TYPE, "only a tuple can be spread, and `%.*s` is %s", (int)k - 3, inside, value_a_type(out->args));
    else vm_fail(m, DIAG_TYPE, "`%.*s` is not a function", (int)at, call);
    host_show_error(s->h);
    view_call_close(m, out);
    return false;
}

void view_call_close(vm *m, view_call *c)
{
    value_release(m, c->f);
    value_release(m, c->args);
    *c = (view_call){value_undef(), value_undef()};
}

bool view_apply(host *h, const char *text_, const view_call *c, value *out)
{
    vm *m = h->vm;
    code *c2 = m->config.compile(m->config.ctx, m, "<view>", text_);
    if (!c2) return false;
    closure *fn = closure_new(m, c2, 0);
    code_release(c2);
    if (!fn) return false;
    value f = value_object(&fn->h), args[2] = {c->f, c->args};
    bool fine = vm_call(m, f, args, 2, out, 1);
    value_release(m, f);
    return fine;
}

bool view_gradient(host *h, const view_call *c, value *out)
{
    return view_apply(h,
                      "fn(f, args) { (y, pullback) = __call2(__derive_fwd(f, __mask(none)), args); "
                      "if (type(y) == \"none\" or type(y) == \"string\" or type(y) == \"function\") "
                      "{ error(format(\"the result of the call is a {}: there is nothing to differentiate\", type(y))) }; "
                      "d = __cot_index(__pull(pullback, ones_like(y)), 1, none); g = (); "
                      "for (k in 0..len(args)) { g = append(g, __finish(__cot_index(d, k, none), args[k])) }; (y, g) }",
                      c, out);
}

bool view_gradient_plainly(session *s, const view_call *c, value *out)
{
    vm *m = s->h->vm;
    const value of[2] = {c->f, c->args};
    placing *now = placing_begin(s, of, 2, &(placing_options){.unoptimised = true});
    if (!now) return false;
    uint8_t *joins = m->exec->joins; /* nothing joins a fused group */
    m->exec->joins = memory_alloc(&m->mem, MEM_OTHER, prim_count);
    bool fine = m->exec->joins ? view_gradient(s->h, c, out) : vm_out_of_memory(m);
    memory_free(&m->mem, MEM_OTHER, m->exec->joins, prim_count);
    m->exec->joins = joins;
    placing_end(now);
    return fine;
}

/* --- words ------------------------------------------------------------------------------------- */

void json_string(const char *s, size_t n, text *out)
{
    text_putc(out, '"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\') text_putc(out, '\\');
        if (c < 0x20) text_printf(out, "\\u%04x", c);
        else text_putc(out, s[i]);
    }
    text_putc(out, '"');
}

const char *view_bytes(double n, char out[32])
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int k = 0;
    while (n >= 1024 && k < 4) n /= 1024, k++;
    snprintf(out, 32, k ? "%.1f %s" : "%.0f %s", n, unit[k]);
    return out;
}

void view_value(vm *m, value v, size_t most, text *out)
{
    size_t from = out->n;
    if (v.tag == V_UNDEF || v.tag == V_ZERO) {
        text_puts(out, v.tag == V_ZERO ? "0" : "");
        return;
    }
    if (v.tag == V_TUPLE || v.tag == V_RECORD) {
        bool record_ = v.tag == V_RECORD;
        uint32_t n = record_ ? as_record(v)->n : as_tuple(v)->n;
        text_putc(out, record_ ? '{' : '(');
        for (uint32_t k = 0; k < n; k++) {
            if (k) text_puts(out, ", ");
            if (out->n - from + 8 > most) {
                text_puts(out, "...");
                break;
            }
            if (record_) text_printf(out, "%s: ", symbol_name(m->symbols, as_record(v)->names[k]));
            value part = record_ ? as_record(v)->v[k] : as_tuple(v)->v[k];
            view_value(m, part, most > out->n - from ? (most - (out->n - from)) / 2 : 8, out);
        }
        text_putc(out, record_ ? '}' : ')');
        return;
    }
    if (v.tag != V_ARRAY) {
        text t;
        text_open(&t, &m->mem);
        if (value_is_float(v)) {
            value_print(m, v, PRINT_PLAIN, &t);
            if (t.n > 10) {
                text_clear(&t);
                text_printf(&t, "%.6g", v.u.f);
            }
        } else value_print(m, v, PRINT_REPR, &t);
        text_add(out, text_str(&t), t.n);
        text_close(&t);
        return;
    }
    const array *a = as_array(v);
    array *d = array_dense(m, a);
    if (!d) return;
    text_putc(out, '[');
    for (int64_t k = 0; k < d->size; k++) {
        if (k) text_puts(out, " ");
        if (out->n - from + 11 > most) {
            text_puts(out, "...");
            break;
        }
        value x = array_at(d, k);
        if (value_is_float(x)) text_printf(out, "%.4g", x.u.f);
        else text_printf(out, "%lld", (long long)x.u.i);
    }
    text_putc(out, ']');
    value_release(m, value_object(&d->h));
}

/* --- where it goes ------------------------------------------------------------------------------ */

static bool ends(const char *s, const char *with)
{
    size_t n = strlen(s), k = strlen(with);
    return n >= k && !strcmp(s + n - k, with);
}

static bool format_of(host *h, const view_request *q, view_format *f)
{
    *f = FORMAT_TEXT;
    if (!q->out) return true;
    if (ends(q->out, ".svg")) *f = FORMAT_SVG;
    else if (ends(q->out, ".json")) *f = FORMAT_JSON;
    else if (ends(q->out, ".dot")) *f = FORMAT_DOT;
    else if (!ends(q->out, ".txt")) return vm_fail(h->vm, DIAG_FILE, "%s: the suffix of a picture is .svg, .txt, .json or .dot", q->out);
    if (*f == FORMAT_DOT && q->kind != VIEW_GRAPH) return vm_fail(h->vm, DIAG_FILE, "%s: only the graph can be written as .dot", q->out);
    return true;
}

/* A regular file is replaced when all is written, and else stays as it was. */
static bool write_file(vm *m, const char *path, const text *t)
{
    struct stat s;
    char part[4096];
    bool plain = lstat(path, &s) != 0 || S_ISREG(s.st_mode);
    int n = snprintf(part, sizeof part, "%s.part%d", path, (int)getpid());
    if (n < 0 || (size_t)n >= sizeof part) plain = false;
    FILE *f = fopen(plain ? part : path, "wb");
    bool fine = f && fwrite(text_str(t), 1, t->n, f) == t->n;
    if (f && fclose(f)) fine = false;
    if (fine && plain) fine = rename(part, path) == 0;
    int why = errno;
    if (f && !fine && plain) unlink(part);
    return fine ? true : vm_fail(m, DIAG_FILE, "cannot write %s: %s", path, strerror(why));
}

static bool draw(session *s, const view_request *q, view_format f, text *t)
{
    vm *m = s->h->vm;
    if (q->kind == VIEW_ADJOINT) return view_adjoint(s, q->call, f, t);
    if (q->kind == VIEW_MEMORY) return view_memory(s, q, f, t);
    view_call c;
    if (!view_call_of(s, q->call, &c)) return false;
    bool fine = false;
    switch (q->kind) {
    case VIEW_TABLE: fine = view_table(s, &c, f, q->out != NULL, t); break;
    case VIEW_GRAPH: fine = view_graph(s, &c, f, t); break;
    case VIEW_SAVED: fine = view_saved(s, q, &c, f, t); break;
    case VIEW_SCHEDULE: fine = view_schedule(s, &c, f, t); break;
    case VIEW_STEP: fine = view_step(s, &c, f, q->interactive && !q->out, t); break;
    default: break;
    }
    view_call_close(m, &c);
    return fine;
}

/* Under another policy, if one is asked for. */
static bool draw_placed(session *s, const view_request *q, view_format f, text *t)
{
    vm *m = s->h->vm;
    keep_policy policy;
    if (!q->save) return draw(s, q, f, t);
    if (!placement_policy(q->save, strlen(q->save), &policy)) {
        vm_fail(m, DIAG_VALUE, "--save=%s: there is no such policy", q->save);
        vm_help(m, "the policies are nothing, everything, dots and dots_no_batch");
        return false;
    }
    placing *p = placing_begin(s, NULL, 0, &(placing_options){.blocks = {.set = true, .save = q->save}});
    bool fine = p && draw(s, q, f, t);
    placing_end(p);
    return fine;
}

bool view_show(session *s, const view_request *q)
{
    vm *m = s->h->vm;
    view_format f;
    if (!format_of(s->h, q, &f)) return false;
    random_state random = m->random; /* looking changes nothing */
    text t;
    text_open(&t, &m->mem);
    bool fine = draw_placed(s, q, f, &t);
    m->random = random;
    if (fine && q->out) {
        fine = write_file(m, q->out, &t);
    } else if (fine) command_print(&t);
    text_close(&t);
    return fine;
}

/* --- subcommands -------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    view_kind kind;
} kinds[] = {
    {"adjoint", VIEW_ADJOINT}, {"table", VIEW_TABLE},       {"graph", VIEW_GRAPH}, {"saved", VIEW_SAVED},
    {"memory", VIEW_MEMORY},   {"schedule", VIEW_SCHEDULE}, {"step", VIEW_STEP},
};

static int wrong(const char *word, const char *what)
{
    fprintf(stderr, "replay %s: %s\nTry `replay --help`.\n", word, what);
    return 2;
}

static bool quiet(void *ctx, const char *s, size_t n) { return true; }

/* Runs the script silently, so that the call finds its variables. */
static bool load(session *s, const char *path, int *status)
{
    host *h = s->h;
    size_t n = 0;
    char *text_ = host_read(h, path, &n);
    if (!text_) {
        host_show_error(h);
        *status = 2;
        return false;
    }
    bool (*write)(void *, const char *, size_t) = h->vm->config.write;
    h->vm->config.write = quiet;
    session_status st = session_enter(s, path, text_, n, true, NULL);
    h->vm->config.write = write;
    free(text_);
    *status = st == SESSION_FINE ? 0 : st == SESSION_WRONG ? 2 : 1;
    return st == SESSION_FINE;
}

static void unseen(void *user, const diag *d, const char *rendered) {}

bool view_fresh(const vm_config *config, const placement *p, bool silent, host *h, session *s)
{
    *h = (host){.placement = *p, .show = silent ? unseen : NULL};
    vm_config c = *config;
    c.write = quiet;
    if (!host_open(h, &c)) return false;
    session_open(s, h);
    return true;
}

int command_view(host *h, const char *word, int argc, char **argv)
{
    view_request q = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].word, word)) q.kind = kinds[i].kind;
    for (int i = 0; i < argc; i++) {
        if (!strcmp(argv[i], "-o")) {
            if (++i == argc) return wrong(word, "-o needs a file");
            q.out = argv[i];
        } else if (!strncmp(argv[i], "--save=", 7)) q.save = argv[i] + 7;
        else if (argv[i][0] == '-' && argv[i][1]) return wrong(word, "an option that is not known here");
        else if (!q.script) q.script = argv[i];
        else if (!q.call) q.call = argv[i];
        else return wrong(word, "too many arguments");
    }
    if (!q.script) return wrong(word, "a script is needed");
    if (!q.call && q.kind != VIEW_MEMORY)
        return wrong(word, q.kind == VIEW_ADJOINT ? "the name of a function is needed" : "a call is needed, such as 'loss(p, x)'");
    if (q.kind == VIEW_ADJOINT && !q.out && !strchr(q.call, '(')) return command_adjoint(h, q.script, q.call);
    q.interactive = q.kind == VIEW_STEP;
    session s;
    session_open(&s, h);
    int status = 0;
    bool fresh = q.kind == VIEW_MEMORY && !q.call; /* it runs the script itself */
    if ((fresh || load(&s, q.script, &status)) && !view_show(&s, &q)) status = 1;
    host_show_error(h);
    session_close(&s);
    return status;
}
