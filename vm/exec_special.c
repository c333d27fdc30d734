/* exec_special.c: calls that change more than the stack: forced regions, try, measure, imports.
 *
 * Each pushes a frame of its own kind with a frame_more that says what to go back to. A frame ends by
 * exec_leave (with results) or by exec_unwind (with an error); both call frame_restore. */
#include "run.h"
#include <string.h>

void frame_restore(struct exec *x, frame *f)
{
    vm *m = x->m;
    frame_more *s = f->more;
    if (!s) return;
    if (m->keep) keep_leave_to(m, s->keep_n);
    m->mute = s->mute;
    m->mem.array_budget = s->budget;
    m->mem.array_slack = s->slack;
    m->block_budget = s->block_budget;
    m->spilling = s->spilling;
    if (f->kind == FRAME_FORCE || f->kind == FRAME_LAZY) {
        m->random = s->random;
        value_release(m, m->globals);
        m->globals = s->globals;
        s->globals = value_undef();
        if (x->forcing && s->forcing == 0) m->stats.rerun_ops += x->ops - s->ops;
    }
    if (f->kind == FRAME_MEASURE) stats_end(m, s, true, NULL);
    x->forcing = s->forcing;
}

/* --- results -------------------------------------------------------------------------------- */

static bool module_done(vm *m, symbol key, value *v, uint32_t n)
{
    if (n != 1 || v[0].tag != V_RECORD) {
        for (uint32_t i = 0; i < n; i++) value_release(m, v[i]);
        return vm_fail(m, DIAG_INTERNAL, "a module that gives no record");
    }
    if (m->modules.tag != V_RECORD) {
        record *r = record_new(m, 0, 4);
        if (!r) {
            value_release(m, v[0]);
            return false;
        }
        m->modules = value_object(&r->h);
    }
    if (record_set(m, &m->modules, key, value_retain(v[0]))) return true;
    value_release(m, v[0]);
    value_release(m, v[0]);
    return false;
}

/* v[0..n) and one more; consumed. */
static bool give_with(struct exec *x, frame *up, value *v, uint32_t n, value more)
{
    value small[16], *all = small;
    memory *mem = &x->m->mem;
    if (n + 1 > 16 && !(all = memory_alloc(mem, MEM_FRAME, (n + 1) * sizeof *all))) {
        for (uint32_t i = 0; i < n; i++) value_release(x->m, v[i]);
        value_release(x->m, more);
        return vm_out_of_memory(x->m);
    }
    if (n) memcpy(all, v, n * sizeof *v);
    all[n] = more;
    bool fine = exec_results(x, up, up->at, all, n + 1);
    if (all != small) memory_free(mem, MEM_FRAME, all, (n + 1) * sizeof *all);
    return fine;
}

bool exec_leave(struct exec *x, value *v, uint32_t n, bool *stop)
{
    vm *m = x->m;
    frame *f = x->frame, *up = f->up;
    frame_kind kind = (frame_kind)f->kind;
    value figures = value_undef();
    bool fine = true;
    symbol key = f->more ? f->more->key : 0;
    worth_run seen = kind == FRAME_FORCE && f->more ? f->more->worth : (worth_run){.block = UINT32_MAX};
    if (kind == FRAME_ENTRY) {
        frame_more *s = f->more;
        for (uint32_t i = 0; i < n; i++)
            if (i < s->nout) s->out[i] = v[i];
            else value_release(m, v[i]);
        *stop = true;
    }
    if (kind == FRAME_MEASURE) {
        fine = stats_end(m, f->more, false, &figures);
        f->kind = FRAME_CALL; /* the figures are taken: nothing more to restore of them */
    }
    if (kind == FRAME_LAZY) {
        random_state after = m->random;
        object *of = f->fn; /* the caller's tapes have it too */
        frame_restore(x, f);
        frame_pop(x);
        return exec_iteration_done(x, of, after, v, n);
    }
    frame_restore(x, f);
    frame_pop(x);
    if (*stop) return true;
    if (!fine) {
        for (uint32_t i = 0; i < n; i++) value_release(m, v[i]);
        return false;
    }
    switch (kind) {
    case FRAME_TRY: return give_with(x, up, v, n, value_none());
    case FRAME_MEASURE: return give_with(x, up, v, n, figures);
    case FRAME_IMPORT: return module_done(m, key, v, n) && exec_results(x, up, up->at, v, n);
    default: fine = exec_results(x, up, up->at, v, n);
    }
    worth_recorded(m, seen);
    return fine;
}

/* --- try and measure ------------------------------------------------------------------------- */

/* Operands: a function and a tuple of arguments. */
static frame *enter_spread(struct exec *x, frame *f, const uint32_t *w, frame_kind kind)
{
    vm *m = x->m;
    const uint32_t *src = w + 4 + w[2];
    value *r = f->r, fn = r[src[0] >> 1], t = r[src[1] >> 1];
    m->fail_arg = 0;
    if (t.tag != V_TUPLE) {
        vm_fail(m, DIAG_INTERNAL, "arguments that are no tuple");
        return NULL;
    }
    call_args a = args_of_tuple(r, src[1]);
    frame *g = exec_enter(x, fn, src[0] & 1, &a, kind);
    if (!g) return NULL;
    if (src[0] & 1) r[src[0] >> 1].tag = V_UNDEF;
    operand_done(m, r, src[1]);
    return g;
}

/* A frame that cannot get its frame_more is taken off again; its operands are gone, which is fine,
   because the error ends the caller too. */
static bool give_up(struct exec *x, frame *g)
{
    for (uint32_t s = 0; s < g->run->nslots; s++) {
        value v = g->r[s];
        g->r[s].tag = V_UNDEF;
        value_release(x->m, v);
    }
    frame_pop(x);
    return false;
}

bool exec_try(struct exec *x, frame *f, const uint32_t *w)
{
    frame *g = enter_spread(x, f, w, FRAME_TRY);
    if (!g) return false;
    return frame_more_new(x, g) || give_up(x, g);
}

bool exec_measure(struct exec *x, frame *f, const uint32_t *w)
{
    frame *g = enter_spread(x, f, w, FRAME_MEASURE);
    if (!g) return false;
    if (frame_more_new(x, g) && stats_begin(x->m, g->more)) return true;
    return give_up(x, g);
}

/* --- forcing -------------------------------------------------------------------------------- */

static void enter_region(vm *m, frame *g, residual *p, bool move)
{
    const run *r = g->run;
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t slot = r->entry[i];
        if (!move) {
            if (slot != SLOT_NONE) g->r[slot] = value_retain(p->entered[i]);
            continue;
        }
        value v = p->entered[i];
        p->entered[i].tag = V_UNDEF;
        value_unhold(m, v);
        if (slot != SLOT_NONE) g->r[slot] = v;
        else value_release(m, v);
    }
}

bool exec_force(struct exec *x, frame *f, const uint32_t *w)
{
    vm *m = x->m;
    const uint32_t *src = w + 4 + w[2];
    value *v = &f->r[src[0] >> 1];
    uint32_t nargs = w[3] - 1;
    if (v->tag != V_RESIDUAL) return vm_fail(m, DIAG_INTERNAL, "forcing a %s", value_type_name(*v));
    residual *p = as_residual(*v);
    const run *r = run_of(m, p->region);
    if (!r) return false;
    if (nargs != p->region->nparams) return arity_error(m, p->region, nargs);
    frame *g = frame_push(x, r, NULL, FRAME_FORCE);
    if (!g) return false;
    if (!frame_more_new(x, g)) return give_up(x, g);
    frame_more *s = g->more;
    /* From here on frame_restore has everything to go back to. */
    s->random = m->random;
    s->globals = m->globals;
    s->ops = x->ops;
    m->globals = value_retain(p->globals);
    m->random = p->random;
    m->mute++;
    x->forcing++;
    if (p->keep.n && !keep_read(m, p)) {
        frame_restore(x, g);
        return give_up(x, g);
    }
    bool own = src[0] & 1;
    if (own) v->tag = V_UNDEF;
    else p->h.refs++;
    g->fn = &p->h;
    s->worth = worth_replay(m, p);
    enter_region(m, g, p, p->h.refs == 1 && !r->uses_self);
    const uint32_t *entry = r->entry + p->region->ncaptures;
    for (uint32_t i = 0; i < nargs; i++) {
        value a = operand_take(f->r, src[1 + i]);
        if (entry[i] != SLOT_NONE) g->r[entry[i]] = a;
        else value_release(m, a);
    }
    if (p->options && p->options->block < m->stats.nblocks) m->stats.blocks[p->options->block].replays++;
    return true;
}

/* --- imports -------------------------------------------------------------------------------- */

static bool cycle_error(struct exec *x, symbol key)
{
    vm *m = x->m;
    text t;
    text_open(&t, &m->mem);
    text_puts(&t, symbol_name(m->symbols, key));
    /* Innermost first on the stack; read from the end of the cycle back to its start. */
    for (frame *g = x->frame; g; g = g->up) {
        if (g->kind != FRAME_IMPORT) continue;
        text_printf(&t, " is imported by %s", symbol_name(m->symbols, g->more->key));
        if (g->more->key == key) break;
        text_puts(&t, ", which");
    }
    vm_fail(m, DIAG_IMPORT, "a cycle of imports: %s", text_str(&t));
    text_close(&t);
    return false;
}

bool exec_import(struct exec *x, frame *f, const uint32_t *w)
{
    vm *m = x->m;
    const string *path = as_string(f->run->tree->consts[instr_at(f, w)->imm]);
    if (!m->config.load_module) return vm_fail(m, DIAG_IMPORT, "there are no modules here");
    symbol key = 0;
    code *c = m->config.load_module(m->config.ctx, m, path->s, f->run->code->src, &key);
    if (!c) return false;
    int64_t k = m->modules.tag == V_RECORD ? record_find(as_record(m->modules), key) : -1;
    if (k >= 0) {
        code_release(c);
        f->r[w[4]] = value_retain(as_record(m->modules)->v[k]);
        return true;
    }
    for (frame *g = x->frame; g; g = g->up)
        if (g->kind == FRAME_IMPORT && g->more->key == key) {
            code_release(c);
            return cycle_error(x, key);
        }
    /* A closure keeps the Code while it runs. */
    closure *fn = closure_new(m, c, 0);
    code_release(c);
    if (!fn) return false;
    value v = value_object(&fn->h);
    call_args none = {0};
    frame *g = exec_enter(x, v, true, &none, FRAME_IMPORT);
    if (!g) {
        value_release(m, v);
        return false;
    }
    if (!frame_more_new(x, g)) return give_up(x, g);
    g->more->key = key;
    return true;
}
