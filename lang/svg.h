/* svg.h: a picture as SVG text: rectangles, lines, paths and words in a handful of classes that are right
 * on light and on dark backgrounds. Words are set in a monospaced face, so that their widths are known. */
#ifndef REPLAY_SVG_H
#define REPLAY_SVG_H
#include "../vm/text.h"

/* What a thing stands for: one colour each, in both themes. */
typedef enum svg_ink {
    INK_TEXT,
    INK_DIM,
    INK_LINE,
    INK_FRAME,
    INK_PANEL,
    INK_GIVEN,
    INK_SAVED,
    INK_FORWARD,
    INK_REPLAY,
    INK_ADJOINT,
    INK_MARK,
    INKS
} svg_ink;

typedef struct svg {
    text *to;
    double width, height;
} svg;

/* Advance of one character at a font size, relative to it. */
#define SVG_ADVANCE 0.602

void svg_open(svg *s, text *to, double width, double height, const char *title);
void svg_close(svg *s);
/* anchor: 's' start, 'm' middle, 'e' end. `bold` for headings. */
void svg_words(svg *s, double x, double y, double size, char anchor, bool bold, svg_ink ink, const char *words);
void svg_words_n(svg *s, double x, double y, double size, char anchor, bool bold, svg_ink ink, const char *words, size_t n);
void svg_box(svg *s, double x, double y, double w, double h, double round, svg_ink fill);
void svg_frame(svg *s, double x, double y, double w, double h, double round, svg_ink stroke, bool dashed);
void svg_line(svg *s, double x1, double y1, double x2, double y2, double width, svg_ink stroke);
void svg_dot(svg *s, double x, double y, double r, svg_ink fill);
/* An area or a curve: give the path's points with text_printf into s->to between the two. */
void svg_area_begin(svg *s, svg_ink fill);
void svg_curve_begin(svg *s, double width, svg_ink stroke, bool arrow);
void svg_path_end(svg *s);
/* A title that shows under the pointer, for what comes until svg_group_end. */
void svg_group_begin(svg *s, const char *title);
void svg_group_end(svg *s);
#endif
