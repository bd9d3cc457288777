/* What commands print of a trace whose every name would move a terminal's cursor, forge a line or
 * turn the text around: nothing of that gets through. */
#include "base/log.h"
#include "cli/cmd.h"
#include "printed.h"
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Clear the screen, a line of our own, C1's CSI as one character, right-to-left override, a byte
 * that is not text. */
#define HOSTILE                                                                                    \
    "x\x1b[2J\norca: all is well\r\t\x07\xc2\x9b"                                                  \
    "31m\xe2\x80\xae"                                                                              \
    "y\x7f\xff"

static char path[80];
static int file;

static struct str hostile(void)
{
    return (struct str){HOSTILE, sizeof HOSTILE - 1};
}

static void build(void)
{
    struct trace_builder b;
    builder_init(&b);
    static const char *const keys[] = {"sun.java.command",
                                       "java.vm.name",
                                       "java.vm.version",
                                       "host",
                                       "arch",
                                       "import.file",
                                       "import.format",
                                       "import.calls",
                                       "orca.events",
                                       "orca.stacks",
                                       "orca.events.changes",
                                       "orca.ownerstacks",
                                       "orca.clocks",
                                       "orca.holdsample",
                                       "orca.attached",
                                       "orca.part",
                                       "orca.previous",
                                       "orca.next",
                                       "java.version"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        builder_info(&b, keys[i], HOSTILE);
    thread_id ann = builder_thread(&b, HOSTILE), bob = builder_thread(&b, HOSTILE "2");
    class_id class = builder_class(&b, "L" HOSTILE ";");
    lock_id lock = builder_lock(&b, class), other = builder_lock(&b, class);
    method_id method = {++b.n_methods};
    builder_def(&b,
                &(struct def){
                    .kind = DEF_class,
                    .class = {.id = {++b.n_classes}, .signature = hostile(), .source = hostile()}});
    builder_def(&b, &(struct def){.kind = DEF_method,
                                  .method = {.id = method,
                                             .class_ = {b.n_classes},
                                             .name = hostile(),
                                             .signature = hostile()}});
    struct buf frames = {0};
    packed_put_frame(&frames, method, 1);
    stack_id stack = {++b.n_stacks};
    builder_def(&b, &(struct def){.kind = DEF_stack,
                                  .stack = {.id = stack, .frames = {frames.p, frames.len, 1}}});
    builder_def(&b, &(struct def){.kind = DEF_call,
                                  .call = {.id = {1},
                                           .name = hostile(),
                                           .class_name = hostile(),
                                           .method = hostile(),
                                           .row = hostile()}});
    ADD(&b, 1, ann, 100, call_enter, .call = {1}, .lock = lock, .stack = stack);
    ADD(&b, 1, ann, 110, monitor_contended_enter, .lock = lock, .owner = bob, .stack = stack);
    ADD(&b, 1, ann, 90000110, monitor_contended_entered, .lock = lock);
    ADD(&b, 1, ann, 90000120, call_exit, .call = {1}, .lock = lock);
    ADD(&b, 2, bob, 200, notify, .lock = lock, .stack = stack);
    ADD(&b, 1, ann, 90000200, monitor_contended_enter, .lock = lock, .owner = bob, .stack = stack);
    ADD(&b, 2, bob, 90000210, monitor_contended_enter, .lock = other, .owner = ann, .stack = stack);
    buf_fini(&frames);
    builder_write(&b, file, 300000000);
}

static void begin(void)
{
    setenv("LC_ALL", "C.UTF-8", 1);
    strcpy(path, "/tmp/orca-\x1b[2J\n\xe2\x80\xaeXXXXXX");
    file = mkstemp(path);
    cr_assert_geq(file, 0);
    build();
}

static void end(void)
{
    unlink(path);
    close(file);
}

TestSuite(terminal, .init = begin, .fini = end);

/* What a command prints on both outputs. */
static char *output(const struct cmd *c, const char *options)
{
    char words[200], *argv[20] = {(char[]){"command"}};
    int argc = 1;
    struct err err = {""};
    snprintf(words, sizeof words, "%s", options);
    for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
        argv[argc++] = strcmp(w, "FILE") == 0 ? path : w;
    struct printed p = printed_begin(true);
    if (c->run(argc, argv, &err) < 0)
        log_line("%s", err.msg); /* as main does */
    return printed_end(&p);
}

static void check(const char *what, const char *text)
{
    cr_assert_gt(strlen(text), 10, "%s prints nothing", what);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        cr_assert(*p >= ' ' || *p == '\n', "%s: control %02x at \"%.40s\"", what, *p,
                  (const char *)p - (p - (const unsigned char *)text > 30 ? 30 : 0));
        cr_assert_neq(*p, 0x7f, "%s: DEL", what);
        cr_assert(!(p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0), "%s: C1", what);
        cr_assert(!(p[0] == 0xe2 && p[1] == 0x80 && p[2] == 0xae), "%s: override", what);
    }
    cr_assert_null(strstr(text, "\norca: all is well"), "%s: a forged line", what);
}

Test(terminal, no_name_gets_through)
{
    static const struct {
        const struct cmd *cmd;
        const char *name, *options;
    } t[] = {
        {&cmd_report, "report", "FILE"},
        {&cmd_report, "report --calls", "--calls FILE"},
        {&cmd_report, "report --path", "--path --follow x* FILE"},
        {&cmd_report, "report --queues", "--queues FILE"},
        {&cmd_report, "report --deadlocks", "--deadlocks FILE"},
        {&cmd_report, "report --orders", "--orders FILE"},
        {&cmd_report, "report --class", "--class nosuch FILE"},
        {&cmd_events, "events", "FILE"},
        {&cmd_events, "events -s", "-s FILE"},
        {&cmd_info, "info", "FILE"},
        {&cmd_diff, "diff", "FILE FILE"},
        {&cmd_export, "export", "--to collapsed -o /dev/null FILE"},
        {&cmd_report, "report of a folder", "/tmp/no\x1b[2Jsuch"},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char *text = output(t[i].cmd, t[i].options);
        check(t[i].name, text);
        free(text);
    }
}
