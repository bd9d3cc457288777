/* source.h - opening the files that importers read (struct text_source of lines.h). */
#ifndef ORCA_IMPORT_SOURCE_H
#define ORCA_IMPORT_SOURCE_H

#include "import/lines.h"

/* Open a regular file.  On failure *s is absent, and err names the path. */
int source_open(struct text_source *s, const char *path, struct err *err);
void source_close(const struct text_source *s);

#define SOURCE_XML "XML"

/* -EINVAL when the file is known to be something else than `what`, "a text event log" or
 * SOURCE_XML: such bytes are better called by their name than by their first wrong column. */
int source_refuse_foreign(const struct text_source *s, const char *what, struct err *err);

/* The first n - 1 bytes of a file as a C string; "" when there are none. */
void source_head(const char *path, char *out, size_t n);

bool source_ends_with(const char *path, const char *suffix);

#endif
