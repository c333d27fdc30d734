/* test_blas.c: after blas_reserve neither BLIS nor LAPACK asks libc for memory, and without it nothing is lost
 * but speed, or there is an error. The linker hands malloc over (see Makefile). The tests follow on each other: BLIS is
 * one for the process. */
#include "blas.h"
#include "gemm.h"
#include "lapack.h"
#include <string.h>
#include "unit.h"

static bool refuse;
static unsigned long asked;
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
    if (!refuse) return __real_malloc(n);
    asked++;
    return NULL;
}

static vm *open_vm(size_t limit)
{
    vm_config c = vm_config_default();
    c.threads = 2;
    c.limit = limit;
    vm *m = vm_open(&c);
    ck_assert_ptr_nonnull(m);
    return m;
}

static value number_array(vm *m, dtype d, int64_t rows, int64_t columns)
{
    array *a = array_new(m, d, 2, (int64_t[]){rows, columns});
    ck_assert_ptr_nonnull(a);
    for (int64_t i = 0; i < a->size; i++)
        array_put(a, i, value_f64((double)(i * 7919 % 1009) / 1009 - 0.5 + (i % (columns + 1) == 0 ? 9 : 0)));
    return value_object(&a->h);
}

START_TEST(memory_that_is_not_there)
{
    vm *m = open_vm(0);
    size_t before = m->mem.live_all;
    refuse = true;
    bool fine = blas_reserve(m, 2);
    refuse = false;
    ck_assert(!fine);
    ck_assert(m->error == NULL);
    ck_assert_uint_eq(m->mem.live_all, before);
    ck_assert_int_eq(m->blas_threads, 0);
    vm_close(m);
}
END_TEST

static void products(vm *m)
{
    static const int64_t sizes[][3] = {{256, 256, 256}, {600, 100, 300}, {97, 1300, 520}, {1000, 900, 40}};
    size_t n = getenv("UNIT_QUICK") ? 1 : sizeof sizes / sizeof *sizes; /* under valgrind */
    for (size_t i = 0; i < n; i++)
        for (dtype d = DTYPE_F32; d <= DTYPE_F64; d++) {
            int64_t rows = sizes[i][0], columns = sizes[i][1], inner = sizes[i][2];
            value a = number_array(m, d, rows, inner), b = number_array(m, d, inner, columns), c = number_array(m, d, rows, columns);
            matrix x = {as_array(a)->data, inner, 1}, y = {as_array(b)->data, columns, 1}, z = {as_array(c)->data, columns, 1};
            refuse = true;
            for (int threads = 1; threads <= 2; threads++) gemm(d, rows, columns, inner, x, y, z, threads == 2, threads, GEMM_LARGE);
            refuse = false;
            value_release(m, a), value_release(m, b), value_release(m, c);
        }
}

/* Everything that kern_lapack.c and kern_factor.c call. */
static void factorisations(vm *m, int n)
{
    value va = number_array(m, DTYPE_F64, n, n), vb = number_array(m, DTYPE_F64, n, n), vu = number_array(m, DTYPE_F64, n, n);
    int64_t room = 4 * (int64_t)n * n + 200 * (int64_t)n + 1000;
    value vw = number_array(m, DTYPE_F64, room, 1), vt = number_array(m, DTYPE_F64, n, n), vs = number_array(m, DTYPE_F64, n, 1);
    double *a = as_array(va)->data, *b = as_array(vb)->data, *u = as_array(vu)->data, *t = as_array(vt)->data, *s = as_array(vs)->data,
           *w = as_array(vw)->data;
    int *whole = calloc((size_t)(10 * n + 10), sizeof *whole);
    ck_assert_ptr_nonnull(whole);
    refuse = true;
    LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, a, n, whole);
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', n, n, a, n, whole, b, n);
    LAPACKE_dgetri_work(LAPACK_COL_MAJOR, n, a, n, whole, w, n);
    LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'L', 'T', 'U', n, n, a, n, b, n);
    LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'U', 'N', 'U', n, n, a, n, b, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i * n + j] = i == j ? n : 0.25;
    LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, a, n);
    LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, n, n, a, n, s, w, 64 * n);
    LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, n, n, n, a, n, s, w, 64 * n);
    LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'A', n, n, a, n, s, u, n, t, n, w, (int)room, whole);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i * n + j] = i == j ? n : 0.25 / (1 + abs(i - j));
    LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', n, a, n, s, w, (int)room, whole, 3 + 5 * n);
    refuse = false;
    free(whole);
    value_release(m, va), value_release(m, vb), value_release(m, vu), value_release(m, vw), value_release(m, vt), value_release(m, vs);
}

START_TEST(nothing_is_asked_for_later)
{
    vm *m = open_vm(0), *other = open_vm(0);
    size_t before = m->mem.live_all;
    ck_assert(blas_reserve(m, 1));
    ck_assert(blas_reserve(other, 1));
    ck_assert_uint_gt(m->mem.live_all, before);
    asked = 0;
    products(m); /* with the place of the other */
    for (int n = 1; n < (getenv("UNIT_QUICK") ? 40 : 300); n = 2 * n + 1) factorisations(m, n);
    ck_assert_uint_eq(asked, 0);
    size_t held = m->mem.live_all;
    ck_assert(blas_reserve(m, 1));
    ck_assert_uint_eq(m->mem.live_all, held);
    ck_assert(blas_reserve(m, 2));
    ck_assert_uint_eq(m->mem.live_all - held, held - before);
    vm_close(m);
    vm_close(other);
}
END_TEST

static value product_of(vm *m, dtype d)
{
    value x[2] = {number_array(m, d, 260, 260), number_array(m, d, 260, 260)}, out = value_undef();
    ck_assert(prim_apply(m, prim_named("matmul"), x, 2, 0, &out));
    value_release(m, x[0]), value_release(m, x[1]);
    return out;
}

START_TEST(a_limit_below_it)
{
    vm *m = open_vm((size_t)3 << 20), *wide = open_vm(0);
    for (dtype d = DTYPE_F32; d <= DTYPE_F64; d++) {
        value a = product_of(m, d), b = product_of(wide, d);
        ck_assert_int_eq(memcmp(as_array(a)->data, as_array(b)->data, (size_t)as_array(a)->size * dtype_size[d]), 0);
        value_release(m, a), value_release(wide, b);
    }
    ck_assert_int_eq(m->blas_threads, 0);
    ck_assert_int_eq(wide->blas_threads, 2);
    ck_assert_uint_le(m->mem.peak_all, m->mem.limit);
    value x = number_array(m, DTYPE_F64, 3, 3), out = value_undef();
    size_t live = m->mem.live_all;
    ck_assert(!prim_apply(m, prim_named("inv"), &x, 1, 0, &out));
    ck_assert(m->error && m->error->code == DIAG_MEMORY);
    diag_free(m->error);
    m->error = NULL;
    ck_assert_uint_eq(m->mem.live_all, live);
    value_release(m, x);
    vm_close(m);
    vm_close(wide);
}
END_TEST

UNIT_MAIN("blas", memory_that_is_not_there, nothing_is_asked_for_later, a_limit_below_it)
