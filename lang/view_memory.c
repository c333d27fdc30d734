/* view_memory.c: `memory f(args)`, or of a whole script: bytes of live arrays over the run, coloured by what
 * holds them, for several placements of the program's blocks one below the other on the same scales.
 *
 * Time is counted in scalar operations, so that the picture is the same on every machine. A placement is
 * tried on the functions there are (placing.h), or for a whole script in a VM of its own, on a fresh run of it;
 * one that is refused, or that changes nothing, is left out. */
#include "deadline.h"
#include "signals.h"
#include "view.h"
#include "command.h"
#include "placing.h"
#include "trace.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACEMENTS = 6 };

typedef struct panel {
    char name[64];
    trace_sample *of;
    uint32_t n;
    double ops;
    size_t peak, saved;
    uint64_t steps, runs, replays;
} panel;

static void take_figures(panel *p, host *h, trace *t)
{
    const vm_stats *s = &h->vm->stats;
    trace_stop(t);
    p->of = t->samples;
    p->n = t->nsamples;
    t->samples = NULL;
    t->nsamples = 0;
    p->peak = h->vm->mem.peak[MEM_ARRAY];
    p->saved = s->saved_peak;
    p->steps = s->steps;
    p->runs = s->step_runs;
    for (uint32_t k = 0; k < s->nblocks; k++) p->replays += s->blocks[k].replays;
    double first = p->n ? p->of[0].at : 0;
    for (uint32_t k = 0; k < p->n; k++) p->of[k].at -= first;
    p->ops = p->n ? p->of[p->n - 1].at : 0;
}

static bool run_gradient(session *s, const view_call *c, panel *p)
{
    vm *m = s->h->vm;
    random_state random = m->random;
    size_t peak = m->mem.peak[MEM_ARRAY];
    m->mem.peak[MEM_ARRAY] = m->mem.live[MEM_ARRAY];
    m->stats.saved_peak = m->stats.saved;
    m->stats.steps = m->stats.step_runs = 0;
    for (uint32_t k = 0; k < m->stats.nblocks; k++) m->stats.blocks[k].replays = 0;
    trace t;
    value result;
    bool fine = trace_open(&t, m, TRACE_MEMORY);
    if (fine) {
        fine = view_gradient(s->h, c, &result);
        if (fine) value_release(m, result);
        take_figures(p, s->h, &t);
        trace_close(&t);
    }
    m->random = random;
    if (peak > m->mem.peak[MEM_ARRAY]) m->mem.peak[MEM_ARRAY] = peak;
    return fine;
}

/* One placement of the call's blocks; as they are written when neither pl->set nor a budget is given. */
static bool run_call(session *s, const char *call, const placement *pl, size_t budget, panel *p)
{
    vm *m = s->h->vm;
    view_call c;
    if (!view_call_of(s, call, &c)) return false;
    bool other = pl->set || budget;
    const value of[2] = {c.f, c.args};
    placing *now = other ? placing_begin(s, of, 2, &(placing_options){.blocks = *pl, .budget = budget}) : NULL;
    bool fine = (!other || now) && run_gradient(s, &c, p);
    placing_end(now);
    view_call_close(m, &c);
    return fine;
}

static bool run_script(host *h, const char *path, panel *p, int *status)
{
    code *c = command_compile_file(h, path, false, status);
    if (!c) return false;
    trace t;
    value out;
    bool fine = trace_open(&t, h->vm, TRACE_MEMORY);
    if (fine) {
        fine = vm_run(h->vm, c, &out);
        if (fine) value_release(h->vm, out);
        take_figures(p, h, &t);
        trace_close(&t);
    }
    code_release(c);
    return fine;
}

/* `shown`: its failure is the user's business. */
static bool try_placement(session *s, const view_request *q, const placement *pl, size_t budget, bool shown, panel *p)
{
    host h, *in = s->h;
    session other;
    vm_config config = s->h->vm->config;
    int status = 0;
    if (budget) config.budget = budget;
    if (!q->call) {
        if (!view_fresh(&config, pl, !shown, &h, &other)) return false;
        in = &h;
        deadline_aim(s->h->deadline, &h.vm->interrupt);
        if (s->h->watched) signals_watch(&h.vm->interrupt);
    }
    bool fine = q->call ? run_call(s, q->call, pl, budget, p) : run_script(&h, q->script, p, &status);
    if (!fine) {
        bool stopped = in->vm->error && in->vm->error->code == DIAG_INTERRUPT;
        if (stopped && !shown) s->h->vm->interrupt = INTERRUPT_USER; /* the other placements are not wanted either */
        if (shown) host_show_error(in);
        diag_free(in->vm->error);
        in->vm->error = NULL;
        free(p->of);
        *p = (panel){0};
    }
    if (!q->call) {
        deadline_aim(s->h->deadline, &s->h->vm->interrupt);
        if (s->h->watched) signals_watch(&s->h->vm->interrupt);
        session_close(&other);
        host_close(&h);
    }
    return fine;
}

static bool like(const panel *a, const panel *b)
{
    return a->peak == b->peak && a->runs == b->runs && a->replays == b->replays && a->saved == b->saved;
}

static uint32_t all_placements(session *s, const view_request *q, panel *of)
{
    uint32_t n = 0;
    placement written = {.set = q->save != NULL, .save = q->save}, plain = {.set = true, .plain = true};
    if (!try_placement(s, q, &written, 0, true, &of[0])) return 0;
    n = 1;
    panel p = {0};
    snprintf(of[0].name, sizeof of[0].name, q->save ? "save = \"%s\"" : "as written", q->save);
    if (try_placement(s, q, &plain, 0, false, &p)) {
        if (like(&p, &of[0])) {
            snprintf(of[0].name, sizeof of[0].name, "no blocks");
            free(p.of);
        } else {
            of[1] = of[0];
            of[0] = p;
            snprintf(of[0].name, sizeof of[0].name, "no blocks");
            n = 2;
        }
    }
    uint64_t steps = of[0].steps;
    for (int k = 0; k < 2 && steps > 3; k++) {
        placement slots = {.set = true, .save = q->save, .slots = k ? 3 : (int64_t)ceil(sqrt((double)steps))};
        p = (panel){0};
        if (!try_placement(s, q, &slots, 0, false, &p)) continue;
        bool seen = false;
        for (uint32_t j = 0; j < n; j++) seen |= like(&p, &of[j]);
        if (seen) free(p.of);
        else {
            of[n] = p;
            snprintf(of[n++].name, sizeof of[n].name, k ? "slots = %lld" : "√n slots: %lld", (long long)slots.slots);
        }
    }
    size_t budget = of[0].peak - (of[0].saved ? of[0].saved / 2 : 0);
    p = (panel){0};
    if (of[0].saved && !s->h->vm->config.budget && try_placement(s, q, &plain, budget, false, &p)) { /* which needs no blocks */
        bool seen = false;
        for (uint32_t j = 0; j < n; j++) seen |= like(&p, &of[j]);
        if (seen) free(p.of);
        else {
            char words[32];
            of[n] = p;
            snprintf(of[n++].name, sizeof of[n].name, "budget %s", view_bytes((double)budget, words));
        }
    }
    return n;
}

/* --- as text and JSON ---------------------------------------------------------------------------- */

static void sparkline(const panel *p, size_t most, text *out)
{
    static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    enum { ACROSS = 72 };
    size_t high[ACROSS] = {0};
    size_t last = 0;
    uint32_t k = 0;
    for (int c = 0; c < ACROSS; c++) {
        double end = p->ops * (c + 1) / ACROSS;
        high[c] = last;
        for (; k < p->n && p->of[k].at <= end; k++) {
            if (p->of[k].high > high[c]) high[c] = p->of[k].high;
            last = p->of[k].live;
        }
        size_t level = most ? (high[c] * 8 + most - 1) / most : 0;
        text_puts(out, bars[level > 8 ? 8 : level]);
    }
    text_putc(out, '\n');
}

static void as_text(const panel *of, uint32_t n, text *out)
{
    size_t most = 0;
    for (uint32_t k = 0; k < n; k++)
        if (of[k].peak > most) most = of[k].peak;
    for (uint32_t k = 0; k < n; k++) {
        char a[32], b[32];
        text_printf(out, "%s: peak %s, saved at most %s", of[k].name, view_bytes((double)of[k].peak, a),
                    view_bytes((double)of[k].saved, b));
        if (of[k].steps) text_printf(out, "; %llu steps, run %llu times", (unsigned long long)of[k].steps, (unsigned long long)of[k].runs);
        if (of[k].replays) text_printf(out, "; %llu replay%s", (unsigned long long)of[k].replays, of[k].replays == 1 ? "" : "s");
        text_printf(out, "\n  ");
        sparkline(&of[k], most, out);
    }
}

static const char *const phase_names[PHASES] = {"outside", "forward", "replay", "adjoint"};

static void as_json(const panel *of, uint32_t n, text *out)
{
    text_puts(out, "{\"placements\": [\n");
    for (uint32_t k = 0; k < n; k++) {
        const panel *p = &of[k];
        text_puts(out, "{\"name\": ");
        json_string(p->name, strlen(p->name), out);
        text_printf(
            out,
            ", \"peak_bytes\": %zu, \"saved_peak_bytes\": %zu, \"steps\": %llu, \"step_runs\": %llu, \"replays\": %llu, \"samples\": [",
            p->peak, p->saved, (unsigned long long)p->steps, (unsigned long long)p->runs, (unsigned long long)p->replays);
        for (uint32_t j = 0; j < p->n; j++)
            text_printf(out, "%s[%.0f, %zu, %zu, \"%s\"]", j ? ", " : "", p->of[j].at, p->of[j].live, p->of[j].saved,
                        phase_names[p->of[j].phase]);
        text_puts(out, k + 1 < n ? "]},\n" : "]}\n");
    }
    text_puts(out, "]}\n");
}

/* --- as a picture -------------------------------------------------------------------------------- */

static const svg_ink phase_ink[PHASES] = {INK_GIVEN, INK_FORWARD, INK_REPLAY, INK_ADJOINT};

typedef struct plot {
    double x, y, w, h, ops;
    size_t most;
} plot;

static double px(const plot *g, double at) { return g->x + (g->ops > 0 ? at / g->ops * g->w : 0); }
static double py(const plot *g, double bytes) { return g->y + g->h - bytes / (double)g->most * g->h; }

/* Levels of a sample: given, with what is saved, all. */
static void levels(const trace_sample *s, double out[3])
{
    double top = (double)(s->high > s->live ? s->high : s->live);
    out[0] = (double)s->base < top ? (double)s->base : top;
    out[1] = out[0] + (double)s->saved < top ? out[0] + (double)s->saved : top;
    out[2] = top;
}

/* The area between two levels over samples lo to hi, in steps. */
static void area(svg *s, const plot *g, const panel *p, uint32_t lo, uint32_t hi, int from, int to, svg_ink ink)
{
    double l[3];
    svg_area_begin(s, ink);
    for (uint32_t k = lo; k <= hi; k++) {
        double end = k + 1 < p->n ? p->of[k + 1].at : p->ops;
        levels(&p->of[k], l);
        text_printf(s->to, "%s%.1f,%.1fH%.1f", k == lo ? "M" : "L", px(g, p->of[k].at), py(g, l[to]), px(g, end));
    }
    for (uint32_t k = hi + 1; k-- > lo;) {
        double end = k + 1 < p->n ? p->of[k + 1].at : p->ops;
        levels(&p->of[k], l);
        text_printf(s->to, "L%.1f,%.1fH%.1f", px(g, end), from < 0 ? py(g, 0) : py(g, l[from]), px(g, p->of[k].at));
    }
    text_puts(s->to, "Z");
    svg_path_end(s);
}

static double nice(double x)
{
    double unit = pow(2, floor(log2(x > 1 ? x : 1)));
    return unit;
}

static void draw_panel(svg *s, const plot *g, const panel *p)
{
    char a[32], b[32], words[240];
    int n = snprintf(words, sizeof words, "peak %s   saved %s", view_bytes((double)p->peak, a), view_bytes((double)p->saved, b));
    if (p->steps)
        n += snprintf(words + n, sizeof words - (size_t)n, "   %llu steps, run %llu times", (unsigned long long)p->steps,
                      (unsigned long long)p->runs);
    if (p->replays)
        snprintf(words + n, sizeof words - (size_t)n, "   %llu replay%s", (unsigned long long)p->replays, p->replays == 1 ? "" : "s");
    svg_words(s, g->x, g->y - 14, 17, 's', true, INK_TEXT, p->name);
    svg_words(s, g->x + 220, g->y - 14, 15, 's', false, INK_DIM, words);
    svg_box(s, g->x, g->y, g->w, g->h, 0, INK_PANEL);
    double unit = nice((double)g->most / 2.5);
    for (double v = unit; v <= (double)g->most && g->most > 1; v += unit) {
        svg_line(s, g->x, py(g, v), g->x + g->w, py(g, v), 1, INK_LINE);
        svg_words(s, g->x - 8, py(g, v) + 5, 13, 'e', false, INK_DIM, view_bytes(v, a));
    }
    if (p->n) {
        area(s, g, p, 0, p->n - 1, -1, 0, INK_GIVEN);
        area(s, g, p, 0, p->n - 1, 0, 1, INK_SAVED);
    }
    for (uint32_t k = 0, j; k < p->n; k = j) {
        for (j = k; j < p->n && p->of[j].phase == p->of[k].phase;) j++;
        area(s, g, p, k, j - 1, 1, 2, phase_ink[p->of[k].phase]);
        double x = px(g, p->of[k].at), end = px(g, j < p->n ? p->of[j].at : p->ops);
        svg_box(s, x, g->y + g->h + 3, end - x > 0.6 ? end - x : 0.6, 7, 0, phase_ink[p->of[k].phase]);
    }
    svg_line(s, g->x, g->y + g->h, g->x + g->w, g->y + g->h, 1.5, INK_FRAME);
    if (!p->peak) svg_words(s, g->x + g->w / 2, g->y + g->h / 2, 15, 'm', false, INK_DIM, "no arrays: scalars are not counted");
    /* The peak. */
    double top = py(g, (double)p->peak);
    for (double x = g->x; p->peak && x < g->x + g->w; x += 12)
        svg_line(s, x, top, x + 6 < g->x + g->w ? x + 6 : g->x + g->w, top, 1.5, INK_MARK);
}

static void as_svg(const panel *of, uint32_t n, const char *title, text *out)
{
    /* So high that all panels fit on a slide. */
    const double left = 110, right = 32, w = 900, room = 450.0 / n, h = room > 150 ? 150 : room < 90 ? 90 : room, step = h + 62;
    plot g = {.x = left, .w = w, .h = h, .most = 1};
    for (uint32_t k = 0; k < n; k++) {
        if (of[k].peak > g.most) g.most = of[k].peak;
        if (of[k].ops > g.ops) g.ops = of[k].ops;
    }
    g.most += g.most / 12;
    svg s;
    svg_open(&s, out, left + w + right, 92 + step * n + 36, title);
    svg_words(&s, 24, 38, 21, 's', true, INK_TEXT, title);
    static const struct {
        svg_ink ink;
        const char *words;
    } legend[] = {{INK_GIVEN, "there before"},
                  {INK_SAVED, "kept for the adjoint"},
                  {INK_FORWARD, "forward at work"},
                  {INK_REPLAY, "replay at work"},
                  {INK_ADJOINT, "adjoint at work"}};
    double x = 24;
    for (int k = 0; k < 5; k++) {
        svg_box(&s, x, 55, 14, 14, 2, legend[k].ink);
        svg_words(&s, x + 20, 67, 14, 's', false, INK_DIM, legend[k].words);
        x += 20 + (double)strlen(legend[k].words) * 14 * SVG_ADVANCE + 24;
    }
    for (uint32_t k = 0; k < n; k++) {
        g.y = 118 + step * k;
        draw_panel(&s, &g, &of[k]);
    }
    char words[96];
    snprintf(words, sizeof words, g.ops < 1e7 ? "scalar operations, up to %.0f" : "scalar operations, up to %.3g", g.ops);
    svg_words(&s, left + w, 118 + step * n - 20, 14, 'e', false, INK_DIM, words);
    svg_close(&s);
}

bool view_memory(session *s, const view_request *q, view_format f, text *out)
{
    panel of[PLACEMENTS] = {0};
    uint32_t n = all_placements(s, q, of);
    if (!n) return false;
    char title[256];
    snprintf(title, sizeof title, "memory of %s", q->call ? q->call : q->script);
    if (f == FORMAT_JSON) as_json(of, n, out);
    else if (f == FORMAT_SVG) as_svg(of, n, title, out);
    else as_text(of, n, out);
    for (uint32_t k = 0; k < n; k++) free(of[k].of);
    return true;
}
