/* exec_loop.c: running lazy loops: their tapes are fed while they run, and iterations are repeated and
 * recorded when a LOOP_TAPE asks for them. What to hold and where to start is looptape.c's decision.
 *
 * A repeated iteration runs in a frame of its own like a forced region: silent, with the random state and
 * the top-level functions of the first time, and with what it read from the world then. */
#include "run.h"
#include "looptape.h"
#include "budget.h"
#include <string.h>

/* --- forward ---------------------------------------------------------------------------------- */

static bool op_looptape(vm *m, frame *f, const instr *i, const uint32_t *src, value *out)
{
    code *const *codes = f->run->tree->codes;
    looptape *l = looptape_new(m, codes + i->imm, i->lazy, i->nsrc);
    if (!l) return false;
    for (uint32_t s = 0; s < i->nsrc; s++) {
        value v = operand_take(f->r, src[s]);
        value_hold(m, v);
        l->entered[s] = v;
    }
    *out = value_object(&l->h);
    if (looptape_begin(m, l)) return true;
    value_release(m, *out);
    return false;
}

static bool op_entry(vm *m, frame *f, const instr *i, const uint32_t *src)
{
    looptape *l = as_looptape(f->r[src[0] >> 1]);
    uint32_t n = i->nsrc - 1;
    value small[16], *v = small;
    if (n > 16 && !(v = memory_alloc(&m->mem, MEM_FRAME, n * sizeof *v))) return vm_out_of_memory(m);
    for (uint32_t s = 0; s < n; s++) v[s] = operand_take(f->r, src[1 + s]);
    bool fine = looptape_entry(m, l, v);
    for (uint32_t s = 0; !fine && s < n; s++) value_release(m, v[s]);
    if (v != small) memory_free(&m->mem, MEM_FRAME, v, n * sizeof *v);
    return fine;
}

static bool op_offer(vm *m, frame *f, const instr *i, const uint32_t *src)
{
    looptape *l = as_looptape(f->r[src[0] >> 1]);
    uint32_t n = i->nsrc - 1;
    bool failed = false;
    if (!looptape_wants(m, l, &failed)) {
        if (failed) return false;
        for (uint32_t s = 0; s < n; s++) operand_done(m, f->r, src[1 + s]);
        return true;
    }
    value small[16], *v = small;
    if (n > 16 && !(v = memory_alloc(&m->mem, MEM_FRAME, n * sizeof *v))) return vm_out_of_memory(m);
    for (uint32_t s = 0; s < n; s++) v[s] = operand_take(f->r, src[1 + s]);
    bool fine = looptape_offer(m, l, v);
    for (uint32_t s = 0; !fine && s < n; s++) value_release(m, v[s]);
    if (v != small) memory_free(&m->mem, MEM_FRAME, v, n * sizeof *v);
    return fine;
}

bool exec_looptape(struct exec *x, frame *f, const instr *i, const uint32_t *dst, const uint32_t *src)
{
    vm *m = x->m;
    value out = value_undef();
    bool fine;
    if (i->op != OP_CODE_LOOPTAPE && f->r[src[0] >> 1].tag != V_LOOP)
        return vm_fail(m, DIAG_INTERNAL, "a %s where a loop tape belongs", value_type_name(f->r[src[0] >> 1]));
    switch (i->op) {
    case OP_CODE_LOOPTAPE: fine = op_looptape(m, f, i, src, &out); break;
    case OP_CODE_OFFER: return op_offer(m, f, i, src);
    case OP_CODE_ENTRY: return op_entry(m, f, i, src);
    case OP_CODE_LOOPEND: fine = looptape_end(m, as_looptape(f->r[src[0] >> 1])); break;
    default: /* VIEW */ out = looptape_view(m, as_looptape(f->r[src[0] >> 1]), i->imm >> 16, i->imm & 0xffff); fine = out.tag != V_UNDEF;
    }
    if (!fine) return false;
    if (i->op != OP_CODE_LOOPTAPE) operand_done(m, f->r, src[0]);
    if (i->ndst) f->r[dst[0]] = out;
    return true;
}

/* --- backward --------------------------------------------------------------------------------- */

static looptape *view_of(value v) { return v.tag == V_TAPE ? as_tape(v)->of : NULL; }

bool exec_tapes_own(struct exec *x, frame *f, const uint32_t *w)
{
    vm *m = x->m;
    uint32_t n = w[1];
    value *r = f->r;
    const uint32_t *at = w + 2 + n;
    for (uint32_t k = 0; k < n; k++) {
        looptape *l = view_of(r[at[k]]);
        bool first = l != NULL, alone = true;
        for (uint32_t j = 0; j < k && first; j++) first = view_of(r[at[j]]) != l;
        if (!first) continue;
        uint32_t views = 0;
        for (uint32_t j = k; j < n; j++)
            if (view_of(r[at[j]]) == l) {
                views++;
                alone &= r[at[j]].u.o->refs == 1;
            }
        if (l->options->block < m->stats.nblocks) m->stats.blocks[l->options->block].replays++;
        if (alone && l->h.refs == views) continue;
        looptape *own = looptape_copy(m, l);
        if (!own) return false;
        bool fine = true;
        for (uint32_t j = k; j < n && fine; j++) {
            if (view_of(r[at[j]]) != l) continue;
            const tape *t = as_tape(r[at[j]]);
            value v = looptape_view(m, own, t->first, t->width);
            fine = v.tag != V_UNDEF;
            if (!fine) break;
            value_release(m, r[at[j]]);
            r[at[j]] = v;
        }
        value_release(m, value_object(&own->h));
        if (!fine) return false;
    }
    return true;
}

static void enter(frame *g, const looptape *l)
{
    const run *r = g->run;
    for (uint32_t i = 0; i < l->n; i++)
        if (r->entry[i] != SLOT_NONE) g->r[r->entry[i]] = value_retain(l->entered[i]);
}

/* The state at hand becomes the frame's parameters. */
static void enter_state(vm *m, frame *g, looptape *l)
{
    const uint32_t *entry = g->run->entry + l->n;
    if (l->of->range) {
        if (*entry != SLOT_NONE) g->r[*entry] = value_i64((int64_t)((uint64_t)l->lo + l->work.at));
        entry++;
    }
    for (uint32_t i = 0; i < l->of->nstate; i++) {
        value v = l->work.v[i];
        if (l->work_holds) value_unhold(m, v);
        if (entry[i] != SLOT_NONE) g->r[entry[i]] = v;
        else value_release(m, v);
    }
    memory_free(&m->mem, MEM_RESIDUAL, l->work.v, (l->of->nstate ? l->of->nstate : 1) * sizeof(value));
    l->work.v = NULL;
    l->working = l->work_holds = false;
}

/* Pushes a frame for the step from the state at hand. */
static bool step_frame(struct exec *x, looptape *l)
{
    vm *m = x->m;
    bool both = l->of->budget && l->recording && l->work.at < l->target;
    const run *r = run_of(m, both ? l->both : l->recording ? l->record : l->advance);
    if (!r) return false;
    frame *g = frame_push(x, r, NULL, FRAME_LAZY);
    if (!g) return false;
    frame_more *s = frame_more_new(x, g);
    if (!s) {
        frame_pop(x);
        return false;
    }
    s->random = m->random;
    s->globals = m->globals;
    s->ops = x->ops;
    m->globals = value_retain(l->globals);
    m->random = l->work.random;
    m->mute++;
    x->forcing++;
    l->h.refs++;
    g->fn = &l->h;
    residual *read = looptape_kept(l, l->work.at, l->recording && !l->of->budget);
    if (read && !keep_read(m, read)) {
        frame_restore(x, g);
        frame_pop(x);
        return false;
    }
    l->running = l->work.at;
    budget_mark(m, l);
    l->shares = l->nheld && l->held[l->nheld - 1].at == l->work.at;
    l->runs++;
    if (l->of->steps) m->stats.step_runs++;
    enter(g, l);
    enter_state(m, g, l);
    return true;
}

bool exec_iteration(struct exec *x, frame *f, const uint32_t *w, bool *ran)
{
    uint32_t n = w[1];
    uint64_t want = (uint64_t)f->r[w[2 + n]].u.i - 1;
    for (uint32_t k = 0; k < n; k++) {
        looptape *l = view_of(f->r[w[2 + k]]);
        if (l && l->of->budget) budget_reversed(x->m, l);
        if (!l) continue;
        l->reversed = true;
        if (looptape_has(x->m, l, want)) {
            if (l->reversing) budget_mark(x->m, l);
            continue;
        }
        looptape_entry_free(x->m, l);
        *ran = true;
        return looptape_aim(x->m, l, want) && step_frame(x, l);
    }
    return true;
}

bool exec_iteration_done(struct exec *x, object *of, random_state after, value *v, uint32_t n)
{
    return looptape_stepped(x->m, (looptape *)of, after, v, n);
}
