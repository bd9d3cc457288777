#include "agent/open_calls.h"

#include "agent/peers.h"
#include "base/guarded.h"
#include "base/util.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Calls whose first argument is the descriptor. */
static const struct {
    long number;
    enum io_kind what;
} calls[] = {
    {SYS_read, IO_KIND_input},          {SYS_readv, IO_KIND_input},
    {SYS_pread64, IO_KIND_input},       {SYS_recvfrom, IO_KIND_input},
    {SYS_recvmsg, IO_KIND_input},       {SYS_write, IO_KIND_output},
    {SYS_writev, IO_KIND_output},       {SYS_pwrite64, IO_KIND_output},
    {SYS_sendto, IO_KIND_output},       {SYS_sendmsg, IO_KIND_output},
    {SYS_sendfile, IO_KIND_output},     {SYS_connect, IO_KIND_connect},
    {SYS_accept, IO_KIND_accept},       {SYS_accept4, IO_KIND_accept},
    {SYS_epoll_wait, IO_KIND_select},   {SYS_epoll_pwait, IO_KIND_select},
    {SYS_epoll_pwait2, IO_KIND_select}, {SYS_fsync, IO_KIND_sync},
    {SYS_fdatasync, IO_KIND_sync},
};

static bool read_call(uint32_t os_tid, long *number, uint64_t a[2])
{
    char path[64], text[128];
    snprintf(path, sizeof path, "/proc/self/task/%" PRIu32 "/syscall", os_tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    return sscanf(text, "%ld %" SCNx64 " %" SCNx64, number, &a[0], &a[1]) == 3;
}

static struct open_call of_descriptor(int fd, enum io_kind what)
{
    bool listens = false;
    lock_id peer = what == IO_KIND_select ? (lock_id){0} : peers_of(fd, peers_now(fd), &listens);
    return (struct open_call){what == IO_KIND_input && listens ? IO_KIND_accept : what, peer};
}

/* Of one descriptor the JDK waits so for a socket. */
static struct open_call of_poll(uint64_t at, uint64_t n)
{
    int32_t fd, events;
    if (n != 1)
        return (struct open_call){n ? IO_KIND_select : IO_KIND_none, {0}};
    if (!guarded_i32((uintptr_t)at, &fd) || !guarded_i32((uintptr_t)at + sizeof fd, &events))
        return (struct open_call){IO_KIND_none, {0}};
    return of_descriptor(fd, events & POLLOUT ? IO_KIND_output : IO_KIND_input);
}

struct open_call open_call_of(uint32_t os_tid)
{
    long number;
    uint64_t a[2];
    if (!read_call(os_tid, &number, a))
        return (struct open_call){IO_KIND_none, {0}};
    if (number == SYS_poll)
        return of_poll(a[0], a[1]);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        if (calls[i].number == number)
            return of_descriptor((int)a[0], calls[i].what);
    return (struct open_call){IO_KIND_none, {0}};
}
