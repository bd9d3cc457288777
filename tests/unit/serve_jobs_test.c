#include "../patience.h"
#include "serve/jobs.h"

#include "base/clock.h"

#include <criterion/criterion.h>
#include <stdatomic.h>

enum { MANY = 200 };

struct counted {
    struct job job;
    atomic_int ran, dropped;
};

static struct counted all[MANY];
static struct jobs jobs;
static atomic_int may_go, begun, done;

static void run(struct job *j, bool dropped)
{
    struct counted *c = (struct counted *)j;
    begun += !dropped;
    while (!dropped && !may_go)
        patience_pause();
    if (dropped)
        c->dropped++;
    else
        c->ran++;
    done++;
}

static void run_at_once(struct job *j, bool dropped)
{
    struct counted *c = (struct counted *)j;
    c->ran += !dropped;
    done++;
}

static void begin(void)
{
    cr_assert_eq(jobs_init(&jobs, NULL), 0);
    for (int i = 0; i < MANY; i++)
        all[i].job = (struct job){.run = run, .kind = (enum job_kind)(i % JOB_KINDS)};
}

static void push_all(void)
{
    for (int i = 0; i < MANY; i++)
        jobs_push(&jobs, &all[i].job);
}

static bool is_idle(void)
{
    pthread_mutex_lock(&jobs.lock);
    size_t running = jobs.running[JOB_SHORT] + jobs.running[JOB_LONG];
    pthread_mutex_unlock(&jobs.lock);
    return running == 0;
}

TestSuite(jobs, .init = begin);

Test(jobs, each_is_run_once)
{
    may_go = 1;
    push_all();
    cr_assert_happens(done == MANY);
    /* The last one is out of its thread's hands a moment after it was run: no thread has one
     * then. */
    cr_assert_happens(is_idle());
    cr_assert_not(jobs_end(&jobs));
    for (int i = 0; i < MANY; i++)
        cr_assert(all[i].ran == 1 && all[i].dropped == 0);
}

Test(jobs, the_end_drops_what_has_not_begun_and_waits_for_nobody)
{
    push_all();
    cr_assert_happens(begun == JOBS_THREADS);
    cr_assert(jobs_end(&jobs));
    int dropped = 0;
    for (int i = 0; i < MANY; i++)
        dropped += all[i].dropped;
    cr_assert_eq(dropped, MANY - JOBS_THREADS);
    static struct counted late = {.job = {.run = run}};
    jobs_push(&jobs, &late.job);
    cr_assert_eq(late.dropped, 1);
    may_go = 1;
    cr_assert_happens(done == MANY + 1);
    for (int i = 0; i < MANY; i++)
        cr_assert_eq(all[i].ran + all[i].dropped, 1);
}

/* Long jobs that do not end leave a thread to the short ones. */
Test(jobs, short_ones_do_not_wait_for_long_ones)
{
    static struct counted quick = {.job = {.run = run, .kind = JOB_SHORT}};
    for (int i = 0; i < MANY; i++) {
        all[i].job.kind = JOB_LONG;
        jobs_push(&jobs, &all[i].job);
    }
    cr_assert_happens(begun == JOBS_LONG_MAX);
    quick.job.run = run_at_once;
    jobs_push(&jobs, &quick.job);
    cr_assert_happens(done == 1);
    cr_assert_eq(quick.ran, 1);
    may_go = 1;
    cr_assert_happens(done == MANY + 1);
}
