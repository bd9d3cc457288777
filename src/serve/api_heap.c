#include "serve/api_heap.h"

#include "view/heap_view.h"

#include <string.h>

enum { RETRY_S = 1, HTTP_ACCEPTED = 202 };

/* It is being looked for. */
static void say_wait(struct answer *a, const char *text)
{
    a->status = HTTP_ACCEPTED;
    buf_puts(&a->body, "{\"wait\":");
    answer_put_text(&a->body, text);
    buf_puts(&a->body, "}\n");
}

void api_heap(struct core *c, const struct route_hit *hit, struct answer *a)
{
    struct err err = {""};
    const struct view_question q = {hit->query->params, hit->query->n};
    int64_t k = hit->number[0];
    struct heap_view *heap = k <= HEAPS_MAX ? heaps_get(&c->heaps, (uint32_t)k) : NULL;
    if (!heap) {
        answer_error(a, 404, "no heap dump has this number: run orca view with one");
        return;
    }
    int rc = heap_view_json(heap, hit->route->word, &q, &a->body, &err);
    if (rc == -EINPROGRESS)
        say_wait(a, err.msg);
    else if (rc < 0)
        answer_error(a, rc == -EIO ? 503 : answer_status(rc), "%s",
                     err.msg[0] ? err.msg : strerror(-rc));
    if (rc == -EAGAIN || rc == -EINPROGRESS)
        a->retry_after = RETRY_S;
}
