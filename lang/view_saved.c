/* view_saved.c: `saved f(args)`: what the forward pass keeps for the adjoint program: a row for each value
 * with a bar of its bytes, why it is kept, what each block is replayed from, and the totals. In go the
 * records of the builtin saved(). */
#include "view.h"
#include <stdio.h>
#include <string.h>

typedef struct row {
    const char *name, *dtype, *function, *from, *needed;
    char shape[96];
    int64_t count, bytes, line, needed_line, block;
    bool given;
} row;

/* What a block saves is tried, on a fresh run of the script, for as many blocks. */
enum { BLOCKS_TRIED = 32 };
typedef struct totals { int64_t plain; /* bytes without blocks, -1: not known */ int64_t saves[BLOCKS_TRIED]; bool tried[BLOCKS_TRIED]; } totals;

static value field(vm *m, value r, const char *name)
{
    int64_t k = r.tag == V_RECORD ? record_find(as_record(r), symbol_of(m->symbols, name, strlen(name))) : -1;
    return k < 0 ? value_undef() : as_record(r)->v[k];
}
static int64_t number(vm *m, value r, const char *name) { value v = field(m, r, name); return v.tag == V_I64 ? v.u.i : 0; }
static const char *words(vm *m, value r, const char *name)
{
    value v = field(m, r, name);
    return v.tag == V_STRING ? as_string(v)->s : "";
}

static row row_of(vm *m, value r)
{
    row p = {.name = words(m, r, "name"), .dtype = words(m, r, "dtype"), .function = words(m, r, "function"), .from = words(m, r, "from"),
             .needed = words(m, r, "needed"), .count = number(m, r, "count"), .bytes = number(m, r, "bytes"), .line = number(m, r, "line"),
             .needed_line = number(m, r, "needed_line"), .block = number(m, r, "block")};
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

static void as_text(vm *m, value report, const totals *all, text *out)
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
            text_puts(out, r.name);
            for (size_t c = utf8_length(r.name, strlen(r.name)); c < w[0]; c++) text_putc(out, ' ');
            text_printf(out, "  %-*s  %*lld  %4lld  %s\n", (int)w[1], r.shape, (int)w[2], (long long)r.bytes, (long long)r.line, reason);
        }
    }
    for (uint32_t k = 0; k < b->n; k++) {
        value r = b->v[k], enters = field(m, r, "enters");
        text_printf(out, "block of line %lld", (long long)number(m, r, "line"));
        if (number(m, r, "count") > 1) text_printf(out, ", %lld times", (long long)number(m, r, "count"));
        if (!as_tuple(enters)->n) {
            text_puts(out, ": what is needed of it is computed again in place\n");
            continue;
        }
        text_puts(out, ": replayed from ");
        for (uint32_t j = 0; j < as_tuple(enters)->n; j++) text_printf(out, j ? ", %s" : "%s", as_string(as_tuple(enters)->v[j])->s);
        if (k < BLOCKS_TRIED && all->tried[k]) text_printf(out, "; without it %lld bytes more", (long long)all->saves[k]);
        text_putc(out, '\n');
    }
    text_printf(out, "kept: %lld bytes", (long long)number(m, report, "bytes"));
    if (all->plain >= 0 && b->n) text_printf(out, "; without blocks %lld", (long long)all->plain);
    text_putc(out, '\n');
}

static void json_row(vm *m, const row *r, text *out)
{
    text_puts(out, "{\"name\": ");
    json_string(r->name, strlen(r->name), out);
    text_puts(out, ", \"shape\": ");
    json_string(r->shape, strlen(r->shape), out);
    text_printf(out, ", \"count\": %lld, \"bytes\": %lld, \"line\": %lld, \"from\": \"%s\", \"needed_line\": %lld, \"block\": %lld, \"needed\": ",
                (long long)r->count, (long long)r->bytes, (long long)r->line, r->from, (long long)r->needed_line, (long long)r->block);
    json_string(r->needed, strlen(r->needed), out);
    text_putc(out, '}');
}

static void as_json(vm *m, value report, const totals *all, text *out)
{
    const tuple *t = as_tuple(field(m, report, "values")), *b = as_tuple(field(m, report, "blocks"));
    text_puts(out, "{\"values\": [");
    for (uint32_t k = 0; k < t->n; k++) {
        row r = row_of(m, t->v[k]);
        text_puts(out, k ? ",\n" : "\n");
        json_row(m, &r, out);
    }
    text_puts(out, "],\n\"blocks\": [");
    for (uint32_t k = 0; k < b->n; k++) {
        text_printf(out, "%s{\"line\": %lld, \"count\": %lld, \"bytes\": %lld, \"saves\": ", k ? ", " : "", (long long)number(m, b->v[k], "line"),
                    (long long)number(m, b->v[k], "count"), (long long)number(m, b->v[k], "bytes"));
        if (k < BLOCKS_TRIED && all->tried[k]) text_printf(out, "%lld}", (long long)all->saves[k]);
        else text_puts(out, "null}");
    }
    text_printf(out, "],\n\"bytes\": %lld, \"given_bytes\": %lld, \"without_blocks\": ", (long long)number(m, report, "bytes"),
                (long long)number(m, report, "given_bytes"));
    text_printf(out, all->plain < 0 ? "null}\n" : "%lld}\n", (long long)all->plain);
}

static void as_svg(vm *m, value report, const totals *all, const char *title, text *out)
{
    const tuple *t = as_tuple(field(m, report, "values")), *b = as_tuple(field(m, report, "blocks"));
    const double size = 15, step = 30, left = 24, bars = 220;
    size_t w[3] = {4, 5, 3};
    int64_t most = 1;
    uint32_t rows = 0;
    for (uint32_t k = 0; k < t->n && rows < 200; k++, rows++) {
        row r = row_of(m, t->v[k]);
        char reason[160];
        why(&r, reason, sizeof reason);
        size_t n[3] = {utf8_length(r.name, strlen(r.name)), strlen(r.shape), utf8_length(reason, strlen(reason))};
        for (int c = 0; c < 3; c++)
            if (n[c] > w[c]) w[c] = n[c];
        if (r.bytes > most) most = r.bytes;
    }
    double x[5] = {left, 0, 0, 0, 0}, advance = size * SVG_ADVANCE;
    x[1] = x[0] + (double)w[0] * advance + 24;
    x[2] = x[1] + (double)w[1] * advance + 24;
    x[3] = x[2] + bars + 110;
    x[4] = x[3] + (double)w[2] * advance + left;
    double least = (double)utf8_length(title, strlen(title)) * 20 * SVG_ADVANCE + 2 * left;
    double width = x[4] > least ? x[4] : least, height = 120 + step * rows + (b->n ? 34 + 24 * b->n : 0) + 40;
    svg s;
    svg_open(&s, out, width, height, title);
    svg_words(&s, left, 36, 20, 's', true, INK_TEXT, title);
    char line[200], size_words[32], plain_words[32];
    view_bytes((double)number(m, report, "bytes"), size_words);
    if (all->plain >= 0 && b->n) snprintf(line, sizeof line, "kept %s; without blocks %s", size_words, view_bytes((double)all->plain, plain_words));
    else snprintf(line, sizeof line, "kept %s", size_words);
    svg_words(&s, left, 64, 16, 's', false, INK_DIM, line);
    static const char *const heads[4] = {"name", "shape", "bytes", "why"};
    for (int c = 0; c < 4; c++) svg_words(&s, x[c], 96, size, 's', true, INK_DIM, heads[c]);
    svg_line(&s, left - 8, 104, width - left + 8, 104, 1.5, INK_FRAME);
    double y = 104;
    for (uint32_t k = 0; k < rows; k++, y += step) {
        row r = row_of(m, t->v[k]);
        char reason[160];
        why(&r, reason, sizeof reason);
        svg_words(&s, x[0], y + 21, size, 's', true, r.given ? INK_DIM : INK_TEXT, r.name);
        svg_words(&s, x[1], y + 21, size, 's', false, INK_DIM, r.shape);
        double bar = (double)r.bytes / (double)most * bars;
        if (r.bytes && bar < 2) bar = 2;
        svg_box(&s, x[2], y + 7, bar, 18, 2, r.given ? INK_GIVEN : r.block ? INK_REPLAY : INK_SAVED);
        snprintf(line, sizeof line, "%lld", (long long)r.bytes);
        svg_words(&s, x[2] + bar + 8, y + 21, size, 's', false, INK_TEXT, line);
        svg_words(&s, x[3], y + 21, size, 's', false, INK_DIM, reason);
    }
    if (b->n) {
        y += 28;
        svg_words(&s, left, y, size, 's', true, INK_DIM, "replayed");
        for (uint32_t k = 0; k < b->n; k++) {
            value r = b->v[k], enters = field(m, r, "enters");
            text l;
            text_open(&l, &m->mem);
            text_printf(&l, "block of line %lld", (long long)number(m, r, "line"));
            if (number(m, r, "count") > 1) text_printf(&l, ", %lld times", (long long)number(m, r, "count"));
            text_puts(&l, as_tuple(enters)->n ? ", from " : ": what is needed is computed again in place");
            for (uint32_t j = 0; j < as_tuple(enters)->n; j++) text_printf(&l, j ? ", %s" : "%s", as_string(as_tuple(enters)->v[j])->s);
            if (k < BLOCKS_TRIED && all->tried[k]) text_printf(&l, "; saves %s", view_bytes((double)all->saves[k], size_words));
            y += 24;
            svg_words(&s, left, y, size, 's', false, INK_TEXT, text_str(&l));
            text_close(&l);
        }
    }
    y += 34;
    static const struct { svg_ink ink; const char *words; } legend[] = {{INK_SAVED, "computed"}, {INK_REPLAY, "held for a block"}, {INK_GIVEN, "given, not counted"}};
    double at = left;
    for (int k = 0; k < 3; k++) {
        svg_box(&s, at, y - 12, 14, 14, 2, legend[k].ink);
        svg_words(&s, at + 20, y, 14, 's', false, INK_DIM, legend[k].words);
        at += 20 + (double)strlen(legend[k].words) * 14 * SVG_ADVANCE + 28;
    }
    svg_close(&s);
}

static bool report_of(host *h, const view_call *c, value *out) { return view_apply(h, "fn(f, args) = saved(f, args...)", c, out); }

/* Bytes that would be kept without the block of a line, 0: without any, or -1 when that cannot be tried. */
static int64_t without_blocks(session *s, const view_request *q, uint32_t line)
{
    if (!q->script) return -1;
    host h;
    session other;
    placement p = {.set = true, .plain = true, .only = line};
    if (!view_fresh(&s->h->vm->config, &p, q->script, true, &h, &other, true)) return -1;
    int64_t bytes = -1;
    view_call c;
    value report;
    if (view_call_of(&other, q->call, &c)) {
        if (report_of(&h, &c, &report)) {
            bytes = number(h.vm, report, "bytes");
            value_release(h.vm, report);
        }
        view_call_close(h.vm, &c);
    }
    session_close(&other);
    host_close(&h);
    return bytes;
}

bool view_saved(session *s, const view_request *q, const view_call *c, view_format f, text *out)
{
    vm *m = s->h->vm;
    value report;
    if (!report_of(s->h, c, &report)) return false;
    totals k = {.plain = without_blocks(s, q, 0)};
    const tuple *b = as_tuple(field(m, report, "blocks"));
    for (uint32_t i = 0; i < BLOCKS_TRIED; i++) {
        int64_t bytes = i < b->n && k.plain >= 0 ? without_blocks(s, q, (uint32_t)number(m, b->v[i], "line")) : -1;
        k.tried[i] = bytes >= 0;
        k.saves[i] = bytes - number(m, report, "bytes");
    }
    char title[256];
    snprintf(title, sizeof title, "%s: what the forward pass keeps", code_display_name(as_closure(c->f)->code));
    if (f == FORMAT_JSON) as_json(m, report, &k, out);
    else if (f == FORMAT_SVG) as_svg(m, report, &k, title, out);
    else as_text(m, report, &k, out);
    value_release(m, report);
    return true;
}
