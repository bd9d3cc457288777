/* What comes from a process that is to be attached to: files of /proc, performance counters,
 * argument files, answers.  The first byte says which. */
#include "attach/attach.h"
#include "attach/client.h"
#include "attach/command_line.h"
#include "attach/metaspace.h"
#include "attach/perfdata.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_perfdata(const uint8_t *data, size_t size)
{
    char out[32];
    if (perfdata_find_string(data, size, "sun.rt.jvmCapabilities", out, sizeof out) >=
        (int)sizeof out)
        abort();
    perfdata_accessible(data, size);
}

static void try_maps(const char *text, size_t size)
{
    struct proc_maps m;
    proc_parse_maps(text, size, 52, &m);
    if (strlen(m.libjvm) >= sizeof m.libjvm || (m.libjvm[0] && m.vm != PROC_VM_HOTSPOT))
        abort();
}

static void try_status(const char *text, size_t size)
{
    struct proc_status s;
    uint64_t ticks;
    if (proc_parse_status(text, size, &s) == 0 && !s.state)
        abort();
    proc_parse_start(text, size, &ticks);
}

struct file {
    const char *text;
    size_t size;
};

static int give_file(void *ctx, const char *path, struct buf *out)
{
    const struct file *f = ctx;
    (void)path;
    buf_put(out, f->text, f->size);
    return 0;
}

static void try_words(const char *text, size_t size)
{
    struct file f = {text, size};
    struct command_line c = {.read_file = give_file, .ctx = &f};
    command_line_take_environ(&c, text, size, "JAVA_TOOL_OPTIONS");
    command_line_take_command(&c, text, size);
    if (strlen(c.program) >= sizeof c.program)
        abort();
}

static void try_reply(const char *text, size_t size)
{
    struct attach_reply r;
    struct err err = {""};
    attach_reply_init(&r);
    if (attach_parse_reply(text, size, &r) == 0 && attach_parse_load(&r, 1, &err) < 0 &&
        !err.msg[0])
        abort();
    struct metaspace m;
    metaspace_parse(buf_str(&r.text), &m);
    attach_reply_fini(&r);
}

/* What the agent answers over its socket: "key value" lines. */
static void try_answer(const char *text, size_t size)
{
    static const char *const keys[] = {"path", "group", "events", "state", "loss", ""};
    struct buf b = {0};
    buf_put(&b, text, size);
    const char *answer = buf_str(&b), *end = answer + strlen(answer);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *at = NULL, *value;
        for (int n; (n = client_value(answer, keys[i], &at, &value)) >= 0;)
            if (value < answer || value + n > end)
                abort();
        client_number(answer, keys[i]);
    }
    struct err err = {""};
    const char *said;
    if (client_parse(answer, &said, &err) < 0 ? !err.msg[0] : said < answer || said > end)
        abort();
    buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    switch (data[0]) {
    case 'p':
        try_perfdata(data + 1, size - 1);
        break;
    case 'm':
        try_maps(text, size - 1);
        break;
    case 's':
        try_status(text, size - 1);
        break;
    case 'w':
        try_words(text, size - 1);
        break;
    case 'r':
        try_reply(text, size - 1);
        break;
    case 'a':
        try_answer(text, size - 1);
        break;
    }
    return 0;
}
