/* emit.c: functions and the script itself.
 *
 * In goes a resolved tree without errors, out comes Code, one per function, nested ones inside the Code
 * around them. A function's Code has captures (values it uses from outside, then its defaults) before
 * its parameters. What can fail here is memory, depth, and an inner part the checker let through. */
#include "emit_parts.h"
#include <string.h>

enum { DEPTH_MAX = 4000 };

bool emit_fail(emitter *e, span at, const char *fmt, ...)
{
    if (!e->m->error) {
        text t;
        text_open(&t, &e->m->mem);
        va_list ap;
        va_start(ap, fmt);
        text_vprintf(&t, fmt, ap);
        va_end(ap);
        vm_fail(e->m, DIAG_SYNTAX, "%s", text_str(&t));
        diag_label_add(e->m->error, at, "%s", "");
        text_close(&t);
    }
    e->failed = true;
    return false;
}

void *emit_take(emitter *e, size_t bytes)
{
    void *p = e->failed ? NULL : arena_alloc(&e->scratch, bytes ? bytes : 1);
    if (!p) {
        if (!e->failed) vm_out_of_memory(e->m);
        e->failed = true;
    }
    return p;
}

bool emit_enter(emitter *e, span at)
{
    if (e->failed) return false;
    if (++e->f->depth <= DEPTH_MAX) return true;
    emit_fail(e, at, "this is nested too deeply");
    return false;
}

void emit_leave(emitter *e) { e->f->depth--; }

/* --- instructions ------------------------------------------------------------------------------ */

void emit_at(emitter *e, span at, uint32_t point)
{
    e->f->b.where = at;
    e->f->b.point = point;
}

instr *emit_op(emitter *e, opcode op, uint32_t imm, uint32_t ndst, uint32_t nsrc, const reg *src)
{
    if (e->failed) return NULL;
    region_due(e);
    instr *i = builder_add(&e->f->b, op, imm, ndst, nsrc, src);
    e->f->b.src_at = NULL;
    if (e->f->b.failed) e->failed = true;
    return e->failed ? NULL : i;
}

reg emit_op1(emitter *e, opcode op, uint32_t imm, uint32_t nsrc, const reg *src)
{
    instr *i = emit_op(e, op, imm, 1, nsrc, src);
    return i ? i->dst[0] : 0;
}

reg emit_const(emitter *e, value v)
{
    if (e->failed) {
        value_release(e->m, v);
        return 0;
    }
    region_due(e);
    e->f->b.src_at = NULL;
    return build_const(&e->f->b, v);
}

reg emit_string(emitter *e, const char *s, size_t n)
{
    string *v = string_new(e->m, s, n);
    if (!v) {
        e->failed = true;
        return 0;
    }
    return emit_const(e, value_object(&v->h));
}

reg emit_prim(emitter *e, const char *name, uint32_t nsrc, const reg *src, const span *spans)
{
    if (e->failed) return 0;
    const prim *p = prim_find(e->m, symbol_of(e->m->symbols, name, strlen(name)));
    if (!p) {
        emit_fail(e, e->f->b.where, "this build has no primitive `%s`", name);
        return 0;
    }
    region_due(e);
    e->f->b.src_at = spans;
    return emit_op1(e, OP_CODE_PRIM, prim_number(p), nsrc, src);
}

/* --- names ------------------------------------------------------------------------------------- */

symbol emit_global(emitter *e, symbol name)
{
    if (!e->o->module[0]) return name;
    text t;
    text_open(&t, &e->m->mem);
    text_printf(&t, "%s:%s", e->o->module, symbol_name(e->m->symbols, name));
    symbol s = t.failed ? 0 : symbol_of(e->m->symbols, text_str(&t), t.n);
    text_close(&t);
    if (!s) {
        vm_out_of_memory(e->m);
        e->failed = true;
    }
    return s;
}

reg emit_read(emitter *e, uint32_t var, span at)
{
    emit_fn *f = e->f;
    region_due(e);
    struct state s = f->states[var];
    if (s.now != REG_NONE && !s.maybe) return s.now;
    if (s.now == REG_NONE) s.now = emit_const(e, value_undef());
    emit_at(e, at, at.lo);
    f->b.src_at = &f->fn->vars[var].first_assigned;
    /* The check only: what is read stays the same register, under which cotangents meet in one order however
       often, and wherever, it is checked. */
    emit_op1(e, OP_CODE_DEFINED, f->fn->vars[var].name, 1, &s.now);
    region_set(e, var, s.now, false, false);
    return s.now;
}

void emit_assign_var(emitter *e, uint32_t var, reg r, bool maybe)
{
    emit_fn *f = e->f;
    if (e->failed || f->b.failed) {
        e->failed = true;
        return;
    }
    symbol *name = &f->b.c->reg_names[r];
    if (var < f->nvars && !*name) *name = f->fn->vars[var].name;
    region_set(e, var, r, maybe, true);
}

reg emit_ref(emitter *e, ref r, symbol name, span at)
{
    emit_fn *f = e->f;
    emit_at(e, at, at.lo);
    switch (r.kind) {
    case REF_LOCAL: return emit_read(e, r.index, at);
    case REF_CAPTURE: return f->captures[r.index];
    case REF_SELF: return f->self;
    case REF_TOP: return emit_op1(e, OP_CODE_GLOBAL, emit_global(e, name), 0, NULL);
    case REF_BUILTIN: {
        const prim *p = builtin_prim(e->o->builtins, r.index);
        if (builtin_intrinsic(e->o->builtins, r.index) >= 0) {
            emit_fail(e, at, "an intrinsic is no value");
            return 0;
        }
        if (!p) return emit_op1(e, OP_CODE_GLOBAL, builtin_global(e->o->builtins, r.index), 0, NULL);
        code *c = code_of_prim(e->m, p);
        if (!c) {
            e->failed = true;
            return 0;
        }
        region_due(e);
        return emit_op1(e, OP_CODE_CLOSURE, builder_code(&f->b, code_retain(c)), 0, NULL);
    }
    default: emit_fail(e, at, "unknown name `%s`", symbol_name(e->m->symbols, name)); return 0;
    }
}

/* --- contracts --------------------------------------------------------------------------------- */

/* `from`: where to look first, which is behind the one before. */
static uint32_t var_named(const function *f, symbol name, uint32_t *from)
{
    for (uint32_t n = 0, i = *from; n < f->nvars; n++, i++) {
        if (i >= f->nvars) i = 0;
        if (f->vars[i].name == name) return *from = i + 1, i;
    }
    return UINT32_MAX;
}

static uint32_t size_named(emitter *e, contract_list *l, symbol name)
{
    for (uint32_t i = 0; i < l->nnames; i++)
        if (l->names[i] == name) return i;
    if ((l->nnames & (l->nnames - 1)) == 0) { /* full: room for twice as many */
        symbol *names = emit_take(e, (2 * l->nnames + 1) * sizeof *names);
        if (!names) return 0;
        if (l->nnames) memcpy(names, l->names, l->nnames * sizeof *names);
        l->names = names;
    }
    l->names[l->nnames] = name;
    return l->nnames++;
}

static void contract_add(emitter *e, contract_list *l, const contract *k, uint32_t from, symbol what)
{
    static const char *const dtypes[] = {"bool", "i64", "f32", "f64"};
    axis_contract *a = &l->of[l->n];
    *a = (axis_contract){.source = from, .what = what, .has_axes = k->has_dims, .rest = k->has_rest, .at = k->at};
    if (k->dtype) {
        const char *s = symbol_name(e->m->symbols, k->dtype);
        for (uint8_t d = 0; d < 4; d++)
            if (!strcmp(s, dtypes[d])) a->has_dtype = true, a->dtype = d;
    }
    for (const dim *d = k->dims; d && !e->failed; d = d->next) {
        if (a->rank == RANK_MAX) {
            emit_fail(e, d->at, "an array has at most %d axes", RANK_MAX);
            return;
        }
        a->axis_names[a->rank] = d->name;
        a->axes[a->rank++] = d->any ? -1 : d->name ? -2 - (int64_t)size_named(e, l, d->name) : d->size;
    }
    l->n++;
}

static const char *function_display(emitter *e, const function *f)
{
    return f->name ? symbol_name(e->m->symbols, f->name) : "the function";
}

/* Checks the parameters' contracts; the named sizes become variables. *sizes remembers them for the
   result's contract. */
static void emit_contracts(emitter *e, contract_list *l, reg **sizes)
{
    emit_fn *f = e->f;
    reg *src = emit_take(e, (f->fn->nparams + 1) * sizeof *src);
    l->of = emit_take(e, (f->fn->nparams + 1) * sizeof *l->of);
    if (!src || !l->of) return;
    l->function = function_display(e, f->fn);
    uint32_t n = 0, i = 0;
    for (const param *p = f->fn->params; p; p = p->next, i++)
        if (p->shape.present) {
            src[n] = f->states[p->var].now;
            contract_add(e, l, &p->shape, n++, p->name);
        }
    if (!n || e->failed) return;
    emit_at(e, f->fn->head, f->fn->head.lo);
    instr *k = emit_op(e, OP_CODE_CONTRACT, builder_contracts(&f->b, l), l->nnames, n, src);
    if (!k) return;
    *sizes = k->dst;
    uint32_t from = 0;
    for (i = 0; i < l->nnames; i++) {
        uint32_t var = var_named(f->fn, l->names[i], &from);
        if (var != UINT32_MAX) emit_assign_var(e, var, k->dst[i], false);
    }
}

/* The result's contract: its sources are the result, and then one size for each name that the
   parameters' contracts gave a size to (see code.h). */
static void emit_result_contract(emitter *e, reg result, const contract_list *params, const reg *sizes)
{
    emit_fn *f = e->f;
    if (!f->fn->result.present) return;
    contract_list l = {.function = function_display(e, f->fn), .result = true};
    l.names = params->names;
    l.nnames = params->nnames;
    l.of = emit_take(e, sizeof *l.of);
    reg *src = emit_take(e, (params->nnames + 1) * sizeof *src);
    if (!l.of || !src) return;
    src[0] = result;
    for (uint32_t i = 0; i < params->nnames; i++) src[i + 1] = sizes[i];
    contract_add(e, &l, &f->fn->result, 0, 0);
    emit_at(e, f->fn->result.at, f->fn->result.at.lo);
    emit_op(e, OP_CODE_CONTRACT, builder_contracts(&f->b, &l), l.nnames, 1 + params->nnames, src);
}

/* --- functions --------------------------------------------------------------------------------- */

static bool fn_open(emitter *e, emit_fn *f, function *fn, symbol name, uint32_t ncaptures)
{
    *f = (emit_fn){.outer = e->f,
                   .fn = fn,
                   .nvars = fn->nvars,
                   .nstates = fn->nvars + FLAGS_PER_FUNCTION,
                   .self = REG_NONE,
                   .depth = e->f ? e->f->depth : 0};
    e->f = f;
    if (!builder_open(&f->b, e->m, name, e->t->src, ncaptures, fn->nparams)) {
        e->failed = true;
        return false;
    }
    f->states = emit_take(e, f->nstates * sizeof *f->states);
    f->captures = f->b.c->body->params;
    if (!f->states) return false;
    for (uint32_t i = 0; i < f->nstates; i++) f->states[i] = (struct state){REG_NONE, 0, false};
    code *c = f->b.c;
    c->at = fn->at;
    if (fn->help) c->help = arena_text(&c->arena, fn->help, strlen(fn->help));
    c->required = 0;
    uint32_t i = 0;
    for (const param *p = fn->params; p; p = p->next, i++) {
        c->param_names[i] = p->name;
        if (p->rest) c->rest = true;
        else if (!p->deflt) c->required = i + 1;
    }
    for (i = 0; i < fn->ncaptures; i++) c->reg_names[f->captures[i]] = fn->captures[i].name;
    return true;
}

static code *fn_close(emitter *e, emit_fn *f)
{
    memory_free(&e->m->mem, MEM_AST, f->log, f->log_cap * sizeof *f->log);
    e->f = f->outer;
    if (e->failed) f->b.failed = true;
    if (!f->b.failed) code_drop_dead(&f->b, false);
    code *c = builder_finish(&f->b);
    if (!c) e->failed = true;
    return c;
}

/* Parameters in, defaults where none were given. */
static void fn_prologue(emitter *e, emit_fn *f)
{
    const reg *params = f->captures ? f->captures + f->b.c->ncaptures : NULL; /* NULL: neither captures nor parameters */
    uint32_t i = 0, extra = f->fn->ncaptures;
    emit_at(e, f->fn->head, f->fn->head.lo);
    if (f->fn->name && f->outer && !f->fn->top) f->self = emit_op1(e, OP_CODE_SELF, 0, 0, NULL);
    reg on = emit_const(e, value_bool(true));
    region_set(e, f->nvars + FLAG_ON, on, false, true);
    for (const param *p = f->fn->params; p && !e->failed; p = p->next, i++) {
        reg r = params[i];
        emit_assign_var(e, p->var, r, false);
        if (p->deflt) {
            emit_at(e, p->at, p->at.lo);
            r = emit_op1(e, OP_CODE_SELDEF, 0, 3, (reg[]){r, r, f->captures[extra++]});
            emit_assign_var(e, p->var, r, false);
        }
    }
}

static code *emit_function(emitter *e, function *fn, symbol name, uint32_t ndefaults)
{
    emit_fn *f = emit_take(e, sizeof *f);
    if (!f) return NULL;
    if (!fn_open(e, f, fn, name, fn->ncaptures + ndefaults)) return fn_close(e, f);
    region r;
    contract_list contracts = {0};
    reg *sizes = NULL;
    region_open(e, &r, f->b.c->body, true);
    fn_prologue(e, f);
    if (!e->failed) emit_contracts(e, &contracts, &sizes);
    reg v = e->failed ? REG_NONE : emit_body(e, fn->body, true, true);
    if (!e->failed) v = region_close_guards(e, v);
    if (!e->failed) {
        f->top->pending = f->top->dead = false;
        emit_at(e, fn->at, fn->at.lo);
        if (v == REG_NONE) v = emit_const(e, value_none());
        emit_result_contract(e, v, &contracts, sizes);
        emit_at(e, fn->at, fn->at.lo);
        builder_return(&f->b, 1, &v);
    }
    return fn_close(e, f);
}

reg emit_closure(emitter *e, node *n, symbol display)
{
    function *fn = n->fn;
    if (!emit_enter(e, n->at)) return 0;
    uint32_t ndefaults = 0, k = fn->ncaptures;
    for (const param *p = fn->params; p; p = p->next) ndefaults += p->deflt != NULL;
    reg *src = emit_take(e, (fn->ncaptures + ndefaults + 1) * sizeof *src);
    if (!src) return 0;
    for (const param *p = fn->params; p; p = p->next)
        if (p->deflt) src[k++] = emit_expr(e, p->deflt);
    for (uint32_t i = 0; i < fn->ncaptures; i++)
        src[i] = emit_ref(e, fn->captures[i].from, fn->captures[i].name, fn->captures[i].first_used);
    if (e->failed) return 0;
    code *c = emit_function(e, fn, fn->name ? fn->name : display, ndefaults);
    emit_leave(e);
    if (!c) return 0;
    emit_at(e, fn->head, n->op_at.lo);
    region_due(e);
    return emit_op1(e, OP_CODE_CLOSURE, builder_code(&e->f->b, c), k, src);
}

/* --- the script -------------------------------------------------------------------------------- */

/* The variable as it is now: none where it was never assigned. */
static reg if_defined(emitter *e, uint32_t var)
{
    const struct state *s = &e->f->states[var];
    if (s->now == REG_NONE) return REG_NONE;
    if (!s->maybe) return s->now;
    reg none = emit_const(e, value_none());
    return emit_op1(e, OP_CODE_SELDEF, 0, 3, (reg[]){s->now, s->now, none});
}

static reg module_record(emitter *e)
{
    emit_fn *f = e->f;
    function *main = f->fn;
    uint32_t n = 0, most = main->nvars;
    for (node *x = main->body->list; x; x = x->next) most += x->kind == N_FN;
    symbol *names = emit_take(e, (most + 1) * sizeof *names);
    reg *src = emit_take(e, (most + 1) * sizeof *src);
    symbol last = 0;
    for (node *x = main->body->list; x; x = x->next)
        if (x->kind == N_FN && x->fn->name > last) last = x->fn->name;
    bool *seen = emit_take(e, last + 1);
    if (!names || !src || !seen) return 0;
    for (uint32_t i = 0; i < main->nvars; i++) {
        if (symbol_name(e->m->symbols, main->vars[i].name)[0] == '_') continue;
        reg r = if_defined(e, i);
        if (r == REG_NONE) continue;
        names[n] = main->vars[i].name;
        src[n++] = r;
    }
    for (node *x = main->body->list; x; x = x->next) {
        if (x->kind != N_FN || !x->fn->top || symbol_name(e->m->symbols, x->fn->name)[0] == '_') continue;
        if (seen[x->fn->name]) continue;
        seen[x->fn->name] = true;
        emit_at(e, x->fn->head, x->op_at.lo);
        names[n] = x->fn->name;
        src[n++] = emit_op1(e, OP_CODE_GLOBAL, emit_global(e, x->fn->name), 0, NULL);
    }
    return emit_op1(e, OP_CODE_RECORD, builder_names(&f->b, n, names), n, src);
}

static reg entry_tuple(emitter *e, reg last)
{
    emit_fn *f = e->f;
    uint32_t n = f->fn->nvars;
    reg *src = emit_take(e, (n + 1) * sizeof *src);
    if (!src) return 0;
    src[0] = last != REG_NONE ? last : emit_const(e, value_undef());
    for (uint32_t i = 0; i < n; i++) {
        reg r = f->states[i].now;
        src[i + 1] = r != REG_NONE ? r : emit_const(e, value_undef());
    }
    return emit_op1(e, OP_CODE_TUPLE, 0, n + 1, src);
}

static bool ends_in_value(const function *main)
{
    const node *n = main->body->list;
    while (n && n->next) n = n->next;
    if (!n) return false;
    switch (n->kind) {
    case N_ASSIGN:
    case N_FOR:
    case N_WHILE:
    case N_IMPORT:
    case N_BREAK:
    case N_CONTINUE:
    case N_RETURN: return false;
    case N_FN: return !n->fn->name;
    default: return true;
    }
}

static code *emit_main(emitter *e)
{
    function *main = e->t->main;
    emit_fn *f = emit_take(e, sizeof *f);
    if (!f) return NULL;
    if (!fn_open(e, f, main, 0, 0)) return fn_close(e, f);
    region r;
    region_open(e, &r, f->b.c->body, false);
    fn_prologue(e, f);
    bool want = e->o->result == EMIT_ENTRY && ends_in_value(main);
    reg v = emit_statements(e, main->body->list, want, false);
    if (!e->failed) v = region_close_guards(e, v);
    if (!e->failed) {
        emit_at(e, (span){e->t->src, (uint32_t)e->t->src->length, (uint32_t)e->t->src->length}, (uint32_t)e->t->src->length);
        switch (e->o->result) {
        case EMIT_RECORD: v = module_record(e); break;
        case EMIT_ENTRY: v = entry_tuple(e, v); break;
        default: v = emit_const(e, value_none());
        }
        builder_return(&f->b, 1, &v);
    }
    return fn_close(e, f);
}

code *emit(vm *m, const ast *t, const checked *c, const emit_options *o)
{
    emitter e = {.m = m, .t = t, .c = c, .o = o};
    arena_open(&e.scratch, &m->mem, MEM_AST);
    code *out = NULL;
    if (o->result != EMIT_FUNCTION) out = emit_main(&e);
    else {
        node *n = t->main->body->list;
        bool one = n && !n->next && n->kind == N_FN && n->fn->ncaptures == 0;
        for (const param *p = one ? n->fn->params : NULL; p; p = p->next) one &= p->deflt == NULL;
        if (one) out = emit_function(&e, n->fn, n->fn->name, 0);
        else vm_fail(m, DIAG_INTERNAL, "a rule's text is one function without captures");
    }
    arena_close(&e.scratch);
    if (!out && !m->error) vm_fail(m, DIAG_INTERNAL, "nothing was emitted");
    return out;
}
