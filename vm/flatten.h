/* flatten.h: what the two halves of flattening share: the state of the walk, words and labels, slots and moves
 * (flatten_slots.c), for control and instructions (flatten.c). */
#ifndef REPLAY_FLATTEN_H
#define REPLAY_FLATTEN_H
#include "run.h"

#define OCCUPIED 1u /* a live register is here; the rest of the state counts reservations */
#define RESERVED 2u
#define CHOSEN 0x80000000u /* while the results of one construct are given slots: it has this one already */

typedef struct flat {
    vm *m;
    code *c;
    const code *tree;
    arena arena;
    uint32_t *slot;  /* by register */
    uint32_t *hint;  /* by register: the reserved slot it is yielded to, SLOT_NONE */
    uint8_t *pinned; /* by register: a scalar that a loop owns: its counter, a constant set before it */
    uint8_t *plain;  /* by register: a constant without an object, so that nothing need drop it */
    uint32_t *state;
    uint32_t nslots, slots_cap;
    uint32_t *free;
    uint32_t nfree, free_cap;
    struct change *changes;
    uint32_t nchanges, changes_cap; /* of the two, to be undone after an IF's first arm */
    uint32_t arms;                  /* first arms around the instruction being flattened */
    struct traffic *traffic;
    uint32_t traffic_cap; /* by slot: see moves */
    uint32_t *w;
    uint32_t n, cap;
    const instr **instrs;
    uint32_t ninstrs, instrs_cap;
    uint32_t index; /* of the instruction being flattened, shifted */
    uint32_t loops; /* around the instruction being flattened */
    bool uses_self, failed;
} flat;

/* One value to carry from a register (or, when reg is REG_NONE, from `from` alone) to a slot. */
typedef struct move {
    reg r;
    uint32_t from, to;
    bool last, done;
} move;

void flat_close(flat *f); /* gives back all but the arena */
void flat_refuse(flat *f);
void *flat_take(flat *f, size_t bytes);
void flat_word(flat *f, uint32_t x);
void flat_op(flat *f, run_op o);
void flat_set_instr(flat *f, const instr *i);
uint32_t flat_label_word(flat *f);
void flat_label_here(flat *f, uint32_t at);
void flat_set_state(flat *f, uint32_t s, uint32_t state);
uint32_t flat_slot_new(flat *f, uint32_t state);
void flat_undo(flat *f, uint32_t mark, uint32_t nslots);
void flat_slot_unuse(flat *f, uint32_t s, uint32_t what);
uint32_t flat_define(flat *f, reg r);
void flat_dies(flat *f, reg r);
uint32_t flat_operand(flat *f, reg r, bool last);
void flat_operands(flat *f, const live_instr *li);
void flat_drops(flat *f, const drop *d);
void flat_moves(flat *f, move *v, uint32_t n);
void flat_yield(flat *f, const live_instr *li, uint32_t skip, const uint32_t *to, uint32_t *go);
void flat_hints(flat *f, const live_block *b, uint32_t skip, const uint32_t *to);
#endif
