/* serve_heaps_test.c - the heap dumps that a server has open: their numbers, and how many. */
#include "../patience.h"
#include "base/clock.h"
#include "serve/heaps.h"
#include "view/heap_view.h"

#include "heap_made.h"
#include "view_ask.h"

#include <criterion/criterion.h>
#include <stdatomic.h>

static struct made made[HEAPS_MAX + 1];
static struct heaps heaps;
static atomic_int told;

static void on_change(void *ctx)
{
    (void)ctx;
    told++;
}

static int add(struct made *m, uint32_t *k, struct err *err)
{
    struct heap_view *view;
    cr_assert_eq(heap_view_new(&view, m->path, NULL, err), 0, "%s", err->msg);
    return heaps_add(&heaps, view, k, err);
}

/* Until nothing is read; heaps_fini would not wait for that. */
static void wait_for(struct heap_view *view)
{
    for (bool over = false; !over; patience_pause()) {
        json_t *j = ask_heap(view, "overview", "");
        over = strcmp(text_at(j, "stage"), "ready") == 0 && json_is_null(at_path(j, "phase"));
        json_decref(j);
    }
}

Test(serve_heaps, each_file_has_one_number)
{
    struct err err = {""};
    uint32_t k;
    cr_assert_eq(heaps_init(&heaps, on_change, NULL, &err), 0);
    cr_assert_null(heaps_get(&heaps, 0));
    cr_assert_null(heaps_get(&heaps, 1));
    for (uint32_t i = 0; i <= HEAPS_MAX; i++) {
        made_begin(&made[i], 8, "a:L");
        hw_end(&made[i].w);
        int rc = add(&made[i], &k, &err);
        cr_assert_eq(rc, i < HEAPS_MAX ? 0 : -EMFILE);
        cr_assert(i == HEAPS_MAX || k == i + 1);
    }
    cr_assert(strstr(err.msg, "4 heap dumps are open"), "%s", err.msg);
    cr_assert_eq(add(&made[1], &k, &err), 0);
    cr_assert_eq(k, 2);
    cr_assert_eq(heaps_count(&heaps), HEAPS_MAX);
    cr_assert_str_eq(heap_view_path(heaps_get(&heaps, 2)), made[1].path);
    cr_assert_null(heaps_get(&heaps, HEAPS_MAX + 1));
    for (k = 1; k <= HEAPS_MAX; k++)
        wait_for(heaps_get(&heaps, k));
    cr_assert_gt(told, 0);
    cr_assert(!heaps_fini(&heaps));
    for (uint32_t i = 0; i <= HEAPS_MAX; i++)
        fclose(made[i].f);
}
