/* program.c: the generator of tests/random, its choices made by the fuzzer's bytes (libFuzzer). A program is run
 * with and without its blocks (slots, budgets and policies among their options), with the optimiser and fusion on
 * and off, on one and two threads, under budgets, and in f32; its derivatives are compared with each other and
 * with differences, and nothing may be live at the end: see tests/random/trial.c. */
#include "../random/trial.h"
#include "host.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static host known;
static bool knows(void *ctx, const char *name)
{
    (void)ctx;
    uint32_t index;
    return builtin_find(known.builtins, symbol_of(known.vm->symbols, name, strlen(name)), false, &index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!known.vm && !host_open(&known, NULL)) abort();
    uint64_t seed = 14695981039346656037u;
    for (size_t i = 0; i < size; i++) seed = (seed ^ data[i]) * 1099511628211u;
    gen_config c = {.knows = knows, .bytes = data, .nbytes = size};
    gen *g = gen_new(seed, &c);
    verdict v = {0};
    check_here(g, &v);
    if (v.kind != VERDICT_FINE) {
        char *s = gen_text(g, GEN_BLOCKS);
        fprintf(stderr, "%s: %s\n%s", verdict_names[v.kind], v.what, s);
        abort();
    }
    gen_free(g);
    return 0;
}
