/* doctor_jdk.c - the JDKs of this machine, found in the usual places and distinguished by their
 * `release` file and the symbols of their libjvm.so; none is started. */
#include "base/buf.h"
#include "base/util.h"
#include "cli/agent_path.h"
#include "cli/elf_symbol.h"
#include "cli/findings.h"

#include <ctype.h>
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JDKS_MAX = 64, OLDEST = 17, TESTED = 25, NEWEST = 28, VIRTUAL_THREADS = 21 };

struct jdk {
    char root[PATH_MAX]; /* links resolved: the identity of a JDK */
    char version[64], vendor[64], arch[32];
    int major; /* 0: unknown */
    bool hotspot;
    const char *origin; /* how it was found first */
};

struct jdks {
    struct jdk *list;
    size_t n;
};

static const char *const globs[] = {
    "/usr/lib/jvm/*", "/usr/java/*", "/opt/java/*", "/opt/*jdk*", "/opt/*java*", "/usr/local/*jdk*",
};
static const char *const home_globs[] = {".sdkman/candidates/java/*", ".jdks/*",
                                         ".asdf/installs/java/*"};

/* --- one JDK ---------------------------------------------------------------------------------- */

/* The value of KEY="value" in the release file's text. */
static void release_value(const char *text, const char *key, char *out, size_t n)
{
    out[0] = 0;
    size_t len = strlen(key);
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, len) != 0 || line[len] != '=')
            continue;
        const char *value = line + len + 1;
        value += *value == '"';
        snprintf(out, n, "%.*s", (int)strcspn(value, "\"\n"), value);
        return;
    }
}

/* "17.0.15" -> 17, "1.8.0_392" -> 8, "25-ea" -> 25 */
static int major_version(const char *version)
{
    int major = atoi(version);
    return major == 1 && version[1] == '.' ? atoi(version + 2) : major;
}

static bool read_release(struct jdk *j)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/release", j->root);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    char text[16384];
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    release_value(text, "JAVA_VERSION", j->version, sizeof j->version);
    release_value(text, "IMPLEMENTOR", j->vendor, sizeof j->vendor);
    release_value(text, "OS_ARCH", j->arch, sizeof j->arch);
    j->major = major_version(j->version);
    return true;
}

static bool is_hotspot(const struct jdk *j)
{
    static const char *const libs[] = {"lib/server/libjvm.so", "jre/lib/amd64/server/libjvm.so",
                                       "lib/amd64/server/libjvm.so"};
    for (size_t i = 0; i < ARRAY_LEN(libs); i++) {
        char path[PATH_MAX + 64];
        snprintf(path, sizeof path, "%s/%s", j->root, libs[i]);
        if (elf_symbol_exported(path, "gHotSpotVMStructs", NULL) == 1)
            return true;
    }
    return false;
}

/* Add the JDK or JRE whose root is `path`, unless it is none or known already. */
static void add(struct jdks *all, const char *path, const char *origin)
{
    struct jdk j = {.origin = origin};
    char java[PATH_MAX + 16];
    if (all->n == JDKS_MAX || !realpath(path, j.root))
        return;
    snprintf(java, sizeof java, "%s/bin/java", j.root);
    if (access(java, X_OK) < 0)
        return;
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->list[i].root, j.root) == 0)
            return;
    if (!read_release(&j))
        return; /* /usr has a bin/java, too */
    j.hotspot = is_hotspot(&j);
    all->list[all->n++] = j;
}

/* Add the JDK of a java command: <root>/bin/java, links resolved. */
static void add_command(struct jdks *all, const char *command, const char *origin)
{
    char real[PATH_MAX];
    if (!realpath(command, real))
        return;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(real, '/');
        if (!slash)
            return;
        *slash = 0;
    }
    add(all, real, origin);
}

/* --- where they are --------------------------------------------------------------------------- */

static void add_from_path(struct jdks *all)
{
    const char *path = getenv("PATH");
    for (size_t len; path && *path; path += len + (path[len] == ':')) {
        len = strcspn(path, ":");
        char command[PATH_MAX];
        snprintf(command, sizeof command, "%.*s/java", (int)len, path);
        if (access(command, X_OK) == 0) {
            add_command(all, command, "java on PATH");
            return;
        }
    }
}

/* Debian's list of what /usr/bin/java can point to. */
static void add_alternatives(struct jdks *all)
{
    FILE *f = fopen("/var/lib/dpkg/alternatives/java", "re");
    if (!f)
        return;
    char line[PATH_MAX];
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        size_t len = strlen(line);
        if (line[0] == '/' && len > 9 && strcmp(line + len - 9, "/bin/java") == 0)
            add_command(all, line, "update-alternatives");
    }
    fclose(f);
}

static void add_glob(struct jdks *all, const char *pattern)
{
    glob_t g;
    if (glob(pattern, 0, NULL, &g) == 0) {
        for (size_t i = 0; i < g.gl_pathc; i++)
            add(all, g.gl_pathv[i], "");
        globfree(&g);
    }
}

static void find_all(struct jdks *all)
{
    const char *java_home = getenv("JAVA_HOME");
    if (java_home && *java_home)
        add(all, java_home, "JAVA_HOME");
    add_from_path(all);
    for (size_t i = 0; i < ARRAY_LEN(globs); i++)
        add_glob(all, globs[i]);
    add_alternatives(all);
    const char *home = getenv("HOME");
    for (size_t i = 0; home && i < ARRAY_LEN(home_globs); i++) {
        char pattern[PATH_MAX];
        snprintf(pattern, sizeof pattern, "%s/%s", home, home_globs[i]);
        add_glob(all, pattern);
    }
}

/* --- what Orca can do with them
 * ------------------------------------------------------------------- */

static bool other_cpu(const struct jdk *j)
{
    return j->arch[0] && strcmp(j->arch, "x86_64") != 0 && strcmp(j->arch, "amd64") != 0;
}
static bool other_jvm(const struct jdk *j)
{
    return !j->hotspot;
}
static bool unknown_version(const struct jdk *j)
{
    return j->major == 0;
}
static bool too_old(const struct jdk *j)
{
    return j->major < OLDEST;
}
static bool too_new(const struct jdk *j)
{
    return j->major > NEWEST;
}
static bool less_tested(const struct jdk *j)
{
    return j->major > TESTED;
}
static bool has_virtual_threads(const struct jdk *j)
{
    return j->major >= VIRTUAL_THREADS;
}
static bool any(const struct jdk *j)
{
    UNUSED(j);
    return true;
}

/* The first row that holds. */
static const struct {
    bool (*holds)(const struct jdk *j);
    enum finding_status status;
    const char *says, *remedy;
} support[] = {
    {other_jvm, FINDING_WARN, "not a HotSpot JVM: the agent refuses it",
     "run the program on a HotSpot JDK 17 to 28 to record it"},
    {other_cpu, FINDING_WARN, "not x86-64: the agent refuses it",
     "run the program on an x86-64 machine to record it"},
    {unknown_version, FINDING_WARN, "version unknown: best effort",
     "use a JDK 17 to 25, which are tested"},
    {too_old, FINDING_WARN, "older than 17: the agent refuses it",
     "run the program on JDK 17 to 28 to record it"},
    {too_new, FINDING_WARN, "newer than 28: the agent refuses it",
     "run the program on JDK 17 to 28 to record it"},
    {less_tested, FINDING_OK, "supported, with virtual threads; tested less than JDK 17 to 25", ""},
    {has_virtual_threads, FINDING_OK, "supported, with virtual threads", ""},
    {any, FINDING_OK, "supported", ""},
};

static void judge(struct findings *f, const struct jdk *j)
{
    size_t i = 0;
    while (!support[i].holds(j))
        i++;
    findings_add(f, "jdk", support[i].status, support[i].remedy, "%s%s%s at %s%s%s%s: %s",
                 j->version[0] ? j->version : "?", j->vendor[0] ? " " : "", j->vendor, j->root,
                 j->origin[0] ? " (" : "", j->origin, j->origin[0] ? ")" : "", support[i].says);
}

void doctor_jdks(struct findings *f)
{
    struct jdks all = {calloc(JDKS_MAX, sizeof *all.list), 0};
    if (!all.list) {
        f->oom = true;
        return;
    }
    find_all(&all);
    bool usable = false;
    for (size_t i = 0; i < all.n; i++) {
        judge(f, &all.list[i]);
        usable |= all.list[i].hotspot && !too_old(&all.list[i]) && !other_cpu(&all.list[i]);
    }
    if (!usable)
        findings_add(f, "jdk", FINDING_FAIL,
                     "install one (Debian: openjdk-17-jdk-headless) or set JAVA_HOME",
                     "no HotSpot JDK of version 17 or later was found");
    free(all.list);
}

/* --- the agent -------------------------------------------------------------------------------- */

void doctor_agent(struct findings *f)
{
    char path[PATH_MAX];
    struct err err;
    if (agent_path_find(path, &err) < 0) {
        findings_add(f, "agent", FINDING_FAIL,
                     "build it with make, or set ORCA_AGENT to liborca.so", "%s", err.msg);
        return;
    }
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        findings_add(f, "agent", FINDING_FAIL, "build it on a system as old as this one",
                     "%s does not load: %s", path, dlerror());
    else if (!dlsym(lib, "Agent_OnLoad"))
        findings_add(f, "agent", FINDING_FAIL, "set ORCA_AGENT to liborca.so",
                     "%s is not a JVM agent", path);
    else
        findings_add(f, "agent", FINDING_OK, "", "%s", path);
    if (lib)
        dlclose(lib);
}
