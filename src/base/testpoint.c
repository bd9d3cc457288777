#include "base/testpoint.h"

#ifdef ORCA_TEST_POINTS
void (*test_point_hook)(const char *name);
int (*test_write_hook)(int fd);
#else
typedef int testpoint_is_empty_in_release_builds;
#endif

#ifdef ORCA_COUNT_WORK
uint64_t test_work;

/* Called by what the compiler inserts (-fsanitize-coverage=trace-pc). */
void __sanitizer_cov_trace_pc(void)
{
    test_work++;
}
#endif
