/* top_text.h - the pages of orca top, as text: for the screen and for the batch output alike.
 *
 *     the picture   figures, then the first screen of a report on the last seconds, then the
 *                   threads
 *     the threads   all of them
 *     a finding     with its facts and stacks
 *     the keys */
#ifndef ORCA_CLI_TOP_TEXT_H
#define ORCA_CLI_TOP_TEXT_H

#include "cli/page.h"
#include "cli/top_source.h"

enum top_page { TOP_PICTURE, TOP_THREADS, TOP_FINDING, TOP_HELP };

struct top_view {
    struct top_source *source;
    bool utf8;       /* the locale's encoding */
    char filter[64]; /* threads: part of a name, or of what it waits for; "" all */
    uint64_t window, delay;
    size_t rows; /* of threads at most; 0: all */
    bool paused;
};

/* Print one.  lines: that the picture's first screen should fit into; 0: as a report's.  marks: see
 * page.h.  number: of a finding. */
void top_print(const struct top_view *v, enum top_page page, unsigned number, FILE *to,
               size_t width, size_t lines, bool marks);

#endif
