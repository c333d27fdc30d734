/* digest.h: 64 bits that tell values apart, for what is looked up by the arguments it was made from. */
#ifndef REPLAY_DIGEST_H
#define REPLAY_DIGEST_H
#include "vm.h"

/* Of n values together: of their tags, dtypes, shapes and all their bits, however their arrays are laid out. Two lists that
   differ have the same by chance, in about 1 of 2^64 pairs. False: something among them has no digest (a closure, an open
   residual). Large arrays are read by several threads; how many makes no difference. */
bool digest_of(const vm *m, const value *v, uint32_t n, uint64_t *out);
#endif
