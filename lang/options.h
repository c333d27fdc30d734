/* options.h: the options of the command, one row each: what main.c reads, what `--help` prints and the table in
 * SPEC.md all come from here. */
#ifndef REPLAY_OPTIONS_H
#define REPLAY_OPTIONS_H
#include <stdbool.h>

/*     id           name             value      what it does */
#define OPTIONS(ROW) \
    ROW(BUDGET, "--budget", "SIZE", "live arrays never take more (64MB, 1GiB); what does not fit is computed again") \
    ROW(LIMIT, "--limit", "SIZE", "nothing the program holds takes more") \
    ROW(TIME, "--time", "SECONDS", "the program runs no longer; at the prompt, no entry does") \
    ROW(MAX_OUTPUT, "--max-output", "SIZE", "it prints no more") \
    ROW(NO_FILES, "--no-files", "", "it neither reads nor writes files, nor sees the environment") \
    ROW(FLOAT, "--float", "f32|f64", "dtype of the program's floats (f64)") \
    ROW(THREADS, "--threads", "N", "threads of array operations (as many as the machine has)") \
    ROW(SEED, "--seed", "N", "of random numbers (0)") \
    ROW(TRACE_NAN, "--trace-nan", "", "stop at the operation that makes the first nan or inf") \
    ROW(STATS, "--stats", "", "a summary of the run on standard error") \
    ROW(STATS_JSON, "--stats=json", "", "the same as one JSON object") \
    ROW(PROFILE, "--profile", "", "time and bytes by source line and primitive, on standard error") \
    ROW(NO_OPTIMISE, "--no-optimise", "", "run the Code as it was written") \
    ROW(NO_FUSE, "--no-fuse", "", "run each elementwise operation by itself") \
    ROW(NO_POOL, "--no-pool", "", "give the memory of arrays back at once, instead of using it again") \
    ROW(HELP, "--help", "", "this list") \
    ROW(VERSION, "--version", "", "the version, and what matrices are computed with")

typedef enum option_id {
#define ROW(id, name, value, help) OPTION_##id,
    OPTIONS(ROW)
#undef ROW
        OPTION_COUNT
} option_id;

typedef struct option_row {
    const char *name, *value, *help; /* value "": it takes none */
} option_row;
extern const option_row option_rows[OPTION_COUNT];
#endif
