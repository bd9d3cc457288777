#include "hotspot/mounted.h"

#include "base/guarded.h"

/* The objects to which a JavaThread's handles refer. */
struct seen {
    uintptr_t itself, runs, jvmti;
};

static bool object_of(const struct vm_layout *l, uintptr_t java_thread, long at, uintptr_t *object)
{
    uintptr_t handle;
    return at >= 0 && guarded_word(java_thread + (uintptr_t)at, &handle) &&
           oops_handle(&l->oops, handle, object);
}

static bool look(const struct vm_layout *l, uintptr_t java_thread, struct seen *s)
{
    return object_of(l, java_thread, l->thread_obj, &s->itself) &&
           object_of(l, java_thread, l->vthread, &s->runs) &&
           object_of(l, java_thread, l->jvmti_vthread, &s->jvmti) && s->itself && s->runs;
}

bool mounted_itself(const struct vm_layout *l, uintptr_t java_thread)
{
    struct seen s;
    return java_thread && l->monitor_owner_id < 0 && look(l, java_thread, &s) && s.runs == s.itself;
}

bool mounted_nobody(const struct vm_layout *l, uintptr_t java_thread)
{
    struct seen s;
    return look(l, java_thread, &s) && s.runs == s.itself && (!s.jvmti || s.jvmti == s.itself);
}

uintptr_t mounted_reference(const struct vm_layout *l, uintptr_t java_thread,
                            enum mounted_frames frames, bool *needed)
{
    enum { GLOBAL = 2 }; /* the tag of a reference that no frame owns: JNIHandles::TypeTag */
    struct seen s;
    uintptr_t handle;
    *needed = java_thread && l->monitor_owner_id < 0 && l->vthread >= 0;
    if (!*needed || !look(l, java_thread, &s))
        return 0;
    long at = l->vthread;
    if (s.runs == s.itself && s.jvmti && s.jvmti != s.itself) {
        if (frames == FRAMES_UNKNOWN)
            return 0;
        if (frames == FRAMES_VIRTUAL) /* which acts as its carrier for a moment */
            at = l->jvmti_vthread;
    }
    return guarded_word(java_thread + (uintptr_t)at, &handle) && handle ? handle | GLOBAL : 0;
}

static uint64_t tid_by_object(const struct vm_layout *l, uintptr_t java_thread)
{
    struct seen before, after;
    uint64_t begin, end, tid;
    bool known = oops_count(&l->oops, true, &begin) && look(l, java_thread, &before) &&
                 guarded_u64(before.runs + (uintptr_t)l->tid, &tid) &&
                 look(l, java_thread, &after) && before.runs == after.runs &&
                 oops_count(&l->oops, false, &end) && begin == end;
    return known ? tid : 0;
}

bool mounted_known(const struct vm_layout *l)
{
    return l->monitor_owner_id >= 0 || l->tid >= 0;
}

uint64_t mounted_tid(const struct vm_layout *l, uintptr_t java_thread)
{
    uint64_t tid;
    if (!java_thread)
        return 0;
    if (l->monitor_owner_id < 0)
        return l->tid >= 0 ? tid_by_object(l, java_thread) : 0;
    return guarded_u64(java_thread + (uintptr_t)l->monitor_owner_id, &tid) ? tid : 0;
}

void mounted_open(struct vm_layout *l, const struct vmstructs *vs, uintptr_t java_thread,
                  uint64_t java_tid, long at)
{
    enum { TRIES = 100, MOST = 4096 };
    l->tid = -1;
    if (l->monitor_owner_id >= 0 || l->thread_obj < 0 || l->vthread < 0 || at < 0 || at > MOST)
        return;
    oops_open(&l->oops, vs);
    l->tid = l->oops.known ? at : -1;
    /* A collector may be at work: then it is not known for a while. */
    for (int i = 0; i < TRIES && l->tid >= 0; i++) {
        uint64_t found = mounted_tid(l, java_thread);
        if (found == java_tid)
            return;
        if (found)
            break;
    }
    l->tid = -1;
}
