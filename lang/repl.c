/* repl.c: the REPL's loop: lines → entries → values shown.
 *
 * On a terminal lines come from the editor, an unfinished entry goes on under another prompt, Ctrl-C drops
 * what is being typed or stops what is running, Ctrl-D leaves. Elsewhere lines come from standard input as
 * they are, without prompts or colours. A pasted text of several statements is run as if they had been
 * typed one after the other, up to the first that fails. */
#include "repl.h"
#include "deadline.h"
#include "command.h"
#include "../vm/print.h"
#include <signal.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <locale.h>
#include <unistd.h>

void repl_echo(repl *r, value v)
{
    if (v.tag == V_NONE || v.tag == V_UNDEF) return;
    text t;
    text_open(&t, &r->h->vm->mem);
    value_print(r->h->vm, v, PRINT_HEADER, &t);
    text_putc(&t, '\n');
    command_print(&t);
    text_close(&t);
}

/* Does the text end in a `;`, comments left aside? */
static bool silenced(const char *s, size_t n)
{
    char last = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (quoted) {
            if (s[i] == '\\') i++;
            else if (s[i] == '"' || s[i] == '\n') quoted = false;
        } else if (s[i] == '"') {
            quoted = true;
            last = s[i];
        } else if (s[i] == '#') {
            while (i + 1 < n && s[i + 1] != '\n') i++;
        } else if (s[i] != ' ' && s[i] != '\t' && s[i] != '\n' && s[i] != '\r') last = s[i];
    }
    return last == ';';
}

session_status repl_enter(repl *r, const char *s, size_t n, bool last)
{
    value v;
    r->h->vm->interrupt = 0;
    session_status status = session_enter(&r->s, "<repl>", s, n, last, &v);
    r->failed = status == SESSION_FAILED || status == SESSION_WRONG;
    if (status != SESSION_FINE) return status;
    if (!silenced(s, n)) repl_echo(r, v);
    if (v.tag == V_NONE || v.tag == V_UNDEF) value_release(r->h->vm, v);
    else {
        symbol ans = symbol_of(r->h->vm->symbols, "ans", 3);
        if (!ans || !session_set(&r->s, ans, v)) host_show_error(r->h);
        value_release(r->h->vm, v);
    }
    return status;
}

/* --- Ctrl-C ----------------------------------------------------------------------------------- */

/* The one VM that a signal is for, and the thread that reads keys: a handler is given nothing else to find them by. */
static vm *volatile interrupted_vm;
static pthread_t reader;

/* The kernel may hand the signal to any thread that lets it in. Only the reader's own wait ends by it. */
static void on_interrupt(int sig)
{
    if (interrupted_vm) interrupted_vm->interrupt = INTERRUPT_USER;
    if (!pthread_equal(pthread_self(), reader)) pthread_kill(reader, sig);
}

static void catch_interrupts(vm *m)
{
    reader = pthread_self();
    interrupted_vm = m;
    struct sigaction a = {.sa_handler = m ? on_interrupt : SIG_DFL}; /* no SA_RESTART: reading a line stops */
    sigemptyset(&a.sa_mask);
    sigaction(SIGINT, &a, NULL);
}

/* --- the loop --------------------------------------------------------------------------------- */

static bool blank(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] != ' ' && s[i] != '\t' && s[i] != '\n' && s[i] != '\r') return false;
    return true;
}

/* Does this line go on with the statement before it? */
static bool goes_on(const char *s, size_t n)
{
    while (n && (*s == ' ' || *s == '\t')) s++, n--;
    return (n >= 4 && !memcmp(s, "else", 4)) || (n >= 2 && !memcmp(s, "|>", 2));
}

/* --time is for each entry. */
static void limited(repl *r, bool on)
{
    if (on && r->h->deadline) deadline_arm(r->h->deadline, r->h->seconds);
    else if (!on) deadline_disarm(r->h->deadline);
}

/* Takes the next line(s) of what was typed; t holds the entry that has begun. */
static void feed(repl *r, text *t, const char *s, size_t n)
{
    for (size_t i = 0; i < n && !r->leave;) {
        const char *nl = memchr(s + i, '\n', n - i);
        size_t k = nl ? (size_t)(nl - s) - i + 1 : n - i;
        if (!t->n && s[i] == ':') {
            char *line = strndup(s + i, nl ? k - 1 : k);
            limited(r, true);
            if (line) repl_command(r, line);
            limited(r, false);
            free(line);
        } else if (t->n || !blank(s + i, k)) {
            text_add(t, s + i, k);
            bool more = i + k < n && goes_on(s + i + k, n - i - k);
            limited(r, true);
            session_status status = t->failed ? SESSION_FAILED : more ? SESSION_MORE : repl_enter(r, text_str(t), t->n, false);
            limited(r, false);
            if (status != SESSION_MORE) {
                text_clear(t);
                fflush(stdout);
                if (status != SESSION_FINE && r->edit) return;
            }
        }
        i += k;
    }
}

static void on_terminal(repl *r)
{
    text entry, whole;
    text_open(&entry, &r->h->vm->mem);
    text_open(&whole, &r->h->vm->mem);
    printf("Replay %s. `:help` lists the commands, Ctrl-D leaves.\n", REPLAY_VERSION);
    catch_interrupts(r->h->vm);
    while (!r->leave) {
        const char *line;
        size_t n;
        edit_result got = edit_read(r->edit, entry.n ? "... " : "> ", &line, &n);
        if (got == EDIT_END) {
            putchar('\n');
            break;
        }
        if (got == EDIT_INTERRUPT) {
            puts("^C");
            r->h->vm->interrupt = 0;
            text_clear(&entry);
            text_clear(&whole);
            continue;
        }
        text_add(&whole, line, n);
        text_putc(&whole, '\n');
        char *copy = malloc(n + 2);
        if (!copy) break;
        memcpy(copy, line, n);
        copy[n] = '\n';
        feed(r, &entry, copy, n + 1);
        free(copy);
        if (!entry.n) {
            while (whole.n && whole.s[whole.n - 1] == '\n') whole.s[--whole.n] = 0;
            edit_remember(r->edit, text_str(&whole));
            text_clear(&whole);
        }
        fflush(stdout);
    }
    catch_interrupts(NULL);
    text_close(&entry);
    text_close(&whole);
}

static void on_pipe(repl *r)
{
    text t;
    text_open(&t, &r->h->vm->mem);
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; !r->leave && (n = getline(&line, &cap, stdin)) >= 0; fflush(stdout)) feed(r, &t, line, (size_t)n);
    limited(r, true);
    if (t.n && !r->leave) repl_enter(r, text_str(&t), t.n, true);
    limited(r, false);
    free(line);
    text_close(&t);
}

int command_repl(host *h)
{
    repl r = {.h = h};
    session_open(&r.s, h);
    r.s.notes = true;
    bool colour = h->colour && isatty(1) && !getenv("NO_COLOR");
    if (isatty(0) && isatty(1)) {
        setlocale(LC_CTYPE, "");
        r.edit = edit_open(colour, repl_complete, &r);
    }
    if (r.edit) on_terminal(&r);
    else on_pipe(&r);
    edit_close(r.edit);
    session_close(&r.s);
    return 0;
}
