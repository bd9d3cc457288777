/* codec.h - events and definitions as bytes.
 *
 * Integers are LEB128 varints; signed ones zigzag first.  An event is
 *     kind, with bit 0x40 set when the thread differs from the previous event's   1 byte
 *     thread id                                             only with bit 0x40
 *     time - previous event's time
 *     the fields in the order of events.def: lock and stack ids as the signed difference to the
 *     previous lock or stack of the block, `time` as event time - value, the others plain
 * and a block is a run of events that starts from a known (time, thread, lock 0, stack 0), so that
 * every block decodes alone.  A definition is kind (1 byte), length of the body, body; all values
 * plain.
 *
 * Nothing here allocates.  Decoders check every byte against `end`; encoders need the room they
 * state. */
#ifndef ORCA_FORMAT_CODEC_H
#define ORCA_FORMAT_CODEC_H

#include "base/buf.h"
#include "format/event.h"

#include <stdbool.h>

enum {
    VARINT_MAX = 10,
    EVENT_ENCODED_MAX = 1 + VARINT_MAX * (2 + EVENT_FIELDS_MAX),
    KIND_THREAD_BIT = 0x40,
};

static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

void varint_append(struct buf *b, uint64_t v);

/* The byte behind the varint, or NULL when it runs past `end` or is longer than VARINT_MAX. */
const uint8_t *varint_get_slow(const uint8_t *p, const uint8_t *end, uint64_t *v);

static inline const uint8_t *varint_get(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
    if (p < end && *p < 0x80) {
        *v = *p;
        return p + 1;
    }
    return varint_get_slow(p, end, v);
}

static inline uint64_t zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* What the next event of a block is coded against. */
struct codec {
    uint64_t time;
    uint32_t thread, lock, stack;
};

/* Write `e` at p, which has room for EVENT_ENCODED_MAX.  Returns the byte behind it.  e->kind must
 * be known; a time before the codec's is written as the codec's time. */
uint8_t *codec_put_event(struct codec *c, uint8_t *p, const struct event *e);

/* How many fields each kind has in a file: it may be from an older or newer Orca. */
struct codec_schema {
    uint8_t n_fields[EV_LIMIT];
};
void codec_schema_own(struct codec_schema *s);

/* Read one event.  Returns the byte behind it, or NULL when the bytes are not an event.  Fields
 * that the file lacks are 0; a kind that this Orca does not know is returned with its number and no
 * fields. */
const uint8_t *codec_get_event(struct codec *c, const struct codec_schema *s, const uint8_t *p,
                               const uint8_t *end, struct event *e);

/* Append `d` with its head. */
void codec_put_def(struct buf *b, const struct def *d);

/* Read one definition; its strings and lists point into the bytes.  NULL when they are not one.
 * An unknown kind is returned with d->kind set and nothing else. */
const uint8_t *codec_get_def(const uint8_t *p, const uint8_t *end, struct def *d);

/* The packed lists.  Writers append pairs to a buf and count them; readers start with {list.p,
 * ...}. */
struct packed_iter {
    const uint8_t *p, *end;
    uint32_t left;
    uint64_t bci, line; /* line tables are delta-coded */
};
struct packed_iter packed_begin(struct packed list);

/* frames: method id (varint), bci (zigzag).  lines: bci - previous bci, line - previous line
 * (zigzag).  Returns false at the end of the list or of the bytes. */
bool packed_next_frame(struct packed_iter *it, method_id *method, int32_t *bci);
bool packed_next_line(struct packed_iter *it, uint32_t *bci, uint32_t *line);

void packed_put_frame(struct buf *b, method_id method, int32_t bci);

/* `prev_*`: the values of the pair before, 0 at first. */
void packed_put_line(struct buf *b, uint32_t bci, uint32_t line, uint32_t prev_bci,
                     uint32_t prev_line);

#endif
