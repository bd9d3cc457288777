/* codec_test.c - events and definitions survive their encoding, and no bytes crash the decoder. */
#include "format/codec.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static uint64_t rnd(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

/* A number with a random number of bits, so that short and long varints are both met. */
static uint64_t rnd_wide(uint64_t *s)
{
    uint64_t v = rnd(s);
    return v >> (rnd(s) % 64);
}

static void set_field(struct event *e, const struct field *f, uint64_t v)
{
    char *at = (char *)e + EVENT_HEAD + f->offset;
    uint32_t v32 = (uint32_t)v;
    if (f->type == FIELD_time)
        v = e->time - (v % (e->time + 1));
    if (f->type == FIELD_u64 || f->type == FIELD_i64 || f->type == FIELD_time)
        memcpy(at, &v, sizeof v);
    else
        memcpy(at, &v32, sizeof v32);
}

static struct event random_event(uint64_t *s, uint64_t time)
{
    struct event e = {.time = time};
    do
        e.kind = (uint16_t)(rnd(s) % EV_LIMIT);
    while (!event_kinds[e.kind].name);
    e.size = event_kinds[e.kind].size;
    e.thread.v = (uint32_t)(rnd(s) % 3 ? 7 : rnd_wide(s));
    const struct field *f = event_kinds[e.kind].fields();
    for (unsigned i = 0; i < event_kinds[e.kind].n_fields; i++)
        set_field(&e, &f[i], rnd_wide(s));
    return e;
}

Test(codec, every_event_survives)
{
    enum { N = 20000 };
    uint64_t s = 88172645463325252u, time = 1000;
    static struct event in[N];
    static uint8_t bytes[N * EVENT_ENCODED_MAX];
    struct codec w = {.time = time}, r = w;
    struct codec_schema schema;
    codec_schema_own(&schema);
    uint8_t *p = bytes;
    for (int i = 0; i < N; i++) {
        time += rnd_wide(&s) % 1000000;
        in[i] = random_event(&s, time);
        p = codec_put_event(&w, p, &in[i]);
    }
    const uint8_t *q = bytes;
    for (int i = 0; i < N; i++) {
        struct event e;
        memset(&e, 0, sizeof e);
        q = codec_get_event(&r, &schema, q, p, &e);
        cr_assert_not_null(q);
        cr_assert_eq(memcmp(&e, &in[i], in[i].size), 0, "event %d of kind %s", i,
                     event_kinds[in[i].kind].name);
    }
    cr_assert_eq(q, p);
}

Test(codec, a_cut_event_is_refused_at_every_byte)
{
    struct event e = {.kind = EV_monitor_contended_enter, .thread = {300}, .time = 1u << 30};
    e.monitor_contended_enter.lock.v = 100000;
    e.monitor_contended_enter.owner.v = 70000;
    e.monitor_contended_enter.stack.v = 3;
    uint8_t bytes[EVENT_ENCODED_MAX];
    struct codec c = {0};
    struct codec_schema schema;
    codec_schema_own(&schema);
    const uint8_t *end = codec_put_event(&c, bytes, &e);
    for (const uint8_t *cut = bytes; cut < end; cut++) {
        struct codec r = {0};
        struct event out;
        cr_assert_null(codec_get_event(&r, &schema, bytes, cut, &out));
    }
}

Test(codec, older_and_newer_schemas_are_read)
{
    struct event e = {.kind = EV_wait_exit, .thread = {1}, .time = 5}, out;
    e.wait_exit.lock.v = 9;
    e.wait_exit.timed_out = 1;
    uint8_t bytes[EVENT_ENCODED_MAX + 8];
    struct codec c = {0}, r = {0};
    struct codec_schema older, newer;
    codec_schema_own(&older);
    newer = older;
    uint8_t *end = codec_put_event(&c, bytes, &e);
    older.n_fields[EV_wait_exit] = 1;
    const uint8_t *q = codec_get_event(&r, &older, bytes, end, &out);
    cr_assert_eq(q, end - 1, "the older writer had no second field");
    cr_assert_eq(out.wait_exit.lock.v, 9);
    cr_assert_eq(out.wait_exit.timed_out, 0);
    newer.n_fields[EV_wait_exit] = 4;
    end = varint_put(varint_put(end, 77), 1u << 20);
    r = (struct codec){0};
    cr_assert_eq(codec_get_event(&r, &newer, bytes, end, &out), end, "two more fields are skipped");
    cr_assert_eq(out.wait_exit.timed_out, 1);
    uint8_t unknown[] = {63 | KIND_THREAD_BIT, 4, 1, 2, 3};
    newer.n_fields[63] = 2;
    r = (struct codec){0};
    cr_assert_eq(codec_get_event(&r, &newer, unknown, unknown + 5, &out), unknown + 5);
    cr_assert_eq(out.kind, 63);
    cr_assert_eq(out.thread.v, 4);
}

Test(codec, times_never_go_back)
{
    struct event a = {.kind = EV_gc_start, .time = 100}, b = {.kind = EV_gc_finish, .time = 90};
    uint8_t bytes[2 * EVENT_ENCODED_MAX];
    struct codec c = {0}, r = {0};
    struct codec_schema schema;
    codec_schema_own(&schema);
    uint8_t *end = codec_put_event(&c, codec_put_event(&c, bytes, &a), &b);
    struct event out;
    const uint8_t *q = codec_get_event(&r, &schema, bytes, end, &out);
    q = codec_get_event(&r, &schema, q, end, &out);
    cr_assert_eq(q, end);
    cr_assert_eq(out.time, 100);
}

Test(codec, definitions_survive)
{
    struct buf b = {0}, lines = {0}, frames = {0};
    packed_put_line(&lines, 0, 10, 0, 0);
    packed_put_line(&lines, 7, 8, 0, 10);
    packed_put_line(&lines, 70000, 65535, 7, 8);
    packed_put_frame(&frames, (method_id){1}, -1);
    packed_put_frame(&frames, (method_id){4000000000u}, 65535);
    struct def m = {.kind = DEF_method,
                    .method = {.id = {5},
                               .class_ = {6},
                               .name = {"run", 3},
                               .signature = {"()V", 3},
                               .flags = METHOD_NATIVE,
                               .lines = {lines.p, lines.len, 3}}};
    struct def s = {.kind = DEF_stack,
                    .stack = {.id = {9}, .flags = 1, .frames = {frames.p, frames.len, 2}}};
    struct def t = {
        .kind = DEF_thread,
        .thread = {.id = {1}, .java_tid = UINT64_MAX, .hash = UINT32_MAX, .name = {"a,b;c\n", 6}}};
    codec_put_def(&b, &m);
    codec_put_def(&b, &s);
    codec_put_def(&b, &t);
    const uint8_t *p = b.p, *end = b.p + b.len;
    struct def d;
    p = codec_get_def(p, end, &d);
    cr_assert(p && d.kind == DEF_method && d.method.id.v == 5 && d.method.lines.count == 3);
    struct packed_iter it = packed_begin(d.method.lines);
    uint32_t bci, line, want[3][2] = {{0, 10}, {7, 8}, {70000, 65535}};
    for (int i = 0; i < 3; i++) {
        cr_assert(packed_next_line(&it, &bci, &line));
        cr_assert(bci == want[i][0] && line == want[i][1], "line entry %d", i);
    }
    cr_assert_not(packed_next_line(&it, &bci, &line));
    p = codec_get_def(p, end, &d);
    cr_assert(p && d.kind == DEF_stack && d.stack.flags == 1);
    it = packed_begin(d.stack.frames);
    method_id method;
    int32_t at;
    cr_assert(packed_next_frame(&it, &method, &at) && method.v == 1 && at == -1);
    cr_assert(packed_next_frame(&it, &method, &at) && method.v == 4000000000u && at == 65535);
    p = codec_get_def(p, end, &d);
    cr_assert(p == end && d.thread.java_tid == UINT64_MAX && d.thread.hash == UINT32_MAX);
    cr_assert(d.thread.name.len == 6 && memcmp(d.thread.name.p, "a,b;c\n", 6) == 0);
    for (const uint8_t *cut = b.p + 1; cut < end;
         cut++) /* cut anywhere: refused, never read beyond */
        for (p = b.p; p && p < cut;)
            p = codec_get_def(p, cut, &d);
    buf_fini(&b);
    buf_fini(&lines);
    buf_fini(&frames);
}

Test(codec, overlong_varints_are_refused)
{
    uint8_t bytes[12];
    uint64_t v;
    memset(bytes, 0x80, sizeof bytes);
    cr_assert_null(varint_get(bytes, bytes + sizeof bytes, &v));
    uint8_t max[VARINT_MAX];
    cr_assert_eq(varint_put(max, UINT64_MAX), max + VARINT_MAX);
    cr_assert_eq(varint_get(max, max + VARINT_MAX, &v), max + VARINT_MAX);
    cr_assert_eq(v, UINT64_MAX);
}
