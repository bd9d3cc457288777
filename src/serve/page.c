#include "serve/page.h"

#include "base/embed.h"
#include "base/util.h"

EMBED(view_html);
EMBED(start_html);
EMBED(heap_html);

static void put_page(struct answer *a, const unsigned char *page, size_t n)
{
    a->kind = ANSWER_PAGE;
    a->own_policy = true;
    buf_put(&a->body, page, n);
}

void page_view(struct core *c, const struct route_hit *hit, struct answer *a)
{
    UNUSED(hit);
    if (!c->start && heaps_count(&c->heaps) > 0)
        put_page(a, embed_heap_html, EMBED_BYTES(heap_html));
    else
        put_page(a, embed_view_html, EMBED_BYTES(view_html));
}

void page_start(struct core *c, const struct route_hit *hit, struct answer *a)
{
    UNUSED(c);
    UNUSED(hit);
    put_page(a, embed_start_html, EMBED_BYTES(start_html));
}

void page_heap(struct core *c, const struct route_hit *hit, struct answer *a)
{
    UNUSED(c);
    UNUSED(hit);
    put_page(a, embed_heap_html, EMBED_BYTES(heap_html));
}
