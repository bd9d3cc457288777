#include "export/export.h"

#include "base/util.h"
#include "orca_files.h"
#include "tptp_lines.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(export_tptp_waits, sleeps)
{
    struct scene s;
    scene_init(&s, "waits+joins");
    STEP(&s, sleep_exit, .stack = {0}); /* began before the recording did */
    STEP(&s, sleep_enter, .timeout_ns = 0);
    STEP(&s, sleep_exit, .stack = {0});
    STEP(&s, sleep_enter, .timeout_ns = (int64_t)MS);
    STEP(&s, sleep_exit, .stack = {0});
    STEP(&s, sleep_enter, .timeout_ns = (int64_t)MS + 1); /* came back too early */
    STEP(&s, sleep_exit, .stack = {0});
    STEP(&s, sleep_enter, .timeout_ns = INT64_MAX);
    STEP(&s, sleep_enter, .timeout_ns = 1); /* after a lost end */
    STEP(&s, interrupted, .stack = {0});
    STEP(&s, sleep_exit, .stack = {0});
    scene_is(&s, MAIN "<monWaited threadIdRef='1' @1000000 objIdRef='-1'/>\n"
                      "<monWait threadIdRef='1' @2000000 objIdRef='-1' timeout='0'/>\n"
                      "<monWaited threadIdRef='1' @3000000 objIdRef='-1' timeout='1' "
                      "isTimedOut='1'/>\n"
                      "<monWait threadIdRef='1' @4000000 objIdRef='-1' timeout='1'/>\n"
                      "<monWaited threadIdRef='1' @5000000 objIdRef='-1' timeout='1' "
                      "isTimedOut='1'/>\n"
                      "<monWait threadIdRef='1' @6000000 objIdRef='-1' timeout='2'/>\n"
                      "<monWaited threadIdRef='1' @7000000 objIdRef='-1' timeout='1' "
                      "isTimedOut='0'/>\n"
                      "<monWait threadIdRef='1' @8000000 objIdRef='-1' timeout='9223372036855'/>\n"
                      "<monWait threadIdRef='1' @9000000 objIdRef='-1' timeout='1'/>\n"
                      "<threadInterrupted threadId='1' @10000000/>\n"
                      "<monWaited threadIdRef='1' @11000000 objIdRef='-1' timeout='2' "
                      "isTimedOut='0'/>\n");
}

Test(export_tptp_waits, a_wait_whose_begin_is_missing_has_no_duration)
{
    struct scene s;
    scene_init(&s, "waits");
    lock_id lock = lock_of(&s, "", 7), other = lock_of(&s, "", 8);
    STEP(&s, wait_exit, .lock = lock, .timed_out = 1);
    STEP(&s, wait_enter, .lock = lock, .timeout_ms = 5);
    STEP(&s, lost, .cause = LOSS_ring_full, .count = 2);
    STEP(&s, wait_exit, .lock = lock);
    STEP(&s, wait_enter, .lock = lock);
    STEP(&s, wait_exit, .lock = other);
    STEP(&s, wait_exit, .lock = lock);
    STEP(&s, wait_enter, .lock = {0}); /* its definition was lost: -1 would mean a sleep */
    STEP(&s, wait_exit, .lock = {0});
    scene_is(&s, MAIN "<monWaited threadIdRef='1' @1000000 objIdRef='2' isTimedOut='1'/>\n"
                      "<monWait threadIdRef='1' @2000000 objIdRef='2' timeout='5'/>\n"
                      "<monWaited threadIdRef='1' @4000000 objIdRef='2' isTimedOut='0'/>\n"
                      "<monWait threadIdRef='1' @5000000 objIdRef='2' timeout='0'/>\n"
                      "<monWaited threadIdRef='1' @6000000 objIdRef='4' isTimedOut='0'/>\n"
                      "<monWaited threadIdRef='1' @7000000 objIdRef='2' isTimedOut='0'/>\n"
                      "<monWait threadIdRef='1' @8000000 timeout='0'/>\n"
                      "<monWaited threadIdRef='1' @9000000 timeout='1' isTimedOut='0'/>\n");
}

#define JOIN_CLASS(name) "<annotation name='orca.class' value='" name "'/></monWait>\n"

/* The class of the object says nothing, its hash and the join do. */
Test(export_tptp_waits, a_join_is_the_wait_inside_it)
{
    struct scene s;
    scene_init(&s, "threads+waits+joins");
    lock_id lock = lock_of(&s, "LWorker;", 2), other = lock_of(&s, "LWorker;", 9);
    STEP(&s, wait_enter, .lock = lock); /* not known to be a thread yet */
    STEP(&s, wait_exit, .lock = lock);
    STEP(&s, join_enter, .target = s.other, .timeout_ns = 3 * (int64_t)MS);
    STEP(&s, wait_enter, .lock = lock, .timeout_ms = 3);
    STEP(&s, wait_exit, .lock = lock, .timed_out = 1);
    STEP(&s, join_exit, .target = s.other);
    STEP(&s, join_enter, .target = s.other); /* had ended: no wait */
    STEP(&s, join_exit, .target = s.other);
    STEP(&s, join_enter, .target = s.other); /* the join's end was lost */
    STEP(&s, wait_enter, .lock = other);
    STEP(&s, wait_exit, .lock = other);
    uint64_t left_out = scene_is(
        &s,
        MAIN "<monWait threadIdRef='1' @1000000 objIdRef='2' timeout='0'>" JOIN_CLASS(
            "Worker") "<monWaited threadIdRef='1' @2000000 objIdRef='2' timeout='1' "
                      "isTimedOut='0'/>\n"
                      "<monWait threadIdRef='1' @4000000 objIdRef='5' timeout='3'>" JOIN_CLASS(
                          "Worker") "<monWaited threadIdRef='1' @5000000 objIdRef='5' timeout='1' "
                                    "isTimedOut='1'/>\n"
                                    "<monWait threadIdRef='1' @10000000 objIdRef='4' "
                                    "timeout='0'>" JOIN_CLASS(
                                        "Worker") "<monWaited threadIdRef='1' @11000000 "
                                                  "objIdRef='4' timeout='1' isTimedOut='0'/>\n");
    cr_assert_eq(left_out, 0);
}

Test(export_tptp_waits, a_join_of_a_virtual_thread_is_a_wait_on_it)
{
    struct scene s;
    scene_init(&s, "waits");
    thread_id v = builder_thread_flags(&s.b, "", THREAD_VIRTUAL);
    STEP(&s, join_exit, .target = v); /* began before */
    STEP(&s, join_enter, .target = v, .timeout_ns = 0);
    STEP(&s, join_exit, .target = v);
    STEP(&s, join_enter, .target = v, .timeout_ns = 1);
    STEP(&s, join_exit, .target = v);
    STEP(&s, join_enter, .target = v, .timeout_ns = 9 * (int64_t)MS);
    STEP(&s, interrupted, .stack = {0});
    STEP(&s, join_exit, .target = v);
    ADD0(&s.b, 1, v, s.at + 1, thread_start);
    scene_is(&s, MAIN "<monWaited threadIdRef='1' @1000000 objIdRef='7'/>\n"
                      "<monWait threadIdRef='1' @2000000 objIdRef='7' timeout='0'/>\n"
                      "<monWaited threadIdRef='1' @3000000 objIdRef='7' timeout='1' "
                      "isTimedOut='0'/>\n"
                      "<monWait threadIdRef='1' @4000000 objIdRef='7' timeout='1'/>\n"
                      "<monWaited threadIdRef='1' @5000000 objIdRef='7' timeout='1' "
                      "isTimedOut='1'/>\n"
                      "<monWait threadIdRef='1' @6000000 objIdRef='7' timeout='9'/>\n"
                      "<threadInterrupted threadId='1' @7000000/>\n"
                      "<monWaited threadIdRef='1' @8000000 objIdRef='7' timeout='2' "
                      "isTimedOut='0'/>\n"
                      "<threadStart threadId='3' @8000001 groupName='main' parentName='system' "
                      "objIdRef='7' threadName=''><annotation name='orca.virtual' value='1'/>"
                      "</threadStart>\n");
}

/* Waits were not recorded, or not those on this class: then the join is all there is. */
static void join_alone(const char *groups, const char *key)
{
    struct scene s;
    scene_init(&s, groups);
    if (key)
        builder_info(&s.b, key, "shop.*");
    lock_id lock = lock_of(&s, "", 2);
    STEP(&s, join_enter, .target = s.other, .timeout_ns = 7 * (int64_t)MS);
    STEP(&s, wait_enter, .lock = lock, .timeout_ms = 7);
    STEP(&s, wait_exit, .lock = lock, .timed_out = 0);
    STEP(&s, join_exit, .target = s.other);
    uint64_t left_out = scene_is(
        &s, MAIN "<monWait threadIdRef='1' @1000000 objIdRef='5' timeout='7'/>\n"
                 "<monWaited threadIdRef='1' @4000000 objIdRef='5' timeout='3' isTimedOut='0'/>\n");
    cr_assert_eq(left_out, 2, "not twice");
}

Test(export_tptp_waits, a_join_without_waits_is_a_wait_itself)
{
    join_alone("", NULL);
    join_alone("threads+awaits+waitsome+joins", NULL);
    join_alone("threads+waits", "orca.include");
    join_alone("threads+waits", "orca.exclude");
}

/* --- ids -------------------------------------------------------------------------------------- */

static uint64_t object_of_notify(const char *text, uint64_t at)
{
    char key[80];
    snprintf(key, sizeof key, "<callNotify threadId=\"1\" time=\"1763700000.%09llu\" objIdRef=\"",
             (unsigned long long)at);
    const char *p = strstr(text, key);
    cr_assert_not_null(p, "%s is not in\n%s", key, text);
    return strtoull(p + strlen(key), NULL, 10);
}

Test(export_tptp_waits, a_thread_that_is_a_lock_has_one_id)
{
    struct scene s;
    scene_init(&s, "waits");
    builder_thread(&s.b, "third");
    builder_def(&s.b, &(struct def){.kind = DEF_thread,
                                    .thread = {.id = {4}, .hash = 3, .name = {"fourth", 6}}});
    struct {
        const char *class_;
        uint32_t hash;
        uint64_t object;
    } locks[] = {{"Ljava/lang/Thread;", 2, 5},
                 {"Ljava/lang/Object;", 1, 4},  /* a chance */
                 {"Ljava/lang/Thread;", 3, 6},  /* two threads have that hash */
                 {"Ljava/lang/Thread;", 77, 8}, /* a thread that was never seen */
                 {"Ljava/lang/Thread;", 0, 10}, /* unknown */
                 {"Ljava/lang/Thread;", 1, 12}, /* two such locks have that hash */
                 {"Ljava/util/concurrent/ForkJoinWorkerThread;", 1, 14}};
    for (size_t i = 0; i < ARRAY_LEN(locks); i++) {
        lock_id lock = lock_of(&s, locks[i].class_, locks[i].hash);
        STEP(&s, notify, .lock = lock);
    }
    struct trace *t = builder_open(&s.b, s.at);
    struct orca_files f = files_export(tptp(), t);
    for (size_t i = 0; i < ARRAY_LEN(locks); i++)
        cr_assert_eq(object_of_notify(f.text[0], (i + 1) * MS), locks[i].object, "lock %zu", i + 1);
    files_free(&f);
    trace_close(t);
}

Test(export_tptp_waits, threads_without_a_start_are_introduced_once)
{
    struct scene s;
    scene_init(&s, "waits");
    builder_def(&s.b, &(struct def){.kind = DEF_thread,
                                    .thread = {.id = {3},
                                               .flags = THREAD_NATIVE,
                                               .name = {"VM Thread", 9},
                                               .group = {"", 0}}});
    lock_id lock = lock_of(&s, "", 8);
    STEP(&s, monitor_contended_enter, .lock = lock, .owner = {3});
    ADD(&s.b, 1, s.other, ++s.at, notify, .lock = lock);
    ADD0(&s.b, 1, s.other, ++s.at, thread_alive);
    ADD0(&s.b, 1, s.other, ++s.at, thread_start);
    ADD0(&s.b, 1, s.other, ++s.at, thread_end);
    ADD(&s.b, 1, s.other, ++s.at, notify, .lock = lock); /* behind its end: no second life */
    ADD0(&s.b, 1, s.other, ++s.at, thread_start);        /* a text's next thread of that hash */
    STEP(&s, monitor_contended_enter, .lock = lock, .owner = {9}); /* has no place in the table */
    ADD(&s.b, 1, (thread_id){0}, ++s.at, notify, .lock = lock);
    scene_is(&s, MAIN
             "<threadStart threadId='3' @1000000 groupName='' parentName='' threadName='VM Thread'>"
             "<annotation name='orca.alive' value='1'/></threadStart>\n"
             "<monContendedEnter threadIdRef='1' @1000000 objIdRef='2' threadOwner='3'/>\n"
             "<threadStart threadId='2' @1000001 groupName='main' parentName='system' "
             "objIdRef='5' threadName='other'><annotation name='orca.alive' value='1'/>"
             "</threadStart>\n"
             "<callNotify threadId='2' @1000001 objIdRef='2' isNotifyAll='0'/>\n"
             "<threadEnd threadIdRef='2' @1000004/>\n"
             "<callNotify threadId='2' @1000005 objIdRef='2' isNotifyAll='0'/>\n"
             "<threadStart threadId='2' @1000006 groupName='main' parentName='system' "
             "objIdRef='5' threadName='other'/>\n"
             "<monContendedEnter threadIdRef='1' @2000006 objIdRef='2'/>\n"
             "<callNotify @2000007 objIdRef='2' isNotifyAll='0'/>\n");
}

Test(export_tptp_waits, interrupts_of_threads_that_do_not_wait_are_hidden)
{
    static const uint32_t in[] = {
        0, EV_monitor_contended_enter, EV_wait_enter, EV_sleep_enter, EV_park_enter, EV_join_enter};
    struct scene s;
    scene_init(&s, "waits");
    for (size_t i = 0; i < ARRAY_LEN(in); i++)
        STEP(&s, interrupt, .target = s.other, .target_in = in[i]);
    STEP(&s, interrupt, .target = {0}, .target_in = EV_wait_enter);
    uint64_t left_out =
        scene_is(&s, MAIN "<?orca <callInterrupt threadId='1' @1000000 objIdRef='5' "
                          "in='none'/>?>\n"
                          "<?orca <callInterrupt threadId='1' @2000000 objIdRef='5' "
                          "in='monitor_contended_enter'/>?>\n"
                          "<callInterrupt threadId='1' @3000000 objIdRef='5'/>\n"
                          "<callInterrupt threadId='1' @4000000 objIdRef='5'/>\n"
                          "<callInterrupt threadId='1' @5000000 objIdRef='5'/>\n"
                          "<callInterrupt threadId='1' @6000000 objIdRef='5'/>\n"
                          "<callInterrupt threadId='1' @7000000/>\n");
    cr_assert_eq(left_out, 0);
}
