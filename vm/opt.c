/* opt.c: the optimiser: Code in, an equal Code out that does less.
 *
 * It only removes, shares and forwards; no result changes by a bit, and what would have failed fails.
 * The tree is copied once, forward, and simplified on the way, each instruction by what is known of
 * its sources; then opt_dead.c removes what nobody needs. The copy keeps register numbers: an
 * instruction that turned out to be another one is left out and its results are *represented* by the
 * other's. It joins the group of its original, whose names, contracts and spans it shares, and is
 * never differentiated.
 *
 *   sharing      pure instructions with equal sources, found in the blocks around (a hash table whose
 *                entries go when their block ends). Not matrix products and named values, which a
 *                residual may keep by origin, in order. Not across the edge of a checkpoint block: what
 *                the user wants computed again there is not held from before.
 *   folding      elementwise primitives of constant scalars, by running them: same kernel, same bits.
 *                Not when the outcome is an error, an infinity or a NaN: that is found at run time.
 *   forwarding   elements of tuples and fields of records built in scope; carried values of loops that
 *                never change; results on which both arms of a branch agree
 *   inlining     the arm of a branch on a constant; loops that run zero times; checkpoint blocks that
 *                record nothing
 *
 * Linear in the size of the Code but for hash collisions; recursion follows nesting alone. */
#include "opt.h"
#include <math.h>
#include <string.h>

typedef struct entry {
    instr *i;
    uint32_t hash, below;
} entry; /* below: next in its bucket, + 1 */

typedef struct optimiser {
    vm *m;
    const code *from;
    builder b;
    arena scratch;
    reg *rep;            /* by register: what stands for it */
    instr **def;         /* by register: the instruction of the copy that makes it; NULL for parameters */
    uint32_t *const_map; /* by constant of `from`: 1 + its number in the copy */
    entry *entries;      /* shared instructions in scope, a stack */
    uint32_t nentries;
    uint32_t *buckets, mask; /* 1 + entry on top */
    uint32_t barrier;        /* entries below belong outside the innermost checkpoint block */
} optimiser;

/* --- what is known -------------------------------------------------------------------------- */

static const value *constant_of(const optimiser *o, reg r)
{
    const instr *d = o->def[r];
    return d && d->op == OP_CODE_CONST ? &o->b.c->consts[d->imm] : NULL;
}

/* Is r certainly no undefined variable? */
static bool is_defined(const optimiser *o, reg r)
{
    const instr *d = o->def[r];
    if (!d) return false;
    switch (d->op) {
    case OP_CODE_CONST: return o->b.c->consts[d->imm].tag != V_UNDEF;
    case OP_CODE_PRIM:
    case OP_CODE_TUPLE:
    case OP_CODE_SPREAD:
    case OP_CODE_RECORD:
    case OP_CODE_SETFIELD:
    case OP_CODE_CLOSURE:
    case OP_CODE_SELF:
    case OP_CODE_GLOBAL:
    case OP_CODE_DEFINED:
    case OP_CODE_BIND:
    case OP_CODE_CONTRACT:
    case OP_CODE_DERIVE: return true;
    default: return false;
    }
}

/* --- sharing -------------------------------------------------------------------------------- */

static bool may_share(const instr *i)
{
    switch (i->op) {
    case OP_CODE_PRIM: {
        const prim *p = &prims[i->imm & ~PRIM_SPREAD];
        if (p->attrs & A_META) return true;
        /* zeros(n) and its like are as cheap to make as to copy, and each is made to be written into. */
        bool makes = p->kind == RULE_CONSTANT && p->shape == S_CUSTOM;
        return code_is_pure_prim(p) && !(p->attrs & (A_DOT | A_NAMED)) && !makes;
    }
    case OP_CODE_CONST:
    case OP_CODE_TUPLE:
    case OP_CODE_RECORD:
    case OP_CODE_FIELD:
    case OP_CODE_UNPACK:
    case OP_CODE_SELF:
    case OP_CODE_SELDEF:
    case OP_CODE_DEFINED: return true;
    default: return false;
    }
}

/* Costs next to nothing to hold: may be found across the edge of a checkpoint block. */
static bool is_light(const instr *i)
{
    switch (i->op) {
    case OP_CODE_PRIM: return (prims[i->imm & ~PRIM_SPREAD].attrs & A_META) != 0;
    case OP_CODE_TUPLE:
    case OP_CODE_RECORD:
    case OP_CODE_FIELD:
    case OP_CODE_UNPACK: return false;
    default: return true;
    }
}

/* The immediate as far as it tells instructions apart: DEFINED's is only for its message. */
static uint32_t key_imm(const optimiser *o, const instr *i) { return i->op == OP_CODE_DEFINED || i->op == OP_CODE_RECORD ? 0 : i->imm; }

static uint32_t key_hash(const optimiser *o, const instr *i)
{
    uint64_t h = 14695981039346656037ull ^ i->op;
    h = (h ^ key_imm(o, i)) * 1099511628211ull;
    h = (h ^ i->ndst) * 1099511628211ull;
    for (uint32_t k = 0; k < i->nsrc; k++) h = (h ^ i->src[k]) * 1099511628211ull;
    if (i->op == OP_CODE_RECORD)
        for (uint32_t k = 0; k < i->nsrc; k++) h = (h ^ o->from->names[i->imm].names[k]) * 1099511628211ull;
    return (uint32_t)(h ^ h >> 32);
}

static bool same_key(const optimiser *o, const instr *a, const instr *b)
{
    if (a->op != b->op || a->ndst != b->ndst || a->nsrc != b->nsrc || key_imm(o, a) != key_imm(o, b)) return false;
    if (a->nsrc && memcmp(a->src, b->src, a->nsrc * sizeof(reg)) != 0) return false;
    if (a->op != OP_CODE_RECORD || a->imm == b->imm) return true;
    const name_list *x = &o->from->names[a->imm], *y = &o->from->names[b->imm];
    return x->n == y->n && (x->n == 0 || memcmp(x->names, y->names, x->n * sizeof(symbol)) == 0);
}

/* Gives i's results the values of an equal instruction in scope, or makes i one that others find. */
static bool shared(optimiser *o, instr *i)
{
    if (!may_share(i)) return false;
    uint32_t hash = key_hash(o, i), *bucket = &o->buckets[hash & o->mask];
    for (uint32_t e = *bucket; e; e = o->entries[e - 1].below) {
        const entry *x = &o->entries[e - 1];
        if (x->hash != hash || !same_key(o, x->i, i)) continue;
        if (e - 1 < o->barrier && !is_light(i)) break;
        for (uint32_t k = 0; k < i->ndst; k++) o->rep[i->dst[k]] = x->i->dst[k];
        return true;
    }
    o->entries[o->nentries] = (entry){i, hash, *bucket};
    *bucket = ++o->nentries;
    return false;
}

static void leave_scope(optimiser *o, uint32_t n)
{
    while (o->nentries > n) {
        const entry *x = &o->entries[--o->nentries];
        o->buckets[x->hash & o->mask] = x->below;
    }
}

/* --- simplifying one instruction ------------------------------------------------------------ */

static bool replace(optimiser *o, const instr *i, uint32_t k, reg by)
{
    o->rep[i->dst[k]] = by;
    return true;
}

/* Turns i into a constant when it is a primitive of constant scalars with an ordinary result. */
static void fold(optimiser *o, instr *i)
{
    if (i->op != OP_CODE_PRIM || i->imm & PRIM_SPREAD || i->nsrc == 0 || i->nsrc > 4) return;
    const prim *p = &prims[i->imm];
    if (!p->tile || !code_is_pure_prim(p)) return;
    value args[4], out = value_undef();
    for (uint32_t k = 0; k < i->nsrc; k++) {
        const value *v = constant_of(o, i->src[k]);
        if (!v || !value_is_scalar(*v)) return;
        args[k] = *v;
    }
    if (!prim_apply(o->m, p, args, i->nsrc, 0, &out)) {
        diag_free(o->m->error);
        o->m->error = NULL;
        o->m->fail_arg = -1;
        return;
    }
    if (value_is_scalar(out) && (!value_is_float(out) || isfinite(out.u.f)) && !INTERRUPTED(o->m)) {
        i->op = OP_CODE_CONST;
        i->imm = builder_const(&o->b, out);
        i->nsrc = 0;
        i->src_at = NULL;
    } else value_release(o->m, out);
}

enum { FIELDS_MOST = 500 };

static bool forward_field(optimiser *o, const instr *i)
{
    const instr *d = o->def[i->src[0]];
    if (d && d->op == OP_CODE_SETFIELD && d->imm == i->imm) return replace(o, i, 0, d->src[1]);
    if (!d || d->op != OP_CODE_RECORD) return false;
    const name_list *l = &o->from->names[d->imm];
    uint32_t found = 0, at = 0;
    if (l->n > FIELDS_MOST) return false; /* as many reads of as many fields would take their product */
    for (uint32_t k = 0; k < l->n; k++)
        if (l->names[k] == i->imm) found++, at = k;
    return found == 1 && replace(o, i, 0, d->src[at]);
}

/* True when i is not needed: its results are represented by others. */
static bool forwarded(optimiser *o, instr *i)
{
    const instr *d;
    const value *v;
    switch (i->op) {
    case OP_CODE_UNPACK:
        d = o->def[i->src[0]];
        if (!d || d->op != OP_CODE_TUPLE || d->nsrc != i->ndst) return false;
        for (uint32_t k = 0; k < i->ndst; k++) replace(o, i, k, d->src[k]);
        return true;
    case OP_CODE_FIELD: return forward_field(o, i);
    case OP_CODE_DEFINED: return is_defined(o, i->src[0]) && replace(o, i, 0, i->src[0]);
    case OP_CODE_SELDEF:
        if (is_defined(o, i->src[0])) return replace(o, i, 0, i->src[1]);
        v = constant_of(o, i->src[0]);
        return v && v->tag == V_UNDEF && replace(o, i, 0, i->src[2]);
    default: return false;
    }
}

/* --- copying -------------------------------------------------------------------------------- */

static void copy_block(optimiser *o, const block *k, block *into);

/* Everything but the end; the end's sources, as they are represented now, are returned. */
static const reg *copy_inside(optimiser *o, const block *k, block *into);

static instr *copy_instr(optimiser *o, const instr *i)
{
    instr *n = builder_take(&o->b, sizeof *n);
    if (!n) return NULL;
    *n = *i;
    n->dst = builder_take(&o->b, i->ndst * sizeof(reg));
    n->src = builder_take(&o->b, i->nsrc * sizeof(reg));
    n->blocks = builder_take(&o->b, i->nblocks * sizeof(block *));
    if (!n->dst || !n->src || !n->blocks) return NULL;
    if (i->ndst) memcpy(n->dst, i->dst, i->ndst * sizeof(reg));
    for (uint32_t k = 0; k < i->nsrc; k++) n->src[k] = o->rep[i->src[k]];
    if (op_rows[i->op].imm == IMM_CONST) {
        uint32_t *at = &o->const_map[i->imm];
        if (!*at) *at = 1 + builder_const(&o->b, value_retain(o->from->consts[i->imm]));
        n->imm = *at - 1;
    }
    return n;
}

static void copy_if(optimiser *o, const instr *i, instr *n, block *into)
{
    const value *v = constant_of(o, n->src[0]);
    if (v && v->tag == V_BOOL) {
        const reg *out = copy_inside(o, i->blocks[v->u.i ? 0 : 1], into);
        for (uint32_t k = 0; out && k < i->ndst; k++) replace(o, i, k, out[k]);
        return;
    }
    for (uint32_t q = 0; q < 2; q++) {
        n->blocks[q] = builder_block(&o->b, 0);
        copy_block(o, i->blocks[q], n->blocks[q]);
        if (o->b.failed) return;
    }
    const instr *x = block_end(n->blocks[0]), *y = block_end(n->blocks[1]);
    for (uint32_t k = 0; k < i->ndst; k++)
        if (x->src[k] == y->src[k]) replace(o, i, k, x->src[k]); /* equal, so from outside */
    builder_append(&o->b, into, n);
}

/* A loop that certainly runs zero times. */
static bool never_runs(const optimiser *o, const instr *n)
{
    const value *a, *b;
    if (n->imm & LOOP_EXIT) return false;
    switch (n->imm & LOOP_KIND) {
    case LOOP_RANGE:
        a = constant_of(o, n->src[0]), b = constant_of(o, n->src[1]);
        return a && b && a->tag == V_I64 && b->tag == V_I64 && a->u.i >= b->u.i;
    case LOOP_WHILE: a = constant_of(o, n->src[0]); return a && a->tag == V_BOOL && !a->u.i;
    default: return false;
    }
}

static void copy_loop(optimiser *o, const instr *i, instr *n, block *into)
{
    loop_shape s = loop_shape_of(i);
    if (never_runs(o, n)) {
        for (uint32_t k = 0; k < i->ndst; k++) replace(o, i, k, n->src[s.sources + k]);
        return;
    }
    const block *k = i->blocks[0];
    for (uint32_t j = 0; j < i->ndst; j++) {
        if (block_end(k)->src[s.yields + j] != k->params[s.params + j]) continue;
        /* Yielded as it came: what went in is there in every iteration and comes out. */
        o->rep[k->params[s.params + j]] = n->src[s.sources + j];
        replace(o, i, j, n->src[s.sources + j]);
    }
    block *to = builder_block(&o->b, 0);
    if (!to) return;
    to->nparams = k->nparams;
    to->params = builder_take(&o->b, k->nparams * sizeof(reg));
    if (!to->params) return;
    if (k->nparams) memcpy(to->params, k->params, k->nparams * sizeof(reg));
    n->blocks[0] = to;
    copy_block(o, k, to);
    builder_append(&o->b, into, n);
}

static void copy_checkpoint(optimiser *o, const instr *i, instr *n, block *into)
{
    uint32_t barrier = o->barrier, scope = o->nentries;
    o->barrier = scope;
    if (i->nsrc == 0) {
        const reg *out = copy_inside(o, i->blocks[0], into);
        for (uint32_t k = 0; out && k < i->ndst; k++) replace(o, i, k, out[k]);
        leave_scope(o, scope);
    } else {
        n->nblocks = 1; /* what it means does not run */
        n->ntapes = 0;
        n->blocks[0] = builder_block(&o->b, 0);
        copy_block(o, i->blocks[0], n->blocks[0]);
        builder_append(&o->b, into, n);
    }
    o->barrier = barrier;
}

static void copy_one(optimiser *o, const instr *i, block *into)
{
    instr *n = copy_instr(o, i);
    if (!n || o->b.failed) return;
    switch (i->op) {
    case OP_CODE_IF: copy_if(o, i, n, into); return;
    case OP_CODE_LOOP: copy_loop(o, i, n, into); return;
    case OP_CODE_CHECKPOINT: copy_checkpoint(o, i, n, into); return;
    }
    if (forwarded(o, n)) return;
    fold(o, n);
    if (shared(o, n)) return;
    for (uint32_t k = 0; k < n->ndst; k++) o->def[n->dst[k]] = n;
    builder_append(&o->b, into, n);
}

static const reg *copy_inside(optimiser *o, const block *k, block *into)
{
    for (uint32_t j = 0; j + 1 < k->n && !o->b.failed; j++) copy_one(o, k->list[j], into);
    const instr *end = block_end(k);
    reg *out = builder_take(&o->b, end->nsrc * sizeof *out);
    for (uint32_t j = 0; out && j < end->nsrc; j++) out[j] = o->rep[end->src[j]];
    return out;
}

static void copy_block(optimiser *o, const block *k, block *into)
{
    uint32_t scope = o->nentries;
    const reg *out = copy_inside(o, k, into);
    leave_scope(o, scope);
    instr *end = copy_instr(o, block_end(k));
    if (!out || !end || o->b.failed) return;
    if (end->nsrc) memcpy(end->src, out, end->nsrc * sizeof(reg));
    builder_append(&o->b, into, end);
}

/* --- a whole Code --------------------------------------------------------------------------- */

static uint32_t count_instrs(const block *k)
{
    uint32_t n = k->n;
    for (uint32_t j = 0; j < k->n; j++)
        for (uint32_t q = 0; q < k->list[j]->nblocks; q++) n += count_instrs(k->list[j]->blocks[q]);
    return n;
}

/* What stands in the head of a Code, and its side tables but for the constants. */
static void copy_head(optimiser *o)
{
    const code *c = o->from;
    code *to = o->b.c;
    for (uint32_t k = 0; k < c->ncaptures + c->nparams; k++) to->body->params[k] = c->body->params[k];
    to->param_names = c->param_names;
    to->help = c->help;
    to->at = c->at;
    to->required = c->required;
    to->rest = c->rest;
    to->nresults = c->nresults;
    to->special = c->special;
    to->nregs = c->nregs;
    to->reg_names = c->reg_names;
    to->names = c->names;
    to->nnames = c->nnames;
    to->contracts = c->contracts;
    to->ncontracts = c->ncontracts;
    for (uint32_t k = 0; k < c->noptions; k++) builder_options(&o->b, &c->options[k]);
    for (uint32_t k = 0; k < c->ncodes; k++) builder_code(&o->b, code_retain(c->codes[k]));
}

static bool scratch_open(optimiser *o)
{
    const code *c = o->from;
    arena_open(&o->scratch, &o->m->mem, MEM_OTHER);
    uint32_t n = count_instrs(c->body), buckets = 16;
    while (buckets < n) buckets *= 2;
    o->mask = buckets - 1;
    o->rep = arena_alloc(&o->scratch, c->nregs * sizeof *o->rep);
    o->def = arena_alloc(&o->scratch, c->nregs * sizeof *o->def);
    o->const_map = arena_alloc(&o->scratch, c->nconsts * sizeof *o->const_map);
    o->entries = arena_alloc(&o->scratch, n * sizeof *o->entries);
    o->buckets = arena_alloc(&o->scratch, buckets * sizeof *o->buckets);
    if (!o->rep || !o->def || !o->const_map || !o->entries || !o->buckets) return vm_out_of_memory(o->m);
    for (uint32_t k = 0; k < c->nregs; k++) o->rep[k] = k;
    return true;
}

code *code_optimise(code *c)
{
    vm *m = c->vm;
    if (!m->config.optimise) return c;
    optimiser o = {.m = m, .from = c};
    builder_open(&o.b, m, c->name, c->src, c->ncaptures, c->nparams);
    if (scratch_open(&o) && !o.b.failed) {
        copy_head(&o);
        copy_block(&o, c->body, o.b.c->body);
        bool again = c->role == CODE_REV || c->role == CODE_REGION; /* what fails there has failed before */
        if (!o.b.failed && !dead_sweep(m, o.b.c->body, c->nregs, again, c->role == CODE_REGION)) o.b.failed = true;
    } else o.b.failed = true;
    arena_close(&o.scratch);
    return builder_finish_derived(&o.b, c->primal ? c->primal : c, c->role);
}
