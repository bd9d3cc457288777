#include "cli/record_summary.h"

#include "base/human.h"
#include "base/log.h"
#include "format/trace.h"
#include "record/recover.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

const char *record_shown(const char *path)
{
    char cwd[PATH_MAX];
    if (!getcwd(cwd, sizeof cwd))
        return path;
    size_t len = strlen(cwd);
    if (strncmp(path, cwd, len) == 0 && path[len] == '/' && path[len + 1])
        return path + len + 1;
    return path;
}

static void put_losses(const struct trace *t, struct buf *b)
{
    uint64_t lost = trace_lost(t), details = trace_lost_details(t);
    if (lost == 0)
        buf_puts(b, "none lost");
    else
        buf_printf(b, "%s lost", human_count(lost).text);
    if (details)
        buf_printf(b, ", %s without stack or lock", human_count(details).text);
    if (lost == 0 && details == 0)
        return;
    const char *before = " (";
    for (int cause = 0; cause < LOSS_LIMIT; cause++) {
        if (t->loss[cause] == 0)
            continue;
        buf_printf(b, "%s%s %s", before, loss_causes[cause].name, human_count(t->loss[cause]).text);
        before = ", ";
    }
    buf_putc(b, ')');
}

/* How the recording ended, where that is worth a word. */
static const char *ending(const struct trace *t)
{
    switch (t->header.state) {
    case TRACE_RECORDING:
        return ", still recording";
    case TRACE_RECOVERED:
        return ", recovered after the JVM was killed";
    case TRACE_STOPPED:
        return ", stopped early because the file could not be written";
    default:
        return "";
    }
}

/* How much there is, and how it ended. */
static void put_facts(const struct trace *t, struct buf *b)
{
    uint64_t ns = trace_end(t) - t->header.start_mono;
    buf_printf(b, "%s events in %s, ", human_count(t->n_events).text, human_time(ns).text);
    put_losses(t, b);
    struct trace_unwritten u = trace_unwritten(t);
    human_put_full_disk(b, u.times, u.ns);
    buf_puts(b, ending(t));
}

int record_summary(const char *path, struct buf *b, struct err *err)
{
    struct err recovery;
    if (recover_trace(path, &recovery) < 0)
        log_line("%s", recovery.msg);
    struct trace *t;
    TRY(trace_open(&t, path, err));
    const char *name = record_shown(path);
    buf_printf(b, "%s: ", name);
    put_facts(t, b);
    trace_close(t);
    buf_puts(b, "; look at it: orca report ");
    human_shell_word(b, name);
    return 0;
}
