/* view_table.c: `table f(args)`: every intermediate of a call by the user's name, with its line, shape,
 * value and cotangent; and `step f(args)`: the same as a walk through both programs, line by line. */
#include "view.h"
#include "trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 6, ROWS_SHOWN = 400 };

/* A table of words; its first line is the heading. */
typedef struct cells { text *of; uint32_t rows, cap; memory *m; bool failed; } cells;

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

static bool fill(session *s, const view_call *c, const trace *t, value result, cells *cs)
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
        argument_row(m, cs, cs->rows, f, k, args->v[k], cots.tag == V_TUPLE && k < as_tuple(cots)->n ? as_tuple(cots)->v[k] : value_undef());
    for (uint32_t k = 0; k < t->nrows && k < ROWS_SHOWN && !cs->failed; k++) {
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

static void as_svg(const cells *c, const char *title, uint32_t more, text *out)
{
    const double size = 15, step = 26, left = 24;
    double x[COLUMNS + 1] = {left};
    for (int k = 0; k < COLUMNS; k++) {
        size_t w = 0;
        for (uint32_t r = 0; r < c->rows; r++)
            if (width_of(&c->of[r * COLUMNS + k]) > w) w = width_of(&c->of[r * COLUMNS + k]);
        x[k + 1] = x[k] + (double)w * size * SVG_ADVANCE + 26;
    }
    double least = (double)utf8_length(title, strlen(title)) * 20 * SVG_ADVANCE + 2 * left;
    double width = x[COLUMNS] > least ? x[COLUMNS] : least, height = 78 + step * (c->rows + (more > 0)) + 8;
    svg s;
    svg_open(&s, out, width, height, title);
    svg_words(&s, left, 36, 20, 's', true, INK_TEXT, title);
    for (uint32_t r = 0; r < c->rows; r++) {
        double y = 78 + step * r;
        if (r && r % 2 == 0) svg_box(&s, left - 8, y - 18, width - 2 * left + 16, step, 3, INK_PANEL);
        for (int k = 0; k < COLUMNS; k++) {
            const text *t = &c->of[r * COLUMNS + k];
            svg_ink ink = r == 0 ? INK_DIM : k == 4 ? INK_FORWARD : k == 5 ? INK_ADJOINT : k == 1 || k == 3 ? INK_DIM : INK_TEXT;
            if (t->n) svg_words_n(&s, x[k], y, size, 's', r == 0 || k == 0, ink, text_str(t), t->n);
        }
    }
    svg_line(&s, left - 8, 86, width - left + 8, 86, 1.5, INK_FRAME);
    if (more) {
        char words[64];
        snprintf(words, sizeof words, "... and %u more", more);
        svg_words(&s, left, 78 + step * c->rows, size, 's', false, INK_DIM, words);
    }
    svg_close(&s);
}

/* Runs the call's gradient with its rows recorded. */
static bool record_rows(session *s, const view_call *c, trace *t, value *result)
{
    if (!trace_open(t, s->h->vm, TRACE_ROWS)) return false;
    bool fine = view_gradient_plainly(s->h, c, result);
    trace_stop(t);
    if (!fine) trace_close(t);
    return fine;
}

bool view_table(session *s, const view_call *c, view_format f, text *out)
{
    trace t;
    value result;
    if (!record_rows(s, c, &t, &result)) return false;
    cells cs = {0};
    bool fine = fill(s, c, &t, result, &cs);
    uint32_t more = t.nrows > ROWS_SHOWN ? t.nrows - ROWS_SHOWN : 0;
    char title[256];
    snprintf(title, sizeof title, "%s: values forward, cotangents backward", code_display_name(as_closure(c->f)->code));
    if (fine && f == FORMAT_JSON) as_json(&cs, out);
    else if (fine && f == FORMAT_SVG) as_svg(&cs, title, more, out);
    else if (fine) as_text(&cs, more, out);
    cells_close(&cs);
    value_release(s->h->vm, result);
    trace_close(&t);
    return fine;
}

/* --- step --------------------------------------------------------------------------------------- */

static void step_words(session *s, const trace *t, uint32_t k, text *out)
{
    const trace_line *l = &t->lines[k];
    const trace_row *r = &t->rows[l->row];
    bool adjoint = l->phase == PHASE_ADJOINT;
    symbol own = trace_symbol(r->code, r->r);
    text_printf(out, "%4u  %s  line %-3u  ", k + 1, adjoint ? "adjoint" : "forward", trace_line_of(r));
    if (own) {
        text_puts(out, symbol_name(s->h->vm->symbols, own));
        if (adjoint) text_puts(out, "_adj");
    } else {
        if (adjoint) text_puts(out, "adjoint of ");
        trace_source(r->i, 40, out);
    }
    text_puts(out, " = ");
    view_value(s->h->vm, adjoint ? r->cot : r->v, 48, out);
    if (own) {
        text_puts(out, adjoint ? "    of " : "    from ");
        trace_source(r->i, 40, out);
    }
    text_putc(out, '\n');
}

/* The source lines around the present one, it marked. */
static void step_source(const trace *t, uint32_t k, text *out)
{
    const trace_row *r = &t->rows[t->lines[k].row];
    const source *src = r->i->at.src;
    uint32_t line = trace_line_of(r);
    if (!src || !line) return;
    for (uint32_t n = line > 2 ? line - 2 : 1; n <= line + 2 && n <= src->nlines; n++) {
        uint32_t lo = src->lines[n - 1], hi = n < src->nlines ? src->lines[n] : (uint32_t)src->length;
        while (hi > lo && (src->text[hi - 1] == '\n' || src->text[hi - 1] == '\r')) hi--;
        text_printf(out, "%s%4u | %.*s\n", n == line ? (t->lines[k].phase == PHASE_ADJOINT ? "<-" : "->") : "  ", n, (int)(hi - lo), src->text + lo);
    }
}

static void walk(session *s, const trace *t)
{
    uint32_t at = 0;
    char *line = NULL;
    size_t cap = 0;
    puts("Return or n: next; p: back; a number: there; e: the end; q: leave.");
    while (t->nlines) {
        text o;
        text_open(&o, &s->h->vm->mem);
        step_source(t, at, &o);
        step_words(s, t, at, &o);
        fputs(text_str(&o), stdout);
        text_close(&o);
        printf("step %u of %u: ", at + 1, t->nlines);
        fflush(stdout);
        if (getline(&line, &cap, stdin) < 0 || line[0] == 'q') break;
        if (line[0] == 'p') at -= at > 0;
        else if (line[0] == 'e') at = t->nlines - 1;
        else if (line[0] >= '0' && line[0] <= '9') {
            long n = strtol(line, NULL, 10);
            at = n < 1 ? 0 : n > (long)t->nlines ? t->nlines - 1 : (uint32_t)n - 1;
        } else if (at + 1 < t->nlines) at++;
        else puts("(that was the last one)");
    }
    putchar('\n');
    free(line);
}

bool view_step(session *s, const view_call *c, view_format f, bool interactive, text *out)
{
    trace t;
    value result;
    if (!record_rows(s, c, &t, &result)) return false;
    value_release(s->h->vm, result);
    if (interactive && f == FORMAT_TEXT) walk(s, &t);
    else if (f == FORMAT_JSON) {
        text_puts(out, "[\n");
        for (uint32_t k = 0; k < t.nlines; k++) {
            const trace_row *r = &t.rows[t.lines[k].row];
            bool adjoint = t.lines[k].phase == PHASE_ADJOINT;
            text w;
            text_open(&w, &s->h->vm->mem);
            symbol own = trace_symbol(r->code, r->r);
            if (own) text_puts(&w, symbol_name(s->h->vm->symbols, own));
            else trace_source(r->i, 60, &w);
            text_printf(out, "{\"program\": \"%s\", \"line\": %u, \"name\": ", adjoint ? "adjoint" : "forward", trace_line_of(r));
            json_string(text_str(&w), w.n, out);
            text_clear(&w);
            view_value(s->h->vm, adjoint ? r->cot : r->v, 200, &w);
            text_puts(out, ", \"value\": ");
            json_string(text_str(&w), w.n, out);
            text_puts(out, k + 1 < t.nlines ? "},\n" : "}\n");
            text_close(&w);
        }
        text_puts(out, "]\n");
    } else if (f == FORMAT_SVG) {
        svg v;
        const double step = 24, size = 15;
        size_t most = 40;
        text w;
        text_open(&w, &s->h->vm->mem);
        uint32_t shown = t.nlines < ROWS_SHOWN ? t.nlines : ROWS_SHOWN;
        for (uint32_t k = 0; k < shown; k++) {
            text_clear(&w);
            step_words(s, &t, k, &w);
            if (width_of(&w) > most) most = width_of(&w);
        }
        svg_open(&v, out, (double)most * size * SVG_ADVANCE + 48, 60 + step * (shown + 1), "step by step");
        svg_words(&v, 24, 36, 20, 's', true, INK_TEXT, "forward, then the adjoint program");
        for (uint32_t k = 0; k < shown; k++) {
            text_clear(&w);
            step_words(s, &t, k, &w);
            if (w.n) w.n--;
            svg_words_n(&v, 24, 72 + step * k, size, 's', false, t.lines[k].phase == PHASE_ADJOINT ? INK_ADJOINT : INK_FORWARD, text_str(&w), w.n);
        }
        text_close(&w);
        svg_close(&v);
    } else
        for (uint32_t k = 0; k < t.nlines; k++) step_words(s, &t, k, out);
    trace_close(&t);
    return true;
}
