/* api.h: what the two halves of replay.h's functions share: api.c (VMs and programs) and api_value.c. */
#ifndef REPLAY_API_H
#define REPLAY_API_H
#include "deadline.h"
#include "replay.h"
#include "session.h"

struct replay_value {
    replay *r;
    replay_value *before, *after; /* all handles of r */
    uint32_t refs;
    value v;       /* owned */
    shaped number; /* what a view of a number points into */
    char *text;
    size_t text_bytes; /* what replay_print made */
};

typedef struct host_function {
    replay_function *call;
    void *user;
} host_function;

struct replay {
    host host;
    session session;
    replay_config config;
    deadline *deadline;
    replay_value *values;
    host_function *functions;
    uint32_t nfunctions; /* by id */
    value derivers;      /* a record: grad, value_and_grad, vjp, jvp; V_UNDEF until used */
    uint32_t running;    /* a program is: only making and looking is allowed */
    diag *error;         /* why the last call failed */
    text rendered;
    bool failed;             /* the last call did, perhaps without a diag, when there was no memory for it */
    replay_diagnostic shown; /* of `error` */
};

static inline vm *vm_of(const replay *r) { return r->host.vm; }
/* A handle on v, which is consumed, also on failure. */
replay_value *api_handle(replay *r, value v);
/* Takes vm->error into r->error. Always false. */
bool api_failed(replay *r);
bool api_fail(replay *r, diag_code kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Forgets the last error. */
void api_begin(replay *r);
void api_describe(const diag *d, const char *rendered, replay_diagnostic *out);
#endif
