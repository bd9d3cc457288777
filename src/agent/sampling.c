#include "agent/sampling.h"

#include "agent/lacks.h"
#include "agent/open_calls.h"
#include "agent/sample_events.h"
#include "agent/stacks.h"
#include "agent/threads.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/own_thread.h"
#include "base/tasks.h"
#include "base/util.h"
#include "hotspot/layout.h"
#include "hotspot/sampled.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MS = 1000000,
    CPU_NS = 10 * MS, /* the defaults */
    WALL_NS = 20 * MS,
    COLLECT_NS = 10 * MS,     /* at the latest */
    PAUSE_MIN_NS = 1 * MS,    /* at the earliest */
    LOOK_NS = 50 * MS,        /* of the group looks */
    OPEN_NS = 1000 * MS,      /* a call that lasts is written as often */
    IDLE_NS = 100 * MS,       /* of a thread that does not run: one event for this time */
    SCAN_NS = 1000 * MS,      /* how often for threads that are none of Java's */
    STACK_BYTES = 512 * 1024, /* of the collector */
};

static struct {
    bool runs;
    pthread_t thread;
    _Atomic uint32_t stop; /* a futex */
    uint64_t cpu, wall;    /* ns; 0: off.  Changed only while the collector does not run */
    bool looks;            /* wall is that of the group looks: threads that wait are left out */
    struct ring *ring;
    uint64_t now, scanned; /* the collector's */
    struct buf tasks;      /* the kernel's ids of all threads, uint32_t */
} sampling;

static _Atomic bool takes_threads; /* threads that start and end are to be noted */

/* --- what the compilers describe -------------------------------------------------------------- */

/* While an agent listens to this event, HotSpot's compilers describe every place of what they
 * compile, as with DebugNonSafepoints, where else they describe calls only: a sample between two
 * calls knows its line, and which inlined method it is in. */
void JNICALL sampling_on_compiled(jvmtiEnv *ti, jmethodID method, jint size, const void *code,
                                  jint places, const jvmtiAddrLocationMap *map, const void *info)
{
    UNUSED(ti), UNUSED(method), UNUSED(size), UNUSED(code);
    UNUSED(places), UNUSED(map), UNUSED(info);
}

/* Only the trace has samples. */
static bool wants_looks(const struct settings *s)
{
    return s->groups[GROUP_looks] && s->formats & FORMAT_OTRACE;
}

static bool is_wanted(const struct settings *s)
{
    return s->groups[GROUP_cpu] || s->groups[GROUP_wall] || wants_looks(s);
}

static void describe_places(bool all)
{
    jvmtiEnv *ti = agent.jvmti;
    (*ti)->SetEventNotificationMode(ti, all ? JVMTI_ENABLE : JVMTI_DISABLE,
                                    JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL);
}

void sampling_loaded(void)
{
    if (!is_wanted(&agent.settings))
        return;
    describe_places(true);
    agent.all_places = !agent.attached;
}

/* --- threads ---------------------------------------------------------------------------------- */

static void add_java(void *ctx, uintptr_t java_thread, uint32_t id)
{
    UNUSED(ctx);
    struct sample_subject who = {os_thread_id(&agent.layout, java_thread), id, java_thread};
    sampled_add(&who);
}

void sampling_thread_started(uintptr_t java_thread, uint32_t id)
{
    struct sample_subject who = {(uint32_t)syscall(SYS_gettid), id, java_thread};
    if (atomic_load_explicit(&takes_threads, memory_order_acquire))
        sampled_add(&who);
}

void sampling_thread_ended(void)
{
    if (atomic_load_explicit(&takes_threads, memory_order_acquire))
        sampled_remove((uint32_t)syscall(SYS_gettid));
}

/* --- threads of the JVM itself, and of native libraries --------------------------------------- */

struct gone {
    uint32_t tids[64];
    size_t n;
};

static void look_if_gone(void *ctx, struct sampled *t)
{
    struct gone *g = ctx;
    uint32_t tid = t->who.os_tid;
    if (!t->who.java_thread && g->n < ARRAY_LEN(g->tids) && !tasks_has(&sampling.tasks, tid))
        g->tids[g->n++] = tid;
}

/* A Java thread that has not reported its start yet may be taken for one of these for a moment. */
static void scan_tasks(void)
{
    struct gone gone = {.n = 0};
    tasks_list(&sampling.tasks);
    sampled_each(look_if_gone, &gone);
    for (size_t i = 0; i < gone.n; i++) {
        sampled_remove(gone.tids[i]);
        threads_native_ended(gone.tids[i]);
    }
    for (uint32_t i = 0; i < tasks_count(&sampling.tasks); i++)
        if (!sampled_has(tasks_at(&sampling.tasks, i))) {
            struct sample_subject who = {.os_tid = tasks_at(&sampling.tasks, i)};
            sampled_add_new(&who);
        }
}

/* --- the wall clock --------------------------------------------------------------------------- */

/* Nor did a thread run that waits for a processor in native code: the kernel is asked only where a
 * thread has run since the look before. */
static bool stands_still(const struct sample_subject *who, void *ctx, bool *ready)
{
    uint64_t cpu;
    bool still = sampled_cpu_ns(who->os_tid, &cpu) && cpu == *(const uint64_t *)ctx;
    *ready = still && task_is_ready(who->os_tid);
    return still;
}

#define MOVED UINT64_MAX

/* The call of input or output that the thread is in, if it has not moved for a while.  It is asked
 * for once: who does not move makes no other call. */
static void note_open(struct sampled *t, struct sample_event *e, uint64_t least)
{
    uint64_t cpu;
    if (!agent_wants(GROUP_io) || !t->wall.known || !(t->wall.flags & SAMPLE_IDLE) ||
        sampling.now - min_u64(max_u64(t->wall.since, t->wall.told), sampling.now) < least)
        return;
    if (!t->wall.asked) {
        struct open_call c = open_call_of(t->who.os_tid);
        if (!sampled_cpu_ns(t->who.os_tid, &cpu) || cpu != t->wall.cpu)
            return;
        t->wall.asked = true;
        t->wall.what = c.what;
        t->wall.peer = c.peer.v;
    }
    e->open = (struct open_call){(enum io_kind)t->wall.what, {t->wall.peer}};
    e->since = t->wall.since;
    t->wall.told = sampling.now;
}

/* What it has been doing since its last sample. open: it still does; its call is written if it has
 * lasted long enough. */
static void put_idle(struct sampled *t, uint64_t open)
{
    struct sample_event e = {.group = SAMPLE_WALL,
                             .thread = {t->wall.thread},
                             .stack = {t->wall.stack},
                             .time = sampling.now,
                             .weight = t->wall.idle,
                             .flags = t->wall.flags,
                             .error = t->wall.error};
    if (t->wall.idle && (!sampling.looks || e.stack.v)) {
        if (open != MOVED)
            note_open(t, &e, open);
        sample_events_put(&e);
    }
    t->wall.idle = 0;
}

/* In a wait, a park, a sleep, at a monitor, at a safepoint: JavaThread::_thread_state is
 * _thread_blocked.  The thread lives: it is in the table, whose mutex is held. */
static bool is_blocked(const struct sample_subject *who)
{
    const struct layout *l = walker_layout(agent.walker);
    uint32_t state;
    return guarded_u32(who->java_thread + (uintptr_t)l->thread_state, &state) &&
           thread_state_is(&l->states, THREAD_BLOCKED, state);
}

static void look_at(struct sampled *t, uint64_t weight)
{
    uint64_t cpu;
    if (sampling.looks && is_blocked(&t->who)) {
        put_idle(t, MOVED);
        t->wall.known = false;
        return;
    }
    if (!sampled_cpu_ns(t->who.os_tid, &cpu))
        return;
    if (t->wall.known && cpu == t->wall.cpu) {
        t->wall.idle += weight;
        if (t->wall.idle >= IDLE_NS)
            put_idle(t, OPEN_NS);
        return;
    }
    put_idle(t, MOVED);
    t->wall.cpu = cpu;
    t->wall.known = false;
    struct sample_moment m = {
        .group = SAMPLE_WALL, .weight = weight, .stands_still = stands_still, .ctx = &cpu};
    if (!samples_take(&t->who, &m, NULL))
        sampled_ask(t, weight);
}

static void look_if_due(void *ctx, struct sampled *t)
{
    UNUSED(ctx);
    uint64_t missed = 0;
    if (!t->who.java_thread)
        return;
    if (!t->wall.due) /* spread them over the interval */
        t->wall.due = sampling.now + hash_u64(t->who.os_tid) % sampling.wall;
    if (sampling.now < t->wall.due)
        return;
    missed = (sampling.now - t->wall.due) / sampling.wall;
    t->wall.due += (1 + missed) * sampling.wall;
    look_at(t, (1 + missed) * sampling.wall);
}

struct kept {
    const struct sample *s;
    const struct sample_event *e;
};

static void keep_stack(void *ctx, struct sampled *t)
{
    const struct kept *k = ctx;
    if (t->who.java_thread != k->s->subject.java_thread)
        return;
    t->wall.known = true;
    t->wall.thread = k->e->thread.v;
    t->wall.stack = k->e->stack.v;
    t->wall.flags = k->e->flags;
    t->wall.error = k->e->error;
    t->wall.since = t->wall.told = k->e->time;
    t->wall.asked = false;
}

/* The stack that was found from outside is the thread's until it runs; whether it would, on a
 * processor, is asked again. */
static void on_made(void *ctx, const struct sample *s, const struct sample_event *e)
{
    struct kept k = {s, e};
    UNUSED(ctx);
    if (s->still && !s->ready)
        sampled_with(s->subject.os_tid, keep_stack, &k);
}

static void put_last(void *ctx, struct sampled *t)
{
    uint64_t cpu;
    UNUSED(ctx);
    if (!t->wall.known) {
        put_idle(t, MOVED);
        return;
    }
    t->wall.idle = max_u64(t->wall.idle, 1);
    put_idle(t, sampled_cpu_ns(t->who.os_tid, &cpu) && cpu == t->wall.cpu ? 0 : MOVED);
}

/* --- the collector ---------------------------------------------------------------------------- */

static void collect(void)
{
    sample_events_collect(sampling.ring, on_made, NULL);
}

static uint64_t pause_ns(void)
{
    if (sampling.looks && !sampling.cpu)
        return LOOK_NS / 2;
    uint64_t ns = sampling.wall ? sampling.wall / 4 : COLLECT_NS;
    return max_u64(PAUSE_MIN_NS, min_u64(ns, COLLECT_NS));
}

/* False: it is time to end. */
static bool pause_a_while(void)
{
    const struct timespec t = {0, (long)pause_ns()};
    syscall(SYS_futex, &sampling.stop, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
    /* acquire: pairs with end_collector */
    return !atomic_load_explicit(&sampling.stop, memory_order_acquire);
}

static void *run(void *arg)
{
    UNUSED(arg);
    prctl(PR_SET_NAME, "orca sampler");
    do {
        sampling.now = clock_mono_ns();
        if (sampling.cpu && sampling.now - sampling.scanned >= SCAN_NS) {
            scan_tasks();
            sampling.scanned = sampling.now;
        }
        if (sampling.wall)
            sampled_each(look_if_due, NULL);
        collect();
    } while (pause_a_while());
    sampling.now = clock_mono_ns();
    sampled_each(put_last, NULL);
    collect();
    collect(); /* the half that handlers filled during the first */
    return NULL;
}

/* --- begin and end ---------------------------------------------------------------------------- */

static int start_collector(struct err *err)
{
    sampling.ring = ring_attach(agent.rec);
    if (!sampling.ring)
        return err_set(err, -ENOMEM, "no ring is free");
    sampling.scanned = 0;
    atomic_store_explicit(&sampling.stop, 0, memory_order_relaxed);
    int rc = own_thread_start(&sampling.thread, STACK_BYTES, run, NULL);
    if (rc == 0)
        return 0;
    ring_detach(sampling.ring);
    return err_set(err, rc, "no thread for the samples: %s", strerror(-rc));
}

static int begin(struct err *err)
{
    if (agent.settings.depth == 0)
        return err_set(err, -EINVAL, "depth=0 leaves no stacks");
    if (!agent.walker)
        return err_set(err, -ENOTSUP, "%s", stacks_not_walked());
    TRY(sampled_open(err));
    struct samples_setup setup = {agent.walker, agent.layout, (uint32_t)agent.settings.depth};
    int rc = samples_open(&setup);
    if (rc < 0)
        return err_set(err, rc, "out of memory");
    sampling.cpu = sampling.wall = 0;
    return 0;
}

/* By which clocks, in the trace. */
static void note_clocks(void)
{
    struct sampled_counts c = sampled_counts();
    struct buf b;
    if (!sampling.cpu)
        return;
    buf_init(&b);
    buf_printf(&b, "perf events of %" PRIu64 " threads, timers of %" PRIu64, c.perf, c.timers);
    if (c.refused)
        buf_printf(&b, ", none for %" PRIu64 ": too many", c.refused);
    if (c.perf_error)
        buf_printf(&b, " (perf events: %s)", strerror(c.perf_error));
    recorder_put_info(agent.rec, "orca.clocks", buf_str(&b));
    buf_fini(&b);
}

/* What the compilers describe: every place, or calls alone. */
static void note_places(void)
{
    if (sampling.looks && !sampling.cpu)
        return;
    bool all = agent.all_places || vmstructs_flag(agent.vmstructs, "DebugNonSafepoints", false);
    recorder_put_info(agent.rec, "orca.places", all ? "all" : "new");
}

static void end_collector(void)
{
    /* release: pairs with pause_a_while */
    atomic_store_explicit(&sampling.stop, 1, memory_order_release);
    syscall(SYS_futex, &sampling.stop, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pthread_join(sampling.thread, NULL);
    ring_detach(sampling.ring);
    sampling.ring = NULL;
}

void sampling_stop(void)
{
    if (!sampling.runs)
        return;
    atomic_store_explicit(&takes_threads, false, memory_order_relaxed);
    note_clocks();
    note_places();
    sampled_cpu(0, SAMPLED_AUTO);
    samples_close();
    end_collector();
    sample_events_reset();
    sampled_remove_all();
    describe_places(false);
    sampling.runs = false;
}

/* Groups that were not asked for by name are not mentioned on stderr. */
static void say_why_not(const struct err *err, bool asked)
{
    if (asked)
        lacks_note("processor time and wall clock are not sampled: %s", err->msg);
    recorder_put_info(agent.rec, "orca.looks", err->msg);
}

void sampling_update(void)
{
    struct err err;
    const struct settings *s = &agent.settings;
    uint64_t cpu = s->groups[GROUP_cpu] ? (s->cpu ? s->cpu : CPU_NS) : 0;
    uint64_t wall = s->groups[GROUP_wall] ? (s->wall ? s->wall : WALL_NS) : 0;
    bool asked = cpu || wall, looks = !wall && wants_looks(s);
    wall = looks ? LOOK_NS : wall;
    if (sampling.runs && cpu == sampling.cpu && wall == sampling.wall && looks == sampling.looks)
        return;
    sampling_stop();
    if (!cpu && !wall)
        return;
    if (begin(&err) < 0) {
        say_why_not(&err, asked);
        return;
    }
    sampling.cpu = cpu;
    sampling.wall = wall;
    sampling.looks = looks;
    sample_events_look(looks);
    if (start_collector(&err) < 0) {
        samples_close();
        say_why_not(&err, asked);
        return;
    }
    sampling.runs = true;
    describe_places(true);
    /* release: pairs with sampling_thread_started.  From here on threads that start say so; those
     * that are there already may be added twice. */
    atomic_store_explicit(&takes_threads, true, memory_order_release);
    sampled_cpu(cpu, (enum sampled_clock)s->cpuclock);
    threads_each_java(add_java, NULL);
}
