/* kern_sort.c: sorting along an axis and what rests on it: sort, argsort, top_k, median, unique, searchsorted.
 *
 * One stable merge sort moves keys and their places together. NaNs come last in either direction, equal
 * keys keep their order, -0 equals +0; so the result does not depend on how the array is stored. */
#include "index.h"
#include "reduce.h"

typedef struct sort_room {
    double *fk, *ft;
    int64_t *ik, *it, *at, *tmp;
    size_t bytes;
    void *p;
} sort_room;

/* Scratch for lines of n elements. */
static bool room_open(vm *m, int64_t n, sort_room *s)
{
    s->bytes = (size_t)n * 4 * sizeof(int64_t) + sizeof(int64_t);
    s->p = memory_alloc(&m->mem, MEM_OTHER, s->bytes);
    if (!s->p) return vm_out_of_memory(m);
    s->fk = s->p, s->ft = s->fk + n;
    s->ik = s->p, s->it = s->ik + n;
    s->at = s->ik + 2 * n, s->tmp = s->at + n;
    return true;
}
static void room_close(vm *m, sort_room *s) { memory_free(&m->mem, MEM_OTHER, s->p, s->bytes); }

/* Stable bottom-up merge sort of k[0..n) with places p; runs of 8 by insertion. */
#define SORTER(T, NAME) \
    static inline bool NAME##_before(T a, T b, bool down) { return (down ? a > b : a < b) || (b != b && a == a); } \
    static void NAME(const volatile int *stop, T *k, T *kt, int64_t *p, int64_t *pt, int64_t n, bool down) \
    { \
        for (int64_t lo = 0; lo < n && (lo % 65536 || !STOPPED(stop)); lo += 8) { \
            p[lo] = lo; \
            for (int64_t i = lo + 1; i < n && i < lo + 8; i++) { \
                T x = k[i]; \
                int64_t q = i, j = i; \
                for (; j > lo && NAME##_before(x, k[j - 1], down); j--) k[j] = k[j - 1], p[j] = p[j - 1]; \
                k[j] = x, p[j] = q; \
            } \
        } \
        T *from = k, *to = kt; \
        int64_t *pf = p, *pg = pt; \
        for (int64_t w = 8; w < n && !STOPPED(stop); w *= 2) { \
            for (int64_t lo = 0; lo < n && !STOPPED(stop); lo += 2 * w) { \
                int64_t mid = lo + w < n ? lo + w : n, hi = lo + 2 * w < n ? lo + 2 * w : n; \
                int64_t i = lo, j = mid, o = lo; \
                while (i < mid && j < hi) { \
                    bool right = NAME##_before(from[j], from[i], down); \
                    int64_t s = right ? j : i; \
                    to[o] = from[s], pg[o++] = pf[s]; \
                    j += right, i += !right; \
                } \
                for (; i < mid; i++) to[o] = from[i], pg[o++] = pf[i]; \
                for (; j < hi; j++) to[o] = from[j], pg[o++] = pf[j]; \
            } \
            T *a = from; \
            from = to, to = a; \
            int64_t *b = pf; \
            pf = pg, pg = b; \
        } \
        if (from != k) { \
            memcpy(k, from, (size_t)n * sizeof(T)); \
            memcpy(p, pf, (size_t)n * sizeof(int64_t)); \
        } \
    }
SORTER(double, sort_f64)
SORTER(int64_t, sort_i64)

#define LOAD_LINE(load, to) \
    for (int64_t i = 0; i < r->n && !STOPPED(stop); i += 65536) load(x, r, base, i, r->n - i < 65536 ? r->n - i : 65536, to + i);

/* Sorts one output's elements into room: keys in fk or ik (by dtype), places in at. */
static void sort_line(const volatile int *stop, const shaped *x, const reduce_axes *r, int64_t k, bool down, sort_room *s)
{
    int64_t base = reduce_base(r, k);
    if (x->dtype < DTYPE_F32) {
        LOAD_LINE(reduce_load_i64, s->ik)
        sort_i64(stop, s->ik, s->it, s->at, s->tmp, r->n, down);
    } else {
        LOAD_LINE(reduce_load_f64, s->fk)
        sort_f64(stop, s->fk, s->ft, s->at, s->tmp, r->n, down);
    }
}

/* Sorted keys of x's dtype (or places) to dst, the first `take` of them, with a stride. */
static void line_out(const volatile int *stop, const shaped *x, const sort_room *s, bool places, int64_t take, void *dst, int64_t offset,
                     int64_t stride)
{
    for (int64_t i = 0; i < take && (i % 65536 || !STOPPED(stop)); i++) {
        int64_t o = offset + i * stride;
        if (places) ((int64_t *)dst)[o] = s->at[i];
        else if (x->dtype == DTYPE_I64) ((int64_t *)dst)[o] = s->ik[i];
        else if (x->dtype == DTYPE_BOOL) ((uint8_t *)dst)[o] = (uint8_t)s->ik[i];
        else write_f64(x->dtype, dst, o, s->fk[i]);
    }
}

static bool sort_kernel(prim_call *c, bool places)
{
    shaped x, like;
    result out;
    bool down, flat = c->args[1].tag == V_NONE;
    int axis = 0, all[RANK_MAX];
    reduce_axes r, o;
    sort_room room;
    if (!arg_shaped(c, 0, &x) || !arg_bool(c, 2, &down)) return false;
    if (!flat && !arg_axis(c, 1, x.rank, &axis)) return false;
    for (int i = 0; i < x.rank; i++) all[i] = i;
    if (flat) shaped_dense(&like, x.dtype, 1, &x.size);
    else shaped_dense(&like, x.dtype, x.rank, x.shape);
    reduce_axes_make(&x, flat ? all : &axis, flat ? x.rank : 1, false, &r);
    reduce_axes_make(&like, &axis, 1, false, &o);
    if (!room_open(c->vm, r.n, &room)) return false;
    bool ok = result_open(c, &out, places ? DTYPE_I64 : x.dtype, like.rank, like.shape);
    for (int64_t k = 0; ok && !INTERRUPTED(c->vm) && k < r.outs && r.n > 0; k++) {
        sort_line(&c->vm->interrupt, &x, &r, k, down, &room);
        line_out(&c->vm->interrupt, &x, &room, places, r.n, out.data, reduce_base(&o, k), like.stride[axis]);
    }
    room_close(c->vm, &room);
    return ok && result_give(c, &out);
}
bool kern_sort(prim_call *c) { return sort_kernel(c, false); }
bool kern_argsort(prim_call *c) { return sort_kernel(c, true); }

bool kern_top_k(prim_call *c)
{
    vm *m = c->vm;
    shaped x;
    int64_t k, shape[RANK_MAX];
    reduce_axes r;
    sort_room room;
    if (!arg_shaped(c, 0, &x) || !arg_int(c, 1, &k)) return false;
    if (x.rank == 0) return prim_fail(c, 0, DIAG_SHAPE, "x must have at least one axis");
    int axis = x.rank - 1;
    if (k < 0 || k > x.shape[axis])
        return prim_fail(c, 1, DIAG_VALUE, "k is %lld and the last axis has %lld element%s", (long long)k, (long long)x.shape[axis],
                         x.shape[axis] == 1 ? "" : "s");
    reduce_axes_make(&x, &axis, 1, false, &r);
    memcpy(shape, x.shape, sizeof shape);
    shape[axis] = k;
    if (!room_open(m, r.n, &room)) return false;
    tuple *t = tuple_new(m, 2, 2);
    array *v = t ? array_new(m, x.dtype, x.rank, shape) : NULL, *p = v ? array_new(m, DTYPE_I64, x.rank, shape) : NULL;
    for (int64_t i = 0; p && i < r.outs && k > 0 && !INTERRUPTED(m); i++) {
        sort_line(&c->vm->interrupt, &x, &r, i, true, &room);
        line_out(&c->vm->interrupt, &x, &room, false, k, v->data, i * k, 1);
        line_out(&c->vm->interrupt, &x, &room, true, k, p->data, i * k, 1);
    }
    room_close(m, &room);
    if (t && v) t->v[0] = value_object(&v->h);
    if (t && p) t->v[1] = value_object(&p->h);
    if (!p) {
        if (t) value_release(m, value_object(&t->h));
        return false;
    }
    c->out = value_object(&t->h);
    return true;
}

bool kern_median(prim_call *c)
{
    shaped x;
    reduce_axes r;
    sort_room room;
    result out;
    if (!arg_shaped(c, 0, &x) || !arg_reduce_axes(c, &x, 1, 2, &r) || !room_open(c->vm, r.n, &room)) return false;
    bool ok = result_open(c, &out, x.dtype >= DTYPE_F32 ? x.dtype : c->vm->config.float_dtype, r.rank, r.shape);
    for (int64_t k = 0; ok && !INTERRUPTED(c->vm) && k < r.outs; k++) {
        double v = NAN;
        if (r.n > 0) {
            reduce_load_f64(&x, &r, reduce_base(&r, k), 0, r.n, room.fk);
            sort_f64(&c->vm->interrupt, room.fk, room.ft, room.at, room.tmp, r.n, false);
            double lo = room.fk[(r.n - 1) / 2], hi = room.fk[r.n / 2], top = room.fk[r.n - 1];
            v = top != top ? top : lo == hi ? lo : lo / 2 + hi / 2;
        }
        write_f64(out.dtype, out.data, k, v);
    }
    room_close(c->vm, &room);
    return ok && result_give(c, &out);
}

/* (x, axis): 1/k for each of the k elements that equal the median; where it is the mean of two, half to each. */
bool kern_median_ties(prim_call *c)
{
    shaped x, like;
    reduce_axes r, o;
    sort_room room;
    result out;
    int axes[RANK_MAX], n;
    if (!arg_shaped(c, 0, &x) || !arg_reduce_axes(c, &x, 1, -1, &r) || !arg_axes(c, 1, x.rank, axes, &n)) return false;
    shaped_dense(&like, x.dtype, x.rank, x.shape);
    reduce_axes_make(&like, axes, n, false, &o);
    if (!room_open(c->vm, r.n, &room)) return false;
    bool ok = result_open(c, &out, x.dtype >= DTYPE_F32 ? x.dtype : c->vm->config.float_dtype, x.rank, x.shape);
    for (int64_t k = 0; ok && !INTERRUPTED(c->vm) && k < r.outs && r.n > 0; k++) {
        reduce_load_f64(&x, &r, reduce_base(&r, k), 0, r.n, room.fk);
        sort_f64(&c->vm->interrupt, room.fk, room.ft, room.at, room.tmp, r.n, false);
        double lo = room.fk[(r.n - 1) / 2], hi = room.fk[r.n / 2], nlo = 0, nhi = 0;
        if (room.fk[r.n - 1] != room.fk[r.n - 1]) lo = hi = NAN;
        for (int64_t i = 0; i < r.n; i++) {
            nlo += room.fk[i] == lo || (lo != lo && room.fk[i] != room.fk[i]);
            nhi += room.fk[i] == hi || (hi != hi && room.fk[i] != room.fk[i]);
        }
        reduce_load_f64(&x, &r, reduce_base(&r, k), 0, r.n, room.fk); /* again, in order */
        int64_t at[RANK_MAX] = {0}, off = reduce_base(&o, k), dummy = 0;
        for (int64_t i = 0; i < r.n; i++) {
            double v = room.fk[i], w = 0;
            if (v == lo || (lo != lo && v != v)) w += 0.5 / nlo;
            if (v == hi || (hi != hi && v != v)) w += 0.5 / nhi;
            write_f64(out.dtype, out.data, off, w);
            odometer(o.nr, o.rshape, at, o.rstride, &off, o.rstride, &dummy);
        }
    }
    room_close(c->vm, &room);
    return ok && result_give(c, &out);
}

/* Places in the flattened x of the first of each run of equal sorted elements. */
static bool unique_places(prim_call *c, bool places)
{
    shaped x;
    reduce_axes r;
    sort_room room;
    int all[RANK_MAX];
    if (!arg_shaped(c, 0, &x)) return false;
    for (int i = 0; i < x.rank; i++) all[i] = i;
    reduce_axes_make(&x, all, x.rank, false, &r);
    if (!room_open(c->vm, r.n, &room)) return false;
    int64_t n = 0;
    if (r.n > 0) sort_line(&c->vm->interrupt, &x, &r, 0, false, &room);
    for (int64_t i = 0; i < r.n; i++) {
        bool same = false;
        if (i > 0 && x.dtype < DTYPE_F32) same = room.ik[i] == room.ik[n - 1];
        else if (i > 0) same = room.fk[i] == room.fk[n - 1] || (room.fk[i] != room.fk[i] && room.fk[n - 1] != room.fk[n - 1]);
        if (same) continue;
        room.ik[n] = room.ik[i]; /* the same bytes as fk */
        room.at[n++] = room.at[i];
    }
    array *a = array_new(c->vm, places ? DTYPE_I64 : x.dtype, 1, &n);
    if (a) line_out(&c->vm->interrupt, &x, &room, places, n, a->data, 0, 1);
    room_close(c->vm, &room);
    return give_array(c, a);
}
bool kern_unique(prim_call *c) { return unique_places(c, false); }
bool kern_unique_at(prim_call *c) { return unique_places(c, true); }

/* (a, v, side): where v would go in the sorted vector a. */
bool kern_searchsorted(prim_call *c)
{
    shaped a, v;
    const string *side;
    result out;
    array *oa, *ov = NULL;
    if (!arg_shaped(c, 0, &a) || !arg_shaped(c, 1, &v) || !arg_string(c, 2, &side)) return false;
    if (a.rank != 1) return arg_misshapen(c, 0, &a, "a vector");
    bool right = strcmp(side->s, "right") == 0;
    if (!right && strcmp(side->s, "left") != 0) return prim_fail(c, 2, DIAG_VALUE, "side is \"left\" or \"right\", not \"%s\"", side->s);
    bool ok = arg_dense(c, 0, DTYPE_F64, &a, &oa) && arg_dense(c, 1, DTYPE_F64, &v, &ov) &&
              result_open(c, &out, DTYPE_I64, v.rank, v.shape);
    for (int64_t i = 0; ok && i < v.size && !odometer_stops(c->vm, 1, &i); i++) {
        const double *k = a.data;
        double x = ((const double *)v.data)[i];
        int64_t lo = 0, hi = a.size;
        while (lo < hi) {
            int64_t mid = lo + (hi - lo) / 2;
            bool before = right ? !sort_f64_before(x, k[mid], false) : sort_f64_before(k[mid], x, false);
            if (before) lo = mid + 1;
            else hi = mid;
        }
        ((int64_t *)out.data)[i] = lo;
    }
    release_array(c->vm, oa);
    release_array(c->vm, ov);
    return ok && result_give(c, &out);
}
