/* cmd_diff.c - two recordings side by side: what got better and what got worse. */
#include "base/human.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/analyse.h"
#include "cli/cmd.h"
#include "cli/input.h"
#include "cli/screen.h"
#include "cli/table.h"
#include "conclude/compare.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_DEFAULT = 10 };

struct args {
    bool json;
    uint64_t top;
    const char *app;
};

static const struct opt opts[] = {
    {"top", 'n', OPT_UINT, offsetof(struct args, top), "N",
     "rows of each table at most, 0 for all (default: 10; with --json all)", NULL, 0,
     UINT32_MAX - 1},
    INPUT_APP(offsetof(struct args, app)),
    {"json", 0, OPT_FLAG, offsetof(struct args, json), NULL,
     "one JSON object (schema orca-diff-1, docs/reference/json.md)", NULL, 0, 0},
};

/* Both sides, and what came of them. */
struct diff {
    const char *path[2], *app;
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

static double rate_of(const struct diff *d, int side, uint64_t n)
{
    return d->s[side].length ? (double)n * 1e9 / (double)d->s[side].length : 0;
}

static const char *verdict_text(enum compare_verdict v)
{
    static const char *const texts[] = {
        [COMPARE_SAME] = "as before",     [COMPARE_BETTER] = "better", [COMPARE_WORSE] = "worse",
        [COMPARE_NOISE] = "may be noise", [COMPARE_OTHER] = "changed", [COMPARE_LESS] = "less",
        [COMPARE_MORE] = "more"};
    return texts[v];
}

static const struct {
    const char *title, *what;
} tables[COMPARE_KINDS] = {
    [COMPARE_STATE] = {"Threads of the program, on average", "state"},
    [COMPARE_RESOURCE] = {"Threads waiting for resources, on average", "resource"},
    [COMPARE_PLACE] = {"Threads waiting for locks, on average, by call site", "place"},
    [COMPARE_ALLOCATED_CLASS] = {"Allocated per second, by class", "class"},
    [COMPARE_ALLOCATED_PLACE] = {"Allocated per second, by call site", "what and where"},
    [COMPARE_GROWTH_CLASS] = {"Growth per second of objects that outlive collections, by class",
                              "class"},
    [COMPARE_GROWTH_PLACE] = {"Growth per second of objects that outlive collections, by call site",
                              "what and where"},
};

/* "1.2 MB", "-3.4 kB" */
static void cell_rate(struct table *t, double bytes)
{
    char text[40];
    snprintf(text, sizeof text, "%s%s", bytes <= -0.5 ? "-" : "",
             human_bytes((uint64_t)(fabs(bytes) + 0.5)).text);
    table_put(t, text);
}

static void put_level(struct table *t, const struct diff *d, const struct compare_row *r, int side)
{
    const struct compare_side *s = side ? &r->b : &r->a;
    UNUSED(d);
    if (compare_is_of_allocs(r->kind))
        cell_rate(t, s->rate);
    else
        cell_side(t, s);
}

/* A slope may be below nothing, where no ratio says anything. */
static void put_change(struct table *t, const struct diff *d, const struct compare_row *r, int side)
{
    UNUSED(d);
    UNUSED(side);
    if (compare_is_growth(r->kind))
        cell_rate(t, r->b.rate - r->a.rate);
    else if (compare_is_of_allocs(r->kind))
        cell_change(t, r->a.rate, r->b.rate);
    else
        cell_change(t, r->a.threads, r->b.threads);
}

static void put_error(struct table *t, const struct diff *d, const struct compare_row *r, int side)
{
    const struct compare_side *s = side ? &r->b : &r->a;
    UNUSED(d);
    if (s->error > 0)
        cell_rate(t, s->error);
    else
        table_put(t, "-");
}

/* Of what was allocated a second, of what is live as many as there are. */
static void put_objects(struct table *t, const struct diff *d, const struct compare_row *r,
                        int side)
{
    const struct compare_side *s = side ? &r->b : &r->a;
    double n = (double)s->count;
    if (!compare_is_growth(r->kind))
        n /= (double)d->s[side].length / 1e9;
    table_put(t, human_count((uint64_t)(n + 0.5)).text);
}

/* "waits a second, mean wait, share of busy time" */
static void put_rate(struct table *t, const struct diff *d, const struct compare_row *r, int side)
{
    cell(t, "%.3g", rate_of(d, side, side ? r->b.count : r->a.count));
}

static void put_mean(struct table *t, const struct diff *d, const struct compare_row *r, int side)
{
    const struct compare_side *s = side ? &r->b : &r->a;
    UNUSED(d);
    table_put(t, s->count ? human_time(s->ns / s->count).text : "-");
}

static double busy_share(const struct compare_side *s)
{
    return s->base ? 100 * (double)s->ns / (double)s->base : 0;
}

static void put_busy(struct table *t, const struct diff *d, const struct compare_row *r, int side)
{
    const struct compare_side *s = side ? &r->b : &r->a;
    UNUSED(d);
    if (s->count)
        cell(t, "%.0f %%", busy_share(s));
    else
        table_put(t, "-");
}

static void put_p99(struct table *t, const struct diff *d, const struct compare_row *r, int side)
{
    const struct compare_side *s = side ? &r->b : &r->a;
    UNUSED(d);
    table_put(t, s->count ? human_time(s->p99).text : "-");
}

static void put_verdict(struct table *t, const struct diff *d, const struct compare_row *r,
                        int side)
{
    UNUSED(d);
    UNUSED(side);
    table_put(t, verdict_text(r->verdict));
}

static void put_what(struct table *t, const struct diff *d, const struct compare_row *r, int side)
{
    char name[2 * FINDING_TEXT];
    UNUSED(side);
    clean(d, r->name, name, compare_is_of_allocs(r->kind) ? 80 : 60);
    table_put(t, name);
}

enum {
    OF_RESOURCE = 1 << COMPARE_RESOURCE,
    OF_PLACE = 1 << COMPARE_PLACE,
    OF_ALLOCATED = 1 << COMPARE_ALLOCATED_CLASS | 1 << COMPARE_ALLOCATED_PLACE,
    OF_GROWTH = 1 << COMPARE_GROWTH_CLASS | 1 << COMPARE_GROWTH_PLACE,
    OF_ALL = (1 << COMPARE_KINDS) - 1,
};

/* title NULL: what the table is by */
static const struct diff_column {
    const char *title;
    unsigned kinds; /* of which tables */
    int side;
    bool if_estimate; /* only where one side is an estimate */
    void (*put)(struct table *t, const struct diff *d, const struct compare_row *r, int side);
} columns[] = {
    {"A", OF_ALL, 0, false, put_level},
    {"B", OF_ALL, 1, false, put_level},
    {"change", OF_ALL, 0, false, put_change},
    {"+- A", OF_ALLOCATED, 0, true, put_error},
    {"+- B", OF_ALLOCATED, 1, true, put_error},
    {"+- A", OF_GROWTH, 0, false, put_error},
    {"+- B", OF_GROWTH, 1, false, put_error},
    {"objects A", OF_ALLOCATED, 0, false, put_objects},
    {"objects B", OF_ALLOCATED, 1, false, put_objects},
    {"live A", OF_GROWTH, 0, false, put_objects},
    {"live B", OF_GROWTH, 1, false, put_objects},
    {"waits/s A", OF_RESOURCE, 0, false, put_rate},
    {"waits/s B", OF_RESOURCE, 1, false, put_rate},
    {"mean A", OF_RESOURCE, 0, false, put_mean},
    {"mean B", OF_RESOURCE, 1, false, put_mean},
    {"busy A", OF_RESOURCE, 0, false, put_busy},
    {"busy B", OF_RESOURCE, 1, false, put_busy},
    {"p99 A", OF_PLACE, 0, false, put_p99},
    {"p99 B", OF_PLACE, 1, false, put_p99},
    {"", OF_ALL, 0, false, put_verdict},
    {NULL, OF_ALL, 0, false, put_what},
};

static bool is_shown(const struct diff *d, const struct diff_column *c, enum compare_kind kind)
{
    bool estimate = d->s[0].is_estimate || d->s[1].is_estimate;
    return c->kinds & 1u << kind && (estimate || !c->if_estimate);
}

static void put_row(struct table *t, const struct diff *d, const struct compare_row *r)
{
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        if (is_shown(d, &columns[i], r->kind))
            columns[i].put(t, d, r, columns[i].side);
}

static void print_kind(const struct diff *d, enum compare_kind kind)
{
    struct table_column shown_columns[ARRAY_LEN(columns)];
    size_t n = 0, rows = 0, shown = 0;
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        const char *title = columns[i].title;
        if (is_shown(d, &columns[i], kind))
            shown_columns[n++] =
                (struct table_column){title ? title : tables[kind].what,
                                      title && *title ? TABLE_RIGHT : TABLE_LEFT, !title};
    }
    for (size_t i = 0; i < d->n; i++)
        rows += d->rows[i].kind == kind;
    if (!rows)
        return;
    struct table t;
    table_init(&t, shown_columns, n);
    for (size_t i = 0; i < d->n; i++)
        if (d->rows[i].kind == kind && (!d->top || shown < d->top)) {
            put_row(&t, d, &d->rows[i]);
            shown++;
        }
    if (shown < rows)
        printf("\n%s: %zu of %zu, largest change first\n", tables[kind].title, shown, rows);
    else
        printf("\n%s\n", tables[kind].title);
    table_print(&t, stdout);
    table_fini(&t);
}

static void print_allocated(const struct summary *s)
{
    uint64_t n = alloc_objects(&s->allocated);
    printf("%s in %s object%s", human_bytes(s->allocated.bytes).text, human_count(n).text,
           n == 1 ? "" : "s");
    if (s->is_estimate)
        printf(" (estimated from %s samples, +- %.1f %%)", human_count(s->allocated.records).text,
               alloc_error(&s->allocated) / 10.0);
}

/* What was allocated in both, and why something is not compared. */
static void print_allocs(const struct diff *d)
{
    const struct summary *a = &d->s[0], *b = &d->s[1];
    if (!a->has_allocs && !b->has_allocs)
        return;
    for (int i = 0; i < 2; i++)
        if (d->s[i].has_allocs) {
            printf("%s%c allocated ", i ? "" : "\n", 'A' + i);
            print_allocated(&d->s[i]);
            printf(".\n");
        }
    if (a->has_allocs != b->has_allocs)
        printf("Allocations are not compared: %c has none recorded.\n", a->has_allocs ? 'B' : 'A');
    else if (!a->has_growth || !b->has_growth)
        printf("Growth of objects that are not freed is not compared: this needs the ends of "
               "objects (orca record --alloc\n512k, or events=...+alloc+frees) and %d collections "
               "in both recordings.\n",
               COMPARE_LEAST_POINTS);
}

/* The numbers in their texts differ always. */
static void print_findings(const struct diff *d, int side)
{
    const struct summary *s = &d->s[side], *other = &d->s[!side];
    char text[2 * FINDING_TEXT];
    bool any = false;
    for (size_t i = 0; i < s->n_findings; i++) {
        if (summary_has_finding(other, s->findings[i].rule, s->about[i]))
            continue;
        if (!any)
            printf("\nFindings only in %s\n", side ? "B" : "A");
        any = true;
        clean(d, s->findings[i].text, text, SIZE_MAX / 2);
        struct buf b = {0};
        int at = printf("- %s: ", s->findings[i].rule);
        opt_wrap(&b, text, at > 0 ? (size_t)at : 0, 2);
        printf("%s\n", buf_str(&b));
        buf_fini(&b);
    }
}

/* Whether it was worth a finding in one of both (docs/concepts/findings.md). */
static bool is_worth(const struct compare_row *r)
{
    return (busy_share(&r->a) >= 2 && r->a.threads >= 0.05) ||
           (busy_share(&r->b) >= 2 && r->b.threads >= 0.05);
}

/* The resource that became better or worse most; where none did for certain, the one that changed
 * most.  Rows come with the most change first. */
static const struct compare_row *headline_of(const struct diff *d)
{
    const struct compare_row *first = NULL;
    for (size_t i = 0; i < d->n; i++) {
        const struct compare_row *r = &d->rows[i];
        if (r->kind != COMPARE_RESOURCE || r->verdict == COMPARE_SAME || !is_worth(r))
            continue;
        if (r->verdict == COMPARE_BETTER || r->verdict == COMPARE_WORSE)
            return r;
        first = first ? first : r;
    }
    return first;
}

/* "-68 %", "x 3.2" */
static void print_ratio(double a, double b)
{
    if (b >= 2 * a)
        printf("x %.1f", b / a);
    else
        printf("%+.1f %%", 100 * (b / a - 1));
}

/* How long the programs took, and what they got done: as far as that is recorded of both. */
static void print_work(const struct diff *d)
{
    const struct summary *a = &d->s[0], *b = &d->s[1];
    if (a->program && b->program) {
        printf("B took %s, A %s: ", human_time(b->program).text, human_time(a->program).text);
        print_ratio((double)a->program, (double)b->program);
        printf(".\n");
    }
    if (a->tasks && b->tasks) {
        double x = rate_of(d, 0, a->tasks), y = rate_of(d, 1, b->tasks);
        printf("B ran %.3g tasks per second in its pools, A %.3g: ", y, x);
        print_ratio(x, y);
        printf(".\n");
    }
}

/* "A: matcher-1 (95 %), 97 % of the time computing: Risk.worstLoss (Risk.java:13)" */
static void print_holders(const struct diff *d, const struct compare_row *r)
{
    const char *a = r->a.holders ? r->a.holders : "", *b = r->b.holders ? r->b.holders : "";
    bool same = r->a.doing && r->b.doing && *r->a.doing && strcmp(r->a.doing, r->b.doing) == 0;
    char line[2 * FINDING_TEXT];
    for (int i = 0; i < 2; i++) {
        const char *of = i ? b : a;
        if (same || !*of)
            continue;
        struct buf wrapped = {0};
        clean(d, of, line, SIZE_MAX / 2);
        int at = printf("  held by %c ", 'A' + i);
        opt_wrap(&wrapped, line, at > 0 ? (size_t)at : 0, 12);
        printf("%s\n", buf_str(&wrapped));
        buf_fini(&wrapped);
    }
}

static void print_headline(const struct diff *d)
{
    const struct compare_row *r = headline_of(d);
    char name[2 * FINDING_TEXT];
    print_work(d);
    if (!r) {
        printf("No resource with long waits got better or worse.\n\n");
        return;
    }
    clean(d, r->name, name, 80);
    printf("%s: %s%s.\n", name, verdict_text(r->verdict),
           r->p > COMPARE_P        ? ""
           : r->p < COMPARE_P / 10 ? " (chance: less than 0.1 %)"
                                   : " (chance: less than 1 %)");
    for (int i = 0; i < 2; i++) {
        const struct compare_side *s = i ? &r->b : &r->a;
        if (s->count)
            printf("  in %c      %.0f %% of busy time: %.3g waits per second of %s on average, "
                   "%.3g threads\n",
                   'A' + i, busy_share(s), rate_of(d, i, s->count),
                   human_time(s->ns / s->count).text, s->threads);
        else
            printf("  in %c      not waited for\n", 'A' + i);
    }
    print_holders(d, r);
    putchar('\n');
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
}

static int print_text(const struct diff *d, struct err *err)
{
    print_headline(d);
    print_head(d);
    for (unsigned k = 0; k < COMPARE_KINDS; k++)
        print_kind(d, k);
    print_allocs(d);
    print_findings(d, 0);
    print_findings(d, 1);
    printf("\n\"better\" and \"worse\": a change of 10 %% or more that the noise within the two "
           "recordings does not\nexplain (ranks of %d parts of each, p < %.2f). Two runs of one "
           "program can differ by more than that.\n",
           COMPARE_SLICES, COMPARE_P);
    if (d->s[0].has_allocs && d->s[1].has_allocs)
        printf("\"less\" and \"more\" mean the same for allocated bytes, which also depend on how "
               "much the program did.\n+-: standard error; a change must exceed that as well.\n");
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

static json_t *waits_side(enum compare_kind kind, const struct compare_side *s)
{
    json_t *j = json_object();
    bool resource = kind == COMPARE_RESOURCE;
    json_object_set_new(j, "count", json_integer((json_int_t)s->count));
    json_object_set_new(j, "ns", json_integer((json_int_t)s->ns));
    json_object_set_new(j, "p50_ns", resource ? json_null() : json_integer((json_int_t)s->p50));
    json_object_set_new(j, "p99_ns", resource ? json_null() : json_integer((json_int_t)s->p99));
    json_object_set_new(j, "max_ns", json_integer((json_int_t)s->max));
    json_object_set_new(j, "threads", json_real(s->threads));
    if (!resource)
        return j;
    json_object_set_new(j, "busy_ns", json_integer((json_int_t)s->base));
    json_object_set_new(j, "holders", s->holders && *s->holders ? text(s->holders) : json_null());
    json_object_set_new(j, "doing", s->doing && *s->doing ? text(s->doing) : json_null());
    return j;
}

static json_t *allocs_side(const struct compare_side *s)
{
    json_t *j = json_object();
    json_object_set_new(j, "bytes", json_integer((json_int_t)s->bytes));
    json_object_set_new(j, "objects", json_integer((json_int_t)s->count));
    json_object_set_new(j, "samples",
                        s->samples ? json_integer((json_int_t)s->samples) : json_null());
    json_object_set_new(j, "bytes_a_second", json_real(s->rate));
    json_object_set_new(j, "error_a_second", json_real(s->error));
    return j;
}

static json_t *side(enum compare_kind kind, const struct compare_side *s)
{
    return compare_is_of_allocs(kind) ? allocs_side(s) : waits_side(kind, s);
}

static json_t *row(const struct compare_row *r)
{
    json_t *j = json_object();
    json_object_set_new(j, "kind", json_string(compare_kind_name(r->kind)));
    json_object_set_new(j, "name", text(r->name));
    json_object_set_new(j, "verdict", json_string(compare_verdict_name(r->verdict)));
    json_object_set_new(j, "p", json_real(r->p));
    json_object_set_new(j, "a", side(r->kind, &r->a));
    json_object_set_new(j, "b", side(r->kind, &r->b));
    return j;
}

static json_t *allocated(const struct summary *s)
{
    json_t *j = json_object();
    json_object_set_new(j, "bytes", json_integer((json_int_t)s->allocated.bytes));
    json_object_set_new(j, "objects", json_integer((json_int_t)alloc_objects(&s->allocated)));
    json_object_set_new(j, "samples",
                        s->is_estimate ? json_integer((json_int_t)s->allocated.records)
                                       : json_null());
    json_object_set_new(j, "has_growth", json_boolean(s->has_growth));
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
    json_object_set_new(j, "tasks", s->tasks ? json_integer((json_int_t)s->tasks) : json_null());
    json_object_set_new(j, "allocated", s->has_allocs ? allocated(s) : json_null());
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

static int look(struct diff *d, int side, int *status, struct err *err)
{
    struct trace *t;
    struct analysis *a;
    TRY(input_open(&t, d->path[side], err));
    int rc = input_app(t, d->app, err);
    rc = rc ? rc : analyse(&a, t, err);
    if (rc == 0) {
        rc = summary_make(&d->s[side], a, err);
        analysis_free(a);
    }
    int warned = input_warn(t);
    *status = warned > *status ? warned : *status;
    trace_close(t);
    return rc;
}

static int show(struct diff *d, bool json, int *status, struct err *err)
{
    TRY(look(d, 0, status, err));
    TRY(look(d, 1, status, err));
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
    struct diff d = {.path = {argv[1], argv[2]},
                     .app = o.app,
                     .utf8 = screen_utf8(),
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
    .summary = "compare two recordings: better, worse, or noise",
    .args = "A B",
    .description =
        "Compares two recordings of a program, such as before and after a change. The first lines "
        "say how long each ran (and how many tasks their pools ran, with the group locks), which "
        "resource changed most, and what its holders do, where that changed. Recordings of "
        "different length are compared by rates: threads waiting on average, bytes allocated per "
        "second. Rows are matched by name: states, resources, call sites.\n\nA row is better or "
        "worse when it changed by 10 % or more and the ranks of 16 parts of each recording differ "
        "by more than chance (Mann-Whitney, p < 0.01). That covers noise within the two "
        "recordings; two runs of one program can differ by more, so compare two recordings of one "
        "version first.\n\nAllocation is less or more by the same rule; estimates from samples "
        "must also differ by more than chance in their number. Growth is the slope of the bytes "
        "that outlive collections, after the first quarter, with its standard error; it needs the "
        "ends of objects and 8 collections in both recordings. Orca does not compare events that "
        "only one recording has.",
    .examples = "orca diff before.otrace after.otrace\n"
                "orca diff --json a.otrace b.otrace | jq '.rows[] | select(.verdict == \"worse\")'",
    .opts = OPT_TABLE(opts),
    .run = run,
};
