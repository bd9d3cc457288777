/* on_gc.c - collector pauses.  These callbacks run on the VM thread at a safepoint: no JNI, no
 * JVMTI, and but for the ring (the thread's first event, one that is full) no lock, no allocation,
 * no system call. */
#include "agent/on_gc.h"

#include "agent/gc_names.h"
#include "agent/lacks.h"
#include "agent/threads.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "hotspot/gc_counters.h"
#include "hotspot/heap_use.h"

#include <stdatomic.h>
#include <string.h>

/* When the counters have the cause of the collection that pauses. */
enum cause_is { CAUSE_NOW, CAUSE_NOW_OR_LAST, CAUSE_UNKNOWN };

/* Set up before the events are enabled; then only the VM thread's. */
static struct {
    struct heap_use heap;
    struct gc_counters counters;
    enum cause_is cause_is;
    uint64_t began;              /* the pause that goes on */
    _Atomic uint64_t last_pause; /* when the last one began; 0: none has been seen */
} gc;

static bool heap_is(const char *collector)
{
    return gc.heap.collector && strcmp(gc.heap.collector, collector) == 0;
}

/* Serial and Parallel of 17 have put the cause away when JVMTI reports the end; their collections
 * are pauses, so it is this one's.  Young and old collections of the generational ZGC overlap, and
 * there is one counter for the cause of both. */
static enum cause_is find_cause_is(void)
{
    for (size_t i = 0; i < GC_COUNTERS; i++)
        if (strstr(gc.counters.kinds[i].name, "ZGC minor"))
            return CAUSE_UNKNOWN;
    return heap_is("Serial") || heap_is("Parallel") ? CAUSE_NOW_OR_LAST : CAUSE_NOW;
}

/* -1: it cannot be asked. */
static int64_t total_memory(JNIEnv *jni)
{
    jlong total = -1;
    jclass c = (*jni)->FindClass(jni, "java/lang/Runtime");
    jmethodID get =
        c ? (*jni)->GetStaticMethodID(jni, c, "getRuntime", "()Ljava/lang/Runtime;") : NULL;
    jmethodID ask = get ? (*jni)->GetMethodID(jni, c, "totalMemory", "()J") : NULL;
    jobject runtime = ask ? (*jni)->CallStaticObjectMethod(jni, c, get) : NULL;
    if (runtime)
        total = (*jni)->CallLongMethod(jni, runtime, ask);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, runtime);
    (*jni)->DeleteLocalRef(jni, c);
    return total;
}

/* G1's books are brought up to date by its collections: regions that were added since are missing. */
static bool is_total(uint64_t committed, uint64_t total)
{
    return heap_is("G1") ? committed <= total && committed >= total / 2 : committed == total;
}

/* The collector's books are what Runtime says, or are not believed: not even in part. */
static void prove_books(JNIEnv *jni)
{
    enum { TRIES = 8 }; /* the heap may be growing */
    for (int i = 0; i < TRIES; i++) {
        uint64_t committed = heap_use_committed(&gc.heap), used = heap_use_used(&gc.heap);
        int64_t total = total_memory(jni);
        if (total < 0 || (!committed && !used) ||
            (is_total(committed, (uint64_t)total) && used <= committed))
            return;
    }
    heap_use_close(&gc.heap);
    lacks_note("the heap's size is not what Runtime says on this JVM: of collections only causes "
               "and times are recorded");
}

void gc_init(JNIEnv *jni)
{
    struct err err;
    gc_names_reset();
    memset(&gc, 0, sizeof gc);
    /* -Xcheck:jni would print that another handler stands before the JVM's own. */
    if (vmstructs_flag(agent.vmstructs, "CheckJNICalls", false))
        return;
    if (guarded_open(&err) < 0) {
        lacks_note("%s; only the times of collections are recorded", err.msg);
        return;
    }
    heap_use_open(&gc.heap, agent.vmstructs);
    prove_books(jni);
    gc_counters_open(&gc.counters, agent.vmstructs);
    gc.cause_is = find_cause_is();
    gc_counters_kind(&gc.counters);
}

bool gc_has_cycles(void)
{
    return gc.heap.concurrent && gc_last_pause() != 0;
}

uint64_t gc_last_pause(void)
{
    /* relaxed: a number, which nothing else goes with */
    return atomic_load_explicit(&gc.last_pause, memory_order_relaxed);
}

static gc_name_id cause(void)
{
    char text[GC_TEXT];
    if (gc.cause_is == CAUSE_UNKNOWN)
        return (gc_name_id){0};
    if (gc_counters_cause(&gc.counters, text) ||
        (gc.cause_is == CAUSE_NOW_OR_LAST && gc_counters_last_cause(&gc.counters, text)))
        return gc_names_id(text);
    return (gc_name_id){0};
}

/* Shenandoah's counters go by the names of another collector's. */
static gc_name_id collector(void)
{
    int kind = gc_counters_kind(&gc.counters);
    if (kind >= 0 && !heap_is("Shenandoah"))
        return gc_names_id(gc.counters.kinds[kind].name);
    return gc.heap.collector ? gc_names_id(gc.heap.collector) : (gc_name_id){0};
}

static void put_start(void)
{
    struct os_thread *self = os_thread_self(NULL);
    gc.began = clock_mono_ns();
    struct event *e = self ? ring_begin(self->ring, EV_gc_start, self->id, gc.began) : NULL;
    if (!e)
        return;
    e->gc_start.used = heap_use_used(&gc.heap);
    ring_commit(self->ring, e);
}

static void put_finish(void)
{
    uint64_t now = clock_mono_ns();
    struct os_thread *self = os_thread_self(NULL);
    struct event *e = self ? ring_begin(self->ring, EV_gc_finish, self->id, now) : NULL;
    atomic_store_explicit(&gc.last_pause, gc.began, memory_order_relaxed);
    gc_name_id whose = collector(); /* even if the event is lost: the next pause needs it */
    if (!e)
        return;
    e->gc_finish.collector = whose;
    e->gc_finish.cause = cause();
    e->gc_finish.used = heap_use_used(&gc.heap);
    e->gc_finish.committed = heap_use_committed(&gc.heap);
    ring_commit(self->ring, e);
}

void JNICALL on_gc_start(jvmtiEnv *jvmti)
{
    (void)jvmti;
    RECORDING(put_start());
}

void JNICALL on_gc_finish(jvmtiEnv *jvmti)
{
    (void)jvmti;
    RECORDING(put_finish());
}
