/* kern_adjoint.c: sums of cotangents, and making them fit: __acc, __reduce_to, __spread_to,
 * __instantiate, __finish, __form.
 *
 * In go cotangents (numbers, sparse records, short tuples, tapes, symbolic zeros) and forms or primal
 * values beside them; out come owned cotangents. All five structure-wise operations are one walk over
 * a pair of structures, told apart by a function that says what to do with a pair: give a result, or
 * open a container whose parts the walk then fills in. The walk keeps its frames in an arena, so no C
 * recursion follows the depth of data. Scalars and arrays return before any of that.
 *
 * Sums are in place where the running cotangent has no other holder: containers keep their identity,
 * arrays are added to where they lie. The order of additions is the callers' program order. */
#include "adjoint.h"
#include "elementwise.h"
#include "kern_util.h"
#include "reduce.h"
#include "residual.h"

static bool is_container(value v) { return v.tag == V_TUPLE || v.tag == V_RECORD; }
static bool form_numeric(value f) { return f.tag == V_FORM ? f.aux != FORM_OTHER : f.tag == V_FORMOBJ && as_form(f)->kind == V_ARRAY; }
static bool form_container(value f) { return f.tag == V_FORMOBJ && as_form(f)->kind != V_ARRAY; }

static bool unlike(prim_call *c, value a, value b)
{
    text x, y;
    text_open(&x, &c->vm->mem);
    text_open(&y, &c->vm->mem);
    value_describe(c->vm, a, &x);
    if (b.tag == V_FORM || b.tag == V_FORMOBJ) form_print(c->vm, b, &y);
    else value_describe(c->vm, b, &y);
    prim_fail(c, -1, DIAG_INTERNAL, "a cotangent %s meets %s", text_str(&x), text_str(&y));
    text_close(&x);
    text_close(&y);
    return false;
}

/* --- numbers -------------------------------------------------------------------------------- */

bool cot_zeros_like(vm *m, value x, value *out)
{
    if (x.tag == V_ARRAY) {
        array *a = array_zeros(m, (dtype)as_array(x)->dtype, as_array(x)->rank, as_array(x)->dims);
        if (!a) return false;
        *out = value_object(&a->h);
        return true;
    }
    *out = scalar_of(scalar_dtype(x), 0);
    if (x.weak) out->weak = WEAK_FLOAT;
    return true;
}

static bool add_numbers(prim_call *c, value a, value b, unsigned last, value *out)
{
    if (a.tag == V_F64 && b.tag == V_F64) {
        *out = value_weak(a.u.f + b.u.f, a.weak && b.weak ? WEAK_FLOAT : STRONG);
        return true;
    }
    value args[] = {a, b};
    prim_call d = {.vm = c->vm, .p = &prims[PRIM_add], .args = args, .n = 2, .last = last};
    if (!kern_elementwise(&d)) return false;
    *out = d.out;
    return true;
}

/* The dtype and shape that a numeric form asks for. */
static void form_target(value f, shaped *t)
{
    if (f.tag == V_FORM) {
        t->dtype = (dtype)(f.aux & 0xff);
        t->weak = f.aux >> 8 ? WEAK_FLOAT : STRONG;
        t->rank = 0;
        t->size = 1;
        return;
    }
    const form *o = as_form(f);
    t->dtype = (dtype)o->dtype;
    t->weak = STRONG;
    t->rank = o->rank;
    t->size = shape_size(o->rank, o->shape);
    memcpy(t->shape, o->shape, o->rank * sizeof(int64_t));
}

/* x (dense or not) summed over `axes`, as an array of dtype d and the target's shape, which has as many
   elements; a scalar for rank 0. */
static bool sum_axes(prim_call *c, const shaped *x, const int *axes, int n, const shaped *t, int rank, const int64_t *shape, value *out)
{
    vm *m = c->vm;
    reduce_axes r;
    reduce_axes_make(x, axes, n, true, &r);
    dtype work = reduce_dtype(x->dtype);
    union {
        double f64;
        float f32;
    } one;
    if (rank == 0) {
        if (!reduce_run(m, x, &r, REDUCE_SUM, TERM_X, NULL, &one)) return false;
        *out = scalar_of(t->dtype, work == DTYPE_F32 ? (double)one.f32 : one.f64);
        if (t->dtype == DTYPE_F64) out->weak = (uint8_t)t->weak;
        return true;
    }
    array *a = array_new(m, work, rank, shape);
    if (!a) return false;
    bool fine = reduce_run(m, x, &r, REDUCE_SUM, TERM_X, NULL, a->data);
    if (fine && work != t->dtype) {
        array *b = array_copy(m, a, t->dtype);
        fine = b != NULL;
        value_release(m, value_object(&a->h));
        a = b;
    } else if (!fine) {
        value_release(m, value_object(&a->h));
    }
    if (fine) *out = value_object(&a->h);
    return fine;
}

/* A number as a view stretched to the target's shape. x: of the target's dtype. */
static bool stretch(prim_call *c, value x, const shaped *t, value *out)
{
    vm *m = c->vm;
    array *a;
    if (x.tag == V_ARRAY) {
        a = as_array(x);
        a->h.refs++;
    } else {
        int64_t one = 1;
        if (!(a = array_new(m, t->dtype, 1, &one))) return false;
        array_put(a, 0, x);
    }
    int64_t stride[RANK_MAX];
    bool fits = a->rank <= t->rank || a->size == 1;
    for (int i = 0; fits && i < t->rank; i++) {
        int own = i - (t->rank - a->rank);
        stride[i] = own < 0 || array_shape(a)[own] == 1 ? 0 : array_stride(a)[own];
        if (own >= 0 && array_shape(a)[own] != 1 && array_shape(a)[own] != t->shape[i]) fits = false;
    }
    bool fine = false;
    if (!fits) {
        prim_fail(c, -1, DIAG_INTERNAL, "a tangent of rank %d does not stretch to rank %d", a->rank, t->rank);
    } else if (t->rank == 0) {
        *out = array_at(a, 0);
        fine = true;
    } else {
        array *v = array_view(m, a, t->rank, t->shape, stride, 0);
        fine = v != NULL;
        if (fine) *out = value_object(&v->h);
    }
    value_release(m, value_object(&a->h));
    return fine;
}

bool cot_fit(prim_call *c, value x, value f, value *out)
{
    vm *m = c->vm;
    shaped t, s;
    if (f.tag == V_FORM && x.tag == V_F64 && (f.aux & 0xff) == DTYPE_F64) { /* scalar to scalar */
        *out = value_weak(x.u.f, f.aux >> 8 ? WEAK_FLOAT : STRONG);
        return true;
    }
    form_target(f, &t);
    if (t.dtype < DTYPE_F32) {
        *out = value_zero();
        return true;
    }
    shaped_of(&x, &s);
    int axes[RANK_MAX], n = 0, lead = s.rank - t.rank;
    int64_t shape[RANK_MAX]; /* after summing */
    bool same = lead == 0;
    for (int i = 0; i < s.rank; i++) {
        int k = i - lead;
        bool sums = k < 0 || (t.shape[k] == 1 && s.shape[i] != 1);
        if (k >= 0) {
            shape[k] = sums ? 1 : s.shape[i];
            if (shape[k] != t.shape[k]) same = false;
        }
        if (sums) axes[n++] = i;
    }
    value y = value_undef();
    int rank = lead < 0 ? s.rank : t.rank;
    if (lead < 0) { /* fewer axes than the target: shape[k] above is misplaced; sum nothing, stretch */
        n = 0;
        same = false;
        if (s.rank) memcpy(shape, s.shape, (size_t)s.rank * sizeof *shape);
    } else if (n == 0 && lead == 0) {
        memcpy(shape, s.shape, (size_t)s.rank * sizeof *shape);
    }
    if (n > 0) {
        if (!sum_axes(c, &s, axes, n, &t, rank, shape, &y)) return false;
        same = true;
        for (int i = 0; i < t.rank; i++) same = same && shape[i] == t.shape[i];
    } else if (x.tag == V_ARRAY) {
        if (s.dtype == t.dtype) {
            y = value_retain(x);
        } else {
            array *a = array_copy(m, as_array(x), t.dtype);
            if (!a) return false;
            y = value_object(&a->h);
        }
    } else {
        y = scalar_of(t.dtype, x.tag >= V_F32 ? x.u.f : (double)x.u.i);
        if (t.dtype == DTYPE_F64 && t.rank == 0) y.weak = (uint8_t)t.weak;
        if (t.rank == 0) same = true;
    }
    if (same) {
        *out = y;
        return true;
    }
    bool fine = stretch(c, y, &t, out);
    value_release(m, y);
    return fine;
}

/* --- the walk ------------------------------------------------------------------------------- */

typedef enum step { STEP_FAIL, STEP_DONE, STEP_OPEN } step;
typedef struct walk_frame {
    struct walk_frame *up;
    value out;     /* the container being filled in: owned, all parts in place */
    value a, b;    /* borrowed */
    unsigned last; /* of the parts: bit 0, 1: a's, b's parts may be written into */
    uint32_t next, n;
} walk_frame;
/* What to do with the pair (a, b): *out owned when done; f->out, f->last when a container is to be filled. */
typedef step walk_step(prim_call *c, value a, value b, unsigned last, value *out, walk_frame *f);

/* The part of v that goes with part k of the container `out`. Numbers and zeros stand for all parts. */
static value part_for(value v, value out, uint32_t k)
{
    static const value other = {.tag = V_FORM, .aux = FORM_OTHER};
    switch ((value_tag)v.tag) {
    case V_TUPLE: return k < as_tuple(v)->n ? as_tuple(v)->v[k] : value_zero();
    case V_RECORD: {
        const record *r = as_record(v);
        symbol name = as_record(out)->names[k];
        int64_t at = k < r->n && r->names[k] == name ? (int64_t)k : record_find(r, name);
        return at >= 0 ? r->v[at] : value_zero();
    }
    case V_FORMOBJ: {
        const form *f = as_form(v);
        if (f->kind == V_ARRAY) return v;
        if (f->kind == V_TUPLE) return k < f->n ? f->parts[k] : other;
        symbol name = as_record(out)->names[k];
        if (k < f->n && f->names[k] == name) return f->parts[k];
        for (uint32_t i = 0; i < f->n; i++)
            if (f->names[i] == name) return f->parts[i];
        return other;
    }
    default: return v;
    }
}

static bool walk(prim_call *c, walk_step *open, value a, value b, unsigned last, value *out)
{
    vm *m = c->vm;
    walk_frame first = {0}, *f = &first, *spare = NULL;
    step s = open(c, a, b, last, out, &first);
    if (s != STEP_OPEN) return s == STEP_DONE;
    first.a = a;
    first.b = b;
    first.n = first.out.tag == V_TUPLE ? as_tuple(first.out)->n : as_record(first.out)->n;
    arena work;
    arena_open(&work, &m->mem, MEM_OTHER);
    bool fine = true;
    for (;;) {
        if (f->next == f->n) {
            value made = f->out;
            if (!f->up) {
                *out = made;
                break;
            }
            walk_frame *up = f->up;
            f->up = spare;
            spare = f;
            f = up;
            value *slot = f->out.tag == V_TUPLE ? &as_tuple(f->out)->v[f->next] : &as_record(f->out)->v[f->next];
            value old = *slot;
            *slot = made;
            value_release(m, old);
            f->next++;
            continue;
        }
        value x = part_for(f->a, f->out, f->next), y = part_for(f->b, f->out, f->next), made;
        walk_frame g = {0};
        s = open(c, x, y, f->last, &made, &g);
        if (s == STEP_FAIL) {
            fine = false;
            break;
        }
        if (s == STEP_DONE) {
            value *slot = f->out.tag == V_TUPLE ? &as_tuple(f->out)->v[f->next] : &as_record(f->out)->v[f->next];
            value old = *slot;
            *slot = made;
            value_release(m, old);
            f->next++;
            continue;
        }
        walk_frame *h = spare;
        if (h) spare = h->up;
        else if (!(h = arena_alloc(&work, sizeof *h))) {
            value_release(m, g.out);
            fine = vm_out_of_memory(m);
            break;
        }
        *h = g;
        h->a = x;
        h->b = y;
        h->n = g.out.tag == V_TUPLE ? as_tuple(g.out)->n : as_record(g.out)->n;
        h->up = f;
        f = h;
    }
    if (!fine)
        for (; f; f = f->up) value_release(m, f->out);
    arena_close(&work);
    return fine;
}

/* A container with the structure of s (a tuple, record or form of one), all parts symbolic zeros. */
static step open_like(prim_call *c, value s, walk_frame *f)
{
    const form *o = s.tag == V_FORMOBJ ? as_form(s) : NULL;
    bool record_kind = o ? o->kind == V_RECORD : s.tag == V_RECORD;
    uint32_t n = o ? o->n : record_kind ? as_record(s)->n : as_tuple(s)->n;
    if (!record_kind) {
        tuple *t = tuple_new(c->vm, n, n);
        if (!t) return STEP_FAIL;
        for (uint32_t i = 0; i < n; i++) t->v[i] = value_zero();
        f->out = value_object(&t->h);
        return STEP_OPEN;
    }
    record *r = record_new(c->vm, n, n);
    if (!r) return STEP_FAIL;
    if (n) memcpy(r->names, o ? o->names : as_record(s)->names, n * sizeof(symbol));
    for (uint32_t i = 0; i < n; i++) r->v[i] = value_zero();
    f->out = value_object(&r->h);
    return STEP_OPEN;
}

static step done(value *out, value v)
{
    *out = v;
    return STEP_DONE;
}

/* --- acc ------------------------------------------------------------------------------------ */

/* A container for the sum of two tuples or two records: a itself when nobody else holds it, else one of
   its structure, and what only b has. */
static step open_sum(prim_call *c, value a, value b, unsigned last, walk_frame *f)
{
    vm *m = c->vm;
    bool own = (last & 1) && a.u.o->refs == 1;
    f->last = (own ? 1u : 0) | ((last & 2) && b.u.o->refs == 1 ? 2u : 0);
    if (a.tag == V_TUPLE) {
        tuple *t = as_tuple(a);
        uint32_t n = t->n > as_tuple(b)->n ? t->n : as_tuple(b)->n;
        if (own && t->cap >= n) {
            for (; t->n < n; t->n++) t->v[t->n] = value_zero();
            f->out = value_retain(a);
            return STEP_OPEN;
        }
        tuple *s = tuple_new(m, n, n);
        if (!s) return STEP_FAIL;
        for (uint32_t i = 0; i < n; i++) s->v[i] = value_zero();
        f->out = value_object(&s->h);
        return STEP_OPEN;
    }
    record *r = as_record(a), *q = as_record(b);
    if (!own) {
        if (open_like(c, a, f) == STEP_FAIL) return STEP_FAIL;
        for (uint32_t i = 0; i < q->n; i++)
            if (record_find(r, q->names[i]) < 0 && !record_set(m, &f->out, q->names[i], value_zero())) {
                value_release(m, f->out);
                return STEP_FAIL;
            }
        return STEP_OPEN;
    }
    for (uint32_t i = 0; i < q->n; i++) /* in place: a has one reference, and is not moved */
        if (record_find(r, q->names[i]) < 0 && !record_set(m, &a, q->names[i], value_zero())) return STEP_FAIL;
    f->out = value_retain(a);
    return STEP_OPEN;
}

static step acc_step(prim_call *c, value a, value b, unsigned last, value *out, walk_frame *f)
{
    if (cot_is_zero(b)) return done(out, a.tag == V_UNDEF ? value_zero() : value_retain(a));
    if (cot_is_zero(a)) return done(out, value_retain(b));
    if (cot_is_number(a) && cot_is_number(b)) return add_numbers(c, a, b, last, out) ? STEP_DONE : STEP_FAIL;
    if (a.tag == V_TAPE || b.tag == V_TAPE) return tape_acc(c->vm, a, b, out) ? STEP_DONE : STEP_FAIL;
    if (is_container(a) && a.tag == b.tag) return open_sum(c, a, b, last, f);
    if (!cot_is_number(a) && !cot_is_number(b) && !is_container(a) && !is_container(b)) return done(out, value_retain(a));
    unlike(c, a, b);
    return STEP_FAIL;
}

bool cot_add(prim_call *c, value a, value b, unsigned last, value *out) { return walk(c, acc_step, a, b, last, out); }

bool kern_acc(prim_call *c)
{
    value a = c->args[0], b = c->args[1];
    if (a.tag == V_F64 && b.tag == V_F64) {
        c->out = value_weak(a.u.f + b.u.f, a.weak && b.weak ? WEAK_FLOAT : STRONG);
        return true;
    }
    unsigned last = (unsigned)(c->last & 3);
    if (value_is_heap(a) && value_is_heap(b) && a.u.o == b.u.o) last = 0; /* the same object twice */
    return cot_add(c, a, b, last, &c->out);
}

/* --- reduce_to and spread_to ---------------------------------------------------------------- */

/* The sum of all numbers in a structure, each fitted to f, in order: what reaches a number that
   was broadcast over a structure. */
static bool sum_parts(prim_call *c, value s, value f, value *out)
{
    typedef struct part_work {
        value v;
        uint32_t next;
        struct part_work *up;
    } part_work;
    vm *m = c->vm;
    arena work;
    arena_open(&work, &m->mem, MEM_OTHER);
    part_work *top = arena_alloc(&work, sizeof *top), *spare = NULL;
    bool fine = top != NULL || vm_out_of_memory(m);
    if (fine) *top = (part_work){.v = s};
    value sum = value_zero();
    while (fine && top) {
        uint32_t n = top->v.tag == V_TUPLE ? as_tuple(top->v)->n : as_record(top->v)->n;
        if (top->next == n) {
            part_work *old = top;
            top = top->up;
            old->up = spare;
            spare = old;
            continue;
        }
        uint32_t k = top->next++;
        value x = top->v.tag == V_TUPLE ? as_tuple(top->v)->v[k] : as_record(top->v)->v[k];
        if (is_container(x)) {
            part_work *w = spare;
            if (w) spare = w->up;
            else if (!(w = arena_alloc(&work, sizeof *w))) {
                fine = vm_out_of_memory(m);
                break;
            }
            *w = (part_work){.v = x, .up = top};
            top = w;
            continue;
        }
        if (!cot_is_number(x)) continue;
        value y, z;
        fine = cot_fit(c, x, f, &y);
        if (!fine) break;
        fine = cot_add(c, sum, y, 3, &z);
        value_release(m, y);
        if (!fine) break;
        value_release(m, sum);
        sum = z;
    }
    arena_close(&work);
    if (fine) *out = sum;
    else value_release(m, sum);
    return fine;
}

static step reduce_step(prim_call *c, value a, value f, unsigned last, value *out, walk_frame *frame)
{
    if (cot_is_zero(a)) return done(out, a.tag == V_UNDEF ? value_zero() : a);
    if (f.tag == V_FORM && f.aux == FORM_OTHER && cot_is_number(a)) return done(out, value_zero()); /* of what was symbolic zero itself */
    if (form_numeric(f)) {
        if (cot_is_number(a)) return cot_fit(c, a, f, out) ? STEP_DONE : STEP_FAIL;
        if (is_container(a)) return sum_parts(c, a, f, out) ? STEP_DONE : STEP_FAIL;
    }
    if (form_container(f)) {
        if (is_container(a)) {
            if ((a.tag == V_TUPLE) == (as_form(f)->kind == V_TUPLE)) return open_like(c, a, frame);
        }
        unlike(c, a, f);
        return STEP_FAIL;
    }
    return done(out, value_retain(a));
}

bool cot_reduce_to(prim_call *c, value cot, value f, value *out) { return walk(c, reduce_step, cot, f, 0, out); }

bool kern_reduce_to(prim_call *c) { return cot_reduce_to(c, c->args[0], c->args[1], &c->out); }

static step spread_step(prim_call *c, value a, value f, unsigned last, value *out, walk_frame *frame)
{
    if (cot_is_zero(a)) return done(out, a.tag == V_UNDEF ? value_zero() : a);
    if (f.tag == V_FORM && f.aux == FORM_OTHER && cot_is_number(a)) return done(out, value_zero()); /* as in reduce_step */
    if (form_numeric(f) && cot_is_number(a)) return cot_fit(c, a, f, out) ? STEP_DONE : STEP_FAIL;
    if (form_container(f) && (cot_is_number(a) || is_container(a))) {
        if (is_container(a) && (a.tag == V_TUPLE) != (as_form(f)->kind == V_TUPLE)) {
            unlike(c, a, f);
            return STEP_FAIL;
        }
        return open_like(c, f, frame);
    }
    return done(out, value_retain(a));
}

bool kern_spread_to(prim_call *c) { return walk(c, spread_step, c->args[0], c->args[1], 0, &c->out); }

/* --- instantiate and finish ----------------------------------------------------------------- */

static step instantiate_step(prim_call *c, value d, value x, unsigned last, value *out, walk_frame *frame)
{
    if (is_container(x)) {
        if (cot_is_zero(d) || d.tag == x.tag) return open_like(c, x, frame);
        unlike(c, d, x);
        return STEP_FAIL;
    }
    if (cot_is_number(x) && cot_is_zero(d)) return cot_zeros_like(c->vm, x, out) ? STEP_DONE : STEP_FAIL;
    return done(out, d.tag == V_UNDEF ? value_zero() : value_retain(d));
}

bool kern_instantiate(prim_call *c) { return walk(c, instantiate_step, c->args[0], c->args[1], 0, &c->out); }

static step finish_step(prim_call *c, value d, value x, unsigned last, value *out, walk_frame *frame)
{
    if (is_container(x)) {
        if (cot_is_zero(d) || d.tag == x.tag) return open_like(c, x, frame);
        unlike(c, d, x);
        return STEP_FAIL;
    }
    bool floats = value_is_float(x) || (x.tag == V_ARRAY && as_array(x)->dtype >= DTYPE_F32);
    if (!floats) return done(out, value_none());
    if (cot_is_zero(d)) return cot_zeros_like(c->vm, x, out) ? STEP_DONE : STEP_FAIL;
    if (!cot_is_number(d)) {
        unlike(c, d, x);
        return STEP_FAIL;
    }
    value f;
    if (!form_of(c->vm, x, &f)) return STEP_FAIL;
    bool fine = cot_fit(c, d, f, out);
    value_release(c->vm, f);
    return fine ? STEP_DONE : STEP_FAIL;
}

bool kern_finish(prim_call *c) { return walk(c, finish_step, c->args[0], c->args[1], 0, &c->out); }
bool kern_moved(prim_call *c)
{
    c->out = cot_is_zero(c->args[1]) || cot_is_zero(c->args[0]) ? value_zero() : value_retain(c->args[0]);
    return true;
}
bool kern_either(prim_call *c)
{
    c->out = cot_is_zero(c->args[0]) && cot_is_zero(c->args[1]) ? value_zero() : value_f64(1);
    return true;
}

bool kern_form(prim_call *c) { return form_of(c->vm, c->args[0], &c->out); }
bool kern_form_shallow(prim_call *c) { return form_shallow(c->vm, c->args[0], &c->out); }

bool kern_nothing(prim_call *c)
{
    c->out = value_zero();
    return true;
}
