/* edit.c: the line editor of the REPL over libedit.
 *
 * In: keys; out: entered text. libedit draws what is being typed plainly; when an entry is accepted it is
 * drawn once more in colours, over the plain one. When the window changes, what is being typed is drawn anew. A
 * pasted text arrives between the marks of bracketed
 * paste and goes into the line as it is, newlines included, prompts stripped; so does an entry of several
 * lines that comes from the history, which keeps it whole. */
#include "edit.h"
#include <errno.h>
#include <histedit.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

struct editor {
    EditLine *el;
    History *history;
    bool colour;
    char prompt[16];
    char path[PATH_MAX]; /* of the history file, "" when there is none */
    edit_completer *complete;
    void *ctx;
    char **words;
    size_t nwords; /* offered */
    char *last;
    size_t last_n;    /* what edit_read gave */
    bool interrupted; /* Ctrl-C came while a key was waited for */
};

/* --- history ---------------------------------------------------------------------------------- */

enum { HISTORY_LENGTH = 2000 };

static bool folder(char *path)
{
    for (char *s = path + 1; *s; s++) {
        if (*s != '/') continue;
        *s = 0;
        if (mkdir(path, 0700) && errno != EEXIST) return false;
        *s = '/';
    }
    return true;
}

static void history_path(editor *e)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (state && state[0] == '/') n = snprintf(e->path, sizeof e->path, "%s/replay/history", state);
    else if (home && home[0]) n = snprintf(e->path, sizeof e->path, "%s/.local/state/replay/history", home);
    if (n < 0 || (size_t)n >= sizeof e->path || !folder(e->path)) e->path[0] = 0;
}

void edit_remember(editor *e, const char *entry)
{
    HistEvent ev;
    if (!entry[strspn(entry, " \t\n")]) return;
    if (history(e->history, &ev, H_FIRST) >= 0 && !strcmp(ev.str, entry)) return;
    history(e->history, &ev, H_ENTER, entry);
    if (e->path[0]) history(e->history, &ev, H_SAVE, e->path);
}

/* --- colours ---------------------------------------------------------------------------------- */

static bool word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

static bool keyword(const char *s, size_t n)
{
    static const char *const words[] = {"fn",  "if", "else", "for",  "in",    "while", "break", "continue", "return", "checkpoint",
                                        "and", "or", "not",  "true", "false", "none",  "inf",   "nan",      "import", "as"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && !memcmp(words[i], s, n)) return true;
    return false;
}

static void painted(const char *colour, const char *s, size_t n, text *out)
{
    text_printf(out, "\033[%sm", colour);
    text_add(out, s, n);
    text_puts(out, "\033[0m");
}

void edit_coloured(const char *s, size_t n, text *out)
{
    for (size_t i = 0; i < n;) {
        size_t k = i + 1;
        if (s[i] == '#') {
            while (k < n && s[k] != '\n') k++;
            painted("2", s + i, k - i, out);
        } else if (s[i] == '"') {
            while (k < n && s[k] != '"' && s[k] != '\n') k += s[k] == '\\' && k + 1 < n ? 2 : 1;
            if (k < n && s[k] == '"') k++;
            painted("32", s + i, k - i, out);
        } else if (word_byte(s[i])) {
            while (k < n && (word_byte(s[k]) || (s[i] <= '9' && s[k] == '.' && k + 1 < n && s[k + 1] >= '0' && s[k + 1] <= '9'))) k++;
            if (s[i] >= '0' && s[i] <= '9') painted("36", s + i, k - i, out);
            else if (keyword(s + i, k - i)) painted("35", s + i, k - i, out);
            else text_add(out, s + i, k - i);
        } else text_putc(out, s[i]);
        i = k;
    }
}

static size_t columns_of(const char *s, size_t n)
{
    size_t w = 0;
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        int k = utf8_decode(s + i, n - i, &cp);
        if (k == 0) k = 1, cp = '?';
        w += (size_t)utf8_width(cp);
        i += (size_t)k;
    }
    return w;
}

static void window(size_t *cols, size_t *lines)
{
    struct winsize ws = {0};
    *cols = 80;
    *lines = 24;
    if (!ioctl(1, TIOCGWINSZ, &ws) && ws.ws_col) *cols = ws.ws_col, *lines = ws.ws_row ? ws.ws_row : 24;
}

/* Rows that the prompt and a text take. */
static size_t rows_of(const editor *e, const char *s, size_t n, size_t cols)
{
    size_t rows = 0;
    for (size_t i = 0, first = 1; i <= n; first = 0) {
        const char *nl = memchr(s + i, '\n', n - i);
        size_t k = nl ? (size_t)(nl - s) - i : n - i, w = columns_of(s + i, k) + (first ? strlen(e->prompt) : 0);
        rows += w ? (w + cols - 1) / cols : 1;
        i += k + 1;
    }
    return rows;
}

/* Draws the accepted entry over the plain one. */
static void redraw(editor *e, const char *s, size_t n)
{
    size_t cols, lines;
    window(&cols, &lines);
    size_t rows = rows_of(e, s, n, cols);
    if (rows + 1 >= lines) return;
    memory m;
    if (!memory_open(&m)) return;
    text t;
    text_open(&t, &m);
    text_printf(&t, "\033[%zuA\r\033[J%s", rows, e->prompt);
    for (size_t i = 0; i <= n;) {
        const char *nl = memchr(s + i, '\n', n - i);
        size_t k = nl ? (size_t)(nl - s) - i : n - i;
        edit_coloured(s + i, k, &t);
        text_puts(&t, nl ? "\n... " : "\n");
        i += k + 1;
    }
    if (!t.failed) fwrite(t.s, 1, t.n, stdout);
    fflush(stdout);
    text_close(&t);
    memory_close(&m);
}

/* --- paste ------------------------------------------------------------------------------------ */

static bool starts(const char *s, size_t n, const char *with) { return n >= strlen(with) && !memcmp(s, with, strlen(with)); }

size_t edit_strip_prompts(char *s, size_t n)
{
    if (!starts(s, n, "> ")) return n;
    size_t to = 0;
    for (size_t i = 0; i < n;) {
        const char *nl = memchr(s + i, '\n', n - i);
        size_t k = nl ? (size_t)(nl - s) - i + 1 : n - i, skip = 0;
        if (starts(s + i, k, "> ")) skip = 2;
        else if (starts(s + i, k, "... ")) skip = 4;
        else if (starts(s + i, k, "...\n")) skip = 3;
        /* A line without a prompt between lines that have one is output. */
        if (skip || to == 0) {
            memmove(s + to, s + i + skip, k - skip);
            to += k - skip;
        }
        i += k;
    }
    while (to && s[to - 1] == '\n') to--;
    return to;
}

static unsigned char paste(EditLine *el, int ch)
{
    static const char end[] = "\033[201~";
    size_t n = 0, cap = 4096;
    char *s = malloc(cap), c;
    if (!s) return CC_ERROR;
    while (el_getc(el, &c) == 1) {
        if (n + 2 > cap) {
            char *p = realloc(s, cap *= 2);
            if (!p) break;
            s = p;
        }
        s[n++] = c == '\r' ? '\n' : c;
        if (n >= sizeof end - 1 && !memcmp(s + n - (sizeof end - 1), end, sizeof end - 1)) {
            n -= sizeof end - 1;
            break;
        }
    }
    n = edit_strip_prompts(s, n);
    while (n && s[n - 1] == '\n') n--;
    for (size_t i = 0, to = 0; i <= n; i++) { /* tabs would be drawn as one column */
        if (i == n) n = to;
        else s[to++] = s[i] == '\t' ? ' ' : s[i];
    }
    s[n] = 0;
    el_insertstr(el, s);
    free(s);
    return CC_REFRESH;
}

/* --- completion ------------------------------------------------------------------------------- */

void edit_offer(editor *e, const char *word)
{
    for (size_t i = 0; i < e->nwords; i++)
        if (!strcmp(e->words[i], word)) return;
    char **more = realloc(e->words, (e->nwords + 1) * sizeof *more), *copy = strdup(word);
    if (more) e->words = more;
    if (more && copy) e->words[e->nwords++] = copy;
    else free(copy);
}

static void words_clear(editor *e)
{
    for (size_t i = 0; i < e->nwords; i++) free(e->words[i]);
    e->nwords = 0;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void show_words(editor *e)
{
    size_t widest = 0, most = e->nwords < 120 ? e->nwords : 120;
    for (size_t i = 0; i < most; i++)
        if (columns_of(e->words[i], strlen(e->words[i])) > widest) widest = columns_of(e->words[i], strlen(e->words[i]));
    size_t cols, lines;
    window(&cols, &lines);
    size_t across = cols / (widest + 2);
    if (!across) across = 1;
    putchar('\n');
    for (size_t i = 0; i < most; i++) {
        fputs(e->words[i], stdout);
        if (i + 1 == most || (i + 1) % across == 0) putchar('\n');
        else
            for (size_t k = columns_of(e->words[i], strlen(e->words[i])); k < widest + 2; k++) putchar(' ');
    }
    if (most < e->nwords) printf("... and %zu more\n", e->nwords - most);
    fflush(stdout);
}

static unsigned char complete(EditLine *el, int ch)
{
    editor *e;
    if (el_get(el, EL_CLIENTDATA, &e)) return CC_ERROR;
    const LineInfo *li = el_line(el);
    size_t n = (size_t)(li->cursor - li->buffer), start = n;
    char *line = strndup(li->buffer, n);
    if (!line) return CC_ERROR;
    words_clear(e);
    e->complete(e->ctx, e, line, n, &start);
    unsigned char result = CC_REFRESH_BEEP;
    if (e->nwords) {
        qsort(e->words, e->nwords, sizeof *e->words, by_name);
        size_t common = strlen(e->words[0]), have = n - start;
        for (size_t i = 1; i < e->nwords; i++) {
            size_t k = 0;
            while (k < common && e->words[0][k] == e->words[i][k]) k++;
            common = k;
        }
        while (common && (e->words[0][common] & 0xc0) == 0x80) common--;
        if (common > have) {
            char *add = strndup(e->words[0] + have, common - have);
            if (add) el_insertstr(el, add);
            free(add);
            result = CC_REFRESH;
        } else if (e->nwords > 1) {
            show_words(e);
            result = CC_REDISPLAY;
        }
    }
    free(line);
    return result;
}

/* --- the window ------------------------------------------------------------------------------- */

/* A handler is given nothing else to find them by. */
static volatile sig_atomic_t resized;
static pthread_t reader;

/* The kernel may hand the signal to any thread that lets it in; the reader's wait is to end. */
static void on_resize(int sig)
{
    resized = 1;
    if (!pthread_equal(pthread_self(), reader)) pthread_kill(reader, sig);
}

/* Draws what is being typed anew. Terminals break long lines anew at the new width, and the cursor goes along: so
   the prompt is as many rows up as the text before the cursor takes now. */
static void resize(editor *e)
{
    const LineInfo *li = el_line(e->el);
    size_t cols, lines;
    window(&cols, &lines);
    size_t up = rows_of(e, li->buffer, (size_t)(li->cursor - li->buffer), cols) - 1;
    if (up) printf("\033[%zuA", up);
    fputs("\r\033[J", stdout);
    fflush(stdout);
    el_resize(e->el);
    el_set(e->el, EL_REFRESH);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The next character. Ctrl-C is let in only while waiting here, so that none is missed between two keys. */
static int next_char(EditLine *el, wchar_t *out)
{
    sigset_t open_;
    sigprocmask(SIG_SETMASK, NULL, &open_);
    sigdelset(&open_, SIGINT);
    sigdelset(&open_, SIGWINCH);
    mbstate_t state = {0};
    editor *e;
    if (el_get(el, EL_CLIENTDATA, &e)) return -1;
    for (;;) {
        struct pollfd p = {0, POLLIN, 0};
        unsigned char c;
        if (ppoll(&p, 1, NULL, &open_) < 0) {
            if (errno == EINTR && resized) {
                resized = 0;
                resize(e);
                continue;
            }
            if (errno == EINTR) e->interrupted = true;
            return -1;
        }
        ssize_t n = read(0, &c, 1);
        if (n <= 0) return (int)n;
        size_t k = mbrtowc(out, (const char *)&c, 1, &state);
        if (k == (size_t)-2) continue;
        if (k == (size_t)-1) {
            *out = L'?';
            memset(&state, 0, sizeof state);
        }
        return 1;
    }
}

static char *show_prompt(EditLine *el)
{
    editor *e;
    return el_get(el, EL_CLIENTDATA, &e) ? "" : e->prompt;
}

editor *edit_open(bool colour, edit_completer *completer, void *ctx)
{
    editor *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->colour = colour;
    e->complete = completer;
    e->ctx = ctx;
    e->el = el_init("replay", stdin, stdout, stderr);
    e->history = history_init();
    if (!e->el || !e->history) {
        edit_close(e);
        return NULL;
    }
    HistEvent ev;
    history(e->history, &ev, H_SETSIZE, HISTORY_LENGTH);
    history_path(e);
    if (e->path[0]) history(e->history, &ev, H_LOAD, e->path);
    reader = pthread_self();
    struct sigaction a = {.sa_handler = on_resize, .sa_flags = SA_RESTART}; /* ppoll ends by it all the same */
    sigemptyset(&a.sa_mask);
    sigaction(SIGWINCH, &a, NULL);
    el_set(e->el, EL_CLIENTDATA, e);
    el_set(e->el, EL_PROMPT, show_prompt);
    el_set(e->el, EL_EDITOR, "emacs");
    el_set(e->el, EL_HIST, history, e->history);
    el_set(e->el, EL_GETCFN, next_char);
    el_set(e->el, EL_ADDFN, "replay-complete", "complete a name", complete);
    el_set(e->el, EL_ADDFN, "replay-paste", "insert a pasted text", paste);
    el_source(e->el, NULL); /* the user's ~/.editrc */
    el_set(e->el, EL_BIND, "\t", "replay-complete", NULL);
    el_set(e->el, EL_BIND, "\033[200~", "replay-paste", NULL);
    el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_set(e->el, EL_BIND, "^W", "ed-delete-prev-word", NULL);
    static const char *const keys[][2] = {{"\033[1;5C", "em-next-word"}, {"\033[1;5D", "ed-prev-word"}, {"\033[3~", "ed-delete-next-char"},
                                          {"\033[H", "ed-move-to-beg"},  {"\033[F", "ed-move-to-end"},  {"\033[1~", "ed-move-to-beg"},
                                          {"\033[4~", "ed-move-to-end"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) el_set(e->el, EL_BIND, keys[i][0], keys[i][1], NULL);
    return e;
}

void edit_close(editor *e)
{
    if (!e) return;
    signal(SIGWINCH, SIG_DFL);
    if (e->el) el_end(e->el);
    if (e->history) history_end(e->history);
    words_clear(e);
    free(e->words);
    free(e->last);
    free(e);
}

edit_result edit_read(editor *e, const char *prompt, const char **line, size_t *n)
{
    snprintf(e->prompt, sizeof e->prompt, "%s", prompt);
    fputs("\033[?2004h", stdout);
    fflush(stdout);
    int count = 0;
    sigset_t before, interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigaddset(&interrupt, SIGWINCH);
    sigprocmask(SIG_BLOCK, &interrupt, &before);
    e->interrupted = false;
    if (resized) { /* while an entry ran */
        resized = 0;
        el_resize(e->el);
    }
    const char *s = el_gets(e->el, &count);
    sigprocmask(SIG_SETMASK, &before, NULL);
    fputs("\033[?2004l", stdout);
    fflush(stdout);
    *line = "";
    *n = 0;
    if (!s || count <= 0) {
        if (e->interrupted) {
            el_reset(e->el);
            return EDIT_INTERRUPT;
        }
        return EDIT_END;
    }
    free(e->last);
    e->last_n = (size_t)count;
    e->last = strndup(s, e->last_n);
    if (!e->last) return EDIT_END;
    if (e->last_n && e->last[e->last_n - 1] == '\n') e->last[--e->last_n] = 0;
    if (e->colour) redraw(e, e->last, e->last_n);
    *line = e->last;
    *n = e->last_n;
    return EDIT_LINE;
}
