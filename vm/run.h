/* run.h: the run form of Code, and the interpreter's own state.
 *
 * The tree of Code is for the passes; the interpreter runs a flat array of 32-bit words made from it
 * once, at first use: code_optimise → live.c → flatten.c. Structured control has become jumps;
 * registers have become *slots* (a register's slot is reused once it is dead, so frames are small,
 * and a loop's yielded value is computed, where it can be, in the slot of the value it replaces).
 *
 * An instruction starts with a word `op | index << 8`; index finds the instr it was made from, for
 * errors and immediates. An operand is a word `slot << 1 | last`: with `last` set, no path from here
 * reads the slot again, and the instruction takes the value out. A result is a plain slot.
 *
 * Ownership: a slot whose value is a heap object owns one reference, at every instruction boundary.
 * A slot that is dead holds no heap object (a scalar may be left behind). So unwinding releases what
 * it finds, writing a result never releases, and a RETURN has nothing to clean up. An instruction
 * that fails has consumed nothing, or left what it consumed out of the slots.
 *
 * Layouts, after the first word (d: slot of a result, s: operand, t: target word, n: a count):
 *   CONST d k | MOVE d s | COPY d s | DROP d | PRIM… prim n d s… | TUPLE n d s…
 *   CALL-like: imm nd ns d… s…  (CALL, TRY, MEASURE, FORCE, IMPORT: a frame's results go to d…)
 *   other ops of op.def: nd ns d… s…
 *   JUMP t | GO s t (jump if true) | GO_NOT s t | RANGE s s d d t | RANGE_NEXT d d t | STEP
 *   TAPES n s… d… d(index) t | TAPES_NEXT n d… d(index) t (width d…)… | KEEP d s | KEEP_END d
 *   YIELD never appears: it is MOVEs and COPYs. */
#ifndef REPLAY_RUN_H
#define REPLAY_RUN_H
#include "vm.h"
#include "code.h"
#include "residual.h"
#include "worth.h"

#define SLOT_NONE UINT32_MAX

/* Opcodes of the run form. Those up to RUN_FUSED_LAST are the tree's own; see op.def. */
typedef enum run_op {
    RUN_CONST,
    RUN_MOVE,
    RUN_COPY,
    RUN_DROP,
    RUN_JUMP,
    RUN_GO,
    RUN_GO_NOT,
    RUN_RANGE,
    RUN_RANGE_NEXT,
    RUN_STEP,
    RUN_TAPES,
    RUN_TAPES_NEXT,
    RUN_KEEP,
    RUN_KEEP_END,
    RUN_PRIM,      /* any primitive */
    RUN_PRIM_KEEP, /* one whose result a block may keep */
    /* Primitives with a path for unboxed scalars; the layout is PRIM's. */
    RUN_ADD,
    RUN_SUB,
    RUN_MUL,
    RUN_DIV,
    RUN_NEG,
    RUN_LT,
    RUN_LE,
    RUN_GT,
    RUN_GE,
    RUN_EQ,
    RUN_NE,
    RUN_ZMUL,
    RUN_ACC,
    RUN_FIT /* reduce_to, spread_to */,
    RUN_FORM,
    RUN_INDEX,
    RUN_SETINDEX,
    RUN_TUPLE,
    RUN_UNPACK,
    RUN_CALL,
    RUN_FORCE,
    RUN_TRY,
    RUN_MEASURE,
    RUN_IMPORT,
    RUN_RETURN,
    RUN_CLOSURE,
    RUN_GLOBAL,
    RUN_DEFINED,
    RUN_SELDEF,
    RUN_FIELD,
    RUN_OTHER, /* the rest of op.def, by the instr's own opcode */
    RUN_OPS
} run_op;

typedef struct run {
    code *code;       /* whose run form this is */
    const code *tree; /* what the optimiser made of it: constants, names, … */
    uint32_t *w;
    uint32_t n;
    const instr **instrs;
    uint32_t ninstrs; /* by index */
    uint32_t nslots;
    uint32_t *entry; /* slot of each capture, then of each parameter; SLOT_NONE: never read */
    uint32_t nentry;
    bool fwd;       /* role CODE_FWD or CODE_REGION: the forward pass of a gradient, or a part of it again */
    bool uses_self; /* captures must stay in the closure */
    size_t frame_bytes;
} run;

/* c->run, made when there is none. NULL with the error set. */
const run *run_of(vm *m, code *c);
/* Checks what flatten promises of slots: every path defines before it reads and reads last once.
   Used by the unit tests and, under the sanitizer, on every run form made. */
bool run_check(vm *m, const run *r);
/* The parts of one instruction of a run form; run_parts.c. */
typedef struct run_parts {
    const uint32_t *src, *dst, *dst2;
    uint32_t nsrc, ndst, ndst2; /* operands, slots written */
    uint32_t size, target;      /* in words; SLOT_NONE: no jump */
    bool falls;                 /* goes on to the next instruction, too */
    bool own;                   /* operands and results are those of the tree's instruction, in its order */
} run_parts;
run_parts run_parts_of(const uint32_t *w);
/* One line per instruction, for tests and for looking. */
void run_list(const run *r, text *out);

/* --- liveness (live.c) ---------------------------------------------------------------------- */
typedef struct drop {
    reg r;
    struct drop *next;
} drop;
typedef struct live_instr {
    const instr *i;
    uint8_t *last; /* nsrc: the value dies here */
    drop *after;   /* registers to drop right after */
    struct live_block *blocks;
} live_instr;
typedef struct live_block {
    const block *b;
    live_instr *of;
    drop *start; /* registers to drop on entry */
} live_block;
/* Fills *out, everything in `a`. False when refused (error set). */
bool live_of(vm *m, const code *tree, arena *a, live_block *out);

/* --- frames --------------------------------------------------------------------------------- */
typedef enum frame_kind { FRAME_CALL, FRAME_ENTRY, FRAME_FORCE, FRAME_TRY, FRAME_MEASURE, FRAME_IMPORT, FRAME_LAZY } frame_kind;

typedef struct frame {
    struct frame *up; /* the caller */
    const run *run;
    const uint32_t *at;      /* the instruction it stands at: saved when a frame is pushed, or on failure */
    object *fn;              /* owned: the closure or residual that runs; NULL for plain Code */
    struct frame_more *more; /* what kinds other than CALL need when they end */
    uint8_t kind;
    bool fwd; /* counted in vm->gradient_depth */
    value r[];
} frame;

/* State to go back to, and where the results go. */
typedef struct frame_more {
    value *out;
    uint32_t nout;                      /* ENTRY */
    uint32_t keep_n;                    /* keep contexts when it was entered */
    size_t budget, slack, block_budget; /* the limit when it was entered */
    uint32_t mute, forcing, gradient_depth;
    bool spilling;
    random_state random;
    value globals; /* FORCE: the caller's */
    symbol key;    /* IMPORT */
    uint64_t ops;  /* FORCE, outermost: operations before it */
    double started;
    size_t peak, peak_all, saved_peak; /* MEASURE: figures before it */
    uint64_t step_runs, steps, snapshots_peak;
    uint64_t *replays;
    uint32_t nreplays;
    worth_run worth; /* FORCE of a block */
} frame_more;

typedef struct segment {
    struct segment *down;
    size_t bytes;
    char *below; /* top of `down` */
    max_align_t data[];
} segment;

struct exec {
    vm *m;
    frame *frame; /* innermost */
    segment *seg, *spare;
    char *top, *end;  /* free space of seg */
    uint64_t depth;   /* frames on the stack */
    uint32_t forcing; /* > 0: a region is being forced */
    uint64_t ops;     /* deterministic cost of all primitives executed so far */
    value *scratch;
    uint32_t scratch_cap;
    bool scratch_busy;
    uint8_t *fast;           /* by prim_number: RUN_PRIM or the opcode with a scalar path */
    uint32_t *cost;          /* by prim_number: operations per result element */
    uint8_t *joins;          /* by prim_number: may be part of a fused group; all 0 when there is no fusing */
    struct fuser *fuse;      /* see fuse.h */
    struct profile *profile; /* see profile.h; NULL: none is made */
};

bool segment_push(struct exec *x, size_t bytes);
void segment_pop(struct exec *x);
void segments_free(struct exec *x); /* all of them, when no frame stands */
void frame_check(const frame *f);

/* Pushes a cleared frame of r over `fn` (consumed; NULL for none). NULL with the error set, fn kept. */
static inline frame *frame_push(struct exec *x, const run *r, object *fn, frame_kind kind)
{
    if ((size_t)(x->end - x->top) < r->frame_bytes && !segment_push(x, r->frame_bytes)) return NULL;
    frame *f = (frame *)(void *)x->top;
    x->top += r->frame_bytes;
    f->up = x->frame;
    f->run = r;
    f->at = r->w;
    f->fn = fn;
    f->more = NULL;
    f->kind = (uint8_t)kind;
    f->fwd = r->fwd;
    for (value *s = f->r, *end = s + r->nslots; s < end; s++) s->tag = V_UNDEF;
    if (r->fwd && x->m->gradient_depth++ == 0 && r->code->role == CODE_FWD) x->m->gradient_birth = x->m->clock;
    x->frame = f;
    x->depth++;
    return f;
}

/* Takes the innermost frame off, whose slots hold nothing any more. */
static inline void frame_pop(struct exec *x)
{
    frame *f = x->frame;
    vm *m = x->m;
#if defined(__SANITIZE_ADDRESS__) || defined(REPLAY_CHECK_SLOTS)
    frame_check(f);
#endif
    if (f->fwd) m->gradient_depth--;
    if (f->more) memory_free(&m->mem, MEM_FRAME, f->more, sizeof *f->more);
    object *fn = f->fn;
    x->frame = f->up;
    x->depth--;
    if ((char *)f == (char *)x->seg->data) segment_pop(x);
    else x->top = (char *)f;
    if (fn && --fn->refs == 0) object_free(m, fn);
}
frame_more *frame_more_new(struct exec *x, frame *f);

/* --- what the loop in exec.c leaves to others ------------------------------------------------
 * All take the instruction's first word; false with the error set. Those that push a frame leave it
 * in x->frame. */
bool exec_prim(struct exec *x, frame *f, const uint32_t *w, bool keepable);
bool exec_call(struct exec *x, frame *f, const uint32_t *w); /* exec_call.c */
bool exec_try(struct exec *x, frame *f, const uint32_t *w);  /* exec_special.c */
bool exec_measure(struct exec *x, frame *f, const uint32_t *w);
bool exec_force(struct exec *x, frame *f, const uint32_t *w);
bool exec_import(struct exec *x, frame *f, const uint32_t *w);
/* An iteration of a lazy loop for the tapes at w (TAPES_NEXT) that are views: *ran when a frame was pushed,
   after which the instruction is looked at again. (exec_loop.c) */
bool exec_iteration(struct exec *x, frame *f, const uint32_t *w, bool *ran);
/* The loop tapes of a TAPES instruction's operands, just taken into its slots, become its own. */
bool exec_tapes_own(struct exec *x, frame *f, const uint32_t *w);
/* What an iteration's frame gives (consumed). */
bool exec_iteration_done(struct exec *x, object *of, random_state after, value *v, uint32_t n);
bool exec_looptape(struct exec *x, frame *f, const instr *i, const uint32_t *dst, const uint32_t *src); /* LOOPTAPE, OFFER, LOOPEND, VIEW */
bool exec_other(struct exec *x, frame *f, const uint32_t *w);                                           /* exec_op.c */
/* Gives the results v[0..n) (consumed) of the innermost frame, which is not FRAME_CALL, to whoever
   waits, and takes it off. *stop: it was an ENTRY. */
bool exec_leave(struct exec *x, value *v, uint32_t n, bool *stop);
/* As many of v[0..n) (consumed) as the call instruction at w wants, into f's slots. */
bool exec_results(struct exec *x, frame *f, const uint32_t *w, value *v, uint32_t n);
bool exec_bind(struct exec *x, frame *f, const instr *i, const uint32_t *src, value *out); /* exec_bind.c */
bool exec_unbind(struct exec *x, frame *f, const instr *i, const uint32_t *src, value *out);
bool exec_contract(struct exec *x, frame *f, const instr *i, const uint32_t *dst, const uint32_t *src); /* exec_contract.c */
/* MEASURE's figures: taken before, put into a record after (stats.c). */
bool stats_begin(vm *m, frame_more *s);
bool stats_end(vm *m, frame_more *s, bool failed, value *out);
/* After a failure with the innermost frame's `at` set: labels and frames go to the error, frames are
   released down to a TRY that catches it (true: go on after it) or to the ENTRY (false). */
bool exec_unwind(struct exec *x);
/* The error's place and operands, once. */
void exec_locate(struct exec *x, frame *f);
/* A suggestion for vm->error, in the words of the instruction's operands. (advice.c) */
void exec_advise(vm *m, const frame *f, const instr *i, const uint32_t *words);
/* What a frame that ends changes back: gradient depth, muting, random state, contexts. */
void frame_restore(struct exec *x, frame *f);

/* Arguments: operands of a frame's registers, or an array, whose elements are moved out when `own`. */
typedef struct call_args {
    const uint32_t *words;
    value *regs;
    value *v;
    bool own;
    uint32_t n;
} call_args;
/* Pushes a frame for a call of fn, whose one reference is consumed when own_fn. On success the
   arguments are bound (operands that die, owned elements: moved). NULL with the error set and nothing
   consumed: not a function, wrong number of arguments, no memory. */
frame *exec_enter(struct exec *x, value fn, bool own_fn, const call_args *a, frame_kind kind);
/* The arguments of a tuple operand: moved from when it dies here and nobody else holds it. */
call_args args_of_tuple(value *r, uint32_t operand);
/* A name-listing arity error of c for n arguments; always false. */
bool arity_error(vm *m, const code *c, uint32_t n);
bool not_a_function(vm *m, value v);

/* --- small things --------------------------------------------------------------------------- */
/* Takes an operand's value: moved out when it is the last use, else retained. */
static inline value operand_take(value *r, uint32_t w)
{
    value *s = &r[w >> 1];
    value v = *s;
    if (w & 1) s->tag = V_UNDEF;
    else value_retain(v);
    return v;
}
/* After an operand was only looked at. */
static inline void operand_done(vm *m, value *r, uint32_t w)
{
    if (!(w & 1)) return;
    value v = r[w >> 1];
    r[w >> 1].tag = V_UNDEF;
    value_release(m, v);
}
static inline const instr *instr_at(const frame *f, const uint32_t *w) { return f->run->instrs[*w >> 8]; }
static inline bool is_last_reference(value v) { return value_is_heap(v) && v.u.o->refs == 1; }
double exec_seconds(void);
#endif
