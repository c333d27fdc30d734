/* test_gemm.c: matrix products of raw memory against their definition, bit for bit, over shapes,
 * strides, special values, paths, kernel sets and threads. */
#include "gemm.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252u;
static uint64_t next(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}
/* Magnitudes over 2^±4, and now and then what is awkward. */
static double number(bool special)
{
    uint64_t r = next();
    if (special && r % 61 == 0) {
        static const double odd[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-310, 1e300, -0.0};
        return odd[r / 61 % 8];
    }
    return ldexp((double)(int64_t)next() / 9.3e18, (int)(r % 9) - 4);
}
static double get(dtype d, const void *p, int64_t i) { return d == DTYPE_F32 ? (double)((const float *)p)[i] : ((const double *)p)[i]; }
static void put(dtype d, void *p, int64_t i, double x)
{
    if (d == DTYPE_F32) ((float *)p)[i] = (float)x;
    else ((double *)p)[i] = x;
}

/* A matrix with its memory: layout 0 rows, 1 columns, 2 gaps, 3 both axes reversed, 4 rows broadcast. */
typedef struct owned {
    matrix m;
    void *base;
    int64_t total;
} owned;
static owned make(dtype d, int64_t rows, int64_t columns, int layout, bool special)
{
    owned o;
    o.total = 6 * rows * columns + 8;
    o.base = malloc((size_t)o.total * 8);
    for (int64_t i = 0; i < o.total; i++) put(d, o.base, i, number(special));
    o.m = (matrix){o.base, columns, 1};
    if (layout == 1) o.m = (matrix){o.base, 1, rows};
    if (layout == 2) o.m = (matrix){o.base, 3 * columns, 2};
    if (layout == 3) o.m = (matrix){(char *)o.base + (rows * columns - (rows * columns > 0)) * dtype_size[d], -columns, -1};
    if (layout == 4) o.m = (matrix){o.base, 0, 1};
    return o;
}
static int64_t place(matrix m, int64_t i, int64_t j) { return i * m.rs + j * m.cs; }

static double defined(dtype d, int64_t i, int64_t j, int64_t k, matrix a, matrix b, bool add, double c)
{
    double sum = c;
    for (int64_t p = 0; p < k; p += GEMM_BLOCK, add = true) {
        double block = 0;
        for (int64_t q = p; q < k && q < p + GEMM_BLOCK; q++) {
            double x = get(d, a.data, place(a, i, q)), y = get(d, b.data, place(b, q, j));
            block = d == DTYPE_F32 ? (double)fmaf((float)x, (float)y, (float)block) : fma(x, y, block);
        }
        sum = !add ? block : d == DTYPE_F32 ? (double)((float)sum + (float)block) : sum + block;
    }
    return k == 0 && !add ? 0 : sum;
}
static bool equal(double x, double y) { return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0; }

static void one_product(dtype d, int64_t m, int64_t n, int64_t k, int la, int lb, int lc, bool add, bool special, int threads,
                        gemm_path path)
{
    owned a = make(d, m, k, la, special), b = make(d, k, n, lb, special), c = make(d, m, n, lc, false);
    if (!add)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) put(d, c.m.data, place(c.m, i, j), NAN);
    int64_t size = c.total * 8;
    void *before = malloc((size_t)size);
    memcpy(before, c.base, (size_t)size);
    int64_t offset = (char *)c.m.data - (char *)c.base;
    gemm(d, m, n, k, a.m, b.m, c.m, add, threads, path);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double want = defined(d, i, j, k, a.m, b.m, add, get(d, (char *)before + offset, place(c.m, i, j)));
            double got = get(d, c.m.data, place(c.m, i, j));
            ck_assert_msg(equal(want, got), "%s [%d, %d, %d] layouts %d %d %d add %d path %d threads %d at %d, %d: %a, want %a",
                          dtype_size[d] == 4 ? "f32" : "f64", (int)m, (int)n, (int)k, la, lb, lc, add, path, threads, (int)i, (int)j, got,
                          want);
            put(d, c.m.data, place(c.m, i, j), get(d, (char *)before + offset, place(c.m, i, j)));
        }
    /* Nothing but C's elements was written. */
    ck_assert_int_eq(memcmp(before, c.base, dtype_size[d] * (size_t)c.total), 0);
    free(before), free(a.base), free(b.base), free(c.base);
}

/* Under valgrind (UNIT_QUICK) a tenth of it. */
static void sweep(gemm_path path)
{
    unsigned every = getenv("UNIT_QUICK") ? 50 : 5;
    static const int sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 48, 65, 130};
    static const int depths[] = {0, 1, 2, 3, 7, 8, 31, 64, 255, 256, 257, 512, 530};
    unsigned pick = 0;
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned j = 0; j < sizeof sizes / sizeof *sizes; j++)
            for (unsigned l = 0; l < sizeof depths / sizeof *depths; l++) {
                if (++pick % every != 0) continue;
                if (sizes[i] * sizes[j] * depths[l] > 1500000) continue;
                unsigned r = (unsigned)next();
                one_product(r & 1 ? DTYPE_F32 : DTYPE_F64, sizes[i], sizes[j], depths[l], r / 2 % 5, r / 16 % 5, r / 128 % 4, r >> 10 & 1,
                            r >> 11 & 1, 1, path);
            }
}

START_TEST(auto_path) { sweep(GEMM_AUTO); }
END_TEST
START_TEST(blis_follows_the_definition) { sweep(GEMM_LARGE); }
END_TEST
START_TEST(scalar_tiles)
{
    if (gemm_force_tiles("scalar")) sweep(GEMM_SMALL);
}
END_TEST
START_TEST(avx2_tiles)
{
    if (gemm_force_tiles("avx2")) sweep(GEMM_SMALL);
}
END_TEST
START_TEST(avx512_tiles)
{
    if (gemm_force_tiles("avx512")) sweep(GEMM_SMALL);
}
END_TEST
START_TEST(threads_do_not_show)
{
    for (int t = 1; t <= 7; t++) {
        one_product(DTYPE_F64, 150, 70, 300, 0, 1, 0, false, true, t, GEMM_AUTO);
        one_product(DTYPE_F32, 40, 333, 90, 1, 0, 1, true, true, t, GEMM_SMALL);
        one_product(DTYPE_F32, 1, 2000, 300, 0, 0, 0, false, true, t, GEMM_AUTO);
        one_product(DTYPE_F64, 2000, 1, 300, 0, 0, 0, true, true, t, GEMM_AUTO);
    }
}
END_TEST
/* One large case for each dtype: several of BLIS's own blocks in every direction. */
START_TEST(large_case)
{
    if (getenv("UNIT_QUICK")) return;
    one_product(DTYPE_F32, 500, 4200, 257, 0, 0, 0, false, false, 2, GEMM_AUTO);
    one_product(DTYPE_F64, 700, 513, 300, 1, 1, 0, true, false, 2, GEMM_AUTO);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gemm");
    TCase *t = tcase_create("bits");
    tcase_set_timeout(t, 240);
    tcase_add_test(t, auto_path);
    tcase_add_test(t, blis_follows_the_definition);
    tcase_add_test(t, scalar_tiles);
    tcase_add_test(t, avx2_tiles);
    tcase_add_test(t, avx512_tiles);
    tcase_add_test(t, threads_do_not_show);
    tcase_add_test(t, large_case);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
