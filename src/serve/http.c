#include "serve/http.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/util.h"
#include "serve/compress.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    THREADS = 3,
    CONNECTIONS = 64,
    CROWDED = 40, /* connections from which on none is kept for the next request */
    TIMEOUT_S = 10,
    MEMORY = 18 << 10, /* of a connection: request line and headers, 16 kB, and what they become */
    COMPRESS_FROM = 1 << 20,
};

/* --- a request as it comes --------------------------------------------------------------------
 */

struct request {
    struct job job; /* its answer, when that takes long; the connection is suspended meanwhile */
    struct http *http;
    struct MHD_Connection *connection;
    bool made; /* the answer is there */
    struct answer answer;
    char *target;           /* as it was sent */
    const char *target_end; /* where its NUL was in the request line */
    bool seen;              /* the first call is over */
    struct gate_request gate;
    char host[256], origin[256], content_type[256], content_length[32];
    struct buf cookie, body;
    bool gzip, cross_site; /* what another site's page has led to (Sec-Fetch-Site) */
    char tag[64];          /* If-None-Match */
};

static void *on_target(void *ctx, const char *target, struct MHD_Connection *c)
{
    UNUSED(ctx);
    UNUSED(c);
    struct request *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    answer_init(&r->answer);
    buf_init(&r->cookie);
    buf_init(&r->body);
    r->target = target ? strdup(target) : NULL;
    r->target_end = target ? target + strlen(target) : NULL;
    return r;
}

static void on_end(void *ctx, struct MHD_Connection *c, void **con,
                   enum MHD_RequestTerminationCode why)
{
    struct request *r = *con;
    UNUSED(ctx);
    UNUSED(c);
    UNUSED(why);
    if (!r)
        return;
    free(r->target);
    answer_fini(&r->answer);
    buf_fini(&r->cookie);
    buf_fini(&r->body);
    free(r);
    *con = NULL;
}

static void on_connection(void *ctx, struct MHD_Connection *c, void **con,
                          enum MHD_ConnectionNotificationCode what)
{
    struct http *h = ctx;
    UNUSED(c);
    UNUSED(con);
    int more = what == MHD_CONNECTION_NOTIFY_STARTED ? 1 : -1;
    /* relaxed: a number only. */
    atomic_fetch_add_explicit(&h->connections, more, memory_order_relaxed);
}

/* A header that may come once only; one that is too long is as good as none. */
static void take_once(struct request *r, const char **place, char *room, size_t size,
                      const char *value)
{
    r->gate.doubled += *place != NULL;
    *place = room;
    snprintf(room, size, "%s", strlen(value) < size ? value : "?");
}

static enum MHD_Result on_header(void *ctx, enum MHD_ValueKind kind, const char *key,
                                 size_t key_len, const char *value, size_t value_len)
{
    struct request *r = ctx;
    struct gate_request *g = &r->gate;
    UNUSED(kind);
    value = value ? value : "";
    g->odd_bytes |= strlen(key) != key_len || strlen(value) != value_len;
    if (strcasecmp(key, "Host") == 0)
        take_once(r, &g->host, r->host, sizeof r->host, value);
    else if (strcasecmp(key, "Origin") == 0)
        take_once(r, &g->origin, r->origin, sizeof r->origin, value);
    else if (strcasecmp(key, "Content-Type") == 0)
        take_once(r, &g->content_type, r->content_type, sizeof r->content_type, value);
    else if (strcasecmp(key, "Content-Length") == 0)
        take_once(r, &g->content_length, r->content_length, sizeof r->content_length, value);
    else if (strcasecmp(key, "Transfer-Encoding") == 0)
        g->chunked = true;
    else if (strcasecmp(key, "Cookie") == 0)
        buf_printf(&r->cookie, "%s%s", r->cookie.len ? "; " : "", value);
    else if (strcasecmp(key, "Sec-Fetch-Site") == 0)
        r->cross_site = strcmp(value, "cross-site") == 0;
    else if (strcasecmp(key, "Accept-Encoding") == 0)
        r->gzip |= compress_accepted(value);
    else if (strcasecmp(key, "If-None-Match") == 0 && value_len < sizeof r->tag)
        snprintf(r->tag, sizeof r->tag, "%s", value);
    return MHD_YES;
}

/* The target ends at its first NUL; when the version does not follow there, it had one. */
static void take_headers(struct request *r, struct MHD_Connection *c, const char *method,
                         const char *version)
{
    MHD_get_connection_values_n(c, MHD_HEADER_KIND, on_header, r);
    r->gate.method = method;
    r->gate.target = r->target;
    r->gate.cookie = r->cookie.len ? buf_str(&r->cookie) : NULL;
    r->gate.odd_bytes |= !r->target || version != r->target_end + 1;
}

/* --- an answer as it goes ---------------------------------------------------------------------
 */

static void put(struct MHD_Response *r, const char *name, const char *value)
{
    MHD_add_response_header(r, name, value);
}

/* The viewer's page brings a policy of its own, which says what of it may run; in no frame either
 * way, which only a header can say. */
static void put_policy(struct MHD_Response *r, const struct answer *a)
{
    put(r, "Content-Security-Policy",
        a->own_policy ? "frame-ancestors 'none'"
                      : "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
                        "form-action 'none'");
}

static void put_headers(const struct http *h, struct MHD_Response *r, const struct answer *a)
{
    static const char *const types[] = {
        [ANSWER_JSON] = "application/json",
        [ANSWER_BYTES] = "application/octet-stream",
        [ANSWER_PAGE] = "text/html; charset=utf-8",
        [ANSWER_EVENTS] = "text/event-stream",
    };
    char text[128];
    put_policy(r, a);
    put(r, "X-Content-Type-Options", "nosniff");
    put(r, "Referrer-Policy", "no-referrer");
    put(r, "Cross-Origin-Resource-Policy", "same-origin");
    put(r, "X-Frame-Options", "DENY");
    put(r, "Content-Type", types[a->kind]);
    /* relaxed: a guess is good enough. */
    if (atomic_load_explicit(&h->connections, memory_order_relaxed) > CROWDED)
        put(r, "Connection", "close");
    put(r, "Cache-Control", a->immutable ? "private, max-age=31536000, immutable" : "no-store");
    if (a->redirect)
        put(r, "Location", "/");
    if (a->refresh)
        put(r, "Refresh", "0; url=/");
    if (a->allow)
        put(r, "Allow", a->allow);
    if (a->retry_after) {
        snprintf(text, sizeof text, "%u", a->retry_after);
        put(r, "Retry-After", text);
    }
    if (a->set_cookie) {
        snprintf(text, sizeof text, "%s=%s; HttpOnly; SameSite=Strict; Path=/", h->gate.cookie,
                 h->gate.secret);
        put(r, "Set-Cookie", text);
    }
}

static enum MHD_Result queue(struct MHD_Connection *c, unsigned status, struct MHD_Response *r)
{
    if (!r)
        return MHD_NO;
    enum MHD_Result rc = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return rc;
}

/* The body goes over to the response. */
static struct MHD_Response *take_body(struct answer *a)
{
    struct MHD_Response *r =
        a->body.len
            ? MHD_create_response_from_buffer_with_free_callback(a->body.len, a->body.p, free)
            : MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    if (r && a->body.len)
        buf_init(&a->body);
    return r;
}

static bool compress(struct answer *a, const struct request *q)
{
    struct buf smaller;
    if (!q->gzip || a->kind != ANSWER_JSON || a->body.len < COMPRESS_FROM)
        return false;
    buf_init(&smaller);
    if (compress_gzip(a->body.p, a->body.len, &smaller) < 0) {
        buf_fini(&smaller);
        return false;
    }
    buf_fini(&a->body);
    a->body = smaller;
    return true;
}

static enum MHD_Result send_answer(struct http *h, struct MHD_Connection *c,
                                   const struct request *q, struct answer *a)
{
    char tag[32] = "";
    if (a->immutable)
        snprintf(tag, sizeof tag, "\"%016" PRIx64 "\"", hash_bytes(a->body.p, a->body.len, 0));
    if (tag[0] && strcmp(tag, q->tag) == 0) {
        a->status = 304;
        buf_clear(&a->body);
    }
    bool packed = compress(a, q);
    struct MHD_Response *r = take_body(a);
    if (r) {
        put_headers(h, r, a);
        if (tag[0])
            put(r, "ETag", tag);
        if (packed)
            put(r, "Content-Encoding", "gzip");
        if (a->kind == ANSWER_JSON)
            put(r, "Vary", "Accept-Encoding");
    }
    return queue(c, a->status, r);
}

static enum MHD_Result send_events(struct http *h, struct MHD_Connection *c,
                                   const struct request *q, struct answer *a)
{
    bool busy;
    struct MHD_Response *r = live_events_join(h->events, c, &busy);
    if (!r) {
        answer_error(a, busy ? 429 : 503, "%s",
                     busy ? "too many windows listen: close some of them" : "out of memory");
        a->retry_after = LIVE_HEARTBEAT_S;
        return send_answer(h, c, q, a);
    }
    a->kind = ANSWER_EVENTS;
    put_headers(h, r, a);
    return queue(c, 200, r);
}

/* --- from one to the other --------------------------------------------------------------------
 */

static void refuse(const struct request *q, const struct gate_answer *said, struct answer *a)
{
    bool api = q->target && strncmp(q->target, "/api/", 5) == 0;
    a->allow = said->status == 405 ? "GET, POST" : NULL;
    if (api)
        answer_error(a, said->status, "%s", said->text);
    else
        answer_sentence(a, said->status, said->text);
}

/* To "/" with the cookie.  Where a page of another site has led to us, as a terminal in a browser
 * does, the browser keeps a SameSite=Strict cookie back from what it is redirected to, but not from
 * what our own page leads to. */
static void lead_in(const struct request *q, struct answer *a)
{
    if (q->cross_site) {
        answer_sentence(a, 200, "<a href=\"/\">orca view</a>");
        a->refresh = true;
        return;
    }
    a->status = 303;
    a->kind = ANSWER_PAGE;
    a->redirect = true;
}

/* Who has the cookie already needs no other, and the token stays used. */
static void exchange(struct http *h, const struct request *q, const struct gate_answer *said,
                     struct answer *a)
{
    /* relaxed: nothing else depends on it. */
    bool first = !atomic_exchange_explicit(&h->used, true, memory_order_relaxed);
    if (!first && !said->has_cookie) {
        answer_sentence(a, 403, gate_used);
        return;
    }
    lead_in(q, a);
    a->set_cookie = !said->has_cookie;
}

/* Whether the request is let in; if not, its answer. */
static bool judge(struct http *h, const struct request *q, struct answer *a)
{
    struct gate_answer said;
    gate_judge(&h->gate, &q->gate, &said);
    if (said.verdict == GATE_REFUSE)
        refuse(q, &said, a);
    else if (said.verdict == GATE_EXCHANGE)
        exchange(h, q, &said, a);
    return said.verdict == GATE_PASS;
}

static struct core_request asked_of(struct request *q)
{
    return (struct core_request){
        .post = strcmp(q->gate.method, "POST") == 0,
        .target = q->target,
        .body = buf_str(&q->body),
        .body_len = q->body.len,
    };
}

/* Who has gone needs no answer. */
static bool is_gone(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd p = {.fd = info ? info->connect_fd : -1, .events = POLLRDHUP};
    return poll(&p, 1, 0) > 0;
}

static void run_job(struct job *j, bool dropped)
{
    struct request *q = (struct request *)j; /* its first field */
    const struct core_request asked = asked_of(q);
    bool live;
    if (dropped || is_gone(q->connection))
        answer_error(&q->answer, 503, "orca view has ended: run it again");
    else
        core_answer(q->http->core, &asked, &q->answer, &live);
    q->made = true;
    MHD_resume_connection(q->connection);
}

static enum MHD_Result answer(struct http *h, struct MHD_Connection *c, struct request *q)
{
    bool live = false;
    const struct core_request asked = asked_of(q);
    /* relaxed: a time, read by somebody who counts minutes. */
    atomic_store_explicit(&h->asked, clock_mono_ns(), memory_order_relaxed);
    if (!q->made && core_takes_long(&asked, &q->job.kind)) {
        q->http = h;
        q->connection = c;
        q->job.run = run_job;
        MHD_suspend_connection(c);
        jobs_push(&h->jobs, &q->job);
        return MHD_YES;
    }
    if (!q->made)
        core_answer(h->core, &asked, &q->answer, &live);
    return live ? send_events(h, c, q, &q->answer) : send_answer(h, c, q, &q->answer);
}

/* The first call of a request: its headers are there.  A refusal is said at once, before a body is
 * read. */
static enum MHD_Result begin(struct http *h, struct MHD_Connection *c, struct request *q)
{
    struct answer a;
    enum MHD_Result rc = MHD_YES;
    answer_init(&a);
    q->seen = true;
    if (!judge(h, q, &a))
        rc = send_answer(h, c, q, &a);
    answer_fini(&a);
    return rc;
}

/* NOLINTNEXTLINE(readability-function-size): libmicrohttpd says what its parameters are */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **con)
{
    struct http *h = ctx;
    struct request *q = *con;
    UNUSED(url); /* the target is taken apart by ourselves */
    if (!q)
        return MHD_NO;
    if (!q->seen) {
        take_headers(q, c, method, version);
        return begin(h, c, q);
    }
    if (*size == 0)
        return answer(h, c, q);
    /* Its length was said, and is not too much; this is for what is not as it was said. */
    if (q->body.len + *size > GATE_BODY_MAX)
        return MHD_NO;
    buf_put(&q->body, data, *size);
    *size = 0;
    return q->body.oom ? MHD_NO : MHD_YES;
}

/* --- listening --------------------------------------------------------------------------------
 */

static int listen_on(unsigned *port, struct err *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    socklen_t len = sizeof at;
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && *port)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, CONNECTIONS) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) < 0) {
        int rc = -errno;
        if (fd >= 0)
            close(fd);
        return err_set(err, rc, "127.0.0.1:%u: cannot listen: %s%s", *port, strerror(-rc),
                       *port ? "; without --port a free one is taken" : "");
    }
    *port = ntohs(at.sin_port);
    return fd;
}

/* What libmicrohttpd has to say is about its clients' mistakes, which get an answer. */
static void say_nothing(void *ctx, const char *fmt, va_list ap)
{
    UNUSED(ctx);
    UNUSED(fmt);
    UNUSED(ap);
}

static size_t leave_escapes(void *ctx, struct MHD_Connection *c, char *text)
{
    UNUSED(ctx);
    UNUSED(c);
    return strlen(text);
}

static struct MHD_Daemon *start_daemon(struct http *h, int fd)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        on_request, h, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escapes, NULL, MHD_OPTION_URI_LOG_CALLBACK, on_target,
        NULL, MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, h, MHD_OPTION_END);
}

int http_open(struct http *h, unsigned port, struct core *core, struct live_events *events,
              struct err *err)
{
    h->core = core;
    h->events = events;
    atomic_init(&h->used, false);
    atomic_init(&h->connections, 0);
    atomic_init(&h->asked, clock_mono_ns());
    int fd = listen_on(&port, err);
    TRY(fd);
    int rc = gate_init(&h->gate, port, err);
    if (rc == 0)
        rc = jobs_init(&h->jobs, err);
    if (rc == 0) {
        h->daemon = start_daemon(h, fd);
        rc = h->daemon
                 ? 0
                 : err_set(err, -EIO, "the HTTP server cannot be started: %s", strerror(errno));
    }
    if (rc < 0)
        close(fd);
    return rc;
}

bool http_close(struct http *h)
{
    bool busy = jobs_end(&h->jobs);
    live_events_end(h->events);
    if (!busy) {
        MHD_stop_daemon(h->daemon);
        return false;
    }
    int fd = MHD_quiesce_daemon(h->daemon);
    if (fd >= 0)
        close(fd);
    return true;
}
