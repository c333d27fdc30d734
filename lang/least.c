/* least.c: `replay memory FILE --least`: the smallest budget under which a program runs to its end.
 *
 * The program is run without a budget for its peak, and then again and again, silently, within a bracket
 * that is halved until it is a sixty-fourth of its upper end wide. That end is a budget that was tried: the
 * program succeeded within it. Programs that fail for another reason, or read what changes, have no answer. */
#include "command.h"
#include "deadline.h"
#include "signals.h"
#include <stdio.h>
#include <string.h>

static void swallow_diag(void *user, const diag *d, const char *rendered) { *(bool *)user |= d->code == DIAG_BUDGET; }
static bool swallow(void *user, const char *s, size_t n) { return true; }

typedef struct trial {
    bool fine, refused, stopped;
    size_t peak;
} trial;

/* What all trials have in common. */
typedef struct search {
    const vm_config *config;
    const char *path;
    deadline *deadline; /* of them all; NULL: none */
    volatile int idle;  /* what is interrupted between them */
} search;

static trial try_budget(search *s, size_t budget)
{
    trial t = {0};
    vm_config c = *s->config;
    c.budget = budget;
    host h = {.user = &t.refused, .show = swallow_diag, .write = swallow};
    if (!host_open(&h, &c)) return t;
    deadline_aim(s->deadline, &h.vm->interrupt);
    signals_watch(&h.vm->interrupt);
    int status = 0;
    code *script = command_compile_file(&h, s->path, false, &status);
    if (script) {
        value out;
        t.fine = vm_run(h.vm, script, &out);
        if (!t.fine && h.vm->error) {
            t.refused |= h.vm->error->code == DIAG_BUDGET;
            t.stopped = h.vm->error->code == DIAG_INTERRUPT;
        }
        value_release(h.vm, out);
        t.peak = h.vm->mem.peak[MEM_ARRAY];
        code_release(script);
    }
    deadline_aim(s->deadline, &s->idle);
    signals_watch(&s->idle);
    host_close(&h);
    return t;
}

static int no_answer(const search *s, const trial *t, const char *within)
{
    if (t->stopped) fprintf(stderr, "error[interrupt]: stopped before %s had run to its end\n", s->path);
    else fprintf(stderr, "replay: %s does not run to its end %s\n", s->path, within);
    return 1;
}

static int find_least(search *s)
{
    trial all = try_budget(s, 0);
    if (!all.fine) return no_answer(s, &all, "without a budget");
    size_t low = 0, high = all.peak;
    trial t = try_budget(s, high ? high : 1);
    for (int k = 0; !t.fine && t.refused && k < 8; k++) t = try_budget(s, high += high / 4 + 1);
    if (!t.fine) return no_answer(s, &t, "within its own peak");
    while (high - low > high / 64 + 64) {
        size_t middle = low + (high - low) / 2;
        t = try_budget(s, middle);
        if (t.stopped) return no_answer(s, &t, "");
        if (t.fine) high = middle;
        else low = middle;
    }
    printf("peak %zu bytes without a budget, least budget %zu bytes (%.1f %%)\n", all.peak, high,
           all.peak ? 100.0 * (double)high / (double)all.peak : 100.0);
    return 0;
}

int command_least(const vm_config *config, double seconds, const char *path)
{
    search s = {.config = config, .path = path};
    if (seconds > 0) {
        if (!(s.deadline = deadline_open(&s.idle, 2))) {
            fputs("replay: no memory\n", stderr);
            return 1;
        }
        deadline_arm(s.deadline, seconds);
    }
    int status = find_least(&s);
    deadline_close(s.deadline);
    signals_watch(NULL);
    signals_leave();
    return status;
}
