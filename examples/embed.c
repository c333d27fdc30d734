/* embed.c: a model in Replay, trained from C.
 *
 *     gcc examples/embed.c $(pkg-config --cflags --libs replay) -lm -o embed
 *
 * It shows: a text loaded into a VM; arrays of the program lent to it without a copy; a function of the
 * program made a builtin, with its derivative as Replay text; a gradient taken; results read; and what an
 * error looks like. It prints
 *
 *     loss 1.1250 at the start
 *     loss 0.0000 after 200 steps
 *     w = [2, -1], b = 0.5
 *     shape: @: cannot multiply [4, 2] @ [3]: inner sizes 2 and 3 differ */
#include <math.h>
#include <replay.h>
#include <stdio.h>
#include <string.h>

static const char model[] = "fn loss(p, x, y) {\n"
                            "  r = checkpoint < x @ p.w + p.b - y >\n"
                            "  mean(gentle(r))\n"
                            "}\n"
                            "fn step(p, x, y) = p - 0.5 * grad(loss)(p, x, y)\n";

/* gentle(r) = r^2 / 2, element by element. x: of any shape; the result is like it. */
static replay_value *gentle(replay *r, replay_value *const *args, size_t n, void *user)
{
    (void)n, (void)user;
    replay_view x;
    double y[64];
    if (!replay_view_of(args[0], &x)) return NULL;
    if (x.size > 64) return replay_fail(r, "gentle() takes at most 64 numbers, not %lld", (long long)x.size);
    if (!replay_read(args[0], REPLAY_F64, y, (size_t)x.size)) return NULL;
    for (int64_t i = 0; i < x.size; i++) y[i] = y[i] * y[i] / 2;
    return replay_array(r, REPLAY_F64, x.rank, x.shape, y);
}

static int complain(replay *r)
{
    const replay_diagnostic *d = replay_error(r);
    fprintf(stderr, "%s", d ? d->rendered : "no memory\n");
    replay_close(r);
    return 1;
}

int main(void)
{
    static const double x[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, y[4] = {0.5, -0.5, 2.5, 1.5};
    replay_config config = {.size = sizeof config, .threads = 1, .limit = 64 << 20, .time_limit = 10};
    replay *r = replay_open(&config);
    if (!r) return complain(r);

    replay_primitive p = {.size = sizeof p,
                          .name = "gentle",
                          .parameters = "r",
                          .call = gentle,
                          .derivative = "fn(dy, y, r) = dy * r",
                          .help = "half the square"};
    if (!replay_register(r, &p)) return complain(r);
    replay_value *done = replay_load(r, "model", model, 0);
    if (!done) return complain(r);
    replay_release(done);

    replay_value *xs = replay_wrap(r, REPLAY_F64, 2, (int64_t[]){4, 2}, NULL, x, NULL, NULL);
    replay_value *ys = replay_wrap(r, REPLAY_F64, 1, (int64_t[]){4}, NULL, y, NULL, NULL);
    replay_value *w = replay_array(r, REPLAY_F64, 1, (int64_t[]){2}, (double[]){0, 0});
    replay_value *b = replay_f64(r, 0);
    replay_value *params = replay_record(r, (const char *[]){"w", "b"}, (const replay_value *[]){w, b}, 2);
    if (!xs || !ys || !params) return complain(r);
    for (int i = 0; i <= 200; i++) {
        const replay_value *args[] = {params, xs, ys};
        if (i % 200 == 0) {
            double loss;
            replay_value *l = replay_call(r, "loss", args, 3);
            if (!replay_to_double(l, &loss)) return complain(r);
            printf(i ? "loss %.4f after %d steps\n" : "loss %.4f at the start\n", loss, i);
            replay_release(l);
        }
        replay_value *next = replay_call(r, "step", args, 3);
        if (!next) return complain(r);
        replay_release(params);
        params = next;
    }
    double fitted[2], bias;
    replay_value *fw = replay_field(params, "w"), *fb = replay_field(params, "b");
    if (!replay_read(fw, REPLAY_F64, fitted, 2) || !replay_to_double(fb, &bias)) return complain(r);
    printf("w = [%g, %g], b = %g\n", round(fitted[0] * 1e6) / 1e6, round(fitted[1] * 1e6) / 1e6, round(bias * 1e6) / 1e6);

    replay_value *wrong = replay_load(r, "wrong", "ones(4, 2) @ ones(3)", 0);
    if (!wrong) printf("%s: %s\n", replay_error(r)->code, replay_error(r)->message);

    replay_value *all[] = {xs, ys, w, b, params, fw, fb, wrong};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) replay_release(all[i]);
    replay_close(r);
    return 0;
}
