/* io_json.c: JSON. Objects are records, lists of numbers (or of equal lists) arrays, other lists tuples,
 * null none. A number without point or exponent is i64, another the program's float; nan and infinities are
 * written as Python's json writes and reads them. Depth is bounded, so the readers recurse. */
#include "io.h"
#include "kern_util.h"
#include "number.h"
#include <stdio.h>

#define DEPTH 200

typedef struct reader {
    io_in *in;
    vm *m;
    const char *start, *s, *end;
} reader;

static bool expected(reader *r, const char *what)
{
    int line = 1, column = 1;
    for (const char *p = r->start; p < r->s; p++) line += *p == '\n', column = *p == '\n' ? 1 : column + 1;
    if (r->s >= r->end) return io_fail(r->in, "line %d, column %d: the text ends, and %s was expected", line, column, what);
    return io_fail(r->in, "line %d, column %d: %s was expected", line, column, what);
}
static void blanks(reader *r)
{
    while (r->s < r->end && strchr(" \t\r\n", *r->s) && *r->s) r->s++;
}
static bool next_is(reader *r, char c)
{
    blanks(r);
    if (r->s >= r->end || *r->s != c) return false;
    r->s++;
    return true;
}
static bool word(reader *r, const char *w)
{
    size_t n = strlen(w);
    if ((size_t)(r->end - r->s) < n || memcmp(r->s, w, n) != 0) return false;
    r->s += n;
    return true;
}

static bool hex4(reader *r, uint32_t *x)
{
    *x = 0;
    if (r->end - r->s < 4) return expected(r, "four hexadecimal digits");
    for (int i = 0; i < 4; i++, r->s++) {
        char c = *r->s;
        int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (d < 0) return expected(r, "a hexadecimal digit");
        *x = *x << 4 | (uint32_t)d;
    }
    return true;
}

static void put_utf8(text *t, uint32_t c)
{
    if (c < 0x80) text_putc(t, (char)c);
    else if (c < 0x800) text_putc(t, (char)(0xc0 | c >> 6)), text_putc(t, (char)(0x80 | (c & 63)));
    else if (c < 0x10000)
        text_putc(t, (char)(0xe0 | c >> 12)), text_putc(t, (char)(0x80 | (c >> 6 & 63))), text_putc(t, (char)(0x80 | (c & 63)));
    else
        text_putc(t, (char)(0xf0 | c >> 18)), text_putc(t, (char)(0x80 | (c >> 12 & 63))), text_putc(t, (char)(0x80 | (c >> 6 & 63))),
            text_putc(t, (char)(0x80 | (c & 63)));
}

/* Behind the opening quote. */
static bool read_string(reader *r, text *t)
{
    for (;;) {
        if (r->s >= r->end) return expected(r, "a closing quote");
        unsigned char c = (unsigned char)*r->s++;
        if (c == '"') return !t->failed || vm_out_of_memory(r->m);
        if (c < 0x20) return r->s--, expected(r, "no control character in a string");
        if (c != '\\') {
            text_putc(t, (char)c);
            continue;
        }
        char e = r->s < r->end ? *r->s++ : 0;
        static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
        const char *p = e ? strchr(from, e) : NULL;
        if (p) text_putc(t, to[p - from]);
        else if (e == 'u') {
            uint32_t x, y;
            if (!hex4(r, &x)) return false;
            if (x >= 0xd800 && x < 0xdc00 && word(r, "\\u")) {
                if (!hex4(r, &y)) return false;
                x = y >= 0xdc00 && y < 0xe000 ? 0x10000 + ((x - 0xd800) << 10) + (y - 0xdc00) : 0xfffd;
            }
            put_utf8(t, x >= 0xd800 && x < 0xe000 ? 0xfffd : x);
        } else return r->s--, expected(r, "one of \" \\ / b f n r t u behind a backslash");
    }
}

static bool read_number(reader *r, value *out)
{
    const char *from = r->s;
    bool whole = true;
    if (word(r, "NaN")) return *out = scalar_of(r->m->config.float_dtype, NAN), true;
    if (word(r, "Infinity")) return *out = scalar_of(r->m->config.float_dtype, INFINITY), true;
    if (word(r, "-Infinity")) return *out = scalar_of(r->m->config.float_dtype, -INFINITY), true;
    if (r->s < r->end && *r->s == '-') r->s++;
    const char *digits = r->s;
    while (r->s < r->end && ((*r->s >= '0' && *r->s <= '9') || strchr(".eE+-", *r->s)) && *r->s)
        whole &= *r->s >= '0' && *r->s <= '9', r->s++;
    double x;
    int64_t n = 0;
    if (r->s == digits) return expected(r, "a value");
    for (const char *p = digits; whole && p < r->s; p++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_sub_overflow(n, *p - '0', &n)) whole = false;
    if (whole && *from != '-' && n == INT64_MIN) whole = false;
    if (whole) return *out = value_i64(*from == '-' ? n : -n), true;
    if (*digits == '.' || r->s[-1] == '.' || !number_parse(from, (size_t)(r->s - from), &x)) return r->s = from, expected(r, "a number");
    *out = scalar_of(r->m->config.float_dtype, x);
    return true;
}

/* t: a list's items; gives an array when they are numbers, or arrays of one shape. Consumes t. */
static bool list_value(reader *r, value t, value *out)
{
    const tuple *u = as_tuple(t);
    shaped first, s;
    *out = t;
    dtype d = DTYPE_BOOL;
    for (uint32_t i = 0; i < u->n; i++) {
        if (!shaped_of(&u->v[i], &s)) return true;
        if (i == 0) first = s;
        if ((s.dtype == DTYPE_BOOL) != (first.dtype == DTYPE_BOOL) || !shape_equal(s.rank, s.shape, first.rank, first.shape)) return true;
        if (s.dtype > d) d = s.dtype;
    }
    int64_t shape[RANK_MAX + 1] = {u->n};
    int rank = u->n ? first.rank + 1 : 1;
    if (rank > RANK_MAX) return true;
    if (u->n == 0) d = r->m->config.float_dtype;
    for (int i = 1; i < rank; i++) shape[i] = first.shape[i - 1];
    array *a = array_new(r->m, d, rank, shape);
    if (!a) return value_release(r->m, t), false;
    for (uint32_t i = 0; i < u->n; i++) {
        shaped_of(&u->v[i], &s);
        copy_converted(r->m, &s, d, element(d, a->data, i * first.size));
    }
    value_release(r->m, t);
    *out = value_object(&a->h);
    return true;
}

static bool read_value(reader *r, int depth, value *out);

static bool read_list(reader *r, int depth, value *out)
{
    tuple *u = tuple_new(r->m, 0, 4);
    if (!u) return false;
    value t = value_object(&u->h), v;
    if (!next_is(r, ']'))
        for (;;) {
            if (!read_value(r, depth + 1, &v)) return value_release(r->m, t), false;
            if (!tuple_append(r->m, &t, v)) return value_release(r->m, v), value_release(r->m, t), false;
            if (next_is(r, ']')) break;
            if (!next_is(r, ',')) return value_release(r->m, t), expected(r, "a comma or a closing bracket");
        }
    return list_value(r, t, out);
}

/* Of a name that is there several times the last value counts, in the place of the first. */
static bool last_wins(reader *r, value *t)
{
    record *all = as_record(*t), *u = record_new(r->m, 0, all->n);
    if (!u) return false;
    value once = value_object(&u->h);
    for (uint32_t i = 0; i < all->n; i++) {
        if (!record_set(r->m, &once, all->names[i], all->v[i])) return value_release(r->m, once), false;
        value_retain(all->v[i]);
    }
    value_release(r->m, *t);
    *t = once;
    return true;
}

static bool read_object(reader *r, int depth, value *out)
{
    record *u = record_new(r->m, 0, 4);
    if (!u) return false;
    value t = value_object(&u->h), v;
    if (!next_is(r, '}'))
        for (;;) {
            text name;
            text_open(&name, &r->m->mem);
            bool ok = next_is(r, '"') ? read_string(r, &name) : expected(r, "a name in quotes");
            symbol y = ok ? symbol_of(r->m->symbols, text_str(&name), name.n) : 0;
            if (ok && !y) ok = vm_out_of_memory(r->m);
            text_close(&name);
            ok = ok && (next_is(r, ':') || expected(r, "a colon")) && read_value(r, depth + 1, &v);
            if (ok && !record_append(r->m, u, y, v)) value_release(r->m, v), ok = false;
            if (!ok) return value_release(r->m, t), false;
            if (next_is(r, '}')) break;
            if (!next_is(r, ',')) return value_release(r->m, t), expected(r, "a comma or a closing brace");
        }
    symbol twice;
    bool fine = record_twice(r->m, u, &twice) && (!twice || last_wins(r, &t));
    if (fine) *out = t;
    else value_release(r->m, t);
    return fine;
}

static bool read_value(reader *r, int depth, value *out)
{
    if (depth > DEPTH) return expected(r, "less than 200 levels of nesting");
    if (next_is(r, '[')) return read_list(r, depth, out);
    if (next_is(r, '{')) return read_object(r, depth, out);
    if (next_is(r, '"')) {
        text t;
        text_open(&t, &r->m->mem);
        bool ok = read_string(r, &t);
        string *s = ok ? string_new(r->m, text_str(&t), t.n) : NULL;
        text_close(&t);
        if (s) *out = value_object(&s->h);
        return s != NULL;
    }
    if (word(r, "true")) return *out = value_bool(true), true;
    if (word(r, "false")) return *out = value_bool(false), true;
    if (word(r, "null")) return *out = value_none(), true;
    return read_number(r, out);
}

bool json_parse(io_in *in, const char *s, size_t n, value *out)
{
    reader r = {in, in->c->vm, s, s, s + n};
    if (!utf8_valid(s, n)) return io_fail(in, "it is not UTF-8 text");
    if (n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) r.s += 3;
    if (!read_value(&r, 0, out)) return false;
    blanks(&r);
    if (r.s == r.end) return true;
    value_release(r.m, *out);
    *out = value_undef();
    return expected(&r, "the end of the text");
}

bool io_json_read(io_in *in, value *out)
{
    size_t n;
    char *s = io_rest(in, &n);
    bool ok = s && json_parse(in, s, n, out);
    if (s) memory_free(&in->c->vm->mem, MEM_OTHER, s, n + 1);
    return ok;
}

/* --- writing -------------------------------------------------------------------------------------- */

static void put(io_out *out, const char *s) { io_put(out, s, strlen(s)); }

static void put_number(io_out *out, double x, bool single)
{
    char s[NUMBER_MOST];
    if (isnan(x)) put(out, "NaN");
    else if (isinf(x)) put(out, x < 0 ? "-Infinity" : "Infinity");
    else {
        size_t n = single ? number_format_f32((float)x, s) : number_format(x, s);
        io_put(out, s, n);
        if (strcspn(s, ".e") >= n) put(out, ".0");
    }
}

static void put_string(io_out *out, const char *s, size_t n)
{
    put(out, "\"");
    for (size_t i = 0; i < n; i++) {
        char e[8];
        if (s[i] == '"' || s[i] == '\\') snprintf(e, sizeof e, "\\%c", s[i]);
        else if (s[i] == '\n') snprintf(e, sizeof e, "\\n");
        else if ((unsigned char)s[i] < 0x20) snprintf(e, sizeof e, "\\u%04x", s[i]);
        else {
            io_put(out, s + i, 1);
            continue;
        }
        put(out, e);
    }
    put(out, "\"");
}

static bool put_value(io_out *out, value v, int depth);

static bool put_axis(io_out *out, const array *a, int axis, int64_t offset)
{
    put(out, "[");
    for (int64_t i = 0; i < array_shape(a)[axis] && !out->failed; i++, offset += array_stride(a)[axis]) {
        if (i) put(out, axis + 1 < a->rank ? ",\n" : ", ");
        if (axis + 1 < a->rank ? !put_axis(out, a, axis + 1, offset) : !put_value(out, array_at(a, offset), 0)) return false;
    }
    put(out, "]");
    return true;
}

static bool put_value(io_out *out, value v, int depth)
{
    char s[32];
    if (depth > DEPTH) return io_refuse(out, "it is nested more than %d deep", DEPTH);
    switch (v.tag) {
    case V_NONE: put(out, "null"); return true;
    case V_BOOL: put(out, v.u.i ? "true" : "false"); return true;
    case V_I64:
        snprintf(s, sizeof s, "%lld", (long long)v.u.i);
        put(out, s);
        return true;
    case V_F32:
    case V_F64: put_number(out, v.u.f, v.tag == V_F32); return true;
    case V_STRING: put_string(out, as_string(v)->s, as_string(v)->length); return true;
    case V_ARRAY: return put_axis(out, as_array(v), 0, 0);
    case V_TUPLE:
        put(out, "[");
        for (uint32_t i = 0; i < as_tuple(v)->n; i++) {
            if (i) put(out, ",\n");
            if (!put_value(out, as_tuple(v)->v[i], depth + 1)) return false;
        }
        put(out, "]");
        return true;
    case V_RECORD:
        put(out, "{");
        for (uint32_t i = 0; i < as_record(v)->n; i++) {
            const char *name = symbol_name(out->c->vm->symbols, as_record(v)->names[i]);
            if (i) put(out, ",\n");
            put_string(out, name, strlen(name));
            put(out, ": ");
            if (!put_value(out, as_record(v)->v[i], depth + 1)) return false;
        }
        put(out, "}");
        return true;
    default: return io_refuse(out, "JSON cannot hold %s", value_a_type(v));
    }
}

bool io_json_write(io_out *out, value v)
{
    if (!put_value(out, v, 0)) return false;
    put(out, "\n");
    return !out->failed;
}
