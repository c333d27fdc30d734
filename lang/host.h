/* host.h: a VM that knows the language: text → Code, rules, modules, and where reports go. What a
 * program that embeds Replay, the command and the REPL all build on. */
#ifndef REPLAY_HOST_H
#define REPLAY_HOST_H
#include "../vm/code.h"
#include "../vm/exec.h"
#include "builtin.h"
#include "emit.h"
#include "parse.h"

typedef struct host_module {
    symbol key;
    code *code;
    struct host_module *next;
} host_module;

typedef struct host {
    vm *vm;
    builtins *builtins;
    host_module *modules; /* compiled so far, each once */
    bool colour;          /* of diagnostics on standard error */
    uint32_t warnings;    /* shown so far */
    placement placement;  /* of the blocks of what is compiled; may be set before host_open */
    /* The command's: what interrupts the VM, to be aimed at another that does its work. NULL: there is none. */
    struct deadline *deadline;
    double seconds; /* what --time gives the program, or each entry of the prompt; 0: no limit */
    bool watched;   /* signals are for this VM */
    /* What an embedding program sets before host_open; all may be NULL. */
    void *user;
    void (*show)(void *user, const diag *d, const char *rendered); /* instead of standard error */
    /* A module's text from malloc, or NULL to look for it as usual. `importer` names the importing text. */
    char *(*find)(void *user, const char *path, const char *importer, size_t *length);
    bool (*call)(void *user, int64_t id, const value *args, uint32_t n, value *out); /* see prim_host.def */
    bool (*write)(void *user, const char *s, size_t n);
} host;

/* Opens a VM with the language's callbacks in place (those of `config` are ignored) and the preloaded
   modules loaded. Neither host nor config may move while it is open. False with a message shown. */
bool host_open(host *h, const vm_config *config);
void host_close(host *h);
/* Makes the top-level functions of a text builtins, as those of the preloaded modules are. False with
   vm->error. */
bool host_extend(host *h, const char *module, const char *text_, size_t length);
/* Is this module loaded at the start, its functions being builtins? */
bool host_preloads(const char *module);

typedef struct compile_options {
    bool internal;
    const char *module; /* prefix of its top-level functions; "" for the script */
    emit_result result;
    bool notes; /* also report what is only worth knowing */
    bool repl;  /* the text may be unfinished: see needs_more */
    const symbol *vars;
    uint32_t nvars;
    const symbol *fns;
    uint32_t nfns;
    /* Called with the resolved tree, before it goes. May be NULL. */
    void (*inspect)(void *ctx, const ast *t);
    void *ctx;
} compile_options;

/* Text → Code. NULL with diagnostics in *diags (owned by the caller; also warnings when it succeeds), or
   with vm->error when the fault is not in the text (memory). *needs_more (may be NULL) says that a REPL
   text stops in the middle. */
code *host_compile(host *h, source *src, const compile_options *o, diag **diags, bool *needs_more);

/* Renders on standard error and frees, errors or not. */
void host_show(host *h, diag *d);
/* Shows vm->error, if there is one, and clears it. */
void host_show_error(host *h);

/* The bytes of a file, or NULL with vm->error naming the path. */
char *host_read(host *h, const char *path, size_t *length);
#endif
