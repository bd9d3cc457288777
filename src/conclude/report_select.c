/* report_select.c - the part of a recording that a report is of: `orca report --thread --from --to
 * --follow`. */
#include "conclude/report.h"

#include "analyze/labels.h"
#include "base/human.h"
#include "base/near.h"
#include "base/util.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Whether a name is one of the patterns, which are joined by ','. */
static bool is_named(const char *patterns, const char *name)
{
    char one[LABEL_MAX];
    for (const char *p = patterns; *p; p += strspn(p, ",")) {
        size_t n = strcspn(p, ",");
        snprintf(one, sizeof one, "%.*s", (int)n, p);
        if (strcmp(one, name) == 0 || fnmatch(one, name, 0) == 0)
            return true;
        p += n;
    }
    return false;
}

static int no_such_thread(const struct report *r, const char *option, const char *asked,
                          struct err *err)
{
    char name[LABEL_MAX], best[LABEL_MAX] = "";
    size_t least = SIZE_MAX;
    for (uint32_t i = 1; i < r->a->threads.n; i++) {
        label_thread(&r->a->threads, r->trace, i, name, sizeof name);
        size_t d = near_distance(asked, strlen(asked), name, strlen(name));
        if (d < least && near_close(d, strlen(asked))) {
            least = d;
            snprintf(best, sizeof best, "%s", name);
        }
    }
    if (*best)
        return err_set(err, -ENOENT, "%s: no thread is called '%s'; did you mean '%s'?", option,
                       asked, best);
    return err_set(err, -ENOENT,
                   "%s: no thread is called '%s'; 'orca report --threads --top 0' lists them",
                   option, asked);
}

/* The threads of these names: those of the trace, and as the tables show them. */
static int find_threads(const struct report *r, const char *option, const char *asked, bool **out,
                        uint32_t *last, struct err *err)
{
    const struct thread_set *ts = &r->a->threads;
    bool *v = *out = arena_alloc(&r->a->arena, ts->n * sizeof *v);
    char name[LABEL_MAX];
    if (!v)
        return err_set(err, -ENOMEM, "out of memory");
    *last = 0;
    for (uint32_t i = 1; i < ts->n; i++) {
        label_thread(ts, r->trace, i, name, sizeof name);
        v[i] = is_named(asked, name) || is_named(asked, trace_thread(r->trace, ts->v[i].id)->name);
        if (v[i])
            *last = i;
    }
    return *last ? 0 : no_such_thread(r, option, asked, err);
}

int report_follow(struct report *r, uint32_t thread, uint64_t from, uint64_t to, struct err *err)
{
    if (!thread)
        return 0; /* no thread was seen to end the program */
    const struct thread_stats *s = &r->a->threads.v[thread];
    if (analysis_follow(r->a, thread, min_u64(s->to, to), from) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    return 0;
}

/* Of a program that was stopped the path is shown to who asks for it, not as its conclusion. */
static bool wants_path(const struct report *r)
{
    return r->a->stop.thread && r->sections & REPORT_PATH && ~r->sections & REPORT_ALL;
}

static int follow(struct report *r, const struct report_part *part, uint64_t from, uint64_t to,
                  struct err *err)
{
    uint32_t thread = r->a->path.thread;
    bool *named;
    if (part->follow)
        TRY(find_threads(r, "--follow", part->follow, &named, &thread, err));
    else if (wants_path(r))
        return analysis_follow_end(r->a, to, from) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
    return report_follow(r, thread, from, to, err);
}

int report_select(struct report *r, const struct report_part *part, struct err *err)
{
    const struct decode_window *w = &r->a->window;
    uint64_t length = w->to - w->from;
    struct selection s = selection_all();
    bool *threads = NULL;
    uint32_t last;
    if (r->sections == REPORT_ORDERS && analysis_lock_order(r->a) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    if (r->sections & REPORT_FINDINGS) /* they are of the whole recording */
        TRY(rules_apply(r->a, &r->findings, &r->n_findings, &r->resources, err));
    if (r->sections & REPORT_SCREEN &&
        thread_pools_make(&r->pools, &r->n_pools, r->resources, r->a) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    if (part->from >= part->to || (part->from && part->from >= length))
        return err_set(err, -EINVAL, "--from, --to: nothing lies between; the recording is %s long",
                       human_time(length).text);
    s.from = w->from + min_u64(part->from, length);
    s.to = part->to == UINT64_MAX ? UINT64_MAX : w->from + min_u64(part->to, length);
    if (part->threads)
        TRY(find_threads(r, "--thread", part->threads, &threads, &last, err));
    s.threads = threads;
    s.n_threads = r->a->threads.n;
    if (part->lock >= r->a->locks.n_objects)
        return err_set(err, -ENOENT,
                       "--lock: there is no lock %" PRIu64 "; 'orca report --queues' lists them",
                       part->lock);
    s.lock = (uint32_t)part->lock;
    bool whole = part->from == 0 && part->to == UINT64_MAX;
    if ((!whole || part->threads || part->lock) && analysis_select(r->a, &s) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    return whole && !part->follow && !wants_path(r) ? 0 : follow(r, part, s.from, s.to, err);
}
