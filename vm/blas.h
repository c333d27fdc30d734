/* blas.h: BLIS, which is one for the whole process: the kernels it runs on, and the memory it works in.
 *
 * BLIS asks libc for memory by itself and ends the process when there is none. So it is asked to before:
 * blas_reserve finds all that `threads` threads can want within BLIS at once, leaves it in BLIS's pools, where it stays
 * for the process, and enters it in the books of the VM, under its limit. A product that was refused goes to
 * our own kernels, which give the same bits; LAPACK, which has no other kernels, is not called. */
#ifndef REPLAY_BLAS_H
#define REPLAY_BLAS_H
#include "vm.h"

/* True when this VM may have `threads` threads within BLIS or LAPACK; until vm_close, then. False, with nothing
   changed but mem.refused, when there is no room: no error is set. For one thread at a time of a VM. */
bool blas_reserve(vm *m, int threads);
/* Ends what the VM reserved. */
void blas_release(vm *m);
/* The kernel set in use, as "skx", when it follows the definition of products in gemm.h; else NULL. */
const char *blas_kernels(void);
#endif
