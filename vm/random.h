/* random.h: the counter-based generator under rand, randn and the rest.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
 * Block n of a key is a function of (key, n), so any thread makes any part of a draw. One draw of m
 * elements takes the next blocks of the state: an f64 or i64 element takes half a block (64 bits), an
 * f32 element a quarter; the blocks are rounded up. Nothing depends on threads or processor: what is
 * not whole arithmetic is single roundings and SLEEF's functions without fused operations. */
#ifndef REPLAY_RANDOM_H
#define REPLAY_RANDOM_H
#include "vm.h"

/* Words 4 * i .. 4 * i + 3 of `out` are block `first + i` of the key. */
void philox(uint64_t key, uint64_t first, int64_t blocks, uint32_t *out);

/* Fill n elements of dtype f32 or f64, and step the state. */
void random_uniform(vm *m, dtype d, int64_t n, void *out);
void random_normal(vm *m, dtype d, int64_t n, void *out);
/* n numbers of 64 bits. */
void random_words(vm *m, int64_t n, uint64_t *out);
/* A number below `range` (> 0) from 64 random bits; no value is likelier than another by more than
   range / 2^64. */
static inline uint64_t random_below(uint64_t bits, uint64_t range) { return (uint64_t)(((unsigned __int128)bits * range) >> 64); }
#endif
