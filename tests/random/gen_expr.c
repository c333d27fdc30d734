/* gen_expr.c: random expressions of a given type.
 *
 * Every float expression carries a bound on its elements, computed bottom up, under the assumption
 * that variables, parameters and results of functions stay within VAR_BOUND; gen_tame squashes what
 * would break it. Arguments of functions with a domain are brought into it. Whatever prints a `>` or
 * a comparison puts it in brackets, so that an expression may stand in a checkpoint block. */
#include "gen_parts.h"
#include <stdio.h>
#include <string.h>

#define VAR_BOUND 2.0

/* Functions of one argument: the form, the builtin it needs, the largest argument it is given (else
   that is squashed first), and what comes out: at most scale * bound + shift. */
typedef struct unary {
    const char *form, *needs;
    double in, scale, shift;
    int weight;
} unary;
static const unary unaries[] = {
    {"sin($)", "sin", 1e9, 0, 1, 6},
    {"cos($)", "cos", 1e9, 0, 1, 6},
    {"tanh($)", "tanh", 1e9, 0, 1, 8},
    {"atan($)", "atan", 1e9, 0, 1.6, 2},
    {"erf($)", "erf", 1e9, 0, 1, 2},
    {"erfc($)", "erfc", 1e9, 0, 2, 1},
    {"sigmoid($)", "sigmoid", 1e9, 0, 1, 3},
    {"exp($)", "exp", 2, 0, 7.4, 4},
    {"exp2($)", "exp2", 2, 0, 4, 1},
    {"expm1($)", "expm1", 2, 0, 6.4, 1},
    {"sinh($)", "sinh", 2, 0, 3.7, 1},
    {"cosh($)", "cosh", 2, 0, 3.8, 1},
    {"log(1.5 + square($))", "log", 10, 0, 4.7, 3},
    {"log1p(square($))", "log1p", 10, 0, 4.7, 1},
    {"log2(2 + square($))", "log2", 10, 0, 6.7, 1},
    {"log10(1.2 + $ ^ 2)", "log10", 10, 0, 2.1, 1},
    {"sqrt(0.5 + square($))", "sqrt", 1e9, 1, 0.8, 3},
    {"cbrt(2 + square($))", "cbrt", 1e9, 1, 1.3, 1},
    {"tan(0.5 * tanh($))", "tan", 1e9, 0, 0.6, 1},
    {"asin(0.9 * sin($))", "asin", 1e9, 0, 1.2, 1},
    {"acos(0.9 * sin($))", "acos", 1e9, 0, 2.7, 1},
    {"asinh($)", "asinh", 1e9, 1, 0, 1},
    {"acosh(1.5 + square($))", "acosh", 10, 0, 5.4, 1},
    {"atanh(0.7 * sin($))", "atanh", 1e9, 0, 0.9, 1},
    {"lgamma(1.5 + square($))", "lgamma", 2, 0, 4, 1},
    {"digamma(1.5 + square($))", "digamma", 2, 0, 1.8, 1},
    {"softplus($)", "softplus", 1e9, 1, 0.7, 1},
    {"gelu($)", "gelu", 1e9, 1, 0, 1},
    {"gelu($, false)", "gelu", 1e9, 1, 0, 1},
    {"silu($)", "silu", 1e9, 1, 0, 1},
    {"square($)", "square", 3, 0, 9, 3},
    {"($ ^ 2)", "square", 3, 0, 9, 3},
    {"($ ^ 3)", "square", 2, 0, 8, 2},
    {"reciprocal(1.5 + square($))", "reciprocal", 1e9, 0, 0.7, 2},
    {"bce_with_logits($, 0.3)", "bce_with_logits", 1e9, 1, 0.7, 1},
    {"(-$)", NULL, 1e9, 1, 0, 4},
    {"(0.5 * $)", NULL, 1e9, 0.5, 0, 4},
    {"($ |> tanh)", "tanh", 1e9, 0, 1, 1},
    {"abs($)", "abs", 1e9, 1, 0, 1},
    {"relu($)", "relu", 1e9, 1, 0, 1},
    {"leaky_relu($, 0.1)", "leaky_relu", 1e9, 1, 0, 1},
    {"elu($)", "elu", 1e9, 1, 1, 1},
    {"clamp($, -1.23457, 1.34567)", "clamp", 1e9, 0, 1.35, 1},
};

/* Of two arguments; out: s2 * a * b + s1 * (a + b) + s0, each at most `in`. */
typedef struct binary {
    const char *form, *needs;
    double in, s2, s1, s0;
    int weight;
} binary;
static const binary binaries[] = {
    {"($ + $)", NULL, 1e9, 0, 1, 0, 10},
    {"($ - $)", NULL, 1e9, 0, 1, 0, 6},
    {"($ * $)", NULL, 1e4, 1, 0, 0, 12},
    {"($ / (1.5 + square($)))", "square", 1e9, 0, 1, 0, 4},
    {"hypot($, 1 + square($))", "hypot", 5, 0, 1, 30, 1},
    {"atan2($, 1.5 + square($))", "atan2", 1e9, 0, 0, 1.6, 1},
    {"xlogy($, 1 + square($))", "xlogy", 10, 0, 5, 0, 1},
    {"((0.6 + square($)) ^ (0.5 * sin($)))", "square", 1e4, 0, 1, 1.4, 2},
    {"maximum($, $)", "maximum", 1e9, 0, 1, 0, 1},
    {"minimum($, $)", "minimum", 1e9, 0, 1, 0, 1},
};
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

/* --- what can be read ----------------------------------------------------------------------- */
typedef struct path {
    const char *text;
    const type *type;
} path;
typedef struct paths {
    path of[200];
    int n;
} paths;

static void collect(gen *g, paths *p, const char *text, const type *t, const type *want, int depth)
{
    if (p->n == COUNT(p->of)) return;
    if (gen_type_equal(t, want)) p->of[p->n++] = (path){text, t};
    if (depth == 0) return;
    for (int i = 0; i < t->n; i++) {
        if (t->kind == T_RECORD)
            collect(g, p, gen_chance(g, 8) ? gen_format(g, "%s[\"%s\"]", text, t->name[i]) : gen_format(g, "%s.%s", text, t->name[i]),
                    t->part[i], want, depth - 1);
        else if (t->kind == T_TUPLE) collect(g, p, gen_format(g, "%s[%d]", text, i), t->part[i], want, depth - 1);
    }
}

/* A place to read a value of type t from: a variable, or a field or element of one; newer ones are
   likelier. NULL when there is none. */
static const char *find_path(gen *g, const type *t)
{
    paths p = {.n = 0};
    for (int i = g->nvars - 1; i >= 0; i--)
        if (g->vars[i].owner != 0 || gen_chance(g, 35)) collect(g, &p, g->vars[i].name, g->vars[i].type, t, 3);
    if (!p.n) return NULL;
    int k = gen_below(g, p.n);
    if (gen_chance(g, 50)) k = gen_below(g, k + 1);
    return p.of[k].text;
}

/* A function whose result is t, cheap enough to be called here; *text is how it is reached. */
static const type *find_function(gen *g, const place *at, const type *t, const char **text, int *cost)
{
    const type *found = NULL;
    int n = 0;
    for (int i = 0; i < g->nvars; i++) {
        const var *v = &g->vars[i];
        if (g->cost + v->cost * at->times > 500) continue;
        const type *f = v->type;
        if (f->kind == T_FN && gen_type_equal(f->part[f->n - 1], t) && gen_below(g, ++n) == 0) {
            found = f;
            *text = v->name;
            *cost = v->cost;
        }
        if (f->kind != T_RECORD) continue;
        for (int k = 0; k < f->n; k++) {
            const type *h = f->part[k];
            if (h->kind == T_FN && gen_type_equal(h->part[h->n - 1], t) && gen_below(g, ++n) == 0) {
                found = h;
                *text = gen_format(g, "%s.%s", v->name, f->name[k]);
                *cost = v->cost;
            }
        }
    }
    return found;
}

/* --- literals and types --------------------------------------------------------------------- */
static const char *number(gen *g)
{
    double x = gen_number(g);
    return x < 0 ? gen_format(g, "(%.4f)", x) : gen_format(g, "%.4f", x);
}

static const char *row(gen *g, int n)
{
    const char *s = "[";
    for (int i = 0; i < n; i++) s = gen_format(g, "%s%s%.4f", s, i ? ", " : "", gen_number(g));
    return gen_format(g, "%s]", s);
}

node *gen_literal(gen *g, const type *t)
{
    switch (t->kind) {
    case T_FLOAT:
        if (t->rank == 0) return gen_part(g, t, 1.5, number(g), 0);
        if (gen_type_size(t) > 25) {
            if (t->rank == 1) return gen_part(g, t, 1, gen_format(g, "sin(0.%d7 * (0..%d))", 1 + gen_below(g, 9), t->dim[0]), 0);
            return gen_part(g, t, 1,
                            gen_format(g, "sin(0.%d7 * reshape(0..%d, %d, %d))", 1 + gen_below(g, 9), t->dim[0] * t->dim[1], t->dim[0],
                                       t->dim[1]),
                            0);
        }
        if (t->rank == 1) return gen_part(g, t, 1.5, row(g, t->dim[0]), 0);
        const char *s = "[";
        for (int i = 0; i < t->dim[0]; i++) s = gen_format(g, "%s%s%s", s, i ? ", " : "", row(g, t->dim[1]));
        return gen_part(g, t, 1.5, gen_format(g, "%s]", s), 0);
    case T_INT: return gen_part(g, t, 0, gen_format(g, "i64(%d)", gen_below(g, 4)), 0);
    case T_BOOL: return gen_part(g, t, 0, gen_chance(g, 50) ? "true" : "false", 0);
    case T_TEXT: return gen_part(g, t, 0, "\"text\"", 0);
    case T_LIST: return gen_part(g, t, 0, "()", 0);
    case T_RECORD:
    case T_TUPLE: {
        node *n = gen_part(g, t, 0, "", 0);
        const char *form = t->kind == T_RECORD ? "{" : "(";
        for (int i = 0; i < t->n; i++) {
            form = t->kind == T_RECORD ? gen_format(g, "%s%s%s: $", form, i ? ", " : "", t->name[i])
                                       : gen_format(g, "%s%s$", form, i ? ", " : "");
            gen_add(g, n, gen_literal(g, t->part[i]));
        }
        n->form = gen_format(g, "%s%s%s", form, t->kind == T_TUPLE && t->n == 1 ? "," : "", t->kind == T_RECORD ? "}" : ")");
        return n;
    }
    default: return gen_part(g, t, 0, "none", 0);
    }
}

const type *gen_float_type(gen *g)
{
    int r = gen_below(g, 10);
    return gen_type_float(g, r < 4 ? 0 : r < 8 ? 1 : 2, gen_dim(g), gen_dim(g));
}

const type *gen_any_type(gen *g, int depth)
{
    int r = gen_below(g, 20);
    if (depth == 0 || r < 12) return gen_float_type(g);
    if (r < 14) return gen_type_of_kind(g, T_INT);
    if (r < 15) return gen_type_of_kind(g, T_BOOL);
    const type *parts[3];
    const char *names[3];
    int n = 1 + gen_below(g, 3);
    for (int i = 0; i < n; i++) {
        parts[i] = gen_any_type(g, depth - 1);
        names[i] = gen_format(g, "%c%d", "abcuvw"[gen_below(g, 6)], i);
    }
    return gen_type_of_parts(g, r < 18 ? T_RECORD : T_TUPLE, n, parts, names);
}

/* --- taming --------------------------------------------------------------------------------- */
static node *squash(gen *g, node *n, double limit)
{
    if (n->bound <= limit) return n;
    switch (gen_below(g, 5)) {
    case 0: return gen_part(g, n->type, 1, "sin($)", 1, n);
    case 1:
        if (n->bound < 40) return gen_part(g, n->type, limit, gen_format(g, "(%.3g * $)", limit / n->bound * 0.999), 1, n);
        /* fall through */
    default: return gen_part(g, n->type, 1, "tanh($)", 1, n);
    }
}

node *gen_tame(gen *g, const place *at, const type *t, int depth)
{
    node *n = gen_expr(g, at, t, depth);
    return t->kind == T_FLOAT ? squash(g, n, VAR_BOUND) : n;
}

/* --- other types ---------------------------------------------------------------------------- */
static node *integer(gen *g, const place *at, int depth)
{
    const type *t = gen_type_of_kind(g, T_INT);
    const char *p = find_path(g, t);
    switch (depth > 0 ? gen_below(g, 8) : p ? 0 : 7) {
    case 0:
    case 1:
    case 2:
        if (p) return gen_part(g, t, 0, p, 0);
        break;
    case 3: return gen_part(g, t, 0, "($ + 1)", 1, integer(g, at, depth - 1));
    case 4: return gen_part(g, t, 0, "($ % 3)", 1, integer(g, at, depth - 1));
    case 5:
        return gen_part(g, t, 0, gen_format(g, "(if ($) { $ } else { $ })"), 3, gen_condition(g, at, depth - 1), integer(g, at, depth - 1),
                        integer(g, at, depth - 1));
    case 6: return gen_part(g, t, 0, "len($)", 1, gen_expr(g, at, gen_type_float(g, 1, gen_dim(g), 0), depth - 1));
    default: break;
    }
    return gen_literal(g, t);
}

node *gen_condition(gen *g, const place *at, int depth)
{
    const type *b = gen_type_of_kind(g, T_BOOL), *f = gen_type_float(g, 0, 0, 0);
    node *c;
    switch (gen_below(g, 10)) {
    case 0: c = gen_part(g, b, 0, "($ % 2 == 0)", 1, integer(g, at, 1)); break;
    case 1: c = gen_part(g, b, 0, "($ < $)", 2, integer(g, at, 1), integer(g, at, 1)); break;
    case 2: {
        const char *p = find_path(g, b);
        if (p) {
            c = gen_part(g, b, 0, p, 0);
            break;
        }
    } /* fall through */
    case 3:
        c = gen_part(g, b, 0, "(($ < $) and not ($ < 0))", 3, gen_expr(g, at, f, depth - 1), gen_expr(g, at, f, 0), gen_expr(g, at, f, 0));
        break;
    case 4: c = gen_part(g, b, 0, "any($ > 0.2)", 1, gen_expr(g, at, gen_type_float(g, 1, gen_dim(g), 0), depth - 1)); break;
    case 5: c = gen_part(g, b, 0, "($ <= 0.1 or ($ > $))", 3, gen_expr(g, at, f, 0), gen_expr(g, at, f, 0), gen_expr(g, at, f, 0)); break;
    default:
        c = gen_part(g, b, 0, gen_chance(g, 50) ? "($ > $)" : "($ < $)", 2, gen_expr(g, at, f, depth - 1), gen_expr(g, at, f, 0));
        break;
    }
    node *n = gen_node(g, N_COND, "$", 1, c);
    n->mark = ++g->marks;
    n->type = b;
    return n;
}

/* --- floats --------------------------------------------------------------------------------- */
static node *leaf(gen *g, const place *at, const type *t)
{
    const char *p = find_path(g, t);
    if (p && !gen_chance(g, 8)) return gen_part(g, t, VAR_BOUND, p, 0);
    int r = gen_below(g, 12);
    if (r == 0 && t->rank > 0 && !g->big) {
        const char *d = t->rank == 1 ? gen_format(g, "%d", t->dim[0]) : gen_format(g, "%d, %d", t->dim[0], t->dim[1]);
        return gen_part(g, t, 1, gen_format(g, "%s(%s)", gen_chance(g, 50) ? "zeros" : "ones", d), 0);
    }
    if (r < 3 && !at->pure && gen_knows(g, "rand")) {
        const char *d = t->rank == 0 ? "" : t->rank == 1 ? gen_format(g, "%d", t->dim[0]) : gen_format(g, "%d, %d", t->dim[0], t->dim[1]);
        if (r == 1 || !gen_knows(g, "randn")) return gen_part(g, t, 1, gen_format(g, "rand(%s)", d), 0);
        return gen_part(g, t, 1, gen_format(g, "sin(randn(%s))", d), 0);
    }
    if (t->rank == 0 && r == 3) return gen_part(g, t, 3, "(0.3 * $)", 1, integer(g, at, 0));
    return gen_literal(g, t);
}

/* t, or something that broadcasts to it. */
static const type *narrower(gen *g, const type *t)
{
    int r = gen_below(g, 10);
    if (t->rank >= 1 && r < 3) return gen_type_float(g, 0, 0, 0);
    if (t->rank == 2 && r < 5) return gen_type_float(g, 1, t->dim[1], 0);
    if (t->rank == 2 && r < 6) return gen_type_float(g, 2, 1, t->dim[1]);
    if (t->rank == 2 && r < 7) return gen_type_float(g, 2, t->dim[0], 1);
    return t;
}

static node *make_unary(gen *g, const place *at, const type *t, int depth)
{
    int total = 0;
    for (int i = 0; i < COUNT(unaries); i++) total += unaries[i].weight;
    for (int tries = 0; tries < 8; tries++) {
        int k = gen_below(g, total), i = 0;
        while (k >= unaries[i].weight) k -= unaries[i++].weight;
        const unary *u = &unaries[i];
        if (u->needs && !gen_knows(g, u->needs)) continue;
        node *a = squash(g, gen_expr(g, at, t, depth - 1), u->in);
        return gen_part(g, t, u->scale * a->bound + u->shift, u->form, 1, a);
    }
    return leaf(g, at, t);
}

static node *make_binary(gen *g, const place *at, const type *t, int depth)
{
    int total = 0;
    for (int i = 0; i < COUNT(binaries); i++) total += binaries[i].weight;
    for (int tries = 0; tries < 8; tries++) {
        int k = gen_below(g, total), i = 0;
        while (k >= binaries[i].weight) k -= binaries[i++].weight;
        const binary *u = &binaries[i];
        if (u->needs && !gen_knows(g, u->needs)) continue;
        bool first = gen_chance(g, 50);
        const type *ta = first ? t : narrower(g, t), *tb = first ? narrower(g, t) : t;
        node *a = squash(g, gen_expr(g, at, ta, depth - 1), u->in), *b = squash(g, gen_expr(g, at, tb, depth - 1), u->in);
        return gen_part(g, t, u->s2 * a->bound * b->bound + u->s1 * (a->bound + b->bound) + u->s0, u->form, 2, a, b);
    }
    return leaf(g, at, t);
}

static node *make_call(gen *g, const place *at, const type *t, int depth)
{
    const char *name;
    int cost;
    const type *f = find_function(g, at, t, &name, &cost);
    if (!f) return NULL;
    g->cost += cost * at->times;
    node *n = gen_part(g, t, VAR_BOUND, "", 0);
    const char *form = gen_format(g, "%s(", name);
    bool piped = f->n > 1 && gen_chance(g, 10), block = f->n == 2 && at->depth < 4 && !at->pure && gen_chance(g, 10);
    if (piped) form = gen_format(g, "(($) |> %s(", name);
    for (int i = 0; i + 1 < f->n; i++) {
        if (!(piped && i == 0)) form = gen_format(g, "%s%s$", form, i > (piped ? 1 : 0) ? ", " : "");
        gen_add(g, n, block && !piped ? gen_block(g, at, f->part[i], depth - 1) : gen_tame(g, at, f->part[i], depth - 1));
    }
    n->form = gen_format(g, piped ? "%s))" : "%s)", form);
    return n;
}

/* A derivative taken within the program. */
static node *make_derivative(gen *g, const place *at, const type *t, int depth)
{
    const char *z = gen_format(g, "z%d", ++g->serial);
    int was = g->nvars, fn = ++g->functions;
    if (was >= VARS_MAX - 1) return NULL;
    g->vars[g->nvars++] = (var){.name = z, .type = t, .owner = fn, .fixed = true};
    place in = *at;
    in.fn = fn;
    in.result = NULL;
    in.loop = false;
    in.times *= 3;
    node *body = gen_expr(g, &in, t, depth - 1);
    g->nvars = was;
    node *x = gen_tame(g, at, t, 0);
    switch (gen_below(g, 3)) {
    case 0: return gen_part(g, t, 1, gen_format(g, "tanh(jvp(fn(%s) = sin($), ($,), (%s,))[1])", z, gen_literal(g, t)->form), 2, body, x);
    case 1: return gen_part(g, t, 1, gen_format(g, "tanh(vjp(fn(%s) = sin($), $)[1](%s))", z, gen_literal(g, t)->form), 2, body, x);
    default: return gen_part(g, t, 1, gen_format(g, "tanh(grad(fn(%s) = sum(cos($)))($))", z), 2, body, x);
    }
}

static const type *vec(gen *g, int n) { return gen_type_float(g, 1, n, 0); }
static const type *mat(gen *g, int n, int m) { return gen_type_float(g, 2, n, m); }

static node *make_scalar(gen *g, const place *at, const type *t, int depth)
{
    int n = gen_dim(g), m = gen_dim(g);
    const type *v = vec(g, n);
    node *a = gen_expr(g, at, gen_chance(g, 70) ? v : mat(g, n, m), depth - 1);
    double size = gen_type_size(a->type);
    switch (gen_below(g, 16)) {
    case 0:
    case 1: return gen_part(g, t, a->bound * size, "sum($)", 1, a);
    case 2: return gen_part(g, t, a->bound, "mean($)", 1, a);
    case 3: return gen_part(g, t, a->bound + 12, "logsumexp($)", 1, squash(g, a, 8));
    case 4:
        if (gen_knows(g, "var")) return gen_part(g, t, a->bound * a->bound, "var($)", 1, squash(g, a, 4));
        break;
    case 5:
        if (n <= 5) return gen_part(g, t, 60, "prod(sin($) + 0.5)", 1, gen_expr(g, at, v, depth - 1));
        break;
    case 6: return gen_part(g, t, (a->bound + 1) * size, "norm($ + 1.1)", 1, a);
    case 7: return gen_part(g, t, a->bound, gen_chance(g, 50) ? "max($)" : "min($)", 1, a);
    case 8: {
        node *b = gen_expr(g, at, v, depth - 1), *c = gen_expr(g, at, v, 0);
        return gen_part(g, t, b->bound * c->bound * n, gen_chance(g, 60) || !gen_knows(g, "dot") ? "($ @ $)" : "dot($, $)", 2, b, c);
    }
    case 9:
        if (gen_knows(g, "trace")) {
            node *b = gen_expr(g, at, mat(g, n, n), depth - 1);
            return gen_part(g, t, b->bound * n, "trace($)", 1, b);
        }
        break;
    case 10:
        return gen_part(g, t, 0 + gen_literal(g, t)->bound * 0 + VAR_BOUND, gen_format(g, "tanh($[%d])", gen_below(g, 2 * n) - n), 1,
                        gen_expr(g, at, v, 0));
    case 11: return gen_part(g, t, 1, gen_format(g, "sin($[$ %% %d])", n), 2, gen_expr(g, at, v, 0), integer(g, at, 1));
    case 12: return gen_part(g, t, 1, gen_format(g, "sin($[%d, -1])", gen_below(g, n)), 1, gen_expr(g, at, mat(g, n, m), 0));
    case 13: {
        const char *p = find_path(g, v);
        if (p) return gen_part(g, t, VAR_BOUND * n, gen_format(g, "sum(%s[%s > 0.1])", p, p), 0);
        break;
    }
    case 15:
        if (at->depth < 4 && at->times <= 10 && gen_knows(g, "fold")) {
            const type *parts[3] = {t, t, t};
            int cost;
            node *f = gen_function(g, at, gen_type_of_parts(g, T_FN, 3, parts, NULL), &cost, at->pure), *start = gen_tame(g, at, t, 1);
            g->cost += cost * n * at->times;
            if (gen_chance(g, 70)) return gen_part(g, t, VAR_BOUND, "fold($, $, $)", 3, f, start, gen_tame(g, at, v, 1));
            return gen_part(g, t, VAR_BOUND, "scan(fn(c, e) = (sin(c + e), c * e), $, $)[0]", 2, start, gen_tame(g, at, v, 1));
        }
        break;
    case 14: return gen_part(g, t, 4, "std($ + 0.37 * cumsum(ones(3)))", 1, squash(g, gen_expr(g, at, vec(g, 3), depth - 1), 2));
    default: break;
    }
    return gen_part(g, t, a->bound * size, "sum($)", 1, a);
}

static node *make_vector(gen *g, const place *at, const type *t, int depth)
{
    int n = t->dim[0], m = gen_dim(g);
    switch (gen_below(g, 22)) {
    case 20:
    case 21:
        if (at->depth < 4 && at->times <= 10 && gen_knows(g, "map")) {
            const type *scalar = gen_type_float(g, 0, 0, 0), *parts[2] = {scalar, scalar};
            int cost;
            node *f = gen_function(g, at, gen_type_of_parts(g, T_FN, 2, parts, NULL), &cost, at->pure), *x = gen_tame(g, at, t, 1);
            g->cost += cost * n * at->times;
            if (gen_chance(g, 70)) return gen_part(g, t, VAR_BOUND, "map($, $)", 2, f, x);
            return gen_part(g, t, VAR_BOUND * VAR_BOUND, "scan(fn(c, e) = (sin(c + e), c * e), 0.3, $)[1]", 1, x);
        }
        break;
    case 0:
    case 1:
    case 2: {
        node *a = squash(g, gen_expr(g, at, mat(g, n, m), depth - 1), 1e3), *b = gen_expr(g, at, vec(g, m), depth - 1);
        return gen_part(g, t, a->bound * b->bound * m, "($ @ $)", 2, a, b);
    }
    case 3: {
        node *a = squash(g, gen_expr(g, at, vec(g, m), depth - 1), 1e3), *b = gen_expr(g, at, mat(g, m, n), depth - 1);
        return gen_part(g, t, a->bound * b->bound * m, "($ @ $)", 2, a, b);
    }
    case 4: {
        node *a = gen_expr(g, at, mat(g, m, n), depth - 1);
        return gen_part(g, t, a->bound * m, "sum($, axis = 0)", 1, a);
    }
    case 5: {
        node *a = gen_expr(g, at, mat(g, n, m), depth - 1);
        return gen_part(g, t, a->bound, "mean($, axis = 1)", 1, a);
    }
    case 6: {
        node *a = squash(g, gen_expr(g, at, mat(g, n, m), depth - 1), 8);
        return gen_part(g, t, a->bound + 8, "logsumexp($, axis = -1)", 1, a);
    }
    case 7: {
        node *a = gen_expr(g, at, mat(g, m, n), depth - 1);
        return gen_part(g, t, a->bound, gen_format(g, "($)[%d]", gen_below(g, m)), 1, a);
    }
    case 8: {
        node *a = gen_expr(g, at, mat(g, n, m), depth - 1);
        return gen_part(g, t, a->bound, gen_format(g, "($)[:, %d]", gen_below(g, m)), 1, a);
    }
    case 9: {
        node *a = gen_expr(g, at, t, depth - 1);
        return gen_part(g, t, a->bound, "($)[::-1]", 1, a);
    }
    case 10:
        if (n <= 5) {
            node *a = gen_expr(g, at, vec(g, m), depth - 1);
            const char *ids = "[";
            for (int i = 0; i < n; i++) ids = gen_format(g, "%s%si64(%d)", ids, i ? ", " : "", gen_below(g, m));
            return gen_part(g, t, a->bound, gen_format(g, gen_chance(g, 70) ? "($)[%s]]" : "take($, %s])", ids), 1, a);
        }
        break;
    case 11: return gen_part(g, t, 1, "softmax($)", 1, gen_expr(g, at, t, depth - 1));
    case 12: {
        node *a = squash(g, gen_expr(g, at, t, depth - 1), 8);
        return gen_part(g, t, 20 + n, "log_softmax($)", 1, a);
    }
    case 13: {
        node *a = gen_expr(g, at, t, depth - 1);
        return gen_part(g, t, a->bound * n, "cumsum($)", 1, a);
    }
    case 14:
        if (n >= 2 && n <= 5) {
            int k = 1 + gen_below(g, n - 1);
            node *a = gen_expr(g, at, vec(g, k), depth - 1), *b = gen_expr(g, at, vec(g, n - k), depth - 1);
            return gen_part(g, t, a->bound > b->bound ? a->bound : b->bound, "concat(($, $))", 2, a, b);
        }
        break;
    case 15:
        if (n <= 5) {
            node *v = gen_part(g, t, 0, "", 0);
            const char *form = "[";
            for (int i = 0; i < n; i++) {
                node *e = gen_expr(g, at, gen_type_float(g, 0, 0, 0), depth - 2);
                if (e->bound > v->bound) v->bound = e->bound;
                gen_add(g, v, e);
                form = gen_format(g, "%s%s$", form, i ? ", " : "");
            }
            v->form = gen_format(g, "%s]", form);
            return v;
        }
        break;
    case 16: {
        node *a = gen_expr(g, at, vec(g, n + 2), 0);
        return gen_part(g, t, a->bound, gen_format(g, "($)[1:%d]", n + 1), 1, a);
    }
    case 17: {
        node *a = gen_expr(g, at, t, depth - 1), *b = gen_expr(g, at, t, depth - 1), *c = gen_expr(g, at, t, 0);
        return gen_part(g, t, a->bound > b->bound ? a->bound : b->bound, "where($ > 0.05, $, $)", 3, c, a, b);
    }
    case 18:
        if (!at->pure && gen_knows(g, "rand")) {
            node *a = gen_expr(g, at, t, depth - 1);
            return gen_part(g, t, a->bound * 2, gen_format(g, "where(rand(%d) > 0.3, 1.5 * $, 0)", n), 1, a);
        }
        break;
    case 19:
        if (n <= 5) {
            node *a = gen_expr(g, at, t, depth - 1);
            return gen_part(g, t, 4, "cumprod(sin($))", 1, a);
        }
        break;
    default: break;
    }
    return make_unary(g, at, t, depth);
}

static node *make_matrix(gen *g, const place *at, const type *t, int depth)
{
    int n = t->dim[0], m = t->dim[1], k = gen_dim(g);
    switch (gen_below(g, 12)) {
    case 0:
    case 1:
    case 2:
    case 3: {
        node *a = squash(g, gen_expr(g, at, mat(g, n, k), depth - 1), 1e3), *b = gen_expr(g, at, mat(g, k, m), depth - 1);
        return gen_part(g, t, a->bound * b->bound * k, "($ @ $)", 2, a, b);
    }
    case 4:
    case 5: {
        node *a = gen_expr(g, at, mat(g, m, n), depth - 1);
        return gen_part(g, t, a->bound, "($)'", 1, a);
    }
    case 6: {
        node *a = gen_expr(g, at, vec(g, n), depth - 1), *b = gen_expr(g, at, vec(g, m), depth - 1);
        return gen_part(g, t, a->bound * b->bound,
                        gen_chance(g, 50) || !gen_knows(g, "outer") ? "(($)[:, none] * ($)[none, :])" : "outer($, $)", 2, a, b);
    }
    case 7:
        if (n <= 4) {
            node *v = gen_part(g, t, 0, "", 0);
            const char *form = gen_chance(g, 50) ? "stack(($" : "[$";
            bool stack = form[0] == 's';
            for (int i = 0; i < n; i++) {
                node *e = gen_expr(g, at, vec(g, m), depth - 2);
                if (e->bound > v->bound) v->bound = e->bound;
                gen_add(g, v, e);
                if (i) form = gen_format(g, "%s, $", form);
            }
            v->form = gen_format(g, stack ? (n == 1 ? "%s,))" : "%s))") : "%s]", form);
            return v;
        }
        break;
    case 8: return gen_part(g, t, 1, gen_format(g, "softmax($, axis = %d)", gen_below(g, 2)), 1, gen_expr(g, at, t, depth - 1));
    case 9:
        if (n * m <= 25) {
            node *a = gen_expr(g, at, vec(g, n * m), depth - 1);
            return gen_part(g, t, a->bound, gen_format(g, "reshape($, %d, %d)", n, m), 1, a);
        }
        break;
    case 10: {
        node *a = gen_expr(g, at, t, depth - 1);
        return gen_part(g, t, a->bound, "($)[::-1, :]", 1, a);
    }
    case 11:
        if (gen_knows(g, "tril")) {
            node *a = gen_expr(g, at, t, depth - 1);
            return gen_part(g, t, a->bound, "tril($)", 1, a);
        }
        break;
    default: break;
    }
    return make_unary(g, at, t, depth);
}

static node *make_special(gen *g, const place *at, const type *t, int depth)
{
    switch (gen_below(g, 9)) {
    case 0: {
        node *a = gen_expr(g, at, t, depth - 1);
        g->names = true;
        return gen_part(g, t, a->bound, gen_format(g, "name(\"n%d\", $)", gen_below(g, 3)), 1, a);
    }
    case 1: {
        node *a = gen_expr(g, at, t, depth - 1), *b = gen_expr(g, at, t, depth - 1);
        return gen_part(g, t, a->bound > b->bound ? a->bound : b->bound, "(if ($) { $ } else { $ })", 3, gen_condition(g, at, 1), a, b);
    }
    case 2: return gen_part(g, t, 1, "cv0($)", 1, gen_expr(g, at, t, depth - 1));
    case 3: {
        node *a = gen_expr(g, at, t, depth - 1);
        if (gen_chance(g, 6)) {
            g->stops = true;
            return gen_part(g, t, a->bound, "stop_grad($)", 1, a);
        }
        return gen_part(g, t, a->bound + 1, "stop_grad(round($))", 1, a);
    }
    case 4:
        if (at->depth < 4 && !at->pure) {
            node *k = gen_block(g, at, t, depth - 1);
            return gen_part(g, t, VAR_BOUND, "($)", 1, k);
        }
        break;
    case 5:
        if (at->times <= 6 && depth >= 2 && gen_chance(g, 40)) {
            node *d = make_derivative(g, at, t, depth - 1);
            if (d) return d;
        }
        break;
    default: break;
    }
    node *call = make_call(g, at, t, depth);
    return call ? call : make_binary(g, at, t, depth);
}

static node *float_expr(gen *g, const place *at, const type *t, int depth)
{
    if (depth <= 0) return leaf(g, at, t);
    if (gen_type_size(t) > 25 && depth > 2) depth = 2;
    switch (gen_below(g, 12)) {
    case 0:
    case 1: return leaf(g, at, t);
    case 2:
    case 3:
    case 4: return make_binary(g, at, t, depth);
    case 5:
    case 6: return make_unary(g, at, t, depth);
    case 7:
    case 8:
    case 9: return t->rank == 0 ? make_scalar(g, at, t, depth) : t->rank == 1 ? make_vector(g, at, t, depth) : make_matrix(g, at, t, depth);
    default: return make_special(g, at, t, depth);
    }
}

static bool all_floats(const type *t)
{
    if (t->kind == T_FLOAT) return true;
    if (t->kind != T_RECORD && t->kind != T_TUPLE) return false;
    for (int i = 0; i < t->n; i++)
        if (!all_floats(t->part[i])) return false;
    return true;
}

node *gen_expr(gen *g, const place *at, const type *t, int depth)
{
    const char *p;
    switch (t->kind) {
    case T_FLOAT: return float_expr(g, at, t, depth);
    case T_INT: return integer(g, at, depth < 2 ? depth : 2);
    case T_BOOL:
        if (depth > 0) return gen_condition(g, at, depth - 1)->kid[0];
        p = find_path(g, t);
        return p ? gen_part(g, t, 0, p, 0) : gen_literal(g, t);
    case T_RECORD:
    case T_TUPLE: {
        p = find_path(g, t);
        if (p && gen_chance(g, 50)) return gen_part(g, t, 0, p, 0);
        if (p && all_floats(t) && gen_chance(g, 60)) {
            const char *q = find_path(g, t);
            return gen_part(g, t, 0, gen_format(g, gen_chance(g, 50) ? "(0.5 * (%s + %s))" : "sin(%s - 0.3 * %s)", p, q), 0);
        }
        node *n = gen_part(g, t, 0, "", 0);
        const char *form = t->kind == T_RECORD ? "{" : "(";
        for (int i = 0; i < t->n; i++) {
            form = t->kind == T_RECORD ? gen_format(g, "%s%s%s: $", form, i ? ", " : "", t->name[i])
                                       : gen_format(g, "%s%s$", form, i ? ", " : "");
            gen_add(g, n, gen_tame(g, at, t->part[i], depth - 1));
        }
        n->form = gen_format(g, "%s%s%s", form, t->kind == T_TUPLE && t->n == 1 ? "," : "", t->kind == T_RECORD ? "}" : ")");
        return n;
    }
    case T_FN: {
        p = find_path(g, t);
        int cost;
        if (p && gen_chance(g, 60)) return gen_part(g, t, 0, p, 0);
        return gen_function(g, at, t, &cost, at->pure);
    }
    case T_LIST: p = find_path(g, t); return p ? gen_part(g, t, 0, p, 0) : gen_literal(g, t);
    default: return gen_literal(g, t);
    }
}
