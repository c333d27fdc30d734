/* print.c: lays values out as text; print.h says how they look.
 *
 * An array is walked twice: once to find the widths of its columns (left and right of the decimal
 * point), once to write. A structure is written with each part on a line of its own, and joined again
 * when the parts turn out to be short. C recursion follows ranks (at most 8) and nesting up to
 * PRINT_DEPTH. */
#include "print.h"
#include "code.h"
#include "number.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t text_columns(const char *s, size_t n)
{
    size_t columns = 0;
    while (n > 0) {
        uint32_t cp;
        int k = utf8_decode(s, n, &cp);
        if (k == 0) k = 1, cp = '?';
        columns += (size_t)utf8_width(cp);
        s += k, n -= (size_t)k;
    }
    return columns;
}

/* Columns of the line that `out` ends in. */
static int column_now(const text *out)
{
    size_t i = out->n;
    while (i > 0 && out->s[i - 1] != '\n') i--;
    return (int)text_columns(text_str(out) + i, out->n - i);
}

static void spaces(text *out, int n)
{
    for (; n > 0; n--) text_putc(out, ' ');
}
static void line_break(text *out, int indent)
{
    text_putc(out, '\n');
    spaces(out, indent);
}

void string_print_quoted(const char *s, size_t n, text *out)
{
    text_putc(out, '"');
    while (n > 0) {
        uint32_t cp;
        int k = utf8_decode(s, n, &cp);
        if (k == 0) {
            text_puts(out, "\\u{fffd}");
            k = 1;
        } else if (cp == '"' || cp == '\\') text_printf(out, "\\%c", (char)cp);
        else if (cp == '\n') text_puts(out, "\\n");
        else if (cp == '\t') text_puts(out, "\\t");
        else if (cp == '\r') text_puts(out, "\\r");
        else if (cp == 0) text_puts(out, "\\0");
        else if (cp < 0x20 || cp == 0x7f) text_printf(out, "\\x%02x", cp);
        else if (cp >= 0x80 && cp < 0xa0) text_printf(out, "\\u{%x}", cp);
        else text_add(out, s, (size_t)k);
        s += k, n -= (size_t)k;
    }
    text_putc(out, '"');
}

/* --- numbers --------------------------------------------------------------------------------------- */

static void scalar_print(value v, text *out)
{
    switch (v.tag) {
    case V_BOOL: text_puts(out, v.u.i ? "true" : "false"); break;
    case V_I64: text_printf(out, "%lld", (long long)v.u.i); break;
    case V_F32: number_print_f32((float)v.u.f, out); break;
    default: number_print(v.u.f, out);
    }
}

/* An element of an array. */
static size_t element_format(value v, char out[NUMBER_MOST])
{
    if (v.tag == V_BOOL) return (size_t)sprintf(out, v.u.i ? "true" : "false");
    if (v.tag == V_I64) return (size_t)sprintf(out, "%lld", (long long)v.u.i);
    double x = v.u.f;
    if (isfinite(x) && !(x == floor(x) && fabs(x) < 1e16)) {
        char digits[NUMBER_MOST];
        snprintf(digits, sizeof digits, "%.7e", x); /* and read back under the same locale */
        x = strtod(digits, NULL);
    }
    return number_format(x, out);
}

/* Columns left of the decimal point (or exponent), and from there on. Words stand on the left. */
typedef struct widths {
    int left, right;
} widths;
static widths widths_of(const char *s, size_t n)
{
    if (n && (s[0] == 't' || (s[0] == 'f' && s[1] == 'a'))) return (widths){0, (int)n};
    size_t i = 0;
    while (i < n && s[i] != '.' && s[i] != 'e') i++;
    return (widths){(int)i, (int)(n - i)};
}
static widths widest(widths a, widths b) { return (widths){a.left > b.left ? a.left : b.left, a.right > b.right ? a.right : b.right}; }

typedef struct array_printer {
    const array *a;
    text *out;
    bool cut;       /* only the ends of long axes */
    widths *column; /* one for each shown position of the last axis, NULL: no alignment */
} array_printer;

/* How many positions of an axis are shown, the gap counting as one. */
static int64_t shown(const array_printer *p, int64_t n) { return p->cut && n > 2 * PRINT_EDGE ? 2 * PRINT_EDGE + 1 : n; }
/* The index at a shown position; -1: the gap. */
static int64_t shown_at(const array_printer *p, int64_t n, int64_t i)
{
    if (shown(p, n) == n) return i;
    return i < PRINT_EDGE ? i : i == PRINT_EDGE ? -1 : n - 2 * PRINT_EDGE - 1 + i;
}
static size_t shown_format(const array_printer *p, int64_t offset, int64_t i, char s[NUMBER_MOST])
{
    int last = p->a->rank - 1;
    int64_t k = shown_at(p, array_shape(p->a)[last], i);
    if (k < 0) return (size_t)sprintf(s, "...");
    return element_format(array_at(p->a, offset + k * array_stride(p->a)[last]), s);
}

/* Widens p->column by the rows below `offset`. */
static void measure(array_printer *p, int axis, int64_t offset)
{
    int64_t n = array_shape(p->a)[axis];
    for (int64_t i = 0; i < shown(p, n); i++) {
        int64_t k = shown_at(p, n, i);
        if (axis < p->a->rank - 1) {
            if (k >= 0) measure(p, axis + 1, offset + k * array_stride(p->a)[axis]);
            continue;
        }
        char s[NUMBER_MOST];
        size_t length = shown_format(p, offset, i, s);
        p->column[i] = widest(p->column[i], k < 0 ? (widths){0, 3} : widths_of(s, length));
    }
}

/* One row, from its bracket to its bracket; `indent` is where the bracket stands. */
static void row_print(array_printer *p, int64_t offset, int indent)
{
    int64_t n = shown(p, array_shape(p->a)[p->a->rank - 1]);
    int at = indent + 1, pad = 0;
    text_putc(p->out, '[');
    for (int64_t i = 0; i < n; i++) {
        char s[NUMBER_MOST];
        int length = (int)shown_format(p, offset, i, s), left = 0, right = 0;
        if (p->column) {
            widths w = s[0] == '.' ? (widths){0, 3} : widths_of(s, (size_t)length);
            left = p->column[i].left - w.left;
            right = p->column[i].right - w.right;
        }
        int needed = pad + (i > 0) + left + length + 1;
        if (i > 0 && at + needed > PRINT_WIDTH) {
            line_break(p->out, indent + 1);
            at = indent + 1 + left + length + 1;
        } else {
            spaces(p->out, pad + (i > 0));
            at += needed;
        }
        spaces(p->out, left);
        text_add(p->out, s, (size_t)length);
        if (i + 1 < n) text_putc(p->out, ',');
        pad = right;
    }
    text_putc(p->out, ']');
}

static void rows_print(array_printer *p, int axis, int64_t offset, int indent)
{
    if (axis == p->a->rank - 1) {
        row_print(p, offset, indent);
        return;
    }
    int64_t n = array_shape(p->a)[axis];
    text_putc(p->out, '[');
    for (int64_t i = 0; i < shown(p, n); i++) {
        if (i > 0) {
            text_putc(p->out, ',');
            for (int k = axis + 2; k < p->a->rank; k++) text_putc(p->out, '\n');
            line_break(p->out, indent + 1);
        }
        int64_t k = shown_at(p, n, i);
        if (k < 0) text_puts(p->out, "...");
        else rows_print(p, axis + 1, offset + k * array_stride(p->a)[axis], indent + 1);
    }
    text_putc(p->out, ']');
}

static void array_print(vm *m, const array *a, bool shape, text *out)
{
    array_printer p = {.a = a, .out = out, .cut = a->size > PRINT_THRESHOLD};
    if (a->size == 0) text_puts(out, "[]");
    else {
        int indent = column_now(out);
        size_t n = (size_t)shown(&p, array_shape(a)[a->rank - 1]), bytes = n * sizeof *p.column;
        widths *column = p.column = memory_alloc(&m->mem, MEM_TEXT, bytes);
        if (!column) {
            out->failed = true;
            return;
        }
        measure(&p, 0, 0);
        if (a->rank == 1) { /* aligned only when it takes several lines */
            widths w = {0, 0};
            size_t total = 2 * n;
            for (size_t i = 0; i < n; i++) total += (size_t)(column[i].left + column[i].right), w = widest(w, column[i]);
            for (size_t i = 0; i < n; i++) column[i] = w;
            if ((size_t)indent + total <= PRINT_WIDTH) p.column = NULL;
        }
        rows_print(&p, 0, 0, indent);
        memory_free(&m->mem, MEM_TEXT, column, bytes);
    }
    if (shape && (p.cut || (a->size == 0 && a->rank > 1))) {
        text_printf(out, " (%s", dtype_name((dtype)a->dtype));
        shape_print(a->rank, array_shape(a), out);
        text_putc(out, ')');
    }
}

/* --- structures --------------------------------------------------------------------------------------- */

static void function_print(vm *m, const closure *f, text *out)
{
    const code *c = f->code;
    if (f->residual) {
        text_puts(out, "fn");
        return;
    }
    text_puts(out, "fn");
    if (c->name) text_printf(out, " %s", symbol_name(m->symbols, c->name));
    text_putc(out, '(');
    for (uint32_t i = 0; i < c->nparams; i++)
        text_printf(out, "%s%s%s", i ? ", " : "", c->param_names ? symbol_name(m->symbols, c->param_names[i]) : "_",
                    c->rest && i + 1 == c->nparams ? "..." : "");
    text_putc(out, ')');
}

static void print_at(vm *m, value v, int depth, text *out);

/* Where each part begins, in bytes of `out`; the gap of a long tuple counts as a part. */
typedef struct parts {
    size_t *start;
    size_t n;
} parts;

/* Joins parts that were written a line each: all on one line when they fit; a tuple's else as many on a
   line as fit, a record's stay. Parts of several lines stay as they are. */
static void parts_join(text *out, const parts *p, int indent, bool fill)
{
    size_t width = (size_t)indent + 2, end = out->n;
    for (size_t i = 0; i < p->n; i++) {
        size_t stop = i + 1 < p->n ? p->start[i + 1] - (size_t)indent - 2 : end; /* before ",\n" and indent */
        if (memchr(out->s + p->start[i], '\n', stop - p->start[i])) return;
        width += text_columns(out->s + p->start[i], stop - p->start[i]) + 2;
    }
    if (width > PRINT_WIDTH && !fill) return;
    size_t to = p->start[0] + 0, at = (size_t)indent;
    for (size_t i = 0; i < p->n; i++) {
        size_t stop = i + 1 < p->n ? p->start[i + 1] - (size_t)indent - 2 : end, length = stop - p->start[i];
        size_t columns = text_columns(out->s + p->start[i], length);
        if (i > 0) {
            out->s[to++] = ',';
            if (at + 2 + columns + 1 > PRINT_WIDTH) {
                out->s[to++] = '\n';
                memset(out->s + to, ' ', (size_t)indent);
                to += (size_t)indent;
                at = (size_t)indent;
            } else {
                out->s[to++] = ' ';
                at += 2;
            }
        }
        memmove(out->s + to, out->s + p->start[i], length);
        to += length;
        at += columns;
    }
    out->n = to;
    out->s[to] = 0;
}

static void structure_print(vm *m, value v, int depth, text *out)
{
    const tuple *t = v.tag == V_TUPLE ? as_tuple(v) : NULL;
    const record *r = t ? NULL : as_record(v);
    uint32_t n = t ? t->n : r->n;
    bool cut = t && n > PRINT_THRESHOLD;
    uint32_t count = cut ? 2 * PRINT_EDGE + 1 : n;
    text_putc(out, t ? '(' : '{');
    int indent = column_now(out);
    parts p = {.n = count, .start = count ? memory_alloc(&m->mem, MEM_TEXT, count * sizeof *p.start) : NULL};
    if (count && !p.start) out->failed = true;
    for (uint32_t i = 0; i < count && !out->failed; i++) {
        if (INTERRUPTED(m)) out->failed = true; /* whoever asked for the text says why there is none */
        if (i > 0) {
            text_putc(out, ',');
            line_break(out, indent);
        }
        p.start[i] = out->n;
        uint32_t k = !cut || i < PRINT_EDGE ? i : n - count + i;
        if (!t) text_printf(out, "%s: ", symbol_name(m->symbols, r->names[k]));
        if (cut && i == PRINT_EDGE) text_puts(out, "...");
        else if (depth >= PRINT_DEPTH) text_puts(out, "...");
        else print_at(m, t ? t->v[k] : r->v[k], depth + 1, out);
    }
    if (p.start && !out->failed) parts_join(out, &p, indent, t != NULL);
    memory_free(&m->mem, MEM_TEXT, p.start, p.start ? count * sizeof *p.start : 0);
    text_puts(out, !t ? "}" : n == 1 ? ",)" : ")");
    if (cut) text_printf(out, " (tuple of %u)", n);
}

/* A value inside another, or the whole one. */
static void print_at(vm *m, value v, int depth, text *out)
{
    switch ((value_tag)v.tag) {
    case V_BOOL:
    case V_I64:
    case V_F32:
    case V_F64: scalar_print(v, out); break;
    case V_ARRAY: array_print(m, as_array(v), true, out); break;
    case V_STRING: string_print_quoted(as_string(v)->s, as_string(v)->length, out); break;
    case V_TUPLE:
    case V_RECORD: structure_print(m, v, depth, out); break;
    case V_FUNCTION: function_print(m, as_closure(v), out); break;
    case V_NONE: text_puts(out, "none"); break;
    case V_ZERO: text_puts(out, "0"); break;
    case V_FORM:
    case V_FORMOBJ: form_print(m, v, out); break;
    default: text_printf(out, "<%s>", value_type_name(v));
    }
}

void value_print(vm *m, value v, print_style style, text *out)
{
    if (style == PRINT_PLAIN && v.tag == V_STRING) text_add(out, as_string(v)->s, as_string(v)->length);
    else if (style == PRINT_HEADER && v.tag == V_ARRAY) {
        value_describe(m, v, out);
        text_putc(out, '\n');
        array_print(m, as_array(v), false, out);
    } else print_at(m, v, 0, out);
}
