/* trial.h: runs one random program every way it must not matter, and says what differed. */
#ifndef RANDOM_TRIAL_H
#define RANDOM_TRIAL_H
#include "gen.h"

typedef enum verdict_kind {
    VERDICT_FINE,
    VERDICT_RUN,       /* it failed where it should not have */
    VERDICT_DIFFERS,   /* two ways of running it printed different things */
    VERDICT_MODES,     /* forward and reverse mode disagree */
    VERDICT_SECOND,    /* second derivatives disagree with each other */
    VERDICT_GRADIENT,  /* the gradient disagrees with central differences */
    VERDICT_CURVATURE, /* the second derivative disagrees with differences of gradients */
    VERDICT_LEAK,
    VERDICT_BUDGET, /* more bytes live than the budget, or refused though there was room */
    VERDICT_CRASH,  /* a signal; or it took too long */
    VERDICT_KINDS
} verdict_kind;
extern const char *const verdict_names[VERDICT_KINDS];

typedef struct verdict {
    verdict_kind kind;
    int budgets, refused;                     /* runs under a budget, and those of them that were refused */
    bool gradient_checked, curvature_checked; /* the differences could say something */
    double worst;                             /* relative error of the gradient against differences, where checked */
    char key[160];                            /* what kind of failure: equal for the same one in a smaller program */
    char what[3000];                          /* for people: which runs, and where they part */
} verdict;

/* Runs in a child process, so that nothing a program does reaches the next; `pid` identifies it until
   trial_end collects what it found. */
typedef struct trial {
    int pid, from;
} trial;
bool trial_begin(trial *c, const gen *g);
void trial_end(const trial *c, int status, verdict *v);
/* What is compared with the plain run. */
typedef struct checks {
    int blocks, ways, budgets; /* runs with blocks, in other ways, under budgets */
    int narrow;                /* percent of programs that are run with f32 too; F32_ALONE: no other run */
    bool differences;          /* derivatives with central differences */
} checks;
enum { F32_ALONE = 101 };
extern const checks check_all;
/* Here, in this process. */
void check_here(const gen *g, const checks *which, verdict *v);
/* Both. */
void check_program(const gen *g, verdict *v);
#endif
