/* cmd_detach.c - ends the recording of a JVM that goes on running. */
#include "base/human.h"
#include "base/log.h"
#include "cli/cmd.h"
#include "cli/target.h"

#include <limits.h>
#include <stddef.h>

struct args {
    uint64_t timeout;
};

static const struct opt opts[] = {
    TARGET_TIMEOUT(offsetof(struct args, timeout), "10m"),
};

static int run(int argc, char **argv, struct err *err)
{
    struct args o = {0};
    char path[PATH_MAX];
    struct jvm jvm;
    struct buf reply;
    int n = cmd_parse(&cmd_detach, argc, argv, &o, err);
    if (n < 0)
        return n;
    TRY(target_find(n, argv, o.timeout, &jvm, err));
    buf_init(&reply);
    int rc = client_ask(&jvm, "stop", TARGET_REWRITE_NS, &reply, err);
    target_text(buf_str(&reply), "path", path, sizeof path);
    uint64_t parts = client_number(buf_str(&reply), "part");
    if (rc == 0 && parts > 1)
        log_line("the recording went through %s files; this is the last one:",
                 human_count(parts).text);
    if (rc == 0)
        rc = target_say_ended(&jvm, path, buf_str(&reply), err);
    buf_fini(&reply);
    return rc;
}

const struct cmd cmd_detach = {
    .name = "detach",
    .summary = "end the recording of a running JVM",
    .args = "PID",
    .description =
        "Ends the recording of a JVM, whether orca record or orca attach began it, and "
        "completes the trace. The JVM goes on, with no events recorded and the program's own "
        "code as it was.\n"
        "\n"
        "A few inactive probes stay in JDK classes (orca attach --help): removing them would "
        "leak metaspace on every attach.",
    .examples = "orca detach 4711",
    .opts = OPT_TABLE(opts),
    .run = run,
};
