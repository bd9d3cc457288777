#include "cli/top_source.h"

#include "base/clock.h"
#include "base/util.h"
#include "cli/load_agent.h"
#include "cli/target.h"
#include "cli/top_asked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The next picture waits this long for the answer, and no key is read. */
#define PATIENCE_NS (2 * UINT64_C(1000000000))

/* Of a recording that has been going on, and of a window: the largest number of events per
 * second. */
enum { MOST_EVENTS = 3000000 };

enum { COST_FACTOR = 9 }; /* see due */

#define SECOND UINT64_C(1000000000)

/* --- the process ------------------------------------------------------------------------------ */

/* Fields 14 and 15 of /proc/PID/stat, in ns, and 20. */
static bool read_process(const struct top_source *s, uint64_t *cpu_ns, uint32_t *threads)
{
    struct buf text;
    unsigned long user, system;
    buf_init(&text);
    bool ok = proc_read(s->jvm.pid, "stat", 4096, &text) >= 0;
    const char *p = ok ? strrchr(buf_str(&text), ')') : NULL; /* the name may hold anything */
    ok = p &&
         sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %u",
                &user, &system, threads) == 3;
    if (ok)
        *cpu_ns = (user + system) * SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
    buf_fini(&text);
    return ok;
}

uint64_t top_source_uptime(const struct top_source *s)
{
    uint64_t now = clock_ns_(CLOCK_BOOTTIME);
    uint64_t start = s->jvm.start_time * SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
    return now > start ? now - start : 0;
}

/* --- the agent's answer ----------------------------------------------------------------------- */

static double share(uint64_t now, uint64_t before, uint64_t ns)
{
    return ns && now > before ? (double)(now - before) / (double)ns : 0;
}

static uint64_t groups_of(const char *reply)
{
    uint64_t bits = 0;
    const char *at = NULL, *name;
    for (int len; (len = client_value(reply, "group", &at, &name)) >= 0;) {
        int g = event_group_find(name, (size_t)len);
        bits |= g > 0 ? UINT64_C(1) << (g - 1) : 0;
    }
    return bits;
}

/* Counters of this answer, and shares since the one before; at the first one, since the recording
 * began. */
static void take_counters(struct top_source *s, const char *reply, uint64_t asked)
{
    uint64_t cpu = 0, ns = s->asked ? asked - s->asked : client_number(reply, "since_ns");
    uint64_t record = client_number(reply, "record_cpu_ns");
    uint64_t drain = client_number(reply, "drain_cpu_ns");
    s->recording = share(record, s->record_cpu, ns);
    s->writing = share(drain, s->drain_cpu, ns);
    if (read_process(s, &cpu, &s->os_threads)) {
        s->cpu = s->asked ? share(cpu, s->jvm_cpu, ns) : share(cpu, 0, top_source_uptime(s));
        s->jvm_cpu = cpu;
        /* An estimate by the clock: on a busy machine it counts time off the processor. */
        s->recording = s->recording < s->cpu ? s->recording : s->cpu;
    }
    s->record_cpu = record;
    s->drain_cpu = drain;
    uint64_t events = client_number(reply, "events");
    s->rate = share(events, s->asked ? s->events : 0, ns) * (double)SECOND;
    s->events = events;
    s->lost = target_losses(reply);
    s->groups = groups_of(reply);
    s->asked = asked;
}

/* --- the report ------------------------------------------------------------------------------- */

uint64_t top_source_span(const struct top_source *s)
{
    return s->report.a ? s->report.a->window.to - s->report.a->window.from : 0;
}

static void drop_report(struct top_source *s)
{
    struct trace *t = s->report.trace;
    analysis_free(s->report.a);
    if (t)
        trace_close(t);
    s->report = (struct report){.a = NULL};
    s->now = NULL;
    s->n_now = 0;
}

static void drop_parts(struct top_source *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        carry_fini(&s->parts[i]);
    memmove(s->parts, s->parts + n, (s->n_parts - n) * sizeof *s->parts);
    s->n_parts -= n;
}

static void forget(struct top_source *s)
{
    drop_report(s);
    drop_parts(s, s->n_parts);
    s->asked = s->record_cpu = s->drain_cpu = s->due = 0;
    s->another_file = false;
}

static uint64_t events_since(const struct trace *t, uint64_t since)
{
    uint64_t n = 0;
    for (size_t i = 0; i < t->n_blocks; i++)
        n += t->blocks[i].b.last >= since ? t->blocks[i].b.events : 0;
    return n;
}

/* Whether a circle has overwritten its beginning. */
static bool has_lost_its_beginning(const struct trace *t)
{
    return t->header.capacity && t->n_chunks && t->chunks[0].h.seq > 0;
}

/* The latest part that is as long as the window, unless that is too much; NULL: the whole file. */
static const struct carry *choose_part(const struct top_source *s, const struct trace *t,
                                       uint64_t until, uint64_t window)
{
    size_t i = s->n_parts;
    bool young = i && s->parts[0].at + window > until;
    if (young && !s->another_file && !has_lost_its_beginning(t) && t->n_events <= MOST_EVENTS &&
        until - min_u64(until, t->header.start_mono) <= 2 * window)
        return NULL;
    while (i > 1 && s->parts[i - 1].at + window > until)
        i--;
    while (i && i < s->n_parts && events_since(t, s->parts[i - 1].at) > MOST_EVENTS)
        i++;
    return i ? &s->parts[i - 1] : NULL;
}

static int keep_part(struct top_source *s, const struct analysis *a)
{
    size_t old = 0;
    while (old + 1 < s->n_parts && s->parts[old + 1].at + TOP_WINDOW_MAX_NS <= a->window.to)
        old++;
    drop_parts(s, s->n_parts == TOP_PARTS ? max_u64(old, 1) : old);
    int rc = analysis_carry(a, &s->parts[s->n_parts]);
    if (rc < 0)
        carry_fini(&s->parts[s->n_parts]);
    else
        s->n_parts++;
    return rc;
}

static int make_report(struct top_source *s, struct trace *t, const struct carry *from,
                       struct err *err)
{
    struct report r = {.trace = t,
                       .path = s->path,
                       .ending = ENDED_LIVE,
                       .sections = REPORT_FINDINGS | REPORT_SCREEN};
    const struct report_part all = {.to = UINT64_MAX};
    t->app = s->app;
    TRY(conclude_run_on(&r.a, t, from, err));
    int rc = report_select(&r, &all, err);
    rc = rc ? rc : report_init(&r, NULL, err);
    if (rc == 0 &&
        (keep_part(s, r.a) < 0 || threads_now_make(&s->now, &s->n_now, r.resources, r.a) < 0))
        rc = err_set(err, -ENOMEM, "out of memory");
    if (rc < 0)
        analysis_free(r.a);
    else
        s->report = r;
    return rc;
}

/* What the file has up to a moment, UINT64_MAX: all of it. */
static int look(struct top_source *s, uint64_t until, uint64_t window, struct err *err)
{
    char here[PATH_MAX];
    struct trace *t;
    struct carry asked = {0};
    uint64_t begun = clock_ns_(CLOCK_PROCESS_CPUTIME_ID);
    target_path(&s->jvm, s->path, here, sizeof here);
    TRY(trace_open(&t, here, err));
    /* Of a recording that has been going on, first what threads are in when the window begins. */
    if (!s->n_parts && window && t->header.start_mono + window + SECOND < until) {
        trace_close(t);
        TRY(look(s, until - window, 0, err));
        TRY(trace_open(&t, here, err));
    }
    until = until == UINT64_MAX ? trace_end(t) : until;
    const struct carry *from = choose_part(s, t, until, window);
    asked.at = from ? 0 : trace_tail(t, MOST_EVENTS);
    if (!from && !asked.at && has_lost_its_beginning(t))
        asked.at = t->first; /* what was before has been overwritten */
    if (asked.at) {
        top_ask(&s->jvm, t, &asked);
        from = &asked;
    }
    int rc = 0;
    if (until > t->header.start_mono && (!from || until > from->at)) {
        trace_keep_part(t, from ? from->at : 0, until);
        drop_report(s);
        rc = make_report(s, t, from, err);
    } else {
        trace_close(t);
    }
    if (rc < 0)
        trace_close(t);
    carry_fini(&asked);
    s->due = clock_mono_ns() + COST_FACTOR * (clock_ns_(CLOCK_PROCESS_CPUTIME_ID) - begun);
    return rc;
}

/* The recording goes on in another file, as a rotated one does; or it is another recording. */
static int go_to(struct top_source *s, const char *path, uint64_t session, uint64_t window,
                 struct err *err)
{
    uint64_t apart = session > s->session ? session - s->session : s->session - session;
    bool same = s->n_parts && apart < SECOND / 2; /* the agent looks at its clock a moment later */
    if (!same)
        forget(s);
    else if (strcmp(path, s->path) != 0) {
        TRY(look(s, UINT64_MAX, window, err)); /* what the old file still has */
        drop_parts(s, s->n_parts - 1);
        s->another_file = true;
    }
    snprintf(s->path, sizeof s->path, "%s", path);
    s->session = session;
    return 0;
}

/* --- refresh ---------------------------------------------------------------------------------- */

/* What the file still has, and no more; then the picture stays. */
static void take_rest(struct top_source *s, uint64_t window)
{
    struct err ignored; /* it may have been removed by now: then the picture is the last one */
    if (!s->report.a || s->state == TOP_ENDED || s->state == TOP_GONE)
        return;
    look(s, UINT64_MAX, window, &ignored);
    s->cpu = s->recording = s->writing = s->rate = 0;
}

static void no_answer(struct top_source *s, int why, uint64_t window)
{
    struct proc_status now;
    struct err ignored;
    enum top_state state = TOP_ENDED;
    if (jvm_check(&s->jvm, &now, &ignored) < 0)
        state = TOP_GONE;
    else if (client_is_silent(why) || why == -EAGAIN)
        state = TOP_SILENT;
    if (state != TOP_SILENT)
        take_rest(s, window);
    /* A killed JVM is a process for a while that does not answer; its file has no end. */
    bool dies = state == TOP_ENDED && why != -ENODATA && s->report.trace &&
                s->report.trace->header.state == TRACE_RECORDING;
    s->state = dies ? TOP_GONE : state;
}

static int take_answer(struct top_source *s, const char *reply, uint64_t asked, uint64_t window,
                       struct err *err)
{
    char path[PATH_MAX], state[32];
    target_text(reply, "state", state, sizeof state);
    target_text(reply, "path", path, sizeof path);
    if (strcmp(state, "recording") != 0) {
        no_answer(s, -ENODATA, window);
        return 0;
    }
    target_text(reply, "unwritten_now", s->unwritten, sizeof s->unwritten);
    s->state = *s->unwritten ? TOP_UNWRITTEN : TOP_RECORDING;
    TRY(go_to(s, path, asked - min_u64(asked, client_number(reply, "since_ns")), window, err));
    take_counters(s, reply, asked);
    /* What is missing in a file that cannot be written may be of any time until now. */
    if (s->report.a && (s->state == TOP_UNWRITTEN || asked < s->due))
        return 0;
    return look(s, asked, window, err);
}

static int renew(struct top_source *s, struct err *err)
{
    struct jvm jvm = s->jvm;
    if (s->state != TOP_RECORDING || !top_own_is_old(&s->own))
        return 0;
    top_own_end(&s->own);
    forget(s);
    s->jvm = jvm;
    return top_own_begin(&s->own, &s->jvm, err);
}

int top_source_refresh(struct top_source *s, uint64_t window, struct err *err)
{
    struct buf reply;
    struct err why;
    struct jvm jvm = s->jvm;
    TRY(renew(s, err));
    buf_init(&reply);
    uint64_t asked = clock_mono_ns(); /* what is committed by now is in the file with the answer */
    /* Without a picture, nothing could be shown until then. */
    if (s->report.a)
        jvm.asker = (struct jvm_asker){.limit_ns = PATIENCE_NS};
    int rc = client_ask(&jvm, "status", TARGET_TIMEOUT_NS, &reply, &why);
    if (client_is_silent(rc) && !s->report.a) {
        buf_fini(&reply);
        return err_set(err, rc, "%s", why.msg);
    }
    if (rc < 0)
        no_answer(s, rc, window);
    rc = rc < 0 ? 0 : take_answer(s, buf_str(&reply), asked, window, err);
    buf_fini(&reply);
    TRY(rc);
    if (!s->report.a)
        return err_set(err, -ENODATA, "JVM %d (%s): %s", (int)s->jvm.pid, s->jvm.name,
                       s->state == TOP_SILENT ? "it does not answer: is it stopped?"
                                              : "the recording has ended before it was read");
    return 0;
}

/* 1, 0, or why that cannot be known. */
static int is_recorded(const struct top_source *s, struct err *err)
{
    char state[32];
    struct buf status;
    buf_init(&status);
    int rc = client_ask(&s->jvm, "status", TARGET_TIMEOUT_NS, &status, err);
    target_text(buf_str(&status), "state", state, sizeof state);
    buf_fini(&status);
    if (rc < 0)
        return client_is_silent(rc) ? rc : 0;
    return strcmp(state, "recording") == 0;
}

int top_source_open(struct top_source *s, const struct jvm *jvm, struct err *err)
{
    memset(s, 0, sizeof *s);
    s->jvm = *jvm;
    int rc = is_recorded(s, err);
    TRY(rc);
    return rc ? 0 : top_own_begin(&s->own, &s->jvm, err);
}

void top_source_close(struct top_source *s)
{
    forget(s);
    top_own_end(&s->own);
}
