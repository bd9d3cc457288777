/* The origin of an answer: its giver has read it from a connection just before, or got its work
 * from a thread that has (reads.h). */
#include "base/util.h"
#include "conclude/resource_parts.h"

#include <string.h>

enum { PASSED_BY = 3 }; /* threads that an answer goes through after it was read, at most */

const struct span *resource_last_idle(const struct analysis *a, uint32_t thread, uint64_t time)
{
    const struct timeline *t = &a->timeline;
    const struct line *l = &t->lines[thread];
    uint32_t i = line_spans_until(l, time), least = i - min_u32(i, LOOK_BACK);
    for (; i > least; i--) {
        const struct span *o = line_span(l, i - 1);
        if (span_end(t, o) <= time && wait_is_for_work(a, o->context))
            return o;
    }
    return NULL;
}

const struct span *resource_last_work(const struct analysis *a, uint32_t thread, uint64_t time)
{
    const struct span *o = resource_last_idle(a, thread, time);
    return o && o->waker && o->waker < a->timeline.n_lines ? o : NULL;
}

/* Whether the reading thread works on the answer itself: it has waited for input, and in no select
 * since, in a task that it was given, or in the program's own code. */
static bool works_on_it(const struct program *p, const struct analysis *a,
                        const struct io_wait *read, const struct span *task)
{
    const struct io_wait *call = reads_blocked(&a->reads, read);
    return call && call->what == IO_KIND_input &&
           ((task && call->to > span_end(&a->timeline, task)) ||
            program_code(p, program_place(p, call->stack).method) == CODE_PROGRAM);
}

lock_id source_of(const struct program *p, const struct analysis *a, uint32_t thread, uint64_t time,
                  uint64_t *had)
{
    *had = 0;
    for (int i = 0; i < PASSED_BY; i++) {
        const struct io_wait *read =
            reads_before(&a->reads, &a->timeline, &a->threads, thread, time);
        const struct span *work = resource_last_work(a, thread, time);
        bool child = read && read->what == IO_KIND_process;
        if (read && !child && works_on_it(p, a, read, work))
            return (lock_id){0};
        if (read && i == 0)
            *had = child ? read->to : read->from;
        if (read || !work)
            return read ? read->peer : (lock_id){0};
        time = span_wake_time(&a->timeline, work);
        thread = work->waker;
    }
    return (lock_id){0};
}

/* Of "127.0.0.1:8080" and "[::1]:8080": what is before the port. */
static bool is_same_host(const char *x, size_t n, const char *y, size_t m)
{
    return n == m && memcmp(x, y, n) == 0;
}

static bool is_loopback(const char *host, size_t n)
{
    static const char v4[] = "127.", v6[] = "[::1]";
    return (n >= sizeof v4 - 1 && memcmp(host, v4, sizeof v4 - 1) == 0) ||
           is_same_host(host, n, v6, sizeof v6 - 1);
}

bool source_is_own(const struct trace *t, lock_id peer)
{
    static const char listening[] = "=listening ";
    const char *name = trace_class(t, trace_lock(t, peer)->class_)->signature;
    const char *host = name + (*name == '='), *port = strrchr(host, ':');
    for (uint32_t i = 1; port && i < t->n_classes; i++) {
        const char *own = trace_class(t, (class_id){i})->signature;
        if (strncmp(own, listening, sizeof listening - 1) != 0)
            continue;
        own += sizeof listening - 1;
        const char *at = strrchr(own, ':');
        if (at && strcmp(at, port) == 0 &&
            (is_loopback(host, (size_t)(port - host)) ||
             is_same_host(host, (size_t)(port - host), own, (size_t)(at - own))))
            return true;
    }
    return false;
}
