/* gemm.c: chooses and runs the kernels of matrix products; gemm.h has the definition they share.
 *
 * The choice of instructions is made once per process. Which kernel takes a product, along which axis
 * vectors run, and how threads share the work change speed only. */
#include "gemm.h"
#include "blas.h"
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "blis.h"

/* One block of k, any strides (see gemm_tile.h). */
typedef void small_kernel(int64_t m, int64_t n, int64_t k, const void *a, int64_t rsa, int64_t csa, const void *b, int64_t rsb, int64_t csb,
                          void *c, int64_t rsc, int64_t csc, bool add);

/* --- the small kernels: scalar, then AVX2, then AVX-512 ------------------------------------- */
#define ZERO 0
#define SPLAT(x) (x)
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#define LOAD_PART(p, n) (*(p))
#define STORE_PART(p, n, v) (*(p) = (v))
#define ADD(a, b) ((a) + (b))
#define TURN 1
#define TURN_SQUARE(from, fs, to, ts) (*(to) = *(from))
#define ROWS 4
#define TARGET
#define TILE(name) scalar_f64_##name
#define T double
#define V double
#define W 1
#define FMA(a, b, c) fma(a, b, c)
#include "gemm_tile.h"
#define ZERO 0
#define SPLAT(x) (x)
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#define LOAD_PART(p, n) (*(p))
#define STORE_PART(p, n, v) (*(p) = (v))
#define ADD(a, b) ((a) + (b))
#define TURN 1
#define TURN_SQUARE(from, fs, to, ts) (*(to) = *(from))
#define ROWS 4
#define TARGET
#define TILE(name) scalar_f32_##name
#define T float
#define V float
#define W 1
#define FMA(a, b, c) fmaf(a, b, c)
#include "gemm_tile.h"

#if defined(__x86_64__)
#define HAVE_X86 1
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")))

/* to[i * ts + j] = from[i + j * fs], a square of 4 by 4. */
static inline __attribute__((always_inline)) AVX2 void turn_f64(const double *from, int64_t fs, double *to, int64_t ts)
{
    __m256d a = _mm256_loadu_pd(from), b = _mm256_loadu_pd(from + fs), c = _mm256_loadu_pd(from + 2 * fs),
            d = _mm256_loadu_pd(from + 3 * fs);
    __m256d ab0 = _mm256_unpacklo_pd(a, b), ab1 = _mm256_unpackhi_pd(a, b), cd0 = _mm256_unpacklo_pd(c, d), cd1 = _mm256_unpackhi_pd(c, d);
    _mm256_storeu_pd(to, _mm256_permute2f128_pd(ab0, cd0, 0x20));
    _mm256_storeu_pd(to + ts, _mm256_permute2f128_pd(ab1, cd1, 0x20));
    _mm256_storeu_pd(to + 2 * ts, _mm256_permute2f128_pd(ab0, cd0, 0x31));
    _mm256_storeu_pd(to + 3 * ts, _mm256_permute2f128_pd(ab1, cd1, 0x31));
}

/* The same, 8 by 8. */
static inline __attribute__((always_inline)) AVX2 void turn_f32(const float *from, int64_t fs, float *to, int64_t ts)
{
    __m256 r[8], s[8];
    for (int i = 0; i < 8; i++) r[i] = _mm256_loadu_ps(from + i * fs);
    for (int i = 0; i < 8; i += 2) {
        s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        r[i] = _mm256_shuffle_ps(s[i], s[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(s[i], s[i + 2], 0xee);
        r[i + 2] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_ps(to + i * ts, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
        _mm256_storeu_ps(to + (i + 4) * ts, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
    }
}

static const int32_t lanes_f32[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
static const int64_t lanes_f64[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
#define MASK_F32(n) _mm256_loadu_si256((const __m256i *)(lanes_f32 + 8 - (n)))
#define MASK_F64(n) _mm256_loadu_si256((const __m256i *)(lanes_f64 + 4 - (n)))

#define TILE(name) avx2_f64_##name
#define T double
#define V __m256d
#define W 4
#define TARGET AVX2
#define ROWS 4
#define ZERO _mm256_setzero_pd()
#define SPLAT(x) _mm256_set1_pd(x)
#define LOAD(p) _mm256_loadu_pd(p)
#define STORE(p, v) _mm256_storeu_pd(p, v)
#define LOAD_PART(p, n) _mm256_maskload_pd(p, MASK_F64(n))
#define STORE_PART(p, n, v) _mm256_maskstore_pd(p, MASK_F64(n), v)
#define FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define ADD(a, b) _mm256_add_pd(a, b)
#define TURN 4
#define TURN_SQUARE turn_f64
#include "gemm_tile.h"

#define TILE(name) avx2_f32_##name
#define T float
#define V __m256
#define W 8
#define TARGET AVX2
#define ROWS 4
#define ZERO _mm256_setzero_ps()
#define SPLAT(x) _mm256_set1_ps(x)
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define LOAD_PART(p, n) _mm256_maskload_ps(p, MASK_F32(n))
#define STORE_PART(p, n, v) _mm256_maskstore_ps(p, MASK_F32(n), v)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define ADD(a, b) _mm256_add_ps(a, b)
#define TURN 8
#define TURN_SQUARE turn_f32
#include "gemm_tile.h"

#define TILE(name) avx512_f64_##name
#define T double
#define V __m512d
#define W 8
#define TARGET AVX512
#define ROWS 8
#define ZERO _mm512_setzero_pd()
#define SPLAT(x) _mm512_set1_pd(x)
#define LOAD(p) _mm512_loadu_pd(p)
#define STORE(p, v) _mm512_storeu_pd(p, v)
#define LOAD_PART(p, n) _mm512_maskz_loadu_pd((__mmask8)((1u << (n)) - 1), p)
#define STORE_PART(p, n, v) _mm512_mask_storeu_pd(p, (__mmask8)((1u << (n)) - 1), v)
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define ADD(a, b) _mm512_add_pd(a, b)
#define TURN 4
#define TURN_SQUARE turn_f64
#include "gemm_tile.h"

#define TILE(name) avx512_f32_##name
#define T float
#define V __m512
#define W 16
#define TARGET AVX512
#define ROWS 8
#define ZERO _mm512_setzero_ps()
#define SPLAT(x) _mm512_set1_ps(x)
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define LOAD_PART(p, n) _mm512_maskz_loadu_ps((__mmask16)((1u << (n)) - 1), p)
#define STORE_PART(p, n, v) _mm512_mask_storeu_ps(p, (__mmask16)((1u << (n)) - 1), v)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define ADD(a, b) _mm512_add_ps(a, b)
#define TURN 8
#define TURN_SQUARE turn_f32
#include "gemm_tile.h"
#else
#define HAVE_X86 0
#endif

/* --- what this process uses ------------------------------------------------------------------ */
typedef struct tile_set {
    const char *name;
    small_kernel *f64, *f32;
    int w64, w32;
    bool available;
} tile_set;
static tile_set tile_sets[] = {
    {"scalar", scalar_f64_small, scalar_f32_small, 1, 1, true},
#if HAVE_X86
    {"avx2", avx2_f64_small, avx2_f32_small, 4, 8, false},
    {"avx512", avx512_f64_small, avx512_f32_small, 8, 16, false},
#endif
};
enum { TILE_SETS = sizeof tile_sets / sizeof *tile_sets };
static struct {
    pthread_once_t once;
    const tile_set *tiles;
} chosen = {.once = PTHREAD_ONCE_INIT};

static void choose(void)
{
    chosen.tiles = &tile_sets[0];
#if HAVE_X86
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl");
    tile_sets[1].available = avx2;
    tile_sets[2].available = avx512;
    chosen.tiles = &tile_sets[avx512 ? 2 : avx2 ? 1 : 0];
#endif
}

bool gemm_force_tiles(const char *name)
{
    pthread_once(&chosen.once, choose);
    for (int i = 0; i < TILE_SETS; i++)
        if (tile_sets[i].available && strcmp(tile_sets[i].name, name) == 0) {
            chosen.tiles = &tile_sets[i];
            return true;
        }
    return false;
}

/* --- one thread's part ------------------------------------------------------------------------ */
static matrix at(dtype d, matrix x, int64_t row, int64_t column)
{
    x.data = (char *)x.data + (row * x.rs + column * x.cs) * (int64_t)dtype_size[d];
    return x;
}

/* Whether the program is to stop: what is left is not computed. */
static bool stopped(const volatile int *stop) { return stop && __atomic_load_n(stop, __ATOMIC_RELAXED); }

static void small(dtype d, int64_t m, int64_t n, int64_t k, matrix a, matrix b, matrix c, bool add, const volatile int *stop)
{
    const tile_set *set = chosen.tiles;
    int64_t w = d == DTYPE_F32 ? set->w32 : set->w64;
    /* Vectors over columns, or over rows by computing C' = B' A'. */
    double over_n = (double)m * (double)k * (double)((n + w - 1) / w), over_m = (double)n * (double)k * (double)((m + w - 1) / w);
    if (n > 1) over_n += (b.cs != 1 ? 2.0 * (double)n * (double)k : 0) + (c.cs != 1 ? 2.0 * (double)m * (double)n : 0);
    if (m > 1) over_m += (a.rs != 1 ? 2.0 * (double)m * (double)k : 0) + (c.rs != 1 ? 2.0 * (double)m * (double)n : 0);
    if (over_m < over_n) {
        matrix t = a;
        a = (matrix){b.data, b.cs, b.rs};
        b = (matrix){t.data, t.cs, t.rs};
        c = (matrix){c.data, c.cs, c.rs};
        int64_t s = m;
        m = n, n = s;
    }
    small_kernel *f = d == DTYPE_F32 ? set->f32 : set->f64;
    for (int64_t p = 0; p < k && !stopped(stop); p += GEMM_BLOCK, add = true) {
        matrix ap = at(d, a, 0, p), bp = at(d, b, p, 0);
        f(m, n, k - p < GEMM_BLOCK ? k - p : GEMM_BLOCK, ap.data, a.rs, a.cs, bp.data, b.rs, b.cs, c.data, c.rs, c.cs, add);
    }
}

static void large(dtype d, int64_t m, int64_t n, int64_t k, matrix a, matrix b, matrix c, bool add, const volatile int *stop)
{
    rntm_t run = BLIS_RNTM_INITIALIZER;
    run.l3_sup = false; /* that path's bits depend on strides and splits */
    bli_rntm_set_num_threads(1, &run);
    /* A call of BLIS takes about a second at most, for it cannot be interrupted. */
    int64_t rows = (int64_t)(0x1p35 / GEMM_BLOCK) / n;
    if (stop && rows > 0 && m > rows) {
        for (int64_t i = 0; i < m; i += rows) large(d, m - i < rows ? m - i : rows, n, k, at(d, a, i, 0), b, at(d, c, i, 0), add, stop);
        return;
    }
    for (int64_t p = 0; p < k && !stopped(stop); p += GEMM_BLOCK, add = true) {
        int64_t kb = k - p < GEMM_BLOCK ? k - p : GEMM_BLOCK;
        matrix ap = at(d, a, 0, p), bp = at(d, b, p, 0);
        if (d == DTYPE_F32) {
            float one = 1, beta = add;
            bli_sgemm_ex(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, (dim_t)m, (dim_t)n, (dim_t)kb, &one, ap.data, (inc_t)a.rs, (inc_t)a.cs,
                         bp.data, (inc_t)b.rs, (inc_t)b.cs, &beta, c.data, (inc_t)c.rs, (inc_t)c.cs, NULL, &run);
        } else {
            double one = 1, beta = add;
            bli_dgemm_ex(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, (dim_t)m, (dim_t)n, (dim_t)kb, &one, ap.data, (inc_t)a.rs, (inc_t)a.cs,
                         bp.data, (inc_t)b.rs, (inc_t)b.cs, &beta, c.data, (inc_t)c.rs, (inc_t)c.cs, NULL, &run);
        }
    }
}

/* What BLIS accepts: positive strides under which no two elements share a place. */
static bool ordinary(int64_t rows, int64_t columns, matrix x)
{
    return x.rs > 0 && x.cs > 0 && (x.rs / columns >= x.cs || x.cs / rows >= x.rs);
}

static void zeros(dtype d, int64_t m, int64_t n, matrix c)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) memset(at(d, c, i, j).data, 0, dtype_size[d]);
}

bool gemm_is_large(int64_t m, int64_t n, int64_t k)
{
    /* Measured: the tiles are faster while the operands lie in the second cache, and whenever a side of C
       is short (BLIS packs both operands); 512^3 is BLIS's by 5 to 50 percent. */
    return m >= 96 && n >= 96 && k >= 32 && (double)m * (double)n * (double)k >= 256.0 * 256 * 256;
}

void gemm(dtype d, int64_t m, int64_t n, int64_t k, matrix a, matrix b, matrix c, bool add, int threads, gemm_path path)
{
    gemm_until(NULL, d, m, n, k, a, b, c, add, threads, path);
}

void gemm_until(const volatile int *stop, dtype d, int64_t m, int64_t n, int64_t k, matrix a, matrix b, matrix c, bool add, int threads,
                gemm_path path)
{
    pthread_once(&chosen.once, choose);
    if (m == 0 || n == 0) return;
    if (k == 0) {
        if (!add) zeros(d, m, n, c);
        return;
    }
    /* The stride of an axis of one element may be anything; choose one that is ordinary. */
    if (m == 1) a.rs = k * llabs(a.cs), c.rs = n * llabs(c.cs);
    if (n == 1) b.cs = 1, c.cs = m == 1 ? 1 : m * llabs(c.rs);
    if (k == 1) a.cs = m * llabs(a.rs), b.rs = n * llabs(b.cs);
    bool blis = path == GEMM_LARGE || (path == GEMM_AUTO && gemm_is_large(m, n, k));
    blis = blis && ordinary(m, k, a) && ordinary(k, n, b) && ordinary(m, n, c) && blas_kernels();
    double work = (double)m * (double)n * (double)k;
    /* Work enough for a thread each, some ten microseconds, several times what waking it costs; the split is
       along the longer axis of C, in whole vectors. */
    int64_t longest = m > n ? m : n, parts = threads;
    if (parts > (int64_t)(work / (1 << 20))) parts = (int64_t)(work / (1 << 20));
    if (parts > longest / 32) parts = longest / 32;
    if (parts <= 1) {
        if (blis) large(d, m, n, k, a, b, c, add, stop);
        else small(d, m, n, k, a, b, c, add, stop);
        return;
    }
    int64_t each = ((longest + parts - 1) / parts + 15) / 16 * 16;
#pragma omp parallel for schedule(static, 1) num_threads((int)parts)
    for (int64_t part = 0; part < parts; part++) {
        int64_t lo = part * each, hi = lo + each < longest ? lo + each : longest;
        if (lo >= hi) continue;
        bool rows = m > n;
        matrix ap = rows ? at(d, a, lo, 0) : a, bp = rows ? b : at(d, b, 0, lo), cp = rows ? at(d, c, lo, 0) : at(d, c, 0, lo);
        int64_t mp = rows ? hi - lo : m, np = rows ? n : hi - lo;
        if (blis) large(d, mp, np, k, ap, bp, cp, add, stop);
        else small(d, mp, np, k, ap, bp, cp, add, stop);
    }
}
