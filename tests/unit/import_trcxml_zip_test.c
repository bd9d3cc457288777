/* import_trcxml_zip_test.c - Eclipse's own exports, which are ZIPs: made-up ones of the same shape,
 * sound and damaged; and real ones, where ORCA_REAL_TRCXML names a folder of them or
 * ../shared/real-trcxml is one. */
#include "import/trcxml.h"

#include "base/buf.h"
#include "base/util.h"
#include "import/unzip.h"
#include "orca_files.h"
#include "trcxml_lines.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static struct err err;

/* --- writing a ZIP ---------------------------------------------------------------------------- */

struct made {
    struct buf file, directory;
    unsigned n;
};

static void put16(struct buf *b, unsigned v)
{
    buf_putc(b, (char)(v & 255));
    buf_putc(b, (char)(v >> 8 & 255));
}

static void put32(struct buf *b, uint32_t v)
{
    put16(b, v & 65535);
    put16(b, v >> 16);
}

/* What a header has in both places, from the version on. */
static void put_common(struct buf *b, unsigned method, uint32_t crc, size_t packed, size_t size,
                       size_t name)
{
    put16(b, 20);
    put16(b, 0);
    put16(b, method);
    put32(b, 0);
    put32(b, crc);
    put32(b, (uint32_t)packed);
    put32(b, (uint32_t)size);
    put16(b, (unsigned)name);
    put16(b, 0);
}

static size_t deflated(const char *text, unsigned char *to, size_t room)
{
    z_stream s = {0};
    cr_assert_eq(deflateInit2(&s, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    s.next_in = (unsigned char *)(uintptr_t)text;
    s.avail_in = (uInt)strlen(text);
    s.next_out = to;
    s.avail_out = (uInt)room;
    cr_assert_eq(deflate(&s, Z_FINISH), Z_STREAM_END);
    size_t n = room - s.avail_out;
    deflateEnd(&s);
    return n;
}

static void add(struct made *z, const char *name, const char *text, bool deflate)
{
    static unsigned char room[1 << 16];
    const void *p = text;
    size_t size = strlen(text), packed = size, at = z->file.len;
    uint32_t crc = (uint32_t)crc32(0, (const unsigned char *)text, (uInt)size);
    if (deflate) {
        packed = deflated(text, room, sizeof room);
        p = room;
    }
    buf_puts(&z->file, "PK\3\4");
    put_common(&z->file, deflate ? 8 : 0, crc, packed, size, strlen(name));
    buf_puts(&z->file, name);
    buf_put(&z->file, p, packed);
    buf_puts(&z->directory, "PK\1\2");
    put16(&z->directory, 20);
    put_common(&z->directory, deflate ? 8 : 0, crc, packed, size, strlen(name));
    put16(&z->directory, 0);
    put32(&z->directory, 0);
    put32(&z->directory, 0);
    put32(&z->directory, (uint32_t)at);
    buf_puts(&z->directory, name);
    z->n++;
}

/* The directory and the end behind the entries. */
static void end(struct made *z)
{
    size_t at = z->file.len;
    buf_put(&z->file, z->directory.p, z->directory.len);
    buf_puts(&z->file, "PK\5\6");
    put32(&z->file, 0);
    put16(&z->file, z->n);
    put16(&z->file, z->n);
    put32(&z->file, (uint32_t)z->directory.len);
    put32(&z->file, (uint32_t)at);
    put16(&z->file, 0);
    cr_assert(!z->file.oom);
}

static void fini(struct made *z)
{
    buf_fini(&z->file);
    buf_fini(&z->directory);
}

/* --- reading it ------------------------------------------------------------------------------- */

/* Import the first n bytes; NULL with err, whose message begins with the file's name. */
static struct trace *import_bytes(const void *p, size_t n)
{
    char path[] = "/tmp/orca-zip-XXXXXX", begin[64];
    struct trace *t = NULL;
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, p, n), (ssize_t)n);
    close(fd);
    err.msg[0] = 0;
    int rc = import_file(&t, path, NULL, &err);
    unlink(path);
    cr_assert_eq(rc == 0, t != NULL);
    snprintf(begin, sizeof begin, "%s: ", path);
    if (rc < 0)
        cr_assert_eq(strncmp(err.msg, begin, strlen(begin)), 0, "%s", err.msg);
    return t;
}

/* What an error says behind the file's name. */
static const char *message(void)
{
    const char *p = strstr(err.msg, ": ");
    return p ? p + 2 : err.msg;
}

static struct trace *import_made(struct made *z)
{
    end(z);
    struct trace *t = import_bytes(z->file.p, z->file.len);
    fini(z);
    return t;
}

static void made_is_refused(struct made *z, const char *expected)
{
    struct trace *t = import_made(z);
    cr_assert_null(t);
    cr_assert_str_eq(message(), expected);
}

/* One recording as Eclipse writes it: all elements on one line, and the root not closed. */
#define HEAD(trace, pid)                                                                           \
    "<?xml version=\"1.0\"?>\n<TRACE>\n<node nodeId=\"UUID-1\" hostname=\"there\" "                \
    "ipaddress=\"10.0.0.1\" timezone=\"0\" time=\"1\"/><processCreate processId=\"UUID-" trace     \
    "p\" pid=\"" pid "\" nodeIdRef=\"UUID-1\" time=\"1\"/><agentCreate agentId=\"UUID-" trace      \
    "a\" version=\"1.000\" processIdRef=\"UUID-2\" agentName=\"Java Profiling Agent\" "            \
    "agentType=\"Profiler\" agentParameters=\"server=controlled\" time=\"1\"/>"                    \
    "<traceStart traceId=\"UUID-" trace "\" agentIdRef=\"UUID-3\" time=\"1\"/>"                    \
    "<option key=\"TICKET\" value=\"true\"/>"
#define THREAD(id, time, name)                                                                     \
    "<threadStart threadId=\"" id "\" time=\"" time "\" threadName=\"" name                        \
    "\" groupName=\"main\" parentName=\"system\" objIdRef=\"0\"/>"
#define CALL(ticket, from, to)                                                                     \
    "<methodEntry threadIdRef=\"8\" time=\"" from "\" methodIdRef=\"21\" classIdRef=\"11\" "       \
    "ticket=\"" ticket "\" stackDepth=\"1\"/><methodExit threadIdRef=\"8\" methodIdRef=\"21\" "    \
    "classIdRef=\"11\" ticket=\"" ticket "\" time=\"" to "\" overhead=\"0.000036000\"/>"
#define CLASS                                                                                      \
    "<classDef threadIdRef=\"8\" name=\"draw/Figure\" sourceName=\"Figure.java\" classId=\"11\" "  \
    "objIdRef=\"0\" time=\"2\"/><methodDef name=\"-init-\" signature=\"()V\" "                     \
    "startLineNumber=\"3\" endLineNumber=\"9\" methodId=\"21\" classIdRef=\"11\"/>"

static const char first[] = HEAD("1", "77")
    THREAD("15", "1.5", "Thread-2") "<threadEnd threadIdRef=\"15\" time=\"1.75\"/>" THREAD(
        "8", "2", "AWT-EventQueue-0") CLASS CALL("1", "2", "3") CALL("2", "3", "9");
static const char first_events[] = "1000 recording_start\n1500 thread_start Thread-2\n"
                                   "1750 thread_end Thread-2\n"
                                   "2000 thread_start AWT-EventQueue-0\n";
#define CALLS "a trace of method calls: 2 methodEntry, 2 methodExit are counted, and not analysed"

Test(import_trcxml_zip, an_export_of_eclipse_is_read_with_its_threads_and_calls)
{
    for (int packed = 0; packed < 2; packed++) {
        struct made z = {.n = 0};
        add(&z, "TraceContents-Monday__1.xml", first, packed);
        struct trace *t = import_made(&z);
        cr_assert_not_null(t, "%s", err.msg);
        has_problems(t, (const char *const[]){CALLS}, 1);
        has_events(t, first_events);
        cr_assert_str_eq(trace_info(t, "import.calls", ""), "2 methodEntry, 2 methodExit");
        cr_assert_str_eq(trace_info(t, "host", ""), "there");
        cr_assert_eq(t->header.pid, 77);
        cr_assert_eq(t->header.end_mono, UINT64_C(9000000000), "the last call is in it");
        trace_close(t);
    }
}

Test(import_trcxml_zip, what_is_no_xml_in_it_is_passed_over)
{
    struct made z = {.n = 0};
    add(&z, "folder/", "", false);
    add(&z, "readme.txt", "<what>", true);
    add(&z, "TraceContents-1.xml", first, true);
    struct trace *t = import_made(&z);
    cr_assert_not_null(t, "%s", err.msg);
    has_events(t, first_events);
    trace_close(t);
}

Test(import_trcxml_zip, recordings_are_apart_and_their_threads_end_with_them)
{
    static const char second[] =
        HEAD("2", "78") THREAD("15", "20", "Thread-2") THREAD("8", "21", "AWT-EventQueue-0");
    static const char *const notes[] = {
        CALLS, "2 recordings are in this file and are read one after the other: unpack it to read "
               "each separately"};
    struct made z = {.n = 0};
    add(&z, "TraceContents-1.xml", first, true);
    add(&z, "TraceContents-2.xml", second, true);
    struct trace *t = import_made(&z);
    cr_assert_not_null(t, "%s", err.msg);
    has_problems(t, notes, 2);
    has_events(t, "1000 recording_start\n1000 recording_start\n1500 thread_start Thread-2\n"
                  "1750 thread_end Thread-2\n2000 thread_start AWT-EventQueue-0\n"
                  "9000 thread_end AWT-EventQueue-0\n20000 thread_start Thread-2\n"
                  "21000 thread_start AWT-EventQueue-0\n");
    size_t used = 0;
    for (size_t i = 1; i < t->n_threads; i++)
        used += t->threads[i].id.v != 0;
    cr_assert_eq(used, 4, "%zu", used);
    trace_close(t);
}

Test(import_trcxml_zip, a_place_in_it_is_told_with_the_part)
{
    static const char bad[] = "<TRACE>\n" THREAD("1", "1", "main") "\n<threadEnd a=b/>";
    struct made z = {.n = 0};
    add(&z, "a.xml", bad, true);
    made_is_refused(&z, "a.xml: line 3, column 14: this is not XML: not well-formed (invalid "
                        "token); unzip it; xmllint --recover --huge then writes what can be saved");
    static const char odd[] = "<TRACE>\n" THREAD("1", "1", "main") "\n<threadEnd threadId='1'/>";
    z = (struct made){.n = 0};
    add(&z, "b.xml", odd, true);
    struct trace *t = import_made(&z);
    cr_assert_not_null(t, "%s", err.msg);
    has_problems(t,
                 (const char *const[]){"b.xml: line 3: an event without a time is left out: record "
                                       "with TIMESTAMPS=true"},
                 1);
    trace_close(t);
}

/* --- damage ----------------------------------------------------------------------------------- */

#define AGAIN ": export it again, or save what can be saved with zip -FF"

Test(import_trcxml_zip, a_zip_of_something_else)
{
    struct made z = {.n = 0};
    add(&z, "META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n", true);
    made_is_refused(&z, "a ZIP without a TraceContents-*.xml of TPTP's: not a .trcxml file");
    z = (struct made){.n = 0};
    made_is_refused(&z, "a ZIP without a TraceContents-*.xml of TPTP's: not a .trcxml file");
}

Test(import_trcxml_zip, a_cut_zip_says_where_and_what_helps)
{
    struct made z = {.n = 0};
    char expected[200];
    add(&z, "a.xml", first, true);
    end(&z);
    for (size_t n = 4; n < z.file.len; n++) {
        cr_assert_null(import_bytes(z.file.p, n));
        snprintf(
            expected, sizeof expected,
            "offset 0x%zx: the ZIP has no directory at its end: it was truncated, or is still being "
            "written" AGAIN,
            n);
        cr_assert_str_eq(message(), expected);
    }
    fini(&z);
}

Test(import_trcxml_zip, wherever_a_byte_is_wrong_it_ends_well)
{
    struct made z = {.n = 0};
    size_t refused = 0;
    add(&z, "a.xml", first, true);
    add(&z, "b.xml", MAIN, false);
    end(&z);
    for (size_t i = 4; i < z.file.len; i++) {
        z.file.p[i] ^= 0x55;
        struct trace *t = import_bytes(z.file.p, z.file.len);
        refused += t == NULL;
        trace_close(t);
        z.file.p[i] ^= 0x55;
    }
    cr_assert_gt(refused, z.file.len / 2);
    fini(&z);
}

/* Change numbers of the first entry in the directory. */
static void spoil(struct made *z, size_t at, uint32_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        z->directory.p[at + i] = (uint8_t)(value >> 8 * i);
}

Test(import_trcxml_zip, a_directory_is_not_believed)
{
    static const struct {
        size_t at, bytes;
        uint32_t value;
        const char *message;
    } cases[] = {
        {8, 2, 1, "a.xml: encrypted ZIPs are not read here: unpack it first"},
        {10, 2, 14, "a.xml: ZIPs of this method are not read here: unpack it first"},
        {16, 4, 1, "a.xml: offset 0x0 of the ZIP: its checksum is wrong" AGAIN},
        {24, 4, 10, "a.xml: offset 0x"},
        {24, 4, 4000000000,
         "a.xml: offset 0x0 of the ZIP: it is shorter than the directory says" AGAIN},
        {20, 4, 20, "a.xml: offset 0x"},
        {20, 4, 70000, "offset 0x"},
        {42, 4, 5,
         "a.xml: offset 0x5 of the ZIP: there is no entry where the directory has one" AGAIN},
        {42, 4, 70000, "offset 0x"},
        {28, 2, 0, "offset 0x"},
        {28, 2, 2000, "offset 0x"},
        {46, 1, '\n', "offset 0x"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct made z = {.n = 0};
        add(&z, "a.xml", first, true);
        spoil(&z, cases[i].at, cases[i].value, cases[i].bytes);
        cr_assert_null(import_made(&z), "%zu", i);
        cr_assert_eq(strncmp(message(), cases[i].message, strlen(cases[i].message)), 0, "%zu: %s",
                     i, err.msg);
        bool helps = strstr(err.msg, AGAIN) || strstr(err.msg, "unpack it first");
        cr_assert(helps, "%s", err.msg);
    }
}

/* Many entries of one piece of data: a small file that would be a huge one. */
Test(import_trcxml_zip, entries_on_top_of_each_other_are_refused)
{
    struct made z = {.n = 0};
    add(&z, "a.xml", first, true);
    size_t one = z.directory.len;
    for (int i = 0; i < 50; i++, z.n++) {
        uint8_t copy[100];
        memcpy(copy, z.directory.p, one);
        buf_put(&z.directory, copy, one);
    }
    struct trace *t = import_made(&z);
    cr_assert_null(t);
    cr_assert(strstr(err.msg, "entries overlap"), "%s", err.msg);
}

/* --- other writers' names --------------------------------------------------------------------- */

Test(import_trcxml_zip, an_object_is_called_objIdRef_too)
{
    xml_is(MAIN "<classDef name='a/Lock' classId='1'/>"
                "<objDef objIdRef='7' isArray='0' size='16' classIdRef='1' time='1'/>"
                "<objAlloc objIdRef='8' isArray='0' size='24' classIdRef='1' threadIdRef='1' "
                "time='2'/><objFree objIdRef='8' time='3'/>"
                "<callNotify threadId='1' objIdRef='7' isNotifyAll='0' time='4'/>",
           "1000 thread_start main\n"
           "2000 object_alloc main object=1 class_=1 size=24\n"
           "3000 object_free object=1 class_=1 size=24 since=2000000000 allocated_by=main\n"
           "4000 notify main lock=1:La/Lock;\n");
}

/* --- real ones -------------------------------------------------------------------------------- */

static DIR *real_folder(const char **path)
{
    *path = getenv("ORCA_REAL_TRCXML");
    if (!*path)
        *path = "../shared/real-trcxml";
    return opendir(*path);
}

static void check_real(const char *path)
{
    struct trace *t;
    size_t named = 0;
    cr_assert_eq(import_file(&t, path, NULL, &err), 0, "%s", err.msg);
    for (size_t i = 1; i < t->n_threads; i++)
        named += t->threads[i].id.v && *t->threads[i].name;
    cr_assert_geq(named, 5, "%s: %zu threads", path, named);
    cr_assert_neq(*trace_info(t, "import.calls", ""), 0, "%s", path);
    cr_assert_gt(t->n_events, named, "their starts");
    cr_assert_eq(t->n_damaged, 0, "%s: %s", path, t->problems[0].text);
    trace_close(t);
}

Test(import_trcxml_zip, real_exports_of_2007)
{
    const char *folder;
    DIR *d = real_folder(&folder);
    size_t n = 0;
    if (!d)
        cr_skip_test("no real exports here: ORCA_REAL_TRCXML names a folder of them");
    for (const struct dirent *e; (e = readdir(d));) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (strstr(e->d_name, ".trcxml")) {
            check_real(path);
            n++;
        }
    }
    closedir(d);
    cr_assert_gt(n, 0, "%s: no .trcxml", folder);
}
