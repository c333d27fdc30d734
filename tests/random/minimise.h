/* minimise.h: making a failing random program small. */
#ifndef RANDOM_MINIMISE_H
#define RANDOM_MINIMISE_H
#include "trial.h"

/* g fails with *v; after at most `most` checks it is smaller and still fails so. Gives how many it took. */
size_t minimise(gen *g, verdict *v, size_t most);
#endif
