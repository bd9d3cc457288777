/* step_agent.c - the walker at every instruction of generated code that a thread executes.
 *
 * Between Stepped.on() and off() the processor's trap flag makes the kernel send SIGTRAP behind each
 * instruction.  The handler walks from there.  A stack is right when it ends with the frames that
 * called on(), and, in the wrapper of a native method and in stubs, has the method "op" that called
 * it below these.  Sums are printed at VMDeath, as "step: key value" lines, behind the places at
 * which there was no stack, or a wrong one.  in_wrappers: unknown ones in wrappers of native methods;
 * replaced: while frames are being replaced. */
#include "base/guarded.h"
#include "hotspot/codecache.h"
#include "hotspot/method_text.h"
#include "hotspot/nmethod.h"
#include "hotspot/walker.h"

#include <jvmti.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

enum { DEPTH = 256, PLACES = 1 << 16, BAD = 4000, TRAP_FLAG = 0x100 };

static struct walker *walker;
static struct vmstructs *structs;
static jvmtiEnv *ti;
static long env_offset;

/* Of the one thread that is stepped. */
static __thread bool steps;
static uintptr_t java_thread;
static struct walk_frame base[DEPTH];
static int base_n;
static volatile sig_atomic_t wanted;
static long traps, walks, n_wrapper_walks, n_places, n_unknown, n_in_wrappers, n_replaced, n_wrong;
static uintptr_t places[PLACES];

static struct bad {
    uintptr_t pc;
    int rc;
    long n;
    char what[300];
} bads[BAD];
static int n_bads;

static bool is_named(uintptr_t method, const char *name)
{
    char buf[4096];
    struct method_text t;
    return method_describe(walker, method, buf, sizeof buf, &t) == 0 &&
           t.name_len == strlen(name) && memcmp(t.name, name, t.name_len) == 0;
}

static void put_name(char *to, size_t size, uintptr_t method)
{
    char buf[4096];
    struct method_text t;
    if (method_describe(walker, method, buf, sizeof buf, &t) == 0)
        snprintf(to, size, "%.*s.%.*s", t.class_name_len, t.class_name, t.name_len, t.name);
    else
        snprintf(to, size, "%#lx", (unsigned long)method);
}

/* Blob, offset, what it returned, the instruction. */
static void describe(struct bad *b, const struct blob *blob, const struct walk_frame *f, int n)
{
    char name[128] = "interpreter", method[200] = "";
    struct nmethod nm;
    uint8_t code[24] = {0};
    char bytes[3 * sizeof code + 1] = "";
    walker_stub_name(walker, b->pc, name, sizeof name);
    if (blob && blob->kind == BLOB_NMETHOD && nmethod_read(walker_layout(walker), blob, &nm))
        put_name(method, sizeof method, nm.method);
    guarded_bytes(b->pc, code, sizeof code);
    for (size_t i = 0; i < sizeof code; i++)
        snprintf(bytes + 3 * i, 4, " %02x", code[i]);
    size_t len = (size_t)snprintf(
        b->what, sizeof b->what, "%s%s%s+%ld of %ld (complete %d, %d words):%s", name,
        blob && blob->native ? "native " : "", method, blob ? (long)(b->pc - blob->code_begin) : 0,
        blob ? (long)(blob->code_end - blob->code_begin) : 0, blob ? blob->frame_complete : 0,
        blob ? blob->frame_words : 0, bytes);
    for (int i = 0; i < n && i < 3 && len < sizeof b->what; i++) {
        put_name(method, sizeof method, f[i].method);
        len += (size_t)snprintf(b->what + len, sizeof b->what - len, " <- %s", method);
    }
}

static void note_bad(uintptr_t pc, int rc, const struct blob *blob, const struct walk_frame *f)
{
    struct bad *b = bads;
    n_in_wrappers += rc < 0 && blob && blob->native;
    ++*(rc == WALK_DEOPT ? &n_replaced : rc < 0 ? &n_unknown : &n_wrong);
    while (b < bads + n_bads && (b->pc != pc || (b->rc < 0) != (rc < 0)))
        b++;
    if (b == bads + BAD)
        return;
    if (b == bads + n_bads) {
        n_bads++;
        *b = (struct bad){.pc = pc, .rc = rc};
        describe(b, blob, f, rc > 0 ? rc : 0);
    }
    b->n++;
}

static void note_place(uintptr_t pc)
{
    uintptr_t i = pc % PLACES;
    while (places[i] && places[i] != pc)
        i = (i + 1) % PLACES;
    if (!places[i] && n_places < PLACES / 2) {
        places[i] = pc;
        n_places++;
    }
}

/* Called by "op", or by the method that steps. */
static bool is_inside(const struct blob *b)
{
    return b && ((b->kind == BLOB_NMETHOD && b->native) || b->kind == BLOB_STUBS);
}

static bool is_right(const struct blob *b, const struct walk_frame *f, int n)
{
    int own = n - base_n;
    if (own < 0)
        return false;
    for (int i = 0; i < base_n; i++)
        if (f[own + i].method != base[i].method)
            return false;
    if (!is_inside(b))
        return true;
    return own > 0 && (is_named(f[own - 1].method, "op") || is_named(f[own - 1].method, "off") ||
                       is_named(f[own - 1].method, "on"));
}

static void look(void *context)
{
    struct walk_frame f[DEPTH];
    struct walk w = {.frames = f, .max = DEPTH, .options = WALK_WITH_STAMPS};
    uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    const struct layout *l = walker_layout(walker);
    struct blob b;
    if (!codecache_contains(l, pc))
        return;
    bool found = codecache_find(l, pc, &b);
    int rc = walk(walker, java_thread, context, &w);
    walks++;
    n_wrapper_walks += found && b.native;
    note_place(pc);
    if (rc <= 0 || !is_right(found ? &b : NULL, f, rc))
        note_bad(pc, rc, found ? &b : NULL, f);
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
    greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
    (void)signal, (void)info;
    if (!steps || !wanted) { /* a thread that was begun while its maker was stepped */
        *flags = wanted && steps ? *flags | TRAP_FLAG : *flags & ~TRAP_FLAG;
        return;
    }
    traps++;
    *flags |= TRAP_FLAG;
    look(context);
}

/* What it is called by is what all stacks end with. */
JNIEXPORT void JNICALL Java_Stepped_on(JNIEnv *jni, jclass c)
{
    struct walk_frame f[DEPTH];
    struct walk w = {.frames = f, .max = DEPTH};
    (void)c;
    java_thread = (uintptr_t)jni - (uintptr_t)env_offset;
    int n = walker ? walk(walker, java_thread, NULL, &w) : 0;
    if (n < 2)
        return;
    base_n = n - 1;
    memcpy(base, f + 1, (size_t)base_n * sizeof *base);
    steps = true;
    wanted = 1;
    raise(SIGTRAP);
}

JNIEXPORT void JNICALL Java_Stepped_off(JNIEnv *jni, jclass c)
{
    (void)jni, (void)c;
    wanted = 0;
}

/* --- native methods to step through ----------------------------------------------------------- */

JNIEXPORT jint JNICALL Java_Stepped_plain(JNIEnv *jni, jclass c, jint i)
{
    (void)jni, (void)c;
    return i;
}

JNIEXPORT jlong JNICALL Java_Stepped_many(JNIEnv *jni, jobject self, jint a, jlong b, jobject o,
                                          jdouble d, jfloat e, jbyte f, jobject p, jlong g,
                                          jobject q)
{
    (void)jni, (void)self, (void)o, (void)p, (void)q;
    return a + b + (jlong)d + (jlong)e + f + g;
}

JNIEXPORT jobject JNICALL Java_Stepped_same(JNIEnv *jni, jobject self, jobject o)
{
    (void)jni, (void)self;
    return o;
}

JNIEXPORT jboolean JNICALL Java_Stepped_locked(JNIEnv *jni, jobject self)
{
    (void)jni, (void)self;
    return JNI_TRUE;
}

JNIEXPORT void JNICALL Java_Stepped_fails(JNIEnv *jni, jclass c)
{
    (void)c;
    (*jni)->ThrowNew(jni, (*jni)->FindClass(jni, "java/lang/IllegalStateException"), "stepped");
}

JNIEXPORT jint JNICALL Java_Stepped_back(JNIEnv *jni, jclass c, jint i)
{
    return (*jni)->CallStaticIntMethod(jni, c, (*jni)->GetStaticMethodID(jni, c, "called", "(I)I"),
                                       i);
}

/* --- life ------------------------------------------------------------------------------------- */

static void JNICALL on_init(jvmtiEnv *t, JNIEnv *jni, jthread thread)
{
    struct err err = {""};
    struct sigaction a = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART};
    jclass c = (*jni)->FindClass(jni, "java/lang/Thread");
    jlong at = (*jni)->GetLongField(jni, thread, (*jni)->GetFieldID(jni, c, "eetop", "J"));
    (void)t;
    env_offset = (long)((uintptr_t)jni - (uintptr_t)at);
    if (vmstructs_open(&structs, (const void *)(uintptr_t)(*jni)->FindClass, &err) < 0 ||
        walker_open(&walker, structs, &err) < 0) {
        printf("step: not opened: %s\n", err.msg);
        walker = NULL;
    }
    sigaction(SIGTRAP, &a, NULL);
}

static void JNICALL on_death(jvmtiEnv *t, JNIEnv *jni)
{
    (void)t, (void)jni;
    for (int i = 0; i < n_bads; i++)
        printf("step: at %d %ldx %s\n", bads[i].rc, bads[i].n, bads[i].what);
    const struct {
        const char *key;
        long n;
    } sums[] = {{"traps", traps},
                {"walks", walks},
                {"places", n_places},
                {"wrapper_walks", n_wrapper_walks},
                {"in_wrappers", n_in_wrappers},
                {"unknown", n_unknown},
                {"replaced", n_replaced},
                {"wrong", n_wrong}};
    for (size_t k = 0; k < sizeof sums / sizeof sums[0]; k++)
        printf("step: %s %ld\n", sums[k].key, sums[k].n);
    fflush(stdout);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)options, (void)reserved;
    const jvmtiEventCallbacks calls = {.VMInit = on_init, .VMDeath = on_death};
    (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11);
    (*ti)->SetEventCallbacks(ti, &calls, sizeof calls);
    (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
    return 0;
}
