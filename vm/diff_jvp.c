/* diff_jvp.c: the forward-mode pass: Code that carries a tangent along with every active value.
 *
 * Registers of the primal keep their numbers; an active register r has a tangent register tan[r]. A
 * tangent has the form of its primal or is a symbolic zero, whole or in parts; tangents of functions,
 * pullbacks and residuals are tuples of their captures' tangents. What is put in beside the primal's
 * own instructions is marked INSTR_RULE. */
#include "diff.h"
#include <string.h>

typedef struct jvp {
    vm *m;
    arena arena;
    const code *f;
    uint64_t mask;
    uint8_t *active;
    builder b;
    reg *tan;
    bool failed;
} jvp;

static void *take(jvp *j, size_t bytes)
{
    void *p = arena_alloc(&j->arena, bytes + 1);
    if (!p) {
        j->failed = true;
        vm_out_of_memory(j->m);
    }
    return p;
}
static reg put_const(jvp *j, value v) { return build_const(&j->b, v); }
static reg prim1(jvp *j, enum prim_id p, uint32_t n, const reg *src) { return builder_prim(&j->b, &prims[p], n, src); }
static reg op1(jvp *j, opcode op, uint32_t imm, uint32_t n, const reg *src)
{
    instr *i = builder_add(&j->b, op, imm, 1, n, src);
    if (!i) {
        j->failed = true;
        return 0;
    }
    return i->dst[0];
}
static reg put_zero(jvp *j) { return put_const(j, value_zero()); }
/* The tangent of r, a symbolic zero when it is not active. */
static reg tangent(jvp *j, reg r) { return j->active[r] ? j->tan[r] : put_zero(j); }
static reg tangent_tuple(jvp *j, uint32_t n, const reg *src)
{
    reg *t = take(j, n * sizeof(reg));
    if (!t) return 0;
    for (uint32_t k = 0; k < n; k++) t[k] = tangent(j, src[k]);
    return op1(j, OP_CODE_TUPLE, 0, n, t);
}
static reg symbol_const(jvp *j, symbol name)
{
    const char *s = symbol_name(j->m->symbols, name);
    string *t = string_new(j->m, s, strlen(s));
    if (!t) {
        j->failed = true;
        return 0;
    }
    return put_const(j, value_object(&t->h));
}
static reg element(jvp *j, reg t, uint32_t k)
{
    return prim1(j, PRIM_cot_index, 3, (reg[]){t, put_const(j, value_i64(k)), put_const(j, value_none())});
}
static reg of_form(jvp *j, reg t, reg like) { return prim1(j, PRIM_cot_tuple, 2, (reg[]){t, prim1(j, PRIM_form_shallow, 1, &like)}); }

/* --- rules ----------------------------------------------------------------------------------- */

/* Inlines a straight-line or structured rule; params[k] stand for its parameters. */
static reg inline_rule(jvp *j, const code *rule, uint32_t n, const reg *params)
{
    reg *map = take(j, rule->nregs * sizeof(reg));
    if (!map) return 0;
    memset(map, 0xff, rule->nregs * sizeof(reg));
    for (uint32_t k = 0; k < n && k < rule->nparams; k++) map[rule->body->params[k]] = params[k];
    cloner c = {.b = &j->b, .from = rule, .map = map, .new_origins = true};
    clone_list(&c, rule->body, j->b.at);
    return clone_src(&c, rule->body->list[rule->body->n - 1]->src[0]);
}

/* All arguments in signature order, defaults filled in. */
static uint32_t full_arguments(jvp *j, const instr *i, reg **out, uint32_t extra)
{
    const prim_info *info = prim_info_of(j->m, prim_of(i));
    uint32_t n = i->nsrc > info->nparams ? i->nsrc : info->nparams;
    reg *a = *out = take(j, (n + extra) * sizeof(reg));
    if (!a) return 0;
    for (uint32_t k = 0; k < n; k++) a[k] = k < i->nsrc ? i->src[k] : put_const(j, value_retain(info->params[k].deflt));
    return n;
}

static reg sum2(jvp *j, reg a, reg b) { return a == REG_NONE ? b : prim1(j, PRIM_acc, 2, (reg[]){a, b}); }

static reg with_tangents(jvp *j, const instr *i, int only)
{
    const prim *p = prim_of(i);
    reg *a = take(j, i->nsrc * sizeof(reg));
    if (!a) return 0;
    uint32_t linear = 0;
    for (uint32_t k = 0; k < i->nsrc; k++) linear += rule_lists(j->m, p, k);
    for (uint32_t k = 0; k < i->nsrc; k++) {
        a[k] = i->src[k];
        if (only >= 0 ? k != (uint32_t)only : !rule_lists(j->m, p, k)) continue;
        a[k] = tangent(j, i->src[k]);
        if (p->attrs & A_ZERO_SKIP) continue;
        a[k] = prim1(j, linear > 1 && only < 0 ? PRIM_instantiate : PRIM_fill_parts, 2, (reg[]){a[k], i->src[k]});
    }
    reg dy = op1(j, OP_CODE_PRIM, i->imm, i->nsrc, a);
    /* These make zeros of symbolic zero, and what does not move leaves none behind, to be multiplied by inf. */
    return i->imm == PRIM_finish || i->imm == PRIM_instantiate ? prim1(j, PRIM_moved, 2, (reg[]){dy, a[0]}) : dy;
}

/* Whether r, of a partial derivative's text, does no more than choose: it is a condition, a number, constant piece by
   piece, or chosen from such. Then it is never inf, and where it is 0 no tangent passes, not even one that is inf:
   so guards by where work forwards, too. The arguments of the row begin at the text's parameter 2. */
static bool chooses(const prim *p, const block *b, reg r)
{
    for (uint32_t k = 0; k < b->n; k++) {
        const instr *i = b->list[k];
        if (!i->ndst || i->dst[0] != r) continue;
        if (i->op == OP_CODE_CONST) return true;
        if (i->op != OP_CODE_PRIM) return false;
        return i->imm == PRIM_where ? chooses(p, b, i->src[1]) && chooses(p, b, i->src[2]) : prim_of(i)->kind == RULE_CONSTANT;
    }
    return p->tile && p->tile->condition && b->nparams > 2 && b->params[2] == r;
}

static bool rule_chooses(const prim *p, const code *rule)
{
    const instr *last = rule->body->n ? rule->body->list[rule->body->n - 1] : NULL;
    return last && last->op == OP_CODE_RETURN && last->nsrc == 1 && chooses(p, rule->body, last->src[0]);
}

static reg prim_tangent(jvp *j, const instr *i)
{
    const prim *p = prim_of(i);
    reg dy = REG_NONE;
    if (i->imm == PRIM_index) return prim1(j, PRIM_cot_index, 3, (reg[]){tangent(j, i->src[0]), i->src[1], put_const(j, value_none())});
    if (i->imm == PRIM_zmul) { /* selects by its first argument, in both terms */
        reg c = i->src[0], q = i->src[1];
        if (j->active[c]) dy = prim1(j, PRIM_zmul, 2, (reg[]){j->tan[c], q});
        if (j->active[q]) dy = sum2(j, dy, prim1(j, PRIM_zmul, 2, (reg[]){c, j->tan[q]}));
        return prim1(j, PRIM_spread_to, 2, (reg[]){dy, prim1(j, PRIM_form, 1, &i->dst[0])});
    }
    switch (p->kind) {
    case RULE_ELEMENTWISE: {
        reg *args;
        uint32_t n = full_arguments(j, i, &args, 0);
        reg *params = take(j, (n + 2) * sizeof(reg));
        if (!args || !params) return 0;
        params[1] = i->dst[0];
        memcpy(params + 2, args, n * sizeof(reg));
        params[0] = put_zero(j);
        uint32_t terms = 0;
        for (uint32_t k = 0; k < i->nsrc; k++) terms += j->active[i->src[k]] && rule_lists(j->m, p, k);
        for (uint32_t k = 0; k < i->nsrc; k++) {
            code *rule;
            if (!j->active[i->src[k]]) continue;
            if (!rule_vjp(j->m, p, k, &rule)) {
                j->failed = true;
                return 0;
            }
            if (!rule) continue;
            reg partial = inline_rule(j, rule, n + 2, params);
            reg dx = j->tan[i->src[k]];
            reg term = prim1(j, PRIM_zmul, 2, rule_chooses(p, rule) ? (reg[]){partial, dx} : (reg[]){dx, partial});
            /* A scalar beside a record, or a record with some of its fields, is spread before it is added. */
            if (terms > 1) term = prim1(j, PRIM_spread_to, 2, (reg[]){term, prim1(j, PRIM_form, 1, &i->dst[0])});
            dy = sum2(j, dy, term);
        }
        break;
    }
    case RULE_LINEAR: dy = with_tangents(j, i, -1); break;
    case RULE_BILINEAR:
        for (uint32_t k = 0; k < i->nsrc; k++)
            if (j->active[i->src[k]] && rule_lists(j->m, p, k)) dy = sum2(j, dy, with_tangents(j, i, (int)k));
        break;
    case RULE_CUSTOM: {
        code *rule;
        if (!rule_jvp(j->m, p, &rule)) {
            j->failed = true;
            return 0;
        }
        const prim_info *info = prim_info_of(j->m, p);
        reg *args;
        uint32_t n = full_arguments(j, i, &args, 0);
        reg *params = take(j, (2 * n + 1) * sizeof(reg));
        if (!args || !params) return 0;
        params[0] = i->dst[0];
        memcpy(params + 1, args, n * sizeof(reg));
        uint32_t at = n + 1;
        reg from = REG_NONE; /* symbolic zero when all tangents are: then the result's is, though the rule is given zeros */
        for (uint32_t k = 0; k < info->nparams; k++)
            if (rule_lists(j->m, p, k)) {
                reg t = k < i->nsrc ? tangent(j, i->src[k]) : put_zero(j);
                bool skips = p->attrs & A_ZERO_SKIP;
                params[at++] = skips ? t : prim1(j, PRIM_instantiate, 2, (reg[]){t, args[k]});
                if (!skips) from = from == REG_NONE ? t : prim1(j, PRIM_either, 2, (reg[]){from, t});
            }
        dy = inline_rule(j, rule, at, params);
        if (from != REG_NONE) dy = prim1(j, PRIM_moved, 2, (reg[]){dy, from});
        break;
    }
    case RULE_REFUSE: {
        string *s = string_new(j->m, p->vjp, strlen(p->vjp));
        if (!s) {
            j->failed = true;
            return 0;
        }
        reg reason = put_const(j, value_object(&s->h));
        for (uint32_t k = 0; k < i->nsrc; k++)
            if (j->active[i->src[k]]) dy = prim1(j, PRIM_refuse, 2, (reg[]){j->tan[i->src[k]], reason});
        break;
    }
    case RULE_CONSTANT: break;
    }
    if (dy == REG_NONE) return put_zero(j);
    if (p->shape == S_BROADCAST) {
        reg y = i->dst[0];
        dy = prim1(j, PRIM_spread_to, 2, (reg[]){dy, prim1(j, PRIM_form, 1, &y)});
    }
    return dy;
}

/* --- instructions ---------------------------------------------------------------------------- */

static void jvp_list(jvp *j, const block *k);

static void copy(jvp *j, const instr *i)
{
    uint8_t flags = j->b.flags;
    cloner c = {.b = &j->b, .from = j->f};
    j->b.flags = 0;
    clone_instr(&c, i, j->b.at);
    j->b.flags = flags;
}

static instr *like(jvp *j, const instr *i, opcode op, uint32_t imm, uint32_t ndst, uint32_t nsrc, uint32_t nblocks)
{
    uint8_t flags = j->b.flags;
    j->b.flags = i->flags;
    instr *n = instr_new(&j->b, op, imm, ndst, nsrc, nblocks);
    j->b.flags = flags;
    if (!n) {
        j->failed = true;
        return NULL;
    }
    n->origin = i->origin;
    return n;
}

static reg derive(jvp *j, reg f, uint64_t mask)
{
    reg src[2] = {f, put_const(j, value_i64((int64_t)mask))};
    return op1(j, OP_CODE_DERIVE, DERIVE_JVP, 2, src);
}

/* A nested block: its parameters given, its yield followed by the tangents of the active ones. */
static block *nested(jvp *j, const block *old, const reg *params, uint32_t nparams, const instr *owner, uint32_t skip)
{
    block *k = builder_block(&j->b, 0), *outside = j->b.at;
    if (!k) {
        j->failed = true;
        return NULL;
    }
    k->params = arena_alloc(&j->b.c->arena, (nparams + 1) * sizeof(reg));
    if (!k->params) {
        j->failed = true;
        vm_out_of_memory(j->m);
        return NULL;
    }
    if (nparams) memcpy(k->params, params, nparams * sizeof(reg));
    k->nparams = nparams;
    j->b.at = k;
    jvp_list(j, old);
    const instr *y = old->list[old->n - 1];
    reg *out = take(j, 2 * (y->nsrc + 1) * sizeof(reg));
    if (!out) return NULL;
    if (y->nsrc) memcpy(out, y->src, y->nsrc * sizeof(reg));
    uint32_t n = y->nsrc;
    for (uint32_t d = 0; d < owner->ndst; d++)
        if (j->active[owner->dst[d]]) out[n++] = tangent(j, y->src[skip + d]);
    builder_yield(&j->b, n, out);
    j->b.at = outside;
    return k;
}

/* Result registers: the primal's, then fresh ones for the tangents of the active results. */
static uint32_t results(jvp *j, const instr *i, reg **out)
{
    reg *r = *out = take(j, 2 * (i->ndst + 1u) * sizeof(reg));
    if (!r) return 0;
    if (i->ndst) memcpy(r, i->dst, i->ndst * sizeof(reg));
    uint32_t n = i->ndst;
    for (uint32_t d = 0; d < i->ndst; d++)
        if (j->active[i->dst[d]]) r[n++] = j->tan[i->dst[d]] = builder_reg(&j->b, 0);
    return n;
}

/* A CHECKPOINT with residuals: each is joined by its tangent, in the sources and in the meaning (which it has not
   within a region). */
static void jvp_block(jvp *j, const instr *i)
{
    bool meant = i->nblocks == 2;
    reg *dst, *src = take(j, 2 * (i->nsrc + 1) * sizeof(reg));
    uint32_t n = results(j, i, &dst), ns = 0;
    uint16_t *widths = meant ? arena_alloc(&j->b.c->arena, 2 * (i->nsrc + 1) * sizeof *widths) : NULL;
    const instr *y = i->blocks[i->nblocks - 1]->list[i->blocks[i->nblocks - 1]->n - 1];
    uint32_t most = n + 3 * y->nsrc;
    reg *out = take(j, (most + 1) * sizeof(reg));
    if (!src || !dst || (meant && !widths) || !out) {
        j->failed = true;
        return;
    }
    block *place = j->b.at, *runs = nested(j, i->blocks[0], NULL, 0, i, 0), *means = meant ? builder_block(&j->b, 0) : NULL;
    if (!runs || (meant && !means)) {
        j->failed = true;
        return;
    }
    for (uint32_t k = 0; k < i->nsrc; k++) {
        src[ns] = i->src[k];
        if (meant) widths[ns] = i->widths[k];
        ns++;
        if (!j->active[i->src[k]]) continue;
        src[ns] = j->tan[i->src[k]];
        if (meant) widths[ns] = (uint16_t)(2 * i->widths[k]);
        ns++;
    }
    if (meant) {
        j->b.at = means;
        jvp_list(j, i->blocks[1]);
        uint32_t no = 0, at = i->ndst;
        for (uint32_t k = 0; k < i->ndst; k++) out[no++] = y->src[k];
        for (uint32_t k = 0; k < i->ndst; k++)
            if (j->active[i->dst[k]]) out[no++] = tangent(j, y->src[k]);
        for (uint32_t k = 0; k < i->nsrc; at += i->widths[k++]) {
            for (uint32_t q = 0; q < i->widths[k]; q++) out[no++] = y->src[at + q];
            if (!j->active[i->src[k]]) continue;
            for (uint32_t q = 0; q < i->widths[k]; q++) out[no++] = y->src[at + q];
            for (uint32_t q = 0; q < i->widths[k]; q++) out[no++] = tangent(j, y->src[at + q]);
        }
        builder_yield(&j->b, no, out);
        j->b.at = place;
    }
    instr *b = like(j, i, OP_CODE_CHECKPOINT, clone_imm(&j->b, j->f, i), n, ns, i->nblocks);
    if (!b) return;
    if (n) memcpy(b->dst, dst, n * sizeof(reg));
    memcpy(b->src, src, ns * sizeof(reg));
    b->blocks[0] = runs;
    if (meant) {
        b->blocks[1] = means;
        b->ntapes = ns;
        b->widths = widths;
    }
    builder_append(&j->b, place, b);
}

static void jvp_branch(jvp *j, const instr *i)
{
    if (i->nsrc && i->op == OP_CODE_CHECKPOINT) {
        jvp_block(j, i);
        return;
    }
    reg *dst;
    uint32_t n = results(j, i, &dst);
    uint32_t imm = clone_imm(&j->b, j->f, i);
    instr *out = like(j, i, (opcode)i->op, imm, n, i->nsrc, i->nblocks);
    if (!out || !dst) return;
    if (n) memcpy(out->dst, dst, n * sizeof(reg));
    if (i->nsrc) memcpy(out->src, i->src, i->nsrc * sizeof(reg));
    block *place = j->b.at;
    for (uint32_t k = 0; k < i->nblocks; k++) {
        out->blocks[k] = nested(j, i->blocks[k], NULL, 0, i, 0);
        if (!out->blocks[k]) return;
    }
    builder_append(&j->b, place, out);
}

static void jvp_loop(jvp *j, const instr *i)
{
    const block *body = i->blocks[0];
    unsigned kind = i->imm & LOOP_KIND;
    uint32_t lead = kind == LOOP_RANGE ? 2 : kind == LOOP_WHILE ? 1 : i->ntapes;
    uint32_t nc = i->ndst, first = body->nparams - nc, skip = body->list[body->n - 1]->nsrc - nc;
    /* A carried value is active as its parameter is (activity made results and parameters agree). */
    reg *src = take(j, 2 * (i->nsrc + 1) * sizeof(reg)), *params = take(j, 2 * (body->nparams + 1) * sizeof(reg));
    uint16_t *widths = arena_alloc(&j->b.c->arena, 2 * (i->ntapes + 1) * sizeof *widths);
    if (!src || !params || !widths) {
        j->failed = true;
        return;
    }
    uint32_t ns = 0, np = 0, nt = i->ntapes;
    for (uint32_t k = 0; k < lead; k++) src[ns++] = i->src[k];
    for (uint32_t k = 0; k < first; k++) params[np++] = body->params[k];
    if (nt) memcpy(widths, i->widths, nt * sizeof *widths);
    for (uint32_t t = 0, p = 0; kind == LOOP_TAPE && t < i->ntapes; p += i->widths[t++]) {
        if (!j->active[i->src[t]]) continue;
        src[ns++] = j->tan[i->src[t]];
        widths[nt++] = i->widths[t];
        for (uint32_t w = 0; w < i->widths[t]; w++) params[np++] = j->tan[body->params[p + w]] = builder_reg(&j->b, 0);
    }
    for (uint32_t k = 0; k < nc; k++) {
        src[ns++] = i->src[lead + k];
        params[np++] = body->params[first + k];
    }
    for (uint32_t k = 0; k < nc; k++)
        if (j->active[i->dst[k]]) {
            src[ns++] = tangent(j, i->src[lead + k]);
            params[np++] = j->tan[body->params[first + k]] = builder_reg(&j->b, 0);
        }
    reg *dst;
    uint32_t n = results(j, i, &dst);
    block *place = j->b.at;
    instr *out = like(j, i, OP_CODE_LOOP, i->imm, n, ns, 1);
    if (!out || !dst) return;
    memcpy(out->src, src, ns * sizeof(reg));
    if (n) memcpy(out->dst, dst, n * sizeof(reg));
    instr_lazy_copy(&j->b, out, j->f, i);
    out->ntapes = nt;
    out->widths = nt ? widths : NULL;
    out->blocks[0] = nested(j, body, params, np, i, skip);
    if (!out->blocks[0]) return;
    builder_append(&j->b, place, out);
}

/* The tangent of a residual: one over its region's tangent Code, into which the tangents of what enters
   go as well. It gives the values, then their tangents. */
static reg replayable_tangent(jvp *j, const instr *i)
{
    code *region = diff_region_tangent(j->f->codes[i->imm]);
    reg *src = take(j, (i->nsrc + 1) * sizeof(reg));
    if (!region || !src) {
        j->failed = true;
        return 0;
    }
    memcpy(src, i->src, i->nsrc * sizeof(reg));
    reg enters = tangent_tuple(j, i->nsrc, i->src);
    src[i->nsrc] = op1(j, OP_CODE_TUPLE, 0, 1, &enters);
    return op1(j, OP_CODE_REPLAYABLE, builder_code(&j->b, code_retain(region)), i->nsrc + 1, src);
}

static void jvp_force(jvp *j, const instr *i)
{
    reg both = prim1(j, PRIM_dual_residual, 2, (reg[]){j->tan[i->src[0]], i->src[0]});
    instr *n = like(j, i, OP_CODE_FORCE, 0, 2u * i->ndst, 1, 0);
    if (!n) return;
    n->src[0] = both;
    if (i->ndst) memcpy(n->dst, i->dst, i->ndst * sizeof(reg));
    for (uint32_t k = 0; k < i->ndst; k++) n->dst[i->ndst + k] = j->tan[i->dst[k]] = builder_reg(&j->b, 0);
    builder_append(&j->b, j->b.at, n);
}

/* CALL by position: the tangents go first, as one tuple. */
static void jvp_call(jvp *j, const instr *i)
{
    uint64_t mask = j->active[i->src[0]] ? 1 : 0;
    for (uint32_t k = 1; k < i->nsrc; k++)
        if (j->active[i->src[k]]) mask |= 1ull << (k > 63 ? 63 : k);
    reg *src = take(j, (i->nsrc + 1) * sizeof(reg));
    if (!src) return;
    src[0] = derive(j, i->src[0], mask);
    src[1] = tangent_tuple(j, i->nsrc, i->src);
    memcpy(src + 2, i->src + 1, (i->nsrc - 1) * sizeof(reg));
    instr *n = like(j, i, (opcode)i->op, i->imm, 2u * i->ndst, i->nsrc + 1, 0);
    if (!n) return;
    memcpy(n->src, src, (i->nsrc + 1) * sizeof(reg));
    memcpy(n->dst, i->dst, i->ndst * sizeof(reg));
    for (uint32_t k = 0; k < i->ndst; k++) n->dst[i->ndst + k] = j->tan[i->dst[k]] = builder_reg(&j->b, 0);
    builder_append(&j->b, j->b.at, n);
}

/* CALL with CALL_SPREAD or CALL_PACK, TRY, MEASURE. */
static void jvp_call_spread(jvp *j, const instr *i)
{
    bool wrapped = i->op != OP_CODE_CALL, pack = !wrapped && (i->imm & CALL_PACK);
    reg args, dargs;
    bool on;
    if (wrapped || (i->imm & CALL_SPREAD)) {
        args = i->src[1];
        on = j->active[args];
        dargs = on ? of_form(j, j->tan[args], args) : put_zero(j);
    } else {
        on = false;
        for (uint32_t k = 1; k < i->nsrc; k++) on |= j->active[i->src[k]];
        args = op1(j, OP_CODE_TUPLE, 0, i->nsrc - 1, i->src + 1);
        dargs = tangent_tuple(j, i->nsrc - 1, i->src + 1);
    }
    reg f = derive(j, i->src[0], (j->active[i->src[0]] ? 1 : 0) | (on ? ~1ull : 0));
    reg t = prim1(j, PRIM_prepend, 2, (reg[]){tangent(j, i->src[0]), dargs});
    reg all = prim1(j, PRIM_prepend, 2, (reg[]){t, args});
    uint32_t values = pack ? 1 : i->ndst - (wrapped ? 1u : 0u);
    instr *n = like(j, i, (opcode)i->op, wrapped ? 0 : i->imm | CALL_SPREAD, pack ? 1 : values + i->ndst, 2, 0);
    if (!n) return;
    n->src[0] = f;
    n->src[1] = all;
    if (pack) {
        n->dst[0] = builder_reg(&j->b, 0);
        builder_append(&j->b, j->b.at, n);
        reg half[2] = {n->dst[0], put_const(j, value_i64(0))};
        instr *first = like(j, i, OP_CODE_PRIM, prim_number(&prims[PRIM_half]), 1, 2, 0);
        if (!first) return;
        memcpy(first->src, half, sizeof half);
        first->dst[0] = i->dst[0];
        builder_append(&j->b, j->b.at, first);
        half[1] = put_const(j, value_i64(1));
        j->tan[i->dst[0]] = prim1(j, PRIM_half, 2, half);
        return;
    }
    memcpy(n->dst, i->dst, values * sizeof(reg));
    for (uint32_t k = 0; k < values; k++) n->dst[values + k] = j->tan[i->dst[k]] = builder_reg(&j->b, 0);
    if (wrapped) n->dst[2 * values] = i->dst[values];
    builder_append(&j->b, j->b.at, n);
}

/* Tangents of the operands of SPREAD or BIND, those marked spread as whole tuples. */
static reg *bound_tangents(jvp *j, const instr *i, uint32_t first)
{
    const name_list *names = &j->f->names[i->imm];
    reg *t = take(j, (i->nsrc + 1) * sizeof(reg));
    if (!t) return NULL;
    for (uint32_t k = 0; k < first; k++) t[k] = i->src[k];
    for (uint32_t k = first; k < i->nsrc; k++) {
        t[k] = tangent(j, i->src[k]);
        if (names->names[k] == SPREAD_MARK) t[k] = of_form(j, t[k], i->src[k]);
    }
    return t;
}

static void jvp_instr(jvp *j, const instr *i)
{
    j->b.where = i->at;
    j->b.point = i->point;
    bool on = false;
    for (uint32_t k = 0; k < i->ndst; k++) on |= j->active[i->dst[k]];
    for (uint32_t k = 0; i->op == OP_CODE_CHECKPOINT && k < i->nsrc; k++) on |= j->active[i->src[k]];
    if (i->op == OP_CODE_SELF) {
        instr *n = like(j, i, OP_CODE_SELF, i->imm + 1, 1, 0, 0);
        if (!n) return;
        n->dst[0] = i->dst[0];
        builder_append(&j->b, j->b.at, n);
        if (on) j->tan[i->dst[0]] = tangent_tuple(j, j->f->ncaptures, j->f->body->params);
        return;
    }
    if (!on) {
        copy(j, i);
        return;
    }
    switch (i->op) {
    case OP_CODE_IF:
    case OP_CODE_CHECKPOINT: jvp_branch(j, i); return;
    case OP_CODE_LOOP: jvp_loop(j, i); return;
    case OP_CODE_CALL:
        if (i->imm & (CALL_SPREAD | CALL_PACK)) jvp_call_spread(j, i);
        else jvp_call(j, i);
        return;
    case OP_CODE_FORCE: jvp_force(j, i); return;
    case OP_CODE_TRY:
    case OP_CODE_MEASURE: jvp_call_spread(j, i); return;
    default: break;
    }
    copy(j, i);
    reg d = i->ndst ? i->dst[0] : REG_NONE;
    switch (i->op) {
    case OP_CODE_PRIM: j->tan[d] = prim_tangent(j, i); break;
    case OP_CODE_REPLAYABLE: j->tan[d] = replayable_tangent(j, i); break;
    case OP_CODE_TUPLE:
    case OP_CODE_CLOSURE: j->tan[d] = tangent_tuple(j, i->nsrc, i->src); break;
    case OP_CODE_RECORD: {
        reg *t = take(j, (i->nsrc + 1) * sizeof(reg));
        if (!t) return;
        for (uint32_t k = 0; k < i->nsrc; k++) t[k] = tangent(j, i->src[k]);
        j->tan[d] = op1(j, OP_CODE_RECORD, clone_imm(&j->b, j->f, i), i->nsrc, t);
        break;
    }
    case OP_CODE_UNPACK:
        for (uint32_t k = 0; k < i->ndst; k++) j->tan[i->dst[k]] = element(j, j->tan[i->src[0]], k);
        break;
    case OP_CODE_FIELD: j->tan[d] = prim1(j, PRIM_cot_field, 2, (reg[]){j->tan[i->src[0]], symbol_const(j, i->imm)}); break;
    case OP_CODE_SETFIELD: {
        reg name = symbol_const(j, i->imm);
        reg cleared = prim1(j, PRIM_cot_clear, 2, (reg[]){tangent(j, i->src[0]), name});
        j->tan[d] = prim1(j, PRIM_acc_field, 3, (reg[]){cleared, tangent(j, i->src[1]), name});
        break;
    }
    case OP_CODE_SPREAD: {
        reg *t = bound_tangents(j, i, 0);
        if (t) j->tan[d] = op1(j, OP_CODE_SPREAD, clone_imm(&j->b, j->f, i), i->nsrc, t);
        break;
    }
    case OP_CODE_BIND: {
        reg *t = bound_tangents(j, i, 1);
        if (t) j->tan[d] = of_form(j, op1(j, OP_CODE_BIND, clone_imm(&j->b, j->f, i), i->nsrc, t), d);
        break;
    }
    case OP_CODE_UNBIND:
        j->tan[d] = op1(j, OP_CODE_UNBIND, clone_imm(&j->b, j->f, i), 3, (reg[]){i->src[0], tangent(j, i->src[1]), i->src[2]});
        break;
    case OP_CODE_DEFINED:
    case OP_CODE_DERIVE: j->tan[d] = j->tan[i->src[0]]; break;
    case OP_CODE_SELDEF: j->tan[d] = op1(j, OP_CODE_SELDEF, 0, 3, (reg[]){i->src[0], tangent(j, i->src[1]), tangent(j, i->src[2])}); break;
    case OP_CODE_TAPEPUSH: {
        reg *t = take(j, (i->nsrc + 1) * sizeof(reg));
        if (!t) return;
        for (uint32_t k = 0; k < i->nsrc; k++) t[k] = tangent(j, i->src[k]);
        j->tan[d] = op1(j, OP_CODE_TAPEPUSH, 0, i->nsrc, t);
        break;
    }
    case OP_CODE_TAPEPOP: {
        instr *n = builder_add(&j->b, OP_CODE_TAPEPOP, 0, i->ndst, 1, &j->tan[i->src[0]]);
        if (!n) {
            j->failed = true;
            return;
        }
        for (uint32_t k = 0; k < i->ndst; k++) j->tan[i->dst[k]] = n->dst[k];
        break;
    }
    default: vm_fail(j->m, DIAG_INTERNAL, "no tangent of opcode `%s`", op_rows[i->op].name); j->failed = true;
    }
}

static void jvp_list(jvp *j, const block *k)
{
    for (uint32_t n = 0; n + 1 < k->n && !j->failed && !j->b.failed; n++) jvp_instr(j, k->list[n]);
}

code *diff_region_tangent(code *region)
{
    vm *m = region->vm;
    for (struct derived *d = region->derived; d; d = d->next)
        if (d->kind == DERIVE_REGION_TANGENT) return d->code;
    code *t = code_derive(region, DERIVE_JVP, 1);
    struct derived *entry = t ? arena_alloc(&region->arena, sizeof *entry) : NULL;
    if (!t) return NULL;
    if (!entry) {
        vm_out_of_memory(m);
        return NULL;
    }
    /* Its parameter, the tuple of tangents, becomes a capture: a region has no parameters. */
    builder b;
    uint32_t n = t->ncaptures + t->nparams;
    builder_open(&b, m, t->name, t->src, n, 0);
    b.c->at = b.where = t->at;
    if (region->noptions) builder_options(&b, &region->options[0]);
    reg *map = builder_take(&b, (t->nregs + 1) * sizeof(reg));
    reg *out = builder_take(&b, (t->nresults + 1) * sizeof(reg));
    if (map && out) {
        memset(map, 0xff, (t->nregs + 1) * sizeof(reg));
        for (uint32_t k = 0; k < n; k++) map[t->body->params[k]] = b.c->body->params[k];
        cloner c = {.b = &b, .from = t, .map = map};
        b.at = b.c->body;
        clone_list(&c, t->body, b.c->body);
        const instr *ret = t->body->list[t->body->n - 1];
        for (uint32_t k = 0; k < ret->nsrc; k++) out[k] = clone_src(&c, ret->src[k]);
        builder_return(&b, ret->nsrc, out);
    }
    code *made = builder_finish_derived(&b, region, CODE_REGION);
    if (!made) return NULL;
    *entry = (struct derived){.kind = DERIVE_REGION_TANGENT, .code = made, .next = region->derived};
    region->derived = entry;
    return made;
}

code *diff_jvp(vm *m, code *f, uint64_t mask)
{
    jvp j = {.m = m, .f = f, .mask = mask};
    arena_open(&j.arena, &m->mem, MEM_CODE);
    j.active = take(&j, f->nregs);
    j.tan = take(&j, f->nregs * sizeof(reg));
    builder *b = &j.b;
    builder_open(b, m, f->name, f->src, f->ncaptures, f->nparams + 1);
    b->c->at = b->where = f->at;
    b->flags = INSTR_RULE;
    while (b->c->nregs < f->nregs && !b->failed) builder_reg(b, 0);
    reg t = builder_reg(b, 0);
    if (j.failed || !diff_activity(m, f, mask, j.active)) j.failed = true;
    if (!j.failed && !b->failed) {
        memcpy(b->c->reg_names, f->reg_names, f->nregs * sizeof(symbol));
        reg *params = b->c->body->params;
        memcpy(params, f->body->params, f->ncaptures * sizeof(reg));
        params[f->ncaptures] = t;
        memcpy(params + f->ncaptures + 1, f->body->params + f->ncaptures, f->nparams * sizeof(reg));
        memcpy(b->c->param_names + 1, f->param_names, f->nparams * sizeof(symbol));
        b->c->required = f->required + 1;
        b->c->rest = f->rest;
        b->at = b->c->body;
        /* Tangents of captures and parameters out of the tuple t. */
        if (f->ncaptures && mask_has(mask, 0)) {
            reg caps = element(&j, t, 0);
            for (uint32_t k = 0; k < f->ncaptures; k++) j.tan[f->body->params[k]] = element(&j, caps, k);
        }
        for (uint32_t k = 0; k < f->nparams; k++) {
            reg p = f->body->params[f->ncaptures + k];
            if (!j.active[p]) continue;
            j.tan[p] = f->rest && k + 1 == f->nparams
                           ? prim1(&j, PRIM_part, 3, (reg[]){t, put_const(&j, value_i64(k + 1)), put_const(&j, value_none())})
                           : element(&j, t, k + 1);
        }
        jvp_list(&j, f->body);
        const instr *ret = f->body->list[f->body->n - 1];
        reg *out = take(&j, 2 * (ret->nsrc + 1) * sizeof(reg));
        if (out) {
            if (ret->nsrc) memcpy(out, ret->src, ret->nsrc * sizeof(reg));
            for (uint32_t k = 0; k < ret->nsrc; k++) out[ret->nsrc + k] = tangent(&j, ret->src[k]);
            builder_return(b, 2 * ret->nsrc, out);
        }
    }
    if (j.failed || (!b->failed && !code_drop_dead(b, false))) b->failed = true;
    code *made = builder_finish_derived(b, f, CODE_JVP);
    if (!made && j.arena.refused) vm_out_of_memory(m);
    arena_close(&j.arena);
    return made;
}
