/* adjoint_text.c: registers and instructions as expressions of the language (see adjoint_text.h).
 *
 * The cotangent of h is h_adj, that of an expression e is adj(e). An accumulation reads as `+=`. A
 * cotangent that broadcasting may have grown is `fit(g)`: summed and cast to the form of what it belongs to; where
 * the operation has one operand, or the others are plain numbers, there is nothing to fit and `g` is shown. */
#include "adjoint_text.h"
#include "../vm/print.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATOM = 9, POSTFIX = 8, POWER = 7, UNARY = 6, PRODUCT = 5, SUM = 4, RANGE = 3, COMPARE = 2, LOOSE = 0, TEXT_MOST = 48 };
static const char adj[] = "_adj";

static bool is_prim(const instr *i, const char *name)
{
    return i && i->op == OP_CODE_PRIM && !strcmp(prims[i->imm & ~PRIM_SPREAD].name, name);
}
static bool is_form(const instr *i) { return is_prim(i, "__form") || is_prim(i, "__form_shallow"); }

/* --- names for every value of the primal ------------------------------------------------------- */

typedef struct naming {
    vm *m;
    code *f;
    uint32_t *line;
    bool failed;
} naming;

static void note_block(naming *n, const block *b, uint32_t line);

static uint32_t line_at(const code *f, span at, uint32_t where)
{
    uint32_t line = 0, column;
    if (at.src && at.src == f->src) span_where((span){at.src, where, where}, &line, &column);
    return line;
}

static void name_instr(naming *n, const instr *i)
{
    code *f = n->f;
    const char *s = i->at.src ? i->at.src->text + i->at.lo : NULL;
    size_t length = i->at.hi - i->at.lo;
    bool written = i->at.src == f->src && length && length <= TEXT_MOST && !memchr(s, '\n', length) &&
                   (i->op == OP_CODE_PRIM || i->op == OP_CODE_CALL || i->op == OP_CODE_FIELD) && i->ndst == 1;
    for (uint32_t k = 0; k < i->ndst; k++) {
        reg r = i->dst[k];
        n->line[r] = line_at(f, i->at, i->nblocks ? i->at.hi - 1 : i->at.lo);
        if (i->op == OP_CODE_TUPLE && length > 2 && length <= TEXT_MOST && i->at.src == f->src && s[0] == '[' &&
            !f->reg_names[r]) { /* the key of an index */
            f->reg_names[r] = symbol_of(n->m->symbols, s + 1, length - 2);
            n->line[r] = 0;
        }
        if (f->reg_names[r] || !written) continue;
        f->reg_names[r] = symbol_of(n->m->symbols, s, length);
        n->line[r] = 0;
    }
    for (uint32_t k = 0; k < i->nblocks; k++) note_block(n, i->blocks[k], line_at(f, i->at, i->at.lo));
}

static void note_block(naming *n, const block *b, uint32_t line)
{
    for (uint32_t k = 0; k < b->nparams; k++) n->line[b->params[k]] = line;
    for (uint32_t k = 0; k < b->n; k++) name_instr(n, b->list[k]);
}

/* x, then the line in small figures. */
static symbol with_line(vm *m, const char *name, uint32_t line)
{
    char s[256], figures[16];
    int k = snprintf(s, sizeof s, "%s", name);
    snprintf(figures, sizeof figures, "%u", line);
    for (const char *d = figures; *d && k > 0 && k < 240; d++) k += snprintf(s + k, sizeof s - (size_t)k, "\xe2\x82%c", 0x80 + (*d - '0'));
    return k > 0 ? symbol_of(m->symbols, s, (size_t)k) : 0;
}

bool adjoint_names(vm *m, code *f)
{
    arena a;
    arena_open(&a, &m->mem, MEM_OTHER);
    naming n = {.m = m, .f = f, .line = arena_alloc(&a, (f->nregs + 1) * sizeof *n.line)};
    symbol most = 0;
    for (reg r = 0; r < f->nregs; r++)
        if (f->reg_names[r] > most) most = f->reg_names[r];
    uint32_t *count = arena_alloc(&a, ((size_t)most + 1) * sizeof *count); /* by name */
    if (n.line && count) {
        note_block(&n, f->body, line_at(f, f->at, f->at.lo));
        for (reg r = 0; r < f->nregs; r++)
            if (n.line[r]) count[f->reg_names[r]]++;
        for (reg r = 0; r < f->nregs; r++)
            if (n.line[r] && f->reg_names[r] && count[f->reg_names[r]] > 1) n.line[r] |= UINT32_C(1) << 31;
        for (reg r = 0; r < f->nregs; r++)
            if (n.line[r] >> 31) f->reg_names[r] = with_line(m, symbol_name(m->symbols, f->reg_names[r]), n.line[r] << 1 >> 1);
    }
    bool fine = n.line && count;
    arena_close(&a);
    return fine || vm_out_of_memory(m);
}

/* A register without a name takes that of another, of its own Code or of `from`. */
static void take_name(const code *c, reg r, const code *from, reg q)
{
    if (!c->reg_names[r]) c->reg_names[r] = from->reg_names[q];
}

/* A value that a branch hands on is one thing in one arm and another in the other: it goes by both names,
   `place:first|second` behind a byte 1, and the arm that it is used in decides. */
static void take_arm_name(vm *m, const code *c, const instr *branch, reg r, reg from, uint32_t arm)
{
    const char *was = symbol_name(m->symbols, c->reg_names[r]), *name = symbol_name(m->symbols, c->reg_names[from]);
    if (*name == 1 || (*was && *was != 1) || (!*was && !*name)) return;
    text t;
    text_open(&t, &m->mem);
    if (!*was) text_printf(&t, arm ? "\1%u:|%s" : "\1%u:%s|", branch->at.lo, name);
    else text_printf(&t, "%s%s", was, arm ? name : "");
    if (!t.failed) c->reg_names[r] = symbol_of(m->symbols, text_str(&t), t.n);
    text_close(&t);
}

/* The one of the two names that holds where it is used; both, `a or b`, where none is known to. */
static const char *name_in_arm(const speller *s, const char *name, size_t *n, const char **other, size_t *nother)
{
    unsigned long place = strtoul(name + 1, NULL, 10);
    const char *first = strchr(name, ':') + 1, *bar = strchr(first, '|'), *second = bar + 1;
    size_t n1 = (size_t)(bar - first), n2 = strlen(second);
    int arm = -1;
    for (uint32_t k = 0; k < s->narms; k++)
        if (s->arms[k].place == place) arm = (int)s->arms[k].arm;
    if (arm < 0) arm = !n1 || (n1 == n2 && !memcmp(first, second, n1)) ? 1 : !n2 ? 0 : -1;
    *other = arm < 0 ? second : "";
    *nother = arm < 0 ? n2 : 0;
    *n = arm == 1 ? n2 : n1;
    return arm == 1 ? second : first;
}

static void name_results(vm *m, const code *c, const block *b)
{
    for (uint32_t n = 0; n < b->n; n++) {
        const instr *i = b->list[n];
        if (is_form(i)) take_name(c, i->dst[0], c, i->src[0]);
        for (uint32_t k = 0; k < i->nblocks; k++) name_results(m, c, i->blocks[k]);
        if (i->op == OP_CODE_IF)
            for (uint32_t k = 0; k < 2; k++) {
                const instr *y = i->blocks[k]->list[i->blocks[k]->n - 1];
                for (uint32_t j = 0; j < i->ndst && j < y->nsrc; j++) take_arm_name(m, c, i, i->dst[j], y->src[j], k);
            }
        if (i->op == OP_CODE_LOOP && i->blocks[0]->nparams >= i->ndst)
            for (uint32_t j = 0; j < i->ndst; j++) take_name(c, i->dst[j], c, i->blocks[0]->params[i->blocks[0]->nparams - i->ndst + j]);
    }
}

void adjoint_names_derived(vm *m, const code *fwd, const code *rev)
{
    name_results(m, fwd, fwd->body);
    for (uint32_t n = 0; n < fwd->body->n; n++) {
        const instr *i = fwd->body->list[n];
        if (i->op != OP_CODE_CLOSURE || !(i->flags & INSTR_RESIDUAL)) continue;
        for (uint32_t k = 0; k < i->nsrc && k < rev->ncaptures; k++) take_name(rev, rev->body->params[k], fwd, i->src[k]);
    }
    name_results(m, rev, rev->body);
    static const char given[] = "result_adj";
    if (rev->body->nparams > rev->ncaptures && !rev->reg_names[rev->body->params[rev->ncaptures]])
        rev->reg_names[rev->body->params[rev->ncaptures]] = symbol_of(m->symbols, given, sizeof given - 1);
}

/* --- registers --------------------------------------------------------------------------------- */

static void scan(speller *s, const block *b)
{
    for (uint32_t k = 0; k < b->nparams; k++) s->home[b->params[k]] = b;
    for (uint32_t k = 0; k < b->n; k++) {
        const instr *i = b->list[k];
        for (uint32_t j = 0; j < i->nsrc; j++) {
            s->uses[i->src[j]]++;
            s->user[i->src[j]] = b;
        }
        for (uint32_t j = 0; j < i->ndst; j++) {
            s->def[i->dst[j]] = i;
            s->home[i->dst[j]] = b;
        }
        for (uint32_t j = 0; j < blocks_run(i); j++) scan(s, i->blocks[j]);
    }
}

static void find_literals(const block *b, uint8_t *literal)
{
    for (uint32_t k = 0; k < b->n; k++) {
        if (b->list[k]->op == OP_CODE_CONST) literal[b->list[k]->dst[0]] = 1;
        for (uint32_t j = 0; j < b->list[k]->nblocks; j++) find_literals(b->list[k]->blocks[j], literal);
    }
}

bool speller_open(speller *s, vm *m, arena *a, const code *f, const code *c)
{
    size_t n = c->nregs + 1;
    *s = (speller){.m = m, .a = a, .f = f, .c = c};
    s->def = arena_alloc(a, n * sizeof *s->def);
    s->home = arena_alloc(a, n * sizeof *s->home);
    s->user = arena_alloc(a, n * sizeof *s->user);
    s->uses = arena_alloc(a, n * sizeof *s->uses);
    s->number = arena_alloc(a, n * sizeof *s->number);
    s->literal = arena_alloc(a, f->nregs + 1);
    if (!s->literal || !s->def || !s->home || !s->user || !s->uses || !s->number) return false;
    find_literals(f->body, s->literal);
    scan(s, c->body);
    return true;
}

static const char *name_of(const speller *s, reg r) { return symbol_name(s->m->symbols, s->c->reg_names[r]); }

static bool ends_in(const char *name, size_t n, const char *end)
{
    size_t k = strlen(end);
    return n > k && !memcmp(name + n - k, end, k);
}

static bool is_word(const char *name, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        unsigned char c = (unsigned char)name[k];
        if (!(c >= 0x80 || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return false;
    }
    return n > 0;
}

/* Without the small figures of its line. */
static size_t base_length(const char *name, size_t n)
{
    while (n > 3 && (unsigned char)name[n - 3] == 0xe2 && (unsigned char)name[n - 2] == 0x82 && (unsigned char)name[n - 1] <= 0x89) n -= 3;
    return n;
}

/* Is another value of this name spoken of, too? */
static bool ambiguous(const speller *s, reg r)
{
    symbol y = s->c->reg_names[r];
    const char *name = name_of(s, r);
    size_t n = strlen(name), base = base_length(name, n);
    if (base == n) return false;
    if (s->with) s = s->with;
    for (reg q = 0; q < s->c->nregs; q++) {
        if (!s->uses[q] || s->c->reg_names[q] == y || !s->c->reg_names[q]) continue;
        const char *other = name_of(s, q);
        size_t k = strlen(other);
        if (base_length(other, k) < k && base_length(other, k) == base && !memcmp(name, other, base)) return true;
    }
    return false;
}

/* The key of an index: several things, parted by commas. */
static bool is_key(const char *name)
{
    int depth = 0;
    for (; *name; name++) {
        if (strchr("([{", *name)) depth++;
        else if (strchr(")]}", *name)) depth--;
        else if (*name == ',' && !depth) return true;
    }
    return false;
}

bool spell_nameless(const speller *s, reg r) { return !s->c->reg_names[r] || is_form(s->def[r]) || is_key(name_of(s, r)); }

bool spell_is_zero(const speller *s, reg r)
{
    const instr *d = s->def[r];
    return d && d->op == OP_CODE_CONST && s->c->consts[d->imm].tag == V_ZERO;
}

/* A name of the user's, or the cotangent of one. */
static bool named(const speller *s, reg r)
{
    const char *name = name_of(s, r);
    size_t n = strlen(name);
    if (ends_in(name, n, adj)) n -= sizeof adj - 1;
    return is_word(name, n);
}

bool spell_inline(const speller *s, reg r)
{
    const instr *d = s->def[r];
    if (!d || d->ndst != 1) return false;
    if (d->op == OP_CODE_CONST || is_form(d)) return true;
    if (s->uses[r] != 1 || s->home[r] != s->user[r] || named(s, r)) return false;
    return d->op == OP_CODE_PRIM || d->op == OP_CODE_TUPLE || d->op == OP_CODE_FIELD || d->op == OP_CODE_RECORD || d->op == OP_CODE_GLOBAL;
}

/* --- expressions ------------------------------------------------------------------------------- */

static void spell(speller *s, reg r, int level, text *out);

static const value *constant(const speller *s, reg r)
{
    const instr *d = s->def[r];
    return d && d->op == OP_CODE_CONST ? &s->c->consts[d->imm] : NULL;
}
static bool is_number(const value *v, double x) { return v && value_is_scalar(*v) && v->tag == V_F64 && v->u.f == x; }

static void spell_constant(speller *s, value k, text *out)
{
    if (k.tag == V_ZERO) text_puts(out, "0");
    else if (k.tag == V_UNDEF) text_puts(out, "default");
    else if (k.tag == V_ELLIPSIS) text_puts(out, "...");
    else if (k.tag == V_SLICE) {
        const value part[3] = {as_slice(k)->start, as_slice(k)->stop, as_slice(k)->step};
        for (int p = 0; p < 3; p++) {
            if (p == 1 || (p == 2 && part[2].tag != V_NONE)) text_putc(out, ':');
            if (part[p].tag != V_NONE) value_print(s->m, part[p], PRINT_REPR, out);
        }
    } else value_print(s->m, k, PRINT_REPR, out);
}

/* How a primitive reads: $0, $1 … are its arguments; each needs at least the level behind it. */
static const struct {
    const char *prim, *text;
    int level, need[3];
} readable[] = {
    {"add", "$0 + $1", SUM, {SUM, SUM}},
    {"sub", "$0 - $1", SUM, {SUM, PRODUCT}},
    {"__acc", "$0 + $1", SUM, {SUM, SUM}},
    {"mul", "$0 * $1", PRODUCT, {PRODUCT, PRODUCT}},
    {"__zmul", "$0 * $1", PRODUCT, {PRODUCT, UNARY}},
    {"div", "$0 / $1", PRODUCT, {PRODUCT, UNARY}},
    {"floordiv", "$0 // $1", PRODUCT, {PRODUCT, UNARY}},
    {"mod", "$0 % $1", PRODUCT, {PRODUCT, UNARY}},
    {"matmul", "$0 @ $1", PRODUCT, {PRODUCT, UNARY}},
    {"pow", "$0 ^ $1", POWER, {POSTFIX, UNARY}},
    {"neg", "-$0", UNARY, {UNARY}},
    {"__pow_slope", "$1 * $0 ^ ($1 - 1)", PRODUCT, {POSTFIX, POSTFIX}},
    {"lt", "$0 < $1", COMPARE, {RANGE, RANGE}},
    {"le", "$0 <= $1", COMPARE, {RANGE, RANGE}},
    {"gt", "$0 > $1", COMPARE, {RANGE, RANGE}},
    {"ge", "$0 >= $1", COMPARE, {RANGE, RANGE}},
    {"eq", "$0 == $1", COMPARE, {RANGE, RANGE}},
    {"ne", "$0 != $1", COMPARE, {RANGE, RANGE}},
    {"__range", "$0..$1", RANGE, {SUM, SUM}},
    {"__transpose_last", "$0'", POSTFIX, {POSTFIX}},
    {"__index", "$0[$1]", POSTFIX, {POSTFIX}},
    {"__cot_index", "$0[$1]", POSTFIX, {POSTFIX}},
    {"__cot_field", "$0.$1", POSTFIX, {POSTFIX}},
    {"__bound", "$0", ATOM, {ATOM}},
    {"__unreduce", "spread($0)", ATOM, {0}},
    {"__reduced_count", "size($0)", ATOM, {0}},
    {"__array", "[$0]", ATOM, {0}},
    {"__acc_matmul_a", "$0 + $1 @ $2'", SUM, {SUM, PRODUCT, POSTFIX}},
    {"__acc_matmul_b", "$0 + $2' @ $1", SUM, {SUM, UNARY, POSTFIX}},
    {"__setindex", "$0 with [$1] = $2", LOOSE, {POSTFIX, 0, 0}},
    {"__cot_clear", "$0 with [$1] = 0", LOOSE, {POSTFIX}},
    {"__instantiate", "$0", POSTFIX, {POSTFIX}},
    {"__unbind", "$0", POSTFIX, {POSTFIX}},
};

static uint32_t place_hash(span at) { return at.lo * 2654435769u ^ at.hi * 2246822519u; }

static uint32_t count_instrs(const block *b)
{
    uint32_t n = b->n;
    for (uint32_t k = 0; k < b->n; k++)
        for (uint32_t j = 0; j < b->list[k]->nblocks; j++) n += count_instrs(b->list[k]->blocks[j]);
    return n;
}

/* The first operation at each place of the function. */
static void place_all(speller *s, const block *b)
{
    for (uint32_t k = 0; k < b->n; k++) {
        const instr *i = b->list[k];
        if (i->op == OP_CODE_PRIM && i->ndst == 1) {
            uint32_t at = place_hash(i->at) & s->place_mask;
            while (s->places[at] && !(s->places[at]->at.lo == i->at.lo && s->places[at]->at.hi == i->at.hi)) at = (at + 1) & s->place_mask;
            if (!s->places[at]) s->places[at] = i;
        }
        for (uint32_t j = 0; j < i->nblocks; j++) place_all(s, i->blocks[j]);
    }
}

static const instr *operation_at(speller *s, span at)
{
    if (!s->places) {
        uint32_t n = 16, most = 2 * count_instrs(s->f->body);
        while (n < most) n *= 2;
        if (!(s->places = arena_alloc(s->a, n * sizeof *s->places))) return NULL;
        s->place_mask = n - 1;
        place_all(s, s->f->body);
    }
    uint32_t k = place_hash(at) & s->place_mask;
    for (; s->places[k]; k = (k + 1) & s->place_mask)
        if (s->places[k]->at.lo == at.lo && s->places[k]->at.hi == at.hi) return s->places[k];
    return NULL;
}

/* Can the cotangent that `fit` fits have been grown by broadcasting? Its place is that of the operation it is for. */
static bool may_grow(speller *s, const instr *fit)
{
    const instr *i = operation_at(s, fit->at);
    if (!i || i->at.src != fit->at.src || prims[i->imm & ~PRIM_SPREAD].shape != S_BROADCAST) return false;
    uint32_t arrays = 0;
    for (uint32_t j = 0; j < i->nsrc; j++) {
        bool seen = false;
        for (uint32_t q = 0; q < j; q++) seen |= i->src[q] == i->src[j];
        if (!seen && !s->literal[i->src[j]]) arrays++;
    }
    return arrays > 1;
}

static void wrapped(text *out, int is, int need, const char *s) { text_printf(out, is < need ? "(%s)" : "%s", s); }

/* A prefix `$0 + ` of an accumulation onto nothing says nothing. */
static const char *without_zero(const speller *s, const instr *i, const char *t)
{
    if (!strncmp(t, "$0 + ", 5) && i->nsrc && spell_is_zero(s, i->src[0])) return t + 5;
    return t;
}

static void spell_prim(speller *s, const instr *i, int need, text *out)
{
    const char *name = prims[i->imm & ~PRIM_SPREAD].name;
    if (is_prim(i, "__reduce_to") || is_prim(i, "__spread_to")) {
        if (!may_grow(s, i)) {
            spell(s, i->src[0], need, out);
            return;
        }
        text_puts(out, "fit(");
        spell(s, i->src[0], LOOSE, out);
        text_putc(out, ')');
        return;
    }
    if (is_prim(i, "__acc_index") && spell_is_zero(s, i->src[0])) {
        text_puts(out, "placed(");
        spell(s, i->src[1], LOOSE, out);
        text_puts(out, ", [");
        spell(s, i->src[3], LOOSE, out);
        text_puts(out, "])");
        return;
    }
    text t;
    text_open(&t, &s->m->mem);
    if (is_prim(i, "__zmul") || is_prim(i, "mul"))
        for (int k = 0; k < 2; k++)
            if (is_number(constant(s, i->src[k]), -1)) {
                text_putc(&t, '-');
                spell(s, i->src[1 - k], UNARY, &t);
                wrapped(out, UNARY, need, text_str(&t));
                text_close(&t);
                return;
            }
    if (is_prim(i, "div") && constant(s, i->src[0]) && constant(s, i->src[1]) && constant(s, i->src[0])->tag == V_F64 &&
        constant(s, i->src[1])->tag == V_F64) {
        value_print(s->m, value_weak(constant(s, i->src[0])->u.f / constant(s, i->src[1])->u.f, WEAK_FLOAT), PRINT_REPR, out);
        text_close(&t);
        return;
    }
    if (is_prim(i, "__pow_slope") && is_number(constant(s, i->src[1]), 2)) {
        text_puts(&t, "2 * ");
        spell(s, i->src[0], PRODUCT, &t);
        wrapped(out, PRODUCT, need, text_str(&t));
        text_close(&t);
        return;
    }
    for (size_t k = 0; k < sizeof readable / sizeof *readable; k++) {
        if (strcmp(readable[k].prim, name)) continue;
        const char *p = without_zero(s, i, readable[k].text);
        int level = p != readable[k].text ? PRODUCT : readable[k].level;
        for (; *p; p++) {
            uint32_t a = *p == '$' ? (uint32_t)(*++p - '0') : UINT32_MAX;
            const value *field = a < i->nsrc && p >= readable[k].text + 2 && p[-2] == '.' ? constant(s, i->src[a]) : NULL;
            if (a == UINT32_MAX) text_putc(&t, *p);
            else if (field && field->tag == V_STRING) text_puts(&t, as_string(*field)->s);
            else if (a < i->nsrc) spell(s, i->src[a], readable[k].need[a], &t);
        }
        wrapped(out, level, need, text_str(&t));
        text_close(&t);
        return;
    }
    /* Trailing arguments that were left to their defaults are not worth a word. */
    uint32_t n = i->nsrc;
    const prim_info *info = prim_info_of(s->m, &prims[i->imm & ~PRIM_SPREAD]);
    while (n > 1 && n <= info->nparams && info->params[n - 1].optional && constant(s, i->src[n - 1]) &&
           value_same(*constant(s, i->src[n - 1]), info->params[n - 1].deflt))
        n--;
    text_printf(out, "%s(", !strncmp(name, "__", 2) ? name + 2 : name);
    spell_regs(s, i->src, n, out);
    text_putc(out, ')');
    text_close(&t);
}

/* The level of an expression that is only known as text: an operator outside of brackets makes it loose. */
static int level_of_text(const char *p, size_t n)
{
    int depth = 0;
    for (size_t k = 0; k < n; k++) {
        if (strchr("([{", p[k])) depth++;
        else if (strchr(")]}", p[k])) depth--;
        else if (!depth && strchr("+-*/%@^<>=!| ", p[k])) return LOOSE;
    }
    return POSTFIX;
}

static void spell_name(speller *s, reg r, int need, text *out)
{
    const char *name = name_of(s, r);
    size_t n = strlen(name);
    if (*name == 1) {
        const char *other;
        size_t nother;
        name = name_in_arm(s, name, &n, &other, &nother);
        if (nother) {
            text_printf(out, "%.*s or %.*s", (int)n, name, (int)nother, other);
            return;
        }
    }
    if (!n) {
        if (!s->number[r]) s->number[r] = ++s->numbered;
        text_printf(out, "t%u", s->number[r]);
        return;
    }
    if (ends_in(name, n, adj)) {
        n = base_length(name, n - (sizeof adj - 1));
        text_printf(out, is_word(name, n) ? "%.*s_adj" : "adj(%.*s)", (int)n, name);
        return;
    }
    if (name == name_of(s, r) && !ambiguous(s, r)) n = base_length(name, n);
    text_printf(out, level_of_text(name, n) < need ? "(%.*s)" : "%.*s", (int)n, name);
}

static void spell(speller *s, reg r, int need, text *out)
{
    const instr *d = s->def[r];
    if (!spell_inline(s, r)) {
        spell_name(s, r, need, out);
        return;
    }
    if (d->op == OP_CODE_CONST) spell_constant(s, s->c->consts[d->imm], out);
    else if (is_form(d)) spell(s, d->src[0], need, out);
    else if (d->op == OP_CODE_PRIM) spell_prim(s, d, need, out);
    else if (d->op == OP_CODE_TUPLE) {
        text_putc(out, '(');
        spell_regs(s, d->src, d->nsrc, out);
        text_puts(out, d->nsrc == 1 ? ",)" : ")");
    } else if (d->op == OP_CODE_FIELD) {
        spell(s, d->src[0], POSTFIX, out);
        text_printf(out, ".%s", symbol_name(s->m->symbols, d->imm));
    } else if (d->op == OP_CODE_GLOBAL) text_puts(out, symbol_name(s->m->symbols, d->imm));
    else {
        text_putc(out, '{');
        for (uint32_t k = 0; k < d->nsrc; k++) {
            text_printf(out, "%s%s: ", k ? ", " : "", symbol_name(s->m->symbols, s->c->names[d->imm].names[k]));
            spell(s, d->src[k], LOOSE, out);
        }
        text_putc(out, '}');
    }
}

void spell_reg(speller *s, reg r, text *out) { spell(s, r, LOOSE, out); }

void spell_regs(speller *s, const reg *r, uint32_t n, text *out)
{
    for (uint32_t k = 0; k < n; k++) {
        if (k) text_puts(out, ", ");
        spell(s, r[k], LOOSE, out);
    }
}

/* --- statements -------------------------------------------------------------------------------- */

static bool same_text(speller *s, reg a, reg b)
{
    text x, y;
    text_open(&x, &s->m->mem);
    text_open(&y, &s->m->mem);
    spell_name(s, a, LOOSE, &x);
    spell(s, b, LOOSE, &y);
    bool same = !strcmp(text_str(&x), text_str(&y));
    text_close(&x);
    text_close(&y);
    return same;
}

/* `x_adj += …` and its kin; false when i is none. */
static bool spell_accumulation(speller *s, const instr *i, text *out)
{
    reg to = i->dst[0];
    if (is_prim(i, "__acc_index") || is_prim(i, "__acc_field")) {
        if (!spell_is_zero(s, i->src[0]) && !same_text(s, to, i->src[0])) return false;
        spell_name(s, to, LOOSE, out);
        if (is_prim(i, "__acc_index")) {
            text_putc(out, '[');
            spell(s, i->src[3], LOOSE, out);
            text_puts(out, "] += ");
        } else {
            text_putc(out, '.');
            const value *field = constant(s, i->src[2]);
            if (field && field->tag == V_STRING) text_puts(out, as_string(*field)->s);
            text_puts(out, " += ");
        }
        spell(s, i->src[1], LOOSE, out);
        return true;
    }
    bool a = is_prim(i, "__acc_matmul_a"), b = is_prim(i, "__acc_matmul_b");
    if (!a && !b && !is_prim(i, "__acc")) return false;
    if (!spell_is_zero(s, i->src[0]) && !same_text(s, to, i->src[0])) return false;
    spell_name(s, to, LOOSE, out);
    text_puts(out, spell_is_zero(s, i->src[0]) ? " = " : " += ");
    if (!a && !b) {
        spell(s, i->src[1], LOOSE, out);
        return true;
    }
    spell(s, i->src[a ? 1 : 2], a ? PRODUCT : POSTFIX, out);
    text_puts(out, a ? " @ " : "' @ ");
    spell(s, i->src[a ? 2 : 1], a ? POSTFIX : UNARY, out);
    if (a) text_putc(out, '\'');
    return true;
}

static void spell_source(const instr *i, text *out)
{
    size_t n = i->at.hi - i->at.lo;
    const char *p = i->at.src ? i->at.src->text + i->at.lo : "";
    const char *end = memchr(p, '\n', i->at.src ? n : 0);
    if (end) n = (size_t)(end - p);
    text_add(out, p, i->at.src ? n : 0);
}

void spell_instr(speller *s, const instr *i, text *out)
{
    if (i->ndst == 1 && i->op == OP_CODE_PRIM) {
        if (spell_accumulation(s, i, out)) return;
        text t;
        text_open(&t, &s->m->mem);
        spell_prim(s, i, LOOSE, &t);
        text name;
        text_open(&name, &s->m->mem);
        spell_name(s, i->dst[0], LOOSE, &name);
        if (strcmp(text_str(&t), text_str(&name))) text_printf(out, "%s = %s", text_str(&name), text_str(&t));
        text_close(&t);
        text_close(&name);
        return;
    }
    for (uint32_t k = 0; k < i->ndst; k++) {
        if (k) text_puts(out, ", ");
        if (s->uses[i->dst[k]]) spell_name(s, i->dst[k], LOOSE, out);
        else text_putc(out, '_');
    }
    if (i->ndst) text_puts(out, " = ");
    switch (i->op) {
    case OP_CODE_UNPACK:
    case OP_CODE_DEFINED: spell(s, i->src[0], LOOSE, out); return;
    case OP_CODE_CALL:
        if (i->imm & CALL_PULLBACK) {
            text_puts(out, "back[");
            spell_source(i, out);
            text_puts(out, "](");
        } else {
            spell(s, i->src[0], POSTFIX, out);
            text_putc(out, '(');
        }
        spell_regs(s, i->src + 1, i->nsrc - 1, out);
        text_putc(out, ')');
        return;
    case OP_CODE_TUPLE:
        text_putc(out, '(');
        spell_regs(s, i->src, i->nsrc, out);
        text_puts(out, i->nsrc == 1 ? ",)" : ")");
        return;
    default:
        text_printf(out, "%s(", op_rows[i->op].name);
        spell_regs(s, i->src, i->nsrc, out);
        text_putc(out, ')');
    }
}
