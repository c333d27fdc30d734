/* build.c: the builders the grammar's actions call, one per construct (see grammar.h).
 *
 * Each takes what the rule matched and gives a node in the tree's arena with its spans filled in, or
 * reports what the grammar cannot see: a target that cannot be assigned, a repeated name, a
 * positional argument after a named one, an option that is no literal. Depth is counted here, so that
 * those who walk the tree may recurse (AST_DEPTH_MAX). */
#include "grammar.h"
#include "parse_tables.h"
#include <string.h>

static span at(parse_state *ps, uint32_t lo, uint32_t hi) { return (span){ps->src, lo, hi}; }
static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static node *node_new(parse_state *ps, node_kind k, uint32_t lo, uint32_t hi)
{
    node *n = arena_alloc(ps->arena, sizeof *n);
    if (!n) {
        ps->no_memory = true;
        n = &ps->spare;
        memset(n, 0, sizeof *n);
    }
    n->kind = k;
    n->at = n->op_at = at(ps, lo, hi);
    return n;
}

/* A finished expression that needs `depth` levels of recursion; too many become an error. */
static ex finish(parse_state *ps, node *n, node *bad, uint32_t lo, uint32_t hi, uint32_t depth)
{
    if (depth > AST_DEPTH_MAX) {
        if (!ps->deep) diag_help_set(error_at(ps, lo, hi, "this is nested more than %d levels deep", AST_DEPTH_MAX), "give parts of it names; a block counts as two levels");
        ps->deep = true;
        n = bad = node_new(ps, N_ERROR, lo, hi);
        depth = 1;
    }
    return (ex){.n = n, .bad = bad, .lo = lo, .hi = hi, .depth = depth};
}

static ex leaf(parse_state *ps, node_kind k, lexeme t)
{
    node *n = node_new(ps, k, t.lo, t.hi);
    return finish(ps, n, n, t.lo, t.hi, 1);
}

/* The level at which `a`, the left end of a node of kind k, is reached: walkers loop there. */
static uint32_t spine(ex a, node_kind k) { return a.n && a.n->kind == k ? a.depth : a.depth + 1; }

ex build_number(parse_state *ps, lexeme t)
{
    ex e = leaf(ps, N_NUMBER, t);
    e.n->number = t.v.number;
    e.n->whole = t.whole;
    return e;
}

ex build_string(parse_state *ps, lexeme t)
{
    ex e = leaf(ps, N_STRING, t);
    e.n->str = t.v.str;
    e.n->length = t.length;
    return e;
}

ex build_bool(parse_state *ps, lexeme t, bool flag)
{
    ex e = leaf(ps, N_BOOL, t);
    e.n->flag = flag;
    return e;
}

ex build_none(parse_state *ps, lexeme t) { return leaf(ps, N_NONE, t); }
ex build_ellipsis(parse_state *ps, lexeme t) { return leaf(ps, N_ELLIPSIS, t); }

ex build_name(parse_state *ps, lexeme t)
{
    ex e = leaf(ps, N_NAME, t);
    e.n->name = t.v.name;
    e.bad = NULL;
    return e;
}

ex build_paren(parse_state *ps, lexeme open, ex e, lexeme close)
{
    e.lo = open.lo;
    e.hi = close.hi;
    e.paren = true;
    return e;
}

ex build_sequence(parse_state *ps, node_kind k, lexeme open, seq s, lexeme close)
{
    node *n = node_new(ps, k, open.lo, close.hi);
    n->list = s.first;
    return finish(ps, n, k == N_TUPLE ? s.bad : n, open.lo, close.hi, s.depth + 1);
}

ex build_binary(parse_state *ps, oper o, ex a, lexeme op, ex b)
{
    node *n = node_new(ps, N_BINARY, a.lo, b.hi);
    n->oper = o;
    n->op_at = at(ps, op.lo, op.hi);
    n->a = a.n;
    n->b = b.n;
    return finish(ps, n, n, a.lo, b.hi, larger(spine(a, N_BINARY), b.depth + 1));
}

ex build_unary(parse_state *ps, oper o, lexeme op, ex a)
{
    node *n = node_new(ps, N_UNARY, op.lo, a.hi);
    n->oper = o;
    n->op_at = at(ps, op.lo, op.hi);
    n->a = a.n;
    return finish(ps, n, n, op.lo, a.hi, a.depth + 1);
}

ex build_transpose(parse_state *ps, ex a, lexeme op)
{
    node *n = node_new(ps, N_TRANSPOSE, a.lo, op.hi);
    n->op_at = at(ps, op.lo, op.hi);
    n->a = a.n;
    return finish(ps, n, n, a.lo, op.hi, a.depth + 1);
}

ex build_call(parse_state *ps, ex f, lexeme open, seq args, lexeme close)
{
    node *n = node_new(ps, N_CALL, f.lo, close.hi);
    n->op_at = at(ps, open.lo, close.hi);
    n->a = f.n;
    n->list = args.first;
    return finish(ps, n, n, f.lo, close.hi, larger(spine(f, N_CALL), args.depth + 1));
}

/* A path's base must itself be a name or a path; else it is what cannot be assigned. */
static node *path_bad(ex a)
{
    if (a.bad) return a.bad;
    return a.n->kind == N_TUPLE ? a.n : NULL;
}

ex build_index(parse_state *ps, ex a, lexeme open, seq index, lexeme close)
{
    node *n = node_new(ps, N_INDEX, a.lo, close.hi);
    n->op_at = at(ps, open.lo, close.hi);
    n->a = a.n;
    n->list = index.first;
    return finish(ps, n, path_bad(a), a.lo, close.hi, larger(spine(a, N_INDEX), index.depth + 1));
}

ex build_field(parse_state *ps, ex a, lexeme name)
{
    node *n = node_new(ps, N_FIELD, a.lo, name.hi);
    n->op_at = at(ps, name.lo, name.hi);
    n->a = a.n;
    n->name = name.v.name;
    return finish(ps, n, path_bad(a), a.lo, name.hi, spine(a, N_FIELD));
}

ex build_pipe(parse_state *ps, ex x, lexeme op, ex stage)
{
    node *n = stage.n;
    if (n->kind == N_CALL && !stage.paren && !n->flag) {
        x.n->next = n->list;
        n->list = x.n;
        n->at = at(ps, x.lo, stage.hi);
    } else {
        n = node_new(ps, N_CALL, x.lo, stage.hi);
        n->a = stage.n;
        n->list = x.n;
    }
    n->op_at = at(ps, op.lo, op.hi);
    n->flag = true;
    return finish(ps, n, n, x.lo, stage.hi, larger(x.depth, stage.depth) + 1);
}

ex build_spread(parse_state *ps, ex a, lexeme dots)
{
    node *n = node_new(ps, N_SPREAD, a.lo, dots.hi);
    n->op_at = at(ps, dots.lo, dots.hi);
    n->a = a.n;
    return finish(ps, n, n, a.lo, dots.hi, a.depth + 1);
}

ex build_named(parse_state *ps, lexeme name, ex a)
{
    node *n = node_new(ps, N_NAMED, name.lo, a.hi);
    n->op_at = at(ps, name.lo, name.hi);
    n->name = name.v.name;
    n->a = a.n;
    return finish(ps, n, n, name.lo, a.hi, a.depth + 1);
}

ex build_slice(parse_state *ps, ex a, ex b, ex c, uint32_t lo, uint32_t hi)
{
    if (a.n) lo = a.lo;
    if (c.n) hi = c.hi;
    else if (b.n && b.hi > hi) hi = b.hi;
    node *n = node_new(ps, N_SLICE, lo, hi);
    n->a = a.n;
    n->b = b.n;
    n->c = c.n;
    return finish(ps, n, n, lo, hi, larger(a.depth, larger(b.depth, c.depth)) + 1);
}

seq build_list(parse_state *ps, seq s, ex e)
{
    node *n = e.n;
    if (n == &ps->spare) return s;
    if (s.last) s.last->next = n;
    else s.first = n;
    s.last = n;
    s.n++;
    if (!s.bad) s.bad = e.bad;
    s.depth = larger(s.depth, e.depth);
    if (n->kind == N_NAMED) s.named = true;
    else if (s.named && n->kind != N_ERROR)
        diag_help_set(error_at(ps, e.lo, e.hi, "a positional argument after a named one"), "put it before the named ones");
    return s;
}

/* ---- names given twice ---------------------------------------------------------------------- */

/* Was `name` seen since ps->list last changed? */
static bool seen(parse_state *ps, symbol name)
{
    if (name >= ps->nseen) {
        size_t n = ps->nseen ? ps->nseen : 64;
        while (n <= name) n *= 2;
        uint32_t *p = memory_resize(ps->m, MEM_AST, ps->seen, ps->nseen * sizeof *p, n * sizeof *p);
        if (!p) {
            ps->no_memory = true;
            return false;
        }
        memset(p + ps->nseen, 0, (n - ps->nseen) * sizeof *p);
        ps->seen = p;
        ps->nseen = n;
    }
    bool was = ps->seen[name] == ps->list;
    ps->seen[name] = ps->list;
    return was;
}

void build_distinct(parse_state *ps, seq s, const char *what)
{
    ps->list++;
    for (node *n = s.first; n && !ps->no_memory; n = n->next)
        if (n->kind == N_NAMED && seen(ps, n->name))
            error_at(ps, n->op_at.lo, n->op_at.hi, "the %s `%s` is given twice", what, symbol_name(ps->symbols, n->name));
}

/* ---- blocks --------------------------------------------------------------------------------- */

ex build_block(parse_state *ps, lexeme open, seq s, lexeme close)
{
    node *n = node_new(ps, N_BLOCK, open.lo, close.hi);
    n->list = s.first;
    return finish(ps, n, n, open.lo, close.hi, s.depth + 1);
}

ex build_if(parse_state *ps, lexeme word, ex cond, ex body)
{
    node *n = node_new(ps, N_IF, word.lo, body.hi);
    n->op_at = at(ps, word.lo, word.hi);
    n->a = cond.n;
    n->b = body.n;
    return finish(ps, n, n, word.lo, body.hi, larger(cond.depth, body.depth) + 1);
}

seq build_chain(parse_state *ps, seq chain, ex arm)
{
    if (chain.last && chain.last->kind == N_IF && arm.n != &ps->spare) chain.last->c = arm.n;
    if (!chain.first) chain.first = arm.n;
    chain.last = arm.n;
    chain.depth = larger(chain.depth, arm.depth);
    return chain;
}

ex build_else(parse_state *ps, seq chain, ex other)
{
    node *n = chain.first;
    uint32_t hi = other.n ? other.hi : chain.last->at.hi;
    if (other.n && chain.last->kind == N_IF) chain.last->c = other.n;
    if (!ps->no_memory)
        for (node *p = n; p && p->kind == N_IF; p = p->c) p->at.hi = hi;
    return finish(ps, n, n, n->at.lo, hi, larger(chain.depth, other.depth + 1));
}

/* An option's value does nothing and is known before the program runs. */
static bool is_constant(const node *n, symbols *syms)
{
    switch (n->kind) {
    case N_NUMBER:
    case N_STRING:
    case N_BOOL:
    case N_NONE:
    case N_NAME:
    case N_ERROR: return true;
    case N_UNARY: return n->oper == OP_NEG && n->a->kind == N_NUMBER;
    case N_CALL:
        if (n->a->kind != N_NAME || strcmp(symbol_name(syms, n->a->name), "not_names") || !n->list || n->list->next ||
            n->list->kind != N_ARRAY)
            return false;
        n = n->list;
        /* fall through */
    case N_ARRAY:
        for (const node *e = n->list; e; e = e->next)
            if (e->kind != N_STRING) return false;
        return true;
    default: return false;
    }
}

ex build_checkpoint(parse_state *ps, lexeme word, seq options, ex block)
{
    node *n = node_new(ps, N_CHECKPOINT, word.lo, block.hi);
    n->op_at = at(ps, word.lo, word.hi);
    n->list = options.first;
    n->b = block.n;
    for (node *o = options.first; o && !ps->no_memory; o = o->next) {
        if (o->kind == N_ERROR) continue;
        if (o->kind != N_NAMED)
            diag_help_set(error_at(ps, o->at.lo, o->at.hi, "expected an option of the form `name = value`"),
                          "for example `checkpoint (save = \"dots\") < … >`");
        else if (!is_constant(o->a, ps->symbols))
            diag_help_set(error_at(ps, o->a->at.lo, o->a->at.hi,
                                   "an option's value is a literal, a name, a list of strings or `not_names([…])`"),
                          "give the value a name before the block");
    }
    return finish(ps, n, n, word.lo, block.hi, larger(options.depth, block.depth) + 1);
}

/* ---- functions ------------------------------------------------------------------------------ */

/* The comment lines [lo, hi) without indentation, `#` and one space. NULL: no memory. */
static char *help_text(parse_state *ps, uint32_t lo, uint32_t hi)
{
    const char *s = ps->src->text + lo, *e = ps->src->text + hi;
    char *out = arena_alloc(ps->arena, (size_t)(hi - lo) + 1), *p = out;
    if (!out) {
        ps->no_memory = true;
        return NULL;
    }
    while (s < e) {
        while (s < e && *s != '#') s++;
        while (s < e && *s == '#') s++;
        if (s < e && *s == ' ') s++;
        while (s < e && *s != '\n') {
            if (*s != '\r') *p++ = *s;
            s++;
        }
        if (s < e) {
            *p++ = '\n';
            s++;
        }
    }
    *p = 0;
    return out;
}

head build_head(parse_state *ps, lexeme fn, lexeme *name, params p, lexeme close, contract *result)
{
    function *f = arena_alloc(ps->arena, sizeof *f);
    if (!f) {
        ps->no_memory = true;
        f = &ps->spare_fn;
        memset(f, 0, sizeof *f);
    }
    f->name = name ? name->v.name : 0;
    f->params = p.first;
    f->nparams = p.n;
    if (result) f->result = *result;
    if (name && fn.v.help.lo < fn.v.help.hi) f->help = help_text(ps, fn.v.help.lo, fn.v.help.hi);
    f->head = at(ps, fn.lo, result ? result->at.hi : close.hi);
    ps->list++;
    for (param *q = p.first; q && !ps->no_memory; q = q->next)
        if (seen(ps, q->name) && strcmp(symbol_name(ps->symbols, q->name), "_"))
            error_at(ps, q->at.lo, q->at.hi, "two parameters are called `%s`", symbol_name(ps->symbols, q->name));
    const lexeme *op = name ? name : &fn;
    return (head){f, fn.lo, p.depth, op->lo, op->hi};
}

ex build_fn(parse_state *ps, head h, ex body)
{
    node *n = node_new(ps, N_FN, h.lo, body.hi);
    n->op_at = at(ps, h.op_lo, h.op_hi);
    n->fn = h.fn;
    n->name = h.fn->name;
    h.fn->body = body.n;
    h.fn->at = n->at;
    return finish(ps, n, n, h.lo, body.hi, larger(h.depth, body.depth) + 1);
}

params build_params(parse_state *ps, params p, param *q, uint32_t depth)
{
    if (q == &ps->spare_param) return p;
    if (p.last && p.last->rest) error_at(ps, p.last->at.lo, p.last->at.hi, "nothing can follow a rest parameter");
    if (p.last && p.last->deflt && !q->deflt && !q->rest)
        diag_help_set(error_at(ps, q->at.lo, q->at.hi, "a parameter without a default after one that has one"),
                      "put the ones with defaults last");
    if (p.last) p.last->next = q;
    else p.first = q;
    p.last = q;
    p.n++;
    p.depth = larger(p.depth, depth);
    return p;
}

param *build_param(parse_state *ps, lexeme name, contract *shape, bool rest, lexeme end)
{
    param *p = arena_alloc(ps->arena, sizeof *p);
    if (!p) {
        ps->no_memory = true;
        p = &ps->spare_param;
        memset(p, 0, sizeof *p);
    }
    p->name = name.v.name;
    p->rest = rest;
    p->at = at(ps, name.lo, name.hi);
    if (shape) p->shape = *shape;
    if (rest && !ps->options->internal)
        diag_help_set(error_at(ps, name.lo, end.hi, "rest parameters are for the modules that come with Replay"),
                      "take a tuple: `fn f(args)`, called as `f((a, b))`");
    return p;
}

contract *build_contract(parse_state *ps, lexeme *dtype, lexeme *open, dims d, lexeme *close)
{
    static const char *const dtypes[] = {"f64", "f32", "i64", "bool"};
    contract *c = arena_alloc(ps->arena, sizeof *c);
    if (!c) {
        ps->no_memory = true;
        c = &ps->spare_contract;
        memset(c, 0, sizeof *c);
    }
    c->present = true;
    c->has_dims = open != NULL;
    c->has_rest = d.rest;
    c->dims = d.first;
    // cppcheck-suppress nullPointerRedundantCheck ; the grammar gives a dtype, brackets or both
    c->at = at(ps, (dtype ? dtype : open)->lo, (close ? close : dtype)->hi);
    if (dtype) {
        const char *s = symbol_name(ps->symbols, dtype->v.name);
        bool known = false;
        for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) known |= !strcmp(s, dtypes[i]);
        c->dtype = dtype->v.name;
        if (!known)
            diag_help_set(error_at(ps, dtype->lo, dtype->hi, "`%s` is no dtype: a contract is f64, f32, i64 or bool, a shape, or both", s),
                          "a shape is written `[n, d]`");
    }
    return c;
}

dims build_dims(parse_state *ps, dims d, int kind, lexeme t)
{
    if (kind == T_ELLIPSIS) {
        d.rest = true;
        return d;
    }
    dim *q = arena_alloc(ps->arena, sizeof *q);
    if (!q) {
        ps->no_memory = true;
        return d;
    }
    q->at = at(ps, t.lo, t.hi);
    if (kind == T_NAME) {
        q->any = !strcmp(symbol_name(ps->symbols, t.v.name), "_");
        if (!q->any) q->name = t.v.name;
    } else {
        bool fits = t.whole && t.v.number < 0x1p53;
        if (fits) q->size = (int64_t)t.v.number;
        else error_at(ps, t.lo, t.hi, "an axis size is a whole number, a name or `_`");
    }
    if (d.last) d.last->next = q;
    else d.first = q;
    d.last = q;
    return d;
}

/* ---- statements ----------------------------------------------------------------------------- */

static const char *bad_target(const node *n)
{
    switch (n->kind) {
    case N_NUMBER:
    case N_STRING: return "a literal cannot be assigned to";
    case N_BOOL: return n->flag ? "`true` is a keyword and cannot be assigned to" : "`false` is a keyword and cannot be assigned to";
    case N_NONE: return "`none` is a keyword and cannot be assigned to";
    case N_CALL: return "the result of a call cannot be assigned to";
    case N_TUPLE: return "a part of a tuple that has no name cannot be assigned to";
    case N_ARRAY: return "an array in brackets cannot be assigned to; a tuple of names is written `(a, b)`";
    case N_RECORD: return "a record in braces cannot be assigned to";
    case N_TRANSPOSE: return "a transpose cannot be assigned to";
    default: return "this cannot be assigned to";
    }
}

static void check_target(parse_state *ps, ex target)
{
    if (!target.bad || target.bad->kind == N_ERROR || ps->no_memory) return;
    if (target.n->kind == N_TUPLE && !target.n->list) return;
    diag_help_set(error_at(ps, target.bad->at.lo, target.bad->at.hi, "%s", bad_target(target.bad)),
                  "a target is a name, a path such as `p.w[0]`, or a tuple of targets");
}

ex build_assign(parse_state *ps, ex target, oper o, lexeme op, ex value)
{
    node *n = node_new(ps, N_ASSIGN, target.lo, value.hi);
    n->op_at = at(ps, op.lo, op.hi);
    n->oper = o;
    n->a = target.n;
    n->b = value.n;
    check_target(ps, target);
    if (o && target.n->kind == N_TUPLE) error_at(ps, target.lo, target.hi, "a tuple of targets takes a plain `=`");
    return finish(ps, n, n, target.lo, value.hi, larger(target.depth, value.depth) + 1);
}

ex build_for(parse_state *ps, lexeme word, ex target, ex over, ex body)
{
    node *n = node_new(ps, N_FOR, word.lo, body.hi);
    n->op_at = at(ps, word.lo, word.hi);
    n->a = target.n;
    n->b = over.n;
    n->c = body.n;
    check_target(ps, target);
    return finish(ps, n, n, word.lo, body.hi, larger(target.depth, larger(over.depth, body.depth)) + 1);
}

ex build_while(parse_state *ps, lexeme word, ex cond, ex body)
{
    node *n = node_new(ps, N_WHILE, word.lo, body.hi);
    n->op_at = at(ps, word.lo, word.hi);
    n->a = cond.n;
    n->b = body.n;
    return finish(ps, n, n, word.lo, body.hi, larger(cond.depth, body.depth) + 1);
}

ex build_word(parse_state *ps, node_kind k, lexeme word) { return leaf(ps, k, word); }

ex build_return(parse_state *ps, lexeme word, ex value)
{
    uint32_t hi = value.n ? value.hi : word.hi;
    node *n = node_new(ps, N_RETURN, word.lo, hi);
    n->op_at = at(ps, word.lo, word.hi);
    n->a = value.n;
    return finish(ps, n, n, word.lo, hi, value.depth + 1);
}

/* Whether [s, s + n) lexes as one name that the program may use. */
static bool is_name(parse_state *ps, const char *s, size_t n)
{
    lexer lx;
    token t;
    bool ok = false;
    source *src = source_new(ps->m, "", s, n);
    if (!src) {
        ps->no_memory = true;
        return false;
    }
    lex_open(&lx, ps->m, ps->symbols, src, ps->arena, ps->options->internal);
    if (!lex_next(&lx, &t)) ps->no_memory = true;
    else ok = t.kind == T_NAME && t.at.hi == n && !t.fault;
    diag_free(t.fault);
    source_release(src);
    return ok;
}

ex build_import(parse_state *ps, lexeme word, lexeme path, lexeme *as)
{
    uint32_t hi = as ? as->hi : path.hi;
    node *n = node_new(ps, N_IMPORT, word.lo, hi);
    n->str = path.v.str;
    n->length = path.length;
    n->op_at = as ? at(ps, as->lo, as->hi) : at(ps, path.lo, path.hi);
    if (as) n->name = as->v.name;
    else if (path.v.str) {
        /* The base name: behind the last `/`, without `.rl`. */
        const char *s = path.v.str + path.length;
        size_t k = 0;
        while (s > path.v.str && s[-1] != '/') {
            s--;
            k++;
        }
        if (k > 3 && !memcmp(s + k - 3, ".rl", 3)) k -= 3;
        if (is_name(ps, s, k)) {
            n->name = symbol_of(ps->symbols, s, k);
            if (!n->name) ps->no_memory = true;
        } else if (!ps->no_memory)
            diag_help_set(error_at(ps, path.lo, path.hi, "the module's file name is not a name it could be bound to"),
                          "write `import \"…\" as name`");
    }
    return finish(ps, n, n, word.lo, hi, 1);
}

ex build_error(parse_state *ps)
{
    node *n = node_new(ps, N_ERROR, ps->now.at.lo, ps->now.at.hi);
    return finish(ps, n, n, ps->now.at.lo, ps->now.at.hi, 1);
}
