/* cmd_import.c - makes a trace of another tool's files. */
#include "base/buf.h"
#include "base/fdio.h"
#include "base/human.h"
#include "base/log.h"
#include "cli/cmd.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "import/import.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct args {
    const char *output;
};

static const struct opt opts[] = {
    {"output", 'o', OPT_STR, offsetof(struct args, output), "FILE",
     "the trace to write (default: the input's name with .otrace instead of its suffix, if there "
     "is "
     "no such file yet)",
     NULL, 0, 0},
};

static void put_default_output(struct buf *b, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    buf_put(b, path, dot && dot > name ? (size_t)(dot - path) : strlen(path));
    buf_puts(b, ".otrace");
}

static int copy(int from, int to)
{
    enum { STEP = 1 << 20 };
    char *bytes = malloc(STEP);
    ssize_t n = bytes ? 0 : -ENOMEM;
    uint64_t at = 0;
    while (n >= 0 && (n = fdio_pread_some(from, bytes, STEP, at)) > 0) {
        int rc = fdio_write_all(to, bytes, (size_t)n);
        at += (uint64_t)n;
        n = rc < 0 ? rc : n;
    }
    free(bytes);
    return (int)n;
}

/* Copy the trace beside `path`, then give it that name: a reader that finds it finds all of it. */
static int save_as(const struct trace *t, const char *path, char *temp, struct err *err)
{
    int fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0)
        return err_set(err, -errno, "%s: cannot create: %s", path, strerror(errno));
    int rc = copy(t->fd, fd);
    if (close(fd) < 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && rename(temp, path) < 0)
        rc = -errno;
    if (rc < 0) {
        unlink(temp);
        return err_set(err, rc, "%s: cannot write: %s", path, strerror(-rc));
    }
    return 0;
}

static int save(const struct trace *t, const char *path, struct err *err)
{
    struct buf temp = {0};
    buf_printf(&temp, "%s.tmp-XXXXXX", path);
    buf_str(&temp);
    int rc = temp.oom ? err_set(err, -ENOMEM, "%s: out of memory", path)
                      : save_as(t, path, (char *)temp.p, err);
    buf_fini(&temp);
    return rc;
}

static int import_to(const char *input, const char *output, struct err *err)
{
    struct trace *t;
    TRY(input_refuse(input, output, err));
    struct progress p;
    progress_begin(&p, "reading");
    int rc = import_file(&t, input, &(struct import_watch){progress_step, &p}, err);
    progress_end(&p);
    TRY(rc);
    rc = save(t, output, err);
    if (rc == 0) {
        log_line("%s: %s event%s", output, human_count(t->n_events).text,
                 t->n_events == 1 ? "" : "s");
        rc = input_warn(t);
    }
    trace_close(t);
    return rc;
}

/* The default name may belong to the recording that the text was exported from. */
static int refuse_existing(const char *path, struct err *err)
{
    if (access(path, F_OK) != 0)
        return 0;
    return err_set(err, -EEXIST, "%s already exists; name the trace to write with --output", path);
}

static int run(int argc, char **argv, struct err *err)
{
    struct args o = {NULL};
    int n = cmd_parse(&cmd_import, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (n != 1) {
        err_set(err, 0, "name one file");
        return CMD_USAGE;
    }
    if (o.output)
        return import_to(argv[1], o.output, err);
    struct buf path = {0};
    put_default_output(&path, argv[1]);
    int rc = refuse_existing(buf_str(&path), err);
    if (rc == 0)
        rc = import_to(argv[1], buf_str(&path), err);
    buf_fini(&path);
    return rc;
}

const struct cmd cmd_import = {
    .name = "import",
    .summary = "convert another tool's file to a trace",
    .args = "FILE",
    .description =
        "Reads another tool's file and writes a trace. Other commands read such files "
        "directly; import once to save the time of reading them again. The type is known by "
        "the content, else by the name.\n"
        "\n"
        "PREFIX.orca is an event log of the 2014 Orca back-end or of orca export; files "
        "beside it name its methods and classes (PREFIX.methods and PREFIX.classtable, or the "
        "older PREFIX.meta). A malformed line is refused with file, line and column "
        "(docs/reference/orca-text.md).\n"
        "\n"
        "FILE.trcxml is the XML of Eclipse TPTP's profilers, plain or in the ZIP that Eclipse "
        "exports, or of orca export. A file that is not XML is refused; elements that are "
        "incomplete, or that a trace has no place for, are left out and counted "
        "(docs/reference/tptp.md).\n"
        "\n"
        "A file that is truncated or lacks its companions is imported as far as it goes, with "
        "a warning.",
    .examples = "orca import pingpong.orca                   # pingpong.otrace\n"
                "orca import old/run7.orca -o run7.otrace\n"
                "orca import profile.trcxml                  # profile.otrace",
    .opts = OPT_TABLE(opts),
    .run = run,
};
