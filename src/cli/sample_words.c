#include "cli/sample_words.h"

#include "base/human.h"

void put_without_stack(struct buf *b, const uint64_t failed[SAMPLE_ERRORS])
{
    const char *before = "; without a stack ";
    for (unsigned i = 0; i < SAMPLE_ERRORS; i++) {
        if (!failed[i])
            continue;
        buf_printf(b, "%s%s: %s", before, human_count(failed[i]).text, sample_errors[i].doc);
        before = ", ";
    }
}
