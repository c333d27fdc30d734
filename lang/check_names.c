/* check_names.c: scopes. Which names a function assigns (before anything in it is resolved, because a
 * name assigned anywhere in a function is local to all of it), which variables each loop assigns, and
 * the search for a name outwards through the functions around it.
 *
 * All names of all scopes lie in one hash table under (scope, name). */
#include "check_parts.h"
#include <string.h>

/* --- the table -------------------------------------------------------------------------------- */

static uint64_t key_of(uint32_t id, symbol name) { return ((uint64_t)id + 1) << 32 | name; }

static uint32_t place_of(const checker *c, uint64_t key)
{
    uint64_t h = key * 0x9e3779b97f4a7c15ull;
    uint32_t i = (uint32_t)(h >> 32) & (c->nslots - 1);
    while (c->slots[i].key && c->slots[i].key != key) i = (i + 1) & (c->nslots - 1);
    return i;
}

slot *slot_find(checker *c, uint32_t id, symbol name)
{
    if (!c->nslots) return NULL;
    slot *s = &c->slots[place_of(c, key_of(id, name))];
    return s->key ? s : NULL;
}

static bool slots_grow(checker *c)
{
    uint32_t old = c->nslots, n = old ? old * 2 : 256;
    slot *was = c->slots, *now = memory_alloc(c->m, MEM_AST, n * sizeof *now);
    if (!now) {
        c->no_memory = true;
        return false;
    }
    c->slots = now;
    c->nslots = n;
    for (uint32_t i = 0; i < old; i++)
        if (was[i].key) now[place_of(c, was[i].key)] = was[i];
    memory_free(c->m, MEM_AST, was, old * sizeof *was);
    return true;
}

bool slot_put(checker *c, uint32_t id, symbol name, uint32_t kind, uint32_t index)
{
    if (c->nslots < 2 * (c->used + 1) && !slots_grow(c)) return false;
    uint64_t key = key_of(id, name);
    slot *s = &c->slots[place_of(c, key)];
    if (!s->key) c->used++;
    *s = (slot){key, kind, index};
    return true;
}

/* --- variables -------------------------------------------------------------------------------- */

/* Doubles an array in the tree's arena. */
static void *grown(checker *c, const void *old, uint32_t n, uint32_t cap, size_t size)
{
    void *p = checker_take(c, cap * size);
    if (p && n) memcpy(p, old, n * size);
    return p;
}

uint32_t scope_var(checker *c, scope *s, symbol name, span at, bool is_param)
{
    slot *k = slot_find(c, s->id, name);
    if (k && k->kind == SLOT_VAR) {
        variable *v = &s->fn->vars[k->index];
        v->assigned_once = false;
        s->last[k->index] = at;
        s->literal[k->index] = NULL;
        return k->index;
    }
    function *f = s->fn;
    if (f->nvars == s->vars_cap) {
        uint32_t cap = s->vars_cap ? s->vars_cap * 2 : 8;
        variable *vars = grown(c, f->vars, f->nvars, cap, sizeof *vars);
        span *last = grown(c, s->last, f->nvars, cap, sizeof *last);
        node **literal = grown(c, s->literal, f->nvars, cap, sizeof *literal);
        if (!vars || !last || !literal) return 0;
        f->vars = vars;
        s->last = last;
        s->literal = literal;
        s->vars_cap = cap;
    }
    f->vars[f->nvars] = (variable){name, at, is_param, !is_param};
    s->last[f->nvars] = at;
    slot_put(c, s->id, name, SLOT_VAR, f->nvars);
    return f->nvars++;
}

static uint32_t capture_add(checker *c, scope *s, symbol name, ref from, span at)
{
    function *f = s->fn;
    if (f->ncaptures == s->captures_cap) {
        uint32_t cap = s->captures_cap ? s->captures_cap * 2 : 4;
        capture *captures = grown(c, f->captures, f->ncaptures, cap, sizeof *captures);
        if (!captures) return 0;
        f->captures = captures;
        s->captures_cap = cap;
    }
    f->captures[f->ncaptures] = (capture){name, from, at};
    slot_put(c, s->id, name, SLOT_CAPTURE, f->ncaptures);
    return f->ncaptures++;
}

/* --- finding ---------------------------------------------------------------------------------- */

/* A `fn` statement inside a function may call itself by its name. */
static bool is_self(const scope *s, symbol name) { return s->fn->name == name && !s->fn->top && s->outer; }

static void capture_note(checker *c, const scope *owner, uint32_t var, const scope *by, span used)
{
    span last = owner->last[var];
    if (!c->o->notes || last.lo < by->fn->at.hi) return;
    const char *name = symbol_name(c->symbols, owner->fn->vars[var].name);
    diag *d = checker_report(c, SEVERITY_NOTE, DIAG_CAPTURE, used, "the function takes the value that `%s` has when it is made", name);
    diag_label_add(d, last, "assigned later here, which the function does not see");
}

ref scope_find(checker *c, scope *s, symbol name, span at, bool note)
{
    scope *owner = s;
    ref found = {REF_UNKNOWN, 0};
    for (; owner; owner = owner->outer) {
        slot *k = slot_find(c, owner->id, name);
        if (k && k->kind == SLOT_VAR) found = (ref){REF_LOCAL, k->index};
        else if (k && k->kind == SLOT_CAPTURE) found = (ref){REF_CAPTURE, k->index};
        else if (is_self(owner, name)) found = (ref){REF_SELF, 0};
        else continue;
        break;
    }
    if (owner == s) return found;
    if (owner) {
        /* Every function between takes the value over from the one around it. Outermost first: collect
           the way on the stack of scopes by reversing it through a bounded second walk. */
        uint32_t between = 0;
        for (scope *p = s; p != owner; p = p->outer) between++;
        scope **way = checker_take(c, between * sizeof *way);
        if (!way) return (ref){REF_UNKNOWN, 0};
        uint32_t k = between;
        for (scope *p = s; p != owner; p = p->outer) way[--k] = p;
        if (note && found.kind == REF_LOCAL) capture_note(c, owner, found.index, way[0], at);
        for (k = 0; k < between; k++) found = (ref){REF_CAPTURE, capture_add(c, way[k], name, found, at)};
        return found;
    }
    slot *top = slot_find(c, UINT32_MAX - 1, name);
    if (top && top->kind == SLOT_TOP) return (ref){REF_TOP, name};
    for (uint32_t i = 0; i < c->o->nfns; i++)
        if (c->o->fns[i] == name) return (ref){REF_TOP, name};
    uint32_t index;
    if (builtin_find(c->o->builtins, name, c->o->internal, &index)) return (ref){REF_BUILTIN, index};
    return (ref){REF_UNKNOWN, 0};
}

const char *checker_nearest(checker *c, scope *s, const char *name)
{
    size_t most = c->ntops + c->o->nfns, n = 0;
    for (scope *p = s; p; p = p->outer) most += p->fn->nvars + 1;
    const char **names = memory_alloc(c->m, MEM_AST, (most + 2) * sizeof *names);
    if (!names) return NULL;
    for (scope *p = s; p; p = p->outer) {
        for (uint32_t i = 0; i < p->fn->nvars; i++) names[n++] = symbol_name(c->symbols, p->fn->vars[i].name);
        if (p->outer && p->fn->name) names[n++] = symbol_name(c->symbols, p->fn->name);
    }
    for (uint32_t i = 0; i < c->ntops; i++) names[n++] = symbol_name(c->symbols, c->tops[i].fn->name);
    for (uint32_t i = 0; i < c->o->nfns; i++) names[n++] = symbol_name(c->symbols, c->o->fns[i]);
    const char *own = nearest_name(name, names, n), *built = builtin_nearest(c->o->builtins, name);
    const char *two[2] = {own, built};
    const char *best = own && built ? nearest_name(name, two, 2) : own ? own : built;
    memory_free(c->m, MEM_AST, names, (most + 2) * sizeof *names);
    return best;
}

/* --- what a function assigns ------------------------------------------------------------------ */

enum { C_NODE, C_LIST, C_LOOP_END };

static void log_var(checker *c, uint32_t loop, uint32_t var)
{
    if (loop == NO_LOOP) return;
    if (c->nlog == c->log_cap) {
        uint32_t cap = c->log_cap ? c->log_cap * 2 : 64;
        uint32_t *log = memory_resize(c->m, MEM_AST, c->log, c->log_cap * sizeof *log, cap * sizeof *log);
        if (!log) {
            c->no_memory = true;
            return;
        }
        c->log = log;
        c->log_cap = cap;
    }
    c->log[c->nlog++] = var;
}

static uint32_t loop_add(checker *c, node *n, uint32_t parent)
{
    checked *out = c->out;
    if (out->nloops == c->loops_cap) {
        uint32_t cap = c->loops_cap ? c->loops_cap * 2 : 16;
        loop_info *loops = grown(c, out->loops, out->nloops, cap, sizeof *loops);
        if (!loops) return NO_LOOP;
        out->loops = loops;
        c->loops_cap = cap;
    }
    out->loops[out->nloops] = (loop_info){.parent = parent};
    n->ref.index = out->nloops;
    return out->nloops++;
}

/* Leaves each variable of log[from..] once, there and in the loop's list. */
static void loop_end(checker *c, const scope *s, uint32_t loop, uint32_t from)
{
    if (c->nstamp < s->fn->nvars) {
        uint32_t n = s->fn->nvars * 2;
        uint32_t *stamp = memory_resize(c->m, MEM_AST, c->stamp, c->nstamp * sizeof *stamp, n * sizeof *stamp);
        if (!stamp) {
            c->no_memory = true;
            return;
        }
        memset(stamp + c->nstamp, 0, (n - c->nstamp) * sizeof *stamp);
        c->stamp = stamp;
        c->nstamp = n;
    }
    uint32_t id = ++c->stamps, n = from;
    for (uint32_t i = from; i < c->nlog; i++) {
        uint32_t v = c->log[i];
        if (c->stamp[v] == id) continue;
        c->stamp[v] = id;
        c->log[n++] = v;
    }
    c->nlog = n;
    loop_info *l = &c->out->loops[loop];
    l->n = n - from;
    l->vars = checker_take(c, l->n * sizeof *l->vars);
    if (l->vars && l->n) memcpy(l->vars, c->log + from, l->n * sizeof *l->vars);
    if (l->parent != NO_LOOP) c->out->loops[l->parent].returns |= l->returns;
}

/* The names a target assigns: itself, its path's base, or those of its parts. */
static void collect_target(checker *c, scope *s, node *t, uint32_t loop, node *from)
{
    while (t->kind == N_INDEX || t->kind == N_FIELD) t = t->a, from = NULL;
    if (t->kind == N_NAME) {
        slot *k = slot_find(c, s->id, t->name);
        uint32_t v = scope_var(c, s, t->name, t->at, false);
        if (!k && from && !c->no_memory &&
            (from->kind == N_NUMBER || from->kind == N_STRING || from->kind == N_BOOL || from->kind == N_NONE || from->kind == N_ARRAY))
            s->literal[v] = from;
        log_var(c, loop, v);
    } else if (t->kind == N_TUPLE)
        for (node *e = t->list; e; e = e->next) collect_target(c, s, e, loop, NULL);
}

/* Walks what belongs to this function: nested functions' defaults, but not their bodies. */
static void collect(checker *c, scope *s, node *body)
{
    uint32_t base = c->n, loop = NO_LOOP;
    checker_push(c, (step){.kind = C_NODE, .n = body});
    while (c->n > base && !c->no_memory) {
        step e = c->stack[--c->n];
        node *n = e.n;
        if (e.kind == C_LOOP_END) {
            uint32_t parent = c->out->loops[n->ref.index].parent;
            loop_end(c, s, n->ref.index, e.saved);
            loop = parent;
            continue;
        }
        if (!n) continue;
        if (e.kind == C_LIST && n->next) checker_push(c, (step){.kind = C_LIST, .n = n->next});
        switch (n->kind) {
        case N_ASSIGN: collect_target(c, s, n->a, loop, n->oper == OP_NONE ? n->b : NULL); break;
        case N_FOR:
        case N_WHILE: {
            uint32_t k = loop_add(c, n, loop);
            if (k == NO_LOOP) return;
            /* What a `for` goes over is evaluated outside of the loop, but assigning more is harmless. */
            loop = k;
            checker_push(c, (step){.kind = C_LOOP_END, .n = n, .saved = c->nlog});
            if (n->kind == N_FOR) collect_target(c, s, n->a, loop, NULL);
            break;
        }
        case N_BREAK:
            if (loop != NO_LOOP) c->out->loops[loop].breaks = true;
            break;
        case N_CONTINUE:
            if (loop != NO_LOOP) c->out->loops[loop].continues = true;
            break;
        case N_RETURN:
            if (loop != NO_LOOP) c->out->loops[loop].returns = true;
            break;
        case N_IMPORT: log_var(c, loop, scope_var(c, s, n->name, n->at, false)); break;
        case N_FN:
            if (n->fn->name && !n->fn->top) {
                uint32_t v = scope_var(c, s, n->fn->name, n->op_at, false);
                log_var(c, loop, v);
            }
            for (param *p = n->fn->params; p; p = p->next)
                if (p->deflt) checker_push(c, (step){.kind = C_NODE, .n = p->deflt});
            continue;
        default: break;
        }
        if (n->list) checker_push(c, (step){.kind = C_LIST, .n = n->list});
        if (n->c) checker_push(c, (step){.kind = C_NODE, .n = n->c});
        if (n->b) checker_push(c, (step){.kind = C_NODE, .n = n->b});
        if (n->a) checker_push(c, (step){.kind = C_NODE, .n = n->a});
    }
    c->n = base;
}

static void add_sizes(checker *c, scope *s, const contract *k, bool result)
{
    for (dim *d = k->dims; d; d = d->next) {
        if (!d->name) continue;
        slot *e = slot_find(c, s->id, d->name);
        if (e && s->fn->vars[e->index].is_param) {
            diag *g = checker_report(c, SEVERITY_ERROR, DIAG_NAME, d->at, "`%s` is a parameter, and cannot be the name of an axis size too",
                                     symbol_name(c->symbols, d->name));
            diag_help_set(g, "call the size something else");
        } else if (!e && !result) scope_var(c, s, d->name, d->at, false);
    }
}

scope *scope_enter(checker *c, function *fn, scope *outer)
{
    scope *s = checker_take(c, sizeof *s);
    if (!s) return NULL;
    s->fn = fn;
    s->outer = outer;
    s->id = c->scopes++;
    fn->outer = outer ? outer->fn : NULL;
    for (param *p = fn->params; p; p = p->next) p->var = scope_var(c, s, p->name, p->at, true);
    for (param *p = fn->params; p; p = p->next) add_sizes(c, s, &p->shape, false);
    add_sizes(c, s, &fn->result, true);
    if (fn->body) collect(c, s, fn->body);
    return s;
}

/* --- top-level functions ---------------------------------------------------------------------- */

/* `fn` statements directly at top level, unless the name is also assigned like a variable: then it is
   one, and found out by collecting once more without them. */
void collect_tops(checker *c, node *main)
{
    for (node *n = main->list; n; n = n->next) {
        if (n->kind != N_FN || !n->fn->name) continue;
        n->fn->top = true;
        slot *k = slot_find(c, UINT32_MAX - 1, n->fn->name);
        if (k) {
            c->tops[k->index].count++;
            continue;
        }
        if (c->ntops == c->tops_cap) {
            uint32_t cap = c->tops_cap ? c->tops_cap * 2 : 16;
            top_fn *tops = grown(c, c->tops, c->ntops, cap, sizeof *tops);
            if (!tops) return;
            c->tops = tops;
            c->tops_cap = cap;
        }
        c->tops[c->ntops] = (top_fn){n->fn, 1};
        slot_put(c, UINT32_MAX - 1, n->fn->name, SLOT_TOP, c->ntops++);
    }
}
