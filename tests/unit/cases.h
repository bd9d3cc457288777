/* cases.h - how many random cases a test plays.
 *
 * A sanitizer looks for what memory and arithmetic do wrong; that shows in every case of a kind,
 * and the first fifth of the cases has all kinds.  What is rare because several things must
 * coincide is a matter of results, which the same cases have without it: there all of them are
 * played. */
#ifndef ORCA_TESTS_CASES_H
#define ORCA_TESTS_CASES_H

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CASES(n) ((n) / 5)
#else
#define CASES(n) (n)
#endif

/* `./dev check` plays all of n cases, `./dev test` the first third (tests/plan). */
static inline int cases(int n)
{
    const char *which = getenv("ORCA_TESTS");
    return which && strcmp(which, "all") == 0 ? n : n / 3;
}

/* From one case to the next, where each is as good as its neighbours. */
static inline int cases_step(void)
{
    return 3 / cases(3);
}

#endif
