/* model_files.h - what an export of the model wrote, in memory, and protocol buffers read by hand,
 * for tests.  Mistakes fail the test. */
#ifndef ORCA_TESTS_MODEL_FILES_H
#define ORCA_TESTS_MODEL_FILES_H

#include "base/buf.h"
#include "export/model_export.h"
#include "trace_builder.h"

/* Everything, blocked time by the waiter in us. */
struct model_options model_options(void);

/* Analyse and export.  The result is freed with buf_fini.  job (may be NULL): its counts. */
struct buf model_file(const char *format, struct trace *t, const struct model_options *o,
                      struct model_job *job);

/* The same of a format of text, as `expected` has it; closes the trace. */
void model_text_is(const char *format, struct trace *t, const struct model_options *o,
                   const char *expected);

/* What zlib makes of compressed bytes, gzip or not. */
struct buf inflated(const void *p, size_t n);

/* --- protocol buffers ------------------------------------------------------------------------- */

struct field_of {
    uint32_t number;
    uint64_t value;   /* varint, fixed64 */
    const uint8_t *p; /* of a length-delimited one; NULL of the others */
    size_t n;
};

struct fields {
    const uint8_t *p, *end;
};

struct fields fields_of(const void *p, size_t n);

/* The next field; false at the end. */
bool fields_next(struct fields *f, struct field_of *out);

/* The first field of this number; false: there is none. */
bool fields_find(struct fields f, uint32_t number, struct field_of *out);

/* A number from a list of varints. */
uint64_t fields_varint(struct fields *f);

#endif
