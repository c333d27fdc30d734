/* verify.c: checks Code after every pass, so that any Code that verifies runs safely.
 *
 * In goes a finished or nearly finished Code, out comes true, or false with a DIAG_INTERNAL error
 * that names the instruction. Nothing in the Code is trusted but its pointers and counts: the
 * assembler feeds whatever a test wrote. What depends on values (types, shapes, the width of a
 * tape, how many results a callee gives) the interpreter checks when it runs. One pass, linear in
 * the size of the Code: a register's state is one byte, set where it is defined and cleared where
 * its block ends. Recursion follows the nesting of blocks alone, to CODE_NEST_MAX. */
#include "code.h"
#include "vm.h"

enum { FRESH, IN_SCOPE, GONE };

typedef struct verifier {
    vm *m;
    const code *c;
    uint8_t *state; /* nregs */
} verifier;

static bool bad(verifier *v, const instr *i, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool bad(verifier *v, const instr *i, const char *fmt, ...)
{
    text t;
    text_open(&t, &v->m->mem);
    va_list ap;
    va_start(ap, fmt);
    text_vprintf(&t, fmt, ap);
    va_end(ap);
    const char *op = i && i->op < OPCODES ? op_rows[i->op].name : "";
    bool first = !v->m->error;
    vm_fail(v->m, DIAG_INTERNAL, "invalid Code of %s: %s%s%s", code_display_name(v->c), op, *op ? ": " : "", text_str(&t));
    if (first && i && i->at.src) diag_label_add(v->m->error, i->at, "%s", "");
    text_close(&t);
    return false;
}

static bool define(verifier *v, const instr *i, const reg *r, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        if (r[k] >= v->c->nregs) return bad(v, i, "register %u of %u", r[k], v->c->nregs);
        if (v->state[r[k]] != FRESH) return bad(v, i, "register %u is defined twice", r[k]);
        v->state[r[k]] = IN_SCOPE;
    }
    return true;
}

static bool use(verifier *v, const instr *i)
{
    for (uint32_t k = 0; k < i->nsrc; k++) {
        if (i->src[k] >= v->c->nregs) return bad(v, i, "register %u of %u", i->src[k], v->c->nregs);
        if (v->state[i->src[k]] == FRESH) return bad(v, i, "register %u is used before its definition", i->src[k]);
        if (v->state[i->src[k]] == GONE) return bad(v, i, "register %u is used outside its block", i->src[k]);
    }
    return true;
}

/* --- the instruction apart from its blocks -------------------------------------------------- */

static bool check_prim(verifier *v, const instr *i)
{
    uint32_t number = i->imm & ~PRIM_SPREAD;
    if (number >= prim_count) return bad(v, i, "primitive %u of %u", number, prim_count);
    const prim *p = &prims[number];
    if (!v->m->prim_infos) return true;
    const prim_info *info = prim_info_of(v->m, p);
    uint32_t least = 0;
    bool rest = false;
    for (uint32_t k = 0; k < info->nparams; k++) {
        if (info->params[k].rest) rest = true;
        else if (!info->params[k].optional) least = k + 1;
    }
    if (i->imm & PRIM_SPREAD) {
        if (!rest) return bad(v, i, "%s takes no spread tuple", p->name);
        if (i->nsrc != info->nparams) return bad(v, i, "%s with %u sources", p->name, i->nsrc);
        return true;
    }
    if (i->nsrc < least || (!rest && i->nsrc > info->nparams)) return bad(v, i, "%s with %u sources", p->name, i->nsrc);
    return true;
}

static bool check_names(verifier *v, const instr *i)
{
    if (i->imm >= v->c->nnames) return bad(v, i, "name list %u of %u", i->imm, v->c->nnames);
    const name_list *l = &v->c->names[i->imm];
    switch (i->op) {
    case OP_CODE_UNBIND: break; /* aligned with the BIND it undoes */
    case OP_CODE_BIND:
        if (i->nsrc == 0) return bad(v, i, "no function");
        /* fall through */
    default:
        if (l->n != i->nsrc) return bad(v, i, "%u names for %u sources", l->n, i->nsrc);
    }
    for (uint32_t k = 0; k < l->n; k++) {
        symbol y = l->names[k];
        if (i->op == OP_CODE_RECORD && (y == 0 || y == SPREAD_MARK)) return bad(v, i, "a field without a name");
        if (i->op == OP_CODE_SPREAD && y != 0 && y != SPREAD_MARK) return bad(v, i, "a named source");
    }
    if (i->op == OP_CODE_BIND && l->names[0] != 0) return bad(v, i, "a name or spread on the function");
    return true;
}

static bool check_contract(verifier *v, const instr *i)
{
    if (i->imm >= v->c->ncontracts) return bad(v, i, "contract %u of %u", i->imm, v->c->ncontracts);
    const contract_list *l = &v->c->contracts[i->imm];
    if (l->nnames != i->ndst) return bad(v, i, "%u results for %u names", i->ndst, l->nnames);
    for (uint32_t k = 0; k < l->n; k++) {
        const axis_contract *a = &l->of[k];
        if (a->source >= i->nsrc) return bad(v, i, "contract on source %u of %u", a->source, i->nsrc);
        if (a->has_dtype && a->dtype > DTYPE_F64) return bad(v, i, "dtype %u", a->dtype);
        if (!a->has_axes) continue;
        if (a->rank < 0 || a->rank > RANK_MAX) return bad(v, i, "rank %d", a->rank);
        for (int j = 0; j < a->rank; j++)
            if (a->axes[j] < -1 && -2 - a->axes[j] >= l->nnames) return bad(v, i, "no such size name");
    }
    return true;
}

static bool check_self(verifier *v, const instr *i, uint32_t depth)
{
    if (depth > 0) return bad(v, i, "in a nested block");
    const code *p = v->c;
    for (uint32_t k = 0; k < i->imm; k++) {
        p = p->primal;
        if (!p) return bad(v, i, "primal %u", i->imm);
    }
    if (p->ncaptures != v->c->ncaptures) return bad(v, i, "the primal has other captures");
    return true;
}

static bool check_code(verifier *v, const instr *i)
{
    if (i->imm >= v->c->ncodes) return bad(v, i, "Code %u of %u", i->imm, v->c->ncodes);
    const code *k = v->c->codes[i->imm];
    if (!k->finished) return bad(v, i, "of unfinished Code");
    if (k->ncaptures != i->nsrc) return bad(v, i, "%u sources for %u captures", i->nsrc, k->ncaptures);
    if (i->op == OP_CODE_REPLAYABLE && k->nparams) return bad(v, i, "a region with parameters");
    return true;
}

static bool check_imm(verifier *v, const instr *i, uint32_t depth)
{
    switch (i->op) {
    case OP_CODE_SELF: return check_self(v, i, depth);
    case OP_CODE_IMPORT:
        if (i->imm < v->c->nconsts && v->c->consts[i->imm].tag != V_STRING) return bad(v, i, "path is no string");
        break;
    case OP_CODE_CALL:
        if (i->nsrc == 0) return bad(v, i, "no function");
        if (i->imm & CALL_SPREAD && i->nsrc != 2) return bad(v, i, "spread with %u sources", i->nsrc);
        if (i->imm & CALL_PACK && i->ndst != 1) return bad(v, i, "pack with %u results", i->ndst);
        break;
    case OP_CODE_TRY:
    case OP_CODE_MEASURE:
    case OP_CODE_TAPEPOP:
        if (i->ndst == 0) return bad(v, i, "no results");
        break;
    case OP_CODE_TAPEPUSH:
        if (i->nsrc == 0 || i->nsrc > UINT16_MAX) return bad(v, i, "%u sources", i->nsrc);
        break;
    case OP_CODE_TAPE:
        if (i->imm >= UINT16_MAX) return bad(v, i, "entries of %u values", i->imm);
        break;
    case OP_CODE_CHECKPOINT:
        if (i->nblocks == 2 && i->ntapes != i->nsrc) return bad(v, i, "widths of %u sources", i->ntapes);
        break;
    case OP_CODE_OFFER:
    case OP_CODE_ENTRY:
        if (i->nsrc == 0) return bad(v, i, "no loop tape");
        break;
    case OP_CODE_FUSED: return bad(v, i, "belongs to the run form");
    }
    switch (op_rows[i->op].imm) {
    case IMM_CONST: return i->imm < v->c->nconsts || bad(v, i, "constant %u of %u", i->imm, v->c->nconsts);
    case IMM_PRIM: return check_prim(v, i);
    case IMM_SYMBOL: return (i->imm != 0 && i->imm != SPREAD_MARK) || bad(v, i, "no name");
    case IMM_CODE: return check_code(v, i);
    case IMM_NAMES: return check_names(v, i);
    case IMM_CONTRACT: return check_contract(v, i);
    case IMM_CALL: return i->imm < 2 * CALL_PULLBACK || bad(v, i, "flags %u", i->imm);
    case IMM_DERIVE: return i->imm < DERIVE_KINDS || bad(v, i, "kind %u", i->imm);
    case IMM_OPTIONS: return i->imm < v->c->noptions || bad(v, i, "options %u of %u", i->imm, v->c->noptions);
    case IMM_LOOP:
        return ((i->imm & LOOP_KIND) <= LOOP_TAPE &&
                (i->imm == LOOP_WHILE || i->imm == LOOP_TAPE || (i->imm & ~(unsigned)LOOP_EXIT) == LOOP_RANGE)) ||
               bad(v, i, "kind %u", i->imm);
    default: return true;
    }
}

/* --- blocks --------------------------------------------------------------------------------- */

static bool check_block(verifier *v, const instr *owner, const block *k, uint32_t yields, uint32_t depth);

/* How many parameters the block of a LOOP has and how many values it yields. */
static bool loop_counts(verifier *v, const instr *i, uint32_t *params, uint32_t *yields)
{
    uint32_t carried = i->ndst, heads, extra = 0;
    uint64_t entries = 0;
    switch (i->imm & LOOP_KIND) {
    case LOOP_RANGE: heads = 2, entries = 1, extra = i->imm & LOOP_EXIT ? 1 : 0; break;
    case LOOP_WHILE: heads = 1, extra = 1; break;
    default:
        heads = i->ntapes;
        if (heads == 0) return bad(v, i, "over no tape");
        if (!i->widths) return bad(v, i, "no widths");
        for (uint32_t k = 0; k < heads; k++) entries += i->widths[k];
    }
    if ((i->imm & LOOP_KIND) != LOOP_TAPE && i->ntapes) return bad(v, i, "tapes where none belong");
    if ((uint64_t)heads + carried != i->nsrc) return bad(v, i, "%u sources for %u carried values", i->nsrc, carried);
    if (entries + carried > UINT32_MAX) return bad(v, i, "too many parameters");
    *params = (uint32_t)entries + carried;
    *yields = carried + extra;
    return true;
}

static bool check_blocks(verifier *v, const instr *i, uint32_t depth)
{
    uint32_t params = 0, yields = i->ndst;
    if (i->op == OP_CODE_LOOP && !loop_counts(v, i, &params, &yields)) return false;
    for (uint32_t k = 0; k < i->nblocks; k++) {
        if (i->blocks[k]->nparams != params) return bad(v, i, "a block with %u parameters where %u belong", i->blocks[k]->nparams, params);
        if (i->op == OP_CODE_CHECKPOINT && k == 1)
            for (uint32_t j = 0; j < i->ntapes; j++) yields += i->widths[j];
        if (!check_block(v, i, i->blocks[k], yields, depth + 1)) return false;
    }
    return true;
}

static bool check_instr(verifier *v, const instr *i, bool last, uint32_t yields, uint32_t depth)
{
    if (i->op >= OPCODES) return bad(v, i, "opcode %u", i->op);
    const op_row *row = &op_rows[i->op];
    if (row->results != N_ANY && row->results != i->ndst) return bad(v, i, "%u results", i->ndst);
    if (row->sources != N_ANY && (uint32_t)row->sources != i->nsrc) return bad(v, i, "%u sources", i->nsrc);
    if ((uint32_t)row->blocks != i->nblocks && !(i->op == OP_CODE_CHECKPOINT && i->nblocks == 2)) return bad(v, i, "%u blocks", i->nblocks);
    if (last != ((row->flags & F_END) != 0)) return bad(v, i, last ? "ends a block" : "inside a block");
    if (last) {
        if ((i->op == OP_CODE_RETURN) != (depth == 0)) return bad(v, i, depth ? "in a nested block" : "ends a body");
        if (i->nsrc != yields) return bad(v, i, "%u values where %u are expected", i->nsrc, yields);
    }
    return use(v, i) && check_imm(v, i, depth) && check_blocks(v, i, depth) && define(v, i, i->dst, i->ndst);
}

static bool check_block(verifier *v, const instr *owner, const block *k, uint32_t yields, uint32_t depth)
{
    if (depth > CODE_NEST_MAX) return bad(v, owner, "blocks are nested more than %d deep", CODE_NEST_MAX);
    if (k->n == 0) return bad(v, owner, "an empty block");
    if (!define(v, owner, k->params, k->nparams)) return false;
    for (uint32_t j = 0; j < k->n; j++)
        if (!check_instr(v, k->list[j], j + 1 == k->n, yields, depth)) return false;
    for (uint32_t j = 0; j < k->nparams; j++) v->state[k->params[j]] = GONE;
    for (uint32_t j = 0; j < k->n; j++)
        for (uint32_t q = 0; q < k->list[j]->ndst; q++) v->state[k->list[j]->dst[q]] = GONE;
    return true;
}

bool code_verify(vm *m, const code *c)
{
    verifier v = {m, c, NULL};
    if (!c->body || c->body->nparams != (uint64_t)c->ncaptures + c->nparams)
        return bad(&v, NULL, "captures and parameters are not the body's parameters");
    if (c->required > c->nparams || (c->rest && c->nparams == 0)) return bad(&v, NULL, "more parameters required than there are");
    v.state = memory_alloc(&m->mem, MEM_OTHER, c->nregs);
    if (!v.state) return vm_out_of_memory(m);
    bool fine = check_block(&v, NULL, c->body, c->nresults, 0);
    memory_free(&m->mem, MEM_OTHER, v.state, c->nregs);
    return fine;
}
