/* test_text.c: growing strings, interned names, UTF-8. */
#include "text.h"
#include "unit.h"
#include <string.h>

static bool build_text(memory *m)
{
    text t;
    text_open(&t, m);
    ck_assert_str_eq(text_str(&t), "");
    text_add(&t, "", 0);
    ck_assert_ptr_null(t.s);
    text_puts(&t, "one");
    text_putc(&t, ' ');
    text_printf(&t, "%d %s", 2, "three");
    for (int i = 0; i < 100; i++) text_printf(&t, "%0300d", i);
    bool reached = !t.failed;
    if (reached) {
        ck_assert_uint_eq(t.n, 11 + 30000);
        ck_assert_uint_eq(strlen(t.s), t.n);
        ck_assert_int_eq(memcmp(t.s, "one 2 three000", 14), 0);
        ck_assert_str_eq(t.s + t.n - 4, "0099");
    }
    text_clear(&t);
    ck_assert_str_eq(text_str(&t), "");
    text_close(&t);
    return reached;
}

START_TEST(text_grows_or_says_so) { unit_fail_each(build_text); }
END_TEST

START_TEST(text_stops_once_refused)
{
    memory m;
    ck_assert(memory_open(&m));
    text t;
    text_open(&t, &m);
    text_puts(&t, "kept");
    m.limit = m.live_all;
    for (int i = 0; i < 100; i++) text_puts(&t, "too much");
    ck_assert(t.failed);
    size_t n = t.n;
    text_putc(&t, 'x'); /* would fit, but the result would have a hole */
    ck_assert_uint_eq(t.n, n);
    ck_assert_uint_eq(strlen(t.s), n);
    text_close(&t);
    memory_close(&m);
}
END_TEST

static bool intern_many(memory *m)
{
    symbols *s = symbols_open(m);
    if (!s) return false;
    bool reached = true;
    symbol first = symbol_of(s, "x", 1);
    const char *name = symbol_name(s, first);
    for (int i = 0; i < 300 && reached; i++) {
        char word[16];
        size_t n = (size_t)snprintf(word, sizeof word, "name%d", i);
        symbol y = symbol_of(s, word, n);
        reached = y != 0;
        if (!y) break;
        ck_assert_uint_eq(symbol_of(s, word, n), y);
        ck_assert_str_eq(symbol_name(s, y), word);
        ck_assert_uint_ne(symbol_of(s, word, n - 1), y);
    }
    if (first) {
        ck_assert_uint_eq(symbol_of(s, "xy", 1), first);
        ck_assert_ptr_eq(symbol_name(s, first), name);
    } else {
        reached = false;
    }
    symbols_close(s);
    return reached;
}

START_TEST(names_are_interned) { unit_fail_each(intern_many); }
END_TEST

START_TEST(odd_names)
{
    memory m;
    ck_assert(memory_open(&m));
    symbols *s = symbols_open(&m);
    ck_assert_str_eq(symbol_name(s, 0), "");
    ck_assert_str_eq(symbol_name(s, 999), "");
    symbol nothing = symbol_of(s, "", 0);
    ck_assert_uint_ne(nothing, 0);
    ck_assert_uint_eq(symbol_of(s, "", 0), nothing);
    ck_assert_uint_ne(symbol_of(s, "a\0b", 3), symbol_of(s, "a\0c", 3));
    symbols_close(s);
    symbols_close(NULL);
    memory_close(&m);
}
END_TEST

START_TEST(utf8_round_trip)
{
    for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
        char s[4];
        uint32_t back = 0;
        int n = utf8_encode(cp, s);
        bool surrogate = cp >= 0xd800 && cp < 0xe000;
        ck_assert_int_eq(utf8_decode(s, (size_t)n, &back), surrogate ? 0 : n);
        if (!surrogate) ck_assert_uint_eq(back, cp);
        if (n > 1) ck_assert_int_eq(utf8_decode(s, (size_t)n - 1, &back), 0);
    }
}
END_TEST

START_TEST(utf8_invalid)
{
    static const char *const bad[] = {"\x80",
                                      "\xbf",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xc3(",
                                      "\xe0\x80\x80",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xe2\x82(",
                                      "\xf0\x80\x80\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xfe"};
    uint32_t cp;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) ck_assert_int_eq(utf8_decode(bad[i], strlen(bad[i]), &cp), 0);
    ck_assert_int_eq(utf8_decode("", 0, &cp), 0);
    ck_assert_uint_eq(utf8_length("añ日😀", 10), 4);
}
END_TEST

START_TEST(widths)
{
    static const struct {
        uint32_t cp;
        int width;
    } cases[] = {{'a', 1},    {0xe9, 1},   {0x3b1, 1},  {0x301, 0},   {0x65e5, 2},  {0xac00, 2},   {0x1f600, 2},
                 {0xff21, 2}, {0x200b, 0}, {0x2713, 1}, {0x1f3ff, 2}, {0x20000, 2}, {0x10ffff, 1}, {7, 0},
                 {0xad, 1},   {0x2026, 1}, {0x1160, 0}, {0xfe0f, 0},  {0x2500, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(utf8_width(cases[i].cp) == cases[i].width, "U+%04X", cases[i].cp);
}
END_TEST

UNIT_MAIN("text", text_grows_or_says_so, text_stops_once_refused, names_are_interned, odd_names, utf8_round_trip, utf8_invalid, widths)
