/* diff.c: derivatives of Code: the cache, which registers are active, and copying Code.
 *
 * In: a finished Code and a mask of active parameters. Out: derived Code in the same group, made once
 * for each (kind, mask) and kept with the Code. */
#include "diff.h"
#include <string.h>

code *code_derive(code *c, derive_kind kind, uint64_t mask)
{
    vm *m = c->vm;
    if (kind == DERIVE_FWD) kind = m->gradient_depth ? DERIVE_EXACT : m->budgeted ? DERIVE_PIECES : DERIVE_WHOLE;
    /* What a rest parameter takes is one: it is active when any of that is. Beyond, a mask says nothing about
       parameters that do not exist. */
    uint32_t bits = 1 + c->nparams;
    if (bits < 64) {
        if (c->rest && mask >> bits) mask |= 1ull << (bits - 1);
        mask &= (1ull << bits) - 1;
    }
    if (c->ncaptures == 0) mask &= ~1ull;
    for (struct derived *d = c->derived; d; d = d->next)
        if (d->kind == kind && d->mask == mask) return d->code;
    code *made = c->special == SPECIAL_CUSTOM_VJP ? diff_custom(m, c, kind, mask)
                 : kind != DERIVE_JVP             ? diff_fwd(m, c, mask, kind)
                                                  : diff_jvp(m, c, mask);
    if (!made) return NULL;
    struct derived *d = arena_alloc(&c->arena, sizeof *d);
    if (!d) {
        vm_out_of_memory(m);
        return NULL;
    }
    d->kind = (uint8_t)kind;
    d->mask = mask;
    d->code = made;
    d->next = c->derived;
    c->derived = d;
    return made;
}

/* --- activity ------------------------------------------------------------------------------ */

/* The least set that holds what the mask says and what is made of its members. Ordinarily found by walking the Code,
   a loop's body again while it adds something. Where that goes on, as in a loop that hands a thousand values down a
   row, what each register makes active is listed, and the list is followed: as much work as there are operands. */
typedef struct activity {
    vm *m;
    const code *f;
    uint8_t *on;
    uint64_t mask;
    bool changed;
    bool failed;
    bool long_way; /* some loop was walked WALKS_MOST times */
} activity;
enum { WALKS_MOST = 16 };

static bool any_on(const activity *a, uint32_t n, const reg *r)
{
    for (uint32_t i = 0; i < n; i++)
        if (a->on[r[i]]) return true;
    return false;
}
static void turn_on(activity *a, reg r)
{
    if (!a->on[r]) {
        a->on[r] = 1;
        a->changed = true;
    }
}
static const instr *last_of(const block *b) { return b->list[b->n - 1]; }

static void walk(activity *a, const block *b);

static bool prim_active(activity *a, const instr *i)
{
    const prim *p = prim_of(i);
    if (p->kind == RULE_CONSTANT) return false;
    for (uint32_t k = 0; k < i->nsrc; k++)
        if (a->on[i->src[k]]) {
            if (p->kind == RULE_REFUSE || rule_lists(a->m, p, k)) return true;
            if (a->m->error) {
                a->failed = true;
                return false;
            }
        }
    return false;
}

static void walk_loop(activity *a, const instr *i)
{
    const block *body = i->blocks[0];
    const instr *y = last_of(body);
    unsigned kind = i->imm & LOOP_KIND;
    uint32_t lead = kind == LOOP_RANGE ? 2 : kind == LOOP_WHILE ? 1 : i->ntapes; /* sources before carried */
    uint32_t first = body->nparams - i->ndst;                                    /* first carried parameter */
    uint32_t skip = y->nsrc - i->ndst;                                           /* `go` */
    if (kind == LOOP_TAPE) {
        uint32_t p = 0;
        for (uint32_t t = 0; t < i->ntapes; t++)
            for (uint32_t w = 0; w < i->widths[t]; w++, p++)
                if (a->on[i->src[t]]) turn_on(a, body->params[p]);
    }
    for (uint32_t k = 0; k < i->ndst; k++)
        if (a->on[i->src[lead + k]]) turn_on(a, body->params[first + k]);
    for (uint32_t walks = 0;;) {
        bool outside = a->changed;
        a->changed = false;
        walk(a, body);
        for (uint32_t k = 0; k < i->ndst; k++)
            if (a->on[y->src[skip + k]]) turn_on(a, body->params[first + k]);
        bool again = a->changed;
        a->changed = outside || again;
        if (!again || a->failed) break;
        if (++walks == WALKS_MOST) a->long_way = a->failed = true;
    }
    for (uint32_t k = 0; k < i->ndst; k++)
        if (a->on[body->params[first + k]]) turn_on(a, i->dst[k]);
}

static void walk(activity *a, const block *b)
{
    for (uint32_t n = 0; n + 1 < b->n && !a->failed; n++) {
        const instr *i = b->list[n];
        bool on = false;
        uint32_t ndst = i->ndst;
        switch (i->op) {
        case OP_CODE_CONST:
        case OP_CODE_GLOBAL:
        case OP_CODE_IMPORT:
        case OP_CODE_CONTRACT:
        case OP_CODE_TAPE:
        case OP_CODE_SETGLOBAL: continue;
        case OP_CODE_SELF: on = mask_has(a->mask, 0); break;
        case OP_CODE_PRIM: on = prim_active(a, i); break;
        case OP_CODE_DERIVE: on = a->on[i->src[0]]; break;
        case OP_CODE_SELDEF: on = any_on(a, 2, i->src + 1); break;
        case OP_CODE_TRY:
        case OP_CODE_MEASURE:
            on = any_on(a, i->nsrc, i->src);
            ndst--;
            break;
        case OP_CODE_IF:
            for (int k = 0; k < 2; k++) {
                walk(a, i->blocks[k]);
                const instr *y = last_of(i->blocks[k]);
                for (uint32_t j = 0; j < i->ndst; j++)
                    if (a->on[y->src[j]]) turn_on(a, i->dst[j]);
            }
            continue;
        case OP_CODE_CHECKPOINT:
            for (uint32_t k = 0; k < i->nblocks; k++) {
                walk(a, i->blocks[k]);
                const instr *y = last_of(i->blocks[k]);
                for (uint32_t j = 0; j < i->ndst; j++)
                    if (a->on[y->src[j]]) turn_on(a, i->dst[j]);
            }
            continue;
        case OP_CODE_LOOP: walk_loop(a, i); continue;
        default: on = any_on(a, i->nsrc, i->src); break;
        }
        if (on)
            for (uint32_t k = 0; k < ndst; k++) turn_on(a, i->dst[k]);
    }
}

/* --- the long way --------------------------------------------------------------------------- */

/* What a register makes active: register `to` (with `i` NULL), or the results of i, of which it is operand `to`. */
typedef struct edge {
    const instr *i;
    uint32_t to, next; /* next: 1 + the next one of the same register */
} edge;

typedef struct follow {
    activity *a;
    edge *of;
    uint32_t n, cap;
    uint32_t *first; /* by register: 1 + its first edge */
    reg *list;       /* active registers whose edges are still to be followed */
    uint32_t nlist;
} follow;

static void edge_add(follow *w, reg from, const instr *i, uint32_t to)
{
    if (w->n == w->cap) {
        uint32_t cap = w->cap ? 2 * w->cap : 1024;
        memory *mem = &w->a->m->mem;
        edge *of = cap > w->cap ? memory_resize(mem, MEM_OTHER, w->of, w->cap * sizeof *of, cap * sizeof *of) : NULL;
        if (!of) {
            w->a->failed = true;
            vm_out_of_memory(w->a->m);
            return;
        }
        w->of = of;
        w->cap = cap;
    }
    w->of[w->n] = (edge){i, to, w->first[from]};
    w->first[from] = ++w->n;
}

static void reach(follow *w, reg r)
{
    if (w->a->on[r]) return;
    w->a->on[r] = 1;
    w->list[w->nlist++] = r;
}

static void edges_of(follow *w, const block *b);

static void edges_of_loop(follow *w, const instr *i)
{
    const block *body = i->blocks[0];
    const instr *y = last_of(body);
    unsigned kind = i->imm & LOOP_KIND;
    uint32_t lead = kind == LOOP_RANGE ? 2 : kind == LOOP_WHILE ? 1 : i->ntapes, first = body->nparams - i->ndst, skip = y->nsrc - i->ndst;
    if (kind == LOOP_TAPE)
        for (uint32_t t = 0, p = 0; t < i->ntapes; t++)
            for (uint32_t k = 0; k < i->widths[t]; k++, p++) edge_add(w, i->src[t], NULL, body->params[p]);
    for (uint32_t k = 0; k < i->ndst && !w->a->failed; k++) {
        edge_add(w, i->src[lead + k], NULL, body->params[first + k]);
        edge_add(w, y->src[skip + k], NULL, body->params[first + k]);
        edge_add(w, body->params[first + k], NULL, i->dst[k]);
    }
    edges_of(w, body);
}

static void edges_of(follow *w, const block *b)
{
    activity *a = w->a;
    for (uint32_t n = 0; n + 1 < b->n && !a->failed; n++) {
        const instr *i = b->list[n];
        uint32_t from = 0, to = i->nsrc;
        switch (i->op) {
        case OP_CODE_CONST:
        case OP_CODE_GLOBAL:
        case OP_CODE_IMPORT:
        case OP_CODE_CONTRACT:
        case OP_CODE_TAPE:
        case OP_CODE_SETGLOBAL: continue;
        case OP_CODE_SELF:
            if (mask_has(a->mask, 0)) reach(w, i->dst[0]);
            continue;
        case OP_CODE_PRIM:
            if (prim_of(i)->kind == RULE_CONSTANT) continue;
            break;
        case OP_CODE_DERIVE: to = 1; break;
        case OP_CODE_SELDEF: from = 1; break;
        case OP_CODE_IF:
        case OP_CODE_CHECKPOINT:
            for (uint32_t k = 0; k < i->nblocks; k++) {
                const instr *y = last_of(i->blocks[k]);
                for (uint32_t j = 0; j < i->ndst; j++) edge_add(w, y->src[j], NULL, i->dst[j]);
                edges_of(w, i->blocks[k]);
            }
            continue;
        case OP_CODE_LOOP: edges_of_loop(w, i); continue;
        default: break;
        }
        for (uint32_t k = from; k < to && !a->failed; k++) edge_add(w, i->src[k], i, k);
    }
}

/* Whether i's results are active because operand k is. */
static bool operand_counts(activity *a, const instr *i, uint32_t k)
{
    if (i->op != OP_CODE_PRIM || prim_of(i)->kind == RULE_REFUSE || rule_lists(a->m, prim_of(i), k)) return true;
    if (a->m->error) a->failed = true;
    return false;
}

static void follow_all(activity *a)
{
    arena scratch;
    arena_open(&scratch, &a->m->mem, MEM_OTHER);
    follow w = {.a = a};
    w.first = arena_alloc(&scratch, (a->f->nregs + 1) * sizeof *w.first);
    w.list = arena_alloc(&scratch, (a->f->nregs + 1) * sizeof *w.list);
    a->failed = !w.first || !w.list;
    if (a->failed) vm_out_of_memory(a->m);
    for (reg r = 0; r < a->f->nregs && !a->failed; r++)
        if (a->on[r]) w.list[w.nlist++] = r;
    if (!a->failed) edges_of(&w, a->f->body);
    while (w.nlist && !a->failed) {
        reg r = w.list[--w.nlist];
        for (uint32_t e = w.first[r]; e && !a->failed; e = w.of[e - 1].next) {
            const instr *i = w.of[e - 1].i;
            if (!i) reach(&w, w.of[e - 1].to);
            else if (operand_counts(a, i, w.of[e - 1].to)) {
                uint32_t about_run = i->op == OP_CODE_TRY || i->op == OP_CODE_MEASURE; /* the last result is */
                for (uint32_t k = 0; k + about_run < i->ndst; k++) reach(&w, i->dst[k]);
            }
        }
    }
    memory_free(&a->m->mem, MEM_OTHER, w.of, w.cap * sizeof *w.of);
    arena_close(&scratch);
}

bool diff_activity(vm *m, const code *f, uint64_t mask, uint8_t *active)
{
    activity a = {.m = m, .f = f, .on = active, .mask = mask};
    memset(active, 0, f->nregs);
    for (uint32_t k = 0; k < f->ncaptures; k++) active[f->body->params[k]] = mask_has(mask, 0);
    for (uint32_t k = 0; k < f->nparams; k++) active[f->body->params[f->ncaptures + k]] = mask_has(mask, k + 1);
    walk(&a, f->body);
    if (a.long_way) follow_all(&a); /* from what was found so far */
    return !a.failed;
}

/* --- copying ------------------------------------------------------------------------------- */

uint32_t clone_imm(builder *b, const code *from, const instr *i)
{
    if (b->failed) return 0;
    switch (op_rows[i->op].imm) {
    case IMM_CONST: return builder_const(b, value_retain(from->consts[i->imm]));
    case IMM_CODE: return builder_code(b, code_retain(from->codes[i->imm]));
    case IMM_NAMES: return builder_names(b, from->names[i->imm].n, from->names[i->imm].names);
    case IMM_CONTRACT: return builder_contracts(b, &from->contracts[i->imm]);
    case IMM_OPTIONS: return builder_options(b, &from->options[i->imm]);
    default: return i->imm;
    }
}

reg clone_src(cloner *c, reg r)
{
    if (!c->map) return r;
    if (c->map[r] == REG_NONE && c->resolve) c->map[r] = c->resolve(c, r);
    if (c->map[r] == REG_NONE) c->b->failed = true; /* the verifier's invariant: defined before use */
    return c->map[r];
}

static reg clone_dst(cloner *c, reg r)
{
    if (!c->map) return r;
    if (c->fresh || c->map[r] == REG_NONE) c->map[r] = builder_reg(c->b, c->from->reg_names[r]);
    return c->map[r];
}

/* A copy keeps its identity and place; what comes from a rule belongs to the instruction it is for, where
   the builder stands. */
static void place(const cloner *c, instr *copy, const instr *i)
{
    if (c->new_origins) return;
    copy->origin = i->origin;
    copy->at = i->at;
    copy->point = i->point;
    copy->src_at = i->src_at;
}

void clone_instr(cloner *c, const instr *i, block *into)
{
    builder *b = c->b;
    if (b->failed) return;
    if (c->special && c->special(c, i, into)) return;
    uint32_t nblocks = c->runs_only ? blocks_run(i) : i->nblocks;
    instr *n = instr_new(b, (opcode)i->op, clone_imm(b, c->from, i), i->ndst, i->nsrc, nblocks);
    if (!n) return;
    for (uint32_t k = 0; k < i->nsrc; k++) n->src[k] = clone_src(c, i->src[k]);
    for (uint32_t k = 0; k < nblocks; k++) {
        block *inner = builder_block(b, 0);
        if (!inner) return;
        const block *old = i->blocks[k];
        inner->params = arena_alloc(&b->c->arena, (old->nparams + 1) * sizeof(reg));
        if (!inner->params) {
            b->failed = true;
            return;
        }
        inner->nparams = old->nparams;
        for (uint32_t j = 0; j < old->nparams; j++) inner->params[j] = clone_dst(c, old->params[j]);
        clone_list(c, old, inner);
        const instr *y = last_of(old);
        instr *ny = instr_new(b, (opcode)y->op, 0, 0, y->nsrc, 0);
        if (!ny) return;
        for (uint32_t j = 0; j < y->nsrc; j++) ny->src[j] = clone_src(c, y->src[j]);
        ny->flags = y->flags | b->flags;
        place(c, ny, y);
        builder_append(b, inner, ny);
        n->blocks[k] = inner;
    }
    for (uint32_t k = 0; k < i->ndst; k++) n->dst[k] = clone_dst(c, i->dst[k]);
    n->flags = i->flags | b->flags;
    place(c, n, i);
    instr_lazy_copy(b, n, c->from, i);
    if (i->ntapes && nblocks == i->nblocks) {
        n->ntapes = i->ntapes;
        n->widths = arena_alloc(&b->c->arena, i->ntapes * sizeof *n->widths);
        if (!n->widths) {
            b->failed = true;
            return;
        }
        memcpy(n->widths, i->widths, i->ntapes * sizeof *n->widths);
    }
    builder_append(b, into, n);
}

void clone_list(cloner *c, const block *k, block *into)
{
    for (uint32_t n = 0; n + 1 < k->n && !c->b->failed; n++) clone_instr(c, k->list[n], into);
}
