/* file.c: any bytes as a file, for every reader (libFuzzer). In: a byte that chooses the suffix, then the file.
 * It must load or fail with an error. */
#include <replay.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const suffixes[] = {"npy", "csv", "tsv", "idx", "npy.gz", "csv.gz", "npz", "json", "safetensors", "png", "state"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    char path[100];
    snprintf(path, sizeof path, "/tmp/replay-fuzz-%d.%s", (int)getpid(), suffixes[data[0] % (sizeof suffixes / sizeof *suffixes)]);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data + 1, 1, size - 1, f) != size - 1 || fclose(f)) abort();
    replay_config c = {.size = sizeof c, .threads = 1, .limit = 64 << 20, .time_limit = 1};
    static replay *r;
    if (!r && !(r = replay_open(&c))) abort();
    replay_value *name = replay_string(r, path, 0);
    const replay_value *args[] = {name};
    replay_value *v = replay_call(r, "load", args, 1);
    if (!v && !replay_error(r)) abort();
    replay_release(v);
    replay_release(name);
    unlink(path);
    return 0;
}
