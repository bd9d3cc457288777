#include "serve/jobs.h"

#include <string.h>

/* With fewer threads than there should be, one of them is still for long jobs. */
static bool may_run(const struct jobs *j, enum job_kind kind)
{
    return kind == JOB_SHORT || j->running[JOB_LONG] == 0 ||
           (j->running[JOB_LONG] < JOBS_LONG_MAX && j->running[JOB_LONG] + 1 < j->n_threads);
}

static struct job *take(struct jobs *j)
{
    for (enum job_kind k = 0; k < JOB_KINDS; k++) {
        struct job *job = j->first[k];
        if (!job || !may_run(j, k))
            continue;
        if (!(j->first[k] = job->next))
            j->last[k] = &j->first[k];
        return job;
    }
    return NULL;
}

static void *work(void *arg)
{
    struct jobs *j = arg;
    pthread_mutex_lock(&j->lock);
    while (!j->ending) {
        struct job *job = take(j);
        if (!job) {
            pthread_cond_wait(&j->more, &j->lock);
            continue;
        }
        enum job_kind kind = job->kind; /* the job may be gone when it was run */
        j->running[kind]++;
        pthread_mutex_unlock(&j->lock);
        job->run(job, false);
        pthread_mutex_lock(&j->lock);
        j->running[kind]--;
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

int jobs_init(struct jobs *j, struct err *err)
{
    *j = (struct jobs){.last = {&j->first[JOB_SHORT], &j->first[JOB_LONG]}};
    int rc = pthread_mutex_init(&j->lock, NULL);
    if (rc == 0)
        rc = pthread_cond_init(&j->more, NULL);
    while (rc == 0 && j->n_threads < JOBS_THREADS) {
        rc = pthread_create(&j->threads[j->n_threads], NULL, work, j);
        j->n_threads += rc == 0;
    }
    if (rc == 0 || j->n_threads > 0) /* fewer will do */
        return 0;
    return err_set(err, -rc, "no thread can be started: %s", strerror(rc));
}

void jobs_push(struct jobs *j, struct job *job)
{
    job->next = NULL;
    pthread_mutex_lock(&j->lock);
    bool dropped = j->ending;
    if (!dropped) {
        *j->last[job->kind] = job;
        j->last[job->kind] = &job->next;
        pthread_cond_signal(&j->more);
    }
    pthread_mutex_unlock(&j->lock);
    if (dropped)
        job->run(job, true);
}

static void drop(struct job *left)
{
    for (struct job *next; left; left = next) {
        next = left->next;
        left->run(left, true);
    }
}

bool jobs_end(struct jobs *j)
{
    pthread_mutex_lock(&j->lock);
    j->ending = true;
    bool busy = j->running[JOB_SHORT] + j->running[JOB_LONG] > 0;
    struct job *left[JOB_KINDS] = {j->first[JOB_SHORT], j->first[JOB_LONG]};
    j->first[JOB_SHORT] = j->first[JOB_LONG] = NULL;
    pthread_cond_broadcast(&j->more);
    pthread_mutex_unlock(&j->lock);
    drop(left[JOB_SHORT]);
    drop(left[JOB_LONG]);
    for (size_t i = 0; i < j->n_threads; i++) {
        if (busy)
            pthread_detach(j->threads[i]);
        else
            pthread_join(j->threads[i], NULL);
    }
    return busy;
}
