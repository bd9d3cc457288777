/* progress.h - "writing ... 42 %" on the terminal while something takes long; nothing in a pipe. */
#ifndef ORCA_CLI_PROGRESS_H
#define ORCA_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what;
    bool on, shown;
    uint64_t next; /* ns of CLOCK_MONOTONIC: not to be shown again before */
};

void progress_begin(struct progress *p, const char *what);

/* Another part of the work begins; `what` must live as long. */
void progress_phase(struct progress *p, const char *what);

/* A callback for the code that does the work; ctx is the struct. */
void progress_step(void *ctx, uint64_t done, uint64_t total);

/* The same where the total is unknown: "writing ... 42 MB". */
void progress_grow(struct progress *p, uint64_t bytes);

/* Take the line off the terminal again. */
void progress_end(struct progress *p);

#endif
