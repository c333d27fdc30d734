/* faults.c: every operation on files fails, one at a time and from one on, in every way that it can.
 *
 * In: paths of .rl texts. A text's part before the line `# --- then` prepares files in `folder`; the part after it
 * runs again and again, with its N-th operation on files failing by each errno below, cut short, or interrupted,
 * for every N; and with all from the N-th on failing. What must hold: either all is as without a fault (what was
 * printed and every file's bytes), or there is an error that says where (error[file] or error[import]), and then
 * variables and the random state are as they were, every file has its bytes of before or of after, and nothing
 * else lies in the folder; no file stays open, and when the VM closes nothing is live. Out: a line for each breach,
 * and one of counts. The linker hands the operations over (see Makefile). */
#include "../fuzz/held.h"
#include "../../lang/session.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the layer ------------------------------------------------------------------------------------- */

enum { SHORT = -1 }; /* else an errno */
static struct {
    bool armed, on;
    uint64_t at, count;
    int how;
} layer; /* on: all from `at` on */

/* Whether this operation is to fail now; errno is set. */
static bool fails(bool moves_bytes)
{
    if (!layer.armed) return false;
    uint64_t n = ++layer.count;
    if (!layer.at || (layer.on ? n < layer.at : n != layer.at)) return false;
    if (layer.how == SHORT && !moves_bytes) return false;
    errno = layer.how;
    return true;
}

#define WRAP(type, name, ...) \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)
WRAP(ssize_t, read, int fd, void *to, size_t n);
WRAP(ssize_t, pread, int fd, void *to, size_t n, off_t at);
WRAP(ssize_t, write, int fd, const void *s, size_t n);
WRAP(int, fsync, int fd);
WRAP(int, close, int fd);
WRAP(int, rename, const char *from, const char *to);
WRAP(int, fstat, int fd, struct stat *s);
WRAP(int, stat, const char *path, struct stat *s);
WRAP(FILE *, fopen, const char *path, const char *mode);
WRAP(size_t, fread, void *to, size_t size, size_t n, FILE *f);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

ssize_t __wrap_read(int fd, void *to, size_t n)
{
    if (!fails(true)) return __real_read(fd, to, n);
    return layer.how == SHORT ? __real_read(fd, to, n > 1 ? n / 2 : n) : -1;
}
ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at)
{
    if (!fails(true)) return __real_pread(fd, to, n, at);
    return layer.how == SHORT ? __real_pread(fd, to, n > 1 ? n / 2 : n, at) : -1;
}
ssize_t __wrap_write(int fd, const void *s, size_t n)
{
    if (!fails(true)) return __real_write(fd, s, n);
    return layer.how == SHORT ? __real_write(fd, s, n > 1 ? n / 2 : n) : -1;
}
int __wrap_fsync(int fd) { return fails(false) ? -1 : __real_fsync(fd); }
int __wrap_close(int fd)
{
    bool bad = fails(false);
    int why = errno, got = __real_close(fd);
    errno = bad ? why : errno;
    return bad ? -1 : got;
}
int __wrap_rename(const char *from, const char *to) { return fails(false) ? -1 : __real_rename(from, to); }
int __wrap_fstat(int fd, struct stat *s) { return fails(false) ? -1 : __real_fstat(fd, s); }
int __wrap_stat(const char *path, struct stat *s) { return fails(false) ? -1 : __real_stat(path, s); }
FILE *__wrap_fopen(const char *path, const char *mode) { return fails(false) ? NULL : __real_fopen(path, mode); }
int __wrap_open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    int mode = flags & O_CREAT ? va_arg(ap, int) : 0;
    va_end(ap);
    return fails(false) ? -1 : __real_open(path, flags, mode);
}
/* A stream that cannot be read knows it (ferror), for which it is made one that can only be written. */
size_t __wrap_fread(void *to, size_t size, size_t n, FILE *f)
{
    if (!fails(true)) return __real_fread(to, size, n, f);
    if (layer.how == SHORT) return __real_fread(to, size, n > 1 ? n / 2 : n, f);
    int why = errno;
    (void)freopen("/dev/null", "w", f);
    size_t got = __real_fread(to, size, n, f);
    errno = why;
    return got;
}

/* --- what is looked at ----------------------------------------------------------------------------- */

static unsigned long trials, breaches, refused, succeeded;

typedef struct bytes {
    char s[1 << 16];
    size_t n;
} bytes;
static bytes printed;
static bool take_print(void *user, const char *s, size_t n)
{
    (void)user;
    if (printed.n + n > sizeof printed.s) n = sizeof printed.s - printed.n;
    memcpy(printed.s + printed.n, s, n);
    printed.n += n;
    return true;
}
static void quiet(void *user, const diag *d, const char *rendered) { (void)user, (void)d, (void)rendered; }

enum { FILES = 16 };
typedef struct snapshot {
    char name[FILES][64];
    bytes of[FILES];
    int n;
} snapshot;
static char folder[] = "/tmp/replay-faults-XXXXXX";
static snapshot before, after, now;

static void each_file(void (*one)(const char *path, const char *name, void *ctx), void *ctx)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.') one(path, e->d_name, ctx);
    }
    closedir(d);
}
static void take_file(const char *path, const char *name, void *ctx)
{
    snapshot *s = ctx;
    FILE *f = s->n < FILES ? __real_fopen(path, "rb") : NULL;
    if (!f) exit(2);
    snprintf(s->name[s->n], sizeof s->name[0], "%s", name);
    s->of[s->n].n = __real_fread(s->of[s->n].s, 1, sizeof s->of[0].s, f);
    fclose(f);
    s->n++;
}
static void remove_file(const char *path, const char *name, void *ctx) { (void)name, (void)ctx, unlink(path); }
static void look(snapshot *s) { s->n = 0, each_file(take_file, s); }
static const bytes *find(const snapshot *s, const char *name)
{
    for (int i = 0; i < s->n; i++)
        if (!strcmp(s->name[i], name)) return &s->of[i];
    return NULL;
}
static bool equal(const bytes *a, const bytes *b) { return (!a && !b) || (a && b && a->n == b->n && !memcmp(a->s, b->s, a->n)); }
static int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

static void breach(const char *path, const char *what, const char *more)
{
    breaches++;
    printf("%s: operation %llu%s, %s: %s%s\n", path, (unsigned long long)layer.at, layer.on ? " on" : "",
           layer.how == SHORT ? "short" : strerror(layer.how), what, more);
    fflush(stdout);
}

static bool run(session *s, const char *name, const char *text_, size_t n)
{
    value out;
    bool fine = session_run(s, name, text_, n, &out);
    if (fine) value_release(s->h->vm, out);
    return fine;
}

/* --- trials ---------------------------------------------------------------------------------------- */

typedef struct script {
    const char *path, *prepare, *then;
    size_t nprepare, nthen;
} script;

/* Looks at what is left after a fault. */
static void judge(const script *p, vm *m, bool fine, const bytes *whole)
{
    look(&now);
    if (fine) {
        succeeded++;
        if (!equal(&printed, whole)) breach(p->path, "it succeeded and printed something else", "");
        for (int i = 0; i < after.n; i++)
            if (!equal(find(&now, after.name[i]), &after.of[i])) breach(p->path, "it succeeded, and has other bytes: ", after.name[i]);
    } else {
        refused++;
        const diag *e = m->error;
        if (!e || (e->code != DIAG_FILE && e->code != DIAG_IMPORT)) breach(p->path, "another error: ", e ? e->message : "none");
        else if (!e->nlabels || !e->labels[0].at.src) breach(p->path, "an error without a place: ", e->message);
    }
    for (int i = 0; i < now.n; i++)
        if (!equal(&now.of[i], find(&before, now.name[i])) && !equal(&now.of[i], find(&after, now.name[i])))
            breach(p->path, "neither old nor new: ", now.name[i]);
}

/* Runs the text with the layer as it is set; whole: what it prints without a fault, NULL: this is that run. */
static void trial(const script *p, const bytes *whole)
{
    host h = {.show = quiet, .write = take_print};
    vm_config c = vm_config_default();
    c.threads = 1;
    if (!host_open(&h, &c)) exit(2);
    vm *m = h.vm;
    session s;
    session_open(&s, &h);
    each_file(remove_file, NULL);
    char set[200];
    snprintf(set, sizeof set, "folder = \"%s/\"\nkept = [1, 2, 3]", folder);
    if (!run(&s, "set", set, strlen(set)) || !run(&s, p->path, p->prepare, p->nprepare)) {
        printf("%s: %s\n", p->path, m->error ? m->error->message : "it cannot be prepared");
        exit(2);
    }
    if (!whole) look(&before);
    trials++;
    printed.n = 0, layer.count = 0;
    random_state random = m->random;
    int opened = open_files();
    layer.armed = true;
    bool fine = run(&s, p->path, p->then, p->nthen);
    layer.armed = false;
    if (open_files() != opened) breach(p->path, "a file stays open", "");
    if (whole) judge(p, m, fine, whole);
    else if (!fine) {
        printf("%s: %s\n", p->path, m->error ? m->error->message : "it fails");
        exit(2);
    } else look(&after);
    diag_free(m->error);
    m->error = NULL;
    if (!fine && (m->random.key != random.key || m->random.counter != random.counter)) breach(p->path, "the random state has changed", "");
    const char *good = fine ? "assert(same(kept, 0))" : "assert(same(kept, [1, 2, 3]))";
    if (!run(&s, "good", good, strlen(good))) breach(p->path, "the VM does not go on: ", m->error ? m->error->message : "");
    diag_free(m->error);
    m->error = NULL;
    session_close(&s);
    host_close(&h);
    if (held) breach(p->path, "memory stays live", "");
}

int main(int argc, char **argv)
{
    static const int ways[] = {EIO, ENOSPC, EACCES, EINTR, SHORT};
    if (!mkdtemp(folder)) return 2;
    for (int i = 1; i < argc; i++) {
        static bytes whole, text_;
        FILE *f = __real_fopen(argv[i], "rb");
        if (!f) return 2;
        text_.n = __real_fread(text_.s, 1, sizeof text_.s - 1, f);
        text_.s[text_.n] = 0;
        fclose(f);
        static const char mark[] = "# --- then\n";
        const char *then = strstr(text_.s, mark);
        if (!then) return 2;
        then += strlen(mark);
        script p = {argv[i], text_.s, then, (size_t)(then - text_.s), strlen(then)};
        layer.at = 0, layer.how = EIO;
        trial(&p, NULL);
        whole = printed;
        uint64_t n = layer.count;
        for (uint64_t k = 1; k <= n; k++)
            for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
                for (int on = 0; on < 2; on++) {
                    alarm(60);                            /* a hang is a breach too */
                    if (on && ways[w] == EINTR) continue; /* interrupted for ever */
                    layer.at = k, layer.how = ways[w], layer.on = on;
                    trial(&p, &whole);
                }
    }
    each_file(remove_file, NULL);
    rmdir(folder);
    printf("faults: %lu runs, %lu refused, %lu succeeded all the same, %lu breaches\n", trials, refused, succeeded, breaches);
    return breaches != 0;
}
