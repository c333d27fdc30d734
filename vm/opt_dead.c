/* opt_dead.c: removing what nobody needs: instructions, results of branches, carried values of loops.
 *
 * Works in place on a tree that no other Code shares. First every instruction is numbered and every
 * register is given its definition; then liveness spreads backward from the roots (returns,
 * effects, and what the user wrote and could fail: an error is raised whether or not its value is
 * used) over a list; last the tree is swept. A carried value is one thing with four faces, initial
 * source, parameter, yielded value and result: it lives when its parameter or its result is read by
 * something alive, so a value that only feeds itself goes. Each register and each instruction is
 * visited once: linear in the size of the Code. */
#include "opt.h"
#include <string.h>

enum { NOBODY = UINT32_MAX };

typedef struct info {
    instr *i;
    uint32_t parent;
    bool live;
} info;
/* Where a register comes from: result or parameter number k of an instruction. */
typedef struct origin {
    uint32_t owner;
    uint32_t k;
    bool param;
} origin;

typedef struct sweeper {
    bool fallible, output;
    uint32_t ninstrs, at;
    info *infos;     /* by instr.mark */
    origin *origins; /* by register */
    bool *live;      /* by register */
    reg *list;       /* registers whose definition is still to be marked */
    uint32_t n;
} sweeper;

loop_shape loop_shape_of(const instr *i)
{
    switch (i->imm & LOOP_KIND) {
    case LOOP_RANGE: return (loop_shape){2, 1, i->imm & LOOP_EXIT ? 1 : 0};
    case LOOP_WHILE: return (loop_shape){1, 0, 1};
    default: {
        loop_shape s = {i->ntapes, 0, 0};
        for (uint32_t k = 0; k < i->ntapes; k++) s.params += i->widths[k];
        return s;
    }
    }
}

static uint32_t count(const block *k)
{
    uint32_t n = k->n;
    for (uint32_t j = 0; j < k->n; j++)
        for (uint32_t q = 0; q < k->list[j]->nblocks; q++) n += count(k->list[j]->blocks[q]);
    return n;
}

/* Must it run although its results may be unused? */
static bool is_root(const sweeper *s, const instr *i)
{
    bool may_drop = s->fallible || (i->flags & (INSTR_ADJOINT | INSTR_RULE)) || instr_cannot_fail(i);
    switch (i->op) {
    case OP_CODE_PRIM: {
        unsigned attrs = prims[i->imm & ~PRIM_SPREAD].attrs;
        if (attrs & (A_RANDOM | A_INPUT | A_EFFECT)) return true;
        if (attrs & A_OUTPUT) return !s->output;
        return !may_drop;
    }
    case OP_CODE_RETURN:
    case OP_CODE_CALL:
    case OP_CODE_TRY:
    case OP_CODE_MEASURE:
    case OP_CODE_IMPORT:
    case OP_CODE_SETGLOBAL: return true;
    case OP_CODE_BUDGET:
    case OP_CODE_BUDGETEND:
    case OP_CODE_OFFER:
    case OP_CODE_ENTRY:
    case OP_CODE_LOOPEND: return true;
    case OP_CODE_YIELD: return false;
    /* It fills the residual that is its source. */
    case OP_CODE_CHECKPOINT: return i->nsrc > 0;
    default: return !may_drop && !(op_rows[i->op].flags & F_PURE);
    }
}

static void push(sweeper *s, reg r)
{
    if (s->live[r]) return;
    s->live[r] = true;
    s->list[s->n++] = r;
}

static void mark_instr(sweeper *s, uint32_t id)
{
    while (id != NOBODY && !s->infos[id].live) {
        s->infos[id].live = true;
        const instr *i = s->infos[id].i;
        uint32_t sources = i->nsrc;
        if (i->op == OP_CODE_YIELD) sources = 0;
        if (i->op == OP_CODE_LOOP) {
            loop_shape shape = loop_shape_of(i);
            sources = shape.sources;
            for (uint32_t k = 0; k < shape.yields; k++) push(s, block_end(i->blocks[0])->src[k]);
        }
        for (uint32_t k = 0; k < sources; k++) push(s, i->src[k]);
        if (i->op == OP_CODE_CHECKPOINT && i->nblocks == 2) { /* what it runs and what it means stay together */
            for (uint32_t k = 0; k < i->ndst; k++) push(s, i->dst[k]);
            const instr *end = block_end(i->blocks[1]);
            for (uint32_t k = 0; k < end->nsrc; k++) push(s, end->src[k]);
        }
        id = s->infos[id].parent;
    }
}

static void number(sweeper *s, block *k, uint32_t parent)
{
    for (uint32_t j = 0; j < k->nparams; j++) s->origins[k->params[j]] = (origin){parent, j, true};
    for (uint32_t j = 0; j < k->n; j++) {
        instr *i = k->list[j];
        i->mark = s->at++;
        s->infos[i->mark] = (info){i, parent, false};
        for (uint32_t q = 0; q < i->ndst; q++) s->origins[i->dst[q]] = (origin){i->mark, q, false};
        for (uint32_t q = 0; q < i->nblocks; q++) number(s, i->blocks[q], i->mark);
    }
}

static void mark_carried(sweeper *s, const instr *i, uint32_t k)
{
    loop_shape shape = loop_shape_of(i);
    /* Result and parameter are one value: neither needs to be looked at again. */
    s->live[i->dst[k]] = true;
    s->live[i->blocks[0]->params[shape.params + k]] = true;
    push(s, i->src[shape.sources + k]);
    push(s, block_end(i->blocks[0])->src[shape.yields + k]);
}

static void mark_all(sweeper *s)
{
    for (uint32_t id = 0; id < s->ninstrs; id++)
        if (is_root(s, s->infos[id].i)) mark_instr(s, id);
    while (s->n) {
        reg r = s->list[--s->n];
        origin o = s->origins[r];
        if (o.owner == NOBODY) continue; /* a parameter of the body */
        mark_instr(s, o.owner);
        const instr *i = s->infos[o.owner].i;
        if (i->op == OP_CODE_LOOP) {
            uint32_t before = o.param ? loop_shape_of(i).params : 0;
            if (o.k >= before) mark_carried(s, i, o.k - before);
        } else if (!o.param)
            for (uint32_t q = 0; q < i->nblocks; q++) push(s, block_end(i->blocks[q])->src[o.k]);
    }
}

/* Keeps those of regs[from..) whose partner in `dst` lives; returns how many regs are left. */
static uint32_t keep_live(const sweeper *s, const instr *i, reg *regs, uint32_t from)
{
    uint32_t n = from;
    for (uint32_t k = 0; k < i->ndst; k++)
        if (s->live[i->dst[k]]) regs[n++] = regs[from + k];
    return n;
}

static void trim(const sweeper *s, instr *i)
{
    if (i->op == OP_CODE_CHECKPOINT && i->nblocks == 2) return; /* all of its results live */
    if (i->op == OP_CODE_LOOP) {
        loop_shape shape = loop_shape_of(i);
        block *k = i->blocks[0];
        instr *end = block_end(k);
        i->nsrc = keep_live(s, i, i->src, shape.sources);
        k->nparams = keep_live(s, i, k->params, shape.params);
        end->nsrc = keep_live(s, i, end->src, shape.yields);
        if (i->nsrc - shape.sources != i->ndst) i->src_at = NULL;
    } else {
        for (uint32_t q = 0; q < i->nblocks; q++) {
            instr *end = block_end(i->blocks[q]);
            uint32_t n = keep_live(s, i, end->src, 0);
            if (n != end->nsrc) end->src_at = NULL;
            end->nsrc = n;
        }
    }
    i->ndst = (uint16_t)keep_live(s, i, i->dst, 0);
}

static void sweep(const sweeper *s, block *k)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < k->n; j++) {
        instr *i = k->list[j];
        if (!s->infos[i->mark].live && j + 1 < k->n) continue;
        k->list[n++] = i;
        if (i->nblocks) trim(s, i);
        for (uint32_t q = 0; q < i->nblocks; q++) sweep(s, i->blocks[q]);
    }
    k->n = n;
}

bool dead_sweep(vm *m, block *body, uint32_t nregs, bool fallible, bool output)
{
    sweeper s = {.fallible = fallible, .output = output, .ninstrs = count(body)};
    arena a;
    arena_open(&a, &m->mem, MEM_OTHER);
    s.infos = arena_alloc(&a, s.ninstrs * sizeof *s.infos);
    s.origins = arena_alloc(&a, nregs * sizeof *s.origins);
    s.live = arena_alloc(&a, nregs * sizeof *s.live);
    s.list = arena_alloc(&a, nregs * sizeof *s.list);
    bool fine = s.infos && s.origins && s.live && s.list;
    if (fine) {
        number(&s, body, NOBODY);
        mark_all(&s);
        sweep(&s, body);
    } else vm_out_of_memory(m);
    arena_close(&a);
    return fine;
}

bool code_drop_dead(builder *b, bool drop_output)
{
    if (b->failed) return false;
    if (!dead_sweep(b->vm, b->c->body, b->c->nregs, drop_output, drop_output)) b->failed = true;
    return !b->failed;
}
