/* spill.h: values put on disk, and had back: states of loops and values that a block keeps, where its options
 * say `spill`.
 *
 * In go values, structures gone into; their large dense arrays are written to one file, which has no name
 * (it is unlinked when it is made, in TMPDIR), and what stays in memory is the same tree with a mark in the
 * place of each. Reading gives new arrays of the same bits, or nothing: a file that cannot be made, a disk
 * that is full, a read that fails and bytes that are not those written (a checksum tells) are all the same to
 * the caller, who computes what he wanted again. The first of each is noted, once. Nothing here aborts a run. */
#ifndef REPLAY_SPILL_H
#define REPLAY_SPILL_H
#include "vm.h"

typedef struct spill_file spill_file;
/* What is needed to read a group of values again; shared by its holders. */
typedef struct spilled spilled;

/* Writes what is large in v[0..n), whose values are held (residual.h), and puts marks in its place. NULL: nothing
   was written and v is as it was. */
spilled *spill_write(vm *m, value *v, uint32_t n);
/* v[0..n) with its marks made arrays again, into out (owned). False, out being V_UNDEFs: it cannot be had from disk;
   or, with the error set, there is no memory for it. */
bool spill_read(vm *m, const spilled *s, const value *v, value *out, uint32_t n);
spilled *spill_retain(spilled *s);
void spill_release(vm *m, spilled *s);
void spill_close(vm *m);

/* For tests: the next writes fail; the next reads find a byte that is not the one written. */
void spill_break(vm *m, bool writes, bool bytes);
typedef struct spill_count {
    uint64_t writes, reads, failed, bytes;
} spill_count;
spill_count spill_counts(const vm *m);
#endif
