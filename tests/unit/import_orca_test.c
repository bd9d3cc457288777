#include "import/orca_text.h"

#include "base/util.h"
#include "export/export.h"
#include "format/writer.h"
#include "orca_files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct err err;

/* The events of an import, one word each: "kind thread-hash:name object-hash stack-depth time". */
static char *events_of(struct trace *t)
{
    struct buf b = {0};
    struct trace_iter *it;
    struct event e;
    cr_assert_eq(trace_iter_open(&it, t, &err), 0);
    while (trace_iter_next(it, &e, NULL, &err) > 0) {
        const struct trace_thread *th = trace_thread(t, e.thread);
        buf_printf(&b, "%llu %s %X:%s", (unsigned long long)e.time, event_kinds[e.kind].name,
                   th->hash, th->id.v ? th->name : "");
        const struct kind_info *k = &event_kinds[e.kind];
        const struct field *f = k->fields();
        for (unsigned i = 0; i < k->n_fields; i++) {
            uint32_t v = (uint32_t)field_get(&f[i], (char *)&e + EVENT_HEAD);
            if (f[i].type == FIELD_lock)
                buf_printf(&b, " lock=%X", trace_lock(t, (lock_id){v})->hash);
            else if (f[i].type == FIELD_thread)
                buf_printf(&b, " thread=%X", trace_thread(t, (thread_id){v})->hash);
            else if (f[i].type == FIELD_stack)
                buf_printf(&b, " depth=%u", trace_stack(t, (stack_id){v})->n_frames);
            else
                buf_printf(&b, " %s=%u", f[i].name, v);
        }
        buf_putc(&b, '\n');
    }
    trace_iter_close(it);
    buf_str(&b);
    return (char *)b.p;
}

/* Import a log of version 2 without companions; what it holds must be this. */
static void log_is(const char *log, const char *expected)
{
    struct trace *t = files_import(log, "", "", NULL, &err);
    cr_assert_not_null(t, "%s", err.msg);
    char *got = events_of(t);
    cr_assert_str_eq(got, expected, "got\n%sexpected\n%s", got, expected);
    free(got);
    trace_close(t);
}

static void refused(const char *log, const char *methods, const char *classtable, const char *meta,
                    const char *message)
{
    struct trace *t = files_import(log, methods, classtable, meta, &err);
    cr_assert_null(t, "accepted, but expected: %s", message);
    cr_assert_str_eq(err.msg, message);
}

/* --- the examples of the two specifications
 * ------------------------------------------------------- */

/* Without the blanks that the PDF put into them. */
static const char spec_class[] = "480181.4255238244,15DB9742,LPingPong;,PingPong.java\n";
static const char spec_method[] = "480181.4254997057,19831020,main,([Ljava/lang/String;)V,15DB9742,"
                                  "3;00000046;00000000;00000047;00000008;00000049;00000010\n";

Test(import_orca, reads_the_examples_of_spec_2)
{
    struct trace *t = files_import("34232.8419237428,ThreadStarted,FFFF38D6,main\n"
                                   "34232.8419237429,ThreadSleep,FFFF38D6,1;19831020;00000009\n",
                                   spec_method, spec_class, NULL, &err);
    cr_assert_not_null(t, "%s", err.msg);
    cr_assert_eq(t->n_problems, 0);
    char *got = events_of(t);
    cr_assert_str_eq(got, "34232841923742 thread_start FFFF38D6:main\n"
                          "34232841923742 sleep_enter FFFF38D6:main timeout_ns=0 depth=1\n");
    free(got);
    const struct trace_stack *s = trace_stack(t, (stack_id){1});
    const struct trace_method *m = trace_method(t, s->frames[0].method);
    cr_assert_str_eq(m->name, "main");
    cr_assert_str_eq(m->signature, "([Ljava/lang/String;)V");
    const struct trace_class *c = trace_class(t, m->class_);
    cr_assert_str_eq(c->signature, "LPingPong;");
    cr_assert_str_eq(c->source, "PingPong.java");
    cr_assert_eq(c->hash, 0x15DB9742);
    /* The example puts the line before the location: line 0x46 begins at 0, 0x47 at 8, 0x49 at
     * 16. */
    cr_assert_eq(trace_line(t, (struct trace_frame){m->id, 0}), 0x46);
    cr_assert_eq(trace_line(t, (struct trace_frame){m->id, 9}), 0x47);
    cr_assert_eq(trace_line(t, (struct trace_frame){m->id, 16}), 0x49);
    trace_close(t);
}

Test(import_orca, reads_line_tables_in_the_order_that_spec_2_describes)
{
    struct trace *t = files_import(
        "1.0,ThreadSleep,FFFF38D6,1;00000007;00000009\n",
        "1.0,00000007,main,()V,15DB9742,3;00000000;00000046;00000008;00000047;00000010;00000049\n"
        "1.0,00000008,none,()V,15DB9742,0\n"
        "1.0,00000009,none,()V,15DB9742,-1\n",
        spec_class, NULL, &err);
    cr_assert_not_null(t, "%s", err.msg);
    cr_assert_eq(trace_line(t, (struct trace_frame){{7}, 0}), 0x46);
    cr_assert_eq(trace_line(t, (struct trace_frame){{7}, 9}), 0x47);
    cr_assert_eq(trace_method(t, (method_id){8})->lines.n, 0);
    cr_assert_str_eq(trace_method(t, (method_id){9})->name, "none");
    trace_close(t);
}

/* Format 1.1 has a time stamp and a hash as examples, and describes the rest. */
Test(import_orca, reads_what_spec_1_describes)
{
    struct trace *t = files_import(
        "34232.84192374283,ThreadStarted,FFFF38D6,main\n"
        "34232.84192374283,ThreadJoin,FFFF38D6,0000ABCD,2,0000000019831020,FFFFFFFFFFFFFFFF,"
        "19831021,00000009\n",
        NULL, NULL,
        "Ljava/lang/Object;,\n"
        "LPingPong;,PingPong.java\n"
        "19831020,join,(J)V,Ljava/lang/Object;,-1\n"
        "19831021,main,([Ljava/lang/"
        "String;)V,LPingPong;,3,00000000,70,00000008,00000047,00000010,73\n",
        &err);
    cr_assert_not_null(t, "%s", err.msg);
    cr_assert_eq(t->n_problems, 0);
    char *got = events_of(t);
    cr_assert_str_eq(got,
                     "34232841923742 thread_start FFFF38D6:main\n"
                     "34232841923742 join_enter FFFF38D6:main thread=ABCD depth=2 timeout_ns=0\n");
    free(got);
    const struct trace_stack *s = trace_stack(t, (stack_id){1});
    cr_assert_eq(s->frames[0].bci, -1);
    cr_assert_str_eq(trace_method(t, s->frames[0].method)->name, "join");
    const struct trace_method *m = trace_method(t, s->frames[1].method);
    cr_assert_str_eq(m->name, "main");
    cr_assert_str_eq(trace_class(t, m->class_)->source, "PingPong.java");
    cr_assert_eq(trace_line(t, s->frames[1]), 71);
    cr_assert_eq(trace_line(t, (struct trace_frame){m->id, 20}), 73);
    trace_close(t);
}

/* --- events
 * --------------------------------------------------------------------------------------- */

Test(import_orca, reads_every_kind_of_event)
{
    log_is("1.0000000000,ThreadStarted,0000000A,main\n"
           "2.0000000000,ThreadStart,0000000A,0000000B,1;00000001;00000002\n"
           "3.0000000000,ThreadStarted,0000000B,\n"
           "4.0000000000,MonitorContendedEnter,0000000B,0000000C,0000000A,1;00000001;00000002\n"
           "5.0000000000,MonitorContendedEntered,0000000B,0000000C,1;00000001;00000002\n"
           "6.0000000000,ObjectWait,0000000B,0000000C,2;00000001;FFFFFFFF;00000002;00000000\n"
           "7.0000000000,ObjectNotify,0000000A,0000000C,0\n"
           "8.0000000000,ObjectNotifyAll,0000000A,0000000C,0\n"
           "9.0000000000,ObjectWaited,0000000B,0000000C,0\n"
           "10.0000000000,ThreadSleep,0000000B,0\n"
           "11.0000000000,ThreadSlept,0000000B,1;00000001;00000002\n"
           "12.0000000000,SemaphoreAcquire,0000000B,0000000D,0\n"
           "13.0000000000,SemaphoreRelease,0000000A,0000000D,0\n"
           "14.0000000000,SemaphoreAcquired,0000000B,0000000D,0\n"
           "15.0000000000,ThreadJoin,0000000A,0000000B,0\n"
           "16.0000000000,ThreadEnded,0000000B\n"
           "17.0000000000,ThreadJoined,0000000A,0000000B,0\n",
           "1000000000 thread_start A:main\n"
           "2000000000 thread_start_called A:main thread=B depth=1\n"
           "3000000000 thread_start B:\n"
           "4000000000 monitor_contended_enter B: lock=C thread=A depth=1 owner_gone=0\n"
           "5000000000 monitor_contended_entered B: lock=C\n"
           "6000000000 wait_enter B: lock=C timeout_ms=0 depth=2\n"
           "7000000000 notify A:main lock=C depth=0\n"
           "8000000000 notify_all A:main lock=C depth=0\n"
           "9000000000 wait_exit B: lock=C timed_out=0\n"
           "10000000000 sleep_enter B: timeout_ns=0 depth=0\n"
           "11000000000 sleep_exit B: depth=1\n"
           "12000000000 semaphore_acquire_enter B: lock=D depth=0\n"
           "13000000000 semaphore_release A:main lock=D depth=0\n"
           "14000000000 semaphore_acquire_exit B: lock=D depth=0 failed=0\n"
           "15000000000 join_enter A:main thread=B depth=0 timeout_ns=0\n"
           "16000000000 thread_end B:\n"
           "17000000000 join_exit A:main thread=B depth=0\n");
}

Test(import_orca, times_are_read_exactly)
{
    log_is("0,ThreadEnded,0000000A\n"
           "0.000000001,ThreadEnded,0000000A\n"
           "1.5,ThreadEnded,0000000A\n"
           "2.0000000009,ThreadEnded,0000000A\n"
           "34232.84192374283,ThreadEnded,0000000A\n"
           "9007199.254740993999999999999999999999,ThreadEnded,0000000A\n"
           "9000000000.1234567891,ThreadEnded,0000000A\n",
           "0 thread_end A:\n"
           "1 thread_end A:\n"
           "1500000000 thread_end A:\n"
           "2000000000 thread_end A:\n"
           "34232841923742 thread_end A:\n"
           "9007199254740993 thread_end A:\n"
           "9000000000123456789 thread_end A:\n");
}

Test(import_orca, the_recording_spans_the_events)
{
    struct trace *t = files_import("7.5,ThreadStarted,0000000A,main\n8.5,ThreadEnded,0000000A\n",
                                   NULL, NULL, NULL, &err);
    cr_assert_eq(t->n_problems, 0, "no method is named, so no companion is missed");
    cr_assert_eq(t->header.start_mono, 7500000000u);
    cr_assert_eq(t->header.end_mono, 8500000000u);
    cr_assert_eq(t->header.pid, 0);
    cr_assert(t->complete);
    cr_assert_str_eq(trace_info(t, "import.file", "?"), "app.orca");
    trace_close(t);
}

Test(import_orca, windows_line_ends_and_blank_lines_do_no_harm)
{
    log_is("\r\n\n1.0,ThreadStarted,0000000A,main\r\n\r\n\n2.0,ThreadEnded,0000000A\r\n\n",
           "1000000000 thread_start A:main\n2000000000 thread_end A:main\n");
}

Test(import_orca, events_out_of_order_are_put_in_order)
{
    log_is("3.0,ThreadEnded,0000000A\n"
           "1.0,ThreadEnded,0000000B\n"
           "2.0,ThreadEnded,0000000C\n"
           "3.0,ThreadEnded,0000000D\n"
           "1.0,ThreadEnded,0000000E\n"
           "4.0,ThreadEnded,0000000F\n"
           "2.0,ThreadEnded,00000010\n",
           "1000000000 thread_end B:\n"
           "1000000000 thread_end E:\n"
           "2000000000 thread_end C:\n"
           "2000000000 thread_end 10:\n"
           "3000000000 thread_end A:\n"
           "3000000000 thread_end D:\n"
           "4000000000 thread_end F:\n");
}

Test(import_orca, a_file_in_order_is_one_stream_in_the_order_of_its_lines)
{
    struct buf b = {0};
    for (int i = 0; i < 200000; i++)
        buf_printf(&b, "%d.0,ThreadEnded,%08X\n", i / 10, i % 7 + 1);
    struct trace *t = files_import(buf_str(&b), NULL, NULL, NULL, &err);
    cr_assert_not_null(t, "%s", err.msg);
    cr_assert_eq(t->n_streams, 1);
    cr_assert_eq(t->n_events, 200000);
    size_t chunks = 0;
    for (size_t i = 0; i < t->n_chunks; i++) {
        cr_assert_leq(t->chunks[i].h.raw_len, WRITER_CHUNK_RAW);
        chunks += t->chunks[i].h.type == CHUNK_EVENTS;
    }
    cr_assert_gt(chunks, 2, "the events did not fill several chunks: make them more");
    struct trace_iter *it;
    struct event e;
    trace_iter_open(&it, t, &err);
    for (uint32_t i = 0; trace_iter_next(it, &e, NULL, &err) > 0; i++) {
        cr_assert_eq(e.time, (uint64_t)(i / 10) * 1000000000u);
        cr_assert_eq(trace_thread(t, e.thread)->hash, i % 7 + 1);
    }
    trace_iter_close(it);
    trace_close(t);
    buf_fini(&b);
}

Test(import_orca, time_that_always_goes_back_is_refused)
{
    struct buf b = {0};
    for (int i = 1000; i > 0; i--)
        buf_printf(&b, "%d.0,ThreadEnded,0000000A\n", i);
    refused(buf_str(&b), NULL, NULL, NULL,
            "app.orca: line 257: the events are too far out of the order of time");
    buf_fini(&b);
}

Test(import_orca, a_thread_keeps_its_hash_and_has_the_last_of_its_names)
{
    log_is("1.0,ThreadEnded,0000000A\n"
           "2.0,ThreadStarted,0000000A,first\n"
           "3.0,ThreadStarted,0000000A,a, b; c\n",
           "1000000000 thread_end A:a, b; c\n"
           "2000000000 thread_start A:a, b; c\n"
           "3000000000 thread_start A:a, b; c\n");
}

Test(import_orca, hash_0_is_unknown)
{
    log_is("1.0,ThreadStarted,00000000,who\n"
           "2.0,MonitorContendedEnter,00000000,00000000,00000000,0\n",
           "1000000000 thread_start 0:\n"
           "2000000000 monitor_contended_enter 0: lock=0 thread=0 depth=0 owner_gone=0\n");
}

Test(import_orca, an_empty_file_is_an_empty_trace)
{
    log_is("", "");
    log_is("\r\n\n", "");
}

/* --- methods and classes
 * -------------------------------------------------------------------------- */

/* One event whose stack names these methods. */
static struct trace *with_methods(const char *stack, const char *methods)
{
    char log[300];
    snprintf(log, sizeof log, "1.0,ThreadSleep,0000000A,%s\n", stack);
    struct trace *t = files_import(log, methods, spec_class, NULL, &err);
    cr_assert_not_null(t, "%s", err.msg);
    return t;
}

static void frame_is(struct trace *t, size_t i, uint32_t id, const char *name)
{
    struct trace_frame f = trace_stack(t, (stack_id){1})->frames[i];
    cr_assert_eq(f.method.v, id, "frame %zu has method %u instead of %u", i, f.method.v, id);
    cr_assert_str_eq(trace_method(t, f.method)->name, name);
}

Test(import_orca, a_method_keeps_its_id_where_a_trace_allows)
{
    struct trace *t = with_methods("6;00000005;00000000;FFFFFF01;00000000;00000001;00000000;"
                                   "0001000B;00000000;00000000;00000000;0001000C;00000000",
                                   "1.0,FFFFFF01,far,()V,00000000,-1\n"
                                   "1.0,00000001,one,()V,00000000,-1\n"
                                   "1.0,0001000B,limit,()V,00000000,-1\n");
    frame_is(t, 0, 5, "?"); /* no line says what it is */
    frame_is(t, 2, 1, "one");
    frame_is(t, 3, 0x1000B, "limit");
    frame_is(t, 4, 0, "?");
    frame_is(t, 5, 0x1000C, "?");
    frame_is(t, 1, 2, "far");
    trace_close(t);
}

Test(import_orca, an_id_that_was_given_away_is_not_taken_for_another_method)
{
    /* FFFFFF01 gets a low id; the methods of the stack that have those numbers are others. */
    struct trace *t =
        with_methods("4;FFFFFF01;00000000;00000001;00000000;00000002;00000000;00000003;"
                     "00000000",
                     "1.0,FFFFFF01,far,()V,00000000,-1\n");
    uint32_t ids[4];
    for (size_t i = 0; i < 4; i++)
        ids[i] = trace_stack(t, (stack_id){1})->frames[i].method.v;
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < i; k++)
            cr_assert_neq(ids[i], ids[k]);
    cr_assert_str_eq(trace_method(t, (method_id){ids[0]})->name, "far");
    for (size_t i = 1; i < 4; i++)
        cr_assert_str_eq(trace_method(t, (method_id){ids[i]})->name, "?");
    trace_close(t);
}

static void only_problem(struct trace *t, bool damage, const char *text)
{
    cr_assert_eq(t->n_problems, 1, "%zu problems", t->n_problems);
    cr_assert_str_eq(t->problems[0].text, text);
    cr_assert_eq(t->problems[0].damage, damage);
    cr_assert_eq(t->n_damaged, damage);
    trace_close(t);
}

Test(import_orca, a_repeated_line_is_a_problem_only_when_it_differs)
{
    struct trace *t = with_methods("1;00000001;00000000", "1.0,00000001,one,()V,00000000,-1\n"
                                                          "2.5,00000001,one,()V,00000000,-1\n");
    cr_assert_eq(t->n_problems, 0);
    trace_close(t);
    t = with_methods("1;00000001;00000000", "1.0,00000001,one,()V,00000000,-1\n"
                                            "2.5,00000001,two,()V,00000000,-1\n");
    frame_is(t, 0, 1, "one");
    only_problem(t, true,
                 "app.methods: line 2: the method 00000001 has an earlier line, which counts");
}

Test(import_orca, methods_of_unknown_classes_are_a_problem)
{
    only_problem(with_methods("1;00000001;00000000", "1.0,00000001,one,()V,0000CAFE,-1\n"
                                                     "1.0,00000002,one,()V,0000CAFE,-1\n"
                                                     "1.0,00000003,one,()V,15DB9742,-1\n"
                                                     "1.0,00000004,one,()V,00000000,-1\n"),
                 true, "app.classtable: 2 methods belong to classes without a line");
}

Test(import_orca, missing_companions_are_told)
{
    const char *log = "1.0,ThreadSleep,0000000A,1;00000001;00000000\n";
    only_problem(files_import(log, NULL, NULL, NULL, &err), false,
                 "the .methods file beside it is missing: methods have no names");
    only_problem(files_import(log, "", NULL, NULL, &err), false,
                 "the .classtable file beside it is missing: classes have no names");
    only_problem(files_import("1.0,ThreadSleep,0000000A,1,00000001,00000000\n", "", "", NULL, &err),
                 false, "the .meta file beside it is missing: methods and classes have no names");
}

Test(import_orca, one_odd_table_does_not_turn_the_others_round)
{
    /* Two tables that can only be start;line against one that can only be line;start. */
    struct trace *t =
        with_methods("1;00000001;00000000", "1.0,00000001,a,()V,00000000,1;00000000;00000005\n"
                                            "1.0,00000002,b,()V,00000000,1;00000000;00000006\n"
                                            "1.0,00000003,c,()V,00000000,1;00000007;00000000\n");
    cr_assert_eq(trace_line(t, (struct trace_frame){{1}, 3}), 5);
    cr_assert_eq(trace_line(t, (struct trace_frame){{3}, 3}), -1);
    cr_assert_eq(trace_line(t, (struct trace_frame){{3}, 7}), 0);
    trace_close(t);
}

/* --- files that end too early
 * ----------------------------------------------------------------------- */

Test(import_orca, a_cut_file_is_read_as_far_as_it_goes)
{
    struct trace *t =
        files_import("1.0,ThreadStarted,0000000A,main\n2.0,ThreadEnd", NULL, NULL, NULL, &err);
    cr_assert_not_null(t, "%s", err.msg);
    cr_assert_eq(t->n_events, 1);
    cr_assert_eq(t->problems[0].offset, 32);
    only_problem(t, false, "line 2 has no end: the file was truncated; the line is left out");

    t = files_import("1.0,ThreadStarted,0000000A,main\n2.0,ThreadEnded,0000000A", NULL, NULL, NULL,
                     &err);
    cr_assert_eq(t->n_events, 2);
    only_problem(t, false, "line 2 has no end: the file was truncated");
}

Test(import_orca, a_cut_companion_is_read_as_far_as_it_goes)
{
    struct trace *t =
        files_import("1.0,ThreadSleep,0000000A,1;00000002;00000000\n",
                     "1.0,00000001,one,()V,00000000,-1\n1.0,00000002,tw", "", NULL, &err);
    cr_assert_not_null(t, "%s", err.msg);
    cr_assert_str_eq(trace_method(t, (method_id){1})->name, "one");
    only_problem(t, false,
                 "app.methods: line 2 has no end: the file was truncated; the line is left out");
}

/* --- what is refused
 * -------------------------------------------------------------------------------- */

#define AT(line, column) "app.orca: line " #line ", column " #column ": expected "
#define TIME "a time stamp (seconds, as 480181.4255238244), found "
#define HEX8(what) "eight upper-case hex digits (" what "), found "

static const struct {
    const char *log, *message;
} bad_logs[] = {
    {"hello\n", AT(1, 1) TIME "\"hello\""},
    {"\x7f"
     "ELF\x02\n",
     AT(1, 1) TIME "\"\\x7fELF\\x02\""},
    {"-1.0,ThreadEnded,0000000A\n", AT(1, 1) TIME "\"-1.0\""},
    {".5,ThreadEnded,0000000A\n", AT(1, 1) TIME "\".5\""},
    {"1.,ThreadEnded,0000000A\n", AT(1, 1) TIME "\"1.\""},
    {"1.0e3,ThreadEnded,0000000A\n", AT(1, 4) "',', found \"e3\""},
    {"1.0 ,ThreadEnded,0000000A\n", AT(1, 4) "',', found \" \""},
    {"99999999999.0,ThreadEnded,0000000A\n",
     AT(1, 1) "a time stamp of less than 292 years, found \"99999999999.0\""},
    {"1.0\n", AT(1, 4) "',', found the end of the line"},
    {"1.0,\n", AT(1, 5) "an event (ObjectWait, ThreadStarted, ...), found the end of the line"},
    {"1.0,threadended,0000000A\n",
     AT(1, 5) "an event (ObjectWait, ThreadStarted, ...), found \"threadended\""},
    {"1.0, ThreadEnded,0000000A\n",
     AT(1, 5) "an event (ObjectWait, ThreadStarted, ...), found \" ThreadEnded\""},
    {"1.0,ThreadEnded\n", AT(1, 16) "',', found the end of the line"},
    {"1.0,ThreadEnded,\n", AT(1, 17) HEX8("thread") "the end of the line"},
    {"1.0,ThreadEnded,A\n", AT(1, 17) HEX8("thread") "\"A\""},
    {"1.0,ThreadEnded,0000000a\n", AT(1, 17) HEX8("thread") "\"0000000a\""},
    {"1.0,ThreadEnded,0000000G\n", AT(1, 17) HEX8("thread") "\"0000000G\""},
    {"1.0,ThreadEnded,0x00000A\n", AT(1, 17) HEX8("thread") "\"0x00000A\""},
    {"1.0,ThreadEnded,000000001\n", AT(1, 17) HEX8("thread") "\"000000001\""},
    {"1.0,ThreadEnded,00000001,\n", AT(1, 25) "the end of the line, found \",\""},
    {"1.0,ThreadEnded,00000001;\n", AT(1, 25) "the end of the line, found \";\""},
    {"1.0,ThreadStarted,00000001\n", AT(1, 27) "',', found the end of the line"},
    {"1.0,ObjectWait,00000001,15db9742,0\n", AT(1, 25) HEX8("object") "\"15db9742\""},
    {"1.0,ObjectWait,00000001,00000002\n", AT(1, 33) "',', found the end of the line"},
    {"1.0,ObjectWait,00000001,00000002,\n",
     AT(1, 34) "a stack depth, a decimal number from 0 to 131072, found the end of the line"},
    {"1.0,ObjectWait,00000001,00000002,-1\n",
     AT(1, 34) "a stack depth, a decimal number from 0 to 131072, found \"-1\""},
    {"1.0,ObjectWait,00000001,00000002,01;00000001;00000002\n",
     AT(1, 34) "a stack depth, a decimal number from 0 to 131072, found \"01\""},
    {"1.0,ObjectWait,00000001,00000002,4294967296;00000001;00000002\n",
     AT(1, 34) "a stack depth, a decimal number from 0 to 131072, found \"4294967296\""},
    {"1.0,ObjectWait,00000001,00000002,99999999999999999999999999\n",
     AT(1,
        34) "a stack depth, a decimal number from 0 to 131072, found \"99999999999999999999...\""},
    {"1.0,ObjectWait,00000001,00000002,131072;00000001;00000002\n",
     AT(1, 58) "';', found the end of the line"},
    {"1.0,ObjectWait,00000001,00000002,1\n", AT(1, 35) "';', found the end of the line"},
    {"1.0,ObjectWait,00000001,00000002,1;00000001\n", AT(1, 44) "';', found the end of the line"},
    {"1.0,ObjectWait,00000001,00000002,1;00000001;0000000g\n",
     AT(1, 45) HEX8("location") "\"0000000g\""},
    {"1.0,ObjectWait,00000001,00000002,1;00000001;80000000\n",
     AT(1, 45) "a location: up to 7FFFFFFF, or all F for a native method, found \"80000000\""},
    {"1.0,ObjectWait,00000001,00000002,1;00000001;00000002;00000003\n",
     AT(1, 53) "the end of the line, found \";\""},
    {"1.0,ObjectWait,00000001,00000002,0;00000001;00000002\n",
     AT(1, 35) "the end of the line, found \";\""},
    {"1.0,ObjectWait,00000001,00000002,1;00000001,00000002\n", AT(1, 44) "';', found \",\""},
    /* The versions do not mix. */
    {"1.0,ObjectWait,00000001,00000002,1;00000001;00000002\n"
     "2.0,ObjectWait,00000001,00000002,1,00000001,00000002\n",
     AT(2, 35) "';', found \",\""},
    {"1.0,SemaphoreRelease,00000001,00000002,0\n"
     "2.0,ObjectWait,00000001,00000002,1,00000001,00000002\n",
     AT(2, 35) "';', found \",\""},
    {"1.0,ObjectWait,00000001,00000002,1,00000001,00000002\n"
     "2.0,SemaphoreRelease,00000001,00000002,0\n",
     AT(2, 5) "an event of the format 1.1, which has no semaphores, found \"SemaphoreRelease\""},
    {"1.0,ObjectWait,00000001,00000002,1,00000001,000000002\n",
     AT(1, 45) "eight or sixteen upper-case hex digits (location), found \"000000002\""},
    {"1.0,ObjectWait,00000001,00000002,1,00000001,00000000FFFFFFFF\n",
     AT(1, 45) "a location: up to 7FFFFFFF, or all F for a native method, found "
               "\"00000000FFFFFFFF\""},
    /* The line number counts blank lines, too. */
    {"1.0,ThreadEnded,00000001\n\n\r\nx\n", AT(4, 1) TIME "\"x\""},
};

Test(import_orca, a_line_that_is_not_in_the_format_is_refused_with_its_place)
{
    for (size_t i = 0; i < ARRAY_LEN(bad_logs); i++)
        refused(bad_logs[i].log, "", "", "", bad_logs[i].message);
}

static const struct {
    const char *methods, *classtable, *message;
} bad_companions[] = {
    {"1.0,00000001,one,()V,00000000\n", "",
     "app.methods: line 1, column 30: expected ',', found the end of the line"},
    {"1.0,1,one,()V,00000000,-1\n", "",
     "app.methods: line 1, column 5: expected eight upper-case hex digits (method id), found "
     "\"1\""},
    {"1.0,00000001,,()V,00000000,-1\n", "",
     "app.methods: line 1, column 14: expected a method name, found \",\""},
    {"1.0,00000001,one,V,00000000,-1\n", "",
     "app.methods: line 1, column 18: expected a method signature (...), found \"V\""},
    {"1.0,00000001,one,()V,00000000,2;00000000;00000001\n", "",
     "app.methods: line 1, column 50: expected ';', found the end of the line"},
    {"1.0,00000001,one,()V,00000000,65536;00000000;00000001\n", "",
     "app.methods: line 1, column 31: expected the length of a line table, a decimal number from "
     "-2147483648 to 65535, found \"65536\""},
    {"1.0,00000001,one,()V,00000000,-1;00000000;00000001\n", "",
     "app.methods: line 1, column 33: expected the end of the line, found \";\""},
    {"1.0,00000001,one,()V,00000000,1;00000000;7\n", "",
     "app.methods: line 1, column 42: expected eight upper-case hex digits (line number), found "
     "\"7\""},
    {"", "1.0,00000001,PingPong,PingPong.java\n",
     "app.classtable: line 1, column 14: expected a class signature (Lname;), found \"PingPong\""},
    {"", "1.0,00000001,LPingPong;\n",
     "app.classtable: line 1, column 24: expected ',', found the end of the line"},
    {"", "1.0,00000001,LPingPong;,a,b\n",
     "app.classtable: line 1, column 26: expected the end of the line, found \",\""},
    {"", "LPingPong;,PingPong.java\n",
     "app.classtable: line 1, column 1: expected a time stamp (seconds, as 480181.4255238244), "
     "found \"LPingPong\""},
};

Test(import_orca, a_companion_that_is_not_in_the_format_is_refused_with_its_place)
{
    for (size_t i = 0; i < ARRAY_LEN(bad_companions); i++)
        refused("1.0,ThreadSleep,0000000A,1;00000001;00000000\n", bad_companions[i].methods,
                bad_companions[i].classtable, NULL, bad_companions[i].message);
}

static const struct {
    const char *meta, *message;
} bad_metas[] = {
    {"PingPong,PingPong.java\n",
     "app.meta: line 1, column 1: expected eight upper-case hex digits (method id), found "
     "\"PingPong\""},
    {"LPingPong;\n", "app.meta: line 1, column 11: expected ',', found the end of the line"},
    {"00000001,one,()V,LPingPong;,-1\nLPingPong;,PingPong.java\n",
     "app.meta: line 2, column 1: expected a method id: the classes come before the methods, found "
     "\"LPingPong\""},
    {"00000001,one,()V,PingPong,-1\n",
     "app.meta: line 1, column 18: expected a class signature (Lname;), found \"PingPong\""},
    {"00000001,one,()V,LA;,1,00000000,x\n",
     "app.meta: line 1, column 33: expected a line number, a decimal number from 0 to 9999999, "
     "found \"x\""},
};

Test(import_orca, a_meta_file_that_is_not_in_the_format_is_refused_with_its_place)
{
    for (size_t i = 0; i < ARRAY_LEN(bad_metas); i++)
        refused("1.0,ThreadSleep,0000000A,1,00000001,00000000\n", NULL, NULL, bad_metas[i].meta,
                bad_metas[i].message);
}

/* --- bounds
 * ----------------------------------------------------------------------------------------- */

static struct trace *import_bytes(const char *p, size_t n)
{
    const struct text_source none = {NULL, -1, NULL, 0};
    struct orca_sources s = {{"app.orca", -1, p, n}, none, none, none, none};
    struct trace *t;
    import_orca_from(&t, &s, NULL, &err);
    return t;
}

Test(import_orca, a_nul_byte_is_refused)
{
    static const char log[] = "1.0,ThreadStarted,0000000A,ma\0in\n";
    cr_assert_null(import_bytes(log, sizeof log - 1));
    cr_assert_str_eq(err.msg, "app.orca: line 1, column 30: a NUL byte: not an Orca text file");
}

Test(import_orca, the_deepest_stack_fits_and_a_deeper_one_says_so)
{
    for (int deeper = 0; deeper < 2; deeper++) {
        /* A frame of FFFFFFFE and 7FFFFFFF takes ten bytes of a definition of at most 256 KiB. */
        struct buf b = {0};
        int depth = deeper ? 26300 : 26200;
        buf_printf(&b, "1.0,ThreadSleep,0000000A,%d", depth);
        for (int i = 0; i < depth; i++)
            buf_puts(&b, ";FFFFFFFE;7FFFFFFF");
        buf_putc(&b, '\n');
        struct trace *t = files_import(buf_str(&b), "", "", NULL, &err);
        cr_assert_eq(t == NULL, deeper);
        if (t)
            cr_assert_eq(trace_stack(t, (stack_id){1})->n_frames, 26200);
        else
            cr_assert_str_eq(err.msg,
                             "app.orca: line 1: a definition of 263013 bytes; at most 262144 "
                             "are possible");
        trace_close(t);
        buf_fini(&b);
    }
}

/* --- files on disk
 * ---------------------------------------------------------------------------------- */

static char *folder, path[400];

static const char *put_file(const char *name, const char *text, size_t n)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    cr_assert_eq(fwrite(text, 1, n, f), n);
    fclose(f);
    return path;
}

static void file_refused(const char *name, const char *message)
{
    struct trace *t;
    char expected[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(expected, sizeof expected, "%s: %s", path, message);
    cr_assert_lt(import_orca(&t, path, &err), 0);
    cr_assert_null(t);
    cr_assert_str_eq(err.msg, expected);
}

Test(import_orca, finds_the_companions_beside_the_log)
{
    static const char log[] = "1.0,ThreadSleep,0000000A,1;19831020;00000000\n";
    folder = folder_make();
    put_file("a.b.methods", spec_method, strlen(spec_method));
    put_file("a.b.classtable", spec_class, strlen(spec_class));
    put_file("a.b.orca", log, strlen(log));
    struct trace *t;
    cr_assert_eq(import_orca(&t, path, &err), 0, "%s", err.msg);
    cr_assert_eq(t->n_problems, 0);
    struct trace_frame f = trace_stack(t, (stack_id){1})->frames[0];
    cr_assert_str_eq(trace_method(t, f.method)->name, "main");
    cr_assert_str_eq(t->path, path);
    trace_close(t);
    folder_remove(folder);
}

Test(import_orca, a_long_file_is_read_in_parts)
{
    folder = folder_make();
    struct buf b = {0};
    for (int i = 0; i < 60000; i++)
        buf_printf(&b, "%d.0,ThreadStarted,%08X,thread number %d of many\r\n", i, i + 1, i);
    put_file("long.orca", (char *)b.p, b.len);
    struct trace *t;
    cr_assert_eq(import_orca(&t, path, &err), 0, "%s", err.msg);
    cr_assert_eq(t->n_events, 60000);
    cr_assert_eq(t->n_threads, 60001);
    cr_assert_str_eq(trace_thread(t, (thread_id){60000})->name, "thread number 59999 of many");
    trace_close(t);
    buf_fini(&b);
    folder_remove(folder);
}

Test(import_orca, a_line_may_end_anywhere_in_what_was_read_at_once)
{
    enum { PART = 256 * 1024 };
    folder = folder_make();
    for (int past = -2; past <= 2; past++) {
        struct buf b = {0};
        buf_puts(&b, "1.0,ThreadStarted,0000000A,main");
        while (b.len < (size_t)(PART + past))
            buf_putc(&b, 'x');
        buf_puts(&b, "\n2.0,ThreadEnded,0000000A\n");
        put_file("part.orca", (char *)b.p, b.len);
        struct trace *t;
        cr_assert_eq(import_orca(&t, path, &err), 0, "%s", err.msg);
        cr_assert_eq(t->n_events, 2);
        cr_assert_eq(strlen(trace_thread(t, (thread_id){1})->name), (size_t)(PART + past - 27));
        trace_close(t);
        buf_fini(&b);
    }
    folder_remove(folder);
}

Test(import_orca, a_line_without_an_end_does_not_fill_the_memory)
{
    folder = folder_make();
    enum { LONG = 6 << 20 };
    char *line = malloc(LONG);
    memset(line, 'x', LONG);
    put_file("endless.orca", line, LONG);
    free(line);
    file_refused("endless.orca", "line 1: longer than 4194304 bytes: not an Orca text file");
    folder_remove(folder);
}

Test(import_orca, foreign_files_are_called_by_their_name)
{
    folder = folder_make();
    put_file("trace.orca", FILE_MAGIC "xxxxxxx", 15);
    file_refused("trace.orca", "this is a binary Orca trace (.otrace), not a text event log");
    put_file("zip.orca", "\x1f\x8b\x08\x00", 4);
    file_refused("zip.orca", "this is compressed with gzip: decompress it first");
    put_file("t.orca", "<?xml version=\"1.0\"?>\n", 22);
    file_refused("t.orca", "this is XML, not a text event log");
    put_file("app.methods", "", 0);
    file_refused("app.methods", "name the .orca file; .methods files are read with it");
    file_refused("gone.orca", "No such file or directory");
    folder_remove(folder);
    folder = strdup("/tmp");
    file_refused(".", "not a regular file");
    free(folder);
}

Test(import_orca, knows_which_files_are_its_own)
{
    folder = folder_make();
    cr_assert(import_orca_wants(put_file("log.txt", "480181.4255238244,", 18)));
    cr_assert(import_orca_wants(put_file("empty.orca", "", 0)));
    cr_assert(import_orca_wants(put_file("wrong.orca", "x", 1)));
    cr_assert_not(import_orca_wants(put_file("wrong.otrace", "x", 1)));
    cr_assert_not(import_orca_wants(put_file("renamed.orca", FILE_MAGIC, 8)));
    cr_assert(import_orca_wants("/nowhere/gone.orca"));
    cr_assert_not(import_orca_wants("/nowhere/gone.otrace"));
    folder_remove(folder);
}

/* --- threads ---------------------------------------------------------------------------------- */

static const struct trace_thread *thread_named(struct trace *t, const char *name)
{
    for (size_t i = 1; i < t->n_threads; i++)
        if (strcmp(t->threads[i].name, name) == 0)
            return &t->threads[i];
    cr_assert_fail("no thread %s", name);
    return NULL;
}

Test(import_orca, threads_of_the_jvm_are_known_by_name_and_that_nobody_started_them)
{
    struct trace *t = files_import("1.0,ThreadStarted,00000001,Reference Handler\n"
                                   "1.0,ThreadStarted,00000002,C2 CompilerThread12\n"
                                   "1.0,ThreadStarted,00000003,C2 CompilerThread\n"
                                   "1.0,ThreadStarted,00000004,main\n"
                                   "1.1,ThreadStart,00000004,00000005,0\n"
                                   "1.1,ThreadStart,00000004,00000006,0\n"
                                   "1.2,ThreadStarted,00000005,Common-Cleaner\n"
                                   "1.2,ThreadStarted,00000006,Finalizer\n"
                                   "1.3,ThreadStarted,00000007,orca control\n",
                                   "", "", NULL, &err);
    cr_assert_not_null(t, "%s", err.msg);
    static const struct {
        const char *name, *group;
    } wanted[] = {{"Reference Handler", "system"},
                  {"C2 CompilerThread12", "system"},
                  {"C2 CompilerThread", ""},
                  {"main", ""},
                  {"Common-Cleaner", "InnocuousThreadGroup"},
                  {"Finalizer", ""},
                  {"orca control", "system"}};
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        const struct trace_thread *th = thread_named(t, wanted[i].name);
        cr_assert_str_eq(th->group, wanted[i].group, "%s", wanted[i].name);
        cr_assert_eq((th->flags & THREAD_DAEMON) != 0, *wanted[i].group != 0, "%s", wanted[i].name);
    }
    trace_close(t);
}

/* A JVM in which a daemon, a worker and a pool's thread live; `end` are its last lines. */
static struct trace *with_threads(const char *end)
{
    char log[2000];
    snprintf(log, sizeof log,
             "1.0,ThreadStarted,00000001,main\n"
             "1.1,ThreadStart,00000001,00000002,0\n"
             "1.2,ThreadStarted,00000002,lives on\n"
             "1.2,ThreadStarted,00000003,worker\n"
             "1.3,ThreadEnded,00000001\n"
             "1.3,ThreadStarted,00000009,DestroyJavaVM\n"
             "1.4,ThreadStarted,00000004,late\n"
             "%s",
             end);
    struct trace *t = files_import(log, "", "", NULL, &err);
    cr_assert_not_null(t, "%s", err.msg);
    return t;
}

static void check_daemons(struct trace *t, const char *daemons)
{
    struct buf b = {0};
    for (size_t i = 1; i < t->n_threads; i++)
        if (t->threads[i].flags & THREAD_DAEMON && strcmp(t->threads[i].name, "DestroyJavaVM") != 0)
            buf_printf(&b, "%s,", t->threads[i].name);
    cr_assert_str_eq(buf_str(&b), daemons);
    buf_fini(&b);
    trace_close(t);
}

Test(import_orca, who_lives_when_the_jvm_is_destroyed_is_a_daemon)
{
    check_daemons(with_threads("1.5,ThreadEnded,00000003\n"
                               "1.6,ThreadEnded,00000009\n"),
                  "lives on,late,");
    /* a shutdown hook is none, and a thread that ends until then is one */
    check_daemons(with_threads("1.5,ThreadEnded,00000003\n"
                               "1.6,ThreadStart,00000009,00000005,0\n"
                               "1.7,ThreadStarted,00000005,hook\n"
                               "1.8,ThreadEnded,00000004\n"
                               "1.9,ThreadEnded,00000005\n"
                               "1.9,ThreadEnded,00000009\n"),
                  "lives on,late,");
}

Test(import_orca, who_lives_when_the_recording_ends_otherwise_may_be_none)
{
    check_daemons(with_threads("1.5,ThreadEnded,00000003\n"), "");
    check_daemons(with_threads("1.5,ThreadEnded,00000004\n"), ""); /* System.exit on it */
    struct trace *t = files_import("1.0,ThreadStarted,00000001,main\n"
                                   "1.1,ThreadStart,00000001,00000002,0\n"
                                   "1.2,ThreadStarted,00000002,DestroyJavaVM\n"
                                   "1.3,ThreadEnded,00000002\n",
                                   "", "", NULL, &err);
    cr_assert_not_null(t, "%s", err.msg);
    check_daemons(t, ""); /* the program called a thread so */
}
