#include "serve/http.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/util.h"
#include "serve/compress.h"
#include "serve/page.h"

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
    CONNECTIONS = 4096, /* never reached: the lobby counts */
    TIMEOUT_S = 10,
    MEMORY = 18 << 10, /* of a connection: request line and headers, 16 kB, and what they become */
    COMPRESS_FROM = 1 << 20,
};

/* --- a request as it comes -------------------------------------------------------------------- */

struct request {
    struct job job; /* its answer, when that takes long; the connection is suspended until then */
    struct http *http;
    struct MHD_Connection *connection;
    bool made; /* the answer is there */
    struct answer answer;
    char *target;           /* as it was sent */
    const char *target_end; /* where its NUL was in the request line */
    bool seen;              /* the first call is over */
    bool enters;            /* the body brings a token */
    struct gate_request gate;
    char host[256], origin[256], key[64], content_type[256], content_length[32];
    struct buf body;
    bool gzip;
    char tag[64]; /* If-None-Match */
};

static void *on_target(void *ctx, const char *target, struct MHD_Connection *c)
{
    UNUSED(ctx);
    UNUSED(c);
    struct request *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    answer_init(&r->answer);
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
    buf_fini(&r->body);
    free(r);
    *con = NULL;
}

static int descriptor_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static void on_connection(void *ctx, struct MHD_Connection *c, void **con,
                          enum MHD_ConnectionNotificationCode what)
{
    struct http *h = ctx;
    UNUSED(con);
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        lobby_taken(&h->lobby, descriptor_of(c));
    else
        lobby_left(&h->lobby, descriptor_of(c));
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
    else if (strcasecmp(key, GATE_KEY_HEADER) == 0)
        take_once(r, &g->key, r->key, sizeof r->key, value);
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
    r->gate.odd_bytes |= !r->target || version != r->target_end + 1;
    r->gate.page = r->target && core_is_page(r->target);
}

/* --- an answer as it goes --------------------------------------------------------------------- */

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

static void put_headers(struct MHD_Response *r, const struct answer *a)
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
    put(r, "Cache-Control", a->immutable ? "private, max-age=31536000, immutable" : "no-store");
    if (a->allow)
        put(r, "Allow", a->allow);
    if (a->retry_after) {
        snprintf(text, sizeof text, "%u", a->retry_after);
        put(r, "Retry-After", text);
    }
}

/* A client without the key has no next request on this connection. */
static enum MHD_Result queue(struct http *h, struct MHD_Connection *c, unsigned status,
                             struct MHD_Response *r)
{
    if (!r)
        return MHD_NO;
    if (!lobby_may_stay(&h->lobby, descriptor_of(c)))
        put(r, "Connection", "close");
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
        put_headers(r, a);
        if (tag[0])
            put(r, "ETag", tag);
        if (packed)
            put(r, "Content-Encoding", "gzip");
        /* A browser's stored answers are not for a client of this port without the key. */
        if (a->kind != ANSWER_PAGE)
            put(r, "Vary", "Accept-Encoding, " GATE_KEY_HEADER);
    }
    return queue(h, c, a->status, r);
}

static enum MHD_Result send_events(struct http *h, struct MHD_Connection *c,
                                   const struct request *q, struct answer *a)
{
    bool busy;
    struct MHD_Response *r = live_events_join(h->events, c, &busy);
    if (!r) {
        answer_error(a, busy ? 429 : 503, "%s",
                     busy ? "too many windows are open: close some of them" : "out of memory");
        a->retry_after = LIVE_HEARTBEAT_S;
        return send_answer(h, c, q, a);
    }
    a->kind = ANSWER_EVENTS;
    put_headers(r, a);
    return queue(h, c, 200, r);
}

/* --- from one to the other -------------------------------------------------------------------- */

static void refuse(const struct request *q, unsigned status, const char *text, struct answer *a)
{
    bool api = q->target && strncmp(q->target, "/api/", 5) == 0;
    a->allow = status == 405 ? "GET, POST" : NULL;
    if (api)
        answer_error(a, status, "%s", text);
    else
        answer_sentence(a, status, text);
}

/* Whether the request is let in; if not, its answer. */
static bool judge(struct http *h, struct request *q, struct answer *a)
{
    struct gate_answer said;
    gate_judge(&h->gate, &q->gate, &said);
    q->enters = said.verdict == GATE_ENTER;
    if (said.verdict == GATE_REFUSE)
        refuse(q, said.status, said.text, a);
    return said.verdict != GATE_REFUSE;
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

/* A client that has gone needs no answer. */
static bool is_gone(struct MHD_Connection *c)
{
    struct pollfd p = {.fd = descriptor_of(c), .events = POLLRDHUP};
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
    /* relaxed: a time, read by code that counts minutes. */
    if (!q->gate.page)
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

/* Why the token of this body opens nothing; NULL: it opens, and is used up. */
static const char *use_token(struct http *h, struct MHD_Connection *c, const struct request *q)
{
    int way = gate_way_of(&h->gate, (const char *)q->body.p, q->body.len);
    if (way < 0)
        return gate_wrong;
    if (!lobby_is_friend(&h->lobby, descriptor_of(c)))
        return gate_foreign;
    /* relaxed: nothing else depends on it. */
    return atomic_exchange_explicit(&h->used[way], true, memory_order_relaxed) ? gate_used : NULL;
}

static enum MHD_Result enter(struct http *h, struct MHD_Connection *c, struct request *q)
{
    struct answer *a = &q->answer;
    const char *why = use_token(h, c, q);
    if (why)
        refuse(q, 403, why, a);
    else if (strcmp(q->target, gate_enter_page) == 0)
        page_enter(h->core, h->gate.key, a);
    else
        buf_printf(&a->body, "{\"key\":\"%s\"}\n", h->gate.key);
    return a->body.oom ? MHD_NO : send_answer(h, c, q, a);
}

/* The first call of a request: its headers are there.  A refusal is sent at once, before a body is
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
        return q->enters ? enter(h, c, q) : answer(h, c, q);
    /* Its length was announced, and is not too large; this is for bodies that differ from it. */
    if (q->body.len + *size > GATE_BODY_MAX)
        return MHD_NO;
    buf_put(&q->body, data, *size);
    *size = 0;
    return q->body.oom ? MHD_NO : MHD_YES;
}

/* --- listening -------------------------------------------------------------------------------- */

static int listen_on(unsigned *port, struct err *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    socklen_t len = sizeof at;
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && *port)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, SOMAXCONN) < 0 ||
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

static struct MHD_Daemon *start_daemon(struct http *h)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET |
            MHD_USE_ERROR_LOG,
        0, NULL, NULL, on_request, h, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escapes, NULL, MHD_OPTION_URI_LOG_CALLBACK, on_target,
        NULL, MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, h, MHD_OPTION_END);
}

/* A whole first request waits at this descriptor. */
static bool take(void *ctx, int fd)
{
    struct http *h = ctx;
    const struct sockaddr_in from = {.sin_family = AF_INET,
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return MHD_add_connection(h->daemon, fd, (const struct sockaddr *)&from, sizeof from) ==
           MHD_YES;
}

/* The descriptor is ours. */
static int begin_serving(struct http *h, int fd, struct err *err)
{
    h->daemon = start_daemon(h);
    if (!h->daemon) {
        close(fd);
        return err_set(err, -EIO, "the HTTP server cannot be started: %s", strerror(errno));
    }
    int rc = lobby_open(&h->lobby, fd, &h->gate, take, h, err);
    if (rc < 0)
        MHD_stop_daemon(h->daemon);
    return rc;
}

int http_open(struct http *h, unsigned port, struct core *core, struct live_events *events,
              struct err *err)
{
    h->core = core;
    h->events = events;
    for (size_t i = 0; i < ARRAY_LEN(h->used); i++)
        atomic_init(&h->used[i], false);
    atomic_init(&h->asked, clock_mono_ns());
    int fd = listen_on(&port, err);
    TRY(fd);
    int rc = gate_init(&h->gate, port, err);
    if (rc == 0)
        rc = jobs_init(&h->jobs, err);
    if (rc < 0) {
        close(fd);
        return rc;
    }
    rc = begin_serving(h, fd, err);
    if (rc < 0)
        jobs_end(&h->jobs);
    return rc;
}

bool http_close(struct http *h)
{
    lobby_close(&h->lobby);
    bool busy = jobs_end(&h->jobs);
    live_events_end(h->events);
    if (busy)
        return true;
    MHD_stop_daemon(h->daemon);
    lobby_fini(&h->lobby);
    return false;
}
