/* command.c: what the command does with a script: run it, check it, list its Code, and say at the end
 * what the run cost. */
#include "command.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "profile.h"

static double seconds_since(double started)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - started;
}

bool command_print(const text *t)
{
    if (t->failed) return false;
    return fwrite(text_str(t), 1, t->n, stdout) == t->n;
}

int command_end(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    fprintf(stderr, "error[file]: output cannot be written%s%s\n", errno ? ": " : "", errno ? strerror(errno) : "");
    return status ? status : 1;
}

code *command_compile(host *h, const char *name, const char *s, size_t n, bool notes, int *status)
{
    vm *m = h->vm;
    source *src = source_new(&m->mem, name, s, n);
    if (!src) vm_out_of_memory(m);
    diag *diags = NULL;
    compile_options o = {.module = "", .result = EMIT_NONE, .notes = notes};
    code *c = src ? host_compile(h, src, &o, &diags, NULL) : NULL;
    source_release(src);
    *status = c ? 0 : m->error ? 1 : 2;
    host_show(h, diags);
    host_show_error(h);
    return c;
}

code *command_compile_file(host *h, const char *path, bool notes, int *status)
{
    size_t n = 0;
    char *s = host_read(h, path, &n);
    if (!s) {
        host_show_error(h);
        *status = 2;
        return NULL;
    }
    code *c = command_compile(h, path, s, n, notes, status);
    free(s);
    return c;
}

int command_run(host *h, const char *name, const char *s, size_t n, const run_options *o)
{
    int status;
    vm *m = h->vm;
    code *c = command_compile(h, name, s, n, false, &status);
    if (c) {
        value out;
        if (vm_run(m, c, &out)) value_release(m, out);
        else status = 1;
        code_release(c);
        if (m->error) fflush(stdout); /* what was printed stands before what went wrong */
        host_show_error(h);
    }
    if (c && m->config.profile) {
        text t;
        text_open(&t, &m->mem);
        profile_print(m, seconds_since(m->stats.started), &t);
        fwrite(text_str(&t), 1, t.n, stderr);
        text_close(&t);
    }
    if (c && (o->stats || o->stats_json)) command_stats(h, o->stats_json);
    return status;
}

int command_check(host *h, const char *path)
{
    int status;
    code *c = command_compile_file(h, path, true, &status);
    code_release(c);
    return status;
}

/* --- finding and listing functions ------------------------------------------------------------ */

static code *find_in(vm *m, code *c, symbol name)
{
    for (uint32_t i = 0; i < c->ncodes; i++)
        if (c->codes[i]->name == name) return c->codes[i];
    for (uint32_t i = 0; i < c->ncodes; i++) {
        code *found = find_in(m, c->codes[i], name);
        if (found) return found;
    }
    return NULL;
}

static void names_in(vm *m, const code *c, const char **names, size_t *n, size_t most)
{
    for (uint32_t i = 0; i < c->ncodes && *n < most; i++) {
        if (c->codes[i]->name) names[(*n)++] = symbol_name(m->symbols, c->codes[i]->name);
        names_in(m, c->codes[i], names, n, most);
    }
}

code *command_find(host *h, code *script, const char *name)
{
    vm *m = h->vm;
    code *c = find_in(m, script, symbol_of(m->symbols, name, strlen(name)));
    if (c) return c;
    const char *names[512];
    size_t n = 0;
    names_in(m, script, names, &n, 512);
    vm_fail(m, DIAG_NAME, "the script has no function `%s`", name);
    const char *near = nearest_name(name, names, n);
    if (near) vm_help(m, "did you mean `%s`?", near);
    host_show_error(h);
    return NULL;
}

int command_dis(host *h, const char *path, const char *name)
{
    int status;
    code *script = command_compile_file(h, path, false, &status);
    if (!script) return status;
    code *c = name ? command_find(h, script, name) : script;
    if (!c) status = 2;
    else {
        text t;
        text_open(&t, &h->vm->mem);
        code_list(c, (dis_options){.lines = true, .marks = true, .children = true}, &t);
        if (!command_print(&t)) status = 1;
        text_close(&t);
    }
    code_release(script);
    return status;
}

/* --- what a run cost --------------------------------------------------------------------------- */

/* "file:line:column" as a JSON string. */
static void json_place(const char *file, uint32_t line, uint32_t column, text *t)
{
    text_putc(t, '"');
    for (const char *s = file; *s; s++) {
        if (*s == '"' || *s == '\\') text_putc(t, '\\');
        if ((unsigned char)*s < 0x20) text_printf(t, "\\u%04x", (unsigned)(unsigned char)*s);
        else text_putc(t, *s);
    }
    text_printf(t, ":%u:%u\"", line, column);
}

static void stats_json(const vm *m, double seconds, text *t)
{
    const vm_stats *s = &m->stats;
    text_printf(t, "{\"seconds\": %.6f, \"peak_bytes\": %zu, \"saved_peak_bytes\": %zu, \"replays\": [", seconds, m->mem.peak[MEM_ARRAY],
                s->saved_peak);
    for (uint32_t i = 0; i < s->nblocks; i++) text_printf(t, i ? ", %llu" : "%llu", (unsigned long long)s->blocks[i].replays);
    text_puts(t, "], \"blocks\": [");
    for (uint32_t i = 0; i < s->nblocks; i++) {
        uint32_t line, column;
        span_where(s->blocks[i].at, &line, &column);
        text_puts(t, i ? ", " : "");
        json_place(s->blocks[i].at.src ? s->blocks[i].at.src->name : "", line, column, t);
    }
    text_printf(t, "], \"step_runs\": %llu, \"steps\": %llu, \"rerun_ops\": %llu, \"snapshots_peak\": %llu, ",
                (unsigned long long)s->step_runs, (unsigned long long)s->steps, (unsigned long long)s->rerun_ops,
                (unsigned long long)s->snapshots_peak);
    if (m->config.budget) text_printf(t, "\"budget_bytes\": %zu, ", m->config.budget);
    else text_puts(t, "\"budget_bytes\": null, ");
    if (s->lazy_least)
        text_printf(t, "\"schedule\": {\"step_runs\": %llu, \"least\": %llu, \"ratio\": %.4f}, ", (unsigned long long)s->lazy_runs,
                    (unsigned long long)s->lazy_least, (double)s->lazy_runs / (double)s->lazy_least);
    else text_puts(t, "\"schedule\": null, ");
    text_printf(t, "\"threads\": %d}\n", m->config.threads);
}

static const char *bytes_text(size_t n, char out[32])
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double x = (double)n;
    int k = 0;
    while (x >= 1024 && k < 4) x /= 1024, k++;
    snprintf(out, 32, k ? "%.1f %s" : "%.0f %s", x, unit[k]);
    return out;
}

static void stats_lines(const vm *m, double seconds, text *t)
{
    const vm_stats *s = &m->stats;
    char a[32], b[32];
    text_printf(t, "%.3f s; arrays at most %s, of which saved for the adjoint program %s\n", seconds, bytes_text(m->mem.peak[MEM_ARRAY], a),
                bytes_text(s->saved_peak, b));
    if (s->steps)
        text_printf(t, "steps under a gradient: %llu, executed %llu times; states held at most %llu\n", (unsigned long long)s->steps,
                    (unsigned long long)s->step_runs, (unsigned long long)s->snapshots_peak);
    if (s->lazy_least) {
        char limit[32];
        text_printf(t, "schedules: peak %s, budget %s; steps executed %llu, least for as many states %llu, ratio %.3f\n",
                    bytes_text(m->mem.peak[MEM_ARRAY], a), m->config.budget ? bytes_text(m->config.budget, limit) : "none",
                    (unsigned long long)s->lazy_runs, (unsigned long long)s->lazy_least, (double)s->lazy_runs / (double)s->lazy_least);
    }
    for (uint32_t i = 0; i < s->nblocks; i++) {
        if (!s->blocks[i].replays) continue;
        uint32_t line, column;
        span_where(s->blocks[i].at, &line, &column);
        text_printf(t, "block at %s:%u:%u: %llu replays\n", s->blocks[i].at.src ? s->blocks[i].at.src->name : "", line, column,
                    (unsigned long long)s->blocks[i].replays);
    }
}

void command_stats(host *h, bool json)
{
    vm *m = h->vm;
    text t;
    text_open(&t, &m->mem);
    double seconds = seconds_since(m->stats.started);
    if (json) stats_json(m, seconds, &t);
    else stats_lines(m, seconds, &t);
    fwrite(text_str(&t), 1, t.n, stderr);
    text_close(&t);
}
