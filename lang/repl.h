/* repl.h: the REPL's parts: the loop (repl.c), what it completes (repl_complete.c), the `:commands`
 * (repl_command.c). */
#ifndef REPLAY_REPL_H
#define REPLAY_REPL_H
#include "edit.h"
#include "session.h"

typedef struct repl {
    host *h;
    session s;
    editor *edit; /* NULL: not on a terminal */
    bool leave;   /* :quit */
    bool failed;  /* the last entry did */
} repl;

/* Runs one entry and echoes its value; SESSION_MORE when it stops in the middle and is not the last. */
session_status repl_enter(repl *r, const char *s, size_t n, bool last);
/* Runs a line that starts with `:`. */
void repl_command(repl *r, const char *line);
/* The names of commands, ended by NULL. */
extern const char *const repl_commands[];
/* edit_completer; ctx is the repl. */
void repl_complete(void *ctx, editor *e, const char *line, size_t n, size_t *start);
/* Prints a value as the REPL echoes it. */
void repl_echo(repl *r, value v);
#endif
