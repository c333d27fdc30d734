/* test_structure.c: tuples and records: append in place and not, zip and its transpose, flatten and back at
 * any depth, casts, and what […] makes of its elements. */
#include "views.h"
#include "index.h"
#include "machine.h"

static value tuple_of(uint32_t n, const value *v)
{
    tuple *t = tuple_new(m, n, n);
    for (uint32_t i = 0; i < n; i++) t->v[i] = v[i];
    return value_object(&t->h);
}
static value vector(int64_t n, const double *x)
{
    array *a = array_new(m, DTYPE_F64, 1, &n);
    memcpy(a->data, x, (size_t)n * sizeof *x);
    return value_object(&a->h);
}
static value words_of(const char *s) { return value_object(&string_new(m, s, strlen(s))->h); }

START_TEST(append_grows_in_place)
{
    m = vm_open(NULL);
    value t = tuple_of(0, NULL);
    uint64_t before = m->mem.count;
    for (int i = 0; i < 100000; i++) {
        value args[2] = {t, value_i64(i)}, out = call_last("append", 2, args, 1);
        value_release(m, t);
        t = out;
    }
    ck_assert(m->mem.count - before < 100); /* it doubles */
    ck_assert_int_eq(as_tuple(t)->n, 100000);
    for (int i = 0; i < 100000; i++) ck_assert(as_tuple(t)->v[i].u.i == i);
    value held = value_retain(t), args[2] = {t, value_none()}, out = call_last("append", 2, args, 1);
    ck_assert(as_tuple(held)->n == 100000 && as_tuple(out)->n == 100001);
    value_release(m, out);
    value_release(m, held);
    /* The cotangent of what was appended to: its first elements. */
    value f, back[3] = {value_zero(), t, value_undef()};
    value small[2] = {value_i64(1), value_i64(2)}, s = tuple_of(2, small);
    ck_assert(form_shallow(m, s, &f));
    back[2] = f;
    out = call_last("__acc_head", 3, back, 2);
    ck_assert(out.u.o == t.u.o && as_tuple(t)->n == 2); /* cut short where it is */
    value all[] = {out, t, s, f};
    for (int i = 0; i < 4; i++) value_release(m, all[i]);
    vm_close(m);
}
END_TEST

START_TEST(zip_and_its_columns)
{
    m = vm_open(NULL);
    double one[3] = {1, 2, 3};
    value a = vector(3, one), parts[3] = {value_i64(7), value_none(), words_of("x")}, b = tuple_of(3, parts), args[2] = {a, b};
    value z = call_last("zip", 2, args, 0);
    ck_assert_int_eq(as_tuple(z)->n, 3);
    ck_assert(as_tuple(as_tuple(z)->v[1])->v[0].u.f == 2 && as_tuple(as_tuple(z)->v[0])->v[1].u.i == 7);
    value f, column[3] = {z, value_i64(0), value_undef()};
    ck_assert(form_shallow(m, a, &f));
    column[2] = f;
    value back = call_last("__column", 3, column, 0);
    ck_assert(value_same(back, a));
    /* A cotangent may end early and have symbolic zeros. */
    value thin[2] = {value_zero(), value_zero()}, g = tuple_of(2, thin), sparse;
    column[0] = g;
    sparse = call_last("__column", 3, column, 0);
    ck_assert(as_array(sparse)->size == 3 && array_at(as_array(sparse), 2).u.f == 0);
    value all[] = {a, b, z, f, back, g, sparse};
    for (int i = 0; i < 7; i++) value_release(m, all[i]);
    vm_close(m);
}
END_TEST

START_TEST(flatten_and_back)
{
    m = vm_open(NULL);
    double w[4] = {1, 2, 3, 4};
    record *r = record_new(m, 3, 3);
    symbol names[3] = {symbol_of(m->symbols, "w", 1), symbol_of(m->symbols, "s", 1), symbol_of(m->symbols, "n", 1)};
    memcpy(r->names, names, sizeof names);
    r->v[0] = vector(4, w), r->v[1] = words_of("kept"), r->v[2] = value_i64(5);
    value inner[2] = {value_object(&r->h), value_f32(0.5f)}, p = tuple_of(2, inner), flat = call_last("flatten", 1, &p, 0);
    ck_assert(as_array(flat)->dtype == DTYPE_F64 && as_array(flat)->size == 5 && array_at(as_array(flat), 4).u.f == 0.5);
    value args[2] = {flat, p}, again = call_last("unflatten", 2, args, 0);
    ck_assert(value_same(again, p));
    double few[2] = {1, 2};
    value short_ = vector(2, few), out;
    args[0] = short_;
    ck_assert(!apply_last("unflatten", 2, args, 0, &out));
    diag_free(m->error);
    m->error = NULL;
    /* A sparse cotangent: what is absent is zero. */
    value f;
    ck_assert(form_of(m, p, &f));
    record *g = record_new(m, 0, 1);
    value only = value_object(&g->h), thin = tuple_of(1, &only), as[2] = {thin, f}, zeros = call_last("__flatten_as", 2, as, 0);
    ck_assert_int_eq(as_array(zeros)->size, 5);
    for (int i = 0; i < 5; i++) ck_assert(array_at(as_array(zeros), i).u.f == 0);
    value filled = call_last("__fill", 2, as, 0);
    ck_assert(as_tuple(filled)->n == 2 && as_tuple(filled)->v[1].tag == V_F32 && as_record(as_tuple(filled)->v[0])->n == 3);
    value all[] = {p, flat, again, short_, f, thin, zeros, filled};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) value_release(m, all[i]);
    vm_close(m);
}
END_TEST

START_TEST(deep_structures_need_no_stack)
{
    m = vm_open(NULL);
    value p = value_f64(1), f = value_undef();
    enum { DEEP = 100000 };
    for (int i = 0; i < DEEP; i++) p = tuple_of(1, &p);
    if (form_of(m, p, &f)) {
        value as[2] = {p, f}, flat = call_last("__flatten_as", 2, as, 0), filled = call_last("__fill", 2, as, 0);
        ck_assert(as_array(flat)->size == 1 && array_at(as_array(flat), 0).u.f == 1);
        value_release(m, flat);
        value_release(m, filled);
        value_release(m, f);
    }
    value_release(m, p);
    vm_close(m);
}
END_TEST

START_TEST(casts)
{
    m = vm_open(NULL);
    value x = value_f64(2.7), out = call_last("i64", 1, &x, 0);
    ck_assert(out.tag == V_I64 && out.u.i == 2);
    x = value_f64(-2.7);
    out = call_last("i64", 1, &x, 0);
    ck_assert(out.u.i == -2);
    static const double bad[] = {NAN, INFINITY, -INFINITY, 0x1p63, -0x1.8p63};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        x = value_f64(bad[i]);
        ck_assert(!apply_last("i64", 1, &x, 0, &out));
        diag_free(m->error);
        m->error = NULL;
    }
    x = value_f64(-0x1p63);
    out = call_last("i64", 1, &x, 0);
    ck_assert(out.u.i == INT64_MIN);
    x = words_of(" 9223372036854775807 ");
    out = call_last("i64", 1, &x, 0);
    ck_assert(out.u.i == INT64_MAX);
    out = call_last("f32", 1, &x, 0);
    ck_assert(out.tag == V_F32 && out.u.f == 0x1p63);
    value_release(m, x);
    x = value_weak(3, WEAK_WHOLE);
    out = call_last("f64", 1, &x, 0);
    ck_assert(out.tag == V_F64 && !out.weak);
    vm_close(m);
}
END_TEST

START_TEST(brackets)
{
    m = vm_open(NULL);
    value weak[2] = {value_weak(1, WEAK_WHOLE), value_weak(2.5, WEAK_FLOAT)}, t = tuple_of(2, weak), out = call_last("__array", 1, &t, 0);
    ck_assert(as_array(out)->dtype == DTYPE_F64 && as_array(out)->size == 2);
    value_release(m, t), value_release(m, out);
    value mixed[2] = {value_weak(1, WEAK_WHOLE), value_i64(2)};
    t = tuple_of(2, mixed), out = call_last("__array", 1, &t, 0);
    ck_assert(as_array(out)->dtype == DTYPE_I64);
    value_release(m, t), value_release(m, out);
    value narrow[2] = {value_f32(1), value_weak(0.1, WEAK_FLOAT)};
    t = tuple_of(2, narrow), out = call_last("__array", 1, &t, 0);
    ck_assert(as_array(out)->dtype == DTYPE_F32 && array_at(as_array(out), 1).u.f == (double)0.1f);
    value_release(m, t), value_release(m, out);
    t = tuple_of(0, NULL), out = call_last("__array", 1, &t, 0);
    ck_assert(out.tag == V_ARRAY && as_array(out)->size == 0);
    value_release(m, t), value_release(m, out);
    value strings[2] = {words_of("a"), words_of("b")};
    t = tuple_of(2, strings), out = call_last("__array", 1, &t, 0);
    ck_assert(out.u.o == t.u.o);
    value_release(m, t), value_release(m, out);
    value odd[2] = {words_of("a"), value_i64(1)};
    t = tuple_of(2, odd);
    ck_assert(!apply_last("__array", 1, &t, 0, &out));
    diag_free(m->error);
    m->error = NULL;
    value_release(m, t);
    vm_close(m);
}
END_TEST

UNIT_MAIN("structure", append_grows_in_place, zip_and_its_columns, flatten_and_back, deep_structures_need_no_stack, casts, brackets)
