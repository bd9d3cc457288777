#include "export/export.h"

#include "base/util.h"
#include "export/xml.h"
#include "orca_files.h"
#include "tptp_lines.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- every element ---------------------------------------------------------------------------- */

#define RUN "<annotation name='orca.frame' value='PingPong.main(PingPong.java:70)'/>"
#define PLAY                                                                                       \
    "<annotation name='orca.frame' value='java/lang/Object.wait(native)'/>"                        \
    "<annotation name='orca.frame' value='PingPong.play(PingPong.java:40)'/>"
#define TABLE "<annotation name='orca.class' value='game/Table$Net'/>"

static struct trace *ping_pong(void)
{
    struct trace_builder b;
    builder_init(&b);
    builder_info(&b, "orca.events", "threads+waits");
    thread_id main = builder_thread(&b, "main"), ping = builder_thread(&b, "Ping");
    lock_id table = builder_lock(&b, builder_class(&b, "Lgame/Table$Net;"));
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
    ADD(&b, 1, ping, 4000009, wait_exit, .lock = table);
    ADD(&b, 1, ping, 4000010, sleep_enter, .timeout_ns = 1, .stack = run);
    ADD(&b, 1, main, 4000011, interrupt, .target = ping, .target_in = EV_sleep_enter, .stack = run);
    ADD(&b, 1, ping, 4000012, interrupted, .stack = run);
    ADD0(&b, 1, ping, 6000013, sleep_exit);
    ADD0(&b, 1, main, 6000014, gc_start);
    ADD(&b, 1, main, 6000015, gc_finish, .used = 4096, .committed = 8192);
    ADD(&b, 1, main, 6000016, park_enter, .stack = run);
    ADD0(&b, 1, ping, 6000017, thread_end);
    ADD0(&b, 1, main, 6000018, recording_end);
    return builder_open(&b, 6000018);
}

Test(export_tptp, every_kind_of_event_has_its_element)
{
    uint64_t left_out = trace_is(
        ping_pong(),
        "<threadStart threadId='1' @1 groupName='main' parentName='system' objIdRef='3' "
        "threadName='main'><annotation name='orca.alive' value='1'/></threadStart>\n"
        "<callStart threadId='1' @2 objIdRef='5'>" RUN "</callStart>\n"
        "<threadStart threadId='2' @3 groupName='main' parentName='system' objIdRef='5' "
        "threadName='Ping'/>\n"
        "<monContendedEnter threadIdRef='2' @4 objIdRef='2' threadOwner='1'>" TABLE RUN
        "</monContendedEnter>\n"
        "<monContendedEntered threadIdRef='2' @5 objIdRef='2'/>\n"
        "<monWait threadIdRef='2' @6 objIdRef='2' timeout='100'>" TABLE PLAY "</monWait>\n"
        "<callNotify threadId='1' @7 objIdRef='2' isNotifyAll='0'>" TABLE RUN "</callNotify>\n"
        "<callNotify threadId='1' @8 objIdRef='2' isNotifyAll='1'>" TABLE RUN "</callNotify>\n"
        "<monWaited threadIdRef='2' @4000009 objIdRef='2' timeout='4' isTimedOut='0'/>\n"
        "<monWait threadIdRef='2' @4000010 objIdRef='-1' timeout='1'>" RUN "</monWait>\n"
        "<callInterrupt threadId='1' @4000011 objIdRef='5'>" RUN "</callInterrupt>\n"
        "<threadInterrupted threadId='2' @4000012>" RUN "</threadInterrupted>\n"
        "<monWaited threadIdRef='2' @6000013 objIdRef='-1' timeout='2' isTimedOut='0'/>\n"
        "<gcStart @6000014/>\n"
        "<gcFinish @6000015 usedObjSpace='4096' totalObjSpace='8192'/>\n"
        "<threadEnd threadIdRef='2' @6000017/>\n");
    cr_assert_eq(left_out, 0);
}

Test(export_tptp, an_id_is_defined_before_it_is_used)
{
    struct trace *t = ping_pong();
    struct orca_files f = files_export(tptp(), t);
    cr_assert_not_null(strstr(f.text[0], "<objDef objId=\"5\" isArray=\"0\"/>\n<callStart "));
    cr_assert_not_null(strstr(f.text[0],
                              "<classDef name=\"game/Table$Net\" sourceName=\"Table.java\" "
                              "classId=\"1\"/>\n<objDef objId=\"2\" isArray=\"0\" "
                              "classIdRef=\"1\"/>\n<monContendedEnter "));
    const char *first = strstr(f.text[0], "<objDef objId=\"2\"");
    cr_assert_null(strstr(first + 1, "<objDef objId=\"2\""), "once");
    files_free(&f);
    trace_close(t);
}

Test(export_tptp, what_has_no_element_is_counted)
{
    struct trace *t = ping_pong();
    struct orca_files f = files_export(tptp(), t);
    cr_assert_eq(f.job.skipped[EV_park_enter], 1);
    cr_assert_eq(f.job.skipped[EV_recording_end], 0);
    files_free(&f);
    trace_close(t);
}

/* --- around them ------------------------------------------------------------------------------ */

static void known_id(struct trace_builder *b)
{
    for (uint8_t i = 0; i < TRACE_ID_SIZE; i++)
        b->header.id[i] = i;
}

/* Always those of the trace whose id is 0, 1, 2, ... */
#define NODE "b4bf7b33-d0f6-8af5-a03c-64b0cc09defb"
#define PROCESS "ae0146a3-be86-88c2-a365-c6ca8859fc29"
#define AGENT "f09a7821-22f0-8b02-a740-6f443205a27c"
#define TRACE_UUID "31b73d81-e38d-83c3-b934-895f028c2a06"
#define START "time=\"1763700000.000000000\""

Test(export_tptp, envelope)
{
    struct trace_builder b;
    builder_init(&b);
    known_id(&b);
    builder_info(&b, "host", "a \"host\"");
    builder_info(&b, "java.version", "");
    builder_info(&b, "sun.java.command", "Main <1>");
    builder_loss(&b, LOSS_ring_full, 7);
    ADD0(&b, 1, builder_thread(&b, "main"), 5, recording_start);
    struct trace *t = builder_open(&b, 1000000007);
    struct orca_files f = files_export(tptp(), t);
    cr_assert_str_eq(
        f.text[0],
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<TRACE>\n"
        "<node nodeId=\"" NODE "\" hostname=\"a &quot;host&quot;\" " START "/>\n"
        "<processCreate processId=\"" PROCESS "\" pid=\"4711\" nodeIdRef=\"" NODE "\" " START "/>\n"
        "<agentCreate agentId=\"" AGENT "\" version=\"2.000\" processIdRef=\"" PROCESS "\" "
        "agentName=\"org.eclipse.tptp.jvmti\" agentType=\"Profiler\" "
        "agentParameters=\"server=standalone\" " START "/>\n"
        "<traceStart traceId=\"" TRACE_UUID "\" agentIdRef=\"" AGENT "\" " START "/>\n"
        "<option key=\"OPTIONS\" value=\"true\"/>\n"
        "<option key=\"FILTERS\" value=\"false\"/>\n"
        "<option key=\"TIMESTAMPS\" value=\"true\"/>\n"
        "<option key=\"CPU_TIME\" value=\"false\"/>\n"
        "<option key=\"TICKET\" value=\"false\"/>\n"
        "<option key=\"TRACE_IDREFS\" value=\"false\"/>\n"
        "<option key=\"ID_STYLE\" value=\"static\"/>\n"
        "<option key=\"MONITOR_MODE\" value=\"all\"/>\n"
        "<option key=\"STACK_INFORMATION\" value=\"none\"/>\n"
        "<option key=\"host\" value=\"a &quot;host&quot;\"/>\n"
        "<option key=\"sun.java.command\" value=\"Main &lt;1&gt;\"/>\n"
        "<option key=\"orca.objects\" value=\"6\"/>\n"
        "<option key=\"orca.order\" value=\"recorded\"/>\n"
        "<option key=\"orca.state\" value=\"complete\"/>\n"
        "<option key=\"orca.lost\" value=\"7\"/>\n"
        "<traceEnd traceIdRef=\"" TRACE_UUID "\" time=\"1763700001.000000007\"/>\n"
        "<agentDestroy agentIdRef=\"" AGENT "\" time=\"1763700001.000000007\"/>\n"
        "</TRACE>\n");
    files_free(&f);
    trace_close(t);
}

Test(export_tptp, a_recording_that_goes_on_has_no_end)
{
    struct trace_builder b;
    builder_init(&b);
    b.header.state = TRACE_RECORDING;
    ADD0(&b, 1, builder_thread(&b, "main"), 5, thread_start);
    struct trace *t = builder_open(&b, 10);
    struct orca_files f = files_export(tptp(), t);
    cr_assert_not_null(strstr(f.text[0], "value=\"unfinished\"/>\n<threadStart "));
    cr_assert_null(strstr(f.text[0], "<traceEnd"));
    cr_assert_null(strstr(f.text[0], "<agentDestroy"));
    cr_assert_not_null(strstr(f.text[0], "\n</TRACE>\n"));
    files_free(&f);
    trace_close(t);
}

Test(export_tptp, times_are_dates_or_what_an_imported_text_says)
{
    struct err err;
    struct trace *t = files_import("480181.4255238240,ThreadStarted,0A1B2C3D,main\n"
                                   "480181.5255238240,ThreadSleep,0A1B2C3D,0\n"
                                   "480181.6255238240,ThreadSlept,0A1B2C3D,0\n"
                                   "480181.7255238240,ObjectWait,0A1B2C3D,15DB9742,0\n"
                                   "480181.8255238240,ObjectWaited,0A1B2C3D,15DB9742,0\n"
                                   "480181.9255238240,ThreadJoin,0A1B2C3D,15DB9743,0\n",
                                   NULL, NULL, NULL, &err);
    struct orca_files f = files_export(tptp(), t);
    cr_assert_not_null(strstr(
        f.text[0],
        "<threadStart threadId=\"1\" time=\"480181.425523824\" groupName=\"\" parentName=\"\" "
        "objIdRef=\"3\" "
        "threadName=\"main\"/>\n"
        "<monWait threadIdRef=\"1\" time=\"480181.525523824\" objIdRef=\"-1\"/>\n"
        "<monWaited threadIdRef=\"1\" time=\"480181.625523824\" objIdRef=\"-1\" timeout=\"100\"/>\n"
        "<objDef objId=\"2\" isArray=\"0\"/>\n"
        "<monWait threadIdRef=\"1\" time=\"480181.725523824\" objIdRef=\"2\"/>\n"
        "<monWaited threadIdRef=\"1\" time=\"480181.825523824\" objIdRef=\"2\" timeout=\"100\"/>\n"
        "<objDef objId=\"5\" isArray=\"0\"/>\n"
        "<monWait threadIdRef=\"1\" time=\"480181.925523824\" objIdRef=\"5\"/>\n"));
    cr_assert_null(strstr(f.text[0], "pid="), "nobody knows it");
    files_free(&f);
    trace_close(t);
}

Test(export_tptp, an_event_before_the_start_is_before_it)
{
    struct trace_builder b;
    builder_init(&b);
    ADD0(&b, 1, builder_thread(&b, "main"), -1000000001, thread_start);
    struct trace *t = builder_open(&b, 10);
    struct orca_files f = files_export(tptp(), t);
    cr_assert_not_null(strstr(f.text[0], "threadId=\"1\" time=\"1763699998.999999999\""));
    files_free(&f);
    trace_close(t);
}

/* --- text ------------------------------------------------------------------------------------- */

#define BAD "\xef\xbf\xbd"

static struct {
    const char *name, *in, *out;
} texts[] = {
    {"nothing", "", ""},
    {"markup", "a<b>&\"c\"'d'", "a&lt;b&gt;&amp;&quot;c&quot;'d'"},
    {"the end of a CDATA section", "]]>", "]]&gt;"},
    {"white space", " \t\r\n", " &#9;&#13;&#10;"},
    {"control characters", "\x01\x08\x0b\x1f\x7f", BAD BAD BAD BAD "\x7f"},
    {"letters of every length", "Gr\xc3\xbc\xc3\x9f \xe4\xb8\x96 \xf0\x9f\x98\x80",
     "Gr\xc3\xbc\xc3\x9f \xe4\xb8\x96 \xf0\x9f\x98\x80"},
    {"C1 controls are characters", "\xc2\x85", "\xc2\x85"},
    {"no characters", "\xef\xbf\xbe\xef\xbf\xbf.", BAD BAD "."},
    {"a surrogate", "\xed\xa0\x80.", BAD "."},
    {"beyond the last", "\xf4\x90\x80\x80.", BAD "."},
    {"the last", "\xf4\x8f\xbf\xbd", "\xf4\x8f\xbf\xbd"},
    {"a lone continuation", "\x80\xbf.", BAD BAD "."},
    {"cut at the end", "a\xe4\xb8", "a" BAD BAD},
    {"cut by a letter", "\xe4<", BAD "&lt;"},
    {"longer than needed", "\xc0\xbc\xe0\x80\xbc.", BAD BAD BAD BAD BAD "."},
    {"no such byte", "\xf8\xff.", BAD BAD "."},
};

Test(export_tptp, text_is_escaped)
{
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct buf b = {0};
        xml_put(&b, texts[i].in);
        if (!*texts[i].out)
            cr_assert_eq(b.len, 0);
        else
            cr_assert_str_eq(buf_str(&b), texts[i].out, "%s", texts[i].name);
        buf_fini(&b);
    }
}

static method_id method_of(struct trace_builder *b, class_id of, const char *name, const char *line)
{
    return builder_method(b, of, name, *line ? METHOD_NATIVE : 0);
}

static stack_id stack_of(struct trace_builder *b, const struct trace_frame *frames, uint32_t n,
                         uint32_t flags)
{
    struct buf packed = {0};
    for (uint32_t i = 0; i < n; i++)
        packed_put_frame(&packed, frames[i].method, frames[i].bci);
    stack_id id = {++b->n_stacks};
    builder_def(
        b, &(struct def){.kind = DEF_stack,
                         .stack = {.id = id, .flags = flags, .frames = {packed.p, packed.len, n}}});
    buf_fini(&packed);
    return id;
}

Test(export_tptp, frames)
{
    struct trace_builder b;
    builder_init(&b);
    thread_id main = builder_thread(&b, "<main> & \"co\"");
    class_id shop = builder_class(&b, "Lshop/Order$Line;"), odd = builder_class(&b, "Lodd<\"&>;");
    class_id array = builder_class(&b, "[[Ljava/lang/String;");
    struct trace_frame frames[] = {
        {method_of(&b, shop, "<init>", ""), 12}, {method_of(&b, shop, "<clinit>", ""), 3},
        {method_of(&b, odd, "a<b", ""), 7},      {method_of(&b, odd, "call", "native"), -1},
        {method_of(&b, array, "clone", ""), -1}, {{99}, 1}};
    ADD0(&b, 1, main, 1, thread_start);
    ADD(&b, 1, main, 2, notify, .lock = builder_lock(&b, array),
        .stack = stack_of(&b, frames, ARRAY_LEN(frames), STACK_TRUNCATED));
    ADD(&b, 1, main, 3, notify, .stack = stack_of(&b, frames, 0, 0));
    ADD(&b, 1, main, 4, notify, .lock = {77}, .stack = {77});
#define FRAME(text) "<annotation name='orca.frame' value='" text "'/>"
    trace_is(
        builder_open(&b, 10),
        "<threadStart threadId='1' @1 groupName='main' parentName='system' objIdRef='3' "
        "threadName='&lt;main&gt; &amp; &quot;co&quot;'/>\n"
        "<callNotify threadId='1' @2 objIdRef='2' isNotifyAll='0'>"
        "<annotation name='orca.class' value='[[Ljava/lang/String;'/>" FRAME(
            "shop/Order$Line.-init-(Order.java:12)") FRAME("shop/Order$Line.-clinit-(Order.java:3)")
            FRAME("odd&lt;&quot;&amp;&gt;.a&lt;b(odd&lt;&quot;&amp;&gt;.java:7)")
                FRAME("odd&lt;&quot;&amp;&gt;.call(native)")
                    FRAME("[[Ljava/lang/String;.clone(String.java)") FRAME(
                        "?.?(?)") "<annotation name='orca.truncated' value='1'/></callNotify>\n"
                                  "<callNotify threadId='1' @3 isNotifyAll='0'/>\n"
                                  "<callNotify threadId='1' @4 isNotifyAll='0'/>\n");
}

/* --- the whole -------------------------------------------------------------------------------- */

Test(export_tptp, its_file_clashes_with_no_other)
{
    for (size_t i = 0; exporters[i]; i++)
        if (exporters[i] != tptp())
            cr_assert_null(exporter_clash(exporters[i], tptp()));
}

/* Deep stacks, many of them, more than are kept. */
Test(export_tptp, stacks_that_are_not_kept_are_made_again)
{
    struct trace_builder b;
    builder_init(&b);
    thread_id main = builder_thread(&b, "main");
    class_id of =
        builder_class(&b, "Lcom/example/shop/orders/internal/OrderServiceImplementation;");
    method_id m = builder_method(&b, of, "processEverythingThatIsStillWaiting", 0);
    enum { STACKS = 300, DEPTH = 1000 };
    struct trace_frame frames[DEPTH];
    for (int i = 0; i < STACKS; i++) {
        for (int k = 0; k < DEPTH; k++)
            frames[k] = (struct trace_frame){m, 1 + (k ? 0 : i)};
        stack_id s = stack_of(&b, frames, DEPTH, 0);
        ADD(&b, 1, main, 2 * i, notify, .stack = s);
        ADD(&b, 1, main, 2 * i + 1, notify, .stack = s);
    }
    struct trace *t = builder_open(&b, 2 * STACKS);
    struct orca_files f = files_export(tptp(), t);
    const char *p = strstr(f.text[0], "<callNotify");
    for (int i = 0; i < 2 * STACKS; i++) {
        char first[200];
        snprintf(first, sizeof first, ".processEverythingThatIsStillWaiting(%s:%d)\"/>",
                 "OrderServiceImplementation.java", 1 + i / 2);
        size_t n = strcspn(p, "\n");
        cr_assert_not_null(memmem(p, n < 400 ? n : 400, first, strlen(first)), "event %d", i);
        cr_assert_gt(n, DEPTH * 100);
        p += n + 1;
    }
    files_free(&f);
    trace_close(t);
}

/* With every byte that a name can have. */
static struct trace *nasty(void)
{
    struct trace_builder b;
    builder_init(&b);
    thread_id ids[255];
    for (int c = 1; c < 256; c++) {
        char name[16];
        snprintf(name, sizeof name, "%c<%c>\"&%c", c, c, c);
        ids[c - 1] = builder_thread_flags(&b, name, c % 2 ? THREAD_VIRTUAL : 0);
        builder_info(&b, name, name);
        snprintf(name, sizeof name, "Lp/%c%c;", c, c);
        lock_id lock = builder_lock(&b, builder_class(&b, name));
        ADD(&b, 1, ids[c - 1], 10 * c, monitor_contended_enter, .lock = lock, .owner = ids[0]);
        ADD(&b, 1, ids[c - 1], 10 * c + 1, join_enter, .target = ids[0]);
        ADD(&b, 1, ids[c - 1], 10 * c + 2, join_exit, .target = ids[0]);
    }
    return builder_open(&b, 10000);
}

Test(export_tptp, files_are_valid)
{
    is_valid(ping_pong());
    is_valid(nasty());
}
