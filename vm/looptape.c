/* looptape.c: see looptape.h. Nothing here runs code: states and entries come in, and what to run next
 * goes out. Throughout: held[] ascends, its first state is the loop's first, and range j of it, up to the
 * next state or the iteration wanted, is reversed with slots − j states. */
#include "looptape.h"
#include "budget.h"
#include "run.h"
#include "vm.h"
#include <string.h>

#define NEVER UINT64_MAX

static size_t looptape_bytes(uint32_t n) { return sizeof(looptape) + (size_t)n * sizeof(value); }
static size_t state_bytes(const looptape *l) { return (size_t)(l->of->nstate ? l->of->nstate : 1) * sizeof(value); }
static size_t entry_bytes(const looptape *l) { return (size_t)(l->of->width ? l->of->width : 1) * sizeof(value); }

/* --- states ---------------------------------------------------------------------------------- */

static value *values_new(vm *m, const looptape *l)
{
    value *v = memory_alloc(&m->mem, MEM_RESIDUAL, state_bytes(l));
    if (!v) vm_out_of_memory(m);
    return v;
}

static void values_free(vm *m, const looptape *l, value *v, bool holds)
{
    if (!v) return;
    for (uint32_t i = 0; i < l->of->nstate; i++) {
        if (holds) value_unhold(m, v[i]);
        value_release(m, v[i]);
    }
    memory_free(&m->mem, MEM_RESIDUAL, v, state_bytes(l));
}

static void work_free(vm *m, looptape *l)
{
    if (l->working) values_free(m, l, l->work.v, l->work_holds);
    l->work.v = NULL;
    l->working = l->work_holds = false;
}

bool looptape_spill_state(vm *m, looptape *l, uint64_t k)
{
    loop_state *s = &l->held[k];
    if (k == 0 || s->disk) return false;
    l->nearest = 0;
    s->disk = spill_write(m, s->v, l->of->nstate);
    if (!s->disk) return false;
    l->ondisk++;
    return true;
}

/* The state at hand becomes the last of held[]. */
bool looptape_hold_work(vm *m, looptape *l)
{
    if (l->nheld == l->cap) {
        uint64_t cap = l->cap ? l->cap * 2 : 4;
        loop_state *held = memory_resize(&m->mem, MEM_RESIDUAL, l->held, l->cap * sizeof *held, cap * sizeof *held);
        if (!held) return vm_out_of_memory(m);
        l->held = held;
        l->cap = cap;
    }
    if (!l->work_holds)
        for (uint32_t i = 0; i < l->of->nstate; i++) value_hold(m, l->work.v[i]);
    l->nearest = 0;
    l->held[l->nheld] = l->work;
    l->held[l->nheld++].shared = false;
    l->working = l->work_holds = false;
    l->work.v = NULL;
    if (l->options->spill && !l->of->budget) looptape_spill_state(m, l, l->nheld - 1);
    if (l->nheld > l->most) l->most = l->nheld;
    if (++m->stats.snapshots > m->stats.snapshots_peak) m->stats.snapshots_peak = m->stats.snapshots;
    return true;
}

static void unhold(vm *m, looptape *l, uint64_t k)
{
    loop_state s = l->held[k];
    l->nearest = 0;
    memmove(l->held + k, l->held + k + 1, (l->nheld - k - 1) * sizeof *l->held);
    l->nheld--;
    if (!s.shared) m->stats.snapshots--;
    if (s.disk) l->ondisk--;
    spill_release(m, s.disk);
    values_free(m, l, s.v, true);
}

/* The last of held[], which is on disk, is read as the state at hand; what cannot be read is held no longer. */
static bool read_last(vm *m, looptape *l)
{
    loop_state s = l->held[l->nheld - 1];
    value *v = values_new(m, l);
    if (!v) return false;
    spill_retain(s.disk); /* reading may let go of states, and this one move in the list */
    bool fine = spill_read(m, s.disk, s.v, v, l->of->nstate);
    spill_release(m, s.disk);
    if (fine) {
        l->work = (loop_state){s.at, s.random, false, v, NULL};
        l->working = true;
        l->work_holds = false;
        return true;
    }
    memory_free(&m->mem, MEM_RESIDUAL, v, state_bytes(l));
    if (m->error) return false;
    unhold(m, l, l->nheld - 1);
    return true;
}

/* The last of held[] is the state at hand, and no longer held. */
static bool take_last(vm *m, looptape *l)
{
    if (l->held[l->nheld - 1].disk) {
        uint64_t at = l->held[l->nheld - 1].at;
        if (!read_last(m, l)) return false;
        if (l->working && l->held[l->nheld - 1].at == at) unhold(m, l, l->nheld - 1);
        return true;
    }
    loop_state s = l->held[--l->nheld];
    l->nearest = 0;
    if (!s.shared) m->stats.snapshots--;
    l->work = s;
    l->working = l->work_holds = true;
    return true;
}

static bool copy_state(vm *m, const looptape *l, const loop_state *s, loop_state *out)
{
    *out = *s;
    if (!(out->v = values_new(m, l))) return false;
    for (uint32_t i = 0; i < l->of->nstate; i++) out->v[i] = value_retain(s->v[i]);
    if (s->disk) spill_retain(s->disk);
    return true;
}

/* --- the forward run -------------------------------------------------------------------------- */

looptape *looptape_new(vm *m, code *const *codes, const lazy_loop *of, uint32_t n)
{
    looptape *l = memory_alloc(&m->mem, MEM_RESIDUAL, looptape_bytes(n));
    if (!l) {
        vm_out_of_memory(m);
        return NULL;
    }
    l->h.refs = 1;
    l->h.kind = V_LOOP;
    l->record = code_retain(codes[0]);
    l->advance = codes[1];
    l->both = codes[2];
    l->of = of;
    l->n = n;
    l->globals = value_retain(m->globals);
    l->options = &l->record->options[0];
    l->slots = l->options->slots > 0 ? (uint64_t)l->options->slots : 1;
    l->next = NEVER;
    online_open(&l->plan, &m->mem, l->slots);
    if (of->budget) budget_join(m, l);
    return l;
}

static int64_t whole(value v) { return v.tag == V_I64 ? v.u.i : (int64_t)v.u.f; }

/* The position to hold after held[nheld − 1], when the length is known. */
static void plan_next(looptape *l)
{
    uint64_t j = l->nheld - 1, left = l->length - l->held[j].at;
    uint64_t m = left > 1 && l->slots > j ? schedule_split(left, l->slots - j) : left;
    l->next = left > m + 1 ? l->held[j].at + m : NEVER;
}

bool looptape_begin(vm *m, looptape *l)
{
    if (l->of->range) {
        int64_t hi = whole(l->entered[1]);
        l->lo = whole(l->entered[0]);
        l->counted = !l->of->exits;
        if (l->counted) l->length = hi > l->lo ? (uint64_t)hi - (uint64_t)l->lo : 0;
        if (l->counted && l->length > 1 && !l->of->budget) l->next = 0;
    }
    l->live_first = m->mem.live[MEM_ARRAY];
    l->recorder = residual_new(m, l->record, 0);
    return l->recorder && keep_record(m, l->recorder);
}

/* What the iteration that is over has kept goes to the list, and the next one gets a recorder of its own. */
static bool keep_iteration(vm *m, looptape *l, bool more)
{
    if (!l->recorder->keep.n) return true;
    if (l->nkept == l->kept_cap) {
        uint64_t cap = l->kept_cap ? l->kept_cap * 2 : 8;
        loop_kept *of = memory_resize(&m->mem, MEM_RESIDUAL, l->kept, l->kept_cap * sizeof *of, cap * sizeof *of);
        if (!of) return vm_out_of_memory(m);
        l->kept = of;
        l->kept_cap = cap;
    }
    residual *fresh = more ? residual_new(m, l->record, 0) : NULL;
    if (more && !fresh) return false;
    l->recorder->h.refs++;
    l->kept[l->nkept++] = (loop_kept){l->at - 1, l->recorder, 2};
    if (more) keep_swap(m, fresh);
    l->recorder = fresh;
    return true;
}

bool looptape_wants(vm *m, looptape *l, bool *failed)
{
    if (l->at && !keep_iteration(m, l, true)) {
        *failed = true;
        return false;
    }
    if (l->of->budget) {
        bool holds = budget_holds(m, l);
        budget_mark(m, l);
        l->shares = holds;
        if (!holds) l->at++;
        return holds;
    }
    if (!l->counted || l->at == l->next || l->at + 1 == l->length) return true;
    l->at++;
    return false;
}

/* The state of the step that is over finds its place among the held ones, or goes. */
static bool place_work(vm *m, looptape *l)
{
    uint64_t which = 0;
    switch (online_offer(&l->plan, l->work.at, &which)) {
    case ONLINE_REFUSED: return vm_out_of_memory(m);
    case ONLINE_PASS: work_free(m, l); return true;
    case ONLINE_REPLACE: unhold(m, l, which); break;
    case ONLINE_ADD: break;
    }
    return looptape_hold_work(m, l);
}

/* --- entries, under a budget ------------------------------------------------------------------ */

static void entry_free(vm *m, const looptape *l, value *v)
{
    for (uint32_t i = 0; i < l->of->width; i++) {
        value_unhold(m, v[i]);
        value_release(m, v[i]);
    }
    memory_free(&m->mem, MEM_RESIDUAL, v, entry_bytes(l));
}

/* Takes v[] over as the entry after the last. */
static bool entry_add(vm *m, looptape *l, const value *v)
{
    if (l->count == l->window_cap) {
        uint64_t cap = l->window_cap ? l->window_cap * 2 : 8;
        value **window = memory_alloc(&m->mem, MEM_RESIDUAL, cap * sizeof *window);
        if (!window) return vm_out_of_memory(m);
        for (uint64_t k = 0; k < l->count; k++) window[(l->first + k) % cap] = l->window[(l->first + k) % l->window_cap];
        memory_free(&m->mem, MEM_RESIDUAL, l->window, l->window_cap * sizeof *window);
        l->window = window;
        l->window_cap = cap;
    }
    value *copy = memory_alloc(&m->mem, MEM_RESIDUAL, entry_bytes(l));
    if (!copy) return vm_out_of_memory(m);
    for (uint32_t i = 0; i < l->of->width; i++) {
        copy[i] = v[i];
        value_hold(m, v[i]);
    }
    l->window[(l->first + l->count++) % l->window_cap] = copy;
    return true;
}

void looptape_drop_entry(vm *m, looptape *l)
{
    if (!l->count) return;
    value *v = l->window[l->first % l->window_cap];
    l->first++;
    l->count--;
    entry_free(m, l, v);
}

void looptape_drop_state(vm *m, looptape *l, uint64_t k) { unhold(m, l, k); }

static void measure(vm *m, looptape *l, int kind)
{
    l->ops += m->exec->ops - l->began;
    l->measured++;
    size_t live = m->mem.live[MEM_ARRAY];
    size_t spike = budget_spike(m, l);
    if (l->shares) spike = spike > l->state_size ? spike - l->state_size : 0; /* its state is counted where it is held */
    if (spike > l->spike[kind]) l->spike[kind] = spike;
    l->spiked[kind] = true;
    if (kind != STEP_BOTH) return; /* an entry made from a state that goes shares with it: that growth is no entry's size */
    live += l->gone;
    size_t bytes = live > l->live ? live - l->live : 0;
    if (bytes > l->entry_most) l->entry_most = bytes;
    l->entries_size += bytes;
    l->entry_size = l->entries_size / ++l->entries;
}

bool looptape_entry(vm *m, looptape *l, value *v)
{
    measure(m, l, STEP_BOTH);
    if (!l->count) l->first = l->at - 1;
    return entry_add(m, l, v);
}

/* The entry of iteration 0 is taken: nothing is made again any more. */
static void forget_recipe(vm *m, looptape *l)
{
    work_free(m, l);
    while (l->nheld) unhold(m, l, l->nheld - 1);
    for (uint32_t i = 0; i < l->n; i++) {
        value_unhold(m, l->entered[i]);
        value_release(m, l->entered[i]);
        l->entered[i] = value_undef();
    }
}

bool looptape_has(vm *m, looptape *l, uint64_t want)
{
    if (l->ready && l->entry_at == want) return true;
    if (!l->count || l->first + l->count - 1 != want) return false;
    l->count--;
    l->entry = l->window[want % l->window_cap];
    l->entry_at = want;
    l->ready = l->entry_holds = true;
    l->windowing = false;
    l->reversing = true;
    if (want == 0) forget_recipe(m, l);
    return true;
}

bool looptape_offer(vm *m, looptape *l, value *v)
{
    if (l->working && !l->of->budget && !place_work(m, l)) return false;
    value *copy = values_new(m, l);
    if (!copy) return false;
    if (l->of->nstate) memcpy(copy, v, l->of->nstate * sizeof *v);
    l->work = (loop_state){l->at, m->random, false, copy, NULL};
    l->working = true;
    l->work_holds = false;
    if (l->of->budget ? true : l->counted && l->at == l->next) {
        if (l->of->budget) l->state_size = budget_size(v, l->of->nstate);
        if (!looptape_hold_work(m, l)) { /* the caller keeps what it offered */
            memset(copy, 0, state_bytes(l));
            work_free(m, l);
            return false;
        }
        if (!l->of->budget) plan_next(l);
    }
    l->at++;
    return true;
}

bool looptape_end(vm *m, looptape *l)
{
    l->length = l->at;
    if (l->at && !keep_iteration(m, l, false)) return false;
    keep_leave(m);
    if (l->recorder) value_release(m, value_object(&l->recorder->h));
    l->recorder = NULL;
    online_close(&l->plan);
    if (l->of->budget) l->live_held = 0;
    if (l->working) {
        for (uint32_t i = 0; i < l->of->nstate; i++) value_hold(m, l->work.v[i]);
        l->work_holds = true;
        l->target = l->work.at;
    }
    return true;
}

value looptape_view(vm *m, looptape *l, uint32_t first, uint32_t width)
{
    value v = tape_new(m, width);
    if (v.tag == V_UNDEF) return v;
    tape *t = as_tape(v);
    t->n = l->length;
    t->of = l;
    t->first = first;
    l->h.refs++;
    return v;
}

/* --- the adjoint's walk ----------------------------------------------------------------------- */

looptape *looptape_copy(vm *m, const looptape *l)
{
    looptape *c = looptape_new(m, (code *const[]){l->record, l->advance, l->both}, l->of, l->n);
    if (!c) return NULL;
    value_release(m, c->globals);
    c->globals = value_retain(l->globals);
    c->lo = l->lo;
    c->counted = l->counted;
    c->length = l->length;
    c->at = l->at;
    c->target = l->target;
    c->entry_size = l->entry_size;
    c->entries_size = l->entries_size;
    c->entry_most = l->entry_most;
    c->entries = l->entries;
    c->state_size = l->state_size;
    c->ops = l->ops;
    c->measured = l->measured;
    c->is_short = l->is_short;
    memcpy(c->spike, l->spike, sizeof c->spike);
    memcpy(c->spiked, l->spiked, sizeof c->spiked);
    c->spike_rev = l->spike_rev;
    c->reversed_once = l->reversed_once;
    c->first = l->first;
    for (uint32_t i = 0; i < l->n; i++) {
        c->entered[i] = value_retain(l->entered[i]);
        value_hold(m, c->entered[i]);
    }
    bool fine = true;
    if (l->working) {
        fine = c->working = copy_state(m, l, &l->work, &c->work);
        c->work_holds = false;
    }
    if (fine && l->nheld) {
        c->held = memory_alloc(&m->mem, MEM_RESIDUAL, l->nheld * sizeof *c->held);
        c->cap = c->held ? l->nheld : 0;
        if (!c->held) fine = vm_out_of_memory(m);
    }
    for (uint64_t k = 0; fine && k < l->nheld; k++) {
        fine = copy_state(m, l, &l->held[k], &c->held[k]);
        if (!fine) break;
        for (uint32_t i = 0; i < l->of->nstate; i++) value_hold(m, c->held[k].v[i]);
        c->held[k].shared = true;
        c->ondisk += c->held[k].disk != NULL;
        c->nheld++;
    }
    for (uint64_t k = 0; fine && k < l->count; k++) {
        const value *v = l->window[(l->first + k) % l->window_cap];
        fine = entry_add(m, c, v);
        for (uint32_t i = 0; fine && i < l->of->width; i++) value_retain(v[i]);
    }
    if (fine && l->nkept) {
        c->kept = memory_alloc(&m->mem, MEM_RESIDUAL, l->nkept * sizeof *c->kept);
        c->kept_cap = c->kept ? l->nkept : 0;
        if (!c->kept) fine = vm_out_of_memory(m);
    }
    for (uint64_t k = 0; fine && k < l->nkept; k++) {
        c->kept[c->nkept] = l->kept[k];
        c->kept[c->nkept++].refs = 2;
        l->kept[k].r->h.refs += 2;
    }
    if (fine) return c;
    value_release(m, value_object(&c->h));
    return NULL;
}

bool looptape_copy_top(vm *m, looptape *l)
{
    if (l->held[l->nheld - 1].disk) return read_last(m, l);
    if (!copy_state(m, l, &l->held[l->nheld - 1], &l->work)) return false;
    l->working = true;
    l->work_holds = false;
    return true;
}

bool looptape_aim(vm *m, looptape *l, uint64_t want)
{
    if (l->of->budget) return budget_aim(m, l, want);
    for (;;) {
        if (l->working && l->work.at < l->target) {
            l->recording = false;
            return true;
        }
        if (l->working && l->work.at == want) {
            l->recording = true;
            return true;
        }
        if (l->working) { /* where the range was split */
            if (!looptape_hold_work(m, l)) return false;
            continue;
        }
        if (!l->nheld) return vm_fail(m, DIAG_INTERNAL, "a loop tape without a state for iteration %llu", (unsigned long long)want);
        const loop_state *top = &l->held[l->nheld - 1];
        uint64_t n = want + 1 - top->at, j = l->nheld - 1;
        if (n == 1) {
            if (!take_last(m, l)) return false;
            l->target = want;
            continue;
        }
        l->target = top->at + schedule_split(n, l->slots > j ? l->slots - j : 1);
        if (!looptape_copy_top(m, l)) return false;
    }
}

residual *looptape_kept(looptape *l, uint64_t at, bool last)
{
    uint64_t lo = 0, hi = l->nkept;
    while (lo < hi) {
        uint64_t k = lo + (hi - lo) / 2;
        if (l->kept[k].at < at) lo = k + 1;
        else hi = k;
    }
    if (lo == l->nkept || l->kept[lo].at != at) return NULL;
    residual *r = l->kept[lo].r;
    /* A reader takes values out when there is one reference: the other goes before the last reading. */
    if (last && l->kept[lo].refs == 2) {
        l->kept[lo].refs = 1;
        r->h.refs--;
    }
    return r;
}

void looptape_entry_free(vm *m, looptape *l)
{
    if (!l->ready) return;
    for (uint32_t i = 0; i < l->of->width; i++) {
        if (l->entry_holds) value_unhold(m, l->entry[i]);
        value_release(m, l->entry[i]);
        l->entry[i] = value_undef();
    }
    if (l->of->budget) {
        memory_free(&m->mem, MEM_RESIDUAL, l->entry, entry_bytes(l));
        l->entry = NULL;
    }
    l->ready = l->entry_holds = false;
}

static bool next_state(vm *m, looptape *l, random_state after, const value *v)
{
    value *copy = values_new(m, l);
    if (!copy) return false;
    if (l->of->nstate) memcpy(copy, v, l->of->nstate * sizeof *v);
    l->work = (loop_state){l->running + 1, after, false, copy, NULL};
    l->working = true;
    l->work_holds = false;
    return true;
}

/* Under a budget: the state goes on while entries up to the one wanted are recorded. */
static bool stepped(vm *m, looptape *l, random_state after, value *v, uint32_t n)
{
    uint32_t ns = l->recording && l->running == l->target ? 0 : l->of->nstate, width = l->recording ? l->of->width : 0;
    bool fine = n == ns + width || vm_fail(m, DIAG_INTERNAL, "an iteration gives %u values where %u are expected", n, ns + width);
    bool added = false;
    if (fine) measure(m, l, !l->recording ? STEP_PLAIN : l->running < l->target ? STEP_BOTH : STEP_ENTRY);
    if (fine && l->recording) {
        if (!l->count) l->first = l->running;
        fine = added = entry_add(m, l, v + ns);
    }
    if (fine && ns) fine = next_state(m, l, after, v);
    else if (fine && l->running != l->target) fine = next_state(m, l, after, v); /* a state of no values */
    for (uint32_t i = 0; !fine && i < (added ? ns : n); i++) value_release(m, v[i]);
    return fine;
}

bool looptape_stepped(vm *m, looptape *l, random_state after, value *v, uint32_t n)
{
    if (l->of->budget) return stepped(m, l, after, v, n);
    uint32_t want = l->recording ? l->of->width : l->of->nstate;
    bool fine = n == want || vm_fail(m, DIAG_INTERNAL, "an iteration gives %u values where %u are expected", n, want);
    if (l->recording) {
        if (fine && !l->entry && !(l->entry = memory_alloc(&m->mem, MEM_RESIDUAL, entry_bytes(l)))) fine = vm_out_of_memory(m);
        if (fine) {
            if (n) memcpy(l->entry, v, n * sizeof *v);
            l->entry_at = l->running;
            l->ready = true;
        }
        /* Iterations are recorded last to first, each once. */
        if (l->nkept && l->kept[l->nkept - 1].at == l->running) value_release(m, value_object(&l->kept[--l->nkept].r->h));
    } else if (fine) {
        value *copy = values_new(m, l);
        fine = copy != NULL;
        if (fine) {
            if (n) memcpy(copy, v, n * sizeof *v);
            l->work = (loop_state){l->running + 1, after, false, copy, NULL};
            l->working = true;
            l->work_holds = false;
        }
    }
    for (uint32_t i = 0; !fine && i < n; i++) value_release(m, v[i]);
    return fine;
}

/* Into the certificate goes a loop that was reversed: what it executed, and the least for the states it held
   (of known length and schedule: the very number). Under a budget, entries held make it fewer. */
static void certify(vm *m, const looptape *l)
{
    if (!l->reversed || !l->of->steps || !l->length) return;
    uint64_t s = l->of->budget ? (l->most ? l->most : 1) : l->slots;
    m->stats.lazy_runs += l->runs + l->length;
    m->stats.lazy_least += schedule_runs(l->length, s) + l->length + (l->of->budget ? 0 : 1);
}

/* --- the end ---------------------------------------------------------------------------------- */

void looptape_dispose(vm *m, object *o)
{
    looptape *l = (looptape *)o;
    memory *mem = &m->mem;
    if (l->of->budget) budget_leave(m, l);
    certify(m, l);
    work_free(m, l);
    while (l->count) looptape_drop_entry(m, l);
    memory_free(mem, MEM_RESIDUAL, l->window, l->window_cap * sizeof *l->window);
    while (l->nheld) unhold(m, l, l->nheld - 1);
    memory_free(mem, MEM_RESIDUAL, l->held, l->cap * sizeof *l->held);
    looptape_entry_free(m, l);
    if (l->entry) memory_free(mem, MEM_RESIDUAL, l->entry, entry_bytes(l));
    for (uint64_t k = 0; k < l->nkept; k++) {
        value r = value_object(&l->kept[k].r->h);
        if (l->kept[k].refs == 2) value_release(m, r);
        value_release(m, r);
    }
    memory_free(mem, MEM_RESIDUAL, l->kept, l->kept_cap * sizeof *l->kept);
    if (l->recorder) value_release(m, value_object(&l->recorder->h));
    online_close(&l->plan);
    for (uint32_t i = 0; i < l->n; i++) {
        value_unhold(m, l->entered[i]);
        value_release(m, l->entered[i]);
    }
    value_release(m, l->globals);
    code_release(l->record);
    memory_free(mem, MEM_RESIDUAL, l, looptape_bytes(l->n));
}

const value *looptape_value(const looptape *l, uint64_t *i)
{
    uint64_t k = (*i)++;
    uint32_t n = l->of->nstate;
    if (k < l->n) return &l->entered[k];
    k -= l->n;
    if (k < l->nheld * n) return &l->held[k / n].v[k % n];
    k -= l->nheld * n;
    if (l->working) {
        if (k < n) return &l->work.v[k];
        k -= n;
    }
    uint64_t width = l->of->width;
    if (k < l->count * width) return &l->window[(l->first + k / width) % l->window_cap][k % width];
    k -= l->count * width;
    for (uint64_t q = 0; q < l->nkept; q++) {
        const keep_list *list = &l->kept[q].r->keep;
        if (k < list->n) return &list->of[k].v;
        k -= list->n;
    }
    return NULL;
}
