#include "base/cgroup.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Whether a list "cpu,cpuacct" has it; the empty one has the empty one alone. */
static bool names(const char *list, const char *controller)
{
    size_t n = strlen(controller);
    if (!n)
        return !*list;
    for (const char *p = list; p; p = strchr(p, ','), p = p ? p + 1 : NULL)
        if (strncmp(p, controller, n) == 0 && (p[n] == ',' || !p[n]))
            return true;
    return false;
}

bool cgroup_path(const char *controller, char *out, size_t n)
{
    char line[PATH_MAX];
    bool found = false;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *list = strchr(line, ':');
        char *path = list ? strchr(list + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = 0;
        found = names(list + 1, controller);
        if (found)
            snprintf(out, n, "%s", strcmp(path, "/") == 0 ? "" : path);
    }
    if (f)
        fclose(f);
    return found;
}

static bool read_quota(const char *mount, const char *group, struct cgroup_quota *out)
{
    char path[2 * PATH_MAX], line[128];
    uint64_t v;
    *out = (struct cgroup_quota){0};
    snprintf(path, sizeof path, "%s%s/cpu.stat", mount, group);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "nr_periods %" SCNu64, &v) == 1)
            out->periods = v;
        else if (sscanf(line, "nr_throttled %" SCNu64, &v) == 1)
            out->stopped = v;
        else if (sscanf(line, "throttled_usec %" SCNu64, &v) == 1)
            out->ns = v * 1000;
        else if (sscanf(line, "throttled_time %" SCNu64, &v) == 1)
            out->ns = v;
    }
    fclose(f);
    return out->periods != 0;
}

bool cgroup_quota(struct cgroup_quota *out)
{
    static const char *const of[][2] = {{"", "/sys/fs/cgroup"}, {"cpu", "/sys/fs/cgroup/cpu"}};
    char group[PATH_MAX];
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (cgroup_path(of[i][0], group, sizeof group) &&
            /* A container may see its own group as the root, and be given its path in the host. */
            (read_quota(of[i][1], group, out) || read_quota(of[i][1], "", out)))
            return true;
    return false;
}
