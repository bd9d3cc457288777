#include "analyze/lines.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

void *lines_reach(void *v, size_t *n, size_t size, uint32_t thread)
{
    if (thread < *n)
        return v;
    size_t more = max_u64((uint64_t)thread + 1, *n * 2);
    char *lines = realloc(v, more * size);
    if (!lines)
        return NULL;
    memset(lines + *n * size, 0, (more - *n) * size);
    *n = more;
    return lines;
}
