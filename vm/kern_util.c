/* kern_util.c: argument readers and strided copies that the kernels of several groups share. */
#include "kern_util.h"
#include "index.h"

void release_array(vm *m, array *a)
{
    if (a) value_release(m, value_object(&a->h));
}

#define COPY_LOOP(T) \
    for (int64_t i = 0; i < n; i++) ((T *)dst)[i * ds] = ((const T *)src)[i * ss]
static void copy_piece(size_t width, int64_t n, void *dst, int64_t ds, const void *src, int64_t ss)
{
    if (ds == 1 && ss == 1) {
        memcpy(dst, src, (size_t)n * width);
        return;
    }
    switch (width) {
    case 1: COPY_LOOP(uint8_t); break;
    case 4: COPY_LOOP(uint32_t); break;
    default: COPY_LOOP(uint64_t); break;
    }
}

/* Elements between looks at whether the program is to stop. */
enum { COPY_PIECE = 1 << 20 };

static void copy_row(const vm *m, size_t width, int64_t n, void *dst, int64_t ds, const void *src, int64_t ss)
{
    int64_t w = (int64_t)width;
    for (int64_t i = 0; i < n && !INTERRUPTED(m); i += COPY_PIECE)
        copy_piece(width, n - i < COPY_PIECE ? n - i : COPY_PIECE, (char *)dst + i * ds * w, ds, (const char *)src + i * ss * w, ss);
}

void copy_strided(const vm *m, size_t width, int rank, const int64_t *shape, void *dst, const int64_t *ds, const void *src,
                  const int64_t *ss)
{
    /* Neighbouring axes that both sides walk as one are merged. */
    int64_t n[RANK_MAX], d[RANK_MAX], s[RANK_MAX];
    int r = 0;
    for (int i = 0; i < rank; i++) {
        if (shape[i] == 0) return;
        if (shape[i] == 1) continue;
        if (r && d[r - 1] == ds[i] * shape[i] && s[r - 1] == ss[i] * shape[i]) {
            n[r - 1] *= shape[i], d[r - 1] = ds[i], s[r - 1] = ss[i];
            continue;
        }
        n[r] = shape[i], d[r] = ds[i], s[r] = ss[i];
        r++;
    }
    if (r == 0) {
        memcpy(dst, src, width);
        return;
    }
    int64_t at[RANK_MAX] = {0}, od = 0, os = 0;
    do copy_row(m, width, n[r - 1], (char *)dst + od * (int64_t)width, d[r - 1], (const char *)src + os * (int64_t)width, s[r - 1]);
    while (odometer(r - 1, n, at, d, &od, s, &os));
}

static int64_t f64_to_i64(double x) { return (int64_t)x; }

#define CONVERT(T, U, EXPR) \
    for (int64_t i = 0; i < n; i++) { \
        T x = ((const T *)src)[i * ss]; \
        ((U *)dst)[i] = (U)(EXPR); \
    }
#define CONVERT_FROM(T, TOI) \
    switch (to) { \
    case DTYPE_BOOL: CONVERT(T, uint8_t, x != 0) break; \
    case DTYPE_I64: CONVERT(T, int64_t, TOI(x)) break; \
    case DTYPE_F32: CONVERT(T, float, x) break; \
    default: CONVERT(T, double, x) break; \
    }
static void convert_piece(dtype from, dtype to, int64_t n, void *dst, const void *src, int64_t ss)
{
    switch (from) {
    case DTYPE_BOOL: CONVERT_FROM(uint8_t, ) break;
    case DTYPE_I64: CONVERT_FROM(int64_t, ) break;
    case DTYPE_F32: CONVERT_FROM(float, f64_to_i64) break;
    default: CONVERT_FROM(double, f64_to_i64) break;
    }
}

static void convert_row(const vm *m, dtype from, dtype to, int64_t n, void *dst, const void *src, int64_t ss)
{
    for (int64_t i = 0; i < n && !INTERRUPTED(m); i += COPY_PIECE)
        convert_piece(from, to, n - i < COPY_PIECE ? n - i : COPY_PIECE, element(to, dst, i), element(from, src, i * ss), ss);
}

void copy_converted(const vm *m, const shaped *s, dtype d, void *dst)
{
    int64_t ds[RANK_MAX];
    if (s->size == 0) return;
    dense_strides(s->rank, s->shape, ds);
    if (s->dtype == d) {
        copy_strided(m, dtype_size[d], s->rank, s->shape, dst, ds, s->data, s->stride);
        return;
    }
    if (s->rank == 0) {
        convert_piece(s->dtype, d, 1, dst, s->data, 1);
        return;
    }
    int64_t at[RANK_MAX] = {0}, od = 0, os = 0;
    int r = s->rank - 1;
    do convert_row(m, s->dtype, d, s->shape[r], element(d, dst, od), element(s->dtype, s->data, os), s->stride[r]);
    while (odometer(r, s->shape, at, ds, &od, s->stride, &os));
}

static const char *param_name(prim_call *c, uint32_t i)
{
    const prim_info *info = prim_info_of(c->vm, c->p);
    if (info->nparams == 0) return "argument";
    return symbol_name(c->vm->symbols, info->params[i < info->nparams ? i : info->nparams - 1].name);
}

static bool whole_into(prim_call *c, uint32_t i, value v, int cap, int *n, int64_t *out)
{
    int64_t x;
    if (value_is_float(v) && fabs(v.u.f) >= 0x1p63)
        return prim_fail(c, (int)i, DIAG_SHAPE, "%s holds %.6g, which is too large", param_name(c, i), v.u.f);
    if (!index_whole(v, &x))
        return prim_fail(c, (int)i, value_is_scalar(v) ? DIAG_VALUE : DIAG_TYPE,
                         "%s must be whole numbers, or one tuple or vector of them, and holds a %s", param_name(c, i),
                         value_is_float(v) ? "number that is not whole" : value_type_name(v));
    if (*n >= cap) return prim_fail(c, (int)i, DIAG_SHAPE, "%s has more than %d entries", param_name(c, i), cap);
    out[(*n)++] = x;
    return true;
}

/* Adds what v holds: a scalar, a tuple or a vector (nested tuples are flattened one level at a time). */
static bool wholes_add(prim_call *c, uint32_t i, value v, int cap, int *n, int64_t *out, int depth)
{
    if (v.tag == V_TUPLE && depth < 3) {
        tuple *t = as_tuple(v);
        for (uint32_t k = 0; k < t->n; k++)
            if (!wholes_add(c, i, t->v[k], cap, n, out, depth + 1)) return false;
        return true;
    }
    if (v.tag == V_ARRAY && as_array(v)->rank == 1) {
        array *a = as_array(v);
        for (int64_t k = 0; k < a->size; k++)
            if (!whole_into(c, i, array_get(a, &k), cap, n, out)) return false;
        return true;
    }
    return whole_into(c, i, v, cap, n, out);
}

bool arg_wholes(prim_call *c, uint32_t i, int cap, int *n, int64_t *out)
{
    *n = 0;
    return wholes_add(c, i, c->args[i], cap, n, out, 0);
}

bool arg_shape(prim_call *c, uint32_t first, bool infer, int *rank, int64_t *shape)
{
    int n = 0, unknown = 0;
    for (uint32_t i = first; i < c->n; i++) {
        int before = n;
        if (!wholes_add(c, i, c->args[i], RANK_MAX, &n, shape, 0)) return false;
        for (int k = before; k < n; k++) {
            if (shape[k] == -1 && infer && !unknown++) continue;
            if (shape[k] < 0)
                return prim_fail(c, (int)i, DIAG_VALUE,
                                 infer ? "shape must not be negative, but for one -1 that is worked out, and holds %lld"
                                       : "shape must not be negative, and holds %lld",
                                 (long long)shape[k]);
        }
    }
    *rank = n;
    return true;
}

bool arg_axis(prim_call *c, uint32_t i, int rank, int *axis)
{
    *axis = -1;
    if (c->args[i].tag == V_NONE) return true;
    int64_t a;
    if (!arg_int(c, i, &a)) return false;
    if (a < -rank || a >= rank) return arg_axis_fail(c, i, a, rank);
    *axis = (int)(a < 0 ? a + rank : a);
    return true;
}

bool arg_dense(prim_call *c, uint32_t i, dtype d, shaped *s, array **owned)
{
    *owned = NULL;
    if (!arg_shaped(c, i, s)) return false;
    if (s->rank == 0) {
        if (s->dtype != d) {
            double x = 0;
            copy_converted(c->vm, s, d, &x);
            memcpy(&s->scalar, &x, sizeof x);
            s->dtype = d;
        }
        s->data = &s->scalar;
        return true;
    }
    array *a = as_array(c->args[i]);
    if (a->dense && a->dtype == d) return true;
    *owned = array_copy(c->vm, a, d);
    if (!*owned) return false;
    shaped_array(s, *owned);
    return true;
}

bool arg_i64_array(prim_call *c, uint32_t i, shaped *s, array **owned)
{
    *owned = NULL;
    if (!arg_shaped(c, i, s)) return false;
    if (s->dtype == DTYPE_I64) return true;
    if (s->dtype == DTYPE_BOOL) return prim_fail(c, (int)i, DIAG_TYPE, "%s must be whole numbers, not bools", param_name(c, i));
    int64_t at[RANK_MAX] = {0}, o = 0, p = 0;
    if (s->size) do {
            double x = read_f64(s->dtype, s->data, o);
            if (x == floor(x) && fabs(x) > 9007199254740992.0)
                return prim_fail(c, (int)i, DIAG_VALUE, "%s holds %.9g, which is too large", param_name(c, i), x);
            if (x != floor(x)) return prim_fail(c, (int)i, DIAG_VALUE, "%s must be whole numbers and holds %.17g", param_name(c, i), x);
            if (odometer_stops(c->vm, s->rank, at)) break;
        } while (odometer(s->rank, s->shape, at, s->stride, &o, s->stride, &p));
    return !vm_interrupted(c->vm) && arg_dense(c, i, DTYPE_I64, s, owned);
}

bool form_shaped(value f, shaped *s)
{
    if (f.tag == V_FORM && f.aux != FORM_OTHER) {
        shaped_dense(s, (dtype)(f.aux & 0xff), 0, NULL);
        s->weak = (weakness)(f.aux >> 8);
        return true;
    }
    if (f.tag == V_FORMOBJ && as_form(f)->kind == V_ARRAY) {
        shaped_dense(s, (dtype)as_form(f)->dtype, as_form(f)->rank, as_form(f)->shape);
        return true;
    }
    return false;
}

bool arg_form(prim_call *c, uint32_t i, shaped *s)
{
    if (form_shaped(c->args[i], s)) return true;
    return prim_fail(c, (int)i, DIAG_INTERNAL, "argument %u is not the form of an array", i);
}

bool give_view(prim_call *c, const value *x, int rank, const int64_t *shape, const int64_t *stride, int64_t offset)
{
    if (x->tag != V_ARRAY) { /* a scalar: a fresh array of its only element */
        if (rank == 0) {
            c->out = *x;
            return true;
        }
        shaped s;
        result r;
        shaped_of(x, &s);
        if (!result_open(c, &r, s.dtype, rank, shape)) return false;
        for (int64_t i = 0; i < r.size; i++) memcpy(element(s.dtype, r.data, i), s.data, dtype_size[s.dtype]);
        return result_give(c, &r);
    }
    if (rank == 0) {
        c->out = array_at(as_array(*x), offset);
        return true;
    }
    return give_array(c, array_view(c->vm, as_array(*x), rank, shape, stride, offset));
}
