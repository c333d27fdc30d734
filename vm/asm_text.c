/* asm_text.c: the assembler's words, strings, registers and constants; asm.c describes the text. */
#include "asm.h"
#include "number.h"
#include <stdlib.h>
#include <string.h>

bool asm_fault(assembler *p, uint32_t lo, uint32_t hi, const char *fmt, ...)
{
    if (p->failed) return false;
    p->failed = true;
    if (p->m->error) return false;
    text t;
    text_open(&t, &p->m->mem);
    va_list ap;
    va_start(ap, fmt);
    text_vprintf(&t, fmt, ap);
    va_end(ap);
    vm_fail(p->m, DIAG_SYNTAX, "%s", text_str(&t));
    text_close(&t);
    diag_label_add(p->m->error, (span){p->src, lo, hi}, "%s", "");
    return false;
}

bool asm_refused(assembler *p)
{
    p->failed = true;
    return vm_out_of_memory(p->m);
}

/* Room for one more element of a scratch list. */
void *asm_room(assembler *p, void *of, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap) return of;
    uint32_t more = *cap ? *cap * 2 : 8;
    void *fresh = arena_alloc(&p->scratch, more * size);
    if (!fresh) {
        asm_refused(p);
        return NULL;
    }
    if (n) memcpy(fresh, of, n * size);
    *cap = more;
    return fresh;
}

/* --- characters and words ------------------------------------------------------------------- */

static char next(const assembler *p, uint32_t k) { return p->at + k < p->n ? p->s[p->at + k] : 0; }
bool asm_is_digit(char c) { return c >= '0' && c <= '9'; }
bool asm_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80); }
static bool is_word(char c) { return asm_is_letter(c) || asm_is_digit(c); }

/* Blanks, comments and positions, on this line. */
void asm_blanks(assembler *p)
{
    for (;;) {
        char c = asm_here(p);
        if (c == ' ' || c == '\t' || c == '\r') p->at++;
        else if (c == '#')
            while (p->at < p->n && asm_here(p) != '\n') p->at++;
        else if (c == '@') {
            uint32_t k = 1;
            while (asm_is_digit(next(p, k))) k++;
            if (k == 1 || next(p, k) != ':') return;
            k++;
            while (asm_is_digit(next(p, k))) k++;
            p->at += k;
        } else return;
    }
}

void asm_lines(assembler *p)
{
    for (asm_blanks(p); asm_here(p) == '\n' || asm_here(p) == ';'; asm_blanks(p)) p->at++;
}

bool asm_accept(assembler *p, const char *s)
{
    size_t k = strlen(s);
    asm_blanks(p);
    if (p->n - p->at < k || memcmp(p->s + p->at, s, k) != 0) return false;
    if (is_word(s[k - 1]) && is_word(next(p, (uint32_t)k))) return false;
    p->at += (uint32_t)k;
    return true;
}

bool asm_expect(assembler *p, const char *s) { return asm_accept(p, s) || asm_fault(p, p->at, p->at + 1, "expected `%s`", s); }

/* A word with dots inside, or `%` and digits; n is 0 when there is none. */
word asm_word(assembler *p)
{
    asm_blanks(p);
    word w = {p->at, 0};
    if (asm_here(p) == '%' && asm_is_digit(next(p, 1))) {
        p->at++;
        while (asm_is_digit(asm_here(p))) p->at++;
    } else if (asm_is_letter(asm_here(p)))
        while (is_word(asm_here(p)) || (asm_here(p) == '.' && is_word(next(p, 1)))) p->at++;
    w.n = p->at - w.at;
    return w;
}

bool asm_word_is(const assembler *p, word w, const char *s) { return w.n == strlen(s) && memcmp(p->s + w.at, s, w.n) == 0; }

bool asm_count(assembler *p, int64_t most, int64_t *out)
{
    asm_blanks(p);
    uint32_t lo = p->at;
    int64_t x = 0;
    while (asm_is_digit(asm_here(p))) {
        int d = asm_here(p) - '0';
        if (x > (most - d) / 10) return asm_fault(p, lo, p->at + 1, "the number is too large");
        x = x * 10 + d;
        p->at++;
    }
    if (p->at == lo) return asm_fault(p, lo, lo + 1, "expected a number");
    *out = x;
    return true;
}

/* --- strings and names ---------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return asm_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool asm_string(assembler *p, text *out)
{
    uint32_t lo = p->at++;
    while (p->at < p->n && asm_here(p) != '"' && asm_here(p) != '\n') {
        char c = p->s[p->at++];
        if (c == '\\') {
            c = asm_here(p);
            p->at++;
            if (c == 'n') c = '\n';
            else if (c == 't') c = '\t';
            else if (c == 'x' && hex_digit(asm_here(p)) >= 0 && hex_digit(next(p, 1)) >= 0) {
                c = (char)(hex_digit(asm_here(p)) * 16 + hex_digit(next(p, 1)));
                p->at += 2;
            } else if (c != '"' && c != '\\') return asm_fault(p, p->at - 2, p->at, "no such escape");
        }
        text_putc(out, c);
    }
    if (out->failed) return asm_refused(p);
    if (asm_here(p) != '"') return asm_fault(p, lo, lo + 1, "the string is not closed");
    p->at++;
    return true;
}

/* A word or a string; `_` gives 0. */
bool asm_name(assembler *p, symbol *out)
{
    asm_blanks(p);
    *out = 0;
    if (asm_here(p) == '"') {
        text t;
        text_open(&t, &p->m->mem);
        bool fine = asm_string(p, &t) && ((*out = symbol_of(p->m->symbols, text_str(&t), t.n)) || asm_refused(p));
        text_close(&t);
        return fine;
    }
    word w = {p->at, 0};
    while (is_word(asm_here(p))) p->at++;
    w.n = p->at - w.at;
    if (w.n == 0 || asm_is_digit(p->s[w.at])) return asm_fault(p, w.at, w.at + 1, "expected a name");
    if (asm_word_is(p, w, "_")) return true;
    return (*out = symbol_of(p->m->symbols, p->s + w.at, w.n)) || asm_refused(p);
}

/* --- registers ------------------------------------------------------------------------------ */

static label *label_slot(assembler *p, label *of, uint32_t cap, word w)
{
    uint64_t h = 14695981039346656037ull;
    for (uint32_t k = 0; k < w.n; k++) h = (h ^ (uint8_t)p->s[w.at + k]) * 1099511628211ull;
    uint32_t i = (uint32_t)(h ^ h >> 32) & (cap - 1);
    while (of[i].w.n && (of[i].w.n != w.n || memcmp(p->s + of[i].w.at, p->s + w.at, w.n) != 0)) i = (i + 1) & (cap - 1);
    return &of[i];
}

bool asm_define(assembler *p, word w, reg r)
{
    scope *f = p->f;
    if (2 * f->nlabels >= f->cap) {
        uint32_t cap = f->cap ? f->cap * 2 : 64;
        label *of = arena_alloc(&p->scratch, cap * sizeof *of);
        if (!of) return asm_refused(p);
        for (uint32_t i = 0; i < f->cap; i++)
            if (f->labels[i].w.n) *label_slot(p, of, cap, f->labels[i].w) = f->labels[i];
        f->labels = of;
        f->cap = cap;
    }
    label *l = label_slot(p, f->labels, f->cap, w);
    if (l->w.n) return asm_fault(p, w.at, w.at + w.n, "%.*s is defined twice", (int)w.n, p->s + w.at);
    *l = (label){w, r};
    f->nlabels++;
    /* The user's name is what stands before the version. */
    if (p->s[w.at] != '%') {
        const char *dot = memchr(p->s + w.at, '.', w.n);
        symbol y = symbol_of(p->m->symbols, p->s + w.at, dot ? (size_t)(dot - (p->s + w.at)) : w.n);
        if (!y) return asm_refused(p);
        if (r < f->b.c->nregs) f->b.c->reg_names[r] = y;
    }
    return true;
}

bool asm_use(assembler *p, reg *out, span *at)
{
    word w = asm_word(p);
    if (w.n == 0) return asm_fault(p, w.at, w.at + 1, "expected a register");
    if (at) *at = (span){p->src, w.at, w.at + w.n};
    label *l = p->f->cap ? label_slot(p, p->f->labels, p->f->cap, w) : NULL;
    if (!l || !l->w.n) return asm_fault(p, w.at, w.at + w.n, "%.*s is not defined", (int)w.n, p->s + w.at);
    *out = l->r;
    return true;
}

/* A fresh parameter of k named by the next word. */
bool asm_param(assembler *p, block *k)
{
    word w = asm_word(p);
    if (w.n == 0) return asm_fault(p, w.at, w.at + 1, "expected a register");
    return asm_define(p, w, block_param_add(&p->f->b, k, 0));
}

/* --- constants ------------------------------------------------------------------------------ */

static bool read_number(assembler *p, value *out)
{
    uint32_t lo = p->at;
    while (is_word(asm_here(p)) || (asm_here(p) == '.' && asm_is_digit(next(p, 1))) ||
           ((asm_here(p) == '-' || asm_here(p) == '+') && (p->at == lo || p->s[p->at - 1] == 'e')))
        p->at++;
    const char *s = p->s + lo;
    size_t n = p->at - lo;
    double x;
    if (n > 3 && memcmp(s + n - 3, "i64", 3) == 0) {
        char digits[32] = "", *end;
        if (n - 3 < sizeof digits) memcpy(digits, s, n - 3);
        *out = value_i64(strtoll(digits, &end, 10));
        if (*digits && !*end) return true;
    } else if (n > 3 && memcmp(s + n - 3, "f64", 3) == 0) {
        if (number_parse(s, n - 3, &x)) {
            *out = value_f64(x);
            return true;
        }
    } else if (n > 3 && memcmp(s + n - 3, "f32", 3) == 0) {
        if (number_parse(s, n - 3, &x)) {
            *out = value_f32((float)x);
            return true;
        }
    } else if (n > 1 && s[n - 1] == 'w') {
        if (number_parse(s, n - 1, &x)) {
            *out = value_weak(x, WEAK_WHOLE);
            return true;
        }
    } else if (number_parse(s, n, &x)) {
        bool whole = true;
        for (size_t k = 0; k < n; k++) whole &= asm_is_digit(s[k]) || s[k] == '-';
        *out = value_weak(x, whole ? WEAK_WHOLE : WEAK_FLOAT);
        return true;
    }
    return asm_fault(p, lo, p->at > lo ? p->at : lo + 1, "expected a constant");
}

static bool read_elements(assembler *p, value *out)
{
    tuple *t = tuple_new(p->m, 0, 4);
    if (!t) return asm_refused(p);
    *out = value_object(&t->h);
    while (!asm_accept(p, ")")) {
        value x;
        if (!asm_const(p, &x)) break;
        if (!tuple_append(p->m, out, x)) {
            value_release(p->m, x);
            p->failed = true;
            break;
        }
        if (!asm_accept(p, ",") && asm_here(p) != ')') asm_fault(p, p->at, p->at + 1, "expected `,` or `)`");
        if (p->failed) break;
    }
    if (p->failed) value_release(p->m, *out);
    return !p->failed;
}

static bool read_fields(assembler *p, value *out)
{
    record *r = record_new(p->m, 0, 4);
    if (!r) return asm_refused(p);
    *out = value_object(&r->h);
    while (!asm_accept(p, "}")) {
        symbol y;
        value x;
        if (!asm_name(p, &y) || (!y && !asm_fault(p, p->at - 1, p->at, "a field needs a name"))) break;
        if (!asm_expect(p, ":") || !asm_const(p, &x)) break;
        if (!record_set(p->m, out, y, x)) {
            value_release(p->m, x);
            p->failed = true;
            break;
        }
        if (!asm_accept(p, ",") && asm_here(p) != '}') asm_fault(p, p->at, p->at + 1, "expected `,` or `}`");
        if (p->failed) break;
    }
    if (p->failed) value_release(p->m, *out);
    return !p->failed;
}

static bool read_slice(assembler *p, value *out)
{
    uint32_t lo = p->at;
    value t;
    if (!read_elements(p, &t)) return false;
    const tuple *of = as_tuple(t);
    slice *s = of->n == 3 ? slice_new(p->m, of->v[0], of->v[1], of->v[2]) : NULL;
    if (of->n != 3) asm_fault(p, lo, p->at, "a slice has three parts");
    else if (!s) asm_refused(p);
    else *out = value_object(&s->h);
    value_release(p->m, t);
    return s != NULL;
}

/* An owned constant in *out. */
bool asm_const(assembler *p, value *out)
{
    if (++p->depth > ASM_NEST_MAX) return asm_fault(p, p->at, p->at + 1, "nested too deep");
    asm_blanks(p);
    bool fine = true;
    if (asm_here(p) == '"') {
        text t;
        text_open(&t, &p->m->mem);
        string *s = asm_string(p, &t) ? string_new(p->m, text_str(&t), t.n) : NULL;
        fine = s != NULL || (p->failed = true, false);
        if (s) *out = value_object(&s->h);
        text_close(&t);
    } else if (asm_accept(p, "...")) *out = (value){.tag = V_ELLIPSIS};
    else if (asm_accept(p, "none")) *out = value_none();
    else if (asm_accept(p, "undef")) *out = value_undef();
    else if (asm_accept(p, "zero")) *out = value_zero();
    else if (asm_accept(p, "true")) *out = value_bool(true);
    else if (asm_accept(p, "false")) *out = value_bool(false);
    else if (asm_accept(p, "slice")) fine = asm_expect(p, "(") && read_slice(p, out);
    else if (asm_accept(p, "(")) fine = read_elements(p, out);
    else if (asm_accept(p, "{")) fine = read_fields(p, out);
    else fine = read_number(p, out);
    p->depth--;
    return fine;
}
