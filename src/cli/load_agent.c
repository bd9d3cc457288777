#include "cli/load_agent.h"

#include "attach/attach.h"
#include "attach/client.h"
#include "attach/library.h"
#include "base/log.h"
#include "base/util.h"
#include "cli/agent_path.h"
#include "cli/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The JVM warns at the first time only. */
static bool is_mapped(pid_t pid, const char *library)
{
    char path[64], line[PATH_MAX + 128];
    bool is = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && !is && fgets(line, sizeof line, f))
        is = strstr(line, library) != NULL;
    if (f)
        fclose(f);
    return is;
}

int load_agent(const struct jvm *jvm, bool *foreign, struct err *err)
{
    char library[PATH_MAX], seen[PATH_MAX];
    TRY(jvm_check_rights(jvm, JVM_HOTSPOT, err)); /* before anything of ours is anywhere */
    TRY(agent_path_find(library, err));
    TRY(library_place(jvm, library, seen, sizeof seen, err));
    if (foreign)
        *foreign = strcmp(library, seen) != 0;
    int rc = client_ask(jvm, "status", TARGET_TIMEOUT_NS, NULL, err);
    if (rc == 0 || client_is_silent(rc))
        return rc;
    if (atoi(jvm->java) >= 21 && !is_mapped(jvm->pid, seen))
        log_line("the JVM may warn that an agent was loaded dynamically: that agent is Orca's; "
                 "-XX:+EnableDynamicAgentLoading on the JVM's command line prevents the warning");
    return attach_load(jvm, seen, "control", TARGET_TIMEOUT_NS, err);
}

int load_agent_ask(const struct jvm *jvm, const char *request, uint64_t timeout_ns,
                   struct buf *answer, struct err *err)
{
    struct err ignored;
    int rc = client_ask(jvm, request, timeout_ns, answer, err);
    if (rc != -ENOENT || client_ask(jvm, "status", TARGET_TIMEOUT_NS, NULL, &ignored) == 0)
        return rc;
    TRY(load_agent(jvm, NULL, err));
    rc = client_ask(jvm, request, timeout_ns, answer, err);
    client_ask(jvm, "leave", TARGET_TIMEOUT_NS, NULL, &ignored);
    return rc;
}
