/* reach.c: see reach.h. A list of what was met, in the order it was met, is the queue as well. */
#include "reach.h"
#include <stdlib.h>

typedef struct reached {
    code **of;
    size_t n, cap;
    code **set;
    size_t buckets; /* hash of the same */
    bool failed;
} reached;

static size_t place_of(const reached *r, const code *c)
{
    size_t k = (size_t)((uintptr_t)c >> 4) * 2654435769u & (r->buckets - 1);
    while (r->set[k] && r->set[k] != c) k = (k + 1) & (r->buckets - 1);
    return k;
}

static bool grow(reached *r)
{
    size_t cap = r->cap ? 2 * r->cap : 512;
    code **of = realloc(r->of, cap * sizeof *of);
    if (!of) return false;
    r->of = of;
    r->cap = cap;
    code **set = calloc(2 * cap, sizeof *set);
    if (!set) return false;
    free(r->set);
    r->set = set;
    r->buckets = 2 * cap;
    for (size_t k = 0; k < r->n; k++) r->set[place_of(r, r->of[k])] = r->of[k];
    return true;
}

static void meet(reached *r, code *c)
{
    code *root = c->root ? c->root : c;
    if (r->failed || (r->n == r->cap && !grow(r))) {
        r->failed = true;
        return;
    }
    size_t k = place_of(r, root);
    if (r->set[k]) return;
    r->set[k] = root;
    r->of[r->n++] = root;
}

static void meet_value(reached *r, value v, int depth)
{
    if (depth > 100) return;
    if (v.tag == V_FUNCTION) {
        meet(r, as_closure(v)->code);
        for (uint32_t k = 0; k < as_closure(v)->n; k++) meet_value(r, as_closure(v)->captures[k], depth + 1);
    } else if (v.tag == V_TUPLE)
        for (uint32_t k = 0; k < as_tuple(v)->n; k++) meet_value(r, as_tuple(v)->v[k], depth + 1);
    else if (v.tag == V_RECORD)
        for (uint32_t k = 0; k < as_record(v)->n; k++) meet_value(r, as_record(v)->v[k], depth + 1);
}

bool reach_codes(const host *h, const value *values, uint32_t n, void (*visit)(void *ctx, code *root), void *ctx)
{
    reached r = {0};
    if (h->vm->globals.tag == V_TABLE) {
        const table *t = as_table(h->vm->globals);
        for (uint32_t k = 0; k < t->cap; k++)
            if (t->keys[k]) meet_value(&r, t->v[k], 0);
    }
    for (const host_module *m = h->modules; m; m = m->next) meet(&r, m->code);
    for (uint32_t k = 0; k < n; k++) meet_value(&r, values[k], 0);
    for (size_t k = 0; k < r.n && !r.failed; k++)
        for (uint32_t j = 0; j < r.of[k]->ncodes; j++) meet(&r, r.of[k]->codes[j]);
    for (size_t k = 0; k < r.n && !r.failed; k++) visit(ctx, r.of[k]);
    free(r.of);
    free(r.set);
    return !r.failed;
}
