#include "cli/top_asked.h"

#include "analyze/interval.h"
#include "attach/client.h"
#include "cli/target.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Entry 0 of the trace's tables stands for no thread. */
static thread_id by_java_id(const struct trace *t, const json_t *thread)
{
    json_int_t id = json_integer_value(json_object_get(thread, "id"));
    for (size_t i = 1; id > 0 && i < t->n_threads; i++)
        if (t->threads[i].java_tid == (uint64_t)id && t->threads[i].id.v)
            return t->threads[i].id;
    return (thread_id){0};
}

static uint32_t by_hash(const struct trace *t, const json_t *lock)
{
    const char *hash = json_string_value(json_object_get(lock, "hash"));
    const char *class_name = json_string_value(json_object_get(lock, "class"));
    unsigned long h = hash ? strtoul(hash, NULL, 16) : 0;
    char name[1024];
    for (uint32_t i = 1; h && class_name && i < t->n_locks; i++) {
        if (t->locks[i].hash != h || !t->locks[i].id.v)
            continue;
        trace_class_name(trace_class(t, t->locks[i].class_)->signature, name, sizeof name);
        if (strcmp(name, class_name) == 0)
            return i;
    }
    return 0;
}

static uint8_t state_of(const json_t *waiter)
{
    const char *how = json_string_value(json_object_get(waiter, "how"));
    return !how                          ? STATE_WAITING
           : strcmp(how, "blocked") == 0 ? STATE_BLOCKED
           : strcmp(how, "parked") == 0  ? STATE_PARKED
                                         : STATE_WAITING;
}

static void take_lock(const struct trace *t, const json_t *lock, struct carry *out)
{
    struct carried c = {.other = by_java_id(t, json_object_get(lock, "owner")),
                        .object = by_hash(t, lock),
                        .since = out->at,
                        .how = CARRIED_TO_END};
    json_t *waiting = json_object_get(lock, "waiting"), *w;
    size_t i;
    json_array_foreach(waiting, i, w)
    {
        c.thread = by_java_id(t, w);
        c.state = state_of(w);
        if (c.thread.v)
            buf_put(&out->waits, &c, sizeof c);
    }
}

void top_ask(const struct jvm *jvm, const struct trace *t, struct carry *out)
{
    struct buf reply = {0};
    struct err ignored;
    json_t *lock;
    size_t i;
    if (client_ask(jvm, "query locks", TARGET_TIMEOUT_NS / 10, &reply, &ignored) == 0) {
        json_t *answer = json_loads(buf_str(&reply), 0, NULL);
        json_array_foreach(json_object_get(answer, "locks"), i, lock) take_lock(t, lock, out);
        json_decref(answer);
    }
    buf_fini(&reply);
}
