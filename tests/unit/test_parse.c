/* test_parse.c: text to tree. Each case gives a text and the S-expressions it must become (see
 * ast_dump), or the errors it must give: "line:column message" each, with the help behind a `|`. */
#include "parse.h"
#include "unit.h"
#include <string.h>

typedef struct outcome {
    memory m;
    symbols *syms;
    source *src;
    ast tree;
    diag *diags;
    bool ok, more;
    text dump, errors;
} outcome;

static void run(outcome *r, const char *s, size_t n, parse_options o)
{
    memset(r, 0, sizeof *r);
    ck_assert(memory_open(&r->m));
    r->syms = symbols_open(&r->m);
    r->src = source_new(&r->m, "test", s, n);
    r->ok = parse(&r->m, r->syms, r->src, &o, &r->tree, &r->diags, &r->more);
    text_open(&r->dump, &r->m);
    text_open(&r->errors, &r->m);
    ast_dump(&r->tree, &r->dump);
    for (diag *d = r->diags; d; d = d->next) {
        uint32_t line = 0, column = 0;
        if (d->nlabels) span_where(d->labels[0].at, &line, &column);
        text_printf(&r->errors, "%u:%u %s%s%s\n", (unsigned)line, (unsigned)column, d->message, d->help ? " | " : "",
                    d->help ? d->help : "");
    }
}

static void done(outcome *r)
{
    text_close(&r->dump);
    text_close(&r->errors);
    diag_free(r->diags);
    ast_close(&r->tree);
    source_release(r->src);
    symbols_close(r->syms);
    ck_assert_uint_eq(r->m.live_all, 0);
    memory_close(&r->m);
}

static void trees(const char *const (*cases)[2], size_t n, parse_options o)
{
    for (size_t i = 0; i < n; i++) {
        outcome r;
        run(&r, cases[i][0], strlen(cases[i][0]), o);
        ck_assert_msg(r.ok && !r.diags, "%s\ngave\n%s", cases[i][0], text_str(&r.errors));
        ck_assert_msg(!strcmp(text_str(&r.dump), cases[i][1]), "%s\ngave\n%swanted\n%s", cases[i][0], text_str(&r.dump), cases[i][1]);
        done(&r);
    }
}

/* Every line wanted must begin a line given, in order, and there are as many. */
static void faults(const char *const (*cases)[2], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        outcome r;
        run(&r, cases[i][0], strlen(cases[i][0]), (parse_options){0});
        const char *got = text_str(&r.errors), *want = cases[i][1];
        bool same = !r.ok;
        while (same && *want) {
            size_t k = strcspn(want, "\n");
            same = !strncmp(got, want, k);
            got += strcspn(got, "\n");
            got += *got == '\n';
            want += k + 1;
        }
        ck_assert_msg(same && !*got, "%s\ngave\n%swanted\n%s", cases[i][0], text_str(&r.errors), cases[i][1]);
        done(&r);
    }
}
#define TREES(cases) trees(cases, sizeof(cases) / sizeof *(cases), (parse_options){0})
#define FAULTS(cases) faults(cases, sizeof(cases) / sizeof *(cases))

START_TEST(tokens)
{
    static const char *const cases[][2] = {
        {"1; 2.5; 1e-3; 0xff; 1_000_000; 1.5E+2", "1\n2.5\n0.001\n255\n1000000\n150.0\n"},
        {"64KiB; 64MB; 1GiB; 2B; 1.5KB; 1TB", "65536\n64000000\n1073741824\n2\n1500.0\n1000000000000\n"},
        {"1..3; 1.5..2; x..n", "(.. 1 3)\n(.. 1.5 2)\n(.. x n)\n"},
        {"inf; nan", "inf\nnan\n"},
        {"\"a\\n\\t\\\\\\\"\\x41\\u{3b1}\"", "\"a\\n\\x09\\\\\\\"Aα\"\n"},
        {"α1 = ñ; x₁; _a; naïve", "(= α1 ñ)\nx₁\n_a\nnaïve\n"},
        {"x''; x'.w", "(' (' x))\n(.w (' x))\n"},
        {"# only\n#!x\n", ""},
        {"\xef\xbb\xbfx\r\ny\r\n", "x\ny\n"},
        {"save; slots; f32; name", "save\nslots\nf32\nname\n"},
    };
    TREES(cases);
}
END_TEST

START_TEST(precedence)
{
    static const char *const cases[][2] = {
        {"-x^2; 2^-x; a^b^c; 2^-x^y", "(neg (^ x 2))\n(^ 2 (neg x))\n(^ a (^ b c))\n(^ 2 (neg (^ x y)))\n"},
        {"a + b * c - d", "(- (+ a (* b c)) d)\n"},
        {"a / b // c % d @ e", "(@ (% (// (/ a b) c) d) e)\n"},
        {"not a == b and c or not not d", "(or (and (not (== a b)) c) (not (not d)))\n"},
        {"a..b + 1 < c", "(< (.. a (+ b 1)) c)\n"},
        {"-a' * - -b", "(* (neg (' a)) (neg (neg b)))\n"},
        {"a <= b; a >= b; a != b; (a > b)", "(<= a b)\n(>= a b)\n(!= a b)\n(> a b)\n"},
        {"x |> f; x |> f(y); x |> p.g(1)(2)", "(pipe f x)\n(pipe f x y)\n(pipe (call (.g p) 1) x 2)\n"},
        {"x |> (f(y)); a or b |> f |> g", "(pipe (call f y) x)\n(pipe g (pipe f (or a b)))\n"},
        {"x |> fn(y) { y } |> fn(z) = z |> g", "(pipe (fn (z) (pipe g z)) (pipe (fn (y) (block y)) x))\n"},
        {"f(x)(y)[z].w", "(.w (index (call (call f x) y) z))\n"},
        {"1 + (if (c) { 1 } else { 2 })", "(+ 1 (if c (block 1) (block 2)))\n"},
    };
    TREES(cases);
}
END_TEST

START_TEST(postfix_forms)
{
    static const char *const cases[][2] = {
        {"f(); f(a,); f(a, t..., k = 1, l = fn(x) = x,)", "(call f)\n(call f a)\n(call f a (spread t) (k: 1) (l: (fn (x) x)))\n"},
        {"x[i]; x[i, j,]; x[1:3]; x[:]; x[::2]; x[::-1]; x[1:]; x[:n]",
         "(index x i)\n(index x i j)\n(index x (: 1 3))\n(index x (: _ _))\n(index x (: _ _ 2))\n(index x (: _ _ (neg 1)))\n"
         "(index x (: 1 _))\n(index x (: _ n))\n"},
        {"x[..., 0]; x[none, :]; x[a:b:c, m]", "(index x ... 0)\n(index x none (: _ _))\n(index x (: a b c) m)\n"},
        {"(); (a,); (a, b); (a, b,); (a)", "(tuple)\n(tuple a)\n(tuple a b)\n(tuple a b)\na\n"},
        {"[]; [1, 2,]; {}; {w: 1, b: {c: 2,},}", "(array)\n(array 1 2)\n(record)\n(record (w: 1) (b: (record (c: 2))))\n"},
    };
    TREES(cases);
}
END_TEST

START_TEST(statements)
{
    static const char *const cases[][2] = {
        {"x = 1; x += 2; x -= 3; x *= 4; x /= 5; x ^= 6; x @= y", "(= x 1)\n(+= x 2)\n(-= x 3)\n(*= x 4)\n(/= x 5)\n(^= x 6)\n(@= x y)\n"},
        {"p.layers[2].w[0, :] = v; (a, (b.c, d[0])) = t; () = t",
         "(= (index (.w (index (.layers p) 2)) 0 (: _ _)) v)\n(= (tuple a (tuple (.c b) (index d 0))) t)\n(= (tuple) t)\n"},
        {"for (i in 0..3) { x += i; continue }", "(for i (.. 0 3) (block (+= x i) (continue)))\n"},
        {"for ((i, l) in e) { break }", "(for (tuple i l) e (block (break)))\n"},
        {"while (true) { }", "(while true (block))\n"},
        {"if (a) { 1 } else if (b) { 2 } else { 3 }", "(if a (block 1) (if b (block 2) (block 3)))\n"},
        {"y = if (a) { 1 }; return if (b) { 2 }; return", "(= y (if a (block 1)))\n(return (if b (block 2)))\n(return)\n"},
        {"import \"nn\"; import \"./a/my.rl\"; import \"x-y\" as z", "(import \"nn\" nn)\n(import \"./a/my.rl\" my)\n(import \"x-y\" z)\n"},
        {"fn f(x: [n, 3, _], y: f32[...], z: i64 = 1, w = 2) -> bool[n] = x", "(fn f (x:[n 3 _] y:f32[...] z:i64= w=) -> bool[n] 1 2 x)\n"},
        {"fn f() { 1; 2 }; g = fn(x) -> [] { x }", "(fn f () (block 1 2))\n(= g (fn (x) -> [] (block x)))\n"},
        {"fn f(x) -> f64 { x }", "(fn f (x) -> f64 (block x))\n"},
    };
    TREES(cases);
}
END_TEST

START_TEST(newlines)
{
    static const char *const cases[][2] = {
        {"a\n- b\n(c)\n[d]", "a\n(neg b)\nc\n(array d)\n"},
        {"a -\nb\nx = \n# why\n\n 3", "(- a b)\n(= x 3)\n"},
        {"f(a\n, b\n)\n[1,\n2]\n{a:\n1}", "(call f a b)\n(array 1 2)\n(record (a: 1))\n"},
        {"if (a)\n{\n1\n}\n\nelse\nif (b)\n{ 2 }\n# c\nelse\n{ 3 }", "(if a (block 1) (if b (block 2) (block 3)))\n"},
        {"fn f(x)\n-> [n]\n= x\nfn g(x)\n{ x }\nfn h() ->\nf32\n{ 1 }",
         "(fn f (x) -> [n] x)\n(fn g (x) (block x))\n(fn h () -> f32 (block 1))\n"},
        {"while (a\n and b)\n{ }\nfor (i in\n x)\n{ }", "(while (and a b) (block))\n(for i x (block))\n"},
        {"x\n  |> f\n  |> g(1)", "(pipe g (pipe f x) 1)\n"},
        {"f(fn(x) {\n a\n -b\n}, checkpoint <\n c\n [d]\n>)", "(call f (fn (x) (block a (neg b))) (checkpoint (block c (array d))))\n"},
        {";;a;\n;b;;", "a\nb\n"},
        {"{a: fn() { ;x\n\ny; }}", "(record (a: (fn () (block x y))))\n"},
        {"(a >\n b)\nnot\na", "(> a b)\n(not a)\n"},
        {"p.\nw\na <\nb", "(.w p)\n(< a b)\n"},
        {"return\nx", "(return)\nx\n"},
    };
    TREES(cases);
}
END_TEST

START_TEST(checkpoints)
{
    static const char *const cases[][2] = {
        {"checkpoint < h = f(x); g(h) >", "(checkpoint (block (= h (call f x)) (call g h)))\n"},
        {"y = checkpoint <>\nz = checkpoint<x>", "(= y (checkpoint (block)))\n(= z (checkpoint (block x)))\n"},
        {"checkpoint (save = [\"a\", \"b\"], slots = n, budget = 64MB, spill = true) < x >",
         "(checkpoint (block x) (save: (array \"a\" \"b\")) (slots: n) (budget: 64000000) (spill: true))\n"},
        {"checkpoint (save = not_names([\"a\"]))\n<\n x\n>", "(checkpoint (block x) (save: (call not_names (array \"a\"))))\n"},
        {"checkpoint < checkpoint < checkpoint < a >>>", "(checkpoint (block (checkpoint (block (checkpoint (block a))))))\n"},
        {"checkpoint < (a > b); f(a > b); [a > b]; {k: a > b}; x[a > b]; if (a > b) { a > b } >",
         "(checkpoint (block (> a b) (call f (> a b)) (array (> a b)) (record (k: (> a b))) (index x (> a b)) (if (> a b) (block (> a "
         "b)))))\n"},
        {"checkpoint < a < b >; checkpoint < a >= b >", "(checkpoint (block (< a b)))\n(checkpoint (block (>= a b)))\n"},
        {"1 + (checkpoint < x >); (checkpoint < x >) > y", "(+ 1 (checkpoint (block x)))\n(> (checkpoint (block x)) y)\n"},
        {"checkpoint < x |> fn(y) -> [n] = y >", "(checkpoint (block (pipe (fn (y) -> [n] y) x)))\n"},
        {"f(checkpoint < a >, checkpoint < b >)", "(call f (checkpoint (block a)) (checkpoint (block b)))\n"},
        {"checkpoint < if (a) { 1 }\n else { 2 } >", "(checkpoint (block (if a (block 1) (block 2))))\n"},
    };
    TREES(cases);
}
END_TEST

START_TEST(internal_modules)
{
    static const char *const cases[][2] = {{"fn f(a, args...) = __g(args...)", "(fn f (a args...) (call __g (spread args)))\n"}};
    trees(cases, 1, (parse_options){.internal = true});
}
END_TEST

START_TEST(help_of_functions)
{
    static const struct {
        const char *text, *help;
    } cases[] = {
        {"# one\n#  two\nfn f() = 1", "one\n two"}, {"x = 1 # no\nfn f() = 1", NULL}, {"# far\n\nfn f() = 1", NULL},
        {"# far\n\n# near\n  fn f() = 1", "near"},  {"#! script\nfn f() = 1", NULL},  {"## a\r\n#\r\n# b\r\nfn f() = 1", "a\n\nb"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome r;
        run(&r, cases[i].text, strlen(cases[i].text), (parse_options){0});
        const node *n = r.tree.main->body->list;
        while (n->next) n = n->next;
        ck_assert_int_eq(n->kind, N_FN);
        ck_assert_pstr_eq(n->fn->help, cases[i].help);
        done(&r);
    }
}
END_TEST

START_TEST(spans)
{
    outcome r;
    const char *s = "x = (a + b) * f(c)[1].w";
    run(&r, s, strlen(s), (parse_options){0});
    const node *n = r.tree.main->body->list, *mul = n->b, *field = mul->b;
    ck_assert_uint_eq(n->at.lo, 0);
    ck_assert_uint_eq(n->at.hi, 23);
    ck_assert_uint_eq(mul->at.lo, 4);
    ck_assert_uint_eq(mul->op_at.lo, 12);
    ck_assert_uint_eq(mul->a->at.lo, 5);
    ck_assert_uint_eq(mul->a->at.hi, 10);
    ck_assert_uint_eq(field->at.lo, 14);
    ck_assert_uint_eq(field->op_at.lo, 22);
    ck_assert_uint_eq(field->a->op_at.lo, 18);
    done(&r);
}
END_TEST

START_TEST(token_errors)
{
    static const char *const cases[][2] = {
        {"x = 1.", "1:5 a number needs a digit after its point | write `1.0`\n"},
        {"x = .5 + 1.", "1:5 a number needs a digit before its point | write `0.5`\n1:10 a number needs a digit after its point\n"},
        {"t.0", "1:2 a field is a name | an element is indexed as `[0]`\n"},
        {"2x", "1:1 a number cannot be followed directly by a letter | to multiply, write `2 * x`\n"},
        {"64kb", "1:1 a number cannot be followed directly by a letter | a size is written `64KB`\n"},
        {"1__0", "1:1 underscores in a number stand between digits\n"},
        {"1e", "1:1 a number cannot be followed directly by a letter | an exponent needs digits: `1e3`\n"},
        {"1.2.3", "1:1 a number has one point\n"},
        {"0b1", "1:1 a number cannot be followed directly by a letter | numbers are written in decimal\n"},
        {"1e999", "1:1 this number is larger than any float\n"},
        {"s = \"abc\nt = 1", "1:5 this string has no closing `\"` on its line\n"},
        {"s = \"a\\q\"", "1:7 unknown escape in a string\n"},
        {"\"\\xg0\"; \"\\xff\"; \"\\u{110000}\"; \"\\u1\"",
         "1:2 `\\x` needs two\n1:10 `\\x` goes up to 7f\n1:18 this is not a code point\n1:32 `\\u` needs\n"},
        {"a && b || !c ** 2", "1:3 there is no operator `&&` | write `and`\n1:8 there is no operator `||` | write `or`\n"
                              "1:11 `!` means nothing here | write `not x`\n1:14 there is no operator `**` | write `^`\n"},
        {"s = 'abc'\nx = 1 1",
         "1:5 `'` is transposition and stands behind a value | strings are written with double quotes\n2:7 expected a newline\n"},
        {"x = a ≤ b", "1:7 `≤` (U+2264) means nothing here | write `<=`\n"},
        {"x = $a", "1:5 `$` means nothing here\n"},
        {"__x = 1", "1:1 names starting with `__` belong to Replay itself\n"},
        {"é = 1.", "1:5 a number needs a digit after its point\n"},
    };
    FAULTS(cases);
}
END_TEST

START_TEST(bytes)
{
    static const struct {
        const char *s;
        size_t n;
        const char *error;
    } cases[] = {
        {"ab\n\xff", 4, "2:1 the text is not valid UTF-8: byte 0xff at offset 3 | save the file as UTF-8\n"},
        {"ab\0c", 4, "1:3 the text has a NUL byte at offset 2 | remove it; in a string write \\0\n"},
        {"# \xc0\x80", 4, "1:3 the text is not valid UTF-8: byte 0xc0 at offset 2 | save the file as UTF-8\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome r;
        run(&r, cases[i].s, cases[i].n, (parse_options){0});
        ck_assert(!r.ok);
        ck_assert_str_eq(text_str(&r.errors), cases[i].error);
        done(&r);
    }
}
END_TEST

START_TEST(bracket_errors)
{
    static const char *const cases[][2] = {
        {"f(a]\nb", "1:4 expected `)` to close the `(` opened at 1:2, found `]`\n"},
        {"x = [1, 2", "1:5 expected `]` to close the `[` opened at 1:5, found the end of the text\n"},
        {"fn f() {\n  x", "1:8 expected `}` to close the `{` opened at 1:8, found the end of the text\n"},
        {"y = checkpoint <\n  a\nz = 1", "1:5 expected `>` to close the `checkpoint <` opened at 1:5, found the end of the text\n"},
        {"fn f() {\n y = checkpoint < a\n}", "3:1 expected `>` to close the `checkpoint <` opened at 2:6, found `}`\n"},
        {"x = )\ny = 1 1", "1:5 this `)` closes nothing\n2:7 expected a newline or `;` after `1`, found `1`\n"},
        {"x = (1 + 2\ny = 3\nz = 4 4", "2:1 expected `,` or `)` to close the `(` opened at 1:5, found `y`\n3:7 expected a newline\n"},
        {"f(a\n  b)\nc d", "2:3 expected `,` or `)` to close the `(` opened at 1:2, found `b`\n3:3 expected a newline\n"},
        {"(1; 2)", "1:3 expected `,` or `)` to close the `(` opened at 1:1, found `;`\n"},
        {"y = checkpoint < a > b >\nx = 1 1", "1:20 `>` closes the `checkpoint <` opened at 1:5 and nothing can follow it here | directly "
                                              "inside a checkpoint block put a greater-than\n"
                                              "2:7 expected a newline\n"},
    };
    FAULTS(cases);
}
END_TEST

START_TEST(syntax_errors)
{
    static const char *const cases[][2] = {
        {"x = 1 +", "1:8 expected an expression after `+`, found the end of the text\n"},
        {"x = 3 y = 4", "1:7 expected a newline or `;` after `3`, found `y`\n"},
        {"if (x = 3) { }\ny = = 3\nz = 4 4\nw", "1:7 `=` assigns and cannot stand in a condition | to compare, write `==`\n"
                                                "2:5 expected an expression after `=`, found `=`\n3:7 expected a newline\n"},
        {"a < b < c", "1:7 comparisons are not chained | write `a < b and b < c`\n"},
        {"a + b[1 < 2] == f(3)[1]^2 < c", "1:27 comparisons are not chained\n"},
        {"1 + if (a) { 1 }", "1:5 `if` is an operand of other operators only in parentheses\n"},
        {"if (a) { 1 } + 2", "1:14 `+` cannot follow here: `if`, `fn` and `checkpoint` are operands of operators only in parentheses\n"},
        {"checkpoint < a > + 1", "1:18 `+` cannot follow here\n"},
        {"x >\n 3", "1:4 a greater-than comparison does not go on on the next line\n"},
        {"in = 3; p.if; f(as = 1); fn or() = 1",
         "1:1 `in` is a keyword and cannot be a name\n1:11 `if` is a keyword and cannot be a name\n"
         "1:17 `as` is a keyword and cannot be a name\n1:29 `or` is a keyword and cannot be a name\n"},
        {"def f(x): x", "1:1 `def` is no keyword of Replay | a function is `fn f(x) = …`\n"},
        {"f = lambda x: x", "1:5 `lambda` is no keyword of Replay | a function without a name is `fn(x) = …`\n"},
        {"if (a) { 1 }\nelif (b) { 2 }\nc", "2:1 `elif` is no keyword of Replay | write `else if (…) { … }`\n"},
        {"if (a) { 1 } elif (b) { 2 }", "1:14 `elif` is no keyword of Replay\n"},
        {"let x = 3", "1:1 `let` is no keyword of Replay | a name is given by `x = …` alone\n"},
        {"while x < 3 { }", "1:7 expected `(` after `while`, found `x` | a condition always stands in parentheses\n"},
        {"if (a) b", "1:8 expected `{`, found `b` | a body always stands in braces\n"},
        {"for (i = 0; i < 3) { }", "1:8 expected `in` after `i`, found `=`\n"},
        {"checkpoint { a }", "1:12 expected `<` to open the checkpoint block, found `{`\n"},
        {"checkpoint (f(x), k = g(1)) < >", "1:13 expected an option of the form `name = value`\n1:23 an option's value is a literal\n"},
        {"f(a = 1, 2); f(a = 1, a = 2); {a: 1, a: 2}; fn g(x, x) = x",
         "1:10 a positional argument after a named one\n1:23 the argument `a` is given twice\n1:38 the field `a` is given twice\n1:53 two "
         "parameters are called `x`\n"},
        {"1 = x; (a, f(x)) = y; true = 1; (a, b) += 1; f().x = 1",
         "1:1 a literal cannot be assigned to\n1:12 the result of a call cannot be assigned to\n1:23 `true` is a keyword and cannot be "
         "assigned to\n"
         "1:33 a tuple of targets takes a plain `=`\n1:46 the result of a call cannot be assigned to\n"},
        {"import nn", "1:8 expected the module's name in quotes, found `nn`\n"},
        {"import \"a-b\"", "1:8 the module's file name is not a name it could be bound to\n"},
        {"a, b = t", "1:2 expected a newline or `;` after `a`, found `,` | a tuple stands in parentheses: `(a, b)`\n"},
        {"x++", "1:2 there is no operator `++` | write `x += 1`\n"},
        {"// x", "1:1 a statement cannot start with an operator | comments start with `#`\n"},
        {"print x", "1:7 expected a newline or `;` after `print`, found `x` | a call has parentheses: `f(x)`\n"},
        {"fn f(x) x", "1:9 expected `=` or `{` before the function's body, found `x`\n"},
        {"g = fn f(x) = x", "1:8 a function with a name is a statement of its own\n"},
        {"fn f(a...) = a", "1:6 rest parameters are for the modules that come with Replay\n"},
        {"fn f(a = 1, b) = a", "1:13 a parameter without a default after one that has one\n"},
        {"fn f(x: n) = x", "1:9 `n` is no dtype\n"},
        {"else { }", "1:1 this `else` has no `if` before it\n"},
        {"x |> f + 1", "1:8 expected a newline or `;` after `f`, found `+`\n"},
        {"{a: 1, b}", "1:9 expected `:` after `b`, found `}`\n"},
        {"if (x) { y ) } z", "1:12 this `)` closes nothing\n1:16 expected a newline or `;` after `}`, found `z`\n"},
        {"f(fn() {\n y = = 3\n z\n}, 3 4)\nw w",
         "2:6 expected an expression after `=`, found `=`\n4:6 expected `,` or `)`\n5:3 expected a newline\n"},
    };
    FAULTS(cases);
}
END_TEST

START_TEST(statements_around_errors_stay)
{
    outcome r;
    const char *s = "a = 1\nb = = 2\nc = 3\nfn f() {\n d\n e e\n g\n}\nh";
    run(&r, s, strlen(s), (parse_options){0});
    ck_assert(!r.ok);
    ck_assert_str_eq(text_str(&r.dump), "(= a 1)\n(error)\n(= c 3)\n(fn f () (block d (error) g))\nh\n");
    done(&r);
}
END_TEST

START_TEST(repl_needs_more)
{
    static const char *const more[] = {"f(",     "x = 1 +",           "if (a)",           "fn f(x)",
                                       "x =\n",  "checkpoint",        "checkpoint < a\n", "a\n|>",
                                       "{a: 1,", "if (a) { 1 } else", "fn f() {\n x\n"};
    static const char *const whole[] = {"", "x", "if (a) { 1 }", "f(1)\n\n", "# c"};
    static const char *const wrong[] = {"a >", "f(1 2", "x = (1]", "fn", "\"abc", "x = = (", "1."};
    outcome r;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        run(&r, more[i], strlen(more[i]), (parse_options){.repl = true});
        ck_assert_msg(r.more && !r.diags, "%s", more[i]);
        done(&r);
    }
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        run(&r, whole[i], strlen(whole[i]), (parse_options){.repl = true});
        ck_assert_msg(!r.more && r.ok, "%s", whole[i]);
        done(&r);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        run(&r, wrong[i], strlen(wrong[i]), (parse_options){.repl = true});
        ck_assert_msg(!r.more && !r.ok && r.diags, "%s", wrong[i]);
        done(&r);
    }
}
END_TEST

/* open, then middle n times, then end, then close n times. */
static void repeated(const char *open, const char *middle, const char *end, const char *close, size_t n, const char *error)
{
    size_t lo = strlen(open), lm = strlen(middle), le = strlen(end), lc = strlen(close), k = 0;
    char *s = malloc(lo + le + n * (lm + lc) + 1);
    memcpy(s, open, lo), k += lo;
    for (size_t i = 0; i < n; i++) memcpy(s + k, middle, lm), k += lm;
    memcpy(s + k, end, le), k += le;
    for (size_t i = 0; i < n; i++) memcpy(s + k, close, lc), k += lc;
    outcome r;
    run(&r, s, k, (parse_options){0});
    if (error) ck_assert_msg(!r.ok && strstr(text_str(&r.errors), error), "%s%s…: %s", open, middle, text_str(&r.errors));
    else ck_assert_msg(r.ok, "%s%s…: %s", open, middle, text_str(&r.errors));
    free(s);
    done(&r);
}

START_TEST(long_and_deep)
{
    size_t n = 100000;
    repeated("x = a", "+a", "", "", n, NULL);
    repeated("f", "(1)", "", "", n, NULL);
    repeated("a", ".b", "", "", n, NULL);
    repeated("if (a) { }", " else if (b) { }", "", "", n, NULL);
    repeated("", "x = 1\n", "", "", n, NULL);
    repeated("f(", "a,", "", "", n, "expected `)`");
    repeated("", "(", "1", ")", n, NULL);
    repeated("", "(", "", "", n, "to close the `(` opened at 1:100000");
    repeated("", "[", "1", "]", 900, NULL);
    repeated("", "[", "1", "]", n, "nested more than");
    repeated("", "-", "1", "", n, "nested more than");
    repeated("x", "'", "", "", n, "nested more than");
    repeated("", "a^", "1", "", n, "nested more than");
    repeated("", "fn() = ", "1", "", n, "nested more than");
    repeated("", "checkpoint < ", "1", ">", n, "nested more than");
    repeated("", "f(a]\n", "", "", n, "opened at 20:2");
    repeated("", "}", "", "", n, "closes nothing");
}
END_TEST

static bool everything(memory *m)
{
    static const char s[] = "# help\nfn f(x: [n, d], y = 1) -> f32[n] { \"a\\n\"; x[1:, ...]' }\n"
                            "(a, b.c) = checkpoint (save = [\"a\"]) < g(t..., k = {w: 1_0.5}) >\nif (a) { 1 } else if (b) { } else { 2 }\n"
                            "import \"nn\"; x |> f |> fn(y) = y; 2 2; (1]\nz && \"\\q\"";
    symbols *syms = symbols_open(m);
    source *src = syms ? source_new(m, "test", s, sizeof s - 1) : NULL;
    bool reached = false;
    if (src) {
        ast t;
        diag *d;
        bool ok = parse(m, syms, src, NULL, &t, &d, NULL);
        ck_assert(!ok);
        reached = d != NULL;
        text out;
        text_open(&out, m);
        ast_dump(&t, &out); /* whatever was built is whole */
        text_close(&out);
        diag_free(d);
        ast_close(&t);
        source_release(src);
    }
    if (syms) symbols_close(syms);
    return reached;
}

START_TEST(refused_memory) { unit_fail_each(everything); }
END_TEST

UNIT_MAIN("parse", tokens, precedence, postfix_forms, statements, newlines, checkpoints, internal_modules, help_of_functions, spans,
          token_errors, bytes, bracket_errors, syntax_errors, statements_around_errors_stay, repl_needs_more, long_and_deep, refused_memory)
