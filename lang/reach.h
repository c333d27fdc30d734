/* reach.h: every function that a program can still call, as Code: the top-level functions, those of modules,
 * and those that values hold. */
#ifndef REPLAY_REACH_H
#define REPLAY_REACH_H
#include "host.h"

/* Calls visit once for each emitted Code (the root of its group). False when there was no memory for it. */
bool reach_codes(const host *h, const value *values, uint32_t n, void (*visit)(void *ctx, code *root), void *ctx);
#endif
