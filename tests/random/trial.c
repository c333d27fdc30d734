/* trial.c: one random program, run in several of the ways that must not matter: with and without its
 * checkpoint blocks, with the optimiser and fusion on and off, on one thread and two, under budgets, each
 * in a VM of its own; outputs must be equal byte for byte (numbers print as the shortest text that reads
 * back, so equal text is equal bits). A run under a budget, and one with blocks that have budgets, may
 * be refused for want of memory, after a part of the output; none has more arrays live than its budget.
 * Which ways, follows from the seed. Some programs are run once more with f32 for the program's float.
 * Then, from what it printed: forward mode against reverse mode, second derivatives taken in two ways, and
 * both orders against central differences where the steps h and h/2 agree and take the same branches. */
#include "trial.h"
#include "host.h"
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const verdict_names[VERDICT_KINDS] = {"fine",     "fails",     "differs", "modes",  "second",
                                                  "gradient", "curvature", "leak",    "budget", "crash"};
enum { SECONDS_MAX = 60 };

/* --- one run -------------------------------------------------------------------------------- */
typedef struct session {
    host host;
    char *s;
    size_t n, cap;
    unsigned errors;
} session; /* host first: it is the callbacks' ctx */
typedef struct ways {
    const char *name;
    unsigned flags;
    bool optimise, fuse;
    int threads;
    bool narrow;
    size_t budget;
} ways;
typedef struct run {
    char *out;
    char *error;
    bool refused;
    size_t leaked, base, peak; /* bytes; base: of arrays before it ran */
} run;

/* The linker sends memory_close here (-Wl,--wrap): the last moment the books are open. */
static size_t held_at_close, peak_at_close;
void __real_memory_close(memory *m);
void __wrap_memory_close(memory *m);
void __wrap_memory_close(memory *m)
{
    held_at_close = m->live_all;
    peak_at_close = m->peak[MEM_ARRAY];
    __real_memory_close(m);
}

static bool take_output(void *ctx, const char *s, size_t n)
{
    session *o = ctx;
    if (o->n + n + 1 > o->cap) {
        o->cap = 2 * (o->n + n + 1);
        o->s = realloc(o->s, o->cap);
        if (!o->s) abort();
    }
    memcpy(o->s + o->n, s, n);
    o->s[o->n += n] = 0;
    return true;
}
static void swallow(void *ctx, diag *d)
{
    (void)ctx;
    diag_free(d);
}

static char *rendered(vm *m, diag *d)
{
    text t;
    text_open(&t, &m->mem);
    for (; d; d = d->next)
        if (d->severity == SEVERITY_ERROR) diag_render(d, false, &t);
    char *s = strdup(text_str(&t));
    text_close(&t);
    return s;
}

static run run_text(const char *program, const ways *w)
{
    vm_config c = vm_config_default();
    c.optimise = w->optimise;
    c.fuse = w->fuse;
    c.budget = w->budget;
    if (w->narrow) c.float_dtype = DTYPE_F32;
    c.threads = w->threads;
    c.seed = 1;
    c.write = take_output;
    c.report = swallow;
    session o = {0};
    run r = {0};
    if (!host_open(&o.host, &c)) {
        r.error = strdup("the VM does not open");
        return r;
    }
    vm *m = o.host.vm;
    source *src = source_new(&m->mem, "random.rl", program, strlen(program));
    compile_options co = {.module = "", .result = EMIT_NONE};
    diag *diags = NULL;
    code *k = src ? host_compile(&o.host, src, &co, &diags, NULL) : NULL;
    if (src) source_release(src);
    value out;
    r.base = m->mem.live[MEM_ARRAY];
    if (!k) r.error = m->error ? rendered(m, m->error) : rendered(m, diags);
    else if (!vm_run(m, k, &out)) r.error = rendered(m, m->error), r.refused = m->error && m->error->code == DIAG_BUDGET;
    else value_release(m, out);
    diag_free(diags);
    if (k) code_release(k);
    host_close(&o.host);
    r.leaked = held_at_close;
    r.peak = peak_at_close;
    r.out = o.s ? o.s : strdup("");
    return r;
}
static void run_free_(run *r)
{
    free(r->out);
    free(r->error);
}

/* --- findings ------------------------------------------------------------------------------- */
__attribute__((format(printf, 4, 5))) static void found(verdict *v, verdict_kind kind, const char *key, const char *fmt, ...)
{
    if (v->kind != VERDICT_FINE) return;
    v->kind = kind;
    snprintf(v->key, sizeof v->key, "%s", key);
    va_list args;
    va_start(args, fmt);
    vsnprintf(v->what, sizeof v->what, fmt, args);
    va_end(args);
}

/* The first line of a message without its numbers: the same fault in a smaller program has the same. */
static void key_of(const char *message, char *key, size_t room)
{
    size_t n = 0;
    for (const char *s = message; *s && *s != '\n' && n + 1 < room && n < 80; s++)
        if (!(*s >= '0' && *s <= '9')) key[n++] = *s;
    key[n] = 0;
}

/* The first line in which two outputs differ, of both; and its label. */
static void first_difference(const char *a, const char *b, char *label, size_t room, const char **la, const char **lb)
{
    *la = a;
    *lb = b;
    while (*a && *a == *b) {
        if (*a == '\n') *la = a + 1, *lb = b + 1;
        a++, b++;
    }
    size_t n = 0;
    for (const char *s = **la ? *la : *lb; *s && *s != ' ' && *s != '\n' && n + 1 < room; s++)
        if (!(*s >= '0' && *s <= '9')) label[n++] = *s;
    label[n] = 0;
}

/* --- reading what was printed --------------------------------------------------------------- */
/* The last number of the first line that starts with `label` and a space. */
static bool number_of(const char *out, const char *label, double *x)
{
    size_t n = strlen(label);
    for (const char *line = out; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, label, n) != 0 || line[n] != ' ') continue;
        const char *end = strchr(line, '\n');
        if (!end) end = line + strlen(line);
        const char *s = end;
        while (s > line && s[-1] != ' ') s--;
        char *stop;
        *x = strtod(s, &stop);
        return stop == end;
    }
    return false;
}

static bool close_to(double a, double b, double tolerance)
{
    if (isnan(a) && isnan(b)) return true;
    return a == b || fabs(a - b) <= tolerance * (1 + fabs(a) + fabs(b));
}

static void agree(verdict *v, verdict_kind kind, const char *out, const char *a, const char *b, double tolerance)
{
    double x, y;
    if (!number_of(out, a, &x) || !number_of(out, b, &y) || close_to(x, y, tolerance)) return;
    char key[64];
    snprintf(key, sizeof key, "%s %s", a, b);
    found(v, kind, key, "%s is %.17g but %s is %.17g", a, x, b, y);
}

/* Five evaluations of a trace: at 0, h, -h, h/2, -h/2, each after the branches it took. True with the
   derivative d and how far it may be off, when all took the same branches and the steps agree. */
static bool differences(const char *out, const char *label, double h, double *d, double *off)
{
    double f[5];
    const char *from[5], *to[5];
    size_t n = strlen(label);
    int k = 0;
    const char *start = out;
    for (const char *line = out; line && k < 5;) {
        const char *next = strchr(line, '\n');
        next = next ? next + 1 : NULL;
        bool mine = strncmp(line, label, n) == 0 && line[n] == ' ';
        bool evaluated = mine || strncmp(line, "at ", 3) == 0 || strncmp(line, "slope ", 6) == 0;
        if (mine) {
            from[k] = start;
            to[k] = line;
            const char *s = strchr(line + n + 1, ' ');
            if (!s) return false;
            f[k++] = strtod(s + 1, NULL);
        }
        if (evaluated) start = next;
        line = next;
    }
    if (k < 5) return false;
    for (int i = 1; i < 5; i++)
        if (to[i] - from[i] != to[0] - from[0] || strncmp(from[i], from[0], (size_t)(to[0] - from[0])) != 0) return false;
    double d1 = (f[1] - f[2]) / (2 * h), d2 = (f[3] - f[4]) / h;
    if (!isfinite(d1) || !isfinite(d2)) return false;
    double noise = (fabs(f[0]) + fabs(f[1])) * 1e-15 / h;
    *off = 2 * fabs(d1 - d2) + 20 * noise + 1e-9;
    *d = (4 * d2 - d1) / 3;
    return fabs(d1 - d2) <= 1e-4 * (1e-2 + fabs(d2));
}

/* --- everything about one program ----------------------------------------------------------- */
typedef struct subject {
    char *texts[2];
    run first;
    verdict *v;
} subject;

/* Runs it this way and compares with the first run. */
static run compared(subject *s, const ways *w)
{
    verdict *v = s->v;
    const char *program = s->texts[w->flags & GEN_BLOCKS];
    char key[160];
    run r = run_text(program, w);
    bool may = w->budget || ((w->flags & GEN_BLOCKS) && strstr(program, "budget =")), prefix = r.refused && may;
    if (w->budget) v->budgets++, v->refused += r.refused;
    if (r.error && !prefix) {
        key_of(r.error, key, sizeof key);
        found(v, VERDICT_RUN, key, "%s: %s", w->name, r.error);
    } else if (r.leaked) {
        found(v, VERDICT_LEAK, w->budget ? "budget" : "", "%s%s: %zu bytes held after the end", w->name, r.refused ? ", refused" : "",
              r.leaked);
    } else if (w->budget && r.peak > w->budget) {
        found(v, VERDICT_BUDGET, "over", "%s: %zu bytes of arrays with a budget of %zu", w->name, r.peak, w->budget);
    }
    if (!s->first.out || v->kind != VERDICT_FINE) return r;
    if (prefix ? strncmp(r.out, s->first.out, strlen(r.out)) != 0 : strcmp(r.out, s->first.out) != 0) {
        const char *a, *b;
        char label[64];
        first_difference(s->first.out, r.out, label, sizeof label, &a, &b);
        snprintf(key, sizeof key, "%s %s", w->name, label);
        found(v, VERDICT_DIFFERS, key, "plain:\n  %.*s\n%s, budget %zu:\n  %.*s", (int)strcspn(a, "\n"), a, w->name, w->budget,
              (int)strcspn(b, "\n"), b);
    }
    return r;
}

static const ways all[] = {
    {"plain, optimiser off", 0, false, false, 1, false, 0},
    {"blocks", GEN_BLOCKS, true, true, 1, false, 0},
    {"plain", 0, true, true, 1, false, 0},
    {"plain, fusion off", 0, true, false, 1, false, 0},
    {"blocks, optimiser off", GEN_BLOCKS, false, false, 1, false, 0},
    {"blocks, fusion only", GEN_BLOCKS, false, true, 1, false, 0},
    {"blocks, fusion off", GEN_BLOCKS, true, false, 1, false, 0},
    {"blocks, two threads", GEN_BLOCKS, true, true, 2, false, 0},
};
enum { ALL = sizeof all / sizeof *all };
const checks check_all = {.blocks = 1, .ways = 2, .budgets = 3, .narrow = 10, .differences = true};

static unsigned below(uint64_t *rng, unsigned n)
{
    *rng = *rng * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*rng >> 33) % n;
}

/* Some way of running it within a part of what it takes at its peak, or somewhat more. */
static void under_budget(subject *s, uint64_t *rng, bool narrow)
{
    static const char *const names[2] = {"plain under a budget", "blocks under a budget"};
    static const double parts[] = {1.5, 1.2, 1, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.4};
    double part = parts[below(rng, sizeof parts / sizeof *parts)];
    unsigned how = below(rng, 8);
    ways w = {names[how & 1], how & 1 ? GEN_BLOCKS : 0, true, true, 1, narrow, 0};
    if (how >= 6) w.optimise = w.fuse = false;
    if (how == 5) w.threads = 2;
    w.budget = s->first.base + 1 + (size_t)((double)(s->first.peak - s->first.base) * part);
    run r = compared(s, &w);
    run_free_(&r);
}

void check_here(const gen *g, const checks *which, verdict *v)
{
    subject s = {.texts = {gen_text(g, 0), gen_text(g, GEN_BLOCKS)}, .v = v};
    uint64_t rng = gen_seed(g) * 0x9e3779b97f4a7c15u + 1;
    char key[160];
    for (int narrow = which->narrow == F32_ALONE; narrow < 2 && v->kind == VERDICT_FINE; narrow++) {
        if (narrow && (int)below(&rng, 100) >= which->narrow) break;
        subject n = s;
        n.first = (run){0};
        ways w = all[0];
        w.narrow = narrow;
        n.first = compared(&n, &w);
        if (!narrow) s.first = n.first;
        for (int i = 0; i < which->blocks + (narrow ? 0 : which->ways) && v->kind == VERDICT_FINE; i++) {
            w = all[i >= which->blocks && !narrow ? 2 + below(&rng, ALL - 2) : 1];
            w.narrow = narrow;
            run r = compared(&n, &w);
            run_free_(&r);
        }
        for (int i = 0; i < (narrow && which->budgets ? 1 : which->budgets) && v->kind == VERDICT_FINE; i++) under_budget(&n, &rng, narrow);
        if (narrow) run_free_(&n.first);
    }
    run first = s.first;
    free(s.texts[0]);
    free(s.texts[1]);
    if (v->kind == VERDICT_FINE && first.out) {
        agree(v, VERDICT_MODES, first.out, "dir", "jvp", 1e-8);
        agree(v, VERDICT_MODES, first.out, "dir", "ds", 1e-8);
        agree(v, VERDICT_MODES, first.out, "back", "push", 1e-8);
        agree(v, VERDICT_SECOND, first.out, "hvp", "rr", 1e-7);
    }
    if (v->kind == VERDICT_FINE && which->differences && gen_has_differences(g)) {
        char *trace = gen_text(g, GEN_TRACE);
        run r = run_text(trace, &all[2]);
        if (r.error) {
            key_of(r.error, key, sizeof key);
            found(v, VERDICT_RUN, key, "trace: %s", r.error);
        }
        double d, off, x;
        if (!r.error && number_of(first.out, "dir", &x) && differences(r.out, "at", GEN_STEP, &d, &off)) {
            v->gradient_checked = true;
            v->worst = fabs(d - x) / (1e-3 + fabs(d));
            if (!(fabs(d - x) <= off + 1e-6 * (1 + fabs(d))))
                found(v, VERDICT_GRADIENT, "", "the derivative is %.12g, central differences give %.12g", x, d);
        }
        if (!r.error && number_of(first.out, "hvp", &x) && differences(r.out, "slope", GEN_STEP2, &d, &off)) {
            v->curvature_checked = true;
            if (!(fabs(d - x) <= off + 1e-6 * (1 + fabs(d))))
                found(v, VERDICT_CURVATURE, "", "the second derivative is %.12g, differences of gradients give %.12g", x, d);
        }
        run_free_(&r);
        free(trace);
    }
    run_free_(&first);
}

bool trial_begin(trial *c, const gen *g)
{
    int ends[2];
    fflush(NULL);
    if (pipe(ends)) return false;
    c->from = ends[0];
    c->pid = fork();
    if (c->pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    if (c->pid == 0) {
        close(ends[0]);
        alarm(SECONDS_MAX);
        verdict v = {0};
        check_here(g, &check_all, &v);
        ssize_t n = write(ends[1], &v, sizeof v); /* fits a pipe */
        _exit(n == (ssize_t)sizeof v ? 0 : 1);
    }
    close(ends[1]);
    return true;
}

void trial_end(const trial *c, int status, verdict *v)
{
    *v = (verdict){0};
    if (read(c->from, v, sizeof *v) != (ssize_t)sizeof *v) {
        *v = (verdict){0};
        char key[32];
        if (WIFSIGNALED(status)) snprintf(key, sizeof key, "signal %d", WTERMSIG(status));
        else snprintf(key, sizeof key, "status %d", WEXITSTATUS(status));
        found(v, VERDICT_CRASH, key, WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "it takes longer than a minute" : "it ends by %s",
              key);
    }
    close(c->from);
}

void check_program(const gen *g, verdict *v)
{
    trial c;
    int status;
    if (!trial_begin(&c, g)) {
        perror("random");
        exit(2);
    }
    waitpid(c.pid, &status, 0);
    trial_end(&c, status, v);
}
