/* Residuals: regions forced again, what blocks keep, tapes, and the account of what is held. */
#include "exec.h"
#include "run.h"
#include "machine.h"
#include <string.h>

static char output[4096], notes[4096];

static bool collect(void *ctx, const char *s, size_t n)
{
    size_t have = strlen(output);
    if (have + n < sizeof output) memcpy(output + have, s, n), output[have + n] = 0;
    return true;
}
static void note(void *ctx, diag *d)
{
    strncat(notes, d->message, sizeof notes - strlen(notes) - 1);
    strncat(notes, "\n", sizeof notes - strlen(notes) - 1);
    diag_free(d);
}

static void open_vm(void)
{
    vm_config c = vm_config_default();
    c.write = collect;
    c.report = note;
    output[0] = notes[0] = 0;
    ck_assert_ptr_nonnull(m = vm_open(&c));
}
static void close_vm(void)
{
    diag_free(m->error);
    m->error = NULL;
    ck_assert_uint_eq(m->stats.saved, 0);
    ck_assert_uint_eq(m->mem.live[MEM_RESIDUAL], 0);
    vm_close(m);
}

static value run_code(code *c)
{
    value out;
    bool fine = vm_run(m, c, &out);
    ck_assert_msg(fine, "%s", error_text());
    ck_assert(m->keep->n == 0 && m->mute == 0 && m->exec->forcing == 0 && m->gradient_depth == 0);
    return out;
}
static value run_text(const char *s)
{
    code *c = assemble(s);
    value v = run_code(c);
    code_release(c);
    return v;
}
static value part(value t, uint32_t k) { return as_tuple(t)->v[k]; }

/* --- forcing -------------------------------------------------------------------------------- */

START_TEST(forced)
{
    open_vm();
    /* silent, and as often as asked */
    value v = run_text("fn main() {\n  $0 = fn region[x, k]() {\n    %0 = prim print x\n    %1 = prim mul x, k\n    return %1, x\n  }\n"
                       "  x = const 3i64\n  k = const 5i64\n  r = replayable $0 x, k\n  a, b = force r\n  c, d = force r\n  %0 = prim "
                       "print c\n  t = tuple a, c, d\n  return t\n}\n");
    ck_assert_int_eq(part(v, 0).u.i, 15);
    ck_assert_int_eq(part(v, 1).u.i, 15);
    ck_assert_int_eq(part(v, 2).u.i, 3);
    ck_assert_str_eq(output, "15\n");
    ck_assert_uint_eq(m->stats.rerun_ops, 4);
    value_release(m, v);
    close_vm();
}
END_TEST

/* The last force moves what entered into the frame, so that it is written in place there. */
START_TEST(forced_last)
{
    open_vm();
    code *c = assemble(
        "fn main() {\n  $0 = fn region[x]() {\n    o = const 1\n    %1 = prim add x, o\n    %2 = prim add %1, o\n    return %2\n  }\n"
        "  n = const 100000i64\n  x = prim zeros n\n  r = replayable $0 x\n  a = force r\n  %1 = prim sum a\n  return %1\n}\n");
    value v = run_code(c);
    memory_reset_peak(&m->mem);
    v = run_code(c);
    ck_assert_double_eq(v.u.f, 200000);
    ck_assert_uint_lt(m->mem.peak[MEM_ARRAY], 800000 + 2000);
    code_release(c);
    /* not the last: what entered is not changed */
    v = run_text("fn main() {\n  $0 = fn region[x]() {\n    o = const 1\n    %1 = prim add x, o\n    %2 = prim sum %1\n    return %2\n  }\n"
                 "  n = const 10i64\n  x = prim zeros n\n  r = replayable $0 x\n  a = force r\n  b = force r\n  %1 = prim sub a, b\n  "
                 "return %1\n}\n");
    ck_assert_double_eq(v.u.f, 0);
    close_vm();
}
END_TEST

START_TEST(random_numbers)
{
    open_vm();
    if (!prim_find(m, symbol_of(m->symbols, "rand", 4))) {
        close_vm();
        return;
    }
    value v = run_text(
        "fn main() {\n  $0 = fn region[]() {\n    n = const 4i64\n    %1 = prim rand n\n    %2 = prim sum %1\n    return %2\n  }\n"
        "  r = replayable $0\n  n = const 4i64\n  a = prim rand n\n  a.2 = prim sum a\n  b = prim rand n\n  b.2 = prim sum b\n  c = force "
        "r\n  d = prim rand n\n  d.2 = prim sum d\n"
        "  e = force r\n  t = tuple a.2, b.2, c, d.2, e\n  return t\n}\n");
    ck_assert(part(v, 0).u.f == part(v, 2).u.f); /* the region's own numbers, both times */
    ck_assert(part(v, 0).u.f == part(v, 4).u.f);
    ck_assert(part(v, 1).u.f != part(v, 0).u.f);
    random_state after = m->random;
    ck_assert_uint_eq(after.counter, m->random.counter);
    value_release(m, v);
    close_vm();
}
END_TEST

/* Top-level functions are those of the first time. */
START_TEST(functions_then)
{
    open_vm();
    value v = run_text(
        "fn main() {\n  $0 = fn one() {\n    a = const 1i64\n    return a\n  }\n  $1 = fn two() {\n    a = const 2i64\n    return a\n  }\n"
        "  $2 = fn region[]() {\n    g = global g\n    a = call g\n    return a\n  }\n"
        "  f = closure $0\n  setglobal g f\n  r = replayable $2\n  h = closure $1\n  setglobal g h\n  a = force r\n  g = global g\n  b = "
        "call g\n  t = tuple a, b\n  return t\n}\n");
    ck_assert_int_eq(part(v, 0).u.i, 1);
    ck_assert_int_eq(part(v, 1).u.i, 2);
    value_release(m, v);
    close_vm();
}
END_TEST

/* An error while a region is forced gives everything back as it was, to a try outside. */
START_TEST(error_in_region)
{
    open_vm();
    code *c = assemble("fn main() {\n  $0 = fn f(x) {\n    $0 = fn region[x]() {\n      $0 = fn inner[x]() {\n        return x\n      }\n  "
                       "    r = replayable $0 x\n      t = const \"text\"\n"
                       "      a = checkpoint (save = dots) r {\n        %1 = prim add x, t\n        yield %1\n      }\n      return a\n    "
                       "}\n    r = replayable $0 x\n    a = force r\n    return a\n  }\n"
                       "  f = closure $0\n  n = const 3i64\n  x = prim zeros n\n  a = tuple x\n  p, q = try f, a\n  %0 = prim print q\n  "
                       "%1 = call f, x\n  return %1\n}\n");
    for (int k = 0; k < 2; k++) {
        value out;
        size_t base = m->mem.live_all;
        output[0] = 0;
        ck_assert(!vm_run(m, c, &out));
        ck_assert(m->keep->n == 0 && m->mute == 0 && m->exec->forcing == 0);
        ck_assert_ptr_nonnull(strstr(output, "string")); /* the try's message was printed: not muted any more */
        diag_free(m->error);
        m->error = NULL;
        if (k) ck_assert_uint_eq(m->mem.live_all, base);
    }
    code_release(c);
    close_vm();
}
END_TEST

/* --- what blocks keep ----------------------------------------------------------------------- */

/* A region x @ x @ x whose plain code stands in a block; the two share origins by hand. */
static code *dots(const char *options)
{
    char s[1200];
    snprintf(s, sizeof s,
             "fn main() {\n  $0 = fn region[x]() {\n    %%1 = prim matmul x, x\n    %%2 = prim matmul %%1, x\n    return %%2\n  }\n"
             "  n = const 8i64\n  x = prim eye n\n  r = replayable $0 x\n  y = checkpoint %s r {\n    %%1 = prim matmul x, x\n    %%2 = "
             "prim matmul %%1, x\n    yield %%2\n  }\n"
             "  a = force r\n  b = force r\n  %%4 = prim sub a, b\n  %%5 = prim sum %%4\n  return %%5\n}\n",
             options);
    return assemble(s);
}

static void share_origins(code *c)
{
    code *region = c->codes[0];
    block *plain = NULL;
    for (uint32_t i = 0; i < c->body->n; i++)
        if (c->body->list[i]->op == OP_CODE_CHECKPOINT) plain = c->body->list[i]->blocks[0];
    ck_assert_ptr_nonnull(plain);
    for (uint32_t i = 0; i < 2; i++) region->body->list[i]->origin = plain->list[i]->origin;
}

START_TEST(keeps_dots)
{
    static const struct {
        const char *options;
        uint64_t products;
    } of[] = {{"(save = dots)", 0}, {"(save = dots_no_batch)", 0}, {"", 4}, {"(save = [\"attn\"])", 4}, {"(save = not [\"attn\"])", 4}};
    for (int k = 0; k < 5; k++) {
        open_vm();
        code *c = dots(of[k].options);
        share_origins(c);
        value v = run_code(c);
        ck_assert_double_eq(v.u.f, 0);
        ck_assert_uint_eq(m->stats.rerun_ops, of[k].products * 2 * 8 * 8 * 8);
        ck_assert_int_eq(strstr(notes, "attn") != NULL, k == 3);
        notes[0] = 0;
        m->stats.rerun_ops = 0;
        v = run_code(c);
        ck_assert(notes[0] == 0); /* a note is given once */
        code_release(c);
        close_vm();
    }
}
END_TEST

/* A value kept of an inner run is supplied to each outer replay, and an inner block that is replayed
   within the replay gets its own copy from there. */
START_TEST(keep_contexts)
{
    open_vm();
    code *c = assemble("fn main() {\n  a = const 1\n  return a\n}\n");
    residual *outer = residual_new(m, c, 0), *inner = residual_new(m, c, 0);
    const prim *input = NULL;
    for (uint32_t i = 0; i < prim_count && !input; i++)
        if (prims[i].attrs & A_INPUT) input = &prims[i];
    if (input) {
        value v;
        ck_assert(keep_record(m, outer) && keep_record(m, inner));
        ck_assert(!keep_lookup(m, input, 7, NULL, 0, &v) && keep_offer(m, input, 7, NULL, 0, value_i64(1)));
        keep_leave(m);
        ck_assert(!keep_lookup(m, input, 7, NULL, 0, &v) && keep_offer(m, input, 7, NULL, 0, value_i64(2)));
        keep_leave(m);
        ck_assert_uint_eq(outer->keep.n, 2);
        ck_assert_uint_eq(inner->keep.n, 1);
        outer->h.refs++; /* somebody else wants it as well */
        for (int again = 0; again < 2; again++) {
            residual *fresh = residual_new(m, c, 0);
            ck_assert(keep_read(m, outer) && keep_record(m, fresh));
            ck_assert(keep_lookup(m, input, 7, NULL, 0, &v) && v.u.i == 1 && keep_offer(m, input, 7, NULL, 0, v));
            keep_leave(m);
            ck_assert(keep_lookup(m, input, 7, NULL, 0, &v) && v.u.i == 2 && keep_offer(m, input, 7, NULL, 0, v));
            ck_assert(!keep_lookup(m, input, 7, NULL, 0, &v) && !keep_lookup(m, input, 8, NULL, 0, &v));
            keep_leave(m);
            ck_assert_uint_eq(fresh->keep.n, 1);
            ck_assert_uint_eq(outer->keep.n, 2);
            value_release(m, value_object(&fresh->h));
        }
        outer->h.refs--;
    }
    value_release(m, value_object(&outer->h));
    value_release(m, value_object(&inner->h));
    code_release(c);
    close_vm();
}
END_TEST

/* --- holds ---------------------------------------------------------------------------------- */

static value vector(int64_t n) { return value_object(&array_zeros(m, DTYPE_F64, 1, &n)->h); }

START_TEST(holds)
{
    open_vm();
    value old = vector(100);
    m->gradient_birth = m->clock;
    value a = vector(10), b = vector(20);
    int64_t five = 5, one = 1;
    value view = value_object(&array_view(m, as_array(a), 1, &five, &one, 0)->h);
    value_hold(m, old); /* born before: an argument */
    ck_assert_uint_eq(m->stats.saved, 0);
    value_hold(m, a);
    value_hold(m, a);
    value_hold(m, view); /* of the same buffer */
    ck_assert_uint_eq(m->stats.saved, 80);
    tuple *t = tuple_new(m, 3, 3);
    t->v[0] = value_retain(a);
    t->v[1] = value_retain(b);
    t->v[2] = value_retain(b);
    value_hold(m, value_object(&t->h));
    value_hold(m, value_object(&t->h));
    ck_assert_uint_eq(m->stats.saved, 240);
    value_unhold(m, a);
    value_unhold(m, a);
    value_unhold(m, view);
    value_unhold(m, value_object(&t->h));
    ck_assert_uint_eq(m->stats.saved, 240);
    m->gradient_birth = m->clock; /* another gradient began meanwhile */
    value_unhold(m, value_object(&t->h));
    ck_assert_uint_eq(m->stats.saved, 0);
    ck_assert_uint_eq(m->stats.saved_peak, 240);
    value_unhold(m, old);
    value_release(m, value_object(&t->h));
    value_release(m, view);
    value_release(m, a);
    value_release(m, b);
    value_release(m, old);
    /* a chain a million deep */
    value chain = value_none();
    for (int i = 0; i < 1000000; i++) {
        tuple *k = tuple_new(m, 2, 2);
        k->v[0] = chain;
        k->v[1] = i % 1000 ? value_i64(i) : vector(1);
        chain = value_object(&k->h);
    }
    value_hold(m, chain);
    ck_assert_uint_eq(m->stats.saved, 8000);
    value_unhold(m, chain);
    ck_assert_uint_eq(m->stats.saved, 0);
    value_release(m, chain);
    close_vm();
}
END_TEST

START_TEST(pullbacks_let_go)
{
    open_vm();
    /* A pullback over 20 arrays that adds them up one by one: each goes as it is used. */
    char s[4000] = "fn main() {\n  $0 = fn back[";
    for (int i = 0; i < 20; i++) sprintf(s + strlen(s), "%sx%d", i ? ", " : "", i);
    strcat(s, "](g) {\n    a0 = prim mul x0, g\n");
    for (int i = 1; i < 20; i++) sprintf(s + strlen(s), "    a%d = prim add a%d, x%d\n", i, i - 1, i);
    strcat(s, "    n = const 10000i64\n    z = prim zeros n\n    r = prim add a19, z\n    r.2 = prim sum r\n    return r.2\n  }\n  n = "
              "const 10000i64\n");
    for (int i = 0; i < 20; i++) sprintf(s + strlen(s), "  x%d = prim zeros n\n", i);
    strcat(s, "  b = closure.residual $0 ");
    for (int i = 0; i < 20; i++) sprintf(s + strlen(s), "%sx%d", i ? ", " : "", i);
    char twice[4400];
    snprintf(twice, sizeof twice, "%s\n  g = const 2.0\n  y = call.pullback b, g\n  w = call.pullback b, g\n  return y\n}\n", s);
    strcat(s, "\n  g = const 2.0\n  y = call.pullback b, g\n  return y\n}\n");
    code *c = assemble(s);
    value v = run_code(c);
    memory_reset_peak(&m->mem);
    m->stats.saved_peak = 0;
    v = run_code(c);
    ck_assert_double_eq(v.u.f, 0);
    ck_assert_uint_eq(m->stats.saved_peak, 20 * 80000);
    ck_assert_uint_lt(m->mem.peak[MEM_ARRAY], 20 * 80000 + 20000); /* nothing beyond the saved ones */
    code_release(c);
    v = run_text(twice);
    ck_assert_double_eq(v.u.f, 0);
    close_vm();
}
END_TEST

/* --- steps, depth ---------------------------------------------------------------------------- */

START_TEST(steps)
{
    open_vm();
    code *c = assemble("fn main() {\n  $0 = fn f(n) {\n    $0 = fn region[n]() {\n      z = const 0i64\n      s = loop.range.step z, n, z "
                       "do (i, a) { yield i }\n      return s\n    }\n"
                       "    z = const 0i64\n    s = loop.range.step z, n, z do (i, a) { yield i }\n    r = replayable $0 n\n    t = force "
                       "r\n    %1 = prim add s, t\n    return %1\n  }\n"
                       "  z = const 0i64\n  n = const 10i64\n  s = loop.range.step z, n, z do (i, a) { yield i }\n  f = closure $0\n  t = "
                       "call f, n\n  return t\n}\n");
    c->codes[0]->role = CODE_FWD;
    value v = run_code(c);
    ck_assert_int_eq(v.u.i, 18);
    ck_assert_uint_eq(m->stats.step_runs, 20);
    ck_assert_uint_eq(m->stats.steps, 10);
    code_release(c);
    close_vm();
}
END_TEST

/* --- tapes ---------------------------------------------------------------------------------- */

START_TEST(tapes)
{
    open_vm();
    m->gradient_birth = m->clock;
    value t = tape_new(m, 2), e[2];
    for (int i = 0; i < 100; i++) {
        e[0] = value_i64(i);
        e[1] = vector(i + 1);
        object *before = t.u.o;
        ck_assert(tape_push(m, &t, 2, e));
        ck_assert_ptr_eq(before, t.u.o);
    }
    ck_assert_uint_eq(m->stats.saved, 8 * 5050);
    value copy = value_retain(t);
    ck_assert(tape_pop(m, &copy, 2, e)); /* a copy from here on */
    ck_assert_int_eq(e[0].u.i, 99);
    ck_assert(copy.u.o != t.u.o && as_tape(t)->n == 100 && as_tape(copy)->n == 99);
    value_release(m, e[1]);
    value sum;
    ck_assert(!tape_acc(m, t, copy, &sum));
    diag_free(m->error);
    m->error = NULL;
    ck_assert(tape_acc(m, t, value_zero(), &sum));
    ck_assert_ptr_eq(sum.u.o, t.u.o);
    value_release(m, sum);
    ck_assert(tape_acc(m, copy, copy, &sum));
    ck_assert_int_eq(as_tape(sum)->v[2 * 98].u.i, 196);
    value_release(m, sum);
    value_release(m, copy);
    value zero = value_zero();
    ck_assert(tape_pop(m, &zero, 2, e) && e[0].tag == V_ZERO && e[1].tag == V_ZERO);
    for (int i = 99; i >= 0; i--) {
        ck_assert(tape_pop(m, &t, 2, e));
        ck_assert_int_eq(e[0].u.i, i);
        ck_assert_uint_eq(e[1].u.o->refs, 1);
        value_release(m, e[1]);
    }
    ck_assert_uint_eq(m->stats.saved, 0);
    value_release(m, t);
    close_vm();
}
END_TEST

START_TEST(report)
{
    open_vm();
    value t = tape_new(m, 2), e[2] = {vector(10), value_undef()}, out;
    e[1] = value_retain(e[0]);
    ck_assert(tape_push(m, &t, 2, e));
    ck_assert(residual_report(m, t, value_none(), &out));
    ck_assert_int_eq(as_record(out)->v[0].u.i, 1);  /* arrays of their own memory */
    ck_assert_int_eq(as_record(out)->v[1].u.i, 80); /* bytes: one buffer */
    value_release(m, out);
    ck_assert(residual_report(m, t, e[0], &out)); /* what the caller has anyway */
    ck_assert_int_eq(as_record(out)->v[1].u.i, 0);
    value_release(m, out);
    value_release(m, t);
    close_vm();
}
END_TEST

UNIT_MAIN("residual", forced, forced_last, random_numbers, functions_then, error_in_region, keeps_dots, keep_contexts, holds,
          pullbacks_let_go, steps, tapes, report)
