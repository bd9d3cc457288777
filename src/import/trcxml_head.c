/* trcxml_head.c - the elements around the events: node > process > agent > trace, and options. */
#include "base/human.h"
#include "base/util.h"
#include "format/tptp_ids.h"
#include "import/trcxml_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum id_of { OF_NODE, OF_PROCESS, OF_AGENT, OF_TRACE };

/* 2000-01-01: what is earlier counts from something else than 1970. */
static const uint64_t first_date = UINT64_C(946684800) * 1000000000;

static int put_info(struct trcxml *x, const char *key, const char *value, struct err *err)
{
    struct def d = {.kind = DEF_info, .info = {{key, strlen(key)}, {value, strlen(value)}}};
    return *value ? intake_def(&x->in, &d, err) : 0;
}

/* The first of several in a file counts. */
static int keep_first(struct trcxml *x, enum trcxml_attr a, struct text *kept, struct err *err)
{
    return kept->len || !*trcxml_text(x, a) ? 0 : trcxml_keep(x, a, kept, err);
}

int trcxml_node(struct trcxml *x, struct err *err)
{
    TRY(keep_first(x, ATTR_hostname, &x->head.host, err));
    return keep_first(x, ATTR_nodeId, &x->head.ids[OF_NODE], err);
}

int trcxml_process(struct trcxml *x, struct err *err)
{
    struct file_header *h = &x->in.writer.header;
    if (h->pid == 0)
        h->pid = (uint32_t)trcxml_number(x, ATTR_pid, UINT32_MAX, 0);
    return keep_first(x, ATTR_processId, &x->head.ids[OF_PROCESS], err);
}

int trcxml_agent(struct trcxml *x, struct err *err)
{
    return keep_first(x, ATTR_agentId, &x->head.ids[OF_AGENT], err);
}

/* --- begin and end ---------------------------------------------------------------------------- */

/* An event of no thread. */
static int put_mark(struct trcxml *x, unsigned kind, uint64_t time, struct err *err)
{
    struct event e = {.kind = (uint16_t)kind, .time = time};
    return trcxml_put(x, &e, err);
}

/* Its threads end with the recording of a process, where that of another one follows: nothing else
 * shows that they have ended. */
static int end_threads(struct trcxml *x, uint64_t time, struct err *err)
{
    for (uint32_t i = 1; i < x->in.n_threads; i++) {
        struct trcxml_thread *s = trcxml_ids_state(&x->ids, (thread_id){i});
        if (!s || !x->in.threads[i].used || s->ended)
            continue;
        struct event e = {.kind = EV_thread_end, .time = time, .thread = {i}};
        TRY(trcxml_put(x, &e, err));
        s->ended = true;
    }
    return 0;
}

/* A file may hold several recordings, one behind the other: Eclipse exports what was chosen. */
static int begin_recording(struct trcxml *x, struct err *err)
{
    uint64_t trace = trcxml_id_read(x->a.v[ATTR_traceId]).key, last = x->head.trace;
    if (trace == 0 || trace == last)
        return 0;
    x->head.trace = trace;
    x->head.n_traces++;
    if (last == 0 || x->ids.own)
        return 0;
    TRY(end_threads(x, max_u64(x->in.last, x->in.end), err));
    trcxml_ids_forget(&x->ids);
    map_fini(&x->frames.class_ids);
    map_init(&x->frames.class_ids);
    return 0;
}

int trcxml_trace_start(struct trcxml *x, struct err *err)
{
    uint64_t time;
    TRY(begin_recording(x, err));
    TRY(keep_first(x, ATTR_traceId, &x->head.ids[OF_TRACE], err));
    if (!x->a.v[ATTR_time] || !trcxml_time(x, &time) || time == 0)
        return 0;
    x->in.start = x->in.start ? min_u64(x->in.start, time) : time;
    return put_mark(x, EV_recording_start, time, err);
}

int trcxml_trace_end(struct trcxml *x, struct err *err)
{
    uint64_t time;
    if (!x->a.v[ATTR_time] || !trcxml_time(x, &time) || time == 0)
        return 0;
    x->in.end = max_u64(x->in.end, time);
    return put_mark(x, EV_recording_end, time, err);
}

/* --- options ---------------------------------------------------------------------------------- */

/* How the recording ended that the file was exported from. */
static int take_state(struct trcxml *x, struct err *err)
{
    const char *state = trcxml_text(x, ATTR_value);
    UNUSED(err);
    if (strcmp(state, "recovered") == 0)
        x->in.state = TRACE_RECOVERED;
    else if (strcmp(state, "stopped") == 0)
        x->in.state = TRACE_STOPPED;
    else if (strcmp(state, "unfinished") == 0)
        intake_note(&x->in, xml_reader_place(&x->reader).offset, false,
                    "the recording had not ended when the file was exported");
    return 0;
}

static int take_lost(struct trcxml *x, struct err *err)
{
    int64_t n = trcxml_number(x, ATTR_value, INT64_MAX, 0);
    struct def d = {.kind = DEF_loss, .loss = {.cause = LOSS_none, .count = (uint64_t)n}};
    return n > 0 ? intake_def(&x->in, &d, err) : 0;
}

static int take_overwritten(struct trcxml *x, struct err *err)
{
    UNUSED(err);
    x->in.writer.header.evicted_events = (uint64_t)trcxml_number(x, ATTR_value, INT64_MAX, 0);
    return 0;
}

/* It is an info, too: the next export uses the same. */
static int take_base(struct trcxml *x, struct err *err)
{
    int64_t base = trcxml_number(x, ATTR_value, INT64_MAX, 0);
    if (base > 0)
        x->ids.base = (uint64_t)base;
    return put_info(x, TPTP_BASE_OPTION, trcxml_text(x, ATTR_value), err);
}

static int put_info_and(struct trcxml *x, struct text *kept, struct err *err)
{
    struct trcxml_head *h = &x->head;
    TRY(trcxml_keep(x, ATTR_value, kept, err));
    h->joins_have_waits =
        h->groups.len && event_joins_have_waits(h->groups.p, h->include.len ? h->include.p : "",
                                                h->exclude.len ? h->exclude.p : "");
    return put_info(x, trcxml_text(x, ATTR_key), kept->p, err);
}

static int take_groups(struct trcxml *x, struct err *err)
{
    return put_info_and(x, &x->head.groups, err);
}

static int take_include(struct trcxml *x, struct err *err)
{
    return put_info_and(x, &x->head.include, err);
}

static int take_exclude(struct trcxml *x, struct err *err)
{
    return put_info_and(x, &x->head.exclude, err);
}

/* Data of a trace in an export that are not info there, or are needed here. */
static const struct {
    const char *key;
    int (*take)(struct trcxml *x, struct err *err);
} own_options[] = {
    {"orca.state", take_state},
    {"orca.lost", take_lost},
    {"orca.overwritten", take_overwritten},
    {TPTP_BASE_OPTION, take_base},
    {"orca.events", take_groups},
    {"orca.include", take_include},
    {"orca.exclude", take_exclude},
};

/* TPTP's own options are in capitals; they say what the file holds, and so does the file. */
static bool is_tptp(const char *key)
{
    return strncmp(key, "org.eclipse.tptp.", 17) == 0 ||
           strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(key);
}

int trcxml_option(struct trcxml *x, struct err *err)
{
    const char *key = trcxml_text(x, ATTR_key);
    /* import.*: of another import, before the export */
    if (is_tptp(key) || strncmp(key, "import.", 7) == 0)
        return 0;
    if (strncmp(key, "orca.", 5) == 0)
        trcxml_ids_own(&x->ids);
    for (size_t i = 0; i < ARRAY_LEN(own_options); i++)
        if (strcmp(key, own_options[i].key) == 0)
            return own_options[i].take(x, err);
    x->head.has_host_info |= strcmp(key, "host") == 0;
    return put_info(x, key, trcxml_text(x, ATTR_value), err);
}

/* --- calls ------------------------------------------------------------------------------------ */

/* A trace has no place for calls; its threads and its end are those of the program all the same. */
static int count_call(struct trcxml *x, enum trcxml_call call, struct err *err)
{
    thread_id thread;
    uint64_t time;
    x->head.n_calls[call]++;
    if (x->a.v[ATTR_time] && trcxml_time(x, &time))
        x->in.end = max_u64(x->in.end, time);
    TRY(trcxml_ids_thread(&x->ids, trcxml_id_of(x, ATTR_threadIdRef, ATTR_threadId), &thread, err));
    struct trcxml_thread *s = trcxml_ids_state(&x->ids, thread);
    if (s)
        s->acted = true;
    return 0;
}

int trcxml_method_entry(struct trcxml *x, struct err *err)
{
    return count_call(x, CALL_ENTRY, err);
}

int trcxml_method_exit(struct trcxml *x, struct err *err)
{
    return count_call(x, CALL_EXIT, err);
}

static int put_calls(struct trcxml *x, struct err *err)
{
    char text[128];
    const uint64_t *n = x->head.n_calls;
    if (n[CALL_ENTRY] == 0 && n[CALL_EXIT] == 0)
        return 0;
    snprintf(text, sizeof text, "%s methodEntry, %s methodExit", human_count(n[CALL_ENTRY]).text,
             human_count(n[CALL_EXIT]).text);
    intake_note(&x->in, 0, false, "a trace of method calls: %s are counted, and not analysed",
                text);
    return put_info(x, "import.calls", text, err);
}

static void note_recordings(struct trcxml *x)
{
    if (x->head.n_traces > 1 && !x->ids.own)
        intake_note(
            &x->in, 0, false,
            "%llu recordings are in this file and are read one after the other: unpack it to "
            "read each separately",
            (unsigned long long)x->head.n_traces);
}

/* --- the end ---------------------------------------------------------------------------------- */

int trcxml_head_finish(struct trcxml *x, struct err *err)
{
    static const char *const keys[] = {
        [OF_NODE] = "import.nodeId",
        [OF_PROCESS] = "import.processId",
        [OF_AGENT] = "import.agentId",
        [OF_TRACE] = "import.traceId",
    };
    if (x->head.host.len && !x->head.has_host_info)
        TRY(put_info(x, "host", x->head.host.p, err));
    TRY(put_info(x, "import.file", x->in.name, err));
    TRY(put_info(x, "import.format", "tptp", err));
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (x->head.ids[i].len)
            TRY(put_info(x, keys[i], x->head.ids[i].p, err));
    TRY(put_calls(x, err));
    note_recordings(x);
    x->in.dated = (x->in.start ? x->in.start : x->in.first) >= first_date;
    return 0;
}
