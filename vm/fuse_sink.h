/* fuse_sink.h: sums and means at the end of a fused group, fed tile by tile: what is summed never becomes an array.
 *
 * Cotangents of what was broadcast are sums, too. A group's elements lie in row-major order of its shape, which a sink sees as [outer, inner, after] and sums over
 * `inner`. The tree is that of reduce.h, so the bits are those of the reduction by itself. All sinks of a group
 * part its shape alike. Work may be cut at multiples of sink_unit elements, each part fed in order. */
#ifndef REPLAY_FUSE_SINK_H
#define REPLAY_FUSE_SINK_H
#include "vm.h"

enum { SINKS = 4 /* of a group, at most */, SINK_PART = 128 * 1024 /* elements of a subtree of reduce.h */ };

typedef struct sink {
    int16_t node; /* whose elements are summed */
    bool mean;
    dtype type;
    weakness weak;
    int64_t outer, inner, after;
    int rank;
    int64_t shape[RANK_MAX]; /* of the result */
    array *made;             /* NULL: the result is one number */
    double one;              /* … which is here, as a `type` */
    void *out, *parts;       /* outer * after sums; with one sum in several parts, those of the parts */
    size_t part_bytes;
} sink;

/* The sum or mean of elements of `type` and this shape over `axis`, as a sink; false: not one that a group takes. */
bool sink_plan(sink *s, bool mean, dtype type, int rank, const int64_t *shape, value axis, bool keepdims);
/* The same of a cotangent summed to fit form f (reduce_to), where that sums anything. */
bool sink_plan_form(sink *s, dtype type, int rank, const int64_t *shape, value f);
bool sink_same(const sink *a, const sink *b);
int64_t sink_unit(const sink *s);
/* Bytes that one thread needs to feed s; they begin as zeros. */
size_t sink_state(const sink *s);
/* Makes room for the result; false with the error set. sink_close gives all of it back. */
bool sink_open(vm *m, sink *s);
void sink_close(vm *m, sink *s);
/* Elements at … at + n, dense. */
void sink_feed(const sink *s, void *state, int64_t at, const void *x, int64_t n);
/* All was fed: the result, a new reference. */
value sink_end(sink *s);
#endif
