#include "serve/news.h"

#include "serve/answer.h"

#include <inttypes.h>

void news_put_phase(const struct trace_news *n, struct buf *out)
{
    if (!n->reading || n->error[0]) {
        buf_puts(out, "null");
        return;
    }
    buf_puts(out, "{\"text\":");
    answer_put_text(out, n->phase);
    buf_printf(out, ",\"done\":%" PRIu64 ",\"total\":%" PRIu64 "}", n->done, n->total);
}

static void put_gen(const struct trace_news *n, struct buf *out)
{
    buf_printf(out, "event: gen\ndata: {\"trace\":%" PRIu32 ",\"gen\":%" PRIu32 ",\"phase\":", n->k,
               n->gen);
    news_put_phase(n, out);
    buf_printf(out, ",\"to\":%" PRId64 "}\n\n", n->to);
}

static void put_gone(const struct trace_news *n, struct buf *out)
{
    buf_printf(out, "event: gone\ndata: {\"trace\":%" PRIu32 ",\"error\":", n->k);
    answer_put_text(out, n->error);
    buf_puts(out, "}\n\n");
}

void news_put(struct news_reader *r, struct traces *t, uint64_t start, struct buf *out)
{
    struct trace_news n;
    for (uint32_t k = 1; k <= TRACES_MAX && traces_news(t, k, &n); k++) {
        if (n.revision == r->seen[k - 1])
            continue;
        r->seen[k - 1] = n.revision;
        bool lost = n.gone || (n.gen == 0 && n.error[0]);
        if (lost && !r->gone[k - 1])
            put_gone(&n, out);
        else if (!lost)
            put_gen(&n, out);
        r->gone[k - 1] = lost;
    }
    if (start != r->start) {
        buf_puts(out, "event: start\ndata: {}\n\n");
        r->start = start;
    }
}

void news_put_heap(struct news_reader *r, uint64_t stamp, struct buf *out)
{
    if (stamp == r->heap)
        return;
    buf_puts(out, "event: heap\ndata: {}\n\n");
    r->heap = stamp;
}
