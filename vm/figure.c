/* figure.c: a picture's numbers, its axes and their ticks, and the layout of both on a canvas. */
#include "figure.h"
#include "kern_util.h"
#include <stdio.h>

/* Okabe and Ito's colours, which stay apart for colour-blind eyes too. */
static const uint32_t palette[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x7f7f7f, 0x000000};

/* Nine stops of Matplotlib's viridis (CC0). */
uint32_t figure_color(double x)
{
    static const uint32_t stops[] = {0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725};
    x = isnan(x) ? 0 : x < 0 ? 0 : x > 1 ? 1 : x;
    int i = x >= 1 ? 7 : (int)(x * 8);
    double t = x * 8 - i;
    uint32_t c = 0;
    for (int s = 16; s >= 0; s -= 8) {
        double a = stops[i] >> s & 255, b = stops[i + 1] >> s & 255;
        c |= (uint32_t)(a + (b - a) * t + 0.5) << s;
    }
    return c;
}

/* --- reading -------------------------------------------------------------------------------------- */

static double *numbers(prim_call *c, figure *f, const shaped *s)
{
    double *x = arena_alloc(&f->room, (size_t)(s->size + 1) * sizeof *x);
    if (x) copy_converted(c->vm, s, DTYPE_F64, x);
    else vm_out_of_memory(c->vm);
    return x;
}

static const char *words(value v) { return v.tag == V_STRING ? as_string(v)->s : NULL; }
/* The k-th of a tuple, or v itself. */
static value part_of(value v, int k) { return v.tag != V_TUPLE ? v : (uint32_t)k < as_tuple(v)->n ? as_tuple(v)->v[k] : value_none(); }

static bool add_curve(prim_call *c, figure *f, value x, const shaped *y, value label, value style)
{
    if (f->n == CURVES_MAX) return prim_fail(c, 1, DIAG_VALUE, "more than %d curves", CURVES_MAX);
    curve *u = &f->curves[f->n];
    *u = (curve){.n = y->size, .label = words(label), .color = palette[f->n % 8], .line = true};
    if (y->rank > 1) return prim_fail(c, 1, DIAG_SHAPE, "a curve is a vector, and this one has %d axes", y->rank);
    if (!(u->y = numbers(c, f, y))) return false;
    if (x.tag == V_NONE) {
        u->x = arena_alloc(&f->room, (size_t)(u->n + 1) * sizeof *u->x);
        if (!u->x) return vm_out_of_memory(c->vm);
        for (int64_t i = 0; i < u->n; i++) u->x[i] = (double)i;
    } else {
        shaped s;
        if (!shaped_of(&x, &s) || s.rank > 1) return prim_fail(c, 0, DIAG_TYPE, "x must be a vector");
        if (s.size != u->n) return prim_fail(c, 1, DIAG_SHAPE, "x has %lld elements, and y has %lld", (long long)s.size, (long long)u->n);
        if (!(u->x = numbers(c, f, &s))) return false;
    }
    const char *t = words(style);
    if (t) {
        if (t[strspn(t, "-.o")])
            return prim_fail(c, 7, DIAG_VALUE, "style must be made of - (a line), -- (dashed) and o or . (dots), not \"%s\"", t);
        u->line = strchr(t, '-') != NULL, u->dashed = strstr(t, "--") != NULL, u->dots = strpbrk(t, "o.") != NULL;
    }
    f->n++;
    return true;
}

static bool read_plot(prim_call *c, const value *a, figure *f)
{
    value x = a[0], y = a[1];
    if (y.tag == V_NONE) y = x, x = value_none();
    const char *log = words(a[6]);
    if (log && strcmp(log, "x") && strcmp(log, "y") && strcmp(log, "xy"))
        return prim_fail(c, 6, DIAG_VALUE, "log must be \"x\", \"y\" or \"xy\", not \"%s\"", log);
    f->log_x = log && strchr(log, 'x'), f->log_y = log && strchr(log, 'y');
    shaped s;
    if (y.tag == V_TUPLE) {
        for (uint32_t k = 0; k < as_tuple(y)->n; k++) {
            if (!shaped_of(&as_tuple(y)->v[k], &s)) return prim_fail(c, 1, DIAG_TYPE, "y must be a vector or a tuple of vectors");
            if (!add_curve(c, f, part_of(x, (int)k), &s, part_of(a[2], (int)k), part_of(a[7], (int)k))) return false;
        }
        return true;
    }
    if (!shaped_of(&y, &s) || s.rank == 0 || s.rank > 2)
        return prim_fail(c, 1, DIAG_TYPE, "y must be a vector, a matrix of columns, or a tuple of vectors");
    if (s.rank == 1) return add_curve(c, f, part_of(x, 0), &s, part_of(a[2], 0), part_of(a[7], 0));
    for (int64_t k = 0; k < s.shape[1]; k++) {
        shaped column = s;
        column.rank = 1, column.size = s.shape[0];
        column.data = element(s.dtype, s.data, k * s.stride[1]);
        if (!add_curve(c, f, part_of(x, (int)k), &column, part_of(a[2], (int)k), part_of(a[7], (int)k))) return false;
    }
    return true;
}

static bool read_hist(prim_call *c, const value *a, figure *f)
{
    shaped s;
    int64_t bins = 10;
    if (!shaped_of(&a[0], &s)) return prim_fail(c, 0, DIAG_TYPE, "x must be numbers");
    if (!arg_int(c, 1, &bins)) return false;
    if (bins < 1 || bins > 10000) return prim_fail(c, 1, DIAG_VALUE, "bins must be 1 to 10,000, not %lld", (long long)bins);
    double *x = numbers(c, f, &s), lo = INFINITY, hi = -INFINITY;
    curve *u = &f->curves[f->n++];
    *u = (curve){.n = bins, .bars = true, .color = palette[0]};
    u->x = arena_alloc(&f->room, (size_t)(bins + 1) * sizeof *u->x), u->y = arena_alloc(&f->room, (size_t)bins * sizeof *u->y);
    if (!x) return false;
    if (!u->x || !u->y) return vm_out_of_memory(c->vm);
    for (int64_t i = 0; i < s.size; i++)
        if (isfinite(x[i])) lo = x[i] < lo ? x[i] : lo, hi = x[i] > hi ? x[i] : hi;
    if (lo > hi) lo = 0, hi = 1;
    if (lo == hi) lo -= 0.5, hi += 0.5;
    for (int64_t i = 0; i <= bins; i++) u->x[i] = lo + (hi - lo) * (double)i / (double)bins;
    for (int64_t i = 0; i < s.size; i++) {
        if (!isfinite(x[i])) continue;
        int64_t k = (int64_t)((x[i] - lo) / (hi - lo) * (double)bins);
        u->y[k < bins ? k : bins - 1]++;
    }
    return true;
}

static bool read_image(prim_call *c, const value *a, figure *f)
{
    shaped s;
    if (!shaped_of(&a[0], &s) || s.rank < 2 || s.rank > 3 || (s.rank == 3 && s.shape[2] != 3 && s.shape[2] != 1 && s.shape[2] != 4) ||
        s.size == 0)
        return prim_fail(c, 0, DIAG_SHAPE, "x must be [height, width] or [height, width, 1, 3 or 4 channels]");
    double *x = numbers(c, f, &s);
    f->ih = s.shape[0], f->iw = s.shape[1];
    f->pixels = arena_alloc(&f->room, (size_t)(f->ih * f->iw * 3));
    if (!x) return false;
    if (!f->pixels) return vm_out_of_memory(c->vm);
    int64_t ch = s.rank == 3 ? s.shape[2] : 1;
    f->lo = 1, f->hi = 0;
    double scale = s.dtype >= DTYPE_F32 ? 255 : s.dtype == DTYPE_BOOL ? 255 : 1;
    if (ch == 1) {
        f->lo = INFINITY, f->hi = -INFINITY;
        for (int64_t i = 0; i < s.size; i++)
            if (isfinite(x[i])) f->lo = x[i] < f->lo ? x[i] : f->lo, f->hi = x[i] > f->hi ? x[i] : f->hi;
        if (f->lo > f->hi) f->lo = 0, f->hi = 1;
        if (f->lo == f->hi) f->lo -= 0.5, f->hi += 0.5;
    }
    for (int64_t i = 0; i < f->ih * f->iw; i++)
        for (int k = 0; k < 3; k++) {
            double v = ch == 1 ? 0 : x[i * ch + k] * scale + 0.5;
            f->pixels[i * 3 + k] = ch == 1    ? (uint8_t)(figure_color((x[i] - f->lo) / (f->hi - f->lo)) >> (16 - 8 * k))
                                   : !(v > 0) ? 0
                                   : v > 255  ? 255
                                              : (uint8_t)v;
        }
    return true;
}

static void reach(double x, double *lo, double *hi)
{
    if (!isfinite(x)) return;
    *lo = x < *lo ? x : *lo, *hi = x > *hi ? x : *hi;
}

/* On log axes numbers become their logarithms (those not above 0 are left out); then what the axes span. */
static void find_range(figure *f)
{
    f->x0 = f->y0 = INFINITY, f->x1 = f->y1 = -INFINITY;
    bool bars = false;
    for (int k = 0; k < f->n; k++) {
        curve *u = &f->curves[k];
        bars |= u->bars;
        for (int64_t i = 0; i < u->n + u->bars; i++) {
            if (f->log_x) u->x[i] = u->x[i] > 0 ? log10(u->x[i]) : NAN;
            if (f->log_y && i < u->n) u->y[i] = u->y[i] > 0 ? log10(u->y[i]) : NAN;
            if (i < u->n && !u->bars && !(isfinite(u->x[i]) && isfinite(u->y[i]))) continue;
            reach(u->x[i], &f->x0, &f->x1);
            if (i < u->n) reach(u->y[i], &f->y0, &f->y1);
        }
    }
    if (bars) f->y0 = 0;
    if (f->pixels) f->x0 = -0.5, f->x1 = (double)f->iw - 0.5, f->y0 = (double)f->ih - 0.5, f->y1 = -0.5;
    if (f->x0 > f->x1) f->x0 = 0, f->x1 = 1;
    if (!f->pixels && f->y0 > f->y1) f->y0 = 0, f->y1 = 1;
    if (f->x0 == f->x1) f->x0 -= 0.5, f->x1 += 0.5;
    if (f->y0 == f->y1) f->y0 -= 0.5, f->y1 += 0.5;
    if (f->pixels) return;
    double dx = (f->x1 - f->x0) * (bars ? 0.02 : 0.03), dy = (f->y1 - f->y0) * 0.05;
    f->x0 -= dx, f->x1 += dx, f->y1 += dy;
    if (!bars) f->y0 -= dy;
}

bool figure_read(prim_call *c, value made, figure *f)
{
    memset(f, 0, sizeof *f);
    arena_open(&f->room, &c->vm->mem, MEM_OTHER);
    const value *a = as_tuple(made)->v + 1;
    int64_t kind = as_tuple(made)->v[0].u.i;
    bool ok = kind == 0 ? read_plot(c, a, f) : kind == 1 ? read_hist(c, a, f) : read_image(c, a, f);
    int at = kind == 0 ? 3 : kind == 1 ? 2 : 1;
    f->title = words(a[at]), f->xlabel = words(a[at + 1]), f->ylabel = words(a[at + 2]);
    if (ok) find_range(f);
    return ok;
}
void figure_close(figure *f) { arena_close(&f->room); }

/* --- ticks ---------------------------------------------------------------------------------------- */

static void put_label(double x, double step, char *out)
{
    if (fabs(x) < step * 1e-9) x = 0;
    int digits = (int)ceil(-log10(step) - 1e-9);
    if (digits < 0) digits = 0;
    if (fabs(x) >= 1e6 || (x != 0 && step < 1e-4)) {
        snprintf(out, 16, "%.4g", x);
        char *e = strchr(out, 'e');
        if (e && e[2] == '0') memmove(e + 2, e + 3, strlen(e + 3) + 1);
        if (e && e[1] == '+') memmove(e + 1, e + 2, strlen(e + 2) + 1);
    } else snprintf(out, 16, "%.*f", digits, x);
}

int figure_ticks(double lo, double hi, bool log, double *at, char labels[][16])
{
    int n = 0;
    if (lo > hi) {
        double t = lo;
        lo = hi, hi = t;
    }
    if (log && hi - lo >= 1) {
        int step = (int)ceil((hi - lo) / 8);
        for (int k = (int)ceil(lo - 1e-9); k <= (int)floor(hi + 1e-9) && n < 12; k++) {
            if (k % step) continue;
            at[n] = k;
            if (k >= -3 && k <= 5) snprintf(labels[n++], 16, "%g", pow(10, k));
            else snprintf(labels[n++], 16, "1e%d", k);
        }
        if (n > 1) return n;
        n = 0;
    }
    double raw = (hi - lo) / 6, unit = pow(10, floor(log10(raw))), ratio = raw / unit;
    double step = unit * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
    for (double k = ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9 && n < 12; k++) {
        at[n] = k * step;
        if (log) snprintf(labels[n], 16, "%.3g", pow(10, at[n]));
        else put_label(at[n], step, labels[n]);
        n++;
    }
    return n;
}

/* --- layout --------------------------------------------------------------------------------------- */

typedef struct frame {
    double x, y, w, h;
} frame;
static double at_x(const figure *f, const frame *p, double x) { return p->x + (x - f->x0) / (f->x1 - f->x0) * p->w; }
static double at_y(const figure *f, const frame *p, double y) { return p->y + p->h - (y - f->y0) / (f->y1 - f->y0) * p->h; }

static void line(canvas *c, double x0, double y0, double x1, double y1, double width, uint32_t color)
{
    c->path(c, 2, (double[]){x0, y0, x1, y1}, width, color, false);
}

static void draw_curve(const figure *f, canvas *c, const frame *p, const curve *u)
{
    if (u->bars) {
        for (int64_t i = 0; i < u->n; i++) {
            double x = at_x(f, p, u->x[i]), w = at_x(f, p, u->x[i + 1]) - x, y = at_y(f, p, u->y[i]), gap = w > 4 ? 0.5 : 0;
            if (u->y[i] > 0) c->fill(c, x + gap, y, w - 2 * gap, p->y + p->h - y, u->color, 0.85);
        }
        return;
    }
    double piece[2 * 512];
    int64_t n = 0;
    for (int64_t i = 0; u->line && i <= u->n; i++) { /* runs of finite points */
        bool there = i < u->n && isfinite(u->x[i]) && isfinite(u->y[i]);
        if (there) piece[2 * n] = at_x(f, p, u->x[i]), piece[2 * n + 1] = at_y(f, p, u->y[i]), n++;
        if ((!there || n == 512) && n > 1) c->path(c, n, piece, 1.8, u->color, u->dashed);
        if (!there) n = 0;
        else if (n == 512) piece[0] = piece[1022], piece[1] = piece[1023], n = 1;
    }
    for (int64_t i = 0; u->dots && i < u->n; i++) {
        double x = at_x(f, p, u->x[i]), y = at_y(f, p, u->y[i]);
        if (isfinite(x) && isfinite(y)) line(c, x, y, x, y, 5.5, u->color);
    }
}

static void draw_axes(const figure *f, canvas *c, const frame *p, bool grid)
{
    double at[12];
    char labels[12][16];
    int n = figure_ticks(f->x0, f->x1, f->log_x, at, labels);
    for (int i = 0; i < n; i++) {
        double x = at_x(f, p, at[i]);
        if (grid && !f->pixels) line(c, x, p->y, x, p->y + p->h, 0.7, 0xe6e6e6);
        if (grid) continue;
        line(c, x, p->y + p->h, x, p->y + p->h + 4, 1, 0x444444);
        c->text(c, x, p->y + p->h + 17, 12, 0, false, 0x333333, labels[i]);
    }
    n = figure_ticks(f->y0, f->y1, f->log_y, at, labels);
    for (int i = 0; i < n; i++) {
        double y = at_y(f, p, at[i]);
        if (grid && !f->pixels) line(c, p->x, y, p->x + p->w, y, 0.7, 0xe6e6e6);
        if (grid) continue;
        line(c, p->x - 4, y, p->x, y, 1, 0x444444);
        c->text(c, p->x - 8, y + 4, 12, 1, false, 0x333333, labels[i]);
    }
    if (!grid)
        c->path(c, 5, (double[]){p->x, p->y, p->x + p->w, p->y, p->x + p->w, p->y + p->h, p->x, p->y + p->h, p->x, p->y}, 1, 0x444444,
                false);
}

/* In the corner where the fewest points are. */
static void draw_legend(const figure *f, canvas *c, const frame *p)
{
    double w = 0;
    int n = 0;
    for (int k = 0; k < f->n; k++)
        if (f->curves[k].label) {
            double x = c->text_width(c, 12, f->curves[k].label);
            w = x > w ? x : w, n++;
        }
    if (!n) return;
    w += 44;
    double h = 18 * n + 8;
    int64_t count[4] = {0};
    for (int k = 0; k < f->n; k++)
        for (int64_t i = 0; i < f->curves[k].n; i++) {
            double x = at_x(f, p, f->curves[k].x[i]), y = at_y(f, p, f->curves[k].y[i]);
            for (int q = 0; q < 4; q++) {
                double lx = q & 1 ? p->x + 8 : p->x + p->w - w - 8, ly = q & 2 ? p->y + p->h - h - 8 : p->y + 8;
                count[q] += x > lx - 6 && x < lx + w + 6 && y > ly - 6 && y < ly + h + 6;
            }
        }
    int best = 0;
    for (int q = 1; q < 4; q++)
        if (count[q] < count[best]) best = q;
    double x = best & 1 ? p->x + 8 : p->x + p->w - w - 8, y = best & 2 ? p->y + p->h - h - 8 : p->y + 8;
    c->fill(c, x, y, w, h, 0xffffff, 0.85);
    c->path(c, 5, (double[]){x, y, x + w, y, x + w, y + h, x, y + h, x, y}, 0.8, 0xcccccc, false);
    int row = 0;
    for (int k = 0; k < f->n; k++) {
        const curve *u = &f->curves[k];
        if (!u->label) continue;
        double my = y + 13 + 18 * row++;
        if (u->line) c->path(c, 2, (double[]){x + 8, my, x + 30, my}, 1.8, u->color, u->dashed);
        if (u->dots) line(c, x + 19, my, x + 19, my, 5.5, u->color);
        c->text(c, x + 37, my + 4, 12, -1, false, 0x333333, u->label);
    }
}

void figure_draw(const figure *f, canvas *c, double w, double h)
{
    double at[12], wide = 0;
    char labels[12][16];
    int n = figure_ticks(f->y0, f->y1, f->log_y, at, labels);
    for (int i = 0; i < n; i++) {
        double x = c->text_width(c, 12, labels[i]);
        wide = x > wide ? x : wide;
    }
    frame p = {.x = 16 + wide + (f->ylabel ? 22 : 0), .y = f->title ? 40 : 16};
    bool bar = f->pixels && f->lo <= f->hi;
    p.w = w - p.x - (bar ? 86 : 20), p.h = h - p.y - (f->xlabel ? 52 : 32);
    if (f->pixels) { /* square pixels */
        double k = fmin(p.w / (double)f->iw, p.h / (double)f->ih);
        p.x += (p.w - k * (double)f->iw) / 2, p.y += (p.h - k * (double)f->ih) / 2;
        p.w = k * (double)f->iw, p.h = k * (double)f->ih;
    }
    c->fill(c, 0, 0, w, h, 0xffffff, 1);
    draw_axes(f, c, &p, true);
    if (f->pixels) c->image(c, p.x, p.y, p.w, p.h, f->pixels, f->iw, f->ih);
    for (int k = 0; k < f->n; k++) draw_curve(f, c, &p, &f->curves[k]);
    draw_axes(f, c, &p, false);
    if (bar) {
        uint8_t scale[64 * 3];
        for (int i = 0; i < 64; i++)
            for (int k = 0; k < 3; k++) scale[i * 3 + k] = (uint8_t)(figure_color((63 - i) / 63.0) >> (16 - 8 * k));
        double x = p.x + p.w + 14;
        c->image(c, x, p.y, 14, p.h, scale, 1, 64);
        n = figure_ticks(f->lo, f->hi, false, at, labels);
        for (int i = 0; i < n; i++) {
            double y = p.y + p.h - (at[i] - f->lo) / (f->hi - f->lo) * p.h;
            line(c, x + 14, y, x + 18, y, 1, 0x444444);
            c->text(c, x + 22, y + 4, 12, -1, false, 0x333333, labels[i]);
        }
    }
    draw_legend(f, c, &p);
    if (f->title) c->text(c, p.x + p.w / 2, p.y - 12, 16, 0, false, 0x111111, f->title);
    if (f->xlabel) c->text(c, p.x + p.w / 2, p.y + p.h + 38, 13, 0, false, 0x222222, f->xlabel);
    if (f->ylabel) c->text(c, p.x - wide - 18, p.y + p.h / 2, 13, 0, true, 0x222222, f->ylabel);
}
