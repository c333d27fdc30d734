/* io_csv.c: comma- and tab-separated tables.
 *
 * Reading follows RFC 4180 (quotes, doubled quotes, line breaks within quotes, any line ending) and
 * skips blank lines. The first row is a header when any of its fields is neither a number nor missing.
 * With a header the value is a record of columns: all numbers (or missing) a float vector with nan where
 * missing, all true or false a bool vector, anything else a tuple of strings. A column of whole numbers
 * of which some exceed what a float holds exactly is i64. Without a header it is a float matrix.
 *
 * One pass cuts the text in place into fields and reads the numbers into a table of doubles; a second pass
 * over the remembered starts makes the columns that are not plain numbers. */
#include "io.h"
#include "kern_util.h"
#include "number.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* What all fields of a column have in common. */
enum { ALL_NUMBERS = 1, ALL_BOOLS = 2, ALL_WHOLE = 4, SOME_LARGE = 8, SOME_PRESENT = 16 };

typedef struct field {
    const char *s;
    uint32_t n;
    bool quoted;
} field;

typedef struct table_reader {
    io_in *in;
    char sep;
    char *s, *end; /* the rest of the text, which is cut in place */
    int64_t line;  /* of s, from 1 */
    field *row;
    size_t nrow, row_cap;
    size_t columns;
    field *names;
    size_t nnames;
    unsigned *kinds; /* of each column */
    double *numbers;
    size_t rows, cap;
    field *fields;
    size_t fields_cap; /* kept only with a header */
} table_reader;

static void *grow(table_reader *t, void *p, size_t *cap, size_t need, size_t element)
{
    if (need <= *cap) return p;
    size_t more = *cap ? *cap * 2 : 64;
    if (more < need) more = need;
    void *q = memory_resize(&t->in->c->vm->mem, MEM_OTHER, p, *cap * element, more * element);
    if (!q) vm_out_of_memory(t->in->c->vm);
    else *cap = more;
    return q;
}

/* Cuts one field off; its bytes stay where they are (a quoted one is closed up over doubled quotes).
   *last: it ended its row. */
static bool cut_field(table_reader *t, field *f, bool *last)
{
    char *s = t->s;
    *f = (field){.s = s};
    char *to = s;
    if (s < t->end && *s == '"') {
        int64_t opened = t->line;
        f->quoted = true;
        f->s = to = ++s;
        for (;; s++) {
            if (s >= t->end) return io_fail(t->in, "line %lld: a quote that is never closed", (long long)opened);
            if (*s == '"') {
                if (s + 1 < t->end && s[1] == '"') s++;
                else break;
            }
            if (*s == '\n') t->line++;
            *to++ = *s;
        }
        s++;
        if (s < t->end && *s != t->sep && *s != '\n' && *s != '\r')
            return io_fail(t->in, "line %lld: text behind a closing quote", (long long)t->line);
    } else {
        while (s < t->end && *s != t->sep && *s != '\n' && *s != '\r') s++;
        to = s;
    }
    if ((size_t)(to - f->s) > UINT32_MAX / 2) return io_fail(t->in, "line %lld: a field of more than 2 GiB", (long long)t->line);
    f->n = (uint32_t)(to - f->s);
    *last = s >= t->end || *s != t->sep;
    if (s < t->end) {
        if (*s == '\r' && s + 1 < t->end && s[1] == '\n') s++;
        if (*s == '\n' || *s == '\r') t->line++;
        s++;
    }
    t->s = s;
    return true;
}

/* The next row that is not blank; t->nrow 0 at the end. *line gets where it starts. */
static bool next_row(table_reader *t, int64_t *line)
{
    do {
        t->nrow = 0;
        *line = t->line;
        if (t->s >= t->end) return true;
        bool last = false;
        while (!last) {
            field *more = grow(t, t->row, &t->row_cap, t->nrow + 1, sizeof *t->row);
            if (!more) return false;
            t->row = more;
            if (!cut_field(t, &t->row[t->nrow++], &last)) return false;
        }
    } while (t->nrow == 1 && t->row[0].n == 0 && !t->row[0].quoted);
    return true;
}

static field trimmed(field f)
{
    if (f.quoted) return f;
    while (f.n && isspace((unsigned char)*f.s)) f.s++, f.n--;
    while (f.n && isspace((unsigned char)f.s[f.n - 1])) f.n--;
    return f;
}
static bool is_word(field f, const char *w) { return f.n == strlen(w) && strncasecmp(f.s, w, f.n) == 0; }
static bool missing(field f) { return f.n == 0 || is_word(f, "nan") || is_word(f, "na") || is_word(f, "n/a") || is_word(f, "null"); }
/* A decimal number; hexadecimal and digits with `_` are text in a table. */
static bool field_number(field f, double *x)
{
    if (f.quoted || f.n == 0) return false;
    for (uint32_t i = 0; i < f.n; i++)
        if (f.s[i] == '_' || f.s[i] == 'x' || f.s[i] == 'X') return false;
    return number_parse(f.s, f.n, x);
}
static bool field_whole(field f, int64_t *x)
{
    char s[24], *end;
    if (f.n == 0 || f.n >= sizeof s) return false;
    memcpy(s, f.s, f.n);
    s[f.n] = 0;
    if (!isdigit((unsigned char)s[f.n - 1])) return false;
    errno = 0;
    *x = strtoll(s, &end, 10);
    return *end == 0 && errno == 0;
}

static unsigned kind_of(field f, double *x)
{
    *x = NAN;
    if (!f.quoted && missing(f)) return ALL_NUMBERS;
    if (field_number(f, x)) {
        bool whole = *x == floor(*x) && !memchr(f.s, '.', f.n) && !memchr(f.s, 'e', f.n) && !memchr(f.s, 'E', f.n);
        return ALL_NUMBERS | SOME_PRESENT | (whole ? ALL_WHOLE : 0) | (whole && fabs(*x) >= 0x1p53 ? SOME_LARGE : 0);
    }
    return SOME_PRESENT | (!f.quoted && (is_word(f, "true") || is_word(f, "false")) ? ALL_BOOLS : 0);
}

bool utf8_valid(const char *s, size_t n)
{
    uint32_t cp;
    for (int k; n > 0; s += k, n -= (size_t)k)
        if ((k = utf8_decode(s, n, &cp)) == 0) return false;
    return true;
}

/* Reads everything: header, kinds, numbers, and the fields' places. */
static bool read_rows(table_reader *t)
{
    vm *m = t->in->c->vm;
    int64_t line;
    double x;
    if (!next_row(t, &line)) return false;
    if (t->nrow == 0) return io_fail(t->in, "there is nothing in it");
    t->columns = t->nrow;
    bool header = false;
    for (size_t i = 0; i < t->nrow; i++) {
        field f = trimmed(t->row[i]);
        header |= !(kind_of(f, &x) & ALL_NUMBERS);
    }
    if (!(t->kinds = memory_alloc(&m->mem, MEM_OTHER, t->columns * sizeof *t->kinds))) return vm_out_of_memory(m);
    for (size_t i = 0; i < t->columns; i++) t->kinds[i] = ALL_NUMBERS | ALL_BOOLS | ALL_WHOLE;
    if (header) {
        if (!(t->names = memory_alloc(&m->mem, MEM_OTHER, t->columns * sizeof *t->names))) return vm_out_of_memory(m);
        t->nnames = t->columns;
        for (size_t i = 0; i < t->columns; i++) t->names[i] = trimmed(t->row[i]);
        if (!next_row(t, &line)) return false;
    }
    for (; t->nrow > 0; t->rows++) {
        if (t->nrow != t->columns)
            return io_fail(t->in, "line %lld has %zu field%s, and the first row has %zu", (long long)line, t->nrow, t->nrow == 1 ? "" : "s",
                           t->columns);
        size_t used = t->rows * t->columns;
        double *more = grow(t, t->numbers, &t->cap, used + t->columns, sizeof *t->numbers);
        if (!more) return false;
        t->numbers = more;
        if (header) {
            field *places = grow(t, t->fields, &t->fields_cap, used + t->columns, sizeof *t->fields);
            if (!places) return false;
            t->fields = places;
        }
        for (size_t i = 0; i < t->columns; i++) {
            field f = trimmed(t->row[i]);
            unsigned k = kind_of(f, &t->numbers[used + i]), all = ALL_NUMBERS | ALL_BOOLS | ALL_WHOLE;
            t->kinds[i] = (t->kinds[i] & k & all) | ((t->kinds[i] | k) & ~all);
            if (header) t->fields[used + i] = f;
        }
        if (!header)
            for (size_t i = 0; i < t->columns; i++)
                if (!(t->kinds[i] & ALL_NUMBERS)) {
                    field f = trimmed(t->row[i]);
                    return io_fail(
                        t->in, "line %lld, field %zu: \"%.*s\" is not a number, and the table has no header that would name text columns",
                        (long long)line, i + 1, (int)(f.n < 40 ? f.n : 40), f.s);
                }
        if (!next_row(t, &line)) return false;
    }
    return true;
}

static bool column_numbers(table_reader *t, size_t at, value *out)
{
    dtype d = t->in->c->vm->config.float_dtype;
    int64_t n = (int64_t)t->rows;
    if ((t->kinds[at] & (ALL_WHOLE | SOME_LARGE)) == (ALL_WHOLE | SOME_LARGE)) {
        bool fits = true;
        int64_t x;
        for (int64_t i = 0; i < n && fits; i++) fits = field_whole(t->fields[(size_t)i * t->columns + at], &x);
        if (fits) d = DTYPE_I64;
    }
    array *a = array_new(t->in->c->vm, d, 1, &n);
    if (!a) return false;
    for (int64_t i = 0; i < n; i++) {
        size_t k = (size_t)i * t->columns + at;
        if (d == DTYPE_I64) field_whole(t->fields[k], (int64_t *)a->data + i);
        else write_f64(d, a->data, i, t->numbers[k]);
    }
    *out = value_object(&a->h);
    return true;
}

static bool column_other(table_reader *t, size_t at, value *out)
{
    vm *m = t->in->c->vm;
    int64_t n = (int64_t)t->rows;
    if (t->kinds[at] & ALL_BOOLS) {
        array *a = array_new(m, DTYPE_BOOL, 1, &n);
        if (!a) return false;
        for (int64_t i = 0; i < n; i++) ((uint8_t *)a->data)[i] = is_word(t->fields[(size_t)i * t->columns + at], "true");
        *out = value_object(&a->h);
        return true;
    }
    tuple *u = tuple_new(m, (uint32_t)n, (uint32_t)n);
    if (!u) return false;
    *out = value_object(&u->h);
    for (int64_t i = 0; i < n; i++) {
        field f = t->fields[(size_t)i * t->columns + at];
        string *s = string_new(m, f.s, f.n);
        if (!s) {
            value_release(m, *out);
            return false;
        }
        u->v[i] = value_object(&s->h);
    }
    return true;
}

/* A column's name; one without a name is called after its place. */
static symbol column_name(table_reader *t, size_t at)
{
    char made[32];
    field f = t->names[at];
    if (f.n == 0) {
        f.n = (uint32_t)snprintf(made, sizeof made, "column%zu", at);
        f.s = made;
    }
    return symbol_of(t->in->c->vm->symbols, f.s, f.n);
}

static bool make_record(table_reader *t, value *out)
{
    vm *m = t->in->c->vm;
    record *r = record_new(m, 0, (uint32_t)t->columns);
    if (!r) return false;
    value v = value_object(&r->h), column;
    bool ok = t->rows <= UINT32_MAX || io_fail(t->in, "it has more rows than can be held");
    for (size_t i = 0; ok && i < t->columns; i++) {
        symbol name = column_name(t, i);
        if (!name) ok = vm_out_of_memory(m);
        else if (record_find(as_record(v), name) >= 0)
            ok = io_fail(t->in, "two columns have the name \"%s\"", symbol_name(m->symbols, name));
        else if ((t->kinds[i] & ALL_NUMBERS ? column_numbers : column_other)(t, i, &column)) {
            ok = record_set(m, &v, name, column);
            if (!ok) value_release(m, column);
        } else ok = false;
    }
    if (ok) *out = v;
    else value_release(m, v);
    return ok;
}

static bool make_matrix(table_reader *t, value *out)
{
    vm *m = t->in->c->vm;
    array *a = array_new(m, m->config.float_dtype, 2, (int64_t[]){(int64_t)t->rows, (int64_t)t->columns});
    if (!a) return false;
    for (int64_t i = 0; i < a->size; i++) write_f64((dtype)a->dtype, a->data, i, t->numbers[i]);
    *out = value_object(&a->h);
    return true;
}

static bool table_read(io_in *in, char sep, value *out)
{
    memory *m = &in->c->vm->mem;
    size_t n;
    char *s = io_rest(in, &n);
    if (!s) return false;
    table_reader t = {.in = in, .sep = sep, .s = s, .end = s + n, .line = 1};
    if (n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) t.s += 3;
    bool ok = utf8_valid(s, n) || io_fail(in, "it is not UTF-8 text");
    ok = ok && read_rows(&t) && (t.names ? make_record : make_matrix)(&t, out);
    memory_free(m, MEM_OTHER, t.row, t.row_cap * sizeof *t.row);
    memory_free(m, MEM_OTHER, t.names, t.nnames * sizeof *t.names);
    memory_free(m, MEM_OTHER, t.kinds, t.kinds ? t.columns * sizeof *t.kinds : 0);
    memory_free(m, MEM_OTHER, t.fields, t.fields_cap * sizeof *t.fields);
    memory_free(m, MEM_OTHER, t.numbers, t.cap * sizeof *t.numbers);
    memory_free(m, MEM_OTHER, s, n + 1);
    return ok;
}
bool io_csv_read(io_in *in, value *out) { return table_read(in, ',', out); }
bool io_tsv_read(io_in *in, value *out) { return table_read(in, '\t', out); }

/* --- writing ------------------------------------------------------------------------------------------ */

/* Quoted where it must be, and where reading would take it for something else than text. */
static void put_string(io_out *out, const char *s, size_t n, char sep)
{
    double x;
    field f = {s, (uint32_t)n, false};
    bool plain = n > 0 && !isspace((unsigned char)s[0]) && !isspace((unsigned char)s[n - 1]) && !missing(f) && !field_number(f, &x) &&
                 !is_word(f, "true") && !is_word(f, "false");
    for (size_t i = 0; i < n && plain; i++) plain = s[i] != '"' && s[i] != '\n' && s[i] != '\r' && s[i] != sep;
    if (plain) {
        io_put(out, s, n);
        return;
    }
    io_put(out, "\"", 1);
    for (size_t i = 0; i < n; i++) io_put(out, s[i] == '"' ? "\"\"" : s + i, s[i] == '"' ? 2 : 1);
    io_put(out, "\"", 1);
}

static bool put_cell(io_out *out, value v, char sep)
{
    char s[NUMBER_MOST];
    switch (v.tag) {
    case V_BOOL: io_put(out, v.u.i ? "true" : "false", v.u.i ? 4 : 5); break;
    case V_I64: io_put(out, s, (size_t)sprintf(s, "%lld", (long long)v.u.i)); break;
    case V_F32: io_put(out, s, number_format_f32((float)v.u.f, s)); break;
    case V_F64: io_put(out, s, number_format(v.u.f, s)); break;
    case V_STRING: put_string(out, as_string(v)->s, as_string(v)->length, sep); break;
    case V_NONE: break;
    default: return io_refuse(out, "a cell of a table cannot hold %s", value_a_type(v));
    }
    return true;
}

static bool matrix_write(io_out *out, const array *a, char sep)
{
    if (a->rank > 2) return io_refuse(out, "a table has two axes, and value has %d; reshape it", a->rank);
    const int64_t *shape = array_shape(a), *stride = array_stride(a);
    for (int64_t i = 0; i < shape[0] && !out->failed; i++) {
        for (int64_t j = 0; j < (a->rank == 2 ? shape[1] : 1) && !out->failed; j++) {
            if (j > 0) io_put(out, &sep, 1);
            if (!put_cell(out, array_at(a, i * stride[0] + (a->rank == 2 ? j * stride[1] : 0)), sep)) return false;
        }
        io_put(out, "\n", 1);
    }
    return true;
}

static bool record_write(io_out *out, const record *r, char sep)
{
    vm *m = out->c->vm;
    int64_t rows = -1;
    for (uint32_t i = 0; i < r->n; i++) {
        value v = r->v[i];
        int64_t n = v.tag == V_TUPLE ? as_tuple(v)->n : v.tag == V_ARRAY && as_array(v)->rank == 1 ? as_array(v)->size : -1;
        const char *name = symbol_name(m->symbols, r->names[i]);
        if (n < 0) return io_refuse(out, "field %s is no column: it must be a vector or a tuple", name);
        if (rows >= 0 && n != rows)
            return io_refuse(out, "column %s has %lld rows, and %s has %lld", name, (long long)n, symbol_name(m->symbols, r->names[0]),
                             (long long)rows);
        rows = n;
    }
    if (r->n == 0) return io_refuse(out, "the record has no fields, so there is no column to write");
    for (uint32_t i = 0; i < r->n; i++) {
        const char *name = symbol_name(m->symbols, r->names[i]);
        if (i > 0) io_put(out, &sep, 1);
        put_string(out, name, strlen(name), sep);
    }
    io_put(out, "\n", 1);
    for (int64_t k = 0; k < rows && !out->failed; k++) {
        for (uint32_t i = 0; i < r->n; i++) {
            value v = r->v[i];
            if (i > 0) io_put(out, &sep, 1);
            if (!put_cell(out, v.tag == V_TUPLE ? as_tuple(v)->v[k] : array_at(as_array(v), k * array_stride(as_array(v))[0]), sep))
                return false;
        }
        io_put(out, "\n", 1);
    }
    return true;
}

static bool table_write(io_out *out, value v, char sep)
{
    if (v.tag == V_ARRAY) return matrix_write(out, as_array(v), sep);
    if (v.tag == V_RECORD) return record_write(out, as_record(v), sep);
    return io_refuse(out, "a table is a vector, a matrix or a record of columns, and this is %s", value_a_type(v));
}
bool io_csv_write(io_out *out, value v) { return table_write(out, v, ','); }
bool io_tsv_write(io_out *out, value v) { return table_write(out, v, '\t'); }
