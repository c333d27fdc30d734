/* kern_plot.c: plot, hist, imshow and save_plot. The VM keeps what the last picture was made of; on a terminal
 * it is shown in blocks at once. Nothing is drawn while the VM is muted. */
#include "figure.h"
#include "io.h"
#include "kern.h"
#include "kern_util.h"
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool show(prim_call *c, const figure *f)
{
    struct winsize s;
    if (c->vm->config.write || !isatty(STDOUT_FILENO)) return true;
    int columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &s) == 0 && s.ws_col > 0 ? s.ws_col : 80;
    text t;
    text_open(&t, &c->vm->mem);
    figure_text(f, columns < 100 ? columns : 100, 20, !getenv("NO_COLOR"), &t);
    bool ok = t.failed ? vm_out_of_memory(c->vm) : vm_write(c->vm, text_str(&t), t.n);
    text_close(&t);
    return ok;
}

static bool picture(prim_call *c, int64_t kind)
{
    vm *m = c->vm;
    figure *f = memory_alloc(&m->mem, MEM_OTHER, sizeof *f);
    if (!f) return vm_out_of_memory(m);
    tuple *t = tuple_new(m, c->n + 1, c->n + 1);
    bool ok = t != NULL;
    if (ok) {
        t->v[0] = value_i64(kind);
        for (uint32_t i = 0; i < c->n; i++) t->v[i + 1] = value_retain(c->args[i]);
        ok = figure_read(c, value_object(&t->h), f);
        if (ok && !m->mute) {
            ok = show(c, f);
            value_release(m, m->figure);
            m->figure = value_retain(value_object(&t->h));
        }
        figure_close(f);
        value_release(m, value_object(&t->h));
    }
    memory_free(&m->mem, MEM_OTHER, f, sizeof *f);
    c->out = value_none();
    return ok;
}
bool kern_plot(prim_call *c) { return picture(c, 0); }
bool kern_hist(prim_call *c) { return picture(c, 1); }
bool kern_imshow(prim_call *c) { return picture(c, 2); }

bool kern_save_plot(prim_call *c)
{
    vm *m = c->vm;
    const string *path;
    int64_t w, h;
    c->out = value_none();
    if (!arg_string(c, 0, &path) || !arg_int(c, 1, &w) || !arg_int(c, 2, &h)) return false;
    if (w < 100 || h < 100 || w > 8000 || h > 8000)
        return prim_fail(c, w < 100 || w > 8000 ? 1 : 2, DIAG_VALUE, "a picture is 100 to 8,000 wide and high");
    const char *dot = strrchr(path->s, '.');
    bool svg = dot && !strcasecmp(dot, ".svg"), png = dot && !strcasecmp(dot, ".png"), txt = dot && !strcasecmp(dot, ".txt");
    if (!svg && !png && !txt) return prim_fail(c, 0, DIAG_FILE, "%s: the suffix says the format, and is none of .svg, .png, .txt", path->s);
    if (m->mute) return true;
    if (m->figure.tag != V_TUPLE) return prim_fail(c, -1, DIAG_VALUE, "there is no picture yet: plot, hist or imshow makes one");
    figure *f = memory_alloc(&m->mem, MEM_OTHER, sizeof *f);
    if (!f) return vm_out_of_memory(m);
    prim_call made = *c; /* figure_read looks at the arguments the picture was made with */
    made.args = as_tuple(m->figure)->v + 1, made.n = as_tuple(m->figure)->n - 1;
    text t;
    text_open(&t, &m->mem);
    bool ok = figure_read(&made, m->figure, f);
    if (ok) {
        if (svg) figure_svg(f, (double)w, (double)h, &t);
        else if (png) figure_png(m, f, (int)w, (int)h, &t);
        else figure_text(f, 80, 20, false, &t);
        if (t.failed) ok = vm_out_of_memory(m);
    }
    figure_close(f);
    io_out *out = ok ? memory_alloc(&m->mem, MEM_OTHER, sizeof *out) : NULL;
    if (ok && !out) ok = vm_out_of_memory(m);
    if (ok && (ok = io_create(out, c, path->s))) {
        io_put(out, text_str(&t), t.n);
        ok = io_finish(out);
    }
    if (out) memory_free(&m->mem, MEM_OTHER, out, sizeof *out);
    text_close(&t);
    memory_free(&m->mem, MEM_OTHER, f, sizeof *f);
    return ok;
}
