/* print.h: values as text for people: print(), the REPL, messages.
 *
 * A scalar is the shortest text that reads back to the same number. An array is laid out in nested
 * brackets with aligned columns, elements to 8 significant digits (whole numbers in full); one of more
 * than 1000 elements shows three at each end of an axis, and its dtype and shape behind. Strings stand
 * as they are at the top and quoted inside records and tuples. Lines are at most 80 columns where a
 * break is possible. Nesting beyond PRINT_DEPTH is `...`. */
#ifndef REPLAY_PRINT_H
#define REPLAY_PRINT_H
#include "vm.h"

enum { PRINT_DEPTH = 100, PRINT_WIDTH = 80, PRINT_THRESHOLD = 1000, PRINT_EDGE = 3 };

typedef enum print_style {
    PRINT_PLAIN, /* what print() shows */
    PRINT_REPR,  /* strings quoted at the top, too */
    PRINT_HEADER /* as PRINT_REPR; an array has its dtype and shape on a line before it */
} print_style;

/* Appends v to `out`, continuing the line that `out` ends in: further lines are indented to fit. */
void value_print(vm *m, value v, print_style style, text *out);
/* A string in quotes with escapes, as a program would write it. */
void string_print_quoted(const char *s, size_t n, text *out);
/* Columns on a terminal of valid UTF-8. */
size_t text_columns(const char *s, size_t n);
#endif
