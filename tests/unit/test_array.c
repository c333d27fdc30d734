/* test_array.c: values, arrays, shapes and forms: views and copies against element-wise reading,
 * conversions, broadcasting's exception, functional updates in place and not, freeing without
 * recursion, and every allocation refused in turn. */
#include "vm.h"
#include "views.h"
#include "unit.h"

static vm *m;

static double small(void) { return (double)((int64_t)(view_random() % 41) - 20) / 2; }

START_TEST(copies_of_views)
{
    static const struct {
        int rank;
        int64_t shape[4];
    } shapes[] = {{1, {5}}, {2, {3, 4}}, {3, {2, 1, 3}}, {4, {2, 3, 2, 2}}, {2, {0, 3}}, {1, {1}}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int view = 0; view < VIEWS; view++)
            for (int from = 0; from <= DTYPE_F64; from++)
                for (int to = 0; to <= DTYPE_F64; to++) {
                    value v = view_make(m, (dtype)from, shapes[s].rank, shapes[s].shape, (view_kind)view, small);
                    array *a = as_array(v), *c = array_copy(m, a, (dtype)to);
                    ck_assert(c->dense && c->size == a->size && c->dtype == to);
                    int64_t ix[RANK_MAX] = {0};
                    if (a->size) do {
                            value x = array_get(a, ix), y = array_get(c, ix);
                            double p = x.tag >= V_F32 ? x.u.f : (double)x.u.i, q = y.tag >= V_F32 ? y.u.f : (double)y.u.i;
                            if (to == DTYPE_BOOL) p = p != 0;
                            else if (to == DTYPE_I64) p = trunc(p);
                            ck_assert_msg(p == q, "%g became %g", p, q);
                        } while (view_step(a->rank, array_shape(a), ix));
                    if (from == to) ck_assert(value_same(v, value_object(&c->h)));
                    array *d = array_dense(m, a);
                    ck_assert((d == a) == a->dense);
                    value_release(m, value_object(&d->h));
                    value_release(m, value_object(&c->h));
                    value_release(m, v);
                }
}
END_TEST

START_TEST(uniqueness)
{
    value v = view_make(m, DTYPE_F64, 1, (int64_t[]){4}, VIEW_DENSE, small);
    array *a = as_array(v);
    ck_assert(array_unique(a));
    array *w = array_view(m, a, 1, (int64_t[]){2}, (int64_t[]){2}, 1);
    ck_assert(!array_unique(a) && !array_unique(w) && !w->dense);
    ck_assert(array_at(w, 2).u.f == ((double *)a->data)[3]);
    value_release(m, v);
    ck_assert(array_unique(w)); /* the buffer lives on with its last view */
    value_release(m, value_object(&w->h));
    ck_assert(array_new(m, DTYPE_F64, 2, (int64_t[]){INT64_MAX / 4, 1000}) == NULL);
    ck_assert(strstr(m->error->message, "more than 2^48 elements"));
    diag_free(m->error);
    m->error = NULL;
}
END_TEST

static shaped of_shape(int rank, int64_t a, int64_t b, int64_t c)
{
    shaped s = {.rank = rank, .dtype = DTYPE_F64, .shape = {a, b, c}};
    return s;
}

START_TEST(broadcasting)
{
    struct {
        shaped a, b;
        int rank;
        int64_t shape[3];
        const char *error;
    } rows[] = {
        {of_shape(2, 3, 4, 0), of_shape(1, 4, 0, 0), 2, {3, 4}, NULL},
        {of_shape(2, 3, 1, 0), of_shape(2, 1, 4, 0), 2, {3, 4}, NULL},
        {of_shape(0, 0, 0, 0), of_shape(2, 3, 1, 0), 2, {3, 1}, NULL},
        {of_shape(2, 3, 1, 0), of_shape(1, 3, 0, 0), 0, {0}, "both would have to grow"},
        {of_shape(2, 1, 1, 0), of_shape(1, 3, 0, 0), 2, {1, 3}, NULL},
        {of_shape(1, 3, 0, 0), of_shape(1, 4, 0, 0), 0, {0}, "do not fit"},
        {of_shape(1, 0, 0, 0), of_shape(1, 1, 0, 0), 1, {0}, NULL},
        {of_shape(3, 2, 1, 3), of_shape(2, 4, 3, 0), 0, {0}, "both would have to grow"},
        {of_shape(3, 1, 4, 3), of_shape(2, 4, 3, 0), 3, {1, 4, 3}, NULL},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int turn = 0; turn < 2; turn++) {
            int rank = -1;
            int64_t shape[RANK_MAX];
            bool fine = shape_broadcast(m, "+", turn ? &rows[k].b : &rows[k].a, turn ? &rows[k].a : &rows[k].b, &rank, shape);
            ck_assert_int_eq(fine, rows[k].error == NULL);
            if (fine) {
                ck_assert_int_eq(rank, rows[k].rank);
                for (int i = 0; i < rank; i++) ck_assert_int_eq(shape[i], rows[k].shape[i]);
            } else {
                ck_assert_msg(strstr(m->error->message, rows[k].error) != NULL, "%s", m->error->message);
                diag_free(m->error);
                m->error = NULL;
            }
        }
}
END_TEST

START_TEST(updates)
{
    tuple *t = tuple_new(m, 0, 0);
    value v = value_object(&t->h);
    for (int i = 0; i < 100; i++) ck_assert(tuple_append(m, &v, value_i64(i)));
    value shared = value_retain(v);
    object *before = v.u.o;
    ck_assert(tuple_set(m, &v, 3, value_i64(-1)));
    ck_assert(v.u.o != before && as_tuple(shared)->v[3].u.i == 3 && as_tuple(v)->v[3].u.i == -1);
    before = v.u.o;
    ck_assert(tuple_set(m, &v, 4, value_i64(-1)) && v.u.o == before);
    ck_assert(!value_same(v, shared));
    value_release(m, shared);
    value_release(m, v);
    record *r = record_new(m, 0, 0);
    v = value_object(&r->h);
    for (int i = 0; i < 50; i++) {
        char name[3] = {(char)('a' + i % 26), (char)('a' + i / 26), 0};
        ck_assert(record_set(m, &v, symbol_of(m->symbols, name, 2), value_i64(i)));
    }
    shared = value_retain(v);
    ck_assert(record_set(m, &v, symbol_of(m->symbols, "ca", 2), value_none()));
    ck_assert(as_record(shared)->v[2].u.i == 2 && as_record(v)->v[2].tag == V_NONE && as_record(v)->n == 50);
    value_release(m, shared);
    value_release(m, v);
    value functions = table_new(m);
    for (uint32_t i = 1; i < 200; i++) ck_assert(table_set(m, &functions, i, value_i64(i)));
    shared = value_retain(functions);
    ck_assert(table_set(m, &functions, 7, value_i64(-7)));
    ck_assert(table_get(shared, 7)->u.i == 7 && table_get(functions, 7)->u.i == -7 && table_get(functions, 300) == NULL);
    value_release(m, shared);
    value_release(m, functions);
}
END_TEST

START_TEST(deep_structures)
{
    size_t live = m->mem.live_all;
    value v = value_none();
    for (int i = 0; i < 1000000; i++) {
        tuple *t = tuple_new(m, 2, 2);
        t->v[0] = value_i64(i);
        t->v[1] = v;
        v = value_object(&t->h);
    }
    value_release(m, v);
    ck_assert_uint_eq(m->mem.live_all, live);
    v = value_f64(1);
    for (int i = 0; i < 100000; i++) {
        tuple *t = tuple_new(m, 1, 1);
        t->v[0] = v;
        v = value_object(&t->h);
    }
    value f, z;
    ck_assert(form_of(m, v, &f));
    ck_assert(form_zeros(m, f, &z));
    ck_assert(!value_same(v, z));
    value_release(m, v);
    value_release(m, f);
    value_release(m, z);
    ck_assert_uint_eq(m->mem.live_all, live);
}
END_TEST

START_TEST(forms)
{
    value a = view_make(m, DTYPE_F32, 2, (int64_t[]){2, 3}, VIEW_TURNED, small);
    record *r = record_new(m, 3, 3);
    r->names[0] = symbol_of(m->symbols, "w", 1);
    r->names[1] = symbol_of(m->symbols, "k", 1);
    r->names[2] = symbol_of(m->symbols, "s", 1);
    r->v[0] = a;
    r->v[1] = value_weak(2, WEAK_WHOLE);
    r->v[2] = value_object(&string_new(m, "x", 1)->h);
    value v = value_object(&r->h), f, g, z;
    ck_assert(form_of(m, v, &f) && form_shallow(m, v, &g));
    text t;
    text_open(&t, &m->mem);
    form_print(m, f, &t);
    ck_assert_str_eq(text_str(&t), "{w: f32[2, 3], k: number, s: other}");
    text_clear(&t);
    form_print(m, g, &t);
    ck_assert_str_eq(text_str(&t), "{w: other, k: other, s: other}");
    text_clear(&t);
    value_describe(m, v, &t);
    ck_assert_str_eq(text_str(&t), "record {w, k, s}");
    text_close(&t);
    ck_assert(form_zeros(m, f, &z));
    ck_assert(as_array(as_record(z)->v[0])->size == 6 && as_record(z)->v[2].tag == V_NONE);
    value_release(m, v);
    value_release(m, f);
    value_release(m, g);
    value_release(m, z);
}
END_TEST

/* Makes and changes structures; false when something was refused, with nothing leaked. */
static bool everything(void)
{
    value v = view_make(m, DTYPE_F64, 1, (int64_t[]){3}, VIEW_DENSE, small), f = value_undef(), z = value_undef(), s = value_undef(),
          out = value_undef();
    tuple *t = tuple_new(m, 0, 0);
    bool fine = t != NULL;
    value w = fine ? value_object(&t->h) : value_undef();
    for (int i = 0; fine && i < 6; i++) {
        value_retain(v);
        fine = tuple_append(m, &w, v);
        if (!fine) value_release(m, v);
    }
    if (fine) s = value_retain(w);
    fine = fine && tuple_set(m, &w, 2, value_none());
    fine = fine && form_of(m, w, &f) && form_zeros(m, f, &z);
    if (fine) fine = prim_apply(m, prim_named("mul"), (value[]){w, value_f64(2)}, 2, 0, &out);
    value_release(m, out);
    value_release(m, s);
    value_release(m, w);
    value_release(m, f);
    value_release(m, z);
    value_release(m, v);
    return fine;
}

START_TEST(refusals)
{
    ck_assert(everything());
    size_t live = m->mem.live_all;
    for (uint64_t k = 2;; k++) { /* the first three allocations are view_make's, which is the test's own */
        uint64_t from = m->mem.count;
        m->mem.fail_at = from + k + 2;
        bool fine = everything();
        bool refused = m->mem.count >= m->mem.fail_at;
        m->mem.fail_at = 0;
        diag_free(m->error);
        m->error = NULL;
        ck_assert_uint_eq(m->mem.live_all, live);
        if (!refused) {
            ck_assert(fine);
            break;
        }
        ck_assert(!fine);
    }
}
END_TEST

int main(void)
{
    m = vm_open(NULL);
    if (!m) return EXIT_FAILURE;
    const TTest *const tests[] = {copies_of_views, uniqueness, broadcasting, updates, deep_structures, forms, refusals};
    int status = unit_run("array", tests, sizeof tests / sizeof *tests);
    vm_close(m);
    return status;
}
