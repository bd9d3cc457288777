/* heap_report.h - what `orca heap` found in a dump, for its two outputs.
 *
 *   cmd_heap.c   options, the steps      heap_text.c, heap_json.c   the outputs
 *   heap_parts.h what stands for itself */
#ifndef ORCA_CLI_HEAP_REPORT_H
#define ORCA_CLI_HEAP_REPORT_H

#include "heap/collections.h"
#include "heap/diff.h"
#include "heap/histogram.h"
#include "heap/retained.h"
#include "heap/strings.h"
#include "heap/suspects.h"
#include "heap/threads.h"

#include <stdbool.h>

enum heap_section {
    HEAP_CLASSES = 1,
    HEAP_BIGGEST = 2,
    HEAP_DOMINATORS = 4,
    HEAP_CHILDREN = 8,
    HEAP_PATH = 16,
    HEAP_STRINGS = 32,
    HEAP_COLLECTIONS = 64,
    HEAP_THREADS = 128,
    HEAP_DIFF = 256,
    HEAP_SUSPECTS = 512,
    HEAP_USUAL = HEAP_CLASSES | HEAP_BIGGEST | HEAP_DOMINATORS,
};

struct heap_report {
    const struct dump *d;
    unsigned sections; /* enum heap_section */
    size_t top;        /* rows at most */
    bool utf8;         /* of the terminal */

    uint32_t *classes; /* in the order of the table */
    size_t n_classes;
    struct big_object *biggest;
    size_t n_biggest;
    bool has_retained;
    struct retained retained;
    struct object_reader reader;
    uint64_t object; /* of --children or --path: its id */
    uint32_t *below; /* dominated by it, or the tops of the tree */
    size_t n_below;
    uint64_t n_below_all;

    struct strings_found strings; /* heap_parts.h: those that were asked for */
    struct collections_found collections;
    struct threads_seen threads;
    struct suspects suspects;
    const char *other_path; /* of --diff */
    struct dump *other;
    struct diff diff;
    bool diff_retained, soft;

    bool times;
    uint64_t open_ns, biggest_ns, retained_ns, parts_ns;
};

/* -EIO when the output cannot be written. */
int heap_text(struct heap_report *h, struct err *err);
int heap_json(struct heap_report *h, struct err *err);

#endif
