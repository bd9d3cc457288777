/* heap_parts.h - parts of `orca heap` that stand for themselves: a file and a row of a table each.
 *
 *   heap_strings.c   heap_collections.c   heap_threads.c   heap_diff.c   heap_suspects.c */
#ifndef ORCA_CLI_HEAP_PARTS_H
#define ORCA_CLI_HEAP_PARTS_H

#include "cli/heap_report.h"
#include "cli/progress.h"

#include <jansson.h>

struct heap_part {
    enum heap_section section;
    const char *key;   /* in the JSON */
    const char *phase; /* what the progress line says */

    /* Either may be NULL: before the references are read, and when retained sizes are there. */
    int (*find)(struct heap_report *h, struct err *err);
    int (*find_retained)(struct heap_report *h, struct err *err);
    void (*text)(struct heap_report *h);
    json_t *(*json)(struct heap_report *h);
    void (*release)(struct heap_report *h);
};

extern const struct heap_part heap_part_strings, heap_part_collections, heap_part_threads,
    heap_part_diff, heap_part_suspects;

/* The parts that were asked for.  with_retained: find_retained instead of find. */
int heap_parts_find(struct heap_report *h, bool with_retained, struct progress *p, struct err *err);
void heap_parts_text(struct heap_report *h);
void heap_parts_json(struct heap_report *h, json_t *root);
void heap_parts_release(struct heap_report *h);

#endif
