#include "orca_files.h"

#include "base/util.h"
#include "import/orca_text.h"
#include "import/trcxml.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *folder_make(void)
{
    char *folder = strdup("/tmp/orca-test-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    return folder;
}

/* The path of the next entry of a folder, or false. */
static bool next_entry(DIR *d, const char *folder, char *path, size_t n)
{
    struct dirent *e;
    while ((e = readdir(d)))
        if (e->d_name[0] != '.') {
            snprintf(path, n, "%s/%s", folder, e->d_name);
            return true;
        }
    return false;
}

size_t folder_count(const char *folder)
{
    char path[512];
    size_t n = 0;
    DIR *d = opendir(folder);
    while (next_entry(d, folder, path, sizeof path))
        n++;
    closedir(d);
    return n;
}

void folder_remove(char *folder)
{
    char path[512];
    DIR *d = opendir(folder);
    while (next_entry(d, folder, path, sizeof path))
        unlink(path);
    closedir(d);
    rmdir(folder);
    free(folder);
}

static char *read_text(const char *prefix, const char *suffix)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", prefix, suffix);
    FILE *f = fopen(path, "r");
    cr_assert_not_null(f, "%s is not there", path);
    struct buf b = {0};
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        buf_put(&b, part, n);
    fclose(f);
    buf_str(&b);
    return (char *)b.p;
}

struct orca_files files_export(const struct exporter *x, struct trace *t)
{
    return files_export_job(x, &(struct export_job){.trace = t});
}

struct orca_files files_export_job(const struct exporter *x, const struct export_job *job)
{
    struct err err = {""};
    char *folder = folder_make(), prefix[300];
    snprintf(prefix, sizeof prefix, "%s/app", folder);
    struct orca_files f = {.job = *job};
    f.job.prefix = prefix;
    int rc = export_job_run(x, &f.job, &err);
    cr_assert_eq(rc, 0, "%s", err.msg);
    size_t n = 0;
    for (size_t i = 0; x->suffixes[i]; i++)
        if (export_has_file(x, &f.job, i)) {
            f.text[i] = read_text(prefix, x->suffixes[i]);
            n++;
        }
    cr_assert_eq(folder_count(folder), n, "something else was left behind");
    folder_remove(folder);
    f.job.prefix = NULL;
    return f;
}

void files_free(struct orca_files *f)
{
    for (size_t i = 0; i < EXPORT_FILES_MAX; i++)
        free(f->text[i]);
}

static struct text_source source(const char *name, const char *text)
{
    if (!text)
        return (struct text_source){NULL, -1, NULL, 0};
    return (struct text_source){name, -1, text, strlen(text)};
}

struct trace *files_import(const char *log, const char *methods, const char *classtable,
                           const char *meta, struct err *err)
{
    return files_import_calls(log, methods, classtable, meta, NULL, err);
}

/* NOLINTNEXTLINE(readability-function-size): as many as there are files */
struct trace *files_import_calls(const char *log, const char *methods, const char *classtable,
                                 const char *meta, const char *calltable, struct err *err)
{
    struct orca_sources s = {source("app.orca", log), source("app.methods", methods),
                             source("app.classtable", classtable), source("app.meta", meta),
                             source("app.calltable", calltable)};
    struct trace *t;
    err->msg[0] = 0;
    int rc = import_orca_from(&t, &s, NULL, err);
    cr_assert((rc == 0) == (t != NULL));
    cr_assert((rc < 0) == (err->msg[0] != 0));
    return t;
}

struct trace *files_import_again(const struct orca_files *f)
{
    struct err err;
    bool old = !f->text[2];
    struct trace *t =
        old ? files_import(f->text[0], NULL, NULL, f->text[1], &err)
            : files_import_calls(f->text[0], f->text[1], f->text[2], NULL, f->text[3], &err);
    cr_assert_not_null(t, "%s", err.msg);
    cr_assert_eq(t->n_problems, 0, "%s", t->n_problems ? t->problems[0].text : "");
    return t;
}

struct trace *files_import_xml(const char *xml, struct err *err)
{
    struct text_source s = source("app.trcxml", xml);
    struct trace *t;
    err->msg[0] = 0;
    int rc = import_trcxml_from(&t, &s, NULL, err);
    cr_assert((rc == 0) == (t != NULL));
    cr_assert((rc < 0) == (err->msg[0] != 0));
    return t;
}

struct trace *files_import_xml_again(const struct orca_files *f)
{
    struct err err;
    struct trace *t = files_import_xml(f->text[0], &err);
    cr_assert_not_null(t, "%s", err.msg);
    cr_assert_eq(t->n_damaged, 0, "%s", t->n_problems ? t->problems[0].text : "");
    return t;
}
