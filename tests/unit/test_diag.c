/* test_diag.c: sources, diagnostics and their rendering, and the nearest name. A golden is written
 * as the lines that should appear. */
#include "diag.h"
#include "unit.h"
#include <string.h>

static memory mem;
static source *src;

static void open_source(const char *body)
{
    ck_assert(memory_open(&mem));
    src = source_new(&mem, "model.rl", body, strlen(body));
    ck_assert_ptr_nonnull(src);
}

/* The span of the first `word` in the source. */
static span at(const char *word)
{
    const char *p = strstr(src->text, word);
    ck_assert_ptr_nonnull(p);
    uint32_t lo = (uint32_t)(p - src->text);
    return (span){src, lo, lo + (uint32_t)strlen(word)};
}

/* Renders d, compares, frees everything. */
static void expect(diag *d, bool colour, const char *golden)
{
    source_release(src); /* the diagnostic keeps what it needs */
    text out;
    text_open(&out, &mem);
    diag_render(d, colour, &out);
    ck_assert(!out.failed);
    ck_assert_str_eq(text_str(&out), golden);
    text_close(&out);
    diag_free(d);
    ck_assert_uint_eq(mem.live_all, 0);
    memory_close(&mem);
}

static diag *shape_error(void) { return diag_new(&mem, SEVERITY_ERROR, DIAG_SHAPE, "cannot multiply %s", "[2, 3] @ [4, 5]"); }

START_TEST(places)
{
    open_source("ab\né日x\r\n\nend");
    static const struct {
        uint32_t at, line, column;
    } cases[] = {{0, 1, 1}, {2, 1, 3}, {3, 2, 1}, {5, 2, 2}, {8, 2, 3}, {11, 3, 1}, {12, 4, 1}, {15, 4, 4}, {999, 4, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t line, column;
        span_where((span){src, cases[i].at, cases[i].at}, &line, &column);
        ck_assert_uint_eq(line, cases[i].line);
        ck_assert_uint_eq(column, cases[i].column);
    }
    uint32_t line = 9, column = 9;
    span_where((span){NULL, 3, 4}, &line, &column);
    ck_assert(line == 0 && column == 0);
    source_release(src);
    memory_close(&mem);
}
END_TEST

START_TEST(operands)
{
    open_source("\n\n\n\n\n\n\n\n\n\n\ny = x @ w\n");
    diag *d = shape_error();
    diag_label_add(d, at("@"), "inner sizes differ");
    diag_label_add(d, at("x"), "[2, 3]");
    diag_label_add(d, at("w"), "[4, 5]");
    diag_note_add(d, "axis %d of the left\nand axis %d of the right", 1, 0);
    diag_help_set(d, "wrong");
    diag_help_set(d, "x @ w'");
    diag_frame_add(d, at("y"), "f");
    d->adjoint = true;
    expect(d, false,
           "error[shape]: cannot multiply [2, 3] @ [4, 5]\n"
           "  --> model.rl:12:7\n"
           "   |\n"
           "12 | y = x @ w\n"
           "   |     ^ ^ ^ [4, 5]\n"
           "   |     | |\n"
           "   |     | inner sizes differ\n"
           "   |     [2, 3]\n"
           "   = note: while running the adjoint of this line\n"
           "   = note: axis 1 of the left\n"
           "           and axis 0 of the right\n"
           "   = help: x @ w'\n"
           "   in f (model.rl:12:1)\n");
}
END_TEST

START_TEST(nested_spans)
{
    open_source("y = x @ w\n");
    diag *d = shape_error();
    diag_label_add(d, at("x @ w"), "here");
    diag_label_add(d, at("x"), "[2, 3]");
    diag_label_add(d, at("w"), "[4, 5]");
    expect(d, false,
           "error[shape]: cannot multiply [2, 3] @ [4, 5]\n"
           " --> model.rl:1:5\n"
           "  |\n"
           "1 | y = x @ w\n"
           "  |     ^~~~^ [4, 5]\n"
           "  |     |\n"
           "  |     here\n"
           "  |     [2, 3]\n");
}
END_TEST

START_TEST(several_lines)
{
    open_source("a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\ng = 7\n");
    diag *d = diag_new(&mem, SEVERITY_WARNING, DIAG_UNUSED, "never read");
    diag_label_add(d, at("g = 7\n"), "the first label");
    diag_label_add(d, at("a"), "line 1");
    diag_label_add(d, at("c"), "%s", "");
    diag_label_add(d, at("d"), "line 4");
    expect(d, false,
           "warning[unused]: never read\n"
           " --> model.rl:7:1\n"
           "  |\n"
           "1 | a = 1\n"
           "  | ^ line 1\n"
           "2 | b = 2\n"
           "3 | c = 3\n"
           "  | ^\n"
           "4 | d = 4\n"
           "  | ^ line 4\n"
           "...\n"
           "7 | g = 7\n"
           "  | ^^^^^ the first label\n");
}
END_TEST

START_TEST(tabs_and_wide_characters)
{
    open_source("\tx\t= 日本 + e\xcc\x81 + q\r\n");
    diag *d = shape_error();
    diag_label_add(d, at("日本"), "wide");
    diag_label_add(d, at("q"), "after");
    expect(d, false,
           "error[shape]: cannot multiply [2, 3] @ [4, 5]\n"
           " --> model.rl:1:6\n"
           "  |\n"
           "1 |     x   = 日本 + e\xcc\x81 + q\n"
           "  |           ^^^^       ^ after\n"
           "  |           |\n"
           "  |           wide\n");
}
END_TEST

START_TEST(points_and_ends)
{
    open_source("f(\n");
    diag *d = diag_new(&mem, SEVERITY_ERROR, DIAG_SYNTAX, "expected an expression");
    diag_label_add(d, (span){src, 2, 2}, "before the end of the line");
    diag_label_add(d, (span){src, 3, 3}, "at the end");
    diag_label_add(d, (span){src, 500, 600}, "beyond it");
    expect(d, false,
           "error[syntax]: expected an expression\n"
           " --> model.rl:1:3\n"
           "  |\n"
           "1 | f(\n"
           "  |   ^ before the end of the line\n"
           "2 |\n"
           "  | ^\n"
           "  | |\n"
           "  | at the end\n"
           "  | beyond it\n");
}
END_TEST

START_TEST(unsafe_characters)
{
    open_source("x = \"\x1b[31m\xff\xe2\x80\xae\"\n");
    diag *d = diag_new(&mem, SEVERITY_ERROR, DIAG_USER, "told \x1b[2J");
    diag_label_add(d, at("\""), "here");
    expect(d, false,
           "error[user]: told \xef\xbf\xbd[2J\n"
           " --> model.rl:1:5\n"
           "  |\n"
           "1 | x = \"\xef\xbf\xbd[31m\xef\xbf\xbd\xef\xbf\xbd\"\n"
           "  |     ^ here\n");
}
END_TEST

START_TEST(two_sources_and_none)
{
    open_source("y = tanh(x)\n");
    source *rule = source_new(&mem, "rule of tanh", "g * (1 - y)", 11);
    diag *d = diag_new(&mem, SEVERITY_ERROR, DIAG_TYPE, "no");
    diag_label_add(d, (span){rule, 0, 1}, "the cotangent");
    diag_label_add(d, at("tanh"), "called here");
    diag_label_add(d, (span){NULL, 0, 0}, "nowhere");
    source_release(rule);
    expect(d, false,
           "error[type]: no\n"
           " --> rule of tanh:1:1\n"
           "  |\n"
           "1 | g * (1 - y)\n"
           "  | ^ the cotangent\n"
           " ::: model.rl:1:5\n"
           "  |\n"
           "1 | y = tanh(x)\n"
           "  |     ^^^^ called here\n"
           "  = note: nowhere\n");
}
END_TEST

START_TEST(no_place)
{
    open_source("");
    diag *d = diag_new(&mem, SEVERITY_NOTE, DIAG_MEMORY, "that is all");
    d->adjoint = true;
    expect(d, false,
           "note: that is all\n"
           "  = note: while running the adjoint program\n");
}
END_TEST

START_TEST(colours)
{
    open_source("y = x\n");
    diag *d = diag_new(&mem, SEVERITY_ERROR, DIAG_NAME, "no x");
    diag_label_add(d, at("x"), "here");
    expect(d, true,
           "\033[1;31merror[name]\033[0m\033[1m: no x\033[0m\n"
           " \033[1;34m--> \033[0mmodel.rl:1:5\n"
           "  \033[1;34m|\033[0m\n"
           "\033[1;34m1 |\033[0m y = x\n"
           "  \033[1;34m| \033[0m    \033[1;31m^\033[0m \033[1;31mhere\033[0m\n");
}
END_TEST

/* Columns of the line of `out` that begins with `start`. */
static size_t columns_of(const char *out, const char *start)
{
    const char *line = strstr(out, start);
    ck_assert_ptr_nonnull(line);
    return utf8_length(line, strcspn(line, "\n"));
}

START_TEST(long_lines)
{
    enum { N = 100000 };
    static char body[N + 1];
    memset(body, '.', N);
    static const uint32_t spots[] = {0, 1, 100, 158, 159, 160, 161, 5000, N - 161, N - 3, N - 1};
    for (size_t i = 0; i < sizeof spots / sizeof *spots; i++)
        for (size_t k = 0; k < sizeof spots / sizeof *spots; k++) {
            body[spots[i]] = 'x';
            open_source(body);
            diag *d = shape_error();
            diag_label_add(d, (span){src, spots[i], spots[i] + 1}, "here");
            diag_label_add(d, (span){src, spots[k], spots[k] + 200}, "there");
            text out;
            text_open(&out, &mem);
            diag_render(d, false, &out);
            const char *shown = text_str(&out);
            ck_assert_uint_le(columns_of(shown, "1 | "), 4 + 160);
            ck_assert_uint_le(columns_of(strstr(shown, "1 | ") + 4, "  | "), 4 + 161 + 6);
            ck_assert(strstr(shown, "x") && strstr(shown, "here") && strstr(shown, "there"));
            text_close(&out);
            diag_free(d);
            source_release(src);
            memory_close(&mem);
            body[spots[i]] = '.';
        }
}
END_TEST

START_TEST(window_around_the_caret)
{
    static char body[401];
    memset(body, 'a', 400);
    memcpy(body + 200, "XYZ", 3);
    open_source(body);
    diag *d = shape_error();
    diag_label_add(d, at("XYZ"), "here");
    static char golden[1000];
    char as[80], blanks[90];
    memset(as, 'a', sizeof as);
    memset(blanks, ' ', sizeof blanks);
    snprintf(golden, sizeof golden,
             "error[shape]: cannot multiply [2, 3] @ [4, 5]\n --> model.rl:1:201\n  |\n"
             "1 | …%.78sXYZ%.77s…\n  | %.79s^^^ here\n",
             as, as, blanks);
    expect(d, false, golden);
}
END_TEST

START_TEST(deep_stacks)
{
    open_source("f g\n");
    diag *d = diag_new(&mem, SEVERITY_ERROR, DIAG_VALUE, "deep");
    diag_frame_add(d, at("g"), "g");
    diag_frame_add(d, at("g"), "g");
    for (int i = 0; i < 1000000; i++) diag_frame_add(d, at("f"), "f");
    diag_frame_add(d, at("g"), "main");
    diag_frame_add(d, at("g"), NULL);
    expect(d, false,
           "error[value]: deep\n"
           "  in g (model.rl:1:3)\n"
           "  in g (model.rl:1:3)\n"
           "  in f (model.rl:1:1), 8 times\n"
           "  … 999984 more calls\n"
           "  in f (model.rl:1:1), 8 times\n"
           "  in main (model.rl:1:3)\n"
           "  at model.rl:1:3\n");
}
END_TEST

static bool build_all(memory *m)
{
    source *s = source_new(m, "a.rl", "x = y\n", 6);
    span spot = {s, 4, 5};
    diag *d = diag_new(m, SEVERITY_ERROR, DIAG_NAME, "no %s", "y");
    diag_label_add(d, spot, "first");
    diag_label_add(d, spot, "second");
    diag_note_add(d, "note");
    diag_note_add(d, "another");
    diag_help_set(d, "help");
    diag_help_set(d, "better");
    for (int i = 0; i < 25; i++) diag_frame_add(d, spot, "f");
    if (d) d->next = diag_new(m, SEVERITY_ERROR, DIAG_NAME, "%s", "");
    text out;
    text_open(&out, m);
    if (d) diag_render(d, true, &out);
    bool reached = s && d && d->next && d->nlabels == 2 && d->nnotes == 2 && d->help && !out.failed;
    text_close(&out);
    source_release(s);
    diag_free(d);
    return reached;
}

START_TEST(refusals_leak_nothing) { unit_fail_each(build_all); }
END_TEST

START_TEST(code_names)
{
    ck_assert_str_eq(diag_code_name(DIAG_SYNTAX), "syntax");
    ck_assert_str_eq(diag_code_name(DIAG_INTERNAL), "internal");
    for (int c = 0; c < DIAG_CODES; c++)
        for (int k = 0; k < c; k++) ck_assert_str_ne(diag_code_name((diag_code)c), diag_code_name((diag_code)k));
}
END_TEST

START_TEST(nearest)
{
    static const char *const names[] = {"sum", "matmul", "transpose", "x", "softmax", "sumsq", "größe", NULL, ""};
    static const struct {
        const char *name, *nearest;
    } cases[] = {{"summ", "sum"},
                 {"smu", "sum"},
                 {"matmull", "matmul"},
                 {"mtamul", "matmul"},
                 {"transpsoe", "transpose"},
                 {"trnspos", "transpose"},
                 {"y", NULL},
                 {"xs", "x"},
                 {"banana", NULL},
                 {"Sum", "sum"},
                 {"sum", NULL},
                 {"sotfmx", "softmax"},
                 {"grosse", NULL},
                 {"grösse", "größe"},
                 {"", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = nearest_name(cases[i].name, names, sizeof names / sizeof *names);
        ck_assert_msg(found == cases[i].nearest || (found && cases[i].nearest && !strcmp(found, cases[i].nearest)), "%s: %s", cases[i].name,
                      found ? found : "none");
    }
    static char endless[1000];
    memset(endless, 'a', sizeof endless - 1);
    const char *one = endless;
    ck_assert_ptr_null(nearest_name(endless, &one, 1));
    ck_assert_ptr_null(nearest_name("abc", names, 0));
}
END_TEST

UNIT_MAIN("diag", places, operands, nested_spans, several_lines, tabs_and_wide_characters, points_and_ends, unsafe_characters,
          two_sources_and_none, no_place, colours, long_lines, window_around_the_caret, deep_stacks, refusals_leak_nothing, code_names,
          nearest)
