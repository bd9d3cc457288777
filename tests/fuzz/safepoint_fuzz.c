/* What the JVM writes into its log of safepoints (record/safepoint_log.h), line by line. */
#include "record/safepoint_log.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct safepoint_line *s)
{
    size_t n = strnlen(s->operation, sizeof s->operation);
    if (n == 0 || n == sizeof s->operation || s->since > s->reached || s->reached > s->until)
        abort();
    for (size_t i = 0; i < n; i++)
        if (s->operation[i] < ' ' || s->operation[i] > '~')
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct safepoint_log log = {.fd = -1};
    struct safepoint_line line;
    const char *p = (const char *)data, *end = p + size;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t n = nl ? (size_t)(nl - p) : (size_t)(end - p);
        char *copy = malloc(n ? n : 1); /* so that a read beyond it is seen */
        memcpy(copy, p, n);
        if (safepoint_log_parse(&log, copy, n, &line))
            check(&line);
        free(copy);
        p += n + 1;
    }
    return 0;
}
