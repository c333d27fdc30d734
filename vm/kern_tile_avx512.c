/* kern_tile_avx512.c: tile kernels for processors with vectors of 64 bytes. The same bits as
 * kern_tile_avx2.c gives: SLEEF's functions agree, and test_elementwise.c compares every kernel. */
#if !defined(__clang__) /* which is given these as options: see Makefile */
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,prefer-vector-width=512")
#pragma GCC optimize("O3,no-trapping-math,no-math-errno,fp-contract=off")
#endif
#include <immintrin.h>
#include <sleef.h>
#define SUFFIX avx512
#define WIDTH 64 /* bytes of a vector */
#define SLEEF_D(name, u) Sleef_finz_##name##d8_##u##avx512f
#define SLEEF_F(name, u) Sleef_finz_##name##f16_##u##avx512f
#define SLEEF_D1(name, u) Sleef_finz_##name##d1_##u##purecfma
#define SLEEF_F1(name, u) Sleef_finz_##name##f1_##u##purecfma
#include "kern_tile.inc"
