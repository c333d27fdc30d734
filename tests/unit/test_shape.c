/* test_shape.c: views share their elements; every kernel that changes shape gives the same for a view as for a
 * dense copy of it; the transposes used by derivatives satisfy <a, f(x)> = <f'(a), x>. */
#include "views.h"
#include "index.h"
#include "machine.h"

static value whole(int64_t i) { return value_i64(i); }
static value pair(value a, value b)
{
    tuple *t = tuple_new(m, 2, 2);
    t->v[0] = a, t->v[1] = b;
    return value_object(&t->h);
}
static double small(void) { return (double)(view_random() % 19) - 9; }

START_TEST(views_share)
{
    m = vm_open(NULL);
    int64_t shape[3] = {2, 3, 4};
    value x = view_make(m, DTYPE_F64, 3, shape, VIEW_DENSE, view_number), args[3] = {x, whole(0), whole(-1)}, out[6];
    out[0] = call("transpose", 1, args);
    out[1] = call("swap_axes", 3, args);
    out[2] = call("__transpose_last", 1, args);
    out[3] = call("flip", 1, args);
    args[1] = whole(6), args[2] = whole(-1);
    out[4] = call("reshape", 3, args);
    value to[5] = {x, whole(5), whole(2), whole(3), whole(4)};
    out[5] = call("expand", 5, to);
    for (int i = 0; i < 6; i++) {
        ck_assert_msg(as_array(out[i])->buf == as_array(x)->buf, "%d copied", i);
        value_release(m, out[i]);
    }
    value_release(m, x);
    vm_close(m);
}
END_TEST

/* A call with its arguments after x, and whether x is square or a vector. */
typedef struct layout {
    const char *name;
    uint32_t n;
    value args[4];
} layout;

START_TEST(representations_agree)
{
    m = vm_open(NULL);
    int64_t shape[3] = {3, 4, 5};
    layout all[] = {
        {"transpose", 0, {{0}}},
        {"__transpose_last", 0, {{0}}},
        {"swap_axes", 2, {whole(0), whole(1)}},
        {"flip", 1, {whole(1)}},
        {"flip", 0, {{0}}},
        {"reshape", 2, {whole(12), whole(5)}},
        {"reshape", 1, {whole(-1)}},
        {"expand", 4, {whole(2), whole(3), whole(4), whole(5)}},
        {"roll", 1, {whole(7)}},
        {"roll", 2, {whole(-2), whole(2)}},
        {"roll", 2, {pair(whole(1), whole(2)), pair(whole(0), whole(1))}},
        {"tile", 1, {whole(2)}},
        {"tile", 1, {pair(whole(2), whole(3))}},
        {"repeat", 1, {whole(3)}},
        {"repeat", 2, {whole(2), whole(1)}},
        {"pad", 1, {whole(1)}},
        {"pad", 2, {pair(whole(0), whole(2)), whole(1)}},
        {"tril", 1, {whole(1)}},
        {"triu", 1, {whole(-1)}},
        {"take", 2, {whole(-1), whole(1)}},
        {"take", 1, {whole(17)}},
        {"__unstack", 1, {whole(1)}},
        {"__split_array", 2, {whole(2), whole(1)}},
        {"flatten", 0, {{0}}},
        {"cumsum", 1, {whole(1)}},
        {"nonzero", 0, {{0}}},
        {"unique", 0, {{0}}},
        {"f32", 0, {{0}}},
        {"bool", 0, {{0}}},
        {"zeros_like", 0, {{0}}},
        {"enumerate", 0, {{0}}},
        {"squeeze", 0, {{0}}},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int d = DTYPE_BOOL; d <= DTYPE_F64; d++)
            for (int kind = 1; kind < VIEWS; kind++) {
                value x = view_make(m, (dtype)d, 3, shape, (view_kind)kind, small), a[5] = {x}, b[5];
                memcpy(a + 1, all[k].args, sizeof all[k].args);
                memcpy(b, a, sizeof a);
                b[0] = value_object(&array_copy(m, as_array(x), (dtype)d)->h);
                value p = call(all[k].name, 1 + all[k].n, a), q = call(all[k].name, 1 + all[k].n, b);
                if (kind == VIEW_SLICED) refuse_each(all[k].name, 1 + all[k].n, a);
                ck_assert_msg(value_same(p, q), "%s of %s, kind %d", all[k].name, dtype_name((dtype)d), kind);
                value_release(m, p);
                value_release(m, q);
                value_release(m, x);
                value_release(m, b[0]);
            }
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int i = 0; i < 4; i++) value_release(m, all[k].args[i]);
    vm_close(m);
}
END_TEST

static double dot(value a, value b)
{
    double s = 0;
    if (a.tag != V_ARRAY) return a.u.f * b.u.f;
    int64_t at[RANK_MAX] = {0};
    ck_assert_int_eq(as_array(a)->size, as_array(b)->size);
    if (as_array(a)->size) do
            s += array_get(as_array(a), at).u.f * array_get(as_array(b), at).u.f;
        while (view_step(as_array(a)->rank, array_shape(as_array(a)), at));
    return s;
}

/* f(x, args…) and its transpose back(g, form(x), args…), or back(g, args…) when `formless`. */
typedef struct adjoint {
    const char *name, *back;
    bool formless;
    uint32_t n;
    value args[3];
} adjoint;

START_TEST(transposes)
{
    m = vm_open(NULL);
    int64_t shape[3] = {3, 4, 5}, two[2] = {2, 3};
    array *places = array_zeros(m, DTYPE_I64, 2, two);
    for (int64_t i = 0; i < 6; i++) ((int64_t *)places->data)[i] = i % 3 - 1;
    adjoint all[] = {
        {"tile", "__untile", false, 1, {whole(2)}},
        {"tile", "__untile", false, 1, {pair(whole(2), whole(3))}},
        {"repeat", "__unrepeat", false, 2, {whole(2), whole(1)}},
        {"repeat", "__unrepeat", false, 2, {whole(3), value_none()}},
        {"pad", "__unpad", true, 1, {whole(2)}},
        {"take", "__untake", false, 2, {value_object(&places->h), whole(1)}},
        {"take", "__untake", false, 2, {value_retain(value_object(&places->h)), value_none()}},
        {"__flat", "__unflat", false, 1, {pair(whole(0), whole(2))}},
        {"__flat", "__unflat", false, 1, {value_none()}},
        {"sum", "__unreduce", false, 2, {whole(1), value_bool(false)}},
        {"sum", "__unreduce", false, 2, {pair(whole(0), whole(2)), value_bool(true)}},
        {"sum", "__unreduce", false, 2, {value_none(), value_bool(false)}},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int kind = 0; kind < VIEWS; kind++) {
            value x = view_make(m, DTYPE_F64, 3, shape, (view_kind)kind, small), a[4] = {x}, b[5], f, g;
            memcpy(a + 1, all[k].args, sizeof all[k].args);
            value y = call(all[k].name, 1 + all[k].n, a);
            ck_assert(form_of(m, x, &f));
            if (y.tag == V_ARRAY) g = view_make(m, DTYPE_F64, as_array(y)->rank, array_shape(as_array(y)), (view_kind)kind, small);
            else g = value_f64(3);
            uint32_t n = 0;
            b[n++] = g;
            if (!all[k].formless) b[n++] = f;
            for (uint32_t i = 0; i < all[k].n; i++) b[n++] = all[k].args[i];
            value back = call(all[k].back, n, b);
            if (kind == VIEW_SLICED) refuse_each(all[k].back, n, b);
            ck_assert_msg(dot(g, y) == dot(back, x), "%s and %s", all[k].name, all[k].back);
            value_release(m, back);
            value_release(m, f);
            value_release(m, g);
            value_release(m, y);
            value_release(m, x);
        }
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int i = 0; i < 3; i++) value_release(m, all[k].args[i]);
    vm_close(m);
}
END_TEST

START_TEST(joining_and_cutting_undo_each_other)
{
    m = vm_open(NULL);
    int64_t shape[3] = {2, 6, 4};
    for (int axis = 0; axis < 3; axis++)
        for (int kind = 0; kind < VIEWS; kind++) {
            value x = view_make(m, DTYPE_F32, 3, shape, (view_kind)kind, view_number), args[3] = {x, whole(2), whole(axis)};
            value parts = call("__split_array", 3, args), join[2] = {parts, whole(axis)}, y = call("concat", 2, join);
            value slices, stacked, cut[2] = {x, whole(axis)};
            slices = call("__unstack", 2, cut);
            join[0] = slices;
            stacked = call("stack", 2, join);
            value dense = value_object(&array_copy(m, as_array(x), DTYPE_F32)->h);
            join[0] = parts;
            refuse_each("concat", 2, join);
            join[0] = slices;
            refuse_each("stack", 2, join);
            ck_assert(value_same(y, dense) && value_same(stacked, dense));
            value all[] = {x, parts, y, slices, stacked, dense};
            for (int i = 0; i < 6; i++) value_release(m, all[i]);
        }
    vm_close(m);
}
END_TEST

START_TEST(shapes_that_do_not_fit_are_errors)
{
    m = vm_open(NULL);
    int64_t shape[2] = {2, 3};
    value x = view_make(m, DTYPE_F64, 2, shape, VIEW_DENSE, small), out;
    struct {
        const char *name;
        uint32_t n;
        value args[3];
    } all[] = {
        {"reshape", 2, {x, whole(4)}},
        {"reshape", 3, {x, whole(-1), whole(-1)}},
        {"reshape", 3, {x, whole(-1), whole(0)}},
        {"expand", 2, {x, whole(3)}},
        {"squeeze", 2, {x, whole(0)}},
        {"swap_axes", 3, {x, whole(0), whole(2)}},
        {"flip", 2, {x, whole(5)}},
        {"zeros", 1, {whole(-1)}},
        {"zeros", 2, {value_i64(INT64_MAX), value_i64(INT64_MAX)}},
        {"tile", 2, {x, whole(-1)}},
        {"pad", 2, {x, whole(-1)}},
        {"repeat", 2, {x, whole(-1)}},
        {"diag", 2, {value_f64(1), whole(0)}},
        {"take", 2, {x, whole(6)}},
    };
    size_t live = m->mem.live_all;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        ck_assert_msg(!apply(all[k].name, all[k].n, all[k].args, &out), "%s", all[k].name);
        ck_assert(m->error != NULL);
        diag_free(m->error);
        m->error = NULL;
    }
    ck_assert(m->mem.live_all == live);
    value_release(m, x);
    vm_close(m);
}
END_TEST

UNIT_MAIN("shape", views_share, representations_agree, transposes, joining_and_cutting_undo_each_other, shapes_that_do_not_fit_are_errors)
