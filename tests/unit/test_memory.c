/* test_memory.c: accounts, limits, budgets, the pool and the arena. */
#include "unit.h"
#include <string.h>

START_TEST(counts_by_tag)
{
    memory m;
    ck_assert(memory_open(&m));
    char *a = memory_alloc(&m, MEM_CODE, 100), *b = memory_alloc(&m, MEM_AST, 5000);
    for (int i = 0; i < 100; i++) ck_assert_int_eq(a[i], 0);
    for (int i = 0; i < 5000; i++) ck_assert_int_eq(b[i], 0);
    ck_assert_uint_eq(m.live[MEM_CODE], 100);
    ck_assert_uint_eq(m.live[MEM_AST], 5000);
    ck_assert_uint_eq(m.live_all, 5100);
    memset(a, 7, 100);
    a = memory_resize(&m, MEM_CODE, a, 100, 300);
    for (int i = 0; i < 100; i++) ck_assert_int_eq(a[i], 7);
    ck_assert_uint_eq(m.live[MEM_CODE], 300);
    a = memory_resize(&m, MEM_CODE, a, 300, 10);
    ck_assert_uint_eq(m.live[MEM_CODE], 10);
    ck_assert_uint_eq(m.peak[MEM_CODE], 300);
    memory_free(&m, MEM_AST, b, 5000);
    memory_free(&m, MEM_AST, NULL, 12345);
    ck_assert_uint_eq(m.live_all, 10);
    ck_assert_uint_eq(m.peak_all, 5300);
    memory_reset_peak(&m);
    ck_assert_uint_eq(m.peak_all, 10);
    ck_assert_uint_eq(m.peak[MEM_AST], 0);
    memory_free(&m, MEM_CODE, a, 10);
    ck_assert_uint_eq(m.live_all, 0);
    memory_close(&m);
}
END_TEST

START_TEST(nothing_is_a_unique_pointer)
{
    memory m;
    ck_assert(memory_open(&m));
    void *a = memory_alloc(&m, MEM_OTHER, 0), *b = memory_alloc(&m, MEM_OTHER, 0);
    void *c = memory_array_alloc(&m, 0), *d = memory_array_alloc(&m, 0);
    ck_assert(a && b && c && d && a != b && c != d);
    ck_assert_uint_eq(m.live_all, 0);
    a = memory_resize(&m, MEM_OTHER, a, 0, 8);
    a = memory_resize(&m, MEM_OTHER, a, 8, 0);
    ck_assert_ptr_nonnull(a);
    void *e = memory_resize(&m, MEM_OTHER, NULL, 0, 16);
    ck_assert_ptr_nonnull(e);
    memory_free(&m, MEM_OTHER, e, 16);
    memory_free(&m, MEM_OTHER, a, 0);
    memory_free(&m, MEM_OTHER, b, 0);
    memory_array_free(&m, c, 0);
    memory_array_free(&m, d, 0);
    memory_close(&m);
}
END_TEST

START_TEST(limit_refuses)
{
    memory m;
    ck_assert(memory_open(&m));
    m.limit = 1000;
    char *a = memory_alloc(&m, MEM_VALUE, 600);
    ck_assert_ptr_null(memory_alloc(&m, MEM_VALUE, 401));
    ck_assert_uint_eq(m.refused, 401);
    ck_assert_ptr_null(memory_array_alloc(&m, 401));
    ck_assert_ptr_null(memory_resize(&m, MEM_VALUE, a, 600, 1001));
    ck_assert_uint_eq(m.refused, 1001);
    ck_assert_uint_eq(m.live_all, 600);
    ck_assert_uint_eq(m.peak_all, 600);
    void *b = memory_array_alloc(&m, 400);
    ck_assert_ptr_nonnull(b);
    m.limit = 10; /* below what is held: nothing more is given, everything can be freed */
    ck_assert_ptr_null(memory_alloc(&m, MEM_VALUE, 1));
    a = memory_resize(&m, MEM_VALUE, a, 600, 500);
    ck_assert_ptr_nonnull(a);
    memory_array_free(&m, b, 400);
    memory_free(&m, MEM_VALUE, a, 500);
    ck_assert_uint_eq(m.live_all, 0);
    memory_close(&m);
}
END_TEST

START_TEST(absurd_sizes_are_refused)
{
    memory m;
    ck_assert(memory_open(&m));
    size_t sizes[] = {SIZE_MAX, SIZE_MAX / 2, (size_t)PTRDIFF_MAX - 5000, (size_t)1 << 62};
    char *p = memory_alloc(&m, MEM_OTHER, 8);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (memory_checked() && sizes[i] < PTRDIFF_MAX - 4096) continue; /* the sanitizer would stop */
        ck_assert_ptr_null(memory_alloc(&m, MEM_OTHER, sizes[i]));
        ck_assert_ptr_null(memory_array_alloc(&m, sizes[i]));
        ck_assert_ptr_null(memory_resize(&m, MEM_OTHER, p, 8, sizes[i]));
        ck_assert_uint_eq(m.refused, sizes[i]);
    }
    arena a;
    arena_open(&a, &m, MEM_AST);
    ck_assert_ptr_null(arena_alloc(&a, SIZE_MAX));
    ck_assert_ptr_null(arena_text(&a, "x", SIZE_MAX));
    arena_close(&a);
    ck_assert_uint_eq(m.live_all, 8);
    ck_assert_uint_eq(m.peak_all, 8);
    memory_free(&m, MEM_OTHER, p, 8);
    memory_close(&m);
}
END_TEST

START_TEST(fail_at_refuses_one)
{
    memory m;
    ck_assert(memory_open(&m));
    m.fail_at = 3;
    void *a = memory_alloc(&m, MEM_OTHER, 1), *b = memory_array_alloc(&m, 2);
    ck_assert(a && b);
    ck_assert_ptr_null(memory_resize(&m, MEM_OTHER, a, 1, 9));
    void *c = memory_array_alloc(&m, 3);
    ck_assert_ptr_nonnull(c);
    ck_assert_uint_eq(m.count, 4);
    memory_free(&m, MEM_OTHER, a, 1);
    memory_array_free(&m, b, 2);
    memory_array_free(&m, c, 3);
    memory_close(&m);
}
END_TEST

START_TEST(arrays_are_aligned_and_apart)
{
    memory m;
    ck_assert(memory_open(&m));
    enum { N = 300 };
    static unsigned char *p[N];
    static size_t n[N];
    uint32_t random = 1;
    for (int step = 0; step < 6000; step++) {
        random = random * 1664525u + 1013904223u;
        int i = (int)(random >> 8) % N;
        if (p[i]) {
            for (size_t k = 0; k < n[i]; k += n[i] < 4096 ? 1 : 997) ck_assert_int_eq(p[i][k], (unsigned char)i);
            ck_assert_int_eq(p[i][n[i] - 1], (unsigned char)i);
            memory_array_free(&m, p[i], n[i]);
            p[i] = NULL;
        } else {
            random = random * 1664525u + 1013904223u;
            n[i] = 1 + (random >> 4) % (size_t)(64 << (step % 13));
            p[i] = memory_array_alloc(&m, n[i]);
            ck_assert_ptr_nonnull(p[i]);
            ck_assert_uint_eq((uintptr_t)p[i] % 64, 0);
            memset(p[i], i, n[i]);
        }
    }
    for (int i = 0; i < N; i++) memory_array_free(&m, p[i], p[i] ? n[i] : 0);
    ck_assert_uint_eq(m.live_all, 0);
    memory_close(&m);
}
END_TEST

START_TEST(every_class_boundary)
{
    memory m;
    ck_assert(memory_open(&m));
    for (int power = 6; power < 25; power++)
        for (int quarter = 4; quarter < 8; quarter++)
            for (int off = -1; off <= 1; off++) {
                size_t n = ((size_t)quarter << (power - 2)) + (size_t)off;
                unsigned char *p = memory_array_alloc(&m, n);
                ck_assert_ptr_nonnull(p);
                p[0] = p[n - 1] = 1; /* a class too small shows here, in the sanitizer or as a crash */
                size_t before = memory_pooled(&m);
                memory_array_free(&m, p, n);
                if (!m.no_pool && n > 256) {
                    size_t kept = memory_pooled(&m) - before;
                    ck_assert(kept >= n && kept <= n + n / 4 + 64);
                }
                memory_trim(&m);
            }
    memory_close(&m);
}
END_TEST

START_TEST(pool_reuses)
{
    memory m;
    ck_assert(memory_open(&m));
    size_t sizes[] = {8, 200, 1000, 100000, 3000000, 9000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !m.no_pool; i++) {
        void *p = memory_array_alloc(&m, sizes[i]);
        memory_array_free(&m, p, sizes[i]);
        ck_assert_uint_eq(m.live_all, 0);
        void *q = memory_array_alloc(&m, sizes[i] - sizes[i] / 64);
        ck_assert_ptr_eq(p, q);
        memory_array_free(&m, q, sizes[i] - sizes[i] / 64);
    }
    memory_trim(&m);
    ck_assert_uint_eq(memory_pooled(&m), 0);
    memory_close(&m);
}
END_TEST

START_TEST(without_pool_nothing_waits)
{
    memory m;
    ck_assert(memory_open(&m));
    m.no_pool = true;
    void *p = memory_array_alloc(&m, 100000), *q = memory_array_alloc(&m, 10);
    m.no_pool = false; /* too late: a buffer is freed in the way it was made */
    ck_assert_uint_eq((uintptr_t)p % 64, 0);
    ck_assert_uint_eq((uintptr_t)q % 64, 0);
    memory_array_free(&m, p, 100000);
    memory_array_free(&m, q, 10);
    ck_assert_uint_eq(memory_pooled(&m), 0);
    memory_close(&m);
}
END_TEST

START_TEST(pool_is_bounded)
{
    memory m;
    ck_assert(memory_open(&m));
    enum { N = 40 };
    const size_t mib = (size_t)1 << 20;
    void *p[N];
    for (size_t each = 2 * mib; each <= 10 * mib; each += mib) { /* each round in a class of its own */
        for (int i = 0; i < N; i++) ck_assert_ptr_nonnull(p[i] = memory_array_alloc(&m, each));
        for (int i = 0; i < N; i++) memory_array_free(&m, p[i], each);
        size_t peak = m.peak[MEM_ARRAY];
        ck_assert_uint_le(memory_pooled(&m), 64 * mib + peak + peak / 4);
    }
    memory_reset_peak(&m); /* what once was needed no longer counts */
    void *q = memory_array_alloc(&m, mib / 2);
    ck_assert_uint_le(memory_pooled(&m), 65 * mib);
    memory_array_free(&m, q, mib / 2);
    memory_close(&m);
}
END_TEST

START_TEST(limit_counts_the_pool)
{
    memory m;
    ck_assert(memory_open(&m));
    const size_t mib = (size_t)1 << 20;
    m.limit = 20 * mib;
    void *a = memory_array_alloc(&m, 16 * mib);
    memory_array_free(&m, a, 16 * mib);
    void *b = memory_array_alloc(&m, 10 * mib);
    ck_assert_ptr_nonnull(b);
    ck_assert_uint_le(memory_pooled(&m), 10 * mib);
    memory_array_free(&m, b, 10 * mib);
    memory_close(&m);
}
END_TEST

/* A stack of buffers that evict takes from. */
typedef struct keeper {
    memory *m;
    void *kept[8];
    int n, calls;
    bool nested;
} keeper;

static bool evict_one(void *ctx, size_t bytes)
{
    keeper *k = ctx;
    (void)bytes;
    k->calls++;
    if (k->nested) { /* allocating in the callback is judged, but does not call back */
        int calls = k->calls;
        ck_assert_ptr_null(memory_array_alloc(k->m, 5001));
        ck_assert_int_eq(k->calls, calls);
    }
    if (!k->n) return false;
    memory_array_free(k->m, k->kept[--k->n], 1000);
    return true;
}

START_TEST(budget_evicts)
{
    memory m;
    ck_assert(memory_open(&m));
    keeper k = {.m = &m, .nested = true};
    m.array_budget = 5000;
    m.evict = evict_one;
    m.evict_ctx = &k;
    for (; k.n < 5; k.n++) k.kept[k.n] = memory_array_alloc(&m, 1000);
    ck_assert_int_eq(k.calls, 0);
    void *text = memory_alloc(&m, MEM_TEXT, 9000); /* other tags have no budget */
    ck_assert_ptr_nonnull(text);
    void *p = memory_array_alloc(&m, 2500);
    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(k.calls, 3);
    ck_assert_int_eq(k.n, 2);
    ck_assert_uint_le(m.peak[MEM_ARRAY], 5000);
    ck_assert_ptr_null(memory_array_alloc(&m, 2501));
    ck_assert_int_eq(k.n, 0);
    ck_assert_uint_eq(m.refused, 2501);
    memory_array_free(&m, p, 2500);
    memory_free(&m, MEM_TEXT, text, 9000);
    ck_assert_uint_eq(m.live_all, 0);
    memory_close(&m);
}
END_TEST

static bool use_arena(memory *m)
{
    arena a;
    arena_open(&a, m, MEM_AST);
    bool reached = true;
    for (size_t n = 0; n < 3000 && reached; n += 7) {
        unsigned char *p = arena_alloc(&a, n);
        reached = p != NULL;
        if (!p) break;
        ck_assert_uint_eq((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++) ck_assert_int_eq(p[i], 0);
        memset(p, 0xff, n);
    }
    if (reached) {
        char *s = arena_text(&a, "name, and more", 4);
        reached = s != NULL;
        if (s) ck_assert_str_eq(s, "name");
        if (s && !arena_alloc(&a, 500000)) reached = false;
    }
    arena_close(&a);
    return reached;
}

START_TEST(arena_gives_all_back) { unit_fail_each(use_arena); }
END_TEST

START_TEST(arena_keeps_filling_past_a_large_one)
{
    memory m;
    ck_assert(memory_open(&m));
    arena a;
    arena_open(&a, &m, MEM_AST);
    char *p = arena_alloc(&a, 16);
    ck_assert_ptr_nonnull(arena_alloc(&a, 100000));
    ck_assert_ptr_eq((char *)arena_alloc(&a, 16), p + 16);
    arena_close(&a);
    ck_assert_uint_eq(m.live_all, 0);
    memory_close(&m);
}
END_TEST

UNIT_MAIN("memory", counts_by_tag, nothing_is_a_unique_pointer, limit_refuses, absurd_sizes_are_refused, fail_at_refuses_one,
          arrays_are_aligned_and_apart, every_class_boundary, pool_reuses, without_pool_nothing_waits, pool_is_bounded,
          limit_counts_the_pool, budget_evicts, arena_gives_all_back, arena_keeps_filling_past_a_large_one)
