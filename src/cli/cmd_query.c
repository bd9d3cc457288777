/* cmd_query.c - questions to a running JVM: its threads, its locks, the objects and classes that a
 * recording has met.  The answers are the agent's JSON (agent/query.h); here they become text. */
#include "base/human.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/cmd.h"
#include "cli/load_agent.h"
#include "cli/query_heap.h"
#include "cli/target.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

struct args {
    bool json, held;
    uint64_t depth, timeout;
};

static const struct opt opts[] = {
    {"held", 0, OPT_FLAG, offsetof(struct args, held), NULL,
     "with locks: also monitors that are held without a waiter", NULL, 0, 0},
    {"depth", 0, OPT_UINT, offsetof(struct args, depth), "N",
     "with refs: steps from the object, at most 8 (default: 1)", NULL, 1, 8},
    {"json", 0, OPT_FLAG, offsetof(struct args, json), NULL, "the answer as JSON", NULL, 0, 0},
    TARGET_TIMEOUT(offsetof(struct args, timeout), "10m"),
};

/* --- text ------------------------------------------------------------------------------------- */

/* A string of the answer, fit for the terminal; "?" when it is not there. */
static const char *text(const json_t *o, const char *key, char out[512])
{
    const char *s = json_string_value(json_object_get(o, key));
    printable_text(s ? s : "?", true, out, 512);
    return out;
}

static void put(const char *before, const json_t *o, const char *key, const char *after)
{
    char s[512];
    printf("%s%s%s", before, text(o, key, s), after);
}

static void put_lock(const json_t *l)
{
    put("", l, "class", "");
    put(" @", l, "hash", "");
}

static void put_for(const json_t *o, const char *key)
{
    json_int_t ns = json_integer_value(json_object_get(o, key));
    if (ns >= 0)
        printf(" for %s", human_time((uint64_t)ns).text);
}

static void print_lock(const json_t *l)
{
    size_t i;
    json_t *w, *owner = json_object_get(l, "owner");
    put_lock(l);
    put(" (", l, "kind", ")");
    if (json_is_object(owner))
        put(": owned by ", owner, "name", "");
    else
        printf(json_is_false(json_object_get(l, "owned")) ? ": no owner" : ": owner unknown");
    if (json_object_get(l, "owner_at"))
        put(", which is at ", l, "owner_at", "");
    if (json_object_get(l, "taken_at"))
        put(", took it at ", l, "taken_at", "");
    printf("\n");
    json_array_foreach(json_object_get(l, "waiting"), i, w)
    {
        put("    ", w, "name", "");
        put(" ", w, "how", "");
        put_for(w, "ns");
        put(" at ", w, "at", "\n");
    }
}

static void print_deadlock(const json_t *cycle)
{
    size_t i;
    json_t *t;
    printf("DEADLOCK of %zu threads:\n", json_array_size(cycle));
    json_array_foreach(cycle, i, t)
    {
        put("    ", t, "name", " waits for ");
        put_lock(json_object_get(t, "waits_for"));
        put(" held by ", json_object_get(t, "owner"), "name", "");
        put(", at ", t, "at", "\n");
    }
}

/* What the answer lacks. */
static void print_unseen(const json_t *answer)
{
    json_int_t left = json_integer_value(json_object_get(answer, "virtual_left_out"));
    json_int_t unknown = json_integer_value(json_object_get(answer, "blocked_on_unknown"));
    if (left)
        printf("%" JSON_INTEGER_FORMAT " more virtual threads were not looked at\n", left);
    if (unknown)
        printf("%" JSON_INTEGER_FORMAT " virtual thread%s blocked on monitors that are not known\n"
               "    before JDK 25 they are known while a recording runs (orca attach)\n",
               unknown, unknown == 1 ? " is" : "s are");
}

static int print_locks(const json_t *answer)
{
    size_t i;
    json_t *v, *locks = json_object_get(answer, "locks");
    json_array_foreach(json_object_get(answer, "deadlocks"), i, v) print_deadlock(v);
    json_array_foreach(locks, i, v) print_lock(v);
    if (json_array_size(locks) == 0)
        printf("no thread waits for a lock or a condition\n");
    print_unseen(answer);
    return 0;
}

static void print_thread(const json_t *t)
{
    char state[512];
    size_t i;
    json_t *v;
    put("\"", t, "name", "\"");
    bool virtual = json_is_true(json_object_get(t, "virtual"));
    printf(" #%" JSON_INTEGER_FORMAT "%s, ", json_integer_value(json_object_get(t, "id")),
           virtual                                      ? " virtual"
           : json_is_true(json_object_get(t, "daemon")) ? " daemon"
                                                        : "");
    put("", t, "state", "");
    put_for(t, "waiting_ns");
    printf("\n");
    if (json_is_object(v = json_object_get(t, "waits_for"))) {
        printf("    waits for ");
        put_lock(v);
        if (json_is_object(json_object_get(t, "owner")))
            put(", owned by ", json_object_get(t, "owner"), "name", "");
        printf("\n");
    } else if (strcmp(text(t, "state", state), "BLOCKED") == 0) {
        printf("    waits for an unknown monitor\n");
    }
    json_array_foreach(json_object_get(t, "holds"), i, v)
    {
        printf("    holds ");
        put_lock(v);
        if (json_object_get(v, "taken_at"))
            put(", taken at ", v, "taken_at", "");
        printf("\n");
    }
    json_array_foreach(json_object_get(t, "stack"), i, v)
    {
        char s[512];
        printable_text(json_string_value(v), true, s, sizeof s);
        printf("        at %s\n", s);
    }
}

static int print_threads(const json_t *answer)
{
    size_t i;
    json_t *t;
    json_array_foreach(json_object_get(answer, "threads"), i, t) print_thread(t);
    return 0;
}

static void put_names(const char *title, const json_t *threads)
{
    size_t i;
    json_t *t;
    printf("%s", title);
    json_array_foreach(threads, i, t) put(i ? ", " : "", t, "name", "");
    printf("%s\n", json_array_size(threads) ? "" : "none");
}

static int print_monitor(const json_t *m)
{
    put_lock(m);
    printf("\nowner                   ");
    if (json_is_object(json_object_get(m, "owner")))
        put("", json_object_get(m, "owner"), "name", "");
    else
        printf("unknown");
    printf(", entered %" JSON_INTEGER_FORMAT " times\n",
           json_integer_value(json_object_get(m, "entry_count")));
    put_names("waiting to enter        ", json_object_get(m, "waiting_to_enter"));
    put_names("waiting to be notified  ", json_object_get(m, "waiting_to_be_notified"));
    return 0;
}

static int print_classes(const json_t *answer)
{
    size_t i, k;
    json_t *c, *in;
    json_array_foreach(json_object_get(answer, "classes"), i, c)
    {
        put(json_is_true(json_object_get(c, "interface")) ? "interface " : "class ", c, "name", "");
        if (json_is_string(json_object_get(c, "super")))
            put(" extends ", c, "super", "");
        json_array_foreach(json_object_get(c, "interfaces"), k, in)
        {
            char s[512];
            printable_text(json_string_value(in), true, s, sizeof s);
            printf("%s%s", k ? ", " : " implements ", s);
        }
        put("\n    loader ", c, "loader", "");
        if (json_is_string(json_object_get(c, "module")))
            put(", module ", c, "module", "");
        put(", hash ", c, "hash", "\n");
        query_heap_print_class(c);
    }
    return 0;
}

/* ---------------------------------------------------------------------------------------------- */

static const struct question {
    const char *name;
    const char *what; /* what it takes, NULL: nothing */
    int (*print)(const json_t *answer);
    /* of the heap: what is printed needs the trace, too */
    int (*print_named)(const struct jvm *jvm, const json_t *answer);
} questions[] = {{"locks", NULL, print_locks, NULL},
                 {"thread", "ID or NAME", print_threads, NULL},
                 {"monitor", "ID of a lock", print_monitor, NULL},
                 {"object", "NUMBER of an object, or lock:ID", NULL, query_heap_print_object},
                 {"refs", "NUMBER of an object", NULL, query_heap_print_refs},
                 {"class", "ID or NAME", print_classes, NULL}};

static int show(const struct jvm *jvm, const struct question *q, const struct args *o,
                const char *answer, struct err *err)
{
    json_error_t why;
    json_t *j = json_loads(answer, 0, &why);
    if (!j)
        return err_set(err, -EPROTO, "the agent's answer is not understood: %s", why.text);
    int rc = 0;
    if (o->json) {
        if (q->print_named)
            query_heap_name(jvm, j);
        json_dumpf(j, stdout, JSON_INDENT(2));
        printf("\n");
    } else {
        rc = q->print_named ? q->print_named(jvm, j) : q->print(j);
    }
    json_decref(j);
    return rc;
}

static int put_request(const struct question *q, const struct args *o, int n, char **argv,
                       struct buf *b, struct err *err)
{
    if ((q->what != NULL) != (n == 3)) {
        err_set(err, 0, "query PID %s takes %s", q->name, q->what ? q->what : "nothing more");
        return CMD_USAGE;
    }
    buf_printf(b, "query %s", q->name);
    if (q->what)
        buf_printf(b, " %s", argv[3]);
    else if (o->held)
        buf_puts(b, " held");
    if (strcmp(q->name, "refs") == 0)
        buf_printf(b, " %" PRIu64, o->depth);
    return 0;
}

static const struct question *find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(questions); i++)
        if (strcmp(questions[i].name, name) == 0)
            return &questions[i];
    return NULL;
}

/* Some answers take walks through the whole heap. */
#define ANSWER_NS (UINT64_C(10) * 60 * 1000000000)

static int query(const struct jvm *jvm, const struct args *o, int n, char **argv, struct err *err)
{
    struct buf request, answer;
    const struct question *q = find(argv[2]);
    buf_init(&request);
    buf_init(&answer);
    int rc = put_request(q, o, n, argv, &request, err);
    if (rc == 0)
        rc = load_agent_ask(jvm, buf_str(&request), ANSWER_NS, &answer, err);
    if (rc == 0 && strcmp(q->name, "thread") == 0 && strstr(buf_str(&answer), "\"threads\":[]"))
        rc = err_set(err, -ENOENT, "JVM %d (%s) has no thread \"%s\"", (int)jvm->pid, jvm->name,
                     argv[3]);
    if (rc == 0)
        rc = show(jvm, q, o, buf_str(&answer), err);
    buf_fini(&request);
    buf_fini(&answer);
    return rc;
}

static int run(int argc, char **argv, struct err *err)
{
    struct args o = {.depth = 1};
    struct jvm jvm;
    int n = cmd_parse(&cmd_query, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (n < 2 || n > 3 || !find(argv[2])) {
        err_set(err, 0,
                "name a process id and what is asked: locks, thread, monitor, object, refs, class");
        return CMD_USAGE;
    }
    TRY(target_find(1, argv, o.timeout, &jvm, err));
    return query(&jvm, &o, n, argv, err);
}

const struct cmd cmd_query = {
    .name = "query",
    .summary = "ask a running JVM about its threads, locks, objects, classes",
    .args = "PID locks | thread ID|NAME | monitor|object|refs ID | class ID|NAME",
    .description =
        "Shows what a JVM is doing at this moment.\n\nlocks lists waiting threads (blocked on a "
        "monitor, parked for a lock, in Object.wait), for which object, its owner and what the "
        "owner executes; deadlocks come first. thread shows a thread's state, what it waits for "
        "and since when, what it holds, and its stack. Neither needs a recording, but only a "
        "recording knows since when a thread waits. They see virtual threads, at most 20,000; "
        "before JDK 25, the monitor that blocks one only while a recording runs.\n\nmonitor, object, refs and class take the ids that orca events prints "
        "for the present recording. monitor (a lock's id) shows owner, entry count, and the "
        "threads waiting to enter and to be notified. class shows loader, module, supertypes, "
        "fields and number of instances (not on JDK 17 with ZGC); counting stops the "
        "program.\n\nobject takes the number of a recorded object (groups sampled-alloc, "
        "alloc+frees) and shows class, size, fields, elements and text, and when, where and by "
        "which thread it was allocated. Objects that it refers to also get numbers. A lock's id "
        "differs from its object number: write lock:ID, or ID alone where no object has that "
        "number.\n\nrefs shows who refers to the object, what it refers to, and the shortest path "
        "from a GC root. Each step of the path stops the program for a walk through its whole "
        "heap; for a large heap use orca heap dump.",
    .examples = "orca query 4711 locks\n"
                "orca query 4711 thread http-nio-8080-exec-7\n"
                "orca query 4711 monitor 5 --json\n"
                "orca query 4711 object 1234\n"
                "orca query 4711 refs 1234 --depth 2",
    .opts = OPT_TABLE(opts),
    .run = run,
};
