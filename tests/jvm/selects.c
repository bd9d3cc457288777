/* selects.c - the native methods of Selects.java: calls that wait for several descriptors, as event loops of native
 * transports make them. */
#define _GNU_SOURCE
#include <jni.h>
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    (void)vm, (void)reserved;
    return JNI_VERSION_10;
}

enum { MS = 200 };

/* Nothing comes: it takes MS, and says 0. */
JNIEXPORT jint JNICALL Java_Selects_pwait(JNIEnv *jni, jclass c)
{
    struct epoll_event e;
    sigset_t none;
    int fd = epoll_create1(EPOLL_CLOEXEC);
    (void)jni, (void)c;
    sigemptyset(&none);
    int rc = epoll_pwait(fd, &e, 1, MS, &none);
    close(fd);
    return rc;
}

JNIEXPORT jint JNICALL Java_Selects_pwait2(JNIEnv *jni, jclass c)
{
    struct epoll_event e;
    const struct timespec limit = {.tv_nsec = MS * 1000000L}, none = {0};
    int fd = epoll_create1(EPOLL_CLOEXEC);
    (void)jni, (void)c;
    int rc = epoll_pwait2(fd, &e, 1, &limit, NULL);
    rc = rc ? rc : epoll_pwait2(fd, &e, 1, &none, NULL); /* which only looks */
    close(fd);
    return rc;
}
