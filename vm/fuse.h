/* fuse.h: elementwise primitives that follow one another, run over tiles without arrays in between. */
#ifndef REPLAY_FUSE_H
#define REPLAY_FUSE_H
#include "run.h"

/* The fuser's working memory, one per VM; see fuse.c. */
bool fuse_open(struct exec *x);
void fuse_close(struct exec *x);

typedef enum fuse_result { FUSE_NONE, FUSE_DONE, FUSE_FAIL } fuse_result;
/* w stands at an elementwise primitive. FUSE_DONE: it and what follows ran, up to *next; FUSE_NONE: nothing
   happened; FUSE_FAIL: no memory, the error is set and nothing happened. */
fuse_result fuse_run(struct exec *x, frame *f, const uint32_t *w, const uint32_t **next);
#endif
