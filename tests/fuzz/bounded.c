/* bounded.c - in the variant `test`, stands in front of a fuzz target (--wrap) and holds what each
 * input costs against the target's row in tests/limits.def.  ORCA_WORK=1 prints it. */
#include "../counted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* "heap-replay" */
static const struct limit *limit_of_target(void)
{
    char name[64];
    snprintf(name, sizeof name, "%s", program_invocation_short_name);
    name[strcspn(name, "-")] = 0;
    const struct limit *l = limit_find(name);
    if (l)
        return l;
    fprintf(stderr, "tests/limits.def has no row for the fuzz target %s\n", name);
    exit(2);
}

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct limit *limit;
    char why[200];
    if (!limit) {
        limit = limit_of_target();
        __real_LLVMFuzzerTestOneInput((const uint8_t *)"", 0); /* what is done once */
    }
    counted_begin();
    int rc = __real_LLVMFuzzerTestOneInput(data, size);
    struct counted c = counted_end();
    if (getenv("ORCA_WORK"))
        fprintf(stderr, "%s: %zu bytes: %llu blocks, %llu bytes of memory\n", limit->name, size,
                (unsigned long long)c.work, (unsigned long long)c.bytes);
    if (limit_holds(limit, c, size, why))
        return rc;
    fprintf(stderr, "%s\n", why);
    exit(1);
}
