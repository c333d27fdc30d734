/* spec.c: `replay spec`: the sections of SPEC.md that are made of the tables, in Markdown: options of the command, builtins
 * from vm/prim.def and the preloaded modules, the other modules, opcodes from vm/op.def. SPEC.md holds this text between
 * two markers, and a test compares. */
#include "command.h"
#include "modules.h"
#include "options.h"
#include "../vm/help.h"
#include <string.h>

const option_row option_rows[OPTION_COUNT] = {
#define ROW(id, name, value, help) {name, value, help},
    OPTIONS(ROW)
#undef ROW
};

static void put_options(text *t)
{
    text_puts(t, "## Options of the command\n\n| option | |\n|---|---|\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_row *r = &option_rows[i];
        text_printf(t, "| `%s%s", r->name, *r->value ? " " : "");
        for (const char *s = r->value; *s; s++) text_printf(t, *s == '|' ? "\\%c" : "%c", *s); /* a bar ends a cell */
        text_printf(t, "` | %s |\n", r->help);
    }
    text_putc(t, '\n');
}

static void put_rows(uint32_t from, uint32_t to, const char *title, text *t)
{
    bool any = false;
    for (uint32_t i = from; i < to; i++) {
        if (prims[i].attrs & A_INTERNAL) continue;
        if (!any) text_printf(t, "### %s\n\n", title);
        any = true;
        help_prim(&prims[i], HELP_MARKDOWN, t);
        text_putc(t, '\n');
    }
}

/* A top-level function of a module: its signature, up to the parenthesis that closes it, and the comment above. */
static void put_function(vm *m, const char *module, const char *fn, text *t)
{
    const char *s = fn + 3, *open = strchr(s, '('), *from = fn;
    text doc;
    text_open(&doc, &m->mem);
    text_printf(t, "**`%.*s`** ", (int)(open - s + (ptrdiff_t)help_head(open, strlen(open))), s);
    for (;;) {
        const char *line = from - 1;
        while (line > module && line[-1] != '\n') line--;
        if (line >= from || line < module || *line != '#') break;
        from = line;
    }
    for (; from < fn; from = strchr(from, '\n') + 1)
        text_printf(&doc, "%.*s\n", (int)(strcspn(from, "\n") - 1 - (from[1] == ' ')), from + 1 + (from[1] == ' '));
    help_written(text_str(&doc), HELP_MARKDOWN, t);
    text_putc(t, '\n');
    text_close(&doc);
}

static void put_module(vm *m, const struct stdlib_module *module, text *t)
{
    for (const char *s = module->text; s && *s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL)
        if (!strncmp(s, "fn ", 3) && strncmp(s, "fn _", 4)) put_function(m, module->text, s, t);
}

static void put_builtins(host *h, text *t)
{
    text_puts(t, "## Builtins\n\n");
    uint32_t at = 0;
    for (uint32_t g = 0; g < help_group_count; g++) {
        put_rows(at, at + help_groups[g].rows, help_groups[g].title, t);
        at += help_groups[g].rows;
    }
    for (const struct stdlib_module *m = stdlib_modules; m->name; m++) {
        if (!host_preloads(m->name)) continue;
        text_puts(t, !strcmp(m->name, "derive") ? "### Derivatives\n\n" : "### Functions of functions\n\n");
        put_module(h->vm, m, t);
    }
}

static void put_modules(host *h, text *t)
{
    text_puts(t, "## The modules that come with Replay\n\nEach is imported by name, as in `import \"nn\" as nn`, and written in "
                 "Replay: `grad` and its kin go\nthrough the bodies of its functions as through those of yours.\n\n");
    for (const struct stdlib_module *m = stdlib_modules; m->name; m++) {
        if (host_preloads(m->name)) continue;
        text_printf(t, "### %s\n\n", m->name);
        put_module(h->vm, m, t);
    }
}

static void put_count(int n, text *t)
{
    if (n < 0) text_puts(t, "n");
    else text_printf(t, "%d", n);
}

static void put_opcodes(text *t)
{
    static const char *const imm[] = {
        [IMM_NONE] = "",
        [IMM_CONST] = "a constant",
        [IMM_PRIM] = "a primitive",
        [IMM_SYMBOL] = "a name",
        [IMM_CODE] = "a Code",
        [IMM_NAMES] = "names",
        [IMM_CONTRACT] = "contracts",
        [IMM_CALL] = "`spread` `pack` `lenient` `pullback`",
        [IMM_DERIVE] = "`fwd` or `jvp`",
        [IMM_LOOP] = "`range` `while` `tape`, `exit`",
        [IMM_OPTIONS] = "a block's options",
        [IMM_COUNT] = "a count",
        [IMM_FUSED] = "a fused program",
    };
    text_puts(t, "## Opcodes\n\n| opcode | results | sources | blocks | immediate | | |\n|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < OPCODES; i++) {
        const op_row *r = &op_rows[i];
        text_printf(t, "| `%s` | ", r->name);
        put_count(r->results, t);
        text_puts(t, " | ");
        put_count(r->sources, t);
        text_printf(t, " | %d | %s | %s | %s |\n", r->blocks, imm[r->imm],
                    r->flags & F_PURE   ? "pure"
                    : r->flags & F_END  ? "end"
                    : r->flags & F_CALL ? "call"
                                        : "",
                    r->synopsis);
    }
}

int command_spec(host *h)
{
    text t;
    text_open(&t, &h->vm->mem);
    put_options(&t);
    put_builtins(h, &t);
    put_modules(h, &t);
    put_opcodes(&t);
    int status = command_print(&t) ? 0 : 1;
    text_close(&t);
    return status;
}
