/* array.c: arrays and their buffers: making, viewing, copying, reading and writing one element.
 *
 * In go shapes, out come arrays with one reference. What holds throughout: an array is a view of
 * exactly one buffer, which counts the arrays that view it; `dense` says that strides are row-major
 * for the shape (an axis of size 1 may have any stride and still be dense: nobody steps along it).
 * Conversions are those of array_copy alone, so every kernel that converts gets the same numbers. */
#include "vm.h"
#include "kern_util.h"
#include <string.h>

/* The number of elements, or -1 when there cannot be as many. */
static int64_t size_of_shape(int rank, const int64_t *shape)
{
    int64_t n = 1;
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 0) return -1;
        if (shape[i] == 0) {
            empty = true;
            continue;
        }
        if (shape[i] > ELEMENTS_MOST / n) return -1;
        n *= shape[i];
    }
    return empty ? 0 : n;
}

static size_t header_bytes(int rank) { return sizeof(array) + 2 * (size_t)rank * sizeof(int64_t); }

static array *header_new(vm *m, dtype d, int rank, const int64_t *shape)
{
    array *a = memory_alloc(&m->mem, MEM_ARRAY, header_bytes(rank));
    if (!a) {
        vm_out_of_memory(m);
        return NULL;
    }
    a->h.refs = 1;
    a->h.kind = V_ARRAY;
    a->dtype = (uint8_t)d;
    a->rank = (uint8_t)rank;
    memcpy(a->dims, shape, (size_t)rank * sizeof(int64_t));
    return a;
}

array *array_new(vm *m, dtype d, int rank, const int64_t *shape)
{
    if (rank < 1 || rank > RANK_MAX) {
        vm_fail(m, DIAG_SHAPE, "an array of rank %d: the most is %d", rank, RANK_MAX);
        return NULL;
    }
    int64_t n = size_of_shape(rank, shape);
    if (n < 0) {
        text t;
        text_open(&t, &m->mem);
        shape_print(rank, shape, &t);
        vm_fail(m, DIAG_SHAPE, "an array of shape %s cannot be: a size is negative, or there are more than 2^48 elements", text_str(&t));
        text_close(&t);
        return NULL;
    }
    array *a = header_new(m, d, rank, shape);
    if (!a) return NULL;
    size_t bytes = (size_t)n * dtype_size[d];
    buffer *b = memory_alloc(&m->mem, MEM_ARRAY, sizeof *b);
    void *data = b ? memory_array_alloc(&m->mem, bytes) : NULL;
    if (!data) {
        memory_free(&m->mem, MEM_ARRAY, b, sizeof *b);
        memory_free(&m->mem, MEM_ARRAY, a, header_bytes(rank));
        vm_out_of_memory(m);
        return NULL;
    }
    b->refs = 1;
    b->bytes = bytes;
    b->birth = m->clock++;
    b->data = data;
    a->buf = b;
    a->data = data;
    a->dense = true;
    a->size = n;
    int64_t step = 1;
    int64_t *stride = array_stride(a);
    for (int i = rank - 1; i >= 0; i--) {
        stride[i] = step;
        step *= shape[i] > 0 ? shape[i] : 1;
    }
    return a;
}

array *array_zeros(vm *m, dtype d, int rank, const int64_t *shape)
{
    array *a = array_new(m, d, rank, shape);
    if (a) memset(a->data, 0, a->buf->bytes);
    return a;
}

array *array_wrap(vm *m, dtype d, int rank, const int64_t *shape, const int64_t *stride, void *data, void (*done)(void *user, void *data),
                  void *user)
{
    int64_t n = rank >= 1 && rank <= RANK_MAX ? size_of_shape(rank, shape) : -1;
    if (n < 0) {
        vm_fail(m, DIAG_SHAPE, "an array of this rank or shape cannot be");
        return NULL;
    }
    array *a = header_new(m, d, rank, shape);
    foreign_buffer *f = a ? memory_alloc(&m->mem, MEM_ARRAY, sizeof *f) : NULL;
    if (!f) {
        memory_free(&m->mem, MEM_ARRAY, a, header_bytes(rank));
        vm_out_of_memory(m);
        return NULL;
    }
    *f = (foreign_buffer){.b = {.refs = 1, .bytes = (size_t)n * dtype_size[d], .birth = m->clock++, .foreign = true, .data = data},
                          .done = done,
                          .user = user};
    a->buf = &f->b;
    a->data = data;
    a->size = n;
    a->dense = true;
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        array_stride(a)[i] = stride ? stride[i] : step;
        if (n && shape[i] != 1 && array_stride(a)[i] != step) a->dense = false;
        step *= shape[i] > 0 ? shape[i] : 1;
    }
    return a;
}

array *array_view(vm *m, const array *a, int rank, const int64_t *shape, const int64_t *stride, int64_t offset)
{
    int64_t size = size_of_shape(rank, shape);
    if (size < 0) {
        vm_fail(m, DIAG_SHAPE, "an array of this shape would have more than 2^48 elements");
        return NULL;
    }
    array *v = header_new(m, (dtype)a->dtype, rank, shape);
    if (!v) return NULL;
    memcpy(array_stride(v), stride, (size_t)rank * sizeof(int64_t));
    v->size = size;
    v->dense = true;
    int64_t step = 1;
    if (v->size)
        for (int i = rank - 1; i >= 0; i--) {
            if (shape[i] != 1 && stride[i] != step) v->dense = false;
            step *= shape[i];
        }
    v->buf = a->buf;
    v->buf->refs++;
    v->data = (char *)a->data + offset * (int64_t)dtype_size[a->dtype];
    return v;
}

/* dst[i * ds] = (conversion) src[i * ss]. Written once for each pair of dtypes. */
#define CONVERT(D, S, expression) \
    { \
        D *q = dst; \
        const S *p = src; \
        for (int64_t i = 0; i < n; i++) { \
            S x = p[i * ss]; \
            q[i] = expression; \
        } \
        return; \
    }
void array_convert(dtype to, void *dst, dtype from, const void *src, int64_t ss, int64_t n)
{
    if (to == from && ss == 1) {
        memcpy(dst, src, (size_t)n * dtype_size[to]);
        return;
    }
    switch ((int)to * 4 + (int)from) {
    case DTYPE_BOOL * 4 + DTYPE_BOOL: CONVERT(uint8_t, uint8_t, x)
    case DTYPE_BOOL * 4 + DTYPE_I64: CONVERT(uint8_t, int64_t, x != 0)
    case DTYPE_BOOL * 4 + DTYPE_F32: CONVERT(uint8_t, float, x != 0)
    case DTYPE_BOOL * 4 + DTYPE_F64: CONVERT(uint8_t, double, x != 0)
    case DTYPE_I64 * 4 + DTYPE_BOOL: CONVERT(int64_t, uint8_t, x)
    case DTYPE_I64 * 4 + DTYPE_I64: CONVERT(int64_t, int64_t, x)
    case DTYPE_I64 * 4 + DTYPE_F32: CONVERT(int64_t, float, in_i64((double)x) ? (int64_t)x : INT64_MIN)
    case DTYPE_I64 * 4 + DTYPE_F64: CONVERT(int64_t, double, in_i64(x) ? (int64_t)x : INT64_MIN)
    case DTYPE_F32 * 4 + DTYPE_BOOL: CONVERT(float, uint8_t, (float)x)
    case DTYPE_F32 * 4 + DTYPE_I64: CONVERT(float, int64_t, (float)x)
    case DTYPE_F32 * 4 + DTYPE_F32: CONVERT(float, float, x)
    case DTYPE_F32 * 4 + DTYPE_F64: CONVERT(float, double, (float)x)
    case DTYPE_F64 * 4 + DTYPE_BOOL: CONVERT(double, uint8_t, (double)x)
    case DTYPE_F64 * 4 + DTYPE_I64: CONVERT(double, int64_t, (double)x)
    case DTYPE_F64 * 4 + DTYPE_F32: CONVERT(double, float, (double)x)
    case DTYPE_F64 * 4 + DTYPE_F64: CONVERT(double, double, x)
    }
}

/* out[i * run + j] = from[i * outer + j * inner]: short runs without a call for each. */
#define SHORT_RUNS(T, RUN, OUTER, INNER) \
    { \
        T *restrict q = out; \
        const T *restrict p = from; \
        for (int64_t i = 0; i < times; i++) \
            for (int64_t j = 0; j < RUN; j++) q[i * RUN + j] = p[i * OUTER + j * INNER]; \
        return; \
    }
/* An element repeated, as by an axis of one, and any other run of that length. */
#define SHORT_OF(T, RUN) \
    { \
        if (inner == 0 && outer == 1) SHORT_RUNS(T, RUN, 1, 0) \
        SHORT_RUNS(T, RUN, outer, inner) \
    }
#define SHORT(T) \
    switch (run) { \
    case 2: SHORT_OF(T, 2) \
    case 3: SHORT_OF(T, 3) \
    case 4: SHORT_OF(T, 4) \
    default: SHORT_RUNS(T, run, outer, inner) \
    }
KERN_CLONES static void gather_short(size_t size, void *out, const void *from, int64_t times, int64_t outer, int64_t run, int64_t inner)
{
    if (size == 4) SHORT(uint32_t)
    else SHORT(uint64_t)
}

void shape_gather(const shaped *s, dtype to, void *dst, int64_t first, int64_t n)
{
    size_t es = dtype_size[s->dtype], ed = dtype_size[to];
    const char *src = s->data;
    char *out = dst;
    if (s->rank == 0) {
        array_convert(to, dst, s->dtype, src, 0, n);
        return;
    }
    /* Position of element `first`. */
    int last = s->rank - 1;
    int64_t ix[RANK_MAX], at = 0, k = first;
    for (int d = last; d >= 0; d--) {
        ix[d] = s->shape[d] ? k % s->shape[d] : 0;
        k = s->shape[d] ? k / s->shape[d] : 0;
        at += ix[d] * s->stride[d];
    }
    while (n > 0) {
        int64_t run = s->shape[last] - ix[last];
        if (run > n) run = n;
        const char *from = src + at * (int64_t)es;
        int64_t step = s->stride[last], whole = s->shape[last];
        if (run == whole && run < 32 && last > 0 && s->stride[last - 1] == 0) {
            /* The same few elements again and again: copied once, then doubled. */
            int64_t times = s->shape[last - 1] - ix[last - 1], done = 1;
            if (times > n / run) times = n / run;
            array_convert(to, out, s->dtype, from, step, run);
            size_t bytes = (size_t)run * ed;
            for (int64_t more; done < times; done += more) {
                more = done < times - done ? done : times - done;
                memcpy(out + (size_t)done * bytes, out, (size_t)more * bytes);
            }
            ix[last - 1] += times - 1;
            out += (times - 1) * (int64_t)bytes;
            n -= (times - 1) * run;
        } else if (run < 32 && to == s->dtype && ed >= 4) {
            int64_t times = 1;
            if (run == whole && last > 0) {
                times = s->shape[last - 1] - ix[last - 1];
                if (times > n / run) times = n / run;
            }
            gather_short(ed, out, from, times, last > 0 ? s->stride[last - 1] : 0, run, step);
            if (times > 1) {
                ix[last - 1] += times - 1;
                at += (times - 1) * s->stride[last - 1];
                out += (times - 1) * run * (int64_t)ed;
                n -= (times - 1) * run;
            }
        } else array_convert(to, out, s->dtype, from, step, run);
        out += run * (int64_t)ed;
        n -= run;
        ix[last] += run;
        at += run * s->stride[last];
        for (int d = last; d > 0 && ix[d] == s->shape[d]; d--) {
            at += s->stride[d - 1] - ix[d] * s->stride[d];
            ix[d] = 0;
            ix[d - 1]++;
        }
    }
}

/* Elements between looks at whether the program is to stop. */
enum { COPY_PIECE = 1 << 20 };

array *array_copy(vm *m, const array *a, dtype d)
{
    array *c = array_new(m, d, a->rank, a->dims);
    if (!c || !a->size) return c;
    value v = {.tag = V_ARRAY, .u.o = (object *)&a->h};
    shaped s;
    shaped_of(&v, &s);
    shape_collapse(&s);
    for (int64_t i = 0, n; i < a->size && !INTERRUPTED(m); i += n) {
        n = a->size - i < COPY_PIECE ? a->size - i : COPY_PIECE;
        shape_gather(&s, d, (char *)c->data + i * (int64_t)dtype_size[d], i, n);
    }
    if (!vm_interrupted(m)) return c;
    value_release(m, value_object(&c->h));
    return NULL;
}

array *array_dense(vm *m, const array *a)
{
    if (!a->dense) return array_copy(m, a, (dtype)a->dtype);
    array *same = (array *)a;
    same->h.refs++;
    return same;
}

bool array_unique(const array *a) { return a->h.refs == 1 && a->buf->refs == 1 && !a->buf->foreign; }

value array_get(const array *a, const int64_t *index)
{
    int64_t at = 0;
    const int64_t *stride = array_stride(a);
    for (int i = 0; i < a->rank; i++) at += index[i] * stride[i];
    return array_at(a, at);
}

value array_at(const array *a, int64_t offset)
{
    switch ((dtype)a->dtype) {
    case DTYPE_BOOL: return value_bool(((uint8_t *)a->data)[offset] != 0);
    case DTYPE_I64: return value_i64(((int64_t *)a->data)[offset]);
    case DTYPE_F32: return value_f32(((float *)a->data)[offset]);
    default: return value_f64(((double *)a->data)[offset]);
    }
}

void array_put(array *a, int64_t offset, value scalar)
{
    shaped s;
    shaped_of(&scalar, &s);
    array_convert((dtype)a->dtype, (char *)a->data + offset * (int64_t)dtype_size[a->dtype], s.dtype, s.data, 1, 1);
}
