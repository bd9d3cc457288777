#include "agent/asked_owners.h"

#include "agent/locks.h"
#include "agent/unmounts.h"
#include "base/clock.h"

enum {
    SLOTS = 1024, /* by thread: who comes later to a slot has it */
    TRIES = 4,
    FIRST_NS = 100 * 1000 * 1000, /* a wait of this length, */
    LATER_SHIFT = 3,              /* then eight times as long each time */
    LOCK_SHIFT = 32,
    AT_ONCE = 16, /* locks in one round: each is a safepoint */
    AT_THE_END = 256,
};

/* word: (lock, thread); 0: none.  since and tries belong to it, and are hints: a torn view asks
 * once too often or too seldom. */
static struct slot {
    _Atomic uint64_t word, since;
    _Atomic uint32_t tries;
} slots[SLOTS];

/* The locks of one round whose owner was named: an answer is of the lock, for all who wait for
 * it. */
struct answered {
    uint32_t locks[AT_THE_END];
    int n, left; /* how many may still be asked for */
};

/* A thread has been noted: until then a tick looks at one word. */
static _Atomic bool any;

static struct slot *slot_of(thread_id waiter)
{
    return &slots[waiter.v % SLOTS];
}

void asked_owners_forget(void)
{
    for (int i = 0; i < SLOTS; i++)
        atomic_store(&slots[i].word, 0);
}

void asked_owners_init(void)
{
    asked_owners_forget();
    atomic_store_explicit(&any, false, memory_order_relaxed); /* no other thread is there yet */
}

void asked_owners_note(thread_id waiter, lock_id lock, uint64_t now)
{
    struct slot *s = slot_of(waiter);
    atomic_store_explicit(&s->since, now, memory_order_relaxed);
    atomic_store_explicit(&s->tries, 0, memory_order_relaxed);
    /* seq_cst: before it blocks, so that an asker does not take it for an earlier wait's */
    atomic_store(&s->word, (uint64_t)lock.v << LOCK_SHIFT | waiter.v);
    atomic_store_explicit(&any, true, memory_order_relaxed);
}

void asked_owners_over(thread_id waiter)
{
    struct slot *s = slot_of(waiter);
    /* relaxed: the thread's own word, if it is one of its */
    if ((uint32_t)atomic_load_explicit(&s->word, memory_order_relaxed) == waiter.v)
        atomic_store(&s->word, 0);
}

static bool is_due(struct slot *s, uint64_t now)
{
    uint32_t tries = atomic_load_explicit(&s->tries, memory_order_relaxed);
    uint64_t since = atomic_load_explicit(&s->since, memory_order_relaxed);
    return atomic_load_explicit(&s->word, memory_order_relaxed) && tries < TRIES &&
           now > since + ((uint64_t)FIRST_NS << LATER_SHIFT * tries);
}

bool asked_owners_due(void)
{
    uint64_t now = clock_mono_ns();
    bool due = false;
    for (int i = 0; i < SLOTS && !due && atomic_load_explicit(&any, memory_order_relaxed); i++)
        due = is_due(&slots[i], now);
    return due;
}

/* A platform thread by the JVM itself, a virtual one only by what it said before it left its
 * carrier: JVMTI names no virtual owners. */
static thread_id owner_of(JNIEnv *jni, jobject object)
{
    jvmtiMonitorUsage u;
    thread_id owner = {0};
    if ((*agent.jvmti)->GetObjectMonitorUsage(agent.jvmti, object, &u) != JVMTI_ERROR_NONE)
        return owner;
    owner = u.owner ? threads_of(jni, u.owner) : threads_by_tid(jni, unmounts_holder(object));
    for (jint i = 0; i < u.waiter_count; i++)
        (*jni)->DeleteLocalRef(jni, u.waiters[i]);
    for (jint i = 0; i < u.notify_waiter_count; i++)
        (*jni)->DeleteLocalRef(jni, u.notify_waiters[i]);
    (*jni)->DeleteLocalRef(jni, u.owner);
    jvmti_free(u.waiters);
    jvmti_free(u.notify_waiters);
    return owner;
}

static bool was_answered(const struct answered *a, uint32_t lock)
{
    for (int i = 0; i < a->n; i++)
        if (a->locks[i] == lock)
            return true;
    return false;
}

/* The waiter of `word` waits for it still, in the wait that began then. */
static bool waits_still(const struct slot *s, uint64_t word, uint64_t since)
{
    return atomic_load(&s->word) == word && atomic_load(&s->since) == since;
}

static void ask(JNIEnv *jni, struct os_thread *self, struct slot *s, struct answered *a)
{
    uint64_t word = atomic_load(&s->word), since = atomic_load(&s->since);
    const lock_id lock = {(uint32_t)(word >> LOCK_SHIFT)};
    const thread_id waiter = {(uint32_t)word};
    atomic_fetch_add_explicit(&s->tries, 1, memory_order_relaxed);
    if (was_answered(a, lock.v))
        return;
    a->left--;
    jobject object = word ? locks_find(jni, lock.v) : NULL;
    thread_id owner = object ? owner_of(jni, object) : (thread_id){0};
    (*jni)->DeleteLocalRef(jni, object);
    if (!owner.v || owner.v == waiter.v)
        return;
    uint64_t now = clock_mono_ns();
    struct event *e = waits_still(s, word, since)
                          ? ring_begin(self->ring, EV_wait_owner, waiter, now)
                          : NULL; /* it has it, or waits anew */
    if (!e)
        return;
    e->wait_owner.lock = lock;
    e->wait_owner.owner = owner;
    ring_commit(self->ring, e);
    a->locks[a->n++] = lock.v;
    atomic_store_explicit(&s->tries, TRIES, memory_order_relaxed);
}

void asked_owners_ask(JNIEnv *jni, bool all)
{
    struct os_thread *self = os_thread_self(jni);
    struct answered answered;
    uint64_t now = clock_mono_ns();
    if (!self || !atomic_load_explicit(&any, memory_order_relaxed))
        return;
    answered.n = 0;
    answered.left = all ? AT_THE_END : AT_ONCE;
    for (int i = 0; i < SLOTS && answered.left; i++) {
        uint32_t tries = atomic_load_explicit(&slots[i].tries, memory_order_relaxed);
        bool open =
            all && tries < TRIES && atomic_load_explicit(&slots[i].word, memory_order_relaxed);
        if (open || is_due(&slots[i], now))
            ask(jni, self, &slots[i], &answered);
    }
}
