/* code.c: making Code, and letting it go.
 *
 * A builder is a Code under construction: everything in it lies in the Code's arena, and arrays that
 * grow double in place of being counted twice (a capacity is the next power of two, so none is
 * stored). A refusal is remembered, not returned: from then on allocations come from libc, are
 * listed on the builder and freed when it is finished, so passes need no test after each call.
 *
 * Lifetimes. A Code and all that is derived from it form a group with one reference count, kept in
 * the root: derived Code points at its primal and at its siblings, which within a group costs
 * nothing. References between groups (a function and those nested in it) form no cycle, because
 * a nested function is finished before the one around it. Freeing follows them by a list. */
#include "code.h"
#include "vm.h"
#include <stdlib.h>
#include <string.h>

const op_row op_rows[OPCODES] = {
#define N N_ANY
#define OP(NAME, mnemonic, results, sources, blocks, immediate, flags, synopsis) \
    [OP_CODE_##NAME] = {#mnemonic, results, sources, blocks, immediate, flags, synopsis},
#include "op.def"
#undef OP
#undef N
};

/* --- memory of a builder -------------------------------------------------------------------- */

struct spare {
    struct spare *next;
    max_align_t start[];
};

static void builder_refuse(builder *b)
{
    if (!b->failed) vm_out_of_memory(b->vm);
    b->failed = true;
}

/* From what the VM set aside when it was opened. Passes stop at the next instruction they come to, so that it
   suffices for all that are under way, unless one instruction alone has tens of thousands of operands. */
static void *last_take(builder *b, size_t bytes)
{
    vm *m = b->vm;
    if (bytes > LAST_ROOM - m->last_used) return NULL;
    char *p = memset(m->last_room + m->last_used, 0, bytes);
    m->last_used += (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (m->last_used > LAST_ROOM) m->last_used = LAST_ROOM;
    m->last_users += !b->in_last_room;
    b->in_last_room = true;
    return p;
}
static bool is_last(const vm *m, const void *p) { return (char *)p >= m->last_room && (char *)p < m->last_room + LAST_ROOM; }

/* After a refusal it lives as long as the builder. */
void *builder_take(builder *b, size_t bytes)
{
    void *p = b->failed ? NULL : arena_alloc(&b->c->arena, bytes);
    if (p) return p;
    builder_refuse(b);
    struct spare *s = calloc(1, sizeof *s + bytes);
    if (!s) return last_take(b, bytes);
    s->next = b->spare;
    b->spare = s;
    return s->start;
}

static uint32_t capacity_of(uint32_t n)
{
    uint32_t cap = 4;
    while (cap < n && cap < 0x80000000u) cap *= 2;
    return cap;
}

/* Room for element n of an array of n elements that was made here or by builder_take(capacity_of(n)). */
static void *grow(builder *b, void *old, uint32_t n, size_t size)
{
    bool full = n == 0 || (n >= 4 && (n & (n - 1)) == 0);
    if (!full) return old;
    void *fresh = builder_take(b, (size_t)capacity_of(n + 1) * size);
    if (fresh && n) memcpy(fresh, old, n * size);
    return fresh;
}

static void *copy_of(builder *b, const void *p, size_t n, size_t size)
{
    if (n == 0) return NULL;
    void *q = builder_take(b, n * size);
    if (q && p) memcpy(q, p, n * size);
    return q;
}

/* --- opening, registers, blocks ------------------------------------------------------------- */

bool builder_open(builder *b, vm *m, symbol name, source *src, uint32_t ncaptures, uint32_t nparams)
{
    *b = (builder){.vm = m};
    code *c = memory_alloc(&m->mem, MEM_CODE, sizeof *c);
    if (!c) {
        /* A builder without a Code: everything goes to a stand-in that is never finished. */
        b->failed = true;
        vm_out_of_memory(m);
        c = builder_take(b, sizeof *c);
        if (!c) return false;
    }
    b->c = c;
    c->refs = 1;
    c->root = c;
    c->vm = m;
    c->name = name;
    c->src = src ? source_retain(src) : NULL;
    c->ncaptures = ncaptures;
    c->nparams = nparams;
    c->required = nparams;
    c->nresults = 1;
    arena_open(&c->arena, &m->mem, MEM_CODE);
    c->param_names = builder_take(b, nparams * sizeof(symbol));
    c->body = builder_block(b, ncaptures + nparams);
    b->at = c->body;
    return !b->failed;
}

reg builder_reg(builder *b, symbol name)
{
    code *c = b->c;
    if (c->nregs >= UINT32_MAX / 2) {
        builder_refuse(b);
        return 0;
    }
    symbol *names = grow(b, c->reg_names, c->nregs, sizeof(symbol));
    if (!names) return 0;
    c->reg_names = names;
    names[c->nregs] = name;
    return c->nregs++;
}

block *builder_block(builder *b, uint32_t nparams)
{
    block *k = builder_take(b, sizeof *k);
    if (!k) return NULL;
    if (nparams) k->params = builder_take(b, (size_t)capacity_of(nparams) * sizeof(reg));
    k->nparams = nparams;
    for (uint32_t i = 0; i < nparams; i++) k->params[i] = builder_reg(b, 0);
    return k;
}

reg block_param_add(builder *b, block *k, symbol name)
{
    reg r = builder_reg(b, name);
    reg *params = grow(b, k->params, k->nparams, sizeof(reg));
    if (!params) return r;
    k->params = params;
    params[k->nparams++] = r;
    return r;
}

/* --- side tables ---------------------------------------------------------------------------- */

static uint64_t scramble(uint64_t h)
{
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 33;
    return h;
}

/* Only what is compared cheaply and often repeated is shared. */
static bool const_shares(value v) { return v.tag <= V_F64 || v.tag == V_STRING || v.tag == V_ELLIPSIS; }

static uint64_t const_hash(value v)
{
    uint64_t h = v.tag * 31u + v.weak;
    if (v.tag == V_STRING) {
        const string *s = as_string(v);
        for (uint32_t i = 0; i < s->length; i++) h = (h ^ (uint8_t)s->s[i]) * 0x100000001b3ull;
    } else if (value_is_scalar(v)) h = h * 0x100000001b3ull ^ (uint64_t)v.u.i;
    return scramble(h);
}

static bool const_equal(value a, value b)
{
    if (a.tag != b.tag || a.weak != b.weak) return false;
    if (a.tag == V_STRING) {
        const string *s = as_string(a), *t = as_string(b);
        return s->length == t->length && memcmp(s->s, t->s, s->length) == 0;
    }
    return !value_is_scalar(a) || a.u.i == b.u.i; /* equal bits */
}

static void const_slot_put(builder *b, uint32_t index)
{
    uint32_t i = (uint32_t)const_hash(b->c->consts[index]) & (b->nslots - 1);
    while (b->slots[i]) i = (i + 1) & (b->nslots - 1);
    b->slots[i] = index + 1;
}

static void const_slots_grow(builder *b)
{
    uint32_t n = b->nslots ? b->nslots * 2 : 16;
    uint32_t *slots = builder_take(b, n * sizeof *slots);
    if (!slots) return;
    b->slots = slots;
    b->nslots = n;
    for (uint32_t i = 0; i < b->c->nconsts; i++)
        if (const_shares(b->c->consts[i])) const_slot_put(b, i);
}

uint32_t builder_const(builder *b, value v)
{
    code *c = b->c;
    if (const_shares(v) && b->slots) {
        uint32_t i = (uint32_t)const_hash(v) & (b->nslots - 1);
        for (; b->slots[i]; i = (i + 1) & (b->nslots - 1))
            if (const_equal(c->consts[b->slots[i] - 1], v)) {
                value_release(b->vm, v);
                return b->slots[i] - 1;
            }
    }
    value *consts = grow(b, c->consts, c->nconsts, sizeof(value));
    if (!consts) {
        value_release(b->vm, v);
        return 0;
    }
    c->consts = consts;
    consts[c->nconsts++] = v;
    if (const_shares(v)) {
        if (b->nslots < 2 * c->nconsts) const_slots_grow(b);
        else const_slot_put(b, c->nconsts - 1);
    }
    return c->nconsts - 1;
}

uint32_t builder_code(builder *b, code *child)
{
    code *c = b->c;
    if (!child) {
        b->failed = true; /* whoever failed to make it has set the error */
        return 0;
    }
    code **codes = grow(b, c->codes, c->ncodes, sizeof *codes);
    if (!codes) {
        code_release(child);
        return 0;
    }
    c->codes = codes;
    codes[c->ncodes] = child;
    return c->ncodes++;
}

uint32_t builder_names(builder *b, uint32_t n, const symbol *names)
{
    code *c = b->c;
    name_list *lists = grow(b, c->names, c->nnames, sizeof *lists);
    symbol *copy = copy_of(b, names, n, sizeof *names);
    if (!lists) return 0;
    c->names = lists;
    lists[c->nnames] = (name_list){n, copy};
    return c->nnames++;
}

uint32_t builder_options(builder *b, const block_options *o)
{
    code *c = b->c;
    block_options *list = grow(b, c->options, c->noptions, sizeof *list);
    if (!list) return 0;
    c->options = list;
    block_options *to = &list[c->noptions];
    *to = *o;
    if (o->budget) b->vm->budgeted = true;
    to->names = copy_of(b, o->names, o->nnames, sizeof(value));
    for (uint32_t i = 0; i < to->nnames; i++) value_retain(to->names[i]);
    return c->noptions++;
}

uint32_t builder_contracts(builder *b, const contract_list *l)
{
    code *c = b->c;
    contract_list *list = grow(b, c->contracts, c->ncontracts, sizeof *list);
    if (!list) return 0;
    c->contracts = list;
    contract_list *to = &list[c->ncontracts];
    *to = *l;
    to->of = copy_of(b, l->of, l->n, sizeof *l->of);
    to->names = copy_of(b, l->names, l->nnames, sizeof(symbol));
    to->function = l->function ? copy_of(b, l->function, strlen(l->function) + 1, 1) : NULL;
    return c->ncontracts++;
}

/* --- instructions --------------------------------------------------------------------------- */

instr *instr_new(builder *b, opcode op, uint32_t imm, uint32_t ndst, uint32_t nsrc, uint32_t nblocks)
{
    if (ndst > UINT16_MAX) {
        if (!b->failed) {
            vm_fail(b->vm, DIAG_VALUE, "more than %d values come out of one statement: a loop, a branch, or an assignment to many names", UINT16_MAX);
            if (b->where.src) diag_label_add(b->vm->error, b->where, "%s", "");
        }
        b->failed = true;
    }
    instr *i = builder_take(b, sizeof *i);
    if (!i) return NULL;
    i->op = (uint8_t)op;
    i->flags = b->flags;
    i->imm = imm;
    i->ndst = (uint16_t)ndst;
    i->nsrc = nsrc;
    i->nblocks = nblocks;
    if (ndst) i->dst = builder_take(b, ndst * sizeof(reg));
    if (nsrc) i->src = builder_take(b, nsrc * sizeof(reg));
    if (nblocks) i->blocks = builder_take(b, nblocks * sizeof(block *));
    i->at = b->where;
    i->point = b->point;
    i->origin = b->origin ? b->origin : ++b->vm->next_origin;
    if (b->src_at && nsrc) {
        i->src_at = copy_of(b, b->src_at, nsrc, sizeof(span));
        b->src_at = NULL;
    }
    return i;
}

void builder_append(builder *b, block *k, instr *i)
{
    if (k->n == k->cap) {
        uint32_t cap = k->cap ? k->cap * 2 : 4;
        instr **list = builder_take(b, cap * sizeof *list);
        if (!list) return;
        if (k->n) memcpy(list, k->list, k->n * sizeof *list);
        k->list = list;
        k->cap = cap;
    }
    k->list[k->n++] = i;
}

instr *builder_add_blocks(builder *b, opcode op, uint32_t imm, uint32_t ndst, uint32_t nsrc, const reg *src, uint32_t nblocks,
                          block *const *blocks)
{
    instr *i = instr_new(b, op, imm, ndst, nsrc, nblocks);
    if (!i) return NULL;
    for (uint32_t k = 0; k < ndst; k++) i->dst[k] = builder_reg(b, 0);
    if (nsrc) memcpy(i->src, src, nsrc * sizeof(reg));
    if (nblocks) memcpy(i->blocks, blocks, nblocks * sizeof *blocks);
    builder_append(b, b->at, i);
    return i;
}

instr *builder_add(builder *b, opcode op, uint32_t imm, uint32_t ndst, uint32_t nsrc, const reg *src)
{
    return builder_add_blocks(b, op, imm, ndst, nsrc, src, 0, NULL);
}

reg builder_prim(builder *b, const prim *p, uint32_t n, const reg *src)
{
    instr *i = builder_add(b, OP_CODE_PRIM, prim_number(p), 1, n, src);
    return i ? i->dst[0] : 0;
}

reg build_const(builder *b, value v)
{
    instr *i = builder_add(b, OP_CODE_CONST, builder_const(b, v), 1, 0, NULL);
    return i ? i->dst[0] : 0;
}

void builder_yield(builder *b, uint32_t n, const reg *src) { builder_add(b, OP_CODE_YIELD, 0, 0, n, src); }

void builder_return(builder *b, uint32_t n, const reg *src)
{
    b->c->nresults = n;
    builder_add(b, OP_CODE_RETURN, 0, 0, n, src);
}

void instr_lazy_copy(builder *b, instr *to, const code *from, const instr *i)
{
    if (!i->lazy) return;
    lazy_loop *l = builder_take(b, sizeof *l);
    if (!l) return;
    *l = *i->lazy;
    if (i->op == OP_CODE_LOOP) l->options = builder_options(b, &from->options[i->lazy->options]);
    to->lazy = l;
}

/* --- finishing ------------------------------------------------------------------------------ */

/* What one Code owns outside its arena, children apart, and the Code itself. */
static void code_free_one(code *c)
{
    vm *m = c->vm;
    if (c->run) run_free(c);
    for (uint32_t i = 0; i < c->nconsts; i++) value_release(m, c->consts[i]);
    for (uint32_t i = 0; i < c->noptions; i++)
        for (uint32_t k = 0; k < c->options[i].nnames; k++) value_release(m, c->options[i].names[k]);
    source_release(c->src);
    arena_close(&c->arena);
    memory_free(&m->mem, MEM_CODE, c, sizeof *c);
}

static void builder_drop(builder *b)
{
    code *c = b->c;
    bool stand_in = c && is_last(b->vm, c);
    for (uint32_t i = 0; c && i < c->ncodes; i++) code_release(c->codes[i]);
    for (struct spare *s = b->spare; s; s = s->next) stand_in |= (void *)s->start == (void *)c;
    if (c && !stand_in) {
        c->primal = NULL;
        code_free_one(c);
    } else if (c) {
        for (uint32_t i = 0; i < c->nconsts; i++) value_release(b->vm, c->consts[i]);
        for (uint32_t i = 0; i < c->noptions; i++)
            for (uint32_t k = 0; k < c->options[i].nnames; k++) value_release(b->vm, c->options[i].names[k]);
        source_release(c->src);
    }
    for (struct spare *s = b->spare, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    if (b->in_last_room && --b->vm->last_users == 0) b->vm->last_used = 0;
    b->in_last_room = false;
    b->spare = NULL;
    b->c = NULL;
}

static bool number_blocks(builder *b, block *k)
{
    vm *m = b->vm;
    for (uint32_t n = 0; n < k->n; n++) {
        instr *i = k->list[n];
        if (i->op == OP_CODE_CHECKPOINT) {
            vm_stats *s = &m->stats;
            if (s->nblocks == s->blocks_cap) {
                uint32_t cap = s->blocks_cap ? s->blocks_cap * 2 : 16;
                block_count *of = memory_resize(&m->mem, MEM_OTHER, s->blocks, s->blocks_cap * sizeof *of, cap * sizeof *of);
                if (!of) return vm_out_of_memory(m);
                s->blocks = of;
                s->blocks_cap = cap;
            }
            s->blocks[s->nblocks] = (block_count){.at = i->at};
            if (i->at.src) source_retain(i->at.src);
            b->c->options[i->imm].block = s->nblocks++;
        }
        for (uint32_t j = 0; j < i->nblocks; j++)
            if (!number_blocks(b, i->blocks[j])) return false;
    }
    return true;
}

void code_blocks_close(vm *m)
{
    vm_stats *s = &m->stats;
    for (uint32_t i = 0; i < s->nblocks; i++) source_release(s->blocks[i].at.src);
    memory_free(&m->mem, MEM_OTHER, s->blocks, s->blocks_cap * sizeof *s->blocks);
    s->blocks = NULL;
    s->nblocks = s->blocks_cap = 0;
}

static const char *make_display(builder *b)
{
    code *c = b->c;
    const char *own = c->name ? symbol_name(b->vm->symbols, c->name) : c->primal ? c->primal->display : "anonymous function";
    const char *before = c->role == CODE_REV ? "adjoint of " : c->role == CODE_JVP ? "tangent of " : "";
    size_t n = strlen(before), k = strlen(own);
    char *s = builder_take(b, n + k + 1);
    if (s) {
        memcpy(s, before, n);
        memcpy(s + n, own, k);
    }
    return s;
}

static code *finish(builder *b)
{
    code *c = b->c;
    if (!c) return NULL; /* libc had nothing for the builder itself */
    if (b->failed || !(c->display = make_display(b)) || b->failed || !code_verify(b->vm, c)) {
        if (c->arena.refused) vm_out_of_memory(b->vm); /* whoever failed the builder need not have said so */
        builder_drop(b);
        return NULL;
    }
    c->finished = true;
    b->c = NULL;
    return c;
}

code *builder_finish(builder *b)
{
    code *c = finish(b);
    if (!c || !c->noptions) return c;
    b->c = c;
    bool fine = number_blocks(b, c->body);
    b->c = NULL;
    if (fine) return c;
    code_release(c);
    return NULL;
}

code *builder_finish_derived(builder *b, code *primal, enum code_role role)
{
    if (!b->c) return NULL;
    b->c->primal = primal;
    b->c->role = role;
    code *c = finish(b);
    if (!c) return NULL;
    code *root = primal->root;
    c->root = root;
    c->refs = 0;
    for (uint32_t i = 0; i < c->ncodes; i++)
        if (c->codes[i]->root == root) root->refs--; /* never the last: the caller holds the primal */
    c->sibling = root->sibling;
    root->sibling = c;
    return c;
}

code *code_retain(code *c)
{
    c->root->refs++;
    return c;
}

void code_release(code *c)
{
    if (!c || --c->root->refs > 0) return;
    /* First the list of all that goes, group after group, linked through `sibling`; then the freeing,
       because children in one's own group are recognised by their root. */
    code *first = c->root, *tail = first;
    while (tail->sibling) tail = tail->sibling;
    for (code *x = first; x; x = x->sibling)
        for (uint32_t i = 0; i < x->ncodes; i++) {
            code *root = x->codes[i]->root;
            if (root == x->root || --root->refs > 0) continue;
            tail->sibling = root;
            while (tail->sibling) tail = tail->sibling;
        }
    for (code *x = first, *next; x; x = next) {
        next = x->sibling;
        code_free_one(x);
    }
}

const char *code_display_name(const code *c) { return c->display ? c->display : "anonymous function"; }

/* --- a primitive as a function -------------------------------------------------------------- */

code *code_of_prim(vm *m, const prim *p)
{
    prim_info *info = &m->prim_infos[prim_number(p)];
    if (info->as_value) return info->as_value;
    builder b;
    builder_open(&b, m, symbol_of(m->symbols, p->name, strlen(p->name)), NULL, 0, info->nparams);
    reg *args = builder_take(&b, (info->nparams + 1) * sizeof(reg));
    bool spread = false;
    b.c->required = 0;
    for (uint32_t i = 0; args && i < info->nparams; i++) {
        const prim_param *a = &info->params[i];
        b.c->param_names[i] = a->name;
        args[i] = b.c->body->params[i];
        if (a->rest) spread = b.c->rest = true;
        else if (!a->optional) b.c->required = i + 1;
        else {
            reg src[3] = {args[i], args[i], build_const(&b, value_retain(a->deflt))};
            args[i] = builder_add(&b, OP_CODE_SELDEF, 0, 1, 3, src)->dst[0];
        }
    }
    instr *i = builder_add(&b, OP_CODE_PRIM, prim_number(p) | (spread ? PRIM_SPREAD : 0), 1, info->nparams, args);
    builder_return(&b, 1, i->dst);
    return info->as_value = builder_finish(&b);
}

/* --- small questions about code ------------------------------------------------------------- */

bool code_is_pure_prim(const prim *p) { return !(p->attrs & (A_RANDOM | A_OUTPUT | A_INPUT | A_EFFECT)); }

bool instr_cannot_fail(const instr *i)
{
    switch (i->op) {
    case OP_CODE_PRIM: {
        /* Structural questions and the bookkeeping of derivatives; all arithmetic can fail somewhere
           (shapes, overflow). */
        const prim *p = &prims[i->imm & ~PRIM_SPREAD];
        return code_is_pure_prim(p) && (p->attrs & A_META) && p->attrs & A_INTERNAL;
    }
    case OP_CODE_CONST:
    case OP_CODE_TUPLE:
    case OP_CODE_RECORD:
    case OP_CODE_CLOSURE:
    case OP_CODE_SELF:
    case OP_CODE_SELDEF:
    case OP_CODE_TAPE:
    case OP_CODE_REPLAYABLE: return true;
    default: return false;
    }
}

/* --- free registers of a block -------------------------------------------------------------- */

typedef struct reg_set {
    uint32_t *slots;
    uint32_t mask;
} reg_set;

/* True when r was not yet in the set. */
static bool reg_set_add(reg_set *s, reg r)
{
    uint32_t i = (uint32_t)scramble(r + 1) & s->mask;
    for (; s->slots[i]; i = (i + 1) & s->mask)
        if (s->slots[i] == r + 1) return false;
    s->slots[i] = r + 1;
    return true;
}

static size_t count_regs(const block *k, size_t *uses)
{
    size_t n = k->nparams;
    for (uint32_t j = 0; j < k->n; j++) {
        const instr *i = k->list[j];
        n += i->ndst + i->nsrc;
        *uses += i->nsrc;
        for (uint32_t q = 0; q < blocks_run(i); q++) n += count_regs(i->blocks[q], uses);
    }
    return n;
}

static void free_regs(const block *k, reg_set *seen, reg *out, uint32_t *n)
{
    for (uint32_t j = 0; j < k->nparams; j++) reg_set_add(seen, k->params[j]);
    for (uint32_t j = 0; j < k->n; j++) {
        const instr *i = k->list[j];
        for (uint32_t q = 0; q < i->nsrc; q++)
            if (reg_set_add(seen, i->src[q])) out[(*n)++] = i->src[q];
        for (uint32_t q = 0; q < blocks_run(i); q++) free_regs(i->blocks[q], seen, out, n);
        for (uint32_t q = 0; q < i->ndst; q++) reg_set_add(seen, i->dst[q]);
    }
}

bool block_free_regs(const code *c, const block *k, arena *a, reg **out, uint32_t *n)
{
    size_t uses = 0, all = count_regs(k, &uses), slots = 16;
    while (slots < 2 * all) slots *= 2;
    memory *mem = &c->vm->mem;
    reg_set seen = {memory_alloc(mem, MEM_OTHER, slots * sizeof(uint32_t)), (uint32_t)(slots - 1)};
    reg *list = seen.slots ? memory_alloc(mem, MEM_OTHER, uses * sizeof(reg)) : NULL;
    *n = 0;
    *out = NULL;
    if (list) {
        free_regs(k, &seen, list, n);
        *out = arena_alloc(a, *n * sizeof(reg));
        if (*out && *n) memcpy(*out, list, *n * sizeof(reg));
        memory_free(mem, MEM_OTHER, list, uses * sizeof(reg));
    }
    memory_free(mem, MEM_OTHER, seen.slots, slots * sizeof(uint32_t));
    return *out ? true : vm_out_of_memory(c->vm);
}
