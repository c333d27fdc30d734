/* exec_prim.c: a primitive on registers, through prim_apply.
 *
 * In goes an instruction of PRIM's layout, out comes its result in the slot. Operands are lent to the
 * kernel side by side; those that die here are marked so that it may write into them, and let go of
 * after. Also here, because every primitive passes: what a block keeps, what running it cost, and the
 * search for the first NaN. */
#include "run.h"
#include "profile.h"
#include <math.h>
#include <string.h>

/* --- cost ----------------------------------------------------------------------------------- */

/* `maps`: structures count by their parts; else as one, so that append(t, v) costs the same whatever t has. */
static uint64_t elements(value v, bool maps)
{
    if (v.tag == V_ARRAY) return (uint64_t)as_array(v)->size;
    if (!maps || (v.tag != V_TUPLE && v.tag != V_RECORD)) return 1;
    uint64_t sum = 1;
    uint32_t n = v.tag == V_TUPLE ? as_tuple(v)->n : as_record(v)->n;
    const value *of = v.tag == V_TUPLE ? as_tuple(v)->v : as_record(v)->v;
    for (uint32_t i = 0; i < n; i++)
        if (of[i].tag == V_ARRAY) sum += (uint64_t)as_array(of[i])->size;
    return sum;
}

/* Scalar operations, from shapes alone: the same on every machine and every run. */
static uint64_t cost(const struct exec *x, const prim *p, uint32_t number, const value *args, uint32_t n, value out)
{
    bool maps = p->attrs & A_MAPS;
    uint64_t e = elements(out, maps);
    if (p->attrs & A_DOT && n >= 1 && args[0].tag == V_ARRAY) {
        const array *a = as_array(args[0]);
        return 2 * e * (uint64_t)array_shape(a)[a->rank - 1];
    }
    if (p->shape == S_REDUCE && n >= 1) e = elements(args[0], true);
    return e * x->cost[number];
}

/* --- the first NaN -------------------------------------------------------------------------- */

static bool array_unusual(const volatile int *stop, const array *a)
{
    if (a->dtype != DTYPE_F64 && a->dtype != DTYPE_F32) return false;
    int64_t ix[RANK_MAX] = {0}, at = 0;
    const int64_t *stride = array_stride(a);
    for (int64_t k = 0; k < a->size; k++) {
        if (k % 65536 == 0 && STOPPED(stop)) return false;
        double v = a->dtype == DTYPE_F64 ? ((const double *)a->data)[at] : (double)((const float *)a->data)[at];
        if (!isfinite(v)) return true;
        for (int d = a->rank - 1; d >= 0; d--) {
            at += stride[d];
            if (++ix[d] < a->dims[d]) break;
            at -= ix[d] * stride[d];
            ix[d] = 0;
        }
    }
    return false;
}

/* Whether v is, or has among its parts (two levels down), a number that is not finite. */
static bool unusual(const volatile int *stop, value v, int depth)
{
    if (value_is_float(v)) return !isfinite(v.u.f);
    if (v.tag == V_ARRAY) return array_unusual(stop, as_array(v));
    if ((v.tag != V_TUPLE && v.tag != V_RECORD) || depth > 8) return false;
    uint32_t n = v.tag == V_TUPLE ? as_tuple(v)->n : as_record(v)->n;
    const value *of = v.tag == V_TUPLE ? as_tuple(v)->v : as_record(v)->v;
    for (uint32_t i = 0; i < n; i++)
        if (unusual(stop, of[i], depth + 1)) return true;
    return false;
}

/* Only the operation that made the first one is blamed, not those its result goes through. The inputs
   are looked at before the kernel runs, which may write into them. */
static bool blame(vm *m, const frame *f, const uint32_t *w, const prim *p, value out)
{
    if (!unusual(&m->interrupt, out, 0)) return true;
    bool adjoint = instr_at(f, w)->flags & INSTR_ADJOINT;
    bool nan = value_is_float(out) ? isnan(out.u.f) : false;
    return vm_fail(m, DIAG_NAN, "%s makes the first %s, in the %s program", p->name,
                   value_is_float(out) ? (nan ? "NaN" : "inf") : "NaN or inf", adjoint ? "adjoint" : "forward");
}

/* --- applying ------------------------------------------------------------------------------- */

typedef struct apply {
    const prim *p;
    uint32_t number, n, origin;
    const value *args;
    uint64_t last;
    bool keepable;
} apply;

/* What reads the world and sets the random state (load) has two values kept: its result, and after it the state
   it set, an i64 pair, or none when it set none. */
static bool keep_random(vm *m, const apply *a, random_state before)
{
    value state = value_none();
    if (before.key != m->random.key || before.counter != m->random.counter) {
        array *pair = array_new(m, DTYPE_I64, 1, (int64_t[]){2});
        if (!pair) return false;
        memcpy(pair->data, &m->random, sizeof m->random);
        state = value_object(&pair->h);
    }
    bool fine = keep_offer(m, a->p, a->origin, a->args, a->n, state);
    value_release(m, state);
    return fine;
}
_Static_assert(sizeof(random_state) == 2 * sizeof(int64_t), "a state is a pair");

static bool again_random(vm *m, const apply *a)
{
    value state;
    if (!keep_lookup(m, a->p, a->origin, a->args, a->n, &state)) return true;
    if (state.tag == V_ARRAY) memcpy(&m->random, as_array(state)->data, sizeof m->random);
    bool fine = keep_offer(m, a->p, a->origin, a->args, a->n, state);
    value_release(m, state);
    return fine;
}

/* Kernels leave off when the program is to stop: what one gave, or said, is not seen then. */
static bool kernel_run(vm *m, const apply *a, uint64_t last, value *out)
{
    bool fine = prim_apply(m, a->p, a->args, a->n, last, out);
    if (!INTERRUPTED(m)) return fine;
    if (fine) value_release(m, *out);
    diag_free(m->error);
    m->error = NULL;
    m->fail_arg = -1;
    vm_interrupted(m);
    return false;
}

static bool run_prim(struct exec *x, const frame *f, const uint32_t *w, const apply *a, value *out)
{
    vm *m = x->m;
    bool trace = m->config.trace_nan && !(a->p->attrs & (A_INPUT | A_OUTPUT));
    for (uint32_t i = 0; trace && i < a->n; i++) trace = !unusual(&m->interrupt, a->args[i], 0);
    bool keeping = a->keepable && m->keep && m->keep->n, sets_random = keeping && (a->p->attrs & A_INPUT) && (a->p->attrs & A_RANDOM);
    if (keeping && keep_lookup(m, a->p, a->origin, a->args, a->n, out)) {
        if (keep_offer(m, a->p, a->origin, a->args, a->n, *out) && (!sets_random || again_random(m, a))) return true;
        value_release(m, *out);
        return false;
    }
    random_state before = m->random;
    m->fail_arg = -1;
    uint64_t last = keeping ? 0 : a->last; /* what is offered must not have been overwritten */
    if (!kernel_run(m, a, last, out)) return false;
    x->ops += cost(x, a->p, a->number, a->args, a->n, *out);
    if (trace && !blame(m, f, w, a->p, *out)) {
        value_release(m, *out);
        return false;
    }
    if (keeping && (!keep_offer(m, a->p, a->origin, a->args, a->n, *out) || (sets_random && !keep_random(m, a, before)))) {
        value_release(m, *out);
        return false;
    }
    return true;
}

/* The last operand is a tuple whose elements are the last arguments. */
static bool spread_prim(struct exec *x, frame *f, const uint32_t *w, apply *a)
{
    vm *m = x->m;
    uint32_t n = w[2];
    value t = f->r[w[3 + n] >> 1];
    if (t.tag != V_TUPLE) return vm_fail(m, DIAG_TYPE, "`...` spreads a tuple, and this is %s", value_a_type(t));
    uint32_t all = n - 1 + as_tuple(t)->n;
    size_t bytes = (all + 1) * sizeof(value);
    value *args = memory_alloc(&m->mem, MEM_FRAME, bytes);
    if (!args) return vm_out_of_memory(m);
    for (uint32_t i = 0; i + 1 < n; i++) args[i] = f->r[w[4 + i] >> 1];
    if (as_tuple(t)->n) memcpy(args + n - 1, as_tuple(t)->v, as_tuple(t)->n * sizeof(value));
    a->args = args;
    a->n = all;
    a->last = 0;
    value out;
    bool fine = run_prim(x, f, w, a, &out);
    memory_free(&m->mem, MEM_FRAME, args, bytes);
    if (!fine) return false;
    for (uint32_t i = 0; i < n; i++) operand_done(m, f->r, w[4 + i]);
    f->r[w[3]] = out;
    return true;
}

static bool apply_prim(struct exec *x, frame *f, const uint32_t *w, bool keepable)
{
    vm *m = x->m;
    uint32_t n = w[2];
    const uint32_t *src = w + 4;
    value *r = f->r, small[12], *args = small, out;
    f->at = w;
    uint32_t number = w[1] & ~PRIM_SPREAD;
    apply a = {.p = &prims[number], .number = number, .n = n, .keepable = keepable};
    a.origin = keepable ? instr_at(f, w)->origin : 0;
    if (w[1] & PRIM_SPREAD) return spread_prim(x, f, w, &a);
    if (n > 12 && !(args = memory_alloc(&m->mem, MEM_FRAME, n * sizeof *args))) return vm_out_of_memory(m);
    for (uint32_t i = 0; i < n; i++) {
        args[i] = r[src[i] >> 1];
        if (i < 64) a.last |= (uint64_t)(src[i] & 1) << i;
    }
    a.args = args;
    bool fine = run_prim(x, f, w, &a, &out);
    if (args != small) memory_free(&m->mem, MEM_FRAME, args, n * sizeof *args);
    if (!fine) return false;
    for (uint32_t i = 0; i < n; i++)
        if (src[i] & 1) {
            value v = r[src[i] >> 1];
            r[src[i] >> 1].tag = V_UNDEF;
            value_release(m, v);
        }
    r[w[3]] = out;
    return true;
}

bool exec_prim(struct exec *x, frame *f, const uint32_t *w, bool keepable)
{
    if (!x->profile) return apply_prim(x, f, w, keepable);
    double started = exec_seconds();
    if (!apply_prim(x, f, w, keepable)) return false;
    double seconds = exec_seconds() - started;
    value v = f->r[w[3]];
    size_t bytes = v.tag == V_ARRAY ? (size_t)as_array(v)->size * dtype_size[as_array(v)->dtype] : 0;
    profile_add(x, f, w, prims[w[1] & ~PRIM_SPREAD].name, seconds, bytes);
    return true;
}
