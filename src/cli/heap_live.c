/* heap_live.c - orca heap live: which of the objects whose allocation is recorded live now, by
 * class, by site and by the collections that they have outlived.
 *
 * The agent sums them up by ids (agent/heap_live.h); the names are in the trace that it writes. */
#include "attach/client.h"
#include "base/human.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/heap_jvm.h"
#include "cli/live_trace.h"
#include "cli/table.h"
#include "cli/target.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct args {
    bool full, json;
    uint64_t top, timeout;
};

static const struct opt opts[] = {
    {"full", 0, OPT_FLAG, offsetof(struct args, full), NULL,
     "run a full collection first, so that garbage does not count", NULL, 0, 0},
    {"top", 'n', OPT_UINT, offsetof(struct args, top), "N", "rows of each table (default: 20)",
     NULL, 1, UINT32_MAX},
    {"json", 0, OPT_FLAG, offsetof(struct args, json), NULL, "the whole answer as JSON", NULL, 0,
     0},
    TARGET_TIMEOUT(offsetof(struct args, timeout), "10m"),
};

/* What the agent says of one class, site and age; and sums of such. */
struct row {
    uint32_t class_, stack, age;
    uint64_t count, bytes, samples, sampled_count, sampled_bytes;
};

struct live {
    struct row *rows;
    size_t n;
    uint64_t left_out;
    struct trace *trace;
};

static uint64_t objects_of(const struct row *r)
{
    return r->count + r->sampled_count;
}

static uint64_t bytes_of(const struct row *r)
{
    return r->bytes + r->sampled_bytes;
}

static void add(struct row *to, const struct row *r)
{
    to->count += r->count;
    to->bytes += r->bytes;
    to->samples += r->samples;
    to->sampled_count += r->sampled_count;
    to->sampled_bytes += r->sampled_bytes;
}

/* --- sums by one of the three ids ------------------------------------------------------------- */

enum by { BY_CLASS, BY_SITE, BY_AGE };

static uint32_t *key(struct row *r, enum by by)
{
    return by == BY_CLASS ? &r->class_ : by == BY_SITE ? &r->stack : &r->age;
}

static int by_class(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return (x->class_ > y->class_) - (x->class_ < y->class_);
}

static int by_site(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->stack != y->stack)
        return x->stack > y->stack ? 1 : -1;
    return by_class(a, b);
}

static int by_age(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return (x->age > y->age) - (x->age < y->age);
}

static int by_bytes(const void *a, const void *b)
{
    uint64_t x = bytes_of(a), y = bytes_of(b);
    return (x < y) - (x > y);
}

/* Add up the rows that are alike; a site is a stack and the class that is allocated there. */
static size_t sum(const struct live *l, enum by by, struct row *out)
{
    static int (*const orders[])(const void *, const void *) = {by_class, by_site, by_age};
    size_t n = 0;
    if (l->n)
        qsort(l->rows, l->n, sizeof *l->rows, orders[by]);
    for (size_t i = 0; i < l->n; i++) {
        if (n == 0 || orders[by](&out[n - 1], &l->rows[i]) != 0) {
            out[n] = (struct row){.class_ = by == BY_AGE ? 0 : l->rows[i].class_};
            *key(&out[n], by) = *key(&l->rows[i], by);
            n++;
        }
        add(&out[n - 1], &l->rows[i]);
    }
    if (n && by != BY_AGE)
        qsort(out, n, sizeof *out, by_bytes);
    return n;
}

/* --- text ------------------------------------------------------------------------------------- */

static void age_text(uint32_t age, char out[32])
{
    enum { EXACT = 4 };
    if (age < EXACT)
        snprintf(out, 32, "%u", age);
    else
        snprintf(out, 32, "%u to %u", age, age * 2 - 1);
}

static void name_of(const struct live *l, const struct row *r, enum by by, char *out, size_t n)
{
    char text[1024];
    if (by == BY_CLASS)
        live_trace_class(l->trace, r->class_, text, sizeof text);
    else if (by == BY_SITE)
        live_trace_site(l->trace, r->stack, text, sizeof text);
    else
        age_text(r->age, text);
    printable_text(text, true, out, n);
}

enum { CLASS_WIDTH = 32 }; /* beside a site */

/* An estimate has a "~" before it. */
static void put_number(struct table *t, const struct row *r, struct human h)
{
    char text[64];
    snprintf(text, sizeof text, "%s%s", r->samples ? "~" : "", h.text);
    table_put(t, text);
}

static void print_by(const struct live *l, enum by by, uint64_t top, struct row *rows)
{
    static const char *const titles[] = {"class", "site", "collections outlived"};
    static const struct table_column of_sites[] = {{"objects", TABLE_RIGHT, false},
                                                   {"bytes", TABLE_RIGHT, false},
                                                   {"class", TABLE_LEFT, false},
                                                   {"site", TABLE_LEFT, true}};
    const struct table_column others[] = {{"objects", TABLE_RIGHT, false},
                                          {"bytes", TABLE_RIGHT, false},
                                          {titles[by], TABLE_LEFT, true}};
    struct table t;
    char name[512];
    size_t n = sum(l, by, rows), shown = by == BY_AGE ? n : (size_t)min_u64(n, top);
    table_init(&t, by == BY_SITE ? of_sites : others, by == BY_SITE ? 4 : 3);
    for (size_t i = 0; i < shown; i++) {
        put_number(&t, &rows[i], human_count(objects_of(&rows[i])));
        put_number(&t, &rows[i], human_bytes(bytes_of(&rows[i])));
        if (by == BY_SITE) {
            name_of(l, &rows[i], BY_CLASS, name, sizeof name);
            printable_cut(name, CLASS_WIDTH);
            table_put(&t, name);
        }
        name_of(l, &rows[i], by, name, sizeof name);
        table_put(&t, name);
    }
    table_print(&t, stdout);
    if (shown < n)
        printf("and %zu more; --top %zu shows all\n", n - shown, n);
    table_fini(&t);
}

static void print_text(const struct live *l, const struct args *o, struct row *rows)
{
    struct row all = {0};
    for (size_t i = 0; i < l->n; i++)
        add(&all, &l->rows[i]);
    const char *about = all.samples ? "~" : "";
    printf("%s%s live objects, %s%s, allocated since their recording began", about,
           human_count(objects_of(&all)).text, about, human_bytes(bytes_of(&all)).text);
    if (all.samples)
        printf("; ~ estimated from %s samples", human_count(all.samples).text);
    printf("%s\n", o->full ? "" : "; some may be garbage that is not collected yet (--full)");
    for (enum by by = BY_CLASS; by <= BY_AGE && l->n; by++) {
        printf("\n");
        print_by(l, by, o->top, rows);
    }
    if (l->left_out)
        printf("\n%s more objects are in none of these rows: too many different classes and call "
               "sites\n",
               human_count(l->left_out).text);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *to_json(const struct live *l, const struct row *r)
{
    char name[1024], site[1024];
    name_of(l, r, BY_CLASS, name, sizeof name);
    name_of(l, r, BY_SITE, site, sizeof site);
    return json_pack("{s:s, s:i, s:s, s:i, s:b, s:I, s:I, s:I}", "class", name, "stack",
                     (int)r->stack, "site", site, "collections", (int)r->age, "estimated",
                     r->samples != 0, "samples", (json_int_t)r->samples, "objects",
                     (json_int_t)objects_of(r), "bytes", (json_int_t)bytes_of(r));
}

static int print_json(const struct live *l, const struct args *o)
{
    json_t *rows = json_array();
    qsort(l->rows, l->n, sizeof *l->rows, by_bytes);
    for (size_t i = 0; i < l->n; i++)
        json_array_append_new(rows, to_json(l, &l->rows[i]));
    json_t *all = json_pack("{s:b, s:I, s:o}", "collected_first", o->full, "left_out",
                            (json_int_t)l->left_out, "groups", rows);
    int rc = all ? json_dumpf(all, stdout, JSON_INDENT(2)) : -1;
    printf("\n");
    json_decref(all);
    return rc < 0 ? -ENOMEM : 0;
}

/* --- the agent's answer ----------------------------------------------------------------------- */

static int parse(struct live *l, const char *answer, struct err *err)
{
    const char *at = NULL, *value;
    size_t n = 0;
    while (client_value(answer, "group", &at, &value) >= 0)
        n++;
    l->rows = calloc(n + 1, sizeof *l->rows);
    if (!l->rows)
        return err_set(err, -ENOMEM, "out of memory");
    for (at = NULL; l->n < n && client_value(answer, "group", &at, &value) >= 0; l->n++) {
        struct row *r = &l->rows[l->n];
        if (sscanf(value,
                   "%" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64
                   " %" SCNu64 " %" SCNu64,
                   &r->class_, &r->stack, &r->age, &r->count, &r->bytes, &r->samples,
                   &r->sampled_count, &r->sampled_bytes) != 8)
            return err_set(err, -EPROTO, "the agent's answer is not understood: \"%.40s\"", value);
    }
    l->left_out = client_number(answer, "left_out");
    return 0;
}

static int show(struct live *l, const struct args *o, struct err *err)
{
    struct row *rows = calloc(l->n + 1, sizeof *rows);
    if (!rows)
        return err_set(err, -ENOMEM, "out of memory");
    int rc = 0;
    if (o->json)
        rc = print_json(l, o);
    else
        print_text(l, o, rows);
    free(rows);
    return rc;
}

static int say_nothing(const struct jvm *jvm, int code, struct err *err)
{
    if (code == -ENOMSG)
        return err_set(err, code,
                       "JVM %d (%s) records no objects: orca attach %d --on sampled-alloc begins "
                       "with samples, --on alloc+frees with every object",
                       (int)jvm->pid, jvm->name, (int)jvm->pid);
    return err_set(err, code,
                   "JVM %d (%s) is not recorded by Orca: orca attach %d -e threads+sampled-alloc "
                   "begins with samples of objects, -e threads+alloc+frees with every object",
                   (int)jvm->pid, jvm->name, (int)jvm->pid);
}

static int live(const struct args *o, const struct jvm *jvm, struct err *err)
{
    static const uint64_t minutes_ns = UINT64_C(10) * 60 * 1000000000;
    struct live l = {.n = 0};
    struct buf answer;
    buf_init(&answer);
    int rc = client_ask(jvm, o->full ? "heap live full" : "heap live", minutes_ns, &answer, err);
    if (rc == -ENOENT || rc == -ENODATA || rc == -ENOMSG)
        rc = say_nothing(jvm, rc, err);
    if (rc == 0)
        rc = parse(&l, buf_str(&answer), err);
    if (rc == 0)
        rc = live_trace_open(&l.trace, jvm, err);
    if (rc == 0)
        rc = show(&l, o, err);
    trace_close(l.trace);
    free(l.rows);
    buf_fini(&answer);
    return rc;
}

static int run(int argc, char **argv, struct err *err)
{
    enum { ROWS = 20 };
    struct args o = {.top = ROWS};
    struct jvm jvm;
    int n = cmd_parse(&heap_live, argc, argv, &o, err);
    if (n < 0)
        return n;
    TRY(target_find(n, argv, o.timeout, &jvm, err));
    return live(&o, &jvm, err);
}

const struct cmd heap_live = {
    .name = "heap live",
    .summary = "show which recorded objects of a running JVM are alive",
    .args = "PID",
    .description =
        "Counts the live objects among those whose allocation is recorded: by class, by call site, "
        "and by the number of collections that they outlived. The JVM must be recorded with the "
        "groups alloc+frees (every object) or sampled-alloc (samples; ~ marks estimates).\n\nAn "
        "object counts as alive until a collection frees it. --full runs a full collection first, "
        "which pauses the program.",
    .examples = "orca attach 4711 -e threads+sampled-alloc\n"
                "orca heap live 4711 --full",
    .opts = OPT_TABLE(opts),
    .run = run,
};
