/* session.h: texts run one after another over the same variables and top-level functions, as entries at
 * the REPL are. A text that fails leaves every variable, the top-level functions and the random state as
 * they were. */
#ifndef REPLAY_SESSION_H
#define REPLAY_SESSION_H
#include "host.h"

typedef struct session {
    host *h;
    symbol *names;
    value *values;
    uint32_t n; /* variables; room for exactly n */
    symbol *fns;
    uint32_t nfns; /* top-level functions; room for exactly nfns */
    symbol *after;
    uint32_t nafter; /* variables after the text being compiled */
    symbol *defined;
    uint32_t ndefined; /* functions it defines */
    bool no_memory;
    bool notes; /* session_enter also shows what is only worth knowing */
} session;

typedef enum session_status { SESSION_FINE, SESSION_FAILED, SESSION_WRONG /* the text */, SESSION_MORE } session_status;

void session_open(session *s, host *h);
void session_close(session *s);
/* Compiles and runs a text; *out (owned) is its last statement's value, none when that is no expression.
   False with vm->error, the first one (errors and warnings of the text beyond it are shown). */
bool session_run(session *s, const char *name, const char *text_, size_t length, value *out);
/* The variable or top-level function of this name, borrowed; NULL when there is none. */
const value *session_get(const session *s, symbol name);
/* Sets a variable (retains v); a top-level function of this name is hidden by it. False with vm->error. */
bool session_set(session *s, symbol name, value v);
/* As session_run, for people: what is wrong is shown. SESSION_MORE: the text stops in the middle, and `last` is
   false. *out (may be NULL) is V_UNDEF unless SESSION_FINE. */
session_status session_enter(session *s, const char *name, const char *text_, size_t n, bool last, value *out);
/* An expression's value, without changing any variable; false with what is wrong shown. */
bool session_eval(session *s, const char *expression, value *out);
#endif
