/* predict.c: a result's shape and dtype as the row's classes say, for each dtype of the arguments. */
#include "walker.h"
#include "diff.h"

/* The float arrays among the arguments, and for elementwise rows the float scalars, as dtype d. Owned. */
static value as_dtype(vm *m, const prim *p, value v, dtype d)
{
    if (v.tag == V_ARRAY && as_array(v)->dtype >= DTYPE_F32) return value_object(&array_copy(m, as_array(v), d)->h);
    if (p->tile && value_is_float(v)) return d == DTYPE_F64 ? value_f64(v.u.f) : scalar_of(d, v.u.f);
    return value_retain(v);
}

static bool flag(const value *args, uint32_t n, uint32_t i) { return i < n && args[i].tag == V_BOOL && args[i].u.i; }

static bool axis_in(value axes, int rank, int k)
{
    if (axes.tag == V_NONE) return true;
    uint32_t n = axes.tag == V_TUPLE ? as_tuple(axes)->n : 1;
    for (uint32_t i = 0; i < n; i++) {
        value v = axes.tag == V_TUPLE ? as_tuple(axes)->v[i] : axes;
        int64_t a = v.tag == V_I64 ? v.u.i : (int64_t)v.u.f;
        if ((a < 0 ? a + rank : a) == k) return true;
    }
    return false;
}

/* Shape of a reduction's result. */
static void reduced(const shaped *x, value axes, bool keep, int *rank, int64_t *shape)
{
    *rank = 0;
    for (int k = 0; k < x->rank; k++) {
        bool gone = axis_in(axes, x->rank, k);
        if (!gone || keep) shape[(*rank)++] = gone ? 1 : x->shape[k];
    }
}

static void product(const shaped *a, const shaped *b, int *rank, int64_t *shape)
{
    int ba = a->rank > 2 ? a->rank - 2 : 0, bb = b->rank > 2 ? b->rank - 2 : 0, n = ba > bb ? ba : bb;
    for (int k = 0; k < n; k++) {
        int64_t x = k + ba - n >= 0 ? a->shape[k + ba - n] : 1, y = k + bb - n >= 0 ? b->shape[k + bb - n] : 1;
        shape[k] = x == 1 ? y : x;
    }
    if (a->rank > 1) shape[n++] = a->shape[a->rank - 2];
    if (b->rank > 1) shape[n++] = b->shape[b->rank - 1];
    *rank = n;
}

/* False when the class predicts nothing. */
static bool predict_shape(vm *m, const prim *p, const value *args, const shaped *s, uint32_t n, int *rank, int64_t *shape)
{
    switch (p->shape) {
    case S_BROADCAST: {
        shaped all = s[0];
        for (uint32_t i = 1; i < n; i++) {
            if (!shape_broadcast(m, p->name, &all, &s[i], rank, shape)) return false;
            all.rank = *rank;
            memcpy(all.shape, shape, sizeof all.shape);
        }
        *rank = all.rank;
        memcpy(shape, all.shape, sizeof all.shape);
        return true;
    }
    case S_SAME:
        *rank = s[0].rank;
        memcpy(shape, s[0].shape, sizeof s[0].shape);
        return true;
    case S_SCALAR: *rank = 0; return true;
    case S_REDUCE: reduced(&s[0], n > 1 ? args[1] : value_none(), flag(args, n, 2), rank, shape); return true;
    case S_MATMUL: product(&s[0], &s[1], rank, shape); return true;
    case S_CUSTOM: return false;
    }
    return false;
}

static bool predict_dtype(vm *m, const prim *p, const shaped *s, uint32_t n, const bool *numbers, dtype *d)
{
    weakness weak = STRONG;
    switch (p->dtype) {
    case D_ARITH:
    case D_FLOAT: {
        uint32_t first = p->tile && p->tile->condition ? 1 : 0;
        shaped all = s[first];
        for (uint32_t i = first + 1; i < n; i++)
            if (numbers[i] && (p->tile || rule_lists(m, p, i))) all.dtype = dtype_promote(m, &all, &s[i], &weak), all.weak = weak;
        *d = all.dtype;
        bool bools = p->tile && p->tile->condition;
        if (*d == DTYPE_BOOL && !bools) *d = DTYPE_I64;
        if (p->dtype == D_FLOAT && *d < DTYPE_F32) *d = m->config.float_dtype;
        return true;
    }
    case D_SAME: *d = s[0].dtype; return true;
    case D_BOOL: *d = DTYPE_BOOL; return true;
    case D_I64: *d = DTYPE_I64; return true;
    case D_OTHER: return false;
    }
    return false;
}

static void check_one(walker *w, const prim *p, const sample *s, const value *args, uint32_t n)
{
    vm *m = w->h.vm;
    shaped in[16], out;
    bool numbers[16];
    if (n > 16) return;
    for (uint32_t i = 0; i < n; i++)
        if (!(numbers[i] = shaped_of(&args[i], &in[i])) && (i == 0 || p->shape == S_BROADCAST || p->shape == S_MATMUL)) return;
    value y;
    if (!prim_apply(m, p, args, n, 0, &y)) {
        take_error(&w->h); /* this dtype is none of the row's */
        return;
    }
    int rank = 0;
    int64_t shape[RANK_MAX] = {0};
    dtype d;
    bool number = shaped_of(&y, &out);
    if (number && predict_shape(m, p, args, in, n, &rank, shape)) {
        w->n.predicted++;
        if (rank != out.rank || (rank && memcmp(shape, out.shape, (size_t)rank * sizeof *shape)))
            fail(w, "shape", "%s: rank %d, predicted %d", s->args, out.rank, rank);
    }
    if (m->error) fail(w, "shape", "%s: %s", s->args, take_error(&w->h));
    if (number && predict_dtype(m, p, in, n, numbers, &d)) {
        w->n.predicted++;
        if (d != out.dtype)
            fail(w, "dtype", "%s with %s: %s, predicted %s", s->args, dtype_name(in[0].dtype), dtype_name(out.dtype), dtype_name(d));
    }
    value_release(m, y);
}

void walk_prediction(walker *w, const prim *p, const sample *s)
{
    if (s->call || !repeatable(p)) return;
    vm *m = w->h.vm;
    value args = evaluate(w, &w->h, s->args), v[16];
    if (args.tag != V_TUPLE) return;
    uint32_t n = as_tuple(args)->n;
    for (int d = DTYPE_BOOL; d <= DTYPE_F64 && n && n <= 16; d++) {
        for (uint32_t i = 0; i < n; i++) v[i] = as_dtype(m, p, as_tuple(args)->v[i], (dtype)d);
        check_one(w, p, s, v, n);
        for (uint32_t i = 0; i < n; i++) value_release(m, v[i]);
    }
    value_release(m, args);
}
