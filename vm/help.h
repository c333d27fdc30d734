/* help.h: what the table knows about a primitive, as text for people: help(f), `replay spec`. */
#ifndef REPLAY_HELP_H
#define REPLAY_HELP_H
#include "code.h"

typedef enum help_style { HELP_PLAIN /* for a terminal */, HELP_MARKDOWN /* for SPEC.md */ } help_style;

/* Signature, documentation, what the result is, derivative rule and examples of a row. */
void help_prim(const prim *p, help_style style, text *out);
/* Of a function: its row, when it is a primitive as a value, else its signature and help comment. */
void help_function(vm *m, const code *c, text *out);
#endif
