/* profile.c: what `--profile` counts: the time and the bytes of primitives, by source line.
 *
 * In come single runs of primitives and fused groups from the interpreter; out goes a table sorted by
 * time. The forward pass of a gradient, replays, and the adjoint program are apart; an adjoint
 * instruction belongs to the line of the primal. Scalars in the interpreter's own loop are not timed one
 * by one: that would cost more than they do; they are what is left of the whole. */
#include "profile.h"
#include <stdlib.h>
#include <string.h>

typedef enum phase { PHASE_PLAIN, PHASE_FORWARD, PHASE_REPLAY, PHASE_ADJOINT, PHASES } phase;
static const char *const phase_names[] = {"", "forward", "replay", "adjoint"};

typedef struct entry {
    source *src;
    uint32_t line;
    uint8_t phase;
    const char *what;
    uint64_t count, bytes;
    double seconds;
} entry;

struct profile {
    entry *of;
    uint32_t n, cap;
}; /* open addressing; cap a power of two */

bool profile_open(struct exec *x)
{
    if (!x->m->config.profile) return true;
    struct profile *p = memory_alloc(&x->m->mem, MEM_OTHER, sizeof *p);
    if (!p) return vm_out_of_memory(x->m);
    x->profile = p;
    p->cap = 256;
    p->of = memory_alloc(&x->m->mem, MEM_OTHER, p->cap * sizeof *p->of);
    return p->of || vm_out_of_memory(x->m);
}

void profile_close(struct exec *x)
{
    struct profile *p = x->profile;
    if (!p) return;
    for (uint32_t k = 0; p->of && k < p->cap; k++)
        if (p->of[k].src) source_release(p->of[k].src);
    memory_free(&x->m->mem, MEM_OTHER, p->of, p->of ? p->cap * sizeof *p->of : 0);
    memory_free(&x->m->mem, MEM_OTHER, p, sizeof *p);
    x->profile = NULL;
}

/* Where the entry is, or would be. */
static entry *find(entry *of, uint32_t cap, const entry *e)
{
    uint64_t h = ((uintptr_t)e->src >> 4) * 31 + e->line;
    h = (h * 31 + e->phase) * 31 + ((uintptr_t)e->what >> 2);
    h *= 0x9e3779b97f4a7c15u;
    for (uint32_t k = (uint32_t)(h >> 32);; k++) {
        entry *a = &of[k & (cap - 1)];
        if (!a->what || (a->src == e->src && a->line == e->line && a->phase == e->phase && a->what == e->what)) return a;
    }
}

void profile_add(struct exec *x, const frame *f, const uint32_t *w, const char *what, double seconds, size_t bytes)
{
    struct profile *p = x->profile;
    vm *m = x->m;
    const instr *i = instr_at(f, w);
    uint32_t line = i->at.src ? source_line(i->at.src, i->at.lo) : 0;
    phase when = i->flags & INSTR_ADJOINT ? PHASE_ADJOINT : x->forcing ? PHASE_REPLAY : m->gradient_depth ? PHASE_FORWARD : PHASE_PLAIN;
    entry key = {.src = i->at.src, .line = line, .phase = (uint8_t)when, .what = what}, *e = find(p->of, p->cap, &key);
    if (!e->what) {
        if (p->n * 2 >= p->cap) {
            entry *more = memory_alloc(&m->mem, MEM_OTHER, p->cap * 2 * sizeof *more);
            if (!more) return; /* a profile is not worth an error */
            for (uint32_t k = 0; k < p->cap; k++)
                if (p->of[k].what) *find(more, p->cap * 2, &p->of[k]) = p->of[k];
            memory_free(&m->mem, MEM_OTHER, p->of, p->cap * sizeof *p->of);
            p->of = more;
            p->cap *= 2;
            e = find(p->of, p->cap, &key);
        }
        *e = key;
        if (e->src) source_retain(e->src);
        p->n++;
    }
    e->count++;
    e->seconds += seconds;
    e->bytes += bytes;
}

static int slower(const void *a, const void *b)
{
    double d = ((const entry *)b)->seconds - ((const entry *)a)->seconds;
    return d > 0 ? 1 : d < 0 ? -1 : 0;
}

enum { LINES_SHOWN = 40 };

void profile_print(vm *m, double seconds, text *out)
{
    struct profile *p = m->exec->profile;
    if (!p) return;
    entry *of = memory_alloc(&m->mem, MEM_OTHER, (p->n + 1) * sizeof *of);
    if (!of) return;
    uint32_t n = 0;
    double all = 0, by[PHASES] = {0};
    for (uint32_t k = 0; k < p->cap; k++)
        if (p->of[k].what) {
            all += p->of[k].seconds;
            by[p->of[k].phase] += p->of[k].seconds;
            of[n++] = p->of[k];
        }
    qsort(of, n, sizeof *of, slower);
    text_printf(out, "%.3f s, of which in primitives: forward %.3f, replay %.3f, adjoint %.3f, outside gradients %.3f; the rest %.3f\n",
                seconds, by[PHASE_FORWARD], by[PHASE_REPLAY], by[PHASE_ADJOINT], by[PHASE_PLAIN], seconds > all ? seconds - all : 0);
    text_puts(out, "      ms  share    count       MiB  line\n");
    for (uint32_t k = 0; k < n && k < LINES_SHOWN; k++) {
        const entry *e = &of[k];
        const char *name = e->src ? e->src->name : "", *slash = strrchr(name, '/');
        text_printf(out, "%8.1f %5.1f%% %8llu %9.1f  %s:%u %s%s%s\n", e->seconds * 1e3, all > 0 ? 100 * e->seconds / all : 0,
                    (unsigned long long)e->count, (double)e->bytes / 1048576, slash ? slash + 1 : name, e->line, e->what,
                    e->phase ? ", " : "", phase_names[e->phase]);
    }
    if (n > LINES_SHOWN) text_printf(out, "and %u more\n", n - LINES_SHOWN);
    memory_free(&m->mem, MEM_OTHER, of, (p->n + 1) * sizeof *of);
}
