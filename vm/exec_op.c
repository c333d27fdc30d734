/* exec_op.c: the instructions that are not hot, one function each.
 *
 * In go the frame and the instruction (layout `nd ns d… s…`), out come results in slots. Also the
 * failures of instructions whose common case the loop in exec.c does itself. */
#include "run.h"
#include "budget.h"
#include <string.h>

static bool fail_unpack(vm *m, const value *v, uint32_t n)
{
    if (v->tag == V_TUPLE) return vm_fail(m, DIAG_VALUE, "a tuple of %u cannot be taken apart into %u", as_tuple(*v)->n, n);
    return vm_fail(m, DIAG_TYPE, "%u values are taken out of a tuple, and this is %s", n, value_a_type(*v));
}

/* An array is taken apart along its first axis by the index primitive; here it is a mistake. */
static bool op_unpack(vm *m, frame *f, const uint32_t *w)
{
    m->fail_arg = 0;
    return fail_unpack(m, &f->r[w[3 + w[1]] >> 1], w[1]);
}

static bool op_spread(vm *m, frame *f, const instr *i, const uint32_t *src, value *out)
{
    const name_list *names = &f->run->tree->names[i->imm];
    uint64_t n = 0;
    for (uint32_t s = 0; s < i->nsrc; s++) {
        if (names->names[s] != SPREAD_MARK) {
            n++;
            continue;
        }
        value v = f->r[src[s] >> 1];
        if (v.tag != V_TUPLE) {
            m->fail_arg = (int)s;
            return vm_fail(m, DIAG_TYPE, "`...` spreads a tuple, and this is %s", value_a_type(v));
        }
        n += as_tuple(v)->n;
    }
    if (n >= UINT32_MAX) return vm_fail(m, DIAG_VALUE, "the tuple is full");
    tuple *t = tuple_new(m, (uint32_t)n, (uint32_t)n);
    if (!t) return false;
    uint32_t k = 0;
    for (uint32_t s = 0; s < i->nsrc; s++) {
        value v = operand_take(f->r, src[s]);
        if (names->names[s] != SPREAD_MARK) {
            t->v[k++] = v;
            continue;
        }
        tuple *part = as_tuple(v);
        for (uint32_t j = 0; j < part->n; j++) t->v[k++] = value_retain(part->v[j]);
        value_release(m, v);
    }
    *out = value_object(&t->h);
    return true;
}

static bool op_record(vm *m, frame *f, const instr *i, const uint32_t *src, value *out)
{
    const name_list *names = &f->run->tree->names[i->imm];
    record *r = record_new(m, 0, i->nsrc);
    if (!r) return false;
    *out = value_object(&r->h);
    for (uint32_t s = 0; s < i->nsrc; s++) {
        value v = operand_take(f->r, src[s]);
        if (record_set(m, out, names->names[s], v)) continue;
        value_release(m, v);
        value_release(m, *out);
        return false;
    }
    return true;
}

/* --- fields --------------------------------------------------------------------------------- */

static bool no_field(vm *m, const record *r, symbol name)
{
    const char *names[256];
    uint32_t n = r->n < 256 ? r->n : 256;
    text t;
    text_open(&t, &m->mem);
    for (uint32_t i = 0; i < n; i++) {
        names[i] = symbol_name(m->symbols, r->names[i]);
        if (i < 12) text_printf(&t, "%s%s", i ? ", " : "", names[i]);
    }
    const char *want = symbol_name(m->symbols, name);
    if (!n) vm_fail(m, DIAG_NAME, "there is no field `%s`: the record is empty", want);
    else vm_fail(m, DIAG_NAME, "there is no field `%s`; there %s %s%s", want, n == 1 ? "is" : "are", text_str(&t), n > 12 ? ", …" : "");
    const char *near = nearest_name(want, names, n);
    const prim *p = prim_find(m, name);
    if ((p && !(p->attrs & A_INTERNAL)) || table_get(m->globals, name)) vm_help(m, "`%s` stands by itself: write `%s(…)`", want, want);
    else if (near) vm_help(m, "did you mean `%s`?", near);
    text_close(&t);
    return false;
}

static bool not_a_record(vm *m, value v, symbol name, bool set)
{
    m->fail_arg = 0;
    return vm_fail(m, DIAG_TYPE, "a field `%s` is %s of a record, and this is %s", symbol_name(m->symbols, name), set ? "set" : "asked",
                   value_a_type(v));
}

static bool op_field(vm *m, frame *f, const instr *i, const uint32_t *src)
{
    value v = f->r[src[0] >> 1];
    if (v.tag != V_RECORD) return not_a_record(m, v, i->imm, false);
    return no_field(m, as_record(v), i->imm);
}

static bool op_setfield(vm *m, frame *f, const instr *i, const uint32_t *src, value *out)
{
    value v = f->r[src[0] >> 1];
    if (v.tag != V_RECORD) return not_a_record(m, v, i->imm, true);
    *out = operand_take(f->r, src[0]);
    value x = operand_take(f->r, src[1]);
    if (record_set(m, out, i->imm, x)) return true;
    value_release(m, x);
    value_release(m, *out);
    return false;
}

/* --- functions ------------------------------------------------------------------------------ */

static bool op_closure(vm *m, frame *f, const instr *i, const uint32_t *src, value *out)
{
    code *c = f->run->tree->codes[i->imm];
    closure *k = closure_new(m, c, i->nsrc);
    if (!k) return false;
    k->residual = i->flags & INSTR_RESIDUAL;
    for (uint32_t s = 0; s < i->nsrc; s++) {
        value v = operand_take(f->r, src[s]);
        if (k->residual) value_hold(m, v);
        k->captures[s] = v;
    }
    *out = value_object(&k->h);
    return true;
}

static bool op_self(vm *m, frame *f, const instr *i, value *out)
{
    if (!f->fn) return vm_fail(m, DIAG_INTERNAL, "a program refers to itself");
    if (i->imm == 0 && f->fn->kind == V_FUNCTION) {
        f->fn->refs++;
        *out = value_object(f->fn);
        return true;
    }
    code *c = f->run->code;
    for (uint32_t k = 0; k < i->imm && c; k++) c = c->primal;
    if (!c) return vm_fail(m, DIAG_INTERNAL, "no primal Code");
    bool function = f->fn->kind == V_FUNCTION;
    uint32_t n = function ? ((closure *)f->fn)->n : ((residual *)f->fn)->n;
    const value *from = function ? ((closure *)f->fn)->captures : ((residual *)f->fn)->entered;
    closure *k = closure_new(m, c, n);
    if (!k) return false;
    for (uint32_t s = 0; s < n; s++) k->captures[s] = value_retain(from[s]);
    *out = value_object(&k->h);
    return true;
}

static bool op_global(vm *m, const instr *i)
{
    const table *t = as_table(m->globals);
    const char *want = symbol_name(m->symbols, i->imm), *near = NULL;
    const char *names[512];
    uint32_t n = 0;
    for (uint32_t k = 0; k < t->cap && n < 512; k++)
        if (t->keys[k]) names[n++] = symbol_name(m->symbols, t->keys[k]);
    near = nearest_name(want, names, n);
    vm_fail(m, DIAG_NAME, "the function `%s` is not defined yet", want);
    if (near) vm_help(m, "did you mean `%s`?", near);
    return false;
}

static bool op_setglobal(vm *m, frame *f, const instr *i, const uint32_t *src)
{
    value v = operand_take(f->r, src[0]);
    if (table_set(m, &m->globals, i->imm, v)) return true;
    value_release(m, v);
    return false;
}

static bool op_derive(vm *m, frame *f, const instr *i, const uint32_t *src, value *out)
{
    value v = f->r[src[0] >> 1], mask = f->r[src[1] >> 1];
    if (v.tag == V_NONE || v.tag == V_ZERO) {
        *out = v;
        return true;
    }
    if (mask.tag != V_I64) return vm_fail(m, DIAG_INTERNAL, "a derivative for a mask that is a %s", value_type_name(mask));
    if (v.tag == V_RESIDUAL) {
        residual *p = as_residual(v);
        code *c = code_derive(p->region, (derive_kind)i->imm, (uint64_t)mask.u.i);
        residual *q = c ? residual_derived(m, p, c) : NULL;
        if (!q) return false;
        *out = value_object(&q->h);
    } else {
        m->fail_arg = 0;
        if (v.tag != V_FUNCTION) return not_a_function(m, v);
        closure *k = as_closure(v);
        code *c = code_derive(k->code, (derive_kind)i->imm, (uint64_t)mask.u.i);
        closure *d = c ? closure_new(m, c, k->n) : NULL;
        if (!d) return false;
        d->residual = k->residual;
        for (uint32_t s = 0; s < k->n; s++) {
            d->captures[s] = value_retain(k->captures[s]);
            if (d->residual) value_hold(m, d->captures[s]);
        }
        *out = value_object(&d->h);
    }
    operand_done(m, f->r, src[0]);
    return true;
}

/* --- residuals and tapes --------------------------------------------------------------------- */

static bool op_replayable(vm *m, frame *f, const instr *i, const uint32_t *src, value *out)
{
    residual *p = residual_new(m, f->run->tree->codes[i->imm], i->nsrc);
    if (!p) return false;
    for (uint32_t s = 0; s < i->nsrc; s++) {
        value v = operand_take(f->r, src[s]);
        value_hold(m, v);
        p->entered[s] = v;
    }
    *out = value_object(&p->h);
    worth_made(m, p);
    return true;
}

static bool op_tapepush(vm *m, frame *f, const instr *i, const uint32_t *src, value *out)
{
    uint32_t n = i->nsrc - 1;
    value small[16], *v = small;
    if (n > 16 && !(v = memory_alloc(&m->mem, MEM_FRAME, n * sizeof *v))) return vm_out_of_memory(m);
    value t = f->r[src[0] >> 1];
    bool fine = t.tag == V_TAPE || t.tag == V_ZERO || vm_fail(m, DIAG_INTERNAL, "pushing onto a %s", value_type_name(t));
    if (fine) {
        *out = operand_take(f->r, src[0]);
        if (t.tag == V_ZERO) { /* a tape of cotangents or tangents: nothing but symbolic zeros so far */
            bool zeros = true;
            for (uint32_t s = 0; s < n; s++) zeros &= f->r[src[1 + s] >> 1].tag == V_ZERO;
            if (!zeros) *out = tape_new(m, n);
            if (zeros || out->tag == V_UNDEF) {
                for (uint32_t s = 0; zeros && s < n; s++) operand_done(m, f->r, src[1 + s]);
                if (v != small) memory_free(&m->mem, MEM_FRAME, v, n * sizeof *v);
                return zeros;
            }
        }
        for (uint32_t s = 0; s < n; s++) v[s] = operand_take(f->r, src[1 + s]);
        fine = tape_push(m, out, n, v);
        if (!fine) {
            for (uint32_t s = 0; s < n; s++) value_release(m, v[s]);
            value_release(m, *out);
        }
    }
    if (v != small) memory_free(&m->mem, MEM_FRAME, v, n * sizeof *v);
    return fine;
}

static bool op_tapepop(vm *m, frame *f, const instr *i, const uint32_t *dst, const uint32_t *src)
{
    uint32_t n = i->ndst - 1u;
    value small[16], *v = small, t = f->r[src[0] >> 1];
    if (t.tag != V_TAPE && t.tag != V_ZERO) return vm_fail(m, DIAG_INTERNAL, "an entry of a %s", value_type_name(t));
    if (n > 16 && !(v = memory_alloc(&m->mem, MEM_FRAME, n * sizeof *v))) return vm_out_of_memory(m);
    t = operand_take(f->r, src[0]);
    bool fine = tape_pop(m, &t, n, v);
    if (fine) {
        f->r[dst[0]] = t;
        for (uint32_t k = 0; k < n; k++) f->r[dst[1 + k]] = v[k];
    } else value_release(m, t);
    if (v != small) memory_free(&m->mem, MEM_FRAME, v, n * sizeof *v);
    return fine;
}

/* --- all ------------------------------------------------------------------------------------ */

bool exec_other(struct exec *x, frame *f, const uint32_t *w)
{
    vm *m = x->m;
    const instr *i = instr_at(f, w);
    const uint32_t *dst = w + 3, *src = dst + i->ndst;
    value out = value_undef();
    bool fine = false;
    m->fail_arg = -1;
    switch (i->op) {
    case OP_CODE_UNPACK: return op_unpack(m, f, w);
    case OP_CODE_SPREAD: fine = op_spread(m, f, i, src, &out); break;
    case OP_CODE_RECORD: fine = op_record(m, f, i, src, &out); break;
    case OP_CODE_FIELD: return op_field(m, f, i, src);
    case OP_CODE_SETFIELD: fine = op_setfield(m, f, i, src, &out); break;
    case OP_CODE_CLOSURE: fine = op_closure(m, f, i, src, &out); break;
    case OP_CODE_SELF: fine = op_self(m, f, i, &out); break;
    case OP_CODE_GLOBAL: return op_global(m, i);
    case OP_CODE_SETGLOBAL: return op_setglobal(m, f, i, src);
    case OP_CODE_DEFINED: return vm_fail(m, DIAG_NAME, "`%s` is read before it is assigned", symbol_name(m->symbols, i->imm));
    case OP_CODE_CONTRACT: return exec_contract(x, f, i, dst, src);
    case OP_CODE_BIND: fine = exec_bind(x, f, i, src, &out); break;
    case OP_CODE_UNBIND: fine = exec_unbind(x, f, i, src, &out); break;
    case OP_CODE_DERIVE: fine = op_derive(m, f, i, src, &out); break;
    case OP_CODE_REPLAYABLE: fine = op_replayable(m, f, i, src, &out); break;
    case OP_CODE_TAPE: {
        value t = tape_new(m, i->imm);
        if ((fine = t.tag == V_TAPE)) out = t;
        break;
    }
    case OP_CODE_BUDGET: {
        size_t live = m->mem.live[MEM_ARRAY], more = (size_t)f->run->tree->options[i->imm].budget, was = m->mem.array_budget;
        out = value_i64((int64_t)was);
        uint32_t no = f->run->tree->options[i->imm].block;
        bool known = no < m->stats.nblocks && f->run->code->role != CODE_REV;
        out.aux = (m->block_budget ? 1 : 0) | (m->spilling ? 2 : 0) | (known ? (no + 1) << 2 : 0);
        m->spilling = f->run->tree->options[i->imm].spill;
        if (more && more < was && live < was - more) { /* 0: none, as another placement has it */
            m->mem.array_budget = live + more;
            m->block_budget = more;
            /* The adjoint has for itself what the block had, and what that left counts as far as it can be let go of. */
            bool adjoint = no < m->stats.nblocks && f->run->code->role == CODE_REV;
            size_t left = adjoint ? budget_left(m, m->stats.blocks[no].tapes_from, m->stats.blocks[no].tapes_to) : 0;
            m->mem.array_slack = left < more ? left : more;
        }
        if (known) m->stats.blocks[no].tapes_from = m->tapes_made;
        fine = true;
        break;
    }
    case OP_CODE_BUDGETEND: {
        value was = operand_take(f->r, src[0]);
        m->mem.array_budget = (size_t)was.u.i;
        m->mem.array_slack = 0;
        if (was.aux >> 2) m->stats.blocks[(was.aux >> 2) - 1].tapes_to = m->tapes_made;
        if (!(was.aux & 1)) m->block_budget = 0;
        m->spilling = was.aux & 2;
        return true;
    }
    case OP_CODE_LOOPTAPE:
    case OP_CODE_OFFER:
    case OP_CODE_ENTRY:
    case OP_CODE_LOOPEND:
    case OP_CODE_VIEW: return exec_looptape(x, f, i, dst, src);
    case OP_CODE_TAPEPUSH: fine = op_tapepush(m, f, i, src, &out); break;
    case OP_CODE_TAPEPOP: return op_tapepop(m, f, i, dst, src);
    default: return vm_fail(m, DIAG_INTERNAL, "`%s` cannot be run", op_rows[i->op].name);
    }
    if (fine && i->ndst) f->r[dst[0]] = out;
    return fine;
}
