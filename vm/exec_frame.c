/* exec_frame.c: opening and closing the interpreter, and the segmented stack its frames stand on.
 *
 * Segments never move, so a frame's address is good while it lives; they grow to a megabyte, so that
 * recursion is limited by memory and costs no copying. */
#include "run.h"
#include "exec.h"
#include "fuse.h"
#include "profile.h"
#include "elementwise.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double exec_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- opening -------------------------------------------------------------------------------- */

static uint32_t cost_of(const prim *p)
{
    uint32_t n = 0;
    for (const char *s = p->cost ? p->cost : ""; *s >= '0' && *s <= '9' && n < 1000000; s++) n = n * 10 + (uint32_t)(*s - '0');
    return n ? n : 1;
}

bool exec_open(vm *m)
{
    static const struct {
        const char *name;
        uint8_t op;
    } fast[] = {
        {"add", RUN_ADD},   {"sub", RUN_SUB},       {"mul", RUN_MUL},
        {"div", RUN_DIV},   {"neg", RUN_NEG},       {"lt", RUN_LT},
        {"le", RUN_LE},     {"gt", RUN_GT},         {"ge", RUN_GE},
        {"eq", RUN_EQ},     {"ne", RUN_NE},         {"zmul", RUN_ZMUL},
        {"acc", RUN_ACC},   {"reduce_to", RUN_FIT}, {"spread_to", RUN_FIT},
        {"form", RUN_FORM}, {"index", RUN_INDEX},   {"setindex", RUN_SETINDEX},
    };
    struct exec *x = memory_alloc(&m->mem, MEM_OTHER, sizeof *x);
    if (!x) return vm_out_of_memory(m);
    x->m = m;
    x->fast = memory_alloc(&m->mem, MEM_OTHER, prim_count);
    x->cost = memory_alloc(&m->mem, MEM_OTHER, prim_count * sizeof *x->cost);
    x->joins = memory_alloc(&m->mem, MEM_OTHER, prim_count);
    m->exec = x;
    if (!x->fast || !x->cost || !x->joins || !fuse_open(x) || !profile_open(x)) {
        exec_close(m);
        return vm_out_of_memory(m);
    }
    for (uint32_t i = 0; i < prim_count; i++) {
        const char *name = prims[i].name;
        x->cost[i] = cost_of(&prims[i]);
        x->fast[i] = RUN_PRIM;
        if (name[0] == '_' && name[1] == '_') name += 2;
        for (size_t k = 0; k < sizeof fast / sizeof *fast; k++)
            if (!strcmp(fast[k].name, name)) x->fast[i] = fast[k].op;
        x->joins[i] = m->config.fuse && !m->config.trace_nan &&
                      ((prims[i].tile && prims[i].kernel == kern_elementwise) || i == PRIM_sum || i == PRIM_mean || x->fast[i] == RUN_FIT ||
                       x->fast[i] == RUN_ACC || x->fast[i] == RUN_FORM);
    }
    return true;
}

void segments_free(struct exec *x)
{
    memory *mem = &x->m->mem;
    if (x->spare) memory_free(mem, MEM_FRAME, x->spare, x->spare->bytes);
    for (segment *s = x->seg, *down; s; s = down) {
        down = s->down;
        memory_free(mem, MEM_FRAME, s, s->bytes);
    }
    x->seg = x->spare = NULL;
    x->top = x->end = NULL;
}

void exec_close(vm *m)
{
    struct exec *x = m->exec;
    if (!x) return;
    segments_free(x);
    fuse_close(x);
    profile_close(x);
    memory_free(&m->mem, MEM_OTHER, x->fast, prim_count);
    memory_free(&m->mem, MEM_OTHER, x->joins, prim_count);
    memory_free(&m->mem, MEM_OTHER, x->cost, prim_count * sizeof *x->cost);
    memory_free(&m->mem, MEM_OTHER, x, sizeof *x);
    m->exec = NULL;
}

/* --- frames --------------------------------------------------------------------------------- */

/* Under the sanitizer: a frame that ends holds nothing. */
void frame_check(const frame *f)
{
    for (uint32_t s = 0; s < f->run->nslots; s++)
        if (value_is_heap(f->r[s])) {
            fprintf(stderr, "exec: slot %u of %s holds a value at the end\n", s, code_display_name(f->run->code));
            abort();
        }
}

enum { SEGMENT_FIRST = 16 << 10, SEGMENT_MOST = 1 << 20 };

bool segment_push(struct exec *x, size_t bytes)
{
    memory *mem = &x->m->mem;
    size_t want = x->seg ? x->seg->bytes * 2 : SEGMENT_FIRST;
    if (want > SEGMENT_MOST) want = SEGMENT_MOST;
    if (want < sizeof(segment) + bytes) want = sizeof(segment) + bytes;
    segment *s = x->spare;
    if (s && s->bytes >= want) {
        x->spare = NULL;
        want = s->bytes;
    } else s = memory_alloc(mem, MEM_FRAME, want);
    if (!s) {
        if (x->depth < 100) return vm_out_of_memory(x->m);
        vm_fail(x->m, DIAG_MEMORY, "a recursion of %llu calls needs more memory than there is%s", (unsigned long long)x->depth,
                mem->limit == SIZE_MAX ? "" : " under the limit");
        return false;
    }
    s->bytes = want;
    s->down = x->seg;
    s->below = x->top;
    x->seg = s;
    x->top = (char *)s->data;
    x->end = (char *)s + want;
    return true;
}

/* The innermost frame was the first of its segment. One free segment is kept, so that a call at the
   edge does not allocate each time. */
void segment_pop(struct exec *x)
{
    segment *s = x->seg;
    if (!s->down) {
        x->top = (char *)s->data;
        return;
    }
    x->seg = s->down;
    x->top = s->below;
    x->end = (char *)x->seg + x->seg->bytes;
    if (x->spare) memory_free(&x->m->mem, MEM_FRAME, x->spare, x->spare->bytes);
    x->spare = s;
}

frame_more *frame_more_new(struct exec *x, frame *f)
{
    vm *m = x->m;
    frame_more *s = memory_alloc(&m->mem, MEM_FRAME, sizeof *s);
    if (!s) {
        vm_out_of_memory(m);
        return NULL;
    }
    s->keep_n = m->keep ? m->keep->n : 0;
    s->mute = m->mute;
    s->forcing = x->forcing;
    s->budget = m->mem.array_budget;
    s->slack = m->mem.array_slack;
    s->block_budget = m->block_budget;
    s->spilling = m->spilling;
    return f->more = s;
}
