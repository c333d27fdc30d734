/* kern_io.c: load, save and what else a program reads from the world or writes to it.
 *
 * What writes does nothing while the VM is muted: a region that is replayed has had its effects. */
#include "io.h"
#include "kern.h"
#include "kern_util.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The path in args[0], without a NUL inside. */
static bool arg_path(prim_call *c, const char **path)
{
    const string *s;
    if (!arg_string(c, 0, &s)) return false;
    if (s->length == 0) return prim_fail(c, 0, DIAG_FILE, "the path is empty");
    if (memchr(s->s, 0, s->length)) return prim_fail(c, 0, DIAG_FILE, "the path has a zero character in it");
    *path = s->s;
    return true;
}

/* A saved state is known by what it begins with, so that it may have any name; all else by its suffix. */
bool kern_load(prim_call *c)
{
    static const io_format state = {.read = io_state_read};
    const char *path;
    char first[8];
    bool packed = false;
    io_in in;
    if (!arg_path(c, &path) || !io_open(&in, c, path)) return false;
    const io_format *f = io_state_begins(first, io_look(&in, first, sizeof first)) ? &state : io_format_of(c, path, &packed);
    bool ok = f && (!packed || io_unpack(&in)) && f->read(&in, &c->out);
    if (ok && packed && !io_packed_end(&in)) {
        value_release(c->vm, c->out);
        c->out = value_undef();
        ok = false;
    }
    io_close(&in);
    return ok;
}

/* Writes args[1]. */
static bool save(prim_call *c, const char *path, bool (*write)(io_out *out, value v))
{
    io_out out;
    if (c->vm->mute) return true;
    if (!io_create(&out, c, path)) return false;
    bool ok = write(&out, c->args[1]);
    if (!ok) out.failed = true;
    return io_finish(&out) && ok;
}

bool kern_save(prim_call *c)
{
    const char *path;
    bool packed;
    c->out = value_none();
    if (!arg_path(c, &path)) return false;
    const io_format *f = io_format_of(c, path, &packed);
    if (!f) return false;
    if (packed) return prim_fail(c, 0, DIAG_FILE, "%s: packed files can be read, not written; leave .gz away", path);
    return save(c, path, f->write);
}

bool kern_save_state(prim_call *c)
{
    const char *path;
    c->out = value_none();
    return arg_path(c, &path) && save(c, path, io_state_write);
}

bool kern_read_text(prim_call *c)
{
    const char *path;
    io_in in;
    if (!arg_path(c, &path) || !io_open(&in, c, path)) return false;
    size_t n, i = 0;
    char *s = io_rest(&in, &n);
    bool ok = s != NULL;
    uint32_t cp;
    for (int k; ok && i < n; i += (size_t)k)
        if ((k = utf8_decode(s + i, n - i, &cp)) == 0) ok = io_fail(&in, "it is not UTF-8 text: byte %zu is %02x", i, (unsigned char)s[i]);
    if (ok && n > UINT32_MAX / 2) ok = io_fail(&in, "a text of %zu bytes is too long for a string", n);
    string *made = ok ? string_new(c->vm, s, n) : NULL;
    if (s) memory_free(&c->vm->mem, MEM_OTHER, s, n + 1);
    io_close(&in);
    if (made) c->out = value_object(&made->h);
    return made != NULL;
}

bool kern_write_text(prim_call *c)
{
    const char *path;
    const string *s;
    io_out out;
    c->out = value_none();
    if (!arg_path(c, &path) || !arg_string(c, 1, &s)) return false;
    if (c->vm->mute) return true;
    if (!io_create(&out, c, path)) return false;
    io_put(&out, s->s, s->length);
    return io_finish(&out);
}

bool kern_exists(prim_call *c)
{
    const char *path;
    if (!arg_path(c, &path)) return false;
    if (c->vm->config.no_files) return prim_fail(c, 0, DIAG_FILE, "%s: the program may not look for files", path);
    c->out = value_bool(access(path, F_OK) == 0);
    return true;
}

/* Text from outside as a string: what is not UTF-8 in it becomes U+FFFD. */
static bool foreign_string(vm *m, const char *s, value *out)
{
    text t;
    text_open(&t, &m->mem);
    uint32_t cp;
    for (size_t n = strlen(s); n > 0;) {
        int k = utf8_decode(s, n, &cp);
        if (k > 0) text_add(&t, s, (size_t)k);
        else text_puts(&t, "\xef\xbf\xbd"), k = 1;
        s += k, n -= (size_t)k;
    }
    string *made = t.failed ? NULL : string_new(m, text_str(&t), t.n);
    if (t.failed) vm_out_of_memory(m);
    text_close(&t);
    if (made) *out = value_object(&made->h);
    return made != NULL;
}

bool kern_args(prim_call *c)
{
    const vm_config *config = &c->vm->config;
    uint32_t n = config->argc > 0 ? (uint32_t)config->argc : 0;
    tuple *t = tuple_new(c->vm, n, n);
    if (!t) return false;
    c->out = value_object(&t->h);
    for (uint32_t i = 0; i < n; i++)
        if (!foreign_string(c->vm, config->argv[i], &t->v[i])) {
            value_release(c->vm, c->out);
            return false;
        }
    return true;
}

bool kern_env(prim_call *c)
{
    const string *name;
    if (!arg_string(c, 0, &name)) return false;
    const char *s = c->vm->config.no_files || memchr(name->s, 0, name->length) ? NULL : getenv(name->s);
    if (s) return foreign_string(c->vm, s, &c->out);
    c->out = value_retain(c->args[1]);
    return true;
}

bool kern_time(prim_call *c)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    c->out = value_f64((double)t.tv_sec + 1e-9 * (double)t.tv_nsec);
    return true;
}

/* "1:05", "12 s" */
static void put_time(char *out, size_t n, double s)
{
    if (s < 100) snprintf(out, n, "%.0f s", s);
    else if (s < 6000) snprintf(out, n, "%d:%02d", (int)s / 60, (int)s % 60);
    else snprintf(out, n, "%d:%02d h", (int)(s / 3600), (int)(s / 60) % 60);
}

bool kern_progress(prim_call *c)
{
    double i, n;
    c->out = value_none();
    if (!arg_number(c, 0, &i) || !arg_number(c, 1, &n)) return false;
    vm *m = c->vm;
    if (m->mute || !isatty(STDERR_FILENO)) return true;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (m->progress_from == 0 || i <= m->progress_at) m->progress_from = now; /* a bar begins */
    m->progress_at = i;
    double part = n > 0 ? i / n : 1, spent = now - m->progress_from;
    part = part < 0 || isnan(part) ? 0 : part > 1 ? 1 : part;
    char bar[31 * 3] = "", about[64] = "", left[24];
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int whole = (int)(part * 30), rest = (int)(part * 240) % 8, used = whole + (rest > 0);
    for (int k = 0; k < whole; k++) strcat(bar, "█");
    strcat(bar, eighths[rest]);
    if (spent > 0.05 && i > 0) {
        put_time(left, sizeof left, part < 1 ? spent / part - spent : spent);
        snprintf(about, sizeof about, "  %.3g/s, %s %s", i / spent, left, part < 1 ? "left" : "in all");
    }
    fprintf(stderr, "\r\x1b[K▕%s%*s▏%3d %%%s%s", bar, 30 - used, "", (int)(part * 100), about, part >= 1 ? "\n" : "");
    if (part >= 1) m->progress_from = 0;
    fflush(stderr);
    return true;
}
