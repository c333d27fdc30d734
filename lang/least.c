/* least.c: `replay memory FILE --least`: the smallest budget under which a program runs to its end.
 *
 * The program is run without a budget for its peak, and then again and again, silently, within a bracket
 * that is halved until it is a sixty-fourth of its upper end wide. That end is a budget that was tried: the
 * program succeeded within it. Programs that fail for another reason, or read what changes, have no answer. */
#include "command.h"
#include <stdio.h>
#include <string.h>

static void swallow_diag(void *user, const diag *d, const char *rendered) { *(bool *)user |= d->code == DIAG_BUDGET; }
static bool swallow(void *user, const char *s, size_t n) { return true; }

typedef struct trial {
    bool fine, refused;
    size_t peak;
} trial;

static trial try_budget(const vm_config *config, const char *path, size_t budget)
{
    trial t = {0};
    vm_config c = *config;
    c.budget = budget;
    host h = {.user = &t.refused, .show = swallow_diag, .write = swallow};
    if (!host_open(&h, &c)) return t;
    int status = 0;
    code *script = command_compile_file(&h, path, false, &status);
    if (script) {
        value out;
        t.fine = vm_run(h.vm, script, &out);
        if (!t.fine && h.vm->error) t.refused |= h.vm->error->code == DIAG_BUDGET;
        value_release(h.vm, out);
        t.peak = h.vm->mem.peak[MEM_ARRAY];
        code_release(script);
    }
    host_close(&h);
    return t;
}

int command_least(const vm_config *config, const char *path)
{
    trial all = try_budget(config, path, 0);
    if (!all.fine) {
        fprintf(stderr, "replay: %s does not run to its end without a budget\n", path);
        return 1;
    }
    size_t low = 0, high = all.peak;
    trial t = try_budget(config, path, high ? high : 1);
    for (int k = 0; !t.fine && t.refused && k < 8; k++) t = try_budget(config, path, high += high / 4 + 1);
    if (!t.fine) {
        fprintf(stderr, "replay: %s does not run to its end within its own peak\n", path);
        return 1;
    }
    while (high - low > high / 64 + 64) {
        size_t middle = low + (high - low) / 2;
        if (try_budget(config, path, middle).fine) high = middle;
        else low = middle;
    }
    printf("peak %zu bytes without a budget, least budget %zu bytes (%.1f %%)\n", all.peak, high,
           all.peak ? 100.0 * (double)high / (double)all.peak : 100.0);
    return 0;
}
