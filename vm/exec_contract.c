/* exec_contract.c: shape contracts of parameters and results.
 *
 * In go the values and their contracts, out come the sizes that the contracts name. The first axis
 * with a name sets it; every other one must agree, and the error says who set it. A result's contract
 * gets the sizes the parameters set as sources after the result. */
#include "run.h"
#include <string.h>

typedef struct sizes {
    int64_t *of;
    symbol *from;
    bool *set;
    uint32_t n;
} sizes; /* from: the argument that set it */

static const char *sym(vm *m, symbol y) { return symbol_name(m->symbols, y); }

static void put_subject(vm *m, const contract_list *l, const axis_contract *a, text *t)
{
    const char *fn = l->function ? l->function : "the function";
    if (l->result || !a->what) text_printf(t, "the result of %s", fn);
    else text_printf(t, "argument %s of %s", sym(m, a->what), fn);
}

/* "[n, 3, _]" */
static void put_axes(vm *m, const axis_contract *a, text *t)
{
    text_puts(t, a->rest ? "[..." : "[");
    for (int k = 0; k < a->rank; k++) {
        if (k || a->rest) text_puts(t, ", ");
        if (a->axes[k] >= 0) text_printf(t, "%lld", (long long)a->axes[k]);
        else if (a->axes[k] == -1) text_puts(t, "_");
        else text_puts(t, sym(m, a->axis_names[k]));
    }
    text_puts(t, "]");
}

static bool broken(vm *m, const contract_list *l, const axis_contract *a, text *why)
{
    text t;
    text_open(&t, &m->mem);
    put_subject(m, l, a, &t);
    vm_fail(m, DIAG_CONTRACT, "%s: %s", text_str(&t), text_str(why));
    text_close(&t);
    text_close(why);
    return false;
}

static bool check_kind(vm *m, const contract_list *l, const axis_contract *a, const value *v, shaped *s)
{
    text why;
    text_open(&why, &m->mem);
    if (!shaped_of(v, s)) {
        text_puts(&why, "expected an array ");
        if (a->has_axes) put_axes(m, a, &why);
        text_printf(&why, ", this is %s%s", v->tag == V_NONE ? "" : "a ", value_type_name(*v));
        return broken(m, l, a, &why);
    }
    /* A weak number fits every dtype it could take. */
    bool weak = s->weak == WEAK_WHOLE ? a->dtype != DTYPE_BOOL : s->weak == WEAK_FLOAT && a->dtype >= DTYPE_F32;
    if (a->has_dtype && !weak && s->dtype != a->dtype) {
        text_printf(&why, "its dtype is %s, expected %s", dtype_name(s->dtype), dtype_name((dtype)a->dtype));
        return broken(m, l, a, &why);
    }
    if (a->has_axes && (a->rest ? s->rank < a->rank : s->rank != a->rank)) {
        text_puts(&why, "its shape is ");
        shape_print(s->rank, s->shape, &why);
        text_puts(&why, ", expected ");
        put_axes(m, a, &why);
        broken(m, l, a, &why);
        const char *name = l->result || !a->what ? "x" : sym(m, a->what);
        if (s->rank == 1 && a->rank == 2 && !a->rest)
            vm_help(m, "a vector is one row as `%s[none, :]`, one column as `%s[:, none]`", name, name);
        else if (s->rank < a->rank) vm_help(m, "`%s[none, ...]` has one axis more", name);
        else vm_help(m, "`%s[0]` has one axis less", name);
        return false;
    }
    text_close(&why);
    return true;
}

static bool check_one(vm *m, const contract_list *l, const axis_contract *a, const value *v, sizes *z)
{
    shaped s;
    if (!check_kind(m, l, a, v, &s)) return false;
    int first = a->rest ? s.rank - a->rank : 0;
    for (int k = 0; a->has_axes && k < a->rank; k++) {
        int64_t have = s.shape[first + k], want = a->axes[k];
        if (want == -1 || want == have) continue;
        text why;
        text_open(&why, &m->mem);
        if (want >= 0) {
            text_printf(&why, "axis %d is %lld, expected %lld", first + k, (long long)have, (long long)want);
            return broken(m, l, a, &why);
        }
        uint32_t name = (uint32_t)(-2 - want);
        if (!z->set[name]) {
            z->set[name] = true;
            z->of[name] = have;
            z->from[name] = a->what;
        } else if (z->of[name] != have) {
            text_printf(&why, "axis %d is %lld, expected %s = %lld", first + k, (long long)have, sym(m, l->names[name]),
                        (long long)z->of[name]);
            if (z->from[name] && z->from[name] != a->what) text_printf(&why, " (from %s)", sym(m, z->from[name]));
            return broken(m, l, a, &why);
        }
        text_close(&why);
    }
    return true;
}

/* Labels: the argument's contract where it is written. */
static bool check_all(struct exec *x, frame *f, const contract_list *l, const uint32_t *src, sizes *z)
{
    vm *m = x->m;
    for (uint32_t k = 0; k < l->n; k++) {
        const axis_contract *a = &l->of[k];
        m->fail_arg = (int)a->source;
        if (check_one(m, l, a, &f->r[src[a->source] >> 1], z)) continue;
        if (m->error && a->at.src) diag_label_add(m->error, a->at, "%s", "");
        return false;
    }
    return true;
}

bool exec_contract(struct exec *x, frame *f, const instr *i, const uint32_t *dst, const uint32_t *src)
{
    vm *m = x->m;
    const contract_list *l = &f->run->tree->contracts[i->imm];
    uint32_t n = l->nnames ? l->nnames : 1;
    size_t bytes = n * (sizeof(int64_t) + sizeof(symbol) + sizeof(bool));
    _Alignas(int64_t) char small[256];
    char *mem = small;
    if (bytes > sizeof small) {
        if (!(mem = memory_alloc(&m->mem, MEM_OTHER, bytes))) return vm_out_of_memory(m);
    } else memset(small, 0, sizeof small);
    sizes z = {.of = (int64_t *)(void *)mem, .n = n};
    z.from = (symbol *)(void *)(z.of + n);
    z.set = (bool *)(z.from + n);
    for (uint32_t k = 1; l->result && k < i->nsrc && k <= l->nnames; k++) {
        value v = f->r[src[k] >> 1];
        if (v.tag != V_I64) continue;
        z.set[k - 1] = true;
        z.of[k - 1] = v.u.i;
    }
    bool fine = check_all(x, f, l, src, &z);
    if (fine) {
        for (uint32_t s = 0; s < i->nsrc; s++) operand_done(m, f->r, src[s]);
        for (uint32_t k = 0; k < i->ndst; k++) f->r[dst[k]] = value_i64(z.of[k]);
    }
    if (mem != small) memory_free(&m->mem, MEM_OTHER, mem, bytes);
    return fine;
}
