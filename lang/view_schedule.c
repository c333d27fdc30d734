/* view_schedule.c: `schedule f(args)`: what happens to the steps of a loop while its gradient runs, drawn as
 * in the literature on checkpointing: actions to the right, steps downward; a step that runs goes down one
 * row, one that is reversed goes up; a state that is held is a line from where it was stored to where the
 * adjoint program was done with it. */
#include "view.h"
#include "trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACTS_DRAWN = 4000 };

static const char *const act_names[] = {"advance", "record", "replay", "reverse", "store", "restore"};

/* A STORE or RESTORE that names no step takes the one that comes after it. */
static uint32_t settle(trace *t)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < t->nevents; k++) {
        trace_event e = t->events[k];
        if ((e.act == ACT_STORE || e.act == ACT_RESTORE) && e.step == UINT32_MAX) {
            uint32_t j = k + 1;
            while (j < t->nevents && (t->events[j].act == ACT_STORE || t->events[j].act == ACT_RESTORE)) j++;
            if (j == t->nevents || t->events[j].act == ACT_REVERSE) continue;
            e.step = t->events[j].step;
        }
        if (e.step == UINT32_MAX) continue;
        t->events[n++] = e;
    }
    return t->nevents = n;
}

static void counts(const trace *t, uint64_t of[6])
{
    memset(of, 0, 6 * sizeof *of);
    for (uint32_t k = 0; k < t->nevents; k++) of[t->events[k].act]++;
}

static void as_text(const trace *t, text *out)
{
    for (uint32_t k = 0; k < t->nevents;) {
        trace_event e = t->events[k];
        uint32_t j = k + 1;
        int direction = e.act == ACT_REVERSE ? -1 : 1;
        while (j < t->nevents && t->events[j].act == e.act && e.act != ACT_STORE && e.act != ACT_RESTORE &&
               t->events[j].step == t->events[j - 1].step + (uint32_t)direction)
            j++;
        uint32_t last = t->events[j - 1].step;
        if (e.act == ACT_STORE || e.act == ACT_RESTORE)
            text_printf(out, "%-8s state before step %u\n", e.act == ACT_STORE ? "store" : "restore", e.step);
        else if (j == k + 1) text_printf(out, "%-8s step %u\n", act_names[e.act], e.step);
        else text_printf(out, "%-8s steps %u to %u\n", act_names[e.act], e.step, last);
        k = j;
    }
    uint64_t n[6];
    counts(t, n);
    text_printf(out, "%u steps; run %llu times, of which %llu in replays; %llu states stored\n", t->nsteps,
                (unsigned long long)(n[ACT_ADVANCE] + n[ACT_RECORD] + n[ACT_REPLAY]), (unsigned long long)n[ACT_REPLAY],
                (unsigned long long)n[ACT_STORE]);
}

static void as_json(const trace *t, text *out)
{
    text_printf(out, "{\"steps\": %u, \"actions\": [", t->nsteps);
    for (uint32_t k = 0; k < t->nevents; k++)
        text_printf(out, "%s[\"%s\", %u]", k ? ", " : "", act_names[t->events[k].act], t->events[k].step);
    text_puts(out, "]}\n");
}

static void as_svg(const trace *t, const char *title, text *out)
{
    const double left = 84, top = 124;
    uint32_t moves = 0;
    for (uint32_t k = 0; k < t->nevents && k < ACTS_DRAWN; k++) moves += t->events[k].act != ACT_STORE && t->events[k].act != ACT_RESTORE;
    double dx = moves ? 1000.0 / moves : 10, dy = t->nsteps ? 440.0 / t->nsteps : 10;
    if (dx > 26) dx = 26;
    if (dy > 26) dy = 26;
    double w = dx * moves, h = dy * t->nsteps, width = left + (w > 780 ? w : 780) + 32;
    svg s;
    svg_open(&s, out, width, top + h + 56, title);
    svg_words(&s, 24, 38, 21, 's', true, INK_TEXT, title);
    static const struct {
        svg_ink ink;
        const char *words;
    } legend[] = {{INK_FORWARD, "step run"}, {INK_REPLAY, "run again"}, {INK_ADJOINT, "reversed"}, {INK_SAVED, "state held"}};
    double x = 24;
    for (int k = 0; k < 4; k++) {
        svg_line(&s, x, 62, x + 22, 62, k == 3 ? 2 : 4, legend[k].ink);
        svg_words(&s, x + 30, 67, 14, 's', false, INK_DIM, legend[k].words);
        x += 30 + (double)strlen(legend[k].words) * 14 * SVG_ADVANCE + 26;
    }
    uint64_t n[6];
    counts(t, n);
    char words[160];
    int end_of = snprintf(words, sizeof words, "%u steps; run %llu times, %llu of them in replays", t->nsteps,
                          (unsigned long long)(n[ACT_ADVANCE] + n[ACT_RECORD] + n[ACT_REPLAY]), (unsigned long long)n[ACT_REPLAY]);
    if (t->nevents > ACTS_DRAWN) snprintf(words + end_of, sizeof words - (size_t)end_of, "; drawn are the first %d actions", ACTS_DRAWN);
    svg_words(&s, 24, 96, 15, 's', false, INK_DIM, t->nsteps ? words : "no loop ran under the gradient");
    if (!t->nsteps) {
        svg_close(&s);
        return;
    }
    /* Steps at the side. */
    uint32_t every = 1;
    while (every * dy < 20) every = every % 3 == 2 ? every * 5 / 2 : every * 2;
    for (uint32_t k = 0; k <= t->nsteps; k += every) {
        svg_line(&s, left, top + k * dy, left + w, top + k * dy, 1, INK_LINE);
        snprintf(words, sizeof words, "%u", k);
        svg_words(&s, left - 12, top + k * dy + 5, 13, 'e', false, INK_DIM, words);
    }
    svg_words(&s, 24, top + h + 34, 14, 's', false, INK_DIM, "rows: states of the loop, from its beginning down; actions go to the right");
    /* States held: from where they were stored to their last restore. */
    double at = left;
    for (uint32_t k = 0; k < t->nevents && k < ACTS_DRAWN; k++) {
        trace_event e = t->events[k];
        if (e.act == ACT_STORE) {
            double end = at, here = at;
            bool found = false;
            for (uint32_t j = k + 1; j < t->nevents && j < ACTS_DRAWN && !found; j++) {
                trace_event o = t->events[j];
                if (o.act == ACT_RESTORE && o.step == e.step) {
                    end = here;
                    /* Within a step that is being reversed it lasts until that is done. */
                    if (o.block && j + 1 < t->nevents && t->events[j + 1].act == ACT_REVERSE && t->events[j + 1].step == e.step) end += dx;
                    found = true;
                }
                if (o.act != ACT_STORE && o.act != ACT_RESTORE) here += dx;
            }
            if (!found) end = here;
            svg_line(&s, at, top + e.step * dy, end, top + e.step * dy, 2, INK_SAVED);
            svg_dot(&s, at, top + e.step * dy, dy < 8 ? 2.5 : 4, INK_SAVED);
        } else if (e.act != ACT_RESTORE) at += dx;
    }
    at = left;
    for (uint32_t k = 0; k < t->nevents && k < ACTS_DRAWN; k++) {
        trace_event e = t->events[k];
        double y = top + e.step * dy;
        switch (e.act) {
        case ACT_ADVANCE: svg_line(&s, at, y, at + dx, y + dy, 2, INK_FORWARD); break;
        case ACT_RECORD: svg_line(&s, at, y, at + dx, y + dy, 4, INK_FORWARD); break;
        case ACT_REPLAY: svg_line(&s, at, y, at + dx, y + dy, 4, INK_REPLAY); break;
        case ACT_REVERSE: svg_line(&s, at, y + dy, at + dx, y, 4, INK_ADJOINT); break;
        default: continue;
        }
        at += dx;
    }
    svg_close(&s);
}

bool view_schedule(session *s, const view_call *c, view_format f, text *out)
{
    vm *m = s->h->vm;
    trace t;
    value result;
    if (!trace_open(&t, m, TRACE_EVENTS)) return false;
    bool fine = view_gradient(s->h, c, &result);
    trace_stop(&t);
    if (fine) {
        value_release(m, result);
        settle(&t);
        char title[256];
        snprintf(title, sizeof title, "%s: the steps of its loop", code_display_name(as_closure(c->f)->code));
        if (!t.nevents && f == FORMAT_TEXT) text_puts(out, "no loop ran under the gradient\n");
        else if (f == FORMAT_JSON) as_json(&t, out);
        else if (f == FORMAT_SVG) as_svg(&t, title, out);
        else as_text(&t, out);
    }
    trace_close(&t);
    return fine;
}
