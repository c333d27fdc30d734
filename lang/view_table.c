/* view_table.c: `table f(args)`: every intermediate of a call by the user's name, with its line, shape,
 * value and cotangent. A picture of many rows shows the first and the last of them. */
#include "view.h"
#include "trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 6, ROWS_SHOWN = 400, PICTURE_HEAD = 20, PICTURE_TAIL = 10 };

/* A table of words; its first line is the heading. */
typedef struct cells {
    text *of;
    uint32_t rows, cap;
    memory *m;
    bool failed;
} cells;

static text *cell(cells *c, uint32_t row, int col)
{
    while (row >= c->rows) {
        if (c->rows == c->cap) {
            uint32_t cap = c->cap ? 2 * c->cap : 64;
            text *more = realloc(c->of, cap * COLUMNS * sizeof *more);
            if (!more) {
                c->failed = true;
                return NULL;
            }
            c->of = more;
            c->cap = cap;
        }
        for (int k = 0; k < COLUMNS; k++) text_open(&c->of[c->rows * COLUMNS + k], c->m);
        c->rows++;
    }
    return &c->of[row * COLUMNS + col];
}

static void cells_close(cells *c)
{
    for (uint32_t k = 0; k < c->rows * COLUMNS; k++) text_close(&c->of[k]);
    free(c->of);
}

static size_t width_of(const text *t) { return utf8_length(text_str(t), t->n); }

static void shape_words(vm *m, value v, text *out)
{
    if (v.tag == V_ARRAY || value_is_scalar(v)) value_describe(m, v, out);
    else if (v.tag != V_UNDEF) text_puts(out, value_type_name(v));
}

static void argument_row(vm *m, cells *c, uint32_t row, const code *f, uint32_t k, value v, value cot)
{
    uint32_t line = 0, column;
    if (f) span_where(f->at, &line, &column);
    bool named = f && k < f->nparams && f->param_names[k];
    if (named) text_puts(cell(c, row, 0), symbol_name(m->symbols, f->param_names[k]));
    else text_printf(cell(c, row, 0), "argument %u", k);
    if (line) text_printf(cell(c, row, 1), "%u", line);
    text_puts(cell(c, row, 2), "argument");
    shape_words(m, v, cell(c, row, 3));
    view_value(m, v, 34, cell(c, row, 4));
    view_value(m, cot, 34, cell(c, row, 5));
}

static bool fill(session *s, const view_call *c, const trace *t, value result, uint32_t most, cells *cs)
{
    vm *m = s->h->vm;
    static const char *const heads[COLUMNS] = {"name", "line", "source", "shape", "value", "cotangent"};
    cs->m = &m->mem;
    for (int k = 0; k < COLUMNS; k++)
        if (cell(cs, 0, k)) text_puts(cell(cs, 0, k), heads[k]);
    const code *f = as_closure(c->f)->code;
    const tuple *args = as_tuple(c->args);
    value cots = as_tuple(result)->v[1];
    for (uint32_t k = 0; k < args->n && !cs->failed; k++)
        argument_row(m, cs, cs->rows, f, k, args->v[k],
                     cots.tag == V_TUPLE && k < as_tuple(cots)->n ? as_tuple(cots)->v[k] : value_undef());
    for (uint32_t k = 0; k < t->nrows && k < most && !cs->failed; k++) {
        const trace_row *r = &t->rows[k];
        uint32_t row = cs->rows;
        if (!cell(cs, row, 0)) return false;
        text *name = cell(cs, row, 0);
        for (uint32_t d = 1; d < r->depth && d < 6; d++) text_puts(name, "  ");
        symbol own = trace_symbol(r->code, r->r);
        text_puts(name, own ? symbol_name(m->symbols, own) : "·");
        text_printf(cell(cs, row, 1), "%u", trace_line_of(r));
        trace_source(r->i, 30, cell(cs, row, 2));
        shape_words(m, r->v, cell(cs, row, 3));
        view_value(m, r->v, 34, cell(cs, row, 4));
        view_value(m, r->cot, 34, cell(cs, row, 5));
    }
    return !cs->failed;
}

static void as_text(const cells *c, uint32_t more, text *out)
{
    size_t w[COLUMNS] = {0};
    for (uint32_t r = 0; r < c->rows; r++)
        for (int k = 0; k < COLUMNS; k++)
            if (width_of(&c->of[r * COLUMNS + k]) > w[k]) w[k] = width_of(&c->of[r * COLUMNS + k]);
    for (uint32_t r = 0; r < c->rows; r++) {
        for (int k = 0; k < COLUMNS; k++) {
            const text *t = &c->of[r * COLUMNS + k];
            size_t pad = w[k] - width_of(t);
            if (k) text_puts(out, "  ");
            if (k == 1)
                while (pad) text_putc(out, ' '), pad--;
            text_add(out, text_str(t), t->n);
            while (pad && k + 1 < COLUMNS) text_putc(out, ' '), pad--;
        }
        while (out->n && out->s[out->n - 1] == ' ') out->s[--out->n] = 0;
        text_putc(out, '\n');
    }
    if (more) text_printf(out, "... and %u more\n", more);
}

static void as_json(const cells *c, text *out)
{
    text_puts(out, "[\n");
    for (uint32_t r = 1; r < c->rows; r++) {
        text_puts(out, "{");
        for (int k = 0; k < COLUMNS; k++) {
            const text *t = &c->of[r * COLUMNS + k];
            size_t lead = strspn(text_str(t), " ");
            if (k) text_puts(out, ", ");
            json_string(text_str(&c->of[k]), c->of[k].n, out);
            text_puts(out, ": ");
            if (k == 1) text_puts(out, t->n ? text_str(t) : "null");
            else json_string(text_str(t) + lead, t->n - lead, out);
        }
        text_puts(out, r + 1 < c->rows ? "},\n" : "}\n");
    }
    text_puts(out, "]\n");
}

static void as_svg(const cells *c, const char *title, text *out)
{
    const double size = 15, step = 26, left = 24;
    uint32_t cut = c->rows - 1 > PICTURE_HEAD + PICTURE_TAIL ? c->rows - 1 - PICTURE_HEAD - PICTURE_TAIL : 0;
    uint32_t shown = cut ? 1 + PICTURE_HEAD + 1 + PICTURE_TAIL : c->rows;
    double x[COLUMNS + 1] = {left};
    for (int k = 0; k < COLUMNS; k++) {
        size_t w = 0;
        for (uint32_t r = 0; r < c->rows; r++)
            if (width_of(&c->of[r * COLUMNS + k]) > w) w = width_of(&c->of[r * COLUMNS + k]);
        x[k + 1] = x[k] + (double)w * size * SVG_ADVANCE + 26;
    }
    double least = (double)utf8_length(title, strlen(title)) * 20 * SVG_ADVANCE + 2 * left;
    double width = x[COLUMNS] > least ? x[COLUMNS] : least, height = 78 + step * shown + 8;
    svg s;
    svg_open(&s, out, width, height, title);
    svg_words(&s, left, 36, 20, 's', true, INK_TEXT, title);
    for (uint32_t at = 0; at < shown; at++) {
        double y = 78 + step * at;
        if (cut && at == PICTURE_HEAD + 1) {
            char words[96];
            snprintf(words, sizeof words, "· · ·  %u more, all of them in a .txt or .json file", cut);
            svg_words(&s, left, y, size, 's', false, INK_DIM, words);
            continue;
        }
        uint32_t r = cut && at > PICTURE_HEAD ? at - 1 + cut : at;
        if (at && at % 2 == 0) svg_box(&s, left - 8, y - 18, width - 2 * left + 16, step, 3, INK_PANEL);
        for (int k = 0; k < COLUMNS; k++) {
            const text *t = &c->of[r * COLUMNS + k];
            svg_ink ink = r == 0 ? INK_DIM : k == 4 ? INK_FORWARD : k == 5 ? INK_ADJOINT : k == 1 || k == 3 ? INK_DIM : INK_TEXT;
            if (t->n) svg_words_n(&s, x[k], y, size, 's', r == 0 || k == 0, ink, text_str(t), t->n);
        }
    }
    svg_line(&s, left - 8, 86, width - left + 8, 86, 1.5, INK_FRAME);
    svg_close(&s);
}

bool view_rows(session *s, const view_call *c, trace *t, value *result)
{
    if (!trace_open(t, s->h->vm, TRACE_ROWS)) return false;
    bool fine = view_gradient_plainly(s, c, result);
    trace_stop(t);
    if (!fine) trace_close(t);
    return fine;
}

bool view_table(session *s, const view_call *c, view_format f, bool whole, text *out)
{
    trace t;
    value result;
    if (!view_rows(s, c, &t, &result)) return false;
    cells cs = {0};
    uint32_t most = f == FORMAT_TEXT && !whole ? ROWS_SHOWN : UINT32_MAX, more = t.nrows > most ? t.nrows - most : 0;
    bool fine = fill(s, c, &t, result, most, &cs);
    char title[256];
    snprintf(title, sizeof title, "%s: values forward, cotangents backward", code_display_name(as_closure(c->f)->code));
    if (fine && f == FORMAT_JSON) as_json(&cs, out);
    else if (fine && f == FORMAT_SVG) as_svg(&cs, title, out);
    else if (fine) as_text(&cs, more, out);
    cells_close(&cs);
    value_release(s->h->vm, result);
    trace_close(&t);
    return fine;
}
