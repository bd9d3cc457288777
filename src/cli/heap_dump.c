/* heap_dump.c - orca heap dump: the heap of a running JVM into a file.
 *
 * HotSpot writes HPROF itself (attach protocol, "dumpheap"); TPTP's XML is written by the agent
 * (agent/heap_xml.h), which is brought into the JVM for that.  Either writes under a temporary name
 * (heap_file.h); the file has its own when it is whole, and nothing is left when it is not. */
#include "attach/attach.h"
#include "attach/client.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/log.h"
#include "base/util.h"
#include "cli/heap_file.h"
#include "cli/heap_jvm.h"
#include "cli/load_agent.h"
#include "cli/progress.h"
#include "cli/target.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum to { TO_HPROF, TO_TPTP };

struct args {
    const char *file;
    bool all, force;
    uint64_t gz, to, objects, timeout;
};

static const char *const formats[] = {"hprof", "tptp", NULL};

static const struct opt opts[] = {
    {"output", 'o', OPT_STR, offsetof(struct args, file), "FILE",
     "the dump (default: heap-PID.hprof, .hprof.gz or .trcxml in the current folder)", NULL, 0, 0},
    {"all", 0, OPT_FLAG, offsetof(struct args, all), NULL,
     "also dump unreachable objects, without a collection first", NULL, 0, 0},
    {"gz", 0, OPT_UINT, offsetof(struct args, gz), "LEVEL",
     "compress with gzip, 1 (fast; --gz alone) to 9 (small)", NULL, 1, 9},
    {"to", 0, OPT_CHOICE, offsetof(struct args, to), "FORMAT",
     "hprof, or tptp: the references as TPTP's XML (default: hprof)", formats, 0, 0},
    {"objects", 0, OPT_UINT, offsetof(struct args, objects), "N",
     "with --to tptp: refuse a heap of more objects; each needs 100 bytes of the JVM's native "
     "memory until the dump ends (default: 5000000)",
     NULL, 1, UINT32_MAX},
    {"force", 0, OPT_FLAG, offsetof(struct args, force), NULL, "replace an existing file", NULL, 0,
     0},
    TARGET_TIMEOUT(offsetof(struct args, timeout),
                   "30s until the JVM begins to write, then unlimited; with --to tptp a day"),
};

struct dump {
    const struct args *o;
    struct jvm jvm;
    struct heap_file file;
    struct progress progress;
};

/* --- what went wrong -------------------------------------------------------------------------- */

/* What a reason in the JVM's words asks for. */
static const char *remedy(const char *reason)
{
    static const struct {
        const char *words, *remedy;
    } known[] = {
        {"No space left", "; make room there, name a file on another disk (-o), or --gz"},
        {"Disk quota", "; make room there, or name a file on another disk (-o)"},
        {"File too large", "; name a file on another disk (-o), or --gz"},
        {"Permission denied", "; name a file in a folder where the JVM's user may write (-o)"},
        {"Read-only", "; name a file on another disk (-o)"},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strstr(reason, known[i].words))
            return known[i].remedy;
    return "";
}

/* The last line of what the JVM says of itself, without the temporary file's name: that would only
 * lead astray. */
static void copy_reason(const struct dump *d, const char *text, char *out, size_t room)
{
    static const char *const before[] = {"Dumping heap to ", "Unable to create "};
    if (strncmp(text, before[0], strlen(before[0])) == 0)
        text += strcspn(text, "\n");
    text += strspn(text, " \n");
    if (strncmp(text, before[1], strlen(before[1])) == 0)
        text += strlen(before[1]);
    size_t n = strlen(d->file.path);
    text += strncmp(text, d->file.path, n) == 0 ? n : 0;
    text += strspn(text, ": \n");
    proc_copy_text(out, room, text, strcspn(text, "\n"));
}

static int say_ended(const struct dump *d, struct err *err)
{
    return err_set(err, -ESRCH,
                   "JVM %d (%s) ended during the dump: the incomplete file was removed",
                   (int)d->jvm.pid, d->jvm.name);
}

/* A process that ends closes its sockets some time before it is seen to have ended. */
static bool has_ended(const struct dump *d)
{
    enum { LOOKS = 20 };
    struct proc_status now;
    for (int i = 0; i < LOOKS; i++) {
        if (jvm_check(&d->jvm, &now, NULL) == -ESRCH)
            return true;
        clock_sleep_ns(UINT64_C(50000000));
    }
    return false;
}

static int say_refused(const struct dump *d, const char *text, struct err *err)
{
    char reason[256];
    copy_reason(d, text, reason, sizeof reason);
    if (!reason[0] && has_ended(d))
        return say_ended(d, err);
    return err_set(
        err, -EIO,
        "%s: JVM %d (%s) could not write the dump: %s%s; the incomplete file was removed",
        d->file.here, (int)d->jvm.pid, d->jvm.name, reason[0] ? reason : "no reason given",
        remedy(reason));
}

/* --- HPROF ------------------------------------------------------------------------------------ */

static int look(void *ctx, struct err *err)
{
    struct dump *d = ctx;
    struct proc_status now;
    struct err why;
    progress_grow(&d->progress, heap_file_size(&d->file));
    TRY(jvm_check(&d->jvm, &now, err));
    if (jvm_check_running(&d->jvm, &why) == 0)
        return 0;
    return err_set(err, -EBUSY,
                   "JVM %d (%s) was stopped during the dump, which is abandoned: resume it "
                   "with 'kill -CONT %d' and dump again",
                   (int)d->jvm.pid, d->jvm.name, (int)d->jvm.pid);
}

static int write_hprof(struct dump *d, struct err *err)
{
    char level[2] = {(char)('0' + d->o->gz), 0};
    const char *const words[] = {"dumpheap", d->file.path, d->o->all ? "-all" : "-live",
                                 d->o->gz ? level : NULL};
    const struct attach_watch watch = {look, d};
    struct attach_reply reply;
    attach_reply_init(&reply);
    int rc = attach_command_watched(&d->jvm, words, TARGET_TIMEOUT_NS, &watch, &reply, err);
    const char *text = buf_str(&reply.text);
    if (rc == 0 && (reply.status != 0 || !strstr(text, "Heap dump file created")))
        rc = say_refused(d, text, err);
    else if (rc == -ESRCH)
        say_ended(d, err);
    attach_reply_fini(&reply);
    return rc;
}

/* --- TPTP's XML ------------------------------------------------------------------------------- */

/* In our words what the agent reports, or no longer reports, about the temporary file. */
static int say_agent_failed(const struct dump *d, int code, struct err *err)
{
    bool silent = code == -EPROTO || code == -ECONNRESET || code == -EPIPE;
    if (code == -ESRCH || (silent && has_ended(d))) /* it ended before the socket said so */
        return say_ended(d, err);
    if (code == -ENOSPC || code == -EDQUOT || code == -EFBIG || code == -EACCES || code == -EROFS)
        return say_refused(d, strerror(-code), err);
    return code;
}

static int write_tptp(struct dump *d, struct err *err)
{
    static const uint64_t day_ns = UINT64_C(24) * 3600 * 1000000000;
    struct buf request, answer;
    buf_init(&request);
    buf_init(&answer);
    buf_printf(&request, "heap dump %" PRIu64 " %s", d->o->objects, d->file.path);
    int rc = load_agent_ask(&d->jvm, buf_str(&request), day_ns, &answer, err);
    if (rc == 0)
        log_line("%s objects, %s references, %s roots; the program was paused for %s",
                 human_count(client_number(buf_str(&answer), "objects")).text,
                 human_count(client_number(buf_str(&answer), "references")).text,
                 human_count(client_number(buf_str(&answer), "roots")).text,
                 human_time(client_number(buf_str(&answer), "stopped_ns")).text);
    else
        rc = say_agent_failed(d, rc, err);
    buf_fini(&request);
    buf_fini(&answer);
    return rc;
}

/* ---------------------------------------------------------------------------------------------- */

static int write_it(struct dump *d, struct err *err)
{
    uint64_t began = clock_mono_ns();
    if (d->o->to == TO_TPTP)
        log_line("JVM %d (%s) is paused while the agent follows its references", (int)d->jvm.pid,
                 d->jvm.name);
    else if (!d->o->all)
        log_line("JVM %d (%s) makes a full collection first, and is paused until its heap is "
                 "written; --all leaves the collection out",
                 (int)d->jvm.pid, d->jvm.name);
    progress_begin(&d->progress, "dumping the heap");
    int rc = d->o->to == TO_TPTP ? write_tptp(d, err) : write_hprof(d, err);
    progress_end(&d->progress);
    TRY(rc);
    uint64_t bytes = heap_file_size(&d->file);
    TRY(heap_file_publish(&d->file, err));
    log_line("%s: %s in %s", d->file.here, human_bytes(bytes).text,
             human_time(clock_mono_ns() - began).text);
    return 0;
}

static int dump(const struct args *o, const struct jvm *jvm, struct err *err)
{
    struct dump d = {.o = o, .jvm = *jvm};
    char own[64];
    snprintf(own, sizeof own, "heap-%d.%s%s", (int)jvm->pid, o->to == TO_TPTP ? "trcxml" : "hprof",
             o->gz ? ".gz" : "");
    TRY(heap_file_open(&d.file, jvm, o->file ? o->file : own, o->force, err));
    heap_file_guard(&d.file);
    int rc = write_it(&d, err);
    heap_file_guard(NULL);
    heap_file_discard(&d.file);
    return rc;
}

static int run(int argc, char **argv, struct err *err)
{
    struct args o = {.objects = 5000000};
    struct jvm jvm;
    static char level[] = "--gz=1";
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--gz") == 0)
            argv[i] = level;
    int n = cmd_parse(&heap_dump, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (o.gz && o.to == TO_TPTP)
        return err_set(err, CMD_USAGE, "--gz is for HPROF files: leave out --to tptp, or --gz");
    if (o.all && o.to == TO_TPTP)
        return err_set(err, CMD_USAGE,
                       "--all adds unreachable objects, which --to tptp cannot find: leave out one "
                       "of them");
    TRY(target_find(n, argv, o.timeout, &jvm, err));
    return dump(&o, &jvm, err);
}

const struct cmd heap_dump = {
    .name = "heap dump",
    .summary = "write the heap of a running JVM to a file",
    .args = "PID",
    .description =
        "Writes an HPROF file, for orca heap, orca view, Eclipse MAT or VisualVM. The JVM writes "
        "it; no agent is loaded. The JVM makes a full collection first, so the dump has live "
        "objects only, and the program is paused until the file is written: a few seconds per "
        "GB.\n\nWith --to tptp, writes the roots and references as the XML of Eclipse TPTP's "
        "profiler. The agent writes it, and is loaded when the JVM is not recorded. Objects have "
        "the numbers of the present recording; objects without one get a new number.\n\nThe file "
        "belongs to the JVM's user, has mode 0600, and appears under its name when it is complete. "
        "For a JVM in a container, an absolute path is a path in the container.",
    .examples = "orca heap dump 4711 -o heap.hprof\n"
                "orca heap dump 4711 --all --gz=6 -o /var/tmp/heap.hprof.gz\n"
                "orca heap dump 4711 --to tptp -o heap.trcxml",
    .opts = OPT_TABLE(opts),
    .run = run,
};
