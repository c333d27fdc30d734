/* reduce.h: reductions over axes by one fixed tree.
 *
 * The value of a float reduction is defined by shape and axes alone. Let x_0 … x_{n-1} be the elements
 * reduced into one output, in row-major order of the reduced axes, op the operation and e its identity
 * (-0 for a sum, 1, -inf, +inf):
 *
 *   block b      is x_{128 b} … x_{128 b + 127}; the last may be short
 *   lane j of it is ((e op x_{128 b + j}) op x_{128 b + j + 16}) op …        for j in 0..16
 *   folding      lane[j] = lane[j] op lane[j + w] for j < w, with w = 8, 4, 2, 1; lane[0] is the block's value
 *   blocks       are combined in pairs: of m > 1 values the first 2^k < m (k as large as can be) are combined
 *                among themselves, the rest among themselves, and then left op right
 *
 * With the reduced axis contiguous the lanes are vector lanes; with another axis contiguous 32 outputs
 * are vector lanes and each walks its own tree. Work is cut over outputs, and over subtrees of 1024 blocks,
 * which are whole subtrees; so strides, threads and tiles cannot change a bit. An empty sum is +0. */
#ifndef REPLAY_REDUCE_H
#define REPLAY_REDUCE_H
#include "kern_util.h"

enum { REDUCE_LANES = 16, REDUCE_BLOCK = 128, REDUCE_SUPER = 1024 /* blocks */, REDUCE_TILE = 32 };
typedef enum reduce_op { REDUCE_SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN } reduce_op;
/* What is reduced: the element x; x * x; (x - mu)^2; exp(x - mu), with one mu for each output. */
typedef enum reduce_term { TERM_X, TERM_SQUARE, TERM_DEVIATION, TERM_EXP } reduce_term;

/* An array's axes parted into kept and reduced, each in order, with x's strides. */
typedef struct reduce_axes {
    int nk, nr;
    int64_t kshape[RANK_MAX], kstride[RANK_MAX], rshape[RANK_MAX], rstride[RANK_MAX];
    int64_t outs, n; /* outputs; elements reduced into each */
    int rank;        /* of the result */
    int64_t shape[RANK_MAX];
} reduce_axes;

void reduce_axes_make(const shaped *x, const int *axes, int naxes, bool keepdims, reduce_axes *r);
/* From arguments `axis` and (when >= 0) `keepdims`. */
bool arg_reduce_axes(prim_call *c, const shaped *x, int axis, int keepdims, reduce_axes *r);

/* The dtype it is computed in: f32 for f32, else f64. */
static inline dtype reduce_dtype(dtype d) { return d == DTYPE_F32 ? DTYPE_F32 : DTYPE_F64; }
/* x of any dtype; out and mu: r->outs elements of reduce_dtype(x->dtype), in row-major order of the kept axes.
   Fails for want of memory, or when the program is to stop. n == 0 gives the identity (+0 for a sum). */
bool reduce_run(vm *m, const shaped *x, const reduce_axes *r, reduce_op op, reduce_term term, const void *mu, void *out);

/* The tree fed block by block, for fused code: values of blocks in order, then the end. */
typedef struct reduce_tree_f64 {
    double s[58];
    int n;
    uint64_t blocks;
} reduce_tree_f64;
typedef struct reduce_tree_f32 {
    float s[58];
    int n;
    uint64_t blocks;
} reduce_tree_f32;
double reduce_block_f64(reduce_op op, const double *x, int64_t n); /* n <= 128 */
float reduce_block_f32(reduce_op op, const float *x, int64_t n);
void reduce_push_f64(reduce_tree_f64 *t, reduce_op op, double block);
void reduce_push_f32(reduce_tree_f32 *t, reduce_op op, float block);
double reduce_end_f64(const reduce_tree_f64 *t, reduce_op op); /* after at least one block */
float reduce_end_f32(const reduce_tree_f32 *t, reduce_op op);

/* Sums of n <= 16 elements each, which follow one another. */
void reduce_short_sums_f64(int n, const double *x, int64_t count, double *out);
void reduce_short_sums_f32(int n, const float *x, int64_t count, float *out);

/* Calls for elements of one output: copies elements [i, i + n) of its reduced index, converted, densely. */
void reduce_load_f64(const shaped *x, const reduce_axes *r, int64_t base, int64_t i, int64_t n, double *dst);
void reduce_load_f32(const shaped *x, const reduce_axes *r, int64_t base, int64_t i, int64_t n, float *dst);
void reduce_load_i64(const shaped *x, const reduce_axes *r, int64_t base, int64_t i, int64_t n, int64_t *dst);
/* Offset in x of the first element of output k. */
int64_t reduce_base(const reduce_axes *r, int64_t k);
#endif
