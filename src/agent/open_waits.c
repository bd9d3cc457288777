#include "agent/open_waits.h"

#include "agent/jvmti21.h"
#include "agent/lacks.h"
#include "agent/locks.h"
#include "agent/natives.h"
#include "agent/on_park.h"
#include "agent/query.h"
#include "agent/stacks.h"
#include "agent/sums.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Waits that were under way at the beginning. */
struct found {
    uint32_t id, kind, lock; /* kind 0: no longer followed */
    enum wait_limit limit;
    uint64_t time;
    jweak thread;
};
static struct buf found; /* struct found [] */

/* The JVM's management data on waits whose object JVMTI does not report. */
static struct {
    struct buf lines;  /* as of query_waits */
    struct buf owners; /* struct told_owner []: virtual threads, of whom those lines do not tell */
    uint64_t time;     /* before it was asked */
} told;

struct told_owner {
    uint64_t waiter, owner; /* Thread.getId() */
};

static struct found *found_all(size_t *n)
{
    *n = found.len / sizeof(struct found);
    return (void *)found.p;
}

/* Threads that the JVM itself makes: what they wait for is its own affair. */
static bool is_jvms_own(JNIEnv *jni, jthread thread)
{
    jvmtiThreadInfo info;
    jvmtiThreadGroupInfo group = {.name = NULL};
    if ((*agent.jvmti)->GetThreadInfo(agent.jvmti, thread, &info) != JVMTI_ERROR_NONE)
        return true;
    if (info.thread_group &&
        (*agent.jvmti)->GetThreadGroupInfo(agent.jvmti, info.thread_group, &group) ==
            JVMTI_ERROR_NONE)
        (*jni)->DeleteLocalRef(jni, group.parent);
    bool own = !group.name || strcmp(group.name, "system") == 0 ||
               strcmp(group.name, "InnocuousThreadGroup") == 0;
    jvmti_free(group.name);
    jvmti_free(info.name);
    (*jni)->DeleteLocalRef(jni, info.thread_group);
    (*jni)->DeleteLocalRef(jni, info.context_class_loader);
    return own;
}

static bool is_of_monitor(enum event_kind kind)
{
    return kind == EV_monitor_contended_enter || kind == EV_wait_enter;
}

static bool is_wanted(enum event_kind kind)
{
    return kind && agent.settings.groups[event_kinds[kind].group];
}

static void ask(JNIEnv *jni, const jvmtiStackInfo *all, jint n)
{
    struct err ignored; /* a JVM without management: then it is not known */
    jlong *ids = agent.attached ? calloc((size_t)n + 1, sizeof *ids) : NULL;
    jint k = 0;
    for (jint i = 0; ids && i < n; i++) {
        enum event_kind kind = wait_of_state(all[i].state);
        if (is_of_monitor(kind) && is_wanted(kind) && !is_jvms_own(jni, all[i].thread))
            ids[k++] = (jlong)threads_java_tid(jni, all[i].thread);
    }
    told.time = clock_mono_ns();
    if (k)
        query_waits(jni, ids, k, &told.lines, &ignored);
    free(ids);
}

/* Whether the thread is where it was when all stacks were taken. */
static bool is_still_there(const jvmtiStackInfo *info)
{
    jint n = 0, max = info->frame_count + 1;
    jvmtiFrameInfo *frames = calloc((size_t)max, sizeof *frames);
    bool same = frames &&
                (*agent.jvmti)->GetStackTrace(agent.jvmti, info->thread, 0, max, frames, &n) ==
                    JVMTI_ERROR_NONE &&
                n == info->frame_count &&
                memcmp(frames, info->frame_buffer, (size_t)n * sizeof *frames) == 0;
    free(frames);
    return same;
}

static uint64_t told_owner_of(uint64_t tid)
{
    const struct told_owner *v = (const void *)told.owners.p;
    for (size_t i = 0; i < told.owners.len / sizeof *v; i++)
        if (v[i].waiter == tid)
            return v[i].owner;
    return 0;
}

/* The monitor that the thread was blocked on or waited for at told.time, and who owned it. */
static struct park_info monitor_of(JNIEnv *jni, const jvmtiStackInfo *info, enum event_kind kind)
{
    struct park_info p = {.wanted = true};
    unsigned long long tid = threads_java_tid(jni, info->thread), id;
    char state[32], class[1024];
    uint32_t hash;
    long long owner;
    const char *line = told.lines.len ? buf_str(&told.lines) : "";
    for (; *line; line += strcspn(line, "\n") + 1) {
        if (sscanf(line, "%llu %31s %x %lld %1023s", &id, state, &hash, &owner, class) != 5 ||
            id != tid)
            continue;
        bool blocked = strcmp(state, "BLOCKED") == 0;
        if (blocked != (kind == EV_monitor_contended_enter) || !is_still_there(info))
            break;
        p.lock = locks_by_hash(class, hash);
        p.owner = threads_by_tid(jni, owner > 0 ? (uint64_t)owner : told_owner_of(tid));
        break;
    }
    return p;
}

void open_waits_free(void)
{
    buf_fini(&found);
}

static void put(JNIEnv *jni, struct os_thread *self, const struct found *f, stack_id stack,
                thread_id owner, jthread thread)
{
    struct event *e = ring_begin(self->ring, EV_wait_found, (thread_id){f->id}, f->time);
    if (!e)
        return;
    e->wait_found.kind = f->kind;
    e->wait_found.lock.v = f->lock;
    e->wait_found.owner = owner;
    e->wait_found.stack = stack;
    e->wait_found.limit = f->limit;
    struct found kept = *f;
    kept.time = e->time;
    ring_commit(self->ring, e);
    kept.thread = (*jni)->NewWeakGlobalRef(jni, thread);
    buf_put(&found, &kept, sizeof kept);
}

static void put_found(JNIEnv *jni, struct os_thread *self, const jvmtiStackInfo *info, uint32_t id,
                      const struct park_info *p, uint64_t time)
{
    const struct found f = {.id = id,
                            .kind = wait_of_state(info->state),
                            .lock = p->lock.v,
                            .limit = limit_of_state(info->state),
                            .time = time};
    stack_id stack = stacks_of_frames(jni, info->frame_buffer, info->frame_count);
    put(jni, self, &f, stack, p->owner, info->thread);
}

/* --- virtual threads -------------------------------------------------------------------------- */

static stack_id stack_of(JNIEnv *jni, jthread thread)
{
    jvmtiFrameInfo frames[DEPTH_MAX + 1];
    jint n = 0;
    if ((*agent.jvmti)
            ->GetStackTrace(agent.jvmti, thread, 0, (jint)agent.settings.depth + 1, frames, &n) !=
        JVMTI_ERROR_NONE)
        return (stack_id){0};
    return stacks_of_frames(jni, frames, n);
}

/* Virtual threads that parked or slept on their carriers: their events come after the waits, which
 * stand together at the beginning. */
static struct buf pinned; /* struct event [] */

static void note_pinned(JNIEnv *jni, jthread thread, const struct found *f, stack_id stack)
{
    struct owner_place at;
    bool parks = f->kind == EV_park_enter || f->kind == EV_sleep_enter;
    if (!parks || !is_wanted(EV_pinned) || !jni_is_virtual_thread(jni, thread) ||
        !owner_locate(agent.table, threads_java_tid(jni, thread), &at))
        return;
    struct event e = {.kind = EV_pinned, .thread = {f->id}, .time = f->time};
    e.pinned.stack = stack;
    e.pinned.frame = monitors_pin() ? PINNED_FRAME_UNKNOWN : 0;
    e.pinned.carrier.v = at.id;
    buf_put(&pinned, &e, sizeof e);
}

static void put_pinned(struct os_thread *self)
{
    const struct event *v = (const void *)pinned.p;
    for (size_t i = 0; i < pinned.len / sizeof *v; i++) {
        struct event *e = ring_begin(self->ring, EV_pinned, v[i].thread, v[i].time);
        if (!e)
            break;
        e->pinned = v[i].pinned;
        ring_commit(self->ring, e);
    }
    buf_fini(&pinned);
}

static uint64_t at_end;   /* since when it is asked what parks are for that were only timed; or 0 */
static struct buf placed; /* struct sums_wait [] */

/* since: of its wait before it was asked. */
static void place(thread_id id, uint64_t since, lock_id lock, thread_id owner, stack_id stack)
{
    const struct sums_wait w = {EV_park_enter, id, owner, lock, stack, WAIT_LIMIT_UNKNOWN, since};
    if (since && sums_timed_since(id) == since)
        buf_put(&placed, &w, sizeof w);
}

void open_waits_place(JNIEnv *jni, jthread thread, thread_id id)
{
    uint64_t since = sums_were_made() ? sums_timed_since(id) : 0;
    if (!since)
        return;
    const struct park_info p = park_info(jni, thread, NULL);
    place(id, since, p.lock, p.owner, stack_of(jni, thread));
}

bool open_waits_are_over(void)
{
    return at_end;
}

void open_waits_virtual(JNIEnv *jni, jthread thread, jint how, jobject blocker, jlong owner)
{
    static const enum event_kind kinds[] = {EV_monitor_contended_enter, EV_park_enter,
                                            EV_wait_enter, EV_sleep_enter};
    struct os_thread *self = os_thread_self(jni);
    enum event_kind kind = kinds[how];
    bool wanted = true;
    thread_id id = self && is_wanted(kind) ? threads_of(jni, thread) : (thread_id){0};
    lock_id lock = id.v && blocker ? locks_id(jni, blocker, &wanted) : (lock_id){0};
    if (!id.v || !wanted)
        return;
    if (at_end) {
        uint64_t since = sums_timed_since(id);
        place(id, since < at_end ? since : 0, lock,
              threads_by_tid(jni, owner > 0 ? (uint64_t)owner : 0), stack_of(jni, thread));
        return;
    }
    jint state = 0;
    if ((*agent.jvmti)->GetThreadState(agent.jvmti, thread, &state) != JVMTI_ERROR_NONE ||
        wait_of_state(state) != (kind == EV_sleep_enter ? EV_park_enter : kind))
        state = 0; /* it has gone on; the sleep of a virtual thread is a park to the JVM */
    const struct found f = {.id = id.v,
                            .kind = kind,
                            .lock = lock.v,
                            .limit = kind == EV_sleep_enter ? WAIT_LIMITED : limit_of_state(state),
                            .time = clock_mono_ns()};
    stack_id stack = stack_of(jni, thread);
    put(jni, self, &f, stack, threads_by_tid(jni, owner > 0 ? (uint64_t)owner : 0), thread);
    note_pinned(jni, thread, &f, stack);
}

void open_waits_owner(uint64_t tid, uint64_t owner)
{
    const struct told_owner o = {tid, owner};
    buf_put(&told.owners, &o, sizeof o);
}

/* Such a thread is asked for one by one. */
static void look_at_virtual(JNIEnv *jni, bool any, const char *question)
{
    enum { MOST = 2000 };
    struct err ignored;
    int left_out = any && agent.virtual_threads ? query_virtual_waits(jni, MOST, &ignored) : 0;
    if (left_out > 0)
        lacks_note("of %d virtual threads Orca asked %d, blocked ones first, what they %s: of the "
                   "others it is unknown",
                   MOST + left_out, MOST, question);
}

/* --- platform threads ------------------------------------------------------------------------- */

/* A wait that was under way before the recording began.  The state was taken at a safepoint, the
 * blocker now: if the thread still parks, it is of this park. */
static void look_at(JNIEnv *jni, struct os_thread *self, const jvmtiStackInfo *info, uint32_t id)
{
    enum event_kind kind = wait_of_state(info->state);
    struct park_info p = {.wanted = true};
    if (kind == EV_park_enter) {
        p = park_info(jni, info->thread, NULL);
        if (wait_of(info->thread) != EV_park_enter || !p.wanted)
            return;
    }
    put_found(jni, self, info, id, &p, clock_mono_ns());
}

/* Whether it is among the first n, which were looked at by themselves: a platform thread that a
 * virtual one blocks. */
static bool is_found(uint32_t id, size_t n)
{
    size_t all;
    const struct found *v = found_all(&all);
    for (size_t i = 0; i < n; i++)
        if (v[i].id == id)
            return true;
    return false;
}

void open_waits_found(JNIEnv *jni, struct os_thread *self, const jvmtiStackInfo *all,
                      const uint32_t *ids, jint n)
{
    buf_init(&found);
    buf_init(&told.lines);
    buf_init(&told.owners);
    bool any = is_wanted(EV_monitor_contended_enter) || is_wanted(EV_park_enter) ||
               is_wanted(EV_wait_enter) || is_wanted(EV_sleep_enter);
    look_at_virtual(jni, any && agent.attached, "had waited for before the attach");
    size_t by_itself = found.len / sizeof(struct found);
    ask(jni, all, n);
    /* First those of the moment when it was asked: a thread's events are in the order of time. */
    for (jint i = 0; i < n; i++) {
        enum event_kind kind = wait_of_state(all[i].state);
        if (ids[i] && is_wanted(kind) && is_of_monitor(kind) && !is_found(ids[i], by_itself)) {
            struct park_info p = monitor_of(jni, &all[i], kind);
            put_found(jni, self, &all[i], ids[i], &p, told.time);
        }
    }
    for (jint i = 0; i < n; i++) {
        enum event_kind kind = wait_of_state(all[i].state);
        if (ids[i] && is_wanted(kind) && !is_of_monitor(kind) && !is_found(ids[i], by_itself))
            look_at(jni, self, &all[i], ids[i]);
    }
    put_pinned(self);
    buf_fini(&told.lines);
    buf_fini(&told.owners);
}

/* --- the change to the next file -------------------------------------------------------------- */

static void list_own(void *ctx, const struct os_thread *t)
{
    struct event e = {
        .kind = EV_wait_open, .size = event_kinds[EV_wait_open].size, .thread = t->id};
    e.wait_open.kind = atomic_load_explicit(&t->open_kind, memory_order_relaxed);
    e.wait_open.lock.v = atomic_load_explicit(&t->open_lock, memory_order_relaxed);
    e.wait_open.since = atomic_load_explicit(&t->open_since, memory_order_relaxed);
    e.wait_open.limit = atomic_load_explicit(&t->open_limit, memory_order_relaxed);
    if (e.wait_open.kind && t->id.v)
        buf_put(ctx, &e, sizeof e);
}

void open_waits_now(void *ctx, struct buf *events)
{
    (void)ctx;
    threads_each_soon(list_own, events);
}

void open_waits_forget(const bool *off)
{
    size_t n;
    struct found *v = found_all(&n);
    for (size_t i = 0; i < n; i++)
        if (v[i].kind && off[event_kinds[v[i].kind].group])
            v[i].kind = 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

struct end {
    struct os_thread *self;
    const struct map *waiting;
    struct map seen; /* ids of the threads that have come by */
};

static void put_open(struct os_thread *self, const struct found *f)
{
    struct event *e = ring_begin(self->ring, EV_wait_open, (thread_id){f->id}, clock_mono_ns());
    if (!e)
        return;
    e->wait_open.kind = f->kind;
    e->wait_open.lock.v = f->lock;
    e->wait_open.since = f->time;
    e->wait_open.limit = f->limit;
    e->wait_open.owner.v = e->wait_open.stack.v = 0;
    ring_commit(self->ring, e);
}

/* The wait that the thread itself has noted.  If it waits by what the JVM says: Object.wait by a
 * thread that does not own the monitor is announced on JDK 17, throws, and has no end. */
static void note_own(void *ctx, const struct os_thread *t)
{
    struct end *end = ctx;
    map_put(&end->seen, t->id.v);
    struct found f = {.id = t->id.v,
                      .kind = atomic_load_explicit(&t->open_kind, memory_order_relaxed),
                      .lock = atomic_load_explicit(&t->open_lock, memory_order_relaxed),
                      .limit = atomic_load_explicit(&t->open_limit, memory_order_relaxed),
                      .time = atomic_load_explicit(&t->open_since, memory_order_relaxed)};
    const uint64_t *kind = map_find(end->waiting, f.id);
    bool timed = sums_were_made() && sums_timed_since(t->id); /* reported, with its purpose */
    if (f.kind && kind && *kind == f.kind && !timed)
        put_open(end->self, &f);
}

/* It is in a wait as it was found in.  Its thread is not current. */
static bool is_in(JNIEnv *jni, const struct found *f)
{
    jthread thread = (*jni)->NewLocalRef(jni, f->thread);
    bool same = f->kind && thread && wait_of(thread) == f->kind;
    if (same && f->kind == EV_park_enter)
        same = park_lock(jni, thread).lock.v == f->lock;
    (*jni)->DeleteLocalRef(jni, thread);
    return same;
}

/* A thread that was found waiting, waits in that way now, and never came by here, has waited all
 * the time: had it waited again, it would have.  Of a virtual thread the analyser knows whether it
 * came by: it is in no record here. */
static void note_found_ones(JNIEnv *jni, const struct end *end)
{
    size_t n;
    const struct found *v = found_all(&n);
    for (size_t i = 0; i < n; i++) {
        if (is_in(jni, &v[i]) && !map_find(&end->seen, v[i].id))
            put_open(end->self, &v[i]);
        (*jni)->DeleteWeakGlobalRef(jni, v[i].thread);
    }
    buf_clear(&found);
}

/* Of a park that was only timed: what it is for. */
static void add_placed(thread_id thread, struct ev_wait_open *w)
{
    const struct sums_wait *v = (const void *)placed.p;
    for (size_t i = 0; i < placed.len / sizeof *v && !w->stack.v; i++)
        if (v[i].thread.v == thread.v && v[i].since == w->since) {
            w->lock = v[i].lock;
            w->owner = v[i].owner;
            w->stack = v[i].stack;
        }
}

/* The waits without an event for their beginning. */
static void put_noted(struct os_thread *self)
{
    struct buf noted;
    buf_init(&noted);
    sums_open_waits(&noted);
    const struct event *v = (const void *)noted.p;
    for (size_t i = 0; i < noted.len / sizeof *v; i++) {
        struct event *e = ring_begin(self->ring, EV_wait_open, v[i].thread, clock_mono_ns());
        if (!e)
            continue;
        e->wait_open = v[i].wait_open;
        add_placed(v[i].thread, &e->wait_open);
        ring_commit(self->ring, e);
    }
    buf_fini(&noted);
}

void open_waits_end(JNIEnv *jni, struct os_thread *self, const struct map *waiting)
{
    struct end end = {.self = self, .waiting = waiting};
    map_init(&end.seen);
    sums_flush(true);
    at_end = clock_mono_ns();
    look_at_virtual(jni, sums_were_made() && sums_timed_since((thread_id){0}),
                    "wait for at the end");
    at_end = 0;
    put_noted(self);
    buf_fini(&placed);
    threads_each(note_own, &end);
    note_found_ones(jni, &end);
    map_fini(&end.seen);
}

static void note_seen(void *ctx, const struct os_thread *t)
{
    map_put(ctx, t->id.v);
}

/* Whether the trace will show when it is over: JVMTI posts the end of a wait that began before (17
 * to 25), and what parks without a limit needs an unpark or an interrupt.  A sleep has neither. */
static bool is_followed(const struct found *f)
{
    return is_of_monitor(f->kind) || (f->kind == EV_park_enter && f->limit == WAIT_UNLIMITED &&
                                      agent.settings.groups[GROUP_interrupts]);
}

void open_waits_again(JNIEnv *jni, struct os_thread *self)
{
    struct map seen;
    size_t n;
    const struct found *v = found_all(&n);
    map_init(&seen);
    threads_each(note_seen, &seen);
    for (size_t i = 0; i < n; i++)
        if (is_followed(&v[i]) && !map_find(&seen, v[i].id) && is_in(jni, &v[i]))
            put_open(self, &v[i]);
    map_fini(&seen);
}
