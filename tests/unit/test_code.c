/* Building Code, groups and their lifetimes, the verifier on what no text can say, free registers. */
#include "unit.h"
#include "code.h"
#include "vm.h"
#include <string.h>

static vm *m;
static size_t code_bytes;

static void open_vm(void)
{
    ck_assert_ptr_nonnull(m = vm_open(NULL));
    code_bytes = m->mem.live[MEM_CODE];
}
static void forget_error(void)
{
    diag_free(m->error);
    m->error = NULL;
}
static void close_vm(void)
{
    ck_assert_msg(!m->error, "%s", m->error ? m->error->message : "");
    code_blocks_close(m);
    ck_assert_uint_eq(m->mem.live[MEM_CODE], code_bytes);
    vm_close(m);
}
static symbol name(const char *s) { return symbol_of(m->symbols, s, strlen(s)); }

/* fn NAME(x) = x, over `ncaptures` captures */
static code *identity(const char *s, uint32_t ncaptures)
{
    builder b;
    builder_open(&b, m, s ? name(s) : 0, NULL, ncaptures, 1);
    builder_return(&b, 1, &b.c->body->params[ncaptures]);
    return builder_finish(&b);
}

START_TEST(building)
{
    open_vm();
    builder b;
    ck_assert(builder_open(&b, m, name("f"), NULL, 1, 2));
    ck_assert_uint_eq(b.c->body->nparams, 3);
    uint32_t one = builder_const(&b, value_i64(1)), weak = builder_const(&b, value_weak(1, WEAK_WHOLE));
    ck_assert_uint_ne(one, weak);
    ck_assert_uint_eq(builder_const(&b, value_i64(1)), one);
    ck_assert_uint_ne(builder_const(&b, value_f64(0.0)), builder_const(&b, value_f64(-0.0)));
    uint32_t text_at = builder_const(&b, value_object(&string_new(m, "dots", 4)->h));
    ck_assert_uint_eq(builder_const(&b, value_object(&string_new(m, "dots", 4)->h)), text_at);
    for (int i = 0; i < 1000; i++) builder_const(&b, value_i64(i));
    for (int i = 0; i < 1000; i++) builder_const(&b, value_i64(i));
    ck_assert_uint_eq(b.c->nconsts, 1000 + 4);
    /* Origins are fresh, or the one asked for. */
    reg r = builder_reg(&b, name("h"));
    instr *i = builder_add(&b, OP_CODE_CONST, one, 1, 0, NULL), *j = builder_add(&b, OP_CODE_CONST, one, 1, 0, NULL);
    ck_assert_uint_ne(i->origin, j->origin);
    b.origin = 77;
    b.flags = INSTR_ADJOINT;
    i = builder_add(&b, OP_CODE_TUPLE, 0, 1, 1, i->dst);
    ck_assert_uint_eq(i->origin, 77);
    ck_assert_uint_eq(i->flags, INSTR_ADJOINT);
    ck_assert_uint_ne(i->dst[0], r);
    block *k = builder_block(&b, 0);
    for (int q = 0; q < 100; q++) block_param_add(&b, k, 0);
    ck_assert_uint_eq(k->nparams, 100);
    ck_assert_uint_eq(k->params[99], b.c->nregs - 1);
    builder_return(&b, 2, b.c->body->params);
    code *c = builder_finish(&b);
    ck_assert_ptr_nonnull(c);
    ck_assert_uint_eq(c->nresults, 2);
    ck_assert_uint_eq(c->required, 2);
    ck_assert_str_eq(symbol_name(m->symbols, c->reg_names[r]), "h");
    code_release(c);
    close_vm();
}
END_TEST

START_TEST(faults)
{
    open_vm();
    builder b;
    /* used before its definition */
    builder_open(&b, m, 0, NULL, 0, 0);
    reg late = builder_reg(&b, 0);
    builder_return(&b, 1, &late);
    ck_assert_ptr_null(builder_finish(&b));
    ck_assert_ptr_nonnull(strstr(m->error->message, "before its definition"));
    forget_error();
    /* no such register, constant, opcode */
    builder_open(&b, m, 0, NULL, 0, 0);
    reg far = 1000;
    builder_return(&b, 1, &far);
    ck_assert_ptr_null(builder_finish(&b));
    forget_error();
    builder_open(&b, m, 0, NULL, 0, 0);
    builder_add(&b, OP_CODE_CONST, 5, 1, 0, NULL);
    builder_return(&b, 0, NULL);
    ck_assert_ptr_null(builder_finish(&b));
    forget_error();
    builder_open(&b, m, 0, NULL, 0, 0);
    builder_add(&b, OP_CODE_TAPE, 1, 1, 0, NULL)->op = OPCODES;
    builder_return(&b, 0, NULL);
    ck_assert_ptr_null(builder_finish(&b));
    forget_error();
    /* one block in two places */
    builder_open(&b, m, 0, NULL, 0, 1);
    block *body = b.at, *k = b.at = builder_block(&b, 0), *both[] = {k, k};
    build_const(&b, value_none());
    builder_yield(&b, 0, NULL);
    b.at = body;
    builder_add_blocks(&b, OP_CODE_IF, 0, 0, 1, body->params, 2, both);
    builder_return(&b, 0, NULL);
    ck_assert_ptr_null(builder_finish(&b));
    ck_assert_ptr_nonnull(strstr(m->error->message, "defined twice"));
    forget_error();
    /* deeper than the limit */
    builder_open(&b, m, 0, NULL, 0, 1);
    const reg *x = b.c->body->params;
    for (int i = 0; i < CODE_NEST_MAX + 10; i++) {
        block *arms[] = {builder_block(&b, 0), builder_block(&b, 0)}, *outer = b.at;
        instr *i_if = builder_add_blocks(&b, OP_CODE_IF, 0, 0, 1, x, 2, arms);
        ck_assert_ptr_nonnull(i_if);
        b.at = outer;
        if (i == 0) builder_return(&b, 0, NULL);
        else builder_yield(&b, 0, NULL);
        b.at = arms[1];
        builder_yield(&b, 0, NULL);
        b.at = arms[0];
    }
    builder_yield(&b, 0, NULL);
    ck_assert_ptr_null(builder_finish(&b));
    ck_assert_ptr_nonnull(strstr(m->error->message, "deep"));
    forget_error();
    close_vm();
}
END_TEST

START_TEST(groups)
{
    open_vm();
    code *f = identity("f", 1), *other = identity("other", 0);
    /* rev, then fwd, which makes closures of rev: one group, one count */
    builder b;
    builder_open(&b, m, 0, NULL, 0, 1);
    uint32_t at = builder_code(&b, code_retain(other));
    builder_add(&b, OP_CODE_CLOSURE, at, 1, 0, NULL);
    builder_return(&b, 1, b.c->body->params);
    code *rev = builder_finish_derived(&b, f, CODE_REV);
    ck_assert_ptr_nonnull(rev);
    ck_assert_ptr_eq(rev->root, f);
    ck_assert_str_eq(code_display_name(rev), "adjoint of f");
    builder_open(&b, m, 0, NULL, 1, 1);
    at = builder_code(&b, code_retain(rev));
    reg out[] = {b.c->body->params[1], builder_add(&b, OP_CODE_CLOSURE, at, 1, 0, NULL)->dst[0]};
    builder_add(&b, OP_CODE_SELF, 1, 1, 0, NULL);
    builder_return(&b, 2, out);
    code *fwd = builder_finish_derived(&b, f, CODE_FWD);
    ck_assert_ptr_nonnull(fwd);
    ck_assert_str_eq(code_display_name(fwd), "f");
    ck_assert_uint_eq(f->refs, 1);
    ck_assert_uint_eq(other->refs, 2);
    code_release(other);
    /* whoever holds rev holds f */
    code_retain(rev);
    ck_assert_uint_eq(f->refs, 2);
    code_release(f);
    ck_assert_uint_eq(rev->root->refs, 1);
    /* a derived Code that fails leaves the group as it was */
    builder_open(&b, m, 0, NULL, 0, 0);
    builder_code(&b, code_retain(rev));
    ck_assert_ptr_null(builder_finish_derived(&b, f, CODE_FWD));
    forget_error();
    ck_assert_uint_eq(f->refs, 1);
    code_release(rev);
    close_vm();
}
END_TEST

/* Each a child of the next: freed without recursion. */
START_TEST(deep)
{
    open_vm();
    code *c = identity("leaf", 0);
    for (int i = 0; i < 200000; i++) {
        builder b;
        builder_open(&b, m, 0, NULL, 0, 0);
        builder_code(&b, c);
        builder_return(&b, 0, NULL);
        c = builder_finish(&b);
        ck_assert_ptr_nonnull(c);
    }
    code_release(c);
    close_vm();
}
END_TEST

START_TEST(primitives)
{
    open_vm();
    for (uint32_t i = 0; i < prim_count; i++) {
        code *c = code_of_prim(m, &prims[i]);
        ck_assert_msg(c != NULL, "%s: %s", prims[i].name, m->error ? m->error->message : "");
        ck_assert_ptr_eq(c, code_of_prim(m, &prims[i]));
        ck_assert_str_eq(code_display_name(c), prims[i].name);
        ck_assert_uint_eq(c->nparams, prim_info_of(m, &prims[i])->nparams);
        code_bytes = m->mem.live[MEM_CODE]; /* kept by the VM */
    }
    close_vm();
}
END_TEST

START_TEST(free_registers)
{
    open_vm();
    static const char s[] = "fn f(x, y, z, n) {\n  a = prim add x, y\n  r = loop.range n, n, a do (i, s) {\n"
                            "    b = if z { yield s } else {\n      c = prim mul a, i\n      %0 = prim add c, y\n      yield %0\n    }\n"
                            "    d = prim add b, z\n    yield d\n  }\n  return r\n}\n";
    code *c = code_assemble(m, "test", s, sizeof s - 1);
    ck_assert_ptr_nonnull(c);
    arena a;
    arena_open(&a, &m->mem, MEM_OTHER);
    reg *out;
    uint32_t n;
    ck_assert(block_free_regs(c, c->body->list[1]->blocks[0], &a, &out, &n));
    const reg *p = c->body->params;
    reg want[] = {p[2], c->body->list[0]->dst[0], p[1]}; /* z, a, y: in order of first use */
    ck_assert_uint_eq(n, 3);
    ck_assert_mem_eq(out, want, sizeof want);
    ck_assert(block_free_regs(c, c->body, &a, &out, &n));
    ck_assert_uint_eq(n, 0);
    arena_close(&a);
    code_release(c);
    close_vm();
}
END_TEST

START_TEST(blocks_are_numbered)
{
    open_vm();
    static const char s[] =
        "fn f(x) {\n  a = checkpoint { yield x }\n  b = checkpoint {\n    c = checkpoint { yield x }\n    yield c\n  }\n  return b\n}\n";
    code *c = code_assemble(m, "test", s, sizeof s - 1);
    ck_assert_ptr_nonnull(c);
    ck_assert_uint_eq(m->stats.nblocks, 3);
    const instr *i = c->body->list[1];
    ck_assert_uint_eq(c->options[i->imm].block, 1);
    uint32_t line, column;
    span_where(m->stats.blocks[1].at, &line, &column);
    ck_assert_uint_eq(line, 3);
    /* derived Code keeps the numbers */
    ck_assert_ptr_nonnull(code_optimise(c));
    ck_assert_uint_eq(m->stats.nblocks, 3);
    code_release(c);
    close_vm();
}
END_TEST

/* Everything a pass does, with each allocation refused in turn: no leak, no crash. */
START_TEST(refusals)
{
    for (uint64_t k = 1;; k++) {
        open_vm();
        size_t values = m->mem.live[MEM_VALUE];
        m->mem.fail_at = m->mem.count + k;
        code *f = identity("f", 0), *rev = NULL, *fwd = NULL;
        if (f) {
            builder b;
            builder_open(&b, m, 0, NULL, 0, 1);
            for (int i = 0; i < 300; i++) build_const(&b, value_i64(i));
            code_drop_dead(&b, false);
            builder_return(&b, 1, b.c->body->params);
            rev = builder_finish_derived(&b, f, CODE_REV);
        }
        if (rev) {
            builder b;
            builder_open(&b, m, 0, NULL, 0, 1);
            instr *i = builder_add(&b, OP_CODE_CLOSURE, builder_code(&b, code_retain(rev)), 1, 0, NULL);
            string *s = string_new(m, "a", 1);
            block_options o = {.policy = KEEP_NAMES, .nnames = s ? 1 : 0, .names = &(value){.tag = V_STRING, .u.o = (object *)s}};
            block *at = b.at, *inside = b.at = builder_block(&b, 0);
            builder_yield(&b, 0, NULL);
            b.at = at;
            builder_add_blocks(&b, OP_CODE_CHECKPOINT, builder_options(&b, &o), 0, 0, NULL, 1, &inside);
            if (s) value_release(m, value_object(&s->h));
            builder_return(&b, 1, i->dst);
            fwd = builder_finish_derived(&b, f, CODE_FWD);
        }
        bool refused = m->mem.count >= m->mem.fail_at;
        ck_assert(fwd || refused);
        ck_assert(fwd || m->error);
        if (f) ck_assert_uint_eq(f->refs, 1);
        code_release(f);
        forget_error();
        ck_assert_uint_eq(m->mem.live[MEM_VALUE], values);
        close_vm();
        if (!refused) break;
    }
}
END_TEST

UNIT_MAIN("code", building, faults, groups, deep, primitives, free_registers, blocks_are_numbered, refusals)
