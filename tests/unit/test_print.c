/* test_print.c: how values look. */
#include "print.h"
#include <math.h>
#include <string.h>
#include "unit.h"

static vm *m;
static text out;
static void open_vm(void)
{
    m = vm_open(NULL);
    ck_assert(m != NULL);
    text_open(&out, &m->mem);
}
static void close_vm(void)
{
    text_close(&out);
    ck_assert(m->error == NULL);
    vm_close(m);
}
/* Prints v (consumed) after `before` and compares. */
static void looks(const char *before, value v, print_style style, const char *want)
{
    text_clear(&out);
    text_puts(&out, before);
    value_print(m, v, style, &out);
    ck_assert_str_eq(text_str(&out), want);
    value_release(m, v);
}
static value array_of(dtype d, int rank, const int64_t *shape, const double *x)
{
    array *a = array_new(m, d, rank, shape);
    for (int64_t i = 0; i < a->size; i++) array_put(a, i, value_f64(x ? x[i] : (double)i));
    return value_object(&a->h);
}
#define SHAPE(...) \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]) { __VA_ARGS__ }
#define NUMBERS(...) \
    (double[]) { __VA_ARGS__ }
static value str(const char *s) { return value_object(&string_new(m, s, strlen(s))->h); }
static value tuple_of(uint32_t n, const value *v)
{
    tuple *t = tuple_new(m, n, n);
    for (uint32_t i = 0; i < n; i++) t->v[i] = v[i];
    return value_object(&t->h);
}
static value pair(const char *a, value x, const char *b, value y)
{
    record *r = record_new(m, 2, 2);
    r->names[0] = symbol_of(m->symbols, a, strlen(a)), r->v[0] = x;
    r->names[1] = symbol_of(m->symbols, b, strlen(b)), r->v[1] = y;
    return value_object(&r->h);
}

START_TEST(scalars)
{
    open_vm();
    looks("", value_f64(6), PRINT_PLAIN, "6");
    looks("", value_f64(0.1), PRINT_PLAIN, "0.1");
    looks("", value_f64(1.0 / 3), PRINT_REPR, "0.3333333333333333");
    looks("", value_f32(0.1f), PRINT_PLAIN, "0.1");
    looks("", value_f64(-INFINITY), PRINT_PLAIN, "-inf");
    looks("", value_i64(INT64_MIN), PRINT_PLAIN, "-9223372036854775808");
    looks("", value_bool(true), PRINT_PLAIN, "true");
    looks("", value_none(), PRINT_PLAIN, "none");
    close_vm();
}
END_TEST

START_TEST(arrays)
{
    open_vm();
    looks("", array_of(DTYPE_F64, SHAPE(3), NUMBERS(1, 2.5, 1.0 / 3)), PRINT_PLAIN, "[1, 2.5, 0.33333333]");
    looks("", array_of(DTYPE_I64, SHAPE(2, 2), NUMBERS(1, -20, 300, 4)), PRINT_PLAIN, "[[  1, -20],\n [300,   4]]");
    looks("w = ", array_of(DTYPE_F64, SHAPE(2, 2), NUMBERS(1, 0.5, -10.25, 2)), PRINT_PLAIN, "w = [[  1,    0.5],\n     [-10.25, 2]]");
    looks("", array_of(DTYPE_BOOL, SHAPE(2, 2), NUMBERS(1, 0, 0, 0)), PRINT_PLAIN, "[[true,  false],\n [false, false]]");
    looks("", array_of(DTYPE_F32, SHAPE(2), NUMBERS(0.1, 16777216)), PRINT_PLAIN, "[0.1, 16777216]");
    looks("", array_of(DTYPE_F64, SHAPE(0), NULL), PRINT_PLAIN, "[]");
    looks("", array_of(DTYPE_F64, SHAPE(0, 3), NULL), PRINT_PLAIN, "[] (f64[0, 3])");
    looks("", array_of(DTYPE_F64, SHAPE(1, 2, 2), NULL), PRINT_HEADER, "f64[1, 2, 2]\n[[[0, 1],\n  [2, 3]]]");
    looks("", array_of(DTYPE_F64, SHAPE(2, 1, 1), NULL), PRINT_PLAIN, "[[[0]],\n\n [[1]]]");
    looks("", array_of(DTYPE_I64, SHAPE(5000), NULL), PRINT_PLAIN, "[0, 1, 2, ..., 4997, 4998, 4999] (i64[5000])");
    looks("", array_of(DTYPE_I64, SHAPE(5000), NULL), PRINT_HEADER, "i64[5000]\n[0, 1, 2, ..., 4997, 4998, 4999]");
    looks("", array_of(DTYPE_I64, SHAPE(600, 2), NULL), PRINT_PLAIN,
          "[[   0,    1],\n [   2,    3],\n [   4,    5],\n ...,\n [1194, 1195],\n [1196, 1197],\n [1198, 1199]] (i64[600, 2])");
    looks("", array_of(DTYPE_I64, SHAPE(30), NULL), PRINT_PLAIN,
          "[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,\n 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]");
    /* No line is longer than the width, and none ends in a blank. */
    looks("", value_none(), PRINT_PLAIN, "none");
    text_clear(&out);
    value v = array_of(DTYPE_F64, SHAPE(7, 100), NULL);
    for (int64_t i = 0; i < 700; i++) array_put(as_array(v), i, value_f64(sin((double)i)));
    value_print(m, v, PRINT_PLAIN, &out);
    value_release(m, v);
    for (char *line = out.s; line && *line;) {
        char *end = strchr(line, '\n');
        size_t n = end ? (size_t)(end - line) : strlen(line);
        ck_assert_uint_le(n, PRINT_WIDTH);
        ck_assert(n == 0 || line[n - 1] != ' ');
        line = end ? end + 1 : NULL;
    }
    close_vm();
}
END_TEST

START_TEST(structures)
{
    open_vm();
    looks("", str("a\nb"), PRINT_PLAIN, "a\nb");
    looks("", str("a\nb\"\\\x01"), PRINT_REPR, "\"a\\nb\\\"\\\\\\x01\"");
    looks("", tuple_of(0, NULL), PRINT_PLAIN, "()");
    looks("", tuple_of(1, (value[]){value_f64(1)}), PRINT_PLAIN, "(1,)");
    looks("", tuple_of(2, (value[]){value_f64(1), str("é")}), PRINT_PLAIN, "(1, \"é\")");
    looks("", pair("w", array_of(DTYPE_F64, SHAPE(2), NULL), "b", value_none()), PRINT_PLAIN, "{w: [0, 1], b: none}");
    looks("", pair("w", array_of(DTYPE_F64, SHAPE(2, 2), NULL), "bias", array_of(DTYPE_F64, SHAPE(2), NULL)), PRINT_PLAIN,
          "{w: [[0, 1],\n     [2, 3]],\n bias: [0, 1]}");
    looks("", tuple_of(2, (value[]){pair("a", value_f64(1), "b", tuple_of(1, (value[]){value_f64(2)})), value_bool(false)}), PRINT_REPR,
          "({a: 1, b: (2,)}, false)");
    value many[40];
    for (int i = 0; i < 40; i++) many[i] = value_f64(i);
    looks("", tuple_of(40, many), PRINT_PLAIN,
          "(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,\n 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, "
          "33, 34, 35, 36, 37, 38, 39)");
    tuple *t = tuple_new(m, 2000, 2000);
    for (int i = 0; i < 2000; i++) t->v[i] = value_i64(i);
    looks("", value_object(&t->h), PRINT_PLAIN, "(0, 1, 2, ..., 1997, 1998, 1999) (tuple of 2000)");
    value deep = tuple_of(0, NULL);
    for (int i = 0; i < 100000; i++) deep = tuple_of(1, &deep);
    text_clear(&out);
    value_print(m, deep, PRINT_PLAIN, &out);
    ck_assert(strstr(text_str(&out), "(...,)") != NULL);
    value_release(m, deep);
    close_vm();
}
END_TEST

UNIT_MAIN("print", scalars, arrays, structures)
