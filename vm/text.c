/* text.c: growing byte strings, the table of interned names, and UTF-8.
 *
 * In: bytes; out: NUL-terminated strings, numbers that stand for names, code points. A text that
 * was refused memory says so once, in `failed`, and keeps what it had. The table of names never
 * forgets: a symbol and its string are good until symbols_close. */
#include "text.h"
#include <stdio.h>
#include <string.h>

/* ---- text ---- */

void text_open(text *t, memory *m)
{
    memset(t, 0, sizeof *t);
    t->m = m;
}

void text_close(text *t)
{
    memory_free(t->m, MEM_TEXT, t->s, t->cap);
    t->s = NULL;
    t->n = t->cap = 0;
}

void text_clear(text *t)
{
    t->n = 0;
    t->failed = false;
    if (t->s) t->s[0] = 0;
}

/* Makes room for n more bytes and the NUL. */
static bool text_room(text *t, size_t n)
{
    if (t->failed) return false;
    if (n < t->cap - t->n) return true; /* cap is 0 or more than n, so nothing wraps */
    size_t cap = t->cap ? t->cap : 32;
    while (cap - t->n <= n) {
        if (cap > SIZE_MAX / 2) goto fail;
        cap *= 2;
    }
    char *s = memory_resize(t->m, MEM_TEXT, t->s, t->cap, cap);
    if (!s) goto fail;
    t->s = s;
    t->cap = cap;
    return true;
fail:
    t->failed = true;
    return false;
}

void text_add(text *t, const char *s, size_t n)
{
    if (!n || !text_room(t, n)) return;
    memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = 0;
}

void text_puts(text *t, const char *s) { text_add(t, s, strlen(s)); }

void text_putc(text *t, char c) { text_add(t, &c, 1); }

void text_vprintf(text *t, const char *fmt, va_list ap)
{
    char buffer[256];
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(buffer, sizeof buffer, fmt, ap);
    if (n < 0) {
        t->failed = true;
    } else if ((size_t)n < sizeof buffer) {
        text_add(t, buffer, (size_t)n);
    } else if (text_room(t, (size_t)n)) {
        vsnprintf(t->s + t->n, (size_t)n + 1, fmt, again);
        t->n += (size_t)n;
    }
    va_end(again);
}

void text_printf(text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    text_vprintf(t, fmt, ap);
    va_end(ap);
}

const char *text_str(const text *t) { return t->s ? t->s : ""; }

/* ---- symbols ---- */

typedef struct symbol_entry {
    const char *name; /* in the arena */
    size_t n;
    uint32_t hash;
} symbol_entry;

struct symbols {
    memory *m;
    arena names;
    symbol_entry *entries; /* entries[y], y from 1; entries[0] is unused */
    uint32_t n, cap;
    uint32_t *slots; /* open addressing, 0 for empty; a power of two, at most half full */
    uint32_t nslots;
};

enum { SLOTS_FIRST = 64 };

symbols *symbols_open(memory *m)
{
    symbols *s = memory_alloc(m, MEM_TEXT, sizeof *s);
    if (!s) return NULL;
    s->m = m;
    arena_open(&s->names, m, MEM_TEXT);
    s->cap = SLOTS_FIRST / 2;
    s->n = 1;
    s->entries = memory_alloc(m, MEM_TEXT, s->cap * sizeof *s->entries);
    s->nslots = SLOTS_FIRST;
    s->slots = memory_alloc(m, MEM_TEXT, s->nslots * sizeof *s->slots);
    if (!s->entries || !s->slots) {
        symbols_close(s);
        return NULL;
    }
    return s;
}

void symbols_close(symbols *s)
{
    if (!s) return;
    memory_free(s->m, MEM_TEXT, s->entries, s->cap * sizeof *s->entries);
    memory_free(s->m, MEM_TEXT, s->slots, s->nslots * sizeof *s->slots);
    arena_close(&s->names);
    memory_free(s->m, MEM_TEXT, s, sizeof *s);
}

/* FNV-1a. */
static uint32_t hash_bytes(const char *s, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h;
}

/* The slot that holds the name, or the empty one where it belongs. */
static uint32_t slot_of(const symbols *s, const char *name, size_t n, uint32_t hash)
{
    uint32_t i = hash & (s->nslots - 1);
    for (; s->slots[i]; i = (i + 1) & (s->nslots - 1)) {
        const symbol_entry *e = &s->entries[s->slots[i]];
        if (e->hash == hash && e->n == n && (n == 0 || !memcmp(e->name, name, n))) break;
    }
    return i;
}

static bool slots_double(symbols *s)
{
    if (s->nslots > UINT32_MAX / 2) return false;
    uint32_t nslots = s->nslots * 2;
    uint32_t *slots = memory_alloc(s->m, MEM_TEXT, nslots * sizeof *slots);
    if (!slots) return false;
    for (symbol y = 1; y < s->n; y++) {
        uint32_t i = s->entries[y].hash & (nslots - 1);
        while (slots[i]) i = (i + 1) & (nslots - 1);
        slots[i] = y;
    }
    memory_free(s->m, MEM_TEXT, s->slots, s->nslots * sizeof *s->slots);
    s->slots = slots;
    s->nslots = nslots;
    return true;
}

static bool entries_double(symbols *s)
{
    if (s->cap > UINT32_MAX / 2) return false;
    size_t bytes = s->cap * sizeof *s->entries;
    symbol_entry *entries = memory_resize(s->m, MEM_TEXT, s->entries, bytes, bytes * 2);
    if (!entries) return false;
    s->entries = entries;
    s->cap *= 2;
    return true;
}

symbol symbol_of(symbols *s, const char *name, size_t n)
{
    uint32_t hash = hash_bytes(name, n);
    uint32_t i = slot_of(s, name, n, hash);
    if (s->slots[i]) return s->slots[i];
    if (s->n == s->cap && !entries_double(s)) return 0;
    if (s->n >= s->nslots / 2) {
        if (!slots_double(s)) return 0;
        i = slot_of(s, name, n, hash);
    }
    const char *copy = arena_text(&s->names, name, n);
    if (!copy) return 0;
    symbol y = s->n++;
    s->entries[y] = (symbol_entry){copy, n, hash};
    s->slots[i] = y;
    return y;
}

const char *symbol_name(const symbols *s, symbol y) { return y && y < s->n ? s->entries[y].name : ""; }

/* ---- UTF-8 (RFC 3629) ---- */

int utf8_decode(const char *s, size_t n, uint32_t *cp)
{
    if (!n) return 0;
    const unsigned char *u = (const unsigned char *)s;
    if (u[0] < 0x80) {
        *cp = u[0];
        return 1;
    }
    int length = u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : u[0] < 0xf5 ? 4 : 0;
    if (!length || n < (size_t)length) return 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t c = u[0] & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if ((u[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (u[i] & 0x3fu);
    }
    if (c < least[length] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff) return 0;
    *cp = c;
    return length;
}

int utf8_encode(uint32_t cp, char out[4])
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    int length = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (int i = length - 1; i > 0; i--, cp >>= 6) out[i] = (char)(0x80 | (cp & 0x3f));
    out[0] = (char)((0xf00 >> length & 0xff) | cp);
    return length;
}

size_t utf8_length(const char *s, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += (s[i] & 0xc0) != 0x80;
    return count;
}
