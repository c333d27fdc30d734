/* gen_tree.c: the generator's trees: allocation, random choices, types, nodes, their text, and the
 * edits a minimiser makes. All memory is freed at once by gen_free. */
#include "gen_parts.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- memory and chance ---------------------------------------------------------------------- */
static void *must(void *p)
{
    if (!p) {
        fputs("out of memory\n", stderr);
        abort();
    }
    return p;
}

void *gen_alloc(gen *g, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (!g->chunks || g->chunks->left < bytes) {
        size_t room = bytes > 65536 ? bytes : 65536;
        struct chunk *c = must(calloc(1, sizeof *c + room + 16));
        c->next = g->chunks;
        c->at = (char *)(c + 1);
        c->left = room;
        g->chunks = c;
    }
    void *p = g->chunks->at;
    g->chunks->at += bytes;
    g->chunks->left -= bytes;
    return p;
}

const char *gen_format(gen *g, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0) abort();
    char *s = gen_alloc(g, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

/* splitmix64 */
uint64_t gen_random(gen *g)
{
    uint64_t z = (g->rng += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
int gen_below(gen *g, int n)
{
    if (n <= 1) return 0;
    unsigned x = 0;
    for (int most = 1; most < n; most *= 256) {
        if (!g->config.nbytes) return (int)(gen_random(g) % (uint64_t)n);
        x = x << 8 | *g->config.bytes++;
        g->config.nbytes--;
    }
    return (int)(x % (unsigned)n);
}
bool gen_chance(gen *g, int percent) { return gen_below(g, 100) < percent; }
double gen_number(gen *g) { return (2 * gen_below(g, 15000) + 1 - 15000) / 10000.0; } /* never 0: a kink of many functions */
int gen_dim(gen *g) { return g->dims[gen_below(g, 3)]; }
bool gen_knows(gen *g, const char *name) { return !g->config.knows || g->config.knows(g->config.ctx, name); }

/* --- types ---------------------------------------------------------------------------------- */
const type *gen_type_float(gen *g, int rank, int d0, int d1)
{
    type *t = gen_alloc(g, sizeof *t);
    t->kind = T_FLOAT;
    t->rank = rank;
    if (rank > 0) t->dim[0] = d0;
    if (rank > 1) t->dim[1] = d1;
    return t;
}
const type *gen_type_of_kind(gen *g, type_kind kind)
{
    type *t = gen_alloc(g, sizeof *t);
    t->kind = kind;
    return t;
}
const type *gen_type_of_parts(gen *g, type_kind kind, int n, const type *const *parts, const char *const *names)
{
    type *t = gen_alloc(g, sizeof *t);
    t->kind = kind;
    t->n = n;
    for (int i = 0; i < n; i++) {
        t->part[i] = parts[i];
        t->name[i] = kind == T_RECORD ? names[i] : NULL;
    }
    return t;
}
bool gen_type_equal(const type *a, const type *b)
{
    if (a == b) return true;
    if (a->kind != b->kind || a->rank != b->rank || a->dim[0] != b->dim[0] || a->dim[1] != b->dim[1] || a->n != b->n) return false;
    for (int i = 0; i < a->n; i++) {
        if (!gen_type_equal(a->part[i], b->part[i])) return false;
        if (a->name[i] && strcmp(a->name[i], b->name[i]) != 0) return false;
    }
    return true;
}
int gen_type_size(const type *t) { return (t->rank > 0 ? t->dim[0] : 1) * (t->rank > 1 ? t->dim[1] : 1); }

/* --- nodes ---------------------------------------------------------------------------------- */
void gen_add(gen *g, node *n, node *kid)
{
    if (n->nkids == n->cap) {
        n->cap = n->cap ? 2 * n->cap : 4;
        node **more = gen_alloc(g, (size_t)n->cap * sizeof *more);
        if (n->nkids) memcpy(more, n->kid, (size_t)n->nkids * sizeof *more);
        n->kid = more;
    }
    n->kid[n->nkids++] = kid;
}

static node *node_va(gen *g, node_kind kind, const char *form, int nkids, va_list args)
{
    node *n = gen_alloc(g, sizeof *n);
    n->kind = kind;
    n->form = form;
    for (int i = 0; i < nkids; i++) gen_add(g, n, va_arg(args, node *));
    return n;
}
node *gen_node(gen *g, node_kind kind, const char *form, int nkids, ...)
{
    va_list args;
    va_start(args, nkids);
    node *n = node_va(g, kind, form, nkids, args);
    va_end(args);
    return n;
}
node *gen_part(gen *g, const type *t, double bound, const char *form, int nkids, ...)
{
    va_list args;
    va_start(args, nkids);
    node *n = node_va(g, N_EXPR, form, nkids, args);
    va_end(args);
    n->type = t;
    n->bound = bound;
    return n;
}

/* --- text ----------------------------------------------------------------------------------- */
typedef struct out {
    char *s;
    size_t n, cap;
    unsigned flags;
} out;

static void put(out *o, const char *s, size_t n)
{
    if (!s || !n) return;
    if (o->n + n + 1 > o->cap) {
        o->cap = 2 * (o->n + n + 1);
        o->s = must(realloc(o->s, o->cap));
    }
    memcpy(o->s + o->n, s, n);
    o->s[o->n += n] = 0;
}
static void puts_(out *o, const char *s) { put(o, s, strlen(s)); }
static void indent(out *o, int level)
{
    for (int i = 0; i < level; i++) puts_(o, "  ");
}

static void put_constant(out *o, const type *t)
{
    char s[64];
    switch (t ? t->kind : T_TEXT) {
    case T_FLOAT:
        if (t->rank == 0) puts_(o, "0.5");
        else if (t->rank == 1) snprintf(s, sizeof s, "(0.5 * ones(%d))", t->dim[0]), puts_(o, s);
        else snprintf(s, sizeof s, "(0.5 * ones(%d, %d))", t->dim[0], t->dim[1]), puts_(o, s);
        break;
    case T_INT: puts_(o, "i64(1)"); break;
    case T_BOOL: puts_(o, "true"); break;
    case T_LIST: puts_(o, "()"); break;
    default: puts_(o, "none"); break;
    }
}

static void put_node(out *o, const node *n, int level)
{
    if (n->instead) {
        put_node(o, n->instead, level);
        return;
    }
    if (n->gone) {
        if (n->kind == N_EXPR) put_constant(o, n->type);
        else if (n->kind == N_COND) puts_(o, "true");
        return;
    }
    bool trace = o->flags & GEN_TRACE;
    char s[32];
    switch (n->kind) {
    case N_SEQ:
        for (int i = 0; i < n->nkids; i++) {
            const node *k = n->kid[i];
            while (k->instead) k = k->instead;
            if (k->gone && k->kind != N_EXPR) continue;
            if (k->kind == N_SEQ) {
                put_node(o, k, level);
                continue;
            }
            indent(o, level);
            put_node(o, k, level);
            puts_(o, "\n");
        }
        return;
    case N_COND:
        if (trace) snprintf(s, sizeof s, "tr(%d, ", n->mark), puts_(o, s);
        put_node(o, n->kid[0], level);
        if (trace) puts_(o, ")");
        return;
    case N_PRINT:
        puts_(o, trace ? "(" : "print(");
        puts_(o, n->form);
        for (int i = 0; i < n->nkids; i++) {
            puts_(o, ", ");
            put_node(o, n->kid[i], level);
        }
        puts_(o, ")");
        return;
    case N_CHECKPOINT: {
        bool blocks = (o->flags & GEN_BLOCKS) && !n->plain;
        puts_(o, blocks ? "checkpoint " : "if (true) {\n");
        if (blocks && !n->bare) puts_(o, n->form);
        if (blocks) puts_(o, "<\n");
        put_node(o, n->kid[0], level + 1);
        indent(o, level);
        puts_(o, blocks ? ">" : "}");
        return;
    }
    default: {
        int next = 0;
        for (const char *f = n->form; *f; f++) {
            if (*f == '$') {
                const node *k = n->kid[next++];
                put_node(o, k, k->kind == N_SEQ ? level + 1 : level);
            } else if (*f == '\n') {
                puts_(o, "\n");
            } else if (*f == '\t') {
                indent(o, level);
            } else {
                put(o, f, 1);
            }
        }
        return;
    }
    }
}

char *gen_text(const gen *g, unsigned flags)
{
    out o = {.flags = flags};
    char line[64];
    snprintf(line, sizeof line, "# seed %llu\n", (unsigned long long)g->seed);
    puts_(&o, line);
    if (flags & GEN_TRACE) puts_(&o, "fn tr(k, c) {\n  print(\"branch\", k, c)\n  c\n}\n");
    put_node(&o, g->top, 0);
    put_node(&o, flags & GEN_TRACE ? g->trace : g->driver, 0);
    return o.s;
}

/* --- edits ---------------------------------------------------------------------------------- */
enum { EDIT_DROP, EDIT_PART, EDIT_PLAIN, EDIT_BARE };

static void add_edit(gen *g, node *of, int kind, int arg)
{
    if (g->nedits == g->edits_cap) {
        g->edits_cap = g->edits_cap ? 2 * g->edits_cap : 256;
        g->edits = must(realloc(g->edits, g->edits_cap * sizeof *g->edits));
    }
    g->edits[g->nedits++] = (struct edit){of, kind, arg};
}

/* Edits of the whole tree, a level at a time, so that the large ones come first. */
static void list_edits(gen *g)
{
    size_t cap = 64, n = 0;
    node **queue = must(malloc(cap * sizeof *queue));
    queue[n++] = g->driver;
    queue[n++] = g->top;
    for (size_t i = 0; i < n; i++) {
        node *x = queue[i];
        while (x->instead) x = x->instead;
        if (x->gone) continue;
        if (x != g->driver && x != g->top && (x->kind != N_SEQ)) {
            if (x->kind != N_EXPR || x->nkids || (x->type && x->type->kind != T_FN)) add_edit(g, x, EDIT_DROP, 0);
            if (x->kind == N_CHECKPOINT) {
                add_edit(g, x, EDIT_PLAIN, 0);
                if (x->form[0]) add_edit(g, x, EDIT_BARE, 0);
            }
            for (int k = 0; k < x->nkids; k++) {
                node *kid = x->kid[k];
                bool body = x->kind == N_STMT && kid->kind == N_SEQ;
                bool part = x->kind == N_EXPR && kid->kind == N_EXPR && x->type && kid->type && gen_type_equal(x->type, kid->type);
                if (body || part) add_edit(g, x, EDIT_PART, k);
            }
        }
        for (int k = 0; k < x->nkids; k++) {
            if (n == cap) queue = must(realloc(queue, (cap *= 2) * sizeof *queue));
            queue[n++] = x->kid[k];
        }
    }
    free(queue);
    g->listed = true;
}

size_t gen_edits(gen *g)
{
    if (!g->listed) {
        g->nedits = 0;
        list_edits(g);
    }
    return g->nedits;
}
bool gen_edit(gen *g, size_t k)
{
    struct edit e = g->edits[k];
    if (e.of->gone || e.of->instead) return false;
    g->saved = *e.of;
    g->edited = e.of;
    switch (e.kind) {
    case EDIT_DROP: e.of->gone = true; break;
    case EDIT_PART: e.of->instead = e.of->kid[e.arg]; break;
    case EDIT_PLAIN:
        if (e.of->plain) return false;
        e.of->plain = true;
        break;
    case EDIT_BARE:
        if (e.of->bare || e.of->plain) return false;
        e.of->bare = true;
        break;
    }
    g->listed = false;
    return true;
}
void gen_undo(gen *g)
{
    *g->edited = g->saved;
    g->listed = true;
}

static size_t count(const node *n)
{
    while (n->instead) n = n->instead;
    if (n->gone) return 0;
    size_t c = 1;
    for (int i = 0; i < n->nkids; i++) c += count(n->kid[i]);
    return c;
}
size_t gen_size(const gen *g) { return count(g->top) + count(g->driver); }
uint64_t gen_seed(const gen *g) { return g->seed; }
bool gen_has_differences(const gen *g) { return !g->stops; }

void gen_free(gen *g)
{
    struct chunk *c = g->chunks;
    free(g->edits);
    while (c) {
        struct chunk *next = c->next;
        free(c);
        c = next;
    }
    free(g);
}
