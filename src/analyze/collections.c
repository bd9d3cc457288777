#include "analyze/collections.h"

#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const collection_kind_names[COLLECTION_KINDS] = {"pause", "cycle", "part"};

/* --- whose a pause is ------------------------------------------------------------------------- */

/* A cycle is recorded to the millisecond. More than a few do not overlap in a sound trace. */
enum { NEAR_NS = 2000000, LOOK_BACK = 64 };

static const char *name_of(const struct trace *t, gc_name_id id)
{
    return trace_gc_name(t, id)->text;
}

/* Whether the JVM's name for a kind of pause says that it is one of several of a cycle: "G1
 * concurrent cycle", "Z concurrent cycle", "ZGC minor collection", "Shenandoah". */
static bool is_of_cycle(const char *collector)
{
    return strstr(collector, "concurrent cycle") || strncmp(collector, "ZGC", 3) == 0 ||
           strcmp(collector, "Shenandoah") == 0;
}

/* The young and the old cycles of one collector overlap: "ZGC minor collection" is a pause of "ZGC
 * Minor Cycles". */
static bool can_be_of(const char *pause, const char *cycle)
{
    static const char *const kinds[] = {"minor", "major"};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if ((strcasestr(pause, kinds[i]) != NULL) != (strcasestr(cycle, kinds[i]) != NULL))
            return false;
    return is_of_cycle(pause);
}

/* By how much the pause lies outside of the cycle. */
static uint64_t outside(const struct pause *p, const struct collection *c)
{
    uint64_t out = 0;
    if (p->start < c->start)
        out += c->start - p->start;
    if (p->end > c->end)
        out += p->end - c->end;
    return out;
}

struct maker {
    const struct collection_source *from;
    struct collections *out;
};

/* The cycle, of the first n collections, that a pause is of; NULL: none. */
static struct collection *cycle_of(const struct maker *m, const struct pause *p, size_t n)
{
    const struct trace *t = m->from->trace;
    struct collection *best = NULL, *v = m->out->v;
    uint64_t least = NEAR_NS;
    size_t low = 0, high = n; /* the first one that begins too late */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (v[mid].start <= p->start + NEAR_NS)
            low = mid + 1;
        else
            high = mid;
    }
    for (size_t look = 0; low-- > 0 && look < LOOK_BACK; look++) {
        uint64_t out = outside(p, &v[low]);
        if (out < least && can_be_of(name_of(t, p->gc.collector), name_of(t, v[low].gc.collector)))
            least = out, best = &v[low];
    }
    return best;
}

/* --- the list --------------------------------------------------------------------------------- */

static void add_pause(struct collection *c, const struct pause *p)
{
    uint64_t ns = p->end - p->start;
    c->pauses++;
    c->pause_ns += ns;
    c->pause_max = max_u64(c->pause_max, ns);
}

static int by_start(const void *a, const void *b)
{
    const struct collection *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static void sort(struct collection *v, size_t n)
{
    if (n)
        qsort(v, n, sizeof *v, by_start);
}

static void put_cycles(struct maker *m)
{
    struct collections *out = m->out;
    for (size_t i = 0; i < m->from->n_cycles; i++) {
        const struct cycle *c = &m->from->cycles[i];
        out->v[out->n++] = (struct collection){
            .kind = COLLECTION_CYCLE, .start = c->start, .end = c->end, .gc = c->gc};
    }
    sort(out->v, out->n);
}

static void put_pauses(struct maker *m)
{
    struct collections *out = m->out;
    size_t n_cycles = out->n;
    for (size_t i = 0; i < m->from->n_pauses; i++) {
        const struct pause *p = &m->from->pauses[i];
        struct collection *c = cycle_of(m, p, n_cycles);
        if (!c) {
            bool part = is_of_cycle(name_of(m->from->trace, p->gc.collector));
            c = &out->v[out->n++];
            *c = (struct collection){.kind = part ? COLLECTION_PART : COLLECTION_PAUSE,
                                     .start = p->start,
                                     .end = p->end,
                                     .gc = p->gc};
        }
        add_pause(c, p);
        out->of_pause[i] = (uint32_t)(c - out->v);
    }
}

/* Sort the list; the pauses go along.  place: room for a number of each collection. */
static void put_in_order(struct maker *m, uint32_t *place)
{
    struct collections *out = m->out;
    for (size_t i = 0; i < out->n; i++)
        out->v[i].made = (uint32_t)i;
    sort(out->v, out->n);
    for (size_t i = 0; i < out->n; i++)
        place[out->v[i].made] = (uint32_t)i;
    for (size_t i = 0; i < m->from->n_pauses; i++)
        out->of_pause[i] = place[out->of_pause[i]];
}

enum { SUMS_MAX = 256 };

/* --- sums ------------------------------------------------------------------------------------- */

static bool has_sizes(const struct collection *c)
{
    return c->kind != COLLECTION_PART && c->gc.before && c->gc.used;
}

static void add_sum(struct collection_sum *s, const struct collection *c)
{
    s->count++;
    s->ns += c->kind == COLLECTION_CYCLE ? c->end - c->start : 0;
    s->pauses += c->pauses;
    s->pause_ns += c->pause_ns;
    s->pause_max = max_u64(s->pause_max, c->pause_max);
    if (has_sizes(c)) {
        s->sized++;
        s->freed += c->gc.before > c->gc.used ? c->gc.before - c->gc.used : 0;
    }
}

static struct collection_sum *sum_of(struct collections *out, const struct trace *t,
                                     const struct collection *c)
{
    const char *collector = name_of(t, c->gc.collector), *cause = name_of(t, c->gc.cause);
    for (size_t i = 0; i < out->n_sums; i++) {
        struct collection_sum *s = &out->sum[i];
        if (s->kind == c->kind && strcmp(s->collector, collector) == 0 &&
            strcmp(s->cause, cause) == 0)
            return s;
    }
    if (out->n_sums == SUMS_MAX)
        return &out->sum[SUMS_MAX - 1];
    if (out->n_sums == SUMS_MAX - 1) /* the rest; only a damaged trace has that many */
        collector = cause = "?";
    struct collection_sum *s = &out->sum[out->n_sums++];
    *s = (struct collection_sum){.kind = c->kind, .collector = collector, .cause = cause};
    return s;
}

static int most_paused_first(const void *a, const void *b)
{
    const struct collection_sum *x = a, *y = b;
    int order = strcmp(x->collector, y->collector);
    if (x->pause_ns != y->pause_ns)
        return x->pause_ns < y->pause_ns ? 1 : -1;
    return order ? order : strcmp(x->cause, y->cause);
}

static int sum_up(struct maker *m, struct arena *arena)
{
    struct collections *out = m->out;
    out->sum = arena_alloc(arena, SUMS_MAX * sizeof *out->sum);
    if (!out->sum)
        return -ENOMEM;
    for (size_t i = 0; i < out->n; i++)
        add_sum(sum_of(out, m->from->trace, &out->v[i]), &out->v[i]);
    if (out->n_sums)
        qsort(out->sum, out->n_sums, sizeof *out->sum, most_paused_first);
    return 0;
}

/* A pause of a cycle without further facts: the collector may free memory before and after it.  G1
 * does not; it frees memory only in pauses. */
static bool is_unsettled(const struct trace *t, const struct collection *c)
{
    return c->kind == COLLECTION_PART && strncmp(name_of(t, c->gc.collector), "G1", 2) != 0;
}

static bool has_between(const struct collection *last, const struct collection *c)
{
    return last->gc.used && c->gc.before >= last->gc.used && c->start > last->end;
}

/* From the end of one to the beginning of the next, if they do not overlap.  A heap that seems to
 * have shrunk in between was counted in another way, and says nothing. */
static void sum_allocated(struct collections *out, const struct trace *t)
{
    const struct collection *last = NULL;
    for (size_t i = 0; i < out->n; i++) {
        const struct collection *c = &out->v[i];
        if (is_unsettled(t, c)) {
            last = NULL;
            continue;
        }
        if (last && has_between(last, c)) {
            out->allocated += c->gc.before - last->gc.used;
            out->allocated_ns += c->start - last->end;
        }
        if (!last || c->end >= last->end)
            last = c;
    }
}

/* --- all of it -------------------------------------------------------------------------------- */

int collections_make(struct collections *out, const struct collection_source *from,
                     struct arena *arena)
{
    struct maker m = {from, out};
    size_t most = from->n_pauses + from->n_cycles;
    memset(out, 0, sizeof *out);
    out->v = arena_alloc(arena, (most + 1) * sizeof *out->v);
    out->of_pause = arena_alloc(arena, (from->n_pauses + 1) * sizeof *out->of_pause);
    uint32_t *place = arena_alloc(arena, (most + 1) * sizeof *place);
    if (!out->v || !out->of_pause || !place)
        return -ENOMEM;
    put_cycles(&m);
    put_pauses(&m);
    put_in_order(&m, place);
    sum_allocated(out, from->trace);
    return sum_up(&m, arena);
}

uint64_t collections_rate(const struct collections *c)
{
    enum { NS_IN_US = 1000, US_IN_S = 1000000 };
    uint64_t us = c->allocated_ns / NS_IN_US;
    return us ? (uint64_t)((double)c->allocated / (double)us * US_IN_S) : 0;
}

const char *collections_cause(const struct collections *c, const struct trace *t, size_t pause)
{
    return name_of(t, c->v[c->of_pause[pause]].gc.cause);
}
