/* adjoint.h: arithmetic on cotangents and tangents of any structure: see prim_adjoint.def. */
#ifndef REPLAY_ADJOINT_H
#define REPLAY_ADJOINT_H
#include "vm.h"

/* What reads as zero: a symbolic zero, the part of something without numbers, an undefined element. */
static inline bool cot_is_zero(value v) { return v.tag <= V_ZERO; }
static inline bool cot_is_number(value v) { return value_is_scalar(v) || v.tag == V_ARRAY; }

/* a + b; a and b borrowed. bit 0 (1) of `last`: a (b) has no further use and may be written into. */
bool cot_add(prim_call *c, value a, value b, unsigned last, value *out);
/* Numbers to the dtype and shape of a numeric form f: summed over the axes that f lacks or has of size 1,
   stretched over those it has more of, cast. Symbolic zero when f is of integers or bools. */
bool cot_fit(prim_call *c, value number, value f, value *out);
/* Real zeros like the number x; a weak scalar gives a weak one. */
bool cot_zeros_like(vm *m, value x, value *out);
/* c cast and summed to form f, whatever their structure: __reduce_to. */
bool cot_reduce_to(prim_call *c, value cot, value f, value *out);
#endif
