/* adjoint_view.c: `replay adjoint FILE FUNCTION`: a function, its forward program and its adjoint
 * program, as listings one after the other. */
#include "command.h"

static void list(code *c, const char *title, text *t)
{
    text_printf(t, "# %s\n", title);
    code_list(c, (dis_options){.lines = true, .marks = true}, t);
    text_putc(t, '\n');
}

int command_adjoint(host *h, const char *path, const char *name)
{
    int status;
    code *script = command_compile_file(h, path, false, &status);
    if (!script) return status;
    code *c = command_find(h, script, name), *fwd = NULL;
    if (!c) status = 2;
    /* By everything: what it captured and every parameter. */
    else if (!(fwd = code_derive(c, DERIVE_FWD, ~(uint64_t)0))) {
        host_show_error(h);
        status = 1;
    } else {
        text t;
        text_open(&t, &h->vm->mem);
        list(c, "the function", &t);
        list(fwd, "its forward program", &t);
        for (uint32_t i = 0; i < fwd->ncodes; i++)
            if (fwd->codes[i]->role == CODE_REV) list(fwd->codes[i], "its adjoint program", &t);
        if (!command_print(&t)) status = 1;
        text_close(&t);
    }
    code_release(script);
    return status;
}
