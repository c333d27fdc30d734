/* elementwise.h: the driver of elementwise primitives: dtypes, broadcasting, tiles. */
#ifndef REPLAY_ELEMENTWISE_H
#define REPLAY_ELEMENTWISE_H
#include "prim.h"
#include "prim_ids.h"

#define ELEMENTWISE_ARGS 4 /* the most an elementwise primitive takes */
#define ELEMENTWISE_TILE 1024

/* The dtypes an elementwise primitive works in. `in`: what the arguments are converted to (those of a
   condition stay bool), `out`: of the result, `weak`: of an unboxed f64 result. */
typedef struct elementwise_types {
    dtype in, out;
    weakness weak;
} elementwise_types;
/* From the descriptions of n arguments. False with the error set when the primitive is not defined there. */
bool elementwise_types_of(prim_call *c, const shaped *s, elementwise_types *t);
/* As above for a call that is known to have no error (the fuser); true when defined. */
bool elementwise_promote(vm *m, const prim *p, const shaped *s, uint32_t n, elementwise_types *t);
/* The tile kernel for arguments of dtype d; NULL when there is only a checked one, or none. */
tile_kernel *elementwise_kernel_of(const prim *p, dtype d);

/* The kernel of every elementwise row: c->args are numbers and arrays (or this is an error). */
bool kern_elementwise(prim_call *c);
/* The same when all n arguments are unboxed scalars. */
bool elementwise_scalars(vm *m, const prim *p, const value *args, uint32_t n, value *out);
/* The error of a checked i64 kernel that stopped at these operands. Always false. */
bool elementwise_fault(prim_call *c, const int64_t *operands);
#endif
