/* help.h: what the table knows about a primitive, as text for people: help(f), `replay spec`. */
#ifndef REPLAY_HELP_H
#define REPLAY_HELP_H
#include "code.h"

typedef enum help_style { HELP_PLAIN /* for a terminal */, HELP_MARKDOWN /* for SPEC.md */ } help_style;

/* Signature, documentation, what the result is, derivative rule and examples of a row. */
void help_prim(const prim *p, help_style style, text *out);
/* What a function's help comment says: doc is its lines without `# `. Lines that begin with two spaces are
   examples, and a function that has some also gets a line on its derivative. */
void help_written(const char *doc, help_style style, text *out);
/* How many of the `most` characters from a parenthesis on go up to the one that closes it. */
size_t help_head(const char *open, size_t most);
/* Of a function: its row, when it is a primitive as a value, else its signature and help comment. */
void help_function(vm *m, const code *c, text *out);
/* The names of all functions that need no import, by group. */
void help_all(vm *m, text *out);

/* The groups of prim.def, in its order. */
typedef struct help_group {
    const char *title;
    uint32_t rows;
} help_group;
extern const help_group help_groups[];
extern const uint32_t help_group_count;
#endif
