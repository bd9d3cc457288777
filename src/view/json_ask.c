/* json_ask.c - a question's parameters: each one is checked before anything is made for it. */
#include "view/json_parts.h"

#include "base/util.h"
#include "export/waits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct param;

struct taker {
    struct ask *a;
    const struct param *p;
    struct err *err;
};

struct param {
    const char *name;
    const char *may_be;
    int (*take)(struct taker *t, const char *value);
    size_t at;    /* of numbers: the field, */
    uint64_t max; /* and the largest one */
};

static int refuse(const struct taker *t, const char *value)
{
    return err_set(t->err, -EINVAL, "%s=%.60s: expected %s", t->p->name, value, t->p->may_be);
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* Digits to a number at most `max`, *p behind it; false: there is none. */
static bool read_number(const char **p, uint64_t max, uint64_t *out)
{
    const char *at = *p;
    *out = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*at - '0'), out) || *out > max)
            return false;
    bool any = at > *p;
    *p = at;
    return any;
}

static int take_number(struct taker *t, const char *value)
{
    uint64_t *to = (uint64_t *)(void *)((char *)t->a + t->p->at);
    const char *at = value;
    return read_number(&at, t->p->max, to) && !*at ? 0 : refuse(t, value);
}

/* Times may lie before the recording's beginning. */
static int take_time(struct taker *t, const char *value)
{
    int64_t *to = (int64_t *)(void *)((char *)t->a + t->p->at);
    bool minus = *value == '-';
    const char *at = value + minus;
    uint64_t n;
    if (!read_number(&at, INT64_MAX / 2, &n) || *at)
        return refuse(t, value);
    *to = minus ? -(int64_t)n : (int64_t)n;
    return 0;
}

/* A thread's index: 0 is the unknown one, which does nothing. */
static int take_thread(struct taker *t, const char *value)
{
    TRY(take_number(t, value));
    uint64_t n = t->a->v->a->threads.n;
    if (t->a->thread == 0 || t->a->thread >= n)
        return err_set(t->err, -ENOENT,
                       "thread=%s: there is no such thread; they are 1 to %" PRIu64, value, n - 1);
    return 0;
}

static int take_lock(struct taker *t, const char *value)
{
    TRY(take_number(t, value));
    if (t->a->lock >= t->a->v->a->locks.n_objects)
        return err_set(t->err, -ENOENT,
                       "lock=%s: there is no such lock; their ids are less than %zu", value,
                       t->a->v->a->locks.n_objects);
    return 0;
}

/* --- lists ------------------------------------------------------------------------------------ */

/* "1,5-9": marks where ranges begin and end; at most as many as there are threads.  "": none. */
static int mark_ranges(struct taker *t, const char *value, int32_t *change, uint64_t n)
{
    uint64_t first, last, ranges = 0;
    for (const char *at = value; *value; at++) {
        if (!read_number(&at, n - 1, &first))
            return refuse(t, value);
        last = first;
        if (*at == '-' && (at++, !read_number(&at, n - 1, &last)))
            return refuse(t, value);
        if (last < first || ++ranges > n || (*at && *at != ','))
            return refuse(t, value);
        change[first]++;
        change[last + 1]--;
        if (!*at)
            return 0;
    }
    return 0;
}

static int take_threads(struct taker *t, const char *value)
{
    uint64_t n = t->a->v->a->threads.n;
    int32_t *change = calloc(n + 1, sizeof *change), sum = 0;
    t->a->threads = arena_alloc(&t->a->arena, n * sizeof *t->a->threads);
    if (!change || !t->a->threads) {
        free(change);
        return err_set(t->err, -ENOMEM, "out of memory");
    }
    int rc = mark_ranges(t, value, change, n);
    for (uint64_t i = 0; i < n && rc == 0; i++)
        t->a->threads[i] = (sum += change[i]) > 0;
    free(change);
    return rc;
}

static int take_ids(struct taker *t, const char *value)
{
    struct ask *a = t->a;
    uint64_t id;
    a->ids = arena_alloc(&a->arena, ASK_IDS_MAX * sizeof *a->ids);
    if (!a->ids)
        return err_set(t->err, -ENOMEM, "out of memory");
    for (const char *at = value; *value; at++) {
        if (a->n_ids == ASK_IDS_MAX || !read_number(&at, UINT32_MAX, &id) || (*at && *at != ','))
            return refuse(t, value);
        a->ids[a->n_ids++] = (uint32_t)id;
        if (!*at)
            return 0;
    }
    return 0;
}

/* --- words ------------------------------------------------------------------------------------ */

/* The word up to the next ','; its index, or -1. */
static int read_word(const char **p, const char *const *words)
{
    size_t n = strcspn(*p, ",");
    const char *word = *p;
    *p += n;
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == n && memcmp(words[i], word, n) == 0)
            return i;
    return -1;
}

static int take_words(struct taker *t, const char *value, const char *const *words, uint64_t *bits)
{
    for (const char *at = value;; at++) {
        int i = read_word(&at, words);
        if (i < 0)
            return refuse(t, value);
        *bits |= UINT64_C(1) << i;
        if (!*at)
            return 0;
    }
}

static int take_sections(struct taker *t, const char *value)
{
    return take_words(t, value, report_section_names, &t->a->sections);
}

/* The default. */
#define HELD_UP                                                                                    \
    (UINT64_C(1) << STATE_BLOCKED | UINT64_C(1) << STATE_REACQUIRING | UINT64_C(1) << WAITS_LOCKED)

static int take_states(struct taker *t, const char *value)
{
    if (strcmp(value, "held-up") != 0)
        return take_words(t, value, waits_names, &t->a->states);
    t->a->states = HELD_UP;
    return 0;
}

static int take_by(struct taker *t, const char *value)
{
    const char *at = value;
    int i = read_word(&at, model_by_names);
    if (i < 0 || *at)
        return refuse(t, value);
    t->a->by = (uint64_t)i;
    return 0;
}

/* --- text ------------------------------------------------------------------------------------- */

static int take_class(struct taker *t, const char *value)
{
    t->a->class_name = value;
    return *value ? 0 : refuse(t, value);
}

static int take_q(struct taker *t, const char *value)
{
    t->a->q = value;
    return *value && strlen(value) <= ASK_Q_MAX ? 0 : refuse(t, value);
}

/* The things that have a state at a moment: a thread, a lock. */
static int take_row(struct taker *t, const char *value)
{
    const struct analysis *a = t->a->v->a;
    bool is_thread = *value == 't';
    const char *at = value + 1;
    uint64_t n;
    if ((!is_thread && *value != 'l') || !read_number(&at, UINT32_MAX, &n) || *at)
        return refuse(t, value);
    t->a->row = (struct view_row){*value, (uint32_t)n};
    if (n == 0 || n >= (is_thread ? a->threads.n : a->locks.n_objects))
        return err_set(t->err, -ENOENT, "row=%s: there is no such %s", value,
                       is_thread ? "thread" : "lock");
    return 0;
}

/* --- all of them ------------------------------------------------------------------------------ */

#define FIELD(f) offsetof(struct ask, f)
#define A_TIME "a time in ns after the recording's beginning"

static const struct param params[ASK_PARAMS] = {
    [ASK_FROM] = {"from", A_TIME, take_time, FIELD(from), 0},
    [ASK_TO] = {"to", A_TIME, take_time, FIELD(to), 0},
    [ASK_TIME] = {"time", A_TIME, take_time, FIELD(time), 0},
    [ASK_THREADS] = {"threads", "indices of threads, like 1,5-9", take_threads, 0, 0},
    [ASK_CLASS] = {"class", "the name of a class", take_class, 0, 0},
    [ASK_LOCK] = {"lock", "a lock's id", take_lock, FIELD(lock), UINT32_MAX},
    [ASK_SECTIONS] = {"sections",
                      "findings, threads, monitors, sites, owners, interactions, path, deadlocks, "
                      "orders, queues, pools, bottles, hot, alloc, calls, joined by ','",
                      take_sections, 0, 0},
    [ASK_TOP] = {"top", "0 to 5000", take_number, FIELD(top), ASK_TOP_MAX},
    [ASK_OFFSET] = {"offset", "a number", take_number, FIELD(offset), UINT32_MAX},
    [ASK_THREAD] = {"thread", "a thread's index", take_thread, FIELD(thread), UINT32_MAX},
    [ASK_INDEX] = {"index", "the number of a thread's wait, or mark", take_number, FIELD(index),
                   UINT32_MAX},
    [ASK_ROW] = {"row", "a thread or a lock: t12, l77", take_row, 0, 0},
    [ASK_IDS] = {"ids", "up to 10,000 numbers, joined by ','", take_ids, 0, 0},
    [ASK_STATES] = {"states",
                    "held-up, or blocked, waiting, parked, joining, sleeping, reacquiring, locked, "
                    "joined by ','",
                    take_states, 0, 0},
    [ASK_BY] = {"by",
                "waiter, owner, waker, cpu, wall, owner-cpu, owner-wall, alloc, alloc-objects, "
                "live or live-objects",
                take_by, 0, 0},
    [ASK_N] = {"n", "1 to 4096", take_number, FIELD(n), VIEW_OVERVIEW_MAX},
    [ASK_Q] = {"q", "a text of 1 to 256 bytes", take_q, 0, 0},
};

static int no_such_param(const char *name, uint32_t takes, struct err *err)
{
    struct buf names = {0};
    for (unsigned i = 0; i < ASK_PARAMS; i++)
        if (takes >> i & 1)
            buf_printf(&names, "%s%s", names.len ? ", " : "", params[i].name);
    err_set(err, -EINVAL, "%.40s: no such parameter; %s%s", name,
            names.len ? "there are " : "there are none", names.len ? buf_str(&names) : "");
    buf_fini(&names);
    return -EINVAL;
}

static int take(struct ask *a, const struct view_param *p, uint32_t takes, struct err *err)
{
    for (unsigned i = 0; i < ASK_PARAMS; i++) {
        if (!(takes >> i & 1) || strcmp(params[i].name, p->name) != 0)
            continue;
        if (a->given >> i & 1)
            return err_set(err, -EINVAL, "%s: it is given twice; give it once", p->name);
        a->given |= UINT32_C(1) << i;
        return params[i].take(&(struct taker){a, &params[i], err}, p->value);
    }
    return no_such_param(p->name, takes, err);
}

static int check(const struct ask *a, uint32_t needs, struct err *err)
{
    for (unsigned i = 0; i < ASK_PARAMS; i++)
        if (needs & ~a->given & UINT32_C(1) << i)
            return err_set(err, -EINVAL, "%s: missing; expected %s", params[i].name,
                           params[i].may_be);
    if (ask_has(a, ASK_FROM) && ask_has(a, ASK_TO) && a->from >= a->to)
        return err_set(err, -EINVAL, "from=%" PRId64 ": it must be less than to=%" PRId64, a->from,
                       a->to);
    if (ask_has(a, ASK_N) && a->n == 0)
        return err_set(err, -EINVAL, "n=0: expected %s", params[ASK_N].may_be);
    return 0;
}

int ask_init(struct ask *a, struct view *v, const struct view_question *q, uint32_t takes,
             uint32_t needs, struct err *err)
{
    *a = (struct ask){.v = v};
    arena_init(&a->arena, 0);
    for (size_t i = 0; i < q->n; i++)
        TRY(take(a, &q->v[i], takes, err));
    TRY(check(a, needs, err));
    if (!ask_has(a, ASK_STATES))
        a->states = HELD_UP;
    if (!ask_has(a, ASK_N))
        a->n = ASK_N_DEFAULT;
    return 0;
}

void ask_fini(struct ask *a)
{
    arena_fini(&a->arena);
}

/* --- the selection ---------------------------------------------------------------------------- */

struct selection ask_selection(const struct ask *a)
{
    struct selection s = selection_all();
    if (ask_has(a, ASK_FROM))
        s.from = view_moment(a->v, a->from);
    if (ask_has(a, ASK_TO))
        s.to = view_moment(a->v, a->to);
    s.threads = a->threads;
    s.n_threads = a->threads ? a->v->a->threads.n : 0;
    s.lock = (uint32_t)a->lock;
    return s;
}

bool ask_is_whole(const struct ask *a)
{
    return !(a->given & (ASK(FROM) | ASK(TO) | ASK(THREADS))) && !a->lock;
}

const struct stats *ask_stats(const struct ask *a, struct stats *own)
{
    const struct selection s = ask_selection(a);
    if (ask_is_whole(a))
        return &a->v->a->stats;
    return analysis_stats(a->v->a, &s, own) == 0 ? own : NULL;
}

void ask_stats_fini(const struct stats *s, struct stats *own)
{
    if (s == own)
        stats_fini(own);
}
