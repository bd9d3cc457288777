/* heap_view_test.c - the answers about a heap dump made by hand. */
#include "heap_made.h"
#include "view_ask.h"

#include <criterion/criterion.h>
#include <unistd.h>

enum { MIX = MADE_OWN, INTS = MADE_OWN + 0x80 };

static void make(struct made *m)
{
    made_begin(m, 8, "a:L b:L");
    hw_class(&m->w, INTS, "[I", OBJECT, "");
}

static void node(struct made *m, uint64_t id, uint64_t a, uint64_t b)
{
    hw_instance(&m->w, id, NODE, (uint64_t[]){a, b});
}

/* The static `all` of class Mix holds a Node[] of two nodes; the first has a String and an int[],
 * the second one is referred to by a WeakReference, too, which a global holds. */
static void make_shop(struct made *m)
{
    make(m);
    hw_class_full(&m->w, MIX, "shop/Mix", OBJECT, "z:Z c:C f:F d:D b:B s:S i:I j:J",
                  "all:L=4096 n:I=7", 0);
    hw_objects(&m->w, 0x1000, NODES, (uint64_t[]){0x1100, 0x1180, 0}, 3);
    node(m, 0x1100, 0x1200, 0x1300);
    node(m, 0x1180, 0, 0xdead0);
    hw_instance(&m->w, 0x1200, STRING, (uint64_t[]){0x1280, 0, 0});
    hw_primitives(&m->w, 0x1280, 'B', "h\xe9llo <\n>", 9);
    hw_primitives(&m->w, 0x1300, 'I', "\0\0\0\1\xff\xff\xff\xff\x7f\xff\xff\xff", 3);
    hw_instance(&m->w, 0x1400, WEAK, (uint64_t[]){0x1180, 0});
    hw_instance(&m->w, 0x1480, MIX,
                (uint64_t[]){1, 'x', 0x3dcccccd, 0x3fb999999999999a, 0xff, 0x8000, 0xffffffff,
                             0x8000000000000000});
    hw_instance(&m->w, 0x1500, NODE, (uint64_t[]){0x1500, 0});
    hw_root(&m->w, HPROF_ROOT_JNI_GLOBAL, 0x1400, 0, 0);
    hw_root(&m->w, HPROF_ROOT_JNI_GLOBAL, 0x1480, 0, 0);
    hw_end(&m->w);
}

static struct heap_view *opened(const struct made *m)
{
    struct heap_view *h;
    struct err err = {""};
    cr_assert_eq(heap_view_new(&h, m->path, NULL, &err), 0, "%s", err.msg);
    return h;
}

static struct made m;
static struct heap_view *h;

static void begin(void)
{
    make_shop(&m);
    h = opened(&m);
    heap_view_read(h);
}

static void end(void)
{
    heap_view_free(h);
    fclose(m.f);
}

TestSuite(heap_view, .init = begin, .fini = end);

/* --- what each stage has ---------------------------------------------------------------------- */

Test(heap_view_life, nothing_is_known_before_it_is_read)
{
    make_shop(&m);
    h = opened(&m);
    json_t *j = ask_heap(h, "overview", "");
    cr_assert_str_eq(text_at(j, "stage"), "reading");
    cr_assert_null(json_object_get(j, "objects"));
    json_decref(j);
    ask_heap_refused(h, "classes", "", -EAGAIN, "not known yet");
    ask_heap_refused(h, "object", "object=0", -EAGAIN, "not known yet");
    end();
}

Test(heap_view_life, a_file_that_is_no_dump)
{
    struct err err = {""};
    cr_assert_lt(heap_view_new(&h, "/proc/self/exe", NULL, &err), 0);
    cr_assert(strlen(err.msg) > 0);
    cr_assert_eq(heap_view_new(&h, "/nowhere/heap.hprof", NULL, &err), -ENOENT);
    cr_assert(strstr(err.msg, "/nowhere/heap.hprof"), "%s", err.msg);
}

Test(heap_view, the_overview)
{
    json_t *j = ask_heap(h, "overview", "");
    cr_assert_str_eq(text_at(j, "stage"), "ready");
    cr_assert(json_is_null(json_object_get(j, "phase")));
    cr_assert(json_is_null(json_object_get(j, "error")));
    cr_assert_eq(number_at(j, "objects"), 9 + 11);
    cr_assert_eq(number_at(j, "roots"), 2);
    cr_assert_str_eq(text_at(j, "root_kinds.0.kind"), "JNI global");
    cr_assert_eq(number_at(j, "unreached.objects"), 1); /* it refers to itself */
    cr_assert(json_is_false(json_object_get(j, "partial")));
    json_decref(j);
}

Test(heap_view_life, a_dump_that_is_cut_short)
{
    make_shop(&m);
    cr_assert_eq(ftruncate(fileno(m.f), ftell(m.f) - 80), 0);
    h = opened(&m);
    heap_view_read(h);
    json_t *j = ask_heap(h, "overview", "");
    cr_assert_str_eq(text_at(j, "stage"), "ready");
    cr_assert(json_is_true(json_object_get(j, "partial")));
    cr_assert(strstr(text_at(j, "problems.0"), "offset"));
    json_decref(j);
    end();
}

/* --- lists ------------------------------------------------------------------------------------ */

static int64_t class_of(const char *name)
{
    char question[100];
    snprintf(question, sizeof question, "match=%s", name);
    json_t *j = ask_heap(h, "classes", question);
    int64_t found = -1;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(j, "classes"), i,
                       row) if (strcmp(text_at(row, "name"), name) == 0) found =
        number_at(row, "class");
    json_decref(j);
    return found;
}

Test(heap_view, classes_and_their_biggest_instances)
{
    char question[64];
    json_t *j = ask_heap(h, "classes", "match=NODE");
    cr_assert_eq(number_at(j, "n"), 2);
    json_decref(j);
    snprintf(question, sizeof question, "class=%d", (int)class_of("Node"));
    j = ask_heap(h, "instances", question);
    cr_assert_eq(number_at(j, "objects"), 3);
    cr_assert_eq(number_at(j, "listed"), 3);
    cr_assert_str_eq(text_at(j, "instances.0.id"), "0x1100");
    cr_assert_str_eq(text_at(j, "instances.1.id"), "0x1180");
    cr_assert_str_eq(text_at(j, "instances.2.id"), "0x1500");
    cr_assert(json_is_null(at_path(j, "instances.2.retained")));
    json_decref(j);
    snprintf(question, sizeof question, "class=%d&offset=1&top=1", (int)class_of("Node"));
    j = ask_heap(h, "instances", question);
    cr_assert_eq(json_array_size(json_object_get(j, "instances")), 1);
    cr_assert_str_eq(text_at(j, "instances.0.id"), "0x1180");
    json_decref(j);
}

/* --- one object ------------------------------------------------------------------------------- */

static const char *value(const json_t *j, const char *field)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(j, "fields"), i,
                       row) if (strcmp(text_at(row, "name"), field) == 0) return text_at(row,
                                                                                         "text");
    return "(no such field)";
}

Test(heap_view, values_of_every_type)
{
    json_t *j = ask_heap(h, "object", "id=0x1480");
    cr_assert_str_eq(text_at(j, "kind"), "instance");
    cr_assert_eq(number_at(j, "n_fields"), 8);
    cr_assert_str_eq(value(j, "z"), "true");
    cr_assert_str_eq(value(j, "c"), "'x' (120)");
    cr_assert_str_eq(value(j, "f"), "0.1");
    cr_assert_str_eq(value(j, "d"), "0.1");
    cr_assert_str_eq(value(j, "b"), "-1");
    cr_assert_str_eq(value(j, "s"), "-32768");
    cr_assert_str_eq(value(j, "i"), "-1");
    cr_assert_str_eq(value(j, "j"), "-9223372036854775808");
    cr_assert_str_eq(text_at(j, "roots.0.kind"), "JNI global");
    json_decref(j);
}

Test(heap_view, references_strings_statics)
{
    json_t *j = ask_heap(h, "object", "id=1100");
    cr_assert_str_eq(text_at(j, "fields.0.to.id"), "0x1200");
    cr_assert_str_eq(text_at(j, "dominator.id"), "0x1000");
    cr_assert_eq(number_at(j, "children"), 2);
    json_decref(j);
    j = ask_heap(h, "object", "id=0x1180");
    cr_assert_str_eq(value(j, "a"), "null");
    cr_assert_str_eq(value(j, "b"), "0xdead0 (not in the dump)");
    json_decref(j);
    j = ask_heap(h, "object", "id=0x1200");
    cr_assert_str_eq(text_at(j, "string.text"), "h\xc3\xa9llo <\n>");
    cr_assert_eq(number_at(j, "string.length"), 9);
    json_decref(j);
    j = ask_heap(h, "object", "id=0x580");
    cr_assert_str_eq(text_at(j, "kind"), "class");
    const json_t *c = json_object_get(j, "is_class");
    cr_assert_str_eq(text_at(c, "name"), "shop.Mix");
    cr_assert_str_eq(text_at(c, "statics.0.to.id"), "0x1000");
    cr_assert_str_eq(text_at(c, "statics.1.text"), "7");
    cr_assert(json_is_null(json_object_get(c, "loader")));
    cr_assert_str_eq(text_at(j, "roots.0.kind"), "class of the boot loader");
    json_decref(j);
}

Test(heap_view, elements)
{
    json_t *j = ask_heap(h, "elements", "id=0x1300&offset=1&top=5");
    cr_assert_eq(number_at(j, "n"), 3);
    cr_assert_str_eq(text_at(j, "type"), "int");
    cr_assert_str_eq(text_at(j, "elements.0.text"), "-1");
    cr_assert_str_eq(text_at(j, "elements.1.text"), "2147483647");
    cr_assert_eq(json_array_size(json_object_get(j, "elements")), 2);
    json_decref(j);
    j = ask_heap(h, "elements", "id=0x1000&top=1000");
    cr_assert_str_eq(text_at(j, "elements.1.to.id"), "0x1180");
    cr_assert_str_eq(text_at(j, "elements.2.text"), "null");
    json_decref(j);
    j = ask_heap(h, "elements", "id=0x1000&offset=4294967295");
    cr_assert_eq(json_array_size(json_object_get(j, "elements")), 0);
    json_decref(j);
    ask_heap_refused(h, "elements", "id=0x1100", -EINVAL, "not an array");
}

/* --- who refers to it, and why it is there ---------------------------------------------------- */

Test(heap_view, referrers_and_paths)
{
    json_t *j = ask_heap(h, "referrers", "id=0x1180");
    cr_assert_eq(number_at(j, "n"), 2);
    cr_assert_str_eq(text_at(j, "referrers.0.id"), "0x1000");
    cr_assert_str_eq(text_at(j, "referrers.0.by"), "[1]");
    cr_assert(json_is_false(at_path(j, "referrers.0.weak")));
    cr_assert_str_eq(text_at(j, "referrers.1.id"), "0x1400");
    cr_assert_str_eq(text_at(j, "referrers.1.by"), ".referent");
    cr_assert(json_is_true(at_path(j, "referrers.1.weak")));
    json_decref(j);
    j = ask_heap(h, "path", "id=0x1180");
    cr_assert_eq(number_at(j, "n"), 3);
    cr_assert_str_eq(text_at(j, "path.0.id"), "0x580");
    cr_assert_str_eq(text_at(j, "path.1.by"), "static all");
    cr_assert_str_eq(text_at(j, "path.2.id"), "0x1180");
    cr_assert_str_eq(text_at(j, "path.2.by"), "[1]");
    json_decref(j);
    j = ask_heap(h, "path", "id=0x1500");
    cr_assert_eq(number_at(j, "n"), 0);
    json_decref(j);
}

Test(heap_view, the_tree)
{
    json_t *all = ask_heap(h, "tree", ""), *j = ask_heap(h, "tree", "id=0x1100");
    cr_assert(json_is_null(json_object_get(all, "object")));
    cr_assert_str_eq(text_at(all, "children.0.id"), "0x580");
    cr_assert_eq(number_at(j, "n"), 2);
    cr_assert_eq(number_at(j, "rest_bytes"), 0);
    json_decref(j);
    j = ask_heap(h, "tree", "top=1");
    cr_assert_eq(json_array_size(json_object_get(j, "children")), 1);
    cr_assert_eq(number_at(j, "rest_bytes") + number_at(j, "children.0.retained"),
                 number_at(j, "retained"));
    json_decref(j);
    json_decref(all);
}

Test(heap_view, the_icicle)
{
    json_t *j = ask_heap(h, "icicle", "id=0x1100");
    const json_t *nodes = json_object_get(j, "nodes");
    cr_assert_eq(json_array_size(nodes), 4); /* itself, String, int[], byte[] */
    cr_assert_eq(number_at(j, "nodes.0.0"), -1);
    cr_assert_str_eq(text_at(j, "nodes.0.4"), "Node");
    cr_assert_str_eq(text_at(j, "up.0.name"), "Node[]");
    cr_assert_str_eq(text_at(j, "up.1.name"), "class shop.Mix");
    json_decref(j);
    j = ask_heap(h, "icicle", "parts=1"); /* nothing is as large as all of it */
    nodes = json_object_get(j, "nodes");
    cr_assert_leq(json_array_size(nodes), 2);
    json_decref(j);
    j = ask_heap(h, "icicle", "id=0x1500"); /* not reached: an empty one */
    cr_assert_eq(json_array_size(json_object_get(j, "nodes")), 1);
    json_decref(j);
}

/* --- questions that are wrong ----------------------------------------------------------------- */

Test(heap_view, what_is_refused)
{
    ask_heap_refused(h, "nothing", "", -ENOENT, "icicle");
    ask_heap_refused(h, "object", "", -EINVAL, "say which object");
    ask_heap_refused(h, "object", "object=20", -ENOENT, "less than 20");
    ask_heap_refused(h, "object", "object=4294967295", -ENOENT, "less than");
    ask_heap_refused(h, "object", "object=4294967296", -EINVAL, "number of an object");
    ask_heap_refused(h, "object", "object=99999999999999999999999", -EINVAL, "number of an object");
    ask_heap_refused(h, "object", "object=-1", -EINVAL, "number of an object");
    ask_heap_refused(h, "object", "object=", -EINVAL, "number of an object");
    ask_heap_refused(h, "object", "object=0x1", -EINVAL, "number of an object");
    ask_heap_refused(h, "object", "id=0xdead0", -ENOENT, "0xdead0");
    ask_heap_refused(h, "object", "id=0x", -EINVAL, "0x7ff2a310");
    ask_heap_refused(h, "object", "id=0x10000000000000000", -EINVAL, "id of an object");
    ask_heap_refused(h, "object", "object=1&id=0x1100", -EINVAL, "one of both");
    ask_heap_refused(h, "object", "object=1&object=1", -EINVAL, "twice");
    ask_heap_refused(h, "object", "object=1&top=3", -EINVAL, "is unknown");
    ask_heap_refused(h, "instances", "", -EINVAL, "class=3");
    ask_heap_refused(h, "instances", "class=100000", -ENOENT, "less than");
    ask_heap_refused(h, "instances", "class=1&top=100000000", -EINVAL, "rows");
    ask_heap_refused(h, "icicle", "parts=5000", -EINVAL, "4096");
    ask_heap_refused(h, "classes", "match=", -EINVAL, "256");
}
