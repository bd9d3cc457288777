#include "base/control_socket.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct control_socket s;
static struct err err;
static char folder[32];

static void set_up(void)
{
    strcpy(folder, "/tmp/orca-test-XXXXXX");
    cr_assert(mkdtemp(folder));
    setenv("XDG_RUNTIME_DIR", folder, 1);
    cr_assert_eq(control_socket_open(&s, 4, &err), 0, "%s", err.msg);
}

static void tear_down(void)
{
    control_socket_close(&s);
    cr_assert_eq(rmdir(folder), 0, "something was left in it");
}

TestSuite(control_socket, .init = set_up, .fini = tear_down);

static int ask_process(pid_t pid)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    int proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    cr_assert(proc >= 0);
    int fd = control_socket_connect(proc, pid);
    close(proc);
    return fd;
}

Test(control_socket, has_no_name_and_is_found)
{
    struct stat st;
    cr_assert_eq(fstat(s.place, &st), 0);
    cr_assert(S_ISSOCK(st.st_mode));
    cr_assert_eq(st.st_mode & 0777, 0600);
    cr_assert_eq(st.st_nlink, 0);
    int fd = ask_process(getpid());
    cr_assert(fd >= 0, "%s", strerror(-fd));
    int other = accept(s.fd, NULL, NULL);
    cr_assert(other >= 0);
    cr_assert(control_socket_lets_in(other));
    cr_assert_eq(write(fd, "x", 1), 1);
    close(fd);
    close(other);
}

Test(control_socket, hidden_it_is_not_found)
{
    control_socket_hide(&s);
    cr_assert_eq(ask_process(getpid()), -ENOENT);
    control_socket_close(&s);
    cr_assert_eq(s.fd, -1);
    cr_assert_eq(ask_process(getpid()), -ENOENT);
}

/* A process may have got what leads to another one's socket. */
Test(control_socket, of_another_process_is_not_believed)
{
    int told[2];
    cr_assert_eq(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        char c;
        close(told[1]);
        _exit(read(told[0], &c, 1) != 0);
    }
    cr_assert_eq(ask_process(child), -ENOENT);
    close(told[1]);
    waitpid(child, NULL, 0);
}

/* A file of that name that is not a socket, a socket without a listener. */
Test(control_socket, goes_on_searching)
{
    char path[64];
    snprintf(path, sizeof path, "%s/orca-control", folder);
    int low = dup(0), file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    cr_assert(low >= 0 && file >= 0);
    unlink(path);
    cr_assert(dup2(file, low) >= 0);
    struct control_socket dead;
    cr_assert_eq(control_socket_open(&dead, 4, &err), 0);
    int place = dup(dead.place);
    control_socket_close(&dead);
    control_socket_close(&s);
    cr_assert_eq(ask_process(getpid()), -ENOENT);
    cr_assert_eq(control_socket_open(&s, 4, &err), 0);
    int fd = ask_process(getpid());
    cr_assert(fd >= 0, "%s", strerror(-fd));
    close(fd);
    close(file);
    close(low);
    close(place);
}

/* Users that are not ours: of a connection it is known whose the other end is. */
Test(control_socket, lets_its_own_user_and_root_in)
{
    static const struct {
        uid_t server, client;
        bool in;
    } cases[] = {{20001, 20001, true}, {20001, 0, true}, {20001, 20002, false}, {0, 20001, false}};
    if (geteuid() != 0)
        cr_skip_test("needs root");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int pair[2];
        cr_assert_eq(seteuid(cases[i].client), 0);
        cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        cr_assert_eq(seteuid(0), 0);
        cr_assert_eq(seteuid(cases[i].server), 0);
        bool in = control_socket_lets_in(pair[0]);
        cr_assert_eq(seteuid(0), 0);
        cr_assert_eq(in, cases[i].in, "case %zu", i);
        close(pair[0]);
        close(pair[1]);
    }
}
