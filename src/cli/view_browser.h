/* view_browser.h - the user's browser, on a page of ours.
 *
 * What a browser is started with every user of the machine can read (/proc/PID/cmdline).  So it is
 * started with a file that only its owner can read, and that file has what opens the server. */
#ifndef ORCA_CLI_VIEW_BROWSER_H
#define ORCA_CLI_VIEW_BROWSER_H

#include "base/buf.h"

#include <limits.h>

struct view_browser {
    char path[PATH_MAX]; /* of the file, while it is there */
};

/* Show a page, without waiting; without a browser, say what to do instead. */
void view_browser_open(struct view_browser *b, const struct buf *page);

/* Take the file away, if it is there. */
void view_browser_close(struct view_browser *b);

#endif
