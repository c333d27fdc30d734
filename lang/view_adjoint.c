/* view_adjoint.c: the listing of adjoint_view.h for the REPL and as a picture: source lines as headings, the
 * forward program on the left, the adjoint program on the right, replays marked. */
#include "view.h"
#include "adjoint_view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does the left part of a line begin with a line number? */
static bool is_source(const char *s, size_t n)
{
    size_t k = strspn(s, " ");
    return k < n && s[k] >= '0' && s[k] <= '9';
}

static void as_svg(const char *listing, const char *title, text *out)
{
    const double size = 15, step = 22, left = 24;
    size_t most = strlen(title) + 8, lines = 0;
    for (const char *s = listing; *s; lines++) {
        size_t n = strcspn(s, "\n");
        if (utf8_length(s, n) > most) most = utf8_length(s, n);
        s += n + (s[n] == '\n');
    }
    svg v;
    svg_open(&v, out, 2 * left + (double)most * size * SVG_ADVANCE, 70 + step * (double)lines + 16, title);
    svg_words(&v, left, 36, 20, 's', true, INK_TEXT, title);
    double y = 70;
    for (const char *s = listing; *s; y += step) {
        size_t n = strcspn(s, "\n");
        const char *bar = NULL;
        for (size_t k = 0; k + 2 < n && !bar; k++)
            if (!memcmp(s + k, " | ", 3)) bar = s + k;
        size_t k = bar ? (size_t)(bar - s) : n;
        bool source_ = is_source(s, n), replay = false;
        for (size_t j = 0; j + 6 <= n; j++) replay |= !memcmp(s + j, "replay", 6) || !memcmp(s + j, "REPLAY", 6);
        if (source_) svg_box(&v, left - 8, y - 16, v.width - 2 * left + 16, step, 3, INK_PANEL);
        svg_ink ink = source_ ? INK_TEXT : bar || strstr(s, "keeps") == s + strspn(s, " ·\xc2\xb7") ? INK_SAVED : INK_DIM;
        svg_words_n(&v, left, y, size, 's', source_, ink, s, k);
        if (bar) {
            double x = left + (double)utf8_length(s, k) * size * SVG_ADVANCE;
            svg_line(&v, x + size * SVG_ADVANCE * 1.5, y - 16, x + size * SVG_ADVANCE * 1.5, y + 6, 1, INK_LINE);
            svg_words_n(&v, x + 3 * size * SVG_ADVANCE, y, size, 's', replay, replay ? INK_REPLAY : INK_ADJOINT, bar + 3, n - k - 3);
        }
        s += n + (s[n] == '\n');
    }
    svg_close(&v);
}

static void as_json(const char *listing, text *out)
{
    text_puts(out, "[\n");
    for (const char *s = listing; *s;) {
        size_t n = strcspn(s, "\n");
        json_string(s, n, out);
        s += n + (s[n] == '\n');
        text_puts(out, *s ? ",\n" : "\n");
    }
    text_puts(out, "]\n");
}

/* The listing gives registers names of its own; those of the function's group are put back after it. */
typedef struct names { code *c; symbol *of; struct names *next; } names;

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

bool view_adjoint(session *s, const char *called, view_format f, text *out)
{
    vm *m = s->h->vm;
    size_t n = strcspn(called, "(");
    char name[512];
    snprintf(name, sizeof name, "%.*s", (int)n, called);
    value v;
    if (!session_eval(s, name[0] ? name : called, &v)) return false;
    if (v.tag != V_FUNCTION) {
        value_release(m, v);
        return vm_fail(m, DIAG_TYPE, "`%s` is not a function", name);
    }
    text t;
    text_open(&t, &m->mem);
    code *c = as_closure(v)->code;
    bool fine = code_derive(c, DERIVE_FWD, ~(uint64_t)0) != NULL;
    names *before = names_saved(c);
    fine = fine && adjoint_view(m, c, ~(uint64_t)0, &t);
    names_back(before);
    char title[600];
    snprintf(title, sizeof title, "%s and its adjoint program", name);
    if (fine && f == FORMAT_SVG) as_svg(text_str(&t), title, out);
    else if (fine && f == FORMAT_JSON) as_json(text_str(&t), out);
    else if (fine) text_add(out, text_str(&t), t.n);
    text_close(&t);
    value_release(m, v);
    return fine;
}
