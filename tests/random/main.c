/* main.c: checks many random programs, several at a time.
 *
 *   random                      RANDOM_COUNT programs (2000) from RANDOM_SEED (1) on
 *   random SEED                 one, with its findings
 *   random show SEED [plain]    its text
 * RANDOM_JOBS (2): how many at a time; RANDOM_MINIMISE (3): how many failures are made small;
 * RANDOM_CHECKS (400): checks spent on each. Exit status 0 when all passed. */
#include "minimise.h"
#include "host.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { JOBS_MAX = 64 };
typedef struct job {
    trial trial;
    uint64_t seed;
    bool busy;
} job;
typedef struct tally {
    unsigned long passed, failed, gradients, curvatures, with_differences, budgets, refused;
    unsigned long kinds[VERDICT_KINDS];
} tally;

static unsigned long setting(const char *name, unsigned long otherwise)
{
    const char *s = getenv(name);
    return s && *s ? strtoul(s, NULL, 10) : otherwise;
}

/* Builtins that the language has. The host stays open: nothing runs in it. */
static host known;
static bool knows(void *ctx, const char *name)
{
    (void)ctx;
    uint32_t index;
    symbol s = symbol_of(known.vm->symbols, name, strlen(name));
    bool yes = builtin_find(known.builtins, s, false, &index);
    if (!yes && getenv("RANDOM_UNKNOWN")) fprintf(stderr, "unknown: %s\n", name);
    return yes;
}
static const gen_config config = {.knows = knows};

static void report(uint64_t seed, verdict *v, bool small, unsigned long checks)
{
    gen *g = gen_new(seed, &config);
    printf("---- seed %llu: %s: %s\n", (unsigned long long)seed, verdict_names[v->kind], v->what);
    if (small) {
        size_t before = gen_size(g), n = minimise(g, v, checks);
        printf("---- made small, %zu parts to %zu, in %zu checks: %s\n", before, gen_size(g), n, v->what);
    }
    char *s = gen_text(g, GEN_BLOCKS);
    printf("%s----\n", s);
    fflush(stdout);
    free(s);
    gen_free(g);
}

static void settle(job *j, int status, tally *t, bool *any)
{
    verdict v;
    trial_end(&j->trial, status, &v);
    j->busy = false;
    *any = true;
    t->kinds[v.kind]++;
    t->gradients += v.gradient_checked;
    t->curvatures += v.curvature_checked;
    t->budgets += (unsigned long)v.budgets;
    t->refused += (unsigned long)v.refused;
    if (v.kind == VERDICT_FINE) {
        t->passed++;
        return;
    }
    t->failed++;
    unsigned long small = setting("RANDOM_MINIMISE", 3);
    if (t->failed <= small) report(j->seed, &v, true, setting("RANDOM_CHECKS", 400));
    else
        printf("seed %llu: %s (%s): %.*s\n", (unsigned long long)j->seed, verdict_names[v.kind], v.key, (int)strcspn(v.what, "\n"), v.what);
    fflush(stdout);
}

static int many(uint64_t seed, unsigned long count)
{
    job jobs[JOBS_MAX] = {0};
    unsigned long njobs = setting("RANDOM_JOBS", 2), started = 0, running = 0;
    if (njobs < 1 || njobs > JOBS_MAX) njobs = 2;
    tally t = {0};
    printf("random: %lu programs from seed %llu\n", count, (unsigned long long)seed);
    while (started < count || running) {
        for (unsigned long i = 0; i < njobs && started < count; i++) {
            if (jobs[i].busy) continue;
            jobs[i].seed = seed + started++;
            gen *g = gen_new(jobs[i].seed, &config);
            t.with_differences += gen_has_differences(g);
            if (!trial_begin(&jobs[i].trial, g)) {
                perror("random");
                return 2;
            }
            gen_free(g);
            jobs[i].busy = true;
            running++;
        }
        int status, pid = waitpid(-1, &status, 0);
        bool any = false;
        for (unsigned long i = 0; i < njobs && !any; i++)
            if (jobs[i].busy && jobs[i].trial.pid == pid) {
                running--;
                settle(&jobs[i], status, &t, &any);
            }
    }
    double part = count ? (double)t.gradients / (double)count : 1;
    for (int k = 1; k < VERDICT_KINDS; k++)
        if (t.kinds[k]) printf("random: %lu %s\n", t.kinds[k], verdict_names[k]);
    printf("random: differences checked %.1f %% of gradients, %.1f %% of second derivatives (%.1f %% have some)\n", 100 * part,
           count ? 100.0 * (double)t.curvatures / (double)count : 100.0,
           count ? 100.0 * (double)t.with_differences / (double)count : 100.0);
    printf("random: %lu runs under a budget, of which %lu were refused\n", t.budgets, t.refused);
    bool enough = part >= 0.9 || count < 100;
    if (!enough) printf("random: too few programs could be checked by differences\n");
    printf("random: %lu passed, %lu failed\n", t.passed, t.failed);
    return t.failed || !enough;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!host_open(&known, NULL)) return 2;
    if (argc > 2 && strcmp(argv[1], "show") == 0) {
        gen *g = gen_new(strtoull(argv[2], NULL, 10), &config);
        const char *how = argc > 3 ? argv[3] : "";
        char *s = gen_text(g, strcmp(how, "plain") == 0 ? 0 : strcmp(how, "trace") == 0 ? GEN_TRACE : GEN_BLOCKS);
        fputs(s, stdout);
        return 0;
    }
    if (argc > 1) {
        uint64_t seed = strtoull(argv[1], NULL, 10);
        gen *g = gen_new(seed, &config);
        verdict v;
        check_program(g, &v);
        gen_free(g);
        if (v.kind != VERDICT_FINE) report(seed, &v, setting("RANDOM_MINIMISE", 3) > 0, setting("RANDOM_CHECKS", 400));
        else
            printf("random: seed %llu passed; gradient %s, second derivative %s\n", (unsigned long long)seed,
                   v.gradient_checked ? "checked" : "not checked", v.curvature_checked ? "checked" : "not checked");
        return v.kind != VERDICT_FINE;
    }
    return many(setting("RANDOM_SEED", 1), setting("RANDOM_COUNT", 2000));
}
