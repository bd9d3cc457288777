/* orca_lines.h - what a line of a text event log holds, for its writer and its reader.
 *
 * One row per event kind that the text formats have:
 *     line = time , row's name , thread [, row's fields]
 * Version 1.1 puts ',' inside stacks, version 2 (the 2014 Orca back-end manual) ';', and 2 adds the
 * semaphores;
 * else the lines are the same. */
#ifndef ORCA_FORMAT_ORCA_LINES_H
#define ORCA_FORMAT_ORCA_LINES_H

#include "format/event.h"

/* Bits: a row says in which versions it exists. */
enum orca_version {
    ORCA_1_1 = 1,
    ORCA_2 = 2,
};

enum orca_field_type {
    ORCA_END,    /* behind the last field */
    ORCA_THREAD, /* identity hash of a thread, eight upper-case hex digits, like every number but
                    depths */
    ORCA_LOCK,   /* identity hash of an object */
    ORCA_STACK,  /* decimal depth; method id, location; ... */
    ORCA_NAME,   /* of the thread; to the end of the line */
};

struct orca_field {
    uint8_t type;
    uint8_t offset; /* of the id in struct event; 0: our event does not carry it */
};

/* How a row takes part in the manual's "Nested call" and in pairing. */
enum orca_role {
    ORCA_PLAIN, /* not a call */
    ORCA_CALL,  /* a hooked method, of which only the entry is recorded */
    ORCA_ENTER, /* entry of a hooked method; other hooked methods may run inside */
    ORCA_LEAF,  /* entry of a hooked method inside which no Java method runs */
    ORCA_EXIT,  /* its end */
    ORCA_BLOCK, /* begin and end of monitor contention: not a method, never suppressed */
    ORCA_UNBLOCK,
};

enum { ORCA_FIELDS_MAX = 4 };

struct orca_line {
    const char *name; /* NULL: what the call's row in its method table says */
    uint8_t kind;     /* enum event_kind */
    uint8_t enter;    /* ORCA_EXIT: the kind that began it */
    uint8_t versions; /* enum orca_version bits */
    uint8_t role;     /* enum orca_role */
    struct orca_field
        fields[ORCA_FIELDS_MAX]; /* after the thread; the first is the object, if any */
};

/* The row that writes an event kind, or NULL when the text formats do not have it. */
const struct orca_line *orca_line_of(unsigned kind);

/* The row that a name is read as, or NULL. */
const struct orca_line *orca_line_find(const char *name, size_t len);

/* The id in a field of an event; 0 where the event does not carry it. */
uint32_t orca_field_get(struct orca_field f, const struct event *e);
void orca_field_set(struct orca_field f, struct event *e, uint32_t id);

/* The field of a type in a row; offset 0 when there is none. */
struct orca_field orca_line_field(const struct orca_line *l, enum orca_field_type type);

/* What stands inside stacks and line tables. */
static inline char orca_separator(enum orca_version v)
{
    return v == ORCA_2 ? ';' : ',';
}

#endif
