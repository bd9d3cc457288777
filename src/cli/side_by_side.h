/* side_by_side.h - the same for each of some things, several at a time: for what mostly waits. */
#ifndef ORCA_CLI_SIDE_BY_SIDE_H
#define ORCA_CLI_SIDE_BY_SIDE_H

#include <stddef.h>

/* each(ctx, i) once for every i below n, on up to 64 threads; all are done when it returns. */
void side_by_side(size_t n, void (*each)(void *ctx, size_t i), void *ctx);

#endif
