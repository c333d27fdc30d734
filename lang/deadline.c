/* deadline.c: the thread behind a limit of time. All of its state is behind one mutex; the only thing it
 * shares with the VM is the interrupt flag, an int written here and read there. */
#include "deadline.h"
#include "../vm/io.h"
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct deadline {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    volatile int *flag;
    double grace;
    struct timespec until;
    bool armed, closing, fired;
};

static struct timespec after(struct timespec t, double seconds)
{
    double whole = floor(seconds < 1e9 ? seconds : 1e9);
    t.tv_sec += (time_t)whole;
    t.tv_nsec += (long)((seconds < 1e9 ? seconds - whole : 0) * 1e9);
    if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
    return t;
}

_Noreturn static void leave(void)
{
    static const char message[] = "error[interrupt]: the time limit is over, and an operation did not end\n";
    ssize_t n = write(STDERR_FILENO, message, sizeof message - 1);
    (void)n;
    io_abandon();
    _exit(1);
}

static void *watch(void *p)
{
    deadline *d = p;
    pthread_mutex_lock(&d->lock);
    while (!d->closing) {
        if (!d->armed || (d->fired && d->grace <= 0)) {
            pthread_cond_wait(&d->changed, &d->lock);
            continue;
        }
        struct timespec t = d->fired ? after(d->until, d->grace) : d->until;
        if (pthread_cond_timedwait(&d->changed, &d->lock, &t) != ETIMEDOUT || !d->armed || d->closing) continue;
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec < t.tv_sec || (now.tv_sec == t.tv_sec && now.tv_nsec < t.tv_nsec)) continue;
        if (d->fired) leave();
        d->fired = true;
        __atomic_store_n(d->flag, INTERRUPT_TIME, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

deadline *deadline_open(volatile int *flag, double grace)
{
    deadline *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->flag = flag;
    d->grace = grace;
    pthread_condattr_t how;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, &how);
    pthread_condattr_destroy(&how);
    /* Signals are the program's own business, not this thread's. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool fine = pthread_create(&d->thread, NULL, watch, d) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (fine) return d;
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d);
    return NULL;
}

void deadline_arm(deadline *d, double seconds)
{
    pthread_mutex_lock(&d->lock);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    d->until = after(now, seconds);
    d->armed = true;
    d->fired = false;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

void deadline_aim(deadline *d, volatile int *flag)
{
    if (!d) return;
    pthread_mutex_lock(&d->lock);
    d->flag = flag;
    if (d->armed && d->fired) __atomic_store_n(flag, INTERRUPT_TIME, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&d->lock);
}

void deadline_disarm(deadline *d)
{
    if (!d) return;
    pthread_mutex_lock(&d->lock);
    d->armed = false;
    int late = INTERRUPT_TIME; /* it fired after the work was done; a user's interrupt stays */
    if (d->fired) __atomic_compare_exchange_n(d->flag, &late, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

void deadline_close(deadline *d)
{
    if (!d) return;
    pthread_mutex_lock(&d->lock);
    d->closing = true;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d);
}
