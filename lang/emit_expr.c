/* emit_expr.c: expressions. Chains to the left (`a + b + …`, `x.a[1].b`, `x |> f |> g`) are walked by a
 * loop; everything else by recursion, whose depth the parser has limited. */
#include "emit_parts.h"
#include <math.h>
#include <string.h>

/* The part of n that is emitted first and may be a long chain; NULL: none. */
static node *spine_of(node *n)
{
    switch (n->kind) {
    case N_BINARY:
    case N_UNARY:
    case N_TRANSPOSE:
    case N_INDEX:
    case N_FIELD: return n->a;
    case N_CALL:
        if (n->flag) return n->list->kind != N_NAMED && n->list->kind != N_SPREAD ? n->list : NULL;
        return n->a->kind == N_NAME ? NULL : n->a;
    default: return NULL;
    }
}

static const char *oper_row(oper o)
{
    static const char *const rows[] = {
        [OP_EQ] = "eq",         [OP_NE] = "ne",         [OP_LT] = "lt",   [OP_LE] = "le",   [OP_GT] = "gt",   [OP_GE] = "ge",
        [OP_RANGE] = "__range", [OP_ADD] = "add",       [OP_SUB] = "sub", [OP_MUL] = "mul", [OP_DIV] = "div", [OP_FLOORDIV] = "floordiv",
        [OP_MOD] = "mod",       [OP_MATMUL] = "matmul", [OP_NEG] = "neg", [OP_POW] = "pow", [OP_NOT] = "not"};
    return rows[o];
}

reg emit_binary(emitter *e, oper o, const reg ab[2], span at, uint32_t point, span at_a, span at_b)
{
    emit_at(e, at, point);
    return emit_prim(e, oper_row(o), 2, ab, (span[]){at_a, at_b});
}

/* `and`, `or`: a scalar that decides is the result and the right side is not evaluated. */
static reg emit_logic(emitter *e, node *n, reg a)
{
    emit_fn *f = e->f;
    bool is_or = n->oper == OP_OR;
    emit_at(e, n->at, n->op_at.lo);
    reg decides = emit_prim(e, "__decides", 2, (reg[]){a, emit_const(e, value_bool(is_or))}, (span[]){n->a->at, n->op_at});
    region_due(e);
    region r;
    region_open(e, &r, builder_block(&f->b, 0), false);
    outcome yes = region_close(e, a);
    region_open(e, &r, builder_block(&f->b, 0), false);
    reg b = emit_expr(e, n->b);
    emit_at(e, n->at, n->op_at.lo);
    b = emit_prim(e, is_or ? "or" : "and", 2, (reg[]){a, b}, (span[]){n->a->at, n->b->at});
    outcome no = region_close(e, b);
    return join_arms(e, decides, &yes, &no, true, n->at, n->op_at.lo);
}

/* --- indices ---------------------------------------------------------------------------------- */

/* A whole number known now, or nothing: what slices are usually made of. */
static bool slice_part(const node *n, value *out)
{
    *out = value_none();
    if (!n || n->kind == N_NONE) return true;
    double sign = 1;
    if (n->kind == N_UNARY && n->oper == OP_NEG) sign = -1, n = n->a;
    if (n->kind != N_NUMBER || n->number != floor(n->number) || n->number >= 0x1p53) return false;
    *out = value_i64((int64_t)(sign * n->number));
    return true;
}

static reg emit_slice(emitter *e, node *n)
{
    value a, b, c;
    if (slice_part(n->a, &a) && slice_part(n->b, &b) && slice_part(n->c, &c) && !(c.tag == V_I64 && c.u.i == 0)) {
        slice *s = slice_new(e->m, a, b, c);
        if (!s) {
            e->failed = true;
            return 0;
        }
        return emit_const(e, value_object(&s->h));
    }
    node *parts[3] = {n->a, n->b, n->c};
    reg r[3];
    span at[3];
    for (int i = 0; i < 3; i++) {
        r[i] = parts[i] ? emit_expr(e, parts[i]) : emit_const(e, value_none());
        at[i] = parts[i] ? parts[i]->at : n->at;
    }
    emit_at(e, n->at, n->at.lo);
    return emit_prim(e, "__slice", 3, r, at);
}

static reg emit_component(emitter *e, node *n)
{
    emit_at(e, n->at, n->at.lo);
    if (n->kind == N_SLICE) return emit_slice(e, n);
    if (n->kind == N_ELLIPSIS) return emit_const(e, (value){.tag = V_ELLIPSIS});
    return emit_expr(e, n);
}

static reg *emit_list(emitter *e, node *list, uint32_t *count, reg (*one)(emitter *, node *))
{
    uint32_t n = 0;
    for (node *x = list; x; x = x->next) n++;
    reg *r = emit_take(e, (n + 1) * sizeof *r);
    *count = n;
    if (!r) return NULL;
    n = 0;
    for (node *x = list; x && !e->failed; x = x->next) r[n++] = one(e, x);
    return r;
}

reg emit_index(emitter *e, node *n)
{
    uint32_t count;
    reg *r = emit_list(e, n->list, &count, emit_component);
    if (!r) return 0;
    if (count == 1) return r[0];
    emit_at(e, n->op_at, n->op_at.lo);
    return emit_op1(e, OP_CODE_TUPLE, 0, count, r);
}

/* --- the parts of a chain --------------------------------------------------------------------- */

static reg emit_record(emitter *e, node *n)
{
    uint32_t count = 0;
    for (node *x = n->list; x; x = x->next) count++;
    reg *r = emit_take(e, (count + 1) * sizeof *r);
    symbol *names = emit_take(e, (count + 1) * sizeof *names);
    if (!r || !names) return 0;
    count = 0;
    for (node *x = n->list; x && !e->failed; x = x->next) {
        names[count] = x->name;
        r[count++] = x->a->kind == N_FN && !x->a->fn->name ? emit_closure(e, x->a, x->name) : emit_expr(e, x->a);
    }
    emit_at(e, n->at, n->at.lo);
    region_due(e);
    return emit_op1(e, OP_CODE_RECORD, builder_names(&e->f->b, count, names), count, r);
}

/* n without a chain: what stands at the left end. */
static reg emit_leaf(emitter *e, node *n)
{
    emit_at(e, n->at, n->op_at.lo);
    switch (n->kind) {
    case N_NUMBER: return emit_const(e, value_weak(n->number, n->whole ? WEAK_WHOLE : WEAK_FLOAT));
    case N_STRING: return emit_string(e, n->str, n->length);
    case N_BOOL: return emit_const(e, value_bool(n->flag));
    case N_NONE: return emit_const(e, value_none());
    case N_NAME: return emit_ref(e, n->ref, n->name, n->at);
    case N_ARRAY:
    case N_TUPLE: {
        uint32_t count;
        reg *r = emit_list(e, n->list, &count, emit_expr);
        if (!r) return 0;
        emit_at(e, n->at, n->at.lo);
        reg t = emit_op1(e, OP_CODE_TUPLE, 0, count, r);
        return n->kind == N_TUPLE ? t : emit_prim(e, "__array", 1, &t, NULL);
    }
    case N_RECORD: return emit_record(e, n);
    case N_FN: {
        reg r = emit_closure(e, n, 0);
        if (n->fn->name && n->fn->top) emit_op(e, OP_CODE_SETGLOBAL, emit_global(e, n->fn->name), 0, 1, &r);
        else if (n->fn->name) emit_assign_var(e, n->ref.index, r, false);
        return r;
    }
    case N_IF: return emit_if(e, n, NULL, true, false);
    case N_CHECKPOINT: return emit_checkpoint(e, n, true, false);
    case N_BLOCK: return emit_statements(e, n->list, true, false);
    case N_CALL: return emit_call(e, n, REG_NONE);
    default: emit_fail(e, n->at, "this cannot stand here"); return 0;
    }
}

/* The rest of n, given its left end. */
static reg emit_link(emitter *e, node *n, reg a)
{
    switch (n->kind) {
    case N_BINARY: {
        if (n->oper == OP_AND || n->oper == OP_OR) return emit_logic(e, n, a);
        reg b = emit_expr(e, n->b);
        return emit_binary(e, n->oper, (reg[]){a, b}, n->at, n->op_at.lo, n->a->at, n->b->at);
    }
    case N_UNARY: emit_at(e, n->at, n->op_at.lo); return emit_prim(e, oper_row(n->oper), 1, &a, &n->a->at);
    case N_TRANSPOSE: emit_at(e, n->at, n->op_at.lo); return emit_prim(e, "__transpose_last", 1, &a, &n->a->at);
    case N_INDEX: {
        reg ix = emit_index(e, n);
        emit_at(e, n->at, n->op_at.lo);
        return emit_prim(e, "__index", 2, (reg[]){a, ix}, (span[]){n->a->at, n->op_at});
    }
    case N_FIELD:
        emit_at(e, n->at, n->op_at.lo);
        e->f->b.src_at = &n->a->at;
        return emit_op1(e, OP_CODE_FIELD, n->name, 1, &a);
    default: return emit_call(e, n, a);
    }
}

reg emit_expr(emitter *e, node *n)
{
    if (!emit_enter(e, n->at)) return 0;
    uint32_t links = 0;
    for (node *p = n; spine_of(p); p = spine_of(p)) links++;
    node **chain = links ? emit_take(e, links * sizeof *chain) : NULL;
    if (links && !chain) return 0;
    node *p = n;
    for (uint32_t i = 0; i < links; i++, p = spine_of(p)) {
        /* A negative number is a constant. */
        if (p->kind == N_UNARY && p->oper == OP_NEG && p->a->kind == N_NUMBER && p->a->number != 0) {
            links = i;
            break;
        }
        chain[i] = p;
    }
    reg r;
    if (p->kind == N_UNARY) {
        emit_at(e, p->at, p->op_at.lo);
        r = emit_const(e, value_weak(-p->a->number, p->a->whole ? WEAK_WHOLE : WEAK_FLOAT));
    } else r = emit_leaf(e, p);
    for (uint32_t i = links; i > 0 && !e->failed && !e->f->b.failed; i--) r = emit_link(e, chain[i - 1], r);
    emit_leave(e);
    return r;
}
