/* view_recent.h - traces and heap dumps that were viewed or recorded recently: the list that stays,
 * and what the start page shows.
 *
 * The list is ${XDG_STATE_HOME:-~/.local/state}/orca/recent: mode 0600, an absolute path a line,
 * newest first, at most 50.  A line that is something else is ignored.  It is a convenience: a list
 * that cannot be read or written is not a failure. */
#ifndef ORCA_CLI_VIEW_RECENT_H
#define ORCA_CLI_VIEW_RECENT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum { RECENT_MAX = 50 };

struct recent {
    char *v[RECENT_MAX];
    size_t n;
};

void recent_fini(struct recent *r);

/* Take the lines of a text.  Those that are not absolute paths are left out. */
void recent_parse(struct recent *r, const char *text, size_t n);

/* Put a path in front; what falls off at the end is forgotten. */
void recent_add(struct recent *r, const char *path);
void recent_put(const struct recent *r, struct buf *out);

/* The list's file.  False: no place for one. */
bool recent_place(char *out, size_t n);

/* Read the user's list; note a trace in it. */
void recent_load(struct recent *r);
void recent_note(const char *path);

#endif
