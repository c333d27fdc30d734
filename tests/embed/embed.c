/* embed.c: replay.h as a host sees it: two VMs that do not meet, lent arrays, functions of the host under
 * checkpoint blocks and to second order, errors, limits, and a VM on each of several threads. Built against
 * the installed header and libraries only. Prints one line. */
#include <math.h>
#include <pthread.h>
#include <replay.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, checks;
#define CHECK(x) (__atomic_add_fetch(&checks, 1, __ATOMIC_RELAXED), (x) ? (void)0 : report(__LINE__, #x))
static void report(int line, const char *what)
{
    __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
    printf("tests/embed/embed.c:%d: %s\n", line, what);
}

static bool failed_with(const replay *r, const char *code)
{
    const replay_diagnostic *d = replay_error(r);
    if (d && !strcmp(d->code, code)) return true;
    printf("    error: %s\n", d ? d->rendered : "none");
    return false;
}

static double number(replay_value *v)
{
    double x = NAN;
    if (v) replay_to_double(v, &x);
    replay_release(v);
    return x;
}

static void run(replay *r, const char *text)
{
    replay_value *v = replay_load(r, "test", text, 0);
    CHECK(v != NULL);
    if (!v) failed_with(r, "");
    replay_release(v);
}

typedef struct record {
    char out[400];
    size_t n;
    int warnings, done, reads, writes;
} record;

static bool take(void *user, const char *s, size_t n)
{
    record *k = user;
    if (k->n + n >= sizeof k->out) return false;
    memcpy(k->out + k->n, s, n);
    k->out[k->n += n] = 0;
    return true;
}
static void warned(void *user, const replay_diagnostic *d) { ((record *)user)->warnings += d->rendered[0] != 0; }
static char *module(void *user, const char *path, const char *importer, size_t *length)
{
    (void)user;
    if (strcmp(path, "ours") || strcmp(importer, "test")) return NULL;
    char *s = strdup("fn twice(x) = 2 * x\n");
    *length = strlen(s);
    return s;
}
static void done(void *user, void *data) { ((record *)user)->done += *(double *)data == 0; }

/* y = x^3 */
static replay_value *cube(replay *r, replay_value *const *args, size_t n, void *user)
{
    double x;
    (void)user;
    CHECK(n == 1);
    if (!replay_to_double(args[0], &x)) return NULL;
    CHECK(replay_load(r, "inside", "1", 0) == NULL);
    if (x > 100) return replay_fail(r, "%g is too much", x);
    return replay_f64(r, x * x * x);
}
static replay_value *reads(replay *r, replay_value *const *args, size_t n, void *user)
{
    (void)args, (void)n;
    return replay_f64(r, ++((record *)user)->reads);
}
static replay_value *writes(replay *r, replay_value *const *args, size_t n, void *user)
{
    (void)args, (void)n;
    ((record *)user)->writes++;
    return replay_none(r);
}

static void two(void)
{
    record k = {.n = 0}, l = {.n = 0};
    replay_config c = {.size = sizeof c, .threads = 1, .user = &k, .output = take, .diagnostic = warned, .module = module};
    replay *a = replay_open(&c);
    c.user = &l;
    c.float32 = true;
    replay *b = replay_open(&c);
    CHECK(a && b && !replay_error(a));
    run(a, "x = 1; print(\"a\")");
    run(b, "x = [2.0]; print(\"b\")");
    CHECK(!strcmp(k.out, "a\n") && !strcmp(l.out, "b\n"));
    CHECK(number(replay_get(a, "x")) == 1);
    replay_view view;
    replay_value *v = replay_get(b, "x");
    CHECK(replay_view_of(v, &view) && view.dtype == REPLAY_F32 && view.rank == 1 && view.size == 1 && *(const float *)view.data == 2);
    replay_release(v);
    replay_close(b);
    run(a, "import \"ours\" as ours\ny = ours.twice(x)\nfn f(x) = x^2");
    CHECK(number(replay_get(a, "y")) == 2);
    /* A failed text changes nothing. */
    CHECK(!replay_load(a, "bad", "x = 7\ny = [1, 2] + [1, 2, 3]", 0) && failed_with(a, "shape"));
    CHECK(replay_error(a)->line == 2 && replay_error(a)->column > 0 && !strcmp(replay_error(a)->file, "bad"));
    CHECK(number(replay_get(a, "x")) == 1);
    CHECK(!replay_load(a, "bad", "x = (", 0) && failed_with(a, "syntax"));
    CHECK(!replay_get(a, "nowhere") && failed_with(a, "name"));
    CHECK(replay_call(a, "nowhere", NULL, 0) == NULL && failed_with(a, "name"));
    CHECK(replay_call(a, "f", NULL, 0) == NULL && failed_with(a, "arity"));
    replay_value *three = replay_f64(a, 3), *f = replay_get(a, "f"), *g = replay_grad(a, f, NULL), *second, *y;
    const replay_value *args[] = {three};
    CHECK(number(replay_apply(a, f, args, 1)) == 9 && number(replay_apply(a, g, args, 1)) == 6);
    CHECK(number(replay_call(a, "sqrt", args, 1)) == sqrt(3.0));
    y = replay_value_and_grad(a, f, NULL, args, 1, &second);
    CHECK(number(y) == 9 && number(second) == 6);
    y = replay_vjp(a, f, args, 1, &second);
    CHECK(number(y) == 9 && number(replay_apply(a, second, args, 1)) == 18);
    replay_release(second);
    y = replay_jvp(a, f, args, args, 1, &second);
    CHECK(number(y) == 9 && number(second) == 18);
    CHECK(!replay_apply(a, NULL, NULL, 0) && !replay_grad(a, NULL, NULL));
    CHECK(replay_set(a, "x", three) && number(replay_load(a, "test", "x + 1", 0)) == 4);
    replay_release(f), replay_release(g);
    replay_close(a); /* `three` is still held: it goes with the VM */
}

static void values(void)
{
    record k = {.n = 0};
    replay_config c = {.size = sizeof c, .threads = 1, .limit = 32 << 20};
    replay *r = replay_open(&c);
    double *data = malloc(6 * sizeof *data);
    for (int i = 0; i < 6; i++) data[i] = i;
    /* Backwards, then forwards: [[5, 4, 3], [2, 1, 0]]. */
    replay_value *v = replay_wrap(r, REPLAY_F64, 2, (int64_t[]){2, 3}, (int64_t[]){-3, -1}, data + 5, NULL, NULL);
    CHECK(replay_set(r, "v", v));
    replay_release(v);
    CHECK(number(replay_load(r, "test", "v[0, 0] * 100 + v[1, 2]", 0)) == 500);
    v = replay_wrap(r, REPLAY_F64, 2, (int64_t[]){2, 3}, NULL, data, done, &k);
    CHECK(replay_set(r, "v", v));
    replay_release(v);
    /* Lent memory is copied before it is written, also when this is its last use. */
    CHECK(number(replay_load(r, "test", "v[0, 0] = 7\nv = v + 1\nsum(v)", 0)) == 28 && data[0] == 0);
    CHECK(k.done == 1);
    free(data);
    double one = 1;
    float row[3];
    int64_t whole;
    v = replay_load(r, "test", "{a: [1, 2, 3], s: \"word\", t: (1, none, 2.5)}", 0);
    CHECK(replay_type_of(v) == REPLAY_RECORD && replay_length(v) == 3 && !strcmp(replay_field_name(v, 1), "s"));
    replay_value *a = replay_field(v, "a"), *s = replay_field(v, "s"), *t = replay_field(v, "t"), *i = replay_item(t, 2);
    CHECK(replay_read(a, REPLAY_F32, row, 3) && row[2] == 3 && !replay_read(a, REPLAY_F32, row, 2) && failed_with(r, "value"));
    CHECK(!strcmp(replay_text_of(s, NULL), "word") && !replay_to_i64(i, &whole) && failed_with(r, "value"));
    CHECK(!replay_item(t, 3) && failed_with(r, "index") && !replay_field(v, "z") && failed_with(r, "name"));
    CHECK(!strcmp(replay_print(v), "{a: [1, 2, 3], s: \"word\", t: (1, none, 2.5)}"));
    CHECK(!replay_array(r, REPLAY_F64, 9, (int64_t[9]){0}, NULL) && failed_with(r, "shape"));
    CHECK(!replay_array(r, REPLAY_F64, 2, (int64_t[]){INT64_MAX, 4}, NULL) && failed_with(r, "shape"));
    CHECK(!replay_array(r, REPLAY_F64, 1, (int64_t[]){(int64_t)1 << 40}, &one) && failed_with(r, "memory"));
    CHECK(!replay_string(r, "\xff", 1) && failed_with(r, "value"));
    CHECK(!replay_load(r, "test", "zeros(10000, 10000)", 0) && failed_with(r, "memory"));
    replay_release(a), replay_release(s), replay_release(t), replay_release(i), replay_release(v);
    replay_close(r);
}

static void functions(void)
{
    record k = {.n = 0};
    replay_config c = {.size = sizeof c, .threads = 1};
    replay *r = replay_open(&c);
    replay_primitive p = {.size = sizeof p, .name = "cube", .parameters = "x", .call = cube, .derivative = "fn(dy, y, x) = dy * 3 * x^2"};
    CHECK(replay_register(r, &p));
    CHECK(!replay_register(r, &p) && failed_with(r, "name"));
    p = (replay_primitive){.size = sizeof p, .name = "reads", .call = reads, .user = &k, .effect = REPLAY_READS};
    CHECK(replay_register(r, &p));
    p = (replay_primitive){.size = sizeof p, .name = "writes", .parameters = "x", .call = writes, .user = &k, .effect = REPLAY_WRITES};
    CHECK(replay_register(r, &p));
    p = (replay_primitive){.size = sizeof p, .name = "plain", .parameters = "x", .call = cube};
    CHECK(replay_register(r, &p));
    p = (replay_primitive){.size = sizeof p, .name = "b a d", .call = cube};
    CHECK(!replay_register(r, &p) && failed_with(r, "name"));
    CHECK(number(replay_load(r, "test", "cube(2.0)", 0)) == 8);
    CHECK(number(replay_load(r, "test", "grad(cube)(2.0)", 0)) == 12);
    CHECK(number(replay_load(r, "test", "grad(grad(fn(x) = cube(x)))(2.0)", 0)) == 12);
    CHECK(number(replay_load(r, "test", "jvp(cube, 2.0, 1.0)[1]", 0)) == 12);
    CHECK(!replay_load(r, "test", "cube(200.0)", 0) && failed_with(r, "user"));
    CHECK(number(replay_load(r, "test", "plain(2.0)", 0)) == 8);
    CHECK(!replay_load(r, "test", "grad(plain)(2.0)", 0) && failed_with(r, "derivative"));
    CHECK(number(replay_load(r, "test", "grad(fn(x) { y = checkpoint < writes(x); x * x * reads() >; y })(2.0)", 0)) == 4);
    CHECK(k.reads == 1 && k.writes == 1);
    replay_close(r);
}

static void limits(void)
{
    record k = {.n = 0};
    replay_config c = {.size = sizeof c, .threads = 1, .time_limit = 0.2, .output_limit = 8, .no_files = true, .user = &k, .output = take};
    replay *r = replay_open(&c);
    CHECK(!replay_load(r, "test", "while (true) { x = 1 }", 0) && failed_with(r, "interrupt"));
    CHECK(!replay_load(r, "test", "fn f(x) = f(x)\nfor (i in 0..10) { try(f, 1) }", 0));
    CHECK(number(replay_load(r, "test", "1 + 1", 0)) == 2);
    CHECK(!replay_load(r, "test", "print(\"1234\"); print(\"5678\")", 0) && failed_with(r, "interrupt") && !strcmp(k.out, "1234\n"));
    CHECK(!replay_load(r, "test", "read_text(\"Makefile\")", 0) && failed_with(r, "file"));
    CHECK(!replay_load(r, "test", "write_text(\"made-by-test\", \"\")", 0) && failed_with(r, "file"));
    CHECK(!replay_load(r, "test", "import \"./tests/cases/ad_map.rl\" as m", 0) && failed_with(r, "import"));
    replay_interrupt(r);
    CHECK(!replay_load(r, "test", "for (i in 0..10) { }", 0) && failed_with(r, "interrupt"));
    replay_close(r);
    c.limit = 1000;
    CHECK(replay_open(&c) == NULL);
}

/* Trains a small network; *out is the sum of its weights. */
static void *train(void *out)
{
    replay_config c = {.size = sizeof c, .threads = 1, .seed = 3};
    replay *r = replay_open(&c);
    *(double *)out = number(replay_load(r, "test",
                                        "x = randn(40, 5); y = sum(x^2, axis = 1)\n"
                                        "p = {w: 0.1 * randn(5, 16), b: zeros(16), v: 0.1 * randn(16)}\n"
                                        "fn loss(p) { h = checkpoint < tanh(x @ p.w + p.b) >; mean((h @ p.v - y)^2) }\n"
                                        "for (i in 0..30) { p = p - 0.05 * grad(loss)(p) }\n"
                                        "sum(p.w) + sum(p.v)",
                                        0));
    replay_close(r);
    return NULL;
}

static void threads(void)
{
    enum { N = 4 };
    pthread_t t[N];
    double out[N], alone;
    train(&alone);
    for (int i = 0; i < N; i++) CHECK(pthread_create(&t[i], NULL, train, &out[i]) == 0);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < N; i++) CHECK(out[i] == alone);
}

int main(void)
{
    two();
    values();
    functions();
    limits();
    threads();
    if (failures) printf("embed: %d of %d checks FAILED\n", failures, checks);
    else printf("embed: %d checks passed\n", checks);
    return failures != 0;
}
