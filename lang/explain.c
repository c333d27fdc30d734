/* explain.c: says in human words why a token cannot stand where it does.
 *
 * The parser's table knows which tokens would be right (ps->can); what people mean by a wrong one is
 * known here. The rules go from the particular (`=` in a condition, a chained comparison, a word of
 * another language) to the general ("expected an expression after `+`"). One error per call. */
#include "grammar.h"
#include "parse_tables.h"
#include <stdio.h>
#include <string.h>

/* How a token is named in a message. Long ones are cut, at a whole character. */
typedef struct shown {
    char s[64];
} shown;

static shown show(parse_state *ps, const token *t)
{
    shown r;
    const char *s = ps->src->text + t->at.lo;
    size_t n = t->at.hi - t->at.lo;
    if (t->kind == T_EOF) strcpy(r.s, "the end of the text");
    else if (t->kind == T_SEP && !n) strcpy(r.s, "the end of the line");
    else if (t->kind == T_STRING) strcpy(r.s, "a string");
    else {
        bool cut = n > 40;
        if (cut)
            for (n = 40; ((unsigned char)s[n] & 0xc0) == 0x80; n--) {}
        snprintf(r.s, sizeof r.s, "`%.*s%s`", (int)n, s, cut ? "…" : "");
    }
    return r;
}

static bool is_word(const token *t, parse_state *ps, const char *word)
{
    size_t n = strlen(word);
    return t->kind == T_NAME && t->at.hi - t->at.lo == n && !memcmp(ps->src->text + t->at.lo, word, n);
}

static bool is_keyword(int kind)
{
    switch (kind) {
    case T_IF:
    case T_FN:
    case T_ELSE:
    case T_FOR:
    case T_IN:
    case T_WHILE:
    case T_BREAK:
    case T_CONTINUE:
    case T_RETURN:
    case T_CHECKPOINT:
    case T_AND:
    case T_OR:
    case T_NOT:
    case T_TRUE:
    case T_FALSE:
    case T_NONE:
    case T_IMPORT:
    case T_AS: return true;
    default: return false;
    }
}

static bool is_comparison(int kind) { return kind == T_EQ || kind == T_NE || kind == T_LT || kind == T_LE || kind == T_GT || kind == T_GE; }

/* An operator between two operands, or one behind an operand. */
static bool is_operator(int kind)
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
    case T_AND:
    case T_OR:
    case T_DOTDOT:
    case T_PIPE:
    case T_DOT:
    case T_QUOTE:
    case T_LP:
    case T_LB: return true;
    default: return is_comparison(kind);
    }
}

static bool is_assignment(int kind)
{
    return kind == T_ASSIGN || kind == T_ADDA || kind == T_SUBA || kind == T_MULA || kind == T_DIVA || kind == T_POWA || kind == T_MATA;
}

/* Words people bring from other languages, looked for where the statement starts and just before the
   fault. */
static const struct {
    const char *word, *help;
} foreign[] = {
    {"def", "a function is `fn f(x) = …` or `fn f(x) { … }`"},
    {"function", "a function is `fn f(x) = …` or `fn f(x) { … }`"},
    {"func", "a function is `fn f(x) = …` or `fn f(x) { … }`"},
    {"fun", "a function is `fn f(x) = …` or `fn f(x) { … }`"},
    {"lambda", "a function without a name is `fn(x) = …`"},
    {"elif", "write `else if (…) { … }`"},
    {"elseif", "write `else if (…) { … }`"},
    {"elsif", "write `else if (…) { … }`"},
    {"let", "a name is given by `x = …` alone"},
    {"var", "a name is given by `x = …` alone"},
    {"const", "a name is given by `x = …` alone"},
    {"val", "a name is given by `x = …` alone"},
    {"mut", "a name is given by `x = …` alone"},
    {"local", "a name assigned in a function is local to it"},
    {"global", "a function cannot rebind an outer name; return the new value"},
    {"nonlocal", "a function cannot rebind an outer name; return the new value"},
    {"from", "write `import \"module\" as name`"},
    {"use", "write `import \"module\" as name`"},
    {"do", "a loop is `while (…) { … }` or `for (x in …) { … }`"},
    {"until", "a loop is `while (not …) { … }`"},
    {"repeat", "a loop is `for (i in 0..n) { … }`"},
    {"foreach", "a loop is `for (x in …) { … }`"},
    {"unless", "write `if (not …) { … }`"},
    {"switch", "write `if (…) { … } else if (…) { … }`"},
    {"match", "write `if (…) { … } else if (…) { … }`"},
    {"then", "a body stands in braces: `if (…) { … } else { … }`"},
    {"end", "a body stands in braces, and `}` ends it"},
    {"begin", "a body stands in braces"},
    {"class", "there are records, `{w: a, b: c}`, and functions"},
    {"struct", "there are records, `{w: a, b: c}`, and functions"},
    {"del", "a name keeps its value until it is given another"},
    {"pass", "an empty body is `{ }`"},
    {"is", "compare with `==`, or `same(a, b)`"},
    {"xor", "on bools, write `a != b`"},
};

static const char *foreign_help(parse_state *ps, const token *t)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (is_word(t, ps, foreign[i].word)) return foreign[i].help;
    return NULL;
}

static diag *fault(parse_state *ps, const token *t, const char *message) { return error_at(ps, t->at.lo, t->at.hi, "%s", message); }

/* What would be right, when it is one of a few tokens. */
static void expected(parse_state *ps, const token *t, text *out)
{
    static const struct {
        int kind;
        const char *name;
    } names[] = {
        {T_NAME, "a name"}, {T_NUMBER, "a number"}, {T_STRING, "a string"}, {T_LP, "`(`"},     {T_RP, "`)`"},         {T_LB, "`[`"},
        {T_RB, "`]`"},      {T_LBLOCK, "`{`"},      {T_RBRACE, "`}`"},      {T_CPOPEN, "`<`"}, {T_ASSIGN, "`=`"},     {T_ARROW, "`->`"},
        {T_COLON, "`:`"},   {T_IN, "`in`"},         {T_COMMA, "`,`"},       {T_AS, "`as`"},    {T_ELLIPSIS, "`...`"},
    };
    size_t n = 0, k = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) n += ps->can[names[i].kind];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ps->can[names[i].kind]) {
            if (k) text_puts(out, k + 1 == n ? " or " : ", ");
            text_puts(out, names[i].name);
            k++;
        }
    if (!n) text_puts(out, "something else");
}

/* Something that is no part of an expression stands where a statement or expression should start.
   True when it was reported. */
static bool explain_start(parse_state *ps, const token *t)
{
    const token *p = &ps->prev;
    diag *d;
    if (t->kind == T_QUOTE) {
        d = fault(ps, t, "`'` is transposition and stands behind a value");
        diag_help_set(d, "strings are written with double quotes, \"…\"");
    } else if (ps->fresh && (t->kind == T_FLOORDIV || t->kind == T_SLASH)) {
        d = fault(ps, t, "a statement cannot start with an operator");
        diag_help_set(d, "comments start with `#`");
    } else if (t->kind == T_ELSE) {
        d = fault(ps, t, "this `else` has no `if` before it");
        diag_help_set(d, "`else` follows the `}` of its `if` directly or on the next line");
    } else if (p->kind == T_GT && t->kind == T_SEP && p->at.hi == t->at.lo && t->at.lo == t->at.hi) {
        d = fault(ps, t, "a greater-than comparison does not go on on the next line");
        diag_help_set(d, "put it in brackets, `(a > b)`, or turn it round, `b < a`");
    } else if (p->kind == T_PLUS && t->kind == T_PLUS && p->at.hi == t->at.lo) {
        d = error_at(ps, p->at.lo, t->at.hi, "there is no operator `++`");
        diag_help_set(d, "write `x += 1`");
    } else if (p->kind == T_MINUS && ps->prev2.kind == T_MINUS && ps->prev2.at.hi == p->at.lo &&
               (t->kind == T_SEP || t->kind == T_EOF || t->kind == T_RBLOCK)) {
        d = error_at(ps, ps->prev2.at.lo, p->at.hi, "there is no operator `--`");
        diag_help_set(d, "write `x -= 1`");
    } else if (t->kind == T_IF || t->kind == T_FN || t->kind == T_CHECKPOINT) {
        shown s = show(ps, t);
        d = error_at(ps, t->at.lo, t->at.hi, "%s is an operand of other operators only in parentheses", s.s);
        diag_help_set(d, "write `(%s)`", t->kind == T_IF ? "if (…) { … } else { … }" : t->kind == T_FN ? "fn(x) = …" : "checkpoint < … >");
    } else return false;
    return true;
}

/* `x`, keyword or not, stands where only a name can. */
static bool explain_name(parse_state *ps, const token *t)
{
    const token *p = &ps->prev;
    if (is_keyword(t->kind) && ps->can[T_NAME] && !ps->can[T_NUMBER] && p->kind != T_IMPORT) {
        diag_help_set(error_at(ps, t->at.lo, t->at.hi, "%s is a keyword and cannot be a name", show(ps, t).s), "choose another name");
        return true;
    }
    /* `if = 3`, `f(in = 3)`; the fault is seen at the `=` or at the keyword. */
    const char *after = ps->src->text + t->at.hi;
    after += strspn(after, " \t");
    bool gets = after[0] == '=' && after[1] != '=';
    const token *k = is_assignment(t->kind) && is_keyword(p->kind) && p->at.hi ? p : is_keyword(t->kind) && gets ? t : NULL;
    if (!k || (k == p && (p->kind == T_AND || p->kind == T_OR || p->kind == T_NOT || p->kind == T_IN))) return false;
    diag_help_set(error_at(ps, k->at.lo, k->at.hi, "%s is a keyword and cannot be a name", show(ps, k).s), "choose another name");
    return true;
}

/* An operand or list is complete and `t` cannot go on from there. True when it was reported. */
static bool explain_after(parse_state *ps, const token *t, const bracket *around)
{
    const token *p = &ps->prev;
    diag *d;
    if (is_comparison(t->kind) && ps->compared) {
        d = fault(ps, t, "comparisons are not chained");
        diag_help_set(d, "write `a < b and b < c`");
    } else if (is_operator(t->kind) && (p->kind == T_RBLOCK || p->kind == T_CPCLOSE)) {
        d = error_at(ps, t->at.lo, t->at.hi,
                     "%s cannot follow here: `if`, `fn` and `checkpoint` are operands of operators only in parentheses", show(ps, t).s);
        diag_help_set(d, "put the whole of it in parentheses");
    } else if (ps->can[T_IN]) {
        d = error_at(ps, t->at.lo, t->at.hi, "expected `in` after %s, found %s", show(ps, p).s, show(ps, t).s);
        diag_help_set(d, "write `for (x in …) { … }`, over numbers `for (i in 0..n) { … }`");
    } else if (t->kind == T_ASSIGN && around && around->kind == BR_HEADER) {
        d = fault(ps, t, "`=` assigns and cannot stand in a condition");
        diag_help_set(d, "to compare, write `==`");
    } else if (t->kind == T_ASSIGN && ps->can[T_COLON] && around && around->kind == BR_RECORD) {
        d = error_at(ps, t->at.lo, t->at.hi, "expected `:` after the field %s, found `=`", show(ps, p).s);
        diag_help_set(d, "a record is written `{w: a, b: c}`; a block of statements follows `if (…)`, `for (…)` …");
    } else if (is_assignment(t->kind) && !(around && around->kind == BR_PARAMS)) {
        d = error_at(ps, t->at.lo, t->at.hi, "%s cannot stand here: an assignment is a statement of its own", show(ps, t).s);
        if (around && around->kind != BR_BLOCK && around->kind != BR_CHECKPOINT) diag_help_set(d, "to compare, write `==`");
        else diag_help_set(d, "a target is a name, a path such as `p.w[0]`, or a tuple of targets");
    } else if (t->kind == T_ELSE) {
        d = fault(ps, t, "this `else` has no `if` before it");
        diag_help_set(d, "`else` follows the `}` of its `if` directly or on the next line");
    } else return false;
    return true;
}

/* A header's parts are missing: its parentheses, its braces, the `<` of a block. */
static bool explain_header(parse_state *ps, const token *t)
{
    const token *p = &ps->prev;
    shown s = show(ps, t);
    diag *d;
    if (p->kind == T_IF || p->kind == T_WHILE || p->kind == T_FOR) {
        const char *w = p->kind == T_IF ? "if" : p->kind == T_WHILE ? "while" : "for";
        d = error_at(ps, t->at.lo, t->at.hi, "expected `(` after `%s`, found %s", w, s.s);
        if (p->kind == T_FOR) diag_help_set(d, "write `for (x in …) { … }`");
        else diag_help_set(d, "a condition always stands in parentheses: `%s (…) { … }`", w);
    } else if (p->kind == T_FN && t->kind == T_NAME) {
        d = fault(ps, t, "a function with a name is a statement of its own");
        diag_help_set(d, "here write `fn(x) = …`");
    } else if (ps->can[T_CPOPEN]) {
        d = error_at(ps, t->at.lo, t->at.hi, "expected `<` to open the checkpoint block, found %s", s.s);
        diag_help_set(d, "write `checkpoint < … >`");
    } else if (ps->can[T_LBLOCK] && ps->can[T_ASSIGN]) {
        d = error_at(ps, t->at.lo, t->at.hi, "expected `=` or `{` before the function's body, found %s", s.s);
        diag_help_set(d, "write `fn f(x) = …` or `fn f(x) { … }`");
    } else if (ps->can[T_LBLOCK]) {
        d = error_at(ps, t->at.lo, t->at.hi, "expected `{`, found %s", s.s);
        diag_help_set(d, "a body always stands in braces");
    } else return false;
    return true;
}

/* In `( )`, `[ ]` or a record: what it takes to go on is a comma or the closer. */
static void explain_bracket(parse_state *ps, const token *t, const bracket *b)
{
    uint32_t line, column;
    span open = bracket_span(&ps->layout, b);
    span_where(open, &line, &column);
    const char *close = bracket_closer(b->kind);
    diag *d = error_at(ps, t->at.lo, t->at.hi, "expected %s`%s` to close the `%s` opened at %u:%u, found %s",
                       ps->can[T_COMMA] ? "`,` or " : "", close, bracket_opener(b->kind), (unsigned)line, (unsigned)column, show(ps, t).s);
    diag_label_add(d, open, "opened here");
    if (t->kind == T_COLON && b->kind == BR_PAREN) diag_help_set(d, "named arguments are written `f(x = 1)`, records `{x: 1}`");
    else if (t->kind == T_ELLIPSIS) diag_help_set(d, "a tuple is spread in the arguments of a call: `f(t...)`");
    else if (t->kind == T_FOR && b->kind == BR_SQUARE) diag_help_set(d, "write `map(fn(x) = …, v)`");
    else if (t->kind == T_STRING && ps->prev.kind == T_NAME && ps->prev.at.hi == t->at.lo)
        diag_help_set(d, "a text with values in it is `format(\"x = {}\", x)`");
    else if (open.src && ps->prev.at.hi > open.lo && ps->prev.at.hi - open.lo <= 60) { /* the line ends, and the bracket was meant to */
        const char *s = open.src->text + open.lo;
        size_t n = ps->prev.at.hi - open.lo, gap = t->at.lo - ps->prev.at.hi;
        if (!memchr(s, '\n', n) && (t->kind == T_EOF || memchr(s + n, '\n', gap))) diag_help_set(d, "close it: `%.*s%s`", (int)n, s, close);
    }
}

/* A statement is complete and something else stands behind it. */
static void explain_end(parse_state *ps, const token *t)
{
    shown s = show(ps, t), before = show(ps, &ps->prev);
    diag *d = ps->fresh || ps->prev.kind == T_BEGIN
                  ? error_at(ps, t->at.lo, t->at.hi, "a statement cannot start with %s", s.s)
                  : error_at(ps, t->at.lo, t->at.hi, "expected a newline or `;` after %s, found %s", before.s, s.s);
    const char *help = NULL;
    if (t->kind == T_COMMA) help = "a tuple stands in parentheses: `(a, b)`";
    else if (t->kind == T_COLON && ps->prev.kind == T_NUMBER) help = "a range is written `a..b`";
    else if (t->kind == T_COLON) help = "a body stands in braces: `if (…) { … }`, `fn f(x) { … }`";
    else if (t->kind == T_STRING && ps->prev.at.hi == t->at.lo)
        help = ps->prev.kind == T_NAME ? "strings have no prefixes; `str(x)` gives a value's text, and `+` joins"
                                       : "in a string a quote is \\\"; strings are joined by `+`";
    else if (t->kind == T_IF) help = "to choose, write `if (c) { a } else { b }`";
    else if (t->kind == T_IN) help = "`in` belongs to `for`; whether x is in an array is `any(v == x)`";
    else if (t->kind == T_LBRACE) help = "a body follows `if (…)`, `else`, `for (…)`, `while (…)` or a `fn` header";
    else if (ps->prev.kind == T_NAME && t->kind != T_EOF && ps->prev.at.lo == ps->first.at.lo &&
             (t->kind == T_NAME || t->kind == T_NUMBER || t->kind == T_STRING))
        help = "a call has parentheses: `f(x)`";
    else help = "statements end with a newline or `;`";
    diag_help_set(d, "%s", help);
}

void explain(parse_state *ps)
{
    const token *t = &ps->now, *p = &ps->prev;
    if (ps->quiet || t->made || t->kind == T_BAD || p->kind == T_BAD) return;
    const bracket *around = layout_around(&ps->layout, t);
    bool operand = ps->can[T_NAME] && ps->can[T_NUMBER];
    const token *words[] = {&ps->first, p, t};
    for (int i = 0; i < 3; i++) {
        const char *help = foreign_help(ps, words[i]);
        if (!help) continue;
        diag_help_set(error_at(ps, words[i]->at.lo, words[i]->at.hi, "%s is no keyword of Replay", show(ps, words[i]).s), "%s", help);
        return;
    }
    if (explain_name(ps, t)) return;
    if (operand && explain_start(ps, t)) return;
    if (!operand && explain_after(ps, t, around)) return;
    if (p->kind == T_IMPORT) {
        diag_help_set(error_at(ps, t->at.lo, t->at.hi, "expected the module's name in quotes, found %s", show(ps, t).s),
                      "write `import \"nn\"`, or `import \"./file.rl\" as name` for a file");
        return;
    }
    if (operand && !ps->fresh && p->kind != T_BEGIN) {
        const char *also = "";
        if (ps->can[T_RP]) also = " or `)`";
        else if (ps->can[T_RB]) also = " or `]`";
        diag *d = error_at(ps, t->at.lo, t->at.hi, "expected an expression%s after %s, found %s", also, show(ps, p).s, show(ps, t).s);
        bool body = ps->first.kind == T_FN && p->kind == T_ASSIGN;
        if (t->kind == T_FOR || t->kind == T_WHILE)
            diag_help_set(d,
                          body               ? "statements stand in braces: `fn f(…) { %s (…) { … } }`"
                          : t->kind == T_FOR ? "a loop gives no value; `map(fn(x) = …, v)` does"
                                             : "a loop gives no value: assign to a name within it",
                          t->kind == T_FOR ? "for" : "while");
        else if (t->kind == T_RETURN)
            diag_help_set(d, body ? "what stands after `=` is what the function gives: leave `return` out" : "leave `return` out");
        return;
    }
    if (explain_header(ps, t)) return;
    if (around && around->kind != BR_BLOCK && around->kind != BR_CHECKPOINT &&
        ps->can[ps->can[T_RP]   ? T_RP
                : ps->can[T_RB] ? T_RB
                                : T_RBRACE] &&
        !ps->can[T_NAME]) {
        explain_bracket(ps, t, around);
        return;
    }
    if (ps->can[T_SEP] || operand) {
        explain_end(ps, t);
        return;
    }
    text what;
    text_open(&what, ps->m);
    expected(ps, t, &what);
    diag *d = error_at(ps, t->at.lo, t->at.hi, "expected %s after %s, found %s", text_str(&what), show(ps, p).s, show(ps, t).s);
    if (t->kind == T_STRING && around && around->kind == BR_RECORD) diag_help_set(d, "a field's name has no quotes: `{w: a, b: c}`");
    else if (ps->can[T_COLON] && around && around->kind == BR_RECORD)
        diag_help_set(d, "a record is written `{w: a, b: c}`; a block of statements follows `if (…)`, `for (…)` …");
    text_close(&what);
}
