/* kern_matmul.c: products of arrays: @, dot, outer, trace, and the products that carry cotangents.
 *
 * In go arrays of any strides, out come new arrays (or, for the `acc` rows, the running cotangent
 * itself when nobody else holds it). Each kernel describes its work as one `product`: matrices, the
 * batch axes of the result, and the batch axes summed over; product_run does the rest with gemm.
 * What holds throughout: an element's bits follow from logical values and shapes. For a sum over
 * batches that is: batch by batch in row-major order, each with its block sums in order, except that
 * for a `b` without batches of its own, k runs through the rows of all batches as one. */
#include "kern_util.h"
#include "kern.h"
#include "gemm.h"
#include "blas.h"
#include "index.h"
#include <stdio.h>

typedef struct product {
    dtype d;
    int64_t m, n, k;
    matrix a, b, c;
    gemm_path path; /* filled in by product_run */
    bool add;       /* to what c holds */
    int batch;      /* axes of the result */
    int64_t shape[RANK_MAX], sa[RANK_MAX], sb[RANK_MAX], sc[RANK_MAX];
    int sum; /* axes summed over */
    int64_t sum_shape[RANK_MAX], sum_a[RANK_MAX], sum_b[RANK_MAX];
    const volatile int *stop; /* set: the program is to stop */
} product;

static void product_batch(product *p, int64_t size, int64_t sa, int64_t sb, int64_t sc)
{
    if (size == 1) return;
    int i = p->batch++;
    p->shape[i] = size, p->sa[i] = sa, p->sb[i] = sb, p->sc[i] = sc;
}
static void product_sum(product *p, int64_t size, int64_t sa, int64_t sb)
{
    if (size == 1) return;
    int i = p->sum++;
    p->sum_shape[i] = size, p->sum_a[i] = sa, p->sum_b[i] = sb;
}

static matrix shifted(dtype d, matrix x, int64_t offset)
{
    x.data = element(d, x.data, offset);
    return x;
}

/* c: [m, n] = (add ? c : 0) + a @ b on whole numbers; false when a product or sum leaves 64 bits. */
static bool gemm_i64(const volatile int *stop, int64_t m, int64_t n, int64_t k, matrix a, matrix b, matrix c, bool add)
{
    const int64_t *x = a.data, *y = b.data;
    int64_t *z = c.data;
    bool over = false;
    for (int64_t i = 0; i < m && !STOPPED(stop); i++) {
        if (!add)
            for (int64_t j = 0; j < n; j++) z[i * c.rs + j * c.cs] = 0;
        for (int64_t p = 0; p < k && (p % 65536 || !STOPPED(stop)); p++) {
            int64_t u = x[i * a.rs + p * a.cs];
            for (int64_t j = 0; j < n; j++) {
                int64_t t, *to = z + i * c.rs + j * c.cs;
                over |= __builtin_mul_overflow(u, y[p * b.rs + j * b.cs], &t);
                over |= __builtin_add_overflow(*to, t, to);
            }
        }
        if (over) return false;
    }
    return true;
}

/* One batch of the result, all that is summed into it. */
static bool product_one(const product *p, matrix a, matrix b, matrix c, int threads)
{
    int64_t at[RANK_MAX] = {0}, oa = 0, ob = 0;
    bool add = p->add;
    if (shape_size(p->sum, p->sum_shape) == 0) {
        gemm(p->d == DTYPE_F32 ? DTYPE_F32 : DTYPE_F64, p->m, p->n, 0, a, b, c, add, 1, GEMM_AUTO);
        return true;
    }
    do {
        matrix x = shifted(p->d, a, oa), y = shifted(p->d, b, ob);
        if (p->d != DTYPE_I64) gemm_until(p->stop, p->d, p->m, p->n, p->k, x, y, c, add, threads, p->path);
        else if (!gemm_i64(p->stop, p->m, p->n, p->k, x, y, c, add)) return false;
        add = true;
    } while (!STOPPED(p->stop) && odometer(p->sum, p->sum_shape, at, p->sum_a, &oa, p->sum_b, &ob));
    return true;
}

/* Merges batch axes that all three walk as one, and batches with the rows of a when b has none. */
static void product_collapse(product *p)
{
    int n = 0;
    for (int i = 0; i < p->batch; i++) {
        int64_t s = p->shape[i];
        if (n && p->sa[n - 1] == p->sa[i] * s && p->sb[n - 1] == p->sb[i] * s && p->sc[n - 1] == p->sc[i] * s) {
            p->shape[n - 1] *= s;
            n--;
        } else p->shape[n] = s;
        p->sa[n] = p->sa[i], p->sb[n] = p->sb[i], p->sc[n] = p->sc[i];
        n++;
    }
    p->batch = n;
    if (n == 0 || p->sum > 0 || p->sb[n - 1] != 0) return;
    bool one = p->m == 1;
    if ((one || p->sa[n - 1] == p->m * p->a.rs) && (one || p->sc[n - 1] == p->m * p->c.rs)) {
        if (one) p->a.rs = p->sa[n - 1], p->c.rs = p->sc[n - 1];
        p->m *= p->shape[n - 1];
        p->batch--;
    }
}

/* The i-th batch. */
static bool product_item(const product *p, int64_t i, int threads)
{
    int64_t oa = 0, ob = 0, oc = 0;
    for (int j = p->batch - 1; j >= 0; j--) {
        int64_t x = i % p->shape[j];
        i /= p->shape[j];
        oa += x * p->sa[j], ob += x * p->sb[j], oc += x * p->sc[j];
    }
    return product_one(p, shifted(p->d, p->a, oa), shifted(p->d, p->b, ob), shifted(p->d, p->c, oc), threads);
}

/* False when whole numbers overflowed, or with the error set when the program is to stop. */
static bool product_run(vm *m, product *p)
{
    p->stop = &m->interrupt;
    product_collapse(p);
    int64_t count = shape_size(p->batch, p->shape);
    if (count == 0 || p->m == 0 || p->n == 0) return true;
    int threads = m->config.threads > 0 ? m->config.threads : 1, over = 1;
    double work = (double)p->m * (double)p->n * (double)p->k * (double)shape_size(p->sum, p->sum_shape);
    if (count > 1 && work * (double)count > 1 << 18 && (count >= threads || work < 1 << 18)) over = threads;
    int within = work * (double)count > (double)threads * (1 << 20) ? threads : 1 + (int)(work * (double)count / (1 << 20));
    if (p->d != DTYPE_I64 && gemm_is_large(p->m, p->n, p->k) && !blas_reserve(m, within)) p->path = GEMM_SMALL;
    bool fine = true;
    if (over == 1) { /* even a team of one costs system calls */
        for (int64_t i = 0; i < count; i++) fine = product_item(p, i, threads) && fine;
        return !vm_interrupted(m) && fine;
    }
#pragma omp parallel for schedule(static) num_threads(over) reduction(&& : fine)
    for (int64_t i = 0; i < count; i++) fine = product_item(p, i, 1) && fine;
    return !vm_interrupted(m) && fine;
}

/* --- operands ---------------------------------------------------------------------------------- */

/* Points s at the numbers as dtype d: converted when they are something else. *owned is released by
   the caller when not NULL. */
static bool operand_as(prim_call *c, uint32_t i, dtype d, shaped *s, array **owned)
{
    *owned = NULL;
    if (s->dtype == d) return true;
    return arg_dense(c, i, d, s, owned);
}
static dtype product_dtype(vm *m, const shaped *a, const shaped *b, weakness *w)
{
    dtype d = dtype_promote(m, a, b, w);
    return d == DTYPE_BOOL ? DTYPE_I64 : d;
}

/* A vector as a matrix: a row on the left, a column on the right. */
static void as_row(shaped *s)
{
    s->shape[1] = s->shape[0], s->stride[1] = s->stride[0];
    s->shape[0] = 1, s->stride[0] = 0;
    s->rank = 2;
}
static void as_column(shaped *s)
{
    s->shape[1] = 1, s->stride[1] = 0;
    s->rank = 2;
}
static matrix last_two(const shaped *s) { return (matrix){s->data, s->stride[s->rank - 2], s->stride[s->rank - 1]}; }
static matrix turned(matrix x) { return (matrix){x.data, x.cs, x.rs}; }
static int64_t from_end(const shaped *s, int i) { return s->shape[s->rank - i]; }
/* Size and stride of batch axis i of n, counted as in the result; 1 and 0 where s lacks it. */
static int64_t batch_size(const shaped *s, int i, int n)
{
    int own = i - n + s->rank - 2;
    return own < 0 ? 1 : s->shape[own];
}
static int64_t batch_stride(const shaped *s, int i, int n)
{
    int own = i - n + s->rank - 2;
    return own < 0 || s->shape[own] == 1 ? 0 : s->stride[own];
}

static bool fail_shapes(prim_call *c, int arg, const shaped *a, const shaped *b, const char *op, const char *fmt, int64_t x, int64_t y)
{
    text t;
    text_open(&t, &c->vm->mem);
    text_puts(&t, "cannot multiply ");
    shape_print(a->rank, a->shape, &t);
    text_puts(&t, op);
    shape_print(b->rank, b->shape, &t);
    char why[160];
    snprintf(why, sizeof why, fmt, (long long)x, (long long)y);
    text_printf(&t, ": %s", why);
    prim_fail(c, arg, DIAG_SHAPE, "%s", text_str(&t));
    text_close(&t);
    return false;
}

static bool fail_overflow(prim_call *c)
{
    return prim_fail(c, -1, DIAG_ARITHMETIC, "integer overflow: a sum of products does not fit 64 bits");
}

/* --- @ ------------------------------------------------------------------------------------------- */
static bool matmul_shapes(prim_call *c, const shaped *a, const shaped *b, int *batch, int64_t *shape)
{
    if (a->rank == 0 || b->rank == 0)
        return prim_fail(c, a->rank == 0 ? 0 : 1, DIAG_SHAPE,
                         "multiplies vectors and matrices, and the %s side is a scalar; use * for multiples",
                         a->rank == 0 ? "left" : "right");
    int64_t ka = from_end(a, 1), kb = b->rank == 1 ? b->shape[0] : from_end(b, 2);
    if (ka != kb) {
        fail_shapes(c, 1, a, b, " @ ", "inner sizes %lld and %lld differ", ka, kb);
        if (b->rank >= 2 && ka == from_end(b, 1)) vm_help(c->vm, "transpose the right side: a @ b'");
        else if (a->rank >= 2 && from_end(a, 2) == kb) vm_help(c->vm, "transpose the left side: a' @ b");
        return false;
    }
    shaped ba = *a, bb = *b;
    ba.rank = a->rank > 2 ? a->rank - 2 : 0, bb.rank = b->rank > 2 ? b->rank - 2 : 0;
    for (int i = 1; i <= ba.rank && i <= bb.rank; i++) {
        int64_t x = from_end(&ba, i), y = from_end(&bb, i);
        if (x != y && x != 1 && y != 1) return fail_shapes(c, 1, a, b, " @ ", "batch sizes %lld and %lld differ", x, y);
    }
    return shape_broadcast(c->vm, "@: batch axes", &ba, &bb, batch, shape);
}

bool kern_matmul(prim_call *c)
{
    shaped a, b;
    if (!arg_shaped(c, 0, &a) || !arg_shaped(c, 1, &b)) return false;
    int rank;
    int64_t shape[RANK_MAX + 2];
    if (!matmul_shapes(c, &a, &b, &rank, shape)) return false;
    weakness w;
    product p = {.d = product_dtype(c->vm, &a, &b, &w)};
    array *own_a = NULL, *own_b = NULL;
    bool row = a.rank == 1, column = b.rank == 1, ok = false;
    if (!operand_as(c, 0, p.d, &a, &own_a) || !operand_as(c, 1, p.d, &b, &own_b)) goto done;
    if (row) as_row(&a);
    if (column) as_column(&b);
    p.m = from_end(&a, 2), p.k = from_end(&a, 1), p.n = from_end(&b, 1);
    int all = rank;
    if (!row) shape[all++] = p.m;
    if (!column) shape[all++] = p.n;
    result r;
    if (!result_open(c, &r, p.d, all, shape)) goto done;
    p.a = last_two(&a), p.b = last_two(&b), p.c = (matrix){r.data, p.n, 1};
    int64_t step = p.m * p.n;
    int64_t sc[RANK_MAX];
    for (int i = rank - 1; i >= 0; i--) {
        sc[i] = step;
        step *= shape[i];
    }
    for (int i = 0; i < rank; i++) product_batch(&p, shape[i], batch_stride(&a, i, rank), batch_stride(&b, i, rank), sc[i]);
    if (product_run(c->vm, &p)) ok = result_give(c, &r);
    else ok = result_drop(c, &r) || fail_overflow(c);
done:
    release_array(c->vm, own_a);
    release_array(c->vm, own_b);
    return ok;
}

/* --- the running cotangent ------------------------------------------------------------------------ */

/* Where a sum of form f goes: into acc (args[0]) where it lies, into a copy of it, or into something
   new when acc is a symbolic zero. When the arithmetic's dtype is not f's, the sum is made apart from
   0, converted, and then added. */
typedef struct running {
    result to, apart;
    bool add;
} running;

static bool running_open(prim_call *c, const value *acc, const shaped *f, dtype d, running *r)
{
    *r = (running){.add = acc->tag != V_ZERO};
    array *own = r->add && acc == &c->args[0] ? take_array(c, 0, f->dtype) : NULL;
    if (own) {
        if (!shape_equal(own->rank, array_shape(own), f->rank, f->shape)) {
            release_array(c->vm, own);
            return prim_fail(c, 0, DIAG_INTERNAL, "the running cotangent has another shape than its primal");
        }
        r->to = (result){.a = own, .dtype = f->dtype, .data = own->data, .size = own->size};
    } else {
        shaped s = {.rank = -1};
        if (r->add && (!shaped_of(acc, &s) || !shape_equal(s.rank, s.shape, f->rank, f->shape)))
            return prim_fail(c, 0, DIAG_INTERNAL, "the running cotangent has another shape than its primal");
        if (!result_open(c, &r->to, f->dtype, f->rank, f->shape)) return false;
        if (r->add) copy_converted(c->vm, &s, f->dtype, r->to.data);
    }
    if (d != f->dtype && !result_open(c, &r->apart, d, f->rank, f->shape)) return result_drop(c, &r->to);
    return true;
}
static void *running_data(running *r, bool *add)
{
    bool apart = r->apart.data != NULL;
    *add = r->add && !apart;
    return apart ? r->apart.data : r->to.data;
}
static bool running_give(prim_call *c, running *r, weakness w)
{
    if (c->vm->error) {
        if (r->apart.data) result_drop(c, &r->apart);
        return result_drop(c, &r->to);
    }
    if (r->apart.data) {
        for (int64_t i = 0; i < r->to.size; i++) {
            double x = read_f64(r->apart.dtype, r->apart.data, i);
            if (r->to.dtype == DTYPE_F32) x = (double)(float)x;
            if (r->add) x += read_f64(r->to.dtype, r->to.data, i);
            write_f64(r->to.dtype, r->to.data, i, x);
        }
        result_drop(c, &r->apart);
    }
    return result_give_weak(c, &r->to, w);
}

/* The shape a @ b has, for a check of the cotangent's. */
static bool cotangent_fits(prim_call *c, const shaped *g, const shaped *a, const shaped *b, bool row, bool column)
{
    int batch = (a->rank > b->rank ? a->rank : b->rank) - 2, n = batch;
    bool fine = g->rank == batch + !row + !column && from_end(a, 1) == from_end(b, 2);
    for (int i = 0; fine && i < batch; i++) {
        int64_t x = batch_size(a, i, batch), y = batch_size(b, i, batch);
        fine = g->shape[i] == (x == 1 ? y : x) && (x == 1 || y == 1 || x == y);
    }
    if (fine && !row) fine = g->shape[n++] == from_end(a, 2);
    if (fine && !column) fine = g->shape[n] == from_end(b, 1);
    return fine || fail_shapes(c, 1, a, b, " @ ", "and a cotangent of rank %lld with last axis %lld does not fit", g->rank,
                               g->rank ? from_end(g, 1) : 0);
}

/* Gives the cotangent of a product the axes that a vector operand took away: [batch, m, n]. */
static void restore_axes(shaped *g, bool row, bool column)
{
    if (row) { /* before the last axis, or at the end */
        int at = column ? g->rank : g->rank - 1;
        for (int i = g->rank; i > at; i--) g->shape[i] = g->shape[i - 1], g->stride[i] = g->stride[i - 1];
        g->shape[at] = 1, g->stride[at] = 0;
        g->rank++;
    }
    if (column) {
        g->shape[g->rank] = 1, g->stride[g->rank] = 0;
        g->rank++;
    }
}

/* All axes before the last as one, of *rows elements at *stride; false when no one stride walks them. */
static bool leading_as_one(const shaped *s, int64_t *rows, int64_t *stride)
{
    *rows = s->size ? 1 : shape_size(s->rank - 1, s->shape), *stride = 1;
    if (s->size == 0) return true;
    for (int i = s->rank - 2; i >= 0; i--) {
        if (s->shape[i] == 1) continue;
        if (*rows != 1 && s->stride[i] != *stride * *rows) return false;
        if (*rows == 1) *stride = s->stride[i];
        *rows *= s->shape[i];
    }
    return true;
}

/* Both transposes of @: left is true for what reaches a (other = b), false for what reaches b. The
   arguments from `first` on are the cotangent, the other operand, and the form of the result. */
static bool matmul_transpose(prim_call *c, bool left, const value *acc, uint32_t first)
{
    value of = c->args[first + 2]; /* FORM_OTHER: of a symbolic zero, and what reaches that is nothing */
    if (c->args[first].tag == V_ZERO || c->args[first + 1].tag == V_ZERO || (of.tag == V_FORM && of.aux == FORM_OTHER)) {
        c->out = value_retain(*acc);
        return true;
    }
    shaped g, o, f;
    if (!arg_shaped(c, first, &g) || !arg_shaped(c, first + 1, &o) || !arg_form(c, first + 2, &f)) return false;
    if (f.dtype < DTYPE_F32) { /* whole numbers have no cotangents */
        c->out = value_retain(*acc);
        return true;
    }
    if (f.rank == 0 || o.rank == 0) return prim_fail(c, (int)first + 1, DIAG_SHAPE, "@ has no scalar operands");
    weakness w;
    product p = {.d = dtype_promote(c->vm, &g, &o, &w)};
    if (p.d < DTYPE_F32) p.d = f.dtype;
    array *own_g = NULL, *own_o = NULL;
    bool ok = false, row = (left ? f.rank : o.rank) == 1, column = (left ? o.rank : f.rank) == 1;
    running r;
    shaped shape = f;
    if (!operand_as(c, first, p.d, &g, &own_g) || !operand_as(c, first + 1, p.d, &o, &own_o)) goto done;
    if (row) as_row(left ? &f : &o);
    if (column) as_column(left ? &o : &f);
    if (!cotangent_fits(c, &g, left ? &f : &o, left ? &o : &f, row, column)) goto done;
    restore_axes(&g, row, column);
    int batch = g.rank - 2;
    int64_t rows_g, rows_o, step_g, step_o;
    bool joined = !left && f.rank == 2 && batch > 0;
    if (joined && !leading_as_one(&g, &rows_g, &step_g)) {
        if (own_g || !(own_g = array_copy(c->vm, as_array(c->args[first]), p.d))) goto done;
        shaped_array(&g, own_g);
        restore_axes(&g, row, column);
        leading_as_one(&g, &rows_g, &step_g);
    }
    if (joined && !leading_as_one(&o, &rows_o, &step_o)) {
        if (own_o || !(own_o = array_copy(c->vm, as_array(c->args[first + 1]), p.d))) goto done;
        shaped_array(&o, own_o);
        leading_as_one(&o, &rows_o, &step_o);
    }
    if (!running_open(c, acc, &shape, p.d, &r)) goto done;
    matrix to = {running_data(&r, &p.add), from_end(&f, 1), 1};
    p.m = from_end(&f, 2), p.n = from_end(&f, 1), p.c = to;
    if (joined) {
        p.k = rows_g;
        p.a = (matrix){o.data, o.stride[o.rank - 1], step_o};
        p.b = (matrix){g.data, step_g, g.stride[g.rank - 1]};
    } else {
        p.k = left ? from_end(&g, 1) : from_end(&g, 2);
        p.a = left ? last_two(&g) : turned(last_two(&o));
        p.b = left ? turned(last_two(&o)) : last_two(&g);
        int64_t step = p.m * p.n, sc[RANK_MAX] = {0};
        for (int i = f.rank - 3; i >= 0; i--) {
            sc[i] = step;
            step *= f.shape[i];
        }
        for (int i = 0; i < batch; i++) {
            int own = i - batch + f.rank - 2; /* f's axis, if it has it */
            int64_t size = g.shape[i], sg = g.stride[i], so = batch_stride(&o, i, batch);
            if (own >= 0 && f.shape[own] == size) product_batch(&p, size, left ? sg : so, left ? so : sg, sc[own]);
            else product_sum(&p, size, left ? sg : so, left ? so : sg);
        }
    }
    product_run(c->vm, &p);
    ok = running_give(c, &r, STRONG);
done:
    release_array(c->vm, own_g);
    release_array(c->vm, own_o);
    return ok;
}

bool kern_acc_matmul_a(prim_call *c) { return matmul_transpose(c, true, &c->args[0], 1); }
bool kern_acc_matmul_b(prim_call *c) { return matmul_transpose(c, false, &c->args[0], 1); }

/* --- dot -------------------------------------------------------------------------------------------
 * a: [I, k], b: [J, k, L], dot: [I, J, L], where I and J are any axes, L one or none. A scalar on one
 * side has k = 1, and the other side is then all I or all L. For vectors and matrices it is @. */
typedef struct dot_sizes {
    int64_t i, j, k, l;
    int rank;
    int64_t shape[2 * RANK_MAX];
} dot_sizes;

static bool is_matmul(const shaped *a, const shaped *b) { return a->rank > 0 && b->rank > 0 && a->rank <= 2 && b->rank <= 2; }

static bool dot_shapes(prim_call *c, const shaped *a, const shaped *b, dot_sizes *s)
{
    *s = (dot_sizes){.i = 1, .j = 1, .k = 1, .l = 1};
    if (a->rank == 0 || b->rank == 0) {
        s->i = a->size;
        s->l = a->rank == 0 ? b->size : 1;
        s->rank = a->rank + b->rank;
        memcpy(s->shape, a->rank ? a->shape : b->shape, (size_t)s->rank * sizeof(int64_t));
        return true;
    }
    s->k = from_end(a, 1);
    int64_t kb = b->rank == 1 ? b->shape[0] : from_end(b, 2);
    if (s->k != kb) return fail_shapes(c, 1, a, b, " with b of shape ", "inner sizes %lld and %lld differ", s->k, kb);
    for (int i = 0; i < a->rank - 1; i++) s->i *= s->shape[s->rank++] = a->shape[i];
    for (int i = 0; i < b->rank - 2; i++) s->j *= s->shape[s->rank++] = b->shape[i];
    if (b->rank > 1) s->l = s->shape[s->rank++] = from_end(b, 1);
    if (s->rank > RANK_MAX) return prim_fail(c, -1, DIAG_SHAPE, "dot would have rank %d, and the most is %d", s->rank, RANK_MAX);
    return true;
}

bool kern_dot(prim_call *c)
{
    shaped a, b;
    dot_sizes s;
    if (!arg_shaped(c, 0, &a) || !arg_shaped(c, 1, &b) || !dot_shapes(c, &a, &b, &s)) return false;
    if (is_matmul(&a, &b)) return kern_matmul(c);
    weakness w;
    product p = {.d = product_dtype(c->vm, &a, &b, &w), .m = s.i, .n = s.l, .k = s.k};
    array *own_a = NULL, *own_b = NULL;
    bool ok = false;
    result r;
    if (!arg_dense(c, 0, p.d, &a, &own_a) || !arg_dense(c, 1, p.d, &b, &own_b)) goto done;
    if (!result_open(c, &r, p.d, s.rank, s.shape)) goto done;
    p.a = (matrix){a.data, s.k, 1}, p.b = (matrix){b.data, s.l, 1}, p.c = (matrix){r.data, s.j * s.l, 1};
    product_batch(&p, s.j, 0, s.k * s.l, s.l);
    if (product_run(c->vm, &p)) ok = result_give_weak(c, &r, w);
    else ok = result_drop(c, &r) || fail_overflow(c);
done:
    release_array(c->vm, own_a), release_array(c->vm, own_b);
    return ok;
}

/* left: what reaches a, [I, k], is the sum over J of c[I, J, L] @ b[J, k, L]'; else what reaches b[J] is
   a' @ c[:, J, :]. */
static bool dot_transpose(prim_call *c, bool left)
{
    shaped g, o, f;
    dot_sizes s;
    if (!arg_shaped(c, 0, &g) || !arg_shaped(c, 1, &o) || !arg_form(c, 2, &f)) return false;
    value zero = value_zero();
    if (is_matmul(&f, &o)) return matmul_transpose(c, left, &zero, 0);
    if (f.dtype < DTYPE_F32) {
        c->out = zero;
        return true;
    }
    if (!dot_shapes(c, left ? &f : &o, left ? &o : &f, &s)) return false;
    if (!shape_equal(g.rank, g.shape, s.rank, s.shape))
        return prim_fail(c, 0, DIAG_SHAPE, "the cotangent of dot has another shape than its result");
    weakness w;
    product p = {.d = dtype_promote(c->vm, &g, &o, &w)};
    if (p.d < DTYPE_F32) p.d = f.dtype;
    array *own_g = NULL, *own_o = NULL;
    running r;
    bool ok = false;
    if (!arg_dense(c, 0, p.d, &g, &own_g) || !arg_dense(c, 1, p.d, &o, &own_o)) goto done;
    if (!running_open(c, &zero, &f, p.d, &r)) goto done;
    matrix wide = {g.data, s.j * s.l, 1};
    p.c.data = running_data(&r, &p.add);
    if (left) {
        p.m = s.i, p.n = s.k, p.k = s.l;
        p.a = wide, p.b = (matrix){o.data, 1, s.l};
        p.c.rs = s.k, p.c.cs = 1;
        product_sum(&p, s.j, s.l, s.k * s.l);
    } else {
        p.m = s.k, p.n = s.l, p.k = s.i;
        p.a = (matrix){o.data, 1, s.k}, p.b = wide;
        p.c.rs = s.l, p.c.cs = 1;
        product_batch(&p, s.j, 0, s.l, s.k * s.l);
    }
    product_run(c->vm, &p);
    ok = running_give(c, &r, f.weak);
done:
    release_array(c->vm, own_g), release_array(c->vm, own_o);
    return ok;
}
bool kern_dot_a(prim_call *c) { return dot_transpose(c, true); }
bool kern_dot_b(prim_call *c) { return dot_transpose(c, false); }

/* --- outer, trace ------------------------------------------------------------------------------------ */
#define OUTER(T) \
    for (int64_t i = 0; i < a.size && !INTERRUPTED(c->vm); i++) \
        for (int64_t j = 0; j < b.size; j++) ((T *)r.data)[i * b.size + j] = ((const T *)a.data)[i] * ((const T *)b.data)[j];

bool kern_outer(prim_call *c)
{
    shaped a, b;
    if (!arg_shaped(c, 0, &a) || !arg_shaped(c, 1, &b)) return false;
    weakness w;
    dtype d = product_dtype(c->vm, &a, &b, &w);
    array *own_a = NULL, *own_b = NULL;
    bool ok = false;
    result r;
    if (!arg_dense(c, 0, d, &a, &own_a) || !arg_dense(c, 1, d, &b, &own_b)) goto done;
    if (!result_open(c, &r, d, 2, (int64_t[]){a.size, b.size})) goto done;
    ok = true;
    if (d == DTYPE_F64) OUTER(double)
    else if (d == DTYPE_F32) OUTER(float)
    else
        for (int64_t i = 0; i < r.size && ok && !odometer_stops(c->vm, 1, &i); i++)
            ok = !__builtin_mul_overflow(((const int64_t *)a.data)[i / b.size], ((const int64_t *)b.data)[i % b.size],
                                         (int64_t *)r.data + i);
    if (ok) ok = result_give(c, &r);
    else ok = result_drop(c, &r) || prim_fail(c, -1, DIAG_ARITHMETIC, "integer overflow: a product does not fit 64 bits");
done:
    release_array(c->vm, own_a), release_array(c->vm, own_b);
    return ok;
}

/* trace(x) is sum(diagonal, axis = 0), bit for bit: the diagonal is a view. */
bool kern_trace(prim_call *c)
{
    shaped x;
    if (!arg_shaped(c, 0, &x)) return false;
    if (x.rank < 2) return prim_fail(c, 0, DIAG_SHAPE, "x has %s, and a diagonal needs two", x.rank ? "one axis" : "no axes");
    int64_t shape[RANK_MAX], stride[RANK_MAX];
    shape[0] = x.shape[0] < x.shape[1] ? x.shape[0] : x.shape[1];
    stride[0] = x.stride[0] + x.stride[1];
    for (int i = 2; i < x.rank; i++) shape[i - 1] = x.shape[i], stride[i - 1] = x.stride[i];
    array *diagonal = array_view(c->vm, as_array(c->args[0]), x.rank - 1, shape, stride, 0);
    if (!diagonal) return false;
    value args[2] = {value_object(&diagonal->h), value_i64(0)};
    bool ok = prim_apply(c->vm, prim_named("sum"), args, 2, 0, &c->out);
    value_release(c->vm, args[0]);
    return ok;
}

bool kern_spread_diag(prim_call *c)
{
    shaped d, f;
    if (!arg_shaped(c, 0, &d) || !arg_form(c, 1, &f)) return false;
    if (f.rank < 2 || !shape_equal(d.rank, d.shape, f.rank - 2, f.shape + 2))
        return prim_fail(c, 0, DIAG_INTERNAL, "the cotangent of trace has another shape than its result");
    array *own = NULL, *a = NULL;
    if (!arg_dense(c, 0, f.dtype, &d, &own)) return false;
    if (!(a = array_zeros(c->vm, f.dtype, f.rank, f.shape))) goto done;
    int64_t n = f.shape[0] < f.shape[1] ? f.shape[0] : f.shape[1];
    for (int64_t i = 0; i < n; i++)
        memcpy(element(f.dtype, a->data, i * (f.shape[1] + 1) * d.size), d.data, (size_t)d.size * dtype_size[f.dtype]);
done:
    release_array(c->vm, own);
    return give_array(c, a);
}
