#include "base/testpoint.h"

#ifdef ORCA_TEST_POINTS
void (*test_point_hook)(const char *name);
#else
typedef int testpoint_is_empty_in_release_builds;
#endif
