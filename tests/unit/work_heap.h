/* work_heap.h - all answers about a heap dump, for the tests of what they cost. */
#ifndef ORCA_TESTS_WORK_HEAP_H
#define ORCA_TESTS_WORK_HEAP_H

#include "work.h"

/* `orca heap` with all of its sections, as text and JSON, and the viewer's answers; returns how
 * long the file is, unpacked. */
uint64_t work_read_heap(const struct buf *file);

#endif
