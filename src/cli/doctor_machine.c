/* doctor_machine.c - what this machine and this container allow: processors, clock, shared memory,
 * resource limits, kernel switches. */
#include "base/cgroup.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/util.h"
#include "cli/findings.h"
#include "record/switches.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { SLOW_CLOCK_NS = 100, CLOCK_ROUNDS = 20000 };
enum { SHM_LEAST = 64 << 20, MEMORY_LEAST = 256 << 20 };

/* The first line of a file, without its end.  "" when it cannot be read. */
static void first_line(const char *path, char *out, size_t n)
{
    out[0] = 0;
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    if (!fgets(out, (int)n, f))
        out[0] = 0;
    out[strcspn(out, "\n")] = 0;
    fclose(f);
}

/* --- cgroups ---------------------------------------------------------------------------------- */

/* The value that `read` makes of `file`, smallest of all groups from this process's up to the root.
 * UINT64_MAX: no limit. */
static uint64_t cgroup_least(const char *mount, const char *controller, const char *file,
                             uint64_t (*read)(const char *text))
{
    char group[2048];
    uint64_t least = UINT64_MAX;
    if (!cgroup_path(controller, group, sizeof group))
        return least;
    for (;;) {
        char path[4096], text[128];
        snprintf(path, sizeof path, "%s%s/%s", mount, group, file);
        first_line(path, text, sizeof text);
        if (text[0])
            least = min_u64(least, read(text));
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = 0;
    }
}

static uint64_t read_bytes(const char *text)
{
    uint64_t v;
    /* Version 1 writes "no limit" as a number close to 2^63. */
    return sscanf(text, "%" SCNu64, &v) == 1 && v < UINT64_MAX / 4 ? v : UINT64_MAX;
}

/* "200000 100000": processors in thousandths. */
static uint64_t read_quota(const char *text)
{
    uint64_t quota, period;
    if (sscanf(text, "%" SCNu64 " %" SCNu64, &quota, &period) != 2 || period == 0)
        return UINT64_MAX;
    return quota * 1000 / period;
}

static uint64_t memory_limit(void)
{
    return min_u64(
        cgroup_least("/sys/fs/cgroup", "", "memory.max", read_bytes),
        cgroup_least("/sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes", read_bytes));
}

static uint64_t cpu_quota(void)
{
    return cgroup_least("/sys/fs/cgroup", "", "cpu.max", read_quota);
}

/* --- machine
 * -------------------------------------------------------------------------------------- */

static void look_at_cpu(struct findings *f)
{
    struct utsname u;
    if (uname(&u) == 0 && strcmp(u.machine, "x86_64") == 0)
        findings_add(f, "machine", FINDING_OK, "", "Linux %s on x86-64", u.release);
    else
        findings_add(f, "machine", FINDING_FAIL,
                     "record on Linux x86-64; traces can be read anywhere",
                     "this machine is not x86-64");
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    long allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : online;
    uint64_t quota = cpu_quota();
    if (quota < (uint64_t)allowed * 1000)
        findings_add(f, "machine", FINDING_WARN, "threads may pause because the quota is used up",
                     "%ld processors, but the cgroup allows the time of %" PRIu64 ".%" PRIu64,
                     allowed, quota / 1000, quota % 1000 / 100);
    else
        findings_add(f, "machine", FINDING_OK, "", "%ld of %ld processors can be used", allowed,
                     online);
}

static void look_at_clock(struct findings *f)
{
    char source[64];
    first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
               sizeof source);
    uint64_t begin = clock_mono_ns(), last = begin;
    for (int i = 0; i < CLOCK_ROUNDS; i++)
        last = clock_mono_ns();
    uint64_t each = (last - begin) / CLOCK_ROUNDS;
    bool slow = each > SLOW_CLOCK_NS;
    findings_add(f, "machine", slow ? FINDING_WARN : FINDING_OK,
                 slow ? "switch the clock source to tsc (or kvm-clock) if the host allows it" : "",
                 "clock source %s: %" PRIu64 " ns per time stamp%s", source[0] ? source : "unknown",
                 each, slow ? ", which every event pays" : "");
}

static void look_at_shm(struct findings *f)
{
    struct statvfs v;
    if (statvfs("/dev/shm", &v) < 0 || access("/dev/shm", W_OK) < 0) {
        findings_add(
            f, "machine", FINDING_WARN,
            "mount a tmpfs there that everyone may write to, or name a folder with ringdir=",
            "/dev/shm cannot be written: the rings go beside the trace, on the disk");
        return;
    }
    uint64_t size = v.f_blocks * v.f_frsize, left = v.f_bavail * v.f_frsize;
    bool small = left < SHM_LEAST;
    findings_add(
        f, "machine", small ? FINDING_WARN : FINDING_OK,
        small ? "make it larger (container engines: --shm-size=256m) or record with a smaller "
                "ringmem="
              : "",
        "/dev/shm: %s, %s free", human_bytes(size).text, human_bytes(left).text);
}

/* Rings of JVMs that were killed and whose traces have not been opened since:
 * /dev/shm/orca-PID-X.rings */
static void look_at_left_rings(struct findings *f)
{
    glob_t g;
    if (glob("/dev/shm/orca-*-*.rings", 0, NULL, &g) != 0)
        return;
    size_t n = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < g.gl_pathc; i++) {
        struct stat st;
        int pid;
        if (sscanf(g.gl_pathv[i], "/dev/shm/orca-%d-", &pid) != 1 || pid <= 0 ||
            kill(pid, 0) == 0 || errno != ESRCH || stat(g.gl_pathv[i], &st) < 0)
            continue;
        n++;
        bytes += (uint64_t)st.st_blocks * 512;
    }
    globfree(&g);
    if (n > 0)
        findings_add(
            f, "machine", FINDING_WARN,
            "orca clean removes those that no trace needs, and prints how to complete the others",
            "/dev/shm holds the rings of %zu killed JVM%s: %s", n, n == 1 ? "" : "s",
            human_bytes(bytes).text);
}

static void look_at_memory(struct findings *f)
{
    uint64_t limit = memory_limit();
    if (limit == UINT64_MAX) {
        findings_add(f, "limits", FINDING_OK, "", "no memory limit by a cgroup");
        return;
    }
    bool small = limit < MEMORY_LEAST;
    findings_add(f, "limits", small ? FINDING_WARN : FINDING_OK,
                 small ? "the rings count as the program's memory: raise the limit while recording"
                       : "",
                 "memory limit by a cgroup: %s", human_bytes(limit).text);
}

/* --- limits ----------------------------------------------------------------------------------- */

static const struct {
    int resource;
    const char *name;
    uint64_t least;
    const char *remedy;
} limits[] = {
    {RLIMIT_NOFILE, "open files", 256, "raise it: ulimit -n 4096"},
    {RLIMIT_NPROC, "processes and threads", 256,
     "raise it: ulimit -u 4096; the agent adds two threads"},
    {RLIMIT_FSIZE, "file size", 1ull << 30,
     "raise it (ulimit -f unlimited) or record with maxsize="},
};

static void look_at_limits(struct findings *f)
{
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct rlimit l;
        if (getrlimit(limits[i].resource, &l) < 0)
            continue;
        bool low = l.rlim_cur != RLIM_INFINITY && l.rlim_cur < limits[i].least;
        const char *remedy = low ? limits[i].remedy : "";
        if (l.rlim_cur == RLIM_INFINITY)
            findings_add(f, "limits", FINDING_OK, "", "%s: no limit", limits[i].name);
        else
            findings_add(f, "limits", low ? FINDING_WARN : FINDING_OK, remedy, "%s: %s",
                         limits[i].name, human_count(l.rlim_cur).text);
    }
}

static void look_at_places(struct findings *f)
{
    const char *tmp = getenv("TMPDIR");
    if (!tmp || tmp[0] != '/')
        tmp = "/tmp";
    if (access(tmp, W_OK | X_OK) == 0)
        findings_add(f, "limits", FINDING_OK, "", "%s can be written", tmp);
    else
        findings_add(f, "limits", FINDING_FAIL, "set TMPDIR to a folder that can be written",
                     "%s cannot be written: 'orca record' keeps its session file there", tmp);
}

/* --- kernel ----------------------------------------------------------------------------------- */

/* Switches that nothing depends on today: shown so that a report of a problem has them. */
static const struct {
    const char *name, *path, *meaning;
} switches[] = {
    {"perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid",
     "processor events; 2 or less is enough"},
    {"kptr_restrict", "/proc/sys/kernel/kptr_restrict", "kernel symbols; 0 shows them"},
    {"ptrace_scope", "/proc/sys/kernel/yama/ptrace_scope", "debuggers; Orca does not use ptrace"},
};

static const struct {
    const char *path, *name;
} container_marks[] = {
    {"/.dockerenv", "Docker"},
    {"/run/.containerenv", "Podman"},
    {"/var/run/secrets/kubernetes.io", "Kubernetes"},
};

static void look_at_kernel(struct findings *f)
{
    for (size_t i = 0; i < ARRAY_LEN(switches); i++) {
        char value[32];
        first_line(switches[i].path, value, sizeof value);
        if (value[0])
            findings_add(f, "kernel", FINDING_OK, "", "%s is %s (%s)", switches[i].name, value,
                         switches[i].meaning);
    }
    for (size_t i = 0; i < ARRAY_LEN(container_marks); i++)
        if (access(container_marks[i].path, F_OK) == 0)
            findings_add(f, "kernel", FINDING_OK, "",
                         "in a container (%s): run orca in the same one as the JVM",
                         container_marks[i].name);
}

static void look_at_switches(struct findings *f)
{
    struct switches *s;
    struct err err;
    if (switches_open(&s, &err) < 0) {
        findings_add(f, "kernel", FINDING_WARN,
                     "allow perf_event_open: perf_event_paranoid 2 or less, and a seccomp profile "
                     "of the container that lets it through",
                     "perf events: %s: Orca records how long threads were on a processor or ready, "
                     "and not when",
                     err.msg);
        return;
    }
    findings_add(f, "kernel", FINDING_OK, "",
                 "perf events report when a thread was on a processor, and when it was ready");
    switches_close(s);
}

void doctor_machine(struct findings *f)
{
    look_at_cpu(f);
    look_at_clock(f);
    look_at_shm(f);
    look_at_left_rings(f);
    look_at_memory(f);
    look_at_limits(f);
    look_at_places(f);
    look_at_kernel(f);
    look_at_switches(f);
}
