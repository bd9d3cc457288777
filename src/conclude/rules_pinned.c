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

static struct pinned *pinned_at(struct buf *all, const struct pinned *x)
{
    struct pinned *v = (void *)all->p;
    for (size_t i = 0; i < all->len / sizeof *v; i++)
        if (v[i].at.method.v == x->at.method.v)
            return &v[i];
    buf_put(all, x, sizeof *x);
    return all->oom ? NULL : (void *)(all->p + all->len - sizeof *x);
}

static void add_span(const struct evidence *ev, struct buf *all, uint32_t thread,
                     const struct span *s)
{
    const struct timeline *t = &ev->a->timeline;
    stack_id stack = timeline_context(t, s->context)->stack;
    uint64_t ns = span_len(t, s);
    struct pinned x;
    struct pinned *p = find_pin(ev->a->trace, stack, &x) ? pinned_at(all, &x) : NULL;
    if (!p)
        return;
    p->ns += ns;
    p->count++;
    p->threads += p->last != thread;
    p->last = thread;
    if (ns < p->max)
        return;
    p->max = ns;
    p->stack = stack;
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

void rule_pinned(struct evidence *ev)
{
    const struct analysis *a = ev->a;
    struct buf all = {0};
    for (uint32_t thread = 1; thread < a->timeline.n_lines; thread++) {
        const struct run *r = &a->timeline.lines[thread].spans;
        for (uint32_t i = 0, n; i < r->n && a->threads.v[thread].is_virtual; i += n) {
            const struct span *v = run_stretch(r, sizeof *v, i, &n);
            for (uint32_t k = 0; k < n; k++)
                add_span(ev, &all, thread, &v[k]);
        }
    }
    const struct pinned *v = (const void *)all.p;
    for (size_t i = 0; i < all.len / sizeof *v; i++)
        if (rule_permille(v[i].ns, ev->length) >= PINNED_PERMILLE)
            tell(ev, &v[i]);
    buf_fini(&all);
}
