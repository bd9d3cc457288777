/* The line of a method whose samples have none: compiled code has the method of a frame, but not
 * always the line.  Other samples of the same method, of any thread and time, have it; not those in
 * its monitors' entries, where no thread works. */
#include "conclude/resource_parts.h"

#include <stdlib.h>

enum { LINES_MAX = 64 };

struct tally {
    int32_t line;
    uint64_t n;
};

static uint32_t *count_stacks(const struct analysis *a)
{
    const struct trace *t = a->trace;
    uint32_t *n = calloc(t->n_stacks + 1, sizeof *n);
    for (uint32_t thread = 0; n && thread < a->timeline.n_lines; thread++)
        for (unsigned kind = 0; kind < SAMPLE_LISTS; kind++) {
            const struct run *v = samples_of(&a->samples, kind, thread);
            for (uint32_t i = 0; i < v->n; i++)
                n[sample_at(v, i)->stack.v < t->n_stacks ? sample_at(v, i)->stack.v : 0]++;
        }
    for (uint32_t i = 1; n && i < a->timeline.contexts.n; i++) {
        stack_id owner = timeline_context(&a->timeline, i)->owner_stack;
        n[owner.v < t->n_stacks ? owner.v : 0]++;
    }
    return n;
}

/* Lines of a method at which threads were blocked on entering a monitor. */
struct entries {
    method_id method;
    int32_t v[LINES_MAX];
    size_t n;
};

static bool is_entry(const struct entries *e, int32_t line)
{
    size_t k = 0;
    while (k < e->n && e->v[k] != line)
        k++;
    return k < e->n;
}

static void find_entries(struct entries *e, const struct analysis *a)
{
    const struct trace *t = a->trace;
    for (uint32_t i = 1; i < a->timeline.contexts.n && e->n < LINES_MAX; i++) {
        const struct context *x = timeline_context(&a->timeline, i);
        if (x->what != STATE_BLOCKED)
            continue;
        const struct trace_stack *s = trace_stack(t, x->stack);
        if (!s->n_frames || s->frames[0].method.v != e->method.v)
            continue;
        int32_t line = trace_line(t, s->frames[0]);
        if (!is_entry(e, line))
            e->v[e->n++] = line;
    }
}

/* Where the method is; -1: it is not there, or only enters or leaves a monitor. */
static int32_t line_in(const struct trace *t, const struct trace_stack *s, const struct entries *e)
{
    bool innermost = true; /* of Java's */
    for (uint32_t i = 0; i < s->n_frames; i++) {
        if (s->frames[i].method.v == e->method.v) {
            int32_t line = trace_line(t, s->frames[i]);
            return innermost && is_entry(e, line) ? -1 : line;
        }
        innermost &= !trace_method_is_java(trace_method(t, s->frames[i].method));
    }
    return -1;
}

int32_t lines_most(struct line_counts *c, const struct analysis *a, method_id method)
{
    struct tally v[LINES_MAX];
    const uint32_t *n = c->of_stack = c->of_stack ? c->of_stack : count_stacks(a);
    struct entries entries = {.method = method};
    size_t lines = 0, most = 0;
    find_entries(&entries, a);
    for (uint32_t i = 1; n && i < a->trace->n_stacks; i++) {
        int32_t line =
            n[i] ? line_in(a->trace, trace_stack(a->trace, (stack_id){i}), &entries) : -1;
        size_t k = 0;
        while (k < lines && v[k].line != line)
            k++;
        if (line < 0 || k == LINES_MAX)
            continue;
        if (k == lines)
            v[lines++] = (struct tally){line, 0};
        v[k].n += n[i];
        most = v[k].n > v[most].n ? k : most;
    }
    return lines ? v[most].line : -1;
}
