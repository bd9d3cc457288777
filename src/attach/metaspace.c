#include "attach/metaspace.h"

#include "attach/attach.h"

#include <stdlib.h>
#include <string.h>

/* "33554432 bytes" before `end`, spaces around it. */
static bool take_bytes(const char *text, uint64_t *bytes)
{
    char *end;
    text += strspn(text, " ");
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *bytes = strtoull(text, &end, 10);
    return errno == 0 && strncmp(end, " bytes", 6) == 0;
}

/* "Both:  100663296 bytes reserved,  327680 bytes ( <1%) committed." */
static bool take_committed(const char *text, uint64_t *bytes)
{
    for (const char *at = text; (at = strstr(at, "Both:")); at += 5) {
        const char *end = strchr(at, '\n'), *reserved = strstr(at, " reserved,");
        if (reserved && (!end || reserved < end))
            return take_bytes(reserved + strlen(" reserved,"), bytes);
    }
    return false;
}

bool metaspace_parse(const char *answer, struct metaspace *m)
{
    static const char key[] = "MaxMetaspaceSize:";
    const char *most = strstr(answer, key);
    if (!most || !take_committed(answer, &m->committed))
        return false;
    most += strlen(key);
    if (take_bytes(most, &m->most))
        return true;
    m->most = UINT64_MAX;
    return strncmp(most, " unlimited", 10) == 0;
}

int metaspace_ask(const struct jvm *jvm, uint64_t timeout_ns, struct metaspace *m, struct err *err)
{
    static const char *const words[1 + ATTACH_ARGUMENTS] = {"jcmd", "VM.metaspace basic scale=1"};
    struct attach_reply reply;
    attach_reply_init(&reply);
    int rc = attach_command(jvm, words, timeout_ns, &reply, err);
    if (rc == 0 && (reply.status != 0 || !metaspace_parse(buf_str(&reply.text), m)))
        rc = err_set(err, -ENOTSUP, "JVM %d does not report the use of its metaspace",
                     (int)jvm->pid);
    attach_reply_fini(&reply);
    return rc;
}
