/* check_block.c: options of checkpoint blocks. Their values are known before the program runs: literals,
 * or names of variables that hold one literal throughout. */
#include "check_parts.h"
#include <math.h>
#include <string.h>

node *literal_of(checker *c, scope *s, node *n)
{
    if (n->kind != N_NAME) return n;
    for (scope *p = s; p; p = p->outer) {
        slot *k = slot_find(c, p->id, n->name);
        if (!k || k->kind != SLOT_VAR) continue;
        const variable *v = &p->fn->vars[k->index];
        return v->assigned_once && p->last[k->index].lo < n->at.lo ? p->literal[k->index] : NULL;
    }
    return NULL;
}

static bool is_strings(const node *n)
{
    for (const node *e = n->list; e; e = e->next)
        if (e->kind != N_STRING) return false;
    return true;
}

static bool whole_above_zero(const node *n)
{
    return n->kind == N_NUMBER && n->whole && n->number >= 1 && n->number < 0x1p53 && n->number == floor(n->number);
}

static void bad_value(checker *c, const node *o, const char *want, const char *help)
{
    diag *d = checker_report(c, SEVERITY_ERROR, DIAG_CHECKPOINT, o->a->at, "`%s` must be %s", symbol_name(c->symbols, o->name), want);
    diag_help_set(d, "%s", help);
}

static bool one_loop(const node *block)
{
    const node *n = block->list;
    return n && !n->next && (n->kind == N_FOR || n->kind == N_WHILE);
}

void check_options_of(checker *c, scope *s, node *block)
{
    static const char *const known[] = {"save", "slots", "budget", "spill"};
    for (node *o = block->list; o; o = o->next) {
        if (o->kind != N_NAMED || o->a->kind == N_ERROR) continue;
        const char *name = symbol_name(c->symbols, o->name);
        int which = -1;
        for (int i = 0; i < 4; i++)
            if (!strcmp(name, known[i])) which = i;
        if (which < 0) {
            diag *d = checker_report(c, SEVERITY_ERROR, DIAG_CHECKPOINT, o->op_at, "a checkpoint block has no option `%s`", name);
            const char *near = nearest_name(name, known, 4);
            if (near) diag_help_set(d, "did you mean `%s`?", near);
            else diag_help_set(d, "the options are `save`, `slots`, `budget` and `spill`");
            continue;
        }
        if (o->a->kind == N_NAME) {
            node *v = literal_of(c, s, o->a);
            if (!v) {
                diag *d = checker_report(c, SEVERITY_ERROR, DIAG_CHECKPOINT, o->a->at,
                                         "the value of `%s` must be known before the program runs", name);
                diag_help_set(d, "write the value here, or a name that is assigned once, before the block, to a literal");
                continue;
            }
            node *copy = checker_take(c, sizeof *copy);
            if (!copy) return;
            *copy = *v;
            copy->at = o->a->at;
            copy->next = NULL;
            o->a = copy;
        }
        const node *v = o->a;
        if (v->kind == N_NONE) continue;
        switch (which) {
        case 0:
            if (v->kind != N_STRING && v->kind != N_CALL && !(v->kind == N_ARRAY && is_strings(v)))
                bad_value(c, o, "a policy, a list of names or `not_names([…])`",
                          "the policies are \"nothing\", \"everything\", \"dots\" and \"dots_no_batch\"");
            break;
        case 1:
            if (!whole_above_zero(v)) bad_value(c, o, "a whole number, 1 or more", "for example `slots = 8`");
            else if (!one_loop(block->b)) {
                diag *d = checker_report(c, SEVERITY_ERROR, DIAG_CHECKPOINT, o->op_at, "`slots` is for a block that holds one loop");
                diag_label_add(d,
                               block->b->list && block->b->list->kind != N_FOR && block->b->list->kind != N_WHILE ? block->b->list->at
                               : block->b->list && block->b->list->next                                           ? block->b->list->next->at
                                                                                                                  : block->b->at,
                               "this block holds %s", block->b->list ? "something else" : "nothing");
                diag_help_set(d, "put the loop alone into the block: `checkpoint (slots = 8) < for (…) { … } >`");
            }
            break;
        case 2:
            if (!whole_above_zero(v)) bad_value(c, o, "a size", "for example `budget = 64MB`");
            break;
        default:
            if (v->kind != N_BOOL) bad_value(c, o, "`true` or `false`", "for example `spill = true`");
        }
    }
}
