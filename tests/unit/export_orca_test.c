#include "export/export.h"

#include "base/util.h"
#include "export/orca_ids.h"
#include "orca_files.h"
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct exporter *orca(void)
{
    return exporter_find("orca");
}

static const struct exporter *orca_1_1(void)
{
    return exporter_find("orca-1.1");
}

/* Print the first line that differs: whole files are hard to compare in a terminal. */
static void same_text(const char *got, const char *expected)
{
    size_t line = 1;
    while (*got && *expected) {
        size_t n = strcspn(got, "\n"), m = strcspn(expected, "\n");
        cr_assert(n == m && strncmp(got, expected, n) == 0,
                  "line %zu:\n  got      %.*s\n  expected %.*s", line, (int)n, got, (int)m,
                  expected);
        got += n + (got[n] == '\n');
        expected += m + (expected[m] == '\n');
        line++;
    }
    cr_assert(!*got && !*expected, "line %zu:\n  got      %s\n  expected %s", line, got, expected);
}

/* Every kind of event that the formats have, as two threads that play ping-pong would cause
 * them. */
static struct trace *ping_pong(void)
{
    struct trace_builder b;
    builder_init(&b);
    thread_id main = builder_thread(&b, "main"), ping = builder_thread(&b, "Ping");
    lock_id table = builder_lock(&b, builder_class(&b, "LTable;"));
    lock_id permits = builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/Semaphore;"));
    stack_id play = builder_stack(&b, "java.lang.Object.wait:native PingPong.play:40");
    stack_id run = builder_stack(&b, "PingPong.main:70");
    ADD0(&b, 1, main, 0, recording_start);
    ADD0(&b, 1, main, 1, thread_alive);
    ADD(&b, 1, main, 2, thread_start_called, .target = ping, .stack = run);
    ADD0(&b, 1, ping, 3, thread_start);
    ADD(&b, 1, ping, 4, monitor_contended_enter, .lock = table, .owner = main, .stack = run);
    ADD(&b, 1, ping, 5, monitor_contended_entered, .lock = table);
    ADD(&b, 1, ping, 6, wait_enter, .lock = table, .timeout_ms = 100, .stack = play);
    ADD(&b, 1, main, 7, notify, .lock = table, .stack = run);
    ADD(&b, 1, main, 8, notify_all, .lock = table, .stack = run);
    ADD(&b, 1, ping, 9, wait_exit, .lock = table);
    ADD(&b, 1, ping, 10, sleep_enter, .timeout_ns = 1, .stack = run);
    ADD(&b, 1, ping, 11, sleep_exit, .stack = run);
    ADD(&b, 1, ping, 12, semaphore_acquire_enter, .lock = permits, .stack = run);
    ADD(&b, 1, main, 13, semaphore_release, .lock = permits, .stack = run);
    ADD(&b, 1, ping, 14, semaphore_acquire_exit, .lock = permits, .stack = run);
    ADD(&b, 1, main, 15, join_enter, .target = ping, .stack = run);
    ADD0(&b, 1, ping, 16, thread_end);
    ADD(&b, 1, main, 17, join_exit, .target = ping, .stack = run);
    ADD0(&b, 1, main, 18, gc_start);
    ADD0(&b, 1, main, 19, gc_finish);
    ADD0(&b, 1, main, 20, recording_end);
    return builder_open(&b, 20);
}

/* Hashes are those of the builder: threads 1, 2, ..., locks 101, 102, ..., classes 1, 2, ... */
static const char ping_pong_log[] =
    "5.0000000010,ThreadStarted,00000001,main\n"
    "5.0000000020,ThreadStart,00000001,00000002,1;00000003;00000046\n"
    "5.0000000030,ThreadStarted,00000002,Ping\n"
    "5.0000000040,MonitorContendedEnter,00000002,00000101,00000001,1;00000003;00000046\n"
    "5.0000000050,MonitorContendedEntered,00000002,00000101,1;00000003;00000046\n"
    "5.0000000060,ObjectWait,00000002,00000101,2;00000001;FFFFFFFF;00000002;00000028\n"
    "5.0000000070,ObjectNotify,00000001,00000101,1;00000003;00000046\n"
    "5.0000000080,ObjectNotifyAll,00000001,00000101,1;00000003;00000046\n"
    "5.0000000090,ObjectWaited,00000002,00000101,2;00000001;FFFFFFFF;00000002;00000028\n"
    "5.0000000100,ThreadSleep,00000002,1;00000003;00000046\n"
    "5.0000000110,ThreadSlept,00000002,1;00000003;00000046\n"
    "5.0000000120,SemaphoreAcquire,00000002,00000102,1;00000003;00000046\n"
    "5.0000000130,SemaphoreRelease,00000001,00000102,1;00000003;00000046\n"
    "5.0000000140,SemaphoreAcquired,00000002,00000102,1;00000003;00000046\n"
    "5.0000000150,ThreadJoin,00000001,00000002,1;00000003;00000046\n"
    "5.0000000160,ThreadEnded,00000002\n"
    "5.0000000170,ThreadJoined,00000001,00000002,1;00000003;00000046\n";

Test(export_orca, every_kind_of_event_has_its_line)
{
    struct trace *t = ping_pong();
    struct orca_files f = files_export(orca(), t);
    same_text(f.text[0], ping_pong_log);
    cr_assert_eq(f.job.lines[0], 17);
    cr_assert_eq(f.job.skipped[EV_gc_start], 1);
    cr_assert_eq(f.job.skipped[EV_gc_finish], 1);
    cr_assert_eq(f.job.skipped[EV_recording_end], 0, "no user misses what the recorder says");
    cr_assert_eq(f.job.suppressed, 0);
    files_free(&f);
    trace_close(t);
}

/* The builder's line tables are long: only the ends of the lines that hold them. */
static void begins_and_ends(const char *text, const char *begin, const char *end)
{
    size_t n = strcspn(text, "\n"), m = strlen(end);
    cr_assert(strncmp(text, begin, strlen(begin)) == 0, "got      %.80s\nexpected %s", text, begin);
    cr_assert(n >= m && strncmp(text + n - m, end, m) == 0, "got ...%.*s, expected ...%s", 60,
              text + n - 60, end);
}

Test(export_orca, methods_and_classes_are_those_that_stacks_name)
{
    struct trace *t = ping_pong();
    struct orca_files f = files_export(orca(), t);
    /* In the order in which the log names them, with the time at which it does. */
    const char *line = f.text[1];
    begins_and_ends(line,
                    "5.0000000020,00000003,main,()V,00000004,1999;00000001;00000001;00000002;",
                    ";000007CF;000007CF");
    line += strcspn(line, "\n") + 1;
    begins_and_ends(line, "5.0000000060,00000001,wait,()V,00000003,-1", ",-1");
    line += strcspn(line, "\n") + 1;
    begins_and_ends(line, "5.0000000060,00000002,play,()V,00000004,1999;", "");
    cr_assert_eq(f.job.lines[1], 3);
    same_text(f.text[2], "5.0000000020,00000004,LPingPong;,PingPong.java\n"
                         "5.0000000060,00000003,Ljava/lang/Object;,Object.java\n");
    files_free(&f);
    trace_close(t);
}

Test(export_orca, version_1_1_has_commas_a_meta_file_and_no_semaphores)
{
    struct trace *t = ping_pong();
    struct orca_files f = files_export(orca_1_1(), t);
    char expected[sizeof ping_pong_log];
    char *to = expected;
    for (const char *p = ping_pong_log; *p; p += strcspn(p, "\n") + 1) {
        size_t n = strcspn(p, "\n") + 1;
        if (memmem(p, n, "Semaphore", 9))
            continue;
        for (size_t i = 0; i < n; i++)
            *to++ = p[i] == ';' ? ',' : p[i];
    }
    *to = 0;
    same_text(f.text[0], expected);
    const char *line = f.text[1];
    begins_and_ends(line, "LPingPong;,PingPong.java", "PingPong.java");
    line += strcspn(line, "\n") + 1;
    begins_and_ends(line, "Ljava/lang/Object;,Object.java", "Object.java");
    line += strcspn(line, "\n") + 1;
    begins_and_ends(line, "00000003,main,()V,LPingPong;,1999,00000001,1,00000002,2,",
                    ",000007CF,1999");
    line += strcspn(line, "\n") + 1;
    begins_and_ends(line, "00000001,wait,()V,Ljava/lang/Object;,-1", ",-1");
    cr_assert_null(f.text[2]);
    cr_assert_eq(f.job.lines[1], 5);
    cr_assert_eq(f.job.skipped[EV_semaphore_acquire_enter], 1);
    files_free(&f);
    trace_close(t);
}

/* --- nested calls ----------------------------------------------------------------------------- */

struct nest {
    struct trace_builder b;
    thread_id main, other;
    lock_id lock;
    stack_id stack;
    uint64_t at;
};

static void nest_init(struct nest *n)
{
    builder_init(&n->b);
    n->main = builder_thread(&n->b, "main");
    n->other = builder_thread(&n->b, "other");
    n->lock = builder_lock(&n->b, builder_class(&n->b, "LTable;"));
    n->stack = builder_stack(&n->b, "A.a:1");
    n->at = 0;
    ADD0(&n->b, 1, n->main, n->at, thread_alive);
}

/* Export what was added; the log's lines must be these, given without time and with ' ' for ','. */
static uint64_t nest_is(struct nest *n, const char *expected)
{
    struct trace *t = builder_open(&n->b, n->at);
    struct orca_files f = files_export(orca(), t);
    struct buf got = {0};
    for (const char *p = f.text[0]; *p; p += strcspn(p, "\n") + 1) {
        const char *from = strchr(p, ',') + 1;
        buf_put(&got, from, strcspn(from, "\n") + 1);
    }
    same_text(buf_str(&got), expected);
    uint64_t suppressed = f.job.suppressed;
    buf_fini(&got);
    files_free(&f);
    trace_close(t);
    return suppressed;
}

#define STEP(n, kind, ...) ADD(&(n)->b, 1, (n)->main, ++(n)->at, kind, __VA_ARGS__)

Test(export_orca, a_wait_inside_a_join_is_left_out)
{
    struct nest n;
    nest_init(&n);
    STEP(&n, join_enter, .target = n.other, .stack = n.stack);
    for (int i = 0; i < 3; i++) {
        STEP(&n, wait_enter, .lock = n.lock, .stack = n.stack);
        STEP(&n, wait_exit, .lock = n.lock);
    }
    STEP(&n, join_exit, .target = n.other, .stack = n.stack);
    STEP(&n, wait_enter, .lock = n.lock, .stack = n.stack);
    STEP(&n, wait_exit, .lock = n.lock);
    uint64_t suppressed = nest_is(&n, "ThreadStarted,00000001,main\n"
                                      "ThreadJoin,00000001,00000002,1;00000001;00000001\n"
                                      "ThreadJoined,00000001,00000002,1;00000001;00000001\n"
                                      "ObjectWait,00000001,00000101,1;00000001;00000001\n"
                                      "ObjectWaited,00000001,00000101,1;00000001;00000001\n");
    cr_assert_eq(suppressed, 6);
}

Test(export_orca, nesting_is_counted_for_each_thread_and_in_any_depth)
{
    struct nest n;
    nest_init(&n);
    STEP(&n, semaphore_acquire_enter, .lock = n.lock, .stack = n.stack);
    ADD(&n.b, 2, n.other, n.at, notify, .lock = n.lock);
    char frames[100] = "A.a:1";
    stack_id deepest = {0};
    for (int i = 0; i < 9; i++) { /* an overload that calls an overload that ... */
        memmove(frames + 6, frames, strlen(frames) + 1);
        memcpy(frames, "A.a:2 ", 6);
        deepest = builder_stack(&n.b, frames);
        STEP(&n, semaphore_acquire_enter, .lock = n.lock, .stack = deepest);
    }
    STEP(&n, notify, .lock = n.lock, .stack = deepest);
    for (int i = 0; i < 9; i++)
        STEP(&n, semaphore_acquire_exit, .lock = n.lock, .stack = n.stack);
    STEP(&n, semaphore_acquire_exit, .lock = n.lock, .stack = n.stack);
    STEP(&n, notify_all, .lock = n.lock, .stack = n.stack);
    uint64_t suppressed = nest_is(&n, "ThreadStarted,00000001,main\n"
                                      "SemaphoreAcquire,00000001,00000101,1;00000001;00000001\n"
                                      "ThreadStarted,00000002,other\n"
                                      "ObjectNotify,00000002,00000101,0\n"
                                      "SemaphoreAcquired,00000001,00000101,1;00000001;00000001\n"
                                      "ObjectNotifyAll,00000001,00000101,1;00000001;00000001\n");
    cr_assert_eq(suppressed, 9 + 1 + 9);
}

Test(export_orca, contention_is_no_call_and_never_left_out)
{
    struct nest n;
    nest_init(&n);
    STEP(&n, join_enter, .target = n.other, .stack = n.stack);
    STEP(&n, monitor_contended_enter, .lock = n.lock, .stack = n.stack);
    STEP(&n, monitor_contended_entered, .lock = n.lock);
    STEP(&n, join_exit, .target = n.other);
    uint64_t suppressed =
        nest_is(&n, "ThreadStarted,00000001,main\n"
                    "ThreadJoin,00000001,00000002,1;00000001;00000001\n"
                    "MonitorContendedEnter,00000001,00000101,00000000,1;00000001;00000001\n"
                    "MonitorContendedEntered,00000001,00000101,1;00000001;00000001\n"
                    "ThreadJoined,00000001,00000002,1;00000001;00000001\n");
    cr_assert_eq(suppressed, 0);
}

/* Of two contentions the one whose owner had gone is left out, begin and end, when asked for. */
Test(export_orca, fast_contention_is_left_out_on_request)
{
    struct nest n;
    nest_init(&n);
    STEP(&n, monitor_contended_enter, .lock = n.lock, .owner_gone = 1);
    STEP(&n, monitor_contended_entered, .lock = n.lock);
    STEP(&n, monitor_contended_enter, .lock = n.lock, .owner = n.other);
    STEP(&n, monitor_contended_entered, .lock = n.lock);
    struct trace *t = builder_open(&n.b, n.at);
    struct orca_files all = files_export(orca(), t);
    struct orca_files slow =
        files_export_job(orca(), &(struct export_job){.trace = t, .no_fast = true});
    cr_assert(all.job.lines[0] == 6 && all.job.fast == 0);
    cr_assert(slow.job.lines[0] == 4 && slow.job.fast == 1);
    cr_assert_not_null(strstr(slow.text[0], "ContendedEnter,00000001,00000101,00000002,"));
    cr_assert_null(strstr(slow.text[0], "ContendedEnter,00000001,00000101,00000000,"));
    files_free(&all);
    files_free(&slow);
    trace_close(t);
}

Test(export_orca, the_stack_of_an_end_is_that_of_its_own_beginning)
{
    struct nest n;
    nest_init(&n);
    lock_id other = builder_lock(&n.b, builder_class(&n.b, "LOther;"));
    STEP(&n, wait_exit, .lock = n.lock);                 /* began before the recording did */
    STEP(&n, monitor_contended_entered, .lock = n.lock); /* a virtual thread after a wait */
    STEP(&n, monitor_contended_enter, .lock = n.lock, .stack = n.stack);
    STEP(&n, monitor_contended_entered, .lock = other); /* not the end of this thread */
    STEP(&n, monitor_contended_entered, .lock = n.lock);
    STEP(&n, wait_enter, .lock = n.lock, .stack = n.stack);
    STEP(&n, wait_exit, .lock = other);
    STEP(&n, sleep_enter, .stack = n.stack);
    STEP(&n, sleep_exit, .stack = {0});
    nest_is(&n, "ThreadStarted,00000001,main\n"
                "ObjectWaited,00000001,00000101,0\n"
                "MonitorContendedEntered,00000001,00000101,0\n"
                "MonitorContendedEnter,00000001,00000101,00000000,1;00000001;00000001\n"
                "MonitorContendedEntered,00000001,00000102,0\n"
                "MonitorContendedEntered,00000001,00000101,0\n"
                "ObjectWait,00000001,00000101,1;00000001;00000001\n"
                "ObjectWaited,00000001,00000102,0\n"
                "ThreadSleep,00000001,1;00000001;00000001\n"
                "ThreadSlept,00000001,1;00000001;00000001\n");
}

Test(export_orca, a_lost_end_does_not_silence_the_thread)
{
    struct nest n;
    nest_init(&n);
    STEP(&n, wait_enter, .lock = n.lock); /* its end is missing, and nothing runs inside a wait */
    STEP(&n, wait_enter, .lock = n.lock);
    STEP(&n, notify, .lock = n.lock);
    STEP(&n, join_enter, .target = n.other);
    STEP(&n, lost, .cause = LOSS_ring_full, .count = 3);
    STEP(&n, wait_enter, .lock = n.lock);
    nest_is(&n, "ThreadStarted,00000001,main\n"
                "ObjectWait,00000001,00000101,0\n"
                "ObjectWait,00000001,00000101,0\n"
                "ObjectNotify,00000001,00000101,0\n"
                "ThreadJoin,00000001,00000002,0\n"
                "ObjectWait,00000001,00000101,0\n");
}

static void define_call(struct nest *n, uint32_t id, const char *row)
{
    builder_def(
        &n->b,
        &(struct def){.kind = DEF_call,
                      .call = {.id = {id}, .class_name = {"LA;", 3}, .row = {row, strlen(row)}}});
}

/* Stacks that had to be cut do not say how deep a call is; as many calls must be counted. */
Test(export_orca, of_a_thousand_calls_inside_each_other_the_outermost_is_written)
{
    enum { DEEP = 1000 };
    struct nest n;
    nest_init(&n);
    define_call(&n, 1, "A#f blocks Deep DeepEnded");
    for (int i = 0; i < DEEP; i++)
        STEP(&n, call_enter, .call = {1}, .stack = i == 0 ? n.stack : (stack_id){0});
    for (int i = 0; i < DEEP; i++)
        STEP(&n, call_exit, .call = {1});
    STEP(&n, notify, .lock = n.lock, .stack = n.stack);
    uint64_t suppressed = nest_is(&n, "ThreadStarted,00000001,main\n"
                                      "Deep,00000001,00000000,1;00000001;00000001\n"
                                      "DeepEnded,00000001,00000000,1;00000001;00000001\n"
                                      "ObjectNotify,00000001,00000101,1;00000001;00000001\n");
    cr_assert_eq(suppressed, 2 * (DEEP - 1));
}

#define ACQUIRED                                                                                   \
    "ThreadStarted,00000001,main\n"                                                                \
    "SemaphoreAcquire,00000001,00000101,2;00000002;00000001;00000001;00000009\n"

/* A stack overflow inside acquire takes its probe with it.  What the thread does next is either
 * still inside that call, or shows that it is over. */
static struct {
    const char *name, *stack, *line;
} after_lost[] = {
    {"inside the call", "B.sync:4 S.acquire:7 A.a:9", ""},
    {"the caller calls the next method", "S.release:1 A.a:12",
     "ObjectNotify,00000001,00000101,2;00000003;00000001;00000001;0000000C\n"},
    {"a method called by the caller", "C.c:4 C.c:3 A.a:12",
     "ObjectNotify,00000001,00000101,3;00000003;00000004;00000003;00000003;00000001;0000000C\n"},
    {"a frame outside it", "A.b:3", "ObjectNotify,00000001,00000101,1;00000003;00000003\n"},
};

Test(export_orca, the_next_stack_shows_that_a_call_without_end_is_over)
{
    for (size_t i = 0; i < ARRAY_LEN(after_lost); i++) {
        struct nest n;
        char expected[400];
        nest_init(&n);
        stack_id acquire = builder_stack(&n.b, "S.acquire:1 A.a:9");
        stack_id stack = builder_stack(&n.b, after_lost[i].stack);
        STEP(&n, semaphore_acquire_enter, .lock = n.lock, .stack = acquire);
        STEP(&n, notify, .lock = n.lock, .stack = stack);
        snprintf(expected, sizeof expected, "%s%s", ACQUIRED, after_lost[i].line);
        nest_is(&n, expected);
    }
}

Test(export_orca, the_same_call_again_shows_that_the_one_before_is_over)
{
    struct nest n;
    nest_init(&n);
    stack_id acquire = builder_stack(&n.b, "S.acquire:1 A.a:9");
    STEP(&n, semaphore_acquire_enter, .lock = n.lock, .stack = acquire);
    STEP(&n, semaphore_acquire_enter, .lock = n.lock, .stack = acquire);
    STEP(&n, semaphore_acquire_exit, .lock = n.lock);
    nest_is(&n,
            ACQUIRED "SemaphoreAcquire,00000001,00000101,2;00000002;00000001;00000001;00000009\n"
                     "SemaphoreAcquired,00000001,00000101,2;00000002;00000001;00000001;"
                     "00000009\n");
}

/* Nobody knows where in the thread's stack a cut one is; a whole one is above every cut one. */
Test(export_orca, cut_stacks_show_no_more_than_they_can)
{
    struct nest n;
    nest_init(&n);
    struct buf frames = {0};
    packed_put_frame(&frames, (method_id){1}, 1);
    struct def cut = {.kind = DEF_stack,
                      .stack = {.id = {++n.b.n_stacks},
                                .flags = STACK_TRUNCATED,
                                .frames = {frames.p, frames.len, 1}}};
    builder_def(&n.b, &cut);
    STEP(&n, semaphore_acquire_enter, .lock = n.lock, .stack = cut.stack.id);
    STEP(&n, notify, .lock = n.lock, .stack = cut.stack.id);
    STEP(&n, notify_all, .lock = n.lock, .stack = n.stack);
    buf_fini(&frames);
    nest_is(&n, "ThreadStarted,00000001,main\n"
                "SemaphoreAcquire,00000001,00000101,1;00000001;00000001\n"
                "ObjectNotifyAll,00000001,00000101,1;00000001;00000001\n");
}

Test(export_orca, an_end_belongs_to_the_call_of_its_own_row)
{
    struct nest n;
    nest_init(&n);
    define_call(&n, 1, "A#f blocks Outer OuterEnded");
    define_call(&n, 2, "A#g blocks Inner InnerEnded");
    STEP(&n, call_enter, .call = {1});
    STEP(&n, call_enter, .call = {2}); /* its end was lost */
    STEP(&n, call_exit, .call = {1});
    nest_is(&n, "ThreadStarted,00000001,main\n"
                "Outer,00000001,00000000,0\n"
                "OuterEnded,00000001,00000000,0\n");
}

Test(export_orca, a_new_thread_of_a_hash_is_in_no_call)
{
    struct nest n;
    nest_init(&n);
    STEP(&n, join_enter, .target = n.other);
    ADD0(&n.b, 1, n.main, ++n.at, thread_end);
    ADD0(&n.b, 1, n.main, ++n.at, thread_start);
    STEP(&n, notify, .lock = n.lock);
    nest_is(&n, "ThreadStarted,00000001,main\n"
                "ThreadJoin,00000001,00000002,0\n"
                "ThreadEnded,00000001\n"
                "ThreadStarted,00000001,main\n"
                "ObjectNotify,00000001,00000101,0\n");
}

static stack_id semaphore_stack(struct nest *n, const char *method)
{
    char frames[100];
    snprintf(frames, sizeof frames, "java.util.concurrent.Semaphore.%s:4 A.a:9", method);
    return builder_stack(&n->b, frames);
}

#define TRY_OF(n, failed_, ...)                                                                    \
    do {                                                                                           \
        STEP(n, semaphore_acquire_enter, .lock = (n)->lock, .stack = try);                         \
        __VA_ARGS__;                                                                               \
        STEP(n, semaphore_acquire_exit, .lock = (n)->lock, .failed = (failed_));                   \
    } while (0)

/* An acquire that threw was one: the specification has its entry and its exit. */
Test(export_orca, a_try_that_got_no_permit_is_no_acquire)
{
    struct nest n;
    nest_init(&n);
    stack_id try = semaphore_stack(&n, "tryAcquire"), acquire = semaphore_stack(&n, "acquire");
    TRY_OF(&n, 1, ADD(&n.b, 2, n.other, n.at, notify, .lock = n.lock));
    TRY_OF(&n, 1, STEP(&n, monitor_contended_enter, .lock = n.lock);
           STEP(&n, monitor_contended_entered, .lock = n.lock); STEP(&n, notify, .lock = n.lock));
    TRY_OF(&n, 0);
    STEP(&n, semaphore_acquire_enter, .lock = n.lock, .stack = acquire);
    STEP(&n, semaphore_acquire_exit, .lock = n.lock, .failed = 1);
    uint64_t suppressed =
        nest_is(&n, "ThreadStarted,00000001,main\n"
                    "ThreadStarted,00000002,other\n"
                    "ObjectNotify,00000002,00000101,0\n"
                    "MonitorContendedEnter,00000001,00000101,00000000,0\n"
                    "MonitorContendedEntered,00000001,00000101,0\n"
                    "SemaphoreAcquire,00000001,00000101,2;00000002;00000004;00000001;00000009\n"
                    "SemaphoreAcquired,00000001,00000101,2;00000002;00000004;00000001;00000009\n"
                    "SemaphoreAcquire,00000001,00000101,2;00000003;00000004;00000001;00000009\n"
                    "SemaphoreAcquired,00000001,00000101,2;00000003;00000004;00000001;00000009\n");
    cr_assert_eq(suppressed, 5);
}

Test(export_orca, a_wait_that_was_open_at_the_start_is_written)
{
    struct nest n;
    nest_init(&n);
    STEP(&n, wait_found, .kind = EV_wait_enter, .lock = n.lock, .stack = n.stack);
    ADD(&n.b, 1, n.other, n.at, wait_found, .kind = EV_monitor_contended_enter, .lock = n.lock,
        .owner = n.main);
    STEP(&n, wait_exit, .lock = n.lock);
    STEP(&n, wait_found, .kind = EV_park_enter, .lock = n.lock); /* no form */
    uint64_t suppressed = nest_is(&n, "ThreadStarted,00000001,main\n"
                                      "ObjectWait,00000001,00000101,1;00000001;00000001\n"
                                      "ThreadStarted,00000002,other\n"
                                      "MonitorContendedEnter,00000002,00000101,00000001,0\n"
                                      "ObjectWaited,00000001,00000101,1;00000001;00000001\n");
    cr_assert_eq(suppressed, 1);
}

/* --- threads ---------------------------------------------------------------------------------- */

Test(export_orca, a_thread_without_a_start_is_introduced_before_it_acts)
{
    struct nest n;
    nest_init(&n);
    thread_id third = builder_thread_flags(&n.b, "third", THREAD_VIRTUAL);
    STEP(&n, monitor_contended_enter, .lock = n.lock, .owner = n.other);
    ADD(&n.b, 1, third, ++n.at, notify, .lock = n.lock);
    ADD0(&n.b, 1, third, ++n.at, thread_alive); /* noticed later: said already */
    nest_is(&n, "ThreadStarted,00000001,main\n"
                "ThreadStarted,00000002,other\n"
                "MonitorContendedEnter,00000001,00000101,00000002,0\n"
                "ThreadStarted,00000003,third\n"
                "ObjectNotify,00000003,00000101,0\n");
}

Test(export_orca, threads_without_an_object_are_left_out)
{
    struct nest n;
    nest_init(&n);
    struct def d = {.kind = DEF_thread,
                    .thread = {.id = {3}, .flags = THREAD_NATIVE, .name = {"VM Thread", 9}}};
    builder_def(&n.b, &d);
    ADD0(&n.b, 1, (thread_id){3}, ++n.at, thread_alive);
    cr_assert_eq(nest_is(&n, "ThreadStarted,00000001,main\n"), 1);
}

Test(export_orca, what_is_unknown_has_hash_0_depth_0_and_no_name)
{
    struct nest n;
    nest_init(&n);
    ADD(&n.b, 1, ((thread_id){0}), ++n.at, notify, .lock = {0});
    ADD(&n.b, 1, ((thread_id){9999}), ++n.at, notify, .lock = {9999}, .stack = {9999});
    ADD0(&n.b, 1, ((thread_id){0}), ++n.at, thread_alive);
    ADD0(&n.b, 1, ((thread_id){0}), ++n.at, thread_start);
    nest_is(&n, "ThreadStarted,00000001,main\n"
                "ObjectNotify,00000000,00000000,0\n"
                "ObjectNotify,00000000,00000000,0\n"
                "ThreadStarted,00000000,\n"
                "ThreadStarted,00000000,\n");
}

Test(export_orca, names_cannot_break_a_line)
{
    struct trace_builder b;
    builder_init(&b);
    thread_id odd = builder_thread(&b, "a,b;c\nd\re\tf \xc3\xa9");
    ADD0(&b, 1, odd, 1, thread_start);
    class_id of = builder_class(&b, "LOdd,Name;");
    method_id m = builder_method(&b, of, "does, what\nit says", METHOD_NATIVE);
    struct buf frames = {0};
    packed_put_frame(&frames, m, -1);
    struct def d = {.kind = DEF_stack, .stack = {.id = {1}, .frames = {frames.p, frames.len, 1}}};
    builder_def(&b, &d);
    ADD(&b, 1, odd, 2, notify, .stack = {1});
    buf_fini(&frames);
    struct trace *t = builder_open(&b, 5);
    struct orca_files f = files_export(orca(), t);
    same_text(f.text[0], "5.0000000010,ThreadStarted,00000001,a_b_c_d_e\tf \xc3\xa9\n"
                         "5.0000000020,ObjectNotify,00000001,00000000,1;00000001;FFFFFFFF\n");
    same_text(f.text[1], "5.0000000020,00000001,does_ what_it says,()V,00000001,-1\n");
    same_text(f.text[2], "5.0000000020,00000001,LOdd_Name;,Odd_Name.java\n");
    files_free(&f);
    trace_close(t);
}

/* --- numbers ---------------------------------------------------------------------------------- */

static void thread_of_hash(struct trace_builder *b, uint32_t id, uint32_t hash)
{
    struct def d = {.kind = DEF_thread, .thread = {.id = {id}, .hash = hash, .name = {"t", 1}}};
    builder_def(b, &d);
    ADD0(b, 1, ((thread_id){id}), id, thread_start);
}

Test(export_orca, equal_and_missing_hashes_get_numbers_of_their_own)
{
    struct trace_builder b;
    builder_init(&b);
    thread_of_hash(&b, 1, 0);
    thread_of_hash(&b, 2, 0x15DB9742);
    thread_of_hash(&b, 3, 0x15DB9742);
    thread_of_hash(&b, 4, ORCA_IDS_FREE + 1);
    thread_of_hash(&b, 5, 0xFFFF38D6);
    thread_of_hash(&b, 6, 0x15DB9742);
    struct trace *t = builder_open(&b, 10);
    struct orca_files f = files_export(orca(), t);
    same_text(f.text[0], "5.0000000010,ThreadStarted,80000001,t\n"
                         "5.0000000020,ThreadStarted,15DB9742,t\n"
                         "5.0000000030,ThreadStarted,80000003,t\n"
                         "5.0000000040,ThreadStarted,80000002,t\n"
                         "5.0000000050,ThreadStarted,FFFF38D6,t\n"
                         "5.0000000060,ThreadStarted,80000004,t\n");
    files_free(&f);
    trace_close(t);
}

static struct {
    const char *name;
    uint64_t ns;
    const char *text;
} times[] = {
    {"zero", 0, "0.0000000000"},
    {"a nanosecond", 1, "0.0000000010"},
    {"just below a second", 999999999, "0.9999999990"},
    {"a second", 1000000000, "1.0000000000"},
    {"beyond the precision of a double", 9007199254740993001, "9007199254.7409930010"},
    {"the largest", UINT64_MAX, "18446744073.7095516150"},
};

Test(export_orca, times_are_exact)
{
    struct out o;
    struct err err;
    char *folder = folder_make(), path[300], text[100];
    snprintf(path, sizeof path, "%s/t", folder);
    cr_assert_eq(out_open(&o, path, "", &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        o.len = 0;
        out_seconds(&o, times[i].ns);
        snprintf(text, sizeof text, "%.*s", (int)o.len, (char *)o.buf);
        cr_assert_str_eq(text, times[i].text, "%s", times[i].name);
    }
    out_discard(&o);
    folder_remove(folder);
}

/* --- files ------------------------------------------------------------------------------------ */

Test(export_orca, files_are_private_and_replace_older_ones)
{
    struct trace *t = ping_pong();
    struct err err;
    char *folder = folder_make(), prefix[300], path[310];
    snprintf(prefix, sizeof prefix, "%s/app", folder);
    snprintf(path, sizeof path, "%s.orca", prefix);
    FILE *old = fopen(path, "w");
    fputs("older\n", old);
    fclose(old);
    umask(0);
    cr_assert_eq(export_run(orca(), t, prefix, &err), 0, "%s", err.msg);
    cr_assert_eq(folder_count(folder), 3);
    struct stat st;
    cr_assert_eq(stat(path, &st), 0);
    cr_assert_eq(st.st_mode & 0777, 0600);
    cr_assert_gt(st.st_size, 500);
    folder_remove(folder);
    trace_close(t);
}

Test(export_orca, a_folder_that_is_not_there_is_an_error_with_its_name)
{
    struct trace *t = ping_pong();
    struct err err;
    cr_assert_eq(export_run(orca(), t, "/nowhere/app", &err), -ENOENT);
    cr_assert_str_eq(err.msg, "/nowhere/app.orca: cannot create: No such file or directory");
    trace_close(t);
}

/* Enough events that the log is written in parts. */
static struct trace *many_notifies(int n)
{
    struct trace_builder b;
    builder_init(&b);
    thread_id main = builder_thread(&b, "main");
    stack_id s = builder_stack(&b, "A.a:1 A.b:2 A.c:3 A.d:4");
    for (int i = 0; i < n; i++)
        ADD(&b, 1, main, i, notify, .stack = s);
    return builder_open(&b, (uint64_t)n);
}

Test(export_orca, a_full_disk_leaves_nothing_behind_and_the_old_file_alone)
{
    struct trace *t = many_notifies(100000);
    struct err err;
    char *folder = folder_make(), prefix[300], path[310];
    snprintf(prefix, sizeof prefix, "%s/app", folder);
    snprintf(path, sizeof path, "%s.orca", prefix);
    FILE *old = fopen(path, "w");
    fputs("older\n", old);
    fclose(old);
    /* A limit on the file's size fails a write as a full disk does. */
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {1 << 20, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_FSIZE, &limit);
    cr_assert_eq(export_run(orca(), t, prefix, &err), -EFBIG);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    char expected[400];
    snprintf(expected, sizeof expected, "%s.orca: cannot write: File too large", prefix);
    cr_assert_str_eq(err.msg, expected);
    cr_assert_eq(folder_count(folder), 1);
    struct stat st;
    cr_assert_eq(stat(path, &st), 0);
    cr_assert_eq(st.st_size, 6);
    folder_remove(folder);
    trace_close(t);
}

static void watch(void *ctx, uint64_t done, uint64_t total)
{
    uint64_t *last = ctx;
    cr_assert(done > *last && done <= total);
    *last = done;
}

Test(export_orca, progress_is_told)
{
    struct trace *t = many_notifies(100000);
    struct err err;
    uint64_t last = 0;
    char *folder = folder_make(), prefix[300];
    snprintf(prefix, sizeof prefix, "%s/app", folder);
    struct export_job job = {.trace = t, .prefix = prefix, .progress = watch, .ctx = &last};
    cr_assert_eq(export_job_run(orca(), &job, &err), 0, "%s", err.msg);
    cr_assert_gt(last, 50000);
    cr_assert_eq(job.lines[0], 100001);
    folder_remove(folder);
    trace_close(t);
}

Test(export_orca, the_table_is_in_order)
{
    size_t n = 0;
    for (; exporters[n]; n++) {
        cr_assert_str_eq(exporters[n]->name, exporter_names[n]);
        cr_assert_eq(exporter_find(exporter_names[n]), exporters[n]);
        size_t files = 0;
        while (exporters[n]->suffixes[files])
            files++;
        cr_assert(files >= 1 && files <= EXPORT_FILES_MAX);
    }
    cr_assert_null(exporter_names[n]);
    cr_assert_null(exporter_find("otrace"));
    cr_assert_str_eq(exporter_clash(orca(), orca_1_1()), ".orca");
}
