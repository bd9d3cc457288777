#include "cli/top_found.h"

#include "analyze/labels.h"
#include "attach/client.h"
#include "cli/target.h"
#include "cli/top_rows.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_nameless(const struct live_thread *t)
{
    return t->began_before && !t->wait.lock.v && !t->is_system &&
           (t->state == LIVE_BLOCKED || t->state == LIVE_WAITING);
}

static bool has_reason(const struct live *l)
{
    for (size_t i = 0; i < l->n_threads; i++)
        if (is_nameless(l->threads[i]))
            return true;
    return false;
}

/* Entry 0 of the trace's table is nobody. */
static thread_id by_java_id(const struct trace *t, json_int_t id)
{
    for (size_t i = 1; id > 0 && i < t->n_threads; i++)
        if (t->threads[i].java_tid == (uint64_t)id && t->threads[i].id.v)
            return t->threads[i].id;
    return (thread_id){0};
}

static json_int_t id_of(const json_t *thread)
{
    return json_integer_value(json_object_get(thread, "id"));
}

static uint32_t kind_of(const char *how)
{
    if (strcmp(how, "blocked") == 0)
        return EV_monitor_contended_enter;
    return strcmp(how, "parked") == 0 ? EV_park_enter : EV_wait_enter;
}

/* A thread whose wait began before `oldest`, or somewhere in a gap: as if it was found there, and
 * went on.  Its end will be recorded, unless it is of a park that began before the recording. */
static struct live_thread *meet(struct live *l, thread_id id, thread_id owner, const json_t *waiter,
                                uint64_t oldest)
{
    const char *how = json_string_value(json_object_get(waiter, "how"));
    const struct live_thread *known = live_find_thread(l, id);
    uint32_t kind = kind_of(how ? how : "");
    if (kind == EV_park_enter && known && known->began_before)
        return NULL;
    struct event e = {.kind = EV_wait_found,
                      .thread = id,
                      .time = known ? l->now : oldest,
                      .wait_found = {.kind = kind, .owner = owner}};
    struct event on = {.kind = EV_wait_open,
                       .thread = id,
                       .time = e.time,
                       .wait_open = {.kind = kind, .since = e.time, .limit = WAIT_UNLIMITED}};
    live_event(l, &e, 0);
    live_event(l, &on, 0);
    return live_find_thread(l, id);
}

static void keep(struct top_found *f, const struct live_thread *t, const json_t *lock,
                 const json_t *waiter)
{
    const char *class_name = json_string_value(json_object_get(lock, "class"));
    const char *hash = json_string_value(json_object_get(lock, "hash"));
    const char *at = json_string_value(json_object_get(waiter, "at"));
    struct top_found_wait *w = &f->waits[f->n++];
    w->thread = t->id;
    w->since = t->since;
    char name[LABEL_MAX];
    snprintf(name, sizeof name, "%s", label_simple(class_name ? class_name : "?"));
    top_cut_sync(name);
    snprintf(w->text, sizeof w->text, "%.60s@%.20s", name, hash ? hash : "?");
    snprintf(w->at, sizeof w->at, "%s", at ? at : "");
}

static void take_lock(struct top_found *f, struct live *l, const json_t *lock, uint64_t oldest)
{
    thread_id owner = by_java_id(l->trace, id_of(json_object_get(lock, "owner")));
    json_t *waiting = json_object_get(lock, "waiting"), *w;
    size_t i, n = json_array_size(waiting);
    struct top_found_wait *more = realloc(f->waits, (f->n + n + 1) * sizeof *more);
    if (!more)
        return;
    f->waits = more;
    json_array_foreach(waiting, i, w)
    {
        thread_id id = by_java_id(l->trace, id_of(w));
        struct live_thread *t = live_find_thread(l, id);
        if (id.v && ((!t && oldest) || (t && t->state == LIVE_UNKNOWN)))
            t = meet(l, id, owner, w, oldest);
        if (!t || !t->began_before || t->wait.lock.v || t->state >= LIVE_SUMS)
            continue;
        if (t->state == LIVE_BLOCKED)
            t->wait.other = owner;
        keep(f, t, lock, w);
    }
}

void top_found_ask(struct top_found *f, const struct jvm *jvm, struct live *l, uint64_t oldest)
{
    struct buf reply;
    struct err ignored;
    json_t *lock;
    size_t i;
    if (f->asked)
        return;
    f->asked = true;
    if (!oldest && !has_reason(l))
        return;
    buf_init(&reply);
    if (client_ask(jvm, "query locks", TARGET_TIMEOUT_NS / 10, &reply, &ignored) == 0) {
        json_t *answer = json_loads(buf_str(&reply), 0, NULL);
        json_array_foreach(json_object_get(answer, "locks"), i, lock) take_lock(f, l, lock, oldest);
        json_decref(answer);
    }
    buf_fini(&reply);
}

void top_found_fini(struct top_found *f)
{
    free(f->waits);
    *f = (struct top_found){0};
}

const struct top_found_wait *top_found_wait(const struct top_found *f, const struct live_thread *t)
{
    for (size_t i = 0; i < f->n && t->began_before; i++)
        if (f->waits[i].thread.v == t->id.v && f->waits[i].since == t->since)
            return &f->waits[i];
    return NULL;
}
