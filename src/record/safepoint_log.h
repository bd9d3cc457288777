/* safepoint_log.h - the JVM's own lines about its safepoints (-Xlog:safepoint, JDK 17 and later),
 * which it writes into a file of ours in memory, and who reads them.
 *
 *     [53239938292185ns] Safepoint "ThreadDump", Time since last: 71524982 ns, Reaching safepoint:
 *     4028 ns, Cleanup: 4548 ns, At safepoint: 54041 ns, Total: 62617 ns
 *
 * The JVM takes all of these times from CLOCK_MONOTONIC.  A line is stamped when it is written,
 * some time after the threads went on; the distance to the safepoint before is exact, so
 *     until = the earlier of the stamp and (until of the one before + since last + total)
 * What was read is given back to the system: the file holds what one look missed, no more. */
#ifndef ORCA_RECORD_SAFEPOINT_LOG_H
#define ORCA_RECORD_SAFEPOINT_LOG_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SAFEPOINT_NAME_BYTES = 64 };

struct safepoint_line {
    char operation[SAFEPOINT_NAME_BYTES]; /* printable ASCII */
    uint64_t since, reached, until;       /* asked for; all threads stand; they go on */
};

struct safepoint_log {
    int fd;           /* -1: closed */
    uint64_t at;      /* how much of it is read, */
    uint64_t freed;   /* and given back */
    uint64_t last;    /* until of the line before; 0: not known */
    uint64_t dropped; /* lines that the JVM says it has left out */
};

/* A line without its end.  False: it is none of a safepoint; what it says of dropped ones is
 * counted. */
bool safepoint_log_parse(struct safepoint_log *log, const char *line, size_t n,
                         struct safepoint_line *out);

/* Make the file; out: its path, for this process. */
int safepoint_log_open(struct safepoint_log *log, char *out, size_t max, struct err *err);
void safepoint_log_close(struct safepoint_log *log);

/* What is new in it, to its end, a line at a time.  Bounded: about a megabyte. */
void safepoint_log_read(struct safepoint_log *log,
                        void (*take)(void *ctx, const struct safepoint_line *line), void *ctx);

#endif
