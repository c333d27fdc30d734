/* text.c: any text as a program, from lexer to result (libFuzzer). In: bytes; the run has 64 MB, a fifth of a second, no
 * files and no output. It must end with a value or an error, whatever the text is. Every hundredth VM is closed, when
 * nothing may be held any more; if something is, each of the hundred texts has a VM of its own, to find whose it is. */
#include <replay.h>
#include "held.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 100 };
static struct {
    char *text;
    size_t size;
} ran[RUNS];

static bool swallow(void *user, const char *s, size_t n)
{
    (void)user, (void)s, (void)n;
    return true;
}
static void quiet(void *user, const replay_diagnostic *d) { (void)user, (void)d; }

static replay *open_vm(void)
{
    replay_config c = {.size = sizeof c,
                       .threads = 1,
                       .limit = 64 << 20,
                       .time_limit = 0.2,
                       .output_limit = 1 << 20,
                       .no_files = true,
                       .output = swallow,
                       .diagnostic = quiet};
    replay *r = replay_open(&c);
    if (!r) abort();
    return r;
}

static void run(replay *r, const char *s, size_t size)
{
    replay_value *v = replay_load(r, "fuzz", s, size);
    if (!v && !replay_error(r)) abort();
    replay_release(v);
}

_Noreturn static void leaked(void)
{
    fprintf(stderr, "%zu bytes held after the end of %d texts\n", held, RUNS);
    for (int i = 0; i < RUNS; i++) {
        replay *r = open_vm();
        run(r, ran[i].text, ran[i].size);
        replay_close(r);
        if (held) fprintf(stderr, "%zu bytes held after:\n%.*s\n", held, (int)ran[i].size, ran[i].text);
    }
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static replay *r;
    static unsigned runs;
    if (!r) r = open_vm();
    if (!size) return 0;
    free(ran[runs].text);
    if (!(ran[runs].text = malloc(size))) abort();
    memcpy(ran[runs].text, data, size);
    ran[runs].size = size;
    run(r, (const char *)data, size);
    if (++runs == RUNS) {
        runs = 0;
        replay_close(r);
        r = NULL;
        if (held) leaked();
    }
    return 0;
}
