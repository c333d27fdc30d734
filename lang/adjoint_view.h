/* adjoint_view.h: forward and adjoint program of a function side by side, for people. */
#ifndef REPLAY_ADJOINT_VIEW_H
#define REPLAY_ADJOINT_VIEW_H
#include "../vm/vm.h"
#include "../vm/code.h"

typedef enum adjoint_kind { ADJOINT_NOTE /* what a notation means */, ADJOINT_SOURCE, ADJOINT_MORE } adjoint_kind;
typedef struct adjoint_row {
    adjoint_kind kind;
    uint32_t line; /* of the source; the rows of a line come one after another */
    const char *left;
    size_t n;          /* the source, or what the forward pass keeps */
    const char *right; /* what the adjoint program does, or NULL */
    bool replay;       /* it begins or ends a replay */
} adjoint_row;
typedef void adjoint_sink(void *ctx, const adjoint_row *r);

/* Derives f for the mask (see code_derive) and gives its source lines with what the forward pass keeps
   (left, read downwards) and what the adjoint program does for each (right, read upwards). Gives values of f
   names that are only for reading, so f is not to be listed otherwise afterwards. False with the VM's error set. */
bool adjoint_rows(vm *m, code *f, uint64_t mask, adjoint_sink *give, void *ctx);
/* The same as text. */
bool adjoint_view(vm *m, code *f, uint64_t mask, text *out);
#endif
