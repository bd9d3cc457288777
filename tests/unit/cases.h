/* cases.h - how many random cases a test plays.
 *
 * A sanitizer looks for what memory and arithmetic do wrong; that shows in every case of a kind,
 * and the first fifth of the cases has all kinds.  What is rare because several things must
 * coincide is a matter of results, which the same cases have without it: there all of them are
 * played. */
#ifndef ORCA_TESTS_CASES_H
#define ORCA_TESTS_CASES_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CASES(n) ((n) / 5)
#else
#define CASES(n) (n)
#endif

#endif
