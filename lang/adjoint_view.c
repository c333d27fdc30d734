/* adjoint_view.c: `replay adjoint FILE FUNCTION`: a function's source lines, and under each what the
 * forward pass runs there and what the adjoint program runs for it, side by side.
 *
 * Values go by the user's names; the cotangent of h is h_adj. Constants stand where they are used. What
 * only keeps shapes (forms) is folded into the operation that uses it: `fit(c, x)` is c summed and cast
 * to the form of x. */
#include "adjoint_view.h"
#include "command.h"
#include "../vm/print.h"
#include <string.h>

typedef struct row { uint32_t line; char *s; struct row *next; } row;
typedef struct column { row *first, **last; } column;

typedef struct view {
    vm *m;
    arena arena;
    const code *c;
    const instr **def; /* by register: its CONST or form instruction, shown where it is used */
    column *to;
    bool failed;
    int depth;
} view;

static uint32_t line_of(const view *v, const instr *i)
{
    uint32_t line = 0, at;
    if (i->at.src && i->at.src == v->c->src) span_where(i->at, &line, &at);
    return line;
}

static void put(view *v, uint32_t line, const text *t)
{
    row *r = arena_alloc(&v->arena, sizeof *r);
    char *s = arena_text(&v->arena, text_str(t), t->n);
    if (!r || !s || t->failed) {
        v->failed = true;
        return;
    }
    r->line = line;
    r->s = s;
    *v->to->last = r;
    v->to->last = &r->next;
}

static const prim *row_of(const instr *i) { return &prims[i->imm & ~PRIM_SPREAD]; }
static bool is_form(const instr *i) { return i->op == OP_CODE_PRIM && !strncmp(row_of(i)->name, "__form", 6); }

static void show(view *v, reg r, text *t)
{
    const instr *d = v->def[r];
    if (d && is_form(d)) {
        show(v, d->src[0], t);
        return;
    }
    if (!d) {
        if (v->c->reg_names[r]) text_puts(t, symbol_name(v->m->symbols, v->c->reg_names[r]));
        else text_printf(t, "t%u", r);
        return;
    }
    value k = v->c->consts[d->imm];
    if (k.tag == V_ZERO) text_puts(t, "0");
    else if (k.tag == V_UNDEF) text_puts(t, "default");
    else if (k.tag == V_ELLIPSIS) text_puts(t, "...");
    else if (k.tag == V_SLICE) {
        const value part[3] = {as_slice(k)->start, as_slice(k)->stop, as_slice(k)->step};
        for (int p = 0; p < 3; p++) {
            if (p == 1 || (p == 2 && part[2].tag != V_NONE)) text_putc(t, ':');
            if (part[p].tag != V_NONE) value_print(v->m, part[p], PRINT_REPR, t);
        }
    } else value_print(v->m, k, PRINT_REPR, t);
}

static void show_list(view *v, const reg *r, uint32_t n, text *t)
{
    for (uint32_t k = 0; k < n; k++) {
        if (k) text_puts(t, ", ");
        show(v, r[k], t);
    }
}

/* How a primitive reads: $0, $1 … are its arguments. */
static const struct { const char *prim, *text; } readable[] = {
    {"add", "$0 + $1"}, {"sub", "$0 - $1"}, {"mul", "$0 * $1"}, {"div", "$0 / $1"}, {"pow", "$0 ^ $1"}, {"neg", "-$0"},
    {"floordiv", "$0 // $1"}, {"mod", "$0 % $1"}, {"matmul", "$0 @ $1"}, {"lt", "$0 < $1"}, {"le", "$0 <= $1"},
    {"gt", "$0 > $1"}, {"ge", "$0 >= $1"}, {"eq", "$0 == $1"}, {"ne", "$0 != $1"}, {"__transpose_last", "$0'"},
    {"__index", "$0[$1]"}, {"__range", "$0..$1"}, {"__zmul", "$0 * $1"}, {"__acc", "$0 + $1"},
    {"__reduce_to", "fit($0, $1)"}, {"__spread_to", "fit($0, $1)"}, {"__acc_matmul_a", "$0 + $1 @ $2'"},
    {"__acc_matmul_b", "$0 + $2' @ $1"}, {"__acc_index", "$0 with [$3] + $1"}, {"__acc_field", "$0 with .$2 + $1"},
    {"__cot_index", "$0[$1]"}, {"__cot_field", "$0.$1"}, {"__cot_clear", "$0 with [$1] = 0"},
    {"__setindex", "$0 with [$1] = $2"}, {"__array", "array($0)"},
};

static void show_prim(view *v, const instr *i, text *t)
{
    const char *name = row_of(i)->name;
    for (size_t k = 0; k < sizeof readable / sizeof *readable; k++) {
        if (strcmp(readable[k].prim, name)) continue;
        for (const char *s = readable[k].text; *s; s++) {
            if (*s != '$') {
                text_putc(t, *s);
                continue;
            }
            uint32_t a = (uint32_t)(*++s - '0');
            if (a < i->nsrc) show(v, i->src[a], t);
        }
        return;
    }
    text_printf(t, "%s(", !strncmp(name, "__", 2) ? name + 2 : name);
    show_list(v, i->src, i->nsrc, t);
    text_putc(t, ')');
}

static void show_carried(view *v, const block *k, uint32_t first, text *t)
{
    if (k->nparams <= first) return;
    text_puts(t, ", carrying ");
    show_list(v, k->params + first, k->nparams - first, t);
}

static void show_loop(view *v, const instr *i, text *t)
{
    const block *k = i->blocks[0];
    switch (i->imm & LOOP_KIND) {
    case LOOP_TAPE: {
        uint32_t w = 0;
        for (uint32_t j = 0; j < i->ntapes; j++) w += i->widths[j];
        text_puts(t, "for each entry, last first");
        if (w) text_puts(t, ": ");
        show_list(v, k->params, w, t);
        show_carried(v, k, w, t);
        return;
    }
    case LOOP_RANGE:
        text_puts(t, "for ");
        show(v, k->params[0], t);
        text_puts(t, " in ");
        show(v, i->src[0], t);
        text_puts(t, "..");
        show(v, i->src[1], t);
        show_carried(v, k, 1, t);
        return;
    default:
        text_puts(t, "while");
        show_carried(v, k, 0, t);
    }
}

static void show_instr(view *v, const instr *i, text *t)
{
    symbols *names = v->m->symbols;
    show_list(v, i->dst, i->ndst, t);
    if (i->ndst) text_puts(t, " = ");
    switch (i->op) {
    case OP_CODE_PRIM: show_prim(v, i, t); return;
    case OP_CODE_LOOP: show_loop(v, i, t); return;
    case OP_CODE_TUPLE:
        text_putc(t, '(');
        show_list(v, i->src, i->nsrc, t);
        text_putc(t, ')');
        return;
    case OP_CODE_UNPACK: case OP_CODE_DEFINED: show(v, i->src[0], t); return;
    case OP_CODE_FIELD:
        show(v, i->src[0], t);
        text_printf(t, ".%s", symbol_name(names, i->imm));
        return;
    case OP_CODE_SETFIELD:
        show(v, i->src[0], t);
        text_printf(t, " with .%s = ", symbol_name(names, i->imm));
        show(v, i->src[1], t);
        return;
    case OP_CODE_RECORD:
        text_putc(t, '{');
        for (uint32_t k = 0; k < i->nsrc; k++) {
            text_printf(t, "%s%s: ", k ? ", " : "", symbol_name(names, v->c->names[i->imm].names[k]));
            show(v, i->src[k], t);
        }
        text_putc(t, '}');
        return;
    case OP_CODE_GLOBAL: text_puts(t, symbol_name(names, i->imm)); return;
    case OP_CODE_CALL:
        if (i->imm & CALL_PULLBACK) text_puts(t, "pull back ");
        show(v, i->src[0], t);
        text_putc(t, '(');
        show_list(v, i->src + 1, i->nsrc - 1, t);
        text_puts(t, i->imm & CALL_SPREAD ? "...)" : ")");
        return;
    case OP_CODE_DERIVE:
        text_puts(t, i->imm == DERIVE_FWD ? "forward pass of " : "tangent of ");
        show(v, i->src[0], t);
        return;
    case OP_CODE_CLOSURE:
        text_puts(t, i->flags & INSTR_RESIDUAL ? "keep " : "function capturing ");
        if (!i->nsrc) text_puts(t, "nothing");
        show_list(v, i->src, i->nsrc, t);
        return;
    case OP_CODE_REPLAYABLE:
        text_puts(t, "replayable from ");
        if (!i->nsrc) text_puts(t, "nothing");
        show_list(v, i->src, i->nsrc, t);
        return;
    case OP_CODE_FORCE:
        text_puts(t, "REPLAY of ");
        show(v, i->src[0], t);
        return;
    case OP_CODE_TAPE: text_puts(t, "empty tape"); return;
    case OP_CODE_TAPEPUSH:
        text_puts(t, "push ");
        if (i->nsrc == 1) text_puts(t, "nothing");
        show_list(v, i->src + 1, i->nsrc - 1, t);
        return;
    case OP_CODE_IF:
        text_puts(t, "if ");
        show(v, i->src[0], t);
        return;
    case OP_CODE_CHECKPOINT:
        text_puts(t, v->c->role == CODE_REV ? "the block's adjoint" : "the block, as it stands");
        return;
    default:
        text_printf(t, "%s ", op_rows[i->op].name);
        show_list(v, i->src, i->nsrc, t);
    }
}

static void put_words(view *v, uint32_t line, int depth, const char *s)
{
    text t;
    text_open(&t, &v->m->mem);
    for (int k = 0; k < depth; k++) text_puts(&t, "  ");
    text_puts(&t, s);
    put(v, line, &t);
    text_close(&t);
}

static void walk(view *v, const block *b)
{
    for (uint32_t n = 0; n < b->n && !v->failed; n++) {
        const instr *i = b->list[n];
        if (i->ndst == 1 && (i->op == OP_CODE_CONST || is_form(i))) {
            v->def[i->dst[0]] = i;
            continue;
        }
        if (i->op == OP_CODE_YIELD && !i->nsrc) continue;
        text t;
        text_open(&t, &v->m->mem);
        for (int k = 0; k < v->depth; k++) text_puts(&t, "  ");
        show_instr(v, i, &t);
        put(v, line_of(v, i), &t);
        text_close(&t);
        for (uint32_t k = 0; k < i->nblocks; k++) {
            if (k) put_words(v, line_of(v, i), v->depth, "else");
            v->depth++;
            walk(v, i->blocks[k]);
            v->depth--;
        }
    }
}

static bool column_of(view *v, const code *c, column *to)
{
    *to = (column){.last = &to->first};
    v->c = c;
    v->to = to;
    v->depth = 0;
    v->def = arena_alloc(&v->arena, (c->nregs + 1) * sizeof *v->def);
    if (!v->def) return false;
    walk(v, c->body);
    return !v->failed;
}

static void put_line(text *out, const source *src, uint32_t line)
{
    uint32_t lo = src->lines[line - 1], hi = line < src->nlines ? src->lines[line] : (uint32_t)src->length;
    while (hi > lo && (src->text[hi - 1] == '\n' || src->text[hi - 1] == '\r')) hi--;
    text_printf(out, "%4u | ", line);
    text_add(out, src->text + lo, hi - lo);
    text_putc(out, '\n');
}

static size_t columns(const char *s) { return utf8_length(s, strlen(s)); }

/* The rows of one source line, side by side. Rows of a line need not be neighbours in the program. */
static void put_rows(text *out, const row *a, const row *b, uint32_t line, size_t w)
{
    for (;;) {
        while (a && a->line != line) a = a->next;
        while (b && b->line != line) b = b->next;
        if (!a && !b) return;
        text_printf(out, "       %s", a ? a->s : "");
        if (b) {
            for (size_t k = a ? columns(a->s) : 0; k < w; k++) text_putc(out, ' ');
            text_printf(out, " | %s", b->s);
        }
        text_putc(out, '\n');
        if (a) a = a->next;
        if (b) b = b->next;
    }
}

static const code *pullback_of(const code *fwd)
{
    for (uint32_t k = fwd->ncodes; k-- > 0;)
        if (fwd->codes[k]->role == CODE_REV && fwd->codes[k]->primal == fwd->primal) return fwd->codes[k];
    return NULL;
}

bool adjoint_view(vm *m, code *f, uint64_t mask, text *out)
{
    code *fwd = code_derive(f, DERIVE_FWD, mask);
    if (!fwd) return false;
    const code *rev = pullback_of(fwd);
    if (!rev || !f->src) return vm_fail(m, DIAG_INTERNAL, "%s has no adjoint program to show", code_display_name(f));
    view v = {.m = m};
    arena_open(&v.arena, &m->mem, MEM_OTHER);
    column left, right;
    bool fine = column_of(&v, fwd, &left) && column_of(&v, rev, &right);
    uint32_t from, to, at;
    span_where((span){f->src, f->at.lo, f->at.lo}, &from, &at);
    span_where((span){f->src, f->at.hi, f->at.hi}, &to, &at);
    size_t w = 30;
    for (const row *r = left.first; fine && r; r = r->next)
        if (columns(r->s) > w) w = columns(r->s) < 60 ? columns(r->s) : 60;
    text_printf(out, "%s: the forward pass on the left; on the right the adjoint program, which goes from the last line up\n",
                code_display_name(f));
    for (uint32_t line = from; fine && line <= to; line++) {
        put_line(out, f->src, line);
        put_rows(out, left.first, right.first, line, w);
    }
    arena_close(&v.arena);
    return fine && !out->failed ? true : vm_out_of_memory(m);
}

int command_adjoint(host *h, const char *path, const char *name)
{
    int status;
    code *script = command_compile_file(h, path, false, &status);
    if (!script) return status;
    code *c = command_find(h, script, name);
    text t;
    text_open(&t, &h->vm->mem);
    if (!c) status = 2;
    /* By everything: what it captured and every parameter. */
    else if (!adjoint_view(h->vm, c, ~(uint64_t)0, &t)) {
        host_show_error(h);
        status = 1;
    } else if (!command_print(&t)) status = 1;
    text_close(&t);
    code_release(script);
    return status;
}
