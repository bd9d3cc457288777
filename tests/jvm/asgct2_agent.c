/* asgct2_agent.c - AsyncGetCallTrace2 in a running JVM, through nothing but its header.
 *
 * Options, by commas: "late": the program calls the init (CallTraces.java).  "signal=MICROSECONDS":
 * a thread interrupts the Java threads in turn; the handler asks AsyncGetCallTrace2 and
 * AsyncGetCallTrace and compares the Java frames.  "all": it interrupts every thread of the
 * process, those of the JVM, too, and does not ask AsyncGetCallTrace.  "resolve": one more thread
 * asks JVMTI for the names of ids that were found, also of classes that are being unloaded.  Sums
 * are printed at VMDeath, as "asgct2: key value" lines; "bad" are answers that must not be. */
#include "orca/asgct2.h"

#include "agct.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { DEPTH = 512, THREADS = 4096, ERRORS = 16, IDS = 4096 };

static JavaVM *jvm;
static jvmtiEnv *ti;
static int interval_us;
static bool late, all_threads, resolving, asks_for_c;
static FILE *out;
static agct_function agct;

static _Atomic long signals, usable, theirs_usable, both, same, same_bci, shorter, longer, common,
    their_frames, c_compared, c_frames, c_differ, frames, kinds[8], no_id, bad, cycles,
    their_cycles, errors[ERRORS], their_errors[ERRORS], resolved, invalid;

/* Of the first that differed: its frames without C, with C (or the error), those of the latter that
 * are not C, the place. */
static _Atomic long c_first[4];

static void count(_Atomic long *what, long by)
{
    atomic_fetch_add_explicit(what, by, memory_order_relaxed);
}

static bool is_java(const CallFrame *f)
{
    return f->type == FRAME_JAVA || f->type == FRAME_JAVA_INLINED;
}

/* --- where the answer is known ---------------------------------------------------------------- */

static char differs[1000];

static jstring say(JNIEnv *jni, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(differs, sizeof differs, format, ap);
    va_end(ap);
    return (*jni)->NewStringUTF(jni, differs);
}

/* A collection may be under way: that ends. */
static int take_trace(CallFrame *to, jint depth)
{
    CallTrace t = {.num_frames = 77, .frames = to, .frame_info = to};
    errno = 4711;
    do
        AsyncGetCallTrace2(&t, depth, NULL, 0);
    while (t.num_frames == GC_ACTIVE);
    return t.frame_info || errno != 4711 ? -99 : t.num_frames;
}

/* GetStackTrace has no stubs; native methods have no id in a trace. */
JNIEXPORT jstring JNICALL Java_CallTraces_compare(JNIEnv *jni, jclass c, jint depth)
{
    CallFrame mine[2 * DEPTH];
    jvmtiFrameInfo theirs[2 * DEPTH];
    jint n = 0;
    (void)c;
    int rc = take_trace(mine, depth);
    if (rc <= 0 || rc > depth)
        return say(jni, "error %d", rc);
    (*ti)->GetStackTrace(ti, NULL, 0, 2 * DEPTH, theirs, &n);
    int k = 0;
    for (int i = 0; i < rc; i++) {
        const JavaFrame *f = &mine[i].java_frame;
        if (mine[i].type == FRAME_STUB)
            continue;
        if (k >= n)
            return say(jni, "frame %d of %d: JVMTI has only %d", i, rc, n);
        bool native = theirs[k].location < 0;
        if (native != (f->type == FRAME_NATIVE) ||
            (!native && (f->method_id != theirs[k].method || f->bci != theirs[k].location)))
            return say(jni, "frame %d of %d: kind %d id %p bci %d, JVMTI's %d of %d: id %p bci %ld",
                       i, rc, f->type, (void *)f->method_id, f->bci, k, n, (void *)theirs[k].method,
                       (long)theirs[k].location);
        k++;
    }
    return rc == depth || k == n ? say(jni, "") : say(jni, "%d frames, JVMTI has %d", k, n);
}

static bool has_name(jmethodID id, const char *name)
{
    char *its = NULL;
    if ((*ti)->GetMethodName(ti, id, &its, NULL, NULL) != JVMTI_ERROR_NONE)
        return false;
    bool is = strcmp(its, name) == 0;
    (*ti)->Deallocate(ti, (unsigned char *)its);
    return is;
}

/* The method itself called idOf, so it is the second frame that is not a stub. */
JNIEXPORT jlong JNICALL Java_CallTraces_idOf(JNIEnv *jni, jclass c, jstring method)
{
    CallFrame mine[16];
    (void)c;
    int rc = take_trace(mine, 16);
    const char *name = (*jni)->GetStringUTFChars(jni, method, NULL);
    jlong id = -1;
    for (int i = 0; i < rc && id == -1; i++)
        if (is_java(&mine[i]) &&
            (!mine[i].java_frame.method_id || has_name(mine[i].java_frame.method_id, name)))
            id = (jlong)(uintptr_t)mine[i].java_frame.method_id;
    (*jni)->ReleaseStringUTFChars(jni, method, name);
    return id;
}

JNIEXPORT jstring JNICALL Java_CallTraces_resolve(JNIEnv *jni, jclass c, jlong id)
{
    char *name = NULL;
    (void)c;
    jvmtiError e = (*ti)->GetMethodName(ti, (jmethodID)(uintptr_t)id, &name, NULL, NULL);
    if (e != JVMTI_ERROR_NONE)
        return say(jni, "%d", e);
    jstring s = (*jni)->NewStringUTF(jni, name);
    (*ti)->Deallocate(ti, (unsigned char *)name);
    return s;
}

JNIEXPORT jlong JNICALL Java_CallTraces_currentId(JNIEnv *jni, jclass c, jclass of, jstring method)
{
    (void)c;
    const char *name = (*jni)->GetStringUTFChars(jni, method, NULL);
    jmethodID id = (*jni)->GetStaticMethodID(jni, of, name, "()I");
    (*jni)->ReleaseStringUTFChars(jni, method, name);
    return (jlong)(uintptr_t)id;
}

JNIEXPORT void JNICALL Java_CallTraces_redefine(JNIEnv *jni, jclass c, jclass of, jbyteArray code)
{
    (void)c;
    jbyte *b = (*jni)->GetByteArrayElements(jni, code, NULL);
    jvmtiClassDefinition d = {of, (*jni)->GetArrayLength(jni, code), (const unsigned char *)b};
    jvmtiError e = (*ti)->RedefineClasses(ti, 1, &d);
    if (e != JVMTI_ERROR_NONE)
        (*jni)->FatalError(jni, "RedefineClasses");
    (*jni)->ReleaseByteArrayElements(jni, code, b, JNI_ABORT);
}

static void expect(const char *what, int got, int wanted)
{
    if (got == wanted)
        return;
    fprintf(out, "asgct2: %s: %d instead of %d\n", what, got, wanted);
    count(&bad, 1);
}

/* The JVM does not know this thread. */
static void *init_from_elsewhere(void *ignored)
{
    (void)ignored;
    int rc = AsyncGetCallTrace2Init(jvm);
    if (rc) /* else it was done before */
        expect("init on a thread that is not attached", rc, -EPERM);
    if (rc == -EPERM)
        fprintf(out, "asgct2: a thread that is not attached was refused\n");
    return NULL;
}

JNIEXPORT jint JNICALL Java_CallTraces_init(JNIEnv *jni, jclass c)
{
    pthread_t other;
    (void)jni, (void)c;
    if (pthread_create(&other, NULL, init_from_elsewhere, NULL) == 0)
        pthread_join(other, NULL);
    int rc = AsyncGetCallTrace2Init(jvm);
    if (rc != 0)
        fprintf(out, "asgct2: init %d %s\n", rc, AsyncGetCallTrace2Error());
    return rc;
}

/* While signals are blocked that are needed to catch faults; no ucontext. */
static int take_blocked(int signal)
{
    sigset_t one, before;
    CallFrame f[4];
    sigemptyset(&one);
    sigaddset(&one, signal);
    pthread_sigmask(SIG_BLOCK, &one, &before);
    int rc = take_trace(f, 4);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

static int rc_in_handler;
static void on_blocking_signal(int signal, siginfo_t *info, void *context)
{
    CallFrame f[4];
    CallTrace t = {.frames = f};
    (void)signal, (void)info;
    errno = 4711;
    AsyncGetCallTrace2(&t, 4, context, 1);
    rc_in_handler = errno == 4711 ? t.num_frames : -99;
}

/* "": in a handler that blocks everything, and with SIGSEGV or SIGBUS blocked, the answer is an
 * error; else it is as before. */
JNIEXPORT jstring JNICALL Java_CallTraces_blocked(JNIEnv *jni, jclass c)
{
    struct sigaction sa = {.sa_sigaction = on_blocking_signal, .sa_flags = SA_SIGINFO}, old;
    CallFrame f[4];
    (void)c;
    sigfillset(&sa.sa_mask);
    sigaction(SIGUSR2, &sa, &old);
    pthread_kill(pthread_self(), SIGUSR2);
    sigaction(SIGUSR2, &old, NULL);
    int segv = take_blocked(SIGSEGV), bus = take_blocked(SIGBUS), none = take_blocked(SIGWINCH);
    if (rc_in_handler != UNKNOWN_STATE || segv != UNKNOWN_STATE || bus != UNKNOWN_STATE)
        return say(jni, "handler %d, SIGSEGV %d, SIGBUS %d", rc_in_handler, segv, bus);
    return none > 0 && take_trace(f, 4) > 0 ? say(jni, "") : say(jni, "others %d", none);
}

/* Two functions of C above the native method. */
static __attribute__((noinline)) int inner_function(CallFrame *f, jint depth)
{
    CallTrace t = {.frames = f};
    errno = 4711;
    AsyncGetCallTrace2(&t, depth, NULL, 1);
    return errno == 4711 ? t.num_frames : -99;
}
static __attribute__((noinline)) int outer_function(CallFrame *f, jint depth)
{
    int rc = inner_function(f, depth);
    return rc ? rc : -1;
}

static bool is_in(const CallFrame *f, const void *function)
{
    enum { MOST = 400 };
    uintptr_t pc = (uintptr_t)f->non_java_frame.pc;
    return f->type == FRAME_CPP && pc > (uintptr_t)function && pc - (uintptr_t)function < MOST;
}

/* "": without a ucontext C frames are those of the caller, innermost first; then the native method
 * and Java's frames, the same as without C. */
JNIEXPORT jstring JNICALL Java_CallTraces_above(JNIEnv *jni, jclass c, jint depth)
{
    CallFrame f[2 * DEPTH], plain[2 * DEPTH];
    (void)c;
    int rc = outer_function(f, depth), i = 0, k = 0, n = take_trace(plain, 2 * DEPTH);
    const void *functions[] = {(void *)inner_function, (void *)outer_function,
                               (void *)Java_CallTraces_above};
    if (rc < 0 || rc > depth)
        return say(jni, "%d frames", rc);
    for (; i < 3 && i < rc; i++)
        if (!is_in(&f[i], functions[i]))
            return say(jni, "frame %d of %d: type %d, pc %p instead of one in %p", i, rc, f[i].type,
                       f[i].non_java_frame.pc, functions[i]);
    for (; i < rc; i++) {
        if (f[i].type == FRAME_CPP)
            continue;
        bool equal =
            k < n && f[i].type == plain[k].type &&
            (!is_java(&f[i]) || f[i].java_frame.method_id == plain[k].java_frame.method_id);
        if (!equal)
            return say(jni, "frame %d of %d: type %d, %d of %d without C", i, rc, f[i].type, k, n);
        k++;
    }
    return rc == depth || k == n ? say(jni, "") : say(jni, "%d frames, %d without C", k, n);
}

static void *ask(void *attach)
{
    CallFrame f[4];
    JNIEnv *jni;
    if (attach) {
        (*jvm)->AttachCurrentThread(jvm, (void **)&jni, NULL);
        int rc = take_trace(f, 4); /* Java's, but no Java code on it */
        (*jvm)->DetachCurrentThread(jvm);
        if (rc != NO_JAVA_FRAME)
            return (void *)(intptr_t)-98;
    }
    return (void *)(intptr_t)take_trace(f, 4);
}

static jint on_thread_of_its_own(void *attach)
{
    pthread_t t;
    void *rc;
    pthread_create(&t, NULL, ask, attach);
    pthread_join(t, &rc);
    return (jint)(intptr_t)rc;
}

JNIEXPORT jint JNICALL Java_CallTraces_onPlainThread(JNIEnv *jni, jclass c)
{
    (void)jni, (void)c;
    return on_thread_of_its_own(NULL);
}

JNIEXPORT jint JNICALL Java_CallTraces_onAttachedThread(JNIEnv *jni, jclass c)
{
    (void)jni, (void)c;
    return on_thread_of_its_own(differs);
}

/* --- in signal handlers ----------------------------------------------------------------------- */

struct target {
    _Atomic int tid; /* 0: none */
    JNIEnv *jni;
};

static struct target targets[THREADS];
static __thread struct target *self __attribute__((tls_model("initial-exec")));
static _Atomic(jmethodID) ids[IDS];
static _Atomic unsigned n_ids;

static int error_index(int rc)
{
    return rc <= 0 && rc > -ERRORS ? -rc : ERRORS - 1;
}

static bool is_error(int rc)
{
    return rc == NO_JAVA_FRAME || (rc >= UNKNOWN_JAVA && rc < 0) ||
           (rc >= THREAD_NOT_JAVA && rc <= UNKNOWN_STATE);
}

static void look_at(const CallFrame *f, int n)
{
    for (int i = 0; i < n; i++) {
        count(&kinds[f[i].type & 7], 1);
        if (f[i].type < FRAME_JAVA || f[i].type > FRAME_STUB)
            count(&bad, 1);
        else if (!is_java(&f[i]))
            count(&bad, f[i].non_java_frame.pc == NULL);
        else if (f[i].java_frame.comp_level > 4)
            count(&bad, 1);
        else if (!f[i].java_frame.method_id)
            count(&no_id, 1);
        else if (resolving)
            ids[atomic_fetch_add_explicit(&n_ids, 1, memory_order_relaxed) % IDS] =
                f[i].java_frame.method_id;
    }
}

/* The Java frames alone, outermost last as before: AsyncGetCallTrace has ids of native methods,
 * too, and no stubs. */
static int only_java(const CallFrame *from, int n, agct_frame *to)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        if (is_java(&from[i]))
            to[k++] = (agct_frame){from[i].java_frame.bci, from[i].java_frame.method_id};
    return k;
}

static int without_native(agct_frame *f, int n)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        if (f[i].bci != AGCT_NATIVE)
            f[k++] = f[i];
    return k;
}

/* Between two places that the compiler described the innermost inlined methods are guesses, of
 * both; so, in addition to whole stacks, frames that agree from the outermost on are counted. */
static void compare(const CallFrame *mine, int n, const agct_trace *a)
{
    agct_frame ours[DEPTH];
    int m = only_java(mine, n, ours), k = without_native(a->frames, a->n), methods = 0, places = 0;
    while (methods < m && methods < k &&
           ours[m - 1 - methods].method == a->frames[k - 1 - methods].method)
        methods++;
    while (places < methods && ours[m - 1 - places].bci == a->frames[k - 1 - places].bci)
        places++;
    count(&same, methods == m && m == k);
    count(&same_bci, places == m && m == k);
    count(&longer, m > k);
    count(&shorter, m < k);
    count(&common, places);
    count(&their_frames, k);
}

/* Also with C and C++ asked for: the other frames must be the same. */
static void compare_with_c(const CallFrame *mine, int n, void *context)
{
    CallFrame with_c[DEPTH];
    CallTrace t = {.frames = with_c};
    int k = 0, c = 0;
    AsyncGetCallTrace2(&t, DEPTH, context, 1);
    for (int i = 0; i < t.num_frames; i++)
        if (with_c[i].type == FRAME_CPP)
            c++, count(&bad, with_c[i].non_java_frame.pc == NULL);
        else
            with_c[k++] = with_c[i];
    if (t.num_frames == DEPTH || n == DEPTH || n <= 0)
        return;
    if (t.num_frames == GC_ACTIVE) /* a collection began between the two */
        return;
    count(&c_compared, 1);
    count(&c_frames, c);
    bool equal = k == n;
    int i = 0;
    for (; i < n && equal; i++)
        equal =
            with_c[i].type == mine[i].type &&
            (is_java(&mine[i]) ? with_c[i].java_frame.method_id == mine[i].java_frame.method_id &&
                                     with_c[i].java_frame.bci == mine[i].java_frame.bci
                               : with_c[i].non_java_frame.pc == mine[i].non_java_frame.pc);
    if (!equal && !c_differ) {
        c_first[0] = n, c_first[1] = t.num_frames, c_first[2] = k, c_first[3] = i;
    }
    count(&c_differ, !equal);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    CallFrame mine[DEPTH];
    CallTrace t = {.frames = mine};
    (void)signal, (void)info;
    int saved = errno;
    uint64_t t0 = __rdtsc();
    AsyncGetCallTrace2(&t, DEPTH, context, 0);
    uint64_t t1 = __rdtsc();
    count(&signals, 1);
    count(&bad, t.num_frames > DEPTH || (t.num_frames <= 0 && !is_error(t.num_frames)));
    if (t.num_frames > 0) {
        count(&usable, 1);
        count(&frames, t.num_frames);
        count(&cycles, (long)(t1 - t0));
        look_at(mine, t.num_frames);
    } else {
        count(&errors[error_index(t.num_frames)], 1);
    }
    if (asks_for_c)
        compare_with_c(mine, t.num_frames, context);
    if (self && !all_threads) {
        agct_frame theirs[DEPTH];
        agct_trace a = {.env = self->jni, .frames = theirs};
        t0 = __rdtsc();
        agct(&a, DEPTH, context);
        t1 = __rdtsc();
        if (a.n > 0) {
            count(&theirs_usable, 1);
            count(&their_cycles, (long)(t1 - t0));
        } else {
            count(&their_errors[error_index(a.n)], 1);
        }
        if (a.n > 0 && t.num_frames > 0) {
            count(&both, 1);
            if (a.n < DEPTH && t.num_frames < DEPTH)
                compare(mine, t.num_frames, &a);
        }
    }
    errno = saved;
}

/* Who is interrupted next: all of /proc/self/task, read anew each time. */
static void interrupt_all(struct timespec pause)
{
    DIR *d = opendir("/proc/self/task");
    struct dirent *e;
    int me = (int)syscall(SYS_gettid);
    while (d && (e = readdir(d))) {
        int tid = atoi(e->d_name);
        if (tid <= 0 || tid == me)
            continue;
        syscall(SYS_tgkill, getpid(), tid, SIGPROF);
        nanosleep(&pause, NULL);
    }
    if (d)
        closedir(d);
}

static void *interrupter(void *arg)
{
    (void)arg;
    struct timespec pause = {0, interval_us * 1000L};
    prctl(PR_SET_TIMERSLACK, 1000L); /* ns: a pause is as short as it was asked for */
    for (;;) {
        if (all_threads)
            interrupt_all(pause);
        for (int i = 0; i < THREADS && !all_threads; i++) {
            int tid = atomic_load(&targets[i].tid);
            if (tid > 0) {
                syscall(SYS_tgkill, getpid(), tid, SIGPROF);
                nanosleep(&pause, NULL);
            }
        }
    }
    return NULL;
}

static void start_signals(void)
{
    struct sigaction a = {.sa_sigaction = on_signal,
                          .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigaction(SIGPROF, &a, NULL);
    agct = (agct_function)dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
    pthread_t thread;
    sigset_t every, old;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &old);
    pthread_create(&thread, NULL, interrupter, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* The names of ids found in handlers, some of them of classes that are gone. */
static void JNICALL resolver(jvmtiEnv *t, JNIEnv *jni, void *arg)
{
    (void)jni, (void)arg;
    struct timespec pause = {0, 200000};
    for (unsigned i = 0;; i = (i + 1) % IDS) {
        jmethodID id = ids[i];
        char *name = NULL;
        if (i % 64 == 0)
            nanosleep(&pause, NULL);
        if (!id)
            continue;
        jvmtiError e = (*t)->GetMethodName(t, id, &name, NULL, NULL);
        if (e == JVMTI_ERROR_WRONG_PHASE)
            return;
        count(&resolved, e == JVMTI_ERROR_NONE);
        count(&invalid, e == JVMTI_ERROR_INVALID_METHODID);
        count(&bad, e != JVMTI_ERROR_NONE && e != JVMTI_ERROR_INVALID_METHODID);
        (*t)->Deallocate(t, (unsigned char *)name);
    }
}

static void start_resolver(JNIEnv *jni)
{
    jclass c = (*jni)->FindClass(jni, "java/lang/Thread");
    jobject thread = (*jni)->NewObject(jni, c, (*jni)->GetMethodID(jni, c, "<init>", "()V"));
    (*ti)->RunAgentThread(ti, thread, resolver, NULL, JVMTI_THREAD_NORM_PRIORITY);
}

/* --- life ------------------------------------------------------------------------------------- */

static void JNICALL on_thread(jvmtiEnv *t, JNIEnv *jni, jthread thread)
{
    (void)t, (void)thread;
    for (int i = 0; i < THREADS && !self; i++) {
        int none = 0;
        if (!atomic_compare_exchange_strong(&targets[i].tid, &none, -1))
            continue;
        targets[i].jni = jni;
        self = &targets[i];
        atomic_store(&targets[i].tid, (int)syscall(SYS_gettid));
    }
}

static void JNICALL on_thread_end(jvmtiEnv *t, JNIEnv *jni, jthread thread)
{
    (void)t, (void)jni, (void)thread;
    struct target *mine = self;
    self = NULL;
    if (mine)
        atomic_store(&mine->tid, 0);
}

static void JNICALL on_class(jvmtiEnv *t, JNIEnv *jni, jthread thread, jclass c)
{
    (void)t, (void)jni, (void)thread, (void)c; /* AsyncGetCallTrace wants it */
}

static void JNICALL on_init(jvmtiEnv *t, JNIEnv *jni, jthread thread)
{
    CallFrame f[4];
    if (!late) {
        expect("a trace without room", take_trace(f, 0), NO_JAVA_FRAME);
        expect("a trace without frames", take_trace(NULL, 4), NO_JAVA_FRAME);
        expect("a plain thread", on_thread_of_its_own(NULL), THREAD_NOT_JAVA);
    }
    on_thread(t, jni, thread);
    if (resolving)
        start_resolver(jni);
    if (interval_us)
        start_signals();
}

static void show(const char *key, long value)
{
    fprintf(out, "asgct2: %s %ld\n", key, value);
}

static void show_errors(const char *key, _Atomic long *of)
{
    for (int i = 0; i < ERRORS; i++)
        if (of[i])
            fprintf(out, "asgct2: %s[%d] %ld\n", key, -i, of[i]);
}

static void JNICALL on_death(jvmtiEnv *t, JNIEnv *jni)
{
    (void)t, (void)jni;
    if (interval_us) {
        show("signals", signals);
        show("usable", usable);
        show("theirs_usable", theirs_usable);
        show("both", both);
        show("same", same);
        show("same_bci", same_bci);
        show("common_frames", common);
        show("their_frames", their_frames);
        show("longer", longer);
        show("shorter", shorter);
        show("frames", frames);
        show("frames_java", kinds[FRAME_JAVA]);
        show("frames_inlined", kinds[FRAME_JAVA_INLINED]);
        show("frames_native", kinds[FRAME_NATIVE]);
        show("frames_stub", kinds[FRAME_STUB]);
        show("c_compared", c_compared);
        show("c_frames", c_frames);
        show("c_differ", c_differ);
        if (c_differ)
            fprintf(out, "asgct2: first_that_differs %ld %ld %ld %ld\n", c_first[0], c_first[1],
                    c_first[2], c_first[3]);
        show("without_id", no_id);
        show("cycles", cycles / (usable ? usable : 1));
        show("their_cycles", their_cycles / (theirs_usable ? theirs_usable : 1));
        show_errors("error", errors);
        show_errors("their_error", their_errors);
    }
    if (resolving) {
        show("resolved", resolved);
        show("invalid", invalid);
    }
    show("bad", bad);
    fflush(out);
}

static void enable(jvmtiEvent e)
{
    if ((*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, e, NULL) != JVMTI_ERROR_NONE)
        fprintf(out, "asgct2: event %d not enabled\n", e);
}

static void parse(const char *options)
{
    const char *at = options ? strstr(options, "signal=") : NULL;
    interval_us = at ? atoi(at + strlen("signal=")) : 0;
    late = options && strstr(options, "late");
    all_threads = options && strstr(options, "all");
    resolving = options && strstr(options, "resolve");
    asks_for_c = options && strstr(options, "native");
    at = options ? strstr(options, "out=") : NULL;
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", at ? at + strlen("out=") : "", (int)getpid());
    out = at ? fopen(name, "w") : stdout;
    out = out ? out : stderr;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    CallFrame f[4];
    (void)reserved;
    jvm = vm;
    parse(options);
    AsyncGetCallTrace2(NULL, 4, NULL, 0);
    expect("before the init", take_trace(f, 4), NO_CLASS_LOAD);
    expect("init without a JVM", AsyncGetCallTrace2Init(NULL), -EINVAL);
    if (!late) {
        expect("init", AsyncGetCallTrace2Init(vm), 0);
        expect("init again", AsyncGetCallTrace2Init(vm), 0);
        expect("before the JVM's start", take_trace(f, 4), NO_CLASS_LOAD);
    }
    (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11);
    jvmtiCapabilities caps;
    memset(&caps, 0, sizeof caps);
    caps.can_redefine_classes = 1;
    (*ti)->AddCapabilities(ti, &caps);
    jvmtiEventCallbacks calls = {.VMInit = on_init,
                                 .VMDeath = on_death,
                                 .ThreadStart = on_thread,
                                 .ThreadEnd = on_thread_end,
                                 .ClassLoad = on_class};
    (*ti)->SetEventCallbacks(ti, &calls, sizeof calls);
    enable(JVMTI_EVENT_VM_INIT);
    enable(JVMTI_EVENT_VM_DEATH);
    if (interval_us && !all_threads) {
        enable(JVMTI_EVENT_THREAD_START);
        enable(JVMTI_EVENT_THREAD_END);
        enable(JVMTI_EVENT_CLASS_LOAD);
    }
    return 0;
}

/* The thread that serves attaching is Java's, without Java code. */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
    CallFrame f[4];
    (void)reserved;
    jvm = vm;
    parse(options);
    int before = take_trace(f, 4), rc = AsyncGetCallTrace2Init(vm);
    fprintf(out, "asgct2: attached %d %d %d\n", before, rc, take_trace(f, 4));
    fflush(out);
    return 0;
}

/* After VMDeath. */
JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
    CallFrame f[4];
    int rc = take_trace(f, 4), again = AsyncGetCallTrace2Init(vm);
    fprintf(out, "asgct2: after the end %d %d\n", rc, again);
    fflush(out);
}
