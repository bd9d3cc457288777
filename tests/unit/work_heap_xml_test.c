/* What heap dumps in XML cost that are made to cost much. */
#include "work_heap.h"

#ifdef ORCA_COUNT_WORK

#include "base/util.h"

#include <criterion/criterion.h>
#include <string.h>

enum { CLASS = 100, OBJECT = 10000000, CLASS_OBJECT = 20000000 };

static void begin(struct buf *b)
{
    buf_puts(b, "<TRACE><heapDumpDef time='1.5'/>\n");
}

static void class_def(struct buf *b, uint32_t i, const char *name)
{
    buf_printf(b, "<classDef classId='%u' name='%s' objId='%u'/>", CLASS + i, name,
               CLASS_OBJECT + i);
    buf_printf(b, "<objDef objId='%u'/>\n", CLASS_OBJECT + i);
}

static void object(struct buf *b, uint32_t i, uint32_t class)
{
    buf_printf(b, "<objDef objId='%u' classIdRef='%u' size='8'/>\n", OBJECT + i, CLASS + class);
}

static void root(struct buf *b, uint32_t i)
{
    buf_printf(b, "<gcRoot objIdRef='%u'/>\n", OBJECT + i);
}

static void field(struct buf *b, uint32_t from, uint32_t to, uint32_t name)
{
    buf_printf(b, "<objReference srcIdRef='%u' targetIdRef='%u' type='FIELD' fieldName='f%u'/>\n",
               from, to, name);
}

static void super(struct buf *b, uint32_t class, uint32_t of)
{
    buf_printf(b, "<objReference srcIdRef='%u' targetIdRef='%u' type='SUPERCLASS'/>\n",
               CLASS_OBJECT + class, CLASS_OBJECT + of);
}

static void tiny(struct buf *b, uint32_t n)
{
    begin(b);
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(b, "<objDef objId='%u'/>", i + 1);
        buf_printf(b, "<gcRoot objIdRef='%u'/>", n - i);
        buf_printf(b, "<objReference srcIdRef='%u' targetIdRef='%u'/>", i + 1, n - i);
        buf_printf(b, "<classDef classId='%u' name='a'/>", i + 1);
        buf_printf(b, "<threadStart threadId='%u'/>\n", i + 1);
    }
}

/* One object has all fields, and the others have room for them. */
static void wide(struct buf *b, uint32_t n)
{
    enum { FIELDS = 600 };
    begin(b);
    class_def(b, 0, "A");
    for (uint32_t i = 0; i < n; i++) {
        object(b, i, 0);
        root(b, i);
        field(b, i < FIELDS ? OBJECT : OBJECT + i, OBJECT + i, i % FIELDS);
    }
}

static void classes(struct buf *b, uint32_t n, uint32_t around)
{
    begin(b);
    for (uint32_t i = 0; i < n; i++) {
        class_def(b, i, "A");
        object(b, i, i);
        root(b, i);
        field(b, OBJECT + i, OBJECT, i % 7);
        if (i + 1 < n || around)
            super(b, i, (i + 1) % n);
    }
}

static void chain(struct buf *b, uint32_t n)
{
    classes(b, n, 0);
}

static void circle(struct buf *b, uint32_t n)
{
    classes(b, n, 1);
}

/* One object again and again, which refers to many. */
static void again(struct buf *b, uint32_t n)
{
    begin(b);
    class_def(b, 0, "A");
    root(b, 0);
    for (uint32_t i = 0; i < n; i++) {
        object(b, 0, 0);
        field(b, OBJECT, OBJECT, i % 1000);
    }
}

/* Arrays of which only the last element refers to something. */
static void holes(struct buf *b, uint32_t n)
{
    begin(b);
    class_def(b, 0, "[LA;");
    for (uint32_t i = 0; i < n; i++) {
        object(b, i, 0);
        root(b, i);
        buf_printf(b,
                   "<objReference srcIdRef='%u' targetIdRef='%u' type='ARRAY_ELEMENT' "
                   "index='1000'/>\n",
                   OBJECT + i, OBJECT);
    }
}

/* As many statics as a class can have, and more. */
static void statics(struct buf *b, uint32_t n)
{
    begin(b);
    class_def(b, 0, "A");
    root(b, 0);
    object(b, 0, 0);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(b,
                   "<objReference srcIdRef='%u' targetIdRef='%u' type='STATIC_FIELD' "
                   "fieldName='s%u'/>\n",
                   CLASS_OBJECT, OBJECT, i);
}

static void threads(struct buf *b, uint32_t n)
{
    begin(b);
    class_def(b, 0, "java/lang/Thread");
    for (uint32_t i = 0; i < n; i++) {
        object(b, i, 0);
        buf_printf(b, "<threadStart threadId='%u' objIdRef='%u' threadName='t'/>", i, OBJECT + i);
        buf_printf(b, "<gcRoot objIdRef='%u' type='THREAD_OBJ' threadIdRef='%u'/>", OBJECT + i, i);
        buf_printf(b, "<gcRoot objIdRef='%u' type='JAVA_FRAME' threadIdRef='%u' frame='%u'/>\n",
                   OBJECT + n - 1 - i, i / 100, i);
    }
}

static void long_names(struct buf *b, uint32_t n)
{
    struct buf name = {0};
    for (uint32_t i = 0; i < 6000; i++)
        buf_puts(&name, "A.0x");
    begin(b);
    object(b, 0, 0);
    root(b, 0);
    for (uint32_t i = 0; i < n; i++)
        class_def(b, i, buf_str(&name));
    buf_fini(&name);
}

static uint64_t read_xml(const struct buf *file)
{
    struct buf all = {0};
    buf_put(&all, file->p, file->len);
    buf_puts(&all, "</TRACE>\n");
    uint64_t size = work_read_heap(&all);
    buf_fini(&all);
    return size;
}

Test(work, of_heap_dumps_in_xml, .timeout = 600)
{
    static const struct work_shape shapes[] = {
        {"tiny elements", tiny, 3000},       {"many fields", wide, 1200},
        {"a chain of classes", chain, 1500}, {"a circle of classes", circle, 1500},
        {"one object again", again, 1000},   {"arrays with holes", holes, 1000},
        {"statics", statics, 20000},         {"threads", threads, 2000},
        {"long names", long_names, 20},
    };
    work_check("heap_xml", read_xml, shapes, ARRAY_LEN(shapes));
}

/* One array, as long as no file of this length has one. */
Test(work, of_a_heap_that_no_file_has)
{
    struct buf b = {0};
    begin(&b);
    class_def(&b, 0, "[LA;");
    object(&b, 0, 0);
    buf_printf(
        &b, "<objReference srcIdRef='%u' targetIdRef='%u' type='ARRAY_ELEMENT' index='50000000'/>",
        OBJECT, OBJECT);
    counted_begin();
    read_xml(&b);
    struct counted c = counted_end();
    cr_expect_lt(c.work, 3000000, "%llu blocks", (unsigned long long)c.work);
    cr_expect_lt(c.bytes, 10000000, "%llu bytes", (unsigned long long)c.bytes);
    buf_fini(&b);
}

#endif
