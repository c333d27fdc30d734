/* prim.c: the table of primitives, and the one door to their kernels.
 *
 * In go a row and its arguments in signature order, out comes an owned result. On the way prim_apply
 * fills in defaults, maps over tuples and records (with a list of frames on the heap: no C recursion
 * follows the depth of data), and settles what a symbolic zero means. Scalars take a path of their
 * own that allocates nothing. Kernels see numbers, arrays and whatever else their row is about. */
#include "vm.h"
#include "code.h"
#include "elementwise.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEM(name, signature, dtype, partials, doc, examples) extern const tiles tiles_##name;
#define ELEMC(name, signature, dtype, doc, examples) extern const tiles tiles_##name;
#define ELEMH(name, signature, kind, attrs, dtype, partials, doc) extern const tiles tiles_##name;
#define PRIM(name, signature, kind, attrs, shape, dtype, vjp, jvp, doc, examples) bool kern_##name(prim_call *c);
#define HIDE(name, signature, kind, attrs, shape, dtype, vjp, jvp, doc, examples) bool kern_##name(prim_call *c);
#include "prim.def"
#undef ELEM
#undef ELEMC
#undef ELEMH
#undef PRIM
#undef HIDE

const prim prims[] = {
#define ELEM(n, sig, dt, partials, d, ex) \
    {#n, sig, RULE_ELEMENTWISE, A_MAPS, S_BROADCAST, dt, kern_elementwise, &tiles_##n, partials, "", d, ex, ""},
#define ELEMC(n, sig, dt, d, ex) {#n, sig, RULE_CONSTANT, A_MAPS, S_BROADCAST, dt, kern_elementwise, &tiles_##n, "", "", d, ex, ""},
#define ELEMH(n, sig, k, at, dt, partials, d) \
    {"__" #n, sig, k, (at) | A_MAPS | A_INTERNAL, S_BROADCAST, dt, kern_elementwise, &tiles_##n, partials, "", d, "", ""},
#define PRIM(n, sig, k, at, sh, dt, vjp, jvp, d, ex) {#n, sig, k, at, sh, dt, kern_##n, NULL, vjp, jvp, d, ex, ""},
#define HIDE(n, sig, k, at, sh, dt, vjp, jvp, d, ex) {"__" #n, sig, k, (at) | A_INTERNAL, sh, dt, kern_##n, NULL, vjp, jvp, d, ex, ""},
#include "prim.def"
#undef ELEM
#undef ELEMC
#undef ELEMH
#undef PRIM
#undef HIDE
};
const uint32_t prim_count = sizeof prims / sizeof *prims;

uint32_t prim_number(const prim *p) { return (uint32_t)(p - prims); }

/* --- signatures ----------------------------------------------------------------------------- */

static const char *skip_space(const char *s)
{
    while (*s == ' ' || *s == '\n' || *s == '\t') s++;
    return s;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

/* A default: none, true, false, inf, a number, a string without escapes. Returns what follows, or NULL. */
static const char *parse_default(vm *m, const char *s, value *out)
{
    if (*s == '"') {
        const char *end = strchr(s + 1, '"');
        if (!end) return NULL;
        string *t = string_new(m, s + 1, (size_t)(end - s - 1));
        if (!t) return NULL;
        *out = value_object(&t->h);
        return end + 1;
    }
    static const struct {
        const char *word;
        value v;
    } words[] = {
        {"none", {.tag = V_NONE}},
        {"true", {.tag = V_BOOL, .u.i = 1}},
        {"false", {.tag = V_BOOL}},
        {"inf", {.tag = V_F64, .weak = WEAK_FLOAT, .u.f = INFINITY}},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if (strncmp(s, words[i].word, n) == 0 && !is_word(s[n])) {
            *out = words[i].v;
            return s + n;
        }
    }
    size_t n = strspn(s, "+-0123456789.e");
    if (!n) return NULL;
    double x = 0, scale = 1; /* the table's own literals are short: digits, at most one point, an exponent */
    const char *p = s;
    bool minus = *p == '-', point = false;
    weakness w = WEAK_WHOLE;
    if (minus) p++;
    for (; p < s + n && *p != 'e'; p++) {
        if (*p == '.') {
            point = true;
            w = WEAK_FLOAT;
            continue;
        }
        x = x * 10 + (*p - '0');
        if (point) scale *= 10;
    }
    x /= scale;
    if (p < s + n) {
        w = WEAK_FLOAT;
        int e = atoi(p + 1);
        x = e < 0 ? x / pow(10, -e) : x * pow(10, e);
    }
    *out = value_weak(minus ? -x : x, w);
    return s + n;
}

static bool signature_bad(vm *m, const prim *p, const char *at)
{
    return vm_fail(m, DIAG_INTERNAL, "the signature of %s cannot be read at \"%s\"", p->name, at);
}

static bool parse_signature(vm *m, const prim *p, prim_info *info)
{
    const char *s = skip_space(p->signature);
    uint32_t n = 0;
    if (*s) {
        n = 1;
        bool quoted = false;
        for (const char *c = s; *c; c++) {
            if (*c == '"') quoted = !quoted;
            n += *c == ',' && !quoted;
        }
    }
    info->nparams = n;
    if (!n) return true;
    if (!(info->params = memory_alloc(&m->mem, MEM_CODE, n * sizeof *info->params))) return vm_out_of_memory(m);
    if (!(info->vjp = memory_alloc(&m->mem, MEM_CODE, n * sizeof *info->vjp))) return vm_out_of_memory(m);
    for (uint32_t i = 0; i < n; i++) {
        prim_param *q = &info->params[i];
        size_t k = 0;
        while (is_word(s[k])) k++;
        if (!k) return signature_bad(m, p, s);
        if (!(q->name = symbol_of(m->symbols, s, k))) return vm_out_of_memory(m);
        s = skip_space(s + k);
        if (strncmp(s, "...", 3) == 0) {
            q->rest = info->variadic = true;
            s = skip_space(s + 3);
        } else if (*s == '=') {
            q->optional = true;
            const char *at = skip_space(s + 1);
            s = parse_default(m, at, &q->deflt);
            if (!s) return m->error ? false : signature_bad(m, p, at);
            s = skip_space(s);
        } else {
            info->required = i + 1;
        }
        size_t length;
        if (i < 64 && p->kind != RULE_REFUSE && rule_part(p->vjp, symbol_name(m->symbols, q->name), &length))
            info->listed |= UINT64_C(1) << i;
        if (i + 1 < n ? *s != ',' || q->rest : *s != 0) return signature_bad(m, p, s);
        if (i + 1 < n) s = skip_space(s + 1);
    }
    return true;
}

const char *rule_part(const char *rule, const char *name, size_t *length)
{
    const char *s = rule;
    for (;;) {
        s = skip_space(s);
        if (!*s) return NULL;
        const char *head = s;
        size_t n = 0;
        while (is_word(head[n])) n++;
        s = skip_space(head + n);
        if (!n || *s != ':') return NULL;
        const char *body = skip_space(s + 1);
        int depth = 0;
        bool quoted = false;
        for (s = body; *s && (depth > 0 || quoted || *s != ';'); s++) {
            if (*s == '"') quoted = !quoted;
            else if (quoted) continue;
            else if (*s == '(' || *s == '[' || *s == '{') depth++;
            else if (*s == ')' || *s == ']' || *s == '}') depth--;
        }
        if (strlen(name) == n && memcmp(head, name, n) == 0) {
            *length = (size_t)(s - body);
            return body;
        }
        if (*s) s++;
    }
}

/* Names get their symbols first of all, so they are small numbers: a plain array finds them. */
struct prim_index {
    uint32_t n;
    uint32_t at[];
}; /* at[symbol]: number + 1, 0 for none */

bool prims_open(vm *m)
{
    m->prim_infos = memory_alloc(&m->mem, MEM_CODE, prim_count * sizeof *m->prim_infos);
    if (!m->prim_infos) return vm_out_of_memory(m);
    symbol most = 0;
    for (uint32_t i = 0; i < prim_count; i++) {
        symbol y = symbol_of(m->symbols, prims[i].name, strlen(prims[i].name));
        if (!y) return vm_out_of_memory(m);
        m->prim_infos[i].name = y;
        if (y > most) most = y;
    }
    m->prim_by_name = memory_alloc(&m->mem, MEM_CODE, sizeof(struct prim_index) + (most + 1) * sizeof(uint32_t));
    if (!m->prim_by_name) return vm_out_of_memory(m);
    m->prim_by_name->n = most + 1;
    for (uint32_t i = 0; i < prim_count; i++) {
        m->prim_by_name->at[m->prim_infos[i].name] = i + 1;
        if (!parse_signature(m, &prims[i], &m->prim_infos[i])) return false;
    }
    return true;
}

void prims_close(vm *m)
{
    if (m->prim_by_name) memory_free(&m->mem, MEM_CODE, m->prim_by_name, sizeof(struct prim_index) + m->prim_by_name->n * sizeof(uint32_t));
    m->prim_by_name = NULL;
    if (!m->prim_infos) return;
    for (uint32_t i = 0; i < prim_count; i++) {
        prim_info *info = &m->prim_infos[i];
        for (uint32_t k = 0; info->params && k < info->nparams; k++) value_release(m, info->params[k].deflt);
        for (uint32_t k = 0; info->vjp && k < info->nparams; k++)
            if (info->vjp[k]) code_release(info->vjp[k]);
        if (info->jvp) code_release(info->jvp);
        if (info->as_value) code_release(info->as_value);
        memory_free(&m->mem, MEM_CODE, info->params, info->nparams * sizeof *info->params);
        memory_free(&m->mem, MEM_CODE, info->vjp, info->nparams * sizeof *info->vjp);
    }
    memory_free(&m->mem, MEM_CODE, m->prim_infos, prim_count * sizeof *m->prim_infos);
    m->prim_infos = NULL;
}

const prim_info *prim_info_of(vm *m, const prim *p) { return &m->prim_infos[p - prims]; }

const prim *prim_find(vm *m, symbol name)
{
    const struct prim_index *x = m->prim_by_name;
    return name < x->n && x->at[name] ? &prims[x->at[name] - 1] : NULL;
}

const prim *prim_named(const char *name)
{
    for (uint32_t i = 0; i < prim_count; i++)
        if (strcmp(prims[i].name, name) == 0) return &prims[i];
    fprintf(stderr, "replay: no primitive named %s\n", name);
    abort();
}

const char *prim_display(const prim *p, char out[64])
{
    static const struct {
        const char *name, *sign;
    } operators[] = {
        {"add", "+"},
        {"sub", "-"},
        {"mul", "*"},
        {"div", "/"},
        {"floordiv", "//"},
        {"mod", "%"},
        {"pow", "^"},
        {"neg", "-"},
        {"eq", "=="},
        {"ne", "!="},
        {"lt", "<"},
        {"le", "<="},
        {"gt", ">"},
        {"ge", ">="},
        {"matmul", "@"},
        {"and", "and"},
        {"or", "or"},
        {"not", "not"},
        {"__range", ".."},
        {"__bound", ".."},
        {"__array", "[…]"},
        {"__transpose_last", "'"},
        {"__iter_len", "for"},
        {"__index", "[…]"},
        {"__setindex", "[…] ="},
    };
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strcmp(p->name, operators[i].name) == 0) return operators[i].sign;
    /* Rows that a function of the prelude is made of speak in its name. */
    if (strcmp(p->name, "__einsum_plan") == 0) return "einsum()";
    snprintf(out, 64, "%s()", p->name);
    return out;
}

/* --- applying ------------------------------------------------------------------------------- */

static bool is_structure(value v) { return v.tag == V_TUPLE || v.tag == V_RECORD; }
static bool is_number(value v) { return value_is_scalar(v) || v.tag == V_ARRAY; }

/* == and != of what is not two numbers: one bool. True when this decided. */
static bool compare_kinds(prim_call *c)
{
    value a = c->args[0], b = c->args[1];
    if (is_number(a) && is_number(b)) return false;
    if (is_structure(a) && a.tag == b.tag) return false;
    c->out = value_bool(value_same(a, b) == (prim_number(c->p) == PRIM_eq));
    return true;
}

static bool join_strings(prim_call *c)
{
    const string *a = as_string(c->args[0]), *b = as_string(c->args[1]);
    string *s = string_new(c->vm, NULL, (size_t)a->length + b->length);
    if (!s) return false;
    memcpy(s->s, a->s, a->length);
    memcpy(s->s + a->length, b->s, b->length);
    s->s[s->length] = 0;
    s->points = a->points + b->points;
    c->out = value_object(&s->h);
    return true;
}

/* Arithmetic in a rule on cotangents of which some are symbolic zeros: is the result one? An absent cotangent leaves no
   number behind, for adding 0 to -0 would show. */
static bool zero_of_zeros(const prim *p, const prim_call *c)
{
    switch (prim_number(p)) {
    case PRIM_mul: return c->args[0].tag == V_ZERO || c->args[1].tag == V_ZERO;
    case PRIM_div:
    case PRIM_neg: return c->args[0].tag == V_ZERO;
    case PRIM_add:
    case PRIM_sub: return c->args[0].tag == V_ZERO && c->args[1].tag == V_ZERO;
    case PRIM_where: return c->args[1].tag == V_ZERO && c->args[2].tag == V_ZERO;
    default: return false;
    }
}

/* Calls the kernel on arguments that are no structures to map over. */
static bool apply_leaf(prim_call *c)
{
    const prim *p = c->p;
    if (p->attrs & A_ZERO_SKIP) return p->kernel(c);
    bool zero = false, absent = false;
    for (uint32_t i = 0; i < c->n; i++) {
        zero |= c->args[i].tag == V_ZERO;
        absent |= c->args[i].tag == V_FORM && c->args[i].aux == FORM_OTHER;
    }
    if (absent && p->attrs & A_INTERNAL && !(p->attrs & A_META)) { /* of what was symbolic zero: nothing reaches that */
        c->out = value_zero();
        return true;
    }
    if (!zero) {
        uint32_t k = prim_number(p);
        if ((k == PRIM_eq || k == PRIM_ne) && compare_kinds(c)) return true;
        if (k == PRIM_add && c->args[0].tag == V_STRING && c->args[1].tag == V_STRING) return join_strings(c);
        return p->kernel(c);
    }
    if (zero_of_zeros(p, c)) {
        c->out = value_zero();
        return true;
    }
    if (p->attrs & A_ZERO_ABSORB) {
        uint64_t listed = prim_info_of(c->vm, p)->listed;
        for (uint32_t i = 0; i < c->n; i++)
            if (c->args[i].tag == V_ZERO && (listed >> (i < 63 ? i : 63) & 1)) {
                c->out = value_zero();
                return true;
            }
    }
    value small[16], *args = small;
    if (c->n > 16 && !(args = memory_alloc(&c->vm->mem, MEM_OTHER, c->n * sizeof *args))) return vm_out_of_memory(c->vm);
    for (uint32_t i = 0; i < c->n; i++) args[i] = c->args[i].tag == V_ZERO ? value_weak(0, WEAK_FLOAT) : c->args[i];
    prim_call d = *c;
    d.args = args;
    bool fine = p->kernel(&d);
    c->out = d.out;
    if (args != small) memory_free(&c->vm->mem, MEM_OTHER, args, c->n * sizeof *args);
    return fine;
}

/* One structure being mapped over. args: at this level; `parts`: those that came out of a structure
   (not broadcast), `structs`: those that are structures here, `last`: as in prim_call. */
typedef struct map_frame {
    struct map_frame *up;
    value out;      /* the tuple or record under construction */
    uint32_t first; /* the argument that gives the structure */
    uint32_t next, n;
    uint64_t parts, structs, last;
    value args[];
} map_frame;

static bool mismatch(prim_call *c, uint32_t k, value a, value b)
{
    char name[64];
    text x, y;
    text_open(&x, &c->vm->mem);
    text_open(&y, &c->vm->mem);
    value_describe(c->vm, a, &x);
    value_describe(c->vm, b, &y);
    if (strchr(prim_display(c->p, name), '(')) {
        text_puts(&y, ", which is ");
        arg_name(c, k, &y);
    }
    vm_fail(c->vm, DIAG_TYPE, "%s: structures that differ: %s and %s", prim_display(c->p, name), text_str(&x), text_str(&y));
    c->vm->fail_arg = (int)k;
    text_close(&x);
    text_close(&y);
    return false;
}

/* Prepares f->out, f->first and f->n from f->args; sparse: cotangents, of which parts may be absent. */
static bool frame_open(prim_call *c, map_frame *f, uint32_t n, bool sparse)
{
    vm *m = c->vm;
    f->first = UINT32_MAX;
    f->structs = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_structure(f->args[i])) continue;
        f->structs |= UINT64_C(1) << i;
        if (f->first == UINT32_MAX) {
            f->first = i;
            continue;
        }
        value a = f->args[f->first], b = f->args[i];
        if (a.tag != b.tag) return mismatch(c, i, a, b);
        if (a.tag == V_TUPLE) {
            if (as_tuple(a)->n != as_tuple(b)->n && !sparse) return mismatch(c, i, a, b);
            if (as_tuple(b)->n < as_tuple(a)->n) f->first = i;
        } else {
            const record *r = as_record(a), *s = as_record(b);
            if (sparse) {
                if (s->n < r->n) f->first = i;
                continue;
            }
            bool same = r->n == s->n;
            for (uint32_t k = 0; same && k < r->n; k++) same = record_find(s, r->names[k]) >= 0;
            if (!same) return mismatch(c, i, a, b);
        }
    }
    value a = f->args[f->first];
    f->next = 0;
    f->n = a.tag == V_TUPLE ? as_tuple(a)->n : as_record(a)->n;
    if (a.tag == V_TUPLE) {
        tuple *t = tuple_new(m, 0, f->n);
        if (!t) return false;
        f->out = value_object(&t->h);
    } else {
        record *r = record_new(m, 0, f->n);
        if (!r) return false;
        f->out = value_object(&r->h);
    }
    return true;
}

/* The k-th arguments of f into args; false when a sparse structure lacks that part. */
static bool frame_parts(const map_frame *f, uint32_t n, value *args, uint64_t *parts, uint64_t *last)
{
    uint32_t k = f->next;
    *parts = f->parts;
    *last = 0;
    for (uint32_t i = 0; i < n; i++) {
        value v = f->args[i];
        if (!(f->structs >> i & 1)) {
            args[i] = v;
            continue;
        }
        *parts |= UINT64_C(1) << i;
        if ((f->last >> i & 1) && v.u.o->refs == 1) *last |= UINT64_C(1) << i;
        if (v.tag == V_TUPLE) {
            args[i] = as_tuple(v)->v[k];
            continue;
        }
        const record *r = as_record(v);
        symbol name = as_record(f->args[f->first])->names[k];
        int64_t at = k < r->n && r->names[k] == name ? (int64_t)k : record_find(r, name);
        if (at < 0) return false;
        args[i] = r->v[at];
    }
    return true;
}

/* Puts the result for part f->next into f->out. */
static void frame_put(map_frame *f, value v)
{
    if (f->out.tag == V_TUPLE) {
        tuple *t = as_tuple(f->out);
        t->v[t->n++] = v;
    } else {
        record *r = as_record(f->out);
        r->names[r->n] = as_record(f->args[f->first])->names[f->next];
        r->v[r->n++] = v;
    }
    f->next++;
}

/* What a leaf with an argument that is no number gives: none gives way to what it meets; a string or
   function is kept. True when this decided; *out owned. */
static bool kept_part(const value *args, uint32_t n, uint64_t parts, value *out)
{
    bool odd = false;
    value keep = value_none();
    for (uint32_t i = 0; i < n; i++) {
        if (!(parts >> i & 1)) continue;
        value_tag t = (value_tag)args[i].tag;
        if (t == V_NONE || t == V_STRING || t == V_FUNCTION) odd = true;
        if (keep.tag == V_NONE) keep = args[i];
    }
    if (odd) *out = value_retain(keep);
    return odd;
}

static bool apply_mapped(prim_call *c)
{
    vm *m = c->vm;
    uint32_t n = c->n, id = prim_number(c->p);
    bool sparse = (c->p->attrs & A_ZERO_SKIP) != 0, compares = id == PRIM_eq || id == PRIM_ne;
    if (n > 64) return prim_fail(c, -1, DIAG_ARITY, "more than 64 arguments");
    arena work;
    arena_open(&work, &m->mem, MEM_OTHER);
    size_t bytes = sizeof(map_frame) + n * sizeof(value);
    map_frame *spare = NULL, *f = arena_alloc(&work, bytes);
    value *args = arena_alloc(&work, n * sizeof *args);
    bool fine = f && args;
    if (!fine) vm_out_of_memory(m);
    if (fine) {
        memcpy(f->args, c->args, n * sizeof *args);
        f->last = c->last;
        fine = frame_open(c, f, n, sparse);
    }
    while (fine) {
        if (f->next == f->n) { /* this structure is done */
            value made = f->out;
            f->out = value_undef();
            map_frame *up = f->up;
            f->up = spare;
            spare = f;
            f = up;
            if (!f) {
                c->out = made;
                break;
            }
            frame_put(f, made);
            continue;
        }
        uint64_t parts, last;
        if (!frame_parts(f, n, args, &parts, &last)) {
            f->next++;
            continue;
        }
        value v;
        bool structure = false, zero = false;
        for (uint32_t i = 0; i < n; i++) {
            structure |= is_structure(args[i]);
            zero |= args[i].tag == V_ZERO;
        }
        if (!compares && kept_part(args, n, parts, &v)) {
            frame_put(f, v);
            continue;
        }
        if (sparse && zero) structure = false; /* the kernel says what a symbolic zero makes of it */
        prim_call d = {.vm = m, .p = c->p, .args = args, .n = n, .last = last};
        if (structure && compares && args[0].tag != args[1].tag) structure = false; /* different kinds: one bool */
        if (!structure) {
            fine = apply_leaf(&d);
            if (fine) frame_put(f, d.out);
            continue;
        }
        map_frame *g = spare;
        if (g) spare = g->up;
        else if (!(g = arena_alloc(&work, bytes))) {
            fine = vm_out_of_memory(m);
            break;
        }
        memcpy(g->args, args, n * sizeof *args);
        g->parts = parts;
        g->last = last;
        g->out = value_undef();
        g->up = f;
        f = g;
        fine = frame_open(c, f, n, sparse);
    }
    if (!fine)
        for (; f; f = f->up) value_release(m, f->out);
    arena_close(&work);
    return fine;
}

static bool missing(vm *m, const prim *p, const prim_info *info, uint32_t i)
{
    char name[64];
    return vm_fail(m, DIAG_ARITY, "%s: the argument %s is missing; the signature is %s(%s)", prim_display(p, name),
                   symbol_name(m->symbols, info->params[i].name), p->name, p->signature);
}

/* Arguments completed with defaults and checked in number; then on as usual. */
static bool apply_filled(vm *m, const prim *p, const prim_info *info, const value *args, uint32_t n, uint64_t last, value *out)
{
    /* Derivative code asks for the form of a variable where it is defined, and a path that leaves early has
       not assigned it: it has none, and nobody will look. */
    if ((p->attrs & A_META) && n && args[0].tag == V_UNDEF) {
        *out = value_undef();
        return true;
    }
    uint32_t fixed = info->nparams - info->variadic;
    if (n > fixed && !info->variadic) {
        char name[64];
        if (!fixed) return vm_fail(m, DIAG_ARITY, "%s takes no arguments, %u were given", prim_display(p, name), n);
        return vm_fail(m, DIAG_ARITY, "%s takes %s%u argument%s, %u were given; the signature is %s(%s)", prim_display(p, name),
                       info->required < fixed ? "at most " : "", fixed, fixed == 1 ? "" : "s", n, p->name, p->signature);
    }
    uint32_t total = n > fixed ? n : fixed;
    value small[16], *filled = small;
    if (total > 16 && !(filled = memory_alloc(&m->mem, MEM_OTHER, total * sizeof *filled))) return vm_out_of_memory(m);
    bool fine = true;
    for (uint32_t i = 0; fine && i < total; i++) {
        filled[i] = i < n ? args[i] : value_undef();
        if (filled[i].tag != V_UNDEF) continue;
        if (i >= fixed) fine = missing(m, p, info, fixed);
        else if (!info->params[i].optional) fine = missing(m, p, info, i);
        else filled[i] = info->params[i].deflt;
    }
    if (fine) fine = prim_apply(m, p, filled, total, last, out);
    if (filled != small) memory_free(&m->mem, MEM_OTHER, filled, total * sizeof *filled);
    return fine;
}

bool prim_apply(vm *m, const prim *p, const value *args, uint32_t n, uint64_t last, value *out)
{
    const prim_info *info = &m->prim_infos[p - prims];
    bool whole = n >= info->nparams - info->variadic && (n == info->nparams || info->variadic);
    bool scalars = true, structure = false;
    for (uint32_t i = 0; i < n; i++) {
        value_tag t = (value_tag)args[i].tag;
        scalars &= t >= V_BOOL && t <= V_F64;
        structure |= t == V_TUPLE || t == V_RECORD;
        whole &= t != V_UNDEF;
    }
    if (!whole) return apply_filled(m, p, info, args, n, last, out);
    if (scalars && p->tile) return elementwise_scalars(m, p, args, n, out);
    prim_call c = {.vm = m, .p = p, .args = args, .n = n, .last = last};
    bool fine;
    if (structure && (p->attrs & A_MAPS)) {
        uint32_t id = prim_number(p);
        bool zero = false;
        if (p->attrs & A_ZERO_SKIP)
            for (uint32_t i = 0; i < n; i++) zero |= args[i].tag == V_ZERO;
        if ((id == PRIM_eq || id == PRIM_ne) && compare_kinds(&c)) fine = true;
        else fine = zero ? apply_leaf(&c) : apply_mapped(&c);
    } else {
        fine = apply_leaf(&c);
    }
    if (!fine) return false;
    *out = c.out;
    return true;
}
