/* adjoint_view.c: `replay adjoint FILE FUNCTION`: a function's source lines on the left, and beside each
 * what the adjoint program does for it.
 *
 * The left column is read downwards, with a line for what the forward pass keeps, and where; the right
 * one upwards, from the last line of the function, as the adjoint program runs. So a loop's adjoint opens
 * beside the line the loop ends on, and the replay of a block stands beside the block's end. */
#include "adjoint_view.h"
#include "adjoint_text.h"
#include "command.h"
#include <string.h>

typedef struct row {
    uint32_t line;
    char *s;
    struct row *next;
} row;

typedef struct view {
    vm *m;
    arena arena;
    code *f;
    speller s;         /* of the Code being walked */
    row *left, *right; /* newest first */
    uint32_t now;      /* line of the last row on the right: rows never go down again */
    int depth;
    bool failed;
} view;

static uint32_t line_in(const view *v, span at, uint32_t where)
{
    uint32_t line = 0, column;
    if (at.src && at.src == v->f->src) span_where((span){at.src, where, where}, &line, &column);
    return line;
}
static uint32_t first_line(const view *v, const instr *i) { return line_in(v, i->at, i->at.lo); }
static uint32_t last_line(const view *v, const instr *i) { return line_in(v, i->at, i->at.hi > i->at.lo ? i->at.hi - 1 : i->at.hi); }

static void put(view *v, row **to, uint32_t line, int depth, const char *s)
{
    text t;
    text_open(&t, &v->m->mem);
    for (int k = 0; k < depth; k++) text_puts(&t, "  ");
    text_puts(&t, s);
    row *r = arena_alloc(&v->arena, sizeof *r);
    char *copy = arena_text(&v->arena, text_str(&t), t.n);
    if (!r || !copy || t.failed) v->failed = true;
    else {
        *r = (row){line, copy, *to};
        *to = r;
    }
    text_close(&t);
}

static void say(view *v, uint32_t line, const char *s)
{
    if (line && line < v->now) v->now = line;
    put(v, &v->right, v->now, v->depth, s);
}

/* --- left: what the forward pass keeps --------------------------------------------------------- */

/* "keeps h, w": those a person would name. Loop variables and residuals of calls keep themselves. */
static void keeps(view *v, uint32_t line, const char *what, const reg *r, uint32_t n)
{
    text t;
    text_open(&t, &v->m->mem);
    text_puts(&t, what);
    const char *comma = " ";
    for (uint32_t k = 0; k < n; k++) {
        if (spell_nameless(&v->s, r[k])) continue;
        text_puts(&t, comma);
        spell_reg(&v->s, r[k], &t);
        comma = ", ";
    }
    if (!n) text_puts(&t, " nothing");
    if (!n || *comma == ',') put(v, &v->left, line, 2, text_str(&t));
    text_close(&t);
}

static void walk_fwd(view *v, const block *b, const instr *loop)
{
    for (uint32_t n = 0; n < b->n && !v->failed; n++) {
        const instr *i = b->list[n];
        if (i->op == OP_CODE_REPLAYABLE && i->nsrc && n + 1 < b->n)
            keeps(v, first_line(v, b->list[n + 1]), "· keeps what enters:", i->src, i->nsrc);
        if (i->op == OP_CODE_TAPEPUSH && loop) keeps(v, last_line(v, loop), "· each round keeps:", i->src + 1, i->nsrc - 1);
        if (i->op == OP_CODE_CLOSURE && i->flags & INSTR_RESIDUAL)
            keeps(v, line_in(v, v->f->at, v->f->at.hi - 1), "· keeps:", i->src, i->nsrc);
        for (uint32_t k = 0; k < blocks_run(i); k++) walk_fwd(v, i->blocks[k], i->op == OP_CODE_LOOP ? i : loop);
    }
}

/* --- right: the adjoint program ---------------------------------------------------------------- */

static void walk_rev(view *v, const block *b, const instr *around);

/* Names in a row that a person would use, behind `what`; nothing when there are none. */
static void add_names(view *v, const char *what, const reg *r, uint32_t n, text *t)
{
    for (uint32_t k = 0; k < n; k++) {
        if (spell_nameless(&v->s, r[k]) || !v->s.uses[r[k]]) continue;
        text_puts(t, what);
        what = ", ";
        spell_reg(&v->s, r[k], t);
    }
}

static void say_loop(view *v, const instr *i)
{
    const block *k = i->blocks[0];
    uint32_t w = 0;
    text t;
    text_open(&t, &v->m->mem);
    if ((i->imm & LOOP_KIND) == LOOP_TAPE) {
        for (uint32_t j = 0; j < i->ntapes; j++) w += i->widths[j];
        text_puts(&t, "for each round, last to first");
        add_names(v, ", with its ", k->params, w, &t);
    } else text_puts(&t, "loop");
    text_puts(&t, " {");
    say(v, last_line(v, i), text_str(&t));
    text_close(&t);
    v->depth++;
    walk_rev(v, k, i);
    v->depth--;
    say(v, first_line(v, i), "}");
}

/* Does running the block do anything but pass on what there was? */
static bool idle(const view *v, const block *b)
{
    for (uint32_t k = 0; k + 1 < b->n; k++)
        if (!(b->list[k]->ndst == 1 && spell_inline(&v->s, b->list[k]->dst[0]))) return false;
    const instr *y = b->list[b->n - 1];
    for (uint32_t k = 0; k < y->nsrc; k++)
        if (v->s.home[y->src[k]] == b && !spell_is_zero(&v->s, y->src[k])) return false;
    return true;
}

/* What stands behind an `if` that returned is part of its second arm. */
static void lowest_line(const view *v, const block *b, uint32_t *line)
{
    for (uint32_t k = 0; k < b->n; k++) {
        uint32_t l = last_line(v, b->list[k]);
        if (l > *line && b->list[k]->op != OP_CODE_YIELD) *line = l;
        for (uint32_t j = 0; j < b->list[k]->nblocks; j++) lowest_line(v, b->list[k]->blocks[j], line);
    }
}

static void walk_arm(view *v, const instr *i, uint32_t arm)
{
    speller *s = &v->s;
    bool room = s->narms < sizeof s->arms / sizeof *s->arms;
    if (room) {
        s->arms[s->narms].place = i->at.lo;
        s->arms[s->narms++].arm = arm;
    }
    walk_rev(v, i->blocks[arm], i);
    if (room) s->narms--;
}

static void say_if(view *v, const instr *i)
{
    const block *yes = i->blocks[0], *no = i->blocks[1];
    bool both = !idle(v, yes) && !idle(v, no), only_no = idle(v, yes);
    text t;
    text_open(&t, &v->m->mem);
    text_puts(&t, both || only_no ? "if (not (" : "if (");
    spell_reg(&v->s, i->src[0], &t);
    text_puts(&t, both || only_no ? ")) {" : ") {");
    uint32_t lowest = last_line(v, i);
    lowest_line(v, yes, &lowest);
    lowest_line(v, no, &lowest);
    say(v, lowest, text_str(&t));
    text_close(&t);
    v->depth++;
    /* Read upwards, the second arm comes first. */
    if (both || only_no) walk_arm(v, i, 1);
    if (both) {
        v->depth--;
        say(v, v->now > first_line(v, i) + 1 ? v->now - 1 : v->now, "} else {");
        v->depth++;
    }
    if (!only_no) walk_arm(v, i, 0);
    v->depth--;
    say(v, first_line(v, i), "}");
}

static void say_replay(view *v, const instr *i)
{
    text t;
    text_open(&t, &v->m->mem);
    uint32_t lo = first_line(v, i), hi = last_line(v, i);
    if (lo == hi) text_printf(&t, "REPLAY line %u", lo);
    else text_printf(&t, "REPLAY lines %u to %u", lo, hi);
    add_names(v, " for ", i->dst, i->ndst, &t);
    say(v, hi, text_str(&t));
    text_close(&t);
}

/* What a block yields or a function returns, where that is not what is called so already. */
static void say_yield(view *v, const instr *i, const instr *around)
{
    for (uint32_t k = 0; around && k < i->nsrc && k < around->ndst; k++) {
        reg from = i->src[k], to = around->dst[k];
        if (spell_is_zero(&v->s, from) || !v->s.uses[to] || !v->s.c->reg_names[to]) continue;
        text a, b;
        text_open(&a, &v->m->mem);
        text_open(&b, &v->m->mem);
        if (v->s.def[from] && v->s.def[from]->op == OP_CODE_PRIM && spell_inline(&v->s, from)) {
            instr given = *v->s.def[from]; /* as if it gave the result itself: it may add to it */
            given.dst = &to;
            spell_instr(&v->s, &given, &a);
            if (a.n) say(v, 0, text_str(&a));
            text_close(&a);
            text_close(&b);
            continue;
        }
        spell_reg(&v->s, to, &a);
        spell_reg(&v->s, from, &b);
        if (strcmp(text_str(&a), text_str(&b))) {
            text_printf(&a, " = %s", text_str(&b));
            say(v, 0, text_str(&a));
        }
        text_close(&a);
        text_close(&b);
    }
}

static void say_return(view *v, const instr *i)
{
    text t;
    text_open(&t, &v->m->mem);
    text_puts(&t, "return ");
    if (i->nsrc == 2 && !spell_is_zero(&v->s, i->src[0])) {
        text_puts(&t, "captured: ");
        spell_reg(&v->s, i->src[0], &t);
        text_puts(&t, "; arguments: ");
    }
    spell_reg(&v->s, i->src[i->nsrc - 1], &t);
    say(v, line_in(v, v->f->at, v->f->at.lo), text_str(&t));
    text_close(&t);
}

static void walk_rev(view *v, const block *b, const instr *around)
{
    for (uint32_t n = 0; n < b->n && !v->failed; n++) {
        const instr *i = b->list[n];
        if (i->ndst == 1 && spell_inline(&v->s, i->dst[0])) continue;
        switch (i->op) {
        case OP_CODE_YIELD: say_yield(v, i, around); continue;
        case OP_CODE_RETURN: say_return(v, i); continue;
        case OP_CODE_LOOP: say_loop(v, i); continue;
        case OP_CODE_IF: say_if(v, i); continue;
        case OP_CODE_FORCE: say_replay(v, i); continue;
        case OP_CODE_CHECKPOINT:
            walk_rev(v, i->blocks[0], i);
            if (i->blocks[0]->list[0]->op == OP_CODE_FORCE) say(v, first_line(v, i), "free the replay");
            continue;
        default: break;
        }
        text t;
        text_open(&t, &v->m->mem);
        spell_instr(&v->s, i, &t);
        if (t.n) say(v, first_line(v, i), text_str(&t));
        text_close(&t);
    }
}

/* --- side by side ------------------------------------------------------------------------------ */

static size_t columns(const char *s, size_t n) { return utf8_length(s, n); }

static const char *source_line_of(const source *src, uint32_t line, size_t *n)
{
    uint32_t lo = src->lines[line - 1], hi = line < src->nlines ? src->lines[line] : (uint32_t)src->length;
    while (hi > lo && (src->text[hi - 1] == '\n' || src->text[hi - 1] == '\r')) hi--;
    *n = hi - lo;
    return src->text + lo;
}

/* The rows of a line: the source, then what is kept on the left; on the right, newest first, so that it is
   read upwards. */
static void give_line(const view *v, adjoint_sink *give, void *ctx, uint32_t line)
{
    size_t n;
    const char *s = source_line_of(v->f->src, line, &n);
    const row *a = v->left, *b = v->right;
    bool first = true;
    for (;;) {
        while (a && !first && a->line != line) a = a->next;
        while (b && b->line != line) b = b->next;
        if (!first && !a && !b) return;
        adjoint_row r = {.kind = first ? ADJOINT_SOURCE : ADJOINT_MORE, .line = line, .right = b ? b->s : NULL};
        r.left = first ? s : a ? a->s : "";
        r.n = first ? n : strlen(r.left);
        const char *words = b ? b->s + strspn(b->s, " ") : "";
        r.replay = !strncmp(words, "REPLAY line", 11) || !strcmp(words, "free the replay");
        give(ctx, &r);
        if (!first && a) a = a->next;
        first = false;
        if (b) b = b->next;
    }
}

/* Says what the notation means that occurs. */
static void give_legend(const view *v, adjoint_sink *give, void *ctx)
{
    static const struct {
        const char *mark, *meaning;
    } of[] = {
        {"_adj", "x_adj is the cotangent of x"},
        {"result_adj", "result_adj is the cotangent of what the function returns"},
        {"adj(", "adj(e) that of the value of e"},
        {"fit(", "fit(g) is g summed to the shape of what it belongs to, where that was broadcast"},
        {"spread(", "spread(g) is g back over what was reduced"},
        {"placed(", "placed(g, [i]) is g at [i] and zeros around it"},
        {"back[", "back[f(x)](g) is the adjoint of that call"},
        {"\xe2\x82", "x₃ is the x of line 3"},
    };
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        bool found = false;
        for (const row *r = v->right; r && !found; r = r->next) found = strstr(r->s, of[k].mark) != NULL;
        for (const row *r = v->left; r && !found; r = r->next) found = strstr(r->s, of[k].mark) != NULL;
        if (found) give(ctx, &(adjoint_row){.kind = ADJOINT_NOTE, .left = of[k].meaning, .n = strlen(of[k].meaning)});
    }
}

static const code *pullback_of(const code *fwd)
{
    for (uint32_t k = fwd->ncodes; k-- > 0;)
        if (fwd->codes[k]->role == CODE_REV && fwd->codes[k]->primal == fwd->primal) return fwd->codes[k];
    return NULL;
}

static bool walk_both(view *v, const code *fwd, const code *rev)
{
    speller right;
    adjoint_names_derived(v->m, fwd, rev);
    if (!speller_open(&right, v->m, &v->arena, v->f, rev) || !speller_open(&v->s, v->m, &v->arena, v->f, fwd)) return false;
    v->s.with = &right;
    walk_fwd(v, fwd->body, NULL);
    v->s = right;
    v->now = line_in(v, v->f->at, v->f->at.hi - 1);
    walk_rev(v, rev->body, NULL);
    return !v->failed;
}

bool adjoint_rows(vm *m, code *f, uint64_t mask, adjoint_sink *give, void *ctx)
{
    code *fwd = adjoint_names(m, f) ? code_derive(f, DERIVE_FWD, mask) : NULL;
    if (!fwd) return false;
    const code *rev = pullback_of(fwd);
    if (!rev || !f->src) {
        vm_fail(m, DIAG_VALUE, "`%s` is a builtin: it has no program to show", code_display_name(f));
        vm_help(m, "`:rule %s` shows its derivative", code_display_name(f));
        return false;
    }
    view v = {.m = m, .f = f};
    arena_open(&v.arena, &m->mem, MEM_OTHER);
    bool fine = walk_both(&v, fwd, rev);
    uint32_t from = line_in(&v, f->at, f->at.lo), to = line_in(&v, f->at, f->at.hi - 1);
    if (fine) give_legend(&v, give, ctx);
    for (uint32_t line = from; fine && line <= to; line++) give_line(&v, give, ctx, line);
    arena_close(&v.arena);
    return fine ? true : vm_out_of_memory(m);
}

/* --- as text ------------------------------------------------------------------------------------ */

static void measure(void *ctx, const adjoint_row *r)
{
    size_t *width = ctx;
    if (r->kind != ADJOINT_NOTE && columns(r->left, r->n) > *width) *width = columns(r->left, r->n);
}

typedef struct listing {
    text *out;
    size_t width;
} listing;

static void put_row(void *ctx, const adjoint_row *r)
{
    const listing *l = ctx;
    text *out = l->out;
    if (r->kind == ADJOINT_SOURCE) text_printf(out, "%4u ", r->line);
    else text_puts(out, r->kind == ADJOINT_NOTE ? "     # " : "     ");
    text_add(out, r->left, r->n);
    if (r->right) {
        for (size_t k = columns(r->left, r->n); k < l->width; k++) text_putc(out, ' ');
        text_printf(out, " | %s", r->right);
    }
    text_putc(out, '\n');
}

bool adjoint_view(vm *m, code *f, uint64_t mask, text *out)
{
    size_t width = 30;
    if (!adjoint_rows(m, f, mask, measure, &width)) return false;
    text_printf(out, "%s: read the function downwards, its adjoint program upwards\n", code_display_name(f));
    return adjoint_rows(m, f, mask, put_row, &(listing){out, width < 60 ? width : 60}) && (!out->failed || vm_out_of_memory(m));
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
