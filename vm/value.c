/* value.c: the objects behind values: making, freeing, updating and comparing them.
 *
 * In go parts, out come reference-counted objects. What holds throughout: an object is immutable
 * unless its one holder changes it, so updates copy when the object is shared and write in place
 * when it is not. Freeing never recurses and never allocates: an object whose count falls to zero
 * is threaded on vm->free_queue through its own header (the counts are no longer needed), and the
 * outermost object_free empties the queue; so a list a million deep is freed in a loop. Comparing walks
 * on levels in the heap. */
#include "vm.h"
#include "code.h"
#include "residual.h"
#include "looptape.h"
#include <assert.h>
#include <math.h>
#include <string.h>

const char *dtype_name(dtype d)
{
    static const char *const names[] = {"bool", "i64", "f32", "f64"};
    return names[d];
}

value scalar_of(dtype d, double x)
{
    switch (d) {
    case DTYPE_BOOL: return value_bool(x != 0);
    case DTYPE_I64: return value_i64((int64_t)x);
    case DTYPE_F32: return value_f32((float)x);
    default: return value_f64(x);
    }
}

/* --- making --------------------------------------------------------------------------------- */

/* A zeroed object of `bytes` with one reference, or NULL with the error set. */
static void *object_new(vm *m, value_tag kind, size_t bytes)
{
    object *o = memory_alloc(&m->mem, MEM_VALUE, bytes);
    if (!o) {
        vm_out_of_memory(m);
        return NULL;
    }
    o->refs = 1;
    o->kind = (uint8_t)kind;
    return o;
}

string *string_new(vm *m, const char *s, size_t n)
{
    if (n >= UINT32_MAX) {
        vm_fail(m, DIAG_VALUE, "a string of %zu bytes is too long", n);
        return NULL;
    }
    string *t = object_new(m, V_STRING, sizeof *t + n + 1);
    if (!t) return NULL;
    t->length = (uint32_t)n;
    if (s) {
        memcpy(t->s, s, n);
        string_seal(t);
    }
    return t;
}

void string_seal(string *s)
{
    s->s[s->length] = 0;
    s->points = (uint32_t)utf8_length(s->s, s->length);
}

static size_t tuple_bytes(uint32_t cap) { return sizeof(tuple) + (size_t)cap * sizeof(value); }

tuple *tuple_new(vm *m, uint32_t n, uint32_t cap)
{
    if (cap < n) cap = n;
    tuple *t = object_new(m, V_TUPLE, tuple_bytes(cap));
    if (!t) return NULL;
    t->n = n;
    t->cap = cap;
    return t; /* zeroed memory reads as V_UNDEF */
}
_Static_assert(V_UNDEF == 0, "zeroed memory is unassigned values");

/* Of a record with more room than this there is a table of where its names are, behind them: places + 1, 0 free. */
enum { RECORD_SMALL = 32 };

static uint32_t record_slots(uint32_t cap)
{
    if (cap <= RECORD_SMALL) return 0;
    return cap > 1u << 30 ? 0 : 2u << (32 - __builtin_clz(cap)); /* 2 to 4 for each name */
}

static size_t record_bytes(uint32_t cap)
{
    return (size_t)cap * (sizeof(value) + sizeof(symbol)) + (size_t)record_slots(cap) * sizeof(uint32_t);
}

record *record_new(vm *m, uint32_t n, uint32_t cap)
{
    if (cap < n) cap = n;
    record *r = object_new(m, V_RECORD, sizeof *r);
    if (!r) return NULL;
    char *both = memory_alloc(&m->mem, MEM_VALUE, record_bytes(cap));
    if (!both) {
        memory_free(&m->mem, MEM_VALUE, r, sizeof *r);
        vm_out_of_memory(m);
        return NULL;
    }
    r->n = n;
    r->cap = cap;
    r->v = (value *)both;
    r->names = (symbol *)(both + (size_t)cap * sizeof(value));
    return r;
}

value *container_like(vm *m, value v, value *out)
{
    if (v.tag == V_TUPLE) {
        tuple *t = tuple_new(m, as_tuple(v)->n, as_tuple(v)->n);
        if (!t) return NULL;
        *out = value_object(&t->h);
        return t->v;
    }
    const record *like = as_record(v);
    record *r = record_new(m, like->n, like->n);
    if (!r) return NULL;
    memcpy(r->names, like->names, like->n * sizeof *r->names);
    *out = value_object(&r->h);
    return r->v;
}

static size_t closure_bytes(uint32_t n) { return sizeof(closure) + (size_t)n * sizeof(value); }

closure *closure_new(vm *m, code *c, uint32_t n)
{
    closure *k = object_new(m, V_FUNCTION, closure_bytes(n));
    if (!k) return NULL;
    k->code = code_retain(c);
    k->n = n;
    return k;
}

slice *slice_new(vm *m, value start, value stop, value step)
{
    slice *s = object_new(m, V_SLICE, sizeof *s);
    if (!s) return NULL;
    s->start = value_retain(start);
    s->stop = value_retain(stop);
    s->step = value_retain(step);
    return s;
}

/* --- freeing -------------------------------------------------------------------------------- */

static void release_all(vm *m, value *v, size_t n)
{
    for (size_t i = 0; i < n; i++) value_release(m, v[i]);
}

/* Lets go of what o holds and gives its memory back. Children that die go to the queue. */
static void object_dispose(vm *m, object *o)
{
    memory *mem = &m->mem;
    switch ((value_tag)o->kind) {
    case V_ARRAY: {
        array *a = (array *)o;
        if (--a->buf->refs == 0) {
            if (a->buf->foreign) {
                foreign_buffer *f = (foreign_buffer *)a->buf;
                if (f->done) f->done(f->user, f->b.data);
                memory_free(mem, MEM_ARRAY, f, sizeof *f);
            } else {
                memory_array_free(mem, a->buf->data, a->buf->bytes);
                memory_free(mem, MEM_ARRAY, a->buf, sizeof *a->buf);
            }
        }
        memory_free(mem, MEM_ARRAY, a, sizeof *a + 2 * (size_t)a->rank * sizeof(int64_t));
        break;
    }
    case V_STRING: memory_free(mem, MEM_VALUE, o, sizeof(string) + ((string *)o)->length + 1); break;
    case V_TUPLE: {
        tuple *t = (tuple *)o;
        release_all(m, t->v, t->n);
        memory_free(mem, MEM_VALUE, t, tuple_bytes(t->cap));
        break;
    }
    case V_RECORD: {
        record *r = (record *)o;
        release_all(m, r->v, r->n);
        memory_free(mem, MEM_VALUE, r->v, record_bytes(r->cap));
        memory_free(mem, MEM_VALUE, r, sizeof *r);
        break;
    }
    case V_FUNCTION: {
        closure *k = (closure *)o;
        if (k->residual)
            for (uint32_t i = 0; i < k->n; i++) value_unhold(m, k->captures[i]);
        release_all(m, k->captures, k->n);
        code_release(k->code);
        memory_free(mem, MEM_VALUE, k, closure_bytes(k->n));
        break;
    }
    case V_RESIDUAL:
    case V_TAPE: residual_dispose(m, o); break;
    case V_LOOP: looptape_dispose(m, o); break;
    case V_SLICE: {
        slice *s = (slice *)o;
        value_release(m, s->start);
        value_release(m, s->stop);
        value_release(m, s->step);
        memory_free(mem, MEM_VALUE, s, sizeof *s);
        break;
    }
    case V_FORMOBJ: {
        form *f = (form *)o;
        size_t bytes = form_bytes(f); /* before the parts go */
        if (f->parts) release_all(m, f->parts, f->n);
        memory_free(mem, MEM_VALUE, f, bytes);
        break;
    }
    case V_TABLE: {
        table *t = (table *)o;
        for (uint32_t i = 0; i < t->cap; i++)
            if (t->keys[i]) value_release(m, t->v[i]);
        memory_free(mem, MEM_VALUE, t->v, (size_t)t->cap * sizeof(value));
        memory_free(mem, MEM_VALUE, t->keys, (size_t)t->cap * sizeof(symbol));
        memory_free(mem, MEM_VALUE, t, sizeof *t);
        break;
    }
    default: assert(!"an object of no known kind");
    }
}

/* The counts of a dead object hold the link to the next one to free. */
_Static_assert(offsetof(object, kind) >= sizeof(object *), "the link fits before the kind");

void object_free(vm *m, object *o)
{
    memcpy((void *)o, &m->free_queue, sizeof m->free_queue);
    m->free_queue = o;
    if (m->freeing) return;
    m->freeing = true;
    while ((o = m->free_queue)) {
        memcpy(&m->free_queue, (const void *)o, sizeof m->free_queue);
        object_dispose(m, o);
    }
    m->freeing = false;
}

/* --- functional updates --------------------------------------------------------------------- */

/* A field's name stays where it is, and names are added at the end: the table only grows. */
static int64_t find_in_table(record *r, uint32_t *slots, uint32_t mask, symbol name)
{
    for (; r->indexed < r->n; r->indexed++) {
        uint32_t s = r->names[r->indexed] * 2654435769u & mask;
        while (slots[s]) s = (s + 1) & mask;
        slots[s] = r->indexed + 1;
    }
    for (uint32_t s = name * 2654435769u & mask; slots[s]; s = (s + 1) & mask)
        if (r->names[slots[s] - 1] == name) return slots[s] - 1;
    return -1;
}

int64_t record_find(const record *r, symbol name)
{
    uint32_t nslots = r->n > RECORD_SMALL ? record_slots(r->cap) : 0;
    if (nslots) return find_in_table((record *)r, (uint32_t *)(r->names + r->cap), nslots - 1, name);
    for (uint32_t i = 0; i < r->n; i++)
        if (r->names[i] == name) return i;
    return -1;
}

/* A capacity above n that makes appending cost amortised O(1); 0 when there is none. */
static uint32_t grown(uint32_t n)
{
    uint64_t cap = (uint64_t)n + n / 2 + 4;
    return cap >= UINT32_MAX ? 0 : (uint32_t)cap;
}

/* *t becomes a tuple with one reference and room for `n` elements. */
static bool tuple_own(vm *m, value *t, uint32_t n)
{
    tuple *a = as_tuple(*t);
    if (a->h.refs == 1 && a->cap >= n) return true;
    uint32_t cap = a->cap >= n ? a->n : grown(n);
    if (n > cap) return vm_fail(m, DIAG_VALUE, "a tuple of more than four thousand million elements");
    if (a->h.refs == 1) {
        tuple *b = memory_resize(&m->mem, MEM_VALUE, a, tuple_bytes(a->cap), tuple_bytes(cap));
        if (!b) return vm_out_of_memory(m);
        b->cap = cap;
        t->u.o = &b->h;
        return true;
    }
    tuple *b = tuple_new(m, a->n, cap);
    if (!b) return false;
    for (uint32_t i = 0; i < a->n; i++) b->v[i] = value_retain(a->v[i]);
    value_release(m, *t);
    t->u.o = &b->h;
    return true;
}

bool tuple_append(vm *m, value *t, value x)
{
    if (as_tuple(*t)->n == UINT32_MAX - 1) return vm_fail(m, DIAG_VALUE, "the tuple is full");
    if (!tuple_own(m, t, as_tuple(*t)->n + 1)) return false;
    tuple *a = as_tuple(*t);
    a->v[a->n++] = x;
    return true;
}

bool tuple_set(vm *m, value *t, uint32_t i, value x)
{
    if (!tuple_own(m, t, as_tuple(*t)->n)) return false;
    value old = as_tuple(*t)->v[i];
    as_tuple(*t)->v[i] = x;
    value_release(m, old);
    return true;
}

bool record_set(vm *m, value *r, symbol name, value x)
{
    record *a = as_record(*r);
    int64_t at = record_find(a, name);
    uint32_t n = a->n + (at < 0);
    if (a->h.refs != 1) {
        record *b = record_new(m, a->n, n);
        if (!b) return false;
        for (uint32_t i = 0; i < a->n; i++) {
            b->names[i] = a->names[i];
            b->v[i] = value_retain(a->v[i]);
        }
        value_release(m, *r);
        r->u.o = &b->h;
        a = b;
    } else if (n > a->cap) {
        uint32_t cap = grown(n);
        if (!cap) return vm_fail(m, DIAG_VALUE, "the record is full");
        char *both = memory_alloc(&m->mem, MEM_VALUE, record_bytes(cap));
        if (!both) return vm_out_of_memory(m);
        symbol *names = (symbol *)(both + (size_t)cap * sizeof(value));
        memcpy(both, a->v, a->n * sizeof(value));
        memcpy(names, a->names, a->n * sizeof(symbol));
        memory_free(&m->mem, MEM_VALUE, a->v, record_bytes(a->cap));
        a->v = (value *)both;
        a->names = names;
        a->cap = cap;
        a->indexed = 0;
    }
    if (at < 0) {
        a->names[a->n] = name;
        a->v[a->n++] = x;
    } else {
        value old = a->v[at];
        a->v[at] = x;
        value_release(m, old);
    }
    return true;
}

/* --- comparing and describing --------------------------------------------------------------- */

static bool scalar_same(value a, value b)
{
    if (a.tag != b.tag) return false;
    return a.u.i == b.u.i; /* the bits of a float, too */
}

/* m: may stop it, when the answer means nothing; NULL: nobody. */
static bool array_same(const vm *m, const array *a, const array *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank) return false;
    if (memcmp(a->dims, b->dims, a->rank * sizeof(int64_t)) != 0) return false;
    size_t es = dtype_size[a->dtype];
    if (a->dense && b->dense) return a->size == 0 || memcmp(a->data, b->data, (size_t)a->size * es) == 0;
    int64_t ix[RANK_MAX] = {0}, oa = 0, ob = 0;
    const int64_t *sa = array_stride(a), *sb = array_stride(b);
    for (int64_t k = 0; k < a->size; k++) {
        if (m && k % 65536 == 0 && INTERRUPTED(m)) return false;
        if (memcmp((const char *)a->data + oa * (int64_t)es, (const char *)b->data + ob * (int64_t)es, es) != 0) return false;
        for (int d = a->rank - 1; d >= 0; d--) {
            oa += sa[d], ob += sb[d];
            if (++ix[d] < a->dims[d]) break;
            oa -= ix[d] * sa[d], ob -= ix[d] * sb[d];
            ix[d] = 0;
        }
    }
    return true;
}

/* True when the answer is known without looking at parts; else *same is what is known so far. */
static bool same_shallow(const vm *m, value a, value b, bool *same)
{
    *same = false;
    if (a.tag != b.tag) return true;
    if (a.tag == V_FORM) {
        *same = a.aux == b.aux;
        return true;
    }
    if (!value_is_heap(a)) {
        *same = a.tag < V_BOOL || a.tag >= V_HEAP || scalar_same(a, b);
        return true;
    }
    *same = true;
    if (a.u.o == b.u.o) return true;
    switch ((value_tag)a.tag) {
    case V_ARRAY: *same = array_same(m, as_array(a), as_array(b)); return true;
    case V_STRING:
        *same = as_string(a)->length == as_string(b)->length && !memcmp(as_string(a)->s, as_string(b)->s, as_string(a)->length);
        return true;
    case V_TUPLE: *same = as_tuple(a)->n == as_tuple(b)->n; return !*same;
    case V_RECORD:
        *same = as_record(a)->n == as_record(b)->n && !memcmp(as_record(a)->names, as_record(b)->names, as_record(a)->n * sizeof(symbol));
        return !*same;
    case V_FUNCTION: *same = as_closure(a)->code == as_closure(b)->code && as_closure(a)->n == as_closure(b)->n; return !*same;
    case V_SLICE: return false;
    case V_FORMOBJ: *same = form_same(as_form(a), as_form(b)); return true;
    default: *same = false; return true;
    }
}

/* The k-th part of a structure; false beyond the last. */
static bool part_of(value v, uint32_t k, value *out)
{
    switch ((value_tag)v.tag) {
    case V_TUPLE:
        if (k >= as_tuple(v)->n) return false;
        *out = as_tuple(v)->v[k];
        return true;
    case V_RECORD:
        if (k >= as_record(v)->n) return false;
        *out = as_record(v)->v[k];
        return true;
    case V_FUNCTION:
        if (k >= as_closure(v)->n) return false;
        *out = as_closure(v)->captures[k];
        return true;
    case V_SLICE:
        if (k > 2) return false;
        *out = k == 0 ? as_slice(v)->start : k == 1 ? as_slice(v)->stop : as_slice(v)->step;
        return true;
    default: return false;
    }
}

/* A pair of structures that are equal before part k. */
typedef struct same_level {
    value a, b;
    uint32_t k;
} same_level;

/* Walks both structures together, on levels in the heap. The last part takes the place of its structure, so that a
   chain, a list made of pairs nested in the last element, needs but one level. */
static bool same_walk(memory *mem, vm *m, value a, value b, bool *same)
{
    same_level few[32], *of = few;
    uint32_t n = 0, cap = sizeof few / sizeof *few;
    uint64_t steps = 0;
    bool fine = true;
    for (*same = true; fine;) {
        value x, y = value_none(), more;
        if (!same_shallow(m, a, b, same)) {
            if (n == cap) {
                same_level *grown = memory_alloc(mem, MEM_OTHER, 2 * cap * sizeof *of);
                if (!(fine = grown != NULL)) break;
                memcpy(grown, of, n * sizeof *of);
                if (of != few) memory_free(mem, MEM_OTHER, of, cap * sizeof *of);
                of = grown, cap *= 2;
            }
            of[n++] = (same_level){a, b, 0};
        }
        if (!*same) break;
        while (n && !part_of(of[n - 1].a, of[n - 1].k, &x)) n--; /* a structure without parts */
        if (!n) break;
        same_level *l = &of[n - 1];
        part_of(l->b, l->k++, &y);
        if (!part_of(l->a, l->k, &more)) n--;
        a = x, b = y;
        if (m && ++steps % 65536 == 0 && vm_interrupted(m)) fine = false;
    }
    if (of != few) memory_free(mem, MEM_OTHER, of, cap * sizeof *of);
    return fine || (m && vm_out_of_memory(m));
}

bool value_same_to(vm *m, value a, value b, bool *same) { return same_walk(&m->mem, m, a, b, same); }

bool value_same(value a, value b)
{
    bool same = false;
    memory own; /* of deep structures' levels */
    if (!value_is_heap(a) || a.tag == V_ARRAY || a.tag == V_STRING) return same_shallow(NULL, a, b, &same) && same;
    if (!memory_open(&own)) return false;
    bool fine = same_walk(&own, NULL, a, b, &same);
    memory_close(&own);
    return fine && same;
}

const char *value_type_name(value v)
{
    switch ((value_tag)v.tag) {
    case V_BOOL:
    case V_I64:
    case V_F32:
    case V_F64:
    case V_ARRAY: return "array";
    case V_STRING: return "string";
    case V_TUPLE: return "tuple";
    case V_RECORD: return "record";
    case V_FUNCTION: return "function";
    case V_NONE: return "none";
    case V_ZERO: return "symbolic zero";
    case V_UNDEF: return "missing value";
    case V_FORM:
    case V_FORMOBJ: return "form";
    case V_RESIDUAL: return "residual";
    case V_TAPE: return "tape";
    case V_SLICE:
    case V_ELLIPSIS: return "slice";
    default: return "table";
    }
}

const char *value_a_type(value v)
{
    switch ((value_tag)v.tag) {
    case V_BOOL: return "a bool";
    case V_I64:
    case V_F32:
    case V_F64: return "a number";
    case V_ARRAY: return "an array";
    case V_STRING: return "a string";
    case V_TUPLE: return "a tuple";
    case V_RECORD: return "a record";
    case V_FUNCTION: return "a function";
    case V_SLICE:
    case V_ELLIPSIS: return "a slice";
    default: return value_type_name(v);
    }
}

void value_describe(vm *m, value v, text *out)
{
    switch ((value_tag)v.tag) {
    case V_BOOL:
    case V_I64:
    case V_F32:
    case V_F64: text_puts(out, v.weak ? "number" : dtype_name(scalar_dtype(v))); break;
    case V_ARRAY:
        text_puts(out, dtype_name(as_array(v)->dtype));
        shape_print(as_array(v)->rank, array_shape(as_array(v)), out);
        break;
    case V_TUPLE: text_printf(out, "tuple of %u", as_tuple(v)->n); break;
    case V_RECORD: {
        const record *r = as_record(v);
        text_puts(out, "record {");
        for (uint32_t i = 0; i < r->n && i < 6; i++) text_printf(out, "%s%s", i ? ", " : "", symbol_name(m->symbols, r->names[i]));
        text_puts(out, r->n > 6 ? ", ...}" : "}");
        break;
    }
    case V_FUNCTION: {
        const char *name = code_display_name(as_closure(v)->code);
        bool named = strchr(name, ' ') == NULL;
        text_printf(out, "%s%s", named ? "function " : "", name);
        break;
    }
    default: text_puts(out, value_type_name(v));
    }
}
