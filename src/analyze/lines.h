/* lines.h - one entry for each thread, by its index into struct thread_set, made as threads
 * come. */
#ifndef ORCA_ANALYZE_LINES_H
#define ORCA_ANALYZE_LINES_H

#include <stddef.h>
#include <stdint.h>

/* The entries v[*n], of `size` bytes each, with that of a thread among them; new ones are zeroed.
 * Instead of v, which may have moved; NULL: memory is out, and v is as it was. */
void *lines_reach(void *v, size_t *n, size_t size, uint32_t thread);

#endif
