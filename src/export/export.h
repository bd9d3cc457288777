/* export.h - writing a trace in a format that other tools read.
 *
 * A format is one struct of callbacks in one file and one row of EXPORTERS.  export_run opens its
 * files under temporary names, hands it every event in the order of time, and gives the files their
 * names once all of them are complete: no reader ever finds half of an export under its final name.
 *
 * Linked into the agent, where it runs while the JVM ends: no globals, never exits; one thread. */
#ifndef ORCA_EXPORT_EXPORT_H
#define ORCA_EXPORT_EXPORT_H

#include "base/err.h"
#include "export/out.h"
#include "format/trace.h"

#include <stdbool.h>
#include <string.h>

enum { EXPORT_FILES_MAX = 4 };

/* One export on its way, as its format sees it. */
struct export
{
    struct trace *trace;
    struct out files[EXPORT_FILES_MAX]; /* one per suffix, open */
    void *state;                        /* the format's own */
    uint64_t suppressed;                /* events that the format asks to leave out */
};

struct exporter {
    const char *name;    /* what --to and format= call it */
    const char *summary; /* one line for the help */
    const char *const
        *suffixes;          /* PREFIX + suffix are its files; the main one first; ends with NULL */
    const char *optional;   /* the suffix of a file that is not there when it has no line; NULL */
    const char *leaves_out; /* which events `suppressed` counts, for the user */

    /* All return 0 or a negative errno with err set.  `end` is called after the last event, `fini`
     * always, even when `begin` failed half-way. */
    int (*begin)(struct export *x, struct err *err);
    int (*event)(struct export *x, const struct event *e, struct err *err);
    int (*end)(struct export *x, struct err *err);
    void (*fini)(struct export *x);

    /* Whether the format has this kind of event; others are not handed to `event`. */
    bool (*has)(unsigned kind);
};

#define EXPORTERS                                                                                  \
    EXPORTER(orca, "orca")                                                                         \
    EXPORTER(orca_1_1, "orca-1.1")                                                                 \
    EXPORTER(tptp, "tptp")

/* The format of a name, or NULL. */
const struct exporter *exporter_find(const char *name);

/* All of them, and their names (for option tables); both end with NULL, in the same order. */
extern const struct exporter *const exporters[];
extern const char *const exporter_names[];

/* A suffix that both write, so that they cannot share a prefix; NULL when there is none. */
const char *exporter_clash(const struct exporter *a, const struct exporter *b);

struct export_job {
    struct trace *trace;
    const char *prefix;
    void (*progress)(void *ctx, uint64_t done, uint64_t total); /* events; may be NULL */
    void *ctx;
    bool no_fast;     /* leave out contention whose owner had gone before it could be named, */
    uint64_t fast_ns; /* and what is shorter than this; 0: nothing */

    /* results */
    uint64_t lines[EXPORT_FILES_MAX]; /* in each file, in the order of the suffixes; of the main one
                                         those of events */
    uint64_t suppressed;              /* events the format asks to leave out, like nested calls */
    uint64_t skipped[EV_LIMIT];       /* events of kinds the format does not have; no meta events */
    uint64_t fast;                    /* contentions left out because of these */
};

/* Whether the file of suffix i is there after an export that went well. */
static inline bool export_has_file(const struct exporter *x, const struct export_job *job, size_t i)
{
    return job->lines[i] > 0 || !x->optional || strcmp(x->suffixes[i], x->optional) != 0;
}

/* Events of the trace that have no line; of kinds that say something of the program. */
static inline uint64_t export_left_out(const struct export_job *job)
{
    uint64_t n = job->suppressed;
    for (unsigned i = 0; i < EV_LIMIT; i++)
        n += job->skipped[i];
    return n;
}

/* On failure none of the files is there, unless the error is that they could not all be renamed. */
int export_job_run(const struct exporter *x, struct export_job *job, struct err *err);

/* The same of everything, without results. */
int export_run(const struct exporter *x, struct trace *t, const char *prefix, struct err *err);

#endif
