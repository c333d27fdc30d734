/* adjoint_text.h: instructions of a derived Code as a person would write them, for adjoint_view.c. */
#ifndef REPLAY_ADJOINT_TEXT_H
#define REPLAY_ADJOINT_TEXT_H
#include "../vm/code.h"
#include "../vm/vm.h"

/* How the registers of a Code are shown. What is used once, in the block that defines it, and has no name of
 * the user's stands where it is used; so do constants, and forms always. */
typedef struct speller {
    vm *m;
    arena *a;
    const code *f;      /* the primal */
    const code *c;      /* what is spelled */
    const instr **def;  /* by register: what defines it; NULL: a parameter */
    const block **home; /* by register: the block that defines it */
    const block **user; /* by register: the last block that uses it */
    uint32_t *uses, *number;
    uint8_t *literal; /* by register of f: is it a constant? */
    uint32_t numbered;
    struct {
        uint32_t place, arm;
    } arms[64];
    uint32_t narms;       /* branches around what is being spelled */
    const instr **places; /* the first operation of f at each place, a table; made when first asked for */
    uint32_t place_mask;
    const struct speller *with; /* names are told apart where this one's Code has several; NULL: its own */
} speller;

/* Gives each value of f without a name the text it was written as, and each of several values of one name a
   subscript, the line it is made in, so that whatever is derived from f afterwards carries these names. */
bool adjoint_names(vm *m, code *f);

/* Names what derived Code has no names for: forms, and results of branches and loops. */
void adjoint_names_derived(vm *m, const code *fwd, const code *rev);

bool speller_open(speller *s, vm *m, arena *a, const code *f, const code *c);
bool spell_inline(const speller *s, reg r);   /* shown where it is used, and nowhere else */
bool spell_nameless(const speller *s, reg r); /* a form, a tape, a residual: nothing a person would name */
bool spell_is_zero(const speller *s, reg r);  /* the constant symbolic zero */
void spell_reg(speller *s, reg r, text *out);
void spell_regs(speller *s, const reg *r, uint32_t n, text *out);
/* "x_adj += g @ w'": empty when there is nothing to say. */
void spell_instr(speller *s, const instr *i, text *out);
#endif
