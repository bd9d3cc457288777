#include "export/perfetto_packets.h"

#include "analyze/bind.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "base/util.h"
#include "export/model_names.h"
#include "export/proto.h"
#include "export/waits.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of fields in perfetto_trace.proto. */
enum {
    TRACE_PACKET = 1,
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_COMPRESSED = 50,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    DEFAULTS_CLOCK = 58,
    SNAPSHOT_CLOCK = 1,
    SNAPSHOT_PRIMARY = 2,
    CLOCK_ID = 1,
    CLOCK_TIMESTAMP = 2,
    EVENT_CATEGORY_IID = 3,
    EVENT_ARG = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_COUNTER_VALUE = 30,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    ARG_NAME_IID = 1,
    ARG_BOOL = 2,
    ARG_UINT = 3,
    ARG_TEXT_IID = 17,
    INTERNED_CATEGORIES = 1,
    INTERNED_EVENT_NAMES = 2,
    INTERNED_ARG_NAMES = 3,
    INTERNED_ARG_TEXTS = 29,
    INTERNED_IID = 1,
    INTERNED_TEXT = 2,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PARENT = 5,
};

enum {
    SEQUENCE = 1,       /* one writer, one number */
    STATE_CLEARED = 1,  /* TracePacket.SequenceFlags */
    NEEDS_STATE = 2,    /* the same */
    REALTIME = 1,       /* BuiltinClock */
    MONOTONIC = 3,      /* the same */
    PIECE = 512 * 1024, /* bytes of packets that are compressed together */
    LEVEL = 1,          /* of zlib */
    AS_NAME = 0,        /* packets.known */
    AS_ARG = 1,
};

/* --- interned texts --------------------------------------------------------------------------- */

static const char *const words[] = {[WORD_CONTENDED] = "contended", [WORD_GC_PAUSE] = "GC pause"};

/* How many there are of a kind. */
static size_t text_count(const struct analysis *a, enum packet_text kind)
{
    switch (kind) {
    case TEXT_THREAD:
        return a->threads.n;
    case TEXT_CLASS:
        return a->locks.n_groups;
    case TEXT_STACK:
        return a->trace->n_stacks;
    case TEXT_WAIT:
        return a->locks.n_groups * STATE_LIMIT;
    case TEXT_KIND:
        return EV_LIMIT;
    case TEXT_INTERACTION:
        return INTERACTION_LIMIT;
    case TEXT_HALT:
        return HALT_LIMIT;
    case TEXT_OPERATION:
        return a->trace->n_gc_names;
    default:
        return ARRAY_LEN(words);
    }
}

static void make_text(struct packets *p, enum packet_text kind, uint32_t index)
{
    const struct analysis *a = p->x->a;
    buf_clear(&p->name);
    switch (kind) {
    case TEXT_THREAD:
        names_thread(&p->name, a, index);
        break;
    case TEXT_CLASS:
        names_class(&p->name, a, index);
        break;
    case TEXT_STACK:
        names_stack(&p->name, a->trace, trace_stack(a->trace, (stack_id){index}));
        break;
    case TEXT_WAIT:
        names_wait(&p->name, a, index % STATE_LIMIT, index / STATE_LIMIT);
        break;
    case TEXT_KIND:
        buf_puts(&p->name, event_kinds[index].name);
        break;
    case TEXT_INTERACTION:
        buf_puts(&p->name, interaction_name((enum interaction)index));
        break;
    case TEXT_HALT:
        buf_puts(&p->name, halt_name(index));
        break;
    case TEXT_OPERATION:
        utf8_put(&p->name, trace_gc_name(a->trace, (gc_name_id){index})->text);
        break;
    default:
        buf_puts(&p->name, words[index]);
        break;
    }
}

static void put_interned(struct buf *b, uint32_t field, uint64_t iid, const void *text, size_t n)
{
    size_t at = proto_begin(b, field);
    proto_uint(b, INTERNED_IID, iid);
    proto_bytes(b, INTERNED_TEXT, text, n);
    proto_end(b, at);
}

/* The number of a text, which the packet at hand explains when no one did before. */
static uint64_t intern(struct packets *p, int as, enum packet_text kind, uint32_t index)
{
    uint64_t iid = ((uint64_t)index * TEXT_LIMIT + kind) + 1;
    uint8_t *known = &p->known[as][kind][index / 8], bit = (uint8_t)(1u << index % 8);
    if (*known & bit)
        return iid;
    *known |= bit;
    make_text(p, kind, index);
    put_interned(&p->interned, as == AS_NAME ? INTERNED_EVENT_NAMES : INTERNED_ARG_TEXTS, iid,
                 p->name.p, p->name.len);
    return iid;
}

/* --- packets ---------------------------------------------------------------------------------- */

static void write_piece(struct packets *p)
{
    uint8_t head[2 * PROTO_VARINT_MAX];
    struct buf inner = {0};
    if (p->raw.len == 0)
        return;
    zip_block(&p->zip, p->raw.p, p->raw.len, &p->packed);
    proto_bytes(&inner, PACKET_COMPRESSED, p->packed.p, p->packed.len);
    size_t n = proto_put_varint(head, TRACE_PACKET << 3 | PROTO_LENGTH);
    n += proto_put_varint(head + n, inner.len);
    if (!inner.oom && !p->packed.oom) {
        out_bytes(&p->x->out, head, n);
        out_bytes(&p->x->out, inner.p, inner.len);
    }
    p->raw.oom |= inner.oom;
    buf_fini(&inner);
    buf_clear(&p->raw);
}

static size_t begin_packet(struct packets *p, unsigned flags)
{
    size_t at = proto_begin(&p->raw, TRACE_PACKET);
    proto_uint(&p->raw, PACKET_SEQUENCE, SEQUENCE);
    proto_uint(&p->raw, PACKET_FLAGS, flags);
    return at;
}

static void end_packet(struct packets *p, size_t at)
{
    proto_end(&p->raw, at);
    if (p->raw.len >= PIECE)
        write_piece(p);
}

/* --- the head --------------------------------------------------------------------------------- */

static void put_clock(struct packets *p, unsigned id, uint64_t time)
{
    size_t at = proto_begin(&p->raw, SNAPSHOT_CLOCK);
    proto_uint(&p->raw, CLOCK_ID, id);
    proto_uint(&p->raw, CLOCK_TIMESTAMP, time);
    proto_end(&p->raw, at);
}

/* What the clocks showed when the recording began; an imported text has no date. */
static void put_clocks(struct packets *p)
{
    const struct file_header *h = &p->x->a->trace->header;
    size_t at = begin_packet(p, 0);
    size_t inner = proto_begin(&p->raw, PACKET_CLOCK_SNAPSHOT);
    put_clock(p, MONOTONIC, h->start_mono);
    if (h->start_real)
        put_clock(p, REALTIME, h->start_real);
    proto_uint(&p->raw, SNAPSHOT_PRIMARY, MONOTONIC);
    proto_end(&p->raw, inner);
    end_packet(p, at);
}

static void put_names(struct packets *p)
{
    static const char *const args[] = {[ARG_NONE] = "",
#define A(name) #name,
                                       PACKET_ARGS(A)
#undef A
    };
    static const char *const categories[CATEGORY_HALT] = {[CATEGORY_ACT] = "act",
                                                          [CATEGORY_WAKE] = "wake",
                                                          [CATEGORY_LOCK] = "lock",
                                                          [CATEGORY_GC] = "gc",
                                                          [CATEGORY_STOP] = "safepoint"};
    size_t at = proto_begin(&p->raw, PACKET_INTERNED);
    for (unsigned i = 0; i < CATEGORY_LIMIT; i++) {
        const char *name = i < WAIT_STATES     ? waits_names[i]
                           : i < CATEGORY_HALT ? categories[i]
                                               : halted_names[i - CATEGORY_HALT];
        put_interned(&p->raw, INTERNED_CATEGORIES, i + 1, name, strlen(name));
    }
    for (unsigned i = 1; i < ARG_LIMIT; i++)
        put_interned(&p->raw, INTERNED_ARG_NAMES, i, args[i], strlen(args[i]));
    proto_end(&p->raw, at);
}

static void put_head(struct packets *p)
{
    put_clocks(p);
    size_t at = begin_packet(p, STATE_CLEARED);
    size_t inner = proto_begin(&p->raw, PACKET_DEFAULTS);
    proto_uint(&p->raw, DEFAULTS_CLOCK, MONOTONIC);
    proto_end(&p->raw, inner);
    put_names(p);
    end_packet(p, at);
}

int packets_begin(struct packets *p, struct model_export *x)
{
    *p = (struct packets){.x = x};
    p->salt = hash_bytes(x->a->trace->header.id, sizeof x->a->trace->header.id, 0);
    TRY(zip_open(&p->zip, ZIP_ZLIB, LEVEL));
    for (int as = 0; as < 2; as++)
        for (unsigned kind = 0; kind < TEXT_LIMIT; kind++) {
            p->known[as][kind] = calloc(text_count(x->a, kind) / 8 + 1, 1);
            if (!p->known[as][kind])
                return -ENOMEM;
        }
    put_head(p);
    return 0;
}

int packets_end_all(struct packets *p)
{
    write_piece(p);
    return p->raw.oom || p->event.oom || p->interned.oom || p->name.oom || p->packed.oom ? -ENOMEM
                                                                                         : 0;
}

void packets_fini(struct packets *p)
{
    for (int as = 0; as < 2; as++)
        for (unsigned kind = 0; kind < TEXT_LIMIT; kind++)
            free(p->known[as][kind]);
    buf_fini(&p->raw);
    buf_fini(&p->event);
    buf_fini(&p->interned);
    buf_fini(&p->name);
    buf_fini(&p->packed);
    zip_close(&p->zip);
}

/* --- tracks ----------------------------------------------------------------------------------- */

/* 18 bits of the trace's own, so that the tracks of two traces that are looked at together differ;
 * never 0. */
uint64_t packets_track_id(const struct packets *p, enum packet_track kind, uint32_t index)
{
    return (p->salt & 0x3ffff) << 36 | (uint64_t)index << 4 | kind;
}

void packets_track_begin(struct packets *p, uint64_t id, uint64_t parent, const char *name)
{
    p->packet_at = begin_packet(p, NEEDS_STATE);
    p->track_at = proto_begin(&p->raw, PACKET_TRACK);
    proto_uint(&p->raw, TRACK_UUID, id);
    if (parent)
        proto_uint(&p->raw, TRACK_PARENT, parent);
    if (name)
        proto_text(&p->raw, TRACK_NAME, name);
}

void packets_track_end(struct packets *p)
{
    proto_end(&p->raw, p->track_at);
    end_packet(p, p->packet_at);
}

/* --- events ----------------------------------------------------------------------------------- */

void packets_event(struct packets *p, enum packet_type type, uint64_t track, uint64_t time)
{
    p->time = time;
    buf_clear(&p->event);
    buf_clear(&p->interned);
    proto_uint(&p->event, EVENT_TYPE, type);
    proto_uint(&p->event, EVENT_TRACK, track);
}

void packets_category(struct packets *p, unsigned category)
{
    proto_uint(&p->event, EVENT_CATEGORY_IID, category + 1);
}

void packets_name(struct packets *p, enum packet_text kind, uint32_t index)
{
    proto_uint(&p->event, EVENT_NAME_IID, intern(p, AS_NAME, kind, index));
}

void packets_counter(struct packets *p, uint64_t value)
{
    proto_uint(&p->event, EVENT_COUNTER_VALUE, value);
}

void packets_flow(struct packets *p, uint64_t flow)
{
    proto_fixed64(&p->event, EVENT_FLOW, flow);
}

void packets_flow_end(struct packets *p, uint64_t flow)
{
    proto_fixed64(&p->event, EVENT_FLOW_END, flow);
}

/* Different for each act and span, whose indices have 29 bits. */
static uint64_t flow_id(const struct packets *p, uint32_t thread, uint32_t index, unsigned kind)
{
    return ((uint64_t)thread << 32 | (uint64_t)index << 1 | kind) ^ p->salt;
}

uint64_t packets_flow_of_act(const struct packets *p, uint32_t thread, uint32_t act)
{
    return flow_id(p, thread, act, 0);
}

uint64_t packets_flow_of_span(const struct packets *p, uint32_t thread, uint32_t span)
{
    return flow_id(p, thread, span, 1);
}

void packets_arg_text(struct packets *p, enum packet_arg arg, enum packet_text kind, uint32_t index)
{
    size_t at = proto_begin(&p->event, EVENT_ARG);
    proto_uint(&p->event, ARG_NAME_IID, arg);
    proto_uint(&p->event, ARG_TEXT_IID, intern(p, AS_ARG, kind, index));
    proto_end(&p->event, at);
}

void packets_arg_number(struct packets *p, enum packet_arg arg, uint64_t value)
{
    size_t at = proto_begin(&p->event, EVENT_ARG);
    proto_uint(&p->event, ARG_NAME_IID, arg);
    proto_uint(&p->event, ARG_UINT, value);
    proto_end(&p->event, at);
}

void packets_arg_true(struct packets *p, enum packet_arg arg)
{
    size_t at = proto_begin(&p->event, EVENT_ARG);
    proto_uint(&p->event, ARG_NAME_IID, arg);
    proto_uint(&p->event, ARG_BOOL, 1);
    proto_end(&p->event, at);
}

void packets_end(struct packets *p)
{
    size_t at = begin_packet(p, NEEDS_STATE);
    proto_uint(&p->raw, PACKET_TIMESTAMP, p->time);
    proto_bytes(&p->raw, PACKET_EVENT, p->event.p, p->event.len);
    if (p->interned.len)
        proto_bytes(&p->raw, PACKET_INTERNED, p->interned.p, p->interned.len);
    end_packet(p, at);
}
