/* tokens.c: changes of programs that leave most of them programs (libFuzzer's custom mutator). In: a text; out: one
 * in which a piece, which is some tokens with balanced brackets or a line, was taken out, doubled, put elsewhere, put for
 * another, or set into a construct. Pieces are found by the language's own lexer. A third of the changes, and those
 * of what is no text, are libFuzzer's, which has the language's words (text.dict, see Makefile). */
#include "../../lang/lex.h"
#include "parse_tables.h"
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb, uint8_t *out, size_t most, unsigned seed);

enum { TOKENS = 2000 };
typedef struct word {
    uint32_t lo, hi;
    int kind;
} word;
typedef struct words {
    word w[TOKENS];
    uint32_t n;
} words;
typedef struct piece {
    uint32_t lo, hi;
} piece;

static uint32_t below(unsigned *seed, uint32_t n)
{
    *seed = *seed * 1103515245u + 12345u;
    return n ? (*seed >> 8) % n : 0;
}

static void read_words(const uint8_t *data, size_t size, words *t)
{
    static memory mem;
    static symbols *names;
    t->n = 0;
    if ((!mem.pool && !memory_open(&mem)) || (!names && !(names = symbols_open(&mem)))) abort();
    source *src = source_new(&mem, "fuzz", (const char *)data, size);
    if (!src) return;
    bool no_memory;
    diag *d = lex_check(&mem, src, &no_memory);
    arena a;
    arena_open(&a, &mem, MEM_AST);
    lexer lx;
    lex_open(&lx, &mem, names, src, &a, false);
    token k = {0};
    while (!d && t->n < TOKENS && lex_next(&lx, &k) && k.kind != T_EOF) {
        t->w[t->n++] = (word){k.at.lo, k.at.hi, k.kind};
        diag_free(k.fault);
    }
    if (k.kind == T_EOF) diag_free(k.fault);
    diag_free(d);
    arena_close(&a);
    source_release(src);
}

static int turn(int kind)
{
    return kind == T_LP || kind == T_LB || kind == T_LBRACE ? 1 : kind == T_RP || kind == T_RB || kind == T_RBRACE ? -1 : 0;
}

/* A token, with what follows it up to where its brackets are closed; some more tokens, or the rest of the line. */
static piece some(const words *t, const uint8_t *data, unsigned *seed)
{
    uint32_t i = below(seed, t->n), j = i, more = below(seed, 4) ? below(seed, 5) : 0;
    bool line = below(seed, 3) == 0;
    if (line)
        while (i && !memchr(data + t->w[i - 1].hi, '\n', t->w[i].lo - t->w[i - 1].hi)) i--;
    for (int open = 0; j < t->n; j++) {
        open += turn(t->w[j].kind);
        if (open > 0) continue;
        if (line ? j + 1 < t->n && memchr(data + t->w[j].hi, '\n', t->w[j + 1].lo - t->w[j].hi) : !more--) break;
    }
    if (j == t->n) j--;
    return (piece){t->w[i].lo, t->w[j].hi};
}

/* Put for [at.lo, at.hi) of data: before, [from, from + n), after. */
static size_t put(uint8_t *data, size_t size, size_t most, piece at, const char *before, const uint8_t *from, size_t n, const char *after)
{
    size_t b = strlen(before), a = strlen(after), all = at.lo + b + n + a + (size - at.hi);
    uint8_t *out = malloc(all + 1);
    if (!out) abort();
    memcpy(out, data, at.lo);
    memcpy(out + at.lo, before, b);
    if (n) memcpy(out + at.lo + b, from, n);
    memcpy(out + at.lo + b + n, after, a);
    memcpy(out + at.lo + b + n + a, data + at.hi, size - at.hi);
    if (all > most) all = most;
    memcpy(data, out, all);
    free(out);
    return all;
}

static const char *const around[][2] = {{"checkpoint < ", " >"},
                                        {"if (true) { ", " }"},
                                        {"for (i in 0..3) { ", " }"},
                                        {"(", ")"},
                                        {"grad(fn(x) = ", ")(0.5)"},
                                        {"jvp(fn(x) = ", ", (0.5,), (1.0,))"},
                                        {"while (rand() < 0.5) { ", " }"},
                                        {"try(fn() = ", ")"},
                                        {"map(fn(x) = ", ", (1, 2))"},
                                        {"fn f(x) { ", " }"},
                                        {"checkpoint(slots = 2) < for (i in 0..5) { ", " } >"},
                                        {"stop_grad(", ")"}};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static words t;
    if (below(&seed, 3)) read_words(data, size, &t);
    else t.n = 0;
    if (t.n < 2) return LLVMFuzzerMutate(data, size, most);
    piece p = some(&t, data, &seed), q = some(&t, data, &seed);
    switch (below(&seed, 6)) {
    case 0: return put(data, size, most, p, "", NULL, 0, "");
    case 1: return put(data, size, most, (piece){p.hi, p.hi}, "\n", data + p.lo, p.hi - p.lo, "\n");
    case 2: {
        uint32_t k = below(&seed, sizeof around / sizeof *around);
        return put(data, size, most, p, around[k][0], data + p.lo, p.hi - p.lo, around[k][1]);
    }
    case 3: { /* a token for another of its kind */
        const word *w = &t.w[below(&seed, t.n)], *other = w;
        for (int tries = 0; tries < 20 && (other == w || other->kind != w->kind); tries++) other = &t.w[below(&seed, t.n)];
        return put(data, size, most, (piece){w->lo, w->hi}, "", data + other->lo, other->hi - other->lo, "");
    }
    case 4: return put(data, size, most, (piece){p.lo, p.lo}, "", data + q.lo, q.hi - q.lo, " ");
    default: return put(data, size, most, p, "", data + q.lo, q.hi - q.lo, "");
    }
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb, uint8_t *out, size_t most, unsigned seed)
{
    static words t, u;
    read_words(a, na, &t);
    read_words(b, nb, &u);
    if (na > most || t.n < 2 || u.n < 2) return 0;
    memcpy(out, a, na);
    piece p = some(&t, a, &seed), q = some(&u, b, &seed);
    if (below(&seed, 2)) p.lo = p.hi;
    return put(out, na, most, p, "\n", b + q.lo, q.hi - q.lo, "\n");
}
