/* ast.c: closing a tree, and printing it as S-expressions.
 *
 * The printer keeps its own stack of what is still to be written, so that a text as deep or as long
 * as any can be printed; tests compare its output. Binary operators print as (+ a b), other nodes as
 * (kind parts…); names, numbers and strings as themselves. */
#include "ast.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void ast_close(ast *t)
{
    arena_close(&t->arena);
    source_release(t->src);
    *t = (ast){0};
}

const char *oper_name(oper o)
{
    static const char *const names[] = {
        [OP_NONE] = "", [OP_OR] = "or",       [OP_AND] = "and", [OP_NOT] = "not",  [OP_EQ] = "==", [OP_NE] = "!=", [OP_LT] = "<",
        [OP_LE] = "<=", [OP_GT] = ">",        [OP_GE] = ">=",   [OP_RANGE] = "..", [OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*",
        [OP_DIV] = "/", [OP_FLOORDIV] = "//", [OP_MOD] = "%",   [OP_MATMUL] = "@", [OP_NEG] = "-", [OP_POW] = "^",
    };
    return names[o];
}

/* What is still to be printed, last first: a text, a node, or a node and those linked behind it. */
typedef enum later_kind { LATER_TEXT, LATER_NODE, LATER_LIST } later_kind;
typedef struct later_item {
    later_kind kind;
    const char *text;
    const node *n;
} later_item;
typedef struct printer {
    memory *m;
    const symbols *syms;
    text *out;
    later_item *stack;
    size_t n, cap;
} printer;

static void push(printer *p, later_item t)
{
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 64;
        later_item *s = memory_resize(p->m, MEM_OTHER, p->stack, p->cap * sizeof *s, cap * sizeof *s);
        if (!s) {
            p->out->failed = true;
            return;
        }
        p->stack = s;
        p->cap = cap;
    }
    p->stack[p->n++] = t;
}
static void later_text(printer *p, const char *s) { push(p, (later_item){LATER_TEXT, s, NULL}); }
static void later(printer *p, const node *n) { push(p, (later_item){LATER_NODE, NULL, n}); }
static void later_list(printer *p, const node *n)
{
    if (n) push(p, (later_item){LATER_LIST, NULL, n});
}

static void put_string(text *out, const char *s, size_t n)
{
    text_putc(out, '"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\') {
            text_putc(out, '\\');
            text_putc(out, (char)c);
        } else if (c == '\n') text_puts(out, "\\n");
        else if (c < 0x20 || c == 0x7f) text_printf(out, "\\x%02x", c);
        else text_putc(out, (char)c);
    }
    text_putc(out, '"');
}

/* Fifteen digits, or as many as it takes to read back; whole numbers without a point. */
static void put_number(text *out, double x, bool whole)
{
    char s[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, x);
        if (strtod(s, NULL) == x) break;
    }
    if (whole && x < 1e15) snprintf(s, sizeof s, "%.0f", x);
    text_puts(out, s);
    if (!whole) {
        const char *c = s;
        while (*c && *c != '.' && *c != 'e' && *c != 'n') c++;
        if (!*c) text_puts(out, ".0");
    }
}

static void put_contract(printer *p, const contract *c)
{
    if (c->dtype) text_puts(p->out, symbol_name(p->syms, c->dtype));
    if (!c->has_dims) return;
    text_puts(p->out, "[");
    if (c->has_rest) text_puts(p->out, "...");
    for (const dim *d = c->dims; d; d = d->next) {
        if (d != c->dims || c->has_rest) text_puts(p->out, " ");
        if (d->any) text_puts(p->out, "_");
        else if (d->name) text_puts(p->out, symbol_name(p->syms, d->name));
        else text_printf(p->out, "%" PRId64, d->size);
    }
    text_puts(p->out, "]");
}

/* (fn name (x y:[n d] z=) -> [n] default-of-z body): the defaults follow the list in order, which
   needs them pushed from the last to the first. */
static void put_function(printer *p, const function *f)
{
    text_puts(p->out, f->name ? "(fn " : "(fn");
    if (f->name) text_puts(p->out, symbol_name(p->syms, f->name));
    text_puts(p->out, " (");
    for (const param *q = f->params; q; q = q->next) {
        if (q != f->params) text_puts(p->out, " ");
        text_puts(p->out, symbol_name(p->syms, q->name));
        if (q->rest) text_puts(p->out, "...");
        if (q->shape.present) {
            text_puts(p->out, ":");
            put_contract(p, &q->shape);
        }
        if (q->deflt) text_puts(p->out, "=");
    }
    text_puts(p->out, ")");
    if (f->result.present) {
        text_puts(p->out, " -> ");
        put_contract(p, &f->result);
    }
    later_text(p, ")");
    later(p, f->body);
    later_text(p, " ");
    size_t mark = p->n;
    for (const param *q = f->params; q; q = q->next)
        if (q->deflt) {
            later_text(p, " ");
            later(p, q->deflt);
        }
    for (size_t i = mark, j = p->n; i + 1 < j; i++) {
        later_item t = p->stack[i];
        p->stack[i] = p->stack[--j];
        p->stack[j] = t;
    }
}

/* "(word a b c list…)", absent parts left out. */
static void parts(printer *p, const char *open, const node *a, const node *b, const node *c, const node *list)
{
    text_puts(p->out, open);
    later_text(p, ")");
    later_list(p, list);
    if (list) later_text(p, " ");
    if (c) {
        later(p, c);
        later_text(p, " ");
    }
    if (b) {
        later(p, b);
        later_text(p, " ");
    }
    if (a) {
        later(p, a);
        later_text(p, " ");
    }
}

static void put_node(printer *p, const node *n)
{
    text *out = p->out;
    switch (n->kind) {
    case N_NUMBER: put_number(out, n->number, n->whole); break;
    case N_STRING: put_string(out, n->str, n->length); break;
    case N_BOOL: text_puts(out, n->flag ? "true" : "false"); break;
    case N_NONE: text_puts(out, "none"); break;
    case N_NAME: text_puts(out, symbol_name(p->syms, n->name)); break;
    case N_ELLIPSIS: text_puts(out, "..."); break;
    case N_UNARY: parts(p, n->oper == OP_NEG ? "(neg" : "(not", n->a, NULL, NULL, NULL); break;
    case N_BINARY:
        text_puts(out, "(");
        parts(p, oper_name(n->oper), n->a, n->b, NULL, NULL);
        break;
    case N_TRANSPOSE: parts(p, "('", n->a, NULL, NULL, NULL); break;
    case N_CALL: parts(p, n->flag ? "(pipe" : "(call", n->a, NULL, NULL, n->list); break;
    case N_NAMED:
        text_printf(out, "(%s:", symbol_name(p->syms, n->name));
        parts(p, "", n->a, NULL, NULL, NULL);
        break;
    case N_SPREAD: parts(p, "(spread", n->a, NULL, NULL, NULL); break;
    case N_INDEX: parts(p, "(index", n->a, NULL, NULL, n->list); break;
    case N_SLICE:
        text_puts(out, "(:");
        later_text(p, ")");
        /* An absent part prints as _, so that a:b and a::b differ. */
        if (n->c) {
            later(p, n->c);
            later_text(p, " ");
        }
        if (n->b) later(p, n->b);
        else later_text(p, "_");
        later_text(p, " ");
        if (n->a) later(p, n->a);
        else later_text(p, "_");
        later_text(p, " ");
        break;
    case N_FIELD:
        text_printf(out, "(.%s", symbol_name(p->syms, n->name));
        parts(p, "", n->a, NULL, NULL, NULL);
        break;
    case N_ARRAY: parts(p, "(array", NULL, NULL, NULL, n->list); break;
    case N_TUPLE: parts(p, "(tuple", NULL, NULL, NULL, n->list); break;
    case N_RECORD: parts(p, "(record", NULL, NULL, NULL, n->list); break;
    case N_FN: put_function(p, n->fn); break;
    case N_IF: parts(p, "(if", n->a, n->b, n->c, NULL); break;
    case N_CHECKPOINT: parts(p, "(checkpoint", n->b, NULL, NULL, n->list); break;
    case N_BLOCK: parts(p, "(block", NULL, NULL, NULL, n->list); break;
    case N_ASSIGN:
        text_printf(out, "(%s=", oper_name(n->oper));
        parts(p, "", n->a, n->b, NULL, NULL);
        break;
    case N_FOR: parts(p, "(for", n->a, n->b, n->c, NULL); break;
    case N_WHILE: parts(p, "(while", n->a, n->b, NULL, NULL); break;
    case N_BREAK: text_puts(out, "(break)"); break;
    case N_CONTINUE: text_puts(out, "(continue)"); break;
    case N_RETURN: parts(p, "(return", n->a, NULL, NULL, NULL); break;
    case N_IMPORT:
        text_puts(out, "(import ");
        put_string(out, n->str ? n->str : "", n->length);
        text_printf(out, " %s)", symbol_name(p->syms, n->name));
        break;
    case N_ERROR: text_puts(out, "(error)"); break;
    }
}

static void run(printer *p)
{
    while (p->n && !p->out->failed) {
        later_item t = p->stack[--p->n];
        if (t.kind == LATER_TEXT) text_puts(p->out, t.text);
        else if (t.kind == LATER_NODE) put_node(p, t.n);
        else {
            if (t.n->next) {
                later_list(p, t.n->next);
                later_text(p, " ");
            }
            put_node(p, t.n);
        }
    }
    p->n = 0;
}

void node_dump(const node *n, const symbols *syms, memory *m, text *out)
{
    printer p = {.m = m, .syms = syms, .out = out};
    later(&p, n);
    run(&p);
    memory_free(m, MEM_OTHER, p.stack, p.cap * sizeof *p.stack);
}

void ast_dump(const ast *t, text *out)
{
    printer p = {.m = out->m, .syms = t->symbols, .out = out};
    for (const node *n = t->main ? t->main->body->list : NULL; n && !out->failed; n = n->next) {
        later(&p, n);
        run(&p);
        text_putc(out, '\n');
    }
    memory_free(out->m, MEM_OTHER, p.stack, p.cap * sizeof *p.stack);
}
