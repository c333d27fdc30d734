/* fuse_run.c: a group that fuse.c has read, prepared and run tile by tile. */
#include "fuse_parts.h"
#include "reduce.h"
#include <string.h>

enum { GIVEN_UP = INT16_MAX }; /* in place of a node's last reader: its tile is free */

/* --- preparing ------------------------------------------------------------------------------ */

/* Merges axes that all operands walk alike, and says of each how its elements are found. */
void fuse_collapse(fuser *u)
{
    for (int a = 0; a < u->noperands; a++) {
        operand *o = &u->operands[a];
        shaped own;
        shaped_of(&u->cells[o->cell].v, &own);
        o->s.dtype = own.dtype;
        o->s.data = own.rank ? own.data : NULL;
        if (!own.rank) o->s.scalar = own.scalar;
        for (int d = 0; d < u->rank; d++) {
            int i = d - (u->rank - own.rank);
            o->s.stride[d] = i < 0 || own.shape[i] == 1 ? 0 : own.stride[i];
        }
    }
    int k = 0;
    for (int i = 0; i < u->rank; i++) {
        if (u->shape[i] == 1) continue;
        bool merges = k > 0;
        for (int a = 0; merges && a < u->noperands; a++)
            merges = u->operands[a].s.stride[k - 1] == u->operands[a].s.stride[i] * u->shape[i];
        if (merges) k--;
        u->merged[k] = merges ? u->merged[k] * u->shape[i] : u->shape[i];
        for (int a = 0; a < u->noperands; a++) u->operands[a].s.stride[k] = u->operands[a].s.stride[i];
        k++;
    }
    u->axes = k;
    u->gathers = false;
    for (int a = 0; a < u->noperands; a++) {
        operand *o = &u->operands[a];
        o->s.rank = k;
        memcpy(o->s.shape, u->merged, (size_t)k * sizeof(int64_t));
        o->single = true;
        o->flat = o->s.dtype == o->to;
        int64_t step = 1;
        for (int i = k - 1; i >= 0; i--) {
            if (o->s.stride[i] != 0) o->single = false;
            if (o->s.stride[i] != step) o->flat = false;
            step *= u->merged[i];
        }
        if (o->single) {
            o->flat = false;
            array_convert(o->to, &o->one, o->s.dtype, o->s.data ? o->s.data : &o->s.scalar, 1, 1);
        } else if (!o->flat) u->gathers = true;
    }
    u->rows = k <= 1 || u->merged[k - 1] >= 128;
    /* Gathered element by element, an operand may be walked by fewer axes of its own. */
    for (int a = 0; a < u->noperands && !u->rows; a++) {
        shaped *s = &u->operands[a].s;
        int own = 0;
        for (int i = 1; i < s->rank; i++) {
            bool merges = s->stride[own] == s->stride[i] * s->shape[i];
            if (merges) s->shape[own] *= s->shape[i];
            else s->shape[++own] = s->shape[i];
            s->stride[own] = s->stride[i];
        }
        s->rank = own + 1;
    }
}

/* Who reads what last, which nodes nobody needs, and tiles for the others. */
void fuse_assign(fuser *u)
{
    int free_list[NODES + OPERANDS], nfree = 0, used = 0;
    size_t widest = 1;
    for (int k = 0; k < u->nsinks; k++) u->nodes[u->sinks[k].node].last = (int16_t)u->nnodes;
    for (int k = u->nnodes - 1; k >= 0; k--) {
        node *n = &u->nodes[k];
        if (n->output < 0 && n->last < 0) continue; /* dead */
        if (dtype_size[n->type] > widest) widest = dtype_size[n->type];
        for (int a = 0; a < n->n; a++) {
            int16_t *last = n->src[a].from == FROM_NODE ? &u->nodes[n->src[a].at].last : &u->operands[n->src[a].at].last;
            if (*last < 0) *last = (int16_t)k;
        }
    }
    for (int a = 0; a < u->noperands; a++) {
        operand *o = &u->operands[a];
        if (dtype_size[o->to] > widest) widest = dtype_size[o->to];
        if (!o->single && !o->flat && o->last >= 0) o->buffer = (int16_t)used++;
    }
    for (int k = 0; k < u->nnodes; k++) {
        node *n = &u->nodes[k];
        if (n->output < 0 && n->last < 0) continue;
        /* A kernel may write over what it reads if that is as wide; else its tile is none that it reads. */
        bool over = n->output < 0 && n->kernel;
        for (int a = 0; over && n->buffer < 0 && a < n->n; a++) {
            node *s = &u->nodes[n->src[a].at];
            if (n->src[a].from != FROM_NODE || s->last != k || s->buffer < 0 || dtype_size[s->type] != dtype_size[n->type]) continue;
            n->buffer = s->buffer;
            s->last = GIVEN_UP;
        }
        if (n->output < 0 && n->buffer < 0) n->buffer = (int16_t)(nfree ? free_list[--nfree] : used++);
        for (int a = 0; a < n->n; a++) {
            node *s = &u->nodes[n->src[a].at];
            if (n->src[a].from != FROM_NODE || s->last != k || s->buffer < 0) continue;
            free_list[nfree++] = s->buffer;
            s->last = GIVEN_UP;
        }
    }
    u->tile = (int)(FUSE_TILE_BYTES / widest);
    /* Tiles end where sums do, or their lanes, if that is not far. */
    if (u->nsinks) {
        const sink *s = &u->sinks[0];
        int64_t unit = s->after == 1 ? s->inner : REDUCE_LANES * s->after;
        if (unit <= u->tile) u->tile -= u->tile % (int)unit;
    }
    u->buffers = used;
}

/* --- running -------------------------------------------------------------------------------- */

static int64_t offset_at(const fuser *u, const operand *o, int64_t at)
{
    int64_t offset = 0;
    for (int d = u->axes - 1; d >= 0; d--) {
        offset += at % u->merged[d] * o->s.stride[d];
        at /= u->merged[d];
    }
    return offset;
}

/* Elements lo .. hi of all that is wanted. */
static void run_part(const fuser *u, int64_t lo, int64_t hi, char *state)
{
    char scratch[u->buffers + 1][FUSE_TILE_BYTES] __attribute__((aligned(64))); /* a group of ten takes some 20 KiB of stack */
    const void *from[OPERANDS], *made[NODES];
    bool one[OPERANDS];
    for (int a = 0; a < u->noperands; a++) {
        from[a] = &u->operands[a].one;
        one[a] = u->operands[a].single;
    }
    int64_t width = u->axes ? u->merged[u->axes - 1] : 1;
    for (int64_t at = lo, n; at < hi && !STOPPED(u->stop); at += n) {
        n = hi - at < u->tile ? hi - at : u->tile;
        if (u->rows && u->gathers && width - at % width < n) n = width - at % width;
        for (int a = 0; a < u->noperands; a++) {
            const operand *o = &u->operands[a];
            if (o->single || o->last < 0) continue;
            int64_t es = dtype_size[o->s.dtype];
            if (o->flat) {
                from[a] = (const char *)o->s.data + at * es;
            } else if (u->rows) {
                const char *src = (const char *)o->s.data + offset_at(u, o, at) * es;
                int64_t step = o->s.stride[u->axes - 1];
                one[a] = step == 0;
                if (step == 1 && o->to == o->s.dtype) {
                    from[a] = src;
                } else {
                    array_convert(o->to, scratch[o->buffer], o->s.dtype, src, step, step ? n : 1);
                    from[a] = scratch[o->buffer];
                }
            } else {
                shape_gather(&o->s, o->to, scratch[o->buffer], at, n);
                from[a] = scratch[o->buffer];
            }
        }
        for (int k = 0; k < u->nnodes; k++) {
            const node *e = &u->nodes[k];
            void *out;
            if (e->output >= 0) out = (char *)u->out[e->output]->data + at * (int64_t)dtype_size[e->type];
            else if (e->buffer >= 0) out = scratch[e->buffer];
            else continue;
            const void *args[ELEMENTWISE_ARGS];
            unsigned scalars = 0;
            for (int a = 0; a < e->n; a++) {
                origin s = e->src[a];
                args[a] = s.from == FROM_NODE ? made[s.at] : from[s.at];
                if (s.from == FROM_OPERAND && one[s.at]) scalars |= 1u << a;
            }
            if (e->kernel) e->kernel(n, out, args, scalars);
            else array_convert(e->type, out, e->from, args[0], 1, n);
            made[k] = out;
        }
        char *own = state;
        for (int k = 0; k < u->nsinks; k++) {
            sink_feed(&u->sinks[k], own, at, made[u->sinks[k].node], n);
            own += sink_state(&u->sinks[k]);
        }
    }
}

void fuse_run_all(const fuser *u, int threads)
{
    if (threads < 2) {
        run_part(u, 0, u->size, u->state);
        return;
    }
    int64_t part = (u->size + threads - 1) / threads, unit = u->nsinks ? sink_unit(u->sinks) : 1024;
    part = (part + unit - 1) / unit * unit;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        int64_t lo = t * part, hi = lo + part < u->size ? lo + part : u->size;
        if (lo < hi) run_part(u, lo, hi, u->state + (size_t)t * u->state_each);
    }
}
