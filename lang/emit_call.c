/* emit_call.c: calls. A primitive called by its name becomes one PRIM with its arguments in signature
 * order; intrinsics become their opcodes; everything else is CALL, after BIND when names or spreads
 * must be matched with a function known only at run time. */
#include "emit_parts.h"

typedef struct arguments {
    reg *r;
    symbol *names;
    span *at;
    uint32_t n;
    bool named, spread;
} arguments;

/* In order of appearance, with room for one in front. */
static bool arguments_of(emitter *e, node *call, reg piped, arguments *out)
{
    uint32_t n = 0;
    for (node *x = call->list; x; x = x->next) n++;
    *out = (arguments){.r = emit_take(e, (n + 1) * sizeof(reg)),
                       .names = emit_take(e, (n + 1) * sizeof(symbol)),
                       .at = emit_take(e, (n + 1) * sizeof(span)),
                       .n = n};
    if (e->failed) return false;
    n = 1;
    for (node *x = call->list; x && !e->failed; x = x->next, n++) {
        node *v = x->kind == N_NAMED || x->kind == N_SPREAD ? x->a : x;
        if (x->kind == N_NAMED) out->names[n] = x->name, out->named = true;
        if (x->kind == N_SPREAD) out->names[n] = SPREAD_MARK, out->spread = true;
        out->r[n] = n == 1 && piped != REG_NONE ? piped : emit_expr(e, v);
        out->at[n] = v->at;
    }
    out->r++, out->names++, out->at++;
    return !e->failed;
}

/* Calls f, which goes in front of the arguments. */
static reg emit_function_call(emitter *e, node *n, reg f, arguments *a)
{
    a->r--, a->names--, a->at--;
    a->r[0] = f;
    a->at[0] = n->a->at;
    emit_at(e, n->at, n->a->at.lo);
    region_due(e);
    builder *b = &e->f->b;
    b->src_at = a->at;
    if (!a->named && !a->spread) return emit_op1(e, OP_CODE_CALL, 0, a->n + 1, a->r);
    reg bound = emit_op1(e, OP_CODE_BIND, builder_names(b, a->n + 1, a->names), a->n + 1, a->r);
    return emit_op1(e, OP_CODE_CALL, CALL_SPREAD, 2, (reg[]){f, bound});
}

/* Arguments in the order of a known signature; what is left out is `deflt`, or with `undef` undefined. */
static bool in_order(emitter *e, const prim_param *params, uint32_t nparams, bool undef, arguments *a)
{
    uint32_t positional = 0, most = nparams + a->n, n = 0;
    while (positional < a->n && !a->names[positional]) positional++;
    reg *r = emit_take(e, (most + 1) * sizeof *r);
    span *at = emit_take(e, (most + 1) * sizeof *at);
    if (!r || !at) return false;
    r++, at++;
    for (uint32_t i = 0; i < nparams; i++) {
        if (params[i].rest) {
            for (; n < positional; n++) r[n] = a->r[n], at[n] = a->at[n];
            break;
        }
        if (i < positional) {
            r[n] = a->r[i];
            at[n++] = a->at[i];
            continue;
        }
        uint32_t k = positional;
        while (k < a->n && a->names[k] != params[i].name) k++;
        if (k < a->n) {
            r[n] = a->r[k];
            at[n++] = a->at[k];
        } else {
            if (undef) {
                /* Trailing ones may simply be left out. */
                bool later = false;
                for (uint32_t j = i + 1; j < nparams; j++)
                    for (uint32_t q = positional; q < a->n; q++) later |= a->names[q] == params[j].name;
                if (!later) break;
            }
            r[n] = emit_const(e, undef ? value_undef() : value_retain(params[i].deflt));
            at[n++] = e->f->b.where;
        }
    }
    a->r = r;
    a->at = at;
    a->n = n;
    return !e->failed;
}

static reg emit_intrinsic(emitter *e, node *n, int which, arguments *a)
{
    if (a->n != 2 || a->named || a->spread) {
        emit_fail(e, n->at, "%s takes two arguments", builtin_name(e->o->builtins, n->a->ref.index));
        return 0;
    }
    emit_at(e, n->at, n->a->at.lo);
    instr *i;
    switch (which) {
    case INTRINSIC_DERIVE_FWD: return emit_op1(e, OP_CODE_DERIVE, DERIVE_FWD, 2, a->r);
    case INTRINSIC_DERIVE_JVP: return emit_op1(e, OP_CODE_DERIVE, DERIVE_JVP, 2, a->r);
    case INTRINSIC_CALL_PACK: return emit_op1(e, OP_CODE_CALL, CALL_SPREAD | CALL_PACK, 2, a->r);
    case INTRINSIC_PULL: return emit_op1(e, OP_CODE_CALL, CALL_PACK | CALL_PULLBACK | CALL_LENIENT, 2, a->r);
    case INTRINSIC_CALL2: i = emit_op(e, OP_CODE_CALL, CALL_SPREAD, 2, 2, a->r); break;
    case INTRINSIC_TRY: i = emit_op(e, OP_CODE_TRY, 0, 2, 2, a->r); break;
    default: i = emit_op(e, OP_CODE_MEASURE, 0, 2, 2, a->r); break;
    }
    return i ? emit_op1(e, OP_CODE_TUPLE, 0, 2, i->dst) : 0;
}

reg emit_call(emitter *e, node *n, reg left)
{
    node *callee = n->a;
    const builtins *b = e->o->builtins;
    arguments a;
    reg f = REG_NONE, piped = REG_NONE;
    bool builtin = callee->kind == N_NAME && callee->ref.kind == REF_BUILTIN;
    if (n->flag) piped = left;
    else f = left;
    /* The function first, then its arguments; but a piped value is there already. */
    if (!builtin && f == REG_NONE) f = emit_expr(e, callee);
    if (!arguments_of(e, n, piped, &a)) return 0;
    emit_at(e, n->at, callee->at.lo);
    if (builtin) {
        uint32_t index = callee->ref.index, nparams;
        int which = builtin_intrinsic(b, index);
        if (which >= 0) return emit_intrinsic(e, n, which, &a);
        const prim *p = builtin_prim(b, index);
        bool known;
        const prim_param *params = builtin_params(b, index, &nparams, &known);
        bool rest = known && nparams && params[nparams - 1].rest;
        if (!a.spread && known && !(rest && a.named && !p) && !in_order(e, params, nparams, !p, &a)) return 0;
        if (!a.spread && known && !(rest && a.named && !p)) a.named = false; /* and names has no room for the defaults */
        if (p && !a.spread) {
            emit_at(e, n->at, callee->at.lo);
            region_due(e);
            e->f->b.src_at = a.n ? a.at : NULL;
            return emit_op1(e, OP_CODE_PRIM, prim_number(p), a.n, a.r);
        }
        f = emit_ref(e, callee->ref, callee->name, callee->at);
    }
    return emit_function_call(e, n, f, &a);
}
