/* attach_fake.c - a process that has a library mapped, for what a real JVM cannot be made to do.
 *
 *   attach_fake LIBRARY [catch] [listen PATH]
 * catch: takes SIGQUIT and does nothing.  listen: a socket at PATH that nobody reads; "PID" in the
 * name is replaced by the process id.  Prints "ready" and sleeps.  Compiled with -DNATIVE_IMAGE it
 * looks like a native image. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef NATIVE_IMAGE
__attribute__((section(".svm_heap"), used)) static int heap = 1;
#endif

static void taken(int signal)
{
    (void)signal;
}

static void listen_at(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const char *mark = strstr(path, "PID");
    snprintf(at.sun_path, sizeof at.sun_path, "%.*s%d%s", (int)(mark - path), path, (int)getpid(),
             mark + 3);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 5) < 0)
        perror(at.sun_path);
    chmod(at.sun_path, 0600);
}

int main(int argc, char **argv)
{
    if (strcmp(argv[1], "-") != 0 && !dlopen(argv[1], RTLD_LAZY)) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "catch") == 0)
            signal(SIGQUIT, taken);
        else if (strcmp(argv[i], "listen") == 0)
            listen_at(argv[++i]);
    }
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < 600; i++)
        sleep(1);
    return 0;
}
