/* test_random.c: the generator against its published answers, and what the rows promise. */
#include "random.h"
#include <math.h>
#include <string.h>
#include <sleef.h>
#include "unit.h"

static vm *m;
static void open_vm(int threads, dtype d)
{
    vm_config config = vm_config_default();
    config.threads = threads, config.float_dtype = d, config.seed = 7;
    m = vm_open(&config);
    ck_assert(m != NULL);
}
static void close_vm(void)
{
    ck_assert(m->error == NULL);
    vm_close(m);
}
static value run(const char *name, uint32_t n, const value *args)
{
    value out = value_undef();
    ck_assert_msg(prim_apply(m, prim_named(name), args, n, 0, &out), "%s: %s", name, m->error ? m->error->message : "?");
    return out;
}
static void fails(const char *name, uint32_t n, const value *args, const char *message)
{
    value out;
    ck_assert(!prim_apply(m, prim_named(name), args, n, 0, &out));
    ck_assert_str_eq(m->error->message, message);
    diag_free(m->error);
    m->error = NULL;
}

/* Random123's known answers for philox4x32-10 with our layout: counter (n, 0), key. */
START_TEST(known_answers)
{
    uint32_t w[4];
    philox(0, 0, 1, w);
    ck_assert_uint_eq(w[0], 0x6627e8d5);
    ck_assert_uint_eq(w[1], 0xe169c58d);
    ck_assert_uint_eq(w[2], 0xbc57ac4c);
    ck_assert_uint_eq(w[3], 0x9b00dbd8);
    /* Any part of a sequence is that part of the whole. */
    uint32_t all[400], part[80];
    philox(99, 1000, 100, all);
    philox(99, 1037, 20, part);
    ck_assert(memcmp(all + 37 * 4, part, sizeof part) == 0);
}
END_TEST

/* The vector kernels of randn agree with the plain functions in every bit. */
START_TEST(normals_are_the_plain_functions)
{
    open_vm(2, DTYPE_F64);
    enum { N = 200001 };
    double *z = malloc(N * sizeof *z);
    uint64_t *w = malloc((N + 1) * sizeof *w);
    random_normal(m, DTYPE_F64, N, z);
    ck_assert_uint_eq(m->random.counter, (N + 1) / 2);
    m->random.counter = 0;
    random_words(m, N + 1, w);
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i += 2) {
        double u = (double)((w[i] >> 11) + 1) * 0x1p-53, v = (double)(w[i + 1] >> 11) * 0x1p-53;
        double r = sqrt(-2 * Sleef_cinz_logd1_u10purec(u));
        Sleef_double_2 t = Sleef_cinz_sincospid1_u05purec(2 * v);
        double x = r * t.y, y = r * t.x;
        ck_assert_msg(memcmp(&x, z + i, 8) == 0 && (i + 1 == N || memcmp(&y, z + i + 1, 8) == 0), "at %d", i);
        sum += x + y, squares += x * x + y * y;
    }
    ck_assert_double_lt(fabs(sum / N), 0.01);
    ck_assert_double_lt(fabs(squares / N - 1), 0.01);
    free(z), free(w);
    close_vm();
}
END_TEST

START_TEST(threads_do_not_show)
{
    double *x[3];
    float *y[3];
    for (int t = 0; t < 3; t++) {
        open_vm(t + 1, DTYPE_F64);
        x[t] = malloc(1000003 * sizeof(double));
        y[t] = malloc(1000003 * sizeof(float));
        random_uniform(m, DTYPE_F64, 1000003, x[t]);
        random_normal(m, DTYPE_F32, 1000003, y[t]);
        ck_assert_uint_eq(m->random.counter, 500002 + 250001);
        close_vm();
    }
    for (int t = 1; t < 3; t++) {
        ck_assert(memcmp(x[0], x[t], 1000003 * sizeof(double)) == 0);
        ck_assert(memcmp(y[0], y[t], 1000003 * sizeof(float)) == 0);
    }
    double sum = 0;
    for (int i = 0; i < 1000003; i++) {
        ck_assert(x[0][i] >= 0 && x[0][i] < 1);
        sum += x[0][i];
    }
    ck_assert_double_lt(fabs(sum / 1000003 - 0.5), 0.002);
    for (int t = 0; t < 3; t++) free(x[t]), free(y[t]);
}
END_TEST

START_TEST(rows)
{
    open_vm(1, DTYPE_F32);
    value v = run("rand", 0, NULL);
    ck_assert_int_eq(v.tag, V_F32);
    v = run("randn", 2, (value[]){value_i64(3), value_weak(2, WEAK_WHOLE)});
    ck_assert(as_array(v)->dtype == DTYPE_F32 && as_array(v)->size == 6);
    value_release(m, v);
    v = run("randint", 3, (value[]){value_i64(-2), value_i64(3), value_i64(1000)});
    int seen[5] = {0};
    for (int64_t i = 0; i < 1000; i++) {
        int64_t x = array_at(as_array(v), i).u.i;
        ck_assert(x >= -2 && x < 3);
        seen[x + 2]++;
    }
    for (int i = 0; i < 5; i++) ck_assert_int_gt(seen[i], 120);
    value_release(m, v);
    fails("randint", 2, (value[]){value_i64(3), value_i64(3)}, "randint(): high must be more than low, 3, and is 3");
    v = run("permutation", 1, (value[]){value_i64(100)});
    int64_t sum = 0;
    for (int64_t i = 0; i < 100; i++) sum += array_at(as_array(v), i).u.i;
    ck_assert_int_eq(sum, 4950);
    fails("permutation", 1, &v, "permutation(): n is a whole number: how many places to permute");
    value_release(m, v);
    close_vm();
}
END_TEST

START_TEST(choices)
{
    open_vm(1, DTYPE_F64);
    array *p = array_new(m, DTYPE_F64, 1, (int64_t[]){4});
    for (int i = 0; i < 4; i++) array_put(p, i, value_f64(i == 3 ? 0 : i));
    value pv = value_object(&p->h), no = value_bool(false), yes = value_bool(true);
    value v = run("choice", 4, (value[]){value_i64(4), value_i64(3000), yes, pv});
    int seen[4] = {0};
    for (int64_t i = 0; i < 3000; i++) seen[array_at(as_array(v), i).u.i]++;
    ck_assert(seen[0] == 0 && seen[3] == 0 && abs(seen[1] - 1000) < 120);
    value_release(m, v);
    v = run("choice", 4, (value[]){value_i64(4), value_i64(2), no, pv});
    ck_assert_int_eq(array_at(as_array(v), 0).u.i + array_at(as_array(v), 1).u.i, 3);
    value_release(m, v);
    fails("choice", 4, (value[]){value_i64(4), value_i64(3), no, pv},
          "choice(): 3 distinct picks from 2 places of positive weight; give replace = true, or pick fewer");
    v = run("choice", 3, (value[]){value_i64(50), value_i64(50), no});
    int64_t sum = 0;
    for (int64_t i = 0; i < 50; i++) sum += array_at(as_array(v), i).u.i;
    ck_assert_int_eq(sum, 1225);
    value_release(m, v);
    fails("choice", 1, &pv, "choice(): a must be a number of places, or whole numbers, bools or a tuple to pick from");
    value_release(m, pv);
    close_vm();
}
END_TEST

START_TEST(seeds)
{
    open_vm(1, DTYPE_F64);
    value before = run("seed", 1, (value[]){value_i64(5)});
    ck_assert(array_at(as_array(before), 0).u.i == 7);
    double x = run("rand", 0, NULL).u.f;
    value mid = run("seed", 0, NULL);
    double y = run("rand", 0, NULL).u.f;
    value_release(m, run("seed", 1, &mid));
    ck_assert(run("rand", 0, NULL).u.f == y && x != y);
    value_release(m, run("seed", 1, (value[]){value_i64(5)}));
    ck_assert(run("rand", 0, NULL).u.f == x);
    value_release(m, before), value_release(m, mid);
    fails("seed", 1, (value[]){value_f64(1.5)}, "seed(): s must be a whole number, not 1.5");
    close_vm();
}
END_TEST

UNIT_MAIN("random", known_answers, normals_are_the_plain_functions, threads_do_not_show, rows, choices, seeds)
