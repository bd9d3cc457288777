#include "attach/jvm.h"
#include "attach/proc.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char status[] = "Name:\tjava (x) y\n"
                             "Umask:\t0022\n"
                             "State:\tS (sleeping)\n"
                             "Tgid:\t4711\n"
                             "Ngid:\t0\n"
                             "Pid:\t4711\n"
                             "PPid:\t4700\n"
                             "Uid:\t1000\t1001\t1002\t1003\n"
                             "Gid:\t100\t101\t102\t103\n"
                             "NSpid:\t4711\t52\t7\n"
                             "VmSize:\t  123 kB\n"
                             "SigIgn:\t0000000000000004\n"
                             "SigCgt:\t2000000181005ccf\n";

static int parse(const char *text, struct proc_status *out)
{
    return proc_parse_status(text, strlen(text), out);
}

Test(attach_proc, status_of_a_jvm_in_a_container)
{
    struct proc_status s;
    cr_assert_eq(parse(status, &s), 0);
    cr_assert_str_eq(s.comm, "java (x) y");
    cr_assert_eq(s.state, 'S');
    cr_assert_eq(s.pid, 4711);
    cr_assert_eq(s.tgid, 4711);
    cr_assert_eq(s.parent, 4700);
    cr_assert_eq(s.ns_pid, 7);
    cr_assert_eq(s.uid, 1001);
    cr_assert_eq(s.gid, 101);
    cr_assert(s.memory);
    cr_assert(s.catches_quit);
}

Test(attach_proc, status_without_what_older_kernels_lack)
{
    struct proc_status s;
    cr_assert_eq(parse("Name:\tjava\nState:\tZ (zombie)\nTgid:\t5\nPid:\t6\nUid:\t1\t1\t1\t1\n"
                       "Gid:\t1\t1\t1\t1\nSigCgt:\t0000000180000003\n",
                       &s),
                 0);
    cr_assert_eq(s.ns_pid, 6);
    cr_assert_eq(s.tgid, 5);
    cr_assert_not(s.memory);
    cr_assert_not(s.catches_quit, "SIGQUIT is bit 2");
}

Test(attach_proc, incomplete_status_is_refused)
{
    struct proc_status s;
    cr_assert_eq(parse("", &s), -EINVAL);
    cr_assert_eq(parse("Name:\tjava\n", &s), -EINVAL);
    cr_assert_eq(parse("State:\nTgid:\tx\nPid:\t6\nUid:\t1\nGid:\t1\t1\n", &s), -EINVAL);
    for (size_t n = 0; n < sizeof status - 60; n++)
        proc_parse_status(status, n, &s);
}

Test(attach_proc, a_name_of_control_characters_is_made_printable)
{
    struct proc_status s;
    parse("Name:\ta\x1b[31mb\x7f\n", &s);
    cr_assert_str_eq(s.comm, "a?[31mb?");
}

Test(attach_proc, users_of_a_name_space)
{
    static const char all[] = "         0          0 4294967295\n";
    static const char some[] =
        "         0     100000      65536\n      1000       1000          1\n";
    cr_assert_eq(proc_parse_id_map(all, sizeof all - 1, 0), 0);
    cr_assert_eq(proc_parse_id_map(all, sizeof all - 1, 1234), 1234);
    cr_assert_eq(proc_parse_id_map(some, sizeof some - 1, 0), -1);
    cr_assert_eq(proc_parse_id_map(some, sizeof some - 1, 100000), 0);
    cr_assert_eq(proc_parse_id_map(some, sizeof some - 1, 165535), 65535);
    cr_assert_eq(proc_parse_id_map(some, sizeof some - 1, 165536), -1);
    cr_assert_eq(proc_parse_id_map(some, sizeof some - 1, 1000), 1000);
    cr_assert_eq(proc_parse_id_map("", 0, 0), -1);
    cr_assert_eq(proc_parse_id_map("x y z\n0 0\n", 10, 0), -1);
}

Test(attach_proc, start_time_behind_a_name_with_parentheses)
{
    static const char stat[] =
        "12 (a) R 1 (b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 9876 20";
    uint64_t ticks = 0;
    cr_assert_eq(proc_parse_start(stat, strlen(stat), &ticks), 0);
    cr_assert_eq(ticks, 9876);
    cr_assert_eq(proc_parse_start("12 (a", 5, &ticks), -EINVAL);
    cr_assert_eq(proc_parse_start("12 (a) S 1 2", 12, &ticks), -EINVAL);
}

static struct proc_maps maps_of(const char *text)
{
    struct proc_maps m;
    proc_parse_maps(text, strlen(text), 52, &m);
    return m;
}

Test(attach_proc, maps_of_hotspot)
{
    struct proc_maps m =
        maps_of("7f00-7f01 rw-s 00000000 fe:00 12    /tmp/hsperfdata_me/52\n"
                "7f02-7f03 rw-s 00000000 fe:00 13    /tmp/hsperfdata_me/53\n"
                "7f04-7f05 r--p 00000000 fe:00 14    /opt/my jdk/lib/server/libjvm.so\n"
                "7f05-7f06 r-xp 00000000 fe:00 14    /opt/my jdk/lib/server/libjvm.so\n"
                "7f07-7f08 r-xp 00000000 fe:00 15    /opt/my jdk/lib/libjli.so\n"
                "7f09-7f0a rw-p 00000000 00:00 0 \n");
    cr_assert_eq(m.vm, PROC_VM_HOTSPOT);
    cr_assert_str_eq(m.libjvm, "/opt/my jdk/lib/server/libjvm.so");
    cr_assert_str_eq(m.perfdata, "/tmp/hsperfdata_me/52");
    cr_assert_not(m.deleted);
}

Test(attach_proc, maps_of_a_jdk_that_was_replaced)
{
    struct proc_maps m =
        maps_of("7f05-7f06 r-xp 00000000 fe:00 14    /opt/jdk/lib/server/libjvm.so (deleted)");
    cr_assert_eq(m.vm, PROC_VM_HOTSPOT);
    cr_assert_str_eq(m.libjvm, "/opt/jdk/lib/server/libjvm.so");
    cr_assert(m.deleted);
}

Test(attach_proc, maps_of_others)
{
    cr_assert_eq(maps_of("").vm, PROC_VM_NONE);
    cr_assert_eq(maps_of("7f-80 r-xp 0 fe:00 1 /usr/bin/bash\n7f\nx y z\n").vm, PROC_VM_NONE);
    cr_assert_eq(maps_of("7f-80 r--p 0 fe:00 1 /jdk/lib/server/libjvm.so\n").vm, PROC_VM_NONE,
                 "a tool that reads the file");
    cr_assert_eq(maps_of("7f-80 r--p 0 fe:00 1 /jdk/lib/libjli.so\n").vm, PROC_VM_LAUNCHER);
    struct proc_maps m = maps_of("7f-80 r-xp 0 fe:00 1 /j9/lib/default/libj9vm29.so\n"
                                 "7f-80 r-xp 0 fe:00 1 /j9/lib/server/libjvm.so\n");
    cr_assert_eq(m.vm, PROC_VM_OPENJ9);
    m = maps_of("7f-80 r-xp 0 fe:00 1 /j9/lib/server/libjvm.so\n"
                "7f-80 r-xp 0 fe:00 1 /j9/lib/default/libj9vm29.so\n");
    cr_assert_eq(m.vm, PROC_VM_OPENJ9);
    cr_assert_str_eq(m.libjvm, "");
}

Test(attach_proc, this_process_is_there_and_no_jvm)
{
    struct proc_status s;
    struct proc_maps m;
    uint64_t ticks;
    cr_assert_eq(proc_read_status(getpid(), &s), 0);
    cr_assert_eq(s.pid, getpid());
    cr_assert_eq(s.uid, geteuid());
    cr_assert_eq(proc_read_start(getpid(), &ticks), 0);
    cr_assert_eq(proc_read_maps(getpid(), s.ns_pid, &m), 0);
    cr_assert_eq(m.vm, PROC_VM_NONE);
    cr_assert_not(proc_is_native_image(getpid()));
    cr_assert_eq(proc_read_status(0x7fffffff, &s), -ESRCH);
}

static void *stay(void *end)
{
    char c;
    while (read(*(int *)end, &c, 1) < 0)
        ;
    _exit(0);
}

/* As a killed JVM whose first thread has ended before those that have its files and locks. */
Test(attach_proc, a_process_lives_while_one_of_its_threads_does)
{
    int ends[2];
    struct proc_status s;
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        pthread_t other;
        close(ends[1]);
        if (pthread_create(&other, NULL, stay, &ends[0]) != 0)
            _exit(1);
        pthread_exit(NULL);
    }
    do
        cr_assert_eq(proc_read_status(child, &s), 0);
    while (s.state != 'Z');
    cr_assert_not(proc_has_ended(&s));
    close(ends[1]);
    do
        cr_assert_eq(proc_read_status(child, &s), 0);
    while (!proc_has_ended(&s));
    cr_assert_eq(waitpid(child, NULL, 0), child);
}

/* It is copied into a shell, to which # would begin a comment. */
Test(attach_jvm, remedies_are_quoted)
{
    char text[JVM_REMEDY_MAX];
    const gid_t group = 20002;
    jvm_remedy(0, NULL, 7, text);
    cr_assert_str_eq(text, "sudo -u root orca attach 7");
    jvm_remedy(20001, NULL, 7, text);
    cr_assert_str_eq(text, "sudo -u '#20001' orca attach 7");
    jvm_remedy(20001, &group, 7, text);
    cr_assert_str_eq(text, "sudo -u '#20001' -g '#20002' orca attach 7");
}
