/* test_matmul.c: the rows matmul, __acc_matmul_a, __acc_matmul_b, dot, outer and trace against plain
 * loops of their definitions, bit for bit, over ranks, batches, dtypes and views. */
#include "vm.h"
#include "gemm.h"
#include <math.h>
#include <string.h>
#include "unit.h"

static vm *m;
static uint64_t state = 1234567;
static double number(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)state / 9.3e18;
}

/* A random array of this shape. view 0 dense, 1 last two axes turned, 2 every second of a larger one,
   3 first axis reversed, 4 first axis broadcast. */
static value make(dtype d, int rank, const int64_t *shape, int view)
{
    if (rank == 0) return scalar_of(d, number());
    int64_t big[RANK_MAX], stride[RANK_MAX];
    memcpy(big, shape, (size_t)rank * sizeof *big);
    if (view == 1 && rank >= 2) big[rank - 1] = shape[rank - 2], big[rank - 2] = shape[rank - 1];
    if (view == 2) big[rank - 1] *= 2;
    array *a = array_new(m, d, rank, big);
    for (int64_t i = 0; i < a->size; i++) array_put(a, i, value_f64(d == DTYPE_I64 ? floor(number() * 20) : number()));
    memcpy(stride, array_stride(a), (size_t)rank * sizeof *stride);
    int64_t offset = 0;
    if (view == 0) return value_object(&a->h);
    if (view == 1 && rank >= 2) {
        int64_t t = stride[rank - 1];
        stride[rank - 1] = stride[rank - 2], stride[rank - 2] = t;
    }
    if (view == 2) stride[rank - 1] = 2;
    if (view == 3 && shape[0] > 0) offset = (shape[0] - 1) * stride[0], stride[0] = -stride[0];
    if (view == 4) stride[0] = 0;
    array *v = array_view(m, a, rank, shape, stride, offset);
    value_release(m, value_object(&a->h));
    return value_object(&v->h);
}

static double at(value v, int64_t i)
{ /* the i-th element in row-major order */
    shaped s;
    shaped_of(&v, &s);
    double x;
    shape_gather(&s, DTYPE_F64, &x, i, 1);
    return x;
}
static int64_t size_of(value v)
{
    shaped s;
    shaped_of(&v, &s);
    return s.size;
}
static value run(const char *name, uint32_t n, const value *args, uint64_t last)
{
    value out = value_undef();
    bool ok = prim_apply(m, prim_named(name), args, n, last, &out);
    ck_assert_msg(ok, "%s: %s", name, m->error ? m->error->message : "failed without an error");
    return out;
}
static void fails(const char *name, value a, value b, const char *message)
{
    value out, args[2] = {a, b};
    ck_assert(!prim_apply(m, prim_named(name), args, b.tag == V_UNDEF ? 1 : 2, 0, &out));
    ck_assert_str_eq(m->error->message, message);
    diag_free(m->error);
    m->error = NULL;
    value_release(m, a), value_release(m, b);
}
static bool same_bits(double x, double y) { return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y)); }

/* A chain over k elements in blocks; x and y give the factors. `sum` continues when add. */
typedef struct chain {
    bool f32, add;
    double sum, block;
    int64_t n;
} chain;
static void chain_step(chain *c, double x, double y)
{
    c->block = c->f32 ? (double)fmaf((float)x, (float)y, (float)c->block) : fma(x, y, c->block);
    c->n++;
}
static void chain_end(chain *c)
{
    if (c->n == 0) return;
    c->sum = !c->add ? c->block : c->f32 ? (double)((float)c->sum + (float)c->block) : c->sum + c->block;
    c->add = true, c->block = 0, c->n = 0;
}

/* a @ b as a plain loop: offsets of batch i of `count` in an operand whose batch shape is padded to n axes. */
typedef struct layout {
    int n;
    int64_t shape[RANK_MAX];
} layout;
static int64_t batch_offset(int64_t i, const layout *out, int rank, const int64_t *shape, int64_t matrix_size)
{
    int64_t offset = 0, step = matrix_size;
    int own = rank - 1;
    for (int k = out->n - 1; k >= 0; k--) {
        int64_t x = i % out->shape[k];
        i /= out->shape[k];
        if (own < 0) continue;
        if (shape[own] != 1) offset += x * step;
        step *= shape[own--];
    }
    return offset;
}
typedef struct operands {
    int64_t m, n, k;
    bool row, column;
    int ba, bb;
    layout batch;
    int64_t count;
    int64_t sa[RANK_MAX], sb[RANK_MAX];
} operands;
static operands operands_of(int ra, const int64_t *sa, int rb, const int64_t *sb)
{
    operands o = {.row = ra == 1, .column = rb == 1, .count = 1};
    o.m = ra == 1 ? 1 : sa[ra - 2], o.k = sa[ra - 1], o.n = rb == 1 ? 1 : sb[rb - 1];
    o.ba = ra > 2 ? ra - 2 : 0, o.bb = rb > 2 ? rb - 2 : 0;
    memcpy(o.sa, sa, sizeof o.sa), memcpy(o.sb, sb, sizeof o.sb);
    o.batch.n = o.ba > o.bb ? o.ba : o.bb;
    for (int i = 0; i < o.batch.n; i++) {
        int64_t x = i - o.batch.n + o.ba < 0 ? 1 : sa[i - o.batch.n + o.ba], y = i - o.batch.n + o.bb < 0 ? 1 : sb[i - o.batch.n + o.bb];
        o.batch.shape[i] = x == 1 ? y : x;
        o.count *= o.batch.shape[i];
    }
    return o;
}

static void check_all(dtype da, dtype db, int ra, const int64_t *sa, int rb, const int64_t *sb, int va, int vb)
{
    operands o = operands_of(ra, sa, rb, sb);
    value a = make(da, ra, sa, va), b = make(db, rb, sb, vb);
    bool f32 = da == DTYPE_F32 && db == DTYPE_F32;
    value y = run("matmul", 2, (value[]){a, b}, 0);
    ck_assert_int_eq(size_of(y), o.count * o.m * o.n);
    shaped ys;
    shaped_of(&y, &ys);
    ck_assert_int_eq(ys.dtype, f32 ? DTYPE_F32 : DTYPE_F64);
    ck_assert_int_eq(ys.rank, o.batch.n + !o.row + !o.column);
    for (int64_t i = 0; i < o.count; i++) {
        int64_t pa = batch_offset(i, &o.batch, o.ba, o.sa, o.m * o.k), pb = batch_offset(i, &o.batch, o.bb, o.sb, o.k * o.n);
        for (int64_t r = 0; r < o.m; r++)
            for (int64_t q = 0; q < o.n; q++) {
                chain c = {.f32 = f32};
                for (int64_t k = 0; k < o.k; k++) {
                    chain_step(&c, at(a, pa + r * o.k + k), at(b, pb + k * o.n + q));
                    if ((k + 1) % GEMM_BLOCK == 0) chain_end(&c);
                }
                chain_end(&c);
                ck_assert_msg(same_bits(at(y, (i * o.m + r) * o.n + q), c.sum), "matmul %d %d views %d %d", ra, rb, va, vb);
            }
    }
    /* Its transposes, with a cotangent in the result's dtype, from nothing and onto something. */
    value g = make(ys.dtype, ys.rank, ys.shape, (va + vb) % 4), form_a, form_b;
    ck_assert(form_of(m, a, &form_a) && form_of(m, b, &form_b));
    for (int left = 0; left < 2; left++)
        for (int add = 0; add < 3; add++) { /* 2: in place */
            value x = left ? a : b, other = left ? b : a;
            dtype dx = left ? da : db;
            bool apart = (dx == DTYPE_F32) != f32;
            value acc = add ? make(dx, left ? ra : rb, left ? sa : sb, 0) : value_zero();
            int64_t size = size_of(x);
            double *want = calloc((size_t)size + 1, sizeof *want), *before = calloc((size_t)size + 1, sizeof *before);
            for (int64_t e = 0; e < size && add; e++) before[e] = at(acc, e);
            int64_t rows = left ? o.m : o.k, columns = left ? o.k : o.n, deep = left ? o.n : o.m;
            bool joined = !left && rb <= 2;
            for (int64_t e = 0; e < size; e++) {
                chain c = {.f32 = f32, .add = add && !apart, .sum = apart ? 0 : before[e]};
                int64_t steps = 0;
                for (int64_t i = 0; i < o.count; i++) {
                    int64_t pa = batch_offset(i, &o.batch, o.ba, o.sa, o.m * o.k), pb = batch_offset(i, &o.batch, o.bb, o.sb, o.k * o.n);
                    int64_t in = e - (left ? pa : pb);
                    if (in < 0 || in >= rows * columns) continue;
                    int64_t r = in / columns, q = in % columns, pg = i * o.m * o.n;
                    for (int64_t k = 0; k < deep; k++) {
                        if (left) chain_step(&c, at(g, pg + r * o.n + k), at(other, pb + q * o.n + k));
                        else chain_step(&c, at(other, pa + k * o.k + r), at(g, pg + k * o.n + q));
                        steps++;
                        if ((joined ? steps : k + 1) % GEMM_BLOCK == 0) chain_end(&c);
                    }
                    if (!joined) chain_end(&c);
                }
                chain_end(&c);
                want[e] = c.sum;
                if (dx == DTYPE_F32) want[e] = (double)(float)want[e];
                if (apart && add) want[e] = dx == DTYPE_F32 ? (double)((float)before[e] + (float)want[e]) : before[e] + want[e];
            }
            void *place = add == 2 ? as_array(acc)->data : NULL;
            value d = run(left ? "__acc_matmul_a" : "__acc_matmul_b", 4, (value[]){acc, g, other, left ? form_a : form_b}, add == 2);
            shaped s;
            ck_assert(shaped_of(&d, &s));
            ck_assert_int_eq(s.dtype, dx);
            ck_assert_int_eq(s.size, size);
            if (place) ck_assert_ptr_eq(s.data, place);
            for (int64_t e = 0; e < size; e++)
                ck_assert_msg(same_bits(at(d, e), want[e]), "transpose %d of [%d] @ [%d], element %d: %a, want %a, dtypes %d %d add %d",
                              left, ra, rb, (int)e, at(d, e), want[e], da, db, add);
            free(want), free(before);
            value_release(m, d), value_release(m, acc);
        }
    value_release(m, form_a), value_release(m, form_b);
    value_release(m, a), value_release(m, b), value_release(m, y), value_release(m, g);
}

static void open_vm(void)
{
    vm_config config = vm_config_default();
    config.threads = 2;
    m = vm_open(&config);
    ck_assert(m != NULL);
}
static void close_vm(void)
{
    ck_assert(m->error == NULL);
    vm_close(m);
}

START_TEST(matmul_and_its_transposes)
{
    open_vm();
    static const struct {
        int ra;
        int64_t sa[RANK_MAX];
        int rb;
        int64_t sb[RANK_MAX];
    } cases[] = {
        {2, {3, 4}, 2, {4, 5}},
        {2, {1, 1}, 2, {1, 1}},
        {2, {17, 33}, 2, {33, 9}},
        {2, {0, 3}, 2, {3, 2}},
        {2, {2, 0}, 2, {0, 3}},
        {1, {4}, 1, {4}},
        {1, {300}, 1, {300}},
        {1, {4}, 2, {4, 3}},
        {2, {3, 4}, 1, {4}},
        {1, {4}, 3, {2, 4, 3}},
        {3, {2, 3, 4}, 1, {4}},
        {3, {2, 3, 4}, 3, {2, 4, 5}},
        {3, {2, 3, 4}, 2, {4, 5}},
        {2, {3, 4}, 3, {2, 4, 5}},
        {3, {1, 3, 4}, 3, {6, 4, 5}},
        {4, {2, 3, 4, 5}, 4, {2, 3, 5, 2}},
        {4, {2, 1, 4, 5}, 4, {1, 3, 5, 2}},
        {4, {2, 3, 4, 5}, 3, {3, 5, 2}},
        {3, {7, 40, 3}, 2, {3, 2}},
        {3, {3, 100, 2}, 2, {2, 3}},
        {2, {2, 260}, 2, {260, 3}},
        {2, {270, 2}, 2, {2, 4}},
        {3, {0, 2, 3}, 2, {3, 2}},
        {3, {4, 1, 3}, 2, {3, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int v = 0; v < 5; v++)
            for (int t = 0; t < 4; t++)
                check_all(t & 1 ? DTYPE_F32 : DTYPE_F64, t & 2 ? DTYPE_F32 : DTYPE_F64, cases[i].ra, cases[i].sa, cases[i].rb, cases[i].sb,
                          v, (v * 2 + t) % 5);
    close_vm();
}
END_TEST

/* <g, dot(a, b)> = <__dot_a(g, b), a> = <__dot_b(g, a), b>, to rounding, for every pair of ranks. */
START_TEST(dot_is_trilinear)
{
    open_vm();
    static const struct {
        int ra;
        int64_t sa[4];
        int rb;
        int64_t sb[4];
    } cases[] = {
        {0, {0}, 0, {0}},          {0, {0}, 1, {3}},       {1, {3}, 0, {0}},       {2, {2, 3}, 0, {0}},          {0, {0}, 3, {2, 3, 4}},
        {1, {5}, 1, {5}},          {3, {2, 3, 5}, 1, {5}}, {1, {5}, 3, {2, 5, 3}}, {3, {2, 3, 5}, 3, {4, 5, 2}}, {2, {2, 3}, 2, {3, 4}},
        {3, {2, 3, 4}, 2, {4, 5}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int v = 0; v < 4; v++) {
            value a = make(DTYPE_F64, cases[i].ra, cases[i].sa, v), b = make(DTYPE_F64, cases[i].rb, cases[i].sb, (v + 1) % 4);
            value y = run("dot", 2, (value[]){a, b}, 0), fa, fb;
            shaped s;
            shaped_of(&y, &s);
            ck_assert_int_eq(s.rank, cases[i].ra && cases[i].rb ? cases[i].ra - 1 + (cases[i].rb > 1 ? cases[i].rb - 1 : 0)
                                                                : cases[i].ra + cases[i].rb);
            value g = make(DTYPE_F64, s.rank, s.shape, 0);
            ck_assert(form_of(m, a, &fa) && form_of(m, b, &fb));
            value da = run("__dot_a", 3, (value[]){g, b, fa}, 0), db = run("__dot_b", 3, (value[]){g, a, fb}, 0);
            double t[3] = {0, 0, 0};
            for (int64_t e = 0; e < s.size; e++) t[0] += at(g, e) * at(y, e);
            for (int64_t e = 0; e < size_of(a); e++) t[1] += at(da, e) * at(a, e);
            for (int64_t e = 0; e < size_of(b); e++) t[2] += at(db, e) * at(b, e);
            ck_assert_double_eq_tol(t[0], t[1], 1e-12);
            ck_assert_double_eq_tol(t[0], t[2], 1e-12);
            value all[] = {a, b, y, g, fa, fb, da, db};
            for (int k = 0; k < 8; k++) value_release(m, all[k]);
        }
    close_vm();
}
END_TEST

START_TEST(whole_numbers)
{
    open_vm();
    value a = make(DTYPE_I64, 2, (int64_t[]){3, 4}, 1), b = make(DTYPE_I64, 2, (int64_t[]){4, 2}, 0);
    value y = run("matmul", 2, (value[]){a, b}, 0);
    ck_assert_int_eq(as_array(y)->dtype, DTYPE_I64);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) sum += at(a, i * 4 + k) * at(b, k * 2 + j);
            ck_assert(at(y, i * 2 + j) == sum);
        }
    value_release(m, a), value_release(m, b), value_release(m, y);
    array *big = array_new(m, DTYPE_I64, 1, (int64_t[]){2});
    ((int64_t *)big->data)[0] = ((int64_t *)big->data)[1] = INT64_C(1) << 40;
    big->h.refs++;
    fails("matmul", value_object(&big->h), value_object(&big->h), "@: integer overflow: a sum of products does not fit 64 bits");
    /* With a float on one side it is a float product. */
    value i = make(DTYPE_I64, 1, (int64_t[]){3}, 0), f = make(DTYPE_F32, 1, (int64_t[]){3}, 0);
    y = run("matmul", 2, (value[]){i, f}, 0);
    ck_assert_int_eq(y.tag, V_F32);
    value_release(m, i), value_release(m, f);
    close_vm();
}
END_TEST

START_TEST(errors_say_what_would_do)
{
    open_vm();
    fails("matmul", make(DTYPE_F64, 2, (int64_t[]){2, 3}, 0), make(DTYPE_F64, 2, (int64_t[]){4, 5}, 0),
          "@: cannot multiply [2, 3] @ [4, 5]: inner sizes 3 and 4 differ");
    fails("matmul", make(DTYPE_F64, 3, (int64_t[]){2, 3, 4}, 0), make(DTYPE_F64, 3, (int64_t[]){3, 4, 5}, 0),
          "@: cannot multiply [2, 3, 4] @ [3, 4, 5]: batch sizes 2 and 3 differ");
    fails("matmul", value_f64(1), make(DTYPE_F64, 1, (int64_t[]){2}, 0),
          "@: multiplies vectors and matrices, and the left side is a scalar; use * for multiples");
    fails("trace", make(DTYPE_F64, 1, (int64_t[]){2}, 0), value_undef(), "trace(): x has one axis, and a diagonal needs two");
    close_vm();
}
END_TEST

START_TEST(outer_and_trace)
{
    open_vm();
    value a = make(DTYPE_F64, 2, (int64_t[]){2, 2}, 1), b = make(DTYPE_F64, 1, (int64_t[]){3}, 3);
    value y = run("outer", 2, (value[]){a, b}, 0);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) ck_assert(at(y, i * 3 + j) == at(a, i) * at(b, j));
    value t = run("trace", 1, &a, 0);
    ck_assert_double_eq(at(t, 0), at(a, 0) + at(a, 3));
    value shape, s;
    ck_assert(form_of(m, a, &shape));
    s = run("__spread_diag", 2, (value[]){value_f64(2), shape}, 0);
    ck_assert(at(s, 0) == 2 && at(s, 1) == 0 && at(s, 2) == 0 && at(s, 3) == 2);
    value all[] = {a, b, y, shape, s};
    for (int k = 0; k < 5; k++) value_release(m, all[k]);
    close_vm();
}
END_TEST

UNIT_MAIN("matmul", matmul_and_its_transposes, dot_is_trilinear, whole_numbers, errors_say_what_would_do, outer_and_trace)
