/* The optimiser and dead code: text in, the text of what is left out. */
#include "code.h"
#include "exec.h"
#include "vm.h"
#include "machine.h"
#include <string.h>

static size_t code_bytes;

static void open_vm(void)
{
    ck_assert_ptr_nonnull(m = vm_open(NULL));
    code_bytes = m->mem.live[MEM_CODE];
}
static void close_vm(void)
{
    if (m->error) {
        text t;
        text_open(&t, &m->mem);
        diag_render(m->error, false, &t);
        ck_abort_msg("%s", text_str(&t));
    }
    code_blocks_close(m);
    ck_assert_uint_eq(m->mem.live[MEM_CODE], code_bytes);
    vm_close(m);
}

static void check_text(const code *c, const char *want)
{
    text t;
    text_open(&t, &m->mem);
    code_disassemble(c, &t);
    ck_assert_str_eq(text_str(&t), want);
    text_close(&t);
}

#define HEAD "fn f(x, y) {\n"
static void optimises(const char *body, const char *want)
{
    char s[4000], w[4000];
    snprintf(s, sizeof s, HEAD "%s}\n", body);
    snprintf(w, sizeof w, HEAD "%s}\n", want);
    code *c = assemble(s), *o = code_optimise(c);
    if (!o) close_vm();
    check_text(o, w);
    check_text(c, s); /* the original is as it was */
    code_release(c);
}

START_TEST(folding)
{
    open_vm();
    optimises("  %0 = const 2\n  %1 = const 3.5\n  %2 = prim mul %0, %1\n  return %2\n", "  %0 = const 7.0\n  return %0\n");
    optimises("  %0 = const 2\n  %1 = const 3\n  %2 = prim lt %0, %1\n  return %2\n", "  %0 = const true\n  return %0\n");
    optimises("  %0 = const 2i64\n  %1 = prim neg %0\n  %2 = prim add %1, %0\n  return %2\n", "  %0 = const 0i64\n  return %0\n");
    /* Errors, infinities and NaN stay where they were. */
    static const char *const stay[] = {"  %0 = const 9223372036854775807i64\n  %1 = prim add %0, %0\n  return x\n",
                                       "  %0 = const 1i64\n  %1 = const 0i64\n  %2 = prim floordiv %0, %1\n  return x\n",
                                       "  %0 = const 0\n  %1 = prim log %0\n  return %1\n",
                                       "  %0 = const -1.0\n  %1 = prim sqrt %0\n  return %1\n",
                                       "  %0 = const \"a\"\n  %1 = prim add %0, %0\n  return %1\n"};
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++) optimises(stay[i], stay[i]);
    close_vm();
}
END_TEST

START_TEST(sharing)
{
    open_vm();
    optimises("  a = prim mul x, y\n  b = prim mul x, y\n  c = prim add a, b\n  return c\n",
              "  a = prim mul x, y\n  c = prim add a, a\n  return c\n");
    /* Chains, tuples, and blocks within. */
    optimises("  a = prim exp x\n  b = prim exp a\n  c = prim exp x\n  d = prim exp c\n  %0 = tuple b, d\n  %1 = tuple d, b\n"
              "  %2 = tuple %0, %1\n  return %2\n",
              "  a = prim exp x\n  b = prim exp a\n  %0 = tuple b, b\n  %1 = tuple %0, %0\n  return %1\n");
    optimises("  a = prim exp x\n  b = if y {\n    c = prim exp x\n    yield c\n  } else { yield x }\n  return b\n",
              "  a = prim exp x\n  b = if y { yield a } else { yield x }\n  return b\n");
    /* One arm does not see the other's, and what follows sees neither. */
    static const char *const arms =
        "  a = if y {\n    b = prim exp x\n    yield b\n  } else {\n    c = prim exp x\n    %0 = prim neg c\n    yield %0\n  }\n"
        "  d = prim exp x\n  %1 = prim add a, d\n  return %1\n";
    optimises(arms, arms);
    /* Records of the same fields; other fields are other records. */
    optimises("  a = record w: x\n  b = record w: x\n  c = record v: x\n  %0 = tuple a, b, c\n  return %0\n",
              "  a = record w: x\n  c = record v: x\n  %0 = tuple a, a, c\n  return %0\n");
    /* Never: calls, closures, forced regions, tapes. */
    static const char *const never[] = {"  a = call x\n  b = call x\n  %0 = tuple a, b\n  return %0\n",
                                        "  a = force x\n  b = force x\n  %0 = tuple a, b\n  return %0\n",
                                        "  a = global g\n  b = global g\n  %0 = tuple a, b\n  return %0\n"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) optimises(never[i], never[i]);
    /* Not across the edge of a block that records. */
    static const char *const edge =
        "  a = prim exp x\n  b = checkpoint y {\n    c = prim exp x\n    yield c\n  }\n  d = prim add a, b\n  return d\n";
    optimises(edge, edge);
    close_vm();
}
END_TEST

START_TEST(forwarding)
{
    open_vm();
    optimises("  %0 = tuple x, y\n  a, b = unpack %0\n  return b\n", "  return y\n");
    /* A wrong count is an error when it runs. */
    static const char *const wrong = "  %0 = tuple x, y, x\n  a, b = unpack %0\n  return b\n";
    optimises(wrong, wrong);
    optimises("  p = record w: x, b: y\n  %0 = field b p\n  return %0\n", "  return y\n");
    static const char *const absent = "  p = record w: x, b: y\n  %0 = field c p\n  return x\n";
    optimises(absent, absent);
    optimises("  p = setfield w x, y\n  %0 = field w p\n  return %0\n", "  p = setfield w x, y\n  return y\n");
    optimises("  a = prim exp x\n  b = defined a a\n  c = defined y y\n  d = seldef b, b, y\n  %0 = tuple b, c, d\n  return %0\n",
              "  a = prim exp x\n  c = defined y y\n  %0 = tuple a, c, a\n  return %0\n");
    optimises("  %0 = const undef\n  a = seldef %0, %0, y\n  return a\n", "  return y\n");
    close_vm();
}
END_TEST

START_TEST(control)
{
    open_vm();
    optimises(
        "  %0 = const true\n  a = if %0 {\n    b = prim exp x\n    yield b\n  } else {\n    %1 = call x\n    yield %1\n  }\n  return a\n",
        "  b = prim exp x\n  return b\n");
    optimises("  a, b = if x { yield y, x } else { yield y, y }\n  %0 = tuple a, b\n  return %0\n",
              "  b = if x { yield x } else { yield y }\n  %0 = tuple y, b\n  return %0\n");
    /* A condition that is no constant is still checked. */
    optimises("  a = if x { yield y } else { yield y }\n  return a\n", "  if x { yield } else { yield }\n  return y\n");
    optimises("  %0 = const 3i64\n  s = loop.range %0, %0, x do (i, a) {\n    b = prim exp a\n    yield b\n  }\n  return s\n",
              "  return x\n");
    optimises("  %0 = const false\n  s = loop.while %0, x do (a) {\n    b = prim exp a\n    yield x, b\n  }\n  return s\n", "  return x\n");
    /* What a loop carries unchanged; what feeds only itself. */
    optimises("  s, t = loop.range x, y, x, y do (i, a, b) {\n    c = prim exp a\n    d = prim add c, b\n    yield d, b\n  }\n  %0 = tuple "
              "s, t\n  return %0\n",
              "  s = loop.range x, y, x do (i, a) {\n    c = prim exp a\n    d = prim add c, y\n    yield d\n  }\n  %0 = tuple s, y\n  "
              "return %0\n");
    optimises("  s, t = loop.range x, y, x, y do (i, a, b) {\n    c = prim.rule exp a\n    d = prim.rule exp b\n    yield c, d\n  }\n  "
              "return s\n",
              "  s = loop.range x, y, x do (i, a) {\n    c = prim.rule exp a\n    yield c\n  }\n  return s\n");
    optimises(
        "  s, t = loop.while x, x, y do (a, b) {\n    c = prim.rule exp a\n    d = prim lt a, y\n    yield d, c, d\n  }\n  return t\n",
        "  s, t = loop.while x, x, y do (a, b) {\n    c = prim.rule exp a\n    d = prim lt a, y\n    yield d, c, d\n  }\n  return t\n");
    optimises("  a = checkpoint (slots = 3) {\n    b = prim exp x\n    yield b\n  }\n  return a\n", "  b = prim exp x\n  return b\n");
    close_vm();
}
END_TEST

START_TEST(dead)
{
    open_vm();
    optimises("  %0 = const 1\n  %1 = tuple x\n  %2 = tuple %1\n  return x\n", "  return x\n");
    /* The user's own may fail, used or not. */
    static const char *const fails = "  a = prim add x, y\n  b = field w x\n  c, d = unpack y\n  return x\n";
    optimises(fails, fails);
    optimises("  a = prim.rule add x, y\n  b = field.rule w x\n  ~ c, d = unpack y\n  return x\n", "  return x\n");
    optimises("  a, b = if.rule x {\n    c = prim.rule exp y\n    yield c, x\n  } else { yield y, y }\n  return b\n",
              "  b = if.rule x { yield x } else { yield y }\n  return b\n");
    optimises("  a = if.rule x {\n    c = prim.rule exp y\n    yield c\n  } else { yield y }\n  return x\n", "  return x\n");
    /* Effects inside keep what is around them. */
    optimises("  a = if.rule x {\n    %0 = call y\n    yield %0\n  } else { yield y }\n  return x\n",
              "  if.rule x {\n    %0 = call y\n    yield\n  } else { yield }\n  return x\n");
    optimises("  ~ a, b = loop.tape x:2, y, y do (c, d, e, g) {\n    ~ h = prim __acc e, c\n    ~ k = prim __acc g, d\n    yield h, k\n  "
              "}\n  return a\n",
              "  ~ a = loop.tape x:2, y do (c, d, e) {\n    ~ h = prim __acc e, c\n    yield h\n  }\n  return a\n");
    close_vm();
}
END_TEST

/* code_drop_dead on a builder, with and without output. */
START_TEST(dropping)
{
    open_vm();
    for (int output = 0; output < 2; output++) {
        builder b;
        ck_assert(builder_open(&b, m, symbol_of(m->symbols, "f", 1), NULL, 0, 2));
        const reg *in = b.c->body->params;
        reg two[] = {in[0], in[1]};
        reg user = builder_prim(&b, prim_named("add"), 2, two);
        b.flags = INSTR_RULE;
        builder_prim(&b, prim_named("mul"), 2, two);
        b.flags = 0;
        builder_return(&b, 1, in);
        ck_assert(code_drop_dead(&b, output));
        code *c = builder_finish(&b);
        ck_assert_ptr_nonnull(c);
        ck_assert_uint_eq(c->body->n, output ? 1 : 2);
        if (!output) ck_assert_uint_eq(c->body->list[0]->dst[0], user);
        code_release(c);
    }
    close_vm();
}
END_TEST

/* Time is linear: long code, wide tuples, deep nesting. */
START_TEST(large)
{
    open_vm();
    text t;
    text_open(&t, &m->mem);
    text_puts(&t, "fn f(x) {\n");
    for (int i = 0; i < 100000; i++) text_printf(&t, "  %%%d = prim.rule exp %s%d\n", i, i ? "%" : "x #", i ? i - 1 : 0);
    text_puts(&t, "  return %99999\n}\n");
    code *c = code_assemble(m, "large", text_str(&t), t.n);
    ck_assert_ptr_nonnull(c);
    ck_assert_ptr_nonnull(code_optimise(c));
    code_release(c);
    text_clear(&t);
    text_puts(&t, "fn f(x) {\n");
    for (int i = 0; i < 900; i++) text_printf(&t, "%%%d = if x {\n", i);
    text_puts(&t, "yield x }");
    for (int i = 899; i > 0; i--) text_printf(&t, " else { yield x }\nyield %%%d }", i);
    text_puts(&t, " else { yield x }\nreturn %0 }");
    c = code_assemble(m, "deep", text_str(&t), t.n);
    if (!c) close_vm();
    ck_assert_ptr_nonnull(code_optimise(c));
    code_release(c);
    text_close(&t);
    close_vm();
}
END_TEST

/* Every refusal of memory on the way is an error without a leak. */
START_TEST(refusals)
{
    static const char *const s =
        "fn f(x, y) {\n  $0 = fn [c](z) {\n    return z\n  }\n  %0 = closure $0 x\n  a = prim mul x, y\n  b = prim mul x, y\n"
        "  s = checkpoint (save = [\"a\"]) { yield a }\n  %1 = const \"text\"\n  t = loop.range x, y, a do (i, c) {\n    d = prim add c, "
        "b\n"
        "    yield d\n  }\n  %2 = const 2\n  %3 = prim mul %2, %2\n  %4 = tuple %0, s, t, %1, %3\n  return %4\n}\n";
    for (uint64_t k = 1;; k++) {
        open_vm();
        size_t values = m->mem.live[MEM_VALUE], other = m->mem.live[MEM_OTHER];
        m->mem.fail_at = m->mem.count + k;
        code *c = code_assemble(m, "test", s, strlen(s)), *o = c ? code_optimise(c) : NULL;
        bool refused = m->mem.count >= m->mem.fail_at;
        ck_assert(refused || o);
        ck_assert(o || m->error);
        m->mem.fail_at = 0;
        code_release(c);
        diag_free(m->error);
        m->error = NULL;
        code_blocks_close(m);
        ck_assert_uint_eq(m->mem.live[MEM_VALUE], values);
        ck_assert_uint_eq(m->mem.live[MEM_OTHER], other);
        close_vm();
        if (!refused) break;
    }
}
END_TEST

/* --- random programs: optimised or not, the same result or the same error --------------------- */

typedef struct maker {
    text t;
    uint32_t seed;
    int n; /* registers in sight: %0 … %(n - 1) */
    int next, depth;
    int sight[400];
} maker;

static uint32_t draw(maker *k, uint32_t n)
{
    k->seed = k->seed * 1664525u + 1013904223u;
    return (k->seed >> 8) % n;
}
/* A register in sight, rather a late one. */
static int pick(maker *k)
{
    int a = (int)draw(k, (uint32_t)k->n), b = (int)draw(k, (uint32_t)k->n);
    return k->sight[a > b ? a : b];
}
static int fresh(maker *k) { return k->next++; }
static void see(maker *k, int r) { k->sight[k->n++] = r; }

static void make_block(maker *k, int lines, int yields, bool go);

static void make_line(maker *k)
{
    static const char *const constants[] = {"1",     "2.5",  "0",     "-3i64", "2i64", "0i64", "9223372036854775807i64", "0.1f32", "true",
                                            "false", "none", "\"s\"", "1f64",  "inf",  "undef"};
    static const char *const unary[] = {"neg", "exp", "abs", "not", "sqrt", "floor"};
    static const char *const binary[] = {"add", "sub", "mul", "div", "floordiv", "mod", "lt", "eq", "maximum", "and"};
    int r = fresh(k), s;
    switch (draw(k, k->depth < 3 ? 20 : 14)) {
    case 0:
    case 1:
    case 2: text_printf(&k->t, "%%%d = const %s\n", r, constants[draw(k, 15)]); break;
    case 3: text_printf(&k->t, "%%%d = prim %s %%%d\n", r, unary[draw(k, 6)], pick(k)); break;
    case 4:
    case 5:
    case 6:
    case 7: text_printf(&k->t, "%%%d = prim %s %%%d, %%%d\n", r, binary[draw(k, 10)], pick(k), pick(k)); break;
    case 8: text_printf(&k->t, "%%%d = tuple %%%d, %%%d\n", r, pick(k), pick(k)); break;
    case 9:
        s = fresh(k);
        text_printf(&k->t, "%%%d = tuple %%%d, %%%d\n", s, pick(k), pick(k));
        text_printf(&k->t, "%%%d, %%%d = unpack %%%d\n", r, fresh(k), s);
        see(k, s);
        break;
    case 10: text_printf(&k->t, "%%%d = record a: %%%d, b: %%%d\n", r, pick(k), pick(k)); break;
    case 11:
        s = fresh(k);
        text_printf(&k->t, "%%%d = record a: %%%d, b: %%%d\n%%%d = field %s %%%d\n", s, pick(k), pick(k), r, draw(k, 2) ? "a" : "b", s);
        see(k, s);
        break;
    case 12: text_printf(&k->t, "%%%d = seldef %%%d, %%%d, %%%d\n", r, pick(k), pick(k), pick(k)); break;
    case 13: text_printf(&k->t, "%%%d = defined x %%%d\n", r, pick(k)); break;
    case 14:
    case 15:
    case 16: {
        int c = pick(k);
        if (draw(k, 3)) text_printf(&k->t, "%%%d = const %s\n", c = fresh(k), draw(k, 2) ? "true" : "false");
        s = fresh(k);
        text_printf(&k->t, "%%%d, %%%d = if %%%d {\n", r, s, c);
        make_block(k, 4, 2, false);
        text_puts(&k->t, " else {\n");
        make_block(k, 4, 2, false);
        text_putc(&k->t, '\n');
        see(k, s);
        break;
    }
    case 17:
    case 18: {
        bool leaves = draw(k, 3) == 0;
        int lo = fresh(k), hi = fresh(k), i = fresh(k), a = fresh(k), b = fresh(k);
        s = fresh(k);
        text_printf(&k->t, "%%%d = const %di64\n%%%d = const %di64\n", lo, (int)draw(k, 3), hi, (int)draw(k, 5));
        text_printf(&k->t, "%%%d, %%%d = loop.range%s %%%d, %%%d, %%%d, %%%d do (%%%d, %%%d, %%%d) {\n", r, s, leaves ? ".exit" : "", lo,
                    hi, pick(k), pick(k), i, a, b);
        int n = k->n;
        see(k, i), see(k, a), see(k, b);
        make_block(k, 4, 2, leaves);
        k->n = n;
        text_putc(&k->t, '\n');
        see(k, s);
        break;
    }
    default:
        text_printf(&k->t, "%%%d = checkpoint {\n", r);
        make_block(k, 3, 1, false);
        text_putc(&k->t, '\n');
    }
    see(k, r);
}

static void make_block(maker *k, int lines, int yields, bool go)
{
    int n = k->n, c = 0;
    k->depth++;
    for (int j = (int)draw(k, (uint32_t)lines); j >= 0; j--) make_line(k);
    if (go) text_printf(&k->t, "%%%d = const %s\n", c = fresh(k), draw(k, 2) ? "true" : "false");
    text_puts(&k->t, "yield ");
    if (go) text_printf(&k->t, "%%%d, ", c);
    for (int j = 0; j < yields; j++) text_printf(&k->t, "%s%%%d", j ? ", " : "", pick(k));
    text_puts(&k->t, "\n}");
    k->depth--;
    k->n = n;
}

/* The outcome of a run: "value" in *out or the error's text. */
static bool outcome(const char *s, bool optimise, value *out, char *error, size_t size)
{
    m->config.optimise = optimise;
    code *c = code_assemble(m, "random", s, strlen(s));
    if (!c) ck_abort_msg("%s\n%s", m->error->message, s);
    bool fine = vm_run(m, c, out);
    *error = 0;
    if (!fine) {
        uint32_t line = 0, column = 0;
        if (m->error->nlabels) span_where(m->error->labels[0].at, &line, &column);
        snprintf(error, size, "%u:%u: %s", line, column, m->error->message);
        diag_free(m->error);
        m->error = NULL;
    }
    code_release(c);
    return fine;
}

START_TEST(random_programs)
{
    open_vm();
    int good = 0;
    for (uint32_t seed = 1; seed <= 4000; seed++) {
        maker k = {.seed = seed * 2654435761u};
        text_open(&k.t, &m->mem);
        text_puts(&k.t, "fn f() {\n");
        for (int j = 0; j < 3; j++) {
            text_printf(&k.t, "%%%d = const %s\n", k.next, j == 0 ? "2" : j == 1 ? "3.5f64" : "4i64");
            see(&k, fresh(&k));
        }
        for (int j = (int)draw(&k, 12); j >= 0; j--) make_line(&k);
        text_puts(&k.t, "all = tuple ");
        for (int j = 0; j < k.n; j++) text_printf(&k.t, "%s%%%d", j ? ", " : "", k.sight[j]);
        text_puts(&k.t, "\nreturn all\n}\n");
        value a = value_undef(), b = value_undef();
        char x[500], y[500];
        bool plain = outcome(text_str(&k.t), false, &a, x, sizeof x), optimised = outcome(text_str(&k.t), true, &b, y, sizeof y);
        ck_assert_msg(plain == optimised && strcmp(x, y) == 0, "%s\nplain: %s\noptimised: %s", text_str(&k.t), x, y);
        ck_assert_msg(!plain || value_same(a, b), "other values:\n%s", text_str(&k.t));
        good += plain;
        if (plain) value_release(m, a);
        if (optimised) value_release(m, b);
        text_close(&k.t);
    }
    ck_assert_int_gt(good, 400);
    close_vm();
}
END_TEST

UNIT_MAIN("opt", random_programs, folding, sharing, forwarding, control, dead, dropping, large, refusals)
