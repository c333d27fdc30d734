/* residual.c: replayable residuals, and who holds what.
 *
 * In go the Code of a region and what entered it; out comes the object that FORCE runs again. Holds:
 * an object's `holds` counts the residuals, pullbacks and tapes that have it among their own values; a
 * structure passes its first hold on to its parts and takes its last one back, by a work list, never by
 * recursion. A residual, a pullback or a tape that is itself held passes nothing on: it holds its
 * values already. */
#include "residual.h"
#include "looptape.h"
#include "spill.h"
#include "vm.h"
#include "worth.h"
#include <string.h>

/* --- holds ---------------------------------------------------------------------------------- */

typedef struct work {
    object *small[64], **of;
    uint32_t n, cap;
} work;

/* When there is no memory for the list the part's own parts are left out of the count: a figure of
   --stats is then too low, which letting go tolerates. */
static void work_add(vm *m, work *k, object *o)
{
    if (k->n == k->cap) {
        uint32_t cap = k->cap * 2;
        object **of = memory_alloc(&m->mem, MEM_OTHER, cap * sizeof *of);
        if (!of) return;
        memcpy(of, k->of, k->n * sizeof *of);
        if (k->of != k->small) memory_free(&m->mem, MEM_OTHER, k->of, k->cap * sizeof *of);
        k->of = of;
        k->cap = cap;
    }
    k->of[k->n++] = o;
}

static void work_close(vm *m, work *k)
{
    if (k->of != k->small) memory_free(&m->mem, MEM_OTHER, k->of, k->cap * sizeof *k->of);
}

static void buffer_hold(vm *m, buffer *b)
{
    if (b->holds++ || b->birth < m->gradient_birth) return;
    b->counted = true;
    m->stats.saved += b->bytes;
    if (m->stats.saved > m->stats.saved_peak) m->stats.saved_peak = m->stats.saved;
    if (m->stats.saved > m->stats.saved_high) m->stats.saved_high = m->stats.saved;
}

static void buffer_unhold(vm *m, buffer *b)
{
    if (!b->holds || --b->holds || !b->counted) return;
    b->counted = false;
    m->stats.saved -= b->bytes;
}

/* Parts of a structure that holds nothing by itself. */
static uint32_t parts_of(const object *o, const value **of)
{
    switch (o->kind) {
    case V_TUPLE: *of = ((const tuple *)o)->v; return ((const tuple *)o)->n;
    case V_RECORD: *of = ((const record *)o)->v; return ((const record *)o)->n;
    case V_FUNCTION:
        if (((const closure *)o)->residual) return 0;
        *of = ((const closure *)o)->captures;
        return ((const closure *)o)->n;
    default: return 0;
    }
}

static void hold_one(vm *m, work *k, value v)
{
    if (!value_is_heap(v)) return;
    object *o = v.u.o;
    if (o->holds++) return;
    if (o->kind == V_ARRAY) buffer_hold(m, ((array *)o)->buf);
    else if (o->kind == V_TUPLE || o->kind == V_RECORD || o->kind == V_FUNCTION) work_add(m, k, o);
}

static void unhold_one(vm *m, work *k, value v)
{
    if (!value_is_heap(v)) return;
    object *o = v.u.o;
    if (!o->holds || --o->holds) return;
    if (o->kind == V_ARRAY) buffer_unhold(m, ((array *)o)->buf);
    else if (o->kind == V_TUPLE || o->kind == V_RECORD || o->kind == V_FUNCTION) work_add(m, k, o);
}

static void spread_out(vm *m, value v, void (*one)(vm *, work *, value))
{
    if (!value_is_heap(v)) return;
    work k = {.cap = 64};
    k.of = k.small;
    one(m, &k, v);
    while (k.n) {
        const value *of = NULL;
        uint32_t n = parts_of(k.of[--k.n], &of);
        for (uint32_t i = 0; i < n; i++) one(m, &k, of[i]);
    }
    work_close(m, &k);
}

void value_hold(vm *m, value v) { spread_out(m, v, hold_one); }
void value_unhold(vm *m, value v) { spread_out(m, v, unhold_one); }

/* --- replayable residuals --------------------------------------------------------------------- */

static size_t residual_bytes(uint32_t n) { return sizeof(residual) + (size_t)n * sizeof(value); }

residual *residual_new(vm *m, code *region, uint32_t n)
{
    residual *p = memory_alloc(&m->mem, MEM_RESIDUAL, residual_bytes(n));
    if (!p) {
        vm_out_of_memory(m);
        return NULL;
    }
    p->h.refs = 1;
    p->h.kind = V_RESIDUAL;
    p->region = code_retain(region);
    p->n = n;
    if (region->noptions) p->options = &region->options[0];
    p->random = m->random;
    p->globals = value_retain(m->globals);
    return p;
}

residual *residual_derived(vm *m, const residual *p, code *region)
{
    residual *q = residual_new(m, region, p->n);
    if (!q) return NULL;
    q->options = p->options; /* of p's region: both Codes are of one group */
    q->random = p->random;
    value_release(m, q->globals);
    q->globals = value_retain(p->globals);
    for (uint32_t i = 0; i < p->n; i++) {
        q->entered[i] = value_retain(p->entered[i]);
        value_hold(m, q->entered[i]);
    }
    if (keep_list_copy(m, &q->keep, &p->keep)) return q;
    value_release(m, value_object(&q->h));
    return NULL;
}

static void let_go(vm *m, value v)
{
    value_unhold(m, v);
    value_release(m, v);
}

void residual_dispose(vm *m, object *o)
{
    memory *mem = &m->mem;
    if (o->kind == V_TAPE) {
        tape *t = (tape *)o;
        if (t->of) value_release(m, value_object(&t->of->h));
        for (uint64_t i = 0; !t->of && i < t->n * t->width; i++) let_go(m, t->v[i]);
        memory_free(mem, MEM_RESIDUAL, t->v, (size_t)(t->cap * t->width) * sizeof(value));
        memory_free(mem, MEM_RESIDUAL, t, sizeof *t);
        return;
    }
    residual *p = (residual *)o;
    worth_gone(m, p);
    for (uint32_t i = 0; i < p->n; i++) let_go(m, p->entered[i]);
    for (uint32_t i = 0; i < p->keep.n; i++) {
        let_go(m, p->keep.of[i].v);
        spill_release(m, p->keep.of[i].disk);
    }
    memory_free(mem, MEM_RESIDUAL, p->keep.of, p->keep.cap * sizeof *p->keep.of);
    memory_free(mem, MEM_RESIDUAL, p->keep.slots, p->keep.nslots * sizeof *p->keep.slots);
    value_release(m, p->globals);
    code_release(p->region);
    if (p->owner) code_release(p->owner);
    memory_free(mem, MEM_RESIDUAL, p, residual_bytes(p->n));
}

/* --- what is held, for saved(f, …) ------------------------------------------------------------ */

typedef struct tally {
    uint64_t values, bytes;
    buffer **seen;
    uint32_t nseen, cap;
    bool failed;
} tally;

/* Each buffer counts once; seen is a hash of pointers, a power of two long. */
static bool first_time(vm *m, tally *k, buffer *b)
{
    if (2 * (k->nseen + 1) > k->cap) {
        uint32_t cap = k->cap ? k->cap * 2 : 64;
        buffer **seen = memory_alloc(&m->mem, MEM_OTHER, cap * sizeof *seen);
        if (!seen) {
            k->failed = true;
            return false;
        }
        for (uint32_t i = 0; i < k->cap; i++) {
            if (!k->seen[i]) continue;
            uint32_t s = (uint32_t)((uintptr_t)k->seen[i] >> 4) * 2654435769u & (cap - 1);
            while (seen[s]) s = (s + 1) & (cap - 1);
            seen[s] = k->seen[i];
        }
        memory_free(&m->mem, MEM_OTHER, k->seen, k->cap * sizeof *seen);
        k->seen = seen;
        k->cap = cap;
    }
    uint32_t s = (uint32_t)((uintptr_t)b >> 4) * 2654435769u & (k->cap - 1);
    for (; k->seen[s]; s = (s + 1) & (k->cap - 1))
        if (k->seen[s] == b) return false;
    k->seen[s] = b;
    k->nseen++;
    return true;
}

static void tally_values(vm *m, tally *k, work *todo, const value *v, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (!value_is_heap(v[i])) continue;
        if (v[i].tag != V_ARRAY) {
            work_add(m, todo, v[i].u.o);
            continue;
        }
        buffer *b = as_array(v[i])->buf;
        if (!first_time(m, k, b)) continue;
        k->values++;
        k->bytes += b->bytes;
    }
}

static void tally_object(vm *m, tally *k, work *todo, const object *o)
{
    const value *of = NULL;
    switch (o->kind) {
    case V_RESIDUAL: {
        const residual *p = (const residual *)o;
        tally_values(m, k, todo, p->entered, p->n);
        for (uint32_t i = 0; i < p->keep.n; i++) tally_values(m, k, todo, &p->keep.of[i].v, 1);
        break;
    }
    case V_TAPE:
        if (((const tape *)o)->of) {
            const value *v;
            for (uint64_t i = 0; (v = looptape_value(((const tape *)o)->of, &i));) tally_values(m, k, todo, v, 1);
            break;
        }
        tally_values(m, k, todo, ((const tape *)o)->v, ((const tape *)o)->n * ((const tape *)o)->width);
        break;
    case V_FUNCTION: tally_values(m, k, todo, ((const closure *)o)->captures, ((const closure *)o)->n); break;
    default: {
        uint32_t n = parts_of(o, &of);
        tally_values(m, k, todo, of, n);
    }
    }
}

static bool report_put(vm *m, value *r, const char *name, uint64_t x)
{
    symbol y = symbol_of(m->symbols, name, strlen(name));
    if (!y) return vm_out_of_memory(m);
    return record_set(m, r, y, value_i64((int64_t)x));
}

bool residual_report(vm *m, value v, value without, value *out)
{
    tally k = {0};
    work todo = {.cap = 64};
    todo.of = todo.small;
    /* What is counted first is seen already when its turn comes. */
    tally_values(m, &k, &todo, &without, 1);
    while (todo.n) tally_object(m, &k, &todo, todo.of[--todo.n]);
    k.values = k.bytes = 0;
    tally_values(m, &k, &todo, &v, 1);
    while (todo.n) tally_object(m, &k, &todo, todo.of[--todo.n]);
    work_close(m, &todo);
    memory_free(&m->mem, MEM_OTHER, k.seen, k.cap * sizeof *k.seen);
    if (k.failed) return vm_out_of_memory(m);
    record *r = record_new(m, 0, 2);
    if (!r) return false;
    *out = value_object(&r->h);
    if (report_put(m, out, "values", k.values) && report_put(m, out, "bytes", k.bytes)) return true;
    value_release(m, *out);
    return false;
}
