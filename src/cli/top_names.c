#include "cli/top_names.h"

#include "analyze/labels.h"
#include "analyze/sites.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/top_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct trace *trace_of(const struct top_view *v)
{
    return trace_follow_trace(v->source->follow);
}

static void printable(const struct top_view *v, const char *text, char *out)
{
    printable_text(text, v->utf8, out, TOP_CELL);
}

void top_name_thread(const struct top_view *v, thread_id id, char *out)
{
    const struct trace_thread *t = trace_thread(trace_of(v), id);
    if (!id.v)
        snprintf(out, TOP_CELL, "-");
    else if (!t->id.v)
        snprintf(out, TOP_CELL, "thread %" PRIu32, id.v);
    else if (!*t->name)
        snprintf(out, TOP_CELL, "%s#%" PRIu64, t->flags & THREAD_VIRTUAL ? "virtual " : "",
                 t->java_tid);
    else
        printable(v, t->name, out);
}

void top_cut_sync(char *name)
{
    static const char *const parts[] = {"$NonfairSync", "$FairSync", "$Sync"};
    size_t n = strlen(name);
    const char *dollar = strrchr(name, '$');
    if (dollar && strcmp(dollar, "$ConditionObject") == 0)
        memcpy(name, "Condition", sizeof "Condition");
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        size_t len = strlen(parts[i]);
        if (n > len && strcmp(name + n - len, parts[i]) == 0) {
            name[n - len] = 0;
            return;
        }
    }
}

void top_name_lock(const struct top_view *v, lock_id id, char *out)
{
    char name[LABEL_MAX], text[LABEL_MAX + 32];
    const struct trace *t = trace_of(v);
    *out = 0;
    if (!id.v)
        return;
    label_class(trace_class(t, trace_lock(t, id)->class_)->signature, name, sizeof name);
    char *simple = name + (label_simple(name) - name);
    top_cut_sync(simple);
    snprintf(text, sizeof text, "%s#%" PRIu32, simple, id.v);
    printable(v, text, out);
}

void top_name_frame(const struct top_view *v, struct trace_frame f, bool whole, char *out)
{
    const struct trace *t = trace_of(v);
    struct place p = {f.method, trace_line(t, f)};
    char method[2 * LABEL_MAX], line[LABEL_MAX], text[3 * LABEL_MAX + 8];
    label_method(t, f.method, method, sizeof method);
    label_line(t, p, line, sizeof line);
    if (whole) {
        snprintf(text, sizeof text, "%s(%s)", method, line);
    } else { /* Order.take:88 */
        char *dot = strrchr(method, '.'), *hidden = strstr(method, "$$Lambda");
        if (dot)
            *dot = 0;
        if (hidden) /* its class has a number and an address behind that */
            hidden[sizeof "$$Lambda" - 1] = 0;
        snprintf(text, sizeof text, "%s%s%s", label_simple(method), dot ? "." : "",
                 dot ? dot + 1 : "");
        if (p.line >= 0)
            snprintf(text + strlen(text), 16, ":%" PRId32, p.line);
    }
    printable(v, text, out);
}

static const char *class_of(const struct trace *t, struct trace_frame f)
{
    return trace_class(t, trace_method(t, f.method)->class_)->signature;
}

/* The innermost frame of the program itself, else the innermost one that is no machinery. */
static uint32_t site_of(const struct trace *t, const struct trace_stack *s)
{
    static const char pool[] = "Ljava/util/concurrent/ForkJoinPool"; /* conditions wait in it */
    uint32_t at = trace_site(t, s);
    for (uint32_t i = at; i < s->n_frames; i++)
        if (!sites_is_jdk(class_of(t, s->frames[i])))
            return i;
    while (at + 1 < s->n_frames && strncmp(class_of(t, s->frames[at]), pool, sizeof pool - 1) == 0)
        at++;
    uint32_t machinery = at; /* a condition's own await lies outside of the pool's frames */
    while (at + 1 < s->n_frames &&
           strncmp(class_of(t, s->frames[at]), "Ljava/util/concurrent/locks/",
                   sizeof "Ljava/util/concurrent/locks/" - 1) == 0)
        at++;
    return at + 1 < s->n_frames ? at : machinery;
}

uint32_t top_site(const struct top_view *v, const struct trace_stack *s)
{
    return site_of(trace_of(v), s);
}

void top_name_site(const struct top_view *v, stack_id stack, char *out)
{
    const struct trace_stack *s = trace_stack(trace_of(v), stack);
    *out = 0;
    if (s->n_frames)
        top_name_frame(v, s->frames[top_site(v, s)], false, out);
}

const char *top_state_word(const struct live_thread *t)
{
    return t->deadlock ? "DEADLOCK" : live_state_names[t->state];
}

const struct live_wait *top_held_before(const struct top_view *v, const struct live_thread *t)
{
    enum { MUCH = 1 }; /* percent */
    bool was = !live_is_held_up(t->state) && t->held.since && t->held_up &&
               top_percent(t->held_up, v->source->live.span) >= MUCH;
    return was ? &t->held : NULL;
}

void top_name_waits_for(const struct top_view *v, const struct live_thread *t, char *out)
{
    const struct top_found_wait *found = top_found_wait(&v->source->found, t);
    *out = 0;
    if (t->state >= LIVE_SUMS)
        return;
    if (t->state == LIVE_JOINING)
        top_name_thread(v, t->wait.other, out);
    else if (found)
        printable(v, found->text, out);
    else if (t->wait.lock.v)
        top_name_lock(v, t->wait.lock, out);
    else if (t->state != LIVE_SLEEPING)
        snprintf(out, TOP_CELL, "?");
}

void top_name_lock_owner(const struct top_view *v, const struct live_lock *k, char *out)
{
    char name[TOP_CELL];
    top_name_thread(v, k->queue ? k->owner : k->held_by, name);
    *out = 0;
    if (k->queue)
        snprintf(out, TOP_CELL, "%.500s%s", name, k->owner_likely ? "?" : "");
    else if (k->held_by.v)
        snprintf(out, TOP_CELL, "(%.500s)", name);
}

void top_name_owner(const struct top_view *v, const struct live_thread *t, char *out)
{
    *out = 0;
    if (!live_is_held_up(t->state))
        return;
    if (t->on)
        top_name_lock_owner(v, t->on, out);
    else
        top_name_thread(v, t->wait.other, out);
}

/* --- numbers ------------------------------------------------------------------------------------
 */

double top_percent(uint64_t a, uint64_t b)
{
    return b ? 100.0 * (double)a / (double)b : 0;
}

void top_short_time(uint64_t ns, char *out)
{
    uint64_t s = ns / 1000000000u;
    if (ns < 1000000)
        snprintf(out, TOP_CELL, "%" PRIu64 "us", ns / 1000);
    else if (ns < 10000000)
        snprintf(out, TOP_CELL, "%.1fms", (double)ns / 1e6);
    else if (s < 1)
        snprintf(out, TOP_CELL, "%" PRIu64 "ms", ns / 1000000);
    else if (s < 60)
        snprintf(out, TOP_CELL, "%.1fs", (double)ns / 1e9);
    else if (s < 3600)
        snprintf(out, TOP_CELL, "%" PRIu64 "m%02" PRIu64 "s", s / 60, s % 60);
    else if (s < UINT64_C(360000))
        snprintf(out, TOP_CELL, "%" PRIu64 "h%02" PRIu64 "m", s / 3600, s / 60 % 60);
    else
        snprintf(out, TOP_CELL, "%" PRIu64 "d", s / 86400);
}
