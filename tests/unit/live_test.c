/* live_test.c - threads that are known to do what they do, looked at while they do it. */
#include "analyze/live.h"
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

static struct live l;
static struct trace *t;
static thread_id a, b, c, d, v;
static lock_id monitor, other, queue, mutex;
static stack_id stack;

static void begin(void)
{
    struct trace_builder builder;
    builder_init(&builder);
    a = builder_thread(&builder, "a");
    b = builder_thread(&builder, "b");
    c = builder_thread(&builder, "c");
    d = builder_thread(&builder, "d");
    v = builder_thread_flags(&builder, "v", THREAD_VIRTUAL);
    class_id shop = builder_class(&builder, "Lshop/Order;");
    monitor = builder_lock(&builder, shop);
    other = builder_lock(&builder, shop);
    queue = builder_lock(
        &builder, builder_class(&builder, "Ljava/util/concurrent/locks/AbstractQueued$Condition;"));
    mutex = builder_lock(
        &builder,
        builder_class(&builder, "Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;"));
    stack = builder_stack(&builder, "shop.Order.take:3");
    t = builder_open(&builder, 1);
    live_init(&l, t, 100 * S);
}

static void end(void)
{
    live_fini(&l);
    trace_close(t);
}

TestSuite(live, .init = begin, .fini = end);

/* Times are after the horizon; a platform thread's stream has its number. */
#define AT(thread_, time_, kind_, ...)                                                             \
    live_event(&l,                                                                                 \
               &(struct event){.time = 100 * S + (uint64_t)(time_),                                \
                               .thread = (thread_),                                                \
                               .kind = EV_##kind_,                                                 \
                               .kind_ = {__VA_ARGS__}},                                            \
               (thread_).v)
#define BARE(thread_, time_, kind_)                                                                \
    live_event(&l,                                                                                 \
               &(struct event){                                                                    \
                   .time = 100 * S + (uint64_t)(time_), .thread = (thread_), .kind = EV_##kind_},  \
               (thread_).v)

static void look(uint64_t now, uint64_t window)
{
    live_advance(&l, 100 * S + now);
    cr_assert_eq(live_look(&l, window), 0);
}

static struct live_thread *thread(thread_id id)
{
    struct live_thread *th = live_find_thread(&l, id);
    cr_assert_not_null(th);
    return th;
}

static void near(uint64_t got, uint64_t wanted)
{
    cr_assert(got + MS > wanted && got < wanted + MS, "%lu instead of %lu", got, wanted);
}

Test(live, blocked_threads_queue_and_count_until_now)
{
    BARE(a, 0, thread_start);
    AT(a, 1 * S, monitor_contended_enter, .lock = monitor, .owner = b, .stack = stack);
    AT(c, 2 * S, monitor_contended_enter, .lock = monitor, .owner = b, .stack = stack);
    look(5 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_BLOCKED);
    cr_assert_eq(thread(a)->since, 101 * S);
    cr_assert_eq(thread(a)->wait.stack.v, stack.v);
    cr_assert_eq(live_blocker(thread(a)).v, b.v);
    near(thread(a)->held_up, 4 * S);
    near(thread(c)->held_up, 3 * S);
    struct live_lock *k = live_find_lock(&l, monitor);
    cr_assert_eq(k->queue, 2);
    cr_assert_eq(k->owner.v, b.v);
    cr_assert_eq(k->count, 2);
    near(k->blocked_ns, 7 * S);
    near(k->worst_ns, 4 * S);
    cr_assert_eq(l.in_state[LIVE_BLOCKED], 2);
    cr_assert_eq(l.contentions, 2);
    AT(a, 6 * S, monitor_contended_entered, .lock = monitor);
    look(7 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_RUNNING);
    cr_assert_eq(k->owner.v, a.v);
    cr_assert_eq(k->queue, 1);
    cr_assert_eq(live_blocker(thread(c)).v, a.v);
    const struct live_wait *w = live_last(thread(a), 0);
    cr_assert_eq(w->ns, 5 * S);
    cr_assert_eq(w->lock.v, monitor.v);
    cr_assert_null(live_last(thread(a), 1));
}

Test(live, what_an_owner_executed_is_kept_with_the_lock)
{
    AT(a, 1 * S, monitor_contended_enter, .lock = monitor, .owner = b, .stack = stack);
    AT(a, 1 * S + MS, owner_stack, .lock = monitor, .owner = b, .stack = stack);
    look(5 * S, 10 * S);
    const struct live_lock *k = live_find_lock(&l, monitor);
    cr_assert_eq(k->told.v, stack.v);
    cr_assert_eq(k->told_by.v, b.v);
    cr_assert_eq(k->told_at, 101 * S + MS);
    cr_assert_eq(thread(a)->state, LIVE_BLOCKED);
    near(thread(a)->held_up, 4 * S);
}

Test(live, the_window_slides)
{
    for (int i = 0; i < 100; i++) { /* blocked three of ten */
        AT(a, i * 100 * MS, monitor_contended_enter, .lock = monitor, .owner = b);
        AT(a, i * 100 * MS + 30 * MS, monitor_contended_entered, .lock = monitor);
    }
    look(10 * S, 5 * S);
    cr_assert(l.span >= 4750 * MS && l.span <= 5750 * MS, "%lu", l.span);
    near(thread(a)->held_up * 10 / 3, l.span);
    cr_assert_eq(thread(a)->count, l.span / (100 * MS));
    look(14 * S, 5 * S); /* nothing since */
    cr_assert_leq(thread(a)->held_up, 600 * MS);
    look(30 * S, 5 * S);
    look(31 * S, 5 * S);
    cr_assert_eq(thread(a)->held_up, 0);
    look(200 * S, 5 * S);
    for (int i = 0; i < LIVE_BUCKETS; i++)
        look((201 + (uint64_t)i) * S, 5 * S);
    cr_assert_null(live_find_lock(&l, monitor));
}

Test(live, parking_for_a_lock_is_being_held_up_and_for_work_is_not)
{
    AT(a, 1 * S, park_enter, .lock = queue, .stack = stack);
    AT(b, 1 * S, park_enter, .lock = mutex, .owner = c, .stack = stack);
    AT(c, 1 * S, park_enter, .lock = {0}, .stack = stack);
    look(3 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_PARKED);
    cr_assert_eq(thread(b)->state, LIVE_LOCKED);
    cr_assert_eq(thread(a)->held_up, 0);
    near(thread(a)->sum[LIVE_PARKED], 2 * S);
    near(thread(b)->held_up, 2 * S);
    cr_assert_eq(live_find_lock(&l, queue)->queue, 0);
    cr_assert_eq(live_find_lock(&l, queue)->waiters, 1);
    cr_assert_eq(live_find_lock(&l, mutex)->owner.v, c.v);
    AT(b, 4 * S, park_exit, .lock = mutex);
    AT(c, 4 * S, park_exit, .lock = {0});
    look(5 * S, 10 * S);
    cr_assert_eq(live_find_lock(&l, mutex)->owner.v, b.v);
    cr_assert(live_find_lock(&l, mutex)->owner_likely);
    cr_assert_eq(thread(c)->state, LIVE_RUNNING);
}

Test(live, a_wait_gets_its_monitor_back)
{
    AT(a, 1 * S, wait_enter, .lock = monitor, .stack = stack);
    look(2 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_WAITING);
    cr_assert_eq(live_find_lock(&l, monitor)->waiters, 1);
    AT(b, 3 * S, notify, .lock = monitor, .stack = stack);
    AT(a, 3 * S, monitor_contended_enter, .lock = monitor, .owner = b, .stack = stack);
    look(4 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_BLOCKED);
    near(thread(a)->sum[LIVE_WAITING], 2 * S);
    near(thread(a)->held_up, 1 * S);
    AT(a, 5 * S, monitor_contended_entered, .lock = monitor);
    AT(a, 5 * S, wait_exit, .lock = monitor);
    look(6 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_RUNNING);
    near(thread(a)->sum[LIVE_WAITING], 2 * S);
    near(thread(a)->held_up, 2 * S);
    cr_assert_eq(live_find_lock(&l, monitor)->owner.v, a.v);
}

Test(live, joins_sleeps_and_who_ends)
{
    AT(a, 1 * S, join_enter, .target = b, .stack = stack);
    AT(a, 1 * S, wait_enter, .lock = other, .stack = stack);
    AT(b, 1 * S, sleep_enter, .stack = stack);
    look(2 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_JOINING);
    cr_assert_eq(thread(a)->wait.other.v, b.v);
    cr_assert_eq(thread(b)->state, LIVE_SLEEPING);
    AT(b, 3 * S, sleep_exit, .stack = stack);
    BARE(b, 3 * S, thread_end);
    look(4 * S, 10 * S);
    cr_assert_null(live_find_thread(&l, b));
    cr_assert_eq(l.n_threads, 1);
    near(thread(a)->sum[LIVE_JOINING], 3 * S);
}

Test(live, what_was_under_way_at_the_beginning)
{
    AT(a, 0, wait_found, .kind = EV_park_enter, .lock = mutex, .owner = b, .stack = stack);
    AT(c, 0, wait_found, .kind = EV_monitor_contended_enter, .stack = stack);
    AT(a, MS / 2, wait_open, .kind = EV_park_enter, .lock = mutex, .limit = WAIT_UNLIMITED);
    AT(c, MS / 2, wait_open, .kind = EV_monitor_contended_enter, .limit = WAIT_UNLIMITED);
    look(2 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_LOCKED);
    cr_assert(thread(a)->began_before);
    cr_assert_eq(live_blocker(thread(a)).v, b.v);
    cr_assert_eq(thread(c)->state, LIVE_BLOCKED);
    cr_assert_eq(thread(c)->wait.lock.v, 0);
    cr_assert_eq(l.contentions, 0);
    AT(c, 3 * S, monitor_contended_entered, .lock = monitor);
    look(4 * S, 10 * S);
    cr_assert_eq(thread(c)->state, LIVE_RUNNING);
    near(thread(c)->held_up, 3 * S);
}

/* No event tells the end of these, and nobody saw them go on: what they do is not known. */
Test(live, found_in_a_wait_whose_end_no_event_tells)
{
    AT(a, 0, wait_found, .kind = EV_sleep_enter, .stack = stack, .limit = WAIT_LIMITED);
    AT(b, 0, wait_found, .kind = EV_park_enter, .lock = mutex, .limit = WAIT_LIMITED);
    AT(c, 0, wait_found, .kind = EV_wait_enter, .stack = stack); /* gone on since, unseen */
    AT(b, MS, wait_open, .kind = EV_park_enter, .lock = mutex, .limit = WAIT_LIMITED);
    look(2 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_UNKNOWN);
    cr_assert_eq(thread(b)->state, LIVE_UNKNOWN);
    cr_assert_eq(thread(c)->state, LIVE_UNKNOWN);
    cr_assert_eq(thread(a)->sum[LIVE_SLEEPING], 0);
    cr_assert_eq(live_find_lock(&l, mutex), NULL);
    AT(a, 3 * S, wall_sample, .flags = SAMPLE_IDLE, .taken = 103 * S);
    look(4 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_UNKNOWN);
    AT(a, 5 * S, wall_sample, .flags = SAMPLE_LOOK, .taken = 105 * S);
    AT(b, 5 * S, notify, .lock = other);
    AT(c, 5 * S, sleep_enter, .stack = stack);
    look(6 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_RUNNING);
    cr_assert_eq(thread(a)->since, 105 * S);
    cr_assert_eq(thread(b)->state, LIVE_RUNNING);
    cr_assert_eq(thread(c)->state, LIVE_SLEEPING);
    near(thread(c)->sum[LIVE_SLEEPING], S);
}

/* What is parked goes on with a permit, what was found otherwise with whatever it does next. */
Test(live, found_and_gone_on_since)
{
    AT(a, 0, wait_found, .kind = EV_park_enter, .lock = mutex, .owner = b, .limit = WAIT_UNLIMITED);
    AT(b, 0, wait_found, .kind = EV_park_enter, .limit = WAIT_UNLIMITED);
    AT(c, 0, wait_found, .kind = EV_wait_enter, .lock = other, .limit = WAIT_UNLIMITED);
    AT(d, S / 2, unpark, .target = a); /* before it was seen to park on */
    look(3 * S / 4, 10 * S);           /* a bucket ends: locks for which nobody waits go */
    AT(a, S, wait_open, .kind = EV_park_enter, .lock = mutex, .limit = WAIT_UNLIMITED);
    AT(b, S, wait_open, .kind = EV_park_enter, .limit = WAIT_UNLIMITED);
    AT(c, S, wait_open, .kind = EV_wait_enter, .lock = other, .limit = WAIT_UNLIMITED);
    look(2 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_LOCKED);
    cr_assert_eq(thread(b)->state, LIVE_PARKED);
    cr_assert_eq(thread(c)->state, LIVE_WAITING);
    cr_assert_eq(live_find_lock(&l, mutex)->queue, 1);
    cr_assert_eq(live_find_lock(&l, mutex)->owner.v, b.v);
    near(thread(c)->sum[LIVE_WAITING],
         2 * S); /* from when it was found, not from when it was sure */
    AT(d, 3 * S, unpark, .target = a);
    AT(d, 3 * S, interrupt, .target = b);
    AT(d, 3 * S, unpark, .target = c); /* a permit for later */
    look(4 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_RUNNING);
    cr_assert_eq(thread(a)->since, 103 * S);
    near(thread(a)->held_up, 3 * S);
    cr_assert_eq(live_find_lock(&l, mutex)->queue, 0);
    cr_assert_eq(thread(b)->state, LIVE_RUNNING);
    cr_assert_eq(thread(c)->state, LIVE_WAITING);
    AT(c, 5 * S, thread_start_called, .target = d);
    look(6 * S, 10 * S);
    cr_assert_eq(thread(c)->state, LIVE_RUNNING);
}

Test(live, a_deadlock)
{
    AT(a, 1 * S, monitor_contended_enter, .lock = monitor, .owner = b);
    look(1500 * MS, 10 * S);
    AT(b, 2 * S, park_enter, .lock = mutex, .owner = c);
    AT(c, 2 * S, monitor_contended_enter, .lock = other, .owner = a);
    AT(v, 2 * S, monitor_contended_enter, .lock = other, .owner = a);
    look(2500 * MS, 10 * S);
    cr_assert_eq(l.n_deadlocked, 0); /* too young */
    look(4 * S, 10 * S);
    cr_assert_eq(l.n_deadlocked, 3);
    cr_assert_eq(l.n_deadlocks, 1);
    cr_assert(thread(a)->deadlock && thread(b)->deadlock && thread(c)->deadlock);
    cr_assert(!thread(v)->deadlock); /* behind it, not in it */
    AT(c, 5 * S, monitor_contended_entered, .lock = other);
    look(7 * S, 10 * S);
    cr_assert_eq(l.n_deadlocked, 0);
}

Test(live, two_deadlocks)
{
    AT(a, 1 * S, monitor_contended_enter, .lock = monitor, .owner = b);
    AT(b, 1 * S, monitor_contended_enter, .lock = other, .owner = a);
    AT(c, 1 * S, monitor_contended_enter, .lock = mutex, .owner = d);
    AT(d, 1 * S, monitor_contended_enter, .lock = queue, .owner = c);
    look(4 * S, 10 * S);
    cr_assert_eq(l.n_deadlocked, 4);
    cr_assert_eq(l.n_deadlocks, 2);
    cr_assert_eq(thread(a)->deadlock, thread(b)->deadlock);
    cr_assert_eq(thread(c)->deadlock, thread(d)->deadlock);
    cr_assert_neq(thread(a)->deadlock, thread(c)->deadlock);
}

Test(live, missing_events_make_unknown)
{
    AT(a, 1 * S, monitor_contended_enter, .lock = monitor, .owner = b);
    AT(b, 1 * S, sleep_enter, .stack = stack);
    live_gap(&l, a.v, 102 * S);
    look(3 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_UNKNOWN);
    cr_assert_eq(thread(b)->state, LIVE_SLEEPING);
    cr_assert_eq(live_find_lock(&l, monitor)->queue, 0);
    near(thread(a)->held_up, 1 * S);
    AT(a, 4 * S, notify, .lock = monitor);
    cr_assert_eq(thread(a)->state, LIVE_RUNNING);
    AT(b, 4 * S, lost, .count = 3);
    look(5 * S, 10 * S);
    cr_assert_eq(thread(b)->state, LIVE_UNKNOWN);
}

Test(live, virtual_threads_are_bounded)
{
    for (uint32_t i = 0; i < LIVE_VIRTUAL_MAX * 3; i++) {
        thread_id id = {1000 + i};
        AT(id, 1 * S + i, park_enter, .lock = queue);
        if (i % 2)
            AT(id, 1 * S + i, park_exit, .lock = queue);
    }
    cr_assert_eq(l.n_virtual, LIVE_VIRTUAL_MAX);
    cr_assert_gt(l.not_followed, 0);
    look(2 * S, 10 * S);
    cr_assert_eq(l.n_virtual, LIVE_VIRTUAL_MAX / 2);
    cr_assert_eq(live_find_lock(&l, queue)->waiters, LIVE_VIRTUAL_MAX / 2);
}

Test(live, before_the_horizon_only_states_count)
{
    live_event(&l,
               &(struct event){.time = 50 * S,
                               .thread = a,
                               .kind = EV_monitor_contended_enter,
                               .monitor_contended_enter = {.lock = monitor, .owner = b}},
               1);
    look(1 * S, 10 * S);
    cr_assert_eq(thread(a)->state, LIVE_BLOCKED);
    cr_assert_eq(thread(a)->since, 50 * S);
    near(thread(a)->held_up, 1 * S);
    cr_assert_eq(l.contentions, 0);
}

/* Whatever happens, sums fit the span, and queues are who is in them. */
Test(live, random_events_keep_the_books)
{
    uint64_t now = 0;
    srand(7);
    for (int i = 0; i < 200000; i++) {
        thread_id id = {(uint32_t)rand() % 6};
        lock_id lock = {(uint32_t)rand() % 6};
        now += (uint64_t)rand() % (5 * MS);
        switch (rand() % 12) {
        case 0:
        case 1:
            AT(id, now, monitor_contended_enter, .lock = lock, .owner = {(uint32_t)rand() % 6});
            break;
        case 2:
        case 3:
            AT(id, now, monitor_contended_entered, .lock = lock);
            break;
        case 4:
            AT(id, now, wait_enter, .lock = lock);
            break;
        case 5:
            AT(id, now, wait_exit, .lock = lock);
            break;
        case 6:
            AT(id, now, park_enter, .lock = lock, .owner = {(uint32_t)rand() % 6});
            break;
        case 7:
            AT(id, now, park_exit, .lock = lock);
            break;
        case 8:
            AT(id, now, sleep_enter, .timeout_ns = 1);
            break;
        case 9:
            BARE(id, now, sleep_exit);
            break;
        case 10:
            if (rand() % 50 == 0)
                BARE(id, now, thread_end);
            break;
        default:
            if (rand() % 20 == 0)
                live_gap(&l, id.v, 100 * S + now);
        }
        if (i % 100)
            continue;
        look(now, 5 * S);
        uint64_t held_up = 0, by_lock = 0, in_queues = 0, queued = 0;
        for (size_t k = 0; k < l.n_threads; k++) {
            uint64_t sum = 0;
            for (int s = 0; s < LIVE_SUMS; s++)
                sum += l.threads[k]->sum[s];
            cr_assert_leq(sum, l.span);
            held_up += l.threads[k]->wait.lock.v ? l.threads[k]->held_up : 0;
            in_queues += l.threads[k]->on && live_is_held_up(l.threads[k]->state);
        }
        for (size_t k = 0; k < l.n_locks; k++) {
            queued += l.locks[k]->queue;
            by_lock += l.locks[k]->blocked_ns;
        }
        cr_assert_eq(queued, in_queues);
        cr_assert_leq(held_up / 100, by_lock);
    }
}
