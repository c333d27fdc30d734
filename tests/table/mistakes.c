/* mistakes.c: each argument of a row's samples replaced by what it cannot be. A message names the function, and
 * the arguments, the shapes that do not go together, or the part of a format. Operators have no names for theirs. */
#include "walker.h"
#include <ctype.h>

static const char wrong[] = "(ones(7, 5, 3), zeros(0), \"bad\", none, {a: \"q\"}, (1, \"a\"), 0.5, -3, 99, nan, [true, false], sin)";

static bool has_word(const char *s, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = s; (at = strstr(at, word)); at++)
        if ((at == s || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[n])) return true;
    return false;
}

static void try_one(walker *w, const prim *p, value *v, uint32_t n, uint32_t i)
{
    vm *m = w->h.vm;
    value out;
    if (prim_apply(m, p, v, n, 0, &out)) {
        value_release(m, out);
        return;
    }
    char display[64];
    const char *said = take_error(&w->h), *name = prim_display(p, display);
    const prim_info *info = prim_info_of(m, p);
    bool named = !strchr(name, '(') || strchr(said, '[') || strstr(said, "{:");
    for (uint32_t k = 0; k < info->nparams; k++) named |= has_word(said, symbol_name(m->symbols, info->params[k].name));
    w->n.mistakes++;
    if (strncmp(said, name, strlen(name)) || said[strlen(name)] != ':')
        fail(w, "mistake", "the message does not begin with %s: %s", name, said);
    else if (!named) fail(w, "mistake", "argument %u replaced, and the message names none: %s", i, said);
}

void walk_mistakes(walker *w, const prim *p, const sample *s)
{
    value f, args;
    if (p->attrs & A_INTERNAL || !repeatable(p) || s->call || !sample_values(w, &w->h, p, s, &f, &args)) return;
    value bad = evaluate(w, &w->h, wrong);
    uint32_t n = as_tuple(args)->n;
    value v[16];
    for (uint32_t i = 0; i < n && n <= 16 && bad.tag == V_TUPLE; i++)
        for (uint32_t k = 0; k < as_tuple(bad)->n; k++) {
            for (uint32_t j = 0; j < n; j++) v[j] = j == i ? as_tuple(bad)->v[k] : as_tuple(args)->v[j];
            try_one(w, p, v, n, i);
        }
    value_release(w->h.vm, bad);
    value_release(w->h.vm, f);
    value_release(w->h.vm, args);
}
