/* heap_paths_test.c - the paths from roots to an object: which comes first, and which further
 * ones. */
#include "cases.h"
#include "heap/links.h"
#include "heap/paths.h"
#include "heap/referrers.h"
#include "heap/retained.h"
#include "heap_made.h"

#include <criterion/criterion.h>

enum { BUS = MADE_OWN };

static struct made m;

static struct dump *opened(void)
{
    struct dump *d;
    struct err err = {""};
    hw_root(&m.w, HPROF_ROOT_STICKY_CLASS, OBJECT, 0, 0);
    hw_end(&m.w);
    cr_assert_eq(dump_open(&d, m.path, &(struct dump_options){.workers = 2}, &err), 0, "%s",
                 err.msg);
    return d;
}

/* Both searches, which must agree; the steps are links. */
struct ways {
    struct graph g;
    struct objects o;
    struct referrers r;
    struct heap_paths down, up;
};

static void ways_open(struct ways *w, const struct dump *d)
{
    cr_assert_eq(graph_build(&w->g, d, NULL, NULL), 0);
    cr_assert_eq(objects_locate(&w->o, d, NULL), 0);
    cr_assert_eq(referrers_find(&w->r, d, NULL), 0);
}

static void ways_close(struct ways *w, struct dump *d)
{
    referrers_fini(&w->r);
    objects_release(&w->o);
    graph_fini(&w->g);
    dump_close(d);
    fclose(m.f);
}

static void ways_to(struct ways *w, const struct dump *d, uint64_t id)
{
    cr_assert_eq(paths_down(&w->down, &w->g, d, id, NULL), 0);
    cr_assert_eq(referrers_paths(&w->r, &w->o, ids_find(&d->ids, id), &w->up), 0);
}

static void ways_done(struct ways *w)
{
    paths_fini(&w->down);
    paths_fini(&w->up);
}

/* "0x580 static subscribers 0x10000 .a 0x10040" */
static void is_way(const struct ways *w, const struct heap_path *way, const char *wanted)
{
    struct object_reader reader;
    struct buf b = {0};
    cr_assert_eq(object_reader_open(&reader, &w->o, NULL), 0);
    for (size_t i = 0; i < way->n; i++) {
        buf_printf(&b, "%s0x%llx", i ? " " : "",
                   (unsigned long long)ids_at(&w->o.d->ids, way->v[i]));
        if (i + 1 == way->n)
            break;
        buf_putc(&b, ' ');
        cr_assert_eq(links_name(&reader, way->v[i], way->v[i + 1], &b), 0);
    }
    cr_assert_str_eq(buf_str(&b), wanted);
    object_reader_close(&reader);
    buf_fini(&b);
}

static void are_ways(const struct ways *w, size_t n, const char *const *wanted)
{
    cr_assert_eq(w->down.n, n, "%zu ways down", w->down.n);
    cr_assert_eq(w->up.n, n, "%zu ways up", w->up.n);
    for (size_t i = 0; i < n; i++) {
        is_way(w, &w->down.v[i], wanted[i]);
        is_way(w, &w->up.v[i], wanted[i]);
    }
}

#define ARE_WAYS(w, ...)                                                                           \
    are_ways(w, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),                       \
             (const char *const[]){__VA_ARGS__})

/* A thread with one frame, which has these locals. */
static void thread_with(uint64_t thread, uint32_t serial, const char *method,
                        const uint64_t *locals, size_t n)
{
    uint64_t frame = made_frame(&m, method, 7, 10 + serial);
    made_trace(&m, serial, &frame, 1);
    hw_instance(&m.w, thread, THREAD, (uint64_t[]){0});
    hw_root(&m.w, HPROF_ROOT_THREAD_OBJ, thread, serial, serial);
    for (size_t i = 0; i < n; i++)
        hw_root(&m.w, HPROF_ROOT_JAVA_FRAME, locals[i], serial, 0);
}

/* What a static holds, two threads have as a local: the shorter path, which comes last. */
Test(heap_paths, a_static_comes_before_locals)
{
    struct ways w;
    made_begin(&m, 8, "a:L b:L");
    hw_class_full(&m.w, BUS, "shop/Bus", OBJECT, "", "first:L=4096 second:L=8192", 0);
    hw_instance(&m.w, 4096, NODE, (uint64_t[]){0x3000, 0});
    hw_instance(&m.w, 8192, NODE, (uint64_t[]){0, 0x3000});
    hw_instance(&m.w, 0x3000, NODE, (uint64_t[]){0x3100, 0x3200});
    hw_instance(&m.w, 0x3100, NODE, (uint64_t[]){0, 0});
    hw_instance(&m.w, 0x3200, NODE, (uint64_t[]){0x3100, 0});
    thread_with(0x5000, 1, "pump", (uint64_t[]){0x3000}, 1);
    thread_with(0x5100, 2, "poll", (uint64_t[]){0x3000}, 1);
    struct dump *d = opened();
    ways_open(&w, d);
    ways_to(&w, d, 0x3000);
    ARE_WAYS(&w, "0x580 static first 0x1000 .a 0x3000", "0x580 static second 0x2000 .b 0x3000",
             "0x5000 a local in Node.pump (Node.java:11) 0x3000");
    ways_done(&w);
    ways_to(&w, d, 0x3100); /* there are two paths at its end: that is not another reason */
    ARE_WAYS(&w, "0x580 static first 0x1000 .a 0x3000 .a 0x3100",
             "0x580 static second 0x2000 .b 0x3000 .b 0x3200 .a 0x3100",
             "0x5000 a local in Node.pump (Node.java:11) 0x3000 .a 0x3100");
    ways_done(&w);
    ways_close(&w, d);
}

/* A local that the thread has as a field, too, is a field. */
Test(heap_paths, a_field_of_a_thread_is_no_local)
{
    struct ways w;
    made_begin(&m, 8, "a:L b:L");
    hw_instance(&m.w, 0x3000, NODE, (uint64_t[]){0x3100, 0});
    hw_instance(&m.w, 0x3100, NODE, (uint64_t[]){0, 0});
    hw_instance(&m.w, 0x5000, THREAD, (uint64_t[]){0x3000});
    hw_root(&m.w, HPROF_ROOT_THREAD_OBJ, 0x5000, 1, 1);
    hw_root(&m.w, HPROF_ROOT_JAVA_FRAME, 0x3000, 1, 0);
    hw_root(&m.w, HPROF_ROOT_JAVA_FRAME, 0x3000, 1, 1);
    hw_root(&m.w, HPROF_ROOT_JAVA_FRAME, 0x3100, 1, 1);
    hw_root(&m.w, HPROF_ROOT_JAVA_FRAME, 0x3100, 1, 2);
    struct dump *d = opened();
    ways_open(&w, d);
    ways_to(&w, d, 0x3100);
    ARE_WAYS(&w, "0x5000 .name 0x3000 .a 0x3100", "0x5000 a local of the thread 0x3100");
    ways_done(&w);
    ways_close(&w, d);
}

/* --- from the roots down and from the object up ----------------------------------------------- */

enum { RANDOM_NODES = 300, RANDOM_HEAPS = 30 };

static uint32_t seed;
static uint32_t chance(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

static uint64_t a_node(void)
{
    return 0x10000 + 0x80 * (uint64_t)chance(RANDOM_NODES);
}

static uint64_t any_node(void)
{
    return chance(3) ? a_node() : 0;
}

static void make_random(void)
{
    made_begin(&m, 8, "a:L b:L");
    for (uint64_t i = 0; i < RANDOM_NODES; i++) {
        uint64_t id = 0x10000 + 0x80 * i, a = any_node(), b = any_node();
        hw_instance(&m.w, id, chance(5) ? NODE : WEAK, (uint64_t[]){a, b});
    }
    for (uint32_t i = 0; i < 3; i++)
        thread_with(0x5000 + 0x80 * i, i + 1, "run", (uint64_t[]){a_node(), a_node(), a_node()}, 3);
    for (int i = 0; i < 3; i++)
        hw_root(&m.w, HPROF_ROOT_JNI_GLOBAL, a_node(), 0, 0);
}

static size_t locals_of(const struct ways *w, const struct heap_path *way)
{
    struct object_reader reader;
    size_t locals = 0;
    cr_assert_eq(object_reader_open(&reader, &w->o, NULL), 0);
    for (size_t i = 0; i + 1 < way->n; i++) {
        struct buf b = {0};
        cr_assert_eq(links_name(&reader, way->v[i], way->v[i + 1], &b), 0);
        cr_assert_str_neq(buf_str(&b), "?");
        locals += strncmp(buf_str(&b), links_local, strlen(links_local)) == 0;
        buf_fini(&b);
    }
    object_reader_close(&reader);
    return locals;
}

static bool are_same(const struct heap_path *a, const struct heap_path *b)
{
    return a->n == b->n && memcmp(a->v, b->v, a->n * sizeof *a->v) == 0;
}

Test(heap_paths, both_searches_find_the_same)
{
    size_t several = 0, local = 0, reached = 0;
    for (seed = 1; seed <= (uint32_t)cases(RANDOM_HEAPS);) {
        uint32_t heap = seed;
        struct ways w;
        make_random();
        struct dump *d = opened();
        ways_open(&w, d);
        for (uint32_t i = 0; i < d->n_objects; i++) {
            ways_to(&w, d, ids_at(&d->ids, i));
            const struct heap_path *down = &w.down.v[0], *up = &w.up.v[0];
            cr_assert_eq(up->n, down->n, "heap %u, object %u: %zu instead of %zu", heap, i, up->n,
                         down->n);
            cr_assert_eq(locals_of(&w, up), locals_of(&w, down));
            for (size_t k = 0; k < w.up.n; k++) {
                cr_assert_eq(w.up.v[k].v[w.up.v[k].n - 1], i);
                cr_assert(referrers_is_root(&w.r, w.up.v[k].v[0]));
                cr_assert(k == 0 || !are_same(&w.up.v[k], &w.up.v[k - 1]));
            }
            several += w.up.n > 1;
            reached += up->n > 0;
            local += up->n && locals_of(&w, up);
            ways_done(&w);
        }
        ways_close(&w, d);
        seed = heap + 1;
    }
    cr_assert(several > (size_t)cases(RANDOM_HEAPS) && local > 0,
              "of %zu %zu with several, %zu by locals", reached, several, local);
}
