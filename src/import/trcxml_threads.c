/* trcxml_threads.c - which threads are the JVM's own, and which do not delay the end of the
 * program.
 *
 * TPTP's files do not say.  Ours do; of others, a thread is taken for the JVM's if it has a name
 * that HotSpot, J9 and their class libraries use, or if it only has a start.  If main has ended, a
 * thread that never ends counts as a daemon: else the program would have no end, and no critical
 * path. */
#include "import/jvm_threads.h"
#include "import/trcxml_parts.h"

#include <string.h>

static bool is_main(const struct intake_thread *t)
{
    return t->name.len == 4 && memcmp(t->name.p, "main", 4) == 0;
}

static bool main_has_ended(const struct trcxml *x)
{
    for (uint32_t i = 1; i < x->in.n_threads; i++) {
        const struct trcxml_thread *s = trcxml_ids_state(&x->ids, (thread_id){i});
        if (x->in.threads[i].used && s && s->ended && is_main(&x->in.threads[i]))
            return true;
    }
    return false;
}

void trcxml_tell_threads(struct trcxml *x)
{
    static const char system[] = "system";
    bool over = main_has_ended(x);
    if (x->ids.own)
        return;
    for (uint32_t i = 1; i < x->in.n_threads; i++) {
        struct intake_thread *t = &x->in.threads[i];
        const struct trcxml_thread *s = trcxml_ids_state(&x->ids, (thread_id){i});
        if (!t->used || !s)
            continue;
        bool silent = !s->acted && !s->ended && t->group.len == 0 && !is_main(t) && s->started;
        bool jvms = jvm_threads_group(t->name, t->called) || silent;
        if (jvms && t->group.len == 0)
            t->group = (struct text){system, sizeof system - 1};
        if (jvms || (over && !s->ended))
            t->flags |= THREAD_DAEMON;
    }
}
