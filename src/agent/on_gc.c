/* on_gc.c - collector pauses.  These callbacks run on the VM thread at a safepoint: no JNI, no
 * JVMTI. */
#include "agent/threads.h"
#include "base/clock.h"

static void put(enum event_kind kind)
{
    struct os_thread *self = os_thread_self(NULL);
    struct event *e = self ? ring_begin(self->ring, kind, self->id, clock_mono_ns()) : NULL;
    if (e)
        ring_commit(self->ring, e);
}

void JNICALL on_gc_start(jvmtiEnv *jvmti)
{
    (void)jvmti;
    if (agent_on())
        KEEP_ERRNO(put(EV_gc_start));
}

void JNICALL on_gc_finish(jvmtiEnv *jvmti)
{
    (void)jvmti;
    if (agent_on())
        KEEP_ERRNO(put(EV_gc_finish));
}
