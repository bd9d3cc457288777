#include "serve/traces.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "view/view.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

enum {
    PACE = 4, /* one part of work in this number of parts of time */
    TELL_NS = 100 * 1000 * 1000,
};

struct generation {
    atomic_uint refs;
    struct view *view;
    uint32_t gen;
};

struct open_trace {
    struct traces *all;
    struct serve_source *source;
    struct generation *now, *before; /* newest, and the one before it; may be NULL */
    uint32_t base;                   /* generations begin behind it */
    struct trace_news news;
    pthread_t thread;
    bool in_reading; /* the thread is somewhere where it does not hear us */
    uint64_t told;   /* its own: when progress was last reported */
};

/* --- generations ------------------------------------------------------------------------------ */

struct view *generation_view(const struct generation *g)
{
    return g->view;
}

void traces_give(struct generation *g)
{
    /* acq_rel: what the other holders did with the view comes before its end. */
    if (!g || atomic_fetch_sub_explicit(&g->refs, 1, memory_order_acq_rel) != 1)
        return;
    view_free(g->view);
    free(g);
}

static struct generation *hold(struct generation *g)
{
    /* relaxed: the lock of the traces keeps it alive until then. */
    atomic_fetch_add_explicit(&g->refs, 1, memory_order_relaxed);
    return g;
}

static struct generation *new_generation(struct view *v, uint32_t gen)
{
    struct generation *g = malloc(sizeof *g);
    if (!g)
        return NULL;
    atomic_init(&g->refs, 1);
    g->view = v;
    g->gen = gen;
    return g;
}

/* --- news ------------------------------------------------------------------------------------- */

static void tell(struct open_trace *o)
{
    if (o->all->changed)
        o->all->changed(o->all->ctx);
}

static void on_step(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
    struct open_trace *o = ctx;
    uint64_t now = clock_mono_ns();
    pthread_mutex_lock(&o->all->lock);
    bool other = strcmp(o->news.phase, phase) != 0, first = o->news.reading;
    bool due = first && (other || now - o->told > TELL_NS);
    snprintf(o->news.phase, sizeof o->news.phase, "%s", phase);
    o->news.done = done;
    o->news.total = total;
    o->news.revision += due;
    pthread_mutex_unlock(&o->all->lock);
    if (!due)
        return;
    o->told = now;
    tell(o);
}

/* What a reading has brought: v, or why there is none. */
static void publish(struct open_trace *o, struct view *v, uint32_t gen, const struct err *why)
{
    struct generation *g = v ? new_generation(v, gen) : NULL, *old = NULL;
    pthread_mutex_lock(&o->all->lock);
    o->in_reading = false;
    if (g) {
        old = o->before;
        o->before = o->now;
        o->now = g;
        o->news.gen = gen;
        o->news.to = o->source->to;
        o->news.reading = false;
        o->news.error[0] = 0;
    } else if (!o->now) {
        snprintf(o->news.error, sizeof o->news.error, "%s", v ? "out of memory" : why->msg);
    }
    o->news.live_pid = o->source->live_pid;
    o->news.revision++;
    pthread_mutex_unlock(&o->all->lock);
    traces_give(old);
    if (v && !g)
        view_free(v);
    tell(o);
}

static void on_made(void *ctx)
{
    struct open_trace *o = ctx;
    pthread_mutex_lock(&o->all->lock);
    o->news.revision++;
    pthread_mutex_unlock(&o->all->lock);
    tell(o);
}

static void lose(struct open_trace *o, const struct err *why)
{
    pthread_mutex_lock(&o->all->lock);
    o->news.gone = true;
    o->news.live_pid = 0;
    snprintf(o->news.error, sizeof o->news.error, "%s", why->msg);
    o->news.revision++;
    pthread_mutex_unlock(&o->all->lock);
    tell(o);
}

/* --- a trace's thread ------------------------------------------------------------------------- */

/* False: the server ends. */
static bool enter_reading(struct open_trace *o)
{
    pthread_mutex_lock(&o->all->lock);
    bool go = !o->all->stopping;
    o->in_reading = go;
    pthread_mutex_unlock(&o->all->lock);
    return go;
}

static void leave_reading(struct open_trace *o)
{
    pthread_mutex_lock(&o->all->lock);
    o->in_reading = false;
    pthread_mutex_unlock(&o->all->lock);
}

static bool sleep_ns(struct open_trace *o, uint64_t ns)
{
    uint64_t until = clock_mono_ns() + ns;
    struct timespec at = {(time_t)(until / SECOND), (long)(until % SECOND)};
    pthread_mutex_lock(&o->all->lock);
    while (!o->all->stopping &&
           pthread_cond_timedwait(&o->all->stop, &o->all->lock, &at) != ETIMEDOUT)
        ;
    bool go = !o->all->stopping;
    pthread_mutex_unlock(&o->all->lock);
    return go;
}

/* *pause: when the next reading may begin, ns from now. */
static int read_once(struct open_trace *o, uint32_t gen, uint64_t *pause, struct err *err)
{
    struct err why = {""};
    struct view *v = NULL;
    uint64_t began = clock_mono_ns();
    int rc = o->source->ops->read(o->source, gen, &(struct serve_progress){on_step, o}, &v, &why);
    if (rc < 0 && !why.msg[0])
        err_set(&why, rc, "%s: %s", o->source->name, strerror(-rc));
    if (rc < 0)
        log_line("%s", why.msg);
    publish(o, rc < 0 ? NULL : v, gen, &why);
    uint64_t cost = clock_mono_ns() - began;
    *pause = max_u64((PACE - 1) * cost, cost < SECOND ? SECOND - cost : 0);
    *err = why;
    return rc;
}

/* What takes long of the newest generation, while questions are answered from it. */
static void prepare(struct open_trace *o)
{
    struct err why;
    pthread_mutex_lock(&o->all->lock);
    struct generation *g = o->now && !o->all->stopping ? hold(o->now) : NULL;
    o->in_reading = g != NULL;
    pthread_mutex_unlock(&o->all->lock);
    if (!g)
        return;
    if (view_prepare(g->view, on_made, o, &why) < 0)
        log_line("%s: %s", o->source->name, why.msg);
    traces_give(g);
    leave_reading(o);
}

/* The beginning, where that comes first, and all that is there.  A trace of which no more than the
 * beginning can be had is lost. */
static bool read_first(struct open_trace *o, uint32_t *gen, uint64_t *pause)
{
    struct err why = {""};
    int rc = read_once(o, ++*gen, pause, &why);
    bool rest = rc == 0 && o->source->partial;
    if (!rest)
        return true;
    if (!enter_reading(o))
        return false;
    rc = read_once(o, ++*gen, pause, &why);
    if (rc < 0)
        lose(o, &why);
    else
        prepare(o);
    return rc == 0;
}

static void *watch(void *arg)
{
    struct open_trace *o = arg;
    struct err why = {""};
    uint32_t gen = o->base;
    if (!enter_reading(o))
        return NULL;
    uint64_t pause;
    if (!read_first(o, &gen, &pause))
        return NULL;
    while (sleep_ns(o, pause) && enter_reading(o)) {
        int more = o->source->ops->look(o->source, &why);
        if (more > 0) {
            read_once(o, ++gen, &pause, &why);
            continue;
        }
        leave_reading(o);
        if (more < 0) {
            lose(o, &why);
            break;
        }
        pause = SECOND;
    }
    return NULL;
}

/* --- the list --------------------------------------------------------------------------------- */

int traces_init(struct traces *t, void (*changed)(void *ctx), void *ctx, struct err *err)
{
    pthread_condattr_t mono;
    *t = (struct traces){.changed = changed, .ctx = ctx};
    int rc = pthread_mutex_init(&t->lock, NULL);
    if (rc == 0 && (rc = pthread_condattr_init(&mono)) == 0) {
        pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
        rc = pthread_cond_init(&t->stop, &mono);
        pthread_condattr_destroy(&mono);
    }
    return rc ? err_set(err, -rc, "no lock can be made: %s", strerror(rc)) : 0;
}

static void free_trace(struct open_trace *o)
{
    traces_give(o->now);
    traces_give(o->before);
    o->source->ops->close(o->source);
    free(o);
}

bool traces_fini(struct traces *t)
{
    pthread_mutex_lock(&t->lock);
    t->stopping = true;
    pthread_cond_broadcast(&t->stop);
    pthread_mutex_unlock(&t->lock);
    bool all = true;
    for (size_t i = 0; i < t->n; i++) {
        pthread_mutex_lock(&t->lock);
        bool busy = t->v[i]->in_reading;
        pthread_mutex_unlock(&t->lock);
        all &= !busy;
        if (busy) {
            pthread_detach(t->v[i]->thread);
            continue;
        }
        pthread_join(t->v[i]->thread, NULL);
        free_trace(t->v[i]);
    }
    if (all) {
        pthread_cond_destroy(&t->stop);
        pthread_mutex_destroy(&t->lock);
    }
    return !all;
}

static struct open_trace *new_trace(struct traces *t, struct serve_source *source)
{
    struct open_trace *o = calloc(1, sizeof *o);
    uint32_t chance = 0;
    if (!o)
        return NULL;
    if (getrandom(&chance, sizeof chance, 0) != (ssize_t)sizeof chance)
        chance = (uint32_t)clock_real_ns();
    o->all = t;
    o->source = source;
    o->base = chance >> 4; /* room for as many generations as anybody lives to see */
    o->news.reading = true;
    o->news.revision = 1;
    o->news.live_pid = source->live_pid;
    snprintf(o->news.phase, sizeof o->news.phase, "reading");
    snprintf(o->news.name, sizeof o->news.name, "%s", source->name);
    snprintf(o->news.path, sizeof o->news.path, "%s", source->path);
    return o;
}

/* With the lock.  The number of the trace at this path, or 0. */
static uint32_t find_path(const struct traces *t, const char *path)
{
    for (size_t i = 0; i < t->n; i++)
        if (!t->v[i]->news.gone && strcmp(t->v[i]->news.path, path) == 0)
            return (uint32_t)i + 1;
    return 0;
}

/* With the lock. */
static int append(struct traces *t, struct open_trace *o, struct err *err)
{
    if (t->n == TRACES_MAX)
        return err_set(err, -EMFILE,
                       "%d traces are open, the maximum: end orca view and run it again",
                       TRACES_MAX);
    o->news.k = (uint32_t)t->n + 1;
    int rc = pthread_create(&o->thread, NULL, watch, o);
    if (rc)
        return err_set(err, -rc, "no thread can be started: %s", strerror(rc));
    t->v[t->n++] = o;
    return 0;
}

int traces_add(struct traces *t, struct serve_source *source, uint32_t *k, struct err *err)
{
    struct open_trace *o = new_trace(t, source);
    if (!o) {
        source->ops->close(source);
        return err_set(err, -ENOMEM, "out of memory");
    }
    pthread_mutex_lock(&t->lock);
    *k = find_path(t, source->path);
    bool known = *k != 0;
    int rc = known ? 0 : append(t, o, err);
    if (rc == 0 && !known)
        *k = o->news.k;
    pthread_mutex_unlock(&t->lock);
    if (known || rc < 0)
        free_trace(o);
    return rc;
}

size_t traces_count(struct traces *t)
{
    pthread_mutex_lock(&t->lock);
    size_t n = t->n;
    pthread_mutex_unlock(&t->lock);
    return n;
}

bool traces_news(struct traces *t, uint32_t k, struct trace_news *out)
{
    pthread_mutex_lock(&t->lock);
    bool found = k > 0 && k <= t->n;
    if (found)
        *out = t->v[k - 1]->news;
    pthread_mutex_unlock(&t->lock);
    return found;
}

struct generation *traces_take(struct traces *t, uint32_t k, uint32_t gen, struct trace_news *news)
{
    struct generation *g = NULL;
    news->k = 0;
    pthread_mutex_lock(&t->lock);
    if (k > 0 && k <= t->n) {
        struct open_trace *o = t->v[k - 1];
        if (o->now && (gen == 0 || gen == o->now->gen))
            g = hold(o->now);
        else if (o->before && gen == o->before->gen)
            g = hold(o->before);
        else
            *news = o->news;
    }
    pthread_mutex_unlock(&t->lock);
    return g;
}
