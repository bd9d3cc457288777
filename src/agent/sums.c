#include "agent/sums.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/util.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum {
    SLOTS = 1 << 14,  /* of threads: of waits under way */
    PROBES = 16,      /* places in which a key may be */
    TABLES = 256,     /* for OS threads on which waits end */
    BEGUN = 1 << 15,  /* threads whose waits are timed */
    SUMS_LEAST = 256, /* of one table, at first, */
    SUMS = 4096,      /* and when these are not enough */
    TICK_MS = 100,
    CALM_TICKS = 10,  /* time of calm before all is recorded again */
    STORM_TICKS = 3,  /* time of storm before waits become sums */
    LONGER_TICKS = 3, /* time that the recorded rest must have cost too much */
    LIGHT_TICKS = 3,  /* the same for sums, before most waits are only timed */
    LIGHT_EACH = 16,  /* once in this number of short waits' lengths a thread says where it was */
    REST_TICKS = 10,  /* or in this time; what is left after a rest as long is written */
};

/* Of a stretch, so much in each so much is recorded wait by wait: it shows in which order things
 * happen that have only sums else. */
#define LOOK_EACH (200 * MS)
#define LOOK_FOR (4 * MS)

/* Of a slot's `every`: the latest park that said where it was did so for their number. */
#define LATEST_NUMBER (UINT32_C(1) << 31)

/* How long a table that was full at its full size leaves out who ended the waits. */
#define CROWDED_NS (1000 * MS)

/* Waits of this length and longer are recorded one by one: of SHORT_LEAST, and longer ones where
 * their number alone costs too much.  Only the drain thread changes it; a wait that meets two
 * values is a sum, or a wait, by the one that its end meets. */
#define SHORT_LEAST MS
#define SHORT_MOST (16 * MS)
static _Atomic uint64_t short_of = SHORT_LEAST;
enum { LENGTHS = 3, LENGTH_FACTOR = 4 }; /* from SHORT_LEAST to SHORT_MOST */

static uint64_t short_ns(void)
{
    return atomic_load_explicit(&short_of, memory_order_relaxed);
}

/* --- what is shared --------------------------------------------------------------------------- */

/* A thread is in a wait that is noted, or that is only timed; was in one of those, and is in none
 * that is recorded; is inside of what waits itself; or its slot is being emptied. */
enum { IN_WAIT = 1, IN_LIGHT, RESTS, EMPTIED, INSIDE };

/* `word` is of the thread whose id it has: only it takes a slot, changes its fields, and gives it
 * back.  Who takes one that rests has to win it first.  Others read, and look at word and since
 * again. */
struct slot {
    _Alignas(64) _Atomic uint64_t word; /* id << 32 | IN_WAIT ..., or INSIDE + how deep; 0: free */
    _Atomic uint64_t since;             /* of the wait; it rests: when the latest one ended */
    _Atomic uint64_t first, total;      /* timed parks of which no sum says where they were: */
    _Atomic uint32_t n;                 /* since when, ns, and how many */
    _Atomic uint32_t every;             /* of that number of parks one says it for all */
    _Atomic uint32_t kind_limit;        /* kind + LIMIT_FACTOR * limit */
    _Atomic uint32_t lock, owner, stack;
    _Atomic uint32_t waker; /* whose unpark was left out: written by the thread itself; a hint */
    _Atomic uint32_t told;  /* the drain thread's: half of since, for which there is a wait_open */
};

struct sum {
    uint32_t thread, owner, lock, stack;
    uint32_t kind, limit, waker, timed;
    /* the key ends here */
    uint64_t since, until, total, longest, count; /* count 0: free */
};

/* Of one OS thread, until it ends; who wants to read or change it takes `busy`, or does without. */
struct sums_table {
    _Atomic uint32_t busy, taken;
    uint32_t n, size; /* size: a power of two, 0: SUMS_LEAST; who comes later finds it */
    uint64_t full_at; /* when it was, at its full size */
    uint64_t written_at;
    struct sum v[SUMS];
};

static struct {
    struct slot *slots;                   /* [SLOTS]; NULL: cost= is off */
    _Atomic(struct sums_table *) tables;  /* [TABLES]; NULL: no stretch has begun yet */
    _Atomic uint32_t n_tables;            /* those from there on were never taken */
    _Atomic bool spilled[SLOTS / PROBES]; /* a thread of this place is inside, without a slot */
    uint64_t cost;    /* above which a stretch begins; 0: at once, and for good */
    bool flip, light; /* tests': stretches begin and end at random; most parks are only timed */
    bool may_time;
    _Atomic uint64_t waits, unparks; /* of the recording, left out of its events */
    _Atomic uint64_t seen[LENGTHS]; /* recorded ones that were shorter than each of these lengths */
    _Atomic uint64_t *begun; /* [BEGUN]: when a thread's wait began, as id << 32 | half of its
                                       us, by the id; whoever is overwritten is not counted */
} sums;

_Atomic bool sums_stretch, sums_used, sums_light;
_Atomic uint64_t sums_look_until;

static size_t place_of(uint32_t thread)
{
    return hash_u64(thread) % (SLOTS / PROBES);
}

static struct slot *slot_of(uint32_t thread)
{
    struct slot *s = &sums.slots[place_of(thread) * PROBES];
    for (int i = 0; i < PROBES; i++) /* relaxed: the thread's own, or a hint */
        if (atomic_load_explicit(&s[i].word, memory_order_relaxed) >> 32 == thread)
            return &s[i];
    return NULL;
}

enum { LIMIT_FACTOR = 256 };

static void store_kind(struct slot *s, uint32_t kind, uint32_t limit)
{
    atomic_store_explicit(&s->kind_limit, kind + LIMIT_FACTOR * limit, memory_order_relaxed);
}

static uint32_t state_of(uint64_t word)
{
    return (uint32_t)word;
}

static bool is_waiting(uint64_t word)
{
    return state_of(word) == IN_WAIT || state_of(word) == IN_LIGHT;
}

static bool change(struct slot *s, uint64_t from, uint64_t to)
{
    /* acquire, release: what the one before wrote into it comes first */
    return atomic_compare_exchange_strong_explicit(&s->word, &from, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

static bool put(struct ring *ring, const struct sum *s, bool alone, uint64_t now);

/* Of a slot that the caller has won: the timed waits of a thread, without where they were. */
static bool put_rest(struct ring *ring, struct slot *s, uint32_t thread, uint64_t now)
{
    struct sum w = {.thread = thread,
                    .kind = EV_park_enter,
                    .limit = WAIT_LIMIT_UNKNOWN,
                    .timed = 1,
                    .since = atomic_load_explicit(&s->first, memory_order_relaxed),
                    .until = atomic_load_explicit(&s->since, memory_order_relaxed),
                    .total = atomic_load_explicit(&s->total, memory_order_relaxed),
                    .count = atomic_load_explicit(&s->n, memory_order_relaxed)};
    w.longest = w.count ? w.total / w.count : 0;
    bool done = !w.count || put(ring, &w, false, now);
    if (done && w.count)
        atomic_fetch_add_explicit(&sums.waits, w.count, memory_order_relaxed);
    return done;
}

static struct slot *empty_slot(struct slot *s)
{
    atomic_store_explicit(&s->every, 1, memory_order_relaxed);
    atomic_store_explicit(&s->n, 0, memory_order_relaxed);
    atomic_store_explicit(&s->total, 0, memory_order_relaxed);
    return s;
}

/* Write what the thread that rests in a slot has not said.  word: as it was seen; next: what it is
 * then.  False: it rests no longer, or the ring has no room. */
static bool write_rest(struct ring *ring, struct slot *s, uint64_t word, uint64_t next,
                       uint64_t now)
{
    if (state_of(word) != RESTS || !change(s, word, EMPTIED))
        return false;
    bool done = put_rest(ring, s, (uint32_t)(word >> 32), now);
    atomic_store_explicit(&s->word, done ? next : word, memory_order_release);
    return done;
}

/* Where a thread rests that waits elsewhere now, or has ended. */
static struct slot *take_resting(struct slot *s, uint32_t thread, struct ring *ring)
{
    uint64_t now = clock_mono_ns();
    for (int i = 0; i < PROBES; i++) {
        uint64_t word = atomic_load_explicit(&s[i].word, memory_order_relaxed);
        if (write_rest(ring, &s[i], word, (uint64_t)thread << 32, now))
            return empty_slot(&s[i]);
    }
    return NULL;
}

/* A slot for the current thread; NULL: all are taken.  ring: for what another thread has left in
 * one; NULL: that stays. */
static struct slot *take_slot(uint32_t thread, struct ring *ring)
{
    struct slot *s = &sums.slots[place_of(thread) * PROBES];
    for (int i = 0; i < PROBES; i++)
        if (atomic_load_explicit(&s[i].word, memory_order_relaxed) == 0 &&
            change(&s[i], 0, (uint64_t)thread << 32))
            return empty_slot(&s[i]);
    return ring ? take_resting(s, thread, ring) : NULL;
}

static bool is_in_wait(const struct slot *s, uint32_t thread)
{
    return atomic_load_explicit(&s->word, memory_order_relaxed) ==
           ((uint64_t)thread << 32 | IN_WAIT);
}

/* What the slot is when its wait is over.  Nobody else changes n then. */
static uint64_t after_wait(const struct slot *s, uint64_t word)
{
    return atomic_load_explicit(&s->n, memory_order_relaxed) ? word >> 32 << 32 | RESTS : 0;
}

/* word: as it was seen, in a wait.  False: its group was switched off, and it is forgotten. */
static bool give_back(struct slot *s, uint64_t word)
{
    return change(s, word, after_wait(s, word));
}

/* For a wait of the current thread that begins.  NULL: it is inside of another one, or there is
 * none. */
static struct slot *slot_for_wait(struct os_thread *self, uint32_t thread)
{
    struct slot *s = slot_of(thread);
    uint64_t word = s ? atomic_load_explicit(&s->word, memory_order_relaxed) : 0;
    if (s && is_waiting(word)) { /* a probe could not run: the end of that wait is missing */
        self->ring->lost++;
        give_back(s, word);
        word = atomic_load_explicit(&s->word, memory_order_relaxed);
        s = word >> 32 == thread ? s : NULL;
    }
    if (s && state_of(word) != RESTS)
        return NULL;
    if (s && change(s, word, (uint64_t)thread << 32))
        return s;
    return take_slot(thread, self->ring);
}

/* --- a wait ----------------------------------------------------------------------------------- */

static bool is_spilled(thread_id thread)
{
    return atomic_load_explicit(&sums.spilled[place_of(thread.v)], memory_order_relaxed);
}

bool sums_note(struct os_thread *self, const struct sums_wait *w)
{
    struct slot *s =
        w->thread.v && !is_spilled(w->thread) ? slot_for_wait(self, w->thread.v) : NULL;
    if (!s)
        return false;
    atomic_store_explicit(&s->since, w->since, memory_order_relaxed);
    store_kind(s, w->kind, w->limit);
    atomic_store_explicit(&s->lock, w->lock.v, memory_order_relaxed);
    atomic_store_explicit(&s->owner, w->owner.v, memory_order_relaxed);
    atomic_store_explicit(&s->stack, w->stack.v, memory_order_relaxed);
    atomic_store_explicit(&s->waker, 0, memory_order_relaxed);
    /* release: pairs with look_at; the fields are the wait's */
    atomic_store_explicit(&s->word, (uint64_t)w->thread.v << 32 | IN_WAIT, memory_order_release);
    return true;
}

/* --- how long recorded waits are -------------------------------------------------------------- */

enum { US_SHIFT = 10, COUNT_OF = 64 };

static __thread uint32_t counted[LENGTHS] __attribute__((tls_model("initial-exec")));

static _Atomic uint64_t *begun(thread_id thread)
{
    return &sums.begun[thread.v % BEGUN];
}

void sums_mark(thread_id thread, uint64_t since)
{
    uint64_t word = (uint64_t)thread.v << 32 | (uint32_t)(since >> US_SHIFT);
    /* relaxed: the thread itself reads it */
    atomic_store_explicit(begun(thread), word, memory_order_relaxed);
}

void sums_count(thread_id thread, uint64_t now)
{
    uint64_t word = atomic_load_explicit(begun(thread), memory_order_relaxed), length = SHORT_LEAST;
    if (word >> 32 != thread.v)
        return;
    uint64_t ns = (uint64_t)((uint32_t)(now >> US_SHIFT) - (uint32_t)word) << US_SHIFT;
    for (int i = 0; i < LENGTHS; i++, length *= LENGTH_FACTOR)
        if (ns < length && ++counted[i] % COUNT_OF == 0)
            atomic_fetch_add_explicit(&sums.seen[i], COUNT_OF, memory_order_relaxed);
}

static struct sum read_slot(const struct slot *s, uint32_t thread)
{
    uint32_t kind = atomic_load_explicit(&s->kind_limit, memory_order_relaxed);
    struct sum w = {.thread = thread,
                    .kind = kind % LIMIT_FACTOR,
                    .limit = kind / LIMIT_FACTOR,
                    .lock = atomic_load_explicit(&s->lock, memory_order_relaxed),
                    .owner = atomic_load_explicit(&s->owner, memory_order_relaxed),
                    .stack = atomic_load_explicit(&s->stack, memory_order_relaxed),
                    .waker = atomic_load_explicit(&s->waker, memory_order_relaxed),
                    .since = atomic_load_explicit(&s->since, memory_order_relaxed)};
    return w;
}

/* --- tables ----------------------------------------------------------------------------------- */

static bool try_table(struct sums_table *t)
{
    uint32_t free_ = 0;
    /* acquire: pairs with leave_table */
    return atomic_compare_exchange_strong_explicit(&t->busy, &free_, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

static void leave_table(struct sums_table *t)
{
    atomic_store_explicit(&t->busy, 0, memory_order_release);
}

/* One that nobody has; what an earlier one left in it may still be there. */
static struct sums_table *new_table(void)
{
    uint32_t n = atomic_load_explicit(&sums.n_tables, memory_order_relaxed);
    /* acquire: pairs with make_tables */
    struct sums_table *tables = atomic_load_explicit(&sums.tables, memory_order_acquire);
    for (uint32_t i = 0; i < TABLES && tables; i++) {
        struct sums_table *t = &tables[i];
        uint32_t free_ = 0;
        if (atomic_load_explicit(&t->taken, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong_explicit(&t->taken, &free_, 1, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            while (n < i + 1 && !atomic_compare_exchange_weak_explicit(&sums.n_tables, &n, i + 1,
                                                                       memory_order_relaxed,
                                                                       memory_order_relaxed))
                ;
            return t;
        }
    }
    return NULL;
}

void sums_leave(struct os_thread *self)
{
    if (self->sums)
        atomic_store_explicit(&self->sums->taken, 0, memory_order_release);
    self->sums = NULL;
}

/* alone: it is one wait, and a sum neither has it nor will. */
static bool put(struct ring *ring, const struct sum *s, bool alone, uint64_t now)
{
    struct event *e = ring_begin(ring, EV_wait_sum, (thread_id){s->thread}, now);
    if (!e)
        return false;
    e->wait_sum.kind = s->kind;
    e->wait_sum.lock.v = s->lock;
    e->wait_sum.owner.v = s->owner;
    e->wait_sum.stack.v = s->stack;
    e->wait_sum.waker.v = s->waker;
    e->wait_sum.limit = s->limit;
    e->wait_sum.since = s->since;
    e->wait_sum.until = s->until;
    e->wait_sum.count = s->count;
    e->wait_sum.total = s->total;
    e->wait_sum.longest = s->longest;
    e->wait_sum.whole = s->timed ? WAIT_SUM_TIMED : alone && !s->waker; /* its unpark is there */
    ring_commit(ring, e);
    return true;
}

/* What has no room in the ring stays. */
static void write_table(struct sums_table *t, struct ring *ring, uint64_t now)
{
    bool retries = ring->retries, room = true;
    ring->retries = true;
    for (uint32_t i = 0; i < t->size && t->n && room; i++) {
        if (!t->v[i].count)
            continue;
        room = put(ring, &t->v[i], false, now);
        if (room) {
            t->v[i].count = 0;
            t->n--;
        }
    }
    ring->retries = retries;
    t->written_at = now;
}

static bool add(struct sums_table *t, const struct sum *w)
{
    enum { KEY = offsetof(struct sum, since) };
    uint64_t h = hash_bytes(w, KEY, 0);
    struct sum *free_ = NULL;
    for (int i = 0; i < PROBES; i++) {
        struct sum *s = &t->v[(h + (uint64_t)i) % t->size];
        if (!s->count) {
            free_ = free_ ? free_ : s;
        } else if (memcmp(s, w, KEY) == 0) {
            s->count += w->count;
            s->total += w->total;
            s->longest = max_u64(s->longest, w->longest);
            s->since = min_u64(s->since, w->since);
            s->until = max_u64(s->until, w->until);
            return true;
        }
    }
    if (!free_)
        return false;
    *free_ = *w;
    t->n++;
    return true;
}

/* Where each of many threads has been woken by each, who ended the waits is what makes the sums as
 * many as the waits. */
static bool add_or_grow(struct sums_table *t, struct ring *ring, struct sum *w)
{
    bool crowded = t->size == SUMS && w->until - min_u64(w->until, t->full_at) < CROWDED_NS;
    w->waker = crowded ? 0 : w->waker;
    if (add(t, w))
        return true;
    write_table(t, ring, w->until);
    if (t->n) /* the ring has no room */
        return add(t, w);
    if (t->size == SUMS)
        t->full_at = w->until;
    t->size = t->size < SUMS ? 2 * t->size : SUMS;
    return add(t, w);
}

static bool add_somehow(struct os_thread *self, struct sum *w)
{
    struct sums_table *t = self->sums ? self->sums : (self->sums = new_table());
    if (!t || !try_table(t))
        return false;
    t->size = t->size ? t->size : SUMS_LEAST;
    if (w->until - min_u64(w->until, t->written_at) > TICK_MS * MS)
        write_table(t, self->ring, w->until);
    bool added = add_or_grow(t, self->ring, w);
    leave_table(t);
    return added;
}

/* In a look everything is known that happens in it: of waits that began before it, too. */
static bool ends_in_look(uint64_t time)
{
    return time < atomic_load_explicit(&sums_look_until, memory_order_relaxed);
}

bool sums_add(struct os_thread *self, uint32_t kind, thread_id thread, uint64_t now)
{
    struct slot *s = thread.v ? slot_of(thread.v) : NULL;
    if (!s || !is_in_wait(s, thread.v) ||
        atomic_load_explicit(&s->kind_limit, memory_order_relaxed) % LIMIT_FACTOR != kind)
        return false;
    struct sum w = read_slot(s, thread.v);
    if (!give_back(s, (uint64_t)thread.v << 32 | IN_WAIT))
        return true; /* its group was switched off: it is forgotten */
    w.until = max_u64(now, w.since);
    w.total = w.longest = w.until - w.since;
    w.count = 1;
    if (w.total >= short_ns() || ends_in_look(w.until))
        put(self->ring, &w, true, w.until);
    else if (!add_somehow(self, &w))
        put(self->ring, &w, false, w.until);
    else
        atomic_fetch_add_explicit(&sums.waits, 1, memory_order_relaxed);
    return true;
}

/* --- waits that are only timed ---------------------------------------------------------------- */

bool sums_time(struct os_thread *self, thread_id thread, enum wait_limit limit, uint64_t since)
{
    struct slot *s = thread.v && !is_spilled(thread) ? slot_for_wait(self, thread.v) : NULL;
    if (!s)
        return false;
    atomic_store_explicit(&s->since, since, memory_order_relaxed);
    store_kind(s, EV_park_enter, limit);
    atomic_store_explicit(&s->lock, 0, memory_order_relaxed);
    atomic_store_explicit(&s->owner, 0, memory_order_relaxed);
    atomic_store_explicit(&s->stack, 0, memory_order_relaxed);
    atomic_store_explicit(&s->waker, 0, memory_order_relaxed);
    /* release: pairs with look_at */
    atomic_store_explicit(&s->word, (uint64_t)thread.v << 32 | IN_LIGHT, memory_order_release);
    return true;
}

static __thread uint64_t dice __attribute__((tls_model("initial-exec")));

static uint64_t roll(void)
{
    dice ^= dice ? 0 : clock_mono_ns() | 1;
    dice ^= dice << 13;
    dice ^= dice >> 7;
    return dice ^= dice << 17;
}

/* The number and the time of parks are sampled separately: a park's place counts for the time with
 * a probability that grows with its length, for the number with the same one for each. Both ask
 * about equally often. */
static void adapt(struct slot *s, bool number)
{
    enum { MOST = 1 << 20 };
    uint32_t every = atomic_load_explicit(&s->every, memory_order_relaxed) & ~LATEST_NUMBER;
    uint32_t latest = atomic_load_explicit(&s->every, memory_order_relaxed) & LATEST_NUMBER;
    if (number && latest)
        every = min_u32(2 * every, MOST);
    else if (!number && !latest)
        every = max_u32(every / 2, 1);
    atomic_store_explicit(&s->every, every | (number ? LATEST_NUMBER : 0), memory_order_relaxed);
}

/* One more short one.  True: the thread is to say where it was, for *w. */
static bool add_timed(struct slot *s, struct sums_timed *w)
{
    uint32_t n = atomic_load_explicit(&s->n, memory_order_relaxed) + 1;
    uint64_t total = atomic_load_explicit(&s->total, memory_order_relaxed) + w->total;
    uint64_t first = n == 1 ? w->since : atomic_load_explicit(&s->first, memory_order_relaxed);
    uint64_t every = atomic_load_explicit(&s->every, memory_order_relaxed) & ~LATEST_NUMBER;
    bool number = roll() % every == 0;
    bool time = roll() % (LIGHT_EACH * short_ns()) < w->total ||
                w->until - first >= REST_TICKS * TICK_MS * MS;
    time |= number && n == 1;
    if (number || time) { /* what is left has both a number and a time, or no time */
        adapt(s, number);
        w->since = first;
        w->count = !number ? 1 : time ? n : n - 1;
        w->total = time ? total : w->total;
        n -= (uint32_t)w->count;
        total -= w->total;
    }
    atomic_store_explicit(&s->first, first, memory_order_relaxed);
    atomic_store_explicit(&s->n, n, memory_order_relaxed);
    atomic_store_explicit(&s->total, total, memory_order_relaxed);
    return number || time;
}

enum sums_timing sums_timed(thread_id thread, uint64_t now, struct sums_timed *w)
{
    struct slot *s = thread.v ? slot_of(thread.v) : NULL;
    uint64_t word = (uint64_t)thread.v << 32 | IN_LIGHT;
    if (!s || atomic_load_explicit(&s->word, memory_order_relaxed) != word)
        return NOT_TIMED;
    uint64_t since = atomic_load_explicit(&s->since, memory_order_relaxed);
    *w = (struct sums_timed){.since = since, .until = max_u64(now, since), .count = 1};
    w->limit = atomic_load_explicit(&s->kind_limit, memory_order_relaxed) / LIMIT_FACTOR;
    w->total = w->longest = w->until - since;
    w->whole = w->total >= short_ns() || ends_in_look(w->until);
    if (w->whole)
        return give_back(s, word) ? TIMED_ASKS : TIMED;
    bool due = add_timed(s, w);
    atomic_store_explicit(&s->since, w->until, memory_order_relaxed);
    bool followed = change(s, word, word >> 32 << 32 | RESTS);
    return due && followed ? TIMED_ASKS : TIMED;
}

void sums_put_timed(struct os_thread *self, thread_id thread, const struct sums_timed *t,
                    lock_id lock, stack_id stack)
{
    struct sum w = {.thread = thread.v,
                    .kind = EV_park_enter,
                    .lock = lock.v,
                    .stack = stack.v,
                    .limit = t->limit,
                    .since = t->since,
                    .until = t->until,
                    .total = t->total,
                    .longest = t->longest,
                    .count = t->count,
                    .timed = !t->whole};
    if (t->whole) {
        put(self->ring, &w, true, w.until);
        return;
    }
    if (!add_somehow(self, &w))
        put(self->ring, &w, false, w.until);
    atomic_fetch_add_explicit(&sums.waits, w.count, memory_order_relaxed);
}

/* --- what waits inside of a wait -------------------------------------------------------------- */

void sums_inside(thread_id thread)
{
    if (!sums.slots || !thread.v)
        return;
    struct slot *s = slot_of(thread.v);
    uint64_t word = s ? atomic_load_explicit(&s->word, memory_order_relaxed) : 0;
    if (s && state_of(word) >= INSIDE) {
        atomic_store_explicit(&s->word, word + 1, memory_order_relaxed);
        return;
    }
    if (!s || !change(s, word, (uint64_t)thread.v << 32)) /* emptied just now */
        s = take_slot(thread.v, NULL);
    if (s)
        atomic_store_explicit(&s->word, (uint64_t)thread.v << 32 | INSIDE, memory_order_relaxed);
    else
        atomic_store_explicit(&sums.spilled[place_of(thread.v)], true, memory_order_relaxed);
}

void sums_outside(thread_id thread)
{
    struct slot *s = sums.slots && thread.v ? slot_of(thread.v) : NULL;
    uint64_t word = s ? atomic_load_explicit(&s->word, memory_order_relaxed) : 0;
    if (state_of(word) < INSIDE)
        return;
    /* release: pairs with take_slot */
    atomic_store_explicit(&s->word, state_of(word) == INSIDE ? after_wait(s, word) : word - 1,
                          memory_order_release);
}

/* A thread that rests, and has since the latest look, is in no wait that is recorded, unless
 * nothing is summed at its place: one that it is woken from is a sum, or none. */
static bool is_resting(const struct slot *s, uint64_t word)
{
    return state_of(word) == RESTS && sums_are_light() &&
           !is_spilled((thread_id){(uint32_t)(word >> 32)}) &&
           atomic_load_explicit(&s->since, memory_order_relaxed) >=
               atomic_load_explicit(&sums_look_until, memory_order_relaxed);
}

bool sums_end_short(thread_id target, thread_id by, uint64_t now)
{
    struct slot *s = target.v ? slot_of(target.v) : NULL;
    uint64_t word = s ? atomic_load_explicit(&s->word, memory_order_relaxed) : 0;
    bool seen = state_of(word) == IN_LIGHT && ends_in_look(now); /* then its end is recorded */
    if (!s || seen ||
        (!is_resting(s, word) &&
         (!is_waiting(word) || /* or before it */
          now - atomic_load_explicit(&s->since, memory_order_relaxed) >= short_ns())))
        return false;
    if (state_of(word) == IN_WAIT)
        atomic_store_explicit(&s->waker, by.v, memory_order_relaxed);
    atomic_fetch_add_explicit(&sums.unparks, 1, memory_order_relaxed);
    return true;
}

/* --- the drain thread ------------------------------------------------------------------------- */

/* `lock`: who writes from here: the drain thread, or who flushes. */
static struct {
    pthread_mutex_t lock;
    struct ring *ring;
    uint64_t at, since; /* the latest tick; when the stretch began, 0: there is none */
    uint64_t resume;    /* a look is taken: when the stretch goes on; 0: none is */
    uint64_t waits, unparks, events, cost, cpu; /* as of then */
    uint64_t first_waits, first_unparks;        /* that finished stretches have reported */
    uint64_t seen[LENGTHS];
    uint64_t per_event; /* cost of one before the stretch, ns */
    uint32_t calm, storm, longer, dear;
    bool no_more;
    uint64_t processors; /* that the JVM may use */
} keeper = {.lock = PTHREAD_MUTEX_INITIALIZER};

_Atomic bool cost_watched;
static _Atomic uint64_t cost_ns;
static __thread uint32_t cost_turn __attribute__((tls_model("initial-exec")));
enum { COST_OF = 64 };

uint64_t cost_sample(void)
{
    return ++cost_turn % COST_OF == 0 ? clock_mono_ns() : 0;
}

/* A call that takes longer was preempted, and stands for no others. */
#define CALL_MOST_NS UINT64_C(50000)

void cost_add(uint64_t began)
{
    uint64_t ns = min_u64(clock_mono_ns() - began, CALL_MOST_NS);
    atomic_fetch_add_explicit(&cost_ns, ns * COST_OF, memory_order_relaxed);
}

static void write_all(uint64_t now, int patience)
{
    uint32_t n = min_u32(atomic_load_explicit(&sums.n_tables, memory_order_relaxed), TABLES);
    struct sums_table *tables = atomic_load_explicit(&sums.tables, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        struct sums_table *t = &tables[i];
        bool got = try_table(t);
        for (int k = 0; !got && k < patience; k++, got = try_table(t))
            sched_yield();
        if (!got)
            continue; /* its thread has it, and looks at the clock itself */
        if (t->n)
            write_table(t, keeper.ring, now);
        leave_table(t);
    }
}

static void fill_open(struct event *e, const struct sum *w)
{
    e->wait_open.kind = w->kind;
    e->wait_open.lock.v = w->lock;
    e->wait_open.since = w->since;
    e->wait_open.limit = w->limit;
    e->wait_open.owner.v = w->owner;
    e->wait_open.stack.v = w->stack;
}

/* Whether a slot has a wait, which is then *w. */
static bool look_at(const struct slot *s, struct sum *w)
{
    /* acquire: pairs with sums_note */
    uint64_t word = atomic_load_explicit(&s->word, memory_order_acquire);
    if (!is_waiting(word))
        return false;
    *w = read_slot(s, (uint32_t)(word >> 32));
    atomic_thread_fence(memory_order_acquire); /* word and since once more, after the rest */
    return atomic_load_explicit(&s->word, memory_order_relaxed) == word &&
           atomic_load_explicit(&s->since, memory_order_relaxed) == w->since;
}

/* Joins are of threads that have ended: they do not wait, however long the processor is away. */
static bool may_stay(const struct sum *w)
{
    return w->kind != EV_join_enter;
}

/* Waits that have turned out to be long, so that a JVM that is killed leaves them. */
static void tell_long(uint64_t now)
{
    struct sum w;
    for (size_t i = 0; i < SLOTS; i++) {
        struct slot *s = &sums.slots[i];
        if (!look_at(s, &w) || !may_stay(&w) || now < w.since + 2 * short_ns() ||
            atomic_load_explicit(&s->told, memory_order_relaxed) == (uint32_t)w.since)
            continue;
        struct event *e = ring_begin(keeper.ring, EV_wait_open, (thread_id){w.thread}, now);
        if (!e)
            return; /* the next tick */
        fill_open(e, &w);
        ring_commit(keeper.ring, e);
        atomic_store_explicit(&s->told, (uint32_t)w.since, memory_order_relaxed);
    }
}

/* What threads have not said where they were, that rest for long: they have ended, or wait for
 * long.  all: and all others that rest. */
static void write_rests(uint64_t now, bool all)
{
    for (size_t i = 0; i < SLOTS; i++) {
        struct slot *s = &sums.slots[i];
        uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
        uint64_t since = atomic_load_explicit(&s->since, memory_order_relaxed);
        if (all || now >= since + REST_TICKS * TICK_MS * MS)
            write_rest(keeper.ring, s, word, 0, now);
    }
}

enum { IS_OVER, GOES_ON, PAUSES }; /* as summing.goes_on has it */

static void *pages(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Once a stretch begins: most programs need none. */
static bool make_tables(void)
{
    struct sums_table *tables = atomic_load_explicit(&sums.tables, memory_order_relaxed);
    if (tables)
        return true;
    tables = pages(TABLES * sizeof *tables);
    /* release: pairs with new_table */
    atomic_store_explicit(&sums.tables, tables, memory_order_release);
    return tables;
}

static void look_at_counts(void)
{
    keeper.waits = atomic_load_explicit(&sums.waits, memory_order_relaxed);
    keeper.unparks = atomic_load_explicit(&sums.unparks, memory_order_relaxed);
}

static void tell_stretch(uint64_t now, uint32_t goes_on)
{
    struct event *e = ring_begin(keeper.ring, EV_summing, (thread_id){0}, now);
    if (!e)
        return;
    e->summing.since = min_u64(keeper.since, now);
    e->summing.waits = keeper.waits - keeper.first_waits;
    e->summing.unparks = keeper.unparks - keeper.first_unparks;
    e->summing.goes_on = goes_on;
    if (goes_on != GOES_ON) { /* the next one has what comes now */
        keeper.first_waits = keeper.waits;
        keeper.first_unparks = keeper.unparks;
    }
    e->summing.below = short_ns();
    e->summing.timed = atomic_load_explicit(&sums_light, memory_order_relaxed);
    ring_commit(keeper.ring, e);
}

static void begin_stretch(uint64_t now)
{
    if (!make_tables()) {
        keeper.no_more = true;
        log_line("cost=: no memory for sums: each wait is recorded, whatever it costs");
        return;
    }
    keeper.since = now;
    keeper.calm = keeper.storm = keeper.longer = keeper.dear = 0;
    keeper.resume = 0;
    atomic_store_explicit(&sums_light, sums.light, memory_order_relaxed);
    tell_stretch(now, GOES_ON);
    atomic_store_explicit(&sums_used, true, memory_order_relaxed);
    /* release: pairs with sums_note; sums_used comes first */
    atomic_store_explicit(&sums_stretch, true, memory_order_release);
}

/* All that begins from now on is recorded, for a moment: the threads of the program look at the
 * time themselves, as the drain thread may come late. */
static void begin_look(uint64_t now)
{
    tell_stretch(now, PAUSES);
    keeper.resume = now + LOOK_FOR;
    atomic_store_explicit(&sums_look_until, keeper.resume, memory_order_relaxed);
}

/* Whether a look is taken: everything about the stretch that it interrupts was written when the
 * stretch began. */
static bool in_look(uint64_t now)
{
    if (keeper.resume && now >= keeper.resume) {
        keeper.since = keeper.resume;
        keeper.resume = 0;
    }
    return keeper.resume;
}

static void go_on(uint64_t now)
{
    if (in_look(now))
        return;
    tell_stretch(now, GOES_ON);
    if (now - keeper.since >= LOOK_EACH)
        begin_look(now);
}

/* Waits that began in it are still summed. */
static void end_stretch(uint64_t now)
{
    atomic_store_explicit(&sums_stretch, false, memory_order_relaxed);
    look_at_counts();
    if (in_look(now)) /* it is over with the look */
        keeper.since = now;
    tell_stretch(now, IS_OVER);
    atomic_store_explicit(&sums_light, false, memory_order_relaxed);
    atomic_store_explicit(&short_of, SHORT_LEAST, memory_order_relaxed);
    keeper.since = keeper.resume = 0;
    write_rests(now, true);
}

/* Whether waits that are longer become sums, too, as what is still recorded costs too much. */
static void look_at_length(uint64_t events, uint64_t cost, uint64_t limit)
{
    uint64_t length = short_ns();
    bool dear = events * keeper.per_event > limit || (sums_are_light() && cost > limit);
    keeper.longer = dear ? keeper.longer + 1 : 0;
    if (keeper.longer < LONGER_TICKS || length >= SHORT_MOST)
        return;
    keeper.longer = 0;
    atomic_store_explicit(&short_of, LENGTH_FACTOR * length, memory_order_relaxed);
}

/* Whether most parks are only timed from now on, as sums cost too much, too. */
static void look_at_sums(uint64_t cost, uint64_t limit)
{
    keeper.dear = cost > limit && sums.may_time ? keeper.dear + 1 : 0;
    if (keeper.dear >= LIGHT_TICKS)
        atomic_store_explicit(&sums_light, true, memory_order_relaxed);
}

enum { EVENTS_OF_WAIT = 3 }; /* its beginning, its end and what ended it */

/* Up to which length waits must be summed so that it saves enough; 0: it does not. */
static uint64_t length_that_helps(uint64_t enough)
{
    uint64_t length = SHORT_LEAST, found = 0;
    for (int i = 0; i < LENGTHS; i++, length *= LENGTH_FACTOR) {
        uint64_t seen = atomic_load_explicit(&sums.seen[i], memory_order_relaxed);
        uint64_t saves = (seen - keeper.seen[i]) * EVENTS_OF_WAIT * keeper.per_event;
        keeper.seen[i] = seen;
        found = found || saves < enough ? found : length;
    }
    return found;
}

/* How much of a thousand of the processors' time went into recording since the latest tick, and
 * would have, had each wait been recorded. */
static void decide(uint64_t now, uint64_t cost, uint64_t events, uint64_t waits)
{
    uint64_t had = (now - keeper.at) * keeper.processors;
    uint64_t limit = had / 100000 * sums.cost;
    if (!keeper.since) {
        keeper.per_event = events ? cost / events : 0;
        uint64_t length = length_that_helps(limit / 2);
        keeper.storm = cost > limit && length ? keeper.storm + 1 : 0;
        if (keeper.storm < STORM_TICKS)
            return;
        atomic_store_explicit(&short_of, length, memory_order_relaxed);
        begin_stretch(now);
        return;
    }
    look_at_length(events, cost, limit);
    look_at_sums(cost, limit);
    bool calm = cost + waits * EVENTS_OF_WAIT * keeper.per_event < limit / 2;
    keeper.calm = calm ? keeper.calm + 1 : 0;
    if (keeper.calm >= CALM_TICKS)
        end_stretch(now);
}

/* A test's: at random moments. */
static void flip(uint64_t now)
{
    if (roll() % 3 == 0 && !keeper.no_more)
        keeper.since ? end_stretch(now) : begin_stretch(now);
}

static void tick(uint64_t now, uint64_t events)
{
    uint64_t cost = atomic_load_explicit(&cost_ns, memory_order_relaxed);
    uint64_t cpu = clock_ns_(CLOCK_THREAD_CPUTIME_ID);
    uint64_t waits = atomic_load_explicit(&sums.waits, memory_order_relaxed);
    uint64_t spent = cost - keeper.cost + cpu - keeper.cpu;
    uint64_t new_waits = waits - keeper.waits, new_events = events - keeper.events;
    look_at_counts();
    write_all(now, 0);
    if (atomic_load_explicit(&sums_used, memory_order_relaxed)) {
        tell_long(now);
        write_rests(now, false);
    }
    if (keeper.since)
        go_on(now);
    if (sums.cost && !sums.flip && !keeper.no_more)
        decide(now, spent, new_events, new_waits);
    keeper.cost = cost;
    keeper.cpu = cpu;
    keeper.events = events;
    keeper.at = now;
}

void sums_tick(uint64_t now, uint64_t events)
{
    if (pthread_mutex_trylock(&keeper.lock) != 0)
        return;
    if (keeper.ring && sums.flip)
        flip(now);
    if (keeper.ring && now - keeper.at >= TICK_MS * MS)
        tick(now, events);
    pthread_mutex_unlock(&keeper.lock);
}

static void flush(bool over)
{
    uint64_t now = clock_mono_ns();
    if (!keeper.ring)
        return;
    write_all(now, 1000);
    if (atomic_load_explicit(&sums_used, memory_order_relaxed))
        write_rests(now, true);
    look_at_counts();
    if (keeper.since && over)
        end_stretch(now);
    else if (keeper.since && !in_look(now))
        tell_stretch(now, GOES_ON);
}

void sums_flush(bool over)
{
    pthread_mutex_lock(&keeper.lock);
    flush(over);
    pthread_mutex_unlock(&keeper.lock);
}

bool sums_cost(uint64_t *ns)
{
    *ns = atomic_load_explicit(&cost_ns, memory_order_relaxed);
    return atomic_load_explicit(&cost_watched, memory_order_relaxed);
}

void sums_put_status(struct buf *reply)
{
    if (sums_were_made())
        buf_printf(reply, "summed_waits %" PRIu64 "\nsummed_below_ns %" PRIu64 "\n",
                   atomic_load_explicit(&sums.waits, memory_order_relaxed),
                   sums_going_on() ? short_ns() : 0);
}

void sums_no_more(void)
{
    pthread_mutex_lock(&keeper.lock);
    keeper.no_more = true;
    flush(true);
    pthread_mutex_unlock(&keeper.lock);
}

void sums_forget(const bool *off)
{
    struct sum w;
    for (size_t i = 0; sums.slots && i < SLOTS; i++)
        if (look_at(&sums.slots[i], &w) && off[event_kinds[w.kind].group])
            give_back(&sums.slots[i],
                      atomic_load_explicit(&sums.slots[i].word, memory_order_relaxed));
}

static uint64_t timed_since(const struct slot *s)
{
    struct sum w;
    bool timed = state_of(atomic_load_explicit(&s->word, memory_order_relaxed)) == IN_LIGHT;
    return timed && look_at(s, &w) ? w.since : 0;
}

uint64_t sums_timed_since(thread_id thread)
{
    const struct slot *own = sums.slots && thread.v ? slot_of(thread.v) : NULL;
    uint64_t since = own ? timed_since(own) : 0;
    for (size_t i = 0; sums.slots && !thread.v && i < SLOTS && !since; i++)
        since = timed_since(&sums.slots[i]);
    return since;
}

void sums_open_waits(struct buf *events)
{
    struct sum w;
    for (size_t i = 0; sums.slots && i < SLOTS; i++) {
        struct event e = {.kind = EV_wait_open, .size = event_kinds[EV_wait_open].size};
        if (!look_at(&sums.slots[i], &w) || !may_stay(&w))
            continue;
        e.thread.v = w.thread;
        fill_open(&e, &w);
        buf_put(events, &e, sizeof e);
    }
}

/* --- life ------------------------------------------------------------------------------------- */

int sums_init(uint64_t cost, bool flip, bool light, bool may_time)
{
    memset(&sums, 0, sizeof sums); /* no other thread is there yet */
    atomic_store(&sums_stretch, false);
    atomic_store(&sums_used, false);
    atomic_store(&sums_light, false);
    atomic_store(&sums_look_until, 0);
    atomic_store(&short_of, SHORT_LEAST);
    atomic_store(&cost_watched, false);
    atomic_store(&cost_ns, 0);
    sums.cost = cost;
    sums.flip = flip;
    sums.light = light && may_time;
    sums.may_time = may_time;
    if (cost == COST_OFF)
        return 0;
    sums.slots = pages(SLOTS * sizeof *sums.slots);
    sums.begun = pages(BEGUN * sizeof *sums.begun);
    return sums.slots && sums.begun ? 0 : -ENOMEM;
}

void sums_start(struct recorder *rec, uint64_t processors)
{
    if (!sums.slots)
        return;
    uint64_t now = clock_mono_ns();
    pthread_mutex_lock(&keeper.lock);
    keeper.processors = processors;
    keeper.ring = ring_attach(rec);
    keeper.at = now;
    keeper.since = keeper.waits = keeper.unparks = keeper.events = keeper.cost = keeper.cpu = 0;
    keeper.first_waits = keeper.first_unparks = 0;
    keeper.calm = keeper.storm = keeper.longer = keeper.dear = 0;
    keeper.resume = 0;
    keeper.no_more = false;
    memset(keeper.seen, 0, sizeof keeper.seen);
    if (keeper.ring) {
        keeper.ring->retries = true;
        if (sums.cost == 0)
            begin_stretch(now);
        atomic_store_explicit(&cost_watched, true, memory_order_relaxed);
    }
    pthread_mutex_unlock(&keeper.lock);
}

void sums_free(void)
{
    pthread_mutex_lock(&keeper.lock);
    free(keeper.ring);
    keeper.ring = NULL;
    pthread_mutex_unlock(&keeper.lock);
    if (sums.slots)
        munmap(sums.slots, SLOTS * sizeof *sums.slots);
    if (sums.begun)
        munmap((void *)sums.begun, BEGUN * sizeof *sums.begun);
    struct sums_table *tables = atomic_load_explicit(&sums.tables, memory_order_relaxed);
    if (tables)
        munmap(tables, TABLES * sizeof *tables);
    sums.slots = NULL;
    sums.begun = NULL;
    atomic_store_explicit(&sums.tables, NULL, memory_order_relaxed);
}
