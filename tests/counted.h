/* counted.h - what something costs, in the variant `test`: the work that was done, and the most
 * memory that was held at once.
 *
 * Work is counted in basic blocks of the analyser (base/testpoint.h).  What libraries do comes to
 * it by bytes, a block for 16 of them, and a system call counts as 100: counted.c stands in front
 * of these functions (Makefile, COUNTED_CALLS).  Memory is what malloc and its like gave out,
 * whoever asked.  So both are the same on each machine, but for what threads do beside each
 * other. */
#ifndef ORCA_TESTS_COUNTED_H
#define ORCA_TESTS_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counted {
    uint64_t work;  /* blocks */
    uint64_t bytes; /* held at once, beyond what there was at the beginning */
};

void counted_begin(void);
struct counted counted_end(void);

/* What reading a file of some kind may cost: the rows of tests/limits.def. */
struct limit {
    const char *name;
    uint64_t work, work_per_byte;
    uint64_t bytes, bytes_per_byte;
};

/* NULL: no such row. */
const struct limit *limit_find(const char *name);

/* Whether it stays within the limit for `size` bytes read; else what is wrong is in `why`. */
bool limit_holds(const struct limit *l, struct counted c, uint64_t size, char why[200]);

#endif
