/* test_io_bytes.c: files byte by byte: written by hand from the formats' descriptions, or by the formats' own
 * libraries, and every file cut off and spoilt at each of its bytes. */
#include "io.h"
#include <png.h>
#include <zlib.h>

static size_t put_le(uint8_t *to, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++) to[i] = (uint8_t)(x >> 8 * i);
    return (size_t)bytes;
}

/* huggingface.co/docs/safetensors: eight bytes of length, a header padded with blanks, then the numbers. */
START_TEST(safetensors_by_hand)
{
    open_vm();
    static const char header[] = "{\"__metadata__\":{\"format\":\"pt\"},"
                                 "\"w\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
                                 "\"half\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[16,22]},"
                                 "\"brain\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[22,26]},"
                                 "\"n\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[26,34]},"
                                 "\"small\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[34,36]},"
                                 "\"on\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[36,38]},"
                                 "\"no\":{\"dtype\":\"F64\",\"shape\":[0,4],\"data_offsets\":[38,38]}}   ";
    uint8_t s[1000];
    size_t n = put_le(s, sizeof header - 1, 8);
    memcpy(s + n, header, sizeof header - 1);
    n += sizeof header - 1;
    static const uint32_t floats[] = {0x3f800000, 0xc0200000, 0x7f800000, 0x00000001}; /* 1, -2.5, inf, the least */
    for (int i = 0; i < 4; i++) n += put_le(s + n, floats[i], 4);
    static const uint16_t halves[] = {0x3c00, 0xc100, 0x0001}; /* 1, -2.5, 2^-24 */
    for (int i = 0; i < 3; i++) n += put_le(s + n, halves[i], 2);
    n += put_le(s + n, 0x3f80, 2), n += put_le(s + n, 0xc020, 2); /* 1, -2.5 */
    n += put_le(s + n, (uint64_t)-7, 8);
    s[n++] = 0xff, s[n++] = 5, s[n++] = 1, s[n++] = 0;
    write_file("a.safetensors", s, n);
    looks(load("a.safetensors"),
          "{w: [[  1, -2.5],\n     [inf,  1.4012985e-45]],\n half: [1, -2.5, 5.9604645e-8],\n brain: [1, -2.5],\n n: -7,\n"
          " small: [-1, 5],\n on: [true, false],\n no: [] (f64[0, 4])}");
    close_vm();
}
END_TEST

/* Row y, sample k of a picture w by h: told apart by all of its bits. */
static unsigned sample_at(int y, int k) { return (unsigned)(y * 4099 + k * 257 + 1) & 0xffff; }

static void write_png(const char *name, int w, int h, int depth, int colour, int interlace, const png_color *palette)
{
    FILE *f = fopen(in_folder(name), "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    ck_assert(f && info);
    png_init_io(png, f);
    png_set_IHDR(png, info, (png_uint_32)w, (png_uint_32)h, depth, colour, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (palette) png_set_PLTE(png, info, palette, 4);
    else png_set_gAMA(png, info, 1.0); /* is to change nothing */
    png_write_info(png, info);
    size_t row = png_get_rowbytes(png, info);
    uint8_t all[64][256];
    png_bytep rows[64];
    for (int y = 0; y < h; y++) {
        rows[y] = all[y];
        for (size_t i = 0; i < row; i++) {
            unsigned v = depth == 16 ? sample_at(y, (int)i / 2) >> (i % 2 ? 0 : 8) : palette ? 0x1b : sample_at(y, (int)i);
            all[y][i] = (uint8_t)v;
        }
    }
    png_write_image(png, rows);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(f);
}

START_TEST(png_of_others)
{
    open_vm();
    for (int interlace = 0; interlace < 2; interlace++)
        for (int depth = 8; depth <= 16; depth += 8)
            for (int ch = 1; ch <= 4; ch++) {
                static const int colours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA};
                write_png("a.png", 9, 7, depth, colours[ch - 1], interlace, NULL);
                value v = load("a.png");
                const array *a = as_array(v);
                ck_assert_int_eq(a->rank, ch == 1 ? 2 : 3);
                ck_assert_int_eq(a->size, 63 * ch);
                for (int y = 0; y < 7; y++)
                    for (int k = 0; k < 9 * ch; k++)
                        ck_assert_int_eq(((int64_t *)a->data)[y * 9 * ch + k], sample_at(y, k) & (depth == 16 ? 0xffff : 0xff));
                value_release(m, v);
            }
    static const png_color palette[4] = {{1, 2, 3}, {40, 50, 60}, {70, 80, 90}, {255, 0, 128}};
    write_png("p.png", 4, 1, 2, PNG_COLOR_TYPE_PALETTE, 0, palette); /* 0x1b: 0, 1, 2, 3 */
    looks(load("p.png"), "[[[  1,  2,   3],\n  [ 40, 50,  60],\n  [ 70, 80,  90],\n  [255,  0, 128]]]");
    close_vm();
}
END_TEST

static uint8_t whole[10000];
static size_t read_whole(const char *name)
{
    FILE *f = fopen(in_folder(name), "rb");
    ck_assert(f != NULL);
    size_t n = fread(whole, 1, sizeof whole, f);
    ck_assert(n > 0 && n < sizeof whole);
    fclose(f);
    return n;
}

/* Loads it; an error has to say where and what. True: it loads. */
static bool loads(const char *name)
{
    value out = value_undef();
    bool ok = apply("load", name, NULL, &out);
    if (ok) value_release(m, out);
    else {
        ck_assert(m->error != NULL);
        const char *at = strstr(m->error->message, name);
        ck_assert_msg(m->error->code == DIAG_MEMORY || (m->error->code == DIAG_FILE && at && strlen(at) > strlen(name) + 12), "%s",
                      m->error->message);
        diag_free(m->error);
        m->error = NULL;
    }
    return ok;
}

/* Cut off at every byte, and with every byte turned about. strict: no part of it is a file. */
static void damage(const char *name, bool strict)
{
    size_t n = read_whole(name);
    ck_assert(loads(name));
    for (size_t k = 0; k < n; k++) {
        write_file(name, whole, k);
        if (loads(name)) ck_assert_msg(!strict, "%s loads though cut off after %zu of %zu bytes", name, k, n);
    }
    static const uint8_t turns[] = {0xff, 0x80, 0x01, 0x20};
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < sizeof turns; i++) {
            whole[k] ^= turns[i];
            write_file(name, whole, n);
            loads(name);
            whole[k] ^= turns[i];
        }
}

START_TEST(every_byte)
{
    open_vm();
    m->mem.limit = (size_t)64 << 20; /* a spoilt size may ask for much */
    static const int64_t shape[] = {3, 4};
    value x = ramp(DTYPE_F64, 2, shape), k = ramp(DTYPE_I64, 2, shape);
    for (int64_t i = 0; i < 12; i++) ((int64_t *)as_array(k)->data)[i] = i * 20;
    record *r = record_new(m, 2, 2);
    r->names[0] = symbol_of(m->symbols, "w", 1), r->names[1] = symbol_of(m->symbols, "k", 1);
    r->v[0] = value_retain(x), r->v[1] = value_retain(k);
    value p = value_object(&r->h);
    save("a.npy", x), damage("a.npy", true);
    save("a.npz", p), damage("a.npz", true);
    save("a.safetensors", p), damage("a.safetensors", true);
    save("a.png", k), damage("a.png", true);
    write_png("b.png", 5, 3, 16, PNG_COLOR_TYPE_RGBA, 1, NULL), damage("b.png", true);
    save("a.pgm", k), damage("a.pgm", true);
    save("a.idx", k), damage("a.idx", true);
    save("a.csv", x), damage("a.csv", false); /* rows that stand are a table */
    save("a.tsv", x), damage("a.tsv", false);
    save("a.json", p), damage("a.json", false); /* the last line break may go */
    uint8_t idx[16] = {0, 0, 8, 1, 0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8};
    gzFile z = gzopen(in_folder("a.idx.gz"), "wb");
    ck_assert(z && gzwrite(z, idx, sizeof idx) == sizeof idx && gzclose(z) == Z_OK);
    damage("a.idx.gz", true);
    value_release(m, x), value_release(m, k), value_release(m, p);
    close_vm();
}
END_TEST

/* What unpacks to more than the limit is refused before it is held. */
START_TEST(bombs)
{
    open_vm();
    enum { MB = 1 << 20 };
    static uint8_t zeros[MB];
    static const char *const names[] = {"a.idx.gz", "a.csv.gz", "a.json.gz", "a.npy.gz"};
    static const uint8_t idx[] = {0, 0, 8, 1, 20 * MB >> 24, 20 * MB >> 16 & 255, 20 * MB >> 8 & 255, 20 * MB & 255};
    static const char npy[] = "\x93NUMPY\1\0\x40\0{'descr': '|u1', 'fortran_order': False, 'shape': (20971520,)}    ";
    for (int i = 0; i < 4; i++) {
        gzFile z = gzopen(in_folder(names[i]), "wb");
        ck_assert(z != NULL);
        if (i == 0) gzwrite(z, idx, sizeof idx);
        if (i == 2) gzwrite(z, "[0", 2);
        if (i == 3) gzwrite(z, npy, sizeof npy - 1);
        memset(zeros, i == 1 ? '1' : i == 2 ? ' ' : 0, MB);
        for (int k = 0; k < 20; k++) ck_assert(gzwrite(z, zeros, MB) == MB);
        if (i == 2) gzwrite(z, "]", 1);
        gzclose(z);
        m->mem.limit = 4 * MB;
        memory_reset_peak(&m->mem);
        value out;
        ck_assert_msg(!apply("load", names[i], NULL, &out) && m->error->code == DIAG_MEMORY, "%s: %s", names[i],
                      m->error ? m->error->message : "loads");
        ck_assert_uint_le(m->mem.peak_all, 4 * MB);
        diag_free(m->error);
        m->error = NULL;
        m->mem.limit = SIZE_MAX;
    }
    close_vm();
}
END_TEST

UNIT_MAIN("io bytes", safetensors_by_hand, png_of_others, every_byte, bombs)
