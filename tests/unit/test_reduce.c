/* test_reduce.c: reductions against a plain reading of the tree that reduce.h defines, bit for bit, in every
 * representation of an array and for any number of threads; and the other reductions against their meaning. */
#include "views.h"
#include "reduce.h"
#include "machine.h"

static void open_vm(void) { m = vm_open(NULL); }
static void close_vm(void) { vm_close(m); }

/* --- the tree, read off its definition -------------------------------------------------------------- */

typedef struct plain {
    dtype d;
    reduce_op op;
} plain;
static double op_of(plain p, double a, double b)
{
    double r = p.op == REDUCE_SUM    ? a + b
               : p.op == REDUCE_PROD ? a * b
               : p.op == REDUCE_MAX  ? (a > b || a != a ? a : b)
                                     : (a < b || a != a ? a : b);
    return p.d == DTYPE_F32 ? (double)(float)r : r;
}
static double block_of(plain p, const double *x, int64_t n)
{
    double e = p.op == REDUCE_SUM ? -0.0 : p.op == REDUCE_PROD ? 1 : p.op == REDUCE_MAX ? -INFINITY : INFINITY, lane[16];
    for (int j = 0; j < 16; j++) {
        lane[j] = e;
        for (int64_t i = j; i < n; i += 16) lane[j] = op_of(p, lane[j], x[i]);
    }
    for (int w = 8; w; w /= 2)
        for (int j = 0; j < w; j++) lane[j] = op_of(p, lane[j], lane[j + w]);
    return lane[0];
}
static double blocks_of(plain p, const double *x, int64_t n, int64_t blocks)
{
    if (blocks == 1) return block_of(p, x, n);
    int64_t left = 1;
    while (2 * left < blocks) left *= 2;
    return op_of(p, blocks_of(p, x, left * 128, left), blocks_of(p, x + left * 128, n - left * 128, blocks - left));
}
static double tree_of(plain p, const double *x, int64_t n)
{
    if (n == 0) return p.op == REDUCE_SUM ? 0 : block_of(p, x, 0);
    return blocks_of(p, x, n, (n + 127) / 128);
}

/* Checks op over `axis` (-1: all) of x. */
static void check_one(value x, reduce_op op, int axis)
{
    static const char *const names[] = {"sum", "prod", "max", "min"};
    const array *a = as_array(x);
    int rank = a->rank;
    const int64_t *shape = array_shape(a);
    plain p = {(dtype)a->dtype, op};
    int64_t n = axis < 0 ? a->size : shape[axis];
    if (n == 0 && op >= REDUCE_MAX) return;
    value args[3] = {x, axis < 0 ? value_none() : value_i64(axis), value_bool(false)}, got = call(names[op], 3, args);
    double *line = malloc((size_t)(n + 1) * sizeof *line);
    int64_t index[RANK_MAX] = {0};
    for (bool more = a->size > 0 || axis >= 0; more;) {
        int64_t k = 0, in[RANK_MAX], out[RANK_MAX];
        if (axis < 0) {
            memset(in, 0, sizeof in);
            if (n) do
                    line[k++] = array_get(a, in).u.f;
                while (view_step(rank, shape, in));
        } else
            for (memcpy(in, index, sizeof in); k < n; k++) in[axis] = k, line[k] = array_get(a, in).u.f;
        for (int i = 0, j = 0; i < rank; i++)
            if (i != axis) out[j++] = index[i];
        value v = got;
        if (got.tag == V_ARRAY && as_array(got)->size == 0) break;
        if (got.tag == V_ARRAY) v = array_get(as_array(got), out);
        double want = tree_of(p, line, n);
        ck_assert_msg(view_equal(v, p.d == DTYPE_F32 ? value_f32((float)want) : value_f64(want)), "%s of rank %d axis %d: %.17g, not %.17g",
                      names[op], rank, axis, v.u.f, want);
        more = false;
        for (int i = rank - 1; i >= 0 && axis >= 0; i--) {
            if (i == axis) continue;
            if (++index[i] < shape[i]) {
                more = true;
                break;
            }
            index[i] = 0;
        }
    }
    free(line);
    value_release(m, got);
}

static double mild(void) { return (double)(int64_t)view_random() / 9.3e18 * 3; }

START_TEST(the_tree_in_every_representation)
{
    static const struct {
        int rank;
        int64_t shape[3];
    } cases[] = {
        {1, {1}},       {1, {7}},       {1, {16}},    {1, {127}},       {1, {128}},        {1, {129}},       {1, {1000}}, {2, {3, 5}},
        {2, {300, 40}}, {2, {40, 300}}, {2, {1, 33}}, {3, {4, 130, 6}}, {3, {130, 3, 37}}, {3, {2, 3, 400}}, {2, {0, 3}}, {2, {3, 0}},
    };
    open_vm();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int d = DTYPE_F32; d <= DTYPE_F64; d++)
            for (int kind = 0; kind < VIEWS; kind++)
                for (int op = 0; op < 4; op++)
                    for (int wild = 0; wild < 2; wild++) {
                        value x = view_make(m, (dtype)d, cases[c].rank, cases[c].shape, (view_kind)kind, wild ? view_number : mild);
                        for (int axis = -1; axis < cases[c].rank; axis++) check_one(x, (reduce_op)op, axis);
                        value_release(m, x);
                    }
    close_vm();
}
END_TEST

START_TEST(long_ones_and_threads)
{
    static const struct {
        int rank;
        int64_t shape[2];
    } cases[] = {{1, {131072}}, {1, {400001}}, {2, {140000, 5}}, {2, {3, 140000}}, {2, {270000, 2}}};
    open_vm();
    for (int threads = 1; threads <= 3; threads += 2) {
        m->config.threads = threads;
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            for (int d = DTYPE_F32; d <= DTYPE_F64; d++) {
                value x = view_make(m, (dtype)d, cases[c].rank, cases[c].shape, c % 2 ? VIEW_SLICED : VIEW_DENSE, mild);
                for (int axis = -1; axis < cases[c].rank; axis++) check_one(x, REDUCE_SUM, axis);
                value_release(m, x);
            }
    }
    close_vm();
}
END_TEST

START_TEST(pushed_block_by_block)
{
    double x[5000];
    for (int i = 0; i < 5000; i++) x[i] = mild();
    for (int64_t n = 1; n <= 5000; n = n * 3 / 2 + 1) {
        reduce_tree_f64 t = {.n = 0};
        for (int64_t i = 0; i < n; i += 128)
            reduce_push_f64(&t, REDUCE_SUM, reduce_block_f64(REDUCE_SUM, x + i, n - i < 128 ? n - i : 128));
        ck_assert(reduce_end_f64(&t, REDUCE_SUM) == tree_of((plain){DTYPE_F64, REDUCE_SUM}, x, n));
    }
}
END_TEST

START_TEST(whole_numbers_are_exact)
{
    open_vm();
    int64_t n = 600;
    array *a = array_new(m, DTYPE_I64, 1, &n);
    for (int64_t i = 0; i < n; i++) ((int64_t *)a->data)[i] = i % 2 ? INT64_MIN + 1 : INT64_MAX; /* sums to 0 */
    value x = value_object(&a->h), out = call("sum", 1, &x);
    ck_assert(out.tag == V_I64 && out.u.i == 0);
    ((int64_t *)a->data)[1] = 1;
    ck_assert(!prim_apply(m, prim_named("sum"), &x, 1, 0, &out));
    diag_free(m->error);
    m->error = NULL;
    for (int64_t i = 0; i < n; i++) ((int64_t *)a->data)[i] = i == n - 1 ? 0 : INT64_MAX;
    out = call("prod", 1, &x); /* a zero after an overflow makes it 0 */
    ck_assert(out.tag == V_I64 && out.u.i == 0);
    out = call("max", 1, &x);
    ck_assert(out.tag == V_I64 && out.u.i == INT64_MAX);
    value_release(m, x);
    array *b = array_new(m, DTYPE_BOOL, 1, &n);
    for (int64_t i = 0; i < n; i++) ((uint8_t *)b->data)[i] = i % 3 == 0;
    x = value_object(&b->h);
    out = call("sum", 1, &x);
    ck_assert(out.tag == V_I64 && out.u.i == 200);
    out = call("mean", 1, &x);
    ck_assert(out.tag == V_F64 && out.u.f == 200.0 / 600);
    value_release(m, x);
    close_vm();
}
END_TEST

/* Reductions and scans give the same bits whatever the representation: compare with a dense copy. */
START_TEST(representations_agree)
{
    static const char *const names[] = {"mean",        "var",    "std",     "norm",   "logsumexp",     "median",
                                        "argmax",      "argmin", "any",     "all",    "count_nonzero", "softmax",
                                        "log_softmax", "cumsum", "cumprod", "cummax", "sort",          "argsort"};
    int64_t shape[3] = {5, 140, 6};
    open_vm();
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int d = DTYPE_F32; d <= DTYPE_F64; d++)
            for (int kind = 1; kind < VIEWS; kind++)
                for (int axis = -1; axis < 3; axis++) {
                    value x = view_make(m, (dtype)d, 3, shape, (view_kind)kind, kind % 2 ? mild : view_number);
                    array *dense = array_copy(m, as_array(x), (dtype)d);
                    value a[2] = {x, axis < 0 ? value_none() : value_i64(axis)}, b[2] = {value_object(&dense->h), a[1]};
                    value p = call(names[k], 2, a), q = call(names[k], 2, b);
                    bool same = value_same(p, q);
                    if (!same && p.tag == V_ARRAY) { /* any nan equals any */
                        same = true;
                        for (int64_t i = 0; i < as_array(p)->size; i++)
                            same = same && view_equal(array_at(as_array(p), i), array_at(as_array(q), i));
                    } else if (!same) same = view_equal(p, q);
                    ck_assert_msg(same, "%s kind %d axis %d", names[k], kind, axis);
                    value_release(m, p);
                    value_release(m, q);
                    value_release(m, x);
                    value_release(m, b[0]);
                }
    close_vm();
}
END_TEST

START_TEST(sorting_is_stable_and_puts_nans_last)
{
    open_vm();
    int64_t n = 500;
    for (int down = 0; down < 2; down++) {
        array *a = array_new(m, DTYPE_F64, 1, &n);
        double *x = a->data;
        for (int64_t i = 0; i < n; i++) x[i] = i % 50 == 7 ? NAN : (double)(view_random() % 40);
        value args[3] = {value_object(&a->h), value_i64(-1), value_bool(down)}, places = call("argsort", 3, args),
              sorted = call("sort", 3, args);
        const int64_t *p = as_array(places)->data;
        const double *s = as_array(sorted)->data;
        for (int64_t i = 0; i < n; i++) {
            ck_assert(s[i] == x[p[i]] || (s[i] != s[i] && x[p[i]] != x[p[i]]));
            if (i == 0) continue;
            ck_assert(!(s[i - 1] != s[i - 1]) || s[i] != s[i]);
            if (s[i] == s[i] && s[i - 1] == s[i - 1]) ck_assert(down ? s[i - 1] >= s[i] : s[i - 1] <= s[i]);
            if (s[i] == s[i - 1] || (s[i] != s[i] && s[i - 1] != s[i - 1])) ck_assert(p[i - 1] < p[i]);
        }
        value_release(m, args[0]);
        value_release(m, places);
        value_release(m, sorted);
    }
    close_vm();
}
END_TEST

START_TEST(refused_memory_holds_nothing)
{
    static const char *const names[] = {"sum",    "mean",      "var",     "norm",          "max",    "argmax",  "any",
                                        "median", "logsumexp", "softmax", "log_softmax",   "cumsum", "cumprod", "cummax",
                                        "sort",   "argsort",   "__flat",  "__median_ties", "unique"};
    int64_t shape[3] = {3, 140, 2};
    open_vm();
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int d = DTYPE_I64; d <= DTYPE_F64; d++)
            for (int axis = -1; axis < 2; axis++) {
                value x = view_make(m, (dtype)d, 3, shape, VIEW_TURNED, mild), args[2] = {x, axis < 0 ? value_none() : value_i64(axis)};
                refuse_each(names[k], strcmp(names[k], "unique") ? 2 : 1, args);
                value_release(m, x);
            }
    close_vm();
}
END_TEST

UNIT_MAIN("reduce", refused_memory_holds_nothing, the_tree_in_every_representation, long_ones_and_threads, pushed_block_by_block,
          whole_numbers_are_exact, representations_agree, sorting_is_stable_and_puts_nans_last)
