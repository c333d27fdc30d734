/* awkward.c: values and derivatives at kinks, zeros, infinities and ties, as language.md and the rows' help
 * promise them. Each line is an expression and what it prints, its lines joined. */
#include "walker.h"

static const struct {
    const char *expression, *expected;
} points[] = {
#define P(expression, expected) {expression, expected},
#include "awkward.def"
#undef P
};

void walk_awkward(walker *w)
{
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        run_example(w, points[i].expression, points[i].expected);
        w->n.awkward++;
    }
}
