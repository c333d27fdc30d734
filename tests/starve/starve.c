/* starve.c: refuses the N-th allocation of a program, for a sample of N, and looks at what is left.
 *
 * In: paths of .rl files; STARVE_COUNT=, how many N for each (30). For each N a fresh VM runs the file's text with
 * that allocation refused. What must hold: the text succeeds all the same or fails with error[memory]; a
 * variable set before is as it was; the VM goes on working; and when it closes nothing is live. Out: a line for
 * each breach, and one of counts. The linker hands memory_close over (see Makefile). */
#include "../../lang/session.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long trials, failures, succeeded;
static size_t left_live;

void __real_memory_close(memory *m);
void __wrap_memory_close(memory *m);
void __wrap_memory_close(memory *m)
{
    left_live = m->live_all;
    __real_memory_close(m);
}

static bool swallow(void *user, const char *s, size_t n)
{
    (void)user, (void)s, (void)n;
    return true;
}
static void quiet(void *user, const diag *d, const char *rendered) { (void)user, (void)d, (void)rendered; }

static void breach(const char *path, uint64_t at, const char *what, const char *more)
{
    failures++;
    printf("%s: allocation %llu refused: %s%s\n", path, (unsigned long long)at, what, more);
    fflush(stdout);
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

/* Runs the text with allocation `at` (from 1) of it refused, 0: none. Gives how many it made. */
static uint64_t trial(const char *path, const char *text_, size_t n, uint64_t at)
{
    host h = {.show = quiet, .write = swallow};
    vm_config c = vm_config_default();
    c.threads = 1;
    if (!host_open(&h, &c)) exit(2);
    vm *m = h.vm;
    session s;
    session_open(&s, &h);
    static const char before[] = "starve_before = [1, 2, 3]", after[] = "assert(sum(starve_before) == 6)";
    if (!run(&s, "before", before, strlen(before))) exit(2);
    uint64_t start = m->mem.count;
    m->mem.fail_at = at ? start + at : 0;
    trials++;
    bool fine = run(&s, path, text_, n);
    uint64_t made = m->mem.count - start;
    m->mem.fail_at = 0;
    if (fine) succeeded++;
    else if (at && m->error && m->error->code != DIAG_MEMORY && m->error->code != DIAG_BUDGET)
        breach(path, at, "another error: ", m->error->message);
    bool was_fine = fine;
    forget(m);
    if (!run(&s, "after", after, strlen(after))) breach(path, at, "the VM does not go on: ", m->error ? m->error->message : "");
    forget(m);
    session_close(&s);
    host_close(&h);
    if (left_live) {
        char more[60];
        snprintf(more, sizeof more, "%zu bytes%s", left_live, was_fine ? " (it succeeded)" : "");
        breach(path, at, "leaked ", more);
    }
    return was_fine || at ? made : 0;
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

int main(int argc, char **argv)
{
    const char *e = getenv("STARVE_COUNT");
    uint64_t count = e ? strtoull(e, NULL, 10) : 30;
    for (int i = 1; i < argc; i++) {
        size_t n;
        char *s = slurp(argv[i], &n);
        if (!s) continue;
        alarm(120); /* a hang is a breach too */
        uint64_t all = trial(argv[i], s, n, 0);
        /* The first ones densely (compiling), then further and further apart, with an odd offset for each. */
        for (uint64_t k = 0; k < count && all; k++) {
            alarm(120);
            uint64_t at = 1 + (uint64_t)((double)all * (double)k / (double)count) + (k * 7919 + (uint64_t)i * 31) % (1 + all / count);
            if (at <= all) trial(argv[i], s, n, at);
        }
        free(s);
    }
    printf("starve: %lu runs, %lu succeeded all the same, %lu breaches\n", trials, succeeded, failures);
    return failures != 0;
}
