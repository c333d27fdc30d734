/* code.h: Code, the structured single-assignment bytecode everything is made of.
 *
 * A Code is one function: captures, then parameters, then a body. A body is a tree of blocks: a
 * block has parameters and a list of instructions, the last of which is YIELD (nested) or RETURN
 * (a body). Nested blocks see the registers of the blocks around them. There is no goto: `break`,
 * `continue` and early `return` are carried flags, put in by lang/emit.
 *
 * Invariants (vm/verify.c checks them after every pass):
 *   - each register is defined once in the Code: as a parameter of one block or a result of one
 *     instruction, before every use, in a block that encloses the use;
 *   - a nested block yields what its instruction expects (see each opcode);
 *   - every instruction has the counts its row in op.def gives.
 *
 * Two forms. This tree is what emit writes and diff reads and writes. The interpreter runs the *run
 * form* (run.h), made from it once, lazily, by opt → fuse → live → flatten; diff never reads that.
 *
 * A Code is immutable once finished (code_finish). Everything in it lives in its arena. */
#ifndef REPLAY_CODE_H
#define REPLAY_CODE_H
#include "prim.h"
#include "diag.h"

typedef uint32_t reg;
#define REG_NONE UINT32_MAX

typedef enum opcode {
#define OP(NAME, mnemonic, results, sources, blocks, immediate, flags, synopsis) OP_CODE_##NAME,
#include "op.def"
#undef OP
    OPCODES
} opcode;

typedef enum imm_kind {
    IMM_NONE,
    IMM_CONST,    /* index into code->consts */
    IMM_PRIM,     /* prim_number, or-ed with PRIM_SPREAD */
    IMM_SYMBOL,   /* a symbol */
    IMM_CODE,     /* index into code->codes */
    IMM_NAMES,    /* index into code->names: a list of names, aligned with the sources */
    IMM_CONTRACT, /* index into code->contracts */
    IMM_CALL,     /* call_flags */
    IMM_DERIVE,   /* derive_kind */
    IMM_LOOP,     /* loop_kind | LOOP_EXIT */
    IMM_OPTIONS,  /* index into code->options */
    IMM_COUNT,
    IMM_FUSED /* index into the run form's fused programs */
} imm_kind;

/* PRIM: the last source is a tuple whose elements are the last arguments (a variadic primitive as a value). */
#define PRIM_SPREAD 0x80000000u

/* CALL. Without flags: sources f, arguments by position; missing trailing ones are V_UNDEF (the
   callee's SELDEF puts the default there); an arity error otherwise. Results: as many as the callee
   returns (1 for a function of the language). */
enum call_flags {
    CALL_SPREAD = 1,  /* the sources are f and one tuple of arguments (as BIND makes) */
    CALL_PACK = 2,    /* one result: a tuple of all that the callee returns */
    CALL_LENIENT = 4, /* a callee that is none or symbolic zero gives symbolic zeros (with PACK: one) */
    CALL_PULLBACK = 8 /* the callee is a residual: an adjoint program begins */
};

/* LOOP.
 *  LOOP_RANGE: sources lo, hi (i64 scalars), then initial carried values; block parameters: the
 *    counter, then carried; the block yields the carried values; results: the last carried values.
 *  LOOP_WHILE: sources a bool scalar `go` and initial carried values; block parameters: carried;
 *    the block yields (go, carried...); results: carried. Runs while go.
 *  LOOP_TAPE: instr.ntapes tapes as sources (each a tape or symbolic zero, not all of them zero),
 *    then initial carried values; runs over the entries from the last to the first, freeing them as
 *    it goes where nobody else holds the tape; block parameters: the entries' values tape by tape,
 *    then carried; instr.widths gives each tape's width. Values of a symbolic-zero tape are V_ZERO.
 *  LOOP_EXIT (with RANGE): the block yields (go, carried...) and the loop ends early when go is
 *    false. */
enum loop_kind { LOOP_RANGE = 0, LOOP_WHILE = 1, LOOP_TAPE = 2, LOOP_KIND = 3, LOOP_EXIT = 4 };

/* CHECKPOINT in derived Code. Its sources are replayable residuals, made by REPLAYABLE right before. The first
 * block is what runs. The second, its *meaning*, never runs: it yields the block's results and then, residual by
 * residual, the values that FORCE of that residual gives. The differentiation passes read it in place of the
 * first, so that the cotangents of results and of replayed values meet inside, in the order of the plain
 * program: the cotangent of a residual is the tuple of cotangents of its forced values. instr.widths says how
 * many values each source has; ntapes is the number of sources. */

/* A forward pass may be made of Code cut into pieces, under a budget (segment.c), which hand their values over
 * through tapes; and its rev may compute values of the primal again (diff_save.c). If such a pass were itself
 * differentiated in reverse, cotangents would be added in another order than those of the plain program. So
 * DERIVE_FWD, which the language's operators use, means PIECES or WHOLE only for the outermost gradient, and
 * EXACT within the forward pass of another. What a pass calls is derived as it was. */
typedef enum derive_kind { DERIVE_FWD, DERIVE_JVP, DERIVE_PIECES, DERIVE_WHOLE, DERIVE_EXACT, DERIVE_KINDS } derive_kind;

enum instr_flags {
    INSTR_ADJOINT = 1,  /* belongs to an adjoint program (its span is the primal source's) */
    INSTR_STEP = 2,     /* LOOP: a primal loop: its bodies count as steps under a gradient */
    INSTR_RESIDUAL = 4, /* CLOSURE: a pullback; what it captures is held by a residual */
    INSTR_RULE = 8      /* put in by a differentiation pass, not by the user: may be dropped when unused
                          although it could fail (as INSTR_ADJOINT, without belonging to an adjoint program) */
};

/* A *lazy* LOOP (RANGE or WHILE) pushes onto tapes like any other that was derived, and means the same; but
   it runs plain, holds some of its states, and its tapes record an iteration when a LOOP_TAPE asks for it
   (looptape.h). Its carried values that are yielded by a TAPEPUSH onto themselves are its tapes. `options`
   says how; the rest is filled in when the Code is lowered. */
typedef struct lazy_loop {
    uint32_t options;         /* index into code->options */
    bool range, exits, steps; /* LOOP_RANGE; LOOP_EXIT; INSTR_STEP */
    bool budget;              /* runs recording; what it records may be let go when memory is short */
    uint32_t nstate;          /* values of a state */
    uint32_t width;           /* of an entry: the values of all its tapes, one after the other */
} lazy_loop;

typedef struct instr {
    uint8_t op, flags;
    uint16_t ndst;
    uint32_t nsrc, nblocks;
    uint32_t mark; /* scratch of the pass that is running */
    reg *dst, *src;
    struct block **blocks;
    uint32_t imm;
    uint32_t ntapes;       /* LOOP_TAPE */
    uint16_t *widths;      /* LOOP_TAPE: ntapes widths; the first ntapes sources are the tapes */
    const lazy_loop *lazy; /* LOOP: see above, or NULL; LOOPTAPE */
    uint32_t origin;       /* identity of the instruction as emitted; copies in derived Code keep it,
                                so that kept values, counts and profiles meet. Unique within a VM */
    span at;               /* the whole expression */
    uint32_t point;        /* byte offset of the operator or name in `at.src`: where the caret goes */
    const span *src_at;    /* nsrc spans of the operands, or NULL */
} instr;

typedef struct block {
    reg *params;
    uint32_t nparams;
    instr **list;
    uint32_t n, cap;
} block;

/* Names aligned with sources. SPREAD_MARK: this source is spread; 0: positional. */
#define SPREAD_MARK UINT32_MAX
typedef struct name_list {
    uint32_t n;
    symbol *names;
} name_list;

/* One contract of CONTRACT: source i must have this dtype (0: any) and these axes. An axis is a size
   (>= 0), -1 for `_`, or -2 - k for the k-th result's name. A result contract (contract_list.result) checks
   source 0; source 1 + k, if there is one, is what the parameters' contracts say that name k is. */
typedef struct axis_contract {
    uint32_t source;
    symbol what;
    bool has_dtype, has_axes, rest;
    uint8_t dtype;
    int rank;
    int64_t axes[RANK_MAX];
    symbol axis_names[RANK_MAX];
    span at;
} axis_contract;
typedef struct contract_list {
    uint32_t n;
    axis_contract *of;
    uint32_t nnames;
    symbol *names;
    const char *function;
    bool result;
} contract_list;

typedef enum keep_policy { KEEP_NOTHING, KEEP_EVERYTHING, KEEP_DOTS, KEEP_DOTS_NO_BATCH, KEEP_NAMES, KEEP_NOT_NAMES } keep_policy;
typedef struct block_options {
    keep_policy policy;
    uint32_t nnames;
    value *names;          /* strings */
    int64_t slots, budget; /* 0: absent */
    bool spill;
    uint32_t block; /* number of the block within vm->stats.blocks, set when the Code is finished */
} block_options;

struct code {
    uint32_t refs; /* of the whole group: a Code and all that is derived from it live and die
                                together, so derived Code may point at its primal; see root */
    code *root;    /* the Code that was emitted; its refs count for the group */
    vm *vm;
    arena arena;
    symbol name; /* 0: anonymous */
    source *src; /* owned reference */
    const char *help;
    span at;
    uint32_t ncaptures, nparams;
    uint32_t required;   /* parameters without default */
    bool rest;           /* the last parameter takes all further arguments as a tuple */
    symbol *param_names; /* nparams */
    uint32_t nresults;   /* what its RETURN gives: 1 for functions of the language */
    uint32_t nregs;
    symbol *reg_names; /* nregs: the user's name for the value, 0 none */
    block *body;       /* params: captures, then parameters */
    value *consts;
    uint32_t nconsts;
    code **codes;
    uint32_t ncodes; /* owned references; those in the same group are not counted */
    name_list *names;
    uint32_t nnames;
    contract_list *contracts;
    uint32_t ncontracts;
    block_options *options;
    uint32_t noptions;
    enum code_role { CODE_PLAIN, CODE_FWD, CODE_REV, CODE_JVP, CODE_REGION } role;
    code *primal;  /* what a derived Code was made from, in the same group; NULL for emitted Code */
    code *sibling; /* next Code of the group (list from root), freed with it */
    struct derived {
        uint8_t kind;
        uint64_t mask;
        code *code;
        struct derived *next;
    } * derived;
    /* CODE_REV: which register is the whole cotangent of which primal register, for the views. */
    struct cotangent_of {
        reg primal, cot;
    } * cots;
    uint32_t ncots;
    enum code_special { SPECIAL_NONE, SPECIAL_CUSTOM_VJP } special; /* captures (f, back): see diff */
    struct run *run;                                                /* run form, made at first use */
    const char *display;                                            /* what code_display_name gives */
    reg *given;                                                     /* see trace_symbol; made when first asked for */
    bool finished;
};

/* --- building (code.c) ----------------------------------------------------------------------
 * A builder is a Code under construction and a current block. After a refusal `failed` is set and
 * everything further is ignored; code_finish then returns NULL with the error set. */
enum { LAST_ROOM = 1 << 20 /* bytes of vm.last_room, of which none are touched before they are needed */ };
typedef struct builder {
    vm *vm;
    code *c;
    block *at;
    bool failed;
    uint8_t flags; /* or-ed into instrs */
    span where;
    uint32_t point;
    const span *src_at;
    uint32_t origin;
    uint32_t *slots, nslots; /* hash of shared constants: index + 1 */
    struct spare *spare;
    bool in_last_room;
} builder;
/* where/point/origin apply to the next instructions; origin 0 takes a fresh one each. src_at is copied
   by the next instruction that has sources (it must have as many spans) and is then NULL again.
   After a refusal builder functions still give valid pointers, so a pass may go on; it should look
   at `failed` once per source instruction and stop. */

bool builder_open(builder *b, vm *m, symbol name, source *src, uint32_t ncaptures, uint32_t nparams);
void *builder_take(builder *b, size_t bytes);           /* zeroed memory with the Code's lifetime */
reg builder_reg(builder *b, symbol name);               /* a fresh register */
block *builder_block(builder *b, uint32_t nparams);     /* a fresh block with fresh parameter registers */
reg block_param_add(builder *b, block *k, symbol name); /* one more parameter */
uint32_t builder_const(builder *b, value v);            /* consumes v; equal scalars and strings share */
/* Consumes the reference. A Code of the same group (a rev Code that its fwd Code makes closures of) is
   passed with code_retain like any other; builder_finish_derived gives that reference back, so that a
   group never holds itself. */
uint32_t builder_code(builder *b, code *c);
uint32_t builder_options(builder *b, const block_options *o);   /* copies; names retained */
uint32_t builder_contracts(builder *b, const contract_list *l); /* copies */
uint32_t builder_names(builder *b, uint32_t n, const symbol *names);
/* Appends an instruction with fresh result registers to b->at. Pointers are copied. */
instr *builder_add(builder *b, opcode op, uint32_t imm, uint32_t ndst, uint32_t nsrc, const reg *src);
instr *builder_add_blocks(builder *b, opcode op, uint32_t imm, uint32_t ndst, uint32_t nsrc, const reg *src, uint32_t nblocks,
                          block *const *blocks);
/* How many of i's blocks run: all, but for the meaning of a CHECKPOINT. */
static inline uint32_t blocks_run(const instr *i) { return i->op == OP_CODE_CHECKPOINT ? 1 : i->nblocks; }
/* Appends one that is already made (shared arena), or a copy of one with other registers. */
void builder_append(builder *b, block *k, instr *i);
instr *instr_new(builder *b, opcode op, uint32_t imm, uint32_t ndst, uint32_t nsrc, uint32_t nblocks);
/* Shorthands returning the one result. */
reg builder_prim(builder *b, const prim *p, uint32_t n, const reg *src);
reg build_const(builder *b, value v);
void builder_yield(builder *b, uint32_t n, const reg *src);
void builder_return(builder *b, uint32_t n, const reg *src); /* sets nresults */
/* Removes unused instructions, results of IF and carried values of LOOP from Code under construction
   (opt_dead.c). What must stay: effects, calls, and what the user wrote and could fail (no INSTR_ADJOINT or
   INSTR_RULE). With drop_output, for Code that only ever runs as a replay, also the latter goes, and
   A_OUTPUT primitives. False when refused. */
bool code_drop_dead(builder *b, bool drop_output);
/* Verifies and freezes; numbers its checkpoint blocks. The builder is finished with either way.
   required, rest, param_names, help, at … are set by the caller in b->c before. */
code *builder_finish(builder *b);

/* As builder_finish, for Code derived from `primal`: it joins primal's group and is borrowed. Options
   keep the block numbers they were copied with. */
code *builder_finish_derived(builder *b, code *primal, enum code_role role);

/* vm_close: frees vm->stats.blocks (whose spans hold their sources). */
void code_blocks_close(vm *m);
/* Frees c->run. (run.c) */
void run_free(code *c);

code *code_retain(code *c);
void code_release(code *c);
/* The derivative of c for the mask (bit 0: captures are active; bit i + 1: parameter i; parameters
   beyond 62 share bit 63), cached on c. Borrowed. NULL with vm->error. (diff.c) */
code *code_derive(code *c, derive_kind kind, uint64_t mask);
const char *code_display_name(const code *c); /* "f", "anonymous function", "adjoint of f" */

/* A function over primitive p (params of its signature, defaults as constants), for p as a value. Borrowed. */
code *code_of_prim(vm *m, const prim *p);
/* What the optimiser makes of c: a new tree in the same group, never differentiated, results the same to
   the bit; c itself when !vm->config.optimise. Borrowed. (opt.c) */
code *code_optimise(code *c);

/* No effect beyond its result (it may fail): not random, no output, input or effect. */
bool code_is_pure_prim(const prim *p);
/* Whether running i can do nothing but give its results: no effect and no error. */
bool instr_cannot_fail(const instr *i);
/* The registers used in k, or in a block inside it that runs, and defined outside k; in order of first use. *out is
   in a. False when refused. Linear in the size of k. */
bool block_free_regs(const code *c, const block *k, arena *a, reg **out, uint32_t *n);

/* Makes `to` as lazy as i, an instruction of `from`, is. */
void instr_lazy_copy(builder *b, instr *to, const code *from, const instr *i);
/* c with its lazy loops as they run, a new Code in the same group that is never differentiated; c itself when
   it has none. Borrowed; NULL with the error set. (lower.c) */
code *code_lower(code *c);

/* --- other passes --------------------------------------------------------------------------- */
enum { CODE_NEST_MAX = 5000 };                   /* blocks within blocks: passes recurse on nesting, and on nothing else */
bool code_verify(vm *m, const code *c);          /* verify.c; error DIAG_INTERNAL */
void code_disassemble(const code *c, text *out); /* dis.c: text that code_assemble reads back */
/* The same for people. With `lines`, each source line stands as a comment before what was made of it. */
typedef struct dis_options {
    bool lines, marks /* `~` before adjoint instructions */, children, spans;
} dis_options;
void code_list(const code *c, dis_options o, text *out);
/* The first function of the text; functions within are its codes. NULL with vm->error, located in the
   text. (asm.c, which describes the text) */
code *code_assemble(vm *m, const char *name, const char *s, size_t n);

typedef struct op_row {
    const char *name;
    int results, sources, blocks;
    imm_kind imm;
    unsigned flags;
    const char *synopsis;
} op_row;
enum { F_NONE = 0, F_PURE = 1, F_END = 2, F_CALL = 4 };
#define N_ANY (-1)
extern const op_row op_rows[OPCODES];
#endif
