/* shape.c: what shapes and dtypes come of combining others.
 *
 * In go values or plain descriptions of them (`shaped`), out come shapes, dtypes and errors that
 * show both sides. Nothing here touches elements. What holds throughout: a rank-0 description has
 * no axes and its data points into the description itself. */
#include "vm.h"
#include <string.h>

bool shaped_of(const value *v, shaped *s)
{
    s->weak = STRONG;
    switch ((value_tag)v->tag) {
    case V_BOOL:
        s->dtype = DTYPE_BOOL;
        s->scalar.b = v->u.i != 0;
        break;
    case V_I64:
        s->dtype = DTYPE_I64;
        s->scalar.i64 = v->u.i;
        break;
    case V_F32:
        s->dtype = DTYPE_F32;
        s->scalar.f32 = (float)v->u.f;
        break;
    case V_F64:
        s->dtype = DTYPE_F64;
        s->scalar.f64 = v->u.f;
        s->weak = (weakness)v->weak;
        break;
    case V_ARRAY: {
        const array *a = as_array(*v);
        s->dtype = (dtype)a->dtype;
        s->rank = a->rank;
        s->size = a->size;
        memcpy(s->shape, a->dims, a->rank * sizeof(int64_t));
        memcpy(s->stride, a->dims + a->rank, a->rank * sizeof(int64_t));
        s->data = a->data;
        return true;
    }
    default: return false;
    }
    s->rank = 0;
    s->size = 1;
    s->data = &s->scalar;
    return true;
}

void shape_print(int rank, const int64_t *shape, text *out)
{
    text_putc(out, '[');
    for (int i = 0; i < rank; i++) text_printf(out, "%s%lld", i ? ", " : "", (long long)shape[i]);
    text_putc(out, ']');
}

/* "name: " before a message, or nothing. */
static void put_what(text *t, const char *what)
{
    if (what && *what) text_printf(t, "%s: ", what);
}

static bool broadcast_fail(vm *m, const char *what, const shaped *a, const shaped *b, int axis, int64_t x, int64_t y)
{
    text t;
    text_open(&t, &m->mem);
    put_what(&t, what);
    text_puts(&t, "shapes ");
    shape_print(a->rank, a->shape, &t);
    text_puts(&t, " and ");
    shape_print(b->rank, b->shape, &t);
    text_printf(&t, " do not fit: axis %d from the end is %lld on one side and %lld on the other", axis + 1, (long long)x, (long long)y);
    vm_fail(m, DIAG_SHAPE, "%s", text_str(&t));
    text_close(&t);
    return false;
}

static bool both_grow_fail(vm *m, const char *what, const shaped *a, const shaped *b)
{
    text t;
    text_open(&t, &m->mem);
    put_what(&t, what);
    text_puts(&t, "shapes ");
    shape_print(a->rank, a->shape, &t);
    text_puts(&t, " and ");
    shape_print(b->rank, b->shape, &t);
    text_puts(&t, " have different ranks and both would have to grow");
    vm_fail(m, DIAG_SHAPE, "%s", text_str(&t));
    text_close(&t);
    const shaped *low = a->rank < b->rank ? a : b, *high = low == a ? b : a;
    const char *side = low == a ? "left" : "right";
    if (high->shape[high->rank - 1] == 1 && low->rank == high->rank - 1)
        vm_help(m, "to go element by element, write x[..., 0] for the %s side; for all pairs, write x[none, ...] for the %s side",
                low == a ? "right" : "left", side);
    else vm_help(m, "to mean all pairs, give the %s side its missing axes: x[none, ...]", side);
    return false;
}

bool shape_broadcast(vm *m, const char *what, const shaped *a, const shaped *b, int *rank, int64_t *shape)
{
    int n = a->rank > b->rank ? a->rank : b->rank;
    bool agrow = false, bgrow = false;
    int64_t out[RANK_MAX] = {0};  /* `shape` may be one of the operands' */
    for (int i = 0; i < n; i++) { /* from the end */
        int64_t x = i < a->rank ? a->shape[a->rank - 1 - i] : 1;
        int64_t y = i < b->rank ? b->shape[b->rank - 1 - i] : 1;
        if (x != y && x != 1 && y != 1) return broadcast_fail(m, what, a, b, i, x, y);
        int64_t r = x == 1 ? y : x;
        if (r != x) agrow = true;
        if (r != y) bgrow = true;
        out[n - 1 - i] = r;
    }
    if (agrow && bgrow && a->rank != b->rank) return both_grow_fail(m, what, a, b);
    *rank = n;
    memcpy(shape, out, (size_t)n * sizeof *out);
    return true;
}

dtype dtype_promote(vm *m, const shaped *a, const shaped *b, weakness *weak)
{
    *weak = STRONG;
    if (a->weak && b->weak) {
        *weak = a->weak == WEAK_WHOLE && b->weak == WEAK_WHOLE ? WEAK_WHOLE : WEAK_FLOAT;
        return DTYPE_F64;
    }
    if (a->weak || b->weak) {
        const shaped *w = a->weak ? a : b, *s = a->weak ? b : a;
        if (s->dtype >= DTYPE_F32) return s->dtype;
        return w->weak == WEAK_WHOLE ? DTYPE_I64 : m->config.float_dtype;
    }
    return a->dtype > b->dtype ? a->dtype : b->dtype;
}

void shape_collapse(shaped *s)
{
    int n = 0;
    for (int i = 0; i < s->rank; i++) {
        if (s->shape[i] == 1) continue;
        if (n && s->stride[n - 1] == s->stride[i] * s->shape[i]) {
            s->shape[n - 1] *= s->shape[i];
            s->stride[n - 1] = s->stride[i];
        } else {
            s->shape[n] = s->shape[i];
            s->stride[n] = s->stride[i];
            n++;
        }
    }
    if (n == 0 && s->rank > 0) { /* one element */
        s->shape[0] = 1;
        s->stride[0] = 1;
        n = 1;
    }
    s->rank = n;
}
