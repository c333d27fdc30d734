/* diff_rev.c: the fwd and rev passes for straight lines; see diff.h for how they work together.
 * Control (branches, loops, blocks) is in diff_control.c. */
#include "diff.h"
#include <stdio.h>
#include <string.h>

/* --- rules inlined --------------------------------------------------------------------------- */

/* Parameters of an inlined rule stand for primal values, imported only if the rule reads them. */
typedef struct inlining {
    diff *d;
    const reg *primal;
    uint32_t nprimal;
    reg acc;
    bool acc_used;
    reg nothing;
    const code *rule;
} inlining;

static reg resolve_primal(cloner *c, reg r)
{
    inlining *n = c->ctx;
    for (uint32_t k = 0; k < n->nprimal; k++)
        if (c->from->body->params[k] == r && n->primal[k] != REG_NONE) return diff_import(n->d, n->primal[k]);
    return REG_NONE;
}

static bool special_rule(cloner *c, const instr *i, block *into)
{
    inlining *n = c->ctx;
    if (i->op != OP_CODE_PRIM) return false;
    const prim *p = prim_of(i);
    /* What reads form alone is computed in the forward pass. */
    if ((p->attrs & A_META) && i->nsrc == 1 && c->map[i->src[0]] == REG_NONE)
        for (uint32_t k = 0; k < n->nprimal; k++)
            if (c->from->body->params[k] == i->src[0] && n->primal[k] != REG_NONE) {
                c->map[i->dst[0]] = diff_meta(n->d, p, n->primal[k]);
                return true;
            }
    return false;
}

static bool is_prim(const instr *i, enum prim_id p) { return i->op == OP_CODE_PRIM && i->imm == p; }

/* Inlines a vjp rule; `acc` is the running cotangent it may add into (REG_NONE: none). *added says that
   the result is the new running cotangent and not a contribution. Shapes come from the rule. */
static reg inline_rule(diff *d, const code *rule, reg g, reg y, const instr *i, reg acc, bool *added)
{
    *added = false;
    uint32_t np = 2 + i->nsrc;
    uint32_t have = rule->nparams;
    reg *primal = arena_alloc(&d->arena, (have + 1) * sizeof(reg));
    reg *map = arena_alloc(&d->arena, (rule->nregs + 1) * sizeof(reg));
    if (!primal || !map) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return 0;
    }
    memset(map, 0xff, (rule->nregs + 1) * sizeof(reg));
    for (uint32_t k = 0; k < have; k++) primal[k] = REG_NONE;
    if (have > 1) primal[1] = y;
    for (uint32_t k = 2; k < have && k < np; k++) primal[k] = i->src[k - 2];
    map[rule->body->params[0]] = g;
    inlining n = {.d = d, .primal = primal, .nprimal = have, .rule = rule};
    cloner c = {.b = &d->rb, .from = rule, .map = map, .resolve = resolve_primal, .special = special_rule, .ctx = &n, .new_origins = true};
    /* Arguments the call left out have their defaults. */
    const prim_info *info = prim_info_of(d->m, prim_of(i));
    for (uint32_t k = np; k < have && k - 2 < info->nparams; k++)
        map[rule->body->params[k]] = diff_rev_const(d, value_retain(info->params[k - 2].deflt));
    const block *body = rule->body;
    reg result = body->list[body->n - 1]->src[0];
    /* `__acc_…(__nothing(), …)` outermost: give it the running cotangent. */
    const instr *last = NULL, *nothing = NULL;
    for (uint32_t k = 0; k + 1 < body->n; k++) {
        const instr *in = body->list[k];
        if (in->ndst == 1 && in->dst[0] == result) last = in;
        if (in->ndst == 1 && is_prim(in, PRIM_nothing)) nothing = in;
    }
    if (last && nothing && last->op == OP_CODE_PRIM && !strncmp(prim_of(last)->name, "__acc_", 6) && last->src[0] == nothing->dst[0]) {
        map[nothing->dst[0]] = acc == REG_NONE ? diff_zero(d) : acc;
        *added = true;
    }
    for (uint32_t k = 0; k + 1 < body->n && !d->failed; k++) {
        if (*added && body->list[k] == nothing) continue;
        clone_instr(&c, body->list[k], d->rb.at);
    }
    return clone_src(&c, result);
}

static void refuse(diff *d, const instr *i, reg g)
{
    const char *why = prim_of(i)->vjp;
    string *s = string_new(d->m, why, strlen(why));
    if (!s) {
        d->failed = true;
        return;
    }
    reg reason = diff_rev_const(d, value_object(&s->h));
    reg out = diff_rev_prim(d, PRIM_refuse, 2, (reg[]){g, reason});
    for (uint32_t k = 0; k < i->nsrc; k++) diff_acc(d, i->src[k], out);
}

/* A partial derivative that is the number 1: the cotangent passes through. */
static bool is_one(const code *rule)
{
    const block *b = rule->body;
    if (b->n != 2 || b->list[0]->op != OP_CODE_CONST) return false;
    value v = rule->consts[b->list[0]->imm];
    return v.tag == V_F64 && v.weak && v.u.f == 1;
}

static void rev_prim(diff *d, const instr *i)
{
    const prim *p = prim_of(i);
    reg g = diff_cot(d, i->dst[0]);
    if (g == REG_NONE || p->kind == RULE_CONSTANT) return;
    if (p->kind == RULE_REFUSE) {
        refuse(d, i, g);
        return;
    }
    for (uint32_t k = 0; k < i->nsrc && !d->failed; k++) {
        reg x = i->src[k];
        if (!d->active[x]) continue;
        code *rule;
        if (!rule_vjp(d->m, p, k, &rule)) {
            d->failed = true;
            return;
        }
        if (!rule) continue;
        bool added = false;
        reg c = p->kind == RULE_ELEMENTWISE && is_one(rule) ? g : inline_rule(d, rule, g, i->dst[0], i, diff_cot(d, x), &added);
        if (d->failed) return;
        if (added) {
            diff_cot_set(d, x, c);
            continue;
        }
        if (p->kind == RULE_ELEMENTWISE && !is_one(rule)) c = diff_rev_prim(d, PRIM_zmul, 2, (reg[]){g, c});
        if (!rule_bare(p)) c = diff_rev_prim(d, PRIM_reduce_to, 2, (reg[]){c, diff_meta(d, &prims[PRIM_form], x)});
        diff_acc(d, x, c);
    }
}

/* --- structures and calls -------------------------------------------------------------------- */

reg diff_element(diff *d, reg g, uint32_t k)
{
    return diff_rev_prim(d, PRIM_cot_index, 3, (reg[]){g, diff_rev_const(d, value_i64(k)), diff_rev_const(d, value_none())});
}
static reg name_const(diff *d, symbol name)
{
    const char *s = symbol_name(d->m->symbols, name);
    string *t = string_new(d->m, s, strlen(s));
    if (!t) {
        d->failed = true;
        return 0;
    }
    return diff_rev_const(d, value_object(&t->h));
}
static reg rev_op(diff *d, opcode op, uint32_t imm, uint32_t nsrc, const reg *src)
{
    instr *i = builder_add(&d->rb, op, imm, 1, nsrc, src);
    if (!i) {
        d->failed = true;
        return 0;
    }
    return i->dst[0];
}

/* Adds the elements of the tuple g to the cotangents of src. All are taken out before any is added, so
   that the tuple is gone by then and they may be added to in place. */
static void acc_elements(diff *d, reg g, uint32_t n, const reg *src)
{
    reg *e = arena_alloc(&d->arena, (n + 1) * sizeof(reg));
    if (!e) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return;
    }
    for (uint32_t k = 0; k < n; k++)
        if (d->active[src[k]]) e[k] = diff_element(d, g, k);
    for (uint32_t k = 0; k < n; k++)
        if (d->active[src[k]]) diff_acc(d, src[k], e[k]);
}

/* Shallow forms of all operands, as a tuple in rev. */
static reg forms_of(diff *d, uint32_t n, const reg *src)
{
    reg *f = arena_alloc(&d->arena, (n + 1) * sizeof(reg));
    if (!f) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return 0;
    }
    for (uint32_t k = 0; k < n; k++) f[k] = diff_meta(d, &prims[PRIM_form_shallow], src[k]);
    return rev_op(d, OP_CODE_TUPLE, 0, n, f);
}

static instr *fwd_like(diff *d, const instr *i, opcode op, uint32_t imm, uint32_t ndst, uint32_t nsrc)
{
    instr *n = instr_new(&d->fb, op, imm, ndst, nsrc, 0);
    if (!n) {
        d->failed = true;
        return NULL;
    }
    n->flags |= i->flags;
    n->origin = i->origin;
    n->at = i->at;
    n->point = i->point;
    return n;
}

/* fwd: f with its Code's fwd in place. */
static reg fwd_derive(diff *d, const instr *i, reg f, uint64_t mask)
{
    instr *k = fwd_like(d, i, OP_CODE_CONST, builder_const(&d->fb, value_i64((int64_t)mask)), 1, 0);
    instr *n = fwd_like(d, i, OP_CODE_DERIVE, d->kind, 1, 2);
    if (!k || !n) return 0;
    k->dst[0] = diff_fwd_reg(d, 0);
    n->src[0] = f;
    n->src[1] = k->dst[0];
    n->dst[0] = diff_fwd_reg(d, 0);
    diff_push_fwd(d, k);
    diff_push_fwd(d, n);
    return n->dst[0];
}

/* Cotangents of an instruction's results, symbolic zeros where there are none. */
static reg *result_cots(diff *d, const instr *i, uint32_t n)
{
    reg *g = arena_alloc(&d->arena, (n + 2) * sizeof(reg));
    if (!g) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return NULL;
    }
    for (uint32_t k = 0; k < n; k++) g[k + 1] = diff_cot_or_zero(d, i->dst[k]);
    return g; /* g[0] is free for the pullback */
}

/* CALL with operands by position. */
static void diff_call(diff *d, const instr *i)
{
    uint64_t mask = d->active[i->src[0]] ? 1 : 0;
    for (uint32_t k = 1; k < i->nsrc; k++)
        if (d->active[i->src[k]]) mask |= 1ull << (k > 63 ? 63 : k);
    reg f = fwd_derive(d, i, i->src[0], mask);
    instr *n = fwd_like(d, i, (opcode)i->op, i->imm, i->ndst + 1u, i->nsrc);
    if (!n) return;
    n->src_at = i->src_at;
    memcpy(n->src, i->src, i->nsrc * sizeof(reg));
    n->src[0] = f;
    memcpy(n->dst, i->dst, i->ndst * sizeof(reg));
    reg R = n->dst[i->ndst] = diff_fwd_reg(d, 0);
    diff_push_fwd(d, n);
    reg *g = result_cots(d, i, i->ndst);
    if (!g) return;
    g[0] = diff_import(d, R);
    uint32_t lenient = i->imm & CALL_LENIENT;
    instr *r = builder_add(&d->rb, OP_CODE_CALL, CALL_PULLBACK | lenient, 2, i->ndst + 1u, g);
    if (!r) {
        d->failed = true;
        return;
    }
    diff_acc(d, i->src[0], r->dst[0]);
    acc_elements(d, r->dst[1], i->nsrc - 1, i->src + 1);
}

/* CALL with CALL_SPREAD, TRY, MEASURE: sources f and one tuple. CALL_PACK: one result, a tuple. */
static void diff_call_spread(diff *d, const instr *i)
{
    reg f0 = i->src[0], t0 = i->src[1];
    bool wrapped = i->op != OP_CODE_CALL; /* TRY, MEASURE: the last result is about the run */
    bool pack = !wrapped && (i->imm & CALL_PACK);
    uint64_t mask = (d->active[f0] ? 1 : 0) | (d->active[t0] ? ~1ull : 0);
    reg f = fwd_derive(d, i, f0, mask);
    uint32_t values = i->ndst - (wrapped ? 1u : 0u);
    instr *n = fwd_like(d, i, (opcode)i->op, i->imm, pack ? 1 : i->ndst + 1u, 2);
    if (!n) return;
    n->src_at = i->src_at;
    n->src[0] = f;
    n->src[1] = t0;
    reg R, g;
    if (pack) {
        /* All results in one tuple, the pullback last: split it off. */
        reg all = n->dst[0] = diff_fwd_reg(d, 0);
        diff_push_fwd(d, n);
        instr *ys = fwd_like(d, i, OP_CODE_PRIM, prim_number(&prims[PRIM_part]), 1, 3);
        instr *rs = fwd_like(d, i, OP_CODE_PRIM, prim_number(&prims[PRIM_index]), 1, 2);
        instr *zero = fwd_like(d, i, OP_CODE_CONST, builder_const(&d->fb, value_i64(0)), 1, 0);
        instr *last = fwd_like(d, i, OP_CODE_CONST, builder_const(&d->fb, value_i64(-1)), 1, 0);
        if (!ys || !rs || !zero || !last) return;
        zero->dst[0] = diff_fwd_reg(d, 0);
        last->dst[0] = diff_fwd_reg(d, 0);
        ys->src[0] = rs->src[0] = all;
        ys->src[1] = zero->dst[0];
        ys->src[2] = rs->src[1] = last->dst[0];
        ys->dst[0] = i->dst[0];
        R = rs->dst[0] = diff_fwd_reg(d, 0);
        diff_push_fwd(d, zero);
        diff_push_fwd(d, last);
        diff_push_fwd(d, ys);
        diff_push_fwd(d, rs);
        reg shape = diff_meta(d, &prims[PRIM_form_shallow], i->dst[0]);
        g = diff_rev_prim(d, PRIM_cot_tuple, 2, (reg[]){diff_cot_or_zero(d, i->dst[0]), shape});
    } else {
        memcpy(n->dst, i->dst, values * sizeof(reg));
        R = n->dst[values] = diff_fwd_reg(d, 0);
        if (wrapped) n->dst[values + 1] = i->dst[values];
        diff_push_fwd(d, n);
        reg *gs = result_cots(d, i, values);
        if (!gs) return;
        g = rev_op(d, OP_CODE_TUPLE, 0, values, gs + 1);
    }
    reg call[2] = {diff_import(d, R), g};
    instr *r = builder_add(&d->rb, OP_CODE_CALL, CALL_PULLBACK | CALL_SPREAD | CALL_LENIENT, 2, 2, call);
    if (!r) {
        d->failed = true;
        return;
    }
    diff_acc(d, f0, r->dst[0]);
    diff_acc(d, t0, r->dst[1]);
}

/* SPREAD, BIND: a tuple of operands some of which are spread; imm marks them. */
static void rev_bind(diff *d, const instr *i, reg g)
{
    bool bind = i->op == OP_CODE_BIND;
    uint32_t first = bind ? 1 : 0;
    reg f = bind ? diff_import(d, i->src[0]) : diff_rev_const(d, value_none());
    const name_list *names = &d->f->names[i->imm];
    reg src[3] = {f, g, forms_of(d, i->nsrc - first, i->src + first)};
    reg t = rev_op(d, OP_CODE_UNBIND, builder_names(&d->rb, names->n - first, names->names + first), 3, src);
    acc_elements(d, t, i->nsrc - first, i->src + first);
}

/* UNBIND's transpose: the elements, aligned with BIND's operands, back to a tuple by parameter. */
static void rev_unbind(diff *d, const instr *i, reg g)
{
    if (!d->active[i->src[1]]) return;
    const name_list *names = &d->f->names[i->imm];
    uint32_t n = names->n;
    reg *src = arena_alloc(&d->arena, (n + 1) * sizeof(reg));
    if (!src) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return;
    }
    src[0] = diff_import(d, i->src[0]);
    for (uint32_t k = 0; k < n; k++) {
        src[k + 1] = diff_element(d, g, k);
        if (names->names[k] != SPREAD_MARK) continue;
        reg at[2] = {diff_import(d, i->src[2]), diff_rev_const(d, value_i64(k))};
        src[k + 1] = diff_rev_prim(d, PRIM_cot_tuple, 2, (reg[]){src[k + 1], diff_rev_prim(d, PRIM_index, 2, at)});
    }
    symbol *all = arena_alloc(&d->arena, (n + 1) * sizeof *all); /* BIND's list starts with the function */
    if (!all) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return;
    }
    memcpy(all + 1, names->names, n * sizeof *all);
    reg t = rev_op(d, OP_CODE_BIND, builder_names(&d->rb, n + 1, all), n + 1, src);
    reg shape = diff_meta(d, &prims[PRIM_form_shallow], i->src[1]);
    diff_acc(d, i->src[1], diff_rev_prim(d, PRIM_cot_tuple, 2, (reg[]){t, shape}));
}

/* True when some result has a cotangent. */
static bool wanted(diff *d, const instr *i)
{
    for (uint32_t k = 0; k < i->ndst; k++)
        if (diff_cot(d, i->dst[k]) != REG_NONE) return true;
    for (uint32_t k = 0; i->op == OP_CODE_CHECKPOINT && k < i->nsrc; k++)
        if (diff_cot(d, i->src[k]) != REG_NONE) return true;
    return false;
}

static void copy_fwd(diff *d, const instr *i)
{
    if (i->op == OP_CODE_SELF) { /* in fwd, the running function is over derived Code */
        instr *n = fwd_like(d, i, OP_CODE_SELF, i->imm + 1, 1, 0);
        if (!n) return;
        n->dst[0] = i->dst[0];
        diff_push_fwd(d, n);
        return;
    }
    block tmp = {0};
    cloner c = {.b = &d->fb, .from = d->f};
    clone_instr(&c, i, &tmp);
    if (tmp.n) diff_push_fwd(d, tmp.list[0]);
    if (d->fb.failed) d->failed = true;
}

/* All uses of r are behind: its running cotangent is the whole one. */
static void note_whole(diff *d, reg r)
{
    reg g = d->failed ? REG_NONE : diff_cot(d, r);
    if (g == REG_NONE) return;
    regs_add(d, &d->whole, g);
    regs_add(d, &d->whole_of, r);
}

/* For the views: see code.h. */
static void tell_whole(diff *d)
{
    code *c = d->rb.c;
    uint32_t n = d->failed ? 0 : d->whole.n;
    c->cots = n ? arena_alloc(&c->arena, n * sizeof *c->cots) : NULL;
    if (!c->cots) return; /* without it there is less to see */
    c->ncots = n;
    for (uint32_t k = 0; k < n; k++) c->cots[k] = (struct cotangent_of){d->whole_of.of[k], d->whole.of[k]};
}

static void step(diff *d, const instr *i)
{
    d->rb.where = i->at;
    d->rb.point = i->point;
    for (uint32_t k = 0; k < i->ndst; k++) note_whole(d, i->dst[k]);
    if (i->op == OP_CODE_CONST && i->ndst) {
        copy_fwd(d, i);
        return;
    }
    if (i->op == OP_CODE_BUDGET || i->op == OP_CODE_BUDGETEND) { /* the adjoint of what lies between has the same limit */
        copy_fwd(d, i);
        bool opens = i->op == OP_CODE_BUDGETEND;
        const block_options *o = opens ? NULL : &d->f->options[i->imm];
        if (opens) {
            /* The budget is known at BUDGET: its options are put in there. */
            instr *r = builder_add(&d->rb, OP_CODE_BUDGET, 0, 1, 0, NULL);
            if (!r) {
                d->failed = true;
                return;
            }
            diff_cot_set(d, i->src[0], r->dst[0]);
            d->limits = r;
        } else {
            if (d->limits) d->limits->imm = builder_options(&d->rb, o);
            reg was = diff_cot(d, i->dst[0]);
            builder_add(&d->rb, OP_CODE_BUDGETEND, 0, 0, 1, &was);
        }
        return;
    }
    if (!wanted(d, i)) {
        copy_fwd(d, i);
        return;
    }
    switch (i->op) {
    case OP_CODE_IF: diff_if(d, i); return;
    case OP_CODE_LOOP: diff_loop(d, i); return;
    case OP_CODE_CHECKPOINT:
        if (d->f->options[i->imm].policy == KEEP_EVERYTHING || d->f->options[i->imm].slots || d->f->options[i->imm].budget)
            diff_everything(d, i);
        else diff_checkpoint(d, i);
        return;
    case OP_CODE_CALL:
        if (i->imm & (CALL_SPREAD | CALL_PACK)) {
            if (i->imm & CALL_SPREAD) {
                diff_call_spread(d, i);
                return;
            }
            /* PACK of operands by position: as a spread call of their tuple. */
            instr *t = fwd_like(d, i, OP_CODE_TUPLE, 0, 1, i->nsrc - 1);
            instr *n = fwd_like(d, i, OP_CODE_CALL, i->imm | CALL_SPREAD, 1, 2);
            if (!t || !n) return;
            memcpy(t->src, i->src + 1, (i->nsrc - 1) * sizeof(reg));
            reg args = t->dst[0] = diff_fwd_reg(d, 0);
            bool on = false;
            for (uint32_t k = 1; k < i->nsrc; k++) on |= d->active[i->src[k]];
            diff_activate(d, args, on);
            diff_push_fwd(d, t);
            n->src[0] = i->src[0];
            n->src[1] = args;
            n->dst[0] = i->dst[0];
            diff_call_spread(d, n);
            reg g = diff_cot(d, args);
            if (g != REG_NONE) acc_elements(d, g, i->nsrc - 1, i->src + 1);
            return;
        }
        diff_call(d, i);
        return;
    case OP_CODE_TRY:
    case OP_CODE_MEASURE: diff_call_spread(d, i); return;
    default: break;
    }
    copy_fwd(d, i);
    reg g = i->ndst == 1 ? diff_cot(d, i->dst[0]) : REG_NONE;
    switch (i->op) {
    case OP_CODE_PRIM: rev_prim(d, i); break;
    case OP_CODE_REPLAYABLE: break; /* its block takes the cotangent */
    case OP_CODE_FORCE: {
        reg *gs = result_cots(d, i, i->ndst);
        if (gs) diff_acc(d, i->src[0], rev_op(d, OP_CODE_TUPLE, 0, i->ndst, gs + 1));
        break;
    }
    case OP_CODE_TUPLE:
    case OP_CODE_CLOSURE: acc_elements(d, g, i->nsrc, i->src); break;
    case OP_CODE_SELF: acc_elements(d, g, d->f->ncaptures, d->f->body->params); break;
    case OP_CODE_UNPACK: {
        reg *gs = result_cots(d, i, i->ndst);
        if (gs) diff_acc(d, i->src[0], rev_op(d, OP_CODE_TUPLE, 0, i->ndst, gs + 1));
        break;
    }
    case OP_CODE_RECORD:
        for (uint32_t k = 0; k < i->nsrc; k++)
            if (d->active[i->src[k]])
                diff_acc(d, i->src[k], diff_rev_prim(d, PRIM_cot_field, 2, (reg[]){g, name_const(d, d->f->names[i->imm].names[k])}));
        break;
    case OP_CODE_FIELD: {
        if (!d->active[i->src[0]]) break;
        reg acc = diff_cot_or_zero(d, i->src[0]);
        diff_cot_set(d, i->src[0], diff_rev_prim(d, PRIM_acc_field, 3, (reg[]){acc, g, name_const(d, i->imm)}));
        break;
    }
    case OP_CODE_SETFIELD: {
        reg name = name_const(d, i->imm);
        if (d->active[i->src[1]]) diff_acc(d, i->src[1], diff_rev_prim(d, PRIM_cot_field, 2, (reg[]){g, name}));
        if (d->active[i->src[0]]) diff_acc(d, i->src[0], diff_rev_prim(d, PRIM_cot_clear, 2, (reg[]){g, name}));
        break;
    }
    case OP_CODE_SPREAD:
    case OP_CODE_BIND: rev_bind(d, i, g); break;
    case OP_CODE_UNBIND: rev_unbind(d, i, g); break;
    case OP_CODE_DEFINED:
    case OP_CODE_DERIVE: diff_acc(d, i->src[0], g); break;
    case OP_CODE_SELDEF: {
        reg t = diff_import(d, i->src[0]), z = diff_zero(d);
        if (d->active[i->src[1]]) diff_acc(d, i->src[1], rev_op(d, OP_CODE_SELDEF, 0, 3, (reg[]){t, g, z}));
        if (d->active[i->src[2]]) diff_acc(d, i->src[2], rev_op(d, OP_CODE_SELDEF, 0, 3, (reg[]){t, z, g}));
        break;
    }
    case OP_CODE_TAPEPUSH: {
        instr *r = builder_add(&d->rb, OP_CODE_TAPEPOP, 0, i->nsrc, 1, &g);
        if (!r) {
            d->failed = true;
            break;
        }
        for (uint32_t k = 0; k < i->nsrc; k++) diff_acc(d, i->src[k], r->dst[k]);
        break;
    }
    case OP_CODE_TAPEPOP: {
        reg *gs = result_cots(d, i, i->ndst);
        if (gs) diff_acc(d, i->src[0], rev_op(d, OP_CODE_TAPEPUSH, 0, i->ndst, gs + 1));
        break;
    }
    default: vm_fail(d->m, DIAG_INTERNAL, "no derivative of opcode `%s`", op_rows[i->op].name); d->failed = true;
    }
}

void diff_activate(diff *d, reg r, bool on)
{
    if (d->failed) return;
    if (r >= d->nactive) {
        uint32_t more = d->nactive * 2 > r + 1 ? d->nactive * 2 : r + 1;
        uint8_t *p = arena_alloc(&d->arena, more);
        if (!p) {
            d->failed = true;
            vm_out_of_memory(d->m);
            return;
        }
        memcpy(p, d->active, d->nactive);
        d->active = p;
        d->nactive = more;
    }
    d->active[r] = on;
}

/* --- scopes ---------------------------------------------------------------------------------- */

scope *scope_open(diff *d, scope_kind kind, const block *primal)
{
    scope *s = arena_alloc(&d->arena, sizeof *s);
    if (s) s->slots = arena_alloc(&d->arena, (primal->n + 1) * sizeof *s->slots);
    if (!s || !s->slots) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return NULL;
    }
    s->parent = d->at;
    s->kind = kind;
    s->primal = primal;
    s->rev = builder_block(&d->rb, 0);
    for (uint32_t k = 0; k < primal->nparams; k++) diff_define(d, primal->params[k], s, 0);
    for (uint32_t n = 0; n + 1 < primal->n; n++) {
        const instr *i = primal->list[n];
        for (uint32_t k = 0; k < i->ndst; k++) {
            diff_define(d, i->dst[k], s, n + 1);
            if (i->op == OP_CODE_CONST && !d->failed) d->info[i->dst[k]].def = i;
        }
    }
    if (d->fb.failed || d->rb.failed) d->failed = true;
    return s;
}

void scope_walk(diff *d, scope *s)
{
    scope *outside = d->at;
    block *rev_outside = d->rb.at;
    span where = d->rb.where; /* what the caller adds afterwards has its own place */
    uint32_t point = d->rb.point;
    d->at = s;
    d->rb.at = s->rev;
    for (uint32_t n = s->primal->n - 1; n-- > 0 && !d->failed;) {
        s->now = n + 1;
        d->at = s;
        d->rb.at = s->rev;
        step(d, s->primal->list[n]);
        if (d->fb.failed || d->rb.failed) d->failed = true;
    }
    scope_settle(d, s);
    d->at = outside;
    d->rb.at = rev_outside;
    d->rb.where = where;
    d->rb.point = point;
}

void scope_emit_fwd(diff *d, scope *s, block *into)
{
    for (uint32_t n = 0; n < s->primal->n && !d->failed; n++) {
        for (uint32_t k = 0; k < s->slots[n].main.n; k++) builder_append(&d->fb, into, s->slots[n].main.of[k]);
        for (uint32_t k = 0; k < s->slots[n].after.n; k++) builder_append(&d->fb, into, s->slots[n].after.of[k]);
    }
}

void scope_emit_rev(diff *d, scope *s, block *into)
{
    for (uint32_t k = 0; k < s->prologue.n; k++) builder_append(&d->rb, into, s->prologue.of[k]);
    for (uint32_t k = 0; k < s->rev->n; k++) builder_append(&d->rb, into, s->rev->list[k]);
}

/* Replaces every register that stands for another (arms name their saved values after the slots). */
static void resolve_aliases(diff *d, block *b)
{
    for (uint32_t n = 0; n < b->n; n++) {
        instr *i = b->list[n];
        for (uint32_t k = 0; k < i->nsrc; k++)
            while (i->src[k] < d->nalias && d->alias[i->src[k]] != REG_NONE) i->src[k] = d->alias[i->src[k]];
        for (uint32_t k = 0; k < i->nblocks; k++) resolve_aliases(d, i->blocks[k]);
    }
}

void diff_alias(diff *d, reg r, reg of)
{
    diff_table_reach(d, &d->alias, &d->nalias, r);
    if (!d->failed) d->alias[r] = of;
}

/* --- the whole function ---------------------------------------------------------------------- */

static void describe_as(builder *b, const code *f)
{
    code *c = b->c;
    c->at = f->at;
    c->help = NULL;
    b->where = f->at;
}

/* fwd's registers are the primal's, under the same numbers. */
void diff_same_regs(builder *b, const code *f)
{
    while (b->c->nregs < f->nregs && !b->failed) builder_reg(b, 0);
    if (b->failed) return;
    if (f->nregs) memcpy(b->c->reg_names, f->reg_names, f->nregs * sizeof(symbol));
    if (f->body->nparams) memcpy(b->c->body->params, f->body->params, f->body->nparams * sizeof(reg));
    if (f->nparams) memcpy(b->c->param_names, f->param_names, f->nparams * sizeof(symbol));
    b->c->required = f->required;
    b->c->rest = f->rest;
}

/* The tuple of the cotangents of n registers; symbolic zero when none has one. */
static reg cot_tuple_of(diff *d, uint32_t n, const reg *r)
{
    reg *g = arena_alloc(&d->arena, (n + 1) * sizeof(reg));
    if (!g) {
        d->failed = true;
        vm_out_of_memory(d->m);
        return 0;
    }
    bool any = false;
    for (uint32_t k = 0; k < n; k++) {
        g[k] = d->active[r[k]] ? diff_cot(d, r[k]) : REG_NONE;
        if (g[k] == REG_NONE) g[k] = diff_zero(d);
        else any = true;
    }
    return any ? rev_op(d, OP_CODE_TUPLE, 0, n, g) : diff_zero(d);
}

static code *finish_rev(diff *d, scope *s, uint32_t nresults)
{
    code *f = d->f;
    builder *rb = &d->rb;
    rb->at = rb->c->body;
    d->at = s;
    if (!d->failed) {
        rb->at = s->rev;
        reg out[2];
        out[0] = cot_tuple_of(d, f->ncaptures, f->body->params);
        uint32_t plain = f->nparams - (f->rest ? 1 : 0);
        const reg *params = f->body->params + f->ncaptures;
        out[1] = cot_tuple_of(d, plain, params);
        if (f->rest && d->active[params[plain]] && diff_cot(d, params[plain]) != REG_NONE)
            out[1] = diff_rev_prim(d, PRIM_cot_join, 3, (reg[]){out[1], diff_cot(d, params[plain]), diff_rev_const(d, value_i64(plain))});
        rb->at = rb->c->body;
        scope_emit_rev(d, s, rb->c->body);
        builder_return(rb, 2, out);
        resolve_aliases(d, rb->c->body);
        /* Captures: the saved values, then the cotangents as parameters. */
        block *body = rb->c->body;
        uint32_t n = s->saved.n;
        reg *all = arena_alloc(&rb->c->arena, (n + nresults + 1) * sizeof(reg));
        if (!all) {
            d->failed = true;
            vm_out_of_memory(d->m);
        } else {
            if (n) memcpy(all, s->rev_saved.of, n * sizeof(reg));
            memcpy(all + n, body->params, nresults * sizeof(reg));
            body->params = all;
            body->nparams = n + nresults;
            rb->c->ncaptures = n;
        }
    }
    tell_whole(d);
    if (!d->failed && !code_drop_dead(rb, false)) d->failed = true;
    if (d->failed) rb->failed = true;
    return builder_finish_derived(rb, f, CODE_REV);
}

code *diff_fwd(vm *m, code *primal, uint64_t mask, derive_kind kind)
{
    if (kind == DERIVE_PIECES && !m->budgeted) kind = DERIVE_WHOLE;
    code *f = kind == DERIVE_PIECES && primal->role == CODE_PLAIN ? code_segment(primal) : primal;
    if (!f) return NULL;
    diff d = {.m = m, .f = f, .kind = kind, .mask = mask, .zero = REG_NONE};
    arena_open(&d.arena, &m->mem, MEM_CODE);
    d.nactive = f->nregs + 1;
    d.active = arena_alloc(&d.arena, d.nactive);
    uint32_t nresults = f->nresults;
    builder_open(&d.fb, m, f->name, f->src, f->ncaptures, f->nparams);
    builder_open(&d.rb, m, f->name, f->src, 0, nresults);
    d.rb.flags = INSTR_ADJOINT;
    describe_as(&d.fb, f);
    describe_as(&d.rb, f);
    diff_same_regs(&d.fb, f);
    if (!d.active) {
        d.failed = true;
        vm_out_of_memory(m);
    } else if (!diff_activity(m, f, mask, d.active)) d.failed = true;
    scope *s = d.failed ? NULL : scope_open(&d, SCOPE_FUNCTION, f->body);
    if (s && !d.failed) {
        const instr *ret = f->body->list[f->body->n - 1];
        d.at = s;
        d.rb.at = s->rev;
        for (uint32_t k = 0; k < nresults; k++) diff_acc(&d, ret->src[k], d.rb.c->body->params[k]);
        scope_walk(&d, s);
    } else d.failed = true;
    d.at = s;
    code *rev = NULL;
    if (s) rev = finish_rev(&d, s, nresults);
    else {
        d.rb.failed = true;
        builder_finish(&d.rb);
    }
    if (!rev) {
        d.fb.failed = true;
        builder_finish(&d.fb);
        if (d.arena.refused) vm_out_of_memory(m);
        arena_close(&d.arena);
        return NULL;
    }
    /* fwd: the primal's instructions, then the pullback. */
    builder *fb = &d.fb;
    const instr *ret = f->body->list[f->body->n - 1];
    fb->at = fb->c->body;
    scope_emit_fwd(&d, s, fb->c->body);
    fb->flags = INSTR_RESIDUAL;
    instr *pullback = builder_add(fb, OP_CODE_CLOSURE, builder_code(fb, code_retain(rev)), 1, s->saved.n, s->saved.of);
    fb->flags = 0;
    reg *out = arena_alloc(&d.arena, (nresults + 1) * sizeof(reg));
    if (!out || !pullback) {
        fb->failed = true;
        vm_out_of_memory(m);
    } else {
        memcpy(out, ret->src, nresults * sizeof(reg));
        out[nresults] = pullback->dst[0];
        builder_return(fb, nresults + 1, out);
    }
    if (d.failed || (!fb->failed && !code_drop_dead(fb, false))) fb->failed = true;
    code *fwd = builder_finish_derived(fb, primal, CODE_FWD);
    if (!fwd && d.arena.refused) vm_out_of_memory(m);
    arena_close(&d.arena);
    return fwd;
}
