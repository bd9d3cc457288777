/* collapsed.c - folded stacks, the input of flame graphs: PREFIX.collapsed
 * (docs/reference/export-formats.md).
 *
 *     shop.Main.main;shop.Order.submit;[blocked on shop.Order] 1250
 *
 * Frames outermost first, the state and the lock's class as the innermost one, a weight.  Anything
 * but a method is in brackets.  Two stacks that read alike are one line. */
#include "analyze/alloc_sums.h"
#include "analyze/sample_sums.h"
#include "base/hash.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "base/util.h"
#include "export/model_names.h"
#include "export/wait_sums.h"

#include <inttypes.h>
#include <stdlib.h>

/* One line, before it is written. */
struct folded {
    struct hash128 text;
    uint64_t count; /* of allocations: thousandths of objects */
    uint64_t ns;    /* of allocations: bytes */
    uint32_t sum;   /* the first of the sums that read so */
};

/* Where a method's name stands in folder.texts, as a frame; len 0: it was not asked for yet. */
struct folded_name {
    size_t at, len;
};

/* Sums are of waits, of samples or of allocations, as was asked for. */
struct folder {
    struct model_export *x;
    struct wait_sums sums;
    struct sample_sums samples;
    struct alloc_sums allocs;
    struct folded *lines; /* one a sum, later [n] */
    size_t n;
    struct buf line, name;
    struct folded_name *methods; /* [n_methods]; most of a line is made of them, twice */
    struct buf texts;
};

/* --- one line --------------------------------------------------------------------------------- */

/* What would end a frame or a line for one tool or another; and the flame graph is shown. */
static bool is_break(uint32_t c)
{
    return c == ';' || printable_is_harmful(c);
}

/* The name as a frame. */
static void put_name(struct folder *f)
{
    const char *at = buf_str(&f->name);
    while (*at) {
        const char *from = at;
        if (is_break(utf8_next(&at)))
            buf_putc(&f->line, '_');
        else
            buf_put(&f->line, from, (size_t)(at - from));
    }
    buf_clear(&f->name);
}

static void put_method(struct folder *f, const struct trace *t, method_id method)
{
    struct folded_name *known = &f->methods[trace_method(t, method)->id.v];
    size_t from = f->line.len;
    if (known->len) {
        buf_put(&f->line, f->texts.p + known->at, known->len);
        return;
    }
    names_method(&f->name, t, method);
    put_name(f);
    *known = (struct folded_name){f->texts.len, f->line.len - from};
    buf_put(&f->texts, f->line.p + from, known->len);
    if (f->texts.oom)
        known->len = 0;
}

static void put_note(struct folder *f, const char *text)
{
    buf_printf(&f->line, "[%s];", text);
}

/* As flamegraph.pl and others know them. */
static void put_kind(struct folder *f, uint8_t kind)
{
    static const char *const suffixes[EXECUTED_LIMIT] = {
        [EXECUTED_INTERPRETED] = "_[0]", [EXECUTED_C1] = "_[1]",     [EXECUTED_C2] = "_[j]",
        [EXECUTED_INLINED] = "_[i]",     [EXECUTED_KERNEL] = "_[k]",
    };
    const char *suffix = suffixes[executed_of(kind)];
    buf_puts(&f->line, suffix ? suffix : "");
}

static void put_frames(struct folder *f, const struct trace *t, stack_id id)
{
    const struct trace_stack *s = trace_stack(t, id);
    if (s->flags & STACK_TRUNCATED)
        put_note(f, "cut off");
    for (uint32_t i = s->n_frames; i-- > 0;) {
        int32_t line = f->x->options.lines ? trace_line(t, s->frames[i]) : -1;
        put_method(f, t, s->frames[i].method);
        if (line >= 0)
            buf_printf(&f->line, ":%" PRId32, line);
        if (f->x->options.kinds && s->kinds)
            put_kind(f, s->kinds[i]);
        buf_putc(&f->line, ';');
    }
}

static void put_thread(struct folder *f, uint32_t thread)
{
    if (!f->x->options.threads)
        return;
    names_thread(&f->name, f->x->a, thread);
    put_name(f);
    buf_putc(&f->line, ';');
}

static void make_wait_line(struct folder *f, const struct wait_sum_key *k)
{
    const struct analysis *a = f->x->a;
    put_thread(f, k->other);
    if (k->why == STACK_IS_THERE)
        put_frames(f, a->trace, k->stack);
    else
        put_note(f, sum_stack_text(k->why));
    buf_putc(&f->line, '[');
    if (k->state >= WAITS_HALTED)
        names_halt(&f->name, a, k->what, k->group);
    else
        names_wait(&f->name, a, k->state, k->group);
    put_name(f);
    buf_putc(&f->line, ']');
}

/* Of a sample without a stack, why; of an owner's, the class of what it owned as the innermost
 * frame. */
static void make_sample_line(struct folder *f, const struct sample_sum *s)
{
    const struct analysis *a = f->x->a;
    put_thread(f, s->key.thread);
    if (sample_sum_has_stack(s))
        put_frames(f, a->trace, s->key.stack);
    else
        put_note(f, sample_errors[s->key.error].doc);
    if (s->key.lock.v) {
        buf_puts(&f->line, "[owning ");
        names_class(&f->name, a, lock_set_group(&a->locks, s->key.lock));
        put_name(f);
        buf_puts(&f->line, "];");
    }
    f->line.len -= f->line.len > 0; /* the last ';' */
}

/* The class of the objects as the innermost frame. */
static void make_alloc_line(struct folder *f, const struct alloc_sum *s)
{
    const struct analysis *a = f->x->a;
    put_thread(f, s->key.thread);
    if (s->key.stack.v)
        put_frames(f, a->trace, s->key.stack);
    else
        put_note(f, sum_stack_text(STACK_NOT_RECORDED));
    buf_puts(&f->line,
             model_by_what(f->x->options.by) == ALLOC_KEPT ? "[not freed " : "[allocated ");
    names_class_id(&f->name, a, s->key.class_);
    put_name(f);
    buf_putc(&f->line, ']');
}

static bool is_of_samples(const struct folder *f)
{
    return model_by_samples(f->x->options.by);
}

static bool is_of_allocs(const struct folder *f)
{
    return model_by_allocs(f->x->options.by);
}

static void make_line(struct folder *f, uint32_t sum)
{
    buf_clear(&f->line);
    if (is_of_samples(f))
        make_sample_line(f, &f->samples.v[sum]);
    else if (is_of_allocs(f))
        make_alloc_line(f, &f->allocs.v[sum]);
    else
        make_wait_line(f, &f->sums.v[sum].key);
}

/* --- all of them ------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b)
{
    const struct folded *x = a, *y = b;
    if (x->text.hi != y->text.hi)
        return x->text.hi < y->text.hi ? -1 : 1;
    if (x->text.lo != y->text.lo)
        return x->text.lo < y->text.lo ? -1 : 1;
    return (x->sum > y->sum) - (x->sum < y->sum);
}

static int by_time(const void *a, const void *b)
{
    const struct folded *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return (x->sum > y->sum) - (x->sum < y->sum);
}

static int by_count(const void *a, const void *b)
{
    const struct folded *x = a, *y = b;
    return x->count != y->count ? x->count < y->count ? 1 : -1 : by_time(a, b);
}

/* Join the lines that read alike, which stand behind each other. */
static void join(struct folder *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        struct folded *last = n ? &f->lines[n - 1] : NULL;
        const struct folded *l = &f->lines[i];
        if (last && last->text.hi == l->text.hi && last->text.lo == l->text.lo) {
            last->count += l->count;
            last->ns += l->ns;
        } else {
            f->lines[n++] = *l;
        }
    }
    f->n = n;
}

static size_t count_sums(const struct folder *f)
{
    if (is_of_samples(f))
        return f->samples.n;
    return is_of_allocs(f) ? f->allocs.n : f->sums.n;
}

/* The amounts of a sum. */
static void weigh(const struct folder *f, size_t i, struct folded *l)
{
    if (is_of_samples(f)) {
        l->count = f->samples.v[i].count;
        l->ns = f->samples.v[i].ns;
    } else if (is_of_allocs(f)) {
        const struct alloc_amount *x = &f->allocs.v[i].of[model_by_what(f->x->options.by)];
        l->count = x->thousandths;
        l->ns = x->bytes;
    } else {
        l->count = f->sums.v[i].count;
        l->ns = f->sums.v[i].ns;
    }
}

static bool orders_by_count(const struct model_options *o)
{
    return model_by_allocs(o->by) ? model_by_objects(o->by) : o->unit == MODEL_COUNT;
}

static int fold(struct folder *f)
{
    f->n = count_sums(f);
    f->lines = calloc(f->n + 1, sizeof *f->lines);
    if (!f->lines)
        return -ENOMEM;
    for (size_t i = 0; i < f->n; i++) {
        make_line(f, (uint32_t)i);
        f->lines[i] =
            (struct folded){.text = hash_bytes128(f->line.p, f->line.len), .sum = (uint32_t)i};
        weigh(f, i, &f->lines[i]);
    }
    qsort(f->lines, f->n, sizeof *f->lines, by_text);
    join(f);
    qsort(f->lines, f->n, sizeof *f->lines, orders_by_count(&f->x->options) ? by_count : by_time);
    return f->line.oom || f->name.oom ? -ENOMEM : 0;
}

static uint64_t weight(const struct folded *l, const struct model_options *o)
{
    static const uint64_t ns[] = {[MODEL_NS] = 1, [MODEL_US] = 1000, [MODEL_MS] = 1000000};
    enum model_unit unit = o->unit;
    if (model_by_allocs(o->by))
        return model_by_objects(o->by) ? (l->count + 500) / 1000 : l->ns;
    return unit == MODEL_COUNT ? l->count : l->ns / ns[unit] + (l->ns % ns[unit] * 2 >= ns[unit]);
}

static void write_lines(struct folder *f)
{
    struct model_export *x = f->x;
    for (size_t i = 0; i < f->n && x->out.rc == 0; i++) {
        uint64_t w = weight(&f->lines[i], &x->options);
        if (w == 0) {
            x->left_out += !is_of_allocs(f);
            continue;
        }
        make_line(f, f->lines[i].sum);
        out_bytes(&x->out, f->line.p, f->line.len);
        out_char(&x->out, ' ');
        out_decimal(&x->out, w);
        out_newline(&x->out);
        x->written++;
    }
}

static int make_sums(struct folder *f)
{
    const struct model_options *o = &f->x->options;
    const struct alloc_query allocs = {.selection = o->selection, .by_thread = o->threads};
    if (is_of_allocs(f))
        return alloc_sums_make(&f->allocs, f->x->a, &allocs);
    if (!is_of_samples(f))
        return wait_sums_make(&f->sums, f->x, o->threads ? SUMS_BY_OTHER : 0);
    const struct sample_query q = {.selection = o->selection,
                                   .kind = model_by_kind(o->by),
                                   .owners = model_by_owners(o->by),
                                   .by_thread = o->threads,
                                   .by_lock = true};
    return sample_sums_make(&f->samples, f->x->a, &q);
}

static int write_stacks(struct model_export *x, struct err *err)
{
    struct folder f = {.x = x};
    f.methods = calloc(x->a->trace->n_methods + 1, sizeof *f.methods);
    int rc = f.methods ? make_sums(&f) : -ENOMEM;
    if (rc == 0)
        rc = fold(&f);
    if (rc == 0)
        write_lines(&f);
    if (rc < 0 || f.line.oom || f.name.oom || f.texts.oom)
        rc = err_set(err, -ENOMEM, "%s: out of memory", x->a->trace->path);
    free(f.lines);
    buf_fini(&f.line);
    buf_fini(&f.name);
    buf_fini(&f.texts);
    free(f.methods);
    wait_sums_fini(&f.sums);
    sample_sums_fini(&f.samples);
    alloc_sums_fini(&f.allocs);
    return rc;
}

const struct model_exporter model_exporter_collapsed = {
    .name = "collapsed",
    .suffix = ".collapsed",
    .things = "stack",
    .leaves_out = "too short for --unit, or of unknown length",
    .takes = MODEL_TAKES_STATES | MODEL_TAKES_BY | MODEL_TAKES_UNIT | MODEL_TAKES_THREADS |
             MODEL_TAKES_LINES | MODEL_TAKES_KINDS,
    .is_text = true,
    .states = WAITS_HELD_UP,
    .write = write_stacks,
};
