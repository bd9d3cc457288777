/* sampler.c - a CPU profiler of 150 lines: AsyncGetCallTrace2, JVMTI and POSIX, nothing else.
 *
 *     java -agentpath:libsampler.so app.Main               the 20 methods that ran most, at the end
 *     java -agentpath:libsampler.so=FILE app.Main          and FILE: collapsed stacks, for
 *                                                          flame graphs
 *
 * The kernel sends SIGPROF for every 10 ms of processor time, to a thread that is running.  The
 * handler takes that thread's stack into a slot of a table that was there before: no lock, no
 * allocation, no system call.  When the JVM ends, JVMTI turns method ids into names.  What a real
 * profiler would add: equal stacks merged while it runs, names before a class is unloaded. */
#include "orca/asgct2.h"

#include <jvmti.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { DEPTH = 128, SAMPLES = 20000, INTERVAL_US = 10000, TOP = 20, LINE = 64 * DEPTH };
static jvmtiEnv *jvmti;
static char *collapsed; /* the file's name, NULL: none is wanted */
static CallFrame frames[SAMPLES][DEPTH];
static jint sizes[SAMPLES]; /* of each sample: its frames, or an error */
static atomic_int taken;

/* In any thread, between any two instructions. */
static void on_sigprof(int signal, siginfo_t *info, void *ucontext)
{
    (void)signal, (void)info;
    int i = atomic_fetch_add(&taken, 1);
    if (i < SAMPLES) {
        CallTrace trace = {.frames = frames[i]};
        AsyncGetCallTrace2(&trace, DEPTH, ucontext, 0);
        sizes[i] = trace.num_frames;
    }
}

/* "java/lang/String.indexOf" for a frame. */
static void name_frame(JNIEnv *jni, const CallFrame *f, char *text, size_t size)
{
    char *name = NULL, *class_name = NULL;
    jclass c = NULL;
    if (f->type != FRAME_JAVA && f->type != FRAME_JAVA_INLINED) {
        snprintf(text, size, "%s", f->type == FRAME_NATIVE ? "[native]" : "[vm]");
    } else if ((*jvmti)->GetMethodName(jvmti, f->java_frame.method_id, &name, NULL, NULL) == 0 &&
               (*jvmti)->GetMethodDeclaringClass(jvmti, f->java_frame.method_id, &c) == 0 &&
               (*jvmti)->GetClassSignature(jvmti, c, &class_name, NULL) == 0) {
        /* from Lshop/Order; */
        snprintf(text, size, "%.*s.%s", (int)strlen(class_name) - 2, class_name + 1, name);
    } else {
        snprintf(text, size, "[unloaded]"); /* or no id: see docs/reference/asgct2.md */
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)class_name);
    (*jni)->DeleteLocalRef(jni, c);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sort the lines, and write each with the number of times that it is there. */
static int merge(char **lines, int n, int *counts)
{
    int out = 0;
    qsort(lines, (size_t)n, sizeof *lines, compare_lines);
    for (int i = 0; i < n; i++) {
        if (out == 0 || strcmp(lines[out - 1], lines[i]) != 0)
            lines[out] = lines[i], counts[out++] = 0;
        counts[out - 1]++;
    }
    return out;
}

static void print_top(char **methods, int n, int all)
{
    static int counts[SAMPLES];
    n = merge(methods, n, counts);
    for (int shown = 0; shown < TOP && shown < n; shown++) {
        int most = 0;
        for (int i = 1; i < n; i++)
            most = counts[i] > counts[most] ? i : most;
        printf("%6.2f%% %6d  %s\n", 100.0 * counts[most] / all, counts[most], methods[most]);
        counts[most] = 0;
    }
}

static void write_collapsed(char **stacks, int n)
{
    static int counts[SAMPLES];
    FILE *f = fopen(collapsed, "w");
    n = merge(stacks, n, counts);
    for (int i = 0; f && i < n; i++)
        fprintf(f, "%s %d\n", stacks[i], counts[i]);
    if (!f || fclose(f) != 0)
        perror(collapsed);
}

static void JNICALL on_vm_death(jvmtiEnv *t, JNIEnv *jni)
{
    (void)t;
    static char *top[SAMPLES], *stacks[SAMPLES], line[LINE], name[1024];
    setitimer(ITIMER_PROF, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    int n = taken < SAMPLES ? taken : SAMPLES, good = 0;
    for (int i = 0; i < n; i++) {
        size_t length = 0;
        for (int k = sizes[i] - 1; k >= 0; k--) { /* outermost first */
            name_frame(jni, &frames[i][k], name, sizeof name);
            if (length + strlen(name) + 2 < sizeof line)
                length += (size_t)sprintf(line + length, "%s%s", length ? ";" : "", name);
        }
        if (sizes[i] > 0) {
            top[good] = strdup(name);
            stacks[good++] = strdup(line);
        }
    }
    printf("%d samples, %d with a stack\n", n, good);
    print_top(top, good, n);
    if (collapsed)
        write_collapsed(stacks, good);
    fflush(stdout);
}

static void JNICALL on_vm_init(jvmtiEnv *t, JNIEnv *jni, jthread thread)
{
    (void)t, (void)jni, (void)thread;
    const struct sigaction action = {.sa_sigaction = on_sigprof,
                                     .sa_flags = SA_SIGINFO | SA_RESTART};
    const struct itimerval every = {{0, INTERVAL_US}, {0, INTERVAL_US}};
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &every, NULL);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    const jvmtiEventCallbacks callbacks = {.VMInit = on_vm_init, .VMDeath = on_vm_death};
    collapsed = options && *options ? strdup(options) : NULL;
    if (AsyncGetCallTrace2Init(vm) != 0)
        return fprintf(stderr, "sampler: %s\n", AsyncGetCallTrace2Error()), JNI_ERR;
    (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11);
    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
    return JNI_OK;
}
