/* orca_stacks.h - the texts of stacks in an event log: each is made once, since stacks
 * repeat.
 *
 * Bounded: beyond that number of bytes, later stacks are formatted each time. */
#ifndef ORCA_EXPORT_ORCA_STACKS_H
#define ORCA_EXPORT_ORCA_STACKS_H

#include "export/out.h"
#include "format/orca_lines.h"
#include "format/trace.h"

enum { ORCA_STACKS_BYTES = 32 << 20 };

struct orca_stack_text {
    char *p;         /* NULL: not kept */
    uint32_t len;    /* bytes */
    uint32_t frames; /* of Java; the formats have no words for others */
    bool known;      /* else it was not looked at yet */
};

struct orca_stacks {
    const struct trace *trace;
    char separator;
    struct orca_stack_text *texts; /* [trace->n_stacks], by id */
    struct arena arena;
    size_t room; /* bytes that may still be kept */
};

/* -ENOMEM. */
int orca_stacks_init(struct orca_stacks *s, const struct trace *t, enum orca_version version);
void orca_stacks_fini(struct orca_stacks *s);

/* How many frames of Java a stack has. */
uint32_t orca_stacks_frames(struct orca_stacks *s, stack_id id);

/* depth;method;location;... */
void orca_stacks_put(struct orca_stacks *s, struct out *o, stack_id id);

#endif
