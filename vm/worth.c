/* worth.c: see worth.h. What was held between two moments comes from a stack of spans, one for each residual
 * of a block that was made and lives: a span has the most that was held from its residual's making to the
 * next one's. Residuals are forced last to first, as a rule, so few spans lie above the one that is forced;
 * where they are many, the block is taken to save. */
#include "worth.h"
#include "vm.h"
#include <string.h>

enum { SPANS_MOST = 256 /* looked through for one replay */, SHARE = 16 };

typedef struct span_high {
    size_t high;
    bool done;
} span_high;
struct worth {
    span_high *of;
    uint32_t n, cap;
};

bool worth_open(vm *m)
{
    m->worth = memory_alloc(&m->mem, MEM_OTHER, sizeof *m->worth);
    return m->worth != NULL;
}

void worth_close(vm *m)
{
    if (!m->worth) return;
    memory_free(&m->mem, MEM_OTHER, m->worth->of, m->worth->cap * sizeof *m->worth->of);
    memory_free(&m->mem, MEM_OTHER, m->worth, sizeof *m->worth);
    m->worth = NULL;
}

static block_count *block_of(vm *m, const residual *p)
{
    return p->options && p->options->block < m->stats.nblocks ? &m->stats.blocks[p->options->block] : NULL;
}

static void raise(size_t *high, size_t to)
{
    if (to > *high) *high = to;
}

/* The span at hand takes what was held so far. */
static void close_span(vm *m)
{
    worth *w = m->worth;
    if (w->n) raise(&w->of[w->n - 1].high, m->stats.saved_high);
    m->stats.saved_high = m->stats.saved;
}

void worth_made(vm *m, residual *p)
{
    worth *w = m->worth;
    block_count *b = block_of(m, p);
    p->span = 0;
    if (!b || b->saves) return;
    if (m->mem.array_budget != SIZE_MAX) {
        b->saves = true;
        return;
    }
    close_span(m);
    if (w->n == w->cap) {
        uint32_t cap = w->cap ? w->cap * 2 : 16;
        span_high *of = memory_resize(&m->mem, MEM_OTHER, w->of, w->cap * sizeof *of, cap * sizeof *of);
        if (!of) return;
        w->of = of;
        w->cap = cap;
    }
    w->of[w->n++] = (span_high){m->stats.saved, false};
    p->span = w->n;
}

/* Spans that nobody waits for go, and what was held in them to the one below. */
void worth_gone(vm *m, residual *p)
{
    worth *w = m->worth;
    if (!p->span || !w) return;
    close_span(m);
    w->of[p->span - 1].done = true;
    p->span = 0;
    while (w->n && w->of[w->n - 1].done) {
        w->n--;
        if (w->n) raise(&w->of[w->n - 1].high, w->of[w->n].high);
    }
}

static bool holds_arrays(const residual *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (value_is_heap(p->entered[i])) return true;
    return false;
}

worth_run worth_replay(vm *m, const residual *p)
{
    worth *w = m->worth;
    worth_run r = {.block = UINT32_MAX, .held = m->stats.saved, .live = m->mem.live[MEM_ARRAY]};
    block_count *b = block_of(m, p);
    if (!b) return r;
    r.block = p->options->block;
    if (b->saves) return r;
    if (!p->span || w->n - p->span >= SPANS_MOST || !holds_arrays(p)) {
        b->saves = true;
        return r;
    }
    close_span(m);
    for (uint32_t k = p->span; k <= w->n; k++) raise(&r.most, w->of[k - 1].high);
    return r;
}

void worth_recorded(vm *m, worth_run r)
{
    if (r.block >= m->stats.nblocks) return;
    block_count *b = &m->stats.blocks[r.block];
    size_t live = m->mem.live[MEM_ARRAY], recorded = live > r.live ? live - r.live : 0;
    raise(&m->stats.saved_high, r.held + recorded);
    if (b->saves) return;
    size_t saved = r.most > r.held ? r.most - r.held : 0;
    if (saved > recorded) saved = recorded;
    raise(&b->recorded, recorded);
    b->saves = saved > recorded / SHARE;
    b->judged = true;
}

void worth_report(vm *m)
{
    for (uint32_t k = 0; k < m->stats.nblocks; k++) {
        block_count *b = &m->stats.blocks[k];
        if (!b->judged || b->saves || b->warned) continue;
        if (b->at.src && !strncmp(b->at.src->name, "<stdlib>", 8)) continue; /* not the user's to take away */
        b->warned = true;
        vm_report(m, SEVERITY_WARNING, DIAG_CHECKPOINT, b->at,
                  b->recorded ? "the block saves nothing: the adjoint begins with it, so all that it records is held at that time anyway"
                              : "the block saves nothing: what it records is no more than what it is replayed from");
    }
}
