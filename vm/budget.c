/* budget.c: see budget.h. What holds: everything here may be let go at any allocation of an array, so
 * nothing is kept that a running step borrows; a value in use has a reference of its own. */
#include "budget.h"
#include "vm.h"
#include "run.h"

enum {
    STATES_FIRST = 32, /* a state for each 32nd part of the budget that is filled, while memory lasts */
    DISK_BYTE = 6,     /* a byte's way to disk and back costs as much as so many operations */
    BATCH = 256        /* of the budget this part is let go of at once, when there are equals */
};

void budget_join(vm *m, looptape *l)
{
    l->later = NULL;
    l->earlier = m->tapes;
    if (m->tapes) m->tapes->later = l;
    m->tapes = l;
    l->born = m->tapes_made++;
}

void budget_leave(vm *m, looptape *l)
{
    if (l->later) l->later->earlier = l->earlier;
    else if (m->tapes == l) m->tapes = l->earlier;
    if (l->earlier) l->earlier->later = l->later;
    l->earlier = l->later = NULL;
}

void budget_mark(vm *m, looptape *l)
{
    l->live = m->mem.live[MEM_ARRAY];
    l->began_at = m->tapes_made;
    l->gone = 0;
    l->began = m->exec->ops;
    l->high = m->mem.array_high;
    m->mem.array_high = l->live;
}

size_t budget_spike(vm *m, looptape *l)
{
    size_t high = m->mem.array_high;
    if (l->high > high) m->mem.array_high = l->high;
    return high > l->live ? high - l->live : 0;
}

/* --- letting go ------------------------------------------------------------------------------- */

static double step_cost(const looptape *l) { return l->measured ? (double)l->ops / (double)l->measured + 1 : 1; }

/* Bytes beyond what is needed, or a sixteenth of the budget, do not count for a victim. */
static double useful(const vm *m, size_t have, size_t need)
{
    size_t most = m->mem.array_budget / 16;
    if (most < need) most = need;
    return (double)(have < most ? have : most) + 1;
}

/* The state held in memory, but the first, with the fewest steps from the one below: the lowest of equal ones. */
static uint64_t nearest_state(looptape *l)
{
    if (l->nearest) return l->nearest;
    uint64_t best = 0;
    for (uint64_t k = 1; k < l->nheld; k++)
        if (!l->held[k].disk && (!best || l->held[k].at - l->held[k - 1].at < l->held[best].at - l->held[best - 1].at)) best = k;
    return l->nearest = best;
}

/* What costs least to have again goes, of all loops but `spare`. */
static bool let_go(vm *m, size_t bytes, const looptape *spare)
{
    looptape *best = NULL;
    uint64_t state = 0; /* 0: the lowest entry */
    bool spills = false;
    double least = 0;
    for (looptape *l = m->tapes; l; l = l->earlier) {
        if (l == spare) continue;
        double cost = step_cost(l);
        if (l->count) {
            double per = cost / useful(m, l->entry_size, bytes);
            if (!best || per <= least) best = l, least = per, state = 0; /* of equal ones the oldest, used last */
        }
        if (l->nheld > 1 + l->ondisk) {
            uint64_t k = nearest_state(l);
            double again = cost * (double)(l->held[k].at - l->held[k - 1].at), disk = (double)l->state_size * DISK_BYTE;
            bool spill = m->spilling && disk < again;
            double per = (spill ? disk : again) / useful(m, l->state_size, bytes);
            if (!best || per < least) best = l, least = per, state = k, spills = spill;
        }
    }
    if (!best) return false;
    best->is_short = true;
    uint64_t born = best->born;
    size_t live = m->mem.live[MEM_ARRAY];
    /* Entries of one loop cost the same: a few go at once, so that looking through the loops is not all that is done. */
    size_t quota = m->mem.array_budget / BATCH;
    if (state && spills && looptape_spill_state(m, best, state)) {
    } else if (state) looptape_drop_state(m, best, state);
    else do
            looptape_drop_entry(m, best);
        while (best->count && live - m->mem.live[MEM_ARRAY] < quota);
    live -= m->mem.live[MEM_ARRAY];
    for (looptape *l = m->tapes; l && live; l = l->earlier)
        if (born < l->began_at) l->gone += live;
    return true;
}

bool budget_evict(void *ctx, size_t bytes) { return let_go(ctx, bytes, NULL); }

/* --- planning --------------------------------------------------------------------------------- */

uint64_t budget_runs(uint64_t n, budget_plan p)
{
    uint64_t runs = schedule_runs((n + p.w - 1) / p.w, p.s);
    return runs > UINT64_MAX / p.w ? UINT64_MAX : runs * p.w;
}

budget_plan budget_choose(uint64_t n, size_t room, size_t entry, size_t state)
{
    budget_plan best = {1, 1};
    uint64_t least = UINT64_MAX;
    if (!state) state = 1;
    for (uint64_t w = 1;; w = w < 8 ? w + 1 : w + w / 4) {
        if (w > n) w = n;
        if (w > 1 && entry > room / (w - 1)) break;
        size_t left = room - (w - 1) * entry; /* one entry is set aside already */
        budget_plan p = {w, 1 + left / state};
        uint64_t runs = budget_runs(n, p);
        if (runs < least) least = runs, best = p;
        if (w == n || !least) break;
    }
    return best;
}

uint64_t budget_split(uint64_t n, budget_plan p)
{
    if (n <= p.w) return n;
    uint64_t blocks = (n + p.w - 1) / p.w;
    return p.w * schedule_split(blocks, p.s);
}

static size_t budget_of(const vm *m) { return m->mem.array_budget - m->mem.array_slack; }

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* What the loop can have for itself, of what is not `taken`: less what a step takes, and its reversal. */
static size_t room_of(const vm *m, const looptape *l, size_t taken)
{
    size_t step = l->state_size + (l->spiked[STEP_PLAIN]  ? l->spike[STEP_PLAIN]
                                   : l->spiked[STEP_BOTH] ? l->spike[STEP_BOTH]
                                                          : l->state_size);
    size_t last = l->state_size + l->spike[STEP_ENTRY];
    size_t rev = l->entry_size + (l->reversed_once ? l->spike_rev : 2 * l->state_size);
    size_t needs = larger(step, larger(last, rev)), room = budget_of(m) > taken ? budget_of(m) - taken : 0;
    /* What loops inside record is let go as well: at most three quarters are set aside for it. */
    size_t left = room - (needs < room - room / 4 ? needs : room - room / 4);
    /* With one state the repeats are quadratic: a second one is worth a try where there is half a chance. */
    return left < l->state_size && l->nheld <= 1 && room / 2 >= l->state_size ? l->state_size : left;
}

size_t budget_size(const value *v, uint32_t n)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].tag == V_ARRAY)
            bytes += as_array(v[i])->buf->bytes + sizeof(buffer) + sizeof(array) + 2 * as_array(v[i])->rank * sizeof(int64_t);
        else if (v[i].tag == V_TUPLE) bytes += budget_size(as_tuple(v[i])->v, as_tuple(v[i])->n);
        else if (v[i].tag == V_RECORD) bytes += budget_size(as_record(v[i])->v, as_record(v[i])->n);
    }
    return bytes;
}

/* What all other loops hold and may let go of, and the operations it would take to have it again. */
static size_t held_by_others(const vm *m, const looptape *l, double *again)
{
    size_t bytes = 0;
    *again = 0;
    for (const looptape *o = m->tapes; o; o = o->earlier) {
        if (o == l) continue;
        uint64_t steps = o->count;
        bytes += o->count * o->entry_size;
        if (o->nheld > 1) {
            bytes += (o->nheld - 1 - (o->ondisk < o->nheld ? o->ondisk : 0)) * o->state_size;
            steps += o->held[o->nheld - 1].at - o->held[0].at;
        }
        *again += (double)steps * step_cost(o);
    }
    return bytes;
}

size_t budget_left(const vm *m, uint64_t from, uint64_t to)
{
    size_t bytes = 0;
    for (const looptape *l = m->tapes; l; l = l->earlier) {
        if (l->born < from || l->born >= to) continue;
        bytes += l->count * l->entry_size;
        if (l->nheld > 1 + l->ondisk) bytes += (l->nheld - 1 - l->ondisk) * l->state_size;
    }
    return bytes;
}

/* A plan for n steps of l, within the room that is free beside what is `taken`, or with a part of what the others
   hold: whichever repeats least, what they would repeat counted. What they hold goes when it is needed, and
   whatever costs least goes first (budget_evict). */
static budget_plan plan_for(const vm *m, const looptape *l, uint64_t n, size_t taken, size_t *from_others)
{
    enum { PARTS = 8 };
    double again, least = 0;
    /* Of uneven entries a window has larger ones than the mean. */
    size_t entry = l->entry_most - l->entry_size < l->entry_size / 4 ? l->entry_most : l->entry_size + l->entry_size / 4;
    size_t room = room_of(m, l, taken), theirs = held_by_others(m, l, &again), most = room_of(m, l, 0);
    budget_plan best = {1, 1};
    for (int k = 0; k <= PARTS; k++) {
        size_t more = theirs / PARTS * (size_t)k;
        /* Those on disk take next to nothing. */
        size_t state = m->spilling ? l->state_size / 64 : l->state_size;
        budget_plan p = budget_choose(n, room + more < most ? room + more : most, entry, state);
        double cost = (double)budget_runs(n, p) * step_cost(l) + again * k / PARTS;
        if (!k || cost < least) least = cost, best = p, *from_others = more;
    }
    return best;
}

/* The next position to hold, above the present one, by a plan for the whole loop; held states that do not
   serve it go. */
static void plan_forward(vm *m, looptape *l)
{
    size_t live = m->mem.live[MEM_ARRAY], others = l->live_first < live ? l->live_first : live;
    uint64_t end = l->counted ? l->length : 2 * (l->at > 8 ? l->at : 8), at = 0, serve = 0;
    size_t more;
    budget_plan p = plan_for(m, l, end, others, &more);
    /* Where the length is a guess, or steps are uneven, states are held half as far apart, if that repeats little
       more: one is small beside the steps that it saves. */
    if (p.w > 1 && (!l->counted || l->entry_most > l->entry_size + l->entry_size / 16)) {
        budget_plan closer = {p.w / 2, p.s + (p.w - p.w / 2) * l->entry_size / (l->state_size + 1)};
        if (budget_runs(end, closer) <= budget_runs(end, p) + budget_runs(end, p) / 4) p = closer;
    }
    l->next = UINT64_MAX;
    for (;;) {
        /* The highest held state up to `at` stands for it. */
        uint64_t k = serve;
        while (k + 1 < l->nheld && l->held[k + 1].at <= at) k++;
        for (; k > serve; k--) looptape_drop_state(m, l, serve);
        if (serve < l->nheld && l->held[serve].at <= at) serve++;
        uint64_t n = end - at, step = p.s ? budget_split(n, p) : n;
        if (step >= n) {
            if (!l->counted) l->next = end;
            break;
        }
        at += step;
        p.s--;
        if (at > l->at) {
            l->next = at;
            break;
        }
    }
    while (l->nheld > serve && l->nheld > 1) looptape_drop_state(m, l, l->nheld - 1);
}

bool budget_holds(vm *m, looptape *l)
{
    size_t live = m->mem.live[MEM_ARRAY];
    bool holds;
    if (l->at == 0) holds = true;
    else if (!l->is_short) holds = live > l->live_held && live - l->live_held >= budget_of(m) / STATES_FIRST;
    else {
        holds = l->at == l->next;
        if (holds || (l->next < l->at) || !l->planned) plan_forward(m, l);
        l->planned = true;
    }
    if (holds) l->live_held = live;
    return holds;
}

void budget_reversed(vm *m, looptape *l)
{
    if (!l->reversing) return;
    l->reversing = false;
    size_t spike = budget_spike(m, l);
    if (spike > l->spike_rev) l->spike_rev = spike;
    l->reversed_once = true;
}

bool budget_aim(vm *m, looptape *l, uint64_t want)
{
    for (;;) {
        if (l->working && l->windowing) {
            l->recording = true;
            return true;
        }
        if (l->working && l->work.at < l->target) {
            l->recording = false;
            return true;
        }
        if (l->working && l->work.at == want) {
            l->recording = l->windowing = true;
            return true;
        }
        if (l->working) {
            if (!looptape_hold_work(m, l)) return false;
            continue;
        }
        while (l->nheld && l->held[l->nheld - 1].at > want) looptape_drop_state(m, l, l->nheld - 1);
        if (!l->nheld) return vm_fail(m, DIAG_INTERNAL, "a loop tape without a state for iteration %llu", (unsigned long long)want);
        const loop_state *top = &l->held[l->nheld - 1];
        uint64_t n = want + 1 - top->at;
        size_t live = m->mem.live[MEM_ARRAY], more;
        budget_plan p = plan_for(m, l, n, live, &more);
        while (more && m->mem.live[MEM_ARRAY] + more > live && let_go(m, more, l)) {}
        uint64_t step = budget_split(n, p);
        if (!looptape_copy_top(m, l)) return false;
        if (!l->working) continue;
        l->windowing = step >= n;
        l->target = l->windowing ? want : l->work.at + step;
        if (l->windowing) {
            while (l->count) looptape_drop_entry(m, l);
            l->first = l->work.at;
        }
    }
}
