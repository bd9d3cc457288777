/* view_traces.h - the traces and heap dumps that the start page offers: those of the
 * current folder, and recent ones.
 *
 * Each path has a number from the first time on that it is shown; the page knows traces by that
 * only, so that it cannot name a file of its own.  Any thread. */
#ifndef ORCA_CLI_VIEW_TRACES_H
#define ORCA_CLI_VIEW_TRACES_H

#include "base/buf.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VIEW_TRACES_MAX = 1000 };

struct view_trace;

struct view_traces {
    pthread_mutex_t lock;
    struct view_trace *v; /* id is the place plus 1 */
    size_t n, room;
};

int view_traces_init(struct view_traces *t);
void view_traces_fini(struct view_traces *t);

/* Append the list as JSON, newest first. */
void view_traces_put(struct view_traces *t, struct buf *out);

/* The path of a number; false: no trace was shown by it. */
bool view_traces_path(struct view_traces *t, uint32_t id, char *out, size_t n);

#endif
