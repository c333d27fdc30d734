/* segment.c: straight lines cut into pieces that can be let go one by one, under a budget.
 *
 * In goes emitted Code, out comes Code that means the same, in which long lists of instructions, and calls,
 * stand in loops of one iteration: `results = loop.range 0, 1 { … yield }`. Deriving makes those lazy like
 * every loop under a budget (budget.h), so that what a piece recorded may go and be recorded again from what
 * entered it. Pieces nest as a binary tree over the list: letting go of an inner node lets go of what passes
 * between its parts too. Values used after a piece are carried out of it; a carried value starts undefined
 * and nothing reads it. Constants stay outside, at the head of their block, and SELF where it is.
 *
 * Never a step (no INSTR_STEP), so no count sees it. */
#include "diff.h"
#include "opt.h"
#include <string.h>

enum { LEAF = 8, LONG = 12 };

typedef struct segmenting {
    vm *m;
    const code *f;
    builder b;
    arena arena;
    cloner clone; /* map: the present name of each of f's registers */
} segmenting;

/* A list of instructions while it is being cut. */
typedef struct list {
    const block *k;
    uint32_t *of, n;  /* indices into k->list of what is cut, in order */
    uint32_t *weight; /* weight[i]: of all before the i-th */
    uint32_t *last;   /* by register of f: index of the last instruction of k that reads it, + 1 */
} list;

static uint32_t weight_of(const instr *i)
{
    switch (i->op) {
    case OP_CODE_CALL:
    case OP_CODE_TRY:
    case OP_CODE_MEASURE:
    case OP_CODE_LOOP:
    case OP_CODE_IF:
    case OP_CODE_CHECKPOINT: return LEAF;
    case OP_CODE_PRIM: return prim_of(i)->attrs & A_META ? 0 : 1;
    default: return 0;
    }
}

static void note_uses(list *l, const block *k, uint32_t at)
{
    for (uint32_t j = 0; j < k->n; j++) {
        const instr *i = k->list[j];
        for (uint32_t s = 0; s < i->nsrc; s++) l->last[i->src[s]] = at + 1;
        for (uint32_t q = 0; q < i->nblocks; q++) note_uses(l, i->blocks[q], at);
    }
}

static void segment_block(segmenting *s, const block *k, block *into);

/* A copy of i, its blocks cut where they are long. */
static void emit_instr(segmenting *s, const instr *i, block *into)
{
    builder *b = &s->b;
    bool whole = i->op == OP_CODE_CHECKPOINT && s->f->options[i->imm].slots; /* its loop stays the only one */
    if (!i->nblocks || whole) {
        clone_instr(&s->clone, i, into);
        return;
    }
    instr *n = instr_new(b, (opcode)i->op, clone_imm(b, s->f, i), i->ndst, i->nsrc, i->nblocks);
    if (!n || b->failed) return;
    n->flags = i->flags;
    n->origin = i->origin;
    n->at = i->at;
    n->point = i->point;
    n->src_at = i->src_at;
    for (uint32_t q = 0; q < i->nsrc; q++) n->src[q] = clone_src(&s->clone, i->src[q]);
    for (uint32_t q = 0; q < i->nblocks; q++) {
        const block *old = i->blocks[q];
        block *inner = n->blocks[q] = builder_block(b, 0);
        if (!inner) return;
        inner->params = builder_take(b, (old->nparams + 1) * sizeof(reg));
        if (!inner->params) return;
        inner->nparams = old->nparams;
        if (old->nparams) memcpy(inner->params, old->params, old->nparams * sizeof(reg));
        segment_block(s, old, inner);
    }
    for (uint32_t q = 0; q < i->ndst; q++) n->dst[q] = s->clone.map[i->dst[q]];
    builder_append(b, into, n);
}

static void emit_range(segmenting *s, list *l, uint32_t lo, uint32_t hi, bool node, block *into);

/* Instructions [lo, hi) in a loop of one iteration. */
static void wrap(segmenting *s, list *l, uint32_t lo, uint32_t hi, block *into)
{
    builder *b = &s->b;
    uint32_t n = 0, all = 0;
    for (uint32_t i = lo; i < hi; i++) all += l->k->list[l->of[i]]->ndst;
    reg *out = arena_alloc(&s->arena, (all + 1) * sizeof *out), *name = arena_alloc(&s->arena, (all + 1) * sizeof *name);
    block *body = builder_block(b, 0);
    if (!out || !name || !body) {
        b->failed = true;
        return;
    }
    uint32_t end = hi < l->n ? l->of[hi] : l->k->n - 1;
    for (uint32_t i = lo; i < hi; i++) {
        const instr *x = l->k->list[l->of[i]];
        for (uint32_t q = 0; q < x->ndst; q++)
            if (l->last[x->dst[q]] > end) out[n++] = x->dst[q];
    }
    block *outside = b->at;
    const instr *first = l->k->list[l->of[lo]];
    b->where = first->at;
    b->point = first->point;
    b->at = into;
    reg undef = n ? build_const(b, value_undef()) : 0;
    instr *loop = instr_new(b, OP_CODE_LOOP, LOOP_RANGE, n, 2 + n, 1);
    reg bounds[2] = {build_const(b, value_i64(0)), build_const(b, value_i64(1))};
    block_param_add(b, body, 0);
    if (!loop || b->failed) return;
    memcpy(loop->src, bounds, sizeof bounds);
    for (uint32_t q = 0; q < n; q++) {
        name[q] = s->clone.map[out[q]];
        loop->src[2 + q] = undef;
        loop->dst[q] = name[q];
        s->clone.map[out[q]] = builder_reg(b, s->f->reg_names[out[q]]);
        block_param_add(b, body, 0);
    }
    emit_range(s, l, lo, hi, false, body);
    reg *yield = arena_alloc(&s->arena, (n + 1) * sizeof *yield);
    if (!yield || b->failed) {
        b->failed = true;
        return;
    }
    for (uint32_t q = 0; q < n; q++) {
        yield[q] = s->clone.map[out[q]];
        s->clone.map[out[q]] = name[q];
    }
    b->at = body;
    builder_yield(b, n, yield);
    loop->blocks[0] = body;
    builder_append(b, into, loop);
    b->at = outside;
}

static bool has(const list *l, uint32_t lo, uint32_t hi, opcode op)
{
    for (uint32_t i = lo; i < hi; i++)
        if (l->k->list[l->of[i]]->op == op) return true;
    return false;
}

/* node: the range may itself become a piece. */
static void emit_range(segmenting *s, list *l, uint32_t lo, uint32_t hi, bool node, block *into)
{
    if (s->b.failed || lo >= hi) return;
    uint32_t w = l->weight[hi] - l->weight[lo];
    bool leaf = w <= LEAF || hi - lo == 1;
    bool loop = leaf && has(l, lo, hi, OP_CODE_LOOP); /* lazy already */
    if (node && w >= LEAF / 2 && !loop) {
        wrap(s, l, lo, hi, into);
        return;
    }
    if (leaf) {
        for (uint32_t i = lo; i < hi; i++) emit_instr(s, l->k->list[l->of[i]], into);
        return;
    }
    uint32_t middle = lo + 1;
    while (middle + 1 < hi && l->weight[middle] - l->weight[lo] < w / 2) middle++;
    emit_range(s, l, lo, middle, true, into);
    emit_range(s, l, middle, hi, true, into);
}

static void segment_block(segmenting *s, const block *k, block *into)
{
    builder *b = &s->b;
    list l = {.k = k};
    l.of = arena_alloc(&s->arena, (k->n + 1) * sizeof *l.of);
    l.weight = arena_alloc(&s->arena, (k->n + 2) * sizeof *l.weight);
    if (!l.of || !l.weight) {
        b->failed = true;
        return;
    }
    bool call = false, limits = false;
    for (uint32_t j = 0; j + 1 < k->n; j++) {
        const instr *i = k->list[j];
        if (i->op == OP_CODE_CONST || i->op == OP_CODE_SELF) {
            clone_instr(&s->clone, i, into);
            continue;
        }
        l.of[l.n] = j;
        l.weight[l.n + 1] = l.weight[l.n] + weight_of(i);
        l.n++;
        call |= i->op == OP_CODE_CALL;
        limits |= i->op == OP_CODE_BUDGET; /* and its end belong to one list */
    }
    uint32_t w = l.weight[l.n];
    if (!limits && (w >= LONG || (call && w > LEAF))) {
        l.last = memory_alloc(&s->m->mem, MEM_OTHER, (s->f->nregs + 1) * sizeof *l.last);
        if (!l.last) {
            vm_out_of_memory(s->m);
            b->failed = true;
            return;
        }
        for (uint32_t j = 0; j < k->n; j++) {
            const instr *i = k->list[j];
            for (uint32_t q = 0; q < i->nsrc; q++) l.last[i->src[q]] = j + 1;
            for (uint32_t q = 0; q < i->nblocks; q++) note_uses(&l, i->blocks[q], j);
        }
        emit_range(s, &l, 0, l.n, false, into);
        memory_free(&s->m->mem, MEM_OTHER, l.last, (s->f->nregs + 1) * sizeof *l.last);
    } else
        for (uint32_t i = 0; i < l.n && !b->failed; i++) emit_instr(s, k->list[l.of[i]], into);
    const instr *end = block_end(k);
    instr *y = instr_new(b, (opcode)end->op, 0, 0, end->nsrc, 0);
    if (!y || b->failed) return;
    for (uint32_t q = 0; q < end->nsrc; q++) y->src[q] = clone_src(&s->clone, end->src[q]);
    y->flags = end->flags;
    y->at = end->at;
    y->point = end->point;
    y->origin = end->origin;
    builder_append(b, into, y);
}

code *code_segment(code *f)
{
    segmenting s = {.m = f->vm, .f = f};
    builder *b = &s.b;
    arena_open(&s.arena, &s.m->mem, MEM_OTHER);
    builder_open(b, s.m, f->name, f->src, f->ncaptures, f->nparams);
    diff_same_regs(b, f);
    b->c->at = f->at;
    b->c->nresults = f->nresults;
    reg *map = arena_alloc(&s.arena, (f->nregs + 1) * sizeof *map);
    if (!map) {
        vm_out_of_memory(s.m);
        b->failed = true;
    }
    for (uint32_t r = 0; map && r < f->nregs; r++) map[r] = r;
    s.clone = (cloner){.b = b, .from = f, .map = map};
    if (!b->failed) segment_block(&s, f->body, b->c->body);
    if (s.arena.refused) vm_out_of_memory(s.m);
    arena_close(&s.arena);
    return builder_finish_derived(b, f, f->role);
}
