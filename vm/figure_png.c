/* figure_png.c: a canvas of pixels, written as PNG: thick lines by their distance to each pixel, and text from
 * a font of strokes (figure_font.c). A path is gathered in a mask first, so that its joints are not drawn twice. */
#include "figure.h"
#include <math.h>
#include <png.h>
#include <string.h>

#define SCALE 2 /* pixels a unit */

typedef struct pixels {
    canvas c;
    int w, h;
    uint8_t *rgb, *mask;
} pixels;

static double distance(double x, double y, const double *a, const double *b)
{
    double dx = b[0] - a[0], dy = b[1] - a[1], n = dx * dx + dy * dy, t = n > 0 ? ((x - a[0]) * dx + (y - a[1]) * dy) / n : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(x - a[0] - t * dx, y - a[1] - t * dy);
}

/* The segment into the mask; coordinates and radius in pixels. */
static void stroke(pixels *p, const double *a, const double *b, double radius)
{
    double r = radius + 1;
    int x0 = (int)floor(fmin(a[0], b[0]) - r), x1 = (int)ceil(fmax(a[0], b[0]) + r), y0 = (int)floor(fmin(a[1], b[1]) - r),
        y1 = (int)ceil(fmax(a[1], b[1]) + r);
    x0 = x0 < 0 ? 0 : x0, y0 = y0 < 0 ? 0 : y0, x1 = x1 > p->w ? p->w : x1, y1 = y1 > p->h ? p->h : y1;
    double slope = b[1] != a[1] ? (b[0] - a[0]) / (b[1] - a[1]) : 0;
    for (int y = y0; y < y1; y++) {
        int from = x0, to = x1;
        if (fabs(b[1] - a[1]) > 1) { /* only near the line */
            double x = a[0] + (y + 0.5 - a[1]) * slope, reach = r * sqrt(1 + slope * slope) + 1;
            from = x - reach > from ? (int)(x - reach) : from, to = x + reach < to ? (int)(x + reach) + 1 : to;
        }
        for (int x = from; x < to; x++) {
            double cover = radius + 0.5 - distance(x + 0.5, y + 0.5, a, b);
            if (cover <= 0) continue;
            uint8_t v = cover >= 1 ? 255 : (uint8_t)(cover * 255);
            uint8_t *m = &p->mask[(size_t)y * (size_t)p->w + (size_t)x];
            if (v > *m) *m = v;
        }
    }
}

static void blend(uint8_t *to, uint32_t color, double part)
{
    for (int k = 0; k < 3; k++) {
        double c = color >> (16 - 8 * k) & 255;
        to[k] = (uint8_t)(to[k] + (c - to[k]) * part + 0.5);
    }
}

/* The mask's box in colour, and the mask emptied. */
static void pour(pixels *p, double lx, double ly, double hx, double hy, uint32_t color, double most)
{
    int x0 = (int)lx - 4, x1 = (int)hx + 5, y0 = (int)ly - 4, y1 = (int)hy + 5;
    x0 = x0 < 0 ? 0 : x0, y0 = y0 < 0 ? 0 : y0, x1 = x1 > p->w ? p->w : x1, y1 = y1 > p->h ? p->h : y1;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            size_t i = (size_t)y * (size_t)p->w + (size_t)x;
            if (!p->mask[i]) continue;
            blend(p->rgb + 3 * i, color, p->mask[i] / 255.0 * most);
            p->mask[i] = 0;
        }
}

static void draw_path(canvas *c, int64_t n, const double *xy, double width, uint32_t color, bool dashed)
{
    pixels *p = (pixels *)c;
    double lx = INFINITY, ly = INFINITY, hx = -INFINITY, hy = -INFINITY, gone = 0, radius = width * SCALE / 2;
    for (int64_t i = 0; i + 1 < n; i++) {
        double a[2] = {xy[2 * i] * SCALE, xy[2 * i + 1] * SCALE}, b[2] = {xy[2 * i + 2] * SCALE, xy[2 * i + 3] * SCALE};
        if (width <= 1.2 && (a[0] == b[0] || a[1] == b[1])) /* thin upright and level lines fill whole pixels */
            for (int k = 0; k < 2; k++) a[k] = floor(a[k]) + (radius < 0.8 ? 0.5 : 0), b[k] = floor(b[k]) + (radius < 0.8 ? 0.5 : 0);
        lx = fmin(lx, fmin(a[0], b[0])), hx = fmax(hx, fmax(a[0], b[0])), ly = fmin(ly, fmin(a[1], b[1])), hy = fmax(hy, fmax(a[1], b[1]));
        double length = hypot(b[0] - a[0], b[1] - a[1]);
        if (!dashed) stroke(p, a, b, radius);
        else
            for (double t = 0; t < length;) { /* 6 on, 4 off */
                double phase = fmod(gone + t, 10 * SCALE), left = (phase < 6 * SCALE ? 6 * SCALE : 10 * SCALE) - phase,
                       end = t + left < length ? t + left : length;
                double u = t / length, v = end / length;
                if (phase < 6 * SCALE)
                    stroke(p, (double[]){a[0] + u * (b[0] - a[0]), a[1] + u * (b[1] - a[1])},
                           (double[]){a[0] + v * (b[0] - a[0]), a[1] + v * (b[1] - a[1])}, radius);
                t = end > t ? end : length;
            }
        gone += length;
    }
    if (lx <= hx) pour(p, lx - radius, ly - radius, hx + radius, hy + radius, color, 1);
}

static void draw_fill(canvas *c, double x, double y, double w, double h, uint32_t color, double opacity)
{
    pixels *p = (pixels *)c;
    double x0 = x * SCALE, x1 = (x + w) * SCALE, y0 = y * SCALE, y1 = (y + h) * SCALE;
    for (int j = y0 < 0 ? 0 : (int)y0; j < p->h && j < y1; j++)
        for (int i = x0 < 0 ? 0 : (int)x0; i < p->w && i < x1; i++) {
            double cover = (fmin(i + 1, x1) - fmax(i, x0)) * (fmin(j + 1, y1) - fmax(j, y0));
            if (cover > 0) blend(p->rgb + 3 * ((size_t)j * (size_t)p->w + (size_t)i), color, cover * opacity);
        }
}

/* Leftmost and rightmost column of a glyph; a blank is 2 wide. */
static void glyph_span(const char *g, int *lo, int *hi)
{
    *lo = 4, *hi = 0;
    for (; *g; g++) {
        if (*g == ' ' || *g == '~') continue;
        *lo = *g - '0' < *lo ? *g - '0' : *lo, *hi = *g - '0' > *hi ? *g - '0' : *hi;
        g++;
    }
    if (*lo > *hi) *lo = 0, *hi = 1;
}

#define UNIT(size) ((size)*0.72 / 6)
static double draw_width(canvas *c, double size, const char *s)
{
    double n = 0;
    int lo, hi;
    char strokes[GLYPH_MOST];
    while (*s) {
        glyph_span(figure_glyph(&s, strokes), &lo, &hi);
        n += hi - lo + 1.9;
    }
    return n > 0 ? (n - 1.9) * UNIT(size) * 0.95 : 0;
}

/* One stroke of a glyph, points in pixels. */
static void glyph_stroke(pixels *p, int n, double q[][2], bool smooth, double radius)
{
    if (n == 2 && q[0][0] == q[1][0] && q[0][1] == q[1][1]) { /* a dot */
        stroke(p, q[0], q[0], radius * 1.35);
        return;
    }
    if (!smooth || n < 3) {
        for (int i = 0; i + 1 < n; i++) stroke(p, q[i], q[i + 1], radius);
        return;
    }
    double at[2] = {q[0][0], q[0][1]};
    for (int i = 1; i + 1 < n; i++) {
        double from[2] = {at[0], at[1]}, to[2];
        for (int k = 0; k < 2; k++) to[k] = i + 2 == n ? q[n - 1][k] : (q[i][k] + q[i + 1][k]) / 2;
        for (int t = 1; t <= 6; t++) {
            double u = t / 6.0, next[2];
            for (int k = 0; k < 2; k++) next[k] = (1 - u) * (1 - u) * from[k] + 2 * u * (1 - u) * q[i][k] + u * u * to[k];
            stroke(p, at, next, radius);
            at[0] = next[0], at[1] = next[1];
        }
    }
}

static void draw_text(canvas *c, double x, double y, double size, int anchor, bool upright, uint32_t color, const char *s)
{
    pixels *p = (pixels *)c;
    double width = draw_width(c, size, s), along = anchor < 0 ? 0 : anchor ? -width : -width / 2, unit = UNIT(size);
    double radius = size * 0.042 * SCALE;
    for (const char *t = s; *t;) {
        char strokes[GLYPH_MOST];
        const char *g = figure_glyph(&t, strokes);
        int lo, hi, n = 0;
        glyph_span(g, &lo, &hi);
        double q[24][2];
        bool smooth = false;
        for (;; g++) {
            if (*g == '~') smooth = true;
            else if (*g == ' ' || !*g) {
                if (n > 1) glyph_stroke(p, n, q, smooth, radius);
                n = 0, smooth = false;
                if (!*g) break;
            } else {
                double gx = along + (*g - '0' - lo) * unit * 0.95, gy = (g[1] - '2') * unit;
                if (n < 24) q[n][0] = (x + (upright ? -gy : gx)) * SCALE, q[n][1] = (y - (upright ? gx : gy)) * SCALE, n++;
                g++;
            }
        }
        along += (hi - lo + 1.9) * unit * 0.95;
    }
    double r = (width + size) * SCALE;
    pour(p, x * SCALE - r, y * SCALE - r, x * SCALE + r, y * SCALE + r, color, 1);
}

static void draw_image(canvas *c, double x, double y, double w, double h, const uint8_t *rgb, int64_t iw, int64_t ih)
{
    pixels *p = (pixels *)c;
    int x0 = (int)(x * SCALE + 0.5), x1 = (int)((x + w) * SCALE + 0.5), y0 = (int)(y * SCALE + 0.5), y1 = (int)((y + h) * SCALE + 0.5);
    for (int j = y0 < 0 ? 0 : y0; j < y1 && j < p->h; j++)
        for (int i = x0 < 0 ? 0 : x0; i < x1 && i < p->w; i++) {
            int64_t r = (int64_t)(j - y0) * ih / (y1 - y0), q = (int64_t)(i - x0) * iw / (x1 - x0);
            memcpy(p->rgb + 3 * ((size_t)j * (size_t)p->w + (size_t)i), rgb + (r * iw + q) * 3, 3);
        }
}

bool figure_png(vm *m, const figure *f, int w, int h, text *out)
{
    pixels p = {{draw_path, draw_fill, draw_text, draw_image, draw_width}, w * SCALE, h * SCALE, NULL, NULL};
    size_t n = (size_t)p.w * (size_t)p.h;
    p.rgb = memory_alloc(&m->mem, MEM_OTHER, 3 * n), p.mask = memory_alloc(&m->mem, MEM_OTHER, n);
    char *to = NULL;
    size_t room = 0;
    if (p.rgb && p.mask) {
        figure_draw(f, &p.c, w, h);
        png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)p.w, .height = (png_uint_32)p.h, .format = PNG_FORMAT_RGB};
        png_alloc_size_t size = room = PNG_IMAGE_PNG_SIZE_MAX(image);
        to = memory_alloc(&m->mem, MEM_OTHER, room);
        if (to && png_image_write_to_memory(&image, to, &size, 0, p.rgb, 0, NULL)) text_add(out, to, size);
        else out->failed = true;
    } else out->failed = true;
    if (p.rgb) memory_free(&m->mem, MEM_OTHER, p.rgb, 3 * n);
    if (p.mask) memory_free(&m->mem, MEM_OTHER, p.mask, n);
    if (to) memory_free(&m->mem, MEM_OTHER, to, room);
    return !out->failed;
}
