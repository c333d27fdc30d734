/* io_gz.c: what a file packed by gzip unpacks to. In go the file's own bytes, through the one door they have
 * (io_raw), out comes the content in pieces. zlib takes its memory from our allocator, so that the limit holds. */
#include "io.h"
#include <string.h>
#include <zlib.h>

struct unpacking {
    z_stream z;
    bool begun, ended; /* a member has begun; the last one has ended */
    uint8_t buffer[1 << 16];
};

/* zlib frees without saying how much, so each block says it itself. */
static voidpf zlib_take(voidpf mem, uInt n, uInt size)
{
    size_t bytes = (size_t)n * size + 16;
    char *p = memory_alloc(mem, MEM_OTHER, bytes);
    if (!p) return NULL;
    memcpy(p, &bytes, sizeof bytes);
    return p + 16;
}
static void zlib_give(voidpf mem, voidpf p)
{
    size_t bytes;
    memcpy(&bytes, (char *)p - 16, sizeof bytes);
    memory_free(mem, MEM_OTHER, (char *)p - 16, bytes);
}

bool io_inflate(z_stream *z, memory *m, int window)
{
    z->zalloc = zlib_take, z->zfree = zlib_give, z->opaque = m;
    return inflateInit2(z, window) == Z_OK;
}

bool io_unpack(io_in *in)
{
    vm *m = in->c->vm;
    unpacking *u = memory_alloc(&m->mem, MEM_OTHER, sizeof *u);
    if (!u) return vm_out_of_memory(m);
    if (!io_inflate(&u->z, &m->mem, MAX_WBITS + 16)) {
        memory_free(&m->mem, MEM_OTHER, u, sizeof *u);
        return vm_out_of_memory(m);
    }
    in->size = SIZE_MAX;
    in->gz = u;
    return true;
}

void io_unpack_close(io_in *in)
{
    if (!in->gz) return;
    inflateEnd(&in->gz->z);
    memory_free(&in->c->vm->mem, MEM_OTHER, in->gz, sizeof *in->gz);
    in->gz = NULL;
}

bool io_unpack_some(io_in *in, void *to, size_t n, size_t *got)
{
    unpacking *u = in->gz;
    z_stream *z = &u->z;
    z->next_out = to, z->avail_out = (uInt)n;
    while (z->avail_out == n && !u->ended) {
        if (z->avail_in == 0) {
            size_t k;
            if (!io_raw(in, u->buffer, sizeof u->buffer, &k)) return false;
            z->next_in = u->buffer, z->avail_in = (uInt)k;
            if (k == 0) {
                if (u->begun) return io_fail(in, "the packed file is cut off after %zu bytes of content", in->at);
                if (in->at == 0 && z->total_in == 0) return io_fail(in, "the packed file is empty");
                u->ended = true;
                break;
            }
        }
        u->begun = true;
        int status = inflate(z, Z_NO_FLUSH);
        if (status == Z_STREAM_END) {
            u->begun = false; /* another member may follow */
            inflateReset(z);
        } else if (status == Z_MEM_ERROR) return vm_out_of_memory(in->c->vm);
        else if (status != Z_OK && status != Z_BUF_ERROR)
            return io_fail(in, "it does not unpack: %s after %zu bytes of content", z->msg ? z->msg : "an error",
                           in->at + n - z->avail_out);
    }
    *got = n - z->avail_out;
    return true;
}

bool io_packed_end(io_in *in)
{
    uint8_t one;
    size_t k;
    return !in->gz || io_unpack_some(in, &one, 1, &k);
}
