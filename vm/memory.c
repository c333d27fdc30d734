/* memory.c: the accounting allocator, the pool of array buffers, and the arena.
 *
 * In: requests with a tag and a size; out: memory from libc, mmap, a slab or the pool. Throughout:
 * a request is charged to its tag before memory is looked for and credited back when none is
 * found, so the counts are right at every return. Array buffers are of one of four sizes per power
 * of two; a freed one waits in its class's list, newest first, because the newest is likeliest to
 * be in cache. Since a free is sized, a buffer needs no header and its class follows from its size.
 *
 * A checked build (the address sanitizer, or -DREPLAY_CHECK_MEMORY) pools nothing and keeps a
 * header and guard bytes around each block, so that a free of the wrong size or tag and a write
 * past the end stop the program where they happen. */
#include "memory.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define MEMORY_CHECKED 1
#elif defined(REPLAY_CHECK_MEMORY)
#define MEMORY_CHECKED 1
#else
#define MEMORY_CHECKED 0
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum {
    ALIGN = 64,
    SMALL_CLASSES = 4,      /* 64, 128, 192, 256 bytes: cut from slabs */
    CLASSES = 224,          /* up to 2^63 bytes */
    SLAB_BYTES = 64 * 1024, /* one libc request for up to 1023 small buffers */
    MAP_FROM = 1 << 20,     /* from here on mmap: libc's heap would fragment or hold on to it */
    HUGE_FROM = 4 << 20,    /* from here on ask for huge pages: 512 times fewer page faults */
    CLEAR_UP_TO = 1024      /* below, malloc and memset beats calloc, which skips the thread cache */
};
/* Free pooled bytes that are always tolerated, whatever the peak was. */
#define POOL_SLACK ((size_t)64 << 20)

typedef struct free_block {
    struct free_block *next;
} free_block;

typedef struct slab {
    struct slab *next;
    char pad[ALIGN - sizeof(struct slab *)]; /* the first buffer starts on a cache line */
} slab;

struct mem_pool {
    free_block *list[CLASSES];
    uint64_t used[CLASSES]; /* `clock` when the class was last touched: the stalest is trimmed first */
    uint64_t clock;
    size_t free_bytes; /* in lists of classes that are not small */
    slab *slabs;
    char *cut, *cut_end; /* the part of the newest slab that was never handed out */
    size_t small_held;   /* small buffers now held by owners */
    bool settled;        /* `plain` was decided: by the first array buffer, for good */
    bool plain;          /* no pooling; every buffer is libc's */
    bool evicting;       /* inside the evict callback, which must not be entered twice */
};

/* ---- size classes ---- */

/* The class of a buffer of `bytes`: 0..3 are multiples of 64, then four per power of two. */
static unsigned class_of(size_t bytes)
{
    size_t last = bytes ? bytes - 1 : 0;
    if (last < SMALL_CLASSES * ALIGN) return (unsigned)(last / ALIGN);
    unsigned power = 63u - (unsigned)__builtin_clzll(last);
    return 4 * (power - 8) + (unsigned)(last >> (power - 2));
}

static size_t class_bytes(unsigned c)
{
    if (c < SMALL_CLASSES) return (c + 1) * (size_t)ALIGN;
    unsigned above = c - SMALL_CLASSES;
    return (size_t)(5 + above % 4) << (6 + above / 4);
}

/* ---- checked blocks ---- */

#if MEMORY_CHECKED
enum { GUARD = 16, GUARD_BYTE = 0xa7 };
typedef struct block_head {
    size_t bytes;
    uint32_t tag, magic;
    unsigned char pad[ALIGN - sizeof(size_t) - 2 * sizeof(uint32_t)];
} block_head;
#define BLOCK_MAGIC 0x52504c59u

_Noreturn static void block_fault(const char *what, size_t want, size_t have)
{
    fprintf(stderr, "memory: %s (%zu, %zu)\n", what, want, have);
    abort();
}

static void *block_wrap(void *raw, mem_tag tag, size_t bytes)
{
    block_head *head = raw;
    char *p = (char *)(head + 1);
    head->bytes = bytes;
    head->tag = tag;
    head->magic = BLOCK_MAGIC;
    memset(p + bytes, GUARD_BYTE, GUARD);
    ASAN_POISON_MEMORY_REGION(p + bytes, GUARD);
    ASAN_POISON_MEMORY_REGION(head, sizeof *head);
    return p;
}

/* Checks a block before it is freed or moved; returns what libc gave. */
static void *block_unwrap(void *p, mem_tag tag, size_t bytes)
{
    block_head *head = (block_head *)p - 1;
    ASAN_UNPOISON_MEMORY_REGION(head, sizeof *head);
    if (head->magic != BLOCK_MAGIC) block_fault("freed twice or never allocated", 0, 0);
    if (head->bytes != bytes) block_fault("freed with a size that is not its own", bytes, head->bytes);
    if (head->tag != (uint32_t)tag) block_fault("freed under a tag that is not its own", tag, head->tag);
    unsigned char *end = (unsigned char *)p + bytes;
    ASAN_UNPOISON_MEMORY_REGION(end, GUARD);
    for (int i = 0; i < GUARD; i++)
        if (end[i] != GUARD_BYTE) block_fault("written past its end", bytes, (size_t)i);
    head->magic = 0;
    return head;
}
#define BLOCK_EXTRA (sizeof(block_head) + GUARD)
#else
#define BLOCK_EXTRA ((size_t)0)
static void *block_wrap(void *raw, mem_tag tag, size_t bytes)
{
    (void)tag, (void)bytes;
    return raw;
}
static void *block_unwrap(void *p, mem_tag tag, size_t bytes)
{
    (void)tag, (void)bytes;
    return p;
}
#endif

bool memory_checked(void) { return MEMORY_CHECKED; }

/* ---- accounts ---- */

static bool refuse(memory *m, size_t bytes)
{
    m->refused = bytes ? bytes : 1;
    m->refused_live = SIZE_MAX;
    return false;
}

/* What is left below `most` when `held` is taken; a limit may be set below what is already held. */
static size_t room(size_t most, size_t held) { return most > held ? most - held : 0; }

static bool budget_meet(memory *m, size_t bytes)
{
    for (size_t slack = m->array_slack; bytes > room(m->array_budget - slack, m->live[MEM_ARRAY]);) {
        bool freed = m->evict && !m->pool->evicting;
        if (freed) {
            m->pool->evicting = true;
            freed = m->evict(m->evict_ctx, bytes);
            m->pool->evicting = false;
        }
        if (!freed && !slack) return false;
        if (!freed) slack = 0;
    }
    return true;
}

/* Adds to the books, or says no. `whole` is the size asked for, `bytes` what is new of it. */
static bool charge(memory *m, mem_tag tag, size_t bytes, size_t whole)
{
    if (++m->count == m->fail_at) return refuse(m, whole);
    if (whole > PTRDIFF_MAX - 4096) return refuse(m, whole);
    if (tag == MEM_ARRAY && m->array_budget != SIZE_MAX && !budget_meet(m, bytes)) {
        refuse(m, whole);
        m->refused_live = m->live[MEM_ARRAY];
        return false;
    }
    size_t most = m->limit < SIZE_MAX - m->reserve ? m->limit + m->reserve : SIZE_MAX;
    if (bytes > room(most, m->live_all)) return refuse(m, whole);
    m->live[tag] += bytes;
    m->live_all += bytes;
    return true;
}

/* Peaks are raised when the memory was found, so that a refused request leaves no trace in them. */
static void raise_peaks(memory *m, mem_tag tag)
{
    if (m->live[tag] > m->peak[tag]) m->peak[tag] = m->live[tag];
    if (tag == MEM_ARRAY && m->live[tag] > m->array_high) m->array_high = m->live[tag];
    if (tag == MEM_ARRAY && m->live[tag] > m->seen_high) m->seen_high = m->live[tag];
    if (m->live_all > m->peak_all) m->peak_all = m->live_all;
}

static void credit(memory *m, mem_tag tag, size_t bytes)
{
    assert(m->live[tag] >= bytes && m->live_all >= bytes);
    m->live[tag] -= bytes;
    m->live_all -= bytes;
}

bool memory_open(memory *m)
{
    memset(m, 0, sizeof *m);
    m->limit = m->array_budget = SIZE_MAX;
    m->no_pool = MEMORY_CHECKED;
    m->pool = calloc(1, sizeof *m->pool);
    return m->pool != NULL;
}

void memory_close(memory *m)
{
    if (!m->pool) return;
    memory_trim(m);
    /* Only a leak of small buffers can leave slabs here; they go all the same. */
    for (slab *s = m->pool->slabs, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    free(m->pool);
    m->pool = NULL;
}

void memory_reset_peak(memory *m)
{
    memcpy(m->peak, m->live, sizeof m->peak);
    m->peak_all = m->live_all;
}

/* ---- plain blocks ---- */

static void *libc_zeroed(size_t bytes)
{
    if (bytes > CLEAR_UP_TO) return calloc(1, bytes);
    void *p = malloc(bytes ? bytes : 1);
    return p ? memset(p, 0, bytes) : NULL;
}

/* NULL leaves `raw` as it was. Not inlined, because gcc cannot tell a failed realloc from a free. */
__attribute__((noinline)) static void *libc_resized(void *raw, size_t bytes) { return realloc(raw, bytes ? bytes : 1); }

void *memory_alloc(memory *m, mem_tag tag, size_t bytes)
{
    if (!charge(m, tag, bytes, bytes)) return NULL;
    void *raw = libc_zeroed(bytes + BLOCK_EXTRA);
    if (!raw) {
        memory_trim(m);
        raw = libc_zeroed(bytes + BLOCK_EXTRA);
    }
    if (!raw) {
        credit(m, tag, bytes);
        refuse(m, bytes);
        return NULL;
    }
    raise_peaks(m, tag);
    return block_wrap(raw, tag, bytes);
}

void *memory_resize(memory *m, mem_tag tag, void *p, size_t old_bytes, size_t new_bytes)
{
    if (!p) return memory_alloc(m, tag, new_bytes);
    bool grows = new_bytes > old_bytes;
    if (grows && !charge(m, tag, new_bytes - old_bytes, new_bytes)) return NULL;
    void *raw = block_unwrap(p, tag, old_bytes);
    size_t want = new_bytes + BLOCK_EXTRA;
    void *moved = libc_resized(raw, want);
    if (!moved) {
        memory_trim(m);
        moved = libc_resized(raw, want);
    }
    if (!moved && grows) {
        credit(m, tag, new_bytes - old_bytes);
        refuse(m, new_bytes);
        block_wrap(raw, tag, old_bytes);
        return NULL;
    }
    if (!moved) moved = raw; /* a block that would not shrink is large enough */
    if (grows) raise_peaks(m, tag);
    else credit(m, tag, old_bytes - new_bytes);
    return block_wrap(moved, tag, new_bytes);
}

void memory_free(memory *m, mem_tag tag, void *p, size_t bytes)
{
    if (!p) return;
    credit(m, tag, bytes);
    free(block_unwrap(p, tag, bytes));
}

/* ---- array buffers ---- */

/* A fresh buffer of a class that is not small. */
static void *fresh_buffer(size_t bytes)
{
    if (bytes < MAP_FROM) return aligned_alloc(ALIGN, bytes);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (bytes >= HUGE_FROM) madvise(p, bytes, MADV_HUGEPAGE); /* advice: a refusal costs only time */
    return p;
}

static void release_buffer(void *p, size_t bytes)
{
    if (bytes < MAP_FROM) free(p);
    else munmap(p, bytes);
}

/* Gives free buffers back, those of the stalest class first, until at most `most` bytes are left. */
static void pool_shrink(struct mem_pool *pool, size_t most)
{
    while (pool->free_bytes > most) {
        unsigned stalest = CLASSES;
        for (unsigned c = SMALL_CLASSES; c < CLASSES; c++)
            if (pool->list[c] && (stalest == CLASSES || pool->used[c] < pool->used[stalest])) stalest = c;
        if (stalest == CLASSES) return;
        size_t bytes = class_bytes(stalest);
        while (pool->list[stalest] && pool->free_bytes > most) {
            free_block *b = pool->list[stalest];
            pool->list[stalest] = b->next;
            pool->free_bytes -= bytes;
            release_buffer(b, bytes);
        }
    }
}

/* How much may lie free: what the program once needed at the same time, with a quarter for the
   rounding to classes, less what it holds now, plus a constant. Held and free together are then
   never far above the peak. */
static size_t pool_bound(const memory *m)
{
    size_t peak = m->peak[MEM_ARRAY];
    return POOL_SLACK + room(peak + peak / 4, m->live[MEM_ARRAY]);
}

void memory_trim(memory *m)
{
    struct mem_pool *pool = m->pool;
    pool_shrink(pool, 0);
    if (pool->small_held) return; /* a slab goes only when nothing on any of them is held */
    for (slab *s = pool->slabs, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    pool->slabs = NULL;
    pool->cut = pool->cut_end = NULL;
    for (unsigned c = 0; c < SMALL_CLASSES; c++) pool->list[c] = NULL;
}

bool memory_hold(memory *m, mem_tag tag, size_t bytes)
{
    if (!charge(m, tag, bytes, bytes)) return false;
    pool_shrink(m->pool, room(m->limit, m->live_all)); /* free buffers give way */
    raise_peaks(m, tag);
    return true;
}
void memory_unhold(memory *m, mem_tag tag, size_t bytes) { credit(m, tag, bytes); }
void memory_refuse(memory *m, size_t bytes) { refuse(m, bytes); }

/* A small buffer that was never handed out, or NULL. What is left of a slab too short for this
   class is lost: at most three cache lines in a thousand. */
static void *slab_cut(struct mem_pool *pool, size_t bytes)
{
    if ((size_t)(pool->cut_end - pool->cut) < bytes) {
        slab *s = aligned_alloc(ALIGN, SLAB_BYTES);
        if (!s) return NULL;
        s->next = pool->slabs;
        pool->slabs = s;
        pool->cut = (char *)(s + 1);
        pool->cut_end = (char *)s + SLAB_BYTES;
    }
    void *p = pool->cut;
    pool->cut += bytes;
    return p;
}

/* The slow path: nothing of the class lies free. */
static void *pool_miss(memory *m, unsigned c)
{
    struct mem_pool *pool = m->pool;
    size_t bytes = class_bytes(c);
    if (c < SMALL_CLASSES) {
        void *p = slab_cut(pool, bytes);
        if (p) return p;
        pool_shrink(pool, 0);
        return slab_cut(pool, bytes);
    }
    /* Free buffers count against the limit in so far as they are given up first. */
    size_t most = room(m->limit, m->live_all), bound = pool_bound(m);
    pool_shrink(pool, most < bound ? most : bound);
    void *p = fresh_buffer(bytes);
    if (p) return p;
    memory_trim(m);
    return fresh_buffer(bytes);
}

static void *plain_buffer(size_t bytes)
{
    size_t want = (bytes + BLOCK_EXTRA + ALIGN - 1) / ALIGN * ALIGN;
    void *raw = aligned_alloc(ALIGN, want ? want : ALIGN);
    return raw ? block_wrap(raw, MEM_ARRAY, bytes) : NULL;
}

void *memory_array_alloc(memory *m, size_t bytes)
{
    struct mem_pool *pool = m->pool;
    if (!charge(m, MEM_ARRAY, bytes, bytes)) return NULL;
    if (!pool->settled) {
        /* Once for all: a buffer must be freed in the way it was made. */
        pool->settled = true;
        pool->plain = m->no_pool;
    }
    void *p;
    unsigned c = class_of(bytes);
    if (pool->plain) {
        p = plain_buffer(bytes);
    } else if (pool->list[c]) {
        p = pool->list[c];
        pool->list[c] = pool->list[c]->next;
        pool->used[c] = ++pool->clock;
        if (c >= SMALL_CLASSES) pool->free_bytes -= class_bytes(c);
    } else {
        p = pool_miss(m, c);
    }
    if (!p) {
        credit(m, MEM_ARRAY, bytes);
        refuse(m, bytes);
        return NULL;
    }
    if (c < SMALL_CLASSES) pool->small_held++;
    raise_peaks(m, MEM_ARRAY);
    return p;
}

void memory_array_free(memory *m, void *p, size_t bytes)
{
    if (!p) return;
    struct mem_pool *pool = m->pool;
    credit(m, MEM_ARRAY, bytes);
    unsigned c = class_of(bytes);
    if (c < SMALL_CLASSES) pool->small_held--;
    if (pool->plain) {
        free(block_unwrap(p, MEM_ARRAY, bytes));
        return;
    }
    free_block *b = p;
    b->next = pool->list[c];
    pool->list[c] = b;
    pool->used[c] = ++pool->clock;
    if (c < SMALL_CLASSES) return;
    pool->free_bytes += class_bytes(c);
    if (pool->free_bytes > POOL_SLACK) {
        size_t bound = pool_bound(m);
        if (pool->free_bytes > bound) pool_shrink(pool, bound);
    }
}

size_t memory_pooled(const memory *m) { return m->pool->free_bytes; }

/* ---- arena ---- */

enum { CHUNK_FIRST = 1024, CHUNK_MOST = 64 * 1024, ARENA_ALIGN = 16 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t bytes;      /* of the whole chunk, this header included */
    size_t used;       /* header included */
    size_t unused_pad; /* keeps what follows 16-byte aligned */
};
_Static_assert(sizeof(struct arena_chunk) % ARENA_ALIGN == 0, "what follows a chunk's header is aligned");

void arena_open(arena *a, memory *m, mem_tag tag)
{
    a->m = m;
    a->tag = tag;
    a->head = NULL;
    a->refused = false;
}

void *arena_alloc(arena *a, size_t bytes)
{
    if (bytes > PTRDIFF_MAX - CHUNK_MOST) {
        refuse(a->m, bytes);
        a->refused = true;
        return NULL;
    }
    size_t want = bytes ? (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN : ARENA_ALIGN;
    struct arena_chunk *head = a->head;
    if (!head || head->bytes - head->used < want) {
        size_t size = head ? head->bytes * 2 : CHUNK_FIRST;
        if (size > CHUNK_MOST) size = CHUNK_MOST;
        bool compiles = a->tag == MEM_CODE || a->tag == MEM_AST;
        if (compiles && a->m->stop && __atomic_load_n(a->m->stop, __ATOMIC_RELAXED)) {
            a->refused = true;
            return NULL;
        }
        bool alone = want > size / 2;
        if (alone) size = sizeof *head + want;
        struct arena_chunk *fresh = memory_alloc(a->m, a->tag, size);
        if (!fresh) {
            a->refused = true;
            return NULL;
        }
        fresh->bytes = size;
        fresh->used = sizeof *fresh;
        if (alone && head) {
            /* A large request gets its own chunk, behind the one still being filled. */
            fresh->next = head->next;
            head->next = fresh;
        } else {
            fresh->next = head;
            a->head = fresh;
        }
        head = fresh;
    }
    void *p = (char *)head + head->used; /* still zero, as memory_alloc gave it */
    head->used += want;
    return p;
}

char *arena_text(arena *a, const char *s, size_t n)
{
    char *copy = n < SIZE_MAX ? arena_alloc(a, n + 1) : NULL;
    if (copy && n) memcpy(copy, s, n);
    return copy;
}

void arena_close(arena *a)
{
    for (struct arena_chunk *c = a->head, *next; c; c = next) {
        next = c->next;
        memory_free(a->m, a->tag, c, c->bytes);
    }
    a->head = NULL;
}
