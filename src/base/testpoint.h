/* testpoint.h - named places inside races, where a test can stop, kill or reorder; and what work
 * was done, where a test can count it.
 *
 * TEST_POINT("stage:committed") does nothing in a release build; with ORCA_TEST_POINTS it calls the
 * hook that a test has installed.
 *
 * In the variant `test` the compiler counts each basic block that runs (but for those of libraries)
 * in test_work; TEST_WORK(bytes) adds the work of a library, or the kernel, for that number of
 * bytes.  So tests can check that the cost of hostile input stays in proportion to its length,
 * which a clock cannot show. */
#ifndef ORCA_BASE_TESTPOINT_H
#define ORCA_BASE_TESTPOINT_H

#ifdef ORCA_TEST_POINTS
/* Asked before each fdio_pwrite_all: a negative errno makes it fail, half of it done. */
extern int (*test_write_hook)(int fd);
extern void (*test_point_hook)(const char *name);
#define TEST_POINT(name)                                                                           \
    do {                                                                                           \
        if (test_point_hook)                                                                       \
            test_point_hook(name);                                                                 \
    } while (0)
#else
#define TEST_POINT(name) ((void)0)
#endif

#ifdef ORCA_COUNT_WORK
#include <stdint.h>

extern uint64_t test_work;
void __sanitizer_cov_trace_pc(void);
#define TEST_WORK(bytes) ((void)(test_work += (uint64_t)(bytes) / 16))
#else
#define TEST_WORK(bytes) ((void)0)
#endif

#endif
