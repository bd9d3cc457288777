/* heap_contents_test.c - what dumps made by hand hold: equal strings, collections, threads, what
 * has grown, suspects. */
#include "heap/collections.h"
#include "heap/diff.h"
#include "heap/strings.h"
#include "heap/suspects.h"
#include "heap/threads.h"

#include "heap_made.h"

#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    CHARS = MADE_OWN + 0x0,
    OBJECTS = MADE_OWN + 0x80,
    LIST = MADE_OWN + 0x100,
    OWN_LIST = MADE_OWN + 0x180,
    MAP = MADE_OWN + 0x200,
    SET = MADE_OWN + 0x280,
    CONCURRENT = MADE_OWN + 0x300,
    BUILDER = MADE_OWN + 0x380,
    STRING_BUILDER = MADE_OWN + 0x400,
    HOLDER = MADE_OWN + 0x480,
    LONGS = MADE_OWN + 0x500,
    LINK = MADE_OWN + 0x580,
};

/* compact: Strings of byte[], as from JDK 9 on. */
static void make(struct made *m, bool compact)
{
    made_open(m, 8);
    hw_class(&m->w, OBJECT, "java/lang/Object", 0, "");
    hw_class(&m->w, KLASS, "java/lang/Class", OBJECT, "");
    hw_class(&m->w, STRING, "java/lang/String", OBJECT,
             compact ? "value:L hash:I coder:B" : "value:L hash:I");
    hw_class(&m->w, BYTES, "[B", OBJECT, "");
    hw_class(&m->w, CHARS, "[C", OBJECT, "");
    hw_class(&m->w, LONGS, "[J", OBJECT, "");
    hw_class(&m->w, OBJECTS, "[Ljava/lang/Object;", OBJECT, "");
    hw_class(&m->w, NODE, "shop/Node", OBJECT, "a:L b:L");
    hw_class(&m->w, LINK, "shop/Link", OBJECT, "next:L");
    hw_class(&m->w, THREAD, "java/lang/Thread", OBJECT, "name:L");
    hw_class(&m->w, LIST, "java/util/ArrayList", OBJECT, "elementData:L size:I");
    hw_class(&m->w, OWN_LIST, "shop/List", LIST, "size:J");
    hw_class(&m->w, MAP, "java/util/HashMap", OBJECT, "table:L size:I");
    hw_class(&m->w, SET, "java/util/HashSet", OBJECT, "map:L");
    hw_class(&m->w, CONCURRENT, "java/util/concurrent/ConcurrentHashMap", OBJECT, "table:L");
    hw_class(&m->w, BUILDER, "java/lang/AbstractStringBuilder", OBJECT, "value:L coder:B count:I");
    hw_class(&m->w, STRING_BUILDER, "java/lang/StringBuilder", BUILDER, "");
}

static struct dump *finished(struct made *m)
{
    struct dump *d;
    struct err err = {""};
    const struct dump_options o = {.workers = 2};
    hw_root(&m->w, HPROF_ROOT_STICKY_CLASS, OBJECT, 0, 0); /* a dump without roots is not whole */
    hw_end(&m->w);
    cr_assert_eq(dump_open(&d, m->path, &o, &err), 0, "%s", err.msg);
    cr_assert(!d->partial, "%s", d->problems[0].text);
    return d;
}

static void done(struct made *m, struct dump *d)
{
    dump_close(d);
    fclose(m->f);
}

/* Elements: of n the first `used` refer to `to`. */
static uint64_t objects(struct made *m, uint64_t to, uint32_t n, uint32_t used)
{
    uint64_t ids[128], id = made_place(m, 16 + 4 * (uint64_t)n);
    for (uint32_t i = 0; i < n; i++)
        ids[i] = i < used ? to : 0;
    hw_objects(&m->w, id, OBJECTS, ids, n);
    return id;
}

static uint64_t latin1(struct made *m, const char *text)
{
    uint64_t value = made_bytes(m, text, (uint32_t)strlen(text));
    return made_instance(m, STRING, (uint64_t[]){value, 0, 0});
}

static uint64_t chars(struct made *m, const char *text)
{
    uint8_t units[256];
    uint32_t n = (uint32_t)strlen(text);
    for (uint32_t i = 0; i < n; i++) {
        units[2 * i] = 0;
        units[2 * i + 1] = (uint8_t)text[i];
    }
    uint64_t value = made_place(m, 16 + 2 * (uint64_t)n);
    hw_primitives(&m->w, value, 'C', units, n);
    return made_instance(m, STRING, (uint64_t[]){value, 0});
}

/* --- strings ---------------------------------------------------------------------------------- */

static struct strings_found strings_of(const struct dump *d, size_t most)
{
    struct strings_found s;
    struct err err = {""};
    cr_assert_eq(strings_find(&s, d, most, &err), 0, "%s", err.msg);
    return s;
}

static void holder_is(const struct dump *d, const struct holder *h, const char *name, uint64_t n)
{
    struct buf b = {0};
    holder_name(d, h, &b);
    cr_assert_str_eq(buf_str(&b), name);
    cr_assert_eq(h->count, n, "%s: %lu", name, (unsigned long)h->count);
    buf_fini(&b);
}

Test(heap_strings, counts_and_holders)
{
    struct made m;
    make(&m, true);
    uint64_t a = latin1(&m, "same"), b = latin1(&m, "same"), c = latin1(&m, "same");
    uint64_t shared = made_instance(&m, STRING, (uint64_t[]){made_bytes(&m, "twin", 4), 0, 0});
    latin1(&m, "other");
    made_instance(&m, NODE, (uint64_t[]){a, b});
    made_instance(&m, NODE, (uint64_t[]){a, shared});
    objects(&m, c, 10, 3);
    hw_class_full(&m.w, HOLDER, "shop/Holder", OBJECT, "", "text:L=65536", 0);
    struct dump *d = finished(&m);
    struct strings_found s = strings_of(d, 10);
    cr_assert_eq(s.strings, 5);
    cr_assert_eq(s.values, 3);
    cr_assert_eq(s.duplicated, 1);
    cr_assert_eq(s.n, 1);
    cr_assert_str_eq(s.v[0].text, "same");
    cr_assert_eq(s.v[0].strings, 3);
    cr_assert_eq(s.v[0].arrays, 3);
    cr_assert_eq(s.v[0].length, 4);
    cr_assert_eq(s.v[0].wasted, 2 * (s.string_size + 24));
    cr_assert_eq(s.wasted, s.v[0].wasted);
    cr_assert_eq(s.v[0].all, 3);
    holder_is(d, &s.v[0].holders[0], "java.lang.Object[] elements", 3);
    holder_is(d, &s.v[0].holders[1], "shop.Node.a", 2);
    holder_is(d, &s.v[0].holders[2], "shop.Node.b", 1);
    strings_fini(&s);
    done(&m, d);
}

Test(heap_strings, one_array_of_several_wastes_no_array)
{
    struct made m;
    make(&m, true);
    uint64_t value = made_bytes(&m, "shared", 6);
    for (int i = 0; i < 4; i++)
        made_instance(&m, STRING, (uint64_t[]){value, 0, 0});
    struct dump *d = finished(&m);
    struct strings_found s = strings_of(d, 10);
    cr_assert_eq(s.arrays, 1);
    cr_assert_eq(s.wasted, 3 * s.string_size);
    strings_fini(&s);
    done(&m, d);
}

Test(heap_strings, the_same_bytes_in_another_form_are_another_value)
{
    static const uint8_t wide[] = {0x2d, 0x4e, 0x87, 0x65}; /* little-endian, as in memory */
    struct made m;
    make(&m, true);
    for (int i = 0; i < 2; i++)
        made_instance(&m, STRING, (uint64_t[]){made_bytes(&m, wide, 4), 0, 1});
    made_instance(&m, STRING, (uint64_t[]){made_bytes(&m, wide, 4), 0, 0});
    struct dump *d = finished(&m);
    struct strings_found s = strings_of(d, 10);
    cr_assert_eq(s.values, 2);
    cr_assert_eq(s.n, 1);
    cr_assert_eq(s.v[0].strings, 2);
    cr_assert_eq(s.v[0].length, 2);
    cr_assert_str_eq(s.v[0].text, "\xe4\xb8\xad\xe6\x96\x87");
    strings_fini(&s);
    done(&m, d);
}

Test(heap_strings, characters_of_jdk_8)
{
    struct made m;
    make(&m, false);
    for (int i = 0; i < 3; i++)
        chars(&m, "of chars");
    chars(&m, "of char ");
    struct dump *d = finished(&m);
    struct strings_found s = strings_of(d, 10);
    cr_assert_eq(s.values, 2);
    cr_assert_str_eq(s.v[0].text, "of chars");
    cr_assert_eq(s.v[0].length, 8);
    cr_assert_eq(s.v[0].wasted, 2 * (s.string_size + 32));
    strings_fini(&s);
    done(&m, d);
}

/* Many values by chance, against a count of them. */
Test(heap_strings, many_by_chance)
{
    enum { N = 3000, VALUES = 400 };
    static uint32_t counts[VALUES];
    struct made m;
    uint32_t seed = 7, duplicated = 0, most = 0;
    uint64_t wasted = 0, values = 0;
    make(&m, true);
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < N; i++) {
        char text[32];
        seed = seed * 1664525 + 1013904223;
        uint32_t v = (seed >> 16) % VALUES * ((seed >> 9) % 3) / 2;
        snprintf(text, sizeof text, "value %u", v);
        latin1(&m, text);
        counts[v]++;
    }
    struct dump *d = finished(&m);
    struct strings_found s = strings_of(d, 5);
    for (int i = 0; i < VALUES; i++) {
        values += counts[i] > 0;
        duplicated += counts[i] > 1;
        wasted += counts[i] > 1 ? (counts[i] - 1) * (s.string_size + (i < 100 ? 24 : 32)) : 0;
        most = counts[i] > most ? counts[i] : most;
    }
    cr_assert_eq(s.strings, N);
    cr_assert_eq(s.values, values);
    cr_assert_eq(s.duplicated, duplicated);
    cr_assert_eq(s.n, 5);
    cr_assert_eq(s.v[0].strings, most);
    for (size_t i = 1; i < s.n; i++)
        cr_assert_leq(s.v[i].wasted, s.v[i - 1].wasted);
    cr_assert_eq(s.wasted, wasted);
    strings_fini(&s);
    done(&m, d);
}

Test(heap_strings, parts_of_arrays_are_refused)
{
    struct made m;
    struct strings_found s;
    struct err err = {""};
    make(&m, true);
    struct dump *d = finished(&m);
    done(&m, d);
    m.f = fdopen(memfd_create("dump", 0), "w+b");
    snprintf(m.path, sizeof m.path, "/proc/self/fd/%d", fileno(m.f));
    hw_begin(&m.w, m.f, 8);
    hw_class(&m.w, OBJECT, "java/lang/Object", 0, "");
    hw_class(&m.w, STRING, "java/lang/String", OBJECT, "value:L offset:I count:I hash:I");
    d = finished(&m);
    cr_assert_eq(strings_find(&s, d, 10, &err), -ENOTSUP);
    cr_assert(strstr(err.msg, "JDK 6"), "%s", err.msg);
    done(&m, d);
}

/* --- collections ------------------------------------------------------------------------------ */

static const struct collection_class *class_named(const struct collections_found *c,
                                                  const struct dump *d, const char *name)
{
    for (size_t i = 0; i < c->n_classes; i++)
        if (strcmp(d->classes[c->classes[i].class_number].name, name) == 0)
            return &c->classes[i];
    cr_assert_fail("no %s", name);
    return NULL;
}

static uint64_t list(struct made *m, uint64_t c, uint64_t element, uint32_t n, uint32_t used)
{
    uint64_t array = objects(m, element, n, used);
    /* The fields of the class itself come first. */
    return made_instance(
        m, c, c == OWN_LIST ? (uint64_t[]){999, array, used} : (uint64_t[]){array, used});
}

static uint32_t size_of(const struct dump *d, const char *name)
{
    return dump_class_by_name(d, name)->size;
}

Test(heap_collections, empty_and_sparse_ones)
{
    struct made m;
    struct collections_found c;
    struct err err = {""};
    make(&m, true);
    uint64_t x = latin1(&m, "x"), a = list(&m, LIST, x, 10, 0), b = list(&m, LIST, x, 64, 2);
    list(&m, OWN_LIST, x, 8, 6);
    list(&m, OWN_LIST, x, 8, 7);
    made_instance(&m, LIST, (uint64_t[]){0, 0});
    made_instance(&m, NODE, (uint64_t[]){a, b});
    struct dump *d = finished(&m);
    cr_assert_eq(collections_find(&c, d, &err), 0, "%s", err.msg);
    const struct collection_class *k = class_named(&c, d, "java.util.ArrayList");
    cr_assert_eq(k->count, 3);
    cr_assert_eq(k->by_fill[FILL_EMPTY], 2);
    cr_assert_eq(k->by_fill[FILL_QUARTER], 1);
    uint32_t slot = d->layout.reference, own = size_of(d, "java.util.ArrayList");
    cr_assert_eq(k->wasted, 2 * own + object_size_array(&d->layout, 10, slot) + 62 * slot);
    k = class_named(&c, d, "shop.List");
    cr_assert_eq(k->by_fill[FILL_THREE_QUARTERS], 1);
    cr_assert_eq(k->by_fill[FILL_FULL], 1);
    cr_assert_eq(c.empty, 2);
    cr_assert_eq(c.sparse, 1);
    cr_assert_eq(c.n_holders, 2);
    holder_is(d, &c.holders[0], "shop.Node.b", 1);
    cr_assert_eq(c.holders[0].marked, 0);
    holder_is(d, &c.holders[1], "shop.Node.a", 1);
    cr_assert_eq(c.holders[1].marked, 1);
    cr_assert_eq(c.holders[1].bytes, own + object_size_array(&d->layout, 10, slot));
    cr_assert_eq(c.array_count, 0, "the empty list's array is its own");
    collections_fini(&c);
    done(&m, d);
}

Test(heap_collections, sets_count_for_their_maps)
{
    struct made m;
    struct collections_found c;
    make(&m, true);
    uint64_t x = latin1(&m, "x"), table = objects(&m, x, 64, 1);
    uint64_t map = made_instance(&m, MAP, (uint64_t[]){table, 1});
    made_instance(&m, SET, (uint64_t[]){map});
    made_instance(&m, SET, (uint64_t[]){made_instance(&m, MAP, (uint64_t[]){0, 0})});
    made_instance(&m, MAP, (uint64_t[]){objects(&m, x, 16, 5), 5});
    struct dump *d = finished(&m);
    cr_assert_eq(collections_find(&c, d, NULL), 0);
    const struct collection_class *k = class_named(&c, d, "java.util.HashSet");
    cr_assert_eq(k->count, 2);
    cr_assert_eq(k->by_fill[FILL_EMPTY], 1);
    cr_assert_eq(k->by_fill[FILL_QUARTER], 1);
    cr_assert_eq(k->wasted, size_of(d, "java.util.HashSet") + size_of(d, "java.util.HashMap") +
                                63 * d->layout.reference / 8 * 8);
    k = class_named(&c, d, "java.util.HashMap");
    cr_assert_eq(k->count, 1);
    cr_assert_eq(k->by_fill[FILL_HALF], 1);
    cr_assert_eq(c.count, 3);
    collections_fini(&c);
    done(&m, d);
}

Test(heap_collections, those_without_a_size_and_those_of_characters)
{
    static const char text[100] = "abc";
    struct made m;
    struct collections_found c;
    make(&m, true);
    uint64_t x = latin1(&m, "x");
    made_instance(&m, CONCURRENT, (uint64_t[]){0});
    made_instance(&m, CONCURRENT, (uint64_t[]){objects(&m, x, 16, 12)});
    made_instance(&m, CONCURRENT, (uint64_t[]){objects(&m, x, 16, 0)});
    made_instance(&m, STRING_BUILDER, (uint64_t[]){made_bytes(&m, text, 100), 0, 20});
    made_instance(&m, STRING_BUILDER, (uint64_t[]){made_bytes(&m, text, 100), 1, 20});
    made_instance(&m, STRING_BUILDER, (uint64_t[]){made_bytes(&m, text, 100), 1, 77777});
    struct dump *d = finished(&m);
    cr_assert_eq(collections_find(&c, d, NULL), 0);
    const struct collection_class *k = class_named(&c, d, "java.util.concurrent.ConcurrentHashMap");
    cr_assert_eq(k->by_fill[FILL_EMPTY], 2);
    cr_assert_eq(k->by_fill[FILL_THREE_QUARTERS], 1);
    k = class_named(&c, d, "java.lang.StringBuilder");
    cr_assert_eq(k->by_fill[FILL_QUARTER], 1);
    cr_assert_eq(k->by_fill[FILL_HALF], 1);
    cr_assert_eq(k->by_fill[FILL_FULL], 1, "as full as its array, whatever it says");
    cr_assert_eq(k->wasted, 80 + 56);
    collections_fini(&c);
    done(&m, d);
}

Test(heap_collections, arrays_of_nothing)
{
    static const uint8_t zeros[80], last[80] = {[79] = 1};
    struct made m;
    struct collections_found c;
    make(&m, true);
    hw_primitives(&m.w, made_place(&m, 96), 'J', zeros, 10);
    hw_primitives(&m.w, made_place(&m, 96), 'J', last, 10);
    hw_primitives(&m.w, made_place(&m, 16), 'J', zeros, 0);
    objects(&m, 0, 20, 0);
    struct dump *d = finished(&m);
    cr_assert_eq(collections_find(&c, d, NULL), 0);
    cr_assert_eq(c.array_count, 2);
    cr_assert_eq(c.n_arrays, 2);
    uint64_t refs = object_size_array(&d->layout, 20, d->layout.reference);
    cr_assert_eq(c.array_bytes, 96 + refs);
    for (size_t i = 0; i < 2; i++) {
        const struct array_class *a = &c.arrays[i];
        bool longs = d->classes[a->class_number].element == HPROF_LONG;
        cr_assert_eq(a->count, 1);
        cr_assert_eq(a->no_length, longs);
        cr_assert_eq(a->bytes, longs ? 96 : refs);
    }
    collections_fini(&c);
    done(&m, d);
}

/* --- threads ---------------------------------------------------------------------------------- */

static struct retained retained_of(const struct dump *d)
{
    struct retained r;
    struct err err = {""};
    const struct retained_options o = {.classes = true};
    cr_assert_eq(retained_find(&r, d, &o, &err), 0, "%s", err.msg);
    cr_assert_eq(r.bytes_reached + r.bytes_unreached, d->objects_bytes);
    return r;
}

Test(heap_threads, frames_hold_their_locals)
{
    struct made m;
    struct threads_seen t;
    struct object_reader reader;
    make(&m, true);
    uint64_t frames[] = {made_frame(&m, "inner", 8, 11), made_frame(&m, "outer", 8, 22), 0x77777};
    made_trace(&m, 5, frames, 3);
    uint64_t big = objects(&m, 0, 100, 0), node = made_instance(&m, NODE, (uint64_t[]){big, 0});
    uint64_t text = latin1(&m, "held"),
             thread = made_instance(&m, THREAD, (uint64_t[]){latin1(&m, "it")});
    hw_root(&m.w, HPROF_ROOT_THREAD_OBJ, thread, 1, 5);
    hw_root(&m.w, HPROF_ROOT_JAVA_FRAME, text, 1, 0);
    hw_root(&m.w, HPROF_ROOT_JAVA_FRAME, text, 1, 0);
    hw_root(&m.w, HPROF_ROOT_JNI_LOCAL, text, 1, 1);
    hw_root(&m.w, HPROF_ROOT_JAVA_FRAME, node, 1, 1);
    hw_root(&m.w, HPROF_ROOT_NATIVE_STACK, node, 1, 0);
    hw_root(&m.w, HPROF_ROOT_JAVA_FRAME, text, 1, 99);
    hw_root(&m.w, HPROF_ROOT_JAVA_FRAME, text, 4, 0);
    struct dump *d = finished(&m);
    struct retained r = retained_of(d);
    cr_assert_eq(object_reader_open(&reader, &r.objects, NULL), 0);
    cr_assert_eq(threads_find(&t, d, &r, &reader, NULL), 0);
    cr_assert_eq(t.n, 1);
    const struct thread_seen *s = &t.v[0];
    cr_assert_str_eq(s->name, "it");
    cr_assert_eq(s->trace->n_frames, 3);
    cr_assert_eq(s->trace->frames[2], DUMP_NONE);
    cr_assert_str_eq(d->frames[s->trace->frames[1]].method, "outer");
    cr_assert_eq(s->n_locals, 5);
    uint32_t depths[] = {0, 1, 1, THREADS_NO_FRAME, THREADS_NO_FRAME};
    uint64_t ids[] = {text, node, text, node, text};
    for (size_t i = 0; i < 5; i++) {
        cr_assert_eq(s->locals[i].depth, depths[i], "%zu", i);
        cr_assert_eq(ids_at(&d->ids, s->locals[i].object), ids[i], "%zu", i);
    }
    cr_assert_gt(s->locals[1].retained, 400);
    cr_assert_gt(s->retained, s->locals[1].retained);
    threads_fini(&t);
    object_reader_close(&reader);
    retained_fini(&r);
    done(&m, d);
}

/* --- two dumps -------------------------------------------------------------------------------- */

static struct dump *with_nodes(struct made *m, int n, const char *hidden, int texts)
{
    make(m, true);
    hw_class(&m->w, HOLDER, hidden, OBJECT, "");
    for (int i = 0; i < n; i++)
        made_instance(m, NODE, (uint64_t[]){0, 0});
    for (int i = 0; i < texts; i++)
        latin1(m, "text");
    made_instance(m, HOLDER, NULL);
    return finished(m);
}

Test(heap_diff, growth_first)
{
    struct made a, b;
    struct diff x;
    struct dump *then = with_nodes(&a, 5, "Main$$Lambda+0x00007f0011223344", 3);
    struct dump *now = with_nodes(&b, 9, "Main$$Lambda+0x00007f0099887766", 1);
    diff_init(&x);
    cr_assert_eq(diff_add(&x, then, NULL, false, NULL), 0);
    cr_assert_eq(diff_add(&x, now, NULL, true, NULL), 0);
    diff_order(&x);
    cr_assert_str_eq(x.v[0].name, "shop.Node");
    cr_assert_eq(x.v[0].then.count, 5);
    cr_assert_eq(x.v[0].now.count, 9);
    cr_assert_eq(diff_bytes(&x.v[0]), 4 * (int64_t)size_of(now, "shop.Node"));
    cr_assert_eq(x.grown, 1);
    cr_assert_eq(x.shrunk, 2);
    for (size_t i = 0; i < x.n; i++)
        if (strstr(x.v[i].name, "Lambda")) {
            cr_assert_str_eq(x.v[i].name, "Main$$Lambda");
            cr_assert_eq(x.v[i].then.count, 1);
            cr_assert_eq(x.v[i].now.count, 1);
        }
    cr_assert_eq(x.now.bytes, now->objects_bytes);
    diff_fini(&x);
    done(&a, then);
    done(&b, now);
}

/* --- suspects --------------------------------------------------------------------------------- */

static struct suspects suspects_of(const struct retained *r)
{
    struct suspects s;
    struct err err = {""};
    const struct suspects_options o = {.paths = true};
    cr_assert_eq(suspects_find(&s, r, &o, &err), 0, "%s", err.msg);
    return s;
}

/* A list of n Strings of 100 bytes. */
static uint64_t list_of(struct made *m, uint32_t n)
{
    static const char text[100] = "text";
    uint64_t ids[128];
    for (uint32_t i = 0; i < n; i++)
        ids[i] = made_instance(m, STRING, (uint64_t[]){made_bytes(m, text, 100), 0, 0});
    uint64_t array = made_place(m, 16 + 4 * (uint64_t)n);
    hw_objects(&m->w, array, OBJECTS, ids, n);
    return made_instance(m, LIST, (uint64_t[]){array, n});
}

Test(heap_suspects, where_it_falls_apart)
{
    struct made m;
    make(&m, true);
    uint64_t node = made_instance(&m, NODE, (uint64_t[]){list_of(&m, 100), 0});
    hw_root(&m.w, HPROF_ROOT_JNI_GLOBAL, made_instance(&m, NODE, (uint64_t[]){node, 0}), 0, 0);
    struct dump *d = finished(&m);
    struct retained r = retained_of(d);
    struct suspects s = suspects_of(&r);
    cr_assert_eq(s.n, 1);
    const struct suspect *x = &s.v[0];
    cr_assert_str_eq(d->classes[x->class_number].name, "java.lang.Object[]");
    cr_assert_str_eq(d->classes[objects_class(&r.objects, x->top)].name, "shop.Node");
    cr_assert_eq(x->chain, 0);
    cr_assert_eq(x->n_below, 1);
    cr_assert_eq(x->below[0].count, 100);
    cr_assert_eq(x->below[0].class_number, d->string_class);
    cr_assert_eq(x->further[0].count, 100);
    cr_assert_eq(x->paths.n, 1);
    cr_assert_eq(x->paths.v[0].n, 4);
    cr_assert_eq(x->paths.v[0].v[3], x->object);
    suspects_fini(&s);
    retained_fini(&r);
    done(&m, d);
}

Test(heap_suspects, two_below_one)
{
    struct made m;
    make(&m, true);
    uint64_t a = list_of(&m, 60), b = list_of(&m, 50);
    hw_root(&m.w, HPROF_ROOT_JNI_GLOBAL, made_instance(&m, NODE, (uint64_t[]){a, b}), 0, 0);
    struct dump *d = finished(&m);
    struct retained r = retained_of(d);
    struct suspects s = suspects_of(&r);
    cr_assert_eq(s.n, 2);
    cr_assert_eq(s.v[0].below[0].count, 60);
    cr_assert_eq(s.v[1].below[0].count, 50);
    cr_assert_eq(s.v[0].top, s.v[1].top);
    suspects_fini(&s);
    retained_fini(&r);
    done(&m, d);
}

Test(heap_suspects, a_chain_ends_the_way)
{
    struct made m;
    make(&m, true);
    uint64_t last = 0;
    for (int i = 0; i < 2000; i++)
        last = made_instance(&m, LINK, (uint64_t[]){last});
    hw_root(&m.w, HPROF_ROOT_JNI_GLOBAL, made_instance(&m, NODE, (uint64_t[]){last, 0}), 0, 0);
    struct dump *d = finished(&m);
    struct retained r = retained_of(d);
    struct suspects s = suspects_of(&r);
    cr_assert_eq(s.n, 1);
    cr_assert_str_eq(d->classes[s.v[0].class_number].name, "shop.Node");
    cr_assert_gt(s.v[0].chain, 1000);
    cr_assert_str_eq(d->classes[s.v[0].below[0].class_number].name, "shop.Link");
    suspects_fini(&s);
    retained_fini(&r);
    done(&m, d);
}

Test(heap_suspects, many_of_one_class)
{
    struct made m;
    make(&m, true);
    for (int i = 0; i < 300; i++)
        hw_root(&m.w, HPROF_ROOT_JNI_GLOBAL, latin1(&m, "kept by native code alone"), 0, 0);
    struct dump *d = finished(&m);
    struct retained r = retained_of(d);
    struct suspects s = suspects_of(&r);
    cr_assert_eq(s.n, 1);
    cr_assert_eq(s.v[0].object, DUMP_NONE);
    cr_assert_eq(s.v[0].class_number, d->string_class);
    cr_assert_eq(s.v[0].count, 300);
    cr_assert_eq(s.v[0].paths.v[0].n, 1);
    suspects_fini(&s);
    retained_fini(&r);
    done(&m, d);
}

Test(heap_suspects, none_when_the_heap_is_spread)
{
    struct made m;
    make(&m, true);
    for (uint64_t c = NODE; c <= MAP; c += c + 0x80 == NODES ? 0x100 : 0x80) /* no NODES here */
        hw_root(&m.w, HPROF_ROOT_JNI_GLOBAL, made_instance(&m, c, (uint64_t[4]){0}), 0, 0);
    struct dump *d = finished(&m);
    struct retained r = retained_of(d);
    struct suspects s = suspects_of(&r);
    cr_assert_eq(s.n, 0);
    suspects_fini(&s);
    retained_fini(&r);
    done(&m, d);
}
