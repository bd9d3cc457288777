/* cgroup.h - the control group that this process is in: of version 2, or of a controller of
 * version 1. */
#ifndef ORCA_BASE_CGROUP_H
#define ORCA_BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Its path below where groups are mounted: "" for the root.  controller: "" for version 2.  False:
 * there is none. */
bool cgroup_path(const char *controller, char *out, size_t n);

/* What its quota of processor time did since the group was made. */
struct cgroup_quota {
    uint64_t periods, stopped; /* in how many of them it stopped the group, for */
    uint64_t ns;               /* of each processor's time */
};

/* False: the group has no quota, and never had one. */
bool cgroup_quota(struct cgroup_quota *out);

#endif
