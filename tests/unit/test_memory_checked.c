/* test_memory_checked.c: the checks that a checked build makes when a block is freed. memory.c is
 * compiled in here with them on, so that every build tests them; each fault must stop its process. */
#ifndef REPLAY_CHECK_MEMORY
#define REPLAY_CHECK_MEMORY
#endif
#include "vm/memory.c"

#include "unit.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static memory m;

/* Whether `fault` ends in abort or in the sanitizer's report. */
static bool stops(void (*fault)(void))
{
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        if (!memory_open(&m)) _exit(0);
        fault();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void wrong_size(void)
{
    memory_alloc(&m, MEM_VALUE, 100);
    memory_free(&m, MEM_VALUE, memory_alloc(&m, MEM_VALUE, 40), 48);
}

static void wrong_tag(void)
{
    memory_alloc(&m, MEM_CODE, 40);
    memory_free(&m, MEM_CODE, memory_alloc(&m, MEM_VALUE, 40), 40);
}

static void wrong_array_size(void)
{
    memory_array_alloc(&m, 100);
    memory_array_free(&m, memory_array_alloc(&m, 40), 48);
}

static void wrong_resize(void) { memory_resize(&m, MEM_VALUE, memory_alloc(&m, MEM_VALUE, 40), 48, 100); }

static void past_the_end(void)
{
    volatile char *p = memory_array_alloc(&m, 40);
    p[40] = 1;
    memory_array_free(&m, (void *)p, 40);
}

static void more_than_held(void)
{
    int x = 0;
    memory_free(&m, MEM_VALUE, &x, sizeof x);
}

static void nothing_wrong(void)
{
    void *p = memory_alloc(&m, MEM_VALUE, 40);
    p = memory_resize(&m, MEM_VALUE, p, 40, 4000);
    memset(p, 1, 4000);
    p = memory_resize(&m, MEM_VALUE, p, 4000, 4);
    memory_free(&m, MEM_VALUE, p, 4);
    memory_array_free(&m, memory_array_alloc(&m, 100), 100);
    memory_close(&m);
}

START_TEST(faults_stop_where_they_happen)
{
    ck_assert(memory_checked());
    ck_assert(!stops(nothing_wrong));
    ck_assert(stops(wrong_size));
    ck_assert(stops(wrong_tag));
    ck_assert(stops(wrong_array_size));
    ck_assert(stops(wrong_resize));
    ck_assert(stops(past_the_end));
    ck_assert(stops(more_than_held));
}
END_TEST

UNIT_MAIN("memory, checked", faults_stop_where_they_happen)
