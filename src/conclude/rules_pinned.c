/* Virtual threads that block while they are pinned: the carrier waits with them.
 *
 * Known from the stacks of their waits: from JDK 24 on a native method or a static initialiser
 * below what waits pins; before, a monitor does, too, which a stack does not tell. */
#include "base/human.h"
#include "base/util.h"
#include "conclude/rules_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    PINS_MAX = 256,               /* methods that pin */
    PINNED_PERMILLE = 20,         /* of the recording, in pinned waits, */
    PINNED_PROBLEM_PERMILLE = 500 /* or half a carrier all the time: a problem */
};

/* By the method that pins. */
struct pinned {
    struct place at;
    bool native;
    uint64_t ns, count, max;
    uint32_t threads, last; /* last: the thread that was counted last */
    stack_id stack;         /* of the longest */
};

/* The innermost frame behind the machinery of waiting that pins, if any does; the JDK's own entry
 * into the thread does not. */
static bool find_pin(const struct trace *t, stack_id stack, struct pinned *out)
{
    const struct trace_stack *s = trace_stack(t, stack);
    for (uint32_t i = trace_site(t, s); i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        const char *signature = trace_class(t, m->class_)->signature;
        bool native = trace_method_is_java(m) && m->flags & METHOD_NATIVE && i;
        if (strcmp(signature, "Ljdk/internal/vm/Continuation;") == 0)
            return false;
        if (!native && strcmp(m->name, "<clinit>") != 0)
            continue;
        *out = (struct pinned){.at = {m->id, trace_line(t, s->frames[i])}, .native = native};
        return true;
    }
    return false;
}

/* 1 + the index of the method that pins in a context's waits; 0: none does. */
static uint32_t pin_of(const struct evidence *ev, struct buf *all, uint32_t context)
{
    const struct pinned *v = (const void *)all->p;
    size_t n = all->len / sizeof *v, i = 0;
    struct pinned x;
    if (!find_pin(ev->a->trace, timeline_context(&ev->a->timeline, context)->stack, &x))
        return 0;
    while (i < n && v[i].at.method.v != x.at.method.v)
        i++;
    if (i == PINS_MAX)
        return 0;
    if (i == n)
        buf_put(all, &x, sizeof x);
    return all->oom ? 0 : (uint32_t)i + 1;
}

static void add_span(const struct timeline *t, struct pinned *p, uint32_t thread,
                     const struct span *s)
{
    uint64_t ns = span_len(t, s);
    p->ns += ns;
    p->count++;
    p->threads += p->last != thread;
    p->last = thread;
    if (ns < p->max)
        return;
    p->max = ns;
    p->stack = timeline_context(t, s->context)->stack;
}

static void tell(struct evidence *ev, const struct pinned *p)
{
    bool problem = rule_permille(p->ns, ev->length) >= PINNED_PROBLEM_PERMILLE;
    struct rule_finding *f = rule_find(ev, problem ? SEVERITY_PROBLEM : SEVERITY_WARNING, p->ns);
    if (!f)
        return;
    rule_add_thread(f, ev, p->last);
    rule_add_stack(f, p->stack);
    rule_say(f, "Virtual threads block while pinned at");
    rule_say_in(f, ev, " ", p->at);
    rule_say(f, "; %s thread%s kept a carrier for %s (%s waits; longest %s): %s",
             human_count(p->threads).text, p->threads == 1 ? "" : "s", human_time(p->ns).text,
             human_count(p->count).text, human_time(p->max).text,
             p->native ? "a native method below the wait pins" : "a static initialiser pins");
    rule_line(f, CARD_WAIT_IN);
    rule_say_place(f, ev, "", p->stack);
}

static void add_line(const struct evidence *ev, struct pinned *v, const uint32_t *pins,
                     uint32_t thread)
{
    const struct timeline *t = &ev->a->timeline;
    const struct run *r = &t->lines[thread].spans;
    for (uint32_t i = 0, n; i < r->n; i += n) {
        const struct span *s = run_stretch(r, sizeof *s, i, &n);
        for (uint32_t k = 0; k < n; k++)
            if (pins[s[k].context])
                add_span(t, &v[pins[s[k].context] - 1], thread, &s[k]);
    }
}

static bool has_virtual(const struct evidence *ev)
{
    bool any = false;
    for (size_t i = 1; i < ev->a->threads.n && !any; i++)
        any = ev->a->threads.v[i].is_virtual;
    return any;
}

void rule_pinned(struct evidence *ev)
{
    const struct timeline *t = &ev->a->timeline;
    if (!has_virtual(ev))
        return;
    uint32_t *pins = calloc((size_t)t->contexts.n + 1, sizeof *pins);
    struct buf all = {0};
    for (uint32_t i = 1; i < t->contexts.n && pins; i++)
        pins[i] = pin_of(ev, &all, i);
    struct pinned *v = (void *)all.p;
    for (uint32_t i = 1; i < t->n_lines && all.len; i++)
        if (ev->a->threads.v[i].is_virtual)
            add_line(ev, v, pins, i);
    for (size_t i = 0; i < all.len / sizeof *v; i++)
        if (rule_permille(v[i].ns, ev->length) >= PINNED_PERMILLE)
            tell(ev, &v[i]);
    buf_fini(&all);
    free(pins);
}
