/* check.h: AST → resolved AST.
 *
 * The checker finds out what every name means (ast.h: ref), lists each function's variables and
 * captures and each loop's assigned variables, and reports what can be known to be wrong before the
 * program runs: unknown names, calls that do not fit a function that is known, `break` outside a loop,
 * options that make no sense. It walks with a stack of its own, in time linear in the text. */
#ifndef REPLAY_CHECK_H
#define REPLAY_CHECK_H
#include "ast.h"
#include "builtin.h"

/* What a loop does to the variables of its function. A node N_FOR or N_WHILE has its number in
   ref.index. */
typedef struct loop_info {
    uint32_t *vars, n;      /* assigned in it (its target and condition included), in order of appearance */
    uint32_t parent;        /* the loop around it in the same function, or NO_LOOP */
    bool breaks, continues; /* some `break` or `continue` is this loop's own */
    bool returns;           /* some `return` stands in it */
} loop_info;
#define NO_LOOP UINT32_MAX

typedef struct checked {
    loop_info *loops;
    uint32_t nloops;
} checked;

typedef struct check_options {
    const builtins *builtins;
    bool internal; /* a module that comes with Replay: names starting `__` */
    bool notes;    /* also say what is only worth knowing (`check`, the REPL) */
    const symbol *vars;
    uint32_t nvars; /* variables that exist already: parameters of `main` (REPL) */
    const symbol *fns;
    uint32_t nfns; /* top-level functions that exist already (REPL) */
} check_options;

/* Fills in the tree's (check) fields; *out lives in the tree's arena. False when something is wrong;
   *diags gets errors, warnings and notes in order of the text, owned by the caller. False with *diags
   NULL: no memory. */
bool check(ast *t, const check_options *o, checked *out, diag **diags);
#endif
