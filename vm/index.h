/* index.h: what `x[…]` selects, worked out once and then read, written, added to or cleared.
 *
 * index_resolve turns an index (one component, or a tuple of them) and the shape of what is indexed
 * into an index_plan. Every selection has the same form: some axes that step by fixed strides, then
 * (perhaps) the axes of the index arrays, read from a table of offsets, then more strided axes:
 *
 *     element(p, k, q) at  offset + p . stride[0..at) + table[k] + q . stride[at + adv ..)
 *
 * where p runs over the axes before the index arrays, k over their broadcast shape flattened, and q over
 * the axes after. Without index arrays or masks `basic` holds, the table is empty and the selection is
 * a view. Order is row-major over (p, k, q); repeated indices are met in that order.
 *
 * NumPy's rules: negative indices count from the end; slices clip; `none` is a new axis; one `...`;
 * a mask stands for as many leading axes as it has; several index arrays broadcast together; index
 * arrays separated by a slice, `none` or `...` put their axes first. Index arrays may be of any dtype
 * when every element is whole (`x[[0, 2]]` is written with floats). */
#ifndef REPLAY_INDEX_H
#define REPLAY_INDEX_H
#include "vm.h"

typedef struct index_plan {
    bool basic;                                /* no table: a view of x */
    bool unique;                               /* no element can be selected twice (always so for basic) */
    int rank;                                  /* of the selection */
    int64_t shape[RANK_MAX], stride[RANK_MAX]; /* strides of the index arrays' axes are unused */
    int64_t size;
    int64_t offset; /* elements from the data pointer of x */
    int at, adv;    /* the axes [at, at + adv) of the selection are those of the index arrays */
    int64_t *table; /* ntable offsets, NULL when basic */
    int64_t ntable, table_bytes;
    int64_t few[4];           /* a short table lives here */
    const volatile int *stop; /* the VM's: what is left is not read, written or added when it is set; may be made NULL */
} index_plan;

/* x: shape and strides matter, data does not. On success the plan must be closed. Errors (DIAG_INDEX) name
   the index, the axis and its size; vm->fail_arg is left alone. */
bool index_resolve(vm *m, const shaped *x, value ix, index_plan *plan);
void index_close(vm *m, index_plan *plan);

/* A shaped without data: row-major strides for this shape. */
void shaped_dense(shaped *s, dtype d, int rank, const int64_t *shape);
/* The same for an array (data and strides are the array's). */
void shaped_array(shaped *s, const array *a);
/* Strides with which v reads as `shape` (0 along axes it is stretched over). Leading axes of size 1 that
   `shape` lacks are dropped, as in NumPy's assignment. False, without an error, when it does not fit. */
bool shaped_stretch(const shaped *v, int rank, const int64_t *shape, int64_t *stride);

/* All four take the data pointer the plan's x had (x: data of x; elements of dtype d).
   out: dense, plan->size elements of dtype d. */
void index_gather(const index_plan *p, dtype d, const void *x, void *out);
/* v: elements of dtype d with strides `stride` (from shaped_stretch to the plan's shape). Last wins. */
void index_scatter(const index_plan *p, dtype d, void *x, const void *v, const int64_t *stride);
/* Adds in row-major order of the selection, one rounding an element; d is f64, f32 or i64 (i64 wraps). */
void index_add(const index_plan *p, dtype d, void *x, const void *v, const int64_t *stride);
/* Writes zeros. */
void index_clear(const index_plan *p, dtype d, void *x);

/* What ix means for a sequence (tuple, string) of n items: one item (*single, *start its place), or
   count items start, start + step, …. Only a whole number or a slice will do; `what` is "a tuple". */
bool index_sequence(vm *m, const char *what, int64_t n, value ix, bool *single, int64_t *start, int64_t *step, int64_t *count);
/* A whole scalar of any numeric dtype as i64; false, without an error, for all else. */
bool index_whole(value v, int64_t *out);
#endif
