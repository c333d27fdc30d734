/* schedule.c: see schedule.h, which names the methods. Counts saturate at UINT64_MAX; products are
 * formed in 128 bits, so that no l below 2^63 overflows. */
#include "schedule.h"
#include <string.h>

typedef unsigned __int128 wide;

uint64_t schedule_binomial(uint64_t n, uint64_t k)
{
    if (k > n) return 0;
    if (k > n - k) k = n - k;
    wide c = 1;
    for (uint64_t i = 1; i <= k; i++) {
        c = c * (n - k + i) / i; /* c · (n − k + i) is a multiple of i; c < 2^64, so it fits */
        if (c >= UINT64_MAX) return UINT64_MAX;
    }
    return (uint64_t)c;
}

/* β(s, r) = C(s + r, s): the longest range that s states reverse with no step executed more than r
   times; 0 for negative arguments. */
static uint64_t reach(int64_t s, int64_t r) { return s < 0 || r < 0 ? 0 : schedule_binomial((uint64_t)s + (uint64_t)r, (uint64_t)s); }

/* The least r for which β(s, r) ≥ l. */
static uint64_t repetitions(uint64_t l, uint64_t s)
{
    if (l <= 1) return 0;
    if (s == 1) return l - 1;
    uint64_t high = 1;
    while (schedule_binomial(s + high, s) < l) high *= 2;
    uint64_t low = high / 2; /* β(s, low) < l, or low is 0 */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (schedule_binomial(s + middle, s) < l) low = middle;
        else high = middle;
    }
    return high;
}

uint64_t schedule_runs(uint64_t l, uint64_t s)
{
    if (l <= 1) return 0;
    if (s >= l) return l - 1;
    wide runs;
    if (s == 1) runs = (wide)l * (l - 1) / 2;
    else {
        uint64_t r = repetitions(l, s);
        runs = (wide)r * l - schedule_binomial(s + r, r - 1);
    }
    return runs >= UINT64_MAX ? UINT64_MAX : (uint64_t)runs;
}

uint64_t schedule_split(uint64_t l, uint64_t s)
{
    if (s == 1) return l - 1;
    if (s >= l) return 1;
    int64_t n = (int64_t)s, r = (int64_t)repetitions(l, s);
    uint64_t m, a = reach(n - 1, r - 1), b = reach(n - 2, r - 1), most = reach(n, r), less = reach(n - 3, r);
    if (l <= reach(n, r - 1) + b) m = reach(n, r - 2);
    else if (most - less <= l) m = reach(n, r - 1);
    else m = l - a - b;
    return m ? m : 1;
}

/* --- unknown length ------------------------------------------------------------------------- */

/* Φ is taken for a loop that ends this many steps beyond the state that is offered. With 1 the worst ratio to
   the optimum for a known length, over all l ≤ 2000, is 1.108 at two states and at most 1.061 from three on
   (tests/unit/test_schedule.c); with 0 it is 1.26. */
enum { AHEAD = 1 };

void online_open(online *o, memory *mem, uint64_t s) { *o = (online){.mem = mem, .s = s ? s : 1}; }

void online_close(online *o)
{
    memory_free(o->mem, MEM_RESIDUAL, o->at, o->cap * sizeof *o->at);
    memory_free(o->mem, MEM_RESIDUAL, o->cost, o->cap * sizeof *o->cost);
    o->at = o->cost = NULL;
    o->n = o->cap = 0;
}

static bool room(online *o)
{
    if (o->n < o->cap) return true;
    uint64_t cap = o->cap ? o->cap * 2 : 8;
    uint64_t *at = memory_resize(o->mem, MEM_RESIDUAL, o->at, o->cap * sizeof *at, cap * sizeof *at);
    if (!at) return false;
    o->at = at;
    uint64_t *cost = memory_resize(o->mem, MEM_RESIDUAL, o->cost, o->cap * sizeof *cost, cap * sizeof *cost);
    if (!cost) { /* both arrays are of one size */
        o->at = memory_resize(o->mem, MEM_RESIDUAL, o->at, cap * sizeof *at, o->cap * sizeof *at);
        return false;
    }
    o->cost = cost;
    o->cap = cap;
    return true;
}

static uint64_t plus(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

online_choice online_offer(online *o, uint64_t at, uint64_t *which)
{
    if (o->n < o->s) {
        if (!room(o)) return ONLINE_REFUSED;
        if (o->n) o->cost[o->n - 1] = schedule_runs(at - o->at[o->n - 1], o->s - (o->n - 1));
        o->at[o->n++] = at;
        return ONLINE_ADD;
    }
    /* Leaving state i out: the ranges before it cost what they did, it and the one below are one, those
       after it have a state more; and the state at hand begins the last one. */
    uint64_t n = o->n, before = 0, best = schedule_runs(at + AHEAD - o->at[n - 1], o->s - (n - 1));
    for (uint64_t j = 0; j + 1 < n; j++) best = plus(best, o->cost[j]);
    uint64_t victim = 0, after = schedule_runs(AHEAD, o->s - (n - 1));
    /* `after` as it is for victim n: then the ranges move over one by one, from the end. */
    for (uint64_t j = 0; j + 1 < n; j++) before = plus(before, o->cost[j]);
    for (uint64_t i = n - 1; i >= 1; i--) {
        uint64_t end = i + 1 < n ? o->at[i + 1] : at;
        before -= o->cost[i - 1];
        uint64_t phi = plus(plus(before, after), schedule_runs(end - o->at[i - 1], o->s - (i - 1)));
        if (phi < best || (victim && phi == best)) best = phi, victim = i; /* of equal victims the earliest */
        after = plus(after, schedule_runs(end - o->at[i], o->s - (i - 1)));
    }
    if (!victim) return ONLINE_PASS;
    memmove(o->at + victim, o->at + victim + 1, (n - victim - 1) * sizeof *o->at);
    o->at[n - 1] = at;
    for (uint64_t j = victim - 1; j + 1 < n; j++) o->cost[j] = schedule_runs(o->at[j + 1] - o->at[j], o->s - j);
    *which = victim;
    return ONLINE_REPLACE;
}
