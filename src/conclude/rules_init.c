/* Threads that wait until another thread has initialised a class.
 *
 * The JVM does not report this wait.  The waiting thread is in no recorded wait, and no look finds
 * it (docs/concepts/processor.md), or --wall finds it without movement in Java code.  Orca infers
 * the cause: this thread and others did not move while another thread ran a static initialiser,
 * and moved when the initialiser ended. */
#include "analyze/labels.h"
#include "base/human.h"
#include "base/util.h"
#include "conclude/does.h"
#include "conclude/doings.h"
#include "conclude/resource_names.h"
#include "conclude/rules_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    INITS_MAX = 64,    /* stretches that are looked at */
    INIT_DOES_MAX = 8, /* different activities of one initialiser */
    INIT_WAITERS = 2,
    INIT_PERMILLE = 20,          /* of the recording's length, in waits */
    INIT_WARNING_PERMILLE = 50,  /* of the length, each on average; below that it is a note, */
    INIT_PROBLEM_PERMILLE = 200, /* or a problem */
};

/* Looks are at most this far apart; several of them fall into each of the times below. */
#define LOOK_NS (UINT64_C(50) * 1000000)
#define APART_NS (3 * LOOK_NS)
#define LEAST_NS (4 * LOOK_NS)

struct init_does {
    struct does does;
    stack_id stack;
    uint64_t ns, samples; /* samples 0: it is recorded */
};

/* A thread was in the static initialiser of a class. */
struct init {
    uint32_t thread, class_;
    uint64_t from, to;
    uint64_t samples;
    struct init_does does[INIT_DOES_MAX];
    size_t n_does;
    uint32_t waiters, waiter; /* how many; one of them */
    uint64_t ns, max;
    stack_id wait_stack; /* 0: not seen */
};

struct inits {
    struct evidence *ev;
    enum sample_kind kind;
    uint32_t *class_; /* [n_stacks]: whose initialiser it is in; 0: none */
    struct init *v;
    size_t n;
};

/* The class whose initialiser is outermost: the others are part of it. */
static uint32_t initialised(const struct trace *t, stack_id stack)
{
    const struct trace_stack *s = trace_stack(t, stack);
    for (uint32_t i = s->n_frames; i--;) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        if (strcmp(m->name, "<clinit>") == 0)
            return m->class_.v;
    }
    return 0;
}

/* --- who initialises -------------------------------------------------------------------------- */

static uint32_t class_at(const struct inits *all, stack_id stack)
{
    return all->class_[stack.v < all->ev->a->trace->n_stacks ? stack.v : 0];
}

static bool is_long(const struct init *x)
{
    return x->to >= x->from + LEAST_NS;
}

/* The initialisation that a stretch of a thread continues, or a new one; NULL: the table is
 * full. */
static struct init *init_of(struct inits *all, uint32_t thread, uint32_t class_, uint64_t from)
{
    struct init *x = all->n ? &all->v[all->n - 1] : NULL;
    if (x && x->thread == thread && x->class_ == class_ && from <= x->to + APART_NS)
        return x;
    if (!x || is_long(x))
        x = all->n < INITS_MAX ? &all->v[all->n++] : NULL;
    if (x)
        *x = (struct init){.thread = thread, .class_ = class_, .from = from};
    return x;
}

static void note(struct init *x, const struct init_does *d, uint64_t to)
{
    size_t i = 0;
    x->to = max_u64(x->to, to);
    x->samples += d->samples;
    while (i < x->n_does && memcmp(&x->does[i].does, &d->does, sizeof d->does) != 0)
        i++;
    if (i == x->n_does && i == INIT_DOES_MAX)
        return;
    if (i == x->n_does)
        x->does[x->n_does++] = (struct init_does){d->does, d->stack, 0, 0};
    x->does[i].ns += d->ns;
    x->does[i].samples += d->samples;
}

static void note_sample(struct inits *all, uint32_t thread, const struct sample *s)
{
    uint32_t c = class_at(all, s->stack);
    struct init *x = c ? init_of(all, thread, c, s->time - s->weight) : NULL;
    struct place leaf;
    struct init_does d = {.stack = s->stack, .ns = s->weight, .samples = 1};
    if (!x)
        return;
    d.does = does_of_stack(&all->ev->resources, s->stack, s->flags & SAMPLE_IDLE, &leaf);
    note(x, &d, s->time);
}

static void note_span(struct inits *all, uint32_t thread, const struct span *s)
{
    const struct timeline *t = &all->ev->a->timeline;
    stack_id stack = timeline_context(t, s->context)->stack;
    uint32_t c = class_at(all, stack);
    struct init *x = c ? init_of(all, thread, c, s->start) : NULL;
    struct place leaf;
    struct init_does d = {.stack = stack, .ns = span_len(t, s)};
    if (!x)
        return;
    d.does = does_of_wait(&all->ev->resources, all->ev->a, s->context, &leaf);
    note(x, &d, span_end(t, s));
}

/* Goes through a thread's recorded waits and its samples, in order of time. */
static void find_of_thread(struct inits *all, uint32_t thread)
{
    const struct run *r = samples_of(&all->ev->a->samples, all->kind, thread);
    const struct line *l = &all->ev->a->timeline.lines[thread];
    for (uint32_t i = 0, k = 0; i < r->n || k < l->spans.n;) {
        const struct sample *s = i < r->n ? sample_at(r, i) : NULL;
        const struct span *w = k < l->spans.n ? line_span(l, k) : NULL;
        if (s && (!w || s->time <= w->start)) {
            note_sample(all, thread, s);
            i++;
        } else {
            note_span(all, thread, w);
            k++;
        }
    }
}

/* --- who waits for it ------------------------------------------------------------------------- */

/* Whether a sample found the thread at work.  A thread that does not move in Java code is not. */
static bool is_busy(const struct trace *t, const struct sample *s)
{
    const struct trace_stack *x = trace_stack(t, s->stack);
    if (!(s->flags & SAMPLE_IDLE) || !x->n_frames)
        return true;
    const struct trace_method *m = trace_method(t, x->frames[0].method);
    return !trace_method_is_java(m) || m->flags & METHOD_NATIVE;
}

/* The last sign of a thread up to a moment, and the first one from there on: waits, what it did to
 * others, samples, its beginning and end. */
struct silence {
    uint64_t from, to;
    stack_id stack; /* where it stands; 0: not seen */
};

static struct silence silence_at(const struct inits *all, uint32_t thread, uint64_t time)
{
    const struct analysis *a = all->ev->a;
    const struct line *l = &a->timeline.lines[thread];
    const struct thread_stats *life = &a->threads.v[thread];
    struct silence s = {.from = life->from, .to = life->to};
    uint32_t i = line_spans_until(l, time);
    if (i)
        s.from = max_u64(s.from, span_end(&a->timeline, line_span(l, i - 1)));
    if (i < l->spans.n)
        s.to = min_u64(s.to, line_span(l, i)->start);
    i = line_acts_until(l, time);
    if (i)
        s.from = max_u64(s.from, line_act(l, i - 1)->time);
    if (i < l->acts.n)
        s.to = min_u64(s.to, line_act(l, i)->time);
    const struct run *r = samples_of(&a->samples, all->kind, thread);
    for (uint32_t k = samples_before(r, s.from); k < r->n && sample_at(r, k)->time <= s.to; k++) {
        const struct sample *x = sample_at(r, k);
        if (!x->stack.v)
            continue;
        if (!is_busy(a->trace, x)) {
            s.stack = x->time >= time ? x->stack : s.stack;
        } else if (x->time <= time) {
            s.from = x->time;
        } else {
            s.to = x->time - min_u64(x->weight, x->time - time);
            break;
        }
    }
    return s;
}

static void look_at_thread(const struct inits *all, struct init *x, uint32_t thread)
{
    const struct analysis *a = all->ev->a;
    if (thread == x->thread || !bottle_counts(a->trace, &a->threads.v[thread]) ||
        a->threads.v[thread].is_virtual)
        return;
    struct silence s = silence_at(all, thread, x->to - APART_NS); /* a look may come late */
    uint64_t from = max_u64(s.from, x->from);
    if (s.to > x->to + APART_NS || s.to < from + LEAST_NS)
        return; /* the thread was silent for much longer, or not for long */
    x->waiters++;
    x->waiter = thread;
    x->ns += s.to - from;
    x->max = max_u64(x->max, s.to - from);
    if (s.stack.v)
        x->wait_stack = s.stack;
}

/* --- the text --------------------------------------------------------------------------------- */

static void say_holder(struct rule_finding *f, const struct evidence *ev, const struct init *x)
{
    size_t most = 0;
    uint64_t all = 0;
    for (size_t i = 0; i < x->n_does; i++) {
        most = x->does[i].ns > x->does[most].ns ? i : most;
        all += x->does[i].ns;
    }
    const struct init_does *d = &x->does[most];
    rule_line(f, CARD_HELD_BY);
    rule_say_thread(f, ev, x->thread);
    rule_say(f, ", %u %% of the time %s", rule_permille(d->ns, all) / 10,
             doings[d->does.does].words);
    if (d->samples)
        rule_say(f, " (%s of %s samples)", human_count(d->samples).text,
                 human_count(x->samples).text);
    rule_add_stack(f, d->stack);
    rule_line(f, CARD_MORE);
    rule_say_place(f, ev, "", d->stack);
    rule_say_in(f, ev, " <- ", program_caller(&ev->resources.program, d->stack));
}

static void tell(struct evidence *ev, const struct init *x)
{
    unsigned each = rule_permille(x->ns / x->waiters, ev->length);
    struct rule_finding *f = rule_find(ev,
                                       each >= INIT_PROBLEM_PERMILLE   ? SEVERITY_PROBLEM
                                       : each >= INIT_WARNING_PERMILLE ? SEVERITY_WARNING
                                                                       : SEVERITY_INFO,
                                       x->ns);
    char name[LABEL_MAX];
    if (!f)
        return;
    f->from = x->from;
    f->to = x->to;
    rule_add_thread(f, ev, x->waiter);
    rule_add_thread(f, ev, x->thread);
    label_class(trace_class(ev->a->trace, (class_id){x->class_})->signature, name, sizeof name);
    rule_say(f, "initialisation of %s", name);
    rule_say(f, "; %s threads wait %s on average, once each (%s; longest %s)",
             human_count(x->waiters).text, human_time(x->ns / x->waiters).text,
             human_time(x->ns).text, human_time(x->max).text);
    if (x->wait_stack.v) {
        rule_line(f, CARD_WAIT_IN);
        rule_say_place(f, ev, "", x->wait_stack);
        rule_add_stack(f, x->wait_stack);
    }
    say_holder(f, ev, x);
}

static void find(struct inits *all)
{
    struct evidence *ev = all->ev;
    for (uint32_t i = 1; i < ev->a->trace->n_stacks; i++)
        all->class_[i] = initialised(ev->a->trace, (stack_id){i});
    for (uint32_t i = 1; i < ev->a->timeline.n_lines; i++)
        find_of_thread(all, i);
    for (size_t i = 0; i < all->n; i++) {
        struct init *x = &all->v[i];
        for (uint32_t k = 1; k < ev->a->timeline.n_lines && is_long(x); k++)
            look_at_thread(all, x, k);
        if (x->waiters >= INIT_WAITERS && rule_permille(x->ns, ev->length) >= INIT_PERMILLE)
            tell(ev, x);
    }
}

void rule_class_initialisation(struct evidence *ev)
{
    const struct analysis *a = ev->a;
    struct inits all = {.ev = ev, .kind = samples_wall(&a->samples)};
    if (!a->samples.n[all.kind])
        return; /* without looks, nothing shows what the other threads did */
    all.v = calloc(INITS_MAX, sizeof *all.v);
    all.class_ = calloc(a->trace->n_stacks + 1, sizeof *all.class_);
    if (all.v && all.class_)
        find(&all);
    free(all.v);
    free(all.class_);
}
