/* import_trcxml_files_test.c - files and bytes: what is XML, where it ends, and what is refused. */
#include "import/trcxml.h"

#include "base/util.h"
#include "import/xml_reader.h"
#include "orca_files.h"
#include "trcxml_lines.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct err err;

/* --- files ------------------------------------------------------------------------------------ */

Test(import_trcxml_files, fragments_need_no_root)
{
    static const char *const starts[] = {"", "\xef\xbb\xbf", "<?xml version='1.0'?>\n",
                                         "\xef\xbb\xbf<?xml version='1.0'?>",
                                         "<!-- a > comment --> <?a processing instruction?>\n"};
    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        char xml[400];
        snprintf(xml, sizeof xml, "%s" MAIN "\n" WORKER "\n", starts[i]);
        xml_is(xml, BOTH);
        snprintf(xml, sizeof xml, "%s<TRACE>" MAIN "</TRACE>\n<TRACE>" WORKER "</TRACE>",
                 starts[i]);
        xml_is(xml, BOTH);
        snprintf(xml, sizeof xml,
                 "%s<!DOCTYPE TRACE SYSTEM '/nowhere/trace.dtd'><TRACE>" MAIN WORKER "</TRACE>",
                 starts[i]);
        xml_is(xml, BOTH);
    }
}

Test(import_trcxml_files, a_file_may_begin_in_the_middle)
{
    xml_is("dRef='1' time='0.5'/>\n" MAIN "\n" WORKER "\n</TRACE>\n", BOTH);
}

static const char cut_note[] =
    "line 3: the file ends before its elements do: it was truncated, or is still being written";

Test(import_trcxml_files, a_cut_file_is_read_as_far_as_it_goes)
{
    xml_is_but("<TRACE>\n" MAIN "\n" WORKER, cut_note, false, BOTH);
    xml_is_but("<TRACE>\n" MAIN "\n" WORKER "<threadEnd thr", cut_note, false, BOTH);
    char note[200];
    snprintf(note, sizeof note, "%s; the last one is left out", cut_note);
    xml_is_but("<TRACE>\n" MAIN "\n" WORKER "<monWait threadIdRef='2' time='2'>" FRAME("a.b(c)"),
               note, false, BOTH);
}

static const char whole[] =
    "<?xml version='1.0' encoding='UTF-8'?>\n<TRACE>\n<!-- \xe4\xb8\x96 -->\n" MAIN "\n" WORKER
    "\n<callStart threadId='1' time='2' objIdRef='102'>" FRAME(
        "a/\xc3\x9c.b(c.java:1)") "</callStart>\n<threadEnd threadIdRef='2' time='3'/>\n</TRACE>\n";

Test(import_trcxml_files, wherever_a_file_is_cut_it_is_read)
{
    uint64_t last = 0;
    for (size_t n = 0; n < sizeof whole; n++) {
        char *copy = strndup(whole, n);
        struct trace *t = xml_import(copy);
        cr_assert_geq(t->n_events, last);
        last = t->n_events;
        cr_assert_eq(t->n_damaged, 0, "%zu: %s", n, n ? t->problems[0].text : "");
        trace_close(t);
        free(copy);
    }
    cr_assert_eq(last, 4);
}

Test(import_trcxml_files, other_encodings_of_xml)
{
    struct text_source s = {"app.trcxml", -1, NULL, 0};
    static const char latin[] = "<?xml version='1.0' encoding='ISO-8859-1'?><threadStart "
                                "threadId='1' time='1' threadName='\xfc'/>";
    xml_is(latin, "1000 thread_start \xc3\xbc\n");
    char wide[2 * sizeof "<TRACE>" MAIN "</TRACE>"] = "\xff\xfe";
    const char *narrow = "<TRACE>" MAIN "</TRACE>";
    size_t n = 2;
    for (; *narrow; narrow++, n += 2) {
        wide[n] = *narrow;
        wide[n + 1] = 0;
    }
    s.p = wide;
    s.len = n;
    struct trace *t;
    cr_assert_eq(import_trcxml_from(&t, &s, NULL, &err), 0, "%s", err.msg);
    has_events(t, "1000 thread_start main\n");
    trace_close(t);
}

/* --- hidden elements -------------------------------------------------------------------------- */

Test(import_trcxml_files, an_instruction_of_ours_holds_an_element)
{
    xml_is(MAIN WORKER "<?other <threadEnd threadIdRef='1' time='2'/>?>"
                       "<?orca <threadEnd threadIdRef='2' time='3'/>?>",
           BOTH "3000 thread_end worker\n");
    xml_is("<TRACE>\n" MAIN WORKER "<?orca <callInterrupt threadId='1' time='2' objIdRef='102' "
           "in='none'>" FRAME(
               "a.b(c.java:1)") "</callInterrupt>?>"
                                "<?orca <callInterrupt threadId='1' time='3' objIdRef='102' "
                                "in='monitor_contended_enter'/>?></TRACE>",
           BOTH "2000 interrupt main target=worker at=La;.b(c.java:1)\n"
                "3000 interrupt main target=worker target_in=monitor_contended_enter\n");
}

Test(import_trcxml_files, what_is_no_element_in_it_is_refused)
{
    static const char *const bad[] = {"",           "text",
                                      "<threadEnd", "<a><b></a>",
                                      "<a/><b/>",   "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char xml[300];
        snprintf(xml, sizeof xml, "<TRACE>\n" MAIN "<?orca %s?></TRACE>", bad[i]);
        struct trace *t = files_import_xml(xml, &err);
        cr_assert_null(t, "%s", bad[i]);
        cr_assert(strstr(err.msg, "app.trcxml: line 2, column "), "%s", err.msg);
        cr_assert(strstr(err.msg, "remove it"), "%s", err.msg);
    }
}

Test(import_trcxml_files, a_hidden_element_is_no_deeper_than_others)
{
    struct buf xml = {0};
    buf_puts(&xml, "<TRACE>" MAIN "<?orca ");
    for (int i = 0; i < 40; i++)
        buf_puts(&xml, "<a>");
    for (int i = 0; i < 40; i++)
        buf_puts(&xml, "</a>");
    buf_puts(&xml, "?></TRACE>");
    cr_assert_null(files_import_xml(buf_str(&xml), &err));
    cr_assert(strstr(err.msg, "more than 32 deep"), "%s", err.msg);
    buf_fini(&xml);
}

/* --- what is refused -------------------------------------------------------------------------- */

#define SAVE "; xmllint --recover --huge writes what can be saved"
#define CODE "; iconv -t UTF-8 changes the encoding; then change the declaration as well"
#define NOT_XML(line, column, why)                                                                 \
    "app.trcxml: line " #line ", column " #column ": this is not XML: " why

Test(import_trcxml_files, what_is_not_xml_is_refused_with_its_place)
{
    xml_is_refused("<TRACE>\n<a b=c/>\n</TRACE>",
                   NOT_XML(2, 6, "not well-formed (invalid token)" SAVE));
    xml_is_refused("<a>\n</b>", NOT_XML(2, 3, "mismatched tag" SAVE));
    xml_is_refused("<a x='1' x='2'/>", NOT_XML(1, 10, "duplicate attribute" SAVE));
    xml_is_refused("<a x='&who;'/>", NOT_XML(1, 1, "undefined entity" SAVE));
    xml_is_refused("<a x='a<b'/>", NOT_XML(1, 8, "not well-formed (invalid token)" SAVE));
    xml_is_refused("<a x='&#0;'/>", NOT_XML(1, 7, "reference to invalid character number" SAVE));
    xml_is_refused("<a/>\n <?xml version='1.0'?>",
                   NOT_XML(2, 2, "XML or text declaration not at start of entity" SAVE));
    xml_is_refused(
        "<a x='\xff'/>",
        NOT_XML(1, 7,
                "not well-formed (invalid token); iconv -c -f UTF-8 -t UTF-8 removes bytes "
                "that are not UTF-8"));
    xml_is_refused("<?xml version='1.0' encoding='KOI8-R'?><a/>",
                   NOT_XML(1, 31, "unknown encoding" CODE));
    xml_is_refused(MAIN "</TRACE>" WORKER, NOT_XML(1, 78, "junk after document element" SAVE));
}

Test(import_trcxml_files, a_nul_byte_is_refused)
{
    static const char text[] = MAIN "\n\0<a/>";
    struct text_source s = {"app.trcxml", -1, text, sizeof text - 1};
    struct trace *t;
    cr_assert_eq(import_trcxml_from(&t, &s, NULL, &err), -EINVAL);
    cr_assert_null(t);
    cr_assert_str_eq(err.msg, NOT_XML(2, 1, "a NUL byte; tr -d '\\0' removes such bytes"));
}

#define DECLARES                                                                                   \
    "app.trcxml: line 1, column 17: the DOCTYPE has declarations of its own, and entities are "    \
    "not expanded here: remove it"

Test(import_trcxml_files, a_doctype_declares_nothing)
{
    xml_is_refused("<!DOCTYPE TRACE [<!ENTITY a 'b'><!ENTITY c '&a;&a;&a;&a;'>]><TRACE x='&c;'/>",
                   DECLARES);
    xml_is_refused("<!DOCTYPE TRACE [<!ENTITY a SYSTEM '/etc/passwd'>]><TRACE>&a;</TRACE>",
                   DECLARES);
    xml_is_refused("<!DOCTYPE TRACE [<!ENTITY % a SYSTEM '/etc/passwd'> %a;]><TRACE/>", DECLARES);
    xml_is_refused("<!DOCTYPE TRACE [<!ATTLIST a b CDATA 'c'>]><TRACE/>", DECLARES);
    xml_is_refused(MAIN "<!DOCTYPE TRACE [<!ENTITY a 'b'>]>",
                   NOT_XML(1, 72, "not well-formed (invalid token)" SAVE));
}

Test(import_trcxml_files, another_xml_is_refused)
{
    xml_is_refused("<?xml version='1.0'?><html><body/></html>",
                   "app.trcxml: it has no element of a TPTP trace: not a .trcxml file");
    xml_is_refused("text", "app.trcxml: it has no element of a TPTP trace: not a .trcxml file");
    xml_is("", "");
    xml_is("<TRACE/>", "");
}

static char *repeat(const char *begin, const char *part, int n, const char *end)
{
    struct buf b = {0};
    buf_puts(&b, begin);
    for (int i = 0; i < n; i++)
        buf_printf(&b, part, i, i);
    buf_puts(&b, end);
    buf_str(&b);
    return (char *)b.p;
}

Test(import_trcxml_files, elements_are_not_endlessly_deep)
{
    char *xml = repeat("", "<a>", 100000, "");
    xml_is_refused(
        xml, "app.trcxml: line 1, column 97: elements in elements, more than 32 deep: this is "
             "not a trace");
    free(xml);
}

Test(import_trcxml_files, an_element_is_not_endlessly_long)
{
    struct buf xml = {0};
    buf_puts(&xml, MAIN "\n<threadStart threadName='");
    for (int i = 0; i < XML_ELEMENT_MAX / 4; i++)
        buf_puts(&xml, "wxyz");
    size_t n = xml.len;
    buf_puts(&xml, "'/>\n" WORKER);
    struct trace *t = xml_import(buf_str(&xml));
    cr_assert_eq(t->n_threads, 3);
    trace_close(t);
    xml.len = n;
    for (int i = 0; i < 1000000; i++)
        buf_puts(&xml, "a");
    xml_is_refused(
        buf_str(&xml),
        "app.trcxml: line 2: an element of more than 4194304 bytes: this is not a trace");
    buf_fini(&xml);
}

Test(import_trcxml_files, an_element_has_at_most_100_attributes)
{
    char *xml = repeat(MAIN "\n<a", " a%d='x'", 101, "/>");
    xml_is_refused(xml,
                   "app.trcxml: line 2, column 1: an element of more than 100 attributes: this is "
                   "not a trace");
    free(xml);
    xml = repeat(MAIN "\n<a", " a%d='x'", 100, "/>");
    trace_close(xml_import(xml));
    free(xml);
}

Test(import_trcxml_files, ever_new_names_are_refused)
{
    char *xml = repeat(MAIN "\n", "<a%d b%d='x'/>\n", 2049, "");
    xml_is_refused(xml,
                   "app.trcxml: line 2050: more than 4096 different names that TPTP does not have: "
                   "this is not a trace");
    free(xml);
}

/* --- files on disk ---------------------------------------------------------------------------- */

static char *folder;

static const char *put_file(const char *name, const void *p, size_t n)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    cr_assert(f && fwrite(p, 1, n, f) == n && fclose(f) == 0);
    return path;
}

static void file_refused(const char *name, const void *p, size_t n, const char *message)
{
    struct trace *t;
    char expected[600];
    const char *path = put_file(name, p, n);
    snprintf(expected, sizeof expected, "%s: %s", path, message);
    cr_assert_lt(import_file(&t, path, NULL, &err), 0);
    cr_assert_null(t);
    cr_assert_str_eq(err.msg, expected);
}

Test(import_trcxml_files, foreign_files_are_called_by_their_name)
{
    folder = folder_make();
    file_refused("zip.trcxml", "\x1f\x8b\x08\x00", 4,
                 "this is compressed with gzip: decompress it first");
    file_refused("zst.trcxml", "\x28\xb5\x2f\xfd", 4,
                 "this is compressed with zstd: decompress it first");
    file_refused("page.xml", "<html/>", 7, "it has no element of a TPTP trace: not a .trcxml file");
    folder_remove(folder);
}

Test(import_trcxml_files, knows_which_files_are_its_own)
{
    folder = folder_make();
    cr_assert(import_trcxml_wants(put_file("a.txt", "<?xml", 5)));
    cr_assert(import_trcxml_wants(put_file("b.orca", " \r\n<TRACE>", 10)));
    cr_assert(import_trcxml_wants(put_file("c", "\xef\xbb\xbf<a", 5)));
    cr_assert(import_trcxml_wants(put_file("d.trcxml", "", 0)));
    cr_assert(import_trcxml_wants("/nowhere/gone.trcxml"));
    cr_assert_not(import_trcxml_wants("/nowhere/gone.xml"));
    cr_assert_not(import_trcxml_wants(put_file("e.txt", "1.0,", 4)));
    cr_assert_not(import_trcxml_wants(put_file("f.trcxml", FILE_MAGIC, 8)));
    cr_assert(import_wants(put_file("g.orca", "1.0,", 4)));
    cr_assert(import_wants(put_file("h.orca", "<a", 2)));
    cr_assert_not(import_wants(put_file("i.otrace", FILE_MAGIC, 8)));
    folder_remove(folder);
}

static uint64_t shown, total_shown;

static void show(void *ctx, uint64_t done, uint64_t total)
{
    UNUSED(ctx);
    cr_assert(done > shown && total > 0);
    shown = done;
    total_shown = total;
}

Test(import_trcxml_files, a_long_file_is_read_in_parts_and_shows_its_progress)
{
    enum { N = 20000 };
    struct trace *t;
    struct buf xml = {0};
    buf_puts(&xml, "<?xml version='1.0'?>\n<TRACE>\n" MAIN "\n");
    for (int i = 0; i < N; i++)
        buf_printf(&xml, "<callNotify threadId='1' time='%d.5' objIdRef='%d' isNotifyAll='0'/>\n",
                   i + 1, 2 + i % 100);
    buf_puts(&xml, "</TRACE>\n");
    folder = folder_make();
    const char *path = put_file("long.trcxml", xml.p, xml.len);
    cr_assert_eq(import_file(&t, path, &(struct import_watch){show, NULL}, &err), 0, "%s", err.msg);
    cr_assert_eq(t->n_events, N + 1);
    cr_assert_eq(t->n_locks, 101);
    cr_assert_eq(t->n_streams, 1);
    has_problems(t, NULL, 0);
    cr_assert_eq(total_shown, xml.len);
    cr_assert_geq(shown, xml.len);
    cr_assert_str_eq(trace_info(t, "import.file", ""), path);
    trace_close(t);
    folder_remove(folder);
    buf_fini(&xml);
}

Test(import_trcxml_files, an_element_may_end_anywhere_in_what_was_read_at_once)
{
    enum { STEP = 64 * 1024, AROUND = 200 };
    folder = folder_make();
    for (int pad = STEP - AROUND; pad < STEP; pad++) {
        struct trace *t;
        struct buf xml = {0};
        buf_puts(&xml, "<TRACE>" MAIN "<!--");
        while (xml.len < (size_t)pad)
            buf_putc(&xml, 'x');
        buf_puts(&xml, "-->\n" WORKER "</TRACE>");
        const char *path = put_file("a.trcxml", xml.p, xml.len);
        cr_assert_eq(import_file(&t, path, NULL, &err), 0, "%s", err.msg);
        has_events(t, BOTH);
        trace_close(t);
        buf_fini(&xml);
    }
    folder_remove(folder);
}
