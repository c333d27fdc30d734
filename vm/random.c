/* random.c: Philox blocks and the distributions made of them; see random.h for what is promised.
 *
 * Work goes in pieces of PIECE blocks, each filled into a small buffer and turned into numbers there. */
#include "random.h"
#include "kern_util.h"
#if defined(__x86_64__)
#include <immintrin.h>
/* So that the header declares the avx functions, which run only when there is avx; clang, for which a vector's way
   into a call is the whole file's, is given -mavx (Makefile). */
#if defined(__clang__)
#include <sleef.h>
#else
#pragma GCC push_options
#pragma GCC target("avx")
#include <sleef.h>
#pragma GCC pop_options
#endif
#else
#include <sleef.h>
#endif

enum { PIECE = 512 };

/* Sixteen blocks at a time, one array for each word, which compilers turn into vectors. */
KERN_CLONES
static void fill_blocks(uint64_t key, uint64_t first, int64_t blocks, uint32_t *out)
{
    enum { LANES = 16 };
    for (int64_t b = 0; b < blocks; b += LANES) {
        uint32_t c0[LANES], c1[LANES], c2[LANES], c3[LANES];
        for (int i = 0; i < LANES; i++) {
            uint64_t n = first + (uint64_t)b + (uint64_t)i;
            c0[i] = (uint32_t)n, c1[i] = (uint32_t)(n >> 32), c2[i] = 0, c3[i] = 0;
        }
        uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < LANES; i++) {
                uint64_t x = (uint64_t)c0[i] * 0xD2511F53u, y = (uint64_t)c2[i] * 0xCD9E8D57u;
                c0[i] = (uint32_t)(y >> 32) ^ c1[i] ^ k0;
                c1[i] = (uint32_t)y;
                c2[i] = (uint32_t)(x >> 32) ^ c3[i] ^ k1;
                c3[i] = (uint32_t)x;
            }
            k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
        }
        int64_t n = blocks - b < LANES ? blocks - b : LANES;
        for (int64_t i = 0; i < n; i++) {
            uint32_t *to = out + 4 * (b + i);
            to[0] = c0[i], to[1] = c1[i], to[2] = c2[i], to[3] = c3[i];
        }
    }
}

/* clang gives a function with clones another name outside of its file. */
void philox(uint64_t key, uint64_t first, int64_t blocks, uint32_t *out) { fill_blocks(key, first, blocks, out); }

static uint64_t word_pair(const uint32_t *w, int64_t i) { return w[2 * i] | (uint64_t)w[2 * i + 1] << 32; }

/* --- pairs of normals: sqrt(-2 log u) * (cos, sin)(2 pi v), u in (0, 1], v in [0, 1) ------------- */
typedef void normal_kernel(int64_t n, const double *u, const double *v, double *out);

#if defined(__x86_64__)
/* The sse2 and avx forms of these SLEEF functions agree with each other, and with the plain C form, in
   every bit (tests/unit/test_random.c). n is a multiple of 4. */
static void normal_sse2(int64_t n, const double *u, const double *v, double *out)
{
    for (int64_t i = 0; i < n; i += 2) {
        __m128d r = _mm_sqrt_pd(_mm_mul_pd(_mm_set1_pd(-2), Sleef_cinz_logd2_u10sse2(_mm_loadu_pd(u + i))));
        Sleef___m128d_2 t = Sleef_cinz_sincospid2_u05sse2(_mm_mul_pd(_mm_set1_pd(2), _mm_loadu_pd(v + i)));
        __m128d c = _mm_mul_pd(r, t.y), s = _mm_mul_pd(r, t.x);
        _mm_storeu_pd(out + 2 * i, _mm_unpacklo_pd(c, s));
        _mm_storeu_pd(out + 2 * i + 2, _mm_unpackhi_pd(c, s));
    }
}
__attribute__((target("avx"))) static void normal_avx(int64_t n, const double *u, const double *v, double *out)
{
    for (int64_t i = 0; i < n; i += 4) {
        __m256d r = _mm256_sqrt_pd(_mm256_mul_pd(_mm256_set1_pd(-2), Sleef_cinz_logd4_u10avx(_mm256_loadu_pd(u + i))));
        Sleef___m256d_2 t = Sleef_cinz_sincospid4_u05avx(_mm256_mul_pd(_mm256_set1_pd(2), _mm256_loadu_pd(v + i)));
        __m256d c = _mm256_mul_pd(r, t.y), s = _mm256_mul_pd(r, t.x);
        __m256d lo = _mm256_unpacklo_pd(c, s), hi = _mm256_unpackhi_pd(c, s);
        _mm256_storeu_pd(out + 2 * i, _mm256_permute2f128_pd(lo, hi, 0x20));
        _mm256_storeu_pd(out + 2 * i + 4, _mm256_permute2f128_pd(lo, hi, 0x31));
    }
}
static normal_kernel *normal_pairs(void) { return __builtin_cpu_supports("avx") ? normal_avx : normal_sse2; }
#else
static void normal_plain(int64_t n, const double *u, const double *v, double *out)
{
    for (int64_t i = 0; i < n; i++) {
        double r = sqrt(-2 * Sleef_cinz_logd1_u10purec(u[i]));
        Sleef_double_2 t = Sleef_cinz_sincospid1_u05purec(2 * v[i]);
        out[2 * i] = r * t.y, out[2 * i + 1] = r * t.x;
    }
}
static normal_kernel *normal_pairs(void) { return normal_plain; }
#endif

/* --- pieces ----------------------------------------------------------------------------------------- */
typedef enum distribution { UNIFORM, NORMAL, WORDS } distribution;

/* n elements from the blocks at `first`; n is at most what PIECE blocks give. */
static void fill_piece(distribution kind, dtype d, uint64_t key, uint64_t first, int64_t n, void *out)
{
    uint32_t w[4 * PIECE];
    int each = d == DTYPE_F32 ? 4 : 2;
    philox(key, first, (n + each - 1) / each, w);
    if (kind == WORDS) {
        for (int64_t i = 0; i < n; i++) ((uint64_t *)out)[i] = word_pair(w, i);
    } else if (kind == UNIFORM) {
        if (d == DTYPE_F32)
            for (int64_t i = 0; i < n; i++) ((float *)out)[i] = (float)(w[i] >> 8) * 0x1p-24f;
        else
            for (int64_t i = 0; i < n; i++) ((double *)out)[i] = (double)(word_pair(w, i) >> 11) * 0x1p-53;
    } else {
        double u[2 * PIECE], v[2 * PIECE], z[4 * PIECE];
        int64_t pairs = (n + 1) / 2, padded = (pairs + 3) / 4 * 4;
        for (int64_t i = 0; i < pairs; i++) {
            u[i] = d == DTYPE_F32 ? ((double)w[2 * i] + 1) * 0x1p-32 : (double)((word_pair(w, 2 * i) >> 11) + 1) * 0x1p-53;
            v[i] = d == DTYPE_F32 ? (double)w[2 * i + 1] * 0x1p-32 : (double)(word_pair(w, 2 * i + 1) >> 11) * 0x1p-53;
        }
        for (int64_t i = pairs; i < padded; i++) u[i] = 1, v[i] = 0;
        normal_pairs()(padded, u, v, z);
        if (d == DTYPE_F32)
            for (int64_t i = 0; i < n; i++) ((float *)out)[i] = (float)z[i];
        else memcpy(out, z, (size_t)n * sizeof(double));
    }
}

static void fill(vm *m, distribution kind, dtype d, int64_t n, void *out)
{
    random_state at = m->random;
    int64_t each = d == DTYPE_F32 ? 4 : 2, piece = PIECE * each, size = d == DTYPE_F32 ? 4 : 8;
    int threads = threads_for(m, n * (kind == NORMAL ? 8 : 1));
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t i = 0; i < n; i += piece)
        if (!INTERRUPTED(m))
            fill_piece(kind, d, at.key, at.counter + (uint64_t)(i / each), n - i < piece ? n - i : piece, (char *)out + i * size);
    m->random.counter += (uint64_t)((n + each - 1) / each);
}

void random_uniform(vm *m, dtype d, int64_t n, void *out) { fill(m, UNIFORM, d, n, out); }
void random_normal(vm *m, dtype d, int64_t n, void *out) { fill(m, NORMAL, d, n, out); }
void random_words(vm *m, int64_t n, uint64_t *out) { fill(m, WORDS, DTYPE_F64, n, out); }
