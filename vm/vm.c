/* vm.c: the handle everything hangs off: opening and closing it, errors, notes, output, and the
 * table of top-level functions.
 *
 * What holds throughout: vm->error is set once, by whoever saw the fault first, and stays until the
 * interpreter picks it up. Opening either gives a whole VM or nothing. */
#include "vm.h"
#include "exec.h"
#include "residual.h"
#include "worth.h"
#include "blas.h"
#include "spill.h"
#include "budget.h"
#include "code.h"
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

vm_config vm_config_default(void) { return (vm_config){.float_dtype = DTYPE_F64, .seed = 0, .optimise = true, .fuse = true, .pool = true}; }

vm *vm_open(const vm_config *config)
{
    memory mem;
    if (!memory_open(&mem)) return NULL;
    vm *m = malloc(sizeof *m); /* the handle itself cannot be counted by the allocator inside it */
    if (!m) {
        memory_close(&mem);
        return NULL;
    }
    *m = (vm){.mem = mem, .config = config ? *config : vm_config_default(), .fail_arg = -1, .last_room = malloc(LAST_ROOM)};
    m->mem.no_pool = !m->config.pool;
    m->mem.stop = &m->interrupt;
    if (m->config.limit) m->mem.limit = m->config.limit;
    m->mem.evict = budget_evict;
    m->mem.evict_ctx = m;
    if (m->config.budget) {
        m->mem.array_budget = m->config.budget;
        m->budgeted = true;
    }
    if (m->config.threads <= 0) m->config.threads = omp_get_num_procs();
    m->random.key = m->config.seed;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    m->stats.started = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    m->next_origin = 1;

    m->symbols = symbols_open(&m->mem);
    bool fine = m->last_room && m->symbols && prims_open(m);
    if (fine) {
        m->globals = table_new(m);
        record *r = m->globals.tag == V_UNDEF ? NULL : record_new(m, 0, 8);
        if (r) m->modules = value_object(&r->h);
        fine = r != NULL && exec_open(m);
    }
    if (fine) {
        keep_open(m);
        fine = worth_open(m) && m->keep && m->error == NULL;
    }
    if (!fine) {
        vm_close(m);
        return NULL;
    }
    return m;
}

void vm_close(vm *m)
{
    if (!m) return;
    if (m->keep) keep_close(m);
    worth_close(m);
    if (m->exec) exec_close(m);
    value_release(m, m->modules);
    value_release(m, m->figure);
    value_release(m, m->globals);
    spill_close(m);
    code_release(m->custom);
    prims_close(m);
    code_blocks_close(m);
    blas_release(m);
    diag_free(m->error);
    if (m->symbols) symbols_close(m->symbols);
    memory_close(&m->mem);
    free(m->last_room);
    free(m);
}

/* --- errors and notes ----------------------------------------------------------------------- */

/* diag_new takes a format, and so must whoever passes one on: the message is made here first. */
static diag *diag_of(vm *m, severity s, diag_code kind, const char *fmt, va_list ap)
{
    char small[512];
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    diag *d;
    if (n < (int)sizeof small) {
        d = diag_new(&m->mem, s, kind, "%s", small);
    } else {
        text t;
        text_open(&t, &m->mem);
        text_vprintf(&t, fmt, again);
        d = diag_new(&m->mem, s, kind, "%s", t.failed ? small : text_str(&t));
        text_close(&t);
    }
    va_end(again);
    return d;
}

bool vm_fail(vm *m, diag_code kind, const char *fmt, ...)
{
    if (m->error) return false;
    va_list ap;
    va_start(ap, fmt);
    m->error = diag_of(m, SEVERITY_ERROR, kind, fmt, ap);
    va_end(ap);
    if (!m->error && kind != DIAG_MEMORY && kind != DIAG_BUDGET) return vm_out_of_memory(m); /* there was none for the diagnostic */
    m->fail_arg = -1;
    return false;
}

/* "64 bytes", "1.5 MiB" */
static const char *size_text(size_t n, char out[32])
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double x = (double)n;
    int k = 0;
    while (x >= 1024 && k < 6) x /= 1024, k++;
    snprintf(out, 32, k == 0 || x == (double)(int)x ? "%.0f %s" : "%.1f %s", x, unit[k]);
    return out;
}

bool vm_out_of_memory(vm *m)
{
    if (m->error || vm_interrupted(m)) return false;
    char asked[32], live[32], limit[32];
    size_text(m->mem.refused, asked);
    size_text(m->mem.live_all, live);
    size_t arrays = m->mem.refused_live; /* what is live now may be less: the caller has cleaned up */
    if (m->mem.array_budget != SIZE_MAX && arrays != SIZE_MAX) {
        size_text(m->block_budget ? m->block_budget : m->mem.array_budget, limit);
        size_text(arrays, live);
        return vm_fail(m, DIAG_BUDGET, "the budget of %s is not enough: %s more were needed with %s of arrays live", limit, asked, live);
    }
    if (m->mem.limit != SIZE_MAX) {
        size_text(m->mem.limit, limit);
        return vm_fail(m, DIAG_MEMORY, "out of memory: %s more were needed, %s are in use, and the limit is %s", asked, live, limit);
    }
    return vm_fail(m, DIAG_MEMORY, "out of memory: %s more were needed and %s are in use", asked, live);
}

bool vm_interrupted(vm *m)
{
    if (!INTERRUPTED(m)) return false;
    bool late = __atomic_exchange_n(&m->interrupt, 0, __ATOMIC_RELAXED) == INTERRUPT_TIME;
    vm_fail(m, DIAG_INTERRUPT, late ? "the time limit is over" : "interrupted");
    return true;
}

void vm_help(vm *m, const char *fmt, ...)
{
    char s[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s, sizeof s, fmt, ap);
    va_end(ap);
    if (m->error) diag_help_set(m->error, "%s", s);
}

void vm_note(vm *m, const char *fmt, ...)
{
    char s[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s, sizeof s, fmt, ap);
    va_end(ap);
    if (m->error) diag_note_add(m->error, "%s", s);
}

void vm_report(vm *m, severity s, diag_code kind, span at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diag *d = diag_of(m, s, kind, fmt, ap);
    va_end(ap);
    if (!d) return;
    if (at.src) diag_label_add(d, at, "%s", "");
    if (m->config.report) {
        m->config.report(m->config.ctx, d);
        return;
    }
    text t;
    text_open(&t, &m->mem);
    diag_render(d, false, &t);
    fputs(text_str(&t), stderr);
    text_close(&t);
    diag_free(d);
}

bool vm_write(vm *m, const char *s, size_t n)
{
    if (m->mute) return true;
    if (m->config.output_limit && n > m->config.output_limit - m->output)
        return vm_fail(m, DIAG_INTERRUPT, "the program prints more than the limit of %zu bytes", m->config.output_limit);
    m->output += n;
    errno = 0;
    bool fine = m->config.write ? m->config.write(m->config.ctx, s, n) : fwrite(s, 1, n, stdout) == n;
    if (fine) return true;
    return vm_fail(m, DIAG_FILE, "output cannot be written: %s", errno ? strerror(errno) : "refused");
}

/* --- top-level functions -------------------------------------------------------------------- */

value table_new(vm *m)
{
    table *t = memory_alloc(&m->mem, MEM_VALUE, sizeof *t);
    if (!t) {
        vm_out_of_memory(m);
        return value_undef();
    }
    t->h.refs = 1;
    t->h.kind = V_TABLE;
    return value_object(&t->h);
}

/* Where `name` is or would go; cap > n. */
static uint32_t table_slot(const table *t, symbol name)
{
    uint32_t i = (name * 2654435769u) & (t->cap - 1);
    while (t->keys[i] && t->keys[i] != name) i = (i + 1) & (t->cap - 1);
    return i;
}

/* Fills `to` (fresh, empty) with room for cap entries and all of `from`'s, retained or moved. */
static bool table_fill(vm *m, table *to, const table *from, uint32_t cap, bool move)
{
    symbol *keys = memory_alloc(&m->mem, MEM_VALUE, cap * sizeof *keys);
    value *v = keys ? memory_alloc(&m->mem, MEM_VALUE, cap * sizeof *v) : NULL;
    if (!v) {
        memory_free(&m->mem, MEM_VALUE, keys, cap * sizeof *keys);
        return vm_out_of_memory(m);
    }
    *to = (table){.h = to->h, .n = from->n, .cap = cap, .keys = keys, .v = v};
    for (uint32_t i = 0; i < from->cap; i++) {
        if (!from->keys[i]) continue;
        uint32_t s = table_slot(to, from->keys[i]);
        keys[s] = from->keys[i];
        v[s] = move ? from->v[i] : value_retain(from->v[i]);
    }
    return true;
}

bool table_set(vm *m, value *t, symbol name, value v)
{
    table *a = as_table(*t);
    uint32_t cap = a->cap ? a->cap : 16;
    while ((a->n + 1) * 4 > cap * 3) cap *= 2;
    if (a->h.refs > 1) {
        value fresh = table_new(m);
        if (fresh.tag == V_UNDEF) return false;
        if (!table_fill(m, as_table(fresh), a, cap, false)) {
            value_release(m, fresh);
            return false;
        }
        value_release(m, *t);
        *t = fresh;
        a = as_table(fresh);
    } else if (cap != a->cap) {
        table old = *a;
        if (!table_fill(m, a, &old, cap, true)) return false;
        memory_free(&m->mem, MEM_VALUE, old.v, old.cap * sizeof(value));
        memory_free(&m->mem, MEM_VALUE, old.keys, old.cap * sizeof(symbol));
    }
    uint32_t i = table_slot(a, name);
    if (a->keys[i]) {
        value before = a->v[i];
        a->v[i] = v;
        value_release(m, before);
    } else {
        a->keys[i] = name;
        a->v[i] = v;
        a->n++;
    }
    return true;
}

const value *table_get(value t, symbol name)
{
    const table *a = as_table(t);
    if (!a->n) return NULL;
    uint32_t i = table_slot(a, name);
    return a->keys[i] ? &a->v[i] : NULL;
}
