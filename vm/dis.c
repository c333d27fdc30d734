/* dis.c: Code as text that people and asm.c read.
 *
 * One instruction a line: results, `=`, the opcode with its modifiers after dots, its immediate, its
 * sources, its blocks. A register goes by the user's name where it has one, `h`, then `h.2` for
 * the second value of that name, else by `%` and a number; both count in the order of the text, so
 * that a text read back and written again is the same text. asm.c describes the whole form. */
#include "code.h"
#include "number.h"
#include "vm.h"
#include <math.h>
#include <string.h>

typedef struct version {
    symbol name;
    uint32_t count;
} version;

typedef struct printer {
    const code *c;
    vm *m;
    text *out;
    dis_options o;
    uint32_t *labels;   /* by register: 1 + number or version; 0: not yet defined */
    version *versions;  /* hash by name */
    uint32_t nversions; /* a power of two */
    uint32_t unnamed;
    uint32_t depth; /* functions around this one */
    uint32_t line;  /* source line last shown */
} printer;

enum { FUNCTIONS_DEEP = 200 };

static bool is_plain(const char *s)
{
    if (!*s || (*s >= '0' && *s <= '9')) return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '_' || (*s & 0x80))) return false;
    return true;
}

static void put_string(text *out, const char *s, size_t n)
{
    text_putc(out, '"');
    for (size_t i = 0; i < n; i++) {
        unsigned char ch = (unsigned char)s[i];
        if (ch == '\n') text_puts(out, "\\n");
        else if (ch == '\t') text_puts(out, "\\t");
        else if (ch == '"' || ch == '\\') text_printf(out, "\\%c", ch);
        else if (ch < 32 || ch == 127) text_printf(out, "\\x%02x", ch);
        else text_putc(out, (char)ch);
    }
    text_putc(out, '"');
}

/* A name that may be any text; `_` alone means none. */
static void put_symbol(printer *p, symbol y)
{
    const char *s = symbol_name(p->m->symbols, y);
    if (y == 0) text_putc(p->out, '_');
    else if (is_plain(s) && strcmp(s, "_") != 0) text_puts(p->out, s);
    else put_string(p->out, s, strlen(s));
}

/* --- constants ------------------------------------------------------------------------------ */

/* A weak whole number is bare digits, a weak float has a point or an exponent, others end in their dtype. */
static void put_number(text *out, value v)
{
    char s[NUMBER_MOST];
    switch (v.tag) {
    case V_BOOL: text_puts(out, v.u.i ? "true" : "false"); return;
    case V_I64: text_printf(out, "%lldi64", (long long)v.u.i); return;
    case V_F32:
        number_format_f32((float)v.u.f, s);
        text_printf(out, "%sf32", s);
        return;
    }
    number_format(v.u.f, s);
    if (v.weak == STRONG) text_printf(out, "%sf64", s);
    else if (!isfinite(v.u.f)) text_printf(out, "%s%s", s, v.weak == WEAK_WHOLE ? "w" : "");
    else if (v.weak == WEAK_WHOLE) text_printf(out, "%.0f%s", v.u.f, v.u.f == floor(v.u.f) ? "" : "w");
    else text_printf(out, "%s%s", s, strpbrk(s, ".e") ? "" : ".0");
}

static void put_const(printer *p, value v, uint32_t depth)
{
    text *out = p->out;
    if (depth > FUNCTIONS_DEEP) {
        text_puts(out, "<deep>");
        return;
    }
    switch ((value_tag)v.tag) {
    case V_UNDEF: text_puts(out, "undef"); break;
    case V_NONE: text_puts(out, "none"); break;
    case V_ZERO: text_puts(out, "zero"); break;
    case V_BOOL:
    case V_I64:
    case V_F32:
    case V_F64: put_number(out, v); break;
    case V_STRING: put_string(out, as_string(v)->s, as_string(v)->length); break;
    case V_ELLIPSIS: text_puts(out, "..."); break;
    case V_TUPLE: {
        const tuple *t = as_tuple(v);
        text_putc(out, '(');
        for (uint32_t i = 0; i < t->n; i++) {
            if (i) text_puts(out, ", ");
            put_const(p, t->v[i], depth + 1);
        }
        text_puts(out, t->n == 1 ? ",)" : ")");
        break;
    }
    case V_RECORD: {
        const record *r = as_record(v);
        text_putc(out, '{');
        for (uint32_t i = 0; i < r->n; i++) {
            if (i) text_puts(out, ", ");
            put_symbol(p, r->names[i]);
            text_puts(out, ": ");
            put_const(p, r->v[i], depth + 1);
        }
        text_putc(out, '}');
        break;
    }
    case V_SLICE: {
        const slice *s = as_slice(v);
        const value of[] = {s->start, s->stop, s->step};
        text_puts(out, "slice(");
        for (int i = 0; i < 3; i++) {
            if (i) text_puts(out, ", ");
            put_const(p, of[i], depth + 1);
        }
        text_putc(out, ')');
        break;
    }
    default: text_printf(out, "<%s>", value_type_name(v)); break; /* not read back */
    }
}

/* --- registers ------------------------------------------------------------------------------ */

static void put_reg(printer *p, reg r)
{
    if (r >= p->c->nregs) {
        text_printf(p->out, "%%?%u", r);
        return;
    }
    symbol y = p->c->reg_names[r];
    const char *s = symbol_name(p->m->symbols, y);
    uint32_t label = p->labels[r];
    if (label == 0) text_printf(p->out, "%%?%u", r); /* Code that does not verify */
    else if (!is_plain(s)) text_printf(p->out, "%%%u", label - 1);
    else if (label == 1) text_puts(p->out, s);
    else text_printf(p->out, "%s.%u", s, label);
}

static void define(printer *p, reg r)
{
    if (r >= p->c->nregs) return;
    symbol y = p->c->reg_names[r];
    if (!is_plain(symbol_name(p->m->symbols, y))) {
        p->labels[r] = ++p->unnamed;
        return;
    }
    uint32_t i = y * 2654435761u & (p->nversions - 1);
    while (p->versions[i].name && p->versions[i].name != y) i = (i + 1) & (p->nversions - 1);
    p->versions[i].name = y;
    p->labels[r] = ++p->versions[i].count;
}

static void put_regs(printer *p, const reg *r, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        if (k) text_puts(p->out, ", ");
        put_reg(p, r[k]);
    }
}

static void define_and_put(printer *p, const reg *r, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) define(p, r[k]);
    put_regs(p, r, n);
}

/* --- immediates ----------------------------------------------------------------------------- */

static void put_options(printer *p, const block_options *o)
{
    static const char *const policy[] = {"", "everything", "dots", "dots_no_batch", "", "not "};
    const char *between = " (";
    text *out = p->out;
    if (o->policy != KEEP_NOTHING) {
        text_printf(out, "%ssave = %s", between, policy[o->policy]);
        if (o->policy >= KEEP_NAMES) {
            text_putc(out, '[');
            for (uint32_t i = 0; i < o->nnames; i++) {
                if (i) text_puts(out, ", ");
                put_const(p, o->names[i], 0);
            }
            text_putc(out, ']');
        }
        between = ", ";
    }
    if (o->slots) text_printf(out, "%sslots = %lld", between, (long long)o->slots), between = ", ";
    if (o->budget) text_printf(out, "%sbudget = %lld", between, (long long)o->budget), between = ", ";
    if (o->spill) text_printf(out, "%sspill", between), between = ", ";
    if (*between == ',') text_putc(out, ')');
}

static void put_contracts(printer *p, const contract_list *l)
{
    text *out = p->out;
    text_puts(out, " {");
    if (l->function) put_string(out, l->function, strlen(l->function));
    if (l->result) text_puts(out, " result");
    text_puts(out, "(");
    for (uint32_t i = 0; i < l->nnames; i++) {
        if (i) text_puts(out, ", ");
        put_symbol(p, l->names[i]);
    }
    text_puts(out, ")");
    for (uint32_t i = 0; i < l->n; i++) {
        const axis_contract *a = &l->of[i];
        text_printf(out, "%s%u ", i ? ", " : " ", a->source);
        put_symbol(p, a->what);
        text_puts(out, a->rest ? "..." : "");
        text_puts(out, ":");
        if (a->has_dtype) text_printf(out, " %s", dtype_name((dtype)a->dtype));
        if (!a->has_axes) continue;
        text_puts(out, " [");
        for (int k = 0; k < a->rank; k++) {
            if (k) text_puts(out, ", ");
            if (a->axis_names[k]) {
                put_symbol(p, a->axis_names[k]);
                text_puts(out, ": ");
            }
            int64_t axis = a->axes[k];
            if (axis >= 0) text_printf(out, "%lld", (long long)axis);
            else if (axis == -1) text_putc(out, '_');
            else text_printf(out, "@%lld", (long long)(-2 - axis));
        }
        text_putc(out, ']');
    }
    text_putc(out, '}');
}

static void put_name_list(printer *p, const name_list *l)
{
    text_puts(p->out, " [");
    for (uint32_t i = 0; i < l->n; i++) {
        if (i) text_puts(p->out, ", ");
        if (l->names[i] == SPREAD_MARK) text_puts(p->out, "...");
        else put_symbol(p, l->names[i]);
    }
    text_putc(p->out, ']');
}

/* The opcode with its modifiers, and the immediate where it is not among the sources. */
static void put_op(printer *p, const instr *i)
{
    static const char *const calls[] = {"spread", "pack", "lenient", "pullback"};
    static const char *const loops[] = {"range", "while", "tape", "?"};
    const code *c = p->c;
    text *out = p->out;
    const op_row *row = &op_rows[i->op];
    text_puts(out, row->name);
    if (row->imm == IMM_CALL)
        for (int k = 0; k < 4; k++)
            if (i->imm >> k & 1) text_printf(out, ".%s", calls[k]);
    if (row->imm == IMM_LOOP) text_printf(out, ".%s%s", loops[i->imm & LOOP_KIND], i->imm & LOOP_EXIT ? ".exit" : "");
    if (i->lazy && i->op == OP_CODE_LOOP) text_printf(out, ".lazy");
    if (row->imm == IMM_DERIVE) {
        static const char *const kinds[] = {".fwd", ".jvp", ".pieces", ".whole", ".exact"};
        text_puts(out, kinds[i->imm < DERIVE_KINDS ? i->imm : 0]);
    }
    if (i->flags & INSTR_STEP) text_puts(out, ".step");
    if (i->flags & INSTR_RESIDUAL) text_puts(out, ".residual");
    if (i->flags & INSTR_RULE) text_puts(out, ".rule");
    switch (row->imm) {
    case IMM_CONST:
        text_putc(out, ' ');
        if (i->imm < c->nconsts) put_const(p, c->consts[i->imm], 0);
        break;
    case IMM_PRIM: text_printf(out, " %s", (i->imm & ~PRIM_SPREAD) < prim_count ? prims[i->imm & ~PRIM_SPREAD].name : "?"); break;
    case IMM_SYMBOL:
        text_putc(out, ' ');
        put_symbol(p, i->imm);
        break;
    case IMM_CODE: text_printf(out, " $%u", i->imm); break;
    case IMM_NAMES:
        if (i->op == OP_CODE_UNBIND && i->imm < c->nnames) put_name_list(p, &c->names[i->imm]);
        break;
    case IMM_CONTRACT:
        if (i->imm < c->ncontracts) put_contracts(p, &c->contracts[i->imm]);
        break;
    case IMM_OPTIONS:
        if (i->imm < c->noptions) put_options(p, &c->options[i->imm]);
        break;
    case IMM_COUNT:
    case IMM_FUSED: text_printf(out, " %u", i->imm); break;
    default: break;
    }
}

static void put_sources(printer *p, const instr *i)
{
    const code *c = p->c;
    const name_list *l = NULL;
    if (op_rows[i->op].imm == IMM_NAMES && i->op != OP_CODE_UNBIND && i->imm < c->nnames) l = &c->names[i->imm];
    for (uint32_t k = 0; k < i->nsrc; k++) {
        text_puts(p->out, k ? ", " : " ");
        symbol y = l && k < l->n ? l->names[k] : 0;
        bool spread = y == SPREAD_MARK || (i->op == OP_CODE_PRIM && i->imm & PRIM_SPREAD && k + 1 == i->nsrc);
        if (y && !spread) {
            put_symbol(p, y);
            text_puts(p->out, ": ");
        }
        put_reg(p, i->src[k]);
        if (spread) text_puts(p->out, "...");
        if (k < i->ntapes) text_printf(p->out, ":%u", i->widths[k]);
    }
}

/* --- blocks --------------------------------------------------------------------------------- */

static void indent(printer *p, uint32_t n)
{
    if (n > 40) n = 40; /* deeper, the margin says nothing more */
    while (n--) text_puts(p->out, "  ");
}

/* Above the first instruction made of a source line, that line. */
static void put_line(printer *p, const instr *i, uint32_t level)
{
    uint32_t line, column;
    span_where(i->at, &line, &column);
    if (line == 0 || line == p->line) return;
    p->line = line;
    const source *s = i->at.src;
    uint32_t lo = s->lines[line - 1], hi = lo;
    while (hi < s->length && s->text[hi] != '\n') hi++;
    while (lo < hi && (s->text[lo] == ' ' || s->text[lo] == '\t')) lo++;
    indent(p, level);
    text_printf(p->out, "# %u| ", line);
    text_add(p->out, s->text + lo, hi - lo);
    text_putc(p->out, '\n');
}

static void put_block(printer *p, const block *k, uint32_t level);

/* Without the margin and the end of the line. */
static void put_instr(printer *p, const instr *i, uint32_t level)
{
    text *out = p->out;
    if (p->o.marks && i->flags & INSTR_ADJOINT) text_puts(out, "~ ");
    if (i->ndst) {
        define_and_put(p, i->dst, i->ndst);
        text_puts(out, " = ");
    }
    put_op(p, i);
    put_sources(p, i);
    for (uint32_t q = 0; q < i->nblocks; q++) {
        const block *k = i->blocks[q];
        if (q) text_puts(out, i->op == OP_CODE_CHECKPOINT ? " means" : " else");
        if (i->op == OP_CODE_LOOP) {
            text_puts(out, " do (");
            define_and_put(p, k->params, k->nparams);
            text_puts(out, ")");
        }
        put_block(p, k, level);
    }
    if (p->o.spans && !i->nblocks) {
        uint32_t line, column;
        span_where((span){i->at.src, i->point, i->point}, &line, &column);
        if (line) text_printf(out, "  @%u:%u", line, column);
    }
}

static void put_block(printer *p, const block *k, uint32_t level)
{
    text *out = p->out;
    if (k->n == 1 && !k->list[0]->nblocks && !p->o.lines) {
        text_puts(out, " { ");
        put_instr(p, k->list[0], level);
        text_puts(out, " }");
        return;
    }
    text_puts(out, " {\n");
    for (uint32_t j = 0; j < k->n; j++) {
        if (p->o.lines) put_line(p, k->list[j], level + 1);
        indent(p, level + 1);
        put_instr(p, k->list[j], level + 1);
        text_putc(out, '\n');
    }
    indent(p, level);
    text_putc(out, '}');
}

/* --- functions ------------------------------------------------------------------------------ */

static void put_code(const code *c, dis_options o, text *out, uint32_t depth);

static void put_header(printer *p)
{
    const code *c = p->c;
    const block *k = c->body;
    text *out = p->out;
    text_puts(out, "fn ");
    if (c->name) put_symbol(p, c->name);
    if (c->ncaptures) {
        text_putc(out, '[');
        define_and_put(p, k->params, c->ncaptures);
        text_putc(out, ']');
    }
    text_putc(out, '(');
    for (uint32_t i = 0; i < c->nparams; i++) {
        reg r = k->params[c->ncaptures + i];
        if (i) text_puts(out, ", ");
        symbol y = c->param_names[i];
        if (y != c->reg_names[r] || (y && !is_plain(symbol_name(p->m->symbols, y)))) {
            put_symbol(p, y);
            text_putc(out, '=');
        }
        define_and_put(p, &r, 1);
        if (c->rest && i + 1 == c->nparams) text_puts(out, "...");
        if (i >= c->required) text_putc(out, '?');
    }
    text_putc(out, ')');
    if (c->special == SPECIAL_CUSTOM_VJP) text_puts(out, " custom_vjp");
}

static void put_function(printer *p)
{
    const code *c = p->c;
    text *out = p->out;
    put_header(p);
    text_puts(out, " {");
    if (c->role != CODE_PLAIN) {
        static const char *const roles[] = {"", "forward", "adjoint", "tangent", "region"};
        text_printf(out, "  # %s program of %s", roles[c->role], c->primal ? code_display_name(c->primal->root) : "?");
    }
    text_putc(out, '\n');
    for (uint32_t i = 0; i < c->ncodes; i++) {
        if (!p->o.children) {
            indent(p, p->depth + 1);
            text_printf(out, "# $%u: %s\n", i, code_display_name(c->codes[i]));
            continue;
        }
        indent(p, p->depth + 1);
        text_printf(out, "$%u = ", i);
        put_code(c->codes[i], p->o, out, p->depth + 1);
    }
    for (uint32_t j = 0; j < c->body->n; j++) {
        const instr *i = c->body->list[j];
        if (p->o.lines) put_line(p, i, p->depth + 1);
        indent(p, p->depth + 1);
        put_instr(p, i, p->depth + 1);
        text_putc(out, '\n');
    }
    indent(p, p->depth);
    text_puts(out, "}\n");
}

static void put_code(const code *c, dis_options o, text *out, uint32_t depth)
{
    if (depth > FUNCTIONS_DEEP) {
        text_puts(out, "...\n");
        return;
    }
    printer p = {.c = c, .m = c->vm, .out = out, .o = o, .depth = depth, .nversions = 16};
    while (p.nversions < 2 * c->nregs) p.nversions *= 2;
    arena a;
    arena_open(&a, &c->vm->mem, MEM_OTHER);
    p.labels = arena_alloc(&a, c->nregs * sizeof *p.labels);
    p.versions = arena_alloc(&a, p.nversions * sizeof *p.versions);
    if (p.labels && p.versions) put_function(&p);
    else out->failed = true;
    arena_close(&a);
}

void code_list(const code *c, dis_options o, text *out) { put_code(c, o, out, 0); }

void code_disassemble(const code *c, text *out) { code_list(c, (dis_options){.marks = true, .children = true}, out); }
