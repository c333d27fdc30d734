/* lapack.h: stacks of matrices for LAPACK: loading one matrix of a strided array as the column-major f64
 * that LAPACK wants, and storing results.
 *
 * All of it is computed in f64, f32 arrays too, and rounded once at the end. LAPACK is told to use one
 * thread, whatever --threads says: its bits change with threads. */
#ifndef REPLAY_LAPACK_H
#define REPLAY_LAPACK_H
#include "kern_util.h"
#include "kern.h"
#include <lapacke.h>

/* Argument i as count matrices of m by n; d is the dtype results have. */
typedef struct stack {
    shaped x;
    int64_t m, n, count;
    dtype d;
} stack;
bool stack_open(prim_call *c, uint32_t i, bool square, stack *s);
/* Matrix k, column-major and dense. */
void stack_load(const stack *s, int64_t k, double *to);
/* Elements of the k-th m by n matrix of a result, from column-major. */
void stack_store(result *r, int64_t k, int64_t m, int64_t n, const double *from);
/* A result of the stack's batch axes and then `tail` axes. */
bool stack_result(prim_call *c, const stack *s, int tail, const int64_t *shape, result *r);
/* "a[3] is singular": the matrix of the batch that failed. Always false. */
bool stack_fail(prim_call *c, const stack *s, int64_t k, const char *what);
/* Fails when a number is nan or inf, on which the iterations of eigh and svd do not end. */
bool stack_finite(prim_call *c, const stack *s, int64_t k, const double *a);

/* LU of a (column-major, n by n, in place) and its determinant; false when a pivot is exactly 0. */
bool lapack_lu(int64_t n, double *a, int *pivots, double *det);
/* a = u diag(s) vt; u: [m, uc], vt: [vr, n] column-major. `work` holds lapack_svd_room(m, n) doubles. */
bool lapack_svd(bool full, int64_t m, int64_t n, double *a, double *u, double *s, double *vt, arena *w);
/* LAPACK's name and version, for --version. */
const char *lapack_describe(void);
void lapack_one_thread(void);
#endif
