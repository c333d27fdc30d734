/* emit_control.c: statement lists, branches, loops, checkpoint blocks and jumps.
 *
 * `break`, `continue` and `return` clear flags (emit_parts.h). Two things keep the usual cases small:
 * where an arm of an `if` always jumps, the statements after the `if` go into its other arm instead of a
 * guard; and a `return` whose statement list gives the function's value (`tail`) is simply that value. */
#include "emit_parts.h"
#include <string.h>

enum { MERGES_MAX = 40, GUARDS_MAX = 40 };

/* --- where the rest of a list goes after an `if` ---------------------------------------------- */

static bool always_jumps(const node *n)
{
    for (;;) {
        if (!n) return false;
        switch (n->kind) {
        case N_BREAK:
        case N_CONTINUE:
        case N_RETURN: return true;
        case N_BLOCK:
            n = n->list;
            while (n && n->next && n->kind != N_BREAK && n->kind != N_CONTINUE && n->kind != N_RETURN) n = n->next;
            break;
        case N_IF:
            if (!n->c || !always_jumps(n->b)) return false;
            n = n->c;
            break;
        default: return false;
        }
    }
}

/* An `if` with so many `else if`s that it is emitted in pieces. */
enum { ARMS_MOST = 100 };

static bool chain_is_long(const node *n)
{
    uint32_t arms = 0;
    for (; n && n->kind == N_IF; n = n->c)
        if (++arms > ARMS_MOST) return true;
    return false;
}

enum { REST_AFTER, REST_IN_ELSE, REST_IN_THEN, REST_NOWHERE };

static int rest_goes(const node *n)
{
    if (always_jumps(n->b)) {
        while (n->c && n->c->kind == N_IF) {
            n = n->c;
            if (!always_jumps(n->b)) return REST_AFTER;
        }
        return n->c && always_jumps(n->c) ? REST_NOWHERE : REST_IN_ELSE;
    }
    return n->c && n->c->kind == N_BLOCK && always_jumps(n->c) ? REST_IN_THEN : REST_AFTER;
}

/* --- statements ------------------------------------------------------------------------------- */

static bool gives_value(const node *n)
{
    switch (n->kind) {
    case N_ASSIGN:
    case N_FOR:
    case N_WHILE:
    case N_BREAK:
    case N_CONTINUE:
    case N_RETURN:
    case N_IMPORT: return false;
    case N_FN: return n->fn->name == 0;
    default: return true;
    }
}

static reg emit_value(emitter *e, node *n, bool want, bool tail)
{
    switch (n->kind) {
    case N_IF: return emit_if(e, n, NULL, want, tail);
    case N_CHECKPOINT: return emit_checkpoint(e, n, want, tail);
    case N_BLOCK: return emit_statements(e, n->list, want, tail);
    default: return emit_expr(e, n);
    }
}

reg emit_body(emitter *e, node *n, bool want, bool tail)
{
    if (n->kind == N_BLOCK) return emit_statements(e, n->list, want, tail);
    return emit_value(e, n, want, tail);
}

static void emit_import(emitter *e, node *n)
{
    emit_at(e, n->at, n->at.lo);
    region_due(e);
    string *s = string_new(e->m, n->str, n->length);
    if (!s) {
        e->failed = true;
        return;
    }
    uint32_t path = builder_const(&e->f->b, value_object(&s->h));
    reg r = emit_op1(e, OP_CODE_IMPORT, path, 0, NULL);
    emit_assign_var(e, n->ref.index, r, false);
}

static void emit_definition(emitter *e, node *n)
{
    reg r = emit_closure(e, n, 0);
    emit_at(e, n->fn->head, n->op_at.lo);
    if (n->fn->top) emit_op(e, OP_CODE_SETGLOBAL, emit_global(e, n->fn->name), 0, 1, &r);
    else emit_assign_var(e, n->ref.index, r, false);
}

/* A `return` that is not in tail position, `break`, `continue`. */
static void emit_jump(emitter *e, node *n, reg result)
{
    emit_fn *f = e->f;
    emit_at(e, n->at, n->at.lo);
    if (n->kind == N_CONTINUE) {
        reg off = emit_const(e, value_bool(false));
        if (f->loop) region_set(e, f->loop->on, off, false, true);
    } else if (n->kind == N_BREAK) {
        flags_clear(e, f->loop ? f->loop->outer : NULL, false);
    } else {
        region_set(e, f->nvars + FLAG_RESULT, result, false, true);
        flags_clear(e, NULL, true);
    }
    f->top->dead = true;
}

static void emit_statement(emitter *e, node *n)
{
    switch (n->kind) {
    case N_ASSIGN: emit_assign(e, n); return;
    case N_FOR: emit_loop_for(e, n); return;
    case N_WHILE: emit_loop_while(e, n); return;
    case N_BREAK:
    case N_CONTINUE: emit_jump(e, n, REG_NONE); return;
    case N_IMPORT: emit_import(e, n); return;
    case N_FN:
        if (n->fn->name) emit_definition(e, n);
        return;
    default: emit_value(e, n, false, false);
    }
}

reg emit_statements(emitter *e, node *list, bool want, bool tail)
{
    emit_fn *f = e->f;
    for (node *n = list; n && !e->failed && !f->b.failed; n = n->next) {
        if (f->top->dead) break;
        /* Guards within guards come to an end: from here on they follow one another. */
        if (f->top->guards >= GUARDS_MAX && f->top->pending) region_close_guards(e, REG_NONE);
        if (n->kind == N_IF && n->next && f->merges < MERGES_MAX && !chain_is_long(n) && rest_goes(n) != REST_AFTER)
            return emit_if(e, n, n->next, want, tail);
        if (n->kind == N_RETURN) {
            emit_at(e, n->at, n->at.lo);
            reg r = n->a ? emit_expr(e, n->a) : emit_const(e, value_none());
            if (!tail || !want) {
                emit_jump(e, n, r);
                break;
            }
            f->top->dead = true;
            return r;
        }
        if (!n->next && want && gives_value(n)) return emit_value(e, n, true, tail);
        emit_statement(e, n);
    }
    if (!want || e->failed || f->b.failed) return REG_NONE;
    if (f->top->dead) return tail ? f->states[f->nvars + FLAG_RESULT].now : REG_NONE;
    return emit_const(e, value_none());
}

/* --- branches --------------------------------------------------------------------------------- */

static bool states_room(emitter *e, uint32_t n)
{
    emit_fn *f = e->f;
    if (n <= f->nstates) return true;
    uint32_t more = n * 2;
    struct state *s = emit_take(e, more * sizeof *s);
    if (!s) return false;
    memcpy(s, f->states, f->nstates * sizeof *s);
    for (uint32_t i = f->nstates; i < more; i++) s[i] = (struct state){REG_NONE, 0, false};
    f->states = s;
    f->nstates = more;
    return true;
}

typedef struct level {
    struct level *outer;
    region other;
    reg cond;
    outcome then;
    node *n;
} level;

/* Opens the next `if` of a chain: its condition, its arm (with `rest` behind it, if that goes there), and the
   block of its `else`. `done`, unless it is UINT32_MAX, is set in the arm. */
static bool arm_open(emitter *e, level **in, node *n, node *rest, bool want, bool tail, uint32_t done)
{
    emit_fn *f = e->f;
    if (!emit_enter(e, n->at)) return false;
    level *l = emit_take(e, sizeof *l);
    if (!l) return false;
    l->outer = *in;
    l->n = n;
    *in = l;
    emit_at(e, n->at, n->op_at.lo);
    l->cond = emit_expr(e, n->a);
    region_due(e);
    region then;
    region_open(e, &then, builder_block(&f->b, 0), tail);
    if (done != UINT32_MAX) region_set(e, done, build_const(&f->b, value_bool(true)), false, true);
    reg v = emit_body(e, n->b, want && !rest, tail && !rest);
    if (rest && !f->top->dead) v = emit_statements(e, rest, want, tail);
    l->then = region_close(e, v);
    region_open(e, &l->other, builder_block(&f->b, 0), tail);
    return !e->failed;
}

/* Closes the chain; `result` is the value of the last `else`. */
static reg arms_close(emitter *e, level *in, reg result, bool want)
{
    for (; in && !e->failed; in = in->outer) {
        outcome other = region_close(e, result);
        result = join_arms(e, in->cond, &in->then, &other, want, in->n->at, in->n->a->at.lo);
    }
    return result;
}

/* Blocks of Code nest as deep as a chain is long, so a long one becomes chains that follow one another, each
   entered when no arm of those before was. */
static reg emit_long_if(emitter *e, node *n, bool want, bool tail)
{
    emit_fn *f = e->f;
    uint32_t done = f->nvars + FLAGS_PER_FUNCTION + f->loops * FLAGS_PER_LOOP;
    if (!states_room(e, done + FLAGS_PER_LOOP)) return 0;
    f->loops++; /* the place of a loop's flags is taken */
    region_set(e, done, emit_const(e, value_bool(false)), false, true);
    reg result = REG_NONE;
    for (bool first = true; n && !e->failed; first = false) {
        level *in = NULL;
        uint32_t depth = f->depth;
        emit_at(e, n->at, n->op_at.lo);
        region_due(e);
        if (!first) {
            level *l = emit_take(e, sizeof *l);
            if (!l) break;
            *l = (level){.n = n, .cond = f->states[done].now};
            region then;
            region_open(e, &then, builder_block(&f->b, 0), false);
            l->then = region_close(e, result);
            region_open(e, &l->other, builder_block(&f->b, 0), false);
            in = l;
        }
        /* A value that is returned goes by the flags: an arm of the function's last statement, too, goes on. */
        for (uint32_t arms = 0; n && n->kind == N_IF && arms < ARMS_MOST; arms++, n = n->c)
            if (!arm_open(e, &in, n, NULL, want, false, done)) break;
        if (e->failed) break;
        result = REG_NONE;
        if (n && n->kind != N_IF) {
            result = emit_body(e, n, want, false);
            n = NULL;
        }
        result = arms_close(e, in, result, want);
        f->depth = depth;
    }
    f->loops--;
    if (tail && want && !e->failed) region_due(e); /* within the guard is the value of having come so far */
    return result;
}

/* An `if` with its `else if`s, innermost last; `rest` are the statements that follow it in its list,
   when they go into one of the arms. */
reg emit_if(emitter *e, node *n, node *rest, bool want, bool tail)
{
    emit_fn *f = e->f;
    if (chain_is_long(n)) return emit_long_if(e, n, want, tail);
    int where = rest ? rest_goes(n) : REST_AFTER; /* nowhere: it is not reached */
    level *in = NULL;
    reg result = REG_NONE;
    uint32_t depth = f->depth;
    if (rest) f->merges++;
    while (arm_open(e, &in, n, where == REST_IN_THEN ? rest : NULL, want, tail, UINT32_MAX)) {
        if (n->c && n->c->kind == N_IF) {
            n = n->c;
            continue;
        }
        bool more = where == REST_IN_ELSE;
        if (n->c) result = emit_body(e, n->c, want && !more, tail && !more);
        if (more && !f->top->dead) result = emit_statements(e, rest, want, tail);
        break;
    }
    result = arms_close(e, in, result, want);
    if (rest) f->merges--;
    f->depth = depth;
    return result;
}

/* --- loops ------------------------------------------------------------------------------------ */

typedef struct carried {
    uint32_t var;
    bool maybe;
} carried;

/* The variables a loop carries: those it assigns and, when something in it returns, the flags of
   everything around. */
static carried *carried_of(emitter *e, const loop_info *info, uint32_t *n)
{
    emit_fn *f = e->f;
    *n = 0;
    carried *of = emit_take(e, (info->n + FLAGS_PER_FUNCTION + f->loops * FLAGS_PER_LOOP) * sizeof *of);
    if (!of) return NULL;
    for (uint32_t i = 0; i < info->n; i++) of[(*n)++].var = info->vars[i];
    if (info->returns) {
        of[(*n)++].var = f->nvars + FLAG_ON;
        of[(*n)++].var = f->nvars + FLAG_RESULT;
        for (emit_loop *l = f->loop; l; l = l->outer) {
            of[(*n)++].var = l->on;
            of[(*n)++].var = l->go;
        }
    }
    for (uint32_t i = 0; i < *n; i++) of[i].maybe = f->states[of[i].var].maybe || f->states[of[i].var].now == REG_NONE;
    return of;
}

typedef struct looping {
    emit_loop loop;
    region region;
    const loop_info *info;
    carried *carried;
    uint32_t n;
    reg *sources; /* heads, then initial carried values */
    uint32_t heads;
    block *body;
} looping;

/* Opens the loop's body with everything carried as parameters; `heads` sources and `params` parameters
   stand before. */
static bool loop_open(emitter *e, looping *l, node *n, uint32_t heads, uint32_t params)
{
    emit_fn *f = e->f;
    region_due(e);
    l->info = &e->c->loops[n->ref.index];
    l->carried = carried_of(e, l->info, &l->n);
    l->heads = heads;
    l->sources = emit_take(e, (heads + l->n) * sizeof(reg));
    l->body = builder_block(&f->b, params + l->n);
    uint32_t base = f->nvars + FLAGS_PER_FUNCTION + f->loops * FLAGS_PER_LOOP;
    if (e->failed || f->b.failed || !states_room(e, base + FLAGS_PER_LOOP)) return false;
    for (uint32_t i = 0; i < l->n; i++) {
        reg r = f->states[l->carried[i].var].now;
        l->sources[heads + i] = r != REG_NONE ? r : build_const(&f->b, value_undef());
    }
    l->loop = (emit_loop){f->loop, base + LOOP_FLAG_ON, base + LOOP_FLAG_GO};
    region_open(e, &l->region, l->body, false);
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t var = l->carried[i].var;
        reg r = l->body->params[params + i];
        if (var < f->nvars) f->b.c->reg_names[r] = f->fn->vars[var].name;
        region_set(e, var, r, l->carried[i].maybe, true);
    }
    f->loop = &l->loop;
    f->loops++;
    reg on = build_const(&f->b, value_bool(true));
    region_set(e, l->loop.on, on, false, true);
    region_set(e, l->loop.go, on, false, true);
    return !e->failed;
}

/* After the body: back in its own block, whatever was jumped over. */
static void loop_body_end(emitter *e, looping *l)
{
    emit_fn *f = e->f;
    region_close_guards(e, REG_NONE);
    f->top->pending = f->top->dead = false;
    /* A `continue` may have left out assignments. */
    if (l->info->continues)
        for (uint32_t i = 0; i < l->n; i++) {
            const struct state *s = &f->states[l->carried[i].var];
            region_set(e, l->carried[i].var, s->now, s->maybe || l->carried[i].maybe, true);
        }
}

static void loop_close(emitter *e, looping *l, node *n, uint32_t kind, bool yields_go, reg go)
{
    emit_fn *f = e->f;
    if (e->failed) return;
    reg *src = emit_take(e, (l->n + 1) * sizeof *src);
    if (!src) return;
    uint32_t k = 0;
    if (yields_go) src[k++] = go;
    for (uint32_t i = 0; i < l->n; i++) {
        reg r = f->states[l->carried[i].var].now;
        src[k++] = r != REG_NONE ? r : undef_in(e, l->body);
    }
    emit_at(e, n->at, n->op_at.lo);
    yield_in(e, l->body, k, src);
    region_close(e, REG_NONE);
    f->loop = l->loop.outer;
    f->loops--;
    instr *i = builder_add_blocks(&f->b, OP_CODE_LOOP, kind, l->n, l->heads + l->n, l->sources, 1, &l->body);
    if (!i || f->b.failed) return;
    i->flags |= INSTR_STEP;
    for (uint32_t j = 0; j < l->n; j++) emit_assign_var(e, l->carried[j].var, i->dst[j], l->carried[j].maybe);
    if (l->info->returns) f->top->pending = true;
}

static reg emit_bound(emitter *e, node *n)
{
    if (n->kind == N_NUMBER && n->whole && n->number < 0x1p53) return emit_const(e, value_i64((int64_t)n->number));
    reg r = emit_expr(e, n);
    emit_at(e, n->at, n->at.lo);
    return emit_prim(e, "__bound", 1, &r, &n->at);
}

void emit_loop_for(emitter *e, node *n)
{
    emit_fn *f = e->f;
    node *over = n->b;
    reg lo, hi, x = REG_NONE;
    if (over->kind == N_BINARY && over->oper == OP_RANGE) {
        lo = emit_bound(e, over->a);
        hi = emit_bound(e, over->b);
    } else {
        x = emit_expr(e, over);
        emit_at(e, over->at, over->at.lo);
        hi = emit_prim(e, "__iter_len", 1, &x, &over->at);
        lo = emit_const(e, value_i64(0));
    }
    looping l;
    if (!emit_enter(e, n->at) || !loop_open(e, &l, n, 2, 1)) {
        e->failed = true;
        return;
    }
    l.sources[0] = lo;
    l.sources[1] = hi;
    reg item = l.body->params[0];
    if (x != REG_NONE) {
        emit_at(e, over->at, over->at.lo);
        item = emit_prim(e, "__index", 2, (reg[]){x, item}, NULL);
    }
    emit_target(e, n->a, item);
    emit_body(e, n->c, false, false);
    loop_body_end(e, &l);
    bool exits = l.info->breaks || l.info->returns;
    loop_close(e, &l, n, LOOP_RANGE | (exits ? LOOP_EXIT : 0), exits, e->failed ? REG_NONE : f->states[l.loop.go].now);
    emit_leave(e);
}

void emit_loop_while(emitter *e, node *n)
{
    emit_fn *f = e->f;
    reg first = emit_expr(e, n->a);
    looping l;
    if (!emit_enter(e, n->at) || !loop_open(e, &l, n, 1, 0)) {
        e->failed = true;
        return;
    }
    l.sources[0] = first;
    emit_body(e, n->b, false, false);
    loop_body_end(e, &l);
    reg go;
    if (!e->failed && (l.info->breaks || l.info->returns)) {
        /* The condition is not evaluated again after a `break`. */
        reg on = f->states[l.loop.go].now;
        region again;
        region_open(e, &again, builder_block(&f->b, 0), false);
        reg v = emit_expr(e, n->a);
        outcome a = region_close(e, v);
        region_open(e, &again, builder_block(&f->b, 0), false);
        v = emit_const(e, value_bool(false));
        outcome b = region_close(e, v);
        go = join_arms(e, on, &a, &b, true, n->a->at, n->a->at.lo);
    } else go = emit_expr(e, n->a);
    loop_close(e, &l, n, LOOP_WHILE, true, go);
    emit_leave(e);
}

/* --- checkpoint blocks ------------------------------------------------------------------------ */

static bool name_add(emitter *e, block_options *o, const node *s)
{
    string *v = string_new(e->m, s->str, s->length);
    if (!v) return false;
    o->names[o->nnames++] = value_object(&v->h);
    return true;
}

bool placement_policy(const char *word, size_t n, keep_policy *out)
{
    static const struct {
        const char *word;
        keep_policy policy;
    } words[] = {{"nothing", KEEP_NOTHING}, {"everything", KEEP_EVERYTHING}, {"dots", KEEP_DOTS}, {"dots_no_batch", KEEP_DOTS_NO_BATCH}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strlen(words[k].word) == n && !memcmp(words[k].word, word, n)) {
            *out = words[k].policy;
            return true;
        }
    return false;
}

static bool save_option(emitter *e, block_options *o, node *v)
{
    if (v->kind == N_STRING && placement_policy(v->str, v->length, &o->policy)) return true;
    o->policy = KEEP_NAMES;
    node *list = v;
    if (v->kind == N_CALL) {
        o->policy = KEEP_NOT_NAMES;
        v = v->list;
    }
    uint32_t n = 1;
    if (v->kind == N_ARRAY) {
        n = 0;
        list = v->list;
        for (node *s = list; s; s = s->next) n++;
    }
    o->names = emit_take(e, n * sizeof *o->names);
    if (!o->names) return false;
    if (v->kind == N_STRING) return name_add(e, o, v);
    for (node *s = list; s; s = s->next)
        if (!name_add(e, o, s)) return false;
    return true;
}

static bool holds_a_loop(const node *b)
{
    for (const node *p = b->list; p; p = p->next)
        if (p->kind == N_FOR || p->kind == N_WHILE) return true;
    return false;
}

void placement_apply(const placement *p, bool loop, block_options *o)
{
    if (p->plain) {
        o->slots = o->budget = 0;
        o->policy = KEEP_EVERYTHING;
    }
    if (p->save) placement_policy(p->save, strlen(p->save), &o->policy);
    if (p->slots && loop) o->slots = p->slots;
}

static uint32_t emit_options_of(emitter *e, const node *n)
{
    block_options o = {.policy = KEEP_NOTHING};
    for (const node *p = n->list; p; p = p->next) {
        if (p->kind != N_NAMED || p->a->kind == N_NONE) continue;
        const char *name = symbol_name(e->m->symbols, p->name);
        if (!strcmp(name, "slots")) o.slots = (int64_t)p->a->number;
        else if (!strcmp(name, "budget")) o.budget = (int64_t)p->a->number;
        else if (!strcmp(name, "spill")) o.spill = p->a->flag;
        else if (!save_option(e, &o, p->a)) e->failed = true;
    }
    if (e->o->placement && e->o->placement->set) placement_apply(e->o->placement, holds_a_loop(n->b), &o);
    uint32_t i = builder_options(&e->f->b, &o);
    for (uint32_t k = 0; k < o.nnames; k++) value_release(e->m, o.names[k]);
    return i;
}

reg emit_checkpoint(emitter *e, node *n, bool want, bool tail)
{
    emit_fn *f = e->f;
    if (!emit_enter(e, n->at)) return 0;
    region_due(e);
    region r;
    region_open(e, &r, builder_block(&f->b, 0), tail);
    reg v = emit_body(e, n->b, want, tail);
    outcome o = region_close(e, v);
    emit_leave(e);
    reg *src = emit_take(e, (o.n + 1) * sizeof *src);
    if (!src) return 0;
    uint32_t k = 0;
    if (want) src[k++] = o.value != REG_NONE ? o.value : none_in(e, o.body);
    sort_moved(o.of, o.n);
    for (uint32_t i = 0; i < o.n; i++) src[k++] = o.of[i].now != REG_NONE ? o.of[i].now : undef_in(e, o.body);
    emit_at(e, n->at, n->op_at.lo);
    yield_in(e, o.body, k, src);
    uint32_t options = emit_options_of(e, n);
    bool limited = f->b.c->options && f->b.c->options[options].budget;
    instr *limit = limited ? builder_add(&f->b, OP_CODE_BUDGET, options, 1, 0, NULL) : NULL;
    instr *i = builder_add_blocks(&f->b, OP_CODE_CHECKPOINT, options, k, 0, NULL, 1, &o.body);
    if (limit) builder_add(&f->b, OP_CODE_BUDGETEND, 0, 0, 1, limit->dst);
    if (!i || f->b.failed) return 0;
    for (uint32_t j = 0; j < o.n; j++) {
        emit_assign_var(e, o.of[j].var, i->dst[j + want], o.of[j].maybe);
        if (o.of[j].var == flag_on(e)) f->top->pending = true;
    }
    if (o.dead) f->top->dead = true;
    return want ? i->dst[0] : REG_NONE;
}
