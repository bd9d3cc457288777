/* perfetto_packets.h - the packets of a Perfetto trace: slices, moments, counters, tracks.
 *
 * The format is perfetto_trace.proto of github.com/google/perfetto.  Names and texts are interned:
 * the first packet that needs one carries it.  Packets need not come in the order of time, but
 * those of one track and one time do.  They are compressed in pieces
 * (TracePacket.compressed_packets), so that nothing here grows with the trace but one bit for each
 * thread, class and stack.
 *
 *     packets_event, packets_arg_..., packets_end         one event
 *     packets_track_begin, ..., packets_track_end         one track */
#ifndef ORCA_EXPORT_PERFETTO_PACKETS_H
#define ORCA_EXPORT_PERFETTO_PACKETS_H

#include "export/model_export.h"
#include "export/zip.h"

/* Arguments of events, by their names. */
#define PACKET_ARGS(A)                                                                             \
    A(lock_class)                                                                                  \
    A(lock)                                                                                        \
    A(owner)                                                                                       \
    A(owner_stack)                                                                                 \
    A(joins)                                                                                       \
    A(stack)                                                                                       \
    A(waker)                                                                                       \
    A(last_owner_seen)                                                                             \
    A(ended_by)                                                                                    \
    A(target)                                                                                      \
    A(woken)                                                                                       \
    A(open)                                                                                        \
    A(timed_out)                                                                                   \
    A(interrupted)                                                                                 \
    A(held_up)                                                                                     \
    A(unknown)                                                                                     \
    A(waits)                                                                                       \
    A(longest_queue)                                                                               \
    A(peer)                                                                                        \
    A(reached_ns)

enum packet_arg {
    ARG_NONE,
#define A(name) ARG_##name,
    PACKET_ARGS(A)
#undef A
        ARG_LIMIT
};

enum packet_type { /* TrackEvent.Type */
                   EVENT_BEGIN = 1,
                   EVENT_END = 2,
                   EVENT_INSTANT = 3,
                   EVENT_COUNTER = 4,
};

/* Kinds of tracks; those of threads, locks, queues and halts are as many as there are threads or
 * locks. */
enum packet_track {
    TRACK_PROCESS = 1,
    TRACK_GC,
    TRACK_LOCKS,
    TRACK_THREAD,
    TRACK_LOCK,
    TRACK_QUEUE,
    TRACK_STOPS,
    TRACK_HALTS /* below its thread: why it did not run, in no wait */
};

/* Categories of events: the states by their numbers, and these. */
enum packet_category {
    CATEGORY_ACT = WAIT_STATES, /* a thread did something that may end a wait */
    CATEGORY_WAKE,              /* a wait ended by it */
    CATEGORY_LOCK,
    CATEGORY_GC,
    CATEGORY_STOP,
    CATEGORY_HALT, /* and those behind it: enum halt */
    CATEGORY_LAST_HALT = CATEGORY_HALT + HALTED_KINDS - 1,
    CATEGORY_LIMIT,
};

/* A text that is interned: of which kind, and which of them. */
enum packet_text {
    TEXT_THREAD,      /* its name; index of a thread */
    TEXT_CLASS,       /* index of a group */
    TEXT_STACK,       /* stack id */
    TEXT_WAIT,        /* group * STATE_LIMIT + state */
    TEXT_KIND,        /* enum event_kind */
    TEXT_INTERACTION, /* enum interaction */
    TEXT_HALT,        /* still.what */
    TEXT_OPERATION,   /* of a safepoint: id of its name */
    TEXT_WORD,        /* enum packet_word */
    TEXT_LIMIT,
};

enum packet_word { WORD_CONTENDED, WORD_GC_PAUSE };

struct packets {
    struct model_export *x;
    uint64_t salt;              /* of the numbers that must differ from those of other traces */
    struct buf raw;             /* packets, not compressed yet */
    struct buf event, interned; /* of the packet at hand: its event, what it interns */
    struct buf name, packed;
    uint8_t *known[2][TEXT_LIMIT]; /* bits: interned as a name of events, as an argument */
    uint64_t time;
    size_t track_at, packet_at;
    struct zip zip;
};

/* Writes the head: clock, names that are always needed.  -ENOMEM. */
int packets_begin(struct packets *p, struct model_export *x);

/* Writes what is left.  -ENOMEM when any packet could not be made. */
int packets_end_all(struct packets *p);
void packets_fini(struct packets *p);

/* --- tracks ----------------------------------------------------------------------------------- */

uint64_t packets_track_id(const struct packets *p, enum packet_track kind, uint32_t index);

/* Begin to describe a track; between the two, fields of TrackDescriptor are appended to p->raw. */
void packets_track_begin(struct packets *p, uint64_t id, uint64_t parent, const char *name);
void packets_track_end(struct packets *p);

/* --- events ----------------------------------------------------------------------------------- */

void packets_event(struct packets *p, enum packet_type type, uint64_t track, uint64_t time);
void packets_category(struct packets *p, unsigned category);
void packets_name(struct packets *p, enum packet_text kind, uint32_t index);
void packets_counter(struct packets *p, uint64_t value);

/* An arrow leaves the event, or arrives there. */
void packets_flow(struct packets *p, uint64_t flow);
void packets_flow_end(struct packets *p, uint64_t flow);

/* The arrow from act `act` of a thread, or from whatever ended wait `span` of it. */
uint64_t packets_flow_of_act(const struct packets *p, uint32_t thread, uint32_t act);
uint64_t packets_flow_of_span(const struct packets *p, uint32_t thread, uint32_t span);

void packets_arg_text(struct packets *p, enum packet_arg arg, enum packet_text kind,
                      uint32_t index);
void packets_arg_number(struct packets *p, enum packet_arg arg, uint64_t value);
void packets_arg_true(struct packets *p, enum packet_arg arg);

void packets_end(struct packets *p);

#endif
