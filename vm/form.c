/* form.c: forms: the structure, shapes and dtypes of values, without the numbers.
 *
 * The forward pass keeps a form where it would otherwise have to keep a whole array only to know
 * what its cotangent looks like. A scalar's form is unboxed (V_FORM); an array's, tuple's or
 * record's is one object with its shape, names and parts behind it in the same allocation.
 *
 * Making the form of a structure walks it with a list of work on the heap, threaded through the
 * forms being made, so no C recursion follows the depth of data. */
#include "vm.h"
#include <string.h>

size_t form_bytes(const form *f)
{
    size_t n = sizeof *f;
    if (f->kind == V_ARRAY) return n + f->rank * sizeof(int64_t);
    return n + f->n * sizeof(value) + (f->kind == V_RECORD ? f->n * sizeof(symbol) : 0);
}

static form *form_new(vm *m, value_tag kind, int rank, uint32_t n)
{
    form like = {.kind = (uint8_t)kind, .rank = (uint8_t)rank, .n = n};
    form *f = memory_alloc(&m->mem, MEM_VALUE, form_bytes(&like));
    if (!f) {
        vm_out_of_memory(m);
        return NULL;
    }
    f->h.refs = 1;
    f->h.kind = V_FORMOBJ;
    f->kind = (uint8_t)kind;
    f->rank = (uint8_t)rank;
    f->n = n;
    if (kind == V_ARRAY) {
        f->shape = (int64_t *)(f + 1);
    } else {
        f->parts = (value *)(f + 1);
        if (kind == V_RECORD) f->names = (symbol *)(f->parts + n);
    }
    return f;
}

static value form_scalar(dtype d, weakness w) { return (value){.tag = V_FORM, .aux = (uint32_t)d | (uint32_t)w << 8}; }
static const value form_other = {.tag = V_FORM, .aux = FORM_OTHER};

value form_of_array(vm *m, dtype d, weakness w, int rank, const int64_t *shape)
{
    if (rank == 0) return form_scalar(d, w);
    form *f = form_new(m, V_ARRAY, rank, 0);
    if (!f) return value_undef();
    f->dtype = (uint8_t)d;
    memcpy(f->shape, shape, (size_t)rank * sizeof(int64_t));
    return value_object(&f->h);
}

bool form_shallow(vm *m, value x, value *out)
{
    form *f;
    switch ((value_tag)x.tag) {
    case V_BOOL:
    case V_I64:
    case V_F32:
    case V_F64: *out = form_scalar(scalar_dtype(x), (weakness)x.weak); return true;
    case V_ARRAY:
        *out = form_of_array(m, (dtype)as_array(x)->dtype, STRONG, as_array(x)->rank, as_array(x)->dims);
        return out->tag != V_UNDEF;
    case V_TUPLE:
        if (!(f = form_new(m, V_TUPLE, 0, as_tuple(x)->n))) return false;
        break;
    case V_RECORD:
        if (!(f = form_new(m, V_RECORD, 0, as_record(x)->n))) return false;
        memcpy(f->names, as_record(x)->names, f->n * sizeof(symbol));
        break;
    default: *out = form_other; return true;
    }
    for (uint32_t i = 0; i < f->n; i++) f->parts[i] = form_other;
    *out = value_object(&f->h);
    return true;
}

/* A structure whose parts' forms are still to be made. */
typedef struct form_work {
    value x;
    form *f;
    uint32_t next;
    struct form_work *up;
} form_work;

bool form_of(vm *m, value x, value *out)
{
    if (!form_shallow(m, x, out)) return false;
    if (x.tag != V_TUPLE && x.tag != V_RECORD) return true;
    arena work;
    arena_open(&work, &m->mem, MEM_OTHER);
    form_work *top = arena_alloc(&work, sizeof *top), *spare = NULL;
    bool fine = top != NULL;
    if (fine) *top = (form_work){.x = x, .f = as_form(*out)};
    while (fine && top) {
        if (top->next == top->f->n) {
            form_work *done = top;
            top = top->up;
            done->up = spare;
            spare = done;
            continue;
        }
        uint32_t i = top->next++;
        value part = top->x.tag == V_TUPLE ? as_tuple(top->x)->v[i] : as_record(top->x)->v[i];
        value made;
        if (!form_shallow(m, part, &made)) {
            fine = false;
            break;
        }
        top->f->parts[i] = made;
        if (part.tag != V_TUPLE && part.tag != V_RECORD) continue;
        form_work *w = spare;
        if (w) spare = w->up;
        else if (!(w = arena_alloc(&work, sizeof *w))) {
            fine = vm_out_of_memory(m);
            break;
        }
        // cppcheck-suppress nullPointerRedundantCheck ; arena_alloc's NULL has left the loop
        *w = (form_work){.x = part, .f = as_form(made), .up = top};
        top = w;
    }
    arena_close(&work);
    if (fine) return true;
    value_release(m, *out);
    *out = value_undef();
    return vm_out_of_memory(m);
}

/* Bounded by how deep a program nests records and tuples. */
static bool same_parts(value a, value b)
{
    if (a.tag != b.tag) return false;
    if (a.tag == V_FORM) return a.aux == b.aux;
    return a.tag != V_FORMOBJ || form_same(as_form(a), as_form(b));
}

bool form_same(const form *a, const form *b)
{
    for (;;) { /* the last part is a loop: long chains hang there */
        if (a == b) return true;
        if (a->kind != b->kind || a->dtype != b->dtype || a->rank != b->rank || a->n != b->n) return false;
        if (a->kind == V_ARRAY) return memcmp(a->shape, b->shape, a->rank * sizeof(int64_t)) == 0;
        if (a->kind == V_RECORD && memcmp(a->names, b->names, a->n * sizeof(symbol)) != 0) return false;
        if (a->n == 0) return true;
        for (uint32_t i = 0; i + 1 < a->n; i++)
            if (!same_parts(a->parts[i], b->parts[i])) return false;
        value x = a->parts[a->n - 1], y = b->parts[a->n - 1];
        if (x.tag != V_FORMOBJ || y.tag != V_FORMOBJ) return same_parts(x, y);
        a = as_form(x);
        b = as_form(y);
    }
}

static void print_at(vm *m, value f, text *out, int depth)
{
    if (f.tag == V_FORM) {
        text_puts(out, f.aux == FORM_OTHER ? "other" : f.aux >> 8 ? "number" : dtype_name((dtype)(f.aux & 0xff)));
        return;
    }
    if (f.tag != V_FORMOBJ) {
        text_puts(out, value_type_name(f));
        return;
    }
    const form *o = as_form(f);
    if (o->kind == V_ARRAY) {
        text_puts(out, dtype_name((dtype)o->dtype));
        shape_print(o->rank, o->shape, out);
        return;
    }
    bool named = o->kind == V_RECORD;
    text_putc(out, named ? '{' : '(');
    for (uint32_t i = 0; i < o->n; i++) {
        if (i) text_puts(out, ", ");
        if (i == 8 || depth == 4) {
            text_puts(out, "...");
            break;
        }
        if (named) text_printf(out, "%s: ", symbol_name(m->symbols, o->names[i]));
        print_at(m, o->parts[i], out, depth + 1);
    }
    if (!named && o->n == 1) text_putc(out, ',');
    text_putc(out, named ? '}' : ')');
}

void form_print(vm *m, value f, text *out) { print_at(m, f, out, 0); }

/* Zeros of the outermost level of f; parts of structures V_NONE. */
static bool zeros_shallow(vm *m, value f, value *out)
{
    if (f.tag == V_FORM) {
        *out = f.aux == FORM_OTHER ? value_none() : scalar_of((dtype)(f.aux & 0xff), 0);
        if (out->tag == V_F64) out->weak = (uint8_t)(f.aux >> 8);
        return true;
    }
    const form *o = as_form(f);
    if (o->kind == V_ARRAY) {
        array *a = array_zeros(m, (dtype)o->dtype, o->rank, o->shape);
        if (!a) return false;
        *out = value_object(&a->h);
        return true;
    }
    if (o->kind == V_TUPLE) {
        tuple *t = tuple_new(m, o->n, o->n);
        if (!t) return false;
        for (uint32_t i = 0; i < o->n; i++) t->v[i] = value_none();
        *out = value_object(&t->h);
        return true;
    }
    record *r = record_new(m, o->n, o->n);
    if (!r) return false;
    memcpy(r->names, o->names, o->n * sizeof(symbol));
    for (uint32_t i = 0; i < o->n; i++) r->v[i] = value_none();
    *out = value_object(&r->h);
    return true;
}

bool form_zeros(vm *m, value f, value *out)
{
    typedef struct zero_work {
        const form *f;
        value x;
        uint32_t next;
        struct zero_work *up;
    } zero_work;
    if (!zeros_shallow(m, f, out)) return false;
    if (out->tag != V_TUPLE && out->tag != V_RECORD) return true;
    arena work;
    arena_open(&work, &m->mem, MEM_OTHER);
    zero_work *top = arena_alloc(&work, sizeof *top), *spare = NULL;
    bool fine = top != NULL;
    if (fine) *top = (zero_work){.f = as_form(f), .x = *out};
    while (fine && top) {
        if (top->next == top->f->n) {
            zero_work *done = top;
            top = top->up;
            done->up = spare;
            spare = done;
            continue;
        }
        uint32_t i = top->next++;
        value *slot = top->x.tag == V_TUPLE ? &as_tuple(top->x)->v[i] : &as_record(top->x)->v[i];
        if (!zeros_shallow(m, top->f->parts[i], slot)) {
            fine = false;
            break;
        }
        if (slot->tag != V_TUPLE && slot->tag != V_RECORD) continue;
        zero_work *w = spare;
        if (w) spare = w->up;
        else if (!(w = arena_alloc(&work, sizeof *w))) {
            fine = false;
            break;
        }
        // cppcheck-suppress nullPointerRedundantCheck
        *w = (zero_work){.f = as_form(top->f->parts[i]), .x = *slot, .up = top};
        top = w;
    }
    arena_close(&work);
    if (fine) return true;
    value_release(m, *out);
    *out = value_undef();
    return vm_out_of_memory(m);
}
