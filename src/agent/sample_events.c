#include "agent/sample_events.h"

#include "agent/lacks.h"
#include "agent/methods.h"
#include "agent/modules.h"
#include "agent/stacks.h"
#include "agent/threads.h"
#include "base/buf.h"
#include "base/util.h"
#include "hotspot/walker.h"
#include "record/way.h"
#include "unwind/libraries.h"

#include <stdlib.h>
#include <string.h>

enum { STACKS_MAX = 1 << 20 };

static struct {
    struct buf events;          /* struct sample_event, to be written */
    struct buf taken;           /* const struct sample *, of this collection */
    uint64_t written;           /* the last event's time */
    uint64_t lost;              /* samples_lost() when last looked at */
    uint64_t walked, failed;    /* samples of Java threads: compiled frames are known, or not */
    bool looks;                 /* those by the wall clock are of the group looks */
    struct stack_frame *frames; /* of one stack: [DEPTH_MAX] */
    uint8_t *kinds;
    struct way
        by_frames; /* a stack as it was taken -> its id: what is met again is looked up once */
} out;

void sample_events_reset(void)
{
    buf_clear(&out.events);
    buf_clear(&out.taken);
    out.written = out.walked = out.failed = 0;
    way_fini(&out.by_frames);
    out.lost = samples_lost();
}

void sample_events_look(bool looks)
{
    out.looks = looks;
}

void sample_events_put(const struct sample_event *e)
{
    buf_put(&out.events, e, sizeof *e);
}

/* --- ids -------------------------------------------------------------------------------------- */

static thread_id thread_of(const struct sample *s)
{
    uint32_t id = s->java_tid ? thread_table_find(agent.table, s->java_tid) : 0;
    if (id) /* a virtual thread that has had an event; else its carrier */
        return (thread_id){id};
    return s->subject.id ? (thread_id){s->subject.id} : threads_native(s->subject.os_tid);
}

static uint8_t kind_of(const struct sample_frame *f)
{
    static const uint8_t kinds[] = {
        [WALK_INTERPRETED] = FRAMEKIND_INTERPRETED, [WALK_COMPILED] = FRAMEKIND_COMPILED,
        [WALK_INLINED] = FRAMEKIND_INLINED,         [WALK_NATIVE] = FRAMEKIND_NATIVE_METHOD,
        [WALK_NATIVE_CODE] = FRAMEKIND_NATIVE_CODE, [WALK_STUB] = FRAMEKIND_STUB,
        [SAMPLE_KERNEL] = FRAMEKIND_KERNEL,
    };
    uint8_t kind = f->kind < sizeof kinds ? kinds[f->kind] : FRAMEKIND_UNKNOWN;
    return (uint8_t)(kind | (f->near && !agent.all_places ? FRAMEKIND_NEAR : 0) |
                     f->level << FRAMEKIND_LEVEL_SHIFT);
}

/* Behind a call the pc is that of the next instruction, which may be another function's. */
static uintptr_t call_of(const struct sample_frame *f, bool interrupted)
{
    return f->stamp - !interrupted;
}

/* interrupted: the pc is where it was, no return address. */
static method_id method_of(const struct sample_frame *f, bool interrupted)
{
    if (f->kind == SAMPLE_KERNEL)
        return methods_id_of_place(modules_kernel(), call_of(f, interrupted));
    if (f->kind == WALK_NATIVE_CODE)
        return modules_place(call_of(f, interrupted));
    if (f->kind == WALK_STUB) {
        char name[128];
        walker_stub_name(agent.walker, f->stamp, name, sizeof name);
        return methods_id_of_stub(name);
    }
    return (method_id){f->method ? methods_known(f->method, f->stamp) : 0};
}

static bool is_cut(const struct sample *s)
{
    return s->flags & (WALK_CUT_DEPTH | WALK_CUT_UNTHAWED);
}

_Static_assert(sizeof(struct sample_frame) == 24, "frames are hashed as they are: no padding");

/* All that new_stack goes by. */
static struct hash128 key_of(const struct sample *s)
{
    struct hash128 key =
        hash_bytes128(sample_frames(s), (size_t)s->n * sizeof(struct sample_frame));
    key.lo ^= hash_u64(libraries_changes(walker_libraries(agent.walker)));
    key.hi ^= (uint64_t)(is_cut(s) | s->still << 1);
    return key;
}

/* A stack of which not every method is known is not remembered. */
static stack_id new_stack(const struct sample *s, struct hash128 key)
{
    const struct sample_frame *f = sample_frames(s);
    uint32_t n = (uint32_t)s->n;
    bool all = true;
    for (uint32_t i = 0; i < n; i++) {
        bool first = i == 0 || (f[i - 1].kind == SAMPLE_KERNEL && f[i].kind != SAMPLE_KERNEL);
        out.frames[i] = (struct stack_frame){method_of(&f[i], first && !s->still), f[i].bci};
        out.kinds[i] = kind_of(&f[i]);
        all = all && out.frames[i].method.v;
    }
    stack_id id = stacks_of_kinds(out.frames, out.kinds, n, is_cut(s));
    if (all && id.v)
        way_put(&out.by_frames, key, id.v);
    return id;
}

static stack_id stack_of(const struct sample *s)
{
    struct hash128 key = key_of(s);
    stack_id id = {way_find(&out.by_frames, key)};
    return id.v ? id : new_stack(s, key);
}

/* --- from samples to events ------------------------------------------------------------------- */

/* First of all samples, whichever was taken before: the methods that they met. */
static void take(void *ctx, const struct sample *s)
{
    UNUSED(ctx);
    const struct method_met *met = sample_met(s);
    for (uint32_t i = 0; i < s->n_met; i++)
        methods_id_of_text(met[i].method, met[i].stamp, agent.walker, &met[i].text);
    buf_put(&out.taken, &s, sizeof s);
}

/* Frames of compiled code that have a method, and those that have none; a sample in Java without any
 * frame is one of these.  One between Java and the JVM, or at a collection, says nothing about code. */
static void count_compiled(const struct sample *s, uint64_t *known, uint64_t *unknown)
{
    const struct sample_frame *f = sample_frames(s);
    *known = 0;
    *unknown = s->n == -(int32_t)SAMPLE_ERROR_unknown_java ||
               s->n == -(int32_t)SAMPLE_ERROR_not_walkable_java;
    for (int32_t i = 0; i < s->n; i++)
        if (f[i].kind == WALK_COMPILED)
            ++*(f[i].method && f[i].stamp ? known : unknown);
}

/* Of compiled code there is too little at the start for a proof (walk_proof.h). */
static void note_failures(const struct sample *s)
{
    enum { MANY = 8 };
    uint64_t known, unknown;
    if (!s->subject.java_thread || s->still)
        return;
    count_compiled(s, &known, &unknown);
    out.walked += known && !unknown;
    out.failed += unknown != 0;
    if (unknown && out.failed >= MANY && out.failed > out.walked)
        lacks_note("most samples in compiled code have no stack on this JVM");
}

static void make_event(const struct sample *s, sample_event_fn made, void *ctx)
{
    note_failures(s);
    struct sample_event e = {.group = (enum sample_group)s->group,
                             .thread = thread_of(s),
                             .time = s->time,
                             .weight = s->weight};
    if (s->n > 0)
        e.stack = stack_of(s);
    else
        e.error = (uint32_t)-s->n;
    e.flags = (s->flags & WALK_NEAR ? SAMPLE_NEAR : 0u) |
              (s->still && !s->ready ? SAMPLE_IDLE | SAMPLE_ASLEEP : 0u) |
              (out.looks && e.group == SAMPLE_WALL ? SAMPLE_LOOK : 0u);
    if (!(e.flags & SAMPLE_LOOK) || e.stack.v) /* a look that saw nothing says nothing */
        sample_events_put(&e);
    if (made)
        made(ctx, s, &e);
}

static int by_time(const void *a, const void *b)
{
    const struct sample_event *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* The fields of cpu_sample and wall_sample are the same. */
_Static_assert(sizeof(struct ev_cpu_sample) == sizeof(struct ev_wall_sample), "one form");

static void write_event(struct ring *ring, const struct sample_event *s)
{
    out.written = max_u64(out.written, s->time);
    struct event *e = ring_begin(ring, s->group == SAMPLE_CPU ? EV_cpu_sample : EV_wall_sample,
                                 s->thread, out.written);
    if (!e)
        return;
    e->cpu_sample = (struct ev_cpu_sample){.stack = s->stack,
                                           .weight = s->weight,
                                           .flags = s->flags,
                                           .error = s->error,
                                           .taken = s->time};
    ring_commit(ring, e);
}

static void write_open(struct ring *ring, const struct sample_event *s)
{
    struct event *e = ring_begin(ring, EV_io_open, s->thread, out.written);
    if (!e)
        return;
    e->io_open = (struct ev_io_open){
        .what = s->open.what, .peer = s->open.peer, .since = s->since, .stack = s->stack};
    ring_commit(ring, e);
}

static void write_events(struct ring *ring)
{
    struct sample_event *e = (struct sample_event *)(void *)out.events.p;
    size_t n = out.events.len / sizeof *e;
    if (n)
        qsort(e, n, sizeof *e, by_time);
    for (size_t i = 0; i < n; i++) {
        write_event(ring, &e[i]);
        if (e[i].open.what)
            write_open(ring, &e[i]);
    }
    buf_clear(&out.events);
}

static bool has_room(void)
{
    if (!out.frames)
        out.frames = calloc(DEPTH_MAX, sizeof *out.frames);
    if (!out.kinds)
        out.kinds = calloc(DEPTH_MAX, sizeof *out.kinds);
    if (!out.by_frames.ids && way_init(&out.by_frames, STACKS_MAX) < 0)
        way_fini(&out.by_frames);
    return out.frames && out.kinds && out.by_frames.ids;
}

void sample_events_collect(struct ring *ring, sample_event_fn made, void *ctx)
{
    if (!has_room())
        return;
    modules_refresh();
    samples_collect(take, NULL);
    const struct sample *const *taken = (const struct sample *const *)(void *)out.taken.p;
    for (size_t i = 0; i < out.taken.len / sizeof *taken; i++)
        make_event(taken[i], made, ctx);
    buf_clear(&out.taken);
    write_events(ring);
    uint64_t lost = samples_lost();
    if (lost != out.lost)
        recorder_count_loss(agent.rec, LOSS_sample, lost - out.lost);
    out.lost = lost;
}
