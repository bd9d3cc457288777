#include "tptp_lines.h"

#include "orca_files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct exporter *tptp(void)
{
    return exporter_find("tptp");
}

/* The clock of the builder's traces: an event at N ns happened at 1763700000 s and N ns. */
#define CLOCK " time='1763700000."

/* One line as the expectations below spell it: ' for ", and @N, in ns, for its time. */
static void put_short(struct buf *b, const char *line, size_t n)
{
    char copy[4096], *p = copy;
    cr_assert_lt(n, sizeof copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = (char)(line[i] == '"' ? '\'' : line[i]);
    copy[n] = 0;
    char *time = strstr(copy, CLOCK);
    if (time) {
        buf_put(b, p, (size_t)(time - p));
        p = time + strlen(CLOCK);
        buf_printf(b, " @%ld", strtol(p, &p, 10));
        p++;
    }
    buf_puts(b, p);
    buf_putc(b, '\n');
}

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* An objDef, or the class in front of it: tests of their own look at these. */
static bool is_definition(const char *line)
{
    const char *next = line + strcspn(line, "\n") + 1;
    return begins(line, "<objDef") || (begins(line, "<classDef") && begins(next, "<objDef"));
}

/* What is between the options and the end of the trace; free it. */
static char *events_of(const char *text)
{
    struct buf b = {0};
    const char *p = strstr(text, "<option key=\"orca.state\"");
    cr_assert_not_null(p);
    for (p += strcspn(p, "\n") + 1; *p; p += strcspn(p, "\n") + 1)
        if (!is_definition(p) && !begins(p, "<traceEnd") && !begins(p, "<agentDestroy") &&
            !begins(p, "</TRACE>"))
            put_short(&b, p, strcspn(p, "\n"));
    buf_str(&b);
    return (char *)b.p;
}

uint64_t trace_is(struct trace *t, const char *expected)
{
    struct orca_files f = files_export(tptp(), t);
    char *got = events_of(f.text[0]);
    cr_assert_str_eq(got, expected, "\ngot\n%s\nexpected\n%s", got, expected);
    uint64_t lines = 0, suppressed = f.job.suppressed;
    for (const char *p = got; *p; p++)
        lines += *p == '\n';
    for (const char *p = strstr(got, "<classDef"); p; p = strstr(p + 1, "<classDef"))
        lines--; /* no event */
    cr_assert_eq(f.job.lines[0], lines, "the lines around the events are not counted");
    free(got);
    files_free(&f);
    trace_close(t);
    return suppressed;
}

void is_valid(struct trace *t)
{
    static const char dtd[] = "docs/reference/orca-tptp.dtd";
    if (system("xmllint --version >/dev/null 2>&1") != 0 || access(dtd, R_OK) != 0)
        cr_skip_test("no xmllint, or not run in the root of the repository");
    char *folder = folder_make(), prefix[300], command[800];
    struct err err;
    snprintf(prefix, sizeof prefix, "%s/app", folder);
    cr_assert_eq(export_run(tptp(), t, prefix, &err), 0, "%s", err.msg);
    snprintf(command, sizeof command, "xmllint --noout --dtdvalid %s %s.trcxml", dtd, prefix);
    cr_assert_eq(system(command), 0);
    folder_remove(folder);
    trace_close(t);
}

void scene_init(struct scene *s, const char *groups)
{
    builder_init(&s->b);
    if (*groups)
        builder_info(&s->b, "orca.events", groups);
    s->main = builder_thread(&s->b, "main");
    s->other = builder_thread(&s->b, "other");
    s->at = 0;
    ADD0(&s->b, 1, s->main, 0, thread_start);
}

uint64_t scene_is(struct scene *s, const char *expected)
{
    return trace_is(builder_open(&s->b, s->at), expected);
}

lock_id lock_of(struct scene *s, const char *signature, uint32_t hash)
{
    lock_id id = {++s->b.n_locks};
    builder_def(&s->b, &(struct def){.kind = DEF_lock,
                                     .lock = {.id = id,
                                              .class_ = *signature ? builder_class(&s->b, signature)
                                                                   : (class_id){0},
                                              .hash = hash}});
    return id;
}
