/* diff_custom.c: functions with a derivative of their own, custom_vjp(f, back).
 *
 * Such a function is a closure with captures (f, back) over one special Code per VM, which calls f. Its
 * derivatives are written here by hand instead of by the passes:
 *
 *   fwd   y = the function at args…, and a pullback that keeps back, y and args
 *   rev   back(dy, y, args…): one cotangent for one argument, else a tuple
 *   jvp   the transpose of back, which is linear in dy: stdlib/derive.rl's __custom_jvp */
#include "diff.h"

enum { F, BACK }; /* captures */

code *code_of_custom(vm *m)
{
    if (m->custom) return m->custom;
    builder b;
    builder_open(&b, m, symbol_of(m->symbols, "custom_vjp", 10), NULL, 2, 1);
    b.c->special = SPECIAL_CUSTOM_VJP;
    b.c->rest = true;
    b.c->required = 0;
    b.c->param_names[0] = symbol_of(m->symbols, "args", 4);
    reg call[2] = {b.c->body->params[F], b.c->body->params[2]};
    instr *i = builder_add(&b, OP_CODE_CALL, CALL_SPREAD, 1, 2, call);
    if (i) builder_return(&b, 1, i->dst);
    return m->custom = builder_finish(&b);
}

static void name_rest(vm *m, builder *b, uint32_t k)
{
    b->c->rest = true;
    b->c->required = k;
    b->c->param_names[k] = symbol_of(m->symbols, "args", 4);
}

static reg custom_prim(builder *b, enum prim_id p, uint32_t n, const reg *src) { return builder_prim(b, &prims[p], n, src); }

/* captures (back, y, args), parameter dy. */
static code *custom_rev(vm *m, code *f)
{
    builder b;
    builder_open(&b, m, f->name, NULL, 3, 1);
    b.flags = INSTR_ADJOINT;
    const reg *p = b.c->body->params;
    reg back = p[0], y = p[1], args = p[2], dy = p[3];
    reg full = custom_prim(&b, PRIM_finish, 2, (reg[]){dy, y});
    reg t = custom_prim(&b, PRIM_prepend, 2, (reg[]){y, args});
    t = custom_prim(&b, PRIM_prepend, 2, (reg[]){full, t});
    instr *call = builder_add(&b, OP_CODE_CALL, CALL_SPREAD, 1, 2, (reg[]){back, t});
    reg d = 0;
    if (call) d = custom_prim(&b, PRIM_cotangents, 2, (reg[]){call->dst[0], args});
    reg zero = build_const(&b, value_zero());
    builder_return(&b, 2, (reg[]){zero, d});
    return builder_finish_derived(&b, f, CODE_REV);
}

code *diff_custom(vm *m, code *f, unsigned kind, uint64_t mask)
{
    code *rev = kind != DERIVE_JVP ? custom_rev(m, f) : NULL;
    if (kind != DERIVE_JVP && !rev) return NULL;
    builder b;
    uint32_t lead = kind == DERIVE_JVP ? 1 : 0; /* the tangents come first */
    builder_open(&b, m, f->name, NULL, 2, 1 + lead);
    name_rest(m, &b, lead);
    const reg *p = b.c->body->params;
    reg fn = p[F], back = p[BACK], args = p[2 + lead];
    if (mask_has(mask, 0)) custom_prim(&b, PRIM_no_captures, 1, &fn);
    if (kind != DERIVE_JVP) {
        /* The function itself, not f: a derivative of this is the custom one again. */
        instr *self = builder_add(&b, OP_CODE_SELF, 1, 1, 0, NULL);
        instr *call = self ? builder_add(&b, OP_CODE_CALL, CALL_SPREAD, 1, 2, (reg[]){self->dst[0], args}) : NULL;
        reg y = call ? call->dst[0] : 0;
        b.flags = INSTR_RESIDUAL;
        instr *pull = builder_add(&b, OP_CODE_CLOSURE, builder_code(&b, code_retain(rev)), 1, 3, (reg[]){back, y, args});
        b.flags = 0;
        if (pull) builder_return(&b, 2, (reg[]){y, pull->dst[0]});
        return builder_finish_derived(&b, f, CODE_FWD);
    }
    reg t = custom_prim(&b, PRIM_part, 3, (reg[]){p[2], build_const(&b, value_i64(1)), build_const(&b, value_none())});
    t = custom_prim(&b, PRIM_instantiate, 2,
                    (reg[]){custom_prim(&b, PRIM_cot_tuple, 2, (reg[]){t, custom_prim(&b, PRIM_form_shallow, 1, &args)}), args});
    instr *g = builder_add(&b, OP_CODE_GLOBAL, symbol_of(m->symbols, "derive:__custom_jvp", 19), 1, 0, NULL);
    instr *call = g ? builder_add(&b, OP_CODE_CALL, 0, 1, 5, (reg[]){g->dst[0], fn, back, args, t}) : NULL;
    instr *two = call ? builder_add(&b, OP_CODE_UNPACK, 0, 2, 1, call->dst) : NULL;
    if (two) builder_return(&b, 2, two->dst);
    return builder_finish_derived(&b, f, CODE_JVP);
}
