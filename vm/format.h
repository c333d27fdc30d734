/* format.h: Python's format specifications, for format() and whoever lays out numbers. */
#ifndef REPLAY_FORMAT_H
#define REPLAY_FORMAT_H
#include "vm.h"

/* Appends `fmt` (n bytes) with its replacement fields filled from values[0..nvalues). False with an error
   that shows the field; *which is the value it is about, or -1. */
bool format_text(vm *m, const char *fmt, size_t n, const value *values, uint32_t nvalues, text *out, int *which);
#endif
