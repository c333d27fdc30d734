/* kern_tile_avx2.c: tile kernels for processors with AVX2 and fused multiply-add. Only SLEEF's own
 * functions fuse; what is written here rounds after every operation, as everywhere. */
#if !defined(__clang__) /* which is given -mavx2 -mfma: see Makefile */
#pragma GCC target("avx2,fma")
#pragma GCC optimize("O3,no-trapping-math,no-math-errno,fp-contract=off")
#endif
#include <immintrin.h>
#include <sleef.h>
#define SUFFIX avx2
#define WIDTH 32 /* bytes of a vector */
#define SLEEF_D(name, u) Sleef_finz_##name##d4_##u##avx2
#define SLEEF_F(name, u) Sleef_finz_##name##f8_##u##avx2
#define SLEEF_D1(name, u) Sleef_finz_##name##d1_##u##purecfma
#define SLEEF_F1(name, u) Sleef_finz_##name##f1_##u##purecfma
#include "kern_tile.inc"
