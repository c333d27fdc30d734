/* builtin.h: what a name that is not the program's own means. One list: the rows of vm/prim.def,
 * then the functions of stdlib/prelude.rl. */
#ifndef REPLAY_BUILTIN_H
#define REPLAY_BUILTIN_H
#include "../vm/text.h"
#include <stdbool.h>

typedef struct builtins builtins; /* in vm: see vm_builtins */

/* Finds a builtin by name; *index gets its number (for REF_BUILTIN). Names starting with `__` are
   found only when `internal`. */
bool builtin_find(const builtins *b, symbol name, bool internal, uint32_t *index);
/* The nearest builtin name, for suggestions, or NULL. */
const char *builtin_nearest(const builtins *b, const char *name);
#endif
