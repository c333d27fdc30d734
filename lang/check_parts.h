/* check_parts.h: what the parts of the checker share.
 *
 *   check.c         the walk: what each name means, and what is wrong where it stands
 *   check_names.c   scopes: which names a function assigns, finding a name, suggestions
 *   check_calls.c   arguments of calls whose function is known
 *   check_block.c   options of checkpoint blocks */
#ifndef REPLAY_CHECK_PARTS_H
#define REPLAY_CHECK_PARTS_H
#include "check.h"

/* A function while it is checked. */
typedef struct scope {
    function *fn;
    struct scope *outer;
    uint32_t id;
    uint32_t vars_cap, captures_cap;
    span *last;           /* by variable: where it is assigned last */
    node **literal;       /* by variable: its value where that is one literal, else NULL */
    uint32_t loops;       /* loops around the place being visited */
    bool in_condition;    /* inside a loop's condition */
    struct scope *before; /* all of them, the newest first */
} scope;

typedef struct slot {
    uint64_t key;
    uint32_t kind, index;
} slot; /* key 0: free */
/* Names that a scope's function reads, under its id with this bit. */
#define SCOPE_READS 0x40000000u
enum { SLOT_VAR = 1, SLOT_CAPTURE, SLOT_TOP, SLOT_REPORTED };

typedef struct top_fn {
    function *fn;
    uint32_t count;
} top_fn;

/* An entry of the walk's stack. */
typedef struct step {
    uint8_t kind;
    node *n;
    struct scope *scope;
    uint32_t saved;
    bool flag;
} step;

typedef struct checker {
    memory *m;
    ast *t;
    symbols *symbols;
    const check_options *o;
    checked *out;
    slot *slots;
    uint32_t nslots, used;
    top_fn *tops;
    uint32_t ntops, tops_cap;
    step *stack;
    uint32_t n, cap;
    uint32_t scopes, loops_cap;
    scope *newest;
    uint32_t *log;
    uint32_t nlog, log_cap; /* variables assigned in the loops being collected */
    uint32_t *stamp;
    uint32_t nstamp, stamps;
    diag *first, *last;
    uint32_t nerrors;
    bool no_memory;
} checker;

/* Zeroed, in the tree's arena; sets no_memory. */
void *checker_take(checker *c, size_t bytes);
/* Appends a diagnostic with its place; NULL when there is no memory (the adders accept that). */
diag *checker_report(checker *c, severity s, diag_code kind, span at, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
bool checker_push(checker *c, step s);
/* The nearest name a program could have meant in `s`; NULL: none near. */
const char *checker_nearest(checker *c, scope *s, const char *name);

slot *slot_find(checker *c, uint32_t id, symbol name);
bool slot_put(checker *c, uint32_t id, symbol name, uint32_t kind, uint32_t index);
/* Makes the scope of fn with its parameters, named sizes and assigned names. */
scope *scope_enter(checker *c, function *fn, scope *outer);
uint32_t scope_var(checker *c, scope *s, symbol name, span at, bool is_param);
/* Finds what a name read in s means, adding captures on the way; REF_UNKNOWN when nothing. */
ref scope_find(checker *c, scope *s, symbol name, span at, bool note);
void collect_tops(checker *c, node *main);

void check_call(checker *c, scope *s, node *call);
void check_options_of(checker *c, scope *s, node *block);
/* The literal a name stands for: itself, or that of a variable assigned once; NULL when not known. */
node *literal_of(checker *c, scope *s, node *n);
#endif
