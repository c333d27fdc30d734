/* kern_host.c: calls of the embedding program's own functions, through vm_config.host. */
#include "kern.h"
#include "kern_util.h"

static bool call_host(prim_call *c)
{
    vm *m = c->vm;
    int64_t id;
    if (!arg_int(c, 0, &id)) return false;
    if (!m->config.host) return prim_fail(c, -1, DIAG_INTERNAL, "no program embeds this one");
    c->out = value_none();
    if (m->config.host(m->config.ctx, m, id, c->args + 1, c->n - 1, &c->out)) return true;
    return vm_fail(m, DIAG_USER, "a function of the embedding program failed without saying why");
}

bool kern_host(prim_call *c) { return call_host(c); }
bool kern_host_input(prim_call *c) { return call_host(c); }

bool kern_host_output(prim_call *c)
{
    c->out = value_none();
    return c->vm->mute ? true : call_host(c);
}
