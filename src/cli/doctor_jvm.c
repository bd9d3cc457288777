/* doctor_jvm.c - what can be recorded in one running JVM: asked through its attach mechanism, no
 * agent is loaded. */
#include "attach/attach.h"
#include "attach/client.h"
#include "attach/metaspace.h"
#include "base/human.h"
#include "base/util.h"
#include "cli/findings.h"
#include "cli/target.h"
#include "hotspot/archives.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* An option as HotSpot prints it: "-XX:AOTMode=record", "-XX:+RecordDynamicDumpInfo".  False: this
 * JVM has none of the name, or did not answer. */
static bool ask_flag(const struct jvm *jvm, const char *flag, char *out, size_t n, struct err *err)
{
    const char *const words[1 + ATTACH_ARGUMENTS] = {"printflag", flag};
    struct attach_reply reply;
    attach_reply_init(&reply);
    int rc = attach_command(jvm, words, TARGET_TIMEOUT_NS, &reply, err);
    snprintf(out, n, "%.*s", (int)strcspn(buf_str(&reply.text), "\n"), buf_str(&reply.text));
    attach_reply_fini(&reply);
    return rc == 0 && strncmp(out, "-XX:", 4) == 0;
}

static bool is_set(const struct archive_option *o, const char *printed)
{
    const char *value = strchr(printed, '=');
    if (o->is_switch)
        return printed[4] == '+';
    value = value ? value + 1 : "";
    return *value && strcmp(value, "(null)") != 0 && (!o->value || strcmp(value, o->value) == 0);
}

static void look_at_archive(struct findings *f, const struct jvm *jvm)
{
    char printed[512];
    struct err ignored;
    for (const struct archive_option *o = archive_options; o->flag; o++)
        if (ask_flag(jvm, o->flag, printed, sizeof printed, &ignored) && is_set(o, printed)) {
            findings_add(f, "jvm", FINDING_WARN,
                         "begin the program without it to record the other groups",
                         "%s archives its classes, so Orca changes none of them: only monitors, "
                         "waits, threads, gc and samples can be recorded",
                         printed);
            return;
        }
    findings_add(f, "jvm", FINDING_OK, "",
                 "its classes can be changed: it makes no archive of them");
}

static void look_at_metaspace(struct findings *f, const struct jvm *jvm)
{
    enum { MB = 1 << 20, ALLOC = 18 };
    struct metaspace m;
    struct err ignored;
    if (metaspace_ask(jvm, TARGET_TIMEOUT_NS, &m, &ignored) < 0 || m.most == UINT64_MAX)
        return;
    uint64_t room = m.most - min_u64(m.committed, m.most);
    findings_add(f, "jvm", room < (uint64_t)ALLOC * MB ? FINDING_WARN : FINDING_OK,
                 room < (uint64_t)ALLOC * MB
                     ? "a larger -XX:MaxMetaspaceSize; what each group needs: orca attach --help"
                     : "",
                 "%s left of its MaxMetaspaceSize of %s", human_bytes(room).text,
                 human_bytes(m.most).text);
}

/* What its agent could not have. */
static void tell_lacks(struct findings *f, const char *status)
{
    static const char word[] = "lacks ";
    for (const char *at = status; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strncmp(at, word, sizeof word - 1) == 0)
            findings_add(f, "jvm", FINDING_WARN, "", "%.*s",
                         (int)(strcspn(at, "\n") - (sizeof word - 1)), at + sizeof word - 1);
}

void doctor_jvm(struct findings *f, const struct jvm *jvm)
{
    struct err err = {""};
    char printed[512], path[PATH_MAX];
    struct buf status;
    buf_init(&status);
    if (!ask_flag(jvm, "UsePerfData", printed, sizeof printed, &err)) {
        findings_add(f, "jvm", FINDING_FAIL, "", "%s", err.msg[0] ? err.msg : printed);
        buf_fini(&status);
        return;
    }
    findings_add(f, "jvm", FINDING_OK, "", "JVM %d (%s), Java %s, can be attached to",
                 (int)jvm->pid, jvm->name, jvm->java[0] ? jvm->java : "of an unknown version");
    if (client_ask(jvm, "status", TARGET_TIMEOUT_NS, &status, &err) == 0) {
        target_text(buf_str(&status), "path", path, sizeof path);
        findings_add(f, "jvm", FINDING_OK, "", "it is being recorded, into %s", path);
        tell_lacks(f, buf_str(&status));
    }
    look_at_archive(f, jvm);
    look_at_metaspace(f, jvm);
    buf_fini(&status);
}
