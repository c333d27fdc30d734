/* Spilling: what is written comes back with the same bits; a disk that fails, and bytes that are not those
 * written, cost no more than the value; whole programs go on without their disk. */
#include "command.h"
#include "exec.h"
#include "machine.h"
#include "residual.h"
#include "spill.h"

static char notes[4096], printed[4096];
static void note(void *ctx, diag *d)
{
    snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", d->message);
    diag_free(d);
}
static void show(void *user, const diag *d, const char *rendered)
{
    snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", d->message);
}
static bool print(void *user, const char *s, size_t n)
{
    snprintf(printed + strlen(printed), sizeof printed - strlen(printed), "%.*s", (int)n, s);
    return true;
}

static void open_vm(void)
{
    vm_config c = vm_config_default();
    c.report = note;
    notes[0] = 0;
    ck_assert_ptr_nonnull(m = vm_open(&c));
}
static void close_vm(void)
{
    ck_assert_uint_eq(m->mem.live[MEM_RESIDUAL], 0);
    ck_assert_uint_eq(m->mem.live[MEM_ARRAY], 0);
    vm_close(m);
}

static value numbers(int64_t n, double from)
{
    array *a = array_new(m, DTYPE_F64, 1, &n);
    ck_assert_ptr_nonnull(a);
    for (int64_t k = 0; k < n; k++) ((double *)a->data)[k] = from + (double)k;
    return value_object(&a->h);
}
/* (a large array, a small one, (another large one, 7)), held. */
static value group(double from)
{
    tuple *in = tuple_new(m, 2, 2), *t = tuple_new(m, 3, 3);
    ck_assert(in && t);
    in->v[0] = numbers(3000, from + 1);
    in->v[1] = value_i64(7);
    t->v[0] = numbers(1000, from);
    t->v[1] = numbers(4, from);
    t->v[2] = value_object(&in->h);
    value v = value_object(&t->h);
    value_hold(m, v);
    return v;
}
static void let_go(value v)
{
    value_unhold(m, v);
    value_release(m, v);
}

START_TEST(there_and_back)
{
    open_vm();
    value v = group(0.5), w = group(10), out = value_undef();
    size_t live = m->mem.live[MEM_ARRAY];
    spilled *s = spill_write(m, &v, 1), *t = spill_write(m, &w, 1);
    ck_assert(s && t);
    ck_assert_uint_lt(m->mem.live[MEM_ARRAY], live / 50);
    for (int again = 0; again < 2; again++) {
        ck_assert(spill_read(m, t, &w, &out, 1));
        const tuple *p = as_tuple(out);
        const array *a = as_array(p->v[0]), *b = as_array(as_tuple(p->v[2])->v[0]);
        ck_assert_int_eq(a->size, 1000);
        ck_assert_int_eq(b->size, 3000);
        for (int k = 0; k < 1000; k++) ck_assert(((double *)a->data)[k] == 10.0 + k);
        for (int k = 0; k < 3000; k++) ck_assert(((double *)b->data)[k] == 11.0 + k);
        ck_assert_int_eq(as_tuple(p->v[2])->v[1].u.i, 7);
        value_release(m, out);
    }
    spill_release(m, s);
    spill_release(m, t);
    let_go(v);
    let_go(w);
    ck_assert_str_eq(notes, "");
    close_vm();
}
END_TEST

START_TEST(a_disk_that_fails)
{
    open_vm();
    value v = group(1), out = value_undef();
    size_t live = m->mem.live[MEM_ARRAY];
    spill_break(m, true, false);
    ck_assert_ptr_null(spill_write(m, &v, 1));
    ck_assert_uint_eq(m->mem.live[MEM_ARRAY], live); /* as it was */
    ck_assert(as_array(as_tuple(v)->v[0])->size == 1000);
    spill_break(m, false, false);
    spilled *s = spill_write(m, &v, 1);
    ck_assert_ptr_nonnull(s);
    spill_break(m, false, true); /* one bit */
    ck_assert(!spill_read(m, s, &v, &out, 1));
    ck_assert_ptr_null(m->error);
    ck_assert(out.tag == V_UNDEF);
    spill_break(m, false, false);
    ck_assert(spill_read(m, s, &v, &out, 1));
    value_release(m, out);
    spill_release(m, s);
    let_go(v);
    ck_assert_uint_eq(spill_counts(m).failed, 2);
    ck_assert_ptr_nonnull(strstr(notes, "No space left")); /* said once */
    ck_assert_ptr_null(strstr(notes, "checksum"));
    close_vm();
}
END_TEST

START_TEST(refused_memory)
{
    open_vm();
    for (uint64_t k = 1;; k++) {
        value v = group(1), out = value_undef();
        uint64_t end = m->mem.fail_at = m->mem.count + k;
        spilled *s = spill_write(m, &v, 1);
        if (s && spill_read(m, s, &v, &out, 1)) value_release(m, out);
        bool refused = m->mem.count >= end;
        m->mem.fail_at = 0;
        clear_error();
        spill_release(m, s);
        let_go(v);
        if (!refused) break;
    }
    close_vm();
}
END_TEST

/* Prints what the program prints, its disk broken in a way. */
static const char *run_broken(const char *program, bool writes, bool bytes, spill_count *count)
{
    host h = {.show = show, .write = print};
    vm_config c = vm_config_default();
    c.threads = 1;
    notes[0] = printed[0] = 0;
    ck_assert(host_open(&h, &c));
    spill_break(h.vm, writes, bytes);
    int status = 0;
    code *script = command_compile(&h, "test", program, strlen(program), false, &status);
    ck_assert_ptr_nonnull(script);
    value out;
    ck_assert(vm_run(h.vm, script, &out));
    value_release(h.vm, out);
    *count = spill_counts(h.vm);
    code_release(script);
    host_close(&h);
    return printed;
}

START_TEST(programs)
{
    static const char *const texts[] = {
        "fn f(x) { checkpoint (slots = 4, spill = true) < for (i in 0..40) { x = sin(x) * 1.1 } >; sum(x) }\n",
        "fn f(x) { checkpoint (slots = 3, spill = true) < while (max(x) > 0.5) { x = x - 0.05 * x * x } >; sum(x) }\n",
        "fn f(x) { checkpoint (budget = 80KB, spill = true) < for (i in 0..300) { x = sin(x) * 1.1 } >; sum(x) }\n",
        ("w = eye(100) * 1.5\nfn f(x) { for (i in 0..5) { checkpoint (save = \"dots\", spill = true) < y = reshape(x, 20, 100) @ w; x = "
         "reshape(tanh(sin(y) @ w), 2000) > }; sum(x) }\n")};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        char program[600], want[4096];
        snprintf(program, sizeof program, "%sg = grad(f)(sin((0..2000) * 0.1) + 1)\nprint(sum(g), max(g), g[17])\n", texts[k]);
        spill_count count;
        strcpy(want, run_broken(program, false, false, &count));
        ck_assert_str_eq(notes, "");
        ck_assert_msg(count.writes > 2, "program %zu writes %llu times", k, (unsigned long long)count.writes);
        ck_assert_uint_gt(count.reads, 2);
        ck_assert_str_eq(run_broken(program, true, false, &count), want);
        ck_assert_uint_gt(count.failed, 0);
        ck_assert_str_eq(run_broken(program, false, true, &count), want);
        ck_assert_uint_gt(count.failed, 0);
    }
}
END_TEST

UNIT_MAIN("spill", there_and_back, a_disk_that_fails, refused_memory, programs)
