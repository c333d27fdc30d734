/* test_elementwise.c: the elementwise driver and its kernels: an array gives, element by element, the
 * bits its scalars give, over all representations, dtypes and broadcasts; kernels against the C
 * library; instruction sets against each other; dtypes of weak numbers; results in place. */
#include "vm.h"
#include "elementwise.h"
#include "tile_list.h"
#include "views.h"
#include <float.h>
#include <math.h>
#include "unit.h"

static vm *m;

static void clear_error(void)
{
    diag_free(m->error);
    m->error = NULL;
}

static value apply(const char *name, uint32_t n, const value *args, uint64_t last)
{
    value out = value_undef();
    bool fine = prim_apply(m, prim_named(name), args, n, last, &out);
    ck_assert_msg(fine, "%s: %s", name, m->error ? m->error->message : "no error set");
    return out;
}

/* Applies and expects an error whose message contains `part`. */
static void refuse(const char *name, value a, value b, const char *part)
{
    value args[] = {a, b}, out;
    ck_assert(!prim_apply(m, prim_named(name), args, 2, 0, &out));
    ck_assert_msg(strstr(m->error->message, part) != NULL, "%s: \"%s\" lacks \"%s\"", name, m->error->message, part);
    clear_error();
}

static value element(value v, int rank, const int64_t *index)
{
    if (v.tag != V_ARRAY) return v;
    const array *a = as_array(v);
    int64_t own[RANK_MAX];
    for (int d = 0; d < a->rank; d++) own[d] = array_shape(a)[d] == 1 ? 0 : index[d + rank - a->rank];
    return array_get(a, own);
}

/* One primitive on arrays and scalars against itself on the elements, each alone. */
static void against_scalars(const prim *p, uint32_t n, const value *args)
{
    value out, expected = value_undef();
    bool fine = prim_apply(m, p, args, n, 0, &out);
    if (!fine) { clear_error(); /* then some element must fail, too */ }
    int rank = 0;
    int64_t shape[RANK_MAX], index[RANK_MAX] = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (args[i].tag != V_ARRAY) continue;
        const array *a = as_array(args[i]);
        for (int d = rank; d < a->rank; d++) shape[d] = 1;
        if (a->rank > rank) {
            memmove(shape + a->rank - rank, shape, (size_t)rank * sizeof *shape);
            for (int d = 0; d < a->rank - rank; d++) shape[d] = 1;
            rank = a->rank;
        }
        for (int d = 0; d < a->rank; d++)
            if (array_shape(a)[d] != 1) shape[d + rank - a->rank] = array_shape(a)[d];
    }
    if (fine) {
        ck_assert_int_eq(as_array(out)->rank, rank);
        ck_assert_mem_eq(array_shape(as_array(out)), shape, (size_t)rank * sizeof *shape);
        if (as_array(out)->size == 0) {
            value_release(m, out);
            return;
        }
    }
    bool failed = false;
    do {
        value x[4];
        for (uint32_t i = 0; i < n; i++) x[i] = element(args[i], rank, index);
        if (!prim_apply(m, p, x, n, 0, &expected)) {
            failed = true;
            clear_error();
            break;
        }
        if (!fine) continue;
        value got = array_get(as_array(out), index);
        ck_assert_msg(view_equal(got, expected), "%s: %.17g in an array, %.17g alone (tags %d %d) at %.17g %.17g", p->name,
                      got.tag >= V_F32 ? got.u.f : (double)got.u.i, expected.tag >= V_F32 ? expected.u.f : (double)expected.u.i, got.tag,
                      expected.tag, x[0].tag >= V_F32 ? x[0].u.f : (double)x[0].u.i,
                      n > 1 ? x[1].tag >= V_F32 ? x[1].u.f : (double)x[1].u.i : 0.0);
    } while (view_step(rank, shape, index));
    ck_assert_msg(fine != failed, "%s: the array %s, the elements %s", p->name, fine ? "worked" : "failed", failed ? "failed" : "worked");
    if (fine) value_release(m, out);
}

static bool is_logical(const prim *p) { return !p->tile->f64; }

START_TEST(arrays_equal_scalars)
{
    static const struct {
        int rank;
        int64_t shape[3];
    } shapes[] = {
        {1, {7}}, {1, {261}}, {2, {5, 3}}, {2, {3, 140}}, {3, {2, 3, 4}}, {1, {0}}, {2, {1, 1}}, {2, {1, 6}},
    };
    for (uint32_t k = 0; k < prim_count; k++) {
        const prim *p = &prims[k];
        if (!p->tile) continue;
        uint32_t n = prim_info_of(m, p)->nparams;
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int view = 0; view < VIEWS; view++)
                for (int d = DTYPE_BOOL; d <= DTYPE_F64; d++) {
                    if (is_logical(p) && d != DTYPE_BOOL) continue;
                    if (prim_number(p) == PRIM_polygamma && s != 0) continue;
                    value args[3];
                    for (uint32_t i = 0; i < n; i++) {
                        dtype di = p->tile->condition && i == 0 ? DTYPE_BOOL : (dtype)d;
                        int rank = shapes[s].rank;
                        const int64_t *shape = shapes[s].shape;
                        int64_t part[3];
                        if (i == 1 && view_random() % 3 == 0) { /* a row or a column of it */
                            memcpy(part, shape, sizeof part);
                            if (rank > 1 && view_random() % 2) part[rank - 1] = 1;
                            else part[0] = 1;
                            shape = part;
                        }
                        view_kind v = (view_kind)((view + (int)i) % VIEWS);
                        args[i] = view_make(m, di, rank, shape, v, view_number);
                    }
                    against_scalars(p, n, args);
                    if (n > 1 && !p->tile->condition) { /* mixed dtypes, and a scalar beside an array */
                        value mixed[3] = {args[0], value_f32(1.5f), value_f64(2)};
                        if (!is_logical(p)) against_scalars(p, n, mixed);
                        mixed[1] = value_weak(3, WEAK_WHOLE);
                        mixed[2] = value_weak(5, WEAK_WHOLE);
                        if (!is_logical(p)) against_scalars(p, n, mixed);
                        value turned[3] = {value_i64(3), args[0], args[0]};
                        if (!is_logical(p)) against_scalars(p, n, turned);
                    }
                    for (uint32_t i = 0; i < n; i++) value_release(m, args[i]);
                }
    }
}
END_TEST

static double easy(void) { return (double)(int64_t)view_random() / 9.3e18; }

START_TEST(threads_and_tiles)
{
    int64_t shape[] = {300, 401};
    static const char *const names[] = {"add", "tanh", "pow", "maximum", "lt"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int view = 0; view < VIEWS; view++) {
            const prim *p = prim_named(names[k]);
            uint32_t n = prim_info_of(m, p)->nparams;
            value args[2];
            for (uint32_t i = 0; i < n; i++) args[i] = view_make(m, i ? DTYPE_F32 : DTYPE_F64, 2, shape, (view_kind)view, easy);
            value first = value_undef();
            for (int threads = 1; threads <= 3; threads++) {
                m->config.threads = threads;
                value out = apply(names[k], n, args, 0);
                if (threads == 1) {
                    first = out;
                    continue;
                }
                ck_assert(value_same(first, out));
                value_release(m, out);
            }
            value_release(m, first);
            if (view < 2) against_scalars(p, n, args);
            for (uint32_t i = 0; i < n; i++) value_release(m, args[i]);
        }
}
END_TEST

START_TEST(lanes_do_not_see_each_other)
{
    /* Each awkward number among easy ones, at every lane. */
    static const double awkward[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1e300, -1e300, 1e-310, 1e22, 710, -745, 3e5, 1.0, -1.0, 0.5};
    for (uint32_t k = 0; k < prim_count; k++) {
        const prim *p = &prims[k];
        if (!p->tile || is_logical(p) || prim_info_of(m, p)->nparams != 1) continue;
        for (size_t w = 0; w < sizeof awkward / sizeof *awkward; w++)
            for (int lane = 0; lane < 9; lane++)
                for (int d = DTYPE_F32; d <= DTYPE_F64; d++) {
                    int64_t shape[] = {11};
                    value v = view_make(m, (dtype)d, 1, shape, VIEW_DENSE, easy);
                    array_put(as_array(v), lane, value_f64(awkward[w]));
                    against_scalars(p, 1, &v);
                    value_release(m, v);
                }
    }
}
END_TEST

/* Distance in units in the last place of the nearer. */
static double ulps(double got, double want, bool single)
{
    if (got == want || (isnan(got) && isnan(want))) return 0;
    if (isnan(got) || isnan(want) || isinf(got) || isinf(want)) return INFINITY;
    double unit = single ? (double)(nextafterf(fabsf((float)want), INFINITY) - fabsf((float)want))
                         : nextafter(fabs(want), INFINITY) - fabs(want);
    return fabs(got - want) / unit;
}

static double near_one(void) { return 1 + fabs(easy()) * 3; }
static double wide(void) { return easy() * 20; }

START_TEST(kernels_against_libm)
{
    static const struct {
        const char *name;
        double (*f)(double);
        double (*next)(void);
        double most;
    } rows[] = {
        {"exp", exp, wide, 2},         {"exp2", exp2, wide, 2},     {"expm1", expm1, wide, 2},     {"log", log, near_one, 2},
        {"log1p", log1p, near_one, 2}, {"log2", log2, near_one, 2}, {"log10", log10, near_one, 2}, {"sqrt", sqrt, near_one, 0},
        {"cbrt", cbrt, wide, 3},       {"sin", sin, wide, 2},       {"cos", cos, wide, 2},         {"tan", tan, wide, 2},
        {"asin", asin, easy, 2},       {"acos", acos, easy, 2},     {"atan", atan, wide, 2},       {"sinh", sinh, wide, 2},
        {"cosh", cosh, wide, 2},       {"tanh", tanh, wide, 2.5},   {"asinh", asinh, wide, 2},     {"acosh", acosh, near_one, 2.5},
        {"atanh", atanh, easy, 2},     {"erf", erf, wide, 2},       {"erfc", erfc, easy, 2.5},     {"lgamma", lgamma, near_one, 8},
        {"floor", floor, wide, 0},     {"ceil", ceil, wide, 0},     {"round", rint, wide, 0},      {"abs", fabs, wide, 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int i = 0; i < 4000; i++) {
            double x = rows[k].next();
            value a = value_f64(x), r = apply(rows[k].name, 1, &a, 0);
            ck_assert_msg(ulps(r.u.f, rows[k].f(x), false) <= rows[k].most || (rows[k].most > 7 && fabs(r.u.f - rows[k].f(x)) < 1e-15),
                          "%s(%.17g) is %.17g, libm says %.17g", rows[k].name, x, r.u.f, rows[k].f(x));
            a = value_f32((float)x);
            r = apply(rows[k].name, 1, &a, 0);
            double want = (float)rows[k].f((double)(float)x);
            ck_assert_msg(ulps(r.u.f, want, true) <= rows[k].most + 0.5 || (rows[k].most > 7 && fabs(r.u.f - want) < 1e-6),
                          "%s(f32 %.9g) is %.9g, libm says %.9g", rows[k].name, x, r.u.f, want);
        }
    /* Known values of what libm lacks: Abramowitz and Stegun, tables 6.1 and 6.4; reflections. */
    static const struct {
        const char *name;
        double n, x, y;
    } known[] = {
        {"polygamma", 0, 1, -0.5772156649015329}, {"polygamma", 0, 0.5, -1.9635100260214235},   {"polygamma", 0, 10, 2.2517525890667211},
        {"polygamma", 1, 1, 1.6449340668482264},  {"polygamma", 1, 0.5, 4.934802200544679},     {"polygamma", 2, 1, -2.4041138063191885},
        {"polygamma", 3, 1, 6.4939394022668291},  {"polygamma", 0, -0.5, 0.036489973978576520}, {"polygamma", 1, -0.5, 8.9348022005446793},
        {"polygamma", 2, -0.5, -0.8287966442343}, {"polygamma", 0, 1e10, 23.025850929890456},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        value a[] = {value_f64(known[k].n), value_f64(known[k].x)}, r = apply("polygamma", 2, a, 0);
        ck_assert_msg(fabs(r.u.f - known[k].y) <= 3e-13 * fmax(1, fabs(known[k].y)), "polygamma(%g, %g) is %.17g, not %.17g", known[k].n,
                      known[k].x, r.u.f, known[k].y);
    }
}
END_TEST

#define PLAIN(name, T) tile_kernel tile_##name##_##T##_base, tile_##name##_##T##_avx2, tile_##name##_##T##_avx512;

#define TILE_F(name) PLAIN(name, f64) PLAIN(name, f32)
#define TILE_A(name) TILE_F(name)
#define TILE_B(name) TILE_F(name)
#define TILE_C(name, fault) TILE_F(name)
#define TILE_L(name)
TILE_LIST
#undef TILE_F
#undef TILE_A
#undef TILE_B
#undef TILE_C

static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/* Every kernel of floats: the same bits in vectors of 32 and of 64 bytes, arguments dense and of one element. */
START_TEST(widths_agree)
{
    if (!has_avx512()) return;
    static const struct row {
        const char *name;
        tile_kernel *of[4]; /* f64 by 32 bytes and by 64, then f32 */
    } rows[] = {
#define TILE_F(name) {#name, {tile_##name##_f64_avx2, tile_##name##_f64_avx512, tile_##name##_f32_avx2, tile_##name##_f32_avx512}},
#define TILE_A(name) TILE_F(name)
#define TILE_B(name) TILE_F(name)
#define TILE_C(name, fault) TILE_F(name)
        TILE_LIST};
#undef TILE_F
#undef TILE_A
#undef TILE_B
#undef TILE_C
    enum { N = 77 };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int round = 0; round < 400; round++) {
            double x[3][N], y[2][N];
            float xf[3][N], yf[2][N];
            bool where = !strcmp(rows[k].name, "where"); /* its first argument is of bytes */
            for (int i = 0; i < 3 * N; i++) {
                x[i / N][i % N] = round % 2 ? view_number() : ldexp(view_number(), i % 60 - 30);
                xf[i / N][i % N] = (float)x[i / N][i % N];
            }
            if (where)
                for (int i = 0; i < N; i++) ((char *)x[0])[i] = ((char *)xf[0])[i] = i % 3 == round % 3;
            if (!strcmp(rows[k].name, "polygamma"))
                for (int i = 0; i < N; i++) xf[0][i] = (float)(x[0][i] = i % 4);
            memset(y, 0, sizeof y);
            memset(yf, 0, sizeof yf);
            const void *args[] = {x[0], x[1], x[2]}, *argsf[] = {xf[0], xf[1], xf[2]};
            for (int wide = 0; wide < 2; wide++) {
                rows[k].of[wide](N, y[wide], args, (unsigned)round / 2 % 8);
                rows[k].of[2 + wide](N, yf[wide], argsf, (unsigned)round / 2 % 8);
            }
            for (int i = 0; i < N; i++) {
                /* a comparison's results are bytes, of which the first N are written */
                ck_assert_msg(!memcmp(&y[0][i], &y[1][i], sizeof(double)) || (isnan(y[0][i]) && isnan(y[1][i])), "%s of f64: %.17g, %.17g",
                              rows[k].name, y[0][i], y[1][i]);
                ck_assert_msg(!memcmp(&yf[0][i], &yf[1][i], sizeof(float)) || (isnan(yf[0][i]) && isnan(yf[1][i])), "%s of f32: %.9g, %.9g",
                              rows[k].name, (double)yf[0][i], (double)yf[1][i]);
            }
        }
}
END_TEST

START_TEST(instruction_sets_agree)
{
    if (!has_avx2()) return;
    struct {
        tile_kernel *a, *b;
        bool condition;
    } rows[] = {
        {tile_add_f64_base, tile_add_f64_avx2, false},           {tile_mul_f64_base, tile_mul_f64_avx2, false},
        {tile_div_f64_base, tile_div_f64_avx2, false},           {tile_zmul_f64_base, tile_zmul_f64_avx2, false},
        {tile_maximum_f64_base, tile_maximum_f64_avx2, false},   {tile_mod_f64_base, tile_mod_f64_avx2, false},
        {tile_floordiv_f64_base, tile_floordiv_f64_avx2, false}, {tile_sqrt_f64_base, tile_sqrt_f64_avx2, false},
        {tile_round_f64_base, tile_round_f64_avx2, false},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (unsigned scalars = 0; scalars < 4; scalars++) {
            double x[77], y[77], a[77], b[77];
            for (int i = 0; i < 77; i++) x[i] = view_number(), y[i] = view_number();
            const void *args[] = {x, y};
            rows[k].a(77, a, args, scalars);
            rows[k].b(77, b, args, scalars);
            for (int i = 0; i < 77; i++) ck_assert(view_equal(value_f64(a[i]), value_f64(b[i])));
        }
}
END_TEST

/* Many numbers, each alone and among sixteen, on each instruction set. */
START_TEST(alone_and_in_vectors)
{
    static const struct row {
        const char *name;
        tile_kernel *of[6]; /* on each set, f64 and f32 */
    } rows[] = {
#define TILE_F(name) \
    {#name, \
     {tile_##name##_f64_base, tile_##name##_f32_base, tile_##name##_f64_avx2, tile_##name##_f32_avx2, tile_##name##_f64_avx512, \
      tile_##name##_f32_avx512}},
#define TILE_A(name)
#define TILE_B(name)
#define TILE_C(name, fault) TILE_F(name)
        TILE_LIST};
    bool wide = has_avx2();
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (!strcmp(rows[k].name, "polygamma")) continue;
        for (int set = 0; set < 6; set++) {
            if ((set / 2 == 1 && !wide) || (set / 2 == 2 && !has_avx512())) continue;
            for (int round = 0; round < 700; round++) {
                double x[2][16], y[16], alone;
                float xf[2][16], yf[16], alonef;
                for (int i = 0; i < 32; i++) {
                    x[i / 16][i % 16] = view_number();
                    xf[i / 16][i % 16] = (float)view_number();
                }
                bool single = set % 2;
                const void *args[2] = {single ? (void *)xf[0] : (void *)x[0], single ? (void *)xf[1] : (void *)x[1]};
                rows[k].of[set](16, single ? (void *)yf : (void *)y, args, 0);
                for (int i = 0; i < 16; i++) {
                    const void *each[2] = {single ? (void *)&xf[0][i] : (void *)&x[0][i], single ? (void *)&xf[1][i] : (void *)&x[1][i]};
                    rows[k].of[set](1, single ? (void *)&alonef : (void *)&alone, each, 0);
                    value got = single ? value_f32(yf[i]) : value_f64(y[i]), want = single ? value_f32(alonef) : value_f64(alone);
                    ck_assert_msg(view_equal(got, want), "%s on set %d: %.17g in a vector, %.17g alone, of %.17g %.17g", rows[k].name, set,
                                  got.u.f, want.u.f, single ? (double)xf[0][i] : x[0][i], single ? (double)xf[1][i] : x[1][i]);
                }
            }
        }
    }
}
END_TEST

START_TEST(weak_numbers)
{
    value w = value_weak(3, WEAK_WHOLE), f = value_weak(2.5, WEAK_FLOAT), i = value_i64(7), s = value_f32(1.5f), b = value_bool(true);
    struct {
        const char *name;
        value a, b;
        value_tag tag;
        weakness weak;
        double x;
    } rows[] = {
        {"add", i, w, V_I64, STRONG, 10},
        {"mul", i, f, V_F64, STRONG, 17.5},
        {"add", s, f, V_F32, STRONG, 4},
        {"add", s, w, V_F32, STRONG, 4.5},
        {"add", w, w, V_F64, WEAK_WHOLE, 6},
        {"add", w, f, V_F64, WEAK_FLOAT, 5.5},
        {"div", w, w, V_F64, WEAK_FLOAT, 1},
        {"pow", w, w, V_F64, WEAK_WHOLE, 27},
        {"pow", value_weak(1, WEAK_WHOLE), value_weak(-1, WEAK_WHOLE), V_F64, WEAK_FLOAT, 1},
        {"floordiv", w, value_weak(2, WEAK_WHOLE), V_F64, WEAK_WHOLE, 1},
        {"floordiv", w, value_weak(0, WEAK_WHOLE), V_F64, WEAK_FLOAT, INFINITY},
        {"div", i, value_i64(2), V_F64, STRONG, 3.5},
        {"add", b, b, V_I64, STRONG, 2},
        {"add", b, w, V_I64, STRONG, 4},
        {"add", b, f, V_F64, STRONG, 3.5},
        {"add", value_f64(1), s, V_F64, STRONG, 2.5},
        {"add", i, s, V_F32, STRONG, 8.5},
        {"maximum", i, w, V_I64, STRONG, 7},
        {"lt", i, f, V_BOOL, STRONG, 0},
        {"minimum", w, f, V_F64, WEAK_FLOAT, 2.5},
        {"pow", i, value_i64(2), V_I64, STRONG, 49},
        {"mod", value_i64(-7), value_i64(3), V_I64, STRONG, 2},
        {"floordiv", value_i64(-7), value_i64(3), V_I64, STRONG, -3},
        {"add", s, value_weak(0.1, WEAK_FLOAT), V_F32, STRONG, (double)(1.5f + 0.1f)},
        {"floordiv", value_f64(1), value_f64(0.1), V_F64, STRONG, 9},
        {"mod", value_f64(-1), value_f64(3), V_F64, STRONG, 2},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        value args[] = {rows[k].a, rows[k].b}, r = apply(rows[k].name, 2, args, 0);
        double x = value_is_float(r) ? r.u.f : (double)r.u.i;
        ck_assert_msg(r.tag == rows[k].tag && r.weak == rows[k].weak && x == rows[k].x, "row %zu, %s: tag %d weak %d %.17g", k,
                      rows[k].name, r.tag, r.weak, x);
    }
    value one = value_weak(4, WEAK_WHOLE), r = apply("sqrt", 1, &one, 0);
    ck_assert(r.tag == V_F64 && r.weak == WEAK_FLOAT && r.u.f == 2);
    r = apply("neg", 1, &one, 0);
    ck_assert(r.weak == WEAK_WHOLE && r.u.f == -4);
    r = apply("sqrt", 1, (value[]){value_i64(4)}, 0);
    ck_assert(r.tag == V_F64 && r.weak == STRONG);
    m->config.float_dtype = DTYPE_F32;
    r = apply("sqrt", 1, (value[]){value_i64(4)}, 0);
    ck_assert(r.tag == V_F32);
    m->config.float_dtype = DTYPE_F64;
    value mask = view_make(m, DTYPE_BOOL, 1, (int64_t[]){5}, VIEW_DENSE, easy), args[] = {mask, w, value_weak(0, WEAK_WHOLE)};
    r = apply("where", 3, args, 0);
    ck_assert_int_eq(as_array(r)->dtype, DTYPE_F64);
    value_release(m, r);
    args[1] = args[2] = value_bool(true);
    r = apply("where", 3, args, 0);
    ck_assert_int_eq(as_array(r)->dtype, DTYPE_BOOL);
    value_release(m, r);
    value_release(m, mask);
}
END_TEST

START_TEST(powers)
{
    double bases[] = {0, -0.0, 1, -2, 3.3, 1e200, INFINITY, NAN}, exps[] = {0, 1, 2, 3, -1, 0.5, 7};
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < 7; k++) {
            value a[] = {value_f64(bases[i]), value_f64(exps[k])}, r = apply("pow", 2, a, 0);
            ck_assert_msg(ulps(r.u.f, pow(bases[i], exps[k]), false) <= 1.5, "%g ^ %g is %.17g", bases[i], exps[k], r.u.f);
        }
    ck_assert_int_eq(apply("pow", 2, (value[]){value_i64(-2), value_i64(63)}, 0).u.i, INT64_MIN);
    refuse("pow", value_i64(2), value_i64(63), "integer overflow: 2 ^ 63");
    refuse("pow", value_i64(10), value_i64(-3), "a negative power of an integer: 10 ^ -3");
    ck_assert_int_eq(apply("pow", 2, (value[]){value_i64(1), value_i64(INT64_MAX)}, 0).u.i, 1);
}
END_TEST

START_TEST(faults)
{
    refuse("add", value_i64(INT64_MAX), value_i64(1), "integer overflow: 9223372036854775807 + 1");
    refuse("sub", value_i64(INT64_MIN), value_i64(1), "integer overflow");
    refuse("mul", value_i64(INT64_MAX), value_i64(2), "integer overflow");
    refuse("floordiv", value_i64(1), value_i64(0), "division of an integer by zero: 1 // 0");
    refuse("floordiv", value_i64(INT64_MIN), value_i64(-1), "integer overflow");
    refuse("mod", value_i64(1), value_i64(0), "division of an integer by zero");
    ck_assert_int_eq(apply("mod", 2, (value[]){value_i64(INT64_MIN), value_i64(-1)}, 0).u.i, 0);
    refuse("add", value_i64(1), value_weak(1e30, WEAK_WHOLE), "does not fit i64");
    refuse("and", value_i64(1), value_bool(true), "defined on bool, not on i64");
    refuse("add", value_i64(1), value_none(), "not defined between i64 and none");
    value big = view_make(m, DTYPE_I64, 1, (int64_t[]){70000}, VIEW_DENSE, easy);
    array_put(as_array(big), 40001, value_i64(INT64_MAX));
    array_put(as_array(big), 69999, value_i64(INT64_MIN));
    refuse("add", big, value_i64(2), "integer overflow: 9223372036854775807 + 2");
    refuse("add", big, value_i64(-2), "integer overflow: -9223372036854775808 + -2");
    value_release(m, big);
    value a = view_make(m, DTYPE_F64, 2, (int64_t[]){3, 1}, VIEW_DENSE, easy),
          b = view_make(m, DTYPE_F64, 1, (int64_t[]){3}, VIEW_DENSE, easy);
    refuse("sub", a, b, "both would have to grow");
    value_release(m, b);
    b = view_make(m, DTYPE_F64, 2, (int64_t[]){4, 2}, VIEW_DENSE, easy);
    refuse("sub", a, b, "shapes [3, 1] and [4, 2] do not fit");
    value_release(m, a);
    value_release(m, b);
    value out;
    ck_assert(!prim_apply(m, prim_named("add"), (value[]){value_i64(1)}, 1, 0, &out));
    ck_assert(strstr(m->error->message, "argument b is missing"));
    clear_error();
    ck_assert(!prim_apply(m, prim_named("tanh"), (value[]){value_i64(1), value_i64(1)}, 2, 0, &out));
    ck_assert(strstr(m->error->message, "takes 1 argument, 2 were given"));
    clear_error();
}
END_TEST

START_TEST(in_place)
{
    int64_t shape[] = {40};
    value x = view_make(m, DTYPE_F64, 1, shape, VIEW_DENSE, easy), y = view_make(m, DTYPE_F64, 1, shape, VIEW_REVERSED, easy);
    void *data = as_array(x)->data;
    value args[] = {x, y}, r = apply("add", 2, args, 1);
    ck_assert_ptr_eq(as_array(r)->data, data); /* written into x */
    value_release(m, x);
    x = r;
    r = apply("add", 2, (value[]){y, x}, 2);
    ck_assert_ptr_eq(as_array(r)->data, data);
    value_release(m, r);
    value_retain(x); /* shared: must copy */
    r = apply("add", 2, (value[]){x, y}, 1);
    ck_assert_ptr_ne(as_array(r)->data, data);
    value_release(m, r);
    value_release(m, x);
    r = apply("add", 2, (value[]){x, y}, 0); /* not the last use */
    ck_assert_ptr_ne(as_array(r)->data, data);
    value_release(m, r);
    array *v = array_view(m, as_array(x), 1, shape, array_stride(as_array(x)), 0); /* a view shares the buffer */
    r = apply("add", 2, (value[]){x, y}, 1);
    ck_assert_ptr_ne(as_array(r)->data, data);
    value_release(m, r);
    value_release(m, value_object(&v->h));
    r = apply("lt", 2, (value[]){x, y}, 1); /* another dtype */
    ck_assert_ptr_ne(as_array(r)->data, data);
    value_release(m, r);
    value before = value_f64(((double *)data)[3]);
    r = apply("mul", 2, (value[]){x, x}, 3); /* the same array twice */
    ck_assert_ptr_eq(as_array(r)->data, data);
    ck_assert(((double *)data)[3] == before.u.f * before.u.f);
    value_release(m, r);
    value_release(m, x);
    value_release(m, y);
}
END_TEST

static value record_of(const char *names, value a, value b)
{
    record *r = record_new(m, 2, 2);
    for (int i = 0; i < 2; i++) r->names[i] = symbol_of(m->symbols, names + i, 1);
    r->v[0] = a;
    r->v[1] = b;
    return value_object(&r->h);
}

START_TEST(structures)
{
    int64_t shape[] = {3};
    value w = view_make(m, DTYPE_F64, 1, shape, VIEW_DENSE, easy);
    string *s = string_new(m, "adam", 4);
    value p = record_of("wn", w, value_object(&s->h)), g = record_of("nw", value_none(), value_retain(w));
    value r = apply("sub", 2, (value[]){p, g}, 0);
    ck_assert(as_record(r)->v[0].tag == V_ARRAY && array_at(as_array(as_record(r)->v[0]), 1).u.f == 0);
    ck_assert(as_record(r)->v[1].tag == V_STRING); /* meets none: kept */
    value_release(m, r);
    r = apply("mul", 2, (value[]){value_f64(0.1), g}, 0);
    ck_assert(as_record(r)->v[0].tag == V_NONE);
    value_release(m, r);
    /* in place inside a structure that nobody else holds */
    value only = record_of("ab", view_make(m, DTYPE_F64, 1, shape, VIEW_DENSE, easy), value_f64(1));
    void *data = as_array(as_record(only)->v[0])->data;
    r = apply("mul", 2, (value[]){only, value_f64(2)}, 1);
    ck_assert_ptr_eq(as_array(as_record(r)->v[0])->data, data);
    value_release(m, only);
    value_release(m, r);
    value other = record_of("wz", value_f64(1), value_f64(2));
    refuse("add", p, other, "structures that differ");
    value_release(m, other);
    value eq = apply("eq", 2, (value[]){p, value_f64(1)}, 0);
    ck_assert(eq.tag == V_BOOL && eq.u.i == 0);
    value_release(m, p);
    value_release(m, g);
    /* a chain a hundred thousand deep maps and is freed without recursion */
    value chain = value_f64(1);
    for (int i = 0; i < 100000; i++) {
        tuple *t = tuple_new(m, 1, 1);
        t->v[0] = chain;
        chain = value_object(&t->h);
    }
    r = apply("neg", 1, &chain, 0);
    value_release(m, chain);
    value_release(m, r);
    value a = value_object(&string_new(m, "ab", 2)->h), b = value_object(&string_new(m, "\xc3\xa9", 2)->h);
    r = apply("add", 2, (value[]){a, b}, 0);
    ck_assert_str_eq(as_string(r)->s, "ab\xc3\xa9");
    ck_assert_int_eq(as_string(r)->points, 3);
    ck_assert(apply("eq", 2, (value[]){a, b}, 0).u.i == 0);
    ck_assert(apply("ne", 2, (value[]){a, b}, 0).u.i == 1);
    ck_assert(apply("eq", 2, (value[]){value_none(), value_none()}, 0).u.i == 1);
    value_release(m, a);
    value_release(m, b);
    value_release(m, r);
}
END_TEST

START_TEST(symbolic_zeros)
{
    value z = value_zero(), x = value_f64(INFINITY);
    ck_assert(apply("__zmul", 2, (value[]){z, x}, 0).tag == V_ZERO);
    ck_assert(apply("__zmul", 2, (value[]){x, z}, 0).tag == V_ZERO);
    value r = apply("__zmul", 2, (value[]){value_f64(-0.0), x}, 0);
    ck_assert(r.u.f == 0 && !signbit(r.u.f));
    r = apply("add", 2, (value[]){z, value_f64(2)}, 0);
    ck_assert(r.tag == V_F64 && r.u.f == 2);
    /* a sparse cotangent keeps its fields */
    record *c = record_new(m, 1, 1);
    c->names[0] = symbol_of(m->symbols, "b", 1);
    c->v[0] = value_f64(3);
    value p = record_of("ab", value_f64(5), value_f64(7)), s = value_object(&c->h);
    r = apply("__zmul", 2, (value[]){s, p}, 0);
    ck_assert_int_eq(as_record(r)->n, 1);
    ck_assert(as_record(r)->v[0].u.f == 21);
    value_release(m, r);
    value_release(m, p);
    value_release(m, s);
}
END_TEST

int main(void)
{
    m = vm_open(NULL);
    if (!m) return EXIT_FAILURE;
    const TTest *const tests[] = {weak_numbers,
                                  powers,
                                  faults,
                                  in_place,
                                  structures,
                                  symbolic_zeros,
                                  kernels_against_libm,
                                  instruction_sets_agree,
                                  widths_agree,
                                  alone_and_in_vectors,
                                  arrays_equal_scalars,
                                  threads_and_tiles,
                                  lanes_do_not_see_each_other};
    int status = unit_run("elementwise", tests, sizeof tests / sizeof *tests);
    vm_close(m);
    return status;
}
