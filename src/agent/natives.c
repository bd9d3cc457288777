#include "agent/natives.h"
#include "agent/lacks.h"

#include "base/embed.h"
#include "base/guarded.h"
#include "base/util.h"
#include "hotspot/class_methods.h"

#include <string.h>

EMBED(orca_probe_Natives);

#define NATIVES "orca/probe/Natives"

struct originals originals;

/* A JDK has one of the methods of each `what`.  symbol: the JVM's function behind it, for the case
 * that the method was never called and is not bound; NULL: it has no name. */
static const struct hook {
    const char *what;
    const char *class, *name, *signature;
    const char *symbol;
    void *wrapper;
    size_t original; /* in struct originals */
    enum event_group group;
    bool is_static;
} hooks[] = {
#define ORIGINAL(field) offsetof(struct originals, field)
    {"Object.notify", "java/lang/Object", "notify", "()V", "JVM_MonitorNotify", (void *)on_notify,
     ORIGINAL(notify), GROUP_waits, false},
    {"Object.notifyAll", "java/lang/Object", "notifyAll", "()V", "JVM_MonitorNotifyAll",
     (void *)on_notify_all, ORIGINAL(notify_all), GROUP_waits, false},
    /* Before JDK 19 the JVM announces waits that then throw (on_native_wait); later no native
     * method has this name. */
    {"Object.wait", "java/lang/Object", "wait", "(J)V", "JVM_MonitorWait", (void *)on_native_wait,
     ORIGINAL(wait), GROUP_waits, false},
    {"Thread.start", "java/lang/Thread", "start0", "()V", "JVM_StartThread", (void *)on_start,
     ORIGINAL(start), GROUP_threads, false},
    {"Thread.interrupt", "java/lang/Thread", "interrupt0", "()V", "JVM_Interrupt",
     (void *)on_interrupt, ORIGINAL(interrupt), GROUP_interrupts, false},
    /* JDK 17 to 18, 19 to 21, 22 and later */
    {"Thread.sleep", "java/lang/Thread", "sleep", "(J)V", "JVM_Sleep", (void *)on_sleep_ms,
     ORIGINAL(sleep_ms), GROUP_sleeps, true},
    {"Thread.sleep", "java/lang/Thread", "sleep0", "(J)V", "JVM_Sleep", (void *)on_sleep_ns,
     ORIGINAL(sleep_ns), GROUP_sleeps, true},
    {"Thread.sleep", "java/lang/Thread", "sleepNanos0", "(J)V", "JVM_SleepNanos",
     (void *)on_sleep_ns, ORIGINAL(sleep_ns), GROUP_sleeps, true},
    {"LockSupport.park", "jdk/internal/misc/Unsafe", "park", "(ZJ)V", NULL, (void *)on_park,
     ORIGINAL(park), GROUP_parks, false},
    {"LockSupport.unpark", "jdk/internal/misc/Unsafe", "unpark", "(Ljava/lang/Object;)V", NULL,
     (void *)on_unpark, ORIGINAL(unpark), GROUP_parks, false},
#undef ORIGINAL
};

/* HotSpot keeps a native method's function in the word behind its Method.  A jmethodID is the
 * address of a word with the Method's, or, since JDK 26, a number.  0: in none of these ways, as a
 * method of our own has shown. */
static long entry_offset;
static void *unbound_entry;
static bool ids_are_numbers;
static struct class_methods class_methods;

/* Through its class. */
static uintptr_t method_of_number(jmethodID method)
{
    enum { TRIES = 8 }; /* a collector may be at work */
    const struct oops *oops = &class_methods.oops;
    JNIEnv *jni;
    uintptr_t m = 0;
    uint64_t count;
    if ((*agent.vm)->GetEnv(agent.vm, (void **)&jni, JNI_VERSION_1_8) != JNI_OK)
        return 0;
    for (int i = 0; i < TRIES && !m; i++) {
        jclass c = NULL;
        if (!oops_count(oops, true, &count))
            continue;
        if ((*agent.jvmti)->GetMethodDeclaringClass(agent.jvmti, method, &c) != JVMTI_ERROR_NONE)
            break;
        uintptr_t at = (uintptr_t)handle_of(c);
        m = class_methods_find(&class_methods, at, count, (uintptr_t)method);
        (*jni)->DeleteLocalRef(jni, c);
    }
    return m;
}

static uintptr_t method_of(jmethodID method)
{
    uintptr_t m;
    if (ids_are_numbers)
        return method_of_number(method);
    return (uintptr_t)method % sizeof m == 0 && guarded_word((uintptr_t)method, &m) ? m : 0;
}

uintptr_t natives_method(jmethodID method)
{
    return entry_offset ? method_of(method) : 0;
}

static void *entry_of(jmethodID method)
{
    uintptr_t m = method_of(method), entry;
    return m && guarded_word(m + (uintptr_t)entry_offset, &entry) ? (void *)entry : NULL;
}

static jmethodID find_method(JNIEnv *jni, jclass c, const struct hook *h)
{
    jmethodID m = h->is_static ? (*jni)->GetStaticMethodID(jni, c, h->name, h->signature)
                               : (*jni)->GetMethodID(jni, c, h->name, h->signature);
    jboolean native = JNI_FALSE;
    if (!m)
        (*jni)->ExceptionClear(jni);
    else if ((*agent.jvmti)->IsMethodNative(agent.jvmti, m, &native) != JVMTI_ERROR_NONE || !native)
        m = NULL;
    return m;
}

static void *original_of(jmethodID m, const struct hook *h)
{
    void *entry = entry_offset ? entry_of(m) : NULL;
    if (entry && entry != unbound_entry)
        return entry;
    return h->symbol ? vmstructs_symbol(agent.vmstructs, h->symbol) : NULL;
}

/* Our wrapper is in the chain of calls, perhaps behind another agent's. */
static bool in_place[ARRAY_LEN(hooks)];

static bool bind(JNIEnv *jni, jclass c, const struct hook *h, void *fn)
{
    const JNINativeMethod native = {(char *)h->name, (char *)h->signature, fn};
    return (*jni)->RegisterNatives(jni, c, &native, 1) == JNI_OK;
}

static bool replace(JNIEnv *jni, const struct hook *h)
{
    if (in_place[h - hooks])
        return true;
    bool ok = false;
    jclass c = (*jni)->FindClass(jni, h->class);
    jmethodID m = c ? find_method(jni, c, h) : NULL;
    void *original = m ? original_of(m, h) : NULL;
    if (original) {
        memcpy((char *)&originals + h->original, &original, sizeof original);
        ok = in_place[h - hooks] = bind(jni, c, h, h->wrapper);
    }
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, c);
    return ok;
}

/* Object.wait's wrapper makes no events, it ends those that the JVM begins: contanalysis=off
 * leaves it. */
static bool is_wanted(const struct hook *h)
{
    return agent.settings.groups[h->group] &&
           (agent.settings.contanalysis || h->wrapper == (void *)on_native_wait);
}

static void replace_all(JNIEnv *jni)
{
    for (size_t i = 0; i < ARRAY_LEN(hooks);) {
        const char *what = hooks[i].what;
        bool wanted = is_wanted(&hooks[i]), done = false;
        for (; i < ARRAY_LEN(hooks) && strcmp(hooks[i].what, what) == 0; i++)
            done = done || !wanted || replace(jni, &hooks[i]);
        if (!done && !(hooks[i - 1].wrapper == (void *)on_native_wait && agent.java_version > 18))
            lacks_note("%s of this JVM differs from what Orca expects: it is not recorded", what);
    }
}

/* --- from Java -------------------------------------------------------------------------------- */

/* What Natives.replace, called by Natives.run, does; while the JVM starts, so by one thread. */
static void (*job)(JNIEnv *jni);

static void JNICALL do_job(JNIEnv *jni, jclass natives)
{
    (void)natives;
    job(jni);
}

/* Learn, from methods of our own, where a native method's function is kept.  A number is not
 * followed unless faults are caught. */
static void learn_entry(jmethodID bound, jmethodID unbound)
{
    enum { NUMBERS_SINCE = 26 };
    struct err ignored;
    bool caught =
        !vmstructs_flag(agent.vmstructs, "CheckJNICalls", false) && guarded_open(&ignored) == 0;
    ids_are_numbers =
        agent.java_version >= NUMBERS_SINCE || vmstructs_hides("jmethodID", "address");
    if (ids_are_numbers && (!caught || !class_methods_open(&class_methods, agent.vmstructs)))
        return;
    entry_offset = vmstructs_sizeof(agent.vmstructs, "Method");
    if (entry_offset > 0 && entry_of(bound) == (void *)do_job && entry_of(unbound))
        unbound_entry = entry_of(unbound);
    else
        entry_offset = 0;
}

jclass natives_define(JNIEnv *jni, const char *name, const unsigned char *bytes, size_t len)
{
    jclass c = (*jni)->DefineClass(jni, name, NULL, (const jbyte *)bytes, (jsize)len);
    if (c)
        return c;
    (*jni)->ExceptionClear(jni);
    c = (*jni)->FindClass(jni, name);
    if (!c)
        (*jni)->ExceptionClear(jni);
    return c;
}

void natives_name_methods(jclass c)
{
    jint n = 0;
    jmethodID *ids = NULL;
    if ((*agent.jvmti)->GetClassMethods(agent.jvmti, c, &n, &ids) == JVMTI_ERROR_NONE)
        jvmti_free(ids);
}

/* Natives, defined on first use; NULL when that failed. */
static jclass natives_class(JNIEnv *jni)
{
    static const JNINativeMethod own = {(char *)"replace", (char *)"()V", (void *)do_job};
    static jclass known; /* a global reference, kept as long as the JVM lives */
    if (known)
        return known;
    jclass c =
        natives_define(jni, NATIVES, embed_orca_probe_Natives, EMBED_BYTES(orca_probe_Natives));
    if (!c || (*jni)->RegisterNatives(jni, c, &own, 1) != JNI_OK)
        return NULL;
    jmethodID bound = (*jni)->GetStaticMethodID(jni, c, "replace", "()V");
    jmethodID unbound = bound ? (*jni)->GetStaticMethodID(jni, c, "unbound", "()V") : NULL;
    if (!unbound)
        return NULL;
    learn_entry(bound, unbound);
    known = (*jni)->NewGlobalRef(jni, c);
    (*jni)->DeleteLocalRef(jni, c);
    return known;
}

bool natives_learn(JNIEnv *jni)
{
    bool known = natives_class(jni) && entry_offset;
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    return known;
}

int natives_from_java(JNIEnv *jni, void (*fn)(JNIEnv *jni))
{
    jclass c = natives_class(jni);
    jmethodID run = c ? (*jni)->GetStaticMethodID(jni, c, "run", "()V") : NULL;
    job = fn;
    if (run)
        (*jni)->CallStaticVoidMethod(jni, c, run);
    bool threw = (*jni)->ExceptionCheck(jni);
    if (threw)
        (*jni)->ExceptionClear(jni);
    return run && !threw ? 0 : -ENOTSUP;
}

void natives_install(JNIEnv *jni)
{
    const bool *g = agent.settings.groups;
    if (!g[GROUP_waits] && !g[GROUP_threads] && !g[GROUP_interrupts] && !g[GROUP_sleeps] &&
        !g[GROUP_parks])
        return;
    if (natives_from_java(jni, replace_all) < 0)
        lacks_note("this JVM does not let Orca replace native methods: notify, park, sleep, start "
                   "and interrupt are not recorded");
}
