/* help.c: a row of prim.def in words. One function writes both the text of help(f) and the section of
 * SPEC.md, so that neither can say something the table does not. */
#include "help.h"
#include "vm.h"
#include <string.h>

/* The groups of prim.def with the number of rows each has, counted by including it: a row is `+1`. */
#define GROUP(name) \
    } \
    , \
    { \
        name, 0
#define ELEM(...) +1
#define ELEMC(...) +1
#define ELEMH(...) +1
#define PRIM(...) +1
#define HIDE(...) +1
const help_group help_groups[] = {
    {"", 0
#include "prim.def"
    },
};
#undef GROUP
#undef ELEM
#undef ELEMC
#undef ELEMH
#undef PRIM
#undef HIDE
const uint32_t help_group_count = sizeof help_groups / sizeof *help_groups;

/* "a + b" for add; the call itself for what has no sign. */
static void put_call(const prim *p, text *out)
{
    char display[64];
    const char *sign = prim_display(p, display);
    const char *comma = strchr(p->signature, ',');
    if (sign == display) text_printf(out, "%s(%s)", p->name, p->signature);
    else if (comma) text_printf(out, "%.*s %s%s", (int)(comma - p->signature), p->signature, sign, comma + 1);
    else text_printf(out, sign[0] >= 'a' ? "%s %s" : "%s%s", sign, p->signature);
}

static const char *first_name(const prim *p, size_t *n)
{
    *n = strcspn(p->signature, ",. =");
    return p->signature;
}

/* A line of a row's documentation that says what no class of shapes does; it is shown with the result. */
static const char shape_line[] = "shape: ";

/* The first line of s that begins with `begins`; NULL: none. */
static const char *line_with(const char *s, const char *begins)
{
    for (; s && *s; s = strchr(s, '\n'), s = s ? s + 1 : NULL)
        if (!strncmp(s, begins, strlen(begins))) return s;
    return NULL;
}

/* "the arguments broadcast; f64 or f32": empty when only the documentation can say. */
static void put_result(const prim *p, const char *quote, text *out)
{
    size_t n;
    const char *x = first_name(p, &n);
    size_t before = out->n;
    switch (p->shape) {
    case S_BROADCAST: text_puts(out, strchr(p->signature, ',') ? "shapes broadcast" : "same shape"); break;
    case S_SAME: text_printf(out, "shape of %s%.*s%s", quote, (int)n, x, quote); break;
    case S_REDUCE: text_puts(out, "shape without the reduced axes"); break;
    case S_SCALAR: text_puts(out, "scalar"); break;
    case S_MATMUL: text_puts(out, "batches broadcast, then the product's last two axes"); break;
    case S_CUSTOM: {
        const char *shape = line_with(p->doc, shape_line);
        if (shape) text_printf(out, "%.*s", (int)strcspn(shape + strlen(shape_line), "\n"), shape + strlen(shape_line));
        break;
    }
    }
    const char *comma = out->n > before ? "; " : "";
    switch (p->dtype) {
    case D_ARITH: text_printf(out, "%sdtypes promoted, bool counting as i64", comma); break;
    case D_FLOAT: text_printf(out, "%sdtypes promoted to a float", comma); break;
    case D_SAME: text_printf(out, "%sdtype of %s%.*s%s", comma, quote, (int)n, x, quote); break;
    case D_BOOL: text_printf(out, "%sbool", comma); break;
    case D_I64: text_printf(out, "%si64", comma); break;
    case D_OTHER: break;
    }
}

static void put_derivative(const prim *p, const char *quote, text *out)
{
    switch (p->kind) {
    case RULE_ELEMENTWISE: text_printf(out, "elementwise, %s%s%s", quote, p->vjp, quote); break;
    case RULE_LINEAR: text_printf(out, "linear, %s%s%s", quote, p->vjp, quote); break;
    case RULE_BILINEAR: text_printf(out, "bilinear, %s%s%s", quote, p->vjp, quote); break;
    case RULE_CUSTOM: text_printf(out, "vjp %s%s%s; jvp %s%s%s", quote, p->vjp, quote, quote, p->jvp, quote); break;
    case RULE_CONSTANT: text_puts(out, "none"); break;
    case RULE_REFUSE: text_printf(out, "refused: %s", p->vjp); break;
    }
}

/* Each line of [s, end) behind a margin. */
static void put_lines(const char *s, const char *end, const char *margin, text *out)
{
    while (s < end) {
        size_t n = strcspn(s, "\n");
        if (n) text_printf(out, "%s%.*s\n", margin, (int)n, s);
        s += n + (s[n] == '\n');
    }
}

static bool has_result(const prim *p) { return p->shape != S_CUSTOM || p->dtype != D_OTHER || line_with(p->doc, shape_line); }

static void prim_markdown(const prim *p, text *out)
{
    text_puts(out, "**`");
    put_call(p, out);
    text_puts(out, "`** ");
    /* The first line of the documentation is a sentence of its own; another may go on in the next. */
    bool first = true;
    const char *end = line_with(p->doc, shape_line);
    if (end) end--; /* before its line break */
    for (const char *s = p->doc; *s && s != end; s++)
        if (*s != '\n') text_putc(out, *s);
        else if (s[1] != '\n') {
            bool ends = s[-1] == '.' || s[-1] == ':' || s[-1] == '\n' || (!first && !(s[1] >= 'A' && s[1] <= 'Z'));
            text_puts(out, ends ? " " : ". ");
            first = false;
        }
    text_puts(out, "\n");
    if (has_result(p)) {
        text_puts(out, "- result: ");
        put_result(p, "`", out);
        text_putc(out, '\n');
    }
    text_puts(out, "- derivative: ");
    put_derivative(p, "`", out);
    text_putc(out, '\n');
    if (p->examples[0]) {
        text_puts(out, "\n```\n");
        put_lines(p->examples, p->examples + strlen(p->examples), "", out);
        text_puts(out, "```\n");
    }
}

void help_prim(const prim *p, help_style style, text *out)
{
    if (style == HELP_MARKDOWN) {
        prim_markdown(p, out);
        return;
    }
    put_call(p, out);
    text_putc(out, '\n');
    const char *end = line_with(p->doc, shape_line);
    put_lines(p->doc, end ? end : p->doc + strlen(p->doc), "  ", out);
    if (has_result(p)) {
        text_puts(out, "  result: ");
        put_result(p, "", out);
        text_putc(out, '\n');
    }
    text_puts(out, "  derivative: ");
    put_derivative(p, "", out);
    text_putc(out, '\n');
    put_lines(p->examples, p->examples + strlen(p->examples), "  ", out);
}

size_t help_head(const char *open, size_t most)
{
    size_t n = 0;
    int depth = 0;
    do {
        depth += open[n] == '(' || open[n] == '[' || open[n] == '{';
        depth -= open[n] == ')' || open[n] == ']' || open[n] == '}';
        n++;
    } while (depth > 0 && n < most);
    return n;
}

/* A line break and the blanks after it become one space. */
static void put_joined(const char *s, size_t n, text *out)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] != '\n') {
            text_putc(out, s[i]);
            continue;
        }
        while (i + 1 < n && s[i + 1] == ' ') i++;
        text_putc(out, ' ');
    }
}

static const char derivative_written[] = "derivative: grad goes through its body, one operation after the other; `:adjoint` shows how";

void help_written(const char *doc, help_style style, text *out)
{
    bool markdown = style == HELP_MARKDOWN;
    const char *examples = line_with(doc, "  "), *end = examples ? examples : doc + strlen(doc);
    const char *prose = doc, *colon = strstr(doc, "): ");
    if (doc[strcspn(doc, "( :\n")] == '(' && colon && colon < strchr(doc, '\n')) prose = colon + 3; /* it repeats the signature */
    while (prose < end) {
        size_t n = strcspn(prose, "\n");
        if (markdown) text_printf(out, "%.*s%s", (int)n, prose, prose + n + 1 < end ? " " : "\n");
        else text_printf(out, "  %.*s\n", (int)n, prose);
        prose += n + (prose[n] == '\n');
    }
    if (!examples) return;
    text_printf(out, markdown ? "\n```\n" : "  %s\n", derivative_written);
    for (const char *s = examples; *s;) {
        size_t n = strcspn(s, "\n"), margin = markdown ? strspn(s, " ") : 0;
        if (n) text_printf(out, "%.*s\n", (int)(n - margin), s + margin);
        s += n + (s[n] == '\n');
    }
    if (markdown) text_puts(out, "```\n");
}

static const prim *prim_of_code(vm *m, const code *c)
{
    for (uint32_t i = 0; i < prim_count; i++)
        if (m->prim_infos[i].as_value == c) return &prims[i];
    return NULL;
}

void help_function(vm *m, const code *c, text *out)
{
    const prim *p = prim_of_code(m, c);
    if (p) {
        help_prim(p, HELP_PLAIN, out);
        return;
    }
    const char *head = c->src ? c->src->text + c->at.lo : "", *open = memchr(head, '(', c->src ? c->at.hi - c->at.lo : 0);
    text_puts(out, c->name ? symbol_name(m->symbols, c->name) : "fn");
    if (open && !strncmp(head, "fn", 2)) put_joined(open, help_head(open, (size_t)(c->src->text + c->at.hi - open)), out);
    text_putc(out, '\n');
    if (c->help) help_written(c->help, HELP_PLAIN, out);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Names in lines of at most 100 characters, behind a margin. */
typedef struct name_lines {
    text *out;
    size_t column;
} name_lines;

static void put_name(name_lines *l, const char *name)
{
    size_t n = strlen(name);
    bool first = l->column == 0;
    if (!first && l->column + n + 1 > 100) text_putc(l->out, '\n'), first = true;
    text_printf(l->out, first ? "  %s" : " %s", name);
    l->column = first ? n + 2 : l->column + n + 1;
}

static bool by_name(const char *a, const char *b) { return strcmp(a, b) < 0; }

/* Functions that are there without an import and are written in Replay, in order. */
static void put_written(vm *m, text *out)
{
    const table *t = as_table(m->globals);
    name_lines l = {out, 0};
    for (const char *last = ""; last;) {
        const char *next = NULL;
        for (uint32_t i = 0; i < t->cap; i++) {
            if (!t->keys[i] || t->v[i].tag != V_FUNCTION) continue;
            const char *name = symbol_name(m->symbols, t->keys[i]);
            if (!strncmp(name, "derive:", 7)) name += 7;
            else if (!strncmp(name, "prelude:", 8)) name += 8;
            else continue;
            if (name[0] != '_' && by_name(last, name) && (!next || by_name(name, next))) next = name;
        }
        if (next) put_name(&l, next);
        last = next;
    }
    if (l.column) text_putc(out, '\n');
}

void help_all(vm *m, text *out)
{
    text_puts(out, "help(f) says what a function does: help(sum). There are, without an import:\n");
    for (uint32_t g = 0, at = 0; g < help_group_count; at += help_groups[g++].rows) {
        name_lines l = {out, 0};
        for (uint32_t i = at; i < at + help_groups[g].rows; i++) {
            char sign[64];
            if ((prims[i].attrs & A_INTERNAL) || prim_display(&prims[i], sign) != sign) continue; /* an operator */
            if (!l.column) text_printf(out, "%s\n", help_groups[g].title);
            put_name(&l, prims[i].name);
        }
        if (l.column) text_putc(out, '\n');
    }
    text_puts(out, "Derivatives and functions of functions\n");
    put_written(m, out);
    text_puts(out, "Modules have more: import \"nn\" as nn; help(nn.dense). The others are optim, ode, data, linalg and stats.\n");
}
