/* text.c: any text as a program, from lexer to result (libFuzzer). In: bytes; the run has 64 MB, a fifth of a second, no
 * files and no output. It must end with a value or an error, whatever the text is; every hundredth VM is
 * closed, so that leaks show. */
#include <replay.h>
#include <stdlib.h>

static bool swallow(void *user, const char *s, size_t n)
{
    (void)user, (void)s, (void)n;
    return true;
}
static void quiet(void *user, const replay_diagnostic *d) { (void)user, (void)d; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static replay *r;
    static unsigned runs;
    replay_config c = {.size = sizeof c,
                       .threads = 1,
                       .limit = 64 << 20,
                       .time_limit = 0.2,
                       .output_limit = 1 << 20,
                       .no_files = true,
                       .output = swallow,
                       .diagnostic = quiet};
    if (!r && !(r = replay_open(&c))) abort();
    if (!size) return 0;
    replay_value *v = replay_load(r, "fuzz", (const char *)data, size);
    if (!v && !replay_error(r)) abort();
    replay_release(v);
    if (++runs % 100 == 0) {
        replay_close(r);
        r = NULL;
    }
    return 0;
}
