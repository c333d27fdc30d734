/* kern_written.c: __cot_written and __written, the two faces of what an indexed assignment does with the
 * value assigned: x[ix] = v with repeated places keeps the last write of each, so only that one has a
 * cotangent. Places repeat only among index arrays, and the plan's table lists those. */
#include "adjoint.h"
#include "index.h"
#include "prim_ids.h"
#include "kern_util.h"

/* lost[k]: a later entry of the plan's table has the same offset. By a hash of offsets, from the end. */
static bool find_lost(vm *m, const index_plan *p, bool *lost)
{
    size_t cap = 16;
    while (cap < 2 * (size_t)p->ntable) cap *= 2;
    int64_t *seen = memory_alloc(&m->mem, MEM_OTHER, cap * sizeof *seen); /* entry + 1; 0 is free */
    if (!seen) return vm_out_of_memory(m);
    memset(seen, 0, cap * sizeof *seen);
    for (int64_t k = p->ntable - 1; k >= 0; k--) {
        size_t at = (size_t)p->table[k] * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (cap - 1);
        while (seen[at] && p->table[seen[at] - 1] != p->table[k]) at = (at + 1) & (cap - 1);
        lost[k] = seen[at] != 0;
        if (!seen[at]) seen[at] = k + 1;
    }
    memory_free(&m->mem, MEM_OTHER, seen, cap * sizeof *seen);
    return true;
}

/* Zeros what belongs to lost writes in `out`, dense and of the plan's shape. */
static bool clear_lost(vm *m, const index_plan *p, dtype d, void *out)
{
    bool *lost = memory_alloc(&m->mem, MEM_OTHER, (size_t)p->ntable);
    if (!lost) return vm_out_of_memory(m);
    bool fine = find_lost(m, p, lost);
    int64_t inner = shape_size(p->rank - p->at - p->adv, p->shape + p->at + p->adv), outer = shape_size(p->at, p->shape);
    size_t row = (size_t)inner * dtype_size[d];
    for (int64_t o = 0; fine && o < outer; o++)
        for (int64_t k = 0; k < p->ntable; k++)
            if (lost[k]) memset((char *)out + (size_t)(o * p->ntable + k) * row, 0, row);
    memory_free(&m->mem, MEM_OTHER, lost, (size_t)p->ntable);
    return fine;
}

/* Does ix meet an element of an array of this shape twice? */
static bool repeats(vm *m, const shaped *x, value ix, index_plan *plan, bool *twice)
{
    if (!index_resolve(m, x, ix, plan)) return false;
    *twice = !plan->unique && plan->size > 0;
    return true;
}

/* (c, ix, f, whole): c[ix] of form f, as __cot_index, zero for writes that a later one undid. */
bool kern_cot_written(prim_call *c)
{
    value v = c->args[0];
    vm *m = c->vm;
    shaped s;
    if (v.tag != V_ARRAY) return kern_cot_index(c);
    /* Dense: under other strides (0, of a broadcast one) offsets do not tell elements apart. */
    array *from = array_dense(m, as_array(v));
    if (!from) return false;
    shaped_array(&s, from);
    index_plan plan;
    bool twice;
    if (!repeats(m, &s, c->args[1], &plan, &twice)) {
        value_release(m, value_object(&from->h));
        return false;
    }
    array *a = twice ? array_new(m, s.dtype, plan.rank, plan.shape) : NULL;
    bool fine = !twice || a;
    if (a) {
        index_gather(&plan, s.dtype, s.data, a->data);
        fine = clear_lost(m, &plan, s.dtype, a->data);
    }
    index_close(m, &plan);
    value_release(m, value_object(&from->h));
    if (fine && !twice) return kern_cot_index(c);
    value part = a ? value_object(&a->h) : value_undef();
    if (fine && c->args[2].tag == V_NONE) c->out = value_retain(part);
    else if (fine) fine = cot_reduce_to(c, part, c->args[2], &c->out);
    value_release(m, part);
    return fine;
}

/* (v, ix, f): zeros of the shallow form f with v written at ix. */
bool kern_written(prim_call *c)
{
    value v = c->args[0], ix = c->args[1], f = c->args[2];
    vm *m = c->vm;
    if (v.tag == V_ZERO || v.tag == V_UNDEF) {
        c->out = value_zero();
        return true;
    }
    bool twice = false;
    if (f.tag == V_FORMOBJ && as_form(f)->kind == V_ARRAY) {
        shaped s;
        index_plan plan;
        shaped_dense(&s, (dtype)as_form(f)->dtype, as_form(f)->rank, as_form(f)->shape);
        if (!repeats(m, &s, ix, &plan, &twice)) return false;
        index_close(m, &plan);
    }
    if (!twice) {
        value args[] = {value_zero(), v, f, ix};
        return prim_apply(m, &prims[PRIM_acc_index], args, 4, 0, &c->out);
    }
    value zeros;
    if (!form_zeros(m, f, &zeros)) return false;
    value args[] = {zeros, ix, v};
    bool fine = prim_apply(m, &prims[PRIM_setindex], args, 3, 1, &c->out);
    value_release(m, zeros);
    return fine;
}
