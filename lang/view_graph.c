/* view_graph.c: `graph f(args)`: a function's computation as a picture, with values and cotangents; checkpoint
 * blocks, loops and branches are boxes with what enters them on top.
 *
 * A node is an instruction of the function's Code. Nodes stand in layers below what they use; an edge that
 * passes several layers has a bend in each, so that it goes around the nodes there. A box is laid out by
 * itself first and is then a node of its own size. */
#include "view.h"
#include "trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct gnode {
    const instr *i;       /* NULL: a parameter or what enters a box, or a bend */
    reg r;                /* of its (first) value */
    struct graph *inside; /* a box */
    text head, value, cot;
    bool bend, port;
    uint32_t layer;
    double x, y, w, h, want; /* middle of the top edge; size; where its neighbours would have it */
    double row;              /* the height of its layer: edges go straight down through it */
} gnode;

typedef struct edge {
    uint32_t from, to;
} edge;

typedef struct graph {
    gnode *nodes;
    uint32_t n, cap;
    edge *edges;
    uint32_t nedges, edges_cap;
    double w, h;
    const char *kind; /* "checkpoint" … of a box */
    svg_ink ink;
} graph;

typedef struct maker {
    session *s;
    const trace *t;
    const code *c;
    value args, cots; /* of the call */
    bool *callee;     /* by register: a function that is only called */
    bool failed;
} maker;

#define FONT 14.0
#define LINE 19.0

static uint32_t add_node(maker *k, graph *g)
{
    if (g->n == g->cap) {
        uint32_t cap = g->cap ? 2 * g->cap : 16;
        gnode *more = realloc(g->nodes, cap * sizeof *more);
        if (!more) {
            k->failed = true;
            return 0;
        }
        g->nodes = more;
        g->cap = cap;
    }
    gnode *p = &g->nodes[g->n];
    *p = (gnode){.r = REG_NONE};
    text_open(&p->head, &k->s->h->vm->mem);
    text_open(&p->value, &k->s->h->vm->mem);
    text_open(&p->cot, &k->s->h->vm->mem);
    return g->n++;
}

static void add_edge(maker *k, graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t j = 0; j < g->nedges; j++)
        if (g->edges[j].from == from && g->edges[j].to == to) return;
    if (g->nedges == g->edges_cap) {
        uint32_t cap = g->edges_cap ? 2 * g->edges_cap : 32;
        edge *more = realloc(g->edges, cap * sizeof *more);
        if (!more) {
            k->failed = true;
            return;
        }
        g->edges = more;
        g->edges_cap = cap;
    }
    g->edges[g->nedges++] = (edge){from, to};
}

static void graph_close(graph *g)
{
    for (uint32_t i = 0; i < g->n; i++) {
        text_close(&g->nodes[i].head);
        text_close(&g->nodes[i].value);
        text_close(&g->nodes[i].cot);
        if (g->nodes[i].inside) {
            graph_close(g->nodes[i].inside);
            free(g->nodes[i].inside);
        }
    }
    free(g->nodes);
    free(g->edges);
}

/* --- what there is ------------------------------------------------------------------------------ */

static const trace_row *row_of(const maker *k, reg r)
{
    for (uint32_t j = 0; j < k->t->nrows; j++)
        if (k->t->rows[j].code == k->c && k->t->rows[j].r == r) return &k->t->rows[j];
    return NULL;
}

static void values_of(maker *k, gnode *p)
{
    const trace_row *row = p->r != REG_NONE ? row_of(k, p->r) : NULL;
    if (!row) return;
    view_value(k->s->h->vm, row->v, 26, &p->value);
    view_value(k->s->h->vm, row->cot, 26, &p->cot);
}

static void head_of(maker *k, gnode *p)
{
    symbols *names = k->s->h->vm->symbols;
    symbol own = trace_symbol(k->c, p->r);
    if (own) text_printf(&p->head, "%s = ", symbol_name(names, own));
    trace_source(p->i, 28, &p->head);
}

/* A function taken from a module or a record to be called goes by the call's own words. */
static void find_callees(bool *callee, const block *b, bool called)
{
    for (uint32_t n = 0; n < b->n; n++) {
        const instr *i = b->list[n];
        for (uint32_t j = 0; j < i->nsrc; j++) {
            bool call = i->op == OP_CODE_CALL && j == 0;
            if (call == called) callee[i->src[j]] = called;
        }
        for (uint32_t j = 0; j < i->nblocks; j++) find_callees(callee, i->blocks[j], called);
    }
}

static bool is_shown(const maker *k, const instr *i)
{
    if (trace_is_key(i) || (i->op == OP_CODE_FIELD && k->callee[i->dst[0]])) return false;
    if (!i->ndst || i->op == OP_CODE_CONST || i->op == OP_CODE_CLOSURE || i->op == OP_CODE_GLOBAL || i->op == OP_CODE_SELF) return false;
    if (i->op == OP_CODE_PRIM && !trace_is_shown(&prims[i->imm & ~PRIM_SPREAD])) return false;
    return i->op != OP_CODE_CONTRACT && i->op != OP_CODE_DEFINED && i->op != OP_CODE_SELDEF && !(i->flags & INSTR_RULE);
}

/* Registers whose value another one passes on. */
static reg through(const instr **def, reg r)
{
    while (def[r] && def[r]->nsrc &&
           (def[r]->op == OP_CODE_DEFINED || def[r]->op == OP_CODE_SELDEF ||
            (def[r]->op == OP_CODE_PRIM && !trace_is_shown(&prims[def[r]->imm & ~PRIM_SPREAD]))))
        r = def[r]->src[def[r]->op == OP_CODE_SELDEF ? 1 : 0];
    return r;
}

static void define(const instr **def, const block *b)
{
    for (uint32_t n = 0; n < b->n; n++) {
        for (uint32_t j = 0; j < b->list[n]->ndst; j++) def[b->list[n]->dst[j]] = b->list[n];
        for (uint32_t j = 0; j < b->list[n]->nblocks; j++) define(def, b->list[n]->blocks[j]);
    }
}

static uint32_t port(maker *k, graph *g, uint32_t *where, reg r)
{
    uint32_t n = add_node(k, g);
    gnode *p = &g->nodes[n];
    p->r = r;
    p->port = true;
    symbol own = trace_symbol(k->c, r);
    text_puts(&p->head, own ? symbol_name(k->s->h->vm->symbols, own) : "·");
    where[r] = n;
    return n;
}

static void build(maker *k, graph *g, const block *b, const instr **def, bool top);

/* where[r]: the node of g that gives r. A register from outside g becomes a port, if it is one worth seeing. */
static void use(maker *k, graph *g, uint32_t *where, const instr **def, reg r, uint32_t to, bool top)
{
    r = through(def, r);
    if (def[r] && trace_is_key(def[r])) { /* what is in it is used */
        for (uint32_t j = 0; j < def[r]->nsrc; j++) use(k, g, where, def, def[r]->src[j], to, top);
        return;
    }
    if (def[r] && def[r]->op == OP_CODE_FIELD && k->callee[r]) return;
    if (def[r] && (def[r]->op == OP_CODE_CONST || def[r]->op == OP_CODE_GLOBAL || def[r]->op == OP_CODE_CLOSURE ||
                   def[r]->op == OP_CODE_SELF || def[r]->op == OP_CODE_CONTRACT))
        return;
    if (where[r] == UINT32_MAX) {
        if (top && def[r]) return;
        port(k, g, where, r);
    }
    add_edge(k, g, where[r], to);
}

static void build(maker *k, graph *g, const block *b, const instr **def, bool top)
{
    uint32_t *where = malloc(k->c->nregs * sizeof *where);
    if (!where) {
        k->failed = true;
        return;
    }
    memset(where, 0xff, k->c->nregs * sizeof *where);
    for (uint32_t n = 0; n < b->n && !k->failed && g->n < 400; n++) {
        const instr *i = b->list[n];
        if (!is_shown(k, i)) continue;
        uint32_t at = add_node(k, g);
        g->nodes[at].i = i;
        g->nodes[at].r = i->dst[0];
        reg *uses = NULL;
        uint32_t nuses = 0;
        if (i->nblocks) {
            graph *in = calloc(1, sizeof *in);
            if (!in) {
                k->failed = true;
                break;
            }
            in->kind = i->op == OP_CODE_CHECKPOINT ? "checkpoint" : i->op == OP_CODE_LOOP ? "loop" : "if";
            in->ink = i->op == OP_CODE_CHECKPOINT ? INK_REPLAY : INK_FRAME;
            g->nodes[at].inside = in;
            for (uint32_t j = 0; j < blocks_run(i); j++) build(k, in, i->blocks[j], def, false);
            uses = malloc((in->n + 1) * sizeof *uses);
            for (uint32_t j = 0; uses && j < in->n; j++)
                if (in->nodes[j].port && g != in) uses[nuses++] = in->nodes[j].r;
        } else {
            head_of(k, &g->nodes[at]);
            values_of(k, &g->nodes[at]);
        }
        for (uint32_t j = 0; j < i->nsrc; j++) use(k, g, where, def, i->src[j], at, top);
        for (uint32_t j = 0; j < nuses; j++) {
            bool own = false; /* a loop's own values do not come from outside */
            for (uint32_t q = 0; q < i->nblocks; q++)
                for (uint32_t z = 0; z < i->blocks[q]->nparams; z++) own |= i->blocks[q]->params[z] == uses[j];
            if (!own) use(k, g, where, def, uses[j], at, top);
        }
        free(uses);
        for (uint32_t j = 0; j < i->ndst; j++) where[i->dst[j]] = at;
    }
    free(where);
}

/* --- where it stands ----------------------------------------------------------------------------- */

static double words_width(const text *t) { return (double)utf8_length(text_str(t), t->n) * FONT * SVG_ADVANCE; }

static void layout(maker *k, graph *g);

static void sizes(maker *k, graph *g)
{
    for (uint32_t i = 0; i < g->n; i++) {
        gnode *p = &g->nodes[i];
        if (p->inside) {
            layout(k, p->inside);
            p->w = p->inside->w + 28;
            p->h = p->inside->h + 44;
            continue;
        }
        double w = words_width(&p->head), v = words_width(&p->value), c = words_width(&p->cot);
        p->w = (w > v ? w > c ? w : c : v > c ? v : c) + 24;
        p->h = 14 + LINE * (1 + (p->value.n > 0) + (p->cot.n > 0));
        if (p->w < 48) p->w = 48;
    }
}

static int by_want(const void *a, const void *b)
{
    const gnode *p = *(gnode *const *)a, *q = *(gnode *const *)b;
    return p->want < q->want ? -1 : p->want > q->want ? 1 : p < q ? -1 : 1;
}

static void layout(maker *k, graph *g)
{
    sizes(k, g);
    /* Nodes come after what they use, ports aside, which go right above their first use. */
    for (uint32_t pass = 0; pass < g->n; pass++) {
        bool changed = false;
        for (uint32_t e = 0; e < g->nedges; e++) {
            gnode *a = &g->nodes[g->edges[e].from], *b = &g->nodes[g->edges[e].to];
            if (b->layer < a->layer + 1) {
                b->layer = a->layer + 1;
                changed = true;
            }
        }
        if (!changed) break;
    }
    for (uint32_t i = 0; i < g->n; i++) {
        if (!g->nodes[i].port) continue;
        uint32_t low = UINT32_MAX;
        for (uint32_t e = 0; e < g->nedges; e++)
            if (g->edges[e].from == i && g->nodes[g->edges[e].to].layer < low) low = g->nodes[g->edges[e].to].layer;
        if (low != UINT32_MAX && low) g->nodes[i].layer = low - 1;
    }
    /* Bends. */
    uint32_t nedges = g->nedges;
    for (uint32_t e = 0; e < nedges && !k->failed; e++) {
        uint32_t from = g->edges[e].from, to = g->edges[e].to;
        for (uint32_t l = g->nodes[from].layer + 1; l < g->nodes[to].layer && !k->failed; l++) {
            uint32_t b = add_node(k, g);
            g->nodes[b].bend = true;
            g->nodes[b].layer = l;
            g->nodes[b].w = 10;
            add_edge(k, g, from, b);
            from = b;
        }
        if (from != g->edges[e].from) {
            add_edge(k, g, from, to);
            g->edges[e] = (edge){UINT32_MAX, UINT32_MAX};
        }
    }
    uint32_t layers = 0;
    for (uint32_t i = 0; i < g->n; i++)
        if (g->nodes[i].layer + 1 > layers) layers = g->nodes[i].layer + 1;
    gnode **row = malloc((g->n + 1) * sizeof *row);
    if (!row || k->failed) {
        free(row);
        return;
    }
    for (uint32_t i = 0; i < g->n; i++) g->nodes[i].x = (double)i * 40;
    for (int sweep = 0; sweep < 12; sweep++)
        for (uint32_t q = 0; q < layers; q++) {
            uint32_t l = sweep % 2 ? layers - 1 - q : q, n = 0;
            for (uint32_t i = 0; i < g->n; i++)
                if (g->nodes[i].layer == l) row[n++] = &g->nodes[i];
            for (uint32_t j = 0; j < n; j++) {
                double sum = 0;
                int count = 0;
                uint32_t me = (uint32_t)(row[j] - g->nodes);
                for (uint32_t e = 0; e < g->nedges; e++) {
                    if (g->edges[e].from == UINT32_MAX) continue;
                    uint32_t other = g->edges[e].from == me ? g->edges[e].to : g->edges[e].to == me ? g->edges[e].from : UINT32_MAX;
                    if (other == UINT32_MAX || (sweep < 8 && (g->edges[e].to == me) == (sweep % 2 == 1))) continue;
                    sum += g->nodes[other].x;
                    count++;
                }
                row[j]->want = count ? sum / count : row[j]->x;
            }
            qsort(row, n, sizeof *row, by_want);
            /* As near to where they want to be as the widths let them: from the left, then shifted as one. */
            double shift = 0, right = -1e18;
            for (uint32_t j = 0; j < n; j++) {
                double x = row[j]->want, least = right + row[j]->w / 2 + 22;
                row[j]->x = x > least ? x : least;
                right = row[j]->x + row[j]->w / 2;
                shift += row[j]->want - row[j]->x;
            }
            for (uint32_t j = 0; j < n; j++) row[j]->x += shift / n;
        }
    free(row);
    double left = 1e18, right = -1e18, y = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->nodes[i].x - g->nodes[i].w / 2 < left) left = g->nodes[i].x - g->nodes[i].w / 2;
        if (g->nodes[i].x + g->nodes[i].w / 2 > right) right = g->nodes[i].x + g->nodes[i].w / 2;
    }
    for (uint32_t l = 0; l < layers; l++) {
        double h = 0;
        for (uint32_t i = 0; i < g->n; i++)
            if (g->nodes[i].layer == l && g->nodes[i].h > h) h = g->nodes[i].h;
        for (uint32_t i = 0; i < g->n; i++)
            if (g->nodes[i].layer == l) {
                g->nodes[i].y = y;
                g->nodes[i].row = h;
                if (g->nodes[i].bend) g->nodes[i].h = h;
            }
        y += h + 40;
    }
    for (uint32_t i = 0; i < g->n; i++) g->nodes[i].x -= left;
    g->w = g->n ? right - left : 40;
    g->h = g->n ? y - 40 : 20;
}

/* --- the picture ---------------------------------------------------------------------------------- */

static void draw(svg *s, const graph *g, double x0, double y0)
{
    for (uint32_t e = 0; e < g->nedges; e++) {
        if (g->edges[e].from == UINT32_MAX || g->nodes[g->edges[e].from].bend) continue;
        const gnode *a = &g->nodes[g->edges[e].from], *b = &g->nodes[g->edges[e].to];
        svg_curve_begin(s, 1.8, INK_FRAME, true);
        double x = x0 + a->x, y = y0 + a->y + a->h;
        text_printf(s->to, "M%.1f,%.1f", x, y);
        if (a->row > a->h) text_printf(s->to, "V%.1f", y = y0 + a->y + a->row);
        uint32_t at = g->edges[e].to;
        for (;;) {
            double tx = x0 + b->x, ty = y0 + b->y - (b->bend ? 0 : 1);
            text_printf(s->to, "C%.1f,%.1f %.1f,%.1f %.1f,%.1f", x, y + 22, tx, ty - 22, tx, ty);
            if (!b->bend) break;
            text_printf(s->to, "V%.1f", ty + b->h);
            x = tx;
            y = ty + b->h;
            uint32_t next = UINT32_MAX;
            for (uint32_t q = 0; q < g->nedges; q++)
                if (g->edges[q].from == at) next = g->edges[q].to;
            if (next == UINT32_MAX) break;
            at = next;
            b = &g->nodes[at];
        }
        svg_path_end(s);
    }
    for (uint32_t i = 0; i < g->n; i++) {
        const gnode *p = &g->nodes[i];
        double x = x0 + p->x - p->w / 2, y = y0 + p->y;
        if (p->bend) continue;
        if (p->inside) {
            svg_frame(s, x, y, p->w, p->h, 8, p->inside->ink, p->inside->ink == INK_REPLAY);
            svg_words(s, x + 10, y + 18, 13, 's', true, p->inside->ink, p->inside->kind);
            draw(s, p->inside, x + 14, y + 30);
            continue;
        }
        svg_box(s, x, y, p->w, p->h, 6, INK_PANEL);
        svg_frame(s, x, y, p->w, p->h, 6, p->port ? INK_LINE : INK_FRAME, false);
        svg_words(s, x + p->w / 2, y + 21, FONT, 'm', true, p->port ? INK_DIM : INK_TEXT, text_str(&p->head));
        if (p->value.n) svg_words(s, x + p->w / 2, y + 21 + LINE, FONT, 'm', false, INK_FORWARD, text_str(&p->value));
        if (p->cot.n) svg_words(s, x + p->w / 2, y + 21 + LINE * (1 + (p->value.n > 0)), FONT, 'm', false, INK_ADJOINT, text_str(&p->cot));
    }
}

static void dot_label(const text *t, text *out)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->s[i] == '"' || t->s[i] == '\\') text_putc(out, '\\');
        text_putc(out, t->s[i]);
    }
}

/* A node's name in DOT: the way to it. */
static void dot(const graph *g, const char *way, text *out)
{
    for (uint32_t i = 0; i < g->n; i++) {
        const gnode *p = &g->nodes[i];
        char name[200];
        snprintf(name, sizeof name, "%s_%u", way, i);
        if (p->inside) {
            text_printf(out, "subgraph cluster%s { label=\"%s\"; style=%s; %s [shape=point];\n", name, p->inside->kind,
                        p->inside->ink == INK_REPLAY ? "dashed" : "solid", name);
            dot(p->inside, name, out);
            text_puts(out, "}\n");
            continue;
        }
        text_printf(out, "%s [shape=box, label=\"", name);
        dot_label(&p->head, out);
        if (p->value.n) text_puts(out, "\\n"), dot_label(&p->value, out);
        if (p->cot.n) text_puts(out, "\\nadjoint "), dot_label(&p->cot, out);
        text_puts(out, "\"];\n");
    }
    for (uint32_t e = 0; e < g->nedges; e++) text_printf(out, "%s_%u -> %s_%u;\n", way, g->edges[e].from, way, g->edges[e].to);
}

static void listing(const graph *g, int depth, text *out)
{
    for (uint32_t i = 0; i < g->n; i++) {
        const gnode *p = &g->nodes[i];
        if (p->bend) continue;
        for (int d = 0; d < depth; d++) text_puts(out, "  ");
        if (p->inside) {
            text_printf(out, "%s\n", p->inside->kind);
            listing(p->inside, depth + 1, out);
            continue;
        }
        text_puts(out, text_str(&p->head));
        if (p->value.n) text_printf(out, "   %s", text_str(&p->value));
        if (p->cot.n) text_printf(out, "   adjoint %s", text_str(&p->cot));
        const char *from = "   <- ";
        for (uint32_t e = 0; e < g->nedges; e++) {
            if (g->edges[e].to != i) continue;
            const gnode *a = &g->nodes[g->edges[e].from];
            size_t n = strcspn(text_str(&a->head), "=");
            while (n && a->head.s[n - 1] == ' ') n--;
            text_printf(out, "%s%.*s", from, a->inside ? (int)strlen(a->inside->kind) : (int)n,
                        a->inside ? a->inside->kind : text_str(&a->head));
            from = ", ";
        }
        text_putc(out, '\n');
    }
}

static void json_graph(const graph *g, text *out)
{
    text_puts(out, "{\"nodes\": [");
    for (uint32_t i = 0; i < g->n; i++) {
        const gnode *p = &g->nodes[i];
        text_printf(out, "%s{\"id\": %u, ", i ? ",\n" : "\n", i);
        if (p->inside) {
            text_printf(out, "\"box\": \"%s\", \"inside\": ", p->inside->kind);
            json_graph(p->inside, out);
        } else {
            text_puts(out, "\"what\": ");
            json_string(text_str(&p->head), p->head.n, out);
            text_puts(out, ", \"value\": ");
            json_string(text_str(&p->value), p->value.n, out);
            text_puts(out, ", \"cotangent\": ");
            json_string(text_str(&p->cot), p->cot.n, out);
        }
        text_putc(out, '}');
    }
    text_puts(out, "], \"edges\": [");
    for (uint32_t e = 0; e < g->nedges; e++) text_printf(out, "%s[%u, %u]", e ? ", " : "", g->edges[e].from, g->edges[e].to);
    text_puts(out, "]}");
}

static void parameters(maker *k, graph *g)
{
    const block *b = k->c->body;
    for (uint32_t i = 0; i < g->n; i++) {
        gnode *p = &g->nodes[i];
        for (uint32_t j = 0; p->port && j < k->c->nparams; j++) {
            if (b->params[k->c->ncaptures + j] != p->r || j >= as_tuple(k->args)->n) continue;
            view_value(k->s->h->vm, as_tuple(k->args)->v[j], 26, &p->value);
            if (k->cots.tag == V_TUPLE && j < as_tuple(k->cots)->n) view_value(k->s->h->vm, as_tuple(k->cots)->v[j], 26, &p->cot);
        }
    }
}

static bool has_block(const block *b)
{
    for (uint32_t n = 0; n < b->n; n++) {
        if (b->list[n]->op == OP_CODE_CHECKPOINT) return true;
        for (uint32_t k = 0; k < b->list[n]->nblocks; k++)
            if (has_block(b->list[n]->blocks[k])) return true;
    }
    return false;
}

bool view_graph(session *s, const view_call *c, view_format f, text *out)
{
    vm *m = s->h->vm;
    trace t;
    value result;
    if (!trace_open(&t, m, TRACE_ROWS)) return false;
    bool fine = view_gradient_plainly(s, c, &result);
    trace_stop(&t);
    if (!fine) {
        trace_close(&t);
        return false;
    }
    maker k = {.s = s, .t = &t, .c = as_closure(c->f)->code, .args = c->args, .cots = as_tuple(result)->v[1]};
    graph g = {0};
    const instr **def = calloc(k.c->nregs + 1, sizeof *def);
    k.callee = calloc(k.c->nregs + 1, sizeof *k.callee);
    if (def && k.callee) {
        define(def, k.c->body);
        find_callees(k.callee, k.c->body, true);
        find_callees(k.callee, k.c->body, false);
        build(&k, &g, k.c->body, def, true);
        parameters(&k, &g);
    } else k.failed = true;
    free(def);
    free(k.callee);
    if (!k.failed && f == FORMAT_SVG) {
        layout(&k, &g);
        char title[256];
        snprintf(title, sizeof title, "%s: values and cotangents", code_display_name(k.c));
        double least = (double)utf8_length(title, strlen(title)) * 20 * SVG_ADVANCE + 48;
        double w = g.w + 48 > least ? g.w + 48 : least;
        if (w < 420) w = 420;
        svg v;
        svg_open(&v, out, w, g.h + 116, title);
        svg_words(&v, 24, 36, 20, 's', true, INK_TEXT, title);
        svg_words(&v, 24, 60, 14, 's', false, INK_FORWARD, "value");
        svg_words(&v, 24 + 6 * 14 * SVG_ADVANCE, 60, 14, 's', false, INK_ADJOINT, "cotangent");
        if (has_block(k.c->body)) svg_words(&v, 24 + 16 * 14 * SVG_ADVANCE, 60, 14, 's', true, INK_REPLAY, "checkpoint block");
        draw(&v, &g, 24 + (w - 48 - g.w) / 2, 84);
        svg_close(&v);
    } else if (!k.failed && f == FORMAT_DOT) {
        text_puts(out, "digraph computation { node [fontname=\"monospace\"];\n");
        dot(&g, "n", out);
        text_puts(out, "}\n");
    } else if (!k.failed && f == FORMAT_JSON) {
        json_graph(&g, out);
        text_putc(out, '\n');
    } else if (!k.failed) listing(&g, 0, out);
    graph_close(&g);
    value_release(m, result);
    trace_close(&t);
    return k.failed ? vm_out_of_memory(m) : true;
}
