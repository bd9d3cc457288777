/* own_thread.h - threads of Orca's own inside the JVM. */
#ifndef ORCA_BASE_OWN_THREAD_H
#define ORCA_BASE_OWN_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* Start one with all signals blocked but those of guarded loads.  0, or a negative errno. */
int own_thread_start(pthread_t *out, size_t stack_bytes, void *(*run)(void *arg), void *arg);

#endif
