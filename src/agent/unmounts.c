#include "agent/unmounts.h"

#include "hotspot/unmounted.h"

static struct unmounted *said; /* NULL: not on this JVM */

/* A statement exists: until then a program without virtual threads pays one load. */
static _Atomic bool any;

/* Up to JDK 23 an owner of a monitor stays mounted. An identity hash that is not a random number
 * does not distinguish objects. */
static bool can_be_known(void)
{
    enum { HASH_THREAD_LOCAL = 5 }; /* -XX:hashCode by default */
    const struct vm_layout *l = &agent.layout;
    return agent.virtual_threads && l->owner_is_tid && l->monitor_owner >= 0 &&
           l->monitor_owner_id >= 0 && l->lock_stack >= 0 && l->lock_stack_top >= 0 &&
           l->lock_stack_base >= 0 &&
           vmstructs_number(agent.vmstructs, "hashCode", HASH_THREAD_LOCAL) == HASH_THREAD_LOCAL;
}

int unmounts_init(void)
{
    atomic_store_explicit(&any, false, memory_order_relaxed); /* no other thread is there yet */
    return can_be_known() ? unmounted_new(&said) : 0;
}

void unmounts_free(void)
{
    unmounted_free(said);
    said = NULL;
}

/* The virtual thread that is mounted here, 0: none. */
static uint64_t virtual_tid(const struct os_thread *self)
{
    uint64_t tid = mounted_tid(&agent.layout, self->java_thread);
    return tid == self->java_tid ? 0 : tid;
}

/* A local reference is the address of a word that the collector keeps up to date: a slot of one's
 * own lock stack is one.  JVMTI does not ask where it is. */
static uint32_t hash_at(uintptr_t slot)
{
    jint hash = 0;
    if ((*agent.jvmti)->GetObjectHashCode(agent.jvmti, (jobject)slot, &hash) != JVMTI_ERROR_NONE)
        return 0;
    return (uint32_t)hash;
}

void unmounts_leave(struct os_thread *self)
{
    uintptr_t slots[OWNER_LOCKS];
    uint32_t hashes[UNMOUNTED_LOCKS];
    size_t n = 0;
    uint64_t tid = said && agent.settings.groups[GROUP_monitors] ? virtual_tid(self) : 0;
    if (!tid)
        return;
    size_t n_slots = owner_own_locks(&agent.layout, self->java_thread, slots);
    for (size_t i = 0; i < n_slots; i++) {
        uint32_t hash = hash_at(slots[i]);
        if (hash && (n == 0 || hashes[n - 1] != hash)) /* entered again */
            hashes[n++] = hash;
    }
    if (n) /* relaxed: the thread itself sees it, and for others it is a hint */
        atomic_store_explicit(&any, true, memory_order_relaxed);
    unmounted_leave(said, tid, hashes, n);
}

static bool anybody(void)
{
    return said && atomic_load_explicit(&any, memory_order_relaxed);
}

void unmounts_return(struct os_thread *self)
{
    uint64_t tid = anybody() ? virtual_tid(self) : 0;
    if (tid)
        unmounted_return(said, tid);
}

void unmounts_ended(uint64_t java_tid)
{
    if (anybody())
        unmounted_return(said, java_tid);
}

void unmounts_forget(void)
{
    if (said)
        unmounted_forget(said);
}

uint64_t unmounts_holder(jobject object)
{
    struct unmounted_owner o;
    struct owner_place place;
    jint hash = 0;
    bool says = anybody() &&
                (*agent.jvmti)->GetObjectHashCode(agent.jvmti, object, &hash) == JVMTI_ERROR_NONE &&
                unmounted_find(said, (uint32_t)hash, &o) &&
                !owner_locate(agent.table, o.java_tid, &place) && unmounted_is_same(said, &o);
    return says ? o.java_tid : 0;
}

/* Believed when the thread has not come back since, is not mounted (it could be, if its return was
 * missed), and no thread has named itself the monitor's owner. */
uint64_t unmounts_owner(struct os_thread *self, jobject object)
{
    enum { TRIES = 4 }; /* it may be on its way from or to its carrier */
    struct unmounted_owner o;
    struct owner_place place;
    jint hash = 0;
    if (!anybody() ||
        (*agent.jvmti)->GetObjectHashCode(agent.jvmti, object, &hash) != JVMTI_ERROR_NONE)
        return 0;
    for (int i = 0; i < TRIES && unmounted_find(said, (uint32_t)hash, &o); i++)
        if (!owner_locate(agent.table, o.java_tid, &place) &&
            owner_is_anonymous(agent.table, self->java_thread) && unmounted_is_same(said, &o))
            return o.java_tid;
    return 0;
}
