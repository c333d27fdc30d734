/* io_npy.c: NumPy's .npy, versions 1 to 3.
 *
 * The file is "\x93NUMPY", two version bytes, the header's length (2 bytes, or 4 from version 2 on), the
 * header (a Python dictionary with descr, fortran_order and shape), and the numbers. */
#include "io.h"
#include "kern_util.h"
#include <ctype.h>
#include <stdio.h>

typedef struct header {
    io_number number;
    bool fortran;
    int rank;
    int64_t shape[RANK_MAX];
    unsigned seen;
} header;
enum { SEEN_DESCR = 1, SEEN_ORDER = 2, SEEN_SHAPE = 4 };

/* A place in the header's text; `base` is its byte in the file. */
typedef struct scan {
    io_in *in;
    const char *s, *start, *end;
    size_t base;
} scan;

static void blanks(scan *p)
{
    while (p->s < p->end && isspace((unsigned char)*p->s)) p->s++;
}
static bool next_is(scan *p, char c)
{
    blanks(p);
    if (p->s >= p->end || *p->s != c) return false;
    p->s++;
    return true;
}
static bool malformed(scan *p, const char *expected)
{
    return io_fail(p->in, "byte %zu, in the header: expected %s", p->base + (size_t)(p->s - p->start), expected);
}

/* 'text' or "text" */
static bool quoted(scan *p, char *out, size_t cap)
{
    blanks(p);
    char q = p->s < p->end ? *p->s : 0;
    if (q != '\'' && q != '"') return malformed(p, "a quoted name");
    const char *close = memchr(p->s + 1, q, (size_t)(p->end - p->s - 1));
    if (!close || (size_t)(close - p->s) > cap) return malformed(p, "a short quoted name");
    size_t n = (size_t)(close - p->s - 1);
    memcpy(out, p->s + 1, n);
    out[n] = 0;
    p->s = close + 1;
    return true;
}

static bool read_descr(scan *p, header *h)
{
    char d[32];
    blanks(p);
    if (p->s < p->end && *p->s == '[')
        return io_fail(p->in, "its numbers are records of fields (a structured dtype), which has no counterpart here");
    if (!quoted(p, d, sizeof d)) return false;
    const char *s = d;
    h->number.big = *s == '>';
    if (*s && strchr("<>=|", *s)) s++;
    char kind = *s ? *s++ : 0;
    int width = 0;
    while (isdigit((unsigned char)*s) && width < 1000) width = width * 10 + (*s++ - '0');
    if (kind == '?') kind = 'b', width = 1;
    h->number.width = width;
    h->number.kind = kind == 'b' ? IO_BOOL : kind == 'i' ? IO_SIGNED : kind == 'u' ? IO_UNSIGNED : IO_FLOAT;
    dtype dt;
    if (*s || !kind || !strchr("biuf", kind) || !io_dtype(h->number, &dt))
        return io_fail(p->in, "its dtype is '%s'; those that can be read are f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 and bool", d);
    return true;
}

static bool read_shape(scan *p, header *h)
{
    if (!next_is(p, '(')) return malformed(p, "a shape in parentheses");
    while (!next_is(p, ')')) {
        blanks(p);
        int64_t x = 0;
        const char *from = p->s;
        for (; p->s < p->end && isdigit((unsigned char)*p->s); p->s++)
            if (__builtin_mul_overflow(x, 10, &x) || __builtin_add_overflow(x, *p->s - '0', &x)) return malformed(p, "a size below 2^63");
        if (p->s == from) return malformed(p, "a size");
        if (p->s < p->end && *p->s == 'L') p->s++; /* Python 2 */
        if (h->rank == RANK_MAX) return io_fail(p->in, "its array has more than %d axes", RANK_MAX);
        h->shape[h->rank++] = x;
        if (!next_is(p, ',')) {
            if (!next_is(p, ')')) return malformed(p, "a comma or a closing parenthesis");
            break;
        }
    }
    return true;
}

static bool read_order(scan *p, header *h)
{
    blanks(p);
    size_t left = (size_t)(p->end - p->s);
    if (left >= 4 && memcmp(p->s, "True", 4) == 0) h->fortran = true, p->s += 4;
    else if (left >= 5 && memcmp(p->s, "False", 5) == 0) h->fortran = false, p->s += 5;
    else return malformed(p, "True or False");
    return true;
}

static bool read_header(scan *p, header *h)
{
    if (!next_is(p, '{')) return malformed(p, "a {");
    while (!next_is(p, '}')) {
        char key[32];
        if (!quoted(p, key, sizeof key)) return false;
        if (!next_is(p, ':')) return malformed(p, "a colon");
        unsigned which = strcmp(key, "descr") == 0           ? SEEN_DESCR
                         : strcmp(key, "fortran_order") == 0 ? SEEN_ORDER
                         : strcmp(key, "shape") == 0         ? SEEN_SHAPE
                                                             : 0;
        if (!which || h->seen & which) return io_fail(p->in, "the header's key '%s' is %s", key, which ? "there twice" : "unknown");
        h->seen |= which;
        if (!(which == SEEN_DESCR ? read_descr(p, h) : which == SEEN_ORDER ? read_order(p, h) : read_shape(p, h))) return false;
        if (!next_is(p, ',')) {
            if (!next_is(p, '}')) return malformed(p, "a comma or a closing brace");
            break;
        }
    }
    return h->seen == 7 || io_fail(p->in, "the header lacks one of descr, fortran_order and shape");
}

/* The numbers that h describes: a scalar, an array, or, in Fortran order, a view with turned strides. */
static bool read_array(io_in *in, const header *h, value *out)
{
    dtype d;
    io_dtype(h->number, &d);
    uint64_t n = 1;
    for (int i = 0; i < h->rank; i++)
        if (h->shape[i] == 0) n = 0;
    for (int i = 0; i < h->rank && n; i++)
        if (__builtin_mul_overflow(n, (uint64_t)h->shape[i], &n)) return io_fail(in, "its shape is larger than 64 bits can count");
    if (!io_promises(in, n, (size_t)h->number.width, "the header")) return false;
    if (h->rank == 0) {
        shaped s;
        if (!io_numbers(in, h->number, 1, &s.scalar)) return false;
        *out = d == DTYPE_BOOL  ? value_bool(s.scalar.b)
               : d == DTYPE_I64 ? value_i64(s.scalar.i64)
               : d == DTYPE_F32 ? value_f32(s.scalar.f32)
                                : value_f64(s.scalar.f64);
        return true;
    }
    int64_t shape[RANK_MAX], stride[RANK_MAX];
    for (int i = 0; i < h->rank; i++) shape[i] = h->shape[h->fortran ? h->rank - 1 - i : i];
    vm *m = in->c->vm;
    array *a = array_new(m, d, h->rank, shape);
    if (!a) return false;
    if (!io_numbers(in, h->number, a->size, a->data)) {
        release_array(m, a);
        return false;
    }
    if (h->fortran && h->rank > 1) {
        for (int i = 0; i < h->rank; i++) stride[i] = array_stride(a)[h->rank - 1 - i];
        array *v = array_view(m, a, h->rank, h->shape, stride, 0);
        release_array(m, a);
        if (!v) return false;
        a = v;
    }
    *out = value_object(&a->h);
    return true;
}

bool io_npy_read(io_in *in, value *out)
{
    uint8_t head[12];
    if (!io_take(in, head, 8, "the first bytes")) return false;
    if (memcmp(head, "\x93NUMPY", 6) != 0) return io_fail(in, "it does not start as a .npy file does");
    int major = head[6];
    if (major < 1 || major > 3) return io_fail(in, "it has version %d of the format, and 1 to 3 can be read", major);
    size_t width = major == 1 ? 2 : 4, length = 0;
    if (!io_take(in, head, width, "the header's length")) return false;
    for (size_t i = width; i-- > 0;) length = length << 8 | head[i];
    if (length > 1 << 20) return io_fail(in, "byte 8: a header of %zu bytes cannot be", length);
    memory *m = &in->c->vm->mem;
    char *s = memory_alloc(m, MEM_OTHER, length + 1);
    if (!s) return vm_out_of_memory(in->c->vm);
    header h = {.rank = 0};
    scan p = {in, s, s, s + length, in->at};
    bool ok = io_take(in, s, length, "the header") && read_header(&p, &h);
    memory_free(m, MEM_OTHER, s, length + 1);
    return ok && read_array(in, &h, out);
}

bool io_npy_write(io_out *out, value v)
{
    shaped s;
    if (!shaped_of(&v, &s))
        return io_refuse(out, "a .npy file holds one array, and this is %s; save its parts one by one", value_a_type(v));
    dtype d = s.weak ? out->c->vm->config.float_dtype : s.dtype;
    static const char *const descr[] = {"|b1", "<i8", "<f4", "<f8"};
    char h[512];
    int n = snprintf(h, sizeof h, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr[d]);
    for (int i = 0; i < s.rank; i++)
        n += snprintf(h + n, sizeof h - (size_t)n, "%lld%s", (long long)s.shape[i], i + 1 < s.rank ? ", " : s.rank == 1 ? "," : "");
    n += snprintf(h + n, sizeof h - (size_t)n, "), }");
    while ((10 + n + 1) % 64 != 0) h[n++] = ' '; /* the numbers start at a multiple of 64 */
    h[n++] = '\n';
    uint8_t head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)(n & 255), (uint8_t)(n >> 8)};
    io_put(out, head, sizeof head);
    io_put(out, h, (size_t)n);
    double piece[2048]; /* a little-endian machine is assumed, as in all of io_*.c that writes */
    for (int64_t i = 0; i < s.size && !out->failed; i += 2048) {
        int64_t count = s.size - i < 2048 ? s.size - i : 2048;
        shape_gather(&s, d, piece, i, count);
        io_put(out, piece, (size_t)count * dtype_size[d]);
    }
    return !out->failed;
}
