/* flatten.c: the annotated tree (live.c) becomes the run form.
 *
 * In goes a Code, out comes its run form (run.h), kept on the Code. One walk forward gives slots to
 * registers and takes them back where they die. A *reserved* slot belongs to a result of an IF or a
 * carried value of a LOOP for as long as the construct lasts; only the register that will be yielded
 * to it may live there (`hint`), and then yielding it is no instruction at all. Both arms of an IF
 * start from the same state of slots and, because live.c dropped what the other arm used, end in the
 * same state; so does the body of a loop; run_check holds this against the result. */
#include "flatten.h"
#include <string.h>

/* --- control -------------------------------------------------------------------------------- */

static void flat_list(flat *f, const live_block *b);
static const live_instr *terminator(const live_block *b) { return &b->of[b->b->n - 1]; }

/* Slots for the results of a construct whose blocks yield to them. */
static uint32_t *reserve_results(flat *f, const instr *i)
{
    uint32_t *to = flat_take(f, i->ndst * sizeof *to);
    for (uint32_t d = 0; to && d < i->ndst && !f->failed; d++) {
        uint32_t h = f->hint[i->dst[d]];
        if (h != SLOT_NONE && !(f->state[h] & (OCCUPIED | CHOSEN))) {
            to[d] = h;
            flat_set_state(f, h, f->state[h] + RESERVED);
            f->state[h] |= CHOSEN;
            continue;
        }
        to[d] = flat_slot_new(f, RESERVED);
    }
    for (uint32_t d = 0; to && d < i->ndst && !f->failed; d++) f->state[to[d]] &= ~CHOSEN;
    return to;
}

static void results_stand(flat *f, const instr *i, const uint32_t *to)
{
    for (uint32_t d = 0; d < i->ndst && !f->failed; d++) {
        f->slot[i->dst[d]] = to[d];
        flat_set_state(f, to[d], (f->state[to[d]] - RESERVED) | OCCUPIED);
    }
}

static void flat_if(flat *f, const live_instr *li)
{
    const instr *i = li->i;
    uint32_t mine = f->index;
    flat_op(f, RUN_GO_NOT);
    flat_operands(f, li);
    uint32_t to_else = flat_label_word(f);
    uint32_t *to = reserve_results(f, i);
    uint32_t n = f->nslots, mark = f->nchanges;
    if (f->failed) return;

    f->arms++;
    flat_hints(f, &li->blocks[0], 0, to);
    flat_list(f, &li->blocks[0]);
    flat_yield(f, terminator(&li->blocks[0]), 0, to, NULL);
    f->index = mine;
    flat_op(f, RUN_JUMP);
    uint32_t to_end = flat_label_word(f);
    flat_label_here(f, to_else);
    if (f->failed) return;

    f->arms--;
    if (f->failed) return;
    flat_undo(f, mark, n);
    flat_hints(f, &li->blocks[1], 0, to);
    flat_list(f, &li->blocks[1]);
    flat_yield(f, terminator(&li->blocks[1]), 0, to, NULL);
    flat_label_here(f, to_end);
    f->index = mine;
    results_stand(f, i, to);
}

/* Carried values: the block's parameters from `first` get slots, which the results share. An initial
   value that dies here gives up its slot to the parameter; the others are moved. */
static uint32_t *carry_in(flat *f, const live_instr *li, uint32_t head, uint32_t first)
{
    const instr *i = li->i;
    const block *body = i->blocks[0];
    uint32_t n = i->ndst;
    uint32_t *to = flat_take(f, n * sizeof *to);
    move *v = flat_take(f, n * sizeof *v);
    if (!to || !v) return NULL;
    for (uint32_t k = 0; k < n && !f->failed; k++) {
        reg r = i->src[head + k], p = body->params[first + k];
        uint32_t h = f->hint[i->dst[k]];
        if (h != SLOT_NONE && !(f->state[h] & (OCCUPIED | CHOSEN))) {
            to[k] = h;
            flat_set_state(f, h, f->state[h] + RESERVED);
            f->state[h] |= CHOSEN;
        } else if (li->last[head + k] && !f->pinned[r]) {
            to[k] = f->slot[r];
            flat_set_state(f, to[k], f->state[to[k]] + RESERVED); /* and stays occupied */
        } else to[k] = flat_slot_new(f, RESERVED);
        v[k] = (move){r, f->slot[r], to[k], li->last[head + k] && !f->pinned[r], false};
        f->slot[p] = to[k];
    }
    if (f->failed) return NULL;
    for (uint32_t k = 0; k < n; k++) f->state[to[k]] &= ~CHOSEN;
    flat_moves(f, v, n);
    for (uint32_t k = 0; k < n; k++)
        if (li->last[head + k] && to[k] != f->slot[i->src[head + k]]) flat_dies(f, i->src[head + k]);
    for (uint32_t k = 0; k < n; k++) flat_set_state(f, to[k], f->state[to[k]] | OCCUPIED);
    return to;
}

static void loop_end(flat *f, const instr *i, const uint32_t *to) { results_stand(f, i, to); }

static void step_count(flat *f, const instr *i)
{
    if (i->flags & INSTR_STEP) flat_op(f, RUN_STEP);
}

static void flat_range(flat *f, const live_instr *li)
{
    const instr *i = li->i;
    uint32_t mine = f->index;
    bool exits = i->imm & LOOP_EXIT;
    /* Bounds are read into slots of the loop's own first, so that they may die. */
    uint32_t counter = flat_slot_new(f, OCCUPIED | RESERVED), end = flat_slot_new(f, OCCUPIED | RESERVED);
    uint32_t lo = flat_operand(f, i->src[0], li->last[0]), hi = flat_operand(f, i->src[1], li->last[1]);
    uint32_t *to = NULL;
    /* The check of the bounds comes before anything is consumed. */
    flat_op(f, RUN_RANGE);
    flat_word(f, lo);
    flat_word(f, hi);
    flat_word(f, counter);
    flat_word(f, end);
    if (li->last[0]) flat_dies(f, i->src[0]); /* scalars: nothing to release */
    if (li->last[1] && !(li->last[0] && i->src[0] == i->src[1])) flat_dies(f, i->src[1]);
    to = carry_in(f, li, 2, 1);
    if (f->failed) return;
    reg p = i->blocks[0]->params[0];
    f->slot[p] = counter;
    f->pinned[p] = 1;
    f->index = mine;
    flat_op(f, RUN_JUMP); /* to the test at the bottom */
    uint32_t to_test = flat_label_word(f);
    uint32_t top = f->n;
    step_count(f, i);
    flat_hints(f, &li->blocks[0], exits, to);
    flat_list(f, &li->blocks[0]);
    uint32_t go = 0, to_exit = 0;
    flat_yield(f, terminator(&li->blocks[0]), exits, to, &go);
    f->index = mine;
    if (exits) {
        flat_op(f, RUN_GO_NOT);
        flat_word(f, go);
        to_exit = flat_label_word(f);
    }
    flat_label_here(f, to_test);
    flat_op(f, RUN_RANGE_NEXT);
    flat_word(f, counter);
    flat_word(f, end);
    flat_word(f, top);
    if (exits) flat_label_here(f, to_exit);
    flat_slot_unuse(f, counter, OCCUPIED | RESERVED);
    flat_slot_unuse(f, end, OCCUPIED | RESERVED);
    loop_end(f, i, to);
}

static void flat_while(flat *f, const live_instr *li)
{
    const instr *i = li->i;
    uint32_t mine = f->index;
    uint32_t go = flat_operand(f, i->src[0], false);
    /* The flag is read before the carried values move; it may be one of them. */
    uint32_t flag = flat_slot_new(f, OCCUPIED);
    flat_op(f, RUN_COPY);
    flat_word(f, flag);
    flat_word(f, go);
    if (li->last[0] && !f->pinned[i->src[0]]) {
        flat_op(f, RUN_DROP);
        flat_word(f, f->slot[i->src[0]]);
        flat_dies(f, i->src[0]);
    }
    uint32_t *to = carry_in(f, li, 1, 0);
    if (f->failed) return;
    flat_op(f, RUN_GO_NOT);
    flat_word(f, flag << 1 | 1);
    uint32_t to_exit = flat_label_word(f);
    flat_slot_unuse(f, flag, OCCUPIED);
    uint32_t top = f->n;
    step_count(f, i);
    flat_hints(f, &li->blocks[0], 1, to);
    flat_list(f, &li->blocks[0]);
    go = 0;
    flat_yield(f, terminator(&li->blocks[0]), 1, to, &go);
    f->index = mine;
    flat_op(f, RUN_GO);
    flat_word(f, go);
    flat_word(f, top);
    flat_label_here(f, to_exit);
    loop_end(f, i, to);
}

static void flat_tapes(flat *f, const live_instr *li)
{
    const instr *i = li->i;
    const block *body = i->blocks[0];
    uint32_t mine = f->index, n = i->ntapes, entries = 0;
    for (uint32_t k = 0; k < n; k++) entries += i->widths[k];
    flat_op(f, RUN_TAPES);
    flat_word(f, n);
    for (uint32_t k = 0; k < n; k++) flat_word(f, flat_operand(f, i->src[k], li->last[k]));
    uint32_t *at = flat_take(f, n * sizeof *at);
    if (!at) return;
    for (uint32_t k = 0; k < n; k++) flat_word(f, at[k] = flat_slot_new(f, OCCUPIED | RESERVED));
    uint32_t index = flat_slot_new(f, OCCUPIED | RESERVED);
    flat_word(f, index);
    for (uint32_t k = 0; k < n; k++)
        if (li->last[k]) flat_dies(f, i->src[k]);
    uint32_t *to = carry_in(f, li, n, entries);
    if (f->failed) return;
    /* The loop's test fills in the next entry, so it stands at the top. */
    uint32_t top = f->n;
    f->index = mine;
    flat_op(f, RUN_TAPES_NEXT);
    flat_word(f, n);
    for (uint32_t k = 0; k < n; k++) flat_word(f, at[k]);
    flat_word(f, index);
    uint32_t to_exit = flat_label_word(f);
    for (uint32_t k = 0, e = 0; k < n; k++) {
        flat_word(f, i->widths[k]);
        for (uint32_t j = 0; j < i->widths[k]; j++, e++) flat_word(f, flat_define(f, body->params[e]));
    }
    flat_hints(f, &li->blocks[0], 0, to);
    flat_list(f, &li->blocks[0]);
    flat_yield(f, terminator(&li->blocks[0]), 0, to, NULL);
    f->index = mine;
    flat_op(f, RUN_JUMP);
    flat_word(f, top);
    flat_label_here(f, to_exit);
    for (uint32_t k = 0; k < n; k++) {
        flat_op(f, RUN_DROP);
        flat_word(f, at[k]);
        flat_slot_unuse(f, at[k], OCCUPIED | RESERVED);
    }
    flat_slot_unuse(f, index, OCCUPIED | RESERVED);
    loop_end(f, i, to);
}

static void flat_checkpoint(flat *f, const live_instr *li)
{
    const instr *i = li->i;
    uint32_t mine = f->index, few[8], *held = few;
    if (i->nsrc > 8 && !(held = flat_take(f, i->nsrc * sizeof *held))) return;
    for (uint32_t k = 0; k < i->nsrc; k++) {
        flat_op(f, RUN_KEEP);
        uint32_t at = f->n;
        flat_word(f, 0);
        flat_word(f, flat_operand(f, i->src[k], li->last[k]));
        if (li->last[k]) flat_dies(f, i->src[k]);
        held[k] = flat_slot_new(f, OCCUPIED | RESERVED);
        if (at < f->n) f->w[at] = held[k];
    }
    uint32_t *to = reserve_results(f, i);
    if (f->failed) return;
    flat_hints(f, &li->blocks[0], 0, to);
    flat_list(f, &li->blocks[0]);
    flat_yield(f, terminator(&li->blocks[0]), 0, to, NULL);
    f->index = mine;
    for (uint32_t k = i->nsrc; k-- > 0;) {
        flat_op(f, RUN_KEEP_END);
        flat_word(f, held[k]);
        flat_slot_unuse(f, held[k], OCCUPIED | RESERVED);
    }
    results_stand(f, i, to);
}

/* --- other instructions ---------------------------------------------------------------------- */

static run_op prim_op(const flat *f, const instr *i)
{
    const prim *p = &prims[i->imm & ~PRIM_SPREAD];
    if (p->attrs & (A_DOT | A_NAMED | A_INPUT)) return RUN_PRIM_KEEP;
    if (i->imm & PRIM_SPREAD) return RUN_PRIM;
    if (f->m->config.trace_nan) return RUN_PRIM; /* the scalar paths do not look at results */
    run_op o = f->m->exec->fast[i->imm];
    switch (o) {
    case RUN_NEG:
    case RUN_FORM: return i->nsrc == 1 ? o : RUN_PRIM;
    case RUN_SETINDEX: return i->nsrc == 3 ? o : RUN_PRIM;
    default: return i->nsrc == 2 ? o : RUN_PRIM;
    }
}

static void flat_plain(flat *f, const live_instr *li)
{
    const instr *i = li->i;
    static const uint8_t ops[OPCODES] = {
        [OP_CODE_UNPACK] = RUN_UNPACK,   [OP_CODE_CALL] = RUN_CALL,     [OP_CODE_FORCE] = RUN_FORCE,     [OP_CODE_TRY] = RUN_TRY,
        [OP_CODE_MEASURE] = RUN_MEASURE, [OP_CODE_IMPORT] = RUN_IMPORT, [OP_CODE_CLOSURE] = RUN_CLOSURE, [OP_CODE_GLOBAL] = RUN_GLOBAL,
        [OP_CODE_DEFINED] = RUN_DEFINED, [OP_CODE_SELDEF] = RUN_SELDEF, [OP_CODE_FIELD] = RUN_FIELD,     [OP_CODE_RETURN] = RUN_RETURN,
    };
    if (i->op == OP_CODE_SELF) f->uses_self = true;
    if (i->op == OP_CODE_CONST) {
        if (f->pinned[i->dst[0]]) return; /* stands before the loop */
        f->plain[i->dst[0]] = !value_is_heap(f->tree->consts[i->imm]);
        flat_op(f, RUN_CONST);
        flat_word(f, flat_define(f, i->dst[0]));
        flat_word(f, i->imm);
        return;
    }
    uint32_t at;
    if (i->op == OP_CODE_PRIM || i->op == OP_CODE_TUPLE) {
        flat_op(f, i->op == OP_CODE_TUPLE ? RUN_TUPLE : prim_op(f, i));
        if (i->op == OP_CODE_PRIM) flat_word(f, i->imm);
        flat_word(f, i->nsrc);
        at = f->n;
        flat_word(f, 0);
        flat_operands(f, li);
        uint32_t d = flat_define(f, i->dst[0]);
        if (!f->failed) f->w[at] = d;
        return;
    }
    run_op o = ops[i->op] ? ops[i->op] : RUN_OTHER;
    flat_op(f, o);
    if (o >= RUN_CALL && o <= RUN_IMPORT) flat_word(f, i->imm);
    flat_word(f, i->ndst);
    flat_word(f, i->nsrc);
    at = f->n;
    for (uint32_t d = 0; d < i->ndst; d++) flat_word(f, 0);
    flat_operands(f, li);
    for (uint32_t d = 0; d < i->ndst; d++) {
        uint32_t s = flat_define(f, i->dst[d]);
        if (!f->failed) f->w[at + d] = s;
    }
}

/* Constants without an object that stand in an outermost loop are set once, before it, each in a slot
   of its own; n is how many. */
enum { HOIST_MOST = 100 };

static void hoist(flat *f, const block *b, uint32_t *slots, uint32_t *n)
{
    for (uint32_t k = 0; k < b->n && !f->failed; k++) {
        const instr *i = b->list[k];
        for (uint32_t j = 0; j < blocks_run(i); j++) hoist(f, i->blocks[j], slots, n);
        if (i->op != OP_CODE_CONST || *n == HOIST_MOST || value_is_heap(f->tree->consts[i->imm])) continue;
        uint32_t s = flat_slot_new(f, OCCUPIED | RESERVED);
        slots[(*n)++] = f->slot[i->dst[0]] = s;
        f->pinned[i->dst[0]] = 1;
        flat_op(f, RUN_CONST);
        flat_word(f, s);
        flat_word(f, i->imm);
    }
}

static void flat_instr(flat *f, const live_instr *li)
{
    flat_set_instr(f, li->i);
    uint32_t *hoisted = NULL, n = 0;
    if (li->i->op == OP_CODE_LOOP && f->loops++ == 0 && (hoisted = flat_take(f, HOIST_MOST * sizeof *hoisted)))
        hoist(f, li->i->blocks[0], hoisted, &n);
    switch (li->i->op) {
    case OP_CODE_IF: flat_if(f, li); break;
    case OP_CODE_LOOP:
        switch (li->i->imm & LOOP_KIND) {
        case LOOP_RANGE: flat_range(f, li); break;
        case LOOP_WHILE: flat_while(f, li); break;
        default: flat_tapes(f, li);
        }
        break;
    case OP_CODE_CHECKPOINT: flat_checkpoint(f, li); break;
    default: flat_plain(f, li);
    }
    if (li->i->op == OP_CODE_LOOP) f->loops--;
    while (n) flat_slot_unuse(f, hoisted[--n], OCCUPIED | RESERVED);
    flat_drops(f, li->after);
}

/* All but the terminator of a nested block; all of a body. */
static void flat_list(flat *f, const live_block *b)
{
    flat_drops(f, b->start);
    for (uint32_t n = 0; n < b->b->n && !f->failed; n++)
        if (b->of[n].i->op == OP_CODE_YIELD) flat_set_instr(f, b->of[n].i);
        else flat_instr(f, &b->of[n]);
}

/* --- the whole ------------------------------------------------------------------------------ */

static void entry_slots(flat *f, const live_block *body, uint32_t *entry)
{
    for (const drop *d = body->start; d; d = d->next) f->plain[d->r] = 1; /* not in use yet */
    for (uint32_t k = 0; k < body->b->nparams; k++) {
        reg r = body->b->params[k];
        entry[k] = f->plain[r] ? SLOT_NONE : flat_define(f, r);
    }
    for (const drop *d = body->start; d; d = d->next) f->plain[d->r] = 0;
}

/* A forward pass of a gradient, or its tangent. */
static bool is_forward(const code *c)
{
    while (c && c->role == CODE_JVP) c = c->primal;
    return c && c->role == CODE_FWD;
}

/* Exact copies in one block of memory: the run, its words, instructions and entry slots. */
static run *run_pack(flat *f, const uint32_t *entry, uint32_t nentry)
{
    memory *mem = &f->m->mem;
    run *r = memory_alloc(mem, MEM_CODE, sizeof *r);
    uint32_t *w = r ? memory_alloc(mem, MEM_CODE, f->n * sizeof *w) : NULL;
    const instr **instrs = w ? memory_alloc(mem, MEM_CODE, f->ninstrs * sizeof *instrs) : NULL;
    uint32_t *e = instrs ? memory_alloc(mem, MEM_CODE, nentry * sizeof *e) : NULL;
    if (!e) {
        memory_free(mem, MEM_CODE, (void *)instrs, f->ninstrs * sizeof *instrs);
        memory_free(mem, MEM_CODE, w, f->n * sizeof *w);
        memory_free(mem, MEM_CODE, r, sizeof *r);
        flat_refuse(f);
        return NULL;
    }
    memcpy(w, f->w, f->n * sizeof *w);
    if (f->ninstrs) memcpy(instrs, f->instrs, f->ninstrs * sizeof *instrs);
    if (nentry) memcpy(e, entry, nentry * sizeof *e);
    *r = (run){.code = f->c,
               .tree = f->tree,
               .w = w,
               .n = f->n,
               .instrs = instrs,
               .ninstrs = f->ninstrs,
               .nslots = f->nslots,
               .entry = e,
               .nentry = nentry,
               .fwd = is_forward(f->c) || f->c->role == CODE_REGION,
               .uses_self = f->uses_self,
               .frame_bytes = sizeof(frame) + f->nslots * sizeof(value)};
    return r;
}

void run_free(code *c)
{
    memory *mem = &c->vm->mem;
    run *r = c->run;
    memory_free(mem, MEM_CODE, r->entry, r->nentry * sizeof *r->entry);
    memory_free(mem, MEM_CODE, (void *)r->instrs, r->ninstrs * sizeof *r->instrs);
    memory_free(mem, MEM_CODE, r->w, r->n * sizeof *r->w);
    memory_free(mem, MEM_CODE, r, sizeof *r);
    c->run = NULL;
}

static run *flatten(vm *m, code *c)
{
    code *lowered = code_lower(c), *tree = lowered ? code_optimise(lowered) : NULL;
    if (!tree) return NULL;
    flat f = {.m = m, .c = c, .tree = tree};
    arena_open(&f.arena, &m->mem, MEM_OTHER);
    run *r = NULL;
    live_block body;
    uint32_t nregs = tree->nregs ? tree->nregs : 1, nentry = tree->body->nparams;
    uint32_t *entry = flat_take(&f, nentry * sizeof *entry);
    f.slot = flat_take(&f, nregs * sizeof *f.slot);
    f.hint = flat_take(&f, nregs * sizeof *f.hint);
    f.pinned = flat_take(&f, nregs);
    f.plain = flat_take(&f, nregs);
    if (!f.failed && !live_of(m, tree, &f.arena, &body)) f.failed = true;
    if (!f.failed) {
        memset(f.hint, 0xff, nregs * sizeof *f.hint);
        entry_slots(&f, &body, entry);
        body.start = NULL;
        flat_list(&f, &body);
    }
    if (!f.failed) r = run_pack(&f, entry, nentry);
    flat_close(&f);
    arena_close(&f.arena);
    return r;
}

const run *run_of(vm *m, code *c)
{
    if (c->run) return c->run;
    c->run = flatten(m, c);
#if defined(__SANITIZE_ADDRESS__) || defined(REPLAY_CHECK_SLOTS)
    enum { CHECK_MOST = 16 << 20 }; /* bytes of the check's states: as many as words times slots; longer functions go without */
    if (c->run && (uint64_t)c->run->n * c->run->nslots <= CHECK_MOST && !run_check(m, c->run) && m->error &&
        m->error->code == DIAG_INTERNAL)
        run_free(c);
#endif
    return c->run;
}
