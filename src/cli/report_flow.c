/* report_flow.c - the parts of `orca report` that show how threads acted on each other:
 * interactions, critical path, deadlocks, bottle graph. */
#include "cli/page.h"

#include "analyze/labels.h"
#include "base/buf.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/page_cells.h"
#include "conclude/resource_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { STACK_SHOWN = 6 }; /* frames of a stack */

/* Where a list of several tables says what they are of. */
static void note(const struct page *p, const char *text)
{
    page_wrapped(p, STYLE_FAINT, "", text, 0);
}

/* --- interactions ----------------------------------------------------------------------------- */

static const char *const interaction_texts[INTERACTION_LIMIT] = {
    [INTERACTION_STARTS_THREAD] = "Thread.start -> first instruction",
    [INTERACTION_HANDOFF_LOCK] = "monitor released -> taken",
    [INTERACTION_INTERRUPT] = "Thread.interrupt -> end of a wait",
    [INTERACTION_NOTIFY] = "notify -> end of a wait",
    [INTERACTION_NOTIFY_ALL] = "notifyAll -> end of each wait",
    [INTERACTION_JOINED] = "thread's end -> end of a join",
    [INTERACTION_UNPARK] = "unpark -> end of a park",
    [INTERACTION_SEMAPHORE] = "release -> end of an acquire",
    [INTERACTION_SUBMIT] = "task submitted -> its run",
    [INTERACTION_LAST_OWNER] = "monitor -> taken, from the last owner seen",
};

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* No event shows a thread that takes a monitor without having to wait. */
static void print_last_owners(const struct page *p)
{
    const struct interaction_sum *sums = p->r->a->bindings.sums;
    uint64_t seen = sums[INTERACTION_LAST_OWNER].count;
    uint64_t all = seen + sums[INTERACTION_HANDOFF_LOCK].count;
    char text[320];
    if (!seen)
        return;
    snprintf(text, sizeof text,
             "last-owner-seen: %s of %s hand-offs of monitors (%.1f %%). Another thread may have "
             "taken the monitor in between without having to wait; the group holds records each "
             "release.",
             human_count(seen).text, human_count(all).text, percent_of(seen, all));
    note(p, text);
}

static void print_unbound(const struct page *p)
{
    static const char *const states[STATE_LIMIT] = {"blocked", "in Object.wait", "parked",
                                                    "in join", "asleep",         "reacquiring"};
    const struct bindings *b = &p->r->a->bindings;
    struct buf unbound = {0}, timed = {0};
    for (int i = 0; i < WAIT_STATES; i++) {
        if (b->unbound[i])
            buf_printf(&unbound, "%s%s %s", unbound.len ? ", " : "",
                       human_count(b->unbound[i]).text, states[i]);
        if (b->timed_out[i])
            buf_printf(&timed, "%s%s %s", timed.len ? ", " : "", human_count(b->timed_out[i]).text,
                       states[i]);
    }
    if (timed.len) {
        buf_puts(&timed, ": waits that timed out.");
        note(p, buf_str(&timed));
    }
    if (unbound.len) {
        buf_puts(&unbound, ": waits that ended, cause unknown.");
        note(p, buf_str(&unbound));
    }
    buf_fini(&unbound);
    buf_fini(&timed);
}

void page_interactions(const struct page *p)
{
    static const struct table_column columns[] = {{"interaction", TABLE_LEFT, false},
                                                  {"times", TABLE_RIGHT, false},
                                                  {"waits ended", TABLE_RIGHT, false},
                                                  {"no waiter", TABLE_RIGHT, false},
                                                  {"from, and to", TABLE_LEFT, true}};
    const struct bindings *b = &p->r->a->bindings;
    struct table t;
    size_t n = 0;
    table_init(&t, columns, ARRAY_LEN(columns));
    for (int i = 0; i < INTERACTION_LIMIT; i++) {
        const struct interaction_sum *s = &b->sums[i];
        if (!s->count && !s->alone)
            continue;
        table_put(&t, interaction_name(i));
        cell_count(&t, s->count);
        cell_time(&t, s->ns, s->count && i != INTERACTION_STARTS_THREAD);
        cell_count(&t, s->alone);
        table_put(&t, interaction_texts[i]);
        n++;
    }
    if (n == 0) {
        table_fini(&t);
        page_nothing(p, "No thread acted on another.");
        return;
    }
    page_heading(p, "How threads acted on each other");
    page_table(p, &t);
    print_last_owners(p);
    print_unbound(p);
}

/* --- critical path ---------------------------------------------------------------------------- */

static const char *const path_texts[PATH_KINDS] = {
    [PATH_RUN] = "running",
    [PATH_HANDOFF] = "handed off, not running yet",
    [PATH_TIMED] = "waiting for a timer",
    [PATH_WAIT] = "waiting, cause unknown",
    [PATH_GC] = "in pauses of the collector",
    [PATH_UNKNOWN] = "in unknown states",
    [PATH_IO] = "in input or output",
    [PATH_READY] = "waiting for a processor",
    [PATH_STOPPED] = "stopped by the JVM",
    [PATH_OFF] = "off the processor, cause unknown",
};

static void print_path_head(const struct page *p)
{
    const struct path *path = &p->r->a->path;
    char name[PAGE_NAME], text[2 * PAGE_NAME];
    page_thread(p, path->thread, name);
    const struct analysis *a = p->r->a;
    bool whole = path->to >= a->threads.v[path->thread].to;
    snprintf(text, sizeof text, "Critical path to %s%s%s%s: %s, %s segments",
             whole ? "the end of " : "", name, whole ? "" : " at ",
             whole ? "" : human_time(path->to - a->window.from).text,
             human_time(path->to - path->from).text, human_count(path->n).text);
    page_heading(p, text);
    struct buf b = {0};
    for (int i = 0; i < PATH_KINDS; i++)
        if (path->kind_ns[i])
            buf_printf(&b, "%s%.1f %% %s", b.len ? "; " : "",
                       100.0 * (double)path->kind_ns[i] / (double)(path->to - path->from),
                       path_texts[i]);
    page_wrapped(p, STYLE_PLAIN, "", buf_str(&b), 0);
    buf_fini(&b);
    if (!path->handoffs_seen)
        return;
    snprintf(text, sizeof text,
             "Hand-offs of monitors on the path from the last owner seen: %s of %s. %.1f %% of the "
             "path is in those owners; everything earlier rests on them.",
             human_count(path->handoffs_seen).text, human_count(path->handoffs).text,
             percent_of(path->seen_ns, path->to - path->from));
    page_wrapped(p, STYLE_PLAIN, "", text, 0);
}

static void put_sum(struct table *t, const struct page *p, const struct path_sum *s)
{
    const struct path *path = &p->r->a->path;
    char bar[PAGE_BAR];
    cell_time(t, s->ns, true);
    cell_percent(t, s->ns, path->to - path->from);
    page_bar(p, s->ns, path->to - path->from, bar);
    table_put(t, bar);
    cell_count(t, s->count);
}

static const struct table_column path_columns[] = {{"on the path", TABLE_RIGHT, false},
                                                   {"share", TABLE_RIGHT, false},
                                                   {"", TABLE_LEFT, false},
                                                   {"segments", TABLE_RIGHT, false},
                                                   {"", TABLE_LEFT, true}};

static void print_path_threads(const struct page *p)
{
    const struct path_sums *s = &p->r->a->path_sums;
    struct table_column columns[ARRAY_LEN(path_columns)];
    struct table t;
    memcpy(columns, path_columns, sizeof columns);
    columns[4].title = "thread";
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(p->r, s->n_threads); i++) {
        put_sum(&t, p, &s->threads[i]);
        cell_thread(&t, p, s->threads[i].id);
    }
    page_table(p, &t);
}

static void print_path_locks(const struct page *p)
{
    const struct path_sums *s = &p->r->a->path_sums;
    struct table_column columns[ARRAY_LEN(path_columns)];
    struct table t;
    if (s->n_locks == 0)
        return;
    memcpy(columns, path_columns, sizeof columns);
    columns[4].title = "lock";
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(p->r, s->n_locks); i++) {
        char name[PAGE_NAME];
        page_lock(p, (lock_id){s->locks[i].id}, name);
        put_sum(&t, p, &s->locks[i]);
        table_put(&t, name);
    }
    page_list_heading(p, "Locks on the critical path", s->n_locks, "most time first");
    page_table(p, &t);
}

static void print_path_places(const struct page *p)
{
    const struct path_sums *s = &p->r->a->path_sums;
    struct table_column columns[ARRAY_LEN(path_columns)];
    struct table t;
    if (s->n_places == 0)
        return;
    memcpy(columns, path_columns, sizeof columns);
    columns[4].title = "until, or waiting at";
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(p->r, s->n_places); i++) {
        char text[PAGE_NAME];
        put_sum(&t, p, &s->by_place[i]);
        page_place(p, s->places[s->by_place[i].id], 48, text);
        table_put(&t, text);
    }
    page_list_heading(p, "Call sites on the critical path", s->n_places, "most time first");
    page_table(p, &t);
}

void page_path(const struct page *p)
{
    const struct path *path = &p->r->a->path;
    if (path->n == 0 && p->r->a->stop.thread) {
        page_nothing(p, "The program was stopped from outside: nothing in the program decided its "
                        "end. --path still shows the critical path.");
        return;
    }
    if (path->n == 0) {
        page_nothing(p, "Orca did not see which thread ended the program: no critical path to its "
                        "end; --follow THREAD goes back from the end of the recording.");
        return;
    }
    print_path_head(p);
    print_path_threads(p);
    print_path_locks(p);
    print_path_places(p);
    for (const char *const *limit = path_limits(p->r->a->decoded.summed.waits); *limit; limit++)
        if (p->r->sections == REPORT_PATH)
            note(p, *limit);
}

/* --- deadlocks -------------------------------------------------------------------------------- */

static const char *const stuck_words[STATE_LIMIT] = {
    [STATE_BLOCKED] = "blocked on", [STATE_WAITING] = "in Object.wait of",
    [STATE_PARKED] = "parked for",  [STATE_JOINING] = "in Thread.join",
    [STATE_SLEEPING] = "asleep",    [STATE_REACQUIRING] = "reacquiring",
};

/* The JDK's frame that other code has called: a long stack is shown from there outwards. */
static uint32_t call_of_jdk(const struct page *p, const struct trace_stack *s)
{
    const struct program *program = &p->r->a->resources->program;
    uint32_t i = 0;
    while (i < s->n_frames && program_code(program, s->frames[i].method) == CODE_JDK)
        i++;
    return i < s->n_frames && i ? i - 1 : 0;
}

static void print_left_out(const struct page *p, const char *fmt, uint32_t n)
{
    if (n)
        fprintf(p->to, fmt, n, n == 1 ? "" : "s");
}

void page_stack(const struct page *p, stack_id stack, uint32_t most)
{
    const struct trace *t = p->r->trace;
    const struct trace_stack *s = trace_stack(t, stack);
    uint32_t from = s->n_frames > most ? call_of_jdk(p, s) : 0;
    print_left_out(p, "       %" PRIu32 " inner frame%s\n", from);
    for (uint32_t i = from; i < s->n_frames && i - from < most; i++) {
        char text[PAGE_NAME];
        page_place(p, sites_frame(t, s, i), p->width - 10, text);
        fprintf(p->to, "       at %s\n", text);
    }
    if (s->n_frames - from > most)
        print_left_out(p, "       and %" PRIu32 " more frame%s\n", s->n_frames - from - most);
}

/* A lock by the code around the wait, with its number, by which events can be found. */
static void lock_at(const struct page *p, const struct field_sites *fields, struct lock_wait w,
                    char *out)
{
    char name[2 * LABEL_MAX];
    resource_lock_label(p->r->a, fields, w, true, name, sizeof name);
    printable_text(name, p->utf8, out, PAGE_NAME);
}

static void print_stuck(const struct page *p, const struct field_sites *fields,
                        const struct stuck_thread *s)
{
    const struct analysis *a = p->r->a;
    char name[PAGE_NAME];
    struct buf b = {0};
    page_thread(p, s->thread, name);
    buf_printf(&b, "%s: %s", name, stuck_words[s->state]);
    if (s->lock.v) {
        lock_at(p, fields, (struct lock_wait){s->lock, s->stack, false}, name);
        buf_printf(&b, " %s", name);
    }
    if (s->on) {
        page_thread(p, s->on, name);
        buf_printf(&b, s->state == STATE_JOINING ? " of %s" : ", owned by %s", name);
    }
    buf_printf(&b, ", for %s", human_time(a->window.to - s->since).text);
    page_wrapped(p, STYLE_PLAIN, "   ", buf_str(&b), 5);
    buf_fini(&b);
    page_stack(p, s->stack, STACK_SHOWN);
    if (s->owner_stack.v) {
        page_wrapped(
            p, STYLE_PLAIN, "     ",
            s->state == STATE_REACQUIRING ? "the owner then:" : "the owner, when sampled:", 5);
        page_stack(p, s->owner_stack, STACK_SHOWN);
    }
}

static void print_deadlock(const struct page *p, const struct field_sites *fields,
                           const struct deadlock *d)
{
    const struct analysis *a = p->r->a;
    char text[PAGE_NAME];
    snprintf(text, sizeof text, "%s of %s thread%s, %s after the beginning",
             d->sure ? "Deadlock" : "Likely deadlock (very young),", human_count(d->n_members).text,
             d->n_members == 1 ? "" : "s",
             human_time(d->formed - min_u64(d->formed, a->window.from)).text);
    page_heading(p, text);
    for (uint32_t i = 0; i < d->n_members; i++)
        print_stuck(p, fields, &d->members[i]);
    if (!d->n_behind)
        return;
    snprintf(text, sizeof text, "%s thread%s behind them:", human_count(d->n_behind).text,
             d->n_behind == 1 ? " waits" : "s wait");
    page_line(p, STYLE_PLAIN, text);
    for (uint32_t i = 0; i < report_rows(p->r, d->n_behind); i++)
        print_stuck(p, fields, &d->behind[i]);
}

static void say_unknown_owners(const struct page *p, const struct deadlocks *d)
{
    char text[256];
    bool one = d->n_unknown == 1;
    snprintf(text, sizeof text,
             "When the recording ended, %s thread%s waiting for %s with an unknown owner: a "
             "deadlock that %s part of is not listed.",
             human_count(d->n_unknown).text, one ? " was" : "s were",
             one ? "a monitor" : "monitors", one ? "it is" : "they are");
    page_line(p, STYLE_PLAIN, "");
    page_wrapped(p, STYLE_PLAIN, "", text, 0);
}

void page_deadlocks(const struct page *p)
{
    const struct deadlocks *d = &p->r->a->deadlocks;
    struct field_sites fields;
    (void)field_sites_init(&fields, &p->r->a->resources->program); /* else by class */
    for (size_t i = 0; i < d->n; i++)
        print_deadlock(p, &fields, &d->v[i]);
    if (d->n_stuck) {
        page_list_heading(p, "Stuck: every thread of the program waits without a time limit",
                          d->n_stuck, "longest first");
        for (size_t i = 0; i < report_rows(p->r, d->n_stuck); i++)
            print_stuck(p, &fields, &d->stuck[i]);
    }
    field_sites_fini(&fields);
    char none[128];
    snprintf(none, sizeof none, "No thread was deadlocked or stuck %s.", label_end(p->r->trace));
    if (!d->n && !d->n_stuck && !d->n_unknown)
        page_nothing(p, none);
    if (d->n_unknown)
        say_unknown_owners(p, d);
}

/* --- lock orders ------------------------------------------------------------------------------ */

static const char *const order_stack_texts[] = {
    [LOCK_ORDER_UNKNOWN] = "",
    [LOCK_ORDER_WANTED] = "where it waited for the lock",
    [LOCK_ORDER_GIVEN_BACK] = "where it released the lock",
    [LOCK_ORDER_OWNING] = "what it executed with the lock",
    [LOCK_ORDER_EARLIER] = "where it last waited for the lock",
};

static void print_order_stack(const struct page *p, const char *lock,
                              const struct lock_order_place *at)
{
    char text[2 * PAGE_NAME];
    if (!at->stack.v)
        return;
    snprintf(text, sizeof text, "%s, %s:", lock, order_stack_texts[at->what]);
    page_wrapped(p, STYLE_PLAIN, "     ", text, 7);
    page_stack(p, at->stack, STACK_SHOWN);
}

static void print_side(const struct page *p, const struct field_sites *fields,
                       const struct lock_order_finding *o, uint32_t i)
{
    const struct lock_order_side *s = &o->sides[i],
                                 *before = &o->sides[(i + o->n_sides - 1) % o->n_sides];
    char held[PAGE_NAME], wanted[PAGE_NAME], name[PAGE_NAME];
    struct buf b = {0};
    page_thread(p, s->thread, name);
    /* what this one holds the one before wants */
    lock_at(p, fields, resource_order_wait(p->r->trace, s->held, before->wanted_at), held);
    lock_at(p, fields, resource_order_wait(p->r->trace, s->wanted, s->wanted_at), wanted);
    buf_printf(&b, "%s takes %s while holding %s", name, wanted, held);
    page_wrapped(p, STYLE_PLAIN, "   ", buf_str(&b), 5);
    buf_fini(&b);
    print_order_stack(p, held, &s->held_at);
    print_order_stack(p, wanted, &s->wanted_at);
}

static void print_order(const struct page *p, const struct field_sites *fields,
                        const struct lock_order_finding *o)
{
    struct buf b = {0};
    buf_puts(&b, "Lock order inversion");
    if (o->cycles > 1)
        buf_printf(&b, ", %s sets of locks", human_count(o->cycles).text);
    buf_printf(&b, ", %s time%s or more", human_count(o->count).text, o->count == 1 ? "" : "s");
    if (o->distance)
        buf_printf(&b, ", missed by %s", human_time(o->distance).text);
    page_heading(p, buf_str(&b));
    buf_fini(&b);
    for (uint32_t i = 0; i < o->n_sides; i++)
        print_side(p, fields, o, i);
    if (o->reach == LOCK_ORDER_REORDERABLE)
        note(p, "The recorded locks, starts, joins and wake-ups do not keep the threads apart.");
    if (o->partial)
        note(p, "The trace may lack a lock, or an order of the threads, that keeps them apart.");
}

void page_orders(const struct page *p)
{
    const struct lock_order *all = &p->r->a->orders;
    if (!p->r->a->has_orders)
        return;
    if (all->n == 0) {
        page_nothing(p,
                     "No lock order inversion was found. Without the group holds, Orca knows only "
                     "the locks that threads wait for.");
        return;
    }
    struct field_sites fields;
    (void)field_sites_init(&fields, &p->r->a->resources->program); /* else by class */
    for (size_t i = 0; i < report_rows(p->r, all->n); i++)
        print_order(p, &fields, &all->v[i]);
    field_sites_fini(&fields);
}

/* --- bottle graph ----------------------------------------------------------------------------- */

void page_bottles(const struct page *p)
{
    static const struct table_column columns[] = {
        {"share", TABLE_RIGHT, false}, {"", TABLE_LEFT, false},     {"height", TABLE_RIGHT, false},
        {"width", TABLE_RIGHT, false}, {"ran", TABLE_RIGHT, false}, {"alone", TABLE_RIGHT, false},
        {"thread", TABLE_LEFT, true}};
    const struct report *r = p->r;
    const struct bottles *g = &r->a->bottles;
    struct table t;
    char text[PAGE_NAME];
    if (r->n_bottles == 0 || g->elapsed == 0) {
        page_nothing(p, "No thread of the program ran.");
        return;
    }
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(r, r->n_bottles); i++) {
        const struct bottle *b = &g->v[r->bottles[i]];
        uint64_t height = bottle_height(b);
        cell_percent(&t, height, g->elapsed);
        page_bar(p, height, g->elapsed, text);
        table_put(&t, text);
        cell_time(&t, height, true);
        snprintf(text, sizeof text, "%.1f", height ? (double)b->running / (double)height : 0.0);
        table_put(&t, text);
        cell_time(&t, b->running, true);
        cell_time(&t, b->alone, b->alone);
        cell_thread(&t, p, r->bottles[i]);
    }
    page_list_heading(p, "Bottle graph: which threads ran, and how many at once", r->n_bottles,
                      "highest first");
    page_table(p, &t);
    struct buf legend = {0};
    buf_puts(
        &legend,
        "height: the thread's share of elapsed time, each moment divided among the threads that "
        "ran; width: how many threads ran on average while the thread ran");
    if (g->idle)
        buf_printf(&legend, "; no thread ran for %s (%.1f %%)", human_time(g->idle).text,
                   100.0 * (double)g->idle / (double)g->elapsed);
    buf_puts(&legend, ". Ready threads count as running; threads in input or output do not.");
    note(p, buf_str(&legend));
    buf_fini(&legend);
}
