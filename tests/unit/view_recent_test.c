#include "cli/view_recent.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct recent r;

static void parse(const char *text)
{
    r.n = 0;
    recent_parse(&r, text, strlen(text));
}

static void is(const char *want)
{
    struct buf out;
    buf_init(&out);
    recent_put(&r, &out);
    cr_assert_str_eq(buf_str(&out), want);
    buf_fini(&out);
    recent_fini(&r);
}

Test(recent, lines)
{
    parse("/a/b.otrace\n/c d.otrace\n");
    is("/a/b.otrace\n/c d.otrace\n");
    parse("");
    is("");
}

Test(recent, broken_lines_are_left_out)
{
    parse("a.otrace\n\n/\n/ok\n/tab\there\n/ok\n\x01\n/\x7f\n./x\n/cut");
    is("/ok\n");
    char longest[8192];
    memset(longest, 'a', sizeof longest);
    longest[0] = '/';
    longest[sizeof longest - 2] = '\n';
    longest[sizeof longest - 1] = 0;
    parse(longest);
    is("");
    static const char nul[] = "/a\0b\n/c\n";
    recent_parse(&r, nul, sizeof nul - 1);
    is("/c\n");
}

Test(recent, the_newest_comes_first)
{
    parse("/a\n/b\n/c\n");
    recent_add(&r, "/c");
    recent_add(&r, "/d");
    recent_add(&r, "/a");
    recent_add(&r, "relative");
    recent_add(&r, "/line\nbreak");
    is("/a\n/d\n/c\n/b\n");
}

Test(recent, there_are_fifty)
{
    char path[32];
    for (int i = 0; i < 60; i++) {
        snprintf(path, sizeof path, "/%d", i);
        recent_add(&r, path);
    }
    cr_assert_eq(r.n, RECENT_MAX);
    cr_assert_str_eq(r.v[0], "/59");
    cr_assert_str_eq(r.v[RECENT_MAX - 1], "/10");
    recent_add(&r, "/10");
    cr_assert_eq(r.n, RECENT_MAX);
    cr_assert_str_eq(r.v[0], "/10");
    recent_fini(&r);
}

Test(recent, the_file_is_private)
{
    char folder[] = "/tmp/orca-recent-XXXXXX", place[256], other[300];
    struct stat st;
    cr_assert(mkdtemp(folder));
    setenv("XDG_STATE_HOME", folder, 1);
    cr_assert(recent_place(place, sizeof place));
    recent_note("/a.otrace");
    recent_note("/b.otrace");
    recent_load(&r);
    is("/b.otrace\n/a.otrace\n");
    cr_assert_eq(stat(place, &st), 0);
    cr_assert_eq(st.st_mode & 0777, 0600);
    unlink(place);
    snprintf(other, sizeof other, "%s/orca", folder);
    cr_assert_eq(rmdir(other), 0, "something is left");
    rmdir(folder);
}

Test(recent, folders_that_are_none)
{
    char place[256];
    setenv("XDG_STATE_HOME", "relative", 1);
    setenv("HOME", "/home/x", 1);
    cr_assert(recent_place(place, sizeof place));
    cr_assert_str_eq(place, "/home/x/.local/state/orca/recent");
    unsetenv("HOME");
    cr_assert_not(recent_place(place, sizeof place));
    recent_note("/a"); /* nowhere */
    recent_load(&r);
    is("");
}
