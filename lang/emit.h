/* emit.h: resolved AST → Code. */
#ifndef REPLAY_EMIT_H
#define REPLAY_EMIT_H
#include "../vm/code.h"
#include "../vm/vm.h"
#include "check.h"

typedef enum emit_result {
    EMIT_NONE,    /* the script's Code returns none */
    EMIT_RECORD,  /* a module: a record of the top-level names that do not start with `_` */
    EMIT_ENTRY,   /* the REPL: a tuple of the last expression's value and of every variable, in the
                       order of main->vars; undefined where there is none */
    EMIT_FUNCTION /* a rule's text: the one function in it */
} emit_result;

/* Options that take the place of those the program's blocks have: for trying another placement. */
typedef struct placement {
    bool set;
    bool plain;       /* as if the markers were not there */
    const char *save; /* a policy word, or NULL */
    int64_t slots;    /* of blocks that hold a loop and nothing else, 0: as written */
} placement;
/* The policy that a word behind `save =` stands for. */
bool placement_policy(const char *word, size_t n, keep_policy *out);
/* Puts p's options in the place of a block's; `loop`: it holds one. */
void placement_apply(const placement *p, bool loop, block_options *o);

typedef struct emit_options {
    const builtins *builtins;
    const char *module; /* top-level functions are globals under `<module>:<name>`; "" for the script */
    emit_result result;
    const placement *placement; /* may be NULL */
} emit_options;

/* Emits the script as Code without captures (with EMIT_ENTRY its parameters are the variables that
   existed). NULL with vm->error set: no memory, or nested too deeply. */
code *emit(vm *m, const ast *t, const checked *c, const emit_options *o);
#endif
