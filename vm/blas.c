/* blas.c: BLIS started on the best kernels of this processor, and its pools filled before they are used.
 *
 * BLIS 0.9 has pools of two kinds, both of which grow by malloc when they are too small, and it aborts when
 * that fails: packing blocks, of A and of B, one of each for a thread; and small blocks for the trees that steer
 * a product, a list of them for a thread. Here both hold as many as all VMs together have reserved. What they are to
 * grow by is first asked of libc as a whole, and given back a moment before BLIS asks for it; after that BLIS
 * asks for nothing (tests/unit/test_blas.c). One lock is around all of it. */
#include "blas.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "blis.h"

enum {
    STARTING = 1 << 20, /* bytes, more than BLIS takes for its tables as it starts */
    SMALL_BLOCKS = 64   /* of a thread: more than the trees of any product or triangular solve take */
};

static struct {
    pthread_mutex_t lock;
    bool started, follows;
    int threads; /* that all VMs together may have within BLIS */
} blas = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whether libc has this much, in these blocks: asked for and given back. */
static bool found(size_t n, const size_t *bytes)
{
    void *blocks[3];
    size_t k = 0;
    while (k < n && (blocks[k] = malloc(bytes[k]))) k++;
    bool all = k == n;
    while (k) free(blocks[--k]);
    return all;
}

/* --- starting -------------------------------------------------------------------------------- */

/* The best kernel set this processor has: left to itself BLIS takes haswell's on many processors with AVX-512, and a
   BLIS_ARCH_TYPE from outside may name one that faults. NULL: its own choice. */
static const char *best(char number[16])
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return NULL;
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl");
    snprintf(number, 16, "%d", avx512 ? BLIS_ARCH_SKX : __builtin_cpu_is("amd") ? BLIS_ARCH_ZEN2 : BLIS_ARCH_HASWELL);
    return number;
#else
    (void)number;
    return NULL;
#endif
}

/* 0: packing blocks of A; 1: of B. */
static pool_t *packing(int i)
{
    return bli_pba_pool((dim_t)bli_packbuf_index(i ? BLIS_BUFFER_FOR_B_PANEL : BLIS_BUFFER_FOR_A_BLOCK), bli_pba_query());
}

/* Packing blocks that real numbers fit: BLIS makes them for complex ones, twice as large, which we have none of. */
static void real_blocks(void)
{
    static const num_t types[] = {BLIS_FLOAT, BLIS_DOUBLE};
    siz_t most[2] = {0, 0};
    for (int t = 0; t < 2; t++) {
        siz_t size[3];
        bli_pba_compute_pool_block_sizes_dt(types[t], &size[0], &size[1], &size[2], bli_gks_query_cntx());
        for (int i = 0; i < 2; i++)
            if (size[i] > most[i]) most[i] = size[i];
    }
    for (int i = 0; i < 2; i++)
        if (!bli_pool_num_blocks(packing(i)) && most[i] < bli_pool_block_size(packing(i))) bli_pool_set_block_size(most[i], packing(i));
}

static bool start(void)
{
    if (blas.started) return true;
    if (!found(1, (size_t[]){STARTING})) return false;
    const char *before = getenv("BLIS_ARCH_TYPE");
    char number[16], *kept = before ? strdup(before) : NULL;
    if (before && !kept) return false;
    const char *kernels = best(number);
    if (kernels) setenv("BLIS_ARCH_TYPE", kernels, 1);
    else unsetenv("BLIS_ARCH_TYPE");
    bli_init();
    arch_t arch = bli_arch_query_id();
    if (kept) setenv("BLIS_ARCH_TYPE", kept, 1);
    else unsetenv("BLIS_ARCH_TYPE");
    free(kept);
    real_blocks();
    blas.started = true;
    /* A program that embeds us may have started BLIS before, its own way. */
    blas.follows = arch == BLIS_ARCH_SKX || arch == BLIS_ARCH_HASWELL || arch == BLIS_ARCH_ZEN || arch == BLIS_ARCH_ZEN2 ||
                   arch == BLIS_ARCH_ZEN3 || arch == BLIS_ARCH_EXCAVATOR;
    return true;
}

const char *blas_kernels(void)
{
    pthread_mutex_lock(&blas.lock);
    const char *name = start() && blas.follows ? bli_arch_string(bli_arch_query_id()) : NULL;
    pthread_mutex_unlock(&blas.lock);
    return name;
}

/* --- memory ---------------------------------------------------------------------------------- */

/* What a thread takes: a block of A, one of B, and all its small ones, with what BLIS and libc add to them. */
static size_t thread_bytes(size_t bytes[3])
{
    for (int i = 0; i < 2; i++) bytes[i] = bli_pool_block_size(packing(i)) + 2 * BLIS_PAGE_SIZE;
    bytes[2] = BLIS_PAGE_SIZE + SMALL_BLOCKS * (sizeof(cntl_t) + sizeof(thrinfo_t) + sizeof(thrcomm_t) + sizeof(pblk_t) + 32);
    return bytes[0] + bytes[1] + bytes[2];
}

/* Pools for n threads, one more than there were. */
static void grow(siz_t n)
{
    pba_t *pba = bli_pba_query();
    bli_pba_lock(pba);
    for (int i = 0; i < 2; i++)
        if (bli_pool_num_blocks(packing(i)) < n) bli_pool_grow(n - bli_pool_num_blocks(packing(i)), packing(i));
    bli_pba_unlock(pba);
    apool_t *small = bli_sba_query();
    bli_apool_lock(small);
    pool_t *lists = bli_apool_pool(small);
    while (bli_pool_num_blocks(lists) < n) bli_apool_grow(1, small);
    array_t **list = bli_pool_block_ptrs(lists);
    for (siz_t i = bli_pool_top_index(lists); i < bli_pool_num_blocks(lists); i++) {
        pool_t *blocks = bli_apool_array_elem(0, list[i]);
        if (bli_pool_num_blocks(blocks) < SMALL_BLOCKS) bli_pool_grow(SMALL_BLOCKS - bli_pool_num_blocks(blocks), blocks);
    }
    bli_apool_unlock(small);
}

bool blas_reserve(vm *m, int threads)
{
    int more = threads - m->blas_threads;
    if (more <= 0) return true;
    pthread_mutex_lock(&blas.lock);
    size_t bytes[3], whole = start() ? thread_bytes(bytes) * (size_t)more : 0;
    bool held = whole && memory_hold(&m->mem, MEM_OTHER, whole), fine = held;
    for (int k = 1; fine && k <= more; k++) {
        fine = found(3, bytes);
        if (fine) grow((siz_t)(blas.threads + k));
    }
    if (fine) {
        blas.threads += more;
        m->blas_threads = threads;
        m->blas_bytes += whole;
    } else {
        if (held) memory_unhold(&m->mem, MEM_OTHER, whole);
        memory_refuse(&m->mem, whole ? whole : STARTING);
    }
    pthread_mutex_unlock(&blas.lock);
    return fine;
}

void blas_release(vm *m)
{
    pthread_mutex_lock(&blas.lock);
    blas.threads -= m->blas_threads;
    pthread_mutex_unlock(&blas.lock);
    memory_unhold(&m->mem, MEM_OTHER, m->blas_bytes);
    m->blas_threads = 0;
    m->blas_bytes = 0;
}
