/* kern_einsum.c: what einsum does, step by step, worked out from the subscripts and the shapes.
 *
 * In go the subscripts and the shapes of the operands, out comes a plan of tuples that the prelude's
 * einsum carries out with transpose, reshape, sum and @ (so all derivatives are theirs):
 *   (for each operand ((axes, ...), (axes to sum, ...)): the first put a repeated letter's two axes last,
 *    ((i, j, axes of i, shape of i, axes of j, shape of j, shape, product), ...): pairs to multiply,
 *    axes of the result)
 * The order of the pairs is the cheapest in scalar multiplications: of all orders up to 8 operands,
 * beyond that the cheapest pair first. */
#include "kern.h"
#include "kern_util.h"

#define OPERANDS_MAX 32
#define LABELS_MAX 60 /* 52 letters and the axes of an ellipsis */

typedef struct term {
    int n;
    int8_t label[RANK_MAX];
    int64_t size[RANK_MAX];
} term;
typedef struct einsum {
    prim_call *c;
    int n;
    term in[OPERANDS_MAX * 2]; /* operands, then results of pairs */
    term out;
    int64_t size[LABELS_MAX];
} einsum;

static bool put_whole(vm *m, value *t, int64_t x) { return tuple_append(m, t, value_i64(x)); }
static bool put_owned(vm *m, value *t, value x)
{
    if (tuple_append(m, t, x)) return true;
    value_release(m, x);
    return false;
}
static bool new_tuple(vm *m, value *t)
{
    tuple *u = tuple_new(m, 0, 4);
    if (u) *t = value_object(&u->h);
    return u != NULL;
}
static bool put_wholes(vm *m, value *t, int n, const int64_t *x)
{
    value u;
    if (!new_tuple(m, &u)) return false;
    for (int i = 0; i < n; i++)
        if (!put_whole(m, &u, x[i])) return value_release(m, u), false;
    return put_owned(m, t, u);
}

static int letter(char ch) { return ch >= 'a' && ch <= 'z' ? ch - 'a' + 26 : ch >= 'A' && ch <= 'Z' ? ch - 'A' : -1; }

/* One list of subscripts; `rank` -1 for the result, whose ellipsis has `dots` axes. */
static bool read_term(einsum *e, const char *s, const char *end, int rank, int dots, int which, term *t)
{
    int letters = 0;
    bool seen = false;
    for (const char *p = s; p < end; p++) letters += letter(*p) >= 0;
    t->n = 0;
    for (; s < end; s++) {
        if (*s == ' ') continue;
        if (*s == '.') {
            if (seen || end - s < 3 || s[1] != '.' || s[2] != '.')
                return prim_fail(e->c, 0, DIAG_VALUE, "an ellipsis is written `...`, once in each list of letters");
            seen = true;
            s += 2;
            int n = rank < 0 ? dots : rank - letters;
            for (int i = 0; i < n; i++) {
                if (t->n == RANK_MAX || n > LABELS_MAX - 52)
                    return prim_fail(e->c, 0, DIAG_SHAPE, "the result would have more than %d axes", RANK_MAX);
                t->label[t->n++] = (int8_t)(52 + n - 1 - i);
            }
            continue;
        }
        if (letter(*s) < 0) return prim_fail(e->c, 0, DIAG_VALUE, "subscripts are letters, `,`, `...` and `->`, and there is `%c`", *s);
        if (t->n == RANK_MAX) return prim_fail(e->c, 0, DIAG_VALUE, "more than %d letters in one list", RANK_MAX);
        t->label[t->n++] = (int8_t)letter(*s);
    }
    if (rank >= 0 && t->n != rank)
        return prim_fail(e->c, 0, DIAG_SHAPE, "operand %d has %d axes, and its subscripts name %d", which + 1, rank, t->n);
    return true;
}

static bool take_sizes(einsum *e, int which, const tuple *shape)
{
    term *t = &e->in[which];
    for (int i = 0; i < t->n; i++) {
        int64_t x = shape->v[i].u.i, *known = &e->size[t->label[i]];
        t->size[i] = x;
        if (*known < 0 || *known == 1) *known = x;
        else if (x != *known && x != 1) {
            int l = t->label[i];
            char name = (char)(l < 26 ? 'A' + l : l < 52 ? 'a' + l - 26 : '.');
            return prim_fail(e->c, 0, DIAG_SHAPE, "`%c` stands for an axis of %lld elements, and for one of %lld in operand %d", name,
                             (long long)*known, (long long)x, which + 1);
        }
    }
    return true;
}

static uint64_t labels_of(const term *t)
{
    uint64_t m = 0;
    for (int i = 0; i < t->n; i++) m |= UINT64_C(1) << t->label[i];
    return m;
}

static bool read_spec(einsum *e, const string *spec, const tuple *shapes)
{
    const char *s = spec->s, *end = s + spec->length, *arrow = memmem(s, spec->length, "->", 2);
    const char *stop = arrow ? arrow : end;
    int counts[LABELS_MAX] = {0}, dots = 0;
    for (int i = 0; i < LABELS_MAX; i++) e->size[i] = -1;
    for (int k = 0; k < e->n; k++) {
        const char *comma = memchr(s, ',', (size_t)(stop - s));
        if (!comma != (k == e->n - 1)) {
            int lists = 1;
            for (const char *p = spec->s; p < stop; p++) lists += *p == ',';
            return prim_fail(e->c, 0, DIAG_VALUE, "the subscripts are of %d operands, and %d were given", lists, e->n);
        }
        const tuple *shape = as_tuple(shapes->v[k]);
        if (!read_term(e, s, comma ? comma : stop, (int)shape->n, 0, k, &e->in[k]) || !take_sizes(e, k, shape)) return false;
        for (int i = 0; i < e->in[k].n; i++) {
            counts[e->in[k].label[i]]++;
            if (e->in[k].label[i] >= 52 && e->in[k].label[i] - 51 > dots) dots = e->in[k].label[i] - 51;
        }
        s = comma ? comma + 1 : stop;
    }
    if (arrow) {
        if (!read_term(e, arrow + 2, end, -1, dots, 0, &e->out)) return false;
        for (int i = 0; i < e->out.n; i++) {
            int l = e->out.label[i];
            bool twice = false;
            for (int j = 0; j < i; j++) twice |= e->out.label[j] == l;
            if (e->size[l] < 0 || twice)
                return prim_fail(e->c, 0, DIAG_VALUE,
                                 twice ? "a letter stands twice behind `->`" : "a letter behind `->` stands in no operand");
        }
        return true;
    }
    /* Without an arrow: the ellipsis, then the letters that stand once, in alphabetical order. */
    for (int l = 52 + dots - 1; l >= 52; l--) e->out.label[e->out.n++] = (int8_t)l;
    for (int l = 0; l < 52; l++) {
        if (counts[l] != 1) continue;
        if (e->out.n == RANK_MAX) return prim_fail(e->c, 0, DIAG_SHAPE, "the result would have more than %d axes", RANK_MAX);
        e->out.label[e->out.n++] = (int8_t)l;
    }
    return true;
}

/* Repeated letters and letters that stand nowhere else. */
static bool plan_operand(einsum *e, int k, value *plan)
{
    vm *m = e->c->vm;
    term *t = &e->in[k];
    value turns, both;
    uint64_t elsewhere = labels_of(&e->out);
    int64_t axes[RANK_MAX];
    for (int i = 0; i < e->n; i++)
        for (int p = 0; i != k && p < e->in[i].n; p++) /* but for axes of size 1 that are broadcast, and dropped */
            if (e->in[i].size[p] != 1 || e->size[e->in[i].label[p]] == 1) elsewhere |= UINT64_C(1) << e->in[i].label[p];
    if (!new_tuple(m, &both)) return false;
    if (!new_tuple(m, &turns)) return value_release(m, both), false;
    bool ok = true;
    for (int i = 0; ok && i < t->n; i++)
        for (int j = i + 1; ok && j < t->n; j++) {
            if (t->label[i] != t->label[j]) continue;
            if (t->size[i] != t->size[j]) {
                ok = prim_fail(e->c, 0, DIAG_SHAPE, "a letter stands for axes of %lld and of %lld elements in operand %d",
                               (long long)t->size[i], (long long)t->size[j], k + 1);
                break;
            }
            term u = {0};
            int n = 0;
            for (int p = 0; p < t->n; p++)
                if (p != i && p != j) axes[n++] = p, u.label[u.n] = t->label[p], u.size[u.n++] = t->size[p];
            axes[n++] = i, axes[n++] = j;
            u.label[u.n] = t->label[i], u.size[u.n++] = t->size[i];
            ok = put_wholes(m, &turns, n, axes);
            *t = u;
            i = -1;
            break;
        }
    ok = put_owned(m, &both, turns) && ok;
    term u = {0};
    int n = 0;
    for (int i = 0; i < t->n; i++) {
        int l = t->label[i];
        if (!(elsewhere >> l & 1) || (t->size[i] == 1 && e->size[l] != 1)) axes[n++] = i;
        else u.label[u.n] = (int8_t)l, u.size[u.n++] = t->size[i];
    }
    *t = u;
    ok = ok && put_wholes(m, &both, n, axes);
    return put_owned(m, plan, both) && ok;
}

static double product_of(const einsum *e, uint64_t labels)
{
    double x = 1;
    for (int l = 0; l < LABELS_MAX; l++)
        if (labels >> l & 1) x *= (double)e->size[l];
    return x;
}

/* Multiplies terms i and j into `to`, keeping the letters `keep`; adds the step to the plan. */
static bool plan_pair(einsum *e, int i, int j, int to, uint64_t keep, value *plan)
{
    vm *m = e->c->vm;
    const term *a = &e->in[i], *b = &e->in[j];
    uint64_t la = labels_of(a), lb = labels_of(b), both = la & lb;
    int64_t pa[RANK_MAX], pb[RANK_MAX], sa[3] = {1, 1, 1}, sb[3] = {1, 1, 1}, shape[RANK_MAX * 2];
    int na = 0, nb = 0;
    term *r = &e->in[to];
    *r = (term){0};
    bool ok = true;
    for (int kind = 0; kind < 3; kind++) /* batch, own, summed */
        for (int p = 0; p < a->n; p++) {
            int l = a->label[p], of = !(both >> l & 1) ? 1 : keep >> l & 1 ? 0 : 2;
            if (of != kind) continue;
            pa[na++] = p, sa[kind] *= e->size[l];
            if (kind < 2 && (ok = ok && r->n < RANK_MAX)) r->label[r->n++] = (int8_t)l;
        }
    for (int kind = 0; kind < 3; kind++) /* batch and summed in a's order */
        for (int p = 0; p < (kind < 2 ? a->n : b->n); p++) {
            int l = kind < 2 ? a->label[p] : b->label[p];
            bool shared = both >> l & 1;
            if (kind < 2 ? !(shared && (keep >> l & 1) == (kind == 0)) : shared) continue;
            for (int q = 0; q < b->n; q++)
                if (b->label[q] == l) pb[nb++] = q;
            sb[kind] *= e->size[l];
            if (kind == 2 && (ok = ok && r->n < RANK_MAX)) r->label[r->n++] = (int8_t)l;
        }
    if (!ok) return prim_fail(e->c, 0, DIAG_SHAPE, "a product on the way would have more than %d axes", RANK_MAX);
    for (int p = 0; p < r->n; p++) r->size[p] = shape[p] = e->size[r->label[p]];
    value step;
    if (!new_tuple(m, &step)) return false;
    ok = put_whole(m, &step, i) && put_whole(m, &step, j) && put_wholes(m, &step, na, pa) && put_wholes(m, &step, 3, sa) &&
         put_wholes(m, &step, nb, pb) && put_wholes(m, &step, 3, sb) && put_wholes(m, &step, r->n, shape) &&
         tuple_append(m, &step, value_bool((both & ~keep) != 0));
    return put_owned(m, plan, step) && ok;
}

/* The best split of each set of operands, by dynamic programming. */
static bool plan_best(einsum *e, value *plan)
{
    int n = e->n, sets = 1 << n;
    static const double none = 1e300;
    double cost[256];
    int split[256], place[256];
    uint64_t lab[256], out = labels_of(&e->out);
    for (int s = 1; s < sets; s++) {
        uint64_t in = 0, rest = out;
        for (int i = 0; i < n; i++) *(s >> i & 1 ? &in : &rest) |= labels_of(&e->in[i]);
        lab[s] = in & rest;
        cost[s] = (s & (s - 1)) ? none : 0;
        if (!(s & (s - 1))) lab[s] = in;
        for (int t = (s - 1) & s; t > 0; t = (t - 1) & s) {
            if (t < (s ^ t)) continue;
            double x = cost[t] + cost[s ^ t] + product_of(e, lab[t] | lab[s ^ t]);
            if (x < cost[s] || (cost[s] == none && x <= none)) cost[s] = x, split[s] = t;
        }
        if ((s & (s - 1)) && cost[s] == none) split[s] = s & -s;
    }
    /* Steps from the smallest sets up: a stack, children first. */
    int stack[64], top = 0, order[16], made = 0;
    stack[top++] = sets - 1;
    while (top) {
        int s = stack[--top];
        if (!(s & (s - 1))) continue;
        order[made++] = s;
        stack[top++] = split[s], stack[top++] = s ^ split[s];
    }
    for (int i = 0; i < n; i++) place[1 << i] = i;
    for (int k = made - 1, next = n; k >= 0; k--, next++) {
        int s = order[k], x = place[split[s]], y = place[s ^ split[s]];
        if (!plan_pair(e, x < y ? x : y, x < y ? y : x, next, lab[s], plan)) return false;
        place[s] = next;
    }
    return true;
}

static bool plan_greedy(einsum *e, value *plan)
{
    int live[OPERANDS_MAX], n = e->n;
    for (int i = 0; i < n; i++) live[i] = i;
    for (int next = e->n; n > 1; next++) {
        int p = 0, q = 1;
        double best = INFINITY;
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) {
                double x = product_of(e, labels_of(&e->in[live[i]]) | labels_of(&e->in[live[j]]));
                if (x < best) best = x, p = i, q = j;
            }
        uint64_t keep = labels_of(&e->out);
        for (int i = 0; i < n; i++)
            if (i != p && i != q) keep |= labels_of(&e->in[live[i]]);
        if (!plan_pair(e, live[p], live[q], next, keep, plan)) return false;
        live[p] = next;
        live[q] = live[--n];
    }
    return true;
}

bool kern_einsum_plan(prim_call *c)
{
    const string *spec;
    vm *m = c->vm;
    if (!arg_string(c, 0, &spec)) return false;
    const tuple *shapes = as_tuple(c->args[1]);
    if (shapes->n < 1 || shapes->n > OPERANDS_MAX)
        return prim_fail(c, 0, DIAG_ARITY, "1 to %d operands follow the subscripts", OPERANDS_MAX);
    einsum *e = memory_alloc(&m->mem, MEM_OTHER, sizeof *e);
    if (!e) return vm_out_of_memory(m);
    *e = (einsum){.c = c, .n = (int)shapes->n};
    value plan, part = value_none();
    bool ok = read_spec(e, spec, shapes) && new_tuple(m, &plan);
    if (ok) {
        ok = new_tuple(m, &part);
        for (int k = 0; ok && k < e->n; k++) ok = plan_operand(e, k, &part);
        ok = put_owned(m, &plan, part) && ok;
        if (ok && (ok = new_tuple(m, &part))) {
            ok = e->n == 1 || (e->n <= 8 ? plan_best : plan_greedy)(e, &part);
            ok = put_owned(m, &plan, part) && ok;
        }
        const term *last = &e->in[2 * e->n - 2];
        int64_t axes[RANK_MAX];
        for (int i = 0; ok && i < e->out.n; i++)
            for (int j = 0; j < last->n; j++)
                if (last->label[j] == e->out.label[i]) axes[i] = j;
        ok = ok && put_wholes(m, &plan, e->out.n, axes);
        if (ok) c->out = plan;
        else value_release(m, plan);
    }
    memory_free(&m->mem, MEM_OTHER, e, sizeof *e);
    return ok;
}
