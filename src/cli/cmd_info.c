/* cmd_info.c - what a trace is: the JVM, how long, how many events of which kind, what is
 * missing. */
#include "analyze/summed.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/printable.h"
#include "cli/cmd.h"
#include "cli/input.h"
#include "cli/sample_words.h"
#include "format/trace.h"
#include "record/recover.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct info {
    bool json;
};

static const struct opt opts[] = {
    {"json", 0, OPT_FLAG, offsetof(struct info, json), NULL, "one JSON object (schema orca-info-1)",
     NULL, 0, 0},
};

/* Groups of samples. */
enum { SAMPLES_CPU, SAMPLES_WALL, SAMPLE_GROUPS };
static const struct {
    int event;
    const char *name;
} sample_groups[SAMPLE_GROUPS] = {{EV_cpu_sample, "cpu"}, {EV_wall_sample, "wall"}};

/* In which the file could not be written. */
struct stretch {
    uint64_t from, to, lost;
};

struct facts {
    struct trace *t;
    struct symbols_summary names; /* of native code */
    uint64_t kinds[EV_LIMIT], events;
    uint64_t looks;                                  /* of the wall_samples */
    struct buf unwritten;                            /* struct stretch [] */
    struct summed summed;                            /* short waits, where they were summed */
    uint64_t no_stack[SAMPLE_GROUPS][SAMPLE_ERRORS]; /* samples, by why they have none */
    uint64_t end, size;
};

static const char *const states[] = {
    [TRACE_RECORDING] = "recording", [TRACE_CLOSED] = "complete",  [TRACE_RECOVERED] = "recovered",
    [TRACE_STOPPED] = "stopped",     [TRACE_TURNING] = "complete",
};

static const char *const state_texts[] = {
    [TRACE_RECORDING] = ("unfinished: the JVM was killed and its rings are gone; events after the "
                         "last chunk are lost"),
    [TRACE_CLOSED] = "complete",
    [TRACE_RECOVERED] = "recovered after the JVM was killed",
    [TRACE_STOPPED] = "stopped early: the file could not be written further",
    [TRACE_TURNING] = "complete",
};

static uint32_t state_of(const struct trace *t)
{
    return t->header.state <= TRACE_TURNING ? t->header.state : TRACE_RECORDING;
}

static const char *state_text(const struct trace *t)
{
    if (state_of(t) == TRACE_RECORDING && recover_probe(t->path, NULL) == RECOVER_LIVE)
        return "still recording: up to two seconds are not in the file yet";
    if (state_of(t) == TRACE_CLOSED && t->n_damaged)
        return "damaged: the recording ended in good order, but parts of its file are missing or "
               "unreadable";
    return state_texts[state_of(t)];
}

/* In one word. */
static const char *state_word(const struct trace *t)
{
    return state_of(t) == TRACE_CLOSED && t->n_damaged ? "damaged" : states[state_of(t)];
}

static void note_sample(struct facts *f, const struct event *e)
{
    f->looks += e->kind == EV_wall_sample && e->wall_sample.flags & SAMPLE_LOOK;
    if (e->kind == EV_cpu_sample && !e->cpu_sample.stack.v)
        f->no_stack[SAMPLES_CPU][sample_error_of(e->cpu_sample.error)]++;
    if (e->kind == EV_wall_sample && !e->wall_sample.stack.v)
        f->no_stack[SAMPLES_WALL][sample_error_of(e->wall_sample.error)]++;
}

static void note_unwritten(struct facts *f, const struct event *e)
{
    const struct stretch s = {e->unwritten.since, e->time, e->unwritten.lost};
    if (e->kind == EV_unwritten)
        buf_put(&f->unwritten, &s, sizeof s);
}

static int collect(struct facts *f, struct err *err)
{
    struct trace_iter *it;
    struct event e;
    int rc;
    TRY(trace_iter_open_blocks(&it, f->t, err));
    while ((rc = trace_iter_next(it, &e, NULL, err)) > 0) {
        f->kinds[e.kind]++;
        note_sample(f, &e);
        note_unwritten(f, &e);
        if (e.kind == EV_wait_sum || e.kind == EV_summing)
            summed_take(&f->summed, &e, e.thread.v, 0, 0);
        f->events++;
    }
    trace_iter_close(it);
    summed_sort(&f->summed);
    f->end = trace_end(f->t);
    struct stat st;
    const struct file_header *h = &f->t->header;
    const struct stretch last = {h->unwritten_since, f->end, h->unwritten_events};
    if (h->unwritten_since)
        buf_put(&f->unwritten, &last, sizeof last);
    f->size = fstat(f->t->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    return rc;
}

static uint64_t duration(const struct facts *f)
{
    uint64_t start = f->t->header.start_mono;
    return f->end > start ? f->end - start : 0;
}

/* What input and output had at the other end is kept as a lock, and is none. */
static bool is_peer(const struct trace *t, const struct trace_lock *l)
{
    return trace_is_peer(trace_class(t, l->class_)->signature);
}

static size_t defined(const struct trace *t, int what)
{
    size_t n = 0;
    switch (what) {
    case DEF_thread:
        for (size_t i = 0; i < t->n_threads; i++)
            n += t->threads[i].id.v != 0;
        break;
    case DEF_class:
        for (size_t i = 0; i < t->n_classes; i++)
            n += t->classes[i].id.v != 0 && !trace_is_peer(t->classes[i].signature);
        break;
    case DEF_method:
        for (size_t i = 0; i < t->n_methods; i++)
            n += t->methods[i].id.v != 0;
        break;
    case DEF_stack:
        for (size_t i = 0; i < t->n_stacks; i++)
            n += t->stacks[i].id.v != 0;
        break;
    case DEF_lock:
        for (size_t i = 0; i < t->n_locks; i++)
            n += t->locks[i].id.v != 0 && !is_peer(t, &t->locks[i]);
        break;
    case DEF_site:
        for (size_t i = 0; i < t->n_sites; i++)
            n += t->sites[i].id != 0;
        break;
    }
    return n;
}

static const struct {
    int kind;
    const char *name;
} tables[] = {{DEF_thread, "threads"}, {DEF_lock, "locks"},    {DEF_stack, "stacks"},
              {DEF_method, "methods"}, {DEF_class, "classes"}, {DEF_site, "call sites"}};
enum { N_TABLES = sizeof tables / sizeof tables[0] };

/* --- text ------------------------------------------------------------------------------------- */

static void row(const char *name, const char *value)
{
    if (!*value)
        return;
    printf("%-10s ", name);
    printable_put(stdout, value);
    putchar('\n');
}

/* Which file of a recording of several this is. */
static void print_part(const struct trace *t)
{
    const char *number = trace_info(t, "orca.part", "");
    const char *before = trace_info(t, "orca.previous", ""), *next = trace_info(t, "orca.next", "");
    struct buf b = {0};
    if (!*number)
        return;
    buf_printf(&b, "file %s of its recording", number);
    if (*before)
        buf_printf(&b, ", after %s", before);
    if (*next)
        buf_printf(&b, ", before %s", next);
    row("part", buf_str(&b));
    buf_fini(&b);
}

/* Which JVM was recorded; the files that are imported may say little of it, or nothing. */
static void print_origin(const struct trace *t)
{
    const char *format = trace_info(t, "import.format", "");
    char text[512];
    if (!*format || *trace_info(t, "java.vm.name", "")) {
        snprintf(text, sizeof text, "%s %s on %s", trace_info(t, "java.vm.name", "?"),
                 trace_info(t, "java.vm.version", "?"), trace_info(t, "arch", "?"));
        row("jvm", text);
    }
    if (!*format || t->header.pid) {
        snprintf(text, sizeof text, "%s, pid %u", trace_info(t, "host", "?"), t->header.pid);
        row("host", text);
    }
    if (*format) {
        snprintf(text, sizeof text, "%s, format %s", trace_info(t, "import.file", "?"), format);
        row("imported", text);
        row("calls", trace_info(t, "import.calls", ""));
    }
}

/* The class that was started, where the command line names a jar. */
static void print_main(const struct trace *t)
{
    const char *command = trace_info(t, "sun.java.command", ""),
               *main = trace_info(t, "main.class", ""), *start = trace_info(t, "start.class", "");
    size_t n = strcspn(command, " ");
    char text[1100];
    if (!*main || n < 4 || memcmp(command + n - 4, ".jar", 4) != 0)
        return;
    snprintf(text, sizeof text, *start ? "%s, by %s" : "%s", *start ? start : main, main);
    row("main", text);
}

static void print_head(const struct facts *f)
{
    const struct trace *t = f->t;
    char text[512], date[64] = "";
    time_t at = (time_t)(t->header.start_real / 1000000000u);
    struct tm tm;
    if (t->header.start_real && localtime_r(&at, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z", &tm);
    row("program", trace_info(t, "sun.java.command", ""));
    print_main(t);
    print_origin(t);
    snprintf(text, sizeof text, "%s%sfor %s", date, *date ? ", " : "",
             human_time(duration(f)).text);
    row("recorded", text);
    print_part(t);
    row("groups", trace_info(t, "orca.events", ""));
    if (*trace_info(t, "orca.events.changes", ""))
        row("switched", trace_info(t, "orca.events.changes", ""));
    if (*trace_info(t, "orca.stacks", ""))
        row("stacks", trace_info(t, "orca.stacks", ""));
    if (*trace_info(t, "orca.ownerstacks", ""))
        row("owners", trace_info(t, "orca.ownerstacks", ""));
    if (*trace_info(t, "orca.clocks", ""))
        row("clocks", trace_info(t, "orca.clocks", ""));
    if (*trace_info(t, "orca.holdsample", "")) {
        snprintf(text, sizeof text, "one of %s is recorded", trace_info(t, "orca.holdsample", ""));
        row("holds", text);
    }
    if (*trace_info(t, "orca.attached", ""))
        row("attached", trace_info(t, "orca.attached", ""));
    row("state", state_text(t));
    snprintf(text, sizeof text, "%s, %s events, %.2f bytes per event", human_bytes(f->size).text,
             human_count(f->events).text, f->events ? (double)f->size / (double)f->events : 0.0);
    row("file", text);
    if (t->header.capacity) {
        snprintf(text, sizeof text, "keeps the newest %s; %s older events were overwritten",
                 human_bytes(t->header.capacity).text, human_count(t->header.evicted_events).text);
        row("window", text);
    }
}

static void print_full_disk(const struct trace *t)
{
    struct buf b = {0};
    struct trace_unwritten u = trace_unwritten(t);
    human_put_full_disk(&b, u.times, u.ns);
    if (b.len)
        printf("           %s\n", buf_str(&b) + 2);
    buf_fini(&b);
}

static void print_summed(const struct facts *f)
{
    struct buf b = {0};
    if (f->summed.waits || f->summed.stretches.len) {
        human_put_summed(&b, summed_time(&f->summed), summed_below(&f->summed) / 1000000,
                         f->summed.waits, f->summed.ns);
        row("summed", buf_str(&b));
    }
    buf_fini(&b);
}

static void print_losses(const struct trace *t)
{
    uint64_t lost = trace_lost(t), details = trace_lost_details(t);
    char text[128];
    snprintf(text, sizeof text, "%s%s%s",
             lost           ? human_count(lost).text
             : t->n_damaged ? "unknown: the events of missing parts are not counted"
                            : "none",
             details ? "; without stack or lock: " : "", details ? human_count(details).text : "");
    row("losses", text);
    print_full_disk(t);
    for (int i = 0; i < LOSS_LIMIT; i++)
        if (t->loss[i])
            printf("           %s %s: %s\n", human_count(t->loss[i]).text, loss_causes[i].name,
                   loss_causes[i].doc);
}

/* "1,234 cpu; without a stack 12: in Java, inconsistent frames" */
static void print_samples(const struct facts *f)
{
    for (int i = 0; i < SAMPLE_GROUPS; i++) {
        struct buf b = {0};
        uint64_t n = f->kinds[sample_groups[i].event] - (i == SAMPLES_WALL ? f->looks : 0);
        buf_printf(&b, "%s %s", human_count(n).text, sample_groups[i].name);
        put_without_stack(&b, f->no_stack[i]);
        if (n)
            row("samples", buf_str(&b));
        buf_fini(&b);
    }
    if (f->looks)
        row("looks", human_count(f->looks).text);
    if (*trace_info(f->t, "orca.looks", ""))
        row("looks", trace_info(f->t, "orca.looks", ""));
}

static void print_reason(const char *mark, const char *text)
{
    printf("%15s  %s ", "", mark);
    printable_put(stdout, text);
    putchar('\n');
}

/* A file of native code that stacks name: what of it has a name, and if not all, what to do. */
static void print_module(const struct symbols_module *m)
{
    printf("%15s  ", human_count(m->places).text);
    printable_put(stdout, m->module->path);
    printf(": ");
    if (m->state == SYMBOLS_NONE)
        printf("no names\n");
    else
        printf("%.0f %% have a name%s\n", 100.0 * m->named / m->places,
               m->lines ? ", with source lines" : "");
    if (*m->why)
        print_reason("-", m->why);
    if (*m->remedy)
        print_reason("->", m->remedy);
}

static void print_modules(const struct symbols_summary *s)
{
    if (s->n || s->nowhere)
        printf("\n%15s  addresses in native code\n", "count");
    for (size_t i = 0; i < s->n; i++)
        print_module(&s->modules[i]);
    if (s->nowhere)
        printf("%15s  in no file: code that the program generated\n", human_count(s->nowhere).text);
}

static void print_text(const struct facts *f)
{
    print_head(f);
    print_samples(f);
    print_losses(f->t);
    print_summed(f);
    printf("\n%15s  event\n", "count");
    for (int i = 0; i < EV_LIMIT; i++)
        if (f->kinds[i])
            printf("%15s  %s\n", human_count(f->kinds[i]).text,
                   event_kinds[i].name ? event_kinds[i].name : "(of a newer Orca)");
    printf("\n%15s  definitions\n", "count");
    for (int i = 0; i < N_TABLES; i++)
        printf("%15s  %s\n", human_count(defined(f->t, tables[i].kind)).text, tables[i].name);
    print_modules(&f->names);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

/* Names in a trace may hold any byte; JSON takes UTF-8 only. */
static json_t *text(const char *s)
{
    json_t *j = json_string(s);
    return j ? j : json_string("?");
}

/* {cpu: {not_a_java_thread: 3}, wall: {}} */
static json_t *samples_without_stack(const struct facts *f)
{
    json_t *all = json_object();
    for (int i = 0; i < SAMPLE_GROUPS; i++) {
        json_t *of = json_object();
        for (int k = 0; k < SAMPLE_ERRORS; k++)
            if (f->no_stack[i][k])
                json_object_set_new(of, sample_errors[k].name, number(f->no_stack[i][k]));
        json_object_set_new(all, sample_groups[i].name, of);
    }
    return all;
}

static json_t *modules(const struct symbols_summary *s)
{
    static const char *const symbol_states[] = {
        [SYMBOLS_WHOLE] = "whole", [SYMBOLS_EXPORTED] = "exported", [SYMBOLS_NONE] = "none"};
    json_t *list = json_array();
    for (size_t i = 0; i < s->n; i++) {
        const struct symbols_module *m = &s->modules[i];
        json_t *j = json_object();
        json_object_set_new(j, "path", text(m->module->path));
        json_object_set_new(j, "build_id", text(m->module->build_id));
        json_object_set_new(j, "places", number(m->places));
        json_object_set_new(j, "named", number(m->named));
        json_object_set_new(j, "symbols", text(symbol_states[m->state]));
        json_object_set_new(j, "lines", json_boolean(m->lines));
        json_object_set_new(j, "from", text(m->from));
        json_object_set_new(j, "why", text(m->why));
        json_object_set_new(j, "remedy", text(m->remedy));
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *unwritten(const struct facts *f)
{
    const struct stretch *v = (const void *)f->unwritten.p;
    uint64_t start = f->t->header.start_mono;
    json_t *list = json_array();
    for (size_t i = 0; i < f->unwritten.len / sizeof *v; i++)
        json_array_append_new(
            list, json_pack("{s:I, s:I, s:I}", "from_ns", (json_int_t)(v[i].from - start), "to_ns",
                            (json_int_t)(v[i].to - start), "lost", (json_int_t)v[i].lost));
    return list;
}

static int print_json(const struct facts *f, struct err *err)
{
    const struct trace *t = f->t;
    json_t *events = json_object(), *losses = json_object(), *info = json_object();
    json_t *defs = json_object();
    for (int i = 0; i < EV_LIMIT; i++)
        if (f->kinds[i] && event_kinds[i].name)
            json_object_set_new(events, event_kinds[i].name, number(f->kinds[i]));
    for (int i = 0; i < LOSS_LIMIT; i++)
        if (t->loss[i])
            json_object_set_new(losses, loss_causes[i].name, number(t->loss[i]));
    for (size_t i = 0; i < t->n_infos; i++)
        json_object_set_new(info, t->infos[i].key, text(t->infos[i].value));
    json_t *no_stack = samples_without_stack(f);
    for (int i = 0; i < N_TABLES; i++)
        json_object_set_new(defs, tables[i].name, number(defined(t, tables[i].kind)));
    json_t *root = json_pack(
        "{s:s, s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "schema", "orca-info-1", "file", text(t->path), "state", state_word(t), "pid",
        (json_int_t)t->header.pid, "start_unix_ns", (json_int_t)t->header.start_real, "duration_ns",
        (json_int_t)duration(f), "bytes", (json_int_t)f->size, "events_total",
        (json_int_t)f->events, "lost_total", (json_int_t)trace_lost(t), "evicted_total",
        (json_int_t)t->header.evicted_events, "damaged", (json_int_t)t->n_damaged, "info", info,
        "events", events, "losses", losses, "definitions", defs, "samples_without_stack", no_stack,
        "modules", modules(&f->names), "unwritten", unwritten(f));
    int rc = root && json_dumpf(root, stdout, JSON_INDENT(2)) == 0 && putchar('\n') != EOF ? 0 : -1;
    json_decref(root);
    return rc < 0 ? err_set(err, -EIO, "cannot write the JSON") : 0;
}

static int run(int argc, char **argv, struct err *err)
{
    struct info o = {0};
    struct facts f = {0};
    int n = cmd_parse(&cmd_info, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (n != 1) {
        err_set(err, 0, "name one trace");
        return CMD_USAGE;
    }
    TRY(input_open_named(&f.t, argv[1], &f.names, err));
    int rc = collect(&f, err);
    if (rc >= 0) {
        if (o.json)
            rc = print_json(&f, err);
        else
            print_text(&f);
    }
    if (rc >= 0)
        rc = input_warn(f.t);
    buf_fini(&f.unwritten);
    summed_fini(&f.summed);
    trace_close(f.t);
    return rc;
}

const struct cmd cmd_info = {
    .name = "info",
    .summary = "describe a trace: JVM, duration, events of each kind, losses",
    .args = "FILE",
    .description =
        "Prints the program and the JVM, when and for how long it was recorded, how the "
        "recording ended, what was lost and why, and the number of events of each kind. For "
        "native code in stacks: which files had symbols, and how to get the missing ones "
        "(docs/concepts/native-names.md).",
    .examples = "orca info app.otrace",
    .opts = OPT_TABLE(opts),
    .run = run,
};
