/* kern_random.c: rand, randn, randint, permutation, choice, seed: Philox draws as arrays.
 *
 * Each kernel takes what it needs from the VM's random state in one go, so a replay that starts from
 * the same state gets the same numbers, and a failure before the draw leaves the state alone. */
#include "kern.h"
#include "kern_util.h"
#include "random.h"
#include <stdlib.h>
#include <sleef.h>

static bool floats(prim_call *c, void (*draw)(vm *m, dtype d, int64_t n, void *out))
{
    int rank;
    int64_t shape[RANK_MAX];
    result r;
    if (!arg_shape(c, 0, false, &rank, shape) || !result_open(c, &r, c->vm->config.float_dtype, rank, shape)) return false;
    draw(c->vm, r.dtype, r.size, r.data);
    return result_give(c, &r);
}
bool kern_rand(prim_call *c) { return floats(c, random_uniform); }
bool kern_randn(prim_call *c) { return floats(c, random_normal); }

bool kern_randint(prim_call *c)
{
    int64_t low, high, shape[RANK_MAX];
    int rank;
    result r;
    if (!arg_int(c, 0, &low)) return false;
    bool one = c->args[1].tag == V_NONE;
    if (one) high = low, low = 0;
    else if (!arg_int(c, 1, &high)) return false;
    if (low >= high)
        return prim_fail(c, one ? 0 : 1, DIAG_VALUE,
                         one ? "low, here the end of what begins at 0, must be more than %lld, and is %lld"
                             : "high must be more than low, %lld, and is %lld",
                         (long long)low, (long long)high);
    if (!arg_shape(c, 2, false, &rank, shape) || !result_open(c, &r, DTYPE_I64, rank, shape)) return false;
    uint64_t range = (uint64_t)high - (uint64_t)low;
    int64_t *x = r.data;
    random_words(c->vm, r.size, r.data);
    for (int64_t i = 0; i < r.size && !odometer_stops(c->vm, 1, &i); i++)
        x[i] = (int64_t)((uint64_t)low + random_below((uint64_t)x[i], range));
    return result_give(c, &r);
}

/* x[0..n) = 0..n with its first `take` places shuffled (Fisher and Yates); bits: `take` words. */
static void shuffle(int64_t n, int64_t take, int64_t *x, const uint64_t *bits)
{
    for (int64_t i = 0; i < n; i++) x[i] = i;
    for (int64_t i = 0; i < take; i++) {
        int64_t j = i + (int64_t)random_below(bits[i], (uint64_t)(n - i)), t = x[i];
        x[i] = x[j], x[j] = t;
    }
}

/* Scratch that counts as an array. */
static void *scratch(prim_call *c, int64_t n)
{
    if (n > ELEMENTS_MOST) {
        prim_fail(c, 0, DIAG_VALUE, "%lld places are too many", (long long)n);
        return NULL;
    }
    void *p = memory_array_alloc(&c->vm->mem, (size_t)n * 8);
    if (!p) vm_out_of_memory(c->vm);
    return p;
}
static void unscratch(prim_call *c, void *p, int64_t n)
{
    if (p) memory_array_free(&c->vm->mem, p, (size_t)n * 8);
}

bool kern_permutation(prim_call *c)
{
    if (c->args[0].tag == V_ARRAY || c->args[0].tag == V_TUPLE) {
        prim_fail(c, 0, DIAG_TYPE, "n is a whole number: how many places to permute");
        vm_help(c->vm, "to shuffle x, write x[permutation(len(x))]");
        return false;
    }
    int64_t n;
    result r;
    if (!arg_int(c, 0, &n)) return false;
    if (n < 0) return prim_fail(c, 0, DIAG_VALUE, "n must not be negative, and is %lld", (long long)n);
    uint64_t *bits = scratch(c, n);
    if (!bits) return false;
    bool ok = result_open(c, &r, DTYPE_I64, 1, &n);
    if (ok) {
        random_words(c->vm, n, bits);
        shuffle(n, n, r.data, bits);
    }
    unscratch(c, bits, n);
    return ok && result_give(c, &r);
}

/* --- choice ------------------------------------------------------------------------------------------- */

/* Weights as doubles: one for each of n places, none negative, some positive. */
static bool weights(prim_call *c, int64_t n, double *p, int64_t *positive)
{
    shaped s;
    if (!arg_shaped(c, 3, &s)) return false;
    if (s.rank != 1 || s.size != n)
        return prim_fail(c, 3, DIAG_SHAPE, "p must be a vector of %lld weights, one for each place", (long long)n);
    copy_converted(c->vm, &s, DTYPE_F64, p);
    *positive = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(p[i] >= 0) || isinf(p[i]))
            return prim_fail(c, 3, DIAG_VALUE, "p[%lld] is not a weight: it must be finite and not negative", (long long)i);
        *positive += p[i] > 0;
    }
    return *positive > 0 || prim_fail(c, 3, DIAG_VALUE, "all weights are zero");
}

/* Each pick independent: the first place whose running sum passes u times the total. */
static void pick_weighted(int64_t n, double *p, int64_t count, const uint64_t *bits, int64_t *x)
{
    int64_t last = 0;
    for (int64_t i = 0; i < n; i++)
        if (p[i] > 0) last = i;
    for (int64_t i = 1; i < n; i++) p[i] += p[i - 1];
    for (int64_t i = 0; i < count; i++) {
        double at = (double)(bits[i] >> 11) * 0x1p-53 * p[n - 1];
        int64_t lo = 0, hi = last; /* rounding may put `at` at the total: the last positive place then */
        while (lo < hi) {
            int64_t mid = lo + (hi - lo) / 2;
            if (p[mid] > at) hi = mid;
            else lo = mid + 1;
        }
        x[i] = lo;
    }
}

typedef struct ticket {
    double key;
    int64_t place;
} ticket;
static int by_key(const void *a, const void *b)
{
    const ticket *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key ? 1 : (x->place > y->place) - (x->place < y->place);
}
/* Without replacement: the places with the smallest exponential waiting times -log(u) / p (Efraimidis
   and Spirakis, 2006). bits: n words. */
static bool pick_distinct(prim_call *c, int64_t n, const double *p, int64_t count, const uint64_t *bits, int64_t *x)
{
    ticket *t = scratch(c, 2 * n);
    if (!t) return false;
    for (int64_t i = 0; i < n; i++) {
        double u = (double)((bits[i] >> 11) + 1) * 0x1p-53;
        t[i] = (ticket){p[i] > 0 ? -Sleef_cinz_logd1_u10purec(u) / p[i] : INFINITY, i};
    }
    qsort(t, (size_t)n, sizeof *t, by_key);
    for (int64_t i = 0; i < count; i++) x[i] = t[i].place;
    unscratch(c, t, 2 * n);
    return true;
}

/* count places of 0..n into x. */
static bool pick(prim_call *c, int64_t n, int64_t count, bool replace, int64_t *x)
{
    bool weighted = c->args[3].tag != V_NONE;
    int64_t words = !replace && weighted ? n : count, positive = n;
    double *p = NULL;
    int64_t *all = NULL;
    uint64_t *bits = scratch(c, words);
    bool ok = bits && (!weighted || ((p = scratch(c, n)) && weights(c, n, p, &positive)));
    if (ok && !replace && count > positive)
        ok = prim_fail(c, 1, DIAG_VALUE, "%lld distinct picks from %lld place%s; give replace = true, or pick fewer", (long long)count,
                       (long long)positive,
                       weighted        ? "s of positive weight"
                       : positive == 1 ? ""
                                       : "s");
    if (ok && !replace && !weighted) ok = (all = scratch(c, n)) != NULL;
    if (ok) {
        random_words(c->vm, words, bits);
        if (all) {
            shuffle(n, count, all, bits);
            memcpy(x, all, (size_t)count * sizeof *x);
        } else if (!weighted)
            for (int64_t i = 0; i < count; i++) x[i] = (int64_t)random_below(bits[i], (uint64_t)n);
        else if (replace) pick_weighted(n, p, count, bits, x);
        else ok = pick_distinct(c, n, p, count, bits, x);
    }
    unscratch(c, bits, words), unscratch(c, p, n), unscratch(c, all, n);
    return ok;
}

static bool holds_floats(value v, int depth)
{
    if (value_is_float(v)) return !v.weak;
    if (v.tag == V_ARRAY) return as_array(v)->dtype >= DTYPE_F32;
    if (v.tag == V_TUPLE && depth < 8) {
        for (uint32_t i = 0; i < as_tuple(v)->n; i++)
            if (holds_floats(as_tuple(v)->v[i], depth + 1)) return true;
        return false;
    }
    return v.tag == V_TUPLE || v.tag == V_RECORD;
}

bool kern_choice(prim_call *c)
{
    value a = c->args[0];
    bool replace, vector = a.tag == V_ARRAY && as_array(a)->rank == 1;
    int64_t n, shape[RANK_MAX];
    int rank = 0;
    if (!arg_bool(c, 2, &replace)) return false;
    if (a.tag == V_ARRAY || a.tag == V_TUPLE) {
        if (holds_floats(a, 0) || (a.tag == V_ARRAY && !vector)) {
            prim_fail(c, 0, DIAG_TYPE, "a must be a number of places, or whole numbers, bools or a tuple to pick from");
            vm_help(c->vm, "pick places instead: x[choice(len(x), …)]");
            return false;
        }
        n = vector ? as_array(a)->size : as_tuple(a)->n;
    } else if (!arg_int(c, 0, &n)) return false;
    if (c->args[1].tag != V_NONE && !arg_wholes(c, 1, RANK_MAX, &rank, shape)) return false;
    for (int i = 0; i < rank; i++)
        if (shape[i] < 0) return prim_fail(c, 1, DIAG_VALUE, "shape must not be negative, and holds %lld", (long long)shape[i]);
    result r;
    if (!result_open(c, &r, DTYPE_I64, rank, shape)) return false;
    if (n <= 0 && r.size > 0) return result_drop(c, &r) || prim_fail(c, 0, DIAG_VALUE, "a leaves nothing to pick from");
    if (!pick(c, n, r.size, replace, r.data)) return result_drop(c, &r);
    const int64_t *place = r.data;
    if (a.tag == V_TUPLE) { /* a tuple of picks, or the one picked */
        if (rank > 1) return result_drop(c, &r) || prim_fail(c, 1, DIAG_SHAPE, "picks from a tuple are a tuple: one axis at most");
        if (rank == 0) {
            c->out = value_retain(as_tuple(a)->v[place[0]]);
            return true;
        }
        if (r.size > UINT32_MAX) return result_drop(c, &r) || prim_fail(c, 1, DIAG_SHAPE, "more picks than a tuple holds");
        tuple *t = tuple_new(c->vm, (uint32_t)r.size, (uint32_t)r.size);
        for (int64_t i = 0; t && i < r.size; i++) t->v[i] = value_retain(as_tuple(a)->v[place[i]]);
        result_drop(c, &r);
        if (t) c->out = value_object(&t->h);
        return t != NULL;
    }
    if (!vector) return result_give(c, &r);
    result picks;
    const array *from = as_array(a);
    if (!result_open(c, &picks, (dtype)from->dtype, rank, shape)) return result_drop(c, &r);
    for (int64_t i = 0; i < r.size; i++)
        memcpy(element(picks.dtype, picks.data, i), element(picks.dtype, from->data, place[i] * array_stride(from)[0]),
               dtype_size[picks.dtype]);
    result_drop(c, &r);
    return result_give(c, &picks);
}

bool kern_seed(prim_call *c)
{
    random_state *s = &c->vm->random, to = *s;
    value v = c->args[0];
    if (v.tag == V_ARRAY) {
        const array *a = as_array(v);
        if (a->dtype != DTYPE_I64 || a->rank != 1 || a->size != 2)
            return prim_fail(c, 0, DIAG_TYPE, "s must be a whole number, or a state that seed() gave (an i64 pair)");
        to.key = (uint64_t)array_at(a, 0).u.i, to.counter = (uint64_t)array_at(a, array_stride(a)[0]).u.i;
    } else if (v.tag != V_NONE) {
        int64_t key;
        if (!arg_int(c, 0, &key)) return false;
        to = (random_state){(uint64_t)key, 0};
    }
    array *before = array_new(c->vm, DTYPE_I64, 1, (int64_t[]){2});
    if (!before) return false;
    ((int64_t *)before->data)[0] = (int64_t)s->key, ((int64_t *)before->data)[1] = (int64_t)s->counter;
    *s = to;
    return give_array(c, before);
}
