/* api.c: the library's door (replay.h): VMs, programs, derivatives and functions of the host.
 *
 * Every public function begins by forgetting the last error (api_begin) and ends either with a result or
 * with api_failed, which moves the VM's error to where replay_error finds it. While a program runs, a
 * function of the host that it calls may use only what makes and looks at values; then errors stay in the
 * VM, for the program. */
#include "api.h"
#include "../vm/kern_util.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- errors ----------------------------------------------------------------------------------- */

void api_describe(const diag *d, const char *rendered, replay_diagnostic *out)
{
    *out = (replay_diagnostic){.severity = d->severity == SEVERITY_ERROR     ? REPLAY_ERROR
                                           : d->severity == SEVERITY_WARNING ? REPLAY_WARNING
                                                                             : REPLAY_INFO,
                               .code = diag_code_name(d->code),
                               .message = d->message,
                               .file = "",
                               .rendered = rendered};
    if (!d->nlabels || !d->labels[0].at.src) return;
    out->file = d->labels[0].at.src->name;
    span_where(d->labels[0].at, &out->line, &out->column);
}

static void forget(replay *r)
{
    diag_free(r->error);
    r->error = NULL;
    r->failed = false;
    text_clear(&r->rendered);
}

void api_begin(replay *r)
{
    if (!r->running) forget(r);
    else { /* a function of the host: what an earlier attempt of it met with is over */ diag_free(vm_of(r)->error);
        vm_of(r)->error = NULL;
    }
}

bool api_failed(replay *r)
{
    if (r->running) return false;
    vm *m = vm_of(r);
    if (r->error) diag_free(m->error);
    else r->error = m->error;
    m->error = NULL;
    r->failed = true;
    if (r->error) {
        diag_render(r->error, false, &r->rendered);
        const char *s = r->rendered.failed ? r->error->message : text_str(&r->rendered);
        api_describe(r->error, s, &r->shown);
    } else /* not even memory to say so */
        r->shown = (replay_diagnostic){.severity = REPLAY_ERROR,
                                       .code = "memory",
                                       .message = "out of memory",
                                       .file = "",
                                       .rendered = "error[memory]: out of memory\n"};
    return false;
}

bool api_fail(replay *r, diag_code kind, const char *fmt, ...)
{
    char s[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s, sizeof s, fmt, ap);
    va_end(ap);
    vm_fail(vm_of(r), kind, "%s", s);
    return api_failed(r);
}

const replay_diagnostic *replay_error(const replay *r) { return r->failed ? &r->shown : NULL; }

replay_value *replay_fail(replay *r, const char *format, ...)
{
    char s[600];
    va_list ap;
    va_start(ap, format);
    vsnprintf(s, sizeof s, format, ap);
    va_end(ap);
    api_begin(r);
    vm_fail(vm_of(r), DIAG_USER, "%s", s);
    api_failed(r);
    return NULL;
}

/* --- callbacks -------------------------------------------------------------------------------- */

static bool on_output(void *user, const char *s, size_t n)
{
    replay *r = user;
    return r->config.output(r->config.user, s, n);
}

static void on_show(void *user, const diag *d, const char *rendered)
{
    replay *r = user;
    replay_diagnostic out;
    api_describe(d, rendered, &out);
    r->config.diagnostic(r->config.user, &out);
}

static char *on_module(void *user, const char *path, const char *importer, size_t *length)
{
    replay *r = user;
    return r->config.module(r->config.user, path, importer, length);
}

static bool on_call(void *user, int64_t id, const value *args, uint32_t n, value *out)
{
    replay *r = user;
    vm *m = vm_of(r);
    if (id < 0 || id >= r->nfunctions) return vm_fail(m, DIAG_INTERNAL, "the host has no function %lld", (long long)id);
    replay_value **handles = memory_alloc(&m->mem, MEM_OTHER, n * sizeof *handles);
    if (!handles) return vm_out_of_memory(m);
    uint32_t made = 0;
    while (made < n && (handles[made] = api_handle(r, value_retain(args[made])))) made++;
    host_function f = r->functions[id];
    replay_value *given = made == n ? f.call(r, handles, n, f.user) : NULL;
    for (uint32_t i = 0; i < made; i++) replay_release(handles[i]);
    memory_free(&m->mem, MEM_OTHER, handles, n * sizeof *handles);
    if (!given) return false; /* the kernel sees to it that there is an error */
    if (m->error) {           /* of an attempt that the function got over */
        diag_free(m->error);
        m->error = NULL;
    }
    *out = value_retain(given->v);
    replay_release(given);
    return true;
}

/* --- opening ---------------------------------------------------------------------------------- */

const char *replay_version(void) { return REPLAY_VERSION; }

replay *replay_open(const replay_config *config)
{
    replay *r = calloc(1, sizeof *r); /* it holds the allocator that would count it */
    if (!r) return NULL;
    if (config) memcpy(&r->config, config, config->size < sizeof r->config ? config->size : sizeof r->config);
    const replay_config *c = &r->config;
    vm_config v = vm_config_default();
    v.float_dtype = c->float32 ? DTYPE_F32 : DTYPE_F64;
    v.threads = c->threads;
    v.seed = c->seed;
    v.limit = c->limit;
    v.budget = c->budget;
    v.output_limit = c->output_limit;
    v.no_files = c->no_files;
    v.optimise = v.fuse = !c->no_optimise;
    v.trace_nan = c->trace_nan;
    v.argc = c->argc;
    v.argv = c->argv;
    r->host.user = r;
    if (c->output) r->host.write = on_output;
    if (c->diagnostic) r->host.show = on_show;
    if (c->module) r->host.find = on_module;
    r->host.call = on_call;
    if (!host_open(&r->host, &v)) {
        free(r);
        return NULL;
    }
    session_open(&r->session, &r->host);
    text_open(&r->rendered, &vm_of(r)->mem);
    if (c->time_limit > 0 && !(r->deadline = deadline_open(&vm_of(r)->interrupt, 0))) {
        replay_close(r);
        return NULL;
    }
    return r;
}

void replay_close(replay *r)
{
    if (!r) return;
    vm *m = vm_of(r);
    deadline_close(r->deadline);
    while (r->values) {
        r->values->refs = 1;
        replay_release(r->values);
    }
    forget(r);
    text_close(&r->rendered);
    value_release(m, r->derivers);
    session_close(&r->session);
    memory_free(&m->mem, MEM_OTHER, r->functions, r->nfunctions * sizeof *r->functions);
    host_close(&r->host);
    free(r);
}

void replay_interrupt(replay *r) { __atomic_store_n(&vm_of(r)->interrupt, INTERRUPT_USER, __ATOMIC_RELAXED); }

void replay_memory(const replay *r, size_t *live, size_t *peak)
{
    if (live) *live = vm_of(r)->mem.live_all;
    if (peak) *peak = vm_of(r)->mem.peak_all;
}

/* --- running ---------------------------------------------------------------------------------- */

/* Before and after a program runs. */
static bool start(replay *r)
{
    api_begin(r);
    if (r->running) return api_fail(r, DIAG_INTERNAL, "a function of the host may not run programs");
    r->running = 1;
    if (r->deadline) deadline_arm(r->deadline, r->config.time_limit);
    return true;
}

static replay_value *finish(replay *r, bool fine, value out)
{
    deadline_disarm(r->deadline);
    r->running = 0;
    if (fine) return api_handle(r, out);
    api_failed(r);
    return NULL;
}

replay_value *replay_load(replay *r, const char *name, const char *s, size_t length)
{
    if (!start(r)) return NULL;
    value out;
    bool fine = session_run(&r->session, name, s, length ? length : strlen(s), &out);
    return finish(r, fine, out);
}

replay_value *replay_load_file(replay *r, const char *path)
{
    if (!start(r)) return NULL;
    size_t n = 0;
    char *s = host_read(&r->host, path, &n);
    value out = value_undef();
    bool fine = s && session_run(&r->session, path, s, n, &out);
    free(s);
    return finish(r, fine, out);
}

static symbol name_of(replay *r, const char *name)
{
    symbol y = symbol_of(vm_of(r)->symbols, name, strlen(name));
    if (!y) {
        vm_out_of_memory(vm_of(r));
        api_failed(r);
    }
    return y;
}

/* A function that a name means: the session's, then the builtins'. Owned; V_UNDEF with the error set. */
static value function_named(replay *r, symbol name, bool builtin)
{
    vm *m = vm_of(r);
    const value *v = session_get(&r->session, name);
    if (v) return value_retain(*v);
    uint32_t index;
    if (builtin && builtin_find(r->host.builtins, name, false, &index)) {
        const prim *p = builtin_prim(r->host.builtins, index);
        symbol global = builtin_global(r->host.builtins, index);
        if (!p && global && (v = table_get(m->globals, global))) return value_retain(*v);
        if (p) { /* a primitive as a value is what a text says by naming it */
            session s;
            session_open(&s, &r->host);
            value out;
            const char *word = symbol_name(m->symbols, name);
            session_run(&s, "<host>", word, strlen(word), &out);
            session_close(&s);
            return out;
        }
    }
    vm_fail(m, DIAG_NAME, "there is no variable or function `%s`", symbol_name(m->symbols, name));
    return value_undef();
}

replay_value *replay_get(replay *r, const char *name)
{
    api_begin(r);
    symbol y = name_of(r, name);
    if (!y) return NULL;
    value v = function_named(r, y, false);
    if (v.tag != V_UNDEF) return api_handle(r, v);
    api_failed(r);
    return NULL;
}

bool replay_set(replay *r, const char *name, const replay_value *v)
{
    if (!v) return false;
    if (r->running) return api_fail(r, DIAG_INTERNAL, "a function of the host may not set variables");
    api_begin(r);
    symbol y = name_of(r, name);
    return y && (session_set(&r->session, y, v->v) || api_failed(r));
}

/* f(args...), the first of which may be given apart; all borrowed. */
static bool call(replay *r, value f, const value *first, const replay_value *const *args, size_t n, value *out)
{
    vm *m = vm_of(r);
    size_t all = n + (first != NULL);
    *out = value_undef();
    if (all > UINT32_MAX / 2) return vm_fail(m, DIAG_ARITY, "too many arguments");
    value *v = memory_alloc(&m->mem, MEM_OTHER, all * sizeof *v);
    if (!v) return vm_out_of_memory(m);
    size_t k = 0;
    if (first) v[k++] = *first;
    bool fine = true;
    for (size_t i = 0; i < n && fine; i++) {
        fine = args[i] != NULL;
        if (fine) v[k++] = args[i]->v;
    }
    if (fine) fine = vm_call(m, f, v, (uint32_t)all, out, 1);
    else vm_fail(m, DIAG_TYPE, "an argument is no value: it could not be made");
    memory_free(&m->mem, MEM_OTHER, v, all * sizeof *v);
    return fine;
}

/* A failed call leaves the random state and the top-level functions as they were. */
typedef struct mark {
    random_state random;
    value globals;
} mark;
static mark mark_set(replay *r) { return (mark){vm_of(r)->random, value_retain(vm_of(r)->globals)}; }
static void mark_end(replay *r, mark k, bool fine)
{
    vm *m = vm_of(r);
    if (!fine) {
        m->random = k.random;
        value now = m->globals;
        m->globals = k.globals;
        k.globals = now;
    }
    value_release(m, k.globals);
}

replay_value *replay_call(replay *r, const char *name, const replay_value *const *args, size_t n)
{
    if (!start(r)) return NULL;
    mark k = mark_set(r);
    vm *m = vm_of(r);
    symbol y = symbol_of(m->symbols, name, strlen(name));
    if (!y) vm_out_of_memory(m);
    value f = y ? function_named(r, y, true) : value_undef(), out = value_undef();
    bool fine = f.tag != V_UNDEF && call(r, f, NULL, args, n, &out);
    value_release(m, f);
    mark_end(r, k, fine);
    return finish(r, fine, out);
}

replay_value *replay_apply(replay *r, const replay_value *f, const replay_value *const *args, size_t n)
{
    if (!f || !start(r)) return NULL;
    mark k = mark_set(r);
    value out;
    bool fine = call(r, f->v, NULL, args, n, &out);
    mark_end(r, k, fine);
    return finish(r, fine, out);
}

/* --- derivatives ------------------------------------------------------------------------------ */

typedef enum deriver { GRAD, VALUE_AND_GRAD, VJP, JVP } deriver;

/* The language's own functions, as values; borrowed. V_UNDEF with the error set. */
static value deriver_of(replay *r, deriver which)
{
    if (r->derivers.tag == V_UNDEF) {
        static const char words[] = "(grad, value_and_grad, vjp, jvp)";
        session s;
        session_open(&s, &r->host);
        if (!session_run(&s, "<host>", words, sizeof words - 1, &r->derivers)) r->derivers = value_undef();
        session_close(&s);
    }
    return r->derivers.tag == V_UNDEF ? r->derivers : as_tuple(r->derivers)->v[which];
}

/* deriver(f) or deriver(f, wrt): a function. */
static bool derive(replay *r, deriver which, const replay_value *f, const replay_value *wrt, value *out)
{
    value d = deriver_of(r, which);
    if (d.tag == V_UNDEF) return false;
    const replay_value *both[] = {f, wrt};
    return call(r, d, NULL, both, wrt ? 2 : 1, out);
}

replay_value *replay_grad(replay *r, const replay_value *f, const replay_value *wrt)
{
    if (!f || !start(r)) return NULL;
    value out;
    return finish(r, derive(r, GRAD, f, wrt, &out), out);
}

/* Splits a pair: its second part goes to *second. `pair` is consumed. */
static replay_value *finish_pair(replay *r, bool fine, value pair, int first, replay_value **second)
{
    *second = NULL;
    if (!fine) return finish(r, false, pair);
    const tuple *t = as_tuple(pair);
    value a = value_retain(t->v[first]), b = value_retain(t->v[1 - first]);
    value_release(vm_of(r), pair);
    replay_value *y = finish(r, true, a), *z = y ? api_handle(r, b) : NULL;
    if (!y) value_release(vm_of(r), b);
    if (y && !z) {
        replay_release(y);
        return NULL;
    }
    *second = z;
    return y;
}

replay_value *replay_value_and_grad(replay *r, const replay_value *f, const replay_value *wrt, const replay_value *const *args, size_t n,
                                    replay_value **gradient)
{
    *gradient = NULL;
    if (!f || !start(r)) return NULL;
    mark k = mark_set(r);
    value g = value_undef(), out = value_undef();
    bool fine = derive(r, VALUE_AND_GRAD, f, wrt, &g);
    if (fine) fine = call(r, g, NULL, args, n, &out);
    value_release(vm_of(r), g);
    mark_end(r, k, fine);
    return finish_pair(r, fine, out, 0, gradient);
}

replay_value *replay_vjp(replay *r, const replay_value *f, const replay_value *const *args, size_t n, replay_value **back)
{
    *back = NULL;
    if (!f || !start(r)) return NULL;
    mark k = mark_set(r);
    value d = deriver_of(r, VJP), out = value_undef();
    bool fine = d.tag != V_UNDEF && call(r, d, &f->v, args, n, &out);
    mark_end(r, k, fine);
    return finish_pair(r, fine, out, 0, back);
}

static bool pack(replay *r, const replay_value *const *parts, size_t n, value *out)
{
    tuple *t = n <= UINT32_MAX / 2 ? tuple_new(vm_of(r), (uint32_t)n, (uint32_t)n) : NULL;
    if (!t) return false;
    *out = value_object(&t->h);
    for (size_t i = 0; i < n; i++) {
        if (!parts[i]) return vm_fail(vm_of(r), DIAG_TYPE, "an argument is no value: it could not be made");
        t->v[i] = value_retain(parts[i]->v);
    }
    return true;
}

replay_value *replay_jvp(replay *r, const replay_value *f, const replay_value *const *args, const replay_value *const *tangents, size_t n,
                         replay_value **tangent)
{
    *tangent = NULL;
    if (!f || !start(r)) return NULL;
    vm *m = vm_of(r);
    mark k = mark_set(r);
    value all[3] = {f->v}, out = value_undef(), d = deriver_of(r, JVP);
    bool fine = d.tag != V_UNDEF && pack(r, args, n, &all[1]) && pack(r, tangents, n, &all[2]) && vm_call(m, d, all, 3, &out, 1);
    value_release(m, all[1]);
    value_release(m, all[2]);
    mark_end(r, k, fine);
    return finish_pair(r, fine, out, 0, tangent);
}

/* --- functions of the host -------------------------------------------------------------------- */

/* "x, w": only names, so that what is put together of them is what it looks like. */
static bool are_names(const char *s, bool many)
{
    for (;;) {
        while (many && isspace((unsigned char)*s)) s++;
        if (!isalpha((unsigned char)*s) && *s != '_' && (unsigned char)*s < 0x80) return false;
        while (isalnum((unsigned char)*s) || *s == '_' || (unsigned char)*s >= 0x80) s++;
        while (many && isspace((unsigned char)*s)) s++;
        if (!*s) return true;
        if (!many || *s++ != ',') return false;
    }
}

static void register_text(const replay_primitive *p, uint32_t id, text *t)
{
    static const char *const doors[] = {"__host", "__host_input", "__host_output"};
    for (const char *s = p->help ? p->help : "", *e; *s; s = *e ? e + 1 : e) {
        e = s + strcspn(s, "\n");
        text_printf(t, "# %.*s\n", (int)(e - s), s);
    }
    const char *comma = p->parameters[0] ? ", " : "";
    text_printf(t, "fn %s(%s) = ", p->name, p->parameters);
    if (p->derivative)
        text_printf(t, "custom_vjp(fn(%s) = %s(%u%s%s), %s)(%s)\n", p->parameters, doors[p->effect], id, comma, p->parameters,
                    p->derivative, p->parameters);
    else text_printf(t, "%s(%u%s%s)\n", doors[p->effect], id, comma, p->parameters);
}

bool replay_register(replay *r, const replay_primitive *given)
{
    if (!start(r)) return false;
    vm *m = vm_of(r);
    replay_primitive p = {0};
    memcpy(&p, given, given->size < sizeof p ? given->size : sizeof p);
    if (!p.parameters) p.parameters = "";
    uint32_t index;
    symbol y = p.name ? symbol_of(m->symbols, p.name, strlen(p.name)) : 0;
    bool fine = false;
    if (!p.name || !are_names(p.name, false)) vm_fail(m, DIAG_NAME, "`%s` is no name for a function", p.name ? p.name : "");
    else if (!y) vm_out_of_memory(m);
    else if (builtin_find(r->host.builtins, y, true, &index)) vm_fail(m, DIAG_NAME, "`%s` is a builtin already", p.name);
    else if (p.parameters[0] && !are_names(p.parameters, true))
        vm_fail(m, DIAG_NAME, "the parameters of %s are not a list of names: %s", p.name, p.parameters);
    else if (!p.call || p.effect > REPLAY_WRITES) vm_fail(m, DIAG_VALUE, "%s has no function to call, or an unknown effect", p.name);
    else {
        uint32_t n = r->nfunctions;
        host_function *more = memory_resize(&m->mem, MEM_OTHER, r->functions, n * sizeof *more, (n + 1) * sizeof *more);
        if (!more) vm_out_of_memory(m);
        else {
            r->functions = more;
            r->functions[r->nfunctions++] = (host_function){p.call, p.user};
            text t;
            text_open(&t, &m->mem);
            register_text(&p, n, &t);
            char module[32];
            snprintf(module, sizeof module, "host%u", n);
            fine = t.failed ? vm_out_of_memory(m) : host_extend(&r->host, module, text_str(&t), t.n);
            text_close(&t);
        }
    }
    deadline_disarm(r->deadline);
    r->running = 0;
    return fine || api_failed(r);
}
