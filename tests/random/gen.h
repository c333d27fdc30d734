/* gen.h: random Replay programs as trees.
 *
 * A seed gives a tree; the tree gives text, with its checkpoint blocks or, as the law of the language
 * says, with `if (true) {` for each `checkpoint … <` and `}` for its `>`. A program defines outs(p)
 * and loss(p), the point at(s) = p0 + s * v, and ends in a driver that prints values, gradients and
 * second derivatives under labels (see gen.c). Values are tame: every float variable stays within
 * [-2, 2], and what is drawn at random is drawn from Replay's own generator.
 *
 * The tree can be edited in small steps, each undoable, for a minimiser. Nothing here knows how a
 * program is run. */
#ifndef RANDOM_GEN_H
#define RANDOM_GEN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gen gen;

enum gen_text_flag {
    GEN_BLOCKS = 1, /* with the checkpoint blocks */
    GEN_TRACE = 2   /* branches print what they decide, prints are silent, and the driver evaluates the
                       loss and its gradient at steps around 0 instead */
};
/* Steps of the GEN_TRACE driver: differences over GEN_STEP and half of it for the loss, over
   GEN_STEP2 and half of it for the gradient. */
#define GEN_STEP 1e-4
#define GEN_STEP2 2e-4

typedef struct gen_config {
    /* Whether the language knows a builtin of this name yet; NULL: it knows all. */
    bool (*knows)(void *ctx, const char *name);
    void *ctx;
    /* Choices are made by these bytes as long as there are some (a fuzzer's), then by the seed. */
    const uint8_t *bytes;
    size_t nbytes;
    bool small; /* fewer statements and functions */
} gen_config;

/* The program of a seed. Never NULL (aborts without memory: this is a test program). */
gen *gen_new(uint64_t seed, const gen_config *config);
void gen_free(gen *g);
/* The text; the caller frees it. */
char *gen_text(const gen *g, unsigned flags);
/* What it was made from. */
uint64_t gen_seed(const gen *g);
/* Whether central differences say something about its gradient (no stop_grad of what is active). */
bool gen_has_differences(const gen *g);

/* Edits, numbered from 0 to gen_edits - 1, outermost first: a statement dropped, a construct replaced by
   its body, an expression by one of its parts or a constant, a block made plain. gen_edit applies one
   (false: it would change nothing); gen_undo takes the last applied one back. Numbers stay valid until
   the next successful gen_edit that is not undone. */
size_t gen_edits(gen *g);
bool gen_edit(gen *g, size_t k);
void gen_undo(gen *g);
/* Statements and expressions still in the text: a measure that edits make smaller. */
size_t gen_size(const gen *g);
#endif
