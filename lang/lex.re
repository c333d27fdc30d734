/* lex.re: bytes → tokens (see lex.h). re2c with UTF-8 makes the automaton; what needs a value or an
 * explanation (numbers, strings, characters that are no token) is done by the functions above it.
 *
 * The text has no NUL byte, so the one behind it is the end. */
#include "lex.h"
#include "parse_tables.h"
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Attaches an error to the token; the first one stays. */
static diag *fault(lexer *lx, token *t, uint32_t lo, uint32_t hi, const char *message)
{
    if (t->fault) return NULL;
    t->fault = diag_new(lx->m, SEVERITY_ERROR, DIAG_SYNTAX, "%s", message);
    if (!t->fault) lx->no_memory = true;
    diag_label_add(t->fault, (span){lx->src, lo, hi}, "%s", "");
    return t->fault;
}

diag *lex_check(memory *m, source *src, bool *no_memory)
{
    diag *d = NULL;
    size_t i = 0;
    *no_memory = false;
    if (src->length >= UINT32_MAX) {
        d = diag_new(m, SEVERITY_ERROR, DIAG_SYNTAX, "a text may be up to 4 GiB long");
        *no_memory = !d;
        return d;
    }
    while (i < src->length) {
        unsigned char c = (unsigned char)src->text[i];
        if (c && c < 0x80) { i++; continue; }
        uint32_t cp;
        int n = c ? utf8_decode(src->text + i, src->length - i, &cp) : 0;
        if (n > 0) { i += (size_t)n; continue; }
        if (c) d = diag_new(m, SEVERITY_ERROR, DIAG_SYNTAX, "the text is not valid UTF-8: byte 0x%02x at offset %zu", c, i);
        else d = diag_new(m, SEVERITY_ERROR, DIAG_SYNTAX, "the text has a NUL byte at offset %zu", i);
        *no_memory = !d;
        diag_label_add(d, (span){src, (uint32_t)i, (uint32_t)i + 1}, "%s", "");
        diag_help_set(d, c ? "save the file as UTF-8" : "remove it; in a string write \\0");
        return d;
    }
    return NULL;
}

void lex_open(lexer *lx, memory *m, symbols *syms, source *src, arena *a, bool internal)
{
    *lx = (lexer){.m = m, .symbols = syms, .src = src, .arena = a, .s = src->text, .fresh = true,
                  .internal = internal};
    if (src->length >= 3 && !memcmp(src->text, "\xef\xbb\xbf", 3)) { lx->s += 3; lx->line_lo = 3; }
    /* `#!` for the system is not help for a `fn` below it. */
    if (lx->s[0] == '#' && lx->s[1] == '!') lx->s += strcspn(lx->s, "\n");
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* The double a decimal text without suffix means. strtod wants no underscores, and the decimal point
   of the locale the host program may have set. */
static double decimal(lexer *lx, const char *s, size_t n)
{
    char small[64], *p = small;
    const char *point = localeconv()->decimal_point;
    size_t np = strlen(point), cap = n + np + 1, k = 0;
    if (cap > sizeof small && !(p = memory_alloc(lx->m, MEM_TEXT, cap))) { lx->no_memory = true; return 0; }
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '.') { memcpy(p + k, point, np); k += np; }
        else if (s[i] != '_') p[k++] = s[i];
    }
    p[k] = 0;
    double x = strtod(p, NULL);
    if (p != small) memory_free(lx->m, MEM_TEXT, p, cap);
    return x;
}

static double hexadecimal(const char *s, size_t n)
{
    double x = 0;
    for (size_t i = 0; i < n; i++) {
        int c = s[i];
        if (c == '_') continue;
        x = x * 16 + (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return x;
}

/* The bytes a size's unit stands for: decimal KB, MB, GB, TB; binary KiB, MiB, GiB, TiB; B. */
static double unit(const char *s, size_t n)
{
    static const char letters[] = "KMGT";
    if (n == 1) return 1;
    double base = n == 3 ? 1024 : 1000, x = 1;
    for (const char *p = letters; ; p++) {
        x *= base;
        if (*p == s[0]) return x;
    }
}

/* After a number's digits: what may not follow it, and values that are none. */
static void number_end(lexer *lx, token *t, const char *s)
{
    const char *lo = lx->src->text + t->at.lo;
    int n = (int)(s - lo < 40 ? s - lo : 40);
    if (s[0] == '.' && s[1] != '.') {
        lx->s = s + 1;
        while (*lx->s == '_' || (*lx->s >= '0' && *lx->s <= '9')) lx->s++;
        diag *d = fault(lx, t, t->at.lo, (uint32_t)(lx->s - lx->src->text),
                        lx->s == s + 1 ? "a number needs a digit after its point" : "a number has one point");
        if (lx->s == s + 1) diag_help_set(d, "write `%.*s.0`; a range is `%.*s..n`", n, lo, n, lo);
    } else if (isinf(t->at.v.number)) {
        diag *d = fault(lx, t, t->at.lo, (uint32_t)(s - lx->src->text), "this number is larger than any float");
        diag_help_set(d, "write `inf`");
    }
}

/* A number run together with letters or stray underscores: [lo, s), its digits being [lo, digits). */
static void number_bad(lexer *lx, token *t, const char *s)
{
    const char *lo = lx->src->text + t->at.lo, *p = lo;
    while (*p == '_' || *p == '.' || (*p >= '0' && *p <= '9')) p++;
    int n = (int)(p - lo), rest = (int)(s - p);
    static const char *const units[] = {"KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "B"};
    bool underscore = p[-1] == '_' || memmem(lo, (size_t)n, "__", 2);
    diag *d = fault(lx, t, t->at.lo, (uint32_t)(s - lx->src->text),
                    underscore ? "underscores in a number stand between digits" : "a number cannot be followed directly by a letter");
    t->at.v.number = 1;
    if (!d || underscore || n > 40 || rest > 40) return;
    if (*lo == '0' && n == 1 && strchr("bBoOxX", *p)) {
        diag_help_set(d, "numbers are written in decimal, or in hexadecimal as `0x1f`");
        return;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == (size_t)rest && !strncasecmp(units[i], p, (size_t)rest)) {
            diag_help_set(d, "a size is written `%.*s%s`", n, lo, units[i]);
            return;
        }
    if (rest == 1 && strchr("eE", *p)) diag_help_set(d, "an exponent needs digits: `%.*se3`", n, lo);
    else diag_help_set(d, "to multiply, write `%.*s * %.*s`", n, lo, rest, p);
}

/* ---- strings -------------------------------------------------------------------------------- */

static int hex_digit(int c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes the escapes of [s, e), the text between the quotes, into the tree's arena. */
static void string_decode(lexer *lx, token *t, const char *s, const char *e)
{
    const char *base = lx->src->text;
    char *out = arena_alloc(lx->arena, (size_t)(e - s) + 1), *p = out;
    if (!out) { lx->no_memory = true; return; }
    while (s < e) {
        if (*s != '\\') { *p++ = *s++; continue; }
        const char *lo = s++;
        uint32_t cp = 0;
        int digits = 0;
        const char *wrong = NULL, *help = NULL;
        char c = s < e ? *s++ : 0;
        switch (c) {
        case 'n': *p++ = '\n'; continue;
        case 't': *p++ = '\t'; continue;
        case 'r': *p++ = '\r'; continue;
        case '0': *p++ = 0; continue;
        case '\\': case '"': case '\'': *p++ = c; continue;
        case 'x':
            while (digits < 2 && s < e && hex_digit(*s) >= 0) { cp = cp * 16 + (uint32_t)hex_digit(*s++); digits++; }
            if (digits < 2) wrong = "`\\x` needs two hexadecimal digits";
            else if (cp > 0x7f) { wrong = "`\\x` goes up to 7f"; help = "a code point is written `\\u{…}`"; }
            break;
        case 'u':
            if (s < e && *s == '{') {
                s++;
                while (digits < 7 && s < e && hex_digit(*s) >= 0) { cp = cp * 16 + (uint32_t)hex_digit(*s++); digits++; }
                if (s < e && *s == '}') s++; else digits = 0;
            }
            if (!digits || digits > 6) wrong = "`\\u` needs one to six hexadecimal digits in braces, as in `\\u{3b1}`";
            else if (cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000)) wrong = "this is not a code point";
            break;
        default:
            wrong = "unknown escape in a string";
            help = "there are \\n \\t \\r \\\\ \\\" \\0 \\xHH and \\u{…}; a backslash itself is \\\\";
            while (s < e && ((unsigned char)*s & 0xc0) == 0x80) s++;
        }
        if (wrong) {
            diag *d = fault(lx, t, (uint32_t)(lo - base), (uint32_t)(s - base), wrong);
            if (help) diag_help_set(d, "%s", help);
        } else p += utf8_encode(cp, p);
    }
    *p = 0;
    t->at.v.str = out;
    t->at.length = (uint32_t)(p - out);
}

/* ---- what is no token ----------------------------------------------------------------------- */

/* Characters people type for something Replay writes otherwise. `kind` is what was meant, T_BAD when
   that cannot be told. */
static const struct stranger { uint32_t cp; short kind; const char *help; } strangers[] = {
    {'!', T_NOT, "write `not x`; unequal is `!=`"},
    {'&', T_AND, "write `and`"},
    {'|', T_OR, "write `or`; a pipe is `|>`"},
    {'?', T_BAD, "to choose, write `if (c) { a } else { b }`"},
    {'\\', T_BAD, "inside brackets and after an operator a line goes on by itself; a function is `fn(x) = …`"},
    {'`', T_BAD, "strings are written \"…\""},
    {'~', T_NOT, "write `not x`; unequal is `!=`"},
    {'$', T_BAD, NULL},
    {0x2212, T_MINUS, "write the plain `-`"}, {0x2013, T_MINUS, "write the plain `-`"},
    {0xd7, T_STAR, "write `*`"}, {0xb7, T_STAR, "write `*`"}, {0x22c5, T_STAR, "write `*`"}, {0xf7, T_SLASH, "write `/`"},
    {0x2264, T_LE, "write `<=`"}, {0x2265, T_GE, "write `>=`"}, {0x2260, T_NE, "write `!=`"},
    {0x2192, T_ARROW, "write `->`"}, {0x2026, T_ELLIPSIS, "write `...`"},
    {0x3bb, T_BAD, "a function is `fn(x) = …`"},
    {0xb2, T_BAD, "write `^2`"}, {0xb3, T_BAD, "write `^3`"}, {0x221e, T_BAD, "write `inf`"},
    {0x201c, T_BAD, "strings are written with plain quotes, \"…\""},
    {0x201d, T_BAD, "strings are written with plain quotes, \"…\""},
    {0x2018, T_BAD, "strings are written with plain quotes, \"…\""},
    {0x2019, T_BAD, "strings are written with plain quotes, \"…\"; transposition is the plain `'`"},
    {0xa0, 0, "write a plain space"}, {0x3000, 0, "write a plain space"}, {0x202f, 0, "write a plain space"},
};

/* s: at the character. Returns the byte after it. */
static const char *stranger(lexer *lx, token *t, const char *s)
{
    uint32_t cp = 0;
    int n = utf8_decode(s, lx->src->length - (size_t)(s - lx->src->text), &cp);
    char message[64];
    const char *help = NULL;
    if (n < 1) n = 1;
    t->kind = T_BAD;
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        if (strangers[i].cp == cp) { t->kind = strangers[i].kind ? strangers[i].kind : T_BAD; help = strangers[i].help; }
    if (cp == '`') strcpy(message, "a backtick means nothing here");
    else if (cp > 0x20 && cp < 0x7f) snprintf(message, sizeof message, "`%c` means nothing here", (char)cp);
    else if (cp > 0xa0 && utf8_width(cp) > 0)
        snprintf(message, sizeof message, "`%.*s` (U+%04X) means nothing here", n, s, (unsigned)cp);
    else snprintf(message, sizeof message, "the character U+%04X means nothing here", (unsigned)cp);
    uint32_t lo = (uint32_t)(s - lx->src->text);
    diag *d = fault(lx, t, lo, lo + (uint32_t)n, message);
    if (help) diag_help_set(d, "%s", help);
    return s + n;
}

/* An operator of another language; the token becomes what was meant. */
static void foreign(lexer *lx, token *t, int kind, const char *s, const char *help)
{
    char message[64];
    const char *lo = lx->src->text + t->at.lo;
    snprintf(message, sizeof message, "there is no operator `%.*s`", (int)(s - lo), lo);
    t->kind = kind;
    diag_help_set(fault(lx, t, t->at.lo, (uint32_t)(s - lx->src->text), message), "%s", help);
}

/*!include:re2c "unicode.re" */
/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = s;
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable = 0;

    start  = letter | "_";
    part   = letter | mark | digit | "_";
    name   = start part*;
    dec    = [0-9] ("_"? [0-9])*;
    float  = dec "." dec ([eE] [+-]? dec)? | dec [eE] [+-]? dec;
    hex    = "0x" [0-9a-fA-F] ("_"? [0-9a-fA-F])*;
    unit   = [KMGT] "i"? "B" | "B";
    inside = [^"\\\n\x00] | "\\" [^\n\x00];
*/

bool lex_next(lexer *lx, token *t)
{
    const char *s = lx->s, *lo, *marker = s, *base = lx->src->text;
    *t = (token){0};
#define TOKEN(k) do { t->kind = (k); goto done; } while (0)
again:
    lo = s;
    if (!t->fault) t->at.lo = (uint32_t)(lo - base);
    /*!re2c
    [ \t\r\f\v]+ { goto again; }
    "\n" {
        /* Help ends at a blank line; a line with a token has ended it already. */
        if (!lx->comment) lx->help_lo = lx->help_hi = 0;
        lx->fresh = true;
        lx->comment = false;
        lx->line_lo = (uint32_t)(s - base);
        goto again;
    }
    "#" [^\n\x00]* {
        if (lx->fresh) {
            if (lx->help_lo == lx->help_hi) lx->help_lo = (uint32_t)(lo - base);
            lx->help_hi = (uint32_t)(s - base);
            lx->comment = true;
        }
        goto again;
    }
    "\x00" { s--; TOKEN(T_EOF); }

    "if" { TOKEN(T_IF); }         "fn" { TOKEN(T_FN); }         "else" { TOKEN(T_ELSE); }
    "for" { TOKEN(T_FOR); }       "in" { TOKEN(T_IN); }         "while" { TOKEN(T_WHILE); }
    "break" { TOKEN(T_BREAK); }   "continue" { TOKEN(T_CONTINUE); } "return" { TOKEN(T_RETURN); }
    "checkpoint" { TOKEN(T_CHECKPOINT); }
    "and" { TOKEN(T_AND); }       "or" { TOKEN(T_OR); }         "not" { TOKEN(T_NOT); }
    "true" { TOKEN(T_TRUE); }     "false" { TOKEN(T_FALSE); }   "none" { TOKEN(T_NONE); }
    "import" { TOKEN(T_IMPORT); } "as" { TOKEN(T_AS); }
    "inf" { t->at.v.number = (double)INFINITY; TOKEN(T_NUMBER); }
    "nan" { t->at.v.number = (double)NAN; TOKEN(T_NUMBER); }
    name {
        t->at.v.name = symbol_of(lx->symbols, lo, (size_t)(s - lo));
        if (!t->at.v.name) lx->no_memory = true;
        if (!lx->internal && lo[0] == '_' && lo[1] == '_')
            diag_help_set(fault(lx, t, t->at.lo, (uint32_t)(s - base), "names starting with `__` belong to Replay itself"),
                          "one underscore keeps a name inside its module");
        TOKEN(T_NAME);
    }

    dec { t->at.whole = true; t->at.v.number = decimal(lx, lo, (size_t)(s - lo)); lx->s = s; number_end(lx, t, s); s = lx->s; TOKEN(T_NUMBER); }
    float { t->at.v.number = decimal(lx, lo, (size_t)(s - lo)); lx->s = s; number_end(lx, t, s); s = lx->s; TOKEN(T_NUMBER); }
    hex { t->at.whole = true; t->at.v.number = hexadecimal(lo + 2, (size_t)(s - lo) - 2); lx->s = s; number_end(lx, t, s); s = lx->s; TOKEN(T_NUMBER); }
    (dec | float) unit {
        size_t n = (size_t)(s - lo), nu = n > 2 && s[-2] == 'i' ? 3 : s[-2] < '0' || s[-2] > '9' ? 2 : 1;
        t->at.whole = !memchr(lo, '.', n) && !memchr(lo, 'e', n) && !memchr(lo, 'E', n);
        t->at.v.number = decimal(lx, lo, n - nu) * unit(s - nu, nu);
        lx->s = s; number_end(lx, t, s); s = lx->s;
        TOKEN(T_NUMBER);
    }
    (dec | float | hex) part+ { lx->s = s; number_bad(lx, t, s); number_end(lx, t, s); s = lx->s; TOKEN(T_NUMBER); }
    "." [0-9]+ {
        bool field = lo > base && (strchr(")]'_", lo[-1]) || (lo[-1] | 32) >= 'a' || (lo[-1] >= '0' && lo[-1] <= '9'));
        diag *d = fault(lx, t, t->at.lo, (uint32_t)(s - base), field ? "a field is a name" : "a number needs a digit before its point");
        if (s - lo < 40) {
            if (field) diag_help_set(d, "an element is indexed as `[%.*s]`", (int)(s - lo) - 1, lo + 1);
            else diag_help_set(d, "write `0%.*s`", (int)(s - lo), lo);
        }
        t->at.v.number = 0;
        TOKEN(field ? T_BAD : T_NUMBER);
    }

    "\"" inside* "\"" { string_decode(lx, t, lo + 1, s - 1); TOKEN(T_STRING); }
    "\"" inside* "\\"? {
        while (s > lo + 1 && s[-1] == '\r') s--;
        diag_help_set(fault(lx, t, t->at.lo, (uint32_t)(s - base), "this string has no closing `\"` on its line"),
                      "a string stands on one line; a line break in it is \\n");
        t->at.v.str = "";
        TOKEN(T_STRING);
    }

    "|>" { TOKEN(T_PIPE); }   ".." { TOKEN(T_DOTDOT); }   "..." { TOKEN(T_ELLIPSIS); }  "." { TOKEN(T_DOT); }
    "," { TOKEN(T_COMMA); }   ":" { TOKEN(T_COLON); }     "->" { TOKEN(T_ARROW); }      "'" { TOKEN(T_QUOTE); }
    ";" { TOKEN(T_SEP); }
    "(" { TOKEN(T_LP); }      ")" { TOKEN(T_RP); }        "[" { TOKEN(T_LB); }          "]" { TOKEN(T_RB); }
    "{" { TOKEN(T_LBRACE); }  "}" { TOKEN(T_RBRACE); }
    "==" { TOKEN(T_EQ); }     "!=" { TOKEN(T_NE); }       "<" { TOKEN(T_LT); }          "<=" { TOKEN(T_LE); }
    ">" { TOKEN(T_GT); }      ">=" { TOKEN(T_GE); }
    "+" { TOKEN(T_PLUS); }    "-" { TOKEN(T_MINUS); }     "*" { TOKEN(T_STAR); }        "/" { TOKEN(T_SLASH); }
    "//" { TOKEN(T_FLOORDIV); } "%" { TOKEN(T_PERCENT); } "@" { TOKEN(T_AT); }          "^" { TOKEN(T_POW); }
    "=" { TOKEN(T_ASSIGN); }  "+=" { TOKEN(T_ADDA); }     "-=" { TOKEN(T_SUBA); }       "*=" { TOKEN(T_MULA); }
    "/=" { TOKEN(T_DIVA); }   "^=" { TOKEN(T_POWA); }     "@=" { TOKEN(T_MATA); }

    "&&" { foreign(lx, t, T_AND, s, "write `and`"); goto done; }
    "||" { foreign(lx, t, T_OR, s, "write `or`"); goto done; }
    "**" { foreign(lx, t, T_POW, s, "write `^`"); goto done; }
    "===" { foreign(lx, t, T_EQ, s, "write `==`, or `same(a, b)` for equal to the last bit"); goto done; }
    "!==" { foreign(lx, t, T_NE, s, "write `!=`"); goto done; }
    "=>" { foreign(lx, t, T_BAD, s, "a function is written `fn(x) = …`; at least is `>=`"); goto done; }
    ":=" { foreign(lx, t, T_ASSIGN, s, "write `=`"); goto done; }
    "**=" { foreign(lx, t, T_POWA, s, "write `^=`"); goto done; }
    "//=" { foreign(lx, t, T_DIVA, s, "write `x = x // y`"); goto done; }
    "%=" { foreign(lx, t, T_DIVA, s, "write `x = x % y`"); goto done; }
    "<<" { foreign(lx, t, T_STAR, s, "to scale by a power of two, write `x * 2^n`"); goto done; }
    * {
        s = stranger(lx, t, lo);
        goto done;
    }
    */
done:
    lx->s = s;
    t->at.hi = (uint32_t)(s - base);
    t->first = lx->fresh;
    if (lx->fresh) {
        lx->indent = (uint32_t)(lo - base) - lx->line_lo;
        if (t->kind == T_FN) { t->at.v.help.lo = lx->help_lo; t->at.v.help.hi = lx->help_hi; }
        lx->help_lo = lx->help_hi = 0;
        lx->fresh = false;
    }
    t->indent = lx->indent;
    return !lx->no_memory;
}
