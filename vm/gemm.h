/* gemm.h: matrix products of raw strided memory, and the definition of their bits.
 *
 * An element of C = A B is defined as: k in blocks of GEMM_BLOCK; in each block one chain of fused
 * multiply-adds from 0 in increasing k; the block sums added in order, the first one stored. With
 * `add` every block sum is added to what C holds. No element's bits depend on strides, on the other
 * elements, on threads, or on which of the kernels below computed it:
 *   - large products: BLIS's native gemm, one block of k a call, one thread a call. Its skx,
 *     haswell, zen and excavator kernel sets follow the definition (tests/unit/test_matmul.c asks the
 *     one in use); blas.c picks the best one this processor has, whatever BLIS_ARCH_TYPE says.
 *   - small and thin products, where BLIS's packing costs more than the arithmetic: gemm_tile.h.
 *   - a processor without FMA: gemm_tile.h with the C library's fma.
 * With k = 0 an element is 0 (or, with `add`, what it was). */
#ifndef REPLAY_GEMM_H
#define REPLAY_GEMM_H
#include "array.h"

#define GEMM_BLOCK 256

/* A matrix somewhere in memory; strides in elements, any sign, 0 when broadcast (operands only). */
typedef struct matrix {
    void *data;
    int64_t rs, cs;
} matrix;

typedef enum gemm_path { GEMM_AUTO, GEMM_SMALL, GEMM_LARGE } gemm_path;

/* c: [m, n] = (add ? c : 0) + a: [m, k] @ b: [k, n], d f32 or f64, on up to `threads` threads. C's
   elements are distinct and share no memory with a or b. GEMM_LARGE falls back to the small kernels
   where BLIS cannot be used; other paths than GEMM_AUTO are for tests and measurements. */
void gemm(dtype d, int64_t m, int64_t n, int64_t k, matrix a, matrix b, matrix c, bool add, int threads, gemm_path path);
/* The same, unless `stop` (NULL: never) is seen to be set: then C holds anything. */
void gemm_until(const volatile int *stop, dtype d, int64_t m, int64_t n, int64_t k, matrix a, matrix b, matrix c, bool add, int threads,
                gemm_path path);
/* Whether GEMM_AUTO gives a product of this size to BLIS, whose memory must be reserved before (blas.h). */
bool gemm_is_large(int64_t m, int64_t n, int64_t k);
/* Leaves only the named tile kernels ("avx512", "avx2", "scalar") in use when the processor has them
   (tests); false when it has not. */
bool gemm_force_tiles(const char *name);
#endif
