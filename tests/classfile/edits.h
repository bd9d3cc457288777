/* edits.h - the edits by name that the corpus tool, the fuzzer and the unit tests apply. */
#ifndef ORCA_TESTS_CLASSFILE_EDITS_H
#define ORCA_TESTS_CLASSFILE_EDITS_H

#include "classfile/edit.h"

/* State of one named set of edits; a plan's ctx. */
struct edits {
    const char *name;
    struct cf_edit list[CF_MAX_EDITS];
    uint32_t n;
    char desc[4][1024]; /* of probes whose parameters follow the method's */
};

/* False: no such name. */
bool edits_init(struct edits *e, const char *name);
struct cf_plan edits_plan(struct edits *e);

/* All names, NULL at the end. */
extern const char *const edits_names[];

#endif
