/* earlier_agent.c - listens where agents of earlier versions did, /tmp/.orca-UID/PID.sock, and
 * answers each request with the state of a recording, whose name would turn a terminal red: for
 * test_users.sh. */
#include <jni.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void *serve(void *arg)
{
    static const char answer[] = "ok\nversion 0\nstate recording\npath /none/\x1b[31m.otrace\n";
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char line[256], folder[64];
    snprintf(folder, sizeof folder, "/tmp/.orca-%u", (unsigned)geteuid());
    snprintf(at.sun_path, sizeof at.sun_path, "%s/%d.sock", folder, (int)getpid());
    mkdir(folder, 0700);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 8) < 0)
        return NULL;
    for (int c; (c = accept(fd, NULL, NULL)) >= 0; close(c)) {
        ssize_t n;
        do
            n = read(c, line, sizeof line);
        while (n > 0 && line[n - 1] != '\n');
        if (n > 0 && write(c, answer, strlen(answer)) < 0)
            break;
    }
    return arg;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    pthread_t thread;
    (void)vm, (void)options, (void)reserved;
    return pthread_create(&thread, NULL, serve, NULL) ? JNI_ERR : JNI_OK;
}
