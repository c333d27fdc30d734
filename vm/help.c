/* help.c: a row of prim.def in words. One function writes both the text of help(f) and the section of
 * SPEC.md, so that neither can say something the table does not. */
#include "help.h"
#include "vm.h"
#include <string.h>

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

static const char derivative_written[] = "derivative: that of its body; `:adjoint` shows it";

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
