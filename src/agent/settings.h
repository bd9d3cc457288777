/* settings.h - the agent's options: "key=value,key=value", or the lone file prefix of
 * the 2014 Orca back-end manual. */
#ifndef ORCA_AGENT_SETTINGS_H
#define ORCA_AGENT_SETTINGS_H

#include "base/err.h"
#include "base/options.h"
#include "export/export.h"
#include "format/event.h"

#include <stdbool.h>
#include <stdint.h>

/* Bits of settings.formats: the trace, and behind it the rows of EXPORTERS in their order. */
enum output_index {
    FORMAT_INDEX_otrace,
#define EXPORTER(id, name) FORMAT_INDEX_##id,
    EXPORTERS
#undef EXPORTER
};
#define FORMAT_OTRACE (UINT64_C(1) << FORMAT_INDEX_otrace)
#define FORMAT_ORCA (UINT64_C(1) << FORMAT_INDEX_orca)
/* The bit of exporters[i]. */
#define FORMAT_OF(i) (UINT64_C(2) << (i))

enum ownerstacks { OWNERSTACKS_AUTO, OWNERSTACKS_ALL, OWNERSTACKS_NONE };

/* How peers and paths of input and output are written; and io= without it. */
enum iodetails { IODETAILS_FULL, IODETAILS_HASHED, IODETAILS_NONE };
enum { IO_DEFAULT_NS = 10000 };

/* Who reports every object: calls in the program's code, or the JVM. */
enum allocby { ALLOCBY_CODE, ALLOCBY_JVM };

enum { DEPTH_MAX = 1024, HOLDSAMPLE_MAX = 1000000 };

struct settings {
    char *text; /* the option string, which the values point into */
    const char *file, *ringdir, *session;
    const char *include, *exclude, *methods;
    uint64_t formats; /* FORMAT_* bits */
    uint64_t events;  /* bits of the rows of settings_groups */
    uint64_t depth, ring, ringmem, maxsize, duration, holdsample;
    uint64_t every, keep;
    uint64_t fast;        /* ns; shorter blocks are not in the text formats */
    uint64_t cpuclock;    /* enum sampled_clock */
    uint64_t cpu, wall;   /* ns between samples; 0: the default, when the group is on */
    uint64_t samplebytes; /* group sampled_alloc: one sample per this many bytes */
    uint64_t allocby;     /* enum allocby */
    uint64_t ownerstacks; /* enum ownerstacks */
    uint64_t io;          /* ns; shorter calls of input and output are not recorded */
    uint64_t iodetails;   /* enum iodetails */
    uint64_t full;        /* 0 drop, 1 block */
    const char *cost_text;
    uint64_t cost; /* limit in 100,000ths of the processors' time, above which short waits are
                      summed; or */
#define COST_OFF UINT64_MAX
    bool costflip;  /* a test's: or at random moments */
    bool costlight; /* likewise: most parks are only timed then */
    bool contanalysis, quiet, control, allocstacks, arguments, time;
    const char *archive; /* the JVM's option that makes an archive of its classes, which then stay
                          * as they are; NULL: none */
    bool is_prefix;      /* file: of the manual's command line, without a suffix */
    bool asked[GROUP_LIMIT];  /* what the options ask for, and */
    bool groups[GROUP_LIMIT]; /* what is recorded */
};

/* The agent's option table, for the parser and for docs/reference/agent-options.md. */
extern const struct opt_table settings_table;

/* Parse the option string; NULL or "" gives the defaults.  `spec2`: the library was loaded by its
 * spec-2 name, where no argument means the default prefix.  Nothing is printed. */
int settings_parse(struct settings *s, const char *options, bool spec2, struct err *err);

/* -EINVAL: one of them would record nothing without another one. */
int settings_check_groups(const bool groups[GROUP_LIMIT], struct err *err);

/* The JVM makes an archive of its classes: changes none of them, and so leaves groups out. */
void settings_leave_classes(struct settings *s, const char *option);

/* What a choice of groups brings with it, and what contanalysis=off keeps out of it, or the
 * archive. */
void settings_complete_groups(const struct settings *s, bool groups[GROUP_LIMIT]);

/* A sentence without its end, which names those of the groups that are kept out, and why.  False:
 * none is. */
bool settings_put_left_out(const struct settings *s, const bool groups[GROUP_LIMIT],
                           struct buf *to);

/* Whether objects of this class (JVM signature) are recorded, by include= and exclude=. */
bool settings_wants_class(const struct settings *s, const char *signature);

/* Whether other formats than the trace are written at the end. */
bool settings_has_texts(const struct settings *s);

/* Only the trace has turns. */
static inline bool settings_wants_sched(const struct settings *s)
{
    return s->groups[GROUP_sched] && s->formats & FORMAT_OTRACE;
}

/* Whether the file's name changes with the time: it has a %t. */
bool settings_names_time(const struct settings *s);

/* The trace's absolute path: %p is the pid, %t the time (yyyymmdd-hhmmss), %% a percent sign. */
int settings_path(const struct settings *s, char *out, size_t n, struct err *err);

#endif
