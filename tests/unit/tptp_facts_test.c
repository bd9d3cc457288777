/* tptp_facts_test.c - a recording is analysed alike from the trace and from its export as TPTP's
 * XML; and what the files of other writers do not say of threads. */
#include "analyze/analysis.h"
#include "analyze/labels.h"
#include "base/util.h"
#include "conclude/report.h"
#include "orca_files.h"
#include "tptp_lines.h"
#undef MAIN /* each has its own */
#include "trcxml_lines.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct err err;

static struct analysis *analysis_of(struct trace *t)
{
    struct analysis *a;
    cr_assert_eq(conclude_run(&a, t, &err), 0, "%s", err.msg);
    return a;
}

/* --- there and back --------------------------------------------------------------------------- */

/* A program with daemons, which was attached to in the middle of waits, and has some at its end. */
static struct trace *attached(void)
{
    struct trace_builder b;
    builder_init(&b);
    builder_info(&b, "orca.events", "threads+monitors+waits+sleeps");
    thread_id main = builder_thread(&b, "main"), waits = builder_thread(&b, "waits");
    thread_id daemon = builder_thread_flags(&b, "daemon", THREAD_DAEMON);
    thread_id queues = builder_thread(&b, "queues"), lost = builder_thread(&b, "lost");
    lock_id lock = builder_lock(&b, builder_class(&b, "Lshop/Order;"));
    stack_id at = builder_stack(&b, "shop.Order.take:31");
    ADD0(&b, 1, main, 0, thread_alive);
    ADD0(&b, 1, waits, 1, thread_alive);
    ADD0(&b, 1, daemon, 2, thread_alive);
    ADD0(&b, 1, queues, 3, thread_alive);
    ADD(&b, 1, waits, 4, wait_found, .kind = EV_wait_enter, .lock = lock, .stack = at);
    ADD(&b, 1, daemon, 5, wait_found, .kind = EV_sleep_enter);
    ADD(&b, 1, queues, 6, wait_found, .kind = EV_monitor_contended_enter, .lock = lock,
        .owner = main, .stack = at);
    ADD(&b, 1, lost, 7, wait_found, .kind = EV_wait_enter, .stack = at);
    ADD(&b, 1, main, 10, interrupt, .target = daemon, .target_in = EV_sleep_enter);
    ADD(&b, 1, main, 100, notify, .lock = lock);
    ADD(&b, 1, waits, 110, wait_exit, .lock = lock);
    ADD(&b, 1, queues, 120, monitor_contended_entered, .lock = lock);
    ADD(&b, 1, waits, 122, wait_enter, .lock = lock, .timeout_ms = 0, .stack = at);
    ADD(&b, 1, queues, 123, monitor_contended_enter, .lock = lock, .owner = main);
    ADD(&b, 1, queues, 123, owner_stack, .lock = lock, .owner = main, .stack = at);
    ADD(&b, 1, main, 124, notify, .lock = lock);
    ADD(&b, 1, queues, 126, monitor_contended_entered, .lock = lock);
    ADD(&b, 1, waits, 128, wait_exit, .lock = lock);
    ADD0(&b, 1, queues, 130, thread_end);
    ADD0(&b, 1, waits, 140, thread_end);
    ADD0(&b, 1, main, 150, thread_end);
    ADD0(&b, 1, lost, 155, thread_end);
    ADD(&b, 1, daemon, 160, wait_open, .kind = EV_sleep_enter, .since = BUILDER_START + 5);
    ADD0(&b, 1, main, 170, recording_end);
    return builder_open(&b, 170);
}

#define ORDER "<annotation name='orca.class' value='shop/Order'/>"
#define TAKE FRAME("shop/Order.take(Order.java:31)")
#define ALIVE "<annotation name='orca.alive' value='1'/>"
#define DAEMON "<annotation name='orca.daemon' value='1'/>"
#define FOUND_WAIT "<annotation name='orca.found' value='wait_enter'/>"
#define FOUND_SLEEP "<annotation name='orca.found' value='sleep_enter'/>"
#define FOUND_BLOCK "<annotation name='orca.found' value='monitor_contended_enter'/>"
#define SYSTEM "groupName='main' parentName='system' "

static const char attached_xml[] =
    "<threadStart threadId='1' @0 " SYSTEM "objIdRef='3' threadName='main'>" ALIVE
    "</threadStart>\n"
    "<threadStart threadId='2' @1 " SYSTEM "objIdRef='5' threadName='waits'>" ALIVE
    "</threadStart>\n"
    "<threadStart threadId='3' @2 " SYSTEM "objIdRef='7' threadName='daemon'>" DAEMON ALIVE
    "</threadStart>\n"
    "<threadStart threadId='4' @3 " SYSTEM "objIdRef='9' threadName='queues'>" ALIVE
    "</threadStart>\n"
    "<monWait threadIdRef='2' @4 objIdRef='2'>" FOUND_WAIT ORDER TAKE "</monWait>\n"
    "<monWait threadIdRef='3' @5 objIdRef='-1'>" FOUND_SLEEP "</monWait>\n"
    "<monContendedEnter threadIdRef='4' @6 objIdRef='2' threadOwner='1'>" FOUND_BLOCK ORDER TAKE
    "</monContendedEnter>\n"
    "<threadStart threadId='5' @7 " SYSTEM "objIdRef='11' threadName='lost'>" ALIVE
    "</threadStart>\n"
    "<?orca <monWait threadIdRef='5' @7>" FOUND_WAIT TAKE "</monWait>?>\n"
    "<callInterrupt threadId='1' @10 objIdRef='7'/>\n"
    "<callNotify threadId='1' @100 objIdRef='2' isNotifyAll='0'>" ORDER "</callNotify>\n"
    "<monWaited threadIdRef='2' @110 objIdRef='2' isTimedOut='0'/>\n"
    "<monContendedEntered threadIdRef='4' @120 objIdRef='2'/>\n"
    "<monWait threadIdRef='2' @122 objIdRef='2' timeout='0'>" ORDER TAKE "</monWait>\n"
    "<monContendedEnter threadIdRef='4' @123 objIdRef='2' threadOwner='1'>" ORDER
    "</monContendedEnter>\n"
    "<?orca <ownerStack threadIdRef='4' @123 objIdRef='2' threadOwner='1'>" ORDER TAKE
    "</ownerStack>?>\n"
    "<callNotify threadId='1' @124 objIdRef='2' isNotifyAll='0'>" ORDER "</callNotify>\n"
    "<monContendedEntered threadIdRef='4' @126 objIdRef='2'/>\n"
    "<monWaited threadIdRef='2' @128 objIdRef='2' timeout='0' isTimedOut='0'/>\n"
    "<threadEnd threadIdRef='4' @130/>\n"
    "<threadEnd threadIdRef='2' @140/>\n"
    "<threadEnd threadIdRef='1' @150/>\n"
    "<threadEnd threadIdRef='5' @155/>\n"
    "<?orca <waitOpen threadIdRef='3' @160 in='sleep_enter' since='1763700000.000000005'/>?>\n";

Test(tptp_facts, waits_that_are_not_seen_whole)
{
    trace_is(attached(), attached_xml);
}

/* What both say of each thread and state. */
static void check_same(const struct analysis *x, const struct analysis *y)
{
    cr_assert_eq(x->threads.n, y->threads.n);
    for (uint32_t i = 1; i < x->threads.n; i++) {
        const struct thread_stats *a = &x->threads.v[i], *b = &y->threads.v[i];
        cr_assert_eq(b->to - b->from, a->to - a->from, "life of %u", i);
        for (unsigned s = 0; s < STATE_LIMIT; s++) {
            cr_assert_eq(y->stats.threads[i].state[s].ns, x->stats.threads[i].state[s].ns,
                         "state %u of thread %u", s, i);
            cr_assert_eq(y->stats.threads[i].state[s].count, x->stats.threads[i].state[s].count);
        }
    }
    for (unsigned s = 0; s < STATE_LIMIT; s++)
        cr_assert_eq(y->open[s], x->open[s]);
    for (unsigned k = 0; k < INTERACTION_LIMIT; k++) {
        cr_assert_eq(y->bindings.sums[k].count, x->bindings.sums[k].count, "%u", k);
        cr_assert_eq(y->bindings.sums[k].alone, x->bindings.sums[k].alone, "%u", k);
    }
    cr_assert_eq(y->path.v == NULL, x->path.v == NULL);
    cr_assert_eq(y->path.thread, x->path.thread);
    cr_assert_eq(y->path.n, x->path.n);
}

Test(tptp_facts, a_recording_and_its_export_are_analysed_alike)
{
    struct trace *t = attached();
    struct orca_files f = files_export(tptp(), t);
    struct trace *u = files_import_xml_again(&f);
    struct orca_files again = files_export(tptp(), u);
    cr_assert_str_eq(again.text[0], f.text[0]);
    has_problems(u, NULL, 0);
    struct analysis *a = analysis_of(t), *b = analysis_of(u);
    cr_assert_not_null(a->path.v, "a daemon does not hold it up");
    cr_assert_eq(a->path.thread, 5);
    cr_assert_gt(a->stats.total[STATE_WAITING].ns, 0);
    cr_assert_gt(a->stats.total[STATE_BLOCKED].ns, 0);
    cr_assert_eq(a->open[STATE_SLEEPING], 1);
    check_same(a, b);
    analysis_free(a);
    analysis_free(b);
    trace_close(t);
    trace_close(u);
    files_free(&f);
    files_free(&again);
}

/* --- other writers' files --------------------------------------------------------------------- */

static bool counts(const struct analysis *a, uint32_t thread)
{
    return bottle_counts(a->trace, &a->threads.v[thread]);
}

#define START(id, name) "<threadStart threadId='" id "' time='1' threadName='" name "'/>"

Test(tptp_facts, threads_of_the_jvm_are_known_by_their_names)
{
    static const char *const jvms[] = {"Finalizer",     "Reference Handler",  "VM Thread",
                                       "GC Thread#12",  "C2 CompilerThread0", "Signal Dispatcher",
                                       "DestroyJavaVM", "Attach Listener",    "Common-Cleaner",
                                       "orca control"};
    static const char *const programs[] = {"Finalizers", "GC Thread#x", "worker", "main",
                                           "My Finalizer"};
    struct buf xml = {0};
    for (size_t i = 0; i < ARRAY_LEN(jvms) + ARRAY_LEN(programs); i++)
        buf_printf(&xml,
                   "<threadStart threadId='%zu' time='1' threadName='%s'/>"
                   "<monWait threadIdRef='%zu' time='2' objIdRef='-1' timeout='9'/>",
                   i + 1, i < ARRAY_LEN(jvms) ? jvms[i] : programs[i - ARRAY_LEN(jvms)], i + 1);
    struct trace *t = xml_import(buf_str(&xml));
    struct analysis *a = analysis_of(t);
    for (uint32_t i = 0; i < ARRAY_LEN(jvms) + ARRAY_LEN(programs); i++)
        cr_assert_eq(counts(a, i + 1), i >= ARRAY_LEN(jvms), "%s", t->threads[i + 1].name);
    analysis_free(a);
    trace_close(t);
    buf_fini(&xml);
}

Test(tptp_facts, who_never_does_anything_is_not_the_programs)
{
    struct trace *t =
        xml_import(START("1", "main") START("2", "silent") START("3", "ends")
                       START("4", "acts") "<threadEnd threadIdRef='3' time='2'/>"
                                          "<monWait threadIdRef='4' time='3' objIdRef='-1'/>"
                                          "<threadStart threadId='5' time='1' groupName='app' "
                                          "threadName='of a group'/>");
    struct analysis *a = analysis_of(t);
    for (uint32_t i = 1; i <= 5; i++)
        cr_assert_eq(counts(a, i), i != 2, "%u", i);
    analysis_free(a);
    trace_close(t);
}

Test(tptp_facts, the_jvms_threads_do_not_top_the_tables)
{
    struct trace *t =
        xml_import(START("1", "Finalizer")
                       START("2", "main") "<monWait threadIdRef='1' time='2' objIdRef='7'/>"
                                          "<monWait threadIdRef='2' time='3' objIdRef='8'/>"
                                          "<monWaited threadIdRef='2' time='4' objIdRef='8'/>"
                                          "<monWaited threadIdRef='1' time='9' objIdRef='7'/>");
    struct analysis *a = analysis_of(t);
    struct report r = {.trace = t, .a = a, .sections = REPORT_THREADS};
    cr_assert_eq(report_init(&r, NULL, &err), 0, "%s", err.msg);
    cr_assert_eq(r.n_threads, 2);
    cr_assert_eq(r.threads[0], 2, "main waited for less, and is the program's");
    analysis_free(a);
    trace_close(t);
}

Test(tptp_facts, the_end_of_main_ends_the_program)
{
#define MAIN_ENDS "<threadEnd threadIdRef='1' time='5'/>"
    static const struct {
        const char *xml;
        uint32_t last; /* the thread that the critical path ends in; 0: there is none */
    } files[] = {
        {MAIN WORKER "<monWait threadIdRef='2' time='2' objIdRef='-1'/>" MAIN_ENDS, 1},
        {MAIN WORKER MAIN_ENDS "<threadEnd threadIdRef='2' time='6'/>", 2},
        {MAIN WORKER "<threadEnd threadIdRef='2' time='6'/>", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct trace *t = xml_import(files[i].xml);
        struct analysis *a = analysis_of(t);
        cr_assert_eq(a->path.v ? a->path.thread : 0, files[i].last, "%zu", i);
        analysis_free(a);
        trace_close(t);
    }
}

Test(tptp_facts, numbers_that_nobody_has_are_no_threads)
{
    struct trace *t = xml_import("<threadStart threadId='9' time='1' threadName='x'/>"
                                 "<threadStart threadId='4' time='1' threadName='x'/>"
                                 "<threadStart threadId='6' time='1'/>"
                                 "<threadStart threadId='7' time='1'/>"
                                 "<threadEnd threadIdRef='9' time='3'/>");
    static const char *const labels[] = {[4] = "x#4", [6] = "#1", [7] = "#2", [9] = "x#9"};
    struct analysis *a = analysis_of(t);
    for (uint32_t i = 1; i < a->threads.n; i++) {
        char text[LABEL_MAX];
        label_thread(&a->threads, t, i, text, sizeof text);
        if (i < ARRAY_LEN(labels) && labels[i])
            cr_assert_str_eq(text, labels[i]);
        else
            cr_assert_eq(thread_life(&a->threads.v[i]), 0, "%u", i);
    }
    analysis_free(a);
    trace_close(t);
}
