/* views.h: arrays of equal elements in every representation, for tests that compare their bits. */
#ifndef REPLAY_VIEWS_H
#define REPLAY_VIEWS_H
#include "vm.h"
#include <math.h>
#include <string.h>

typedef enum view_kind { VIEW_DENSE, VIEW_TURNED, VIEW_SLICED, VIEW_REVERSED, VIEW_BROADCAST, VIEW_OFFSET, VIEWS } view_kind;

static uint64_t view_state = 88172645463325252u;
static inline uint64_t view_random(void)
{
    view_state ^= view_state << 13;
    view_state ^= view_state >> 7;
    view_state ^= view_state << 17;
    return view_state;
}

/* Numbers of all sizes, some awkward. */
static inline double view_number(void)
{
    uint64_t r = view_random();
    switch (r % 24) {
    case 0: return 0;
    case 1: return -0.0;
    case 2: return 1;
    case 3: return 2;
    case 4: return INFINITY;
    case 5: return -INFINITY;
    case 6: return NAN;
    case 7: return ldexp((double)(int64_t)view_random(), -(int)(r >> 32) % 80 - 20);
    case 8:
    case 9:
    case 10: return (double)((int64_t)(r >> 32) % 21 - 10);
    default: return (double)(int64_t)view_random() / 9.3e18 * ((r >> 20) % 20 + 1);
    }
}

/* An array of this shape in a representation; elements from `next`, converted to d. Owned. Where a
   representation asks for a rank the shape has not, it is dense. */
static inline value view_make(vm *m, dtype d, int rank, const int64_t *shape, view_kind kind, double (*next)(void))
{
    int64_t big[RANK_MAX], stride[RANK_MAX], offset = 0;
    memcpy(big, shape, (size_t)rank * sizeof *big);
    int last = rank - 1;
    if (kind == VIEW_TURNED && rank >= 2) big[last] = shape[last - 1], big[last - 1] = shape[last];
    if (kind == VIEW_SLICED) big[last] = 2 * shape[last] + 1;
    if (kind == VIEW_BROADCAST && shape[0]) big[0] = 1;
    if (kind == VIEW_OFFSET) big[0] += 1;
    array *a = array_new(m, d, rank, big);
    for (int64_t i = 0; i < a->size; i++) {
        double x = next();
        if (d == DTYPE_I64 && !isfinite(x)) x = 3;
        array_put(a, i, d == DTYPE_BOOL ? value_bool(x > 0) : d == DTYPE_I64 ? value_i64((int64_t)fmod(x, 1000)) : value_f64(x));
    }
    memcpy(stride, array_stride(a), (size_t)rank * sizeof *stride);
    switch (kind) {
    case VIEW_TURNED:
        if (rank >= 2) {
            int64_t t = stride[last];
            stride[last] = stride[last - 1];
            stride[last - 1] = t;
        }
        break;
    case VIEW_SLICED:
        stride[last] = 2;
        offset = 1;
        break;
    case VIEW_REVERSED:
        if (shape[0]) offset = (shape[0] - 1) * stride[0], stride[0] = -stride[0];
        break;
    case VIEW_BROADCAST: stride[0] = 0; break;
    case VIEW_OFFSET: offset = a->size / big[0]; break;
    default: return value_object(&a->h);
    }
    array *v = array_view(m, a, rank, shape, stride, offset);
    value_release(m, value_object(&a->h));
    return value_object(&v->h);
}

/* Steps a multi-index; false after the last. */
static inline bool view_step(int rank, const int64_t *shape, int64_t *index)
{
    for (int d = rank - 1; d >= 0; d--) {
        if (++index[d] < shape[d]) return true;
        index[d] = 0;
    }
    return false;
}

/* Equal scalars, bit for bit, any nan equal to any. */
static inline bool view_equal(value a, value b)
{
    if (a.tag != b.tag) return false;
    if (value_is_float(a) && a.u.f != a.u.f) return b.u.f != b.u.f;
    return a.u.i == b.u.i;
}
#endif
