/* emit_parts.h: what the parts of the emitter share.
 *
 *   emit.c          functions, the script, names of variables and their registers
 *   emit_region.c   regions: places that control may skip, and what they assign
 *   emit_control.c  if, loops, checkpoint blocks, statement lists, jumps
 *   emit_expr.c     expressions
 *   emit_call.c     calls
 *   emit_assign.c   targets
 *
 * Variables become single-assignment registers by bookkeeping: `cur` says which register holds a
 * variable now. A *region* is a block that may or may not run, or may run many times (an arm, a loop's
 * body, a checkpoint block). Closing it gives the variables changed in it; whoever opened it makes the
 * instruction that takes and yields them. Yields are written generously: dead ones are removed at the
 * end (code_drop_dead).
 *
 * Jumps are flags, kept like variables. `on` of the innermost loop (or of the function) is true as long
 * as nothing was skipped; after whatever may have cleared it the region's rest goes into a *guard*, a
 * region entered only if `on`. A guard is opened when the first instruction after the jump is emitted,
 * wherever that is (also in the middle of an expression), and lasts to the end of its region. */
#ifndef REPLAY_EMIT_PARTS_H
#define REPLAY_EMIT_PARTS_H
#include "emit.h"

/* A variable's state before its first change in a region. */
typedef struct change {
    uint32_t var;
    reg old;
    uint32_t old_entry;
    bool old_maybe, real;
} change;

typedef struct region {
    struct region *outer;
    block *at_outside; /* where emission goes on when it is closed */
    block *body;       /* its own block */
    uint32_t log_base; /* first of its changes in the function's log */
    reg guard;         /* a guard's condition, else REG_NONE */
    uint32_t guards;   /* guards open in it */
    bool pending;      /* `on` may be false here: a guard is due before the next instruction */
    bool dead;         /* the rest is not reached */
    bool tail;         /* its value is the function's */
} region;

/* What closing a region tells: who changed, and to what. */
typedef struct moved {
    uint32_t var;
    reg now;
    bool maybe;
} moved;
typedef struct outcome {
    moved *of;
    uint32_t n;
    reg value;
    bool dead;
    block *body;
} outcome;

/* Flags and the early result are variables after the function's own: */
enum { FLAG_ON, FLAG_RESULT, FLAGS_PER_FUNCTION };
enum { LOOP_FLAG_ON, LOOP_FLAG_GO, FLAGS_PER_LOOP };

typedef struct emit_loop {
    struct emit_loop *outer;
    uint32_t on, go;
} emit_loop;

typedef struct emit_fn {
    struct emit_fn *outer;
    builder b;
    function *fn;
    uint32_t nvars, nstates; /* the program's variables; with flags */
    struct state {
        reg now;
        uint32_t entry;
        bool maybe;
    } * states; /* entry: its change in the region, +1 */
    change *log;
    uint32_t nlog, log_cap;
    region *top;
    emit_loop *loop;
    uint32_t loops; /* deep now */
    reg *captures, self;
    uint32_t merges; /* rests of statement lists moved into arms, open now */
    uint32_t depth;
} emit_fn;

typedef struct emitter {
    vm *m;
    const ast *t;
    const checked *c;
    const emit_options *o;
    arena scratch;
    emit_fn *f; /* the function being emitted */
    bool failed;
} emitter;

/* --- emit.c */
bool emit_fail(emitter *e, span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void *emit_take(emitter *e, size_t bytes);
bool emit_enter(emitter *e, span at); /* one level deeper; false (and failed) when that is too deep */
void emit_leave(emitter *e);
reg emit_closure(emitter *e, node *n, symbol display);
symbol emit_global(emitter *e, symbol name);
/* The value of a variable for reading at n. */
reg emit_read(emitter *e, uint32_t var, span at);
void emit_assign_var(emitter *e, uint32_t var, reg r, bool maybe);
reg emit_ref(emitter *e, ref r, symbol name, span at);

/* --- instructions: open a due guard first, and note where they come from */
void emit_at(emitter *e, span at, uint32_t point);
instr *emit_op(emitter *e, opcode op, uint32_t imm, uint32_t ndst, uint32_t nsrc, const reg *src);
reg emit_op1(emitter *e, opcode op, uint32_t imm, uint32_t nsrc, const reg *src);
reg emit_const(emitter *e, value v);
/* `spans`: of the operands, or NULL. */
reg emit_prim(emitter *e, const char *name, uint32_t nsrc, const reg *src, const span *spans);
reg emit_string(emitter *e, const char *s, size_t n);

/* --- emit_region.c */
void region_open(emitter *e, region *r, block *body, bool tail);
void region_due(emitter *e);       /* opens a guard if one is due */
reg none_in(emitter *e, block *k); /* constants in a block that is not the current one */
reg undef_in(emitter *e, block *k);
void yield_in(emitter *e, block *k, uint32_t n, const reg *src);
void sort_moved(moved *of, uint32_t n); /* by variable */
void region_set(emitter *e, uint32_t var, reg now, bool maybe, bool real);
reg region_close_guards(emitter *e, reg result);
/* `result` REG_NONE: none is wanted. The body still lacks its YIELD. */
outcome region_close(emitter *e, reg result);
void flags_clear(emitter *e, const emit_loop *from_outside, bool returns);
uint32_t flag_on(const emitter *e); /* `on` of the innermost loop, or of the function */
/* Writes IF over two closed arms: its first result is the arms' value if `want`. */
reg join_arms(emitter *e, reg cond, outcome *a, outcome *b, bool want, span at, uint32_t point);

/* --- emit_control.c */
/* Statements; the value of the last one when `want` (never REG_NONE then). */
reg emit_statements(emitter *e, node *list, bool want, bool tail);
reg emit_body(emitter *e, node *n, bool want, bool tail); /* N_BLOCK or an expression */
reg emit_if(emitter *e, node *n, node *rest, bool want, bool tail);
reg emit_checkpoint(emitter *e, node *n, bool want, bool tail);
void emit_loop_for(emitter *e, node *n);
void emit_loop_while(emitter *e, node *n);

/* --- emit_expr.c */
reg emit_expr(emitter *e, node *n);
reg emit_index(emitter *e, node *n); /* the index of x[…]: one component or a tuple */
/* An arithmetic or comparing operator on two values that are there. */
reg emit_binary(emitter *e, oper o, const reg ab[2], span at, uint32_t point, span at_a, span at_b);

/* --- emit_call.c */
reg emit_call(emitter *e, node *n, reg piped); /* piped: the first argument, already there, or REG_NONE */

/* --- emit_assign.c */
void emit_assign(emitter *e, node *n);
void emit_target(emitter *e, node *t, reg v);
#endif
