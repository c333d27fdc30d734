/* kern_lapack.c: equations: solve, solve_triangular, inv, cholesky, det, logdet; and what all kernels
 * of lapack.h share. In go stacks of matrices of any strides, out come dense results. A matrix that has no
 * answer is an error that says which one of the stack it is. */
#include "lapack.h"
#include "blas.h"
#include "index.h"
#include <dlfcn.h>
#include <stdio.h>

/* --- stacks -------------------------------------------------------------------------------------- */

static dtype float_of(const vm *m, const shaped *x)
{
    return x->dtype == DTYPE_F32 || x->dtype == DTYPE_F64 ? x->dtype : m->config.float_dtype;
}

static bool fail_shape(prim_call *c, uint32_t i, const shaped *x, const char *must)
{
    text t;
    text_open(&t, &c->vm->mem);
    shape_print(x->rank, x->shape, &t);
    prim_fail(c, (int)i, DIAG_SHAPE, "%s must be %s, and has shape %s",
              symbol_name(c->vm->symbols, prim_info_of(c->vm, c->p)->params[i].name), must, text_str(&t));
    text_close(&t);
    return false;
}

bool stack_open(prim_call *c, uint32_t i, bool square, stack *s)
{
    *s = (stack){.count = 1};
    if (!arg_shaped(c, i, &s->x)) return false;
    if (s->x.rank < 2) return fail_shape(c, i, &s->x, square ? "a square matrix or a stack of them" : "a matrix or a stack of them");
    s->m = s->x.shape[s->x.rank - 2], s->n = s->x.shape[s->x.rank - 1];
    if (square && s->m != s->n) return fail_shape(c, i, &s->x, "square in its last two axes");
    if (s->m > 1 << 30 || s->n > 1 << 30) return fail_shape(c, i, &s->x, "smaller");
    s->count = shape_size(s->x.rank - 2, s->x.shape);
    s->d = float_of(c->vm, &s->x);
    lapack_one_thread();
    return blas_reserve(c->vm, 1) || vm_out_of_memory(c->vm);
}

static int64_t stack_offset(const stack *s, int64_t k)
{
    int64_t o = 0;
    for (int i = s->x.rank - 3; i >= 0; i--) {
        o += k % s->x.shape[i] * s->x.stride[i];
        k /= s->x.shape[i];
    }
    return o;
}

static void load_at(const shaped *x, int64_t offset, int64_t m, int64_t n, int64_t rs, int64_t cs, double *to)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) to[j * m + i] = read_f64(x->dtype, x->data, offset + i * rs + j * cs);
}

void stack_load(const stack *s, int64_t k, double *to)
{
    int r = s->x.rank;
    load_at(&s->x, stack_offset(s, k), s->m, s->n, s->x.stride[r - 2], s->x.stride[r - 1], to);
}

void stack_store(result *r, int64_t k, int64_t m, int64_t n, const double *from)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) write_f64(r->dtype, r->data, (k * m + i) * n + j, from[j * m + i]);
}

bool stack_result(prim_call *c, const stack *s, int tail, const int64_t *shape, result *r)
{
    int64_t all[RANK_MAX + 2];
    int rank = s->x.rank - 2;
    for (int i = 0; i < rank; i++) all[i] = s->x.shape[i];
    for (int i = 0; i < tail; i++) all[rank + i] = shape[i];
    return result_open(c, r, s->d, rank + tail, all);
}

bool stack_fail(prim_call *c, const stack *s, int64_t k, const char *what)
{
    if (s->x.rank == 2) return prim_fail(c, 0, DIAG_VALUE, "a %s", what);
    text t;
    text_open(&t, &c->vm->mem);
    int64_t at[RANK_MAX];
    for (int i = s->x.rank - 3; i >= 0; i--) at[i] = k % s->x.shape[i], k /= s->x.shape[i];
    shape_print(s->x.rank - 2, at, &t);
    prim_fail(c, 0, DIAG_VALUE, "the matrix a%s %s", text_str(&t), what);
    text_close(&t);
    return false;
}

bool stack_finite(prim_call *c, const stack *s, int64_t k, const double *a)
{
    for (int64_t i = 0; i < s->m * s->n; i++)
        if (!isfinite(a[i])) return stack_fail(c, s, k, isnan(a[i]) ? "holds a nan" : "holds an infinite number");
    return true;
}

/* --- the backend --------------------------------------------------------------------------------- */

void lapack_one_thread(void)
{
    /* OpenBLAS decides for the whole process; the other libraries that Debian offers are serial. */
    void (*set)(int);
    *(void **)&set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    int (*get)(void);
    *(void **)&get = dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
    if (set && get && get() != 1) set(1);
}

const char *lapack_describe(void)
{
    static _Thread_local char s[160];
    char *(*config)(void);
    *(void **)&config = dlsym(RTLD_DEFAULT, "openblas_get_config");
    lapack_int a, b, p;
    LAPACKE_ilaver(&a, &b, &p);
    snprintf(s, sizeof s, "LAPACK %d.%d.%d%s%.100s", (int)a, (int)b, (int)p, config ? ", " : " (reference)", config ? config() : "");
    return s;
}

bool lapack_lu(int64_t n, double *a, int *pivots, double *det)
{
    LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, (int)n, (int)n, a, (int)(n ? n : 1), pivots);
    double d = 1;
    bool fine = true;
    for (int64_t i = 0; i < n; i++) {
        d *= a[i * n + i];
        if (pivots[i] != i + 1) d = -d;
        fine &= a[i * n + i] != 0;
    }
    *det = d;
    return fine;
}

/* --- equations ----------------------------------------------------------------------------------- */

/* a (args[0]: stacks) and b (args[1]: a vector, or a stack) with broadcast batches. */
typedef struct equations {
    stack a;
    shaped b;
    bool vector;
    int64_t k; /* right sides of one matrix */
    int rank;  /* batch axes of the result */
    int64_t shape[RANK_MAX + 2];
    int64_t count;
    dtype d;
} equations;

static bool equations_open(prim_call *c, equations *q, result *r)
{
    weakness w;
    shaped batch_a, batch_b;
    if (!stack_open(c, 0, true, &q->a) || !arg_shaped(c, 1, &q->b)) return false;
    q->vector = q->b.rank == 1;
    if (q->b.rank == 0) return fail_shape(c, 1, &q->b, "a vector or a matrix");
    int64_t rows = q->vector ? q->b.shape[0] : q->b.shape[q->b.rank - 2];
    if (rows != q->a.n)
        return prim_fail(c, 1, DIAG_SHAPE, "b has %lld rows and a, of %lld by %lld, wants %lld", (long long)rows, (long long)q->a.n,
                         (long long)q->a.n, (long long)q->a.n);
    q->k = q->vector ? 1 : q->b.shape[q->b.rank - 1];
    batch_a = q->a.x, batch_b = q->b;
    batch_a.rank -= 2, batch_b.rank = q->vector ? 0 : q->b.rank - 2;
    if (!shape_broadcast(c->vm, "the batches of a and b", &batch_a, &batch_b, &q->rank, q->shape)) return false;
    q->d = dtype_promote(c->vm, &q->a.x, &q->b, &w);
    if (q->d != DTYPE_F32 && q->d != DTYPE_F64) q->d = c->vm->config.float_dtype;
    q->count = shape_size(q->rank, q->shape);
    int64_t shape[RANK_MAX + 2];
    memcpy(shape, q->shape, sizeof shape);
    shape[q->rank] = q->a.n, shape[q->rank + 1] = q->k;
    return result_open(c, r, q->d, q->rank + 1 + !q->vector, shape);
}

/* Offset of the matrix that s (of rank `tail` and a batch) has for result matrix number i. */
static int64_t batch_offset(const shaped *s, int tail, const equations *q, int64_t i)
{
    int64_t o = 0;
    int own = s->rank - tail;
    for (int j = q->rank - 1; j >= 0; j--) {
        int64_t x = i % q->shape[j];
        i /= q->shape[j];
        int k = j - q->rank + own;
        if (k >= 0 && s->shape[k] != 1) o += x * s->stride[k];
    }
    return o;
}
static void equations_load(const equations *q, int64_t i, double *a, double *b)
{
    const shaped *x = &q->a.x, *y = &q->b;
    if (a) load_at(x, batch_offset(x, 2, q, i), q->a.n, q->a.n, x->stride[x->rank - 2], x->stride[x->rank - 1], a);
    int64_t o = batch_offset(y, q->vector ? 1 : 2, q, i);
    load_at(y, o, q->a.n, q->k, y->stride[y->rank - (q->vector ? 1 : 2)], q->vector ? 0 : y->stride[y->rank - 1], b);
}

bool kern_solve(prim_call *c)
{
    equations q;
    result r;
    if (!equations_open(c, &q, &r)) return false;
    int64_t n = q.a.n;
    arena w;
    arena_open(&w, &c->vm->mem, MEM_OTHER);
    double *a = arena_alloc(&w, (size_t)(n * n + 1) * sizeof *a), *b = arena_alloc(&w, (size_t)(n * q.k + 1) * sizeof *b), det;
    int *pivots = arena_alloc(&w, (size_t)(n + 1) * sizeof *pivots);
    bool ok = (a && b && pivots) || vm_out_of_memory(c->vm), shared = q.a.count == 1;
    for (int64_t i = 0; ok && i < q.count; i++) {
        equations_load(&q, i, shared && i ? NULL : a, b);
        if (!(shared && i) && !lapack_lu(n, a, pivots, &det))
            ok = stack_fail(c, &q.a, shared ? 0 : i % q.a.count, "is singular: no x solves a @ x == b for every b");
        if (!ok) break;
        if (n && q.k) LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', (int)n, (int)q.k, a, (int)n, pivots, b, (int)n);
        stack_store(&r, i, n, q.k, b);
    }
    arena_close(&w);
    return ok ? result_give(c, &r) : result_drop(c, &r);
}

/* A flag given as a bool or a number. */
static bool arg_flag(prim_call *c, uint32_t i, bool *out)
{
    double x;
    if (c->args[i].tag == V_BOOL) {
        *out = c->args[i].u.i != 0;
        return true;
    }
    if (!arg_number(c, i, &x)) return false;
    *out = x != 0;
    return true;
}

bool kern_solve_triangular(prim_call *c)
{
    equations q;
    result r;
    bool trans, lower, unit;
    if (!arg_flag(c, 2, &trans) || !arg_flag(c, 3, &lower) || !arg_flag(c, 4, &unit) || !equations_open(c, &q, &r)) return false;
    int64_t n = q.a.n;
    arena w;
    arena_open(&w, &c->vm->mem, MEM_OTHER);
    double *a = arena_alloc(&w, (size_t)(n * n + 1) * sizeof *a), *b = arena_alloc(&w, (size_t)(n * q.k + 1) * sizeof *b);
    bool ok = (a && b) || vm_out_of_memory(c->vm);
    for (int64_t i = 0; ok && i < q.count; i++) {
        equations_load(&q, i, q.a.count == 1 && i ? NULL : a, b);
        for (int64_t j = 0; ok && j < n && !unit; j++)
            if (a[j * n + j] == 0) ok = stack_fail(c, &q.a, i % q.a.count, "is singular: it has a 0 on its diagonal");
        if (!ok) break;
        if (n && q.k)
            LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, lower ? 'L' : 'U', trans ? 'T' : 'N', unit ? 'U' : 'N', (int)n, (int)q.k, a, (int)n, b,
                                (int)n);
        stack_store(&r, i, n, q.k, b);
    }
    arena_close(&w);
    return ok ? result_give(c, &r) : result_drop(c, &r);
}

/* --- one matrix at a time ------------------------------------------------------------------------ */

typedef enum square_kind { SQ_INV, SQ_CHOLESKY, SQ_DET, SQ_LOGDET } square_kind;

static bool square_one(prim_call *c, const stack *s, square_kind kind, int64_t k, double *a, double *work, int *pivots, result *r)
{
    int64_t n = s->n;
    double det;
    stack_load(s, k, a);
    if (kind == SQ_CHOLESKY) {
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = j; i < n; i++) a[j * n + i] = 0.5 * (a[j * n + i] + a[i * n + j]);
        int info = n ? LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)n, a, (int)n) : 0;
        if (info > 0) return stack_fail(c, s, k, "is not positive definite");
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < j; i++) a[j * n + i] = 0;
        stack_store(r, k, n, n, a);
        return true;
    }
    bool regular = lapack_lu(n, a, pivots, &det);
    if (kind == SQ_DET) {
        write_f64(r->dtype, r->data, k, det);
        return true;
    }
    if (!regular) return stack_fail(c, s, k, kind == SQ_INV ? "is singular and has no inverse" : "is singular: its determinant is 0");
    if (kind == SQ_INV) {
        if (n) LAPACKE_dgetri_work(LAPACK_COL_MAJOR, (int)n, a, (int)n, pivots, work, (int)n);
        stack_store(r, k, n, n, a);
        return true;
    }
    double sum = 0;
    bool minus = false;
    for (int64_t i = 0; i < n; i++) {
        sum += log(fabs(a[i * n + i]));
        minus ^= (a[i * n + i] < 0) != (pivots[i] != i + 1);
    }
    if (minus) return stack_fail(c, s, k, "has a negative determinant, which has no logarithm");
    write_f64(r->dtype, r->data, k, sum);
    return true;
}

static bool square_kernel(prim_call *c, square_kind kind)
{
    stack s;
    result r;
    if (!stack_open(c, 0, true, &s)) return false;
    int64_t n = s.n, shape[2] = {n, n};
    if (!stack_result(c, &s, kind <= SQ_CHOLESKY ? 2 : 0, shape, &r)) return false;
    arena w;
    arena_open(&w, &c->vm->mem, MEM_OTHER);
    double *a = arena_alloc(&w, (size_t)(n * n + 1) * sizeof *a), *work = arena_alloc(&w, (size_t)(n + 1) * sizeof *work);
    int *pivots = arena_alloc(&w, (size_t)(n + 1) * sizeof *pivots);
    bool ok = (a && work && pivots) || vm_out_of_memory(c->vm);
    for (int64_t k = 0; ok && k < s.count; k++) ok = square_one(c, &s, kind, k, a, work, pivots, &r);
    arena_close(&w);
    return ok ? result_give(c, &r) : result_drop(c, &r);
}
bool kern_inv(prim_call *c) { return square_kernel(c, SQ_INV); }
bool kern_cholesky(prim_call *c) { return square_kernel(c, SQ_CHOLESKY); }
bool kern_det(prim_call *c) { return square_kernel(c, SQ_DET); }
bool kern_logdet(prim_call *c) { return square_kernel(c, SQ_LOGDET); }
