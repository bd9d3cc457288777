/* leftover_test.c - rings that a killed JVM left: what is known of them, and what goes. */
#include "format/trace.h"
#include "record/leftover.h"
#include "record/recorder.h"
#include "record/recover.h"
#include "record/region.h"

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

static char dir[64], shm[96], traces[96], path[160], rings[256];
static struct err err;
static const struct leftover_search nowhere = {NULL, 0};

static void set_up(void)
{
    strcpy(dir, "/tmp/orca-leftover-XXXXXX");
    cr_assert(mkdtemp(dir));
    snprintf(shm, sizeof shm, "%s/shm", dir);
    snprintf(traces, sizeof traces, "%s/traces", dir);
    snprintf(path, sizeof path, "%s/t.otrace", traces);
    cr_assert(mkdir(shm, 0755) == 0 && mkdir(traces, 0755) == 0);
    rings[0] = 0;
}

static void tear_down(void)
{
    char cmd[128];
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    cr_assert_eq(system(cmd), 0);
}

TestSuite(leftover, .init = set_up, .fini = tear_down);

static void find_rings(void)
{
    DIR *d = opendir(shm);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".rings"))
            snprintf(rings, sizeof rings, "%s/%.100s", shm, e->d_name);
    closedir(d);
    cr_assert(rings[0], "no rings");
}

static pid_t recording(void)
{
    int told[2];
    char c;
    cr_assert_eq(pipe(told), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct recorder *rec;
        struct recorder_opts o = {.path = path, .ringdir = shm};
        if (recorder_open(&rec, &o, NULL) < 0 || write(told[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(told[1]);
    cr_assert_eq(read(told[0], &c, 1), 1);
    close(told[0]);
    find_rings();
    return pid;
}

static void killed(void)
{
    pid_t pid = recording();
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

struct seen {
    int n;
    struct leftover last;
};

static void see(void *ctx, const struct leftover *l)
{
    struct seen *s = ctx;
    s->n++;
    s->last = *l;
}

static struct leftover only(const struct leftover_search *s)
{
    struct seen all = {0};
    struct leftover one;
    cr_assert_eq(leftover_list(shm, s, see, &all, &err), 0, "%s", err.msg);
    cr_assert_eq(all.n, 1);
    cr_assert_str_eq(all.last.path, rings);
    cr_assert(all.last.bytes > 0 && all.last.bytes < 100000000);
    cr_assert_eq(leftover_find(&one, rings, s, &err), 0, "%s", err.msg);
    cr_assert_eq(one.kind, all.last.kind);
    cr_assert_eq(one.kind == LEFTOVER_UNKNOWN, one.why != NULL);
    return one;
}

static void goes(const struct leftover *l, bool does)
{
    int rc = leftover_remove(l, &nowhere, &err);
    cr_assert_eq(rc, does ? 0 : -EBUSY, "%d %s", rc, err.msg);
    cr_assert_eq(access(rings, F_OK) == 0, !does);
}

Test(leftover, of_a_trace_that_is_there)
{
    killed();
    struct leftover l = only(&nowhere);
    cr_assert_eq(l.kind, LEFTOVER_NEEDED);
    cr_assert_str_eq(l.trace, path);
    goes(&l, false);
    l.kind = LEFTOVER_DELETED; /* whatever was believed */
    goes(&l, false);
    cr_assert_eq(recover_trace(path, &err), RECOVER_DONE);
    cr_assert_neq(access(rings, F_OK), 0);
}

Test(leftover, of_a_trace_that_was_deleted)
{
    killed();
    unlink(path);
    struct leftover l = only(&nowhere);
    cr_assert_eq(l.kind, LEFTOVER_DELETED);
    cr_assert_str_eq(l.trace, path);
    goes(&l, true);
    cr_assert_eq(leftover_find(&l, rings, &nowhere, &err), -ENOENT);
}

Test(leftover, of_a_folder_that_was_deleted)
{
    killed();
    unlink(path);
    rmdir(traces);
    struct leftover l = only(&nowhere);
    cr_assert_eq(l.kind, LEFTOVER_DELETED);
    goes(&l, true);
}

/* Killed between the last write and the removal. */
Test(leftover, of_a_trace_that_is_complete)
{
    char kept[300];
    killed();
    snprintf(kept, sizeof kept, "%s.kept", rings);
    cr_assert_eq(link(rings, kept), 0);
    struct seen none = {0};
    leftover_list(shm, &nowhere, see, &none, &err);
    cr_assert_eq(none.n, 0, "a second name: it is not touched");
    unlink(rings);
    rename(kept, rings);
    char copy[900];
    snprintf(copy, sizeof copy, "cp %s %s/copy && rm %s", rings, dir, rings);
    cr_assert_eq(system(copy), 0);
    snprintf(copy, sizeof copy, "cp %s/copy %s", dir, rings);
    cr_assert_eq(system(copy), 0);
    chmod(rings, 0600);
    cr_assert_eq(recover_trace(path, &err), RECOVER_DONE, "%s", err.msg);
    cr_assert_eq(system(copy), 0);
    chmod(rings, 0600);
    struct leftover l = only(&nowhere);
    cr_assert_eq(l.kind, LEFTOVER_COMPLETE);
    cr_assert_str_eq(l.trace, path);
    goes(&l, true);
}

Test(leftover, of_a_jvm_that_lives)
{
    struct leftover l;
    struct seen all = {0};
    pid_t pid = recording();
    unlink(path);
    cr_assert_eq(leftover_list(shm, &nowhere, see, &all, &err), 0);
    cr_assert_eq(all.n, 0);
    cr_assert_eq(leftover_find(&l, rings, &nowhere, &err), -EBUSY);
    cr_assert(strstr(err.msg, "a JVM records into it"), "%s", err.msg);
    memset(&l, 0, sizeof l);
    snprintf(l.path, sizeof l.path, "%s", rings);
    l.kind = LEFTOVER_DELETED;
    goes(&l, false);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* A trace that was renamed is found in its folder, one that was moved where one says. */
Test(leftover, of_a_trace_that_was_moved)
{
    char other[160];
    const char *const folders[] = {"/none", dir};
    const struct leftover_search here = {folders, 2};
    killed();
    snprintf(other, sizeof other, "%s/renamed", traces);
    rename(path, other);
    struct leftover l = only(&nowhere);
    cr_assert_eq(l.kind, LEFTOVER_NEEDED);
    cr_assert_str_eq(l.trace, other);
    goes(&l, false);
    snprintf(path, sizeof path, "%s/moved.otrace", dir);
    rename(other, path);
    l = only(&here);
    cr_assert_eq(l.kind, LEFTOVER_NEEDED);
    cr_assert_str_eq(l.trace, path);
    cr_assert_eq(leftover_remove(&l, &here, &err), -EBUSY);
}

/* A copy that orca dump made has the same id, and is complete in itself. */
Test(leftover, a_snapshot_is_not_the_trace)
{
    char snapshot[160];
    int told[2];
    char c;
    snprintf(snapshot, sizeof snapshot, "%s/a-snapshot.otrace", traces);
    cr_assert_eq(pipe(told), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct recorder *rec;
        struct recorder_result r;
        struct recorder_opts o = {.path = path, .ringdir = shm};
        if (recorder_open(&rec, &o, NULL) < 0 || recorder_snapshot(rec, snapshot, &r, NULL) < 0 ||
            write(told[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    cr_assert_eq(read(told[0], &c, 1), 1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    find_rings();
    char other[160];
    snprintf(other, sizeof other, "%s/renamed", traces);
    rename(path, other);
    struct leftover l = only(&nowhere);
    cr_assert_eq(l.kind, LEFTOVER_NEEDED);
    cr_assert_str_eq(l.trace, other);
    unlink(other);
    cr_assert_eq(only(&nowhere).kind, LEFTOVER_DELETED);
}

/* Another recording has the name by now. */
Test(leftover, of_a_trace_that_was_replaced)
{
    killed();
    char first[256];
    strcpy(first, rings);
    unlink(path);
    killed();
    struct leftover l;
    cr_assert_eq(leftover_find(&l, first, &nowhere, &err), 0);
    cr_assert_eq(l.kind, LEFTOVER_DELETED);
    if (strcmp(first, rings) == 0) /* the second one was found first */
        return;
    cr_assert_eq(leftover_find(&l, rings, &nowhere, &err), 0);
    cr_assert_eq(l.kind, LEFTOVER_NEEDED);
}

static void change(uint64_t offset, uint64_t value)
{
    int fd = open(rings, O_RDWR);
    cr_assert_eq(pwrite(fd, &value, sizeof value, (off_t)offset), (ssize_t)sizeof value);
    close(fd);
}

static uint64_t word(uint64_t offset)
{
    uint64_t value;
    int fd = open(rings, O_RDONLY);
    cr_assert_eq(pread(fd, &value, sizeof value, (off_t)offset), (ssize_t)sizeof value);
    close(fd);
    return value;
}

/* On a disk that is not mounted now, or in a container: it may be there. */
Test(leftover, of_a_trace_that_was_elsewhere)
{
    killed();
    uint64_t notes = word(offsetof(struct region_header, ctl_offset)) - 4096;
    unlink(path);
    change(notes + offsetof(struct region_notes, trace[0].folder), 12345);
    struct leftover l = only(&nowhere);
    cr_assert_eq(l.kind, LEFTOVER_UNKNOWN);
    goes(&l, true); /* who names it has it removed */
}

/* Rings of before there were notes. */
Test(leftover, that_does_not_say_of_which_trace)
{
    const char *const folders[] = {traces};
    const struct leftover_search here = {folders, 1};
    killed();
    uint64_t ctl = word(offsetof(struct region_header, ctl_offset));
    change(offsetof(struct region_header, ctl_offset), ctl - 4096);
    struct leftover l = only(&nowhere);
    cr_assert_eq(l.kind, LEFTOVER_UNKNOWN);
    cr_assert_str_eq(l.trace, "");
    l = only(&here);
    cr_assert_eq(l.kind, LEFTOVER_NEEDED);
    cr_assert_str_eq(l.trace, path);
}

static void is_left_alone(int code)
{
    struct leftover l;
    struct seen all = {0};
    cr_assert_eq(leftover_list(shm, &nowhere, see, &all, &err), 0);
    cr_assert_eq(all.n, 0);
    cr_assert_eq(leftover_find(&l, rings, &nowhere, &err), code, "%s", err.msg);
    cr_assert(strstr(err.msg, rings));
}

Test(leftover, what_is_not_ours_is_left_alone)
{
    char other[300];
    killed();
    unlink(path);
    chmod(rings, 0644);
    is_left_alone(-EPERM);
    chmod(rings, 0600);
    if (geteuid() == 0) {
        cr_assert_eq(chown(rings, 20001, 20001), 0);
        is_left_alone(-EPERM);
        cr_assert_eq(chown(rings, 0, 0), 0);
    }
    uint64_t magic = word(0);
    change(0, 1);
    is_left_alone(-EINVAL);
    change(0, magic);
    uint64_t size = word(8);
    change(8, size + 1);
    is_left_alone(-EINVAL);
    change(8, size);
    snprintf(other, sizeof other, "%s/real", shm);
    rename(rings, other);
    cr_assert_eq(symlink(other, rings), 0);
    is_left_alone(-EINVAL);
    unlink(rings);
    rename(other, rings);
    cr_assert_eq(only(&nowhere).kind, LEFTOVER_DELETED);
    cr_assert_eq(truncate(rings, 100), 0);
    is_left_alone(-EINVAL);
}
