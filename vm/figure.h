/* figure.h: pictures: what plot, hist and imshow describe, and the three canvases that show it.
 *
 * figure_read turns the arguments a picture was made with into a `figure` of plain numbers; figure_draw lays it
 * out (axes, ticks, legend) on a canvas: SVG text, or pixels for PNG; figure_text draws it in Unicode blocks. */
#ifndef REPLAY_FIGURE_H
#define REPLAY_FIGURE_H
#include "vm.h"

#define CURVES_MAX 64

typedef struct curve {
    int64_t n;
    double *x, *y;
    const char *label;             /* NULL: none */
    bool line, dashed, dots, bars; /* bars: n counts between n + 1 edges x */
    uint32_t color;                /* 0xrrggbb */
} curve;

typedef struct figure {
    arena room;
    int n;
    curve curves[CURVES_MAX];
    const char *title, *xlabel, *ylabel;
    bool log_x, log_y;
    double x0, x1, y0, y1; /* what the axes span; logarithms of it on log axes */
    uint8_t *pixels;       /* imshow: [ih, iw] of rgb */
    int64_t iw, ih;
    double lo, hi; /* the colours' range; lo > hi: a picture in its own colours */
} figure;

typedef struct canvas {
    void (*path)(struct canvas *c, int64_t n, const double *xy, double width, uint32_t color, bool dashed);
    void (*fill)(struct canvas *c, double x, double y, double w, double h, uint32_t color, double opacity);
    /* anchor: -1 begins, 0 is centred, 1 ends at x; y is the baseline; upright: read from below. */
    void (*text)(struct canvas *c, double x, double y, double size, int anchor, bool upright, uint32_t color, const char *s);
    void (*image)(struct canvas *c, double x, double y, double w, double h, const uint8_t *rgb, int64_t iw, int64_t ih);
    double (*text_width)(struct canvas *c, double size, const char *s);
} canvas;

/* `made` is the tuple that kern_plot.c keeps: (kind, arguments…). Errors point at the call's argument. */
bool figure_read(prim_call *c, value made, figure *f);
void figure_close(figure *f);
void figure_draw(const figure *f, canvas *c, double w, double h);
/* The picture as SVG text; as PNG bytes; in blocks, `color` with escape sequences. False: no memory. */
bool figure_svg(const figure *f, double w, double h, text *out);
bool figure_png(vm *m, const figure *f, int w, int h, text *out);
void figure_text(const figure *f, int columns, int rows, bool color, text *out);
/* The strokes of the next letter of *s, UTF-8, which moves on; made in `out` when the letter has a mark. Strokes are
   parted by blanks, each a row of points "xy" on a grid 5 wide with the baseline at 2; one behind `~` is smooth. */
enum { GLYPH_MOST = 160 };
const char *figure_glyph(const char **s, char out[GLYPH_MOST]);
/* Ticks of an axis: at most 12 places in axis units, with their labels. */
int figure_ticks(double lo, double hi, bool log, double *at, char labels[][16]);
/* The colour of x in [0, 1] on the scale that imshow uses. */
uint32_t figure_color(double x);
#endif
