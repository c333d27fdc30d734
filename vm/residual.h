/* residual.h: what is kept between a forward pass and its adjoint program.
 *
 * A residual is in one of two states that mean the same: *recorded* (the values: the captures of a
 * pullback, the entries of a tape) or *replayable* (the Code of a region and what entered it). FORCE
 * turns the second into the first by running the region again: silent, with the random state and the
 * top-level functions of the first time, and with what it read from the world then.
 *
 * Keeping. While a region runs for the first time under a gradient, its replayable residual is the
 * *recorder*: results of primitives its policy chooses (matrix products, named values) and of every
 * A_INPUT primitive are appended to its keep list, each under the `origin` of its instruction. While
 * it is forced it is the *reader*: such an instruction takes a value kept under its origin instead of
 * running. What was read from the world is taken in order: every version of a Code that is derived from
 * another reads it alike. All else is taken by what it was computed from, whose digest is kept beside it:
 * versions may run an instruction more or less often, and in them products of tangents have other
 * origins. So this is a memo, invisible to meaning, for every order of derivative.
 *
 * Holds. `object.holds` counts residuals and tapes that hold an object (directly; a container passes
 * its first hold on to its parts and takes its last one back). A buffer born since the outermost
 * gradient began and held at least once counts in vm->stats.saved. */
#ifndef REPLAY_RESIDUAL_H
#define REPLAY_RESIDUAL_H
#include "code.h"
#include "vm.h"

typedef struct kept {
    uint32_t origin, next; /* of the same origin, UINT32_MAX: none */
    uint64_t key;          /* of the arguments */
    value v;
    struct spilled *disk; /* v has marks (spill.h); NULL: v is whole */
} kept;
/* Values in order of execution within each origin: slots are a hash of origins (first UINT32_MAX: free),
   each with its first and newest value. */
typedef struct keep_list {
    kept *of;
    uint32_t n, cap;
    struct keep_slot {
        uint32_t origin, first, newest;
    } * slots;
    uint32_t nslots, used;
} keep_list;

typedef struct residual {
    object h;
    code *region;                 /* retained; its captures are `entered` */
    uint32_t n;                   /* values that entered */
    const block_options *options; /* of the block, inside region's or its owner's arena: owner below */
    code *owner;                  /* retained: the Code that options belong to */
    random_state random;          /* when the region was entered */
    value globals;                /* table of top-level functions then */
    keep_list keep;
    uint32_t span; /* see worth.c; 0: none */
    value entered[];
} residual;
static inline residual *as_residual(value v) { return (residual *)v.u.o; }

/* Entries of `width` values. An entry may be shared by copies of the tape until one of them changes. */
typedef struct tape {
    object h;
    uint32_t width;
    uint64_t n, cap;
    value *v;
    struct looptape *of;
    uint32_t first; /* a view of a loop tape (looptape.h): its entries are made when asked
                                           for, and are values `first` on of the loop tape's */
} tape;
static inline tape *as_tape(value v) { return (tape *)v.u.o; }

residual *residual_new(vm *m, code *region, uint32_t n); /* captures random state and globals; entered: V_UNDEF */
/* The same, but of region's derivative: it shares what entered and what was kept. */
residual *residual_derived(vm *m, const residual *p, code *region);
value tape_new(vm *m, uint32_t width); /* empty; V_UNDEF with the error set when refused */
/* Pure updates, in place when unique. `t` consumed; entry values consumed on success. */
bool tape_push(vm *m, value *t, uint32_t width, value *entry);
/* Takes the last entry out; of V_ZERO gives V_ZEROs. */
bool tape_pop(vm *m, value *t, uint32_t width, value *entry);
/* A tape of cotangents or tangents may have fewer entries than its primal: symbolic zeros lie below the
   lowest, and entries are counted from the top. tape_pad makes it n entries long (consumes, gives back). */
bool tape_pad(vm *m, value *t, uint64_t n);
bool tape_acc(vm *m, value a, value b, value *out); /* entrywise __acc; a and b borrowed */

/* Lets go of what a dying residual or tape holds and frees it. Only object_free calls this; parts whose
   last reference goes are queued there, not freed by recursion. */
void residual_dispose(vm *m, object *o);

/* Hold accounting: called when a residual, pullback or tape takes a value in or lets it go. */
void value_hold(vm *m, value v);
void value_unhold(vm *m, value v);

/* The context stack of recorders and readers. A reader's cursors are its own (one per slot of the keep
   list), so a residual may be forced several times, even one within another. What a reader supplies is
   offered to the recorders further in, which run for the first time, and to none further out. */
typedef struct keep_context {
    residual *r;
    bool reading;
    uint32_t *cursors;
    uint32_t ncursors;
    uint64_t given; /* recorder: which of the first 64 names its policy lists occurred */
} keep_context;
typedef struct keep {
    keep_context *of;
    uint32_t n, cap;
    uint32_t from; /* contexts from here on are offered to */
    uint8_t *noted;
    uint32_t nnoted; /* blocks that got their note */
} keep;
bool keep_record(vm *m, residual *r);  /* the region runs for the first time */
bool keep_read(vm *m, residual *r);    /* it is being forced */
void keep_leave(vm *m);                /* pops the innermost */
void keep_leave_to(vm *m, uint32_t n); /* after an error */
/* The innermost context, a recorder, goes on with r. */
void keep_swap(vm *m, residual *r);
/* Before a keepable primitive runs: true when a reader had its value (owned, in *out). */
bool keep_lookup(vm *m, const prim *p, uint32_t origin, const value *args, uint32_t nargs, value *out);
/* After one ran, or was looked up: to every recorder whose policy wants it. False: no memory. */
bool keep_offer(vm *m, const prim *p, uint32_t origin, const value *args, uint32_t nargs, value result);
/* Appends v (borrowed), and holds it; all that is in `from`. */
bool keep_list_add(vm *m, keep_list *l, uint32_t origin, uint64_t key, value v);
bool keep_list_copy(vm *m, keep_list *l, const keep_list *from);
void keep_open(vm *m);
void keep_close(vm *m);
/* How many arrays of their own memory are reachable from v but not from `without`, and their bytes: the
   record that saved(f, …) gives. */
bool residual_report(vm *m, value v, value without, value *out);
#endif
