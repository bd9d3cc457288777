#include "import/trcxml.h"

#include "base/util.h"
#include "export/export.h"
#include "format/writer.h"
#include "orca_files.h"
#include "trcxml_lines.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- elements --------------------------------------------------------------------------------- */

Test(import_trcxml, every_element_has_its_event)
{
    xml_is(
        "<?xml version='1.0' encoding='UTF-8'?>\n<TRACE>\n"
        "<traceStart traceId='t' time='1'/>\n" MAIN "\n" WORKER "\n"
        "<callStart threadId='1' time='2' objIdRef='102'>" FRAME(
            "a/Main.main(Main.java:7)") "</callStart>\n"
                                        "<classDef name='a.Lock' sourceName='Lock.java' "
                                        "classId='c'/>\n"
                                        "<methodDef name='-init-' signature='()V' "
                                        "startLineNumber='3' methodId='m' "
                                        "classIdRef='c'/>\n"
                                        "<monContendedEnter threadIdRef='2' time='3' "
                                        "objIdRef='103' threadOwner='1'>"
                                        "<annotation name='orca.class' value='a/Lock'/>" FRAME(
                                            "a/Main.run(Main.java:12)") "<annotation "
                                                                        "name='orca.ownerFrame' "
                                                                        "value='a/"
                                                                        "Main.slow(Main.java:40)'/>"
                                                                        "</monContendedEnter>\n"
                                                                        "<monContendedEntered "
                                                                        "threadIdRef='2' time='4' "
                                                                        "objIdRef='103'/>\n"
                                                                        "<monWait threadIdRef='2' "
                                                                        "time='5' objIdRef='103' "
                                                                        "timeout='70'/>\n"
                                                                        "<monWaited "
                                                                        "threadIdRef='2' time='6' "
                                                                        "objIdRef='103' "
                                                                        "timeout='70' "
                                                                        "isTimedOut='1'/>\n"
                                                                        "<monWait threadIdRef='2' "
                                                                        "time='7' objIdRef='-1' "
                                                                        "timeout='50'/>\n"
                                                                        "<callInterrupt "
                                                                        "threadId='1' time='7.5' "
                                                                        "objIdRef='102'/>"
                                                                        "<threadInterrupted "
                                                                        "threadId='2' time='7.75'/>"
                                                                        "<monWaited "
                                                                        "threadIdRef='2' time='8' "
                                                                        "objIdRef='-1' "
                                                                        "timeout='50' "
                                                                        "isTimedOut='0'/>\n"
                                                                        "<callNotify threadId='1' "
                                                                        "time='9' objIdRef='103' "
                                                                        "isNotifyAll='0'/>\n"
                                                                        "<callNotify threadId='1' "
                                                                        "time='10' objIdRef='103' "
                                                                        "isNotifyAll='1'/>\n"
                                                                        "<monWait threadIdRef='1' "
                                                                        "time='11' objIdRef='102' "
                                                                        "timeout='9'/>\n"
                                                                        "<gcStart time='12'/>\n"
                                                                        "<gcFinish time='13' "
                                                                        "usedObjects='1000' "
                                                                        "usedObjSpace='4096' "
                                                                        "totalObjSpace='8192'/>\n"
                                                                        "<threadEnd "
                                                                        "threadIdRef='2' "
                                                                        "time='14'/>\n"
                                                                        "<monWaited "
                                                                        "threadIdRef='1' time='15' "
                                                                        "objIdRef='102' "
                                                                        "timeout='0' "
                                                                        "isTimedOut='0'/>\n"
                                                                        "<traceEnd traceIdRef='t' "
                                                                        "time='16'/>\n"
                                                                        "<agentDestroy "
                                                                        "agentIdRef='a' "
                                                                        "time='16'/>\n"
                                                                        "</TRACE>\n",
        "1000 recording_start\n" BOTH
        "2000 thread_start_called main target=worker at=La/Main;.main(Main.java:7)\n"
        "3000 monitor_contended_enter worker lock=1:La/Lock; owner=main "
        "at=La/Main;.run(Main.java:12)\n"
        "3000 owner_stack worker lock=1:La/Lock; owner=main at=La/Main;.slow(Main.java:40)\n"
        "4000 monitor_contended_entered worker lock=1:La/Lock;\n"
        "5000 wait_enter worker lock=1:La/Lock; timeout_ms=70\n"
        "6000 wait_exit worker lock=1:La/Lock; timed_out=1\n"
        "7000 sleep_enter worker timeout_ns=50000000\n"
        "7500 interrupt main target=worker target_in=sleep_enter\n"
        "7750 interrupted worker\n"
        "8000 sleep_exit worker\n"
        "9000 notify main lock=1:La/Lock;\n"
        "10000 notify_all main lock=1:La/Lock;\n"
        "11000 join_enter main target=worker timeout_ns=9000000\n"
        "12000 gc_start\n"
        "13000 gc_finish used=4096 committed=8192\n"
        "14000 thread_end worker\n"
        "15000 join_exit main target=worker\n"
        "16000 recording_end\n");
}

Test(import_trcxml, attributes_may_come_in_any_order_and_transient)
{
    xml_is("<threadStart threadName='main' time='1' transientObjIdRef='7' parentName='system' "
           "transientThreadId='x'/>"
           "<monWait timeout='3' time='2' objIdRef='9' threadIdRef='x'/>"
           "<monWaited isTimedOut='true' time='3' objIdRef='9' threadId='x'/>"
           "<callNotify isNotifyAll='true' objIdRef='9' time='4' threadId='x'/>"
           "<threadEnd time='5' transientThreadIdRef='x'/>",
           "1000 thread_start main\n"
           "2000 wait_enter main lock=1:? timeout_ms=3\n"
           "3000 wait_exit main lock=1:? timed_out=1\n"
           "4000 notify_all main lock=1:?\n"
           "5000 thread_end main\n");
}

Test(import_trcxml, the_elements_around_the_events_are_infos)
{
    struct trace *t = xml_import(
        "<TRACE><node nodeId='N' hostname='box' time='1763700000'/>"
        "<processCreate processId='P' pid='4711' nodeIdRef='N'/>"
        "<agentCreate agentId='A' version='2.000' processIdRef='P'/>"
        "<traceStart traceId='T' agentIdRef='A' time='1763700000.5'/>"
        "<option key='TICKET' value='true'/><option key='org.eclipse.tptp.x' value='y'/>"
        "<option key='java.version' value='25'/><option key='orca.state' value='recovered'/>"
        "<option key='orca.lost' value='12'/><option key='orca.overwritten' value='13'/>"
        "<option key='import.format' value='orca'/><option key='import.file' value='old'/>"
        "<traceEnd traceIdRef='T' time='1763700002.5'/></TRACE>");
    static const char *const infos[][2] = {
        {"java.version", "25"},    {"host", "box"},         {"import.file", "app.trcxml"},
        {"import.format", "tptp"}, {"import.nodeId", "N"},  {"import.processId", "P"},
        {"import.agentId", "A"},   {"import.traceId", "T"},
    };
    cr_assert_eq(t->n_infos, ARRAY_LEN(infos));
    for (size_t i = 0; i < ARRAY_LEN(infos); i++) {
        cr_assert_str_eq(t->infos[i].key, infos[i][0]);
        cr_assert_str_eq(t->infos[i].value, infos[i][1]);
    }
    cr_assert_eq(t->header.pid, 4711);
    cr_assert_eq(t->header.start_mono, 1763700000500000000u);
    cr_assert_eq(t->header.start_real, 1763700000500000000u, "it is a date");
    cr_assert_eq(t->header.end_mono, 1763700002500000000u);
    cr_assert_eq(t->header.state, TRACE_RECOVERED);
    cr_assert_eq(t->header.evicted_events, 13);
    cr_assert_eq(trace_lost(t), 12);
    cr_assert_eq(t->loss[LOSS_none], 12);
    trace_close(t);
}

Test(import_trcxml, the_host_of_an_option_counts_and_a_small_time_is_no_date)
{
    struct trace *t =
        xml_import("<node nodeId='N' hostname='box'/><option key='host' value='other'/>"
                   "<option key='orca.state' value='stopped'/>" MAIN);
    cr_assert_str_eq(trace_info(t, "host", ""), "other");
    cr_assert_eq(t->header.start_real, 0);
    cr_assert_eq(t->header.start_mono, 1000000000);
    cr_assert_eq(t->header.state, TRACE_STOPPED);
    trace_close(t);
}

Test(import_trcxml, a_thread_has_its_groups_and_flags)
{
    struct trace *t = xml_import(
        "<threadStart threadId='7' time='1' groupName='workers' parentName='main' objIdRef='70' "
        "threadName='w &amp; &lt;1&gt;&#10;'><annotation name='orca.virtual' value='1'/>"
        "<annotation name='orca.alive' value='1'/></threadStart>");
    const struct trace_thread *th = trace_thread(t, (thread_id){7});
    cr_assert_str_eq(th->name, "w & <1>\n");
    cr_assert_str_eq(th->group, "workers");
    cr_assert_str_eq(th->parent_group, "main");
    cr_assert_eq(th->flags, THREAD_VIRTUAL);
    cr_assert_eq(th->hash, 70, "the id stands for the hash");
    has_events(t, "1000 thread_alive w & <1>\n\n");
    trace_close(t);
}

Test(import_trcxml, what_a_trace_has_no_place_for_is_named_once)
{
    xml_is_but("<TRACE>\n<runtimeInitDone time='1'/>\n"
               "<methodCount methodIdRef='2' count='3'/>\n" MAIN "\n"
               "<methodCount methodIdRef='2' count='3'/>"
               "<my:own><deep/></my:own><objFree objIdRef='5' time='3'/></TRACE>",
               "line 2: a trace has no place for 1 runtimeInitDone, 2 methodCount, 1 my:own, 1 "
               "deep, 1 objFree",
               false, "1000 thread_start main\n");
}

Test(import_trcxml, a_long_list_of_such_names_is_told_in_parts)
{
    struct buf xml = {0};
    buf_puts(&xml, MAIN);
    for (int i = 0; i < 60; i++)
        buf_printf(&xml, "\n<a_rather_long_name_that_nobody_knows_%d/>", i);
    struct trace *t = xml_import(buf_str(&xml));
    buf_fini(&xml);
    cr_assert_geq(t->n_problems, 2);
    for (size_t i = 0; i < t->n_problems; i++)
        cr_assert_lt(strlen(t->problems[i].text), sizeof t->problems[i].text - 1, "not cut");
    const char *last = t->problems[t->n_problems - 1].text;
    cr_assert_not_null(strstr(last, " 20 others"), "%s", last);
    trace_close(t);
}

Test(import_trcxml, what_stands_inside_an_event_is_none)
{
    xml_is_but(MAIN "<monWait threadIdRef='1' time='2' objIdRef='9'><threadEnd threadIdRef='1' "
                    "time='2'><annotation name='orca.frame' value='no.frame(X.java)'/></threadEnd>"
                    "</monWait>",
               "line 1: a trace has no place for 1 threadEnd, 1 annotation", false,
               "1000 thread_start main\n2000 wait_enter main lock=1:? timeout_ms=-1\n");
}

/* --- waits ------------------------------------------------------------------------------------ */

#define WAIT_ON(object, frames)                                                                    \
    MAIN WORKER "<monWait threadIdRef='1' time='2' objIdRef='" object "' timeout='0'>" frames      \
                "</monWait><monWaited threadIdRef='1' time='3' objIdRef='" object                  \
                "' isTimedOut='0'/>"
#define WAIT_IN(class)                                                                             \
    FRAME("java/lang/Object.wait0(native)")                                                        \
    FRAME("java/lang/Object.wait(Object.java:9)") FRAME(class)

Test(import_trcxml, a_wait_on_a_thread_is_a_join)
{
    xml_is(WAIT_ON("102", ""),
           BOTH "2000 join_enter main target=worker\n3000 join_exit main target=worker\n");
    xml_is(WAIT_ON("103", ""),
           BOTH "2000 wait_enter main lock=1:?\n3000 wait_exit main lock=1:?\n");
    xml_is(WAIT_ON("101", ""),
           BOTH "2000 wait_enter main lock=1:?\n3000 wait_exit main lock=1:?\n");
}

Test(import_trcxml, the_stack_says_whether_it_is_a_join)
{
#define WAITING " at=Ljava/lang/Object;.wait0(native) at=Ljava/lang/Object;.wait(Object.java:9) at="
    xml_is(WAIT_ON("102", WAIT_IN("java/lang/Thread.join(Thread.java:8)")),
           BOTH "2000 join_enter main target=worker" WAITING
                "Ljava/lang/Thread;.join(Thread.java:8)\n3000 join_exit main target=worker\n");
    xml_is(WAIT_ON("102", WAIT_IN("a/Worker.await(Worker.java:8)")),
           BOTH "2000 wait_enter main lock=1:?" WAITING "La/Worker;.await(Worker.java:8)\n"
                "3000 wait_exit main lock=1:?\n");
    xml_is(WAIT_ON("102", FRAME("a/Main.main(Main.java:8)")),
           BOTH "2000 join_enter main target=worker at=La/Main;.main(Main.java:8)\n"
                "3000 join_exit main target=worker\n");
#undef WAITING
}

Test(import_trcxml, a_thread_that_was_only_started_can_be_joined)
{
    /* Its threadStart comes while it is waited for. */
    xml_is(MAIN "<callStart threadId='1' time='2' objIdRef='102'/>"
                "<monWait threadIdRef='1' time='3' objIdRef='102' timeout='0'/>"
                "<threadStart threadId='9' time='4' objIdRef='102' threadName='late'/>"
                "<threadEnd threadIdRef='9' time='5'/>"
                "<monWaited threadIdRef='1' time='6' objIdRef='102' isTimedOut='0'/>",
           "1000 thread_start main\n"
           "2000 thread_start_called main target=late\n"
           "3000 join_enter main target=late\n"
           "4000 thread_start late\n"
           "5000 thread_end late\n"
           "6000 join_exit main target=late\n");
}

Test(import_trcxml, an_end_alone_is_what_its_object_says)
{
    xml_is(MAIN WORKER "<monWaited threadIdRef='1' time='2' objIdRef='102'/>"
                       "<monWaited threadIdRef='1' time='3' objIdRef='103'/>"
                       "<monWaited threadIdRef='1' time='4' objIdRef='-1'/>",
           BOTH "2000 join_exit main target=worker\n"
                "3000 wait_exit main lock=1:?\n"
                "4000 sleep_exit main\n");
}

#define OWN "<option key='orca.state' value='complete'/>"

Test(import_trcxml, in_files_of_our_own_an_end_alone_without_an_answer_is_a_join)
{
    static const char *const problem =
        "threads without a threadStart, which have a number and no name: 3";
    struct trace *t = xml_import(OWN "<monWaited threadIdRef='1' time='1' objIdRef='4'/>"
                                     "<monWait threadIdRef='1' time='2' objIdRef='4'/>"
                                     "<monWaited threadIdRef='1' time='3' objIdRef='2001' "
                                     "isTimedOut='0'/><monWaited threadIdRef='2' time='4'/>");
    has_problems(t, &problem, 1);
    has_events(t, "1000 join_exit ?\n"
                  "2000 wait_enter ? lock=2:? timeout_ms=-1\n"
                  "3000 join_exit ? target=?\n"
                  "4000 join_exit ?\n");
    trace_close(t);
}

Test(import_trcxml, without_an_answer_a_wait_timed_out_when_its_time_has_passed)
{
    xml_is(MAIN "<monWait threadIdRef='1' time='2' objIdRef='9' timeout='50'/>"
                "<monWaited threadIdRef='1' time='2.049999999' objIdRef='9'/>"
                "<monWait threadIdRef='1' time='3' objIdRef='9' timeout='50'/>"
                "<monWaited threadIdRef='1' time='3.05' objIdRef='9'/>"
                "<monWait threadIdRef='1' time='4' objIdRef='9' timeout='0'/>"
                "<monWaited threadIdRef='1' time='5' objIdRef='9'/>",
           "1000 thread_start main\n"
           "2000 wait_enter main lock=1:? timeout_ms=50\n"
           "2049 wait_exit main lock=1:?\n"
           "3000 wait_enter main lock=1:? timeout_ms=50\n"
           "3050 wait_exit main lock=1:? timed_out=1\n"
           "4000 wait_enter main lock=1:?\n"
           "5000 wait_exit main lock=1:?\n");
}

Test(import_trcxml, the_longest_times_are_not_too_long)
{
    xml_is(MAIN "<monWait threadIdRef='1' time='2' objIdRef='9' timeout='9223372036854775807'/>"
                "<monWait threadIdRef='1' time='3' objIdRef='-1' timeout='9223372036855'/>",
           "1000 thread_start main\n"
           "2000 wait_enter main lock=1:? timeout_ms=9223372036854775807\n"
           "3000 sleep_enter main timeout_ns=9223372036854775807\n");
}

/* --- ids -------------------------------------------------------------------------------------- */

Test(import_trcxml, ids_are_numbers_or_any_text)
{
    xml_is("<threadStart threadId='Thread@1f' time='1' objIdRef='0x7f00' threadName='a'/>"
           "<threadStart threadId='18446744073709551616' time='2' objIdRef='99999999999' "
           "threadName='b'/>"
           "<callInterrupt threadId='Thread@1f' time='3' objIdRef='99999999999'/>"
           "<monContendedEnter threadIdRef='18446744073709551616' time='4' objIdRef='007' "
           "threadOwner='Thread@1f'/>"
           "<monContendedEnter threadIdRef='Thread@1f' time='5' objIdRef='7'/>",
           "1000 thread_start a\n2000 thread_start b\n"
           "3000 interrupt a target=b target_in=park_enter\n"
           "4000 monitor_contended_enter b lock=1:? owner=a\n"
           "5000 monitor_contended_enter a lock=2:?\n");
}

Test(import_trcxml, none_and_an_undefined_0_are_nobody)
{
    static const char *const problems[] = {
        "line 2: an event that names no thread: the thread is unknown",
        "line 2: an event that names no object: the object is unknown (3 such)",
    };
    struct trace *t = xml_import(
        MAIN "\n<monContendedEnter threadIdRef='' time='2' objIdRef='' threadOwner='-1'/>"
             "<monContendedEnter threadIdRef='0' time='3' objIdRef='0' threadOwner='0'/>"
             "<callStart threadId='1' time='4'/>"
             "<callNotify threadId='1' time='5' objIdRef='-1' isNotifyAll='0'/>");
    has_problems(t, problems, ARRAY_LEN(problems));
    has_events(t,
               "1000 thread_start main\n2000 monitor_contended_enter\n"
               "3000 monitor_contended_enter\n4000 thread_start_called main\n5000 notify main\n");
    trace_close(t);
    xml_is("<threadStart threadId='0' time='1' threadName='zero'/><threadEnd threadIdRef='0' "
           "time='2'/>",
           "1000 thread_start zero\n2000 thread_end zero\n");
}

Test(import_trcxml, an_id_may_be_used_again_after_its_end)
{
    xml_is(MAIN WORKER "<threadEnd threadIdRef='2' time='2'/>"
                       "<monWait threadIdRef='1' time='3' objIdRef='102' timeout='0'/>"
                       "<monWaited threadIdRef='1' time='4' objIdRef='102' isTimedOut='0'/>"
                       "<threadStart threadId='2' time='5' objIdRef='102' threadName='next'/>"
                       "<monWait threadIdRef='1' time='6' objIdRef='102' timeout='0'/>"
                       "<threadEnd threadIdRef='2' time='7'/>",
           BOTH "2000 thread_end worker\n"
                "3000 join_enter main target=worker\n4000 join_exit main target=worker\n"
                "5000 thread_start next\n6000 join_enter main target=next\n7000 thread_end next\n");
}

Test(import_trcxml, a_second_start_without_an_end_is_another_thread)
{
    xml_is_but(MAIN "\n<threadStart threadId='1' time='2' threadName='again'/>",
               "line 2: a threadStart of a thread that has not ended: counted as another thread",
               false, "1000 thread_start main\n2000 thread_start again\n");
}

Test(import_trcxml, a_freed_object_and_a_new_one_are_two)
{
    struct trace *t =
        xml_import(MAIN "<classDef name='a/A' classId='1'/><classDef name='[J' classId='2'/>"
                        "<objAlloc objId='9' classIdRef='1' threadIdRef='1' time='1'/>"
                        "<callNotify threadId='1' time='2' objIdRef='9' isNotifyAll='0'/>"
                        "<objFree objIdRef='9' time='2'/>"
                        "<objAlloc objId='9' classIdRef='2' threadIdRef='1' time='3'/>"
                        "<callNotify threadId='1' time='4' objIdRef='9' isNotifyAll='0'/>"
                        "<objFree objIdRef='9' time='5'/><objFree objIdRef='8' time='5'/>"
                        "<callNotify threadId='1' time='6' objIdRef='9' isNotifyAll='0'/>");
    has_events(t, "1000 thread_start main\n1000 object_alloc main object=1 class_=1\n"
                  "2000 notify main lock=1:La/A;\n"
                  "2000 object_free object=1 class_=1 since=1000000000 allocated_by=main\n"
                  "3000 object_alloc main object=2 class_=2\n4000 notify main lock=2:[J\n"
                  "5000 object_free object=2 class_=2 since=3000000000 allocated_by=main\n"
                  "6000 notify main lock=3:?\n");
    cr_assert_eq(trace_lock(t, (lock_id){2})->object, 2);
    trace_close(t);
}

Test(import_trcxml, objects)
{
    struct trace *t = xml_import(
        MAIN "<classDef name='a/A' classId='1'/>"
             "<objAlloc objId='9' isArray='0' size='24' classIdRef='1' threadIdRef='1' time='1'>"
             "<annotation name='orca.weight' value='4096'/>" FRAME(
                 "a/Main.run(Main.java:7)") "</objAlloc><gcStart time='2'/><gcFinish "
                                            "time='3'/><objFree objIdRef='9' time='4'/>"
                                            "<objAlloc objId='9' size='x' time='5'/>");
    const char *problem = "line 1: an attribute that is not a number from 0 up: unknown";
    has_problems(t, &problem, 1);
    has_events(t, "1000 thread_start main\n"
                  "1000 object_sample main object=1 class_=1 size=24 at=La/Main;.run(Main.java:7) "
                  "weight=4096\n2000 gc_start\n3000 gc_finish\n"
                  "4000 object_free object=1 class_=1 size=24 at=La/Main;.run(Main.java:7) "
                  "since=1000000000 allocated_by=main collections=1 weight=4096\n"
                  "5000 object_alloc object=2\n");
    trace_close(t);
}

Test(import_trcxml, the_class_of_a_lock_may_be_told_later)
{
    xml_is(MAIN "<callNotify threadId='1' time='2' objIdRef='9' isNotifyAll='0'/>"
                "<callNotify threadId='1' time='3' objIdRef='9' isNotifyAll='0'>"
                "<annotation name='orca.class' value='a/A$B'/></callNotify>",
           "1000 thread_start main\n2000 notify main lock=1:La/A$B;\n3000 notify main "
           "lock=1:La/A$B;\n");
}

Test(import_trcxml, threads_without_a_start_are_told)
{
    xml_is_but(MAIN "<threadEnd threadIdRef='5' time='2'/>"
                    "<callStart threadId='1' time='3' objIdRef='77'/>",
               "threads without a threadStart, which have a number and no name: 2", false,
               "1000 thread_start main\n2000 thread_end #5\n3000 thread_start_called main "
               "target=#2\n");
}

/* --- stacks ----------------------------------------------------------------------------------- */

static const struct {
    const char *text, *is;
} frames[] = {
    {"a/B.c(D.java:12)", "La/B;.c(D.java:12)"},
    {"a/B.c(D.java)", "La/B;.c(D.java:-1)"},
    {"a/B.c(?)", "La/B;.c(:-1)"},
    {"a/B.c(?:5)", "La/B;.c(:5)"},
    {"a/B.c(native)", "La/B;.c(native)"},
    {"a/B.c(D.java:0)", "La/B;.c(D.java:0)"},
    {"a/B.c(D.java:9999999)", "La/B;.c(D.java:9999999)"},
    {"a/B.c(D.java:10000000)", "La/B;.c(D.java:10000000:-1)"},
    {"a/B.c(D:java)", "La/B;.c(D:java:-1)"},
    {"a/B.-init-(D.java:1)", "La/B;.<init>(D.java:1)"},
    {"a/B.-clinit-(D.java:1)", "La/B;.<clinit>(D.java:1)"},
    {"a/B.it (works)(D.kt:1)", "La/B;.it (works)(D.kt:1)"},
    {"B$$Lambda.0x07f.run(?)", "LB$$Lambda.0x07f;.run(:-1)"},
    {"[I.clone(?)", "[I.clone(:-1)"},
    {"?.?(?)", "?.?(:-1)"},
};

Test(import_trcxml, frames)
{
    for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
        char xml[300], events[300];
        snprintf(xml, sizeof xml,
                 "<threadInterrupted threadId='1' time='2'><annotation name='orca.frame' "
                 "value='%s'/></threadInterrupted>" MAIN,
                 frames[i].text);
        snprintf(events, sizeof events, "1000 thread_start main\n2000 interrupted main at=%s\n",
                 frames[i].is);
        xml_is(xml, events);
    }
}

Test(import_trcxml, what_is_no_frame_is_an_unknown_one)
{
    static const char *const bad[] = {"",          "a",     "a/B.c", "a/B.c(",        "a/B.c)",
                                      "B(C.java)", ".c(D)", "B.(D)", "B.c(D.java:1) "};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char xml[300];
        snprintf(xml, sizeof xml,
                 MAIN "\n<threadInterrupted threadId='1' time='2'>" FRAME("a/A.a(A.java:1)")
                     FRAME("%s") FRAME("%s") "</threadInterrupted>",
                 bad[i], bad[i]);
        xml_is_but(xml,
                   "line 2: an orca.frame that is not class.method(source:line): an unknown frame "
                   "(2 such)",
                   true,
                   "1000 thread_start main\n"
                   "2000 interrupted main at=La/A;.a(A.java:1) at=?.?(:-1) at=?.?(:-1)\n");
    }
}

Test(import_trcxml, a_stack_knows_that_it_was_cut)
{
#define TWICE(rest)                                                                                \
    "<threadInterrupted threadId='1' time='2'>" FRAME("a/A.a(A.java:1)") rest "</"                 \
                                                                              "threadInterrupted>"
    xml_is(MAIN TWICE("<annotation name='orca.truncated' value='1'/>") TWICE("")
               TWICE("<annotation name='orca.truncated' value='1'/>"),
           "1000 thread_start main\n"
           "2000 interrupted main at=La/A;.a(A.java:1) truncated\n"
           "2000 interrupted main at=La/A;.a(A.java:1)\n"
           "2000 interrupted main at=La/A;.a(A.java:1) truncated\n");
#undef TWICE
}

Test(import_trcxml, frames_of_an_event_without_a_stack_are_not_another_ones)
{
    xml_is(MAIN "<monContendedEntered threadIdRef='1' time='2' objIdRef='9'>" FRAME(
               "a/A.a(?)") "</monContendedEntered><threadInterrupted threadId='1' time='3'/>",
           "1000 thread_start main\n2000 monitor_contended_entered main lock=1:?\n"
           "3000 interrupted main\n");
}

Test(import_trcxml, the_deepest_stack_is_cut)
{
    struct buf xml = {0};
    buf_puts(&xml, MAIN "\n<threadInterrupted threadId='1' time='2'>");
    for (int i = 0; i < 100000; i++)
        buf_printf(&xml, FRAME("a/A.a%d(A.java:%d)"), i % 300, i);
    buf_puts(&xml, "</threadInterrupted><threadEnd threadIdRef='1' time='3'/>");
    struct trace *t = xml_import(buf_str(&xml));
    buf_fini(&xml);
    static const char *const problems[] = {
        "line 2: a stack longer than a trace can hold: its outer frames are left out"};
    has_problems(t, problems, 1);
    cr_assert_eq(t->n_events, 3);
    cr_assert_gt(t->stacks[1].n_frames, 40000);
    cr_assert_eq(t->stacks[1].flags, STACK_TRUNCATED);
    cr_assert_eq(trace_line(t, t->stacks[1].frames[40000]), 40000);
    trace_close(t);
}

Test(import_trcxml, a_method_of_too_many_lines_loses_some)
{
    struct buf xml = {0};
    buf_puts(&xml, MAIN);
    for (int i = 0; i < 40; i++) {
        buf_puts(&xml, "<threadInterrupted threadId='1' time='2'>");
        for (int k = 0; k < 1000; k++)
            buf_printf(&xml, FRAME("a/A.a(A.java:%d)"), 200 * (i * 1000 + k));
        buf_puts(&xml, "</threadInterrupted>");
    }
    struct trace *t = xml_import(buf_str(&xml));
    buf_fini(&xml);
    has_problems(t, NULL, 0);
    cr_assert_eq(trace_line(t, t->stacks[1].frames[7]), 1400);
    cr_assert_eq(trace_line(t, t->stacks[18].frames[7]), -1);
    trace_close(t);
}

/* --- times ------------------------------------------------------------------------------------ */

#define END_AT(text) "<threadEnd threadIdRef='1' time='" text "'/>"

Test(import_trcxml, times_have_any_number_of_decimals)
{
    xml_is(MAIN END_AT("2") END_AT("3.5") END_AT("4.123456789987654321") END_AT("0005.000000000"),
           "1000 thread_start main\n2000 thread_end main\n3500 thread_end main\n4123 thread_end "
           "main\n5000 thread_end main\n");
}

Test(import_trcxml, times_that_are_none_leave_the_event_out)
{
    static const char *const bad[] = {"x",
                                      "-1",
                                      "1e9",
                                      "1,5",
                                      ".5",
                                      "1.",
                                      " 1",
                                      "99999999999",
                                      "1 ",
                                      "0x10",
                                      "1.2.3",
                                      "+5",
                                      "9999999999999999999999999"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char xml[200];
        snprintf(xml, sizeof xml, MAIN "\n\n" END_AT("%s") END_AT("3"), bad[i]);
        xml_is_but(xml,
                   "line 3: a time that is not a number of seconds below 292 years: the event is "
                   "left out",
                   true, "1000 thread_start main\n3000 thread_end main\n");
    }
    xml_is_but(MAIN "\n<threadEnd threadIdRef='1'/><threadEnd threadIdRef='1' time=''/>",
               "line 2: an event without a time is left out: record with TIMESTAMPS=true (2 such)",
               true, "1000 thread_start main\n");
}

Test(import_trcxml, a_thread_without_a_time_has_its_name)
{
    xml_is_but("<threadStart threadId='1' threadName='main'/>" END_AT("3"),
               "line 1: an event without a time is left out: record with TIMESTAMPS=true", true,
               "3000 thread_end main\n");
}

Test(import_trcxml, numbers_that_are_none_are_not_known)
{
    xml_is_but(MAIN "\n<monWait threadIdRef='1' time='2' objIdRef='9' timeout='-5'/>"
                    "<monWait threadIdRef='1' time='3' objIdRef='9' "
                    "timeout='9223372036854775808'/>"
                    "<monWaited threadIdRef='1' time='4' objIdRef='9' isTimedOut='maybe'/>",
               "line 2: an attribute that is not a number from 0 up: unknown (3 such)", true,
               "1000 thread_start main\n2000 wait_enter main lock=1:? timeout_ms=-1\n"
               "3000 wait_enter main lock=1:? timeout_ms=-1\n4000 wait_exit main lock=1:?\n");
}

Test(import_trcxml, events_out_of_order_are_put_in_order)
{
    xml_is(MAIN END_AT("5") END_AT("3") END_AT("4"),
           "1000 thread_start main\n3000 thread_end main\n4000 thread_end main\n5000 thread_end "
           "main\n");
    struct buf xml = {0};
    buf_puts(&xml, MAIN "\n");
    for (int i = 1000; i > 0; i--)
        buf_printf(&xml, END_AT("%d") "\n", i);
    xml_is_refused(buf_str(&xml),
                   "app.trcxml: line 258: the events are too far out of the order of time");
    buf_fini(&xml);
}

/* --- what is missing -------------------------------------------------------------------------- */

Test(import_trcxml, definitions_without_ids_are_left_out)
{
    xml_is_but("<threadStart time='1' threadName='x'/><classDef classId='3'/>"
               "<methodDef methodId='3' classIdRef='5'/>" MAIN,
               "line 1: a definition without its id or name is left out (3 such)", true,
               "1000 thread_start main\n");
}

Test(import_trcxml, a_text_that_is_too_long_is_cut_where_a_character_ends)
{
    struct buf xml = {0};
    buf_puts(&xml, "<threadStart threadId='1' time='1' threadName='");
    for (int i = 0; i < 40000; i++)
        buf_puts(&xml, "\xc3\xbc");
    buf_puts(&xml, "' groupName='");
    for (int i = 0; i < 65535; i++)
        buf_putc(&xml, 'x');
    buf_puts(&xml, "' parentName='");
    for (int i = 0; i < 65536; i++)
        buf_putc(&xml, 'y');
    buf_puts(&xml, "'/>");
    struct trace *t = xml_import(buf_str(&xml));
    buf_fini(&xml);
    const char *problem = "line 1: a text longer than a trace can hold is cut (2 such)";
    has_problems(t, &problem, 1);
    const struct trace_thread *th = trace_thread(t, (thread_id){1});
    cr_assert_eq(strlen(th->name), 65534);
    cr_assert_eq(strlen(th->group), 65535);
    cr_assert_eq(strlen(th->parent_group), 65535);
    trace_close(t);
}

/* --- and on ----------------------------------------------------------------------------------- */

Test(import_trcxml, an_import_can_be_exported_as_text_and_imported_again)
{
    static const char *const formats[] = {"orca", "orca-1.1"};
    struct trace *t = xml_import(
        MAIN WORKER
        "<monContendedEnter threadIdRef='2' time='3' objIdRef='103' threadOwner='1'>" FRAME(
            "?.?(?)") FRAME("a/Main.run(Main.java:12)")
            FRAME("a/Main.main(native)") "</monContendedEnter>");
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        struct orca_files f = files_export(exporter_find(formats[i]), t);
        struct trace *again = files_import_again(&f);
        cr_assert_eq(again->n_events, 3);
        trace_close(again);
        files_free(&f);
    }
    trace_close(t);
}
