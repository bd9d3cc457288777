/* orca_record.h - one line of an event log, taken apart but not yet understood: hashes and method
 * ids are as in the file. */
#ifndef ORCA_IMPORT_ORCA_RECORD_H
#define ORCA_IMPORT_ORCA_RECORD_H

#include "format/call_table.h"
#include "format/orca_lines.h"
#include "import/scan.h"

struct orca_frame {
    uint64_t method;
    int32_t bci; /* -1: native method */
};

struct orca_record {
    const struct call_table *calls; /* whose events there may be; set by the caller */
    uint64_t time;
    const struct orca_line *line;
    const struct call_row *call;    /* of the line's event; NULL: it is none of `calls` */
    uint32_t thread;                /* hash */
    uint32_t hash[ORCA_FIELDS_MAX]; /* of the ORCA_THREAD and ORCA_LOCK fields */
    struct text name;               /* of the ORCA_NAME field */
    struct text stack;              /* the ORCA_STACK field, not read yet; p NULL: none */
    struct orca_frame *frames;      /* [cap_frames], reused from line to line */
    uint32_t n_frames, cap_frames;
};

/* Read the line that `s` begins into *r, up to its stack.  *version may be 0 for unknown: it is set
 * by the first thing that only one version has, and demanded from then on. */
int orca_record_read(struct scan *s, enum orca_version *version, struct orca_record *r);

/* Read the stack of that line into r->frames. */
int orca_record_read_stack(struct scan *s, enum orca_version *version, struct orca_record *r);

void orca_record_fini(struct orca_record *r);

/* A location as eight or sixteen hex digits say it: all ones is a native method. */
int orca_location(const struct scan *s, const char *at, uint64_t v, bool wide, int32_t *bci);

#endif
