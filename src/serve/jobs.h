/* jobs.h - a few threads for answers that take long, so that the short ones do not wait for them.
 *
 * Each job is run once, whole, or dropped at the end.  Of one kind they are run in the order in
 * which they came; short ones go before long ones, which never have all threads. */
#ifndef ORCA_SERVE_JOBS_H
#define ORCA_SERVE_JOBS_H

#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { JOBS_THREADS = 4, JOBS_LONG_MAX = 3 };

enum job_kind { JOB_SHORT, JOB_LONG, JOB_KINDS };

/* Embedded in what it is about. */
struct job {
    void (*run)(struct job *j,
                bool dropped); /* in one of the threads; dropped: in that of the end */
    enum job_kind kind;
    struct job *next;
};

struct jobs {
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t more;
    struct job *first[JOB_KINDS], **last[JOB_KINDS];
    pthread_t threads[JOBS_THREADS];
    size_t n_threads, running[JOB_KINDS];
    bool ending;
};

int jobs_init(struct jobs *j, struct err *err);

/* Run it soon, or drop it at once when the end has come. */
void jobs_push(struct jobs *j, struct job *job);

/* Drop what has not begun.  True: a job is still under way, so that what it uses, this included,
 * must stay; its end is not awaited. */
bool jobs_end(struct jobs *j);

#endif
