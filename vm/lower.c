/* lower.c: lazy loops (code.h) as they run.
 *
 * In goes derived Code, out comes Code in which every lazy loop that still has tapes has become
 *
 *     L = looptape entered…            record and advance, outlined from the body, are its Codes
 *     … = loop, plain                  the body without its pushes
 *           offer L, state…
 *           entry L, values…           under a budget, and then the body records
 *     loopend L
 *     tape = view L                    for each of its tapes
 *
 * The body without pushes still calls forward passes whose pullbacks nobody takes and records into
 * residuals nobody forces; `strip` takes those back to what they were made from, as often as the Code was
 * derived. A loop inside a lazy loop's body has lost its tapes then, and is a loop like any other; inside
 * `record` it keeps them, and is lowered when that Code is run.
 *
 * What a state needs: a carried value that a later iteration reads, in record or in advance for a value
 * that is itself needed. */
#include "diff.h"
#include "opt.h"
#include <string.h>

static bool has_lazy(const block *k)
{
    for (uint32_t j = 0; j < k->n; j++) {
        if (k->list[j]->op == OP_CODE_LOOP && k->list[j]->lazy) return true;
        for (uint32_t q = 0; q < k->list[j]->nblocks; q++)
            if (has_lazy(k->list[j]->blocks[q])) return true;
    }
    return false;
}

/* --- strip ------------------------------------------------------------------------------------ */

typedef struct strip {
    builder *b;
    uint32_t *uses;
    instr **def;
    uint32_t nregs;
    bool changed;
} strip;

static void count_uses(strip *s, const block *k)
{
    for (uint32_t j = 0; j < k->n; j++) {
        instr *i = k->list[j];
        if (i->op == OP_CODE_CHECKPOINT) i->nblocks = 1; /* its meaning is for derivatives */
        for (uint32_t q = 0; q < i->nsrc; q++) s->uses[i->src[q]]++;
        for (uint32_t q = 0; q < i->ndst; q++) s->def[i->dst[q]] = i;
        for (uint32_t q = 0; q < i->nblocks; q++) count_uses(s, i->blocks[q]);
    }
}

enum { CHAIN_MOST = 8 };
/* A function that was derived: kinds[0] last. Its results number count[0]; before the q-th step of
   deriving there were count[q + 1]. */
typedef struct chain {
    instr *of[CHAIN_MOST];
    uint32_t n;
    uint32_t count[CHAIN_MOST + 1];
} chain;

static void chain_of(const strip *s, reg f, uint32_t results, chain *c)
{
    c->n = 0;
    c->count[0] = results;
    for (instr *d = f < s->nregs ? s->def[f] : NULL; d && d->op == OP_CODE_DERIVE && c->n < CHAIN_MOST;
         d = d->src[0] < s->nregs ? s->def[d->src[0]] : NULL) {
        uint32_t n = c->count[c->n];
        c->of[c->n++] = d;
        c->count[c->n] = d->imm != DERIVE_JVP ? n - 1 : n / 2;
    }
}

/* Which of the results are there because step q of the chain was a forward pass: its pullback, and that
   one's tangents. `marks` has room for them all. */
static uint32_t pullbacks_of(const chain *c, uint32_t q, uint8_t *marks)
{
    uint32_t n = 1;
    memset(marks, 0, c->count[0]);
    marks[c->count[q] - 1] = 1;
    for (uint32_t p = q; p-- > 0;)
        if (c->of[p]->imm == DERIVE_JVP) {
            uint32_t half = c->count[p + 1];
            for (uint32_t k = 0; k < half; k++) marks[half + k] = marks[k];
            n *= 2;
        }
    return n;
}

/* A call of a forward pass whose pullback is not used becomes the call of what it was made from. New
   DERIVE instructions go to `to`. */
static void strip_call(strip *s, instr *i, block *to)
{
    bool wrapped = i->op != OP_CODE_CALL; /* TRY, MEASURE: the last result is about the run */
    if (!wrapped && i->imm & CALL_PACK) return;
    chain c;
    chain_of(s, i->src[0], i->ndst - (wrapped ? 1u : 0u), &c);
    uint8_t *marks = builder_take(s->b, c.count[0] + 1);
    if (!marks) return;
    for (uint32_t q = 0; q < c.n; q++) {
        if (c.of[q]->imm == DERIVE_JVP || c.count[q] == 0) continue;
        uint32_t gone = pullbacks_of(&c, q, marks);
        bool unused = true;
        for (uint32_t k = 0; k < c.count[0]; k++) unused &= !marks[k] || s->uses[i->dst[k]] == 0;
        if (!unused) return; /* and this pullback takes cotangents of those further in */
        reg f = c.of[q]->src[0];
        for (uint32_t p = q; p-- > 0;) {
            instr *d = instr_new(s->b, OP_CODE_DERIVE, c.of[p]->imm, 1, 2, 0);
            if (!d) return;
            d->src[0] = f;
            d->src[1] = c.of[p]->src[1];
            d->at = i->at;
            d->point = i->point;
            f = d->dst[0] = builder_reg(s->b, 0);
            builder_append(s->b, to, d);
        }
        i->src[0] = f;
        uint32_t n = 0;
        for (uint32_t k = 0; k < i->ndst; k++)
            if (k >= c.count[0] || !marks[k]) i->dst[n++] = i->dst[k];
        i->ndst = (uint16_t)(i->ndst - gone);
        s->changed = true;
        return; /* the rest in the next round */
    }
}

static void strip_block(strip *s, block *k)
{
    block to = {0};
    for (uint32_t j = 0; j < k->n && !s->b->failed; j++) {
        instr *i = k->list[j];
        for (uint32_t q = 0; q < i->nblocks; q++) strip_block(s, i->blocks[q]);
        switch (i->op) {
        case OP_CODE_CALL:
        case OP_CODE_TRY:
        case OP_CODE_MEASURE: strip_call(s, i, &to); break;
        case OP_CODE_CHECKPOINT: {
            bool alone = i->nsrc > 0;
            for (uint32_t q = 0; q < i->nsrc; q++) alone &= s->uses[i->src[q]] == 1;
            if (!alone) break;
            i->nsrc = i->ntapes = 0;
            s->changed = true;
            break;
        }
        default: break;
        }
        builder_append(s->b, &to, i);
    }
    if (s->b->failed) return;
    k->list = to.list;
    k->n = to.n;
    k->cap = to.cap;
}

/* Dead code goes, and with it what only the recording needed, until nothing changes. */
static bool strip_all(builder *b, bool fallible, bool output)
{
    vm *m = b->vm;
    for (bool again = true; again && !b->failed;) {
        arena a;
        arena_open(&a, &m->mem, MEM_OTHER);
        strip s = {.b = b, .nregs = b->c->nregs};
        s.uses = arena_alloc(&a, (s.nregs + 1) * sizeof *s.uses);
        s.def = arena_alloc(&a, (s.nregs + 1) * sizeof *s.def);
        if (!s.uses || !s.def) {
            vm_out_of_memory(m);
            b->failed = true;
        } else {
            count_uses(&s, b->c->body);
            if (!dead_sweep(m, b->c->body, s.nregs, fallible, output)) b->failed = true;
            memset(s.uses, 0, s.nregs * sizeof *s.uses);
            count_uses(&s, b->c->body);
            strip_block(&s, b->c->body);
        }
        again = s.changed;
        arena_close(&a);
    }
    return !b->failed;
}

/* --- one lazy loop ---------------------------------------------------------------------------- */

typedef struct lowering {
    vm *m;
    code *c;
    builder b;
    arena arena;
    uint32_t inside;
} lowering;

/* A loop taken apart. */
typedef struct parts {
    const instr *i;
    const block *body;
    loop_shape shape;
    instr **push; /* by carried value: the TAPEPUSH that makes it a tape, or NULL */
    uint32_t ntapes, nreal, width;
    reg *entered;
    uint32_t n;     /* registers the body reads from outside */
    uint8_t *state; /* by carried value: part of a state */
} parts;

static bool parts_of_loop(lowering *l, const instr *i, parts *p)
{
    *p = (parts){.i = i, .body = i->blocks[0], .shape = loop_shape_of(i)};
    const instr *y = block_end(p->body);
    p->push = arena_alloc(&l->arena, (i->ndst + 1u) * sizeof *p->push);
    p->state = arena_alloc(&l->arena, i->ndst + 1u);
    if (!p->push || !p->state) return vm_out_of_memory(l->m);
    for (uint32_t j = 0; j < p->body->n; j++) {
        instr *t = p->body->list[j];
        if (t->op != OP_CODE_TAPEPUSH) continue;
        for (uint32_t k = 0; k < i->ndst; k++)
            if (p->body->params[p->shape.params + k] == t->src[0] && y->src[p->shape.yields + k] == t->dst[0]) {
                p->push[k] = t;
                p->ntapes++;
                p->width += t->nsrc - 1;
            }
    }
    p->nreal = i->ndst - p->ntapes;
    if (p->width > UINT16_MAX) return vm_fail(l->m, DIAG_VALUE, "a loop's step needs more than %d values kept", UINT16_MAX);
    return block_free_regs(l->c, p->body, &l->arena, &p->entered, &p->n);
}

static bool is_push(const parts *p, const instr *t)
{
    if (t->op != OP_CODE_TAPEPUSH) return false;
    for (uint32_t k = 0; k < p->i->ndst; k++)
        if (p->push[k] == t) return true;
    return false;
}

/* Code of one iteration under construction: captures are a loop's bounds and what the body reads, then come
   the counter and all carried values that are no tapes. */
typedef struct outline {
    builder b;
    reg *map;
    reg *carried; /* by carried value */
} outline;

static bool outline_open(lowering *l, const parts *p, outline *o)
{
    builder *b = &o->b;
    code *c = l->c;
    bool range = (p->i->imm & LOOP_KIND) == LOOP_RANGE;
    builder_open(b, l->m, c->name, c->src, 0, 0);
    b->c->at = p->i->at;
    b->where = p->i->at;
    builder_options(b, &c->options[p->i->lazy->options]);
    o->map = arena_alloc(&l->arena, (c->nregs + 1) * sizeof(reg));
    o->carried = arena_alloc(&l->arena, (p->i->ndst + 1u) * sizeof(reg));
    if (!o->map || !o->carried) {
        b->failed = true;
        return vm_out_of_memory(l->m);
    }
    memset(o->map, 0xff, (c->nregs + 1) * sizeof(reg));
    for (uint32_t k = 0; range && k < 2; k++) block_param_add(b, b->c->body, 0);
    for (uint32_t k = 0; k < p->n; k++) o->map[p->entered[k]] = block_param_add(b, b->c->body, c->reg_names[p->entered[k]]);
    b->c->ncaptures = b->c->body->nparams;
    if (range) o->map[p->body->params[0]] = block_param_add(b, b->c->body, c->reg_names[p->body->params[0]]);
    for (uint32_t k = 0; k < p->i->ndst; k++) {
        reg r = p->body->params[p->shape.params + k];
        o->carried[k] = REG_NONE;
        if (p->push[k]) continue;
        o->carried[k] = o->map[r] = block_param_add(b, b->c->body, c->reg_names[r]);
    }
    cloner k = {.b = b, .from = c, .map = o->map, .runs_only = true};
    b->at = b->c->body;
    for (uint32_t j = 0; j + 1 < p->body->n && !b->failed; j++)
        if (!is_push(p, p->body->list[j])) clone_instr(&k, p->body->list[j], b->c->body);
    return !b->failed;
}

static void outline_drop(outline *o)
{
    o->b.failed = true;
    builder_finish(&o->b);
}

/* Returns the next values of those in p->state, the entry (all tapes' values), or both. */
static bool outline_return(lowering *l, const parts *p, outline *o, bool state, bool entry)
{
    cloner k = {.b = &o->b, .from = l->c, .map = o->map, .runs_only = true};
    const instr *y = block_end(p->body);
    reg *out = arena_alloc(&l->arena, (p->width + p->i->ndst + 1) * sizeof(reg));
    if (!out) return vm_out_of_memory(l->m);
    uint32_t n = 0;
    for (uint32_t q = 0; state && q < p->i->ndst; q++)
        if (p->state[q]) out[n++] = clone_src(&k, y->src[p->shape.yields + q]);
    for (uint32_t q = 0; entry && q < p->i->ndst; q++)
        for (uint32_t s = 1; p->push[q] && s < p->push[q]->nsrc; s++) out[n++] = clone_src(&k, p->push[q]->src[s]);
    builder_return(&o->b, n, out);
    return strip_all(&o->b, true, true);
}

/* Adds the carried values that o reads to p->state; true when some are new. */
static bool state_grows(lowering *l, parts *p, outline *o)
{
    uint8_t *used = arena_alloc(&l->arena, o->b.c->nregs + 1);
    if (!used) {
        vm_out_of_memory(l->m);
        o->b.failed = true;
        return false;
    }
    bool grew = false;
    diff_mark_used(o->b.c->body, used);
    for (uint32_t k = 0; k < p->i->ndst; k++)
        if (o->carried[k] != REG_NONE && used[o->carried[k]] && !p->state[k]) p->state[k] = grew = true;
    return grew;
}

/* Only what a state has stays a parameter. */
static code *outline_finish(lowering *l, const parts *p, outline *o)
{
    block *body = o->b.c->body;
    uint32_t n = o->b.c->ncaptures + ((p->i->imm & LOOP_KIND) == LOOP_RANGE);
    for (uint32_t k = 0; k < p->i->ndst; k++)
        if (p->state[k]) body->params[n++] = o->carried[k];
    body->nparams = n;
    o->b.c->nparams = o->b.c->required = n - o->b.c->ncaptures;
    o->b.c->param_names = builder_take(&o->b, (n + 1) * sizeof(symbol));
    return builder_finish_derived(&o->b, l->c, CODE_REGION);
}

/* The two Codes of one iteration; settles p->state. */
static bool outlines(lowering *l, parts *p, code **records, code **advances, code **both)
{
    outline r = {0}, a = {0}, b = {0};
    if (!outline_open(l, p, &r) || !outline_return(l, p, &r, false, true)) {
        outline_drop(&r);
        return false;
    }
    state_grows(l, p, &r);
    for (;;) {
        if (!outline_open(l, p, &a) || !outline_return(l, p, &a, true, false)) {
            outline_drop(&a);
            outline_drop(&r);
            return false;
        }
        if (!state_grows(l, p, &a)) break;
        outline_drop(&a);
    }
    *records = outline_finish(l, p, &r);
    *advances = outline_finish(l, p, &a);
    *both = *advances;
    if (!(p->i->flags & INSTR_STEP)) return *records && *advances; /* one iteration: see segment.c */
    if (l->c->options[p->i->lazy->options].slots) return *records && *advances;
    if (!outline_open(l, p, &b) || !outline_return(l, p, &b, true, true)) {
        outline_drop(&b);
        return false;
    }
    *both = outline_finish(l, p, &b);
    return *records && *advances && *both;
}

static instr *put(lowering *l, const instr *i, opcode op, uint32_t imm, uint32_t ndst, uint32_t nsrc, uint32_t nblocks)
{
    instr *n = instr_new(&l->b, op, imm, ndst, nsrc, nblocks);
    if (!n) return NULL;
    n->at = i->at;
    n->point = i->point;
    return n;
}

static bool lower_loop(lowering *l, cloner *c, const instr *i, block *into)
{
    builder *b = &l->b;
    parts p;
    code *records, *advances, *both;
    if (!parts_of_loop(l, i, &p)) return false;
    if (!p.ntapes) {
        instr plain = *i;
        plain.lazy = NULL;
        clone_instr(c, &plain, into);
        return true;
    }
    if (!outlines(l, &p, &records, &advances, &both)) return false;
    bool range = (i->imm & LOOP_KIND) == LOOP_RANGE;
    uint32_t nstate = 0;
    for (uint32_t k = 0; k < i->ndst; k++) nstate += p.state[k];
    lazy_loop *lazy = builder_take(b, sizeof *lazy);
    uint32_t codes = builder_code(b, code_retain(records));
    builder_code(b, code_retain(advances));
    builder_code(b, code_retain(both));
    bool budget = !l->c->options[i->lazy->options].slots;
    instr *tape = put(l, i, OP_CODE_LOOPTAPE, codes, 1, p.n + (range ? 2u : 0u), 0);
    instr *loop = put(l, i, OP_CODE_LOOP, i->imm, p.nreal, p.shape.sources + p.nreal, 1);
    instr *offer = put(l, i, OP_CODE_OFFER, 0, 0, 1 + nstate, 0);
    instr *end = put(l, i, OP_CODE_LOOPEND, 0, 0, 1, 0);
    block *k = builder_block(b, 0);
    instr *entry = put(l, i, OP_CODE_ENTRY, 0, 0, 1 + p.width, 0);
    if (!entry || !lazy || !tape || !loop || !offer || !end || !k) return false;
    *lazy = (lazy_loop){
        .range = range, .exits = i->imm & LOOP_EXIT, .steps = i->flags & INSTR_STEP, .nstate = nstate, .width = p.width, .budget = budget};
    tape->lazy = lazy;
    reg L = tape->dst[0] = builder_reg(b, 0);
    if (range) memcpy(tape->src, i->src, 2 * sizeof(reg));
    if (p.n) memcpy(tape->src + (range ? 2 : 0), p.entered, p.n * sizeof(reg));
    builder_append(b, into, tape);

    loop->flags = i->flags;
    loop->origin = i->origin;
    loop->src_at = NULL;
    memcpy(loop->src, i->src, p.shape.sources * sizeof(reg));
    k->params = builder_take(b, (p.body->nparams + 1) * sizeof(reg));
    const instr *y = block_end(p.body);
    instr *yield = put(l, y, OP_CODE_YIELD, 0, 0, p.shape.yields + p.nreal, 0);
    if (!k->params || !yield) return false;
    yield->flags = y->flags;
    yield->origin = y->origin;
    memcpy(k->params, p.body->params, p.shape.params * sizeof(reg));
    if (p.shape.yields) yield->src[0] = y->src[0];
    uint32_t n = 0, s = 0;
    offer->src[s++] = L;
    for (uint32_t q = 0; q < i->ndst; q++) {
        if (p.push[q]) continue;
        reg r = p.body->params[p.shape.params + q];
        loop->src[p.shape.sources + n] = i->src[p.shape.sources + q];
        loop->dst[n] = i->dst[q];
        yield->src[p.shape.yields + n] = y->src[p.shape.yields + q];
        k->params[p.shape.params + n++] = r;
        if (p.state[q]) offer->src[s++] = r;
    }
    k->nparams = p.shape.params + n;
    builder_append(b, k, offer);
    if (!budget) l->inside++;
    for (uint32_t j = 0; j + 1 < p.body->n && !b->failed; j++)
        if (!is_push(&p, p.body->list[j])) clone_instr(c, p.body->list[j], k);
    if (!budget) l->inside--;
    s = 0;
    entry->src[s++] = L;
    for (uint32_t q = 0; q < i->ndst; q++)
        for (uint32_t e = 1; p.push[q] && e < p.push[q]->nsrc; e++) entry->src[s++] = p.push[q]->src[e];
    if (budget) builder_append(b, k, entry);
    builder_append(b, k, yield);
    loop->blocks[0] = k;
    builder_append(b, into, loop);

    end->src[0] = L;
    builder_append(b, into, end);
    uint32_t first = 0;
    for (uint32_t q = 0; q < i->ndst; q++) {
        if (!p.push[q]) continue;
        uint32_t width = p.push[q]->nsrc - 1;
        instr *view = put(l, i, OP_CODE_VIEW, first << 16 | width, 1, 1, 0);
        if (!view) return false;
        view->src[0] = L;
        view->dst[0] = i->dst[q];
        builder_append(b, into, view);
        first += width;
    }
    return !b->failed;
}

/* --- a whole Code ------------------------------------------------------------------------------ */

static bool lower_instr(cloner *c, const instr *i, block *into)
{
    lowering *l = c->ctx;
    if (i->op != OP_CODE_LOOP || !i->lazy || l->inside) return false;
    if (!lower_loop(l, c, i, into)) l->b.failed = true;
    return true;
}

code *code_lower(code *c)
{
    if (!has_lazy(c->body)) return c;
    lowering l = {.m = c->vm, .c = c};
    builder *b = &l.b;
    arena_open(&l.arena, &l.m->mem, MEM_OTHER);
    builder_open(b, l.m, c->name, c->src, c->ncaptures, c->nparams);
    diff_same_regs(b, c);
    b->c->at = c->at;
    b->c->help = c->help;
    b->c->special = c->special;
    b->at = b->c->body;
    cloner k = {.b = b, .from = c, .special = lower_instr, .ctx = &l};
    clone_list(&k, c->body, b->c->body);
    const instr *end = block_end(c->body);
    b->where = end->at;
    builder_return(b, end->nsrc, end->src);
    bool again = c->role == CODE_REV || c->role == CODE_REGION; /* what fails there has failed before */
    if (!b->failed) strip_all(b, again, c->role == CODE_REGION);
    arena_close(&l.arena);
    return builder_finish_derived(b, c->primal ? c->primal : c, c->role);
}
