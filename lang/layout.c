/* layout.c: decides from a stack of open brackets where statements end and what `{`, `<` and `>`
 * are (see layout.h).
 *
 * layout_next reads one token ahead at most. A newline becomes a T_SEP given out before the token
 * that follows it; a `;` is held back until it is known not to stand before a closer, so that the
 * grammar sees exactly one T_SEP between two statements and none elsewhere. */
#include "layout.h"
#include "parse_tables.h"
#include <string.h>

static const struct {
    const char *opener, *closer;
    int token;
} brackets[] = {
    [BR_PAREN] = {"(", ")", T_RP},      [BR_HEADER] = {"(", ")", T_RP},    [BR_PARAMS] = {"(", ")", T_RP},
    [BR_OPTIONS] = {"(", ")", T_RP},    [BR_SQUARE] = {"[", "]", T_RB},    [BR_CONTRACT] = {"[", "]", T_RB},
    [BR_RECORD] = {"{", "}", T_RBRACE}, [BR_BLOCK] = {"{", "}", T_RBLOCK}, [BR_CHECKPOINT] = {"checkpoint <", ">", T_CPCLOSE},
};
const char *bracket_opener(bracket_kind k) { return brackets[k].opener; }
const char *bracket_closer(bracket_kind k) { return brackets[k].closer; }

span bracket_span(const layout *l, const bracket *b) { return (span){l->lx.src, b->lo, b->hi}; }

void layout_open(layout *l, memory *m, symbols *syms, source *src, arena *a, bool internal)
{
    memset(l, 0, sizeof *l);
    lex_open(&l->lx, m, syms, src, a, internal);
    l->prev = T_BEGIN;
}

void layout_close(layout *l)
{
    memory_free(l->lx.m, MEM_AST, l->stack, l->cap * sizeof *l->stack);
    if (l->has_held) diag_free(l->held.fault);
    if (l->has_sep) diag_free(l->sep.fault);
    l->stack = NULL;
    l->n = l->cap = 0;
    l->has_held = l->has_sep = false;
}

/* ---- the stack ------------------------------------------------------------------------------ */

static const bracket *top(const layout *l) { return l->n ? &l->stack[l->n - 1] : NULL; }
static bool is_body(bracket_kind k) { return k == BR_BLOCK || k == BR_CHECKPOINT; }

/* Newlines count at top level, in `{ }` bodies and in `< >`. */
static bool in_body(const layout *l) { return !l->n || is_body(top(l)->kind); }

static uint32_t *counter(layout *l, bracket_kind k)
{
    switch (k) {
    case BR_PAREN:
    case BR_HEADER:
    case BR_PARAMS:
    case BR_OPTIONS: return &l->round;
    case BR_SQUARE:
    case BR_CONTRACT: return &l->square;
    case BR_RECORD:
    case BR_BLOCK: return &l->curly;
    default: return &l->angle;
    }
}

static bool push(layout *l, bracket_kind k, const token *t, uint32_t lo)
{
    if (l->n == l->cap) {
        uint32_t cap = l->cap ? 2 * l->cap : 64;
        bracket *s = memory_resize(l->lx.m, MEM_AST, l->stack, l->cap * sizeof *s, cap * sizeof *s);
        if (!s) {
            l->lx.no_memory = true;
            return false;
        }
        l->stack = s;
        l->cap = cap;
    }
    uint32_t body = is_body(k) ? l->n + 1 : l->n ? l->stack[l->n - 1].body : 0;
    l->stack[l->n++] = (bracket){k, lo, t->at.hi, t->indent, body};
    return true;
}

static bracket_kind pop(layout *l)
{
    bracket_kind k = l->stack[--l->n].kind;
    --*counter(l, k);
    return k;
}

uint32_t layout_body(const layout *l, const token *t) { return t->height ? l->stack[t->height - 1].body : 0; }

const bracket *layout_around(const layout *l, const token *t) { return t->height && t->height <= l->n ? &l->stack[t->height - 1] : NULL; }

void layout_abandon(layout *l, uint32_t height)
{
    while (l->n > height) pop(l);
}

/* ---- newlines ------------------------------------------------------------------------------- */

/* After these a line goes on: operators, a comma, `=`, opening brackets. A `>` is not among them: in
   a checkpoint block it would be the closer. */
static bool continues(int kind)
{
    switch (kind) {
    case T_PLUS:
    case T_MINUS:
    case T_STAR:
    case T_SLASH:
    case T_FLOORDIV:
    case T_PERCENT:
    case T_AT:
    case T_POW:
    case T_EQ:
    case T_NE:
    case T_LT:
    case T_LE:
    case T_GE:
    case T_AND:
    case T_OR:
    case T_NOT:
    case T_PIPE:
    case T_DOTDOT:
    case T_COMMA:
    case T_ARROW:
    case T_DOT:
    case T_COLON:
    case T_ASSIGN:
    case T_ADDA:
    case T_SUBA:
    case T_MULA:
    case T_DIVA:
    case T_POWA:
    case T_MATA:
    case T_LP:
    case T_LB:
    case T_LBRACE:
    case T_LBLOCK:
    case T_CPOPEN: return true;
    default: return false;
    }
}

/* Between a header and its body. */
static bool header_open(const layout *l)
{
    return l->state == LS_BODY || l->state == LS_RESULT || l->state == LS_CONTRACT || l->state == LS_CHECKPOINT || l->state == LS_OPTED;
}

/* Would `kind` close the bracket that is open? Then no separator stands before it. */
static bool closes_body(const layout *l, int kind)
{
    if (kind == T_EOF) return true;
    return l->n && ((kind == T_RBRACE && top(l)->kind == BR_BLOCK) || (kind == T_GT && top(l)->kind == BR_CHECKPOINT));
}

static bool newline_counts(const layout *l, const token *next)
{
    return in_body(l) && !continues(l->prev) && !header_open(l) && l->prev != T_SEP && l->prev != T_BEGIN && next->kind != T_ELSE &&
           next->kind != T_PIPE && !closes_body(l, next->kind);
}

/* ---- bracket errors ------------------------------------------------------------------------- */

static const char *word(int kind)
{
    switch (kind) {
    case T_RP: return ")";
    case T_RB: return "]";
    case T_RBRACE: return "}";
    default: return ">";
    }
}

/* Reports the bracket `b` as open where `t` stands, t being a wrong closer or the end. */
static void unclosed(layout *l, token *t, const bracket *b)
{
    uint32_t line, column;
    span open = bracket_span(l, b);
    span_where(open, &line, &column);
    diag *d = diag_new(l->lx.m, SEVERITY_ERROR, DIAG_SYNTAX, "expected `%s` to close the `%s` opened at %u:%u, found %s%s%s",
                       bracket_closer(b->kind), bracket_opener(b->kind), (unsigned)line, (unsigned)column,
                       t->kind == T_EOF ? "the end of the text" : "`", t->kind == T_EOF ? "" : word(t->kind), t->kind == T_EOF ? "" : "`");
    if (!d) l->lx.no_memory = true;
    /* At the end of the text it is the opening bracket that is worth seeing. */
    span at = {l->lx.src, t->at.lo, t->at.hi};
    if (t->kind == T_EOF) {
        diag_label_add(d, open, "opened here and never closed");
        const char *s = l->lx.src->text + open.lo;
        size_t n = t->at.lo > open.lo ? t->at.lo - open.lo : 0;
        while (n && strchr(" \t\r\n;", s[n - 1])) n--;
        bool spaced = b->kind == BR_BLOCK || b->kind == BR_CHECKPOINT;
        if (n && n <= 60 && !memchr(s, '\n', n))
            diag_help_set(d, "close it: `%.*s%s%s`", (int)n, s, spaced ? " " : "", bracket_closer(b->kind));
        else diag_help_set(d, "write `%s` where what it opens ends", bracket_closer(b->kind));
    } else {
        diag_label_add(d, at, "%s", "");
        diag_label_add(d, open, "opened here");
    }
    diag_free(t->fault);
    t->fault = d;
}

static void unopened(layout *l, token *t)
{
    diag *d = diag_new(l->lx.m, SEVERITY_ERROR, DIAG_SYNTAX, "this `%s` closes nothing", word(t->kind));
    if (!d) l->lx.no_memory = true;
    diag_label_add(d, (span){l->lx.src, t->at.lo, t->at.hi}, "%s", "");
    diag_free(t->fault);
    t->fault = d;
}

/* After a bracket error nothing up to the next outermost line can be trusted: passes over it, holds
   the token that starts that line, and has everything open closed by made tokens. */
static bool recover(layout *l, token *t)
{
    uint32_t indent = l->n ? l->stack[0].indent : 0;
    token next = {0};
    if (t->kind == T_EOF) next = (token){.kind = T_EOF, .at = t->at, .made = true};
    else
        for (;;) {
            if (!lex_next(&l->lx, &next)) {
                diag_free(next.fault);
                return false;
            }
            if (next.kind == T_EOF) break;
            if (next.first && next.indent <= indent && next.kind != T_RP && next.kind != T_RB && next.kind != T_RBRACE &&
                next.kind != T_GT && next.kind != T_ELSE && next.kind != T_PIPE)
                break;
            diag_free(next.fault);
        }
    l->held = next;
    l->has_held = true;
    l->closing = true;
    l->state = LS_PLAIN;
    t->kind = T_BAD;
    return !l->lx.no_memory;
}

/* The tokens recover() promised, one a call; false when all are out. */
static bool close_next(layout *l, token *t)
{
    *t = (token){.made = true, .at = {.lo = l->held.at.lo, .hi = l->held.at.lo}};
    if (l->n) {
        t->kind = brackets[pop(l)].token;
        t->height = l->n;
        return true;
    }
    l->closing = false;
    if (l->held.kind == T_EOF) return false;
    t->kind = T_SEP;
    return true;
}

/* ---- what a token is ------------------------------------------------------------------------ */

/* Does an operand start here, so that a `>` before it compares? Newlines set it apart. */
static bool starts_operand(const token *t)
{
    switch (t->kind) {
    case T_NAME:
    case T_NUMBER:
    case T_STRING:
    case T_LP:
    case T_LB:
    case T_LBRACE:
    case T_MINUS:
    case T_NOT:
    case T_TRUE:
    case T_FALSE:
    case T_NONE:
    case T_IF:
    case T_FN:
    case T_CHECKPOINT: return !t->first;
    default: return false;
    }
}

static bool take(layout *l, token *t)
{
    if (l->has_held) {
        *t = l->held;
        l->has_held = false;
        return true;
    }
    return lex_next(&l->lx, t);
}

/* `>` directly inside a checkpoint block closes it, unless an operand follows on the line: nothing
   can follow a block directly, so this was meant to compare, and the block is taken to go on. */
static bool greater(layout *l, token *t)
{
    token next;
    if (!take(l, &next)) {
        diag_free(next.fault);
        return false;
    }
    l->held = next;
    l->has_held = true;
    if (starts_operand(&next)) {
        const bracket *b = top(l);
        uint32_t line, column;
        span_where(bracket_span(l, b), &line, &column);
        diag *d = diag_new(l->lx.m, SEVERITY_ERROR, DIAG_SYNTAX,
                           "`>` closes the `checkpoint <` opened at %u:%u and nothing can follow it here", (unsigned)line,
                           (unsigned)column);
        if (!d) l->lx.no_memory = true;
        diag_label_add(d, (span){l->lx.src, t->at.lo, t->at.hi}, "%s", "");
        diag_label_add(d, bracket_span(l, b), "opened here");
        diag_help_set(d, "directly inside a checkpoint block put a greater-than comparison in brackets: `(a > b)`");
        t->fault = d;
        t->kind = T_BAD;
        return d;
    }
    pop(l);
    t->kind = T_CPCLOSE;
    t->height = l->n;
    return true;
}

static bool closer(layout *l, token *t)
{
    uint32_t count = t->kind == T_RP ? l->round : t->kind == T_RB ? l->square : l->curly;
    int curly = t->kind == T_RBRACE;
    if (!l->n || (!count && is_body(top(l)->kind))) {
        /* A stray closer: the brackets around it are taken to be right. */
        unopened(l, t);
        t->kind = T_BAD;
        t->height = l->n;
        return !l->lx.no_memory;
    }
    bracket_kind k = top(l)->kind;
    if (curly ? k == BR_RECORD || k == BR_BLOCK : brackets[k].token == t->kind) {
        pop(l);
        t->kind = brackets[k].token;
        t->height = l->n;
        l->state = k == BR_HEADER ? LS_BODY : k == BR_PARAMS || k == BR_CONTRACT ? LS_RESULT : k == BR_OPTIONS ? LS_OPTED : LS_PLAIN;
        return true;
    }
    unclosed(l, t, top(l));
    t->height = l->n;
    return recover(l, t);
}

static bool opener(layout *l, token *t, bracket_kind k, int kind, uint32_t lo)
{
    t->kind = kind;
    l->state = LS_PLAIN;
    ++*counter(l, k);
    return push(l, k, t, lo);
}

/* Gives a token its place in the stack and its final kind. */
static bool settle(layout *l, token *t)
{
    layout_state was = l->state;
    t->height = l->n;
    switch (t->kind) {
    case T_IF:
    case T_WHILE:
    case T_FOR: l->state = LS_CONDITION; return true;
    case T_ELSE: l->state = LS_BODY; return true;
    case T_FN: l->state = LS_FN; return true;
    case T_CHECKPOINT:
        l->state = LS_CHECKPOINT;
        l->checkpoint_lo = t->at.lo;
        return true;
    case T_ARROW: l->state = was == LS_RESULT ? LS_CONTRACT : LS_PLAIN; return true;
    case T_NAME:
        if (was != LS_FN && was != LS_CONTRACT) l->state = LS_PLAIN;
        return true;
    case T_LP:
        return opener(l, t,
                      was == LS_CONDITION    ? BR_HEADER
                      : was == LS_FN         ? BR_PARAMS
                      : was == LS_CHECKPOINT ? BR_OPTIONS
                                             : BR_PAREN,
                      T_LP, t->at.lo);
    case T_LB: return opener(l, t, was == LS_CONTRACT ? BR_CONTRACT : BR_SQUARE, T_LB, t->at.lo);
    case T_LBRACE:
        if (was == LS_BODY || was == LS_RESULT || was == LS_CONTRACT) return opener(l, t, BR_BLOCK, T_LBLOCK, t->at.lo);
        return opener(l, t, BR_RECORD, T_LBRACE, t->at.lo);
    case T_LT:
        if (was == LS_CHECKPOINT || was == LS_OPTED) return opener(l, t, BR_CHECKPOINT, T_CPOPEN, l->checkpoint_lo);
        break;
    case T_GT:
        if (l->n && top(l)->kind == BR_CHECKPOINT) {
            l->state = LS_PLAIN;
            return greater(l, t);
        }
        break;
    case T_RP:
    case T_RB:
    case T_RBRACE: l->state = LS_PLAIN; return closer(l, t);
    case T_EOF:
        l->incomplete = l->n || continues(l->prev) || header_open(l);
        if (l->n) {
            unclosed(l, t, top(l));
            return recover(l, t);
        }
        break;
    }
    l->state = LS_PLAIN;
    return true;
}

bool layout_next(layout *l, token *t)
{
    if (l->closing && close_next(l, t)) goto given;
    if (!take(l, t)) return false;
    /* A `;` waits to see whether a closer, another `;` or the end follows. */
    while (t->kind == T_SEP && in_body(l)) {
        if (!l->has_sep && l->prev != T_SEP && l->prev != T_BEGIN && l->prev != T_LBLOCK && l->prev != T_CPOPEN) {
            l->sep = *t;
            l->sep.height = l->n;
            l->has_sep = true;
        }
        if (!take(l, t)) return false;
    }
    if (l->has_sep || (t->first && newline_counts(l, t))) {
        bool semicolon = l->has_sep;
        l->has_sep = false;
        if (!semicolon || !closes_body(l, t->kind)) {
            l->held = *t;
            l->has_held = true;
            *t = semicolon ? l->sep : (token){.kind = T_SEP, .height = l->n, .at = {.lo = l->prev_hi, .hi = l->prev_hi}};
            l->state = LS_PLAIN;
            goto given;
        }
    }
    if (!settle(l, t)) return false;
given:
    l->prev = t->kind;
    if (!t->made) l->prev_hi = t->at.hi;
    return !l->lx.no_memory;
}
