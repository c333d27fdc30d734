/* diag.c: sources, spans, and diagnostics as objects; the nearest name for a misspelt one.
 *
 * In: what went wrong, where, and the call frames; out: a list of diagnostics that own every
 * string in them and hold a reference to every source they point at, so that one may outlive the
 * Code it complains about. An adder that is refused memory leaves the diagnostic as it was: less is
 * shown, nothing else fails. Rendering is diag_render.c's. */
#include "diag.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- sources ---- */

static char *copy_bytes(memory *m, const char *s, size_t n)
{
    char *copy = memory_alloc(m, MEM_TEXT, n + 1);
    if (copy && n) memcpy(copy, s, n);
    return copy;
}

static void free_string(memory *m, char *s)
{
    if (s) memory_free(m, MEM_TEXT, s, strlen(s) + 1);
}

source *source_new(memory *m, const char *name, const char *body, size_t length)
{
    if (length >= UINT32_MAX) return NULL; /* spans are 32 bits wide */
    source *s = memory_alloc(m, MEM_TEXT, sizeof *s);
    if (!s) return NULL;
    s->m = m;
    s->refs = 1;
    s->length = length;
    s->nlines = 1;
    for (size_t i = 0; i < length; i++) s->nlines += body[i] == '\n';
    s->name = copy_bytes(m, name, strlen(name));
    s->text = copy_bytes(m, body, length);
    s->lines = memory_alloc(m, MEM_TEXT, s->nlines * sizeof *s->lines);
    if (!s->name || !s->text || !s->lines) {
        source_release(s);
        return NULL;
    }
    uint32_t line = 1;
    for (size_t i = 0; i < length; i++)
        if (body[i] == '\n') s->lines[line++] = (uint32_t)i + 1;
    return s;
}

source *source_retain(source *s)
{
    if (s) s->refs++;
    return s;
}

void source_release(source *s)
{
    if (!s || --s->refs) return;
    free_string(s->m, s->name);
    memory_free(s->m, MEM_TEXT, s->text, s->length + 1);
    memory_free(s->m, MEM_TEXT, s->lines, s->nlines * sizeof *s->lines);
    memory_free(s->m, MEM_TEXT, s, sizeof *s);
}

uint32_t source_line(const source *s, uint32_t at)
{
    uint32_t lo = 0, hi = s->nlines; /* lines[lo] <= at < lines[hi] */
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (s->lines[mid] <= at) lo = mid;
        else hi = mid;
    }
    return lo + 1;
}

void span_where(span s, uint32_t *line, uint32_t *column)
{
    *line = *column = 0;
    if (!s.src) return;
    uint32_t at = s.lo < s.src->length ? s.lo : (uint32_t)s.src->length;
    *line = source_line(s.src, at);
    *column = 1;
    for (uint32_t i = s.src->lines[*line - 1]; i < at; ++*column) {
        uint32_t cp;
        int n = utf8_decode(s.src->text + i, at - i, &cp);
        i += n ? (uint32_t)n : 1; /* an invalid byte counts as one character */
    }
}

/* ---- diagnostics ---- */

const char *diag_code_name(diag_code c)
{
    static const char *const names[DIAG_CODES] = {
        [DIAG_SYNTAX] = "syntax",
        [DIAG_NAME] = "name",
        [DIAG_ARITY] = "arity",
        [DIAG_TYPE] = "type",
        [DIAG_SHAPE] = "shape",
        [DIAG_INDEX] = "index",
        [DIAG_VALUE] = "value",
        [DIAG_ARITHMETIC] = "arithmetic",
        [DIAG_CONTRACT] = "contract",
        [DIAG_ASSERT] = "assert",
        [DIAG_USER] = "user",
        [DIAG_DERIVATIVE] = "derivative",
        [DIAG_MEMORY] = "memory",
        [DIAG_BUDGET] = "budget",
        [DIAG_FILE] = "file",
        [DIAG_IMPORT] = "import",
        [DIAG_NAN] = "nan",
        [DIAG_INTERRUPT] = "interrupt",
        [DIAG_UNREACHABLE] = "unreachable",
        [DIAG_UNUSED] = "unused",
        [DIAG_CAPTURE] = "capture",
        [DIAG_CHECKPOINT] = "checkpoint",
        [DIAG_INTERNAL] = "internal",
    };
    return c < DIAG_CODES && names[c] ? names[c] : "internal";
}

static void *spare_alloc(memory *m, size_t bytes)
{
    size_t before = memory_reserve(m, DIAG_RESERVE);
    void *p = memory_alloc(m, MEM_TEXT, bytes);
    memory_reserve(m, before);
    return p;
}

/* The formatted text as an owned string, or NULL. */
static char *format(memory *m, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *s = n < 0 ? NULL : spare_alloc(m, (size_t)n + 1);
    if (s) {
        vsnprintf(s, (size_t)n + 1, fmt, again);
        for (int i = 0; i < n; i++)
            if (!s[i]) s[i] = '?'; /* a NUL by way of %c: strings are freed by their strlen */
    }
    va_end(again);
    return s;
}

/* Grows an array of n items by one zeroed item; false leaves it as it was. */
static bool grow(memory *m, void **items, uint32_t n, size_t size)
{
    size_t before = memory_reserve(m, DIAG_RESERVE);
    void *p = memory_resize(m, MEM_TEXT, *items, n * size, (n + (size_t)1) * size);
    memory_reserve(m, before);
    if (!p) return false;
    memset((char *)p + n * size, 0, size);
    *items = p;
    return true;
}

diag *diag_new(memory *m, severity s, diag_code c, const char *fmt, ...)
{
    diag *d = spare_alloc(m, sizeof *d);
    if (!d) return NULL;
    d->m = m;
    d->severity = s;
    d->code = c;
    va_list ap;
    va_start(ap, fmt);
    d->message = format(m, fmt, ap);
    va_end(ap);
    if (!d->message) {
        diag_free(d);
        return NULL;
    }
    return d;
}

void diag_label_add(diag *d, span at, const char *fmt, ...)
{
    if (!d) return;
    va_list ap;
    va_start(ap, fmt);
    char *message = format(d->m, fmt, ap);
    va_end(ap);
    void *labels = d->labels;
    if (!message || !grow(d->m, &labels, d->nlabels, sizeof *d->labels)) {
        free_string(d->m, message);
        return;
    }
    d->labels = labels;
    source_retain(at.src);
    d->labels[d->nlabels++] = (diag_label){at, message};
}

void diag_note_add(diag *d, const char *fmt, ...)
{
    if (!d) return;
    va_list ap;
    va_start(ap, fmt);
    char *note = format(d->m, fmt, ap);
    va_end(ap);
    void *notes = d->notes;
    if (!note || !grow(d->m, &notes, d->nnotes, sizeof *d->notes)) {
        free_string(d->m, note);
        return;
    }
    d->notes = notes;
    d->notes[d->nnotes++] = note;
}

void diag_help_set(diag *d, const char *fmt, ...)
{
    if (!d) return;
    va_list ap;
    va_start(ap, fmt);
    char *help = format(d->m, fmt, ap);
    va_end(ap);
    if (!help) return;
    free_string(d->m, d->help);
    d->help = help;
}

static void frame_drop(diag *d, diag_frame *f)
{
    free_string(d->m, f->function);
    source_release(f->at.src);
}

void diag_frame_add(diag *d, span at, const char *function)
{
    if (!d) return;
    if (d->nframes == DIAG_FRAMES_KEPT) {
        /* Deep recursion: the innermost half stays, the outer half is a window that moves on. */
        diag_frame *f = d->frames + DIAG_FRAMES_KEPT / 2;
        frame_drop(d, f);
        memmove(f, f + 1, (DIAG_FRAMES_KEPT / 2 - 1) * sizeof *f);
        d->frames_left_out++;
        f[DIAG_FRAMES_KEPT / 2 - 1] = (diag_frame){{0}, NULL};
    } else {
        void *frames = d->frames;
        if (!grow(d->m, &frames, d->nframes, sizeof *d->frames)) return;
        d->frames = frames;
        d->nframes++;
    }
    source_retain(at.src);
    size_t before = memory_reserve(d->m, DIAG_RESERVE);
    d->frames[d->nframes - 1] = (diag_frame){at, function ? copy_bytes(d->m, function, strlen(function)) : NULL};
    memory_reserve(d->m, before);
}

void diag_free(diag *d)
{
    for (diag *next; d; d = next) {
        memory *m = d->m;
        next = d->next;
        free_string(m, d->message);
        free_string(m, d->help);
        for (uint32_t i = 0; i < d->nlabels; i++) {
            free_string(m, d->labels[i].message);
            source_release(d->labels[i].at.src);
        }
        for (uint32_t i = 0; i < d->nnotes; i++) free_string(m, d->notes[i]);
        for (uint32_t i = 0; i < d->nframes; i++) frame_drop(d, &d->frames[i]);
        memory_free(m, MEM_TEXT, d->labels, d->nlabels * sizeof *d->labels);
        memory_free(m, MEM_TEXT, d->notes, d->nnotes * sizeof *d->notes);
        memory_free(m, MEM_TEXT, d->frames, d->nframes * sizeof *d->frames);
        memory_free(m, MEM_TEXT, d, sizeof *d);
    }
}

/* ---- the nearest name ---- */

enum { NAME_MOST = 64 }; /* longer names are not worth a guess */

/* Code points of a name, or -1 when there are too many. */
static int name_points(const char *s, uint32_t out[NAME_MOST])
{
    size_t n = strlen(s);
    int count = 0;
    for (size_t i = 0; i < n; count++) {
        if (count == NAME_MOST) return -1;
        int k = utf8_decode(s + i, n - i, &out[count]);
        if (!k) out[count] = (unsigned char)s[i];
        i += k ? (size_t)k : 1;
    }
    return count;
}

static int least(int a, int b) { return a < b ? a : b; }

/* Edits (insert, delete, replace, swap of neighbours; the restricted Damerau-Levenshtein distance)
   that turn a into b, or anything above `most` when there are more than that. */
static int edits(const uint32_t *a, int na, const uint32_t *b, int nb, int most)
{
    if (na - nb > most || nb - na > most) return most + 1;
    int rows[3][NAME_MOST + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    for (int j = 0; j <= nb; j++) last[j] = j;
    for (int i = 1; i <= na; i++) {
        row[0] = i;
        int best = i;
        for (int j = 1; j <= nb; j++) {
            int d = last[j - 1] + (a[i - 1] != b[j - 1]);
            d = least(d, least(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d = least(d, before[j - 2] + 1);
            row[j] = d;
            best = least(best, d);
        }
        /* A swap looks two rows back, so one bad row alone does not settle it; `most + 1` does. */
        if (best > most + 1) return most + 1;
        int *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[nb];
}

/* How odd a slip of the pen it is to write a for b: nothing for letters left out, or exchanged, more for others, and
   for another first letter. It decides between names that are as many edits away. */
static int oddness(const uint32_t *a, int na, const uint32_t *b, int nb)
{
    int found = 0, odd = a[0] != b[0];
    for (int i = 0; i < nb && found < na; i++) found += a[found] == b[i];
    if (found == na) return odd;
    uint64_t sum = 0; /* of the letters' differences: the same letters come to nothing */
    for (int i = 0; i < na; i++) sum += (uint64_t)a[i] * a[i];
    for (int i = 0; i < nb; i++) sum -= (uint64_t)b[i] * b[i];
    return odd + (sum || na != nb ? 2 : 0);
}

const char *nearest_name(const char *name, const char *const *names, size_t n)
{
    uint32_t want[NAME_MOST], have[NAME_MOST];
    int nwant = name_points(name, want);
    if (nwant <= 0) return NULL;
    int most = nwant / 3 > 1 ? nwant / 3 : 1;
    const char *nearest = NULL;
    int oddest = INT_MAX;
    for (size_t i = 0; i < n && most > 0; i++) {
        int nhave = names[i] ? name_points(names[i], have) : -1;
        if (nhave <= 0) continue;
        int d = edits(want, nwant, have, nhave, most);
        /* Replacing every letter is no likeness: `x` does not suggest `y`. The name itself is no
           suggestion either. */
        if (d == 0 || d > most || d >= (nwant > nhave ? nwant : nhave)) continue;
        int odd = oddness(want, nwant, have, nhave);
        if (nearest && d == most && odd >= oddest) continue; /* the first of the nearest */
        nearest = names[i];
        most = d, oddest = odd;
    }
    return nearest;
}
