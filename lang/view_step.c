/* view_step.c: `step f(args)`: a walk through the forward and the adjoint program, forward and back, line by
 * line, with the values: asked for key by key, or whole, as a text or a picture. Replays are marked; the
 * arguments come first and their cotangents last. */
#include "view.h"
#include "trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In a picture of many lines the first and the last of each program are shown. */
enum { PICTURE_HEAD = 18, PICTURE_TAIL = 12 };

/* One stop of the walk. */
typedef struct stop {
    trace_phase phase;
    uint32_t line;
    const char *name;     /* "x", or NULL: what has no name of its own */
    const instr *made_by; /* NULL: an argument */
    const source *src;
    value v; /* borrowed */
} stop;

typedef struct walk {
    vm *m;
    stop *of;
    uint32_t n;
} walk;

static const char *const program_names[PHASES] = {"outside", "forward", "replay", "adjoint"};

static void add_arguments(walk *w, const view_call *c, const tuple *values, trace_phase phase)
{
    const code *f = as_closure(c->f)->code;
    for (uint32_t k = 0; k < values->n; k++) {
        uint32_t line = 0, column;
        span_where(f->at, &line, &column);
        if (phase == PHASE_ADJOINT && (values->v[k].tag == V_NONE || values->v[k].tag == V_UNDEF)) continue;
        if (k >= f->nparams || !f->param_names[k]) continue; /* the rest of a spread */
        w->of[w->n++] = (stop){phase, line, symbol_name(w->m->symbols, f->param_names[k]), NULL, f->at.src, values->v[k]};
    }
}

static bool walk_open(walk *w, vm *m, const view_call *c, const trace *t, value result)
{
    const tuple *args = as_tuple(c->args);
    value cots = as_tuple(result)->v[1];
    *w = (walk){.m = m, .of = malloc((t->nlines + 2 * (size_t)args->n + 1) * sizeof *w->of)};
    if (!w->of) return vm_out_of_memory(m);
    add_arguments(w, c, args, PHASE_FORWARD);
    for (uint32_t k = 0; k < t->nlines; k++) {
        const trace_row *r = trace_line_row(t, &t->lines[k]);
        symbol own = trace_symbol(r->code, r->r);
        w->of[w->n++] = (stop){t->lines[k].phase,
                               trace_line_of(r),
                               own ? symbol_name(m->symbols, own) : NULL,
                               r->i,
                               r->i->at.src,
                               t->lines[k].phase == PHASE_ADJOINT ? r->cot : r->v};
    }
    if (cots.tag == V_TUPLE) add_arguments(w, c, as_tuple(cots), PHASE_ADJOINT);
    return true;
}

/* "x", "x_adj", "w @ x", "adjoint of w @ x" */
static void put_name(const stop *s, size_t most, text *out)
{
    bool adjoint = s->phase == PHASE_ADJOINT;
    if (s->name) text_printf(out, adjoint ? "%s_adj" : "%s", s->name);
    else {
        if (adjoint) text_puts(out, "adjoint of ");
        trace_source(s->made_by, most, out);
    }
}

static void put_stop(const walk *w, uint32_t k, text *out)
{
    const stop *s = &w->of[k];
    text_printf(out, "%4u  %-7s  line %-3u  ", k + 1, program_names[s->phase], s->line);
    put_name(s, 40, out);
    text_puts(out, " = ");
    view_value(w->m, s->v, 48, out);
    if (!s->made_by) text_puts(out, "    the argument");
    else if (s->name) {
        text_puts(out, s->phase == PHASE_ADJOINT ? "    of " : "    from ");
        trace_source(s->made_by, 40, out);
    }
    text_putc(out, '\n');
}

/* --- key by key --------------------------------------------------------------------------------- */

/* The source lines around the present one, it marked. */
static void put_source(const stop *s, text *out)
{
    const source *src = s->src;
    if (!src || !s->line) return;
    for (uint32_t n = s->line > 2 ? s->line - 2 : 1; n <= s->line + 2 && n <= src->nlines; n++) {
        uint32_t lo = src->lines[n - 1], hi = n < src->nlines ? src->lines[n] : (uint32_t)src->length;
        while (hi > lo && (src->text[hi - 1] == '\n' || src->text[hi - 1] == '\r')) hi--;
        text_printf(out, "%s%4u | %.*s\n", n == s->line ? (s->phase == PHASE_ADJOINT ? "<-" : "->") : "  ", n, (int)(hi - lo),
                    src->text + lo);
    }
}

static void ask(const walk *w)
{
    uint32_t at = 0;
    char *line = NULL;
    size_t cap = 0;
    puts("Return or n: next; p: back; a number: there; e: the end; q: leave.");
    while (w->n) {
        text o;
        text_open(&o, &w->m->mem);
        put_source(&w->of[at], &o);
        put_stop(w, at, &o);
        fputs(text_str(&o), stdout);
        text_close(&o);
        printf("step %u of %u: ", at + 1, w->n);
        fflush(stdout);
        if (getline(&line, &cap, stdin) < 0 || line[0] == 'q') break;
        if (line[0] == 'p') at -= at > 0;
        else if (line[0] == 'e') at = w->n - 1;
        else if (line[0] >= '0' && line[0] <= '9') {
            long n = strtol(line, NULL, 10);
            at = n < 1 ? 0 : n > (long)w->n ? w->n - 1 : (uint32_t)n - 1;
        } else if (at + 1 < w->n) at++;
        else puts("(that was the last one)");
    }
    putchar('\n');
    free(line);
}

/* --- whole --------------------------------------------------------------------------------------- */

static void as_json(const walk *w, text *out)
{
    text_puts(out, "[\n");
    for (uint32_t k = 0; k < w->n; k++) {
        const stop *s = &w->of[k];
        text t;
        text_open(&t, &w->m->mem);
        if (s->name) text_puts(&t, s->name);
        else trace_source(s->made_by, 60, &t);
        text_printf(out, "{\"program\": \"%s\", \"line\": %u, \"name\": ", program_names[s->phase], s->line);
        json_string(text_str(&t), t.n, out);
        text_clear(&t);
        view_value(w->m, s->v, 200, &t);
        text_puts(out, ", \"value\": ");
        json_string(text_str(&t), t.n, out);
        text_puts(out, k + 1 < w->n ? "},\n" : "}\n");
        text_close(&t);
    }
    text_puts(out, "]\n");
}

enum { CELLS = 4 }; /* number, line, name, value */

static void put_cell(const walk *w, uint32_t k, int col, text *out)
{
    const stop *s = &w->of[k];
    if (col == 0) text_printf(out, "%u", k + 1);
    else if (col == 1) text_printf(out, "line %u", s->line);
    else if (col == 3) view_value(w->m, s->v, 30, out);
    else if (s->name && s->made_by && s->phase != PHASE_ADJOINT) {
        text_printf(out, "%s = ", s->name);
        trace_source(s->made_by, 20, out);
    } else put_name(s, 16, out);
}

/* Draws stops lo to hi below one another, `draw` false: only measures. Gives the width. */
static double column(svg *v, const walk *w, uint32_t lo, uint32_t hi, double left, double top, bool draw)
{
    const double size = 15, step = 24;
    uint32_t n = hi - lo, cut = n > PICTURE_HEAD + PICTURE_TAIL + 1 ? n - PICTURE_HEAD - PICTURE_TAIL : 0;
    size_t widest[CELLS] = {0};
    text t;
    text_open(&t, &w->m->mem);
    for (int pass = 0; pass < 1 + draw; pass++) {
        double y = top;
        for (uint32_t k = lo; k < hi; k++, y += step) {
            if (cut && k == lo + PICTURE_HEAD) {
                char words[64];
                snprintf(words, sizeof words, "· · ·  %u more", cut);
                if (pass) svg_words(v, left, y, size, 's', false, INK_DIM, words);
                k += cut - 1;
                continue;
            }
            static const svg_ink inks[PHASES] = {INK_DIM, INK_FORWARD, INK_REPLAY, INK_ADJOINT};
            svg_ink ink = inks[w->of[k].phase];
            double x = left;
            if (pass) svg_box(v, left - 12, y - 15, 5, step - 4, 2, ink);
            for (int col = 0; col < CELLS; col++) {
                text_clear(&t);
                put_cell(w, k, col, &t);
                size_t columns = utf8_length(text_str(&t), t.n);
                if (columns > widest[col]) widest[col] = columns;
                double right = x + (double)widest[col] * size * SVG_ADVANCE;
                if (pass) svg_words(v, col ? x : right, y, size, col ? 's' : 'e', col == 2, col < 2 ? INK_DIM : ink, text_str(&t));
                x = right + 18;
            }
        }
    }
    text_close(&t);
    double width = 0;
    for (int col = 0; col < CELLS; col++) width += (double)widest[col] * size * SVG_ADVANCE + (col ? 18 : 0);
    return width;
}

static uint32_t rows_drawn(uint32_t n) { return n > PICTURE_HEAD + PICTURE_TAIL + 1 ? PICTURE_HEAD + PICTURE_TAIL + 1 : n; }

static void as_svg(const walk *w, const char *title, text *out)
{
    const double left = 40, gap = 60, top = 106, step = 24;
    svg v;
    uint32_t middle = 0;
    bool replays = false;
    while (middle < w->n && w->of[middle].phase == PHASE_FORWARD) middle++;
    for (uint32_t k = 0; k < w->n; k++) replays |= w->of[k].phase == PHASE_REPLAY;
    double first = column(NULL, w, 0, middle, 0, 0, false), second = column(NULL, w, middle, w->n, 0, 0, false);
    double right = left + (first > 200 ? first : 200) + gap, least = right + 420;
    double width = right + second + left > least ? right + second + left : least;
    uint32_t rows = rows_drawn(middle) > rows_drawn(w->n - middle) ? rows_drawn(middle) : rows_drawn(w->n - middle);
    svg_open(&v, out, width, top + step * rows + 4, title);
    svg_words(&v, 24, 36, 20, 's', true, INK_TEXT, title);
    svg_words(&v, left - 12, 74, 16, 's', true, INK_FORWARD, "forward");
    svg_words(&v, right - 12, 74, 16, 's', true, INK_ADJOINT, "adjoint program");
    if (replays) svg_words(&v, right - 12 + 18 * 16 * SVG_ADVANCE, 74, 16, 's', true, INK_REPLAY, "replay");
    column(&v, w, 0, middle, left, top, true);
    column(&v, w, middle, w->n, right, top, true);
    svg_close(&v);
}

bool view_step(session *s, const view_call *c, view_format f, bool interactive, text *out)
{
    vm *m = s->h->vm;
    trace t;
    value result;
    walk w;
    if (!view_rows(s, c, &t, &result)) return false;
    bool fine = walk_open(&w, m, c, &t, result);
    char title[256];
    snprintf(title, sizeof title, "%s: both programs, step by step", code_display_name(as_closure(c->f)->code));
    if (fine && interactive && f == FORMAT_TEXT) ask(&w);
    else if (fine && f == FORMAT_JSON) as_json(&w, out);
    else if (fine && f == FORMAT_SVG) as_svg(&w, title, out);
    else
        for (uint32_t k = 0; fine && k < w.n; k++) put_stop(&w, k, out);
    free(w.of);
    value_release(m, result);
    trace_close(&t);
    return fine;
}
