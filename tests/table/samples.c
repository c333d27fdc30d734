/* samples.c: arguments to try each row with.
 *
 * Elementwise rows and reductions get theirs by class: every way of broadcasting, empty arrays, records.
 * The domain of an elementwise row's parameter is -2 to 2 unless `domains` says otherwise. Rows whose
 * arguments are structured (places, shapes, forms, cotangents) have theirs listed. A public row with
 * neither is tried with the positional arguments of its examples. */
#include "walker.h"
#include <math.h>

/* --- listed --------------------------------------------------------------------------------------- */

static const sample listed[] = {
#define S(row, args) {#row, "(" args ",)", 0, NULL},
#define C(row, call, args) {#row, "(" args ",)", 0, "fn" call},
#define V(row, args) {#row, "(" args ",)", SAMPLE_VALUE, NULL},
#define L(row, args) {#row, "(" args ",)", SAMPLE_LARGE, NULL},
#include "samples.def"
#undef S
#undef C
#undef V
#undef L
};

/* --- by class ------------------------------------------------------------------------------------- */

typedef struct domain {
    const char *row, *param;
    double lo, hi;
    char kind; /* 'f', 'b'ool, 'n'atural */
} domain;
static const domain domains[] = {
    {"pow", "a", 0.3, 2.5, 'f'},
    {"__pow_slope", "a", 0.3, 2.5, 'f'},
    {"div", "b", 0.5, 2, 'f'},
    {"floordiv", "b", 0.5, 2, 'f'},
    {"mod", "b", 0.7, 2, 'f'},
    {"log", "x", 0.2, 3, 'f'},
    {"log2", "x", 0.2, 3, 'f'},
    {"log10", "x", 0.2, 3, 'f'},
    {"log1p", "x", -0.5, 2, 'f'},
    {"sqrt", "x", 0.2, 3, 'f'},
    {"cbrt", "x", 0.2, 3, 'f'},
    {"reciprocal", "x", 0.4, 3, 'f'},
    {"xlogy", "b", 0.3, 3, 'f'},
    {"tan", "x", -1.2, 1.2, 'f'},
    {"asin", "x", -0.8, 0.8, 'f'},
    {"acos", "x", -0.8, 0.8, 'f'},
    {"acosh", "x", 1.3, 3, 'f'},
    {"atanh", "x", -0.8, 0.8, 'f'},
    {"clamp", "lo", -1, -0.5, 'f'},
    {"clamp", "hi", 0.5, 1, 'f'},
    {"where", "c", 0, 1, 'b'},
    {"gelu", "approximate", 0, 1, 'b'},
    {"__gelu_slope", "approximate", 0, 1, 'b'},
    {"lgamma", "x", 0.5, 4, 'f'},
    {"digamma", "x", 0.5, 4, 'f'},
    {"polygamma", "n", 0, 3, 'n'},
    {"polygamma", "x", 0.8, 4, 'f'},
    {"bce_with_logits", "t", 0.1, 0.9, 'f'},
    {"elu", "alpha", 0.5, 1.5, 'f'},
    {"leaky_relu", "slope", 0.05, 0.5, 'f'},
    {"and", "a", 0, 1, 'b'},
    {"and", "b", 0, 1, 'b'},
    {"or", "a", 0, 1, 'b'},
    {"or", "b", 0, 1, 'b'},
    {"not", "x", 0, 1, 'b'},
    {"atan2", "a", 0.3, 2, 'f'},
    {"hypot", "a", 0.3, 2, 'f'},
};

static domain domain_of(const prim *p, const char *name)
{
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        if (!strcmp(domains[i].row, p->name) && !strcmp(domains[i].param, name)) return domains[i];
    return (domain){p->name, name, -2, 2, 'f'};
}

typedef struct writer {
    char s[3000];
    size_t n;
    double turn;
} writer;

static void put(writer *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(writer *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    t->n += (size_t)vsnprintf(t->s + t->n, sizeof t->s - t->n, fmt, ap);
    va_end(ap);
}

/* A number of the domain, none like another. */
static void put_number(writer *t, const domain *d)
{
    t->turn += 0.6180339887498949;
    double u = t->turn - floor(t->turn);
    if (d->kind == 'b') put(t, u < 0.5 ? "false" : "true");
    else if (d->kind == 'n') put(t, "%d", (int)(d->lo + (d->hi - d->lo) * u));
    else put(t, "%.6f", d->lo + (d->hi - d->lo) * u);
}

/* shape: "" a scalar, "3", "23", and so on, a digit an axis; "0" or "03" empty; "r" a record. */
static void put_array(writer *t, const domain *d, const char *shape)
{
    if (!*shape) {
        put_number(t, d);
    } else if (*shape == 'r') {
        put(t, "{a: ");
        put_array(t, d, "2");
        put(t, ", b: (");
        put_array(t, d, "");
        put(t, ",)}");
    } else if (strchr(shape, '0')) {
        if (d->kind == 'b') put(t, "bool(");
        put(t, "zeros((");
        for (const char *c = shape; *c; c++) put(t, "%c, ", *c);
        put(t, d->kind == 'b' ? ")))" : "))");
    } else {
        put(t, "[");
        for (int k = 0; k < *shape - '0'; k++) {
            if (k) put(t, ", ");
            put_array(t, d, shape + 1);
        }
        put(t, "]");
    }
}

static const char *const one_shapes[] = {"", "3", "23", "0", "03", "r"};
static const char *const two_shapes[][2] = {{"", ""},       {"3", "3"}, {"23", "3"}, {"", "23"}, {"23", ""}, {"21", "23"}, {"1", "23"},
                                            {"212", "132"}, {"0", "0"}, {"03", "3"}, {"0", ""},  {"r", "r"}, {"r", ""},    {"", "r"}};
static const char *const three_shapes[][3] = {{"", "", ""},     {"3", "3", "3"}, {"23", "3", ""}, {"", "", "23"},  {"1", "21", "23"},
                                              {"23", "", "21"}, {"0", "", ""},   {"03", "3", ""}, {"r", "r", "r"}, {"r", "", ""}};

typedef void take_fn(walker *w, const prim *p, const sample *s);

static void elementwise_samples(walker *w, const prim *p, take_fn *take, unsigned *n)
{
    const prim_info *info = prim_info_of(w->h.vm, p);
    for (uint32_t count = info->required; count <= info->nparams; count++) {
        size_t cases = count == 1   ? sizeof one_shapes / sizeof *one_shapes
                       : count == 2 ? sizeof two_shapes / sizeof *two_shapes
                                    : sizeof three_shapes / sizeof *three_shapes;
        for (size_t k = 0; k <= cases; k++) {
            writer t = {.turn = 0.2};
            put(&t, "(");
            for (uint32_t i = 0; i < count; i++) {
                domain d = domain_of(p, symbol_name(w->h.vm->symbols, info->params[i].name));
                if (k == cases) { /* large */
                    if (d.kind == 'b') put(&t, "reshape(sin(0..70000) > 0, (200, 350))");
                    else if (d.kind == 'n') put(&t, "reshape((0..70000) %% 3, (200, 350))");
                    else put(&t, "reshape(%g + %g * sin((0..70000) * %g), (200, 350))", (d.lo + d.hi) / 2, (d.hi - d.lo) / 2, 0.37 + i);
                } else {
                    put_array(&t, &d, count == 1 ? one_shapes[k] : count == 2 ? two_shapes[k][i] : three_shapes[k][i]);
                }
                put(&t, ", ");
            }
            put(&t, ")");
            if ((p->attrs & A_INTERNAL) && strchr(t.s, '{')) continue; /* sparse records are not a matter of mapping */
            take(w, p, &(sample){p->name, t.s, k == cases ? SAMPLE_LARGE : 0, NULL});
            ++*n;
        }
    }
}

static const char *const reduce_samples[] = {
    "([1.3, -0.4, 2.2, 0.7],)",
    "([[1.3, -0.4, 2.2], [0.7, 1.9, -1.1]], 0)",
    "([[1.3, -0.4, 2.2], [0.7, 1.9, -1.1]], -1, true)",
    "([[[1.3, -0.4], [2.2, 0.7]], [[1.9, -1.1], [0.3, 0.9]], [[-0.6, 1.6], [2.5, -1.7]]], (0, 2))",
    "([[1.3, -0.4], [2.2, 0.7]], none, true)",
    "([[1.3], [2.2]], 1)",
    "(1.7,)",
    "(zeros(0, 3), 1)",
    "([[1.3, -0.4], [2.2, 0.7]], ())",
};
static const char *const reduce_large[] = {
    "(sin(0..300000),)",
    "(reshape(sin(0..200000), (500, 400)), 0)",
    "(reshape(sin(0..200000), (500, 400)), 1)",
    "(reshape(sin(0..90000), (30, 50, 60)), (0, 2))",
};

static void reduction_samples(walker *w, const prim *p, take_fn *take, unsigned *n)
{
    for (size_t i = 0; i < sizeof reduce_samples / sizeof *reduce_samples; i++, ++*n)
        take(w, p, &(sample){p->name, reduce_samples[i], 0, NULL});
    for (size_t i = 0; i < sizeof reduce_large / sizeof *reduce_large; i++, ++*n)
        take(w, p, &(sample){p->name, reduce_large[i], SAMPLE_LARGE, NULL});
}

/* --- from examples -------------------------------------------------------------------------------- */

/* `name(…)` as a whole: its positional arguments as a tuple, the named ones in a function around it. */
static bool example_sample(const prim *p, const char *line, char *args, char *call, size_t size)
{
    size_t k = strlen(p->name), n = strlen(line);
    if (strncmp(line, p->name, k) || line[k] != '(' || line[n - 1] != ')') return false;
    char named[1000] = "", list[200] = "";
    int depth = 0, count = 0;
    bool quoted = false;
    snprintf(args, size, "(");
    const char *start = line + k + 1;
    for (const char *s = start; *s; s++) {
        if (*s == '"') quoted = !quoted;
        if (quoted) continue;
        bool end = depth == 0 && (*s == ',' || *s == ')');
        if (end) {
            int length = (int)(s - start);
            const char *equals = memchr(start, '=', (size_t)length);
            if (equals && equals[-1] == ' ' && equals[1] == ' ')
                snprintf(named + strlen(named), sizeof named - strlen(named), ", %.*s", length, start);
            else if (length) {
                snprintf(args + strlen(args), size - strlen(args), "%.*s, ", length, start);
                snprintf(list + strlen(list), sizeof list - strlen(list), "%sa%d", count ? ", " : "", count);
                count++;
            }
            start = s + 1;
            if (*s == ')') {
                if (s[1]) return false; /* only the beginning of the expression */
                break;
            }
        }
        if (strchr("([{", *s)) depth++;
        if (strchr(")]}", *s)) depth--;
    }
    snprintf(args + strlen(args), size - strlen(args), ")");
    *call = 0;
    if (*named) snprintf(call, size, "fn(%s) = %s(%s%s)", list, p->name, list, named);
    return true;
}

static void samples_of_examples(walker *w, const prim *p, take_fn *take, unsigned *n)
{
    char line[1000], args[2500], call[2500];
    for (const char *s = p->examples; *s;) {
        size_t k = strcspn(s, "\n");
        snprintf(line, sizeof line, "%.*s", (int)k, s);
        s += k + (s[k] == '\n');
        char *mark = strstr(line, "  # ");
        if (mark) *mark = 0;
        if (!mark || !example_sample(p, line, args, call, sizeof args)) continue;
        take(w, p, &(sample){p->name, args, 0, *call ? call : NULL});
        ++*n;
    }
}

unsigned samples_of(walker *w, const prim *p, take_fn *take)
{
    unsigned n = 0;
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        if (!strcmp(listed[i].row, p->name)) take(w, p, &listed[i]), n++;
    if (p->shape == S_BROADCAST) elementwise_samples(w, p, take, &n);
    if (p->shape == S_REDUCE) reduction_samples(w, p, take, &n);
    if (!n && repeatable(p)) samples_of_examples(w, p, take, &n);
    return n;
}

/* --- exempt --------------------------------------------------------------------------------------- */

const char *exempt(const prim *p)
{
    static const struct {
        const char *row, *why;
    } list[] = {
        {"__custom", "its arguments are functions; custom_vjp is tested as a whole among the awkward points"},
        {"__no_captures", "an error, or nothing"},
        {"__refuse", "stops with an error; rows of kind REFUSE are made of it"},
        {"__dual_residual", "its arguments are residuals; derivatives through blocks are tested with every row"},
        {"__dual_tangent", "as __dual_residual"},
        {"__saved", "its arguments are residuals; it measures them"},
        {"__nothing", "no arguments"},
        {"__host", "there is no host here that registered a function; the embedding tests call it"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!strcmp(list[i].row, p->name)) return list[i].why;
    if (p->kind != RULE_CONSTANT) return NULL;
    if (p->attrs & A_INPUT) return "reads the world: what it gives is a constant";
    if (p->attrs & A_OUTPUT) return "its result is none";
    if (p->attrs & A_RANDOM) return "draws numbers that depend on the state alone";
    if (p->attrs & A_EFFECT) return "its result is none, or it stops";
    return NULL;
}
