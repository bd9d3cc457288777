/* blocked_test.c - whose monitor a thread waits for, read from memory that looks like a JVM's. */
#include "hotspot/blocked.h"

#include "base/guarded.h"

#include <criterion/criterion.h>
#include <string.h>

enum { WEAK = 1, HAS_MONITOR = 2 };

static struct fake_thread {
    uintptr_t pending, waiting;
} thread;
static struct fake_monitor {
    uintptr_t pad, object;
} monitors[2];
static uintptr_t handles[2];
static struct fake_object {
    uintptr_t header;
} objects[2];
static struct vm_layout l;

/* Two monitors, each with its object. */
static void set_up(void)
{
    struct err err;
    cr_assert_eq(guarded_open(&err), 0);
    memset(&l, 0xff, sizeof l);
    l.pending_monitor = offsetof(struct fake_thread, pending);
    l.waiting_monitor = offsetof(struct fake_thread, waiting);
    l.monitor_object = offsetof(struct fake_monitor, object);
    for (int i = 0; i < 2; i++) {
        objects[i].header = (uintptr_t)&monitors[i] | HAS_MONITOR;
        handles[i] = (uintptr_t)&objects[i];
        monitors[i].object = (uintptr_t)&handles[i];
    }
}

TestSuite(blocked, .init = set_up);

Test(blocked, in_which)
{
    uintptr_t t = (uintptr_t)&thread;
    cr_assert_eq(blocked_monitor(&l, t), 0, "in none");
    thread.waiting = (uintptr_t)&monitors[0];
    cr_assert_eq(blocked_monitor(&l, t), (uintptr_t)&monitors[0], "to be notified");
    thread.pending = (uintptr_t)&monitors[1];
    cr_assert_eq(blocked_monitor(&l, t), (uintptr_t)&monitors[1], "to enter");
    cr_assert_eq(blocked_monitor(&l, 0), 0);
    cr_assert_eq(blocked_monitor(&l, 8), 0, "no thread is there");
    l.waiting_monitor = -1;
    cr_assert_eq(blocked_monitor(&l, t), 0, "not described");
}

Test(blocked, reference_to_its_object)
{
    uintptr_t m = (uintptr_t)&monitors[0];
    cr_assert_eq(blocked_reference(&l, m), (uintptr_t)&handles[0] | WEAK);
    handles[0] = 0;
    cr_assert_eq(blocked_reference(&l, m), 0, "given back");
    monitors[0].object = (uintptr_t)&handles[1] + 4;
    cr_assert_eq(blocked_reference(&l, m), 0, "no reference is there");
    monitors[0].object = 8;
    cr_assert_eq(blocked_reference(&l, m), 0);
    monitors[0].object = 0;
    cr_assert_eq(blocked_reference(&l, m), 0);
    cr_assert_eq(blocked_reference(&l, 8), 0, "no monitor is there");
    cr_assert_eq(blocked_reference(&l, 0), 0);
    l.monitor_object = -1;
    cr_assert_eq(blocked_reference(&l, (uintptr_t)&monitors[1]), 0);
}

Test(blocked, whose_object_it_is)
{
    cr_assert(blocked_is((uintptr_t)&monitors[0], &handles[0]));
    cr_assert_not(blocked_is((uintptr_t)&monitors[1], &handles[0]), "another monitor's");
    objects[0].header = (uintptr_t)&monitors[0];
    cr_assert_not(blocked_is((uintptr_t)&monitors[0], &handles[0]), "locked without a monitor");
    objects[0].header = 0;
    cr_assert_not(blocked_is(0, &handles[0]));
    handles[0] = 8;
    cr_assert_not(blocked_is((uintptr_t)&monitors[0], &handles[0]), "no object is there");
}
