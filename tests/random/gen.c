/* gen.c: a whole random program: constants, functions, the function under test, and its drivers.
 *
 * outs(p) gives a scalar and a vector; loss(p) is a scalar of both; at(s) = p0 + s * v is a line through
 * the point, along(g) and beside(g) are the inner products of a gradient with v and with another
 * direction w. What the driver prints, a label first:
 *   y, g.<part>, dir     value_and_grad(loss) at p0, and along(g)
 *   draw                 the next random number after it
 *   jvp                  the value and its derivative along v
 *   back, back2, push    <ȳ, J v> by vjp (two cotangents, one pullback) and the first by jvp
 *   hvp, rr              beside(H v): forward over reverse, and reverse over reverse
 *   ds                   the derivative of loss(at(s)) at 0
 * and of the trace driver: `at`, `slope` with the step and the value, after the branches taken. */
#include "gen_parts.h"
#include <stdlib.h>
#include <string.h>

/* The point: a value of type t plus s times a direction, part by part; what is no float stays. */
static const char *point_form(gen *g, const type *t, const char *direction)
{
    switch (t->kind) {
    case T_FLOAT: return gen_format(g, "%s + s * %s", gen_literal(g, t)->form, direction);
    case T_INT: return "i64(2)";
    case T_BOOL: return "true";
    case T_TEXT: return "\"text\"";
    default: break;
    }
    const char *form = t->kind == T_RECORD ? "{" : "(";
    for (int i = 0; i < t->n; i++) {
        const char *part = point_form(g, t->part[i],
                                      t->kind == T_RECORD ? gen_format(g, "%s.%s", direction, t->name[i])
                                                          : gen_format(g, "%s[%d]", direction, i));
        form = t->kind == T_RECORD ? gen_format(g, "%s%s%s: %s", form, i ? ", " : "", t->name[i], part)
                                   : gen_format(g, "%s%s%s", form, i ? ", " : "", part);
    }
    return gen_format(g, "%s%s", form, t->kind == T_RECORD ? "}" : ")");
}

static const char *direction_form(gen *g, const type *t)
{
    switch (t->kind) {
    case T_FLOAT: return gen_literal(g, t)->form;
    case T_RECORD:
    case T_TUPLE: break;
    default: return "none";
    }
    const char *form = t->kind == T_RECORD ? "{" : "(";
    for (int i = 0; i < t->n; i++) {
        const char *part = direction_form(g, t->part[i]);
        form = t->kind == T_RECORD ? gen_format(g, "%s%s%s: %s", form, i ? ", " : "", t->name[i], part)
                                   : gen_format(g, "%s%s%s", form, i ? ", " : "", part);
    }
    return gen_format(g, "%s%s", form, t->kind == T_RECORD ? "}" : ")");
}

/* `sum(g.a * v.a) + …` over the float parts; and print lines of them. */
static const char *inner_form(gen *g, const type *t, const char *a, const char *b, const char *so_far, node *prints)
{
    if (t->kind == T_FLOAT) {
        if (prints) {
            const char *line = gen_format(g, "print(\"%s\"", a);
            if (gen_type_size(t) > 25) line = gen_format(g, "%s, sum(%s), %s[0]", line, a, a);
            else if (t->rank == 0) line = gen_format(g, "%s, %s", line, a);
            else
                for (int i = 0; i < t->dim[0]; i++)
                    for (int j = 0; j < (t->rank == 2 ? t->dim[1] : 1); j++)
                        line = t->rank == 1 ? gen_format(g, "%s, %s[%d]", line, a, i) : gen_format(g, "%s, %s[%d, %d]", line, a, i, j);
            gen_add(g, prints, gen_node(g, N_STMT, gen_format(g, "%s)", line), 0));
        }
        return gen_format(g, "%s + sum(%s * %s)", so_far, a, b);
    }
    if (t->kind == T_INT || t->kind == T_BOOL || t->kind == T_TEXT) {
        if (prints) gen_add(g, prints, gen_node(g, N_STMT, gen_format(g, "print(\"%s\", %s)", a, a), 0));
        return so_far;
    }
    for (int i = 0; i < t->n; i++) {
        const char *x = t->kind == T_RECORD ? gen_format(g, "%s.%s", a, t->name[i]) : gen_format(g, "%s[%d]", a, i);
        const char *y = t->kind == T_RECORD ? gen_format(g, "%s.%s", b, t->name[i]) : gen_format(g, "%s[%d]", b, i);
        so_far = inner_form(g, t->part[i], x, y, so_far, prints);
    }
    return so_far;
}

static const type *parameter_type(gen *g)
{
    const type *parts[PARTS_MAX];
    const char *names[PARTS_MAX];
    int n = 0;
#define PART(NAME, TYPE) (parts[n] = (TYPE), names[n++] = (NAME))
    PART("a", gen_type_float(g, 0, 0, 0));
    PART("b", gen_type_float(g, 1, gen_dim(g), 0));
    PART("w", gen_type_float(g, 2, gen_dim(g), gen_dim(g)));
    if (gen_chance(g, 40)) {
        const type *inner[3] = {gen_type_float(g, 1, gen_dim(g), 0), gen_type_of_kind(g, T_INT),
                                gen_type_of_kind(g, gen_chance(g, 50) ? T_TEXT : T_BOOL)};
        const char *called[3] = {"c", "n", "s"};
        PART("q", gen_type_of_parts(g, T_RECORD, 1 + gen_below(g, 3), inner, called));
    }
    if (gen_chance(g, 30)) {
        const type *inner[2] = {gen_type_float(g, 0, 0, 0), gen_type_float(g, 1, gen_dim(g), 0)};
        PART("t", gen_type_of_parts(g, T_TUPLE, 2, inner, NULL));
    }
    if (gen_chance(g, 20)) PART("k", gen_type_of_kind(g, T_INT));
#undef PART
    return gen_type_of_parts(g, T_RECORD, n, parts, names);
}

static void line(gen *g, node *seq, const char *form) { gen_add(g, seq, gen_node(g, N_STMT, form, 0)); }

static void drivers(gen *g, int seed)
{
    const char *reseed = gen_knows(g, "seed") ? gen_format(g, "seed(%d)\n", seed) : "";
    node *d = g->driver = gen_node(g, N_SEQ, "", 0);
    line(g, d, gen_format(g, "%s(y, g) = value_and_grad(loss)(at(0.0))", reseed));
    line(g, d, "print(\"y\", y)");
    node *prints = gen_node(g, N_SEQ, "", 0);
    inner_form(g, g->param, "g", "v", "", prints);
    gen_add(g, d, prints);
    line(g, d, "print(\"dir\", along(g))");
    if (gen_knows(g, "rand")) line(g, d, "print(\"draw\", rand())");
    line(g, d, gen_format(g, "%s(y1, dy1) = jvp(loss, (at(0.0),), (v,))\nprint(\"jvp\", y1, dy1)", reseed));
    const type *vt = g->vars[0].type; /* the vector that outs gives: see gen_new */
    const char *c = gen_literal(g, vt)->form, *c2 = gen_literal(g, vt)->form;
    line(g, d,
         gen_format(g,
                    "%s(ys, back) = vjp(outs, at(0.0))\n"
                    "print(\"back\", along(back((0.7, %s))))\n"
                    "print(\"back2\", along(back((-0.4, %s))))\n"
                    "%sdys = jvp(outs, (at(0.0),), (v,))[1]\n"
                    "print(\"push\", 0.7 * dys[0] + sum(%s * dys[1]))",
                    reseed, c, c2, reseed, c));
    line(g, d, gen_format(g, "%sprint(\"hvp\", beside(hvp(loss, at(0.0), v)))", reseed));
    line(g, d, gen_format(g, "%sprint(\"rr\", grad(fn(s) = beside(grad(loss)(at(s))))(0.0))", reseed));
    line(g, d, gen_format(g, "%sprint(\"ds\", grad(fn(s) = loss(at(s)))(0.0))", reseed));

    node *t = g->trace = gen_node(g, N_SEQ, "", 0);
    const double steps[5] = {0, GEN_STEP, -GEN_STEP, GEN_STEP / 2, -GEN_STEP / 2};
    const double steps2[5] = {0, GEN_STEP2, -GEN_STEP2, GEN_STEP2 / 2, -GEN_STEP2 / 2};
    for (int i = 0; i < 5; i++) line(g, t, gen_format(g, "%sprint(\"at\", \"%g\", loss(at(%g)))", reseed, steps[i], steps[i]));
    for (int i = 0; i < 5; i++)
        line(g, t, gen_format(g, "%sprint(\"slope\", \"%g\", beside(grad(loss)(at(%g))))", reseed, steps2[i], steps2[i]));
}

gen *gen_new(uint64_t seed, const gen_config *config)
{
    gen *g = calloc(1, sizeof *g);
    if (!g) abort();
    g->seed = g->rng = seed;
    gen_random(g);
    if (config) g->config = *config;
    for (int i = 0; i < 3; i++) g->dims[i] = 1 + gen_below(g, 5);
    if (gen_chance(g, 2)) {
        g->dims[0] = 20 + gen_below(g, 50);
        g->big = true;
    }
    g->top = gen_node(g, N_SEQ, "", 0);

    /* vars[0] stands for the type of the vector output, under a name that is a constant of the program. */
    for (int i = 0; i < 3; i++) {
        const type *t = i == 0 ? gen_type_float(g, 1, gen_dim(g), 0) : gen_float_type(g);
        const char *name = gen_format(g, "c%d", i);
        gen_add(g, g->top, gen_node(g, N_STMT, gen_format(g, "%s = $", name), 1, gen_literal(g, t)));
        g->vars[g->nvars++] = (var){.name = name, .type = t, .fixed = true};
    }
    line(g, g->top,
         gen_chance(g, 50) ? "cv0 = custom_vjp(fn(x) = sin(x), fn(dy, y, x) = dy * cos(x))"
                           : "cv0 = custom_vjp(fn(x) = checkpoint < tanh(x) >, fn(dy, y, x) = dy * (1 - y * y))");
    g->param = parameter_type(g);
    for (int i = gen_below(g, g->config.small ? 2 : 4); i > 0; i--) {
        if (gen_chance(g, 25)) {
            gen_recursive(g, g->top);
            continue;
        }
        const type *parts[4];
        int n = 1 + gen_below(g, 3);
        for (int k = 0; k <= n; k++) parts[k] = gen_chance(g, 70) ? gen_float_type(g) : gen_any_type(g, 1);
        if (gen_chance(g, 15)) {
            const type *inner[2] = {gen_float_type(g), gen_float_type(g)};
            parts[0] = gen_type_of_parts(g, T_FN, 2, inner, NULL);
        }
        gen_function_statement(g, g->top, gen_format(g, "h%d", ++g->serial), gen_type_of_parts(g, T_FN, n + 1, parts, NULL), NULL,
                               2 + gen_below(g, g->config.small ? 3 : 8));
    }
    const type *result[2] = {gen_type_float(g, 0, 0, 0), g->vars[0].type};
    const type *outs[2] = {g->param, gen_type_of_parts(g, T_TUPLE, 2, result, NULL)};
    const char *params[1] = {"p"};
    g->cost = 0;
    gen_function_statement(g, g->top, "outs", gen_type_of_parts(g, T_FN, 2, outs, NULL), params,
                           g->config.small ? 2 + gen_below(g, 6) : 5 + gen_below(g, 20));
    line(g, g->top,
         gen_format(g, "fn loss(p) {\n  (s, o) = outs(p)\n  sin(s) + s + sum(%s * o)\n}", gen_literal(g, g->vars[0].type)->form));
    line(g, g->top, gen_format(g, "v = %s", direction_form(g, g->param)));
    line(g, g->top, gen_format(g, "w = %s", direction_form(g, g->param)));
    line(g, g->top, gen_format(g, "fn at(s) = %s", point_form(g, g->param, "v")));
    line(g, g->top, gen_format(g, "fn along(g) = 0%s", inner_form(g, g->param, "g", "v", "", NULL)));
    line(g, g->top, gen_format(g, "fn beside(g) = 0%s", inner_form(g, g->param, "g", "w", "", NULL)));
    drivers(g, (int)(seed % 1000));
    return g;
}
