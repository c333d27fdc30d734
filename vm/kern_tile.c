/* kern_tile.c: the tile kernels of elementwise primitives, for whatever processor runs them.
 *
 * kern_tile.inc is compiled once per instruction set (kern_tile_base.c, kern_tile_avx2.c, kern_tile_avx512.c),
 * each with its own suffix. Here, each kernel gets one function that asks the processor and jumps, and each row
 * its table. The question is a load and a branch or two for a tile of about a thousand elements. */
/* clang-format off */
#include "prim.h"
#include "tile_list.h"

#define WIDE (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#define WIDEST (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && WIDE)

#define PASS(name, T) \
    tile_kernel tile_##name##_##T##_base, tile_##name##_##T##_avx2, tile_##name##_##T##_avx512; \
    static void tile_##name##_##T(int64_t n, void *out, const void *const *args, unsigned scalars) \
    { \
        if (WIDEST) tile_##name##_##T##_avx512(n, out, args, scalars); \
        else if (WIDE) tile_##name##_##T##_avx2(n, out, args, scalars); \
        else tile_##name##_##T##_base(n, out, args, scalars); \
    }
#define PASS_CHECKED(name) \
    bool tile_##name##_i64_base(int64_t n, void *out, const void *const *args, unsigned scalars, int64_t *where); \
    bool tile_##name##_i64_avx2(int64_t n, void *out, const void *const *args, unsigned scalars, int64_t *where); \
    bool tile_##name##_i64_avx512(int64_t n, void *out, const void *const *args, unsigned scalars, int64_t *where); \
    static bool tile_##name##_i64(int64_t n, void *out, const void *const *args, unsigned scalars, int64_t *where) \
    { \
        if (WIDEST) return tile_##name##_i64_avx512(n, out, args, scalars, where); \
        return WIDE ? tile_##name##_i64_avx2(n, out, args, scalars, where) : tile_##name##_i64_base(n, out, args, scalars, where); \
    }
#define TABLE(name) extern const tiles tiles_##name; const tiles tiles_##name

#define TILE_F(name) PASS(name, f64) PASS(name, f32) TABLE(name) = {.f64 = tile_##name##_f64, .f32 = tile_##name##_f32};
#define TILE_A(name) PASS(name, f64) PASS(name, f32) PASS(name, i64) \
    TABLE(name) = {.f64 = tile_##name##_f64, .f32 = tile_##name##_f32, .i64 = tile_##name##_i64};
#define TILE_C(name, fault) PASS(name, f64) PASS(name, f32) PASS_CHECKED(name) \
    TABLE(name) = {.f64 = tile_##name##_f64, .f32 = tile_##name##_f32, .i64_checked = tile_##name##_i64, .i64_fault = fault};
#define TILE_B(name) PASS(name, f64) PASS(name, f32) PASS(name, i64) PASS(name, b) \
    TABLE(name) = {.f64 = tile_##name##_f64, .f32 = tile_##name##_f32, .i64 = tile_##name##_i64, .b = tile_##name##_b, \
                   .condition = sizeof #name == sizeof "where"};
#define TILE_L(name) PASS(name, b) TABLE(name) = {.b = tile_##name##_b};
TILE_LIST
