/* diff_rule.c: the derivative rules of primitives, from the text in their rows to Code.
 *
 * A row's vjp text is a list `x: expression; w: expression`. Each expression is compiled as the body
 * of a function of (g, y, parameters…), by the host's `compile` callback, the first time it is
 * wanted, and kept in the VM's prim_info. */
#include "diff.h"
#include <string.h>

static const char *param_name(vm *m, const prim_info *info, uint32_t i) { return symbol_name(m->symbols, info->params[i].name); }

bool rule_lists(vm *m, const prim *p, uint32_t i)
{
    if (p->kind == RULE_CONSTANT || p->kind == RULE_REFUSE || i > 63) return false;
    return prim_info_of(m, p)->listed >> i & 1;
}

/* Compiles `fn(first, params…[, d<param>…]) = body`. */
static code *compile(vm *m, const prim *p, const char *first, const char *body, size_t length, bool tangents)
{
    const prim_info *info = prim_info_of(m, p);
    text t, name;
    text_open(&t, &m->mem);
    text_open(&name, &m->mem);
    text_printf(&t, "fn(%s", first);
    for (uint32_t k = 0; k < info->nparams; k++) text_printf(&t, ", %s", param_name(m, info, k));
    for (uint32_t k = 0; tangents && k < info->nparams; k++)
        if (rule_lists(m, p, k)) text_printf(&t, ", d%s", param_name(m, info, k));
    text_puts(&t, body[strspn(body, " ")] == '{' ? ")" : ") ="); /* a block, or an expression */
    text_add(&t, body, length);
    text_printf(&name, "rule of %s", p->name);
    code *c = NULL;
    if (t.failed || name.failed) vm_out_of_memory(m);
    else if (!m->config.compile) vm_fail(m, DIAG_INTERNAL, "no compiler for the rule of %s", p->name);
    else c = m->config.compile(m->config.ctx, m, text_str(&name), text_str(&t));
    text_close(&t);
    text_close(&name);
    return c;
}

bool rule_vjp(vm *m, const prim *p, uint32_t i, code **out)
{
    prim_info *info = &m->prim_infos[prim_number(p)];
    *out = NULL;
    if (!rule_lists(m, p, i)) return true;
    if (!info->vjp[i]) {
        size_t n = 0;
        const char *body = rule_part(p->vjp, param_name(m, info, i), &n);
        info->vjp[i] = compile(m, p, "g, y", body, n, false);
        if (!info->vjp[i]) return false;
    }
    *out = info->vjp[i];
    return true;
}

bool rule_jvp(vm *m, const prim *p, code **out)
{
    prim_info *info = &m->prim_infos[prim_number(p)];
    if (!info->jvp) {
        text padded;
        text_open(&padded, &m->mem);
        text_printf(&padded, " %s", p->jvp);
        info->jvp = padded.failed ? (vm_out_of_memory(m), NULL) : compile(m, p, "y", text_str(&padded), padded.n, true);
        text_close(&padded);
    }
    *out = info->jvp;
    return info->jvp != NULL;
}
