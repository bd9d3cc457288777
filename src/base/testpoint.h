/* testpoint.h - named places inside races, where a test can stop, kill or reorder.
 *
 * TEST_POINT("stage:committed") does nothing in a release build; with ORCA_TEST_POINTS it calls the
 * hook that a test has installed. */
#ifndef ORCA_BASE_TESTPOINT_H
#define ORCA_BASE_TESTPOINT_H

#ifdef ORCA_TEST_POINTS
extern void (*test_point_hook)(const char *name);
#define TEST_POINT(name)                                                                           \
    do {                                                                                           \
        if (test_point_hook)                                                                       \
            test_point_hook(name);                                                                 \
    } while (0)
#else
#define TEST_POINT(name) ((void)0)
#endif

#endif
