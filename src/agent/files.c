#include "agent/files.h"

#include "agent/agent.h"
#include "agent/open_waits.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "record/place.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- orca record ------------------------------------------------------------------------------ */

/* `orca record` wants to know which traces there are: cli/session.h. */
static void tell_session(const char *mark, const char *path)
{
    char line[RING_PATH_MAX + 64];
    if (!agent.settings.session)
        return;
    int fd = open(agent.settings.session, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    int n = snprintf(line, sizeof line, "%d\t%s%s\n", (int)getpid(), mark, path);
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        log_line("%s: cannot be written: orca record will not find %s", agent.settings.session,
                 path);
    if (fd >= 0)
        close(fd);
}

static void file_begins(void *ctx, const char *path)
{
    (void)ctx;
    tell_session("", path);
}

static void file_removed(void *ctx, const char *path)
{
    (void)ctx;
    tell_session("-", path);
}

void files_begin(const char *path)
{
    tell_session("", path);
}

void files_text(const char *path)
{
    tell_session("=", path);
}

void files_replaced(const char *path)
{
    tell_session("!", path);
}

/* --- names ------------------------------------------------------------------------------------ */

/* With %t in file= each file has its own time, and a number only when that is taken: the clock may
 * have been set back.  Without, each but the first has its number. */
static int next_path(void *ctx, uint32_t part, char *path, size_t n, struct err *err)
{
    (void)ctx;
    char own[RING_PATH_MAX];
    uint64_t began = clock_real_ns() - (clock_mono_ns() - agent.started);
    if (settings_names_time(&agent.settings)) {
        TRY(settings_path(&agent.settings, own, sizeof own, err));
        snprintf(path, n, "%s", own);
        if (access(own, F_OK) < 0 && errno == ENOENT)
            return 0;
    }
    return place_next(path, n, part, began, err);
}

struct recorder_files files_of_recording(void)
{
    return (struct recorder_files){.next_path = next_path,
                                   .begins = file_begins,
                                   .removed = file_removed,
                                   .open_waits = open_waits_now};
}
