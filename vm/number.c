/* number.c: numbers as text and back.
 *
 * In: f64 or f32; out: text, and the reverse. Both directions go through a string of digits and
 * a power of ten without a point ("314e-2"), so that libc's correctly rounded conversions can do
 * the work and no locale can put a comma in. Holds throughout: number_parse(number_format(x)) is x
 * to the last bit, except that every NaN reads as one.
 *
 * Note: the shortest digits. Rounded to 15 digits (6 for f32) a text with fewer gives itself back,
 * so for normal numbers the search starts there, and trailing zeros are dropped. Correct rounding
 * to p digits is the only candidate of p digits but at a power of two, where the gap below is half
 * the gap above and the next one up may read back when the nearest does not. */
#include "number.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MOST = 17 };

/* digits[0] . digits[1..n) times 10^exponent; not zero, no sign. */
typedef struct decimal {
    char digits[DIGITS_MOST + 1];
    int n, exponent;
} decimal;

/* x > 0 correctly rounded to p digits. Picks the digits out, because the point may be anything. */
static decimal round_to(double x, int p)
{
    char s[64];
    snprintf(s, sizeof s, "%.*e", p - 1, x);
    decimal d = {.n = 0};
    const char *c = s;
    for (; *c != 'e'; c++)
        if (*c >= '0' && *c <= '9' && d.n < DIGITS_MOST) d.digits[d.n++] = *c;
    d.exponent = atoi(c + 1);
    return d;
}

/* The next decimal of as many digits. */
static decimal next_up(decimal d)
{
    int i = d.n - 1;
    for (; i >= 0 && d.digits[i] == '9'; i--) d.digits[i] = '0';
    if (i >= 0) {
        d.digits[i]++;
    } else {
        d.digits[0] = '1';
        d.exponent++;
    }
    return d;
}

static bool reads_back(const decimal *d, double x, bool single)
{
    char s[DIGITS_MOST + 16];
    snprintf(s, sizeof s, "%.*se%d", d->n, d->digits, d->exponent - (d->n - 1));
    if (!single) return strtod(s, NULL) == x;
    return strtof(s, NULL) == (float)x && (float)strtod(s, NULL) == (float)x;
}

/* x > 0 and finite. */
static decimal shortest(double x, bool single)
{
    bool normal = single ? x >= FLT_MIN : x >= DBL_MIN;
    int first = !normal ? 1 : single ? FLT_DIG : DBL_DIG, last = single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    int binary;
    bool power_of_two = frexp(x, &binary) == 0.5;
    decimal d;
    for (int p = first;; p++) {
        d = round_to(x, p);
        if (p == last || reads_back(&d, x, single)) break;
        decimal up = next_up(d);
        if (power_of_two && reads_back(&up, x, single)) {
            d = up;
            break;
        }
    }
    while (d.n > 1 && d.digits[d.n - 1] == '0') d.n--;
    return d;
}

static char *put(char *out, const char *s, int n)
{
    memcpy(out, s, (size_t)n);
    return out + n;
}

static char *put_zeros(char *out, int n)
{
    while (n-- > 0) *out++ = '0';
    return out;
}

/* x is a f64, or a f32 if `single`. */
static size_t format_number(double x, bool single, char *out)
{
    if (isnan(x)) return (size_t)sprintf(out, "nan");
    if (isinf(x)) return (size_t)sprintf(out, x < 0 ? "-inf" : "inf");
    if (x == 0) return (size_t)sprintf(out, signbit(x) ? "-0" : "0");
    if (fabs(x) < 1e16 && x == floor(x)) return (size_t)sprintf(out, "%lld", (long long)x);
    char *c = out;
    if (x < 0) *c++ = '-';
    decimal d = shortest(fabs(x), single);
    if (d.exponent >= 16 || d.exponent < -4) {
        c = put(c, d.digits, 1);
        if (d.n > 1) {
            *c++ = '.';
            c = put(c, d.digits + 1, d.n - 1);
        }
        c += sprintf(c, "e%d", d.exponent);
    } else if (d.exponent < 0) {
        c = put(c, "0.", 2);
        c = put_zeros(c, -d.exponent - 1);
        c = put(c, d.digits, d.n);
    } else {
        int whole = d.exponent + 1;
        c = put(c, d.digits, whole < d.n ? whole : d.n);
        c = put_zeros(c, whole - d.n); /* a fraction whose shortest text is an integer */
        if (d.n > whole) {
            *c++ = '.';
            c = put(c, d.digits + whole, d.n - whole);
        }
    }
    *c = 0;
    return (size_t)(c - out);
}

size_t number_format(double x, char out[NUMBER_MOST]) { return format_number(x, false, out); }

size_t number_format_f32(float x, char out[NUMBER_MOST]) { return format_number((double)x, true, out); }

void number_print(double x, text *out)
{
    char s[NUMBER_MOST];
    text_add(out, s, number_format(x, s));
}

void number_print_f32(float x, text *out)
{
    char s[NUMBER_MOST];
    text_add(out, s, number_format_f32(x, s));
}

/* ---- reading ---- */

/* 768 digits decide how any decimal rounds to f64, when one more stands for all that follow. */
enum { READ_DIGITS = 800, EXPONENT_MOST = 1000000000 };

typedef struct scanner {
    const char *s, *end;
} scanner;

static int digit_value(char c, int base)
{
    int v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
    return v < base ? v : -1;
}

/* The next digit, a single `_` between two digits skipped; -1 when there is none. */
static int next_digit(scanner *z, int base, bool after_digit)
{
    const char *c = z->s;
    if (after_digit && c < z->end && *c == '_') c++;
    if (c == z->end) return -1;
    int v = digit_value(*c, base);
    if (v >= 0) z->s = c + 1;
    return v;
}

/* Gathers significant digits; how many digits there were, zeros included. */
typedef struct mantissa {
    char digits[READ_DIGITS + 32];
    int n;
    bool more; /* a digit that is not 0 was left out */
    long long exponent;
} mantissa;

static size_t scan_digits(scanner *z, mantissa *m, bool fraction)
{
    size_t count = 0;
    for (int v; (v = next_digit(z, 10, count > 0)) >= 0; count++) {
        bool leading = m->n == 0 && v == 0;
        if (leading || m->n == READ_DIGITS) {
            m->more |= v > 0;
            m->exponent += !leading && !fraction;
            m->exponent -= leading && fraction;
        } else {
            m->digits[m->n++] = (char)('0' + v);
            m->exponent -= fraction;
        }
    }
    return count;
}

static bool scan_exponent(scanner *z, mantissa *m)
{
    z->s++; /* the e */
    bool negative = z->s < z->end && *z->s == '-';
    if (z->s < z->end && (*z->s == '-' || *z->s == '+')) z->s++;
    long long e = 0;
    size_t count = 0;
    for (int v; (v = next_digit(z, 10, count > 0)) >= 0; count++)
        if (e < EXPONENT_MOST) e = e * 10 + v;
    m->exponent += negative ? -e : e;
    return count > 0;
}

static bool scan_decimal(scanner *z, double *x)
{
    mantissa m = {.n = 0};
    size_t count = scan_digits(z, &m, false);
    if (z->s < z->end && *z->s == '.') {
        z->s++;
        count += scan_digits(z, &m, true);
    }
    if (!count) return false;
    if (z->s < z->end && (*z->s == 'e' || *z->s == 'E') && !scan_exponent(z, &m)) return false;
    if (!m.n) {
        *x = 0;
        return true;
    }
    if (m.more) {
        m.digits[m.n++] = '1';
        m.exponent--;
    }
    sprintf(m.digits + m.n, "e%lld", m.exponent);
    *x = strtod(m.digits, NULL);
    return true;
}

/* Correctly rounded: strtod's hexadecimal form takes no point, so no locale. Digits beyond the
   first 30 only matter in whether one of them is not 0. */
static bool scan_hexadecimal(scanner *z, double *x)
{
    char s[64] = "0x";
    int n = 2, v;
    size_t count = 0;
    long long left_out = 0;
    bool more = false;
    for (; (v = next_digit(z, 16, count > 0)) >= 0; count++) {
        if (n == 2 && v == 0) continue;
        if (n < 32) {
            s[n++] = "0123456789abcdef"[v];
        } else {
            left_out++;
            more |= v > 0;
        }
    }
    if (!count) return false;
    if (n == 2) s[n++] = '0';
    if (more) {
        s[n++] = '1';
        left_out--;
    }
    sprintf(s + n, "p%lld", left_out * 4);
    *x = strtod(s, NULL);
    return true;
}

bool number_parse(const char *s, size_t n, double *x)
{
    scanner z = {s, s + n};
    bool negative = n && *s == '-';
    if (n && (*s == '-' || *s == '+')) z.s++;
    size_t left = (size_t)(z.end - z.s);
    double v;
    if (left == 3 && !memcmp(z.s, "inf", 3)) {
        v = INFINITY;
        z.s += 3;
    } else if (left == 3 && !memcmp(z.s, "nan", 3)) {
        v = NAN;
        z.s += 3;
    } else if (left > 2 && z.s[0] == '0' && (z.s[1] == 'x' || z.s[1] == 'X')) {
        z.s += 2;
        if (!scan_hexadecimal(&z, &v)) return false;
    } else if (!scan_decimal(&z, &v)) {
        return false;
    }
    if (z.s != z.end) return false;
    *x = negative ? -v : v;
    return true;
}
