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

/* Every way to make a value, and every question about one, with what it answers when the value is another. */
static void making(void)
{
    record k = {.n = 0};
    replay_config c = {.size = sizeof c, .threads = 1, .user = &k, .output = take, .diagnostic = warned};
    replay *r = replay_open(&c);
    CHECK(replay_version()[0] >= '0' && replay_version()[0] <= '9');
    replay_value *v[] = {replay_none(r),      replay_bool(r, true), replay_i64(r, -3),     replay_f32(r, 0.5f),
                         replay_f64(r, 0.25), replay_number(r, 2),  replay_number(r, 0.1), replay_string(r, "h\xc3\xa9", 3)};
    enum { N = sizeof v / sizeof *v };
    replay_value *t = replay_tuple(r, (const replay_value *const *)v, N), *empty = replay_tuple(r, NULL, 0);
    CHECK(replay_length(t) == N && replay_length(empty) == 0 && replay_type_of(empty) == REPLAY_TUPLE);
    CHECK(!strcmp(replay_print(t), "(none, true, -3, 0.5, 0.25, 2, 0.1, \"h\xc3\xa9\")"));
    CHECK(replay_set(r, "t", t));
    CHECK(!strcmp(replay_print(v[7]), "h\xc3\xa9") && replay_length(v[7]) == 3 && replay_length(v[0]) == 0 && replay_length(NULL) == 0);
    /* Numbers of a literal take the dtype of what they meet. */
    run(r, "d = (dtype(t[3] * t[5]), dtype(t[3] * t[6]), dtype(t[3] * t[4]), dtype(t[2] + t[5]), dtype(t[1]))");
    replay_value *d = replay_get(r, "d");
    CHECK(!strcmp(replay_print(d), "(\"f32\", \"f32\", \"f64\", \"i64\", \"bool\")"));
    static const replay_type types[N] = {REPLAY_NONE,  REPLAY_ARRAY, REPLAY_ARRAY, REPLAY_ARRAY,
                                         REPLAY_ARRAY, REPLAY_ARRAY, REPLAY_ARRAY, REPLAY_STRING};
    for (int i = 0; i < N; i++) CHECK(replay_type_of(v[i]) == types[i]);
    CHECK(replay_type_of(NULL) == REPLAY_NONE);
    replay_value *f = replay_load(r, "test", "fn(x) = x", 0);
    CHECK(replay_type_of(f) == REPLAY_FUNCTION && replay_length(f) == 0);
    /* rank 0 is a number, of each dtype. */
    uint8_t on = 7;
    int64_t whole = -5, x = 0;
    float half = 0.5f, single;
    double quarter = 0.25, y;
    replay_value *zero[] = {replay_array(r, REPLAY_BOOL, 0, NULL, &on), replay_array(r, REPLAY_I64, 0, NULL, &whole),
                            replay_array(r, REPLAY_F32, 0, NULL, &half), replay_array(r, REPLAY_F64, 0, NULL, &quarter)};
    CHECK(replay_to_i64(zero[0], &x) && x == 1 && replay_to_i64(zero[1], &x) && x == -5);
    CHECK(replay_to_double(zero[2], &y) && y == 0.5 && replay_to_double(zero[3], &y) && y == 0.25 && !replay_to_i64(zero[3], &x));
    CHECK(replay_read(zero[2], REPLAY_F32, &single, 1) && single == 0.5f);
    for (int i = 0; i < 4; i++) replay_release(zero[i]);
    /* Bytes that are not 0 are true. */
    replay_value *b = replay_array(r, REPLAY_BOOL, 1, (int64_t[]){3}, (uint8_t[]){0, 2, 255});
    int64_t ones[3];
    CHECK(!strcmp(replay_print(b), "[false, true, true]") && replay_read(b, REPLAY_I64, ones, 3) && ones[1] == 1 && ones[2] == 1);
    CHECK(replay_length(b) == 3 && replay_type_of(b) == REPLAY_ARRAY);
    replay_value *same = replay_retain(b);
    replay_release(b);
    CHECK(same == b && replay_length(same) == 3);
    CHECK(replay_to_i64(v[5], &x) && x == 2 && replay_to_i64(v[1], &x) && x == 1);
    /* Questions about what has no answer. */
    replay_view view;
    CHECK(!replay_view_of(v[7], &view) && failed_with(r, "type") && !replay_to_double(t, &y) && failed_with(r, "type"));
    CHECK(!replay_to_i64(v[7], &x) && failed_with(r, "type") && !replay_read(f, REPLAY_F64, &y, 1) && failed_with(r, "type"));
    CHECK(!replay_text_of(v[2], NULL) && failed_with(r, "type") && !replay_item(v[2], 0) && failed_with(r, "type"));
    CHECK(!replay_field(t, "a") && failed_with(r, "type") && !replay_field_name(t, 0));
    CHECK(!replay_to_double(same, &y) && failed_with(r, "type"));
    /* A part that could not be made. */
    CHECK(!replay_tuple(r, (const replay_value *const[]){v[0], NULL}, 2) && !replay_call(r, "sum", (const replay_value *const[]){NULL}, 1));
    CHECK(failed_with(r, "type"));
    replay_value *pair = replay_record(r, (const char *const[]){"a", "b"}, (const replay_value *const *)v, 2);
    CHECK(!strcmp(replay_print(pair), "{a: none, b: true}") && !strcmp(replay_field_name(pair, 1), "b") && !replay_field_name(pair, 2));
    CHECK(!replay_record(r, (const char *const[]){"a", "a"}, (const replay_value *const *)v, 2) && replay_error(r));
    CHECK(!replay_vjp(r, v[2], NULL, 0, &b) && failed_with(r, "type"));
    /* Warnings come to the host; files are read by name. */
    run(r, "fn late(x) {\n    return x\n    x + 1\n}");
    CHECK(k.warnings == 1);
    CHECK(!replay_load_file(r, "/nonexistent/file.rl") && failed_with(r, "file"));
    FILE *file = fopen("embed-test.rl", "w");
    CHECK(file && fputs("from_file = 41\nfrom_file + 1\n", file) >= 0 && fclose(file) == 0);
    CHECK(number(replay_load_file(r, "embed-test.rl")) == 42 && number(replay_get(r, "from_file")) == 41);
    remove("embed-test.rl");
    size_t live, peak;
    replay_memory(r, &live, &peak);
    replay_memory(r, NULL, NULL);
    CHECK(live > 0 && peak >= live);
    for (int i = 0; i < N; i++) replay_release(v[i]);
    replay_release(t), replay_release(empty), replay_release(d), replay_release(f), replay_release(same), replay_release(pair);
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
    /* what failed leaves nothing behind: its name is free */
    p = (replay_primitive){.size = sizeof p, .name = "twice", .parameters = "x", .call = cube, .derivative = "fn(dy, y, x) = dy * typo(x)"};
    CHECK(!replay_register(r, &p) && failed_with(r, "name"));
    CHECK(!replay_load(r, "test", "twice(2.0)", 0) && failed_with(r, "name") && !strstr(replay_error(r)->message, "host"));
    p.derivative = "fn(dy, y, x) = dy * 3 * x^2";
    CHECK(replay_register(r, &p));
    CHECK(number(replay_load(r, "test", "grad(twice)(2.0)", 0)) == 12);
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

static bool refused_for_memory(const replay *r, const void *made)
{
    if (!made) CHECK(failed_with(r, "memory"));
    return !made;
}

/* From nothing left below the limit to enough: each call gives what it should, or NULL and error "memory". */
static void hunger(void)
{
    size_t refused = 0, complete = 0, live;
    replay_config c = {.size = sizeof c, .threads = 1, .limit = 8 << 20};
    for (size_t left = 0; left < 240000; left += 1501) {
        replay *r = replay_open(&c);
        replay_memory(r, &live, NULL);
        int64_t rest = (int64_t)(c.limit - live - 600 - left);
        void *most = calloc((size_t)rest, 1);
        replay_value *ballast = replay_array(r, REPLAY_BOOL, 1, &rest, most);
        free(most);
        CHECK(ballast != NULL);
        static const char letters[600] = "letters";
        static const double numbers[100] = {1, 2};
        replay_value *s = replay_string(r, letters, sizeof letters - 1), *a = replay_array(r, REPLAY_F64, 1, (int64_t[]){100}, numbers);
        bool any = refused_for_memory(r, s) | refused_for_memory(r, a);
        const replay_value *parts[] = {s, a};
        replay_value *t = any ? NULL : replay_tuple(r, parts, 2), *k = any ? NULL : replay_record(r, (const char *[]){"s", "a"}, parts, 2);
        if (!any) any |= refused_for_memory(r, t) | refused_for_memory(r, k);
        if (!any && !replay_set(r, "k", k)) any = true, CHECK(failed_with(r, "memory"));
        replay_value *f = replay_load(r, "test", "fn f(x) = sum(sin(x) * x)\nf", 0), *g = NULL, *y = NULL, *dy = NULL, *back = NULL;
        any |= refused_for_memory(r, f);
        if (!any) any |= refused_for_memory(r, g = replay_grad(r, f, NULL));
        if (!any) any |= refused_for_memory(r, y = replay_value_and_grad(r, f, NULL, parts + 1, 1, &dy));
        if (!any) CHECK(replay_length(dy) == 100 && replay_print(y)[0] != 0);
        replay_release(y), y = NULL;
        if (!any) any |= refused_for_memory(r, y = replay_vjp(r, f, parts + 1, 1, &back));
        if (!any) any |= refused_for_memory(r, replay_print(k));
        refused += any, complete += !any;
        replay_release(s), replay_release(a), replay_release(t), replay_release(k), replay_release(f), replay_release(g);
        replay_release(y), replay_release(dy), replay_release(back);
        replay_memory(r, &live, NULL);
        CHECK(live <= c.limit + 65536); /* room to say that there is none */
        replay_release(ballast);
        replay_close(r);
    }

    CHECK(refused > 10 && complete > 10);
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
    making();
    functions();
    limits();
    hunger();
    threads();
    if (failures) printf("embed: %d of %d checks FAILED\n", failures, checks);
    else printf("embed: %d checks passed\n", checks);
    return failures != 0;
}
