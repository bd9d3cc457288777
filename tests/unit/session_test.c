#include "cli/session.h"

#include "base/fdio.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct session s;
static struct err err;

static void begin(void)
{
    cr_assert_eq(session_open(&s, &err), 0, "%s", err.msg);
}

static void end(void)
{
    session_close(&s);
}

static void write_lines(const char *text)
{
    cr_assert_eq(fdio_write_all(s.fd, text, strlen(text)), 0);
    cr_assert_eq(session_read(&s, &err), 0);
}

Test(session, the_file_is_private_and_goes_away)
{
    begin();
    char path[sizeof s.path];
    strcpy(path, s.path);
    struct stat st;
    cr_assert_eq(stat(path, &st), 0);
    cr_assert_eq(st.st_mode & 0777, 0600);
    session_close(&s);
    cr_assert_eq(stat(path, &st), -1);
    session_close(&s);
}

Test(session, nothing_written, .init = begin, .fini = end)
{
    write_lines("");
    cr_assert_eq(s.n, 0);
}

Test(session, each_trace_once_in_order, .init = begin, .fini = end)
{
    write_lines("10\t/a b/x.otrace\n11\t/y.otrace\n10\t/a b/x.otrace\n");
    cr_assert_eq(s.n, 2);
    cr_assert_str_eq(s.files[0], "/a b/x.otrace");
    cr_assert_str_eq(s.files[1], "/y.otrace");
}

Test(session, removed_traces_are_counted, .init = begin, .fini = end)
{
    write_lines("10\t/1\n10\t/2\n11\t/other\n10\t/3\n10\t-/1\n10\t-/never\n10\t-/2\n");
    cr_assert_eq(s.n, 2);
    cr_assert_eq(s.n_removed, 2);
    cr_assert_str_eq(s.files[0], "/other");
    cr_assert_str_eq(s.files[1], "/3");
}

Test(session, files_in_other_formats_stand_for_a_trace, .init = begin, .fini = end)
{
    write_lines(
        "1\t/t/a.otrace\n2\t/t/b.otrace\n1\t=/t/a.orca\n1\t=/t/a.methods\n1\t!/t/a.otrace\n");
    cr_assert_eq(s.n, 3);
    cr_assert_str_eq(s.files[0], "/t/b.otrace");
    cr_assert_str_eq(s.files[1], "=/t/a.orca");
    cr_assert_str_eq(s.files[2], "=/t/a.methods");
    cr_assert_eq(s.n_removed, 0, "not for keep=");
}

Test(session, odd_lines_are_left_out, .init = begin, .fini = end)
{
    write_lines("\n\t\nno tab\n5\t\n6\t/ok\n7\t/cut");
    cr_assert_eq(s.n, 1);
    cr_assert_str_eq(s.files[0], "/ok");
}

Test(session, a_folder_that_cannot_be_written_is_named)
{
    setenv("TMPDIR", "/nonexistent", 1);
    cr_assert_eq(session_open(&s, &err), -ENOENT);
    cr_assert_not_null(strstr(err.msg, "/nonexistent/orca-session-"));
    cr_assert_not_null(strstr(err.msg, "set TMPDIR"));
    session_close(&s);
    setenv("TMPDIR", "relative", 1);
    cr_assert_eq(session_open(&s, &err), 0);
    cr_assert_eq(strncmp(s.path, "/tmp/", 5), 0);
    session_close(&s);
}
