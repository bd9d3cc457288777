#include "agent/gc_cycles.h"

#include "agent/gc_names.h"
#include "agent/natives.h"
#include "agent/on_gc.h"
#include "agent/threads.h"
#include "base/clock.h"
#include "base/embed.h"
#include "base/log.h"
#include "base/util.h"
#include "hotspot/gc_counters.h"

#include <stdatomic.h>

EMBED(orca_probe_GcCycles);

#define STRING "Ljava/lang/String;"

enum { NS_IN_MS = 1000000 };

/* One recording's; agent_attach and agent_stop are never at the same time as the control thread's
 * tick. */
static struct {
    uint32_t tried; /* in which session */
    bool listening;
    _Atomic int64_t origin; /* of the management's clock, on ours, to a ms; INT64_MAX: not known */
} cycles = {.origin = INT64_MAX};

/* --- a cycle has ended ------------------------------------------------------------------------ */

/* The management counts ms from a moment that it does not report: GcCycles finds it. Where it could
 * not: a cycle is reported after its end, so that moment was at least this long ago. */
static int64_t origin(int64_t now, jlong end_ms)
{
    int64_t known = atomic_load_explicit(&cycles.origin, memory_order_relaxed); /* set once */
    return known != INT64_MAX ? known : now - end_ms * NS_IN_MS;
}

static void JNICALL counts_from(JNIEnv *jni, jclass unused, jlong origin_ns)
{
    (void)jni, (void)unused;
    atomic_store_explicit(&cycles.origin, origin_ns, memory_order_relaxed);
}

static jlong JNICALL last_pause(JNIEnv *jni, jclass unused)
{
    (void)jni, (void)unused;
    return (jlong)gc_last_pause();
}

/* What the class passes on, in its order. */
enum { START_MS, END_MS, BEFORE, USED, COMMITTED, NUMBERS };

struct cycle {
    gc_name_id collector, cause;
    jlong number[NUMBERS];
};

static void put(JNIEnv *jni, const struct cycle *c)
{
    uint64_t now = clock_mono_ns();
    int64_t from = origin((int64_t)now, c->number[END_MS]);
    struct os_thread *self = os_thread_self(jni);
    struct event *e = self ? ring_begin(self->ring, EV_gc_cycle, self->id, now) : NULL;
    if (!e)
        return;
    e->gc_cycle.collector = c->collector;
    e->gc_cycle.cause = c->cause;
    e->gc_cycle.until = min_u64((uint64_t)(from + c->number[END_MS] * NS_IN_MS), now);
    e->gc_cycle.since =
        min_u64((uint64_t)(from + c->number[START_MS] * NS_IN_MS), e->gc_cycle.until);
    e->gc_cycle.before = (uint64_t)c->number[BEFORE];
    e->gc_cycle.used = (uint64_t)c->number[USED];
    e->gc_cycle.committed = (uint64_t)c->number[COMMITTED];
    ring_commit(self->ring, e);
}

static gc_name_id name(JNIEnv *jni, jstring text)
{
    char utf8[4 * GC_TEXT] = "";
    jsize n = text ? (*jni)->GetStringLength(jni, text) : 0;
    if (n == 0 || n >= GC_TEXT)
        return (gc_name_id){0};
    (*jni)->GetStringUTFRegion(jni, text, 0, n, utf8);
    return gc_names_id(utf8);
}

static void JNICALL ended(JNIEnv *jni, jclass unused, jstring collector, jstring cause,
                          jlongArray numbers)
{
    (void)unused;
    struct cycle c;
    (*jni)->GetLongArrayRegion(jni, numbers, 0, NUMBERS, c.number);
    if (!agent_wants(GROUP_gc) || (*jni)->ExceptionCheck(jni) || c.number[START_MS] < 0 ||
        c.number[END_MS] < c.number[START_MS])
        return;
    RECORDING({
        c.collector = name(jni, collector);
        c.cause = name(jni, cause);
        gc_names_define();
        put(jni, &c);
    });
}

/* --- listening -------------------------------------------------------------------------------- */

bool gc_cycles_due(void)
{
    return agent_wants(GROUP_gc) && cycles.tried != agent.session && gc_has_cycles();
}

/* A global reference, kept as long as the JVM lives. */
static jclass cycles_class(JNIEnv *jni)
{
    static const JNINativeMethod natives[] = {
        {(char *)"ended", (char *)"(" STRING STRING "[J)V", (void *)ended},
        {(char *)"lastPause", (char *)"()J", (void *)last_pause},
        {(char *)"countsFrom", (char *)"(J)V", (void *)counts_from}};
    static jclass known;
    if (known)
        return known;
    jclass c = natives_define(jni, "orca/probe/GcCycles", embed_orca_probe_GcCycles,
                              EMBED_BYTES(orca_probe_GcCycles));
    if (c && (*jni)->RegisterNatives(jni, c, natives, ARRAY_LEN(natives)) == JNI_OK)
        known = (*jni)->NewGlobalRef(jni, c);
    (*jni)->DeleteLocalRef(jni, c);
    return known;
}

void gc_cycles_start(JNIEnv *jni)
{
    jint n = 0;
    cycles.tried = agent.session;
    jclass c = cycles_class(jni);
    jmethodID m = c ? (*jni)->GetStaticMethodID(jni, c, "start", "()I") : NULL;
    if (m)
        n = (*jni)->CallStaticIntMethod(jni, c, m);
    if ((*jni)->ExceptionCheck(jni)) {
        (*jni)->ExceptionClear(jni);
        n = 0;
    }
    cycles.listening = n > 0;
    if (n == 0 && !agent.settings.quiet)
        log_line("the modules java.management and jdk.management are missing: only the pauses "
                 "of collections are recorded, not the cycles");
    recorder_put_info(agent.rec, "orca.gc.cycles", n ? "yes" : "no management");
}

void gc_cycles_stop(JNIEnv *jni)
{
    jclass c = cycles.listening ? cycles_class(jni) : NULL;
    jmethodID m = c ? (*jni)->GetStaticMethodID(jni, c, "stop", "()V") : NULL;
    if (m)
        (*jni)->CallStaticVoidMethod(jni, c, m);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    cycles.listening = false;
}
