/* model_export.h - writing what was analysed in a format that other tools open.
 *
 * The formats of export.h take a trace's events one by one; these take the model: waits, what
 * caused them, who ended them (analyze/timeline.h).  A format is one file and one row of
 * MODEL_EXPORTERS.  It writes one file, from front to back, and gives it its name once it is
 * complete.
 *
 * For the commands only: the agent does not link it. */
#ifndef ORCA_EXPORT_MODEL_EXPORT_H
#define ORCA_EXPORT_MODEL_EXPORT_H

#include "analyze/alloc_sums.h"
#include "analyze/analysis.h"
#include "export/out.h"

/* Whose stacks: those of waits, samples, or allocations. */
enum model_by {
    MODEL_BY_WAITER,
    MODEL_BY_OWNER,
    MODEL_BY_WAKER,
    MODEL_BY_CPU, /* samples by processor time */
    MODEL_BY_WALL,
    MODEL_BY_OWNER_CPU, /* samples of owners while others wanted their locks */
    MODEL_BY_OWNER_WALL,
    MODEL_BY_ALLOC, /* bytes allocated */
    MODEL_BY_ALLOC_OBJECTS,
    MODEL_BY_LIVE, /* of them: live at the end */
    MODEL_BY_LIVE_OBJECTS,
};

/* "waiter", "owner", "waker", "cpu", "wall", "owner-cpu", "owner-wall", "alloc", "alloc-objects",
 * "live", "live-objects"; ends with NULL. */
extern const char *const model_by_names[];

enum model_unit { MODEL_NS, MODEL_US, MODEL_MS, MODEL_COUNT };

/* "ns", "us", "ms", "count"; ends with NULL. */
extern const char *const model_unit_names[];

static inline bool model_by_samples(enum model_by by)
{
    return by >= MODEL_BY_CPU && by <= MODEL_BY_OWNER_WALL;
}

static inline bool model_by_allocs(enum model_by by)
{
    return by >= MODEL_BY_ALLOC;
}

/* Of one of allocations. */
static inline enum alloc_what model_by_what(enum model_by by)
{
    return by == MODEL_BY_ALLOC || by == MODEL_BY_ALLOC_OBJECTS ? ALLOC_ALLOCATED : ALLOC_KEPT;
}

static inline bool model_by_objects(enum model_by by)
{
    return by == MODEL_BY_ALLOC_OBJECTS || by == MODEL_BY_LIVE_OBJECTS;
}

static inline bool model_by_waits(enum model_by by)
{
    return by < MODEL_BY_CPU;
}

/* Of one of samples. */
static inline enum sample_kind model_by_kind(enum model_by by)
{
    return by == MODEL_BY_CPU || by == MODEL_BY_OWNER_CPU ? SAMPLE_CPU : SAMPLE_WALL;
}

static inline bool model_by_owners(enum model_by by)
{
    return by == MODEL_BY_OWNER_CPU || by == MODEL_BY_OWNER_WALL;
}

/* The parameters of a format in addition to the selection. */
enum {
    MODEL_TAKES_STATES = 1,
    MODEL_TAKES_BY = 2,
    MODEL_TAKES_UNIT = 4,
    MODEL_TAKES_THREADS = 8,
    MODEL_TAKES_LINES = 16,
    MODEL_TAKES_KINDS = 32,
};

struct model_options {
    struct selection selection;
    uint64_t states; /* bits of export/waits.h; 0: the format's own choice */
    enum model_by by;
    enum model_unit unit;
    bool threads; /* the thread's name is the outermost frame */
    bool lines;   /* frames have line numbers */
    bool kinds;   /* frames end in how they were executed */
};

/* Of MODEL_BY_OWNER, what its stacks stand for: waits whose owner was asked what it executes, and
 * the others, which are left out. */
struct model_base {
    uint64_t asked, asked_ns, not_asked, not_asked_ns;
};

/* One export on its way, as its format sees it. */
struct model_export {
    const struct analysis *a;
    struct model_options options; /* states: made up */
    struct out out;
    void (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
    uint64_t written;  /* things, as the format counts them */
    uint64_t left_out; /* of them */
    struct model_base base;
};

struct model_exporter {
    const char *name;       /* what --to calls it */
    const char *suffix;     /* PREFIX + suffix is its file */
    const char *things;     /* what it counts: "stack" */
    const char *leaves_out; /* which of them `left_out` counts, for the user; NULL: none */
    unsigned takes;
    bool is_text;
    uint64_t states; /* without --states */

    /* 0 or a negative errno with err set. */
    int (*write)(struct model_export *x, struct err *err);
};

#define MODEL_EXPORTERS                                                                            \
    MODEL_EXPORTER(collapsed, "collapsed")                                                         \
    MODEL_EXPORTER(pprof, "pprof")                                                                 \
    MODEL_EXPORTER(perfetto, "perfetto")

/* All of them, in the order of the list; ends with NULL. */
extern const struct model_exporter *const model_exporters[];

/* The format of a name, or NULL. */
const struct model_exporter *model_exporter_find(const char *name);

struct model_job {
    const struct analysis *a;
    const char *prefix; /* NULL: the standard output */
    struct model_options options;
    void (*progress)(void *ctx, uint64_t done, uint64_t total); /* may be NULL */
    void *ctx;

    /* results */
    uint64_t written, left_out; /* as in struct model_export */
    struct model_base base;
};

/* On failure no file is left. */
int model_export_run(const struct model_exporter *m, struct model_job *job, struct err *err);

/* For a format, now and then: shows progress.  Whether it should go on: not when what was written
 * does not reach the file. */
bool model_export_goes_on(struct model_export *x, uint64_t done, uint64_t total);

#endif
