/* main.c: drives the REPL on a pseudo-terminal and compares its screens with stored ones.
 *
 * In: files of keys (*.keys), one directive a line:
 *   type TEXT     keys, with \n \t \e \xHH, and waits for a prompt (`> ` or `... `) with nothing after it
 *   raw TEXT      keys, without waiting
 *   wait TEXT     until the screen shows the text
 *   line TEXT     until the line with the cursor shows the text
 *   prompt        until there is a prompt
 *   pause MS
 *   restart       Ctrl-D, and the program again with the same state folder; the screen goes on below
 *   colour        dumps show changes of colour as {35}; else NO_COLOR is set
 *   nocolour      the same with NO_COLOR set
 *   blur TEXT     rows that end in the text are dumped with every number as 0
 *   size COLUMNS  another width of the terminal; long rows are broken anew, and what is typed is drawn anew
 *   # …           a comment
 * Out: for each a line when its screen differs from the .screen file beside it. UPDATE=1 writes that file.
 *
 * The terminal is 80 columns by 300 rows, of the kind xterm, and never scrolls. It breaks rows anew when its width
 * changes, as most do. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 300, COLS = 200, TIMEOUT = 30000 };

typedef struct cell {
    char s[5];
    short sgr;
} cell;

typedef struct terminal {
    cell at[ROWS][COLS];
    bool goes_on[ROWS]; /* the row was broken for want of columns */
    int row, col, cols;
    short sgr;
    bool insert;
    bool wrapped; /* a character in the last column: the next one goes to the next row */
    char seq[64];
    int nseq; /* escape sequence that has begun */
    char utf[5];
    int nutf, want;
    int fd;
    pid_t pid;
    bool colour, dump_colour;
    char blur[8][64];
    int nblur;
} terminal;

static void clear_cell(cell *c) { memset(c, 0, sizeof *c); }

static void clear_from(terminal *t, int row, int col, int to_row, int to_col)
{
    for (int r = row; r <= to_row && r < ROWS; r++)
        for (int c = r == row ? col : 0; c < (r == to_row ? to_col : COLS); c++) {
            clear_cell(&t->at[r][c]);
            if (c + 1 >= t->cols) t->goes_on[r] = false;
        }
}

static void csi(terminal *t)
{
    char last = t->seq[t->nseq - 1];
    int n[4] = {0}, k = 0;
    if (t->seq[1] == '?') return; /* bracketed paste on and off */
    for (char *s = t->seq + 1; *s && k < 4; s++)
        if (*s >= '0' && *s <= '9') n[k] = n[k] * 10 + (*s - '0');
        else if (*s == ';') k++;
    int one = n[0] ? n[0] : 1;
    cell *row = t->at[t->row];
    t->wrapped = false;
    switch (last) {
    case 'A': t->row -= one < t->row ? one : t->row; break;
    case 'B': t->row += one; break;
    case 'C': t->col = t->col + one < t->cols ? t->col + one : t->cols - 1; break;
    case 'D': t->col -= one < t->col ? one : t->col; break;
    case 'G': t->col = one - 1; break;
    case 'H':
        t->row = one - 1;
        t->col = n[1] ? n[1] - 1 : 0;
        break;
    case 'J': clear_from(t, t->row, t->col, ROWS - 1, COLS); break;
    case 'K':
        if (n[0] == 0) clear_from(t, t->row, t->col, t->row, COLS);
        else if (n[0] == 1) clear_from(t, t->row, 0, t->row, t->col + 1);
        else clear_from(t, t->row, 0, t->row, COLS);
        break;
    case 'P':
        memmove(row + t->col, row + t->col + one, (size_t)(COLS - t->col - one) * sizeof *row);
        clear_from(t, t->row, COLS - one, t->row, COLS);
        break;
    case '@':
        memmove(row + t->col + one, row + t->col, (size_t)(COLS - t->col - one) * sizeof *row);
        clear_from(t, t->row, t->col, t->row, t->col + one);
        break;
    case 'm': t->sgr = (short)n[0]; break;
    case 'h':
    case 'l':
        if (n[0] == 4) t->insert = last == 'h';
        break;
    default: break;
    }
}

static void put(terminal *t, const char *s)
{
    if (t->wrapped) {
        t->wrapped = false;
        t->col = 0;
        t->goes_on[t->row] = true;
        if (t->row < ROWS - 1) t->row++;
    }
    cell *c = &t->at[t->row][t->col];
    if (t->insert) memmove(c + 1, c, (size_t)(t->cols - t->col - 1) * sizeof *c);
    snprintf(c->s, sizeof c->s, "%s", s);
    c->sgr = t->sgr;
    if (t->col + 1 < t->cols) t->col++;
    else t->wrapped = true;
}

static void feed(terminal *t, unsigned char ch)
{
    if (t->nseq) {
        if (t->nseq < 60) t->seq[t->nseq++] = (char)ch, t->seq[t->nseq] = 0;
        if (t->nseq == 1 + 1 && ch != '[' && ch != '(') t->nseq = 0;
        else if (t->seq[1] == '(' && t->nseq == 3) t->nseq = 0;
        else if (t->nseq > 2 && t->seq[1] == '[' && ch >= '@' && ch <= '~') {
            memmove(t->seq, t->seq + 1, (size_t)t->nseq);
            t->nseq--;
            csi(t);
            t->nseq = 0;
        }
        return;
    }
    if (t->want) {
        t->utf[t->nutf++] = (char)ch;
        if (--t->want) return;
        t->utf[t->nutf] = 0;
        put(t, t->utf);
        return;
    }
    switch (ch) {
    case 0x1b:
        t->seq[0] = 0x1b;
        t->nseq = 1;
        return;
    case '\r':
        t->col = 0;
        t->wrapped = false;
        return;
    case '\n':
        t->wrapped = false;
        if (t->row < ROWS - 1) t->row++;
        return;
    case '\b':
        t->wrapped = false;
        if (t->col) t->col--;
        return;
    case '\t': t->col = (t->col / 8 + 1) * 8; return;
    case 7:
    case 15:
    case 0: return;
    default: break;
    }
    if (ch >= 0xc0) {
        t->want = ch >= 0xf0 ? 3 : ch >= 0xe0 ? 2 : 1;
        t->utf[0] = (char)ch;
        t->nutf = 1;
        return;
    }
    char one[2] = {(char)ch, 0};
    put(t, one);
}

/* Breaks all rows anew. The cursor stays on its character. */
static void rewrap(terminal *t, int cols)
{
    static cell to[ROWS][COLS];
    bool goes_on[ROWS] = {false};
    int row = 0, at_row = 0, at_col = 0;
    memset(to, 0, sizeof to);
    for (int r = 0; r <= t->row && row < ROWS; row++) { /* a long row is one that goes on in those below it */
        int col = 0;
        for (bool more = true; more && r <= t->row; r++) {
            int n = t->cols;
            more = t->goes_on[r];
            while (!more && n && !t->at[r][n - 1].s[0]) n--;
            if (r == t->row && n < t->col + 1) n = t->col + 1;
            for (int c = 0; c < n && row < ROWS; c++) {
                if (col == cols) {
                    goes_on[row++] = true;
                    col = 0;
                }
                if (row == ROWS) break;
                if (r == t->row && c == t->col) at_row = row, at_col = col;
                to[row][col++] = t->at[r][c];
            }
        }
    }
    memcpy(t->at, to, sizeof to);
    memcpy(t->goes_on, goes_on, sizeof goes_on);
    t->row = at_row;
    t->col = at_col;
    t->cols = cols;
    t->wrapped = false;
    struct winsize ws = {.ws_row = ROWS, .ws_col = (unsigned short)cols};
    ioctl(t->fd, TIOCSWINSZ, &ws);
}

static long now_ms(void)
{
    struct timespec s;
    clock_gettime(CLOCK_MONOTONIC, &s);
    return s.tv_sec * 1000 + s.tv_nsec / 1000000;
}

/* Takes output for at most ms; false when there was none, or the program has ended. */
static bool listen_for(terminal *t, int ms)
{
    struct pollfd p = {t->fd, POLLIN, 0};
    if (poll(&p, 1, ms) <= 0) return false;
    char buf[4096];
    ssize_t n = read(t->fd, buf, sizeof buf);
    for (ssize_t i = 0; i < n; i++) feed(t, (unsigned char)buf[i]);
    return n > 0;
}

static void row_text(const terminal *t, int r, char *out, bool colour)
{
    int last = COLS;
    while (last && !t->at[r][last - 1].s[0]) last--;
    short sgr = 0;
    for (int c = 0; c < last; c++) {
        const cell *p = &t->at[r][c];
        if (colour && p->sgr != sgr) out += sprintf(out, "{%d}", sgr = p->sgr);
        out += sprintf(out, "%s", p->s[0] ? p->s : " ");
    }
    if (colour && sgr) out += sprintf(out, "{0}");
    *out = 0;
    while (out[-1] == ' ') *--out = 0;
}

static bool at_prompt(const terminal *t)
{
    char s[COLS * 16 + 1];
    s[0] = 'x';
    row_text(t, t->row, s + 1, false);
    return (!strcmp(s + 1, ">") && t->col == 2) || (!strcmp(s + 1, "...") && t->col == 4);
}

static bool wait_prompt(terminal *t)
{
    long end = now_ms() + TIMEOUT;
    while (now_ms() < end) {
        if (listen_for(t, 40)) continue;
        if (at_prompt(t)) return true;
        if (waitpid(t->pid, NULL, WNOHANG) == t->pid) return true;
    }
    return false;
}

static bool wait_text(terminal *t, const char *want, bool here)
{
    long end = now_ms() + TIMEOUT;
    char s[COLS * 16 + 2];
    while (now_ms() < end) {
        for (int r = here ? t->row : 0; r <= t->row && r < ROWS; r++) {
            s[0] = 'x';
            row_text(t, r, s + 1, false);
            if (strstr(s + 1, want)) return true;
        }
        listen_for(t, 40);
    }
    return false;
}

static void begin(terminal *t, const char *program, const char *state)
{
    struct winsize ws = {.ws_row = ROWS, .ws_col = (unsigned short)t->cols};
    t->pid = forkpty(&t->fd, NULL, NULL, &ws);
    if (t->pid) return;
    setenv("TERM", "xterm", 1);
    setenv("XDG_STATE_HOME", state, 1);
    setenv("HOME", state, 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    /* Under the address sanitizer: libedit does not free the names of functions that are added to it. */
    char path[4200], options[4400];
    snprintf(path, sizeof path, "%s/leaks", state);
    FILE *leaks = fopen(path, "w");
    if (leaks) fputs("leak:wcsdup\n", leaks), fclose(leaks);
    snprintf(options, sizeof options, "suppressions=%s:print_suppressions=0", path);
    setenv("LSAN_OPTIONS", options, 1);
    if (t->colour) unsetenv("NO_COLOR");
    else setenv("NO_COLOR", "1", 1);
    execl(program, program, "repl", (char *)NULL);
    _exit(127);
}

static void end(terminal *t)
{
    if (write(t->fd, "\004", 1) < 0) return;
    long stop = now_ms() + 5000;
    while (now_ms() < stop && waitpid(t->pid, NULL, WNOHANG) != t->pid) listen_for(t, 20);
    while (listen_for(t, 20)) continue;
    kill(t->pid, SIGKILL);
    waitpid(t->pid, NULL, 0);
    close(t->fd);
}

static void send_keys(terminal *t, const char *s)
{
    for (; *s; s++) {
        char c = *s;
        if (c == '\\' && s[1]) {
            switch (*++s) {
            case 'n': c = '\r'; break;
            case 't': c = '\t'; break;
            case 'e': c = 0x1b; break;
            case 'l': c = '\n'; break;
            case 'x':
                c = (char)strtol((char[]){s[1], s[2], 0}, NULL, 16);
                s += 2;
                break;
            default: c = *s;
            }
        }
        if (write(t->fd, &c, 1) != 1) return;
        listen_for(t, 0);
    }
}

/* "a/b.keys" → "a/b.screen" */
static void golden_path(const char *keys, char *out)
{
    size_t n = strlen(keys) - 5;
    memcpy(out, keys, n);
    strcpy(out + n, ".screen");
}

/* Times and sizes differ from machine to machine. */
static void blur(const terminal *t, char *row)
{
    bool found = false;
    for (int k = 0; k < t->nblur; k++) {
        size_t n = strlen(row), m = strlen(t->blur[k]);
        found |= n >= m && !strcmp(row + n - m, t->blur[k]);
    }
    if (!found) return;
    char *to = row;
    for (const char *s = row; *s;) {
        if (*s < '0' || *s > '9') {
            *to++ = *s++;
            continue;
        }
        s += strspn(s, "0123456789.");
        *to++ = '0';
    }
    *to = 0;
}

static bool run(const char *program, const char *keys)
{
    static terminal t;
    memset(&t, 0, sizeof t);
    t.cols = 80;
    char state[] = "/tmp/replay-state-XXXXXX", line[4096];
    FILE *f = fopen(keys, "r");
    if (!f || !mkdtemp(state)) {
        printf("%s: %s\n", keys, strerror(errno));
        return false;
    }
    bool fine = true;
    while (fine && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *arg = strchr(line, ' ');
        if (!arg) arg = line + strlen(line);
        else *arg++ = 0;
        bool before = true; /* the program begins */
        if (!strcmp(line, "colour")) t.colour = t.dump_colour = true;
        else if (!strcmp(line, "nocolour")) t.dump_colour = true;
        else if (!strcmp(line, "blur") && t.nblur < 8) snprintf(t.blur[t.nblur++], sizeof t.blur[0], "%s", arg);
        else before = !line[0] || line[0] == '#';
        if (!t.pid && !before) {
            begin(&t, program, state);
            fine = wait_prompt(&t);
        }
        if (!strcmp(line, "type") || !strcmp(line, "raw")) send_keys(&t, arg);
        if (!strcmp(line, "type") || !strcmp(line, "prompt")) fine = fine && wait_prompt(&t);
        if (!strcmp(line, "wait")) fine = wait_text(&t, arg, false);
        if (!strcmp(line, "line")) fine = wait_text(&t, arg, true);
        if (!strcmp(line, "size")) {
            rewrap(&t, atoi(arg));
            for (int k = 0; k < 100 && !listen_for(&t, 20); k++) continue;
            while (listen_for(&t, 60)) continue;
        }
        if (!strcmp(line, "pause"))
            for (long stop = now_ms() + atoi(arg); now_ms() < stop;) listen_for(&t, 20);
        if (!strcmp(line, "restart")) {
            end(&t);
            begin(&t, program, state);
            fine = wait_prompt(&t);
        }
        if (!fine) printf("%s: waited in vain after `%s %s`\n", keys, line, arg);
    }
    fclose(f);
    end(&t);
    char path[4096], clean[4200];
    golden_path(keys, path);
    static char got[ROWS * COLS * 8], want[ROWS * COLS * 8];
    char *g = got;
    *g++ = '\n';
    for (int r = 0; r <= t.row; r++) {
        row_text(&t, r, g, t.dump_colour);
        blur(&t, g);
        g += strlen(g);
        *g++ = '\n';
    }
    *g = 0;
    while (g > got + 2 && g[-2] == '\n') *--g = 0;
    snprintf(clean, sizeof clean, "rm -rf %s", state);
    if (system(clean)) printf("%s stays\n", state);
    if (getenv("UPDATE")) {
        FILE *o = fopen(path, "w");
        if (o) fputs(got + 1, o), fclose(o);
        return true;
    }
    FILE *o = fopen(path, "r");
    size_t n = o ? fread(want, 1, sizeof want - 1, o) : 0;
    want[n] = 0;
    if (o) fclose(o);
    if (fine && !strcmp(want, got + 1)) return true;
    printf("%s: the screen is\n%s", path, got + 1);
    return false;
}

int main(int argc, char **argv)
{
    const char *program = getenv("REPLAY");
    int passed = 0, failed = 0;
    for (int i = 1; i < argc; i++) {
        bool fine = run(program ? program : "build/replay", argv[i]);
        passed += fine;
        failed += !fine;
    }
    printf("repl: %d screens passed, %d failed\n", passed, failed);
    return failed != 0;
}
