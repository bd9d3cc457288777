#include "serve/routes.h"

#include "base/util.h"
#include "serve/api.h"
#include "serve/api_heap.h"
#include "serve/page.h"
#include "serve/start.h"

#include <string.h>

/* `answer` NULL: the stream of events. */
static const struct route routes[] = {
    {ROUTE_PAGE, "/", page_view, NULL},
    {ROUTE_PAGE, "/start", page_start, NULL},
    {ROUTE_PAGE, "/heap", page_heap, NULL},
    {ROUTE_GET, "/api/state", api_state, NULL},
    {ROUTE_GET, "/api/live", NULL, NULL},
    {ROUTE_LONG, "/api/t#/meta", api_meta, NULL},
    {ROUTE_GET, "/api/t#/g#/tile/#/~", api_tile, NULL},
    {ROUTE_LONG, "/api/t#/g#/arrows/#/~", api_arrows, NULL},
    {ROUTE_LONG, "/api/t#/g#/path/#/~", api_path, NULL},
    {ROUTE_LONG, "/api/t#/g#/overview", api_json, "overview"},
    {ROUTE_LONG, "/api/t#/g#/report", api_json, "report"},
    {ROUTE_LONG, "/api/t#/g#/locks", api_json, "locks"},
    {ROUTE_GET, "/api/t#/g#/contexts", api_json, "contexts"},
    {ROUTE_GET, "/api/t#/g#/wait", api_json, "wait"},
    {ROUTE_GET, "/api/t#/g#/at", api_json, "at"},
    {ROUTE_LONG, "/api/t#/g#/flame", api_json, "flame"},
    {ROUTE_LONG, "/api/t#/g#/rates", api_json, "rates"},
    {ROUTE_LONG, "/api/t#/g#/search", api_json, "search"},
    {ROUTE_LONG, "/api/t#/g#/marks", api_json, "marks"},
    {ROUTE_GET, "/api/t#/g#/mark", api_json, "mark"},
    {ROUTE_GET, "/api/h#", api_heap, "overview"},
    {ROUTE_LONG, "/api/h#/classes", api_heap, "classes"},
    {ROUTE_LONG, "/api/h#/instances", api_heap, "instances"},
    {ROUTE_LONG, "/api/h#/object", api_heap, "object"},
    {ROUTE_LONG, "/api/h#/elements", api_heap, "elements"},
    {ROUTE_LONG, "/api/h#/referrers", api_heap, "referrers"},
    {ROUTE_LONG, "/api/h#/path", api_heap, "path"},
    {ROUTE_LONG, "/api/h#/tree", api_heap, "tree"},
    {ROUTE_LONG, "/api/h#/icicle", api_heap, "icicle"},
    {ROUTE_LONG, "/api/h#/suspects", api_heap, "suspects"},
    {ROUTE_LONG, "/api/h#/threads", api_heap, "threads"},
    {ROUTE_LONG, "/api/h#/thread", api_heap, "thread"},
    {ROUTE_LONG, "/api/h#/strings", api_heap, "strings"},
    {ROUTE_LONG, "/api/h#/collections", api_heap, "collections"},
    {ROUTE_LONG, "/api/h#/diff", api_heap, "diff"},
    {ROUTE_LONG, "/api/start", start_list, NULL},
    {ROUTE_POST, "/api/attach", start_attach, NULL},
    {ROUTE_POST, "/api/stop", start_stop, NULL},
    {ROUTE_POST, "/api/save", start_save, NULL},
    {ROUTE_POST, "/api/open", start_open, NULL},
};

static bool fits(const char *pattern, const char *path, int64_t *number)
{
    size_t n = 0;
    while (*pattern) {
        if (*pattern != '#' && *pattern != '~') {
            if (*pattern++ != *path++)
                return false;
            continue;
        }
        size_t len = strcspn(path, "/");
        if (n == ROUTE_NUMBERS_MAX || !query_number(path, len, *pattern == '~', &number[n++]))
            return false;
        path += len;
        pattern++;
    }
    return *path == 0;
}

const struct route *routes_find(bool post, const char *path, int64_t number[ROUTE_NUMBERS_MAX],
                                const char **allow)
{
    *allow = NULL;
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        if (!fits(routes[i].pattern, path, number))
            continue;
        if ((routes[i].kind == ROUTE_POST) == post)
            return &routes[i];
        *allow = post ? "GET" : "POST";
    }
    return NULL;
}

static void answer_query(struct core *c, struct route_hit *hit, struct answer *a, bool *live)
{
    const char *allow;
    hit->route = routes_find(hit->request->post, hit->query->path, hit->number, &allow);
    a->allow = allow;
    if (!hit->route && allow)
        answer_error(a, 405, "this path supports only %s", allow);
    else if (!hit->route)
        answer_error(a, 404, "no such path: docs/reference/view-protocol.md lists them");
    else if (hit->route->answer)
        hit->route->answer(c, hit, a);
    else
        *live = true;
}

/* Rows of locks need their histories, which are made of all waits when they are first asked for. */
static bool asks_of_locks(const struct query *q)
{
    const char *rows = query_find(q, "rows"), *row = query_find(q, "row");
    return (rows && strchr(rows, 'l')) || (row && *row == 'l');
}

bool core_is_page(const char *target)
{
    int64_t number[ROUTE_NUMBERS_MAX];
    const char *allow;
    struct query query;
    if (query_parse(&query, target, NULL) < 0)
        return false;
    const struct route *route = routes_find(false, query.path, number, &allow);
    query_fini(&query);
    return route && route->kind == ROUTE_PAGE;
}

bool core_takes_long(const struct core_request *r, enum job_kind *kind)
{
    int64_t number[ROUTE_NUMBERS_MAX];
    const char *allow;
    struct query query;
    if (query_parse(&query, r->target, NULL) < 0)
        return false;
    const struct route *route = routes_find(r->post, query.path, number, &allow);
    bool is_long = route && (route->kind == ROUTE_LONG || route->kind == ROUTE_POST);
    bool is_short = route && !is_long && asks_of_locks(&query);
    query_fini(&query);
    *kind = is_long ? JOB_LONG : JOB_SHORT;
    return is_long || is_short;
}

void core_answer(struct core *c, const struct core_request *r, struct answer *a, bool *live)
{
    struct query query;
    struct err err;
    *live = false;
    int rc = query_parse(&query, r->target, &err);
    if (rc < 0) {
        answer_error(a, answer_status(rc), "%s", err.msg);
        return;
    }
    struct route_hit hit = {.query = &query, .request = r};
    answer_query(c, &hit, a, live);
    query_fini(&query);
    if (a->body.oom) {
        buf_fini(&a->body);
        buf_init(&a->body);
        answer_error(a, 503, "out of memory: ask for less at a time");
    }
}
