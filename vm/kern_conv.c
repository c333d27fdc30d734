/* kern_conv.c: convolutions as matrix products: the windows of an image are written out as the columns of a matrix,
 * an image and group at a time, and gemm does the rest.
 *
 * y = w @ columns(x); what reaches w is c @ columns(x)', summed over images in order; what reaches x
 * is w' @ c, each column added back to where its window lay. Bits depend on values and shapes alone:
 * they are gemm's, and sums over images and windows have one order. */
#include "window.h"
#include "gemm.h"
#include "blas.h"

bool window_pair(prim_call *c, uint32_t i, int axes, int64_t least, int64_t out[2])
{
    int n;
    int64_t x[2];
    const char *name = symbol_name(c->vm->symbols, prim_info_of(c->vm, c->p)->params[i].name);
    if (!arg_wholes(c, i, 2, &n, x)) return false;
    if (n != 1 && n != axes)
        return prim_fail(c, (int)i, DIAG_SHAPE, "%s has %d numbers, and there are %d axes to slide along", name, n, axes);
    out[0] = axes == 2 ? x[0] : least, out[1] = x[n - 1];
    for (int a = 2 - axes; a < 2; a++)
        if (out[a] < least || out[a] > INT32_MAX)
            return prim_fail(c, (int)i, DIAG_VALUE, "%s must be at %s %lld, not %lld", name, out[a] < least ? "least" : "most",
                             (long long)(out[a] < least ? least : INT32_MAX), (long long)out[a]);
    return true;
}

bool window_read(prim_call *c, window *w, uint32_t stride, uint32_t padding, uint32_t dilation)
{
    w->gap[0] = w->gap[1] = 1;
    if (dilation && !window_pair(c, dilation, w->axes, 1, w->gap)) return false;
    if (c->args[stride].tag == V_NONE) w->step[0] = w->size[0], w->step[1] = w->size[1];
    else if (!window_pair(c, stride, w->axes, 1, w->step)) return false;
    if (c->args[padding].tag == V_STRING) {
        const char *s = as_string(c->args[padding])->s;
        bool same = strcmp(s, "same") == 0;
        if (!same && strcmp(s, "valid") != 0)
            return prim_fail(c, (int)padding, DIAG_VALUE, "padding must be whole numbers, \"same\" or \"valid\", not \"%s\"", s);
        for (int a = 0; a < 2; a++) {
            int64_t all = same ? w->gap[a] * (w->size[a] - 1) : 0;
            w->lo[a] = all / 2, w->hi[a] = all - all / 2;
        }
    } else {
        if (!window_pair(c, padding, w->axes, 0, w->lo)) return false;
        w->hi[0] = w->lo[0], w->hi[1] = w->lo[1];
    }
    for (int a = 0; a < 2; a++) {
        int64_t reach = w->gap[a] * (w->size[a] - 1) + 1, room = w->in[a] + w->lo[a] + w->hi[a];
        if (w->size[a] < 1) return prim_fail(c, 1, DIAG_SHAPE, "size must be at least 1; a window has elements");
        if (reach > room)
            return prim_fail(c, 1, DIAG_SHAPE,
                             "a window (size and dilation) that spans %lld elements does not fit into the %lld of x (padding included)",
                             (long long)reach, (long long)room);
        w->out[a] = (room - reach) / w->step[a] + 1;
    }
    return true;
}

/* All sizes of a convolution. co: channels of one group going in; oo: of one group going out. */
typedef struct conv {
    window w;
    int64_t n, c, o, groups, co, oo;
} conv;

static bool channels_fail(prim_call *c, const shaped *x, const shaped *w, int64_t groups)
{
    text t;
    text_open(&t, &c->vm->mem);
    text_puts(&t, "x: ");
    shape_print(x->rank, x->shape, &t);
    text_puts(&t, " has its channels along axis 1, and w: ");
    shape_print(w->rank, w->shape, &t);
    text_printf(&t, " fits x of %lld channels in %lld group%s", (long long)(w->shape[1] * groups), (long long)groups,
                groups == 1 ? "" : "s");
    if (groups > 1) text_puts(&t, "; axis 0 of w must be a multiple of groups");
    prim_fail(c, 1, DIAG_SHAPE, "%s", text_str(&t));
    text_close(&t);
    return false;
}

static bool conv_read(prim_call *c, const shaped *x, const shaped *w, int rank, uint32_t first, conv *v)
{
    *v = (conv){.w = {.axes = x->rank - 2}};
    if ((rank && x->rank != rank) || x->rank < 3 || x->rank > 4 || w->rank != x->rank) {
        int want = rank ? rank : 4;
        bool of_x = x->rank != want;
        static const char *const wanted[2][2] = {{"[out, channels, length]", "[out, channels, height, width]"},
                                                 {"[n, channels, length]", "[n, channels, height, width]"}};
        return arg_misshapen(c, of_x ? 0 : 1, of_x ? x : w, wanted[of_x][want == 4]);
    }
    if (!arg_int(c, first + 3, &v->groups)) return false;
    if (v->groups < 1) return prim_fail(c, (int)first + 3, DIAG_VALUE, "groups must be at least 1, not %lld", (long long)v->groups);
    v->n = x->shape[0], v->c = x->shape[1], v->o = w->shape[0], v->co = w->shape[1];
    if (v->co * v->groups != v->c || v->o % v->groups) return channels_fail(c, x, w, v->groups);
    v->oo = v->o / v->groups;
    for (int a = 0; a < 2; a++) {
        int at = x->rank - 2 + a;
        bool own = v->w.axes == 2 || a == 1;
        v->w.in[a] = own ? x->shape[at] : 1, v->w.size[a] = own ? w->shape[at] : 1;
    }
    return window_read(c, &v->w, first, first + 1, first + 2);
}

/* columns: [co * size, places] of the channels x: [co, in], or (back) adds them to x. */
#define COLUMNS(T) \
    static void columns_##T(const conv *v, T *x, T *columns, bool back) \
    { \
        const window *w = &v->w; \
        int64_t places = w->out[0] * w->out[1]; \
        for (int64_t ch = 0; ch < v->co; ch++, x += w->in[0] * w->in[1]) \
            for (int64_t ki = 0; ki < w->size[0]; ki++) \
                for (int64_t kj = 0; kj < w->size[1]; kj++, columns += places) \
                    for (int64_t i = 0; i < w->out[0]; i++) { \
                        int64_t r = i * w->step[0] - w->lo[0] + ki * w->gap[0], q = kj * w->gap[1] - w->lo[1]; \
                        T *to = columns + i * w->out[1], *from = x + r * w->in[1]; \
                        bool inside = r >= 0 && r < w->in[0]; \
                        for (int64_t j = 0; j < w->out[1]; j++, q += w->step[1]) { \
                            bool in = inside && q >= 0 && q < w->in[1]; \
                            if (!back) to[j] = in ? from[q] : 0; \
                            else if (in) from[q] += to[j]; \
                        } \
                    } \
    }
COLUMNS(float)
COLUMNS(double)

typedef enum conv_face { CONV_Y, CONV_X, CONV_W } conv_face;

static void conv_image(const volatile int *stop, const conv *v, dtype d, conv_face face, int64_t i, int64_t k, char *x, char *w, char *y,
                       char *columns, gemm_path path)
{
    int64_t inside = v->co * v->w.size[0] * v->w.size[1], places = v->w.out[0] * v->w.out[1], in = v->w.in[0] * v->w.in[1],
            e = dtype_size[d];
    x += (i * v->c + k * v->co) * in * e, y += (i * v->o + k * v->oo) * places * e, w += k * v->oo * inside * e;
    matrix cols = {columns, places, 1}, my = {y, places, 1}, mw = {w, inside, 1};
    if (face != CONV_X) {
        if (d == DTYPE_F32) columns_float(v, (void *)x, (void *)columns, false);
        else columns_double(v, (void *)x, (void *)columns, false);
    }
    if (face == CONV_Y) gemm_until(stop, d, v->oo, places, inside, mw, cols, my, false, 1, path);
    else if (face == CONV_W) gemm_until(stop, d, v->oo, inside, places, my, (matrix){columns, 1, places}, mw, true, 1, path);
    else {
        gemm_until(stop, d, inside, places, v->oo, (matrix){w, 1, inside}, my, cols, false, 1, path);
        if (d == DTYPE_F32) columns_float(v, (void *)x, (void *)columns, true);
        else columns_double(v, (void *)x, (void *)columns, true);
    }
}

static bool conv_run(prim_call *c, const conv *v, dtype d, conv_face face, void *x, void *w, void *y)
{
    int64_t inside = v->co * v->w.size[0] * v->w.size[1], places = v->w.out[0] * v->w.out[1],
            jobs = face == CONV_W ? v->groups : v->n * v->groups;
    double work = (double)v->n * (double)v->o * (double)inside * (double)places;
    int threads = work > 1 << 18 ? threads_for(c->vm, 1 << 24) : 1;
    if (threads > jobs) threads = jobs > 0 ? (int)jobs : 1;
    bool large = face == CONV_Y   ? gemm_is_large(v->oo, places, inside)
                 : face == CONV_W ? gemm_is_large(v->oo, inside, places)
                                  : gemm_is_large(inside, places, v->oo);
    gemm_path path = large && !blas_reserve(c->vm, threads) ? GEMM_SMALL : GEMM_AUTO;
    size_t each = ((size_t)(inside * places) * dtype_size[d] + 127) / 64 * 64;
    char *columns = memory_array_alloc(&c->vm->mem, each * (size_t)threads);
    if (!columns) return vm_out_of_memory(c->vm);
    const volatile int *stop = &c->vm->interrupt;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t j = 0; j < jobs; j++) {
        if (STOPPED(stop)) continue;
        char *own = columns + each * (size_t)omp_get_thread_num();
        if (face != CONV_W) conv_image(stop, v, d, face, j / v->groups, j % v->groups, x, w, y, own, path);
        else /* sums over images: in their order */
            for (int64_t i = 0; i < v->n && !STOPPED(stop); i++) conv_image(stop, v, d, face, i, j, x, w, y, own, path);
    }
    memory_array_free(&c->vm->mem, columns, each * (size_t)threads);
    return !vm_interrupted(c->vm);
}

static dtype float_dtype(prim_call *c, const shaped *a, const shaped *b)
{
    weakness weak;
    dtype d = dtype_promote(c->vm, a, b, &weak);
    return d >= DTYPE_F32 ? d : c->vm->config.float_dtype;
}

static bool conv_forward(prim_call *c, int rank)
{
    shaped x, w;
    conv v;
    result r;
    array *own[2] = {NULL, NULL};
    if (!arg_shaped(c, 0, &x) || !arg_shaped(c, 1, &w) || !conv_read(c, &x, &w, rank, 2, &v)) return false;
    dtype d = float_dtype(c, &x, &w);
    int64_t shape[4] = {v.n, v.o, v.w.out[0], v.w.out[1]};
    if (v.w.axes == 1) shape[2] = shape[3];
    if (!result_open(c, &r, d, x.rank, shape)) return false;
    bool ok = arg_dense(c, 0, d, &x, &own[0]) && arg_dense(c, 1, d, &w, &own[1]) && conv_run(c, &v, d, CONV_Y, x.data, w.data, r.data);
    release_array(c->vm, own[0]), release_array(c->vm, own[1]);
    return ok ? result_give(c, &r) : result_drop(c, &r);
}
bool kern_conv1d(prim_call *c) { return conv_forward(c, 3); }
bool kern_conv2d(prim_call *c) { return conv_forward(c, 4); }
bool kern_conv(prim_call *c) { return conv_forward(c, 0); }

/* (c, other, form): what reaches x or w. */
static bool conv_transpose(prim_call *c, conv_face face)
{
    shaped g, other, f;
    conv v;
    result r;
    array *own[2] = {NULL, NULL};
    if (!arg_shaped(c, 0, &g) || !arg_shaped(c, 1, &other) || !arg_form(c, 2, &f)) return false;
    if (!conv_read(c, face == CONV_X ? &f : &other, face == CONV_X ? &other : &f, 0, 3, &v)) return false;
    if (g.size != v.n * v.o * v.w.out[0] * v.w.out[1])
        return prim_fail(c, 0, DIAG_INTERNAL, "the cotangent of a convolution has another size");
    dtype d = float_dtype(c, &g, &other);
    if (!result_open(c, &r, d, f.rank, f.shape)) return false;
    memset(r.data, 0, (size_t)r.size * dtype_size[d]);
    bool ok = arg_dense(c, 0, d, &g, &own[0]) && arg_dense(c, 1, d, &other, &own[1]) &&
              conv_run(c, &v, d, face, face == CONV_X ? r.data : other.data, face == CONV_X ? other.data : r.data, g.data);
    release_array(c->vm, own[0]), release_array(c->vm, own[1]);
    return ok ? result_give(c, &r) : result_drop(c, &r);
}
bool kern_conv_x(prim_call *c) { return conv_transpose(c, CONV_X); }
bool kern_conv_w(prim_call *c) { return conv_transpose(c, CONV_W); }
