#include "hotspot/owner.h"

#include "base/hash.h"
#include "base/util.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 4096,
    SEGMENT = 1024,
    SEGMENTS = 1024, /* at most SEGMENT * SEGMENTS threads at a time */
    LOCK_STACK_MAX = 8,
    OWNER_ANONYMOUS = 1,
    OWNER_DEFLATER = 2,
};

/* A thread.  Written under the mutex before it is linked; not changed while linked. */
struct entry {
    _Atomic(struct entry *) next_tid, next_jt; /* in the two hash chains */
    uintptr_t java_thread;                     /* 0: virtual */
    uintptr_t stack_low, stack_high;
    uint64_t java_tid;
    uint32_t id;
    _Atomic bool live; /* linked */
    struct entry *next_free;
};

/* Searches run between enter and leave; a removal unlinks the entry, moves the epoch on and waits
 * until the searches of the old epoch are gone: then nobody can hold the entry any more. */
struct thread_table {
    struct vm_layout layout;
    bool owners;
    pthread_mutex_t lock;
    _Atomic uint32_t epoch;
    _Atomic uint32_t searching[2];
    _Atomic(struct entry *) by_tid[BUCKETS], by_jt[BUCKETS];
    _Atomic(struct entry *) segments[SEGMENTS];
    _Atomic uint32_t used; /* entries ever handed out */
    struct entry *free;
};

int thread_table_new(struct thread_table **out, const struct vm_layout *layout, bool owners)
{
    struct thread_table *t = calloc(1, sizeof *t);
    *out = t;
    if (!t)
        return -ENOMEM;
    t->layout = *layout;
    t->owners = owners;
    pthread_mutex_init(&t->lock, NULL);
    return 0;
}

/* --- searches and removals ----------------------------------------------------------------------
 */

static uint32_t enter(struct thread_table *t)
{
    for (;;) {
        uint32_t e = atomic_load_explicit(&t->epoch, memory_order_relaxed) & 1;
        /* seq_cst, here and in wait_for_searches: either the remover sees our count, or we see its
         * epoch and its unlinking */
        atomic_fetch_add(&t->searching[e], 1);
        if ((atomic_load(&t->epoch) & 1) == e)
            return e;
        atomic_fetch_sub(&t->searching[e], 1);
    }
}

static void leave(struct thread_table *t, uint32_t e)
{
    /* release: our reads of entries are over */
    atomic_fetch_sub_explicit(&t->searching[e], 1, memory_order_release);
}

/* Under the mutex. */
static void wait_for_searches(struct thread_table *t)
{
    uint32_t old = atomic_fetch_add(&t->epoch, 1) & 1;
    /* acquire: pairs with leave */
    while (atomic_load(&t->searching[old]) != 0)
        sched_yield();
}

static _Atomic(struct entry *) *bucket(_Atomic(struct entry *) *table, uint64_t key)
{
    return &table[hash_u64(key) % BUCKETS];
}

static struct entry *new_entry(struct thread_table *t)
{
    struct entry *e = t->free;
    if (e) {
        t->free = e->next_free;
        return e;
    }
    uint32_t n = atomic_load_explicit(&t->used, memory_order_relaxed);
    if (n == (uint32_t)SEGMENT * SEGMENTS)
        return NULL;
    struct entry *segment = atomic_load_explicit(&t->segments[n / SEGMENT], memory_order_relaxed);
    if (!segment) {
        segment = calloc(SEGMENT, sizeof *segment);
        if (!segment)
            return NULL;
        atomic_store_explicit(&t->segments[n / SEGMENT], segment, memory_order_release);
    }
    /* release: a scan that sees the count sees the segment */
    atomic_store_explicit(&t->used, n + 1, memory_order_release);
    return &segment[n % SEGMENT];
}

static uint64_t word_at(uintptr_t base, long offset)
{
    return __atomic_load_n((const uint64_t *)(base + (uintptr_t)offset), __ATOMIC_RELAXED);
}

static void link(_Atomic(struct entry *) *head, _Atomic(struct entry *) *next, struct entry *e)
{
    atomic_store_explicit(next, atomic_load_explicit(head, memory_order_relaxed),
                          memory_order_relaxed);
    /* release: the entry's fields come first */
    atomic_store_explicit(head, e, memory_order_release);
}

bool thread_table_add(struct thread_table *t, uintptr_t java_thread, uint64_t java_tid, uint32_t id)
{
    pthread_mutex_lock(&t->lock);
    struct entry *e = new_entry(t);
    if (e) {
        const struct vm_layout *l = &t->layout;
        e->java_thread = java_thread;
        e->java_tid = java_tid;
        e->id = id;
        e->stack_low = e->stack_high = 0;
        if (java_thread && l->stack_base >= 0 && l->stack_size >= 0) {
            e->stack_high = word_at(java_thread, l->stack_base);
            e->stack_low = e->stack_high - word_at(java_thread, l->stack_size);
        }
        link(bucket(t->by_tid, java_tid), &e->next_tid, e);
        if (java_thread)
            link(bucket(t->by_jt, java_thread), &e->next_jt, e);
        atomic_store_explicit(&e->live, true, memory_order_release);
    }
    pthread_mutex_unlock(&t->lock);
    return e != NULL;
}

static void unlink_entry(_Atomic(struct entry *) *head, struct entry *e, size_t next_at)
{
    _Atomic(struct entry *) *at = head;
    struct entry *x;
    while ((x = atomic_load_explicit(at, memory_order_relaxed)) && x != e)
        at = (_Atomic(struct entry *) *)((char *)x + next_at);
    if (x)
        atomic_store_explicit(at,
                              atomic_load_explicit((_Atomic(struct entry *) *)((char *)e + next_at),
                                                   memory_order_relaxed),
                              memory_order_release);
}

static struct entry *find_tid(struct thread_table *t, uint64_t java_tid)
{
    /* acquire: pairs with link */
    struct entry *e = atomic_load_explicit(bucket(t->by_tid, java_tid), memory_order_acquire);
    while (e && e->java_tid != java_tid)
        e = atomic_load_explicit(&e->next_tid, memory_order_acquire);
    return e;
}

void thread_table_remove(struct thread_table *t, uint64_t java_tid)
{
    pthread_mutex_lock(&t->lock);
    struct entry *e = find_tid(t, java_tid);
    if (e) {
        atomic_store_explicit(&e->live, false, memory_order_relaxed);
        unlink_entry(bucket(t->by_tid, java_tid), e, offsetof(struct entry, next_tid));
        if (e->java_thread)
            unlink_entry(bucket(t->by_jt, e->java_thread), e, offsetof(struct entry, next_jt));
        wait_for_searches(t);
        e->next_free = t->free;
        t->free = e;
    }
    pthread_mutex_unlock(&t->lock);
}

uint32_t thread_table_find(struct thread_table *t, uint64_t java_tid)
{
    uint32_t epoch = enter(t);
    const struct entry *e = find_tid(t, java_tid);
    uint32_t id = e ? e->id : 0;
    leave(t, epoch);
    return id;
}

/* --- owners -------------------------------------------------------------------------------------
 */

typedef bool (*match_fn)(const struct thread_table *t, const struct entry *e, uintptr_t what);

static struct entry *scan(struct thread_table *t, match_fn match, uintptr_t what)
{
    /* acquire: pairs with new_entry */
    uint32_t n = atomic_load_explicit(&t->used, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        struct entry *e = atomic_load_explicit(&t->segments[i / SEGMENT], memory_order_acquire);
        e += i % SEGMENT;
        /* acquire: pairs with thread_table_add */
        if (atomic_load_explicit(&e->live, memory_order_acquire) && e->java_thread &&
            match(t, e, what))
            return e;
    }
    return NULL;
}

static bool on_stack(const struct thread_table *t, const struct entry *e, uintptr_t address)
{
    UNUSED(t);
    return address >= e->stack_low && address < e->stack_high;
}

static bool in_lock_stack(const struct thread_table *t, const struct entry *e, uintptr_t oop)
{
    const struct vm_layout *l = &t->layout;
    uintptr_t stack = e->java_thread + (uintptr_t)l->lock_stack;
    /* _top is the offset of the first free slot from the start of the JavaThread */
    uint32_t top =
        __atomic_load_n((const uint32_t *)(stack + (uintptr_t)l->lock_stack_top), __ATOMIC_RELAXED);
    uintptr_t base = (uintptr_t)(l->lock_stack + l->lock_stack_base);
    if (top < base || top > base + LOCK_STACK_MAX * sizeof(uintptr_t))
        return false;
    for (uintptr_t at = base; at < top; at += sizeof(uintptr_t))
        if (word_at(e->java_thread, (long)at) == oop)
            return true;
    return false;
}

static struct owner by_tid(struct thread_table *t, uint64_t java_tid)
{
    const struct entry *e = java_tid ? find_tid(t, java_tid) : NULL;
    return (struct owner){.id = e ? e->id : 0, .java_tid = java_tid};
}

/* JDK 17-23: a JavaThread, or a place on the owner's stack. */
static struct owner by_address(struct thread_table *t, uintptr_t address)
{
    struct entry *e = atomic_load_explicit(bucket(t->by_jt, address), memory_order_acquire);
    while (e && e->java_thread != address)
        e = atomic_load_explicit(&e->next_jt, memory_order_acquire);
    if (!e)
        e = scan(t, on_stack, address);
    /* On JDK 21-23 the address is the carrier's even when a virtual thread owns the monitor. */
    if (e && t->layout.vthread >= 0 && !t->layout.owner_is_tid)
        return (struct owner){0};
    return (struct owner){.id = e ? e->id : 0};
}

/* The thread whose lock stack names the object.  The collector may move the object meanwhile: the
 * answer counts only if the object's address and the owner field are the same before and after. */
static struct owner by_lock_stack(struct thread_table *t, uintptr_t monitor, const uintptr_t *oop)
{
    const struct vm_layout *l = &t->layout;
    uintptr_t address = __atomic_load_n(oop, __ATOMIC_RELAXED);
    if (!address || l->lock_stack < 0 || l->lock_stack_top < 0 || l->lock_stack_base < 0)
        return (struct owner){0};
    const struct entry *e = scan(t, in_lock_stack, address);
    if (!e)
        return (struct owner){0};
    struct owner o = {.id = e->id};
    if (l->monitor_owner_id >= 0) /* the mounted virtual thread, when there is one */
        o = by_tid(t, word_at(e->java_thread, l->monitor_owner_id));
    atomic_thread_fence(memory_order_acquire);
    if (__atomic_load_n(oop, __ATOMIC_RELAXED) != address || !in_lock_stack(t, e, address) ||
        word_at(monitor, l->monitor_owner) != OWNER_ANONYMOUS)
        return (struct owner){0};
    return o;
}

struct owner owner_find(struct thread_table *t, uintptr_t java_thread, const uintptr_t *oop)
{
    const struct vm_layout *l = &t->layout;
    struct owner none = {0};
    if (!t->owners || !java_thread)
        return none;
    uintptr_t monitor = word_at(java_thread, l->pending_monitor);
    if (!monitor)
        return none;
    uint32_t epoch = enter(t);
    uint64_t owner = word_at(monitor, l->monitor_owner);
    struct owner o = {.gone = owner == 0};
    if (owner == OWNER_ANONYMOUS && l->lock_stack >= 0)
        o = oop ? by_lock_stack(t, monitor, oop) : none;
    else if (owner == 0)
        ;
    else if (l->owner_is_tid)
        o = owner == OWNER_DEFLATER ? none : by_tid(t, owner);
    else if (owner > OWNER_DEFLATER)
        o = by_address(t, owner);
    leave(t, epoch);
    return o;
}

uint64_t mounted_tid(const struct vm_layout *l, uintptr_t java_thread)
{
    return java_thread && l->monitor_owner_id >= 0 ? word_at(java_thread, l->monitor_owner_id) : 0;
}

uint32_t os_thread_id(const struct vm_layout *l, uintptr_t java_thread)
{
    if (!java_thread || l->osthread < 0 || l->os_thread_id < 0)
        return 0;
    uintptr_t os = word_at(java_thread, l->osthread);
    uint32_t tid = 0;
    if (os)
        memcpy(&tid, (const char *)os + l->os_thread_id, sizeof tid);
    return tid;
}
