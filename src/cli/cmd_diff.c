/* cmd_diff.c - two recordings side by side: what got better and what got worse. */
#include "analyze/compare.h"
#include "base/human.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/analyse.h"
#include "cli/cmd.h"
#include "cli/input.h"
#include "cli/table.h"

#include <jansson.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_DEFAULT = 10 };

struct args {
    bool json;
    uint64_t top;
};

static const struct opt opts[] = {
    {"top", 'n', OPT_UINT, offsetof(struct args, top), "N",
     "rows of each table at most, 0 for all (default: 10; with --json all)", NULL, 0,
     UINT32_MAX - 1},
    {"json", 0, OPT_FLAG, offsetof(struct args, json), NULL,
     "one JSON object (schema orca-diff-1, docs/diff-json.md)", NULL, 0, 0},
};

/* Both sides, and what came of them. */
struct diff {
    const char *path[2];
    struct summary s[2];
    struct arena arena;
    struct compare_row *rows;
    size_t n, top;
    bool utf8;
};

/* --- text ------------------------------------------------------------------------------------- */

static void clean(const struct diff *d, const char *raw, char *out, size_t width)
{
    printable_text(raw, d->utf8, out, (size_t)2 * FINDING_TEXT);
    printable_cut(out, width);
}

static void cell(struct table *t, const char *fmt, double v)
{
    char text[64];
    snprintf(text, sizeof text, fmt, v);
    table_put(t, text);
}

static void cell_side(struct table *t, const struct compare_side *s)
{
    cell(t, s->threads < 0.995 ? "%.3f" : s->threads < 99.5 ? "%.2f" : "%.0f", s->threads);
}

/* "-84 %", "new", "gone" */
static void cell_change(struct table *t, double a, double b)
{
    if (a <= 0 || b <= 0)
        table_put(t, a > 0 ? "gone" : b > 0 ? "new" : "-");
    else if (b / a >= 10)
        cell(t, "x %.0f", b / a);
    else
        cell(t, "%+.0f %%", 100 * (b / a - 1));
}

static void cell_path(struct table *t, double share)
{
    if (share < 0)
        table_put(t, "-");
    else
        cell(t, "%.1f %%", 100 * share);
}

static const char *verdict_text(enum compare_verdict v)
{
    static const char *const texts[] = {[COMPARE_SAME] = "as before",
                                        [COMPARE_BETTER] = "better",
                                        [COMPARE_WORSE] = "worse",
                                        [COMPARE_NOISE] = "may be noise",
                                        [COMPARE_OTHER] = "changed"};
    return texts[v];
}

static const struct {
    const char *title, *what;
    bool path;
} tables[COMPARE_KINDS] = {
    [COMPARE_STATE] = {"Threads of the program, on average", "state", false},
    [COMPARE_CLASS] = {"Threads waiting for locks, on average, by class", "class", true},
    [COMPARE_PLACE] = {"Threads waiting for locks, on average, by place", "place", false},
};

static void put_row(struct table *t, const struct diff *d, const struct compare_row *r)
{
    char name[2 * FINDING_TEXT];
    cell_side(t, &r->a);
    cell_side(t, &r->b);
    cell_change(t, r->a.threads, r->b.threads);
    if (tables[r->kind].path) {
        cell_path(t, r->a.path);
        cell_path(t, r->b.path);
    }
    if (r->kind != COMPARE_STATE) {
        table_put(t, r->a.count ? human_time(r->a.p99).text : "-");
        table_put(t, r->b.count ? human_time(r->b.p99).text : "-");
    }
    table_put(t, verdict_text(r->verdict));
    clean(d, r->name, name, 60);
    table_put(t, name);
}

static void print_kind(const struct diff *d, enum compare_kind kind)
{
    static const struct table_column all[] = {
        {"A", TABLE_RIGHT, false},      {"B", TABLE_RIGHT, false},
        {"change", TABLE_RIGHT, false}, {"path A", TABLE_RIGHT, false},
        {"path B", TABLE_RIGHT, false}, {"p99 A", TABLE_RIGHT, false},
        {"p99 B", TABLE_RIGHT, false},  {"", TABLE_LEFT, false},
        {NULL, TABLE_LEFT, true}};
    struct table_column columns[ARRAY_LEN(all)];
    size_t n = 0, rows = 0, shown = 0;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        bool path = i == 3 || i == 4, p99 = i == 5 || i == 6;
        if ((path && !tables[kind].path) || (p99 && kind == COMPARE_STATE))
            continue;
        columns[n] = all[i];
        if (!columns[n].title)
            columns[n].title = tables[kind].what;
        n++;
    }
    for (size_t i = 0; i < d->n; i++)
        rows += d->rows[i].kind == kind;
    if (!rows)
        return;
    struct table t;
    table_init(&t, columns, n);
    for (size_t i = 0; i < d->n; i++)
        if (d->rows[i].kind == kind && (!d->top || shown < d->top)) {
            put_row(&t, d, &d->rows[i]);
            shown++;
        }
    if (shown < rows)
        printf("\n%s: %zu of %zu, most change first\n", tables[kind].title, shown, rows);
    else
        printf("\n%s\n", tables[kind].title);
    table_print(&t, stdout);
    table_fini(&t);
}

/* Rules that speak on one side only: by rule, since the numbers in their texts differ always. */
static bool has_rule(const struct summary *s, const char *rule)
{
    for (size_t i = 0; i < s->n_findings; i++)
        if (strcmp(s->findings[i].rule, rule) == 0)
            return true;
    return false;
}

static void print_findings(const struct diff *d, int side)
{
    const struct summary *s = &d->s[side], *other = &d->s[!side];
    char text[2 * FINDING_TEXT];
    bool any = false;
    for (size_t i = 0; i < s->n_findings; i++) {
        if (has_rule(other, s->findings[i].rule))
            continue;
        if (!any)
            printf("\nFindings of %s alone\n", side ? "B" : "A");
        any = true;
        clean(d, s->findings[i].text, text, SIZE_MAX / 2);
        struct buf b = {0};
        int at = printf("- %s: ", s->findings[i].rule);
        opt_wrap(&b, text, at > 0 ? (size_t)at : 0, 2);
        printf("%s\n", buf_str(&b));
        buf_fini(&b);
    }
}

static void print_head(const struct diff *d)
{
    char name[2 * FINDING_TEXT];
    for (int i = 0; i < 2; i++) {
        clean(d, d->path[i], name, 70);
        printf("%c  %s: %s recorded", 'A' + i, name, human_time(d->s[i].length).text);
        if (d->s[i].program)
            printf(", the program took %s", human_time(d->s[i].program).text);
        putchar('\n');
    }
    if (d->s[0].program && d->s[1].program)
        printf("   %+.1f %% from A to B\n",
               100 * ((double)d->s[1].program / (double)d->s[0].program - 1));
}

static int print_text(const struct diff *d, struct err *err)
{
    print_head(d);
    for (unsigned k = 0; k < COMPARE_KINDS; k++)
        print_kind(d, k);
    print_findings(d, 0);
    print_findings(d, 1);
    printf("\n\"better\" and \"worse\": a change of 10 %% or more that the noise within the two "
           "recordings does not\nexplain (ranks of %d parts of each, p < %.2f). Two runs of one "
           "program can differ by more than that.\n",
           COMPARE_SLICES, COMPARE_P);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0
                                                  : err_set(err, -EIO, "cannot write to stdout");
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *text(const char *raw)
{
    char clean_text[4 * FINDING_TEXT];
    printable_utf8(raw, clean_text, sizeof clean_text);
    return json_string(clean_text);
}

static json_t *side(const struct compare_side *s)
{
    json_t *j = json_object();
    json_object_set_new(j, "count", json_integer((json_int_t)s->count));
    json_object_set_new(j, "ns", json_integer((json_int_t)s->ns));
    json_object_set_new(j, "p50_ns", json_integer((json_int_t)s->p50));
    json_object_set_new(j, "p99_ns", json_integer((json_int_t)s->p99));
    json_object_set_new(j, "max_ns", json_integer((json_int_t)s->max));
    json_object_set_new(j, "threads", json_real(s->threads));
    json_object_set_new(j, "path_share", s->path < 0 ? json_null() : json_real(s->path));
    return j;
}

static json_t *row(const struct compare_row *r)
{
    json_t *j = json_object();
    json_object_set_new(j, "kind", json_string(compare_kind_name(r->kind)));
    json_object_set_new(j, "name", text(r->name));
    json_object_set_new(j, "verdict", json_string(compare_verdict_name(r->verdict)));
    json_object_set_new(j, "p", json_real(r->p));
    json_object_set_new(j, "a", side(&r->a));
    json_object_set_new(j, "b", side(&r->b));
    return j;
}

static json_t *recording(const struct diff *d, int i)
{
    const struct summary *s = &d->s[i];
    json_t *j = json_object(), *findings = json_array();
    json_object_set_new(j, "file", text(d->path[i]));
    json_object_set_new(j, "ns", json_integer((json_int_t)s->length));
    json_object_set_new(j, "program_ns",
                        s->program ? json_integer((json_int_t)s->program) : json_null());
    for (size_t k = 0; k < s->n_findings; k++) {
        json_t *f = json_object();
        json_object_set_new(f, "rule", json_string(s->findings[k].rule));
        json_object_set_new(f, "text", text(s->findings[k].text));
        json_array_append_new(findings, f);
    }
    json_object_set_new(j, "findings", findings);
    return j;
}

static int print_json(const struct diff *d, struct err *err)
{
    json_t *j = json_object(), *rows = json_array();
    size_t of_kind[COMPARE_KINDS] = {0};
    json_object_set_new(j, "schema", json_string("orca-diff-1"));
    json_object_set_new(j, "a", recording(d, 0));
    json_object_set_new(j, "b", recording(d, 1));
    for (size_t i = 0; i < d->n; i++)
        if (!d->top || of_kind[d->rows[i].kind]++ < d->top)
            json_array_append_new(rows, row(&d->rows[i]));
    json_object_set_new(j, "rows", rows);
    bool ok =
        json_dumpf(j, stdout, JSON_INDENT(1)) == 0 && putchar('\n') != EOF && fflush(stdout) == 0;
    json_decref(j);
    return ok ? 0 : err_set(err, -EIO, "cannot write the JSON to stdout");
}

/* --- the command ------------------------------------------------------------------------------ */

static int look(struct summary *out, const char *path, int *status, struct err *err)
{
    struct trace *t;
    struct analysis *a;
    TRY(input_open(&t, path, err));
    int rc = analyse(&a, t, err);
    if (rc == 0) {
        rc = summary_make(out, a, err);
        analysis_free(a);
    }
    int warned = input_warn(t);
    *status = warned > *status ? warned : *status;
    trace_close(t);
    return rc;
}

static int show(struct diff *d, bool json, int *status, struct err *err)
{
    TRY(look(&d->s[0], d->path[0], status, err));
    TRY(look(&d->s[1], d->path[1], status, err));
    if (compare(&d->s[0], &d->s[1], &d->arena, &d->rows, &d->n) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    return json ? print_json(d, err) : print_text(d, err);
}

static int run(int argc, char **argv, struct err *err)
{
    struct args o = {.top = UINT32_MAX};
    int n = cmd_parse(&cmd_diff, argc, argv, &o, err), status = 0;
    if (n < 0)
        return n;
    if (n != 2) {
        err_set(err, 0, "name two traces");
        return CMD_USAGE;
    }
    setlocale(LC_CTYPE, "");
    struct diff d = {.path = {argv[1], argv[2]},
                     .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
                     .top = o.top != UINT32_MAX ? o.top
                            : o.json            ? 0
                                                : TOP_DEFAULT};
    arena_init(&d.arena, 0);
    int rc = show(&d, o.json, &status, err);
    summary_fini(&d.s[0]);
    summary_fini(&d.s[1]);
    arena_fini(&d.arena);
    return rc < 0 ? rc : status;
}

const struct cmd cmd_diff = {
    .name = "diff",
    .summary = "compare two recordings: what got better, what got worse",
    .args = "A B",
    .description =
        "Compares two recordings of a program, say before and after a change. Of different length, "
        "they are compared by rates: threads that waited on average. Names decide what belongs "
        "together: states, classes of locks, places in the program.\n\n"
        "Each recording is cut into 16 parts; a change is called better or worse when it is 10 % "
        "or "
        "more and the ranks of these parts differ more than by chance (Mann-Whitney, p < 0.01). "
        "That "
        "is the noise within the two recordings. Two runs of the same program can differ by more: "
        "compare two recordings of the same version first.",
    .examples = "orca diff before.otrace after.otrace\n"
                "orca diff --json a.otrace b.otrace | jq '.rows[] | select(.verdict == \"worse\")'",
    .opts = OPT_TABLE(opts),
    .run = run,
};
