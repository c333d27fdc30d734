/* parse.h: text → AST.  lex.re makes tokens, layout.c decides which newlines end a statement and
 * what each `<` and `>` is, parse.y builds the tree. */
#ifndef REPLAY_PARSE_H
#define REPLAY_PARSE_H
#include "ast.h"

typedef struct parse_options {
    bool internal; /* a module that comes with Replay: `fn f(args...)` and names starting `__` allowed */
    bool repl;     /* set *needs_more instead of an error when the text stops inside brackets or a block */
} parse_options;

/* Parses src (retained by the tree). True when there were no errors; *diags gets errors (several where
   recovery allowed) and warnings in source order, owned by the caller. `out` is valid, possibly with
   N_ERROR nodes, in either case and needs ast_close; false with *diags NULL means no memory. */
bool parse(memory *m, symbols *syms, source *src, const parse_options *o, ast *out, diag **diags, bool *needs_more);
#endif
