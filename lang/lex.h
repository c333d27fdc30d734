/* lex.h: bytes → tokens.
 *
 * In goes a source whose text is valid UTF-8 without NUL bytes (lex_check says so); out come tokens
 * one at a time, ending with T_EOF for ever. The lexer knows nothing of statements or of what a `<`
 * is: layout.c decides that. Token kinds are the T_ numbers Lemon writes (parse_tables.h).
 *
 * A fault inside a token (a bad escape, `&&` for `and`) travels with the token, which then has the
 * kind that was meant: so the parser goes on without a second error. T_BAD stands for what means
 * nothing. Whoever takes the token owns its fault. */
#ifndef REPLAY_LEX_H
#define REPLAY_LEX_H
#include "../vm/diag.h"

/* What the grammar's actions see of a token; small, because every entry of the parser's stack
   holds one. */
typedef struct lexeme {
    uint32_t lo, hi; /* bytes of the source */
    union {
        symbol name;     /* T_NAME */
        double number;   /* T_NUMBER */
        const char *str; /* T_STRING: decoded, in the tree's arena */
        struct {
            uint32_t lo, hi;
        } help; /* T_FN: the comment lines directly above, or lo == hi */
    } v;
    uint32_t length; /* T_STRING: decoded bytes */
    bool whole;      /* T_NUMBER: written without point or exponent */
} lexeme;

typedef struct token {
    int kind;
    lexeme at;
    uint32_t indent; /* code units before the first token of its line */
    bool first;      /* it is the first token of its line */
    bool made;       /* (layout) not in the text: put in to recover from an error */
    uint32_t height; /* (layout) brackets open around it, not counting itself */
    diag *fault;     /* owned; NULL when fine */
} token;

typedef struct lexer {
    memory *m;
    symbols *symbols;
    source *src;
    arena *arena;              /* where decoded strings go */
    const char *s;             /* the next byte */
    uint32_t line_lo;          /* start of the present line */
    uint32_t indent;           /* of its first token */
    bool fresh;                /* no token on this line yet */
    bool comment;              /* a comment on this line */
    bool internal;             /* names starting with `__` are allowed */
    uint32_t help_lo, help_hi; /* comment lines directly above, lo == hi when none */
    bool no_memory;
} lexer;

/* NULL when the text may be lexed; else the one diagnostic that says why not, *no_memory when there
   was none for it. */
diag *lex_check(memory *m, source *src, bool *no_memory);
void lex_open(lexer *lx, memory *m, symbols *syms, source *src, arena *a, bool internal);
/* False when there is no memory. */
bool lex_next(lexer *lx, token *t);
#endif
