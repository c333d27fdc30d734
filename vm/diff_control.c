/* diff_control.c: the fwd and rev passes for branches, loops and checkpoint blocks.
 *
 * Each rev construct takes the running cotangents of the active registers that the primal construct
 * captured, adds to them in reverse program order, and yields them: none sums locally. */
#include "diff.h"
#include <string.h>

static const instr *last_of(const block *b) { return b->list[b->n - 1]; }

/* --- what a block reads from outside it ------------------------------------------------------------
 * Each block's list is made once, of its instructions and the lists of the blocks within: asking for every block
 * of a deeply nested function costs no more than asking for the outermost. */
typedef struct reads {
    const block *of;
    regs r;
    struct reads *next;
} reads;
struct reading {
    reads **slots;
    uint32_t n, nslots;
    uint32_t *defined, *listed, now; /* by primal register: the last list it was defined for, and is in */
};

static reads **reads_slot(const struct reading *t, const block *k)
{
    return &t->slots[((uintptr_t)k >> 4) * 2654435769u & (t->nslots - 1)];
}

static bool reads_grow(diff *d, struct reading *t)
{
    uint32_t n = t->nslots ? 2 * t->nslots : 64;
    reads **old = t->slots, **slots = arena_alloc(&d->arena, n * sizeof *slots);
    if (!slots) return vm_out_of_memory(d->m);
    uint32_t nold = t->nslots;
    t->slots = slots, t->nslots = n;
    for (uint32_t j = 0; j < nold; j++)
        for (reads *e = old[j], *next; e; e = next) {
            next = e->next;
            reads **at = reads_slot(t, e->of);
            e->next = *at, *at = e;
        }
    return true;
}

static struct reading *reading_of(diff *d)
{
    if (d->reading) return d->reading;
    struct reading *t = arena_alloc(&d->arena, sizeof *t);
    size_t bytes = (d->f->nregs + 1) * sizeof(uint32_t);
    if (t) t->defined = arena_alloc(&d->arena, bytes);
    if (t && t->defined) t->listed = arena_alloc(&d->arena, bytes);
    if (!t || !t->listed) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return NULL;
    }
    return d->reading = t;
}

/* In the order in which they are first read. NULL: no memory. */
static const regs *block_reads(diff *d, const block *k)
{
    struct reading *t = reading_of(d);
    if (!t || d->failed) return NULL;
    for (reads *e = t->nslots ? *reads_slot(t, k) : NULL; e; e = e->next)
        if (e->of == k) return &e->r;
    for (uint32_t j = 0; j < k->n; j++)
        for (uint32_t q = 0; q < k->list[j]->nblocks; q++)
            if (!block_reads(d, k->list[j]->blocks[q])) return NULL;
    reads *e = arena_alloc(&d->arena, sizeof *e);
    if (!e || (t->n >= t->nslots && !reads_grow(d, t))) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return NULL;
    }
    e->of = k;
    uint32_t now = ++t->now;
    for (uint32_t j = 0; j < k->nparams; j++) t->defined[k->params[j]] = now;
    for (uint32_t j = 0; j < k->n; j++) {
        const instr *i = k->list[j];
        for (uint32_t q = 0; q <= i->nblocks; q++) {
            const regs *within = q ? block_reads(d, i->blocks[q - 1]) : &(regs){.of = i->src, .n = i->nsrc};
            for (uint32_t x = 0; within && x < within->n; x++) {
                reg r = within->of[x];
                if (t->defined[r] == now || t->listed[r] == now) continue;
                t->listed[r] = now;
                regs_add(d, &e->r, r);
            }
        }
        for (uint32_t q = 0; q < i->ndst; q++) t->defined[i->dst[q]] = now;
    }
    if (d->failed) return NULL;
    reads **at = reads_slot(t, k);
    e->next = *at, *at = e;
    t->n++;
    return &e->r;
}

/* The active ones among them, added to `out` if they are not in it. */
static bool captured(diff *d, const block *k, regs *out)
{
    const regs *r = block_reads(d, k);
    for (uint32_t j = 0; r && j < r->n && !d->failed; j++)
        if (d->active[r->of[j]]) {
            bool seen = false;
            for (uint32_t q = 0; q < out->n && !seen; q++) seen = out->of[q] == r->of[j];
            if (!seen) regs_add(d, out, r->of[j]);
        }
    return !d->failed;
}

static instr *like(builder *b, const instr *i, opcode op, uint32_t imm, uint32_t ndst, uint32_t nsrc, uint32_t nblocks)
{
    instr *n = instr_new(b, op, imm, ndst, nsrc, nblocks);
    if (!n) return NULL;
    n->flags |= i->flags;
    n->origin = i->origin;
    n->at = i->at;
    n->point = i->point;
    return n;
}

static reg *cots_now(diff *d, const regs *r)
{
    reg *g = arena_alloc(&d->arena, (r->n + 1) * sizeof(reg));
    if (!g) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return NULL;
    }
    for (uint32_t k = 0; k < r->n; k++) g[k] = diff_cot(d, r->of[k]);
    return g;
}
static void cots_put(diff *d, const regs *r, const reg *g)
{
    for (uint32_t k = 0; k < r->n; k++) diff_cot_set(d, r->of[k], g[k]);
}

/* Ends the rev block of a scope: yields the running cotangents of `r`. */
static block *rev_block(diff *d, scope *s, uint32_t nyield, const reg *yield)
{
    block *k = builder_block(&d->rb, 0);
    scope_emit_rev(d, s, k);
    block *outside = d->rb.at;
    d->rb.at = k;
    builder_yield(&d->rb, nyield, yield);
    d->rb.at = outside;
    return k;
}

static void fwd_yield(diff *d, block *k, const instr *y, uint32_t n, const reg *src)
{
    instr *ny = like(&d->fb, y, OP_CODE_YIELD, 0, 0, n, 0);
    if (!ny) {
        d->failed = true;
        return;
    }
    if (n) memcpy(ny->src, src, n * sizeof(reg));
    builder_append(&d->fb, k, ny);
}

/* Writes the rev of scope s, one of i's blocks: what the block yields takes the cotangents of i's results,
   and after them, in the meaning of a CHECKPOINT, those of the values of its residuals. */
static void rev_walk(diff *d, scope *s, const instr *i)
{
    const instr *y = last_of(s->primal);
    scope *outside = d->at;
    block *rev_outside = d->rb.at;
    d->at = s;
    d->rb.at = s->rev;
    for (uint32_t j = 0; j < i->ndst; j++) {
        reg g = diff_cot(d, i->dst[j]);
        if (g != REG_NONE) diff_acc(d, y->src[j], g);
    }
    for (uint32_t k = 0, at = i->ndst; i->op == OP_CODE_CHECKPOINT && k < i->nsrc; at += i->widths[k++]) {
        reg g = diff_cot(d, i->src[k]);
        for (uint32_t j = 0; g != REG_NONE && j < i->widths[k]; j++)
            if (d->active[y->src[at + j]]) diff_acc(d, y->src[at + j], diff_element(d, g, j));
    }
    scope_walk(d, s);
    d->at = outside;
    d->rb.at = rev_outside;
}

/* The running cotangents of r, symbolic zeros where there are none. */
static reg *cots_or_zero(diff *d, const regs *r)
{
    reg *g = cots_now(d, r);
    for (uint32_t k = 0; g && k < r->n; k++)
        if (g[k] == REG_NONE) g[k] = diff_zero(d);
    return g;
}

/* Results of i that rev reads outside it are there already: within s, the scope of one of its blocks, rev reads
   them too, rather than the same values of the residual. So their cotangents meet in one place, in program
   order, when rev is differentiated again. */
static void read_results(diff *d, const scope *s, const instr *i)
{
    const instr *y = last_of(s->primal);
    for (uint32_t j = 0; j < i->ndst && !d->failed; j++) {
        reg in = y->src[j], out = d->rev_of[i->dst[j]];
        if (out != REG_NONE && d->info[in].scope == s && !d->info[in].def && d->rev_of[in] == REG_NONE) d->rev_of[in] = out;
    }
}

/* --- IF ---------------------------------------------------------------------------------------
 * fwd: the IF with extra results, the slots: arm A's k-th saved value and arm B's share slot k. An arm with many
 * saved values hands them over as one tuple, for an arm is saved by every IF around it: in a chain of `else if`
 * the slots would be as many as the square of its length.
 * rev: an IF on the same condition whose arms add to the captured registers' cotangents. */
enum { SLOTS_MOST = 32 };

static uint32_t slots_of(const scope *s) { return s->saved.n > SLOTS_MOST ? 1 : s->saved.n; }

/* The arm's saved values are those in the tuple that rev has as `slot`. */
static void unpack_slot(diff *d, scope *s, reg slot)
{
    instr *u = instr_new(&d->rb, OP_CODE_UNPACK, 0, s->rev_saved.n, 1, 0);
    if (!u) {
        d->failed = true;
        return;
    }
    u->flags |= INSTR_RULE;
    u->src[0] = slot;
    memcpy(u->dst, s->rev_saved.of, s->rev_saved.n * sizeof(reg));
    instrs_add(d, &s->prologue, u);
    if (d->failed) return;
    instrs *l = &s->prologue;
    memmove(l->of + 1, l->of, (l->n - 1) * sizeof *l->of); /* what comes first in rev may read them */
    l->of[0] = u;
}

/* An instruction of fwd's arm that gives one value. */
static reg arm_instr(diff *d, const instr *i, block *body, opcode op, uint32_t imm, uint32_t n, const reg *src)
{
    instr *k = like(&d->fb, i, op, imm, 1, n, 0);
    if (!k) {
        d->failed = true;
        return 0;
    }
    k->flags |= INSTR_RULE;
    if (n) memcpy(k->src, src, n * sizeof(reg));
    k->dst[0] = builder_reg(&d->fb, 0);
    builder_append(&d->fb, body, k);
    return k->dst[0];
}

void diff_if(diff *d, const instr *i)
{
    regs touched = {0};
    if (!captured(d, i->blocks[0], &touched) || !captured(d, i->blocks[1], &touched)) return;
    /* Registers that a result merely passes through from outside are captured too. */
    reg *before = cots_now(d, &touched), *after[2];
    if (!before) return;
    reg c = diff_import(d, i->src[0]);
    scope *arm[2];
    for (int k = 0; k < 2; k++) {
        scope *s = arm[k] = scope_open(d, SCOPE_ARM, i->blocks[k]);
        if (!s) return;
        read_results(d, s, i);
        cots_put(d, &touched, before);
        rev_walk(d, s, i);
        after[k] = cots_or_zero(d, &touched);
        if (d->failed) return;
    }
    /* Slots. */
    uint32_t nslots = slots_of(arm[0]) > slots_of(arm[1]) ? slots_of(arm[0]) : slots_of(arm[1]);
    instr *n = like(&d->fb, i, OP_CODE_IF, 0, i->ndst + nslots, 1, 2);
    if (!n) {
        d->failed = true;
        return;
    }
    n->src[0] = i->src[0];
    memcpy(n->dst, i->dst, i->ndst * sizeof(reg));
    for (uint32_t j = 0; j < nslots; j++) {
        reg slot = n->dst[i->ndst + j] = diff_fwd_reg(d, 0);
        reg in_rev = diff_import(d, slot);
        for (int k = 0; k < 2; k++) {
            if (j >= slots_of(arm[k])) continue;
            if (arm[k]->saved.n > SLOTS_MOST) unpack_slot(d, arm[k], in_rev);
            else diff_alias(d, arm[k]->rev_saved.of[j], in_rev);
        }
    }
    block *rev[2];
    for (int k = 0; k < 2 && !d->failed; k++) {
        scope *s = arm[k];
        rev[k] = rev_block(d, s, touched.n, after[k]);
        block *body = builder_block(&d->fb, 0);
        scope_emit_fwd(d, s, body);
        const instr *y = last_of(i->blocks[k]);
        reg *out = arena_alloc(&d->arena, (i->ndst + nslots + 1) * sizeof(reg));
        if (!out) {
            d->failed = true;
            vm_out_of_memory(d->m);
            return;
        }
        memcpy(out, y->src, i->ndst * sizeof(reg));
        uint32_t used = slots_of(s);
        if (s->saved.n > SLOTS_MOST) out[i->ndst] = arm_instr(d, i, body, OP_CODE_TUPLE, 0, s->saved.n, s->saved.of);
        else if (used) memcpy(out + i->ndst, s->saved.of, used * sizeof(reg));
        if (used < nslots) {
            reg empty = arm_instr(d, i, body, OP_CODE_CONST, builder_const(&d->fb, value_none()), 0, NULL);
            for (uint32_t j = used; j < nslots; j++) out[i->ndst + j] = empty;
        }
        fwd_yield(d, body, y, i->ndst + nslots, out);
        n->blocks[k] = body;
    }
    if (d->failed) return;
    diff_push_fwd(d, n);
    instr *r = builder_add_blocks(&d->rb, OP_CODE_IF, 0, touched.n, 1, &c, 2, rev);
    if (!r) {
        d->failed = true;
        return;
    }
    cots_put(d, &touched, r->dst);
}

/* --- LOOP -------------------------------------------------------------------------------------
 * fwd: the loop carries one more value, a tape; each iteration pushes what rev needs of it.
 * rev: a LOOP_TAPE, last entry first. It carries the cotangents of the carried values, those of the
 * captured registers, and, for a primal that itself reads tapes, the cotangents of those as tapes. */
void diff_loop(diff *d, const instr *i)
{
    const block *body = i->blocks[0];
    const instr *y = last_of(body);
    unsigned kind = i->imm & LOOP_KIND;
    uint32_t lead = kind == LOOP_RANGE ? 2 : kind == LOOP_WHILE ? 1 : i->ntapes;
    uint32_t nc = i->ndst, first = body->nparams - nc, skip = y->nsrc - nc;
    regs touched = {0};
    if (!captured(d, body, &touched)) return;
    /* The active carried values. */
    regs carried = {0};
    for (uint32_t k = 0; k < nc && !d->failed; k++)
        if (d->active[body->params[first + k]]) regs_add(d, &carried, k);
    regs tapes = {0};
    if (kind == LOOP_TAPE)
        for (uint32_t t = 0; t < i->ntapes; t++)
            if (d->active[i->src[t]]) regs_add(d, &tapes, t);
    if (d->failed) return;
    uint32_t n = carried.n + touched.n + tapes.n;
    reg *init = arena_alloc(&d->arena, (n + 2) * sizeof(reg));
    reg *out = arena_alloc(&d->arena, (n + 2) * sizeof(reg));
    if (!init || !out) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return;
    }
    for (uint32_t k = 0; k < carried.n; k++) init[k + 1] = diff_cot_or_zero(d, i->dst[carried.of[k]]);
    for (uint32_t k = 0; k < touched.n; k++) init[k + 1 + carried.n] = diff_cot_or_zero(d, touched.of[k]);
    for (uint32_t k = 0; k < tapes.n; k++) init[k + 1 + carried.n + touched.n] = diff_zero(d);

    scope *s = scope_open(d, SCOPE_LOOP, body);
    block *rk = builder_block(&d->rb, 0);
    if (!s || !rk) {
        d->failed = true;
        return;
    }
    reg *params = arena_alloc(&d->arena, (n + 1) * sizeof(reg));
    if (!params) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return;
    }
    for (uint32_t k = 0; k < n; k++) params[k] = builder_reg(&d->rb, 0);
    scope *outside = d->at;
    block *rev_outside = d->rb.at;
    d->at = s;
    d->rb.at = s->rev;
    for (uint32_t k = 0; k < touched.n; k++) diff_cot_set(d, touched.of[k], params[carried.n + k]);
    for (uint32_t k = 0; k < carried.n; k++) diff_acc(d, y->src[skip + carried.of[k]], params[k]);
    scope_walk(d, s);
    d->at = s;
    d->rb.at = s->rev;
    for (uint32_t k = 0; k < carried.n && !d->failed; k++) out[k] = diff_cot_or_zero(d, body->params[first + carried.of[k]]);
    for (uint32_t k = 0; k < touched.n && !d->failed; k++) out[carried.n + k] = diff_cot_or_zero(d, touched.of[k]);
    for (uint32_t k = 0, p; k < tapes.n && !d->failed; k++) {
        uint32_t t = tapes.of[k];
        p = 0;
        for (uint32_t q = 0; q < t; q++) p += i->widths[q];
        uint32_t w = i->widths[t];
        reg *entry = arena_alloc(&d->arena, (w + 1) * sizeof(reg));
        if (!entry) {
            d->failed = true;
            vm_out_of_memory(d->m);
            return;
        }
        entry[0] = params[carried.n + touched.n + k];
        for (uint32_t q = 0; q < w; q++) entry[q + 1] = diff_cot_or_zero(d, body->params[p + q]);
        instr *push = builder_add(&d->rb, OP_CODE_TAPEPUSH, 0, 1, w + 1, entry);
        if (!push) {
            d->failed = true;
            return;
        }
        out[carried.n + touched.n + k] = push->dst[0];
    }
    d->at = outside;
    d->rb.at = rev_outside;
    if (d->failed) return;

    /* fwd, with its tape. */
    builder *fb = &d->fb;
    uint32_t width = s->saved.n;
    instr *empty = like(fb, i, OP_CODE_TAPE, width, 1, 0, 0);
    instr *loop = like(fb, i, OP_CODE_LOOP, i->imm, nc + 1, i->nsrc + 1, 1);
    block *fk = builder_block(fb, 0);
    if (!empty || !loop || !fk) {
        d->failed = true;
        return;
    }
    empty->flags = INSTR_RULE;
    empty->dst[0] = diff_fwd_reg(d, 0);
    loop->src_at = NULL;
    memcpy(loop->src, i->src, i->nsrc * sizeof(reg));
    loop->src[i->nsrc] = empty->dst[0];
    memcpy(loop->dst, i->dst, nc * sizeof(reg));
    reg tape = loop->dst[nc] = diff_fwd_reg(d, 0);
    loop->ntapes = i->ntapes;
    loop->widths = i->widths;
    if (i->lazy) instr_lazy_copy(fb, loop, d->f, i);
    else if (outside->block_of || (d->m->budgeted && kind != LOOP_TAPE)) {
        lazy_loop *l = builder_take(fb, sizeof *l);
        if (!l) {
            d->failed = true;
            return;
        }
        block_options o = {.budget = 1, .block = UINT32_MAX};
        l->options = builder_options(fb, outside->block_of ? &d->f->options[outside->block_of->imm] : &o);
        loop->lazy = l;
    }
    fk->params = arena_alloc(&fb->c->arena, (body->nparams + 1) * sizeof(reg));
    reg *yield = arena_alloc(&d->arena, (y->nsrc + 1) * sizeof(reg));
    if (!fk->params || !yield) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return;
    }
    memcpy(fk->params, body->params, body->nparams * sizeof(reg));
    reg running = fk->params[body->nparams] = builder_reg(fb, 0);
    fk->nparams = body->nparams + 1;
    scope_emit_fwd(d, s, fk);
    instr *push = like(fb, i, OP_CODE_TAPEPUSH, 0, 1, width + 1, 0);
    if (!push) {
        d->failed = true;
        return;
    }
    push->flags = INSTR_RULE;
    push->src[0] = running;
    if (width) memcpy(push->src + 1, s->saved.of, width * sizeof(reg));
    push->dst[0] = builder_reg(fb, 0);
    builder_append(fb, fk, push);
    memcpy(yield, y->src, y->nsrc * sizeof(reg));
    yield[y->nsrc] = push->dst[0];
    fwd_yield(d, fk, y, y->nsrc + 1, yield);
    loop->blocks[0] = fk;
    diff_push_fwd(d, empty);
    diff_push_fwd(d, loop);

    /* rev, over the tape. */
    init[0] = diff_import(d, tape);
    rk = rev_block(d, s, n, out);
    rk->params = arena_alloc(&d->rb.c->arena, (width + n + 1) * sizeof(reg));
    if (!rk->params) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return;
    }
    if (width) memcpy(rk->params, s->rev_saved.of, width * sizeof(reg));
    if (n) memcpy(rk->params + width, params, n * sizeof(reg));
    rk->nparams = width + n;
    instr *r = builder_add_blocks(&d->rb, OP_CODE_LOOP, LOOP_TAPE, n, n + 1, init, 1, &rk);
    uint16_t *widths = arena_alloc(&d->rb.c->arena, sizeof *widths);
    if (!r || !widths) {
        d->failed = true;
        return;
    }
    widths[0] = (uint16_t)width;
    r->widths = widths;
    r->ntapes = 1;
    for (uint32_t k = 0; k < touched.n; k++) diff_cot_set(d, touched.of[k], r->dst[carried.n + k]);
    for (uint32_t k = 0; k < carried.n; k++) diff_acc(d, i->src[lead + carried.of[k]], r->dst[k]);
    for (uint32_t k = 0; k < tapes.n; k++) diff_acc(d, i->src[tapes.of[k]], r->dst[carried.n + touched.n + k]);
}

/* --- CHECKPOINT -------------------------------------------------------------------------------
 * fwd: a REPLAYABLE over the region's Code, made before the block runs; then the block as it stands,
 * with that residual as its source so that what its policy keeps is recorded, and with its meaning
 * beside it (code.h) for the derivative of fwd.
 * rev: a CHECKPOINT of its own { FORCE, the block's rev }. */

/* Clears the entries of everything that k defines and that runs. */
static void forget_names(const block *k, reg *map)
{
    for (uint32_t j = 0; j < k->nparams; j++) map[k->params[j]] = REG_NONE;
    for (uint32_t n = 0; n < k->n; n++) {
        const instr *i = k->list[n];
        for (uint32_t j = 0; j < i->ndst; j++) map[i->dst[j]] = REG_NONE;
        for (uint32_t j = 0; j < blocks_run(i); j++) forget_names(i->blocks[j], map);
    }
}

/* The region's Code: the block's fwd as a function of what enters it, returning what rev needs. Blocks within have
   no meaning there: a region is differentiated in its tangent alone, which has no need of it, and copies of what
   nested blocks mean would be as many as the cube of their depth. */
static code *region_code(diff *d, const instr *i, scope *s, const instr *y, regs *enters)
{
    builder b;
    builder_open(&b, d->m, d->f->name, d->f->src, 0, 0);
    b.c->at = i->at;
    b.where = i->at;
    builder_options(&b, &d->f->options[i->imm]);
    /* The block's fwd under construction, in fwd's numbering. */
    block *inside = builder_block(&d->fb, 0);
    scope_emit_fwd(d, s, inside);
    fwd_yield(d, inside, y, s->saved.n, s->saved.of);
    diff_table_reach(d, &d->renamed, &d->nrenamed, d->fb.c->nregs);
    reg *map = d->renamed;
    reg *out = arena_alloc(&d->arena, (s->saved.n + 1) * sizeof(reg));
    if (!out) {
        d->failed = true;
        vm_out_of_memory(d->m);
    }
    code *region = NULL;
    if (!d->failed && !b.failed && !d->fb.failed) {
        reg *r;
        uint32_t n;
        /* Dead code first: only what the saved values need enters. It is removed on a copy whose free
           registers are still all parameters. */
        if (!block_free_regs(d->fb.c, inside, &d->arena, &r, &n)) d->failed = true;
        else {
            for (uint32_t k = 0; k < n; k++) map[r[k]] = block_param_add(&b, b.c->body, d->fb.c->reg_names[r[k]]);
            b.c->ncaptures = n;
            cloner c = {.b = &b, .from = d->fb.c, .map = map, .runs_only = true};
            b.at = b.c->body;
            clone_list(&c, inside, b.c->body);
            for (uint32_t k = 0; k < s->saved.n; k++) out[k] = clone_src(&c, s->saved.of[k]);
            builder_return(&b, s->saved.n, out);
            for (uint32_t k = 0; k < n; k++) map[r[k]] = REG_NONE;
            forget_names(inside, map);
            if (!b.failed && !code_drop_dead(&b, true)) b.failed = true;
            /* Parameters nobody reads do not enter. */
            uint8_t *used = arena_alloc(&d->arena, b.c->nregs + 1);
            if (!used) b.failed = true;
            if (!b.failed) {
                diff_mark_used(b.c->body, used);
                block *body = b.c->body;
                uint32_t kept = 0;
                for (uint32_t k = 0; k < n; k++)
                    if (used[body->params[k]]) {
                        body->params[kept++] = body->params[k];
                        regs_add(d, enters, r[k]);
                    }
                body->nparams = b.c->ncaptures = kept;
            }
        }
    }
    if (d->failed) b.failed = true;
    region = builder_finish_derived(&b, d->f, CODE_REGION);
    if (!region) d->failed = true;
    return region;
}

void diff_mark_used(const block *b, uint8_t *used)
{
    for (uint32_t n = 0; n < b->n; n++) {
        const instr *i = b->list[n];
        for (uint32_t k = 0; k < i->nsrc; k++) used[i->src[k]] = 1;
        for (uint32_t k = 0; k < i->nblocks; k++) diff_mark_used(i->blocks[k], used);
    }
}

void diff_checkpoint(diff *d, const instr *i)
{
    uint32_t before = i->nsrc; /* residuals of earlier derivatives */
    const block *body = i->blocks[i->nblocks - 1];
    const instr *y = last_of(body);
    regs touched = {0};
    if (!captured(d, body, &touched)) return;
    scope *s = scope_open(d, SCOPE_BLOCK, body);
    if (!s) return;
    read_results(d, s, i);
    rev_walk(d, s, i);
    reg *after = cots_or_zero(d, &touched);
    if (d->failed) return;

    regs enters = {0};
    code *region = region_code(d, i, s, y, &enters);
    if (!region) return;
    builder *fb = &d->fb;
    instr *res = like(fb, i, OP_CODE_REPLAYABLE, builder_code(fb, code_retain(region)), 1, enters.n, 0);
    instr *run = like(fb, i, OP_CODE_CHECKPOINT, clone_imm(fb, d->f, i), i->ndst, before + 1, 2);
    block *plain = builder_block(fb, 0), *meaning = builder_block(fb, 0);
    reg *out = arena_alloc(&d->arena, (y->nsrc + s->saved.n + 1) * sizeof(reg));
    if (!d->same) {
        diff_table_reach(d, &d->same, &d->nsame, d->f->nregs);
        for (uint32_t r = 0; r < d->f->nregs && !d->failed; r++) d->same[r] = r;
    }
    if (!res || !run || !plain || !meaning || !out || d->failed || fb->failed) {
        d->failed = true;
        return;
    }
    if (enters.n) memcpy(res->src, enters.of, enters.n * sizeof(reg));
    reg R = res->dst[0] = diff_fwd_reg(d, 0);
    diff_push_fwd(d, res);
    /* What runs: the block as it stands, its registers renamed, for the meaning has them. */
    cloner c = {.b = fb, .from = d->f, .map = d->same, .fresh = true};
    clone_list(&c, i->blocks[0], plain);
    const instr *y0 = last_of(i->blocks[0]);
    for (uint32_t k = 0; k < i->ndst; k++) out[k] = clone_src(&c, y0->src[k]);
    fwd_yield(d, plain, y0, i->ndst, out);
    /* What it means: results, values of earlier residuals, values of this one. */
    scope_emit_fwd(d, s, meaning);
    memcpy(out, y->src, y->nsrc * sizeof(reg));
    if (s->saved.n) memcpy(out + y->nsrc, s->saved.of, s->saved.n * sizeof(reg));
    fwd_yield(d, meaning, y, y->nsrc + s->saved.n, out);
    run->blocks[0] = plain;
    run->blocks[1] = meaning;
    if (before) memcpy(run->src, i->src, before * sizeof(reg));
    run->src[before] = R;
    if (i->ndst) memcpy(run->dst, i->dst, i->ndst * sizeof(reg));
    run->ntapes = before + 1;
    run->widths = arena_alloc(&fb->c->arena, (before + 1) * sizeof *run->widths);
    if (!run->widths) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return;
    }
    if (before) memcpy(run->widths, i->widths, before * sizeof *run->widths);
    run->widths[before] = (uint16_t)s->saved.n;
    diff_push_fwd(d, run);

    /* rev. */
    reg in_rev = diff_import(d, R);
    block *place = d->rb.at, *k = builder_block(&d->rb, 0);
    instr *force = instr_new(&d->rb, OP_CODE_FORCE, 0, s->saved.n, 1, 0);
    if (!k || !force) {
        d->failed = true;
        return;
    }
    force->src[0] = in_rev;
    if (s->saved.n) memcpy(force->dst, s->rev_saved.of, s->saved.n * sizeof(reg));
    builder_append(&d->rb, k, force);
    scope_emit_rev(d, s, k);
    d->rb.at = k;
    builder_yield(&d->rb, touched.n, after);
    d->rb.at = place;
    instr *r = builder_add_blocks(&d->rb, OP_CODE_CHECKPOINT, clone_imm(&d->rb, d->f, i), touched.n, 0, NULL, 1, &k);
    if (!r) {
        d->failed = true;
        return;
    }
    cots_put(d, &touched, r->dst);
}

/* A block that keeps everything, holds one loop with slots, or has a budget, within which all its loops are
   lazy, is differentiated as if its markers were not
   there: its rev joins the surrounding one, and what it needs comes out of the block as further results. The
   loop of a block with slots is made lazy. */
void diff_everything(diff *d, const instr *i)
{
    const block *body = i->blocks[0];
    const instr *y = last_of(body);
    scope *s = scope_open(d, SCOPE_ARM, body);
    if (!s) return;
    read_results(d, s, i);
    if (d->f->options[i->imm].policy != KEEP_EVERYTHING && d->f->options[i->imm].slots) s->block_of = i;
    rev_walk(d, s, i);
    if (d->failed) return;
    uint32_t nslots = s->saved.n;
    instr *n = like(&d->fb, i, OP_CODE_CHECKPOINT, builder_options(&d->fb, &d->f->options[i->imm]), i->ndst + nslots, 0, 1);
    block *inside = builder_block(&d->fb, 0);
    reg *out = arena_alloc(&d->arena, (i->ndst + nslots + 1) * sizeof(reg));
    if (!n || !inside || !out) {
        d->failed = true;
        return;
    }
    memcpy(n->dst, i->dst, i->ndst * sizeof(reg));
    memcpy(out, y->src, i->ndst * sizeof(reg));
    for (uint32_t j = 0; j < nslots; j++) {
        n->dst[i->ndst + j] = diff_fwd_reg(d, 0);
        out[i->ndst + j] = s->saved.of[j];
        diff_alias(d, s->rev_saved.of[j], diff_import(d, n->dst[i->ndst + j]));
    }
    scope_emit_fwd(d, s, inside);
    fwd_yield(d, inside, y, i->ndst + nslots, out);
    n->blocks[0] = inside;
    diff_push_fwd(d, n);
    scope_emit_rev(d, s, d->rb.at);
}
