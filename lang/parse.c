/* parse.c: the driver behind parse() (see parse.h): checks the bytes, opens the tree, runs the
 * grammar, and turns what is left into the answer. Also the errors' list and the memory of Lemon's
 * stack, which grows with the nesting of the text and not with its length. */
#include "grammar.h"
#include <stdarg.h>
#include <string.h>

/* Keeps the list in source order: an error found late (a call's repeated argument) may stand before
   one found early. */
void error_add(parse_state *ps, diag *d)
{
    uint32_t lo = d->nlabels ? d->labels[0].at.lo : 0;
    diag **p = &ps->diags;
    if (ps->last && ps->last->nlabels && ps->last->labels[0].at.lo <= lo) p = &ps->last->next;
    while (*p && (!(*p)->nlabels || (*p)->labels[0].at.lo <= lo)) p = &(*p)->next;
    d->next = *p;
    *p = d;
    if (!d->next) ps->last = d;
    if (++ps->errors == ERRORS_MAX) diag_note_add(ps->last, "there may be more errors; reading stopped here");
}

diag *error_at(parse_state *ps, uint32_t lo, uint32_t hi, const char *fmt, ...)
{
    va_list ap;
    text t;
    diag *d = NULL;
    if (ps->no_memory || ps->errors >= ERRORS_MAX) return NULL;
    text_open(&t, ps->m);
    va_start(ap, fmt);
    text_vprintf(&t, fmt, ap);
    va_end(ap);
    if (!t.failed) d = diag_new(ps->m, SEVERITY_ERROR, DIAG_SYNTAX, "%s", text_str(&t));
    text_close(&t);
    if (!d) {
        ps->no_memory = true;
        return NULL;
    }
    diag_label_add(d, (span){ps->src, lo, hi}, "%s", "");
    error_add(ps, d);
    return d;
}

void *stack_resize(parse_state *ps, void *p, size_t bytes)
{
    void *q = memory_resize(ps->m, MEM_AST, p, p ? ps->stack_bytes : 0, bytes);
    if (q) ps->stack_bytes = bytes;
    else ps->no_memory = true;
    return q;
}

void stack_free(parse_state *ps, void *p)
{
    if (p) memory_free(ps->m, MEM_AST, p, ps->stack_bytes);
}

/* The script as a function without parameters. */
static function *script_function(parse_state *ps)
{
    function *f = arena_alloc(ps->arena, sizeof *f);
    node *b = arena_alloc(ps->arena, sizeof *b);
    if (!f || !b) {
        ps->no_memory = true;
        return NULL;
    }
    b->kind = N_BLOCK;
    b->at = b->op_at = f->at = (span){ps->src, 0, (uint32_t)ps->src->length};
    f->head = (span){ps->src, 0, 0};
    f->body = b;
    return f;
}

bool parse(memory *m, symbols *syms, source *src, const parse_options *o, ast *out, diag **diags, bool *needs_more)
{
    static const parse_options plain;
    parse_state ps = {.m = m, .symbols = syms, .src = src, .arena = &out->arena, .options = o ? o : &plain};
    *out = (ast){.src = source_retain(src), .symbols = syms};
    *diags = NULL;
    if (needs_more) *needs_more = false;
    arena_open(&out->arena, m, MEM_AST);
    out->main = script_function(&ps);
    if (out->main) {
        diag *d = lex_check(m, src, &ps.no_memory);
        if (d) error_add(&ps, d);
        else if (!ps.no_memory) {
            layout_open(&ps.layout, m, syms, src, &out->arena, ps.options->internal);
            grammar_run(&ps);
            layout_close(&ps.layout);
            memory_free(m, MEM_AST, ps.seen, ps.nseen * sizeof *ps.seen);
            /* Without memory parts of it are ps.spare, which ends here. */
            if (!ps.no_memory) out->main->body->list = ps.script.first;
        }
    }
    if (ps.no_memory) {
        diag_free(ps.diags);
        return false;
    }
    *diags = ps.diags;
    if (needs_more) *needs_more = ps.needs_more;
    return !ps.errors;
}
