/* native_agent.c - the walker's frames of C, in a running JVM, against what is known otherwise.
 *
 * "signal=MICROSECONDS": a thread interrupts all threads of the process in turn.  In the handler
 *   - the frames of C above Java, and all of a thread without Java, must be those of backtrace();
 *   - the frames of Java, and of stubs, must be those of a walk without C;
 *   - the outermost frame must be that of backtrace() when the thread began.
 * NativeFrames.java: C whose names dladdr knows, with Java between, walked from a native method and
 * from a signal in it.  The sums are printed at VMDeath, as "native: key value" lines. */
#include "base/guarded.h"
#include "hotspot/codecache.h"
#include "hotspot/walker.h"
#include "unwind/libraries.h"

#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

enum { DEPTH = 400, THREADS = 4096, SAMPLES = 20, HANDLER = 2 /* and its trampoline */ };

static struct walker *walker;
static jvmtiEnv *ti;
static JavaVM *java_vm;
static long env_offset;
static int interval_us;
static bool done;

static _Atomic long signals, walked, java_signals, java_same, java_differ, only_c, top_c, top_same,
    top_differ, ended, ended_elsewhere, cut, virtual_, failed, other_threads, other_same,
    other_differ, known, known_wrong, truth_short, cycles_without, cycles_with, frames_without,
    frames_with;

static void add(_Atomic long *what, long by)
{
    atomic_fetch_add_explicit(what, by, memory_order_relaxed);
}

static void count(_Atomic long *what)
{
    add(what, 1);
}

/* --- what was wrong, kept for the end --------------------------------------------------------- */

static struct sample {
    const char *what;
    uintptr_t pcs[2][24]; /* the walk's, the truth's */
    uint8_t kinds[24];
    int n[2];
    uint32_t flags;
} samples[SAMPLES];

static _Atomic int n_samples;

static void keep(const char *what, const struct walk *w, int rc, void *const *truth, int n)
{
    int i = atomic_fetch_add(&n_samples, 1);
    if (i >= SAMPLES)
        return;
    struct sample *s = &samples[i];
    s->n[0] = rc;
    s->n[1] = n;
    s->flags = w->flags;
    for (int k = 0; k < 24; k++) {
        s->pcs[0][k] = k < rc ? w->frames[k].pc : 0;
        s->kinds[k] = k < rc ? w->frames[k].kind : 0;
        s->pcs[1][k] = k < n ? (uintptr_t)truth[k] : 0;
    }
    s->what = what;
}

static void show_pc(uintptr_t pc)
{
    Dl_info info = {0};
    if (dladdr((void *)pc, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        printf(" %s+%lx(%s)", slash ? slash + 1 : info.dli_fname, pc - (uintptr_t)info.dli_fbase,
               info.dli_sname ? info.dli_sname : "");
    } else {
        printf(" %lx", pc);
    }
}

static void show_samples(void)
{
    for (int i = 0; i < n_samples && i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        if (!s->what)
            continue;
        printf("%s: %d frames, truth %d, flags %u\n", s->what, s->n[0], s->n[1], s->flags);
        for (int k = 0; k < 24 && (s->pcs[0][k] || s->pcs[1][k]); k++) {
            printf("    %d:", s->kinds[k]);
            show_pc(s->pcs[0][k]);
            printf(" |");
            show_pc(s->pcs[1][k]);
            printf("\n");
        }
    }
}

/* --- threads ---------------------------------------------------------------------------------- */

struct target {
    uintptr_t java_thread; /* 0: none */
    uintptr_t outermost;   /* the pc of the thread's first function */
};

static __thread struct target self __attribute__((tls_model("initial-exec")));

static void register_thread(JNIEnv *jni)
{
    void *truth[DEPTH];
    int n = backtrace(truth, DEPTH);
    self.outermost = n > 0 && n < DEPTH ? (uintptr_t)truth[n - 1] : 0;
    self.java_thread = (uintptr_t)jni - (uintptr_t)env_offset;
}

/* --- in signal handlers ----------------------------------------------------------------------- */

static bool is_c(const struct walk_frame *f)
{
    return f->kind == WALK_NATIVE_CODE;
}

/* The Java frames of both. */
static bool same_java(const struct walk *with, int n, const struct walk *without, int m)
{
    int k = 0;
    for (int i = 0; i < n; i++) {
        const struct walk_frame *f = &with->frames[i];
        if (is_c(f))
            continue;
        const struct walk_frame *g = &without->frames[k++];
        if (k > m || f->method != g->method || f->pc != g->pc || f->bci != g->bci ||
            f->kind != g->kind || f->level != g->level)
            return false;
    }
    return k == m || with->flags & WALK_CUT_DEPTH;
}

static int top_frames(const struct walk *w, int n)
{
    int top = 0;
    while (top < n && is_c(&w->frames[top]))
        top++;
    return top;
}

/* libgcc's: what backtrace() goes by. */
static void *(*find_fde)(void *pc, void *bases);

/* Frames of C from the innermost on.  The truth ends where a table is missing. */
static bool same_c(const struct walk *w, int top, void *const *truth, int n)
{
    void *bases[3];
    for (int i = 0; i < top; i++) {
        if (i == n && !find_fde((char *)truth[i - 1] - (i > 1), bases)) {
            count(&truth_short);
            return true;
        }
        if (i >= n || w->frames[i].pc - (uintptr_t)truth[i] > 1) /* + 1: see walk_frame.pc */
            return false;
    }
    return true;
}

/* What walks cost, without C and with, of the last. */
enum { COSTS = 16384 };
static uint32_t cycles[2][COSTS];

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void show_costs(void)
{
    long n = walked < COSTS ? walked : COSTS;
    if (n == 0)
        return;
    for (int i = 0; i < 2; i++)
        qsort(cycles[i], (size_t)n, sizeof cycles[i][0], by_value);
    printf("native: medians: %u cycles; with C %u; frames on average: %ld, with C %ld\n",
           cycles[0][n / 2], cycles[1][n / 2], frames_without / walked, frames_with / walked);
}

static void check_java(void *context, void *const *truth, int n)
{
    struct walk_frame frames[2][DEPTH];
    struct walk without = {.frames = frames[0], .max = DEPTH},
                with = {.frames = frames[1], .max = DEPTH, .options = WALK_WITH_NATIVE};
    if (java_signals % 2 == 0)
        without.options |= WALK_WITH_STUBS, with.options |= WALK_WITH_STUBS;
    uint64_t t0 = __rdtsc();
    int m = walk(walker, self.java_thread, context, &without);
    uint64_t t1 = __rdtsc();
    int rc = walk(walker, self.java_thread, context, &with);
    uint64_t t2 = __rdtsc();
    count(&java_signals);
    bool same = m > 0 ? rc > 0 && same_java(&with, rc, &without, m) : m < 0 ? rc == m : rc >= 0;
    count(same ? &java_same : &java_differ);
    if (!same)
        keep("Java differs", &with, rc, truth, n);
    if (rc <= 0) {
        count(&failed);
        return;
    }
    int top = top_frames(&with, rc);
    count(m > 0 ? &walked : &only_c);
    if (m > 0) { /* the first of both has the stack's words brought into the caches */
        long i = walked - 1;
        cycles[0][i % COSTS] = (uint32_t)(t1 - t0);
        cycles[1][i % COSTS] = (uint32_t)(t2 - t1);
        add(&frames_without, m);
        add(&frames_with, rc);
    }
    if (top > 0) {
        count(&top_c);
        /* Where it says that it was cut, the truth may go on (JavaCalls, before its anchor is back). */
        bool all = top == rc && !(with.flags & (WALK_VIRTUAL | WALK_CUT_NATIVE));
        bool equal = same_c(&with, top, truth, n) && (!all || n <= top);
        count(equal ? &top_same : &top_differ);
        if (!equal)
            keep("C differs", &with, rc, truth, n);
    }
    if (with.flags & WALK_CUT_NATIVE) {
        count(&cut);
        keep("cut", &with, rc, truth, n);
    } else if (with.flags & WALK_VIRTUAL) {
        count(&virtual_);
    } else if (!(with.flags & WALK_CUT_DEPTH)) {
        bool right = frames[1][rc - 1].pc == self.outermost && is_c(&frames[1][rc - 1]);
        count(right ? &ended : &ended_elsewhere);
        if (!right)
            keep("ended elsewhere", &with, rc, truth, n);
    }
}

static void check_other(void *context, void *const *truth, int n)
{
    struct walk_frame frames[DEPTH];
    struct walk w = {.frames = frames, .max = DEPTH};
    int rc = walk_native(walker, context, &w);
    count(&other_threads);
    /* A thread may be in Java before it is known here: then the truth has one frame of that. */
    bool same = same_c(&w, rc, truth, n) && (n <= rc || w.flags & WALK_CUT_NATIVE);
    count(same ? &other_same : &other_differ);
    if (!same)
        keep("another thread", &w, rc, truth, n);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    int saved = errno;
    void *truth[DEPTH];
    if (!walker || done)
        return;
    int n = backtrace(truth, DEPTH) - HANDLER;
    count(&signals);
    if (n > 0 && n < DEPTH - HANDLER) {
        if (self.java_thread)
            check_java(context, truth + HANDLER, n);
        else
            check_other(context, truth + HANDLER, n);
    }
    errno = saved;
}

static void *interrupter(void *arg)
{
    (void)arg;
    struct timespec pause = {0, interval_us * 1000L};
    pid_t pid = getpid(), me = (pid_t)syscall(SYS_gettid);
    for (;;) {
        DIR *tasks = opendir("/proc/self/task");
        struct dirent *entry;
        libraries_refresh(walker_libraries(walker), NULL);
        while (tasks && (entry = readdir(tasks))) {
            pid_t tid = (pid_t)atoi(entry->d_name);
            if (tid <= 0 || tid == me)
                continue;
            syscall(SYS_tgkill, pid, tid, SIGPROF);
            nanosleep(&pause, NULL);
        }
        if (tasks)
            closedir(tasks);
    }
    return NULL;
}

static void start_signals(void)
{
    struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGPROF, &a, NULL);
    if (!interval_us)
        return;
    pthread_t thread;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_create(&thread, NULL, interrupter, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* --- known frames ----------------------------------------------------------------------------- */

JNIEXPORT void first(JNIEnv *jni, jclass c, jint depth);
JNIEXPORT void second(JNIEnv *jni, jclass c, jint depth);
JNIEXPORT void third(JNIEnv *jni);
JNIEXPORT void *thread_first(void *c);
JNIEXPORT void thread_second(JNIEnv *jni, jclass c);

/* Of a thread that runs NativeFrames. */
struct known {
    struct walk walk; /* from the last signal */
    struct walk_frame frames[DEPTH];
    int n, deep;
    char below[1000]; /* the frames that called inner */
};

static __thread struct known *mine __attribute__((tls_model("initial-exec")));

static void on_known(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    mine->walk = (struct walk){.frames = mine->frames, .max = DEPTH, .options = WALK_WITH_NATIVE};
    mine->n = walk(walker, self.java_thread, context, &mine->walk);
}

/* The names of this library's functions among the frames of C, "J" for each frame of Java, what is
 * of other libraries left out. */
static void names_of(const struct walk *w, int n, char *to, size_t room)
{
    Dl_info own, info;
    dladdr((void *)(uintptr_t)names_of, &own);
    to[0] = '\0';
    for (int i = 0; i < n; i++) {
        size_t at = strlen(to);
        if (!is_c(&w->frames[i]))
            snprintf(to + at, room - at, "J ");
        else if (dladdr((void *)(w->frames[i].pc - 1), &info) && info.dli_fbase == own.dli_fbase)
            snprintf(to + at, room - at, "%s ", info.dli_sname ? info.dli_sname : "?");
    }
}

static void check_known(const struct walk *w, int n, const char *above)
{
    char want[2000], got[4000];
    snprintf(want, sizeof want, "%s%s", above, mine->below);
    names_of(w, n, got, sizeof got);
    bool right = strncmp(got, want, strlen(want)) == 0 && !(w->flags & WALK_CUT_NATIVE) &&
                 is_c(&w->frames[n - 1]) && w->frames[n - 1].pc == self.outermost;
    count(right ? &known : &known_wrong);
    if (!right && known_wrong < 5)
        printf("known frames: want %s\n              got  %s flags %u\n", want, got, w->flags);
}

__attribute__((noinline)) void third(JNIEnv *jni)
{
    struct walk_frame frames[DEPTH];
    struct walk w = {.frames = frames, .max = DEPTH, .options = WALK_WITH_NATIVE};
    int n = walk(walker, (uintptr_t)jni - (uintptr_t)env_offset, NULL, &w);
    check_known(&w, n, "");
    raise(SIGUSR2);
    check_known(&mine->walk, mine->n, "third Java_NativeFrames_inner ");
}

JNIEXPORT void JNICALL Java_NativeFrames_inner(JNIEnv *jni, jclass c)
{
    (void)c;
    third(jni);
    __asm__ volatile("");
}

__attribute__((noinline)) void second(JNIEnv *jni, jclass c, jint depth)
{
    jmethodID m = (*jni)->GetStaticMethodID(jni, c, "callback", "(I)V");
    (*jni)->CallStaticVoidMethod(jni, c, m, depth);
    __asm__ volatile("");
}

__attribute__((noinline)) void first(JNIEnv *jni, jclass c, jint depth)
{
    second(jni, c, depth);
    __asm__ volatile("");
}

/* inner callback (C outer callback)... : two frames of Java each, the native method and its caller
 * in Java, or main. */
JNIEXPORT void JNICALL Java_NativeFrames_outer(JNIEnv *jni, jclass c, jint depth)
{
    if (!mine)
        mine = calloc(1, sizeof *mine);
    if (mine->deep++ == 0) {
        strcpy(mine->below, "J J ");
        for (int i = 0; i <= depth; i++)
            strcat(mine->below, "second first Java_NativeFrames_outer J J ");
    }
    first(jni, c, depth);
    mine->deep--;
}

__attribute__((noinline)) void thread_second(JNIEnv *jni, jclass c)
{
    jmethodID m = (*jni)->GetStaticMethodID(jni, c, "attached", "()V");
    (*jni)->CallStaticVoidMethod(jni, c, m);
    __asm__ volatile("");
}

void *thread_first(void *c)
{
    JNIEnv *jni;
    if ((*java_vm)->AttachCurrentThread(java_vm, (void **)&jni, NULL) != JNI_OK)
        return NULL;
    register_thread(jni);
    mine = calloc(1, sizeof *mine);
    strcpy(mine->below, "J J thread_second thread_first ");
    thread_second(jni, c);
    self.java_thread = 0;
    free(mine);
    mine = NULL;
    (*java_vm)->DetachCurrentThread(java_vm);
    return NULL;
}

JNIEXPORT void JNICALL Java_NativeFrames_thread(JNIEnv *jni, jclass c)
{
    pthread_t thread;
    jclass everywhere = (*jni)->NewGlobalRef(jni, c);
    if (pthread_create(&thread, NULL, thread_first, everywhere) == 0)
        pthread_join(thread, NULL);
    (*jni)->DeleteGlobalRef(jni, everywhere);
}

/* --- life ------------------------------------------------------------------------------------- */

static void JNICALL on_thread(jvmtiEnv *t, JNIEnv *jni, jthread thread)
{
    (void)t, (void)thread;
    if (walker)
        register_thread(jni);
}

static void JNICALL on_thread_end(jvmtiEnv *t, JNIEnv *jni, jthread thread)
{
    (void)t, (void)jni, (void)thread;
    self.java_thread = 0;
}

static void JNICALL on_init(jvmtiEnv *t, JNIEnv *jni, jthread thread)
{
    struct err err = {""};
    struct walker *w;
    struct vmstructs *structs;
    (void)t;
    jclass c = (*jni)->FindClass(jni, "java/lang/Thread");
    jlong java_thread = (*jni)->GetLongField(jni, thread, (*jni)->GetFieldID(jni, c, "eetop", "J"));
    env_offset = (long)((uintptr_t)jni - (uintptr_t)java_thread);
    if (vmstructs_open(&structs, (const void *)(uintptr_t)(*jni)->FindClass, &err) < 0 ||
        walker_open(&w, structs, &err) < 0) {
        printf("native: not opened: %s\n", err.msg);
        fflush(stdout);
        return;
    }
    register_thread(jni);
    libraries_refresh(walker_libraries(w), NULL);
    walker = w;
    struct sigaction a = {.sa_sigaction = on_known, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGUSR2, &a, NULL);
    start_signals();
}

static void show(const char *key, long value)
{
    printf("native: %s %ld\n", key, value);
}

static void JNICALL on_death(jvmtiEnv *t, JNIEnv *jni)
{
    (void)t, (void)jni;
    done = true;
    show("signals", signals);
    show("java_signals", java_signals);
    show("java_same", java_same);
    show("java_differ", java_differ);
    show("walked", walked);
    show("failed", failed);
    show("only_c", only_c);
    show("top", top_c);
    show("top_same", top_same);
    show("top_differ", top_differ);
    show("ended", ended);
    show("ended_elsewhere", ended_elsewhere);
    show("virtual", virtual_);
    show("cut", cut);
    show("other_threads", other_threads);
    show("other_same", other_same);
    show("other_differ", other_differ);
    show("truth_short", truth_short);
    show_costs();
    show("known", known);
    show("known_wrong", known_wrong);
    show_samples();
    fflush(stdout);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    const char *at = options ? strstr(options, "signal=") : NULL;
    interval_us = at ? atoi(at + strlen("signal=")) : 0;
    java_vm = vm;
    void *load[4];
    backtrace(load, 4); /* not first in a handler: it loads libgcc */
    void *libgcc = dlopen("libgcc_s.so.1", RTLD_NOW);
    *(void **)&find_fde = libgcc ? dlsym(libgcc, "_Unwind_Find_FDE") : NULL;
    if (!find_fde)
        return JNI_ERR;
    (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11);
    jvmtiEventCallbacks calls = {.VMInit = on_init,
                                 .VMDeath = on_death,
                                 .ThreadStart = on_thread,
                                 .ThreadEnd = on_thread_end};
    static const jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                        JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END};
    (*ti)->SetEventCallbacks(ti, &calls, sizeof calls);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, events[i], NULL);
    return 0;
}
