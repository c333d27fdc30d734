/* io_safetensors.c: safetensors: the header's length in eight bytes, a JSON header that gives each array's dtype,
 * shape and bytes, and the numbers, all little-endian. Offsets are compared with the file before anything is
 * read. F16 and BF16 come as f32. */
#include "io.h"
#include "kern_util.h"
#include <stdio.h>

typedef struct kind {
    const char *name;
    io_number number;
} kind;
static const kind kinds[] = {
    {"F64", {IO_FLOAT, 8, false}},    {"F32", {IO_FLOAT, 4, false}},    {"F16", {IO_FLOAT, 2, false}},    {"BF16", {IO_BRAIN, 2, false}},
    {"I64", {IO_SIGNED, 8, false}},   {"I32", {IO_SIGNED, 4, false}},   {"I16", {IO_SIGNED, 2, false}},   {"I8", {IO_SIGNED, 1, false}},
    {"U64", {IO_UNSIGNED, 8, false}}, {"U32", {IO_UNSIGNED, 4, false}}, {"U16", {IO_UNSIGNED, 2, false}}, {"U8", {IO_UNSIGNED, 1, false}},
    {"BOOL", {IO_BOOL, 1, false}},
};

static const value *field(vm *m, value r, const char *name)
{
    symbol y = symbol_of(m->symbols, name, strlen(name));
    int64_t i = y ? record_find(as_record(r), y) : -1;
    return i < 0 ? NULL : &as_record(r)->v[i];
}

/* Whole numbers of a JSON list; false when it is something else. */
static bool wholes(const value *v, int cap, int *n, int64_t *out)
{
    shaped s;
    if (!v || !shaped_of(v, &s) || s.rank != 1 || s.size > cap || (s.size && s.dtype != DTYPE_I64)) return false;
    *n = (int)s.size;
    for (int i = 0; i < *n; i++)
        if ((out[i] = ((int64_t *)s.data)[i * s.stride[0]]) < 0) return false;
    return true;
}

static bool entry_array(io_in *in, const char *name, value e, const char *data, size_t size, value *out)
{
    vm *m = in->c->vm;
    int rank, two;
    int64_t shape[RANK_MAX], bytes_at[2];
    const value *dt = e.tag == V_RECORD ? field(m, e, "dtype") : NULL;
    if (!dt || dt->tag != V_STRING || !wholes(field(m, e, "shape"), RANK_MAX, &rank, shape) ||
        !wholes(field(m, e, "data_offsets"), 2, &two, bytes_at) || two != 2)
        return io_fail(in, "the header's entry %s must have a dtype, a shape of at most %d axes and two data_offsets", name, RANK_MAX);
    const kind *k = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, as_string(*dt)->s) == 0) k = &kinds[i];
    if (!k) return io_fail(in, "%s: numbers of dtype %.20s have no counterpart here", name, as_string(*dt)->s);
    uint64_t n = 1;
    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(n, (uint64_t)shape[i], &n)) return io_fail(in, "%s: its shape is larger than 64 bits can count", name);
    if (bytes_at[0] > bytes_at[1] || (uint64_t)bytes_at[1] > size)
        return io_fail(in, "%s: data_offsets %lld and %lld lie outside the %zu bytes of numbers", name, (long long)bytes_at[0],
                       (long long)bytes_at[1], size);
    uint64_t bytes;
    if (__builtin_mul_overflow(n, (uint64_t)k->number.width, &bytes) || bytes != (uint64_t)(bytes_at[1] - bytes_at[0]))
        return io_fail(in, "%s: its shape and dtype do not fill the %lld bytes that data_offsets give it", name,
                       (long long)(bytes_at[1] - bytes_at[0]));
    dtype d;
    io_dtype(k->number, &d);
    io_in part = {.c = in->c, .path = in->path, .fd = -1, .bytes = data + bytes_at[0], .size = (size_t)bytes};
    double one = 0;
    array *a = rank ? array_new(m, d, rank, shape) : NULL;
    if (rank && !a) return false;
    if (!io_numbers(&part, k->number, (int64_t)n, a ? a->data : (void *)&one)) {
        release_array(m, a);
        return false;
    }
    *out = a ? value_object(&a->h) : scalar_of(d, read_f64(d, &one, 0));
    if (!a && d == DTYPE_I64) memcpy(&n, &one, sizeof n), *out = value_i64((int64_t)n);
    return true;
}

bool io_safetensors_read(io_in *in, value *out)
{
    vm *m = in->c->vm;
    size_t n;
    char *s = io_rest(in, &n);
    if (!s) return false;
    io_leaves l = {0};
    value header = value_undef();
    uint64_t length = 0;
    bool ok = n >= 8 || io_fail(in, "the file ends at byte %zu, within the header's length", n);
    for (int i = 7; ok && i >= 0; i--) length = length << 8 | (uint8_t)s[i];
    if (ok && length > n - 8) ok = io_fail(in, "byte 0: a header of %llu bytes, and %zu follow", (unsigned long long)length, n - 8);
    ok = ok && json_parse(in, s + 8, (size_t)length, &header);
    if (ok && header.tag != V_RECORD) ok = io_fail(in, "byte 8: the header must be a JSON object");
    for (uint32_t i = 0; ok && i < as_record(header)->n; i++) {
        const char *name = symbol_name(m->symbols, as_record(header)->names[i]);
        value v;
        if (strcmp(name, "__metadata__") == 0) continue;
        ok = entry_array(in, name, as_record(header)->v[i], s + 8 + length, n - 8 - (size_t)length, &v);
        if (ok && !leaves_add(m, &l, name, strlen(name), v)) value_release(m, v), ok = false;
    }
    ok = ok && leaves_value(in, &l, out);
    leaves_close(m, &l, true);
    value_release(m, header);
    memory_free(&m->mem, MEM_OTHER, s, n + 1);
    return ok;
}

static void put_name(text *t, const char *s)
{
    text_putc(t, '"');
    for (; *s; s++)
        if ((unsigned char)*s < 0x20) text_printf(t, "\\u%04x", *s);
        else {
            if (*s == '"' || *s == '\\') text_putc(t, '\\');
            text_putc(t, *s);
        }
    text_putc(t, '"');
}

bool io_safetensors_write(io_out *out, value v)
{
    vm *m = out->c->vm;
    io_leaves l = {0};
    text head;
    text_open(&head, &m->mem);
    bool ok = leaves_of(out, v, &l);
    static const char *const names[] = {"BOOL", "I64", "F32", "F64"};
    uint64_t at = 0;
    text_putc(&head, '{');
    for (size_t i = 0; ok && i < l.n; i++) {
        shaped s;
        shaped_of(&l.at[i].v, &s);
        dtype d = s.weak ? m->config.float_dtype : s.dtype;
        uint64_t bytes = (uint64_t)s.size * dtype_size[d];
        if (i) text_putc(&head, ',');
        put_name(&head, l.at[i].path);
        text_printf(&head, ":{\"dtype\":\"%s\",\"shape\":[", names[d]);
        for (int k = 0; k < s.rank; k++) text_printf(&head, "%s%lld", k ? "," : "", (long long)s.shape[k]);
        text_printf(&head, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at, (unsigned long long)(at + bytes));
        at += bytes;
    }
    text_putc(&head, '}');
    while (head.n % 8) text_putc(&head, ' ');
    if (ok && head.failed) ok = vm_out_of_memory(m);
    if (ok) {
        uint64_t n = head.n;
        io_put(out, &n, 8); /* a little-endian machine, as in io_npy.c */
        io_put(out, text_str(&head), head.n);
    }
    double piece[2048];
    for (size_t i = 0; ok && i < l.n; i++) {
        shaped s;
        shaped_of(&l.at[i].v, &s);
        dtype d = s.weak ? m->config.float_dtype : s.dtype;
        for (int64_t k = 0; k < s.size && !out->failed; k += 2048) {
            int64_t count = s.size - k < 2048 ? s.size - k : 2048;
            shape_gather(&s, d, piece, k, count);
            io_put(out, piece, (size_t)count * dtype_size[d]);
        }
    }
    text_close(&head);
    leaves_close(m, &l, false);
    return ok && !out->failed;
}
