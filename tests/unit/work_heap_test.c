/* What heap dumps cost that are made to cost much: `orca heap` with all of its sections, and the
 * viewer's answers. */
#include "work_heap.h"

#ifdef ORCA_COUNT_WORK

#include "base/hash.h"
#include "base/util.h"
#include "heap/hprof.h"

#include <criterion/criterion.h>
#include <string.h>
#include <zlib.h>

/* --- a dump, record by record; ids of 4 bytes ------------------------------------------------- */

enum {
    ID = 4,
    FIELD_REF = HPROF_OBJECT,
    NAMES = 0x1000000,
    CLASSES = 0x2000000,
    THINGS = 0x3000000
};

/* Strings that every dump here has. */
enum { S_OBJECT = NAMES, S_CLASS, S_THREAD, S_NODE, S_REFS, S_LIST, S_NAME, S_NEXT, S_FIRST };

/* Its classes, and where a test's own begin. */
enum {
    OBJECT = CLASSES,
    KLASS = CLASSES + 8,
    THREAD = CLASSES + 16,
    NODE = CLASSES + 24,
    REFS = CLASSES + 32,
    LIST = CLASSES + 40,
    OWN = CLASSES + 48
};

static struct buf heap;  /* sub-records, until the end */
static struct buf loads; /* and how classes are called */

static void put(struct buf *b, uint64_t v, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        buf_putc(b, (char)(v >> 8 * (bytes - 1 - i)));
}

static void head(struct buf *b, uint8_t tag, size_t len)
{
    put(b, tag, 1);
    put(b, 0, 4);
    put(b, len, 4);
}

static void string(struct buf *b, uint32_t id, const char *text, size_t n)
{
    head(b, HPROF_UTF8, ID + n);
    put(b, id, ID);
    buf_put(b, text, n);
}

static void name(struct buf *b, uint32_t id, const char *text)
{
    string(b, id, text, strlen(text));
}

static void load(struct buf *b, uint32_t class, uint32_t text)
{
    head(b, HPROF_LOAD_CLASS, 8 + 2 * ID);
    put(b, class, 4);
    put(b, class, ID);
    put(b, 0, 4);
    put(b, text, ID);
}

/* A class that is called `text` (0: it is named elsewhere), of n references as fields, all of one
 * name; and of that number of statics that are null. */
static void class_called(uint32_t text, uint32_t id, uint32_t super, uint32_t n, uint32_t field,
                         uint32_t statics)
{
    if (text)
        load(&loads, id, text);
    put(&heap, HPROF_CLASS, 1);
    put(&heap, id, ID);
    put(&heap, 0, 4);
    put(&heap, super, ID);
    for (int i = 0; i < 5; i++)
        put(&heap, 0, ID);
    put(&heap, n * ID, 4);
    put(&heap, 0, 2);
    put(&heap, statics, 2);
    for (uint32_t i = 0; i < statics; i++) {
        put(&heap, field, ID);
        put(&heap, FIELD_REF, 1);
        put(&heap, 0, ID);
    }
    put(&heap, n, 2);
    for (uint32_t i = 0; i < n; i++) {
        put(&heap, field, ID);
        put(&heap, FIELD_REF, 1);
    }
}

static void class_of(uint32_t id, uint32_t super, uint32_t n, uint32_t field, uint32_t statics)
{
    class_called(S_NODE, id, super, n, field, statics);
}

static void instance(uint32_t id, uint32_t class, const uint32_t *refs, uint32_t n)
{
    put(&heap, HPROF_INSTANCE, 1);
    put(&heap, id, ID);
    put(&heap, 0, 4);
    put(&heap, class, ID);
    put(&heap, n * ID, 4);
    for (uint32_t i = 0; i < n; i++)
        put(&heap, refs[i], ID);
}

static void array(uint32_t id, uint32_t n)
{
    put(&heap, HPROF_OBJECT_ARRAY, 1);
    put(&heap, id, ID);
    put(&heap, 0, 4);
    put(&heap, n, 4);
    put(&heap, REFS, ID);
}

static void root(uint8_t kind, uint32_t id, uint32_t thread, uint32_t depth)
{
    put(&heap, kind, 1);
    put(&heap, id, ID);
    put(&heap, thread, 4);
    put(&heap, depth, 4);
}

static void sticky(uint32_t id)
{
    put(&heap, HPROF_ROOT_STICKY_CLASS, 1);
    put(&heap, id, ID);
}

static void begin_without(struct buf *b, uint32_t left_out)
{
    buf_clear(&heap);
    buf_clear(&loads);
    buf_put(b, "JAVA PROFILE 1.0.2", 19);
    put(b, ID, 4);
    put(b, 0, 8);
    static const struct {
        uint32_t id, text;
        const char *name;
    } known[] = {{OBJECT, S_OBJECT, "java/lang/Object"},
                 {KLASS, S_CLASS, "java/lang/Class"},
                 {THREAD, S_THREAD, "java/lang/Thread"},
                 {NODE, S_NODE, "Node"},
                 {REFS, S_REFS, "[LNode;"},
                 {LIST, S_LIST, "java/util/ArrayList"}};
    name(b, S_NAME, "name");
    name(b, S_NEXT, "elementData");
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (known[i].id == left_out)
            continue;
        name(b, known[i].text, known[i].name);
        uint32_t fields = known[i].id == OBJECT || known[i].id == REFS ? 0 : 1;
        class_called(known[i].text, known[i].id, known[i].id == OBJECT ? 0 : OBJECT, fields,
                     known[i].id == THREAD ? S_NAME : S_NEXT, 0);
        sticky(known[i].id);
    }
}

static void begin(struct buf *b)
{
    begin_without(b, 0);
}

static void end(struct buf *b)
{
    enum { MOST = UINT32_MAX };
    cr_assert_lt(heap.len, MOST);
    buf_put(b, loads.p, loads.len);
    head(b, HPROF_HEAP_DUMP_SEGMENT, heap.len);
    buf_put(b, heap.p, heap.len);
    head(b, HPROF_HEAP_DUMP_END, 0);
    buf_fini(&heap);
    buf_fini(&loads);
}

static void pack(struct buf *b)
{
    z_stream s = {0};
    struct buf to = {0};
    cr_assert_eq(deflateInit2(&s, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
    uLong room = deflateBound(&s, b->len);
    s.next_in = b->p;
    s.avail_in = (uInt)b->len;
    s.next_out = buf_reserve(&to, room);
    s.avail_out = (uInt)room;
    cr_assert_eq(deflate(&s, Z_FINISH), Z_STREAM_END);
    to.len = s.total_out;
    deflateEnd(&s);
    buf_fini(b);
    *b = to;
}

/* --- shapes ----------------------------------------------------------------------------------- */

/* One long name, and many classes that are called so. */
static void shared_name(struct buf *b, uint32_t n)
{
    struct buf text = {0};
    begin(b);
    for (uint32_t i = 0; i < 10 * n; i++)
        buf_putc(&text, (char)('a' + i % 26));
    string(b, S_FIRST, (const char *)text.p, text.len);
    for (uint32_t i = 0; i < n; i++) {
        class_called(S_FIRST, OWN + 8 * i, OBJECT, 0, 0, 0);
        instance(THINGS + 8 * i, OWN + 8 * i, NULL, 0);
        sticky(THINGS + 8 * i);
    }
    buf_fini(&text);
    end(b);
}

/* Many classes below one that has many fields, and instances that have none of them. */
static void wide_super(struct buf *b, uint32_t n)
{
    begin(b);
    class_of(OWN, OBJECT, n, S_NEXT, 0);
    for (uint32_t i = 1; i <= n; i++) {
        class_of(OWN + 8 * i, OWN, 0, 0, 0);
        instance(THINGS + 8 * i, OWN + 8 * i, NULL, 0);
        sticky(THINGS + 8 * i);
    }
    end(b);
}

/* The same below a list, a thread: fields of these are looked for by name. */
static void wide_known(struct buf *b, uint32_t n)
{
    begin(b);
    class_of(OWN, LIST, n, S_FIRST, 0);
    class_of(OWN + 8, THREAD, n, S_FIRST, 0);
    name(b, S_FIRST, "f");
    for (uint32_t i = 2; i <= n; i++) {
        class_of(OWN + 8 * i, i % 2 ? OWN : OWN + 8, 0, 0, 0);
        instance(THINGS + 8 * i, OWN + 8 * i, NULL, 0);
        root(HPROF_ROOT_THREAD_OBJ, THINGS + 8 * i, i, 0);
    }
    end(b);
}

/* Each class below the one before it. */
static void long_chain(struct buf *b, uint32_t n)
{
    begin(b);
    for (uint32_t i = 0; i < n; i++) {
        class_of(OWN + 8 * i, i ? OWN + 8 * (i - 1) : OBJECT, 0, 0, 0);
        instance(THINGS + 8 * i, OWN + 8 * i, NULL, 0);
        sticky(THINGS + 8 * i);
    }
    end(b);
}

/* All of them in one circle. */
static void circle(struct buf *b, uint32_t n)
{
    begin(b);
    for (uint32_t i = 0; i < n; i++) {
        class_of(OWN + 8 * i, OWN + 8 * ((i + 1) % n), 1, S_NEXT, 0);
        instance(THINGS + 8 * i, OWN + 8 * i, NULL, 0);
        sticky(THINGS + 8 * i);
    }
    end(b);
}

/* Classes that are laid out by what another class has, which is not there. */
static void same_names(struct buf *b, uint32_t n)
{
    begin_without(b, THREAD);
    name(b, S_FIRST, "java/lang/InternalError");
    for (uint32_t i = 0; i < n; i++) {
        class_called(S_FIRST, OWN + 8 * i, OBJECT, 0, 0, 0);
    }
    end(b);
}

/* Lists that share one array, which is in the dump again and again. */
static void shared_array(struct buf *b, uint32_t n)
{
    const uint32_t to = THINGS;
    begin(b);
    for (uint32_t i = 1; i <= n; i++) {
        array(to, 0);
        instance(THINGS + 8 * i, LIST, &to, 1);
        sticky(THINGS + 8 * i);
    }
    end(b);
}

/* A thread with many locals, all of them roots otherwise, too; its record again and again. */
static void many_records(struct buf *b, uint32_t n)
{
    begin(b);
    for (uint32_t i = 1; i <= n; i++) {
        instance(THINGS, THREAD, NULL, 0);
        instance(THINGS + 8 * i, NODE, NULL, 0);
        sticky(THINGS + 8 * i);
        root(HPROF_ROOT_JAVA_FRAME, THINGS + 8 * i, 1, 0);
    }
    root(HPROF_ROOT_THREAD_OBJ, THINGS, 1, 0);
    end(b);
}

/* A class of many statics, and its id in many more records. */
static void many_classes_of_one_id(struct buf *b, uint32_t n)
{
    enum { AROUND = 5 }; /* the middle of all classes: whichever of them counts */
    begin(b);
    for (uint32_t i = 0; i < 2 * n; i++)
        class_called(i ? 0 : S_NODE, OWN, OBJECT, 0, S_NEXT,
                     i + AROUND > n && i < n + AROUND ? n : 0);
    sticky(OWN);
    end(b);
}

/* A long list, at whose end are many that the root refers to, too. */
static void far_from_their_dominator(struct buf *b, uint32_t n)
{
    begin(b);
    const uint32_t chain = THINGS + 16, leaves = chain + 8 * n;
    array(THINGS, n + 1);
    put(&heap, chain, ID);
    for (uint32_t i = 0; i < n; i++)
        put(&heap, leaves + 8 * i, ID);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t next = i + 1 < n ? chain + 8 * (i + 1) : THINGS + 8;
        instance(chain + 8 * i, NODE, &next, 1);
    }
    array(THINGS + 8, n);
    for (uint32_t i = 0; i < n; i++)
        put(&heap, leaves + 8 * i, ID);
    for (uint32_t i = 0; i < n; i++)
        instance(leaves + 8 * i, NODE, NULL, 0);
    sticky(THINGS);
    end(b);
}

static void linked_list(struct buf *b, uint32_t n)
{
    begin(b);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t next = i + 1 < n ? THINGS + 8 * (i + 1) : 0;
        instance(THINGS + 8 * i, NODE, &next, 1);
    }
    sticky(THINGS);
    end(b);
}

/* Nobody refers to what all classes and their instances are. */
static void unreached_classes(struct buf *b, uint32_t n)
{
    begin(b);
    for (uint32_t i = 0; i < n; i++) {
        class_of(OWN + 8 * i, i ? OWN + 8 * (i - 1) : OBJECT, 0, 0, 0);
        instance(THINGS + 8 * i, OWN + 8 * i, NULL, 0);
    }
    end(b);
}

/* Ids, each in a region of its own, whose hashes end alike. */
static void colliding_ids(struct buf *b, uint32_t n)
{
    enum { REGION = 21 };
    uint64_t mask = 1;
    while (mask < 4 * (uint64_t)n)
        mask *= 2;
    begin(b);
    b->len = 19;
    put(b, 8, 4);
    put(b, 0, 8);
    buf_clear(&heap);
    for (uint64_t key = 1, found = 0; found < n; key++) {
        if (hash_u64(key) & (mask - 1))
            continue;
        found++;
        put(&heap, HPROF_PRIMITIVE_ARRAY, 1);
        put(&heap, key << REGION, 8);
        put(&heap, 0, 8);
        put(&heap, HPROF_BYTE, 1);
    }
    end(b);
}

/* Many threads, and as many frames that all of them have. */
static void shared_stack(struct buf *b, uint32_t n)
{
    begin(b);
    head(b, HPROF_TRACE, 12 + (size_t)n * ID);
    put(b, 1, 4);
    put(b, 1, 4);
    put(b, n, 4);
    for (uint32_t i = 0; i < n; i++)
        put(b, THINGS, ID);
    for (uint32_t i = 0; i < n; i++) {
        instance(THINGS + 8 * i, THREAD, NULL, 0);
        root(HPROF_ROOT_THREAD_OBJ, THINGS + 8 * i, i + 1, 1);
    }
    end(b);
}

/* Locals of one thread, all over the dump. */
static void locals(struct buf *b, uint32_t n)
{
    begin(b);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = THINGS + 8 + 8 * (uint32_t)((uint64_t)i * 7919 % n);
        instance(id, NODE, NULL, 0);
        root(HPROF_ROOT_JAVA_FRAME, id, 1, i);
    }
    instance(THINGS, THREAD, NULL, 0);
    root(HPROF_ROOT_THREAD_OBJ, THINGS, 1, 0);
    end(b);
}

static void packed_locals(struct buf *b, uint32_t n)
{
    locals(b, n);
    pack(b);
}

static void packed_list(struct buf *b, uint32_t n)
{
    linked_list(b, n);
    pack(b);
}

/* Heap dumps of a few bytes each, as older JVMs wrote one. */
static void many_heaps(struct buf *b, uint32_t n)
{
    begin(b);
    end(b);
    b->len -= 9;
    for (uint32_t i = 0; i < n; i++) {
        head(b, HPROF_HEAP_DUMP, 1 + ID);
        put(b, HPROF_ROOT_STICKY_CLASS, 1);
        put(b, OBJECT, ID);
    }
    head(b, HPROF_HEAP_DUMP_END, 0);
}

static void many_packed_heaps(struct buf *b, uint32_t n)
{
    many_heaps(b, n);
    pack(b);
}

/* Segments of which each is damaged. */
static void damaged(struct buf *b, uint32_t n)
{
    begin(b);
    end(b);
    for (uint32_t i = 0; i < n; i++) {
        head(b, HPROF_HEAP_DUMP_SEGMENT, 2);
        put(b, 0xdddd, 2);
    }
}

/* Small things of each kind. */
static void tiny(struct buf *b, uint32_t n)
{
    begin(b);
    for (uint32_t i = 0; i < n; i++) {
        string(b, S_FIRST + i, "x", 1);
        load(b, OWN + 8 * i, S_FIRST + i);
        head(b, HPROF_FRAME, 4 * ID + 8);
        for (int k = 0; k < 6; k++)
            put(b, S_FIRST + i, 4);
        array(THINGS + 8 * i, 0);
        sticky(THINGS + 8 * i);
    }
    end(b);
}

Test(work, of_heap_dumps, .timeout = 600)
{
    static const struct work_shape shapes[] = {
        {"tiny records", tiny, 3000},
        {"a name that all classes share", shared_name, 400},
        {"a super class of many fields", wide_super, 500},
        {"fields by name", wide_known, 500},
        {"a chain of classes", long_chain, 1000},
        {"a circle of classes", circle, 1000},
        {"classes of known names", same_names, 2000},
        {"an array of many lists", shared_array, 1000},
        {"records of one id", many_records, 1000},
        {"classes of one id", many_classes_of_one_id, 2000},
        {"far from their dominator", far_from_their_dominator, 4000},
        {"a linked list", linked_list, 2000},
        {"classes that nobody reaches", unreached_classes, 500},
        {"ids that collide", colliding_ids, 500},
        {"threads of one stack", shared_stack, 1000},
        {"locals", locals, 2000},
        {"locals in a packed dump", packed_locals, 16000},
        {"a list in a packed dump", packed_list, 2000},
        {"many heaps", many_heaps, 5000},
        {"many heaps in a packed dump", many_packed_heaps, 5000},
        {"damaged segments", damaged, 5000},
    };
    work_check("heap", work_read_heap, shapes, ARRAY_LEN(shapes));
}

#endif
