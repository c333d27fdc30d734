/* signals.h: Ctrl-C, SIGTERM and SIGHUP while a script runs: the first stops it at its next instruction, as an
 * error would, so that files are whole and memory is given back; a second one ends the process at once. */
#ifndef REPLAY_SIGNALS_H
#define REPLAY_SIGNALS_H

/* From now on they set *flag, a VM's interrupt, and at once if one has come before; NULL: they do what they did
   before. One flag per process. */
void signals_watch(volatile int *flag);
/* If one of them came, ends the process by it, so that a shell sees what happened (128 + its number). */
void signals_leave(void);
#endif
