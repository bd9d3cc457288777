#include "cli/top_text.h"

#include "base/human.h"
#include "base/printable.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void top_text_fini(struct top_text *t)
{
    buf_fini(&t->b);
    t->n = 0;
}

void top_text_add(struct top_text *t, enum top_style style, const char *fmt, ...)
{
    char line[4 * TOP_CELL];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    buf_putc(&t->b, (char)style);
    buf_put(&t->b, line, strlen(line) + 1);
    t->n++;
}

const char *top_text_next(const struct top_text *t, size_t *at, enum top_style *style)
{
    if (t->b.oom || *at >= t->b.len)
        return NULL;
    const char *line = (const char *)t->b.p + *at;
    *style = (enum top_style)line[0];
    *at += strlen(line + 1) + 2;
    return line + 1;
}

/* --- above the tables ---------------------------------------------------------------------------
 */

static void put_jvm(const struct top_view *v, struct top_text *out)
{
    const struct jvm *jvm = &v->source->jvm;
    char name[sizeof jvm->name], delay[TOP_CELL];
    printable_text(jvm->name, v->utf8, name, sizeof name);
    top_short_time(v->delay, delay);
    top_text_add(out, TOP_BOLD, "%d %s, Java %s, up %s; the last %.1f s, every %s%s", (int)jvm->pid,
                 name, *jvm->java ? jvm->java : "?", human_time(top_source_uptime(v->source)).text,
                 (double)v->source->live.span / 1e9, delay, v->paused ? "  PAUSED" : "");
}

static void put_states(const struct top_view *v, struct top_text *out)
{
    static const enum live_state states[] = {LIVE_BLOCKED,  LIVE_LOCKED, LIVE_RUNNING,
                                             LIVE_WAITING,  LIVE_PARKED, LIVE_JOINING,
                                             LIVE_SLEEPING, LIVE_UNKNOWN};
    const struct live *l = &v->source->live;
    struct buf b;
    buf_init(&b);
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        if (l->in_state[states[i]] || states[i] <= LIVE_LOCKED)
            buf_printf(&b, ", %zu %s", l->in_state[states[i]],
                       states[i] == LIVE_LOCKED ? "at a lock" : live_state_names[states[i]]);
    if (l->n_virtual)
        buf_printf(&b, "; %zu%s of them virtual", l->n_virtual,
                   l->n_virtual == LIVE_VIRTUAL_MAX ? " (the most that are followed)" : "");
    top_text_add(out, TOP_PLAIN, "threads %zu: %s", l->n_threads, buf_str(&b) + 2);
    buf_fini(&b);
}

static uint64_t per_second(const struct live *l, uint64_t n)
{
    return l->span ? (uint64_t)((double)n * 1e9 / (double)l->span + 0.5) : 0;
}

static void put_rates(const struct top_view *v, struct top_text *out)
{
    const struct top_source *s = v->source;
    const struct live *l = &s->live;
    top_text_add(
        out, TOP_PLAIN,
        "cpu %.0f%%  gc %.1f%%  held up %s/s  events %s/s  lost %s  recording %.1f%%+%.1f%%",
        s->cpu * 100, top_percent(l->gc_ns, l->span),
        human_count(per_second(l, l->contentions)).text, human_count(per_second(l, l->recent)).text,
        s->lost ? human_count(s->lost).text : "none", s->recording * 100, s->writing * 100);
}

enum { DEADLOCKS_SHOWN = 4, NAMES_SHOWN = 8 };

/* One circle: each thread waits for the one named after it, the last one for the first. */
static void put_deadlock(const struct top_view *v, const struct live_thread *first,
                         struct top_text *out)
{
    const struct live_thread *t = first;
    char name[TOP_CELL];
    struct buf b;
    size_t n = 0;
    buf_init(&b);
    do {
        top_name_thread(v, t->id, name);
        if (n < NAMES_SHOWN)
            buf_printf(&b, "%s%s", n ? ", " : "", name);
        n++;
        t = live_find_thread(&v->source->live, live_blocker(t));
    } while (t && t != first);
    top_text_add(out, TOP_ALARM, "DEADLOCK of %zu threads: %s%s", n, buf_str(&b),
                 n > NAMES_SHOWN ? ", ..." : "");
    buf_fini(&b);
}

static void put_deadlocks(const struct top_view *v, struct top_text *out)
{
    const struct live *l = &v->source->live;
    uint32_t next = 1; /* they were numbered by their first threads */
    for (size_t i = 0; i < l->n_threads && next <= DEADLOCKS_SHOWN; i++)
        if (l->threads[i]->deadlock == next) {
            put_deadlock(v, l->threads[i], out);
            next++;
        }
    if (l->n_deadlocks > DEADLOCKS_SHOWN)
        top_text_add(out, TOP_ALARM, "and %u more deadlocks: %zu threads are deadlocked in all",
                     l->n_deadlocks - DEADLOCKS_SHOWN, l->n_deadlocked);
}

static void put_state(const struct top_view *v, struct top_text *out)
{
    switch (v->source->state) {
    case TOP_RECORDING:
        break;
    case TOP_UNWRITTEN:
        top_text_add(out, TOP_WARNING,
                     "the trace cannot be written, this is the picture before: %s",
                     v->source->unwritten);
        break;
    case TOP_SILENT:
        top_text_add(out, TOP_WARNING, "the JVM does not answer: it is stopped, or very busy");
        break;
    case TOP_ENDED:
        top_text_add(out, TOP_WARNING, "the recording has ended: this is its last picture");
        break;
    case TOP_GONE:
        top_text_add(out, TOP_WARNING, "the JVM has ended: this is the last picture");
        break;
    }
}

/* What is not recorded does not happen here. */
static void put_groups(const struct top_view *v, struct top_text *out)
{
    static const int wanted[] = {GROUP_threads, GROUP_monitors, GROUP_waits,
                                 GROUP_parks,   GROUP_joins,    GROUP_sleeps};
    struct buf b;
    buf_init(&b);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        if (!(v->source->groups >> (wanted[i] - 1) & 1))
            buf_printf(&b, "%s%s", b.len ? "+" : "", event_groups[wanted[i]].name);
    if (b.len && v->source->state == TOP_RECORDING)
        top_text_add(out, TOP_WARNING, "not recorded: %s; orca attach %d --on %s", buf_str(&b),
                     (int)v->source->jvm.pid, buf_str(&b));
    buf_fini(&b);
}

static void put_missed(const struct top_view *v, struct top_text *out)
{
    struct trace_follow_state f = trace_follow_state(v->source->follow);
    if (f.missed)
        top_text_add(out, TOP_WARNING,
                     "%s events were overwritten before they could be read: what their threads do "
                     "is unknown until the next one",
                     human_count(f.missed).text);
    if (v->source->live.not_followed)
        top_text_add(out, TOP_WARNING,
                     "%s events of virtual threads beyond %d are not in the picture",
                     human_count(v->source->live.not_followed).text, LIVE_VIRTUAL_MAX);
}

void top_head(const struct top_view *v, struct top_text *out)
{
    put_jvm(v, out);
    put_states(v, out);
    put_rates(v, out);
    put_state(v, out);
    put_deadlocks(v, out);
    put_groups(v, out);
    put_missed(v, out);
}

/* --- one thread, one lock -----------------------------------------------------------------------
 */

static void put_stack(const struct top_view *v, stack_id id, const char *indent,
                      struct top_text *out)
{
    const struct trace *t = trace_follow_trace(v->source->follow);
    const struct trace_stack *s = trace_stack(t, id);
    uint32_t own = s->n_frames ? top_site(v, s) : 0;
    char frame[TOP_CELL];
    for (uint32_t i = 0; i < s->n_frames; i++) {
        top_name_frame(v, s->frames[i], true, frame);
        top_text_add(out, i == own ? TOP_BOLD : TOP_PLAIN, "%sat %s", indent, frame);
    }
    if (s->flags & STACK_TRUNCATED)
        top_text_add(out, TOP_FAINT, "%s... deeper frames were not recorded", indent);
    if (!s->n_frames)
        top_text_add(out, TOP_FAINT, "%sno stack was recorded", indent);
}

static void put_times(const struct top_view *v, const struct live_thread *t, struct top_text *out)
{
    uint64_t span = v->source->live.span, all = 0;
    struct buf b;
    buf_init(&b);
    for (int s = 0; s < LIVE_SUMS; s++) {
        all += t->sum[s];
        if (t->sum[s])
            buf_printf(&b, ", %.1f%% %s", top_percent(t->sum[s], span),
                       s == LIVE_LOCKED ? "at a lock" : live_state_names[s]);
    }
    top_text_add(out, TOP_PLAIN, "in the last %.1f s: %.1f%% running%s; held up %" PRIu32 " times",
                 (double)span / 1e9, top_percent(span - all, span), buf_str(&b), t->count);
    buf_fini(&b);
}

static void put_wait(const struct top_view *v, const struct live_thread *t, struct top_text *out)
{
    char lock[TOP_CELL], since[TOP_CELL];
    top_name_waits_for(v, t, lock);
    uint64_t now = v->source->live.now;
    top_short_time(now > t->since ? now - t->since : 0, since);
    top_text_add(out, t->deadlock ? TOP_ALARM : TOP_BOLD, "%s for %s%s%s%s", top_state_word(t),
                 t->began_before ? "more than " : "", since, *lock ? ", waits for " : "", lock);
    const struct top_found_wait *found = top_found_wait(&v->source->found, t);
    if (found && !t->wait.stack.v) {
        printable_text(found->at, v->utf8, lock, sizeof lock);
        top_text_add(out, TOP_PLAIN, "    at %s", lock);
        return;
    }
    put_stack(v, t->wait.stack, "    ", out);
}

/* What a thread does that has a lock, and whom it waits for in turn. */
static void put_what_it_does(const struct top_view *v, thread_id id, struct top_text *out)
{
    const struct live_thread *t = live_find_thread(&v->source->live, id);
    char name[TOP_CELL], owner[TOP_CELL], lock[TOP_CELL];
    top_name_thread(v, id, name);
    if (!t) {
        top_text_add(out, TOP_FAINT, "    nothing is known of it now");
    } else if (t->state >= LIVE_SUMS) {
        top_text_add(out, TOP_PLAIN, "    %s; orca query %d thread '%s' asks for its stack",
                     live_state_names[t->state], (int)v->source->jvm.pid, name);
    } else {
        top_name_waits_for(v, t, lock);
        top_name_owner(v, t, owner);
        top_text_add(out, TOP_PLAIN, "    %s%s%s%s%s", top_state_word(t),
                     *lock ? ", waits for " : "", lock, *owner ? ", owned by " : "", owner);
        put_stack(v, t->wait.stack, "        ", out);
    }
}

/* What the owner of the lock said when it was asked last (the event owner_stack). */
static void put_told(const struct top_view *v, const struct live_lock *k, thread_id owner,
                     struct top_text *out)
{
    char ago[TOP_CELL];
    uint64_t now = v->source->live.now;
    if (!k || !k->told.v || k->told_by.v != owner.v)
        return;
    top_short_time(now > k->told_at ? now - k->told_at : 0, ago);
    top_text_add(out, TOP_PLAIN, "    %s ago, owning the lock, it executed", ago);
    put_stack(v, k->told, "        ", out);
}

static void put_owner(const struct top_view *v, thread_id id, const struct live_lock *k,
                      struct top_text *out)
{
    bool likely = k && k->owner_likely;
    char name[TOP_CELL];
    if (!id.v) {
        top_text_add(out, TOP_PLAIN, "owner: not known, or none");
        return;
    }
    top_name_thread(v, id, name);
    top_text_add(out, TOP_BOLD, "owner: %s%s", name,
                 likely ? " (likely: it was woken for the lock)" : ", as last known");
    put_what_it_does(v, id, out);
    put_told(v, k, id, out);
}

static void put_holder(const struct top_view *v, const struct live_lock *k, struct top_text *out)
{
    char name[TOP_CELL];
    if (k->queue || !k->held_by.v) {
        put_owner(v, k->owner, k, out);
        return;
    }
    top_name_thread(v, k->held_by, name);
    top_text_add(out, TOP_BOLD, "nobody queues; when somebody last did, %s had it", name);
    put_what_it_does(v, k->held_by, out);
    put_told(v, k, k->held_by, out);
}

static void put_last_wait(const struct top_view *v, const struct live_wait *w, struct top_text *out)
{
    char took[TOP_CELL], ago[TOP_CELL], lock[TOP_CELL], site[TOP_CELL], owner[TOP_CELL];
    uint64_t now = v->source->live.now;
    top_short_time(w->ns, took);
    top_short_time(now > w->since ? now - w->since : 0, ago);
    top_name_lock(v, w->lock, lock);
    top_name_site(v, w->stack, site);
    top_name_thread(v, w->other, owner);
    top_text_add(out, TOP_PLAIN, "    %6s ago %-8s %6s  %s%s%s  %s", ago,
                 live_state_names[w->state], took, lock, w->other.v ? " by " : "",
                 w->other.v ? owner : "", site);
}

void top_about_thread(const struct top_view *v, thread_id id, struct top_text *out)
{
    const struct live_thread *t = live_find_thread(&v->source->live, id);
    const struct trace_thread *def = trace_thread(trace_follow_trace(v->source->follow), id);
    char name[TOP_CELL];
    top_name_thread(v, id, name);
    top_text_add(out, TOP_BOLD, "thread %s%s%s, id %" PRIu64 "%s", name,
                 def->flags & THREAD_VIRTUAL ? ", virtual" : "",
                 def->flags & THREAD_DAEMON ? ", daemon" : "", def->java_tid,
                 t ? "" : ": it has ended");
    if (!t)
        return;
    put_times(v, t, out);
    top_text_add(out, TOP_PLAIN, "%s", "");
    if (t->state < LIVE_SUMS)
        put_wait(v, t, out);
    else
        top_text_add(out, TOP_BOLD, "%s; orca query %d thread '%s' asks for its stack",
                     live_state_names[t->state], (int)v->source->jvm.pid, name);
    if (live_is_held_up(t->state) || t->state == LIVE_JOINING) {
        top_text_add(out, TOP_PLAIN, "%s", "");
        put_owner(v, live_blocker(t), t->on, out);
    }
    top_text_add(out, TOP_PLAIN, "%s", "");
    top_text_add(out, TOP_BOLD, "its last waits");
    const struct live_wait *w;
    for (uint32_t i = 0; (w = live_last(t, i)); i++)
        put_last_wait(v, w, out);
    if (!live_last(t, 0))
        top_text_add(out, TOP_FAINT, "    none has ended yet");
}

static void put_queue(const struct top_view *v, const struct live_lock *k, struct top_text *out)
{
    const struct live *l = &v->source->live;
    char name[TOP_CELL], since[TOP_CELL], site[TOP_CELL];
    for (size_t i = 0; i < l->n_threads; i++) {
        const struct live_thread *t = l->threads[i];
        if (t->on != k)
            continue;
        top_name_thread(v, t->id, name);
        top_name_site(v, t->wait.stack, site);
        top_short_time(l->now > t->since ? l->now - t->since : 0, since);
        top_text_add(out, TOP_PLAIN, "    %-8s %6s  %s  %s", top_state_word(t), since, name, site);
    }
}

void top_about_lock(const struct top_view *v, lock_id id, struct top_text *out)
{
    const struct live_lock *k = live_find_lock(&v->source->live, id);
    const struct live *l = &v->source->live;
    const struct trace *t = trace_follow_trace(v->source->follow);
    char name[TOP_CELL], worst[TOP_CELL];
    top_name_lock(v, id, name);
    top_text_add(out, TOP_BOLD, "lock %s, hash %08" PRIX32, name, trace_lock(t, id)->hash);
    trace_class_name(trace_class(t, trace_lock(t, id)->class_)->signature, worst, sizeof worst);
    printable_text(worst, v->utf8, name, sizeof name);
    top_text_add(out, TOP_PLAIN, "of class %s", name);
    if (!k) {
        top_text_add(out, TOP_FAINT, "nobody has wanted it for a while");
        return;
    }
    top_short_time(k->worst_ns, worst);
    top_text_add(out, TOP_PLAIN,
                 "in the last %.1f s: %s times, %.0f%% of a thread's time, longest %s",
                 (double)l->span / 1e9, human_count(k->count).text,
                 top_percent(k->blocked_ns, l->span), worst);
    top_text_add(out, TOP_PLAIN, "%s", "");
    put_holder(v, k, out);
    top_text_add(out, TOP_PLAIN, "%s", "");
    top_text_add(out, TOP_BOLD, "%" PRIu32 " held up, %" PRIu32 " waiting", k->queue, k->waiters);
    put_queue(v, k, out);
}

/* --- help ---------------------------------------------------------------------------------------
 */

void top_help(struct top_text *out)
{
    static const char *const lines[] = {
        "!orca top: keys",
        " q           quit; a recording that orca top began is taken away",
        " p, space    pause: the picture stays, and can be looked at",
        " up down j k PgUp PgDn Home End   move",
        " Tab         threads or locks",
        " Enter       all about this thread or lock; Esc, backspace: back",
        " s > <       sort by the next column, by the one before; r: the other way round",
        " /           only names with this text (thread, lock, owner); Esc: all",
        " + -         a longer or shorter window",
        " d           time between two pictures, in seconds",
        " v           virtual threads: shown or not",
        " h ?         this page",
        " ",
        "!What the columns say",
        " held up     share of the window in which the thread was blocked on a monitor, or",
        "             parked for a lock or a permit; of a lock: of all threads, 300% is three",
        " waits       share in Object.wait, in sleep, in join, parked for anything else",
        " times/s     how often a second threads were held up, by the events of the window",
        " since       how long in this state; >: it was before the recording began",
        " for, owner, at: in parentheses not now, but when the thread was last held up",
        " owner       as last known; ?: it was woken for the lock, and most likely has it",
        " recording   what it costs of a processor: in the program's threads + for writing",
        " running     in no wait that is recorded: on a processor, ready, in native code",
        " unknown     events are missing; the thread's next one tells",
        " ",
        " HotSpot does not report contention that is over within about 10 us.",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        top_text_add(out, lines[i][0] == '!' ? TOP_BOLD : TOP_PLAIN, "%s", lines[i] + 1);
}
