/* Virtual threads that block while they are pinned: the carrier waits with them, and other virtual
 * threads that could run wait for a carrier.  Also virtual threads that wait for a carrier because
 * the threads on the carriers compute.
 *
 * The trace has the parks that kept their carrier (pins.h).  Up to JDK 23, contended monitors and
 * Object.wait always keep it.  From 24 on they keep it, like parks of an older recording, where
 * their stack has a native method or a static initialiser. */
#include "base/human.h"
#include "base/util.h"
#include "conclude/resource_names.h"
#include "conclude/rules_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PINS_MAX = 256,                /* places that pin */
    PINNED_PERMILLE = 20,          /* of the recording, in pinned waits, */
    PINNED_PROBLEM_PERMILLE = 500, /* or half a carrier all the time: a problem */
    NONE_FREE_NS = 1000000000,     /* at the end no carrier is free for this time */
    CARRIER_LEAST_NS = 1000000,    /* in a shorter wait a carrier only had to wake */
    MONITORS_PIN_FROM = 21,
    MONITORS_PIN_UNTIL = 23,
};

/* Thresholds for threads that had no carrier although no thread is pinned. */
enum {
    READY_LEAST_NS = 100000000,
    READY_THREADS_PERMILLE = 500, /* of a thread on average, */
    READY_PERMILLE = 100, /* of the time ready or on a carrier, and of that with all waits; */
    READY_PROBLEM_PERMILLE = 500, /* a problem from here on */
    USERS_MAX = 64,               /* pools on carriers */
    JDKS_LOOKS = 8,               /* waits that are looked at to know a thread of the JDK's own */
};

/* A thread with turns of this length on a carrier, on average, computes; others have many short
 * ones. */
#define LONG_TURN_NS UINT64_C(10000000)

enum how {
    PINS_NOT,
    PINS_NATIVE,
    PINS_INIT,
    PINS_MONITOR,
    PINS_BY_WAITING,
    PINS_BEFORE, /* a monitor that was entered further out: the JVM did not tell where */
    PINS_UNKNOWN
};

/* By the place that pins. */
struct pinned {
    struct place at;
    enum how how;
    uint64_t ns, count, max, from, to; /* from, to: of all of them */
    uint32_t threads, last;            /* last: the thread that was counted last */
    stack_id stack;                    /* of the longest */
    lock_id lock;                      /* that pins, of one of them */
    struct buf when;                   /* struct stretch [] */
    bool keeps;                        /* a carrier until the end, when none is free */
};

struct stretch {
    uint64_t from, to;
    uint32_t thread;
};

struct maker {
    struct evidence *ev;
    const struct analysis *a;
    struct pinned v[PINS_MAX];
    uint32_t n;
    uint16_t *of_stack;      /* [n_stacks]: 1 + index of what pins there */
    bool told, monitors_pin; /* known: parks that kept their carrier are recorded */
    struct buf ready;        /* struct stretch [] */
};

/* The innermost frame that pins, below the frames of the wait itself.  The JDK's own entry into the
 * thread does not pin.  frame: as in the event. */
static struct pinned find_pin(const struct trace *t, stack_id stack, uint32_t frame)
{
    const struct trace_stack *s = trace_stack(t, stack);
    for (uint32_t i = trace_site(t, s); i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        const struct place at = sites_frame(t, s, i);
        if (strcmp(trace_class(t, m->class_)->signature, "Ljdk/internal/vm/Continuation;") == 0)
            break;
        if (trace_method_is_java(m) && m->flags & METHOD_NATIVE && i)
            return (struct pinned){.at = at, .how = PINS_NATIVE};
        if (strcmp(m->name, "<clinit>") == 0)
            return (struct pinned){.at = at, .how = PINS_INIT};
        if (i + 1 == frame || (frame == PINNED_FRAME_UNKNOWN && trace_method_is_java(m) &&
                               m->flags & METHOD_SYNCHRONIZED))
            return (struct pinned){.at = at, .how = PINS_MONITOR};
    }
    return (struct pinned){.how = PINS_NOT};
}

/* 1 + its index; 0: there are too many. */
static uint16_t known(struct maker *m, const struct pinned *x)
{
    uint32_t i = 0;
    while (i < m->n && (m->v[i].at.method.v != x->at.method.v || m->v[i].at.line != x->at.line ||
                        m->v[i].how != x->how))
        i++;
    if (i == PINS_MAX || x->how == PINS_NOT)
        return 0;
    if (i == m->n)
        m->v[m->n++] = *x;
    return (uint16_t)(i + 1);
}

static uint16_t of_place(struct maker *m, stack_id stack, enum how how)
{
    struct pinned x = {.how = how};
    sites_name(m->a->trace, stack, &x.at, &(struct place){.line = 0});
    return known(m, &x);
}

static uint16_t of_pin(struct maker *m, const struct pin *p)
{
    struct pinned x = find_pin(m->a->trace, p->stack, p->frame);
    enum how else_ = p->frame == PINNED_FRAME_UNKNOWN ? PINS_BEFORE : PINS_UNKNOWN;
    uint16_t i = x.how == PINS_NOT ? of_place(m, p->stack, else_) : known(m, &x);
    if (i && p->lock.v)
        m->v[i - 1].lock = p->lock;
    return i;
}

/* The pin of a thread's wait, as 1 + its index; 0: none. */
static uint16_t pin_of(struct maker *m, uint32_t thread, const struct span *s)
{
    const struct timeline *tl = &m->a->timeline;
    const struct context *x = timeline_context(tl, s->context);
    bool monitor =
        x->what == STATE_BLOCKED || x->what == STATE_WAITING || x->what == STATE_REACQUIRING;
    uint16_t *at = &m->of_stack[x->stack.v < m->a->trace->n_stacks ? x->stack.v : 0];
    const struct pin *p = pins_find(&m->a->decoded.pins, thread, s->start, span_end(tl, s));
    if (x->what == STATE_UNKNOWN)
        return 0;
    if (p && !monitor)
        return *at = of_pin(m, p);
    if (monitor && m->monitors_pin)
        return of_place(m, x->stack, PINS_BY_WAITING);
    if (!monitor && m->told)
        return span_is_summed(tl, s) ? *at : 0;
    struct pinned found = find_pin(m->a->trace, x->stack, 0);
    return known(m, &found);
}

static void add_span(struct maker *m, struct pinned *p, uint32_t thread, const struct span *s)
{
    const struct timeline *t = &m->a->timeline;
    const struct stretch when = {s->start, span_end(t, s), thread};
    p->ns += span_len(t, s);
    p->count += span_count(t, s);
    p->threads += p->last != thread;
    p->last = thread;
    p->from = p->from ? min_u64(p->from, when.from) : when.from;
    p->to = max_u64(p->to, when.to);
    buf_put(&p->when, &when, sizeof when);
    if (span_longest(t, s) < p->max)
        return;
    p->max = span_longest(t, s);
    p->stack = timeline_context(t, s->context)->stack;
}

static void add_ready(struct maker *m, uint32_t thread, uint64_t from, uint64_t to)
{
    if (from < to && to - from >= CARRIER_LEAST_NS)
        buf_put(&m->ready, &(struct stretch){from, to, thread}, sizeof(struct stretch));
}

static void add_line(struct maker *m, uint32_t thread)
{
    const struct timeline *tl = &m->a->timeline;
    const struct thread_stats *st = &m->a->threads.v[thread];
    const struct run *r = &tl->lines[thread].spans;
    for (uint32_t i = 0, n; i < r->n; i += n) {
        const struct span *s = run_stretch(r, sizeof *s, i, &n);
        for (uint32_t k = 0; k < n; k++) {
            uint16_t pin = pin_of(m, thread, &s[k]);
            if (pin)
                add_span(m, &m->v[pin - 1], thread, &s[k]);
            else
                add_ready(m, thread,
                          pins_ready_since(&m->a->decoded.pins, tl, &m->a->threads, thread, &s[k]),
                          span_end(tl, &s[k]));
        }
    }
    if (st->called) /* group virtual */
        add_ready(m, thread, st->called, st->has_started ? st->started : m->a->window.to);
}

/* --- who waited for a carrier in that time ---------------------------------------------------- */

static int by_from(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Sorts stretches by time and joins those that overlap. */
static size_t merge(struct buf *b)
{
    struct stretch *v = (void *)b->p;
    size_t n = b->len / sizeof *v, k = 0;
    if (n)
        qsort(v, n, sizeof *v, by_from);
    for (size_t i = 1; i < n; i++)
        if (v[i].from <= v[k].to)
            v[k].to = max_u64(v[k].to, v[i].to);
        else
            v[++k] = v[i];
    return n ? k + 1 : 0;
}

static uint64_t common(const struct stretch *v, size_t n, const struct stretch *x)
{
    size_t i = 0;
    uint64_t ns = 0;
    BISECT(i, n, v[i].to <= x->from);
    for (; i < n && v[i].from < x->to; i++)
        ns += min_u64(v[i].to, x->to) - max_u64(v[i].from, x->from);
    return ns;
}

struct behind {
    uint64_t ns;
    uint32_t threads;
};

/* m->ready is by thread. */
static struct behind who_waits(const struct maker *m, struct pinned *p)
{
    const struct stretch *v = (const void *)m->ready.p;
    size_t n = merge(&p->when);
    struct behind b = {0, 0};
    uint32_t last = 0;
    for (size_t i = 0; i < m->ready.len / sizeof *v; i++) {
        uint64_t ns = common((const void *)p->when.p, n, &v[i]);
        b.ns += ns;
        b.threads += ns && v[i].thread != last;
        last = ns ? v[i].thread : last;
    }
    return b;
}

/* --- the text --------------------------------------------------------------------------------- */

static const char *const how_words[] = {[PINS_NATIVE] = "",
                                        [PINS_INIT] = ", a static initialiser",
                                        [PINS_MONITOR] = ", synchronized",
                                        [PINS_BY_WAITING] = ", on a monitor",
                                        [PINS_BEFORE] = ", inside a synchronized block",
                                        [PINS_UNKNOWN] = ", called by the JVM"};

#define NO_MONITOR "use a ReentrantLock instead of synchronized, or JDK 24 or later"

static void say_try(struct rule_finding *f, const struct pinned *p)
{
    static const char *const tries[] = {[PINS_INIT] = "do this outside the static initialiser",
                                        [PINS_MONITOR] = NO_MONITOR,
                                        [PINS_BY_WAITING] = NO_MONITOR,
                                        [PINS_BEFORE] = NO_MONITOR};
    if (p->how >= ARRAY_LEN(tries) || !tries[p->how])
        return;
    rule_line(f, CARD_TRY);
    rule_say(f, "%s", tries[p->how]);
}

static void tell(struct maker *m, struct pinned *p)
{
    struct evidence *ev = m->ev;
    struct behind b = who_waits(m, p);
    uint64_t harm = p->how == PINS_BY_WAITING ? b.ns : p->ns; /* else the monitor's own card */
    if (rule_permille(harm, ev->length) < PINNED_PERMILLE)
        return;
    bool problem = rule_permille(harm, ev->length) >= PINNED_PROBLEM_PERMILLE;
    struct rule_finding *f = rule_find(ev, problem ? SEVERITY_PROBLEM : SEVERITY_WARNING, p->ns);
    if (!f)
        return;
    f->from = p->from;
    f->to = p->to;
    rule_add_thread(f, ev, p->last);
    rule_add_stack(f, p->stack);
    rule_add_lock(f, p->lock);
    struct place own = program_place(&ev->resources.program, p->stack);
    rule_say_in(f, ev, "Pinned at ", p->how == PINS_BEFORE && own.method.v ? own : p->at);
    rule_say(f, "%s: %s wait%s, %s", how_words[p->how], human_count(p->count).text,
             p->count == 1 ? "" : "s", human_time(p->ns).text);
    rule_say(f, "; %s virtual thread%s kept a carrier; the longest wait took %s",
             human_count(p->threads).text, p->threads == 1 ? "" : "s", human_time(p->max).text);
    if (b.threads)
        rule_say(f, "; %s virtual thread%s waited for a carrier in that time, %s",
                 human_count(b.threads).text, b.threads == 1 ? "" : "s", human_time(b.ns).text);
    rule_line(f, CARD_WAIT_IN);
    rule_say_place(f, ev, "", p->stack);
    if (p->how == PINS_BEFORE) /* one of the callers has the monitor */
        rule_say_in(f, ev, " <- ", program_caller(&ev->resources.program, p->stack));
    say_try(f, p);
}

/* --- no carrier is free ------------------------------------------------------------------------ */

/* At the recording's end, where no virtual thread runs although some could. */
struct none_free {
    uint64_t since;             /* nothing has moved since */
    uint32_t n_pinned, n_ready; /* who keeps the carriers; who waits for one, */
    uint32_t n_kept;            /* of n_pinned: not in Object.wait, where others are added */
    uint32_t ready, waker;      /* the first of them, who unparked it, */
    uint64_t ready_since;       /* when, */
    const struct context *for_; /* and from which wait */
};

static void add_ready_one(struct none_free *x, const struct maker *m, uint32_t thread,
                          const struct span *s, uint64_t since)
{
    x->n_ready++;
    if (x->ready && x->ready_since <= since)
        return;
    x->ready = thread;
    x->ready_since = since;
    x->waker = s ? s->waker : 0;
    x->for_ = s ? timeline_context(&m->a->timeline, s->context) : NULL;
}

/* What a virtual thread is in at the end. False: it runs. */
static bool add_at_end(struct none_free *x, struct maker *m, uint32_t thread)
{
    const struct timeline *tl = &m->a->timeline;
    const struct thread_stats *st = &m->a->threads.v[thread];
    const struct line *l = &tl->lines[thread];
    const struct span *s = l->spans.n ? line_span(l, l->spans.n - 1) : NULL;
    uint64_t end = m->a->window.to, since = s ? s->start : st->called;
    if (st->has_ended || (!s && !st->has_started && !st->called))
        return true; /* over, or never met itself */
    if (s ? span_end(tl, s) < end : st->has_started)
        return false;
    uint64_t ready =
        s ? pins_ready_since(&m->a->decoded.pins, tl, &m->a->threads, thread, s) : st->called;
    if (ready < end) {
        add_ready_one(x, m, thread, s, ready);
        since = ready;
    } else if (pin_of(m, thread, s)) {
        uint8_t what = timeline_context(tl, s->context)->what;
        x->n_pinned++;
        x->n_kept += what != STATE_WAITING && what != STATE_REACQUIRING;
    }
    x->since = max_u64(x->since, since);
    return true;
}

/* Nobody needs to be seen who waits for a carrier if as many are kept as the scheduler makes. */
static bool is_none_free(struct maker *m, struct none_free *x)
{
    uint64_t end = m->a->window.to;
    uint64_t carriers = strtoul(trace_info(m->a->trace, "orca.carriers", "0"), NULL, 10);
    for (uint32_t i = 1; i < m->a->timeline.n_lines; i++)
        if (m->a->threads.v[i].is_virtual && !add_at_end(x, m, i))
            return false;
    bool none = x->n_ready ? x->n_pinned > 0 : carriers && x->n_kept >= carriers;
    return none && end - min_u64(x->since, end) >= NONE_FREE_NS;
}

/* Who keeps a carrier at this place until the end, and waits for what. */
static void say_keepers(struct rule_finding *f, struct maker *m, struct pinned *p)
{
    const struct timeline *tl = &m->a->timeline;
    const struct stretch *v = (const void *)p->when.p;
    for (size_t i = 0; i < p->when.len / sizeof *v; i++) {
        const struct line *l = &tl->lines[v[i].thread];
        const struct context *x = timeline_context(tl, line_span(l, l->spans.n - 1)->context);
        if (v[i].to < m->a->window.to)
            continue;
        p->keeps = true;
        if (f->threads.n == FINDING_IDS)
            continue;
        rule_say(f, "; ");
        rule_say_thread(f, m->ev, v[i].thread);
        rule_say(f, " waits");
        if (x->lock.v) {
            rule_say(f, " for ");
            rule_say_lock(f, m->ev, x->lock, x->stack);
        }
        rule_say_in(f, m->ev, ", pinned at ", p->at);
        rule_say(f, "%s", how_words[p->how]);
        rule_add_thread(f, m->ev, v[i].thread);
        rule_add_lock(f, x->lock);
        rule_add_stack(f, x->stack);
    }
}

static void say_ready(struct rule_finding *f, const struct maker *m, const struct none_free *x)
{
    rule_say(f, "; ");
    if (!x->n_ready) {
        rule_say(f, "no other virtual thread can run");
        return;
    }
    rule_say_thread(f, m->ev, x->ready);
    if (x->waker) {
        rule_say(f, " was unparked by ");
        rule_say_thread(f, m->ev, x->waker);
        if (x->for_->lock.v) {
            rule_say(f, " for ");
            rule_say_lock(f, m->ev, x->for_->lock, x->for_->stack);
        }
        rule_say(f, " and");
    }
    rule_say(f, " waits for a carrier, %s", human_time(m->a->window.to - x->ready_since).text);
    if (x->n_ready > 1)
        rule_say(f, "; %s other virtual thread%s could run, too", human_count(x->n_ready - 1).text,
                 x->n_ready == 2 ? "" : "s");
}

/* Before the places that pin: it has those with threads that keep the carriers. */
static void tell_none_free(struct maker *m, const struct none_free *x)
{
    struct rule_finding *f = rule_find(m->ev, SEVERITY_PROBLEM, UINT64_MAX - 1);
    if (!f)
        return;
    f->from = x->since;
    rule_say(f, "No carrier was free for the last %s: %s pinned virtual thread%s all of them",
             human_time(m->a->window.to - x->since).text, human_count(x->n_pinned).text,
             x->n_pinned == 1 ? " keeps" : "s keep");
    for (uint32_t i = 0; i < m->n; i++)
        say_keepers(f, m, &m->v[i]);
    say_ready(f, m, x);
    for (uint32_t i = 0; i < m->n; i++)
        if (m->v[i].keeps) {
            say_try(f, &m->v[i]);
            break;
        }
}

static int by_time(const void *a, const void *b)
{
    const struct pinned *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

static void tell_pins(struct maker *m)
{
    struct none_free x = {.since = 0};
    bool none = is_none_free(m, &x);
    qsort(m->v, m->n, sizeof *m->v, by_time);
    if (none)
        tell_none_free(m, &x);
    for (uint32_t i = 0; i < m->n; i++)
        if (!m->v[i].keeps)
            tell(m, &m->v[i]);
}

static void make(struct maker *m, void (*tell_all)(struct maker *m))
{
    int java = atoi(trace_info(m->a->trace, "java.vm.version", ""));
    const char *groups = trace_info(m->a->trace, "orca.events", "");
    m->told = m->a->trace->header.schema.n_fields[EV_pinned] &&
              event_groups_list(groups, GROUP_parks) &&
              !*trace_info(m->a->trace, "orca.contanalysis", "");
    m->monitors_pin = m->told && java >= MONITORS_PIN_FROM && java <= MONITORS_PIN_UNTIL;
    for (uint32_t i = 1; i < m->a->timeline.n_lines; i++)
        if (m->a->threads.v[i].is_virtual)
            add_line(m, i);
    tell_all(m);
}

/* --- carriers that others use ----------------------------------------------------------------- */

/* The threads on the carriers while others waited for one. */
struct users {
    struct thread_pool v[USERS_MAX]; /* first: who ran longest, */
    uint64_t longest[USERS_MAX];     /* for how long */
    size_t n;
    uint64_t ns, turns; /* of all */
    uint64_t lacks;     /* ns in which others waited */
    uint64_t waits;     /* ns of all virtual threads' waits for resources */
};

/* Whether the known users explain the lack.  A thread without events is not among them: it may
 * compute for long. */
static bool are_known(const struct users *u)
{
    return 2 * u->ns >= u->lacks;
}

/* Whether many short turns used the carriers: there are no long computations that could run
 * elsewhere. */
static bool has_short_turns(const struct users *u)
{
    return are_known(u) && u->turns && u->ns / u->turns < LONG_TURN_NS;
}

struct lack {
    uint64_t ns, max, from, to;
    uint32_t count, threads, longest; /* longest: the thread that waited so */
};

/* By thread, as they were put. */
static struct lack add_up(const struct buf *ready)
{
    const struct stretch *v = (const void *)ready->p;
    struct lack l = {.ns = 0};
    for (size_t i = 0; i < ready->len / sizeof *v; i++) {
        uint64_t ns = v[i].to - v[i].from;
        l.threads += !i || v[i].thread != v[i - 1].thread;
        l.longest = ns > l.max ? v[i].thread : l.longest;
        l.max = max_u64(l.max, ns);
        l.ns += ns;
        l.count++;
        l.from = i ? min_u64(l.from, v[i].from) : v[i].from;
        l.to = max_u64(l.to, v[i].to);
    }
    return l;
}

static void add_user(struct users *u, const struct analysis *a, uint32_t thread, uint64_t ns)
{
    struct thread_pool *p = thread_pool_of(u->v, USERS_MAX, &u->n, a, thread);
    uint64_t *longest = &u->longest[p - u->v];
    p->first = ns > *longest ? thread : p->first;
    *longest = max_u64(*longest, ns);
    p->ns[TIME_RUNNING] += ns;
    u->ns += ns;
}

/* Whether a thread is the JDK's own, as those that wait for all sockets: they yield their carriers,
 * which is not recorded. */
static bool is_jdks(const struct maker *m, uint32_t thread)
{
    const struct timeline *tl = &m->a->timeline;
    const struct run *r = &tl->lines[thread].spans;
    bool jdks = true, any = false;
    for (uint32_t i = 0; i < r->n && i < JDKS_LOOKS && jdks; i++) {
        const struct span *s = run_at(r, sizeof *s, i);
        stack_id stack = timeline_context(tl, s->context)->stack;
        const struct trace_stack *frames = trace_stack(m->a->trace, stack);
        any |= frames->n_frames != 0;
        jdks = !(frames->flags & STACK_TRUNCATED) &&
               !program_library(&m->ev->resources.program, stack).method.v;
    }
    return jdks && any;
}

static uint64_t turn(struct users *u, const struct stretch *lacks, size_t n_lacks,
                     const struct stretch *on)
{
    uint64_t ns = on->from < on->to ? common(lacks, n_lacks, on) : 0;
    u->turns += ns != 0;
    return ns;
}

/* Between its waits a virtual thread is on a carrier.  Before its first event and after its last
 * one, only the group virtual shows that. */
static uint64_t on_carrier(const struct maker *m, uint32_t thread, const struct stretch *lacks,
                           size_t n_lacks, struct users *u)
{
    const struct timeline *tl = &m->a->timeline;
    const struct thread_stats *st = &m->a->threads.v[thread];
    const struct run *r = &tl->lines[thread].spans;
    struct stretch on = {.from = st->started, .thread = thread};
    bool known = st->has_started;
    uint64_t ns = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct span *s = run_at(r, sizeof *s, i);
        on.to = s->start;
        ns += known ? turn(u, lacks, n_lacks, &on) : 0;
        on.from = known ? max_u64(on.from, span_end(tl, s)) : span_end(tl, s);
        known = true;
    }
    on.to = st->has_ended ? st->ended : st->has_started ? st->to : on.from;
    return ns + (known ? turn(u, lacks, n_lacks, &on) : 0);
}

/* How long a thread waited for resources. */
static uint64_t waited_for(const struct maker *m, uint32_t thread)
{
    const struct run *r = &m->a->timeline.lines[thread].spans;
    uint64_t ns = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct span *s = run_at(r, sizeof *s, i);
        ns += m->ev->resources.of_context[s->context] ? span_len(&m->a->timeline, s) : 0;
    }
    return ns;
}

static void say_users(struct rule_finding *f, const struct evidence *ev, struct users *u)
{
    for (size_t i = 0; i < u->n; i++)
        if (!*u->v[i].name) /* all of them are virtual, so the name need not say it */
            strcpy(u->v[i].name, "threads without a name");
    rule_say(f, "; on the carriers:");
    size_t named = rule_say_pools(f, ev, u->v, u->n, TIME_RUNNING, u->ns);
    for (size_t i = 0; i < named; i++)
        rule_add_thread(f, ev, u->v[i].first);
}

static void tell_lack(struct maker *m, const struct lack *l, struct users *u)
{
    struct evidence *ev = m->ev;
    unsigned part = rule_permille(l->ns, l->ns + u->ns);
    unsigned of_all = rule_permille(l->ns, max_u64(u->waits, l->ns) + u->ns);
    bool problem = part >= READY_PROBLEM_PERMILLE && of_all >= READY_PROBLEM_PERMILLE;
    if (l->ns < READY_LEAST_NS || part < READY_PERMILLE || of_all < READY_PERMILLE ||
        rule_permille(l->ns, ev->length) < READY_THREADS_PERMILLE)
        return;
    struct rule_finding *f = rule_find(ev, problem ? SEVERITY_PROBLEM : SEVERITY_WARNING, l->ns);
    if (!f)
        return;
    f->from = l->from;
    f->to = l->to;
    rule_say(f, "%s virtual thread%s waited for a carrier: %s time%s, %s in total, %.1f on average",
             human_count(l->threads).text, l->threads == 1 ? "" : "s", human_count(l->count).text,
             l->count == 1 ? "" : "s", human_time(l->ns).text, (double)l->ns / (double)ev->length);
    if (u->n)
        say_users(f, ev, u);
    rule_line(f, CARD_LONGEST);
    rule_say_thread(f, ev, l->longest);
    rule_say(f, ", %s", human_time(l->max).text);
    rule_add_thread(f, ev, l->longest);
    if (has_short_turns(u))
        return;
    rule_line(f, CARD_TRY);
    rule_say(f, "%srun long computations in a pool of platform threads",
             are_known(u) ? "" : "if virtual threads compute for long: ");
}

static void make_lack(struct maker *m)
{
    const struct lack l = add_up(&m->ready);
    struct users *u = l.ns >= READY_LEAST_NS ? calloc(1, sizeof *u) : NULL;
    if (!u)
        return;
    size_t n = merge(&m->ready);
    const struct stretch *lacks = (const void *)m->ready.p;
    for (size_t i = 0; i < n; i++)
        u->lacks += lacks[i].to - lacks[i].from;
    for (uint32_t i = 1; i < m->a->timeline.n_lines; i++) {
        bool counts = m->a->threads.v[i].is_virtual && !is_jdks(m, i);
        uint64_t ns = counts ? on_carrier(m, i, lacks, n, u) : 0;
        u->waits += counts ? waited_for(m, i) : 0;
        if (ns)
            add_user(u, m->a, i, ns);
    }
    tell_lack(m, &l, u);
    free(u);
}

/* A pinned thread is the cause where there is one. */
static bool is_told(const struct evidence *ev)
{
    const struct rule_finding *f = (const void *)ev->found.p;
    bool told = false;
    for (size_t i = 0; i < ev->found.len / sizeof *f && !told; i++)
        told = strcmp(f[i].rule, "pinned") == 0;
    return told;
}

/* --- the rules -------------------------------------------------------------------------------- */

static void look(struct evidence *ev, void (*tell_all)(struct maker *m))
{
    bool any = false;
    for (size_t i = 1; i < ev->a->threads.n && !any; i++)
        any = ev->a->threads.v[i].is_virtual;
    struct maker *m = any ? calloc(1, sizeof *m) : NULL;
    if (!m)
        return;
    m->ev = ev;
    m->a = ev->a;
    m->of_stack = calloc(ev->a->trace->n_stacks + 1, sizeof *m->of_stack);
    if (m->of_stack)
        make(m, tell_all);
    for (uint32_t i = 0; i < m->n; i++)
        buf_fini(&m->v[i].when);
    buf_fini(&m->ready);
    free(m->of_stack);
    free(m);
}

void rule_pinned(struct evidence *ev)
{
    look(ev, tell_pins);
}

void rule_few_carriers(struct evidence *ev)
{
    if (!is_told(ev))
        look(ev, make_lack);
}
