/* minimise.c: makes a failing program smaller by dropping statements, blocks and parts of expressions
 * one at a time, as long as it goes on failing in the same way. Greedy, large pieces first. */
#include "minimise.h"
#include <stdio.h>
#include <string.h>

size_t minimise(gen *g, verdict *v, size_t most)
{
    size_t checks = 0;
    bool smaller = true;
    while (smaller) {
        smaller = false;
        for (size_t k = 0; k < gen_edits(g) && checks < most;) {
            size_t before = gen_size(g);
            if (!gen_edit(g, k)) {
                k++;
                continue;
            }
            verdict now;
            check_program(g, &now);
            checks++;
            if (now.kind == v->kind && strcmp(now.key, v->key) == 0 && gen_size(g) <= before) {
                *v = now;
                smaller = true; /* the list of edits is made anew, and what was at k is gone */
            } else {
                gen_undo(g);
                k++;
            }
        }
        if (checks >= most) break;
    }
    return checks;
}
