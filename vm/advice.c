/* advice.c: the one suggestion under an error, in the user's own words: what is wrong is known where it was
 * found, what to write instead needs the operands' source, which only the failing instruction has.
 *
 * In go vm->error with its place and labels and the operands as they stand; a help line comes out where one
 * is known that works when pasted. */
#include "run.h"
#include "index.h"
#include <stdio.h>
#include <string.h>

typedef struct operand {
    value v;
    char text[48];
    bool plain; /* needs no brackets */
} operand;

static operand operand_of(const frame *f, const instr *i, const uint32_t *words, uint32_t k)
{
    operand o = {.v = f->r[words[k] >> 1]};
    span at = i->src_at ? i->src_at[k] : (span){0};
    uint32_t n = at.hi - at.lo;
    if (!at.src || n == 0 || n + 3 > sizeof o.text || memchr(at.src->text + at.lo, '\n', n)) return o;
    memcpy(o.text, at.src->text + at.lo, n);
    o.plain = true;
    int depth = 0;
    for (uint32_t j = 0; j < n; j++) {
        char c = o.text[j];
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (!depth && strchr(" +-*/%@^<>=|", c)) o.plain = false;
    }
    if (!o.plain) {
        memmove(o.text + 1, o.text, n);
        o.text[0] = '(';
        o.text[n + 1] = ')';
        o.text[n + 2] = 0;
    }
    return o;
}

static int rank_of(value v) { return v.tag == V_ARRAY ? as_array(v)->rank : 0; }
static int64_t axis_of(value v, int k) { return array_shape(as_array(v))[k < 0 ? as_array(v)->rank + k : k]; }

static void on_shapes(vm *m, const char *name, const operand *a, const operand *b)
{
    int ra = rank_of(a->v), rb = rank_of(b->v);
    if (!a->text[0] || !b->text[0] || !ra || !rb) return;
    if (!strcmp(name, "matmul")) {
        int64_t inner = axis_of(b->v, rb > 1 ? -2 : -1);
        if (ra > 1 && axis_of(a->v, -2) == inner) vm_help(m, "transpose the left side: `%s' @ %s`", a->text, b->text);
        else if (rb > 1 && axis_of(b->v, -1) == axis_of(a->v, -1)) vm_help(m, "transpose the right side: `%s @ %s'`", a->text, b->text);
        else if (ra > 1 && rb > 1 && axis_of(b->v, -1) == axis_of(a->v, -2))
            vm_help(m, "the other way round they fit: `%s @ %s`", b->text, a->text);
        return;
    }
    if (!strcmp(name, "mul") && (ra > 1 || rb > 1) && axis_of(a->v, -1) == axis_of(b->v, rb > 1 ? -2 : -1)) {
        vm_help(m, "`*` goes element by element; the matrix product is `%s @ %s`", a->text, b->text);
        return;
    }
    if (ra != rb && m->error->help && strstr(m->error->message, "different ranks")) {
        const operand *more = ra > rb ? a : b, *less = ra > rb ? b : a;
        if (axis_of(more->v, -1) == 1 && axis_of(more->v, -2) == axis_of(less->v, -1)) {
            char sign[4] = {strcmp(name, "add") ? strcmp(name, "sub") ? strcmp(name, "mul") ? '/' : '*' : '-' : '+', 0};
            char one[64];
            snprintf(one, sizeof one, "%s[..., 0]", more->text);
            if (ra > rb)
                vm_help(m, "element by element: `%s %s %s`; all pairs: `%s %s %s[none, :]`", one, sign, b->text, a->text, sign, b->text);
            else vm_help(m, "element by element: `%s %s %s`; all pairs: `%s[none, :] %s %s`", a->text, sign, one, a->text, sign, b->text);
        }
        return;
    }
    if (ra == 1 && rb == 2 && axis_of(a->v, 0) == axis_of(b->v, 0)) vm_help(m, "to go down the columns: `%s[:, none]`", a->text);
    else if (rb == 1 && ra == 2 && axis_of(b->v, 0) == axis_of(a->v, 0)) vm_help(m, "to go down the columns: `%s[:, none]`", b->text);
    else if (ra == 2 && rb == 2 && axis_of(a->v, 0) == axis_of(b->v, 1) && axis_of(a->v, 1) == axis_of(b->v, 0))
        vm_help(m, "one of them is the other way round: `%s'`", b->text);
}

/* a + b, one axis of which is longer on one side: an element too many, mostly. */
static void on_longer(vm *m, const char *name, const operand *a, const operand *b)
{
    static const char *const names[] = {"add", "sub", "mul", "div"}, *const signs[] = {"+", "-", "*", "/"};
    int rank = rank_of(a->v), axis = -1;
    if (!a->text[0] || !b->text[0] || !rank || rank != rank_of(b->v)) return;
    for (int k = 0; k < rank; k++) {
        if (axis_of(a->v, k) == axis_of(b->v, k)) continue;
        if (axis >= 0) return;
        axis = k;
    }
    int64_t x = axis_of(a->v, axis), y = axis_of(b->v, axis);
    char cut[64];
    int n = 0;
    if (axis < 0 || axis > 6 || x < 1 || y < 1) return;
    for (int k = 0; k < axis; k++) n += snprintf(cut + n, sizeof cut - (size_t)n, ":, ");
    snprintf(cut + n, sizeof cut - (size_t)n, ":%lld", (long long)(x < y ? x : y));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (strcmp(name, names[k])) continue;
        if (x > y) vm_help(m, "to leave out what is too much: `%s[%s] %s %s`", a->text, cut, signs[k], b->text);
        else vm_help(m, "to leave out what is too much: `%s %s %s[%s]`", a->text, signs[k], b->text, cut);
    }
}

/* The sizes of a shape that x does not fill, one of them to follow from the others. */
static void on_reshape(vm *m, const operand *x, const operand *shape)
{
    int64_t size = x->v.tag == V_ARRAY ? as_array(x->v)->size : 1;
    const tuple *t = shape->v.tag == V_TUPLE ? as_tuple(shape->v) : NULL;
    if (!x->text[0]) return;
    for (uint32_t k = 0; t && k < t->n && t->n <= 8; k++) {
        int64_t rest = 1, one;
        bool fine = true;
        for (uint32_t j = 0; j < t->n && fine; j++)
            if (j != k) fine = index_whole(t->v[j], &one) && one > 0 && !__builtin_mul_overflow(rest, one, &rest);
        if (!fine || size % rest) continue;
        char sizes[160];
        int n = 0;
        for (uint32_t j = 0; j < t->n; j++) {
            index_whole(t->v[j], &one);
            n += snprintf(sizes + n, sizeof sizes - (size_t)n, "%s%lld", j ? ", " : "", j == k ? -1LL : (long long)one);
        }
        vm_help(m, "one size can follow from the others: `reshape(%s, (%s%s))`", x->text, sizes, t->n == 1 ? "," : "");
        return;
    }
    vm_help(m, "all of it in a row: `reshape(%s, -1)`", x->text);
}

/* [[1, 2], [3]] */
static void on_ragged(vm *m, const instr *i)
{
    uint32_t n = i->at.hi - i->at.lo;
    const char *s = i->at.src ? i->at.src->text + i->at.lo : NULL;
    if (!s || n < 3 || n > 60 || s[0] != '[' || s[n - 1] != ']' || memchr(s, '\n', n)) return;
    vm_help(m, "the rows of an array have one shape; a tuple holds any: `(%.*s)`", (int)n - 2, s + 1);
}

/* (a, b) = a tuple of another length. */
static void on_unpack(vm *m, const frame *f, const instr *i, const value *v)
{
    char names[160];
    int n = 0;
    if (v->tag != V_TUPLE || i->ndst == 0 || as_tuple(*v)->n < 2 || as_tuple(*v)->n > 8) return;
    for (uint32_t k = 0; k < as_tuple(*v)->n; k++) {
        const char *name = k < i->ndst ? symbol_name(m->symbols, f->run->tree->reg_names[i->dst[k]]) : "";
        n += snprintf(names + n, sizeof names - (size_t)n, "%s%.16s", k ? ", " : "", *name ? name : "_");
    }
    vm_help(m, "for all of it write `(%s) = …`", names);
}

/* Is the name assigned before it is read, in another statement: only on some ways to here? */
static bool assigned_before(const diag *e)
{
    if (e->nlabels < 2 || !e->labels[1].at.src || e->labels[1].at.src != e->labels[0].at.src) return false;
    uint32_t from = e->labels[1].at.hi, to = e->labels[0].at.lo;
    const char *s = e->labels[1].at.src->text;
    for (uint32_t k = from; k < to; k++)
        if (strchr("\n;}", s[k])) return true;
    return false;
}

static void on_axis(vm *m, const operand *x)
{
    int rank = rank_of(x->v);
    if (!x->text[0] || !rank || !strstr(m->error->message, " is out of range for ") || !strstr(m->error->message, "axis")) return;
    if (rank == 1) vm_help(m, "%s has one axis: axis = 0", x->text);
    else vm_help(m, "the axes of %s are 0 to %d; the last is axis = -1", x->text, rank - 1);
}

static void on_field(vm *m, const instr *i, const operand *x)
{
    static const struct {
        const char *theirs, *ours;
    } rows[] = {{"T", "%s'"},
                {"shape", "shape(%s)"},
                {"size", "size(%s)"},
                {"dtype", "dtype(%s)"},
                {"ndim", "rank(%s)"},
                {"append", "append(%s, …)"},
                {"length", "len(%s)"},
                {"mean", "mean(%s)"},
                {"sum", "sum(%s)"},
                {"max", "max(%s)"},
                {"min", "min(%s)"},
                {"dot", "dot(%s, …)"},
                {"reshape", "reshape(%s, …)"},
                {"keys", "keys(%s)"},
                {"copy", "%s"},
                {"item", "%s"},
                {"std", "std(%s)"},
                {"flatten", "flatten(%s)"}};
    const char *field = symbol_name(m->symbols, i->imm);
    if (!x->text[0]) return;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (strcmp(rows[k].theirs, field)) continue;
        char ours[96];
        const char *mark = strstr(rows[k].ours, "%s");
        snprintf(ours, sizeof ours, "%.*s%s%s", (int)(mark - rows[k].ours), rows[k].ours, x->text, mark + 2);
        vm_help(m, "arrays have no fields and methods; write `%s`", ours);
        return;
    }
    const prim *p = prim_find(m, i->imm);
    if ((p && !(p->attrs & A_INTERNAL)) || table_get(m->globals, i->imm))
        vm_help(m, "there are functions, and no methods; write `%s(%s, …)`", field, x->text);
}

/* Operands are read from `words`, `n` of them, of the instruction that failed in f. */
void exec_advise(vm *m, const frame *f, const instr *i, const uint32_t *words)
{
    diag *e = m->error;
    if (!e || e->code == DIAG_INTERNAL) return;
    if (i->op == OP_CODE_DEFINED && e->code == DIAG_NAME && !e->help) {
        const char *name = symbol_name(m->symbols, i->imm);
        if (table_get(m->globals, i->imm)) return;
        if (assigned_before(e)) vm_help(m, "not every way to here assigns it; give it a value at the beginning: `%s = …`", name);
        else vm_help(m, "a name that a function assigns is its own; make `%s` an argument and return its new value", name);
        return;
    }
    if (i->op == OP_CODE_PRIM && i->imm < prim_count && e->code == DIAG_SHAPE && !e->help && !strcmp(prims[i->imm].name, "__array"))
        on_ragged(m, i);
    if (i->op == OP_CODE_UNPACK && words && !e->help) on_unpack(m, f, i, &f->r[words[0] >> 1]);
    if (!words || !i->src_at || !i->nsrc) return;
    operand a = operand_of(f, i, words, 0), b = i->nsrc > 1 ? operand_of(f, i, words, 1) : (operand){0};
    if (i->op == OP_CODE_FIELD && e->code == DIAG_TYPE && !e->help) {
        on_field(m, i, &a);
        return;
    }
    if (i->op != OP_CODE_PRIM || i->imm >= prim_count) return;
    const char *name = prims[i->imm].name;
    if (e->code == DIAG_SHAPE && i->nsrc == 2 && (prims[i->imm].tile || !strcmp(name, "matmul"))) on_shapes(m, name, &a, &b);
    if (e->code == DIAG_SHAPE && !e->help && i->nsrc == 2) on_longer(m, name, &a, &b);
    if (e->code == DIAG_SHAPE && !e->help && !strcmp(name, "reshape")) on_reshape(m, &a, &b);
    if (e->code == DIAG_SHAPE && !e->help && value_is_scalar(a.v) && a.text[0] && b.text[0] &&
        (!strcmp(name, "max") || !strcmp(name, "min")))
        vm_help(m, "of two values it is `%simum(%s, %s)`", name, a.text, b.text);
    if (e->code == DIAG_SHAPE && !e->help) on_axis(m, &a);
    if (e->code == DIAG_INDEX && !strcmp(name, "__index") && !e->help && strstr(e->message, "out of range") && a.text[0])
        vm_help(m, "counting begins at 0: the last is `%s[-1]`", a.text);
    if (e->code == DIAG_TYPE && !strcmp(name, "add") && !e->help && (a.v.tag == V_STRING) != (b.v.tag == V_STRING)) {
        const operand *number = a.v.tag == V_STRING ? &b : &a, *words_ = a.v.tag == V_STRING ? &a : &b;
        if (number->text[0] && words_->text[0])
            vm_help(m, "make a string of the number: `%s%sformat(\"{}\", %s)%s%s`", number == &b ? words_->text : "",
                    number == &b ? " + " : "", number->text, number == &b ? "" : " + ", number == &b ? "" : words_->text);
    }
}
