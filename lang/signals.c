/* signals.c: what the command does about signals. SIGPIPE keeps its default: a closed pipe ends the process
 * at a write to standard output, and files are never being replaced at that time. */
#include "signals.h"
#include "../vm/vm.h"
#include <signal.h>
#include <stddef.h>

/* A handler is given nothing else to find them by. */
static volatile int *watched;
static volatile sig_atomic_t caught;

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static void on_signal(int number)
{
    if (caught || !watched) { /* the second: it will not wait for an operation to end */
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    caught = number;
    __atomic_store_n(watched, INTERRUPT_USER, __ATOMIC_RELAXED);
}

void signals_watch(volatile int *flag)
{
    watched = flag;
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
