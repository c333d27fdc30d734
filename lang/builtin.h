/* builtin.h: what a name that is not the program's own means. One list: the rows of vm/prim.def, then
 * the top-level functions of the preloaded modules (stdlib/prelude.rl, stdlib/derive.rl), then, for
 * modules that come with Replay, the intrinsics that become single opcodes. */
#ifndef REPLAY_BUILTIN_H
#define REPLAY_BUILTIN_H
#include "../vm/vm.h"

typedef struct builtins builtins;

/* Opcodes that internal modules call like functions. */
typedef enum intrinsic {
    INTRINSIC_DERIVE_FWD, /* __derive_fwd(f, mask) */
    INTRINSIC_DERIVE_JVP, /* __derive_jvp(f, mask) */
    INTRINSIC_CALL2,      /* __call2(f, args): a tuple of f's two results */
    INTRINSIC_CALL_PACK,  /* __call_pack(f, args): a tuple of all results */
    INTRINSIC_PULL,       /* __pull(r, dy): the cotangents, a tuple */
    INTRINSIC_TRY,        /* __try(f, args): (value, none) or (none, message) */
    INTRINSIC_MEASURE,    /* __measure(f, args): (value, record of costs) */
    INTRINSICS
} intrinsic;

/* NULL with vm->error when refused. The list is empty of functions until builtins_add. */
builtins *builtins_open(vm *m);
void builtins_close(builtins *b);
/* Makes the top-level functions of a preloaded module's text builtins: `name` is looked up at run time
   as the global `<module>:name`. The text is only scanned for lines that start with `fn`. */
bool builtins_scan(builtins *b, const char *module, const char *text_, size_t length);

/* Takes back what was scanned since there were `count` (builtins_count). */
void builtins_cut(builtins *b, uint32_t count);

/* Finds a builtin by name; *index gets its number (for REF_BUILTIN). Names starting with `__` are
   found only when `internal`. */
bool builtin_find(const builtins *b, symbol name, bool internal, uint32_t *index);
/* The nearest builtin name, for suggestions, or NULL. */
const char *builtin_nearest(const builtins *b, const char *name);

/* Numbers below this are primitives and preloaded functions. */
uint32_t builtins_count(const builtins *b);
/* The primitive with this number, or NULL when it is a function or an intrinsic. */
const prim *builtin_prim(const builtins *b, uint32_t index);
/* The intrinsic, or -1. */
int builtin_intrinsic(const builtins *b, uint32_t index);
/* The global that a preloaded function is kept under, or 0. */
symbol builtin_global(const builtins *b, uint32_t index);
const char *builtin_name(const builtins *b, uint32_t index);
/* Parameters, borrowed; of a preloaded function they are known once builtin_describe was called. */
const prim_param *builtin_params(const builtins *b, uint32_t index, uint32_t *n, bool *known);
/* Tells the parameters of a preloaded function (copied). */
bool builtin_describe(builtins *b, symbol global, const prim_param *params, uint32_t n);
#endif
