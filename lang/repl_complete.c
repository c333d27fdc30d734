/* repl_complete.c: what Tab offers: `:commands`, file names inside strings and after :load, fields of
 * records, and the names of variables, functions, builtins and keywords. */
#include "repl.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

static void offer(editor *e, const char *name, const char *prefix, size_t n)
{
    if (name[0] == '_' && name[1] == '_') return;
    if (!strncmp(name, prefix, n) && name[n]) edit_offer(e, name);
}

static void files(editor *e, const char *prefix, size_t n)
{
    char folder[4096];
    size_t slash = n;
    while (slash && prefix[slash - 1] != '/') slash--;
    if (n >= sizeof folder) return;
    memcpy(folder, prefix, slash);
    folder[slash] = 0;
    DIR *d = opendir(slash ? folder : ".");
    if (!d) return;
    for (struct dirent *f; (f = readdir(d));) {
        if (f->d_name[0] == '.' && (slash == n || prefix[slash] != '.')) continue;
        if (strncmp(f->d_name, prefix + slash, n - slash)) continue;
        char path[8192];
        struct stat st;
        int k = snprintf(path, sizeof path, "%s%s", folder, f->d_name);
        if (k < 0 || (size_t)k + 2 > sizeof path) continue;
        if (!stat(path, &st) && S_ISDIR(st.st_mode)) strcat(path, "/");
        edit_offer(e, path);
    }
    closedir(d);
}

/* Fields of what the path before the last dot gives. */
static void fields(repl *r, editor *e, const char *path, size_t n, const char *prefix, size_t k)
{
    symbols *names = r->h->vm->symbols;
    value v = value_undef();
    for (size_t i = 0, first = 1; i < n; first = 0) {
        const char *dot = memchr(path + i, '.', n - i);
        size_t w = dot ? (size_t)(dot - path) - i : n - i;
        symbol y = symbol_of(names, path + i, w);
        if (first) {
            const value *found = session_get(&r->s, y);
            if (!found) return;
            v = *found;
        } else {
            int64_t at = v.tag == V_RECORD ? record_find(as_record(v), y) : -1;
            if (at < 0) return;
            v = as_record(v)->v[at];
        }
        i += w + 1;
    }
    if (v.tag == V_RECORD)
        for (uint32_t i = 0; i < as_record(v)->n; i++) offer(e, symbol_name(names, as_record(v)->names[i]), prefix, k);
}

void repl_complete(void *ctx, editor *e, const char *line, size_t n, size_t *start)
{
    static const char *const words[] = {"fn",  "if", "else", "for",  "in",    "while", "break", "continue", "return", "checkpoint",
                                        "and", "or", "not",  "true", "false", "none",  "inf",   "nan",      "import", "as"};
    repl *r = ctx;
    symbols *names = r->h->vm->symbols;
    const char *nl = line;
    for (const char *s = line; s < line + n; s++)
        if (*s == '\n') nl = s + 1;
    size_t quote = n + 1;
    for (size_t i = (size_t)(nl - line); i < n; i++)
        if (line[i] == '"') quote = quote > n ? i : n + 1;
    bool load = !strncmp(line, ":load ", 6);
    if (quote <= n || load) {
        *start = load ? 6 : quote + 1;
        files(e, line + *start, n - *start);
        return;
    }
    size_t at = n;
    while (at && word_byte(line[at - 1])) at--;
    *start = at;
    const char *prefix = line + at;
    size_t k = n - at;
    if (at == 1 && line[0] == ':') {
        *start = 0;
        for (const char *const *c = repl_commands; *c; c++) offer(e, *c, line, n);
        return;
    }
    if (at && line[at - 1] == '.') {
        size_t from = at - 1;
        while (from && (word_byte(line[from - 1]) || line[from - 1] == '.')) from--;
        fields(r, e, line + from, at - 1 - from, prefix, k);
        return;
    }
    for (uint32_t i = 0; i < r->s.n; i++) offer(e, symbol_name(names, r->s.names[i]), prefix, k);
    for (uint32_t i = 0; i < r->s.nfns; i++) offer(e, symbol_name(names, r->s.fns[i]), prefix, k);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) offer(e, words[i], prefix, k);
    for (uint32_t i = 0; i < builtins_count(r->h->builtins); i++) offer(e, builtin_name(r->h->builtins, i), prefix, k);
}
