#include "serve/serve.h"

#include "base/clock.h"
#include "serve/http.h"

#include <stdio.h>
#include <stdlib.h>

struct serve {
    struct core core;
    struct live_events events;
    struct http http;
    char url[128];
    unsigned ticks;
};

static void on_change(void *ctx)
{
    struct serve *s = ctx;
    live_events_wake(&s->events);
}

static void on_heap(void *ctx)
{
    struct serve *s = ctx;
    /* relaxed: a woken thread sees it, by the clients' lock. */
    atomic_fetch_add_explicit(&s->events.heap, 1, memory_order_relaxed);
    live_events_wake(&s->events);
}

static int begin(struct serve *s, unsigned port, struct err *err)
{
    TRY(live_events_init(&s->events, &s->core.traces, err));
    int rc = traces_init(&s->core.traces, on_change, s, err);
    if (rc == 0 && (rc = heaps_init(&s->core.heaps, on_heap, s, err)) < 0)
        traces_fini(&s->core.traces);
    if (rc < 0) {
        live_events_fini(&s->events);
        return rc;
    }
    rc = http_open(&s->http, port, &s->core, &s->events, err);
    if (rc < 0) {
        heaps_fini(&s->core.heaps);
        traces_fini(&s->core.traces);
        live_events_fini(&s->events);
    }
    return rc;
}

/* False: what has begun is still at work, and must stay. */
static bool end(struct serve *s)
{
    if (http_close(&s->http) || traces_fini(&s->core.traces) || heaps_fini(&s->core.heaps))
        return false;
    live_events_fini(&s->events);
    return true;
}

int serve_open(struct serve **out, const struct serve_config *config, struct err *err)
{
    struct serve *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, -ENOMEM, "out of memory");
    s->core.hooks = config->hooks;
    s->core.start = config->start;
    int rc = begin(s, config->port, err);
    if (rc < 0) {
        free(s);
        return rc;
    }
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%u/?token=%s", s->http.gate.port,
             s->http.gate.token[GATE_LINK]);
    *out = s;
    return 0;
}

const char *serve_url(const struct serve *s)
{
    return s->url;
}

void serve_form(const struct serve *s, const char *at, struct buf *out)
{
    const struct gate *g = &s->http.gate;
    buf_printf(out,
               "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
               "<title>orca view</title></head><body>\n"
               "<form method=\"post\" action=\"http://127.0.0.1:%u%s%s\">"
               "<input type=\"hidden\" name=\"token\" value=\"%s\">"
               "<button>Open orca view</button></form>\n"
               "<script>document.forms[0].submit()</script></body></html>\n",
               g->port, gate_enter_page, at, g->token[GATE_FILE]);
}

void serve_form_end(struct serve *s)
{
    /* relaxed: see http.c. */
    atomic_store_explicit(&s->http.used[GATE_FILE], true, memory_order_relaxed);
}

bool serve_form_used(const struct serve *s)
{
    /* relaxed: see http.c. */
    return atomic_load_explicit(&s->http.used[GATE_FILE], memory_order_relaxed);
}

int serve_add(struct serve *s, const struct serve_opened *what, struct err *err)
{
    uint32_t k;
    return what->heap ? heaps_add(&s->core.heaps, what->heap, &k, err)
                      : traces_add(&s->core.traces, what->source, &k, err);
}

/* The list of JVMs is updated while a client listens, every other second. */
static void look_at_jvms(struct serve *s)
{
    if (!s->core.hooks.stamp || s->ticks++ % 2 || live_events_count(&s->events) == 0)
        return;
    uint64_t now = s->core.hooks.stamp(s->core.hooks.ctx);
    /* relaxed: a woken thread sees it, by the clients' lock. */
    if (atomic_exchange_explicit(&s->events.start, now, memory_order_relaxed) != now)
        live_events_wake(&s->events);
}

void serve_tick(struct serve *s)
{
    look_at_jvms(s);
    live_events_tick(&s->events);
}

uint64_t serve_idle_ns(struct serve *s)
{
    /* relaxed: see http.c. */
    uint64_t asked = atomic_load_explicit(&s->http.asked, memory_order_relaxed);
    uint64_t now = clock_mono_ns();
    if (live_events_count(&s->events) > 0)
        atomic_store_explicit(&s->http.asked, now, memory_order_relaxed);
    return live_events_count(&s->events) > 0 || asked > now ? 0 : now - asked;
}

void serve_close(struct serve *s)
{
    if (!end(s))
        return;
    free(s);
}
