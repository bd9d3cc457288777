#include "base/own_thread.h"

#include <signal.h>

int own_thread_start(pthread_t *out, size_t stack_bytes, void *(*run)(void *arg), void *arg)
{
    pthread_attr_t a;
    sigset_t all, old;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, stack_bytes);
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(out, &a, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&a);
    return -rc;
}
