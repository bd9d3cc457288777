#include "serve/api.h"

#include "base/util.h"
#include "base/version.h"
#include "serve/news.h"
#include "view/view.h"

#include <inttypes.h>
#include <string.h>

enum { RETRY_S = 1 };

/* --- how things stand ------------------------------------------------------------------------- */

static void put_phase(const struct trace_news *n, struct buf *b)
{
    buf_puts(b, ",\"phase\":");
    news_put_phase(n, b);
}

static void put_live(const struct trace_news *n, struct buf *b)
{
    buf_puts(b, ",\"live\":");
    if (n->live_pid)
        buf_printf(b, "{\"pid\":%" PRIu32 ",\"since_unix_ns\":null}", n->live_pid);
    else
        buf_puts(b, "null");
}

static void put_error(const struct trace_news *n, struct buf *b)
{
    buf_puts(b, ",\"error\":");
    if (n->error[0])
        answer_put_text(b, n->error);
    else
        buf_puts(b, "null");
}

static void put_trace(const struct trace_news *n, struct buf *b)
{
    buf_printf(b, "{\"trace\":%" PRIu32 ",\"gen\":%" PRIu32 ",\"name\":", n->k, n->gen);
    answer_put_text(b, n->name);
    buf_puts(b, ",\"path\":");
    answer_put_text(b, n->path);
    put_phase(n, b);
    buf_printf(b, ",\"live_pid\":%" PRIu32 ",\"gone\":%s", n->live_pid, n->gone ? "true" : "false");
    put_error(n, b);
    buf_putc(b, '}');
}

void api_state(struct core *c, const struct route_hit *hit, struct answer *a)
{
    struct trace_news n;
    UNUSED(hit);
    buf_printf(
        &a->body,
        "{\"schema\":\"orca-view-1\",\"version\":\"%s\",\"stop\":%s,\"start\":%s,\"traces\":[",
        ORCA_VERSION, c->hooks.stop ? "true" : "false", c->start ? "true" : "false");
    for (uint32_t k = 1; traces_news(&c->traces, k, &n); k++) {
        buf_puts(&a->body, k > 1 ? "," : "");
        put_trace(&n, &a->body);
    }
    buf_puts(&a->body, "]}\n");
}

/* --- a generation ----------------------------------------------------------------------------- */

static void miss(const struct trace_news *n, struct answer *a)
{
    if (n->k == 0) {
        answer_error(a, 404, "no trace has this number: /api/state lists them");
    } else if (n->gen == 0 && n->error[0]) {
        answer_error(a, 503, "%s", n->error);
    } else if (n->gen == 0) {
        answer_error(a, 503, "the trace is still being analysed: ask again, or wait for /api/live");
        a->retry_after = RETRY_S;
    } else {
        answer_error_gen(a, 410, "this generation is over: ask for the newest one", n->gen);
    }
}

static struct generation *take(struct core *c, const struct route_hit *hit, struct answer *a)
{
    struct trace_news n = {0};
    int64_t k = hit->number[0], gen = hit->number[1];
    struct generation *g = NULL;
    if (k <= UINT32_MAX && gen <= UINT32_MAX && gen > 0)
        g = traces_take(&c->traces, (uint32_t)k, (uint32_t)gen, &n);
    else if (k <= UINT32_MAX)
        traces_news(&c->traces, (uint32_t)k, &n);
    if (!g)
        miss(&n, a);
    return g;
}

/* 0, or what an answer's function said. */
static void finish(int rc, const struct err *err, struct generation *g, struct answer *a)
{
    traces_give(g);
    a->immutable = rc == 0;
    if (rc < 0)
        answer_error(a, answer_status(rc), "%s",
                     err->msg[0] ? err->msg
                     : rc == -ENOMEM
                         ? "out of memory: ask for less at a time"
                         : "no such tile: levels are 0 to 44, and a tile lies within 2^62 ns");
}

/* Each parameter must be one of these words, joined by ' '. */
static int check_names(const struct query *q, const char *known, struct err *err)
{
    for (size_t i = 0; i < q->n; i++) {
        const char *name = q->params[i].name, *at = strstr(known, name);
        size_t len = strlen(name);
        if (!at || (at > known && at[-1] != ' ') || (at[len] && at[len] != ' ') ||
            strchr(name, ' '))
            return err_set(err, -EINVAL, "parameter '%.40s' is unknown; known are: %s", name,
                           *known ? known : "none");
    }
    return 0;
}

/* A tile's level and number; what they may be the view says. */
static unsigned level_of(const struct route_hit *hit)
{
    return hit->number[2] > VIEW_LEVEL_MAX ? VIEW_LEVEL_MAX + 1 : (unsigned)hit->number[2];
}

static int tile(struct view *v, const struct route_hit *hit, struct buf *out, struct err *err)
{
    struct view_row rows[VIEW_ROWS_MAX];
    const char *text = query_find(hit->query, "rows");
    TRY(check_names(hit->query, "rows", err));
    if (!text)
        return err_set(err, -EINVAL, "say which rows: rows=t1,t2");
    int n = view_parse_rows(text, rows, err);
    TRY(n);
    return view_tile(v, level_of(hit), hit->number[3], rows, (size_t)n, out);
}

static int arrows(struct view *v, const struct route_hit *hit, struct buf *out, struct err *err)
{
    TRY(check_names(hit->query, "", err));
    return view_arrows(v, level_of(hit), hit->number[3], out);
}

static int number_of(const struct route_hit *hit, const char *name, int64_t most, int64_t *out,
                     struct err *err)
{
    const char *text = query_find(hit->query, name);
    if (text && (!query_number(text, strlen(text), most > UINT32_MAX, out) || *out > most))
        return err_set(err, -EINVAL, "%s=%.40s is not a valid number", name, text);
    return 0;
}

static int path(struct view *v, const struct route_hit *hit, struct buf *out, struct err *err)
{
    int64_t thread = 0, to = INT64_MAX;
    TRY(check_names(hit->query, "thread to", err));
    TRY(number_of(hit, "thread", UINT32_MAX, &thread, err));
    TRY(number_of(hit, "to", INT64_MAX, &to, err));
    return view_path(v, level_of(hit), hit->number[3], (uint32_t)thread, to, out);
}

typedef int binary_fn(struct view *v, const struct route_hit *hit, struct buf *out,
                      struct err *err);

static void binary(struct core *c, const struct route_hit *hit, binary_fn *fn, struct answer *a)
{
    struct err err = {""};
    struct generation *g = take(c, hit, a);
    if (!g)
        return;
    a->kind = ANSWER_BYTES;
    finish(fn(generation_view(g), hit, &a->body, &err), &err, g, a);
}

void api_tile(struct core *c, const struct route_hit *hit, struct answer *a)
{
    binary(c, hit, tile, a);
}

void api_arrows(struct core *c, const struct route_hit *hit, struct answer *a)
{
    binary(c, hit, arrows, a);
}

void api_path(struct core *c, const struct route_hit *hit, struct answer *a)
{
    binary(c, hit, path, a);
}

void api_json(struct core *c, const struct route_hit *hit, struct answer *a)
{
    struct err err = {""};
    const struct view_question q = {hit->query->params, hit->query->n};
    struct generation *g = take(c, hit, a);
    if (g)
        finish(view_json(generation_view(g), hit->route->word, &q, &a->body, &err), &err, g, a);
}

/* --- meta ------------------------------------------------------------------------------------- */

/* Of a trace that is not analysed yet: as large as it must be. */
static void empty_meta(const struct trace_news *n, struct buf *b)
{
    static const char *const columns[] = {
        "id",        "name",      "group",     "pool",     "java_tid",      "flags",
        "from",      "to",        "called",    "starter",  "waits",         "blocked_ns",
        "waited_ns", "parked_ns", "joined_ns", "slept_ns", "reacquired_ns", "running_ns"};
    buf_puts(b, "{\"schema\":\"orca-view-1\",\"gen\":0,\"name\":");
    answer_put_text(b, n->name);
    put_phase(n, b);
    put_live(n, b);
    put_error(n, b);
    buf_puts(
        b, ",\"from\":0,\"to\":0,\"recording\":null,\"losses\":[],\"problems\":[],"
           "\"pending\":true,\"findings\":[],\"deadlocks\":[],\"stuck\":[],\"path\":null,\"gc\":[],"
           "\"locks\":0,\"waits\":0,\"arrows\":{},\"threads\":{");
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        buf_printf(b, "%s\"%s\":[]", i ? "," : "", columns[i]);
    buf_puts(b, "},\"pools\":{\"name\":[],\"threads\":[]},"
                "\"groups\":{\"name\":[],\"threads\":[]}}\n");
}

void api_meta(struct core *c, const struct route_hit *hit, struct answer *a)
{
    struct trace_news n = {0};
    struct err err = {""};
    const struct view_question q = {hit->query->params, hit->query->n};
    int64_t k = hit->number[0];
    struct generation *g = NULL;
    if (k <= UINT32_MAX)
        g = traces_take(&c->traces, (uint32_t)k, 0, &n);
    if (g) {
        finish(view_json(generation_view(g), "meta", &q, &a->body, &err), &err, g, a);
        a->immutable = false; /* the next generation's is another */
    } else if (n.k) {
        empty_meta(&n, &a->body);
    } else {
        miss(&n, a);
    }
}
