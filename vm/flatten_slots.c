/* flatten_slots.c: words of the run form, which slot each register has, and the moves between slots where branches
 * and rounds of loops meet. Memory that is refused is said once; from then on nothing is written. */
#include "flatten.h"
#include <string.h>

void flat_refuse(flat *f)
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
        flat_refuse(f);
        return false;
    }
    *p = q;
    *cap = more;
    return true;
}

void *flat_take(flat *f, size_t bytes)
{
    void *p = arena_alloc(&f->arena, bytes ? bytes : 1);
    if (!p) flat_refuse(f);
    return p;
}

/* --- words ---------------------------------------------------------------------------------- */

void flat_word(flat *f, uint32_t x)
{
    void *p = f->w;
    if (!room(f, &p, f->n, &f->cap, sizeof *f->w)) return;
    f->w = p;
    f->w[f->n++] = x;
}

void flat_op(flat *f, run_op o) { flat_word(f, (uint32_t)o | f->index); }

void flat_set_instr(flat *f, const instr *i)
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
uint32_t flat_label_word(flat *f)
{
    flat_word(f, 0);
    return f->n - 1;
}
void flat_label_here(flat *f, uint32_t at)
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

void flat_set_state(flat *f, uint32_t s, uint32_t state)
{
    note(f, (change){STATE_SET, s, f->state[s]});
    f->state[s] = state;
}

uint32_t flat_slot_new(flat *f, uint32_t state)
{
    /* The one freed last; it may have been taken since, and then stands here for nothing. */
    while (f->nfree) {
        uint32_t s = f->free[--f->nfree];
        note(f, (change){FREE_TAKEN, s, 0});
        if (f->state[s]) continue;
        flat_set_state(f, s, state);
        return s;
    }
    uint32_t s = f->nslots;
    void *p = f->state;
    if (!room(f, &p, s, &f->slots_cap, sizeof *f->state)) return 0;
    f->state = p;
    f->nslots++;
    f->state[s] = 0;
    flat_set_state(f, s, state);
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
void flat_undo(flat *f, uint32_t mark, uint32_t nslots)
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

void flat_slot_unuse(flat *f, uint32_t s, uint32_t what)
{
    if (f->failed) return;
    flat_set_state(f, s, f->state[s] - what);
    if (f->state[s] == 0) slot_free(f, s);
}

/* Where register r is going to be written. */
uint32_t flat_define(flat *f, reg r)
{
    uint32_t h = f->hint[r];
    if (h != SLOT_NONE && !f->failed && !(f->state[h] & OCCUPIED)) {
        flat_set_state(f, h, f->state[h] | OCCUPIED);
        return f->slot[r] = h;
    }
    return f->slot[r] = flat_slot_new(f, OCCUPIED);
}

void flat_dies(flat *f, reg r)
{
    if (!f->pinned[r]) flat_slot_unuse(f, f->slot[r], OCCUPIED);
}

uint32_t flat_operand(flat *f, reg r, bool last) { return f->slot[r] << 1 | (last && !f->pinned[r] ? 1u : 0u); }

void flat_operands(flat *f, const live_instr *li)
{
    for (uint32_t s = 0; s < li->i->nsrc; s++) flat_word(f, flat_operand(f, li->i->src[s], li->last[s]));
    for (uint32_t s = 0; s < li->i->nsrc; s++)
        if (li->last[s]) flat_dies(f, li->i->src[s]);
}

void flat_drops(flat *f, const drop *d)
{
    for (; d; d = d->next) {
        if (f->pinned[d->r]) continue;
        if (!f->plain[d->r]) {
            flat_op(f, RUN_DROP);
            flat_word(f, f->slot[d->r]);
        }
        flat_dies(f, d->r);
    }
}

/* --- moves ---------------------------------------------------------------------------------- */

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
    flat_op(f, last ? RUN_MOVE : RUN_COPY);
    flat_word(f, k->to);
    flat_word(f, k->from << 1 | last);
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
    if (!t) flat_refuse(f);
    if (!t) return false;
    memory_free(&f->m->mem, MEM_CODE, f->traffic, f->traffic_cap * sizeof *t);
    f->traffic = t;
    f->traffic_cap = cap;
    return true;
}

/* All at once, in meaning: no move reads what another has written. */
void flat_moves(flat *f, move *v, uint32_t n)
{
    uint32_t *queue = flat_take(f, n * sizeof *queue), *temp = flat_take(f, n * sizeof *temp), temps = 0, left = 0;
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
    /* In order, what nothing waits for; then what that set free behind. */
    uint32_t waiting = 0;
    for (uint32_t k = 0; k < n && left; k++) {
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
    /* What is left are cycles, for each slot that is still to be written is still to be read: there are as many of
       the ones as of the others, so each is read once. One value of each cycle is set aside. */
    for (uint32_t first = 0; left && !f->failed; first++) {
        if (v[first].done) continue;
        uint32_t t = flat_slot_new(f, OCCUPIED), from = v[first].from;
        temp[temps++] = t;
        flat_op(f, v[first].last ? RUN_MOVE : RUN_COPY);
        flat_word(f, t);
        flat_word(f, from << 1 | v[first].last);
        f->traffic[t].reads = 1;
        f->traffic[from].reads = 0;
        f->traffic[from].last = f->traffic[from].stays = false;
        v[first].from = t, v[first].last = true;
        for (uint32_t j = unblocked(f, v, from); j != SLOT_NONE; j = unblocked(f, v, v[j].from)) {
            move_emit(f, &v[j]);
            left--;
        }
    }
    for (uint32_t k = 0; k < n; k++) f->traffic[v[k].from] = f->traffic[v[k].to] = (traffic){0};
    for (uint32_t k = 0; k < temps; k++) f->traffic[temp[k]] = (traffic){0};
    while (temps) flat_slot_unuse(f, temp[--temps], OCCUPIED);
}

/* The moves of a YIELD's sources [skip, …) to slots, and the bookkeeping: sources that die leave their
   slots, the targets become occupied. With `go`, source 0 is kept for a jump that follows: *go is the
   operand to test. */
void flat_yield(flat *f, const live_instr *li, uint32_t skip, const uint32_t *to, uint32_t *go)
{
    const instr *i = li->i;
    uint32_t n = i->nsrc - skip, extra = 0, hidden = SLOT_NONE;
    move *v = flat_take(f, (n + 1) * sizeof *v);
    if (!v || f->failed) return;
    if (skip) {
        /* The flag may lie in a slot that is about to be written. */
        uint32_t at = f->slot[i->src[0]];
        bool threatened = false;
        for (uint32_t k = 0; k < n; k++) threatened |= to[k] == at && f->slot[i->src[skip + k]] != at;
        bool last = li->last[0];
        if (threatened) {
            hidden = flat_slot_new(f, OCCUPIED);
            v[n] = (move){i->src[0], at, hidden, last, false};
            extra = 1;
            *go = hidden << 1 | 1;
        } else *go = at << 1 | (last && !f->pinned[i->src[0]]);
    }
    for (uint32_t k = 0; k < n; k++) v[k] = (move){i->src[skip + k], f->slot[i->src[skip + k]], to[k], li->last[skip + k], false};
    for (uint32_t k = 0; k < n; k++)
        if (f->pinned[v[k].r]) v[k].last = false;
    flat_moves(f, v, n + extra);
    for (uint32_t s = 0; s < i->nsrc; s++)
        if (li->last[s]) flat_dies(f, i->src[s]);
    if (hidden != SLOT_NONE) flat_slot_unuse(f, hidden, OCCUPIED);
    for (uint32_t k = 0; k < n && !f->failed; k++) flat_set_state(f, to[k], f->state[to[k]] | OCCUPIED);
}

void flat_hints(flat *f, const live_block *b, uint32_t skip, const uint32_t *to)
{
    const instr *y = b->b->list[b->b->n - 1];
    for (uint32_t k = skip; k < y->nsrc; k++)
        if (f->hint[y->src[k]] == SLOT_NONE) f->hint[y->src[k]] = to[k - skip];
}

void flat_close(flat *f)
{
    memory *mem = &f->m->mem;
    memory_free(mem, MEM_CODE, f->state, f->slots_cap * sizeof *f->state);
    memory_free(mem, MEM_CODE, f->traffic, f->traffic_cap * sizeof *f->traffic);
    memory_free(mem, MEM_CODE, f->free, f->free_cap * sizeof *f->free);
    memory_free(mem, MEM_CODE, f->changes, f->changes_cap * sizeof *f->changes);
    memory_free(mem, MEM_CODE, f->w, f->cap * sizeof *f->w);
    memory_free(mem, MEM_CODE, (void *)f->instrs, f->instrs_cap * sizeof *f->instrs);
}
