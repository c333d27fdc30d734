/* main.c: goes over the rows of prims[] and calls each test with each of the row's samples. Prints what
 * fails, the rows without a derivative test with the reason, and a line of counts. */
#include "walker.h"
#include <stdarg.h>

void fail(walker *w, const char *what, const char *fmt, ...)
{
    w->n.failures++;
    printf("%s: %s: ", w->row ? w->row->name : "table", what);
    va_list ap;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
}

const char *take_error(host *h)
{
    static char message[2000];
    diag *d = h->vm->error;
    h->vm->error = NULL;
    snprintf(message, sizeof message, "%s", d ? d->message : "failed without an error");
    diag_free(d);
    return message;
}

/* Runs a module's text and gives its record. */
static value run_module(walker *w, host *h, const char *name, const char *text_)
{
    source *src = source_new(&h->vm->mem, name, text_, strlen(text_));
    diag *diags = NULL;
    compile_options o = {.internal = true, .module = "table", .result = EMIT_RECORD};
    code *c = src ? host_compile(h, src, &o, &diags, NULL) : NULL;
    source_release(src);
    value out = value_undef();
    if (!c) fail(w, "does not compile", "%s: %s", text_, diags ? diags->message : take_error(h));
    else if (!vm_run(h->vm, c, &out)) {
        fail(w, "does not run", "%s: %s", text_, take_error(h));
        out = value_undef();
    }
    diag_free(diags);
    code_release(c);
    return out;
}

value evaluate(walker *w, host *h, const char *expression)
{
    char t[4000];
    snprintf(t, sizeof t, "v = %s\n", expression);
    value r = run_module(w, h, "sample", t);
    if (r.tag == V_UNDEF) return r;
    value v = value_retain(as_record(r)->v[0]);
    value_release(h->vm, r);
    return v;
}

bool sample_values(walker *w, host *h, const prim *p, const sample *s, value *f, value *args)
{
    *args = evaluate(w, h, s->args);
    if (args->tag == V_UNDEF) return false;
    if (args->tag != V_TUPLE) {
        fail(w, "sample", "%s is no tuple", s->args);
        value_release(h->vm, *args);
        return false;
    }
    if (s->call) {
        *f = evaluate(w, h, s->call);
    } else {
        char list[400] = "", call[1000], name[64];
        for (uint32_t i = 0; i < as_tuple(*args)->n; i++)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%sa%u", i ? ", " : "", i);
        const char *sign = prim_display(p, name);
        if (!strcmp(sign, "and") || !strcmp(sign, "or")) snprintf(call, sizeof call, "fn(a0, a1) = a0 %s a1", sign);
        else if (!strcmp(sign, "not")) snprintf(call, sizeof call, "fn(a0) = not a0");
        else snprintf(call, sizeof call, "fn(%s) = %s(%s)", list, p->name, list);
        *f = evaluate(w, h, call);
    }
    if (f->tag != V_UNDEF) return true;
    value_release(h->vm, *args);
    return false;
}

/* In a rule's text g, y and d<parameter> have a meaning of their own: no parameter may be called so. */
static void check_names(walker *w, const prim *p)
{
    const prim_info *info = prim_info_of(w->h.vm, p);
    if (!*p->vjp || p->kind == RULE_REFUSE) return;
    for (uint32_t i = 0; i < info->nparams; i++) {
        const char *name = symbol_name(w->h.vm->symbols, info->params[i].name);
        if (!strcmp(name, "g") || !strcmp(name, "y")) fail(w, "signature", "a parameter called %s hides the rule's own", name);
        for (uint32_t k = 0; k < info->nparams && *p->jvp; k++)
            if (name[0] == 'd' && !strcmp(name + 1, symbol_name(w->h.vm->symbols, info->params[k].name)))
                fail(w, "signature", "a parameter called %s hides the tangent of %s", name, name + 1);
    }
}

static bool tested; /* the row at hand has had a derivative test */

static void take_sample(walker *w, const prim *p, const sample *s)
{
    w->n.samples++;
    walk_prediction(w, p, s);
    walk_bits(w, p, s);
    walk_naive(w, p, s);
    if (!(s->flags & SAMPLE_LARGE)) walk_mistakes(w, p, s);
    if (!(s->flags & (SAMPLE_VALUE | SAMPLE_LARGE))) tested |= walk_derivatives(w, p, s);
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(2);
    }
    static char s[100000];
    s[fread(s, 1, sizeof s - 1, f)] = 0;
    fclose(f);
    return s;
}

/* Notes (a gradient that is zero) are not what this is about. */
static void quiet(void *ctx, diag *d) { diag_free(d); }

static bool open_hosts(walker *w)
{
    static vm_config one, two;
    one = two = vm_config_default();
    one.threads = 1;
    two.threads = 2;
    one.seed = two.seed = 7;
    one.report = two.report = quiet;
    return host_open(&w->h, &one) && host_open(&w->pair, &two);
}

/* Arguments: the names of rows to walk; none: all. */
int main(int argc, char **argv)
{
    walker w = {0};
    if (!open_hosts(&w)) return 2;
    w.asks = run_module(&w, &w.h, "walk.rl", read_file("tests/table/walk.rl"));
    if (w.asks.tag == V_UNDEF) return 2;
    for (uint32_t i = 0; i < prim_count; i++) {
        const prim *p = w.row = &prims[i];
        bool wanted = argc < 2;
        for (int k = 1; k < argc; k++) wanted |= !strcmp(argv[k], p->name);
        if (!wanted) continue;
        w.n.rows++;
        check_names(&w, p);
        walk_examples(&w, p);
        tested = false;
        unsigned n = samples_of(&w, p, take_sample);
        const char *why = exempt(p);
        if (!n && !why) fail(&w, "samples", "none: give it an example or a line in tests/table/samples.c");
        if (tested && why) fail(&w, "exempt", "but tested: %s", why);
        if (!tested && !why && p->kind != RULE_CONSTANT) fail(&w, "derivative", "not tested and not exempt");
        if (!tested && why) printf("%s has no derivative test: %s\n", p->name, why);
    }
    w.row = NULL;
    if (argc < 2) walk_awkward(&w);
    if (argc < 2) walk_modules(&w);
    value_release(w.h.vm, w.asks);
    host_close(&w.h);
    host_close(&w.pair);
    const counts *n = &w.n;
    printf(
        "table: %u rows, %u functions of modules, %u examples, %u samples: %u predictions, %u comparisons of bits, %u with naive results, "
        "%u of derivatives, %u of constants, %u awkward points, %u mistakes; %u failures\n",
        n->rows, n->functions, n->examples, n->samples, n->predicted, n->bits, n->naive, n->differentiated, n->constant, n->awkward,
        n->mistakes, n->failures);
    return n->failures ? 1 : 0;
}
