/* printed.h - what is written to standard output, and to standard error, while something runs. */
#ifndef ORCA_TESTS_PRINTED_H
#define ORCA_TESTS_PRINTED_H

#include <stdbool.h>
#include <stdio.h>

struct printed {
    FILE *to;
    int out, err; /* what they were; -1: left alone */
};

/* From here on it goes into a file, in the order in which it is written. */
struct printed printed_begin(bool errors_too);

/* As it was before.  The text is the caller's to free. */
char *printed_end(struct printed *p);

#endif
