/* The interpreter: straight lines, branches, loops, calls, slots and last uses, errors and unwinding. */
#include "exec.h"
#include "run.h"
#include "machine.h"
#include <math.h>
#include <string.h>

static size_t base;       /* bytes held before a program ran */
static char output[4096]; /* what print wrote */

static bool collect(void *ctx, const char *s, size_t n)
{
    size_t have = strlen(output);
    if (have + n < sizeof output) memcpy(output + have, s, n), output[have + n] = 0;
    return true;
}

static void open_with(bool optimise, bool trace)
{
    vm_config c = vm_config_default();
    c.optimise = optimise;
    c.trace_nan = trace;
    c.write = collect;
    output[0] = 0;
    ck_assert_ptr_nonnull(m = vm_open(&c));
}
static void open_vm(void) { open_with(true, false); }

static void check_runs(code *c)
{
    const run *r = run_of(m, c);
    ck_assert_msg(r != NULL, "%s", error_text());
    if (!run_check(m, r)) {
        text t;
        text_open(&t, &m->mem);
        run_list(r, &t);
        ck_assert_msg(0, "%s\n%s", error_text(), text_str(&t));
    }
    for (uint32_t i = 0; i < c->ncodes; i++) check_runs(c->codes[i]);
}

static code *assemble_checked(const char *s)
{
    code *c = assemble(s);
    check_runs(c);
    return c;
}

/* Runs once to warm what is made lazily (run forms, rules), then again: nothing may stay behind. */
static value run_twice(code *c)
{
    value out = value_undef();
    for (int k = 0; k < 2; k++) {
        value_release(m, out);
        base = m->mem.live_all;
        bool fine = vm_run(m, c, &out);
        ck_assert_msg(fine, "%s", error_text());
        ck_assert(m->exec->frame == NULL && m->exec->depth == 0 && m->gradient_depth == 0 && m->mute == 0);
        if (k && !value_is_heap(out)) ck_assert_uint_eq(m->mem.live_all, base);
    }
    return out;
}

static value run_text(const char *s)
{
    code *c = assemble_checked(s);
    value v = run_twice(c);
    code_release(c);
    return v;
}

static double run_number(const char *s)
{
    value v = run_text(s);
    ck_assert_msg(value_is_scalar(v), "a %s", value_type_name(v));
    return value_is_float(v) ? v.u.f : (double)v.u.i;
}

/* It fails with a message that has each of the parts, and leaves nothing. */
static void fails(const char *s, int n, const char *const *parts)
{
    code *c = assemble_checked(s);
    for (int k = 0; k < 2; k++) {
        value out;
        size_t before[MEM_TAGS];
        memcpy(before, m->mem.live, sizeof before);
        ck_assert(!vm_run(m, c, &out));
        for (int i = 0; i < n; i++) ck_assert_msg(strstr(error_text(), parts[i]) != NULL, "%s\nlacks: %s", error_text(), parts[i]);
        clear_error();
        ck_assert(m->exec->frame == NULL && m->gradient_depth == 0 && m->mute == 0);
        static const char *const tags[] = {"array", "residual", "value", "code", "ast", "frame", "text", "other"};
        for (int i = 0; k && i < MEM_TAGS; i++)
            ck_assert_msg(m->mem.live[i] == before[i], "%s: %zu bytes, before %zu", tags[i], m->mem.live[i], before[i]);
    }
    code_release(c);
}
#define FAILS(s, ...) fails(s, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), (const char *[]){__VA_ARGS__})

static void close_vm(void)
{
    clear_error();
    vm_close(m);
}

/* --- scalars -------------------------------------------------------------------------------- */

static const struct {
    const char *text;
} scalars[] = {
    {"3"},
    {"2.5"},
    {"3i64"},
    {"-7i64"},
    {"2.5f64"},
    {"0.1f32"},
    {"0.1"},
    {"3f32"},
    {"0"},
    {"0.0"},
    {"0f64"},
    {"-0.0f64"},
    {"9007199254740993i64"},
    {"9223372036854775807i64"},
    {"true"},
    {"zero"},
    {"inf"},
    {"nan"},
};
static const char *const operators[] = {"add", "sub", "mul", "div", "lt", "le", "gt", "ge", "eq", "ne", "__zmul", "__acc"};

/* The paths inside the loop give exactly what prim_apply gives, or the same error. */
START_TEST(scalar_paths)
{
    open_vm();
    enum { N = sizeof scalars / sizeof *scalars, P = sizeof operators / sizeof *operators };
    for (int p = 0; p < P; p++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                char s[300];
                /* Through a call, so that nothing is folded. */
                snprintf(s, sizeof s,
                         "fn main() {\n  $0 = fn f(x, y) {\n    %%0 = prim %s x, y\n    return %%0\n  }\n"
                         "  f = closure $0\n  a = const %s\n  b = const %s\n  %%1 = call f, a, b\n  return %%1\n}\n",
                         operators[p], scalars[i].text, scalars[j].text);
                code *c = code_assemble(m, "test", s, strlen(s));
                if (!c) { /* no such constant in the assembler's language */
                    clear_error();
                    continue;
                }
                value got, want, args[2] = {c->consts[0], c->consts[1]};
                if (!strcmp(scalars[i].text, scalars[j].text)) args[1] = args[0];
                bool fine = vm_run(m, c, &got);
                char message[300] = "";
                if (!fine) snprintf(message, sizeof message, "%s", m->error->message);
                clear_error();
                const char *name = operators[p];
                bool expect = prim_apply(m, prim_named(name), args, 2, 0, &want);
                ck_assert_msg(fine == expect, "%s of %s and %s", name, scalars[i].text, scalars[j].text);
                if (fine) {
                    bool same = got.tag == want.tag && got.weak == want.weak && (!value_is_scalar(got) || got.u.i == want.u.i);
                    ck_assert_msg(same, "%s of %s and %s: %d/%d %.17g, expected %d/%d %.17g", name, scalars[i].text, scalars[j].text,
                                  got.tag, got.weak, got.u.f, want.tag, want.weak, want.u.f);
                } else ck_assert_str_eq(message, m->error->message);
                clear_error();
                code_release(c);
            }
    close_vm();
}
END_TEST

/* --- control -------------------------------------------------------------------------------- */

START_TEST(branches)
{
    open_vm();
    const char *s = "fn main() {\n  $0 = fn f(x, y) {\n    %%0 = prim lt x, y\n    a, b = if %%0 { yield x, y } else {\n"
                    "      %%1 = prim neg x\n      yield y, %%1\n    }\n    %%2 = prim sub a, b\n    return %%2\n  }\n"
                    "  f = closure $0\n  x = const %d\n  y = const %d\n  %%1 = call f, x, y\n  return %%1\n}\n";
    char t[500];
    snprintf(t, sizeof t, s, 2, 5);
    ck_assert_double_eq(run_number(t), -3);
    snprintf(t, sizeof t, s, 5, 2);
    ck_assert_double_eq(run_number(t), 7);
    FAILS("fn main() {\n  n = const 3i64\n  x = prim zeros n\n  %0 = prim lt x, n\n  %1 = if %0 { yield n } else { yield x }\n  return "
          "%1\n}\n",
          "one bool", "bool[3]", "any(");
    FAILS("fn main() {\n  n = const 3i64\n  %1 = if n { yield n } else { yield n }\n  return %1\n}\n", "must be a bool", "number");
    close_vm();
}
END_TEST

START_TEST(loops)
{
    open_vm();
    /* a swap of carried values */
    ck_assert_double_eq(run_number(
                            "fn main() {\n  n = const 90i64\n  z = const 0i64\n  o = const 1i64\n"
                            "  a, b = loop.range z, n, z, o do (i, s, t) {\n    %1 = prim add s, t\n    yield t, %1\n  }\n  return a\n}\n"),
                        2880067194370816120.0);
    /* three values in a circle, one of them twice */
    ck_assert_double_eq(
        run_number(
            "fn main() {\n  n = const 7i64\n  z = const 0i64\n  a = const 1\n  b = const 2\n  c = const 3\n"
            "  p, q, r = loop.range z, n, a, b, c do (i, x, y, w) { yield y, w, x }\n"
            "  k = const 10\n  %1 = prim mul p, k\n  %2 = prim add %1, q\n  %3 = prim mul %2, k\n  %4 = prim add %3, r\n  return %4\n}\n"),
        231);
    /* never runs; runs once; ends early */
    ck_assert_double_eq(
        run_number("fn main() {\n  n = const 0i64\n  a = const 5\n  p = loop.range n, n, a do (i, x) {\n    yield i\n  }\n  return p\n}\n"),
        5);
    ck_assert_double_eq(
        run_number("fn main() {\n  lo = const -9223372036854775807i64\n  o = const 1i64\n  lo.2 = prim sub lo, o\n  a = const 5i64\n"
                   "  p = loop.range lo.2, lo, a do (i, x) {\n    %1 = prim add x, o\n    yield %1\n  }\n  return p\n}\n"),
        6);
    ck_assert_double_eq(
        run_number("fn main() {\n  z = const 0i64\n  n = const 100i64\n  k = const 7i64\n  p = loop.range.exit z, n, z do (i, x) {\n"
                   "    %1 = prim lt i, k\n    yield %1, i\n  }\n  return p\n}\n"),
        7);
    ck_assert_double_eq(run_number("fn main() {\n  x = const 1f64\n  t = const true\n  c = const 1000f64\n  p = loop.while t, x do (s) {\n"
                                   "    %1 = prim add s, s\n    %2 = prim lt %1, c\n    yield %2, %1\n  }\n  return p\n}\n"),
                        1024);
    /* the flag is itself carried */
    ck_assert_double_eq(run_number(
                            "fn main() {\n  t = const true\n  f = const false\n  p, q = loop.while t, t, f do (a, b) { yield a, b, b }\n"
                            "  %1 = if p { yield p } else { yield q }\n  return %1\n}\n"),
                        0);
    /* a million iterations, nested, with a branch */
    ck_assert_double_eq(run_number(
                            "fn main() {\n  z = const 0i64\n  n = const 1000i64\n  s = loop.range z, n, z do (i, a) {\n"
                            "    b = loop.range z, n, a do (j, x) {\n      %1 = prim lt j, i\n      %2 = if %1 {\n        o = const 1i64\n"
                            "        %3 = prim add x, o\n        yield %3\n      } else { yield x }\n      yield %2\n    }\n    yield b\n  "
                            "}\n  return s\n}\n"),
                        499500);
    close_vm();
}
END_TEST

START_TEST(interrupt)
{
    open_vm();
    code *c = assemble_checked("fn main() {\n  t = const true\n  loop.while t do () { yield t }\n  return t\n}\n");
    value out;
    m->interrupt = 1;
    ck_assert(!vm_run(m, c, &out));
    ck_assert_int_eq(m->error->code, DIAG_INTERRUPT);
    code_release(c);
    close_vm();
}
END_TEST

/* --- in place, and early release ------------------------------------------------------------- */

START_TEST(updates_in_place)
{
    open_vm();
    /* One buffer for the whole loop: array bytes never go beyond one array and a header or two. */
    const char *s = "fn main() {\n  n = const 100000i64\n  z = const 0i64\n  x = prim zeros n\n  y = loop.range z, n, x do (i, s) {\n"
                    "    %1 = prim mul i, i\n    %2 = prim __setindex s, i, %1\n    yield %2\n  }\n  return y\n}\n";
    code *c = assemble_checked(s);
    value out;
    ck_assert_msg(vm_run(m, c, &out), "%s", error_text());
    ck_assert_double_eq(array_at(as_array(out), 99999).u.f, 99999.0 * 99999.0);
    value_release(m, out);
    memory_reset_peak(&m->mem);
    ck_assert(vm_run(m, c, &out));
    ck_assert_uint_lt(m->mem.peak[MEM_ARRAY], 800000 + 2000);
    value_release(m, out);
    code_release(c);
    /* Somebody else holds it: then it is copied, once. */
    c = assemble_checked("fn main() {\n  n = const 100000i64\n  z = const 0i64\n  x = prim zeros n\n  y = loop.range z, n, x do (i, s) {\n"
                         "    %2 = prim __setindex s, i, i\n    yield %2\n  }\n  %3 = prim __index x, z\n  %4 = prim sum y\n  %5 = tuple "
                         "%3, %4\n  return %5\n}\n");
    memory_reset_peak(&m->mem);
    ck_assert_msg(vm_run(m, c, &out), "%s", error_text());
    ck_assert_double_eq(as_tuple(out)->v[0].u.f, 0);
    ck_assert_double_eq(as_tuple(out)->v[1].u.f, 99999.0 * 100000 / 2);
    ck_assert_uint_lt(m->mem.peak[MEM_ARRAY], 1600000 + 4000);
    value_release(m, out);
    code_release(c);
    close_vm();
}
END_TEST

/* The register a primitive is given twice is not written into. */
START_TEST(twice_the_same)
{
    open_vm();
    value v = run_text("fn main() {\n  n = const 4i64\n  x = prim zeros n\n  o = const 1\n  %1 = prim add x, o\n  %2 = prim mul %1, %1\n  "
                       "%3 = prim add %2, %2\n  return %3\n}\n");
    ck_assert_double_eq(array_at(as_array(v), 0).u.f, 2);
    value_release(m, v);
    close_vm();
}
END_TEST

START_TEST(released_early)
{
    open_vm();
    /* x is last used in one arm and dropped in the other; y dies before z is made. */
    const char *s =
        "fn main() {\n  $0 = fn f(p) {\n    n = const 100000i64\n    x = prim zeros n\n    a = if p {\n      %1 = prim sum x\n      yield "
        "%1\n    } else {\n"
        "      c = const 1.0\n      yield c\n    }\n    y = prim zeros n\n    b = prim sum y\n    z = prim zeros n\n    c.2 = prim sum z\n"
        "    %2 = prim add a, b\n    %3 = prim add %2, c.2\n    return %3\n  }\n  f = closure $0\n  t = const true\n  u = const false\n"
        "  %1 = call f, t\n  %2 = call f, u\n  %3 = prim add %1, %2\n  return %3\n}\n";
    code *c = assemble_checked(s);
    value out;
    memory_reset_peak(&m->mem);
    ck_assert_msg(vm_run(m, c, &out), "%s", error_text());
    ck_assert_double_eq(out.u.f, 1);
    ck_assert_uint_lt(m->mem.peak[MEM_ARRAY], 800000 + 10000);
    code_release(c);
    /* used in a loop, gone after it */
    c = assemble_checked("fn main() {\n  n = const 100000i64\n  z = const 0i64\n  k = const 3i64\n  x = prim zeros n\n  w = const 0.0\n  a "
                         "= loop.range z, k, w do (i, s) {\n"
                         "    %1 = prim sum x\n    %2 = prim add s, %1\n    yield %2\n  }\n  y = prim zeros n\n  %3 = prim sum y\n  %4 = "
                         "prim add a, %3\n  return %4\n}\n");
    memory_reset_peak(&m->mem);
    ck_assert_msg(vm_run(m, c, &out), "%s", error_text());
    ck_assert_uint_lt(m->mem.peak[MEM_ARRAY], 800000 + 10000);
    code_release(c);
    close_vm();
}
END_TEST

/* --- calls ---------------------------------------------------------------------------------- */

#define DOWN \
    "fn main() {\n  $0 = fn down(n) {\n    z = const 0i64\n    one = const 1i64\n    %%0 = prim eq n, z\n    %%1 = if %%0 { yield z } " \
    "else {\n" \
    "      f = global down\n      %%3 = prim sub n, one\n      %%5 = call f, %%3\n      %%7 = prim add %%5, one\n      yield %%7\n    }\n" \
    "    return %%1\n  }\n  f = closure $0\n  setglobal down f\n  n = const %di64\n  g = global down\n  %%1 = call g, n\n  return " \
    "%%1\n}\n"

START_TEST(deep_recursion)
{
    open_vm();
    char s[800];
    snprintf(s, sizeof s, DOWN, 1000000);
    ck_assert_double_eq(run_number(s), 1000000);
    ck_assert_uint_eq(m->mem.live[MEM_FRAME], 0);
    close_vm();
    open_vm();
    m->mem.limit = 60 << 20;
    FAILS(s, "error[memory]", "recursion of", "in down", "more calls");
    ck_assert_uint_eq(m->mem.live[MEM_FRAME], 0);
    close_vm();
}
END_TEST

START_TEST(arity)
{
    open_vm();
#define CALL(sig, args) \
    "fn main() {\n  $0 = fn layer(" sig \
    ") {\n    %0 = tuple x, y\n    return %0\n  }\n  f = closure $0\n  a = const 1\n  %1 = call f" args "\n  return %1\n}\n"
    FAILS(CALL("x, y", ", a"), "error[arity]", "layer takes 2 arguments (x, y), and 1 is given");
    FAILS(CALL("x, y", ", a, a, a"), "layer takes 2 arguments (x, y), and 3 are given");
    FAILS(CALL("x, y?", ""), "layer takes at least 1 argument (x, y), and 0 are given");
    FAILS(CALL("x, y...", ""), "layer takes at least 1 argument (x, y...), and 0 are given");
    value v = run_text(CALL("x, y?", ", a"));
    ck_assert_int_eq(as_tuple(v)->v[1].tag, V_UNDEF);
    value_release(m, v);
    v = run_text(CALL("x, y...", ", a, a, a"));
    ck_assert_uint_eq(as_tuple(as_tuple(v)->v[1])->n, 2);
    value_release(m, v);
    v = run_text(CALL("x, y...", ", a"));
    ck_assert_uint_eq(as_tuple(as_tuple(v)->v[1])->n, 0);
    value_release(m, v);
    FAILS("fn main() {\n  a = const 1\n  %1 = call a, a\n  return %1\n}\n", "error[type]", "not a function", "number");
    FAILS("fn main() {\n  a = const \"s\"\n  %1 = call a, a\n  return %1\n}\n", "not a function but string");
    close_vm();
}
END_TEST

START_TEST(named_arguments)
{
    open_vm();
#define BOUND(sig, args) \
    "fn main() {\n  $0 = fn layer(" sig \
    ") {\n    %0 = tuple x, width\n    return %0\n  }\n  f = closure $0\n  a = const 1\n  b = const 2\n  t = tuple b, a\n" \
    "  %1 = bind f" args "\n  %2 = call.spread f, %1\n  return %2\n}\n"
    value v = run_text(BOUND("x, width", ", width: a, x: b"));
    ck_assert_double_eq(as_tuple(v)->v[0].u.f, 2);
    value_release(m, v);
    v = run_text(BOUND("x, width", ", t..."));
    ck_assert_double_eq(as_tuple(v)->v[0].u.f, 2);
    value_release(m, v);
    v = run_text(BOUND("x?, width?", ", width: a"));
    ck_assert_int_eq(as_tuple(v)->v[0].tag, V_UNDEF);
    value_release(m, v);
    v = run_text(BOUND("x, width...", ", b, t..., t..."));
    ck_assert_uint_eq(as_tuple(as_tuple(v)->v[1])->n, 4);
    value_release(m, v);
    FAILS(BOUND("x, width", ", a, widht: a"), "layer has no parameter `widht`", "x, width", "did you mean `width`");
    FAILS(BOUND("x, width", ", a, x: a"), "gets `x` twice");
    FAILS(BOUND("x, width", ", width: a"), "called without `x`");
    FAILS(BOUND("x, width", ", t..., a"), "takes 2 arguments");
    FAILS(BOUND("x, width", ", a..."), "spreads a tuple");
    close_vm();
}
END_TEST

START_TEST(records)
{
    open_vm();
#define REC "fn main() {\n  a = const 1\n  b = const \"s\"\n  r = record weight: a, bias: b\n"
    ck_assert_double_eq(run_number(REC "  r.2 = setfield bias r, a\n  r.3 = setfield more r.2, a\n  %1 = field bias r.3\n  %2 = field more "
                                       "r.3\n  %3 = prim add %1, %2\n  return %3\n}\n"),
                        2);
    FAILS(REC "  %1 = field weigth r\n  return %1\n}\n", "error[name]", "no field `weigth`", "weight, bias", "did you mean `weight`");
    FAILS(REC "  %1 = field w a\n  return %1\n}\n", "a field `w` is asked of a record, and this is a");
    FAILS("fn main() {\n  u = const undef\n  %1 = defined height u\n  return %1\n}\n", "`height` is read before it is assigned");
    FAILS("fn main() {\n  u = global nothing\n  return u\n}\n", "`nothing` is not defined");
    FAILS("fn main() {\n  a = const 1\n  t = tuple a, a\n  p, q, r = unpack t\n  return p\n}\n",
          "a tuple of 2 cannot be taken apart into 3");
    close_vm();
}
END_TEST

START_TEST(contracts)
{
    open_vm();
#define SHAPES(a, b) \
    "fn main() {\n  i = const " #a "i64\n  j = const " #b "i64\n  t = const 2i64\n  x = prim zeros t, i\n  w = prim zeros j, t\n" \
    "  n, d = contract {\"layer\" (n, d) 0 x: [n: @0, d: @1], 1 w: [d: @1, _]} x, w\n  %1 = prim mul d, n\n  return %1\n}\n"
    ck_assert_double_eq(run_number(SHAPES(3, 3)), 6);
    FAILS(SHAPES(4, 3), "error[contract]", "argument w of layer: axis 0 is 3, expected d = 4 (from x)");
    FAILS("fn main() {\n  i = const 3i64\n  x = prim zeros i\n  contract {\"layer\" () 0 x: f32 [3]} x\n  return x\n}\n",
          "its dtype is f64, expected f32");
    FAILS("fn main() {\n  i = const 3i64\n  x = prim zeros i\n  contract {\"layer\" () 0 x: [3, 4]} x\n  return x\n}\n",
          "its shape is [3], expected [3, 4]");
    close_vm();
}
END_TEST

/* --- errors, try, measure ---------------------------------------------------------------------- */

#define NESTED \
    "  $0 = fn inner(a, b) {\n    n = const 1000i64\n    big = prim zeros n\n    %0 = prim add a, b\n    %1 = tuple %0, big\n    return " \
    "%1\n  }\n" \
    "  $1 = fn outer(g, a, t) {\n    n = const 500i64\n    z = const 0i64\n    o = const 2i64\n    big = prim zeros n\n    r = " \
    "loop.range z, o, big do (i, s) {\n" \
    "      %0 = call g, a, t\n      yield %0\n    }\n    %1 = tuple big, r\n    return %1\n  }\n"

START_TEST(errors_unwind)
{
    open_vm();
    FAILS("fn main() {\n" NESTED "  f = closure $0\n  g = closure $1\n  n = const 3i64\n  x = prim zeros n\n  t = const \"text\"\n  %1 = "
          "call g, f, x, t\n  return %1\n}\n",
          "error[type]", "a: f64[3]", "b: string", "in inner", "in outer");
    /* shapes, with both operands */
    FAILS("fn main() {\n  n = const 3i64\n  k = const 4i64\n  x = prim zeros n\n  y = prim zeros k\n  %0 = prim add x, y\n  return %0\n}\n",
          "error[shape]", "x: f64[3]", "y: f64[4]");
    close_vm();
}
END_TEST

START_TEST(tries)
{
    open_vm();
    value v = run_text(
        "fn main() {\n" NESTED "  f = closure $0\n  g = closure $1\n  n = const 3i64\n  t = const \"text\"\n  a = tuple f, n, n\n  b = "
        "tuple f, n, t\n  c = tuple f\n"
        "  p, q = try g, a\n  r, s = try g, b\n  u, w = try g, c\n  x, y = try n, c\n  %1 = tuple q, r, s, u, w, x, y\n  return %1\n}\n");
    const value *e = as_tuple(v)->v;
    ck_assert_int_eq(e[0].tag, V_NONE);
    ck_assert_int_eq(e[1].tag, V_NONE);
    ck_assert_ptr_nonnull(strstr(as_string(e[2])->s, "string"));
    ck_assert_int_eq(e[3].tag, V_NONE);
    ck_assert_ptr_nonnull(strstr(as_string(e[4])->s, "outer takes 3 arguments"));
    ck_assert_ptr_nonnull(strstr(as_string(e[6])->s, "not a function"));
    value_release(m, v);
    /* memory is not caught */
    m->mem.limit = m->mem.live_all + (1 << 20);
    FAILS("fn main() {\n  $0 = fn f(n) {\n    x = prim zeros n\n    return x\n  }\n  f = closure $0\n  n = const 10000000i64\n  a = tuple "
          "n\n  p, q = try f, a\n  return p\n}\n",
          "error[memory]");
    close_vm();
}
END_TEST

START_TEST(measures)
{
    open_vm();
    value v = run_text("fn main() {\n  $0 = fn f(n) {\n    x = prim zeros n\n    %1 = prim sum x\n    return %1\n  }\n  f = closure $0\n  "
                       "n = const 10000i64\n  a = tuple n\n"
                       "  p, q = measure f, a\n  %1 = field peak_bytes q\n  %2 = tuple p, %1\n  return %2\n}\n");
    ck_assert_double_eq(as_tuple(v)->v[0].u.f, 0);
    ck_assert_int_ge(as_tuple(v)->v[1].u.i, 80000);
    ck_assert_int_lt(as_tuple(v)->v[1].u.i, 90000);
    value_release(m, v);
    close_vm();
}
END_TEST

START_TEST(traces_nan)
{
    open_with(false, true);
    FAILS("fn main() {\n  n = const 3i64\n  x = prim zeros n\n  y = prim div x, x\n  z = prim add y, x\n  return z\n}\n", "error[nan]",
          "forward", "4 |", "div");
    FAILS("fn main() {\n  x = const 0f64\n~ y = prim div x, x\n  return y\n}\n", "error[nan]", "adjoint");
    value v = run_text("fn main() {\n  x = const inf\n  y = prim add x, x\n  return y\n}\n");
    ck_assert(isinf(v.u.f));
    close_vm();
}
END_TEST

/* --- tapes ---------------------------------------------------------------------------------- */

START_TEST(tapes)
{
    open_vm();
    value v = run_text("fn main() {\n  n = const 4i64\n  z = const 0i64\n  o = const 10i64\n  t = tape 2\n  t.2 = loop.range z, n, t do "
                       "(i, s) {\n    x = prim zeros n\n"
                       "    %2 = tapepush s, i, x\n    yield %2\n  }\n  u = loop.tape t.2:2, z do (k, x.2, acc) {\n    %4 = prim mul acc, "
                       "o\n    %3 = prim add %4, k\n    yield %3\n  }\n"
                       "  v, p, q = tapepop t.2\n  e = const zero\n  w = loop.tape v:2, e:1, z do (k.2, x.3, h, acc.2) {\n    %5 = prim "
                       "mul acc.2, o\n    %6 = prim add %5, k.2\n    yield %6\n  }\n"
                       "  r = tuple u, w, p\n  return r\n}\n");
    ck_assert_int_eq(as_tuple(v)->v[0].u.i, 3210);
    ck_assert_int_eq(as_tuple(v)->v[1].u.i, 210);
    ck_assert_int_eq(as_tuple(v)->v[2].u.i, 3);
    value_release(m, v);
    ck_assert_uint_eq(m->stats.saved, 0);
    /* A tape nobody else holds is given back entry by entry: the peak is one tape, not two. */
    code *c = assemble_checked("fn main() {\n  n = const 100i64\n  z = const 0i64\n  k = const 1000i64\n  t = tape 1\n  t.2 = loop.range "
                               "z, n, t do (i, s) {\n    x = prim zeros k\n"
                               "    %2 = tapepush s, x\n    yield %2\n  }\n  u = tape 1\n  u.2 = loop.tape t.2:1, u do (x.2, s.2) {\n    y "
                               "= prim zeros k\n    %3 = tapepush s.2, y\n    yield %3\n  }\n"
                               "  return z\n}\n");
    value out;
    memory_reset_peak(&m->mem);
    ck_assert_msg(vm_run(m, c, &out), "%s", error_text());
    ck_assert_uint_lt(m->mem.peak[MEM_ARRAY], 102 * 8200);
    ck_assert_uint_eq(m->stats.saved, 0);
    code_release(c);
    close_vm();
}
END_TEST

/* --- refused memory ----------------------------------------------------------------------------- */

/* Every allocation of a run is refused in turn: an error each time, and nothing left. */
START_TEST(refusals)
{
    open_vm();
    code *c = assemble_checked(
        "fn main() {\n" NESTED
        "  f = closure $0\n  g = closure $1\n  n = const 3i64\n  x = prim zeros n\n  %1 = call g, f, x, x\n  r = record a: %1, b: x\n"
        "  r.2 = setfield c r, x\n  a = tuple f, x, x\n  p, q = try g, a\n  s, t = measure g, a\n  k = tape 1\n  k.2 = tapepush k, x\n  %2 "
        "= tuple r.2, p, s, k.2\n  return %2\n}\n");
    value out;
    ck_assert_msg(vm_run(m, c, &out), "%s", error_text());
    value_release(m, out);
    base = m->mem.live_all;
    for (uint64_t k = 1;; k++) {
        uint64_t before = m->mem.count;
        m->mem.fail_at = before + k;
        bool fine = vm_run(m, c, &out);
        bool refused = m->mem.count >= m->mem.fail_at;
        m->mem.fail_at = 0;
        if (fine) value_release(m, out);
        ck_assert_msg(fine || refused, "%s", error_text());
        clear_error();
        ck_assert_msg(m->mem.live_all == base, "refusal %llu leaves %lld bytes", (unsigned long long)k,
                      (long long)m->mem.live_all - (long long)base);
        ck_assert(m->exec->frame == NULL && m->gradient_depth == 0);
        if (!refused) break;
    }
    code_release(c);
    close_vm();
}
END_TEST

UNIT_MAIN("exec", scalar_paths, branches, loops, interrupt, updates_in_place, twice_the_same, released_early, deep_recursion, arity,
          named_arguments, records, contracts, errors_unwind, tries, measures, traces_nan, tapes, refusals)
