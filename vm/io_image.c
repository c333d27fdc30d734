/* io_image.c: images: PNG through libpng, and the portable grey- and pixmaps. Read, an image is i64 of
 * [height, width] or [height, width, channels] with values 0 to 255 (a pixmap's own largest). Written,
 * floats in [0, 1], whole numbers in 0..256 or bools will do. */
#include "io.h"
#include "kern_util.h"
#include <ctype.h>
#include <png.h>
#include <stdio.h>

uint8_t *image_bytes(io_out *out, value v, int64_t *h, int64_t *w, int *ch) {
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
    for (int64_t i = 0; i < s.size; i += 512) {
        int64_t n = s.size - i < 512 ? s.size - i : 512;
        shape_gather(&s, DTYPE_F64, piece, i, n);
        for (int64_t k = 0; k < n; k++) {
            double x = s.dtype >= DTYPE_F32 ? piece[k] * 255 : s.dtype == DTYPE_BOOL ? piece[k] * 255 : piece[k];
            if (!(x >= -1e-9 && x <= 255.0001)) {
                io_refuse(out, s.dtype >= DTYPE_F32 ? "an image of floats has values in [0, 1], and there is %.6g" : "an image of whole numbers has values in 0..256, and there is %.6g", piece[k]);
                memory_free(&m->mem, MEM_OTHER, to, (size_t)s.size);
                return NULL;
            }
            to[i + k] = (uint8_t)(x + 0.5);
        }
    }
    return to;
}

static bool give_image(io_in *in, const uint8_t *s, int64_t h, int64_t w, int ch, value *out) {
    array *a = array_new(in->c->vm, DTYPE_I64, ch == 1 ? 2 : 3, (int64_t[]){h, w, ch});
    if (!a) return false;
    for (int64_t i = 0; i < a->size; i++) ((int64_t *)a->data)[i] = s[i];
    *out = value_object(&a->h);
    return true;
}

bool io_png_read(io_in *in, value *out) {
    memory *m = &in->c->vm->mem;
    size_t n;
    char *s = io_rest(in, &n);
    if (!s) return false;
    png_image image = {.version = PNG_IMAGE_VERSION};
    bool ok = png_image_begin_read_from_memory(&image, s, n) != 0 || io_fail(in, "%s", image.message);
    if (ok) {
        image.format &= PNG_FORMAT_FLAG_ALPHA | PNG_FORMAT_FLAG_COLOR;
        int ch = (int)PNG_IMAGE_PIXEL_CHANNELS(image.format);
        uint64_t size = (uint64_t)image.width * image.height * (uint64_t)ch;
        uint8_t *to = NULL;
        if (size / 9000 > n) ok = io_fail(in, "%u by %u pixels cannot unpack from %zu bytes", image.width, image.height, n);
        else if (!(to = memory_alloc(m, MEM_OTHER, size))) ok = vm_out_of_memory(in->c->vm);
        if (ok) ok = png_image_finish_read(&image, NULL, to, 0, NULL) != 0 || io_fail(in, "%s", image.message);
        ok = ok && give_image(in, to, image.height, image.width, ch, out);
        if (to) memory_free(m, MEM_OTHER, to, size);
    }
    png_image_free(&image);
    memory_free(m, MEM_OTHER, s, n + 1);
    return ok;
}

bool io_png_write(io_out *out, value v) {
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
static bool take_whole(io_in *in, const char *s, size_t n, size_t *at, const char *what, int64_t most, int64_t *x) {
    while (*at < n && (isspace((unsigned char)s[*at]) || s[*at] == '#'))
        if (s[*at] == '#') while (*at < n && s[*at] != '\n') ++*at;
        else ++*at;
    if (*at >= n || !isdigit((unsigned char)s[*at])) return io_fail(in, "byte %zu: %s was expected", *at, what);
    *x = 0;
    while (*at < n && isdigit((unsigned char)s[*at])) {
        *x = *x * 10 + (s[(*at)++] - '0');
        if (*x > most) return io_fail(in, "byte %zu: %s is above %lld", *at, what, (long long)most);
    }
    return true;
}

bool io_pnm_read(io_in *in, value *out) {
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
        ok = io_fail(in, "%lld by %lld pixels do not fit into the %zu bytes that follow", (long long)w, (long long)h, n - (at < n ? at : n));
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

bool io_pnm_write(io_out *out, value v) {
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
