/* keep.c: what a block keeps of its first run, and how its replay gets it back.
 *
 * In goes every result of a keepable primitive while contexts are active (residual.h); a recorder
 * appends what its policy wants to its residual, a reader hands it out again under the instruction's
 * origin, for the same arguments. What must hold, for what was read from the world alone: the n-th time
 * an origin is looked up while a residual is forced is the n-th time it ran under that residual; so a
 * value supplied by a reader is offered only to contexts further in, whose own first run this is.
 *
 * Arguments are told apart by a digest (digest.h). */
#include "residual.h"
#include "vm.h"
#include "array.h"
#include "digest.h"
#include "spill.h"
#include <string.h>

void keep_open(vm *m) { m->keep = memory_alloc(&m->mem, MEM_OTHER, sizeof *m->keep); }

void keep_close(vm *m)
{
    keep *k = m->keep;
    if (!k) return;
    keep_leave_to(m, 0);
    memory_free(&m->mem, MEM_OTHER, k->of, k->cap * sizeof *k->of);
    memory_free(&m->mem, MEM_OTHER, k->noted, k->nnoted);
    memory_free(&m->mem, MEM_OTHER, k, sizeof *k);
    m->keep = NULL;
}

/* --- the list ------------------------------------------------------------------------------- */

static uint32_t slot_index(const keep_list *l, uint32_t origin)
{
    uint32_t s = origin * 2654435769u & (l->nslots - 1);
    while (l->slots[s].first != UINT32_MAX && l->slots[s].origin != origin) s = (s + 1) & (l->nslots - 1);
    return s;
}

static bool slots_grow(vm *m, keep_list *l)
{
    uint32_t n = l->nslots ? l->nslots * 2 : 8;
    struct keep_slot *slots = memory_alloc(&m->mem, MEM_RESIDUAL, n * sizeof *slots);
    if (!slots) return vm_out_of_memory(m);
    keep_list old = *l;
    l->slots = slots;
    l->nslots = n;
    for (uint32_t i = 0; i < n; i++) slots[i].first = UINT32_MAX;
    for (uint32_t i = 0; i < old.nslots; i++)
        if (old.slots[i].first != UINT32_MAX) slots[slot_index(l, old.slots[i].origin)] = old.slots[i];
    memory_free(&m->mem, MEM_RESIDUAL, old.slots, old.nslots * sizeof *slots);
    return true;
}

bool keep_list_add(vm *m, keep_list *l, uint32_t origin, uint64_t key, value v)
{
    if (l->n == l->cap) {
        uint32_t cap = l->cap ? l->cap * 2 : 4;
        kept *of = memory_resize(&m->mem, MEM_RESIDUAL, l->of, l->cap * sizeof *of, cap * sizeof *of);
        if (!of) return vm_out_of_memory(m);
        l->of = of;
        l->cap = cap;
    }
    if (2 * (l->used + 1) > l->nslots && !slots_grow(m, l)) return false;
    struct keep_slot *s = &l->slots[slot_index(l, origin)];
    if (s->first == UINT32_MAX) {
        *s = (struct keep_slot){origin, l->n, l->n};
        l->used++;
    } else {
        l->of[s->newest].next = l->n;
        s->newest = l->n;
    }
    l->of[l->n++] = (kept){origin, UINT32_MAX, key, value_retain(v), NULL};
    value_hold(m, v);
    return true;
}

bool keep_list_copy(vm *m, keep_list *l, const keep_list *from)
{
    for (uint32_t i = 0; i < from->n; i++) {
        const kept *k = &from->of[i];
        if (!keep_list_add(m, l, k->origin, k->key, k->v)) return false;
        if (k->disk) l->of[l->n - 1].disk = spill_retain(k->disk);
    }
    return true;
}

/* --- contexts ------------------------------------------------------------------------------- */

static keep_context *context_push(vm *m, residual *r, bool reading)
{
    keep *k = m->keep;
    if (k->n == k->cap) {
        uint32_t cap = k->cap ? k->cap * 2 : 8;
        keep_context *of = memory_resize(&m->mem, MEM_OTHER, k->of, k->cap * sizeof *of, cap * sizeof *of);
        if (!of) {
            vm_out_of_memory(m);
            return NULL;
        }
        k->of = of;
        k->cap = cap;
    }
    keep_context *c = &k->of[k->n++];
    *c = (keep_context){.r = r, .reading = reading};
    return c;
}

bool keep_record(vm *m, residual *r) { return context_push(m, r, false) != NULL; }

bool keep_read(vm *m, residual *r)
{
    keep_context *c = context_push(m, r, true);
    if (!c) return false;
    uint32_t n = r->keep.nslots;
    c->cursors = memory_alloc(&m->mem, MEM_OTHER, n * sizeof *c->cursors);
    if (!c->cursors) {
        m->keep->n--;
        return vm_out_of_memory(m);
    }
    c->ncursors = n;
    for (uint32_t i = 0; i < n; i++) c->cursors[i] = r->keep.slots[i].first;
    return true;
}

static void context_pop(vm *m)
{
    keep_context *c = &m->keep->of[--m->keep->n];
    memory_free(&m->mem, MEM_OTHER, c->cursors, c->ncursors * sizeof *c->cursors);
}

/* Once in a program for each block: names that its policy lists and that it never gave. A replay does without what
   its results have no need of, so a block that runs within one has its say elsewhere. */
static void note_names(vm *m, const keep_context *c)
{
    const block_options *o = c->r->options;
    keep *k = m->keep;
    if (!o || o->policy != KEEP_NAMES || o->block >= m->stats.nblocks || m->mute) return;
    if (o->block >= k->nnoted) {
        uint32_t n = m->stats.nblocks;
        uint8_t *noted = memory_resize(&m->mem, MEM_OTHER, k->noted, k->nnoted, n);
        if (!noted) return; /* a note is not worth a failure */
        memset(noted + k->nnoted, 0, n - k->nnoted);
        k->noted = noted;
        k->nnoted = n;
    }
    if (k->noted[o->block]) return;
    k->noted[o->block] = 1;
    for (uint32_t i = 0; i < o->nnames && i < 64; i++)
        if (!(c->given >> i & 1))
            vm_report(m, SEVERITY_NOTE, DIAG_CHECKPOINT, m->stats.blocks[o->block].at,
                      "the block saves \"%s\", and nothing in it has that name", as_string(o->names[i])->s);
}

void keep_leave(vm *m)
{
    if (!m->keep->n) return;
    const keep_context *c = &m->keep->of[m->keep->n - 1];
    if (!c->reading) note_names(m, c);
    context_pop(m);
}

void keep_swap(vm *m, residual *r) { m->keep->of[m->keep->n - 1].r = r; }

void keep_leave_to(vm *m, uint32_t n)
{
    while (m->keep->n > n) context_pop(m);
}

/* --- values --------------------------------------------------------------------------------- */

/* A value on disk; one that cannot be read is computed again, for contexts further in to keep. */
static bool read_kept(vm *m, kept *v, bool last, value *out)
{
    bool fine = spill_read(m, v->disk, &v->v, out, 1);
    if (!fine && m->error) { /* if there is no memory, the primitive that makes it will say so */
        diag_free(m->error);
        m->error = NULL;
    }
    if (!last) return fine;
    spill_release(m, v->disk);
    value_unhold(m, v->v);
    value_release(m, v->v);
    v->v = value_undef();
    v->disk = NULL;
    return fine;
}

static bool dot_without_batch(const value *args, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (args[i].tag == V_ARRAY && as_array(args[i])->rank > 2) return false;
    return true;
}

/* Which of the policy's names v is, or -1. */
static int64_t name_among(const block_options *o, value v)
{
    if (v.tag != V_STRING) return -1;
    const string *s = as_string(v);
    for (uint32_t i = 0; i < o->nnames; i++) {
        const string *t = as_string(o->names[i]);
        if (t->length == s->length && !memcmp(t->s, s->s, s->length)) return i;
    }
    return -1;
}

static bool wants(keep_context *c, const prim *p, const value *args, uint32_t n)
{
    if (p->attrs & A_INPUT) return true;
    const block_options *o = c->r->options;
    if (!o) return false;
    switch (o->policy) {
    case KEEP_DOTS: return p->attrs & A_DOT;
    case KEEP_DOTS_NO_BATCH: return p->attrs & A_DOT && dot_without_batch(args, n);
    case KEEP_NAMES:
    case KEEP_NOT_NAMES: {
        if (!(p->attrs & A_NAMED) || n == 0) return false;
        int64_t at = name_among(o, args[0]);
        if (at >= 0 && at < 64) c->given |= (uint64_t)1 << at;
        return (at >= 0) == (o->policy == KEEP_NAMES);
    }
    default: return false;
    }
}

/* The arguments' digest; what is read from the world has none, and 0 here. False: it is not to be kept. */
static bool key_of(const vm *m, const prim *p, const value *args, uint32_t n, uint64_t *key)
{
    *key = 0;
    return p->attrs & A_INPUT || digest_of(m, args, n, key);
}

static bool is_there(const kept *k, uint64_t key) { return k->key == key && (k->disk || k->v.tag != V_UNDEF); }

/* The value kept under an origin with this key: from the cursor on, then from the first. What was given away is not
   there any more. UINT32_MAX: none. */
static uint32_t find_kept(const keep_list *l, uint32_t first, uint32_t cursor, uint64_t key)
{
    for (uint32_t i = cursor; i != UINT32_MAX; i = l->of[i].next)
        if (is_there(&l->of[i], key)) return i;
    for (uint32_t i = first; i != cursor; i = l->of[i].next)
        if (is_there(&l->of[i], key)) return i;
    return UINT32_MAX;
}

bool keep_lookup(vm *m, const prim *p, uint32_t origin, const value *args, uint32_t nargs, value *out)
{
    keep *k = m->keep;
    uint64_t key;
    bool has_key = false;
    for (uint32_t i = k->n; i-- > 0;) {
        keep_context *c = &k->of[i];
        if (!c->reading || !wants(c, p, args, nargs)) continue;
        keep_list *l = &c->r->keep;
        uint32_t s = slot_index(l, origin);
        if (l->slots[s].first == UINT32_MAX) continue;
        if (!has_key && !key_of(m, p, args, nargs, &key)) break;
        has_key = true;
        uint32_t at = p->attrs & A_INPUT ? c->cursors[s] : find_kept(l, l->slots[s].first, c->cursors[s], key);
        if (at == UINT32_MAX) continue;
        kept *v = &l->of[at];
        c->cursors[s] = v->next;
        if (v->disk) {
            k->from = i + 1;
            return read_kept(m, v, c->r->h.refs == 1, out);
        }
        if (c->r->h.refs == 1) { /* only this replay is left to want it */
            value_unhold(m, v->v);
            *out = v->v;
            v->v = value_undef();
        } else *out = value_retain(v->v);
        k->from = i + 1;
        return true;
    }
    k->from = 0;
    return false;
}

bool keep_offer(vm *m, const prim *p, uint32_t origin, const value *args, uint32_t nargs, value result)
{
    keep *k = m->keep;
    uint64_t key;
    bool has_key = false;
    for (uint32_t i = k->from; i < k->n; i++) {
        keep_context *c = &k->of[i];
        if (c->reading || !wants(c, p, args, nargs)) continue;
        if (!has_key && !key_of(m, p, args, nargs, &key)) return true;
        has_key = true;
        if (!keep_list_add(m, &c->r->keep, origin, key, result)) return false;
        kept *v = &c->r->keep.of[c->r->keep.n - 1];
        /* What was read from the world cannot be had again from elsewhere. */
        if (c->r->options && c->r->options->spill && !(p->attrs & A_INPUT)) v->disk = spill_write(m, &v->v, 1);
    }
    return true;
}
