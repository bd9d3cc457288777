/* Fills in the facts of each resource after its waits are summed up: the call site with the most
 * waiting time, the field that holds it, the pools of the waiting threads, and the time that these
 * threads had. */
#include "analyze/io_calls.h"
#include "base/keyed.h"
#include "base/util.h"
#include "conclude/resource_field.h"
#include "conclude/resource_finder.h"
#include "conclude/resource_names.h"

#include <stdlib.h>

/* --- where in the program --------------------------------------------------------------------- */

struct wait_place {
    uint32_t resource, method;
    int32_t line;
    uint32_t unused;
    /* the key ends here */
    uint64_t ns;
    stack_id stack;
};

static int add_place(struct finder *f, struct keyed *places, uint32_t resource, stack_id stack,
                     uint64_t ns)
{
    struct resource *r = &f->out->v[resource - 1];
    struct place at = program_place(&f->out->program, stack);
    struct wait_place key = {resource, at.method.v, at.line, 0, 0, {0}};
    struct wait_place *p = keyed_put(places, &key);
    if (!p)
        return -ENOMEM;
    p->ns += ns;
    p->stack = stack;
    if (!r->wait_stack.v)
        r->wait_stack = stack;
    if (at.method.v && p->ns >= r->wait_at_ns) {
        r->wait_at = at;
        r->wait_stack = stack;
        r->wait_at_ns = p->ns;
    }
    return 0;
}

int finder_find_places(struct finder *f)
{
    struct resource *all = f->out->v;
    const uint32_t *of[] = {f->out->of_context, f->out->of_regain};
    struct keyed places;
    int rc = 0;
    keyed_init(&places, offsetof(struct wait_place, ns), sizeof(struct wait_place));
    for (uint32_t i = 1; i < f->a->timeline.contexts.n; i++)
        for (unsigned again = 0; again < 2 && rc == 0; again++)
            if (of[again][i])
                rc = add_place(f, &places, of[again][i],
                               timeline_context(&f->a->timeline, i)->stack, f->of[again][i]);
    keyed_fini(&places);
    for (size_t i = 0; i < f->out->n; i++) /* until then only the JDK took it */
        if (!all[i].take.v)
            all[i].take = program_library(&f->out->program, all[i].wait_stack).method;
    for (uint32_t i = 1; i < f->a->timeline.contexts.n; i++) {
        uint32_t at = f->out->of_context[i];
        if (!at || all[at - 1].kind != RESOURCE_THINGS)
            continue;
        unsigned calls = finder_queue_calls(f, timeline_context(&f->a->timeline, i)->stack);
        if (calls & QUEUE_PUTS)
            all[at - 1].put_ns += f->of[0][i];
        else if (calls & QUEUE_TAKES)
            all[at - 1].take_ns += f->of[0][i];
    }
    return rc;
}

/* --- which field holds it --------------------------------------------------------------------- */

int finder_find_fields(struct finder *f)
{
    struct resources *o = f->out;
    const uint32_t *of[] = {o->of_context, o->of_regain};
    uint64_t *most = calloc(o->n + 1, sizeof *most);
    struct field_sites sites;
    int rc = most ? field_sites_init(&sites, &o->program) : -ENOMEM;
    for (uint32_t i = 1; i < f->a->timeline.contexts.n && rc == 0; i++)
        for (unsigned again = 0; again < 2; again++) {
            struct resource *r = of[again][i] ? &o->v[of[again][i] - 1] : NULL;
            if (!r || f->of[again][i] <= most[r - o->v])
                continue;
            stack_id stack = timeline_context(&f->a->timeline, i)->stack;
            bool lock = r->kind == RESOURCE_LOCK && !resource_is_of_entry(r, f->a);
            const char *field = lock ? field_of_lock(&sites, stack) : field_of_pool(&sites, stack);
            if (!field)
                continue;
            r->field = field;
            most[r - o->v] = f->of[again][i];
        }
    if (most)
        field_sites_fini(&sites);
    free(most);
    return rc;
}

/* --- of which pool they are ------------------------------------------------------------------- */

/* The thread that waits longest comes first. */
static void put_first(struct resource *r, uint32_t thread)
{
    uint32_t i = 0, last = min_u32(r->n_threads, RESOURCE_IDS) - 1;
    while (i < last && r->threads[i] != thread)
        i++;
    r->threads[i] = r->threads[0];
    r->threads[0] = thread;
}

/* A thread that waited only now and then, such as main while it starts the server, does not make a
 * pool's resource one of several pools. */
int finder_find_strays(struct finder *f)
{
    struct resources *o = f->out;
    uint64_t *most = calloc(o->n + 1, sizeof *most), *strays = calloc(o->n + 1, sizeof *strays);
    uint32_t *first = calloc(o->n + 1, sizeof *first);
    int rc = most && strays && first ? 0 : -ENOMEM;
    for (size_t i = 0; i < f->members.cap && rc == 0; i++) {
        const struct map_slot *s = &f->members.slots[i];
        uint32_t thread = (uint32_t)s->key, of = (uint32_t)(s->key >> 32);
        if (!s->used || s->value < most[of] || (s->value == most[of] && thread > first[of]))
            continue;
        most[of] = s->value;
        first[of] = thread;
    }
    for (size_t i = 0; i < o->n && rc == 0; i++)
        if (o->v[i].n_threads)
            put_first(&o->v[i], first[i + 1]);
    for (size_t i = 0; i < f->members.cap && rc == 0; i++) {
        const struct map_slot *s = &f->members.slots[i];
        uint32_t of = (uint32_t)(s->key >> 32);
        if (!s->used || resource_same_pool(f->a, first[of], (uint32_t)s->key))
            continue;
        strays[of] += s->value - 1;
        o->v[of - 1].n_strays++;
    }
    for (size_t i = 0; i < o->n && rc == 0; i++) {
        o->v[i].mixed =
            !strays_are_few(o->v[i].n_strays, o->v[i].n_threads, strays[i + 1], o->v[i].ns);
        o->v[i].n_strays = o->v[i].mixed ? 0 : o->v[i].n_strays;
    }
    free(most);
    free(strays);
    free(first);
    return rc;
}

/* --- the time of those who wait --------------------------------------------------------------- */

/* Time in which a thread had nothing to do: it waited, no other thread blocked it, and it had asked
 * for nothing.  After a stop there is nothing to do. */
int finder_find_bases(struct finder *f)
{
    const struct timeline *tl = &f->a->timeline;
    uint64_t *busy = calloc(tl->n_lines + 1, sizeof *busy);
    bool *nothing = calloc((size_t)tl->contexts.n + 1, sizeof *nothing); /* of contexts */
    int rc = busy && nothing ? 0 : -ENOMEM;
    for (uint32_t i = 1; i < tl->contexts.n && rc == 0; i++)
        nothing[i] = timeline_context(tl, i)->what == STATE_UNKNOWN || wait_is_for_work(f->a, i);
    for (uint32_t thread = 1; thread < tl->n_lines && rc == 0; thread++) {
        const struct thread_stats *s = &f->a->threads.v[thread];
        uint64_t idle = 0, end = min_u64(s->to, stop_time(&f->a->stop));
        uint64_t life = end > s->from ? end - s->from : 0;
        const struct run *r = &tl->lines[thread].spans;
        for (uint32_t i = 0, n; i < r->n; i += n) {
            const struct span *v = run_stretch(r, sizeof *v, i, &n);
            for (uint32_t k = 0; k < n; k++)
                if (nothing[v[k].context])
                    idle += min_u64(span_waited_until(tl, &v[k]), max_u64(end, v[k].start)) -
                            v[k].start;
        }
        busy[thread] = life > idle ? life - idle : 0;
    }
    for (size_t i = 0; i < f->members.cap && rc == 0; i++) {
        const struct map_slot *s = &f->members.slots[i];
        if (s->used)
            f->out->v[(s->key >> 32) - 1].base += busy[(uint32_t)s->key];
    }
    free(busy);
    free(nothing);
    return rc;
}

unsigned resource_permille(const struct resource *r)
{
    uint64_t ns = r->ns + r->behind_ns;
    uint64_t base = max_u64(max_u64(r->base, r->behind_base), ns);
    return base ? (unsigned)((unsigned __int128)ns * 1000 / base) : 0;
}
