/* schedule.h: which states of a loop to hold, and how to get back to those that are not.
 *
 * Planning alone: positions and counts go in, positions and counts come out; nothing is run. A range of
 * l steps begins at a held state; s counts the states that may be held at once, that one included.
 * Reversing it takes *plain* executions (each step is executed once more, recorded, right before it is
 * reversed, which is not counted here).
 *
 *   known length    Revolve: Griewank & Walther, "Algorithm 799: revolve", ACM TOMS 26 (2000) 19-45. The
 *                   least plain executions are t(l, s) = r·l − C(s + r, r − 1) with r the least number
 *                   for which C(s + r, s) ≥ l, and of all splits that attain them the one taken needs
 *                   the fewest states written.
 *   unknown length  an online scheme: the state at hand takes the place of a held one when that makes
 *                   Φ, the plain executions still to come if the loop ended soon, smaller.
 *
 * A decision costs a handful of binomials, whatever l is: no table of l × s is ever made. */
#ifndef REPLAY_SCHEDULE_H
#define REPLAY_SCHEDULE_H
#include "memory.h"

/* C(n, k) or UINT64_MAX when it is larger. */
uint64_t schedule_binomial(uint64_t n, uint64_t k);
/* t(l, s): the least plain executions that reverse l steps with s ≥ 1 states. Any l up to 2^63; UINT64_MAX
   when the count is larger than that. */
uint64_t schedule_runs(uint64_t l, uint64_t s);
/* How far to run from the state of a range of l ≥ 2 steps: 1 ≤ m < l. The state found there begins a range
   of l − m steps for s − 1 states, which is reversed first; then come the m steps before it, for s. When
   l − m is 1 the state is used at once and not written. */
uint64_t schedule_split(uint64_t l, uint64_t s);

/* --- a loop of unknown length ---------------------------------------------------------------
 * Positions are numbers of iterations; at[0] is where the loop began. Range j, from at[j] to the next
 * position, will be reversed with s - j states. */
typedef struct online {
    memory *mem;
    uint64_t s; /* states at most */
    uint64_t *at;
    uint64_t n, cap; /* positions held, ascending */
    uint64_t *cost;  /* cost[j] = t(at[j + 1] - at[j], s - j), for j + 1 < n */
} online;

void online_open(online *o, memory *mem, uint64_t s);
void online_close(online *o);
/* What to do with the state at position `at`, above all held ones. It is offered when the step that begins
   there is over and another follows: the state of the last step stays at hand anyway. */
typedef enum online_choice { ONLINE_PASS, ONLINE_ADD, ONLINE_REPLACE, ONLINE_REFUSED /* no memory */ } online_choice;
/* With ONLINE_REPLACE, held state *which is let go, those after it move down, and the new one is last. */
online_choice online_offer(online *o, uint64_t at, uint64_t *which);
#endif
