/* window.h: windows that slide over the last one or two axes of an array: what convolution and pooling share.
 * One axis counts as two with a height of 1. */
#ifndef REPLAY_WINDOW_H
#define REPLAY_WINDOW_H
#include "kern.h"
#include "kern_util.h"

typedef struct window {
    int axes; /* 1 or 2 that are slid along */
    int64_t in[2], size[2], out[2], step[2], lo[2], hi[2], gap[2];
} window;

/* One number for all axes or one for each, from args[i]; at least `least`. */
bool window_pair(prim_call *c, uint32_t i, int axes, int64_t least, int64_t out[2]);
/* w->in and w->size are set: reads stride (none: the size), padding and dilation (0: there is none). */
bool window_read(prim_call *c, window *w, uint32_t stride, uint32_t padding, uint32_t dilation);
/* Along axis a, the window at place p covers elements from + gap * [*lo, *hi) of the input; gives `from`. */
static inline int64_t window_span(const window *w, int a, int64_t p, int64_t *lo, int64_t *hi)
{
    int64_t from = p * w->step[a] - w->lo[a], gap = w->gap[a];
    *lo = from < 0 ? (-from + gap - 1) / gap : 0;
    *hi = from < w->in[a] ? (w->in[a] - from + gap - 1) / gap : 0;
    if (*hi > w->size[a]) *hi = w->size[a];
    if (*lo > *hi) *lo = *hi;
    return from;
}
#endif
