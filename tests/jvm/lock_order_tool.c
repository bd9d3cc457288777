/* lock_order_tool.c - the locks that threads of a trace took in contradicting orders, for
 * test_lock_order.sh.
 *
 *   lock_order_tool FILE
 *
 *   finding sides=N distance=NS cycles=N count=N partial=0|1 checked=0|1
 * reach=candidate|reorderable side thread=NAME held=CLASS wanted=CLASS held_at=WHAT:METHOD:LINE
 * wanted_at=... seen=0|1 times=N suppressed shared=N same_thread=N gate=N start_join=N */
#include "analyze/analysis.h"
#include "analyze/labels.h"
#include "analyze/lock_order.h"
#include "conclude/resource.h"

#include <inttypes.h>
#include <stdio.h>

static void print_place(const struct analysis *a, const char *key, struct lock_order_place at)
{
    static const char *const names[] = {"unknown", "wanted", "given-back", "owning", "earlier"};
    char method[LABEL_MAX];
    struct place top, app;
    sites_name(a->trace, at.stack, &top, &app);
    label_method(a->trace, app.method, method, sizeof method);
    printf(" %s=%s:%s:%" PRId32, key, names[at.what], method, app.line);
}

static void print_side(const struct analysis *a, const struct lock_order_side *s)
{
    char thread[LABEL_MAX], held[LABEL_MAX], wanted[LABEL_MAX];
    label_thread(&a->threads, a->trace, s->thread, thread, sizeof thread);
    label_class(a->locks.groups[lock_set_group(&a->locks, s->held)].signature, held, sizeof held);
    label_class(a->locks.groups[lock_set_group(&a->locks, s->wanted)].signature, wanted,
                sizeof wanted);
    printf("side thread=%s held=%s wanted=%s", thread, held, wanted);
    print_place(a, "held_at", s->held_at);
    print_place(a, "wanted_at", s->wanted_at);
    printf(" seen=%d times=%" PRIu64 "\n", s->seen, s->times);
}

static void print(const struct analysis *a, const struct lock_order *found)
{
    for (size_t i = 0; i < found->n; i++) {
        const struct lock_order_finding *f = &found->v[i];
        printf("finding sides=%" PRIu32 " distance=%" PRIu64 " cycles=%" PRIu64 " count=%" PRIu64
               " partial=%d checked=%d reach=%s\n",
               f->n_sides, f->distance, f->cycles, f->count, f->partial, f->checked,
               f->reach == LOCK_ORDER_REORDERABLE ? "reorderable" : "candidate");
        for (uint32_t k = 0; k < f->n_sides; k++)
            print_side(a, &f->sides[k]);
    }
    printf("suppressed shared=%" PRIu64 " same_thread=%" PRIu64 " gate=%" PRIu64
           " start_join=%" PRIu64 "\n",
           found->suppressed.shared, found->suppressed.same_thread, found->suppressed.gate,
           found->suppressed.start_join);
}

int main(int argc, char **argv)
{
    struct err err = {"usage: lock_order_tool FILE"};
    struct trace *t = NULL;
    struct analysis *a = NULL;
    struct lock_order found;
    struct arena arena;
    arena_init(&arena, 0);
    int rc = argc == 2 ? trace_open(&t, argv[1], &err) : -EINVAL;
    if (rc == 0)
        rc = conclude_run(&a, t, &err);
    if (rc == 0 && (rc = lock_order_find(&found, a, &arena)) < 0)
        err_set(&err, rc, "out of memory");
    if (rc == 0)
        print(a, &found);
    else
        fprintf(stderr, "lock_order_tool: %s\n", err.msg);
    analysis_free(a);
    if (t)
        trace_close(t);
    arena_fini(&arena);
    return rc < 0;
}
