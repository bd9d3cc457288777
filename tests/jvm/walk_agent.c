/* walk_agent.c - the stack walker against HotSpot's own, in a running JVM.
 *
 * Options: "sync" compares every stack in callbacks (contended monitors, waits, sampled
 * allocations) with GetStackTrace: method and bci of every frame; "redefine" redefines the
 * program's classes in waits.  "signal=MICROSECONDS" has a thread interrupt the others in turn; the
 * handler walks from the interrupted instruction, asks AsyncGetCallTrace the same, and compares; a
 * thread that keeps a shadow stack (Truth.java) is compared with that, too; "show=ERROR" keeps
 * where that error came from; "certain" and "guess" are the walk's options.  WalkCost.java asks
 * what walks cost.  The sums are printed at VMDeath, as "walk: key value" lines. */
#include "base/guarded.h"
#include "hotspot/codecache.h"
#include "hotspot/method_text.h"
#include "hotspot/walker.h"

#include "agct.h"

#include <dlfcn.h>
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

enum { DEPTH = 512, THREADS = 4096, ERRORS = 16, SAMPLES = 40 };

static struct walker *walker;
static struct vmstructs *structs;
static jvmtiEnv *ti;
static long env_offset;
static int interval_us;
static bool sync_mode, redefining;
static _Atomic long redefined;
static agct_function agct;

static _Atomic long sync_walks, sync_same, sync_differ, sync_failed, sync_cut, sync_errors[ERRORS],
    sync_frames, sync_cycles, jvmti_cycles, described;
static _Atomic long signals, both, same_methods, same_bci, walk_only, agct_only, neither, differ,
    walk_errors[ERRORS], agct_errors[ERRORS], walk_cycles, agct_cycles, walk_frames, near_walks,
    shorter, longer;

/* --- differences, kept for the end ------------------------------------------------------------ */

struct sample {
    char text[1500];
    char code[200];
};

static struct sample samples[2][SAMPLES]; /* of what must not be; of the rest */
static _Atomic int n_samples[2];

static struct sample *new_sample_of(int kind)
{
    int i = atomic_fetch_add(&n_samples[kind], 1);
    return i < SAMPLES ? &samples[kind][i] : NULL;
}

static struct sample *new_sample(void)
{
    return new_sample_of(1);
}

static void put(struct sample *s, const char *format, ...)
{
    size_t n = strlen(s->text);
    va_list ap;
    va_start(ap, format);
    vsnprintf(s->text + n, sizeof s->text - n, format, ap);
    va_end(ap);
}

static void put_method(struct sample *s, const char *mark, uintptr_t method, int bci, int kind)
{
    char buf[4096];
    struct method_text t;
    if (method_describe(walker, method, buf, sizeof buf, &t) == 0)
        put(s, "    %s %.*s.%.*s @%d kind %d\n", mark, t.class_name_len, t.class_name, t.name_len,
            t.name, bci, kind);
    else
        put(s, "    %s %p @%d kind %d\n", mark, (void *)method, bci, kind);
}

/* A frame that runs on in a method that was redefined has the old one, JVMTI's id means the new
 * one. */
static bool same_method(uintptr_t a, uintptr_t b)
{
    char buf[2][4096];
    struct method_text t[2];
    return a == b || (method_describe(walker, a, buf[0], sizeof buf[0], &t[0]) == 0 &&
                      method_describe(walker, b, buf[1], sizeof buf[1], &t[1]) == 0 &&
                      t[0].key.lo == t[1].key.lo && t[0].key.hi == t[1].key.hi);
}

static int error_index(int rc)
{
    return rc <= 0 && rc > -ERRORS ? -rc : ERRORS - 1;
}

static void count(_Atomic long *what, long by)
{
    atomic_fetch_add_explicit(what, by, memory_order_relaxed);
}

/* --- in callbacks ----------------------------------------------------------------------------- */

static void check(JNIEnv *jni, const char *where)
{
    struct walk_frame frames[DEPTH];
    jvmtiFrameInfo theirs[DEPTH];
    struct walk w = {.frames = frames, .max = DEPTH};
    jint n = 0;
    if (!walker || !sync_mode)
        return;
    uint64_t t0 = __rdtsc();
    int rc = walk(walker, (uintptr_t)jni - (uintptr_t)env_offset, NULL, &w);
    uint64_t t1 = __rdtsc();
    if ((*ti)->GetStackTrace(ti, NULL, 0, DEPTH, theirs, &n) != JVMTI_ERROR_NONE)
        return;
    uint64_t t2 = __rdtsc();
    count(&sync_walks, 1);
    if (rc > 0 && w.flags & WALK_CUT_UNTHAWED) {
        count(&sync_cut, 1);
    } else if (rc <= 0 && n == 0) {
        count(&sync_same, 1);
        return;
    } else if (rc <= 0) {
        count(&sync_errors[error_index(rc)], 1);
        count(&sync_failed, 1);
        struct sample *s = new_sample_of(0);
        if (s) {
            put(s, "%s: error %d, JVMTI has %d frames\n", where, rc, n);
            for (int i = 0; i < n && i < 6; i++)
                put_method(s, "jvmti", agct_method(theirs[i].method), (int)theirs[i].location, 0);
        }
        return;
    }
    count(&sync_frames, rc);
    count(&sync_cycles, (long)(t1 - t0));
    count(&jvmti_cycles, (long)(t2 - t1));
    int i = 0;
    while (i < rc && i < n && same_method(frames[i].method, agct_method(theirs[i].method)) &&
           frames[i].bci == (int)theirs[i].location)
        i++;
    if ((i == rc && i == n) || (w.flags & WALK_CUT_UNTHAWED && i == rc)) {
        count(&sync_same, 1);
        return;
    }
    count(&sync_differ, 1);
    struct sample *s = new_sample_of(0);
    if (!s)
        return;
    put(s, "%s: %d frames, JVMTI %d, equal up to %d, flags %u\n", where, rc, n, i, w.flags);
    for (int k = i > 2 ? i - 2 : 0; k < i + 4; k++) {
        if (k < rc)
            put_method(s, "walk ", frames[k].method, frames[k].bci, frames[k].kind);
        if (k < n)
            put_method(s, "jvmti", agct_method(theirs[k].method), (int)theirs[k].location, 0);
    }
}

static void JNICALL on_enter(jvmtiEnv *t, JNIEnv *jni, jthread thread, jobject o)
{
    (void)t, (void)thread, (void)o;
    check(jni, "enter");
}

/* The program's classes, as they are: methods that are being executed become old ones. */
static void redefine(JNIEnv *jni)
{
    jint n;
    jclass *classes;
    if ((*ti)->GetLoadedClasses(ti, &n, &classes) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < n; i++) {
        char *name = NULL;
        if ((*ti)->GetClassSignature(ti, classes[i], &name, NULL) == JVMTI_ERROR_NONE &&
            strncmp(name, "LWalking", 8) == 0 && !strstr(name, "Lambda") &&
            (*ti)->RetransformClasses(ti, 1, &classes[i]) == JVMTI_ERROR_NONE)
            count(&redefined, 1);
        (*ti)->Deallocate(ti, (unsigned char *)name);
        (*jni)->DeleteLocalRef(jni, classes[i]);
    }
    (*ti)->Deallocate(ti, (unsigned char *)classes);
}

static void JNICALL on_wait(jvmtiEnv *t, JNIEnv *jni, jthread thread, jobject o, jlong timeout)
{
    static _Atomic long waits;
    (void)t, (void)thread, (void)o, (void)timeout;
    check(jni, "wait");
    if (redefining && atomic_fetch_add(&waits, 1) % 20 == 0)
        redefine(jni);
    check(jni, "wait");
}

static void JNICALL on_alloc(jvmtiEnv *t, JNIEnv *jni, jthread thread, jobject o, jclass c, jlong n)
{
    (void)t, (void)thread, (void)o, (void)c, (void)n;
    check(jni, "alloc");
}

/* The name of a piece of generated code. */
static bool walk_blob_name(const struct walker *w, uintptr_t pc, uintptr_t *name)
{
    struct blob b;
    const struct layout *l = walker_layout(w);
    return codecache_find(l, pc, &b) && guarded_word(b.at + (uintptr_t)l->blob_name, name);
}

static void code_of(struct sample *s, const ucontext_t *u)
{
    uint8_t bytes[40];
    uintptr_t pc = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
    Dl_info info;
    const char *lib = dladdr((void *)pc, &info) && info.dli_fname ? info.dli_fname : "";
    put(s, "    %s %s at %p:", lib, *lib && info.dli_sname ? info.dli_sname : "", (void *)pc);
    memcpy(bytes, (void *)(pc - 16), sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        put(s, "%s%02x", i == 16 ? " > " : " ", bytes[i]);
    put(s, "\n    stack:");
    const uintptr_t *sp = (const uintptr_t *)u->uc_mcontext.gregs[REG_RSP];
    for (int i = 0; i < 6; i++)
        put(s, " %lx", sp[i]);
    put(s, " rax %llx rbp %llx", u->uc_mcontext.gregs[REG_RAX], u->uc_mcontext.gregs[REG_RBP]);
    uintptr_t name;
    if (walk_blob_name(walker, pc, &name))
        put(s, " %s", (const char *)name);
    if (walk_blob_name(walker, sp[0], &name))
        put(s, " <- %s", (const char *)name);
    put(s, "\n");
}

/* --- a program's own truth -------------------------------------------------------------------- */

static __thread const int32_t *truth __attribute__((tls_model("initial-exec")));
static _Atomic long truth_checked, truth_right, truth_wrong, truth_near, truth_near_wrong,
    truth_near_short, truth_theirs, truth_theirs_wrong;

JNIEXPORT void JNICALL Java_Truth_register(JNIEnv *jni, jclass c, jobject buffer)
{
    (void)c;
    truth = (*jni)->GetDirectBufferAddress(jni, buffer);
}

/* The number of method Truth.m<digit>, -1: another method. */
static int truth_number(uintptr_t method)
{
    char buf[4096];
    struct method_text t;
    if (method_describe(walker, method, buf, sizeof buf, &t) < 0 || t.class_name_len != 5 ||
        memcmp(t.class_name, "Truth", 5) != 0 || t.name_len != 2 || t.name[0] != 'm')
        return -1;
    return t.name[1] - '0';
}

/* Outermost first, the methods are those of the shadow stack; a method that has not written yet, or
 * has taken its number back already, may be one more.  near: the innermost may be missing. */
static bool truth_agrees(const uintptr_t *methods, int n, bool near)
{
    int depth = truth[0], i = 0;
    for (int k = n - 1; k >= 0; k--) {
        int number = truth_number(methods[k]);
        if (number < 0)
            continue;
        if (i < depth && truth[1 + i] != number)
            return false;
        i++;
    }
    return (near && i <= depth) || i == depth || i == depth + 1;
}

static void check_truth(const struct walk *w, int rc, const jmethodID *theirs, int n,
                        const ucontext_t *u)
{
    uintptr_t methods[DEPTH];
    for (int i = 0; i < rc; i++)
        methods[i] = w->frames[i].method;
    if (rc <= 0)
        return;
    count(&truth_checked, 1);
    bool near = w->flags & WALK_NEAR;
    bool right = truth_agrees(methods, rc, near);
    if (near) {
        count(&truth_near, 1);
        count(&truth_near_short, right && !truth_agrees(methods, rc, false));
        count(&truth_near_wrong, !right);
    } else {
        count(right ? &truth_right : &truth_wrong, 1);
    }
    {
        struct sample *s = right ? NULL : new_sample_of(near);
        if (s) {
            put(s, "truth: %d frames, shadow stack %d\n", rc, truth[0]);
            for (int i = 0; i < rc && i < 9; i++)
                put_method(s, "walk", methods[i], w->frames[i].bci, w->frames[i].kind);
            for (int i = truth[0]; i > 0 && i > truth[0] - 6; i--)
                put(s, "    truth m%d\n", truth[i]);
            code_of(s, u);
        }
    }
    for (int i = 0; i < n; i++)
        methods[i] = agct_method(theirs[i]);
    count(&truth_theirs, n > 0);
    count(&truth_theirs_wrong, n > 0 && !truth_agrees(methods, n, false));
}

/* --- in signal handlers ----------------------------------------------------------------------- */

struct target {
    _Atomic int tid; /* 0: none */
    uintptr_t java_thread;
    JNIEnv *jni;
};

static struct target targets[THREADS];
static __thread struct target *self __attribute__((tls_model("initial-exec")));

static void compare(const struct walk *w, int rc, const agct_trace *a, const ucontext_t *u)
{
    const greg_t *g = u->uc_mcontext.gregs;
    int i = 0, b = 1;
    while (i < rc && i < a->n && w->frames[i].method == agct_method(a->frames[i].method)) {
        if (w->frames[i].bci != a->frames[i].bci && a->frames[i].bci != AGCT_NATIVE)
            b = 0;
        i++;
    }
    if (i == rc && i == a->n) {
        count(&same_methods, 1);
        count(&same_bci, b);
        return;
    }
    if (i == a->n)
        count(&longer, 1);
    else if (rc + 1 == a->n && rc > 0 &&
             w->frames[rc - 1].method == agct_method(a->frames[rc].method))
        count(&shorter, 1);
    count(&differ, 1);
    struct sample *s = new_sample();
    if (!s)
        return;
    put(s, "signal: pc %p: %d frames, AGCT %d, equal up to %d, flags %u\n", (void *)g[REG_RIP], rc,
        a->n, i, w->flags);
    for (int k = i > 2 ? i - 2 : 0; k < i + 4; k++) {
        if (k < rc)
            put_method(s, "walk ", w->frames[k].method, w->frames[k].bci, w->frames[k].kind);
        if (k < a->n)
            put_method(s, "agct ", agct_method(a->frames[k].method), a->frames[k].bci, 0);
    }
}

static int wanted_error;
static uint32_t near_option;

static void on_signal(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    struct target *t = self;
    struct walk_frame frames[DEPTH];
    agct_frame theirs[DEPTH];
    struct walk w = {.frames = frames, .max = DEPTH, .options = WALK_WITH_STAMPS | near_option};
    if (!t || !walker)
        return;
    uint64_t t0 = __rdtsc();
    int rc = walk(walker, t->java_thread, context, &w);
    uint64_t t1 = __rdtsc();
    agct_trace a = {.env = t->jni, .frames = theirs};
    agct(&a, DEPTH, context);
    uint64_t t2 = __rdtsc();
    count(&signals, 1);
    if (rc > 0) {
        count(&walk_cycles, (long)(t1 - t0));
        count(&walk_frames, rc);
        count(&near_walks, (w.flags & WALK_NEAR) != 0);
        char buf[8192];
        struct method_text text;
        if (method_describe(walker, frames[0].method, buf, sizeof buf, &text) == 0 &&
            text.stamp == frames[0].stamp)
            count(&described, 1);
    } else {
        count(&walk_errors[error_index(rc)], 1);
    }
    if (a.n > 0)
        count(&agct_cycles, (long)(t2 - t1));
    else
        count(&agct_errors[error_index(a.n)], 1);
    if (truth && a.n < DEPTH && rc < DEPTH) {
        jmethodID ids[DEPTH];
        for (int i = 0; i < a.n; i++)
            ids[i] = theirs[i].method;
        check_truth(&w, rc, ids, a.n, context);
    }
    if (rc > 0 && a.n > 0) {
        count(&both, 1);
        compare(&w, rc, &a, context);
    } else if (rc > 0) {
        count(&walk_only, 1);
    } else if (a.n > 0) {
        count(&agct_only, 1);
        struct sample *s = new_sample_of(0);
        if (s) {
            put(s, "signal: error %d, AGCT has %d frames\n", rc, a.n);
            for (int i = 0; i < a.n && i < 4; i++)
                put_method(s, "agct", agct_method(theirs[i].method), theirs[i].bci, 0);
            code_of(s, context);
        }
    } else {
        count(&neither, 1);
        struct sample *s = rc < 0 && wanted_error == rc ? new_sample() : NULL;
        if (s) {
            put(s, "signal: error %d, AGCT %d\n", rc, a.n);
            code_of(s, context);
        }
    }
}

static void *interrupter(void *arg)
{
    (void)arg;
    struct timespec pause = {0, interval_us * 1000L};
    pid_t pid = getpid();
    for (;;)
        for (int i = 0; i < THREADS; i++) {
            int tid = atomic_load(&targets[i].tid);
            if (!tid)
                continue;
            syscall(SYS_tgkill, pid, tid, SIGPROF);
            nanosleep(&pause, NULL);
        }
    return NULL;
}

static void start_signals(void)
{
    struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGPROF, &a, NULL);
    agct = (agct_function)vmstructs_symbol(structs, "AsyncGetCallTrace");
    pthread_t thread;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_create(&thread, NULL, interrupter, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void register_thread(JNIEnv *jni)
{
    for (int i = 0; i < THREADS && !self && interval_us; i++) {
        int none = 0;
        if (!atomic_compare_exchange_strong(&targets[i].tid, &none, -1))
            continue;
        targets[i].java_thread = (uintptr_t)jni - (uintptr_t)env_offset;
        targets[i].jni = jni;
        self = &targets[i];
        atomic_store(&targets[i].tid, (int)syscall(SYS_gettid));
    }
}

static void JNICALL on_thread(jvmtiEnv *t, JNIEnv *jni, jthread thread)
{
    (void)t, (void)thread;
    if (walker)
        register_thread(jni);
}

static void JNICALL on_thread_end(jvmtiEnv *t, JNIEnv *jni, jthread thread)
{
    (void)t, (void)jni, (void)thread;
    struct target *mine = self;
    if (!mine)
        return;
    self = NULL;
    atomic_store(&mine->tid, 0);
}

/* --- what it costs ---------------------------------------------------------------------------- */

enum { WAYS = 4, TIMES = 200 };

static uint64_t cheapest[2][WAYS];

static uint64_t cost_of(JNIEnv *jni, int way, int frames)
{
    struct walk_frame out[DEPTH];
    jvmtiFrameInfo theirs[DEPTH];
    struct walk w = {.frames = out,
                     .max = frames,
                     .options = way == 1   ? WALK_UNCACHED
                                : way == 3 ? WALK_WITH_STAMPS
                                           : 0};
    jint n;
    uintptr_t java_thread = (uintptr_t)jni - (uintptr_t)env_offset;
    uint64_t began = __rdtsc();
    for (int i = 0; i < TIMES; i++) {
        if (way == 2)
            (*ti)->GetStackTrace(ti, NULL, 0, frames, theirs, &n);
        else
            n = walk(walker, java_thread, NULL, &w);
    }
    return (__rdtsc() - began) / TIMES;
}

JNIEXPORT void JNICALL Java_WalkCost_measure(JNIEnv *jni, jclass c, jint frames)
{
    (void)c;
    for (int way = 0; way < WAYS; way++) {
        uint64_t cost = cost_of(jni, way, frames), *least = &cheapest[frames > 10][way];
        if (*least == 0 || cost < *least)
            *least = cost;
    }
}

/* --- life ------------------------------------------------------------------------------------- */

static void JNICALL on_class_load(jvmtiEnv *t, JNIEnv *jni, jthread thread, jclass c)
{
    (void)t, (void)jni, (void)thread, (void)c;
}

/* Makes the class's jmethodIDs, which AsyncGetCallTrace only looks up. */
static void JNICALL on_class_prepare(jvmtiEnv *t, JNIEnv *jni, jthread thread, jclass c)
{
    (void)jni, (void)thread;
    jint n;
    jmethodID *methods;
    if ((*t)->GetClassMethods(t, c, &n, &methods) == JVMTI_ERROR_NONE)
        (*t)->Deallocate(t, (unsigned char *)methods);
}

static void JNICALL on_init(jvmtiEnv *t, JNIEnv *jni, jthread thread)
{
    struct err err = {""};
    struct walker *w;
    jclass c = (*jni)->FindClass(jni, "java/lang/Thread");
    jlong java_thread = (*jni)->GetLongField(jni, thread, (*jni)->GetFieldID(jni, c, "eetop", "J"));
    env_offset = (long)((uintptr_t)jni - (uintptr_t)java_thread);
    if (vmstructs_open(&structs, (const void *)(uintptr_t)(*jni)->FindClass, &err) < 0 ||
        walker_open(&w, structs, &err) < 0) {
        printf("walk: not opened: %s\n", err.msg);
        fflush(stdout);
        return;
    }
    jint n;
    jclass *classes;
    if (interval_us && (*t)->GetLoadedClasses(t, &n, &classes) == JVMTI_ERROR_NONE)
        for (jint i = 0; i < n; i++)
            on_class_prepare(t, jni, thread, classes[i]);
    walker = w;
    register_thread(jni);
    if (interval_us)
        start_signals();
}

static void show(const char *key, long value)
{
    printf("walk: %s %ld\n", key, value);
}

static void show_errors(const char *key, _Atomic long *errors)
{
    for (int i = 0; i < ERRORS; i++)
        if (errors[i])
            printf("walk: %s[%d] %ld\n", key, -i, errors[i]);
}

static void JNICALL on_death(jvmtiEnv *t, JNIEnv *jni)
{
    (void)t, (void)jni;
    self = NULL;
    if (sync_mode) {
        long n = sync_walks ? sync_walks : 1;
        show("sync", sync_walks);
        show("redefined", redefined);
        show("sync_same", sync_same);
        show("sync_differ", sync_differ);
        show("sync_failed", sync_failed);
        show("sync_unthawed", sync_cut);
        show_errors("sync_error", sync_errors);
        show("sync_frames", sync_frames);
        show("sync_cycles", sync_cycles / n);
        show("jvmti_cycles", jvmti_cycles / n);
    }
    if (interval_us) {
        show("signals", signals);
        show("both", both);
        show("same_methods", same_methods);
        show("same_bci", same_bci);
        show("differ", differ);
        show("longer", longer);
        show("shorter", shorter);
        show("walk_only", walk_only);
        show("agct_only", agct_only);
        show("neither", neither);
        show("near", near_walks);
        show("truth", truth_checked);
        show("truth_right", truth_right);
        show("truth_wrong", truth_wrong);
        show("truth_near", truth_near);
        show("truth_near_wrong", truth_near_wrong);
        show("truth_near_short", truth_near_short);
        show("truth_agct", truth_theirs);
        show("truth_agct_wrong", truth_theirs_wrong);
        show("described", described);
        show("frames", walk_frames);
        show("walk_cycles", walk_cycles / (both + walk_only ? both + walk_only : 1));
        show("agct_cycles", agct_cycles / (both + agct_only ? both + agct_only : 1));
        show_errors("walk_error", walk_errors);
        show_errors("agct_error", agct_errors);
    }
    for (int deep = 0; deep < 2 && cheapest[deep][0]; deep++)
        printf("walk: cost of %d frames: %lu cycles, uncached %lu, with stamps %lu; GetStackTrace "
               "%lu\n",
               deep ? 50 : 10, cheapest[deep][0], cheapest[deep][1], cheapest[deep][3],
               cheapest[deep][2]);
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < n_samples[kind] && i < SAMPLES; i++)
            printf("%s", samples[kind][i].text);
    fflush(stdout);
}

static void parse(const char *options)
{
    const char *at;
    sync_mode = options && strstr(options, "sync");
    near_option = !options                     ? 0
                  : strstr(options, "certain") ? WALK_ONLY_CERTAIN
                  : strstr(options, "guess")   ? WALK_GUESS_INLINED
                                               : 0;
    redefining = options && strstr(options, "redefine");
    if (options && (at = strstr(options, "signal=")))
        interval_us = atoi(at + strlen("signal="));
    if (options && (at = strstr(options, "show=")))
        wanted_error = atoi(at + strlen("show="));
}

static void enable(jvmtiEvent e)
{
    if ((*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, e, NULL) != JVMTI_ERROR_NONE)
        printf("walk: event %d not enabled\n", e);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    parse(options);
    jint version = 0;
    (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11);
    (*ti)->GetVersionNumber(ti, &version);
    jvmtiCapabilities caps;
    memset(&caps, 0, sizeof caps);
    caps.can_generate_monitor_events = 1;
    caps.can_generate_sampled_object_alloc_events = 1;
    caps.can_retransform_classes = redefining;
#ifdef JVMTI_VERSION_21
    caps.can_support_virtual_threads = version >= JVMTI_VERSION_21;
#endif
    (*ti)->AddCapabilities(ti, &caps);
    jvmtiEventCallbacks calls = {.VMInit = on_init,
                                 .VMDeath = on_death,
                                 .ThreadStart = on_thread,
                                 .ThreadEnd = on_thread_end,
                                 .ClassLoad = on_class_load,
                                 .ClassPrepare = on_class_prepare,
                                 .MonitorContendedEnter = on_enter,
                                 .MonitorContendedEntered = on_enter,
                                 .MonitorWait = on_wait,
                                 .SampledObjectAlloc = on_alloc};
    (*ti)->SetEventCallbacks(ti, &calls, sizeof calls);
    enable(JVMTI_EVENT_VM_INIT);
    enable(JVMTI_EVENT_VM_DEATH);
    if (interval_us) {
        enable(JVMTI_EVENT_THREAD_START);
        enable(JVMTI_EVENT_THREAD_END);
        enable(JVMTI_EVENT_CLASS_LOAD);
        enable(JVMTI_EVENT_CLASS_PREPARE);
    }
    if (sync_mode) {
        (*ti)->SetHeapSamplingInterval(ti, 4096);
        enable(JVMTI_EVENT_MONITOR_CONTENDED_ENTER);
        enable(JVMTI_EVENT_MONITOR_CONTENDED_ENTERED);
        enable(JVMTI_EVENT_MONITOR_WAIT);
        enable(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
    }
    return 0;
}
