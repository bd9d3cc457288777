/* cmd_status.c - which JVMs there are, and what Orca does in them. */
#include "base/clock.h"
#include "base/human.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/cmd.h"
#include "cli/left_behind.h"
#include "cli/side_by_side.h"
#include "cli/target.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct args {
    bool json;
    uint64_t timeout;
};

static const struct opt opts[] = {
    {"json", 0, OPT_FLAG, offsetof(struct args, json), NULL, "one JSON object", NULL, 0, 0},
    TARGET_TIMEOUT(offsetof(struct args, timeout), "30s"),
};

/* One JVM, and what its agent says twice, a moment apart: the rates are of that moment. */
struct seen {
    struct jvm jvm;
    bool recorded;
    struct buf reply;
    double events_per_s;
    double recording, writing; /* shares of one processor that they take */
    char why[256];             /* no agent, or it does not answer */
};

struct list {
    struct seen *all;
    size_t n;
    uint64_t moment_ns; /* between the two answers; 0: there is one */
    uint64_t timeout_ns;
};

/* The difference between two counts of one counter, a second's share of it. */
static double rate(const char *a, const char *b, const char *key, uint64_t ns)
{
    uint64_t x = client_number(a, key), y = client_number(b, key);
    return ns && y > x ? (double)(y - x) * 1e9 / (double)ns : 0;
}

static void ask(void *ctx, size_t i)
{
    struct list *l = ctx;
    struct seen *s = &l->all[i];
    struct err err = {""};
    struct buf first;
    char state[32];
    buf_init(&first);
    uint64_t began = clock_mono_ns();
    int rc = client_ask(&s->jvm, "status", TARGET_TIMEOUT_NS, &first, &err);
    target_text(buf_str(&first), "state", state, sizeof state);
    s->recorded = rc == 0 && strcmp(state, "recording") == 0;
    if (s->recorded && l->moment_ns) {
        clock_sleep_ns(l->moment_ns);
        rc = client_ask(&s->jvm, "status", TARGET_TIMEOUT_NS, &s->reply, &err);
        uint64_t ns = clock_mono_ns() - began;
        s->events_per_s = rate(buf_str(&first), buf_str(&s->reply), "events", ns);
        s->writing = rate(buf_str(&first), buf_str(&s->reply), "drain_cpu_ns", ns) / 1e9;
        s->recording = rate(buf_str(&first), buf_str(&s->reply), "record_cpu_ns", ns) / 1e9;
    } else {
        buf_put(&s->reply, first.p, first.len);
    }
    if (rc < 0 && rc != -ENOENT)
        snprintf(s->why, sizeof s->why, "%s", err.msg);
    s->recorded &= rc == 0;
    buf_fini(&first);
}

static int add(void *ctx, const struct jvm *jvm)
{
    struct list *l = ctx;
    struct seen *all = realloc(l->all, (l->n + 1) * sizeof *all);
    if (!all)
        return -ENOMEM;
    l->all = all;
    l->all[l->n] = (struct seen){.jvm = *jvm};
    l->all[l->n++].jvm.asker = target_asker(l->timeout_ns);
    return 0;
}

static uint64_t lost(const char *reply, struct buf *causes)
{
    uint64_t n = 0;
    const char *at = NULL, *value;
    while (client_value(reply, "loss", &at, &value) >= 0) {
        int name = (int)strcspn(value, " ");
        uint64_t count = strtoull(value + name, NULL, 10);
        n += count;
        if (causes)
            buf_printf(causes, "%s%.*s %s", causes->len ? ", " : "", name, value,
                       human_count(count).text);
    }
    return n;
}

/* --- text ------------------------------------------------------------------------------------- */

/* A path is of no use cut, so the lines are as long as they must be. */
static void print_list(const struct list *l)
{
    int wide = 7;
    for (size_t i = 0; i < l->n; i++)
        wide = (int)strlen(l->all[i].jvm.name) > wide ? (int)strlen(l->all[i].jvm.name) : wide;
    printf("%7s  %-9s  %-*s  %11s  %s\n", "pid", "java", wide, "program", "events",
           "recorded into");
    for (size_t i = 0; i < l->n; i++) {
        struct seen *s = &l->all[i];
        const char *reply = buf_str(&s->reply);
        char path[PATH_MAX], name[sizeof s->jvm.name];
        target_text(reply, "path", path, sizeof path);
        printable_text(s->jvm.name, true, name, sizeof name);
        printf("%7d  %-9s  %-*s  %11s  %s\n", (int)s->jvm.pid, s->jvm.java[0] ? s->jvm.java : "?",
               wide, name, s->recorded ? human_count(client_number(reply, "events")).text : "",
               s->recorded ? path
               : s->why[0] ? s->why
                           : "-");
        target_text(reply, "unwritten_now", path, sizeof path);
        if (s->recorded && *path)
            printf("%7s  nothing can be written now: %s\n", "", path);
    }
}

static void print_groups(const char *reply)
{
    const char *at = NULL, *name;
    printf("groups     ");
    for (int len; (len = client_value(reply, "group", &at, &name)) >= 0;)
        printf(" %.*s", len, name);
    printf("\n");
}

/* How stacks were taken; an older agent does not say. */
static void print_stacks(const char *reply)
{
    const char *at = NULL, *text;
    int len = client_value(reply, "stacks", &at, &text);
    if (len > 0)
        printf("stacks      %.*s\n", len, text);
}

static void print_full_disk(const char *reply)
{
    char why[256];
    uint64_t times = client_number(reply, "unwritten_times");
    target_text(reply, "unwritten_now", why, sizeof why);
    if (times)
        printf("full disk   %s %s, %s in total%s%s\n", human_count(times).text,
               times == 1 ? "time" : "times", human_time(client_number(reply, "unwritten_ns")).text,
               *why ? "; nothing can be written now: " : "", why);
}

static void print_summed(const char *reply)
{
    uint64_t waits = client_number(reply, "summed_waits"),
             below = client_number(reply, "summed_below_ns");
    if (waits || below)
        printf("summed      %s short waits, as sums by site (cost=)%s%s\n", human_count(waits).text,
               below ? "; now those below " : "; none now", below ? human_time(below).text : "");
}

static void print_one(struct seen *s)
{
    const char *reply = buf_str(&s->reply);
    char path[PATH_MAX];
    struct buf causes;
    buf_init(&causes);
    printf("JVM         %d, Java %s, %s\n", (int)s->jvm.pid, s->jvm.java[0] ? s->jvm.java : "?",
           s->jvm.name);
    if (!s->recorded) {
        printf("recorded    no%s%s\n", s->why[0] ? ": " : "", s->why);
        return;
    }
    target_text(reply, "path", path, sizeof path);
    printf("recorded    for %s, %s\n", human_time(client_number(reply, "since_ns")).text,
           client_number(reply, "attached") ? "attached to" : "from its start");
    uint64_t part = client_number(reply, "part");
    printf("into        %s, %s", path, human_bytes(client_number(reply, "bytes")).text);
    if (part > 1)
        printf(", file %s of this recording", human_count(part).text);
    printf("\n");
    print_groups(reply);
    printf("events      %s, %s per second now\n", human_count(client_number(reply, "events")).text,
           human_count((uint64_t)s->events_per_s).text);
    print_full_disk(reply);
    uint64_t n = lost(reply, &causes);
    printf("lost        %s%s%s%s\n", n ? human_count(n).text : "none", n ? " (" : "",
           n ? buf_str(&causes) : "", n ? ")" : "");
    print_stacks(reply);
    print_summed(reply);
    printf(
        "cost now    about %.1f %% of a processor in the program's threads, %.1f %% for writing\n",
        s->recording * 100, s->writing * 100);
    buf_fini(&causes);
}

/* What recordings that are over left: a line for each that the user has to look at, and how many
 * orca clean removes. */
static void print_left(const struct left_behind *left)
{
    enum { SHOWN = 5 };
    size_t needed = 0, removable = 0;
    if (left->n)
        printf("\nleft behind by ended recordings:\n");
    for (size_t i = 0; i < left->n; i++) {
        struct buf b;
        if (left_behind_goes(&left->v[i])) {
            removable++;
            continue;
        }
        if (needed++ >= SHOWN)
            continue;
        buf_init(&b);
        buf_printf(&b, "  %s: ", left->v[i].rings.path);
        left_behind_words(&left->v[i], &b);
        printable_put(stdout, buf_str(&b));
        printf("\n");
        buf_fini(&b);
    }
    if (needed > SHOWN)
        printf("  and %zu more that a trace may need: orca clean --dry-run\n", needed - SHOWN);
    if (removable)
        printf("  %zu file%s that nothing needs; to remove %s: orca clean\n", removable,
               removable == 1 ? "" : "s", removable == 1 ? "it" : "them");
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *groups_json(const char *reply)
{
    json_t *a = json_array();
    const char *at = NULL, *name;
    for (int len; (len = client_value(reply, "group", &at, &name)) >= 0;)
        json_array_append_new(a, json_stringn(name, (size_t)len));
    return a;
}

static json_t *losses_json(const char *reply)
{
    json_t *o = json_object();
    const char *at = NULL, *value;
    while (client_value(reply, "loss", &at, &value) >= 0) {
        char cause[64];
        int n = (int)strcspn(value, " ");
        snprintf(cause, sizeof cause, "%.*s", n, value);
        json_object_set_new(o, cause, json_integer((json_int_t)strtoull(value + n, NULL, 10)));
    }
    return o;
}

static json_t *seen_json(struct seen *s)
{
    const char *reply = buf_str(&s->reply);
    char path[PATH_MAX];
    json_t *o = json_pack("{s:i, s:s, s:s, s:b}", "pid", (int)s->jvm.pid, "java", s->jvm.java,
                          "program", s->jvm.name, "recorded", s->recorded);
    if (!o)
        return json_null();
    if (s->why[0])
        json_object_set_new(o, "problem", json_string(s->why));
    if (!s->recorded)
        return o;
    target_text(reply, "path", path, sizeof path);
    json_object_set_new(o, "path", json_string(path));
    json_object_set_new(o, "attached", json_boolean(client_number(reply, "attached")));
    static const char *const numbers[] = {"since_ns",     "events",          "bytes",
                                          "part",         "unwritten_times", "unwritten_ns",
                                          "summed_waits", "summed_below_ns"};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        json_object_set_new(o, numbers[i],
                            json_integer((json_int_t)client_number(reply, numbers[i])));
    json_object_set_new(o, "events_per_s", json_real(s->events_per_s));
    json_object_set_new(o, "recording_cpu", json_real(s->recording));
    json_object_set_new(o, "writing_cpu", json_real(s->writing));
    json_object_set_new(o, "lost_total", json_integer((json_int_t)lost(reply, NULL)));
    json_object_set_new(o, "lost", losses_json(reply));
    target_text(reply, "unwritten_now", path, sizeof path);
    json_object_set_new(o, "unwritten_now", *path ? json_string(path) : json_null());
    json_object_set_new(o, "groups", groups_json(reply));
    return o;
}

static json_t *left_json(const struct left_item *i)
{
    static const char *const kinds[] = {"needed", "complete", "deleted", "unknown"};
    json_t *o = json_object();
    json_object_set_new(o, "path", json_string(i->rings.path));
    json_object_set_new(o, "removable", json_boolean(left_behind_goes(i)));
    if (!i->is_rings)
        return o;
    json_object_set_new(o, "trace", json_string(i->rings.trace));
    json_object_set_new(o, "trace_is", json_string(kinds[i->rings.kind]));
    json_object_set_new(o, "bytes", json_integer((json_int_t)i->rings.bytes));
    return o;
}

static void print_json(const struct list *l, const struct left_behind *left)
{
    json_t *o = json_object(), *a = json_array();
    for (size_t i = 0; i < l->n; i++)
        json_array_append_new(a, seen_json(&l->all[i]));
    json_object_set_new(o, "schema", json_integer(1));
    json_object_set_new(o, "jvms", a);
    a = json_array();
    for (size_t i = 0; i < left->n; i++)
        json_array_append_new(a, left_json(&left->v[i]));
    json_object_set_new(o, "left_behind", a);
    json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    printf("\n");
    json_decref(o);
}

/* ---------------------------------------------------------------------------------------------- */

static int collect(struct list *l, int n, char **argv, struct err *err)
{
    struct jvm jvm;
    if (n > 0) {
        TRY(target_find(n, argv, l->timeout_ns, &jvm, err));
        return add(l, &jvm) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
    }
    TRY(jvm_list(add, l, err));
    return 0;
}

/* Root asks JVMs of others, too: what these say may be anything. */
static void make_printable(struct seen *s)
{
    buf_str(&s->reply); /* ends with a NUL now */
    if (s->reply.p)
        printable_lines((char *)s->reply.p);
    printable_line(s->why);
}

static int run(int argc, char **argv, struct err *err)
{
    enum { MOMENT_NS = 500 * 1000 * 1000 };
    struct args o = {false};
    int n = cmd_parse(&cmd_status, argc, argv, &o, err);
    if (n < 0)
        return n;
    struct list l = {.timeout_ns = o.timeout, .moment_ns = n > 0 ? MOMENT_NS : 0};
    struct left_behind left = {.v = NULL};
    int rc = collect(&l, n, argv, err);
    if (rc == 0 && n == 0)
        rc = left_behind_find(&left, &(const struct leftover_search){NULL, 0}, err);
    if (rc == 0)
        side_by_side(l.n, ask, &l);
    for (size_t i = 0; i < l.n && !o.json; i++)
        make_printable(&l.all[i]);
    if (rc == 0 && o.json)
        print_json(&l, &left);
    else if (rc == 0 && l.n == 0)
        log_line("no JVM of this user is running");
    else if (rc == 0 && n > 0)
        print_one(&l.all[0]);
    else if (rc == 0)
        print_list(&l);
    if (rc == 0 && n == 0 && !o.json)
        print_left(&left);
    for (size_t i = 0; i < l.n; i++)
        buf_fini(&l.all[i].reply);
    free(l.all);
    left_behind_fini(&left);
    return rc;
}

const struct cmd cmd_status = {
    .name = "status",
    .summary = "list your JVMs and their recordings",
    .args = "[PID]",
    .description =
        "Without a PID, lists every JVM of this user with the trace that it is recorded into, "
        "and counts the files that ended recordings left behind (orca clean).\n"
        "\n"
        "With a PID, shows for how long it has been recorded, which groups of events, the "
        "number and rate of events, losses, and the cost of recording: in the program's "
        "threads (an estimate: one of 32 stacks is timed, and an event counts 100 ns) and for "
        "writing the trace.",
    .examples = "orca status\n"
                "orca status 4711 --json",
    .opts = OPT_TABLE(opts),
    .run = run,
};
