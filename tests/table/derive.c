/* derive.c: hands a sample to the questions of walk.rl, which differentiate it in every way. */
#include "walker.h"
#include "diff.h"

static bool has_float(value v)
{
    if (value_is_float(v)) return true;
    if (v.tag == V_ARRAY) return as_array(v)->dtype >= DTYPE_F32;
    if (v.tag == V_TUPLE)
        for (uint32_t k = 0; k < as_tuple(v)->n; k++)
            if (has_float(as_tuple(v)->v[k])) return true;
    if (v.tag == V_RECORD)
        for (uint32_t k = 0; k < as_record(v)->n; k++)
            if (has_float(as_record(v)->v[k])) return true;
    return false;
}

/* Calls walk.rl's `name` and gives its result; undefined after a failure was reported. */
static value ask(walker *w, const char *name, const sample *s, const value *args, uint32_t n)
{
    vm *m = w->h.vm;
    int64_t at = record_find(as_record(w->asks), symbol_of(m->symbols, name, strlen(name)));
    value out;
    if (vm_call(m, as_record(w->asks)->v[at], args, n, &out, 1)) return out;
    fail(w, name, "%s: %s", s->args, take_error(&w->h));
    return value_undef();
}

static void question(walker *w, const char *name, const sample *s, const value *args, uint32_t n)
{
    value v = ask(w, name, s, args, n);
    if (v.tag == V_STRING && as_string(v)->length) fail(w, name, "%s: %s", s->args, as_string(v)->s);
    value_release(w->h.vm, v);
}

/* `in`: the function, the arguments, the active places. */
static void ask_spread(walker *w, const prim *p, const sample *s, const value *in)
{
    vm *m = w->h.vm;
    char ways[400];
    snprintf(ways, sizeof ways, "(fn(t...) = %s(t...), %s)", p->name, p->name);
    value other = evaluate(w, &w->h, ways);
    if (other.tag == V_UNDEF) return;
    tuple *f = tuple_new(m, 3, 3);
    f->v[0] = value_retain(in[0]);
    for (int k = 0; k < 2; k++) f->v[k + 1] = value_retain(as_tuple(other)->v[k]);
    value args[3] = {value_object(&f->h), in[1], in[2]};
    question(w, "spread", s, args, 3);
    value_release(m, args[0]);
    value_release(m, other);
}

bool walk_derivatives(walker *w, const prim *p, const sample *s)
{
    vm *m = w->h.vm;
    value f, args;
    if (!sample_values(w, &w->h, p, s, &f, &args)) return false;
    const tuple *a = as_tuple(args);
    tuple *active = tuple_new(m, 0, a->n);
    for (uint32_t i = 0; i < a->n; i++)
        if (has_float(a->v[i]) && (p->kind == RULE_CONSTANT || s->call || rule_lists(m, p, i))) active->v[active->n++] = value_i64(i);
    bool any = active->n > 0 && (p->kind != RULE_CONSTANT || repeatable(p));
    value in[3] = {f, args, value_object(&active->h)};
    value g = any ? ask(w, "partial", s, in, 3) : value_undef();
    value q = g.tag != V_UNDEF ? ask(w, "chosen", s, in + 1, 2) : value_undef();
    if (q.tag != V_UNDEF) {
        value two[2] = {g, q};
        if (p->kind == RULE_CONSTANT) {
            question(w, "constant", s, two, 2);
            w->n.constant++;
        } else {
            static const char *const all[] = {"first", "second", "third", "blocks", "symbolic", "symbolic_second", "without_influence"};
            unsigned before = w->n.failures;
            for (size_t i = 0; i < sizeof all / sizeof *all && w->n.failures == before; i++) question(w, all[i], s, two, 2);
            question(w, "narrow", s, in, 3);
            if (p->tile) question(w, "beside_whole", s, in, 3);
            if (!s->call) ask_spread(w, p, s, in);
            w->n.differentiated++;
        }
    }
    value_release(m, q);
    value_release(m, g);
    value_release(m, in[2]);
    value_release(m, f);
    value_release(m, args);
    return any;
}
