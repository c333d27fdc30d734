/* view_saved.c: `saved f(args)`: what the forward pass keeps for the adjoint program: a row for each value
 * with a bar of its bytes, why it is kept, what each block is replayed from, and the totals. In go the
 * records of the builtin saved(). */
#include "view.h"
#include "placing.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    const char *name, *dtype, *function, *from, *needed;
    char shape[96];
    int64_t count, bytes, line, needed_line, block;
    bool given;
} row;

/* Bytes kept without blocks: without all of them, without each. -1: not known. */
enum { BLOCKS_TRIED = 32 };
typedef struct comparison {
    int64_t plain, of[BLOCKS_TRIED];
} comparison;

/* In a picture of many rows the largest share is shown. */
enum { PICTURE_ROWS = 18 };

static value field(vm *m, value r, const char *name)
{
    int64_t k = r.tag == V_RECORD ? record_find(as_record(r), symbol_of(m->symbols, name, strlen(name))) : -1;
    return k < 0 ? value_undef() : as_record(r)->v[k];
}
static int64_t number(vm *m, value r, const char *name)
{
    value v = field(m, r, name);
    return v.tag == V_I64 ? v.u.i : 0;
}
static const char *words(vm *m, value r, const char *name)
{
    value v = field(m, r, name);
    return v.tag == V_STRING ? as_string(v)->s : "";
}

static row row_of(vm *m, value r)
{
    row p = {.name = words(m, r, "name"),
             .dtype = words(m, r, "dtype"),
             .function = words(m, r, "function"),
             .from = words(m, r, "from"),
             .needed = words(m, r, "needed"),
             .count = number(m, r, "count"),
             .bytes = number(m, r, "bytes"),
             .line = number(m, r, "line"),
             .needed_line = number(m, r, "needed_line"),
             .block = number(m, r, "block")};
    value t = field(m, r, "shape");
    int n = snprintf(p.shape, sizeof p.shape, "%s", p.dtype);
    if (t.tag == V_TUPLE && as_tuple(t)->n) {
        for (uint32_t k = 0; k < as_tuple(t)->n && n < 80; k++)
            n += snprintf(p.shape + n, sizeof p.shape - (size_t)n, k ? ", %lld" : "[%lld", (long long)as_tuple(t)->v[k].u.i);
        n += snprintf(p.shape + n, sizeof p.shape - (size_t)n, "]");
    }
    if (p.count > 1 && n < 80) snprintf(p.shape + n, sizeof p.shape - (size_t)n, " x %lld", (long long)p.count);
    p.given = !strcmp(p.from, "argument") || !strcmp(p.from, "captured");
    return p;
}

static void why(const row *r, char *out, size_t n)
{
    if (r->block && !strcmp(r->from, "kept by the block")) snprintf(out, n, "kept by the block of line %lld", (long long)r->block);
    else if (r->block) snprintf(out, n, "enters the block of line %lld", (long long)r->block);
    else if (r->needed_line) snprintf(out, n, "adjoint of %s, line %lld", r->needed, (long long)r->needed_line);
    else snprintf(out, n, "%s", r->from);
}

/* "block of line 4, 3 times: replayed from h, w; without it 240 bytes more" */
static void block_words(vm *m, value r, int64_t without, int64_t kept, text *out)
{
    value enters = field(m, r, "enters");
    text_printf(out, "block of line %lld", (long long)number(m, r, "line"));
    if (number(m, r, "count") > 1) text_printf(out, ", %lld times", (long long)number(m, r, "count"));
    text_puts(out, as_tuple(enters)->n ? ": replayed from " : ": what is needed of it is computed again in place");
    const char *comma = "";
    for (uint32_t j = 0; j < as_tuple(enters)->n; j++) {
        const char *name = as_string(as_tuple(enters)->v[j])->s;
        if (!name[0]) continue;
        text_printf(out, "%s%s", comma, name);
        comma = ", ";
    }
    if (without >= 0) text_printf(out, "; without it %lld bytes %s", llabs(without - kept), without < kept ? "less" : "more");
}

static const char *shown(const row *r) { return r->name[0] ? r->name : "·"; }

static void as_text(vm *m, value report, const comparison *than, text *out)
{
    const tuple *t = as_tuple(field(m, report, "values")), *b = as_tuple(field(m, report, "blocks"));
    size_t w[3] = {4, 5, 5};
    for (uint32_t k = 0; k < t->n; k++) {
        row r = row_of(m, t->v[k]);
        if (utf8_length(r.name, strlen(r.name)) > w[0]) w[0] = utf8_length(r.name, strlen(r.name));
        if (strlen(r.shape) > w[1]) w[1] = strlen(r.shape);
        char n[32];
        int k2 = snprintf(n, sizeof n, "%lld", (long long)r.bytes);
        if ((size_t)k2 > w[2]) w[2] = (size_t)k2;
    }
    text_printf(out, "%-*s  %-*s  %*s  line  why\n", (int)w[0], "name", (int)w[1], "shape", (int)w[2], "bytes");
    for (int pass = 0; pass < 2; pass++) {
        bool any = false;
        for (uint32_t k = 0; k < t->n; k++) {
            row r = row_of(m, t->v[k]);
            char reason[160];
            if (r.given != (pass == 1)) continue;
            if (pass && !any) text_puts(out, "given, and not counted:\n");
            any = true;
            why(&r, reason, sizeof reason);
            text_puts(out, shown(&r));
            for (size_t c = utf8_length(shown(&r), strlen(shown(&r))); c < w[0]; c++) text_putc(out, ' ');
            char line[24] = "";
            if (r.line) snprintf(line, sizeof line, "%lld", (long long)r.line);
            text_printf(out, "  %-*s  %*lld  %4s  %s\n", (int)w[1], r.shape, (int)w[2], (long long)r.bytes, line, reason);
        }
    }
    int64_t kept = number(m, report, "bytes");
    for (uint32_t k = 0; k < b->n; k++) {
        block_words(m, b->v[k], k < BLOCKS_TRIED ? than->of[k] : -1, kept, out);
        text_putc(out, '\n');
    }
    text_printf(out, "kept: %lld bytes", (long long)kept);
    if (than->plain >= 0 && b->n) text_printf(out, "; without blocks %lld", (long long)than->plain);
    text_putc(out, '\n');
}

static void json_row(vm *m, const row *r, text *out)
{
    text_puts(out, "{\"name\": ");
    json_string(r->name, strlen(r->name), out);
    text_puts(out, ", \"shape\": ");
    json_string(r->shape, strlen(r->shape), out);
    text_printf(
        out, ", \"count\": %lld, \"bytes\": %lld, \"line\": %lld, \"from\": \"%s\", \"needed_line\": %lld, \"block\": %lld, \"needed\": ",
        (long long)r->count, (long long)r->bytes, (long long)r->line, r->from, (long long)r->needed_line, (long long)r->block);
    json_string(r->needed, strlen(r->needed), out);
    text_putc(out, '}');
}

static void as_json(vm *m, value report, const comparison *than, text *out)
{
    const tuple *t = as_tuple(field(m, report, "values")), *b = as_tuple(field(m, report, "blocks"));
    text_puts(out, "{\"values\": [");
    for (uint32_t k = 0; k < t->n; k++) {
        row r = row_of(m, t->v[k]);
        text_puts(out, k ? ",\n" : "\n");
        json_row(m, &r, out);
    }
    int64_t kept = number(m, report, "bytes");
    text_puts(out, "],\n\"blocks\": [");
    for (uint32_t k = 0; k < b->n; k++) {
        int64_t alone = k < BLOCKS_TRIED ? than->of[k] : -1;
        text_printf(out, "%s{\"line\": %lld, \"count\": %lld, \"bytes\": %lld, \"saves\": ", k ? ", " : "",
                    (long long)number(m, b->v[k], "line"), (long long)number(m, b->v[k], "count"), (long long)number(m, b->v[k], "bytes"));
        if (alone < 0) text_puts(out, "null}");
        else text_printf(out, "%lld}", (long long)(alone - kept));
    }
    text_printf(out, "],\n\"bytes\": %lld, \"given_bytes\": %lld, \"without_blocks\": ", (long long)number(m, report, "bytes"),
                (long long)number(m, report, "given_bytes"));
    text_printf(out, than->plain < 0 ? "null}\n" : "%lld}\n", (long long)than->plain);
}

enum { WIDE = 4 /* columns of words */ };
static const char *const heads[WIDE] = {"name", "shape", "line", "why"};

static void cell(const row *r, int col, char out[160])
{
    if (col == 0) snprintf(out, 160, "%s", shown(r));
    else if (col == 1) snprintf(out, 160, "%s", r->shape);
    else if (col == 2 && r->line) snprintf(out, 160, "%lld", (long long)r->line);
    else if (col == 2) *out = 0;
    else why(r, out, 160);
}

/* The rows in the order they are drawn: what was computed, then what was given; of very many the largest first. */
static uint32_t order_rows(vm *m, const tuple *t, uint32_t *order)
{
    uint32_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t from = n;
        for (uint32_t k = 0; k < t->n; k++) {
            row r = row_of(m, t->v[k]);
            if (r.given != (pass == 1)) continue;
            uint32_t at = n++;
            for (; t->n > PICTURE_ROWS && at > from && row_of(m, t->v[order[at - 1]]).bytes < r.bytes; at--) order[at] = order[at - 1];
            order[at] = k;
        }
    }
    return n;
}

static void as_svg(vm *m, value report, const comparison *than, const char *title, text *out)
{
    const tuple *t = as_tuple(field(m, report, "values")), *b = as_tuple(field(m, report, "blocks"));
    const double size = 15, step = 30, left = 24, bars = 220, advance = size * SVG_ADVANCE;
    int64_t most = 1, kept = number(m, report, "bytes"), rest = 0;
    uint32_t *order = memory_alloc(&m->mem, MEM_OTHER, (t->n + 1) * sizeof *order);
    if (!order) return;
    uint32_t all = order_rows(m, t, order), rows = all > PICTURE_ROWS ? PICTURE_ROWS - 1 : all;
    size_t w[WIDE];
    char words[160];
    for (int c = 0; c < WIDE; c++) w[c] = strlen(heads[c]);
    for (uint32_t k = 0; k < all; k++) {
        row r = row_of(m, t->v[order[k]]);
        if (r.bytes > most) most = r.bytes;
        if (k >= rows) rest += r.bytes;
        for (int c = 0; c < WIDE && k < rows; c++) {
            cell(&r, c, words);
            if (utf8_length(words, strlen(words)) > w[c]) w[c] = utf8_length(words, strlen(words));
        }
    }
    double x[WIDE], at_bar = left + (double)(w[0] + w[1]) * advance + 48;
    x[0] = left;
    x[1] = x[0] + (double)w[0] * advance + 24;
    x[2] = at_bar + bars + 110;
    x[3] = x[2] + (double)w[2] * advance + 24;
    double width = x[3] + (double)w[3] * advance + left, least = (double)utf8_length(title, strlen(title)) * 20 * SVG_ADVANCE + 2 * left;
    text of[BLOCKS_TRIED];
    uint32_t nblocks = b->n < BLOCKS_TRIED ? b->n : BLOCKS_TRIED;
    for (uint32_t k = 0; k < nblocks; k++) {
        text_open(&of[k], &m->mem);
        block_words(m, b->v[k], than->of[k], kept, &of[k]);
        double wide = (double)utf8_length(text_str(&of[k]), of[k].n) * advance + 2 * left;
        if (wide > least) least = wide;
    }
    if (least > width) width = least;
    svg s;
    svg_open(&s, out, width, 120 + step * (rows + (rows < all)) + (nblocks ? 34 + 24 * nblocks : 0) + 40, title);
    svg_words(&s, left, 36, 20, 's', true, INK_TEXT, title);
    char line[200], a[32], p[32];
    view_bytes((double)kept, a);
    if (than->plain >= 0 && b->n) snprintf(line, sizeof line, "kept %s; without blocks %s", a, view_bytes((double)than->plain, p));
    else snprintf(line, sizeof line, "kept %s", a);
    svg_words(&s, left, 64, 16, 's', false, INK_DIM, line);
    for (int c = 0; c < WIDE; c++) svg_words(&s, x[c], 96, size, 's', true, INK_DIM, heads[c]);
    svg_words(&s, at_bar, 96, size, 's', true, INK_DIM, "bytes");
    svg_line(&s, left - 8, 104, width - left + 8, 104, 1.5, INK_FRAME);
    double y = 104;
    for (uint32_t k = 0; k < rows; k++, y += step) {
        row r = row_of(m, t->v[order[k]]);
        for (int c = 0; c < WIDE; c++) {
            cell(&r, c, words);
            svg_words(&s, x[c], y + 21, size, 's', c == 0, c || r.given ? INK_DIM : INK_TEXT, words);
        }
        double bar = (double)r.bytes / (double)most * bars;
        if (r.bytes && bar < 2) bar = 2;
        if (r.bytes) svg_box(&s, at_bar, y + 7, bar, 18, 2, r.given ? INK_GIVEN : r.block ? INK_REPLAY : INK_SAVED);
        snprintf(line, sizeof line, "%lld", (long long)r.bytes);
        svg_words(&s, at_bar + bar + (r.bytes ? 8 : 0), y + 21, size, 's', false, INK_TEXT, line);
    }
    if (rows < all) {
        snprintf(line, sizeof line, "· · ·  %u more, of %lld bytes together", all - rows, (long long)rest);
        svg_words(&s, left, y + 21, size, 's', false, INK_DIM, line);
        y += step;
    }
    memory_free(&m->mem, MEM_OTHER, order, (t->n + 1) * sizeof *order);
    if (nblocks) {
        y += 28;
        svg_words(&s, left, y, size, 's', true, INK_DIM, "replayed");
        for (uint32_t k = 0; k < nblocks; k++) {
            y += 24;
            svg_words(&s, left, y, size, 's', false, INK_TEXT, text_str(&of[k]));
            text_close(&of[k]);
        }
    }
    y += 34;
    static const struct {
        svg_ink ink;
        const char *words;
    } legend[] = {{INK_SAVED, "computed"}, {INK_REPLAY, "held for a block"}, {INK_GIVEN, "given, not counted"}};
    double at = left;
    for (int k = 0; k < 3; k++) {
        svg_box(&s, at, y - 12, 14, 14, 2, legend[k].ink);
        svg_words(&s, at + 20, y, 14, 's', false, INK_DIM, legend[k].words);
        at += 20 + (double)strlen(legend[k].words) * 14 * SVG_ADVANCE + 28;
    }
    svg_close(&s);
}

static bool report_of(host *h, const view_call *c, value *out) { return view_apply(h, "fn(f, args) = saved(f, args...)", c, out); }

/* Bytes that would be kept without the blocks, all of them or some, or -1 when that cannot be tried. */
static int64_t without(session *s, const view_call *c, int64_t line, const char *owner)
{
    vm *m = s->h->vm;
    const value of[2] = {c->f, c->args};
    random_state random = m->random;
    int64_t bytes = -1;
    value report;
    placing *now = placing_begin(s, of, 2, &(placing_options){.blocks = {.set = true, .plain = true}, .line = line, .function = owner});
    if (now && report_of(s->h, c, &report)) {
        bytes = number(m, report, "bytes");
        value_release(m, report);
    }
    placing_end(now);
    m->random = random;
    diag_free(m->error);
    m->error = NULL;
    return bytes;
}

bool view_saved(session *s, const view_request *q, const view_call *c, view_format f, text *out)
{
    vm *m = s->h->vm;
    value report;
    if (!report_of(s->h, c, &report)) return false;
    const tuple *b = as_tuple(field(m, report, "blocks"));
    comparison than = {.plain = b->n ? without(s, c, 0, NULL) : number(m, report, "bytes")};
    for (uint32_t k = 0; k < b->n && k < BLOCKS_TRIED; k++)
        than.of[k] = without(s, c, number(m, b->v[k], "line"), words(m, b->v[k], "function"));
    char title[256];
    snprintf(title, sizeof title, "%s: what the forward pass keeps", code_display_name(as_closure(c->f)->code));
    if (f == FORMAT_JSON) as_json(m, report, &than, out);
    else if (f == FORMAT_SVG) as_svg(m, report, &than, title, out);
    else as_text(m, report, &than, out);
    value_release(m, report);
    return true;
}
