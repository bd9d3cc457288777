/* tptp_head.c - the elements around the events: node > process > agent > trace, and options. */
#include "base/hash.h"
#include "base/util.h"
#include "export/tptp_parts.h"
#include "format/tptp_ids.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { UUID_TEXT = 37 };

/* A UUID that the same trace always gives, another for each role: version 8 of RFC 9562. */
static void uuid(const struct trace *t, char role, char out[UUID_TEXT])
{
    uint8_t seed[TRACE_ID_SIZE + 1], b[16];
    memcpy(seed, t->header.id, TRACE_ID_SIZE);
    seed[TRACE_ID_SIZE] = (uint8_t)role;
    struct hash128 h = hash_bytes128(seed, sizeof seed);
    memcpy(b, &h.hi, 8);
    memcpy(b + 8, &h.lo, 8);
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x80);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    size_t n = 0;
    for (size_t i = 0; i < sizeof b; i++)
        n += (size_t)snprintf(out + n, UUID_TEXT - n, "%s%02x",
                              i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
}

bool tptp_is_import(const struct trace *t)
{
    return strcmp(trace_info(t, "import.format", ""), "tptp") == 0;
}

/* An import keeps the ids that its file had. */
static void attr_uuid(struct export *x, const char *name, char role)
{
    static const struct {
        char role;
        const char *info;
    } kept[] = {{'n', "import.nodeId"},
                {'p', "import.processId"},
                {'a', "import.agentId"},
                {'t', "import.traceId"}};
    char text[UUID_TEXT];
    uuid(x->trace, role, text);
    const char *id = text;
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (kept[i].role == role)
            id = trace_info(x->trace, kept[i].info, text);
    tptp_attr(x, name, id);
}

/* The lines of this file are not counted: x->files[0].lines are events. */
static void line(struct export *x, const char *text)
{
    out_text(&x->files[0], text);
    out_char(&x->files[0], '\n');
}

static void close_element(struct export *x)
{
    line(x, "/>");
}

static void option(struct export *x, const char *key, const char *value)
{
    out_text(&x->files[0], "<option");
    tptp_attr(x, "key", key);
    tptp_attr(x, "value", value);
    close_element(x);
}

static void option_count(struct export *x, const char *key, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, n);
    if (n)
        option(x, key, text);
}

static void node_and_process(struct export *x)
{
    struct out *o = &x->files[0];
    const struct file_header *h = &x->trace->header;
    const char *host = trace_info(x->trace, "host", "");
    out_text(o, "<node");
    attr_uuid(x, "nodeId", 'n');
    if (*host)
        tptp_attr(x, "hostname", host);
    tptp_attr_time(x, h->start_mono);
    close_element(x);
    out_text(o, "<processCreate");
    attr_uuid(x, "processId", 'p');
    if (h->pid)
        tptp_attr_number(x, "pid", h->pid);
    attr_uuid(x, "nodeIdRef", 'n');
    tptp_attr_time(x, h->start_mono);
    close_element(x);
}

/* What readers know the JVMTI agent by. */
static void agent_and_trace(struct export *x)
{
    struct out *o = &x->files[0];
    const struct file_header *h = &x->trace->header;
    out_text(o, "<agentCreate");
    attr_uuid(x, "agentId", 'a');
    tptp_attr(x, "version", "2.000");
    attr_uuid(x, "processIdRef", 'p');
    tptp_attr(x, "agentName", "org.eclipse.tptp.jvmti");
    tptp_attr(x, "agentType", "Profiler");
    tptp_attr(x, "agentParameters", "server=standalone");
    tptp_attr_time(x, h->start_mono);
    close_element(x);
    out_text(o, "<traceStart");
    attr_uuid(x, "traceId", 't');
    attr_uuid(x, "agentIdRef", 'a');
    tptp_attr_time(x, h->start_mono);
    close_element(x);
}

/* TPTP's keys say what the file holds; the rest is what the trace knows of the JVM and itself,
 * without where it was imported from: the file says that better. */
static void options(struct export *x)
{
    static const char *const states[] = {"unfinished", "complete", "recovered", "stopped"};
    static const struct {
        const char *key, *value;
    } fixed[] = {{"OPTIONS", "true"},    {"FILTERS", "false"},    {"TIMESTAMPS", "true"},
                 {"CPU_TIME", "false"},  {"TICKET", "false"},     {"TRACE_IDREFS", "false"},
                 {"ID_STYLE", "static"}, {"MONITOR_MODE", "all"}, {"STACK_INFORMATION", "none"}};
    const struct trace *t = x->trace;
    const struct tptp *p = x->state;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        option(x, fixed[i].key, fixed[i].value);
    for (size_t i = 0; i < t->n_infos; i++)
        if (*t->infos[i].value && strncmp(t->infos[i].key, "import.", 7) != 0 &&
            strcmp(t->infos[i].key, TPTP_BASE_OPTION) != 0 &&
            strcmp(t->infos[i].key, TRACE_ORDER_INFO) != 0)
            option(x, t->infos[i].key, t->infos[i].value);
    option_count(x, TPTP_BASE_OPTION, p->base);
    if (trace_is_in_order(t))
        option(x, TRACE_ORDER_INFO,
               trace_order_is_bare(t) ? TRACE_ORDER_BARE : TRACE_ORDER_RECORDED);
    if (t->header.state < ARRAY_LEN(states))
        option(x, "orca.state", states[t->header.state]);
    option_count(x, "orca.lost", trace_lost(t));
    option_count(x, "orca.overwritten", t->header.evicted_events);
}

void tptp_head(struct export *x)
{
    line(x, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    line(x, "<TRACE>");
    node_and_process(x);
    agent_and_trace(x);
    options(x);
}

/* A recording that is not over has no end. */
void tptp_foot(struct export *x)
{
    struct out *o = &x->files[0];
    const struct trace *t = x->trace;
    uint64_t end = trace_end(t);
    if (t->complete) {
        out_text(o, "<traceEnd");
        attr_uuid(x, "traceIdRef", 't');
        tptp_attr_time(x, end);
        close_element(x);
        out_text(o, "<agentDestroy");
        attr_uuid(x, "agentIdRef", 'a');
        tptp_attr_time(x, end);
        close_element(x);
    }
    line(x, "</TRACE>");
}
