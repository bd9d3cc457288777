/* What traces of other programs cost that are made to cost much: TPTP's XML, Orca's text. */
#include "work.h"

#ifdef ORCA_COUNT_WORK

#include "base/util.h"
#include "format/trace.h"
#include "import/orca_text.h"
#include "import/trcxml.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void many(struct buf *b, char c, uint32_t n)
{
    memset(buf_reserve(b, n), c, n);
    b->len += n;
}

/* --- XML -------------------------------------------------------------------------------------- */

static void thread(struct buf *b, uint32_t id, const char *name, uint32_t time)
{
    buf_printf(b, "<threadStart threadId='%u' time='%u' objIdRef='%u' threadName='%s'/>\n", id,
               time, 1000000 + id, name);
}

/* Names as long as an attribute may be, and longer. */
static void long_names(struct buf *b, uint32_t n)
{
    struct buf text = {0};
    for (uint32_t i = 0; i < n; i++)
        buf_puts(&text, "a.");
    buf_printf(b, "<classDef classId='1' name='%s' sourceName='%s'/>\n", buf_str(&text),
               buf_str(&text));
    buf_printf(b, "<methodDef classIdRef='1' name='%s' signature='%s'/>\n", buf_str(&text),
               buf_str(&text));
    thread(b, 1, buf_str(&text), 1);
    buf_printf(
        b,
        "<monWait threadIdRef='1' objIdRef='7' time='2' timeout='0'><annotation name='orca.frame' "
        "value='%s(%s:7)'/></monWait>\n",
        buf_str(&text), buf_str(&text));
    buf_fini(&text);
}

static void many_definitions(struct buf *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(b, "<classDef classId='%u' name='C%u'/>", i, i % (n / 2));
        buf_printf(b, "<methodDef classIdRef='%u' name='m' signature='()V'/>\n", i);
    }
}

static void many_threads(struct buf *b, uint32_t n)
{
    for (uint32_t i = 1; i <= n; i++)
        thread(b, i, "main", 1);
    for (uint32_t i = 1; i <= n; i++)
        thread(b, n - i, "main", 2);
}

/* Threads that only events name, with ids of all kinds. */
static void many_ids(struct buf *b, uint32_t n)
{
    for (uint32_t i = 1; i <= n; i++)
        buf_printf(
            b, "<monContendedEnter threadIdRef='%u' objIdRef='x%u' threadOwner='t%u' time='%u'/>\n",
            i * 65537, i, n - i, i);
}

static void many_frames(struct buf *b, uint32_t n)
{
    thread(b, 1, "main", 1);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(b,
                   "<monWait threadIdRef='1' objIdRef='7' time='%u' timeout='0'><annotation "
                   "name='orca.frame' value='a/B.c(B.java:%u)'/></monWait>\n",
                   i + 2, n - i);
}

/* Stacks that are each as deep as all before. */
static void deep_stacks(struct buf *b, uint32_t n)
{
    thread(b, 1, "main", 1);
    for (uint32_t k = 0; k < 4; k++) {
        buf_printf(b, "<monWait threadIdRef='1' objIdRef='7' time='%u' timeout='0'>\n", k + 2);
        for (uint32_t i = 0; i < n; i++)
            buf_printf(b, "<annotation name='orca.frame' value='a/B.c(B.java:%u)'/>\n", k);
        buf_puts(b, "</monWait>\n");
    }
}

/* As far out of the order of time as is still read. */
static void back_in_time(struct buf *b, uint32_t n)
{
    thread(b, 1, "main", 1);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(b, "<callNotify threadIdRef='1' objIdRef='7' time='%u'/>\n",
                   n * (15 - i % 15) + i / 15);
}

static void objects(struct buf *b, uint32_t n)
{
    thread(b, 1, "main", 1);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(b, "<objAlloc threadIdRef='1' objId='%u' classIdRef='1' size='8' time='%u'/>\n",
                   i + 1, i + 2);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(b, "<objFree objIdRef='%u' time='%u'/>\n", n - i, n + 2);
}

/* As many attributes as an element may have, none of them known; and nothing else is. */
static void strange(struct buf *b, uint32_t n)
{
    enum { ATTRS = 99, NAMES = 3000 };
    thread(b, 1, "main", 1);
    for (uint32_t i = 0, at = 0; i < n; i++) {
        buf_printf(b, "<e%u", i % NAMES % 1000);
        for (uint32_t k = 0; k < ATTRS; k++, at++)
            buf_printf(b, " a%u=''", at % NAMES);
        buf_puts(b, "/>\n");
    }
}

static void nested(struct buf *b, uint32_t n)
{
    enum { DEEP = 30 };
    for (uint32_t i = 0; i < n; i++) {
        for (int k = 0; k < DEEP; k++)
            buf_puts(b, "<a>");
        for (int k = 0; k < DEEP; k++)
            buf_puts(b, "</a>");
    }
    thread(b, 1, "main", 1);
}

/* Instructions, which a parser of their own reads: one of many names, then small ones. */
static void hidden(struct buf *b, uint32_t n)
{
    thread(b, 1, "main", 1);
    buf_puts(b, "<?orca <a");
    for (uint32_t k = 0; k < 3000; k++)
        buf_printf(b, " a%u=''", k);
    buf_puts(b, "/>?>\n");
    for (uint32_t i = 0; i < n; i++)
        buf_puts(b, "<?orca <a/>?>");
}

/* One tag, one comment, one text, each as long as the file. */
static void long_tokens(struct buf *b, uint32_t n)
{
    thread(b, 1, "main", 1);
    buf_puts(b, "<a b='");
    many(b, 'x', n);
    buf_puts(b, "'/><!--");
    many(b, 'x', n);
    buf_puts(b, "-->");
    many(b, 'x', n);
    buf_puts(b, "<?x ");
    many(b, '?', n);
    buf_puts(b, "?>");
    for (uint32_t i = 0; i < n / 4; i++)
        buf_puts(b, "&lt;");
}

static uint64_t read_all(struct trace *t)
{
    struct trace_iter *it;
    struct event e;
    struct err err;
    cr_assert_eq(trace_iter_open(&it, t, &err), 0);
    while (trace_iter_next(it, &e, NULL, &err) > 0)
        ;
    trace_iter_close(it);
    for (size_t i = 0; i < t->n_stacks; i++)
        for (uint32_t k = 0; k < t->stacks[i].n_frames; k++)
            trace_line(t, t->stacks[i].frames[k]);
    return 0;
}

static uint64_t read_xml(const struct buf *file)
{
    const struct text_source s = {"app.trcxml", -1, (const char *)file->p, file->len};
    struct trace *t;
    struct err err = {""};
    cr_assert_eq(import_trcxml_from(&t, &s, NULL, &err), 0, "%s", err.msg);
    read_all(t);
    trace_close(t);
    return file->len;
}

Test(work, of_xml, .timeout = 600)
{
    static const struct work_shape shapes[] = {
        {"long names", long_names, 8000},      {"many definitions", many_definitions, 5000},
        {"many threads", many_threads, 5000},  {"many ids", many_ids, 5000},
        {"many frames", many_frames, 5000},    {"deep stacks", deep_stacks, 3000},
        {"back in time", back_in_time, 10000}, {"objects", objects, 5000},
        {"strange names", strange, 200},       {"nested", nested, 500},
        {"instructions", hidden, 20000},       {"long tokens", long_tokens, 500000},
    };
    work_check("trcxml", read_xml, shapes, ARRAY_LEN(shapes));
}

/* --- Orca's text ------------------------------------------------------------------------------ */

#define PART "\n="

/* Rows of one long beginning, of which the last is meant. */
static void call_rows(struct buf *b, uint32_t n)
{
    enum { ROWS = 1999, BEGINNING = 900 };
    struct buf name = {0};
    many(&name, 'e', BEGINNING);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(b, "1.%09u,%s%u,00000001,00000002,0\n", i, buf_str(&name), ROWS);
    buf_puts(b, PART "calltable\n");
    for (uint32_t i = 1; i <= ROWS; i++)
        buf_printf(b, "a.B%u#c() calls %s%u\n", i, buf_str(&name), i);
    buf_fini(&name);
}

static void call_table(struct buf *b, uint32_t n)
{
    struct buf name = {0};
    many(&name, 'e', 100);
    buf_puts(b, "1.0,ThreadStarted,00000001,main\n" PART "calltable\n");
    for (uint32_t i = 1; i <= n; i++)
        buf_printf(b, "a.B%u#c() calls %s%u\n", i, buf_str(&name), i);
    buf_fini(&name);
}

static void begin_text(struct buf *b)
{
    buf_puts(b, "1.0,ThreadStarted,00000001,main\n");
    buf_puts(b, "2.0,ObjectWait,00000001,00000007,1;00000001;00000000\n");
}

static void text_definitions(struct buf *b, uint32_t n)
{
    begin_text(b);
    buf_puts(b, PART "methods\n");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(b, "1.0,%08X,m,()V,%08X,0\n", i * 65537, i);
    buf_puts(b, PART "classtable\n");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(b, "1.0,%08X,La%u;,\n", i, i);
}

/* One method again and again, each time with other lines. */
static void repeated_lines(struct buf *b, uint32_t n)
{
    begin_text(b);
    buf_puts(b, PART "methods\n");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(b, "1.0,00000001,m,()V,00000001,2;00000000;%08X;00000003;%08X\n", i, i);
    buf_puts(b, PART "classtable\n");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(b, "1.0,00000001,La%u;,\n", i);
}

static void long_lines(struct buf *b, uint32_t n)
{
    begin_text(b);
    buf_puts(b, "3.0,ThreadStarted,00000002,");
    many(b, 'x', n);
    buf_printf(b, "\n4.0,ObjectWait,00000001,00000007,%u", n / 20);
    for (uint32_t i = 0; i < n / 20; i++)
        buf_puts(b, ";00000001;00000000");
    buf_puts(b, "\n");
}

static void text_threads(struct buf *b, uint32_t n)
{
    begin_text(b);
    for (uint32_t i = 1; i <= n; i++)
        buf_printf(b, "%u.0,ThreadStarted,%08X,main\n", 2 + i, i * 65537);
    for (uint32_t i = 1; i <= n; i++)
        buf_printf(b, "%u.0,ObjectWait,%08X,%08X,1;%08X;00000000\n", 2 + n + i, i * 65537, i, i);
}

static void text_back_in_time(struct buf *b, uint32_t n)
{
    begin_text(b);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(b, "%u.0,ThreadStarted,00000001,main\n", n * (15 - i % 15) + i / 15);
}

/* The part behind the line "=NAME"; as in tests/fuzz/orca_text_fuzz.c. */
static struct text_source part(const struct buf *file, const char *name)
{
    const char *text = (const char *)file->p, *end = text + file->len;
    const char *at = memmem(text, file->len, name, strlen(name));
    if (!at)
        return (struct text_source){NULL, -1, NULL, 0};
    at += strlen(name);
    const char *stop = memmem(at, (size_t)(end - at), PART, sizeof PART - 1);
    return (struct text_source){name + 2, -1, at, (size_t)((stop ? stop + 1 : end) - at)};
}

static uint64_t read_text(const struct buf *file)
{
    const char *text = (const char *)file->p;
    const char *end = memmem(text, file->len, PART, sizeof PART - 1);
    struct orca_sources s = {
        .log = {"app.orca", -1, text, end ? (size_t)(end + 1 - text) : file->len},
        .methods = part(file, PART "methods\n"),
        .classtable = part(file, PART "classtable\n"),
        .meta = part(file, PART "meta\n"),
        .calltable = part(file, PART "calltable\n"),
    };
    struct trace *t;
    struct err err = {""};
    cr_assert_eq(import_orca_from(&t, &s, NULL, &err), 0, "%s", err.msg);
    read_all(t);
    trace_close(t);
    return file->len;
}

Test(work, of_text, .timeout = 600)
{
    static const struct work_shape shapes[] = {
        {"rows of a call table", call_rows, 1000},  {"a call table", call_table, 499},
        {"definitions", text_definitions, 5000},    {"repeated lines", repeated_lines, 5000},
        {"long lines", long_lines, 50000},          {"threads and locks", text_threads, 5000},
        {"back in time", text_back_in_time, 10000},
    };
    work_check("orca_text", read_text, shapes, ARRAY_LEN(shapes));
}

#endif
