/* words.c - what a finding about a resource says: what it is, who waits for it and where in the
 * program, who has it and what those do, what would help.
 *
 * All of it from the facts of struct resource: no other file has words for them. */
#include "analyze/labels.h"
#include "analyze/peer_sums.h"
#include "base/human.h"
#include "base/util.h"
#include "conclude/does.h"
#include "conclude/doings.h"
#include "conclude/lengthened.h"
#include "conclude/resource_names.h"
#include "conclude/rules_parts.h"
#include "conclude/threads_now.h"

#include <stdio.h>
#include <string.h>

enum {
    WAIT_IN_LEAST = 10,   /* percent of the waits; a line with less is not where threads wait */
    ALIKE = 100,          /* resources among which names are to differ */
    DOING_MOST = 3,       /* nor more than this number of things, */
    DOING_SAMPLES = 3,    /* nor what fewer samples say */
    TRY_PERMILLE = 500,   /* of the holders' time: what they do is worth a change */
    KNOWN_PERMILLE = 500, /* of the time in which it is wanted: who has it is known for less, */
    KNOWN_THINGS = 250,   /* of things: most were taken otherwise, or not given back */
    TIMED_OUT_LEAST = 3,  /* waits that ended at their limit, */
    TIMED_OUT_PART = 10,  /* and this part of all: they are worth a line */
    KNOWN_LEAST = 50,     /* and the text says of how much; or too little to name a thread */
};

/* --- the title -------------------------------------------------------------------------------- */

static bool is_starved(const struct rule_finding *f)
{
    return strcmp(f->rule, "starved-pool") == 0;
}

void finding_resource(const struct resources *all, const struct resource *r,
                      const struct analysis *a, char *out, size_t n)
{
    char number[16], other[2 * LABEL_MAX];
    resource_title(r, a, out, n);
    if (r->n_alike) {
        snprintf(out + strlen(out), n - strlen(out), " (%u objects)", r->n_alike + 1);
        return;
    }
    for (size_t i = 0; i < all->n && i < ALIKE && r->lock.v; i++) {
        if (&all->v[i] == r || all->v[i].group != r->group)
            continue;
        resource_title(&all->v[i], a, other, sizeof other);
        if (strcmp(out, other) != 0)
            continue;
        label_lock_number(a->trace, r->lock, number, sizeof number);
        snprintf(out + strlen(out), n - strlen(out), " (object %s)", number);
        return;
    }
}

static void say_title(struct rule_finding *f, const struct evidence *ev)
{
    const struct resource *r = f->resource;
    char name[2 * LABEL_MAX];
    if (is_starved(f)) {
        resource_thread_pool(ev->a, r->threads[0], name, sizeof name);
        if (resource_is_unanswered(ev->a, r))
            rule_say(f, "%s: all %s threads wait for answers that no thread gives", name,
                     human_count(r->n_threads).text);
        else
            rule_say(f, "%s: the pool's threads wait for tasks that the same pool has to run",
                     name);
        return;
    }
    finding_resource(&ev->resources, r, ev->a, name, sizeof name);
    rule_say(f, "%s", name);
    if (r->none_free && r->n_pool == 1)
        rule_say(f, ": its only thread busy for %s", human_time(r->none_free).text);
    else if (r->none_free && r->n_pool == 2)
        rule_say(f, ": both threads busy for %s", human_time(r->none_free).text);
    else if (r->none_free)
        rule_say(f, ": all %s threads busy for %s", human_count(r->n_pool).text,
                 human_time(r->none_free).text);
    if (r->at_once > !r->all_known && resource_is_taken(r, ev->a)) /* one at least says nothing */
        rule_say(f, ": %s%u in use at once", r->all_known ? "" : "at least ", r->at_once);
}

void finding_share(const struct rule_finding *f, char *out, size_t n)
{
    *out = 0;
    if (f->resource)
        snprintf(out, n, "waits: %u %% of busy time", resource_permille(f->resource) / 10);
}

static const struct {
    const char *waits, *wait;
    enum card_label holders;
} kinds[] = {[RESOURCE_LOCK] = {" waits ", " wait ", CARD_HELD_BY},
             [RESOURCE_THINGS] = {" waits ", " wait ", CARD_HELD_BY},
             [RESOURCE_ANSWERS] = {" waits ", " wait ", CARD_GIVEN_BY},
             [RESOURCE_POLLED] = {" polls, for ", " poll, for ", CARD_OTHER_END},
             [RESOURCE_DELAY] = {" waits ", " wait ", CARD_HELD_BY},
             [RESOURCE_LOOP] = {" waits ", " wait ", CARD_HANDLERS},
             [RESOURCE_IO] = {" waits ", " wait ", CARD_HELD_BY}};

/* --- who waits -------------------------------------------------------------------------------- */

/* "16 threads of request" */
static void say_who(struct rule_finding *f, const struct evidence *ev, const struct resource *r)
{
    char pool[LABEL_MAX];
    uint32_t n = resource_n_waiters(r);
    resource_pool_name(ev->a, r, pool, sizeof pool);
    if (n == 1)
        rule_say_thread(f, ev, r->threads[0]);
    else
        rule_say(f, "%s %s%s%s", human_count(n).text,
                 !*pool && !r->mixed && ev->a->threads.v[r->threads[0]].is_virtual
                     ? "virtual threads"
                     : "threads",
                 *pool ? " of " : "", pool);
}

/* " from 10.0.0.7:5432", " to /var/log/app.log", where the other end is known. */
static void say_peer(struct rule_finding *f, const struct evidence *ev, const struct activity *x)
{
    lock_id peer = activity_peer(x);
    char name[LABEL_MAX];
    if (!peer.v)
        return;
    peer_name(ev->a->trace, peer, name, sizeof name);
    rule_say(f, " %s%s%s",
             x->does == DOES_SYNC     ? ""
             : x->does == DOES_OUTPUT ? "to "
                                      : "from ",
             10 * x->peer.ns >= 9 * x->ns ? "" : "mostly ", name);
}

/* Behind " wait for input": by what most of it is known. */
static void say_io(struct rule_finding *f, const struct evidence *ev)
{
    const struct resource *r = f->resource;
    say_peer(f, ev, r->doing);
    if (r->doing->does == DOES_NATIVE) {
        char method[LABEL_MAX];
        resource_method_name(ev->a->trace, does_native_method(ev->a->trace, r->wait_stack), method,
                             sizeof method);
        rule_say(f, " of %s", method);
    }
    rule_say(f, r->doing->samples ? " (%s, %s samples)" : " (%s, %s waits)", human_time(r->ns).text,
             human_count(r->doing->samples ? r->looks : r->count).text);
    if (r->full) {
        rule_line(f, CARD_PLAIN);
        if (r->at_once == 1)
            rule_say(f, "one at a time");
        else
            rule_say(f, "never more than %u at a time, %u for %u %% of the time", r->at_once,
                     r->at_once, r->full / 10);
    }
    if (r->alone_ns) {
        rule_line(f, CARD_PLAIN);
        rule_say(f, "for %s only ", human_time(r->alone_ns).text);
        rule_say_thread(f, ev, r->alone);
        rule_say(f, " of the pool's %s threads had work", human_count(r->n_pool).text);
        rule_add_thread(f, ev, r->alone);
    }
    rule_line(f, CARD_WAIT_IN);
    rule_say_in(f, ev, "", r->wait_at);
    rule_say_in(f, ev, " <- ", program_caller(&ev->resources.program, r->wait_stack));
}

bool rule_is_queue_for_answers(const struct resource *r)
{
    return r->kind == RESOURCE_ANSWERS && r->given_ns && !r->passed && !resource_is_meeting(r) &&
           rule_permille(r->queued_ns, r->given_ns) >= QUEUED_PERMILLE;
}

/* Whether holders are in the method where others wait: who calls it says more. */
static bool is_of_holders_too(const struct resource *r, const struct evidence *ev, struct place at)
{
    const struct activity *x = r->doing;
    return r->n_doing && r->wait_at.method.v && at.method.v &&
           (x->at.method.v == at.method.v ||
            program_caller(&ev->resources.program, x->stack).method.v == at.method.v);
}

/* Whether requests queue, and at most half of the threads that give the answers work at a time: an
 * actor, an ordered queue or a limit keeps the others from beginning. */
static bool is_serial(const struct resource *r)
{
    return rule_is_queue_for_answers(r) && r->one_pool && r->at_once && !r->none_free &&
           2 * r->at_once <= r->n_holders;
}

/* Slow limits by the minute. */
static void say_rate(struct rule_finding *f, const struct resource *r)
{
    double passed = (double)(r->count - min_u64(r->open, r->count));
    double each_second = passed * 1e9 / (double)max_u64(r->last - r->first, 1);
    bool slow = each_second < 1;
    rule_line(f, CARD_PLAIN);
    rule_say(f, "the limit lets %s waiting calls through each %s",
             human_count((uint64_t)((slow ? 60 * each_second : each_second) + 0.5)).text,
             slow ? "minute" : "second");
}

/* Whether holders wait for one more of the same things. */
static bool is_another(const struct resource *r, const struct evidence *ev,
                       const struct activity *x)
{
    return r->kind == RESOURCE_THINGS && x->other && &ev->resources.v[x->other - 1] == r;
}

/* Whether waits for others, and not for time, often end because their time is up. */
static bool time_is_up(const struct resource *r)
{
    return r->kind <= RESOURCE_ANSWERS && r->timed_out >= TIMED_OUT_LEAST &&
           TIMED_OUT_PART * r->timed_out >= r->count;
}

/* Whether most of those who wait for a thing get none in their time: who was seen to have one is not why. */
static bool is_out_of_things(const struct resource *r, const struct evidence *ev)
{
    return time_is_up(r) && 2 * r->timed_out >= r->count && resource_is_taken(r, ev->a) &&
           !(r->n_doing && is_another(r, ev, r->doing)) && !resource_is_full_queue(r);
}

static void say_waiters(struct rule_finding *f, const struct evidence *ev)
{
    const struct resource *r = f->resource;
    unsigned share = rule_permille(r->wait_at_ns, r->ns) / 10;
    rule_line(f, CARD_PLAIN);
    say_who(f, ev, r);
    rule_say(f, "%s%s",
             resource_is_sleep(r)         ? resource_n_waiters(r) == 1 ? " sleeps " : " sleep "
             : resource_n_waiters(r) == 1 ? kinds[r->kind].waits
                                          : kinds[r->kind].wait,
             r->kind == RESOURCE_LOOP ? "in handlers"
             : r->kind == RESOURCE_IO ? r->doing->does == DOES_NATIVE ? "in " : "for "
                                      : human_time(r->ns / r->count).text);
    if (r->kind == RESOURCE_LOOP) {
        rule_say(f, " between selects (%s); the loop serves nothing else in that time",
                 human_time(r->ns).text);
        return;
    }
    if (r->kind == RESOURCE_IO) {
        rule_say(f, "%s", resource_io_word(r));
        say_io(f, ev);
        return;
    }
    if (r->count == 1)
        rule_say(f, " once");
    else
        rule_say(f, " on average (%s %s, %s; longest %s%s%s%s)", human_count(r->count).text,
                 resource_is_sleep(r) ? "sleeps" : "waits", human_time(r->ns).text,
                 human_time(r->max).text, resource_is_brief(r) ? "; all about " : "",
                 resource_is_brief(r) ? human_time(r->first - ev->a->window.from).text : "",
                 resource_is_brief(r) ? " after the start" : "");
    if (resource_is_rate(r, ev->a))
        say_rate(f, r);
    if (r->kind <= RESOURCE_ANSWERS && r->count > 1 && 2 * r->open >= r->count && !f->still &&
        !is_starved(f)) {
        rule_line(f, CARD_PLAIN);
        rule_say(f, "%s of %s waits were not over %s", human_count(r->open).text,
                 human_count(r->count).text, label_end(ev->a->trace));
    }
    if (time_is_up(r)) {
        rule_line(f, CARD_PLAIN);
        rule_say(f, "%s of %s waits timed out", human_count(r->timed_out).text,
                 human_count(r->count).text);
    }
    if (r->n_alike) {
        rule_line(f, CARD_PLAIN);
        rule_say(f, "that is at one of the objects, at the %s: %s waits, %s",
                 r->n_alike == 1 ? "other one" : "others", human_count(r->alike_count).text,
                 human_time(r->alike_ns).text);
    }
    if (r->of_loops) {
        rule_line(f, CARD_PLAIN);
        rule_say(f, "the waiting threads are event loops: a loop serves nothing else in that time");
    }
    if (rule_is_queue_for_answers(r) && !is_starved(f)) {
        rule_line(f, CARD_PLAIN);
        rule_say(f, "requests queue for %u %% of that time, before work on the answer begins",
                 rule_permille(r->queued_ns, r->given_ns) / 10);
        if (r->at_once && !r->none_free) /* where all are busy, the title says it */
            rule_say(f, is_serial(r) ? " (%u at a time, by %u threads in turn)" : " (%u at a time)",
                     r->at_once, r->n_holders);
    } else if (resource_is_from_elsewhere(r) && !resource_is_due(r)) {
        rule_line(f, CARD_PLAIN);
        rule_say(f,
                 "for %u %% of that time the answering threads did not work on an answer: the "
                 "delay is elsewhere",
                 rule_permille(r->outside_ns, r->given_ns) / 10);
    }
    if (resource_is_due(r)) {
        rule_line(f, CARD_PLAIN);
        rule_say(f, "for %u %% of that time the answering threads waited until a timer was due",
                 rule_permille(r->timed_ns + r->due_ns, r->ns) / 10);
    }
    struct place at =
        r->wait_at.method.v ? r->wait_at : program_library(&ev->resources.program, r->wait_stack);
    if (!at.method.v || (r->wait_at.method.v && share < WAIT_IN_LEAST))
        return;
    rule_line(f, CARD_WAIT_IN);
    rule_say_in(f, ev, "", at);
    if (is_of_holders_too(r, ev, at))
        rule_say_in(f, ev, " <- ", program_caller(&ev->resources.program, r->wait_stack));
    if (share < 100 && r->wait_at.method.v)
        rule_say(f, ", %u %%", share);
}

/* --- who has it ------------------------------------------------------------------------------- */

static unsigned known_permille(const struct resource *r)
{
    return r->held < r->wanted ? rule_permille(r->held, r->wanted) : 1000;
}

void finding_holders(const struct resource *r, const struct analysis *a, char *out, size_t n)
{
    char name[LABEL_MAX] = "";
    *out = 0;
    if (resource_is_handed(r)) {
        snprintf(out, n, "%s",
                 resource_is_late(r) ? "no thread: no carrier is free"
                                     : "no thread: the lock is being handed off");
        return;
    }
    if (!r->held || known_permille(r) < KNOWN_LEAST)
        return;
    if (resource_has_one_holder(r)) {
        label_thread(&a->threads, a->trace, r->holder, name, sizeof name);
        snprintf(out, n, r->n_holders > 1 ? "%s (%u %%)" : "%s", name,
                 rule_permille(r->holder_ns, r->held) / 10);
        return;
    }
    if (r->one_pool)
        resource_called_pool(a, r->holder, name, sizeof name);
    snprintf(out, n, "%s threads%s%s", human_count(r->n_holders).text, *name ? " of " : "", name);
}

static enum card_label holder_label(const struct resource *r)
{
    if (r->passed && !r->worked)
        return CARD_BUSY;
    if (resource_is_meeting(r))
        return CARD_LAST;
    if (resource_is_full_queue(r))
        return CARD_CONSUMER;
    if (r->past)
        return CARD_HELD_BY;
    return r->brought ? CARD_GIVEN_BY : kinds[r->kind].holders;
}

/* "66 % of the time blocked on HikariPool-1 (12 of 18 samples)" */
static void say_doing(struct rule_finding *f, const struct evidence *ev, const struct resource *r,
                      const struct activity *x)
{
    bool few = x->samples && x->samples < DOING_SAMPLES; /* a share would claim too much */
    if (!few)
        rule_say(f, "%u %% of the time ", rule_permille(x->ns, r->held) / 10);
    if (is_another(r, ev, x)) {
        rule_say(f, "waiting for another one");
    } else if (x->other && !resource_is_sleep(&ev->resources.v[x->other - 1])) {
        char name[2 * LABEL_MAX];
        finding_resource(&ev->resources, &ev->resources.v[x->other - 1], ev->a, name, sizeof name);
        const struct resource *other = &ev->resources.v[x->other - 1];
        bool end = other->remote && resource_is_of_child(other, ev->a);
        rule_say(f, "%s %s%s",
                 x->does == DOES_ANSWER  ? "waiting for"
                 : x->does == DOES_SLEEP ? "sleeping in"
                                         : "blocked on",
                 end ? "the " : "", name);
    } else {
        rule_say(f, "%s", doings[x->does].words);
    }
    if (doing_is(x->does, DOES_OUTPUT) || x->does == DOES_INPUT)
        say_peer(f, ev, x);
    if (x->does == DOES_SYNC && !summed_is_much(r->summed_ns, r->ns)) /* else: of some waits only */
        rule_say(f, " (%s sync%s, %s)", human_count(x->calls).text, x->calls == 1 ? "" : "s",
                 human_time(x->took).text);
    if (x->samples && r->by_waits && !few)
        rule_say(f, " (%s samples)", human_count(x->samples).text);
    else if (x->samples)
        rule_say(f, few ? " in %s of %s samples" : " (%s of %s samples)",
                 human_count(x->samples).text, human_count(r->looks).text);
    rule_add_stack(f, x->stack);
}

/* "PaymentClient.pay (PaymentClient.java:31) <- OrderService.place (OrderService.java:22)" */
static void say_chain(struct rule_finding *f, const struct evidence *ev, const struct resource *r,
                      const struct activity *x)
{
    struct place outside = program_library(&ev->resources.program, x->stack);
    struct place at = x->at.method.v ? x->at : outside.method.v ? outside : x->leaf;
    if (!at.method.v)
        return;
    rule_line(f, CARD_MORE);
    /* where others wait at the very same line, only the library's method says what is done there */
    bool same = x->at.method.v && x->at.method.v == r->wait_at.method.v &&
                x->at.line == r->wait_at.line && outside.method.v &&
                outside.method.v != x->at.method.v;
    if (same)
        rule_say_in(f, ev, "", outside);
    rule_say_in(f, ev, same ? " <- " : "", at);
    if (x->other_line)
        rule_say(f, ", line from other samples");
    if (x->at.method.v && !same)
        rule_say_in(f, ev, " <- ", program_caller(&ev->resources.program, x->stack));
}

/* Whose answer holders wait for could be another one's: what those do who give it. */
static void say_next(struct rule_finding *f, const struct evidence *ev, const struct activity *x)
{
    const struct resource *r = f->resource,
                          *other = x->other ? &ev->resources.v[x->other - 1] : NULL;
    char who[2 * LABEL_MAX];
    if (!other || other == r || x->does != DOES_ANSWER || other->remote || !other->n_doing ||
        resource_is_from_elsewhere(other) || other->doing->samples ||
        other->doing->does == DOES_UNKNOWN || rule_permille(x->ns, r->held) < SAYS_PERMILLE ||
        rule_permille(other->doing->ns, other->held) < SAYS_PERMILLE ||
        !(resource_has_one_holder(other) || other->one_pool))
        return;
    finding_holders(other, ev->a, who, sizeof who);
    rule_line(f, CARD_MORE);
    rule_say(f, "%s: ", who);
    say_doing(f, ev, other, other->doing);
    say_chain(f, ev, other, other->doing);
}

/* Of a thread that has told nothing since the attach: what it was in then. */
static void say_found(struct rule_finding *f, const struct evidence *ev)
{
    const struct resource *r = f->resource;
    if (!resource_has_one_holder(r) || !r->n_doing || r->doing->does != DOES_UNKNOWN)
        return;
    const struct carried *found = threads_found(ev->a, r->holder);
    uint8_t now = threads_found_in(ev->a, r->holder, found);
    if (now != NOW_ASLEEP && now != NOW_PARKED)
        return;
    rule_line(f, CARD_MORE);
    rule_say(f, "%s", now_names[now]);
    rule_say_in(f, ev, ": ", program_place(&ev->resources.program, found->stack));
    rule_add_stack(f, found->stack);
}

/* Answers that come when it is time: whoever gives them has nothing to do before that. */
static void say_timer(struct rule_finding *f, const struct evidence *ev)
{
    rule_line(f, CARD_GIVEN_BY);
    rule_say_thread(f, ev, f->resource->timer);
    rule_add_thread(f, ev, f->resource->timer);
    rule_say(f, ", when a timer is due: idle before that");
}

static void say_holders(struct rule_finding *f, const struct evidence *ev)
{
    const struct resource *r = f->resource;
    char who[2 * LABEL_MAX];
    if (!r->held && r->timed_ns && 2 * r->timed_ns >= r->ns) {
        say_timer(f, ev);
        return;
    }
    if (!r->held && is_out_of_things(r, ev)) {
        rule_line(f, CARD_HELD_BY);
        rule_say(f, "unknown: taken without a wait, or not given back");
    }
    if ((!r->held && !resource_is_handed(r)) || r->kind == RESOURCE_IO)
        return;
    finding_holders(r, ev->a, who, sizeof who);
    rule_line(f, holder_label(r));
    if (resource_is_handed(r)) {
        unsigned percent = rule_permille(r->handed, r->wanted) / 10;
        struct human each = human_time(r->handed / r->n_handed);
        rule_say(f, "no thread for %u %% of the time: %s", percent,
                 resource_is_late(r) ? "woken threads have no carrier" : "hand-offs");
        if (summed_is_much(r->summed_ns, r->ns)) /* how often was looked at now and then */
            rule_say(f, ", %s each", each.text);
        else
            rule_say(f, " (%s%s, %s each)", human_count(r->n_handed).text,
                     resource_is_late(r) ? " times" : "", each.text);
        return;
    }
    if (known_permille(r) < KNOWN_LEAST) {
        rule_say(f, "unknown for %u %% of the time%s", 100 - known_permille(r) / 10,
                 resource_is_taken(r, ev->a) ? ": taken without a wait, or not given back" : "");
        return;
    }
    if (known_permille(r) < KNOWN_PERMILLE)
        rule_say(f, "known for %u %% of the time: ", known_permille(r) / 10);
    if (resource_has_one_holder(r))
        rule_add_thread(f, ev, r->holder);
    else if (r->one_pool && !r->mixed && resource_same_pool(ev->a, r->holder, r->threads[0]))
        snprintf(who, sizeof who, "%s threads of the same pool", human_count(r->n_holders).text);
    if (r->kind != RESOURCE_LOOP)
        rule_say(f, "%s", who);
    if (r->past && r->n_holders > 1)
        rule_say(f, ", %u at a time", r->at_once);
    if (r->remote || resource_is_due(r) ||
        resource_is_from_elsewhere(r)) /* what they do then says nothing of what is waited for */
        return;
    for (size_t i = 0, n = 0; i < r->n_doing && n < DOING_MOST; i++) {
        const struct activity *x = &r->doing[i];
        if (rule_permille(x->ns, r->held) < DOING_PERMILLE ||
            (n && x->samples && x->samples < DOING_SAMPLES))
            continue;
        if (n++)
            rule_line(f, CARD_MORE);
        else if (r->kind != RESOURCE_LOOP)
            rule_say(f, ", ");
        say_doing(f, ev, r, x);
        say_chain(f, ev, r, x);
        say_next(f, ev, x);
    }
    if (is_out_of_things(r, ev) ||
        (resource_is_taken(r, ev->a) && known_permille(r) < KNOWN_THINGS)) {
        rule_line(f, CARD_MORE);
        rule_say(f, "the others: %snot given back",
                 r->all_known ? "" : "taken without a wait, or ");
    }
    say_found(f, ev);
}

/* Permits that leaked. */
static void say_lost(struct rule_finding *f, const struct evidence *ev)
{
    const struct resource *r = f->resource;
    if (!r->lost)
        return;
    rule_line(f, CARD_PLAIN);
    rule_say(f, "%s permit%s acquired and never released, the last one by ",
             human_count(r->lost).text, r->lost == 1 ? " was" : "s were");
    rule_say_thread(f, ev, r->lost_by);
    rule_say_place(f, ev, " in ", r->lost_at);
    rule_add_thread(f, ev, r->lost_by);
    rule_add_stack(f, r->lost_at);
}

static void say_one_behind(struct rule_finding *f, const struct evidence *ev,
                           const struct resource *x, bool first)
{
    char name[2 * LABEL_MAX];
    finding_resource(&ev->resources, x, ev->a, name, sizeof name);
    rule_line(f, first ? CARD_BEHIND : CARD_MORE);
    say_who(f, ev, x);
    rule_say(f, " %s for %s: ", resource_n_waiters(x) == 1 ? "waits" : "wait", name);
    if (x->count > 1)
        rule_say(f, "%s waits, ", human_count(x->count).text);
    rule_say(f, "%s", human_time(x->ns).text);
    rule_add_stack(f, x->wait_stack);
}

/* Who waits for resources whose holders wait for this one. */
static void say_behind(struct rule_finding *f, const struct evidence *ev)
{
    const struct resource *r = f->resource;
    char title[2 * LABEL_MAX], other[2 * LABEL_MAX];
    bool first = true;
    resource_title(r, ev->a, title, sizeof title);
    for (uint32_t i = 0; i < r->n_behind; i++) {
        const struct resource *x = &ev->resources.v[r->behind[i] - 1];
        resource_title(x, ev->a, other, sizeof other);
        if (r->kind == RESOURCE_THINGS && strcmp(title, other) == 0)
            continue; /* a lock inside the pool */
        say_one_behind(f, ev, x, first);
        first = false;
    }
}

static void say_lengthened(struct rule_finding *f, const struct evidence *ev,
                           const struct resource *r, const struct lengthened *l, bool first)
{
    say_one_behind(f, ev, r, first);
    rule_line(f, CARD_MORE);
    if (l->by == LENGTHENED_PAUSES)
        rule_say(f, "%u %% of that time is in pauses of the collector", l->permille / 10);
    else
        rule_say(f, "while the heap grew, the average %s rose from %s to %s",
                 l->by == LENGTHENED_TASKS ? "work for a task of these threads" : "hold",
                 human_time(l->first).text, human_time(l->last).text);
}

/* The cause comes before what it lengthens. */
void rule_say_lengthened(struct evidence *ev, struct rule_finding *f, bool grows)
{
    const struct rule_finding *v = (const void *)ev->found.p;
    const struct heap_stretch s = {f->from, f->to, grows};
    unsigned n = 0;
    for (size_t i = 0; i < ev->found.len / sizeof *v && !ev->lengthened_told; i++) {
        struct lengthened l;
        if (!v[i].resource || v[i].resource->kind != RESOURCE_LOCK || n == RESOURCE_BEHIND)
            continue;
        struct resource *r = &ev->resources.v[v[i].resource - ev->resources.v];
        if (lengthened_find(r, ev->a, &s, &l) != 0 || !l.by)
            continue;
        say_lengthened(f, ev, r, &l, n++ == 0);
        f->severity = v[i].severity > f->severity ? v[i].severity : f->severity;
        f->impact += v[i].impact;
    }
    ev->lengthened_told |= n != 0;
}

/* --- what it does to the end, what would help ------------------------------------------------- */

static void say_path(struct rule_finding *f, const struct evidence *ev)
{
    const struct path *p = &ev->a->path;
    unsigned seen = f->path_ns ? (unsigned)(f->path_seen * 100 / f->path_ns) : 0;
    if (!f->path_ns)
        return;
    rule_line(f, CARD_PATH);
    rule_say(f, "%u %% of the critical path", rule_permille(f->path_ns, p->to - p->from) / 10);
    if (seen)
        rule_say(f, " (%u %% of it through the last owner seen)", seen);
}

/* A pool of several threads, none of which is free, that mostly wait for input: a further one would
 * use no processor.  One thread alone may be alone for the order of what it does. */
static bool is_small_pool(const struct resource *r)
{
    if (r->kind == RESOURCE_IO)
        return r->none_free && r->n_threads > 1 && r->doing->does == DOES_INPUT;
    return rule_is_queue_for_answers(r) && r->one_pool && r->n_holders > 1 && !is_serial(r) &&
           r->n_doing && r->doing->does == DOES_INPUT &&
           rule_permille(r->doing->ns, r->held) >= TRY_PERMILLE;
}

/* Tasks that wait, in the pool that has a thread for each processor but one. */
static bool is_common(const struct resource *r, const struct analysis *a)
{
    return rule_is_queue_for_answers(r) && r->n_doing && resource_is_common_pool(a, r->holder) &&
           (r->doing->does == DOES_INPUT || r->doing->does == DOES_ANSWER ||
            r->doing->does == DOES_SLEEP) &&
           rule_permille(r->doing->ns, r->held) >= TRY_PERMILLE;
}

/* Whether a thread serves others alone: an event loop, the only thread of a pool, or one for whose
 * answers others wait. */
static bool is_server(const struct resource *r)
{
    if (r->kind == RESOURCE_LOOP)
        return true;
    if (rule_is_queue_for_answers(r))
        return r->n_holders == 1;
    return r->kind == RESOURCE_IO && r->n_threads == 1 && (r->none_free || r->behind_ns);
}

/* Whether only a library could do something else with its own lock; what it writes, a program can
 * have written otherwise. */
static bool is_librarys_own(const struct resource *r, const struct evidence *ev,
                            const struct activity *x)
{
    return r->kind == RESOURCE_LOCK && !doing_is(x->does, DOES_OUTPUT) &&
           !doings[x->does].nowhere &&
           program_code(&ev->resources.program, r->take) == CODE_LIBRARY;
}

/* Whether holders are in code of the resource's own library at that end of their stacks: they do for
 * it what it does by itself. */
static bool is_of_its_library(const struct resource *r, const struct evidence *ev, struct place at)
{
    return at.method.v && r->take.v &&
           program_code(&ev->resources.program, at.method) < CODE_PROGRAM &&
           program_one_library(&ev->resources.program, at.method, r->take);
}

static const char *advice_for(const struct rule_finding *f, const struct evidence *ev)
{
    const struct resource *r = f->resource;
    if (is_starved(f))
        return "run the inner tasks in a pool of their own, or in the thread that waits for them";
    if (r->lost)
        return "release each permit in a finally block";
    if (is_out_of_things(r, ev))
        return NULL;
    if (resource_is_handed(r) && r->n_doing && is_librarys_own(r, ev, r->doing))
        return NULL;
    if (resource_is_handed(r))
        return resource_is_fair(r, ev->a)
                   ? "use an unfair lock, or take the lock less often and do more work each time"
               : resource_is_late(r) ? NULL
                                     : "take the lock less often and do more work each time";
    if (resource_is_due(r))
        return NULL;
    if (is_common(r, ev->a))
        return "run tasks that wait in an executor of their own, not in the common pool";
    if (is_serial(r))
        return "allow more at a time: more threads alone would not help";
    if (is_small_pool(r))
        return "give the pool more threads, or make the other end answer faster";
    if (r->alone_ns && 2 * r->alone_ns >= r->last - r->first)
        return "divide the longest task: the other threads had no work";
    if (resource_is_rate(r, ev->a))
        return "allow more calls per second";
    const struct activity *x = r->doing;
    bool queue = resource_is_full_queue(r);
    bool transaction = resource_is_of_transactions(r, ev->a);
    bool loading = resource_is_loading(r, ev->a);
    bool taken = queue || transaction || loading || r->kind != RESOURCE_THINGS ||
                 resource_is_taken(r, ev->a);
    if (!r->n_doing || known_permille(r) < KNOWN_LEAST || !taken ||
        (r->kind == RESOURCE_THINGS && known_permille(r) < KNOWN_THINGS) ||
        resource_is_of_jdk(r, ev->a) || resource_is_brief(r) || resource_is_of_classes(r, ev->a) ||
        (!x->at.method.v && !doings[x->does].nowhere) ||
        (x->samples && x->samples < DOING_SAMPLES) || rule_permille(x->ns, r->held) < TRY_PERMILLE)
        return NULL;
    if (loading && !doings[x->does].nowhere)
        return "load entries before they expire, and use the old ones until then";
    if (is_server(r))
        return doings[x->does].of_thread;
    if (is_another(r, ev, x))
        return "let a thread use the one that it has instead of taking another";
    if (queue)
        return doings[x->does].of_queue;
    if (r->kind == RESOURCE_THINGS && resource_leads_to(r, ev->a).v) /* that is what it is for */
        return x->does == DOES_INPUT ? "allow more at once, or make the other end answer faster"
                                     : NULL;
    if (transaction && x->does == DOES_COMPUTE &&
        is_of_its_library(r, ev, program_library(&ev->resources.program, x->stack)))
        return "make this statement cheaper";
    if (transaction)
        return doings[x->does].of_transaction;
    if (r->kind == RESOURCE_THINGS && /* the pool's own threads hold none that they could release */
        is_of_its_library(r, ev, program_outermost(&ev->resources.program, x->stack)))
        return NULL;
    if (is_librarys_own(r, ev, x))
        return NULL;
    if (r->kind == RESOURCE_POLLED && !r->past) /* the others look for what it does */
        return doings[x->does].of_queue;
    return resource_is_limit(r, ev->a)                                ? doings[x->does].of_permits
           : r->kind == RESOURCE_LOCK || (r->past && r->at_once == 1) ? doings[x->does].of_lock
           : r->past                                                  ? doings[x->does].of_permits
           : r->kind == RESOURCE_THINGS                               ? doings[x->does].of_things
                                                                      : NULL;
}

/* Whether more threads could empty the queue: a logger's has one, and bytes have an order. */
static bool may_have_consumers(const struct resource *r, const struct analysis *a)
{
    return resource_is_full_queue(r) && r->n_doing && !doings[r->doing->does].nowhere &&
           !resource_is_known(r, a) && !resource_is_pipe(r, a);
}

static void say_try(struct rule_finding *f, const struct evidence *ev)
{
    const char *text = advice_for(f, ev);
    if (!text)
        return;
    rule_line(f, CARD_TRY);
    if (may_have_consumers(f->resource, ev->a))
        rule_say(f, "let more threads empty the queue, or ");
    rule_say(f, "%s", text);
}

/* Where holders are known, and what they do is not: what would have said it. */
static void say_rerun(struct rule_finding *f, const struct evidence *ev)
{
    const struct resource *r = f->resource;
    const struct analysis *a = ev->a;
    const struct activity *x = r->doing;
    bool looked = a->samples.n[SAMPLE_WALL] || a->samples.n[SAMPLE_LOOKS];
    bool rare = r->n_doing && x->samples && x->samples < DOING_SAMPLES && looked;
    bool unknown = r->n_doing && (x->does == DOES_UNKNOWN || rare) &&
                   rule_permille(x->ns, r->held) >= TRY_PERMILLE;
    if (!unknown || known_permille(r) < KNOWN_LEAST || r->remote || resource_is_from_elsewhere(r) ||
        resource_is_due(r) || resource_is_handed(r) || *trace_info(a->trace, "import.format", ""))
        return;
    rule_line(f, CARD_RERUN);
    if (looked)
        rule_say(f, "with --wall 5ms: samples were too rare to say what holders do");
    else
        rule_say(f, "with --wall 20ms, or with the group looks: what holders do was not recorded");
}

static void say_still(struct rule_finding *f, const struct evidence *ev)
{
    const struct blocked *b = f->still;
    if (!b)
        return;
    rule_line(f, CARD_PLAIN);
    if (b->n > 1)
        rule_say(f, "%s threads were still blocked %s, longest ", human_count(b->n).text,
                 label_end(ev->a->trace));
    rule_say_thread(f, ev, b->longest->thread);
    if (b->n == 1)
        rule_say(f, " was still blocked %s,", label_end(ev->a->trace));
    rule_say(f, " for %s", human_time(ev->a->window.to - b->longest->since).text);
}

void rule_say_resource_anew(struct rule_finding *f, const struct evidence *ev)
{
    f->n_lines = 0;
    *f->text = 0;
    rule_say_resource(f, ev);
}

void rule_say_resource(struct rule_finding *f, const struct evidence *ev)
{
    say_title(f, ev);
    say_still(f, ev);
    say_waiters(f, ev);
    say_holders(f, ev);
    say_lost(f, ev);
    say_behind(f, ev);
    say_path(f, ev);
    say_try(f, ev);
    say_rerun(f, ev);
}
