/* host.c: the language around a VM: compiling scripts, modules and rules, and showing diagnostics.
 *
 * The VM asks for text to be compiled through the callbacks of vm_config; nothing in vm/ includes
 * anything of lang/. Modules are compiled once per host, under a key that names them: a stdlib module's
 * name, or a file's real path. */
#include "host.h"
#include "modules.h"
#include "../vm/print.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- showing ---------------------------------------------------------------------------------- */

void host_show(host *h, diag *d)
{
    for (diag *p = d; p; p = p->next) {
        text t;
        text_open(&t, d->m);
        diag_render(p, h->colour, &t);
        if (h->show) h->show(h->user, p, t.failed || !t.n ? p->message : text_str(&t));
        else if (t.failed || !t.n) fprintf(stderr, "replay: %s\n", p->message);
        else fwrite(t.s, 1, t.n, stderr);
        text_close(&t);
    }
    diag_free(d);
}

void host_show_error(host *h)
{
    diag *d = h->vm->error;
    h->vm->error = NULL;
    if (d) host_show(h, d);
}

static void report(void *ctx, diag *d) { host_show(ctx, d); }

/* --- compiling -------------------------------------------------------------------------------- */

/* Moves the first error of a list into vm->error and frees the others. */
static void raise_first(vm *m, diag *list)
{
    diag **p = &list;
    while (*p && (*p)->severity != SEVERITY_ERROR) p = &(*p)->next;
    diag *d = *p;
    if (d) {
        *p = d->next;
        d->next = NULL;
        if (m->error) diag_free(d);
        else m->error = d;
    }
    diag_free(list);
}

static void append(diag **list, diag *more)
{
    while (*list) list = &(*list)->next;
    *list = more;
}

code *host_compile(host *h, source *src, const compile_options *o, diag **diags, bool *needs_more)
{
    vm *m = h->vm;
    ast t;
    code *out = NULL;
    *diags = NULL;
    parse_options po = {.internal = o->internal, .repl = o->repl};
    bool more = false, fine = parse(&m->mem, m->symbols, src, &po, &t, diags, &more);
    if (needs_more) *needs_more = more;
    if (!fine && !*diags && !more) vm_out_of_memory(m);
    if (fine && !more) {
        check_options co = {.builtins = h->builtins,
                            .internal = o->internal,
                            .notes = o->notes,
                            .vars = o->vars,
                            .nvars = o->nvars,
                            .fns = o->fns,
                            .nfns = o->nfns};
        checked c;
        diag *found;
        fine = check(&t, &co, &c, &found);
        if (!fine && !found) vm_out_of_memory(m);
        append(diags, found);
        if (fine && o->inspect) o->inspect(o->ctx, &t);
        emit_options eo = {.builtins = h->builtins, .module = o->module ? o->module : "", .result = o->result, .placement = &h->placement};
        if (fine) out = emit(m, &t, &c, &eo);
    }
    ast_close(&t);
    return out;
}

/* vm_config.compile */
static code *compile_rule(void *ctx, vm *m, const char *name, const char *s)
{
    host *h = ctx;
    source *src = source_new(&m->mem, name, s, strlen(s));
    if (!src) {
        vm_out_of_memory(m);
        return NULL;
    }
    diag *diags;
    compile_options o = {.internal = true, .module = "", .result = EMIT_FUNCTION};
    code *c = host_compile(h, src, &o, &diags, NULL);
    source_release(src);
    if (c) diag_free(diags);
    else raise_first(m, diags);
    return c;
}

/* --- files and modules ------------------------------------------------------------------------ */

char *host_read(host *h, const char *path, size_t *length)
{
    vm *m = h->vm;
    struct stat st;
    FILE *f = stat(path, &st) ? NULL : S_ISDIR(st.st_mode) ? (errno = EISDIR, NULL) : fopen(path, "rb");
    if (!f) {
        vm_fail(m, DIAG_FILE, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    size_t n = 0, cap = 0;
    char *s = NULL;
    for (;;) {
        if (n == cap) {
            size_t more = cap ? cap * 2 : 65536;
            char *p = m->mem.limit - m->mem.live_all < more ? NULL : realloc(s, more); /* not counted, but within the limit */
            if (!p) {
                m->mem.refused = more;
                vm_out_of_memory(m);
                break;
            }
            s = p;
            cap = more;
        }
        size_t k = fread(s + n, 1, cap - n, f);
        n += k;
        if (k == 0) {
            if (ferror(f)) vm_fail(m, DIAG_FILE, "cannot read %s: %s", path, strerror(errno));
            break;
        }
        if (n >= UINT32_MAX / 2) {
            vm_fail(m, DIAG_FILE, "cannot read %s: it is larger than 2 GiB", path);
            break;
        }
    }
    fclose(f);
    if (m->error) {
        free(s);
        return NULL;
    }
    *length = n;
    return s;
}

static code *module_compiled(host *h, symbol key)
{
    for (host_module *p = h->modules; p; p = p->next)
        if (p->key == key) return code_retain(p->code);
    return NULL;
}

static code *compile_module(host *h, const char *name, const char *prefix, const char *s, size_t n, bool internal, symbol key)
{
    vm *m = h->vm;
    source *src = source_new(&m->mem, name, s, n);
    host_module *entry = memory_alloc(&m->mem, MEM_OTHER, sizeof *entry);
    if (!src || !entry) {
        vm_out_of_memory(m);
        if (src) source_release(src);
        memory_free(&m->mem, MEM_OTHER, entry, sizeof *entry);
        return NULL;
    }
    diag *diags;
    compile_options o = {.internal = internal, .module = prefix, .result = EMIT_RECORD};
    code *c = host_compile(h, src, &o, &diags, NULL);
    source_release(src);
    if (!c) {
        raise_first(m, diags);
        memory_free(&m->mem, MEM_OTHER, entry, sizeof *entry);
        return NULL;
    }
    host_show(h, diags);
    *entry = (host_module){key, code_retain(c), h->modules};
    h->modules = entry;
    return c;
}

static void suggest_module(vm *m, const char *path)
{
    const char *names[256];
    size_t n = 0;
    for (const struct stdlib_module *p = stdlib_modules; p->name && n < 256; p++) names[n++] = p->name;
    const char *near = nearest_name(path, names, n);
    if (near) vm_help(m, "did you mean \"%s\"?", near);
    else vm_help(m, "a file beside this one is imported as \"./%s.rl\"", path);
}

/* A path beside the importing file; in the folder the program was started in when the importer is no
   file. */
static char *beside(const source *importer, const char *path)
{
    const char *slash = importer && path[0] != '/' ? strrchr(importer->name, '/') : NULL;
    size_t n = slash ? (size_t)(slash - importer->name) + 1 : 0, k = strlen(path);
    char *s = malloc(n + k + 1);
    if (!s) return NULL;
    if (n) memcpy(s, importer->name, n);
    if (n && !strncmp(path, "./", 2)) path += 2, k -= 2;
    memcpy(s + n, path, k + 1);
    return s;
}

/* vm_config.load_module */
static code *load_module(void *ctx, vm *m, const char *path, const source *importer, symbol *key)
{
    host *h = ctx;
    bool file = path[0] == '.' || path[0] == '/' || (strlen(path) > 3 && !strcmp(path + strlen(path) - 3, ".rl"));
    code *c = NULL;
    if (h->find) {
        size_t n = 0;
        char *s = h->find(h->user, path, importer ? importer->name : "", &n);
        if (m->error) free(s), s = NULL;
        if (m->error) return NULL;
        if (s) {
            *key = symbol_of(m->symbols, path, strlen(path));
            if (!*key) vm_out_of_memory(m);
            else if (!(c = module_compiled(h, *key))) c = compile_module(h, path, path, s, n, false, *key);
            free(s);
            return c;
        }
    }
    if (!file) {
        for (const struct stdlib_module *p = stdlib_modules; p->name; p++) {
            if (strcmp(p->name, path)) continue;
            *key = symbol_of(m->symbols, path, strlen(path));
            if ((c = module_compiled(h, *key))) return c;
            char name[256];
            snprintf(name, sizeof name, "<stdlib>/%s.rl", path);
            return compile_module(h, name, path, p->text, p->length, true, *key);
        }
        vm_fail(m, DIAG_IMPORT, "there is no module \"%s\"", path);
        suggest_module(m, path);
        return NULL;
    }
    if (m->config.no_files) {
        vm_fail(m, DIAG_IMPORT, "cannot import %s: the program may not read files", path);
        return NULL;
    }
    char *name = beside(importer, path), *real = name ? realpath(name, NULL) : NULL;
    if (!name) vm_out_of_memory(m);
    else if (!real) vm_fail(m, DIAG_IMPORT, "cannot import %s: %s", name, strerror(errno));
    else {
        *key = symbol_of(m->symbols, real, strlen(real));
        if (!*key) vm_out_of_memory(m);
        else if (!(c = module_compiled(h, *key))) {
            size_t n = 0;
            char *s = host_read(h, name, &n);
            if (s) c = compile_module(h, name, real, s, n, false, *key);
            free(s);
        }
    }
    free(name);
    free(real);
    return c;
}

/* --- preloaded modules ------------------------------------------------------------------------ */

static const char *const preloaded[] = {"prelude", "derive"};
enum { PRELOADED = sizeof preloaded / sizeof *preloaded };

bool host_preloads(const char *module)
{
    for (int i = 0; i < PRELOADED; i++)
        if (!strcmp(module, preloaded[i])) return true;
    return false;
}

typedef struct describing {
    host *h;
    const char *module;
} describing;

/* Remembers the signatures of a preloaded module's functions. */
static void describe(void *ctx, const ast *t)
{
    describing *d = ctx;
    vm *m = d->h->vm;
    for (const node *n = t->main->body->list; n; n = n->next) {
        if (n->kind != N_FN || !n->fn->top) continue;
        prim_param params[32];
        uint32_t k = 0;
        for (const param *p = n->fn->params; p && k < 32; p = p->next)
            params[k++] = (prim_param){.name = p->name, .optional = p->deflt != NULL, .rest = p->rest};
        if (k < n->fn->nparams) continue;
        char name[256];
        int length = snprintf(name, sizeof name, "%s:%s", d->module, symbol_name(m->symbols, n->fn->name));
        builtin_describe(d->h->builtins, symbol_of(m->symbols, name, (size_t)length), params, k);
    }
}

static bool preload(host *h, const char *module, const char *s, size_t n)
{
    vm *m = h->vm;
    char name[256];
    snprintf(name, sizeof name, "<stdlib>/%s.rl", module);
    source *src = source_new(&m->mem, name, s, n);
    if (!src) return vm_out_of_memory(m);
    diag *diags;
    describing d = {h, module};
    compile_options o = {.internal = true, .module = module, .result = EMIT_NONE, .inspect = describe, .ctx = &d};
    code *c = host_compile(h, src, &o, &diags, NULL);
    source_release(src);
    if (!c) {
        raise_first(m, diags);
        return false;
    }
    host_show(h, diags);
    value out;
    bool fine = vm_run(m, c, &out);
    if (fine) value_release(m, out);
    code_release(c);
    return fine;
}

static bool preload_all(host *h)
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < PRELOADED; i++)
            for (const struct stdlib_module *p = stdlib_modules; p->name; p++) {
                if (strcmp(p->name, preloaded[i])) continue;
                if (pass == 0 && !builtins_scan(h->builtins, p->name, p->text, p->length)) return false;
                if (pass == 1 && !preload(h, p->name, p->text, p->length)) return false;
            }
    return true;
}

bool host_extend(host *h, const char *module, const char *s, size_t n)
{
    uint32_t before = builtins_count(h->builtins);
    if (builtins_scan(h->builtins, module, s, n) && preload(h, module, s, n)) return true;
    builtins_cut(h->builtins, before);
    return false;
}

/* --- the host itself -------------------------------------------------------------------------- */

/* vm_config.write and vm_config.host */
static bool write_out(void *ctx, const char *s, size_t n) { return ((host *)ctx)->write(((host *)ctx)->user, s, n); }
static bool call_out(void *ctx, vm *m, int64_t id, const value *args, uint32_t n, value *out)
{
    (void)m;
    return ((host *)ctx)->call(((host *)ctx)->user, id, args, n, out);
}

bool host_open(host *h, const vm_config *config)
{
    h->vm = NULL;
    h->builtins = NULL;
    h->modules = NULL;
    vm_config c = config ? *config : vm_config_default();
    c.ctx = h;
    if (h->write) c.write = write_out;
    if (h->call) c.host = call_out;
    c.compile = compile_rule;
    c.load_module = load_module;
    if (!c.report) c.report = report;
    h->vm = vm_open(&c);
    if (!h->vm) return false;
    h->builtins = builtins_open(h->vm);
    if (h->builtins && preload_all(h)) return true;
    host_show_error(h);
    host_close(h);
    return false;
}

void host_close(host *h)
{
    vm *m = h->vm;
    if (!m) return;
    for (host_module *p = h->modules, *next; p; p = next) {
        next = p->next;
        code_release(p->code);
        memory_free(&m->mem, MEM_OTHER, p, sizeof *p);
    }
    builtins_close(h->builtins);
    vm_close(m);
    h->vm = NULL;
    h->builtins = NULL;
    h->modules = NULL;
}
