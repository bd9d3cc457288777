#include "agent/sched.h"

#include "base/buf.h"
#include "base/cgroup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/own_thread.h"
#include "base/tasks.h"
#include "base/util.h"
#include "record/turns.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MS = 1000000,
    PAUSE_MS = 50,
    CUT_NS = 1000 * MS,  /* no turn is longer; turns_known is written as often */
    SHARE_OF_TIME = 100, /* where /proc is read: at most 1/N of the time */
    STACK_BYTES = 256 * 1024,
    MET = 1,
    OWN = 2, /* turn.user, share.user: not of Java; one of Orca's own */
};

static struct {
    struct sched_setup of;
    bool runs;
    pthread_t thread;
    _Atomic uint32_t stop;     /* a futex */
    struct switches *switches; /* NULL: the kernel refuses them */
    uint64_t opened;           /* when */
    char why_not[160];
    struct ring *ring;
    struct turns turns;
    uint64_t from; /* what is before that is not recorded */
    uint64_t written, said,
        lost;                  /* the last event's time; turns_known's; losses that were counted */
    struct cgroup_quota quota; /* at */
    uint64_t quota_at;         /* 0: it was not looked at */
    struct buf shares, tasks;  /* struct share [], by os_tid; tasks_list */
} sched;

/* The trace's ids by the kernel's: under the mutex. */
static struct {
    pthread_mutex_t lock;
    struct map ids;
    bool wanted;
} java = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- threads ---------------------------------------------------------------------------------- */

void sched_add(uint32_t os_tid, uint32_t id)
{
    pthread_mutex_lock(&java.lock);
    uint64_t *at = java.wanted && os_tid ? map_put(&java.ids, os_tid) : NULL;
    if (at)
        *at = id;
    pthread_mutex_unlock(&java.lock);
}

static uint32_t find_java(uint32_t os_tid)
{
    pthread_mutex_lock(&java.lock);
    const uint64_t *id = map_find(&java.ids, os_tid);
    uint32_t found = id ? (uint32_t)*id : 0;
    pthread_mutex_unlock(&java.lock);
    return found;
}

static void forget_thread(uint32_t os_tid)
{
    pthread_mutex_lock(&java.lock);
    map_remove(&java.ids, os_tid);
    pthread_mutex_unlock(&java.lock);
    sched.of.native_ended(os_tid);
}

/* Orca's own threads do not belong to the program. */
static bool is_own(uint32_t os_tid)
{
    char name[TASK_NAME_BYTES];
    task_name(os_tid, name);
    return strncmp(name, "orca ", 5) == 0;
}

/* user: what is known of it from before, 0: nothing; a Java thread may have been met before it said
 * that it had started. */
static thread_id id_of(uint32_t os_tid, uint32_t *user)
{
    uint32_t id = find_java(os_tid);
    if (id)
        return (thread_id){id};
    if (!*user)
        *user = is_own(os_tid) ? OWN : MET;
    return *user == OWN ? (thread_id){0} : sched.of.native(os_tid);
}

/* --- events ----------------------------------------------------------------------------------- */

static struct event *begin_event(enum event_kind kind, thread_id thread, uint64_t time)
{
    sched.written = max_u64(sched.written, time);
    return ring_begin(sched.ring, kind, thread, sched.written);
}

static void put_turn(void *ctx, const struct turn *t)
{
    UNUSED(ctx);
    bool ours = t->until > sched.from; /* some are from before the recording */
    thread_id id = ours ? id_of(t->os_tid, t->user) : (thread_id){0};
    struct event *e = id.v ? begin_event(EV_turn, id, t->until) : NULL;
    if (e) {
        e->turn = (struct ev_turn){.since = max_u64(t->since, sched.from),
                                   .end = t->end | (t->gap ? TURN_GAP : 0u) |
                                          (t->fault ? TURN_FAULT : 0u)};
        ring_commit(sched.ring, e);
    }
    if (t->end == TURN_DIES)
        forget_thread(t->os_tid);
}

static void take(void *ctx, const struct switch_record *r)
{
    UNUSED(ctx);
    turns_take(&sched.turns, r, switches_lost(sched.switches));
}

/* Whether the quota of a container has stopped the process since the last look; the first one only
 * looks.  The threads did nothing then, and no switch says why. */
static void look_at_quota(uint64_t now)
{
    struct cgroup_quota q, *last = &sched.quota;
    if (!cgroup_quota(&q))
        return;
    struct event *e = sched.quota_at && q.stopped > last->stopped
                          ? begin_event(EV_quota, (thread_id){0}, now)
                          : NULL;
    if (e) {
        e->quota = (struct ev_quota){.since = sched.quota_at,
                                     .periods = q.periods - last->periods,
                                     .stopped = q.stopped - last->stopped,
                                     .ns = q.ns - last->ns};
        ring_commit(sched.ring, e);
    }
    if (e || !sched.quota_at) { /* periods in which nothing happened count with the next ones */
        *last = q;
        sched.quota_at = now;
    }
}

/* Every turn up to here is in the trace. */
static void say_known(uint64_t until)
{
    turns_cut(&sched.turns, until, CUT_NS / 2);
    struct event *e = begin_event(EV_turns_known, (thread_id){0}, until);
    if (e) {
        e->turns_known = (struct ev_turns_known){.since = sched.said};
        ring_commit(sched.ring, e);
    }
    sched.said = until;
    look_at_quota(until);
}

static void read_switches(uint64_t until)
{
    switches_read(sched.switches, until, take, NULL);
    uint64_t lost = switches_lost(sched.switches);
    if (lost != sched.lost)
        recorder_count_loss(sched.of.rec, LOSS_turn, lost - sched.lost);
    sched.lost = lost;
}

static void follow_switches(void)
{
    look_at_quota(sched.said);
    while (!atomic_load_explicit(&sched.stop, memory_order_relaxed)) {
        switches_wait(sched.switches, PAUSE_MS);
        uint64_t until = clock_mono_ns() - SWITCHES_SETTLE_NS;
        read_switches(until);
        if (until > sched.said && until - sched.said >= CUT_NS) {
            say_known(until);
            switches_cover(sched.switches);
        }
    }
    uint64_t now = clock_mono_ns();
    read_switches(now);
    turns_cut(&sched.turns, now, 0);
    say_known(now);
}

/* --- without them ----------------------------------------------------------------------------- */

/* One of the threads that were there at the last look. */
struct share {
    uint32_t os_tid, user;
    struct task_times last;
};

/* now, before: this look and the last one; 0: this is the first one. */
static void put_share(struct share *w, uint64_t before, uint64_t now)
{
    struct task_times t;
    if (!task_times(w->os_tid, &t))
        return;
    thread_id id = id_of(w->os_tid, &w->user);
    bool any = before && (t.ran != w->last.ran || t.ready != w->last.ready);
    struct event *e = id.v && any ? begin_event(EV_processor_share, id, now) : NULL;
    if (e) {
        e->processor_share = (struct ev_processor_share){.since = before,
                                                         .ran = t.ran - w->last.ran,
                                                         .ready = t.ready - w->last.ready,
                                                         .turns = t.turns - w->last.turns};
        ring_commit(sched.ring, e);
    }
    w->last = t;
}

/* Both lists ascend. */
static void look_at_shares(uint64_t before, uint64_t now)
{
    struct buf old = sched.shares;
    const struct share *o = (const void *)old.p, *end = o + old.len / sizeof *o;
    tasks_list(&sched.tasks);
    buf_init(&sched.shares);
    for (uint32_t i = 0; i < tasks_count(&sched.tasks); i++) {
        struct share w = {.os_tid = tasks_at(&sched.tasks, i)};
        for (; o < end && o->os_tid < w.os_tid; o++)
            forget_thread(o->os_tid);
        if (o < end && o->os_tid == w.os_tid)
            w = *o++;
        put_share(&w, before, now);
        buf_put(&sched.shares, &w, sizeof w);
    }
    for (; o < end; o++)
        forget_thread(o->os_tid);
    buf_fini(&old);
}

/* True: it is time to end. */
static bool pause_until(uint64_t time)
{
    for (uint64_t now; (now = clock_mono_ns()) < time;) {
        uint64_t ns = time - now, second = UINT64_C(1000) * MS;
        const struct timespec t = {(time_t)(ns / second), (long)(ns % second)};
        if (atomic_load_explicit(&sched.stop, memory_order_acquire))
            return true;
        syscall(SYS_futex, &sched.stop, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
    }
    /* acquire: pairs with sched_stop */
    return atomic_load_explicit(&sched.stop, memory_order_acquire);
}

static void follow_shares(void)
{
    uint64_t before = 0, now = clock_mono_ns(), pause = CUT_NS;
    look_at_shares(before, now);
    look_at_quota(now);
    for (bool stop = false; !stop;) {
        stop = pause_until(now + pause);
        before = now;
        now = clock_mono_ns();
        look_at_shares(before, now);
        look_at_quota(now);
        pause = max_u64(CUT_NS, SHARE_OF_TIME * (clock_mono_ns() - now));
    }
}

/* --- begin and end ---------------------------------------------------------------------------- */

static void *run(void *arg)
{
    UNUSED(arg);
    prctl(PR_SET_NAME, "orca sched");
    if (sched.switches)
        follow_switches();
    else
        follow_shares();
    return NULL;
}

/* Without the kernel's records there are shares of the time. */
void sched_prepare(void)
{
    struct err err;
    if (sched.switches)
        return;
    sched.opened = clock_mono_ns();
    if (switches_open(&sched.switches, &err) < 0)
        snprintf(sched.why_not, sizeof sched.why_not, "%.*s", (int)sizeof sched.why_not - 1,
                 err.msg);
}

static void close_switches(void)
{
    if (sched.switches)
        switches_close(sched.switches);
    sched.switches = NULL;
}

static void note_how(void)
{
    if (sched.switches) {
        recorder_put_info(sched.of.rec, "orca.sched", "switches");
        return;
    }
    char text[sizeof sched.why_not + 16];
    snprintf(text, sizeof text, "shares: %s", sched.why_not);
    recorder_put_info(sched.of.rec, "orca.sched", text);
    log_line("perf events: %s: processor times are recorded as shares of each second, without the "
             "instants",
             sched.why_not);
}

static void keep_threads(bool keep)
{
    pthread_mutex_lock(&java.lock);
    map_fini(&java.ids);
    map_init(&java.ids);
    java.wanted = keep;
    pthread_mutex_unlock(&java.lock);
}

void sched_start(const struct sched_setup *setup)
{
    sched.of = *setup;
    sched_prepare();
    sched.ring = ring_attach(sched.of.rec);
    if (!sched.ring) {
        close_switches();
        return;
    }
    sched.ring->patient = true;
    sched.written = 0;
    sched.lost = 0;
    sched.quota_at = 0;
    sched.from = sched.said = max_u64(sched.opened, sched.of.started);
    turns_init(&sched.turns, sched.from, put_turn, NULL);
    buf_clear(&sched.shares);
    atomic_store_explicit(&sched.stop, 0, memory_order_relaxed);
    keep_threads(true);
    sched.of.add_all();
    note_how();
    sched.runs = own_thread_start(&sched.thread, STACK_BYTES, run, NULL) == 0;
    if (!sched.runs) {
        ring_detach(sched.ring);
        close_switches();
    }
}

void sched_stop(void)
{
    if (sched.runs) {
        /* release: pairs with pause_until */
        atomic_store_explicit(&sched.stop, 1, memory_order_release);
        syscall(SYS_futex, &sched.stop, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        if (sched.switches)
            switches_wake(sched.switches);
        pthread_join(sched.thread, NULL);
        ring_detach(sched.ring);
        turns_fini(&sched.turns);
        keep_threads(false);
    }
    close_switches();
    sched.runs = false;
}

bool sched_runs(void)
{
    return sched.runs;
}
