/* stats.c: what a run cost, between two moments: the figures of `measure`.
 *
 * In go the VM's running counts; out comes a record. Peaks are reset when the measured call begins
 * and are the greater of the two when it ends, so that measuring changes no figure of the whole. */
#include "run.h"
#include <string.h>

bool stats_begin(vm *m, frame_more *s)
{
    s->nreplays = m->stats.nblocks;
    s->replays = memory_alloc(&m->mem, MEM_OTHER, (s->nreplays + 1) * sizeof *s->replays);
    if (!s->replays) return vm_out_of_memory(m);
    for (uint32_t i = 0; i < s->nreplays; i++) s->replays[i] = m->stats.blocks[i].replays;
    s->started = exec_seconds();
    s->peak = m->mem.peak[MEM_ARRAY];
    m->mem.peak[MEM_ARRAY] = m->mem.live[MEM_ARRAY];
    s->saved_peak = m->stats.saved_peak;
    m->stats.saved_peak = m->stats.saved;
    s->snapshots_peak = m->stats.snapshots_peak;
    m->stats.snapshots_peak = m->stats.snapshots;
    s->step_runs = m->stats.step_runs;
    s->steps = m->stats.steps;
    return true;
}

/* i64[n]: how often each block of the program was replayed meanwhile, in the order of the blocks. */
static value replays_since(vm *m, const frame_more *s)
{
    int64_t n = m->stats.nblocks;
    array *a = array_new(m, DTYPE_I64, 1, &n);
    if (!a) return value_undef();
    for (int64_t i = 0; i < n; i++) {
        uint64_t before = i < s->nreplays ? s->replays[i] : 0;
        ((int64_t *)a->data)[i] = (int64_t)(m->stats.blocks[i].replays - before);
    }
    return value_object(&a->h);
}

static bool put(vm *m, value *r, const char *name, value v)
{
    symbol y = symbol_of(m->symbols, name, strlen(name));
    if (v.tag != V_UNDEF && (y || vm_out_of_memory(m)) && record_set(m, r, y, v)) return true;
    value_release(m, v);
    return false;
}

static bool figures(vm *m, const frame_more *s, value *out)
{
    size_t peak = m->mem.peak[MEM_ARRAY], saved = m->stats.saved_peak;
    double seconds = exec_seconds() - s->started;
    record *r = record_new(m, 0, 8);
    if (!r) return false;
    *out = value_object(&r->h);
    bool fine = put(m, out, "seconds", value_f64(seconds)) && put(m, out, "peak_bytes", value_i64((int64_t)peak)) &&
                put(m, out, "saved_peak_bytes", value_i64((int64_t)saved)) && put(m, out, "replays", replays_since(m, s)) &&
                put(m, out, "step_runs", value_i64((int64_t)(m->stats.step_runs - s->step_runs))) &&
                put(m, out, "steps", value_i64((int64_t)(m->stats.steps - s->steps))) &&
                put(m, out, "snapshots_peak", value_i64((int64_t)m->stats.snapshots_peak));
    if (fine) return true;
    value_release(m, *out);
    *out = value_undef();
    return false;
}

bool stats_end(vm *m, frame_more *s, bool failed, value *out)
{
    bool fine = failed || figures(m, s, out);
    memory_free(&m->mem, MEM_OTHER, s->replays, (s->nreplays + 1) * sizeof *s->replays);
    s->replays = NULL;
    if (s->peak > m->mem.peak[MEM_ARRAY]) m->mem.peak[MEM_ARRAY] = s->peak;
    if (s->saved_peak > m->stats.saved_peak) m->stats.saved_peak = s->saved_peak;
    if (s->snapshots_peak > m->stats.snapshots_peak) m->stats.snapshots_peak = s->snapshots_peak;
    return fine;
}
