/* figure_svg.c: a canvas that writes SVG: shapes as paths, text as text, images as rectangles of one colour. */
#include "figure.h"

typedef struct svg {
    canvas c;
    text *out;
} svg;
static text *out_of(canvas *c) { return ((svg *)c)->out; }

static void put_xml(text *t, const char *s)
{
    for (; *s; s++)
        if (*s == '<') text_puts(t, "&lt;");
        else if (*s == '&') text_puts(t, "&amp;");
        else if ((unsigned char)*s >= 0x20) text_putc(t, *s);
}

static void svg_path(canvas *c, int64_t n, const double *xy, double width, uint32_t color, bool dashed)
{
    text *t = out_of(c);
    if (n == 2 && xy[0] == xy[2] && xy[1] == xy[3]) {
        text_printf(t, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"#%06x\"/>\n", xy[0], xy[1], width / 2, color);
        return;
    }
    text_printf(t, "<path d=\"M");
    for (int64_t i = 0; i < n; i++) text_printf(t, "%s%.2f %.2f", i ? " L" : "", xy[2 * i], xy[2 * i + 1]);
    text_printf(t, "\" fill=\"none\" stroke=\"#%06x\" stroke-width=\"%.2f\" stroke-linejoin=\"round\"%s/>\n", color, width,
                dashed ? " stroke-dasharray=\"6 4\"" : "");
}
static void svg_fill(canvas *c, double x, double y, double w, double h, uint32_t color, double opacity)
{
    text_printf(out_of(c), "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#%06x\"", x, y, w, h, color);
    if (opacity < 1) text_printf(out_of(c), " fill-opacity=\"%.2f\"", opacity);
    text_puts(out_of(c), "/>\n");
}
static void svg_text(canvas *c, double x, double y, double size, int anchor, bool upright, uint32_t color, const char *s)
{
    text *t = out_of(c);
    text_printf(t, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%g\" fill=\"#%06x\" text-anchor=\"%s\"", x, y, size, color,
                anchor < 0 ? "start"
                : anchor   ? "end"
                           : "middle");
    if (upright) text_printf(t, " transform=\"rotate(-90 %.2f %.2f)\"", x, y);
    text_puts(t, ">");
    put_xml(t, s);
    text_puts(t, "</text>\n");
}
static void svg_image(canvas *c, double x, double y, double w, double h, const uint8_t *rgb, int64_t iw, int64_t ih)
{
    text *t = out_of(c);
    double a = w / (double)iw, b = h / (double)ih;
    text_puts(t, "<g shape-rendering=\"crispEdges\">\n");
    for (int64_t i = 0; i < ih; i++)
        for (int64_t j = 0; j < iw;) { /* runs of one colour */
            const uint8_t *p = rgb + (i * iw + j) * 3;
            int64_t k = j + 1;
            while (k < iw && p[0] == rgb[(i * iw + k) * 3] && p[1] == rgb[(i * iw + k) * 3 + 1] && p[2] == rgb[(i * iw + k) * 3 + 2]) k++;
            text_printf(t, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#%02x%02x%02x\"/>\n", x + a * (double)j,
                        y + b * (double)i, a * (double)(k - j), b, p[0], p[1], p[2]);
            j = k;
        }
    text_puts(t, "</g>\n");
}
static double svg_width(canvas *c, double size, const char *s)
{
    double n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80; /* code points */
    return 0.58 * size * n;
}

bool figure_svg(const figure *f, double w, double h, text *out)
{
    svg s = {{svg_path, svg_fill, svg_text, svg_image, svg_width}, out};
    text_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" font-family=\"Helvetica, "
                "Arial, sans-serif\">\n",
                w, h, w, h);
    figure_draw(f, &s.c, w, h);
    text_puts(out, "</svg>\n");
    return !out->failed;
}
