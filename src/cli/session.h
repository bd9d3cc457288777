/* session.h - the private file in which the agents of one `orca record` list what they record.
 *
 * Each agent appends a line, "pid<TAB>path", in one write for each trace when it begins, and
 * "pid<TAB>-path" for one that it has removed, because it keeps only a number of them.  At the end
 * "pid<TAB>=path" for each file in another format that was written of it, and "pid<TAB>!path" for
 * the trace when only those were requested. */
#ifndef ORCA_CLI_SESSION_H
#define ORCA_CLI_SESSION_H

#include "base/err.h"

#include <stddef.h>

struct session {
    char path[256];
    int fd;
    char *text;   /* the file's content, once read */
    char **files; /* the traces, each once, in the order in which they began, and files in other
                   * formats with a '=' in front; point into text */
    size_t n, n_removed;
};

/* Make the file, mode 0600, in TMPDIR or /tmp. */
int session_open(struct session *s, struct err *err);

/* Read what the agents wrote, into files. */
int session_read(struct session *s, struct err *err);

/* Remove the file. */
void session_close(struct session *s);

#endif
