#include "serve/live_events.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/util.h"
#include "serve/news.h"

#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define HEARTBEAT_NS (LIVE_HEARTBEAT_S * UINT64_C(1000000000))

enum { BLOCK = 4096 };

struct live_client {
    struct live_events *all;
    struct MHD_Connection *connection;
    int fd;
    bool suspended, gone;
    struct news_reader reader;
    struct buf text; /* on its way; `sent` bytes of it are written */
    size_t sent;
    uint64_t wrote; /* when something was last sent to it */
};

int live_events_init(struct live_events *l, struct traces *t, struct err *err)
{
    *l = (struct live_events){.traces = t};
    int rc = pthread_mutex_init(&l->lock, NULL);
    return rc ? err_set(err, -rc, "no lock can be made: %s", strerror(rc)) : 0;
}

void live_events_fini(struct live_events *l)
{
    pthread_mutex_destroy(&l->lock);
}

/* --- what libmicrohttpd calls, in one of its threads ------------------------------------------ */

/* With the lock. */
static void fill(struct live_client *c)
{
    uint64_t now = clock_mono_ns();
    buf_clear(&c->text);
    c->sent = 0;
    /* relaxed: stamps that are late come with the next wake. */
    uint64_t start = atomic_load_explicit(&c->all->start, memory_order_relaxed);
    news_put(&c->reader, c->all->traces, start, &c->text);
    news_put_heap(&c->reader, atomic_load_explicit(&c->all->heap, memory_order_relaxed), &c->text);
    if (!c->text.len && now - c->wrote >= HEARTBEAT_NS)
        buf_puts(&c->text, ": still here\n\n");
    if (c->text.len)
        c->wrote = now;
}

static ssize_t read_events(void *ctx, uint64_t pos, char *out, size_t max)
{
    struct live_client *c = ctx;
    ssize_t n = MHD_CONTENT_READER_END_OF_STREAM;
    UNUSED(pos);
    pthread_mutex_lock(&c->all->lock);
    if (!c->all->ending && !c->gone) {
        if (c->sent == c->text.len)
            fill(c);
        size_t rest = c->text.len - c->sent;
        n = (ssize_t)(rest < max ? rest : max);
        if (n > 0) {
            memcpy(out, c->text.p + c->sent, (size_t)n);
            c->sent += (size_t)n;
        } else {
            c->suspended = true;
            MHD_suspend_connection(c->connection);
        }
    }
    pthread_mutex_unlock(&c->all->lock);
    return n;
}

static void leave(void *ctx)
{
    struct live_client *c = ctx;
    struct live_events *l = c->all;
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i] == c) {
            l->v[i] = l->v[--l->n];
            break;
        }
    pthread_mutex_unlock(&l->lock);
    buf_fini(&c->text);
    free(c);
}

/* --- clients ---------------------------------------------------------------------------------- */

/* With the lock. */
static void resume(struct live_client *c)
{
    if (!c->suspended)
        return;
    c->suspended = false;
    MHD_resume_connection(c->connection);
}

/* libmicrohttpd does not look at a connection while it is suspended.  With the lock. */
static void find_gone(struct live_events *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct live_client *c = l->v[i];
        struct pollfd p = {.fd = c->fd, .events = POLLRDHUP};
        if (!c->suspended || poll(&p, 1, 0) <= 0)
            continue;
        c->gone = true;
        resume(c);
    }
}

static struct live_client *new_client(struct live_events *l, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct live_client *c = info ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    c->all = l;
    c->connection = connection;
    c->fd = info->connect_fd;
    c->wrote = clock_mono_ns();
    /* relaxed: as in fill. */
    c->reader.start = atomic_load_explicit(&l->start, memory_order_relaxed);
    buf_init(&c->text);
    buf_puts(&c->text, "retry: 1000\n\n");
    return c;
}

struct MHD_Response *live_events_join(struct live_events *l, struct MHD_Connection *connection,
                                      bool *busy)
{
    struct live_client *c = new_client(l, connection);
    struct MHD_Response *r =
        c ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_events, c, leave)
          : NULL;
    *busy = false;
    if (!r) {
        free(c ? c->text.p : NULL);
        free(c);
        return NULL;
    }
    pthread_mutex_lock(&l->lock);
    *busy = l->n == LIVE_CLIENTS_MAX || l->ending;
    if (!*busy)
        l->v[l->n++] = c;
    pthread_mutex_unlock(&l->lock);
    if (!*busy)
        return r;
    MHD_destroy_response(r); /* leave() frees it */
    return NULL;
}

void live_events_wake(struct live_events *l)
{
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->n; i++)
        resume(l->v[i]);
    pthread_mutex_unlock(&l->lock);
}

void live_events_tick(struct live_events *l)
{
    uint64_t now = clock_mono_ns();
    pthread_mutex_lock(&l->lock);
    find_gone(l);
    for (size_t i = 0; i < l->n; i++)
        if (now - l->v[i]->wrote >= HEARTBEAT_NS)
            resume(l->v[i]);
    pthread_mutex_unlock(&l->lock);
}

void live_events_end(struct live_events *l)
{
    pthread_mutex_lock(&l->lock);
    l->ending = true;
    for (size_t i = 0; i < l->n; i++)
        resume(l->v[i]);
    pthread_mutex_unlock(&l->lock);
}

size_t live_events_count(struct live_events *l)
{
    pthread_mutex_lock(&l->lock);
    size_t n = l->n;
    pthread_mutex_unlock(&l->lock);
    return n;
}
