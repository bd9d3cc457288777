/* on_thread.c - threads start and end; virtual threads are mounted and unmounted. */
#include "agent/on_thread.h"

#include "agent/jvmti21.h"
#include "agent/lacks.h"
#include "agent/threads.h"
#include "base/clock.h"

#include <string.h>

void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    RECORDING(threads_started(jni, thread));
}

void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    int saved = errno;
    if (!guard_enter())
        return;
    threads_ended(jni, thread); /* on or off: its JavaThread must no longer be read */
    guard_leave();
    errno = saved;
}

void JNICALL on_virtual_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    RECORDING(threads_virtual_started(jni, thread));
}

void JNICALL on_virtual_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    RECORDING(threads_virtual_ended(jni, thread));
}

/* --- mount and unmount: extension events of HotSpot's JVMTI (JDK 21 and later) ---------------- */

static void put_mount(JNIEnv *jni, jthread thread)
{
    struct os_thread *self = os_thread_self(jni);
    if (!self)
        return;
    thread_id id = threads_of(jni, thread);
    struct event *e = ring_begin(self->ring, EV_mount, id, clock_mono_ns());
    if (!e)
        return;
    e->mount.carrier = self->id;
    ring_commit(self->ring, e);
}

static void put_unmount(JNIEnv *jni, jthread thread)
{
    struct os_thread *self = os_thread_self(jni);
    if (!self)
        return;
    thread_id id = threads_mounted(jni, thread, self);
    struct event *e = ring_begin(self->ring, EV_unmount, id, clock_mono_ns());
    if (e)
        ring_commit(self->ring, e);
}

static void JNICALL on_mount(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, ...)
{
    (void)jvmti;
    RECORDING(put_mount(jni, thread));
}

static void JNICALL on_unmount(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, ...)
{
    (void)jvmti;
    RECORDING(put_unmount(jni, thread));
}

/* Setting the callback does not enable the event, whatever the specification says of extension
 * events (JDK 21 to 25). */
static bool watch(const jvmtiExtensionEventInfo *e, jvmtiExtensionEvent callback, bool on)
{
    jvmtiEnv *ti = agent.jvmti;
    return (*ti)->SetExtensionEventCallback(ti, e->extension_event_index, callback) ==
               JVMTI_ERROR_NONE &&
           (*ti)->SetEventNotificationMode(ti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
                                           (jvmtiEvent)e->extension_event_index,
                                           NULL) == JVMTI_ERROR_NONE;
}

static void free_event(jvmtiExtensionEventInfo *e)
{
    for (jint i = 0; i < e->param_count; i++)
        jvmti_free(e->params[i].name);
    jvmti_free(e->params);
    jvmti_free(e->id);
    jvmti_free(e->short_description);
}

void mounts_switch(bool on)
{
    jint n = 0;
    jvmtiExtensionEventInfo *all = NULL;
    int watched = 0;
    (*agent.jvmti)->GetExtensionEvents(agent.jvmti, &n, &all);
    for (jint i = 0; i < n; i++) {
        if (strcmp(all[i].id, "com.sun.hotspot.events.VirtualThreadMount") == 0)
            watched += watch(&all[i], (jvmtiExtensionEvent)on_mount, on);
        else if (strcmp(all[i].id, "com.sun.hotspot.events.VirtualThreadUnmount") == 0)
            watched += watch(&all[i], (jvmtiExtensionEvent)on_unmount, on);
        free_event(&all[i]);
    }
    jvmti_free(all);
    if (watched < 2)
        lacks_note("this JVM does not report when virtual threads are mounted: events=mounts has "
                   "no effect");
}
