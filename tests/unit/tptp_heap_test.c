/* tptp_heap_test.c - objects in TPTP's XML: what is written, that it is valid, and that an import
 * of it writes the same again. */
#include "base/util.h"
#include "orca_files.h"
#include "tptp_lines.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUT "<annotation name='orca.frame' value='shop/Cache.put(Cache.java:31)'/>"

enum { THREAD_OBJECT = 77 };

/* Object n is behind the ids of two threads and three locks. */
#define OBJECT(id) #id

/* A class without a source file. */
static class_id array(struct trace_builder *b, const char *signature)
{
    class_id id = {++b->n_classes};
    struct def d = {.kind = DEF_class,
                    .class = {.id = id, .signature = {signature, strlen(signature)}}};
    builder_def(b, &d);
    return id;
}

static lock_id lock_with(struct trace_builder *b, class_id class_, uint32_t hash, uint64_t object)
{
    lock_id id = {++b->n_locks};
    struct def d = {.kind = DEF_lock,
                    .lock = {.id = id, .class_ = class_, .hash = hash, .object = object}};
    builder_def(b, &d);
    return id;
}

#define ALLOC(b, who, time, number, class_id_, bytes, at_stack)                                    \
    ADD(b, 1, who, time, object_alloc, .object = (number), .class_ = class_id_, .size = (bytes),   \
        .stack = at_stack)

static struct trace *heap(void)
{
    struct trace_builder b;
    builder_init(&b);
    builder_info(&b, "orca.events", "threads+monitors+gc+alloc+frees");
    thread_id main = builder_thread(&b, "main");
    class_id order = builder_class(&b, "Lshop/Order;"), text = array(&b, "[B");
    class_id names = array(&b, "[Ljava/lang/String;"), none = {0};
    stack_id put = builder_stack(&b, "shop.Cache.put:31");
    lock_id recorded = lock_with(&b, order, 5, 2), other = lock_with(&b, order, 6, 0);
    ADD0(&b, 1, main, 0, thread_start);
    ALLOC(&b, main, 1, 1, text, 24, put);
    ALLOC(&b, main, 2, 2, order, 16, ((stack_id){0}));
    ADD(&b, 1, main, 3, object_sample, .object = 2, .class_ = order, .size = 16, .weight = 4096);
    ADD(&b, 1, main, 4, monitor_contended_enter, .lock = recorded);
    ADD(&b, 1, main, 5, monitor_contended_entered, .lock = recorded);
    ADD(&b, 1, main, 6, notify, .lock = other);
    ALLOC(&b, main, 7, 4, names, 40, ((stack_id){0}));
    ALLOC(&b, ((thread_id){0}), 8, 5, none, 8, ((stack_id){0}));
    ALLOC(&b, main, 9, 6, text, 32, ((stack_id){0}));
    ADD(&b, 1, main, 10, object_allocs, .class_ = text, .count = 7, .bytes = 700,
        .since = BUILDER_START);
    ADD(&b, 1, main, 11, object_free, .object = 1, .class_ = text, .size = 24, .stack = put,
        .since = BUILDER_START + 1, .allocated_by = main);
    ADD(&b, 1, main, 12, object_free, .object = 99, .class_ = text, .size = 24,
        .since = BUILDER_START - 5, .allocated_by = main);
    return builder_open(&b, 100);
}

Test(tptp_heap, objects_and_their_classes)
{
    uint64_t left_out = trace_is(
        heap(), MAIN
        "<classDef name='[B' sourceName='' classId='1'/>\n"
        "<objAlloc objId='" OBJECT(
            9) "' isArray='8' size='24' classIdRef='1' threadIdRef='1' @1>" PUT "</objAlloc>\n"
               "<classDef name='shop/Order' sourceName='Order.java' classId='2'/>\n"
               "<objAlloc objId='" OBJECT(
                   10) "' isArray='0' size='16' classIdRef='2' threadIdRef='1' "
                       "@2/>\n"
                       "<monContendedEnter threadIdRef='1' @4 objIdRef='" OBJECT(
                           10) "'>"
                               "<annotation name='orca.class' "
                               "value='shop/Order'/></monContendedEnter>\n"
                               "<monContendedEntered threadIdRef='1' @5 objIdRef='" OBJECT(
                                   10) "'/>\n"
                                       "<callNotify threadId='1' @6 objIdRef='4' "
                                       "isNotifyAll='0'>"
                                       "<annotation name='orca.class' "
                                       "value='shop/Order'/></callNotify>\n"
                                       "<classDef name='[Ljava/lang/String;' sourceName='' "
                                       "classId='3'/>\n"
                                       "<objAlloc objId='" OBJECT(
                                           12) "' isArray='2' size='40' classIdRef='3' "
                                               "threadIdRef='1' "
                                               "@7/>\n"
                                               "<objAlloc objId='" OBJECT(
                                                   13) "' size='8' @8/>\n"
                                                       "<objAlloc objId='" OBJECT(
                                                           14) "' isArray='8' "
                                                               "size='32' "
                                                               "classIdRef='1' "
                                                               "threadIdRef='1' "
                                                               "@9/>\n"
                                                               "<objFree "
                                                               "objIdRef='" OBJECT(9) "' "
                                                                                      "@11/>\n");
    cr_assert_eq(left_out, 2, "the sample of an object that is told; the end of an earlier one");
}

Test(tptp_heap, counted_allocations_have_no_form)
{
    struct trace *t = heap();
    struct orca_files f = files_export(tptp(), t);
    cr_assert_eq(f.job.skipped[EV_object_allocs], 1);
    files_free(&f);
    trace_close(t);
}

/* Of arrays of each type, as JVMPI numbers them. */
Test(tptp_heap, types_of_arrays)
{
    static const char *const types[] = {"[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J"};
    struct trace_builder b;
    char expected[4000] = MAIN, line[400];
    builder_init(&b);
    thread_id main = builder_thread(&b, "main");
    ADD0(&b, 1, main, 0, thread_start);
    for (int i = 0; i < 8; i++) {
        class_id class_ = array(&b, types[i]);
        ALLOC(&b, main, 1, (uint64_t)i + 1, class_, 16, ((stack_id){0}));
        snprintf(
            line, sizeof line,
            "<classDef name='%s' sourceName='' classId='%d'/>\n<objAlloc objId='%llu' isArray='%d' "
            "size='16' classIdRef='%d' threadIdRef='1' @1/>\n",
            types[i], i + 1, 6ull + (unsigned)i + 1, 4 + i, i + 1);
        strcat(expected, line);
    }
    trace_is(builder_open(&b, 10), expected);
}

/* --- there and back --------------------------------------------------------------------------- */

/* A Thread object that is locked: it has the thread's id in all of them. */
static struct trace *threads_and_samples(void)
{
    struct trace_builder b;
    builder_init(&b);
    builder_info(&b, "orca.events", "threads+monitors+gc+sampled-alloc");
    thread_id main = builder_thread(&b, "main"), other = builder_thread(&b, "other");
    class_id thread = builder_class(&b, "Ljava/lang/Thread;");
    class_id hidden = builder_class(&b, "LMain$$Lambda.0x00007f;");
    class_id twin = builder_class(&b, "Lshop/Order;"), order = builder_class(&b, "Lshop/Order;");
    stack_id put = builder_stack(&b, "shop.Cache.put:31 shop.Order.add:7");
    struct def d = {.kind = DEF_thread,
                    .thread = {.id = other, .java_tid = 9, .hash = 4242, .name = {"other", 5}}};
    builder_def(&b, &d);
    lock_id it = lock_with(&b, thread, 4242, THREAD_OBJECT), lock = lock_with(&b, order, 3, 3);
    lock_id early = lock_with(&b, order, 4, 12345), plain = lock_with(&b, twin, 8, 0);
    ADD0(&b, 1, main, 0, thread_start);
    ADD0(&b, 2, other, 1, thread_start);
    ADD(&b, 1, main, 2, object_sample, .object = 1, .class_ = hidden, .size = 24, .weight = 4096,
        .stack = put);
    ADD(&b, 1, main, 3, object_sample, .object = THREAD_OBJECT, .class_ = thread, .size = 100,
        .weight = 4096);
    ADD(&b, 1, main, 4, notify, .lock = it);
    ADD(&b, 1, main, 5, notify, .lock = early);
    ADD(&b, 1, main, 6, object_sample, .object = 3, .class_ = order, .size = 16, .weight = 4096);
    ADD(&b, 1, main, 7, object_sample, .object = 4, .class_ = twin, .size = 16, .weight = 4096);
    ADD(&b, 1, main, 8, notify, .lock = lock);
    ADD(&b, 1, main, 8, notify, .lock = plain);
    ADD0(&b, 3, ((thread_id){0}), 9, gc_start);
    ADD0(&b, 3, ((thread_id){0}), 10, gc_finish);
    ADD(&b, 3, main, 11, object_free, .object = 3, .since = BUILDER_START + 6, .weight = 4096);
    ADD(&b, 3, main, 12, object_free, .object = THREAD_OBJECT, .since = BUILDER_START + 3);
    ADD(&b, 3, main, 13, object_free, .object = 55, .since = BUILDER_START + 4);
    ADD(&b, 1, main, 14, notify, .lock = it);
    return builder_open(&b, 1000);
}

Test(tptp_heap, the_second_file_is_the_first_one)
{
    struct trace *traces[] = {heap(), threads_and_samples()};
    for (size_t i = 0; i < ARRAY_LEN(traces); i++) {
        struct orca_files first = files_export(tptp(), traces[i]);
        struct trace *again = files_import_xml_again(&first);
        struct orca_files second = files_export(tptp(), again);
        cr_assert_str_eq(first.text[0], second.text[0]);
        cr_assert_eq(again->n_problems, 0, "%s", again->problems[0].text);
        files_free(&first);
        files_free(&second);
        trace_close(again);
        trace_close(traces[i]);
    }
}

Test(tptp_heap, an_end_has_what_the_beginning_said)
{
    struct trace *t = heap();
    struct orca_files f = files_export(tptp(), t);
    struct trace *again = files_import_xml_again(&f);
    struct trace_iter *it;
    struct event e;
    uint64_t n = 0;
    cr_assert_eq(trace_iter_open(&it, again, NULL), 0);
    while (trace_iter_next(it, &e, NULL, NULL) > 0) {
        if (e.kind != EV_object_free)
            continue;
        n++;
        cr_assert_eq(e.object_free.object, 1);
        cr_assert_eq(e.object_free.size, 24);
        cr_assert_eq(e.time - e.object_free.since, 10);
        cr_assert_eq(e.object_free.allocated_by.v, 1);
        cr_assert_str_eq(trace_class(again, e.object_free.class_)->signature, "[B");
    }
    cr_assert_eq(n, 1);
    trace_iter_close(it);
    trace_close(again);
    files_free(&f);
    trace_close(t);
}

Test(tptp_heap, files_are_valid)
{
    is_valid(heap());
    is_valid(threads_and_samples());
}
