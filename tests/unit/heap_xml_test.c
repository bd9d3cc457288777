/* heap_xml_test.c - heap dumps in TPTP's XML: a dump made by hand is written as such, too, and both
 * must say the same; damage is reported with its line. */
#include "heap/missing.h"
#include "heap/retained.h"
#include "heap/threads.h"
#include "heap_made.h"
#include "view_ask.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SUB = MADE_OWN, HOLDER = MADE_OWN + 0x80, OBJECTS = 60 };

/* --- a dump, and the same as XML -------------------------------------------------------------- */

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (*seed >> 33) % below;
}

static uint64_t id_of(uint64_t i)
{
    return 0x1000 + i * 64;
}

static uint64_t some(uint64_t *seed)
{
    return draw(seed, 3) ? id_of(draw(seed, OBJECTS)) : 0;
}

/* Nodes, nodes of a sub class with a field more, weak references, arrays, a class with statics that
 * a loader has, threads with locals. */
static void make_random(struct made *m, uint64_t seed)
{
    made_begin(m, 8, "a:L b:L");
    hw_class(&m->w, SUB, "SubNode", NODE, "more:L");
    char statics[100];
    snprintf(statics, sizeof statics, "one:L=%" PRIu64 " two:L=%" PRIu64, id_of(draw(&seed, 9)),
             id_of(10 + draw(&seed, 9)));
    hw_class_full(&m->w, HOLDER, "shop/Holder", OBJECT, "", statics, id_of(3));
    for (uint64_t i = 0; i < OBJECTS; i++) {
        const uint64_t v[6] = {some(&seed), some(&seed), some(&seed),
                               some(&seed), some(&seed), some(&seed)};
        static const uint64_t kinds[] = {NODE, NODE, SUB, WEAK, THREAD};
        uint64_t kind = draw(&seed, 7);
        if (kind == 5)
            hw_objects(&m->w, id_of(i), NODES, v, (uint32_t)draw(&seed, 7));
        else if (kind == 6)
            hw_primitives(&m->w, id_of(i), 'B', "twelve bytes", 12);
        else
            hw_instance(&m->w, id_of(i), kinds[kind], v);
        if (draw(&seed, 8) == 0)
            hw_root(&m->w, HPROF_ROOT_JNI_GLOBAL, id_of(i), 0, 0);
    }
    hw_instance(&m->w, 0x8000, THREAD, (uint64_t[]){0});
    hw_root(&m->w, HPROF_ROOT_THREAD_OBJ, 0x8000, 7, 0);
    hw_root(&m->w, HPROF_ROOT_JAVA_FRAME, id_of(5), 7, 2);
    hw_root(&m->w, HPROF_ROOT_JNI_LOCAL, id_of(6), 7, 0);
    hw_root(&m->w, HPROF_ROOT_STICKY_CLASS, NODE, 0, 0);
    hw_end(&m->w);
}

static struct dump *opened(const char *path)
{
    struct dump *d;
    struct err err = {""};
    const struct dump_options o = {.workers = 2};
    cr_assert_eq(dump_open(&d, path, &o, &err), 0, "%s", err.msg);
    return d;
}

static void find(struct retained *r, const struct dump *d, uint64_t path_to)
{
    struct err err = {""};
    const struct retained_options o = {.classes = true, .path_to = path_to};
    cr_assert_eq(retained_find(r, d, &o, &err), 0, "%s", err.msg);
}

struct writer {
    const struct dump *d;
    struct object_reader reader;
    FILE *f;
};

static void reference(struct writer *w, uint64_t from, uint64_t to, const char *kind,
                      const char *name, uint64_t index)
{
    if (to == 0 || ids_find(&w->d->ids, to) == IDS_NONE)
        return;
    fprintf(w->f,
            "<objReference heapDumpIdRef=\"1\" srcIdRef=\"%" PRIu64 "\" targetIdRef=\"%" PRIu64
            "\" type=\"%s\"",
            from, to, kind);
    if (name)
        fprintf(w->f, " fieldName=\"%s\"", name);
    else
        fprintf(w->f, " index=\"%" PRIu64 "\"", index);
    fprintf(w->f, "/>\n");
}

static void class_references(struct writer *w, uint64_t id)
{
    const struct dump_class *c = dump_class_by_id(w->d, id);
    if (c->super != DUMP_NONE)
        reference(w, id, w->d->classes[c->super].id, "SUPERCLASS", NULL, 0);
    reference(w, id, c->loader, "CLASS_LOADER", NULL, 0);
    for (uint32_t i = 0; i < c->n_statics; i++)
        reference(w, id, c->statics[i].value, "STATIC_FIELD", c->statics[i].name, 0);
}

static void write_references(struct writer *w, uint32_t object)
{
    struct object x;
    const uint8_t *p;
    cr_assert_eq(object_read(&w->reader, object, &x, NULL), 0);
    struct dump_field_walk f = {.c = x.c};
    while (x.item.tag == HPROF_INSTANCE && dump_field_next(w->d, &f))
        if (f.field->type == HPROF_OBJECT)
            reference(w, x.item.id, hprof_u8(x.fields + f.at), "FIELD", f.field->name, 0);
    int64_t n =
        x.item.tag == HPROF_OBJECT_ARRAY ? object_elements(&w->reader, &x, 0, x.item.n, &p) : 0;
    for (int64_t i = 0; i < n; i++)
        reference(w, x.item.id, hprof_u8(p + 8 * i), "ARRAY_ELEMENT", NULL, (uint64_t)i);
    if (x.item.tag == HPROF_CLASS)
        class_references(w, x.item.id);
}

static void write_class(struct writer *w, const struct dump_class *c, const char *name)
{
    char with_slashes[100];
    snprintf(with_slashes, sizeof with_slashes, "%s", name);
    for (char *p = with_slashes; *p; p++)
        *p = *p == '.' ? '/' : *p;
    fprintf(w->f, "<classDef name=\"%s\" classId=\"%" PRIu64 "\" objId=\"%" PRIu64 "\"/>\n",
            with_slashes, c->id, c->id);
}

static void write_classes(struct writer *w)
{
    for (uint32_t i = 0; i < w->d->n_classes; i++) {
        const struct dump_class *c = &w->d->classes[i];
        if (c->id)
            write_class(w, c,
                        strcmp(c->name, "byte[]") == 0   ? "[B"
                        : strcmp(c->name, "Node[]") == 0 ? "[LNode;"
                                                         : c->name);
    }
}

static void write_object(struct writer *w, uint32_t i)
{
    struct object x;
    cr_assert_eq(object_read(&w->reader, i, &x, NULL), 0);
    fprintf(w->f, "<objDef objId=\"%" PRIu64 "\" isArray=\"%d\" size=\"%" PRIu64 "\"", x.item.id,
            x.item.tag == HPROF_OBJECT_ARRAY      ? 2
            : x.item.tag == HPROF_PRIMITIVE_ARRAY ? x.item.type
                                                  : 0,
            x.size);
    fprintf(w->f, " classIdRef=\"%" PRIu64 "\"/>\n", x.c->id);
}

static void write_roots(struct writer *w)
{
    static const char *const names[] = {
        [HPROF_ROOT_JNI_GLOBAL] = "JNI_GLOBAL",     [HPROF_ROOT_JNI_LOCAL] = "JNI_LOCAL",
        [HPROF_ROOT_JAVA_FRAME] = "JAVA_FRAME",     [HPROF_ROOT_THREAD_OBJ] = "THREAD_OBJ",
        [HPROF_ROOT_STICKY_CLASS] = "STICKY_CLASS",
    };
    for (size_t i = 0; i < w->d->n_roots; i++) {
        const struct dump_root *r = &w->d->roots[i];
        fprintf(w->f, "<gcRoot heapDumpIdRef=\"1\" objIdRef=\"%" PRIu64 "\" type=\"%s\"", r->id,
                names[r->kind]);
        if (r->kind == HPROF_ROOT_JAVA_FRAME || r->kind == HPROF_ROOT_JNI_LOCAL)
            fprintf(w->f, " threadIdRef=\"%u\" frame=\"%u\"", r->thread, r->depth);
        fprintf(w->f, "/>\n");
    }
}

/* The dump at `path`, as the agent writes such files; the descriptor. */
static int write_xml(const char *path, char out[64])
{
    struct writer w = {.d = opened(path)};
    struct objects objects;
    int fd = memfd_create("xml", 0);
    w.f = fdopen(dup(fd), "w");
    snprintf(out, 64, "/proc/self/fd/%d", fd);
    cr_assert_eq(objects_locate(&objects, w.d, NULL), 0);
    cr_assert_eq(object_reader_open(&w.reader, &objects, NULL), 0);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n"
          "<option key=\"orca.version\" value=\"1\"/>\n"
          "<heapDumpDef heapDumpId=\"1\" name=\"7\" time=\"1700000000.123456789\"/>\n"
          "<threadStart threadId=\"7\" objIdRef=\"32768\" threadName=\"main &amp; all\"/>\n",
          w.f);
    write_classes(&w);
    for (uint32_t i = 0; i < w.d->n_objects; i++)
        write_object(&w, i);
    write_roots(&w);
    for (uint32_t i = w.d->n_objects; i-- > 0;)
        write_references(&w, i);
    fputs("</TRACE>\n", w.f);
    fclose(w.f);
    object_reader_close(&w.reader);
    objects_release(&objects);
    dump_close((struct dump *)(uintptr_t)w.d);
    return fd;
}

/* --- both say the same ------------------------------------------------------------------------ */

static void same_classes(const struct dump *a, const struct dump *b, uint64_t seed)
{
    cr_assert_eq(a->objects_count, b->objects_count, "seed %" PRIu64, seed);
    cr_assert_eq(a->objects_bytes, b->objects_bytes, "seed %" PRIu64, seed);
    for (uint32_t i = 0; i < a->n_classes; i++) {
        const struct dump_class *c = &a->classes[i], *e = dump_class_by_name(b, c->name);
        cr_assert(e || c->count == 0, "seed %" PRIu64 ": %s", seed, c->name);
        if (e)
            cr_assert(c->count == e->count && c->bytes == e->bytes && c->id == e->id,
                      "seed %" PRIu64 ": %s", seed, c->name);
    }
}

static uint64_t dominator_id(const struct retained *r, uint64_t id)
{
    uint32_t up = r->dominators[ids_find(&r->d->ids, id)];
    return up >= RETAINED_ROOT ? up : ids_at(&r->d->ids, up);
}

static void same_keepers(const struct retained *a, const struct retained *b, uint64_t seed)
{
    cr_assert_eq(a->d->n_objects, b->d->n_objects);
    cr_assert_eq(a->n_unreached, b->n_unreached, "seed %" PRIu64, seed);
    for (uint32_t i = 0; i < a->d->n_objects; i++) {
        uint64_t id = ids_at(&a->d->ids, i);
        cr_assert_eq(id, ids_at(&b->d->ids, i));
        cr_assert_eq(retained_bytes(a, i), retained_bytes(b, i), "seed %" PRIu64 ": %#" PRIx64,
                     seed, id);
        cr_assert_eq(dominator_id(a, id), dominator_id(b, id), "seed %" PRIu64 ": %#" PRIx64, seed,
                     id);
    }
    cr_assert_eq(a->paths.n, b->paths.n);
    for (size_t k = 0; k < a->paths.n; k++) {
        cr_assert_eq(a->paths.v[k].n, b->paths.v[k].n);
        for (size_t i = 0; i < a->paths.v[k].n; i++)
            cr_assert_eq(a->paths.v[k].v[i], b->paths.v[k].v[i]);
    }
}

static void same_roots(const struct dump *a, const struct dump *b)
{
    cr_assert_eq(a->n_roots, b->n_roots);
    for (size_t i = 0; i < a->n_roots; i++) {
        cr_assert_eq(a->roots[i].id, b->roots[i].id);
        cr_assert_eq(a->roots[i].kind, b->roots[i].kind);
        const struct dump_thread *t = dump_thread_by_serial(a, a->roots[i].thread),
                                 *u = dump_thread_by_serial(b, b->roots[i].thread);
        cr_assert_eq(t ? t->id : 0, u ? u->id : 0);
    }
}

Test(heap_xml, says_what_the_binary_dump_says)
{
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct made m;
        struct retained r, x;
        char path[64];
        make_random(&m, seed);
        int fd = write_xml(m.path, path);
        struct dump *a = opened(m.path), *b = opened(path);
        cr_assert(!b->partial && b->stated, "%s", b->problems[0].text);
        cr_assert_eq(b->time_ms, UINT64_C(1700000000123));
        same_classes(a, b, seed);
        same_roots(a, b);
        find(&r, a, id_of(20));
        find(&x, b, id_of(20));
        same_keepers(&r, &x, seed);
        retained_fini(&r);
        retained_fini(&x);
        dump_close(a);
        dump_close(b);
        close(fd);
        fclose(m.f);
    }
}

/* --- made by hand ----------------------------------------------------------------------------- */

/* With a head and an end; the descriptor. */
static int made_xml(const char *body, char path[64])
{
    int fd = memfd_create("xml", 0);
    cr_assert_gt(dprintf(fd, "<TRACE><heapDumpDef heapDumpId='1'/>\n%s</TRACE>", body), 0);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

#define CLASSES                                                                                    \
    "<classDef name='java/lang/Class' classId='1' objId='1'/>\n"                                   \
    "<classDef name='Node' classId='2' objId='2'/>\n"                                              \
    "<objDef objId='1' classIdRef='1' size='96'/><objDef objId='2' classIdRef='1' size='96'/>\n"

/* Other names and orders of attributes; the name of a field that is there twice, or not known. */
Test(heap_xml, takes_what_other_writers_write)
{
    char path[64];
    int fd = made_xml(CLASSES "<objDef size='24' transientObjId='10' transientClassIdRef='2'/>"
                              "<objDef classIdRef='2' objId='11' size='24' time='1.0'><x/></objDef>"
                              "<objDef objId='12' size='16'/>"
                              "<gcRoot objIdRef='10'/>"
                              "<objectReference objIdRef='10' targetObjIdRef='11' type='FIELD'/>"
                              "<objReference srcIdRef='10' targetIdRef='12'/>"
                              "<objReference targetIdRef='1' srcIdRef='10' type='FIELD'/>\n",
                      path);
    struct dump *d = opened(path);
    struct retained r;
    cr_assert(!d->partial, "%s", d->problems[0].text);
    find(&r, d, 12);
    cr_assert_eq(r.paths.v[0].n, 2);
    cr_assert_eq(retained_bytes(&r, ids_find(&d->ids, 10)), 24 + 24 + 16);
    cr_assert_eq(dump_class_by_name(d, "Node")->count, 2);
    cr_assert_eq(dump_class_by_name(d, "(unknown class)")->count, 1);
    retained_fini(&r);
    dump_close(d);
    close(fd);
}

/* The Class object of a class is called objId, or objIdRef: a static of it is a reference of the
 * class. */
Test(heap_xml, the_object_of_a_class_by_either_name)
{
    static const char *const names[] = {"objId", "objIdRef"};
    for (size_t i = 0; i < 2; i++) {
        char body[1000], path[64];
        snprintf(body, sizeof body,
                 "<classDef name='java/lang/Class' classId='1' %s='21'/>"
                 "<classDef name='Node' classId='2' %s='22'/>"
                 "<objDef objId='21' classIdRef='1' size='96'/>"
                 "<objDef objId='22' classIdRef='1' size='96'/>"
                 "<objDef objId='10' classIdRef='2' size='24'/>"
                 "<gcRoot objIdRef='22'/><objReference srcIdRef='22' targetIdRef='10'/>\n",
                 names[i], names[i]);
        int fd = made_xml(body, path);
        struct dump *d = opened(path);
        struct retained r;
        cr_assert(!d->partial, "%s: %s", names[i], d->problems[0].text);
        cr_assert_eq(dump_class_by_name(d, "java.lang.Class")->count, 2,
                     "%s: a class has no object beside its own", names[i]);
        find(&r, d, 10);
        cr_assert_eq(r.paths.v[0].n, 2, "%s", names[i]);
        retained_fini(&r);
        dump_close(d);
        close(fd);
    }
}

Test(heap_xml, what_cannot_be_used_is_told_with_its_line)
{
    static const struct {
        const char *xml, *words;
    } bad[] = {
        {"\n<objDef objId='seven'/>", "line 4: an objDef with the objId seven is left out"},
        {"<objReference srcIdRef='2'/>", "line 3: an objReference from 2 to nothing is left out"},
        {"<gcRoot type='JNI_GLOBAL'/>", "a gcRoot with the objIdRef nothing is left out"},
        {"<classDef name='X' classId='9' objId='2'/>", "a second class of the object 2"},
        {"<objReference srcIdRef='2' targetIdRef='77'/>", "1 references from or to objects"},
        {"<gcRoot objIdRef='78'/>", "1 roots that are objects"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[2000], path[64];
        snprintf(text, sizeof text,
                 "<classDef name='java/lang/Class' classId='1' objId='1'/><classDef name='Node' "
                 "classId='2' objId='2'/>\n<objDef objId='2'/><gcRoot objIdRef='2'/>%s\n",
                 bad[i].xml);
        text[strcspn(text, "\n")] = ' ';
        int fd = made_xml(text, path);
        struct dump *d = opened(path);
        cr_assert(d->partial && d->missing.damaged == 1, "%s", bad[i].xml);
        const char *at = strchr(bad[i].words, ':');
        cr_assert(strstr(d->problems[0].text, at ? at + 2 : bad[i].words), "%s",
                  d->problems[0].text);
        cr_assert(!at || strstr(d->problems[0].text, "line "), "%s", d->problems[0].text);
        dump_close(d);
        close(fd);
    }
}

/* Cut anywhere: what came before is there, and no conclusion is drawn. */
Test(heap_xml, what_is_cut_accuses_nobody)
{
    static char text[1 << 17];
    struct made m;
    char path[64];
    make_random(&m, 3);
    int fd = write_xml(m.path, path);
    ssize_t size = pread(fd, text, sizeof text, 0);
    cr_assert(size > 2000 && size < (ssize_t)sizeof text);
    for (ssize_t cut = 300; cut < size - 9; cut += cut < 1000 ? 1 : 97) {
        struct dump *d;
        struct retained r;
        struct err err = {""};
        cr_assert_eq(ftruncate(fd, cut), 0);
        int rc = dump_open(&d, path, NULL, &err);
        cr_assert(rc == 0 || strstr(err.msg, "line "), "at %zd: %s", cut, err.msg);
        if (rc == 0) {
            find(&r, d, 0);
            cr_assert(d->partial && d->missing.end && !r.known, "at %zd", cut);
            cr_assert(strstr(d->problems[d->n_problems - 1].text, "line "), "at %zd", cut);
            retained_fini(&r);
            dump_close(d);
        }
        cr_assert_eq(pwrite(fd, text, (size_t)size, 0), size);
    }
    close(fd);
    fclose(m.f);
}

static void refused(const char *text, const char *words)
{
    struct err err = {""};
    struct dump *d;
    char path[64];
    int fd = memfd_create("xml", 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    cr_assert_lt(dump_open(&d, path, NULL, &err), 0, "%s", text);
    cr_assert(strstr(err.msg, path) && strstr(err.msg, words), "%s", err.msg);
    close(fd);
}

Test(heap_xml, other_files_are_refused)
{
    refused("<TRACE><node nodeId='1'/></TRACE>", "not an HPROF heap dump");
    refused("<TRACE><heapDumpDef/></TRACE>", "no heap dump");
    refused("<TRACE>\n<heapDumpDef", "line 2, column 1");
    refused("<!DOCTYPE T [<!ENTITY a 'b'>]><TRACE><objDef objId='&a;'/></TRACE>", "DOCTYPE");
}

/* --- what XML does not have ------------------------------------------------------------------- */

Test(heap_xml, contents_are_said_not_to_be_known)
{
    struct made m;
    struct heap_view *h;
    struct err err = {""};
    char path[64];
    make_random(&m, 5);
    int fd = write_xml(m.path, path);
    cr_assert_eq(heap_view_new(&h, path, NULL, &err), 0, "%s", err.msg);
    heap_view_read(h);
    json_t *j = ask_heap(h, "overview", "");
    cr_assert_str_eq(text_at(j, "stage"), "ready");
    cr_assert(strstr(text_at(j, "no_contents"), "XML"));
    cr_assert(json_is_false(json_object_get(j, "partial")));
    json_decref(j);
    static const char *const contents[] = {"strings", "collections"};
    for (int i = 0; i < 2; i++) {
        j = ask_heap(h, contents[i], "");
        cr_assert(strstr(text_at(j, "not_known"), "XML"));
        json_decref(j);
    }
    j = ask_heap(h, "threads", "");
    cr_assert_eq(number_at(j, "n"), 1);
    cr_assert_str_eq(text_at(j, "threads.0.name"), "main & all");
    cr_assert_eq(number_at(j, "threads.0.held"), 2);
    json_decref(j);
    heap_view_free(h);
    close(fd);
    fclose(m.f);
}
