/* Queues that fill faster than they are emptied, by the recorded calls of their methods (group
 * locks).  No thread waits for such a queue, so no wait shows it. */
#include "analyze/labels.h"
#include "base/err.h"
#include "base/human.h"
#include "base/keyed.h"
#include "base/util.h"
#include "conclude/resource_names.h"
#include "conclude/rules_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    THIRDS = 3,            /* of the time of use; in each there are more puts than takes, */
    TAKEN_LEAST = 10,      /* and this many takes; */
    GROWTH_LEAST = 100,    /* more puts than takes in all, */
    GROWTH_PERMILLE = 100, /* and by this part of the puts; */
    WAITED_PERMILLE = 50,  /* of the takes after the first third waited, at most */
    USED_PERMILLE = 500,   /* of the recording: from the first call to the last one */
};
static const uint64_t used_least = 1000000000; /* ns */

enum side { PUTS, TAKES, SIDES };

static const struct {
    const char *method;
    enum side side;
} methods[] = {{"put", PUTS}, {"offer", PUTS}, {"take", TAKES}, {"poll", TAKES}};

struct filled {
    uint32_t lock;
    uint64_t from, to;
    uint64_t n[SIDES][THIRDS], waited;
};

/* The calls of one thread from one place. */
struct use {
    uint32_t lock, side, thread, stack;
    uint64_t n;
};

struct filling {
    const struct analysis *a;
    uint8_t *sides;             /* [contexts.n]: 1 + enum side; 0: not looked at yet */
    struct keyed of_lock, uses; /* struct filled; struct use, thread by thread */
};

/* Which side of a JDK queue a context's call is; SIDES: neither. */
static enum side side_of(const struct trace *t, const struct context *x)
{
    static const char package[] = "Ljava/util/concurrent/";
    const struct trace_call *call = trace_call(t, x->call);
    const char *class_ = call->class_signature;
    size_t n = strlen(class_);
    if (strncmp(class_, package, sizeof package - 1) != 0 || n < 6 ||
        (strcmp(class_ + n - 6, "Queue;") != 0 && strcmp(class_ + n - 6, "Deque;") != 0))
        return SIDES;
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (strcmp(call->method, methods[i].method) == 0)
            return methods[i].side;
    return SIDES;
}

/* Whether the program makes the call, not the JDK (an executor for its tasks, or a method of the
 * queue itself). */
static bool is_programs(const struct trace *t, const struct context *x)
{
    const struct trace_stack *s = trace_stack(t, x->stack);
    const char *own = trace_call(t, x->call)->method;
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        bool passes_on = strcmp(m->name, "add") == 0 || (i == 0 && strcmp(m->name, own) == 0);
        if (!passes_on || !sites_is_jdk(trace_class(t, m->class_)->signature))
            return !sites_is_jdk(trace_class(t, m->class_)->signature);
    }
    return false;
}

static bool has_waited(const struct analysis *a, uint32_t thread, const struct called *c)
{
    const struct line *l = &a->timeline.lines[thread];
    uint32_t i = line_spans_until(l, c->end);
    const struct span *s = i ? line_span(l, i - 1) : NULL;
    return s && s->start >= c->start;
}

static enum side counts_as(struct filling *q, const struct called *c)
{
    const struct context *x = timeline_context(&q->a->timeline, c->context);
    uint8_t *known = &q->sides[c->context];
    if (!c->lock.v || c->flags & (CALLED_FAILED | CALLED_OPEN | CALLED_UNKNOWN))
        return SIDES;
    if (!*known) {
        enum side side = side_of(q->a->trace, x);
        *known = 1 + (uint8_t)(side < SIDES && is_programs(q->a->trace, x) ? side : SIDES);
    }
    return (enum side)(*known - 1);
}

static int note_times(struct filling *q, uint32_t thread, const struct called *c, enum side side)
{
    UNUSED(thread);
    UNUSED(side);
    struct filled *of = keyed_put(&q->of_lock, &(struct filled){.lock = c->lock.v});
    if (!of)
        return -ENOMEM;
    of->from = of->from ? min_u64(of->from, c->end) : c->end;
    of->to = max_u64(of->to, c->end);
    return 0;
}

static int note_use(struct filling *q, uint32_t thread, const struct called *c, enum side side)
{
    uint32_t stack = timeline_context(&q->a->timeline, c->context)->stack.v;
    struct filled *of = keyed_put(&q->of_lock, &(struct filled){.lock = c->lock.v});
    struct use *use = keyed_put(&q->uses, &(struct use){c->lock.v, side, thread, stack, 0});
    if (!of || !use)
        return -ENOMEM;
    uint64_t length = max_u64((of->to - of->from) / THIRDS, 1);
    uint64_t third = min_u64((c->end - of->from) / length, THIRDS - 1);
    of->n[side][third]++;
    of->waited += side == TAKES && third && has_waited(q->a, thread, c);
    use->n++;
    return 0;
}

static int each_call(struct filling *q, int (*note)(struct filling *q, uint32_t thread,
                                                    const struct called *c, enum side side))
{
    for (uint32_t i = 1; i < q->a->calls.n_lines && i < q->a->timeline.n_lines; i++) {
        const struct call_line *l = &q->a->calls.lines[i];
        for (uint32_t k = 0; k < l->n; k++) {
            enum side side = counts_as(q, &l->v[k]);
            if (side < SIDES)
                TRY(note(q, i, &l->v[k], side));
        }
    }
    return 0;
}

static uint64_t sum(const uint64_t *n)
{
    return n[0] + n[1] + n[2];
}

static bool grows(const struct evidence *ev, const struct filled *q)
{
    uint64_t put = sum(q->n[PUTS]), taken = sum(q->n[TAKES]), used = q->to - q->from;
    for (unsigned i = 0; i < THIRDS; i++)
        if (q->n[PUTS][i] <= q->n[TAKES][i] || q->n[TAKES][i] < TAKEN_LEAST)
            return false;
    return used >= used_least && rule_permille(used, ev->length) >= USED_PERMILLE &&
           put - taken >= GROWTH_LEAST && rule_permille(put - taken, put) >= GROWTH_PERMILLE &&
           rule_permille(q->waited, taken - q->n[TAKES][0]) <= WAITED_PERMILLE;
}

/* The call site with the most calls of a side. */
static stack_id most_at(const struct filling *q, const struct filled *of, enum side side)
{
    const struct use *v = q->uses.v, *most = NULL;
    for (size_t i = 0; i < q->uses.n; i++)
        if (v[i].lock == of->lock && v[i].side == side && (!most || v[i].n > most->n))
            most = &v[i];
    return (stack_id){most ? most->stack : 0};
}

/* "4 threads of web", and where they mostly are. */
static void say_side(struct rule_finding *f, const struct evidence *ev, const struct filling *q,
                     const struct filled *of, enum side side)
{
    const struct use *v = q->uses.v;
    stack_id most = most_at(q, of, side);
    uint32_t n = 0, last = 0;
    bool one_pool = true;
    char name[LABEL_MAX] = "";
    for (size_t i = 0; i < q->uses.n; i++) {
        if (v[i].lock != of->lock || v[i].side != side)
            continue;
        n += v[i].thread != last;
        one_pool &= !last || resource_same_pool(ev->a, last, v[i].thread);
        last = v[i].thread;
        rule_add_thread(f, ev, last);
    }
    if (!n)
        return;
    if (one_pool)
        resource_called_pool(ev->a, last, name, sizeof name);
    if (n == 1)
        rule_say_thread(f, ev, last);
    else
        rule_say(f, "%u threads%s%s", n, *name ? " of " : "", name);
    rule_say(f, side == PUTS ? n == 1 ? " puts" : " put" : n == 1 ? " takes" : " take");
    rule_say_place(f, ev, " in ", most);
    rule_add_stack(f, most);
}

/* How long its elements waited in it, if it grew evenly. */
static uint64_t waited(uint64_t elements, uint64_t ns)
{
    unsigned __int128 all = (unsigned __int128)elements * ns / 2;
    return all < UINT64_MAX / 2 ? (uint64_t)all : UINT64_MAX / 2;
}

static void tell(struct evidence *ev, const struct filling *q, const struct filled *of)
{
    const struct lock_wait w = {{of->lock}, most_at(q, of, PUTS), true};
    uint64_t put = sum(of->n[PUTS]), taken = sum(of->n[TAKES]), used = of->to - of->from;
    struct rule_finding *f = rule_find(ev, SEVERITY_WARNING, waited(put - taken, used));
    if (!f)
        return;
    f->from = of->from;
    f->to = of->to;
    rule_add_lock(f, (lock_id){of->lock});
    rule_say_lock_among(f, ev, &w, 1, 0);
    rule_say(f, " grows: %s elements were put and %s taken in %s", human_count(put).text,
             human_count(taken).text, human_time(used).text);
    rule_line(f, CARD_PLAIN);
    say_side(f, ev, q, of, PUTS);
    rule_line(f, CARD_CONSUMER);
    say_side(f, ev, q, of, TAKES);
    rule_say(f, ", and hardly ever waits for an element");
    rule_line(f, CARD_TRY);
    rule_say(f, "bound the queue, so that producers wait, or empty it with more threads");
}

void rule_growing_queue(struct evidence *ev)
{
    struct filling q = {.a = ev->a};
    keyed_init(&q.of_lock, sizeof(uint32_t), sizeof(struct filled));
    keyed_init(&q.uses, offsetof(struct use, n), sizeof(struct use));
    int rc = ev->a->calls.n ? 0 : -ENOENT;
    if (rc == 0 && !(q.sides = calloc(ev->a->timeline.contexts.n + 1, sizeof *q.sides)))
        rc = -ENOMEM;
    rc = rc ? rc : each_call(&q, note_times);
    rc = rc || !q.of_lock.n ? rc : each_call(&q, note_use);
    const struct filled *v = q.of_lock.v;
    for (size_t i = 0; i < q.of_lock.n && rc == 0; i++)
        if (grows(ev, &v[i]))
            tell(ev, &q, &v[i]);
    keyed_fini(&q.of_lock);
    keyed_fini(&q.uses);
    free(q.sides);
}
