/* reduce_tile.h: the reduction tree of reduce.h for one element type; included by reduce.c twice, with
 * T (the type) and F(name) (which appends its suffix) defined, TREE the tree's type and EXP the tile of exp. */

static inline T F(apply)(reduce_op op, T a, T b)
{
    switch (op) {
    case REDUCE_SUM: return a + b;
    case REDUCE_PROD: return a * b;
    case REDUCE_MAX: return a > b || a != a ? a : b; /* a NaN on either side stays */
    default: return a < b || a != a ? a : b;
    }
}
static inline T F(identity)(reduce_op op)
{
    return (T)(op == REDUCE_SUM ? -0.0 : op == REDUCE_PROD ? 1.0 : op == REDUCE_MAX ? -INFINITY : INFINITY);
}

void F(reduce_push)(TREE *t, reduce_op op, T block)
{
    t->blocks++;
    for (uint64_t c = t->blocks; !(c & 1); c >>= 1) block = F(apply)(op, t->s[--t->n], block);
    t->s[t->n++] = block;
}
T F(reduce_end)(const TREE *t, reduce_op op)
{
    T r = t->s[t->n - 1];
    for (int i = t->n - 2; i >= 0; i--) r = F(apply)(op, t->s[i], r);
    return r;
}

/* One block, with `op` a constant so that the loops are of one operation. */
static inline __attribute__((always_inline)) T F(block_of)(reduce_op op, const T *x, int64_t n)
{
    T l[REDUCE_LANES];
    if (n == REDUCE_BLOCK) {
        for (int j = 0; j < REDUCE_LANES; j++) {
            T s = F(identity)(op);
            for (int i = 0; i < REDUCE_BLOCK / REDUCE_LANES; i++) s = F(apply)(op, s, x[REDUCE_LANES * i + j]);
            l[j] = s;
        }
    } else {
        for (int j = 0; j < REDUCE_LANES; j++) l[j] = F(identity)(op);
        int64_t i = 0;
        for (; i + REDUCE_LANES <= n; i += REDUCE_LANES)
            for (int j = 0; j < REDUCE_LANES; j++) l[j] = F(apply)(op, l[j], x[i + j]);
        for (int j = 0; i < n; i++, j++) l[j] = F(apply)(op, l[j], x[i]);
    }
    for (int j = 0; j < 8; j++) l[j] = F(apply)(op, l[j], l[j + 8]);
    for (int j = 0; j < 4; j++) l[j] = F(apply)(op, l[j], l[j + 4]);
    for (int j = 0; j < 2; j++) l[j] = F(apply)(op, l[j], l[j + 2]);
    return F(apply)(op, l[0], l[1]);
}
KERN_CLONES static void F(blocks_sum)(const T *x, int64_t n, int64_t nb, T *out)
{
    for (int64_t b = 0; b < nb; b++)
        out[b] = F(block_of)(REDUCE_SUM, x + b * REDUCE_BLOCK, b == nb - 1 ? n - b * REDUCE_BLOCK : REDUCE_BLOCK);
}
KERN_CLONES static void F(blocks_prod)(const T *x, int64_t n, int64_t nb, T *out)
{
    for (int64_t b = 0; b < nb; b++)
        out[b] = F(block_of)(REDUCE_PROD, x + b * REDUCE_BLOCK, b == nb - 1 ? n - b * REDUCE_BLOCK : REDUCE_BLOCK);
}
KERN_CLONES static void F(blocks_max)(const T *x, int64_t n, int64_t nb, T *out)
{
    for (int64_t b = 0; b < nb; b++)
        out[b] = F(block_of)(REDUCE_MAX, x + b * REDUCE_BLOCK, b == nb - 1 ? n - b * REDUCE_BLOCK : REDUCE_BLOCK);
}
KERN_CLONES static void F(blocks_min)(const T *x, int64_t n, int64_t nb, T *out)
{
    for (int64_t b = 0; b < nb; b++)
        out[b] = F(block_of)(REDUCE_MIN, x + b * REDUCE_BLOCK, b == nb - 1 ? n - b * REDUCE_BLOCK : REDUCE_BLOCK);
}
/* nb blocks of x[0..n), the last perhaps short. */
static void F(blocks)(reduce_op op, const T *x, int64_t n, int64_t nb, T *out)
{
    switch (op) {
    case REDUCE_SUM: F(blocks_sum)(x, n, nb, out); break;
    case REDUCE_PROD: F(blocks_prod)(x, n, nb, out); break;
    case REDUCE_MAX: F(blocks_max)(x, n, nb, out); break;
    default: F(blocks_min)(x, n, nb, out); break;
    }
}
T F(reduce_block)(reduce_op op, const T *x, int64_t n)
{
    T out;
    F(blocks)(op, x, n, 1, &out);
    return out;
}

void F(reduce_load)(const shaped *x, const reduce_axes *r, int64_t base, int64_t i, int64_t n, T *dst){LOAD_BODY}

/* dst[i] = term of src[i], which may be the same; mu has stride ms, 0 or 1. */
KERN_CLONES static void F(term_square)(T *dst, const T *src, int64_t n)
{
    for (int64_t i = 0; i < n; i++) dst[i] = src[i] * src[i];
}
KERN_CLONES static void F(term_less)(T *dst, const T *src, int64_t n, const T *mu, int64_t ms)
{
    if (ms)
        for (int64_t i = 0; i < n; i++) dst[i] = src[i] - mu[i];
    else
        for (int64_t i = 0; i < n; i++) dst[i] = src[i] - mu[0];
}
static void F(term)(reduce_term term, T *dst, const T *src, int64_t n, const T *mu, int64_t ms)
{
    if (term == TERM_DEVIATION || term == TERM_EXP) {
        F(term_less)(dst, src, n, mu, ms);
        src = dst;
    }
    if (term == TERM_SQUARE || term == TERM_DEVIATION) F(term_square)(dst, src, n);
    if (term == TERM_EXP) {
        const void *args[1] = {dst};
        EXP(n, dst, args, 0);
    }
}

/* Subtree of blocks [b0, b1) of one output whose elements start at `base`. */
static T F(along)(const shaped *x, const reduce_axes *r, reduce_op op, reduce_term term, const T *mu, int64_t base, int64_t b0, int64_t b1)
{
    TREE t;
    t.n = 0, t.blocks = 0;
    bool direct = x->dtype == DTYPE && (r->nr == 0 || (r->nr == 1 && r->rstride[0] == 1));
    T buf[16 * REDUCE_BLOCK], part[16];
    for (int64_t b = b0; b < b1; b += 16) {
        int64_t nb = b1 - b < 16 ? b1 - b : 16, i = b * REDUCE_BLOCK;
        int64_t n = r->n - i < nb * REDUCE_BLOCK ? r->n - i : nb * REDUCE_BLOCK;
        const T *src = (const T *)x->data + base + i;
        if (!direct) {
            F(reduce_load)(x, r, base, i, n, buf);
            src = buf;
        }
        if (term != TERM_X) {
            F(term)(term, buf, src, n, mu, 0);
            src = buf;
        }
        F(blocks)(op, src, n, nb, part);
        for (int64_t k = 0; k < nb; k++) F(reduce_push)(&t, op, part[k]);
    }
    return F(reduce_end)(&t, op);
}

/* Reductions of n <= 16 elements, which are one lane each, for `count` outputs at x + k * ks: the folding alone.
   What a lane would hold without an element, the identity, changes nothing. */
static inline __attribute__((always_inline)) void F(short_of)(reduce_op op, const int n, const T *x, int64_t ks, int64_t rs, int64_t count,
                                                              T *out)
{
    for (int64_t k = 0; k < count; k++, x += ks) {
        T l[REDUCE_LANES];
        for (int j = 0; j < n; j++) l[j] = x[j * rs];
        for (int m = n, w = REDUCE_LANES / 2; w; w /= 2)
            if (m > w) {
                for (int j = 0; j + w < m; j++) l[j] = F(apply)(op, l[j], l[j + w]);
                m = w;
            }
        out[k] = l[0];
    }
}
/* Two, three or four that follow one another: the same folding, written so that `count` is what goes into vectors. */
KERN_CLONES static void F(pairs)(const T *restrict x, int64_t count, T *restrict out)
{
    for (int64_t k = 0; k < count; k++) out[k] = x[2 * k] + x[2 * k + 1];
}
KERN_CLONES static void F(triples)(const T *restrict x, int64_t count, T *restrict out)
{
    for (int64_t k = 0; k < count; k++) out[k] = (x[3 * k] + x[3 * k + 2]) + x[3 * k + 1];
}
KERN_CLONES static void F(fours)(const T *restrict x, int64_t count, T *restrict out)
{
    for (int64_t k = 0; k < count; k++) out[k] = (x[4 * k] + x[4 * k + 2]) + (x[4 * k + 1] + x[4 * k + 3]);
}
static void F(short_sums)(int n, const T *x, int64_t ks, int64_t rs, int64_t count, T *out)
{
    if (ks == n && rs == 1 && n >= 2 && n <= 4) (n == 2 ? F(pairs) : n == 3 ? F(triples) : F(fours))(x, count, out);
    else F(short_of)(REDUCE_SUM, n, x, ks, rs, count, out);
}

void F(reduce_short_sums)(int n, const T *x, int64_t count, T *out) { F(short_sums)(n, x, n, 1, count, out); }

/* Tree steps on `w` outputs at once. */
#define ACROSS(OP, NAME) \
    KERN_CLONES static void F(NAME)(T *restrict a, const T *restrict b, int64_t w) \
    { \
        if (w == REDUCE_TILE) \
            for (int i = 0; i < REDUCE_TILE; i++) a[i] = F(apply)(OP, a[i], b[i]); \
        else \
            for (int64_t i = 0; i < w; i++) a[i] = F(apply)(OP, a[i], b[i]); \
    } \
    /* A whole block, its rows x[i * rs + 0..w). */ \
    KERN_CLONES static void F(NAME##_rows)(T(*restrict l)[REDUCE_TILE], const T *restrict x, int64_t rs, int64_t n, int64_t w) \
    { \
        for (int64_t i = 0; i < n; i++) { \
            T *restrict a = l[i % REDUCE_LANES]; \
            const T *restrict b = x + i * rs; \
            if (w == REDUCE_TILE) \
                for (int k = 0; k < REDUCE_TILE; k++) a[k] = F(apply)(OP, a[k], b[k]); \
            else \
                for (int64_t k = 0; k < w; k++) a[k] = F(apply)(OP, a[k], b[k]); \
        } \
    }
ACROSS(REDUCE_SUM, across_sum)
ACROSS(REDUCE_PROD, across_prod)
ACROSS(REDUCE_MAX, across_max)
ACROSS(REDUCE_MIN, across_min)
#undef ACROSS

/* Subtree of blocks [b0, b1) for w <= 32 outputs that lie next to each other from `base`; mu: w values. */
static void F(across)(const shaped *x, const reduce_axes *r, reduce_op op, reduce_term term, const T *mu, int64_t base, int64_t w,
                      int64_t b0, int64_t b1, T *out)
{
    static void (*const steps[])(T *restrict, const T *restrict, int64_t) = {F(across_sum), F(across_prod), F(across_max), F(across_min)};
    static void (*const rows[])(T(*restrict)[REDUCE_TILE], const T *restrict, int64_t, int64_t,
                                int64_t) = {F(across_sum_rows), F(across_prod_rows), F(across_max_rows), F(across_min_rows)};
    T lanes[REDUCE_LANES][REDUCE_TILE], row[REDUCE_TILE], stack[12][REDUCE_TILE];
    _Static_assert(REDUCE_SUPER <= 1 << 11, "a subtree's stack");
    int depth = 0;
    uint64_t blocks = 0;
    int64_t at[RANK_MAX] = {0}, off = base, dummy = 0, first = b0 * REDUCE_BLOCK;
    for (int i = r->nr - 1; i >= 0; i--) {
        at[i] = first % r->rshape[i];
        off += at[i] * r->rstride[i];
        first /= r->rshape[i];
    }
    const T *data = x->data;
    for (int64_t b = b0; b < b1; b++) {
        int64_t n = r->n - b * REDUCE_BLOCK < REDUCE_BLOCK ? r->n - b * REDUCE_BLOCK : REDUCE_BLOCK;
        for (int j = 0; j < REDUCE_LANES; j++)
            for (int64_t k = 0; k < w; k++) lanes[j][k] = F(identity)(op);
        if (term == TERM_X && r->nr == 1) {
            rows[op](lanes, data + off, r->rstride[0], n, w);
            off += n * r->rstride[0];
        } else
            for (int64_t i = 0; i < n; i++) {
                const T *src = data + off;
                if (term != TERM_X) {
                    F(term)(term, row, src, w, mu, 1);
                    src = row;
                }
                steps[op](lanes[i % REDUCE_LANES], src, w);
                odometer(r->nr, r->rshape, at, r->rstride, &off, r->rstride, &dummy);
            }
        for (int f = REDUCE_LANES / 2; f >= 1; f /= 2)
            for (int j = 0; j < f; j++) steps[op](lanes[j], lanes[j + f], w);
        blocks++;
        for (uint64_t c = blocks; !(c & 1); c >>= 1) {
            steps[op](stack[--depth], lanes[0], w);
            memcpy(lanes[0], stack[depth], (size_t)w * sizeof(T));
        }
        memcpy(stack[depth++], lanes[0], (size_t)w * sizeof(T));
    }
    while (depth > 1) {
        depth--;
        steps[op](stack[depth - 1], stack[depth], w);
    }
    memcpy(out, stack[0], (size_t)w * sizeof(T));
}

/* The subtrees of a reduction, by number. */
typedef struct F(job) {
    const shaped *x;
    const reduce_axes *r;
    reduce_op op;
    reduce_term term;
    const T *mu;
    T *part;
    bool side;
    int64_t inner, tile, ntiles, supers, nb;
} F(job);
static void F(item)(const F(job) * j, int64_t it)
{
    int64_t s = it % j->supers, k = it / j->supers % j->ntiles, o = it / j->supers / j->ntiles;
    int64_t first = o * j->inner + k * j->tile, w = j->inner - k * j->tile < j->tile ? j->inner - k * j->tile : j->tile;
    int64_t b0 = s * REDUCE_SUPER, b1 = b0 + REDUCE_SUPER < j->nb ? b0 + REDUCE_SUPER : j->nb;
    int64_t base = reduce_base(j->r, first);
    const T *mu = j->mu ? j->mu + first : NULL;
    T *part = j->part + s * j->r->outs + first;
    if (j->side) F(across)(j->x, j->r, j->op, j->term, mu, base, w, b0, b1, part);
    else *part = F(along)(j->x, j->r, j->op, j->term, mu, base, b0, b1);
}

static bool F(run)(vm *m, const shaped *x, const reduce_axes *r, reduce_op op, reduce_term term, const T *mu, T *out)
{
    if (r->outs == 0) return true;
    if (r->n == 0) {
        for (int64_t i = 0; i < r->outs; i++) out[i] = op == REDUCE_SUM ? 0 : F(identity)(op);
        return true;
    }
    int64_t nb = (r->n + REDUCE_BLOCK - 1) / REDUCE_BLOCK, supers = (nb + REDUCE_SUPER - 1) / REDUCE_SUPER;
    T *part = out;
    size_t bytes = (size_t)(supers * r->outs) * sizeof(T);
    if (supers > 1) {
        part = memory_alloc(&m->mem, MEM_OTHER, bytes);
        if (!part) return vm_out_of_memory(m);
    }
    /* Outputs side by side go 32 at a time when they are next to each other in memory. */
    int64_t inner = r->nk ? r->kshape[r->nk - 1] : 1;
    bool side = x->dtype == DTYPE && r->nk && r->kstride[r->nk - 1] == 1 && inner >= 4 && !(r->nr == 1 && r->rstride[0] == 1);
    if (op == REDUCE_SUM && term == TERM_X && x->dtype == DTYPE && r->n <= REDUCE_LANES && r->nr <= 1 && !side) {
        int64_t rows = r->outs / inner, rs = r->nr ? r->rstride[0] : 0, ks = r->nk ? r->kstride[r->nk - 1] : 0;
        int64_t cuts = inner >= 8192 ? inner / 4096 : 1;
        int several = threads_for(m, r->n * r->outs);
        if (several < 2) {
            for (int64_t o = 0; o < rows && !INTERRUPTED(m); o++)
                F(short_sums)((int)r->n, (const T *)x->data + reduce_base(r, o * inner), ks, rs, inner, out + o * inner);
            return !vm_interrupted(m);
        }
#pragma omp parallel for schedule(static) num_threads(several)
        for (int64_t it = 0; it < rows * cuts; it++) {
            if (INTERRUPTED(m)) continue;
            int64_t o = it / cuts, lo = inner * (it % cuts) / cuts, hi = inner * (it % cuts + 1) / cuts;
            F(short_sums)((int)r->n, (const T *)x->data + reduce_base(r, o * inner + lo), ks, rs, hi - lo, out + o * inner + lo);
        }
        return !vm_interrupted(m);
    }
    int64_t tile = side ? REDUCE_TILE : 1, ntiles = side ? (inner + tile - 1) / tile : inner;
    int64_t outer = r->outs / inner, items = outer * ntiles * supers;
    int threads = threads_for(m, r->n * r->outs * (term == TERM_EXP ? 8 : 1));
    F(job) j = {x, r, op, term, mu, part, side, inner, tile, ntiles, supers, nb};
    if (threads > 1) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t it = 0; it < items; it++)
            if (!INTERRUPTED(m)) F(item)(&j, it);
    } else /* even a team of one costs system calls */
        for (int64_t it = 0; it < items && !INTERRUPTED(m); it++) F(item)(&j, it);
    if (supers > 1) {
        for (int64_t i = 0; i < r->outs && !INTERRUPTED(m); i++) {
            TREE t;
            t.n = 0, t.blocks = 0;
            for (int64_t s = 0; s < supers; s++) F(reduce_push)(&t, op, part[s * r->outs + i]);
            out[i] = F(reduce_end)(&t, op);
        }
        memory_free(&m->mem, MEM_OTHER, part, bytes);
    }
    return !vm_interrupted(m);
}
