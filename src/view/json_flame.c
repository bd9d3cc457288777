/* json_flame.c - the answer `flame`: waited or sampled time, or what was allocated, as a tree of
 * frames.
 *
 *     sum of ns over the nodes = total_ns, sum of count = total_count
 *
 * Of allocations ns are bytes or objects, and the innermost frame is the class of the objects.
 *
 * Stacks come from the sums that collapsed and pprof are made of (export/wait_sums.h,
 * analyze/sample_sums.h). */
#include "analyze/alloc_sums.h"
#include "analyze/hot.h"
#include "analyze/labels.h"
#include "base/map.h"
#include "base/util.h"
#include "export/wait_sums.h"
#include "view/json_parts.h"

#include <stdlib.h>

/* Why the outermost frames of a stack are not there, beside the reasons for no stack. */
enum { WHY_CUT = SUM_STACKS, WHY_NOT_SAMPLED, WHY_LIMIT = WHY_NOT_SAMPLED + SAMPLE_ERRORS };

struct node {
    int32_t parent, frame; /* frame: index, or -1 - why */
    uint64_t ns, count;
};

struct frame {
    method_id method;
    int32_t line;
    uint8_t executed; /* enum executed; of waits: unknown */
    bool is_class;    /* what was allocated: */
    class_id class_;
};

struct flame {
    const struct trace *t;
    struct map places;        /* parent and frame -> 1 + index of a node */
    struct map frame_of;      /* method and line -> 1 + index of a frame */
    struct buf nodes, frames; /* struct node [], struct frame [] */
    int32_t why[WHY_LIMIT];   /* 1 + its number in the answer; 0: not met */
    int32_t n_why;
    uint64_t ns, count;
    struct hot_sum failed;  /* samples without a stack */
    uint64_t wanted, known; /* of owners: struct owned_lock */
    struct model_base base;
    uint64_t samples; /* that allocations are estimated from */
    bool oom;
};

static const char *why_text(int why)
{
    if (why >= WHY_NOT_SAMPLED)
        return sample_errors[why - WHY_NOT_SAMPLED].doc;
    return why == WHY_CUT ? "the outermost frames were cut off"
                          : sum_stack_text((enum sum_stack)why);
}

/* --- the tree --------------------------------------------------------------------------------- */

/* The entry of a key, made by appending when it is new; its index. */
static int32_t intern(struct flame *f, struct map *m, uint64_t key, struct buf *list, const void *v,
                      size_t size)
{
    uint64_t *place = map_put(m, key);
    if (!place || list->oom || list->len / size >= INT32_MAX) {
        f->oom = true;
        return 0;
    }
    if (!*place) {
        buf_put(list, v, size);
        *place = list->len / size;
    }
    return (int32_t)(*place - 1);
}

static int32_t child(struct flame *f, int32_t parent, int32_t frame)
{
    const struct node n = {.parent = parent, .frame = frame};
    uint64_t key = (uint64_t)(uint32_t)parent << 32 | (uint32_t)frame;
    return intern(f, &f->places, key, &f->nodes, &n, sizeof n);
}

enum { LINE_BITS = 28 };

static int32_t frame_of(struct flame *f, struct trace_frame at, enum executed executed)
{
    const struct frame x = {.method = trace_method(f->t, at.method)->id,
                            .line = trace_line(f->t, at),
                            .executed = (uint8_t)executed};
    uint64_t key = (uint64_t)x.method.v << 32 | (uint64_t)executed << LINE_BITS |
                   ((uint32_t)x.line & ((1u << LINE_BITS) - 1));
    return intern(f, &f->frame_of, key, &f->frames, &x, sizeof x);
}

static int32_t why_of(struct flame *f, int why)
{
    if (!f->why[why])
        f->why[why] = ++f->n_why;
    return -f->why[why];
}

/* The node of a stack's innermost frame; of samples by how they were executed, too. */
static int32_t stack_node(struct flame *f, stack_id id, bool sampled)
{
    const struct trace_stack *s = trace_stack(f->t, id);
    int32_t at = -1;
    if (s->flags & STACK_TRUNCATED)
        at = child(f, at, why_of(f, WHY_CUT));
    for (uint32_t i = s->n_frames; i-- > 0;) {
        uint8_t kind = sampled && s->kinds ? s->kinds[i] : FRAMEKIND_UNKNOWN;
        at = child(f, at, frame_of(f, s->frames[i], executed_of(kind)));
    }
    return at;
}

static void add_to_node(struct flame *f, int32_t at, uint64_t count, uint64_t ns)
{
    if (f->oom || f->nodes.oom || f->frames.oom)
        return;
    struct node *n = &((struct node *)(void *)f->nodes.p)[at];
    n->ns += ns;
    n->count += count;
    f->ns += ns;
    f->count += count;
}

static void add_wait(struct flame *f, const struct wait_sum *s)
{
    bool there = s->key.why == STACK_IS_THERE;
    int32_t at = there ? stack_node(f, s->key.stack, false) : child(f, -1, why_of(f, s->key.why));
    add_to_node(f, at, s->count, s->ns);
}

static void add_sample(struct flame *f, const struct sample_sum *s)
{
    bool there = sample_sum_has_stack(s);
    int32_t at = there ? stack_node(f, s->key.stack, true)
                       : child(f, -1, why_of(f, WHY_NOT_SAMPLED + (int)s->key.error));
    add_to_node(f, at, s->count, s->ns);
    f->failed.count += there ? 0 : s->count;
    f->failed.ns += there ? 0 : s->ns;
}

static int32_t class_frame(struct flame *f, class_id class_)
{
    const struct frame x = {.is_class = true, .class_ = class_};
    return intern(f, &f->frame_of, UINT64_MAX - class_.v, &f->frames, &x, sizeof x);
}

/* Objects are counted in thousandths until all are added. */
static void add_alloc(struct flame *f, const struct alloc_sum *s, enum model_by by)
{
    const struct alloc_amount *x = &s->of[model_by_what(by)];
    if (!x->thousandths && !x->bytes)
        return;
    int32_t at = s->key.stack.v ? stack_node(f, s->key.stack, false)
                                : child(f, -1, why_of(f, STACK_NOT_RECORDED));
    at = child(f, at, class_frame(f, s->key.class_));
    add_to_node(f, at, x->thousandths, model_by_objects(by) ? x->thousandths : x->bytes);
    f->samples += x->records;
}

static uint64_t whole(uint64_t thousandths)
{
    return (thousandths + 500) / 1000;
}

static void round_objects(struct flame *f, enum model_by by)
{
    struct node *n = (void *)f->nodes.p;
    for (size_t i = 0; i < f->nodes.len / sizeof *n; i++) {
        n[i].count = whole(n[i].count);
        n[i].ns = model_by_objects(by) ? whole(n[i].ns) : n[i].ns;
    }
    f->count = whole(f->count);
    f->ns = model_by_objects(by) ? whole(f->ns) : f->ns;
}

/* --- writing ---------------------------------------------------------------------------------- */

#define NODE(field)                                                                                \
    static int64_t node_##field(const void *of, uint32_t i)                                        \
    {                                                                                              \
        return (int64_t)((const struct node *)of)[i].field;                                        \
    }
NODE(parent)
NODE(frame)
NODE(ns)
NODE(count)
#undef NODE

/* A class has no method. */
static json_t *class_entry(const struct json_out *o, const struct frame *x)
{
    char name[LABEL_MAX];
    json_t *j = json_object();
    label_class(trace_class(o->r->trace, x->class_)->signature, name, sizeof name);
    json_set_text(j, "class", name);
    json_set_text(j, "method", "");
    json_set_text(j, "file", "");
    json_object_set_new(j, "line", json_null());
    json_set_bool(j, "jdk", false);
    return j;
}

static json_t *frame_entry(const struct json_out *o, const struct frame *x)
{
    const struct trace *t = o->r->trace;
    if (x->is_class)
        return class_entry(o, x);
    json_t *j = json_place(o->r, (struct place){.method = x->method, .line = x->line});
    if (json_is_null(j)) {
        j = json_object();
        json_set_text(j, "class", "?");
        json_set_text(j, "method", "?");
        json_set_text(j, "file", "");
        json_object_set_new(j, "line", json_null());
    }
    json_object_del(j, "signature");
    const struct trace_method *m = trace_method(t, x->method);
    json_set_bool(j, "jdk",
                  m->flags & (METHOD_NATIVE_CODE | METHOD_STUB) ||
                      sites_is_jdk(trace_class(t, m->class_)->signature));
    if (x->executed)
        json_set_count(j, "executed", x->executed);
    return j;
}

static void put_frames(struct json_out *o, const struct flame *f)
{
    const struct frame *x = (const void *)f->frames.p;
    json_begin_list(o, "frames");
    for (size_t i = 0; i < f->frames.len / sizeof *x; i++)
        json_entry(o, frame_entry(o, &x[i]));
    json_end_list(o);
}

static void put_whys(struct json_out *o, const struct flame *f)
{
    json_begin_list(o, "why");
    for (int32_t n = 1; n <= f->n_why; n++)
        for (int i = 0; i < WHY_LIMIT; i++)
            if (f->why[i] == n)
                json_entry(o, json_string(why_text(i)));
    json_end_list(o);
}

/* Of how much of the time in which locks were wanted the owner is known. */
static void put_wanted(struct json_out *o, const struct flame *f)
{
    json_key(o, "wanted_ns");
    put_number(o, (int64_t)f->wanted);
    json_key(o, "owner_known_ns");
    put_number(o, (int64_t)f->known);
}

/* Of how many waits it is not known what the owner executed; they are not in the graph. */
static void put_base(struct json_out *o, const struct model_base *b)
{
    json_key(o, "not_asked_ns");
    put_number(o, (int64_t)b->not_asked_ns);
    json_key(o, "not_asked_count");
    put_number(o, (int64_t)b->not_asked);
}

static const char *unit_of(enum model_by by)
{
    if (!model_by_allocs(by))
        return "ns";
    return model_by_objects(by) ? "objects" : "bytes";
}

static bool is_estimate(const struct ask *a)
{
    const struct allocs *s = &a->v->a->allocs;
    bool live = model_by_what((enum model_by)a->by) == ALLOC_KEPT;
    return (live ? allocs_ends_source(s) : allocs_source(s)) == ALLOC_SAMPLED;
}

static void write_flame(const struct ask *a, struct json_out *o, const struct flame *f)
{
    uint32_t n = (uint32_t)(f->nodes.len / sizeof(struct node));
    json_out(o, "{");
    json_key(o, "unit");
    put_text(o, unit_of((enum model_by)a->by));
    json_key(o, "by");
    put_text(o, model_by_names[a->by]);
    json_key(o, "total_ns");
    put_number(o, (int64_t)f->ns);
    json_key(o, "total_count");
    put_number(o, (int64_t)f->count);
    if (model_by_samples((enum model_by)a->by)) {
        json_key(o, "failed_ns");
        put_number(o, (int64_t)f->failed.ns);
        json_key(o, "failed_count");
        put_number(o, (int64_t)f->failed.count);
    }
    if (model_by_owners((enum model_by)a->by))
        put_wanted(o, f);
    if (a->by == MODEL_BY_OWNER)
        put_base(o, &f->base);
    if (model_by_allocs((enum model_by)a->by) && is_estimate(a)) {
        json_key(o, "samples");
        put_number(o, (int64_t)f->samples);
    }
    put_frames(o, f);
    put_numbers(o, "parent", f->nodes.p, node_parent, n);
    put_numbers(o, "frame", f->nodes.p, node_frame, n);
    put_numbers(o, "ns", f->nodes.p, node_ns, n);
    put_numbers(o, "count", f->nodes.p, node_count, n);
    put_whys(o, f);
    json_out(o, "\n}\n");
}

static int add_waits(struct flame *f, const struct ask *a)
{
    struct wait_sums sums;
    struct model_export x = {.a = a->v->a,
                             .options = {.selection = ask_selection(a),
                                         .states = a->states,
                                         .by = (enum model_by)a->by}};
    TRY(wait_sums_make(&sums, &x, 0));
    for (size_t i = 0; i < sums.n; i++)
        add_wait(f, &sums.v[i]);
    f->base = x.base;
    wait_sums_fini(&sums);
    return 0;
}

static int add_samples(struct flame *f, const struct ask *a)
{
    struct sample_sums sums;
    const struct sample_query q = {.selection = ask_selection(a),
                                   .kind = model_by_kind((enum model_by)a->by),
                                   .owners = model_by_owners((enum model_by)a->by)};
    TRY(sample_sums_make(&sums, a->v->a, &q));
    for (size_t i = 0; i < sums.n; i++)
        add_sample(f, &sums.v[i]);
    const struct owned_lock *l = (const void *)sums.locks.p;
    for (size_t i = 0; i < sums.locks.len / sizeof *l; i++) {
        f->wanted += l[i].waited;
        f->known += l[i].known;
    }
    sample_sums_fini(&sums);
    return 0;
}

static int add_allocs(struct flame *f, const struct ask *a)
{
    struct alloc_sums sums;
    const struct alloc_query q = {.selection = ask_selection(a)};
    TRY(alloc_sums_make(&sums, a->v->a, &q));
    for (size_t i = 0; i < sums.n; i++)
        add_alloc(f, &sums.v[i], (enum model_by)a->by);
    round_objects(f, (enum model_by)a->by);
    alloc_sums_fini(&sums);
    return 0;
}

static int add_all(struct flame *f, const struct ask *a)
{
    enum model_by by = (enum model_by)a->by;
    return model_by_allocs(by)    ? add_allocs(f, a)
           : model_by_samples(by) ? add_samples(f, a)
                                  : add_waits(f, a);
}

int answer_flame(struct ask *a, struct json_out *o, struct err *err)
{
    struct flame f = {.t = a->v->a->trace};
    map_init(&f.places);
    map_init(&f.frame_of);
    int rc = add_all(&f, a);
    bool oom = rc < 0 || f.oom || f.nodes.oom || f.frames.oom;
    if (!oom)
        write_flame(a, o, &f);
    map_fini(&f.places);
    map_fini(&f.frame_of);
    buf_fini(&f.nodes);
    buf_fini(&f.frames);
    return oom ? err_set(err, -ENOMEM, "out of memory") : 0;
}
