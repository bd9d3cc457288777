#include "cli/top_source.h"

#include "base/clock.h"
#include "base/util.h"
#include "cli/load_agent.h"
#include "cli/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The next picture waits so long for the answer, and no key is heard. */
#define PATIENCE_NS (2 * UINT64_C(1000000000))

/* Of a recording that has been going on: about fifty million events, a second or two. */
enum { TAIL_BYTES = 256 << 20 };

#define SECOND UINT64_C(1000000000)

/* --- the process --------------------------------------------------------------------------------
 */

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

/* --- the agent's answer -------------------------------------------------------------------------
 */

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
    s->events = client_number(reply, "events");
    s->lost = target_losses(reply);
    s->groups = groups_of(reply);
    s->asked = asked;
}

/* --- the trace ----------------------------------------------------------------------------------
 */

static void forget(struct top_source *s)
{
    if (s->follow)
        live_fini(&s->live);
    trace_follow_close(s->follow);
    top_found_fini(&s->found);
    s->follow = NULL;
    s->asked = s->record_cpu = s->drain_cpu = 0;
}

static int open_follow(struct top_source *s, const char *path, uint64_t asked, struct err *err)
{
    char here[PATH_MAX];
    target_path(&s->jvm, path, here, sizeof here);
    forget(s);
    TRY(trace_follow_open(&s->follow, here, TAIL_BYTES, err));
    const struct trace *t = trace_follow_trace(s->follow);
    int rc = trace_follow_poll(s->follow, err);
    struct trace_follow_state f = trace_follow_state(s->follow);
    uint64_t from = asked > LIVE_WINDOW_MAX_NS ? asked - LIVE_WINDOW_MAX_NS : 0;
    from = max_u64(from, f.skipped ? f.first : t->header.start_mono);
    live_init(&s->live, t, min_u64(from, asked));
    TRY(rc);
    return 0;
}

static int read_events(struct top_source *s, uint64_t until, struct err *err)
{
    struct event e;
    uint32_t stream;
    enum merge_what what;
    int more;
    do {
        more = trace_follow_poll(s->follow, err);
        TRY(more);
        while ((what = trace_follow_next(s->follow, until, &e, &stream)) != MERGE_NONE) {
            if (what == MERGE_EVENT)
                live_event(&s->live, &e, stream);
            else
                live_gap(&s->live, stream, e.time);
        }
    } while (more);
    return 0;
}

/* The recording goes on in another file, as a rotated one does; or it is another recording. */
static int go_to(struct top_source *s, const char *path, uint64_t session, uint64_t asked,
                 struct err *err)
{
    char here[PATH_MAX];
    uint64_t apart = session > s->session ? session - s->session : s->session - session;
    bool same = s->follow && apart < SECOND / 2; /* the agent looks at its clock a moment later */
    if (!same) {
        TRY(open_follow(s, path, asked, err));
    } else if (strcmp(path, s->path) != 0) {
        TRY(read_events(s, UINT64_MAX, err)); /* what the old file still has */
        target_path(&s->jvm, path, here, sizeof here);
        TRY(trace_follow_switch(s->follow, here, err));
    }
    snprintf(s->path, sizeof s->path, "%s", path);
    s->session = session;
    return 0;
}

/* --- refresh ------------------------------------------------------------------------------------
 */

/* What the file still has, and no more; then the picture stays. */
static int take_rest(struct top_source *s, struct err *err)
{
    if (!s->follow || s->state == TOP_ENDED || s->state == TOP_GONE)
        return 0;
    TRY(read_events(s, UINT64_MAX, err));
    live_advance(&s->live, max_u64(s->live.now, trace_follow_state(s->follow).latest));
    s->cpu = s->recording = s->writing = 0;
    return 0;
}

static int no_answer(struct top_source *s, int why, struct err *err)
{
    struct proc_status now;
    struct err ignored;
    enum top_state state = TOP_ENDED;
    if (jvm_check(&s->jvm, &now, &ignored) < 0)
        state = TOP_GONE;
    else if (client_is_silent(why) || why == -EAGAIN)
        state = TOP_SILENT;
    if (state != TOP_SILENT)
        TRY(take_rest(s, err));
    /* What is killed is a process for a while, which nobody answers from; its file has no end. */
    bool dies =
        state == TOP_ENDED && why != -ENODATA && s->follow && !trace_follow_state(s->follow).ended;
    s->state = dies ? TOP_GONE : state;
    return 0;
}

static int take_answer(struct top_source *s, const struct jvm *jvm, const char *reply,
                       uint64_t asked, struct err *err)
{
    char path[PATH_MAX], state[32];
    target_text(reply, "state", state, sizeof state);
    target_text(reply, "path", path, sizeof path);
    if (strcmp(state, "recording") != 0)
        return no_answer(s, -ENODATA, err);
    target_text(reply, "unwritten_now", s->unwritten, sizeof s->unwritten);
    s->state = *s->unwritten ? TOP_UNWRITTEN : TOP_RECORDING;
    TRY(go_to(s, path, asked - min_u64(asked, client_number(reply, "since_ns")), asked, err));
    take_counters(s, reply, asked);
    if (s->state == TOP_UNWRITTEN) /* what is missing in the file may be of any time until now */
        return 0;
    TRY(read_events(s, asked, err));
    live_advance(&s->live, asked);
    struct trace_follow_state f = trace_follow_state(s->follow);
    top_found_ask(&s->found, jvm, &s->live, f.skipped ? f.first : 0);
    live_advance(&s->live, asked); /* of whom it has told */
    return 0;
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
    /* Without a picture there is nothing that could be shown meanwhile. */
    if (s->follow)
        jvm.asker = (struct jvm_asker){.limit_ns = PATIENCE_NS};
    int rc = client_ask(&jvm, "status", TARGET_TIMEOUT_NS, &reply, &why);
    if (client_is_silent(rc) && !s->follow) {
        buf_fini(&reply);
        return err_set(err, rc, "%s", why.msg);
    }
    rc = rc < 0 ? no_answer(s, rc, err) : take_answer(s, &jvm, buf_str(&reply), asked, err);
    buf_fini(&reply);
    TRY(rc);
    if (!s->follow)
        return err_set(err, -ENODATA, "JVM %d (%s): %s", (int)s->jvm.pid, s->jvm.name,
                       s->state == TOP_SILENT ? "it does not answer: is it stopped?"
                                              : "the recording has ended before it was read");
    return live_look(&s->live, window) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
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
