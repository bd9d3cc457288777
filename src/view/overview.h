/* overview.h - the whole recording in a few numbers, for a picture of it that is small. */
#ifndef ORCA_VIEW_OVERVIEW_H
#define ORCA_VIEW_OVERVIEW_H

#include "view/view_parts.h"

/* One of n equal parts of the recording. */
struct overview_part {
    double running, held_up; /* average number of the program's threads that ran; that were blocked,
                              * reacquiring or parked for a lock that has an owner */
    double path[PATH_KINDS]; /* shares of it, 0 to 1; the rest: there is no path */
};

/* Fill v[n].  1 <= n <= VIEW_OVERVIEW_MAX.  -EINVAL, -ENOMEM. */
int view_overview(struct view *v, unsigned n, struct overview_part *out);

#endif
