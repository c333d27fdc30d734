/* adjoint_view.h: forward and adjoint program of a function side by side, for people. */
#ifndef REPLAY_ADJOINT_VIEW_H
#define REPLAY_ADJOINT_VIEW_H
#include "../vm/vm.h"
#include "../vm/code.h"

/* Derives f for the mask (see code_derive) and writes, under each source line of f, what the forward
   pass does there (left) and what the adjoint program does (right). The adjoint program runs from the
   last line up. False with the VM's error set. */
bool adjoint_view(vm *m, code *f, uint64_t mask, text *out);
#endif
