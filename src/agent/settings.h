/* settings.h - the agent's options: "key=value,key=value", or spec 2's lone file prefix. */
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

enum { DEPTH_MAX = 1024 };

struct settings {
    char *text; /* the option string, which the values point into */
    const char *file, *ringdir, *session;
    const char *include, *exclude;
    uint64_t formats; /* FORMAT_* bits */
    uint64_t events;  /* bits of the rows of settings_groups */
    uint64_t depth, ring, ringmem, maxsize, duration;
    uint64_t full; /* 0 drop, 1 block */
    bool contanalysis, quiet;
    bool groups[GROUP_LIMIT];
};

/* The agent's option table, for the parser and for docs/agent-options.md. */
extern const struct opt_table settings_table;

/* Parse the option string; NULL or "" gives the defaults.  `spec2`: the library was loaded by its
 * spec-2 name, where no argument means the default prefix.  Nothing is printed. */
int settings_parse(struct settings *s, const char *options, bool spec2, struct err *err);

/* Whether objects of this class (JVM signature) are recorded, by include= and exclude=. */
bool settings_wants_class(const struct settings *s, const char *signature);

/* The trace's absolute path: %p is the pid, %t the time (yyyymmdd-hhmmss), %% a percent sign. */
int settings_path(const struct settings *s, char *out, size_t n, struct err *err);

#endif
