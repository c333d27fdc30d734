/* test_text_rows.c: print, format and the string rows. */
#include "print.h"
#include <math.h>
#include <string.h>
#include "unit.h"

static vm *m;
static char written[4096];
static size_t nwritten;
static bool catch_output(void *ctx, const char *s, size_t n)
{
    ck_assert(nwritten + n < sizeof written);
    memcpy(written + nwritten, s, n);
    nwritten += n;
    written[nwritten] = 0;
    return true;
}
static void open_vm(void)
{
    vm_config config = vm_config_default();
    config.write = catch_output;
    m = vm_open(&config);
    ck_assert(m != NULL);
    nwritten = 0, written[0] = 0;
}
static void close_vm(void)
{
    ck_assert(m->error == NULL);
    vm_close(m);
}
static value str(const char *s) { return value_object(&string_new(m, s, strlen(s))->h); }
#define ARGS(...) (value[]){__VA_ARGS__}, (uint32_t)(sizeof((value[]){__VA_ARGS__}) / sizeof(value))
/* Applies a row to arguments (consumed). */
static value run(const char *name, value *args, uint32_t n)
{
    value out = value_undef();
    bool ok = prim_apply(m, prim_named(name), args, n, 0, &out);
    ck_assert_msg(ok, "%s: %s", name, m->error ? m->error->message : "?");
    for (uint32_t i = 0; i < n; i++) value_release(m, args[i]);
    return out;
}
static void gives(const char *want, const char *name, value *args, uint32_t n)
{
    value v = run(name, args, n);
    text t;
    text_open(&t, &m->mem);
    value_print(m, v, PRINT_REPR, &t);
    ck_assert_str_eq(text_str(&t), want);
    text_close(&t);
    value_release(m, v);
}
static void fails(const char *want, const char *name, value *args, uint32_t n)
{
    value out;
    ck_assert(!prim_apply(m, prim_named(name), args, n, 0, &out));
    ck_assert_str_eq(m->error->message, want);
    diag_free(m->error);
    m->error = NULL;
    for (uint32_t i = 0; i < n; i++) value_release(m, args[i]);
}
static void formats(const char *spec, value v, const char *want)
{
    value out = run("format", ARGS(str(spec), v));
    ck_assert_str_eq(as_string(out)->s, want);
    value_release(m, out);
}

START_TEST(formatting)
{
    open_vm();
    static const struct {
        const char *spec;
        double x;
        const char *want;
    } cases[] = {
        {"{}", 3, "3"},
        {"{}", 0.1, "0.1"},
        {"{:.2f}", 3.14159, "3.14"},
        {"{:8.3f}|", 3.14159, "   3.142|"},
        {"{:<8.1f}|", 2.5, "2.5     |"},
        {"{:^7}|", 1.5, "  1.5  |"},
        {"{:*^8}", 1.5, "**1.5***"},
        {"{:+d}", 7, "+7"},
        {"{: d}", 7, " 7"},
        {"{:05d}", -42, "-0042"},
        {"{:,d}", 1234567, "1,234,567"},
        {"{:_d}", 1234567, "1_234_567"},
        {"{:,.2f}", 1234567.891, "1,234,567.89"},
        {"{:e}", 12345.678, "1.234568e+04"},
        {"{:.3g}", 0.00012345, "0.000123"},
        {"{:g}", 1e10, "1e+10"},
        {"{:.1%}", 0.1234, "12.3%"},
        {"{:%}", 0.5, "50.000000%"},
        {"{:08.2f}", -1.5, "-0001.50"},
        {"{:=+8d}", 42, "+     42"},
        {"{:08,d}", 1234, "0,001,234"},
        {"{:x}", 255, "ff"},
        {"{:X}", 255, "FF"},
        {"{:b}", 5, "101"},
        {"{:.0f}", 2.5, "2"},
        {"{:f}", INFINITY, "inf"},
        {"{:6.1f}|", -INFINITY, "  -inf|"},
        {"{:.3}", 3.14159, "3.14"},
        {"{{{}}}", 1, "{1}"},
        {"{0} {0}", 2, "2 2"},
        {"{:.50f}", 0.5, "0.50000000000000000000000000000000000000000000000000"},
        {"{:d}", 1e20, "100000000000000000000"},
        {"{:é>4}", 1, "ééé1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) formats(cases[i].spec, value_f64(cases[i].x), cases[i].want);
    formats("{:>4}|", str("é"), "   é|");
    formats("{:.2s}", str("abc"), "ab");
    formats("{:5}|", value_bool(true), "true |");
    formats("{}", value_i64(INT64_MIN), "-9223372036854775808");
    formats("{}", value_f32(0.1f), "0.1");
    formats("{}", value_none(), "none");
    fails("format(): {:.2f} is for numbers, and its value is a string", "format", ARGS(str("{:.2f}"), str("a")));
    fails("format(): field 2 has no value: 1 was given", "format", ARGS(str("{} {}"), value_f64(1)));
    fails("format(): {:d} is for whole numbers, and the value is 2.5", "format", ARGS(str("{:d}"), value_f64(2.5)));
    fails("format(): a { without its }; write {{ for a brace", "format", ARGS(str("{"), value_f64(2.5)));
    fails("format(): in {:q}: this is not [fill][align][sign][0][width][,][.precision][d f e g % s x o b]", "format",
          ARGS(str("{:q}"), value_f64(1)));
    fails("format(): {} and {0} do not go together in one text", "format", ARGS(str("{} {0}"), value_f64(1)));
    fails("format(): in {:999999999999}: a width beyond 10000", "format", ARGS(str("{:999999999999}"), value_f64(1)));
    close_vm();
}
END_TEST

START_TEST(strings)
{
    open_vm();
    gives("(\"a\", \"b\", \"\", \"c\")", "split", ARGS(str("a,b,,c"), str(",")));
    gives("(\"\",)", "split", ARGS(str(""), str(",")));
    gives("()", "split", ARGS(str("  \t\n")));
    gives("(\"two\", \"words\")", "split", ARGS(str(" two\u00a0 words ")));
    gives("(\"x\", \"\")", "split", ARGS(str("x--"), str("--")));
    fails("split(): the separator is empty; ord(s) gives the characters one by one", "split", ARGS(str("x"), str("")));
    gives("\"a-b\"", "join", ARGS(run("split", ARGS(str("a b"))), str("-")));
    gives("\"x y\"", "trim", ARGS(str(" \u3000x y\n")));
    gives("\"\"", "trim", ARGS(str("   ")));
    gives("\"b__a\"", "replace", ARGS(str("banana"), str("an"), str("_")));
    gives("\"\"", "replace", ARGS(str("aaa"), str("a"), str("")));
    gives("[955, 98]", "ord", ARGS(str("λb")));
    gives("\"λb\"", "chr", ARGS(run("ord", ARGS(str("λb")))));
    gives("\"a\"", "chr", ARGS(value_f64(97)));
    fails("chr(): codes holds 55296, which is not a code point", "chr", ARGS(value_i64(0xd800)));
    close_vm();
}
END_TEST

START_TEST(printing_and_errors)
{
    open_vm();
    gives("none", "print", ARGS(str("loss"), value_f64(0.5), value_none()));
    run("print", NULL, 0);
    m->mute = 1;
    run("print", ARGS(str("silent")));
    m->mute = 0;
    ck_assert_str_eq(written, "loss 0.5 none\n\n");
    fails("no such layer", "error", ARGS(str("no such layer")));
    gives("none", "assert", ARGS(value_bool(true)));
    fails("assertion failed", "assert", ARGS(value_bool(false)));
    fails("x is negative", "assert", ARGS(value_bool(false), str("x is negative")));
    fails("assert(): condition must be a bool or an array of bools, as of a comparison", "assert", ARGS(value_f64(1)));
    array *a = array_new(m, DTYPE_BOOL, 2, (int64_t[]){2, 2});
    memcpy(a->data, (uint8_t[]){1, 1, 1, 0}, 4);
    value v = value_object(&a->h), out;
    ck_assert(!prim_apply(m, prim_named("assert"), &v, 1, 0, &out));
    ck_assert_str_eq(m->error->notes[0], "the condition is false at [1, 1]");
    diag_free(m->error);
    m->error = NULL;
    value_release(m, v);
    close_vm();
}
END_TEST

UNIT_MAIN("text rows", formatting, strings, printing_and_errors)
