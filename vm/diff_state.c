/* diff_state.c: what the fwd and rev passes carry along: lists in the pass's arena, where each register of
 * fwd is defined, what rev imports of the primal, and the running cotangents. See diff.h. */
#include "diff.h"
#include <stdio.h>
#include <string.h>

/* --- lists in the pass's arena --------------------------------------------------------------- */

static void *grown(diff *d, void *old, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap) return old;
    uint32_t more = *cap ? *cap * 2 : 8;
    void *p = arena_alloc(&d->arena, more * size);
    if (!p) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return old;
    }
    if (n) memcpy(p, old, n * size);
    *cap = more;
    return p;
}
void regs_add(diff *d, regs *r, reg x)
{
    r->of = grown(d, r->of, r->n, &r->cap, sizeof *r->of);
    if (!d->failed) r->of[r->n++] = x;
}
void instrs_add(diff *d, instrs *l, instr *i)
{
    if (!i) return;
    l->of = grown(d, l->of, l->n, &l->cap, sizeof *l->of);
    if (!d->failed) l->of[l->n++] = i;
}
/* A table by register, grown to hold r; new entries are REG_NONE. */
void diff_table_reach(diff *d, reg **t, uint32_t *n, reg r)
{
    if (r < *n || d->failed) return;
    uint32_t more = *n ? *n * 2 : 64;
    while (more <= r) more *= 2;
    reg *p = arena_alloc(&d->arena, more * sizeof(reg));
    if (!p) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return;
    }
    if (*n) memcpy(p, *t, *n * sizeof(reg));
    memset(p + *n, 0xff, (more - *n) * sizeof(reg));
    *t = p;
    *n = more;
}
static void info_reach(diff *d, reg r)
{
    if (r < d->ninfo || d->failed) return;
    uint32_t more = d->ninfo ? d->ninfo * 2 : 64;
    while (more <= r) more *= 2;
    fwd_info *p = arena_alloc(&d->arena, more * sizeof *p);
    if (!p) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return;
    }
    if (d->ninfo) memcpy(p, d->info, d->ninfo * sizeof *p);
    d->info = p;
    d->ninfo = more;
    diff_table_reach(d, &d->rev_of, &d->nrev_of, more - 1);
}

void diff_define(diff *d, reg r, scope *s, uint32_t slot)
{
    info_reach(d, r);
    if (!d->failed) d->info[r] = (fwd_info){.scope = s, .slot = slot, .meta_of = REG_NONE, .metas = REG_NONE, .next_meta = REG_NONE};
}

reg diff_fwd_reg(diff *d, symbol name)
{
    reg r = builder_reg(&d->fb, name);
    diff_define(d, r, d->at, d->at->now);
    return r;
}

void diff_push_fwd(diff *d, instr *i) { instrs_add(d, &d->at->slots[d->at->now].main, i); }

/* --- what rev needs of the primal ------------------------------------------------------------ */

static scope *outermost(diff *d)
{
    scope *s = d->at;
    while (s->parent) s = s->parent;
    return s;
}

/* Makes an instruction for rev that goes to a prologue, not to the current place. */
static instr *prologue_instr(diff *d, scope *s, opcode op, uint32_t imm, uint32_t nsrc)
{
    instr *i = instr_new(&d->rb, op, imm, 1, nsrc, 0);
    if (!i) {
        d->failed = true;
        return NULL;
    }
    i->dst[0] = builder_reg(&d->rb, 0);
    instrs_add(d, &s->prologue, i);
    return i;
}

static reg const_in(diff *d, scope *s, value v)
{
    instr *i = prologue_instr(d, s, OP_CODE_CONST, builder_const(&d->rb, v), 0);
    return i ? i->dst[0] : 0;
}
reg diff_rev_const(diff *d, value v) { return const_in(d, outermost(d), v); }

/* Where a constant of scope s stands in rev: in s, unless it lies in a loop, which should not repeat it. (Were
   those of a chain of `else if` all in the outermost scope, each of its arms would have to drop all others'.) */
static scope *const_scope(scope *s)
{
    for (scope *k = s; k; k = k->parent)
        if (k->kind != SCOPE_ARM && k->parent) return NULL;
    return s;
}

reg diff_zero(diff *d)
{
    if (d->zero == REG_NONE) d->zero = diff_rev_const(d, value_zero());
    return d->zero;
}

reg diff_import(diff *d, reg r)
{
    if (d->failed) return 0;
    if (d->rev_of[r] != REG_NONE) return d->rev_of[r];
    const instr *def = d->info[r].def;
    scope *s = d->info[r].scope;
    if (def) {
        scope *to = const_scope(s);
        return d->rev_of[r] = const_in(d, to ? to : outermost(d), value_retain(d->f->consts[def->imm]));
    }
    reg q = builder_reg(&d->rb, d->fb.c->reg_names[r]);
    regs_add(d, &s->saved, r);
    regs_add(d, &s->rev_saved, q);
    if (!d->failed) d->rev_of[r] = q;
    return q;
}

reg diff_meta(diff *d, const prim *p, reg x)
{
    if (d->failed) return 0;
    uint32_t number = prim_number(p);
    if (d->info[x].def) {
        reg src = diff_import(d, x);
        return builder_prim(&d->rb, p, 1, &src);
    }
    for (reg k = d->info[x].metas; k != REG_NONE; k = d->info[k].next_meta)
        if (d->info[k].meta_prim == number) return diff_import(d, k);
    scope *s = d->info[x].scope;
    uint32_t slot = d->info[x].slot;
    instr *i = instr_new(&d->fb, OP_CODE_PRIM, number, 1, 1, 0);
    if (!i) {
        d->failed = true;
        return 0;
    }
    reg r = builder_reg(&d->fb, 0);
    i->flags |= INSTR_RULE;
    i->dst[0] = r;
    i->src[0] = x;
    diff_define(d, r, s, slot);
    if (d->failed) return 0;
    instrs_add(d, &s->slots[slot].after, i);
    d->info[r].meta_of = x;
    d->info[r].meta_prim = number;
    d->info[r].next_meta = d->info[x].metas;
    d->info[x].metas = r;
    return diff_import(d, r);
}

/* --- cotangents ------------------------------------------------------------------------------ */

reg diff_cot(diff *d, reg r) { return r < d->ncot ? d->cot[r] : REG_NONE; }
reg diff_cot_or_zero(diff *d, reg r)
{
    reg g = diff_cot(d, r);
    return g == REG_NONE ? diff_zero(d) : g;
}
/* The cotangent of h goes by the name h_adj. */
static void name_adjoint(diff *d, reg r, reg g)
{
    code *rc = d->rb.c;
    if (d->failed || d->rb.failed || r >= d->fb.c->nregs || !d->fb.c->reg_names[r] || rc->reg_names[g]) return;
    char name[256];
    int n = snprintf(name, sizeof name, "%s_adj", symbol_name(d->m->symbols, d->fb.c->reg_names[r]));
    if (n > 0 && (size_t)n < sizeof name) rc->reg_names[g] = symbol_of(d->m->symbols, name, (size_t)n);
}
void diff_cot_set(diff *d, reg r, reg g)
{
    if (g != REG_NONE) name_adjoint(d, r, g);
    diff_table_reach(d, &d->cot, &d->ncot, r);
    if (!d->failed) d->cot[r] = g;
}

reg diff_rev_prim(diff *d, enum prim_id p, uint32_t n, const reg *src) { return builder_prim(&d->rb, &prims[p], n, src); }

void diff_acc(diff *d, reg r, reg g)
{
    if (d->failed || !d->active[r]) return;
    reg old = diff_cot(d, r);
    diff_cot_set(d, r, old == REG_NONE ? g : diff_rev_prim(d, PRIM_acc, 2, (reg[]){old, g}));
}
