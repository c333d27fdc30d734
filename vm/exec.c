/* exec.c: the interpreter's loop.
 *
 * In goes the run form (run.h), frame by frame; out come the results of the outermost frame. The loop
 * itself does what scalars, control and plain calls need; everything that is not hot is a function in
 * exec_*.c that takes the frame and the instruction. Scalar paths give exactly what prim_apply gives,
 * or leave the case to it.
 *
 * `w` is the instruction, `r` the registers of frame `f`. A function that may fail, look at frames or
 * push one finds f->at set. */
#include "run.h"
#include "exec.h"
#include "fuse.h"
#include "profile.h"
#include "elementwise.h"
#include "looptape.h"
#include <math.h>
#include <string.h>

/* --- scalars off the main path --------------------------------------------------------------- */

static inline void put_f64(value *d, double x, uint8_t weak)
{
    d->tag = V_F64;
    d->weak = weak;
    d->u.f = x;
}
static inline void put_i64(value *d, int64_t x)
{
    d->tag = V_I64;
    d->weak = 0;
    d->u.i = x;
}
static inline void put_bool(value *d, bool x)
{
    d->tag = V_BOOL;
    d->weak = 0;
    d->u.i = x;
}

/* Both as f32, when one is and the other is f32 or weak: a weak number is rounded once. */
static inline bool both_f32(const value *a, const value *b, float *p, float *q)
{
    bool fits = (a->tag == V_F32 && (b->tag == V_F32 || (b->tag == V_F64 && b->weak))) || (b->tag == V_F32 && a->tag == V_F64 && a->weak);
    if (!fits) return false;
    *p = (float)a->u.f;
    *q = (float)b->u.f;
    return true;
}

static inline bool whole_as_i64(const value *v, int64_t *out)
{
    if (v->tag == V_I64) {
        *out = v->u.i;
        return true;
    }
    if (v->tag != V_F64 || v->weak != WEAK_WHOLE || !(fabs(v->u.f) <= 9007199254740992.0) || v->u.f != trunc(v->u.f)) return false;
    *out = (int64_t)v->u.f;
    return true;
}

/* Both as i64, when one is and the other is i64 or a weak whole number. */
static inline bool both_i64(const value *a, const value *b, int64_t *p, int64_t *q)
{
    return (a->tag == V_I64 || b->tag == V_I64) && whole_as_i64(a, p) && whole_as_i64(b, q);
}

static bool scalar_arith(run_op op, const value *a, const value *b, value *d)
{
    float p, q;
    int64_t i, j, k;
    if (both_f32(a, b, &p, &q)) {
        float y = op == RUN_ADD ? p + q : op == RUN_SUB ? p - q : op == RUN_MUL ? p * q : p / q;
        *d = value_f32(y);
        return true;
    }
    if (op == RUN_DIV || !both_i64(a, b, &i, &j)) return false;
    bool over = op == RUN_ADD   ? __builtin_add_overflow(i, j, &k)
                : op == RUN_SUB ? __builtin_sub_overflow(i, j, &k)
                                : __builtin_mul_overflow(i, j, &k);
    if (over) return false; /* prim_apply says so */
    put_i64(d, k);
    return true;
}

static bool scalar_compare(run_op op, const value *a, const value *b, value *d)
{
    float p, q;
    int64_t i, j;
    int less, equal;
    if (both_f32(a, b, &p, &q)) {
        if (isnan(p) || isnan(q)) {
            put_bool(d, op == RUN_NE);
            return true;
        }
        less = p < q;
        equal = p == q;
    } else if (both_i64(a, b, &i, &j)) {
        less = i < j;
        equal = i == j;
    } else return false;
    bool y = op == RUN_LT   ? less
             : op == RUN_LE ? less || equal
             : op == RUN_GT ? !less && !equal
             : op == RUN_GE ? !less
             : op == RUN_EQ ? equal
                            : !equal;
    put_bool(d, y);
    return true;
}

/* x[i] for a tuple or a vector and one whole number in range. */
static bool scalar_index(const value *x, const value *ix, value *d)
{
    int64_t i;
    if (ix->tag == V_I64) i = ix->u.i;
    else if (!whole_as_i64(ix, &i)) return false;
    if (x->tag == V_TUPLE) {
        const tuple *t = as_tuple(*x);
        if (i < 0) i += t->n;
        if (i < 0 || i >= t->n) return false;
        *d = value_retain(t->v[i]);
        return true;
    }
    if (x->tag != V_ARRAY || as_array(*x)->rank != 1) return false;
    const array *a = as_array(*x);
    if (i < 0) i += a->size;
    if (i < 0 || i >= a->size) return false;
    *d = array_at(a, i * array_stride(a)[0]);
    return true;
}

/* x[i] = v in place: a vector nobody else holds, one whole number in range, a number that x's dtype takes. */
static bool scalar_setindex(const value *x, const value *ix, const value *v)
{
    if (x->tag != V_ARRAY || ix->tag != V_I64 || !value_is_scalar(*v)) return false;
    array *a = as_array(*x);
    if (a->rank != 1 || !a->dense || !array_unique(a)) return false;
    bool fits = scalar_dtype(*v) == a->dtype || (v->weak && a->dtype == DTYPE_F32) || (v->tag == V_I64 && a->dtype == DTYPE_F64);
    int64_t i = ix->u.i < 0 ? ix->u.i + a->size : ix->u.i;
    if (!fits || i < 0 || i >= a->size) return false;
    array_put(a, i, *v);
    return true;
}

/* --- conditions and loops over tapes ---------------------------------------------------------- */

static bool bad_condition(vm *m, const value *v)
{
    if (v->tag == V_ARRAY) {
        text t;
        text_open(&t, &m->mem);
        value_describe(m, *v, &t);
        vm_fail(m, DIAG_TYPE, "a condition must be one bool, and this is %s", text_str(&t));
        text_close(&t);
        if (as_array(*v)->dtype == DTYPE_BOOL) vm_help(m, "use any(…) or all(…)");
        else vm_help(m, "compare, then use any(…) or all(…)");
        return false;
    }
    if (value_is_scalar(*v)) {
        vm_fail(m, DIAG_TYPE, "a condition must be a bool, and this is a number");
        vm_help(m, "compare it: `x != 0`");
        return false;
    }
    return vm_fail(m, DIAG_TYPE, "a condition must be a bool, and this is a %s", value_type_name(*v));
}

static bool bound_of(vm *m, const value *v, int64_t *out)
{
    if (v->tag == V_I64) {
        *out = v->u.i;
        return true;
    }
    if (whole_as_i64(v, out)) return true;
    if (value_is_float(*v) && fabs(v->u.f) <= 9007199254740992.0 && v->u.f == trunc(v->u.f)) {
        *out = (int64_t)v->u.f;
        return true;
    }
    return vm_fail(m, DIAG_TYPE, "a loop's bounds must be whole numbers");
}

/* TAPES n s… d… d(index) */
static bool tapes_begin(struct exec *x, frame *f, const uint32_t *w)
{
    vm *m = x->m;
    uint32_t n = w[1];
    uint64_t length = 0;
    bool known = false, lazy = false;
    for (uint32_t k = 0; k < n; k++) {
        const value *t = &f->r[w[2 + k] >> 1];
        if (t->tag == V_ZERO) continue;
        if (t->tag != V_TAPE) return vm_fail(m, DIAG_INTERNAL, "a loop over a %s", value_type_name(*t));
        if (as_tape(*t)->n > length) length = as_tape(*t)->n;
        known = true;
    }
    if (!known) return vm_fail(m, DIAG_INTERNAL, "a loop over no tape");
    for (uint32_t k = 0; k < n; k++) {
        value t = operand_take(f->r, w[2 + k]);
        if (t.tag == V_TAPE && !tape_pad(m, &t, length)) {
            value_release(m, t);
            return false;
        }
        f->r[w[2 + n + k]] = t;
        lazy |= t.tag == V_TAPE && as_tape(t)->of;
    }
    if (lazy && !exec_tapes_own(x, f, w)) return false;
    put_i64(&f->r[w[2 + 2 * n]], (int64_t)length);
    return true;
}

/* TAPES_NEXT n d… d(index) t (width d…)…: fills in the entry before index, which is not 0. */
static bool tapes_next(vm *m, frame *f, const uint32_t *w, const uint32_t **next)
{
    uint32_t n = w[1];
    value *r = f->r;
    uint64_t k = (uint64_t)--r[w[2 + n]].u.i;
    const uint32_t *e = w + 4 + n;
    bool lazy = false;
    for (uint32_t j = 0; j < n; j++) {
        uint32_t width = *e++;
        value t = r[w[2 + j]];
        if (t.tag == V_ZERO) {
            for (uint32_t i = 0; i < width; i++) r[*e++] = value_zero();
            continue;
        }
        tape *p = as_tape(t);
        if (p->width != width && p->n) return vm_fail(m, DIAG_INTERNAL, "a tape of entries of %u values read as %u", p->width, width);
        if (p->of) {
            for (uint32_t i = 0; i < width; i++) r[*e++] = value_retain(p->of->entry[p->first + i]);
            lazy = true;
            continue;
        }
        value *v = p->v + k * width;
        if (p->h.refs == 1) {
            /* Entries above were read while somebody else held the tape too. */
            for (; p->n > k + 1; p->n--)
                for (uint32_t i = 0; i < width; i++) {
                    value above = p->v[(p->n - 1) * width + i];
                    value_unhold(m, above);
                    value_release(m, above);
                }
            for (uint32_t i = 0; i < width; i++) {
                value_unhold(m, v[i]);
                r[*e++] = v[i];
            }
            p->n = k;
        } else
            for (uint32_t i = 0; i < width; i++) r[*e++] = value_retain(v[i]);
    }
    for (uint32_t j = 0; lazy && j < n; j++)
        if (r[w[2 + j]].tag == V_TAPE && as_tape(r[w[2 + j]])->of) looptape_entry_free(m, as_tape(r[w[2 + j]])->of);
    *next = e;
    return true;
}

/* --- the loop ------------------------------------------------------------------------------- */

#define WEAKER(a, b) ((a)->weak < (b)->weak ? (a)->weak : (b)->weak)

/* Runs until the ENTRY frame that was innermost ends. */
static bool execute(struct exec *x)
{
    static const void *const labels[RUN_OPS] = {
        [RUN_CONST] = &&do_const,
        [RUN_MOVE] = &&do_move,
        [RUN_COPY] = &&do_copy,
        [RUN_DROP] = &&do_drop,
        [RUN_JUMP] = &&do_jump,
        [RUN_GO] = &&do_go,
        [RUN_GO_NOT] = &&do_go_not,
        [RUN_RANGE] = &&do_range,
        [RUN_RANGE_NEXT] = &&do_range_next,
        [RUN_STEP] = &&do_step,
        [RUN_TAPES] = &&do_tapes,
        [RUN_TAPES_NEXT] = &&do_tapes_next,
        [RUN_KEEP] = &&do_keep,
        [RUN_KEEP_END] = &&do_keep_end,
        [RUN_PRIM] = &&do_prim,
        [RUN_PRIM_KEEP] = &&do_prim_keep,
        [RUN_ADD] = &&do_add,
        [RUN_SUB] = &&do_sub,
        [RUN_MUL] = &&do_mul,
        [RUN_DIV] = &&do_div,
        [RUN_NEG] = &&do_neg,
        [RUN_LT] = &&do_lt,
        [RUN_LE] = &&do_le,
        [RUN_GT] = &&do_gt,
        [RUN_GE] = &&do_ge,
        [RUN_EQ] = &&do_eq,
        [RUN_NE] = &&do_ne,
        [RUN_ZMUL] = &&do_zmul,
        [RUN_ACC] = &&do_acc,
        [RUN_FIT] = &&do_fit,
        [RUN_FORM] = &&do_form,
        [RUN_INDEX] = &&do_index,
        [RUN_SETINDEX] = &&do_setindex,
        [RUN_TUPLE] = &&do_tuple,
        [RUN_UNPACK] = &&do_unpack,
        [RUN_CALL] = &&do_call,
        [RUN_FORCE] = &&do_force,
        [RUN_TRY] = &&do_try,
        [RUN_MEASURE] = &&do_measure,
        [RUN_IMPORT] = &&do_import,
        [RUN_RETURN] = &&do_return,
        [RUN_CLOSURE] = &&do_other,
        [RUN_GLOBAL] = &&do_global,
        [RUN_DEFINED] = &&do_defined,
        [RUN_SELDEF] = &&do_seldef,
        [RUN_FIELD] = &&do_field,
        [RUN_OTHER] = &&do_other,
    };
    static const void *const watched[RUN_OPS] = {[0 ... RUN_OPS - 1] = &&do_watch};
    vm *const m = x->m;
    frame *f = x->frame;
    const uint32_t *w = f->run->w;
    value *r = f->r;
    const void *const *const doors = m->observer ? watched : labels;

#define NEXT goto *doors[(uint8_t)*w]
#define STEP(n) \
    do { \
        w += (n); \
        NEXT; \
    } while (0)
#define ENTER() \
    do { \
        f = x->frame; \
        w = f->run->w; \
        r = f->r; \
        NEXT; \
    } while (0)
#define A (&r[w[4] >> 1])
#define B (&r[w[5] >> 1])
    NEXT;

do_watch:
    f->at = w;
    m->observer->see(m->observer->ctx, m, f, w);
    goto *labels[(uint8_t)*w];
do_const : {
    value v = f->run->tree->consts[w[2]];
    r[w[1]] = value_retain(v);
    STEP(3);
}
do_move : {
    value *s = &r[w[2] >> 1];
    r[w[1]] = *s;
    s->tag = V_UNDEF;
    STEP(3);
}
do_copy:
    r[w[1]] = value_retain(r[w[2] >> 1]);
    STEP(3);
do_drop : {
    value v = r[w[1]];
    if (value_is_heap(v)) {
        r[w[1]].tag = V_UNDEF;
        if (--v.u.o->refs == 0) object_free(m, v.u.o);
    }
    STEP(2);
}
do_jump:
    w = f->run->w + w[1];
    NEXT;
do_go : {
    const value *c = &r[w[1] >> 1];
    if (c->tag != V_BOOL) goto not_bool;
    if (INTERRUPTED(m)) goto interrupted;
    if (c->u.i) {
        w = f->run->w + w[2];
        NEXT;
    }
    STEP(3);
}
do_go_not : {
    const value *c = &r[w[1] >> 1];
    if (c->tag != V_BOOL) goto not_bool;
    if (!c->u.i) {
        w = f->run->w + w[2];
        NEXT;
    }
    STEP(3);
}
do_range : {
    int64_t lo, hi;
    if (!bound_of(m, &r[w[1] >> 1], &lo) || !bound_of(m, &r[w[2] >> 1], &hi)) goto fail;
    put_i64(&r[w[3]], (int64_t)((uint64_t)lo - 1)); /* RANGE_NEXT comes before the first iteration, too */
    put_i64(&r[w[4]], hi);
    if (lo >= hi) put_i64(&r[w[3]], (int64_t)((uint64_t)hi - 1));
    STEP(5);
}
do_range_next : {
    int64_t i = (int64_t)((uint64_t)r[w[1]].u.i + 1);
    if (INTERRUPTED(m)) goto interrupted;
    if (i < r[w[2]].u.i) {
        put_i64(&r[w[1]], i);
        w = f->run->w + w[3];
        NEXT;
    }
    STEP(4);
}
do_step:
    if (m->gradient_depth) {
        m->stats.step_runs++;
        if (!x->forcing) m->stats.steps++;
    }
    STEP(1);
do_tapes:
    if (!tapes_begin(x, f, w)) goto fail;
    STEP(3 + 2 * w[1]);
do_tapes_next:
    if (INTERRUPTED(m)) goto interrupted;
    if (r[w[2 + w[1]]].u.i == 0) {
        w = f->run->w + w[3 + w[1]];
        NEXT;
    }
    {
        bool ran = false;
        f->at = w;
        if (!exec_iteration(x, f, w, &ran)) goto fail;
        if (ran) ENTER();
        if (!tapes_next(m, f, w, &w)) goto fail;
        NEXT;
    }
do_keep : {
    value *s = &r[w[2] >> 1];
    if (s->tag == V_RESIDUAL) {
        residual *p = as_residual(*s);
        if (!p->options) { /* the region does not say: then the block does */
            p->options = &f->run->tree->options[instr_at(f, w)->imm];
            p->owner = code_retain(f->run->code);
        }
        if (!keep_record(m, p)) goto fail;
    } else if (s->tag != V_ZERO && s->tag != V_NONE) {
        vm_fail(m, DIAG_INTERNAL, "a block that records into a %s", value_type_name(*s));
        goto fail;
    }
    value v = operand_take(r, w[2]);
    r[w[1]] = v;
    STEP(3);
}
do_keep_end : {
    value v = r[w[1]];
    if (v.tag == V_RESIDUAL) keep_leave(m);
    r[w[1]].tag = V_UNDEF;
    value_release(m, v);
    STEP(2);
}

do_prim: /* scalars have had their chance: a primitive that fusing may start from has arrays, or fails */
    if (INTERRUPTED(m)) goto interrupted;
    if (w[1] < prim_count && x->joins[w[1]] && prims[w[1]].tile) {
        const uint32_t *next;
        fuse_result fused = fuse_run(x, f, w, &next);
        if (fused == FUSE_FAIL) goto fail;
        if (fused == FUSE_DONE) {
            w = next;
            NEXT;
        }
    }
    if (!exec_prim(x, f, w, false)) goto fail;
    STEP(4 + w[2]);
do_prim_keep:
    if (INTERRUPTED(m)) goto interrupted;
    if (!exec_prim(x, f, w, true)) goto fail;
    STEP(4 + w[2]);

#define ARITH(OP, C) \
    { \
        const value *a = A, *b = B; \
        if (a->tag == V_F64 && b->tag == V_F64) put_f64(&r[w[3]], a->u.f C b->u.f, WEAKER(a, b)); \
        else if (!scalar_arith(OP, a, b, &r[w[3]])) goto do_prim; \
        x->ops++; \
        STEP(6); \
    }
do_add:
    ARITH(RUN_ADD, +)
do_sub:
    ARITH(RUN_SUB, -)
do_mul:
    ARITH(RUN_MUL, *)
do_div : {
    const value *a = A, *b = B;
    if (a->tag == V_F64 && b->tag == V_F64) put_f64(&r[w[3]], a->u.f / b->u.f, a->weak && b->weak ? WEAK_FLOAT : STRONG);
    else if (!scalar_arith(RUN_DIV, a, b, &r[w[3]])) goto do_prim;
    x->ops++;
    STEP(6);
}
do_neg : {
    const value *a = A;
    if (a->tag == V_F64) put_f64(&r[w[3]], -a->u.f, a->weak);
    else if (a->tag == V_F32) r[w[3]] = (value){.tag = V_F32, .u.f = -a->u.f};
    else if (a->tag == V_I64 && a->u.i != INT64_MIN) put_i64(&r[w[3]], -a->u.i);
    else goto do_prim;
    x->ops++;
    STEP(5);
}
#define COMPARE(OP, C) \
    { \
        const value *a = A, *b = B; \
        if (a->tag == V_F64 && b->tag == V_F64) put_bool(&r[w[3]], a->u.f C b->u.f); \
        else if (!scalar_compare(OP, a, b, &r[w[3]])) goto do_prim; \
        x->ops++; \
        STEP(6); \
    }
do_lt:
    COMPARE(RUN_LT, <)
do_le:
    COMPARE(RUN_LE, <=)
do_gt:
    COMPARE(RUN_GT, >)
do_ge:
    COMPARE(RUN_GE, >=)
do_eq:
    COMPARE(RUN_EQ, ==)
do_ne:
    COMPARE(RUN_NE, !=)
do_zmul : {
    const value *a = A, *b = B;
    if (a->tag == V_F64 && b->tag == V_F64) put_f64(&r[w[3]], a->u.f == 0 ? 0.0 : a->u.f * b->u.f, WEAKER(a, b));
    else if (a->tag == V_ZERO || b->tag == V_ZERO) {
        operand_done(m, r, w[4]);
        operand_done(m, r, w[5]);
        r[w[3]] = value_zero();
    } else if (a->tag == V_F32 && b->tag == V_F32) r[w[3]] = value_f32(a->u.f == 0 ? 0.0f : (float)a->u.f * (float)b->u.f);
    else goto do_prim;
    x->ops++;
    STEP(6);
}
do_acc : {
    const value *a = A, *b = B;
    if (a->tag == V_F64 && b->tag == V_F64 && !a->weak == !b->weak) put_f64(&r[w[3]], a->u.f + b->u.f, a->weak ? WEAK_FLOAT : STRONG);
    else if (a->tag == V_ZERO || b->tag == V_ZERO) {
        uint32_t zero = a->tag == V_ZERO ? 4 : 5;
        value v = operand_take(r, w[9 - zero]);
        r[w[3]] = v;
    } else if (a->tag == V_F32 && b->tag == V_F32) r[w[3]] = value_f32((float)a->u.f + (float)b->u.f);
    else goto do_prim;
    x->ops++;
    STEP(6);
}
do_fit : {
    const value *c = A, *want = B;
    if (c->tag == V_ZERO) {
        operand_done(m, r, w[5]);
        r[w[3]] = value_zero();
    } else if (value_is_float(*c) && want->tag == V_FORM && want->aux == ((uint32_t)scalar_dtype(*c) | (uint32_t)c->weak << 8))
        r[w[3]] = *c;
    else goto do_prim;
    x->ops++;
    STEP(6);
}
do_form : {
    const value *v = A;
    if (!value_is_scalar(*v)) goto do_prim;
    r[w[3]] = (value){.tag = V_FORM, .aux = (uint32_t)scalar_dtype(*v) | (uint32_t)v->weak << 8};
    STEP(5);
}
do_index : {
    value v;
    if (!scalar_index(A, B, &v)) goto do_prim;
    operand_done(m, r, w[4]);
    r[w[3]] = v;
    x->ops++;
    STEP(6);
}

do_setindex : {
    if (!(w[4] & 1) || !scalar_setindex(A, B, &r[w[6] >> 1])) goto do_prim;
    value v = operand_take(r, w[4]);
    r[w[3]] = v;
    x->ops++;
    STEP(7);
}

do_tuple : {
    uint32_t n = w[1];
    tuple *t = tuple_new(m, n, n);
    if (!t) goto fail;
    for (uint32_t i = 0; i < n; i++) t->v[i] = operand_take(r, w[3 + i]);
    r[w[2]] = value_object(&t->h);
    STEP(3 + n);
}
do_unpack : {
    uint32_t n = w[1];
    const value *s = &r[w[3 + n] >> 1];
    if (s->tag == V_ZERO) {
        for (uint32_t i = 0; i < n; i++) r[w[3 + i]] = value_zero();
        STEP(4 + n);
    }
    if (s->tag != V_TUPLE || as_tuple(*s)->n != n) {
        f->at = w;
        exec_other(x, f, w);
        goto fail;
    }
    value v = operand_take(r, w[3 + n]);
    tuple *t = as_tuple(v);
    if (t->h.refs == 1)
        for (uint32_t i = 0; i < n; i++) {
            r[w[3 + i]] = t->v[i];
            t->v[i].tag = V_UNDEF;
        }
    else
        for (uint32_t i = 0; i < n; i++) r[w[3 + i]] = value_retain(t->v[i]);
    value_release(m, v);
    STEP(4 + n);
}
do_call : {
    if (INTERRUPTED(m)) goto interrupted;
    f->at = w;
    if (!exec_call(x, f, w)) goto fail;
    if (x->frame == f) STEP(4 + w[2] + w[3]); /* a lenient call of nothing */
    ENTER();
}
#define CALL_LIKE(fn) \
    { \
        f->at = w; \
        if (!fn(x, f, w)) goto fail; \
        if (x->frame == f) STEP(4 + w[2] + w[3]); \
        ENTER(); \
    }
do_force:
    CALL_LIKE(exec_force)
do_try:
    CALL_LIKE(exec_try)
do_measure:
    CALL_LIKE(exec_measure)
do_import:
    CALL_LIKE(exec_import)
do_return : {
    uint32_t n = w[2];
    if (f->kind == FRAME_CALL && n == 1) {
        frame *up = f->up;
        const uint32_t *c = up->at;
        if (c[2] == 1 && !(c[1] & CALL_PACK)) {
            value v = operand_take(r, w[3]);
            frame_pop(x);
            f = up;
            r = f->r;
            r[c[4]] = v;
            w = c + 5 + c[3];
            NEXT;
        }
    }
    value small[16], *v = small;
    if (n > 16 && !(v = memory_alloc(&m->mem, MEM_FRAME, n * sizeof *v))) {
        vm_out_of_memory(m);
        goto fail;
    }
    for (uint32_t i = 0; i < n; i++) v[i] = operand_take(r, w[3 + i]);
    bool stop = false, fine = exec_leave(x, v, n, &stop);
    if (v != small) memory_free(&m->mem, MEM_FRAME, v, n * sizeof *v);
    if (stop) return fine;
    f = x->frame;
    r = f->r;
    w = f->at;
    if (!fine) goto fail;
    if ((run_op)(uint8_t)*w == RUN_TAPES_NEXT) NEXT; /* an iteration was run for it */
    STEP(4 + w[2] + w[3]);
}
do_global : { /* nd ns d */
    const value *v = table_get(m->globals, instr_at(f, w)->imm);
    if (!v) goto do_other;
    r[w[3]] = value_retain(*v);
    STEP(4);
}
do_defined : { /* nd ns d s */
    if (r[w[4] >> 1].tag == V_UNDEF) goto do_other;
    value v = operand_take(r, w[4]);
    r[w[3]] = v;
    STEP(5);
}
do_seldef : { /* nd ns d s s s */
    bool given = r[w[4] >> 1].tag != V_UNDEF;
    value v = operand_take(r, given ? w[5] : w[6]);
    /* The one not chosen may be the other's register, and then does not die before this. */
    operand_done(m, r, given ? w[6] : w[5]);
    operand_done(m, r, w[4]);
    r[w[3]] = v;
    STEP(7);
}
do_field : { /* nd ns d s */
    const value *s = &r[w[4] >> 1];
    if (s->tag != V_RECORD) goto do_other;
    int64_t k = record_find(as_record(*s), instr_at(f, w)->imm);
    if (k < 0) goto do_other;
    value v = value_retain(as_record(*s)->v[k]);
    operand_done(m, r, w[4]);
    r[w[3]] = v;
    STEP(5);
}
do_other:
    f->at = w;
    if (!exec_other(x, f, w)) goto fail;
    STEP(3 + w[1] + w[2]);

not_bool:
    bad_condition(m, &r[w[1] >> 1]);
    m->fail_arg = 0;
    goto fail;
interrupted:
    vm_interrupted(m);
fail:
    f->at = w;
    if (!exec_unwind(x)) return false;
    f = x->frame;
    r = f->r;
    w = f->at;
    STEP(4 + w[2] + w[3]);
}

/* --- doors ---------------------------------------------------------------------------------- */

/* Runs the frame just pushed (NULL: the push failed); results to out[0..n). */
static bool run_entry(struct exec *x, frame *f, value *out, uint32_t n)
{
    frame_more *s = f ? frame_more_new(x, f) : NULL;
    bool fine = false;
    if (s) {
        s->out = out;
        s->nout = n;
        fine = execute(x);
    } else if (f) {
        for (uint32_t i = 0; i < f->run->nslots; i++) value_release(x->m, f->r[i]), f->r[i].tag = V_UNDEF;
        frame_pop(x);
    }
    if (!x->frame) segments_free(x);
    return fine;
}

bool vm_run(vm *m, code *c, value *out)
{
    struct exec *x = m->exec;
    *out = value_undef();
    if (c->body->nparams) return vm_fail(m, DIAG_INTERNAL, "a program with parameters");
    const run *r = run_of(m, c);
    if (!r) return false;
    /* A failed statement leaves the random state and the top-level functions as they were. */
    random_state random = m->random;
    value globals = value_retain(m->globals);
    code_retain(c);
    bool fine = run_entry(x, frame_push(x, r, NULL, FRAME_ENTRY), out, 1);
    code_release(c);
    if (!fine) {
        m->random = random;
        value_release(m, m->globals);
        m->globals = globals;
    } else value_release(m, globals);
    if (fine && !x->frame) worth_report(m);
    return fine;
}

bool vm_call(vm *m, value fn, const value *args, uint32_t nargs, value *out, uint32_t nresults)
{
    for (uint32_t i = 0; i < nresults; i++) out[i] = value_undef();
    call_args a = {.v = (value *)args, .n = nargs};
    return run_entry(m->exec, exec_enter(m->exec, fn, false, &a, FRAME_ENTRY), out, nresults);
}
