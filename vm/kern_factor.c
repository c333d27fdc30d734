/* kern_factor.c: factorisations by LAPACK: qr, eigh, svd, pinv, and the cofactors that the derivative of
 * a determinant is made of. */
#include "lapack.h"
#include <float.h>

/* The two or three parts of a factorisation as a tuple; all of `r` are consumed. */
static bool give_parts(prim_call *c, result *r, uint32_t n, bool ok)
{
    tuple *t = ok ? tuple_new(c->vm, n, n) : NULL;
    if (!t) {
        for (uint32_t i = 0; i < n; i++) result_drop(c, &r[i]);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        result_give(c, &r[i]);
        t->v[i] = c->out;
    }
    c->out = value_object(&t->h);
    return true;
}

static double *room(arena *w, int64_t n) { return arena_alloc(w, (size_t)(n + 1) * sizeof(double)); }

/* What an iteration on matrix k was to find is not there, or the memory for it was not. */
static bool not_found(prim_call *c, const stack *s, int64_t k, const arena *w, const char *what)
{
    return w->refused ? vm_out_of_memory(c->vm) : stack_fail(c, s, k, what);
}

bool kern_qr(prim_call *c)
{
    stack s;
    if (!stack_open(c, 0, false, &s)) return false;
    int64_t m = s.m, n = s.n, k = m < n ? m : n;
    result r[2] = {{0}};
    bool ok = stack_result(c, &s, 2, (int64_t[]){m, k}, &r[0]) && stack_result(c, &s, 2, (int64_t[]){k, n}, &r[1]);
    arena w;
    arena_open(&w, &c->vm->mem, MEM_OTHER);
    int64_t lw = 64 * (n + 1);
    double *a = room(&w, m * n), *u = room(&w, k * n), *tau = room(&w, k), *work = room(&w, lw);
    if (ok && !(a && u && tau && work)) ok = vm_out_of_memory(c->vm);
    for (int64_t i = 0; ok && i < s.count; i++) {
        stack_load(&s, i, a);
        if (k) LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, (int)m, (int)n, a, (int)m, tau, work, (int)lw);
        for (int64_t q = 0; q < n; q++)
            for (int64_t p = 0; p < k; p++) u[q * k + p] = p <= q ? a[q * m + p] : 0;
        stack_store(&r[1], i, k, n, u);
        if (k) LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, (int)m, (int)k, (int)k, a, (int)m, tau, work, (int)lw);
        stack_store(&r[0], i, m, k, a);
    }
    arena_close(&w);
    return give_parts(c, r, 2, ok);
}

bool kern_eigh(prim_call *c)
{
    stack s;
    if (!stack_open(c, 0, true, &s)) return false;
    int64_t n = s.n;
    result r[2] = {{0}};
    bool ok = stack_result(c, &s, 1, (int64_t[]){n}, &r[0]) && stack_result(c, &s, 2, (int64_t[]){n, n}, &r[1]);
    arena w;
    arena_open(&w, &c->vm->mem, MEM_OTHER);
    int64_t lw = 1 + 6 * n + 2 * n * n, li = 3 + 5 * n;
    double *a = room(&w, n * n), *e = room(&w, n), *work = room(&w, lw);
    int *whole = arena_alloc(&w, (size_t)li * sizeof *whole);
    if (ok && !(a && e && work && whole)) ok = vm_out_of_memory(c->vm);
    for (int64_t i = 0; ok && i < s.count; i++) {
        stack_load(&s, i, a);
        ok = stack_finite(c, &s, i, a);
        for (int64_t q = 0; q < n; q++)
            for (int64_t p = q; p < n; p++) a[q * n + p] = 0.5 * (a[q * n + p] + a[p * n + q]);
        if (ok && n && LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', (int)n, a, (int)n, e, work, (int)lw, whole, (int)li) != 0)
            ok = not_found(c, &s, i, &w, "has eigenvalues that the iteration does not find");
        if (!ok) break;
        stack_store(&r[0], i, n, 1, e);
        stack_store(&r[1], i, n, n, a);
    }
    arena_close(&w);
    return give_parts(c, r, 2, ok);
}

bool lapack_svd(bool full, int64_t m, int64_t n, double *a, double *u, double *s, double *vt, arena *w)
{
    int64_t k = m < n ? m : n, most = m > n ? m : n, lw = 4 * k * k + 7 * k + most + 64 * (m + n) + 8;
    double *work = room(w, lw);
    int *whole = arena_alloc(w, (size_t)(8 * k + 1) * sizeof *whole);
    if (!work || !whole) return false;
    if (k == 0) {
        for (int64_t i = 0; full && i < m; i++) u[i * m + i] = 1;
        for (int64_t i = 0; full && i < n; i++) vt[i * n + i] = 1;
        return true;
    }
    return LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, full ? 'A' : 'S', (int)m, (int)n, a, (int)m, s, u, (int)m, vt, (int)(full ? n : k), work,
                               (int)lw, whole) == 0;
}

bool kern_svd(prim_call *c)
{
    stack s;
    bool full;
    if (!stack_open(c, 0, false, &s) || !arg_bool(c, 1, &full)) return false;
    int64_t m = s.m, n = s.n, k = m < n ? m : n, uc = full ? m : k, vr = full ? n : k;
    result r[3] = {{0}};
    bool ok = stack_result(c, &s, 2, (int64_t[]){m, uc}, &r[0]) && stack_result(c, &s, 1, (int64_t[]){k}, &r[1]) &&
              stack_result(c, &s, 2, (int64_t[]){vr, n}, &r[2]);
    for (int64_t i = 0; ok && i < s.count; i++) {
        arena w;
        arena_open(&w, &c->vm->mem, MEM_OTHER);
        double *a = room(&w, m * n), *u = room(&w, m * uc), *e = room(&w, k), *v = room(&w, vr * n);
        if (!(a && u && e && v)) ok = vm_out_of_memory(c->vm);
        if (ok) {
            stack_load(&s, i, a);
            ok = stack_finite(c, &s, i, a);
        }
        if (ok && !lapack_svd(full, m, n, a, u, e, v, &w))
            ok = not_found(c, &s, i, &w, "has singular values that the iteration does not find");
        if (ok) {
            stack_store(&r[0], i, m, uc, u);
            stack_store(&r[1], i, k, 1, e);
            stack_store(&r[2], i, vr, n, v);
        }
        arena_close(&w);
    }
    return give_parts(c, r, 3, ok);
}

bool kern_pinv(prim_call *c)
{
    stack s;
    double rcond;
    result r;
    if (!arg_number(c, 1, &rcond) || !stack_open(c, 0, false, &s)) return false;
    int64_t m = s.m, n = s.n, k = m < n ? m : n;
    if (!stack_result(c, &s, 2, (int64_t[]){n, m}, &r)) return false;
    bool ok = true;
    for (int64_t i = 0; ok && i < s.count; i++) {
        arena w;
        arena_open(&w, &c->vm->mem, MEM_OTHER);
        double *a = room(&w, m * n), *u = room(&w, m * k), *e = room(&w, k), *v = room(&w, k * n), *p = room(&w, n * m);
        if (!(a && u && e && v && p)) ok = vm_out_of_memory(c->vm);
        if (ok) {
            stack_load(&s, i, a);
            ok = stack_finite(c, &s, i, a);
        }
        if (ok && !lapack_svd(false, m, n, a, u, e, v, &w))
            ok = not_found(c, &s, i, &w, "has singular values that the iteration does not find");
        if (ok) {
            for (int64_t q = 0; q < m; q++)
                for (int64_t l = 0; l < k; l++) {
                    if (!(e[l] > rcond * e[0])) continue;
                    double x = u[l * m + q] / e[l];
                    for (int64_t j = 0; j < n; j++) p[q * n + j] += v[j * k + l] * x;
                }
            stack_store(&r, i, n, m, p);
        }
        arena_close(&w);
    }
    return ok ? result_give(c, &r) : result_drop(c, &r);
}

/* --- cofactors ----------------------------------------------------------------------------------- */

/* c: [n, n] = u d vt, all column-major. */
static void sandwich(int64_t n, const double *u, const double *d, const double *vt, double *t, double *c)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            double x = 0;
            for (int64_t l = 0; l < n; l++) x += d[l * n + i] * vt[j * n + l];
            t[j * n + i] = x;
        }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            double x = 0;
            for (int64_t l = 0; l < n; l++) x += u[l * n + i] * t[j * n + l];
            c[j * n + i] = x;
        }
}

static double product_but(int64_t n, const double *s, int64_t i, int64_t j)
{
    double x = 1;
    for (int64_t l = 0; l < n; l++)
        if (l != i && l != j) x *= s[l];
    return x;
}

static double sign_of(int64_t n, const double *q, double *t, int *pivots)
{
    double det;
    memcpy(t, q, (size_t)(n * n) * sizeof *t);
    lapack_lu(n, t, pivots, &det);
    return det < 0 ? -1 : 1;
}

/* f: [n, n] = u' e v, all column-major. */
static void unwrap(int64_t n, const double *u, const double *e, const double *vt, double *t, double *f)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            double x = 0;
            for (int64_t l = 0; l < n; l++) x += e[l * n + i] * vt[l * n + j];
            t[j * n + i] = x;
        }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            double x = 0;
            for (int64_t l = 0; l < n; l++) x += u[i * n + l] * t[j * n + l];
            f[j * n + i] = x;
        }
}

/* d: [n, n] = the derivative along e of the cofactors of the diagonal s. */
static void bend_once(int64_t n, const double *s, const double *e, double *d)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double x = 0;
            if (i != j) x = -e[i * n + j] * product_but(n, s, i, j);
            else
                for (int64_t k = 0; k < n; k++)
                    if (k != i) x += e[k * n + k] * product_but(n, s, i, k);
            d[j * n + i] = x;
        }
}

/* d: [n, n] = the derivative along e and f of the cofactors of the diagonal s: in det(s + …), what goes with
   element (k, j) of a third direction. Three rows are left out of the product of s, and the signs are those of
   the permutations of the three. */
static void bend_twice(int64_t n, const double *s, const double *e, const double *f, double *but, double *d)
{
    for (int64_t k = 0; k < n; k++) {
        d[k * n + k] = 0;
        for (int64_t j = 0; j < n; j++) {
            if (j == k) continue;
            double before = 1, after = 1, x = 0;
            for (int64_t i = 0; i < n; i++) /* but[i]: the product of s without elements i, j and k */
                if (i != j && i != k) but[i] = before, before *= s[i];
            for (int64_t i = n; i-- > 0;)
                if (i != j && i != k) but[i] *= after, after *= s[i];
            for (int64_t i = 0; i < n; i++) {
                if (i == j || i == k) continue;
                x += but[i] * (e[k * n + i] * f[i * n + j] + f[k * n + i] * e[i * n + j] - e[i * n + i] * f[k * n + j] -
                               f[i * n + i] * e[k * n + j]);
                d[k * n + k] += but[i] * (e[j * n + j] * f[i * n + i] - e[i * n + j] * f[j * n + i]);
            }
            d[j * n + k] = x;
        }
    }
}

static void identity(int64_t n, double *x)
{
    memset(x, 0, (size_t)(n * n) * sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i * n + i] = 1;
}

/* Cofactors of a, or (with e) their derivative along e, or (with f) along both. Small ones by their definition;
   beyond through a = u s v', for which those of the diagonal s are products that leave one to three of its numbers out. */
static bool cofactors(int64_t n, double *a, const double *e, const double *f, double *out, arena *w)
{
    if (n <= 2) {
        const double *x = e ? e : a;
        memset(out, 0, (size_t)(n * n) * sizeof *out);
        if (n == 1 && !e) out[0] = 1;
        if (n == 2 && !f) out[0] = x[3], out[1] = -x[2], out[2] = -x[1], out[3] = x[0];
        return true;
    }
    if (n == 3 && !e) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                int p = (i + 1) % 3, q = (i + 2) % 3, r = (j + 1) % 3, t = (j + 2) % 3;
                out[j * 3 + i] = a[r * 3 + p] * a[t * 3 + q] - a[t * 3 + p] * a[r * 3 + q];
            }
        return true;
    }
    double *u = room(w, n * n), *s = room(w, n), *vt = room(w, n * n), *d = room(w, n * n), *t = room(w, n * n), *x = room(w, n * n),
           *y = room(w, n * n);
    int *pivots = arena_alloc(w, (size_t)(n + 1) * sizeof *pivots);
    if (!(u && s && vt && d && t && x && y && pivots)) return false;
    if (n == 3 && f) { /* no element of a is left in it */
        identity(n, u), identity(n, vt);
    } else if (!lapack_svd(true, n, n, a, u, s, vt, w)) return false;
    double sign = sign_of(n, u, t, pivots) * sign_of(n, vt, t, pivots);
    if (e) unwrap(n, u, e, vt, t, x);
    if (f) {
        unwrap(n, u, f, vt, t, y);
        bend_twice(n, s, x, y, t, d);
    } else if (e) bend_once(n, s, x, d);
    else {
        memset(d, 0, (size_t)(n * n) * sizeof *d);
        for (int64_t i = 0; i < n; i++) d[i * n + i] = product_but(n, s, i, i);
    }
    for (int64_t i = 0; i < n * n; i++) d[i] *= sign;
    sandwich(n, u, d, vt, t, out);
    return true;
}

/* Argument 0 is a stack of matrices, the `directions` after it directions of the same shape. */
static bool cofactor_kernel(prim_call *c, uint32_t directions)
{
    stack s, t[2];
    result r;
    if (!stack_open(c, 0, true, &s)) return false;
    for (uint32_t i = 0; i < directions; i++) {
        if (!stack_open(c, i + 1, true, &t[i])) return false;
        if (!shape_equal(s.x.rank, s.x.shape, t[i].x.rank, t[i].x.shape))
            return prim_fail(c, i + 1, DIAG_INTERNAL, "a direction of another shape");
        if (t[i].d == DTYPE_F64) s.d = DTYPE_F64;
    }
    int64_t n = s.n;
    if (!stack_result(c, &s, 2, (int64_t[]){n, n}, &r)) return false;
    bool ok = true;
    for (int64_t k = 0; ok && k < s.count; k++) {
        arena w;
        arena_open(&w, &c->vm->mem, MEM_OTHER);
        double *a = room(&w, n * n), *out = room(&w, n * n), *e[2] = {NULL, NULL};
        ok = a && out;
        for (uint32_t i = 0; ok && i < directions; i++) ok = (e[i] = room(&w, n * n)) != NULL;
        if (!ok) ok = vm_out_of_memory(c->vm);
        else {
            stack_load(&s, k, a);
            for (uint32_t i = 0; i < directions; i++) stack_load(&t[i], k, e[i]);
            ok = stack_finite(c, &s, k, a) &&
                 (cofactors(n, a, e[0], e[1], out, &w) || not_found(c, &s, k, &w, "has no cofactors that the iteration finds"));
        }
        if (ok) stack_store(&r, k, n, n, out);
        arena_close(&w);
    }
    return ok ? result_give(c, &r) : result_drop(c, &r);
}
bool kern_cofactor(prim_call *c) { return cofactor_kernel(c, 0); }
bool kern_cofactor_along(prim_call *c) { return cofactor_kernel(c, 1); }
bool kern_cofactor_bend(prim_call *c) { return cofactor_kernel(c, 2); }
