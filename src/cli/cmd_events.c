/* cmd_events.c - one event a line: "seconds thread kind key=value ...", stable and greppable.
 *
 * Every kind is printed from its field table; what a field means is looked up by its type. */
#include "base/human.h"
#include "base/log.h"
#include "base/printable.h"
#include "cli/cmd.h"
#include "cli/input.h"
#include "format/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct events {
    const char *kinds, *thread;
    bool stacks;
    uint64_t limit;
};

static const struct opt opts[] = {
    {"kind", 'k', OPT_STR, offsetof(struct events, kinds), "KIND,...",
     "only these kinds, as docs/reference/trace-format.md names them (default: all)", NULL, 0, 0},
    {"thread", 't', OPT_STR, offsetof(struct events, thread), "NAME",
     "only threads whose name contains NAME (default: all)", NULL, 0, 0},
    {"stacks", 's', OPT_FLAG, offsetof(struct events, stacks), NULL,
     "the whole stack below each event, a frame a line (default: the innermost frame)", NULL, 0, 0},
    {"limit", 'n', OPT_UINT, offsetof(struct events, limit), "N",
     "stop after N events (default: all)", NULL, 0, 0},
};

/* --- selection -------------------------------------------------------------------------------- */

struct selection {
    bool kinds[EV_LIMIT];
    const char *thread;
};

static int select_kinds(struct selection *s, const char *list, struct err *err)
{
    if (!list) {
        memset(s->kinds, 1, sizeof s->kinds);
        return 0;
    }
    while (*list) {
        size_t n = strcspn(list, ",+");
        int kind = event_kind_find(list, n);
        if (kind < 0) {
            err_set(err, 0,
                    "--kind: no event kind is called '%.*s'; the names are in "
                    "docs/reference/trace-format.md",
                    (int)n, list);
            return CMD_USAGE;
        }
        s->kinds[kind] = true;
        list += n + (list[n] != 0);
    }
    return 0;
}

/* --- printing --------------------------------------------------------------------------------- */

/* The part of a line that depends on nothing but an id is made once and kept. */
struct texts {
    const char **of;
    size_t n;
};

struct printer {
    struct trace *t;
    struct arena arena;
    struct texts threads, locks, stacks;
    struct buf line;
    bool all_frames;
};

static int texts_init(struct texts *x, size_t n)
{
    x->of = calloc(n ? n : 1, sizeof *x->of);
    x->n = n;
    return x->of ? 0 : -ENOMEM;
}

static const char *keep(struct printer *p, struct buf *b)
{
    const char *s = arena_strndup(&p->arena, buf_str(b), b->len);
    buf_fini(b);
    return s ? s : "?";
}

static const char *thread_text(struct printer *p, uint32_t id)
{
    struct buf b = {0};
    if (id < p->threads.n && p->threads.of[id])
        return p->threads.of[id];
    const struct trace_thread *t = trace_thread(p->t, (thread_id){id});
    if (id == 0)
        buf_putc(&b, '?');
    else if (!t->id.v || !t->name[0])
        buf_printf(&b, "#%u", id); /* known by number only */
    else
        printable_word(&b, t->name);
    const char *s = keep(p, &b);
    if (id < p->threads.n)
        p->threads.of[id] = s;
    return s;
}

static const char *lock_text(struct printer *p, uint32_t id)
{
    struct buf b = {0};
    char name[1024];
    if (id < p->locks.n && p->locks.of[id])
        return p->locks.of[id];
    const struct trace_lock *l = trace_lock(p->t, (lock_id){id});
    trace_class_name(trace_class(p->t, l->class_)->signature, name, sizeof name);
    buf_puts(&b, id ? "" : "lock=?");
    if (trace_is_peer(trace_class(p->t, l->class_)->signature)) {
        buf_printf(&b, "peer=");
        printable_word(&b, name);
    } else if (id) {
        buf_printf(&b, "lock=%u class=", id);
        printable_word(&b, name);
        buf_printf(&b, " hash=%08X", l->hash);
    }
    const char *s = keep(p, &b);
    if (id < p->locks.n)
        p->locks.of[id] = s;
    return s;
}

static void put_frame(struct printer *p, struct buf *b, struct trace_frame f)
{
    char name[1024];
    const char *source = trace_method_source(p->t, f.method);
    trace_method_text(p->t, f.method, name, sizeof name);
    int32_t line = trace_line(p->t, f);
    printable_word(b, name);
    bool native = trace_frame_is_native(p->t, f);
    buf_puts(b, native ? "(native" : "(");
    if (!native)
        printable_word(b, *source ? source : "?");
    if (!native && line >= 0)
        buf_printf(b, ":%d", line);
    buf_putc(b, ')');
}

static const char *stack_text(struct printer *p, uint32_t id)
{
    struct buf b = {0};
    if (id < p->stacks.n && p->stacks.of[id])
        return p->stacks.of[id];
    const struct trace_stack *st = trace_stack(p->t, (stack_id){id});
    buf_printf(&b, "stack=%u depth=%u at=", id, st->n_frames);
    if (st->n_frames)
        put_frame(p, &b, st->frames[trace_site(p->t, st)]);
    else
        buf_putc(&b, '?');
    for (uint32_t i = 0; p->all_frames && i < st->n_frames; i++) {
        buf_puts(&b, "\n    at ");
        put_frame(p, &b, st->frames[i]);
    }
    if (p->all_frames && (st->flags & STACK_TRUNCATED))
        buf_puts(&b, "\n    ... deeper frames were cut off (depth=)");
    const char *s = keep(p, &b);
    if (id < p->stacks.n)
        p->stacks.of[id] = s;
    return s;
}

static void put_class(struct printer *p, uint32_t id)
{
    char name[1024] = "?";
    if (id)
        trace_class_name(trace_class(p->t, (class_id){id})->signature, name, sizeof name);
    buf_puts(&p->line, "class=");
    printable_word(&p->line, name);
}

/* "12.345678901": faster than printf of a double, which half of the time went to. */
static void put_seconds(struct buf *b, const struct trace *t, uint64_t time)
{
    int64_t ns = (int64_t)(time - t->header.start_mono);
    uint64_t abs = ns < 0 ? (uint64_t)-ns : (uint64_t)ns;
    char text[32], *p = text + sizeof text;
    for (int digits = 0; digits < 9 || abs; digits++) {
        if (digits == 9)
            *--p = '.';
        *--p = (char)('0' + abs % 10);
        abs /= 10;
        if (digits == 8 && !abs) {
            *--p = '.';
            *--p = '0';
        }
    }
    if (ns < 0)
        *--p = '-';
    buf_put(b, p, (size_t)(text + sizeof text - p));
}

static void put_signed(struct buf *b, int64_t v)
{
    if (v < 0)
        buf_putc(b, '-');
    buf_put_u64(b, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* Those whose text has a key, or several. */
static bool says_its_own_name(enum field_type type)
{
    return type == FIELD_lock || type == FIELD_stack || type == FIELD_class;
}

static void put_field(struct printer *p, const struct field *f, const struct event *e)
{
    struct buf *b = &p->line;
    /* Every event struct begins where the union does. */
    uint64_t v = field_get(f, (const char *)e + EVENT_HEAD);
    buf_putc(b, ' ');
    if (!says_its_own_name(f->type)) {
        buf_puts(b, f->name);
        buf_putc(b, '=');
    }
    switch (f->type) {
    case FIELD_lock:
        buf_puts(b, lock_text(p, (uint32_t)v));
        break;
    case FIELD_stack:
        buf_puts(b, stack_text(p, (uint32_t)v));
        break;
    case FIELD_class:
        put_class(p, (uint32_t)v);
        break;
    case FIELD_thread:
        buf_puts(b, thread_text(p, (uint32_t)v));
        break;
    case FIELD_module:
        printable_word(b, trace_module(p->t, (module_id){(uint32_t)v})->path);
        break;
    case FIELD_gc_name:
        printable_word(b, trace_gc_name(p->t, (gc_name_id){(uint32_t)v})->text);
        break;
    case FIELD_call:
        printable_word(b, trace_call(p->t, (call_id){(uint32_t)v})->name);
        break;
    case FIELD_time:
        put_seconds(b, p->t, v);
        break;
    case FIELD_i64:
        put_signed(b, (int64_t)v);
        break;
    case FIELD_cause:
        buf_puts(b, v < LOSS_LIMIT ? loss_causes[v].name : "?");
        break;
    case FIELD_kind:
        buf_puts(b, v == 0                                ? "none"
                    : v < EV_LIMIT && event_kinds[v].name ? event_kinds[v].name
                                                          : "?");
        break;
    default:
        buf_put_u64(b, v);
    }
}

static void put_event(struct printer *p, const struct event *e)
{
    const struct kind_info *k = &event_kinds[e->kind];
    buf_clear(&p->line);
    put_seconds(&p->line, p->t, e->time);
    buf_putc(&p->line, ' ');
    buf_puts(&p->line, thread_text(p, e->thread.v));
    buf_putc(&p->line, ' ');
    if (!k->name) {
        buf_printf(&p->line, "kind_%u\n", e->kind); /* of a newer Orca */
        return;
    }
    buf_puts(&p->line, k->name);
    const struct field *f = k->fields();
    for (unsigned i = 0; i < k->n_fields; i++)
        put_field(p, &f[i], e);
    buf_putc(&p->line, '\n');
}

static int print_all(struct printer *p, const struct selection *s, uint64_t limit, struct err *err)
{
    struct trace_iter *it;
    struct event e;
    uint64_t n = 0;
    int rc;
    TRY(trace_iter_open(&it, p->t, err));
    while ((rc = trace_iter_next(it, &e, NULL, err)) > 0) {
        if (!s->kinds[e.kind] ||
            (s->thread && !strstr(trace_thread(p->t, e.thread)->name, s->thread)))
            continue;
        put_event(p, &e);
        if (fwrite(p->line.p, 1, p->line.len, stdout) != p->line.len) {
            rc = errno == EPIPE ? 0 : err_set(err, -errno, "standard output: %s", strerror(errno));
            break;
        }
        if (limit && ++n == limit) {
            rc = 0;
            break;
        }
    }
    trace_iter_close(it);
    return rc;
}

static int run(int argc, char **argv, struct err *err)
{
    struct events o = {0};
    int n = cmd_parse(&cmd_events, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (n != 1) {
        err_set(err, 0, "name one trace");
        return CMD_USAGE;
    }
    struct selection s = {.thread = o.thread};
    int rc = select_kinds(&s, o.kinds, err);
    if (rc < 0)
        return rc;
    struct printer p = {.all_frames = o.stacks};
    TRY(input_open(&p.t, argv[1], err));
    arena_init(&p.arena, 0);
    if (texts_init(&p.threads, p.t->n_threads) < 0 || texts_init(&p.locks, p.t->n_locks) < 0 ||
        texts_init(&p.stacks, p.t->n_stacks) < 0)
        rc = err_set(err, -ENOMEM, "out of memory");
    static char out[1 << 16];
    setvbuf(stdout, out, _IOFBF, sizeof out);
    if (rc == 0)
        rc = print_all(&p, &s, o.limit, err);
    if (rc == 0 && fflush(stdout) != 0 && errno != EPIPE)
        rc = err_set(err, -errno, "standard output: %s", strerror(errno));
    if (rc == 0)
        rc = input_warn(p.t);
    free(p.threads.of);
    free(p.locks.of);
    free(p.stacks.of);
    buf_fini(&p.line);
    arena_fini(&p.arena);
    trace_close(p.t);
    return rc;
}

const struct cmd cmd_events = {
    .name = "events",
    .summary = "print a trace's events, one a line",
    .args = "FILE",
    .description =
        "Prints every event in order of time: seconds since the recording began, thread, "
        "kind, and the kind's fields as key=value. The format is stable, for grep and awk: a "
        "blank in a name is printed as an underscore, an unknown value as a question mark.",
    .examples = "orca events app.otrace | grep monitor_contended_enter  # who blocked, on what\n"
                "orca events -k wait_enter -s app.otrace  # every wait with its whole stack",
    .opts = OPT_TABLE(opts),
    .run = run,
};
