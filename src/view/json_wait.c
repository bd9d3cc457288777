/* json_wait.c - the answer `wait`: everything about one wait. */
#include "analyze/labels.h"
#include "base/human.h"
#include "base/util.h"
#include "export/wait_sums.h"
#include "view/json_parts.h"

#include <inttypes.h>
#include <stdio.h>

/* What is asked about. */
struct subject {
    const struct json_out *o;
    struct view *v;
    const struct line *line;
    const struct span *span;
    const struct context *context;
    uint32_t thread, index;
    uint64_t end;
};

static struct subject subject(const struct json_out *o, struct view *v, uint32_t thread,
                              uint32_t index)
{
    const struct timeline *t = &v->a->timeline;
    struct subject s = {
        .o = o, .v = v, .line = &t->lines[thread], .thread = thread, .index = index};
    s.span = line_span(s.line, index);
    s.context = timeline_context(t, s.span->context);
    s.end = span_end(t, s.span);
    return s;
}

json_t *json_wait_name(const struct view *v, uint32_t thread, int64_t index)
{
    if (thread >= v->a->timeline.n_lines || index < 0 ||
        index >= v->a->timeline.lines[thread].spans.n)
        return json_null();
    json_t *j = json_object();
    json_set_count(j, "thread", thread);
    json_set_count(j, "index", (uint64_t)index);
    return j;
}

/* --- what it was ------------------------------------------------------------------------------ */

static const struct json_flag wait_flags[] = {{INTERVAL_OPEN, "open"},
                                              {INTERVAL_UNKNOWN, "unknown"},
                                              {INTERVAL_TIMED_OUT, "timed_out"},
                                              {INTERVAL_REACQUIRED, "reacquired"},
                                              {INTERVAL_TIMED, "timed"},
                                              {INTERVAL_INTERRUPTED, "interrupted"},
                                              {INTERVAL_LIMIT_UNKNOWN, "limit_unknown"}};

/* Whose stack it is and why there is none, as the exports have it. */
static struct wait_sum_key key_of(const struct subject *s, enum model_by by)
{
    struct wait_sum_key k;
    const struct wait w = {s->span,           s->context,       s->span->start, s->end,
                           s->context->other, s->context->what, false};
    wait_sums_key(s->v->a, by, s->thread, &w, &k);
    return k;
}

static void set_note(json_t *j, const char *key, const char *text)
{
    json_object_set_new(j, key, text ? json_string(text) : json_null());
}

static bool is_time_up(const struct subject *s)
{
    return key_of(s, MODEL_BY_WAKER).why == STACK_TIME_UP;
}

/* --- what ended it ---------------------------------------------------------------------------- */

/* After its notify it reacquired the monitor, from the notifier. */
static void add_reacquiring(const struct subject *s, char *text, size_t n)
{
    const struct analysis *a = s->v->a;
    struct wait_part v[2];
    char owner[LABEL_MAX];
    if (span_parts(&a->timeline, s->span, v) == 1)
        return;
    label_thread(&a->threads, a->trace, v[1].owner, owner, sizeof owner);
    snprintf(text, n, "after that it waited %s for the monitor, which %s owned",
             human_time(v[1].to - v[1].from).text, owner);
}

static json_t *ended_by(const struct subject *s)
{
    const struct timeline *t = &s->v->a->timeline;
    struct wait_sum_key k = key_of(s, MODEL_BY_WAKER);
    char note[LABEL_MAX + 100] = "";
    if (!s->span->waker)
        return json_null();
    json_t *j = json_object();
    json_set_count(j, "thread", s->span->waker);
    json_set_moment(j, "time", s->v, span_wake_time(t, s->span));
    json_set_text(j, "how", interaction_name(span_interaction(t, s->thread, s->span)));
    json_object_set_new(j, "stack", json_stack(s->o->r, k.stack));
    if (k.why != STACK_IS_THERE)
        snprintf(note, sizeof note, "%s", sum_stack_text(k.why));
    else
        add_reacquiring(s, note, sizeof note);
    set_note(j, "note", *note ? note : NULL);
    return j;
}

/* The wait that the waker had ended last, then. */
static json_t *cause(const struct subject *s)
{
    const struct timeline *t = &s->v->a->timeline;
    if (!s->span->waker)
        return json_null();
    uint64_t time = span_wake_time(t, s->span);
    const struct line *l = &t->lines[s->span->waker];
    uint32_t i = line_spans_until(l, time);
    while (i > 0 &&
           (span_end(t, line_span(l, i - 1)) > time || span_is_unknown(t, line_span(l, i - 1))))
        i--;
    json_t *j = json_object();
    json_set_count(j, "thread", s->span->waker);
    json_set_moment(j, "time", s->v, time);
    json_object_set_new(j, "index", i ? json_integer(i - 1) : json_null());
    return j;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void set_what(json_t *j, const struct subject *s)
{
    struct wait_sum_key owner = key_of(s, MODEL_BY_OWNER);
    json_set_count(j, "thread", s->thread);
    json_set_count(j, "index", s->index);
    json_set_text(j, "state", wait_state_name(s->context->what));
    json_set_moment(j, "start", s->v, s->span->start);
    json_set_moment(j, "end", s->v, s->end);
    json_object_set_new(j, "flags",
                        json_flags(wait_flags, ARRAY_LEN(wait_flags), s->context->flags));
    json_set_bool(j, "timed_out", is_time_up(s));
    json_object_set_new(j, "lock", json_lock(s->o, s->v, s->context->lock));
    json_set_count(j, "other", s->context->other);
    json_object_set_new(j, "stack", json_stack(s->o->r, s->context->stack));
    json_object_set_new(j, "owner_stack", json_stack(s->o->r, owner.stack));
    bool itself = owner.stack.v && !s->context->owner_stack.v;
    set_note(j, "owner_stack_note",
             itself ? "the owner was waiting there" : sum_stack_text(owner.why));
}

json_t *json_wait(const struct json_out *o, struct view *v, uint32_t thread, uint32_t index)
{
    const struct subject s = subject(o, v, thread, index);
    json_t *j = json_object();
    set_what(j, &s);
    json_object_set_new(j, "ended_by", ended_by(&s));
    json_object_set_new(j, "before", json_wait_name(v, thread, (int64_t)index - 1));
    json_object_set_new(j, "after", json_wait_name(v, thread, (int64_t)index + 1));
    json_object_set_new(j, "chain", json_chain(o, v, thread, index));
    json_object_set_new(j, "cause", cause(&s));
    uint64_t until = index + 1 < s.line->spans.n ? line_span(s.line, index + 1)->start
                                                 : v->a->threads.v[thread].to;
    json_set_effects(j, v, thread, s.end, until);
    return j;
}

int answer_wait(struct ask *a, struct json_out *o, struct err *err)
{
    const struct timeline *t = &a->v->a->timeline;
    uint32_t thread = (uint32_t)a->thread;
    uint32_t n = thread < t->n_lines ? t->lines[thread].spans.n : 0;
    if (a->index >= n)
        return err_set(err, -ENOENT,
                       "index=%" PRIu64 ": thread %" PRIu32 " has %" PRIu32
                       " waits, numbered from 0",
                       a->index, thread, n);
    json_out_value(o, json_wait(o, a->v, thread, (uint32_t)a->index));
    json_out(o, "\n");
    return 0;
}
