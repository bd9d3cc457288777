/* orca_files.h - Orca's text files in memory, for the tests of their exporter and importer. */
#ifndef ORCA_TESTS_ORCA_FILES_H
#define ORCA_TESTS_ORCA_FILES_H

#include "export/export.h"
#include "format/trace.h"

/* What an export wrote, as C strings in the order of the suffixes; NULL for a missing file. */
struct orca_files {
    char *text[EXPORT_FILES_MAX];
    struct export_job job;
};

/* Export (in a folder of its own) and read what was written.  A failure fails the test. */
struct orca_files files_export(const struct exporter *x, struct trace *t);
struct orca_files files_export_job(const struct exporter *x, const struct export_job *job);
void files_free(struct orca_files *f);

/* Import texts: version 2 with .methods and .classtable, or 1.1 with a .meta.  NULL: no such file.
 * The log is called app.orca.  Returns NULL with *err set. */
struct trace *files_import(const char *log, const char *methods, const char *classtable,
                           const char *meta, struct err *err);
struct trace *files_import_calls(const char *log, const char *methods, const char *classtable,
                                 const char *meta, const char *calltable, struct err *err);

/* The same of what was exported; must succeed. */
struct trace *files_import_again(const struct orca_files *f);

/* The same of TPTP's XML; files_import_xml_again must succeed, too. */
struct trace *files_import_xml(const char *xml, struct err *err);
struct trace *files_import_xml_again(const struct orca_files *f);

/* A new folder, removed with everything in it by folder_remove. */
char *folder_make(void);
void folder_remove(char *folder);
size_t folder_count(const char *folder);

#endif
