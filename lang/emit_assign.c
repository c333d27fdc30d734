/* emit_assign.c: targets. `p.layers[2].w[0, :] = v` reads the parts from the base outwards, takes each
 * part out of its container (so that nobody else holds it while it is updated, and the update happens
 * in place), sets the innermost and puts everything back. */
#include "emit_parts.h"

typedef struct path {
    node **links;
    reg *index, *parts;
    uint32_t n;
    node *base;
} path;

static bool path_of(emitter *e, node *t, path *p)
{
    *p = (path){0};
    for (node *x = t; x->kind == N_INDEX || x->kind == N_FIELD; x = x->a) p->n++;
    p->links = emit_take(e, p->n * sizeof *p->links);
    p->index = emit_take(e, p->n * sizeof(reg));
    p->parts = emit_take(e, (p->n + 1) * sizeof(reg));
    if (e->failed) return false;
    uint32_t i = p->n;
    for (; i > 0; t = t->a) p->links[--i] = t;
    p->base = t;
    if (t->kind != N_NAME || t->ref.kind != REF_LOCAL) return emit_fail(e, t->at, "this cannot be assigned to");
    return true;
}

static reg get_part(emitter *e, const node *link, reg from, reg index)
{
    emit_at(e, link->at, link->op_at.lo);
    if (link->kind == N_INDEX) return emit_prim(e, "__index", 2, (reg[]){from, index}, (span[]){link->a->at, link->op_at});
    e->f->b.src_at = &link->a->at;
    return emit_op1(e, OP_CODE_FIELD, link->name, 1, &from);
}

static reg set_part(emitter *e, const node *link, reg in, reg index, reg part, span at)
{
    emit_at(e, link->at, link->op_at.lo);
    if (link->kind == N_INDEX) return emit_prim(e, "__setindex", 3, (reg[]){in, index, part}, (span[]){link->a->at, link->op_at, at});
    span spans[2] = {link->a->at, at};
    region_due(e);
    e->f->b.src_at = spans;
    return emit_op1(e, OP_CODE_SETFIELD, link->name, 2, (reg[]){in, part});
}

static reg take_part(emitter *e, const node *link, reg in, reg index)
{
    emit_at(e, link->at, link->op_at.lo);
    if (link->kind == N_INDEX) return emit_prim(e, "__takeout", 2, (reg[]){in, index}, NULL);
    reg none = emit_const(e, value_none());
    return emit_op1(e, OP_CODE_SETFIELD, link->name, 2, (reg[]){in, none});
}

/* Everything that is read of a path before its last link. */
static void read_path(emitter *e, path *p)
{
    emit_at(e, p->base->at, p->base->at.lo);
    p->parts[0] = emit_read(e, p->base->ref.index, p->base->at);
    for (uint32_t i = 0; i < p->n && !e->failed; i++)
        if (p->links[i]->kind == N_INDEX) p->index[i] = emit_index(e, p->links[i]);
    for (uint32_t i = 0; i + 1 < p->n && !e->failed; i++) p->parts[i + 1] = get_part(e, p->links[i], p->parts[i], p->index[i]);
}

static void write_path(emitter *e, path *p, reg v, span at)
{
    if (e->failed) return;
    for (uint32_t i = 0; i + 1 < p->n; i++) {
        reg held = take_part(e, p->links[i], p->parts[i], p->index[i]);
        p->parts[i] = held;
    }
    for (uint32_t i = p->n; i > 0; i--) v = set_part(e, p->links[i - 1], p->parts[i - 1], p->index[i - 1], v, at);
    emit_assign_var(e, p->base->ref.index, v, false);
}

void emit_target(emitter *e, node *t, reg v)
{
    if (e->failed) return;
    if (t->kind == N_NAME) {
        emit_assign_var(e, t->ref.index, v, false);
        return;
    }
    if (t->kind == N_TUPLE) {
        uint32_t n = 0;
        for (node *x = t->list; x; x = x->next) n++;
        emit_at(e, t->at, t->at.lo);
        instr *i = emit_op(e, OP_CODE_UNPACK, 0, n, 1, &v);
        if (!i) return;
        n = 0;
        for (node *x = t->list; x; x = x->next) emit_target(e, x, i->dst[n++]);
        return;
    }
    path p;
    if (!path_of(e, t, &p)) return;
    read_path(e, &p);
    write_path(e, &p, v, t->at);
}

static void emit_update(emitter *e, node *n)
{
    node *t = n->a;
    if (t->kind == N_NAME) {
        emit_at(e, t->at, t->at.lo);
        reg ab[2] = {emit_read(e, t->ref.index, t->at)};
        ab[1] = emit_expr(e, n->b);
        reg r = emit_binary(e, n->oper, ab, n->at, n->op_at.lo, t->at, n->b->at);
        emit_assign_var(e, t->ref.index, r, false);
        return;
    }
    path p;
    if (!path_of(e, t, &p)) return;
    read_path(e, &p);
    reg ab[2] = {get_part(e, p.links[p.n - 1], p.parts[p.n - 1], p.index[p.n - 1])};
    ab[1] = emit_expr(e, n->b);
    reg r = emit_binary(e, n->oper, ab, n->at, n->op_at.lo, t->at, n->b->at);
    write_path(e, &p, r, n->b->at);
}

void emit_assign(emitter *e, node *n)
{
    if (n->oper != OP_NONE) {
        emit_update(e, n);
        return;
    }
    node *v = n->b;
    reg r = v->kind == N_FN && !v->fn->name && n->a->kind == N_NAME ? emit_closure(e, v, n->a->name) : emit_expr(e, v);
    emit_target(e, n->a, r);
}
