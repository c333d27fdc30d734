/* exec.h: running Code.
 *
 * The interpreter is one loop over the run form (run.h). Calls, forced regions, imports, `try` and
 * `measure` push frames on a segmented heap stack: no C recursion follows the user's recursion. A
 * frame is the registers of one Code plus a header that says what to do when it returns or fails.
 *
 * Under an error the frames are unwound to the nearest TRY frame or to the entry of vm_run/vm_call;
 * each frame's registers are released; mute, gradient depth, random state of a forced region, and
 * keep contexts go back to what they were when the surviving frame was entered. */
#ifndef REPLAY_EXEC_H
#define REPLAY_EXEC_H
#include "vm.h"
#include "code.h"

bool exec_open(vm *m);
void exec_close(vm *m);

/* Runs c, a Code without captures or parameters, in a fresh frame. *out owned. False: vm->error has
   place and frames. Results of the Code beyond the first are dropped. */
bool vm_run(vm *m, code *c, value *out);
/* Calls a function value. Arguments are borrowed. nresults values are given. */
bool vm_call(vm *m, value f, const value *args, uint32_t nargs, value *out, uint32_t nresults);
#endif
