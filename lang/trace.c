/* trace.c: records a run for the views; see trace.h.
 *
 * The observer is shown each instruction before it runs, so an instruction's results are seen when the
 * next one of its frame is. Frames that are entered and left are noticed by their addresses. A cotangent
 * belongs to the latest row of its register that has none yet: the adjoint program meets values in the
 * reverse of the order they were made in. */
#include "trace.h"
#include "../vm/looptape.h"
#include "../vm/run.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 200000, SAMPLES_MOST = 4096, EVENTS_MOST = 200000, LOOPS_MOST = 8 };

/* What is known of a Code. */
typedef struct known {
    const code *c;
    bool user;       /* written by the user */
    uint32_t *first; /* CODE_REV: by register, 1 + the first of c->cots it is the whole cotangent in */
    uint32_t *next;  /* by entry of c->cots: 1 + the next of the same register */
    bool *made;      /* CODE_REV: by register, an instruction makes it */
    reg *primal;     /* CODE_FWD: by register, the one of the function itself that it is a copy of */
    struct known *other;
} known;

typedef struct active_loop {
    const instr *i;
    int64_t index;
} active_loop;

typedef struct watched_frame {
    const frame *f;
    const uint32_t *done; /* instruction whose results are still to be seen */
    const known *k;
    trace_phase phase;
    uint32_t depth;  /* of the user's calls */
    uint32_t blocks; /* checkpoint blocks that are running in it */
    struct reader {
        reg r;
        const uint32_t *w;
    } * readers;
    uint32_t nreaders; /* who reads a cotangent first */
    active_loop loops[LOOPS_MOST];
    uint32_t nloops;
} watched_frame;

typedef struct head {
    const code *c;
    reg r;
    uint32_t row;
} head;
typedef struct step_path {
    uint64_t hash;
    uint32_t step;
    bool outer;
} step_path;

struct watcher {
    vm_observer observer;
    watched_frame *of;
    uint32_t n, cap;
    known *known;
    head *heads;
    uint32_t nheads, heads_cap;
    step_path *paths;
    uint32_t npaths, paths_cap;
    const looptape *lazy; /* the loop tape that runs, or ran last; looked at only where it is sure to live */
    uint64_t *held;
    uint32_t nheld, held_cap; /* positions of the states it held when last looked at */
    size_t base, high, stride, skipped;
    arena arena;
};

static bool grow(void **p, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap) return true;
    uint32_t more = *cap ? 2 * *cap : 256;
    void *q = realloc(*p, more * size);
    if (!q) return false;
    *p = q;
    *cap = more;
    return true;
}
#define ROOM(list, count, cap) grow((void **)&(list), count, &(cap), sizeof *(list))

/* --- the run form ------------------------------------------------------------------------------- */

/* Slots that the tree's instruction gives, and operands that it has; none for what the run form adds. */
static uint32_t results_of(const uint32_t *w, const uint32_t **d)
{
    run_parts s = run_parts_of(w);
    *d = s.dst;
    return s.own ? s.ndst : 0;
}

static uint32_t operands_of(const uint32_t *w, const uint32_t **of)
{
    run_parts s = run_parts_of(w);
    *of = s.src;
    return s.own ? s.nsrc : 0;
}

/* --- Code -------------------------------------------------------------------------------------- */

static void mark_made(bool *made, const block *b)
{
    for (uint32_t n = 0; n < b->n; n++) {
        const instr *i = b->list[n];
        if (i->op != OP_CODE_LOOP && i->op != OP_CODE_IF && i->op != OP_CODE_CHECKPOINT)
            for (uint32_t k = 0; k < i->ndst; k++) made[i->dst[k]] = true;
        for (uint32_t k = 0; k < i->nblocks; k++) mark_made(made, i->blocks[k]);
    }
}

typedef struct by_origin {
    uint32_t origin;
    const instr *i;
} by_origin;

static int origin_order(const void *a, const void *b)
{
    uint32_t p = ((const by_origin *)a)->origin, q = ((const by_origin *)b)->origin;
    return p < q ? -1 : p > q;
}

static uint32_t list_origins(by_origin *to, const block *b)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->n; k++) {
        const instr *i = b->list[k];
        if (to) to[n] = (by_origin){i->origin, i};
        n++;
        for (uint32_t j = 0; j < blocks_run(i); j++) n += list_origins(to ? to + n : NULL, i->blocks[j]);
    }
    return n;
}

static void match_origins(reg *primal, const block *b, const by_origin *of, uint32_t n)
{
    for (uint32_t k = 0; k < b->n; k++) {
        const instr *i = b->list[k];
        by_origin key = {i->origin, NULL}, *found = bsearch(&key, of, n, sizeof *of, origin_order);
        if (found && found->i->op == i->op)
            for (uint32_t j = 0; j < i->ndst && j < found->i->ndst; j++) primal[i->dst[j]] = found->i->dst[j];
        for (uint32_t j = 0; j < blocks_run(i); j++) match_origins(primal, i->blocks[j], of, n);
    }
}

/* Blocks in a forward pass are copies with registers of their own, and the same origins. */
static reg *primal_regs(struct watcher *w, const code *fwd)
{
    reg *primal = arena_alloc(&w->arena, (fwd->nregs + 1) * sizeof *primal);
    uint32_t n = list_origins(NULL, fwd->primal->body);
    by_origin *of = malloc((n + 1) * sizeof *of);
    if (primal)
        for (reg r = 0; r < fwd->nregs; r++) primal[r] = r;
    if (primal && of) {
        list_origins(of, fwd->primal->body);
        qsort(of, n, sizeof *of, origin_order);
        match_origins(primal, fwd->body, of, n);
    }
    free(of);
    return primal;
}

static const known *known_of(struct watcher *w, const code *c)
{
    for (const known *k = w->known; k; k = k->other)
        if (k->c == c) return k;
    known *k = arena_alloc(&w->arena, sizeof *k);
    if (!k) return NULL;
    k->c = c;
    const char *name = c->src ? c->src->name : "";
    k->user = c->src && strncmp(name, "<stdlib>", 8) && strncmp(name, "rule of", 7) && strcmp(name, "<view>");
    if (c->role == CODE_REV && k->user) {
        k->first = arena_alloc(&w->arena, (c->nregs + 1) * sizeof *k->first);
        k->next = arena_alloc(&w->arena, (c->ncots + 1) * sizeof *k->next);
        k->made = arena_alloc(&w->arena, (c->nregs + 1) * sizeof *k->made);
        if (!k->first || !k->next || !k->made) return NULL;
        for (uint32_t j = c->ncots; j-- > 0;) {
            if (c->cots[j].cot >= c->nregs) continue;
            k->next[j] = k->first[c->cots[j].cot];
            k->first[c->cots[j].cot] = j + 1;
        }
        mark_made(k->made, c->run ? c->run->tree->body : c->body);
    }
    if (c->role == CODE_FWD && k->user && c->primal && !(k->primal = primal_regs(w, c))) return NULL;
    k->other = w->known;
    return w->known = k;
}

/* --- rows -------------------------------------------------------------------------------------- */

static head *head_of(struct watcher *w, const code *c, reg r)
{
    if (2 * (w->nheads + 1) > w->heads_cap) {
        uint32_t cap = w->heads_cap ? 2 * w->heads_cap : 256;
        head *more = calloc(cap, sizeof *more);
        if (!more) return NULL;
        for (uint32_t i = 0; i < w->heads_cap; i++) {
            if (!w->heads[i].c) continue;
            uint32_t k = ((uint32_t)((uintptr_t)w->heads[i].c >> 4) * 31 + w->heads[i].r) * 2654435769u & (cap - 1);
            while (more[k].c) k = (k + 1) & (cap - 1);
            more[k] = w->heads[i];
        }
        free(w->heads);
        w->heads = more;
        w->heads_cap = cap;
    }
    uint32_t k = ((uint32_t)((uintptr_t)c >> 4) * 31 + r) * 2654435769u & (w->heads_cap - 1);
    while (w->heads[k].c && (w->heads[k].c != c || w->heads[k].r != r)) k = (k + 1) & (w->heads_cap - 1);
    if (!w->heads[k].c) {
        w->heads[k] = (head){c, r, UINT32_MAX};
        w->nheads++;
    }
    return &w->heads[k];
}

static void add_line(trace *t, trace_phase phase, uint32_t row)
{
    if (ROOM(t->lines, t->nlines, t->lines_cap)) t->lines[t->nlines++] = (trace_line){phase, row};
    else t->full = true;
}

static bool numeric(value v) { return value_is_scalar(v) || v.tag == V_ARRAY || v.tag == V_TUPLE || v.tag == V_RECORD; }

static void add_row(trace *t, const watched_frame *f, const code *c, const instr *i, reg r, value v)
{
    struct watcher *w = t->w;
    if (t->nrows >= ROWS_MOST || !ROOM(t->rows, t->nrows, t->rows_cap)) {
        t->full = true;
        return;
    }
    head *h = head_of(w, c, r);
    if (!h) return;
    t->rows[t->nrows] = (trace_row){
        .code = c, .i = i, .r = r, .depth = f->depth, .v = value_retain(v), .cot = value_undef(), .before = h->row, .block = f->blocks > 0};
    h->row = t->nrows;
    add_line(t, PHASE_FORWARD, t->nrows++);
}

static void add_again(trace *t, const watched_frame *f, const code *c, const instr *i, reg r, value v)
{
    if (t->nagain >= ROWS_MOST || !ROOM(t->again, t->nagain, t->again_cap)) {
        t->full = true;
        return;
    }
    t->again[t->nagain] = (trace_row){
        .code = c, .i = i, .r = r, .depth = f->depth, .v = value_retain(v), .cot = value_undef(), .before = UINT32_MAX, .block = true};
    add_line(t, PHASE_REPLAY, t->nagain++);
}

static void add_cotangent(trace *t, const code *c, reg r, value v)
{
    head *h = head_of(t->w, c, r);
    if (!h || h->row == UINT32_MAX) return;
    trace_row *row = &t->rows[h->row];
    row->cot = value_retain(v);
    add_line(t, PHASE_ADJOINT, h->row);
    h->row = row->before;
}

/* To every primal register that rev register r is the whole cotangent of. */
static void add_cotangents(trace *t, const known *k, reg r, value v)
{
    for (uint32_t j = k->first[r]; j; j = k->next[j - 1]) add_cotangent(t, k->c->primal, k->c->cots[j - 1].primal, v);
}

bool trace_is_shown(const prim *p)
{
    static const char *const shown[] = {"__index", "__setindex", "__transpose_last", "__array"};
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
        if (!strcmp(p->name, shown[k])) return true;
    return p->name[0] != '_';
}

bool trace_is_key(const instr *i)
{
    return i->op == OP_CODE_TUPLE && i->at.src && i->at.lo < i->at.src->length && i->at.src->text[i->at.lo] == '[';
}

/* What an `if`, a loop or a block gives was given by an instruction within it; those that lowering adds to
   such an instruction only count. */
static bool worth_a_row(const instr *i)
{
    if (i->flags & (INSTR_RULE | INSTR_ADJOINT) || i->ndst == 0 || trace_is_key(i)) return false;
    switch (i->op) {
    case OP_CODE_CONST:
    case OP_CODE_CLOSURE:
    case OP_CODE_SELF:
    case OP_CODE_GLOBAL:
    case OP_CODE_DERIVE:
    case OP_CODE_BIND:
    case OP_CODE_SPREAD:
    case OP_CODE_REPLAYABLE:
    case OP_CODE_SELDEF:
    case OP_CODE_DEFINED:
    case OP_CODE_CONTRACT:
    case OP_CODE_TAPE:
    case OP_CODE_TAPEPUSH:
    case OP_CODE_IMPORT:
    case OP_CODE_IF:
    case OP_CODE_LOOP:
    case OP_CODE_CHECKPOINT: return false;
    case OP_CODE_PRIM: return trace_is_shown(&prims[i->imm & ~PRIM_SPREAD]);
    default: return true;
    }
}

/* --- frames ------------------------------------------------------------------------------------ */

static void frame_off(struct watcher *w) { free(w->of[--w->n].readers); }

static void results_seen(trace *t, watched_frame *f)
{
    const uint32_t *d, *w = f->done;
    f->done = NULL;
    if (!w || !(t->want & TRACE_ROWS) || !f->k || !f->k->user) return;
    uint32_t n = results_of(w, &d);
    if (!n) return;
    const instr *i = instr_at(f->f, w);
    const code *c = f->f->run->code;
    if (c->role == CODE_REV) {
        for (uint32_t k = 0; k < n && k < i->ndst; k++) add_cotangents(t, f->k, i->dst[k], f->f->r[d[k]]);
        return;
    }
    bool again = f->phase == PHASE_REPLAY;
    if ((!again && f->phase != PHASE_FORWARD) || !worth_a_row(i)) return;
    if (c->role != CODE_FWD && c->role != CODE_PLAIN && !(again && c->role == CODE_REGION)) return;
    const reg *primal = c->role == CODE_FWD ? f->k->primal : NULL;
    if (c->role == CODE_FWD) c = c->primal;
    for (uint32_t k = 0; k < n && k < i->ndst; k++) {
        value v = f->f->r[d[k]];
        if (v.tag == V_FUNCTION && n > 1) continue;
        if (numeric(v)) (again ? add_again : add_row)(t, f, c, i, primal ? primal[i->dst[k]] : i->dst[k], v);
    }
}

/* A cotangent that no instruction makes (a parameter of the adjoint program or of its loops) is seen when it
   is first read, always by the same instruction. */
static void operands_seen(trace *t, watched_frame *f, const uint32_t *w)
{
    const uint32_t *s;
    uint32_t n = operands_of(w, &s);
    const instr *i = n ? instr_at(f->f, w) : NULL;
    for (uint32_t k = 0; k < n && k < i->nsrc; k++) {
        reg r = i->src[k];
        if (!f->k->first[r] || f->k->made[r]) continue;
        uint32_t j = 0;
        while (j < f->nreaders && f->readers[j].r != r) j++;
        if (j == f->nreaders) {
            struct reader *more = realloc(f->readers, (f->nreaders + 1) * sizeof *more);
            if (!more) return;
            f->readers = more;
            f->readers[f->nreaders++] = (struct reader){r, w};
        }
        if (f->readers[j].w == w) add_cotangents(t, f->k, r, f->f->r[s[k] >> 1]);
    }
}

static watched_frame *frame_at(trace *t, const frame *f)
{
    struct watcher *w = t->w;
    for (uint32_t k = w->n; k-- > 0;) {
        if (w->of[k].f != f) continue;
        while (w->n > k + 1) frame_off(w); /* ended by an error */
        if (w->of[k].k && w->of[k].k->c == f->run->code) return &w->of[k];
        frame_off(w);
        break;
    }
    if (!ROOM(w->of, w->n, w->cap)) return NULL;
    watched_frame *p = &w->of[w->n], *up = w->n ? p - 1 : NULL;
    *p = (watched_frame){.f = f, .k = known_of(w, f->run->code)};
    w->n++;
    enum code_role role = f->run->code->role;
    if (t->m->exec->forcing) p->phase = PHASE_REPLAY;
    else if (role == CODE_REV) p->phase = PHASE_ADJOINT;
    else if (role == CODE_FWD) p->phase = PHASE_FORWARD;
    else p->phase = up ? up->phase : PHASE_OUTSIDE;
    p->depth = up ? up->depth + (up->k && up->k->user) : 0;
    p->blocks = up ? up->blocks : 0;
    return p;
}

/* --- memory ------------------------------------------------------------------------------------ */

static void put_sample(trace *t, trace_sample s)
{
    if (t->nsamples == SAMPLES_MOST) { /* every two become one, the higher */
        for (uint32_t k = 0; k < SAMPLES_MOST / 2; k++) {
            trace_sample a = t->samples[2 * k], b = t->samples[2 * k + 1];
            trace_sample c = a.high > b.high ? a : b;
            c.at = a.at;
            t->samples[k] = c;
        }
        t->nsamples = SAMPLES_MOST / 2;
        t->w->stride *= 2;
    }
    if (!ROOM(t->samples, t->nsamples, t->samples_cap)) return;
    t->samples[t->nsamples++] = s;
}

static void sample(trace *t, trace_phase phase)
{
    vm *m = t->m;
    struct watcher *w = t->w;
    memory *mem = &m->mem;
    size_t high = mem->seen_high, live = mem->live[MEM_ARRAY];
    mem->seen_high = live;
    if (phase == PHASE_OUTSIDE && !m->stats.saved) w->base = live;
    if (high > w->high) w->high = high;
    trace_sample *last = t->nsamples ? &t->samples[t->nsamples - 1] : NULL;
    if (last && last->phase == phase && last->live == live && last->saved == m->stats.saved && w->high <= last->high) return;
    if (++w->skipped < w->stride && last && last->phase == phase) {
        if (w->high > last->high) last->high = w->high;
        return;
    }
    w->skipped = 0;
    put_sample(t, (trace_sample){(double)m->exec->ops, live, m->stats.saved, w->high, w->base, phase});
    w->high = live;
}

/* --- steps of loops ----------------------------------------------------------------------------- */

static void add_event(trace *t, trace_act act, uint32_t step)
{
    if (t->nevents < EVENTS_MOST && ROOM(t->events, t->nevents, t->events_cap)) t->events[t->nevents++] = (trace_event){act, step, false};
    else t->full = true;
}

/* What enters a block belongs to the step it is part of; where it is of none, or of one that consists of others, to
   the step that comes next: then `step` is UINT32_MAX in the end. */
static void add_block_event(trace *t, trace_act act, uint32_t step)
{
    uint32_t n = t->nevents;
    add_event(t, act, step);
    if (t->nevents > n) t->events[n].block = true;
}

static step_path *path_at(struct watcher *w, uint64_t h, bool make)
{
    if (2 * (w->npaths + 1) > w->paths_cap) {
        uint32_t cap = w->paths_cap ? 2 * w->paths_cap : 256;
        step_path *more = calloc(cap, sizeof *more);
        if (!more) return NULL;
        for (uint32_t i = 0; i < w->paths_cap; i++) {
            if (!w->paths[i].hash) continue;
            uint32_t k = (uint32_t)(w->paths[i].hash >> 32) & (cap - 1);
            while (more[k].hash) k = (k + 1) & (cap - 1);
            more[k] = w->paths[i];
        }
        free(w->paths);
        w->paths = more;
        w->paths_cap = cap;
    }
    uint32_t k = (uint32_t)(h >> 32) & (w->paths_cap - 1);
    while (w->paths[k].hash && w->paths[k].hash != h) k = (k + 1) & (w->paths_cap - 1);
    if (!w->paths[k].hash) {
        if (!make) return NULL;
        w->paths[k] = (step_path){.hash = h, .step = w->npaths++};
    }
    return &w->paths[k];
}

/* The step that the loops around now stand at, by their counters, the outermost first; UINT32_MAX when it is
   none that ran forward. The step of a loop further out that it is part of is none of its own. */
static uint32_t step_now(trace *t, bool make)
{
    struct watcher *w = t->w;
    uint64_t h = 1469598103934665603u, outer = 0;
    for (uint32_t k = 0; k < w->n; k++)
        for (uint32_t j = 0; j < w->of[k].nloops; j++) {
            outer = h;
            h = (h ^ (uint64_t)(w->of[k].loops[j].index + 1)) * 1099511628211u;
            h ^= h >> 29;
        }
    step_path *up = outer ? path_at(w, outer, false) : NULL;
    if (up && make) up->outer = true;
    step_path *p = path_at(w, h, make);
    return p ? p->step : UINT32_MAX;
}

/* Leaves out steps that consist of other steps, and numbers the others as they first ran. */
static void number_steps(trace *t)
{
    struct watcher *w = t->w;
    uint32_t *number = malloc((w->npaths + 1) * sizeof *number);
    bool *outer = calloc(w->npaths + 1, sizeof *outer);
    uint32_t n = 0;
    t->nsteps = 0;
    if (number && outer) {
        memset(number, 0xff, (w->npaths + 1) * sizeof *number);
        for (uint32_t k = 0; k < w->paths_cap; k++)
            if (w->paths[k].hash) outer[w->paths[k].step] = w->paths[k].outer;
        for (uint32_t k = 0; k < t->nevents; k++) {
            trace_event e = t->events[k];
            if (e.act == ACT_STORE || e.act == ACT_RESTORE || e.step == UINT32_MAX || outer[e.step]) continue;
            if (number[e.step] == UINT32_MAX) number[e.step] = t->nsteps++;
        }
        for (uint32_t k = 0; k < t->nevents; k++) {
            trace_event e = t->events[k];
            bool state = e.act == ACT_STORE || e.act == ACT_RESTORE;
            if (e.block && e.step != UINT32_MAX && (outer[e.step] || number[e.step] == UINT32_MAX)) e.step = UINT32_MAX;
            if (e.step == UINT32_MAX ? !state : outer[e.step] || number[e.step] == UINT32_MAX) continue;
            if (e.step != UINT32_MAX) e.step = number[e.step];
            trace_event *last = n ? &t->events[n - 1] : NULL;
            if (e.block && last && last->act != ACT_STORE && last->act != ACT_RESTORE && last->step == e.step) {
                /* What enters a block within the step is the state before it; once is enough. */
                if (n > 1 && last[-1].act == e.act && last[-1].step == e.step) continue;
                trace_event step = *last;
                *last = e;
                e = step;
            }
            t->events[n++] = e;
        }
    }
    t->nevents = n;
    free(number);
    free(outer);
}

static void loop_at(watched_frame *f, const instr *i, int64_t index)
{
    for (uint32_t k = 0; k < f->nloops; k++)
        if (f->loops[k].i == i) {
            f->loops[k].index = index;
            f->nloops = k + 1;
            return;
        }
    if (f->nloops < LOOPS_MOST) f->loops[f->nloops++] = (active_loop){i, index};
}

/* One more iteration of a loop that runs forward. */
static void loop_next(watched_frame *f, const instr *i)
{
    uint32_t k = 0;
    while (k < f->nloops && f->loops[k].i != i) k++;
    loop_at(f, i, k < f->nloops ? f->loops[k].index + 1 : 0);
}

/* The step at a position of the innermost loop of f. */
static uint32_t step_at(trace *t, watched_frame *f, uint64_t position)
{
    if (!f->nloops) return UINT32_MAX;
    active_loop *l = &f->loops[f->nloops - 1];
    int64_t now = l->index;
    l->index = (int64_t)position;
    uint32_t step = step_now(t, false);
    l->index = now;
    return step;
}

/* What a lazy loop holds now, against what it held. f is the frame of the loop, forward or reversed. */
static void states_seen(trace *t, watched_frame *f, const looptape *l)
{
    struct watcher *w = t->w;
    for (uint32_t k = 0; k < w->nheld; k++) {
        bool still = false;
        for (uint64_t j = 0; j < l->nheld && !still; j++) still = l->held[j].at == w->held[k];
        if (still) continue;
        add_event(t, ACT_RESTORE, step_at(t, f, w->held[k]));
        w->held[k--] = w->held[--w->nheld];
    }
    for (uint64_t j = 0; j < l->nheld; j++) {
        bool known_ = false;
        for (uint32_t k = 0; k < w->nheld && !known_; k++) known_ = w->held[k] == l->held[j].at;
        if (known_ || !ROOM(w->held, w->nheld, w->held_cap)) continue;
        w->held[w->nheld++] = l->held[j].at;
        add_event(t, ACT_STORE, step_at(t, f, l->held[j].at));
    }
}

static void loop_over(watched_frame *f, const instr *i)
{
    for (uint32_t k = 0; k < f->nloops; k++)
        if (f->loops[k].i == i) f->nloops = k;
}

static void steps(trace *t, watched_frame *f, const uint32_t *w)
{
    const frame *fr = f->f;
    const value *r = fr->r;
    switch ((run_op)(uint8_t)*w) {
    case RUN_RANGE_NEXT: {
        const instr *i = instr_at(fr, w);
        if (!(i->flags & INSTR_STEP)) return;
        if (r[w[1]].u.i + 1 < r[w[2]].u.i) loop_next(f, i);
        else loop_over(f, i);
        return;
    }
    case RUN_STEP: {
        if (!t->m->gradient_depth) return;
        const instr *i = instr_at(fr, w);
        if ((i->imm & LOOP_KIND) == LOOP_WHILE) loop_next(f, i);
        uint32_t step = step_now(t, true);
        if (t->w->lazy) states_seen(t, f, t->w->lazy);
        bool fwd = !t->w->lazy && (fr->run->code->role == CODE_FWD || fr->run->code->role == CODE_REGION);
        add_event(t, f->phase == PHASE_REPLAY ? ACT_REPLAY : fwd && !f->blocks ? ACT_RECORD : ACT_ADVANCE, step);
        return;
    }
    case RUN_TAPES_NEXT: {
        const instr *i = instr_at(fr, w);
        int64_t left = r[w[2 + w[1]]].u.i;
        if (left > 0) {
            loop_at(f, i, left - 1); /* the iteration begins when something after this is seen */
        } else loop_over(f, i);
        return;
    }
    case RUN_FORCE: add_block_event(t, ACT_RESTORE, step_now(t, false)); return;
    case RUN_OTHER:
        if (instr_at(fr, w)->op == OP_CODE_REPLAYABLE && f->phase != PHASE_REPLAY) add_block_event(t, ACT_STORE, step_now(t, false));
        return;
    default: return;
    }
}

/* --- the observer ------------------------------------------------------------------------------- */

/* An iteration of a lazy loop that runs again, and one whose reversal begins. */
static void lazy_seen(trace *t, watched_frame *p, const frame *f, const uint32_t *w, bool fresh)
{
    if (fresh && f->kind == FRAME_LAZY && t->w->n > 1) {
        const looptape *l = (const looptape *)f->fn;
        watched_frame *up = &t->w->of[t->w->n - 2];
        t->w->lazy = NULL; /* the forward pass is over */
        states_seen(t, up, l);
        add_event(t, ACT_REPLAY, step_at(t, up, l->running));
    }
    if (p->done && (run_op)(uint8_t)*p->done == RUN_TAPES_NEXT && p->done != w && f->run->code->role == CODE_REV && p->nloops &&
        p->loops[p->nloops - 1].i == instr_at(f, p->done))
        add_event(t, ACT_REVERSE, step_now(t, false));
}

static void lazy_made(trace *t, const frame *f, const uint32_t *w)
{
    const uint32_t *d;
    uint32_t n = w ? results_of(w, &d) : 0;
    for (uint32_t k = 0; k < n; k++)
        if (f->r[d[k]].tag == V_LOOP) {
            t->w->lazy = as_looptape(f->r[d[k]]);
            t->w->nheld = 0;
        }
}

static void see(void *ctx, vm *m, const frame *f, const uint32_t *w)
{
    trace *t = ctx;
    uint32_t before = t->w->n;
    watched_frame *p = frame_at(t, f);
    if (!p) return;
    if (t->want & TRACE_EVENTS) {
        lazy_seen(t, p, f, w, t->w->n > before);
        if (p->phase == PHASE_FORWARD) lazy_made(t, f, p->done);
    }
    results_seen(t, p);
    if (t->want & TRACE_MEMORY) sample(t, p->phase);
    if ((run_op)(uint8_t)*w == RUN_KEEP) p->blocks++;
    if ((run_op)(uint8_t)*w == RUN_KEEP_END && p->blocks) p->blocks--;
    if (t->want & TRACE_EVENTS) steps(t, p, w);
    if (t->want & TRACE_ROWS && p->k && p->k->user && f->run->code->role == CODE_REV) operands_seen(t, p, w);
    p->done = w;
    if ((run_op)(uint8_t)*w == RUN_RETURN) frame_off(t->w);
}

bool trace_open(trace *t, vm *m, unsigned want)
{
    *t = (trace){.m = m, .want = want};
    t->w = calloc(1, sizeof *t->w);
    if (!t->w) return vm_out_of_memory(m);
    t->w->observer = (vm_observer){see, t};
    t->w->stride = 1;
    t->w->base = m->mem.live[MEM_ARRAY];
    arena_open(&t->w->arena, &m->mem, MEM_OTHER);
    m->mem.seen_high = m->mem.live[MEM_ARRAY];
    m->observer = &t->w->observer;
    return true;
}

void trace_stop(trace *t)
{
    vm *m = t->m;
    if (!t->w) return;
    m->observer = NULL;
    if (t->want & TRACE_MEMORY) sample(t, PHASE_OUTSIDE);
    if (t->want & TRACE_EVENTS) number_steps(t);
    while (t->w->n) frame_off(t->w);
    free(t->w->of);
    free(t->w->heads);
    free(t->w->paths);
    free(t->w->held);
    arena_close(&t->w->arena);
    free(t->w);
    t->w = NULL;
}

void trace_close(trace *t)
{
    trace_stop(t);
    for (uint32_t k = 0; k < t->nrows; k++) {
        value_release(t->m, t->rows[k].v);
        value_release(t->m, t->rows[k].cot);
    }
    for (uint32_t k = 0; k < t->nagain; k++) value_release(t->m, t->again[k].v);
    free(t->rows);
    free(t->again);
    free(t->lines);
    free(t->samples);
    free(t->events);
    *t = (trace){0};
}

const trace_row *trace_line_row(const trace *t, const trace_line *l)
{
    return l->phase == PHASE_REPLAY ? &t->again[l->row] : &t->rows[l->row];
}

/* By register: the one that has a name and is what a block gives it to. */
static void find_given(const code *c, const block *b, reg *given)
{
    for (uint32_t n = 0; n < b->n; n++) {
        const instr *i = b->list[n];
        for (uint32_t k = 0; k < i->nblocks; k++) {
            const instr *y = i->blocks[k]->n ? i->blocks[k]->list[i->blocks[k]->n - 1] : NULL;
            uint32_t skip = y && y->nsrc > i->ndst ? y->nsrc - i->ndst : 0;
            for (uint32_t j = skip; y && j < y->nsrc && j - skip < i->ndst; j++)
                if (given[y->src[j]] == REG_NONE && c->reg_names[i->dst[j - skip]]) given[y->src[j]] = i->dst[j - skip];
            find_given(c, i->blocks[k], given);
        }
    }
}

/* A register without a name of its own has that under which a block gives it. */
symbol trace_symbol(const code *c, reg r)
{
    if (r >= c->nregs) return 0;
    if (c->reg_names[r]) return c->reg_names[r];
    if (!c->given) {
        reg *given = arena_alloc(&((code *)c)->arena, (c->nregs + 1) * sizeof *given);
        if (!given) return 0;
        memset(given, 0xff, (c->nregs + 1) * sizeof *given);
        find_given(c, c->body, given);
        ((code *)c)->given = given;
    }
    return c->given[r] == REG_NONE ? 0 : c->reg_names[c->given[r]];
}

void trace_source(const instr *i, size_t most, text *out)
{
    const source *src = i->at.src;
    size_t from = out->n;
    for (uint32_t k = i->at.lo; src && k < i->at.hi && k < src->length; k++) {
        char c = src->text[k] == '\n' || src->text[k] == '\t' ? ' ' : src->text[k];
        if (c == ' ' && out->n > from && out->s[out->n - 1] == ' ') continue;
        if (out->n - from >= most && (c & 0xc0) != 0x80) {
            text_puts(out, "...");
            return;
        }
        text_putc(out, c);
    }
}

uint32_t trace_line_of(const trace_row *r)
{
    uint32_t line = 0, column;
    span_where(r->i->at, &line, &column);
    return line;
}
