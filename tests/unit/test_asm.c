/* The assembler and the disassembler: every opcode goes from text to Code and back to the same text. */
#include "code.h"
#include "vm.h"
#include "machine.h"
#include <string.h>

static size_t code_bytes; /* of a VM just opened */
static void open_vm(void)
{
    ck_assert_ptr_nonnull(m = vm_open(NULL));
    code_bytes = m->mem.live[MEM_CODE];
}
static void close_vm(void)
{
    diag_free(m->error);
    m->error = NULL;
    code_blocks_close(m);
    ck_assert_uint_eq(m->mem.live[MEM_CODE], code_bytes);
    vm_close(m);
}

/* s is already as the disassembler writes it. */
static void round_trip(const char *s)
{
    code *c = assemble(s);
    text t;
    text_open(&t, &m->mem);
    code_disassemble(c, &t);
    ck_assert_str_eq(text_str(&t), s);
    text_close(&t);
    code_release(c);
}

static void refuse(const char *s, const char *part)
{
    code *c = code_assemble(m, "test", s, strlen(s));
    ck_assert_msg(c == NULL, "assembled: %s", s);
    ck_assert_msg(strstr(error_text(), part) != NULL, "%s\n%s\nlacks %s", s, error_text(), part);
    diag_free(m->error);
    m->error = NULL;
}

#define FN(lines) "fn f(x, y) {\n" lines "}\n"
/* A function with a child of one capture. */
#define FNC(lines) "fn f(x, y) {\n  $0 = fn g[a](b) {\n    return a\n  }\n" lines "}\n"

static const struct {
    opcode op;
    const char *text;
} snippets[] = {
    {OP_CODE_CONST, FN("  %0 = const 3\n  %1 = const 2.5\n  return %1\n")},
    {OP_CODE_PRIM, FN("  z = prim add x, y\n  z.2 = prim __zmul z, x\n  return z.2\n")},
    {OP_CODE_TUPLE, FN("  %0 = tuple\n  %1 = tuple x, %0\n  return %1\n")},
    {OP_CODE_UNPACK, FN("  a, %0 = unpack x\n  return a\n")},
    {OP_CODE_SPREAD, FN("  %0 = spread x, y..., x\n  return %0\n")},
    {OP_CODE_RECORD, FN("  %0 = record w: x, \"odd name\": y\n  %1 = record\n  return %0\n")},
    {OP_CODE_FIELD, FN("  %0 = field w x\n  return %0\n")},
    {OP_CODE_SETFIELD, FN("  x.2 = setfield \"a b\" x, y\n  return x.2\n")},
    {OP_CODE_CLOSURE, FNC("  %0 = closure $0 x\n  %1 = closure.residual $0 y\n  return %0\n")},
    {OP_CODE_SELF, FN("  %0 = self 0\n  return %0\n")},
    {OP_CODE_GLOBAL, FN("  %0 = global \"nn.layer\"\n  return %0\n")},
    {OP_CODE_SETGLOBAL, FN("  setglobal layer x\n  return x\n")},
    {OP_CODE_IMPORT, FN("  %0 = import \"nn\"\n  return %0\n")},
    {OP_CODE_DEFINED, FN("  %0 = defined loss x\n  return %0\n")},
    {OP_CODE_SELDEF, FN("  %0 = seldef x, x, y\n  return %0\n")},
    {OP_CODE_CONTRACT,
     FN("  n, d = contract {\"f\" result(n, d) 0 x: f32 [n: @0, d: @1, 3, _, rows: 4, other: _], 1 y...: i64, 0 _: []} x, y\n"
        "  contract {()} x\n  return n\n")},
    {OP_CODE_CALL, FN("  %0, %1 = call x, y, y\n  %2 = call.spread.pack.lenient.pullback x, y\n  return %2\n")},
    {OP_CODE_BIND, FN("  %0 = bind x, y, y..., k: x\n  return %0\n")},
    {OP_CODE_UNBIND, FN("  %0 = unbind [_, ..., k] x, y, x\n  return %0\n")},
    {OP_CODE_TRY, FN("  %0, %1 = try x, y\n  return %0\n")},
    {OP_CODE_MEASURE, FN("  %0, %1 = measure x, y\n  return %0\n")},
    {OP_CODE_DERIVE, FN("  %0 = const 3i64\n  %1 = derive.fwd x, %0\n  %2 = derive.jvp x, %0\n  return %1\n")},
    {OP_CODE_IF, FN("  %0, %1 = if x { yield x, y } else {\n    %2 = prim neg y\n    yield %2, x\n  }\n"
                    "  if %0 { yield } else { yield }\n  return %0\n")},
    {OP_CODE_LOOP, FN("  s, %0 = loop.range.step x, y, x, y do (i, s.2, %1) { yield %1, i }\n"
                      "  %2 = loop.range.exit x, y, s do (%3, %4) { yield x, %4 }\n"
                      "  %5 = loop.while x, s do (%6) {\n    %7 = prim lt %6, y\n    yield %7, %6\n  }\n"
                      "~ %8 = loop.tape x:2, y:0, s do (%9, %10, %11) { yield %9 }\n"
                      "  return %8\n")},
    {OP_CODE_CHECKPOINT, FN("  h, %0 = checkpoint { yield x, y }\n"
                            "  %1 = checkpoint (save = dots, slots = 8, budget = 64, spill) x { yield y }\n"
                            "  %2 = checkpoint x:1, y:0 { yield y } means { yield y, x }\n"
                            "  checkpoint (save = [\"a\", \"b\\\"\"]) { yield }\n"
                            "  checkpoint (save = not [\"a\"]) { yield }\n"
                            "  checkpoint (save = everything) { yield }\n"
                            "  checkpoint (save = dots_no_batch) { yield }\n  return h\n")},
    {OP_CODE_BUDGET, FN("  %0 = budget (budget = 64)\n  budgetend %0\n  return x\n")},
    {OP_CODE_BUDGETEND, FN("  %0 = budget (budget = 64)\n  budgetend %0\n  return x\n")},
    {OP_CODE_REPLAYABLE, "fn f(x) {\n  $0 = fn [a, b]() {\n    return a, b\n  }\n  %0 = replayable $0 x, x\n  return %0\n}\n"},
    {OP_CODE_FORCE, FN("  a, b = force x\n  return a\n")},
    {OP_CODE_TAPE, FN("  %0 = tape 3\n  return %0\n")},
    {OP_CODE_TAPEPUSH, FN("  %0 = tapepush x, y, y\n  return %0\n")},
    {OP_CODE_TAPEPOP, FN("  %0, %1 = tapepop x\n  return %0\n")},
    {OP_CODE_LOOPTAPE, NULL},
    {OP_CODE_OFFER, NULL},
    {OP_CODE_ENTRY, NULL},
    {OP_CODE_LOOPEND, NULL},
    {OP_CODE_VIEW, NULL}, /* made by lower */
    {OP_CODE_YIELD, FN("  %0 = if.rule x { yield x } else { yield y }\n  return %0\n")},
    {OP_CODE_RETURN, FN("  return x, y\n")},
    {OP_CODE_FUSED, NULL}, /* belongs to the run form */
};

/* The adjoint mark stands in place of the margin in the snippets, to keep them aligned. */
static void normalise(const char *s, char *out)
{
    while (*s) {
        if (s[0] == '\n' && s[1] == '~') {
            memcpy(out, "\n  ~", 4);
            out += 4;
            s += 2;
        } else *out++ = *s++;
    }
    *out = 0;
}

static bool uses(const block *k, opcode op)
{
    for (uint32_t j = 0; j < k->n; j++) {
        if (k->list[j]->op == op) return true;
        for (uint32_t q = 0; q < k->list[j]->nblocks; q++)
            if (uses(k->list[j]->blocks[q], op)) return true;
    }
    return false;
}

START_TEST(every_opcode)
{
    open_vm();
    bool covered[OPCODES] = {false};
    for (size_t i = 0; i < sizeof snippets / sizeof *snippets; i++) {
        covered[snippets[i].op] = true;
        if (!snippets[i].text) continue;
        char s[4000];
        normalise(snippets[i].text, s);
        round_trip(s);
        code *c = assemble(s);
        ck_assert_msg(uses(c->body, snippets[i].op), "no %s in\n%s", op_rows[snippets[i].op].name, s);
        code_release(c);
    }
    for (int op = 0; op < OPCODES; op++) ck_assert_msg(covered[op], "no snippet for %s", op_rows[op].name);
    close_vm();
}
END_TEST

START_TEST(constants)
{
    open_vm();
    static const char *const of[] = {"0",
                                     "-0",
                                     "3",
                                     "-7",
                                     "10000000000000000000000",
                                     "2.5",
                                     "2.0",
                                     "-1e-9",
                                     "1e22",
                                     "0.1",
                                     "inf",
                                     "-inf",
                                     "nan",
                                     "infw",
                                     "3i64",
                                     "-9223372036854775808i64",
                                     "9223372036854775807i64",
                                     "2f64",
                                     "0.1f64",
                                     "-0f64",
                                     "inff64",
                                     "nanf64",
                                     "0.1f32",
                                     "16777216f32",
                                     "-inff32",
                                     "true",
                                     "false",
                                     "none",
                                     "undef",
                                     "zero",
                                     "...",
                                     "\"\"",
                                     "\"a\\nb\\t\\\"\\\\ \\x01\"",
                                     "\"\u00e9\u4e2d\"",
                                     "()",
                                     "(1,)",
                                     "(1, (2.5, none), \"x\")",
                                     "{}",
                                     "{a: 1, \"b c\": (2,)}",
                                     "slice(none, 3i64, -1)",
                                     "(slice(0, none, none), ...)"};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char s[200];
        snprintf(s, sizeof s, "fn f() {\n  %%0 = const %s\n  return %%0\n}\n", of[i]);
        round_trip(s);
    }
    code *c = assemble("fn () {\n x = const 2.0; y = const 2; z = const 2f64; w = const 2.0\n return x }");
    ck_assert_uint_eq(c->nconsts, 3); /* equal ones are one */
    ck_assert_uint_eq(c->consts[0].weak, WEAK_FLOAT);
    ck_assert_uint_eq(c->consts[1].weak, WEAK_WHOLE);
    ck_assert_uint_eq(c->consts[2].weak, STRONG);
    code_release(c);
    close_vm();
}
END_TEST

START_TEST(headers)
{
    open_vm();
    round_trip("fn (x) {\n  return x\n}\n");
    round_trip("fn \"a b\"[c, %0](x, y?, \"odd name\"=%1?, _=z?, %2...?) custom_vjp {\n  return c, %0\n}\n");
    round_trip("fn outer() {\n  $0 = fn inner() {\n    $0 = fn () {\n      return\n    }\n    return\n  }\n  $1 = fn () {\n    return\n  "
               "}\n  return\n}\n");
    code *c = assemble("# comment\nfn f(x, y?) { @1:2\n return x # y\n }\n\n# end");
    ck_assert_uint_eq(c->nparams, 2);
    ck_assert_uint_eq(c->required, 1);
    ck_assert_uint_eq(c->nresults, 1);
    ck_assert_str_eq(code_display_name(c), "f");
    ck_assert_str_eq(symbol_name(m->symbols, c->param_names[1]), "y");
    code_release(c);
    close_vm();
}
END_TEST

START_TEST(faults)
{
    open_vm();
    refuse("", "expected `fn`");
    refuse("fn f(", "expected a register");
    refuse("fn f(x) {", "not closed");
    refuse("fn f(x) { return x", "not closed");
    refuse("fn f(x) { return y }", "y is not defined");
    refuse("fn f(x) { return x } more", "end of the text");
    refuse("fn f(x, x) { return x }", "x is defined twice");
    refuse("fn f(x...,y) { return x }", "after the rest");
    refuse("fn f(x) { y = frob x\n return x }", "expected an opcode");
    refuse("fn f(x) { y = prim frob x\n return x }", "no primitive");
    refuse("fn f(x) { y = prim add x...\n return x }", "takes no spread");
    refuse("fn f(x) { y = prim add x..., x\n return x }", "only the last source");
    refuse("fn f(x) { y = prim add x\n return x }", "with 1 sources");
    refuse("fn f(x) { y = prim add x, x, x\n return x }", "with 3 sources");
    refuse("fn f(x) { y = tuple.pack x\n return x }", "no such modifier");
    refuse("fn f(x) { y = const \"a\n return x }", "not closed");
    refuse("fn f(x) { y = const \"\\q\"\n return x }", "no such escape");
    refuse("fn f(x) { y = const 1.2.3\n return x }", "expected a constant");
    refuse("fn f(x) { y = const 3x\n return x }", "expected a constant");
    refuse("fn f(x) { y = const (1 2)\n return x }", "expected `,` or `)`");
    refuse("fn f(x) { y = const slice(1)\n return x }", "three parts");
    refuse("fn f(x) { y = closure $3 x\n return x }", "Code 3 of 0");
    refuse("fn f(x) { $1 = fn () { return }\n return x }", "the next function is $0");
    refuse("fn f(x) { $0 = fn () { return }\n y = closure $0 x\n return x }", "1 sources for 0 captures");
    refuse("fn f(x) { $0 = fn (a) { return }\n y = replayable $0\n return x }", "a region with parameters");
    refuse("fn f(x) { y = tapepush\n return x }", "0 sources");
    refuse("fn f(x) { y = tape 99999999\n return x }", "entries of");
    refuse("fn f(x) { y = tape 99999999999\n return x }", "too large");
    refuse("fn f(x) { y = fused 0 x\n return x }", "run form");
    refuse("fn f(x) { y = import 3\n return x }", "no string");
    refuse("fn f(x) { y = self 1\n return x }", "primal 1");
    refuse("fn f(x) { y = field _ x\n return x }", "no name");
    refuse("fn f(x) { y = record x\n return x }", "without a name");
    refuse("fn f(x) { y = bind\n return x }", "no function");
    refuse("fn f(x) { y = bind x...\n return x }", "on the function");
    refuse("fn f(x) { y = contract {(n) 1 x: [@0]} x\n return x }", "source 1 of 1");
    refuse("fn f(x) { y = contract {(n) 0 x: [@1]} x\n return x }", "no such size");
    refuse("fn f(x) { y = contract {() 0 x:} x\n return x }", "1 results for 0 names");
    refuse("fn f(x) { y = contract {(n) 0 x: [1,1,1,1,1,1,1,1,1]} x\n return x }", "more than 8 axes");
    refuse("fn f(x) { y = call\n return x }", "no function");
    refuse("fn f(x) { y = call.spread x\n return x }", "spread with 1");
    refuse("fn f(x) { y = call.pack.spread x\n return x }", "spread with 1");
    close_vm();
}
END_TEST

START_TEST(structure)
{
    open_vm();
    refuse("fn f(x) { }", "an empty block");
    refuse("fn f(x) { y = const 1 }", "ends a block");
    refuse("fn f(x) { return x; return x }", "inside a block");
    refuse("fn f(x) { yield x }", "ends a body");
    refuse("fn f(x) { y = if x { return x } else { yield x }\n return x }", "in a nested block");
    refuse("fn f(x) { y = if x { yield } else { yield x }\n return x }", "0 values where 1 are expected");
    refuse("fn f(x) { y = if x { yield x, x } else { yield x }\n return x }", "2 values where 1 are expected");
    refuse("fn f(x) { y = if x { yield x }\n return x }", "expected `else`");
    refuse("fn f(x) { y = if x { z = const 1\n yield z } else { yield z }\n return x }", "outside its block");
    refuse("fn f(x) { y = if x { z = const 1\n yield z } else { yield x }\n return z }", "outside its block");
    refuse("fn f(x) { y = if x { z = self 0\n yield z } else { yield x }\n return y }", "in a nested block");
    /* A meaning yields the results and then as many values as its sources' widths say. */
    refuse("fn f(x) { y = checkpoint x:1 { yield x } means { yield x }\n return y }", "1 values");
    refuse("fn f(x) { y = checkpoint x { yield x } means { yield x, x }\n return y }", "widths");
    refuse("fn f(x) { y = checkpoint { yield }\n return y }", "0 values");
    refuse("fn f(x) { y = checkpoint (slots = 1, save = [1]) { yield x }\n return y }", "expected a string");
    refuse("fn f(x) { y = loop.range x, x, x do (i) { yield x }\n return y }", "1 parameters where 2 belong");
    refuse("fn f(x) { y = loop.range x, x do (i, a) { yield x }\n return y }", "2 sources for 1 carried");
    refuse("fn f(x) { y = loop.range x, x, x do (i, a) { yield x, x }\n return y }", "2 values where 1");
    refuse("fn f(x) { y = loop.range.exit x, x, x do (i, a) { yield x }\n return y }", "1 values where 2");
    refuse("fn f(x) { y = loop.while x, x do (a) { yield a }\n return y }", "1 values where 2");
    refuse("fn f(x) { y = loop.while.exit x, x do (a) { yield a, a }\n return y }", "kind");
    refuse("fn f(x) { y = loop.tape x do (a) { yield a }\n return y }", "over no tape");
    refuse("fn f(x) { y = loop.tape x, x:1 do (a) { yield a }\n return y }", "before the carried");
    refuse("fn f(x) { y = loop.tape x:2, x do (a, b) { yield a }\n return y }", "2 parameters where 3");
    refuse("fn f(x) { y = loop.tape x:99999, x do (a, b) { yield a }\n return y }", "too large");
    refuse("fn f(x) { y = loop.range x, x, x { yield x }\n return y }", "expected `do`");
    /* Deep nesting is an error, not a crash. */
    text t;
    text_open(&t, &m->mem);
    text_puts(&t, "fn f(x) {");
    for (int i = 0; i < 5000; i++) text_puts(&t, "if x {");
    refuse(text_str(&t), "nested too deep");
    text_clear(&t);
    for (int i = 0; i < 5000; i++) text_puts(&t, "fn f() { $0 = ");
    refuse(text_str(&t), "nested too deep");
    text_clear(&t);
    text_puts(&t, "fn f() { x = const ");
    for (int i = 0; i < 5000; i++) text_puts(&t, "(");
    refuse(text_str(&t), "nested too deep");
    text_close(&t);
    close_vm();
}
END_TEST

/* Any prefix and any text with one byte changed is Code or an error. */
START_TEST(hostile)
{
    open_vm();
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof snippets / sizeof *snippets; i++) {
        if (!snippets[i].text) continue;
        size_t n = strlen(snippets[i].text);
        char s[2000];
        for (size_t k = 0; k < 2 * n; k++) {
            memcpy(s, snippets[i].text, n);
            size_t used = n;
            if (k < n) used = k;
            else {
                seed = seed * 1664525u + 1013904223u;
                s[k - n] = "(){}[]<>,.:;%$~\"'x0_9\n"[(seed >> 16) % 22];
            }
            code *c = code_assemble(m, "test", s, used);
            ck_assert((c != NULL) != (m->error != NULL));
            if (c) {
                text t;
                text_open(&t, &m->mem);
                code_disassemble(c, &t);
                text_close(&t);
            }
            code_release(c);
            diag_free(m->error);
            m->error = NULL;
        }
    }
    close_vm();
}
END_TEST

START_TEST(listing)
{
    open_vm();
    code *c = assemble("fn f(x) {\n  $0 = fn g() {\n    return\n  }\n  y = prim neg x\n  ~ z = prim.rule add x, y\n  return z\n}\n");
    text t;
    text_open(&t, &m->mem);
    code_list(c, (dis_options){.lines = true, .spans = true}, &t);
    ck_assert_str_eq(text_str(&t), "fn f(x) {\n  # $0: g\n  # 5| y = prim neg x\n  y = prim neg x  @5:7\n  # 6| ~ z = prim.rule add x, y\n"
                                   "  z = prim.rule add x, y  @6:9\n  # 7| return z\n  return z  @7:3\n}\n");
    text_close(&t);
    code_release(c);
    close_vm();
}
END_TEST

UNIT_MAIN("asm", every_opcode, constants, headers, faults, structure, hostile, listing)
