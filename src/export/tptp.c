/* tptp.c - Eclipse TPTP's XML: PREFIX.trcxml, the ten thread events of TPTP 4.5 and its heap's
 * (docs/reference/tptp.md).
 *
 * The attributes and their order are those of docs/reference/orca-tptp.dtd; unknown values are left
 * out.  Waits, sleeps and joins are in tptp_waits.c, objects in tptp_heap.c. */
#include "base/util.h"
#include "export/tptp_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const size_t frames_kept = (size_t)32 << 20; /* bytes; the agent writes while the JVM ends */

static const char *const suffixes[] = {".trcxml", NULL};

/* --- begin and end ---------------------------------------------------------------------------- */

static int allocate(struct export *x)
{
    const struct trace *t = x->trace;
    struct tptp *p = calloc(1, sizeof *p);
    x->state = p;
    if (!p)
        return -ENOMEM;
    arena_init(&p->arena, frames_kept);
    buf_init(&p->scratch);
    buf_init(&p->defined);
    p->threads = calloc(t->n_threads + 1, sizeof *p->threads);
    p->frames = calloc(t->n_stacks + 1, sizeof *p->frames);
    if (!p->threads || !p->frames)
        return -ENOMEM;
    p->joins_have_waits =
        event_joins_have_waits(trace_info(t, "orca.events", ""), trace_info(t, "orca.include", ""),
                               trace_info(t, "orca.exclude", ""));
    p->has_no_timeouts = *trace_info(t, "import.format", "") && !tptp_is_import(t);
    p->n_damaged = t->n_damaged;
    TRY(tptp_heap_init(x));
    return tptp_find_threads(x);
}

static int out_of_memory(const struct export *x, struct err *err)
{
    return err_set(err, -ENOMEM, "%s: out of memory", x->trace->path);
}

static int begin(struct export *x, struct err *err)
{
    if (allocate(x) < 0)
        return out_of_memory(x, err);
    tptp_head(x);
    return 0;
}

static int end(struct export *x, struct err *err)
{
    const struct tptp *p = x->state;
    tptp_foot(x);
    return p->scratch.oom || p->defined.oom ? out_of_memory(x, err) : 0;
}

static void fini(struct export *x)
{
    struct tptp *p = x->state;
    if (!p)
        return;
    free(p->threads);
    free(p->thread_of);
    map_fini(&p->threads_of);
    buf_fini(&p->defined);
    tptp_heap_fini(p);
    free(p->frames);
    arena_fini(&p->arena);
    buf_fini(&p->scratch);
    free(p);
    x->state = NULL;
}

/* --- threads ---------------------------------------------------------------------------------- */

static void write_start(struct export *x, thread_id id, uint64_t time, bool alive)
{
    const struct trace_thread *t = trace_thread(x->trace, id);
    struct out *o = &x->files[0];
    bool is_virtual = t->flags & THREAD_VIRTUAL;
    uint64_t object = tptp_thread_object(x, id);
    out_text(o, "<threadStart");
    tptp_attr_number(x, "threadId", id.v);
    tptp_attr_time(x, time);
    tptp_attr(x, "groupName", t->id.v ? t->group : "");
    tptp_attr(x, "parentName", t->id.v ? t->parent_group : "");
    tptp_attr_object(x, "objIdRef", object);
    tptp_note_object(x, object, true);
    if (t->id.v)
        tptp_attr(x, "threadName", t->name);
    bool is_daemon = t->flags & THREAD_DAEMON;
    if (!is_virtual && !is_daemon && !alive) {
        tptp_end_empty(x);
        return;
    }
    out_char(o, '>');
    if (is_virtual)
        tptp_annotation(x, "orca.virtual", "1");
    if (is_daemon)
        tptp_annotation(x, "orca.daemon", "1");
    if (alive)
        tptp_annotation(x, "orca.alive", "1");
    out_text(o, "</threadStart>");
    out_newline(o);
}

static void forget(struct tptp_thread *t)
{
    t->open = 0;
    t->join = 0;
    t->interrupted = false;
}

void tptp_introduce(struct export *x, thread_id id, uint64_t time)
{
    struct tptp_thread *t = tptp_thread_state(x, id);
    if (!t || t->started || t->ended)
        return;
    t->started = true;
    write_start(x, id, time, true);
}

static void thread_start(struct export *x, struct tptp_thread *t, const struct event *e)
{
    if (t->started || !tptp_thread_state(x, e->thread))
        return;
    *t = (struct tptp_thread){.started = true};
    write_start(x, e->thread, e->time, false);
}

static void thread_alive(struct export *x, struct tptp_thread *t, const struct event *e)
{
    UNUSED(t);
    tptp_introduce(x, e->thread, e->time);
}

static void thread_end(struct export *x, struct tptp_thread *t, const struct event *e)
{
    tptp_begin(x, "threadEnd", "threadIdRef", e);
    tptp_end_empty(x);
    *t = (struct tptp_thread){.ended = true};
}

/* `in`: the element of the target, where it has to be written, which is hidden; NULL: not
 * needed. */
static void call_on_thread(struct export *x, const char *name, const struct event *e,
                           thread_id target, stack_id stack, const char *in)
{
    uint64_t object = tptp_thread_object(x, target);
    tptp_define(x, object, (class_id){0});
    if (in)
        tptp_hide(x);
    tptp_begin(x, name, "threadId", e);
    tptp_attr_object(x, "objIdRef", object);
    if (in)
        tptp_attr(x, "in", in);
    tptp_end(x, name, (lock_id){0}, stack);
}

static void call_start(struct export *x, struct tptp_thread *t, const struct event *e)
{
    UNUSED(t);
    call_on_thread(x, "callStart", e, e->thread_start_called.target, e->thread_start_called.stack,
                   NULL);
}

/* TPTP's is only of a thread that waits: getState() is WAITING or TIMED_WAITING.  Others also say
 * what ends the next wait. */
static void call_interrupt(struct export *x, struct tptp_thread *t, const struct event *e)
{
    UNUSED(t);
    const struct ev_interrupt *i = &e->interrupt;
    bool waits = i->target_in && i->target_in != EV_monitor_contended_enter;
    bool known = i->target_in && i->target_in < EV_LIMIT &&
                 event_kinds[i->target_in].name; /* a trace may lie */
    const char *in = known ? event_kinds[i->target_in].name : "none";
    call_on_thread(x, "callInterrupt", e, i->target, i->stack, waits ? NULL : in);
}

static void thread_interrupted(struct export *x, struct tptp_thread *t, const struct event *e)
{
    t->interrupted = true;
    tptp_begin(x, "threadInterrupted", "threadId", e);
    tptp_end(x, "threadInterrupted", (lock_id){0}, e->interrupted.stack);
}

/* --- monitors --------------------------------------------------------------------------------- */

static void contended_enter(struct export *x, struct tptp_thread *t, const struct event *e)
{
    UNUSED(t);
    const struct ev_monitor_contended_enter *m = &e->monitor_contended_enter;
    uint64_t object = tptp_lock_object(x, m->lock);
    tptp_introduce(x, m->owner, e->time);
    tptp_define_lock(x, object, m->lock);
    tptp_begin(x, "monContendedEnter", "threadIdRef", e);
    tptp_attr_object(x, "objIdRef", object);
    tptp_attr_thread(x, "threadOwner", m->owner);
    tptp_end(x, "monContendedEnter", m->lock, m->stack);
}

/* What the owner executed: the format has stacks of one thread only. */
static void owner_stack(struct export *x, struct tptp_thread *t, const struct event *e)
{
    UNUSED(t);
    const struct ev_owner_stack *s = &e->owner_stack;
    uint64_t object = tptp_lock_object(x, s->lock);
    tptp_introduce(x, s->owner, e->time);
    tptp_define_lock(x, object, s->lock);
    tptp_hide(x);
    tptp_begin(x, "ownerStack", "threadIdRef", e);
    tptp_attr_object(x, "objIdRef", object);
    tptp_attr_thread(x, "threadOwner", s->owner);
    tptp_end(x, "ownerStack", s->lock, s->stack);
}

static void contended_entered(struct export *x, struct tptp_thread *t, const struct event *e)
{
    UNUSED(t);
    lock_id lock = e->monitor_contended_entered.lock;
    uint64_t object = tptp_lock_object(x, lock);
    tptp_define_lock(x, object, lock);
    tptp_begin(x, "monContendedEntered", "threadIdRef", e);
    tptp_attr_object(x, "objIdRef", object);
    tptp_end_empty(x);
}

static void call_notify(struct export *x, const struct event *e, lock_id lock, stack_id stack,
                        const char *all)
{
    uint64_t object = tptp_lock_object(x, lock);
    tptp_define_lock(x, object, lock);
    tptp_begin(x, "callNotify", "threadId", e);
    tptp_attr_object(x, "objIdRef", object);
    tptp_attr(x, "isNotifyAll", all);
    tptp_end(x, "callNotify", lock, stack);
}

static void notify(struct export *x, struct tptp_thread *t, const struct event *e)
{
    UNUSED(t);
    call_notify(x, e, e->notify.lock, e->notify.stack, "0");
}

static void notify_all(struct export *x, struct tptp_thread *t, const struct event *e)
{
    UNUSED(t);
    call_notify(x, e, e->notify_all.lock, e->notify_all.stack, "1");
}

/* --- events ----------------------------------------------------------------------------------- */

/* A collector's pause, whose thread is none of the program's. */
static void gc_start(struct export *x, struct tptp_thread *t, const struct event *e)
{
    UNUSED(t);
    out_text(&x->files[0], "<gcStart");
    tptp_attr_time(x, e->time);
    tptp_end_empty(x);
}

static void gc_finish(struct export *x, struct tptp_thread *t, const struct event *e)
{
    UNUSED(t);
    out_text(&x->files[0], "<gcFinish");
    tptp_attr_time(x, e->time);
    if (e->gc_finish.used)
        tptp_attr_number(x, "usedObjSpace", e->gc_finish.used);
    if (e->gc_finish.committed)
        tptp_attr_number(x, "totalObjSpace", e->gc_finish.committed);
    tptp_end_empty(x);
}

static void lost(struct export *x, struct tptp_thread *t, const struct event *e)
{
    UNUSED(x);
    UNUSED(e);
    forget(t);
}

/* What writes a kind; `introduces`: its thread must have had its threadStart. */
static const struct {
    void (*write)(struct export *x, struct tptp_thread *t, const struct event *e);
    bool introduces;
} kinds[EV_LIMIT] = {
    [EV_lost] = {lost, false},
    [EV_wait_found] = {tptp_wait_found, true},
    [EV_wait_open] = {tptp_wait_open, true},
    [EV_thread_start] = {thread_start, false},
    [EV_thread_alive] = {thread_alive, false},
    [EV_thread_end] = {thread_end, true},
    [EV_thread_start_called] = {call_start, true},
    [EV_monitor_contended_enter] = {contended_enter, true},
    [EV_owner_stack] = {owner_stack, true},
    [EV_monitor_contended_entered] = {contended_entered, true},
    [EV_wait_enter] = {tptp_wait_enter, true},
    [EV_wait_exit] = {tptp_wait_exit, true},
    [EV_notify] = {notify, true},
    [EV_notify_all] = {notify_all, true},
    [EV_join_enter] = {tptp_join_enter, true},
    [EV_join_exit] = {tptp_join_exit, true},
    [EV_sleep_enter] = {tptp_sleep_enter, true},
    [EV_sleep_exit] = {tptp_sleep_exit, true},
    [EV_interrupt] = {call_interrupt, true},
    [EV_interrupted] = {thread_interrupted, true},
    [EV_object_alloc] = {tptp_object_alloc, true},
    [EV_object_sample] = {tptp_object_sample, true},
    [EV_object_free] = {tptp_object_free, false},
    [EV_gc_start] = {gc_start, false},
    [EV_gc_finish] = {gc_finish, false},
};

static bool has(unsigned kind)
{
    return kind < EV_LIMIT && kinds[kind].write;
}

/* Events of some thread could not be read: who was in a wait may no longer be. */
static void note_damage(struct export *x)
{
    struct tptp *p = x->state;
    if (p->n_damaged == x->trace->n_damaged)
        return;
    p->n_damaged = x->trace->n_damaged;
    for (size_t i = 0; i < x->trace->n_threads; i++)
        forget(&p->threads[i]);
}

static int event(struct export *x, const struct event *e, struct err *err)
{
    UNUSED(err);
    struct tptp_thread nobody = {.open = 0}, *t = tptp_thread_state(x, e->thread);
    note_damage(x);
    if (kinds[e->kind].introduces)
        tptp_introduce(x, e->thread, e->time);
    kinds[e->kind].write(x, t ? t : &nobody, e);
    return 0;
}

const struct exporter exporter_tptp = {
    .name = "tptp",
    .summary = "Eclipse TPTP's XML: threads, monitors, waits",
    .suffixes = suffixes,
    .leaves_out =
        "waits inside joins, parks under way at the beginning or the end, samples where every "
        "object is recorded, ends of objects of an earlier file",
    .begin = begin,
    .event = event,
    .end = end,
    .fini = fini,
    .has = has,
};
