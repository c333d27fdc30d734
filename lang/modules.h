/* modules.h: the modules that travel inside the program (written by stdlib/embed.sh). */
#ifndef REPLAY_MODULES_H
#define REPLAY_MODULES_H
struct stdlib_module {
    const char *name, *text;
    unsigned long length;
};
/* Ends with a row whose name is NULL. */
extern const struct stdlib_module stdlib_modules[];
#endif
