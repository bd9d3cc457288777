#include "agent/heap.h"

#include "agent/alloc_counts.h"
#include "agent/alloc_rows.h"
#include "agent/heap_walk.h"
#include "agent/lacks.h"
#include "agent/objects.h"
#include "agent/on_alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/own_thread.h"
#include "base/util.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SAMPLE_BYTES = 512 * 1024,  /* the default */
    COLLECT_NS = 100 * 1000000, /* what ended */
    COUNT_NS = 1000 * 1000000,  /* what was counted: each thread, class and place is an event */
    STACK_BYTES = 256 * 1024,   /* of the heap thread */
};

/* What the groups ask for. */
struct wish {
    bool each, numbered, by_code, sampled;
};

static struct {
    jvmtiEnv *jvmti; /* made once, and stays: see onload.c */
    bool sampling;   /* its environment has the capability */
    struct wish now;
    bool follows; /* some objects' ends must be reported, even when groups are off */
    bool runs;    /* the heap thread */
    pthread_t thread;
    _Atomic uint32_t stop; /* a futex */
    struct ring *ring;
    uint64_t last; /* when the counts were read */
} heap;

/* --- the heap thread -------------------------------------------------------------------------- */

static int by_end(const void *a, const void *b)
{
    const struct object_facts *x = a, *y = b;
    return (x->ended > y->ended) - (x->ended < y->ended);
}

static void keep_ended(void *ctx, const struct object_facts *f)
{
    buf_put(ctx, f, sizeof *f);
}

static void put_free(const struct object_facts *f)
{
    struct event *e = ring_begin(heap.ring, EV_object_free, (thread_id){0}, f->ended);
    if (!e)
        return;
    e->object_free.object = f->number;
    e->object_free.class_ = f->class_;
    e->object_free.size = f->size;
    e->object_free.stack = f->stack;
    e->object_free.since = f->allocated;
    e->object_free.allocated_by = f->thread;
    e->object_free.collections = f->pauses;
    e->object_free.weight = f->weight;
    ring_commit(heap.ring, e);
}

/* In the order of their ends, as a ring's events are. */
static void put_ended(void)
{
    struct buf ended;
    buf_init(&ended);
    objects_take_ended(keep_ended, &ended);
    size_t n = ended.len / sizeof(struct object_facts);
    struct object_facts *f = (void *)ended.p;
    if (n)
        qsort(f, n, sizeof *f, by_end);
    for (size_t i = 0; i < n; i++)
        put_free(&f[i]);
    if (ended.oom)
        recorder_count_loss(agent.rec, LOSS_object, 1);
    buf_fini(&ended);
}

static void put_news(void *ctx, const struct alloc_news *n)
{
    const uint64_t *now = ctx;
    struct event *e = ring_begin(heap.ring, EV_object_allocs, n->key.thread, *now);
    if (!e)
        return;
    e->object_allocs.class_ = n->key.class_;
    e->object_allocs.stack = n->key.stack;
    e->object_allocs.count = n->count;
    e->object_allocs.bytes = n->bytes;
    e->object_allocs.since = heap.last;
    ring_commit(heap.ring, e);
}

static void collect_counts(uint64_t now)
{
    alloc_counts_news(put_news, &now);
    alloc_rows_news(put_news, &now);
    heap.last = now;
}

/* False: it is time to end. */
static bool pause_a_while(void)
{
    const struct timespec t = {0, COLLECT_NS};
    syscall(SYS_futex, &heap.stop, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
    /* acquire: pairs with end_thread */
    return !atomic_load_explicit(&heap.stop, memory_order_acquire);
}

static void *run(void *arg)
{
    UNUSED(arg);
    prctl(PR_SET_NAME, "orca heap");
    do {
        uint64_t now = clock_mono_ns();
        put_ended();
        /* Counts that find no room would be lost; here they go on growing. */
        if (now - heap.last >= COUNT_NS && !recorder_unwritten(agent.rec))
            collect_counts(now);
    } while (pause_a_while());
    put_ended();
    collect_counts(clock_mono_ns());
    return NULL;
}

static int start_thread(struct err *err)
{
    heap.ring = ring_attach(agent.rec);
    if (!heap.ring)
        return err_set(err, -ENOMEM, "no ring is free");
    heap.ring->patient = true;
    heap.last = clock_mono_ns();
    atomic_store_explicit(&heap.stop, 0, memory_order_relaxed);
    int rc = own_thread_start(&heap.thread, STACK_BYTES, run, NULL);
    if (rc == 0) {
        heap.runs = true;
        return 0;
    }
    ring_detach(heap.ring);
    return err_set(err, rc, "no thread for the heap profiler: %s", strerror(-rc));
}

static void end_thread(void)
{
    /* release: pairs with pause_a_while */
    atomic_store_explicit(&heap.stop, 1, memory_order_release);
    syscall(SYS_futex, &heap.stop, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pthread_join(heap.thread, NULL);
    ring_detach(heap.ring);
    heap.ring = NULL;
    heap.runs = false;
}

/* --- the environment -------------------------------------------------------------------------- */

static void JNICALL on_free(jvmtiEnv *jvmti, jlong tag)
{
    UNUSED(jvmti);
    int saved = errno;
    if (guard_enter()) {
        objects_ended(tag);
        guard_leave();
    }
    errno = saved;
}

static void JNICALL on_pause_over(jvmtiEnv *jvmti)
{
    UNUSED(jvmti);
    objects_pause_over();
}

static int open_environment(JavaVM *vm, struct err *err)
{
    jvmtiCapabilities want;
    jvmtiEventCallbacks c;
    memset(&want, 0, sizeof want);
    memset(&c, 0, sizeof c);
    if (heap.jvmti)
        return 0;
    if ((*vm)->GetEnv(vm, (void **)&heap.jvmti, JVMTI_VERSION_11) != JNI_OK) {
        heap.jvmti = NULL;
        return err_set(err, -ENOTSUP, "the JVM refuses a second JVMTI environment");
    }
    want.can_tag_objects = 1;
    want.can_generate_object_free_events = 1;
    want.can_generate_vm_object_alloc_events = 1;
    want.can_generate_garbage_collection_events = 1;
    c.SampledObjectAlloc = on_alloc_sampled;
    c.VMObjectAlloc = on_alloc_by_vm;
    c.ObjectFree = on_free;
    c.GarbageCollectionFinish = on_pause_over;
    jvmtiError e = (*heap.jvmti)->AddCapabilities(heap.jvmti, &want);
    if (e == JVMTI_ERROR_NONE)
        e = (*heap.jvmti)->SetEventCallbacks(heap.jvmti, &c, sizeof c);
    if (e == JVMTI_ERROR_NONE)
        return 0;
    (*heap.jvmti)->DisposeEnvironment(heap.jvmti); /* no other thread has seen it yet */
    heap.jvmti = NULL;
    return err_set(err, -ENOTSUP, "the JVM refuses the capabilities: %s", jvmti_error_name(e));
}

/* The capability to sample allocations: one environment in the JVM has it at a time. */
static bool take_sampling(bool want)
{
    jvmtiCapabilities c;
    memset(&c, 0, sizeof c);
    c.can_generate_sampled_object_alloc_events = 1;
    if (want == heap.sampling)
        return heap.sampling;
    jvmtiError e = want ? (*heap.jvmti)->AddCapabilities(heap.jvmti, &c)
                        : (*heap.jvmti)->RelinquishCapabilities(heap.jvmti, &c);
    if (e == JVMTI_ERROR_NONE)
        heap.sampling = want;
    else if (want)
        lacks_note("allocations are not sampled: another agent of this JVM samples them (%s)",
                   jvmti_error_name(e));
    return heap.sampling;
}

static void set_event(jvmtiEvent event, bool on)
{
    if (!heap.jvmti)
        return;
    jvmtiError e =
        (*heap.jvmti)
            ->SetEventNotificationMode(heap.jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE, event, NULL);
    if (e != JVMTI_ERROR_NONE && on)
        log_line("event %d is not available on this JVM: %s", (int)event, jvmti_error_name(e));
}

/* --- begin and end ---------------------------------------------------------------------------- */

static struct wish wish_of(const struct settings *s)
{
    bool each = s->groups[GROUP_alloc];
    return (struct wish){.each = each,
                         .numbered = each && s->groups[GROUP_frees],
                         .by_code = each && s->allocby == ALLOCBY_CODE,
                         .sampled = s->groups[GROUP_sampled_alloc]};
}

static uint64_t sample_bytes(void)
{
    return agent.settings.samplebytes ? agent.settings.samplebytes : SAMPLE_BYTES;
}

bool heap_wants_stacks(void)
{
    return agent.settings.allocstacks && agent.settings.depth > 0;
}

/* The JVM's callback is for every object, or for samples. */
static void set_mode(const struct wish *w)
{
    struct alloc_mode mode = {.each = w->each && !w->by_code,
                              .numbered = w->numbered,
                              .stacks = heap_wants_stacks(),
                              .bytes = w->sampled ? sample_bytes() : 0};
    on_alloc_mode(&mode);
    if (heap.sampling)
        (*heap.jvmti)->SetHeapSamplingInterval(heap.jvmti, mode.each ? 0 : (jint)mode.bytes);
}

static int begin(struct err *err)
{
    TRY(open_environment(agent.vm, err));
    TRY(objects_init(heap.jvmti, err));
    return start_thread(err);
}

struct census {
    uint64_t objects, bytes;
};

static jint JNICALL count_object(jlong class_tag, jlong size, jlong *tag, jint length, void *arg)
{
    struct census *c = arg;
    UNUSED(class_tag), UNUSED(tag), UNUSED(length);
    c->objects++;
    c->bytes += (uint64_t)size;
    return 0;
}

/* Live objects that were allocated before the first probe could be called: the JVM is being
 * initialised, and its heap is small. */
static void note_before(void)
{
    static const jvmtiHeapCallbacks callbacks = {.heap_iteration_callback = count_object};
    struct census c = {0, 0};
    char text[64];
    if ((*heap.jvmti)->IterateThroughHeap(heap.jvmti, 0, NULL, &callbacks, &c) != JVMTI_ERROR_NONE)
        return;
    snprintf(text, sizeof text, "%" PRIu64 " objects, %" PRIu64 " bytes", c.objects, c.bytes);
    recorder_put_info(agent.rec, "orca.alloc.before", text);
}

/* In the trace: what is known of allocation from here on. */
static void note(const struct wish *w)
{
    char text[32];
    if (w->each)
        recorder_put_info(agent.rec, "orca.allocby", w->by_code ? "code" : "jvm");
    snprintf(text, sizeof text, "%" PRIu64, sample_bytes());
    if (w->sampled)
        recorder_put_info(agent.rec, "orca.samplebytes", text);
}

static void switch_to(struct wish w, bool ends)
{
    bool callback = w.sampled || (w.each && !w.by_code);
    set_event(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, false);
    if (heap.jvmti)
        callback = take_sampling(callback) && callback;
    set_mode(&w);
    heap.follows = (heap.follows || w.sampled || w.numbered) && !ends;
    set_event(JVMTI_EVENT_OBJECT_FREE, heap.follows);
    set_event(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, heap.follows);
    set_event(JVMTI_EVENT_VM_OBJECT_ALLOC, w.by_code);
    if (callback)
        set_event(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, true);
    heap.now = w;
}

void heap_update(JNIEnv *jni, bool initialising)
{
    struct err err;
    struct wish w = wish_of(&agent.settings);
    if (memcmp(&w, &heap.now, sizeof w) == 0)
        return;
    if (!heap.runs && begin(&err) < 0) {
        lacks_note("%s: allocations are not recorded", err.msg);
        return;
    }
    if (w.each && initialising && heap_walk_sees_all(jni))
        note_before();
    switch_to(w, false);
    note(&w);
}

int heap_environment(JNIEnv *jni, jvmtiEnv **jvmti, struct err *err)
{
    JavaVM *vm;
    if ((*jni)->GetJavaVM(jni, &vm) != JNI_OK)
        return err_set(err, -EINVAL, "no JVM");
    TRY(open_environment(vm, err));
    *jvmti = heap.jvmti;
    return 0;
}

bool heap_follows(void)
{
    return heap.follows;
}

void heap_quiet(void)
{
    if (heap.runs)
        switch_to((struct wish){false, false, false, false}, true);
}

void heap_finish(void)
{
    if (heap.runs)
        end_thread();
}

void heap_free(JNIEnv *jni)
{
    objects_forget(jni);
    alloc_counts_free();
    alloc_rows_close();
    objects_fini();
}
