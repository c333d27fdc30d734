/* kern_flat.c: structures walked part by part beside their form: flatten, unflatten, filling in zeros.
 *
 * A cotangent may be thinner than the form: symbolic zeros, tuples that end early, records that lack fields.
 * The walk goes by the form, on frames in the heap, so depth costs no C stack. */
#include "index.h"
#include "kern_util.h"

typedef struct flat_walk flat_walk;
/* A leaf: c is the value there (V_ZERO where there is none), f its form; *out owned when `build`. */
typedef bool flat_leaf(flat_walk *w, value c, value f, value *out);

typedef struct flat_frame {
    value c;
    const form *f;
    value out;
    uint32_t next;
} flat_frame;
struct flat_walk {
    prim_call *call;
    flat_leaf *leaf;
    bool build; /* makes a structure like the form */
    /* for the leaves of flatten and unflatten */
    dtype dtype;
    char *data;
    int64_t at, size;
};

static bool is_structure_form(value f) { return f.tag == V_FORMOBJ && as_form(f)->kind != V_ARRAY; }

/* The part of c beside part i of the form. */
static value part_beside(value c, const form *f, uint32_t i)
{
    if (c.tag == V_TUPLE && f->kind == V_TUPLE) return i < as_tuple(c)->n ? as_tuple(c)->v[i] : value_zero();
    if (c.tag == V_RECORD && f->kind == V_RECORD) {
        int64_t k = record_find(as_record(c), f->names[i]);
        return k < 0 ? value_zero() : as_record(c)->v[k];
    }
    return value_zero();
}

static bool frame_start(flat_walk *w, flat_frame *k, value c, const form *f)
{
    *k = (flat_frame){.c = c, .f = f, .out = value_undef()};
    if (!w->build) return true;
    if (f->kind == V_TUPLE) {
        tuple *t = tuple_new(w->call->vm, f->n, f->n);
        if (t) k->out = value_object(&t->h);
        return t != NULL;
    }
    record *r = record_new(w->call->vm, f->n, f->n);
    if (!r) return false;
    for (uint32_t i = 0; i < f->n; i++) r->names[i] = f->names[i];
    k->out = value_object(&r->h);
    return true;
}

static bool walk(flat_walk *w, value c, value f, value *out)
{
    vm *m = w->call->vm;
    if (!is_structure_form(f)) return w->leaf(w, c, f, out);
    size_t cap = 8, n = 1;
    flat_frame *stack = memory_alloc(&m->mem, MEM_OTHER, cap * sizeof *stack);
    if (!stack) return vm_out_of_memory(m);
    bool ok = frame_start(w, &stack[0], c, as_form(f));
    if (!ok) n = 0;
    while (ok && n) {
        flat_frame *k = &stack[n - 1];
        if (k->next == k->f->n) {
            value made = k->out;
            if (--n == 0) {
                *out = made;
                break;
            }
            k = &stack[n - 1];
            if (w->build) *(k->f->kind == V_TUPLE ? &as_tuple(k->out)->v[k->next] : &as_record(k->out)->v[k->next]) = made;
            k->next++;
            continue;
        }
        value part = part_beside(k->c, k->f, k->next), pf = k->f->parts[k->next];
        if (!is_structure_form(pf)) {
            value v = value_undef();
            ok = w->leaf(w, part, pf, &v);
            if (ok && w->build) *(k->f->kind == V_TUPLE ? &as_tuple(k->out)->v[k->next] : &as_record(k->out)->v[k->next]) = v;
            k->next++;
            continue;
        }
        if (n == cap) {
            flat_frame *more = memory_resize(&m->mem, MEM_OTHER, stack, cap * sizeof *stack, 2 * cap * sizeof *stack);
            if (!more) {
                ok = vm_out_of_memory(m);
                break;
            }
            stack = more;
            cap *= 2;
        }
        ok = frame_start(w, &stack[n], part, as_form(pf));
        n += ok;
    }
    if (!ok)
        while (n) value_release(m, stack[--n].out);
    memory_free(&m->mem, MEM_OTHER, stack, cap * sizeof *stack);
    return ok;
}

/* --- leaves ---------------------------------------------------------------------------------------- */

static bool float_form(value f, shaped *s) { return form_shaped(f, s) && s->dtype >= DTYPE_F32; }

/* Real zeros of a leaf's form; what is no number stays none. */
static bool zeros_leaf(vm *m, value f, value *out)
{
    shaped s;
    if (!form_shaped(f, &s)) *out = value_none();
    else if (s.rank == 0) *out = s.weak ? value_weak(0, s.weak) : scalar_of(s.dtype, 0);
    else {
        array *a = array_zeros(m, s.dtype, s.rank, s.shape);
        if (!a) return false;
        *out = value_object(&a->h);
    }
    return true;
}

static bool fill_leaf(flat_walk *w, value c, value f, value *out)
{
    if (c.tag == V_ZERO || c.tag == V_NONE || c.tag == V_UNDEF) return zeros_leaf(w->call->vm, f, out);
    *out = value_retain(c);
    return true;
}

/* (c, f): see the row. */
bool kern_fill(prim_call *c)
{
    if (c->args[0].tag == V_ZERO) {
        c->out = value_zero();
        return true;
    }
    flat_walk w = {.call = c, .leaf = fill_leaf, .build = true};
    return walk(&w, c->args[0], c->args[1], &c->out);
}

/* First pass: how many floats, and of which dtype. */
static bool count_leaf(flat_walk *w, value c, value f, value *out)
{
    shaped s;
    (void)c, (void)out;
    if (!float_form(f, &s)) return true;
    if (s.size > ELEMENTS_MOST - w->at) return vm_fail(w->call->vm, DIAG_SHAPE, "the vector would have more than 2^48 elements");
    w->at += s.size;
    if (s.weak) return true;
    if (w->size == 0) w->dtype = s.dtype; /* size counts leaves of definite dtype here */
    else if (s.dtype == DTYPE_F64) w->dtype = DTYPE_F64;
    w->size++;
    return true;
}

static bool store_leaf(flat_walk *w, value c, value f, value *out)
{
    shaped s, x;
    (void)out;
    if (!float_form(f, &s)) return true;
    char *to = w->data + w->at * dtype_size[w->dtype];
    w->at += s.size;
    if (shaped_of(&c, &x)) {
        if (!shape_equal(s.rank, s.shape, x.rank, x.shape)) return prim_fail(w->call, 0, DIAG_INTERNAL, "a part of another shape");
        copy_converted(w->call->vm, &x, w->dtype, to);
    } else memset(to, 0, (size_t)s.size * dtype_size[w->dtype]);
    return true;
}

static bool flatten_by(prim_call *c, value x, value f)
{
    value none = value_undef();
    flat_walk w = {.call = c, .leaf = count_leaf, .dtype = c->vm->config.float_dtype};
    if (!walk(&w, x, f, &none)) return false;
    int64_t n = w.at;
    array *a = array_new(c->vm, w.dtype, 1, &n);
    if (!a) return false;
    w.leaf = store_leaf;
    w.data = a->data;
    w.at = 0;
    if (walk(&w, x, f, &none)) return give_array(c, a);
    release_array(c->vm, a);
    return false;
}

bool kern_flatten(prim_call *c)
{
    shaped x;
    if (shaped_of(&c->args[0], &x) && (x.rank || x.dtype < DTYPE_F32)) { /* any array: its elements */
        if (x.rank == 1) {
            c->out = value_retain(c->args[0]);
            return true;
        }
        array *a = array_new(c->vm, x.dtype, 1, &x.size);
        if (a) copy_converted(c->vm, &x, x.dtype, a->data);
        return give_array(c, a);
    }
    value f;
    if (!form_of(c->vm, c->args[0], &f)) return false;
    bool ok = flatten_by(c, c->args[0], f);
    value_release(c->vm, f);
    return ok;
}

/* (c, f): the float parts of form f in the cotangent c as one vector. */
bool kern_flatten_as(prim_call *c) { return flatten_by(c, c->args[0], c->args[1]); }

static bool take_leaf(flat_walk *w, value c, value f, value *out)
{
    shaped s;
    if (!float_form(f, &s)) {
        *out = value_retain(c);
        return true;
    }
    if (w->at + s.size > w->size) {
        w->at += s.size;
        *out = value_none();
        return true;
    }
    shaped from;
    shaped_dense(&from, w->dtype, s.rank, s.shape);
    from.data = w->data + w->at * dtype_size[w->dtype];
    w->at += s.size;
    if (s.rank == 0) {
        double v = read_f64(w->dtype, from.data, 0);
        *out = s.weak ? value_weak(v, WEAK_FLOAT) : scalar_of(s.dtype, v);
        return true;
    }
    array *a = array_new(w->call->vm, s.dtype, s.rank, s.shape);
    if (!a) return false;
    copy_converted(w->call->vm, &from, s.dtype, a->data);
    *out = value_object(&a->h);
    return true;
}

/* Parts of `like`'s form f from the vector args[0]; parts that are not floats from `like`. */
static bool unflatten_by(prim_call *c, value like, value f)
{
    shaped v;
    array *own;
    if (!arg_shaped(c, 0, &v)) return false;
    if (v.rank != 1) return arg_misshapen(c, 0, &v, "a vector");
    if (!arg_dense(c, 0, v.dtype < DTYPE_F32 ? DTYPE_F64 : v.dtype, &v, &own)) return false;
    flat_walk w = {.call = c, .leaf = take_leaf, .build = true, .dtype = v.dtype, .data = v.data, .size = v.size};
    value out = value_undef();
    bool ok = walk(&w, like, f, &out);
    if (ok && w.at != w.size) {
        value_release(c->vm, out);
        ok = prim_fail(c, 0, DIAG_SHAPE, "v has %lld elements, and like %lld floats", (long long)w.size, (long long)w.at);
    }
    release_array(c->vm, own);
    if (ok) c->out = out;
    return ok;
}

bool kern_unflatten(prim_call *c)
{
    value f;
    if (!form_of(c->vm, c->args[1], &f)) return false;
    bool ok = unflatten_by(c, c->args[1], f);
    value_release(c->vm, f);
    return ok;
}

/* (v, f): the same by form alone; parts that are not floats are symbolic zeros. A plain array of whole numbers has
   no float parts, and its flattening is only a reshape. */
bool kern_unflatten_as(prim_call *c) { return unflatten_by(c, value_zero(), c->args[1]); }
