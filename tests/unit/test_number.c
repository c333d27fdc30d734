/* test_number.c: numbers as text and back. */
#include "number.h"
#include "unit.h"
#include <float.h>
#include <locale.h>
#include <math.h>
#include <string.h>

START_TEST(printed)
{
    static const struct {
        double x;
        const char *text;
    } cases[] = {{6, "6"},
                 {-6, "-6"},
                 {0, "0"},
                 {-0.0, "-0"},
                 {0.1, "0.1"},
                 {1e-9, "1e-9"},
                 {1e22, "1e22"},
                 {1e16, "1e16"},
                 {9999999999999998, "9999999999999998"},
                 {1e15, "1000000000000000"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"},
                 {NAN, "nan"},
                 {0.0001, "0.0001"},
                 {0.00001, "1e-5"},
                 {0.000123, "0.000123"},
                 {1.5e-7, "1.5e-7"},
                 {123456.789, "123456.789"},
                 {-2.5, "-2.5"},
                 {1.0 / 3, "0.3333333333333333"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {DBL_MAX, "1.7976931348623157e308"},
                 {DBL_MIN, "2.2250738585072014e-308"},
                 {0x1p-1074, "5e-324"},
                 {1e-320, "1e-320"},
                 {0x1p53, "9007199254740992"},
                 {12345678901234567890.0, "1.2345678901234567e19"},
                 {5e20, "5e20"}};
    char s[NUMBER_MOST];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_uint_eq(number_format(cases[i].x, s), strlen(cases[i].text));
        ck_assert_str_eq(s, cases[i].text);
    }
}
END_TEST

START_TEST(printed_f32)
{
    static const struct {
        float x;
        const char *text;
    } cases[] = {{0.1f, "0.1"},
                 {1.0f / 3, "0.33333334"},
                 {16777216.0f, "16777216"},
                 {123456789.0f, "123456792"},
                 {FLT_MAX, "3.4028235e38"},
                 {FLT_MIN, "1.1754944e-38"},
                 {0x1p-149f, "1e-45"},
                 {-0.0f, "-0"},
                 {1e-9f, "1e-9"},
                 {INFINITY, "inf"},
                 {3.14159274f, "3.1415927"}};
    char s[NUMBER_MOST];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        number_format_f32(cases[i].x, s);
        ck_assert_str_eq(s, cases[i].text);
    }
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Digits of a printed number, the zeros around them left out. */
static int digits_of(const char *s)
{
    int n = 0, zeros = 0;
    for (; *s && *s != 'e'; s++) {
        if (*s < '0' || *s > '9') continue;
        zeros = *s == '0' ? zeros + 1 : 0;
        n += n || *s != '0';
    }
    return n - zeros;
}

static void check_round_trip(double x)
{
    char s[NUMBER_MOST], shorter[64];
    double back = 0;
    ck_assert_uint_lt(number_format(x, s), NUMBER_MOST);
    ck_assert(number_parse(s, strlen(s), &back));
    ck_assert_msg(!memcmp(&back, &x, sizeof x), "%.17g printed as %s", x, s);
    if (fabs(x) < 1e16 && x == floor(x)) return;
    int n = digits_of(s);
    if (n > 1) { /* no shorter rounding reads back */
        snprintf(shorter, sizeof shorter, "%.*e", n - 2, x);
        ck_assert_msg(strtod(shorter, NULL) != x, "%s is longer than %s", s, shorter);
    }
}

START_TEST(round_trip)
{
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_random(&state);
        double x;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x)) check_round_trip(x);
        check_round_trip((double)(bits >> 40) / 1000);
    }
    for (int e = -1074; e < 1024; e++) {
        check_round_trip(ldexp(1, e));
        check_round_trip(nextafter(ldexp(1, e), 0));
    }
}
END_TEST

START_TEST(round_trip_f32)
{
    uint64_t state = 2;
    for (int i = 0; i < 40000; i++) {
        uint32_t bits = (uint32_t)next_random(&state);
        if (i < 254) bits = (uint32_t)i << 23; /* powers of two */
        float x;
        memcpy(&x, &bits, sizeof x);
        if (!isfinite(x)) continue;
        char s[NUMBER_MOST];
        double back = 0;
        number_format_f32(x, s);
        ck_assert(number_parse(s, strlen(s), &back));
        ck_assert_msg((float)back == x, "%.9g printed as %s", (double)x, s);
        ck_assert_int_le(x == floorf(x) ? 9 : digits_of(s), 9);
    }
}
END_TEST

static bool parse(const char *s, double *x)
{
    size_t n = strlen(s);
    char *exact = malloc(n); /* no NUL: the sanitizer sees a read past the end */
    memcpy(exact, s, n);
    bool ok = number_parse(exact, n, x);
    free(exact);
    return ok;
}

START_TEST(parsed)
{
    static const struct {
        const char *text;
        double x;
    } cases[] = {{"1", 1},
                 {"2.5", 2.5},
                 {"1e-3", 1e-3},
                 {".5", .5},
                 {"2.", 2},
                 {"0xff", 255},
                 {"0xFF", 255},
                 {"1_000_000", 1e6},
                 {"1_0.5_0", 10.5},
                 {"+3", 3},
                 {"-3e2", -300},
                 {"1E+2", 100},
                 {"inf", INFINITY},
                 {"-inf", -INFINITY},
                 {"0", 0},
                 {"000", 0},
                 {"0.000", 0},
                 {"00012", 12},
                 {"1e999", INFINITY},
                 {"1e-999", 0},
                 {"0e99999999999999999999", 0},
                 {"1e99999999999999999999", INFINITY},
                 {"1e-99999999999999999999", 0},
                 {"9007199254740993", 9007199254740992},
                 {"9007199254740993.0000000000000000000000000001", 9007199254740994},
                 {"0x20000000000001", 9007199254740992},
                 {"0x20000000000001000000000000000000000000000000001", 0x1.0000000000001p185},
                 {"0x0000000000000000000000000000000000000000001", 1},
                 {"0.00000000000000000000001", 1e-23}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double x = -77;
        ck_assert_msg(parse(cases[i].text, &x), "%s", cases[i].text);
        ck_assert_msg(x == cases[i].x, "%s read as %.17g", cases[i].text, x);
    }
    double x;
    ck_assert(parse("nan", &x) && isnan(x));
    ck_assert(parse("-0", &x) && x == 0 && signbit(x));
}
END_TEST

START_TEST(junk_is_rejected)
{
    static const char *const junk[] = {"",      "+",        "-",   ".",   "e5",   "1e",    "1e+",  "1 ",   " 1",   "1x",
                                       "1.2.3", "--1",      "0x",  "0xg", "_1",   "1_",    "1__0", "1_.5", "1._5", "1e_5",
                                       "1,5",   "infinity", "Inf", "na",  "nano", "0x1p3", "1f",   "1_e5", "0x_1"};
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        double x = 42;
        ck_assert_msg(!parse(junk[i], &x), "%s", junk[i]);
        ck_assert(x == 42);
    }
    double x;
    ck_assert(!number_parse("1\0", 2, &x));
}
END_TEST

START_TEST(many_digits)
{
    enum { N = 5000 };
    static char s[N + 16];
    double x;
    memset(s, '9', N);
    ck_assert(number_parse(s, N, &x) && isinf(x));
    memcpy(s + N, "e-5000", 6);
    ck_assert(number_parse(s, N + 6, &x) && x == 1);
    /* Halfway between two f64, and a digit far behind that decides: 1 + 2^-53 exactly, then more. */
    int n = snprintf(s, sizeof s, "1.00000000000000011102230246251565404236316680908203125");
    ck_assert(number_parse(s, (size_t)n, &x) && x == 1);
    memset(s + n, '0', N - (size_t)n);
    s[N - 1] = '1';
    ck_assert(number_parse(s, N, &x) && x == 1 + 0x1p-52);
}
END_TEST

START_TEST(any_locale)
{
    const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!setlocale(LC_ALL, names[i])) continue; /* not installed: nothing to see */
        char s[NUMBER_MOST];
        double x;
        number_format(2.5e-8, s);
        ck_assert_str_eq(s, "2.5e-8");
        ck_assert(number_parse("2.5", 3, &x) && x == 2.5);
        ck_assert(!number_parse("2,5", 3, &x));
    }
    setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(into_text)
{
    memory m;
    ck_assert(memory_open(&m));
    text t;
    text_open(&t, &m);
    number_print(0.5, &t);
    text_putc(&t, ' ');
    number_print_f32(0.1f, &t);
    ck_assert_str_eq(text_str(&t), "0.5 0.1");
    text_close(&t);
    memory_close(&m);
}
END_TEST

UNIT_MAIN("number", printed, printed_f32, round_trip, round_trip_f32, parsed, junk_is_rejected, many_digits, any_locale, into_text)
