#include "cli/target.h"

#include "attach/patience.h"
#include "base/human.h"
#include "base/log.h"
#include "base/util.h"
#include "cli/cmd.h"
#include "cli/record_summary.h"
#include "format/trace.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int target_pid(const char *word, pid_t *pid, struct err *err)
{
    char *end;
    errno = 0;
    long v = strtol(word, &end, 10);
    if (errno || end == word || *end || v <= 0 || v > INT32_MAX) {
        err_set(err, 0, "\"%s\" is not a process id; orca status lists the JVMs", word);
        return CMD_USAGE;
    }
    *pid = (pid_t)v;
    return 0;
}

static void say_that_it_waits(const struct jvm *jvm, uint64_t limit_ns)
{
    log_line("JVM %d (%s) has not answered yet: waiting for at most %s; --timeout=TIME changes "
             "that",
             (int)jvm->pid, jvm->name, human_time(limit_ns).text);
}

struct jvm_asker target_asker(uint64_t timeout_ns)
{
    return (struct jvm_asker){.limit_ns = timeout_ns, .waits = say_that_it_waits};
}

/* Of a java command that has not loaded its JVM yet. */
static int find_patiently(pid_t pid, uint64_t limit_ns, struct jvm *jvm, struct err *err)
{
    uint64_t silent = min_u64(limit_ns, PATIENCE_SILENT_NS);
    int rc = jvm_find_wait(pid, silent, jvm, err);
    if (rc != -EAGAIN || silent == limit_ns)
        return rc;
    log_line("process %d has not loaded its JVM yet: waiting for at most %s", (int)pid,
             human_time(limit_ns).text);
    return jvm_find_wait(pid, limit_ns - silent, jvm, err);
}

int target_find(int n_operands, char **argv, uint64_t timeout_ns, struct jvm *jvm, struct err *err)
{
    pid_t pid;
    if (n_operands != 1) {
        err_set(err, 0, "name one process id; orca status lists the JVMs");
        return CMD_USAGE;
    }
    TRY(target_pid(argv[1], &pid, err));
    uint64_t starting = timeout_ns ? timeout_ns : TARGET_TIMEOUT_NS / 3;
    TRY(find_patiently(pid, starting, jvm, err));
    jvm->asker = target_asker(timeout_ns);
    return 0;
}

void target_text(const char *reply, const char *key, char *out, size_t n)
{
    const char *at = NULL, *value = "";
    int len = client_value(reply, key, &at, &value);
    snprintf(out, n, "%.*s", len > 0 ? len : 0, value);
}

uint64_t target_losses(const char *reply)
{
    uint64_t n = 0;
    const char *at = NULL, *value;
    while (client_value(reply, "loss", &at, &value) >= 0)
        n += strtoull(value + strcspn(value, " "), NULL, 10);
    return n;
}

void target_path(const struct jvm *jvm, const char *path, char *out, size_t n)
{
    struct stat here, there;
    snprintf(out, n, "/proc/%d/root%s", (int)jvm->pid, path);
    /* A JVM that has ended no longer has a root: it was most likely ours. */
    if (stat(out, &there) < 0 ||
        (stat(path, &here) == 0 && here.st_dev == there.st_dev && here.st_ino == there.st_ino))
        snprintf(out, n, "%s", path);
}

/* Whether the file says which one came next, and that is there. */
static bool next_file(const struct jvm *jvm, char *path, size_t n)
{
    char here[PATH_MAX], next[PATH_MAX];
    struct trace *t;
    target_path(jvm, path, here, sizeof here);
    if (trace_open(&t, here, NULL) < 0)
        return false;
    snprintf(next, sizeof next, "%s", trace_info(t, "orca.next", ""));
    trace_close(t);
    target_path(jvm, next, here, sizeof here);
    if (!*next || access(here, F_OK) < 0)
        return false;
    snprintf(path, n, "%s", next);
    return true;
}

void target_last_file(const struct jvm *jvm, char *path, size_t n)
{
    enum { FILES_MAX = 10000 }; /* files that somebody has written may name each other */
    for (int i = 0; i < FILES_MAX && next_file(jvm, path, n); i++)
        ;
}

int target_say_trace(const struct jvm *jvm, const char *path, struct err *err)
{
    char here[PATH_MAX];
    struct buf line;
    buf_init(&line);
    target_path(jvm, path, here, sizeof here);
    int rc = record_summary(here, &line, err);
    if (rc == 0)
        log_line("%s", buf_str(&line));
    buf_fini(&line);
    return rc;
}

void target_files(const char *reply, struct buf *files)
{
    const char *at = NULL, *name;
    int len;
    if (client_value(reply, "kept", &at, &name) < 0) {
        at = NULL;
        len = client_value(reply, "path", &at, &name);
        buf_printf(files, "%.*s", len > 0 ? len : 0, name);
    }
    at = NULL;
    while ((len = client_value(reply, "text", &at, &name)) >= 0)
        buf_printf(files, "%s%.*s", files->len ? ", " : "", len, name);
}

/* Those of the text files that are there. */
static void put_texts(const struct jvm *jvm, const char *reply, struct buf *b)
{
    char path[PATH_MAX], here[PATH_MAX];
    const char *at = NULL, *name;
    for (int len; (len = client_value(reply, "text", &at, &name)) >= 0;) {
        snprintf(path, sizeof path, "%.*s", len, name);
        target_path(jvm, path, here, sizeof here);
        if (access(here, F_OK) == 0)
            buf_printf(b, "%s%s", b->len ? ", " : "", record_shown(here));
    }
}

int target_say_ended(const struct jvm *jvm, const char *path, const char *reply, struct err *err)
{
    char here[PATH_MAX];
    const char *at = NULL, *no;
    struct buf texts;
    buf_init(&texts);
    put_texts(jvm, reply, &texts);
    target_path(jvm, path, here, sizeof here);
    bool only_texts = client_value(reply, "kept", &at, &no) >= 0;
    int rc = 0;
    if (!only_texts || access(here, F_OK) == 0 || !texts.len)
        rc = target_say_trace(jvm, path, err);
    if (texts.len)
        log_line("recorded into %s", buf_str(&texts));
    buf_fini(&texts);
    return rc;
}
