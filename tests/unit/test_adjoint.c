/* test_adjoint.c: arithmetic on cotangents: sums of every structure, in place and not; fitting to
 * forms over shapes and dtypes and its transpose; indexed and named parts; what users are given. */
#include "vm.h"
#include "adjoint.h"
#include "views.h"
#include "unit.h"

static vm *m;

static double small(void) { return (double)((int64_t)(view_random() % 41) - 20) / 4; }

static value apply(const char *name, uint32_t n, const value *args, uint64_t last)
{
    value out = value_undef();
    bool fine = prim_apply(m, prim_named(name), args, n, last, &out);
    ck_assert_msg(fine, "%s: %s", name, m->error ? m->error->message : "no error set");
    return out;
}
static value tuple_of(uint32_t n, const value *v)
{
    tuple *t = tuple_new(m, n, n);
    if (n) memcpy(t->v, v, n * sizeof *v);
    return value_object(&t->h);
}
static value record_of(uint32_t n, const char *names, const value *v)
{
    record *r = record_new(m, n, n);
    for (uint32_t i = 0; i < n; i++) {
        r->names[i] = symbol_of(m->symbols, names + i, 1);
        r->v[i] = v[i];
    }
    return value_object(&r->h);
}
static value vector(int64_t n, const double *x)
{
    array *a = array_new(m, DTYPE_F64, 1, &n);
    memcpy(a->data, x, (size_t)n * sizeof *x);
    return value_object(&a->h);
}
static value word(const char *s) { return value_object(&string_new(m, s, strlen(s))->h); }
static value form_value(value x)
{
    value f;
    ck_assert(form_of(m, x, &f));
    return f;
}
/* Consumes both. */
static void expect(value got, value want)
{
    ck_assert(value_same(got, want));
    value_release(m, got);
    value_release(m, want);
}

START_TEST(sums)
{
    value z = value_zero();
    ck_assert(apply("__acc", 2, (value[]){z, z}, 0).tag == V_ZERO);
    ck_assert(apply("__acc", 2, (value[]){z, value_f64(2)}, 0).u.f == 2);
    ck_assert(apply("__acc", 2, (value[]){value_f32(1.5f), value_f32(2)}, 0).tag == V_F32);
    ck_assert(apply("__acc", 2, (value[]){value_none(), z}, 0).tag == V_NONE);
    ck_assert(apply("__acc", 2, (value[]){value_weak(1, WEAK_WHOLE), value_f64(2)}, 0).weak == STRONG);
    value a = vector(3, (double[]){1, 2, 3}), b = vector(3, (double[]){10, 20, 30});
    void *data = as_array(a)->data;
    value r = apply("__acc", 2, (value[]){a, b}, 1);
    ck_assert_ptr_eq(as_array(r)->data, data);
    value_release(m, a);
    expect(r, vector(3, (double[]){11, 22, 33}));
    r = apply("__acc", 2, (value[]){b, b}, 3);
    expect(r, vector(3, (double[]){20, 40, 60}));
    /* sparse records and short tuples */
    value p = record_of(2, "ab", (value[]){value_f64(1), value_retain(b)}),
          q = record_of(2, "bc", (value[]){value_retain(b), value_f64(5)});
    r = apply("__acc", 2, (value[]){p, q}, 0);
    expect(r, record_of(3, "abc", (value[]){value_f64(1), vector(3, (double[]){20, 40, 60}), value_f64(5)}));
    object *before = p.u.o;
    r = apply("__acc", 2, (value[]){p, q}, 1);
    ck_assert_ptr_eq(r.u.o, before);
    value_release(m, p);
    expect(r, record_of(3, "abc", (value[]){value_f64(1), vector(3, (double[]){20, 40, 60}), value_f64(5)}));
    value_release(m, q);
    value s = tuple_of(1, (value[]){value_f64(1)}), t = tuple_of(3, (value[]){value_f64(2), value_zero(), value_retain(b)});
    expect(apply("__acc", 2, (value[]){s, t}, 1), tuple_of(3, (value[]){value_f64(3), value_zero(), value_retain(b)}));
    expect(apply("__acc", 2, (value[]){t, s}, 3), tuple_of(3, (value[]){value_f64(3), value_zero(), value_retain(b)}));
    value_release(m, s);
    value_release(m, t);
    /* parts of a structure nobody else holds are added to where they lie */
    double ones[] = {1, 1, 1};
    p = tuple_of(1, (value[]){tuple_of(1, (value[]){vector(3, ones)})});
    data = as_array(as_tuple(as_tuple(p)->v[0])->v[0])->data;
    q = tuple_of(1, (value[]){tuple_of(1, (value[]){value_retain(b)})});
    r = apply("__acc", 2, (value[]){p, q}, 1);
    ck_assert_ptr_eq(as_array(as_tuple(as_tuple(r)->v[0])->v[0])->data, data);
    value_release(m, p);
    value_release(m, q);
    value_release(m, r);
    value out, empty = tuple_of(0, NULL);
    ck_assert(!prim_apply(m, prim_named("__acc"), (value[]){b, empty}, 2, 0, &out));
    value_release(m, empty);
    diag_free(m->error);
    m->error = NULL;
    value_release(m, b);
}
END_TEST

START_TEST(deep_sums)
{
    value a = value_f64(1), b = value_f64(2);
    for (int i = 0; i < 100000; i++) {
        a = tuple_of(1, &a);
        b = tuple_of(1, &b);
    }
    value r = apply("__acc", 2, (value[]){a, b}, 0), f = form_value(a), q = apply("__reduce_to", 2, (value[]){r, f}, 0);
    value_release(m, apply("__finish", 2, (value[]){value_zero(), a}, 0));
    value_release(m, a);
    value_release(m, b);
    value_release(m, r);
    value_release(m, f);
    value_release(m, q);
}
END_TEST

/* <spread(d), c> == <d, reduce(c)> for every pair of shapes, and the shapes and dtypes come out right. */
START_TEST(fitting)
{
    static const struct {
        int big_rank;
        int64_t big[3];
        int rank;
        int64_t shape[3];
    } rows[] = {
        {2, {3, 4}, 2, {3, 4}},    {2, {3, 4}, 1, {4}},          {2, {3, 4}, 2, {3, 1}}, {2, {3, 4}, 2, {1, 1}}, {2, {3, 4}, 0, {0}},
        {3, {2, 3, 4}, 2, {1, 4}}, {3, {2, 3, 4}, 3, {2, 1, 4}}, {1, {1}, 0, {0}},       {2, {0, 4}, 1, {4}},    {1, {300}, 0, {0}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int view = 0; view < VIEWS; view++)
            for (int pair = 0; pair < 4; pair++) {
                dtype dc = pair & 1 ? DTYPE_F32 : DTYPE_F64, df = pair & 2 ? DTYPE_F32 : DTYPE_F64;
                value c = view_make(m, dc, rows[k].big_rank, rows[k].big, (view_kind)view, small);
                value d = rows[k].rank ? view_make(m, df, rows[k].rank, rows[k].shape, VIEW_DENSE, small) : scalar_of(df, small());
                value fc = form_value(c), fd = form_value(d);
                value reduced = apply("__reduce_to", 2, (value[]){c, fd}, 0), spread = apply("__spread_to", 2, (value[]){d, fc}, 0);
                value fr = form_value(reduced), fs = form_value(spread);
                ck_assert(value_same(fr, fd) && value_same(fs, fc));
                double left = 0, right = 0;
                int64_t ix[RANK_MAX] = {0};
                if (as_array(c)->size) do
                        left += array_get(as_array(c), ix).u.f * array_get(as_array(spread), ix).u.f;
                    while (view_step(rows[k].big_rank, rows[k].big, ix));
                if (!rows[k].rank) right = d.u.f * reduced.u.f;
                else do
                        right += array_get(as_array(d), ix).u.f * array_get(as_array(reduced), ix).u.f;
                    while (view_step(rows[k].rank, rows[k].shape, ix));
                ck_assert_msg(left == right, "row %zu view %d: %.17g against %.17g", k, view, left, right); /* quarters: exact */
                value dense = value_object(&array_copy(m, as_array(c), dc)->h), again = apply("__reduce_to", 2, (value[]){dense, fd}, 0);
                ck_assert(value_same(again, reduced));
                value all[] = {c, d, fc, fd, reduced, spread, fr, fs, dense, again};
                for (size_t i = 0; i < sizeof all / sizeof *all; i++) value_release(m, all[i]);
            }
    value f = form_value(value_i64(3));
    ck_assert(apply("__reduce_to", 2, (value[]){value_f64(1), f}, 0).tag == V_ZERO); /* integers have no cotangent */
    value p = record_of(2, "ab", (value[]){value_f64(2), tuple_of(2, (value[]){value_f64(3), value_zero()})}),
          w = form_value(value_weak(1, WEAK_FLOAT));
    value r = apply("__reduce_to", 2, (value[]){p, w}, 0);
    ck_assert(r.u.f == 5 && r.weak); /* a number that was broadcast over a record */
    value fp = form_value(p), sparse = record_of(1, "a", (value[]){value_f32(1)});
    expect(apply("__reduce_to", 2, (value[]){sparse, fp}, 0), record_of(1, "a", (value[]){value_f64(1)}));
    value_release(m, p);
    value_release(m, fp);
    value_release(m, sparse);
}
END_TEST

START_TEST(parts_of_arrays)
{
    value x = view_make(m, DTYPE_F64, 2, (int64_t[]){3, 2}, VIEW_DENSE, small), f = form_value(x), c = vector(2, (double[]){1, 2});
    value a = apply("__acc_index", 4, (value[]){value_zero(), c, f, value_i64(-1)}, 0);
    ck_assert(((double *)as_array(a)->data)[4] == 1 && ((double *)as_array(a)->data)[0] == 0);
    void *data = as_array(a)->data;
    value b = apply("__acc_index", 4, (value[]){a, c, f, value_i64(2)}, 1);
    ck_assert(as_array(b)->data == data && ((double *)data)[5] == 4);
    value_release(m, a);
    value row = apply("__cot_index", 3, (value[]){b, value_i64(2), value_none()}, 0);
    expect(row, vector(2, (double[]){2, 4}));
    value cleared = apply("__cot_clear", 2, (value[]){b, value_i64(2)}, 0);
    ck_assert(as_array(cleared)->data != data && ((double *)as_array(cleared)->data)[5] == 0 && ((double *)data)[5] == 4);
    value_release(m, cleared);
    cleared = apply("__cot_clear", 2, (value[]){b, value_i64(2)}, 1);
    ck_assert(as_array(cleared)->data == data && ((double *)data)[5] == 0);
    value_release(m, b);
    value_release(m, cleared);
    /* repeated indices add in order */
    array *ids = array_new(m, DTYPE_I64, 1, (int64_t[]){3});
    memcpy(ids->data, (int64_t[]){1, 1, 0}, 24);
    value ix = value_object(&ids->h), y = vector(2, (double[]){0, 0}), fy = form_value(y), g = vector(3, (double[]){0.5, 0.25, 7});
    expect(apply("__acc_index", 4, (value[]){value_zero(), g, fy, ix}, 0), vector(2, (double[]){7, 0.75}));
    /* a number stands for all of a selection; f32 cotangents of f64 arrays are cast */
    expect(apply("__acc_index", 4, (value[]){y, value_f32(0.5f), fy, ix}, 0), vector(2, (double[]){0.5, 1}));
    value all[] = {x, f, c, ix, y, fy, g};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) value_release(m, all[i]);
}
END_TEST

START_TEST(parts_of_structures)
{
    value x = tuple_of(3, (value[]){value_f64(1), value_f64(2), value_f64(3)}), f;
    ck_assert(form_shallow(m, x, &f));
    value a = apply("__acc_index", 4, (value[]){value_zero(), value_f64(5), f, value_i64(-2)}, 0);
    ck_assert(as_tuple(a)->n == 2 && as_tuple(a)->v[0].tag == V_ZERO && as_tuple(a)->v[1].u.f == 5);
    object *before = a.u.o;
    value b = apply("__acc_index", 4, (value[]){a, value_f64(7), f, value_i64(2)}, 1);
    ck_assert(b.u.o == before && as_tuple(b)->n == 3); /* there was room for the whole */
    value_release(m, a);
    ck_assert(apply("__cot_index", 3, (value[]){b, value_i64(-1), value_none()}, 0).u.f == 7);
    value shorter = tuple_of(1, (value[]){value_f64(9)});
    ck_assert(apply("__cot_index", 3, (value[]){shorter, value_i64(2), value_none()}, 0).tag == V_ZERO);
    ck_assert(apply("__cot_index", 4, (value[]){shorter, value_i64(-3), value_none(), f}, 0).u.f == 9);
    value part = value_object(&slice_new(m, value_i64(1), value_none(), value_none())->h);
    expect(apply("__cot_index", 4, (value[]){b, part, value_none(), f}, 0), tuple_of(2, (value[]){value_f64(5), value_f64(7)}));
    value two = tuple_of(2, (value[]){value_f64(1), value_f64(1)});
    expect(apply("__acc_index", 4, (value[]){b, two, f, part}, 0), tuple_of(3, (value[]){value_zero(), value_f64(6), value_f64(8)}));
    expect(apply("__cot_clear", 3, (value[]){b, value_i64(1), f}, 0), tuple_of(3, (value[]){value_zero(), value_zero(), value_f64(7)}));
    value all[] = {x, f, b, shorter, part, two};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) value_release(m, all[i]);
    /* fields */
    value w = word("w"), k = word("k"), ones = vector(2, (double[]){1, 1});
    a = apply("__acc_field", 3, (value[]){value_zero(), ones, w}, 0);
    b = apply("__acc_field", 3, (value[]){a, value_f64(3), k}, 1);
    ck_assert(b.u.o == a.u.o && as_record(b)->n == 2);
    value_release(m, a);
    value c = apply("__acc_field", 3, (value[]){b, ones, w}, 0);
    ck_assert(c.u.o != b.u.o);
    expect(apply("__cot_field", 2, (value[]){c, w}, 0), vector(2, (double[]){2, 2}));
    ck_assert(apply("__cot_field", 2, (value[]){value_zero(), w}, 0).tag == V_ZERO);
    value d = apply("__cot_clear", 2, (value[]){c, w}, 0);
    ck_assert(apply("__cot_field", 2, (value[]){d, w}, 0).tag == V_ZERO);
    ck_assert(apply("__cot_field", 2, (value[]){d, k}, 0).u.f == 3);
    value more[] = {w, k, ones, b, c, d};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) value_release(m, more[i]);
}
END_TEST

START_TEST(what_users_see)
{
    value w = vector(2, (double[]){1, 2});
    value x = record_of(5, "wknst",
                        (value[]){w, value_i64(3), value_none(), word("s"),
                                  tuple_of(2, (value[]){value_weak(1, WEAK_WHOLE), value_f32(2)})});
    value c = record_of(1, "t", (value[]){tuple_of(1, (value[]){value_f64(4)})});
    value r = apply("__finish", 2, (value[]){c, x}, 0);
    expect(r, record_of(5, "wknst",
                        (value[]){vector(2, (double[]){0, 0}), value_none(), value_none(), value_none(),
                                  tuple_of(2, (value[]){value_f64(4), value_f32(0)})}));
    r = apply("__instantiate", 2, (value[]){c, x}, 0);
    ck_assert(as_record(r)->n == 5 && as_record(r)->v[1].tag == V_I64 && as_tuple(as_record(r)->v[4])->v[0].u.f == 4);
    value_release(m, r);
    value_release(m, x);
    value_release(m, c);
    ck_assert(apply("__nothing", 0, NULL, 0).tag == V_ZERO);
}
END_TEST

int main(void)
{
    m = vm_open(NULL);
    if (!m) return EXIT_FAILURE;
    const TTest *const tests[] = {sums, deep_sums, fitting, parts_of_arrays, parts_of_structures, what_users_see};
    int status = unit_run("adjoint", tests, sizeof tests / sizeof *tests);
    size_t held = m->mem.live[MEM_ARRAY];
    if (held) fprintf(stderr, "adjoint: %zu bytes of arrays leaked\n", held);
    vm_close(m);
    return status || held ? EXIT_FAILURE : EXIT_SUCCESS;
}
