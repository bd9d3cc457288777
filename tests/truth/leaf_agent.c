/* leaf_agent.c - which method runs, as AsyncGetCallTrace2 and HotSpot's AsyncGetCallTrace have it.
 *
 * A thread interrupts the newest Java thread every millisecond.  If that has run, the handler asks
 * both functions and keeps the innermost Java frame of each; at VMDeath these are printed as lines
 *     leaf FUNCTION CLASS.METHOD LINE THREAD
 * with ? for a method where there was none, and -1 for a line.  Options: "out=FILE"; "places,"
 * before it: the compilers describe every place. */
#include "orca/asgct2.h"

#include "../jvm/agct.h"

#include <dlfcn.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 512, LEAVES = 1 << 16, INTERVAL_NS = 1000000 };

static struct leaf {
    const char *thread;
    agct_frame of[2]; /* method NULL: none */
} leaves[LEAVES];

static jvmtiEnv *ti;
static FILE *out;
static agct_function agct;
static _Atomic unsigned n_leaves;
static _Atomic int newest; /* thread's id, 0: has ended */
static __thread JNIEnv *env __attribute__((tls_model("initial-exec")));
static __thread const char *name __attribute__((tls_model("initial-exec")));

/* --- samples ---------------------------------------------------------------------------------- */

static agct_frame by_asgct2(void *context)
{
    CallFrame frames[DEPTH];
    CallTrace t = {.frames = frames};
    AsyncGetCallTrace2(&t, DEPTH, context, 0);
    for (int i = 0; i < t.num_frames; i++)
        if (frames[i].type == FRAME_JAVA || frames[i].type == FRAME_JAVA_INLINED)
            return (agct_frame){frames[i].java_frame.bci, frames[i].java_frame.method_id};
    return (agct_frame){0};
}

static agct_frame by_agct(void *context)
{
    agct_frame frames[DEPTH];
    agct_trace t = {.env = env, .frames = frames};
    agct(&t, DEPTH, context);
    return t.n > 0 ? frames[0] : (agct_frame){0};
}

/* Not of threads that wait, for the compiler as well: the samplers beside go by processor time. */
static bool has_run(void)
{
    static __thread long last __attribute__((tls_model("initial-exec")));
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    long now = t.tv_sec * 1000000000 + t.tv_nsec, before = last;
    if (now - before < INTERVAL_NS / 2)
        return false;
    last = now;
    return true;
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    unsigned i = name && has_run() ? atomic_fetch_add(&n_leaves, 1) : LEAVES;
    if (i < LEAVES)
        leaves[i] = (struct leaf){name, {by_asgct2(context), by_agct(context)}};
}

static void *interrupter(void *arg)
{
    (void)arg;
    for (;;) {
        int tid = atomic_load(&newest);
        if (tid)
            syscall(SYS_tgkill, getpid(), tid, SIGPROF);
        nanosleep(&(struct timespec){0, INTERVAL_NS}, NULL);
    }
    return NULL;
}

static void start_signals(void)
{
    struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    pthread_t thread;
    sigset_t every, old;
    sigaction(SIGPROF, &a, NULL);
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &old);
    pthread_create(&thread, NULL, interrupter, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* --- names ------------------------------------------------------------------------------------ */

static int line_of(agct_frame f)
{
    jint n = 0, line = -1;
    jlocation from = -1;
    jvmtiLineNumberEntry *lines;
    if (f.bci < 0 || f.bci == UINT16_MAX ||
        (*ti)->GetLineNumberTable(ti, f.method, &n, &lines) != JVMTI_ERROR_NONE)
        return -1;
    for (jint i = 0; i < n; i++)
        if (lines[i].start_location <= f.bci && lines[i].start_location > from) {
            from = lines[i].start_location;
            line = lines[i].line_number;
        }
    (*ti)->Deallocate(ti, (unsigned char *)lines);
    return line;
}

static void show(JNIEnv *jni, const char *function, const char *thread, agct_frame f)
{
    char *method = NULL, *class = NULL;
    jclass c = NULL;
    if (f.method && (*ti)->GetMethodName(ti, f.method, &method, NULL, NULL) == JVMTI_ERROR_NONE &&
        (*ti)->GetMethodDeclaringClass(ti, f.method, &c) == JVMTI_ERROR_NONE)
        (*ti)->GetClassSignature(ti, c, &class, NULL);
    if (class) /* from Ljava/lang/String; */
        fprintf(out, "leaf %s %.*s.%s %d %s\n", function, (int)strlen(class) - 2, class + 1, method,
                line_of(f), thread);
    else
        fprintf(out, "leaf %s ? -1 %s\n", function, thread);
    (*ti)->Deallocate(ti, (unsigned char *)method);
    (*ti)->Deallocate(ti, (unsigned char *)class);
    (*jni)->DeleteLocalRef(jni, c);
}

/* --- life ------------------------------------------------------------------------------------- */

static void JNICALL on_thread(jvmtiEnv *t, JNIEnv *jni, jthread thread)
{
    jvmtiThreadInfo info = {0};
    (*t)->GetThreadInfo(t, thread, &info);
    env = jni;
    name = info.name; /* for good */
    atomic_store(&newest, (int)syscall(SYS_gettid));
}

static void JNICALL on_thread_end(jvmtiEnv *t, JNIEnv *jni, jthread thread)
{
    (void)t, (void)jni, (void)thread;
    int mine = (int)syscall(SYS_gettid);
    atomic_compare_exchange_strong(&newest, &mine, 0);
    name = NULL;
}

static void JNICALL on_class(jvmtiEnv *t, JNIEnv *jni, jthread thread, jclass c)
{
    (void)t, (void)jni, (void)thread, (void)c; /* AsyncGetCallTrace wants it */
}

static void JNICALL on_code(jvmtiEnv *t, jmethodID method, jint size, const void *code, jint n,
                            const jvmtiAddrLocationMap *map, const void *info)
{
    (void)t, (void)method, (void)size, (void)code, (void)n, (void)map, (void)info;
}

static void JNICALL on_init(jvmtiEnv *t, JNIEnv *jni, jthread thread)
{
    (void)t, (void)jni, (void)thread;
    start_signals();
}

static void JNICALL on_death(jvmtiEnv *t, JNIEnv *jni)
{
    (void)t;
    atomic_store(&newest, 0);
    for (unsigned i = 0; i < n_leaves && i < LEAVES; i++) {
        show(jni, "asgct2", leaves[i].thread, leaves[i].of[0]);
        show(jni, "agct", leaves[i].thread, leaves[i].of[1]);
    }
    fclose(out);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    static const jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT,      JVMTI_EVENT_VM_DEATH,
                                        JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
                                        JVMTI_EVENT_CLASS_LOAD,   JVMTI_EVENT_COMPILED_METHOD_LOAD};
    const jvmtiEventCallbacks calls = {.VMInit = on_init,
                                       .VMDeath = on_death,
                                       .ThreadStart = on_thread,
                                       .ThreadEnd = on_thread_end,
                                       .ClassLoad = on_class,
                                       .CompiledMethodLoad = on_code};
    const jvmtiCapabilities caps = {.can_generate_compiled_method_load_events = 1,
                                    .can_get_line_numbers = 1};
    bool places = strncmp(options, "places,", strlen("places,")) == 0;
    size_t n = sizeof events / sizeof *events - (places ? 0 : 1);
    (void)reserved;
    out = fopen(strstr(options, "out=") + strlen("out="), "w");
    agct = (agct_function)dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
    if (!out || !agct || AsyncGetCallTrace2Init(vm) != 0)
        return fprintf(stderr, "leaf: %s\n", AsyncGetCallTrace2Error()), JNI_ERR;
    (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11);
    (*ti)->AddCapabilities(ti, &caps);
    (*ti)->SetEventCallbacks(ti, &calls, sizeof calls);
    for (size_t i = 0; i < n; i++)
        (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, events[i], NULL);
    return JNI_OK;
}
