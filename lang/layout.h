/* layout.h: the layer between lexer and parser.
 *
 * It keeps the stack of open brackets and decides from it what the grammar cannot: which newlines
 * end a statement, which `{` opens a block and which a record, whether a `<` or `>` bounds a
 * checkpoint block or compares. It is therefore also who knows about mismatched brackets (it names
 * and points at the opening one) and whether a text stops in the middle.
 *
 * Holds throughout: the parser sees balanced brackets. After a bracket error the rest up to the next
 * line that starts at the outermost bracket's indentation is passed over, and what is open is closed
 * by tokens marked `made`. Work is linear in the text: every bracket is pushed and popped once. */
#ifndef REPLAY_LAYOUT_H
#define REPLAY_LAYOUT_H
#include "lex.h"

typedef enum bracket_kind {
    BR_PAREN,     /* ( of an expression, a call, a tuple */
    BR_HEADER,    /* ( after if, while, for */
    BR_PARAMS,    /* ( of a fn */
    BR_OPTIONS,   /* ( after checkpoint */
    BR_SQUARE,    /* [ */
    BR_CONTRACT,  /* [ after a fn's -> */
    BR_RECORD,    /* { of a record */
    BR_BLOCK,     /* { of a body */
    BR_CHECKPOINT /* < of a checkpoint block */
} bracket_kind;

typedef struct bracket {
    bracket_kind kind;
    uint32_t lo, hi; /* the opening token; of a checkpoint block also its keyword */
    uint32_t indent; /* of its line */
    uint32_t body;   /* height up to and with the innermost block among this and those below */
} bracket;

/* What has just been seen, as far as it changes what the next token means. */
typedef enum layout_state {
    LS_PLAIN,
    LS_CONDITION,  /* if, while, for: a `(` is a header */
    LS_BODY,       /* after a header or else: a `{` is a block */
    LS_FN,         /* fn, and its name: a `(` holds parameters */
    LS_RESULT,     /* after parameters: `->`, `=` or a block */
    LS_CONTRACT,   /* after `->` */
    LS_CHECKPOINT, /* after checkpoint: `(` holds options, `<` opens */
    LS_OPTED       /* after its options */
} layout_state;

typedef struct layout {
    lexer lx;
    bracket *stack;
    uint32_t n, cap;
    uint32_t curly, round, square, angle; /* how many of each are open: keeps asking for a match constant */
    layout_state state;
    uint32_t checkpoint_lo; /* the keyword a coming `<` belongs to */
    int prev;               /* kind given out last */
    uint32_t prev_hi;
    token held, sep; /* a token read ahead; a `;` that counts unless a closer follows */
    bool has_held, has_sep;
    bool incomplete; /* the text has ended where more must follow */
    bool closing;    /* closing everything after a bracket error */
} layout;

void layout_open(layout *l, memory *m, symbols *syms, source *src, arena *a, bool internal);
void layout_close(layout *l);
/* False when there is no memory. */
bool layout_next(layout *l, token *t);
/* Height of the innermost block around a token: what ends a statement has just this height. */
uint32_t layout_body(const layout *l, const token *t);
/* Forgets the brackets above `height`; the parser has given them up as never closed. */
void layout_abandon(layout *l, uint32_t height);
/* The innermost bracket around a token, or NULL. */
const bracket *layout_around(const layout *l, const token *t);
/* "(", "checkpoint <" …; and its closer. */
const char *bracket_opener(bracket_kind k);
const char *bracket_closer(bracket_kind k);
span bracket_span(const layout *l, const bracket *b);
#endif
