/* index.c: the engine behind x[…]: resolving an index into a plan, and reading, writing, adding to and
 * clearing what a plan selects. See index.h for what a plan is. Nothing here knows of prim_call. */
#include "index.h"
#include "kern_util.h"

void shaped_dense(shaped *s, dtype d, int rank, const int64_t *shape)
{
    *s = (shaped){.dtype = d, .rank = rank, .size = shape_size(rank, shape)};
    for (int i = 0; i < rank; i++) s->shape[i] = shape[i];
    dense_strides(rank, shape, s->stride);
}

void shaped_array(shaped *s, const array *a)
{
    *s = (shaped){.dtype = (dtype)a->dtype, .rank = a->rank, .size = a->size, .data = a->data};
    for (int i = 0; i < a->rank; i++) {
        s->shape[i] = array_shape(a)[i];
        s->stride[i] = array_stride(a)[i];
    }
}

bool shaped_stretch(const shaped *v, int rank, const int64_t *shape, int64_t *stride)
{
    int skip = v->rank > rank ? v->rank - rank : 0;
    for (int i = 0; i < skip; i++)
        if (v->shape[i] != 1) return false;
    int vr = v->rank - skip;
    for (int i = 0; i < rank; i++) {
        int k = i - (rank - vr);
        if (k < 0) {
            stride[i] = 0;
            continue;
        }
        k += skip;
        if (v->shape[k] == shape[i]) stride[i] = v->stride[k];
        else if (v->shape[k] == 1) stride[i] = 0;
        else return false;
    }
    return true;
}

bool index_whole(value v, int64_t *out)
{
    if (v.tag == V_I64) {
        *out = v.u.i;
        return true;
    }
    if (!value_is_float(v)) return false;
    double x = v.u.f;
    if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0) || x != floor(x)) return false;
    *out = (int64_t)x;
    return true;
}

static bool out_of_range(vm *m, int64_t i, int axis, int64_t size)
{
    vm_fail(m, DIAG_INDEX, "index %lld is out of range for axis %d, which has %lld element%s", (long long)i, axis, (long long)size,
            size == 1 ? "" : "s");
    return false;
}

static bool not_an_index(vm *m, value v)
{
    if (value_is_float(v)) {
        if (v.u.f == floor(v.u.f)) return vm_fail(m, DIAG_INDEX, "index %.9g is out of range", v.u.f);
        vm_fail(m, DIAG_INDEX, "an index must be whole, not %.17g", v.u.f);
        vm_help(m, "i64(x) drops the fraction; `//` divides whole numbers");
    } else if (v.tag == V_BOOL) {
        vm_fail(m, DIAG_INDEX, "a single bool is not an index");
        vm_help(m, "an `if`, or `where(condition, a, b)`, chooses; a bool array selects");
    } else vm_fail(m, DIAG_INDEX, "an array is not indexed by %s", value_a_type(v));
    return false;
}

/* A bound of a slice, clipped into [low, high]; none gives deflt. */
static bool slice_bound(vm *m, value v, const char *which, int64_t n, int64_t low, int64_t high, int64_t deflt, int64_t *out)
{
    if (v.tag == V_NONE || v.tag == V_UNDEF) {
        *out = deflt;
        return true;
    }
    int64_t i;
    if (!index_whole(v, &i)) {
        if (v.tag == V_F64 && isinf(v.u.f)) {
            *out = v.u.f > 0 ? high : low;
            return true;
        }
        if (value_is_float(v)) return vm_fail(m, DIAG_INDEX, "a slice's %s must be whole, not %.17g", which, v.u.f);
        return vm_fail(m, DIAG_INDEX, "a slice's %s must be a whole number, not %s", which, value_a_type(v));
    }
    if (i < 0) i = i < -n ? low : i + n;
    *out = i < low ? low : i > high ? high : i;
    return true;
}

static bool slice_resolve(vm *m, const slice *s, int64_t n, int64_t *start, int64_t *step, int64_t *count)
{
    *step = 1;
    if (s->step.tag != V_NONE && s->step.tag != V_UNDEF && !index_whole(s->step, step))
        return vm_fail(m, DIAG_INDEX, "a slice's step must be a whole number");
    if (*step == 0) return vm_fail(m, DIAG_INDEX, "a slice's step cannot be 0");
    bool up = *step > 0;
    int64_t low = up ? 0 : -1, high = up ? n : n - 1, stop;
    if (!slice_bound(m, s->start, "start", n, low, high, up ? low : high, start)) return false;
    if (!slice_bound(m, s->stop, "stop", n, low, high, up ? high : low, &stop)) return false;
    if (up) *count = stop > *start ? (stop - *start - 1) / *step + 1 : 0;
    else *count = *start > stop ? (*start - stop - 1) / (*step == INT64_MIN ? INT64_MAX : -*step) + 1 : 0;
    if (*count == 0) *start = 0;
    if (*count <= 1) *step = 1;
    return true;
}

bool index_sequence(vm *m, const char *what, int64_t n, value ix, bool *single, int64_t *start, int64_t *step, int64_t *count)
{
    if (ix.tag == V_TUPLE && as_tuple(ix)->n == 1) ix = as_tuple(ix)->v[0];
    *single = false;
    *step = *count = 1;
    if (ix.tag == V_SLICE) return slice_resolve(m, as_slice(ix), n, start, step, count);
    if (ix.tag == V_ELLIPSIS) {
        *start = 0;
        *count = n;
        return true;
    }
    int64_t i;
    if (!index_whole(ix, &i)) {
        if (value_is_float(ix) && ix.u.f == floor(ix.u.f)) vm_fail(m, DIAG_INDEX, "index %.9g is out of range", ix.u.f);
        else if (value_is_float(ix)) vm_fail(m, DIAG_INDEX, "an index must be whole, not %.17g", ix.u.f);
        else if (ix.tag == V_TUPLE) {
            vm_fail(m, DIAG_INDEX, "%s has one axis and takes one index", what);
            vm_help(m, "t[i][j] indexes an element of an element");
        } else
            vm_fail(m, DIAG_INDEX, "%s is indexed by a whole number or a slice, not by a%s %s", what, ix.tag == V_ARRAY ? "n" : "",
                    ix.tag == V_BOOL ? "bool" : value_type_name(ix));
        return false;
    }
    if (i < -n || i >= n)
        return vm_fail(m, DIAG_INDEX, "index %lld is out of range for %s of %lld element%s", (long long)i, what, (long long)n,
                       n == 1 ? "" : "s");
    *single = true;
    *start = i < 0 ? i + n : i;
    return true;
}

/* --- resolving ------------------------------------------------------------------------------ */

typedef struct picker { /* an index array or a mask, and the axes of x it stands for */
    shaped s;
    int axis, naxes; /* naxes > 0 for a mask */
    int64_t count;   /* selected by a mask */
} picker;

static int64_t mask_count(const vm *m, const shaped *s)
{
    int64_t n = 0, at[RANK_MAX] = {0}, o = 0, p = 0;
    if (s->size == 0) return 0;
    if (s->rank == 1 && s->stride[0] == 1) {
        for (int64_t i = 0; i < s->size; i++) n += ((const uint8_t *)s->data)[i];
        return n;
    }
    do n += ((const uint8_t *)s->data)[o];
    while (!odometer_stops(m, s->rank, at) && odometer(s->rank, s->shape, at, s->stride, &o, s->stride, &p));
    return n;
}

/* Adds the offsets of a mask's elements to offs, whose k-th entry is for the (k / inner % count)-th. */
static void mask_offsets(const vm *m, const picker *p, const shaped *x, int64_t inner, int64_t *offs, int64_t n)
{
    const shaped *s = &p->s;
    int64_t at[RANK_MAX] = {0}, o = 0, off = 0, k = 0;
    if (p->count == 0) return;
    int64_t period = inner * p->count;
    do {
        if (!((const uint8_t *)s->data)[o]) continue;
        for (int64_t base = k * inner; base < n; base += period)
            for (int64_t j = 0; j < inner; j++) offs[base + j] += off;
        k++;
    } while (!odometer_stops(m, s->rank, at) && odometer(s->rank, s->shape, at, s->stride, &o, x->stride + p->axis, &off));
}

static bool pick(vm *m, const shaped *s, int64_t o, int axis, int64_t size, int64_t *i)
{
    if (s->dtype == DTYPE_I64) *i = ((const int64_t *)s->data)[o];
    else {
        double f = read_f64(s->dtype, s->data, o);
        if (!index_whole(value_f64(f), i)) {
            vm_fail(m, DIAG_INDEX, "an index array must hold whole numbers, and holds %.17g", f);
            return false;
        }
    }
    if (*i < -size || *i >= size) return out_of_range(m, *i, axis, size);
    if (*i < 0) *i += size;
    return true;
}

static bool array_offsets(vm *m, const picker *p, const shaped *x, int rank, const int64_t *shape, int64_t *offs)
{
    int64_t stride[RANK_MAX], at[RANK_MAX] = {0}, o = 0, q = 0, i, size = x->shape[p->axis];
    int64_t xs = x->stride[p->axis], k = 0;
    if (shape_size(rank, shape) == 0) return true;
    shaped_stretch(&p->s, rank, shape, stride);
    if (rank == 1 && p->s.dtype == DTYPE_I64) {
        const int64_t *d = p->s.data;
        for (; k < shape[0]; k++) {
            i = d[k * stride[0]];
            if (i < 0) i += size;
            if ((uint64_t)i >= (uint64_t)size) return out_of_range(m, d[k * stride[0]], p->axis, size);
            offs[k] += i * xs;
        }
        return true;
    }
    do {
        if (!pick(m, &p->s, o, p->axis, size, &i)) return false;
        offs[k++] += i * xs;
    } while (odometer(rank, shape, at, stride, &o, stride, &q));
    return true;
}

static bool pickers_shape(vm *m, const picker *p, int n, int *rank, int64_t *shape)
{
    *rank = 0;
    for (int i = 0; i < n; i++) {
        int r = p[i].naxes ? 1 : p[i].s.rank;
        if (r > *rank) *rank = r;
    }
    for (int k = 0; k < *rank; k++) shape[k] = 1;
    for (int i = 0; i < n; i++) {
        int r = p[i].naxes ? 1 : p[i].s.rank;
        for (int k = 0; k < r; k++) {
            int64_t have = p[i].naxes ? p[i].count : p[i].s.shape[k], *s = &shape[*rank - r + k];
            if (have == 1 || have == *s) continue;
            if (*s == 1) {
                *s = have;
                continue;
            }
            return vm_fail(m, DIAG_SHAPE, "index arrays of %lld and %lld elements do not go together", (long long)*s, (long long)have);
        }
    }
    return true;
}

static bool mask_fits(vm *m, const shaped *x, const picker *p)
{
    for (int i = 0; i < p->naxes; i++)
        if (p->s.shape[i] != x->shape[p->axis + i])
            return vm_fail(m, DIAG_SHAPE, "the mask has %lld elements along axis %d, where the array has %lld", (long long)p->s.shape[i],
                           p->axis + i, (long long)x->shape[p->axis + i]);
    return true;
}

static bool pickers_table(vm *m, const shaped *x, const picker *p, int n, int rank, const int64_t *shape, index_plan *plan)
{
    plan->ntable = shape_size(rank, shape);
    plan->table = plan->few;
    if (plan->ntable > (int64_t)(sizeof plan->few / sizeof *plan->few)) {
        plan->table_bytes = plan->ntable * (int64_t)sizeof(int64_t);
        plan->table = memory_alloc(&m->mem, MEM_OTHER, (size_t)plan->table_bytes);
        if (!plan->table) {
            plan->table_bytes = 0;
            return vm_out_of_memory(m);
        }
    }
    for (int i = 0; i < n; i++) {
        if (p[i].naxes) {
            if (p[i].count == 1 || shape[rank - 1] == p[i].count)
                mask_offsets(m, &p[i], x, p[i].count == 1 ? plan->ntable : 1, plan->table, plan->ntable);
        } else if (!array_offsets(m, &p[i], x, rank, shape, plan->table)) {
            index_close(m, plan);
            return false;
        }
    }
    return true;
}

/* How many axes of x a component takes; -1 when it is none that can be. */
static int component_axes(value v)
{
    switch (v.tag) {
    case V_NONE:
    case V_ELLIPSIS: return 0;
    case V_SLICE: return 1;
    case V_ARRAY: return as_array(v)->dtype == DTYPE_BOOL ? as_array(v)->rank : 1;
    default: {
        int64_t i;
        return index_whole(v, &i) ? 1 : -1;
    }
    }
}

static void plan_axis(index_plan *plan, int64_t n, int64_t stride)
{
    plan->shape[plan->rank] = n;
    plan->stride[plan->rank++] = stride;
}

bool index_resolve(vm *m, const shaped *x, value ix, index_plan *plan)
{
    const value *part = ix.tag == V_TUPLE ? as_tuple(ix)->v : &ix;
    uint32_t n = ix.tag == V_TUPLE ? as_tuple(ix)->n : 1;
    picker pickers[RANK_MAX];
    int taken = 0, dots = 0, kept = 0, npick = 0, axis = 0, first = -1;
    bool apart = false;
    *plan = (index_plan){.basic = true, .unique = true, .stop = &m->interrupt};
    for (uint32_t i = 0; i < n; i++) {
        int k = component_axes(part[i]);
        if (k < 0) return not_an_index(m, part[i]);
        taken += k;
        dots += part[i].tag == V_ELLIPSIS;
        kept += part[i].tag == V_NONE || part[i].tag == V_SLICE;
        if (part[i].tag == V_ARRAY) plan->basic = false;
    }
    if (dots > 1) return vm_fail(m, DIAG_INDEX, "an index can hold one `...`");
    if (taken > x->rank) {
        if (x->rank == 0) return vm_fail(m, DIAG_INDEX, "a number has no axes to index");
        return vm_fail(m, DIAG_INDEX, "%d indices are too many for an array of %d ax%s", taken, x->rank, x->rank == 1 ? "is" : "es");
    }
    if (x->rank - taken + kept > RANK_MAX) return vm_fail(m, DIAG_SHAPE, "the selection would have more than %d axes", RANK_MAX);
    uint32_t last = 0; /* component after the last index array or, beside arrays, whole number */
    for (uint32_t i = 0; i < n; i++) {
        value v = part[i];
        if (!plan->basic && (v.tag == V_ARRAY || (v.tag != V_NONE && v.tag != V_ELLIPSIS && v.tag != V_SLICE))) {
            if (first < 0) first = plan->rank;
            else if (last != i) apart = true;
            last = i + 1;
        }
        if (v.tag == V_NONE) plan_axis(plan, 1, 0);
        else if (v.tag == V_ELLIPSIS)
            for (int k = x->rank - taken; k > 0; k--, axis++) plan_axis(plan, x->shape[axis], x->stride[axis]);
        else if (v.tag == V_SLICE) {
            int64_t start, step, count;
            if (!slice_resolve(m, as_slice(v), x->shape[axis], &start, &step, &count)) return false;
            plan->offset += start * x->stride[axis];
            plan_axis(plan, count, x->stride[axis] * step);
            axis++;
        } else if (v.tag == V_ARRAY) {
            picker *p = &pickers[npick];
            shaped_array(&p->s, as_array(v));
            p->axis = axis;
            p->naxes = p->s.dtype == DTYPE_BOOL ? p->s.rank : 0;
            p->count = 0;
            if (p->naxes) {
                if (!mask_fits(m, x, p)) return false;
                p->count = mask_count(m, &p->s);
            } else if (p->s.size > 1) plan->unique = false;
            axis += component_axes(v);
            npick++;
        } else {
            int64_t k = 0;
            index_whole(v, &k);
            if (k < -x->shape[axis] || k >= x->shape[axis]) return out_of_range(m, k, axis, x->shape[axis]);
            plan->offset += (k < 0 ? k + x->shape[axis] : k) * x->stride[axis];
            axis++;
        }
    }
    while (axis < x->rank) {
        plan_axis(plan, x->shape[axis], x->stride[axis]);
        axis++;
    }
    plan->at = plan->rank;
    if (!plan->basic) {
        int64_t shape[RANK_MAX];
        if (!pickers_shape(m, pickers, npick, &plan->adv, shape)) return false;
        if (plan->rank + plan->adv > RANK_MAX) return vm_fail(m, DIAG_SHAPE, "the selection would have more than %d axes", RANK_MAX);
        plan->at = apart ? 0 : first;
        int after = plan->rank - plan->at;
        memmove(plan->shape + plan->at + plan->adv, plan->shape + plan->at, (size_t)after * sizeof(int64_t));
        memmove(plan->stride + plan->at + plan->adv, plan->stride + plan->at, (size_t)after * sizeof(int64_t));
        memcpy(plan->shape + plan->at, shape, (size_t)plan->adv * sizeof(int64_t));
        memset(plan->stride + plan->at, 0, (size_t)plan->adv * sizeof(int64_t));
        plan->rank += plan->adv;
        if (!pickers_table(m, x, pickers, npick, plan->adv, shape, plan)) return false;
    }
    plan->size = shape_size(plan->rank, plan->shape);
    return true;
}

void index_close(vm *m, index_plan *plan)
{
    if (plan->table_bytes) memory_free(&m->mem, MEM_OTHER, plan->table, (size_t)plan->table_bytes);
    plan->table = NULL;
    plan->table_bytes = 0;
}

/* --- running a plan ------------------------------------------------------------------------- */

typedef enum plan_op { PLAN_GET, PLAN_SET, PLAN_ADD, PLAN_CLEAR } plan_op;

/* One row: n elements of x (stride xs) and v (stride vs). */
typedef void row_kernel(int64_t n, void *x, int64_t xs, void *v, int64_t vs);
/* The same over a table: the k-th element of x lies at offs[k]. */
typedef void table_kernel(int64_t n, void *x, const int64_t *offs, void *v, int64_t vs);

#define ROWS(T, NAME, OP, AT) \
    static void NAME##_row(int64_t n, void *x_, int64_t xs, void *v_, int64_t vs) \
    { \
        T *x = x_, *v = v_; \
        (void)v; \
        if (xs == 1 && vs == 1) \
            for (int64_t k = 0, i = 0, j = 0; k < n; k++, i++, j++) OP(T); \
        else \
            for (int64_t k = 0, i = 0, j = 0; k < n; k++, i += xs, j += vs) OP(T); \
    } \
    static void NAME##_table(int64_t n, void *x_, const int64_t *offs, void *v_, int64_t vs) \
    { \
        T *x = x_, *v = v_; \
        (void)v; \
        for (int64_t k = 0, j = 0; k < n; k++, j += vs) { \
            int64_t i = offs[k]; \
            OP(T); \
        } \
    }
#define OP_GET(T) v[j] = x[i]
#define OP_SET(T) x[i] = v[j]
#define OP_ADD(T) x[i] = (T)(x[i] + v[j])
#define OP_CLEAR(T) x[i] = 0
ROWS(uint8_t, get1, OP_GET, )
ROWS(uint32_t, get4, OP_GET, )
ROWS(uint64_t, get8, OP_GET, )
ROWS(uint8_t, set1, OP_SET, )
ROWS(uint32_t, set4, OP_SET, )
ROWS(uint64_t, set8, OP_SET, )
ROWS(uint8_t, clear1, OP_CLEAR, )
ROWS(uint32_t, clear4, OP_CLEAR, )
ROWS(uint64_t, clear8, OP_CLEAR, )
ROWS(float, add4, OP_ADD, )
ROWS(double, add8, OP_ADD, )
ROWS(uint64_t, addi, OP_ADD, )

static void kernels_of(plan_op op, dtype d, row_kernel **row, table_kernel **offs)
{
    static row_kernel *const rows[3][3] = {{get1_row, get4_row, get8_row},
                                           {set1_row, set4_row, set8_row},
                                           {clear1_row, clear4_row, clear8_row}};
    static table_kernel *const tables[3][3] = {{get1_table, get4_table, get8_table},
                                               {set1_table, set4_table, set8_table},
                                               {clear1_table, clear4_table, clear8_table}};
    if (op == PLAN_ADD) {
        *row = d == DTYPE_F32 ? add4_row : d == DTYPE_F64 ? add8_row : addi_row;
        *offs = d == DTYPE_F32 ? add4_table : d == DTYPE_F64 ? add8_table : addi_table;
        return;
    }
    int w = dtype_size[d] == 1 ? 0 : dtype_size[d] == 4 ? 1 : 2, o = op == PLAN_CLEAR ? 2 : (int)op;
    *row = rows[o][w];
    *offs = tables[o][w];
}

/* Visits the selection in row-major order. v has strides vs over the plan's shape. */
static void plan_run(const index_plan *p, plan_op op, dtype d, void *x, void *v, const int64_t *vs)
{
    if (p->size == 0) return;
    static const int64_t none[RANK_MAX] = {0}, zero = 0;
    row_kernel *row;
    table_kernel *by_table;
    kernels_of(op, d, &row, &by_table);
    int64_t width = dtype_size[d];
    if (!vs) vs = none;
    int at = p->basic ? 0 : p->at, adv = p->basic ? 0 : p->adv;
    const int64_t *offs = p->basic ? &zero : p->table;
    char *xb = (char *)x + p->offset * width, *vb = v;

    /* The strided axes after the table, merged where both sides walk them as one. */
    int64_t n[RANK_MAX], xs[RANK_MAX], ws[RANK_MAX];
    int r = 0;
    for (int i = at + adv; i < p->rank; i++) {
        if (p->shape[i] == 1) continue;
        if (r && xs[r - 1] == p->stride[i] * p->shape[i] && ws[r - 1] == vs[i] * p->shape[i]) {
            n[r - 1] *= p->shape[i], xs[r - 1] = p->stride[i], ws[r - 1] = vs[i];
            continue;
        }
        n[r] = p->shape[i], xs[r] = p->stride[i], ws[r] = vs[i];
        r++;
    }
    bool single = r == 0; /* one element for each table entry */
    if (single) n[0] = 1, xs[0] = ws[0] = 0, r = 1;
    /* The table's axes as one stride of v, when they are. */
    int64_t tv = adv ? vs[at + adv - 1] : 0;
    bool linear = true;
    for (int i = at + adv - 2; i >= at; i--) linear = linear && vs[i] == vs[i + 1] * p->shape[i + 1];

    int64_t pre[RANK_MAX] = {0}, px = 0, pv = 0;
    do {
        if (p->stop && STOPPED(p->stop)) return;
        if (single && linear && adv) {
            by_table(p->ntable, xb + px * width, offs, vb ? vb + pv * width : NULL, tv);
            continue;
        }
        int64_t ta[RANK_MAX] = {0}, to = 0, dummy = 0, k = 0;
        do {
            if (k % 65536 == 65535 && p->stop && STOPPED(p->stop)) return;
            int64_t post[RANK_MAX] = {0}, qx = px + offs[k], qv = pv + to;
            do row(n[r - 1], xb + qx * width, xs[r - 1], vb ? vb + qv * width : NULL, ws[r - 1]);
            while (odometer(r - 1, n, post, xs, &qx, ws, &qv));
            k++;
        } while (odometer(adv, p->shape + at, ta, vs + at, &to, none, &dummy));
    } while (odometer(at, p->shape, pre, p->stride, &px, vs, &pv));
}

void index_gather(const index_plan *p, dtype d, const void *x, void *out)
{
    int64_t stride[RANK_MAX];
    dense_strides(p->rank, p->shape, stride);
    plan_run(p, PLAN_GET, d, (void *)x, out, stride);
}
void index_scatter(const index_plan *p, dtype d, void *x, const void *v, const int64_t *stride)
{
    plan_run(p, PLAN_SET, d, x, (void *)v, stride);
}
void index_add(const index_plan *p, dtype d, void *x, const void *v, const int64_t *stride)
{
    plan_run(p, PLAN_ADD, d, x, (void *)v, stride);
}
void index_clear(const index_plan *p, dtype d, void *x) { plan_run(p, PLAN_CLEAR, d, x, NULL, NULL); }
