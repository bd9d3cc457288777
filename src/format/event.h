/* event.h - events and definitions in memory, made from events.def.
 *
 * An event is a 16-byte head and the fields of its kind.  A ring holds events in exactly this form,
 * cut behind the kind's last field (event_size); the file holds them as codec.h writes them. */
#ifndef ORCA_FORMAT_EVENT_H
#define ORCA_FORMAT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Dense ids; 0 means unknown.  Structs, so that one kind cannot pass as another. */
typedef struct {
    uint32_t v;
} thread_id;
typedef struct {
    uint32_t v;
} lock_id;
typedef struct {
    uint32_t v;
} class_id;
typedef struct {
    uint32_t v;
} method_id;
typedef struct {
    uint32_t v;
} stack_id;
typedef struct {
    uint32_t v;
} call_id;
typedef struct {
    uint32_t v;
} module_id;
typedef struct {
    uint32_t v;
} gc_name_id;

enum event_kind {
#define EVENT(number, name, group, fields, doc) EV_##name = (number),
#include "format/events.def"
    EV_LIMIT = 64 /* every kind is below */
};

/* Whether a wait's time has a limit: wait_open.limit, wait_found.limit. */
enum wait_limit { WAIT_LIMIT_UNKNOWN, WAIT_UNLIMITED, WAIT_LIMITED };

/* wait_sum.whole */
enum { WAIT_SUM_SHORT, WAIT_SUM_WHOLE, WAIT_SUM_TIMED };

enum event_group {
#define GROUP(name, word, state, summary) GROUP_##name,
#include "format/events.def"
    GROUP_LIMIT
};

enum def_kind {
#define DEF(number, name, fields, doc) DEF_##name = (number),
#include "format/events.def"
    DEF_LIMIT
};

enum loss_cause {
    LOSS_none,
#define LOSS(number, name, what, doc) LOSS_##name = (number),
#include "format/events.def"
    LOSS_LIMIT
};

/* flags of DEF thread */
enum {
    THREAD_DAEMON = 1,
    THREAD_VIRTUAL = 2,
    THREAD_NATIVE = 4, /* a thread of the JVM itself: no Java object */
    THREAD_ENDED = 8,  /* it had ended before this file of the recording began */
};
enum { STACK_TRUNCATED = 1 };
enum {
    METHOD_SYNCHRONIZED = 0x20,   /* of Java, as the class file says it */
    METHOD_NATIVE = 0x100,        /* a native method of Java */
    METHOD_NATIVE_CODE = 0x10000, /* a place in native code: module, address */
    METHOD_STUB = 0x20000,        /* code that the JVM made */
};

/* pinned.frame: the JVM did not tell which frames hold monitors */
#define PINNED_FRAME_UNKNOWN UINT32_MAX

/* flags of cpu_sample and wall_sample */
enum {
    SAMPLE_NEAR = 1, /* the innermost compiled frame is FRAMEKIND_NEAR; inlined ones may lack */
    SAMPLE_IDLE = 2, /* the thread was not running: it waited, or stood in a system call */
    SAMPLE_LOOK = 4, /* of the group looks: threads that wait have none */
    SAMPLE_ASLEEP =
        8, /* with SAMPLE_IDLE: nor did it wait for a processor; older recordings lack it */
};

/* turn.end: one of these; TURN_GAP; TURN_FAULT */
enum turn_end {
    TURN_WAITS,     /* it left the processor to wait for something */
    TURN_PREEMPTED, /* it would have gone on: from here to its next turn it is ready */
    TURN_STAYS,     /* it goes on: the turn is cut here */
    TURN_DIES,
    TURN_ENDS,
    TURN_WHY = 3,   /* those of the bits that are one of these */
    TURN_GAP = 4,   /* records are missing since its turn before */
    TURN_FAULT = 8, /* since its turn before it waited for a page from a file or from swap */
};

/* DEF stack's kinds: one of these, FRAMEKIND_NEAR or not, and the level << FRAMEKIND_LEVEL_SHIFT (0
 * interpreted, 1-3 C1, 4 C2). */
enum frame_kind {
    FRAMEKIND_UNKNOWN,
    FRAMEKIND_INTERPRETED,
    FRAMEKIND_COMPILED,
    FRAMEKIND_INLINED,
    FRAMEKIND_NATIVE_METHOD,
    FRAMEKIND_STUB,
    FRAMEKIND_NATIVE_CODE,
    FRAMEKIND_KERNEL,
    FRAMEKIND_NEAR = 8, /* the compiler describes calls alone: the bci is of a place near by */
    FRAMEKIND_LEVEL_SHIFT = 4,
};

/* How a frame was executed, as reports and pictures tell it. */
enum executed {
    EXECUTED_UNKNOWN,
    EXECUTED_INTERPRETED,
    EXECUTED_C1,
    EXECUTED_C2,
    EXECUTED_INLINED, /* into a compiled method */
    EXECUTED_NATIVE_METHOD,
    EXECUTED_STUB,
    EXECUTED_NATIVE_CODE,
    EXECUTED_KERNEL,
    EXECUTED_LIMIT,
};

/* "interpreted", "C1", ... */
extern const char *const executed_names[EXECUTED_LIMIT];

/* What a byte of DEF stack's kinds says. */
enum executed executed_of(uint8_t kind);

#define FIELD_C_thread thread_id
#define FIELD_C_lock lock_id
#define FIELD_C_class class_id
#define FIELD_C_method method_id
#define FIELD_C_stack stack_id
#define FIELD_C_call call_id
#define FIELD_C_module module_id
#define FIELD_C_gc_name gc_name_id
#define FIELD_C_u32 uint32_t
#define FIELD_C_kind uint32_t
#define FIELD_C_cause uint32_t
#define FIELD_C_u64 uint64_t
#define FIELD_C_i64 int64_t
#define FIELD_C_time uint64_t
#define FIELD_C_str struct str
#define FIELD_C_lines struct packed
#define FIELD_C_frames struct packed

/* Text inside a definition: not NUL-terminated, any byte may occur. */
struct str {
    const char *p;
    size_t len;
};

/* A counted list inside a definition, still encoded: see codec.h for the iterators. */
struct packed {
    const uint8_t *p;
    size_t len; /* bytes */
    uint32_t count;
};

#define F(type, field, doc) FIELD_C_##type field;
#define EVENT(number, name, group, fields, doc)                                                    \
    struct ev_##name {                                                                             \
        uint64_t align_[0]; /* GNU C: a kind without fields has size 0 */                          \
        fields                                                                                     \
    };
#include "format/events.def"
#undef F

struct event {
    uint16_t kind; /* with size in the first 8 bytes, so that a filler can be as short as that */
    uint16_t size; /* of this record in a ring, bytes, a multiple of 8 */
    thread_id thread;
    uint64_t time; /* ns of CLOCK_MONOTONIC */
    union {
#define EVENT(number, name, group, fields, doc) struct ev_##name name;
#include "format/events.def"
    };
};

enum { EVENT_HEAD = 16, EVENT_MAX = sizeof(struct event) };

#define D(type, field, doc) FIELD_C_##type field;
#define DEF(number, name, fields, doc)                                                             \
    struct def_##name {                                                                            \
        fields                                                                                     \
    };
#include "format/events.def"
#undef D

struct def {
    int kind;
    union {
#define DEF(number, name, fields, doc) struct def_##name name;
#include "format/events.def"
    };
};

/* One field of a kind, for everything that handles kinds by table. */
enum field_type {
    FIELD_thread,
    FIELD_lock,
    FIELD_class,
    FIELD_method,
    FIELD_stack,
    FIELD_call,
    FIELD_module,
    FIELD_gc_name,
    FIELD_u32,
    FIELD_kind,
    FIELD_cause,
    FIELD_u64,
    FIELD_i64,
    FIELD_time,
    FIELD_str,
    FIELD_lines,
    FIELD_frames,
};

struct field {
    const char *name;
    enum field_type type;
    size_t
        offset; /* in the kind's ev_ struct (EVENT_HEAD behind the event's start) or def_ struct */
    const char *doc;
};

enum { EVENT_FIELDS_MAX = 8 };

struct kind_info {
    const char *name; /* NULL: no such kind */
    const char *doc;
    int group;     /* events only */
    uint16_t size; /* of the event in a ring: head and fields, a multiple of 8; events only */
    uint16_t n_fields;
    const struct field *(*fields)(void); /* [n_fields] */
};

/* [EV_LIMIT] and [DEF_LIMIT], indexed by number. */
extern const struct kind_info event_kinds[EV_LIMIT];
extern const struct kind_info def_kinds[DEF_LIMIT];

struct group_info {
    const char *name, *doc;
    bool on; /* without being asked for */
};
extern const struct group_info event_groups[GROUP_LIMIT];

/* The names of the groups that can be switched, all but meta: [i] is group i + 1; NULL behind the
 * last one. */
extern const char *const event_group_names[GROUP_LIMIT];

/* Bits, as in event_group_names, that "all" does not mean: they make every allocation many times as
 * long, and are only recorded when they are named. */
#define EVENT_GROUPS_NAMED (UINT64_C(1) << (GROUP_alloc - 1) | UINT64_C(1) << (GROUP_frees - 1))

struct loss_info {
    const char *name, *doc;
    enum loss_what { LOSS_OF_EVENT, LOSS_OF_DETAIL } what; /* a detail: the event itself is there */
};
extern const struct loss_info loss_causes[LOSS_LIMIT];

/* Why a sample has no stack: its field `error`. */
enum sample_error {
#define SAMPLE_ERROR(number, name, doc) SAMPLE_ERROR_##name = (number),
#include "format/events.def"
    SAMPLE_ERROR_UNKNOWN, /* any other number */
    SAMPLE_ERRORS,
};

struct sample_error_info {
    const char *name, *doc;
};
extern const struct sample_error_info sample_errors[SAMPLE_ERRORS];

/* What a wait in input or output is in: the events' field `what`. */
enum io_kind {
    IO_KIND_none,
#define IO(number, name, doc) IO_KIND_##name = (number),
#include "format/events.def"
    IO_KINDS
};
extern const struct io_kind_info {
    const char *name, *doc;
} io_kinds[IO_KINDS];

static inline enum sample_error sample_error_of(uint32_t error)
{
    return error < SAMPLE_ERROR_UNKNOWN ? (enum sample_error)error : SAMPLE_ERROR_UNKNOWN;
}

/* The kind's number, or -1. */
int event_kind_find(const char *name, size_t len);
int event_group_find(const char *name, size_t len);

/* Whether a list of groups, joined by '+', as the info orca.events has it, names one. */
bool event_groups_list(const char *groups, enum event_group g);

/* Whether a recording of these groups, joined by '+', has the wait that a join of a platform thread
 * consists of as events of their own: not where waits were not asked for, or classes were left out.
 * include, exclude: its filters, "" for none. */
bool event_joins_have_waits(const char *groups, const char *include, const char *exclude);

/* The value of a numeric field (not str, lines, frames) as one 64-bit number; i64 sign-extended. */
uint64_t field_get(const struct field *f, const void *base);

#endif
