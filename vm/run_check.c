/* run_check.c: looks at a run form: as text, and whether it keeps its promises about slots.
 *
 * The check is an abstract run over all paths at once: for every instruction it knows which slots hold
 * a value that is owed (must be used up before the end), and finds reads of slots that hold none, the
 * overwriting of an owed one, paths that meet with different slots owed, and values left at RETURN.
 * Hidden slots of loops (counters, flags) hold scalars and are owed nothing. */
#include "run.h"
#include <string.h>

static const char *const names[RUN_OPS] = {
    [RUN_CONST] = "const",
    [RUN_MOVE] = "move",
    [RUN_COPY] = "copy",
    [RUN_DROP] = "drop",
    [RUN_JUMP] = "jump",
    [RUN_GO] = "go",
    [RUN_GO_NOT] = "go_not",
    [RUN_RANGE] = "range",
    [RUN_RANGE_NEXT] = "range_next",
    [RUN_STEP] = "step",
    [RUN_TAPES] = "tapes",
    [RUN_TAPES_NEXT] = "tapes_next",
    [RUN_KEEP] = "keep",
    [RUN_KEEP_END] = "keep_end",
    [RUN_PRIM] = "prim",
    [RUN_PRIM_KEEP] = "prim_keep",
    [RUN_ADD] = "add",
    [RUN_SUB] = "sub",
    [RUN_MUL] = "mul",
    [RUN_DIV] = "div",
    [RUN_NEG] = "neg",
    [RUN_LT] = "lt",
    [RUN_LE] = "le",
    [RUN_GT] = "gt",
    [RUN_GE] = "ge",
    [RUN_EQ] = "eq",
    [RUN_NE] = "ne",
    [RUN_ZMUL] = "zmul",
    [RUN_ACC] = "acc",
    [RUN_FIT] = "fit",
    [RUN_FORM] = "form",
    [RUN_INDEX] = "index",
    [RUN_SETINDEX] = "setindex",
    [RUN_TUPLE] = "tuple",
    [RUN_UNPACK] = "unpack",
    [RUN_CALL] = "call",
    [RUN_FORCE] = "force",
    [RUN_TRY] = "try",
    [RUN_MEASURE] = "measure",
    [RUN_IMPORT] = "import",
    [RUN_RETURN] = "return",
    [RUN_CLOSURE] = "closure",
    [RUN_GLOBAL] = "global",
    [RUN_DEFINED] = "defined",
    [RUN_SELDEF] = "seldef",
    [RUN_FIELD] = "field",
    [RUN_OTHER] = "other",
};

void run_list(const run *r, text *out)
{
    for (uint32_t at = 0; at < r->n;) {
        const uint32_t *w = r->w + at;
        run_parts s = run_parts_of(w);
        run_op o = (run_op)(uint8_t)*w;
        text_printf(out, "%4u  ", at);
        for (uint32_t i = 0; i < s.ndst; i++) text_printf(out, "%s%u", i ? ", " : "", s.dst[i]);
        text_printf(out, "%s%s", s.ndst ? " = " : "", names[o]);
        if (o == RUN_PRIM || o == RUN_PRIM_KEEP) text_printf(out, " %s", prims[w[1] & ~PRIM_SPREAD].name);
        if (o == RUN_OTHER) text_printf(out, " %s", op_rows[r->instrs[*w >> 8]->op].name);
        for (uint32_t i = 0; i < s.nsrc; i++) text_printf(out, "%s%u%s", i ? ", " : " ", s.src[i] >> 1, s.src[i] & 1 ? "!" : "");
        if (o == RUN_DROP || o == RUN_KEEP_END) text_printf(out, " %u", w[1]);
        if (o == RUN_RANGE_NEXT) text_printf(out, " %u, %u", w[1], w[2]);
        if (s.target != SLOT_NONE) text_printf(out, " -> %u", s.target);
        text_puts(out, "\n");
        at += s.size;
    }
}

/* --- the check ------------------------------------------------------------------------------ */

enum { EMPTY = 0, OWED = 1, LOOSE = 2 /* a loop's own scalar, or a scalar left behind */ };

typedef struct checker {
    vm *m;
    const run *r;
    uint8_t **state; /* by word; NULL: not reached */
    uint32_t *todo, ntodo;
    uint8_t *queued;
    arena a;
    const char *fault;
    uint32_t at;
} checker;

static bool fault(checker *k, uint32_t at, const char *what)
{
    if (!k->fault) {
        k->fault = what;
        k->at = at;
    }
    return false;
}

static bool reach(checker *k, uint32_t from, uint32_t at, const uint8_t *now)
{
    uint32_t n = k->r->nslots;
    if (at >= k->r->n) return fault(k, from, "runs past the end");
    uint8_t *s = k->state[at];
    if (!s) {
        if (!(s = arena_alloc(&k->a, n + 1))) return false; /* then there is no check */
        memcpy(s, now, n);
        k->state[at] = s;
        k->queued[at] = 1;
        k->todo[k->ntodo++] = at;
        return true;
    }
    /* A constant set before a loop and a value computed in it meet in one slot: then it is owed. What
       one path left behind and the other did not is nothing. */
    bool changed = false;
    for (uint32_t i = 0; i < n; i++) {
        if (s[i] == now[i]) continue;
        if (s[i] != LOOSE && now[i] != LOOSE) return fault(k, from, "paths meet with different values alive");
        if (s[i] == LOOSE) {
            s[i] = now[i];
            changed = true;
        }
    }
    if (changed && !k->queued[at]) {
        k->queued[at] = 1;
        k->todo[k->ntodo++] = at;
    }
    return true;
}

static bool write_slots(checker *k, uint32_t at, uint8_t *now, const uint32_t *dst, uint32_t n, uint8_t what)
{
    for (uint32_t i = 0; i < n; i++) {
        if (now[dst[i]] == OWED) return fault(k, at, "overwrites a value");
        now[dst[i]] = what;
    }
    return true;
}

static bool check_at(checker *k, uint32_t at, uint8_t *now)
{
    const uint32_t *w = k->r->w + at;
    run_op o = (run_op)(uint8_t)*w;
    run_parts s = run_parts_of(w);
    bool scalar = o == RUN_RANGE || (o == RUN_CONST && !value_is_heap(k->r->tree->consts[w[2]]));
    uint8_t written = scalar ? LOOSE : OWED;
    for (uint32_t i = 0; i < s.nsrc; i++)
        if (now[s.src[i] >> 1] == EMPTY) return fault(k, at, "reads a slot without a value");
    for (uint32_t i = 0; i < s.nsrc; i++)
        if (s.src[i] & 1) now[s.src[i] >> 1] = EMPTY;
    if (o == RUN_DROP || o == RUN_KEEP_END) {
        if (now[w[1]] == EMPTY) return fault(k, at, "drops nothing");
        now[w[1]] = EMPTY;
    }
    if (o == RUN_TAPES_NEXT) {
        if (!reach(k, at, s.target, now)) return false;
        const uint32_t *e = w + 4 + w[1];
        for (uint32_t j = 0; j < w[1]; j++) {
            if (!write_slots(k, at, now, e + 1, *e, OWED)) return false;
            e += 1 + *e;
        }
        return reach(k, at, at + s.size, now);
    }
    if (!write_slots(k, at, now, s.dst, s.ndst, written) || !write_slots(k, at, now, s.dst2, s.ndst2, LOOSE)) return false;
    if (o == RUN_RETURN)
        for (uint32_t i = 0; i < k->r->nslots; i++)
            if (now[i] == OWED) return fault(k, at, "leaves a value behind");
    if (s.target != SLOT_NONE && !reach(k, at, s.target, now)) return false;
    return !s.falls || reach(k, at, at + s.size, now);
}

bool run_check(vm *m, const run *r)
{
    checker k = {.m = m, .r = r};
    arena_open(&k.a, &m->mem, MEM_OTHER);
    k.state = arena_alloc(&k.a, r->n * sizeof *k.state);
    k.todo = arena_alloc(&k.a, r->n * sizeof *k.todo);
    k.queued = arena_alloc(&k.a, r->n);
    uint8_t *now = arena_alloc(&k.a, r->nslots + 1);
    if (k.state && k.todo && k.queued && now) {
        for (uint32_t i = 0; i < r->nentry; i++)
            if (r->entry[i] != SLOT_NONE) now[r->entry[i]] = OWED;
        bool fine = reach(&k, 0, 0, now);
        while (fine && k.ntodo) {
            uint32_t at = k.todo[--k.ntodo];
            k.queued[at] = 0;
            memcpy(now, k.state[at], r->nslots);
            fine = check_at(&k, at, now);
        }
    }
    arena_close(&k.a);
    if (k.fault) vm_fail(m, DIAG_INTERNAL, "run form of %s at %u: %s", code_display_name(r->code), k.at, k.fault);
    return !k.fault;
}
