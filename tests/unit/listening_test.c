/* Sockets that listened before a recording began. */
#include "agent/peers.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char defined[4096];
static uint32_t n_defined;

static lock_id define(const char *name)
{
    size_t n = strlen(defined);
    snprintf(defined + n, sizeof defined - n, "%s\n", name);
    return (lock_id){++n_defined};
}

/* A socket that listens, with its name, before anybody has asked about it; -1: there can be none. */
static int listens(char *name, size_t n)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, 1) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &len) < 0)
        return -1;
    snprintf(name, n, "=listening 127.0.0.1:%u\n", ntohs(a.sin_port));
    return fd;
}

Test(listening, who_listened_before_it_is_recorded_is_known)
{
    char name[64];
    int fd = listens(name, sizeof name);
    cr_assert_geq(fd, 0);
    cr_assert_eq(peers_init(IODETAILS_FULL, define), 0);
    peers_find_listening();
    cr_assert_not_null(strstr(defined, name), "%s", defined);
    uint32_t n = n_defined;
    bool accepts;
    cr_assert_neq(peers_of(fd, peers_now(fd), &accepts).v, 0);
    cr_assert(accepts);
    cr_assert_eq(n_defined, n, "asked once");
    peers_free();
    close(fd);
}

Test(listening, without_names_nobody_is_asked_for)
{
    char name[64];
    int fd = listens(name, sizeof name);
    cr_assert_eq(peers_init(IODETAILS_NONE, define), 0);
    peers_find_listening();
    cr_assert_eq(n_defined, 0);
    peers_free();
    close(fd);
}
