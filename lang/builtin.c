/* builtin.c: the list of builtin names.
 *
 * Numbers: [0, prim_count) are primitives, then come preloaded functions in the order they were
 * scanned, and from INTRINSIC_BASE on the intrinsics. Finding is one hash lookup each. */
#include "builtin.h"
#include <string.h>

#define INTRINSIC_BASE 0x40000000u

typedef struct loaded {
    symbol name, global;
    prim_param *params;
    uint32_t nparams;
    bool known;
} loaded;

struct builtins {
    vm *vm;
    arena arena;
    loaded *of;
    uint32_t n, cap;
    uint32_t *slots, nslots; /* by symbol: index + 1 into `of` */
    symbol intrinsics[INTRINSICS];
};

static const struct {
    const char *name;
    uint32_t nparams;
    const char *params[2];
} intrinsic_rows[INTRINSICS] = {
    [INTRINSIC_DERIVE_FWD] = {"__derive_fwd", 2, {"f", "mask"}},
    [INTRINSIC_DERIVE_JVP] = {"__derive_jvp", 2, {"f", "mask"}},
    [INTRINSIC_CALL2] = {"__call2", 2, {"f", "args"}},
    [INTRINSIC_CALL_PACK] = {"__call_pack", 2, {"f", "args"}},
    [INTRINSIC_PULL] = {"__pull", 2, {"r", "dy"}},
    [INTRINSIC_TRY] = {"__try", 2, {"f", "args"}},
    [INTRINSIC_MEASURE] = {"__measure", 2, {"f", "args"}},
};

builtins *builtins_open(vm *m)
{
    builtins *b = memory_alloc(&m->mem, MEM_OTHER, sizeof *b);
    if (!b) {
        vm_out_of_memory(m);
        return NULL;
    }
    b->vm = m;
    arena_open(&b->arena, &m->mem, MEM_OTHER);
    for (int i = 0; i < INTRINSICS; i++) b->intrinsics[i] = symbol_of(m->symbols, intrinsic_rows[i].name, strlen(intrinsic_rows[i].name));
    return b;
}

void builtins_close(builtins *b)
{
    if (!b) return;
    vm *m = b->vm;
    memory_free(&m->mem, MEM_OTHER, b->of, b->cap * sizeof *b->of);
    memory_free(&m->mem, MEM_OTHER, b->slots, b->nslots * sizeof *b->slots);
    arena_close(&b->arena);
    memory_free(&m->mem, MEM_OTHER, b, sizeof *b);
}

static void slot_put(builtins *b, uint32_t i)
{
    uint32_t k = b->of[i].name * 2654435761u & (b->nslots - 1);
    while (b->slots[k]) k = (k + 1) & (b->nslots - 1);
    b->slots[k] = i + 1;
}

void builtins_cut(builtins *b, uint32_t count)
{
    b->n = count - prim_count;
    if (b->slots) memset(b->slots, 0, b->nslots * sizeof *b->slots);
    for (uint32_t i = 0; i < b->n; i++) slot_put(b, i);
}

static bool slots_grow(builtins *b)
{
    uint32_t n = b->nslots ? b->nslots * 2 : 256;
    uint32_t *slots = memory_alloc(&b->vm->mem, MEM_OTHER, n * sizeof *slots);
    if (!slots) return vm_out_of_memory(b->vm);
    memory_free(&b->vm->mem, MEM_OTHER, b->slots, b->nslots * sizeof *slots);
    b->slots = slots;
    b->nslots = n;
    for (uint32_t i = 0; i < b->n; i++) slot_put(b, i);
    return true;
}

static bool add(builtins *b, const char *module, const char *name, size_t length)
{
    vm *m = b->vm;
    if (b->n == b->cap) {
        uint32_t cap = b->cap ? b->cap * 2 : 64;
        loaded *of = memory_resize(&m->mem, MEM_OTHER, b->of, b->cap * sizeof *of, cap * sizeof *of);
        if (!of) return vm_out_of_memory(m);
        b->of = of;
        b->cap = cap;
    }
    if (b->nslots < 2 * (b->n + 1) && !slots_grow(b)) return false;
    text t;
    text_open(&t, &m->mem);
    text_printf(&t, "%s:%.*s", module, (int)length, name);
    loaded l = {.name = symbol_of(m->symbols, name, length)};
    if (!t.failed) l.global = symbol_of(m->symbols, text_str(&t), t.n);
    text_close(&t);
    if (!l.name || !l.global) return vm_out_of_memory(m);
    b->of[b->n++] = l;
    slot_put(b, b->n - 1);
    return true;
}

bool builtins_scan(builtins *b, const char *module, const char *s, size_t length)
{
    const char *end = s + length;
    while (s < end) {
        if (end - s > 3 && !memcmp(s, "fn ", 3)) {
            const char *name = s + 3, *e = name;
            while (e < end && *e != '(' && *e != ' ' && *e != '\n') e++;
            if (!add(b, module, name, (size_t)(e - name))) return false;
        }
        const char *nl = memchr(s, '\n', (size_t)(end - s));
        s = nl ? nl + 1 : end;
    }
    return true;
}

static bool hidden(const builtins *b, symbol name)
{
    const char *s = symbol_name(b->vm->symbols, name);
    return s[0] == '_' && s[1] == '_';
}

bool builtin_find(const builtins *b, symbol name, bool internal, uint32_t *index)
{
    if (hidden(b, name)) {
        if (!internal) return false;
        for (uint32_t i = 0; i < INTRINSICS; i++)
            if (b->intrinsics[i] == name) {
                *index = INTRINSIC_BASE + i;
                return true;
            }
    }
    const prim *p = prim_find(b->vm, name);
    if (p) {
        *index = prim_number(p);
        return true;
    }
    if (!b->nslots) return false;
    for (uint32_t k = name * 2654435761u & (b->nslots - 1); b->slots[k]; k = (k + 1) & (b->nslots - 1))
        if (b->of[b->slots[k] - 1].name == name) {
            *index = prim_count + b->slots[k] - 1;
            return true;
        }
    return false;
}

const char *builtin_nearest(const builtins *b, const char *name)
{
    size_t n = 0, most = prim_count + b->n;
    const char **names = memory_alloc(&b->vm->mem, MEM_OTHER, most * sizeof *names);
    char shown[64];
    if (!names) return NULL;
    for (uint32_t i = 0; i < prim_count; i++)
        if (!(prims[i].attrs & A_INTERNAL) && prim_display(&prims[i], shown) == shown)
            names[n++] = prims[i].name; /* operators have signs */
    for (uint32_t i = 0; i < b->n; i++)
        if (!hidden(b, b->of[i].name)) names[n++] = symbol_name(b->vm->symbols, b->of[i].name);
    const char *best = nearest_name(name, names, n);
    memory_free(&b->vm->mem, MEM_OTHER, names, most * sizeof *names);
    return best;
}

uint32_t builtins_count(const builtins *b) { return prim_count + b->n; }

const prim *builtin_prim(const builtins *b, uint32_t index)
{
    (void)b;
    return index < prim_count ? &prims[index] : NULL;
}

int builtin_intrinsic(const builtins *b, uint32_t index)
{
    (void)b;
    return index >= INTRINSIC_BASE ? (int)(index - INTRINSIC_BASE) : -1;
}

static loaded *loaded_of(const builtins *b, uint32_t index)
{
    return index >= prim_count && index - prim_count < b->n ? &b->of[index - prim_count] : NULL;
}

symbol builtin_global(const builtins *b, uint32_t index)
{
    const loaded *l = loaded_of(b, index);
    return l ? l->global : 0;
}

const char *builtin_name(const builtins *b, uint32_t index)
{
    const loaded *l = loaded_of(b, index);
    if (l) return symbol_name(b->vm->symbols, l->name);
    if (index >= INTRINSIC_BASE) return intrinsic_rows[index - INTRINSIC_BASE].name;
    return prims[index].name;
}

const prim_param *builtin_params(const builtins *b, uint32_t index, uint32_t *n, bool *known)
{
    *known = true;
    *n = 0;
    if (index < prim_count) {
        const prim_info *info = prim_info_of(b->vm, &prims[index]);
        *n = info->nparams;
        return info->params;
    }
    const loaded *l = loaded_of(b, index);
    *known = l && l->known;
    if (!*known) return NULL;
    *n = l->nparams;
    return l->params;
}

bool builtin_describe(builtins *b, symbol global, const prim_param *params, uint32_t n)
{
    for (uint32_t i = 0; i < b->n; i++) {
        loaded *l = &b->of[i];
        if (l->global != global) continue;
        if (n) {
            l->params = arena_alloc(&b->arena, n * sizeof *params);
            if (!l->params) return vm_out_of_memory(b->vm);
            memcpy(l->params, params, n * sizeof *params);
        }
        l->nparams = n;
        l->known = true;
        return true;
    }
    return true;
}
