/* svg.c: see svg.h. Colours are classes in one style sheet, with a second set for dark backgrounds; those of
 * the phases (forward, replay, adjoint) can be told apart by people who do not see red and green apart. */
#include "svg.h"
#include <string.h>

static const struct {
    const char *name, *light, *dark, *words;
} inks[INKS] = {
    /* words: on light, where an area's colour is too pale for them */
    [INK_TEXT] = {"text", "#1a1d21", "#e8eaed", "#1a1d21"},     [INK_DIM] = {"dim", "#5f6670", "#a3abb5", "#5f6670"},
    [INK_LINE] = {"line", "#c3c8ce", "#4a515a", "#5f6670"},     [INK_FRAME] = {"frame", "#7b838d", "#8a929c", "#5f6670"},
    [INK_PANEL] = {"panel", "#f1f3f5", "#22262c", "#5f6670"},   [INK_GIVEN] = {"given", "#b4bac2", "#5a626c", "#5f6670"},
    [INK_SAVED] = {"saved", "#0072b2", "#56b4e9", "#00649c"},   [INK_FORWARD] = {"forward", "#009e73", "#2fcf9f", "#00754f"},
    [INK_REPLAY] = {"replay", "#e69f00", "#f0b429", "#965f00"}, [INK_ADJOINT] = {"adjoint", "#b5478a", "#e07cb8", "#a53a7b"},
    [INK_MARK] = {"mark", "#d55e00", "#ff8a3d", "#b04c00"},
};

void svg_open(svg *s, text *to, double width, double height, const char *title)
{
    *s = (svg){to, width, height};
    text_printf(to,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
                "role=\"img\">\n<title>",
                width, height, width, height);
    for (const char *c = title; *c; c++)
        if (*c == '<') text_puts(to, "&lt;");
        else if (*c == '&') text_puts(to, "&amp;");
        else text_putc(to, *c);
    text_puts(
        to,
        "</title>\n<style>\n"
        "text{font-family:'DejaVu Sans Mono','Menlo','Consolas',monospace;white-space:pre}\n.b{font-weight:bold}\n.page{fill:#ffffff}\n");
    for (int i = 0; i < INKS; i++)
        text_printf(to, ".f-%s{fill:%s}.s-%s{stroke:%s;fill:none}.t-%s{fill:%s}\n", inks[i].name, inks[i].light, inks[i].name,
                    inks[i].light, inks[i].name, inks[i].words);
    text_puts(to, "@media (prefers-color-scheme: dark){\n.page{fill:#14171b}\n");
    for (int i = 0; i < INKS; i++)
        text_printf(to, ".f-%s,.t-%s{fill:%s}.s-%s{stroke:%s}\n", inks[i].name, inks[i].name, inks[i].dark, inks[i].name, inks[i].dark);
    text_puts(to, "}\n</style>\n<defs>");
    for (int i = 0; i < INKS; i++)
        text_printf(to,
                    "<marker id=\"to-%s\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">"
                    "<path class=\"f-%s\" d=\"M0,0.5L8,4L0,7.5Z\"/></marker>",
                    inks[i].name, inks[i].name);
    text_printf(to, "</defs>\n<rect class=\"page\" width=\"%.0f\" height=\"%.0f\"/>\n", width, height);
}

void svg_close(svg *s) { text_puts(s->to, "</svg>\n"); }

void svg_words_n(svg *s, double x, double y, double size, char anchor, bool bold, svg_ink ink, const char *words, size_t n)
{
    text_printf(s->to, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" class=\"t-%s%s\"%s>", x, y, size, inks[ink].name, bold ? " b" : "",
                anchor == 'm'   ? " text-anchor=\"middle\""
                : anchor == 'e' ? " text-anchor=\"end\""
                                : "");
    for (size_t i = 0; i < n; i++) switch (words[i]) {
        case '<': text_puts(s->to, "&lt;"); break;
        case '>': text_puts(s->to, "&gt;"); break;
        case '&': text_puts(s->to, "&amp;"); break;
        default: text_putc(s->to, (unsigned char)words[i] < 0x20 ? ' ' : words[i]);
        }
    text_puts(s->to, "</text>\n");
}

void svg_words(svg *s, double x, double y, double size, char anchor, bool bold, svg_ink ink, const char *words)
{
    svg_words_n(s, x, y, size, anchor, bold, ink, words, strlen(words));
}

void svg_box(svg *s, double x, double y, double w, double h, double round, svg_ink fill)
{
    text_printf(s->to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%.1f\" class=\"f-%s\"/>\n", x, y, w > 0 ? w : 0,
                h > 0 ? h : 0, round, inks[fill].name);
}

void svg_frame(svg *s, double x, double y, double w, double h, double round, svg_ink stroke, bool dashed)
{
    text_printf(s->to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%.1f\" class=\"s-%s\" stroke-width=\"1.5\"%s/>\n",
                x, y, w, h, round, inks[stroke].name, dashed ? " stroke-dasharray=\"6 4\"" : "");
}

void svg_line(svg *s, double x1, double y1, double x2, double y2, double width, svg_ink stroke)
{
    text_printf(s->to, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"s-%s\" stroke-width=\"%.1f\"/>\n", x1, y1, x2, y2,
                inks[stroke].name, width);
}

void svg_dot(svg *s, double x, double y, double r, svg_ink fill)
{
    text_printf(s->to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" class=\"f-%s\"/>\n", x, y, r, inks[fill].name);
}

void svg_area_begin(svg *s, svg_ink fill) { text_printf(s->to, "<path class=\"f-%s\" d=\"", inks[fill].name); }

void svg_curve_begin(svg *s, double width, svg_ink stroke, bool arrow)
{
    text_printf(s->to, "<path class=\"s-%s\" stroke-width=\"%.1f\" stroke-linejoin=\"round\"", inks[stroke].name, width);
    if (arrow) text_printf(s->to, " marker-end=\"url(#to-%s)\"", inks[stroke].name);
    text_puts(s->to, " d=\"");
}

void svg_path_end(svg *s) { text_puts(s->to, "\"/>\n"); }

void svg_group_begin(svg *s, const char *title)
{
    text_puts(s->to, "<g><title>");
    for (const char *c = title; *c; c++)
        if (*c == '<') text_puts(s->to, "&lt;");
        else if (*c == '&') text_puts(s->to, "&amp;");
        else text_putc(s->to, *c);
    text_puts(s->to, "</title>\n");
}

void svg_group_end(svg *s) { text_puts(s->to, "</g>\n"); }
