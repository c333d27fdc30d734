/* io.c: opening, reading and replacing files, and the table of formats.
 *
 * Reading goes through io_take alone, which knows how far it is, so every reader's errors can say
 * where. Nothing is mapped: a file that shrinks meanwhile is a short read, not a signal. */
#include "io.h"
#include "kern_util.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const io_format formats[] = {
    {"npy", "one array", io_npy_read, io_npy_write},
    {"npz", "a record of arrays, nested or not", io_npz_read, io_npz_write},
    {"safetensors", "a record of arrays, nested or not", io_safetensors_read, io_safetensors_write},
    {"json", "any value but a function", io_json_read, io_json_write},
    {"png", "an image", io_png_read, io_png_write},
    {"pgm", "an image", io_pnm_read, io_pnm_write},
    {"ppm", "an image", io_pnm_read, io_pnm_write},
    {"csv", "a vector, a matrix or a record of columns", io_csv_read, io_csv_write},
    {"tsv", "a vector, a matrix or a record of columns", io_tsv_read, io_tsv_write},
    {"state", "any value but a function, and the random state", io_state_read, io_state_write},
    {"idx", "one array", io_idx_read, io_idx_write},
};

/* "…idx3-ubyte", as MNIST's files are called. */
static bool idx_name(const char *s, size_t n)
{
    for (size_t i = 0; i + 5 < n; i++)
        if (memcmp(s + i, "idx", 3) == 0 && s[i + 3] >= '1' && s[i + 3] <= '8' && s[i + 4] == '-') return true;
    return false;
}

const io_format *io_format_of(prim_call *c, const char *path, bool *packed)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    size_t n = strlen(base);
    *packed = n > 3 && memcmp(base + n - 3, ".gz", 3) == 0;
    if (*packed) n -= 3;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t k = strlen(formats[i].suffix);
        if (n > k && base[n - k - 1] == '.' && strncasecmp(base + n - k, formats[i].suffix, k) == 0) return &formats[i];
    }
    if (idx_name(base, n)) return &formats[sizeof formats / sizeof *formats - 1];
    text t;
    text_open(&t, &c->vm->mem);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) text_printf(&t, "%s.%s", i ? ", " : "", formats[i].suffix);
    prim_fail(c, 0, DIAG_FILE, "%s: the suffix says the format, and is none of %s", path, text_str(&t));
    text_close(&t);
    return NULL;
}

/* No more is read or written at once: an interrupt is seen between pieces. */
enum { PIECE = 16 << 20 };

/* --- reading ------------------------------------------------------------------------------------- */

bool io_fail(io_in *in, const char *fmt, ...)
{
    char s[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s, sizeof s, fmt, ap);
    va_end(ap);
    return prim_fail(in->c, 0, DIAG_FILE, "%s: %s", in->path, s);
}

bool io_open(io_in *in, prim_call *c, const char *path)
{
    *in = (io_in){.c = c, .path = path, .size = SIZE_MAX, .fd = -1};
    struct stat s;
    if (c->vm->config.no_files) return io_fail(in, "the program may not read files");
    in->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0 || fstat(in->fd, &s) != 0) {
        io_fail(in, "%s", strerror(errno));
        if (in->fd >= 0) close(in->fd);
        return false;
    }
    if (S_ISDIR(s.st_mode)) {
        close(in->fd);
        return io_fail(in, "this is a folder");
    }
    if (S_ISREG(s.st_mode)) in->size = (size_t)s.st_size;
    return true;
}

size_t io_look(const io_in *in, char *to, size_t n)
{
    ssize_t k = pread(in->fd, to, n, 0);
    return k > 0 ? (size_t)k : 0;
}

void io_close(io_in *in)
{
    io_unpack_close(in);
    close(in->fd);
}

bool io_raw(io_in *in, void *to, size_t n, size_t *got)
{
    ssize_t k;
    do {
        if (vm_interrupted(in->c->vm)) return false;
        k = read(in->fd, to, n);
    } while (k < 0 && errno == EINTR);
    if (k < 0) return io_fail(in, "cannot be read at byte %zu: %s", in->at, strerror(errno));
    *got = (size_t)k;
    return true;
}

/* Up to n bytes; fewer only at the end. False with the error set. */
static bool take_some(io_in *in, void *to, size_t n, size_t *got)
{
    *got = 0;
    while (*got < n) {
        size_t want = n - *got < PIECE ? n - *got : PIECE, k = 0;
        char *at = (char *)to + *got;
        if (in->bytes) {
            k = in->size - in->at < want ? in->size - in->at : want;
            memcpy(at, in->bytes + in->at, k);
        } else if (!(in->gz ? io_unpack_some(in, at, want, &k) : io_raw(in, at, want, &k))) return false;
        if (k == 0) break;
        *got += k, in->at += k;
    }
    return true;
}

bool io_take(io_in *in, void *to, size_t n, const char *what)
{
    size_t from = in->at, got;
    if (!take_some(in, to, n, &got)) return false;
    return got == n || io_fail(in, "the file ends at byte %zu, within %s of %zu bytes from byte %zu", in->at, what, n, from);
}

bool io_promises(io_in *in, uint64_t n, size_t width, const char *what)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(n, (uint64_t)width, &bytes) || bytes > SIZE_MAX / 4)
        return io_fail(in, "%s says more than memory can hold: %llu elements of %zu bytes", what, (unsigned long long)n, width);
    if (in->size == SIZE_MAX || bytes <= in->size - in->at) return true;
    return io_fail(in, "%s says %llu bytes follow, and there are %zu", what, (unsigned long long)bytes, in->size - in->at);
}

char *io_rest(io_in *in, size_t *n)
{
    memory *m = &in->c->vm->mem;
    size_t cap = in->size != SIZE_MAX && in->size > in->at ? in->size - in->at + 1 : 1 << 16, used = 0;
    char *s = memory_alloc(m, MEM_OTHER, cap);
    while (s) {
        size_t got;
        if (!take_some(in, s + used, cap - used, &got)) {
            memory_free(m, MEM_OTHER, s, cap);
            return NULL;
        }
        used += got;
        if (used < cap) { /* the end; one more byte is the NUL's */
            char *fit = memory_resize(m, MEM_OTHER, s, cap, used + 1);
            if (!fit) break;
            fit[used] = 0;
            *n = used;
            return fit;
        }
        char *more = memory_resize(m, MEM_OTHER, s, cap, cap * 2);
        if (!more) break;
        s = more, cap *= 2;
    }
    memory_free(m, MEM_OTHER, s, cap);
    vm_out_of_memory(in->c->vm);
    return NULL;
}

/* --- numbers ---------------------------------------------------------------------------------------- */

bool io_dtype(io_number f, dtype *d)
{
    switch (f.kind) {
    case IO_BOOL: *d = DTYPE_BOOL; return f.width == 1;
    case IO_SIGNED: *d = DTYPE_I64; return f.width == 1 || f.width == 2 || f.width == 4 || f.width == 8;
    case IO_UNSIGNED: *d = DTYPE_I64; return f.width == 1 || f.width == 2 || f.width == 4 || f.width == 8;
    case IO_BRAIN: *d = DTYPE_F32; return f.width == 2;
    default: *d = f.width <= 4 ? DTYPE_F32 : DTYPE_F64; return f.width == 2 || f.width == 4 || f.width == 8;
    }
}

static uint64_t load_uint(const uint8_t *s, int width, bool big)
{
    uint64_t x = 0;
    for (int i = 0; i < width; i++) x = x << 8 | s[big ? i : width - 1 - i];
    return x;
}

/* Sixteen bits as a float: IEEE's half, or (brain) the upper half of a float. */
static float half_float(uint32_t h, bool brain)
{
    uint32_t x;
    float f;
    if (brain) x = h << 16;
    else {
        int e = (int)(h >> 10 & 31);
        uint32_t m = h & 1023;
        if (e == 0) return (h & 0x8000 ? -1.0f : 1.0f) * (float)m / 16777216.0f;
        x = (h & 0x8000) << 16 | (e == 31 ? 255u : (uint32_t)(e + 112)) << 23 | m << 13;
    }
    memcpy(&f, &x, 4);
    return f;
}

bool io_numbers(io_in *in, io_number f, int64_t n, void *to)
{
    dtype d;
    if (!io_dtype(f, &d)) return io_fail(in, "numbers of this kind have no dtype here");
    uint8_t piece[1 << 14];
    int64_t each = (int64_t)sizeof piece / f.width;
    if (!f.big && f.width == dtype_size[d] && f.kind != IO_BOOL && f.kind != IO_UNSIGNED && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        return io_take(in, to, (size_t)n * (size_t)f.width, "the numbers");
    for (int64_t i = 0; i < n; i += each) {
        int64_t count = n - i < each ? n - i : each;
        if (!io_take(in, piece, (size_t)count * (size_t)f.width, "the numbers")) return false;
        for (int64_t j = 0; j < count; j++) {
            uint64_t x = load_uint(piece + j * f.width, f.width, f.big);
            if (f.kind == IO_BOOL) ((uint8_t *)to)[i + j] = x != 0;
            else if (f.kind == IO_UNSIGNED) {
                if (x > INT64_MAX) return io_fail(in, "%llu is beyond what an i64 holds", (unsigned long long)x);
                ((int64_t *)to)[i + j] = (int64_t)x;
            } else if (f.width == 2 && f.kind != IO_SIGNED) ((float *)to)[i + j] = half_float((uint32_t)x, f.kind == IO_BRAIN);
            else if (f.kind == IO_SIGNED) {
                int shift = 64 - 8 * f.width;
                ((int64_t *)to)[i + j] = (int64_t)(x << shift) >> shift;
            } else if (f.width == 4) {
                uint32_t y = (uint32_t)x;
                memcpy((float *)to + i + j, &y, 4);
            } else memcpy((double *)to + i + j, &x, 8);
        }
    }
    return true;
}

/* --- writing ---------------------------------------------------------------------------------------- */

static bool out_fail(io_out *out, const char *why)
{
    if (!out->failed) prim_fail(out->c, 0, DIAG_FILE, "%s: cannot be written: %s", out->path, why);
    out->failed = true;
    return false;
}

bool io_refuse(io_out *out, const char *fmt, ...)
{
    char s[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s, sizeof s, fmt, ap);
    va_end(ap);
    out->failed = true;
    return prim_fail(out->c, 1, DIAG_FILE, "%s: %s", out->path, s);
}

/* The names of unfinished files, of all VMs: who ends the process from a handler or another thread is given nothing
   else to find them by. A name belongs to whoever takes it out. One for which there is no place is not listed. */
static char *unfinished[16];
enum { UNFINISHED = sizeof unfinished / sizeof *unfinished };

static void part_list(io_out *out)
{
    for (int i = 0; i < UNFINISHED; i++) {
        char *none = NULL;
        if (!__atomic_compare_exchange_n(&unfinished[i], &none, out->part, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
        out->listed = &unfinished[i];
        return;
    }
}

static void part_free(io_out *out)
{
    char *part = out->part;
    if (out->listed && !__atomic_compare_exchange_n(out->listed, &part, NULL, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return; /* io_abandon is reading it: the process ends */
    free(out->part);
}

void io_abandon(void)
{
    for (int i = 0; i < UNFINISHED; i++) {
        char *part = __atomic_exchange_n(&unfinished[i], NULL, __ATOMIC_ACQ_REL);
        if (part) unlink(part);
    }
}

bool io_create(io_out *out, prim_call *c, const char *path)
{
    struct stat s;
    out->c = c, out->path = path, out->fd = -1, out->n = 0, out->failed = out->durable = false, out->part = NULL, out->target = NULL,
    out->to = NULL, out->listed = NULL;
    if (c->vm->config.no_files) return out_fail(out, "the program may not write files");
    bool there = stat(path, &s) == 0;
    if (there && S_ISDIR(s.st_mode)) {
        out->target = NULL;
        return out_fail(out, "this is a folder");
    }
    /* The name a link leads to, so that the link stays one. */
    out->target = there ? realpath(path, NULL) : NULL;
    if (!out->target) out->target = strdup(path);
    if (!out->target) return vm_out_of_memory(c->vm);
    if (there && !S_ISREG(s.st_mode)) out->fd = open(path, O_WRONLY | O_CLOEXEC);
    else {
        for (int i = 0; i < 100 && out->fd < 0; i++) {
            free(out->part);
            if (asprintf(&out->part, "%s.part%d-%d", out->target, (int)getpid(), i) < 0) out->part = NULL;
            if (!out->part) break;
            out->fd = open(out->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, there ? s.st_mode & 0777 : 0666);
            if (errno != EEXIST) break;
        }
    }
    if (out->fd >= 0) {
        if (out->part) part_list(out);
        return true;
    }
    out_fail(out, strerror(errno));
    free(out->part), free(out->target);
    out->part = out->target = NULL;
    return false;
}

static void write_all(io_out *out, const char *s, size_t n)
{
    while (n > 0 && !out->failed) {
        if (vm_interrupted(out->c->vm)) {
            out->failed = true;
            return;
        }
        ssize_t k = write(out->fd, s, n < PIECE ? n : PIECE);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) out_fail(out, strerror(k < 0 ? errno : ENOSPC));
        else s += k, n -= (size_t)k;
    }
}

void io_put(io_out *out, const void *s, size_t n)
{
    if (out->failed) return;
    if (out->to) {
        text_add(out->to, s, n);
        if (out->to->failed || vm_interrupted(out->c->vm)) out->failed = true;
        return;
    }
    if (n > sizeof out->buffer - out->n) {
        write_all(out, out->buffer, out->n);
        out->n = 0;
    }
    if (n >= sizeof out->buffer) write_all(out, s, n);
    else {
        memcpy(out->buffer + out->n, s, n);
        out->n += n;
    }
}

/* The folder's entry for the new name. A folder that cannot be opened, or cannot be told to, is left to itself. */
static bool sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == path ? strdup("/") : slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    if (fd < 0) return true;
    bool ok = fsync(fd) == 0 || errno == EINVAL;
    int why = errno;
    close(fd);
    errno = why;
    return ok;
}

bool io_finish(io_out *out)
{
    if (!out->failed) write_all(out, out->buffer, out->n);
    if (!out->failed && out->durable && fsync(out->fd) != 0 && errno != EINVAL) out_fail(out, strerror(errno)); /* EINVAL: a pipe */
    if (close(out->fd) != 0) out_fail(out, strerror(errno));
    if (out->part) {
        if (!out->failed && rename(out->part, out->target) != 0) out_fail(out, strerror(errno));
        if (out->failed) unlink(out->part);
        else if (out->durable && !sync_folder(out->target)) out_fail(out, strerror(errno));
    }
    part_free(out), free(out->target);
    return !out->failed;
}
