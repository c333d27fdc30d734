/* test_compile.c: text → Code through the checker and the emitter: what is emitted verifies, refused
 * memory at any point leaves nothing behind, and deep or long texts are no danger. */
#include "host.h"
#include "unit.h"
#include <string.h>

static const char program[] = "import \"./m.rl\" as m\n"
                              "# Help.\n"
                              "fn f(x: f64[n, 2], w: [2] = [1, 2], k = 3) -> [n] = x @ w + n * k\n"
                              "p = {w: [1, 2, 3], layers: ({a: 1}, {a: [5, 6]}), s: \"text\"}\n"
                              "p.layers[1].a[0] += 2\n"
                              "p.w[::2] = p.w[1:]\n"
                              "(a, (b, p.c)) = (1, (2, 3))\n"
                              "fn g(n) {\n"
                              "  fn h(i) = if (i == 0) { n } else { h(i - 1) }\n"
                              "  for (i in 0..n) {\n"
                              "    if (i == 3) { continue }\n"
                              "    for ((j, v) in enumerate(p.w)) { if (v > 2 and j < 2 or not (v == 1)) { break } }\n"
                              "    if (i > 5) { return h(i) }\n"
                              "    q = j\n"
                              "  }\n"
                              "  while (n > 0) { n -= 1; if (n == 7) { return q } else { continue } }\n"
                              "  y = checkpoint (save = [\"u\", \"v\"], spill = true) < z = name(\"u\", n); if (z > 9) { return 1 }; z >\n"
                              "  checkpoint (slots = 4) < for (i in 0..3) { y = y + i } >\n"
                              "  y + (if (n == 3) { return 7 } else { z })\n"
                              "}\n"
                              "t = (1, 2)\n"
                              "print(f(ones(3, 2), k = 2), g(3), f(t..., k = 1), sum(p.w, axis = 0), -t[0]', 1 |> g, maximum(t...))\n"
                              "print(map(tanh, p.w), p.w[..., none], 2..a, [t[0], 1], 0 == 1, m.x, grad(fn(x) = x ^ 2)(3))\n";

static vm_config quiet(void)
{
    vm_config c = vm_config_default();
    c.pool = false;
    return c;
}

static code *compile(host *h, const char *s, size_t n, diag **diags)
{
    source *src = source_new(&h->vm->mem, "test", s, n);
    *diags = NULL;
    if (!src) return NULL;
    compile_options o = {.module = "", .result = EMIT_NONE, .notes = true};
    code *c = host_compile(h, src, &o, diags, NULL);
    source_release(src);
    return c;
}

static void clear(host *h, diag *diags)
{
    diag_free(diags);
    diag_free(h->vm->error);
    h->vm->error = NULL;
}

/* Compiles with each allocation refused in turn. */
static void refuse_each(const char *s, bool blocks)
{
    host h = {0};
    vm_config config = quiet();
    ck_assert(host_open(&h, &config));
    memory *mem = &h.vm->mem;
    diag *diags;
    code *c = compile(&h, s, strlen(s), &diags); /* names are interned, rows' Code is made */
    ck_assert(c != NULL);
    code_release(c);
    clear(&h, diags);
    uint64_t refusals = 0;
    for (uint64_t k = 1;; k++, refusals++) {
        size_t before = mem->live_all;
        uint64_t end = mem->fail_at = mem->count + k;
        c = compile(&h, s, strlen(s), &diags);
        bool refused = mem->count >= end;
        mem->fail_at = 0;
        code_release(c);
        ck_assert(c != NULL || refused);
        clear(&h, diags);
        /* The table of blocks and the sources it names stay for the statistics. */
        if (!blocks) ck_assert_uint_eq(mem->live_all, before);
        if (!refused) break;
    }
    ck_assert_uint_gt(refusals, 30);
    host_close(&h);
}

START_TEST(refused_memory)
{
    refuse_each(program, true);
    /* The same without its blocks. */
    char plain[sizeof program], *to = plain;
    for (const char *line = program; *line;) {
        const char *end = strchr(line, '\n') + 1, *k = strstr(line, "checkpoint");
        if (!k || k > end) {
            memcpy(to, line, (size_t)(end - line));
            to += end - line;
        } else to += sprintf(to, "  y = n; z = 1\n");
        line = end;
    }
    *to = 0;
    refuse_each(plain, false);
}
END_TEST

static void compiles(host *h, const text *t)
{
    ck_assert(!t->failed);
    diag *diags;
    code *c = compile(h, text_str(t), t->n, &diags);
    if (!c && diags) ck_abort_msg("%s", diags->message);
    ck_assert_msg(c != NULL, "%s", h->vm->error ? h->vm->error->message : "no Code");
    ck_assert(code_verify(h->vm, c));
    code_release(c);
    clear(h, diags);
}

/* prefix, n times `repeat` (with %d), suffix */
static void repeated(host *h, const char *prefix, const char *repeat, int n, const char *suffix)
{
    text t;
    text_open(&t, &h->vm->mem);
    text_puts(&t, prefix);
    for (int i = 0; i < n; i++) {
        const char *p = repeat, *q;
        for (; (q = strstr(p, "%d")); p = q + 2) {
            text_add(&t, p, (size_t)(q - p));
            text_printf(&t, "%d", i);
        }
        text_puts(&t, p);
    }
    text_puts(&t, suffix);
    compiles(h, &t);
    text_close(&t);
}

START_TEST(long_and_deep)
{
    host h = {0};
    vm_config config = quiet();
    ck_assert(host_open(&h, &config));
    repeated(&h, "x = 1", " + 1", 50000, "\n");
    repeated(&h, "fn f(x) = x\nx = 1", " |> f", 900, "\n");
    repeated(&h, "p = 1\np", ".a", 900, " = 3\n");
    repeated(&h, "x = 1\n", "checkpoint < a%d = x + %d >\n", 2000, "");
    repeated(&h, "n = 1\nx = if (n == 0) { 0 }", " else if (n == %d) { %d }", 1500, " else { 3 }\n");
    repeated(&h, "fn f(n) {\n", "  if (n == %d) { return %d }\n  a%d = n\n", 2000, "  a0\n}\n");
    repeated(&h, "fn f(n) {\n", "  if (n == %d) { for (i in 0..3) { if (i == n) { return %d } } }\n", 1000, "  n\n}\n");
    repeated(&h, "fn f(n) {\n for (i in 0..3) {\n", "  if (n == %d) { break } else { b = %d }\n", 2000, " }\n}\n");
    host_close(&h);
}
END_TEST

UNIT_MAIN("compile", refused_memory, long_and_deep)
