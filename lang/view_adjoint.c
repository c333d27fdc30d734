/* view_adjoint.c: the rows of adjoint_view.h for the REPL and as a picture: the forward program on the left, the
 * adjoint program on the right, each of its rows joined to the line it is of, replays marked. */
#include "view.h"
#include "adjoint_view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Widths in characters, and how many rows there are. */
typedef struct extent {
    size_t left, right, notes_width;
    uint32_t rows, notes;
} extent;

static void measure(void *ctx, const adjoint_row *r)
{
    extent *e = ctx;
    size_t n = utf8_length(r->left, r->n), k = r->right ? utf8_length(r->right, strlen(r->right)) : 0;
    if (r->kind == ADJOINT_NOTE) {
        e->notes++;
        if (n > e->notes_width) e->notes_width = n;
        return;
    }
    e->rows++;
    if (n > e->left) e->left = n;
    if (k > e->right) e->right = k;
}

typedef struct drawing {
    svg v;
    double y, note_y, left, gutter, right; /* where the next row goes; columns */
} drawing;

enum { SIZE = 15, STEP = 23, NUMBERS = 5 /* characters */ };

static void draw_row(void *ctx, const adjoint_row *r)
{
    drawing *d = ctx;
    svg *v = &d->v;
    const double advance = SIZE * SVG_ADVANCE;
    if (r->kind == ADJOINT_NOTE) {
        svg_words_n(v, d->left, d->note_y, 14, 's', false, INK_DIM, r->left, r->n);
        d->note_y += STEP;
        return;
    }
    double text_x = d->left + NUMBERS * advance, end = text_x + (double)utf8_length(r->left, r->n) * advance;
    if (r->kind == ADJOINT_SOURCE) {
        char number[16];
        snprintf(number, sizeof number, "%u", r->line);
        svg_box(v, d->left - 8, d->y - 16, v->width - 2 * d->left + 16, STEP, 3, INK_PANEL);
        svg_words(v, text_x - 1.5 * advance, d->y, SIZE, 'e', false, INK_DIM, number);
        svg_words_n(v, text_x, d->y, SIZE, 's', true, INK_TEXT, r->left, r->n);
    } else if (r->n) svg_words_n(v, text_x, d->y, SIZE, 's', false, INK_SAVED, r->left, r->n);
    if (r->right) { /* a bracket joins the adjoint rows to the line they are of */
        bool first = r->kind == ADJOINT_SOURCE;
        if (first) svg_line(v, end + 10, d->y - 5, d->gutter, d->y - 5, 1.5, INK_LINE);
        svg_line(v, d->gutter, first ? d->y - 5 : d->y - 5 - STEP, d->gutter, d->y - 5, 1.5, INK_LINE);
        svg_line(v, d->gutter, d->y - 5, d->right - 10, d->y - 5, 1.5, INK_LINE);
        svg_words(v, d->right, d->y, SIZE, 's', r->replay, r->replay ? INK_REPLAY : INK_ADJOINT, r->right);
    }
    d->y += STEP;
}

static bool as_svg(vm *m, code *c, const char *title, text *out)
{
    extent e = {30, 0, 0, 0, 0};
    if (!adjoint_rows(m, c, ~(uint64_t)0, measure, &e)) return false;
    const double left = 24, advance = SIZE * SVG_ADVANCE, top = 106;
    drawing d = {.y = top, .left = left, .gutter = left + (NUMBERS + (double)e.left) * advance + 28};
    d.note_y = top + STEP * e.rows + 14;
    d.right = d.gutter + 26;
    double width = d.right + (double)e.right * advance + left, notes = 2 * left + (double)e.notes_width * 14 * SVG_ADVANCE;
    double least = 2 * left + (double)utf8_length(title, strlen(title)) * 20 * SVG_ADVANCE;
    if (width < notes) width = notes;
    svg_open(&d.v, out, width > least ? width : least, d.note_y + STEP * e.notes + (e.notes ? 0 : -14), title);
    svg_words(&d.v, left, 36, 20, 's', true, INK_TEXT, title);
    svg_words(&d.v, left + NUMBERS * advance, 74, 16, 's', true, INK_FORWARD, "forward, read downwards");
    svg_words(&d.v, d.right, 74, 16, 's', true, INK_ADJOINT, "adjoint, upwards");
    bool fine = adjoint_rows(m, c, ~(uint64_t)0, draw_row, &d);
    svg_close(&d.v);
    return fine;
}

typedef struct list {
    text *out;
    bool any;
} list;

static void json_row(void *ctx, const adjoint_row *r)
{
    list *l = ctx;
    if (r->kind == ADJOINT_NOTE) return;
    text_printf(l->out, "%s\n{\"line\": %u, \"%s\": ", l->any ? "," : "", r->line, r->kind == ADJOINT_SOURCE ? "source" : "keeps");
    l->any = true;
    if (r->n) json_string(r->left, r->n, l->out);
    else text_puts(l->out, r->kind == ADJOINT_SOURCE ? "\"\"" : "null");
    text_puts(l->out, ", \"adjoint\": ");
    if (r->right) json_string(r->right, strlen(r->right), l->out);
    else text_puts(l->out, "null");
    text_puts(l->out, r->replay ? ", \"replay\": true}" : "}");
}

static bool as_json(vm *m, code *c, text *out)
{
    text_puts(out, "[");
    bool fine = adjoint_rows(m, c, ~(uint64_t)0, json_row, &(list){out, false});
    text_puts(out, "\n]\n");
    return fine;
}

/* The listing gives registers names of its own; those of the function's group are put back after it. */
typedef struct names {
    code *c;
    symbol *of;
    struct names *next;
} names;

static names *names_saved(code *c)
{
    names *all = NULL;
    code *root = c->root ? c->root : c;
    for (code *k = root; k; k = k->sibling) {
        names *n = malloc(sizeof *n);
        symbol *of = malloc((k->nregs + 1) * sizeof *of);
        if (!n || !of) {
            free(n);
            free(of);
            break;
        }
        memcpy(of, k->reg_names, k->nregs * sizeof *of);
        *n = (names){k, of, all};
        all = n;
    }
    return all;
}

static void names_back(names *all)
{
    for (names *n = all, *next; n; n = next) {
        next = n->next;
        memcpy(n->c->reg_names, n->of, n->c->nregs * sizeof *n->of);
        free(n->of);
        free(n);
    }
}

/* The function within c that has the place of `like`; the text itself may have the same. */
static code *in_place_of(code *c, const code *like)
{
    for (uint32_t k = 0; k < c->ncodes; k++) {
        code *found = in_place_of(c->codes[k], like);
        if (found) return found;
    }
    return c->at.lo == like->at.lo && c->at.hi == like->at.hi && c->src == like->src && c->nparams == like->nparams ? c : NULL;
}

/* The text of c compiled once more: names given before it is derived reach the derived Code, as names given
   later do not. *script (owned) holds the result; NULL when the text needs what is no longer there. */
static code *compiled_anew(session *s, const code *c, code **script)
{
    diag *diags = NULL;
    compile_options o = {.module = "", .result = EMIT_ENTRY, .vars = s->names, .nvars = s->n, .fns = s->fns, .nfns = s->nfns};
    *script = c->src ? host_compile(s->h, (source *)c->src, &o, &diags, NULL) : NULL;
    diag_free(diags);
    return *script ? in_place_of(*script, c) : NULL;
}

static bool draw(vm *m, code *c, const char *name, view_format f, text *out)
{
    char title[600];
    snprintf(title, sizeof title, "%s and its adjoint program", name);
    if (f == FORMAT_SVG) return as_svg(m, c, title, out);
    return f == FORMAT_JSON ? as_json(m, c, out) : adjoint_view(m, c, ~(uint64_t)0, out);
}

bool view_adjoint(session *s, const char *called, view_format f, text *out)
{
    vm *m = s->h->vm;
    bool literal = !strncmp(called, "fn(", 3) || !strncmp(called, "fn (", 4); /* a function as it stands */
    size_t n = literal ? strlen(called) : strcspn(called, "(");
    char name[512];
    snprintf(name, sizeof name, "%.*s", (int)n, called);
    value v;
    if (!session_eval(s, name[0] ? name : called, &v)) return false;
    if (v.tag != V_FUNCTION) {
        value_release(m, v);
        return vm_fail(m, DIAG_TYPE, "`%s` is not a function", name);
    }
    code *c = as_closure(v)->code, *script, *anew = compiled_anew(s, c, &script);
    bool fine;
    if (anew) fine = draw(m, anew, name, f, out);
    else if ((fine = code_derive(c, DERIVE_FWD, ~(uint64_t)0) != NULL)) {
        names *before = names_saved(c);
        fine = draw(m, c, name, f, out);
        names_back(before);
    }
    code_release(script);
    value_release(m, v);
    return fine;
}
