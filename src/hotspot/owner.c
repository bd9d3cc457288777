#include "hotspot/owner.h"

#include "base/guarded_x86_64.h"
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
    bool carrier;
    _Atomic bool live; /* linked */
    struct entry *next_free;
};

/* Searches run between enter and leave; a removal unlinks the entry, moves the epoch on and waits
 * until the searches of the old epoch are gone: then no search can still hold the entry. */
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

void thread_table_free(struct thread_table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < SEGMENTS; i++)
        free(atomic_load_explicit(&t->segments[i], memory_order_relaxed));
    pthread_mutex_destroy(&t->lock);
    free(t);
}

/* --- searches and removals -------------------------------------------------------------------- */

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

/* 0: there is none. */
static uint64_t word_at(uintptr_t base, long offset)
{
    uint64_t word = 0;
    return guarded_u64(base + (uintptr_t)offset, &word) ? word : 0;
}

static void link(_Atomic(struct entry *) *head, _Atomic(struct entry *) *next, struct entry *e)
{
    atomic_store_explicit(next, atomic_load_explicit(head, memory_order_relaxed),
                          memory_order_relaxed);
    /* release: the entry's fields come first */
    atomic_store_explicit(head, e, memory_order_release);
}

bool thread_table_add(struct thread_table *t, uintptr_t java_thread, uint64_t java_tid, uint32_t id,
                      bool carrier)
{
    pthread_mutex_lock(&t->lock);
    struct entry *e = new_entry(t);
    if (e) {
        const struct vm_layout *l = &t->layout;
        e->java_thread = java_thread;
        e->java_tid = java_tid;
        e->id = id;
        e->carrier = carrier;
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

void thread_table_each(struct thread_table *t,
                       void (*visit)(void *ctx, uintptr_t java_thread, uint32_t id), void *ctx)
{
    pthread_mutex_lock(&t->lock);
    uint32_t n = atomic_load_explicit(&t->used, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++) {
        const struct entry *e =
            atomic_load_explicit(&t->segments[i / SEGMENT], memory_order_relaxed) + i % SEGMENT;
        if (atomic_load_explicit(&e->live, memory_order_relaxed) && e->java_thread)
            visit(ctx, e->java_thread, e->id);
    }
    pthread_mutex_unlock(&t->lock);
}

/* --- owners ----------------------------------------------------------------------------------- */

typedef bool (*match_fn)(const struct thread_table *t, const struct entry *e, uintptr_t what);

/* But not `except`, which may be NULL. */
static struct entry *scan(struct thread_table *t, match_fn match, uintptr_t what,
                          const struct entry *except)
{
    /* acquire: pairs with new_entry */
    uint32_t n = atomic_load_explicit(&t->used, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        struct entry *e = atomic_load_explicit(&t->segments[i / SEGMENT], memory_order_acquire);
        e += i % SEGMENT;
        /* acquire: pairs with thread_table_add */
        if (atomic_load_explicit(&e->live, memory_order_acquire) && e->java_thread && e != except &&
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

/* The slots of a thread's lock stack that are in use. */
static size_t lock_stack(const struct vm_layout *l, uintptr_t java_thread, uintptr_t *first)
{
    uintptr_t stack = java_thread + (uintptr_t)l->lock_stack;
    uintptr_t base = (uintptr_t)(l->lock_stack + l->lock_stack_base);
    uint32_t top;
    /* _top is the offset of the first free slot from the start of the JavaThread */
    if (!guarded_u32(stack + (uintptr_t)l->lock_stack_top, &top))
        return 0;
    if (top < base || top > base + OWNER_LOCKS * sizeof(uintptr_t))
        return 0;
    *first = java_thread + base;
    return (top - base) / sizeof(uintptr_t);
}

static bool names_object(const struct vm_layout *l, uintptr_t java_thread, uintptr_t oop)
{
    uintptr_t first;
    uint64_t entry;
    size_t n = lock_stack(l, java_thread, &first);
    for (size_t i = 0; i < n; i++)
        if (guarded_u64(first + i * sizeof(uintptr_t), &entry) && entry == oop)
            return true;
    return false;
}

size_t owner_own_locks(const struct vm_layout *l, uintptr_t java_thread,
                       uintptr_t slots[OWNER_LOCKS])
{
    uintptr_t first;
    size_t n = lock_stack(l, java_thread, &first);
    for (size_t i = 0; i < n; i++)
        slots[i] = first + i * sizeof(uintptr_t);
    return n;
}

static bool in_lock_stack(const struct thread_table *t, const struct entry *e, uintptr_t oop)
{
    return names_object(&t->layout, e->java_thread, oop);
}

/* What a search has found: the answer, and the platform thread that runs the owner now. */
struct found {
    struct owner owner;
    const struct entry *runs; /* NULL: none, or not known */
    bool carried;             /* it is a virtual thread */
};

static bool runs(const struct thread_table *t, const struct entry *e, uintptr_t java_tid)
{
    return mounted_tid(&t->layout, e->java_thread) == java_tid;
}

/* `where`: look for the carrier of a virtual thread, too. */
static struct found by_tid(struct thread_table *t, uint64_t java_tid, bool where)
{
    const struct entry *e = java_tid ? find_tid(t, java_tid) : NULL;
    struct found f = {.owner = {.id = e ? e->id : 0, .java_tid = java_tid}, .runs = e};
    f.carried = !e || !e->java_thread;
    if (f.carried)
        f.runs =
            where && java_tid && mounted_known(&t->layout) ? scan(t, runs, java_tid, NULL) : NULL;
    return f;
}

/* Whom a platform thread acts for just now, itself or the virtual thread that it runs. */
static struct found by_platform_thread(struct thread_table *t, const struct entry *e)
{
    const struct vm_layout *l = &t->layout;
    struct found self = {.owner = {.id = e->id, .java_tid = e->java_tid}, .runs = e};
    if (l->owner_is_tid || l->vthread >= 0 || e->carrier) {
        /* A carrier that seems to run no thread is about to, or about to stop, or cannot (it tries
         * to leave a thread that is pinned): what it owns then may be the virtual thread's. */
        if (!l->owner_is_tid && !e->carrier && mounted_nobody(l, e->java_thread))
            return self;
        uint64_t tid = mounted_tid(l, e->java_thread);
        self = tid && (tid != e->java_tid || !e->carrier || l->owner_is_tid) ? by_tid(t, tid, false)
                                                                             : (struct found){0};
        self.runs = tid ? e : NULL;
    }
    return self;
}

/* JDK 17-23: a JavaThread, or a place on the owner's stack, which is the carrier's where a virtual
 * thread owns the monitor (it stays mounted). */
static struct found by_address(struct thread_table *t, uintptr_t monitor, uintptr_t address)
{
    struct entry *e = atomic_load_explicit(bucket(t->by_jt, address), memory_order_acquire);
    while (e && e->java_thread != address)
        e = atomic_load_explicit(&e->next_jt, memory_order_acquire);
    if (!e)
        e = scan(t, on_stack, address, NULL);
    struct found f = e ? by_platform_thread(t, e) : (struct found){0};
    /* Whom it ran counts only if it still owns the monitor. */
    atomic_thread_fence(memory_order_acquire);
    return f.carried && word_at(monitor, t->layout.monitor_owner) != address ? (struct found){0}
                                                                             : f;
}

/* The thread whose lock stack names the object.  The collector may move the object during that: the
 * answer counts only if the object's address and the owner field are the same before and after. */
static struct found by_lock_stack(struct thread_table *t, uintptr_t monitor, const uintptr_t *oop)
{
    const struct vm_layout *l = &t->layout;
    struct found none = {.owner = {.anonymous = true}};
    uintptr_t address = __atomic_load_n(oop, __ATOMIC_RELAXED);
    if (!address || l->lock_stack < 0 || l->lock_stack_top < 0 || l->lock_stack_base < 0)
        return none;
    const struct entry *e = scan(t, in_lock_stack, address, NULL);
    /* The lock stack of a thread that has slept since may have an address that is another object's
     * by now. */
    if (!e || (l->moving && scan(t, in_lock_stack, address, e)))
        return none;
    struct found f = by_platform_thread(t, e);
    f.owner.anonymous = true;
    atomic_thread_fence(memory_order_acquire);
    if (__atomic_load_n(oop, __ATOMIC_RELAXED) != address || !in_lock_stack(t, e, address) ||
        word_at(monitor, l->monitor_owner) != OWNER_ANONYMOUS)
        return none;
    return f;
}

static struct found search(struct thread_table *t, uintptr_t monitor, const uintptr_t *oop,
                           bool where)
{
    const struct vm_layout *l = &t->layout;
    uint64_t owner = word_at(monitor, l->monitor_owner);
    struct found none = {.owner = {.gone = owner == 0}};
    if (owner == OWNER_ANONYMOUS) /* whether or not lock stacks are known */
        return oop ? by_lock_stack(t, monitor, oop) : none;
    if (owner == 0 || owner == OWNER_DEFLATER)
        return none;
    return l->owner_is_tid ? by_tid(t, owner, where) : by_address(t, monitor, owner);
}

bool owner_is_anonymous(const struct thread_table *t, uintptr_t java_thread)
{
    uintptr_t monitor =
        t->owners && java_thread ? word_at(java_thread, t->layout.pending_monitor) : 0;
    return monitor && word_at(monitor, t->layout.monitor_owner) == OWNER_ANONYMOUS;
}

/* Whether the thread runs native code that is not the JVM's; false when that is not known. */
static bool is_in_native(const struct vm_layout *l, uintptr_t java_thread)
{
    uint32_t state;
    return l->state >= 0 && guarded_u32(java_thread + (uintptr_t)l->state, &state) &&
           state == l->in_native;
}

/* Guarded: a thread that ends while it is looked at may be freed by the JVM at any moment. */
static void fill_place(const struct thread_table *t, const struct found *f, uintptr_t monitor,
                       struct owner_place *p)
{
    if (!f->runs)
        return;
    *p = (struct owner_place){.monitor = monitor,
                              .java_thread = f->runs->java_thread,
                              .stack_low = f->runs->stack_low,
                              .stack_high = f->runs->stack_high,
                              .os_tid = os_thread_id(&t->layout, f->runs->java_thread),
                              .id = f->runs->id,
                              .in_native = is_in_native(&t->layout, f->runs->java_thread),
                              .carries = f->carried,
                              .java_tid = f->owner.java_tid};
}

bool owner_locate(struct thread_table *t, uint64_t java_tid, struct owner_place *place)
{
    *place = (struct owner_place){0};
    uint32_t epoch = enter(t);
    struct found f = by_tid(t, java_tid, true);
    fill_place(t, &f, 0, place);
    leave(t, epoch);
    return place->java_thread != 0;
}

struct owner owner_of_monitor(struct thread_table *t, uintptr_t monitor, const uintptr_t *oop,
                              struct owner_place *place)
{
    struct owner none = {0};
    if (place)
        *place = (struct owner_place){0};
    if (!t->owners || !monitor)
        return none;
    uint32_t epoch = enter(t);
    struct found f = search(t, monitor, oop, place != NULL);
    if (place)
        fill_place(t, &f, monitor, place);
    leave(t, epoch);
    return f.owner;
}

struct owner owner_find(struct thread_table *t, uintptr_t java_thread, const uintptr_t *oop,
                        struct owner_place *place)
{
    uintptr_t monitor =
        t->owners && java_thread ? word_at(java_thread, t->layout.pending_monitor) : 0;
    return owner_of_monitor(t, monitor, oop, place);
}

/* Guarded: the thread of this place may have ended since, and the calling thread may have got its
 * number and its stack. */
bool owner_is(const struct vm_layout *l, const struct owner_place *p, const uintptr_t *oop)
{
    uint64_t owner, address, mounted;
    if (!guarded_u64(p->monitor + (uintptr_t)l->monitor_owner, &owner) || owner == 0 ||
        owner == OWNER_DEFLATER)
        return false;
    if (owner == OWNER_ANONYMOUS)
        return l->lock_stack >= 0 && oop && guarded_u64((uintptr_t)oop, &address) &&
               names_object(l, p->java_thread, address);
    if (l->owner_is_tid)
        return guarded_u64(p->java_thread + (uintptr_t)l->monitor_owner_id, &mounted) &&
               mounted == owner;
    return owner == p->java_thread || (owner >= p->stack_low && owner < p->stack_high);
}

uint32_t os_thread_id(const struct vm_layout *l, uintptr_t java_thread)
{
    if (!java_thread || l->osthread < 0 || l->os_thread_id < 0)
        return 0;
    uint64_t os;
    uint32_t tid;
    bool known = guarded_u64(java_thread + (uintptr_t)l->osthread, &os) && os &&
                 guarded_u32((uintptr_t)os + (uintptr_t)l->os_thread_id, &tid);
    return known ? tid : 0;
}
