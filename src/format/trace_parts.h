/* trace_parts.h - what the files that make up the reader share; nothing else includes it.
 *
 *   trace_scan.c   finds the chunks          trace_defs.c   fills the tables from the definitions
 *   trace_iter.c   decodes events            trace.c        opens, closes, looks up
 *   trace_beginning.c  forgets all but the beginning, or but a part */
#ifndef ORCA_FORMAT_TRACE_PARTS_H
#define ORCA_FORMAT_TRACE_PARTS_H

#include "format/trace.h"

/* Room in t->problems. */
enum { TRACE_PROBLEMS_MAX = 100 };

/* Note that a chunk cannot be read, and why.  In a circle that is being recorded it may have been
 * overwritten since it was found, which is not damage: then t->overtaken is set. */
void trace_note_chunk(struct trace *t, size_t chunk, const char *why);

/* Fill t->chunks, in the order of seq, t->blocks and t->streams. */
int trace_scan(struct trace *t, struct err *err);

/* Fill t->streams, which has room, and the sums of events and times from t->blocks. */
void trace_count_blocks(struct trace *t);

/* Fill the tables, t->infos and t->loss. */
int trace_load_defs(struct trace *t, struct err *err);

/* The raw payload of a chunk into out, which has room for h.raw_len.  -EBADMSG with a reason in err
 * when it is damaged. */
int trace_read_payload(const struct trace *t, const struct trace_chunk *c, uint8_t *out,
                       struct err *err);

#endif
