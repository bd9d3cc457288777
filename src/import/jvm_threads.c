#include "import/jvm_threads.h"

#include "base/util.h"

#include <string.h>

#define SYSTEM "system"

static const struct {
    const char *name, *group;
    bool prefix; /* a number follows */
    bool called; /* the JDK starts it, on whatever thread needs it first */
} threads[] = {
    {"Reference Handler", SYSTEM, false, false},
    {"Finalizer", SYSTEM, false, false},
    {"Signal Dispatcher", SYSTEM, false, false},
    {"Attach Listener", SYSTEM, false, false},
    {"orca control", SYSTEM, false, false}, /* while a command asks the agent something */
    {"Notification Thread", SYSTEM, false, false},
    {"Service Thread", SYSTEM, false, false},
    {"Monitor Deflation Thread", SYSTEM, false, false},
    {"Low Memory Detector", SYSTEM, false, false},
    {"Sweeper thread", SYSTEM, false, false},
    {"Secondary finalizer", SYSTEM, false, false},
    {"Surrogate Locker Thread (Concurrent GC)", SYSTEM, false, false},
    {"VM Thread", SYSTEM, false, false},
    {"VM Periodic Task Thread", SYSTEM, false, false},
    {"C1 CompilerThread", SYSTEM, true, false},
    {"C2 CompilerThread", SYSTEM, true, false},
    {"JVMCI CompilerThread", SYSTEM, true, false},
    {"CompilerThread", SYSTEM, true, false},
    {"GC Thread#", SYSTEM, true, false},
    {"GC task thread#", SYSTEM, true, false},
    {"Attach API wait loop", SYSTEM, false, false},
    {"Concurrent Mark-Sweep GC Thread", SYSTEM, false, false},
    {"DestroyJavaVM", SYSTEM, false, false},
    {"Finalizer thread", SYSTEM, false, false},
    {"G1 Conc#", SYSTEM, true, false},
    {"G1 Concurrent Refinement Thread#", SYSTEM, true, false},
    {"G1 Main Marker", SYSTEM, false, false},
    {"G1 Refine#", SYSTEM, true, false},
    {"G1 Service", SYSTEM, false, false},
    {"G1 Young RemSet Sampling", SYSTEM, false, false},
    {"GC Daemon", SYSTEM, false, false},
    {"GC Slave", SYSTEM, false, false},
    {"Gang worker#", SYSTEM, true, false},
    {"JIT Compilation Thread", SYSTEM, false, false},
    {"JIT Compilation Thread-", SYSTEM, true, false},
    {"StringDedupProcessor", SYSTEM, false, false},
    {"Surrogate Locker Thread (CMS)", SYSTEM, false, false},
    {"Suspend Checker Thread", SYSTEM, false, false},
    {"Common-Cleaner", "InnocuousThreadGroup", false, true},
};

static bool is_number(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] < '0' || p[i] > '9')
            return false;
    return n > 0;
}

const char *jvm_threads_group(struct text name, bool called)
{
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        size_t n = strlen(threads[i].name);
        if (name.len < n || memcmp(name.p, threads[i].name, n) != 0 ||
            (called && !threads[i].called))
            continue;
        if (name.len == n ? !threads[i].prefix
                          : threads[i].prefix && is_number(name.p + n, name.len - n))
            return threads[i].group;
    }
    return NULL;
}
