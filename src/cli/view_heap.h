/* view_heap.h - telling heap dumps from traces. */
#ifndef ORCA_CLI_VIEW_HEAP_H
#define ORCA_CLI_VIEW_HEAP_H

#include <stdbool.h>

/* Whether a file begins as a heap dump (HPROF), also one that is compressed by gzip.  False, too,
 * for what cannot be read. */
bool view_heap_is(const char *path);

#endif
