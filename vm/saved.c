/* saved.c: what a forward pass keeps, for saved(f, args…): every value by the name and line it has in the
 * user's program.
 *
 * In goes the pullback that a forward pass left. What it holds is walked by a work list (recursion of the
 * user's makes a deep tree of pullbacks), each value together with the register of the forward Code that
 * it came from: so its name is the user's, its line that of the instruction that made it, and what it is
 * kept for is the first instruction of the adjoint Code that reads it. A buffer counts once. Values of one
 * register, shape and holder are one row with a count: a loop of a thousand steps is not a thousand rows. */
#include "residual.h"
#include "looptape.h"
#include "kern.h"
#include "prim_ids.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the values in a forward Code come from, by register. */
typedef struct origins {
    const code *fwd;
    const instr **def;
    uint32_t *result;
    const instr **around; /* of a loop's own values: the LOOP */
    struct origins *next;
} origins;

typedef struct row {
    struct row *next;
    const code *fwd;
    reg r;            /* identity, with block and shape */
    const char *path; /* ".w", "[0]" below the register, or an argument's name */
    value sample;     /* borrowed: gives dtype and shape */
    uint64_t count, bytes;
    const instr *def, *use, *around;
    const code *use_in;
    uint32_t block; /* line of the block that is replayed from it; 0: none */
    bool argument, captured, kept;
} row;

typedef struct item {
    value v;
    const code *fwd;
    reg r; /* fwd NULL: unknown */
    const code *rev;
    reg use; /* REG_NONE: unknown */
    const char *path;
    uint32_t block;
    bool kept;
    uint32_t origin;
} item;

typedef struct given {
    const buffer *b;
    const char *name;
} given;
typedef struct block_row {
    struct block_row *next;
    const residual *r;
    uint32_t line;
    uint64_t count;
    const origins *o;
    const instr *made; /* REPLAYABLE */
} block_row;

/* By register of rev: the instruction that needs it. */
typedef struct uses {
    struct uses *next;
    const code *rev;
    const instr **first;
} uses;

typedef struct saving {
    vm *m;
    arena a;
    bool failed;
    item *todo;
    uint32_t n, cap;
    row *first, **last;
    block_row *blocks, **last_block;
    origins *known;
    uses *uses;
    given *args;
    uint32_t nargs, args_cap;
    const buffer **seen;
    uint32_t nseen, seen_cap;
} saving;

static void *take(saving *s, size_t bytes)
{
    void *p = arena_alloc(&s->a, bytes ? bytes : 1);
    if (!p) s->failed = true;
    return p;
}

static const char *joined(saving *s, const char *a, const char *b)
{
    size_t n = strlen(a), k = strlen(b);
    char *t = take(s, n + k + 1);
    if (!t) return "";
    memcpy(t, a, n);
    memcpy(t + n, b, k + 1);
    return t;
}

static void push(saving *s, item it)
{
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? 2 * s->cap : 256;
        item *more = take(s, cap * sizeof *more);
        if (!more) return;
        if (s->n) memcpy(more, s->todo, s->n * sizeof *more);
        s->todo = more;
        s->cap = cap;
    }
    s->todo[s->n++] = it;
}

/* Pushed last first, so that they come off in order. */
static void push_parts(saving *s, const item *of, uint32_t n, const value *v, const symbol *names)
{
    for (uint32_t k = n; k-- > 0;) {
        char index[32];
        snprintf(index, sizeof index, "[%u]", k);
        item it = *of;
        if (of->v.tag == V_FUNCTION && value_is_scalar(v[k])) continue; /* defaults and the like: not worth a row */
        it.v = v[k];
        const char *part = names ? joined(s, ".", symbol_name(s->m->symbols, names[k])) : index;
        it.path = joined(s, of->path ? of->path : "", part);
        push(s, it);
    }
}

/* --- Code ------------------------------------------------------------------------------------- */

static void define(origins *o, const block *b)
{
    for (uint32_t n = 0; n < b->n; n++) {
        const instr *i = b->list[n];
        for (uint32_t k = 0; k < i->ndst; k++) {
            o->def[i->dst[k]] = i;
            o->result[i->dst[k]] = k;
        }
        for (uint32_t k = 0; k < i->nblocks; k++) {
            for (uint32_t j = 0; j < i->blocks[k]->nparams; j++) o->around[i->blocks[k]->params[j]] = i;
            define(o, i->blocks[k]);
        }
    }
}

static const origins *origins_of(saving *s, const code *fwd)
{
    for (origins *o = s->known; o; o = o->next)
        if (o->fwd == fwd) return o;
    origins *o = take(s, sizeof *o);
    if (!o) return NULL;
    o->fwd = fwd;
    o->def = take(s, (fwd->nregs + 1) * sizeof *o->def);
    o->result = take(s, (fwd->nregs + 1) * sizeof *o->result);
    o->around = take(s, (fwd->nregs + 1) * sizeof *o->around);
    if (!o->def || !o->result || !o->around) return NULL;
    define(o, fwd->body);
    o->next = s->known;
    return s->known = o;
}

static const instr *last_of(const block *b) { return b->list[b->n - 1]; }

/* The register that r's value was made in: through the yields of branches, blocks and loops. */
static reg source_of(const origins *o, reg r)
{
    for (int hops = 0; hops < 100; hops++) {
        const instr *d = o->def[r];
        if (!d) return r;
        uint32_t k = o->result[r];
        if (d->op == OP_CODE_DEFINED || (d->op == OP_CODE_PRIM && !strcmp(prims[d->imm & ~PRIM_SPREAD].name, "name"))) {
            r = d->src[d->nsrc - 1];
            continue;
        }
        if (d->op == OP_CODE_CHECKPOINT) r = last_of(d->blocks[0])->src[k];
        else if (d->op == OP_CODE_IF) {
            reg a = last_of(d->blocks[0])->src[k], b = last_of(d->blocks[1])->src[k];
            const instr *da = o->def[a];
            r = da && da->op == OP_CODE_CONST ? b : a;
        } else if (d->op == OP_CODE_LOOP && !o->fwd->reg_names[r]) {
            const instr *y = last_of(d->blocks[0]);
            r = y->src[y->nsrc - d->ndst + k];
        } else return r;
    }
    return r;
}

/* The forward Code whose pullback is over `rev`. */
static const code *forward_of(const code *rev)
{
    if (!rev->primal) return NULL;
    for (const struct derived *d = rev->primal->derived; d; d = d->next)
        for (uint32_t k = 0; k < d->code->ncodes; k++)
            if (d->code->codes[k] == rev) return d->code;
    return NULL;
}

static const instr *pullback_in(const block *b, const code *fwd, const code *rev)
{
    for (uint32_t n = b->n; n-- > 0;) {
        const instr *i = b->list[n];
        if (i->op == OP_CODE_CLOSURE && fwd->codes[i->imm] == rev) return i;
    }
    return NULL;
}

static void first_uses(const block *b, const instr **first)
{
    for (uint32_t n = 0; n < b->n; n++) {
        const instr *i = b->list[n];
        bool of_form = i->op == OP_CODE_PRIM && !strncmp(prims[i->imm & ~PRIM_SPREAD].name, "__form", 6);
        for (uint32_t k = 0; !of_form && i->op != OP_CODE_YIELD && k < i->nsrc; k++)
            if (!first[i->src[k]]) first[i->src[k]] = i;
        for (uint32_t k = 0; k < i->nblocks; k++) first_uses(i->blocks[k], first);
    }
}

/* The first instruction of rev that reads r for more than its form. */
static const instr *use_in(saving *s, const code *rev, reg r)
{
    uses *u = s->uses;
    while (u && u->rev != rev) u = u->next;
    if (!u) {
        if (!(u = take(s, sizeof *u))) return NULL;
        u->rev = rev;
        u->first = take(s, (rev->nregs + 1) * sizeof *u->first);
        if (!u->first) return NULL;
        first_uses(rev->body, u->first);
        u->next = s->uses;
        s->uses = u;
    }
    return u->first[r];
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool seen_before(saving *s, const buffer *b)
{
    if (2 * (s->nseen + 1) > s->seen_cap) {
        uint32_t cap = s->seen_cap ? 2 * s->seen_cap : 256;
        const buffer **more = take(s, cap * sizeof *more);
        if (!more) return true;
        for (uint32_t i = 0; i < s->seen_cap; i++) {
            if (!s->seen[i]) continue;
            uint32_t k = (uint32_t)((uintptr_t)s->seen[i] >> 4) * 2654435769u & (cap - 1);
            while (more[k]) k = (k + 1) & (cap - 1);
            more[k] = s->seen[i];
        }
        s->seen = more;
        s->seen_cap = cap;
    }
    uint32_t k = (uint32_t)((uintptr_t)b >> 4) * 2654435769u & (s->seen_cap - 1);
    for (; s->seen[k]; k = (k + 1) & (s->seen_cap - 1))
        if (s->seen[k] == b) return true;
    s->seen[k] = b;
    s->nseen++;
    return false;
}

static bool alike(value a, value b)
{
    if (a.tag != b.tag) return false;
    if (a.tag != V_ARRAY) return true;
    const array *p = as_array(a), *q = as_array(b);
    return p->dtype == q->dtype && p->rank == q->rank && !memcmp(array_shape(p), array_shape(q), p->rank * sizeof(int64_t));
}

static void add_row(saving *s, const item *it)
{
    const buffer *b = it->v.tag == V_ARRAY ? as_array(it->v)->buf : NULL;
    if (b && seen_before(s, b)) return;
    if (!b && it->fwd && it->fwd->src && !strncmp(it->fwd->src->name, "<stdlib>", 8)) return; /* costs nothing, and is nobody's */
    const char *argument = NULL;
    for (uint32_t k = 0; b && k < s->nargs; k++)
        if (s->args[k].b == b) argument = s->args[k].name;
    const origins *o = it->fwd ? origins_of(s, it->fwd) : NULL;
    reg r = o && it->r != REG_NONE ? source_of(o, it->r) : REG_NONE;
    bool captured = b && !argument && b->birth < s->m->gradient_birth;
    const char *path = it->path ? it->path : "";
    for (row *p = s->first; p; p = p->next)
        if (p->fwd == it->fwd && p->r == r && p->block == it->block && !p->argument && !argument && p->kept == it->kept &&
            p->captured == captured && alike(p->sample, it->v) && !strcmp(p->path, path)) {
            p->count++;
            if (b) p->bytes += b->bytes;
            return;
        }
    row *p = take(s, sizeof *p);
    if (!p) return;
    *p = (row){.fwd = it->fwd,
               .r = r,
               .path = argument ? argument : path,
               .sample = it->v,
               .count = 1,
               .bytes = b ? b->bytes : 0,
               .def = r != REG_NONE ? o->def[r] : NULL,
               .around = r != REG_NONE ? o->around[r] : NULL,
               .block = it->block,
               .argument = argument != NULL,
               .captured = captured,
               .kept = it->kept};
    if (it->rev && it->use != REG_NONE) {
        p->use = use_in(s, it->rev, it->use);
        p->use_in = it->rev;
    }
    *s->last = p;
    s->last = &p->next;
}

/* --- the walk --------------------------------------------------------------------------------- */

static void walk_pullback(saving *s, const closure *f)
{
    const code *rev = f->code, *fwd = rev->role == CODE_REV ? forward_of(rev) : NULL;
    const instr *i = fwd ? pullback_in(fwd->body, fwd, rev) : NULL;
    /* Captures stand in the order of the adjoint program: the last is pushed last and so comes off first. */
    for (uint32_t k = 0; k < f->n; k++)
        push(s, (item){.v = f->captures[k],
                       .fwd = i ? fwd : NULL,
                       .r = i && k < i->nsrc ? i->src[k] : REG_NONE,
                       .rev = rev,
                       .use = rev->body->params[k]});
}

/* The loop tape of a lazy loop: what entered its body, its states, and what it has recorded; a loop tape has
   several views, the first of which stands for it. */
static void walk_looptape(saving *s, const item *it)
{
    const looptape *l = as_tape(it->v)->of;
    if (as_tape(it->v)->first) return;
    const block *body = l->record->body;
    uint32_t line = 0, column, states = l->n + l->of->range, n = l->of->nstate;
    if (!l->of->budget) span_where(l->record->at, &line, &column);
    uint64_t all = 0;
    while (looptape_value(l, &all)) {}
    for (uint64_t k = all - 1, bounds = l->of->range ? 2 : 0; k-- > bounds;) {
        uint64_t at = k, q = k < l->n ? k : n && k < l->n + (l->nheld + l->working) * n ? states + (k - l->n) % n : body->nparams;
        const value *v = looptape_value(l, &at);
        push(s, (item){.v = *v,
                       .fwd = l->record,
                       .r = q < body->nparams ? body->params[q] : REG_NONE,
                       .rev = l->record,
                       .use = q < body->nparams ? body->params[q] : REG_NONE,
                       .block = line});
    }
}

/* Entries of a tape: what its LOOP pushes. */
static void walk_tape(saving *s, const item *it)
{
    const tape *t = as_tape(it->v);
    if (t->of) {
        walk_looptape(s, it);
        return;
    }
    const origins *o = it->fwd ? origins_of(s, it->fwd) : NULL;
    reg r = o && it->r != REG_NONE ? source_of(o, it->r) : REG_NONE;
    const instr *p = r != REG_NONE ? o->def[r] : NULL;
    if (p && (p->op != OP_CODE_TAPEPUSH || p->nsrc != t->width + 1)) p = NULL;
    const instr *loop = it->rev && it->use != REG_NONE ? use_in(s, it->rev, it->use) : NULL;
    const reg *params = NULL;
    if (loop && loop->op == OP_CODE_LOOP && (loop->imm & LOOP_KIND) == LOOP_TAPE) {
        params = loop->blocks[0]->params;
        for (uint32_t k = 0; k < loop->ntapes && loop->src[k] != it->use; k++) params += loop->widths[k];
    }
    for (uint64_t e = t->n; e-- > 0;)
        for (uint32_t k = t->width; k-- > 0;)
            push(s, (item){.v = t->v[e * t->width + k],
                           .fwd = p ? it->fwd : NULL,
                           .r = p ? p->src[k + 1] : REG_NONE,
                           .rev = it->rev,
                           .use = params ? params[k] : REG_NONE,
                           .block = it->block});
}

static void walk_block(saving *s, const item *it)
{
    const residual *p = as_residual(it->v);
    uint32_t line = 0, column;
    span_where(p->region->at, &line, &column);
    const origins *o = it->fwd ? origins_of(s, it->fwd) : NULL;
    reg r = o && it->r != REG_NONE ? source_of(o, it->r) : REG_NONE;
    const instr *i = r != REG_NONE ? o->def[r] : NULL;
    if (i && (i->op != OP_CODE_REPLAYABLE || i->nsrc != p->n)) i = NULL;
    block_row *b = s->blocks;
    while (b && b->r->region != p->region) b = b->next;
    if (b) b->count++;
    else if ((b = take(s, sizeof *b))) {
        *b = (block_row){.r = p, .line = line, .count = 1, .o = o, .made = i};
        *s->last_block = b;
        s->last_block = &b->next;
    }
    for (uint32_t k = p->keep.n; k-- > 0;)
        push(s, (item){.v = p->keep.of[k].v,
                       .fwd = p->region,
                       .r = REG_NONE,
                       .use = REG_NONE,
                       .block = line,
                       .kept = true,
                       .origin = p->keep.of[k].origin});
    for (uint32_t k = p->n; k-- > 0;)
        push(s, (item){.v = p->entered[k],
                       .fwd = i ? it->fwd : NULL,
                       .r = i ? i->src[k] : REG_NONE,
                       .rev = p->region,
                       .use = p->region->body->params[k],
                       .block = line});
}

/* The register that a kept value's instruction defines. */
static reg by_origin(const origins *o, uint32_t origin)
{
    for (uint32_t r = 0; o && r < o->fwd->nregs; r++)
        if (o->def[r] && o->def[r]->origin == origin) return r;
    return REG_NONE;
}

static void walk(saving *s, item it)
{
    if (it.kept && it.r == REG_NONE && it.fwd) it.r = by_origin(origins_of(s, it.fwd), it.origin);
    switch (it.v.tag) {
    case V_BOOL:
    case V_I64:
    case V_F32:
    case V_F64:
    case V_ARRAY: add_row(s, &it); return;
    case V_TUPLE: push_parts(s, &it, as_tuple(it.v)->n, as_tuple(it.v)->v, NULL); return;
    case V_RECORD: push_parts(s, &it, as_record(it.v)->n, as_record(it.v)->v, as_record(it.v)->names); return;
    case V_TAPE: walk_tape(s, &it); return;
    case V_RESIDUAL: walk_block(s, &it); return;
    case V_FUNCTION:
        if (as_closure(it.v)->residual) walk_pullback(s, as_closure(it.v));
        else push_parts(s, &it, as_closure(it.v)->n, as_closure(it.v)->captures, NULL);
        return;
    default: return;
    }
}

/* Buffers of the arguments, by name. */
static void note_argument(saving *s, value v, const char *name, int depth)
{
    if (v.tag == V_ARRAY) {
        if (s->nargs == s->args_cap) {
            uint32_t cap = s->args_cap ? 2 * s->args_cap : 32;
            given *more = take(s, cap * sizeof *more);
            if (!more) return;
            if (s->nargs) memcpy(more, s->args, s->nargs * sizeof *more);
            s->args = more;
            s->args_cap = cap;
        }
        s->args[s->nargs++] = (given){as_array(v)->buf, name};
        return;
    }
    uint32_t n = v.tag == V_TUPLE ? as_tuple(v)->n : v.tag == V_RECORD ? as_record(v)->n : 0;
    for (uint32_t k = 0; k < n && depth < 100 && !INTERRUPTED(s->m); k++) {
        char part[32];
        snprintf(part, sizeof part, "[%u]", k);
        const char *field = v.tag == V_RECORD ? joined(s, ".", symbol_name(s->m->symbols, as_record(v)->names[k])) : part;
        note_argument(s, v.tag == V_RECORD ? as_record(v)->v[k] : as_tuple(v)->v[k], joined(s, name, field), depth + 1);
    }
}

/* --- the report ------------------------------------------------------------------------------- */

static bool put(vm *m, value *r, const char *name, value v)
{
    symbol y = symbol_of(m->symbols, name, strlen(name));
    if (v.tag != V_UNDEF && (y || vm_out_of_memory(m)) && record_set(m, r, y, v)) return true;
    value_release(m, v);
    return false;
}

static value words(vm *m, const char *s, size_t n)
{
    string *t = string_new(m, s, n);
    return t ? value_object(&t->h) : value_undef();
}

/* The source of an instruction on one line, at most 48 bytes. */
static value source_words(vm *m, const instr *i)
{
    char out[64];
    size_t n = 0;
    const source *src = i ? i->at.src : NULL;
    for (uint32_t k = i ? i->at.lo : 0; src && k < i->at.hi && k < src->length; k++) {
        char c = src->text[k];
        if (c == '\n' || c == '\t') c = ' ';
        if (c == ' ' && n && out[n - 1] == ' ') continue;
        if (n >= 48 && (c & 0xc0) != 0x80) {
            memcpy(out + n, "...", 3);
            n += 3;
            break;
        }
        if (n >= 56) break;
        out[n++] = c;
    }
    return words(m, out, n);
}

static int64_t line_of(const instr *i)
{
    uint32_t line = 0, column;
    if (i) span_where(i->at, &line, &column);
    return line;
}

static value shape_value(vm *m, value v)
{
    uint32_t n = v.tag == V_ARRAY ? as_array(v)->rank : 0;
    tuple *t = tuple_new(m, n, n);
    if (!t) return value_undef();
    for (uint32_t k = 0; k < n; k++) t->v[k] = value_i64(array_shape(as_array(v))[k]);
    return value_object(&t->h);
}

static value row_value(saving *s, const row *p)
{
    vm *m = s->m;
    record *r = record_new(m, 0, 12);
    if (!r) return value_undef();
    value out = value_object(&r->h), name;
    const char *own = p->fwd && p->r != REG_NONE ? symbol_name(m->symbols, p->fwd->reg_names[p->r]) : "";
    int64_t line = line_of(p->def ? p->def : p->around);
    if (p->argument) name = words(m, p->path, strlen(p->path));
    else if (*own || !p->def) {
        const char *whole = joined(s, own, p->path);
        name = words(m, whole, strlen(whole));
    } else name = source_words(m, p->def);
    if (!line && p->fwd) {
        uint32_t at, column;
        span_where(p->fwd->at, &at, &column);
        line = at;
    }
    const char *in = p->fwd ? symbol_name(m->symbols, p->fwd->name) : "";
    const char *from = p->argument ? "argument" : p->captured ? "captured" : p->kept ? "kept by the block" : "computed";
    const char *type = dtype_name(p->sample.tag == V_ARRAY ? (dtype)as_array(p->sample)->dtype : scalar_dtype(p->sample));
    bool fine = put(m, &out, "name", name) && put(m, &out, "dtype", words(m, type, strlen(type))) &&
                put(m, &out, "shape", shape_value(m, p->sample)) && put(m, &out, "count", value_i64((int64_t)p->count)) &&
                put(m, &out, "bytes", value_i64((int64_t)p->bytes)) && put(m, &out, "line", value_i64(line)) &&
                put(m, &out, "function", words(m, in, strlen(in))) && put(m, &out, "from", words(m, from, strlen(from))) &&
                put(m, &out, "needed", source_words(m, p->use)) && put(m, &out, "needed_line", value_i64(line_of(p->use))) &&
                put(m, &out, "block", value_i64(p->block));
    if (fine) return out;
    value_release(m, out);
    return value_undef();
}

static value block_value(saving *s, const block_row *b)
{
    vm *m = s->m;
    record *r = record_new(m, 0, 4);
    tuple *t = tuple_new(m, 0, 4);
    if (!r || !t) {
        if (r) value_release(m, value_object(&r->h));
        if (t) value_release(m, value_object(&t->h));
        return value_undef();
    }
    value out = value_object(&r->h), enters = value_object(&t->h);
    uint64_t bytes = 0;
    bool fine = true;
    for (uint32_t k = 0; b->made && k < b->made->nsrc && fine; k++) {
        reg in = source_of(b->o, b->made->src[k]);
        const char *own = symbol_name(m->symbols, b->o->fwd->reg_names[in]);
        value name = *own || !b->o->def[in] ? words(m, own, strlen(own)) : source_words(m, b->o->def[in]);
        fine = name.tag != V_UNDEF && tuple_append(m, &enters, name);
        if (!fine) value_release(m, name);
    }
    for (const row *p = s->first; p; p = p->next)
        if (p->block == b->line && !p->argument && !p->captured) bytes += p->bytes;
    const char *where = symbol_name(m->symbols, b->r->region->name);
    fine = fine && put(m, &out, "line", value_i64(b->line)) && put(m, &out, "function", words(m, where, strlen(where))) &&
           put(m, &out, "count", value_i64((int64_t)b->count));
    if (!fine) value_release(m, enters);
    fine = fine && put(m, &out, "enters", enters) && put(m, &out, "bytes", value_i64((int64_t)bytes));
    if (fine) return out;
    value_release(m, out);
    return value_undef();
}

static bool list(vm *m, value *out, const char *name, value t, bool fine)
{
    if (fine) return put(m, out, name, t);
    value_release(m, t);
    return false;
}

static bool report(saving *s, value *out)
{
    vm *m = s->m;
    tuple *a = tuple_new(m, 0, 8), *b = tuple_new(m, 0, 4);
    record *r = record_new(m, 0, 4);
    if (!a || !b || !r) {
        if (a) value_release(m, value_object(&a->h));
        if (b) value_release(m, value_object(&b->h));
        if (r) value_release(m, value_object(&r->h));
        return false;
    }
    value values = value_object(&a->h), blocks = value_object(&b->h);
    *out = value_object(&r->h);
    uint64_t bytes = 0, arguments = 0;
    bool fine = true;
    for (const row *p = s->first; p && fine; p = p->next) {
        value v = row_value(s, p);
        fine = v.tag != V_UNDEF && tuple_append(m, &values, v);
        if (!fine) value_release(m, v);
        *(p->argument || p->captured ? &arguments : &bytes) += p->bytes;
    }
    for (const block_row *p = s->blocks; p && fine; p = p->next) {
        value v = block_value(s, p);
        fine = v.tag != V_UNDEF && tuple_append(m, &blocks, v);
        if (!fine) value_release(m, v);
    }
    fine = list(m, out, "values", values, fine);
    fine = list(m, out, "blocks", blocks, fine);
    fine = fine && put(m, out, "bytes", value_i64((int64_t)bytes)) && put(m, out, "given_bytes", value_i64((int64_t)arguments));
    if (!fine) value_release(m, *out);
    return fine;
}

/* __saved(pullback, f, args): see saved() in stdlib/derive.rl. */
bool kern_saved(prim_call *c)
{
    vm *m = c->vm;
    saving s = {.m = m};
    arena_open(&s.a, &m->mem, MEM_OTHER);
    s.last = &s.first;
    s.last_block = &s.blocks;
    const code *f = c->args[1].tag == V_FUNCTION ? as_closure(c->args[1])->code : NULL;
    const tuple *args = as_tuple(c->args[2]);
    for (uint32_t k = 0; k < args->n; k++) {
        bool named = f && k < f->nparams && !(f->rest && k + 1 == f->nparams);
        char position[32];
        snprintf(position, sizeof position, "argument %u", k);
        const char *name = named ? symbol_name(m->symbols, f->param_names[k]) : joined(&s, position, "");
        note_argument(&s, args->v[k], name, 0);
    }
    push(&s, (item){.v = c->args[0], .r = REG_NONE, .use = REG_NONE});
    while (s.n && !s.failed) walk(&s, s.todo[--s.n]);
    bool fine = s.failed ? vm_out_of_memory(m) : report(&s, &c->out);
    if (fine && s.failed) {
        value_release(m, c->out);
        fine = vm_out_of_memory(m);
    }
    arena_close(&s.a);
    return fine;
}
