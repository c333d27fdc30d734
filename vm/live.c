/* live.c: where each register of a Code dies.
 *
 * In goes the tree (optimised Code), out comes the same tree annotated: for every operand whether the
 * register dies there, and lists of registers to drop where no operand can say so: a result nobody
 * reads, a value whose last use lies in the other arm of an IF, a value from outside a loop that the
 * loop's body reads. One walk backward: `live[r]` says whether some path from here reads r. Linear in
 * the number of uses times the nesting of blocks.
 *
 * A register that a primitive is given twice has no last use there but is dropped after it, because a
 * kernel that may write into one argument would change the other. */
#include "run.h"
#include <string.h>

typedef struct walk {
    vm *m;
    arena *a;
    uint8_t *live;        /* by register */
    uint32_t *order;      /* by register: running number of its definition; those of a block and of all
                         blocks within are consecutive */
    uint32_t *stamp, now; /* by register: when it was last listed */
    uint32_t *place;      /* by register: the operand at which it dies, if that is of the instruction at hand */
    uint32_t defined;
    reg *log;
    uint32_t nlog, log_cap; /* registers that became live, newest last */
    bool failed;
} walk;

static void *take(walk *k, size_t bytes)
{
    void *p = k->failed ? NULL : arena_alloc(k->a, bytes);
    if (!p && !k->failed) {
        vm_out_of_memory(k->m);
        k->failed = true;
    }
    return p;
}

static void drop_add(walk *k, drop **list, reg r)
{
    drop *d = take(k, sizeof *d);
    if (!d) return;
    *d = (drop){r, *list};
    *list = d;
}

/* --- the annotated tree, with definitions numbered ------------------------------------------- */

static void define(walk *k, const reg *r, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) k->order[r[i]] = k->defined++;
}

static bool tree_of(walk *k, const block *b, live_block *out)
{
    *out = (live_block){.b = b};
    define(k, b->params, b->nparams);
    out->of = take(k, b->n * sizeof *out->of);
    if (!out->of) return false;
    for (uint32_t n = 0; n < b->n; n++) {
        live_instr *li = &out->of[n];
        const instr *i = b->list[n];
        li->i = i;
        if (i->nsrc && !(li->last = take(k, i->nsrc))) return false;
        if (i->nblocks && !(li->blocks = take(k, i->nblocks * sizeof *li->blocks))) return false;
        for (uint32_t j = 0; j < blocks_run(i); j++)
            if (!tree_of(k, i->blocks[j], &li->blocks[j])) return false;
        define(k, i->dst, i->ndst);
    }
    return true;
}

/* --- backward ------------------------------------------------------------------------------- */

static void become_live(walk *k, reg r)
{
    k->live[r] = 1;
    if (k->nlog == k->log_cap) {
        uint32_t cap = k->log_cap * 2;
        reg *log = memory_resize(&k->m->mem, MEM_OTHER, k->log, k->log_cap * sizeof *log, cap * sizeof *log);
        if (!log) {
            if (!k->failed) vm_out_of_memory(k->m);
            k->failed = true;
            return;
        }
        k->log = log;
        k->log_cap = cap;
    }
    k->log[k->nlog++] = r;
}

static void walk_block(walk *k, live_block *b);

/* Registers of outside that the body reads live through every iteration and die after the loop. */
static void loop_reads(walk *k, const block *b, uint32_t first, drop **after)
{
    for (uint32_t n = 0; n < b->n; n++) {
        const instr *i = b->list[n];
        for (uint32_t s = 0; s < i->nsrc; s++) {
            reg r = i->src[s];
            if (k->order[r] >= first || k->live[r]) continue;
            become_live(k, r);
            drop_add(k, after, r);
        }
        for (uint32_t j = 0; j < blocks_run(i); j++) loop_reads(k, i->blocks[j], first, after);
    }
}

/* The number of the first register defined in b or within; of an instruction's blocks and results. */
static uint32_t first_defined(const walk *k, const block *b)
{
    if (b->nparams) return k->order[b->params[0]];
    for (uint32_t n = 0; n < b->n; n++) {
        const instr *i = b->list[n];
        for (uint32_t j = 0; j < blocks_run(i); j++) {
            uint32_t f = first_defined(k, i->blocks[j]);
            if (f != UINT32_MAX) return f;
        }
        if (i->ndst) return k->order[i->dst[0]];
    }
    return UINT32_MAX;
}

/* Both arms must leave the same registers live: what dies in one is dropped at the start of the other. */
static void walk_if(walk *k, live_instr *li)
{
    uint32_t mark = k->nlog, n = 0;
    walk_block(k, &li->blocks[0]);
    reg *first = NULL;
    if (k->nlog > mark) {
        first = take(k, (k->nlog - mark) * sizeof *first);
        if (!first) return;
    }
    for (uint32_t j = mark; j < k->nlog; j++) {
        reg r = k->log[j];
        if (!k->live[r]) continue; /* defined in the arm */
        k->live[r] = 0;
        first[n++] = r;
    }
    k->nlog = mark;
    walk_block(k, &li->blocks[1]);
    uint32_t now = ++k->now;
    for (uint32_t j = 0; j < n; j++) k->stamp[first[j]] = now;
    for (uint32_t j = mark; j < k->nlog; j++) {
        reg r = k->log[j];
        if (k->live[r] && k->stamp[r] != now) drop_add(k, &li->blocks[0].start, r);
    }
    for (uint32_t j = 0; j < n; j++) {
        if (k->live[first[j]]) continue;
        drop_add(k, &li->blocks[1].start, first[j]);
        become_live(k, first[j]);
    }
}

static void walk_sources(walk *k, live_instr *li)
{
    const instr *i = li->i;
    bool lent = i->op == OP_CODE_PRIM || i->op == OP_CODE_FUSED;
    uint32_t now = ++k->now;
    for (uint32_t s = i->nsrc; s-- > 0;) {
        reg r = i->src[s];
        if (!k->live[r]) {
            li->last[s] = 1;
            become_live(k, r);
            k->stamp[r] = now;
            k->place[r] = s;
        } else if (lent && k->stamp[r] == now) { /* it dies here, and stands here twice */
            if (!li->last[k->place[r]]) continue;
            li->last[k->place[r]] = 0;
            drop_add(k, &li->after, r);
        }
    }
}

static void walk_block(walk *k, live_block *b)
{
    for (uint32_t n = b->b->n; n-- > 0 && !k->failed;) {
        live_instr *li = &b->of[n];
        const instr *i = li->i;
        for (uint32_t d = 0; d < i->ndst; d++) {
            if (!k->live[i->dst[d]]) drop_add(k, &li->after, i->dst[d]);
            k->live[i->dst[d]] = 0;
        }
        switch (i->op) {
        case OP_CODE_IF: walk_if(k, li); break;
        case OP_CODE_LOOP:
            loop_reads(k, i->blocks[0], first_defined(k, i->blocks[0]), &li->after);
            /* fall through */
        case OP_CODE_CHECKPOINT: walk_block(k, &li->blocks[0]); break;
        }
        walk_sources(k, li);
    }
    for (uint32_t p = 0; p < b->b->nparams; p++) {
        reg r = b->b->params[p];
        if (!k->live[r]) drop_add(k, &b->start, r);
        k->live[r] = 0;
    }
}

bool live_of(vm *m, const code *tree, arena *a, live_block *out)
{
    walk k = {.m = m, .a = a, .log_cap = 64};
    uint32_t n = tree->nregs ? tree->nregs : 1;
    k.live = take(&k, n);
    k.order = take(&k, n * sizeof *k.order);
    k.stamp = take(&k, n * sizeof *k.stamp);
    k.place = take(&k, n * sizeof *k.place);
    k.log = memory_alloc(&m->mem, MEM_OTHER, k.log_cap * sizeof *k.log);
    if (!k.log && !k.failed) k.failed = !vm_out_of_memory(m);
    if (!k.failed && tree_of(&k, tree->body, out)) walk_block(&k, out);
    memory_free(&m->mem, MEM_OTHER, k.log, k.log_cap * sizeof *k.log);
    return !k.failed;
}
