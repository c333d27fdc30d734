/* io_safetensors.c: safetensors: the header's length in eight bytes, a JSON header that gives each array's dtype,
 * shape and bytes, and the numbers, all little-endian. Offsets are compared with the file before anything is
 * read. F16 and BF16 come as f32. */
#include "io.h"
#include "kern_util.h"
#include <stdio.h>

typedef struct kind { const char *name; io_number number; int half; } kind; /* half: 1 F16, 2 BF16 */
static const kind kinds[] = {
    {"F64", {IO_FLOAT, 8, false}, 0},   {"F32", {IO_FLOAT, 4, false}, 0},   {"F16", {IO_UNSIGNED, 2, false}, 1}, {"BF16", {IO_UNSIGNED, 2, false}, 2},
    {"I64", {IO_SIGNED, 8, false}, 0},  {"I32", {IO_SIGNED, 4, false}, 0},  {"I16", {IO_SIGNED, 2, false}, 0},   {"I8", {IO_SIGNED, 1, false}, 0},
    {"U32", {IO_UNSIGNED, 4, false}, 0}, {"U16", {IO_UNSIGNED, 2, false}, 0}, {"U8", {IO_UNSIGNED, 1, false}, 0}, {"BOOL", {IO_BOOL, 1, false}, 0},
};

static float half_float(uint32_t h, int which) {
    uint32_t x;
    float f;
    if (which == 2) x = h << 16;
    else {
        int e = (int)(h >> 10 & 31);
        uint32_t m = h & 1023;
        if (e == 0) return (h & 0x8000 ? -1.0f : 1.0f) * (float)m / 16777216.0f;
        x = (h & 0x8000) << 16 | (e == 31 ? 255u : (uint32_t)(e + 112)) << 23 | m << 13;
    }
    memcpy(&f, &x, 4);
    return f;
}

static const value *field(vm *m, value r, const char *name) {
    symbol y = symbol_of(m->symbols, name, strlen(name));
    int64_t i = y ? record_find(as_record(r), y) : -1;
    return i < 0 ? NULL : &as_record(r)->v[i];
}

/* Whole numbers of a JSON list; false when it is something else. */
static bool wholes(const value *v, int cap, int *n, int64_t *out) {
    shaped s;
    if (!v || !shaped_of(v, &s) || s.rank != 1 || s.size > cap || (s.size && s.dtype != DTYPE_I64)) return false;
    *n = (int)s.size;
    for (int i = 0; i < *n; i++)
        if ((out[i] = ((int64_t *)s.data)[i * s.stride[0]]) < 0) return false;
    return true;
}

static bool entry_array(io_in *in, const char *name, value e, const char *data, size_t size, value *out) {
    vm *m = in->c->vm;
    int rank, two;
    int64_t shape[RANK_MAX], bytes_at[2];
    const value *dt = e.tag == V_RECORD ? field(m, e, "dtype") : NULL;
    if (!dt || dt->tag != V_STRING || !wholes(field(m, e, "shape"), RANK_MAX, &rank, shape) || !wholes(field(m, e, "data_offsets"), 2, &two, bytes_at) || two != 2)
        return io_fail(in, "the header's entry %s must have a dtype, a shape of at most %d axes and two data_offsets", name, RANK_MAX);
    const kind *k = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, as_string(*dt)->s) == 0) k = &kinds[i];
    if (!k) return io_fail(in, "%s: numbers of dtype %.20s have no counterpart here", name, as_string(*dt)->s);
    uint64_t n = 1;
    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(n, (uint64_t)shape[i], &n)) return io_fail(in, "%s: its shape is larger than 64 bits can count", name);
    if (bytes_at[0] > bytes_at[1] || (uint64_t)bytes_at[1] > size)
        return io_fail(in, "%s: data_offsets %lld and %lld lie outside the %zu bytes of numbers", name, (long long)bytes_at[0], (long long)bytes_at[1], size);
    uint64_t bytes;
    if (__builtin_mul_overflow(n, (uint64_t)k->number.width, &bytes) || bytes != (uint64_t)(bytes_at[1] - bytes_at[0]))
        return io_fail(in, "%s: its shape and dtype do not fill the %lld bytes that data_offsets give it", name, (long long)(bytes_at[1] - bytes_at[0]));
    dtype d;
    io_dtype(k->number, &d);
    io_in part = {.c = in->c, .path = in->path, .fd = -1, .bytes = data + bytes_at[0], .size = (size_t)bytes};
    array *a = NULL;
    double one[2];
    int64_t single = 1;
    void *to = one;
    array *raw = rank || k->half ? array_new(m, d, rank ? rank : 1, rank ? shape : &single) : NULL;
    if (rank || k->half) {
        if (!raw) return false;
        to = raw->data;
    }
    bool ok = io_numbers(&part, k->number, (int64_t)n, to);
    if (ok && k->half) {
        a = array_new(m, DTYPE_F32, raw->rank, array_shape(raw));
        ok = a != NULL;
        for (int64_t i = 0; ok && i < a->size; i++) ((float *)a->data)[i] = half_float((uint32_t)((int64_t *)raw->data)[i], k->half);
        release_array(m, raw);
        raw = NULL;
    } else a = raw;
    if (!ok) return release_array(m, raw), false;
    if (rank) *out = value_object(&a->h);
    else if (a) {
        *out = array_at(a, 0);
        release_array(m, a);
    } else
        *out = d == DTYPE_BOOL ? value_bool(*(uint8_t *)to != 0) : d == DTYPE_I64 ? value_i64(*(int64_t *)to) : d == DTYPE_F32 ? value_f32(*(float *)to) : value_f64(*(double *)to);
    return true;
}

bool io_safetensors_read(io_in *in, value *out) {
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

static void put_name(text *t, const char *s) {
    text_putc(t, '"');
    for (; *s; s++)
        if ((unsigned char)*s < 0x20) text_printf(t, "\\u%04x", *s);
        else {
            if (*s == '"' || *s == '\\') text_putc(t, '\\');
            text_putc(t, *s);
        }
    text_putc(t, '"');
}

bool io_safetensors_write(io_out *out, value v) {
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
        for (int64_t k = 0; k < s.size; k += 2048) {
            int64_t count = s.size - k < 2048 ? s.size - k : 2048;
            shape_gather(&s, d, piece, k, count);
            io_put(out, piece, (size_t)count * dtype_size[d]);
        }
    }
    text_close(&head);
    leaves_close(m, &l, false);
    return ok && !out->failed;
}
