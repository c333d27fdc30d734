/* vm.h: the handle everything hangs off.  Two VMs in one process do not meet.
 *
 * Errors: a function that can fail returns false (or NULL) with vm->error set; it is set once, by
 * whoever sees the fault, and picked up by the interpreter, which adds the place and the frames. */
#ifndef REPLAY_VM_H
#define REPLAY_VM_H
#include "prim.h"
#include "diag.h"

typedef struct random_state {
    uint64_t key, counter;
} random_state; /* Philox; counter in draws */

/* Why vm->interrupt is set. */
enum { INTERRUPT_USER = 1, INTERRUPT_TIME };
#define STOPPED(flag) __atomic_load_n((flag), __ATOMIC_RELAXED)
#define INTERRUPTED(m) STOPPED(&(m)->interrupt)

/* What the host (lang/, tests, embedding programs) provides. */
typedef struct vm_config {
    dtype float_dtype; /* DTYPE_F64, or DTYPE_F32 under --float f32 */
    int threads;       /* 0: as many as the machine has */
    uint64_t seed;
    size_t limit;  /* bytes, 0: none */
    size_t budget; /* bytes of live arrays, 0: none */
    bool optimise; /* run the optimiser (default true) */
    bool fuse;     /* (default true) */
    bool pool;     /* (default true) */
    bool trace_nan;
    bool profile; /* time primitives, see profile.h */
    void *ctx;
    /* Output of print; returns false when it cannot be written. NULL: standard output. */
    bool (*write)(void *ctx, const char *s, size_t n);
    /* Warnings and notes while running; takes ownership. NULL: standard error. */
    void (*report)(void *ctx, diag *d);
    /* Compiles a rule's text, `fn(…) = …`, to Code (a function without captures); NULL with vm->error. */
    code *(*compile)(void *ctx, vm *m, const char *name, const char *text);
    /* Finds and compiles a module to Code without parameters returning its record; *key names it
       uniquely (a module runs once). NULL with vm->error. */
    code *(*load_module)(void *ctx, vm *m, const char *path, const source *importer, symbol *key);
    int argc;
    char **argv;         /* what args() gives */
    bool no_files;       /* nothing is read or written but through the callbacks */
    size_t output_limit; /* bytes that may be printed, 0: no limit */
    /* Calls function `id` of the embedding program (prim_host.def); *out owned. NULL: there are none. */
    bool (*host)(void *ctx, vm *m, int64_t id, const value *args, uint32_t n, value *out);
} vm_config;

/* The last four belong to worth.c: bytes a replay recorded, at most; a replay was followed; one saved something. */
typedef struct block_count {
    span at;
    uint64_t replays;
    size_t recorded;
    bool judged, saves, warned;
    uint64_t tapes_from, tapes_to; /* of one with a budget: vm->tapes_made when it last began and ended */
} block_count;

typedef struct vm_stats {
    uint64_t step_runs, steps;
    uint64_t rerun_ops;
    uint64_t snapshots, snapshots_peak;
    uint64_t lazy_runs, lazy_least; /* the certificate: steps executed of loops with a schedule, and the least
                                         number for the states each held at once (schedule_runs) */
    size_t saved, saved_peak;       /* bytes born in a forward pass and held by residuals */
    size_t saved_high;              /* as saved_peak, since a block was made or replayed (worth.c) */
    block_count *blocks;
    uint32_t nblocks, blocks_cap;
    double started; /* monotonic seconds */
} vm_stats;

struct frame;
/* Shown every instruction of the interpreter before it runs, f being the frame it runs in (run.h): for
   pictures of a run. It may look, and change nothing. */
typedef struct vm_observer {
    void (*see)(void *ctx, struct vm *m, const struct frame *f, const uint32_t *w);
    void *ctx;
} vm_observer;

struct vm {
    memory mem;
    vm_config config;
    symbols *symbols;
    prim_info *prim_infos; /* prim_count of them */
    struct prim_index *prim_by_name;
    value globals;                     /* V_TABLE: top-level functions by qualified name; replaced, never changed
                                while a residual holds it */
    value modules;                     /* V_RECORD: modules that ran, by key */
    double progress_from, progress_at; /* seconds when the bar at hand began, and its place */
    value figure;                      /* what the last picture was made of: see kern_plot.c */
    random_state random;
    uint64_t clock; /* counts buffers made: their birth */
    diag *error;
    int fail_arg;                /* operand the last prim_fail pointed at, -1: the operation itself */
    struct exec *exec;           /* frames */
    struct keep *keep;           /* what is being recorded or replayed: see residual.h */
    struct spill_file *spill;    /* see spill.h; NULL: nothing was spilled yet */
    bool spilling;               /* the innermost block with a budget that runs says `spill` */
    struct worth *worth;         /* which blocks save memory: see worth.h */
    uint32_t mute;               /* > 0: output is silent (a region is being replayed) */
    uint32_t gradient_depth;     /* > 0: a forward pass of a gradient is running */
    uint64_t gradient_birth;     /* vm clock when the outermost one began */
    const vm_observer *observer; /* NULL: none, at no cost; set before a run, not during one */
    volatile int interrupt;      /* set from a signal handler or another thread: stop at the next instruction */
    size_t output;               /* bytes printed so far */
    uint32_t next_origin;        /* see code.h */
    char *last_room;             /* for builders when libc gives nothing any more; see code.c */
    size_t last_used;
    uint32_t last_users;
    code *custom;                /* see diff_custom.c */
    vm_stats stats;
    struct looptape *tapes; /* loop tapes that let go of what they hold when memory is short (budget.h) */
    uint64_t tapes_made;    /* their births */
    bool budgeted;          /* there is a budget, or a block with one: loops are derived to run within it */
    size_t block_budget;    /* of the innermost block with one that runs; 0: none */
    int blas_threads;       /* that may be within BLIS, and what is in the books for it: blas.h */
    size_t blas_bytes;
    const struct isa *isa; /* kernel set chosen for this processor */
    object *free_queue;    /* dead objects not yet disposed of, linked through their counts */
    bool freeing;          /* an object_free further out is emptying the queue */
};

/* Opens a VM; NULL with a message on standard error only when memory is lacking at the start. */
vm *vm_open(const vm_config *config);
void vm_close(vm *m);
vm_config vm_config_default(void);

/* Sets vm->error (unless one is set already) and returns false. */
bool vm_fail(vm *m, diag_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool vm_out_of_memory(vm *m); /* says what was asked for, the limit, and what is live; or that the program is to stop */
/* True, with the error set and the flag taken, when the program is to stop: for whatever runs long by itself. */
bool vm_interrupted(vm *m);
void vm_help(vm *m, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* to the error just set */
void vm_note(vm *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A note or warning to the host now. */
void vm_report(vm *m, severity s, diag_code code, span at, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* print's door: silent while muted. */
bool vm_write(vm *m, const char *s, size_t n);

/* The table of top-level functions (V_TABLE): open addressing, cap a power of two, keys[i] 0: free. */
typedef struct table {
    object h;
    uint32_t n, cap;
    symbol *keys;
    value *v;
} table;
static inline table *as_table(value v) { return (table *)v.u.o; }
value table_new(vm *m);                                    /* empty; V_UNDEF with the error set when refused */
bool table_set(vm *m, value *table, symbol name, value v); /* copies when shared; consumes v */
const value *table_get(value table, symbol name);          /* borrowed, or NULL */
#endif
