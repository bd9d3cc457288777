#include "serve/page.h"

#include "base/embed.h"
#include "base/util.h"

#include <string.h>

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

void page_enter(struct core *c, const char *key, struct answer *a)
{
    static const char place[] = "<!--orca-key-->"; /* viewer/src/page.html */
    struct buf page;
    page_view(c, NULL, a);
    const char *text = buf_str(&a->body), *at = strstr(text, place);
    INVARIANT(at || a->body.oom);
    if (!at)
        return;
    buf_init(&page);
    buf_put(&page, text, (size_t)(at - text));
    buf_printf(&page, "<meta name=\"orca-key\" content=\"%s\">", key);
    buf_puts(&page, at + sizeof place - 1);
    buf_fini(&a->body);
    a->body = page;
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
