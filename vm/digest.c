/* digest.c: see digest.h. Lanes of 64 bits take a word each in turn by a step of Marsaglia's multiply-with-carry, which is
 * all but one to one and goes into vectors; an array is digested in pieces of 64 KiB, each by itself, so that threads may
 * share them, and what the pieces give is added up with their numbers mixed in. */
#include "digest.h"
#include "array.h"
#include "kern_util.h"

enum { LANES = 16, PIECE = 1 << 16 /* bytes */, SEVERAL = 1 << 19 };
typedef uint64_t lanes[LANES];

static uint64_t mixed(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u; /* odd: for one x, no two h come together */
    return h ^ h >> 32;
}

KERN_CLONES static void digest_words(uint64_t *restrict d, const char *restrict s, size_t n)
{
    lanes w;
    for (size_t i = 0; i < n; i++) {
        memcpy(w, s + i * sizeof w, sizeof w);
        for (int k = 0; k < LANES; k++) {
            uint64_t h = d[k] ^ w[k];
            d[k] = (uint32_t)h * UINT64_C(0xfffeb81b) + (h >> 32);
        }
    }
}

static uint64_t digest_bytes(const char *s, size_t n)
{
    lanes d, w = {0};
    for (int k = 0; k < LANES; k++) d[k] = mixed(0, (uint64_t)k + 1);
    size_t whole = n / sizeof w;
    digest_words(d, s, whole);
    memcpy(w, s + whole * sizeof w, n % sizeof w);
    digest_words(d, (const char *)w, 1);
    uint64_t h = n;
    for (int k = 0; k < LANES; k++) h = mixed(h, d[k]);
    return h;
}

/* Elements first … first + n of s, n * size <= PIECE. */
static uint64_t digest_piece(const shaped *s, bool dense, int64_t first, int64_t n)
{
    size_t size = dtype_size[s->dtype];
    if (dense) return digest_bytes((const char *)s->data + (size_t)first * size, (size_t)n * size);
    double piece[PIECE / sizeof(double)];
    shape_gather(s, s->dtype, piece, first, n);
    return digest_bytes((const char *)piece, (size_t)n * size);
}

static uint64_t digest_numbers(const vm *m, const value *v)
{
    shaped s;
    shaped_of(v, &s);
    int64_t head[RANK_MAX + 3] = {v->tag, v->weak, s.dtype};
    memcpy(head + 3, s.shape, (size_t)s.rank * sizeof *s.shape);
    uint64_t sum = digest_bytes((const char *)head, (size_t)(s.rank + 3) * sizeof *head);
    bool dense = v->tag == V_ARRAY && as_array(*v)->dense;
    int64_t each = PIECE / (int64_t)dtype_size[s.dtype], pieces = (s.size + each - 1) / each;
    int threads = s.size * (int64_t)dtype_size[s.dtype] < SEVERAL ? 1 : threads_for(m, s.size);
    if (threads > 1) {
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : sum)
        for (int64_t i = 0; i < pieces; i++)
            if (!INTERRUPTED(m))
                sum += mixed((uint64_t)i, digest_piece(&s, dense, i * each, s.size - i * each < each ? s.size - i * each : each));
    } else
        for (int64_t i = 0; i < pieces && !INTERRUPTED(m); i++)
            sum += mixed((uint64_t)i, digest_piece(&s, dense, i * each, s.size - i * each < each ? s.size - i * each : each));
    return sum;
}

/* Bounded by how deep a program nests records and tuples. */
static bool digest_value(const vm *m, const value *v, uint64_t *h)
{
    const value *parts = NULL;
    uint32_t n = 0;
    switch ((value_tag)v->tag) {
    case V_TUPLE: parts = as_tuple(*v)->v, n = as_tuple(*v)->n; break;
    case V_RECORD: parts = as_record(*v)->v, n = as_record(*v)->n; break;
    case V_STRING: *h = mixed(*h, digest_bytes(as_string(*v)->s, as_string(*v)->length)); return true;
    case V_BOOL:
    case V_I64:
    case V_F32:
    case V_F64:
    case V_ARRAY: *h = mixed(*h, digest_numbers(m, v)); return true;
    case V_NONE:
    case V_UNDEF:
    case V_ZERO: break;
    default: return false;
    }
    *h = mixed(mixed(*h, v->tag), n);
    if (v->tag == V_RECORD) *h = mixed(*h, digest_bytes((const char *)as_record(*v)->names, n * sizeof(symbol)));
    for (uint32_t i = 0; i < n; i++)
        if (!digest_value(m, &parts[i], h)) return false;
    return true;
}

bool digest_of(const vm *m, const value *v, uint32_t n, uint64_t *out)
{
    *out = n;
    for (uint32_t i = 0; i < n; i++)
        if (!digest_value(m, &v[i], out)) return false;
    return true;
}
