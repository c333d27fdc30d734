/* placing.c: see placing.h.
 *
 * What a block keeps is decided when its function is differentiated, by the options its Code carries. So a
 * placement puts other options into the Codes and hides what was derived from them before; when it ends, the
 * options and the derived Codes come back. */
#include "placing.h"
#include "reach.h"
#include <stdlib.h>
#include <string.h>

typedef struct changed {
    code *c; /* a reference is held */
    struct derived *derived;
    block_options *options; /* as they were; owned, their names are not */
} changed;

struct placing {
    session *s;
    placing_options o;
    changed *of;
    uint32_t n, cap;
    bool failed, budgeted, optimise, fuse;
    size_t budget, array_budget;
    placement compiled; /* of what was compiled before */
};

static bool here(const placing *p, const code *c, const instr *i)
{
    uint32_t line = 0, column;
    if (!p->o.line) return true;
    if (i->at.src) span_where(i->at, &line, &column);
    return line == p->o.line && !strcmp(p->o.function, symbol_name(p->s->h->vm->symbols, c->name));
}

static void place_blocks(const placing *p, code *c, const block *b)
{
    for (uint32_t n = 0; n < b->n; n++) {
        const instr *i = b->list[n];
        bool loop = false;
        if (i->op == OP_CODE_CHECKPOINT && here(p, c, i)) {
            for (uint32_t k = 0; k < i->blocks[0]->n; k++) loop |= i->blocks[0]->list[k]->op == OP_CODE_LOOP;
            placement_apply(&p->o.blocks, loop, &c->options[i->imm]);
        }
        if (i->op == OP_CODE_BUDGET && p->o.blocks.plain && here(p, c, i)) c->options[i->imm].budget = 0;
        for (uint32_t k = 0; k < i->nblocks; k++) place_blocks(p, c, i->blocks[k]);
    }
}

static void change(void *ctx, code *c)
{
    placing *p = ctx;
    if (p->failed) return;
    if (p->n == p->cap) {
        uint32_t cap = p->cap ? 2 * p->cap : 64;
        changed *more = realloc(p->of, cap * sizeof *more);
        if (!more) {
            p->failed = true;
            return;
        }
        p->of = more;
        p->cap = cap;
    }
    changed *now = &p->of[p->n];
    *now = (changed){code_retain(c), c->derived, malloc((c->noptions + 1) * sizeof *now->options)};
    p->n++;
    if (!now->options) {
        p->failed = true;
        return;
    }
    if (c->noptions) memcpy(now->options, c->options, c->noptions * sizeof *now->options);
    c->derived = NULL;
    if (c->run && (c->noptions || p->o.unoptimised)) run_free(c); /* it has options of its own */
    for (uint32_t k = 0; p->o.unoptimised && k < c->noptions; k++)
        if (c->options[k].budget) c->options[k].budget = INT64_MAX; /* whoever looks at every value holds more of them */
    if (p->o.blocks.set) place_blocks(p, c, c->body);
}

placing *placing_begin(session *s, const value *values, uint32_t n, const placing_options *o)
{
    vm *m = s->h->vm;
    placing *p = calloc(1, sizeof *p);
    value *roots = malloc((s->n + n + 1) * sizeof *roots);
    if (p && roots) {
        *p = (placing){.s = s,
                       .o = *o,
                       .budgeted = m->budgeted,
                       .optimise = m->config.optimise,
                       .fuse = m->config.fuse,
                       .budget = m->config.budget,
                       .array_budget = m->mem.array_budget,
                       .compiled = s->h->placement};
        if (s->n) memcpy(roots, s->values, s->n * sizeof *roots);
        if (n) memcpy(roots + s->n, values, n * sizeof *roots);
        p->failed = !reach_codes(s->h, roots, s->n + n, change, p) || p->failed;
        if (o->blocks.set && !o->line) {
            s->h->placement = o->blocks;
            if (o->blocks.plain) m->budgeted = m->config.budget > 0;
        }
        if (o->budget) {
            m->config.budget = m->mem.array_budget = o->budget;
            m->budgeted = true;
        }
        if (o->unoptimised) {
            m->config.optimise = m->config.fuse = false;
            m->mem.array_budget = SIZE_MAX;
        }
    }
    free(roots);
    if (p && roots && !p->failed) return p;
    if (p && p->s) placing_end(p);
    else free(p);
    vm_out_of_memory(m);
    return NULL;
}

void placing_end(placing *p)
{
    if (!p) return;
    vm *m = p->s->h->vm;
    for (uint32_t k = 0; k < p->n; k++) {
        code *c = p->of[k].c;
        c->derived = p->of[k].derived;
        if (p->of[k].options && c->noptions) memcpy(c->options, p->of[k].options, c->noptions * sizeof *c->options);
        if (c->run && (c->noptions || p->o.unoptimised)) run_free(c);
        free(p->of[k].options);
        code_release(c);
    }
    m->budgeted = p->budgeted;
    m->config.optimise = p->optimise;
    m->config.fuse = p->fuse;
    m->config.budget = p->budget;
    m->mem.array_budget = p->array_budget;
    p->s->h->placement = p->compiled;
    free(p->of);
    free(p);
}
