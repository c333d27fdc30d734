/* code.c: any bytecode (libFuzzer). In: bytes. If the first is a letter or `#` they are a listing for the assembler;
 * else they choose, instruction by instruction, a listing with registers that are in scope and counts that mostly
 * fit, of every opcode and every row. What the assembler and the verifier take is listed again (and must come
 * back as the same text), and runs twice, with and without the optimiser, with 64 MB, half a second and no files:
 * it must end, in a value or an error, with nothing left behind in the frames, and nothing held when its VM closes. */
#include "deadline.h"
#include "host.h"
#include "residual.h"
#include "held.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a listing made by bytes ----------------------------------------------------------------------- */

enum { REGS = 200, DEPTH = 3 };
/* What a register is thought to hold, so that most operands fit. */
typedef enum kind { ANY, NUMBER, TUPLE, RECORD, FUNCTION, TAPE, REGION, FORM, STRING, BOOL, WHOLE } kind;
typedef struct maker {
    const uint8_t *s, *end;
    text out;
    uint32_t regs[REGS], nregs; /* in scope, by number */
    uint8_t kinds[REGS];        /* a kind each */
    uint32_t next;              /* register */
    uint32_t codes[8], ncodes;  /* captures of each child */
    uint32_t params[8];
    uint32_t room; /* instructions that may still come */
} maker;

static unsigned byte(maker *k) { return k->s < k->end ? *k->s++ : 0; }
static unsigned below(maker *k, unsigned n) { return n ? byte(k) % n : 0; }

/* A register, most likely one that holds this. */
static void put_a(maker *k, kind what)
{
    unsigned fit[REGS], n = 0;
    if (what != ANY && below(k, 8))
        for (unsigned i = 0; i < k->nregs; i++)
            if (k->kinds[i] == what) fit[n++] = k->regs[i];
    /* Recent ones are likelier: programs should hang together. */
    if (n) text_printf(&k->out, "%%%u", fit[n - 1 - below(k, below(k, 4) && n > 6 ? 6 : n)]);
    else if (k->nregs) text_printf(&k->out, "%%%u", k->regs[k->nregs - 1 - below(k, k->nregs < 8 || below(k, 4) == 0 ? k->nregs : 8)]);
    else text_puts(&k->out, "%0");
}
static void put_use(maker *k) { put_a(k, ANY); }
static void put_uses(maker *k, unsigned n)
{
    for (unsigned i = 0; i < n; i++) text_puts(&k->out, i ? ", " : ""), put_use(k);
}
static void in_scope(maker *k, uint32_t r, kind what)
{
    if (k->nregs == REGS) return;
    k->kinds[k->nregs] = what;
    k->regs[k->nregs++] = r;
}
/* n fresh registers in the text; they come into scope by show. */
static uint32_t put_fresh(maker *k, unsigned n)
{
    uint32_t first = k->next;
    for (unsigned i = 0; i < n; i++) text_printf(&k->out, "%s%%%u", i ? ", " : "", k->next++);
    return first;
}
static void show_as(maker *k, uint32_t first, unsigned n, kind what)
{
    for (unsigned i = 0; i < n; i++) in_scope(k, first + i, what);
}
static void show(maker *k, uint32_t first, unsigned n) { show_as(k, first, n, ANY); }

static const struct {
    const char *s;
    kind what;
} constants[] = {{"0", NUMBER},
                 {"1", NUMBER},
                 {"-2", NUMBER},
                 {"2.5", NUMBER},
                 {"3i64", WHOLE},
                 {"-1i64", NUMBER},
                 {"0i64", WHOLE},
                 {"9223372036854775807i64", NUMBER},
                 {"0.1f32", NUMBER},
                 {"1f64", NUMBER},
                 {"nan", NUMBER},
                 {"inf", NUMBER},
                 {"true", BOOL},
                 {"false", BOOL},
                 {"none", ANY},
                 {"undef", ANY},
                 {"zero", ANY},
                 {"...", ANY},
                 {"\"w\"", STRING},
                 {"\"\"", STRING},
                 {"\"ij,jk->ik\"", STRING},
                 {"()", TUPLE},
                 {"(1, 2.5, 3)", TUPLE},
                 {"(1i64, 2i64)", TUPLE},
                 {"((1, 2), (3, 4))", TUPLE},
                 {"{}", RECORD},
                 {"{w: 1, v: (2,)}", RECORD},
                 {"slice(none, 2i64, none)", ANY},
                 {"slice(none, none, -1i64)", ANY},
                 {"(0i64, slice(0i64, 5i64, 2i64))", ANY},
                 {"-9223372036854775808i64", NUMBER},
                 {"1e300", NUMBER},
                 {"5", NUMBER}};
/* What stands first, so that there is something of each kind. */
static const struct {
    const char *s;
    kind what;
} first[] = {{"const 2.5", NUMBER},
             {"const (1, 2.5, 3)", TUPLE},
             {"prim __array %0, %0, %0", NUMBER},
             {"prim __array %2, %2", NUMBER},
             {"const 2i64", NUMBER},
             {"prim ones %4, %4", NUMBER},
             {"const {w: 1, v: (2,)}", RECORD},
             {"tape 1", TAPE},
             {"tapepush %7, %2", TAPE},
             {"prim __form %2", FORM},
             {"const \"w\"", STRING},
             {"prim __form_shallow %6", FORM},
             {"global \"derive:grad\"", FUNCTION},
             {"tuple %2, %5", TUPLE},
             {"const true", BOOL},
             {"const 3i64", WHOLE}};
static const char *const fields[] = {"w", "v", "\"a b\""};
static const char *const globals[] = {"\"derive:grad\"", "\"derive:jvp\"", "\"derive:vjp\"", "map", "\"derive:hessian\"", "f"};
static const char *const rows[] = {/* likelier than others: what makes something to work with */
                                   "ones", "__array", "add",   "mul",         "__index", "matmul",
                                   "sum",  "__form",  "__acc", "__reduce_to", "zeros",   "__range"};

static kind argument(const char *name, size_t n)
{
    static const struct {
        const char *name;
        kind what;
    } known[] = {{"f", FORM},   {"whole", FORM},        {"like", FORM}, {"name", STRING}, {"label", STRING},
                 {"s", STRING}, {"subscripts", STRING}, {"fs", TUPLE},  {"t", TUPLE},     {"r", RECORD}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == n && !memcmp(known[i].name, name, n)) return known[i].what;
    return NUMBER;
}

static void put_prim(maker *k)
{
    const prim *p = below(k, 3) == 0 ? prim_named(rows[below(k, sizeof rows / sizeof *rows)])
                                     : &prims[(byte(k) * 256 + byte(k)) % prim_count];
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
    const char *s = p->signature;
    for (unsigned i = 0; i < n; i++) {
        size_t length = s ? strcspn(s, " ,=.") : 0;
        text_puts(&k->out, i ? ", " : "");
        put_a(k, argument(s, length));
        s = s ? strchr(s, ',') : NULL;
        if (s) s += 2;
    }
    if (rest && n == most && below(k, 4) == 0) text_puts(&k->out, "...");
    show_as(k, r, 1,
            strstr(p->name, "form")                       ? FORM
            : p->dtype == D_OTHER && p->shape == S_CUSTOM ? ANY
            : p->dtype == D_BOOL && p->shape == S_SCALAR  ? BOOL
                                                          : NUMBER);
}

static void put_block(maker *k, unsigned yields, unsigned depth, bool condition);

static void put_loop(maker *k, unsigned depth)
{
    unsigned kind = below(k, 4), carried = below(k, 3);
    uint32_t result = put_fresh(k, carried);
    static const char *const kinds[] = {"range", "range.exit", "while", "tape"};
    text_printf(&k->out, "%sloop.%s%s ", carried ? " = " : "", kinds[kind], below(k, 2) ? ".step" : "");
    unsigned width = below(k, 3), head = kind < 2 ? 2 : 1;
    for (unsigned i = 0; i < head; i++) text_puts(&k->out, i ? ", " : ""), put_a(k, kind == 3 ? TAPE : kind == 2 ? BOOL : WHOLE);
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
    show(k, result, carried);
}

static void put_instr(maker *k, unsigned depth)
{
    unsigned n, m, c;
    uint32_t r;
    switch (below(k, 34)) {
    default: put_prim(k); break;
    case 0:
    case 1:
    case 2:
        r = put_fresh(k, 1);
        c = below(k, sizeof constants / sizeof *constants);
        text_printf(&k->out, " = const %s", constants[c].s);
        show_as(k, r, 1, constants[c].what);
        break;
    case 3: r = put_fresh(k, 1), text_puts(&k->out, " = tuple "), put_uses(k, below(k, 4)), show_as(k, r, 1, TUPLE); break;
    case 4: n = below(k, 4), r = put_fresh(k, n), text_puts(&k->out, n ? " = unpack " : "unpack "), put_a(k, TUPLE), show(k, r, n); break;
    case 5:
        r = put_fresh(k, 1), text_puts(&k->out, " = record w: "), put_use(k), text_puts(&k->out, ", v: "), put_use(k),
        show_as(k, r, 1, RECORD);
        break;
    case 6: r = put_fresh(k, 1), text_printf(&k->out, " = field %s ", fields[below(k, 3)]), put_a(k, RECORD), show(k, r, 1); break;
    case 7:
        r = put_fresh(k, 1), text_printf(&k->out, " = setfield %s ", fields[below(k, 3)]), put_a(k, RECORD), text_puts(&k->out, ", "),
        put_use(k), show_as(k, r, 1, RECORD);
        break;
    case 8:
    case 9:
        if (!k->ncodes) {
            put_prim(k);
            break;
        }
        c = below(k, k->ncodes);
        r = put_fresh(k, 1);
        text_printf(&k->out, " = closure%s $%u ", below(k, 4) == 0 ? ".residual" : "", c), put_uses(k, k->codes[c]),
            show_as(k, r, 1, FUNCTION);
        break;
    case 10: r = put_fresh(k, 1), text_puts(&k->out, " = self 0"), show_as(k, r, 1, FUNCTION); break;
    case 11:
        r = put_fresh(k, 1), text_printf(&k->out, " = global %s", globals[below(k, sizeof globals / sizeof *globals)]),
        show_as(k, r, 1, FUNCTION);
        break;
    case 12: text_puts(&k->out, "setglobal f "), put_use(k); break;
    case 13:
    case 14:
    case 15:
        m = below(k, 8), n = m & 2 ? 1 : below(k, 3);
        r = put_fresh(k, n);
        text_printf(&k->out, "%scall%s%s%s%s ", n ? " = " : "", m & 1 ? ".spread" : "", m & 2 ? ".pack" : "", m & 4 ? ".lenient" : "",
                    below(k, 4) == 0 ? ".pullback" : "");
        put_a(k, FUNCTION);
        if (m & 1) text_puts(&k->out, ", "), put_a(k, TUPLE);
        else
            for (c = below(k, 4); c--;) text_puts(&k->out, ", "), put_use(k);
        show(k, r, n);
        break;
    case 16:
        r = put_fresh(k, 1), text_puts(&k->out, " = bind "), put_a(k, FUNCTION), text_puts(&k->out, ", "), put_use(k),
        text_puts(&k->out, below(k, 2) ? "..., k: " : ", x: "), put_use(k), show_as(k, r, 1, TUPLE);
        break;
    case 17: r = put_fresh(k, 1), text_puts(&k->out, " = unbind [_, ..., k] "), put_uses(k, 3), show(k, r, 1); break;
    case 18:
        n = 1 + below(k, 2), r = put_fresh(k, n), text_puts(&k->out, below(k, 2) ? " = try " : " = measure "), put_a(k, FUNCTION),
        text_puts(&k->out, ", "), put_a(k, TUPLE), show(k, r, n);
        break;
    case 19:
    case 20:
        r = put_fresh(k, 1);
        text_printf(&k->out, " = const %di64\n%%%u = derive.%s ", below(k, 8) ? 1 : -1, k->next++, below(k, 4) ? "fwd" : "jvp");
        put_a(k, FUNCTION), text_printf(&k->out, ", %%%u", r), show_as(k, r, 1, NUMBER), show_as(k, r + 1, 1, FUNCTION);
        break;
    case 21:
    case 22:
        if (depth >= DEPTH) {
            put_prim(k);
            break;
        }
        n = below(k, 3);
        r = put_fresh(k, n);
        text_puts(&k->out, n ? " = if " : "if "), put_a(k, BOOL), text_putc(&k->out, ' '), put_block(k, n, depth + 1, false);
        text_puts(&k->out, " else "), put_block(k, n, depth + 1, false), show(k, r, n);
        break;
    case 23:
    case 24:
        if (depth >= DEPTH) {
            put_prim(k);
            break;
        }
        put_loop(k, depth + 1);
        break;
    case 25:
        if (depth >= DEPTH) {
            put_prim(k);
            break;
        }
        n = below(k, 3);
        r = put_fresh(k, n);
        static const char *const options[] = {
            "", "(save = dots) ", "(save = everything) ", "(slots = 2) ", "(budget = 4096) ", "(save = [\"w\"]) "};
        text_printf(&k->out, "%scheckpoint %s", n ? " = " : "", options[below(k, 6)]), put_block(k, n, depth + 1, false), show(k, r, n);
        break;
    case 26:
        if (!k->ncodes) {
            put_prim(k);
            break;
        }
        c = below(k, k->ncodes);
        r = put_fresh(k, 1);
        text_printf(&k->out, " = replayable $%u ", c), put_uses(k, k->codes[c]), show_as(k, r, 1, REGION);
        break;
    case 27: n = below(k, 3), r = put_fresh(k, n), text_puts(&k->out, n ? " = force " : "force "), put_a(k, REGION), show(k, r, n); break;
    case 28: r = put_fresh(k, 1), text_printf(&k->out, " = tape %u", below(k, 4)), show_as(k, r, 1, TAPE); break;
    case 29:
        r = put_fresh(k, 1), text_puts(&k->out, " = tapepush "), put_a(k, TAPE);
        for (n = below(k, 4); n--;) text_puts(&k->out, ", "), put_use(k);
        show_as(k, r, 1, TAPE);
        break;
    case 30:
        n = 1 + below(k, 3), r = put_fresh(k, n), text_puts(&k->out, " = tapepop "), put_a(k, TAPE), show_as(k, r, 1, TAPE),
        show(k, r + 1, n - 1);
        break;
    case 31: r = put_fresh(k, 1), text_puts(&k->out, " = seldef "), put_uses(k, 3), show(k, r, 1); break;
    case 32:
        r = put_fresh(k, 1), text_puts(&k->out, " = spread "), put_a(k, TUPLE), text_puts(&k->out, "..., "), put_use(k), show(k, r, 1);
        break;
    case 33:
        r = put_fresh(k, 2), text_puts(&k->out, " = contract {\"f\" () 0 x: [n: @0, d: @1]} "), put_a(k, NUMBER), show_as(k, r, 2, NUMBER);
        break;
    }
    text_puts(&k->out, "\n");
}

static void put_body(maker *k, unsigned results, unsigned depth, const char *ends, bool condition)
{
    uint32_t mine = k->nregs, r = 0;
    if (!k->next)
        for (unsigned i = 0; i < sizeof first / sizeof *first; i++) {
            r = put_fresh(k, 1);
            text_printf(&k->out, " = %s\n", first[i].s), show_as(k, r, 1, first[i].what);
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
        if (!inner.nregs) show_as(&inner, put_fresh(&inner, 1), 1, NUMBER), text_puts(&inner.out, " = const 2.5\n");
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
    if (held) {
        fprintf(stderr, "%zu bytes held after the end of some listings\n", held);
        abort();
    }
}

/* Where an instruction fails, its results become a number, so that what comes after it runs too. False: there is
   nothing to mend. */
static bool heal(const diag *e, text *t)
{
    if (!e || e->code == DIAG_INTERNAL || e->code == DIAG_INTERRUPT || !e->nlabels || !e->labels[0].at.src ||
        strcmp(e->labels[0].at.src->name, "fuzz"))
        return false;
    uint32_t lo = e->labels[0].at.lo, hi = lo;
    while (lo && t->s[lo - 1] != '\n') lo--;
    while (hi < t->n && t->s[hi] != '\n') hi++;
    char line[300];
    if (hi - lo >= sizeof line || memchr(t->s + lo, '{', hi - lo) || memmem(t->s + lo, hi - lo, "= const", 7)) return false;
    memcpy(line, t->s + lo, hi - lo);
    line[hi - lo] = 0;
    char *equals = strchr(line, '=');
    if (!strncmp(line, "return", 6)) return false;
    text fixed;
    text_open(&fixed, t->m);
    text_add(&fixed, t->s, lo);
    for (char *r = equals ? strtok(line, ", ") : NULL; r && r < equals; r = strtok(NULL, ", ")) text_printf(&fixed, "%s = const 2.5\n", r);
    text_puts(&fixed, t->s + hi + 1);
    text_close(t);
    *t = fixed;
    return !t->failed;
}

/* True when it failed and a text that goes further is in t. */
static bool run_in(int i, text *t)
{
    const char *s = text_str(t);
    size_t n = t->n;
    bool healed = false;
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
            if (!fine) healed = heal(m->error, t);
            if (m->mute || m->gradient_depth || m->keep->n) abort();
        }
        code_release(c);
    }
    diag_free(m->error);
    m->error = NULL;
    return healed;
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
    for (int tries = 0; tries < 20; tries++) {
        if (getenv("FUZZ_SHOW")) fputs(text_str(&k.out), stderr);
        if (!run_in(tries & 1, &k.out)) break;
    }
    run_in(0, &k.out), run_in(1, &k.out);
    text_close(&k.out);
    if (++runs % 200 == 0)
        for (int i = 0; i < 2; i++) close_host(i), open_host(i);
    return 0;
}
