/* test_index.c: index plans against a slow reading of NumPy's rules, element by element; updates in place and
 * not; sequences; and that nothing is held when memory is refused. */
#include "views.h"
#include "index.h"
#include "machine.h"

static void expect_error(void)
{
    ck_assert(m->error != NULL);
    clear_error();
}

/* --- random indices and what they mean --------------------------------------------------------------- */

static int64_t below(int64_t n) { return (int64_t)(view_random() % (uint64_t)n); }

static value random_slice(int64_t n)
{
    value part[3] = {value_none(), value_none(), value_none()};
    for (int i = 0; i < 2; i++)
        if (below(3)) part[i] = value_i64(below(2 * n + 4) - n - 2);
    if (below(2)) part[2] = value_i64((below(2) ? 1 : -1) * (1 + below(3)));
    return value_object(&slice_new(m, part[0], part[1], part[2])->h);
}
static value random_places(int64_t n, int rank, const int64_t *shape, bool floats)
{
    array *a = array_new(m, floats ? DTYPE_F64 : DTYPE_I64, rank, shape);
    for (int64_t i = 0; i < a->size; i++) array_put(a, i, value_i64(below(2 * n) - n));
    return value_object(&a->h);
}

/* For each axis of x the place that selection index `at` means; NumPy's rules, the slow way. */
typedef struct meaning {
    int rank;
    int64_t shape[RANK_MAX];
    const value *part;
    uint32_t n;
    int brank;
    int64_t bshape[RANK_MAX];
    int where;
    bool any;
    const array *x;
} meaning;

static int64_t slice_count(value s, int64_t n, int64_t *start, int64_t *step)
{
    const slice *v = as_slice(s);
    *step = v->step.tag == V_NONE ? 1 : v->step.u.i;
    int64_t lo = *step > 0 ? 0 : -1, hi = *step > 0 ? n : n - 1, a = *step > 0 ? lo : hi, b = *step > 0 ? hi : lo, count = 0;
    if (v->start.tag != V_NONE) {
        a = v->start.u.i;
        if (a < 0) a += n;
        a = a < lo ? lo : a > hi ? hi : a;
    }
    if (v->stop.tag != V_NONE) {
        b = v->stop.u.i;
        if (b < 0) b += n;
        b = b < lo ? lo : b > hi ? hi : b;
    }
    *start = a;
    for (int64_t i = a; *step > 0 ? i < b : i > b; i += *step) count++;
    return count;
}

static void meaning_of(meaning *w, const array *x, const value *part, uint32_t n)
{
    *w = (meaning){.part = part, .n = n, .x = x, .where = -1};
    int axis = 0, last = -2, first = -1;
    bool apart = false;
    for (uint32_t i = 0; i < n; i++) w->any = w->any || part[i].tag == V_ARRAY;
    int used = 0;
    for (uint32_t i = 0; i < n; i++) used += part[i].tag != V_NONE && part[i].tag != V_ELLIPSIS;
    for (uint32_t i = 0; i < n; i++) {
        int64_t start, step;
        value v = part[i];
        if (w->any && (v.tag == V_ARRAY || v.tag == V_I64)) {
            if (first < 0) first = w->rank;
            else if (last != (int)i - 1) apart = true;
            last = (int)i;
        }
        if (v.tag == V_NONE) w->shape[w->rank++] = 1;
        else if (v.tag == V_ELLIPSIS)
            for (int k = x->rank - used; k > 0; k--) w->shape[w->rank++] = array_shape(x)[axis++];
        else if (v.tag == V_SLICE) w->shape[w->rank++] = slice_count(v, array_shape(x)[axis++], &start, &step);
        else {
            if (v.tag == V_ARRAY) {
                const array *a = as_array(v);
                int64_t grown[RANK_MAX];
                int r = a->rank > w->brank ? a->rank : w->brank;
                for (int k = 0; k < r; k++) {
                    int64_t p = k < r - a->rank ? 1 : array_shape(a)[k - (r - a->rank)],
                            q = k < r - w->brank ? 1 : w->bshape[k - (r - w->brank)];
                    grown[k] = p == 1 ? q : p;
                }
                memcpy(w->bshape, grown, sizeof grown);
                w->brank = r;
            }
            axis++;
        }
    }
    while (axis < x->rank) w->shape[w->rank++] = array_shape(x)[axis++];
    if (!w->any) return;
    w->where = apart ? 0 : first;
    memmove(w->shape + w->where + w->brank, w->shape + w->where, (size_t)(w->rank - w->where) * sizeof(int64_t));
    memcpy(w->shape + w->where, w->bshape, (size_t)w->brank * sizeof(int64_t));
    w->rank += w->brank;
}

static value meaning_at(const meaning *w, const int64_t *at)
{
    int64_t place[RANK_MAX];
    int axis = 0, k = 0;
#define NEXT() (w->any && k == w->where ? (k += w->brank, at[k++]) : at[k++])
    int used = 0;
    for (uint32_t i = 0; i < w->n; i++) used += w->part[i].tag != V_NONE && w->part[i].tag != V_ELLIPSIS;
    for (uint32_t i = 0; i < w->n; i++) {
        value v = w->part[i];
        int64_t start, step, n = axis < w->x->rank ? array_shape(w->x)[axis] : 0;
        if (v.tag == V_NONE) (void)NEXT();
        else if (v.tag == V_ELLIPSIS)
            for (int r = w->x->rank - used; r > 0; r--) place[axis++] = NEXT();
        else if (v.tag == V_SLICE) {
            slice_count(v, n, &start, &step);
            place[axis++] = start + NEXT() * step;
        } else if (v.tag == V_ARRAY) {
            const array *a = as_array(v);
            int64_t ix[RANK_MAX];
            for (int r = 0; r < a->rank; r++) ix[r] = array_shape(a)[r] == 1 ? 0 : at[w->where + w->brank - a->rank + r];
            value p = array_get(a, ix);
            int64_t q = p.tag == V_I64 ? p.u.i : (int64_t)p.u.f;
            place[axis++] = q < 0 ? q + n : q;
        } else place[axis++] = v.u.i < 0 ? v.u.i + n : v.u.i;
    }
    while (axis < w->x->rank) place[axis++] = NEXT();
    return array_get(w->x, place);
}

/* A random index for x, as components. */
static uint32_t random_index(const array *x, value *part)
{
    uint32_t n = 0;
    int64_t one[2] = {1 + below(4), 1 + below(3)};
    int dots = (int)below(4), cut = (int)below(x->rank + 1), skipped = dots == 0 ? (int)below(x->rank) : 0;
    for (int axis = 0; axis < x->rank; axis++) {
        if (below(6) == 0) part[n++] = value_none();
        if (dots == 0 && axis == cut) {
            part[n++] = (value){.tag = V_ELLIPSIS};
            axis += skipped;
            if (axis >= x->rank) break;
        }
        if (dots == 1 && axis == cut) break;
        int64_t size = array_shape(x)[axis];
        switch (below(5)) {
        case 0:
            if (size) {
                part[n++] = value_i64(below(2 * size) - size);
                break;
            } /* fall through */
        case 1:
        case 2: part[n++] = random_slice(size); break;
        case 3:
            if (size) {
                part[n++] = random_places(size, 1, one, below(2));
                break;
            } /* fall through */
        default:
            if (size && below(2)) {
                part[n++] = random_places(size, 2, (int64_t[]){one[1], below(2) ? one[0] : 1}, false);
                break;
            }
            part[n++] = random_slice(size);
        }
    }
    return n;
}

START_TEST(selections_mean_what_numpy_says)
{
    m = vm_open(NULL);
    for (int round = 0; round < 20000; round++) {
        int rank = 1 + (int)below(4);
        int64_t shape[RANK_MAX];
        for (int i = 0; i < rank; i++) shape[i] = below(12) ? 1 + below(5) : 0;
        value x = view_make(m, (dtype)below(4), rank, shape, (view_kind)below(VIEWS), view_number), part[16], out;
        uint32_t n = random_index(as_array(x), part);
        tuple *t = tuple_new(m, n, n);
        for (uint32_t i = 0; i < n; i++) t->v[i] = part[i];
        meaning w;
        meaning_of(&w, as_array(x), part, n);
        value args[3] = {x, value_object(&t->h)};
        if (w.rank > RANK_MAX || !apply_last("__index", 2, args, 0, &out)) expect_error();
        else {
            int64_t at[RANK_MAX] = {0};
            if (w.rank == 0) ck_assert(view_equal(out, meaning_at(&w, at)));
            else {
                ck_assert(out.tag == V_ARRAY && as_array(out)->rank == w.rank);
                for (int i = 0; i < w.rank; i++) ck_assert_int_eq(array_shape(as_array(out))[i], w.shape[i]);
                if (as_array(out)->size) do
                        ck_assert(view_equal(array_get(as_array(out), at), meaning_at(&w, at)));
                    while (view_step(w.rank, w.shape, at));
            }
            /* Writing back what was read changes nothing; x itself stays as it was in any case. */
            value before = value_object(&array_copy(m, as_array(x), (dtype)as_array(x)->dtype)->h), set;
            args[2] = out;
            set = call_last("__setindex", 3, args, 0);
            ck_assert(value_same(x, before) && value_same(set, before));
            /* One number everywhere: every place that reading meets has it, and no other. */
            value_release(m, set);
            args[2] = as_array(x)->dtype == DTYPE_BOOL ? value_bool(true) : value_i64(77);
            set = call_last("__setindex", 3, args, 0);
            meaning v = w;
            v.x = as_array(set);
            memset(at, 0, sizeof at);
            if (w.rank == 0) ck_assert(meaning_at(&v, at).tag != V_UNDEF);
            else if (as_array(out)->size) do {
                    value e = meaning_at(&v, at);
                    ck_assert(e.tag == V_BOOL || e.tag == V_I64 ? e.u.i == args[2].u.i : e.u.f == 77);
                } while (view_step(w.rank, w.shape, at));
            value_release(m, set);
            value_release(m, before);
            value_release(m, out);
        }
        value_release(m, args[1]);
        value_release(m, x);
    }
    vm_close(m);
}
END_TEST

START_TEST(masks_select_in_order)
{
    m = vm_open(NULL);
    int64_t shape[3] = {4, 3, 5};
    for (int round = 0; round < 200; round++)
        for (int mrank = 1; mrank <= 3; mrank++) {
            value x = view_make(m, DTYPE_F64, 3, shape, (view_kind)below(VIEWS), view_number);
            value k = view_make(m, DTYPE_BOOL, mrank, shape, (view_kind)below(VIEWS), view_number), args[2] = {x, k},
                  out = call_last("__index", 2, args, 0);
            int64_t at[RANK_MAX] = {0}, o = 0, rest = mrank == 3 ? 1 : mrank == 2 ? 5 : 15;
            do {
                if (!array_get(as_array(k), at).u.i) continue;
                int64_t in[RANK_MAX];
                memcpy(in, at, sizeof in);
                for (int64_t r = 0; r < rest; r++) {
                    if (mrank < 3) in[2] = r % 5;
                    if (mrank < 2) in[1] = r / 5;
                    ck_assert(view_equal(array_at(as_array(out), o++), array_get(as_array(x), in)));
                }
            } while (view_step(mrank, shape, at));
            ck_assert_int_eq(o, as_array(out)->size);
            value_release(m, out);
            value_release(m, k);
            value_release(m, x);
        }
    vm_close(m);
}
END_TEST

START_TEST(updates_are_in_place_when_alone)
{
    m = vm_open(NULL);
    int64_t n = 10;
    array *a = array_zeros(m, DTYPE_F64, 1, &n);
    value args[3] = {value_object(&a->h), value_i64(3), value_f64(5)}, out = call_last("__setindex", 3, args, 1);
    ck_assert(out.u.o == &a->h && array_at(a, 3).u.f == 5); /* the same array, one more reference */
    value again = call_last("__setindex", 3, args, 1);      /* now held twice: a copy */
    ck_assert(again.u.o != &a->h);
    value_release(m, again);
    value_release(m, out);
    tuple *t = tuple_new(m, 2, 2);
    t->v[0] = value_i64(1), t->v[1] = args[0];
    args[0] = value_object(&t->h), args[1] = value_i64(1), args[2] = value_none();
    out = call_last("__setindex", 3, args, 1);
    ck_assert(out.u.o == &t->h && t->v[1].tag == V_NONE);
    value_release(m, out);
    args[1] = value_i64(2);
    ck_assert(!apply_last("__setindex", 3, args, 1, &out));
    expect_error();
    value_release(m, args[0]);
    /* Repeated places: the last wins; scatter_add adds every one. */
    int64_t three = 3;
    array *x = array_zeros(m, DTYPE_F32, 1, &n), *ix = array_zeros(m, DTYPE_I64, 1, &three), *v = array_zeros(m, DTYPE_F64, 1, &three);
    for (int64_t i = 0; i < 3; i++) ((double *)v->data)[i] = (double)(i + 1);
    value w[3] = {value_object(&x->h), value_object(&ix->h), value_object(&v->h)};
    out = call_last("__setindex", 3, w, 0);
    ck_assert(as_array(out)->dtype == DTYPE_F32 && array_at(as_array(out), 0).u.f == 3);
    value_release(m, out);
    out = call_last("scatter_add", 3, w, 0);
    ck_assert(array_at(as_array(out), 0).u.f == 6);
    value_release(m, out);
    for (int i = 0; i < 3; i++) value_release(m, w[i]);
    vm_close(m);
}
END_TEST

START_TEST(refused_memory_holds_nothing)
{
    for (uint64_t k = 1; k < 12; k++) {
        m = vm_open(NULL);
        int64_t shape[2] = {6, 7}, n = 9;
        value x = view_make(m, DTYPE_F64, 2, shape, VIEW_TURNED, view_number), ix = random_places(6, 1, &n, false), out;
        size_t live = m->mem.live_all;
        value args[3] = {x, ix, value_f64(1)};
        m->mem.fail_at = m->mem.count + k;
        bool read = apply_last("__index", 2, args, 0, &out);
        if (read) value_release(m, out);
        bool wrote = read && apply_last("__setindex", 3, args, 0, &out);
        if (wrote) value_release(m, out);
        m->mem.fail_at = 0;
        if (!read || !wrote) expect_error();
        ck_assert(m->mem.live_all == live);
        value_release(m, x);
        value_release(m, ix);
        vm_close(m);
    }
}
END_TEST

UNIT_MAIN("index", selections_mean_what_numpy_says, masks_select_in_order, updates_are_in_place_when_alone, refused_memory_holds_nothing)
