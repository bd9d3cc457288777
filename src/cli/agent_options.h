/* agent_options.h - the agent's options that orca record and orca attach accept, and their text. */
#ifndef ORCA_CLI_AGENT_OPTIONS_H
#define ORCA_CLI_AGENT_OPTIONS_H

#include "base/buf.h"
#include "base/err.h"
#include "format/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent_options {
    const char *file;    /* the trace, with the agent's %p and %t */
    const char *methods; /* a table's path, or CLASS#METHOD+...; NULL: none */
    const char *cost;    /* a percentage, or "off"; NULL: the agent's default */
    const char *more;    /* KEY=VALUE,... as the user wrote it; NULL: none */
    uint64_t events;     /* bits, as in event_group_names; 0: the agent's default */
    uint64_t every;      /* ns; 0: one file */
    uint64_t keep;       /* files at most; 0: all */
    uint64_t cpu, wall;  /* ns between samples; 0: none */
    uint64_t alloc;      /* bytes of allocation between samples; 0: none */
    bool time;           /* the group sched, in addition to the others */
};

#define AGENT_FILE_DEFAULT "orca-%p.otrace"

/* Rows for the command's options, `at` the offset of its struct agent_options. */
#define AGENT_OPTIONS(at)                                                                          \
    {"events",                                                                                     \
     'e',                                                                                          \
     OPT_SET,                                                                                      \
     (at) + offsetof(struct agent_options, events),                                                \
     "GROUPS",                                                                                     \
     "groups of events to record, joined by '+' (default: all that cost nothing when idle)",       \
     event_group_names,                                                                            \
     EVENT_GROUPS_NAMED,                                                                           \
     0},                                                                                           \
        {"methods",                                                                                \
         'm',                                                                                      \
         OPT_STR,                                                                                  \
         (at) + offsetof(struct agent_options, methods),                                           \
         "TABLE",                                                                                  \
         "more methods whose calls are recorded: a file as in docs/reference/method-tables.md, "   \
         "or "                                                                                     \
         "CLASS#METHOD+...",                                                                       \
         NULL,                                                                                     \
         0,                                                                                        \
         0},                                                                                       \
        {"cpu",     0,                                                                             \
         OPT_TIME,  (at) + offsetof(struct agent_options, cpu),                                    \
         "TIME",    "sample threads by their processor time: 10ms (default: no samples)",          \
         NULL,      100000,                                                                        \
         1000000000},                                                                              \
        {"wall",    0,                                                                             \
         OPT_TIME,  (at) + offsetof(struct agent_options, wall),                                   \
         "TIME",    "sample all threads by the clock, running or not: 20ms (default: no samples)", \
         NULL,      100000,                                                                        \
         1000000000},                                                                              \
        {"time",                                                                                   \
         0,                                                                                        \
         OPT_FLAG,                                                                                 \
         (at) + offsetof(struct agent_options, time),                                              \
         NULL,                                                                                     \
         "record when threads are on a processor, and when they wait for one "                     \
         "(docs/concepts/processor.md)",                                                           \
         NULL,                                                                                     \
         0,                                                                                        \
         0},                                                                                       \
        {"alloc",  0,                                                                              \
         OPT_SIZE, (at) + offsetof(struct agent_options, alloc),                                   \
         "SIZE",   "sample allocated objects, one per SIZE bytes: 512k (default: no samples)",     \
         NULL,     1,                                                                              \
         1 << 30},                                                                                 \
        {"every",                                                                                  \
         0,                                                                                        \
         OPT_TIME,                                                                                 \
         (at) + offsetof(struct agent_options, every),                                             \
         "TIME",                                                                                   \
         "continue in a new file after each TIME, at least 1s (default: one file)",                \
         NULL,                                                                                     \
         1000000000,                                                                               \
         UINT64_C(31536000000000000)},                                                             \
        {"keep",   0,                                                                              \
         OPT_UINT, (at) + offsetof(struct agent_options, keep),                                    \
         "N",      "keep the newest N files of the recording, at least 2 (default: all)",          \
         NULL,     2,                                                                              \
         100000},                                                                                  \
        {"cost",                                                                                   \
         0,                                                                                        \
         OPT_STR,                                                                                  \
         (at) + offsetof(struct agent_options, cost),                                              \
         "PERCENT|off",                                                                            \
         "while recording takes more than this share of the processors' time, "                    \
         "record short waits as sums by site; off: each one (default: 5%)",                        \
         NULL,                                                                                     \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        "options", 0, OPT_STR, (at) + offsetof(struct agent_options, more), "KEY=VALUE,...",       \
            "more options for the agent, as in docs/reference/agent-options.md", NULL, 0, 0        \
    }

/* Report an error in a table before anything is done, rather than from the JVM. */
int agent_options_check(const struct agent_options *o, struct err *err);

/* Append the text.  `own`: the command's own, "KEY=VALUE" and escaped, or NULL.  `folder`: where a
 * relative name stands in the JVM's files; NULL: they are ours, and it is the current folder. */
int agent_options_put(const struct agent_options *o, const char *own, const char *folder,
                      struct buf *b, struct err *err);

#endif
