/* asm.h: what the two parts of the assembler share: asm_text.c reads words, registers and constants,
 * asm.c instructions and functions. Readers return false with the fault reported. */
#ifndef REPLAY_ASM_H
#define REPLAY_ASM_H
#include "code.h"
#include "vm.h"

enum { ASM_NEST_MAX = 1000 };

typedef struct word {
    uint32_t at, n;
} word;
typedef struct operand {
    reg r;
    symbol name;
    span at;
    uint32_t width;
} operand;
typedef struct label {
    word w;
    reg r;
} label;

/* One function being read. */
typedef struct scope {
    builder b;
    label *labels; /* hash; w.n 0: free */
    uint32_t nlabels, cap;
} scope;

typedef struct assembler {
    vm *m;
    source *src;
    const char *s;
    uint32_t n, at;
    uint32_t depth;
    bool failed;
    scope *f;
    arena scratch;
} assembler;

/* A list in the scratch arena. */
typedef struct operands {
    operand *of;
    uint32_t n, cap;
} operands;
typedef struct words {
    word *of;
    uint32_t n, cap;
} words;

/* Reports a fault at bytes [lo, hi) of the text; always false. */
bool asm_fault(assembler *p, uint32_t lo, uint32_t hi, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
bool asm_refused(assembler *p); /* no memory; always false */
/* Room for one more element of a scratch list of n. */
void *asm_room(assembler *p, void *of, uint32_t n, uint32_t *cap, size_t size);

static inline char asm_here(const assembler *p) { return p->at < p->n ? p->s[p->at] : 0; }
bool asm_is_digit(char c);
bool asm_is_letter(char c);
void asm_blanks(assembler *p); /* blanks, comments and positions, on this line */
void asm_lines(assembler *p);  /* these and ends of lines */
bool asm_accept(assembler *p, const char *s);
bool asm_expect(assembler *p, const char *s);
word asm_word(assembler *p); /* a word with dots inside, or `%` and digits; n is 0 when there is none */
bool asm_word_is(const assembler *p, word w, const char *s);
bool asm_count(assembler *p, int64_t most, int64_t *out);
bool asm_string(assembler *p, text *out); /* at the opening quote */
bool asm_name(assembler *p, symbol *out); /* a word or a string; `_` gives 0 */
bool asm_const(assembler *p, value *out); /* *out owned */
bool asm_define(assembler *p, word w, reg r);
bool asm_use(assembler *p, reg *out, span *at);
bool asm_param(assembler *p, block *k); /* a fresh parameter of k named by the next word */
#endif
