/* heap_test.c - heap dumps made by hand: what is read of them, what keeps what alive, and
 * damage. */
#include "heap/links.h"
#include "heap/retained.h"

#include "cases.h"
#include "heap_made.h"

#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

enum { SOFT = MADE_OWN };

static void make(struct made *m, uint32_t id_size)
{
    made_begin(m, id_size, "a:L b:L c:L d:L");
    hw_class(&m->w, SOFT, "java/lang/ref/SoftReference", REFERENCE, "clock:J");
}

static struct dump *opened(const struct made *m, unsigned workers)
{
    struct dump *d;
    struct err err = {""};
    const struct dump_options o = {.workers = workers};
    cr_assert_eq(dump_open(&d, m->path, &o, &err), 0, "%s", err.msg);
    return d;
}

static struct dump *finished(struct made *m, unsigned workers)
{
    hw_end(&m->w);
    return opened(m, workers);
}

static void node(struct made *m, uint64_t id, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    hw_instance(&m->w, id, NODE, (uint64_t[]){a, b, c, d});
}

static void find(struct retained *r, const struct dump *d, uint64_t path_to, bool soft)
{
    struct err err = {""};
    const struct retained_options o = {.classes = true, .path_to = path_to, .soft = soft};
    cr_assert_eq(retained_find(r, d, &o, &err), 0, "%s", err.msg);
}

static uint64_t kept(const struct retained *r, uint64_t id)
{
    return retained_bytes(r, ids_find(&r->d->ids, id));
}

/* --- what is read ----------------------------------------------------------------------------- */

static void check_contents(uint32_t id_size)
{
    struct made m;
    make(&m, id_size);
    hw_primitives(&m.w, 0x1000, 'B', "hello", 5);
    hw_instance(&m.w, 0x1018, STRING, (uint64_t[]){0x1000, 0, 0});
    node(&m, 0x1030, 0x1018, 0x1030, 0, 0x9999998);
    hw_objects(&m.w, 0x1050, NODES, (uint64_t[]){0x1030, 0, 0x1030}, 3);
    hw_root(&m.w, HPROF_ROOT_JNI_GLOBAL, 0x1050, 0, 0);
    struct dump *d = finished(&m, 2);
    cr_assert(!d->partial, "%s", d->problems[0].text);
    cr_assert_eq(d->id_size, id_size);
    cr_assert_eq(d->n_objects, 14);
    const struct dump_class *c = dump_class_by_name(d, "Node[]");
    cr_assert(c);
    cr_assert_eq(c->count, 1);
    cr_assert_eq(dump_class_by_name(d, "byte[]")->bytes, 24);
    cr_assert_eq(dump_class_by_name(d, "Node")->size, id_size == 8 ? 32 : 24);

    struct objects o;
    struct object_reader r;
    struct object x;
    struct err err = {""};
    struct buf text = {0};
    uint64_t value;
    cr_assert_eq(objects_locate(&o, d, &err), 0);
    cr_assert_eq(object_reader_open(&r, &o, &err), 0);
    cr_assert_eq(object_string(&r, ids_find(&d->ids, 0x1018), &text, 100), 5);
    cr_assert_str_eq(buf_str(&text), "hello");
    cr_assert_eq(object_read(&r, ids_find(&d->ids, 0x1030), &x, &err), 0);
    cr_assert(object_field(&r, &x, NULL, "a", &value));
    cr_assert_eq(value, 0x1018);
    cr_assert_eq(object_read(&r, ids_find(&d->ids, 0x1050), &x, &err), 0);
    const uint8_t *p;
    cr_assert_eq(object_elements(&r, &x, 1, 9, &p), 2);
    cr_assert_eq(hprof_id(p + id_size, id_size), 0x1030);
    buf_clear(&text);
    cr_assert_eq(links_name(&r, ids_find(&d->ids, 0x1050), ids_find(&d->ids, 0x1030), &text), 0);
    cr_assert_str_eq(buf_str(&text), "[0]");
    buf_fini(&text);
    object_reader_close(&r);
    objects_release(&o);
    dump_close(d);
    fclose(m.f);
}

Test(heap, reads_ids_of_both_sizes)
{
    check_contents(8);
    check_contents(4);
}

Test(heap, finds_ids_that_are_no_addresses)
{
    struct made m;
    make(&m, 8);
    for (uint64_t i = 1; i < 200; i++)
        node(&m, UINT64_C(0x7fff12345001) + i * i * 977, 0, 0, 0, 0);
    struct dump *d = finished(&m, 2);
    cr_assert_eq(d->n_objects, 209);
    for (uint32_t i = 0; i < d->n_objects; i++)
        cr_assert_eq(ids_find(&d->ids, ids_at(&d->ids, i)), i);
    cr_assert_eq(ids_find(&d->ids, 12345), IDS_NONE);
    dump_close(d);
    fclose(m.f);
}

/* --- what keeps what alive -------------------------------------------------------------------- */

Test(heap, a_diamond_belongs_to_its_top)
{
    struct made m;
    struct retained r;
    make(&m, 8);
    node(&m, 0x1000, 0x1020, 0x1040, 0, 0);
    node(&m, 0x1020, 0x1060, 0, 0, 0);
    node(&m, 0x1040, 0x1060, 0, 0, 0);
    node(&m, 0x1060, 0, 0, 0, 0);
    node(&m, 0x1080, 0x1080, 0x10a0, 0, 0); /* garbage */
    node(&m, 0x10a0, 0x1060, 0, 0, 0);
    hw_root(&m.w, HPROF_ROOT_JNI_GLOBAL, 0x1000, 0, 0);
    struct dump *d = finished(&m, 1);
    find(&r, d, 0x1060, false);
    cr_assert_eq(kept(&r, 0x1000), 128);
    cr_assert_eq(kept(&r, 0x1020), 32);
    cr_assert_eq(kept(&r, 0x1060), 32);
    cr_assert_eq(kept(&r, 0x1080), 0);
    cr_assert_eq(r.n_unreached, 2);
    cr_assert_eq(r.bytes_unreached, 64);
    cr_assert_eq(r.paths.v[0].n, 3);
    cr_assert_eq(ids_at(&d->ids, r.paths.v[0].v[0]), 0x1000);
    retained_fini(&r);
    dump_close(d);
    fclose(m.f);
}

Test(heap, soft_references_keep_when_told_so)
{
    struct made m;
    struct retained r;
    make(&m, 8);
    hw_instance(&m.w, 0x1000, WEAK, (uint64_t[]){0x1040, 0});
    hw_instance(&m.w, 0x1018, SOFT, (uint64_t[]){0, 0x1060, 0});
    node(&m, 0x1040, 0, 0, 0, 0);
    node(&m, 0x1060, 0, 0, 0, 0);
    hw_root(&m.w, HPROF_ROOT_JNI_GLOBAL, 0x1000, 0, 0);
    hw_root(&m.w, HPROF_ROOT_JNI_GLOBAL, 0x1018, 0, 0);
    struct dump *d = finished(&m, 1);
    find(&r, d, 0, false);
    cr_assert_eq(r.n_unreached, 2);
    retained_fini(&r);
    find(&r, d, 0, true);
    cr_assert_eq(r.n_unreached, 1);
    cr_assert_gt(kept(&r, 0x1060), 0);
    retained_fini(&r);
    dump_close(d);
    fclose(m.f);
}

Test(heap, a_thread_keeps_its_locals)
{
    struct made m;
    struct retained r;
    make(&m, 8);
    hw_instance(&m.w, 0x1000, THREAD, (uint64_t[]){0});
    node(&m, 0x1040, 0, 0, 0, 0);
    hw_root(&m.w, HPROF_ROOT_THREAD_OBJ, 0x1000, 7, 8);
    hw_root(&m.w, HPROF_ROOT_JAVA_FRAME, 0x1040, 7, 0);
    struct dump *d = finished(&m, 1);
    find(&r, d, 0, false);
    cr_assert_eq(kept(&r, 0x1000) - kept(&r, 0x1040), 16);
    cr_assert_eq(d->n_threads, 1);
    retained_fini(&r);
    dump_close(d);
    fclose(m.f);
}

/* Random graphs against the definition: take an object out and see what is no longer reached. */
enum { MOST = 40 };

struct random_graph {
    uint32_t n, edges[MOST][4];
    bool root[MOST], weak[MOST];
    uint64_t seed;
};

static uint32_t draw(struct random_graph *g, uint32_t below)
{
    g->seed = g->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)((g->seed >> 33) % below);
}

static uint64_t id_of(uint32_t i)
{
    return 0x1000 + (uint64_t)i * 32;
}

static void random_graph(struct random_graph *g, uint64_t seed)
{
    memset(g, 0, sizeof *g);
    g->seed = seed * 7919 + 1;
    g->n = 1 + draw(g, MOST);
    uint32_t degree = 1 + draw(g, 4), near = 1 + draw(g, MOST);
    for (uint32_t i = 0; i < g->n; i++) {
        g->root[i] = draw(g, 8) == 0;
        g->weak[i] = draw(g, 10) == 0;
        for (uint32_t e = 0; e < 4; e++) {
            uint32_t to = draw(g, 2) ? (i + draw(g, near)) % g->n : draw(g, g->n);
            g->edges[i][e] = draw(g, 5) < degree ? to : MOST;
        }
    }
}

static void write_graph(struct made *m, const struct random_graph *g)
{
    for (uint32_t i = 0; i < g->n; i++) {
        uint64_t v[4];
        for (int e = 0; e < 4; e++)
            v[e] = g->edges[i][e] == MOST ? 0 : id_of(g->edges[i][e]);
        if (g->weak[i])
            hw_instance(&m->w, id_of(i), WEAK, v);
        else
            node(m, id_of(i), v[0], v[1], v[2], v[3]);
        if (g->root[i])
            hw_root(&m->w, HPROF_ROOT_MONITOR_USED, id_of(i), 0, 0);
    }
}

/* Bytes reached without `out` (MOST: with all). */
static uint64_t reach(const struct random_graph *g, uint32_t out, bool seen[MOST])
{
    uint32_t queue[MOST], n = 0;
    uint64_t bytes = 0;
    memset(seen, 0, MOST);
    for (uint32_t i = 0; i < g->n; i++)
        if (g->root[i] && i != out) {
            seen[i] = true;
            queue[n++] = i;
        }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = queue[k];
        bytes += g->weak[i] ? 24 : 32;
        for (int e = g->weak[i] ? 1 : 0; e < (g->weak[i] ? 2 : 4); e++) {
            uint32_t to = g->edges[i][e];
            if (to == MOST || to == out || seen[to])
                continue;
            seen[to] = true;
            queue[n++] = to;
        }
    }
    return bytes;
}

Test(heap, retained_sizes_are_what_a_removal_frees)
{
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct random_graph g;
        struct made m;
        struct retained r;
        bool seen[MOST], without[MOST];
        random_graph(&g, seed);
        make(&m, 8);
        write_graph(&m, &g);
        struct dump *d = finished(&m, 1 + (unsigned)seed % 2);
        find(&r, d, 0, false);
        uint64_t all = reach(&g, MOST, seen);
        for (uint32_t i = 0; i < g.n; i++) {
            uint64_t want = seen[i] ? all - reach(&g, i, without) : 0;
            cr_assert_eq(kept(&r, id_of(i)), want, "seed %llu, object %u: %llu instead of %llu",
                         (unsigned long long)seed, i, (unsigned long long)kept(&r, id_of(i)),
                         (unsigned long long)want);
        }
        retained_fini(&r);
        dump_close(d);
        fclose(m.f);
    }
}

/* A list as long as recursion would not survive. */
Test(heap, a_long_list_is_kept_by_its_head)
{
    enum { LONG = 300000 };
    struct made m;
    struct retained r;
    make(&m, 8);
    for (uint32_t i = 0; i < LONG; i++)
        node(&m, id_of(i), i + 1 < LONG ? id_of(i + 1) : 0, i ? id_of(i - 1) : 0, 0, 0);
    hw_root(&m.w, HPROF_ROOT_JNI_GLOBAL, id_of(0), 0, 0);
    struct dump *d = finished(&m, 2);
    find(&r, d, id_of(LONG - 1), false);
    cr_assert_eq(kept(&r, id_of(0)), LONG * UINT64_C(32));
    cr_assert_eq(kept(&r, id_of(LONG / 2)), LONG / 2 * UINT64_C(32));
    cr_assert_eq(r.class_bytes[dump_class_by_name(d, "Node")->number], LONG * UINT64_C(32));
    cr_assert(r.paths.n == 1 && r.paths.v[0].n == LONG);
    retained_fini(&r);
    dump_close(d);
    fclose(m.f);
}

/* --- damage ----------------------------------------------------------------------------------- */

static void refused(const char *bytes, size_t n, const char *words)
{
    struct err err = {""};
    struct dump *d;
    char path[64];
    int fd = memfd_create("bad", 0);
    cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    cr_assert_lt(dump_open(&d, path, NULL, &err), 0);
    cr_assert(strstr(err.msg, path) && strstr(err.msg, words), "%s", err.msg);
    close(fd);
}

Test(heap, other_files_are_refused_with_a_remedy)
{
    refused("", 0, "empty");
    refused("PK\3\4 and so on", 13, "unpack");
    refused("JAVA PROFILE 1.0.3\0\0\0\0\4", 23, "hprof-conv");
    refused("JAVA PROFILE 1.0.9\0\0\0\0\4", 23, "orca heap dump PID");
    refused("ORCATRC\n and so on", 18, "orca report");
    refused("hello", 5, "orca heap dump PID");
    refused("JAVA PROFILE 1.0.2\0\0\0\0\5\0\0\0\0\0\0\0\0", 31, "ids of 5 bytes");
    refused("JAVA PROFILE 1.0.2\0\0\0", 21, "ends in its header");
}

/* Cut at every length: never an error, and partial unless nothing is missing. */
Test(heap, what_is_cut_short_is_partial)
{
    struct made m;
    make(&m, 8);
    for (uint32_t i = 0; i < 20; i++)
        node(&m, id_of(i), id_of(i + 1), 0, 0, 0);
    hw_root(&m.w, HPROF_ROOT_STICKY_CLASS, NODE, 0, 0);
    hw_end(&m.w);
    off_t size = lseek(fileno(m.f), 0, SEEK_END);
    for (off_t cut = size; cut >= 31; cut -= cases_step()) {
        struct err err = {""};
        struct dump *d;
        struct retained r;
        cr_assert_eq(ftruncate(fileno(m.f), cut), 0);
        cr_assert_eq(dump_open(&d, m.path, NULL, &err), 0, "at %ld: %s", (long)cut, err.msg);
        cr_assert_eq(d->partial, cut != size, "at %ld", (long)cut);
        cr_assert(!d->partial || strstr(d->problems[0].text, "offset 0x"), "%s",
                  d->problems[0].text);
        find(&r, d, 0, false);
        retained_fini(&r);
        dump_close(d);
    }
    fclose(m.f);
}

Test(heap, a_damaged_segment_does_not_spoil_the_next)
{
    struct made m;
    make(&m, 8);
    node(&m, id_of(0), 0, 0, 0, 0);
    hw_flush(&m.w);
    hw_number(&m.w.heap, 0x77, 1);
    hw_number(&m.w.heap, 0, 8);
    hw_flush(&m.w);
    node(&m, id_of(1), 0, 0, 0, 0);
    struct dump *d = finished(&m, 2);
    cr_assert(d->partial);
    cr_assert(strstr(d->problems[0].text, "0x77"), "%s", d->problems[0].text);
    cr_assert_eq(dump_class_by_name(d, "Node")->count, 2);
    dump_close(d);
    fclose(m.f);
}

/* Version 1.0.1 has one record for the heap, whose length of four bytes runs over.  The file is
 * full of holes, which nobody reads. */
Test(heap, a_heap_record_of_more_than_four_gigabytes)
{
    enum { HOLES = 3 };
    const uint32_t hole = UINT32_C(2000000000);
    static const char there[3 << 20]; /* in each: without that much the file counts as lost */
    struct made m;
    make(&m, 8);
    m.w.heap_tag = HPROF_HEAP_DUMP;
    node(&m, id_of(0), id_of(1), 0, 0, 0);
    hw_root(&m.w, HPROF_ROOT_UNKNOWN, id_of(0), 0, 0);
    size_t length_at = m.w.out.len + 5; /* of the one heap record, which begins here */
    hw_record(&m.w, HPROF_HEAP_DUMP, 0);
    buf_put(&m.w.out, m.w.heap.p, m.w.heap.len);
    buf_clear(&m.w.heap);
    uint64_t begins = length_at + 4;
    memcpy(m.w.out.p, "JAVA PROFILE 1.0.1", 19);
    hw_write(&m.w);
    fflush(m.f);
    for (uint32_t i = 0; i < HOLES; i++) {
        struct buf *b = &m.w.out;
        hw_number(b, HPROF_PRIMITIVE_ARRAY, 1);
        hw_number(b, 0x100000 + i * (uint64_t)0x80000000, 8);
        hw_number(b, 0, 4);
        hw_number(b, hole, 4);
        hw_number(b, HPROF_BYTE, 1);
        hw_write(&m.w);
        fflush(m.f);
        fwrite(there, sizeof there, 1, m.f);
        fseeko(m.f, (off_t)(hole - sizeof there), SEEK_CUR);
    }
    hw_number(&m.w.out, HPROF_INSTANCE, 1);
    hw_number(&m.w.out, id_of(1), 8);
    hw_number(&m.w.out, 0, 4);
    hw_number(&m.w.out, NODE, 8);
    hw_number(&m.w.out, 32, 4);
    for (int i = 0; i < 4; i++)
        hw_number(&m.w.out, 0, 8);
    hw_write(&m.w);
    uint64_t len = (uint64_t)ftello(m.f) - begins;
    fseeko(m.f, (off_t)length_at, SEEK_SET);
    hw_number(&m.w.out, len & UINT32_MAX, 4);
    hw_write(&m.w);
    fflush(m.f);
    struct dump *d = opened(&m, 2);
    struct retained r;
    cr_assert(!d->partial, "%s", d->problems[0].text);
    cr_assert_eq(dump_class_by_name(d, "byte[]")->count, HOLES);
    cr_assert_eq(dump_class_by_name(d, "Node")->count, 2);
    find(&r, d, 0, false);
    cr_assert_eq(kept(&r, id_of(0)), 64);
    retained_fini(&r);
    dump_close(d);
    buf_fini(&m.w.out);
    buf_fini(&m.w.heap);
    fclose(m.f);
}

/* --- compressed ------------------------------------------------------------------------------- */

/* The dump's bytes as a gzip file of members of `member` bytes each. */
static void compress_to(int fd, const uint8_t *p, size_t n, size_t member)
{
    for (size_t at = 0; at < n; at += member) {
        size_t len = n - at < member ? n - at : member;
        uLong room = compressBound(len) + 64;
        uint8_t *out = malloc(room);
        z_stream z = {.next_in = (Bytef *)(uintptr_t)(p + at),
                      .avail_in = (uInt)len,
                      .next_out = out,
                      .avail_out = (uInt)room};
        cr_assert_eq(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
        cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
        cr_assert_eq(write(fd, out, z.total_out), (ssize_t)z.total_out);
        deflateEnd(&z);
        free(out);
    }
}

static void check_compressed(size_t member, size_t lost)
{
    enum { MANY = 30000 };
    struct made m;
    make(&m, 8);
    for (uint32_t i = 0; i < MANY; i++) {
        uint8_t noise[1000];
        uint64_t x = i;
        for (size_t k = 0; k < sizeof noise; k++)
            noise[k] = (uint8_t)((x = x * 6364136223846793005u + 1) >> 56);
        hw_primitives(&m.w, 0x10000 + (uint64_t)i * 1016, 'B', noise, sizeof noise);
    }
    hw_root(&m.w, HPROF_ROOT_STICKY_CLASS, NODE, 0, 0);
    hw_end(&m.w);
    size_t size = (size_t)lseek(fileno(m.f), 0, SEEK_END);
    uint8_t *p = mmap(NULL, size, PROT_READ, MAP_SHARED, fileno(m.f), 0);
    int fd = memfd_create("gz", 0);
    compress_to(fd, p, size, member);
    cr_assert_eq(ftruncate(fd, lseek(fd, 0, SEEK_END) - (off_t)lost), 0);
    struct made gz;
    snprintf(gz.path, sizeof gz.path, "/proc/self/fd/%d", fd);
    struct dump *d = opened(&gz, 2);
    struct retained r;
    cr_assert_eq(d->partial, lost != 0);
    if (!lost) {
        cr_assert_eq(d->size, size);
        cr_assert_eq(dump_class_by_name(d, "byte[]")->count, MANY);
        find(&r, d, 0, false);
        cr_assert_eq(r.bytes_unreached, MANY * UINT64_C(1016));
        struct object_reader reader;
        struct object x;
        struct err err;
        const uint8_t *bytes;
        cr_assert_eq(object_reader_open(&reader, &r.objects, &err), 0);
        for (uint32_t i = MANY; i-- > 0; i -= i > 4000 ? 4000 : i) {
            uint32_t number = ids_find(&d->ids, 0x10000 + (uint64_t)i * 1016);
            cr_assert_eq(object_read(&reader, number, &x, &err), 0);
            cr_assert_eq(object_elements(&reader, &x, 0, 1, &bytes), 1);
            cr_assert_eq(bytes[0], (uint8_t)((i * 6364136223846793005u + 1) >> 56));
        }
        object_reader_close(&reader);
        retained_fini(&r);
    } else {
        cr_assert(strstr(d->problems[0].text, "offset 0x"), "%s", d->problems[0].text);
    }
    dump_close(d);
    munmap(p, size);
    close(fd);
    fclose(m.f);
}

Test(heap, reads_one_compressed_stream)
{
    check_compressed(SIZE_MAX / 2, 0);
}

Test(heap, reads_compressed_blocks)
{
    check_compressed(1 << 20, 0);
}

Test(heap, a_compressed_dump_that_is_cut_short)
{
    check_compressed(1 << 20, 100000);
    check_compressed(SIZE_MAX / 2, 100000);
}

/* Names of 4 GB each, of which nothing but the lengths was ever written. */
Test(heap, a_file_of_holes_is_refused)
{
    char path[] = "/tmp/orca-holes-XXXXXX";
    struct dump *d;
    struct err err = {""};
    const struct dump_options o = {.workers = 1};
    static const uint8_t begin[] = "JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0"; /* and a NUL */
    static const uint8_t record[] = {HPROF_UTF8, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xf0, 0, 0, 0, 0, 1};
    int fd = mkstemp(path);
    cr_assert_eq(write(fd, begin, sizeof begin), (ssize_t)sizeof begin);
    off_t at = sizeof begin;
    for (int i = 0; i < 20; i++, at += 9 + (off_t)0xfffffff0)
        cr_assert_eq(pwrite(fd, record, sizeof record, at), (ssize_t)sizeof record);
    cr_assert_eq(ftruncate(fd, at), 0);
    int rc = dump_open(&d, path, &o, &err);
    close(fd);
    unlink(path);
    cr_assert_eq(rc, -EINVAL);
    cr_assert(strstr(err.msg, "is a hole"), "%s", err.msg);
}
