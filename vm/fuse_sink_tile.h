/* fuse_sink_tile.h: feeding a sink, for one element type; included by fuse_sink.c twice, with T (the type), F(name)
 * (which appends its suffix) and TREE defined. */

typedef struct F(state) {
    TREE tree;
    int have; /* elements of a block begun, in `carry` */
    T carry[REDUCE_BLOCK];
    int depth; /* `after` > 1: values on the stack, rows of `after` elements */
    uint64_t blocks;
    T rows[]; /* … 16 lanes of them, then the stack */
} F(state);

static void F(push)(F(state) * d, const T *x, int64_t n) { F(reduce_push)(&d->tree, REDUCE_SUM, F(reduce_block)(REDUCE_SUM, x, n)); }

static T F(ended)(F(state) * d)
{
    T sum = F(reduce_end)(&d->tree, REDUCE_SUM);
    d->tree.n = 0;
    d->tree.blocks = 0;
    return sum;
}

/* Sums over elements that follow one another. */
static void F(along)(const sink *s, F(state) * d, int64_t at, const T *x, int64_t n)
{
    T *out = s->out, *parts = s->parts;
    if (s->inner <= REDUCE_LANES && at % s->inner == 0 && n % s->inner == 0) {
        F(reduce_short_sums)((int)s->inner, x, n / s->inner, out + at / s->inner);
        return;
    }
    while (n > 0) {
        int64_t left = s->inner - at % s->inner, m = left < REDUCE_BLOCK ? left : REDUCE_BLOCK;
        if (d->have == 0 && m <= n) F(push)(d, x, m);
        else {
            m = REDUCE_BLOCK - d->have;
            if (m > left) m = left;
            if (m > n) m = n;
            memcpy(d->carry + d->have, x, (size_t)m * sizeof(T));
            d->have += (int)m;
            if (d->have == REDUCE_BLOCK || m == left) {
                F(push)(d, d->carry, d->have);
                d->have = 0;
            }
        }
        if (parts && (m == left || (at + m) % SINK_PART == 0)) parts[at / SINK_PART] = F(ended)(d);
        else if (m == left) out[at / s->inner] = F(ended)(d);
        at += m;
        x += m;
        n -= m;
    }
}

KERN_CLONES static void F(add)(T *restrict a, const T *restrict b, int64_t n)
{
    for (int64_t k = 0; k < n; k++) a[k] = a[k] + b[k];
}

/* A block of rows is in the lanes: folds it, and combines it with those before. */
static void F(fold)(const sink *s, F(state) * d)
{
    int64_t w = s->after;
    T *lanes = d->rows, *stack = d->rows + REDUCE_LANES * w;
    for (int f = REDUCE_LANES / 2; f >= 1; f /= 2) F(add)(lanes, lanes + f * w, f * w);
    d->blocks++;
    T *top = lanes;
    for (uint64_t c = d->blocks; !(c & 1); c >>= 1) {
        T *under = stack + --d->depth * w;
        F(add)(under, top, w);
        top = under;
    }
    if (top != stack + d->depth * w) memcpy(stack + d->depth * w, top, (size_t)w * sizeof(T));
    d->depth++;
}

/* Sums over rows of `after` elements. */
static void F(across)(const sink *s, F(state) * d, int64_t at, const T *x, int64_t n)
{
    int64_t w = s->after, k = at % w, r = at / w % s->inner, whole = REDUCE_LANES * w;
    T *out = (T *)s->out + at / w / s->inner * w;
    while (n > 0) {
        /* Rows one after the other lie in lanes one after the other: as many as there are go in at once. */
        int64_t lane = r % REDUCE_LANES, rows = REDUCE_LANES - lane;
        if (s->inner - r < rows) rows = s->inner - r;
        int64_t m = rows * w - k < n ? rows * w - k : n;
        bool first = k == 0 && r % REDUCE_BLOCK == 0;
        if (first && m == whole) memcpy(d->rows, x, (size_t)m * sizeof(T)); /* -0 + x is x */
        else {
            if (first)
                for (int64_t j = 0; j < whole; j++) d->rows[j] = (T)-0.0;
            F(add)(d->rows + lane * w + k, x, m);
        }
        x += m;
        n -= m;
        if (m == rows * w - k) r += rows, k = 0;
        else r += (k + m) / w, k = (k + m) % w;
        if (k || (r % REDUCE_BLOCK != 0 && r != s->inner)) continue;
        F(fold)(s, d);
        if (r != s->inner) continue;
        T *stack = d->rows + REDUCE_LANES * w;
        while (d->depth > 1) {
            d->depth--;
            F(add)(stack + (d->depth - 1) * w, stack + d->depth * w, w);
        }
        memcpy(out, stack, (size_t)w * sizeof(T));
        out += w;
        d->depth = 0;
        d->blocks = 0;
        r = 0;
    }
}

static void F(end)(sink *s)
{
    T *out = s->out, *parts = s->parts;
    if (parts) {
        F(state) d;
        d.tree.n = 0, d.tree.blocks = 0;
        for (size_t k = 0; k < s->part_bytes / sizeof(T); k++) F(reduce_push)(&d.tree, REDUCE_SUM, parts[k]);
        *out = F(ended)(&d);
    }
    if (s->mean)
        for (int64_t k = 0; k < s->outer * s->after; k++) out[k] = out[k] / (T)s->inner;
}
