#include "agent/owner_proof.h"

#include "agent/lacks.h"

#include <stdatomic.h>

/* Enough of the same is a proof; so many that differ, and none that is the same, refute it.  Virtual
 * owners, and who has just left, prove nothing. */
enum { TRIES = 64, DIFFERENT = 3 };

static _Atomic bool settled;
static _Atomic uint32_t tries, different;

void owner_proof_init(bool owners)
{
    atomic_store_explicit(&settled, !owners, memory_order_relaxed); /* nobody else is there yet */
    atomic_store_explicit(&tries, 0, memory_order_relaxed);
    atomic_store_explicit(&different, 0, memory_order_relaxed);
}

bool owner_proof_due(void)
{
    return !atomic_load_explicit(&settled, memory_order_relaxed);
}

static thread_id by_jvmti(const struct owner_proof *p)
{
    JNIEnv *jni = p->jni;
    jvmtiMonitorUsage u;
    thread_id owner = {0};
    if ((*p->jvmti)->GetObjectMonitorUsage(p->jvmti, p->object, &u) != JVMTI_ERROR_NONE)
        return owner;
    if (u.owner)
        owner = p->platform(jni, u.owner);
    for (jint i = 0; i < u.waiter_count; i++)
        (*jni)->DeleteLocalRef(jni, u.waiters[i]);
    for (jint i = 0; i < u.notify_waiter_count; i++)
        (*jni)->DeleteLocalRef(jni, u.notify_waiters[i]);
    (*jni)->DeleteLocalRef(jni, u.owner);
    (*p->jvmti)->Deallocate(p->jvmti, (unsigned char *)u.waiters);
    (*p->jvmti)->Deallocate(p->jvmti, (unsigned char *)u.notify_waiters);
    return owner;
}

static void settle(void)
{
    atomic_store_explicit(&settled, true, memory_order_relaxed);
}

static void refute(struct thread_table *table)
{
    settle();
    thread_table_hide_owners(table);
    lacks_note("owners of monitors are not what JVMTI says on this JVM: they are recorded as "
               "unknown");
}

thread_id owner_proof(const struct owner_proof *p, thread_id owner)
{
    static const thread_id unknown;
    if (atomic_fetch_add_explicit(&tries, 1, memory_order_relaxed) >= TRIES)
        settle();
    thread_id theirs = by_jvmti(p);
    if (!theirs.v)
        return owner;
    if (theirs.v == owner.v) {
        settle();
        return owner;
    }
    /* it may have changed hands */
    if (p->read(p->jni, p->self, p->object).v == owner.v &&
        atomic_fetch_add_explicit(&different, 1, memory_order_relaxed) + 1 >= DIFFERENT)
        refute(p->table);
    return unknown;
}
