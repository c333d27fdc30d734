/* kern_tile_base.c: tile kernels for any x86-64 processor. */
#if !defined(__clang__)
#pragma GCC optimize("O3,no-trapping-math,no-math-errno,fp-contract=off")
#endif
#include <sleef.h>
#define SUFFIX base
#define WIDTH 16 /* bytes of a vector */
#define SLEEF_D(name, u) Sleef_cinz_##name##d2_##u##sse2
#define SLEEF_F(name, u) Sleef_cinz_##name##f4_##u##sse2
#define SLEEF_D1(name, u) Sleef_cinz_##name##d1_##u##purec
#define SLEEF_F1(name, u) Sleef_cinz_##name##f1_##u##purec
#include "kern_tile.inc"
