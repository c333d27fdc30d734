/* run_parts.c: where the operands, results and targets of a run form's instructions stand: the layouts that run.h
 * lists, in one place for all that reads a run form without running it. */
#include "run.h"

static uint32_t tapes_size(const uint32_t *w)
{
    uint32_t size = 4 + w[1];
    for (uint32_t k = 0; k < w[1]; k++) size += 1 + w[size];
    return size;
}

run_parts run_parts_of(const uint32_t *w)
{
    run_parts s = {.target = SLOT_NONE, .falls = true};
    run_op o = (run_op)(uint8_t)*w;
    switch (o) {
    /* What the run form adds to the tree. */
    case RUN_MOVE:
    case RUN_COPY:
    case RUN_KEEP: s.dst = w + 1, s.ndst = 1, s.src = w + 2, s.nsrc = 1, s.size = 3; return s;
    case RUN_DROP:
    case RUN_KEEP_END: s.size = 2; return s;
    case RUN_JUMP: s.target = w[1], s.falls = false, s.size = 2; return s;
    case RUN_GO:
    case RUN_GO_NOT: s.src = w + 1, s.nsrc = 1, s.target = w[2], s.size = 3; return s;
    case RUN_RANGE: s.src = w + 1, s.nsrc = 2, s.dst = w + 3, s.ndst = 2, s.size = 5; return s;
    case RUN_RANGE_NEXT: s.target = w[3], s.size = 4; return s;
    case RUN_STEP: s.size = 1; return s;
    case RUN_TAPES:
        s.src = w + 2, s.nsrc = w[1], s.dst = w + 2 + w[1], s.ndst = w[1], s.dst2 = w + 2 + 2 * w[1], s.ndst2 = 1, s.size = 3 + 2 * w[1];
        return s;
    case RUN_TAPES_NEXT: s.target = w[3 + w[1]], s.size = tapes_size(w); return s;
    default: s.own = true;
    }
    switch (o) {
    case RUN_CONST: s.dst = w + 1, s.ndst = 1, s.size = 3; break;
    case RUN_TUPLE: s.dst = w + 2, s.ndst = 1, s.src = w + 3, s.nsrc = w[1], s.size = 3 + w[1]; break;
    case RUN_UNPACK: s.dst = w + 3, s.ndst = w[1], s.src = w + 3 + w[1], s.nsrc = 1, s.size = 4 + w[1]; break;
    case RUN_CALL:
    case RUN_FORCE:
    case RUN_TRY:
    case RUN_MEASURE:
    case RUN_IMPORT: s.dst = w + 4, s.ndst = w[2], s.src = w + 4 + w[2], s.nsrc = w[3], s.size = 4 + w[2] + w[3]; break;
    case RUN_RETURN:
    case RUN_CLOSURE:
    case RUN_GLOBAL:
    case RUN_DEFINED:
    case RUN_SELDEF:
    case RUN_FIELD:
    case RUN_OTHER:
        s.dst = w + 3, s.ndst = w[1], s.src = w + 3 + w[1], s.nsrc = w[2], s.size = 3 + w[1] + w[2];
        s.falls = o != RUN_RETURN;
        break;
    default: s.dst = w + 3, s.ndst = 1, s.src = w + 4, s.nsrc = w[2], s.size = 4 + w[2]; /* PRIM's */
    }
    return s;
}
