/* looptape.h: the loop tape of a lazy loop: some of its states, and the means to get the rest back.
 *
 * While the loop runs, plain, it offers its state at the start of every iteration; the tape holds those
 * that its plan (schedule.h) wants: references, so that the next write in place copies by itself. When
 * the adjoint program asks for iteration k, last to first, the tape repeats iterations from the nearest
 * state below, holding states on the way as the plan says, and *records* the k-th: runs the Code that
 * returns what the tapes of the loop would have had as an entry. That entry is taken and freed before
 * the next one is made.
 *
 *   state     the carried values that a later iteration reads, and the random state; at iteration k
 *   entered   what the loop's body reads from outside; captures of both Codes
 *   record    Code: state → entry           advance   Code: state → next state
 *   kept      for iterations that read the world, or gave what the block's policy keeps: the values
 *
 * A `tape` that is a view stands for some columns of the entries. The interpreter runs the Codes in
 * frames of their own (exec_loop.c). A loop tape that others hold too is copied before it is walked,
 * which copies references. */
#ifndef REPLAY_LOOPTAPE_H
#define REPLAY_LOOPTAPE_H
#include "residual.h"
#include "schedule.h"
#include "spill.h"

/* The state when `at` iterations are over. */
typedef struct loop_state {
    uint64_t at;
    random_state random;
    bool shared; /* not counted here */
    value *v;
    spilled *disk; /* v has marks (spill.h); NULL: v is whole */
} loop_state;
typedef struct loop_kept {
    uint64_t at;
    residual *r;
    uint32_t refs; /* of ours: 2, so that a reader takes nothing out; 1 for the last reading */
} loop_kept;

/* A step gives the next state, that and an entry, or an entry alone. */
enum { STEP_PLAIN, STEP_BOTH, STEP_ENTRY, STEP_KINDS };

typedef struct looptape {
    object h;
    code *record, *advance; /* record is retained, and with it the group */
    const lazy_loop *of;
    value globals; /* top-level functions when the loop began */
    const block_options *options;
    int64_t lo;      /* LOOP_RANGE: the counter of iteration 0 */
    bool counted;    /* the length is known from the start */
    uint64_t length; /* counted, or over: how many iterations */
    uint64_t at;     /* iterations begun */
    uint64_t next;   /* counted: the next position to hold, UINT64_MAX: none */
    online plan;     /* not counted: positions of held[] while the loop runs */
    uint64_t slots;
    loop_state *held;
    uint64_t nheld, cap, ondisk; /* ascending; how many are on disk */
    loop_state work;             /* the state at hand: before the last step, or on the way to `target` */
    /* Under a budget (of->budget); see budget.h. */
    code *both;                       /* state → next state, entry */
    struct looptape *later, *earlier; /* vm->tapes */
    value **window;
    uint64_t first, count, window_cap;                          /* entries of iterations [first, first + count) */
    bool is_short;                                              /* something of it was let go: from here on states are held by plan */
    bool reversing;                                             /* an entry was taken and is being used */
    bool reversed_once;                                         /* spike_rev is known */
    bool planned;                                               /* next was set by plan */
    bool windowing;                                             /* entries up to the one wanted are being recorded */
    uint64_t ops, began;                                        /* operations of its steps; when the one that runs began */
    uint64_t measured, entries;                                 /* steps that ops counts, entries that entries_size does */
    size_t entry_size, state_size, live_first, live, live_held; /* bytes: of an entry, of a state, live when the loop began, when the step
                                   that runs began, and when a state was last held */
    size_t spike[STEP_KINDS], spike_rev; /* bytes that a step takes for the moment beside its state, and the reversal of
                                   one, at most */
    bool spiked[STEP_KINDS];             /* which of the former were measured */
    bool shares;                         /* the step that runs began from a state that is held too */
    size_t high;                         /* mem.array_high before that was set for the measure that is being taken */
    uint64_t born, began_at;             /* in vm->tapes_made: this one, and when the step that runs began */
    size_t gone;                         /* bytes let go of since, but for what the step itself made */
    size_t entries_size, entry_most;     /* of all entries measured, of the largest */
    uint64_t nearest;                    /* budget.c: the state that costs least to make again; 0: not known */
    bool working, work_holds;            /* there is one; its values are held in the sense of residual.h */
    uint64_t target;
    bool reversed;       /* it was walked */
    uint64_t runs, most; /* steps executed so far; states held at once */
    residual *recorder;  /* of the iteration that runs */
    loop_kept *kept;
    uint64_t nkept, kept_cap; /* ascending */
    value *entry;             /* of->width values, of iteration entry_at when `ready` */
    uint64_t entry_at;
    bool entry_holds;      /* its values are held in the sense of residual.h */
    bool ready, recording; /* recording: the frame that runs records */
    uint64_t running;      /* the iteration whose frame runs */
    uint32_t n;
    value entered[];
} looptape;
static inline looptape *as_looptape(value v) { return (looptape *)v.u.o; }

/* Of a loop about to run; captures random state, globals; entered: V_UNDEF. NULL with the error set. */
looptape *looptape_new(vm *m, code *const *codes, const lazy_loop *of, uint32_t n);
/* entered[] is filled in (LOOP_RANGE: its bounds come first): the plan is made, and the recorder becomes the
   innermost keep context. */
bool looptape_begin(vm *m, looptape *l);
/* Whether the state at the start of the next iteration is of interest; if not it need not be offered, and the
   iteration has begun. */
bool looptape_wants(vm *m, looptape *l, bool *failed);
/* That state: of->nstate values, taken over on success. */
bool looptape_offer(vm *m, looptape *l, value *v);
/* The iteration is recorded: its entry, taken over on success. */
bool looptape_entry(vm *m, looptape *l, value *v);
/* The loop is over; its keep context is left. */
bool looptape_end(vm *m, looptape *l);
/* A tape whose entries are values [first, first + width) of l's. */
value looptape_view(vm *m, looptape *l, uint32_t first, uint32_t width);
/* The same iterations, to be walked independently. */
looptape *looptape_copy(vm *m, const looptape *l);

/* The state to run from in order to get to the recording of iteration `want` is made l->work, and l->recording
   says whether that step is it. */
bool looptape_aim(vm *m, looptape *l, uint64_t want);
/* A reader's residual for iteration `at`, or NULL. With `last`, its values may be taken out of it. */
residual *looptape_kept(looptape *l, uint64_t at, bool last);
/* The state at hand joins those held; a copy of the last of those is the state at hand, or, when it could not be read from
   disk, that is held no longer and there is none. */
bool looptape_hold_work(vm *m, looptape *l);
bool looptape_copy_top(vm *m, looptape *l);
/* Held state k > 0 goes to disk, if that can be. */
bool looptape_spill_state(vm *m, looptape *l, uint64_t k);
/* Lets go of held state k, of the lowest entry. */
void looptape_drop_state(vm *m, looptape *l, uint64_t k);
void looptape_drop_entry(vm *m, looptape *l);
/* Whether the entry of iteration `want` is there; then it is l->entry. */
bool looptape_has(vm *m, looptape *l, uint64_t want);
/* The step from l->work is over: v[0..n) is the next state or the entry; taken over. */
bool looptape_stepped(vm *m, looptape *l, random_state after, value *v, uint32_t n);
void looptape_entry_free(vm *m, looptape *l);
void looptape_dispose(vm *m, object *o);
/* Every value that l holds or kept, one after the other: NULL at the end; *i counts from 0. */
const value *looptape_value(const looptape *l, uint64_t *i);
#endif
