/* orca_defs.h - the files beside an event log that say what its methods and classes are.
 *
 *     version 2     .methods and .classtable
 *     version 1.1   .meta
 *
 * A method keeps its id where a trace allows it (ids there are dense), else it gets a free one. */
#ifndef ORCA_IMPORT_ORCA_DEFS_H
#define ORCA_IMPORT_ORCA_DEFS_H

#include "base/map.h"
#include "format/orca_lines.h"
#include "import/intake.h"

struct orca_defs {
    struct intake *in; /* borrowed */
    enum orca_version version;

    struct map ids;   /* method id in the file -> in the trace, 0: not given yet */
    struct map given; /* ids in the trace that are not the file's own */
    uint32_t last_given;
    struct map methods;              /* method ids that were defined -> hash of the line */
    struct map classes, class_lines; /* version 2: class id -> in the trace; -> hash of the line */
    struct digest signatures;        /* version 1.1: signature -> class in the trace; 2: likewise,
                                      * of classes without a line, less the number of `classes` */
    uint64_t n_unknown_class;

    /* Line tables that can only be start;line, and line;start: see docs/reference/orca-text.md. */
    uint64_t start_first, line_first;
    uint32_t *pairs; /* of the line being read; [2 * cap_pairs] */
    size_t cap_pairs;
    struct buf packed;
    bool methods_began; /* of a .meta file */
};

void orca_defs_init(struct orca_defs *d, struct intake *in, enum orca_version version);
void orca_defs_fini(struct orca_defs *d);

/* Read the companions of an event log: of version 2 .methods and .classtable, of 1.1 .meta and
 * none.  A source without a name is absent. */
int orca_defs_read(struct orca_defs *d, const struct text_source *methods,
                   const struct text_source *classes, struct err *err);

/* The class of a name (java/lang/Object) that no line of the files need have.  After
 * orca_defs_read. */
int orca_defs_class(struct orca_defs *d, const char *name, class_id *id, struct err *err);

/* The trace's id of a method that a stack names, defined or not. */
int orca_defs_method(struct orca_defs *d, uint64_t in_file, method_id *id, struct err *err);

#endif
