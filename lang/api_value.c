/* api_value.c: the values of replay.h: making them, looking at them, and the handles on them.
 *
 * A handle is a list node of its VM that owns one reference to the value. Everything here may also be
 * called by a function of the host while a program runs. */
#include "api.h"
#include "../vm/kern_util.h"
#include "../vm/print.h"
#include <math.h>
#include <string.h>

_Static_assert((int)REPLAY_BOOL == DTYPE_BOOL && (int)REPLAY_I64 == DTYPE_I64 && (int)REPLAY_F32 == DTYPE_F32 &&
                   (int)REPLAY_F64 == DTYPE_F64,
               "the public dtypes are the VM's");
_Static_assert(REPLAY_RANK_MAX == RANK_MAX, "the public rank is the VM's");

/* --- handles ---------------------------------------------------------------------------------- */

replay_value *api_handle(replay *r, value v)
{
    vm *m = vm_of(r);
    replay_value *h = memory_alloc(&m->mem, MEM_OTHER, sizeof *h);
    if (!h) {
        value_release(m, v);
        vm_out_of_memory(m);
        api_failed(r);
        return NULL;
    }
    *h = (replay_value){.r = r, .after = r->values, .refs = 1, .v = v};
    if (r->values) r->values->before = h;
    r->values = h;
    return h;
}

replay_value *replay_retain(replay_value *v)
{
    if (v) v->refs++;
    return v;
}

static void text_drop(replay_value *v)
{
    memory_free(&vm_of(v->r)->mem, MEM_OTHER, v->text, v->text_bytes);
    v->text = NULL;
}

void replay_release(replay_value *v)
{
    if (!v || --v->refs) return;
    replay *r = v->r;
    vm *m = vm_of(r);
    if (v->before) v->before->after = v->after;
    else r->values = v->after;
    if (v->after) v->after->before = v->before;
    text_drop(v);
    value_release(m, v->v);
    memory_free(&m->mem, MEM_OTHER, v, sizeof *v);
}

/* --- making ----------------------------------------------------------------------------------- */

static replay_value *made(replay *r, value v)
{
    api_begin(r);
    return api_handle(r, v);
}

replay_value *replay_none(replay *r) { return made(r, value_none()); }
replay_value *replay_bool(replay *r, bool x) { return made(r, value_bool(x)); }
replay_value *replay_i64(replay *r, int64_t x) { return made(r, value_i64(x)); }
replay_value *replay_f64(replay *r, double x) { return made(r, value_f64(x)); }
replay_value *replay_f32(replay *r, float x) { return made(r, value_f32(x)); }

replay_value *replay_number(replay *r, double x)
{
    bool whole = floor(x) == x && fabs(x) < 0x1p53;
    return made(r, value_weak(x, whole ? WEAK_WHOLE : WEAK_FLOAT));
}

/* NULL with the error where replay_error finds it. */
static replay_value *refused(replay *r)
{
    api_failed(r);
    return NULL;
}

replay_value *replay_string(replay *r, const char *s, size_t length)
{
    api_begin(r);
    size_t n = length ? length : strlen(s);
    uint32_t point;
    for (size_t i = 0; i < n;) {
        int k = utf8_decode(s + i, n - i, &point);
        if (!k) {
            api_fail(r, DIAG_VALUE, "the text is not UTF-8 from byte %zu on", i);
            return NULL;
        }
        i += (size_t)k;
    }
    if (n > UINT32_MAX / 2) {
        api_fail(r, DIAG_VALUE, "a text of %zu bytes is too long for a string", n);
        return NULL;
    }
    string *t = string_new(vm_of(r), s, n);
    return t ? api_handle(r, value_object(&t->h)) : refused(r);
}

replay_value *replay_tuple(replay *r, const replay_value *const *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!parts[i]) return NULL;
    api_begin(r);
    if (n > UINT32_MAX / 2) {
        api_fail(r, DIAG_VALUE, "a tuple of %zu parts is too long", n);
        return NULL;
    }
    tuple *t = tuple_new(vm_of(r), (uint32_t)n, (uint32_t)n);
    if (!t) return refused(r);
    for (size_t i = 0; i < n; i++) t->v[i] = value_retain(parts[i]->v);
    return api_handle(r, value_object(&t->h));
}

replay_value *replay_record(replay *r, const char *const *names, const replay_value *const *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!parts[i]) return NULL;
    api_begin(r);
    vm *m = vm_of(r);
    record *k = n <= UINT32_MAX / 2 ? record_new(m, 0, (uint32_t)n) : NULL;
    if (!k) return refused(r);
    value v = value_object(&k->h);
    for (size_t i = 0; i < n; i++) {
        symbol y = symbol_of(m->symbols, names[i], strlen(names[i]));
        if (!y) vm_out_of_memory(m);
        else if (record_find(as_record(v), y) >= 0) vm_fail(m, DIAG_NAME, "the field %s is there twice", names[i]);
        else if (record_set(m, &v, y, parts[i]->v)) {
            value_retain(parts[i]->v);
            continue;
        }
        value_release(m, v);
        return refused(r);
    }
    return api_handle(r, v);
}

static bool rank_fits(replay *r, int rank, int least, replay_dtype d)
{
    if (d > REPLAY_F64) return api_fail(r, DIAG_TYPE, "an unknown dtype");
    if (rank >= least && rank <= RANK_MAX) return true;
    return api_fail(r, DIAG_SHAPE, "an array of rank %d: from %d to %d is possible", rank, least, RANK_MAX);
}

replay_value *replay_array(replay *r, replay_dtype d, int rank, const int64_t *shape, const void *data)
{
    api_begin(r);
    if (!rank_fits(r, rank, 0, d)) return NULL;
    if (rank == 0) {
        value v;
        switch (d) {
        case REPLAY_BOOL: v = value_bool(*(const uint8_t *)data != 0); break;
        case REPLAY_I64: v = value_i64(*(const int64_t *)data); break;
        case REPLAY_F32: v = value_f32(*(const float *)data); break;
        default: v = value_f64(*(const double *)data); break;
        }
        return api_handle(r, v);
    }
    array *a = array_new(vm_of(r), (dtype)d, rank, shape);
    if (!a) return refused(r);
    if (a->size) memcpy(a->data, data, (size_t)a->size * dtype_size[d]);
    if (d == REPLAY_BOOL)
        for (int64_t i = 0; i < a->size; i++) ((uint8_t *)a->data)[i] = ((uint8_t *)a->data)[i] != 0;
    return api_handle(r, value_object(&a->h));
}

replay_value *replay_wrap(replay *r, replay_dtype d, int rank, const int64_t *shape, const int64_t *strides, const void *data,
                          void (*done)(void *user, void *data), void *user)
{
    api_begin(r);
    if (!rank_fits(r, rank, 1, d)) return NULL;
    union {
        const void *in;
        void *out;
    } p = {data}; /* no buffer of another's is ever written */
    array *a = array_wrap(vm_of(r), (dtype)d, rank, shape, strides, p.out, NULL, user);
    if (!a) return refused(r);
    replay_value *h = api_handle(r, value_object(&a->h));
    if (h) ((foreign_buffer *)as_array(h->v)->buf)->done = done; /* from here on it will be called */
    return h;
}

/* --- looking ---------------------------------------------------------------------------------- */

replay_type replay_type_of(const replay_value *v)
{
    if (!v) return REPLAY_NONE;
    if (value_is_scalar(v->v)) return REPLAY_ARRAY;
    switch (v->v.tag) {
    case V_NONE:
    case V_UNDEF: return REPLAY_NONE;
    case V_ARRAY:
    case V_ZERO: return REPLAY_ARRAY;
    case V_STRING: return REPLAY_STRING;
    case V_TUPLE: return REPLAY_TUPLE;
    case V_RECORD: return REPLAY_RECORD;
    case V_FUNCTION: return REPLAY_FUNCTION;
    default: return REPLAY_OTHER;
    }
}

/* The value as numbers, described in the handle. */
static bool numbers_of(replay_value *v, shaped **s)
{
    if (!v) return false;
    api_begin(v->r);
    value x = v->v.tag == V_ZERO ? value_f64(0) : v->v;
    *s = &v->number;
    if (shaped_of(&x, &v->number)) return true;
    return api_fail(v->r, DIAG_TYPE, "this is %s, not numbers", value_a_type(v->v));
}

bool replay_view_of(replay_value *v, replay_view *view)
{
    shaped *s;
    if (!numbers_of(v, &s)) return false;
    *view = (replay_view){.dtype = (replay_dtype)s->dtype,
                          .rank = s->rank,
                          .size = s->size,
                          .shape = s->shape,
                          .strides = s->stride,
                          .data = s->data,
                          .dense = s->rank == 0 || as_array(v->v)->dense};
    return true;
}

bool replay_read(replay_value *v, replay_dtype d, void *to, size_t room)
{
    shaped *s;
    if (!numbers_of(v, &s)) return false;
    if (d > REPLAY_F64) return api_fail(v->r, DIAG_TYPE, "an unknown dtype");
    if ((uint64_t)s->size != room)
        return api_fail(v->r, DIAG_VALUE, "there is room for %zu elements, and the array has %lld", room, (long long)s->size);
    if (s->size) shape_gather(s, (dtype)d, to, 0, s->size);
    return true;
}

bool replay_to_double(replay_value *v, double *x)
{
    shaped *s;
    if (!numbers_of(v, &s)) return false;
    if (s->rank) return api_fail(v->r, DIAG_TYPE, "this is an array, not one number");
    shape_gather(s, DTYPE_F64, x, 0, 1);
    return true;
}

bool replay_to_i64(replay_value *v, int64_t *x)
{
    double f;
    if (!replay_to_double(v, &f)) return false;
    if (v->number.dtype == DTYPE_I64) {
        *x = v->v.u.i;
        return true;
    }
    if (!(floor(f) == f && in_i64(f))) return api_fail(v->r, DIAG_VALUE, "%g is no whole number of 64 bits", f);
    *x = (int64_t)f;
    return true;
}

const char *replay_text_of(replay_value *v, size_t *length)
{
    if (!v) return NULL;
    api_begin(v->r);
    if (v->v.tag != V_STRING) {
        api_fail(v->r, DIAG_TYPE, "this is %s, not a string", value_a_type(v->v));
        return NULL;
    }
    if (length) *length = as_string(v->v)->length;
    return as_string(v->v)->s;
}

size_t replay_length(const replay_value *v)
{
    if (!v) return 0;
    switch (v->v.tag) {
    case V_TUPLE: return as_tuple(v->v)->n;
    case V_RECORD: return as_record(v->v)->n;
    case V_STRING: return as_string(v->v)->length;
    case V_ARRAY: return (size_t)as_array(v->v)->dims[0];
    default: return 0;
    }
}

replay_value *replay_item(replay_value *v, size_t i)
{
    if (!v) return NULL;
    api_begin(v->r);
    if (v->v.tag != V_TUPLE && v->v.tag != V_RECORD) {
        api_fail(v->r, DIAG_TYPE, "this is %s, not a tuple or record", value_a_type(v->v));
        return NULL;
    }
    if (i >= replay_length(v)) {
        api_fail(v->r, DIAG_INDEX, "there are %zu parts, and this is number %zu", replay_length(v), i);
        return NULL;
    }
    return api_handle(v->r, value_retain(v->v.tag == V_TUPLE ? as_tuple(v->v)->v[i] : as_record(v->v)->v[i]));
}

replay_value *replay_field(replay_value *v, const char *name)
{
    if (!v) return NULL;
    api_begin(v->r);
    if (v->v.tag != V_RECORD) {
        api_fail(v->r, DIAG_TYPE, "this is %s, not a record", value_a_type(v->v));
        return NULL;
    }
    const record *k = as_record(v->v);
    for (uint32_t i = 0; i < k->n; i++)
        if (!strcmp(symbol_name(vm_of(v->r)->symbols, k->names[i]), name)) return api_handle(v->r, value_retain(k->v[i]));
    api_fail(v->r, DIAG_NAME, "the record has no field `%s`", name);
    return NULL;
}

const char *replay_field_name(replay_value *v, size_t i)
{
    if (!v || v->v.tag != V_RECORD || i >= as_record(v->v)->n) return NULL;
    return symbol_name(vm_of(v->r)->symbols, as_record(v->v)->names[i]);
}

const char *replay_print(replay_value *v)
{
    if (!v) return NULL;
    vm *m = vm_of(v->r);
    api_begin(v->r);
    text_drop(v);
    text t;
    text_open(&t, &m->mem);
    value_print(m, v->v, PRINT_PLAIN, &t);
    v->text_bytes = t.n + 1;
    if (!t.failed) v->text = memory_alloc(&m->mem, MEM_OTHER, v->text_bytes);
    if (v->text) memcpy(v->text, text_str(&t), v->text_bytes);
    text_close(&t);
    if (!v->text) {
        if (!m->error) vm_out_of_memory(m);
        api_failed(v->r);
    }
    return v->text;
}
