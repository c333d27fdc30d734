/* session.h: texts run one after another over the same variables and top-level functions, as entries at
 * the REPL are. A text that fails leaves every variable, the top-level functions and the random state as
 * they were. */
#ifndef REPLAY_SESSION_H
#define REPLAY_SESSION_H
#include "host.h"

typedef struct session {
    host *h;
    symbol *names; value *values; uint32_t n;   /* variables; room for exactly n */
    symbol *fns; uint32_t nfns;                 /* top-level functions; room for exactly nfns */
    symbol *after; uint32_t nafter;             /* variables after the text being compiled */
    symbol *defined; uint32_t ndefined;         /* functions it defines */
    bool no_memory;
} session;

void session_open(session *s, host *h);
void session_close(session *s);
/* Compiles and runs a text; *out (owned) is its last statement's value, none when that is no expression.
   False with vm->error, the first one (errors and warnings of the text beyond it are shown). */
bool session_run(session *s, const char *name, const char *text_, size_t length, value *out);
/* The variable or top-level function of this name, borrowed; NULL when there is none. */
const value *session_get(const session *s, symbol name);
/* Sets a variable (retains v); a top-level function of this name is hidden by it. False with vm->error. */
bool session_set(session *s, symbol name, value v);
#endif
