/* memtrack: LD_PRELOAD shim counting live heap bytes and their peak.
 *
 * Every C allocation counts (tensors, autograd graph nodes); blocks mapped
 * directly (CPython's object arenas, BLAS packing buffers) do not.
 *   cc -O2 -shared -fPIC -fno-builtin -o memtrack.so memtrack.c
 */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static long live, peak, calls;

static void *add(void *p)
{
    if (!p) return p;
    long now = __atomic_add_fetch(&live, (long)malloc_usable_size(p), __ATOMIC_RELAXED);
    long old = __atomic_load_n(&peak, __ATOMIC_RELAXED);
    while (now > old && !__atomic_compare_exchange_n(&peak, &old, now, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return p;
}
static void sub(void *p)
{
    if (p) __atomic_sub_fetch(&live, (long)malloc_usable_size(p), __ATOMIC_RELAXED);
}

long memtrack_live(void) { return live; }
long memtrack_peak(void) { return peak; }
long memtrack_calls(void) { return calls; }
void memtrack_reset(void)
{
    peak = live;
    calls = 0;
}

void *malloc(size_t n) { return add(__libc_malloc(n)); }
void *calloc(size_t a, size_t b) { return add(__libc_calloc(a, b)); }
void *memalign(size_t a, size_t n) { return add(__libc_memalign(a, n)); }
void *aligned_alloc(size_t a, size_t n) { return add(__libc_memalign(a, n)); }
void free(void *p)
{
    sub(p);
    __libc_free(p);
}
void *realloc(void *p, size_t n)
{
    sub(p);
    void *q = __libc_realloc(p, n);
    if (!q && n) {
        add(p);
        return q;
    }
    return add(q);
}
int posix_memalign(void **out, size_t a, size_t n)
{
    void *p = add(__libc_memalign(a, n));
    if (!p) return ENOMEM;
    *out = p;
    return 0;
}
