/* owner_test.c - owners read from memory that looks like a JVM's, in the ways of JDK 17 and of
 * JDK 25. */
#include "hotspot/owner.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A JavaThread and an ObjectMonitor with just the fields that are read. */
struct fake_thread {
    uintptr_t pending_monitor;
    uint64_t monitor_owner_id;
    uintptr_t stack_base, stack_size;
    struct {
        uint32_t top;
        uintptr_t slots[8];
    } lock_stack;
    uintptr_t osthread;
    uintptr_t thread_obj, vthread, jvmti_vthread;
};
struct fake_monitor {
    uint64_t owner;
};
struct fake_os {
    char pad[12];
    uint32_t tid;
};

static bool moving; /* the collector moves objects while threads run */

static struct vm_layout layout(bool tid)
{
    struct vm_layout l;
    memset(&l, 0xff, sizeof l);
    l.pending_monitor = offsetof(struct fake_thread, pending_monitor);
    l.stack_base = offsetof(struct fake_thread, stack_base);
    l.stack_size = offsetof(struct fake_thread, stack_size);
    l.osthread = offsetof(struct fake_thread, osthread);
    l.os_thread_id = offsetof(struct fake_os, tid);
    l.monitor_owner = offsetof(struct fake_monitor, owner);
    l.owner_is_tid = tid;
    l.moving = moving;
    l.oops = (struct oops){0};
    l.tid = -1;
    if (tid) {
        l.monitor_owner_id = offsetof(struct fake_thread, monitor_owner_id);
        l.lock_stack = offsetof(struct fake_thread, lock_stack);
        l.lock_stack_top = 0;
        l.lock_stack_base = 8;
    }
    return l;
}

static uint32_t lock_stack_top(int entries)
{
    return (uint32_t)(offsetof(struct fake_thread, lock_stack) + 8 + (size_t)entries * 8);
}

static struct fake_thread threads[3];
static struct fake_monitor monitor;
static struct thread_table *table;

static void set_up(bool tid)
{
    struct vm_layout l = layout(tid);
    memset(threads, 0, sizeof threads);
    cr_assert_eq(thread_table_new(&table, &l, true), 0);
    for (uint32_t i = 0; i < 3; i++) {
        threads[i].stack_base = 0x100000u * (i + 2);
        threads[i].stack_size = 0x80000;
        threads[i].monitor_owner_id = 30 + i;
        threads[i].lock_stack.top = lock_stack_top(0);
        cr_assert(thread_table_add(table, (uintptr_t)&threads[i], 30 + i, i + 1, false));
    }
    threads[0].pending_monitor = (uintptr_t)&monitor;
}

static struct owner ask(const uintptr_t *oop)
{
    return owner_find(table, (uintptr_t)&threads[0], oop, NULL);
}

Test(owner, jdk17_java_thread_or_stack_address)
{
    set_up(false);
    monitor.owner = 0;
    cr_assert(ask(NULL).id == 0 && ask(NULL).gone, "just released");
    monitor.owner = (uintptr_t)&threads[2];
    cr_assert(ask(NULL).id == 3 && !ask(NULL).gone);
    monitor.owner = 0x300000 - 8; /* in the second thread's stack */
    cr_assert_eq(ask(NULL).id, 2);
    monitor.owner = 0x300000 - 0x80000;
    cr_assert_eq(ask(NULL).id, 2, "its lowest byte");
    monitor.owner = 0x300000 - 0x80000 - 8;
    cr_assert_eq(ask(NULL).id, 0, "below it");
    monitor.owner = 0x300000;
    cr_assert_eq(ask(NULL).id, 0, "above it");
    thread_table_remove(table, 32);
    monitor.owner = (uintptr_t)&threads[2];
    cr_assert(ask(NULL).id == 0 && !ask(NULL).gone, "ended: somebody owns it, nobody known");
    threads[0].pending_monitor = 0;
    cr_assert_eq(ask(NULL).id, 0, "not blocking");
}

/* --- JDK 21: whom a platform thread runs is told by objects ----------------------------------- */

enum { TID_AT = 16 };
static struct fake_object {
    char pad[TID_AT];
    uint64_t tid;
} objects[5]; /* of the three threads, and of two virtual ones: 30 + i */
static uintptr_t handles[5];
static uint32_t pauses;
static uint8_t stopped;

static void set_up_21(void)
{
    struct vm_layout l = layout(false);
    l.thread_obj = offsetof(struct fake_thread, thread_obj);
    l.vthread = offsetof(struct fake_thread, vthread);
    l.jvmti_vthread = offsetof(struct fake_thread, jvmti_vthread);
    l.tid = TID_AT;
    l.oops =
        (struct oops){.known = true, .stopped = (uintptr_t)&stopped, .pauses = (uintptr_t)&pauses};
    memset(threads, 0, sizeof threads);
    cr_assert_eq(thread_table_new(&table, &l, true), 0);
    for (uint32_t i = 0; i < 5; i++) {
        objects[i].tid = 30 + i;
        handles[i] = (uintptr_t)&objects[i];
    }
    for (uint32_t i = 0; i < 3; i++) {
        threads[i].stack_base = 0x100000u * (i + 2);
        threads[i].stack_size = 0x80000;
        threads[i].thread_obj = threads[i].vthread = (uintptr_t)&handles[i];
        threads[i].jvmti_vthread = (uintptr_t)&handles[i];
        cr_assert(thread_table_add(table, (uintptr_t)&threads[i], 30 + i, i + 1, i == 2));
    }
    threads[0].pending_monitor = (uintptr_t)&monitor;
    cr_assert(thread_table_add(table, 0, 33, 99, false));
}

Test(owner, jdk21_platform_thread)
{
    set_up_21();
    monitor.owner = (uintptr_t)&threads[1];
    cr_assert(ask(NULL).id == 2 && ask(NULL).java_tid == 31);
    stopped = 1;
    cr_assert_eq(ask(NULL).id, 2, "its objects are the same whatever a collector does");
    monitor.owner = 0x300000 - 8;
    cr_assert_eq(ask(NULL).id, 2, "a lock record on its stack");
    threads[1].jvmti_vthread = (uintptr_t)&handles[3];
    stopped = 0;
    cr_assert_eq(ask(NULL).id, 2, "it acts for itself");
}

Test(owner, jdk21_virtual_thread)
{
    struct owner_place place;
    set_up_21();
    monitor.owner = (uintptr_t)&threads[2];
    threads[2].vthread = threads[2].jvmti_vthread = (uintptr_t)&handles[3];
    struct owner o = owner_find(table, (uintptr_t)&threads[0], NULL, &place);
    cr_assert(o.id == 99 && o.java_tid == 33 && place.carries && place.java_tid == 33 &&
              place.java_thread == (uintptr_t)&threads[2]);
    threads[2].vthread = (uintptr_t)&handles[4];
    o = ask(NULL);
    cr_assert(o.id == 0 && o.java_tid == 34, "one that nobody met");
    stopped = 1;
    cr_assert(ask(NULL).id == 0 && ask(NULL).java_tid == 0, "objects are being moved");
    stopped = 0;
    monitor.owner = 0x400000 - 8;
    cr_assert_eq(ask(NULL).java_tid, 34, "a lock record on its carrier's stack");
}

/* What a carrier owns that is between two threads may be either's. */
Test(owner, jdk21_carrier)
{
    set_up_21();
    monitor.owner = (uintptr_t)&threads[2];
    cr_assert(ask(NULL).id == 0 && ask(NULL).java_tid == 0 && !ask(NULL).gone);
    threads[2].jvmti_vthread = (uintptr_t)&handles[3];
    cr_assert(ask(NULL).id == 0 && ask(NULL).java_tid == 0 && !ask(NULL).gone);
}

Test(owner, jdk25_thread_id)
{
    set_up(true);
    monitor.owner = 31;
    cr_assert_eq(ask(NULL).id, 2);
    monitor.owner = 4711; /* a virtual thread that nobody met */
    struct owner o = ask(NULL);
    cr_assert(o.id == 0 && o.java_tid == 4711);
    cr_assert(thread_table_add(table, 0, 4711, 99, false));
    cr_assert_eq(ask(NULL).id, 99);
    monitor.owner = 2; /* being deflated */
    cr_assert(ask(NULL).id == 0 && ask(NULL).java_tid == 0 && !ask(NULL).gone);
    monitor.owner = 0;
    cr_assert(ask(NULL).gone);
}

Test(owner, jdk25_anonymous)
{
    uintptr_t oop = 0xabcdef00;
    set_up(true);
    monitor.owner = 1;
    cr_assert_eq(ask(&oop).id, 0, "on no lock stack");
    threads[1].lock_stack.slots[0] = 0x1111;
    threads[1].lock_stack.slots[1] = oop;
    threads[1].lock_stack.top = lock_stack_top(1);
    cr_assert_eq(ask(&oop).id, 0, "above the top");
    threads[1].lock_stack.top = lock_stack_top(2);
    cr_assert_eq(ask(&oop).id, 2);
    threads[1].monitor_owner_id = 500; /* a virtual thread is mounted there */
    cr_assert_eq(ask(&oop).java_tid, 500);
    cr_assert_eq(ask(NULL).id, 0);
    threads[1].lock_stack.top = 0xffffffff; /* not a lock stack */
    cr_assert_eq(ask(&oop).id, 0);
}

static void name_twice(const uintptr_t *oop)
{
    set_up(true);
    monitor.owner = 1;
    for (int i = 1; i < 3; i++) {
        threads[i].lock_stack.slots[0] = *oop;
        threads[i].lock_stack.top = lock_stack_top(1);
    }
}

Test(owner, anonymous_where_lock_stacks_are_not_known)
{
    uintptr_t oop = 0x7000;
    struct vm_layout l = layout(true);
    l.lock_stack = -1;
    cr_assert_eq(thread_table_new(&table, &l, true), 0);
    cr_assert(thread_table_add(table, (uintptr_t)&threads[0], 1, 1, false));
    threads[0].pending_monitor = (uintptr_t)&monitor;
    monitor.owner = 1;
    cr_assert(ask(&oop).id == 0 && ask(&oop).java_tid == 0, "not the thread of that number");
    thread_table_free(table);
}

Test(owner, an_address_in_two_lock_stacks)
{
    uintptr_t oop = 0xabcdef00;
    name_twice(&oop);
    cr_assert_eq(ask(&oop).id, 2, "the first");
    thread_table_free(table);
    moving = true;
    name_twice(&oop);
    cr_assert(ask(&oop).id == 0 && ask(&oop).anonymous, "one of them is not up to date");
    threads[1].lock_stack.top = lock_stack_top(0);
    cr_assert_eq(ask(&oop).id, 3);
}

Test(owner, what_the_blocking_thread_owns_itself)
{
    struct vm_layout l = layout(true);
    uintptr_t slots[OWNER_LOCKS];
    set_up(true);
    cr_assert_eq(owner_own_locks(&l, (uintptr_t)&threads[0], slots), 0);
    threads[0].lock_stack.top = lock_stack_top(2);
    cr_assert_eq(owner_own_locks(&l, (uintptr_t)&threads[0], slots), 2);
    cr_assert_eq(slots[0], (uintptr_t)&threads[0].lock_stack.slots[0]);
    cr_assert_eq(slots[1], (uintptr_t)&threads[0].lock_stack.slots[1]);
    threads[0].lock_stack.top = 0xffffffff; /* not a lock stack */
    cr_assert_eq(owner_own_locks(&l, (uintptr_t)&threads[0], slots), 0);
    monitor.owner = 1;
    cr_assert(owner_is_anonymous(table, (uintptr_t)&threads[0]));
    monitor.owner = 30;
    cr_assert(!owner_is_anonymous(table, (uintptr_t)&threads[0]));
    cr_assert(!owner_is_anonymous(table, (uintptr_t)&threads[1]), "it does not block");
}

Test(owner, os_thread_ids)
{
    struct fake_os os = {.tid = 1234};
    struct vm_layout l = layout(false);
    struct fake_thread t = {.osthread = (uintptr_t)&os};
    cr_assert_eq(os_thread_id(&l, (uintptr_t)&t), 1234);
    t.osthread = 0;
    cr_assert_eq(os_thread_id(&l, (uintptr_t)&t), 0);
    cr_assert_eq(os_thread_id(&l, 0), 0);
}

/* --- a search never sees a thread that was removed -------------------------------------------- */

static _Atomic bool stop;

static void *search(void *arg)
{
    uintptr_t oop = 0x7777;
    uint64_t *found = arg;
    while (!atomic_load(&stop))
        *found += ask(&oop).id != 0;
    return NULL;
}

Test(owner, threads_come_and_go_under_searches)
{
    enum { ROUNDS = 3000 };
    set_up(true);
    monitor.owner = 1;
    uint64_t found[2] = {0};
    pthread_t t[2];
    atomic_store(&stop, false);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, search, &found[i]);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct fake_thread *f =
            malloc(sizeof *f); /* freed below: a search that lags is a use after free */
        memset(f, 0, sizeof *f);
        f->monitor_owner_id = 1000 + i;
        f->lock_stack.slots[0] = 0x7777;
        f->lock_stack.top = lock_stack_top(1);
        cr_assert(thread_table_add(table, (uintptr_t)f, 1000 + i, (uint32_t)(100 + i), false));
        cr_assert_eq(thread_table_find(table, 1000 + i), 100 + i);
        thread_table_remove(table, 1000 + i);
        memset(f, 0xee, sizeof *f);
        free(f);
        cr_assert_eq(thread_table_find(table, 1000 + i), 0);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
}
