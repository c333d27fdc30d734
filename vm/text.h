/* text.h: a growing byte string, and interned names.
 *
 * A `text` that could not grow sets `failed` and drops further input, so that a printer need not
 * check each step; whoever uses the result checks once. */
#ifndef REPLAY_TEXT_H
#define REPLAY_TEXT_H
#include "memory.h"
#include <stdarg.h>

typedef struct text {
    memory *m;
    char *s; /* NUL-terminated once non-NULL */
    size_t n, cap;
    bool failed;
} text;
void text_open(text *t, memory *m);
void text_close(text *t);
void text_clear(text *t);
void text_add(text *t, const char *s, size_t n);
void text_puts(text *t, const char *s);
void text_putc(text *t, char c);
void text_printf(text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(text *t, const char *fmt, va_list ap);
/* "" when empty. */
const char *text_str(const text *t);

/* Interned names: equal names have equal numbers. 0 is no name. */
typedef uint32_t symbol;
typedef struct symbols symbols;
symbols *symbols_open(memory *m);
void symbols_close(symbols *s);
/* 0 when there is no memory. */
symbol symbol_of(symbols *s, const char *name, size_t n);
/* NUL-terminated, lives as long as the table. symbol_name(s, 0) is "". */
const char *symbol_name(const symbols *s, symbol y);

/* UTF-8: decodes one code point at s[0..n), returns its length in bytes, or 0 when invalid
   (overlong, surrogate, beyond U+10FFFF, truncated). */
int utf8_decode(const char *s, size_t n, uint32_t *cp);
/* Writes 1 to 4 bytes, returns how many. */
int utf8_encode(uint32_t cp, char out[4]);
/* Code points in valid UTF-8. */
size_t utf8_length(const char *s, size_t n);
/* Columns on a terminal (0 for combining marks, 2 for wide characters). */
int utf8_width(uint32_t cp);
#endif
