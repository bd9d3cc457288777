/* `orca report` as a whole, on traces with known content: exact text, and the JSON against itself.
 *
 * The expected texts are tests/unit/report/NAME.txt; with ORCA_ACCEPT=1 in the environment what is
 * printed now becomes the expected text: look at the difference before you keep it. */
#include "base/util.h"
#include "cli/cmd.h"
#include "format/writer.h"
#include "printed.h"
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];
static int file;
static struct trace_builder b;

static void begin(void)
{
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("TZ", "UTC", 1);
    strcpy(path, "/tmp/orca-report-XXXXXX");
    file = mkstemp(path);
    cr_assert_geq(file, 0);
    builder_init(&b);
}

static void end(void)
{
    unlink(path);
    close(file);
}

TestSuite(report, .init = begin, .fini = end);

/* Run the command with these options on the trace; what it printed, and its status. */
static char *report(int *status, struct err *err, const char *options)
{
    char words[200], *argv[20] = {(char[]){"report"}};
    int argc = 1;
    snprintf(words, sizeof words, "%s", options);
    for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
        argv[argc++] = w;
    argv[argc++] = path;
    struct printed p = printed_begin(false);
    *status = cmd_report.run(argc, argv, err);
    return printed_end(&p);
}

static char *read_file(const char *name)
{
    FILE *f = fopen(name, "r");
    char *text = calloc(1, 65536);
    if (f) {
        text[fread(text, 1, 65535, f)] = 0;
        fclose(f);
    }
    return text;
}

static void no_line_is_too_long(const char *text)
{
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t columns = 0;
        for (const char *p = line; *p && *p != '\n'; p++)
            columns += ((unsigned char)*p & 0xc0) != 0x80;
        cr_assert_leq(columns, 100, "%.120s", line);
    }
}

/* The trace's name, which differs each time, in commands to type. */
static void hide_path(char *text)
{
    for (char *at = text; (at = strstr(at, path)); at += strlen(path))
        memcpy(at + strlen(path) - 6, "XXXXXX", 6);
}

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void expect_text(const char *name, const char *options, int want_status)
{
    int status;
    struct err err = {""};
    char *got = report(&status, &err, options);
    char expected[100];
    snprintf(expected, sizeof expected, "tests/unit/report/%s.txt", name);
    no_line_is_too_long(got);
    hide_path(got);
    if (!*options)
        cr_assert_leq(lines_of(got), 40, "the first screen");
    if (getenv("ORCA_ACCEPT")) {
        mkdir("tests/unit/report", 0777);
        FILE *f = fopen(expected, "w");
        fputs(got, f);
        fclose(f);
    }
    char *want = read_file(expected);
    cr_assert_str_eq(got, want, "%s differs; it is now:\n%s", expected, got);
    cr_assert_eq(status, want_status, "%s: status %d: %s", name, status, err.msg);
    free(got);
    free(want);
}

/* --- traces ----------------------------------------------------------------------------------- */

enum { US = 1000, MS = 1000000 };

struct shop {
    thread_id main, worker[3], cleaner, virtual;
    lock_id order[2], stock, queue, table;
    stack_id submit, cancel, take, put;
};

static struct shop define_shop(void)
{
    struct shop s;
    builder_info(&b, "sun.java.command", "shop.Main --fast");
    builder_info(&b, "java.vm.name", "OpenJDK 64-Bit Server VM");
    builder_info(&b, "java.vm.version", "17.0.15+6");
    builder_info(&b, "host", "example");
    s.main = builder_thread(&b, "main");
    for (int i = 0; i < 3; i++)
        s.worker[i] = builder_thread(&b, i < 2 ? "worker" : "w\xc3\xb6rker \033[31m\xff");
    s.cleaner = builder_thread_flags(&b, "Common-Cleaner", THREAD_DAEMON);
    s.virtual = builder_thread_flags(&b, "", THREAD_VIRTUAL);
    class_id order = builder_class(&b, "Lshop/model/Order;");
    s.order[0] = builder_lock(&b, order);
    s.order[1] = builder_lock(&b, order);
    s.stock = builder_lock(&b, builder_class(&b, "Lcom/example/warehouse/inventory/persistence/"
                                                 "StockTakingRepositoryImplementation$Row;"));
    s.queue = builder_lock(&b, builder_class(&b, "Ljava/lang/ref/ReferenceQueue$Lock;"));
    s.table = builder_lock(&b, builder_class(&b, "Ljava/util/Hashtable;"));
    s.submit = builder_stack(&b, "shop.model.Order.submit:88 shop.Main.main:12");
    s.cancel = builder_stack(&b, "shop.model.Order.cancel:140 shop.Main.main:13");
    s.take = builder_stack(&b, "java.lang.Object.wait0:native java.lang.Object.wait:366 "
                               "shop.Queue.take:40 shop.Main.main:14");
    s.put = builder_stack(&b, "java.util.Hashtable.put:480 shop.Cache.put:21 shop.Main.main:15");
    return s;
}

static void block(uint32_t stream, thread_id who, uint64_t from, uint64_t ns, lock_id lock,
                  thread_id owner, stack_id stack)
{
    ADD(&b, stream, who, from, monitor_contended_enter, .lock = lock, .owner = owner,
        .stack = stack);
    ADD(&b, stream, who, from + ns, monitor_contended_entered, .lock = lock);
}

/* The same, and the owner's stack is known. */
static void block_asking(uint32_t stream, thread_id who, uint64_t from, uint64_t ns, lock_id lock,
                         thread_id owner, stack_id stack, stack_id owner_stack)
{
    ADD(&b, stream, who, from, monitor_contended_enter, .lock = lock, .owner = owner,
        .stack = stack);
    ADD(&b, stream, who, from + 10 * US, owner_stack, .lock = lock, .owner = owner,
        .stack = owner_stack);
    ADD(&b, stream, who, from + ns, monitor_contended_entered, .lock = lock);
}

static void wait_(uint32_t stream, thread_id who, uint64_t from, uint64_t ns, lock_id lock,
                  bool timed_out, stack_id stack)
{
    ADD(&b, stream, who, from, wait_enter, .lock = lock, .stack = stack);
    ADD(&b, stream, who, from + ns, wait_exit, .lock = lock, .timed_out = timed_out);
}

/* One of everything, well behaved. */
static void fill_shop(const struct shop *s)
{
    ADD0(&b, 1, s->main, 0, thread_alive);
    for (uint32_t i = 0; i < 3; i++)
        ADD0(&b, 2 + i, s->worker[i], 10 * MS, thread_start);
    for (uint64_t i = 0; i < 40; i++)
        block(2, s->worker[0], (20 + 10 * i) * MS, (1 + i % 3) * MS + 345 * US, s->order[i % 2],
              s->worker[1], s->submit);
    for (uint64_t i = 0; i < 5; i++)
        block(3, s->worker[1], (20 + 10 * i) * MS, 800 * US + i, s->order[0], s->worker[0],
              s->cancel);
    block(3, s->worker[1], 200 * MS, 78 * US, s->table, (thread_id){0}, s->put);
    block_asking(3, s->worker[1], 201 * MS, 950 * US, s->stock, s->worker[2], s->submit, s->cancel);
    for (uint64_t i = 0; i < 20; i++)
        wait_(4, s->worker[2], (20 + 20 * i) * MS, 15 * MS, s->order[1], i % 4 == 0, s->take);
    block(20, s->virtual, 300 * MS, 5 * MS, s->order[0], s->main, s->submit);
    wait_(21, s->virtual, 310 * MS, 50 * MS, s->order[0], false, s->take);
    ADD(&b, 20, s->virtual, 360 * MS + 5, monitor_contended_entered, .lock = s->order[0]);
    ADD(&b, 5, s->cleaner, 30 * MS, wait_enter, .lock = s->queue, .stack = s->take);
    ADD0(&b, 6, (thread_id){0}, 50 * MS, gc_start);
    ADD0(&b, 6, (thread_id){0}, 53 * MS, gc_finish);
    ADD(&b, 4, s->worker[2], 700 * MS, monitor_contended_enter, .lock = s->stock, .owner = s->main,
        .stack = s->submit);
    ADD0(&b, 2, s->worker[0], 800 * MS, thread_end);
}

static void write_trace(void)
{
    builder_write(&b, file, 1000 * MS);
}

static void build_shop(void)
{
    struct shop s = define_shop();
    fill_shop(&s);
    write_trace();
}

/* --- text ------------------------------------------------------------------------------------- */

Test(report, everything)
{
    build_shop();
    expect_text("everything", "--all", 0);
    expect_text("screen", "", 0);
    expect_text("finding-2", "--finding 2", 0);
}

/* A shutdown hook that ran for 50 us of the second, and waited for 0 ns. */
Test(report, who_hardly_lived_is_not_on_the_first_screen)
{
    struct shop s = define_shop();
    fill_shop(&s);
    thread_id hook = builder_thread(&b, "Logging-Cleaner");
    ADD0(&b, 40, hook, 900 * MS, thread_start);
    ADD0(&b, 40, hook, 900 * MS + 50 * US, thread_end);
    block(41, hook, 900 * MS, 0, builder_lock(&b, builder_class(&b, "Lshop/Quick;")), s.worker[1],
          s.submit);
    write_trace();
    int status;
    struct err err;
    char *screen = report(&status, &err, ""), *all = report(&status, &err, "--threads");
    cr_assert_null(strstr(screen, "Logging-Cleaner"));
    cr_assert_not_null(strstr(screen, "\nCommon-Cleaner "));
    cr_assert_not_null(strstr(all, "Logging-Cleaner"));
    cr_assert_null(strstr(screen, "shop.Quick"), "waits of 0 ns");
    free(screen);
    free(all);
}

Test(report, a_finding_that_is_not_there)
{
    build_shop();
    int status;
    struct err err;
    free(report(&status, &err, "--finding 9"));
    cr_assert_lt(status, 0);
    cr_assert_str_eq(err.msg, "--finding: the report has 2 findings");
}

Test(report, sections)
{
    build_shop();
    expect_text("threads", "--threads", 0);
    expect_text("monitors", "--monitors", 0);
    expect_text("monitors", "--locks", 0);
    expect_text("sites-2", "--sites --top 2", 0);
    expect_text("owners", "--owners --top 3", 0);
}

Test(report, one_class)
{
    build_shop();
    expect_text("class-order", "--class Order", 0);
    expect_text("class-order", "--class shop.model.Order", 0);
    expect_text("class-row", "--class Row --top 1", 0);
}

Test(report, no_such_class)
{
    build_shop();
    int status;
    struct err err;
    free(report(&status, &err, "--class Ordre"));
    cr_assert_eq(status, -ENOENT);
    cr_assert_str_eq(err.msg,
                     "--class: no monitor is of class 'Ordre'; did you mean 'shop.model.Order'?");
}

Test(report, ascii_only)
{
    setenv("LC_ALL", "C", 1);
    build_shop();
    expect_text("threads-ascii", "--threads", 0);
}

Test(report, nothing_recorded)
{
    write_trace();
    expect_text("nothing", "--all", 0);
    expect_text("screen-nothing", "", 0);
    expect_text("nothing-threads", "--threads", 0);
    expect_text("nothing-owners", "--owners --sites --monitors", 0);
}

Test(report, losses_come_first)
{
    struct shop s = define_shop();
    builder_loss(&b, LOSS_ring_full, 1200);
    builder_loss(&b, LOSS_stack, 34);
    block(2, s.worker[0], 10 * MS, 5 * MS, s.order[0], s.worker[1], s.submit);
    ADD(&b, 2, s.worker[0], 20 * MS, lost, .cause = LOSS_ring_full, .count = 1200);
    write_trace();
    expect_text("losses", "--all", 0);
    expect_text("screen-losses", "", 0);
    expect_text("losses-sites", "--sites", 0);
}

Test(report, endings)
{
    b.header.state = TRACE_RECOVERED;
    build_shop();
    int status;
    struct err err;
    char *text = report(&status, &err, "--top 1");
    cr_assert(strstr(text, "the JVM was killed; completed from its rings"));
    cr_assert_eq(status, 0);
    free(text);
}

Test(report, unfinished_is_no_error)
{
    b.header.state = TRACE_RECORDING;
    build_shop();
    int status;
    struct err err;
    char *text = report(&status, &err, "--top 1");
    cr_assert(strstr(text, "unfinished"));
    cr_assert_eq(status, 0);
    free(text);
}

Test(report, flight_recorder)
{
    b.header.capacity = WRITER_CAPACITY_MIN;
    b.header.evicted_events = 12345;
    build_shop();
    int status;
    struct err err;
    char *text = report(&status, &err, "--top 1");
    cr_assert(strstr(text,
                     "the newest part of a longer recording (maxsize): 12,345 older events were "
                     "overwritten"),
              "%s", text);
    free(text);
}

Test(report, damage_is_shown_and_is_an_error)
{
    build_shop();
    struct trace *t;
    cr_assert_eq(trace_open(&t, path, NULL), 0);
    for (size_t i = 0; i < t->n_chunks; i++)
        if (t->chunks[i].h.type == CHUNK_EVENTS)
            cr_assert_eq(
                pwrite(file, "?!", 2,
                       (off_t)(t->chunks[i].offset + CHUNK_HEADER_SIZE + t->chunks[i].h.dir_len)),
                2);
    trace_close(t);
    int status;
    struct err err;
    char *text = report(&status, &err, "");
    cr_assert_eq(status, CMD_FAILED);
    cr_assert_eq(strncmp(text, "DAMAGED  ", 9), 0, "%s", text);
    free(text);
}

Test(report, usage)
{
    struct err err;
    char *two[] = {(char[]){"report"}, path, path, NULL}, *none[] = {two[0], NULL};
    cr_assert_eq(cmd_report.run(1, none, &err), CMD_USAGE);
    cr_assert_eq(cmd_report.run(3, two, &err), CMD_USAGE);
    int status;
    free(report(&status, &err, "--json --threads --finding 1"));
    cr_assert_eq(status, CMD_USAGE);
    cr_assert_str_eq(err.msg, "--finding and --threads: give one of them");
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *report_json_of(const char *options)
{
    int status;
    struct err err;
    json_error_t where;
    char *text = report(&status, &err, options);
    cr_assert_eq(status, 0);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    cr_assert(root, "line %d: %s", where.line, where.text);
    free(text);
    return root;
}

static json_int_t number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    cr_assert(json_is_integer(v), "%s is no integer", key);
    return json_integer_value(v);
}

static json_int_t sum(const json_t *root, const char *list, const char *key)
{
    json_int_t all = 0;
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(root, list), i, entry) all += number(entry, key);
    return all;
}

Test(report, json_states_add_up_to_the_life)
{
    build_shop();
    json_t *root = report_json_of("--json"), *thread;
    size_t i;
    cr_assert_str_eq(json_string_value(json_object_get(root, "schema")), "orca-report-1");
    cr_assert_eq(json_array_size(json_object_get(root, "threads")), 6);
    json_array_foreach(json_object_get(root, "threads"), i, thread)
    {
        static const char *const states[] = {"blocked_ns", "waited_ns", "parked_ns", "joined_ns",
                                             "slept_ns",   "io_ns",     "ready_ns",  "stopped_ns",
                                             "off_ns",     "running_ns"};
        json_int_t all = 0;
        for (size_t k = 0; k < ARRAY_LEN(states); k++)
            all += number(thread, states[k]);
        cr_assert_eq(all, number(thread, "life_ns"));
    }
    json_decref(root);
}

Test(report, json_totals_agree)
{
    static const char *const keys[] = {"blocked_count", "blocked_ns", "waited_count", "waited_ns"};
    build_shop();
    json_t *root = report_json_of("--json");
    for (size_t i = 0; i < 4; i++) {
        json_int_t all = sum(root, "threads", keys[i]);
        cr_assert_gt(all, 0);
        cr_assert_eq(sum(root, "locks", keys[i]), all);
        cr_assert_eq(sum(root, "sites", keys[i]), all);
        if (i < 2) {
            cr_assert_eq(sum(root, "owners", keys[i]), all);
            cr_assert_eq(sum(root, "pairs", keys[i]), all);
        }
    }
    json_decref(root);
}

/* --- many virtual threads --------------------------------------------------------------------- */

enum { REQUESTS = 1500, MORE_REQUESTS = 3000, LISTED = 1000 };

/* Each request is a virtual thread that main starts; it parks for 50 ns, for the last 30 of them main
 * has unparked it, and ends.  name: what their
 * names begin with; "": they have nothing in common. */
static void build_requests(int n, const char *names)
{
    thread_id main = builder_thread(&b, "main");
    stack_id at = builder_stack(&b, "java.lang.Thread.start:1 shop.Server.accept:7");
    stack_id parked = builder_stack(&b, "java.util.concurrent.locks.LockSupport.parkNanos:1 "
                                        "shop.Request.run:9");
    for (int i = 0; i < n; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s-%d", names, i);
        if (!*names)
            snprintf(name, sizeof name, "%c%c%c", 'a' + i % 26, 'a' + i / 26 % 26,
                     'a' + i / 26 / 26);
        thread_id v = builder_thread_flags(&b, name, THREAD_VIRTUAL);
        uint64_t begin = 1000 + (uint64_t)i * 100;
        ADD(&b, 1, main, begin, thread_start_called, .target = v, .stack = at);
        ADD(&b, 1, main, begin + 40, unpark, .target = v);
        ADD0(&b, 2, v, begin + 10, thread_start);
        ADD(&b, 2, v, begin + 20, park_enter, .stack = parked);
        ADD(&b, 2, v, begin + 70, park_exit, .lock.v = 0);
        ADD0(&b, 2, v, begin + 80, thread_end);
    }
    builder_write(&b, file, 2000 + (uint64_t)n * 100);
}

static json_int_t parks(const json_t *root)
{
    return sum(root, "threads", "parked_count") + sum(root, "thread_groups", "parked_count");
}

Test(report, json_groups_virtual_threads_beyond_the_first_thousand)
{
    build_requests(REQUESTS, "request");
    json_t *root = report_json_of("--json");
    cr_assert_eq(json_array_size(json_object_get(root, "threads")), LISTED + 1, "and main");
    const json_t *groups = json_object_get(root, "thread_groups");
    cr_assert_eq(json_array_size(groups), 1);
    const json_t *g = json_array_get(groups, 0), *at = json_object_get(g, "started_at");
    cr_assert_str_eq(json_string_value(json_object_get(g, "name")), "request");
    cr_assert_str_eq(json_string_value(json_object_get(at, "class")), "shop.Server");
    cr_assert_eq(number(g, "threads"), REQUESTS - LISTED);
    cr_assert_eq(number(g, "ended"), REQUESTS - LISTED);
    cr_assert_eq(number(g, "parked_ns"), 50 * (REQUESTS - LISTED));
    cr_assert_eq(number(g, "no_carrier_ns"), 30 * (REQUESTS - LISTED));
    cr_assert_eq(number(json_array_get(json_object_get(root, "threads"), 1), "no_carrier_ns"), 30);
    cr_assert_eq(number(g, "life_ns"), 70 * (REQUESTS - LISTED));
    cr_assert_eq(parks(root), REQUESTS);
    const json_t *graph = json_object_get(root, "bottle_graph");
    cr_assert_leq(json_array_size(json_object_get(graph, "threads")), LISTED + 1);
    cr_assert_eq(sum(graph, "threads", "height_ns") + sum(graph, "thread_groups", "height_ns") +
                     number(graph, "idle_ns"),
                 number(graph, "elapsed_ns"));
    json_decref(root);
}

Test(report, json_has_few_groups_where_names_have_nothing_in_common)
{
    build_requests(MORE_REQUESTS, "");
    json_t *root = report_json_of("--json");
    const json_t *groups = json_object_get(root, "thread_groups");
    size_t n = json_array_size(groups);
    cr_assert_eq(n, 200);
    cr_assert(json_is_null(json_object_get(json_array_get(groups, n - 1), "name")));
    cr_assert_eq(parks(root), MORE_REQUESTS);
    json_decref(root);
}

Test(report, json_lists_virtual_threads_that_are_asked_for)
{
    build_requests(REQUESTS, "request");
    json_t *root = report_json_of("--json --threads --thread request-*");
    cr_assert_eq(json_array_size(json_object_get(root, "threads")), REQUESTS);
    cr_assert_eq(json_array_size(json_object_get(root, "thread_groups")), 0);
    json_decref(root);
}

Test(report, json_of_one_section)
{
    build_shop();
    json_t *root = report_json_of("--json --monitors --top 1");
    cr_assert_eq(json_array_size(json_object_get(root, "locks")), 1);
    cr_assert_null(json_object_get(root, "threads"));
    cr_assert_null(json_object_get(root, "findings"));
    cr_assert(json_object_get(root, "losses"), "losses head every report");
    json_decref(root);
}

Test(report, json_of_one_class)
{
    build_shop();
    json_t *root = report_json_of("--json --class Order");
    cr_assert_eq(json_array_size(json_object_get(root, "locks")), 1);
    cr_assert_eq(sum(root, "threads", "blocked_count"), 46);
    cr_assert_eq(sum(root, "owners", "blocked_count"), 46);
    json_decref(root);
}

Test(report, json_exact)
{
    build_shop();
    int status;
    struct err err;
    char *got = report(&status, &err, "--json"), *file_key = strstr(got, "\"/tmp/orca-report-");
    cr_assert(file_key);
    memcpy(file_key + 18, "XXXXXX", 6);
    if (getenv("ORCA_ACCEPT")) {
        FILE *f = fopen("tests/unit/report/everything.json", "w");
        fputs(got, f);
        fclose(f);
    }
    char *want = read_file("tests/unit/report/everything.json");
    cr_assert_str_eq(got, want, "tests/unit/report/everything.json differs; it is now:\n%s", got);
    free(got);
    free(want);
}

/* --- allocations ------------------------------------------------------------------------------ */

enum { ROUNDS = 16 };

struct heap {
    struct shop s;
    class_id entry, text;
    stack_id cache, print;
    uint64_t number;
};

static struct heap define_heap(void)
{
    struct heap h = {.s = define_shop()};
    h.entry = builder_class(&b, "Lshop/Cache$Entry;");
    h.text = builder_class(&b, "[B");
    h.cache = builder_stack(&b, "shop.Cache$Entry.<init>:9 shop.Cache.put:31 shop.Main.main:20");
    h.print = builder_stack(&b, "java.util.Arrays.copyOf:3537 java.lang.StringBuilder.append:91 "
                                "shop.model.Order.toString:17 shop.Main.main:21");
    return h;
}

static void object(struct heap *h, thread_id who, uint64_t time, class_id class_, uint64_t size,
                   stack_id stack, uint64_t weight)
{
    if (weight)
        ADD(&b, who.v, who, time, object_sample, .object = ++h->number, .class_ = class_,
            .size = size, .stack = stack, .weight = weight);
    else
        ADD(&b, who.v, who, time, object_alloc, .object = ++h->number, .class_ = class_,
            .size = size, .stack = stack);
}

/* A cache that only grows, and texts of which each collection finds all. */
static void fill_heap(struct heap *h, uint64_t weight)
{
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t time = (10 + 60 * i) * MS;
        for (uint64_t k = 0; k < 8; k++)
            object(h, h->s.main, time + k * MS, h->entry, 4096, h->cache, weight);
        for (uint64_t k = 0; k < 2; k++)
            object(h, h->s.worker[0], time + 9 * MS + k, h->text, 1000000, h->print,
                   weight ? 2 * weight : 0);
        ADD0(&b, 30, (thread_id){0}, time + 20 * MS, gc_start);
        ADD0(&b, 30, (thread_id){0}, time + 23 * MS, gc_finish);
        for (uint64_t k = 0; k < 2; k++)
            ADD(&b, 31, (thread_id){0}, time + 25 * MS, object_free, .object = h->number - 1 + k,
                .class_ = h->text, .size = 1000000, .stack = h->print,
                .since = BUILDER_START + time + 9 * MS + k, .allocated_by = h->s.worker[0],
                .weight = weight ? 2 * weight : 0);
    }
}

Test(report, allocations)
{
    struct heap h = define_heap();
    fill_heap(&h, 0);
    write_trace();
    expect_text("alloc", "--alloc", 0);
    expect_text("alloc-live", "--live", 0);
    expect_text("alloc-live-part", "--live --from 500ms --thread main", 0);
    expect_text("alloc-everything", "--all", 0);
    expect_text("alloc-none", "--alloc --thread Common-Cleaner", 0);
}

static json_int_t amount(const json_t *of, const char *what, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(of, what), key));
}

Test(report, json_of_allocations)
{
    static const char *const lists[] = {"classes", "places", "threads"};
    struct heap h = define_heap();
    fill_heap(&h, 524288);
    write_trace();
    json_t *root = report_json_of("--json --alloc"), *j = json_object_get(root, "allocations");
    cr_assert_str_eq(json_string_value(json_object_get(j, "source")), "sampled");
    cr_assert_eq(amount(j, "allocated", "samples"), ROUNDS * 10);
    cr_assert_eq(amount(j, "allocated", "error_permille"), 79);
    cr_assert_eq(amount(j, "allocated", "bytes"),
                 amount(j, "freed", "bytes") + amount(j, "not_freed", "bytes"));
    cr_assert(json_is_null(json_object_get(j, "live")), "no collection has looked");
    for (size_t i = 0; i < 3; i++) {
        const json_t *row, *rows = json_object_get(j, lists[i]);
        json_int_t bytes = 0;
        size_t k;
        json_array_foreach(rows, k, row) bytes += amount(row, "allocated", "bytes");
        cr_assert_eq(bytes, amount(j, "allocated", "bytes"), "%s", lists[i]);
    }
    const json_t *first = json_array_get(json_object_get(j, "classes"), 0);
    cr_assert_str_eq(json_string_value(json_object_get(first, "class")), "shop.Cache$Entry");
    cr_assert_eq(amount(first, "ages", "max"), ROUNDS);
    cr_assert_eq(json_array_size(json_object_get(first, "survivors_bytes")), ROUNDS);
    json_decref(root);
}

Test(report, sampled_allocations)
{
    struct heap h = define_heap();
    fill_heap(&h, 524288);
    ADD(&b, 31, (thread_id){0}, 990 * MS, object_free, .object = 77777, .class_ = h.entry,
        .size = 4096, .stack = h.cache, .since = BUILDER_START - 5, .allocated_by = h.s.main,
        .weight = 524288);
    write_trace();
    expect_text("alloc-sampled", "--alloc --top 1", 0);
    expect_text("alloc-sampled-live", "--live --top 1", 0);
}

Test(report, counted_allocations)
{
    struct heap h = define_heap();
    ADD(&b, 1, h.s.main, 100 * MS, object_allocs, .class_ = h.text, .count = 5000,
        .bytes = 160000000, .since = BUILDER_START);
    write_trace();
    expect_text("alloc-counted", "--alloc", 0);
    expect_text("alloc-counted-live", "--live", 0);
    expect_text("alloc-findings", "--findings", 0);
}

Test(report, no_allocations)
{
    write_trace();
    expect_text("alloc-nothing", "--alloc", 0);
}
