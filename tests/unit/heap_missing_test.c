/* heap_missing_test.c - incomplete dumps: what they lack is reported, and nothing is concluded from
 * it. */
#include "heap/missing.h"

#include "heap/collections.h"
#include "heap/diff.h"
#include "heap/suspects.h"
#include "heap_made.h"
#include "view_ask.h"

#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LEAK = MADE_OWN, DEQUE = MADE_OWN + 0x80, NODES_KEPT = 200 };

static void node(struct made *m, uint64_t id, uint64_t to)
{
    hw_instance(&m->w, id, NODE, (uint64_t[]){to, 0});
}

static uint64_t node_id(uint32_t i)
{
    return 0x20000 + (uint64_t)i * 32;
}

/* A Node[] that a static holds keeps nearly all; a thread has a local; the roots come last. */
static void write_objects(struct made *m)
{
    uint64_t ids[NODES_KEPT];
    hw_class_full(&m->w, LEAK, "shop/Leak", OBJECT, "", "all:L=65536", 0x19000);
    hw_class(&m->w, DEQUE, "java/util/ArrayDeque", OBJECT, "elements:L");
    for (uint32_t i = 0; i < NODES_KEPT; i++)
        ids[i] = node_id(i);
    hw_instance(&m->w, 0x18000, THREAD, (uint64_t[]){0});
    hw_instance(&m->w, 0x19000, WEAK, (uint64_t[]){0, 0}); /* the class loader */
    hw_objects(&m->w, 65536, NODES, ids, NODES_KEPT);
    for (uint32_t i = 0; i < NODES_KEPT; i++) {
        node(m, ids[i], 0);
        if (i % 50 == 49)
            hw_flush(&m->w); /* a segment of its own */
    }
    hw_instance(&m->w, 0x1a000, WEAK, (uint64_t[]){node_id(3), 0});
}

static void write_roots(struct made *m)
{
    hw_root(&m->w, HPROF_ROOT_JNI_GLOBAL, 0x19000, 0, 0);
    hw_root(&m->w, HPROF_ROOT_JNI_GLOBAL, 0x1a000, 0, 0);
    hw_root(&m->w, HPROF_ROOT_THREAD_OBJ, 0x18000, 7, 8);
    hw_root(&m->w, HPROF_ROOT_JAVA_FRAME, node_id(5), 7, 0);
}

static void make_whole(struct made *m)
{
    made_begin(m, 8, "a:L b:L");
    write_objects(m);
    write_roots(m);
    hw_end(&m->w);
}

static struct dump *opened(const char *path)
{
    struct dump *d;
    struct err err = {""};
    cr_assert_eq(dump_open(&d, path, NULL, &err), 0, "%s", err.msg);
    return d;
}

static void find(struct retained *r, const struct dump *d, uint64_t path_to)
{
    struct err err = {""};
    const struct retained_options o = {.classes = true, .path_to = path_to};
    cr_assert_eq(retained_find(r, d, &o, &err), 0, "%s", err.msg);
}

static bool tells(const struct dump *d, const char *words)
{
    struct missing_lines m;
    missing_tell(d, &m);
    for (size_t i = 0; i < m.n; i++)
        if (strstr(m.v[i], words))
            return true;
    return false;
}

static size_t count_suspects(const struct retained *r)
{
    struct suspects s;
    const struct suspects_options o = {.least_percent = 5};
    cr_assert_eq(suspects_find(&s, r, &o, NULL), 0);
    size_t n = s.n;
    suspects_fini(&s);
    return n;
}

/* Nothing keeps anything, nothing is unreachable, nobody is accused. */
static void draws_no_conclusion(const struct dump *d, long at)
{
    struct retained r;
    cr_assert(d->partial, "at %ld", at);
    find(&r, d, 0);
    cr_assert(!r.known, "at %ld", at);
    cr_assert_eq(r.n_unreached + r.bytes_unreached + r.bytes_reached, 0, "at %ld", at);
    for (uint32_t i = 0; i < d->n_objects; i++)
        cr_assert(r.dominators[i] == DUMP_NONE && retained_bytes(&r, i) == 0, "at %ld", at);
    for (uint32_t c = 0; c < d->n_classes; c++)
        cr_assert_eq(r.class_bytes[c], 0, "at %ld", at);
    cr_assert_eq(count_suspects(&r), 0, "at %ld", at);
    retained_fini(&r);
}

Test(heap_missing, a_whole_dump_lacks_nothing)
{
    struct made m;
    struct retained r;
    make_whole(&m);
    struct dump *d = opened(m.path);
    struct missing_lines lines;
    missing_tell(d, &lines);
    cr_assert(!d->partial && lines.n == 0);
    find(&r, d, 65536);
    cr_assert(r.known && r.paths.v[0].n == 3);
    cr_assert_gt(count_suspects(&r), 0);
    cr_assert_gt(retained_bytes(&r, ids_find(&d->ids, 65536)), (NODES_KEPT - 2) * UINT64_C(24));
    retained_fini(&r);
    dump_close(d);
    fclose(m.f);
}

/* Where each record and each object begins. */
static size_t boundaries(const struct made *m, off_t *at, size_t most)
{
    struct hprof_file *f;
    struct hprof h;
    struct hprof_item it;
    size_t n = 0;
    cr_assert_eq(hprof_file_open(&f, m->path, NULL), 0);
    cr_assert_eq(hprof_open(&h, f, NULL), 0);
    hprof_seek(&h, h.first, UINT64_MAX);
    while (hprof_next(&h, &it) > 0 && n < most)
        at[n++] = (off_t)it.offset;
    hprof_close(&h);
    hprof_file_close(f);
    return n;
}

/* The first `cut` bytes, in a file of their own; closed with close. */
static int copy_of(const struct made *m, off_t cut, char path[64])
{
    static uint8_t bytes[1 << 20];
    int fd = memfd_create("cut", 0);
    cr_assert_eq(pread(fileno(m->f), bytes, (size_t)cut, 0), cut);
    cr_assert_eq(write(fd, bytes, (size_t)cut), cut);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static void check_cut(const struct made *m, off_t cut)
{
    char path[64], place[64];
    int fd = copy_of(m, cut, path);
    struct dump *d = opened(path);
    snprintf(place, sizeof place, "truncated at offset 0x%lx", (unsigned long)cut);
    cr_assert(tells(d, place), "at %ld", (long)cut);
    cr_assert_eq(tells(d, "roots"), d->n_roots == 0, "at %ld", (long)cut);
    cr_assert(!tells(d, "damaged"), "at %ld: %s", (long)cut, d->problems[0].text);
    draws_no_conclusion(d, (long)cut);
    dump_close(d);
    close(fd);
}

static void check_cuts(const struct made *m)
{
    static off_t at[1024];
    size_t n = boundaries(m, at, 1024);
    off_t size = lseek(fileno(m->f), 0, SEEK_END);
    uint64_t random = 7;
    cr_assert_gt(n, NODES_KEPT + 30u);
    for (size_t i = 0; i < n; i++)
        check_cut(m, at[i]);
    for (int i = 0; i < 300; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        check_cut(m, 31 + (off_t)((random >> 33) % (uint64_t)(size - 31)));
    }
}

Test(heap_missing, what_is_cut_anywhere_accuses_nobody)
{
    struct made m;
    make_whole(&m);
    check_cuts(&m);
    fclose(m.f);
}

/* Version 1.0.1 has no end record: a cut between two objects shows only in the record's length. */
Test(heap_missing, the_older_version_cut_between_two_objects)
{
    struct made m;
    made_begin(&m, 8, "a:L b:L");
    m.w.heap_tag = HPROF_HEAP_DUMP;
    memcpy(m.w.out.p, "JAVA PROFILE 1.0.1", 19);
    node(&m, node_id(0), node_id(1));
    node(&m, node_id(1), 0);
    hw_root(&m.w, HPROF_ROOT_JNI_GLOBAL, node_id(0), 0, 0);
    hw_root(&m.w, HPROF_ROOT_JNI_GLOBAL, node_id(1), 0, 0);
    hw_flush(&m.w);
    fflush(m.f);
    buf_fini(&m.w.out);
    buf_fini(&m.w.heap);
    off_t size = lseek(fileno(m.f), 0, SEEK_END);
    struct dump *d = opened(m.path);
    cr_assert(!d->partial);
    dump_close(d);
    check_cut(&m, size - 17); /* without the last root */
    fclose(m.f);
}

Test(heap_missing, without_roots)
{
    struct made m;
    made_begin(&m, 8, "a:L b:L");
    write_objects(&m);
    hw_end(&m.w);
    struct dump *d = opened(m.path);
    cr_assert(tells(d, "roots") && !tells(d, "truncated"));
    draws_no_conclusion(d, 0);
    dump_close(d);
    fclose(m.f);
}

Test(heap_missing, objects_of_a_class_that_is_not_described)
{
    struct made m;
    made_begin(&m, 8, "a:L b:L");
    write_objects(&m);
    hw_instance(&m.w, 0x30000, 0x7000, (uint64_t[]){0});
    hw_class(&m.w, 0x7100, "shop/Orphan", 0x7200, ""); /* nor is its super class */
    hw_instance(&m.w, 0x30020, 0x7100, (uint64_t[]){0});
    hw_instance(&m.w, 0x30040, 0x7100, (uint64_t[]){0});
    write_roots(&m);
    hw_end(&m.w);
    struct dump *d = opened(m.path);
    cr_assert_eq(d->missing.classes, 2);
    cr_assert_eq(d->missing.instances, 3);
    cr_assert(tells(d, "what 2 classes consist of, and with it what 3 objects refer to"));
    draws_no_conclusion(d, 0);
    dump_close(d);
    fclose(m.f);
}

/* Gives the string another id, so that who asks for it does not find it. */
static void lose_name(struct made *m, const char *name)
{
    size_t n = strlen(name);
    uint8_t *p = memmem(m->w.out.p, m->w.out.len, name, n);
    cr_assert(p);
    p[-8] = 0x7f;
}

/* Weak references are known by names: without them even a path may be none. */
Test(heap_missing, without_a_name)
{
    static const char *const names[] = {"referent", "java/lang/ref/WeakReference"};
    for (int i = 0; i < 2; i++) {
        struct made m;
        struct retained r;
        made_begin(&m, 8, "a:L b:L");
        lose_name(&m, names[i]);
        write_objects(&m);
        write_roots(&m);
        hw_end(&m.w);
        struct dump *d = opened(m.path);
        cr_assert_eq(d->missing.names, 1);
        cr_assert(tells(d, "1 name of classes"));
        draws_no_conclusion(d, 0);
        find(&r, d, node_id(3));
        cr_assert_eq(r.paths.n, 0);
        retained_fini(&r);
        dump_close(d);
        fclose(m.f);
    }
}

Test(heap_missing, a_part_that_is_damaged)
{
    struct made m;
    made_begin(&m, 8, "a:L b:L");
    write_objects(&m);
    hw_flush(&m.w);
    long at = ftell(m.f) + 9;
    hw_number(&m.w.heap, 0x77, 1);
    hw_flush(&m.w);
    write_roots(&m);
    hw_end(&m.w);
    struct dump *d = opened(m.path);
    char place[64];
    snprintf(place, sizeof place, "1 damaged part, which begins at offset 0x%lx", at);
    cr_assert(tells(d, place) && !tells(d, "truncated"));
    cr_assert_eq(dump_class_by_name(d, "Node")->count, NODES_KEPT);
    draws_no_conclusion(d, 0);
    dump_close(d);
    fclose(m.f);
}

/* What is there is: a path is one, wherever the dump ends. */
Test(heap_missing, a_path_that_is_there_is_found)
{
    struct made m;
    struct retained r;
    make_whole(&m);
    char path[64];
    int fd = copy_of(&m, lseek(fileno(m.f), 0, SEEK_END) - 9, path); /* without the end record */
    struct dump *d = opened(path);
    find(&r, d, node_id(5));
    cr_assert(!r.known && r.paths.v[0].n > 1);
    retained_fini(&r);
    find(&r, d, 0x300); /* Reference: a root itself, as of the boot loader */
    cr_assert_eq(r.paths.v[0].n, 1);
    retained_fini(&r);
    dump_close(d);
    close(fd);
    fclose(m.f);
}

Test(heap_missing, a_collection_whose_array_is_missing_is_not_empty)
{
    struct made m;
    struct collections_found c;
    made_begin(&m, 8, "a:L b:L");
    write_objects(&m);
    hw_instance(&m.w, 0x30000, DEQUE, (uint64_t[]){0x31000}); /* which is not there */
    write_roots(&m);
    struct dump *d;
    hw_end(&m.w);
    d = opened(m.path);
    cr_assert_eq(collections_find(&c, d, NULL), 0);
    cr_assert_eq(c.count, 1);
    cr_assert_eq(c.empty + c.wasted, 0);
    collections_fini(&c);
    dump_close(d);
    fclose(m.f);
}

/* --- growth ----------------------------------------------------------------------------------- */

static void compare(const char *then, const char *now, struct diff *diff)
{
    diff_init(diff);
    for (int i = 0; i < 2; i++) {
        struct dump *d = opened(i ? now : then);
        cr_assert_eq(diff_add(diff, d, NULL, i, NULL), 0);
        dump_close(d);
    }
    diff_order(diff);
}

Test(heap_missing, what_a_dump_lacks_has_neither_grown_nor_shrunk)
{
    struct made m;
    struct diff diff;
    char cut[64];
    make_whole(&m);
    int fd = copy_of(&m, lseek(fileno(m.f), 0, SEEK_END) / 2, cut);
    compare(m.path, m.path, &diff);
    cr_assert(diff.known_grown && diff.known_shrunk);
    diff_fini(&diff);
    compare(cut, m.path, &diff);
    cr_assert(!diff.known_grown && diff.known_shrunk);
    cr_assert(diff.grown > 0 && diff.shrunk == 0);
    diff_fini(&diff);
    compare(m.path, cut, &diff);
    cr_assert(diff.known_grown && !diff.known_shrunk);
    cr_assert(diff.grown == 0 && diff.shrunk > 0);
    diff_fini(&diff);
    compare(cut, cut, &diff);
    cr_assert(!diff.known_grown && !diff.known_shrunk);
    diff_fini(&diff);
    close(fd);
    fclose(m.f);
}

/* --- the viewer's answers --------------------------------------------------------------------- */

static void check_not_known(struct heap_view *h, const char *answer, const char *question)
{
    json_t *j = ask_heap(h, answer, question);
    cr_assert(json_object_get(j, "not_known"), "%s", answer);
    cr_assert_eq(json_object_size(j), 1, "%s", answer);
    json_decref(j);
}

static void check_lists(struct heap_view *h)
{
    json_t *j = ask_heap(h, "classes", "match=Node");
    cr_assert_gt(number_at(j, "classes.0.objects"), 10);
    cr_assert(json_is_null(at_path(j, "classes.0.retained")));
    json_decref(j);
    j = ask_heap(h, "object", "id=0x10000");
    cr_assert(json_is_null(json_object_get(j, "reached")));
    cr_assert(json_is_null(json_object_get(j, "retained")));
    cr_assert(json_is_null(json_object_get(j, "dominator")));
    cr_assert_eq(number_at(j, "children"), 0);
    json_decref(j);
    j = ask_heap(h, "referrers", "id=0x20000");
    cr_assert_eq(number_at(j, "n"), 1);
    cr_assert(json_is_null(at_path(j, "referrers.0.retained")));
    json_decref(j);
}

static void check_growth(struct heap_view *h)
{
    json_t *j = ask_heap(h, "diff", "");
    size_t i;
    json_t *row;
    cr_assert(json_is_null(json_object_get(j, "shrunk")));
    cr_assert(json_is_null(json_object_get(j, "same")));
    cr_assert_eq(number_at(j, "grown"), 0);
    json_array_foreach(json_object_get(j, "classes"), i, row)
        cr_assert_fail("%s", text_at(row, "name"));
    json_decref(j);
}

Test(heap_missing, the_viewer_says_what_is_not_known)
{
    static const char *const keepers[] = {"suspects", "tree", "icicle"};
    struct made m;
    struct heap_view *h;
    struct err err = {""};
    char path[64];
    make_whole(&m);
    int fd = copy_of(&m, lseek(fileno(m.f), 0, SEEK_END) / 2, path);
    cr_assert_eq(heap_view_new(&h, path, m.path, &err), 0, "%s", err.msg);
    heap_view_read(h);
    json_t *j = ask_heap(h, "overview", "");
    cr_assert(json_is_true(json_object_get(j, "partial")));
    cr_assert_null(json_object_get(j, "unreached"));
    cr_assert(strstr(text_at(j, "missing.0"), "truncated at offset 0x"));
    cr_assert(strstr(text_at(j, "missing.1"), "roots"));
    cr_assert(strstr(text_at(j, "not_known"), "cannot say"));
    cr_assert(strstr(text_at(j, "remedy"), "orca heap dump PID"));
    json_decref(j);
    for (int i = 0; i < 3; i++)
        check_not_known(h, keepers[i], "");
    check_not_known(h, "tree", "id=0x10000");
    check_not_known(h, "path", "id=0x10000");
    check_lists(h);
    check_growth(h);
    heap_view_free(h);
    close(fd);
    fclose(m.f);
}
