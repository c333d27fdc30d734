/* figure_text.c: a picture in Unicode blocks: four points to a character for curves and bars, two pixels
 * (upper and lower half) for images. */
#include "figure.h"
#include <math.h>
#include <string.h>

#define COLUMNS_MAX 200
#define ROWS_MAX 80

typedef struct grid {
    int w, h;
    uint8_t bits[ROWS_MAX][COLUMNS_MAX];
    uint32_t color[ROWS_MAX][COLUMNS_MAX];
} grid;

static void dot(grid *g, int x, int y, uint32_t color)
{
    if (x < 0 || y < 0 || x >= 2 * g->w || y >= 2 * g->h) return;
    g->bits[y / 2][x / 2] |= (uint8_t)(1 << (2 * (y & 1) + (x & 1)));
    g->color[y / 2][x / 2] = color;
}

static void put_color(text *out, uint32_t c, bool back)
{
    text_printf(out, "\x1b[%d;2;%u;%u;%um", back ? 48 : 38, c >> 16 & 255, c >> 8 & 255, c & 255);
}
static void put_spaces(text *out, int n)
{
    for (; n > 0; n--) text_putc(out, ' ');
}
static int points(const char *s)
{
    int n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}
static void put_centred(text *out, const char *s, int margin, int width)
{
    put_spaces(out, margin + (width - points(s)) / 2);
    text_printf(out, "%s\n", s);
}

static void draw(const figure *f, grid *g)
{
    double sx = (2 * g->w - 1) / (f->x1 - f->x0), sy = (2 * g->h - 1) / (f->y1 - f->y0);
    for (int k = 0; k < f->n; k++) {
        const curve *u = &f->curves[k];
        double px = NAN, py = NAN;
        for (int64_t i = 0; i < u->n; i++) {
            double x = (u->x[i] - f->x0) * sx, y = (f->y1 - u->y[i]) * sy;
            if (u->bars) {
                int to = (int)((u->x[i + 1] - f->x0) * sx);
                for (int q = (int)x; q < to; q++)
                    for (int r = (int)(y + 0.5); r < 2 * g->h && u->y[i] > 0; r++) dot(g, q, r, u->color);
                continue;
            }
            if (isfinite(x) && isfinite(y)) {
                int n = u->line && isfinite(px) && isfinite(py) ? (int)(fmax(fabs(x - px), fabs(y - py)) + 1) : 1;
                for (int t = 0; t <= n; t++) {
                    double a = n == 1 && !(isfinite(px) && u->line) ? 1 : (double)t / n;
                    dot(g, (int)((a == 1 ? x : px + a * (x - px)) + 0.5), (int)((a == 1 ? y : py + a * (y - py)) + 0.5), u->color);
                }
            }
            px = x, py = y;
        }
    }
}

/* 0 to just below 1. */
static double light_of(uint32_t c) { return (0.3 * (c >> 16 & 255) + 0.59 * (c >> 8 & 255) + 0.11 * (c & 255)) / 256; }

static void image_text(const figure *f, int columns, int rows, bool color, text *out)
{
    int w = (int)f->iw < columns ? (int)f->iw : columns, h = (int)((double)f->ih * w / (double)f->iw + 0.5);
    if (h > 2 * rows) w = (int)(w * 2.0 * rows / h), h = 2 * rows;
    w = w < 1 ? 1 : w, h = h < 1 ? 1 : h;
    static const char *const shades[] = {" ", "░", "▒", "▓", "█"};
    for (int y = 0; y < h; y += 2) {
        for (int x = 0; x < w; x++) {
            uint32_t c[2] = {0, 0};
            for (int k = 0; k < 2 && y + k < h; k++) {
                const uint8_t *p = f->pixels + ((int64_t)(y + k) * f->ih / h * f->iw + (int64_t)x * f->iw / w) * 3;
                c[k] = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
            }
            if (color) {
                put_color(out, c[0], false);
                put_color(out, c[1], true);
                text_puts(out, "▀");
            } else {
                double light = y + 1 < h ? (light_of(c[0]) + light_of(c[1])) / 2 : light_of(c[0]); /* a character is two rows */
                text_puts(out, shades[(int)(light * 5)]);
            }
        }
        text_puts(out, color ? "\x1b[0m\n" : "\n");
    }
}

void figure_text(const figure *f, int columns, int rows, bool color, text *out)
{
    columns = columns > COLUMNS_MAX ? COLUMNS_MAX : columns < 30 ? 30 : columns;
    rows = rows > ROWS_MAX ? ROWS_MAX : rows < 5 ? 5 : rows;
    if (f->pixels) {
        if (f->title) text_printf(out, "%s\n", f->title);
        image_text(f, columns, rows, color, out);
        return;
    }
    grid *g = memory_alloc(out->m, MEM_OTHER, sizeof *g);
    if (!g) {
        out->failed = true;
        return;
    }
    double at[12], xs[12];
    char labels[12][16], below[12][16];
    int n = figure_ticks(f->y0, f->y1, f->log_y, at, labels), nx = figure_ticks(f->x0, f->x1, f->log_x, xs, below), margin = 0;
    for (int i = 0; i < n; i++) margin = (int)strlen(labels[i]) > margin ? (int)strlen(labels[i]) : margin;
    g->w = columns - margin - 2, g->h = rows;
    draw(f, g);
    if (f->title) put_centred(out, f->title, margin + 2, g->w);
    if (f->ylabel) text_printf(out, "%s\n", f->ylabel);
    static const char *const blocks[16] = {" ", "▘", "▝", "▀", "▖", "▌", "▞", "▛", "▗", "▚", "▐", "▜", "▄", "▙", "▟", "█"};
    for (int y = 0; y < g->h; y++) {
        const char *label = "";
        for (int i = 0; i < n; i++)
            if ((int)((f->y1 - at[i]) / (f->y1 - f->y0) * (2 * g->h - 1) + 0.5) / 2 == y) label = labels[i];
        put_spaces(out, margin - (int)strlen(label));
        text_printf(out, "%s %s", label, *label ? "┤" : "│");
        int end = g->w;
        while (end > 0 && !g->bits[y][end - 1]) end--;
        uint32_t now = UINT32_MAX;
        for (int x = 0; x < end; x++) {
            if (color && g->bits[y][x] && g->color[y][x] != now) put_color(out, now = g->color[y][x], false);
            text_puts(out, blocks[g->bits[y][x]]);
        }
        text_puts(out, color && now != UINT32_MAX ? "\x1b[0m\n" : "\n");
    }
    put_spaces(out, margin + 1);
    text_puts(out, "└");
    char row[COLUMNS_MAX + 20];
    memset(row, ' ', sizeof row);
    int last = -1, used = 0;
    for (int x = 0, i = 0; x < g->w; x++) {
        bool tick = false;
        for (i = 0; i < nx; i++) {
            int p = (int)((xs[i] - f->x0) / (f->x1 - f->x0) * (2 * g->w - 1) + 0.5) / 2, length = (int)strlen(below[i]),
                from = p - length / 2;
            if (p != x) continue;
            tick = true;
            if (from > last && from >= 0) memcpy(row + from, below[i], (size_t)length), last = used = from + length;
        }
        text_puts(out, tick ? "┬" : "─");
    }
    text_putc(out, '\n');
    put_spaces(out, margin + 2);
    text_add(out, row, (size_t)used);
    text_putc(out, '\n');
    if (f->xlabel) put_centred(out, f->xlabel, margin + 2, g->w);
    bool any = false;
    for (int k = 0; k < f->n; k++)
        if (f->curves[k].label) {
            put_spaces(out, any ? 2 : margin + 2);
            if (color) put_color(out, f->curves[k].color, false);
            text_printf(out, "▀%s %s", color ? "\x1b[0m" : "", f->curves[k].label);
            any = true;
        }
    if (any) text_putc(out, '\n');
    memory_free(out->m, MEM_OTHER, g, sizeof *g);
}
