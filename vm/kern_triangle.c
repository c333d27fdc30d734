/* kern_triangle.c: the small linear maps that rules of linear algebra are written with: a column added,
 * triangles, diagonals of stacked matrices, symmetric and skew parts, inverse differences. */
#include "kern.h"
#include "kern_util.h"
#include <float.h>

static bool form_vector(value f) { return f.tag == V_FORMOBJ && as_form(f)->kind == V_ARRAY && as_form(f)->rank == 1; }

bool kern_col(prim_call *c)
{
    shaped x;
    if (!arg_shaped(c, 0, &x)) return false;
    if (form_vector(c->args[1])) x.shape[x.rank] = 1, x.stride[x.rank] = 1, x.rank++;
    return give_view(c, &c->args[0], x.rank, x.shape, x.stride, 0);
}
bool kern_uncol(prim_call *c)
{
    shaped x;
    if (!arg_shaped(c, 0, &x)) return false;
    if (form_vector(c->args[1]) && x.rank > 0) x.rank--;
    return give_view(c, &c->args[0], x.rank, x.shape, x.stride, 0);
}

bool kern_minus(prim_call *c) { return prim_apply(c->vm, prim_named("neg"), c->args, 1, c->last, &c->out); }

bool kern_turn(prim_call *c)
{
    shaped x;
    value f = c->args[1];
    if (!arg_shaped(c, 0, &x)) return false;
    bool turn = value_is_scalar(f) && (f.tag >= V_F32 ? f.u.f != 0 : f.u.i != 0);
    if (turn && x.rank >= 2) {
        int a = x.rank - 2, b = x.rank - 1;
        int64_t t = x.shape[a];
        x.shape[a] = x.shape[b], x.shape[b] = t;
        t = x.stride[a], x.stride[a] = x.stride[b], x.stride[b] = t;
    }
    return give_view(c, &c->args[0], x.rank, x.shape, x.stride, 0);
}

/* Calls f for each element of each matrix of args[0]; `other` is the element across the diagonal. */
typedef double across(int64_t i, int64_t j, double x, double other, const double *p);
static bool each(prim_call *c, bool square, across *f, const double *p)
{
    shaped x;
    result r;
    if (!arg_shaped(c, 0, &x)) return false;
    if (x.rank == 0 && read_f64(x.dtype, x.data, 0) == 0) { /* what is left of a symbolic zero */
        c->out = c->args[0];
        return true;
    }
    if (x.rank < 2 || (square && x.shape[x.rank - 1] != x.shape[x.rank - 2]))
        return prim_fail(c, 0, DIAG_SHAPE, "x must be %s", square ? "square" : "a matrix");
    dtype d = x.dtype >= DTYPE_F32 ? x.dtype : c->vm->config.float_dtype;
    if (!result_open(c, &r, d, x.rank, x.shape)) return false;
    int64_t m = x.shape[x.rank - 2], n = x.shape[x.rank - 1], rs = x.stride[x.rank - 2], cs = x.stride[x.rank - 1];
    int64_t at[RANK_MAX] = {0}, o = 0, q = 0, k = 0;
    if (r.size) do
            for (int64_t i = 0; i < m && !INTERRUPTED(c->vm); i++)
                for (int64_t j = 0; j < n; j++, k++)
                    write_f64(d, r.data, k,
                              f(i, j, read_f64(x.dtype, x.data, o + i * rs + j * cs),
                                square ? read_f64(x.dtype, x.data, o + j * rs + i * cs) : 0, p));
        while (odometer(x.rank - 2, x.shape, at, x.stride, &o, x.stride, &q));
    return result_give(c, &r);
}
static double sym_at(int64_t i, int64_t j, double x, double other, const double *p) { return 0.5 * (x + other); }
static double skew_at(int64_t i, int64_t j, double x, double other, const double *p) { return x - other; }
static double tri_at(int64_t i, int64_t j, double x, double other, const double *p)
{
    if (i == j) return p[1] == 0 ? 0 : x * p[1];
    return (i > j) == (p[0] != 0) ? x : 0;
}
bool kern_sym(prim_call *c) { return each(c, true, sym_at, NULL); }
bool kern_skew(prim_call *c) { return each(c, true, skew_at, NULL); }
bool kern_tri_part(prim_call *c)
{
    double p[2];
    value f = c->args[1];
    p[0] = value_is_scalar(f) && (f.tag >= V_F32 ? f.u.f != 0 : f.u.i != 0);
    return arg_number(c, 2, &p[1]) && each(c, false, tri_at, p);
}

bool kern_diag_part(prim_call *c)
{
    shaped x;
    if (!arg_shaped(c, 0, &x)) return false;
    if (x.rank < 2 || x.shape[x.rank - 1] != x.shape[x.rank - 2]) return prim_fail(c, 0, DIAG_SHAPE, "x must be square");
    x.stride[x.rank - 2] += x.stride[x.rank - 1];
    return give_view(c, &c->args[0], x.rank - 1, x.shape, x.stride, 0);
}
bool kern_diag_matrix(prim_call *c)
{
    shaped x;
    result r;
    if (!arg_shaped(c, 0, &x)) return false;
    if (x.rank < 1 || x.rank == RANK_MAX) return prim_fail(c, 0, DIAG_SHAPE, "x must have 1 to %d axes", RANK_MAX - 1);
    int64_t shape[RANK_MAX], n = x.shape[x.rank - 1];
    memcpy(shape, x.shape, sizeof shape);
    shape[x.rank] = n;
    if (!result_open(c, &r, x.dtype, x.rank + 1, shape)) return false;
    memset(r.data, 0, (size_t)r.size * dtype_size[x.dtype]);
    int64_t at[RANK_MAX] = {0}, o = 0, q = 0, k = 0;
    if (r.size) do {
            for (int64_t i = 0; i < n; i++)
                memcpy(element(x.dtype, r.data, k + i * n + i), element(x.dtype, x.data, o + i * x.stride[x.rank - 1]),
                       dtype_size[x.dtype]);
            k += n * n;
        } while (odometer(x.rank - 1, x.shape, at, x.stride, &o, x.stride, &q));
    return result_give(c, &r);
}

bool kern_gaps(prim_call *c)
{
    shaped x;
    result r;
    if (!arg_shaped(c, 0, &x)) return false;
    if (x.rank < 1 || x.rank == RANK_MAX) return prim_fail(c, 0, DIAG_SHAPE, "w must have 1 to %d axes", RANK_MAX - 1);
    int64_t shape[RANK_MAX], n = x.shape[x.rank - 1], s = x.stride[x.rank - 1];
    memcpy(shape, x.shape, sizeof shape);
    shape[x.rank] = n;
    if (!result_open(c, &r, x.dtype, x.rank + 1, shape)) return false;
    int64_t at[RANK_MAX] = {0}, o = 0, q = 0, k = 0;
    double unit = x.dtype == DTYPE_F32 ? FLT_EPSILON : DBL_EPSILON;
    if (r.size) do {
            double most = 0;
            for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(read_f64(x.dtype, x.data, o + i * s)));
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++, k++) {
                    double gap = read_f64(x.dtype, x.data, o + j * s) - read_f64(x.dtype, x.data, o + i * s);
                    write_f64(x.dtype, r.data, k, fabs(gap) <= 8 * unit * most ? 0 : 1 / gap);
                }
        } while (odometer(x.rank - 1, x.shape, at, x.stride, &o, x.stride, &q));
    return result_give(c, &r);
}

bool kern_inverse_or_zero(prim_call *c)
{
    shaped x;
    result r;
    if (!arg_shaped(c, 0, &x) || !result_open(c, &r, x.dtype, x.rank, x.shape)) return false;
    copy_converted(c->vm, &x, x.dtype, r.data);
    for (int64_t i = 0; i < r.size; i++) {
        double v = read_f64(r.dtype, r.data, i);
        write_f64(r.dtype, r.data, i, v == 0 ? 0 : 1 / v);
    }
    return result_give(c, &r);
}
