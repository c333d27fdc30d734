/* fuse.c: neighbouring elementwise primitives run as one, over tiles that stay in first-level cache.
 *
 * The interpreter comes here with a primitive of arrays. From there the run form is read ahead, as far
 * as there are only elementwise primitives of one shape and what costs nothing on arrays: constants,
 * moves, drops, forms, sums of cotangents, cotangents that have their form already. What would be an
 * array in between is a *node*, an element of a tile; where reading stops, the nodes that slots still
 * hold become arrays, computed tile by tile, each node by the same kernel that would have made the array.
 * Nodes nobody holds any more never get memory beyond a tile. Sums and means of nodes are taken from the tiles
 * as they come (fuse_sink.h).
 *
 * Why when running and not before: shapes, dtypes and which cotangents are symbolic zeros are known here,
 * so there is nothing to check and nothing to fall back from. Whatever is out of the ordinary, errors
 * included, is where reading stops, and is left to the ordinary path. A slot's last read is marked in the
 * run form, so what is dead is known without any analysis. Reading costs tens of nanoseconds an
 * instruction, less than the array it saves.
 *
 * Bits: every element goes through the same kernels on the same values in the same order. Deterministic
 * costs are those of the single instructions. */
#include "fuse.h"
#include "fuse_parts.h"
#include "profile.h"
#include "elementwise.h"
#include "kern_util.h"
#include <string.h>

#ifndef FUSE_LEAST
#define FUSE_LEAST 1 /* elements from which on arrays are fused */
#endif
#define PARALLEL_WORK 400000 /* elements times their cost, from which on threads pay */

bool fuse_open(struct exec *x)
{
    x->fuse = memory_alloc(&x->m->mem, MEM_OTHER, sizeof *x->fuse);
    return x->fuse || vm_out_of_memory(x->m);
}

void fuse_close(struct exec *x)
{
    memory *mem = &x->m->mem;
    if (!x->fuse) return;
    memory_free(mem, MEM_OTHER, x->fuse->stamp, x->fuse->nslots * sizeof(uint32_t));
    memory_free(mem, MEM_OTHER, x->fuse->where, x->fuse->nslots * sizeof(uint32_t));
    memory_free(mem, MEM_OTHER, x->fuse, sizeof *x->fuse);
    x->fuse = NULL;
}

static bool slots_reach(vm *m, fuser *u, uint32_t n)
{
    if (n <= u->nslots) return true;
    n += n / 2 + 64;
    uint32_t *a = memory_alloc(&m->mem, MEM_OTHER, n * sizeof *a), *b = memory_alloc(&m->mem, MEM_OTHER, n * sizeof *b);
    memory_free(&m->mem, MEM_OTHER, a ? u->stamp : NULL, a ? u->nslots * sizeof *a : 0);
    memory_free(&m->mem, MEM_OTHER, b ? u->where : NULL, b ? u->nslots * sizeof *b : 0);
    if (a) u->stamp = a;
    if (b) u->where = b;
    if (!a || !b) {
        memory_free(&m->mem, MEM_OTHER, u->stamp, a ? n * sizeof *a : u->nslots * sizeof *a);
        memory_free(&m->mem, MEM_OTHER, u->where, b ? n * sizeof *b : u->nslots * sizeof *b);
        u->stamp = u->where = NULL;
        u->nslots = 0;
        return false;
    }
    u->nslots = n;
    u->now = 0;
    return true;
}

/* --- slots and cells ------------------------------------------------------------------------ */

static int cell_new(fuser *u, value v, int made_by, bool owned, uint32_t home)
{
    u->cells[u->ncells] = (cell){v, (int16_t)made_by, -1, owned, home};
    return u->ncells++;
}

static touched *slot_of(fuser *u, const frame *f, uint32_t s, bool write)
{
    if (u->stamp[s] == u->now) return &u->touched[u->where[s]];
    touched *t = &u->touched[u->ntouched];
    u->stamp[s] = u->now;
    u->where[s] = (uint32_t)u->ntouched++;
    *t = (touched){s, -1, false};
    if (!write) t->cell = (int16_t)cell_new(u, f->r[s], -1, false, s);
    return t;
}

static int cell_at(fuser *u, const frame *f, uint32_t operand_word) { return slot_of(u, f, operand_word >> 1, false)->cell; }

/* After the instruction was taken in: its operands' last reads, and its result. */
static void consume(fuser *u, uint32_t operand_word)
{
    if (!(operand_word & 1)) return;
    touched *t = &u->touched[u->where[operand_word >> 1]];
    if (t->cell >= 0 && u->cells[t->cell].home == t->slot) t->taken = true;
    t->cell = -1;
}
static void define(fuser *u, const frame *f, uint32_t slot, int c) { slot_of(u, f, slot, true)->cell = (int16_t)c; }

/* --- shapes --------------------------------------------------------------------------------- */

static bool whole_shape(const fuser *u, const array *a)
{
    return a->rank == u->rank && memcmp(array_shape(a), u->shape, (size_t)u->rank * sizeof(int64_t)) == 0;
}

/* a's elements serve the group's shape by broadcasting. */
static bool serves(const fuser *u, const array *a)
{
    if (a->rank > u->rank) return false;
    for (int i = 0; i < a->rank; i++) {
        int64_t own = array_shape(a)[i];
        if (own != 1 && own != u->shape[u->rank - a->rank + i]) return false;
    }
    return true;
}

/* The shape of the first primitive's result. Operands of different rank that would both grow are an error,
   which is not ours to give: then there is no group. */
static bool open_shape(fuser *u, const frame *f, const uint32_t *w)
{
    u->rank = 0;
    for (uint32_t k = 0; k < w[2]; k++) {
        value v = f->r[w[4 + k] >> 1];
        if (v.tag != V_ARRAY) continue;
        const array *a = as_array(v);
        if (a->rank == u->rank) {
            for (int i = 0; i < a->rank; i++) {
                int64_t own = array_shape(a)[i];
                if (own == u->shape[i]) continue;
                if (own != 1 && u->shape[i] != 1) return false;
                if (own != 1) u->shape[i] = own;
            }
        } else if (a->rank > u->rank) {
            int64_t old[RANK_MAX];
            int rank = u->rank;
            memcpy(old, u->shape, sizeof old);
            u->rank = a->rank;
            memcpy(u->shape, array_shape(a), (size_t)a->rank * sizeof(int64_t));
            for (int i = 0; i < rank; i++)
                if (old[i] != 1 && old[i] != u->shape[u->rank - rank + i]) return false;
        } else if (!serves(u, a)) return false;
    }
    u->size = shape_size(u->rank, u->shape);
    return u->rank > 0 && u->size >= FUSE_LEAST;
}

/* --- taking in ------------------------------------------------------------------------------ */

static shaped described(const fuser *u, const cell *c)
{
    shaped s = {.weak = STRONG};
    if (c->node >= 0) {
        s.dtype = u->nodes[c->node].type;
        s.rank = u->rank;
    } else if (c->v.tag == V_ARRAY) {
        s.dtype = (dtype)as_array(c->v)->dtype;
        s.rank = as_array(c->v)->rank;
    } else {
        s.dtype = scalar_dtype(c->v);
        s.weak = (weakness)c->v.weak;
    }
    return s;
}

/* The number of the operand that gives cell c's value as dtype `to`; -1: too many. */
static int operand_of(fuser *u, int c, dtype to)
{
    for (int k = 0; k < u->noperands; k++) {
        const operand *o = &u->operands[k];
        if (o->to == to && (o->cell == c || (u->cells[o->cell].v.tag == V_ARRAY && u->cells[c].v.tag == V_ARRAY &&
                                             u->cells[o->cell].v.u.o == u->cells[c].v.u.o)))
            return k;
    }
    if (u->noperands == OPERANDS) return -1;
    operand *o = &u->operands[u->noperands];
    *o = (operand){.cell = (int16_t)c, .to = to, .last = -1, .buffer = -1};
    return u->noperands++;
}

static node *node_new(fuser *u, dtype type)
{
    node *n = &u->nodes[u->nnodes++];
    *n = (node){.type = type, .last = -1, .buffer = -1, .output = -1};
    return n;
}

static bool source_as(fuser *u, int c, dtype to, origin *out)
{
    int k = u->cells[c].node;
    if (k < 0) {
        int o = operand_of(u, c, to);
        if (o < 0) return false;
        *out = (origin){FROM_OPERAND, (uint8_t)o};
        return true;
    }
    if (u->nodes[k].type != to) {
        if (u->nnodes == NODES) return false;
        dtype from = u->nodes[k].type;
        node *n = node_new(u, to);
        n->n = 1;
        n->from = from;
        n->src[0] = (origin){FROM_NODE, (uint8_t)k};
        k = u->nnodes - 1;
    }
    *out = (origin){FROM_NODE, (uint8_t)k};
    return true;
}

/* Takes a vector instruction or two; the others take tens. */
static bool is_cheap(uint32_t number)
{
    switch (number) {
    case PRIM_add:
    case PRIM_sub:
    case PRIM_mul:
    case PRIM_div:
    case PRIM_neg:
    case PRIM_square:
    case PRIM_sqrt:
    case PRIM_abs:
    case PRIM_zmul:
    case PRIM_where:
    case PRIM_relu:
    case PRIM_maximum:
    case PRIM_minimum:
    case PRIM_lt:
    case PRIM_le:
    case PRIM_gt:
    case PRIM_ge:
    case PRIM_eq:
    case PRIM_ne:
    case PRIM_share:
    case PRIM_clamp: return true;
    default: return false;
    }
}

/* An elementwise primitive p of n cells. Returns its cell, or -1: not one for this group. */
static int take_elementwise(struct exec *x, fuser *u, const prim *p, uint32_t number, uint32_t n, const int *c)
{
    vm *m = x->m;
    shaped s[ELEMENTWISE_ARGS];
    bool whole = u->nnodes == 0, numbers = true;
    for (uint32_t k = 0; k < n; k++) {
        const cell *e = &u->cells[c[k]];
        if (e->node >= 0) whole = true, numbers = false;
        else if (e->v.tag == V_ARRAY) {
            numbers = false;
            if (!serves(u, as_array(e->v))) return -1;
            whole |= whole_shape(u, as_array(e->v));
        } else if (!value_is_scalar(e->v)) return -1;
        s[k] = described(u, e);
    }
    if (numbers) { /* as the scalar paths do; floats alone, which cannot fail */
        value args[ELEMENTWISE_ARGS], out;
        for (uint32_t k = 0; k < n; k++) {
            args[k] = u->cells[c[k]].v;
            if (!value_is_float(args[k])) return -1;
        }
        if (!elementwise_scalars(m, p, args, n, &out)) {
            diag_free(m->error);
            m->error = NULL;
            return -1;
        }
        u->ops += 1;
        return cell_new(u, out, -1, true, SLOT_NONE);
    }
    elementwise_types t;
    if (!whole || !elementwise_promote(m, p, s, n, &t) || t.in == DTYPE_I64) return -1;
    tile_kernel *kernel = elementwise_kernel_of(p, t.in);
    if (!kernel) return -1;
    origin src[ELEMENTWISE_ARGS];
    int before = u->nnodes;
    for (uint32_t k = 0; k < n; k++)
        if (!source_as(u, c[k], k == 0 && p->tile->condition ? DTYPE_BOOL : t.in, &src[k])) {
            u->nnodes = before;
            return -1;
        }
    if (u->nnodes == NODES) {
        u->nnodes = before;
        return -1;
    }
    node *e = node_new(u, t.out);
    e->kernel = kernel;
    e->n = (uint8_t)n;
    memcpy(e->src, src, n * sizeof *src);
    u->ops += (uint64_t)u->size * x->cost[number];
    u->work += (double)u->size * (is_cheap(number) ? 1 : 8);
    return cell_new(u, value_undef(), u->nnodes - 1, false, SLOT_NONE);
}

/* The form f is that of the cell's numbers, so that fitting them to it does nothing. */
static bool has_form(const fuser *u, const cell *c, value f)
{
    if (f.tag != V_FORMOBJ || as_form(f)->kind != V_ARRAY) return false;
    const form *o = as_form(f);
    if (c->node >= 0)
        return o->dtype == u->nodes[c->node].type && o->rank == u->rank &&
               memcmp(o->shape, u->shape, (size_t)u->rank * sizeof(int64_t)) == 0;
    if (c->v.tag != V_ARRAY) return false;
    const array *a = as_array(c->v);
    return o->dtype == a->dtype && o->dtype >= DTYPE_F32 && o->rank == a->rank &&
           memcmp(o->shape, array_shape(a), (size_t)a->rank * sizeof(int64_t)) == 0;
}

static bool is_zero(const cell *c) { return c->node < 0 && c->v.tag == V_ZERO; }
static bool is_numeric_array(const fuser *u, const cell *c) { return c->node >= 0 || c->v.tag == V_ARRAY; }
static uint64_t cost_of(const struct exec *x, const fuser *u, const cell *c, uint32_t number)
{
    uint64_t n = c->node >= 0 ? (uint64_t)u->size : c->v.tag == V_ARRAY ? (uint64_t)as_array(c->v)->size : 1;
    return n * x->cost[number];
}

/* The next sink is planned: it sums node `of`. Its cell, or -1. */
static int add_sink(fuser *u, int of)
{
    sink *s = &u->sinks[u->nsinks];
    if (u->nsinks && !sink_same(s, u->sinks)) return -1;
    s->node = (int16_t)of;
    u->work += (double)u->size;
    int r = cell_new(u, value_undef(), -1, false, SLOT_NONE);
    u->cells[r].sink = (int16_t)u->nsinks++;
    return r;
}

/* A sum or mean of a node. */
static int take_sum(struct exec *x, fuser *u, frame *f, const uint32_t *w)
{
    uint32_t number = w[1], n = w[2];
    value given[3] = {value_undef(), value_none(), value_bool(false)}; /* x, axis, keepdims */
    int of = -1;
    for (uint32_t k = 0; k < n; k++) {
        int c = k < 3 ? cell_at(u, f, w[4 + k]) : -1;
        if (c < 0 || (k == 0) != (u->cells[c].node >= 0) || u->cells[c].sink >= 0) return -1;
        if (k == 0) of = u->cells[c].node;
        given[k] = u->cells[c].v;
    }
    sink *s = &u->sinks[u->nsinks];
    if (of < 0 || u->nsinks == SINKS || given[2].tag != V_BOOL) return -1;
    if (!sink_plan(s, number == PRIM_mean, u->nodes[of].type, u->rank, u->shape, given[1], given[2].u.i != 0)) return -1;
    int r = add_sink(u, of);
    if (r >= 0) u->ops += (uint64_t)u->size * x->cost[number];
    return r;
}

/* One primitive. Returns the cell of its result, -1: reading stops before it. */
static int take_prim(struct exec *x, fuser *u, frame *f, const uint32_t *w)
{
    vm *m = x->m;
    uint32_t number = w[1], n = w[2];
    if (number >= prim_count || n > ELEMENTWISE_ARGS) return -1;
    const prim *p = &prims[number];
    if (!x->joins[number]) return -1;
    if (p->shape == S_REDUCE) return take_sum(x, u, f, w);
    int c[ELEMENTWISE_ARGS];
    for (uint32_t k = 0; k < n; k++) {
        c[k] = cell_at(u, f, w[4 + k]);
        if (c[k] < 0) return -1;
    }
    switch (number) {
    case PRIM_form: {
        const cell *e = &u->cells[c[0]];
        value v;
        if (e->node < 0 && value_is_scalar(e->v))
            return cell_new(u, (value){.tag = V_FORM, .aux = (uint32_t)scalar_dtype(e->v) | (uint32_t)e->v.weak << 8}, -1, true, SLOT_NONE);
        if (e->node < 0 && !is_numeric_array(u, e)) return -1;
        if (e->node >= 0) v = form_of_array(m, u->nodes[e->node].type, STRONG, u->rank, u->shape);
        else if (!form_of(m, e->v, &v)) v = value_undef();
        if (v.tag == V_UNDEF) {
            diag_free(m->error);
            m->error = NULL;
            return -1;
        }
        u->ops += x->cost[number];
        return cell_new(u, v, -1, true, SLOT_NONE);
    }
    case PRIM_reduce_to:
    case PRIM_spread_to: {
        const cell *e = &u->cells[c[0]], *o = &u->cells[c[1]];
        if (o->node >= 0) return -1;
        if (is_zero(e)) {
            u->ops++;
            return c[0];
        }
        if (has_form(u, e, o->v)) {
            u->ops += cost_of(x, u, e, number);
            return c[0];
        }
        sink *s = &u->sinks[u->nsinks];
        if (number != PRIM_reduce_to || e->node < 0 || u->nsinks == SINKS ||
            !sink_plan_form(s, u->nodes[e->node].type, u->rank, u->shape, o->v))
            return -1;
        int r = add_sink(u, e->node);
        if (r >= 0) u->ops += (uint64_t)(s->outer * s->after) * x->cost[number];
        return r;
    }
    case PRIM_acc: {
        const cell *a = &u->cells[c[0]], *b = &u->cells[c[1]];
        if (is_zero(a) || is_zero(b)) {
            u->ops++;
            return is_zero(a) ? c[1] : c[0];
        }
        if (!is_numeric_array(u, a) || !is_numeric_array(u, b)) return -1;
        if (a->node < 0 && !whole_shape(u, as_array(a->v))) return -1;
        if (b->node < 0 && !whole_shape(u, as_array(b->v))) return -1;
        uint64_t ops = u->ops;
        int r = take_elementwise(x, u, &prims[PRIM_add], PRIM_add, 2, c);
        if (r >= 0) u->ops = ops + (uint64_t)u->size * x->cost[number];
        return r;
    }
    case PRIM_zmul:
        if (is_zero(&u->cells[c[0]]) || is_zero(&u->cells[c[1]])) {
            u->ops++;
            return cell_new(u, value_zero(), -1, true, SLOT_NONE);
        }
        break;
    }
    const prim_info *info = &m->prim_infos[number];
    if (n > info->nparams) return -1;
    for (; n < info->nparams; n++) { /* defaults are numbers */
        if (n == ELEMENTWISE_ARGS || !value_is_scalar(info->params[n].deflt)) return -1;
        c[n] = cell_new(u, info->params[n].deflt, -1, false, SLOT_NONE);
    }
    return take_elementwise(x, u, p, number, n, c);
}

/* Reads from w on; returns where reading stops. */
static const uint32_t *read_ahead(struct exec *x, fuser *u, frame *f, const uint32_t *w)
{
    for (;;) {
        if (u->ncells + 8 > CELLS || u->ntouched + 8 > TOUCHED) return w;
        switch ((run_op)(uint8_t)*w) {
        case RUN_CONST: {
            value v = f->run->tree->consts[w[2]];
            define(u, f, w[1], cell_new(u, value_retain(v), -1, true, SLOT_NONE));
            w += 3;
            break;
        }
        case RUN_MOVE:
        case RUN_COPY: {
            int c = cell_at(u, f, w[2]);
            if (c < 0) return w;
            if ((uint8_t)*w == RUN_MOVE) consume(u, w[2] | 1);
            define(u, f, w[1], c);
            w += 3;
            break;
        }
        case RUN_DROP:
            slot_of(u, f, w[1], false);
            consume(u, w[1] << 1 | 1);
            w += 2;
            break;
        case RUN_PRIM:
        case RUN_ADD:
        case RUN_SUB:
        case RUN_MUL:
        case RUN_DIV:
        case RUN_NEG:
        case RUN_LT:
        case RUN_LE:
        case RUN_GT:
        case RUN_GE:
        case RUN_EQ:
        case RUN_NE:
        case RUN_ZMUL:
        case RUN_ACC:
        case RUN_FIT:
        case RUN_FORM: {
            int c = take_prim(x, u, f, w);
            if (c < 0) return w;
            for (uint32_t k = 0; k < w[2]; k++) consume(u, w[4 + k]);
            define(u, f, w[3], c);
            w += 4 + w[2];
            break;
        }
        default: return w;
        }
    }
}

/* --- results -------------------------------------------------------------------------------- */

/* An argument's array that node k may write its elements into: nobody else holds it, no slot does after the
   group, nothing reads it later than k, and it was not given to another node. Retained. */
static array *reuse(fuser *u, frame *f, int k)
{
    for (int a = 0; a < u->noperands; a++) {
        operand *o = &u->operands[a];
        if (!o->flat || o->last > k || o->to != u->nodes[k].type || o->cell < 0) continue;
        const cell *c = &u->cells[o->cell];
        if (c->owned || c->home == SLOT_NONE || c->v.tag != V_ARRAY) continue;
        array *v = as_array(c->v);
        if (!u->touched[u->where[c->home]].taken || !v->dense || !array_unique(v) || !whole_shape(u, v)) continue;
        bool held = false;
        for (int t = 0; t < u->ntouched && !held; t++)
            held = u->touched[t].cell >= 0 && u->cells[u->touched[t].cell].node < 0 && u->cells[u->touched[t].cell].v.tag == V_ARRAY &&
                   u->cells[u->touched[t].cell].v.u.o == c->v.u.o;
        for (int b = 0; b < u->noperands && !held; b++) /* the same array read as another dtype */
            held = b != a && u->cells[u->operands[b].cell].v.tag == V_ARRAY && u->cells[u->operands[b].cell].v.u.o == c->v.u.o;
        if (held) continue;
        v->h.refs++; /* and so not unique any more */
        return v;
    }
    return NULL;
}

static void drop_outputs(vm *m, fuser *u)
{
    for (int k = 0; k < u->nout; k++) value_release(m, value_object(&u->out[k]->h));
    for (int k = 0; k < u->nsinks; k++) sink_close(m, &u->sinks[k]);
    if (u->state != u->own) memory_free(&m->mem, MEM_OTHER, u->state, u->state_bytes);
}

/* What is written over what was there is not left off halfway. */
static const volatile int never;

static bool make_outputs(vm *m, fuser *u, frame *f, int threads)
{
    u->state = NULL;
    u->stop = &m->interrupt;
    u->state_each = u->state_bytes = 0;
    for (int k = 0; k < u->nsinks; k++) {
        if (!sink_open(m, &u->sinks[k])) return false;
        u->state_each += sink_state(&u->sinks[k]);
    }
    size_t bytes = u->state_each * (size_t)threads;
    if (bytes <= sizeof u->own) u->state = memset(u->own, 0, bytes);
    else if (!(u->state = memory_alloc(&m->mem, MEM_OTHER, bytes))) return vm_out_of_memory(m);
    u->state_bytes = bytes;
    for (int k = 0; k < u->nnodes; k++) {
        node *n = &u->nodes[k];
        if (n->output < 0) continue;
        array *a = reuse(u, f, k);
        if (a) u->stop = &never;
        if (!a && !(a = array_new(m, n->type, u->rank, u->shape))) return false;
        n->output = (int16_t)u->nout;
        u->out[u->nout++] = a;
    }
    return true;
}

static void commit(vm *m, fuser *u, frame *f)
{
    value v[TOUCHED], sums[SINKS];
    for (int k = 0; k < u->nsinks; k++) sums[k] = sink_end(&u->sinks[k]);
    for (int t = 0; t < u->ntouched; t++) {
        const touched *s = &u->touched[t];
        v[t] = value_undef();
        if (s->cell < 0) continue;
        const cell *c = &u->cells[s->cell];
        v[t] = c->node >= 0 ? value_object(&u->out[u->nodes[c->node].output]->h) : c->sink >= 0 ? sums[c->sink] : c->v;
        if (c->node >= 0 || c->sink >= 0 || c->owned || c->home != s->slot || s->taken) value_retain(v[t]);
    }
    for (int t = 0; t < u->ntouched; t++)
        if (u->touched[t].taken) {
            value old = f->r[u->touched[t].slot];
            f->r[u->touched[t].slot].tag = V_UNDEF;
            value_release(m, old);
        }
    for (int t = 0; t < u->ntouched; t++) f->r[u->touched[t].slot] = v[t];
    for (int k = 0; k < u->nsinks; k++) value_release(m, sums[k]);
}

static void cells_close(vm *m, fuser *u)
{
    for (int c = 0; c < u->ncells; c++)
        if (u->cells[c].owned) value_release(m, u->cells[c].v);
}

static fuse_result run_group(struct exec *x, frame *f, const uint32_t *w, const uint32_t **next)
{
    vm *m = x->m;
    fuser *u = x->fuse;
    if (!open_shape(u, f, w) || !slots_reach(m, u, f->run->nslots)) return FUSE_NONE;
    if (++u->now == 0) {
        memset(u->stamp, 0, u->nslots * sizeof *u->stamp);
        u->now = 1;
    }
    u->nnodes = u->noperands = u->ncells = u->ntouched = u->nout = u->nsinks = 0;
    u->ops = 0;
    u->work = 0;
    *next = read_ahead(x, u, f, w);
    if (u->nnodes + u->nsinks < 2) {
        cells_close(m, u);
        return FUSE_NONE;
    }
    for (int t = 0; t < u->ntouched; t++)
        if (u->touched[t].cell >= 0 && u->cells[u->touched[t].cell].node >= 0) u->nodes[u->cells[u->touched[t].cell].node].output = 0;
    fuse_collapse(u);
    fuse_assign(u);
    int threads = m->config.threads < 2 || u->work < PARALLEL_WORK ? 1 : m->config.threads;
    bool fine = make_outputs(m, u, f, threads);
    if (fine) {
        fuse_run_all(u, threads);
        fine = u->stop == &never || !vm_interrupted(m);
    }
    if (fine) {
        commit(m, u, f);
        x->ops += u->ops;
    }
    drop_outputs(m, u);
    cells_close(m, u);
    return fine ? FUSE_DONE : FUSE_FAIL;
}

fuse_result fuse_run(struct exec *x, frame *f, const uint32_t *w, const uint32_t **next)
{
    if (!x->profile) return run_group(x, f, w, next);
    double started = exec_seconds();
    fuse_result r = run_group(x, f, w, next);
    const fuser *u = x->fuse;
    size_t bytes = 0;
    for (int k = 0; r == FUSE_DONE && k < u->nnodes; k++)
        if (u->nodes[k].output >= 0) bytes += (size_t)u->size * dtype_size[u->nodes[k].type];
    if (r == FUSE_DONE) profile_add(x, f, w, "fused", exec_seconds() - started, bytes);
    return r;
}
