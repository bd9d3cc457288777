/* cmd_dump.c - what a recording that goes on holds now, as a trace of its own. */
#include "base/util.h"
#include "cli/cmd.h"
#include "cli/target.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct args {
    const char *file;
    bool rotate;
    uint64_t timeout;
};

static const struct opt opts[] = {
    {"output", 'o', OPT_STR, offsetof(struct args, file), "FILE",
     "the copy (default: none; the recording's own file is brought up to date)", NULL, 0, 0},
    {"rotate", 0, OPT_FLAG, offsetof(struct args, rotate), NULL,
     "end the recording's file, and continue in a new one", NULL, 0, 0},
    TARGET_TIMEOUT(offsetof(struct args, timeout), "30s"),
};

static int put_request(const struct args *o, struct buf *b, struct err *err)
{
    char cwd[PATH_MAX] = "";
    const char *file = o->file;
    if (!file) {
        buf_puts(b, o->rotate ? "rotate" : "flush");
        return 0;
    }
    if (access(file, F_OK) == 0)
        return err_set(err, -EEXIST, "%s already exists; name another file", file);
    if (file[0] != '/' && !getcwd(cwd, sizeof cwd))
        return err_set(err, -errno, "the current folder is gone: %s", strerror(errno));
    buf_printf(b, "dump %s%s%s", cwd, cwd[0] ? "/" : "", file);
    return 0;
}

static int dump(const struct jvm *jvm, const struct args *o, struct err *err)
{
    char path[PATH_MAX];
    struct buf request, reply;
    buf_init(&request);
    buf_init(&reply);
    int rc = put_request(o, &request, err);
    if (rc == 0)
        rc = client_ask(jvm, buf_str(&request), TARGET_TIMEOUT_NS, &reply, err);
    if (rc == 0 && !o->file && !o->rotate)
        rc = client_ask(jvm, "status", TARGET_TIMEOUT_NS, &reply, err);
    target_text(buf_str(&reply), "path", path, sizeof path);
    if (rc == 0)
        rc = target_say_trace(jvm, path, err);
    buf_fini(&request);
    buf_fini(&reply);
    return rc;
}

static int run(int argc, char **argv, struct err *err)
{
    struct args o = {.file = NULL};
    struct jvm jvm;
    int n = cmd_parse(&cmd_dump, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (o.rotate && o.file)
        return err_set(err, CMD_USAGE,
                       "--rotate ends the recording's own file, -o makes a copy of it: give one of "
                       "them");
    TRY(target_find(n, argv, o.timeout, &jvm, err));
    return dump(&jvm, &o, err);
}

const struct cmd cmd_dump = {
    .name = "dump",
    .summary = "copy what a recording holds so far, while it goes on",
    .args = "PID",
    .description =
        "Copies the events that a running JVM's recording holds now into a complete trace of "
        "its own; the recording goes on. Use it with a flight recorder, which keeps the "
        "newest events in a file of fixed size (maxsize=), when something has happened. "
        "Without -o, brings the recording's own file up to date; that file can be read at any "
        "time.\n"
        "\n"
        "With --rotate, completes the recording's file and continues in a new one beside it: "
        "app.otrace, app.002.otrace, app.003.otrace, or, with %t in the file's name, one "
        "named by its time. --every and --keep of orca attach and orca record do the same by "
        "the clock.",
    .examples = "orca record --options maxsize=64m -- java -jar server.jar &\n"
                "orca dump 4711 -o incident.otrace\n"
                "orca dump 4711 --rotate",
    .opts = OPT_TABLE(opts),
    .run = run,
};
