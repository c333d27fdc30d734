/* profile.h: time and bytes by source line and primitive, under --profile. */
#ifndef REPLAY_PROFILE_H
#define REPLAY_PROFILE_H
#include "run.h"

bool profile_open(struct exec *x); /* when the configuration asks for it */
void profile_close(struct exec *x);
/* The instruction at w of f took `seconds` and made `bytes`; `what` is a name that stays. */
void profile_add(struct exec *x, const frame *f, const uint32_t *w, const char *what, double seconds, size_t bytes);
/* The table, for people. */
void profile_print(vm *m, double seconds, text *out);
#endif
