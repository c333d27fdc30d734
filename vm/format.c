/* format.c: replacement fields in the manner of Python's str.format.
 *
 * A field is `{` position `:` specification `}`, both parts optional. The specification is
 *     [[fill] align] [sign] [0] [width] [, or _] [.precision] [type]
 * A number without type or precision is the shortest text that reads back. Output does not depend on
 * the locale. */
#include "format.h"
#include "number.h"
#include "print.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH_MOST = 10000, PRECISION_MOST = 100, DIGITS_MOST = 512 };

typedef struct spec {
    const char *s; /* its text, for errors */
    size_t n;
    char fill[4];
    int nfill;  /* bytes of fill */
    char align; /* 0: not given */
    char sign;  /* '+', ' ' or 0 */
    bool zero;
    int width;
    char group;    /* ',' '_' or 0 */
    int precision; /* -1: not given */
    char type;     /* 0: not given */
} spec;

static bool bad_spec(vm *m, const spec *f, const char *why)
{
    return vm_fail(m, DIAG_VALUE, "format(): in {:%.*s}: %s", (int)f->n, f->s, why);
}

static bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

static bool spec_number(const char **s, const char *end, int most, int *out)
{
    int x = 0;
    for (; *s < end && isdigit((unsigned char)**s); (*s)++)
        if ((x = x * 10 + (**s - '0')) > most) return false;
    *out = x;
    return true;
}

static bool spec_parse(vm *m, const char *s, size_t n, spec *f)
{
    const char *end = s + n;
    *f = (spec){.s = s, .n = n, .fill = " ", .nfill = 1, .precision = -1};
    uint32_t cp;
    int k = n ? utf8_decode(s, n, &cp) : 0;
    if (k > 0 && s + k < end && is_align(s[k])) {
        memcpy(f->fill, s, (size_t)k);
        f->nfill = k;
        f->align = s[k];
        s += k + 1;
    } else if (s < end && is_align(*s)) f->align = *s++;
    if (s < end && (*s == '+' || *s == '-' || *s == ' ')) {
        if (*s != '-') f->sign = *s;
        s++;
    }
    if (s < end && *s == '0') f->zero = true, s++;
    if (!spec_number(&s, end, WIDTH_MOST, &f->width)) return bad_spec(m, f, "a width beyond 10000");
    if (s < end && (*s == ',' || *s == '_')) f->group = *s++;
    if (s < end && *s == '.') {
        s++;
        if (s == end || !isdigit((unsigned char)*s)) return bad_spec(m, f, "the point needs a precision, as in {:.3f}");
        if (!spec_number(&s, end, PRECISION_MOST, &f->precision)) return bad_spec(m, f, "a precision beyond 100");
    }
    if (s < end && strchr("dfFeEgG%sxXob", *s)) f->type = *s++;
    if (s < end) return bad_spec(m, f, "this is not [fill][align][sign][0][width][,][.precision][d f e g % s x o b]");
    return true;
}

/* `columns` is what the body takes on a terminal. */
static void pad(const spec *f, char align, const char *sign, const char *body, size_t n, text *out)
{
    int used = (int)(strlen(sign) + text_columns(body, n)), missing = f->width > used ? f->width - used : 0;
    int before = align == '>' ? missing : align == '^' ? missing / 2 : 0, inside = align == '=' ? missing : 0;
    for (int i = 0; i < before; i++) text_add(out, f->fill, (size_t)f->nfill);
    text_puts(out, sign);
    for (int i = 0; i < inside; i++) text_add(out, f->fill, (size_t)f->nfill);
    text_add(out, body, n);
    for (int i = before + inside; i < missing; i++) text_add(out, f->fill, (size_t)f->nfill);
}

/* Digits before anything else, with separators every three (four for x o b with _). */
static size_t grouped(const char *digits, size_t n, size_t whole, char group, int each, char *out)
{
    size_t k = 0;
    for (size_t i = 0; i < whole; i++) {
        if (group && i > 0 && (whole - i) % (size_t)each == 0) out[k++] = group;
        out[k++] = digits[i];
    }
    memcpy(out + k, digits + whole, n - whole);
    return k + n - whole;
}

/* A number's digits without sign, laid out. */
static bool put_number(vm *m, const spec *f, bool negative, const char *digits, text *out)
{
    char sign[2] = {negative ? '-' : f->sign, 0};
    char zeros[WIDTH_MOST + DIGITS_MOST], body[2 * (WIDTH_MOST + DIGITS_MOST)];
    size_t n = strlen(digits), whole = 0, lead = 0;
    int each = f->type && strchr("xXob", f->type) ? 4 : 3;
    bool hex = f->type == 'x' || f->type == 'X';
    while (whole < n && (hex ? isxdigit((unsigned char)digits[whole]) : isdigit((unsigned char)digits[whole]))) whole++;
    char align = f->align ? f->align : '>';
    size_t length = grouped(digits, n, whole, f->group, each, body);
    if (f->zero && !f->align && whole > 0) { /* zeros are digits: they are grouped, too */
        while (length + strlen(sign) < (size_t)f->width) {
            lead++;
            memset(zeros, '0', lead);
            memcpy(zeros + lead, digits, n);
            length = grouped(zeros, n + lead, whole + lead, f->group, each, body);
        }
    } else if (f->zero && !f->align) align = '>';
    pad(f, align, sign, body, length, out);
    return true;
}

/* printf's text of x >= 0 with a point in any locale. */
static void print_digits(char out[DIGITS_MOST], char type, int precision, double x)
{
    char fmt[] = {'%', '.', '*', type, 0}, raw[DIGITS_MOST];
    snprintf(raw, sizeof raw, fmt, precision, x);
    char *to = out;
    for (const char *s = raw; *s; s++) {
        if (isalnum((unsigned char)*s) || *s == '+' || *s == '-') *to++ = *s;
        else if (to == out || to[-1] != '.') *to++ = '.';
    }
    *to = 0;
}

static bool put_float(vm *m, const spec *f, double x, bool single, text *out)
{
    char digits[DIGITS_MOST];
    bool negative = signbit(x) && !isnan(x);
    double y = fabs(x);
    if (f->type == '%') y *= 100;
    if (!isfinite(y)) snprintf(digits, sizeof digits, "%s", isnan(y) ? "nan" : "inf");
    else if (f->type == 0 && f->precision < 0) {
        if (single) number_format_f32((float)y, digits);
        else number_format(y, digits);
    } else {
        char type = f->type == 0 ? 'g' : f->type == '%' ? 'f' : f->type;
        int precision = f->precision < 0 ? 6 : f->precision;
        print_digits(digits, type, precision == 0 && (type == 'g' || type == 'G') ? 1 : precision, y);
    }
    if (f->type == '%') strcat(digits, "%");
    return put_number(m, f, negative, digits, out);
}

static bool put_whole(vm *m, const spec *f, int64_t x, text *out)
{
    char digits[80], *s = digits + sizeof digits;
    uint64_t y = x < 0 ? -(uint64_t)x : (uint64_t)x, base = f->type == 'b'                     ? 2
                                                            : f->type == 'o'                   ? 8
                                                            : f->type == 'x' || f->type == 'X' ? 16
                                                                                               : 10;
    *--s = 0;
    do *--s = (f->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[y % base];
    while (y /= base);
    return put_number(m, f, x < 0, s, out);
}

static bool put_text(vm *m, const spec *f, value v, text *out)
{
    if (f->sign || f->group) return bad_spec(m, f, "a sign or grouping is for numbers");
    if (f->align == '=') return bad_spec(m, f, "= aligns numbers only");
    text t;
    text_open(&t, &m->mem);
    value_print(m, v, PRINT_PLAIN, &t);
    size_t n = t.n;
    if (f->precision >= 0) { /* at most so many code points */
        size_t i = 0;
        uint32_t cp;
        for (int k = 0; k < f->precision && i < n; k++) {
            int bytes = utf8_decode(t.s + i, n - i, &cp);
            i += bytes > 0 ? (size_t)bytes : 1;
        }
        n = i;
    }
    spec g = *f;
    if (f->zero && !f->align) memcpy(g.fill, "0", 1);
    pad(&g, f->align ? f->align : '<', "", text_str(&t), n, out);
    bool ok = !t.failed;
    text_close(&t);
    return ok || vm_out_of_memory(m);
}

static bool put_value(vm *m, const spec *f, value v, text *out)
{
    bool number = value_is_scalar(v) && v.tag != V_BOOL;
    if (f->type == 's' || (f->type == 0 && !number)) return put_text(m, f, v, out);
    if (f->type == 0) {
        if (v.tag == V_I64 && f->precision < 0) return put_whole(m, f, v.u.i, out);
        return put_float(m, f, v.tag == V_I64 ? (double)v.u.i : v.u.f, v.tag == V_F32, out);
    }
    if (!value_is_scalar(v)) {
        return vm_fail(m, DIAG_TYPE, "format(): {:%.*s} is for numbers, and its value is %s", (int)f->n, f->s, value_a_type(v));
    }
    double x = value_is_float(v) ? v.u.f : (double)v.u.i;
    if (strchr("dxXob", f->type)) {
        if (f->precision >= 0) return bad_spec(m, f, "a precision is not for whole numbers");
        if (!value_is_float(v)) return put_whole(m, f, v.u.i, out);
        if (x != floor(x))
            return vm_fail(m, DIAG_VALUE, "format(): {:%.*s} is for whole numbers, and the value is %.17g", (int)f->n, f->s, x);
        if (fabs(x) < 0x1p63) return put_whole(m, f, (int64_t)x, out);
        if (f->type != 'd' || isinf(x)) return vm_fail(m, DIAG_VALUE, "format(): %.17g does not fit a whole number", x);
        spec g = *f;
        g.type = 'f', g.precision = 0;
        return put_float(m, &g, x, false, out);
    }
    return put_float(m, f, x, v.tag == V_F32, out);
}

bool format_text(vm *m, const char *fmt, size_t n, const value *values, uint32_t nvalues, text *out, int *which)
{
    const char *s = fmt, *end = fmt + n;
    uint32_t next = 0;
    bool counted = false, numbered = false;
    *which = -1;
    while (s < end) {
        const char *brace = s;
        while (brace < end && *brace != '{' && *brace != '}') brace++;
        text_add(out, s, (size_t)(brace - s));
        if (brace == end) break;
        s = brace + 1;
        if (s < end && *s == *brace) { /* {{ or }} */
            text_putc(out, *s++);
            continue;
        }
        if (*brace == '}') return vm_fail(m, DIAG_VALUE, "format(): a } without its {; write }} for a brace");
        const char *close = memchr(s, '}', (size_t)(end - s)), *colon;
        if (!close) return vm_fail(m, DIAG_VALUE, "format(): a { without its }; write {{ for a brace");
        colon = memchr(s, ':', (size_t)(close - s));
        uint32_t at;
        const char *stop = colon ? colon : close;
        if (s == stop) at = next++, counted = true;
        else {
            uint64_t k = 0;
            for (const char *c = s; c < stop; c++) {
                if (!isdigit((unsigned char)*c) || k > 1000000)
                    return vm_fail(m, DIAG_VALUE, "format(): {%.*s}: before the colon stands nothing, or a position as in {0}",
                                   (int)(close - s), s);
                k = k * 10 + (uint64_t)(*c - '0');
            }
            at = (uint32_t)k, numbered = true;
        }
        if (counted && numbered) return vm_fail(m, DIAG_VALUE, "format(): {} and {0} do not go together in one text");
        if (at >= nvalues)
            return vm_fail(m, DIAG_VALUE, "format(): field %u has no value: %u %s given", at + 1, nvalues, nvalues == 1 ? "was" : "were");
        spec f;
        if (!spec_parse(m, colon ? colon + 1 : close, colon ? (size_t)(close - colon - 1) : 0, &f)) return false;
        *which = (int)at;
        if (!put_value(m, &f, values[at], out)) return false;
        *which = -1;
        s = close + 1;
    }
    return !out->failed || vm_out_of_memory(m);
}
