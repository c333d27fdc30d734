/* io_image.c: images: PNG through libpng, and the portable grey- and pixmaps. Read, an image is i64 of
 * [height, width] or [height, width, channels] with values 0 to 255 (to 65535 in a PNG of 16 bits, a pixmap's own largest). Written,
 * floats in [0, 1], whole numbers in 0..256 or bools will do. */
#include "io.h"
#include "kern_util.h"
#include <ctype.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>

uint8_t *image_bytes(io_out *out, value v, int64_t *h, int64_t *w, int *ch)
{
    vm *m = out->c->vm;
    shaped s;
    if (!shaped_of(&v, &s) || s.rank < 2 || s.rank > 3 || (s.rank == 3 && (s.shape[2] < 1 || s.shape[2] > 4)) || s.size == 0) {
        text t;
        text_open(&t, &m->mem);
        value_describe(m, v, &t);
        io_refuse(out, "an image is [height, width] or [height, width, 1 to 4 channels], and this is %s", text_str(&t));
        text_close(&t);
        return NULL;
    }
    *h = s.shape[0], *w = s.shape[1], *ch = s.rank == 3 ? (int)s.shape[2] : 1;
    uint8_t *to = memory_alloc(&m->mem, MEM_OTHER, (size_t)s.size);
    if (!to) return vm_out_of_memory(m), NULL;
    double piece[512];
    for (int64_t i = 0; i < s.size && !INTERRUPTED(m); i += 512) {
        int64_t n = s.size - i < 512 ? s.size - i : 512;
        shape_gather(&s, DTYPE_F64, piece, i, n);
        for (int64_t k = 0; k < n; k++) {
            double x = s.dtype >= DTYPE_F32 ? piece[k] * 255 : s.dtype == DTYPE_BOOL ? piece[k] * 255 : piece[k];
            if (!(x >= -1e-9 && x <= 255.0001)) {
                io_refuse(out,
                          s.dtype >= DTYPE_F32 ? "an image of floats has values in [0, 1], and there is %.6g"
                                               : "an image of whole numbers has values in 0..256, and there is %.6g",
                          piece[k]);
                memory_free(&m->mem, MEM_OTHER, to, (size_t)s.size);
                return NULL;
            }
            to[i + k] = (uint8_t)(x + 0.5);
        }
    }
    if (!vm_interrupted(m)) return to;
    memory_free(&m->mem, MEM_OTHER, to, (size_t)s.size);
    return NULL;
}

/* From pixels of one byte, or of two in the machine's order. */
static bool give_image(io_in *in, const void *s, bool wide, int64_t h, int64_t w, int ch, value *out)
{
    array *a = array_new(in->c->vm, DTYPE_I64, ch == 1 ? 2 : 3, (int64_t[]){h, w, ch});
    if (!a) return false;
    for (int64_t i = 0; i < a->size; i++) ((int64_t *)a->data)[i] = wide ? ((const uint16_t *)s)[i] : ((const uint8_t *)s)[i];
    *out = value_object(&a->h);
    return true;
}

/* --- PNG ------------------------------------------------------------------------------------------
 * Pixels come as they are in the file, of 8 or 16 bits: no gamma is applied. Fewer bits become 8, a palette
 * colours, and a transparent colour a channel. */

typedef struct png_bytes {
    const uint8_t *s;
    size_t n, at;
    char why[160];
} png_bytes;

static void png_take(png_structp png, png_bytep to, size_t n)
{
    png_bytes *b = png_get_io_ptr(png);
    if (n > b->n - b->at) png_error(png, "cut off");
    memcpy(to, b->s + b->at, n);
    b->at += n;
}

static void png_failed(png_structp png, png_const_charp why)
{
    png_bytes *b = png_get_error_ptr(png);
    snprintf(b->why, sizeof b->why, "%s", why);
    png_longjmp(png, 1);
}

static void png_warned(png_structp png, png_const_charp why) {}

/* The pixels' box: what libpng needs to know before the first row. */
static void png_begin(png_structp png, png_infop info, png_bytes *b)
{
    png_set_read_fn(png, b, png_take);
    png_read_info(png, info);
    png_set_expand(png);
    if (png_get_bit_depth(png, info) == 16) png_set_swap(png); /* files have the high byte first */
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

static void png_rows(png_structp png, png_infop info, uint8_t *to)
{
    int passes = png_get_interlace_type(png, info) == PNG_INTERLACE_ADAM7 ? PNG_INTERLACE_ADAM7_PASSES : 1;
    for (int pass = 0; pass < passes; pass++)
        for (png_uint_32 y = 0; y < png_get_image_height(png, info); y++) png_read_row(png, to + y * png_get_rowbytes(png, info), NULL);
    png_read_end(png, NULL);
}

bool io_png_read(io_in *in, value *out)
{
    memory *m = &in->c->vm->mem;
    png_bytes b = {0};
    char *s = io_rest(in, &b.n);
    if (!s) return false;
    b.s = (const uint8_t *)s;
    uint8_t *volatile to = NULL;
    volatile uint64_t size = 0;
    volatile bool ok = false;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &b, png_failed, png_warned);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) vm_out_of_memory(in->c->vm);
    else if (setjmp(png_jmpbuf(png))) io_fail(in, "byte %zu: %s", b.at, b.why);
    else {
        png_begin(png, info, &b);
        png_uint_32 h = png_get_image_height(png, info), w = png_get_image_width(png, info);
        size = (uint64_t)h * png_get_rowbytes(png, info);
        if (size / 9000 > b.n) io_fail(in, "%u by %u pixels cannot unpack from %zu bytes", w, h, b.n);
        else if (!(to = memory_alloc(m, MEM_OTHER, size))) vm_out_of_memory(in->c->vm);
        else {
            png_rows(png, info, to);
            ok = give_image(in, to, png_get_bit_depth(png, info) == 16, h, w, png_get_channels(png, info), out);
        }
    }
    if (png) png_destroy_read_struct(&png, &info, NULL);
    if (to) memory_free(m, MEM_OTHER, to, size);
    memory_free(m, MEM_OTHER, s, b.n + 1);
    return ok;
}

bool io_png_write(io_out *out, value v)
{
    memory *m = &out->c->vm->mem;
    int64_t h, w;
    int ch;
    uint8_t *s = image_bytes(out, v, &h, &w, &ch);
    if (!s) return false;
    static const png_uint_32 formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)w, .height = (png_uint_32)h, .format = formats[ch - 1]};
    png_alloc_size_t n = PNG_IMAGE_PNG_SIZE_MAX(image), size = n;
    char *to = memory_alloc(m, MEM_OTHER, size);
    bool ok = to != NULL || vm_out_of_memory(out->c->vm);
    ok = ok && (png_image_write_to_memory(&image, to, &n, 0, s, 0, NULL) != 0 || io_refuse(out, "%s", image.message));
    if (ok) io_put(out, to, n);
    if (to) memory_free(m, MEM_OTHER, to, size);
    memory_free(m, MEM_OTHER, s, (size_t)(h * w * ch));
    return ok && !out->failed;
}

/* --- P2, P3, P5, P6 ------------------------------------------------------------------------------- */

/* A whole number behind blanks and comments. */
static bool take_whole(io_in *in, const char *s, size_t n, size_t *at, const char *what, int64_t most, int64_t *x)
{
    while (*at < n && (isspace((unsigned char)s[*at]) || s[*at] == '#'))
        if (s[*at] == '#')
            while (*at < n && s[*at] != '\n') ++*at;
        else ++*at;
    if (*at >= n || !isdigit((unsigned char)s[*at])) return io_fail(in, "byte %zu: %s was expected", *at, what);
    *x = 0;
    while (*at < n && isdigit((unsigned char)s[*at])) {
        *x = *x * 10 + (s[(*at)++] - '0');
        if (*x > most) return io_fail(in, "byte %zu: %s is above %lld", *at, what, (long long)most);
    }
    return true;
}

bool io_pnm_read(io_in *in, value *out)
{
    memory *m = &in->c->vm->mem;
    size_t n, at = 2;
    int64_t w = 0, h = 0, most = 0;
    char *s = io_rest(in, &n);
    if (!s) return false;
    bool ok = (n > 2 && s[0] == 'P' && strchr("2356", s[1])) || io_fail(in, "it does not start with P2, P3, P5 or P6");
    int ch = ok && (s[1] == '3' || s[1] == '6') ? 3 : 1;
    bool plain = ok && s[1] < '5';
    ok = ok && take_whole(in, s, n, &at, "the width", INT32_MAX, &w) && take_whole(in, s, n, &at, "the height", INT32_MAX, &h) &&
         take_whole(in, s, n, &at, "the largest value", 65535, &most);
    if (ok && !plain) at++; /* one blank */
    int64_t width = most > 255 ? 2 : 1;
    uint64_t count = (uint64_t)w * (uint64_t)h;
    if (ok && (count > n || count * (uint64_t)ch * (uint64_t)(plain ? 1 : width) > n - (at < n ? at : n)))
        ok = io_fail(in, "%lld by %lld pixels do not fit into the %zu bytes that follow", (long long)w, (long long)h,
                     n - (at < n ? at : n));
    array *a = ok ? array_new(in->c->vm, DTYPE_I64, ch == 1 ? 2 : 3, (int64_t[]){h, w, ch}) : NULL;
    ok = ok && a;
    for (int64_t i = 0; ok && i < a->size; i++) {
        int64_t *x = (int64_t *)a->data + i;
        if (plain) ok = take_whole(in, s, n, &at, "a value", most, x);
        else {
            *x = (uint8_t)s[at++];
            if (width == 2) *x = *x << 8 | (uint8_t)s[at++];
        }
    }
    if (ok) *out = value_object(&a->h);
    else release_array(in->c->vm, a);
    memory_free(m, MEM_OTHER, s, n + 1);
    return ok;
}

bool io_pnm_write(io_out *out, value v)
{
    int64_t h, w;
    int ch, n;
    char head[64];
    uint8_t *s = image_bytes(out, v, &h, &w, &ch);
    if (!s) return false;
    bool ok = ch == 1 || ch == 3 || io_refuse(out, "this format has 1 or 3 channels, and the image %d", ch);
    if (ok) {
        n = snprintf(head, sizeof head, "P%c\n%lld %lld\n255\n", ch == 1 ? '5' : '6', (long long)w, (long long)h);
        io_put(out, head, (size_t)n);
        io_put(out, s, (size_t)(h * w * ch));
    }
    memory_free(&out->c->vm->mem, MEM_OTHER, s, (size_t)(h * w * ch));
    return ok && !out->failed;
}
