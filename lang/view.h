/* view.h: pictures of differentiation: of a call f(args) in a session, or of a script's run. Each is a
 * `:command` of the REPL and a subcommand of `replay`.
 *
 * A view runs the gradient of the call by all its arguments (a result that is no scalar gets a cotangent of
 * ones), records what its picture needs through vm->observer, and draws it: as text on standard output, or
 * into a file by its suffix (.svg, .txt, .json, and .dot for the graph). */
#ifndef REPLAY_VIEW_H
#define REPLAY_VIEW_H
#include "session.h"
#include "svg.h"

typedef enum view_kind { VIEW_ADJOINT, VIEW_TABLE, VIEW_GRAPH, VIEW_SAVED, VIEW_MEMORY, VIEW_SCHEDULE, VIEW_STEP } view_kind;

typedef struct view_request {
    view_kind kind;
    const char *call;   /* "loss(p, x)"; of VIEW_ADJOINT "loss"; NULL (VIEW_MEMORY): the whole script */
    const char *out;    /* file, or NULL: text on standard output */
    const char *script; /* path of the script, when there is one */
    const char *save;   /* try this policy for every block */
    bool interactive;   /* VIEW_STEP: ask for what to do next */
} view_request;

/* False with vm->error set, or with the reason shown. */
bool view_show(session *s, const view_request *q);
/* `replay table FILE f(args) [-o OUT]` and its kin: the status to leave with. */
int command_view(host *h, const char *word, int argc, char **argv);

typedef enum view_format { FORMAT_TEXT, FORMAT_SVG, FORMAT_JSON, FORMAT_DOT } view_format;

/* --- for the views themselves ----------------------------------------------------------------- */
typedef struct view_call {
    value f, args; /* owned: a function, a tuple */
} view_call;
/* Another VM, which prints nothing and compiles under another placement of blocks; h and s are opened. `silent`:
   what goes wrong is not shown. False with the reason shown. */
bool view_fresh(const vm_config *config, const placement *p, bool silent, host *h, session *s);
/* Calls fn(f, args), given as text, on the call. */
bool view_apply(host *h, const char *fn, const view_call *c, value *out);
/* Evaluates the parts of "f(args)". False with what is wrong shown. */
bool view_call_of(session *s, const char *call, view_call *out);
void view_call_close(vm *m, view_call *c);
/* Runs forward and adjoint program of the call; *out gets (result, tuple of cotangents). */
bool view_gradient(host *h, const view_call *c, value *out);
/* The same with every instruction run as it was written, so that every value is to be seen. */
bool view_gradient_plainly(session *s, const view_call *c, value *out);
/* The same with its values recorded in *t (see trace.h), which the caller closes. */
struct trace;
bool view_rows(session *s, const view_call *c, struct trace *t, value *out);
void json_string(const char *s, size_t n, text *out);
/* "1.5 KiB" */
const char *view_bytes(double n, char out[32]);
/* A value on one short line: a scalar, or dtype and shape with the first numbers. */
void view_value(vm *m, value v, size_t most, text *out);

/* `whole`: all rows as text, however many. */
bool view_table(session *s, const view_call *c, view_format f, bool whole, text *out);
bool view_graph(session *s, const view_call *c, view_format f, text *out);
bool view_saved(session *s, const view_request *q, const view_call *c, view_format f, text *out);
bool view_step(session *s, const view_call *c, view_format f, bool interactive, text *out);
bool view_schedule(session *s, const view_call *c, view_format f, text *out);
bool view_memory(session *s, const view_request *q, view_format f, text *out);
bool view_adjoint(session *s, const char *function, view_format f, text *out);
#endif
