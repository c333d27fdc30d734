/* machine.h: the one VM of a unit test, `m`, which the test opens and closes; texts of Code and errors, and
 * primitives called by name. */
#ifndef REPLAY_UNIT_MACHINE_H
#define REPLAY_UNIT_MACHINE_H
#include "unit.h"
#include "asm.h"
#include "diag.h"
#include "prim.h"
#include "text.h"
#include "vm.h"
#include <string.h>

static vm *m;

/* The error there is, as a user reads it; good until the next call. */
static inline const char *error_text(void)
{
    static char s[4000];
    text t;
    text_open(&t, &m->mem);
    if (m->error) diag_render(m->error, false, &t);
    snprintf(s, sizeof s, "%s", text_str(&t));
    text_close(&t);
    return s;
}

static inline void clear_error(void)
{
    diag_free(m->error);
    m->error = NULL;
}

static inline code *assemble(const char *s)
{
    code *c = code_assemble(m, "test", s, strlen(s));
    ck_assert_msg(c != NULL, "%s\n%s", s, error_text());
    return c;
}

/* A primitive on n arguments; bit k of `last`: the k-th is read for the last time, and is the primitive's. */
static inline bool apply_last(const char *name, uint32_t n, const value *args, uint64_t last, value *out)
{
    return prim_apply(m, prim_named(name), args, n, last, out);
}
static inline value call_last(const char *name, uint32_t n, const value *args, uint64_t last)
{
    value out = value_undef();
    bool ok = apply_last(name, n, args, last, &out);
    ck_assert_msg(ok, "%s: %s", name, m->error ? m->error->message : "failed");
    return out;
}
static inline bool apply(const char *name, uint32_t n, const value *args, value *out) { return apply_last(name, n, args, 0, out); }
static inline value call(const char *name, uint32_t n, const value *args) { return call_last(name, n, args, 0); }

/* The call with each of its allocations refused in turn: an error, and nothing held. */
static inline void refuse_each(const char *name, uint32_t n, const value *args)
{
    for (uint64_t k = 1;; k++) {
        size_t live = m->mem.live_all, texts = m->mem.live[MEM_TEXT];
        value out = value_undef();
        m->mem.fail_at = m->mem.count + k;
        bool ok = apply(name, n, args, &out);
        bool refused = m->mem.count >= m->mem.fail_at;
        m->mem.fail_at = 0;
        if (ok) value_release(m, out);
        ck_assert_msg(ok || m->error, "%s: refused without an error", name);
        clear_error();
        ck_assert_msg(m->mem.live_all - m->mem.live[MEM_TEXT] == live - texts, "%s holds memory after allocation %d", name, (int)k);
        if (!refused) return;
    }
}
#endif
