/* code.c: any bytecode (libFuzzer). In: bytes. If the first is a letter or `#` they are a listing for the assembler;
 * else they choose, instruction by instruction, a listing with registers that are in scope and counts that mostly
 * fit, of every opcode and every row. What the assembler and the verifier take is listed again (and must come
 * back as the same text), and runs twice, with and without the optimiser, with 64 MB, half a second and no files:
 * it must end, in a value or an error, with nothing left behind in the frames. */
#include "deadline.h"
#include "host.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a listing made by bytes ----------------------------------------------------------------------- */

enum { REGS = 200, DEPTH = 3 };
typedef struct maker {
    const uint8_t *s, *end;
    text out;
    uint32_t regs[REGS], nregs; /* in scope, by number */
    uint32_t next;              /* register */
    uint32_t codes[8], ncodes;  /* captures of each child */
    uint32_t params[8];
    uint32_t room;              /* instructions that may still come */
} maker;

static unsigned byte(maker *k) { return k->s < k->end ? *k->s++ : 0; }
static unsigned below(maker *k, unsigned n) { return n ? byte(k) % n : 0; }

static void put_use(maker *k)
{
    /* Recent ones are likelier: programs should hang together. */
    unsigned n = k->nregs < 8 || below(k, 4) == 0 ? k->nregs : 8;
    if (n) text_printf(&k->out, "%%%u", k->regs[k->nregs - 1 - below(k, n)]);
    else text_puts(&k->out, "%0");
}
static void put_uses(maker *k, unsigned n)
{
    for (unsigned i = 0; i < n; i++) text_puts(&k->out, i ? ", " : ""), put_use(k);
}
static void in_scope(maker *k, uint32_t r)
{
    if (k->nregs < REGS) k->regs[k->nregs++] = r;
}
/* n fresh registers in the text; they come into scope by show. */
static uint32_t put_fresh(maker *k, unsigned n)
{
    uint32_t first = k->next;
    for (unsigned i = 0; i < n; i++) text_printf(&k->out, "%s%%%u", i ? ", " : "", k->next++);
    return first;
}
static void show(maker *k, uint32_t first, unsigned n)
{
    for (unsigned i = 0; i < n; i++) in_scope(k, first + i);
}

static const char *const constants[] = {
    "0", "1", "-2", "2.5", "3i64", "-1i64", "0i64", "9223372036854775807i64", "0.1f32", "1f64", "nan", "inf", "true", "false", "none",
    "undef", "zero", "...", "\"w\"", "\"\"", "\"ij,jk->ik\"", "()", "(1, 2.5, 3)", "(1i64, 2i64)", "((1, 2), (3, 4))", "{}", "{w: 1, v: (2,)}",
    "slice(none, 2i64, none)", "slice(none, none, -1i64)", "(0i64, slice(0i64, 5i64, 2i64))", "-9223372036854775808i64", "1e300", "5"};
static const char *const fields[] = {"w", "v", "\"a b\""};
static const char *const globals[] = {"\"derive:grad\"", "\"derive:jvp\"", "\"derive:vjp\"", "map", "\"derive:hessian\"", "f"};
static const char *const rows[] = { /* likelier than others: what makes something to work with */
    "ones", "__array", "add", "mul", "__index", "matmul", "sum", "__form", "__acc", "__reduce_to", "zeros", "__range"};

static void put_prim(maker *k)
{
    const prim *p = below(k, 3) == 0 ? prim_named(rows[below(k, sizeof rows / sizeof *rows)]) : &prims[(byte(k) * 256 + byte(k)) % prim_count];
    unsigned least = 0, most = 0, depth = 0;
    bool some = *p->signature != 0;
    for (const char *s = p->signature; *s; s++) {
        depth += *s == '(', depth -= *s == ')';
        if (*s == ',' && !depth) most++;
    }
    most += some;
    for (const char *s = p->signature, *e; some && s; s = e ? e + 1 : NULL) {
        e = strchr(s, ',');
        size_t n = e ? (size_t)(e - s) : strlen(s);
        if (!memchr(s, '=', n) && !memmem(s, n, "...", 3)) least++;
    }
    bool rest = some && strstr(p->signature, "...");
    unsigned n = least + below(k, most - least + 1) + (rest ? below(k, 3) : 0);
    uint32_t r;
    r = put_fresh(k, 1);
    text_printf(&k->out, " = prim %s%s", p->name, n ? " " : "");
    put_uses(k, n);
    if (rest && n == most && below(k, 4) == 0) text_puts(&k->out, "...");
    show(k, r, 1);
}

static void put_block(maker *k, unsigned yields, unsigned depth, bool condition);

static void put_loop(maker *k, unsigned depth)
{
    unsigned kind = below(k, 4), carried = below(k, 3);
    uint32_t first = put_fresh(k, carried);
    static const char *const kinds[] = {"range", "range.exit", "while", "tape"};
    text_printf(&k->out, "%sloop.%s%s ", carried ? " = " : "", kinds[kind], below(k, 2) ? ".step" : "");
    unsigned width = below(k, 3), head = kind < 2 ? 2 : 1;
    put_uses(k, head);
    if (kind == 3) text_printf(&k->out, ":%u", width);
    if (carried) text_puts(&k->out, ", ");
    put_uses(k, carried);
    text_puts(&k->out, " do (");
    unsigned params = carried + (kind < 2 ? 1 : kind == 3 ? width : 0);
    uint32_t inside = put_fresh(k, params), mine = k->nregs;
    show(k, inside, params);
    text_puts(&k->out, ") ");
    put_block(k, carried + (kind == 1 || kind == 2), depth, kind == 1 || kind == 2);
    k->nregs = mine;
    show(k, first, carried);
}

static void put_instr(maker *k, unsigned depth)
{
    unsigned n, m, c;
    uint32_t r;
    switch (below(k, 34)) {
    default: put_prim(k); break;
    case 0: case 1: case 2:
        r = put_fresh(k, 1);
        text_printf(&k->out, " = const %s", constants[below(k, sizeof constants / sizeof *constants)]);
        show(k, r, 1);
        break;
    case 3: r = put_fresh(k, 1), text_puts(&k->out, " = tuple "), put_uses(k, below(k, 4)), show(k, r, 1); break;
    case 4: n = below(k, 4), r = put_fresh(k, n), text_puts(&k->out, n ? " = unpack " : "unpack "), put_use(k), show(k, r, n); break;
    case 5: r = put_fresh(k, 1), text_puts(&k->out, " = record w: "), put_use(k), text_puts(&k->out, ", v: "), put_use(k), show(k, r, 1); break;
    case 6: r = put_fresh(k, 1), text_printf(&k->out, " = field %s ", fields[below(k, 3)]), put_use(k), show(k, r, 1); break;
    case 7: r = put_fresh(k, 1), text_printf(&k->out, " = setfield %s ", fields[below(k, 3)]), put_uses(k, 2), show(k, r, 1); break;
    case 8: case 9:
        if (!k->ncodes) { put_prim(k); break; }
        c = below(k, k->ncodes);
        r = put_fresh(k, 1);
        text_printf(&k->out, " = closure%s $%u ", below(k, 4) == 0 ? ".residual" : "", c), put_uses(k, k->codes[c]), show(k, r, 1);
        break;
    case 10: r = put_fresh(k, 1), text_puts(&k->out, " = self 0"), show(k, r, 1); break;
    case 11: r = put_fresh(k, 1), text_printf(&k->out, " = global %s", globals[below(k, sizeof globals / sizeof *globals)]), show(k, r, 1); break;
    case 12: text_puts(&k->out, "setglobal f "), put_use(k); break;
    case 13: case 14: case 15:
        m = below(k, 8), n = m & 2 ? 1 : below(k, 3);
        r = put_fresh(k, n);
        text_printf(&k->out, "%scall%s%s%s%s ", n ? " = " : "", m & 1 ? ".spread" : "", m & 2 ? ".pack" : "", m & 4 ? ".lenient" : "", below(k, 4) == 0 ? ".pullback" : "");
        put_uses(k, m & 1 ? 2 : 1 + below(k, 4));
        show(k, r, n);
        break;
    case 16: r = put_fresh(k, 1), text_puts(&k->out, " = bind "), put_use(k), text_puts(&k->out, ", "), put_use(k), text_puts(&k->out, below(k, 2) ? "..., k: " : ", x: "), put_use(k), show(k, r, 1); break;
    case 17: r = put_fresh(k, 1), text_puts(&k->out, " = unbind [_, ..., k] "), put_uses(k, 3), show(k, r, 1); break;
    case 18: n = 1 + below(k, 2), r = put_fresh(k, n), text_puts(&k->out, below(k, 2) ? " = try " : " = measure "), put_uses(k, 2), show(k, r, n); break;
    case 19: case 20:
        r = put_fresh(k, 1);
        text_printf(&k->out, " = const %di64\n%%%u = derive.%s ", below(k, 8) ? 1 : -1, k->next++, below(k, 4) ? "fwd" : "jvp");
        put_use(k), text_printf(&k->out, ", %%%u", r), show(k, r, 2);
        break;
    case 21: case 22:
        if (depth >= DEPTH) { put_prim(k); break; }
        n = below(k, 3);
        r = put_fresh(k, n);
        text_puts(&k->out, n ? " = if " : "if "), put_use(k), text_putc(&k->out, ' '), put_block(k, n, depth + 1, false);
        text_puts(&k->out, " else "), put_block(k, n, depth + 1, false), show(k, r, n);
        break;
    case 23: case 24:
        if (depth >= DEPTH) { put_prim(k); break; }
        put_loop(k, depth + 1);
        break;
    case 25:
        if (depth >= DEPTH) { put_prim(k); break; }
        n = below(k, 3);
        r = put_fresh(k, n);
        static const char *const options[] = {"", "(save = dots) ", "(save = everything) ", "(slots = 2) ", "(budget = 4096) ", "(save = [\"w\"]) "};
        text_printf(&k->out, "%scheckpoint %s", n ? " = " : "", options[below(k, 6)]), put_block(k, n, depth + 1, false), show(k, r, n);
        break;
    case 26:
        if (!k->ncodes) { put_prim(k); break; }
        c = below(k, k->ncodes);
        r = put_fresh(k, 1);
        text_printf(&k->out, " = replayable $%u ", c), put_uses(k, k->codes[c]), show(k, r, 1);
        break;
    case 27: n = below(k, 3), r = put_fresh(k, n), text_puts(&k->out, n ? " = force " : "force "), put_uses(k, 1 + below(k, 2)), show(k, r, n); break;
    case 28: r = put_fresh(k, 1), text_printf(&k->out, " = tape %u", below(k, 4)), show(k, r, 1); break;
    case 29: r = put_fresh(k, 1), text_puts(&k->out, " = tapepush "), put_uses(k, 1 + below(k, 4)), show(k, r, 1); break;
    case 30: n = 1 + below(k, 3), r = put_fresh(k, n), text_puts(&k->out, " = tapepop "), put_use(k), show(k, r, n); break;
    case 31: r = put_fresh(k, 1), text_puts(&k->out, " = seldef "), put_uses(k, 3), show(k, r, 1); break;
    case 32: r = put_fresh(k, 1), text_puts(&k->out, " = spread "), put_use(k), text_puts(&k->out, "..., "), put_use(k), show(k, r, 1); break;
    case 33: r = put_fresh(k, 2), text_puts(&k->out, " = contract {\"f\" () 0 x: [n: @0, d: @1]} "), put_use(k), show(k, r, 2); break;
    }
    text_puts(&k->out, "\n");
}

static void put_body(maker *k, unsigned results, unsigned depth, const char *ends, bool condition)
{
    uint32_t mine = k->nregs, r = 0;
    if (!mine) {
        r = put_fresh(k, 1);
        text_puts(&k->out, " = const 2\n"), show(k, r, 1);
    }
    for (unsigned n = 1 + below(k, depth ? 5 : 24); n-- && k->room; k->room--) put_instr(k, depth);
    if (condition && below(k, 8)) { /* mostly a loop that ends */
        r = put_fresh(k, 1);
        text_puts(&k->out, below(k, 4) ? " = const false\n" : " = prim not ");
        if (k->out.s[k->out.n - 1] != '\n') put_use(k), text_puts(&k->out, "\n");
    } else condition = false;
    text_printf(&k->out, "%s ", ends);
    if (condition) text_printf(&k->out, "%%%u%s", r, results > 1 ? ", " : "");
    put_uses(k, results - condition);
    text_puts(&k->out, "\n");
    k->nregs = mine;
}

static void put_block(maker *k, unsigned yields, unsigned depth, bool condition)
{
    text_puts(&k->out, "{\n");
    put_body(k, yields, depth, "yield", condition);
    text_puts(&k->out, "}");
}

static void put_listing(maker *k)
{
    k->room = 120;
    text_puts(&k->out, "fn () {\n");
    unsigned children = below(k, 4);
    for (unsigned i = 0; i < children; i++) {
        unsigned captures = below(k, 3), params = below(k, 3);
        maker inner = *k;
        inner.nregs = inner.next = inner.ncodes = 0;
        text_printf(&inner.out, "$%u = fn g[", i);
        show(&inner, put_fresh(&inner, captures), captures);
        text_puts(&inner.out, "](");
        show(&inner, put_fresh(&inner, params), params);
        text_puts(&inner.out, ") {\n");
        inner.room = 20;
        put_body(&inner, below(&inner, 3), 0, "return", false);
        text_puts(&inner.out, "}\n");
        k->out = inner.out, k->s = inner.s;
        k->codes[k->ncodes] = captures, k->params[k->ncodes++] = params;
    }
    put_body(k, 1, 0, "return", false);
    text_puts(&k->out, "}\n");
}

/* --- running it ------------------------------------------------------------------------------------ */

static bool swallow(void *user, const char *s, size_t n) { return (void)user, (void)s, (void)n, true; }
static void quiet(void *user, const diag *d, const char *rendered) { (void)user, (void)d, (void)rendered; }

static host hosts[2];
static deadline *late[2];

static void open_host(int i)
{
    hosts[i] = (host){.show = quiet, .write = swallow};
    vm_config c = vm_config_default();
    c.threads = 1, c.limit = 64 << 20, c.no_files = true, c.output_limit = 1 << 20;
    c.optimise = c.fuse = i;
    if (!host_open(&hosts[i], &c) || !(late[i] = deadline_open(&hosts[i].vm->interrupt, 0))) abort();
}

static void close_host(int i)
{
    deadline_close(late[i]);
    host_close(&hosts[i]);
}

static void run_in(int i, const char *s, size_t n)
{
    vm *m = hosts[i].vm;
    code *c = code_assemble(m, "fuzz", s, n);
    if (!c) {
        if (!m->error) abort();
    } else {
        text a, b;
        text_open(&a, &m->mem), text_open(&b, &m->mem);
        code_disassemble(c, &a);
        code *again = code_assemble(m, "fuzz", text_str(&a), a.n);
        if (again) code_disassemble(again, &b);
        if (!a.failed && !b.failed && (again ? strcmp(text_str(&a), text_str(&b)) != 0 : m->error->code != DIAG_MEMORY)) {
            fprintf(stderr, "listed:\n%s\nand again:\n%s", text_str(&a), text_str(&b));
            if (m->error) fprintf(stderr, "%s\n", m->error->message);
            abort();
        }
        text_close(&a), text_close(&b);
        if (again) code_release(again);
        if (!c->nparams && !c->ncaptures && !m->error) {
            value out;
            deadline_arm(late[i], 0.5);
            bool fine = vm_run(m, c, &out);
            deadline_disarm(late[i]);
            __atomic_store_n(&m->interrupt, 0, __ATOMIC_RELAXED);
            if (fine && c->nresults) value_release(m, out);
            if (!fine && !m->error) abort();
            if (m->mute || m->gradient_depth || m->keep->n) abort();
        }
        code_release(c);
    }
    diag_free(m->error);
    m->error = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned runs;
    static memory mem;
    if (!size) return 0;
    if (!hosts[0].vm) {
        open_host(0), open_host(1);
        memory_open(&mem);
    }
    maker k = {.s = data, .end = data + size};
    text_open(&k.out, &mem);
    bool is_text = (data[0] | 32) >= 'a' && (data[0] | 32) <= 'z';
    if (is_text || data[0] == '#') text_add(&k.out, (const char *)data, size);
    else put_listing(&k);
    if (getenv("FUZZ_SHOW")) fputs(text_str(&k.out), stderr);
    for (int i = 0; i < 2; i++) run_in(i, text_str(&k.out), k.out.n);
    text_close(&k.out);
    if (++runs % 200 == 0)
        for (int i = 0; i < 2; i++) close_host(i), open_host(i);
    return 0;
}
