#include "import/orca_waits.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Of a thread that is in a call. */
struct orca_wait {
    uint32_t lock, stack;
    uint8_t ends;  /* kind of the call's end; 0: it is in no such call */
    bool is_begun; /* no contention is going on inside the call */
};

void orca_waits_fini(struct orca_waits *w)
{
    free(w->threads);
    memset(w, 0, sizeof *w);
}

static struct orca_wait *wait_of(struct orca_waits *w, thread_id id)
{
    if (id.v < w->cap)
        return &w->threads[id.v];
    size_t cap = w->cap ? w->cap : 64;
    while (cap <= id.v)
        cap *= 2;
    struct orca_wait *threads = realloc(w->threads, cap * sizeof *threads);
    if (!threads)
        return NULL;
    memset(threads + w->cap, 0, (cap - w->cap) * sizeof *threads);
    w->threads = threads;
    w->cap = cap;
    return &threads[id.v];
}

static int begin(struct orca_wait *t, struct intake *in, const struct event *e, struct err *err)
{
    struct event park = {.time = e->time, .thread = e->thread, .kind = EV_park_enter};
    memset(&park.recording_start, 0, sizeof park - EVENT_HEAD);
    park.park_enter.lock.v = t->lock;
    park.park_enter.stack.v = t->stack;
    t->is_begun = true;
    return intake_event(in, &park, err);
}

static int end(struct orca_wait *t, struct intake *in, const struct event *e, struct err *err)
{
    struct event park = {.time = e->time, .thread = e->thread, .kind = EV_park_exit};
    if (!t->is_begun)
        return 0;
    memset(&park.recording_start, 0, sizeof park - EVENT_HEAD);
    park.park_exit.lock.v = t->lock;
    t->is_begun = false;
    return intake_event(in, &park, err);
}

/* Calls that last while something is done, not while something is waited for. */
static bool runs_a_task(const struct call_row *row)
{
    static const char *const methods[][2] = {{"java/util/concurrent/FutureTask", "run"},
                                             {"java/util/concurrent/ForkJoinTask", "invoke"}};
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (strcmp(row->class, methods[i][0]) == 0 && strcmp(row->method, methods[i][1]) == 0)
            return true;
    return false;
}

/* What the call is about, and its end; false: it is no wait.  What happens inside a call that
 * `nests` has lines of its own. */
static bool is_wait(const struct event *e, const struct call_row *row, struct orca_wait *out)
{
    if (e->kind == EV_semaphore_acquire_enter) {
        *out = (struct orca_wait){.lock = e->semaphore_acquire_enter.lock.v,
                                  .stack = e->semaphore_acquire_enter.stack.v,
                                  .ends = EV_semaphore_acquire_exit};
        return true;
    }
    if (e->kind != EV_call_enter || !row || row->nests || e->call_enter.lock.v == 0 ||
        runs_a_task(row))
        return false;
    *out = (struct orca_wait){
        .lock = e->call_enter.lock.v, .stack = e->call_enter.stack.v, .ends = EV_call_exit};
    return true;
}

/* A thread that does something else is not in the call any more: its end is missing. */
int orca_waits_before(struct orca_waits *w, struct intake *in, const struct event *e,
                      struct err *err)
{
    struct orca_wait *t = e->thread.v < w->cap ? &w->threads[e->thread.v] : NULL;
    if (!t || !t->ends || e->kind == EV_monitor_contended_entered)
        return 0;
    if (e->kind != EV_monitor_contended_enter)
        t->ends = 0;
    return end(t, in, e, err);
}

int orca_waits_after(struct orca_waits *w, struct intake *in, const struct event *e,
                     const struct call_row *row, struct err *err)
{
    struct orca_wait wait, *t;
    if (e->kind == EV_monitor_contended_entered) {
        t = e->thread.v < w->cap ? &w->threads[e->thread.v] : NULL;
        return t && t->ends && !t->is_begun ? begin(t, in, e, err) : 0;
    }
    if (e->thread.v == 0 || !is_wait(e, row, &wait))
        return 0;
    t = wait_of(w, e->thread);
    if (!t)
        return err_set(err, -ENOMEM, "%s: out of memory", in->name);
    *t = wait;
    return begin(t, in, e, err);
}
