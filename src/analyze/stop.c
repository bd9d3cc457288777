#include "analyze/stop.h"

#include "base/util.h"

#include <stdio.h>
#include <string.h>

struct stop stop_find(const struct trace *t, const struct thread_set *threads)
{
    struct stop found = {0};
    for (uint32_t i = 1; i < threads->n && !found.thread; i++) {
        const struct thread_stats *s = &threads->v[i];
        const struct trace_thread *def = trace_thread(t, s->id);
        const char *end = strstr(def->name, " handler");
        if (!s->ends_jvm || strncmp(def->name, "SIG", 3) != 0 || !end ||
            strcmp(end, " handler") != 0 || strcmp(def->group, "system") != 0)
            continue;
        found.thread = i;
        found.at = s->called ? s->called : s->from;
        snprintf(found.signal, sizeof found.signal, "%.*s", (int)(end - def->name), def->name);
    }
    return found;
}
