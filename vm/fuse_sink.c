/* fuse_sink.c: see fuse_sink.h. */
#include "fuse_sink.h"
#include "reduce.h"
#include <string.h>

enum { ROWS_MOST = 28 /* lanes, and a stack for as many blocks as 2^11 */, AFTER_BYTES = 2048, ALONE_MOST = 1 << 16 };

#define T double
#define F(name) name##_f64
#define TREE reduce_tree_f64
#include "fuse_sink_tile.h"
#undef T
#undef F
#undef TREE
#define T float
#define F(name) name##_f32
#define TREE reduce_tree_f32
#include "fuse_sink_tile.h"

/* Sums over the axes that are `on`. The result's shape is left to the caller. */
static bool part(sink *s, dtype type, int rank, const int64_t *shape, const bool *on)
{
    *s = (sink){.type = type, .outer = 1, .inner = 1, .after = 1};
    int64_t *now = &s->outer;
    for (int i = 0; i < rank; i++) {
        if (shape[i] == 1) continue;
        if (on[i] && now == &s->after) return false;
        if (on[i]) now = &s->inner;
        else if (now == &s->inner) now = &s->after;
        *now *= shape[i];
    }
    if (s->after == 1) return true;
    /* One walk over rows is one thread's, and its rows are to stay in cache. */
    return s->after * (int64_t)dtype_size[type] <= AFTER_BYTES && s->inner <= REDUCE_BLOCK << 11 &&
           (s->outer > 1 || s->inner * s->after <= ALONE_MOST);
}

bool sink_plan(sink *s, bool mean, dtype type, int rank, const int64_t *shape, value axis, bool keepdims)
{
    bool on[RANK_MAX] = {0};
    uint32_t n = axis.tag == V_TUPLE ? as_tuple(axis)->n : 1;
    const value *of = axis.tag == V_TUPLE ? as_tuple(axis)->v : &axis;
    if (type < DTYPE_F32 || rank == 0) return false;
    for (uint32_t k = 0; k < n && axis.tag != V_NONE; k++) {
        if (of[k].tag != V_I64 && !(of[k].tag == V_F64 && of[k].u.f == (double)(int64_t)of[k].u.f)) return false;
        int64_t i = of[k].tag == V_I64 ? of[k].u.i : (int64_t)of[k].u.f;
        if (i < 0) i += rank;
        if (i < 0 || i >= rank || on[i]) return false;
        on[i] = true;
    }
    for (int i = 0; i < rank && axis.tag == V_NONE; i++) on[i] = true;
    if (!part(s, type, rank, shape, on)) return false;
    s->mean = mean;
    for (int i = 0; i < rank; i++)
        if (!on[i] || keepdims) s->shape[s->rank++] = on[i] ? 1 : shape[i];
    return true;
}

bool sink_plan_form(sink *s, dtype type, int rank, const int64_t *shape, value f)
{
    bool number = f.tag == V_FORM, on[RANK_MAX] = {0};
    if (type < DTYPE_F32 || (!number && (f.tag != V_FORMOBJ || as_form(f)->kind != V_ARRAY))) return false;
    int to = number ? 0 : as_form(f)->rank, lead = rank - to;
    if ((number ? (dtype)(f.aux & 0xff) : (dtype)as_form(f)->dtype) != type || lead < 0) return false;
    for (int i = 0; i < rank; i++) {
        int64_t own = i < lead ? 1 : as_form(f)->shape[i - lead];
        on[i] = i < lead || (own == 1 && shape[i] != 1);
        if (!on[i] && own != shape[i]) return false;
    }
    if (!part(s, type, rank, shape, on)) return false;
    s->weak = number && type == DTYPE_F64 && f.aux >> 8 ? WEAK_FLOAT : STRONG;
    s->rank = to;
    if (to) memcpy(s->shape, as_form(f)->shape, (size_t)to * sizeof(int64_t));
    return true;
}

bool sink_same(const sink *a, const sink *b) { return a->outer == b->outer && a->inner == b->inner && a->after == b->after; }

int64_t sink_unit(const sink *s) { return s->outer == 1 && s->after == 1 ? SINK_PART : s->inner * s->after; }

size_t sink_state(const sink *s)
{
    size_t rows = s->after > 1 ? ROWS_MOST * (size_t)s->after * dtype_size[s->type] : 0;
    return ((s->type == DTYPE_F32 ? sizeof(state_f32) : sizeof(state_f64)) + rows + 63) / 64 * 64;
}

bool sink_open(vm *m, sink *s)
{
    if (s->rank == 0) s->out = &s->one;
    else if (!(s->made = array_new(m, s->type, s->rank, s->shape))) return false;
    else s->out = s->made->data;
    if (s->outer > 1 || s->after > 1 || s->inner <= SINK_PART) return true;
    size_t bytes = (size_t)((s->inner + SINK_PART - 1) / SINK_PART) * dtype_size[s->type];
    if (!(s->parts = memory_alloc(&m->mem, MEM_OTHER, bytes))) return vm_out_of_memory(m);
    s->part_bytes = bytes;
    return true;
}

void sink_close(vm *m, sink *s)
{
    memory_free(&m->mem, MEM_OTHER, s->parts, s->part_bytes);
    if (s->made) value_release(m, value_object(&s->made->h));
    s->parts = NULL;
    s->made = NULL;
}

void sink_feed(const sink *s, void *state, int64_t at, const void *x, int64_t n)
{
    if (s->type == DTYPE_F32) (s->after > 1 ? across_f32 : along_f32)(s, state, at, x, n);
    else (s->after > 1 ? across_f64 : along_f64)(s, state, at, x, n);
}

value sink_end(sink *s)
{
    if (s->type == DTYPE_F32) end_f32(s);
    else end_f64(s);
    if (s->made) return value_retain(value_object(&s->made->h));
    value v = scalar_of(s->type, s->type == DTYPE_F32 ? *(float *)s->out : *(double *)s->out);
    v.weak = (uint8_t)s->weak;
    return v;
}
