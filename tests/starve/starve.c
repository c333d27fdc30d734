/* starve.c: refuses the N-th allocation of a program, for a sample of N, and looks at what is left.
 *
 * In: paths of .rl files, or @ and a file of which every line is a text; STARVE_COUNT=, how many N for each file (30);
 * STARVE_DEPTH=, how many callers make a place (4). For each N a fresh VM runs the file's text with that allocation
 * refused. So it does for each place in the C code that asks for memory, known by its callers: the first request from
 * there in all the texts is refused, and, of every fourth place, all that come after as well, as on a machine that has no
 * more. A request to an arena may be refused anywhere, for its chunk may end there.
 * What must hold: the text succeeds all the same or fails with error[memory]; a variable set before is as it was;
 * the VM goes on working; and when it closes nothing is live. Out: a line for each breach, with the callers of the
 * request, and one of counts. The linker hands memory_close and the requests over (see Makefile). */
#include "../fuzz/held.h"
#include "../../lang/session.h"
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long trials, failures, succeeded;

/* --- places ---------------------------------------------------------------------------------------- */

enum { PLACES_MOST = 1 << 17, DEPTH_MOST = 16 };
static struct {
    bool armed, looks; /* looks: notes places that were not met before */
    bool on;           /* all from that one on are refused, as when the machine has no more */
    uint64_t n, at;    /* requests so far, the one to refuse */
    uint64_t seen[2 * PLACES_MOST];
    uint64_t fresh[PLACES_MOST]; /* the first requests from places not met before */
    size_t nseen, nfresh;
    int depth;
    void *callers[24]; /* of the request that was refused */
    int ncallers;
} place;

/* Whether the callers of this request are met for the first time. */
static bool is_new(void)
{
    void *callers[DEPTH_MOST + 2];
    int n = backtrace(callers, place.depth + 2);
    uint64_t h = 0;
    for (int i = 2; i < n; i++) h = (h ^ (uint64_t)(uintptr_t)callers[i]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    size_t i = h % (2 * PLACES_MOST);
    for (h |= 1; place.seen[i]; i = (i + 1) % (2 * PLACES_MOST))
        if (place.seen[i] == h) return false;
    if (place.nseen == PLACES_MOST) return false;
    place.seen[i] = h;
    place.nseen++;
    return true;
}

__attribute__((noinline)) static bool refused(memory *m, size_t bytes)
{
    if (!place.armed) return false;
    uint64_t n = ++place.n;
    if (place.looks && is_new()) place.fresh[place.nfresh++] = n;
    if (place.on ? !place.at || n < place.at : n != place.at) return false;
    if (n == place.at) place.ncallers = backtrace(place.callers, 24);
    m->refused = bytes ? bytes : 1;
    m->refused_live = SIZE_MAX;
    return true;
}

/* What builders fall back on when memory_alloc gives nothing. */
void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes)
{
    return place.armed && place.on && place.at && place.n >= place.at ? NULL : __real_calloc(n, bytes);
}

#define WRAP(type, name, ...) \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)
WRAP(void *, memory_alloc, memory *m, mem_tag tag, size_t bytes) { return refused(m, bytes) ? NULL : __real_memory_alloc(m, tag, bytes); }
WRAP(void *, memory_array_alloc, memory *m, size_t bytes) { return refused(m, bytes) ? NULL : __real_memory_array_alloc(m, bytes); }
WRAP(void *, memory_resize, memory *m, mem_tag tag, void *p, size_t was, size_t bytes)
{
    return bytes > was && refused(m, bytes) ? NULL : __real_memory_resize(m, tag, p, was, bytes);
}
WRAP(void *, arena_alloc, arena *a, size_t bytes)
{
    if (!refused(a->m, bytes)) return __real_arena_alloc(a, bytes);
    a->refused = true;
    return NULL;
}
WRAP(char *, arena_text, arena *a, const char *s, size_t n)
{
    if (!refused(a->m, n)) return __real_arena_text(a, s, n);
    a->refused = true;
    return NULL;
}

/* --- trials ---------------------------------------------------------------------------------------- */

static bool swallow(void *user, const char *s, size_t n)
{
    (void)user, (void)s, (void)n;
    return true;
}
static void quiet(void *user, const diag *d, const char *rendered) { (void)user, (void)d, (void)rendered; }

static void breach(const char *path, uint64_t at, const char *what, const char *more)
{
    failures++;
    printf("%s: %s %llu refused: %s%s\n", path, place.at ? "request" : "allocation", (unsigned long long)(place.at ? place.at : at), what,
           more);
    fflush(stdout);
    if (place.at && place.ncallers > 2) backtrace_symbols_fd(place.callers + 2, place.ncallers - 2, 1);
}

/* The text that runs now, for a crash or a hang. */
static const char *running;
static void on_signal(int number)
{
    breach(running, 0, strsignal(number), "");
    _exit(1);
}

static bool run(session *s, const char *name, const char *text_, size_t n)
{
    value out;
    bool fine = session_run(s, name, text_, n, &out);
    if (fine) value_release(s->h->vm, out);
    return fine;
}

static void forget(vm *m)
{
    diag_free(m->error);
    m->error = NULL;
}

/* Runs the text with allocation `at` (from 1) of it refused, 0: none, or with request `place.at`. Gives how many it made. */
static uint64_t trial(const char *path, const char *text_, size_t n, uint64_t at)
{
    running = path;
    host h = {.show = quiet, .write = swallow};
    vm_config c = vm_config_default();
    c.threads = 1;
    if (!host_open(&h, &c)) exit(2);
    vm *m = h.vm;
    session s;
    session_open(&s, &h);
    static const char before[] = "starve_before = [1, 2, 3]", after[] = "assert(same(starve_before, [1, 2, 3]))";
    if (!run(&s, "before", before, strlen(before))) exit(2);
    uint64_t start = m->mem.count;
    m->mem.fail_at = at ? start + at : 0;
    trials++;
    place.n = 0, place.armed = true;
    bool fine = run(&s, path, text_, n);
    place.armed = false;
    uint64_t made = m->mem.count - start;
    m->mem.fail_at = 0;
    if (fine) succeeded++;
    else if ((at || place.at) && m->error && m->error->code != DIAG_MEMORY && m->error->code != DIAG_BUDGET)
        breach(path, at, "another error: ", m->error->message);
    bool was_fine = fine;
    forget(m);
    if (!run(&s, "after", after, strlen(after))) breach(path, at, "the VM does not go on: ", m->error ? m->error->message : "");
    forget(m);
    session_close(&s);
    host_close(&h);
    if (held) {
        char more[60];
        snprintf(more, sizeof more, "%zu bytes%s", held, was_fine ? " (it succeeded)" : "");
        breach(path, at, "leaked ", more);
    }
    return was_fine || at ? made : 0;
}

/* Opens the VM, which compiles the library, with request `place.at` of that refused. */
static void trial_of_opening(void)
{
    host h = {.show = quiet, .write = swallow};
    vm_config c = vm_config_default();
    running = "opening";
    trials++;
    held = 0;
    place.n = 0, place.armed = true;
    bool fine = host_open(&h, &c);
    place.armed = false;
    if (fine) host_close(&h);
    succeeded += fine;
    if (held) breach(running, 0, "it leaks", "");
}

static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *s = malloc(1 << 20);
    *n = s ? fread(s, 1, (1 << 20) - 1, f) : 0;
    fclose(f);
    if (s) s[*n] = 0;
    return s;
}

/* All trials of a text, the `nth`. */
static void starve(const char *path, const char *s, size_t n, uint64_t nth, uint64_t count)
{
    alarm(120);
    uint64_t all = trial(path, s, n, 0);
    place.looks = all != 0, place.nfresh = 0;
    if (all) trial(path, s, n, 0);
    place.looks = false;
    /* The first ones densely (compiling), then further and further apart, with an odd offset for each. */
    for (uint64_t k = 0; k < count && all; k++) {
        alarm(120);
        uint64_t at = 1 + (uint64_t)((double)all * (double)k / (double)count) + (k * 7919 + nth * 31) % (1 + all / count);
        if (at <= all) trial(path, s, n, at);
    }
    for (size_t k = 0; k < place.nfresh && all; k++) {
        alarm(120);
        place.at = place.fresh[k];
        trial(path, s, n, 0);
        place.on = true;
        if (k % 4 == nth % 4) trial(path, s, n, 0);
        place.on = false;
    }
    place.at = 0;
}

static void starve_opening(void)
{
    alarm(120);          /* a hang is a breach too */
    int errors = dup(2); /* where it says that there is no memory */
    if (errors < 0 || !freopen("/dev/null", "w", stderr)) exit(2);
    place.looks = true;
    trial_of_opening();
    place.looks = false;
    for (size_t k = 0; k < place.nfresh; k++) {
        place.at = place.fresh[k];
        trial_of_opening();
    }
    place.at = 0;
    fflush(stderr);
    dup2(errors, 2);
    close(errors);
}

int main(int argc, char **argv)
{
    const char *e = getenv("STARVE_COUNT"), *d = getenv("STARVE_DEPTH");
    int depth = d ? atoi(d) : 4;
    place.depth = depth < 1 ? 1 : depth > DEPTH_MOST ? DEPTH_MOST : depth;
#ifndef __SANITIZE_ADDRESS__ /* which says more */
    static const int bad[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) signal(bad[i], on_signal);
#endif
    uint64_t count = e ? strtoull(e, NULL, 10) : 30;
    starve_opening();
    for (int i = 1; i < argc; i++) {
        size_t n;
        bool lines = argv[i][0] == '@';
        char *s = slurp(argv[i] + lines, &n);
        if (!s) continue;
        if (!lines) starve(argv[i], s, n, (uint64_t)i, count);
        for (char *line = s, *end; lines && (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            starve(line, line, (size_t)(end - line), 0, 0);
        }
        free(s);
    }
    printf("starve: %lu runs, %zu places, %lu succeeded all the same, %lu breaches\n", trials, place.nseen, succeeded, failures);
    return failures != 0;
}
