/* carrier_rules_test.c - virtual threads that are ready and have no carrier: the finding says how
 * long, and who is on the carriers; it is silent where nobody waits long. */
#include "analyzed.h"
#include "conclude/rules.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(carrier_rules, .init = analyzed_begin, .fini = analyzed_end);

enum { MS = 1000000, STREAM = 50, REQUESTS = 8 };

static thread_id started(const char *what, unsigned i, uint64_t ms)
{
    char name[32];
    snprintf(name, sizeof name, "%s-%u", what, i);
    thread_id v = builder_thread_flags(&b, name, THREAD_VIRTUAL);
    ADD0(&b, STREAM + v.v, v, ms * MS, thread_start);
    return v;
}

/* n compute from 10 ms to 900 ms.  Eight park at 5 ms, are unparked at 100 ms, and go on at
 * `until`, one after the other.  Others wait for answers of ann's, in 900 ms each. */
static void crunch_of(unsigned n, uint64_t until, unsigned others)
{
    stack_id get = builder_stack(&b, "java.util.concurrent.locks.LockSupport.park:1 "
                                     "java.util.concurrent.FutureTask.get:2 shop.Desk.ask:9");
    for (unsigned i = 0; i < others; i++) {
        thread_id v = started("client", i, 1);
        lock_id on = builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/FutureTask;"));
        ADD(&b, STREAM + v.v, v, 5 * MS, park_enter, .stack = get, .lock = on);
        ADD(&b, 2, ann, 905 * MS + i, unpark, .target = v);
        ADD(&b, STREAM + v.v, v, 905 * MS + 1000 + i, park_exit, .lock = on);
    }
    stack_id at = builder_stack(&b, "java.util.concurrent.locks.LockSupport.park:1 "
                                    "shop.Request.run:9");
    for (unsigned i = 0; i < n; i++) {
        thread_id v = started("crunch", i, 10);
        ADD0(&b, STREAM + v.v, v, 900 * MS, thread_end);
    }
    for (unsigned i = 0; i < REQUESTS; i++) {
        thread_id v = started("request", i, 1);
        ADD(&b, STREAM + v.v, v, 5 * MS, park_enter, .stack = at);
        ADD(&b, 1, ann, 100 * MS + i, unpark, .target = v);
        ADD(&b, STREAM + v.v, v, (until + i) * MS, park_exit, .lock.v = 0);
        ADD0(&b, STREAM + v.v, v, (until + i) * MS + MS / 2, thread_end);
    }
    analyzed_run(1000 * MS);
}

static void crunch_beside(uint64_t until, unsigned others)
{
    crunch_of(2, until, others);
}

static void crunch(uint64_t until)
{
    crunch_beside(until, 0);
}

Test(carrier_rules, who_is_on_the_carriers)
{
    crunch(901);
    const struct rule_finding *f = finding_of("few-carriers");
    cr_assert_not_null(f);
    cr_expect_eq(f->severity, SEVERITY_PROBLEM);
    cr_expect_not_null(strstr(f->text, "8 virtual threads waited for a carrier: 8 times, 6.44 s in "
                                       "total, 6.4 on average; on the carriers: crunch 99 %"),
                       "%s", f->text);
    cr_expect_not_null(strstr(f->text, "longest: request-7, 808 ms"), "%s", f->text);
    cr_expect_not_null(strstr(f->text, "try: run long computations in a pool of platform threads"),
                       "%s", f->text);
}

/* Many short turns of many threads: there is nothing that could run elsewhere.  Who waits for all
 * sockets is the JDK's own. */
Test(carrier_rules, many_short_turns)
{
    stack_id at = builder_stack(&b, "java.util.concurrent.locks.LockSupport.park:1 "
                                    "shop.Request.run:9"),
             polls = builder_stack(&b, "java.lang.VirtualThread.park:1 "
                                       "sun.nio.ch.Poller.subPollerLoop:9");
    thread_id poller = started("poller", 1, 1);
    for (unsigned i = 0; i < REQUESTS; i++) {
        thread_id v = started("request", i, 1);
        ADD(&b, STREAM + v.v, v, 5 * MS, park_enter, .stack = at);
        for (uint64_t k = 0; k < 9; k++) { /* one after the other, for 8 ms */
            uint64_t from = 5 + 100 * k, turn = from + 20 + 8 * i;
            ADD(&b, 10 + i, ann, (from + 1) * MS + i, unpark, .target = v);
            ADD(&b, STREAM + v.v, v, turn * MS, park_exit, .lock.v = 0);
            ADD(&b, STREAM + v.v, v, (turn + 8) * MS, park_enter, .stack = at);
        }
    }
    ADD(&b, STREAM + poller.v, poller, 2 * MS, park_enter, .stack = polls);
    ADD(&b, STREAM + poller.v, poller, 3 * MS, park_exit, .lock.v = 0);
    ADD(&b, STREAM + poller.v, poller, 990 * MS, park_enter, .stack = polls);
    ADD(&b, STREAM + poller.v, poller, 991 * MS, park_exit, .lock.v = 0);
    analyzed_run(1000 * MS);
    const struct rule_finding *f = finding_of("few-carriers");
    cr_assert_not_null(f);
    cr_expect_null(strstr(f->text, "try"), "%s", f->text);
    cr_expect_null(strstr(f->text, "poller"), "%s", f->text);
}

/* Who has no events may compute. */
Test(carrier_rules, who_is_on_the_carriers_is_unknown)
{
    crunch_of(0, 901, 0);
    const struct rule_finding *f = finding_of("few-carriers");
    cr_assert_not_null(f);
    cr_expect_not_null(strstr(f->text, "try: if virtual threads compute for long: run long "), "%s",
                       f->text);
}

static int severity_beside(unsigned others)
{
    crunch_beside(901, others);
    const struct rule_finding *f = finding_of("few-carriers");
    return f ? (int)f->severity : -1;
}

Test(carrier_rules, most_of_what_virtual_threads_wait_for_is_something_else)
{
    cr_assert_eq(severity_beside(16), SEVERITY_WARNING);
}

Test(carrier_rules, a_carrier_is_little_of_what_virtual_threads_wait_for)
{
    cr_assert_eq(severity_beside(90), -1);
}

Test(carrier_rules, nobody_waits_long)
{
    crunch(101);
    cr_assert_null(finding_of("few-carriers"));
}

/* A time limit that ends says nothing of when the thread could go on. */
Test(carrier_rules, nobody_was_unparked)
{
    thread_id v = started("request", 1, 1);
    ADD(&b, STREAM + v.v, v, 5 * MS, park_enter, .timeout_ns = 100 * MS);
    ADD(&b, STREAM + v.v, v, 900 * MS, park_exit, .lock.v = 0);
    analyzed_run(1000 * MS);
    cr_assert_null(finding_of("few-carriers"));
}

#define LOCKED                                                                                     \
    "java.util.concurrent.locks.LockSupport.park:1 "                                               \
    "java.util.concurrent.locks.ReentrantLock.lock:2 shop.Log.write:5 "

/* ann has a lock until 1 s.  "first" waits for it without a carrier; "handler-0" and "handler-1",
 * too, on the only two carriers, in a synchronized block.  Then "first" is unparked. */
static void hang(uint64_t end, bool one_runs)
{
    lock_id log = builder_lock(
        &b, builder_class(&b, "Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;"));
    stack_id at = builder_stack(&b, LOCKED "shop.First.run:9"),
             pinned = builder_stack(&b, LOCKED "shop.Span.end:30 shop.Handler.run:9");
    builder_info(&b, "java.vm.version", "21.0.8+9-LTS");
    builder_info(&b, "orca.events", "threads+parks+monitors");
    thread_id first = started("first", 0, 1);
    ADD(&b, STREAM + first.v, first, 10 * MS, park_enter, .lock = log, .stack = at);
    for (unsigned i = 0; i < 2; i++) {
        thread_id v = started("handler", i, 20);
        ADD(&b, STREAM + v.v, v, 30 * MS, park_enter, .lock = log, .stack = pinned);
        ADD(&b, STREAM + v.v, v, 30 * MS + 1, pinned, .stack = pinned, .frame = 4);
    }
    ADD(&b, 1, ann, 1000 * MS, unpark, .target = first, .stack = at);
    if (one_runs)
        started("other", 0, 40);
    analyzed_run(end);
}

static size_t n_of_rule(const char *rule)
{
    struct rule_finding *f;
    size_t n, of = 0;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    for (size_t i = 0; i < n; i++)
        of += strcmp(f[i].rule, rule) == 0;
    return of;
}

Test(carrier_rules, pinned_threads_keep_all_carriers)
{
    hang(4000ull * MS, false);
    const struct rule_finding *f = finding_of("pinned");
    cr_assert_not_null(f);
    cr_expect_eq(f->severity, SEVERITY_PROBLEM);
    cr_expect_eq(f->impact, UINT64_MAX - 1, "before all that waits for it");
#define KEEPS                                                                                      \
    " waits for java.util.concurrent.locks.ReentrantLock, pinned at Span.end (Span.java:30), "     \
    "synchronized; "
    static const char expected[] =
        "No carrier was free for the last 3.00 s: 2 pinned virtual threads keep all of them; "
        "handler-0" KEEPS "handler-1" KEEPS
        "first-0 was unparked by ann for java.util.concurrent.locks.ReentrantLock and waits for a "
        "carrier, 3.00 s; try: use a ReentrantLock instead of synchronized, or JDK 24 or later";
    cr_expect_str_eq(f->text, expected);
    cr_expect_eq(n_of_rule("pinned"), 1, "the card has the place that pins");
}

/* Attached to when it hangs already: the JVM tells no frame, and nobody is unparked.  In Object.wait
 * the scheduler adds a carrier for one that is kept. */
static const char *hung_before(const char *carriers, bool second_waits)
{
    lock_id log = builder_lock(
        &b, builder_class(&b, "Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;"));
    stack_id at = builder_stack(&b, LOCKED "shop.Span.end:30 shop.Handler.run:9");
    builder_info(&b, "java.vm.version", "21.0.8+9-LTS");
    builder_info(&b, "orca.events", "threads+parks+monitors+waits");
    builder_info(&b, "orca.carriers", carriers);
    for (unsigned i = 0; i < 2; i++) {
        thread_id v = started("handler", i, 20);
        if (i && second_waits) {
            ADD(&b, STREAM + v.v, v, 30 * MS, wait_enter, .lock = log, .stack = at);
            continue;
        }
        ADD(&b, STREAM + v.v, v, 30 * MS, park_enter, .lock = log, .stack = at);
        ADD(&b, STREAM + v.v, v, 30 * MS + 1, pinned, .stack = at, .frame = PINNED_FRAME_UNKNOWN);
    }
    analyzed_run(4000ull * MS);
    return finding_of("pinned")->text;
}

/* The line of the program and who calls it: somewhere there the monitor was entered. */
Test(carrier_rules, pinned_by_a_monitor_that_the_jvm_did_not_tell)
{
    stack_id at = builder_stack(&b, "java.lang.VirtualThread.parkOnCarrierThread:1 "
                                    "java.util.concurrent.locks.LockSupport.park:1 "
                                    "sun.nio.ch.Poller.pollIndirect:2 shop.Prices.of:98 "
                                    "shop.Cart.total:72 shop.Main.run:9");
    builder_info(&b, "java.vm.version", "21.0.8+9-LTS");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (unsigned i = 0; i < 2; i++) {
        thread_id v = started("handler", i, 20);
        ADD(&b, STREAM + v.v, v, 30 * MS, park_enter, .stack = at);
        ADD(&b, STREAM + v.v, v, 30 * MS + 1, pinned, .stack = at, .frame = PINNED_FRAME_UNKNOWN);
        ADD(&b, STREAM + v.v, v, 900 * MS, park_exit);
    }
    analyzed_run(1000ull * MS);
    const struct rule_finding *f = finding_of("pinned");
    cr_assert_not_null(f);
    cr_expect_not_null(
        strstr(f->text, "Pinned at Prices.of (Prices.java:98), inside a synchronized block: "),
        "%s", f->text);
    cr_expect_not_null(
        strstr(f->text, "; wait in Prices.of (Prices.java:98) <- Cart.total (Cart.java:72); "),
        "%s", f->text);
}

Test(carrier_rules, as_many_are_kept_as_the_scheduler_makes)
{
    static const char expected[] =
        "No carrier was free for the last 3.97 s: 2 pinned virtual threads keep all of them; "
        "handler-0 waits for java.util.concurrent.locks.ReentrantLock, pinned at Log.write "
        "(Log.java:5), inside a synchronized block; ";
    const char *text = hung_before("2", false);
    cr_expect_eq(strncmp(text, expected, sizeof expected - 1), 0, "%s", text);
    cr_expect_not_null(strstr(text, "; no other virtual thread can run; try: use a ReentrantLock"));
}

Test(carrier_rules, a_carrier_is_left)
{
    cr_expect_null(strstr(hung_before("3", false), "No carrier"));
    analyzed_end();
    analyzed_begin();
    cr_expect_null(strstr(hung_before("2", true), "No carrier"));
}

/* Shorter than a second, and beside one that runs. */
Test(carrier_rules, a_carrier_may_become_free)
{
    hang(1900ull * MS, false);
    cr_expect_null(strstr(finding_of("pinned")->text, "No carrier"));
    analyzed_end();
    analyzed_begin();
    hang(4000ull * MS, true);
    cr_expect_null(strstr(finding_of("pinned")->text, "No carrier"));
}
