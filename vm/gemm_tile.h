/* gemm_tile.h: the small-product kernel, once for every element type and vector width.
 *
 * Included by gemm.c with these macros set, and not for any other use:
 *   TILE(name)     the instance's name for a function
 *   T, V, W        element type, vector type, lanes
 *   TARGET         function attribute that allows the instructions
 *   ZERO SPLAT(x) LOAD(p) STORE(p, v) LOAD_PART(p, n) STORE_PART(p, n, v) FMA(a, b, c) ADD(a, b)
 *   ROWS           rows of the largest register block (8 with 32 registers, 4 with 16)
 *
 * Everything here computes one block of k (at most GEMM_BLOCK) and either stores its sum or adds it:
 * in each element one chain of fused multiply-adds from 0 in increasing k. Vectors run over the
 * columns of C, so lanes, rows and panels never meet in an addition and no blocking shows in the bits. */

/* c: [rows, n] with unit column stride, a: [rows, k] of any strides, b: [k, n] with unit column
   stride; n is (nv - 1) * W + tail. rows, nv and part are constants at every call. */
static inline __attribute__((always_inline)) TARGET void TILE(block)(const int rows, const int nv, const bool part, int tail, int64_t k,
                                                                     const T *a, int64_t rsa, int64_t csa, const T *b, int64_t rsb, T *c,
                                                                     int64_t rsc, bool add)
{
    V sum[8][8];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (int j = 0; j < nv; j++) sum[i][j] = ZERO;
    for (int64_t p = 0; p < k; p++, a += csa, b += rsb) {
        V col[8];
#pragma GCC unroll 8
        for (int j = 0; j < nv; j++) col[j] = part && j == nv - 1 ? LOAD_PART(b + j * W, tail) : LOAD(b + j * W);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            V x = SPLAT(a[i * rsa]);
#pragma GCC unroll 8
            for (int j = 0; j < nv; j++) sum[i][j] = FMA(x, col[j], sum[i][j]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (int j = 0; j < nv; j++) {
            T *to = c + i * rsc + j * W;
            if (part && j == nv - 1) STORE_PART(to, tail, add ? ADD(LOAD_PART(to, tail), sum[i][j]) : sum[i][j]);
            else STORE(to, add ? ADD(LOAD(to), sum[i][j]) : sum[i][j]);
        }
}

/* `rows` rows of C over all n columns, `wide` vectors at a time, then one by one. */
static inline __attribute__((always_inline)) TARGET void TILE(strip)(const int rows, const int wide, int64_t n, int64_t k, const T *a,
                                                                     int64_t rsa, int64_t csa, const T *b, int64_t rsb, T *c, int64_t rsc,
                                                                     bool add)
{
    int64_t j = 0;
    for (; j + wide * W <= n; j += wide * W) TILE(block)(rows, wide, false, W, k, a, rsa, csa, b + j, rsb, c + j, rsc, add);
    for (; j + W <= n; j += W) TILE(block)(rows, 1, false, W, k, a, rsa, csa, b + j, rsb, c + j, rsc, add);
    if (j < n) TILE(block)(rows, 1, true, (int)(n - j), k, a, rsa, csa, b + j, rsb, c + j, rsc, add);
}

/* One column panel: c: [m, n], a: [m, k], b: [k, n]; b and c with unit column stride. */
static TARGET void TILE(panel)(int64_t m, int64_t n, int64_t k, const T *a, int64_t rsa, int64_t csa, const T *b, int64_t rsb, T *c,
                               int64_t rsc, bool add)
{
    int64_t i = 0;
    for (; i + ROWS <= m; i += ROWS) TILE(strip)(ROWS, 2, n, k, a + i * rsa, rsa, csa, b, rsb, c + i * rsc, rsc, add);
    if (ROWS > 4 && i + 4 <= m) {
        TILE(strip)(4, 4, n, k, a + i * rsa, rsa, csa, b, rsb, c + i * rsc, rsc, add);
        i += 4;
    }
    if (i + 2 <= m) {
        TILE(strip)(2, 4, n, k, a + i * rsa, rsa, csa, b, rsb, c + i * rsc, rsc, add);
        i += 2;
    }
    if (i < m) TILE(strip)(1, 8, n, k, a + i * rsa, rsa, csa, b, rsb, c + i * rsc, rsc, add);
}

/* to[p * width + j] = b[p * rsb + j * csb] for j < n, p < k. */
static TARGET void TILE(pack)(int64_t n, int64_t k, const T *b, int64_t rsb, int64_t csb, T *to, int64_t width)
{
    int64_t j = 0;
    if (rsb == 1) {
        /* b is stored by columns: walk down TURN columns together, turning squares in registers. */
        for (; j + TURN <= n; j += TURN) {
            int64_t p = 0;
            for (; p + TURN <= k; p += TURN) TURN_SQUARE(b + p + j * csb, csb, to + p * width + j, width);
            for (; p < k; p++)
                for (int64_t q = j; q < j + TURN; q++) to[p * width + q] = b[p + q * csb];
        }
    }
    for (int64_t p = 0; p < k; p++)
        for (int64_t q = j; q < n; q++) to[p * width + q] = b[p * rsb + q * csb];
}

/* One block of k of C = A B (or C += A B): any strides; vectors run over columns. */
static TARGET void TILE(small)(int64_t m, int64_t n, int64_t k, const void *av, int64_t rsa, int64_t csa, const void *bv, int64_t rsb,
                               int64_t csb, void *cv, int64_t rsc, int64_t csc, bool add)
{
    const T *a = av, *b = bv;
    T *c = cv;
    bool pack = csb != 1 && n > 1, turn = csc != 1 && n > 1;
    enum { PACKED = 4 * W, PANEL = 16 * W, TURNED = 32 };
    if (!pack && !turn) {
        for (int64_t j = 0; j < n; j += PANEL) TILE(panel)(m, n - j < PANEL ? n - j : PANEL, k, a, rsa, csa, b + j, rsb, c + j, rsc, add);
        return;
    }
    T panel[GEMM_BLOCK * PACKED] __attribute__((aligned(64)));
    for (int64_t j = 0; j < n; j += PACKED) {
        int64_t w = n - j < PACKED ? n - j : PACKED;
        const T *from = b + j * csb;
        int64_t step = rsb;
        if (pack) {
            TILE(pack)(w, k, from, rsb, csb, panel, PACKED);
            from = panel;
            step = PACKED;
        }
        if (!turn) {
            TILE(panel)(m, w, k, a, rsa, csa, from, step, c + j, rsc, add);
            continue;
        }
        for (int64_t i = 0; i < m; i += TURNED) {
            T out[TURNED * PACKED] __attribute__((aligned(64)));
            int64_t h = m - i < TURNED ? m - i : TURNED;
            TILE(panel)(h, w, k, a + i * rsa, rsa, csa, from, step, out, PACKED, false);
            for (int64_t q = 0; q < w; q++)
                for (int64_t r = 0; r < h; r++) {
                    T *to = c + (i + r) * rsc + (j + q) * csc;
                    *to = add ? *to + out[r * PACKED + q] : out[r * PACKED + q];
                }
        }
    }
}

#undef TILE
#undef T
#undef V
#undef W
#undef TARGET
#undef ZERO
#undef SPLAT
#undef LOAD
#undef STORE
#undef LOAD_PART
#undef STORE_PART
#undef FMA
#undef ADD
#undef ROWS
#undef TURN
#undef TURN_SQUARE
