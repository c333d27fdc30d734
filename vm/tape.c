/* tape.c: loop tapes: one entry of values per iteration, pushed by the forward pass, read backward.
 *
 * Updates are pure in meaning and in place when the tape has one reference, so a loop's tape grows in
 * amortised constant time. A tape holds its values (residual.h) from the moment they enter it. */
#include "residual.h"
#include "vm.h"
#include "prim_ids.h"
#include <string.h>

value tape_new(vm *m, uint32_t width)
{
    tape *t = memory_alloc(&m->mem, MEM_RESIDUAL, sizeof *t);
    if (!t) {
        vm_out_of_memory(m);
        return value_undef();
    }
    t->h.refs = 1;
    t->h.kind = V_TAPE;
    t->width = width;
    return value_object(&t->h);
}

/* A tape of the first n entries with one reference and room for `cap` of them. Consumes the reference
   on success. */
static bool tape_own(vm *m, value *v, uint64_t n, uint64_t cap)
{
    tape *t = as_tape(*v);
    if (t->of) return vm_fail(m, DIAG_INTERNAL, "a view of a loop tape is changed");
    size_t entry = t->width * sizeof(value);
    if (t->h.refs == 1) {
        if (cap <= t->cap) return true;
        value *more = memory_resize(&m->mem, MEM_RESIDUAL, t->v, (size_t)t->cap * entry, (size_t)cap * entry);
        if (!more) return vm_out_of_memory(m);
        t->v = more;
        t->cap = cap;
        return true;
    }
    value fresh = tape_new(m, t->width);
    if (fresh.tag == V_UNDEF) return false;
    tape *c = as_tape(fresh);
    if (cap < n) cap = n;
    c->v = memory_alloc(&m->mem, MEM_RESIDUAL, (size_t)cap * entry);
    if (!c->v) {
        value_release(m, fresh);
        return vm_out_of_memory(m);
    }
    c->cap = cap;
    c->n = n;
    for (uint64_t i = 0; i < n * t->width; i++) {
        c->v[i] = value_retain(t->v[i]);
        value_hold(m, c->v[i]);
    }
    value_release(m, *v);
    *v = fresh;
    return true;
}

bool tape_push(vm *m, value *v, uint32_t width, value *entry)
{
    tape *t = as_tape(*v);
    if (t->width != width) return vm_fail(m, DIAG_INTERNAL, "an entry of %u values for a tape of %u", width, t->width);
    uint64_t cap = t->cap;
    if (t->n == cap || t->h.refs > 1) cap = t->n + t->n / 2 + 4;
    if (!tape_own(m, v, t->n, cap)) return false;
    t = as_tape(*v);
    value *to = t->v + t->n * width;
    for (uint32_t i = 0; i < width; i++) {
        value_hold(m, entry[i]);
        to[i] = entry[i];
    }
    t->n++;
    return true;
}

bool tape_pop(vm *m, value *v, uint32_t width, value *entry)
{
    if (v->tag == V_ZERO) {
        for (uint32_t i = 0; i < width; i++) entry[i] = value_zero();
        return true;
    }
    tape *t = as_tape(*v);
    if (t->of) return vm_fail(m, DIAG_INTERNAL, "an entry taken from a view of a loop tape");
    if (t->width != width) return vm_fail(m, DIAG_INTERNAL, "an entry of %u values from a tape of %u", width, t->width);
    if (t->n == 0) { /* nothing was ever pushed here: see tape_pad */
        for (uint32_t i = 0; i < width; i++) entry[i] = value_zero();
        return true;
    }
    if (t->h.refs > 1) {
        const value *from = t->v + (t->n - 1) * width;
        for (uint32_t i = 0; i < width; i++) entry[i] = value_retain(from[i]);
        if (tape_own(m, v, t->n - 1, t->n - 1)) return true;
        for (uint32_t i = 0; i < width; i++) value_release(m, entry[i]);
        return false;
    }
    const value *from = t->v + --t->n * width;
    for (uint32_t i = 0; i < width; i++) {
        value_unhold(m, from[i]);
        entry[i] = from[i];
    }
    return true;
}

bool tape_pad(vm *m, value *v, uint64_t n)
{
    tape *t = as_tape(*v);
    if (t->n >= n) return true;
    uint64_t had = t->n, more = n - had;
    if (!tape_own(m, v, had, n)) return false;
    t = as_tape(*v);
    memmove(t->v + more * t->width, t->v, (size_t)had * t->width * sizeof(value));
    for (uint64_t i = 0; i < more * t->width; i++) t->v[i] = value_zero();
    t->n = n;
    return true;
}

bool tape_acc(vm *m, value a, value b, value *out)
{
    if (a.tag == V_ZERO || b.tag == V_ZERO) {
        *out = value_retain(a.tag == V_ZERO ? b : a);
        return true;
    }
    tape *p = as_tape(a), *q = as_tape(b);
    if (p->width != q->width) return vm_fail(m, DIAG_INTERNAL, "tapes of different widths are added");
    if (p->n != q->n) { /* the shorter one has symbolic zeros below */
        uint64_t n = p->n > q->n ? p->n : q->n;
        value l = value_retain(a), r = value_retain(b);
        bool fine = tape_pad(m, &l, n) && tape_pad(m, &r, n) && tape_acc(m, l, r, out);
        value_release(m, l);
        value_release(m, r);
        return fine;
    }
    value sum = tape_new(m, p->width);
    if (sum.tag == V_UNDEF || !tape_own(m, &sum, 0, p->n ? p->n : 1)) {
        value_release(m, sum);
        return false;
    }
    const prim *acc = &prims[PRIM_acc];
    tape *s = as_tape(sum);
    for (s->n = 0; s->n < p->n; s->n++)
        for (uint32_t i = 0; i < p->width; i++) {
            uint64_t k = s->n * p->width + i;
            value pair[2] = {p->v[k], q->v[k]};
            if (vm_interrupted(m) || !prim_apply(m, acc, pair, 2, 0, &s->v[k])) {
                for (uint32_t j = 0; j < i; j++) { /* the entry that is not counted yet */
                    value_unhold(m, s->v[k - i + j]);
                    value_release(m, s->v[k - i + j]);
                }
                value_release(m, sum);
                return false;
            }
            value_hold(m, s->v[k]);
        }
    *out = sum;
    return true;
}
