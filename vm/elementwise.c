/* elementwise.c: the driver of every elementwise primitive.
 *
 * In go numbers and arrays, out comes a scalar or a dense array of the broadcast shape. The driver
 * settles dtypes (weak numbers included), broadcasts, and hands tiles of about a thousand elements to
 * the row's tile kernel: operands that lie right are read where they are, others are gathered or
 * converted into a tile in first-level cache. The result goes into the buffer of an argument that
 * nobody else holds when that fits, else into a new one.
 *
 * A kernel gives each element the same bits wherever it lies, so results do not depend on tiles,
 * strides, threads, or on whether the operands were scalars: the scalar path calls the same kernels
 * with one element, but for the four operations, which round the same way in C. */
#include "vm.h"
#include "elementwise.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PARALLEL_FROM 65536 /* elements */

tile_kernel *elementwise_kernel_of(const prim *p, dtype d)
{
    switch (d) {
    case DTYPE_BOOL: return p->tile->b;
    case DTYPE_I64: return p->tile->i64;
    case DTYPE_F32: return p->tile->f32;
    default: return p->tile->f64;
    }
}

static bool defined_on(const prim *p, dtype d) { return elementwise_kernel_of(p, d) || (d == DTYPE_I64 && p->tile->i64_checked); }

bool elementwise_promote(vm *m, const prim *p, const shaped *s, uint32_t n, elementwise_types *t)
{
    uint32_t first = p->tile->condition ? 1 : 0;
    if (first && (s[0].dtype != DTYPE_BOOL || s[0].weak)) return false;
    shaped all = {.dtype = s[first].dtype, .weak = s[first].weak};
    for (uint32_t i = first + 1; i < n; i++) {
        weakness w;
        all.dtype = dtype_promote(m, &all, &s[i], &w);
        all.weak = w;
    }
    dtype d = all.dtype;
    if (all.weak && first && s[0].rank > 0) { /* weakness ends in an array */
        d = m->config.float_dtype;
        all.weak = STRONG;
    }
    bool keeps_bool = p->dtype == D_BOOL || p->tile->condition;
    if (d == DTYPE_BOOL && !(keeps_bool && p->tile->b)) d = DTYPE_I64;
    if (p->dtype == D_FLOAT && d == DTYPE_I64) d = m->config.float_dtype;
    t->in = d;
    t->out = p->dtype == D_BOOL ? DTYPE_BOOL : d;
    t->weak = p->dtype == D_BOOL ? STRONG : all.weak && p->dtype == D_FLOAT ? WEAK_FLOAT : all.weak;
    return defined_on(p, d);
}

bool elementwise_types_of(prim_call *c, const shaped *s, elementwise_types *t)
{
    if (elementwise_promote(c->vm, c->p, s, c->n, t)) return true;
    if (c->p->tile->condition) return prim_fail(c, 0, DIAG_TYPE, "c must be bool, not %s", dtype_name(s[0].dtype));
    for (uint32_t i = 0; i < c->n; i++)
        if (s[i].dtype != DTYPE_BOOL)
            return prim_fail(c, (int)i, DIAG_TYPE, "defined on bool, not on %s", s[i].weak ? "numbers" : dtype_name(s[i].dtype));
    return prim_fail(c, -1, DIAG_TYPE, "not defined on %s", dtype_name(t->in));
}

bool elementwise_fault(prim_call *c, const int64_t *operands)
{
    char name[64];
    const char *sign = prim_display(c->p, name);
    long long a = operands[0], b = c->n > 1 ? operands[1] : 0;
    switch (prim_number(c->p)) {
    case PRIM_pow:
        if (b < 0) {
            prim_fail(c, 1, DIAG_ARITHMETIC, "a negative power of an integer: %lld ^ %lld", a, b);
            vm_help(c->vm, "for a float, write %lld.0^%lld", a, b);
            return false;
        }
        break;
    case PRIM_floordiv:
    case PRIM_mod:
        if (b == 0) return prim_fail(c, 1, DIAG_ARITHMETIC, "division of an integer by zero: %lld %s 0", a, sign);
        break;
    }
    if (c->n > 1) return prim_fail(c, -1, DIAG_ARITHMETIC, "integer overflow: %lld %s %lld", a, sign, b);
    return prim_fail(c, -1, DIAG_ARITHMETIC, "integer overflow at %lld", a);
}

/* A weak number that is to become an i64 must fit. */
static bool fits_i64(prim_call *c, uint32_t i, const shaped *s)
{
    if (!s->weak || in_i64(s->scalar.f64)) return true;
    return prim_fail(c, (int)i, DIAG_ARITHMETIC, "the number %.17g does not fit i64", s->scalar.f64);
}

/* --- scalars ------------------------------------------------------------------------------- */

/* A weak result is whole if the arguments were and it is. */
static value weak_result(double r, weakness w)
{
    return value_weak(r, w == WEAK_WHOLE && !(r == floor(r) && isfinite(r)) ? WEAK_FLOAT : w);
}

static value scalar_result(dtype d, const shaped *r, weakness w)
{
    switch (d) {
    case DTYPE_BOOL: return value_bool(r->scalar.b != 0);
    case DTYPE_I64: return value_i64(r->scalar.i64);
    case DTYPE_F32: return value_f32(r->scalar.f32);
    default: return w ? weak_result(r->scalar.f64, w) : value_f64(r->scalar.f64);
    }
}

/* The commonest: one or two f64 numbers. */
static inline bool scalars_f64(const prim *p, const value *args, uint32_t n, value *out)
{
    double a = args[0].u.f, b = n > 1 ? args[1].u.f : 0, r;
    weakness w = STRONG;
    if (args[0].weak && (n == 1 || args[1].weak))
        w = p->dtype == D_ARITH && args[0].weak == WEAK_WHOLE && (n == 1 || args[1].weak == WEAK_WHOLE) ? WEAK_WHOLE : WEAK_FLOAT;
    switch (prim_number(p)) {
    case PRIM_add: r = a + b; break;
    case PRIM_sub: r = a - b; break;
    case PRIM_mul: r = a * b; break;
    case PRIM_div: r = a / b; break;
    case PRIM_neg: r = -a; break;
    case PRIM_zmul: r = a == 0 ? 0 : a * b; break;
    case PRIM_eq: *out = value_bool(a == b); return true;
    case PRIM_ne: *out = value_bool(a != b); return true;
    case PRIM_lt: *out = value_bool(a < b); return true;
    case PRIM_le: *out = value_bool(a <= b); return true;
    case PRIM_gt: *out = value_bool(a > b); return true;
    case PRIM_ge: *out = value_bool(a >= b); return true;
    default: {
        if (!p->tile->f64 || p->tile->condition) return false;
        const void *ptr[2] = {&a, &b};
        if (p->dtype == D_BOOL) {
            uint8_t t;
            p->tile->f64(1, &t, ptr, 0);
            *out = value_bool(t != 0);
            return true;
        }
        p->tile->f64(1, &r, ptr, 0);
    }
    }
    if (w == WEAK_WHOLE && prim_number(p) == PRIM_pow && b < 0) w = WEAK_FLOAT;
    *out = w ? weak_result(r, w) : value_f64(r);
    return true;
}

bool elementwise_scalars(vm *m, const prim *p, const value *args, uint32_t n, value *out)
{
    if (n <= 2 && args[0].tag == V_F64 && (n == 1 || args[1].tag == V_F64) && scalars_f64(p, args, n, out)) return true;
    if (n == 2 && args[0].tag == V_I64 && args[1].tag == V_I64) {
        int64_t r;
        switch (prim_number(p)) {
        case PRIM_add:
            if (__builtin_add_overflow(args[0].u.i, args[1].u.i, &r)) break;
            *out = value_i64(r);
            return true;
        case PRIM_sub:
            if (__builtin_sub_overflow(args[0].u.i, args[1].u.i, &r)) break;
            *out = value_i64(r);
            return true;
        case PRIM_mul:
            if (__builtin_mul_overflow(args[0].u.i, args[1].u.i, &r)) break;
            *out = value_i64(r);
            return true;
        case PRIM_eq: *out = value_bool(args[0].u.i == args[1].u.i); return true;
        case PRIM_lt: *out = value_bool(args[0].u.i < args[1].u.i); return true;
        default: break;
        }
    }
    prim_call c = {.vm = m, .p = p, .args = args, .n = n};
    if (n == 0 || n > ELEMENTWISE_ARGS) return prim_fail(&c, -1, DIAG_INTERNAL, "an elementwise primitive of %u arguments", n);
    shaped s[ELEMENTWISE_ARGS], r;
    const void *ptr[ELEMENTWISE_ARGS];
    elementwise_types t;
    for (uint32_t i = 0; i < n; i++) shaped_of(&args[i], &s[i]);
    if (!elementwise_types_of(&c, s, &t)) return false;
    for (uint32_t i = p->tile->condition; i < n; i++) {
        if (t.in == DTYPE_I64 && !fits_i64(&c, i, &s[i])) return false;
        shaped x = s[i];
        array_convert(t.in, &s[i].scalar, x.dtype, &x.scalar, 1, 1);
    }
    for (uint32_t i = 0; i < n; i++) ptr[i] = &s[i].scalar;
    tile_kernel *k = elementwise_kernel_of(p, t.in);
    int64_t where;
    if (k) {
        k(1, &r.scalar, ptr, 0);
    } else if (!p->tile->i64_checked(1, &r.scalar, ptr, 0, &where)) {
        int64_t operands[ELEMENTWISE_ARGS] = {0};
        for (uint32_t i = 0; i < n; i++) operands[i] = s[i].scalar.i64;
        return elementwise_fault(&c, operands);
    }
    *out = scalar_result(t.out, &r, t.weak);
    return true;
}

/* --- arrays -------------------------------------------------------------------------------- */

typedef struct operand {
    shaped s;    /* broadcast to the result's shape, axes merged as the others' */
    dtype to;    /* what the kernel reads */
    bool single; /* one element for all: converted into `one` */
    bool flat;   /* lies as the result does: element i of the result is at data + i */
    union {
        double f64;
        float f32;
        int64_t i64;
        uint8_t b;
    } one;
} operand;

typedef struct job {
    const prim *p;
    operand of[ELEMENTWISE_ARGS];
    uint32_t n;
    int rank; /* of the merged axes */
    int64_t shape[RANK_MAX], size;
    bool rows;    /* rows are long: work along the last axis; else gather across rows */
    bool gathers; /* some operand is gathered in a tile */
    tile_kernel *kernel;
    dtype in, out;
    char *result;
    const volatile int *stop; /* set: the program is to stop */
} job;

/* Merges neighbouring axes that all operands walk alike; drops axes of one element. */
static void job_collapse(job *j, int rank, const int64_t *shape)
{
    int k = 0;
    for (int i = 0; i < rank; i++) {
        if (shape[i] == 1) continue;
        bool merges = k > 0;
        for (uint32_t a = 0; merges && a < j->n; a++) merges = j->of[a].s.stride[k - 1] == j->of[a].s.stride[i] * shape[i];
        if (merges) k--;
        j->shape[k] = merges ? j->shape[k] * shape[i] : shape[i];
        for (uint32_t a = 0; a < j->n; a++) j->of[a].s.stride[k] = j->of[a].s.stride[i];
        k++;
    }
    if (k == 0) {
        j->shape[0] = 1;
        for (uint32_t a = 0; a < j->n; a++) j->of[a].s.stride[0] = 0;
        k = 1;
    }
    j->rank = k;
    for (uint32_t a = 0; a < j->n; a++) {
        operand *o = &j->of[a];
        o->s.rank = k;
        memcpy(o->s.shape, j->shape, (size_t)k * sizeof(int64_t));
        o->single = o->flat = true;
        int64_t step = 1;
        for (int i = k - 1; i >= 0; i--) {
            if (o->s.stride[i] != 0) o->single = false;
            if (o->s.stride[i] != step) o->flat = false;
            step *= j->shape[i];
        }
        if (o->s.dtype != o->to) o->flat = false;
        if (o->single) array_convert(o->to, &o->one, o->s.dtype, o->s.data, 1, 1);
        else if (!o->flat) j->gathers = true;
    }
    j->rows = k == 1 || j->shape[k - 1] >= 128;
    for (uint32_t a = 0; !j->rows && a < j->n; a++)
        if (!j->of[a].single && !j->of[a].flat) shape_collapse(&j->of[a].s); /* gathered on its own */
}

/* Offset in elements of operand o's element at linear index `at` of the result. */
static int64_t operand_offset(const operand *o, int64_t at)
{
    int64_t offset = 0;
    for (int d = o->s.rank - 1; d >= 0; d--) {
        offset += at % o->s.shape[d] * o->s.stride[d];
        at /= o->s.shape[d];
    }
    return offset;
}

/* Elements lo .. hi of the result. Returns -1, or the index where a checked kernel stopped. */
static int64_t job_run(const job *j, int64_t lo, int64_t hi)
{
    _Alignas(64) char scratch[ELEMENTWISE_ARGS][ELEMENTWISE_TILE * 8];
    int64_t width = j->shape[j->rank - 1], most = j->gathers ? ELEMENTWISE_TILE : 16 * ELEMENTWISE_TILE;
    size_t out_size = dtype_size[j->out];
    for (int64_t at = lo, n; at < hi && !STOPPED(j->stop); at += n) {
        n = hi - at < most ? hi - at : most;
        if (j->rows && j->gathers && width - at % width < n) n = width - at % width;
        const void *ptr[ELEMENTWISE_ARGS];
        unsigned scalars = 0;
        for (uint32_t a = 0; a < j->n; a++) {
            const operand *o = &j->of[a];
            size_t es = dtype_size[o->s.dtype];
            if (o->single) {
                ptr[a] = &o->one;
                scalars |= 1u << a;
            } else if (o->flat) {
                ptr[a] = (const char *)o->s.data + at * (int64_t)es;
            } else if (j->rows) {
                const char *src = (const char *)o->s.data + operand_offset(o, at) * (int64_t)es;
                int64_t step = o->s.stride[j->rank - 1];
                if (step == 1 && o->to == o->s.dtype) {
                    ptr[a] = src;
                } else if (step == 0) {
                    array_convert(o->to, scratch[a], o->s.dtype, src, 1, 1);
                    ptr[a] = scratch[a];
                    scalars |= 1u << a;
                } else {
                    array_convert(o->to, scratch[a], o->s.dtype, src, step, n);
                    ptr[a] = scratch[a];
                }
            } else {
                shape_gather(&o->s, o->to, scratch[a], at, n);
                ptr[a] = scratch[a];
            }
        }
        char *out = j->result + at * (int64_t)out_size;
        int64_t where;
        if (j->kernel) j->kernel(n, out, ptr, scalars);
        else if (!j->p->tile->i64_checked(n, out, ptr, scalars, &where)) return at + where;
    }
    return -1;
}

/* The whole result, split evenly over threads. Returns as job_run, the first index of all. */
static int64_t job_run_all(const job *j, int threads)
{
    if (j->size < PARALLEL_FROM || threads < 2) return job_run(j, 0, j->size);
    int64_t part = (j->size + threads - 1) / threads, stopped = INT64_MAX;
    part = (part + ELEMENTWISE_TILE - 1) / ELEMENTWISE_TILE * ELEMENTWISE_TILE;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : stopped)
    for (int t = 0; t < threads; t++) {
        int64_t lo = t * part, hi = lo + part < j->size ? lo + part : j->size;
        int64_t at = lo < hi ? job_run(j, lo, hi) : -1;
        if (at >= 0 && at < stopped) stopped = at;
    }
    return stopped == INT64_MAX ? -1 : stopped;
}

/* Argument i's array, retained, if the result may be written into it. Reading the same array as
   another argument, too, does no harm: each element is read before it is written. */
static array *reuse(prim_call *c, const job *j, int rank, const int64_t *shape)
{
    if (!j->kernel) return NULL; /* a checked kernel may fail halfway; its arguments must survive that */
    for (uint32_t i = j->p->tile->condition; i < c->n && i < 64; i++) {
        if (!(c->last >> i & 1) || c->args[i].tag != V_ARRAY) continue;
        array *a = as_array(c->args[i]);
        if (a->dtype != j->out || j->in != j->out || !a->dense || a->rank != rank || !array_unique(a)) continue;
        if (memcmp(a->dims, shape, (size_t)rank * sizeof *shape) != 0) continue;
        a->h.refs++;
        return a;
    }
    return NULL;
}

static bool not_numbers(prim_call *c, uint32_t i)
{
    char name[64];
    if (c->n != 2 || strchr(prim_display(c->p, name), '(')) {
        shaped s;
        return arg_shaped(c, i, &s);
    }
    text a, b;
    text_open(&a, &c->vm->mem);
    text_open(&b, &c->vm->mem);
    value_describe(c->vm, c->args[0], &a);
    value_describe(c->vm, c->args[1], &b);
    prim_fail(c, (int)i, DIAG_TYPE, "not defined between %s and %s", text_str(&a), text_str(&b));
    text_close(&a);
    text_close(&b);
    return false;
}

/* zmul, the one elementwise primitive that sees symbolic zeros. True when this decided. */
static bool zero_product(prim_call *c)
{
    if (prim_number(c->p) != PRIM_zmul) return false;
    for (uint32_t i = 0; i < 2; i++)
        if (c->args[i].tag == V_ZERO || c->args[i].tag == V_NONE) {
            c->out = c->args[i].tag == V_ZERO ? value_zero() : value_none();
            return true;
        }
    return false;
}

/* "where(): c and a", when the function has a name; else what. */
static const char *operands_named(prim_call *c, uint32_t i, const char *what, char out[160])
{
    if (!strchr(what, '(')) return what;
    const prim_info *info = prim_info_of(c->vm, c->p);
    size_t n = (size_t)snprintf(out, 160, "%s", what);
    for (uint32_t k = 0; k <= i && n < 160; k++)
        n += (size_t)snprintf(out + n, 160 - n, "%s%s",
                              k == 0   ? ": "
                              : k == i ? " and "
                                       : ", ",
                              symbol_name(c->vm->symbols, info->params[k].name));
    return out;
}

bool kern_elementwise(prim_call *c)
{
    if (zero_product(c)) return true;
    vm *m = c->vm;
    job j = {.p = c->p, .n = c->n};
    if (c->n == 0 || c->n > ELEMENTWISE_ARGS) return prim_fail(c, -1, DIAG_INTERNAL, "an elementwise primitive of %u arguments", c->n);
    shaped s[ELEMENTWISE_ARGS];
    int rank = 0;
    int64_t shape[RANK_MAX];
    char name[64];
    const char *what = prim_display(c->p, name);
    bool arrays = false;
    for (uint32_t i = 0; i < c->n; i++) {
        if (!shaped_of(&c->args[i], &s[i])) return not_numbers(c, i);
        arrays |= s[i].rank > 0;
    }
    if (!arrays) return elementwise_scalars(m, c->p, c->args, c->n, &c->out);
    for (uint32_t i = 0; i < c->n; i++) {
        if (i == 0) {
            rank = s[0].rank;
            memcpy(shape, s[0].shape, (size_t)rank * sizeof *shape);
        } else if (s[i].rank != rank || memcmp(s[i].shape, shape, (size_t)rank * sizeof *shape) != 0) {
            shaped all = {.rank = rank};
            memcpy(all.shape, shape, (size_t)rank * sizeof *shape);
            char named[160];
            if (!shape_broadcast(m, operands_named(c, i, what, named), &all, &s[i], &rank, shape)) {
                m->fail_arg = (int)i;
                return false;
            }
        }
    }
    elementwise_types t;
    if (!elementwise_types_of(c, s, &t)) return false;
    j.in = t.in;
    j.out = t.out;
    j.kernel = elementwise_kernel_of(c->p, t.in);
    for (uint32_t i = 0; i < c->n; i++) {
        operand *o = &j.of[i];
        o->to = i == 0 && c->p->tile->condition ? DTYPE_BOOL : t.in;
        if (t.in == DTYPE_I64 && !fits_i64(c, i, &s[i])) return false;
        o->s.dtype = s[i].dtype;
        o->s.data = s[i].rank ? s[i].data : &s[i].scalar;
        for (int d = 0; d < rank; d++) {
            int own = d - (rank - s[i].rank);
            o->s.stride[d] = own < 0 || s[i].shape[own] == 1 ? 0 : s[i].stride[own];
        }
    }
    static const volatile int never;
    array *out = reuse(c, &j, rank, shape);
    j.stop = out ? &never : &m->interrupt; /* an argument is written over as a whole or not at all */
    if (!out && !(out = array_new(m, t.out, rank, shape))) return false;
    if (out->size > 0) {
        j.size = out->size;
        j.result = out->data;
        job_collapse(&j, rank, shape);
        int64_t at = job_run_all(&j, m->config.threads);
        if (at >= 0) {
            int64_t operands[ELEMENTWISE_ARGS] = {0};
            for (uint32_t i = 0; i < c->n; i++) {
                const operand *o = &j.of[i];
                const char *src = (const char *)o->s.data + operand_offset(o, at) * (int64_t)dtype_size[o->s.dtype];
                array_convert(DTYPE_I64, &operands[i], o->s.dtype, src, 1, 1);
            }
            value_release(m, value_object(&out->h));
            return elementwise_fault(c, operands);
        }
    }
    return give_array(c, out);
}
