/* memory.h: the one accounting allocator under everything.
 *
 * Every byte the VM or the front end holds is taken here, under a tag, so that `--limit`,
 * `--stats`, budgets and the leak tests all read the same numbers. Frees are sized: the caller
 * says how much it gives back, which costs nothing to know and catches mistakes.
 *
 * Array buffers are the large part and go through memory_array_*: those are 64-byte aligned and
 * pooled by size class (a first touch of fresh pages costs several times the arithmetic on them).
 * Free pooled buffers are not live bytes.
 *
 * Invariants: live[tag] is the sum of sizes now held; live_all is their sum and never exceeds
 * `limit`; peak values never fall except by memory_reset_peak. Nothing here aborts: a refusal
 * returns NULL and records how much was asked for. */
#ifndef REPLAY_MEMORY_H
#define REPLAY_MEMORY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mem_tag {
    MEM_ARRAY,    /* array buffers and array headers */
    MEM_RESIDUAL, /* residuals and loop tapes (their own bytes, not the arrays they hold) */
    MEM_VALUE,    /* tuples, records, strings, closures, forms */
    MEM_CODE,     /* Code, its constants, its run form */
    MEM_AST,      /* syntax trees, parser stack */
    MEM_FRAME,    /* call frames */
    MEM_TEXT,     /* source texts, diagnostics, interned names */
    MEM_OTHER,
    MEM_TAGS
} mem_tag;

typedef struct memory {
    size_t live[MEM_TAGS], peak[MEM_TAGS];
    size_t live_all, peak_all;
    size_t array_high;   /* as peak[MEM_ARRAY], since somebody last set it */
    size_t seen_high;    /* the same, set by an observer of the run */
    size_t limit;        /* bytes, SIZE_MAX when none (`--limit`) */
    size_t array_budget; /* bytes of MEM_ARRAY, SIZE_MAX when none (`--budget`) */
    size_t array_slack;  /* this much of array_budget is used only when nothing can be let go of */
    /* Called when an array allocation of `bytes` would pass array_budget; returns true when it
       freed something and the allocation is worth another try. NULL when there is no budget. */
    bool (*evict)(void *ctx, size_t bytes);
    void *evict_ctx;
    size_t reserve;           /* beyond the limit, while a diagnostic is made: there must be room to say that there is none */
    size_t refused;           /* size of the last refused request, 0 when none was */
    size_t refused_live;      /* bytes of MEM_ARRAY then, if the budget refused it; else SIZE_MAX */
    uint64_t count;           /* allocations made so far */
    uint64_t fail_at;         /* refuse the allocation with this count (tests); 0: never */
    const volatile int *stop; /* not NULL: while it is set, arenas of Code and of trees get nothing more, so that a
                       compilation ends */
    bool no_pool;             /* give buffers back to libc at once (`--no-pool`, sanitizers); set before the
                       first array buffer is asked for, later changes have no effect */
    struct mem_pool *pool;
} memory;
/* Sets the reserve, and gives what it was. */
static inline size_t memory_reserve(memory *m, size_t bytes)
{
    size_t was = m->reserve;
    m->reserve = bytes;
    return was;
}

/* Prepares an empty allocator. Returns false when even that finds no memory. */
bool memory_open(memory *m);
/* Gives pooled buffers back. live_all must be 0 by now when every owner has let go. */
void memory_close(memory *m);

/* `bytes` of zeroed memory, or NULL (limit, fail_at, libc). bytes == 0 gives a unique pointer. */
void *memory_alloc(memory *m, mem_tag tag, size_t bytes);
/* Grows or shrinks; new bytes are not zeroed. NULL leaves `p` as it was. */
void *memory_resize(memory *m, mem_tag tag, void *p, size_t old_bytes, size_t new_bytes);
/* `bytes` must be what was asked for. p may be NULL. */
void memory_free(memory *m, mem_tag tag, void *p, size_t bytes);

/* Memory that is not ours but is held for us, by a library: it is in the books alone. False when there is no room. */
bool memory_hold(memory *m, mem_tag tag, size_t bytes);
void memory_unhold(memory *m, mem_tag tag, size_t bytes);
/* Notes that such memory was not found. */
void memory_refuse(memory *m, size_t bytes);

/* A 64-byte aligned, pooled, *uninitialised* buffer; the accounted size is `bytes` itself. */
void *memory_array_alloc(memory *m, size_t bytes);
void memory_array_free(memory *m, void *p, size_t bytes);
/* Returns every free pooled buffer to libc. */
void memory_trim(memory *m);

/* Bytes of free pooled buffers now waiting for reuse (those of 256 bytes or less not counted). */
size_t memory_pooled(const memory *m);
/* Whether this build checks each block's size, tag and ends when it is freed, and pools nothing:
   under the address sanitizer, or with -DREPLAY_CHECK_MEMORY. */
bool memory_checked(void);

/* Peaks become the present live values. */
void memory_reset_peak(memory *m);

/* An arena: many small allocations freed at once, in chunks counted under one tag. */
typedef struct arena {
    memory *m;
    mem_tag tag;
    struct arena_chunk *head;
    bool refused; /* memory was, at least once */
} arena;
void arena_open(arena *a, memory *m, mem_tag tag);
/* Zeroed, 16-byte aligned; NULL on refusal. */
void *arena_alloc(arena *a, size_t bytes);
/* A NUL-terminated copy of `n` bytes; NULL on refusal. */
char *arena_text(arena *a, const char *s, size_t n);
void arena_close(arena *a);
#endif
