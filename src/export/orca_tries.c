#include "export/orca_tries.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { BITS = 64 };

void orca_tries_fini(struct orca_tries *x)
{
    buf_fini(&x->failed);
    memset(x, 0, sizeof *x);
}

static bool is_try(const struct trace *t, method_id id)
{
    const struct trace_method *m = trace_method(t, id);
    return strcmp(m->name, "tryAcquire") == 0 &&
           strcmp(trace_class(t, m->class_)->signature, "Ljava/util/concurrent/Semaphore;") == 0;
}

static bool has_tries(const struct trace *t)
{
    for (size_t i = 1; i < t->n_methods; i++)
        if (is_try(t, t->methods[i].id))
            return true;
    return false;
}

/* The call that a thread is in. */
struct call {
    uint64_t number; /* 1 + its number; 0: none */
    uint32_t lock;
};

static bool mark(struct orca_tries *x, uint64_t number)
{
    size_t need = (number / BITS + 1) * sizeof(uint64_t);
    if (x->failed.len < need) {
        uint8_t *p = buf_reserve(&x->failed, need - x->failed.len);
        if (!p)
            return false;
        memset(p, 0, need - x->failed.len);
        x->failed.len = need;
    }
    ((uint64_t *)(void *)x->failed.p)[number / BITS] |= UINT64_C(1) << number % BITS;
    return true;
}

/* False: out of memory. */
static bool look_at(struct orca_tries *x, const struct trace *t, struct call *c,
                    const struct event *e)
{
    if (e->kind == EV_semaphore_acquire_enter) {
        const struct trace_stack *s = trace_stack(t, e->semaphore_acquire_enter.stack);
        bool try = s->n_frames > 0 && is_try(t, s->frames[0].method);
        *c = (struct call){try ? x->next + 1 : 0, e->semaphore_acquire_enter.lock.v};
        x->next++;
    } else if (e->kind == EV_semaphore_acquire_exit) {
        const struct call was = *c;
        c->number = 0;
        if (was.number && was.lock == e->semaphore_acquire_exit.lock.v &&
            e->semaphore_acquire_exit.failed)
            return mark(x, was.number - 1);
    }
    return true;
}

int orca_tries_find(struct orca_tries *x, struct trace *t, struct err *err)
{
    struct trace_iter *it = NULL;
    struct event e;
    *x = (struct orca_tries){.next = 0};
    if (!has_tries(t))
        return 0;
    struct call *calls = calloc(t->n_threads + 1, sizeof *calls);
    if (!calls)
        return err_set(err, -ENOMEM, "%s: out of memory", t->path);
    int rc = trace_iter_open(&it, t, err);
    while (rc >= 0 && (rc = trace_iter_next(it, &e, NULL, err)) > 0)
        if (e.thread.v < t->n_threads && !look_at(x, t, &calls[e.thread.v], &e))
            rc = err_set(err, -ENOMEM, "%s: out of memory", t->path);
    trace_iter_close(it);
    free(calls);
    x->next = 0;
    return rc < 0 ? rc : 0;
}

bool orca_tries_take(struct orca_tries *x)
{
    uint64_t number = x->next++;
    const uint64_t *bits = (const void *)x->failed.p;
    return number / BITS < x->failed.len / sizeof *bits &&
           (bits[number / BITS] >> number % BITS & 1);
}
