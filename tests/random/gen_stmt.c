/* gen_stmt.c: random statements and functions.
 *
 * A variable is visible where it has certainly been assigned: what a branch or a loop's body assigns
 * for the first time is forgotten after it, what a checkpoint block assigns stays (a block opens no
 * scope). A function assigns only names of its own, new or its own earlier ones, so that captured
 * names are never made local by accident. Loops end: ranges are short, and a `while` counts. */
#include "gen_parts.h"
#include <string.h>

static var *declare(gen *g, const char *name, const type *t, int owner)
{
    if (g->nvars == VARS_MAX) g->nvars--; /* the newest is forgotten: harmless */
    g->vars[g->nvars] = (var){.name = name, .type = t, .owner = owner};
    return &g->vars[g->nvars++];
}
static const char *fresh(gen *g, const char *stem) { return gen_format(g, "%s%d", stem, ++g->serial); }

/* A variable of this function that may be assigned again; kind < 0: of any type. NULL: none. */
static var *own_var(gen *g, const place *at, int kind, int rank)
{
    var *found = NULL;
    int n = 0;
    for (int i = 0; i < g->nvars; i++) {
        var *v = &g->vars[i];
        if (v->owner != at->fn || v->fixed || v->global) continue;
        if (kind >= 0 && (int)v->type->kind != kind) continue;
        if (rank >= 0 && v->type->rank != rank) continue;
        if (gen_below(g, ++n) == 0) found = v;
    }
    return found;
}

static const char *options(gen *g)
{
    switch (gen_below(g, 20)) {
    case 0: return "(save = \"nothing\") ";
    case 1: return "(save = \"everything\") ";
    case 2: return "(save = \"dots\") ";
    case 3: return "(save = \"dots_no_batch\") ";
    case 4: return "(save = [\"n0\", \"n1\"]) ";
    case 5: return "(save = not_names([\"n1\"])) ";
    case 6: return "(save = \"n2\") ";
    case 7: return "(save = [\"n0\"]) ";
    case 8: return gen_format(g, "(budget = %d) ", 64 << gen_below(g, 12)); /* bytes: some are refused */
    default: return "";
    }
}

static const char *slot_options(gen *g)
{
    int s = 1 + gen_below(g, 5);
    switch (gen_below(g, 8)) {
    case 0: return gen_format(g, "(slots = %d, save = \"dots\") ", s);
    case 1: return gen_format(g, "(slots = %d, save = [\"n0\", \"n1\"]) ", s);
    default: return gen_format(g, "(slots = %d) ", s);
    }
}

/* --- functions ------------------------------------------------------------------------------ */
/* The result of outs: a tuple of a scalar and a vector, of which the scalar mixes variables that the body has
   assigned, so that little of it is computed for nothing. */
static node *gather(gen *g, const place *at, const type *t)
{
    node *sum = gen_part(g, t->part[0], 2, "", 1, gen_tame(g, at, t->part[0], 2));
    const char *form = "$";
    for (int i = 0; i < 6; i++) {
        const var *v = own_var(g, at, T_FLOAT, -1);
        if (!v) continue;
        form = gen_format(g, "%s + sum($)", form);
        gen_add(g, sum, gen_part(g, v->type, 2, gen_chance(g, 30) ? gen_format(g, "sin(%s)", v->name) : v->name, 0));
    }
    sum->form = form;
    return gen_part(g, t, 0, "($, $)", 2, sum, gen_tame(g, at, t->part[1], 3));
}

/* Parameters and body of a function of type t: ends `form`, which has its head, and adds the kids. A
   body with statements when room > 0. */
static int function_body(gen *g, const place *outer, node *n, const char *head, const type *t, const char *const *params, int room,
                         bool pure)
{
    int vars = g->nvars, cost = g->cost, had = g->room;
    place at = {.fn = ++g->functions, .result = t->part[t->n - 1], .depth = outer ? outer->depth + 1 : 0, .times = 1, .pure = pure};
    g->cost = 1;
    const char *form = gen_format(g, "%s(", head);
    for (int i = 0; i + 1 < t->n; i++) {
        const char *name = params && params[i] ? params[i] : fresh(g, "a");
        const type *p = t->part[i];
        form = gen_format(g, "%s%s%s", form, i ? ", " : "", name);
        if (p->kind == T_FLOAT && p->rank > 0 && gen_chance(g, 15)) {
            if (p->rank == 1) form = gen_format(g, gen_chance(g, 50) ? "%s: [%d]" : "%s: [_]", form, p->dim[0]);
            else form = gen_format(g, "%s: [%d, _]", form, p->dim[0]);
        }
        declare(g, name, p, at.fn)->cost = 8;
    }
    if (room > 0) {
        g->room = room;
        node *seq = gen_node(g, N_SEQ, "", 0);
        gen_statements(g, at, seq, params ? room : 1 + gen_below(g, room < 8 ? room : 8));
        gen_add(g, seq, params ? gather(g, &at, at.result) : gen_tame(g, &at, at.result, 3));
        n->form = gen_format(g, "%s) {\n$\t}", form);
        gen_add(g, n, seq);
    } else {
        n->form = gen_format(g, "%s) = $", form);
        gen_add(g, n, gen_tame(g, &at, at.result, 2));
    }
    int made = g->cost;
    g->nvars = vars;
    g->cost = cost;
    g->room = had;
    return made;
}

node *gen_function(gen *g, const place *at, const type *t, int *cost, bool pure)
{
    node *n = gen_part(g, t, 0, "", 0);
    *cost = function_body(g, at, n, "fn", t, NULL, at->depth < 3 && gen_chance(g, 35) ? 3 : 0, pure);
    return n;
}

void gen_function_statement(gen *g, node *seq, const char *name, const type *t, const char *const *params, int room)
{
    node *n = gen_node(g, N_STMT, "", 0);
    int cost = function_body(g, NULL, n, gen_format(g, "fn %s", name), t, params, room, false);
    var *v = declare(g, name, t, 0);
    v->fixed = v->global = true;
    v->cost = cost;
    gen_add(g, seq, n);
}

/* A random function type over float-like things. */
static const type *function_type(gen *g)
{
    const type *parts[4];
    int n = 1 + gen_below(g, 3);
    for (int i = 0; i < n; i++) parts[i] = gen_chance(g, 75) ? gen_float_type(g) : gen_any_type(g, 1);
    parts[n] = gen_chance(g, 80) ? gen_float_type(g) : gen_any_type(g, 1);
    return gen_type_of_parts(g, T_FN, n + 1, parts, NULL);
}

/* fn r(n, x): calls itself, or another that calls it back, n times; some with a block around the call. */
void gen_recursive(gen *g, node *seq)
{
    const char *name = fresh(g, "rec"), *other = NULL, *d = fresh(g, "n"), *x = fresh(g, "a");
    const type *t = gen_float_type(g);
    int vars = g->nvars, cost = g->cost;
    if (gen_chance(g, 30)) other = fresh(g, "rec");
    place at = {.fn = ++g->functions, .result = t, .times = 1};
    g->cost = 1;
    g->room = 6;
    declare(g, d, gen_type_of_kind(g, T_INT), at.fn)->fixed = true;
    declare(g, x, t, at.fn);
    node *body = gen_node(g, N_SEQ, "", 0);
    gen_add(g, body, gen_node(g, N_STMT, gen_format(g, "if ((%s <= 0)) { return $ }", d), 1, gen_tame(g, &at, t, 2)));
    gen_statements(g, at, body, 1 + gen_below(g, 3));
    const char *callee = other ? other : name;
    const char *block = gen_chance(g, 40) ? "sin(checkpoint <" : NULL;
    node *arg = gen_tame(g, &at, t, 2);
    bool twice = gen_chance(g, 25) && !other;
    node *inner = gen_part(g, t, 2, gen_format(g, "%s(%s - 1, $)", callee, d), 1, arg);
    if (twice) {
        node *wrapped = inner;
        if (block) {
            wrapped = gen_node(g, N_CHECKPOINT, options(g), 1, gen_node(g, N_SEQ, "", 1, inner));
            wrapped->type = t;
        }
        gen_add(g, body, gen_part(g, t, 2, gen_format(g, "sin(%s(%s - 1, $))", callee, d), 1, wrapped));
    } else if (block) {
        node *k = gen_node(g, N_CHECKPOINT, options(g), 1, gen_node(g, N_SEQ, "", 1, inner));
        k->type = t;
        gen_add(g, body, gen_part(g, t, 2, "sin(0.7 * ($))", 1, k));
    } else {
        gen_add(g, body, gen_part(g, t, 2, "sin($)", 1, inner));
    }
    gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, "fn %s(%s, %s) {\n$\t}", name, d, x), 1, body));
    int made = g->cost;
    if (other)
        gen_add(g, seq,
                gen_node(g, N_STMT, gen_format(g, "fn %s(%s, %s) = $", other, d, x), 1,
                         gen_part(g, t, 2, gen_format(g, "%s(%s, tanh(%s))", name, d, x), 0)));
    g->nvars = vars;
    /* A front with a fixed depth, so that callers need not think of it. */
    const char *front = fresh(g, "h");
    int depth = gen_below(g, 4);
    gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, "fn %s(%s) = %s(i64(%d), %s)", front, x, name, depth, x), 0));
    const type *parts[2] = {t, t};
    var *v = declare(g, front, gen_type_of_parts(g, T_FN, 2, parts, NULL), 0);
    v->fixed = v->global = true;
    v->cost = (made + 2) * (twice ? 8 : depth + 1);
    g->cost = cost;
}

/* --- blocks --------------------------------------------------------------------------------- */
node *gen_block(gen *g, const place *at, const type *t, int depth)
{
    int vars = g->nvars;
    place in = *at;
    in.depth++;
    in.blocks++;
    in.loop = false;
    in.result = NULL;
    node *seq = gen_node(g, N_SEQ, "", 0);
    if (gen_chance(g, 60)) gen_statements(g, in, seq, 1 + gen_below(g, 2));
    gen_add(g, seq, gen_tame(g, &in, t, depth));
    g->nvars = vars;
    node *k = gen_node(g, N_CHECKPOINT, options(g), 1, seq);
    k->type = t;
    return k;
}

static void block_statement(gen *g, place at, node *seq)
{
    place in = at;
    in.depth++;
    in.blocks++;
    node *body = gen_node(g, N_SEQ, "", 0);
    if (gen_chance(g, 60)) {
        gen_statements(g, in, body, 1 + gen_below(g, 4));
        gen_add(g, seq, gen_node(g, N_CHECKPOINT, options(g), 1, body));
        return;
    }
    const type *t = gen_any_type(g, 1);
    if (gen_chance(g, 70)) gen_statements(g, in, body, 1 + gen_below(g, 3));
    gen_add(g, body, gen_tame(g, &in, t, 2));
    node *k = gen_node(g, N_CHECKPOINT, options(g), 1, body);
    k->type = t;
    const char *name = fresh(g, "v");
    gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, "%s = $", name), 1, k));
    declare(g, name, t, at.fn);
}

static void assign_again(gen *g, place at, node *seq);

/* --- control -------------------------------------------------------------------------------- */
static void branch(gen *g, place at, node *seq)
{
    int vars = g->nvars;
    place in = at;
    in.depth++;
    node *c = gen_condition(g, &at, 2), *a = gen_node(g, N_SEQ, "", 0), *b = NULL;
    gen_statements(g, in, a, 1 + gen_below(g, 3));
    g->nvars = vars;
    if (gen_chance(g, 60)) {
        b = gen_node(g, N_SEQ, "", 0);
        gen_statements(g, in, b, 1 + gen_below(g, 3));
        g->nvars = vars;
    }
    gen_add(g, seq, b ? gen_node(g, N_STMT, "if ($) {\n$\t} else {\n$\t}", 3, c, a, b) : gen_node(g, N_STMT, "if ($) {\n$\t}", 2, c, a));
}

static void loop(gen *g, place at, node *seq)
{
    int vars = g->nvars, n = gen_below(g, 5), d = gen_dim(g);
    bool slots = gen_chance(g, 35); /* the loop alone in a block with slots, often longer than there are slots */
    if (slots && gen_chance(g, 60)) n = gen_below(g, 13);
    place in = at;
    in.depth++;
    in.loop = true;
    node *body = gen_node(g, N_SEQ, "", 0), *over = NULL;
    const char *i = fresh(g, "j"), *head;
    const type *scalar = gen_type_float(g, 0, 0, 0), *integer = gen_type_of_kind(g, T_INT);
    if (d > 5) d = 3;
    int form = gen_below(g, 10);
    switch (form) {
    case 0:
    case 1:
    case 2: head = gen_format(g, "for (%s in 0..%d) {\n$\t}", i, n); break;
    case 3:
        head = gen_format(g, "for (%s in $) {\n$\t}", i);
        over = gen_expr(g, &at, gen_type_float(g, 1, n = d, 0), 2);
        break;
    case 4:
        n = d;
        head = gen_format(g, "for (%s in $) {\n$\t}", i);
        over = gen_expr(g, &at, gen_type_float(g, 2, n, gen_dim(g)), 2);
        break;
    case 5:
        head = gen_format(g, "for ((%s, x%s) in enumerate($)) {\n$\t}", i, i);
        over = gen_expr(g, &at, gen_type_float(g, 1, n = d, 0), 2);
        break;
    case 6: head = gen_format(g, "for (%s in (0..%d)[::-1]) {\n$\t}", i, n); break;
    case 7: head = gen_format(g, "while (%s < %d) {\n$\t}", i, n); break;
    default: n = slots ? 8 : 4; head = gen_format(g, "while (%s < %d and $) {\n$\t}", i, 1 + gen_below(g, n));
    }
    in.times *= n ? n : 1;
    if (in.times > 40 || g->cost > 300) return;
    if (form > 6) {
        gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, "%s = i64(0)", i), 0));
        declare(g, i, integer, at.fn)->fixed = true;
        if (form > 7) over = gen_condition(g, &at, 2);
        gen_add(g, body, gen_node(g, N_STMT, gen_format(g, "%s += 1", i), 0));
    } else if (form == 3) {
        declare(g, i, scalar, at.fn)->fixed = true;
    } else if (form == 4) {
        declare(g, i, gen_type_float(g, 1, over->type->dim[1], 0), at.fn)->fixed = true;
    } else {
        declare(g, i, integer, at.fn)->fixed = true;
        if (form == 5) declare(g, gen_format(g, "x%s", i), scalar, at.fn)->fixed = true;
    }
    gen_statements(g, in, body, 1 + gen_below(g, 4));
    for (int k = slots ? gen_below(g, 4) : 0; k > 0; k--) assign_again(g, in, body); /* carried values */
    g->nvars = vars;
    node *whole = over ? gen_node(g, N_STMT, head, 2, over, body) : gen_node(g, N_STMT, head, 1, body);
    if (slots) whole = gen_node(g, N_CHECKPOINT, slot_options(g), 1, gen_node(g, N_SEQ, "", 1, whole));
    gen_add(g, seq, whole);
}

/* A tuple grown in a loop and read in another. */
static void list(gen *g, place at, node *seq)
{
    if (!gen_knows(g, "append")) return;
    const char *t = fresh(g, "t"), *i = fresh(g, "j"), *s = fresh(g, "v");
    int n = gen_below(g, 4), vars;
    const type *scalar = gen_type_float(g, 0, 0, 0);
    place in = at;
    in.loop = true;
    in.depth++;
    in.times *= 4;
    if (in.times > 40) return;
    gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, "%s = ()", t), 0));
    vars = g->nvars;
    node *body = gen_node(g, N_SEQ, "", 0);
    declare(g, i, gen_type_of_kind(g, T_INT), at.fn)->fixed = true;
    gen_statements(g, in, body, gen_below(g, 3));
    node *push = gen_node(g, N_STMT, gen_format(g, "%s = append(%s, $)", t, t), 1, gen_tame(g, &in, scalar, 2));
    gen_add(g, body, gen_chance(g, 40) ? gen_node(g, N_CHECKPOINT, options(g), 1, gen_node(g, N_SEQ, "", 1, push)) : push);
    g->nvars = vars;
    gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, "for (%s in 0..%d) {\n$\t}", i, n), 1, body));
    gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, "%s = 0.0", s), 0));
    gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, "for (%s in %s) { %s = sin(%s + 1.1 * %s) }", i, t, s, s, i), 0));
    declare(g, s, scalar, at.fn);
    declare(g, t, gen_type_of_kind(g, T_LIST), at.fn)->fixed = true;
}

/* --- assignments ---------------------------------------------------------------------------- */
static void update_element(gen *g, place at, node *seq)
{
    var *v = own_var(g, &at, T_FLOAT, 1 + gen_below(g, 2));
    const type *scalar = gen_type_float(g, 0, 0, 0), *value = scalar;
    if (!v) return;
    const char *where;
    int n = v->type->dim[0], m = v->type->dim[1];
    node *index = NULL;
    if (v->type->rank == 1) {
        switch (gen_below(g, 5)) {
        case 0: where = gen_format(g, "%s[%d]", v->name, gen_below(g, 2 * n) - n); break;
        case 1: where = gen_format(g, "%s[%d:]", v->name, gen_below(g, n)); break;
        case 2:
            where = gen_format(g, "%s[:]", v->name);
            value = v->type;
            break;
        default:
            where = gen_format(g, "%s[$ %% %d]", v->name, n);
            index = gen_expr(g, &at, gen_type_of_kind(g, T_INT), 1);
            break;
        }
    } else {
        switch (gen_below(g, 6)) {
        case 0: where = gen_format(g, "%s[%d, %d]", v->name, gen_below(g, n), gen_below(g, m) - m); break;
        case 1:
            where = gen_format(g, "%s[%d]", v->name, gen_below(g, n));
            value = gen_type_float(g, 1, m, 0);
            break;
        case 2:
            where = gen_format(g, "%s[:, %d]", v->name, gen_below(g, m));
            value = gen_type_float(g, 1, n, 0);
            break;
        case 3: where = gen_format(g, "%s[%d][%d]", v->name, gen_below(g, n), gen_below(g, m)); break;
        default:
            where = gen_format(g, "%s[$ %% %d, :]", v->name, n);
            index = gen_expr(g, &at, gen_type_of_kind(g, T_INT), 1);
            value = gen_type_float(g, 1, m, 0);
            break;
        }
    }
    node *e = gen_tame(g, &at, value, 2);
    int how = gen_below(g, 5);
    const char *form = gen_format(g, how == 0 ? "%s += 0.1 * $" : how == 1 ? "%s *= cos($)" : "%s = $", where);
    gen_add(g, seq, index ? gen_node(g, N_STMT, form, 2, index, e) : gen_node(g, N_STMT, form, 1, e));
}

/* An assignment to a field, an element of a tuple, or an element of an array in one. */
static void update_part(gen *g, place at, node *seq)
{
    var *v = own_var(g, &at, gen_chance(g, 70) ? T_RECORD : T_TUPLE, -1);
    if (!v) return;
    const char *where = v->name;
    const type *t = v->type;
    while (t->n && (t->kind == T_RECORD || t->kind == T_TUPLE)) {
        int k = gen_below(g, t->n);
        where = t->kind == T_RECORD ? gen_format(g, "%s.%s", where, t->name[k]) : gen_format(g, "%s[%d]", where, k);
        t = t->part[k];
    }
    if (t->kind == T_FLOAT && t->rank == 1 && gen_chance(g, 40)) {
        where = gen_format(g, "%s[%d]", where, gen_below(g, t->dim[0]));
        t = gen_type_float(g, 0, 0, 0);
    }
    if (t->kind == T_FN) return;
    gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, "%s = $", where), 1, gen_tame(g, &at, t, 2)));
}

static void assign_again(gen *g, place at, node *seq)
{
    var *v = own_var(g, &at, -1, -1);
    if (!v || v->type->kind == T_FN || v->type->kind == T_LIST) return;
    const char *name = v->name;
    const type *t = v->type;
    if (t->kind == T_FLOAT && gen_chance(g, 35)) {
        node *e = gen_tame(g, &at, t, 2);
        const char *form = "%s += 0.1 * $";
        switch (gen_below(g, 5)) {
        case 0: form = "%s -= 0.1 * $"; break;
        case 1: form = "%s *= cos($)"; break;
        case 2: form = "%s /= 1.1 + square($)"; break;
        case 3:
            if (t->rank == 2 && t->dim[0] == t->dim[1]) { form = "%s @= 0.1 * $"; }
            break;
        }
        gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, form, name), 1, e));
        return;
    }
    if (t->kind == T_INT) {
        gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, gen_chance(g, 50) ? "%s += 1" : "%s = (%s + 2) %% 5", name, name), 0));
        return;
    }
    gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, "%s = $", name), 1, gen_tame(g, &at, t, 3)));
}

static void swap(gen *g, place at, node *seq)
{
    var *a = own_var(g, &at, T_FLOAT, -1);
    if (!a) return;
    for (int tries = 0; tries < 6; tries++) {
        var *b = own_var(g, &at, T_FLOAT, a->type->rank);
        if (b && b != a && gen_type_equal(a->type, b->type)) {
            gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, "(%s, %s) = (%s, %s)", a->name, b->name, b->name, a->name), 0));
            return;
        }
    }
}

static void make_closure(gen *g, place at, node *seq)
{
    const char *name = fresh(g, "h");
    const type *t = function_type(g);
    int cost;
    if (gen_chance(g, 25)) {
        /* held in a record, beside a value */
        const type *w = gen_float_type(g), *parts[2] = {t, w}, *r;
        const char *names[2] = {"call", "w"};
        r = gen_type_of_parts(g, T_RECORD, 2, parts, names);
        node *f = gen_function(g, &at, t, &cost, at.pure);
        gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, "%s = {call: $, w: $}", name), 2, f, gen_tame(g, &at, w, 1)));
        declare(g, name, r, at.fn)->cost = cost;
        return;
    }
    if (gen_chance(g, 40)) {
        node *n = gen_node(g, N_STMT, "", 0);
        cost = function_body(g, &at, n, gen_format(g, "fn %s", name), t, NULL, at.depth < 3 ? gen_below(g, 4) : 0, at.pure);
        gen_add(g, seq, n);
    } else {
        gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, "%s = $", name), 1, gen_function(g, &at, t, &cost, at.pure)));
    }
    var *v = declare(g, name, t, at.fn);
    v->cost = cost;
    v->fixed = true;
}

static void new_variable(gen *g, place at, node *seq)
{
    const type *t = gen_any_type(g, 2);
    node *e = gen_tame(g, &at, t, 3);
    const char *name = fresh(g, "v");
    gen_add(g, seq, gen_node(g, N_STMT, gen_format(g, "%s = $", name), 1, e));
    declare(g, name, t, at.fn);
}

static void print(gen *g, place at, node *seq)
{
    node *n = gen_node(g, N_PRINT, gen_format(g, "\"t%d\"", ++g->serial), 0);
    for (int i = 1 + gen_below(g, 2); i > 0; i--) {
        const type *t = gen_any_type(g, 0);
        if (t->kind == T_FLOAT && gen_type_size(t) > 25) t = gen_type_float(g, 0, 0, 0);
        gen_add(g, n, gen_expr(g, &at, t, gen_below(g, 2)));
    }
    gen_add(g, seq, n);
}

void gen_statements(gen *g, place at, node *seq, int n)
{
    for (int k = 0; k < n; k++) {
        if (g->room-- <= 0 || g->cost > 400) break;
        g->cost += at.times;
        bool deep = at.depth >= 4;
        switch (gen_below(g, 30)) {
        case 0:
        case 1:
        case 2:
        case 3:
            if (!deep && !at.pure) {
                block_statement(g, at, seq);
                break;
            } /* fall through */
        case 4:
        case 5:
        case 6:
        case 7: new_variable(g, at, seq); break;
        case 8:
        case 9:
        case 10:
        case 11: assign_again(g, at, seq); break;
        case 12:
        case 13: update_element(g, at, seq); break;
        case 14: update_part(g, at, seq); break;
        case 15:
        case 16:
            if (!deep) branch(g, at, seq);
            break;
        case 17:
        case 18:
        case 19:
            if (!deep) loop(g, at, seq);
            break;
        case 20:
            if (!deep) list(g, at, seq);
            break;
        case 21: swap(g, at, seq); break;
        case 22:
        case 23:
            if (!deep) make_closure(g, at, seq);
            break;
        case 24:
        case 25:
            if (!at.pure) print(g, at, seq);
            break;
        case 26:
        case 27:
            if (at.loop)
                gen_add(g, seq,
                        gen_node(g, N_STMT, gen_chance(g, 60) ? "if ($) { break }" : "if ($) { continue }", 1, gen_condition(g, &at, 1)));
            else assign_again(g, at, seq);
            break;
        case 28:
            if (at.result && at.depth > 0)
                gen_add(g, seq, gen_node(g, N_STMT, "if ($) { return $ }", 2, gen_condition(g, &at, 1), gen_tame(g, &at, at.result, 2)));
            break;
        case 29: gen_add(g, seq, gen_tame(g, &at, gen_float_type(g), 2)); break; /* computed for nothing */
        }
    }
    if (!seq->nkids) gen_add(g, seq, gen_node(g, N_STMT, "none", 0));
}
