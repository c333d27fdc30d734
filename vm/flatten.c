/* flatten.c: the annotated tree (live.c) becomes the run form.
 *
 * In goes a Code, out comes its run form (run.h), kept on the Code. One walk forward gives slots to
 * registers and takes them back where they die. A *reserved* slot belongs to a result of an IF or a
 * carried value of a LOOP for as long as the construct lasts; only the register that will be yielded
 * to it may live there (`hint`), and then yielding it is no instruction at all. Both arms of an IF
 * start from the same state of slots and, because live.c dropped what the other arm used, end in the
 * same state; so does the body of a loop; run_check holds this against the result. */
#include "run.h"
#include <string.h>

#define OCCUPIED 1u /* a live register is here; the rest of the state counts reservations */
#define RESERVED 2u

typedef struct flat {
    vm *m;
    code *c;
    const code *tree;
    arena arena;
    uint32_t *slot;  /* by register */
    uint32_t *hint;  /* by register: the reserved slot it is yielded to, SLOT_NONE */
    uint8_t *pinned; /* by register: a scalar that a loop owns: its counter, a constant set before it */
    uint8_t *plain;  /* by register: a constant without an object, so that nothing need drop it */
    uint32_t *state;
    uint32_t nslots, slots_cap;
    uint32_t *free;
    uint32_t nfree, free_cap;
    struct change *changes;
    uint32_t nchanges, changes_cap; /* of the two, to be undone after an IF's first arm */
    uint32_t arms;                  /* first arms around the instruction being flattened */
    struct traffic *traffic;
    uint32_t traffic_cap; /* by slot: see moves */
    uint32_t *w;
    uint32_t n, cap;
    const instr **instrs;
    uint32_t ninstrs, instrs_cap;
    uint32_t index; /* of the instruction being flattened, shifted */
    uint32_t loops; /* around the instruction being flattened */
    bool uses_self, failed;
} flat;

static void refuse(flat *f)
{
    if (!f->failed) vm_out_of_memory(f->m);
    f->failed = true;
}

/* Room for one more of n elements of `size`; false when refused. */
static bool room(flat *f, void **p, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap) return true;
    uint32_t more = *cap ? *cap * 2 : 64;
    void *q = memory_resize(&f->m->mem, MEM_CODE, *p, *cap * size, more * size);
    if (!q) {
        refuse(f);
        return false;
    }
    *p = q;
    *cap = more;
    return true;
}

static void *take(flat *f, size_t bytes)
{
    void *p = arena_alloc(&f->arena, bytes ? bytes : 1);
    if (!p) refuse(f);
    return p;
}

/* --- words ---------------------------------------------------------------------------------- */

static void word(flat *f, uint32_t x)
{
    void *p = f->w;
    if (!room(f, &p, f->n, &f->cap, sizeof *f->w)) return;
    f->w = p;
    f->w[f->n++] = x;
}

static void op(flat *f, run_op o) { word(f, (uint32_t)o | f->index); }

static void set_instr(flat *f, const instr *i)
{
    if (f->ninstrs >= 1u << 24) {
        if (!f->failed) vm_fail(f->m, DIAG_VALUE, "a function of more than sixteen million instructions");
        f->failed = true;
        return;
    }
    void *p = (void *)f->instrs;
    if (!room(f, &p, f->ninstrs, &f->instrs_cap, sizeof *f->instrs)) return;
    f->instrs = p;
    f->index = f->ninstrs << 8;
    f->instrs[f->ninstrs++] = i;
}

/* A word to be filled in later with where the code then stands. */
static uint32_t label_word(flat *f)
{
    word(f, 0);
    return f->n - 1;
}
static void label_here(flat *f, uint32_t at)
{
    if (at < f->n) f->w[at] = f->n;
}

/* --- slots ---------------------------------------------------------------------------------- */

/* What undoes one change: a state to be set again, a slot that was taken off the free ones, or put there. */
typedef struct change {
    enum { STATE_SET, FREE_TAKEN, FREE_PUT } what;
    uint32_t slot, state;
} change;

static void note(flat *f, change c)
{
    void *p = f->changes;
    if (!f->arms || !room(f, &p, f->nchanges, &f->changes_cap, sizeof *f->changes)) return;
    f->changes = p;
    f->changes[f->nchanges++] = c;
}

static void set_state(flat *f, uint32_t s, uint32_t state)
{
    note(f, (change){STATE_SET, s, f->state[s]});
    f->state[s] = state;
}

static uint32_t slot_new(flat *f, uint32_t state)
{
    /* The one freed last; it may have been taken since, and then stands here for nothing. */
    while (f->nfree) {
        uint32_t s = f->free[--f->nfree];
        note(f, (change){FREE_TAKEN, s, 0});
        if (f->state[s]) continue;
        set_state(f, s, state);
        return s;
    }
    uint32_t s = f->nslots;
    void *p = f->state;
    if (!room(f, &p, s, &f->slots_cap, sizeof *f->state)) return 0;
    f->state = p;
    f->nslots++;
    f->state[s] = 0;
    set_state(f, s, state);
    return s;
}

static void slot_free(flat *f, uint32_t s)
{
    void *p = f->free;
    if (!room(f, &p, f->nfree, &f->free_cap, sizeof *f->free)) return;
    f->free = p;
    f->free[f->nfree++] = s;
    note(f, (change){FREE_PUT, s, 0});
}

/* Everything as it was when there were `mark` changes; slots that are new since then are free. */
static void undo(flat *f, uint32_t mark, uint32_t nslots)
{
    while (f->nchanges > mark) {
        change c = f->changes[--f->nchanges];
        switch (c.what) {
        case STATE_SET: f->state[c.slot] = c.state; break;
        case FREE_TAKEN: f->free[f->nfree++] = c.slot; break;
        case FREE_PUT: f->nfree--; break;
        }
    }
    for (uint32_t s = f->nslots; s-- > nslots && !f->failed;) slot_free(f, s);
}

static void slot_unuse(flat *f, uint32_t s, uint32_t what)
{
    if (f->failed) return;
    set_state(f, s, f->state[s] - what);
    if (f->state[s] == 0) slot_free(f, s);
}

/* Where register r is going to be written. */
static uint32_t define(flat *f, reg r)
{
    uint32_t h = f->hint[r];
    if (h != SLOT_NONE && !f->failed && !(f->state[h] & OCCUPIED)) {
        set_state(f, h, f->state[h] | OCCUPIED);
        return f->slot[r] = h;
    }
    return f->slot[r] = slot_new(f, OCCUPIED);
}

static void dies(flat *f, reg r)
{
    if (!f->pinned[r]) slot_unuse(f, f->slot[r], OCCUPIED);
}

static uint32_t operand(flat *f, reg r, bool last) { return f->slot[r] << 1 | (last && !f->pinned[r] ? 1u : 0u); }

static void operands(flat *f, const live_instr *li)
{
    for (uint32_t s = 0; s < li->i->nsrc; s++) word(f, operand(f, li->i->src[s], li->last[s]));
    for (uint32_t s = 0; s < li->i->nsrc; s++)
        if (li->last[s]) dies(f, li->i->src[s]);
}

static void drops(flat *f, const drop *d)
{
    for (; d; d = d->next) {
        if (f->pinned[d->r]) continue;
        if (!f->plain[d->r]) {
            op(f, RUN_DROP);
            word(f, f->slot[d->r]);
        }
        dies(f, d->r);
    }
}

/* --- moves ---------------------------------------------------------------------------------- */

/* One value to carry from a register (or, when reg is REG_NONE, from `from` alone) to a slot. */
typedef struct move {
    reg r;
    uint32_t from, to;
    bool last, done;
} move;

/* What the moves at hand do with a slot; all zero between calls, so that a call costs what it moves. */
typedef struct traffic {
    uint32_t reads;  /* moves from it to be done */
    uint32_t writer; /* 1 + the move to it */
    bool last, stays;
} traffic;

static void move_emit(flat *f, move *k)
{
    bool last = k->last && f->traffic[k->from].reads == 1;
    k->done = true;
    f->traffic[k->from].reads--;
    op(f, last ? RUN_MOVE : RUN_COPY);
    word(f, k->to);
    word(f, k->from << 1 | last);
}

/* The move that can be done now that nothing reads the slot it writes, or SLOT_NONE. */
static uint32_t unblocked(const flat *f, const move *v, uint32_t slot)
{
    uint32_t w = f->traffic[slot].writer;
    return f->traffic[slot].reads == 0 && w && !v[w - 1].done ? w - 1 : SLOT_NONE;
}

/* Room for every slot there is and the temporary ones that n moves may take. */
static bool traffic_room(flat *f, uint32_t n)
{
    uint32_t most = f->nslots + n, cap = f->traffic_cap ? f->traffic_cap : 64;
    while (cap < most) cap *= 2;
    if (cap == f->traffic_cap) return true;
    traffic *t = memory_alloc(&f->m->mem, MEM_CODE, cap * sizeof *t);
    if (!t) refuse(f);
    if (!t) return false;
    memory_free(&f->m->mem, MEM_CODE, f->traffic, f->traffic_cap * sizeof *t);
    f->traffic = t;
    f->traffic_cap = cap;
    return true;
}

/* All at once, in meaning: no move reads what another has written. */
static void moves(flat *f, move *v, uint32_t n)
{
    uint32_t *queue = take(f, n * sizeof *queue), *temp = take(f, n * sizeof *temp), temps = 0, left = 0;
    if (f->failed || !traffic_room(f, n)) return;
    /* Whether a slot's value is used up is a matter of all its moves together. One that stays where
       it is counts as the use that keeps it. */
    for (uint32_t k = 0; k < n; k++) {
        traffic *t = &f->traffic[v[k].from];
        t->last |= v[k].last;
        t->stays |= v[k].to == v[k].from;
    }
    for (uint32_t k = 0; k < n; k++) {
        traffic *t = &f->traffic[v[k].from];
        v[k].last = t->last && !t->stays;
        v[k].done = v[k].to == v[k].from;
        if (v[k].done) continue;
        t->reads++;
        f->traffic[v[k].to].writer = k + 1;
        left++;
    }
    for (uint32_t first = 0, k = 0; left && !f->failed; k = first) {
        /* In order, what nothing waits for; then what that set free behind; then a cycle is broken. */
        uint32_t waiting = 0;
        for (; k < n && left; k++) {
            if (v[k].done || f->traffic[v[k].to].reads) continue;
            move_emit(f, &v[k]);
            left--;
            uint32_t j = unblocked(f, v, v[k].from);
            if (j < k) queue[waiting++] = j;
        }
        for (uint32_t q = 0; q < waiting; q++) {
            move_emit(f, &v[queue[q]]);
            left--;
            uint32_t j = unblocked(f, v, v[queue[q]].from);
            if (j != SLOT_NONE) queue[waiting++] = j;
        }
        while (first < n && v[first].done) first++;
        if (!left) break;
        uint32_t t = slot_new(f, OCCUPIED), from = v[first].from; /* one value of the cycle is set aside */
        temp[temps++] = t;
        op(f, v[first].last ? RUN_MOVE : RUN_COPY);
        word(f, t);
        word(f, from << 1 | v[first].last);
        f->traffic[t].reads = f->traffic[from].reads;
        f->traffic[from].reads = 0;
        f->traffic[from].last = f->traffic[from].stays = false;
        for (uint32_t j = first; j < n; j++)
            if (!v[j].done && v[j].from == from) v[j].from = t, v[j].last = true;
    }
    for (uint32_t k = 0; k < n; k++) f->traffic[v[k].from] = f->traffic[v[k].to] = (traffic){0};
    for (uint32_t k = 0; k < temps; k++) f->traffic[temp[k]] = (traffic){0};
    while (temps) slot_unuse(f, temp[--temps], OCCUPIED);
}

/* The moves of a YIELD's sources [skip, …) to slots, and the bookkeeping: sources that die leave their
   slots, the targets become occupied. With `go`, source 0 is kept for a jump that follows: *go is the
   operand to test. */
static void yield(flat *f, const live_instr *li, uint32_t skip, const uint32_t *to, uint32_t *go)
{
    const instr *i = li->i;
    uint32_t n = i->nsrc - skip, extra = 0, hidden = SLOT_NONE;
    move *v = take(f, (n + 1) * sizeof *v);
    if (!v || f->failed) return;
    if (skip) {
        /* The flag may lie in a slot that is about to be written. */
        uint32_t at = f->slot[i->src[0]];
        bool threatened = false;
        for (uint32_t k = 0; k < n; k++) threatened |= to[k] == at && f->slot[i->src[skip + k]] != at;
        bool last = li->last[0];
        if (threatened) {
            hidden = slot_new(f, OCCUPIED);
            v[n] = (move){i->src[0], at, hidden, last, false};
            extra = 1;
            *go = hidden << 1 | 1;
        } else *go = at << 1 | (last && !f->pinned[i->src[0]]);
    }
    for (uint32_t k = 0; k < n; k++) v[k] = (move){i->src[skip + k], f->slot[i->src[skip + k]], to[k], li->last[skip + k], false};
    for (uint32_t k = 0; k < n; k++)
        if (f->pinned[v[k].r]) v[k].last = false;
    moves(f, v, n + extra);
    for (uint32_t s = 0; s < i->nsrc; s++)
        if (li->last[s]) dies(f, i->src[s]);
    if (hidden != SLOT_NONE) slot_unuse(f, hidden, OCCUPIED);
    for (uint32_t k = 0; k < n && !f->failed; k++) set_state(f, to[k], f->state[to[k]] | OCCUPIED);
}

static void hints(flat *f, const live_block *b, uint32_t skip, const uint32_t *to)
{
    const instr *y = b->b->list[b->b->n - 1];
    for (uint32_t k = skip; k < y->nsrc; k++)
        if (f->hint[y->src[k]] == SLOT_NONE) f->hint[y->src[k]] = to[k - skip];
}

/* --- control -------------------------------------------------------------------------------- */

static void flat_list(flat *f, const live_block *b);
static const live_instr *terminator(const live_block *b) { return &b->of[b->b->n - 1]; }

/* Slots for the results of a construct whose blocks yield to them. */
static uint32_t *reserve_results(flat *f, const instr *i)
{
    uint32_t *to = take(f, i->ndst * sizeof *to);
    for (uint32_t d = 0; to && d < i->ndst && !f->failed; d++) {
        uint32_t h = f->hint[i->dst[d]];
        if (h != SLOT_NONE && !(f->state[h] & OCCUPIED)) {
            bool twice = false;
            for (uint32_t e = 0; e < d; e++) twice |= to[e] == h;
            if (!twice) {
                to[d] = h;
                set_state(f, h, f->state[h] + RESERVED);
                continue;
            }
        }
        to[d] = slot_new(f, RESERVED);
    }
    return to;
}

static void results_stand(flat *f, const instr *i, const uint32_t *to)
{
    for (uint32_t d = 0; d < i->ndst && !f->failed; d++) {
        f->slot[i->dst[d]] = to[d];
        set_state(f, to[d], (f->state[to[d]] - RESERVED) | OCCUPIED);
    }
}

static void flat_if(flat *f, const live_instr *li)
{
    const instr *i = li->i;
    uint32_t mine = f->index;
    op(f, RUN_GO_NOT);
    operands(f, li);
    uint32_t to_else = label_word(f);
    uint32_t *to = reserve_results(f, i);
    uint32_t n = f->nslots, mark = f->nchanges;
    if (f->failed) return;

    f->arms++;
    hints(f, &li->blocks[0], 0, to);
    flat_list(f, &li->blocks[0]);
    yield(f, terminator(&li->blocks[0]), 0, to, NULL);
    f->index = mine;
    op(f, RUN_JUMP);
    uint32_t to_end = label_word(f);
    label_here(f, to_else);
    if (f->failed) return;

    f->arms--;
    if (f->failed) return;
    undo(f, mark, n);
    hints(f, &li->blocks[1], 0, to);
    flat_list(f, &li->blocks[1]);
    yield(f, terminator(&li->blocks[1]), 0, to, NULL);
    label_here(f, to_end);
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
    uint32_t *to = take(f, n * sizeof *to);
    move *v = take(f, n * sizeof *v);
    if (!to || !v) return NULL;
    for (uint32_t k = 0; k < n && !f->failed; k++) {
        reg r = i->src[head + k], p = body->params[first + k];
        uint32_t h = f->hint[i->dst[k]];
        bool hinted = h != SLOT_NONE && !(f->state[h] & OCCUPIED);
        for (uint32_t e = 0; e < k; e++) hinted &= to[e] != h;
        if (hinted) {
            to[k] = h;
            set_state(f, h, f->state[h] + RESERVED);
        } else if (li->last[head + k] && !f->pinned[r]) {
            to[k] = f->slot[r];
            set_state(f, to[k], f->state[to[k]] + RESERVED); /* and stays occupied */
        } else to[k] = slot_new(f, RESERVED);
        v[k] = (move){r, f->slot[r], to[k], li->last[head + k] && !f->pinned[r], false};
        f->slot[p] = to[k];
    }
    if (f->failed) return NULL;
    moves(f, v, n);
    for (uint32_t k = 0; k < n; k++)
        if (li->last[head + k] && to[k] != f->slot[i->src[head + k]]) dies(f, i->src[head + k]);
    for (uint32_t k = 0; k < n; k++) set_state(f, to[k], f->state[to[k]] | OCCUPIED);
    return to;
}

static void loop_end(flat *f, const instr *i, const uint32_t *to) { results_stand(f, i, to); }

static void step_count(flat *f, const instr *i)
{
    if (i->flags & INSTR_STEP) op(f, RUN_STEP);
}

static void flat_range(flat *f, const live_instr *li)
{
    const instr *i = li->i;
    uint32_t mine = f->index;
    bool exits = i->imm & LOOP_EXIT;
    /* Bounds are read into slots of the loop's own first, so that they may die. */
    uint32_t counter = slot_new(f, OCCUPIED | RESERVED), end = slot_new(f, OCCUPIED | RESERVED);
    uint32_t lo = operand(f, i->src[0], li->last[0]), hi = operand(f, i->src[1], li->last[1]);
    uint32_t *to = NULL;
    /* The check of the bounds comes before anything is consumed. */
    op(f, RUN_RANGE);
    word(f, lo);
    word(f, hi);
    word(f, counter);
    word(f, end);
    if (li->last[0]) dies(f, i->src[0]); /* scalars: nothing to release */
    if (li->last[1] && !(li->last[0] && i->src[0] == i->src[1])) dies(f, i->src[1]);
    to = carry_in(f, li, 2, 1);
    if (f->failed) return;
    reg p = i->blocks[0]->params[0];
    f->slot[p] = counter;
    f->pinned[p] = 1;
    f->index = mine;
    op(f, RUN_JUMP); /* to the test at the bottom */
    uint32_t to_test = label_word(f);
    uint32_t top = f->n;
    step_count(f, i);
    hints(f, &li->blocks[0], exits, to);
    flat_list(f, &li->blocks[0]);
    uint32_t go = 0, to_exit = 0;
    yield(f, terminator(&li->blocks[0]), exits, to, &go);
    f->index = mine;
    if (exits) {
        op(f, RUN_GO_NOT);
        word(f, go);
        to_exit = label_word(f);
    }
    label_here(f, to_test);
    op(f, RUN_RANGE_NEXT);
    word(f, counter);
    word(f, end);
    word(f, top);
    if (exits) label_here(f, to_exit);
    slot_unuse(f, counter, OCCUPIED | RESERVED);
    slot_unuse(f, end, OCCUPIED | RESERVED);
    loop_end(f, i, to);
}

static void flat_while(flat *f, const live_instr *li)
{
    const instr *i = li->i;
    uint32_t mine = f->index;
    uint32_t go = operand(f, i->src[0], false);
    /* The flag is read before the carried values move; it may be one of them. */
    uint32_t flag = slot_new(f, OCCUPIED);
    op(f, RUN_COPY);
    word(f, flag);
    word(f, go);
    if (li->last[0] && !f->pinned[i->src[0]]) {
        op(f, RUN_DROP);
        word(f, f->slot[i->src[0]]);
        dies(f, i->src[0]);
    }
    uint32_t *to = carry_in(f, li, 1, 0);
    if (f->failed) return;
    op(f, RUN_GO_NOT);
    word(f, flag << 1 | 1);
    uint32_t to_exit = label_word(f);
    slot_unuse(f, flag, OCCUPIED);
    uint32_t top = f->n;
    step_count(f, i);
    hints(f, &li->blocks[0], 1, to);
    flat_list(f, &li->blocks[0]);
    go = 0;
    yield(f, terminator(&li->blocks[0]), 1, to, &go);
    f->index = mine;
    op(f, RUN_GO);
    word(f, go);
    word(f, top);
    label_here(f, to_exit);
    loop_end(f, i, to);
}

static void flat_tapes(flat *f, const live_instr *li)
{
    const instr *i = li->i;
    const block *body = i->blocks[0];
    uint32_t mine = f->index, n = i->ntapes, entries = 0;
    for (uint32_t k = 0; k < n; k++) entries += i->widths[k];
    op(f, RUN_TAPES);
    word(f, n);
    for (uint32_t k = 0; k < n; k++) word(f, operand(f, i->src[k], li->last[k]));
    uint32_t *at = take(f, n * sizeof *at);
    if (!at) return;
    for (uint32_t k = 0; k < n; k++) word(f, at[k] = slot_new(f, OCCUPIED | RESERVED));
    uint32_t index = slot_new(f, OCCUPIED | RESERVED);
    word(f, index);
    for (uint32_t k = 0; k < n; k++)
        if (li->last[k]) dies(f, i->src[k]);
    uint32_t *to = carry_in(f, li, n, entries);
    if (f->failed) return;
    /* The loop's test fills in the next entry, so it stands at the top. */
    uint32_t top = f->n;
    f->index = mine;
    op(f, RUN_TAPES_NEXT);
    word(f, n);
    for (uint32_t k = 0; k < n; k++) word(f, at[k]);
    word(f, index);
    uint32_t to_exit = label_word(f);
    for (uint32_t k = 0, e = 0; k < n; k++) {
        word(f, i->widths[k]);
        for (uint32_t j = 0; j < i->widths[k]; j++, e++) word(f, define(f, body->params[e]));
    }
    hints(f, &li->blocks[0], 0, to);
    flat_list(f, &li->blocks[0]);
    yield(f, terminator(&li->blocks[0]), 0, to, NULL);
    f->index = mine;
    op(f, RUN_JUMP);
    word(f, top);
    label_here(f, to_exit);
    for (uint32_t k = 0; k < n; k++) {
        op(f, RUN_DROP);
        word(f, at[k]);
        slot_unuse(f, at[k], OCCUPIED | RESERVED);
    }
    slot_unuse(f, index, OCCUPIED | RESERVED);
    loop_end(f, i, to);
}

static void flat_checkpoint(flat *f, const live_instr *li)
{
    const instr *i = li->i;
    uint32_t mine = f->index, few[8], *held = few;
    if (i->nsrc > 8 && !(held = arena_alloc(&f->arena, i->nsrc * sizeof *held))) {
        f->failed = true;
        return;
    }
    for (uint32_t k = 0; k < i->nsrc; k++) {
        op(f, RUN_KEEP);
        uint32_t at = f->n;
        word(f, 0);
        word(f, operand(f, i->src[k], li->last[k]));
        if (li->last[k]) dies(f, i->src[k]);
        held[k] = slot_new(f, OCCUPIED | RESERVED);
        if (at < f->n) f->w[at] = held[k];
    }
    uint32_t *to = reserve_results(f, i);
    if (f->failed) return;
    hints(f, &li->blocks[0], 0, to);
    flat_list(f, &li->blocks[0]);
    yield(f, terminator(&li->blocks[0]), 0, to, NULL);
    f->index = mine;
    for (uint32_t k = i->nsrc; k-- > 0;) {
        op(f, RUN_KEEP_END);
        word(f, held[k]);
        slot_unuse(f, held[k], OCCUPIED | RESERVED);
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
        op(f, RUN_CONST);
        word(f, define(f, i->dst[0]));
        word(f, i->imm);
        return;
    }
    uint32_t at;
    if (i->op == OP_CODE_PRIM || i->op == OP_CODE_TUPLE) {
        op(f, i->op == OP_CODE_TUPLE ? RUN_TUPLE : prim_op(f, i));
        if (i->op == OP_CODE_PRIM) word(f, i->imm);
        word(f, i->nsrc);
        at = f->n;
        word(f, 0);
        operands(f, li);
        uint32_t d = define(f, i->dst[0]);
        if (!f->failed) f->w[at] = d;
        return;
    }
    run_op o = ops[i->op] ? ops[i->op] : RUN_OTHER;
    op(f, o);
    if (o >= RUN_CALL && o <= RUN_IMPORT) word(f, i->imm);
    word(f, i->ndst);
    word(f, i->nsrc);
    at = f->n;
    for (uint32_t d = 0; d < i->ndst; d++) word(f, 0);
    operands(f, li);
    for (uint32_t d = 0; d < i->ndst; d++) {
        uint32_t s = define(f, i->dst[d]);
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
        uint32_t s = slot_new(f, OCCUPIED | RESERVED);
        slots[(*n)++] = f->slot[i->dst[0]] = s;
        f->pinned[i->dst[0]] = 1;
        op(f, RUN_CONST);
        word(f, s);
        word(f, i->imm);
    }
}

static void flat_instr(flat *f, const live_instr *li)
{
    set_instr(f, li->i);
    uint32_t *hoisted = NULL, n = 0;
    if (li->i->op == OP_CODE_LOOP && f->loops++ == 0 && (hoisted = take(f, HOIST_MOST * sizeof *hoisted)))
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
    while (n) slot_unuse(f, hoisted[--n], OCCUPIED | RESERVED);
    drops(f, li->after);
}

/* All but the terminator of a nested block; all of a body. */
static void flat_list(flat *f, const live_block *b)
{
    drops(f, b->start);
    for (uint32_t n = 0; n < b->b->n && !f->failed; n++)
        if (b->of[n].i->op == OP_CODE_YIELD) set_instr(f, b->of[n].i);
        else flat_instr(f, &b->of[n]);
}

/* --- the whole ------------------------------------------------------------------------------ */

static void entry_slots(flat *f, const live_block *body, uint32_t *entry)
{
    for (uint32_t k = 0; k < body->b->nparams; k++) entry[k] = 0;
    for (const drop *d = body->start; d; d = d->next)
        for (uint32_t k = 0; k < body->b->nparams; k++)
            if (body->b->params[k] == d->r) entry[k] = SLOT_NONE;
    for (uint32_t k = 0; k < body->b->nparams; k++)
        if (entry[k] != SLOT_NONE) entry[k] = define(f, body->b->params[k]);
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
        refuse(f);
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
    uint32_t *entry = take(&f, nentry * sizeof *entry);
    f.slot = take(&f, nregs * sizeof *f.slot);
    f.hint = take(&f, nregs * sizeof *f.hint);
    f.pinned = take(&f, nregs);
    f.plain = take(&f, nregs);
    if (!f.failed && !live_of(m, tree, &f.arena, &body)) f.failed = true;
    if (!f.failed) {
        memset(f.hint, 0xff, nregs * sizeof *f.hint);
        entry_slots(&f, &body, entry);
        body.start = NULL;
        flat_list(&f, &body);
    }
    if (!f.failed) r = run_pack(&f, entry, nentry);
    memory_free(&m->mem, MEM_CODE, f.state, f.slots_cap * sizeof *f.state);
    memory_free(&m->mem, MEM_CODE, f.traffic, f.traffic_cap * sizeof *f.traffic);
    memory_free(&m->mem, MEM_CODE, f.free, f.free_cap * sizeof *f.free);
    memory_free(&m->mem, MEM_CODE, f.changes, f.changes_cap * sizeof *f.changes);
    memory_free(&m->mem, MEM_CODE, f.w, f.cap * sizeof *f.w);
    memory_free(&m->mem, MEM_CODE, (void *)f.instrs, f.instrs_cap * sizeof *f.instrs);
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
