/* number.h: numbers as text and back, the same in every locale.
 *
 * Printing gives the shortest text that reads back to the same number, and of several that short
 * the nearest; reading rounds correctly. Integers below 1e16 have neither point nor exponent
 * (`6`), others have an exponent from 1e16 on and below 1e-4 (`1e22`, `1e-9`), minus zero is `-0`,
 * and there are `inf`, `-inf` and `nan`. */
#ifndef REPLAY_NUMBER_H
#define REPLAY_NUMBER_H
#include "text.h"

/* Enough for any number and its NUL: a sign, 17 digits, a point, five zeros, an exponent. */
enum { NUMBER_MOST = 32 };

/* Writes the text and a NUL; returns its length. */
size_t number_format(double x, char out[NUMBER_MOST]);
/* Reads back to x as f32, also by way of f64. */
size_t number_format_f32(float x, char out[NUMBER_MOST]);

void number_print(double x, text *out);
void number_print_f32(float x, text *out);

/* Reads all of s[0..n): an optional sign, then decimal digits with an optional point and exponent
   (`1`, `.5`, `2.`, `1e-3`), or `0x` and hexadecimal digits, or `inf`, or `nan`; single `_` between
   digits. False, and *x as it was, for anything else, blanks included. Too large is inf, too small
   is 0, as in arithmetic. */
bool number_parse(const char *s, size_t n, double *x);
#endif
