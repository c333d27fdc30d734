/* ast.h: the syntax tree, as the parser builds it, the checker resolves it and the emitter reads it.
 *
 * Every node lives in one arena and carries its span. Sequences are singly linked through `next`
 * (statements of a body, arguments, elements, fields, parameters), so that the grammar's actions
 * are one line each and a list of a million elements needs no stack.
 *
 * Left-recursive grammar rules keep the tree of `a + b + c + …` left-deep: walkers must loop down
 * the left spine of N_BINARY, N_CALL, N_INDEX, N_FIELD and `else if` chains, never recurse on it.
 *
 * What the checker fills in is marked (check). */
#ifndef REPLAY_AST_H
#define REPLAY_AST_H
#include "../vm/diag.h"

typedef enum node_kind {
    /* expressions */
    N_NUMBER, /* number; `whole` when written without point or exponent (0xff, 64MB are whole) */
    N_STRING, /* str, length: decoded bytes */
    N_BOOL,   /* flag */
    N_NONE,
    N_NAME,      /* name; ref (check) */
    N_UNARY,     /* oper OP_NEG or OP_NOT, a */
    N_BINARY,    /* oper, a, b: arithmetic, comparison, OP_AND, OP_OR, OP_RANGE */
    N_TRANSPOSE, /* a' */
    N_CALL,      /* a(list): arguments are expressions, N_NAMED or N_SPREAD. `|>` is already a call
                     with the piped value first; flag is set then */
    N_NAMED,     /* name = a, within arguments */
    N_SPREAD,    /* a..., within arguments */
    N_INDEX,     /* a[list]: elements are expressions, N_SLICE, N_ELLIPSIS; N_NONE is a new axis */
    N_SLICE,     /* a : b : c, each may be NULL */
    N_ELLIPSIS,
    N_FIELD,      /* a.name */
    N_ARRAY,      /* [list] */
    N_TUPLE,      /* (list), also () and (a,) */
    N_RECORD,     /* {list}: elements are N_NAMED */
    N_FN,         /* function: an expression, or (name != 0) a definition statement */
    N_IF,         /* a condition, b then-body, c else part: N_BLOCK, N_IF or NULL */
    N_CHECKPOINT, /* list: options as N_NAMED; b: N_BLOCK */
    N_BLOCK,      /* list: statements; its value is the last one's, if that is an expression */
    /* statements (an expression is one too) */
    N_ASSIGN, /* a target, b value, oper: OP_NONE for `=`, else the operator of `+=` … */
    N_FOR,    /* a target, b what is gone over, c body (N_BLOCK) */
    N_WHILE,  /* a condition, b body */
    N_BREAK,
    N_CONTINUE,
    N_RETURN, /* a or NULL */
    N_IMPORT, /* str path, name: what it is bound to */
    N_ERROR   /* stands where the parser recovered; a diagnostic was given */
} node_kind;

typedef enum oper {
    OP_NONE,
    OP_OR,
    OP_AND,
    OP_NOT,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_RANGE,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_FLOORDIV,
    OP_MOD,
    OP_MATMUL,
    OP_NEG,
    OP_POW
} oper;

/* One axis of a shape contract: a name (then size 0), a whole number, or neither for `_`. */
typedef struct dim {
    symbol name;
    int64_t size;
    bool any;
    span at;
    struct dim *next;
} dim;
/* `x: f32[n, d]`; present says whether there was one. A dtype name alone (`x: f32`) has no dims and
   has_dims false; `[]` is rank 0. `...` as first dim: any leading axes (has_rest). */
typedef struct contract {
    bool present, has_dims, has_rest;
    symbol dtype;
    dim *dims;
    span at;
} contract;

typedef struct param {
    symbol name;
    contract shape;
    struct node *deflt; /* NULL: required */
    bool rest;          /* `args...`, only in the modules that come with Replay */
    span at;
    uint32_t var; /* (check) local variable number */
    struct param *next;
} param;

/* What a name refers to (check). */
typedef enum ref_kind {
    REF_UNKNOWN,
    REF_LOCAL,   /* index: variable of the function it stands in */
    REF_CAPTURE, /* index: capture slot of the function it stands in */
    REF_TOP,     /* a top-level `fn`, looked up when used: index is its symbol */
    REF_SELF,    /* the enclosing named function itself, reached from inside its body, when it is
                     not a top-level fn */
    REF_BUILTIN, /* index: number of the builtin (see builtin.h) */
} ref_kind;
typedef struct ref {
    ref_kind kind;
    uint32_t index;
} ref;

/* One variable of a function: its parameters first, then every name assigned in it. */
typedef struct variable {
    symbol name;
    span first_assigned;
    bool is_param, assigned_once;
} variable;
/* One captured value: where the enclosing function finds it when the closure is made. */
typedef struct capture {
    symbol name;
    ref from;
    span first_used;
} capture;

typedef struct function {
    symbol name; /* 0 for an anonymous one */
    param *params;
    uint32_t nparams;
    struct node *body; /* N_BLOCK, or an expression after `=` */
    contract result;
    char *help;             /* the comment lines directly above, without `#`, or NULL */
    struct function *outer; /* (check) NULL for the script itself */
    bool top;               /* (check) a `fn` statement directly at top level of its module */
    variable *vars;
    uint32_t nvars; /* (check) */
    capture *captures;
    uint32_t ncaptures; /* (check) */
    span at;            /* the whole; head: up to the body */
    span head;
} function;

typedef struct node {
    node_kind kind;
    oper oper;
    bool flag, whole;
    span at;    /* the whole construct */
    span op_at; /* the operator, the name after the dot, … where a caret belongs */
    symbol name;
    ref ref; /* (check) */
    double number;
    const char *str;
    size_t length;
    struct node *a, *b, *c;
    struct node *list; /* first of the linked elements */
    struct node *next;
    struct function *fn;
} node;

/* A parsed text. */
typedef struct ast {
    arena arena;
    source *src;      /* owned reference */
    symbols *symbols; /* borrowed */
    function *main;   /* the script as a function without parameters; its body is an N_BLOCK */
} ast;
void ast_close(ast *t);

/* Walkers loop down left spines (above) and may recurse on everything else: the parser refuses a
   text in which that would go deeper than this. A change of kind along a spine counts as a level, a
   body as one more than its statements. */
#define AST_DEPTH_MAX 1000

/* Prints the script as S-expressions, a statement per line; for tests and for looking. Does not
   recurse. */
void ast_dump(const ast *t, text *out);
/* The same for one expression or statement. */
void node_dump(const node *n, const symbols *syms, memory *m, text *out);
/* "+", "==", …; "" for OP_NONE. */
const char *oper_name(oper o);
#endif
