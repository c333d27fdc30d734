/* emit_region.c: regions, guards, and the joining of arms; see emit_parts.h. */
#include "emit_parts.h"
#include <stdlib.h>

/* --- changes ---------------------------------------------------------------------------------- */

void region_set(emitter *e, uint32_t var, reg now, bool maybe, bool real)
{
    emit_fn *f = e->f;
    struct state *s = &f->states[var];
    if (!s->entry || s->entry - 1 < f->top->log_base) {
        if (f->nlog == f->log_cap) {
            uint32_t cap = f->log_cap ? f->log_cap * 2 : 64;
            change *log = memory_resize(&e->m->mem, MEM_AST, f->log, f->log_cap * sizeof *log, cap * sizeof *log);
            if (!log) {
                vm_out_of_memory(e->m);
                e->failed = true;
                return;
            }
            f->log = log;
            f->log_cap = cap;
        }
        f->log[f->nlog++] = (change){var, s->now, s->entry, s->maybe, false};
        s->entry = f->nlog;
    }
    f->log[s->entry - 1].real |= real;
    s->now = now;
    s->maybe = maybe;
}

void region_open(emitter *e, region *r, block *body, bool tail)
{
    emit_fn *f = e->f;
    *r = (region){.outer = f->top, .at_outside = f->b.at, .body = body, .log_base = f->nlog, .guard = REG_NONE, .tail = tail};
    f->top = r;
    f->b.at = body;
}

/* Takes the innermost region (or guard) off: what changed, and everything as it was before. */
static outcome take_off(emitter *e, reg result)
{
    emit_fn *f = e->f;
    region *r = f->top;
    outcome o = {.value = result, .dead = r->dead, .body = r->body};
    uint32_t n = f->nlog - r->log_base;
    o.of = emit_take(e, n * sizeof *o.of);
    for (uint32_t i = f->nlog; o.of && i > r->log_base; i--) {
        change *c = &f->log[i - 1];
        struct state *s = &f->states[c->var];
        if (c->real) o.of[o.n++] = (moved){c->var, s->now, s->maybe};
        s->now = c->old;
        s->maybe = c->old_maybe;
        s->entry = c->old_entry;
    }
    f->nlog = r->log_base;
    f->top = r->outer;
    f->b.at = r->at_outside;
    return o;
}

/* --- joining ---------------------------------------------------------------------------------- */

reg undef_in(emitter *e, block *k)
{
    block *was = e->f->b.at;
    e->f->b.at = k;
    reg r = build_const(&e->f->b, value_undef());
    e->f->b.at = was;
    return r;
}

reg none_in(emitter *e, block *k)
{
    block *was = e->f->b.at;
    e->f->b.at = k;
    reg r = build_const(&e->f->b, value_none());
    e->f->b.at = was;
    return r;
}

void yield_in(emitter *e, block *k, uint32_t n, const reg *src)
{
    block *was = e->f->b.at;
    e->f->b.at = k;
    builder_yield(&e->f->b, n, src);
    e->f->b.at = was;
}

static int by_var(const void *a, const void *b)
{
    uint32_t x = ((const moved *)a)->var, y = ((const moved *)b)->var;
    return x < y ? -1 : x > y;
}

void sort_moved(moved *of, uint32_t n)
{
    if (n > 1) qsort(of, n, sizeof *of, by_var);
}

reg join_arms(emitter *e, reg cond, outcome *a, outcome *b, bool want, span at, uint32_t point)
{
    emit_fn *f = e->f;
    outcome *arm[2] = {a, b};
    uint32_t most = a->n + b->n + want, n = 0;
    reg *src[2] = {emit_take(e, most * sizeof(reg)), emit_take(e, most * sizeof(reg))};
    moved *vars = emit_take(e, most * sizeof *vars);
    if (e->failed) return 0;
    for (int k = 0; k < 2; k++) {
        sort_moved(arm[k]->of, arm[k]->n);
        if (want) src[k][0] = arm[k]->value != REG_NONE ? arm[k]->value : none_in(e, arm[k]->body);
    }
    if (want) n = 1;
    for (uint32_t i = 0, j = 0; i < a->n || j < b->n; n++) {
        uint32_t var = j == b->n || (i < a->n && a->of[i].var < b->of[j].var) ? a->of[i].var : b->of[j].var;
        bool maybe = false;
        for (int k = 0; k < 2; k++) {
            uint32_t *p = k ? &j : &i;
            const outcome *o = arm[k];
            reg r = f->states[var].now;
            bool m = f->states[var].maybe || r == REG_NONE;
            if (*p < o->n && o->of[*p].var == var) {
                r = o->of[*p].now;
                m = o->of[*p].maybe;
                ++*p;
            }
            if (r == REG_NONE) r = undef_in(e, o->body);
            src[k][n] = r;
            /* An arm that jumps away does not reach what follows. */
            if (!o->dead) maybe |= m;
        }
        vars[n] = (moved){var, REG_NONE, maybe};
    }
    block *blocks[2] = {a->body, b->body};
    emit_at(e, at, point);
    for (int k = 0; k < 2; k++) yield_in(e, blocks[k], n, src[k]);
    instr *i = builder_add_blocks(&f->b, OP_CODE_IF, 0, n, 1, &cond, 2, blocks);
    if (!i || f->b.failed) return 0;
    for (uint32_t k = want; k < n; k++) {
        emit_assign_var(e, vars[k].var, i->dst[k], vars[k].maybe);
        if (vars[k].var == flag_on(e)) f->top->pending = true;
    }
    if (a->dead && b->dead) f->top->dead = true;
    return want ? i->dst[0] : REG_NONE;
}

/* --- guards ----------------------------------------------------------------------------------- */

uint32_t flag_on(const emitter *e)
{
    const emit_fn *f = e->f;
    return f->loop ? f->loop->on : f->nvars + FLAG_ON;
}

void region_due(emitter *e)
{
    emit_fn *f = e->f;
    region *r = f->top;
    if (!r || !r->pending || e->failed) return;
    r->pending = false;
    reg on = f->states[flag_on(e)].now;
    block *body = builder_block(&f->b, 0);
    region *g = emit_take(e, sizeof *g);
    if (!g || !body) return;
    bool tail = r->tail;
    uint32_t guards = r->guards + 1;
    region_open(e, g, body, tail);
    g->guard = on;
    g->guards = guards;
}

reg region_close_guards(emitter *e, reg result)
{
    emit_fn *f = e->f;
    while (f->top->guard != REG_NONE && !e->failed) {
        bool tail = f->top->tail, dead = f->top->dead;
        reg cond = f->top->guard;
        outcome a = take_off(e, result);
        outcome b = {.body = builder_block(&f->b, 0), .value = REG_NONE, .dead = true};
        if (result != REG_NONE && tail) b.value = f->states[f->nvars + FLAG_RESULT].now;
        result = join_arms(e, cond, &a, &b, result != REG_NONE, f->b.where, f->b.point);
        f->top->pending = true;
        f->top->dead = dead;
    }
    return result;
}

outcome region_close(emitter *e, reg result)
{
    result = region_close_guards(e, result);
    return take_off(e, result);
}

/* --- jumps ------------------------------------------------------------------------------------ */

/* A jump out of the loops up to and without `stop`; the region's rest is not reached. */
void flags_clear(emitter *e, const emit_loop *stop, bool returns)
{
    emit_fn *f = e->f;
    reg off = emit_const(e, value_bool(false));
    for (emit_loop *l = f->loop; l != stop; l = l->outer) {
        region_set(e, l->on, off, false, true);
        region_set(e, l->go, off, false, true);
    }
    if (returns) region_set(e, f->nvars + FLAG_ON, off, false, true);
}
