/* program.c: the generator of tests/random, its choices made by the fuzzer's bytes (libFuzzer). A program is run
 * plainly, which compares forward with reverse mode, and then as its bytes choose: with its blocks (slots, budgets and
 * policies among their options), with the optimiser and fusion on and off, on one and two threads, under
 * budgets, in f32, or for central differences. See tests/random/trial.c, which does all of it to each program of
 * `make random`. */
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

static const checks some[] = {{.blocks = 1},         {.ways = 1},
                              {.ways = 1},           {.budgets = 1},
                              {.budgets = 1},        {.narrow = F32_ALONE, .blocks = 1},
                              {.differences = true}, {.blocks = 1, .budgets = 1}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!known.vm && !host_open(&known, NULL)) abort();
    uint64_t seed = 14695981039346656037u;
    for (size_t i = 0; i < size; i++) seed = (seed ^ data[i]) * 1099511628211u;
    gen_config c = {.knows = knows, .bytes = data, .nbytes = size, .small = seed >> 33 & 3};
    gen *g = gen_new(seed, &c);
    verdict v = {0};
    check_here(g, &some[seed >> 40 & 7], &v);
    if (v.kind != VERDICT_FINE) {
        char *s = gen_text(g, GEN_BLOCKS);
        fprintf(stderr, "%s: %s\n%s", verdict_names[v.kind], v.what, s);
        abort();
    }
    gen_free(g);
    return 0;
}
