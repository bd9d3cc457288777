/* dies_at.c - preloaded: the process is killed before the DIES_AT-th of its calls that change a
 * file. */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static void count(void)
{
    static long left;
    if (!left) {
        const char *at = getenv("DIES_AT");
        left = at ? atol(at) : -1;
    }
    if (left > 0 && !--left)
        kill(getpid(), SIGKILL);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
    count();
    return ((ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite"))(fd, from, n,
                                                                                      at);
}

int ftruncate(int fd, off_t size)
{
    count();
    return ((int (*)(int, off_t))dlsym(RTLD_NEXT, "ftruncate"))(fd, size);
}

int unlinkat(int dir, const char *name, int flags)
{
    count();
    return ((int (*)(int, const char *, int))dlsym(RTLD_NEXT, "unlinkat"))(dir, name, flags);
}
