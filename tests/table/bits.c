/* bits.c: equal bits whatever represents the arguments (dense, turned, sliced, reversed, broadcast, offset;
 * shared or the last reference) and however many threads; and the fast ways against naive ones: elementwise
 * rows element by element, reductions vector by vector, matrix products by their definition. */
#include "walker.h"
#include <math.h>

typedef enum view_kind { DENSE, TURNED, SLICED, REVERSED, BROADCAST, OFFSET, VIEWS } view_kind;
static const char *const view_names[] = {"dense", "turned", "sliced", "reversed", "broadcast", "offset"};

static bool step(int rank, const int64_t *shape, int64_t *index)
{
    for (int d = rank - 1; d >= 0; d--) {
        if (++index[d] < shape[d]) return true;
        index[d] = 0;
    }
    return false;
}

static int64_t place(const array *a, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < a->rank; d++) at += index[d] * array_stride(a)[d];
    return at;
}

/* The elements of x in another representation. Owned. A broadcast one keeps the first of each. */
static value array_as(vm *m, const array *x, view_kind kind)
{
    int rank = x->rank, last = rank - 1;
    const int64_t *shape = array_shape(x);
    int64_t big[RANK_MAX], stride[RANK_MAX], offset = 0, index[RANK_MAX] = {0};
    if (kind == DENSE || (kind == TURNED && rank < 2)) return value_object(&array_copy(m, x, (dtype)x->dtype)->h);
    memcpy(big, shape, (size_t)rank * sizeof *big);
    if (kind == TURNED) big[last] = shape[last - 1], big[last - 1] = shape[last];
    if (kind == SLICED) big[last] = 2 * shape[last] + 1;
    if (kind == BROADCAST && shape[0]) big[0] = 1;
    if (kind == OFFSET) big[0] += 1;
    array *a = array_zeros(m, (dtype)x->dtype, rank, big);
    memcpy(stride, array_stride(a), (size_t)rank * sizeof *stride);
    if (kind == TURNED) {
        int64_t t = stride[last];
        stride[last] = stride[last - 1], stride[last - 1] = t;
    }
    if (kind == SLICED) stride[last] = 2, offset = 1;
    if (kind == REVERSED && shape[0]) offset = (shape[0] - 1) * stride[0], stride[0] = -stride[0];
    if (kind == BROADCAST) stride[0] = 0;
    if (kind == OFFSET) offset = a->size / big[0];
    array *v = array_view(m, a, rank, shape, stride, offset);
    value_release(m, value_object(&a->h));
    if (x->size) do {
            if (kind == BROADCAST && index[0]) break;
            array_put(v, place(v, index), array_get(x, index));
        } while (step(rank, shape, index));
    return value_object(&v->h);
}

/* v with every array in it in that representation; float arrays as `d` first unless DTYPE_BOOL. Owned. */
static value value_as(vm *m, value v, view_kind kind, dtype d)
{
    if (v.tag == V_ARRAY) {
        const array *a = as_array(v);
        if (a->dtype < DTYPE_F32 || d == DTYPE_BOOL) return array_as(m, a, kind);
        array *c = array_copy(m, a, d);
        value out = array_as(m, c, kind);
        value_release(m, value_object(&c->h));
        return out;
    }
    if (v.tag == V_TUPLE) {
        const tuple *t = as_tuple(v);
        tuple *out = tuple_new(m, t->n, t->n);
        for (uint32_t k = 0; k < t->n; k++) out->v[k] = value_as(m, t->v[k], kind, d);
        return value_object(&out->h);
    }
    if (v.tag == V_RECORD) {
        const record *r = as_record(v);
        record *out = record_new(m, 0, r->n);
        value made = value_object(&out->h);
        for (uint32_t k = 0; k < r->n; k++) record_set(m, &made, r->names[k], value_as(m, r->v[k], kind, d));
        return made;
    }
    return value_retain(v);
}

static bool same_number(value a, value b)
{
    if (a.tag != b.tag) return false;
    if (value_is_float(a) && a.u.f != a.u.f) return b.u.f != b.u.f;
    return a.u.i == b.u.i;
}

/* Equal in structure, dtypes and bits; any nan equals any. */
static bool same_bits(value a, value b)
{
    if (a.tag != b.tag) return false;
    if (value_is_scalar(a)) return same_number(a, b);
    if (a.tag == V_TUPLE) {
        if (as_tuple(a)->n != as_tuple(b)->n) return false;
        for (uint32_t k = 0; k < as_tuple(a)->n; k++)
            if (!same_bits(as_tuple(a)->v[k], as_tuple(b)->v[k])) return false;
        return true;
    }
    if (a.tag == V_RECORD) {
        if (as_record(a)->n != as_record(b)->n) return false;
        for (uint32_t k = 0; k < as_record(a)->n; k++)
            if (as_record(a)->names[k] != as_record(b)->names[k] || !same_bits(as_record(a)->v[k], as_record(b)->v[k])) return false;
        return true;
    }
    if (a.tag != V_ARRAY) return value_same(a, b);
    const array *x = as_array(a), *y = as_array(b);
    if (x->dtype != y->dtype || x->rank != y->rank || memcmp(array_shape(x), array_shape(y), x->rank * sizeof(int64_t))) return false;
    int64_t index[RANK_MAX] = {0};
    if (x->size) do
            if (!same_number(array_get(x, index), array_get(y, index))) return false;
        while (step(x->rank, array_shape(x), index));
    return true;
}

/* The row on these arguments, which are consumed: with `last` they may be written into. False: an error,
   which is cleared. */
static bool apply(host *h, const prim *p, tuple *args, bool last, value *out)
{
    value v[64];
    uint32_t n = args->n;
    memcpy(v, args->v, n * sizeof *v);
    for (uint32_t i = 0; i < n; i++) value_retain(v[i]);
    value_release(h->vm, value_object(&args->h));
    bool fine = prim_apply(h->vm, p, v, n, last ? UINT64_MAX : 0, out);
    if (!fine) take_error(h);
    for (uint32_t i = 0; i < n; i++) value_release(h->vm, v[i]);
    return fine;
}

static void check_equal(walker *w, const sample *s, vm *m, const char *how, dtype d, bool fine, value got, bool expected_fine,
                        value expected)
{
    w->n.bits++;
    if (fine != expected_fine) fail(w, "bits", "%s: %s, %s: %s", s->args, how, dtype_name(d), fine ? "no error any more" : "an error");
    else if (fine && !same_bits(got, expected)) {
        text x, y;
        text_open(&x, &m->mem);
        text_open(&y, &m->mem);
        value_print(m, got, PRINT_REPR, &x);
        value_print(m, expected, PRINT_REPR, &y);
        fail(w, "bits", "%s: %s, %s: %s, not %s", s->args, how, dtype_name(d), text_str(&x), text_str(&y));
        text_close(&x);
        text_close(&y);
    }
}

/* `kinds`: bit k for view_kind k. */
static void one_dtype(walker *w, const prim *p, const sample *s, value args, dtype d, unsigned kinds)
{
    vm *m = w->h.vm;
    char how[100];
    for (int kind = DENSE; kind < VIEWS; kind++) {
        if (!(kinds >> kind & 1)) continue;
        value viewed = value_as(m, args, (view_kind)kind, d), plain = value_as(m, viewed, DENSE, DTYPE_BOOL), base, y;
        bool sound = apply(&w->h, p, as_tuple(plain), false, &base);
        if (!sound && d == DTYPE_F64 && kind != BROADCAST) fail(w, "sample", "%s, %s, is an error", s->args, view_names[kind]);
        for (int last = 0; last < 2; last++) {
            value copy = value_as(m, viewed, (view_kind)kind, DTYPE_BOOL);
            bool fine = apply(&w->h, p, as_tuple(copy), last, &y);
            snprintf(how, sizeof how, "%s%s", view_names[kind], last ? ", last reference" : "");
            check_equal(w, s, m, how, d, fine, y, sound, base);
            if (fine) value_release(m, y);
        }
        value_release(m, viewed);
        if (sound) value_release(m, base);
    }
}

static void two_threads(walker *w, const prim *p, const sample *s, value args)
{
    value other = evaluate(w, &w->pair, s->args);
    if (other.tag != V_TUPLE) return;
    for (int d = DTYPE_F32; d <= DTYPE_F64; d++) {
        value a = value_as(w->h.vm, args, DENSE, (dtype)d), b = value_as(w->pair.vm, other, DENSE, (dtype)d), x, y;
        bool fine = apply(&w->h, p, as_tuple(a), false, &x), again = apply(&w->pair, p, as_tuple(b), true, &y);
        check_equal(w, s, w->h.vm, "two threads", (dtype)d, again, y, fine, x);
        if (fine) value_release(w->h.vm, x);
        if (again) value_release(w->pair.vm, y);
    }
    value_release(w->pair.vm, other);
}

void walk_bits(walker *w, const prim *p, const sample *s)
{
    if (s->call || !repeatable(p)) return;
    value args = evaluate(w, &w->h, s->args);
    if (args.tag != V_TUPLE || as_tuple(args)->n > 64) return;
    if (s->flags & SAMPLE_LARGE) {
        two_threads(w, p, s, args);
        one_dtype(w, p, s, args, DTYPE_F32, 1u << TURNED);
        one_dtype(w, p, s, args, DTYPE_F64, 1u << SLICED);
    } else {
        unsigned all = (1u << VIEWS) - 1;
        one_dtype(w, p, s, args, DTYPE_F64, all);
        one_dtype(w, p, s, args, DTYPE_F32, all);
        if (p->tile) one_dtype(w, p, s, args, DTYPE_I64, all);
    }
    value_release(w->h.vm, args);
}

/* --- naive ---------------------------------------------------------------------------------------- */

/* The element of v (a number) that broadcasting puts at this index of a result of that rank. */
static value stretched(value v, int rank, const int64_t *index)
{
    if (v.tag != V_ARRAY) return v;
    const array *a = as_array(v);
    int64_t at[RANK_MAX];
    for (int d = 0; d < a->rank; d++) at[d] = array_shape(a)[d] == 1 ? 0 : index[d + rank - a->rank];
    return array_get(a, at);
}

/* The result of an elementwise row, one element at a time by the path for scalars. */
static void elementwise(walker *w, const prim *p, const sample *s, value args, value y)
{
    const tuple *t = as_tuple(args);
    if (y.tag != V_ARRAY || !as_array(y)->size) return;
    int64_t index[RANK_MAX] = {0}, done = 0;
    do {
        value v[16], one;
        for (uint32_t i = 0; i < t->n; i++) v[i] = stretched(t->v[i], as_array(y)->rank, index);
        if (!prim_apply(w->h.vm, p, v, t->n, 0, &one)) {
            fail(w, "naive", "%s: %s", s->args, take_error(&w->h));
            return;
        }
        if (!same_number(one, array_get(as_array(y), index))) {
            fail(w, "naive", "%s: element %lld is %.17g in the array, %.17g alone", s->args, (long long)done,
                 array_get(as_array(y), index).u.f, one.u.f);
            return;
        }
        done++;
    } while (step(as_array(y)->rank, array_shape(as_array(y)), index));
    w->n.naive++;
}

/* A reduction along one axis, each of its vectors by itself. */
static void reduction(walker *w, const prim *p, const sample *s, value args, value y)
{
    vm *m = w->h.vm;
    const tuple *t = as_tuple(args);
    if (t->n < 2 || t->v[0].tag != V_ARRAY || !value_is_scalar(t->v[1]) || y.tag != V_ARRAY) return;
    if (t->n > 2 && t->v[2].tag == V_BOOL && t->v[2].u.i) return;
    const array *x = as_array(t->v[0]);
    int axis = (int)(t->v[1].tag == V_I64 ? t->v[1].u.i : (int64_t)t->v[1].u.f);
    if (axis < 0) axis += x->rank;
    int64_t index[RANK_MAX] = {0};
    if (as_array(y)->size) do {
            int64_t at = 0;
            for (int d = 0, k = 0; d < x->rank; d++)
                if (d != axis) at += index[k++] * array_stride(x)[d];
            array *v = array_view(m, x, 1, &array_shape(x)[axis], &array_stride(x)[axis], at);
            value in = value_object(&v->h), one;
            bool fine = prim_apply(m, p, &in, 1, 0, &one);
            value_release(m, in);
            if (!fine || !same_number(one, array_get(as_array(y), index))) {
                fail(w, "naive", "%s: one vector alone gives another result", s->args);
                if (!fine) take_error(&w->h);
                return;
            }
        } while (step(as_array(y)->rank, array_shape(as_array(y)), index));
    w->n.naive++;
}

/* [m, k] @ [k, n] as language.md defines it: blocks of 256 of fused multiply-adds, block sums in order. */
static void product(walker *w, const prim *p, const sample *s, value args, value y)
{
    const tuple *t = as_tuple(args);
    if (t->v[0].tag != V_ARRAY || t->v[1].tag != V_ARRAY || y.tag != V_ARRAY) return;
    const array *a = as_array(t->v[0]), *b = as_array(t->v[1]), *c = as_array(y);
    if (a->rank != 2 || b->rank != 2 || a->dtype != b->dtype || a->dtype < DTYPE_F32) return;
    int64_t K = array_shape(a)[1], index[2] = {0};
    if (c->size) do {
            double sum = 0;
            for (int64_t k0 = 0; k0 < K; k0 += 256) {
                double part = 0;
                for (int64_t k = k0; k < K && k < k0 + 256; k++) {
                    double u = array_get(a, (int64_t[]){index[0], k}).u.f, v = array_get(b, (int64_t[]){k, index[1]}).u.f;
                    part = a->dtype == DTYPE_F32 ? (double)fmaf((float)u, (float)v, (float)part) : fma(u, v, part);
                }
                sum = k0 == 0 ? part : a->dtype == DTYPE_F32 ? (double)((float)sum + (float)part) : sum + part;
            }
            if (array_get(c, index).u.f != sum) {
                fail(w, "naive", "%s: element %lld, %lld is not as defined", s->args, (long long)index[0], (long long)index[1]);
                return;
            }
        } while (step(2, array_shape(c), index));
    w->n.naive++;
}

void walk_naive(walker *w, const prim *p, const sample *s)
{
    bool maps = p->shape == S_BROADCAST, reduces = p->shape == S_REDUCE, multiplies = p->shape == S_MATMUL;
    if (s->call || !repeatable(p) || !(maps || reduces || multiplies)) return;
    vm *m = w->h.vm;
    value args = evaluate(w, &w->h, s->args);
    if (args.tag != V_TUPLE) return;
    for (int d = DTYPE_F32; d <= DTYPE_F64; d++) {
        value a = value_as(m, args, DENSE, (dtype)d), y;
        const tuple *t = as_tuple(a);
        if (t->n <= 16 && prim_apply(m, p, t->v, t->n, 0, &y)) {
            if (maps) elementwise(w, p, s, a, y);
            if (reduces) reduction(w, p, s, a, y);
            if (multiplies) product(w, p, s, a, y);
            value_release(m, y);
        }
        if (m->error) take_error(&w->h);
        value_release(m, a);
    }
    value_release(m, args);
}
