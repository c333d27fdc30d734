/* io_idx.c: the format of MNIST's files: two zero bytes, a type, the number of axes, each axis's size in
 * four bytes, and the numbers; all big-endian. */
#include "io.h"
#include "kern_util.h"

static const struct {
    uint8_t code;
    io_number number;
} types[] = {
    {0x08, {IO_UNSIGNED, 1, true}}, {0x09, {IO_SIGNED, 1, true}}, {0x0b, {IO_SIGNED, 2, true}},
    {0x0c, {IO_SIGNED, 4, true}},   {0x0d, {IO_FLOAT, 4, true}},  {0x0e, {IO_FLOAT, 8, true}},
};

bool io_idx_read(io_in *in, value *out)
{
    uint8_t head[4], size[4];
    if (!io_take(in, head, 4, "the first bytes")) return false;
    if (head[0] || head[1]) return io_fail(in, "an idx file starts with two zero bytes, and this one with %02x %02x", head[0], head[1]);
    const io_number *f = NULL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].code == head[2]) f = &types[i].number;
    if (!f) return io_fail(in, "byte 2: %02x is no type of number", head[2]);
    int rank = head[3];
    if (rank < 1 || rank > RANK_MAX) return io_fail(in, "byte 3: an array of %d axes, and there must be 1 to %d", rank, RANK_MAX);
    int64_t shape[RANK_MAX];
    uint64_t n = 1;
    for (int i = 0; i < rank; i++) {
        if (!io_take(in, size, 4, "the shape")) return false;
        shape[i] = (int64_t)size[0] << 24 | size[1] << 16 | size[2] << 8 | size[3];
        if (__builtin_mul_overflow(n, (uint64_t)shape[i], &n)) return io_fail(in, "its shape is larger than 64 bits can count");
    }
    dtype d;
    io_dtype(*f, &d);
    if (!io_promises(in, n, (size_t)f->width, "the shape")) return false;
    array *a = array_new(in->c->vm, d, rank, shape);
    if (!a) return false;
    if (!io_numbers(in, *f, a->size, a->data)) {
        release_array(in->c->vm, a);
        return false;
    }
    *out = value_object(&a->h);
    return true;
}

/* Whole numbers of 0..256 are written as bytes, others in four bytes; floats as they are. */
bool io_idx_write(io_out *out, value v)
{
    shaped s;
    if (!shaped_of(&v, &s) || s.rank == 0) return io_refuse(out, "an idx file holds one array, and this is %s", value_a_type(v));
    enum { PIECE = 1024 };
    int64_t whole[PIECE];
    bool f32 = s.dtype == DTYPE_F32, f64 = s.dtype == DTYPE_F64, small = true;
    for (int64_t i = 0; i < s.size && s.dtype == DTYPE_I64 && !vm_interrupted(out->c->vm); i += PIECE) {
        int64_t count = s.size - i < PIECE ? s.size - i : PIECE;
        shape_gather(&s, DTYPE_I64, whole, i, count);
        for (int64_t j = 0; j < count; j++) {
            int64_t x = whole[j];
            if (x != (int32_t)x) return io_refuse(out, "an idx file holds whole numbers of 32 bits, and there is %lld", (long long)x);
            small &= x >= 0 && x <= 255;
        }
    }
    if (out->c->vm->error) return false;
    uint8_t head[4] = {0, 0, f32 ? 0x0d : f64 ? 0x0e : small ? 0x08 : 0x0c, (uint8_t)s.rank};
    io_put(out, head, 4);
    for (int i = 0; i < s.rank; i++) {
        if (s.shape[i] > UINT32_MAX) return io_refuse(out, "axis %d is too long for an idx file", i);
        uint32_t n = __builtin_bswap32((uint32_t)s.shape[i]);
        io_put(out, &n, 4);
    }
    for (int64_t i = 0; i < s.size && !out->failed; i += PIECE) {
        int64_t count = s.size - i < PIECE ? s.size - i : PIECE;
        union {
            double d[PIECE];
            uint64_t l[PIECE];
            float f[PIECE];
            uint32_t w[PIECE];
            uint8_t b[PIECE];
        } u;
        if (f64) {
            shape_gather(&s, DTYPE_F64, u.d, i, count);
            for (int64_t j = 0; j < count; j++) u.l[j] = __builtin_bswap64(u.l[j]);
            io_put(out, u.l, (size_t)count * 8);
        } else if (f32) {
            shape_gather(&s, DTYPE_F32, u.f, i, count);
            for (int64_t j = 0; j < count; j++) u.w[j] = __builtin_bswap32(u.w[j]);
            io_put(out, u.w, (size_t)count * 4);
        } else {
            shape_gather(&s, DTYPE_I64, whole, i, count);
            for (int64_t j = 0; j < count; j++)
                if (small) u.b[j] = (uint8_t)whole[j];
                else u.w[j] = __builtin_bswap32((uint32_t)whole[j]);
            io_put(out, &u, (size_t)count * (small ? 1 : 4));
        }
    }
    return !out->failed;
}
