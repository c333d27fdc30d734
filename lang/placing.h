/* placing.h: another placement of a program's checkpoint blocks, another budget, or no optimiser, tried on the
 * functions and values there are: nothing is compiled or run again. */
#ifndef REPLAY_PLACING_H
#define REPLAY_PLACING_H
#include "session.h"

typedef struct placing placing;

typedef struct placing_options {
    placement blocks;     /* unless blocks.set, as they are written */
    int64_t line;         /* only of this block, 0: of all */
    const char *function; /* which one's, with line */
    size_t budget;        /* bytes, 0: the one there is */
    bool unoptimised;     /* every instruction runs as it was written, so that every value is to be seen */
} placing_options;

/* From now on every function that can be reached (from the session, and from the n values) runs so, and what was
   derived from the functions is derived anew. NULL with vm->error. Nothing may run. */
placing *placing_begin(session *s, const value *values, uint32_t n, const placing_options *o);
/* As it was. */
void placing_end(placing *p);
#endif
