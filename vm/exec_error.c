/* exec_error.c: what happens when an instruction fails.
 *
 * In goes vm->error and the frames as they stood; the error gets the place, the operands and the
 * calls it happened in; the frames are released down to a TRY that catches it or to the entry. What
 * holds after: everything a released frame held or changed is as it was when the surviving one was
 * entered. */
#include "run.h"
#include <ctype.h>
#include <string.h>

/* The operator or name at the instruction's point, else the whole expression. */
static span caret(const instr *i)
{
    span s = i->at;
    if (!s.src || i->point < s.lo || i->point >= s.hi) return s;
    const char *t = s.src->text;
    uint32_t lo = i->point, hi = lo + 1;
    unsigned char c = (unsigned char)t[lo];
    if (isalnum(c) || c == '_' || c >= 0x80)
        while (hi < s.hi && (isalnum((unsigned char)t[hi]) || t[hi] == '_' || (unsigned char)t[hi] >= 0x80)) hi++;
    else if (strchr("+-*/%@^=!<>|.", c) && c)
        while (hi < s.hi && hi < lo + 3 && strchr("=>/|.", t[hi]) && t[hi]) hi++;
    return (span){s.src, lo, hi};
}

static const instr *instr_of(const frame *f)
{
    uint32_t k = *f->at >> 8;
    return k < f->run->ninstrs ? f->run->instrs[k] : NULL;
}

/* First operand word of the instruction a frame stands at; NULL when operands are not as in the tree. */
static const uint32_t *operand_words(const uint32_t *w)
{
    run_op o = (run_op)(uint8_t)*w;
    run_parts s = run_parts_of(w);
    return s.own || o == RUN_GO_NOT || o == RUN_RANGE ? s.src : NULL;
}

static void label_operand(vm *m, const frame *f, const instr *i, const uint32_t *words, uint32_t s)
{
    span at = i->src_at[s];
    if (!at.src || at.lo >= at.hi) return;
    if (at.lo == i->at.lo && at.hi == i->at.hi && i->nsrc > 1) return; /* nobody wrote it: a default */
    value v = f->r[words[s] >> 1];
    if (v.tag == V_UNDEF) return;
    text t;
    text_open(&t, &m->mem);
    reg g = i->src[s];
    symbol name = g < f->run->tree->nregs ? f->run->tree->reg_names[g] : 0;
    if (name) text_printf(&t, "%s: ", symbol_name(m->symbols, name));
    value_describe(m, v, &t);
    diag_label_add(m->error, at, "%s", text_str(&t));
    text_close(&t);
}

static void label_operands(vm *m, const frame *f, const instr *i)
{
    const uint32_t *words = operand_words(f->at);
    if (!words || !i->src_at || i->op == OP_CODE_DEFINED || i->op == OP_CODE_CONTRACT) return;
    bool few = i->nsrc <= 2, all = m->error->code == DIAG_SHAPE || m->error->code == DIAG_TYPE;
    uint32_t guilty = m->fail_arg >= 0 ? (uint32_t)m->fail_arg : UINT32_MAX;
    run_op o = (run_op)(uint8_t)*f->at;
    uint32_t seen = o == RUN_GO_NOT ? 1 : o == RUN_RANGE ? 2 : i->nsrc;
    if (guilty < seen) label_operand(m, f, i, words, guilty);
    if (!all || (guilty != UINT32_MAX && !few)) return;
    for (uint32_t s = 0, n = 0; s < seen && n < 4; s++)
        if (s != guilty) label_operand(m, f, i, words, s), n++;
}

/* Text that came with the program; its users look for their own line first. */
static bool supplied(const source *s) { return !strncmp(s->name, "<stdlib>", 8) || !strcmp(s->name, "<view>"); }

void exec_locate(struct exec *x, frame *f)
{
    vm *m = x->m;
    if (!m->error || m->error->nlabels) return;
    frame *g = f;
    while (g && (!instr_of(g) || !instr_of(g)->at.src)) g = g->up;
    if (!g) return;
    const instr *i = instr_of(g);
    if (supplied(i->at.src)) {
        frame *user = g;
        while (user && (!instr_of(user) || !instr_of(user)->at.src || supplied(instr_of(user)->at.src))) user = user->up;
        if (user) diag_label_add(m->error, caret(instr_of(user)), "%s", "");
        if (!user && !strcmp(i->at.src->name, "<view>")) return; /* nobody wrote that */
        if (user && i->op == OP_CODE_PRIM && i->imm < prim_count && !strncmp(prims[i->imm].name, "__", 2))
            return; /* how it was found out */
    }
    diag_label_add(m->error, caret(i), "%s", "");
    m->error->adjoint = i->flags & INSTR_ADJOINT;
    if (i->op == OP_CODE_DEFINED && i->src_at && i->src_at[0].src) diag_label_add(m->error, i->src_at[0], "first assigned here");
    if (g == f) label_operands(m, g, i);
    if (g == f && !supplied(i->at.src)) exec_advise(m, g, i, operand_words(f->at));
}

static void add_frame(vm *m, const frame *f)
{
    const instr *i = instr_of(f);
    if (!i || !i->at.src) return; /* a primitive as a value: its caller says more */
    bool nameless = !f->run->code->name && !(f->run->code->primal && f->run->code->primal->name);
    bool top = f->kind == FRAME_ENTRY && (!f->fn || (!f->up && nameless)); /* a script, or an entry of the prompt */
    if (nameless && supplied(i->at.src)) return;                           /* what grad and its kin, and pictures, are made of */
    if (top && m->error->nframes == 0) return;                             /* no call at all: the label says it */
    diag_frame_add(m->error, caret(i), top ? NULL : code_display_name(f->run->code));
}

static void release_slots(vm *m, frame *f)
{
    for (uint32_t s = 0; s < f->run->nslots; s++) {
        value v = f->r[s];
        f->r[s].tag = V_UNDEF;
        value_release(m, v);
    }
}

static bool catchable(const vm *m)
{
    switch (m->error->code) {
    case DIAG_MEMORY:
    case DIAG_BUDGET:
    case DIAG_INTERRUPT:
    case DIAG_INTERNAL:
    case DIAG_NAN: return false;
    default: return true;
    }
}

/* Results of a TRY at up->at: none, and the message. */
static bool give_message(struct exec *x, frame *up)
{
    vm *m = x->m;
    const uint32_t *w = up->at;
    const char *s = m->error->message ? m->error->message : "";
    diag *error = m->error;
    m->error = NULL;
    string *t = string_new(m, s, strlen(s));
    diag_free(error);
    if (!t) return false;
    for (uint32_t i = 0; i + 1 < w[2]; i++) up->r[w[4 + i]] = value_none();
    up->r[w[4 + w[2] - 1]] = value_object(&t->h);
    return true;
}

/* The failing instruction is itself a TRY, of something that could not even be called. */
static bool caught_here(struct exec *x, frame *f)
{
    vm *m = x->m;
    const uint32_t *w = f->at;
    if ((run_op)(uint8_t)*w != RUN_TRY || !catchable(m)) return false;
    for (uint32_t i = 0; i < w[3]; i++) operand_done(m, f->r, w[4 + w[2] + i]); /* their slots may be the results' */
    return give_message(x, f);
}

bool exec_unwind(struct exec *x)
{
    vm *m = x->m;
    if (!m->error) vm_fail(m, DIAG_INTERNAL, "a failure without an error");
    /* There may be no memory even for that: everything below does without. */
    if (m->error && caught_here(x, x->frame)) return true;
    exec_locate(x, x->frame);
    for (;;) {
        frame *f = x->frame, *up = f->up;
        frame_kind kind = (frame_kind)f->kind;
        bool catches = kind == FRAME_TRY && m->error && catchable(m);
        if (m->error && !catches) add_frame(m, f);
        release_slots(m, f);
        frame_restore(x, f);
        frame_pop(x);
        if (kind == FRAME_ENTRY) return false;
        if (catches) {
            if (give_message(x, up)) return true;
            exec_locate(x, up);
        }
    }
}
