/* asm.c: reads the text that dis.c writes, so that tests write bytecode as text.
 *
 *   function  fn NAME [captures] (parameters) custom_vjp { $0 = function … instructions }
 *   parameter REG, or NAME=REG (`_=REG` for none); then `...` for the rest, `?` with a default
 *   instruction  ~ results = op.modifier… IMMEDIATE sources { block } else { block }
 *   LOOP      loop.range lo, hi, a do (i, x) { … yield y }; tapes carry their width: loop.tape t:2, a
 *   NAME      a word, or a string when it is no word; `_` alone is none
 *   REG       a user's name, `h` or a later version of it `h.2`, or `%12`
 *   constant  3 (weak whole) 2.5 (weak float) 3i64 2f64 2f32 true none undef zero "s" ... (1, 2) (1,)
 *             {a: 1} slice(0, none, 1)
 *
 * `~` marks what belongs to an adjoint program. `#` and `@12:9` are for people. An instruction ends
 * with its line, or at `;`. Positions are those of this text, so errors of the verifier and
 * at run time point into it. Whatever the text says, the outcome is Code that verifies or an error. */
#include "asm.h"
#include <string.h>

/* --- immediates ----------------------------------------------------------------------------- */

static bool read_keep_names(assembler *p, block_options *o)
{
    value list;
    if (!asm_expect(p, "[")) return false;
    uint32_t lo = p->at, cap = 0;
    while (!asm_accept(p, "]")) {
        value *names = asm_room(p, o->names, o->nnames, &cap, sizeof *names);
        if (!names) return false;
        o->names = names;
        if (!asm_const(p, &list)) return false;
        names[o->nnames++] = list;
        if (list.tag != V_STRING) return asm_fault(p, lo, p->at, "expected a string");
        if (!asm_accept(p, ",") && asm_here(p) != ']') return asm_fault(p, p->at, p->at + 1, "expected `,` or `]`");
    }
    return true;
}

static bool read_option(assembler *p, block_options *o)
{
    if (asm_accept(p, "spill")) return o->spill = true;
    if (asm_accept(p, "slots")) return asm_expect(p, "=") && asm_count(p, INT64_MAX, &o->slots);
    if (asm_accept(p, "budget")) return asm_expect(p, "=") && asm_count(p, INT64_MAX, &o->budget);
    if (!asm_expect(p, "save") || !asm_expect(p, "=")) return false;
    if (asm_accept(p, "everything")) o->policy = KEEP_EVERYTHING;
    else if (asm_accept(p, "dots_no_batch")) o->policy = KEEP_DOTS_NO_BATCH;
    else if (asm_accept(p, "dots")) o->policy = KEEP_DOTS;
    else {
        o->policy = asm_accept(p, "not") ? KEEP_NOT_NAMES : KEEP_NAMES;
        return o->nnames == 0 ? read_keep_names(p, o) : asm_fault(p, p->at, p->at + 1, "a second list of names");
    }
    return true;
}

static bool read_options(assembler *p, uint32_t *imm)
{
    block_options o = {0};
    if (asm_accept(p, "("))
        while (!asm_accept(p, ")"))
            if (!read_option(p, &o) ||
                (!asm_accept(p, ",") && asm_here(p) != ')' && !asm_fault(p, p->at, p->at + 1, "expected `,` or `)`")))
                break;
    if (!p->failed) *imm = builder_options(&p->f->b, &o);
    for (uint32_t i = 0; i < o.nnames; i++) value_release(p->m, o.names[i]);
    return !p->failed;
}

/* dtype and axes of one contract, after the colon */
static bool read_shape(assembler *p, axis_contract *a)
{
    static const char *const dtypes[] = {"bool", "i64", "f32", "f64"};
    for (int d = 0; d < 4; d++)
        if (asm_accept(p, dtypes[d])) {
            a->has_dtype = true;
            a->dtype = (uint8_t)d;
        }
    if (!asm_accept(p, "[")) return true;
    a->has_axes = true;
    while (!asm_accept(p, "]")) {
        if (a->rank == RANK_MAX) return asm_fault(p, p->at, p->at + 1, "more than %d axes", RANK_MAX);
        asm_blanks(p);
        uint32_t lo = p->at;
        int64_t size = -1;
        symbol y = 0;
        bool worded = asm_is_letter(asm_here(p)) || asm_here(p) == '"';
        if (worded && !asm_name(p, &y)) return false;
        if (worded && !asm_accept(p, ":")) {
            if (y) return asm_fault(p, lo, p->at, "expected a size"); /* else it was `_` */
        } else if (asm_accept(p, "@")) {
            if (!asm_count(p, UINT32_MAX, &size)) return false;
            size = -2 - size;
        } else if (!asm_accept(p, "_") && !asm_count(p, INT64_MAX, &size)) return false;
        a->axis_names[a->rank] = y;
        a->axes[a->rank++] = size;
        if (!asm_accept(p, ",") && asm_here(p) != ']') return asm_fault(p, p->at, p->at + 1, "expected `,` or `]`");
    }
    return true;
}

static bool read_contracts(assembler *p, uint32_t *imm)
{
    contract_list l = {0};
    text function;
    text_open(&function, &p->m->mem);
    uint32_t cap = 0;
    if (!asm_expect(p, "{")) goto done;
    asm_blanks(p);
    if (asm_here(p) == '"') {
        if (!asm_string(p, &function)) goto done;
        l.function = text_str(&function);
    }
    l.result = asm_accept(p, "result");
    if (!asm_expect(p, "(")) goto done;
    while (!asm_accept(p, ")")) {
        symbol *names = asm_room(p, l.names, l.nnames, &cap, sizeof *names);
        if (!names || !asm_name(p, &names[l.nnames])) goto done;
        l.names = names;
        l.nnames++;
        if (!asm_accept(p, ",") && asm_here(p) != ')' && !asm_fault(p, p->at, p->at + 1, "expected `,` or `)`")) goto done;
    }
    cap = 0;
    while (!asm_accept(p, "}")) {
        axis_contract *of = asm_room(p, l.of, l.n, &cap, sizeof *of);
        int64_t which;
        if (!of) goto done;
        l.of = of;
        axis_contract *a = &of[l.n++];
        *a = (axis_contract){.at = {p->src, p->at, p->at}};
        if (!asm_count(p, UINT32_MAX, &which) || !asm_name(p, &a->what)) goto done;
        a->source = (uint32_t)which;
        a->rest = asm_accept(p, "...");
        if (!asm_expect(p, ":") || !read_shape(p, a)) goto done;
        a->at.hi = p->at;
        if (!asm_accept(p, ",") && asm_here(p) != '}' && !asm_fault(p, p->at, p->at + 1, "expected `,` or `}`")) goto done;
    }
    *imm = builder_contracts(&p->f->b, &l);
done:
    text_close(&function);
    return !p->failed;
}

static bool read_prim(assembler *p, uint32_t *imm)
{
    word w = asm_word(p);
    for (uint32_t k = 0; k < prim_count; k++)
        if (asm_word_is(p, w, prims[k].name)) {
            *imm = k;
            return true;
        }
    return asm_fault(p, w.at, w.at + (w.n ? w.n : 1), "no primitive of that name");
}

/* What stands between the opcode and the sources; the name list of UNBIND among it. */
static bool read_imm(assembler *p, opcode op, uint32_t *imm)
{
    builder *b = &p->f->b;
    int64_t count = 0;
    value v;
    switch (op_rows[op].imm) {
    case IMM_CONST:
        if (!asm_const(p, &v)) return false;
        *imm = builder_const(b, v);
        return true;
    case IMM_PRIM: return read_prim(p, imm);
    case IMM_SYMBOL: return asm_name(p, imm);
    case IMM_CODE:
        if (!asm_expect(p, "$") || !asm_count(p, UINT32_MAX, &count)) return false;
        *imm = (uint32_t)count;
        return true;
    case IMM_COUNT:
    case IMM_FUSED:
        if (!asm_count(p, UINT32_MAX, &count)) return false;
        *imm = (uint32_t)count;
        return true;
    case IMM_OPTIONS: return read_options(p, imm);
    case IMM_CONTRACT: return read_contracts(p, imm);
    case IMM_NAMES: {
        if (op != OP_CODE_UNBIND) return true;
        symbol *names = NULL;
        uint32_t n = 0, cap = 0;
        if (!asm_expect(p, "[")) return false;
        while (!asm_accept(p, "]")) {
            names = asm_room(p, names, n, &cap, sizeof *names);
            if (!names) return false;
            if (asm_accept(p, "...")) names[n] = SPREAD_MARK;
            else if (!asm_name(p, &names[n])) return false;
            n++;
            if (!asm_accept(p, ",") && asm_here(p) != ']') return asm_fault(p, p->at, p->at + 1, "expected `,` or `]`");
        }
        *imm = builder_names(b, n, names);
        return true;
    }
    default: return true;
    }
}

/* --- instructions --------------------------------------------------------------------------- */

static bool read_block(assembler *p, block *k);

/* loop.range.exit: the opcode, and what its modifiers say. */
static bool read_op(assembler *p, word w, opcode *op, uint32_t *imm, uint8_t *flags)
{
    static const struct {
        const char *name;
        int op;
        uint32_t bit, flag;
    } modifiers[] = {{"spread", OP_CODE_CALL, CALL_SPREAD, 0},     {"pack", OP_CODE_CALL, CALL_PACK, 0},
                     {"lenient", OP_CODE_CALL, CALL_LENIENT, 0},   {"pullback", OP_CODE_CALL, CALL_PULLBACK, 0},
                     {"range", OP_CODE_LOOP, LOOP_RANGE, 0},       {"while", OP_CODE_LOOP, LOOP_WHILE, 0},
                     {"tape", OP_CODE_LOOP, LOOP_TAPE, 0},         {"exit", OP_CODE_LOOP, LOOP_EXIT, 0},
                     {"fwd", OP_CODE_DERIVE, DERIVE_FWD, 0},       {"jvp", OP_CODE_DERIVE, DERIVE_JVP, 0},
                     {"pieces", OP_CODE_DERIVE, DERIVE_PIECES, 0}, {"whole", OP_CODE_DERIVE, DERIVE_WHOLE, 0},
                     {"exact", OP_CODE_DERIVE, DERIVE_EXACT, 0},   {"step", -1, 0, INSTR_STEP},
                     {"residual", -1, 0, INSTR_RESIDUAL},          {"rule", -1, 0, INSTR_RULE}};
    uint32_t end = w.at + w.n, lo = w.at, n = 0;
    while (lo + n < end && p->s[lo + n] != '.') n++;
    int found = -1;
    for (int k = 0; k < OPCODES; k++)
        if (asm_word_is(p, (word){lo, n}, op_rows[k].name)) found = k;
    if (found < 0) return asm_fault(p, lo, lo + (n ? n : 1), "expected an opcode");
    *op = (opcode)found;
    for (lo += n; lo < end; lo += n) {
        lo++;
        for (n = 0; lo + n < end && p->s[lo + n] != '.';) n++;
        size_t k = 0, all = sizeof modifiers / sizeof *modifiers;
        while (k < all && !(asm_word_is(p, (word){lo, n}, modifiers[k].name) && (modifiers[k].op < 0 || modifiers[k].op == found))) k++;
        if (k == all) return asm_fault(p, lo, lo + n, "%s has no such modifier", op_rows[found].name);
        *imm |= modifiers[k].bit;
        *flags |= (uint8_t)modifiers[k].flag;
    }
    return true;
}

static bool at_end_of_sources(assembler *p)
{
    asm_blanks(p);
    char c = asm_here(p);
    return c == 0 || c == '\n' || c == ';' || c == '{' || c == '}';
}

static bool read_sources(assembler *p, opcode op, uint32_t imm, operands *o)
{
    bool tapes = op == OP_CODE_CHECKPOINT || (op == OP_CODE_LOOP && (imm & LOOP_KIND) == LOOP_TAPE);
    if (at_end_of_sources(p)) return true;
    do {
        operand *of = asm_room(p, o->of, o->n, &o->cap, sizeof *of);
        if (!of) return false;
        o->of = of;
        operand *x = &of[o->n++];
        *x = (operand){0};
        if (op == OP_CODE_RECORD || op == OP_CODE_BIND) {
            /* `name: register`, or for BIND a register alone */
            asm_blanks(p);
            uint32_t lo = p->at;
            bool is_name = asm_here(p) == '"' || asm_is_letter(asm_here(p));
            if (is_name && !asm_name(p, &x->name)) return false;
            if (!is_name || !asm_accept(p, ":")) {
                p->at = lo;
                x->name = 0;
            }
        }
        if (!asm_use(p, &x->r, &x->at)) return false;
        if ((op == OP_CODE_SPREAD || op == OP_CODE_BIND || op == OP_CODE_PRIM) && asm_accept(p, "...")) x->name = SPREAD_MARK;
        int64_t width;
        if (tapes && asm_accept(p, ":")) {
            if (!asm_count(p, UINT16_MAX, &width)) return false;
            x->width = (uint32_t)width + 1;
        }
    } while (asm_accept(p, ","));
    return true;
}

/* The names that stood among the sources. */
static bool sources_imm(assembler *p, opcode op, const operands *o, uint32_t *imm)
{
    if (op == OP_CODE_PRIM) {
        for (uint32_t k = 0; k + 1 < o->n; k++)
            if (o->of[k].name) return asm_fault(p, o->of[k].at.lo, o->of[k].at.hi, "only the last source is spread");
        if (o->n && o->of[o->n - 1].name) *imm |= PRIM_SPREAD;
    }
    if (op_rows[op].imm != IMM_NAMES || op == OP_CODE_UNBIND) return true;
    symbol *names = arena_alloc(&p->scratch, o->n * sizeof *names);
    if (!names) return asm_refused(p);
    for (uint32_t k = 0; k < o->n; k++) names[k] = o->of[k].name;
    *imm = builder_names(&p->f->b, o->n, names);
    return true;
}

static bool read_blocks(assembler *p, opcode op, block **blocks)
{
    builder *b = &p->f->b;
    for (int q = 0; q < op_rows[op].blocks || (op == OP_CODE_CHECKPOINT && q == 1); q++) {
        if (q && op == OP_CODE_CHECKPOINT) {
            if (!asm_accept(p, "means")) break;
        } else if (q && !asm_expect(p, "else")) return false;
        blocks[q] = builder_block(b, 0);
        if (op == OP_CODE_LOOP) {
            if (!asm_expect(p, "do") || !asm_expect(p, "(")) return false;
            while (!asm_accept(p, ")")) {
                if (!asm_param(p, blocks[q])) return false;
                if (!asm_accept(p, ",") && asm_here(p) != ')') return asm_fault(p, p->at, p->at + 1, "expected `,` or `)`");
            }
        }
        if (!asm_expect(p, "{") || !read_block(p, blocks[q])) return false;
    }
    return true;
}

static bool emit(assembler *p, opcode op, uint32_t imm, const words *results, const operands *o, span at, uint8_t flags,
                 block *const *blocks)
{
    builder *b = &p->f->b;
    reg *src = arena_alloc(&p->scratch, o->n * sizeof *src);
    span *src_at = arena_alloc(&p->scratch, o->n * sizeof *src_at);
    if (!src || !src_at) return asm_refused(p);
    uint32_t ntapes = 0;
    for (uint32_t k = 0; k < o->n; k++) {
        src[k] = o->of[k].r;
        src_at[k] = o->of[k].at;
        if (o->of[k].width && ntapes == k) ntapes++;
        else if (o->of[k].width) return asm_fault(p, src_at[k].lo, src_at[k].hi, "tapes stand before the carried values");
    }
    b->where = at;
    b->point = at.lo;
    b->src_at = o->n ? src_at : NULL;
    b->flags = flags;
    instr *i = builder_add_blocks(b, op, imm, results->n, o->n, src, blocks[1] ? 2 : (uint32_t)op_rows[op].blocks, blocks);
    if (!i || b->failed) return p->failed = true, false;
    if (op == OP_CODE_RETURN) b->c->nresults = o->n;
    i->ntapes = ntapes;
    if (ntapes) i->widths = builder_take(b, ntapes * sizeof *i->widths);
    for (uint32_t k = 0; k < ntapes && i->widths; k++) i->widths[k] = (uint16_t)(o->of[k].width - 1);
    for (uint32_t k = 0; k < results->n; k++)
        if (!asm_define(p, results->of[k], i->dst[k])) return false;
    return !b->failed || (p->failed = true, false);
}

static bool read_instr(assembler *p)
{
    words results = {0};
    operands o = {0};
    uint8_t flags = asm_accept(p, "~") ? INSTR_ADJOINT : 0;
    word w = asm_word(p);
    asm_blanks(p);
    if (asm_here(p) == ',' || asm_here(p) == '=') {
        for (;;) {
            word *of = asm_room(p, results.of, results.n, &results.cap, sizeof *of);
            if (!of) return false;
            results.of = of;
            of[results.n++] = w;
            if (w.n == 0) return asm_fault(p, w.at, w.at + 1, "expected a register");
            if (results.n > UINT16_MAX) return asm_fault(p, w.at, w.at + w.n, "too many results");
            if (!asm_accept(p, ",")) break;
            w = asm_word(p);
        }
        if (!asm_expect(p, "=")) return false;
        w = asm_word(p);
    }
    opcode op = OP_CODE_CONST;
    uint32_t imm = 0;
    block *blocks[2] = {NULL, NULL};
    block *outer = p->f->b.at;
    if (!read_op(p, w, &op, &imm, &flags) || !read_imm(p, op, &imm) || !read_sources(p, op, imm, &o)) return false;
    span at = {p->src, w.at, p->at};
    if (!sources_imm(p, op, &o, &imm) || !read_blocks(p, op, blocks)) return false;
    p->f->b.at = outer;
    asm_blanks(p);
    if (!at_end_of_sources(p)) return asm_fault(p, p->at, p->at + 1, "expected the end of the line");
    return emit(p, op, imm, &results, &o, at, flags, blocks);
}

/* Up to and with the closing brace. */
static bool read_block(assembler *p, block *k)
{
    if (++p->depth > ASM_NEST_MAX) return asm_fault(p, p->at - 1, p->at, "nested too deep");
    asm_lines(p);
    while (!asm_accept(p, "}")) {
        if (p->at >= p->n) return asm_fault(p, p->at, p->at, "the block is not closed");
        p->f->b.at = k;
        if (!read_instr(p)) return false;
        asm_lines(p);
    }
    p->depth--;
    return true;
}

/* --- functions ------------------------------------------------------------------------------ */

static code *read_function(assembler *p);

static bool read_parameters(assembler *p)
{
    code *c = p->f->b.c;
    symbol *names = NULL;
    uint32_t cap = 0;
    while (!asm_accept(p, ")")) {
        names = asm_room(p, names, c->nparams, &cap, sizeof *names);
        if (!names) return false;
        if (c->rest) return asm_fault(p, p->at, p->at + 1, "a parameter after the rest");
        asm_blanks(p);
        uint32_t lo = p->at;
        bool is_name = asm_here(p) == '"' || asm_is_letter(asm_here(p)), own = false;
        names[c->nparams] = 0;
        if (is_name && !asm_name(p, &names[c->nparams])) return false;
        if (is_name && asm_accept(p, "=")) own = true;
        else p->at = lo;
        if (!asm_param(p, c->body)) return false;
        if (!own) names[c->nparams] = c->reg_names[c->body->params[c->body->nparams - 1]];
        c->nparams++;
        if (asm_accept(p, "...")) c->rest = true;
        if (!asm_accept(p, "?")) c->required = c->nparams;
        if (!asm_accept(p, ",") && asm_here(p) != ')') return asm_fault(p, p->at, p->at + 1, "expected `,` or `)`");
    }
    c->param_names = builder_take(&p->f->b, c->nparams * sizeof *names);
    if (c->nparams && c->param_names) memcpy(c->param_names, names, c->nparams * sizeof *names);
    return true;
}

static bool read_body(assembler *p)
{
    code *c = p->f->b.c;
    if (asm_accept(p, "["))
        while (!asm_accept(p, "]")) {
            if (!asm_param(p, c->body)) return false;
            c->ncaptures++;
            if (!asm_accept(p, ",") && asm_here(p) != ']') return asm_fault(p, p->at, p->at + 1, "expected `,` or `]`");
        }
    if (!asm_expect(p, "(") || !read_parameters(p)) return false;
    if (asm_accept(p, "custom_vjp")) c->special = SPECIAL_CUSTOM_VJP;
    if (!asm_expect(p, "{")) return false;
    asm_lines(p);
    while (asm_accept(p, "$")) {
        int64_t k;
        uint32_t lo = p->at;
        if (!asm_count(p, UINT32_MAX, &k)) return false;
        if (k != c->ncodes) return asm_fault(p, lo, p->at, "the next function is $%u", c->ncodes);
        if (!asm_expect(p, "=")) return false;
        code *child = read_function(p);
        if (!child) return false;
        builder_code(&p->f->b, child);
        asm_lines(p);
    }
    return read_block(p, c->body);
}

static code *read_function(assembler *p)
{
    scope f = {0}, *outer = p->f;
    symbol name = 0;
    asm_blanks(p);
    uint32_t lo = p->at;
    if (!asm_expect(p, "fn")) return NULL;
    asm_blanks(p);
    if (asm_here(p) != '(' && asm_here(p) != '[' && !asm_name(p, &name)) return NULL;
    if (++p->depth > ASM_NEST_MAX) {
        asm_fault(p, lo, p->at, "nested too deep");
        return NULL;
    }
    if (!builder_open(&f.b, p->m, name, p->src, 0, 0) && !f.b.c) return NULL;
    f.b.c->at = (span){p->src, lo, p->at};
    p->f = &f;
    if (!read_body(p)) f.b.failed = true;
    f.b.c->at.hi = p->at;
    p->f = outer;
    p->depth--;
    code *c = builder_finish(&f.b);
    if (!c) p->failed = true;
    return c;
}

code *code_assemble(vm *m, const char *name, const char *s, size_t n)
{
    if (n >= UINT32_MAX / 2) {
        vm_fail(m, DIAG_SYNTAX, "the text is too long");
        return NULL;
    }
    assembler p = {.m = m, .n = (uint32_t)n};
    p.src = source_new(&m->mem, name, s, n);
    if (!p.src) {
        vm_out_of_memory(m);
        return NULL;
    }
    p.s = p.src->text;
    arena_open(&p.scratch, &m->mem, MEM_OTHER);
    asm_lines(&p);
    code *c = read_function(&p);
    asm_lines(&p);
    if (c && p.at < p.n) {
        asm_fault(&p, p.at, p.at + 1, "expected the end of the text");
        code_release(c);
        c = NULL;
    }
    arena_close(&p.scratch);
    source_release(p.src);
    return c;
}
