/* signals.c: what the command does about signals. SIGPIPE keeps its default: a closed pipe ends the process
 * at a write to standard output, and files are never being replaced at that time. */
#include "signals.h"
#include "../vm/io.h"
#include <signal.h>
#include <stddef.h>
#include <time.h>

/* A handler is given nothing else to find them by. */
static volatile int *watched;
static volatile sig_atomic_t caught;

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* What sends a signal to a process and to its group, as timeout(1) does, sends it twice at once. */
static double caught_at;
static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void on_signal(int number)
{
    if (caught && watched && seconds() - caught_at < 0.1) return;
    if (caught || !watched) { /* the second: it will not wait for an operation to end */
        io_abandon();
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    caught_at = seconds();
    caught = number;
    __atomic_store_n(watched, INTERRUPT_USER, __ATOMIC_RELAXED);
}

void signals_watch(volatile int *flag)
{
    watched = flag;
    if (flag && caught) __atomic_store_n(flag, INTERRUPT_USER, __ATOMIC_RELAXED);
    struct sigaction now = {.sa_handler = flag ? on_signal : SIG_DFL, .sa_flags = SA_RESTART}, before;
    for (int i = 0; i < NUMBERS; i++) {
        sigaction(numbers[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) sigaction(numbers[i], &now, NULL); /* nohup, and shells' background jobs */
    }
}

void signals_leave(void)
{
    if (!caught) return;
    signal(caught, SIG_DFL);
    raise(caught);
}
