#include "analyze/path_shutdown.h"

#include "analyze/bottle.h"
#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

static bool destroys_the_jvm(const struct path_source *src, const struct trace *t, uint32_t thread)
{
    const struct thread_stats *s = &src->threads->v[thread];
    return s->defined && strcmp(trace_thread(t, s->id)->name, "DestroyJavaVM") == 0;
}

/* The last non-daemon thread that ended up to a time; the JVM's end waits for these.  0: none. */
static uint32_t last_until(const struct path_source *src, const struct trace *t, uint64_t time)
{
    uint32_t last = 0;
    for (uint32_t i = 1; i < src->threads->n; i++) {
        const struct thread_stats *s = &src->threads->v[i];
        if (s->defined && s->has_ended && s->ended <= time && bottle_counts(t, s) &&
            !(trace_thread(t, s->id)->flags & (THREAD_DAEMON | THREAD_VIRTUAL)) &&
            (!last || s->ended > src->threads->v[last].ended))
            last = i;
    }
    return last;
}

/* Puts a path that ends in another thread before this one, and drops the earlier part of this
 * one. */
static int prepend(struct path *p, const struct path *before, uint64_t ended)
{
    struct path_segment *v = malloc((before->n + 1 + p->n) * sizeof *v);
    size_t n = before->n;
    if (!v)
        return -ENOMEM;
    if (n)
        memcpy(v, before->v, n * sizeof *v);
    if (ended < p->from)
        v[n++] = (struct path_segment){.from = ended,
                                       .to = p->from,
                                       .thread = p->v[0].thread,
                                       .kind = PATH_HANDOFF,
                                       .state = STATE_LIMIT};
    for (size_t i = 0; i < p->n; i++) {
        v[n] = p->v[i];
        v[n].from = max_u64(v[n].from, ended);
        n += v[n].from < v[n].to;
    }
    free(p->v);
    p->v = v;
    p->n = n;
    p->from = before->from;
    p->handoffs += before->handoffs;
    p->handoffs_seen += before->handoffs_seen;
    p->seen_ns = 0;
    memset(p->kind_ns, 0, sizeof p->kind_ns);
    for (size_t i = 0; i < n; i++) {
        p->kind_ns[v[i].kind] += v[i].to - v[i].from;
        p->seen_ns += v[i].seen ? v[i].to - v[i].from : 0;
    }
    return 0;
}

int path_walk_over_shutdown(struct path *out, const struct path_source *src, const struct trace *t,
                            uint32_t thread, uint64_t to, uint64_t from)
{
    struct path before;
    TRY(path_walk(out, src, thread, to, from));
    if (!out->n || out->from <= from || !destroys_the_jvm(src, t, out->v[0].thread))
        return 0;
    uint64_t until = out->from; /* when it had gone on, at the latest */
    for (size_t i = 0; i < out->n && out->v[i].thread == out->v[0].thread; i++)
        until = out->v[i].to;
    uint32_t last = last_until(src, t, until);
    uint64_t ended = last ? src->threads->v[last].ended : 0;
    if (ended <= from)
        return 0;
    int rc = path_walk(&before, src, last, ended, from);
    rc = rc < 0 ? rc : prepend(out, &before, ended);
    path_fini(&before);
    if (rc < 0)
        path_fini(out);
    return rc;
}
