/* trace_follow.h - reading a trace while it is recorded: what is new since the last look.
 *
 *     trace_follow_open(&f, path, 0, &err);
 *     for (each refresh) {
 *         the agent is asked to flush; `now` is the time just before
 *         while ((more = trace_follow_poll(f, &err)) >= 0) {
 *             while (trace_follow_next(f, now, &e, &stream) != MERGE_NONE) ...
 *             if (!more) break;
 *         }
 *     }
 *
 * Each chunk is read once, from where the last look ended.  Definitions stay; events are handed out
 * once, in the order of time.  What was committed before a flush was asked for is in the file when
 * the answer is there, so up to `now` nothing of any stream is missing; later events wait for the
 * next look.
 *
 * In a file of fixed size (maxsize) the recording may overtake the reader: then it goes on with
 * what is there, `missed` counts the events that were overwritten, and each stream that has lost
 * some hands out a MERGE_GAP.  Bytes that are not whole yet, or not any more, are never taken for
 * events: every chunk is checked against its checksums, and tried again while it may become whole.
 *
 * A follower belongs to one thread.  It needs no JVM: a file that nobody writes has an end. */
#ifndef ORCA_FORMAT_TRACE_FOLLOW_H
#define ORCA_FORMAT_TRACE_FOLLOW_H

#include "format/merge.h"
#include "format/trace.h"

struct trace_follow;

/* Begin with everything that is in the file.  tail: of the events only those in the last so many
 * bytes, 0: all; definitions are always all read.  Errors as of trace_open. */
int trace_follow_open(struct trace_follow **out, const char *path, uint64_t tail, struct err *err);

/* The same from an open descriptor, which the follower closes. */
int trace_follow_open_fd(struct trace_follow **out, int fd, const char *name, uint64_t tail,
                         struct err *err);

/* Go on in another file of the same recording, in which ids mean the same: events that were not
 * handed out yet stay, definitions stay and are added to.  On failure nothing has changed. */
int trace_follow_switch(struct trace_follow *f, const char *path, struct err *err);

void trace_follow_close(struct trace_follow *f);

/* Read what is new, a few megabytes at most.  1: there is more, call again; 0: that was all for
 * now; or a negative errno. */
int trace_follow_poll(struct trace_follow *f, struct err *err);

/* The next event that is not later than `until`; in the middle of a longer reading, none that a
 * chunk not read yet may come before.  *stream: the stream's number. */
enum merge_what trace_follow_next(struct trace_follow *f, uint64_t until, struct event *e,
                                  uint32_t *stream);

/* The definitions and losses so far, for every function of trace.h that looks something up; it has
 * no chunks, so no iterator.  Its tables may move with each poll, texts and frames do not. */
const struct trace *trace_follow_trace(const struct trace_follow *f);

struct trace_follow_state {
    bool ended;             /* the file says that nothing more will come, and all of it was read */
    uint64_t read;          /* events read, whether handed out or not */
    uint64_t missed;        /* events overwritten by the recording, or damaged, before we read */
    uint64_t skipped;       /* events before the first one read: left out because of `tail`, or
                             * overwritten before we came */
    uint64_t first, latest; /* times of the events read; 0: none */
};
struct trace_follow_state trace_follow_state(const struct trace_follow *f);

#endif
