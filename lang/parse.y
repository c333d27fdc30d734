/* parse.y: the grammar, for Lemon. It has no conflicts and declares no precedence: the levels are
 * rules. The tokens come from layout.c, which has settled statement ends (SEP), block braces
 * (LBLOCK, RBLOCK, against LBRACE, RBRACE of records) and checkpoint brackets (CPOPEN, CPCLOSE,
 * against LT, GT). Actions call one builder each (build.c).
 *
 * Errors are found before Lemon sees the token: the driver below asks the tables whether it would be
 * shifted, so nothing has been reduced in vain, the set of right tokens is exact and statements read
 * before are kept. It then drops the stack down to the innermost list of statements, has FAULT stand
 * for the statement, and passes over tokens up to what ends it. */
%name Grammar
%token_prefix T_
%token_type { lexeme }
%extra_context { parse_state *ps }
%stack_size 0
%start_symbol text
%token BEGIN EOF SEP BAD FAULT.

%include {
#include "grammar.h"
#include <stdlib.h>
/* No tracing: it would hang on a global. And the template's stack goes through our allocator:
   `p` and `pParser` are its names for the parser. */
#ifndef NDEBUG
#define NDEBUG 1
#endif
#define malloc(n) stack_resize(p->ps, NULL, (n))
#define realloc(q, n) stack_resize(p->ps, (q), (n))
#define free(q) stack_free(pParser->ps, (q))
#define Grammar_ENGINEALWAYSONSTACK 1
static const ex no_ex;
static const seq no_seq;
#define YYNOERRORRECOVERY 1
}

%stack_overflow { ps->no_memory = true; }

%type text { int }
%type body { seq }
%type list { seq }
text ::= BEGIN body(B) EOF. { ps->script = B; }
body(A) ::= . { A = no_seq; }
body(A) ::= list(L). { A = L; }
list(A) ::= stmt(S). { A = build_list(ps, no_seq, S); }
list(A) ::= list(L) SEP stmt(S). { A = build_list(ps, L, S); }

/* ---- statements ---- */
%type stmt { ex }
stmt(A) ::= FAULT. { A = build_error(ps); }
stmt(A) ::= value(V). { A = V; }
stmt(A) ::= postfix(T) ASSIGN(O) value(V). { A = build_assign(ps, T, OP_NONE, O, V); }
stmt(A) ::= postfix(T) ADDA(O) value(V). { A = build_assign(ps, T, OP_ADD, O, V); }
stmt(A) ::= postfix(T) SUBA(O) value(V). { A = build_assign(ps, T, OP_SUB, O, V); }
stmt(A) ::= postfix(T) MULA(O) value(V). { A = build_assign(ps, T, OP_MUL, O, V); }
stmt(A) ::= postfix(T) DIVA(O) value(V). { A = build_assign(ps, T, OP_DIV, O, V); }
stmt(A) ::= postfix(T) POWA(O) value(V). { A = build_assign(ps, T, OP_POW, O, V); }
stmt(A) ::= postfix(T) MATA(O) value(V). { A = build_assign(ps, T, OP_MATMUL, O, V); }
stmt(A) ::= FOR(W) LP postfix(T) IN value(V) RP block(B). { A = build_for(ps, W, T, V, B); }
stmt(A) ::= WHILE(W) LP value(V) RP block(B). { A = build_while(ps, W, V, B); }
stmt(A) ::= BREAK(W). { A = build_word(ps, N_BREAK, W); }
stmt(A) ::= CONTINUE(W). { A = build_word(ps, N_CONTINUE, W); }
stmt(A) ::= RETURN(W). { A = build_return(ps, W, no_ex); }
stmt(A) ::= RETURN(W) value(V). { A = build_return(ps, W, V); }
stmt(A) ::= IMPORT(W) STRING(S). { A = build_import(ps, W, S, NULL); }
stmt(A) ::= IMPORT(W) STRING(S) AS NAME(N). { A = build_import(ps, W, S, &N); }
stmt(A) ::= named_head(H) ASSIGN value(V). { A = build_fn(ps, H, V); }
stmt(A) ::= named_head(H) block(B). { A = build_fn(ps, H, B); }

%type block { ex }
block(A) ::= LBLOCK(O) body(B) RBLOCK(C). { A = build_block(ps, O, B, C); }

/* ---- if, fn, checkpoint: not operands of operators ---- */
%type value { ex }
value(A) ::= pipe(P). { A = P; }
value(A) ::= pipe(P) PIPE(O) fn_open(F). { A = build_pipe(ps, P, O, F); }
value(A) ::= fn_open(F). { A = F; }
value(A) ::= fn_braced(F). { A = F; }
value(A) ::= chain(C). { A = build_else(ps, C, no_ex); }
value(A) ::= chain(C) ELSE block(B). { A = build_else(ps, C, B); }
value(A) ::= CHECKPOINT(W) region(R). { A = build_checkpoint(ps, W, no_seq, R); }
value(A) ::= CHECKPOINT(W) LP args(O) RP region(R). { A = build_checkpoint(ps, W, O, R); }

%type region { ex }
region(A) ::= CPOPEN(O) body(B) CPCLOSE(C). { A = build_block(ps, O, B, C); }

%type chain { seq }
chain(A) ::= IF(W) LP value(V) RP block(B). { A = build_chain(ps, no_seq, build_if(ps, W, V, B)); }
chain(A) ::= chain(C) ELSE IF(W) LP value(V) RP block(B). { A = build_chain(ps, C, build_if(ps, W, V, B)); }

%type fn_open { ex }
%type fn_braced { ex }
%type fn_head { head }
%type named_head { head }
fn_open(A) ::= fn_head(H) ASSIGN value(V). { A = build_fn(ps, H, V); }
fn_braced(A) ::= fn_head(H) block(B). { A = build_fn(ps, H, B); }
fn_head(A) ::= FN(W) LP params(P) RP(C) result(R). { A = build_head(ps, W, NULL, P, C, R); }
named_head(A) ::= FN(W) NAME(N) LP params(P) RP(C) result(R). { A = build_head(ps, W, &N, P, C, R); }

%type params { params }
%type param_list { params }
params(A) ::= . { A = (params){0}; }
params(A) ::= param_list(L). { A = L; }
params(A) ::= param_list(L) COMMA. { A = L; }
param_list(A) ::= param(P). { A = build_params(ps, (params){0}, P, 0); }
param_list(A) ::= param(P) ASSIGN value(V). { P->deflt = V.n; A = build_params(ps, (params){0}, P, V.depth); }
param_list(A) ::= param_list(L) COMMA param(P). { A = build_params(ps, L, P, 0); }
param_list(A) ::= param_list(L) COMMA param(P) ASSIGN value(V). { P->deflt = V.n; A = build_params(ps, L, P, V.depth); }
%type param { param * }
param(A) ::= NAME(N). { A = build_param(ps, N, NULL, false, N); }
param(A) ::= NAME(N) ELLIPSIS(E). { A = build_param(ps, N, NULL, true, E); }
param(A) ::= NAME(N) COLON contract(C). { A = build_param(ps, N, C, false, N); }
%type result { contract * }
result(A) ::= . { A = NULL; }
result(A) ::= ARROW contract(C). { A = C; }
%type contract { contract * }
contract(A) ::= NAME(N). { A = build_contract(ps, &N, NULL, (dims){0}, NULL); }
contract(A) ::= NAME(N) LB(O) dims(D) RB(C). { A = build_contract(ps, &N, &O, D, &C); }
contract(A) ::= LB(O) dims(D) RB(C). { A = build_contract(ps, NULL, &O, D, &C); }
%type dims { dims }
%type dim_list { dims }
dims(A) ::= . { A = (dims){0}; }
dims(A) ::= dim_list(L). { A = L; }
dims(A) ::= dim_list(L) COMMA. { A = L; }
dim_list(A) ::= NAME(N). { A = build_dims(ps, (dims){0}, T_NAME, N); }
dim_list(A) ::= NUMBER(N). { A = build_dims(ps, (dims){0}, T_NUMBER, N); }
dim_list(A) ::= ELLIPSIS(N). { A = build_dims(ps, (dims){0}, T_ELLIPSIS, N); }
dim_list(A) ::= dim_list(L) COMMA NAME(N). { A = build_dims(ps, L, T_NAME, N); }
dim_list(A) ::= dim_list(L) COMMA NUMBER(N). { A = build_dims(ps, L, T_NUMBER, N); }

/* ---- operators, loosest first ---- */
%type pipe { ex }
pipe(A) ::= or(X). { A = X; }
pipe(A) ::= pipe(P) PIPE(O) postfix(F). { A = build_pipe(ps, P, O, F); }
pipe(A) ::= pipe(P) PIPE(O) fn_braced(F). { A = build_pipe(ps, P, O, F); }
%type or { ex }
or(A) ::= and(X). { A = X; }
or(A) ::= or(X) OR(O) and(Y). { A = build_binary(ps, OP_OR, X, O, Y); }
%type and { ex }
and(A) ::= not(X). { A = X; }
and(A) ::= and(X) AND(O) not(Y). { A = build_binary(ps, OP_AND, X, O, Y); }
%type not { ex }
not(A) ::= compare(X). { A = X; }
not(A) ::= NOT(O) not(X). { A = build_unary(ps, OP_NOT, O, X); }
%type compare { ex }
compare(A) ::= range(X). { A = X; }
compare(A) ::= range(X) EQ(O) range(Y). { A = build_binary(ps, OP_EQ, X, O, Y); }
compare(A) ::= range(X) NE(O) range(Y). { A = build_binary(ps, OP_NE, X, O, Y); }
compare(A) ::= range(X) LT(O) range(Y). { A = build_binary(ps, OP_LT, X, O, Y); }
compare(A) ::= range(X) LE(O) range(Y). { A = build_binary(ps, OP_LE, X, O, Y); }
compare(A) ::= range(X) GT(O) range(Y). { A = build_binary(ps, OP_GT, X, O, Y); }
compare(A) ::= range(X) GE(O) range(Y). { A = build_binary(ps, OP_GE, X, O, Y); }
%type range { ex }
range(A) ::= sum(X). { A = X; }
range(A) ::= sum(X) DOTDOT(O) sum(Y). { A = build_binary(ps, OP_RANGE, X, O, Y); }
%type sum { ex }
sum(A) ::= product(X). { A = X; }
sum(A) ::= sum(X) PLUS(O) product(Y). { A = build_binary(ps, OP_ADD, X, O, Y); }
sum(A) ::= sum(X) MINUS(O) product(Y). { A = build_binary(ps, OP_SUB, X, O, Y); }
%type product { ex }
product(A) ::= unary(X). { A = X; }
product(A) ::= product(X) STAR(O) unary(Y). { A = build_binary(ps, OP_MUL, X, O, Y); }
product(A) ::= product(X) SLASH(O) unary(Y). { A = build_binary(ps, OP_DIV, X, O, Y); }
product(A) ::= product(X) FLOORDIV(O) unary(Y). { A = build_binary(ps, OP_FLOORDIV, X, O, Y); }
product(A) ::= product(X) PERCENT(O) unary(Y). { A = build_binary(ps, OP_MOD, X, O, Y); }
product(A) ::= product(X) AT(O) unary(Y). { A = build_binary(ps, OP_MATMUL, X, O, Y); }
%type unary { ex }
unary(A) ::= power(X). { A = X; }
unary(A) ::= MINUS(O) unary(X). { A = build_unary(ps, OP_NEG, O, X); }
%type power { ex }
power(A) ::= postfix(X). { A = X; }
power(A) ::= postfix(X) POW(O) exponent(Y). { A = build_binary(ps, OP_POW, X, O, Y); }
%type exponent { ex }
exponent(A) ::= power(X). { A = X; }
exponent(A) ::= MINUS(O) exponent(X). { A = build_unary(ps, OP_NEG, O, X); }

/* ---- postfix and primary ---- */
%type postfix { ex }
postfix(A) ::= primary(X). { A = X; }
postfix(A) ::= postfix(F) LP(O) args(L) RP(C). { A = build_call(ps, F, O, L, C); }
postfix(A) ::= postfix(X) LB(O) index(L) RB(C). { A = build_index(ps, X, O, L, C); }
postfix(A) ::= postfix(X) DOT NAME(N). { A = build_field(ps, X, N); }
postfix(A) ::= postfix(X) QUOTE(O). { A = build_transpose(ps, X, O); }

%type args { seq }
%type arg_list { seq }
%type arg { ex }
args(A) ::= . { A = no_seq; }
args(A) ::= arg_list(L). { A = L; build_distinct(ps, L, "argument"); }
args(A) ::= arg_list(L) COMMA. { A = L; build_distinct(ps, L, "argument"); }
arg_list(A) ::= arg(X). { A = build_list(ps, no_seq, X); }
arg_list(A) ::= arg_list(L) COMMA arg(X). { A = build_list(ps, L, X); }
arg(A) ::= value(V). { A = V; }
arg(A) ::= pipe(V) ELLIPSIS(E). { A = build_spread(ps, V, E); }
arg(A) ::= NAME(N) ASSIGN value(V). { A = build_named(ps, N, V); }

%type index { seq }
%type index_list { seq }
%type item { ex }
%type bound { ex }
index(A) ::= index_list(L). { A = L; }
index(A) ::= index_list(L) COMMA. { A = L; }
index_list(A) ::= item(X). { A = build_list(ps, no_seq, X); }
index_list(A) ::= index_list(L) COMMA item(X). { A = build_list(ps, L, X); }
item(A) ::= value(V). { A = V; }
item(A) ::= ELLIPSIS(E). { A = build_ellipsis(ps, E); }
item(A) ::= bound(X) COLON(O) bound(Y). { A = build_slice(ps, X, Y, no_ex, O.lo, O.hi); }
item(A) ::= bound(X) COLON(O) bound(Y) COLON(P) bound(Z). { A = build_slice(ps, X, Y, Z, O.lo, P.hi); }
bound(A) ::= . { A = no_ex; }
bound(A) ::= pipe(V). { A = V; }

%type primary { ex }
%type values { seq }
%type fields { seq }
%type field_list { seq }
%type field { ex }
primary(A) ::= NAME(N). { A = build_name(ps, N); }
primary(A) ::= NUMBER(N). { A = build_number(ps, N); }
primary(A) ::= STRING(S). { A = build_string(ps, S); }
primary(A) ::= TRUE(T). { A = build_bool(ps, T, true); }
primary(A) ::= FALSE(T). { A = build_bool(ps, T, false); }
primary(A) ::= NONE(T). { A = build_none(ps, T); }
primary(A) ::= LP(O) value(V) RP(C). { A = build_paren(ps, O, V, C); }
primary(A) ::= LP(O) RP(C). { A = build_sequence(ps, N_TUPLE, O, no_seq, C); }
primary(A) ::= LP(O) values(L) COMMA RP(C). { A = build_sequence(ps, N_TUPLE, O, L, C); }
primary(A) ::= LP(O) values(L) COMMA value(V) RP(C). { A = build_sequence(ps, N_TUPLE, O, build_list(ps, L, V), C); }
primary(A) ::= LB(O) RB(C). { A = build_sequence(ps, N_ARRAY, O, no_seq, C); }
primary(A) ::= LB(O) values(L) RB(C). { A = build_sequence(ps, N_ARRAY, O, L, C); }
primary(A) ::= LB(O) values(L) COMMA RB(C). { A = build_sequence(ps, N_ARRAY, O, L, C); }
primary(A) ::= LBRACE(O) fields(L) RBRACE(C). { A = build_sequence(ps, N_RECORD, O, L, C); }
values(A) ::= value(V). { A = build_list(ps, no_seq, V); }
values(A) ::= values(L) COMMA value(V). { A = build_list(ps, L, V); }
fields(A) ::= . { A = no_seq; }
fields(A) ::= field_list(L). { A = L; build_distinct(ps, L, "field"); }
fields(A) ::= field_list(L) COMMA. { A = L; build_distinct(ps, L, "field"); }
field_list(A) ::= field(F). { A = build_list(ps, no_seq, F); }
field_list(A) ::= field_list(L) COMMA field(F). { A = build_list(ps, L, F); }
field(A) ::= NAME(N) COLON value(V). { A = build_named(ps, N, V); }

%code {
/* Would the token be shifted, after what reductions it takes? Goes through the motions on the real
   stack up to `real` and the states pushed on top of that. */
static bool acceptable(const struct yyParser *p, int kind)
{
    YYACTIONTYPE pushed[32];
    const yyStackEntry *real = p->yytos;
    int n = 0;
    for (;;) {
        YYACTIONTYPE act = yy_find_shift_action((YYCODETYPE)kind, n ? pushed[n - 1] : real->stateno);
        if (act < YY_MIN_REDUCE) return act <= YY_MAX_SHIFTREDUCE;
        int rule = act - YY_MIN_REDUCE;
        for (int k = -yyRuleInfoNRhs[rule]; k; k--) {
            if (n) n--;
            else real--;
        }
        if (n == 32) return true;
        act = yy_find_reduce_action(n ? pushed[n - 1] : real->stateno, yyRuleInfoLhs[rule]);
        pushed[n++] = act;
    }
}

/* What ends the statement an error was in: the separator of its list, the closer of its block, or
   the end. `body` is the height of the block. */
static bool ends_statement(const token *t, uint32_t body)
{
    return (t->kind == T_SEP && t->height == body) || t->kind == T_EOF ||
           ((t->kind == T_RBLOCK || t->kind == T_CPCLOSE) && t->height < body);
}

/* The statement being passed over has brackets open, but a new line that is not indented further
   than the first of them starts like a statement: the bracket was never closed. */
static bool starts_statement(parse_state *ps, const token *t, uint32_t body)
{
    if (!t->first || t->made || t->height <= body || t->indent > ps->layout.stack[body].indent) return false;
    switch (t->kind) {
    case T_NAME: case T_IF: case T_FN: case T_FOR: case T_WHILE: case T_RETURN: case T_IMPORT: case T_BREAK:
    case T_CONTINUE: case T_CHECKPOINT:
        return true;
    default: return false;
    }
}

/* Is the operand on top of the stack the right side of a comparison? */
static bool compared(const struct yyParser *p)
{
    for (const yyStackEntry *e = p->yytos; e > p->yystack; e--)
        switch (e->major) {
        case T_EQ: case T_NE: case T_LT: case T_LE: case T_GT: case T_GE: return true;
        case T_DOTDOT: case T_PLUS: case T_MINUS: case T_STAR: case T_SLASH: case T_FLOORDIV: case T_PERCENT:
        case T_AT: case T_POW: case T_DOT: case T_QUOTE: case T_NAME: case T_NUMBER: case T_STRING: case T_TRUE:
        case T_FALSE: case T_NONE: case T_RP: case T_RB: case T_RBRACE:
            break;
        case T_LP: case T_LB: case T_LBRACE:
            /* Of a call or literal that ends here only when its closer was above. */
            if (p->yytos->major != T_RP && p->yytos->major != T_RB && p->yytos->major != T_RBRACE) return false;
            break;
        default:
            if (e->major < YYNTOKEN) return false;
        }
    return false;
}

static void shift(parse_state *ps, yyParser *p, const token *t)
{
    ps->now = *t;
    if (ps->fresh) ps->first = *t;
    Grammar(p, t->kind, t->at);
    ps->fresh = t->kind == T_SEP || t->kind == T_BEGIN || t->kind == T_LBLOCK || t->kind == T_CPOPEN;
    ps->prev2 = ps->prev;
    ps->prev = *t;
}

/* The statement being read becomes a fault; what was reduced of it is dropped. */
static void give_up(parse_state *ps, yyParser *p, const token *t)
{
    token fault = {.kind = T_FAULT, .made = true, .at = {.lo = t->at.lo, .hi = t->at.hi}};
    int closed = 0; /* blocks whose closer was dropped: their inside is behind us */
    while (p->yytos > p->yystack && (closed || !acceptable(p, T_FAULT))) {
        int major = p->yytos->major;
        closed += (major == T_RBLOCK || major == T_CPCLOSE) - (closed && (major == T_LBLOCK || major == T_CPOPEN));
        yy_pop_parser_stack(p);
    }
    shift(ps, p, &fault);
}

/* Takes a token, or reports it; true when it was wrong. */
static bool refuses(parse_state *ps, yyParser *p, const token *t)
{
    if (!t->made) ps->quiet = false;
    else if (t->kind != T_SEP) ps->quiet = true;
    if (acceptable(p, t->kind)) {
        shift(ps, p, t);
        return false;
    }
    unsigned char can[YYNTOKEN];
    for (int k = 0; k < YYNTOKEN; k++) can[k] = acceptable(p, k);
    ps->can = can;
    ps->compared = compared(p);
    ps->now = *t;
    if (ps->fresh) ps->first = *t;
    explain(ps);
    ps->can = NULL;
    give_up(ps, p, t);
    return true;
}

void grammar_run(parse_state *ps)
{
    yyParser parser;
    token t = {.kind = T_BEGIN};
    bool skipping = false;
    uint32_t body = 0;
    GrammarInit(&parser, ps);
    shift(ps, &parser, &t);
    while (!ps->no_memory && ps->errors < ERRORS_MAX) {
        if (!layout_next(&ps->layout, &t)) {
            diag_free(t.fault);
            ps->no_memory = true;
            break;
        }
        if (ps->layout.incomplete && ps->options->repl && !ps->errors) {
            diag_free(t.fault);
            ps->needs_more = true;
            break;
        }
        if (t.fault && skipping) diag_free(t.fault);
        else if (t.fault) error_add(ps, t.fault);
        t.fault = NULL;
        if (!skipping) {
            if (!refuses(ps, &parser, &t)) goto taken;
            bool closes = t.kind == T_RBLOCK || t.kind == T_CPCLOSE;
            body = closes ? t.height + 1 : layout_body(&ps->layout, &t);
            skipping = true;
        }
        if (starts_statement(ps, &t, body)) {
            layout_abandon(&ps->layout, body);
            t.height = body;
            token sep = {.kind = T_SEP, .made = true, .height = body, .at = {.lo = t.at.lo, .hi = t.at.lo}};
            shift(ps, &parser, &sep);
            skipping = refuses(ps, &parser, &t);
        } else if (ends_statement(&t, body)) skipping = refuses(ps, &parser, &t);
    taken:
        if (t.kind == T_EOF) {
            Grammar(&parser, 0, t.at);
            break;
        }
    }
    GrammarFinalize(&parser);
}
}
