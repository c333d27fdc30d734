/* io_npz.c: NumPy's .npz: a zip archive of .npy files, stored or deflated.
 *
 * The archive's directory, at the file's end, says where each member is; nothing in it is believed before
 * it is compared with the file. A member is unpacked into memory that is asked for first, so that an archive
 * that unpacks to more than --limit is refused, and its checksum is compared. We write members stored. */
#include "io.h"
#include "kern_util.h"
#include <stdio.h>
#include <zlib.h>

static uint64_t le(const uint8_t *s, int n)
{
    uint64_t x = 0;
    for (int i = n; i-- > 0;) x = x << 8 | s[i];
    return x;
}

typedef struct archive {
    io_in *in;
    const uint8_t *s;
    size_t n;
} archive;
typedef struct member {
    size_t packed, size, at;
    int method;
    uint32_t crc;
    const char *name;
    size_t name_length;
} member;

static bool take_directory(archive *z, size_t *at, uint64_t *count)
{
    if (z->n < 22) return io_fail(z->in, "it is too short for a zip archive (%zu bytes)", z->n);
    size_t e = z->n - 22, least = z->n > 22 + 65535 ? z->n - 22 - 65535 : 0;
    while (e > least && le(z->s + e, 4) != 0x06054b50) e--;
    if (le(z->s + e, 4) != 0x06054b50) return io_fail(z->in, "it is no zip archive, or cut off: the directory at its end is missing");
    *count = le(z->s + e + 10, 2);
    uint64_t from = le(z->s + e + 16, 4);
    if ((*count == 0xffff || from == 0xffffffff) && e >= 20 && le(z->s + e - 20, 4) == 0x07064b50) { /* zip64 */
        uint64_t f = le(z->s + e - 12, 8);
        if (f > z->n || z->n - f < 56 || le(z->s + f, 4) != 0x06064b50)
            return io_fail(z->in, "byte %zu: the zip64 directory is not where it should be", e - 12);
        *count = le(z->s + f + 32, 8), from = le(z->s + f + 48, 8);
    }
    if (from > z->n)
        return io_fail(z->in, "byte %zu: the directory begins at byte %llu, outside the file", e + 16, (unsigned long long)from);
    *at = (size_t)from;
    return true;
}

static bool take_member(archive *z, size_t *at, member *e)
{
    size_t p = *at;
    if (z->n - p < 46 || le(z->s + p, 4) != 0x02014b50) return io_fail(z->in, "byte %zu: an entry of the directory was expected", p);
    const uint8_t *s = z->s + p;
    size_t name = le(s + 28, 2), extra = le(s + 30, 2), note = le(s + 32, 2);
    if (z->n - p - 46 < name + extra + note) return io_fail(z->in, "byte %zu: an entry of the directory ends outside the file", p);
    uint64_t packed = le(s + 20, 4), size = le(s + 24, 4), local = le(s + 42, 4);
    for (size_t x = 0; x + 4 <= extra;) { /* zip64 sizes, in the order of those that are full */
        const uint8_t *f = s + 46 + name + x;
        size_t length = le(f + 2, 2), used = 4;
        if (x + 4 + length > extra) break;
        if (le(f, 2) == 1) {
            uint64_t *of[3] = {&size, &packed, &local};
            for (int i = 0; i < 3; i++)
                if (*of[i] == 0xffffffff && used + 8 <= 4 + length) *of[i] = le(f + used, 8), used += 8;
        }
        x += 4 + length;
    }
    *e = (member){.method = (int)le(s + 10, 2), .crc = (uint32_t)le(s + 16, 4), .name = (const char *)s + 46, .name_length = name};
    if (le(s + 8, 2) & 1) return io_fail(z->in, "the member %.*s is encrypted", (int)(name < 100 ? name : 100), e->name);
    if (local > z->n || z->n - local < 30 || le(z->s + local, 4) != 0x04034b50)
        return io_fail(z->in, "byte %zu: the member %.*s is said to begin at byte %llu, and does not", p + 42,
                       (int)(name < 100 ? name : 100), e->name, (unsigned long long)local);
    uint64_t data = local + 30 + le(z->s + local + 26, 2) + le(z->s + local + 28, 2);
    if (data > z->n || packed > z->n - data)
        return io_fail(z->in, "the member %.*s has %llu bytes from byte %llu on, more than the file", (int)(name < 100 ? name : 100),
                       e->name, (unsigned long long)packed, (unsigned long long)data);
    if (e->method == 0 && size != packed)
        return io_fail(z->in, "the member %.*s is stored in %llu bytes and said to have %llu", (int)(name < 100 ? name : 100), e->name,
                       (unsigned long long)packed, (unsigned long long)size);
    if (e->method == 8 && size / 1100 > packed + 1)
        return io_fail(z->in, "the member %.*s cannot unpack from %llu bytes to %llu", (int)(name < 100 ? name : 100), e->name,
                       (unsigned long long)packed, (unsigned long long)size);
    e->packed = (size_t)packed, e->size = (size_t)size, e->at = (size_t)data;
    *at = p + 46 + name + extra + note;
    return true;
}

/* Unpacks into `to`, of e->size bytes. */
static bool unpack(archive *z, const member *e, char *to)
{
    if (e->method == 0) {
        memcpy(to, z->s + e->at, e->size);
        return true;
    }
    z_stream s = {.next_in = (Bytef *)(z->s + e->at), .next_out = (Bytef *)to};
    if (!io_inflate(&s, &z->in->c->vm->mem, -MAX_WBITS)) return vm_out_of_memory(z->in->c->vm);
    size_t in = e->packed, left = e->size;
    int status = Z_OK;
    while (status == Z_OK) {
        uInt give = in < 1 << 30 ? (uInt)in : 1 << 30, room = left < 1 << 30 ? (uInt)left : 1 << 30;
        s.avail_in = give, s.avail_out = room;
        status = inflate(&s, Z_NO_FLUSH);
        in -= give - s.avail_in, left -= room - s.avail_out;
        if (status == Z_OK && give == s.avail_in && room == s.avail_out) break;
    }
    inflateEnd(&s);
    if (status == Z_MEM_ERROR) return vm_out_of_memory(z->in->c->vm);
    return status == Z_STREAM_END && left == 0;
}

static bool member_array(archive *z, const member *e, io_leaves *l)
{
    vm *m = z->in->c->vm;
    if (e->method != 0 && e->method != 8)
        return io_fail(z->in, "the member %.*s is packed by method %d; stored and deflated ones can be read",
                       (int)(e->name_length < 100 ? e->name_length : 100), e->name, e->method);
    char *bytes = memory_alloc(&m->mem, MEM_OTHER, e->size + 1), name[600];
    if (!bytes) return vm_out_of_memory(m);
    snprintf(name, sizeof name, "%s: %.*s", z->in->path, (int)(e->name_length < 200 ? e->name_length : 200), e->name);
    io_in part = {.c = z->in->c, .path = name, .fd = -1, .bytes = bytes, .size = e->size};
    value v;
    bool ok = unpack(z, e, bytes) || m->error || io_fail(&part, "it does not unpack");
    ok = ok && !m->error && (crc32_z(0, (Bytef *)bytes, e->size) == e->crc || io_fail(&part, "its checksum is not what the archive says"));
    if (ok) ok = io_npy_read(&part, &v);
    if (ok) {
        size_t n = e->name_length;
        if (n > 4 && memcmp(e->name + n - 4, ".npy", 4) == 0) n -= 4;
        if (memchr(e->name, 0, n) || !utf8_valid(e->name, n)) ok = io_fail(&part, "its name is not UTF-8 text");
        ok = ok && leaves_add(m, l, e->name, n, v);
        if (!ok) value_release(m, v);
    }
    memory_free(&m->mem, MEM_OTHER, bytes, e->size + 1);
    return ok;
}

bool io_npz_read(io_in *in, value *out)
{
    size_t n, at = 0;
    uint64_t count = 0;
    char *s = io_rest(in, &n);
    if (!s) return false;
    archive z = {in, (const uint8_t *)s, n};
    io_leaves l = {0};
    bool ok = take_directory(&z, &at, &count);
    for (uint64_t i = 0; ok && i < count; i++) {
        member e = {0};
        ok = take_member(&z, &at, &e) && member_array(&z, &e, &l);
    }
    ok = ok && leaves_value(in, &l, out);
    leaves_close(in->c->vm, &l, true);
    memory_free(&in->c->vm->mem, MEM_OTHER, s, n + 1);
    return ok;
}

static void put_le(text *t, uint64_t x, int n)
{
    for (int i = 0; i < n; i++) text_putc(t, (char)(x >> 8 * i & 255));
}

bool io_npz_write(io_out *out, value v)
{
    vm *m = out->c->vm;
    io_leaves l = {0};
    text directory, body;
    text_open(&directory, &m->mem);
    text_open(&body, &m->mem);
    uint64_t at = 0;
    bool ok = leaves_of(out, v, &l);
    for (size_t i = 0; ok && i < l.n; i++) {
        text_close(&body);
        text_open(&body, &m->mem);
        out->to = &body;
        ok = io_npy_write(out, l.at[i].v);
        out->to = NULL;
        if (body.failed) ok = vm_out_of_memory(m);
        if (ok && (body.n >= UINT32_MAX || at >= UINT32_MAX))
            ok = io_refuse(out, "%s: archives of more than 4 GiB are not written; use .safetensors", l.at[i].path);
        if (!ok) break;
        size_t n = strlen(l.at[i].path) + 4;
        uint32_t crc = (uint32_t)crc32_z(0, (const Bytef *)text_str(&body), body.n);
        text head;
        text_open(&head, &m->mem);
        put_le(&head, 20, 2), put_le(&head, 1 << 11, 2), put_le(&head, 0, 2), put_le(&head, 0, 2), put_le(&head, 33, 2); /* 1980-01-01 */
        put_le(&head, crc, 4), put_le(&head, body.n, 4), put_le(&head, body.n, 4), put_le(&head, n, 2), put_le(&head, 0, 2);
        put_le(&directory, 0x02014b50, 4), put_le(&directory, 20, 2);
        text_add(&directory, text_str(&head), head.n);
        put_le(&directory, 0, 2), put_le(&directory, 0, 2), put_le(&directory, 0, 2), put_le(&directory, 0, 4), put_le(&directory, at, 4);
        text_printf(&directory, "%s.npy", l.at[i].path);
        if (head.failed || directory.failed) ok = vm_out_of_memory(m);
        io_put(out, "PK\3\4", 4);
        io_put(out, text_str(&head), head.n);
        io_put(out, l.at[i].path, n - 4);
        io_put(out, ".npy", 4);
        io_put(out, text_str(&body), body.n);
        at += 4 + head.n + n + body.n;
        text_close(&head);
    }
    if (ok && l.n > 65534) ok = io_refuse(out, "an archive of more than 65,534 arrays is not written");
    if (ok) {
        size_t n = directory.n;
        put_le(&directory, 0x06054b50, 4), put_le(&directory, 0, 4), put_le(&directory, l.n, 2), put_le(&directory, l.n, 2);
        put_le(&directory, n, 4), put_le(&directory, at, 4), put_le(&directory, 0, 2);
        if (directory.failed) ok = vm_out_of_memory(m);
        io_put(out, text_str(&directory), directory.n);
    }
    text_close(&body);
    text_close(&directory);
    leaves_close(m, &l, false);
    return ok && !out->failed;
}
