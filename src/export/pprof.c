/* pprof.c - a profile of waits for pprof and what reads its files: PREFIX.pb.gz
 * (docs/reference/export-formats.md).
 *
 * The format is profile.proto of github.com/google/pprof, compressed.  Its tables (strings,
 * functions, locations) may stand anywhere: each entry is written when a sample first needs it. */
#include "analyze/alloc_sums.h"
#include "analyze/sample_sums.h"
#include "base/utf8.h"
#include "base/util.h"
#include "export/model_names.h"
#include "export/proto.h"
#include "export/wait_sums.h"
#include "export/zip.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of fields in profile.proto. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE = 1,
    VALUE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_STRING = 2,
    MAPPING_ID = 1,
    MAPPING_FILE = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES = 8,
    MAPPING_HAS_LINES = 9,
    LOCATION_ID = 1,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
};

enum { FLUSH_AT = 128 * 1024, LEVEL = 6 };

/* Strings that are always there, by their place in the table; the first must be empty. */
#define STRINGS(S)                                                                                 \
    S(NONE, "")                                                                                    \
    S(CONTENTIONS, "contentions")                                                                  \
    S(DELAY, "delay")                                                                              \
    S(HOLDS, "holds")                                                                              \
    S(HOLD, "hold")                                                                                \
    S(COUNT, "count")                                                                              \
    S(NANOSECONDS, "nanoseconds")                                                                  \
    S(THREAD, "thread")                                                                            \
    S(LOCK_CLASS, "lock_class")                                                                    \
    S(STATE, "state")                                                                              \
    S(OWNER, "owner")                                                                              \
    S(WAKER, "waker")                                                                              \
    S(LAST_OWNER, "last_owner_seen")                                                               \
    S(HELD, "held")                                                                                \
    S(SAMPLES, "samples")                                                                          \
    S(CPU, "cpu")                                                                                  \
    S(WALL, "wall")                                                                                \
    S(ALLOC_OBJECTS, "alloc_objects")                                                              \
    S(ALLOC_SPACE, "alloc_space")                                                                  \
    S(KEPT_OBJECTS, "not_freed_objects")                                                           \
    S(KEPT_SPACE, "not_freed_space")                                                               \
    S(BYTES, "bytes")                                                                              \
    S(CLASS, "class")                                                                              \
    S(PEER, "peer")                                                                                \
    S(COMMENT, "orca export --to pprof")

enum {
#define S(id, text) STRING_##id,
    STRINGS(S)
#undef S
        STRING_STATES, /* and on: those of the states */
};

/* What a sample is of. */
struct key {
    uint32_t waiter, other, group, string_state;
    class_id class_; /* of allocations; 0: unknown */
    stack_id stack;
    unsigned why; /* enum sum_stack; of a sample NOT_SAMPLED + enum sample_error */
};

enum { NOT_SAMPLED = SUM_STACKS, WHYS = NOT_SAMPLED + SAMPLE_ERRORS };

/* Of a sample. */
enum { NO_STATE = 0 };

struct profile {
    struct model_export *x;
    const struct trace *t;
    struct buf raw, name; /* raw: not compressed yet */
    struct zip zip;
    bool has_holds;
    size_t n_values; /* of a sample */
    uint64_t n_strings, n_locations;
    uint64_t *thread_string; /* [threads.n], 0: not written yet */
    uint64_t *group_string;  /* [n_groups] */
    uint64_t *class_string;  /* [n_classes] */
    uint8_t *method_written; /* [n_methods] */
    struct map locations;    /* method, line -> id */
    uint64_t note_location[WHYS];
};

/* --- tables ----------------------------------------------------------------------------------- */

static uint64_t add_string(struct profile *p, const char *text)
{
    proto_text(&p->raw, PROFILE_STRING, text);
    return p->n_strings++;
}

/* What is in p->name, which is emptied. */
static uint64_t add_name(struct profile *p)
{
    uint64_t id = add_string(p, buf_str(&p->name));
    buf_clear(&p->name);
    return id;
}

static uint64_t thread_string(struct profile *p, uint32_t thread)
{
    uint64_t *known = &p->thread_string[thread];
    if (!*known) {
        names_thread(&p->name, p->x->a, thread);
        *known = add_name(p);
    }
    return *known;
}

static uint64_t group_string(struct profile *p, uint32_t group)
{
    uint64_t *known = &p->group_string[group];
    if (!*known) {
        names_class(&p->name, p->x->a, group);
        *known = add_name(p);
    }
    return *known;
}

static uint64_t class_string(struct profile *p, class_id class_)
{
    uint64_t *known = &p->class_string[class_.v];
    if (!*known) {
        names_class_id(&p->name, p->x->a, class_);
        *known = add_name(p);
    }
    return *known;
}

static void add_function(struct profile *p, uint64_t id, uint64_t name, uint64_t system_name,
                         uint64_t file)
{
    size_t at = proto_begin(&p->raw, PROFILE_FUNCTION);
    proto_uint(&p->raw, FUNCTION_ID, id);
    proto_uint(&p->raw, FUNCTION_NAME, name);
    proto_uint(&p->raw, FUNCTION_SYSTEM_NAME, system_name);
    proto_uint(&p->raw, FUNCTION_FILE, file);
    proto_end(&p->raw, at);
}

/* Ids of functions: 1 + the method's; behind those the notes that stand for a stack. */
static uint64_t method_function(struct profile *p, method_id method)
{
    const struct trace_method *m = trace_method(p->t, method);
    uint64_t id = 1 + (uint64_t)m->id.v;
    if (p->method_written[m->id.v])
        return id;
    p->method_written[m->id.v] = 1;
    names_method(&p->name, p->t, method);
    uint64_t name = add_name(p);
    utf8_put(&p->name, m->signature);
    uint64_t signature = add_name(p);
    utf8_put(&p->name, trace_method_source(p->t, method));
    add_function(p, id, name, signature, add_name(p));
    return id;
}

static uint64_t add_location(struct profile *p, uint64_t function, int32_t line)
{
    uint64_t id = ++p->n_locations;
    size_t at = proto_begin(&p->raw, PROFILE_LOCATION);
    proto_uint(&p->raw, LOCATION_ID, id);
    size_t inner = proto_begin(&p->raw, LOCATION_LINE);
    proto_uint(&p->raw, LINE_FUNCTION, function);
    if (line > 0)
        proto_uint(&p->raw, LINE_LINE, (uint64_t)line);
    proto_end(&p->raw, inner);
    proto_end(&p->raw, at);
    return id;
}

/* 0: memory is out. */
static uint64_t frame_location(struct profile *p, struct trace_frame f)
{
    int32_t line = trace_line(p->t, f);
    uint32_t method = trace_method(p->t, f.method)->id.v;
    uint64_t *known = map_put(&p->locations, (uint64_t)method << 32 | (uint32_t)line);
    if (!known)
        return 0;
    if (!*known)
        *known = add_location(p, method_function(p, f.method), line);
    return *known;
}

/* "[owner not asked]" where a stack should be. */
static uint64_t note_location(struct profile *p, unsigned why)
{
    const char *text = why < NOT_SAMPLED ? sum_stack_text((enum sum_stack)why)
                                         : sample_errors[why - NOT_SAMPLED].doc;
    uint64_t *known = &p->note_location[why];
    if (!*known) {
        uint64_t id = 1 + p->t->n_methods + why;
        buf_printf(&p->name, "[%s]", text);
        uint64_t name = add_name(p);
        add_function(p, id, name, name, STRING_NONE);
        *known = add_location(p, id, -1);
    }
    return *known;
}

/* --- samples ---------------------------------------------------------------------------------- */

/* Whether the stack is another thread's than who waited. */
static bool has_other(const struct profile *p, const struct key *k)
{
    enum model_by by = p->x->options.by;
    return k->string_state != STRING_HELD && (by == MODEL_BY_OWNER || by == MODEL_BY_WAKER);
}

/* The role of that thread; the last owner seen of a lock is not a `waker`. */
static uint32_t other_string(const struct profile *p, const struct key *k)
{
    if (p->x->options.by == MODEL_BY_OWNER)
        return STRING_OWNER;
    return k->why == STACK_LAST_OWNER_SEEN ? STRING_LAST_OWNER : STRING_WAKER;
}

/* The tables must not end up inside of the sample: make every entry that it needs beforehand. */
static int prepare(struct profile *p, const struct key *k)
{
    const struct trace_stack *s = trace_stack(p->t, k->stack);
    thread_string(p, k->waiter);
    group_string(p, k->group);
    if (k->class_.v)
        class_string(p, k->class_);
    if (has_other(p, k))
        thread_string(p, k->other);
    if (k->why != STACK_IS_THERE)
        note_location(p, k->why);
    else
        for (uint32_t i = 0; i < s->n_frames; i++)
            if (!frame_location(p, s->frames[i]))
                return -ENOMEM;
    return 0;
}

static void put_label(struct buf *b, uint64_t key, uint64_t text)
{
    size_t at = proto_begin(b, SAMPLE_LABEL);
    proto_uint(b, LABEL_KEY, key);
    proto_uint(b, LABEL_STRING, text);
    proto_end(b, at);
}

static void put_stack(struct profile *p, const struct key *k)
{
    const struct trace_stack *s = trace_stack(p->t, k->stack);
    size_t at = proto_begin(&p->raw, SAMPLE_LOCATION);
    if (k->why != STACK_IS_THERE)
        proto_varint(&p->raw, note_location(p, k->why));
    else
        for (uint32_t i = 0; i < s->n_frames; i++)
            proto_varint(&p->raw, frame_location(p, s->frames[i]));
    proto_end(&p->raw, at);
}

static void put_values(struct profile *p, const uint64_t values[4])
{
    size_t at = proto_begin(&p->raw, SAMPLE_VALUE);
    for (size_t i = 0; i < p->n_values; i++)
        proto_varint(&p->raw, values[i]);
    proto_end(&p->raw, at);
}

/* values: in the order of the sample types. */
static int put_sample(struct profile *p, const struct key *k, const uint64_t values[4])
{
    TRY(prepare(p, k));
    size_t at = proto_begin(&p->raw, PROFILE_SAMPLE);
    put_stack(p, k);
    put_values(p, values);
    put_label(&p->raw, STRING_THREAD, thread_string(p, k->waiter));
    if (k->group)
        put_label(&p->raw,
                  k->string_state >= STRING_STATES + WAITS_HALTED ? STRING_PEER : STRING_LOCK_CLASS,
                  group_string(p, k->group));
    if (k->class_.v)
        put_label(&p->raw, STRING_CLASS, class_string(p, k->class_));
    if (k->string_state != NO_STATE)
        put_label(&p->raw, STRING_STATE, k->string_state);
    if (has_other(p, k))
        put_label(&p->raw, other_string(p, k), thread_string(p, k->other));
    proto_end(&p->raw, at);
    p->x->written++;
    if (p->raw.len >= FLUSH_AT) {
        zip_write(&p->zip, &p->x->out, p->raw.p, p->raw.len);
        buf_clear(&p->raw);
    }
    return p->raw.oom || p->name.oom ? -ENOMEM : 0;
}

static int put_waits(struct profile *p)
{
    struct wait_sums sums;
    unsigned keys = SUMS_BY_WAITER | (p->x->options.by == MODEL_BY_WAITER ? 0 : SUMS_BY_OTHER);
    TRY(wait_sums_make(&sums, p->x, keys));
    int rc = 0;
    for (size_t i = 0; i < sums.n && rc == 0 && p->x->out.rc == 0; i++) {
        const struct wait_sum_key *k = &sums.v[i].key;
        const struct key key = {.waiter = k->waiter,
                                .other = k->other,
                                .group = k->group,
                                .string_state = STRING_STATES + k->state,
                                .stack = k->stack,
                                .why = k->why};
        const uint64_t values[4] = {sums.v[i].count, sums.v[i].ns};
        rc = put_sample(p, &key, values);
    }
    wait_sums_fini(&sums);
    return rc;
}

/* --- samples ---------------------------------------------------------------------------------- */

static int put_samples(struct profile *p)
{
    const struct model_options *o = &p->x->options;
    const struct sample_query q = {.selection = o->selection,
                                   .kind = model_by_kind(o->by),
                                   .owners = model_by_owners(o->by),
                                   .by_thread = true,
                                   .by_lock = true};
    struct sample_sums sums;
    TRY(sample_sums_make(&sums, p->x->a, &q));
    int rc = 0;
    for (size_t i = 0; i < sums.n && rc == 0 && p->x->out.rc == 0; i++) {
        const struct sample_sum_key *k = &sums.v[i].key;
        const struct key key = {.waiter = k->thread,
                                .group = lock_set_group(&p->x->a->locks, k->lock),
                                .string_state = NO_STATE,
                                .stack = k->stack,
                                .why = k->stack.v ? STACK_IS_THERE : NOT_SAMPLED + k->error};
        const uint64_t values[4] = {sums.v[i].count, sums.v[i].ns};
        rc = put_sample(p, &key, values);
    }
    sample_sums_fini(&sums);
    return rc;
}

/* --- allocations ------------------------------------------------------------------------------ */

static int put_allocs(struct profile *p)
{
    const struct alloc_query q = {.selection = p->x->options.selection, .by_thread = true};
    struct alloc_sums sums;
    TRY(alloc_sums_make(&sums, p->x->a, &q));
    int rc = 0;
    for (size_t i = 0; i < sums.n && rc == 0 && p->x->out.rc == 0; i++) {
        const struct alloc_sum_key *k = &sums.v[i].key;
        const struct alloc_amount *made = &sums.v[i].of[ALLOC_ALLOCATED];
        const struct alloc_amount *kept = &sums.v[i].of[ALLOC_KEPT];
        const struct key key = {.waiter = k->thread,
                                .string_state = NO_STATE,
                                .class_ = k->class_,
                                .stack = k->stack,
                                .why = k->stack.v ? STACK_IS_THERE : STACK_NOT_RECORDED};
        const uint64_t values[4] = {alloc_objects(made), made->bytes, alloc_objects(kept),
                                    kept->bytes};
        if (made->thousandths)
            rc = put_sample(p, &key, values);
    }
    alloc_sums_fini(&sums);
    return rc;
}

/* --- holds ------------------------------------------------------------------------------------ */

/* Holds of one thread, added up by context. */
struct hold_sum {
    uint64_t count, ns;
};

/* As the report counts them: shared holds of read locks are not among them. */
static void add_hold(const struct profile *p, struct hold_sum *sums, const struct span *h)
{
    const struct timeline *t = &p->x->a->timeline;
    uint64_t start = h->start, end = span_end(t, h);
    if (timeline_context(t, h->context)->mode == 2 ||
        !selection_clip(&p->x->options.selection, &start, &end))
        return;
    sums[h->context].count++;
    sums[h->context].ns += end - start;
}

static int put_hold(struct profile *p, uint32_t thread, uint32_t context, struct hold_sum *sum)
{
    const struct context *c = timeline_context(&p->x->a->timeline, context);
    struct key k = {.waiter = thread,
                    .group = lock_set_group(&p->x->a->locks, c->lock),
                    .string_state = STRING_HELD,
                    .stack = c->stack};
    const uint64_t values[4] = {0, 0, sum->count, sum->ns};
    k.why = trace_stack(p->t, c->stack)->n_frames ? STACK_IS_THERE : STACK_NOT_RECORDED;
    *sum = (struct hold_sum){0, 0};
    return put_sample(p, &k, values);
}

static int put_holds_of(struct profile *p, uint32_t thread, struct hold_sum *sums)
{
    const struct line *l = &p->x->a->timeline.lines[thread];
    int rc = 0;
    for (uint32_t i = 0; i < l->holds.n; i++)
        add_hold(p, sums, line_hold(l, i));
    for (uint32_t i = 0; i < l->holds.n && rc == 0 && p->x->out.rc == 0; i++) {
        uint32_t context = line_hold(l, i)->context;
        if (sums[context].count)
            rc = put_hold(p, thread, context, &sums[context]);
    }
    return rc;
}

static int put_holds(struct profile *p)
{
    const struct timeline *t = &p->x->a->timeline;
    struct hold_sum *sums = calloc(t->contexts.n, sizeof *sums);
    int rc = sums ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < t->n_lines && rc == 0; i++)
        if (selection_has(&p->x->options.selection, i))
            rc = put_holds_of(p, i, sums);
    free(sums);
    return rc;
}

/* --- the profile ------------------------------------------------------------------------------ */

static void put_type(struct profile *p, uint64_t type, uint64_t unit)
{
    size_t at = proto_begin(&p->raw, PROFILE_SAMPLE_TYPE);
    proto_uint(&p->raw, VALUE_TYPE, type);
    proto_uint(&p->raw, VALUE_UNIT, unit);
    proto_end(&p->raw, at);
}

/* pprof's name for the profiled file: the program, since no binary exists.  It keeps pprof from
 * looking for symbols. */
static void put_program(struct profile *p)
{
    struct buf command = {0};
    utf8_put(&command, trace_info(p->t, "sun.java.command", "Java"));
    buf_put(&p->name, buf_str(&command), strcspn(buf_str(&command), " "));
    buf_fini(&command);
    uint64_t name = add_name(p);
    size_t at = proto_begin(&p->raw, PROFILE_MAPPING);
    proto_uint(&p->raw, MAPPING_ID, 1);
    proto_uint(&p->raw, MAPPING_FILE, name);
    proto_uint(&p->raw, MAPPING_HAS_FUNCTIONS, 1);
    proto_uint(&p->raw, MAPPING_HAS_FILES, 1);
    proto_uint(&p->raw, MAPPING_HAS_LINES, 1);
    proto_end(&p->raw, at);
}

/* As Go's heap profiles have them; but "in use" is more than is known of what is not freed. */
static uint64_t put_alloc_types(struct profile *p)
{
    enum model_by by = p->x->options.by;
    bool objects = model_by_objects(by);
    put_type(p, STRING_ALLOC_OBJECTS, STRING_COUNT);
    put_type(p, STRING_ALLOC_SPACE, STRING_BYTES);
    p->n_values = 2;
    if (allocs_have_ends(&p->x->a->allocs)) {
        put_type(p, STRING_KEPT_OBJECTS, STRING_COUNT);
        put_type(p, STRING_KEPT_SPACE, STRING_BYTES);
        p->n_values = 4;
    }
    if (model_by_what(by) == ALLOC_KEPT)
        return objects ? STRING_KEPT_OBJECTS : STRING_KEPT_SPACE;
    return objects ? STRING_ALLOC_OBJECTS : STRING_ALLOC_SPACE;
}

/* What the values of each sample are; the one to be shown first. */
static uint64_t put_types(struct profile *p)
{
    enum model_by by = p->x->options.by;
    uint64_t time_type = STRING_DELAY;
    if (model_by_allocs(by))
        return put_alloc_types(p);
    if (model_by_samples(by))
        time_type = model_by_kind(by) == SAMPLE_CPU ? STRING_CPU : STRING_WALL;
    put_type(p, time_type == STRING_DELAY ? STRING_CONTENTIONS : STRING_SAMPLES, STRING_COUNT);
    put_type(p, time_type, STRING_NANOSECONDS);
    p->n_values = 2;
    if (p->has_holds) {
        put_type(p, STRING_HOLDS, STRING_COUNT);
        put_type(p, STRING_HOLD, STRING_NANOSECONDS);
        p->n_values = 4;
    }
    return time_type;
}

static void put_head(struct profile *p)
{
    static const char *const strings[] = {
#define S(id, text) text,
        STRINGS(S)
#undef S
    };
    const struct analysis *a = p->x->a;
    uint64_t from = max_u64(p->x->options.selection.from, a->window.from);
    uint64_t to = max_u64(min_u64(p->x->options.selection.to, a->window.to), from);
    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        add_string(p, strings[i]);
    for (size_t i = 0; i < WAITS_CHOICES; i++)
        add_string(p, waits_names[i]);
    put_program(p);
    uint64_t default_type = put_types(p);
    if (p->t->header.start_real) /* an imported text has no date */
        proto_uint(&p->raw, PROFILE_TIME_NANOS,
                   p->t->header.start_real + from - p->t->header.start_mono);
    proto_uint(&p->raw, PROFILE_DURATION_NANOS, to - from);
    proto_uint(&p->raw, PROFILE_COMMENT, STRING_COMMENT);
    proto_uint(&p->raw, PROFILE_DEFAULT_SAMPLE_TYPE, default_type);
}

static int put_all(struct profile *p)
{
    enum model_by by = p->x->options.by;
    put_head(p);
    TRY(model_by_allocs(by) ? put_allocs(p) : model_by_samples(by) ? put_samples(p) : put_waits(p));
    if (p->has_holds)
        TRY(put_holds(p));
    zip_write(&p->zip, &p->x->out, p->raw.p, p->raw.len);
    zip_finish(&p->zip, &p->x->out);
    return p->raw.oom || p->name.oom ? -ENOMEM : 0;
}

static int write_profile(struct model_export *x, struct err *err)
{
    const struct trace *t = x->a->trace;
    struct profile p = {.x = x, .t = t, .has_holds = x->a->timeline.n_holds > 0};
    p.has_holds &= model_by_waits(x->options.by);
    map_init(&p.locations);
    p.thread_string = calloc(x->a->threads.n + 1, sizeof *p.thread_string);
    p.group_string = calloc(x->a->locks.n_groups + 1, sizeof *p.group_string);
    p.class_string = calloc(t->n_classes + 1, sizeof *p.class_string);
    p.method_written = calloc(t->n_methods + 1, sizeof *p.method_written);
    int rc = zip_open(&p.zip, ZIP_GZIP, LEVEL);
    if (rc == 0) {
        if (p.thread_string && p.group_string && p.class_string && p.method_written)
            rc = put_all(&p);
        else
            rc = -ENOMEM;
        zip_close(&p.zip);
    }
    if (rc < 0)
        err_set(err, rc, "%s: out of memory", t->path);
    map_fini(&p.locations);
    buf_fini(&p.raw);
    buf_fini(&p.name);
    free(p.thread_string);
    free(p.group_string);
    free(p.class_string);
    free(p.method_written);
    return rc;
}

const struct model_exporter model_exporter_pprof = {
    .name = "pprof",
    .suffix = ".pb.gz",
    .things = "sample",
    .takes = MODEL_TAKES_STATES | MODEL_TAKES_BY,
    .states = WAITS_HELD_UP,
    .write = write_profile,
};
