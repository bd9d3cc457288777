/* wakers_tool.c - what the analyser says of how waits ended, for test_wakers.sh.
 *
 *   wakers_tool FILE      an .otrace, .orca or .trcxml
 *
 *   wait THREAD STATE HOW WAKER END HASH      a span: HOW is an interaction of bind.h, WAKER "?"
 *                                             when it is not known, END in ns of System.nanoTime
 *   regain THREAD - HOW OWNER END HASH        who had the monitor that a notified thread took
 *                                             again */
#include "analyze/analysis.h"
#include "analyze/bind.h"
#include "analyze/labels.h"
#include "conclude/resource.h"
#include "import/import.h"

#include <inttypes.h>
#include <stdio.h>

static const char *name_of(const struct analysis *a, uint32_t thread, char *name)
{
    if (!thread)
        return "?";
    label_thread(&a->threads, a->trace, thread, name, LABEL_MAX);
    return name;
}

static void print(const struct analysis *a, uint32_t thread, uint32_t index)
{
    const struct timeline *t = &a->timeline;
    const struct line *l = &t->lines[thread];
    const struct span *s = line_span(l, index);
    if (span_is_summed(&a->timeline, s))
        return; /* several waits, or one of which as little is known */
    const struct context *x = timeline_context(t, s->context);
    const struct regain *again = line_regain(l, index);
    char own[LABEL_MAX], other[LABEL_MAX];
    uint32_t hash = x->lock.v < a->trace->n_locks ? a->trace->locks[x->lock.v].hash : 0;
    name_of(a, thread, own);
    printf("wait %s %s %s %s %" PRIu64 " %08" PRIX32 "\n", own, wait_state_name(x->what),
           interaction_name(span_interaction(t, thread, s)), name_of(a, s->waker, other),
           span_end(t, s), hash);
    if (again)
        printf("regain %s - %s %s %" PRIu64 " %08" PRIX32 "\n", own,
               interaction_name(again->cause & CAUSE_SEEN ? INTERACTION_LAST_OWNER
                                                          : INTERACTION_HANDOFF_LOCK),
               name_of(a, again->owner, other), span_end(t, s), hash);
}

static int open_any(struct trace **t, const char *path, struct err *err)
{
    return import_wants(path) ? import_file(t, path, NULL, err) : trace_open(t, path, err);
}

int main(int argc, char **argv)
{
    struct err err = {"usage: wakers_tool FILE"};
    struct trace *t = NULL;
    struct analysis *a = NULL;
    int rc = argc == 2 ? open_any(&t, argv[1], &err) : -EINVAL;
    if (rc == 0)
        rc = conclude_run(&a, t, &err);
    for (uint32_t i = 1; rc == 0 && i < a->timeline.n_lines; i++)
        for (uint32_t k = 0; k < a->timeline.lines[i].spans.n; k++)
            print(a, i, k);
    if (rc < 0)
        fprintf(stderr, "wakers_tool: %s\n", err.msg);
    analysis_free(a);
    if (t)
        trace_close(t);
    return rc < 0;
}
