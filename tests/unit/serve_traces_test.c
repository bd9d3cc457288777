/* Open traces and what is reported of them, with a source that is moved by hand. */
#include "../patience.h"
#include "serve/news.h"
#include "serve/traces.h"

#include "base/clock.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct source {
    struct serve_source base;
    atomic_int reads, looks, closed, may_read, verdict; /* of look */
};

static struct source source;
static struct traces traces;
static atomic_int told;

static void on_change(void *ctx)
{
    (void)ctx;
    told++;
}

static int never(struct serve_source *s, uint32_t gen, const struct serve_progress *p,
                 struct view **out, struct err *err)
{
    struct source *mine = (struct source *)s;
    (void)gen;
    (void)out;
    p->step(p->ctx, "counting", 1, 4);
    while (!mine->may_read)
        patience_pause();
    mine->reads++;
    return err_set(err, -EIO, "x.otrace: chunk 12: not a chunk");
}

static int look(struct serve_source *s, struct err *err)
{
    struct source *mine = (struct source *)s;
    mine->looks++;
    return mine->verdict < 0 ? err_set(err, mine->verdict, "x.otrace: is gone") : mine->verdict;
}

static void close_source(struct serve_source *s)
{
    ((struct source *)s)->closed++;
}

static const struct serve_source_ops ops = {never, look, close_source};

static void begin(void)
{
    source = (struct source){.base = {.ops = &ops, .name = "x.otrace", .path = "/x.otrace"}};
    told = 0;
    cr_assert_eq(traces_init(&traces, on_change, NULL, NULL), 0);
}

static struct trace_news news_of(uint32_t k)
{
    struct trace_news n;
    cr_assert(traces_news(&traces, k, &n));
    return n;
}

static bool counts(void)
{
    return strcmp(news_of(1).phase, "counting") == 0;
}

static bool has_failed(void)
{
    return news_of(1).error[0] != 0;
}

static bool is_gone(void)
{
    return news_of(1).gone;
}

TestSuite(traces, .init = begin);

Test(traces, progress_is_told_before_there_is_a_generation)
{
    uint32_t k;
    struct trace_news n;
    cr_assert_eq(traces_add(&traces, &source.base, &k, NULL), 0);
    cr_assert_eq(k, 1);
    cr_assert_happens(counts());
    n = news_of(1);
    cr_assert(n.gen == 0 && n.done == 1 && n.total == 4 && n.reading);
    cr_assert_null(traces_take(&traces, 1, 0, &n));
    cr_assert_eq(n.k, 1);
    cr_assert_null(traces_take(&traces, 2, 0, &n));
    cr_assert_eq(n.k, 0);
    cr_assert_happens(told > 0); /* the news are there a moment before */
    source.may_read = 1;
    cr_assert_happens(has_failed());
    cr_assert_str_eq(news_of(1).error, "x.otrace: chunk 12: not a chunk");
    cr_assert_not(traces_fini(&traces));
    cr_assert_eq(source.closed, 1);
}

Test(traces, a_path_is_opened_once)
{
    uint32_t k, again;
    static struct source other;
    other = (struct source){.base = source.base};
    source.may_read = 1;
    cr_assert_eq(traces_add(&traces, &source.base, &k, NULL), 0);
    cr_assert_eq(traces_add(&traces, &other.base, &again, NULL), 0);
    cr_assert_eq(k, again);
    cr_assert_eq(other.closed, 1);
    cr_assert_happens(has_failed());
    traces_fini(&traces);
}

Test(traces, a_file_that_vanishes)
{
    uint32_t k;
    source.may_read = 1;
    source.verdict = -ENOENT;
    traces_add(&traces, &source.base, &k, NULL);
    cr_assert_happens(is_gone());
    cr_assert_str_eq(news_of(1).error, "x.otrace: is gone");
    cr_assert_eq(source.looks, 1);
    traces_fini(&traces);
}

Test(traces, the_end_waits_for_no_analysis)
{
    uint32_t k;
    traces_add(&traces, &source.base, &k, NULL);
    cr_assert_happens(counts());
    cr_assert(traces_fini(&traces));
    cr_assert_eq(source.closed, 0);
    source.may_read = 1;
}

Test(traces, news_are_told_once)
{
    uint32_t k;
    struct news_reader r = {.start = 5};
    struct buf out;
    buf_init(&out);
    traces_add(&traces, &source.base, &k, NULL);
    cr_assert_happens(counts());
    news_put(&r, &traces, 5, &out);
    cr_assert_str_eq(buf_str(&out),
                     "event: gen\ndata: {\"trace\":1,\"gen\":0,\"phase\":{\"text\":\"counting\","
                     "\"done\":1,\"total\":4},\"to\":0}\n\n");
    buf_clear(&out);
    news_put(&r, &traces, 5, &out);
    cr_assert_eq(out.len, 0);
    source.may_read = 1;
    cr_assert_happens(has_failed());
    news_put(&r, &traces, 6, &out);
    cr_assert_str_eq(
        buf_str(&out),
        "event: gone\ndata: {\"trace\":1,\"error\":\"x.otrace: chunk 12: not a chunk\"}"
        "\n\nevent: start\ndata: {}\n\n");
    buf_fini(&out);
    traces_fini(&traces);
}

Test(traces, news_of_a_heap_dump)
{
    struct news_reader r = {.start = 0};
    struct buf out;
    buf_init(&out);
    news_put_heap(&r, 0, &out);
    cr_assert_eq(out.len, 0);
    news_put_heap(&r, 3, &out);
    cr_assert_str_eq(buf_str(&out), "event: heap\ndata: {}\n\n");
    buf_clear(&out);
    news_put_heap(&r, 3, &out);
    cr_assert_eq(out.len, 0);
    buf_fini(&out);
}
