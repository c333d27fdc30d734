/* adjoint_view.h: forward and adjoint program of a function side by side, for people. */
#ifndef REPLAY_ADJOINT_VIEW_H
#define REPLAY_ADJOINT_VIEW_H
#include "../vm/vm.h"
#include "../vm/code.h"

/* Derives f for the mask (see code_derive) and writes its source lines with what the forward pass keeps
   (left, read downwards) and what the adjoint program does for each (right, read upwards). Gives values of f
   names that are only for reading, so f is not to be listed otherwise afterwards. False with the VM's error set. */
bool adjoint_view(vm *m, code *f, uint64_t mask, text *out);
#endif
