/* command.h: the parts of the command line program (main.c reads the options and calls these). Each
 * returns the exit status: 0 fine, 1 the program failed, 2 wrong usage or text that does not parse. */
#ifndef REPLAY_COMMAND_H
#define REPLAY_COMMAND_H
#include "host.h"

typedef struct run_options {
    bool stats, stats_json;
} run_options;

/* Runs a script's text. */
int command_run(host *h, const char *name, const char *text_, size_t length, const run_options *o);
int command_check(host *h, const char *path);
/* Lists the Code of a script, or of one function in it. */
int command_dis(host *h, const char *path, const char *name);
/* Lists a function beside its forward and adjoint programs. (adjoint_view.c) */
int command_adjoint(host *h, const char *path, const char *name);
/* The sections of SPEC.md that the tables make. (spec.c) */
/* Finds the smallest budget for a program by trying. */
int command_least(const vm_config *config, double seconds, const char *path);
int command_spec(host *h);
int command_repl(host *h);

/* The script's text → Code, its diagnostics shown; NULL with *status set. */
code *command_compile(host *h, const char *name, const char *text_, size_t length, bool notes, int *status);
/* The same for a file. */
code *command_compile_file(host *h, const char *path, bool notes, int *status);
/* A function anywhere in a script's Code, by name; an error is shown when there is none. */
code *command_find(host *h, code *script, const char *name);
/* The summary of a run on standard error. */
void command_stats(host *h, bool json);
/* The program's status, or a failing one, with a message, when standard output did not take all of it. */
int command_end(int status);
bool command_print(const text *t); /* to standard output; false when that fails */
#endif
