#include "view_read.h"
#include "conclude/resource.h"

#include <stdio.h>
#include <string.h>

/* --- a view of a simulated program ------------------------------------------------------------ */

static void begin(struct viewed *w, struct trace *trace)
{
    const struct view_about about = {.gen = 1, .name = "sim"};
    struct analysis *x;
    struct err err = {""};
    cr_assert_eq(conclude_run(&x, trace, &err), 0, "%s: %s", check_name, err.msg);
    cr_assert_eq(view_new(&w->v, x, &about, &err), 0, "%s: %s", check_name, err.msg);
    w->a = x;
}

void viewed_begin(struct viewed *w, const struct sim_shape *shape)
{
    snprintf(check_name, sizeof check_name, "seed %" PRIu64, shape->seed);
    w->owned = false;
    sim_run(&w->s, shape);
    begin(w, sim_trace(&w->s));
}

enum { RUNNERS = 8 };

/* Who runs reads something first, in a third of the relays. */
static uint64_t pass_on(struct sim *s, struct trace_builder *b, uint32_t passes, const char *what,
                        bool reads)
{
    const lock_id lock = builder_lock(b, builder_class(b, what));
    const lock_id peer = builder_lock(b, builder_class(b, "=10.0.0.7:5432"));
    const stack_id at = builder_stack(b, "shop.Relay.pass:88 shop.Main.main:12");
    uint64_t now = 100;
    uint32_t runner = 1;
    for (uint32_t i = 2; i <= RUNNERS; i++)
        ADD(b, i, (thread_id){i}, 1, park_enter, .lock = lock, .stack = at);
    for (; passes; passes--) {
        uint32_t next = 1 + (runner + (uint32_t)sim_below(s, RUNNERS - 1)) % RUNNERS;
        ADD(b, runner, (thread_id){runner}, now, unpark, .target = {next}, .stack = at);
        ADD(b, next, (thread_id){next}, now + 5, park_exit, .lock = lock);
        ADD(b, runner, (thread_id){runner}, now + 7, park_enter, .lock = lock, .stack = at);
        uint64_t rest = sim_below(s, 1000);
        if (reads)
            ADD(b, next, (thread_id){next}, now + 9 + rest, io, .what = IO_KIND_input, .peer = peer,
                .since = BUILDER_START + now + 6, .stack = at);
        runner = next;
        now += 10 + rest;
    }
    for (uint32_t i = 1; i <= RUNNERS; i++, now += 10) {
        if (i != runner) {
            ADD(b, runner, (thread_id){runner}, now, unpark, .target = {i}, .stack = at);
            ADD(b, i, (thread_id){i}, now + 1, park_exit, .lock = lock);
            ADD0(b, i, (thread_id){i}, now + 2, thread_end);
        }
    }
    ADD0(b, runner, (thread_id){runner}, now, thread_end);
    return now;
}

void viewed_relay(struct viewed *w, uint64_t seed, uint32_t passes)
{
    struct trace_builder b;
    snprintf(check_name, sizeof check_name, "relay %" PRIu64, seed);
    memset(&w->s, 0, sizeof w->s);
    w->s.random = seed + 88172645463325252u;
    w->s.n_ids = RUNNERS;
    w->owned = seed % 2 == 0;
    w->s.begin = BUILDER_START;
    builder_init(&b);
    for (int i = 1; i <= RUNNERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "runner-%d", i);
        builder_thread(&b, name);
    }
    uint64_t end = pass_on(&w->s, &b, passes,
                           w->owned ? "Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;"
                                    : "Lshop/Relay;",
                           seed % 3 == 0);
    w->s.end = w->s.begin + end;
    begin(w, builder_open(&b, end));
}

void viewed_end(struct viewed *w)
{
    view_free(w->v);
    if (sim_n_events(&w->s)) /* no relay */
        sim_fini(&w->s);
}

struct some_tile tile_at(const struct view *v, unsigned level, uint64_t time)
{
    struct some_tile t = {.level = level, .width = UINT64_C(1) << level};
    int64_t ns = (int64_t)(time - v->a->trace->header.start_mono);
    int64_t length = (int64_t)t.width * VIEW_BUCKETS;
    t.i = ns / length - (ns % length < 0);
    __int128 from = (__int128)v->a->trace->header.start_mono + (__int128)t.i * length;
    t.from = from < 0 ? 0 : (uint64_t)from;
    t.to = from + length < 0 ? 0 : (uint64_t)(from + length);
    return t;
}

struct some_tile viewed_tile(struct viewed *w)
{
    struct sim *s = &w->s;
    uint64_t length = s->end - s->begin + 1, time = s->begin + sim_below(s, length);
    unsigned most = 64 - (unsigned)__builtin_clzll(length | 1);
    unsigned level = (unsigned)sim_below(s, VIEW_LEVEL_MAX + 1);
    if (!sim_one_in(s, 8))
        level = (unsigned)sim_below(s, (most > 9 ? most - 9 : 0) + 2);
    if (sim_one_in(s, 16))
        time = sim_one_in(s, 2) ? s->begin - 1 : s->end + length;
    return tile_at(w->v, level, time);
}

/* --- answers ---------------------------------------------------------------------------------- */

struct reader {
    const uint8_t *p;
    size_t len, at;
};

static const void *column(struct reader *r, size_t bytes)
{
    for (; r->at % 8; r->at++)
        cr_assert(r->at < r->len && r->p[r->at] == 0, "%s: padding", check_name);
    cr_assert(bytes <= r->len && r->at <= r->len - bytes, "%s: the answer is too short",
              check_name);
    const void *p = r->p + r->at;
    r->at += bytes;
    return p;
}

#define COLUMN(r, n, to) ((to) = column(r, (n) * sizeof *(to)))

static void read_end(struct reader *r)
{
    column(r, 0);
    cr_assert_eq(r->at, r->len, "%s: bytes are left over", check_name);
}

static void read_thread_waits(struct reader *r, struct read_row *w)
{
    COLUMN(r, w->n, w->start);
    COLUMN(r, w->n, w->end);
    COLUMN(r, w->n, w->wake);
    COLUMN(r, w->n, w->index);
    COLUMN(r, w->n, w->context);
    COLUMN(r, w->n, w->waker);
    COLUMN(r, w->n, w->state);
    COLUMN(r, w->n, w->flags);
    COLUMN(r, w->n, w->how);
    COLUMN(r, w->m, w->from);
    COLUMN(r, w->m, w->to);
    COLUMN(r, w->m, w->peer);
    COLUMN(r, w->m, w->what);
}

static void read_lock_waits(struct reader *r, struct read_row *w)
{
    COLUMN(r, w->n, w->start);
    COLUMN(r, w->n, w->end);
    COLUMN(r, w->m, w->from);
    COLUMN(r, w->m, w->to);
    COLUMN(r, w->n, w->thread);
    COLUMN(r, w->n, w->index);
    COLUMN(r, w->m, w->owner);
    COLUMN(r, w->n, w->state);
    COLUMN(r, w->n, w->flags);
    COLUMN(r, w->m, w->sure);
}

static void read_row(struct reader *r, const uint32_t *head, struct read_row *w)
{
    *w = (struct read_row){.kind = head[0], .n = head[1], .m = head[2]};
    column(r, 0);
    cr_assert_eq(head[3], r->at, "%s: offset of a row", check_name);
    switch (w->kind) {
    case 0:
        read_thread_waits(r, w);
        break;
    case 2:
        read_lock_waits(r, w);
        break;
    case 1:
        cr_assert_eq(w->n, VIEW_BUCKETS);
        COLUMN(r, w->n, w->cells);
        break;
    case 3:
        cr_assert_eq(w->n, VIEW_BUCKETS);
        COLUMN(r, w->n, w->lock_cells);
        break;
    default:
        cr_assert_eq(w->kind, 4);
        cr_assert_eq(w->n + w->m, 0);
    }
}

static const uint32_t *head(struct reader *r, uint32_t magic, size_t words)
{
    const uint32_t *h = column(r, words * sizeof *h);
    cr_assert_eq(h[0], magic, "%s: magic", check_name);
    return h;
}

void read_tile(struct read_tile *out, const struct buf *answer)
{
    struct reader r = {answer->p, answer->len, 0};
    const uint32_t *h = head(&r, 0x314c544f, 2);
    out->n = h[1];
    cr_assert_leq(out->n, VIEW_ROWS_MAX);
    const uint32_t *rows = column(&r, 16 * (size_t)out->n);
    for (uint32_t i = 0; i < out->n; i++)
        read_row(&r, rows + (size_t)i * 4, &out->rows[i]);
    read_end(&r);
}

void read_arrows(struct read_arrows *out, const struct buf *answer)
{
    struct reader r = {answer->p, answer->len, 0};
    const uint32_t *h = head(&r, 0x3152414f, 4);
    *out = (struct read_arrows){.kind = h[1], .n = h[2], .left_out = h[3]};
    cr_assert_leq(out->n, VIEW_ARROWS_MAX);
    if (out->kind == 0) {
        COLUMN(&r, out->n, out->from_time);
        COLUMN(&r, out->n, out->to_time);
        COLUMN(&r, out->n, out->from);
        COLUMN(&r, out->n, out->to);
        COLUMN(&r, out->n, out->index);
    } else {
        cr_assert_eq(out->kind, 1);
        COLUMN(&r, out->n, out->wait_ns);
        COLUMN(&r, out->n, out->from);
        COLUMN(&r, out->n, out->to);
        COLUMN(&r, out->n, out->count);
        COLUMN(&r, out->n, out->slot);
    }
    COLUMN(&r, out->n, out->how);
    read_end(&r);
}

void read_path(struct read_path *out, const struct buf *answer)
{
    struct reader r = {answer->p, answer->len, 0};
    const uint32_t *h = head(&r, 0x3141504f, 4);
    *out = (struct read_path){.kind = h[1], .n = h[2]};
    cr_assert_eq(h[3], 0);
    if (out->kind == 0) {
        COLUMN(&r, out->n, out->from);
        COLUMN(&r, out->n, out->to);
        COLUMN(&r, out->n, out->thread);
        COLUMN(&r, out->n, out->lock);
        COLUMN(&r, out->n, out->stack);
        COLUMN(&r, out->n, out->kinds);
        COLUMN(&r, out->n, out->state);
    } else {
        cr_assert_eq(out->kind, 1);
        cr_assert_eq(out->n, VIEW_BUCKETS);
        COLUMN(&r, out->n, out->thread);
        COLUMN(&r, out->n, out->kinds);
        COLUMN(&r, out->n, out->share);
    }
    read_end(&r);
}
