#include "cli/heap_file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The JVM is this process itself: its root is ours.  (One with another root: tests/jvm,
 * attach_protocol.container_heap.) */
static char dir[32];
static struct jvm jvm;
static struct heap_file f;
static struct err err;

static void set_up(void)
{
    strcpy(dir, "/tmp/orca-heap-file-XXXXXX");
    cr_assert_not_null(mkdtemp(dir));
    jvm = (struct jvm){.pid = getpid(), .uid = geteuid(), .name = "Main"};
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    cr_assert_eq(system(command), 0);
}

static const char *in_dir(const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void make(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out);
    fputs(text, out);
    fclose(out);
}

static void holds(const char *name, const char *text)
{
    char got[64] = "";
    FILE *in = fopen(in_dir(name), "r");
    cr_assert_not_null(in, "there is no %s", name);
    cr_assert_not_null(fgets(got, sizeof got, in));
    fclose(in);
    cr_assert_str_eq(got, text);
}

static int files(void)
{
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static int open_it(const char *path, bool replace)
{
    err.msg[0] = 0;
    return heap_file_open(&f, &jvm, path, replace, &err);
}

static void refused(const char *path, int code, const char *words)
{
    cr_assert_eq(open_it(path, false), code, "%s: %s", path, err.msg);
    cr_assert_not_null(strstr(err.msg, words), "%s", err.msg);
    cr_assert_eq(f.dir, -1);
    heap_file_discard(&f);
}

Test(heap_file, has_its_name_when_it_is_whole, .init = set_up, .fini = tear_down)
{
    cr_assert_eq(open_it(in_dir("a.hprof"), false), 0, "%s", err.msg);
    cr_assert_eq(files(), 0);
    cr_assert_str_eq(f.here, in_dir("a.hprof"));
    cr_assert_eq(heap_file_size(&f), 0);
    make(f.path, "heap");
    cr_assert_eq(heap_file_size(&f), 4);
    cr_assert_neq(access(in_dir("a.hprof"), F_OK), 0, "it has its name already");
    cr_assert_eq(heap_file_publish(&f, &err), 0, "%s", err.msg);
    holds("a.hprof", "heap");
    heap_file_discard(&f);
    cr_assert_eq(files(), 1);
}

Test(heap_file, in_the_current_folder, .init = set_up, .fini = tear_down)
{
    cr_assert_eq(chdir(dir), 0);
    cr_assert_eq(open_it("b.hprof", false), 0, "%s", err.msg);
    cr_assert_str_eq(f.here, "b.hprof");
    cr_assert_eq(f.path[0], '/', "the JVM may stand elsewhere");
    make(f.path, "heap");
    cr_assert_eq(heap_file_publish(&f, &err), 0);
    holds("b.hprof", "heap");
    refused("b.hprof", -EEXIST, "b.hprof already exists");
    refused("./b.hprof", -EEXIST, "./b.hprof already exists");
}

Test(heap_file, replaces_only_when_it_is_told_to, .init = set_up, .fini = tear_down)
{
    make(in_dir("a.hprof"), "precious");
    refused(in_dir("a.hprof"), -EEXIST, "--force replaces it");
    cr_assert_eq(open_it(in_dir("a.hprof"), true), 0, "%s", err.msg);
    make(f.path, "heap");
    holds("a.hprof", "precious");
    cr_assert_eq(heap_file_publish(&f, &err), 0);
    holds("a.hprof", "heap");
    cr_assert_eq(files(), 1);
}

Test(heap_file, leaves_what_somebody_else_made_meanwhile, .init = set_up, .fini = tear_down)
{
    cr_assert_eq(open_it(in_dir("a.hprof"), false), 0);
    make(f.path, "heap");
    make(in_dir("a.hprof"), "precious");
    cr_assert_eq(heap_file_publish(&f, &err), -EEXIST);
    cr_assert_not_null(strstr(err.msg, "was created by another program"), "%s", err.msg);
    heap_file_discard(&f);
    holds("a.hprof", "precious");
    cr_assert_eq(files(), 1);
}

Test(heap_file, a_jvm_that_has_written_nothing, .init = set_up, .fini = tear_down)
{
    cr_assert_eq(open_it(in_dir("a.hprof"), false), 0);
    cr_assert_eq(heap_file_publish(&f, &err), -ENOENT);
    cr_assert_not_null(strstr(err.msg, "but the file does not exist"), "%s", err.msg);
    heap_file_discard(&f);
    cr_assert_eq(files(), 0);
}

/* HotSpot's own parts are counted and removed, and nothing that is only called alike. */
Test(heap_file, parts, .init = set_up, .fini = tear_down)
{
    static const char *const ours[] = {"", ".p0", ".p12"};
    static const char *const others[] = {".p1x", ".q1", "p1", ".old"};
    char path[PATH_MAX + 8];
    cr_assert_eq(open_it(in_dir("a.hprof"), false), 0);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", f.path, ours[i]);
        make(path, "12345");
    }
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s%s", f.path, others[i]);
        make(path, "1234567");
    }
    cr_assert_eq(heap_file_size(&f), 15);
    heap_file_discard(&f);
    cr_assert_eq(files(), 4);
}

Test(heap_file, names_that_are_none, .init = set_up, .fini = tear_down)
{
    char path[PATH_MAX + 64];
    refused(in_dir(""), -EISDIR, "is a folder");
    refused(in_dir("."), -EISDIR, "is a folder");
    refused(in_dir(".."), -EISDIR, "is a folder");
    refused(dir, -EISDIR, "is a folder");
    refused(in_dir("no/a.hprof"), -ENOENT, "there is no such folder");
    refused(in_dir("a\nb"), -EINVAL, "line break");
    make(in_dir("file"), "x");
    cr_assert_lt(open_it(in_dir("file/a.hprof"), false), 0);
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = 0;
    refused(path, -ENAMETOOLONG, "too long");
    memcpy(path, "/tmp/", 5);
    path[5 + 256] = 0;
    refused(path, -ENAMETOOLONG, "too long");
    path[5 + 255] = 0; /* the temporary one is shorter */
    cr_assert_eq(open_it(path, false), 0, "%s", err.msg);
    cr_assert_lt(strlen(f.temp), 240);
    heap_file_discard(&f);
    for (size_t i = 0; i + 1 < sizeof path; i++)
        path[i] = i % 2 ? 'a' : '/';
    path[sizeof path - 2] = 0; /* behind an 'a' */
    refused(path, -ENAMETOOLONG, "too long");
    cr_assert_eq(files(), 1);
}

Test(heap_file, a_folder_that_is_not_ours)
{
    if (geteuid() == 0)
        cr_skip_test("root may write anywhere"); /* and .fini is not called: nothing is made yet */
    set_up();
    cr_assert_eq(chmod(dir, 0500), 0);
    refused(in_dir("a.hprof"), -EACCES, "no file can be made in its folder");
    cr_assert_eq(chmod(dir, 0700), 0);
    tear_down();
}

/* The file is removed, and the status is that of a command that a signal has ended. */
Test(heap_file, a_signal, .init = set_up, .fini = tear_down)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            jvm.pid = getpid();
            if (open_it(in_dir("a.hprof"), false) < 0)
                _exit(1);
            heap_file_guard(&f);
            make(f.path, "heap");
            raise(signals[i]);
            _exit(2);
        }
        int status;
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 128 + signals[i], "status %x",
                  status);
        cr_assert_eq(files(), 0);
    }
    heap_file_guard(NULL);
}
