/* diff.h: the differentiation passes, Code to Code.
 *
 * For a Code F (captures c, parameters p, results y) and a mask of active parameters:
 *
 *   fwd(F)  same captures and parameters; results (y…, R) with R the residual: a pullback, that is a
 *           closure over rev(F) whose captures are the saved values
 *   rev(F)  captures: the saved values; parameters: cotangents of y; results (dc, dp): the tuple of
 *           the captures' cotangents and the tuple of the arguments' (by position; further arguments
 *           of a rest parameter follow); either may be symbolic zero, and short
 *   jvp(F)  same captures; parameters (t, p…), t the tuple (dc, dp…) of tangents; results (y…, dy…)
 *
 * The cotangent of a function value is the tuple of its captures' cotangents, so closures and pullbacks
 * are differentiated by the same two rules, and every order falls out. A replayable residual means the
 * tuple of the values that FORCE gives, and its cotangent is the tuple of theirs: it comes back to the
 * block it belongs to, whose second derivative then sees results and replayed values together (see
 * CHECKPOINT in code.h). Its tangent is a residual too, that gives the values and then their tangents; the
 * cotangents of the former go to the residual itself, for its tangent may not be active where it was made.
 *
 * How fwd and rev are made together. The primal is walked once, forward, to copy it (fwd), and once
 * backward to write rev. What rev needs of the primal is *imported*: import(r) makes r a saved value
 * of the scope that defines r (function body, branch arm, loop body, block) and names it in rev.
 * Each scope hands its saved values over in its own way:
 *
 *   function   captures of the pullback
 *   arm        extra results of the IF (slots shared by both arms)
 *   loop body  an entry of a loop tape per iteration; the adjoint is a LOOP_TAPE over it
 *   block      nothing crosses: fwd runs the plain block and makes a REPLAYABLE residual; rev FORCEs
 *              it, inside a CHECKPOINT of its own so that a derivative of rev replays as well
 *
 * Primitives that read form alone (A_META) are computed in fwd, next to the definition of what they
 * read, so `sum` keeps a shape and not an array; if the array is saved anyway they stay in rev.
 *
 * Accumulation order is that of reverse program order, always: every nested rev block takes the
 * running cotangents of what it captured, adds to them and yields them. So it does not matter to one
 * bit what was recorded and what replayed. */
#ifndef REPLAY_DIFF_H
#define REPLAY_DIFF_H
#include "vm.h"
#include "code.h"
#include "prim_ids.h"

/* --- rules (diff_rule.c) -------------------------------------------------------------------- */
/* Compiled rule of argument i of p, fn(g, y, params…); NULL with no error when it has none. */
bool rule_vjp(vm *m, const prim *p, uint32_t i, code **out);
/* fn(y, params…, d<param>… of the listed ones) of a CUSTOM row. */
bool rule_jvp(vm *m, const prim *p, code **out);
/* Works on cotangents and tangents as they are: no reduce_to or spread_to around its rule. */
static inline bool rule_bare(const prim *p) { return (p->attrs & A_ZERO_SKIP) && (p->attrs & A_INTERNAL) && !p->tile; }
bool rule_lists(vm *m, const prim *p, uint32_t i); /* has argument i a derivative? */

/* --- copying Code between builders (diff.c) -------------------------------------------------- */
typedef struct cloner {
    builder *b;
    const code *from;
    reg *map;
    uint32_t nmap;                           /* from-register → register in b, REG_NONE: not yet */
    reg (*resolve)(struct cloner *k, reg r); /* called for an unmapped source; may be NULL */
    /* called first for every instruction; true when it took care of it */
    bool (*special)(struct cloner *k, const instr *i, block *into);
    void *ctx;
    bool new_origins; /* copies are instructions of their own (inlined rules) */
    bool runs_only;   /* without what blocks mean (CHECKPOINT) */
    bool fresh;       /* results get fresh registers instead of map[] entries as given */
} cloner;
/* Copies the instructions of `k` (without the terminator) to the end of `into`. */
void clone_list(cloner *c, const block *k, block *into);
void clone_instr(cloner *c, const instr *i, block *into);
reg clone_src(cloner *c, reg r);
uint32_t clone_imm(builder *b, const code *from, const instr *i);

/* Activity: active[r] for every register of f, given the mask. False: no memory. */
bool diff_activity(vm *m, const code *f, uint64_t mask, uint8_t *active);
/* The row of a PRIM instruction. */
static inline const prim *prim_of(const instr *i) { return &prims[i->imm & ~PRIM_SPREAD]; }
static inline bool mask_has(uint64_t mask, uint32_t bit) { return mask >> (bit > 63 ? 63 : bit) & 1; }

/* --- the passes ------------------------------------------------------------------------------ */
/* Makes rev too; diff_rev.c, diff_control.c. */
code *diff_fwd(vm *m, code *f, uint64_t mask, derive_kind kind);
code *diff_jvp(vm *m, code *f, uint64_t mask); /* diff_jvp.c */
/* A region's tangent as a region: captures are the region's and then the tuple of their tangents; results are
   the region's and then their tangents. Cached, borrowed. */
code *diff_region_tangent(code *region);
enum { DERIVE_REGION_TANGENT = DERIVE_KINDS }; /* its key in the cache of derived Code */
/* f with long lists of instructions in pieces, for deriving under a budget. Borrowed. (segment.c) */
code *code_segment(code *f);
code *diff_custom(vm *m, code *f, unsigned kind, uint64_t mask); /* custom_vjp's function; diff_custom.c */

code *code_of_custom(vm *m); /* the special Code of custom_vjp's functions, one per VM; borrowed */

/* --- the fwd/rev pass's state (diff_rev.c and diff_control.c) --------------------------------- */
typedef enum scope_kind { SCOPE_FUNCTION, SCOPE_ARM, SCOPE_LOOP, SCOPE_BLOCK } scope_kind;

typedef struct regs {
    reg *of;
    uint32_t n, cap;
} regs;
typedef struct instrs {
    instr **of;
    uint32_t n, cap;
} instrs;

/* One block of the primal being differentiated. */
typedef struct scope {
    struct scope *parent;
    scope_kind kind;
    const block *primal;
    struct slot {
        instrs main, after;
    } * slots;             /* primal->n + 1 lists of fwd instructions: [0] before
                           everything, [i + 1] in place of the i-th; `after` reads what `main` defines */
    block *rev;            /* rev instructions */
    instrs prologue;       /* rev instructions that come first: constants, recomputed forms */
    regs saved;            /* fwd registers that rev needs of this scope … */
    regs rev_saved;        /* … and their names in rev */
    uint32_t now;          /* slot being filled */
    const instr *block_of; /* the block with slots whose body this is: its loop is made lazy */
} scope;

typedef struct fwd_info {
    scope *scope;
    uint32_t slot;    /* where it is defined */
    const instr *def; /* its CONST instruction, to copy it rather than save it; or NULL */
    reg meta_of;
    uint32_t meta_prim;   /* it is meta_prim(meta_of) */
    reg metas, next_meta; /* list of what meta primitives gave of it */
} fwd_info;

typedef struct diff {
    vm *m;
    arena arena; /* the pass's own lists */
    code *f;
    derive_kind kind; /* PIECES: f is in pieces; what it calls is derived likewise */
    uint64_t mask;
    uint8_t *active;
    uint32_t nactive; /* per primal register (and a few of fwd's) */
    builder fb, rb;
    fwd_info *info;
    uint32_t ninfo; /* per fwd register */
    reg *rev_of;
    uint32_t nrev_of; /* fwd register → rev register, REG_NONE */
    reg *cot;
    uint32_t ncot; /* fwd register → rev register of its running cotangent, REG_NONE */
    reg *alias;
    uint32_t nalias; /* rev register → the one it stands for */
    reg *same;
    uint32_t nsame; /* primal register → itself, but for those of blocks already copied */
    reg *renamed;
    uint32_t nrenamed;         /* fwd register → a region's, REG_NONE; clear between regions */
    struct settling *settling; /* tables of diff_save.c; NULL: no scope is settled yet */
    struct reading *reading;   /* what blocks read from outside (diff_control.c); NULL: nobody has asked */
    instr *limits;             /* rev's latest BUDGET */
    reg zero;                  /* rev: the constant symbolic zero, in the function's prologue; REG_NONE before */
    regs whole, whole_of;      /* rev registers that are the whole cotangent of a primal one, and that one */
    scope *at;
    bool failed;
} diff;

reg diff_import(diff *d, reg r);              /* primal value in rev */
reg diff_meta(diff *d, const prim *p, reg x); /* p(x), an A_META primitive, in rev */
void diff_activate(diff *d, reg r, bool on);
void diff_alias(diff *d, reg r, reg of); /* rev register r stands for another */
void diff_same_regs(builder *b, const code *f);
void diff_acc(diff *d, reg r, reg g); /* adds g to the running cotangent of r, if r is active */
reg diff_cot(diff *d, reg r);         /* running cotangent or REG_NONE */
reg diff_cot_or_zero(diff *d, reg r);
reg diff_element(diff *d, reg g, uint32_t k); /* g[k] of a tuple of cotangents */
void diff_cot_set(diff *d, reg r, reg g);
void diff_table_reach(diff *d, reg **t, uint32_t *n, reg r); /* grown to hold r; new entries are REG_NONE */
void diff_mark_used(const block *b, uint8_t *used);          /* used[r] for every register that b reads, inside too */
reg diff_zero(diff *d);
reg diff_rev_prim(diff *d, enum prim_id p, uint32_t n, const reg *src);
reg diff_rev_const(diff *d, value v);                      /* consumes v; in the function's prologue */
void diff_push_fwd(diff *d, instr *i);                     /* into the current slot */
void diff_define(diff *d, reg r, scope *s, uint32_t slot); /* fwd register r is defined in that slot of s */
reg diff_fwd_reg(diff *d, symbol name);                    /* fresh, defined in the current scope and slot */
scope *scope_open(diff *d, scope_kind kind, const block *primal);
void scope_walk(diff *d, scope *s);   /* rev of its instructions, last to first, filling slots;
                                                 then forms of saved arrays move into rev */
void scope_settle(diff *d, scope *s); /* drops from its saved values what rev can compute (diff_save.c) */
void scope_emit_fwd(diff *d, scope *s, block *into);
void scope_emit_rev(diff *d, scope *s, block *into); /* prologue, then rev instructions */
void regs_add(diff *d, regs *r, reg x);
void instrs_add(diff *d, instrs *l, instr *i);
/* diff_control.c: instruction i of the current scope. */
void diff_if(diff *d, const instr *i);
void diff_loop(diff *d, const instr *i);
void diff_checkpoint(diff *d, const instr *i);
void diff_everything(diff *d, const instr *i); /* a block with save = "everything", or with slots */
#endif
