/* diag_render.c: a diagnostic as text for people.
 *
 * In: one diagnostic; out: its headline, then per source the place and each labelled line with
 * carets below it, then notes, the suggestion and the call frames. Columns here are terminal cells,
 * from 0, after tabs are expanded; only the place in `-->` counts code points. No memory is taken
 * but the output's, so that a diagnostic about memory can be shown. Control characters and
 * direction overrides of the text never reach the terminal.
 *
 * Note: labels on one line. All marks share a row. A span that contains another is drawn with `~`,
 * every other with `^`, shorter spans over longer ones, so `x @ w` with labels on itself, x and w
 * reads `^~~~^`. The message of the rightmost label follows the marks; the others hang below their
 * first column, right to left, as rustc has it. */
#include "diag.h"
#include <string.h>

enum {
    LABELS_SHOWN = 16,
    LINE_MOST = 160,        /* columns; a longer line is shown through a window */
    WINDOW = LINE_MOST - 2, /* room for an ellipsis at either end */
    TAB = 4,
    SAME_FRAME_MOST = 3 /* as many equal frames in a row are written out */
};

static const char *const RESET = "\033[0m", *const BOLD = "\033[1m", *const BLUE = "\033[1;34m", *const GREEN = "\033[1;32m";

typedef struct renderer {
    text *out;
    bool colour;
    const char *loud; /* the severity's colour */
    int gutter;       /* digits of the largest line number shown */
} renderer;

/* One label on one line. */
typedef struct piece {
    const char *message;
    uint32_t line, from, to; /* bytes of the source, clipped to the line */
    int lo, hi;              /* cells [lo, hi), never empty */
    bool first;              /* the diagnostic's first label */
} piece;

static void paint(renderer *r, const char *colour, const char *s)
{
    if (r->colour) text_puts(r->out, colour);
    text_puts(r->out, s);
    if (r->colour) text_puts(r->out, RESET);
}

static void spaces(renderer *r, int n)
{
    for (int i = 0; i < n; i++) text_putc(r->out, ' ');
}

/* What is shown for the bytes at s, n > 0, in cell `column`: a code point and its width. Returns
   the bytes it stands for. A tab is shown as `*width` spaces. */
static size_t glyph(const char *s, size_t n, int column, uint32_t *cp, int *width)
{
    int bytes = utf8_decode(s, n, cp);
    if (*s == '\t') {
        *cp = ' ';
        *width = TAB - column % TAB;
        return 1;
    }
    bool unsafe = !bytes || *cp < 0x20 || (*cp >= 0x7f && *cp < 0xa0) || (*cp >= 0x202a && *cp <= 0x202e) ||
                  (*cp >= 0x2066 && *cp <= 0x2069);
    if (unsafe) *cp = 0xfffd;
    *width = utf8_width(*cp);
    return bytes ? (size_t)bytes : 1;
}

static void put_glyph(renderer *r, uint32_t cp, int width)
{
    char utf8[4];
    if (cp == ' ') spaces(r, width);
    else text_add(r->out, utf8, (size_t)utf8_encode(cp, utf8));
}

/* A message; its further lines begin `indent` cells in. */
static void put_message(renderer *r, const char *s, int indent)
{
    size_t n = strlen(s), step;
    int column = 0, width;
    for (size_t i = 0; i < n; i += step) {
        uint32_t cp;
        step = 1;
        if (s[i] == '\n') {
            text_putc(r->out, '\n');
            if (i + 1 < n && s[i + 1] != '\n') spaces(r, indent);
            column = 0;
            continue;
        }
        step = glyph(s + i, n - i, column, &cp, &width);
        put_glyph(r, cp, width);
        column += width;
    }
}

static void put_gutter(renderer *r, const char *mark)
{
    spaces(r, r->gutter + 1);
    paint(r, BLUE, mark);
}

static void put_place(renderer *r, span at)
{
    uint32_t line, column;
    span_where(at, &line, &column);
    put_message(r, at.src->name, 0);
    text_printf(r->out, ":%u:%u", line, column);
}

/* ---- one source line with its marks ---- */

/* Where the text of a line ends, its line break left out. */
static uint32_t line_end(const source *s, uint32_t line)
{
    uint32_t lo = s->lines[line - 1];
    uint32_t hi = line < s->nlines ? s->lines[line] - 1 : (uint32_t)s->length;
    return hi > lo && s->text[hi - 1] == '\r' ? hi - 1 : hi;
}

/* The cell in which byte `at` of a line begins. */
static int cell_of(const source *s, uint32_t line, uint32_t at)
{
    int column = 0, width;
    uint32_t end = line_end(s, line), cp;
    for (uint32_t i = s->lines[line - 1]; i < at && i < end; column += width)
        i += (uint32_t)glyph(s->text + i, end - i, column, &cp, &width);
    return column;
}

typedef struct window {
    int lo, hi;         /* cells [lo, hi) of the line are shown */
    bool before, after; /* an ellipsis stands for what is cut off */
} window;

static window choose_window(const piece *p, int n, int width)
{
    if (width <= LINE_MOST) return (window){0, width, false, false};
    int lo = p[0].lo, hi = p[0].hi, focus = p[0].lo;
    for (int i = 0; i < n; i++) {
        if (p[i].lo < lo) lo = p[i].lo;
        if (p[i].hi > hi) hi = p[i].hi;
        if (p[i].first) focus = p[i].lo;
    }
    int start = hi - lo <= WINDOW - 20 ? (lo + hi - WINDOW) / 2 : focus - 20;
    if (start > width - WINDOW) start = width - WINDOW;
    if (start < 2) start = 0; /* an ellipsis for one cell would gain nothing */
    return (window){start, start + WINDOW, start > 0, start + WINDOW < width};
}

static void put_line_text(renderer *r, const source *s, uint32_t line, window w)
{
    uint32_t end = line_end(s, line), cp;
    int column = 0, width;
    if (w.before) text_puts(r->out, "…");
    for (uint32_t i = s->lines[line - 1]; i < end && column < w.hi; column += width) {
        i += (uint32_t)glyph(s->text + i, end - i, column, &cp, &width);
        if (column >= w.lo && column + width <= w.hi) put_glyph(r, cp, width);
        else if (column + width > w.lo && column < w.hi) /* cut in the middle */
            spaces(r, (column + width < w.hi ? column + width : w.hi) - (column > w.lo ? column : w.lo));
    }
    if (w.after) text_puts(r->out, "…");
}

static void put_numbered_line(renderer *r, const source *s, uint32_t line, window w)
{
    char number[16];
    int n = 0;
    for (uint32_t v = line; v; v /= 10) number[n++] = (char)('0' + v % 10);
    spaces(r, r->gutter - n);
    if (r->colour) text_puts(r->out, BLUE);
    while (n) text_putc(r->out, number[--n]);
    text_puts(r->out, " |");
    if (r->colour) text_puts(r->out, RESET);
    if (line_end(s, line) > s->lines[line - 1]) {
        text_putc(r->out, ' ');
        put_line_text(r, s, line, w);
    }
    text_putc(r->out, '\n');
}

/* Shown cells of a mark: relative to the window, what is outside under the ellipsis. */
static int shown(window w, int cell)
{
    int lo = w.lo - w.before, hi = w.hi;
    return (cell < lo ? lo : cell > hi ? hi : cell) - lo;
}

static bool contains_another(const piece *p, int n, int i)
{
    for (int j = 0; j < n; j++)
        if (p[j].lo >= p[i].lo && p[j].hi <= p[i].hi && p[j].hi - p[j].lo < p[i].hi - p[i].lo) return true;
    return false;
}

/* The row of marks; p is in order of `lo` and has shown cells. Returns its width. */
static int put_marks(renderer *r, const piece *p, int n)
{
    char mark[LINE_MOST + 8];
    bool loud[LINE_MOST + 8] = {false};
    memset(mark, ' ', sizeof mark);
    int end = 0, done = 0;
    for (int length = LINE_MOST + 2; length > 0 && done < n; length--) /* longest first */
        for (int i = 0; i < n; i++) {
            if (p[i].hi - p[i].lo != length) continue;
            done++;
            char c = contains_another(p, n, i) ? '~' : '^';
            for (int k = p[i].lo; k < p[i].hi; k++) mark[k] = c, loud[k] = p[i].first;
            if (p[i].hi > end) end = p[i].hi;
        }
    put_gutter(r, "| ");
    for (int k = 0; k < end; k++) {
        if (r->colour && mark[k] != ' ' && (k == 0 || mark[k - 1] == ' ' || loud[k - 1] != loud[k]))
            text_puts(r->out, loud[k] ? r->loud : BLUE);
        text_putc(r->out, mark[k]);
        if (r->colour && mark[k] != ' ' && (k + 1 == end || mark[k + 1] == ' ' || loud[k + 1] != loud[k])) text_puts(r->out, RESET);
    }
    return end;
}

static void put_label(renderer *r, const piece *p, int indent)
{
    if (r->colour) text_puts(r->out, p->first ? r->loud : BLUE);
    put_message(r, p->message, indent);
    if (r->colour) text_puts(r->out, RESET);
    text_putc(r->out, '\n');
}

/* A row of `|` under the hanging labels left of cell `before`; leaves the cursor in `before`. */
static void put_connectors(renderer *r, const piece *const *hanging, int n, int before)
{
    put_gutter(r, "| ");
    int column = 0;
    for (int i = 0; i < n && hanging[i]->lo < before; i++) {
        if (hanging[i]->lo < column) continue; /* the same column again */
        spaces(r, hanging[i]->lo - column);
        paint(r, hanging[i]->first ? r->loud : BLUE, "|");
        column = hanging[i]->lo + 1;
    }
}

static int last_connector(const piece *const *hanging, int n, int before)
{
    int last = 0;
    for (int i = 0; i < n && hanging[i]->lo < before; i++) last = hanging[i]->lo + 1;
    return last;
}

/* One line and all labels on it, n >= 1. */
static void put_labelled_line(renderer *r, const source *s, piece *p, int n)
{
    uint32_t line = p[0].line;
    int width = 0;
    for (int i = 0; i < n; i++) {
        p[i].lo = cell_of(s, line, p[i].from);
        p[i].hi = cell_of(s, line, p[i].to);
        if (p[i].hi <= p[i].lo) p[i].hi = p[i].lo + 1;
    }
    width = cell_of(s, line, line_end(s, line));
    window w = choose_window(p, n, width);
    put_numbered_line(r, s, line, w);
    for (int i = 0; i < n; i++) {
        p[i].lo = shown(w, p[i].lo);
        p[i].hi = shown(w, p[i].hi);
        if (p[i].hi <= p[i].lo) p[i].hi = p[i].lo + 1;
    }
    for (int i = 1; i < n; i++) /* in order of lo, stable */
        for (int j = i; j > 0 && p[j].lo < p[j - 1].lo; j--) {
            piece swap = p[j];
            p[j] = p[j - 1];
            p[j - 1] = swap;
        }
    int end = put_marks(r, p, n);

    const piece *beside = NULL, *hanging[LABELS_SHOWN];
    if (p[n - 1].hi == end && (n == 1 || p[n - 2].lo < p[n - 1].lo)) beside = &p[n - 1];
    int nhanging = 0;
    for (int i = 0; i < n; i++)
        if (&p[i] != beside && *p[i].message) hanging[nhanging++] = &p[i];
    if (beside && *beside->message) {
        text_putc(r->out, ' ');
        put_label(r, beside, r->gutter + 4 + end);
    } else {
        text_putc(r->out, '\n');
    }
    if (!nhanging) return;
    put_connectors(r, hanging, nhanging, LINE_MOST + 8);
    text_putc(r->out, '\n');
    for (int i = nhanging - 1; i >= 0; i--) {
        int first = i; /* labels in one column appear in the order they were added */
        while (first > 0 && hanging[first - 1]->lo == hanging[i]->lo) first--;
        for (int k = first; k <= i; k++) {
            int column = hanging[k]->lo;
            put_connectors(r, hanging, first, column);
            spaces(r, column - last_connector(hanging, first, column));
            put_label(r, hanging[k], r->gutter + 3 + column);
        }
        i = first;
    }
}

/* ---- one source with its lines ---- */

static int pieces_of(const diag *d, const source *src, piece *p)
{
    int n = 0;
    for (uint32_t i = 0; i < d->nlabels && n < LABELS_SHOWN; i++) {
        const diag_label *l = &d->labels[i];
        if (l->at.src != src) continue;
        uint32_t length = (uint32_t)src->length;
        uint32_t lo = l->at.lo < length ? l->at.lo : length, line = source_line(src, lo);
        uint32_t end = line_end(src, line);
        if (lo > end) lo = end;
        /* A span over several lines is marked on its first. */
        uint32_t hi = l->at.hi > end ? end : l->at.hi < lo ? lo : l->at.hi;
        p[n++] = (piece){.message = l->message, .line = line, .from = lo, .to = hi, .first = i == 0};
    }
    for (int i = 1; i < n; i++) /* by line, stable */
        for (int j = i; j > 0 && p[j].line < p[j - 1].line; j--) {
            piece swap = p[j];
            p[j] = p[j - 1];
            p[j - 1] = swap;
        }
    return n;
}

static void put_source(renderer *r, const diag *d, const diag_label *first, bool again)
{
    const source *src = first->at.src;
    piece p[LABELS_SHOWN];
    int n = pieces_of(d, src, p);
    if (!n) return;
    spaces(r, r->gutter);
    paint(r, BLUE, again ? "::: " : "--> ");
    put_place(r, first->at);
    text_putc(r->out, '\n');
    put_gutter(r, "|");
    text_putc(r->out, '\n');
    for (int i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && p[k].line == p[i].line;) k++;
        if (i > 0 && p[i].line == p[i - 1].line + 2) {
            uint32_t between = p[i].line - 1;
            int width = cell_of(src, between, line_end(src, between));
            piece at_start = {0};
            put_numbered_line(r, src, between, choose_window(&at_start, 1, width));
        } else if (i > 0 && p[i].line > p[i - 1].line + 2) {
            paint(r, BLUE, "...");
            text_putc(r->out, '\n');
        }
        put_labelled_line(r, src, p + i, k - i);
    }
}

/* ---- the whole ---- */

static void put_headline(renderer *r, const diag *d)
{
    static const char *const names[] = {"error", "warning", "note"};
    if (r->colour) text_puts(r->out, r->loud);
    text_puts(r->out, names[d->severity]);
    if (d->severity != SEVERITY_NOTE) text_printf(r->out, "[%s]", diag_code_name(d->code));
    if (r->colour) text_puts(r->out, RESET), text_puts(r->out, BOLD);
    text_puts(r->out, ": ");
    put_message(r, d->message, 2);
    if (r->colour) text_puts(r->out, RESET);
    text_putc(r->out, '\n');
}

static void put_remark(renderer *r, const char *colour, const char *kind, const char *message)
{
    put_gutter(r, "= ");
    paint(r, colour, kind);
    text_puts(r->out, ": ");
    put_message(r, message, r->gutter + 1 + 2 + (int)strlen(kind) + 2);
    text_putc(r->out, '\n');
}

static bool same_frame(const diag_frame *a, const diag_frame *b)
{
    bool same_name = a->function && b->function ? !strcmp(a->function, b->function) : a->function == b->function;
    return same_name && a->at.src == b->at.src && a->at.lo == b->at.lo;
}

static void put_frame(renderer *r, const diag_frame *f)
{
    spaces(r, r->gutter + 1);
    bool named = f->function && *f->function;
    text_puts(r->out, named ? "in " : "at ");
    if (named) put_message(r, f->function, 0);
    if (f->at.src) {
        if (named) text_puts(r->out, " (");
        put_place(r, f->at);
        if (named) text_putc(r->out, ')');
    }
}

static void put_frames(renderer *r, const diag *d)
{
    uint32_t gap = d->frames_left_out ? d->nframes : UINT32_MAX; /* before which frame some are missing */
    if (d->frames_left_out && d->nframes == DIAG_FRAMES_KEPT) gap = DIAG_FRAMES_KEPT / 2;
    for (uint32_t i = 0; i <= d->nframes;) {
        if (i == gap) {
            spaces(r, r->gutter + 1);
            text_printf(r->out, "… %u more call%s\n", d->frames_left_out, d->frames_left_out == 1 ? "" : "s");
        }
        if (i == d->nframes) break;
        uint32_t k = i + 1;
        while (k < d->nframes && k != gap && same_frame(&d->frames[i], &d->frames[k])) k++;
        bool folded = k - i > SAME_FRAME_MOST;
        for (uint32_t j = i; j < (folded ? i + 1 : k); j++) {
            put_frame(r, &d->frames[j]);
            if (folded) text_printf(r->out, ", %u times", k - i);
            text_putc(r->out, '\n');
        }
        i = k;
    }
}

static bool first_of_source(const diag *d, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (d->labels[j].at.src == d->labels[i].at.src) return false;
    return d->labels[i].at.src != NULL;
}

void diag_render(const diag *d, bool colour, text *out)
{
    static const char *const louds[] = {"\033[1;31m", "\033[1;33m", "\033[1;36m"};
    renderer r = {.out = out, .colour = colour, .loud = louds[d->severity], .gutter = 1};
    for (uint32_t i = 0; i < d->nlabels; i++) {
        uint32_t line, column;
        int digits = 1;
        for (span_where(d->labels[i].at, &line, &column); line >= 10; line /= 10) digits++;
        if (digits > r.gutter) r.gutter = digits;
    }
    size_t before = memory_reserve(out->m, DIAG_RESERVE);
    put_headline(&r, d);
    bool placed = false;
    for (uint32_t i = 0; i < d->nlabels; i++)
        if (first_of_source(d, i)) {
            put_source(&r, d, &d->labels[i], placed);
            placed = true;
        }
    if (d->adjoint) put_remark(&r, BOLD, "note", placed ? "while running the adjoint of this line" : "while running the adjoint program");
    for (uint32_t i = 0; i < d->nlabels; i++) /* a label without a place still says something */
        if (!d->labels[i].at.src && *d->labels[i].message) put_remark(&r, BOLD, "note", d->labels[i].message);
    for (uint32_t i = 0; i < d->nnotes; i++) put_remark(&r, BOLD, "note", d->notes[i]);
    if (d->help) put_remark(&r, GREEN, "help", d->help);
    put_frames(&r, d);
    memory_reserve(out->m, before);
}
