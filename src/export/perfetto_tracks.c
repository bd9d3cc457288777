/* perfetto_tracks.c - the tracks of a Perfetto trace: the process, its threads, locks and collector
 * pauses. */
#include "base/map.h"
#include "base/utf8.h"
#include "export/model_names.h"
#include "export/perfetto_parts.h"
#include "export/proto.h"

#include <errno.h>
#include <inttypes.h>

/* Numbers of fields in perfetto_trace.proto: of TrackDescriptor and what is inside. */
enum {
    TRACK_PROCESS_FIELD = 3,
    TRACK_THREAD_FIELD = 4,
    TRACK_COUNTER_FIELD = 8,
    PROCESS_PID = 1,
    PROCESS_COMMAND = 2,
    PROCESS_NAME = 6,
    PROCESS_LABELS = 8,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    COUNTER_UNIT_NAME = 6,
};

/* Thread and process numbers of our own are beyond those that Linux gives (2^22). */
enum { OWN_NUMBERS = 1 << 23 };

static uint32_t process_number(const struct trace *t)
{
    return t->header.pid ? t->header.pid : OWN_NUMBERS;
}

static void put_process(struct perfetto *f)
{
    struct buf *raw = &f->p.raw;
    const struct trace *t = f->a->trace;
    struct buf text = {0};
    packets_track_begin(&f->p, packets_track_id(&f->p, TRACK_PROCESS, 0), 0, NULL);
    size_t at = proto_begin(raw, TRACK_PROCESS_FIELD);
    proto_uint(raw, PROCESS_PID, process_number(t));
    utf8_put(&text, trace_info(t, "sun.java.command", "Java"));
    proto_text(raw, PROCESS_COMMAND, buf_str(&text));
    proto_bytes(raw, PROCESS_NAME, buf_str(&text), strcspn(buf_str(&text), " "));
    if (trace_lost(t)) {
        buf_clear(&text);
        buf_printf(&text, "%" PRIu64 " events were lost", trace_lost(t));
        proto_text(raw, PROCESS_LABELS, buf_str(&text));
    }
    proto_end(raw, at);
    packets_track_end(&f->p);
    buf_fini(&text);
}

static void put_thread(struct perfetto *f, uint32_t thread, uint64_t number)
{
    struct buf *raw = &f->p.raw;
    struct buf name = {0};
    names_thread(&name, f->a, thread);
    packets_track_begin(&f->p, packets_track_id(&f->p, TRACK_THREAD, thread), 0, NULL);
    size_t at = proto_begin(raw, TRACK_THREAD_FIELD);
    proto_uint(raw, THREAD_PID, process_number(f->a->trace));
    proto_uint(raw, THREAD_TID, number);
    proto_text(raw, THREAD_NAME, buf_str(&name));
    proto_end(raw, at);
    packets_track_end(&f->p);
    buf_fini(&name);
}

/* The kernel's number tells a thread in other traces of the machine; virtual threads have none, and
 * of two that had the same, one after the other, only the first keeps it. */
static int put_threads(struct perfetto *f)
{
    struct map taken;
    int rc = 0;
    map_init(&taken);
    for (uint32_t i = 1; i < f->a->threads.n && rc == 0; i++) {
        const struct thread_stats *s = &f->a->threads.v[i];
        uint32_t tid = trace_thread(f->a->trace, s->id)->os_tid;
        uint64_t *place = tid ? map_put(&taken, tid) : NULL;
        if (!selection_has(&f->x->options.selection, i) || (s->gone && !s->seen))
            continue;
        if (tid && !place)
            rc = -ENOMEM;
        else if (tid && tid < OWN_NUMBERS && !*place)
            put_thread(f, i, tid);
        else
            put_thread(f, i, OWN_NUMBERS + (uint64_t)i);
        if (place)
            *place = 1;
    }
    map_fini(&taken);
    return rc;
}

static void put_group(struct perfetto *f, enum packet_track track, const char *name)
{
    packets_track_begin(&f->p, packets_track_id(&f->p, track, 0),
                        packets_track_id(&f->p, TRACK_PROCESS, 0), name);
    packets_track_end(&f->p);
}

void perfetto_put_lock(struct perfetto *f, lock_id lock)
{
    struct buf name = {0};
    uint64_t track = packets_track_id(&f->p, TRACK_LOCK, lock.v);
    names_class(&name, f->a, lock_set_group(&f->a->locks, lock));
    buf_printf(&name, " #%u", lock.v);
    packets_track_begin(&f->p, track, packets_track_id(&f->p, TRACK_LOCKS, 0), buf_str(&name));
    packets_track_end(&f->p);
    packets_track_begin(&f->p, packets_track_id(&f->p, TRACK_QUEUE, lock.v), track, "queue");
    size_t at = proto_begin(&f->p.raw, TRACK_COUNTER_FIELD);
    proto_text(&f->p.raw, COUNTER_UNIT_NAME, "threads");
    proto_end(&f->p.raw, at);
    packets_track_end(&f->p);
    buf_fini(&name);
}

/* Between the two, arguments. */
static void begin_slice(struct perfetto *f, uint64_t track, uint64_t time, unsigned category,
                        enum packet_text kind, uint32_t name)
{
    packets_event(&f->p, EVENT_BEGIN, track, time);
    packets_category(&f->p, category);
    packets_name(&f->p, kind, name);
}

static void end_slice(struct perfetto *f, uint64_t track, uint64_t time)
{
    packets_end(&f->p);
    packets_event(&f->p, EVENT_END, track, time);
    packets_end(&f->p);
}

static void put_pauses(struct perfetto *f)
{
    const struct pause *v = (const void *)f->a->decoded.pauses.p;
    uint64_t track = packets_track_id(&f->p, TRACK_GC, 0);
    for (size_t i = 0; i < f->a->decoded.pauses.len / sizeof *v; i++) {
        uint64_t start = v[i].start, end = v[i].end;
        if (!selection_clip(&f->x->options.selection, &start, &end))
            continue;
        begin_slice(f, track, start, CATEGORY_GC, TEXT_WORD, WORD_GC_PAUSE);
        end_slice(f, track, end);
    }
}

static void put_stops(struct perfetto *f)
{
    const struct safepoints *all = &f->a->safepoints;
    uint64_t track = packets_track_id(&f->p, TRACK_STOPS, 0);
    if (all->n)
        put_group(f, TRACK_STOPS, "Safepoints");
    for (size_t i = 0; i < all->n; i++) {
        uint64_t from = all->v[i].from, to = all->v[i].to;
        if (!selection_clip(&f->x->options.selection, &from, &to))
            continue;
        begin_slice(f, track, from, CATEGORY_STOP, TEXT_OPERATION, all->v[i].operation.v);
        packets_arg_number(&f->p, ARG_reached_ns, all->v[i].reached - all->v[i].from);
        end_slice(f, track, to);
    }
}

static void put_thread_halts(struct perfetto *f, uint32_t thread)
{
    const struct still_line *l = stills_of(&f->a->halts, thread);
    uint64_t track = packets_track_id(&f->p, TRACK_HALTS, thread);
    bool has_track = false;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct still *s = &l->v[i];
        uint64_t from = s->from, to = s->to;
        if (!(f->x->options.states >> (WAITS_HALTED + halt_of(s)) & 1) ||
            !selection_clip(&f->x->options.selection, &from, &to))
            continue;
        if (!has_track) {
            packets_track_begin(&f->p, track, packets_track_id(&f->p, TRACK_THREAD, thread),
                                "not running");
            packets_track_end(&f->p);
            has_track = true;
        }
        begin_slice(f, track, from, CATEGORY_HALT + halt_of(s), TEXT_HALT, s->what);
        if (s->peer.v)
            packets_arg_text(&f->p, ARG_peer, TEXT_CLASS, lock_set_group(&f->a->locks, s->peer));
        if (s->stack.v)
            packets_arg_text(&f->p, ARG_stack, TEXT_STACK, s->stack.v);
        end_slice(f, track, to);
    }
}

int perfetto_put_tracks(struct perfetto *f)
{
    put_process(f);
    TRY(put_threads(f));
    put_group(f, TRACK_LOCKS, "Locks");
    put_group(f, TRACK_GC, "GC pauses");
    put_pauses(f);
    put_stops(f);
    for (uint32_t i = 1; i < f->a->threads.n; i++)
        if (selection_has(&f->x->options.selection, i))
            put_thread_halts(f, i);
    return 0;
}
