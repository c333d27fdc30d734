/* unit.h: what every unit test shares. A test file is a program: it defines tests with START_TEST
 * and ends in UNIT_MAIN(name, test, …), which runs them in one process (so that a debugger and the
 * sanitizers see everything) and returns nonzero when one fails. CK_RUN_CASE and the like work. */
#ifndef REPLAY_UNIT_H
#define REPLAY_UNIT_H
#include "memory.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Each assertion would note its place in a file, for a process that dies; ours do not fork, and some assert of every
   byte. A failed one says its place all the same. */
#define _mark_point(file, line) ((void)0)

/* Check's own prototype of a test is not strict; silence what its macros would say of our files. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static inline int unit_run(const char *name, const TTest *const *tests, size_t n)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    for (size_t i = 0; i < n; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define UNIT_MAIN(name, ...) \
    int main(void) \
    { \
        const TTest *const tests[] = {__VA_ARGS__}; \
        return unit_run(name, tests, sizeof tests / sizeof *tests); \
    }

/* Runs `body` on a fresh memory again and again, with its first allocation refused, then its second
 * and so on, until none is. body returns whether it reached its end; it may fail but must let go of
 * everything, and must not fail when nothing was refused. */
static inline void unit_fail_each(bool (*body)(memory *m))
{
    for (uint64_t k = 1;; k++) {
        memory m;
        ck_assert(memory_open(&m));
        m.fail_at = k;
        bool reached = body(&m);
        ck_assert_msg(m.live_all == 0, "%zu bytes held after allocation %llu was refused", m.live_all, (unsigned long long)k);
        bool refused = m.count >= k;
        memory_close(&m);
        ck_assert(reached || refused);
        if (!refused) return;
    }
}
#endif
