/* grammar.h: what the grammar's actions (parse.y), the driver (parse.c), the builders (build.c) and
 * the explanations of syntax errors (explain.c) share. Private to the parser.
 *
 * A builder that finds no memory sets ps->no_memory and returns ps->spare, a node that may be written
 * to and means nothing; the driver stops after the token at hand. */
#ifndef REPLAY_GRAMMAR_H
#define REPLAY_GRAMMAR_H
#include "layout.h"
#include "parse.h"

#define ERRORS_MAX 20 /* then the text is given up */

/* An expression while it is built. `n->at` leaves brackets around it out, lo and hi do not. */
typedef struct ex {
    node *n;
    node *bad; /* the part that keeps it from being a target; NULL: it is one */
    uint32_t lo, hi;
    uint32_t depth; /* of recursion a walker needs, see AST_DEPTH_MAX */
    bool paren;
} ex;

/* A list while it is built. */
typedef struct seq {
    node *first, *last;
    node *bad;
    uint32_t depth, n;
    bool named; /* a named argument was seen */
} seq;

typedef struct params {
    param *first, *last;
    uint32_t n, depth;
} params;
typedef struct dims {
    dim *first, *last;
    bool rest;
} dims;
/* A fn up to its body. */
typedef struct head {
    function *fn;
    uint32_t lo, depth, op_lo, op_hi;
} head;

typedef struct parse_state {
    memory *m;
    symbols *symbols;
    source *src;
    arena *arena;
    const parse_options *options;
    layout layout;
    seq script; /* the statements, when the text has been reduced */
    /* the parser's stack (Lemon's template asks libc; parse.y sends it here) */
    size_t stack_bytes;
    /* what the driver and the explanations know of the tokens before */
    token now, prev, prev2, first; /* first: of the present statement */
    bool fresh;                    /* the next token is the first of a statement */
    bool quiet;                    /* an error here is a consequence of one already told */
    bool compared;                 /* at an error: what stands before is the right side of a comparison */
    bool needs_more;
    const unsigned char *can; /* at an error: can[kind] tells whether the token would be right */
    /* diagnostics */
    diag *diags, *last;
    uint32_t errors;
    bool no_memory;
    bool deep;      /* told that the text is nested too deeply */
    uint32_t *seen; /* by symbol: the list it was last seen in, to find repetitions */
    size_t nseen;
    uint32_t list;
    node spare;
    param spare_param;
    function spare_fn;
    contract spare_contract;
} parse_state;

/* parse.c */
void error_add(parse_state *ps, diag *d);
/* A new error at [lo, hi), already added; NULL when there was no memory. */
diag *error_at(parse_state *ps, uint32_t lo, uint32_t hi, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void *stack_resize(parse_state *ps, void *p, size_t bytes);
void stack_free(parse_state *ps, void *p);

/* parse.y */
void grammar_run(parse_state *ps);

/* explain.c: reports that `ps->now` cannot stand where it does. */
void explain(parse_state *ps);

/* build.c: one builder per construct; what a token or expression argument is, parse.y shows. */
ex build_number(parse_state *ps, lexeme t);
ex build_string(parse_state *ps, lexeme t);
ex build_bool(parse_state *ps, lexeme t, bool flag);
ex build_none(parse_state *ps, lexeme t);
ex build_name(parse_state *ps, lexeme t);
ex build_paren(parse_state *ps, lexeme open, ex e, lexeme close);
ex build_sequence(parse_state *ps, node_kind k, lexeme open, seq s, lexeme close);
ex build_binary(parse_state *ps, oper o, ex a, lexeme op, ex b);
ex build_unary(parse_state *ps, oper o, lexeme op, ex a);
ex build_transpose(parse_state *ps, ex a, lexeme op);
ex build_call(parse_state *ps, ex f, lexeme open, seq args, lexeme close);
ex build_index(parse_state *ps, ex a, lexeme open, seq index, lexeme close);
ex build_field(parse_state *ps, ex a, lexeme name);
ex build_pipe(parse_state *ps, ex x, lexeme op, ex stage);
ex build_spread(parse_state *ps, ex a, lexeme dots);
ex build_named(parse_state *ps, lexeme name, ex a);
/* Any of a, b, c may have n NULL. */
ex build_slice(parse_state *ps, ex a, ex b, ex c, uint32_t lo, uint32_t hi);
ex build_ellipsis(parse_state *ps, lexeme t);
ex build_block(parse_state *ps, lexeme open, seq s, lexeme close);
ex build_if(parse_state *ps, lexeme word, ex cond, ex body);
/* A chain of else-ifs is a seq linked through `c`. */
seq build_chain(parse_state *ps, seq chain, ex arm);
ex build_else(parse_state *ps, seq chain, ex other);
ex build_checkpoint(parse_state *ps, lexeme word, seq options, ex block);
head build_head(parse_state *ps, lexeme fn, lexeme *name, params p, lexeme close, contract *result);
ex build_fn(parse_state *ps, head h, ex body);
params build_params(parse_state *ps, params p, param *q, uint32_t depth);
param *build_param(parse_state *ps, lexeme name, contract *shape, bool rest, lexeme end);
contract *build_contract(parse_state *ps, lexeme *dtype, lexeme *open, dims d, lexeme *close);
dims build_dims(parse_state *ps, dims d, int kind, lexeme t);
ex build_assign(parse_state *ps, ex target, oper o, lexeme op, ex value);
ex build_for(parse_state *ps, lexeme word, ex target, ex over, ex body);
ex build_while(parse_state *ps, lexeme word, ex cond, ex body);
ex build_word(parse_state *ps, node_kind k, lexeme word);
ex build_return(parse_state *ps, lexeme word, ex value);
ex build_import(parse_state *ps, lexeme word, lexeme path, lexeme *as);
ex build_error(parse_state *ps);
seq build_list(parse_state *ps, seq s, ex e);
/* Reports a name given twice among the N_NAMED of a list. */
void build_distinct(parse_state *ps, seq s, const char *what);
#endif
