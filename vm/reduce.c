/* reduce.c: the engine of reduce.h: loading elements in logical order, and the fixed tree for f64 and f32. */
#include "reduce.h"
#include "prim_ids.h"

void reduce_axes_make(const shaped *x, const int *axes, int naxes, bool keepdims, reduce_axes *r)
{
    *r = (reduce_axes){.outs = 1, .n = 1};
    int next = 0;
    for (int i = 0; i < x->rank; i++) {
        bool reduced = next < naxes && axes[next] == i;
        next += reduced;
        if (reduced) r->n *= x->shape[i];
        else r->outs *= x->shape[i];
        if (!reduced || keepdims) r->shape[r->rank++] = reduced ? 1 : x->shape[i];
        if (x->shape[i] == 1) continue;
        int *k = reduced ? &r->nr : &r->nk;
        int64_t *n = reduced ? r->rshape : r->kshape, *s = reduced ? r->rstride : r->kstride;
        if (*k && s[*k - 1] == x->stride[i] * x->shape[i]) { /* walked as one with the axis before it */
            n[*k - 1] *= x->shape[i];
            s[*k - 1] = x->stride[i];
            continue;
        }
        n[*k] = x->shape[i];
        s[(*k)++] = x->stride[i];
    }
}

bool arg_reduce_axes(prim_call *c, const shaped *x, int axis, int keepdims, reduce_axes *r)
{
    int axes[RANK_MAX], n;
    bool keep = false;
    if (!arg_axes(c, (uint32_t)axis, x->rank, axes, &n)) return false;
    if (keepdims >= 0 && !arg_bool(c, (uint32_t)keepdims, &keep)) return false;
    reduce_axes_make(x, axes, n, keep, r);
    return true;
}

int64_t reduce_base(const reduce_axes *r, int64_t k)
{
    int64_t off = 0;
    for (int i = r->nk - 1; i >= 0; i--) {
        off += k % r->kshape[i] * r->kstride[i];
        k /= r->kshape[i];
    }
    return off;
}

#define LOAD_ROW(U) \
    for (; n > 0 && left > 0; left--, n--, o += step) *dst++ = CAST(((const U *)x->data)[o]); \
    break
/* Elements from logical index i of the reduced axes: rows of the innermost one, one after the other. */
#define LOAD_BODY \
    int64_t at[RANK_MAX] = {0}, off = base, dummy = 0; \
    for (int k = r->nr - 1; k >= 0; k--) { \
        at[k] = i % r->rshape[k]; \
        off += at[k] * r->rstride[k]; \
        i /= r->rshape[k]; \
    } \
    int last = r->nr - 1; \
    int64_t step = last >= 0 ? r->rstride[last] : 0, size = last >= 0 ? r->rshape[last] : 1; \
    int64_t left = size - (last >= 0 ? at[last] : 0); \
    while (n > 0) { \
        int64_t o = off; \
        switch (x->dtype) { \
        case DTYPE_BOOL: LOAD_ROW(uint8_t); \
        case DTYPE_I64: LOAD_ROW(int64_t); \
        case DTYPE_F32: LOAD_ROW(float); \
        default: LOAD_ROW(double); \
        } \
        if (n <= 0) break; \
        off -= at[last] * step; \
        at[last] = 0; \
        left = size; \
        odometer(last, r->rshape, at, r->rstride, &off, r->rstride, &dummy); \
    }

#define T double
#define F(name) name##_f64
#define TREE reduce_tree_f64
#define DTYPE DTYPE_F64
#define EXP prims[PRIM_exp].tile->f64
#define CAST (double)
#include "reduce_tile.h"
#undef T
#undef F
#undef TREE
#undef DTYPE
#undef EXP
#undef CAST

#define T float
#define F(name) name##_f32
#define TREE reduce_tree_f32
#define DTYPE DTYPE_F32
#define EXP prims[PRIM_exp].tile->f32
#define CAST (float)
#include "reduce_tile.h"
#undef CAST

#define CAST (int64_t)
void reduce_load_i64(const shaped *x, const reduce_axes *r, int64_t base, int64_t i, int64_t n, int64_t *dst) { LOAD_BODY }

bool reduce_run(vm *m, const shaped *x, const reduce_axes *r, reduce_op op, reduce_term term, const void *mu, void *out)
{
    if (x->dtype == DTYPE_F32) return run_f32(m, x, r, op, term, mu, out);
    return run_f64(m, x, r, op, term, mu, out);
}
