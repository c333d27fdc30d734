/* diff_save.c: what of a scope is saved, and what the reverse pass computes again.
 *
 * In comes a scope whose rev is written and whose saved values are listed; out comes a shorter list. A
 * saved value leaves it when rev can have it from what is there anyway:
 *   - a form, from the value itself when that is in rev
 *   - the result of an elementwise primitive, from arguments that are in rev, when a few cheap operations
 *     do: fused with what reads it, that costs less than the memory did
 *   - the same from one further value that is saved in its place, when that one comes into it with new axes
 *     (`x[:, none]`), or is a field of what was given, as a bias is: an elementwise result is at least as large
 *     as what it was broadcast from
 * Each is computed right before the first instruction of rev that reads it, so that it lives no longer
 * than it must.
 *
 * With the optimiser off only forms are computed again: each operation then runs as often as its blocks say.
 *
 * This alters what is saved and no bit: the same kernels run on the same values. It looks at the primal
 * alone and never at sizes, so a checkpoint block does not change it. Where rev may itself be differentiated
 * in reverse all is saved (DERIVE_EXACT): a value computed again would take its cotangents to its arguments
 * by itself, beside the one that fwd made, and the sums would come in another order. */
#include "diff.h"
#include <stdlib.h>
#include <string.h>

/* What one value may cost to compute again, in vector operations for an element. */
enum { AGAIN_MOST = 12, AGAIN_CHEAP = 1, AGAIN_FUNCTION = 8 };

/* The tables by register are the whole function's, for there may be as many scopes as registers: what a scope sees
   in them is its own, since scopes within are settled before and scopes around it after it. */
typedef struct settling {
    uint8_t *cost; /* by fwd register: of computing it again, 0: it is saved or not needed */
    uint32_t ncost;
    instr **again; /* by rev register: the instruction that makes it, not placed yet */
    uint32_t nagain;
} settling;

typedef struct settle {
    diff *d;
    scope *s;
    settling *t;
    regs pending; /* rev registers with something in `again` */
} settle;

static unsigned cost_of(const prim *p)
{
    switch (prim_number(p)) {
    case PRIM_add:
    case PRIM_sub:
    case PRIM_mul:
    case PRIM_neg:
    case PRIM_square:
    case PRIM_abs:
    case PRIM_relu:
    case PRIM_where:
    case PRIM_maximum:
    case PRIM_minimum:
    case PRIM_lt:
    case PRIM_le:
    case PRIM_gt:
    case PRIM_ge:
    case PRIM_not:
    case PRIM_and:
    case PRIM_or:
    case PRIM_div:
    case PRIM_sqrt: return AGAIN_CHEAP;
    case PRIM_exp:
    case PRIM_sin:
    case PRIM_cos:
    case PRIM_log:
    case PRIM_sigmoid:
    case PRIM_tanh:
    case PRIM_silu: return AGAIN_FUNCTION;
    case PRIM_gelu: return AGAIN_MOST; /* a tanh and what makes its argument */
    default: return AGAIN_MOST + 1;
    }
}

/* The instruction of this scope that makes fwd register r, or NULL. */
static const instr *definition(const settle *k, reg r)
{
    if (r >= k->d->ninfo) return NULL;
    const fwd_info *f = &k->d->info[r];
    if (f->scope != k->s || f->slot == 0 || f->slot >= k->s->primal->n) return NULL;
    const instr *i = k->s->primal->list[f->slot - 1];
    return i->ndst == 1 && i->dst[0] == r ? i : NULL;
}

/* An index that takes all elements and may add axes: a tuple of `none`, `:` and `...`. */
static bool takes_all(const settle *k, reg ix)
{
    const instr *t = definition(k, ix);
    if (!t || t->op != OP_CODE_TUPLE) return false;
    for (uint32_t j = 0; j < t->nsrc; j++) {
        const instr *c = k->d->info[t->src[j]].def;
        if (!c) return false;
        value v = k->d->f->consts[c->imm];
        if (v.tag == V_NONE || v.tag == V_ELLIPSIS) continue;
        if (v.tag != V_SLICE) return false;
        const slice *s = as_slice(v);
        if (s->start.tag != V_NONE || s->stop.tag != V_NONE || s->step.tag != V_NONE) return false;
    }
    return true;
}

static bool is_view(const instr *i) { return i->imm == PRIM_index; }

/* The elementwise primitive or view of this scope that makes fwd register r, or NULL. */
static const instr *maker(const settle *k, reg r)
{
    const instr *i = definition(k, r);
    if (!i || i->op != OP_CODE_PRIM || i->imm & PRIM_SPREAD) return NULL;
    if (is_view(i)) return i->nsrc == 2 && takes_all(k, i->src[1]) ? i : NULL;
    const prim *p = prim_of(i);
    return p->tile && code_is_pure_prim(p) ? i : NULL;
}

/* A field, or a field of one, of what came into this scope. */
static bool given(const settle *k, reg r)
{
    const instr *i = definition(k, r);
    if (!i || i->op != OP_CODE_FIELD) return false;
    while (i && i->op == OP_CODE_FIELD) {
        r = i->src[0];
        i = definition(k, r);
    }
    return !i && (k->d->info[r].scope != k->s || k->d->info[r].slot == 0);
}

/* Takes what computing r from what is in rev costs off *left; false when that is too much, or when it needs
   what is not there. *more: the one value to be saved in r's place, REG_NONE while there is none. */
static bool can_again(const settle *k, const instr *i, unsigned *left, reg *more)
{
    const diff *d = k->d;
    unsigned c = is_view(i) ? 0 : cost_of(prim_of(i));
    if (c > *left) return false;
    *left -= c;
    for (uint32_t j = 0; j < (is_view(i) ? 1 : i->nsrc); j++) {
        reg x = i->src[j];
        if (d->info[x].def || x == *more) continue;
        if (d->rev_of[x] != REG_NONE) {
            unsigned own = x < k->t->ncost ? k->t->cost[x] : 0;
            if (own > *left) return false;
            *left -= own;
            continue;
        }
        const instr *m = maker(k, x);
        unsigned before = *left;
        reg none = *more;
        if (m && can_again(k, m, left, more)) continue;
        *left = before;
        *more = none;
        if (!(is_view(i) || given(k, x)) || none != REG_NONE || d->info[x].scope != k->s) return false;
        *more = x;
    }
    return true;
}

static void pending(settle *k, instr *i)
{
    diff *d = k->d;
    reg r = i->dst[0];
    if (r >= k->t->nagain) {
        uint32_t n = k->t->nagain * 2 > r + 1 ? k->t->nagain * 2 : r + 64;
        instr **p = arena_alloc(&d->arena, n * sizeof *p);
        if (!p) {
            d->failed = true;
            vm_out_of_memory(d->m);
            return;
        }
        if (k->t->nagain) memcpy(p, k->t->again, k->t->nagain * sizeof *p);
        k->t->again = p;
        k->t->nagain = n;
    }
    k->t->again[r] = i;
    regs_add(d, &k->pending, r);
}

/* fwd register x in rev, whatever that takes. */
static reg again(settle *k, reg x);

static void compute_again(settle *k, const instr *i, reg to)
{
    diff *d = k->d;
    instr *n = instr_new(&d->rb, OP_CODE_PRIM, i->imm, 1, i->nsrc, 0);
    if (!n) {
        d->failed = true;
        return;
    }
    n->at = i->at;
    n->point = i->point;
    n->src_at = i->src_at;
    n->dst[0] = to;
    for (uint32_t j = 0; j < i->nsrc; j++) n->src[j] = again(k, i->src[j]);
    if (!d->failed) pending(k, n);
}

static reg again(settle *k, reg x)
{
    diff *d = k->d;
    if (d->failed) return 0;
    if (d->info[x].def || d->rev_of[x] != REG_NONE) return diff_import(d, x);
    const instr *i = definition(k, x);
    reg r = d->rev_of[x] = builder_reg(&d->rb, 0);
    if (i && i->op == OP_CODE_TUPLE) { /* of constants: an index */
        instr *n = instr_new(&d->rb, OP_CODE_TUPLE, 0, 1, i->nsrc, 0);
        if (!n) {
            d->failed = true;
            return 0;
        }
        n->dst[0] = r;
        for (uint32_t j = 0; j < i->nsrc; j++) n->src[j] = diff_import(d, i->src[j]);
        pending(k, n);
    } else compute_again(k, maker(k, x), r);
    return r;
}

/* --- placing ------------------------------------------------------------------------------------ */

typedef struct list {
    instr **of;
    uint32_t n, cap;
} list;

static void list_add(settle *k, list *l, instr *i)
{
    diff *d = k->d;
    if (l->n == l->cap) {
        uint32_t cap = l->cap ? l->cap * 2 : 32;
        instr **p = builder_take(&d->rb, cap * sizeof *p);
        if (!p) {
            d->failed = true;
            return;
        }
        if (l->n) memcpy(p, l->of, l->n * sizeof *p);
        l->of = p;
        l->cap = cap;
    }
    l->of[l->n++] = i;
}

static void place(settle *k, list *l, reg r)
{
    if (r >= k->t->nagain || !k->t->again[r] || k->d->failed) return;
    instr *i = k->t->again[r];
    k->t->again[r] = NULL;
    for (uint32_t j = 0; j < i->nsrc; j++) place(k, l, i->src[j]);
    list_add(k, l, i);
}

static void place_for(settle *k, list *l, const instr *i)
{
    for (uint32_t j = 0; j < i->nsrc; j++) place(k, l, i->src[j]);
    for (uint32_t b = 0; b < i->nblocks; b++)
        for (uint32_t n = 0; n < i->blocks[b]->n; n++) place_for(k, l, i->blocks[b]->list[n]);
}

static int reg_order(const void *a, const void *b)
{
    reg x = *(const reg *)a, y = *(const reg *)b;
    return x < y ? -1 : x > y;
}

static void place_all(settle *k)
{
    diff *d = k->d;
    block *rev = k->s->rev;
    list l = {0};
    for (uint32_t n = 0; n < rev->n && !d->failed; n++) {
        place_for(k, &l, rev->list[n]);
        list_add(k, &l, rev->list[n]);
    }
    /* What only the caller is going to read comes last; what nobody reads goes as dead code. */
    if (k->pending.n) qsort(k->pending.of, k->pending.n, sizeof(reg), reg_order);
    for (uint32_t j = 0; j < k->pending.n && !d->failed; j++) place(k, &l, k->pending.of[j]);
    if (d->failed) return;
    rev->list = l.of;
    rev->n = l.n;
    rev->cap = l.cap;
}

void scope_settle(diff *d, scope *s)
{
    settling *t = d->settling;
    if (!t && (t = d->settling = arena_alloc(&d->arena, sizeof *t))) {
        t->ncost = d->f->nregs;
        t->cost = arena_alloc(&d->arena, t->ncost + 1);
    }
    settle k = {.d = d, .s = s, .t = t};
    uint32_t n = s->primal->n + 1, none = UINT32_MAX, *at = arena_alloc(&d->arena, n * sizeof *at);
    if (d->failed || !at || !t || !t->cost) {
        if (!d->failed) vm_out_of_memory(d->m);
        d->failed = true;
        return;
    }
    memset(at, 0xff, n * sizeof *at);
    bool any = false;
    for (uint32_t j = 0; j < s->saved.n; j++)
        if (maker(&k, s->saved.of[j])) at[d->info[s->saved.of[j]].slot] = j;
    /* In program order, so that what a value is computed from has been decided. */
    for (uint32_t slot = 1; slot < n && !d->failed && d->m->config.optimise && d->kind != DERIVE_EXACT; slot++) {
        if (at[slot] == none) continue;
        reg r = s->saved.of[at[slot]];
        const instr *i = maker(&k, r);
        unsigned left = AGAIN_MOST;
        reg more = REG_NONE;
        if (r >= t->ncost || !can_again(&k, i, &left, &more)) continue;
        if (more != REG_NONE) diff_import(d, more);
        t->cost[r] = (uint8_t)(1 + AGAIN_MOST - left);
        compute_again(&k, i, s->rev_saved.of[at[slot]]);
        any = true;
    }
    uint32_t kept = 0;
    for (uint32_t j = 0; j < s->saved.n && !d->failed; j++) {
        reg r = s->saved.of[j], x = d->info[r].meta_of;
        if (r < t->ncost && t->cost[r]) continue;
        if (x != REG_NONE && d->rev_of[x] != REG_NONE) {
            instr *i = instr_new(&d->rb, OP_CODE_PRIM, d->info[r].meta_prim, 1, 1, 0);
            if (!i) {
                d->failed = true;
                return;
            }
            i->dst[0] = s->rev_saved.of[j];
            i->src[0] = d->rev_of[x];
            pending(&k, i);
            any = true;
            continue;
        }
        s->saved.of[kept] = r;
        s->rev_saved.of[kept++] = s->rev_saved.of[j];
    }
    s->saved.n = s->rev_saved.n = kept;
    if (any && !d->failed) place_all(&k);
}
