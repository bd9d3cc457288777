#include "import/orca_record.h"

#include "format/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A stack of more frames cannot be in a trace: a frame takes at least two bytes of a definition. */
enum { DEPTH_MAX = WRITER_DEF_MAX / 2 };

void orca_record_fini(struct orca_record *r)
{
    free(r->frames);
    memset(r, 0, sizeof *r);
}

int orca_location(const struct scan *s, const char *at, uint64_t v, bool wide, int32_t *bci)
{
    *bci = (int32_t)v;
    if (v == (wide ? UINT64_MAX : UINT32_MAX) || v <= INT32_MAX)
        return 0;
    return scan_expected(s, at, "a location: up to 7FFFFFFF, or all F for a native method");
}

/* Format 1.1 gives a method id 32 bits in its meta file and 64 bits in a stack. */
static int read_hex(struct scan *s, enum orca_version version, const char *what, uint64_t *v,
                    bool *wide)
{
    uint32_t v32 = 0;
    *wide = false;
    if (version == ORCA_1_1)
        return scan_hex8_or_16(s, what, v, wide);
    TRY(scan_hex8(s, what, &v32));
    *v = v32;
    return 0;
}

static int read_frame(struct scan *s, enum orca_version version, struct orca_frame *f)
{
    uint64_t location;
    bool wide;
    TRY(scan_char(s, orca_separator(version)));
    TRY(read_hex(s, version, "method id", &f->method, &wide));
    TRY(scan_char(s, orca_separator(version)));
    const char *at = s->p;
    TRY(read_hex(s, version, "location", &location, &wide));
    return orca_location(s, at, location, wide, &f->bci);
}

static int reserve_frames(struct scan *s, struct orca_record *r, uint32_t n)
{
    /* No more than the line can hold, whatever it claims. */
    size_t possible = (size_t)(s->line.end - s->p) / 18;
    if (n > possible)
        n = (uint32_t)possible;
    if (n < r->cap_frames)
        return 0;
    struct orca_frame *frames = realloc(r->frames, ((size_t)n + 1) * sizeof *frames);
    if (!frames)
        return err_set(s->err, -ENOMEM, "%s: out of memory", s->name);
    r->frames = frames;
    r->cap_frames = n + 1;
    return 0;
}

int orca_record_read_stack(struct scan *s, enum orca_version *version, struct orca_record *r)
{
    int64_t depth;
    r->n_frames = 0;
    if (!r->stack.p)
        return 0;
    s->p = r->stack.p;
    TRY(scan_decimal(s, "a stack depth", 0, DEPTH_MAX, &depth));
    if (depth > 0 && *version == 0)
        *version = scan_at(s, ',') ? ORCA_1_1 : ORCA_2;
    TRY(reserve_frames(s, r, (uint32_t)depth));
    while (r->n_frames < (uint32_t)depth) {
        /* The reserve covers the whole line, and read_frame fails at its end. */
        struct orca_frame f;
        TRY(read_frame(s, *version, &f));
        r->frames[r->n_frames++] = f;
    }
    return scan_end(s);
}

/* The line of an event of a method table. */
static const struct orca_line *find_call(struct orca_record *r, struct text name)
{
    bool ended = false;
    r->call = call_table_find(r->calls, name.p, name.len, &ended);
    if (!r->call)
        return NULL;
    return orca_line_of(ended                         ? EV_call_exit
                        : r->call->kind == CALL_CALLS ? EV_call
                                                      : EV_call_enter);
}

static int read_event_name(struct scan *s, enum orca_version *version, struct orca_record *r)
{
    const char *at = s->p;
    struct text name = scan_text(s);
    r->call = NULL;
    r->line = orca_line_find(name.p, name.len);
    if (!r->line && r->calls)
        r->line = find_call(r, name);
    if (!r->line)
        return scan_expected(s, at,
                             r->calls && r->calls->n
                                 ? "an event (ObjectWait, ThreadStarted, one of the .calltable)"
                                 : "an event (ObjectWait, ThreadStarted, ...)");
    if (*version == 0 && !(r->line->versions & ORCA_1_1))
        *version = ORCA_2;
    if (*version && !(r->line->versions & *version))
        return scan_expected(s, at, "an event of the format 1.1, which has no semaphores");
    return 0;
}

/* Everything that is left of the line. */
static struct text rest(struct scan *s)
{
    struct text t = {s->p, (size_t)(s->line.end - s->p)};
    s->p = s->line.end;
    return t;
}

static int read_field(struct scan *s, struct orca_record *r, size_t i)
{
    TRY(scan_char(s, ','));
    switch (r->line->fields[i].type) {
    case ORCA_THREAD:
        return scan_hex8(s, "thread", &r->hash[i]);
    case ORCA_LOCK:
        return scan_hex8(s, "object", &r->hash[i]);
    case ORCA_STACK:
        r->stack = rest(s);
        return 0;
    case ORCA_NAME: /* the last field, so that a ',' in the name of a foreign file does no harm */
        r->name = rest(s);
        return 0;
    }
    return 0;
}

int orca_record_read(struct scan *s, enum orca_version *version, struct orca_record *r)
{
    r->name = (struct text){"", 0};
    r->stack = (struct text){NULL, 0};
    TRY(scan_seconds(s, &r->time));
    TRY(scan_char(s, ','));
    TRY(read_event_name(s, version, r));
    TRY(scan_char(s, ','));
    TRY(scan_hex8(s, "thread", &r->thread));
    for (size_t i = 0; i < ORCA_FIELDS_MAX && r->line->fields[i].type != ORCA_END; i++)
        TRY(read_field(s, r, i));
    return scan_end(s);
}
