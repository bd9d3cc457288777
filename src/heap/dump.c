#include "heap/dump_parts.h"
#include "heap/workers.h"

#include "base/util.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 16 << 20, SHIFT = 3 };

static void add_missing(struct dump_missing *m, uint64_t offset, bool is_end)
{
    if (is_end) {
        m->end = true;
    } else {
        m->damaged_at = m->damaged ? min_u64(m->damaged_at, offset) : offset;
        m->damaged++;
    }
}

void dump_add_problem(struct dump *d, uint64_t offset, const char *text, bool is_end)
{
    d->partial = true;
    size_t at = d->n_problems;
    while (at > 0 && d->problems[at - 1].offset > offset)
        at--;
    if (at > 0 && d->problems[at - 1].offset == offset)
        return;
    add_missing(&d->missing, offset, is_end);
    if (at == DUMP_PROBLEMS) {
        d->more_problems++;
        return;
    }
    size_t last = d->n_problems < DUMP_PROBLEMS ? d->n_problems : DUMP_PROBLEMS - 1;
    d->more_problems += d->n_problems == DUMP_PROBLEMS;
    memmove(&d->problems[at + 1], &d->problems[at], (last - at) * sizeof *d->problems);
    d->problems[at].offset = offset;
    snprintf(d->problems[at].text, sizeof d->problems[at].text, "%s", text);
    d->n_problems = last + 1;
}

int dump_read_piece(const struct dump *d, struct hprof *h, const struct dump_piece *piece,
                    int (*fn)(void *ctx, struct hprof *h, const struct hprof_item *it), void *ctx,
                    void (*note)(void *ctx, const struct hprof *h))
{
    struct hprof_item it;
    int rc;
    UNUSED(d);
    if (piece->segment_end)
        hprof_seek_sub(h, piece->from, piece->segment_end, piece->to);
    else
        hprof_seek(h, piece->from, piece->to);
    for (;;) {
        while ((rc = hprof_next(h, &it)) > 0)
            TRY(fn(ctx, h, &it));
        if (rc < 0)
            return rc;
        if (!h->problem[0])
            return 0;
        if (note)
            note(ctx, h);
        if (h->segment_end <= hprof_position(h) || h->segment_end >= piece->to)
            return 0;
        hprof_seek(h, h->segment_end, piece->to);
    }
}

/* --- pieces ----------------------------------------------------------------------------------- */

static int add_piece(struct buf *pieces, uint64_t from, uint64_t to)
{
    struct dump_piece p = {.from = from, .to = to};
    buf_put(pieces, &p, sizeof p);
    return pieces->oom ? -ENOMEM : 0;
}

/* Divide the file at records, by their lengths. */
static int skim(struct dump *d, struct err *err)
{
    struct hprof *h = &d->head;
    struct buf pieces = {0};
    uint64_t began = h->first, from = 0, to = h->first;
    uint8_t tag;
    int rc = 0, more = 1;
    hprof_seek(h, h->first, UINT64_MAX);
    while (rc == 0 && (more = hprof_next_record(h, &tag, &from, &to)) > 0) {
        d->beyond |= h->cut;
        if (to - began < PIECE)
            continue;
        if (from > began)
            rc = add_piece(&pieces, began, from);
        began = from;
        if (rc == 0 && to - began >= PIECE) {
            rc = add_piece(&pieces, began, to);
            began = to;
        }
    }
    if (rc == 0 && to > began)
        rc = add_piece(&pieces, began, to);
    if (rc < 0 || more < 0) {
        buf_fini(&pieces);
        return rc < 0 ? err_set(err, rc, "%s: out of memory", d->path)
                      : err_set(err, more, "%s: %s", d->path, h->problem);
    }
    if (h->problem[0])
        dump_add_problem(d, h->problem_at, h->problem, h->cut);
    d->pieces = VEC(pieces, struct dump_piece);
    d->n_pieces = VEC_LEN(pieces, struct dump_piece);
    return 0;
}

static int make_pieces(struct dump *d, struct err *err)
{
    if (!hprof_file_compressed(d->file))
        return skim(d, err);
    d->pieces = calloc(1, sizeof *d->pieces);
    if (!d->pieces)
        return err_set(err, -ENOMEM, "%s: out of memory", d->path);
    d->pieces[0] = (struct dump_piece){.from = d->head.first, .to = UINT64_MAX};
    d->n_pieces = 1;
    return 0;
}

static int by_offset(const void *a, const void *b)
{
    const struct dump_piece *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Divide what turned out to be long where the first pass noted it. */
static int divide_pieces(struct dump *d, const struct scan *scans, unsigned n)
{
    struct buf all = {0};
    buf_put(&all, d->pieces, d->n_pieces * sizeof *d->pieces);
    for (unsigned i = 0; i < n; i++)
        buf_put(&all, scans[i].cuts.p, scans[i].cuts.len);
    if (all.oom) {
        buf_fini(&all);
        return -ENOMEM;
    }
    free(d->pieces);
    d->pieces = VEC(all, struct dump_piece);
    d->n_pieces = VEC_LEN(all, struct dump_piece);
    qsort(d->pieces, d->n_pieces, sizeof *d->pieces, by_offset);
    for (size_t i = 0; i + 1 < d->n_pieces; i++)
        d->pieces[i].to = min_u64(d->pieces[i].to, d->pieces[i + 1].from);
    return 0;
}

/* --- passes ----------------------------------------------------------------------------------- */

struct pass {
    const struct dump *d;
    struct hprof readers[WORKERS_MAX];
    dump_item_fn fn;
    void *ctx;
    pthread_mutex_t lock; /* of what follows, and of the dump's problems */
    uint64_t done;
    char failure[256];
};

struct one { /* a worker, as dump_read_piece passes it on */
    struct pass *pass;
    unsigned worker;
};

static int pass_open(struct pass *p, const struct dump *d, struct err *err)
{
    *p = (struct pass){.d = d};
    pthread_mutex_init(&p->lock, NULL);
    for (unsigned i = 0; i < dump_workers(d); i++)
        TRY(hprof_clone(&p->readers[i], &d->head, err));
    return 0;
}

static void pass_close(struct pass *p)
{
    for (unsigned i = 0; i < WORKERS_MAX; i++)
        hprof_close(&p->readers[i]);
    pthread_mutex_destroy(&p->lock);
}

static void report_progress(struct pass *p, uint64_t bytes)
{
    const struct dump *d = p->d;
    if (!d->options.progress)
        return;
    uint64_t size = hprof_file_size(d->file);
    pthread_mutex_lock(&p->lock);
    p->done += bytes;
    d->options.progress(d->options.progress_ctx, p->done, size == UINT64_MAX ? 0 : size);
    pthread_mutex_unlock(&p->lock);
}

static int each_item(void *ctx, struct hprof *h, const struct hprof_item *it)
{
    struct one *one = ctx;
    return one->pass->fn(one->pass->ctx, one->worker, h, it);
}

static int piece_failed(struct pass *p, const struct hprof *h, int rc)
{
    pthread_mutex_lock(&p->lock);
    if (!p->failure[0])
        snprintf(p->failure, sizeof p->failure, "%s",
                 rc == -ENOMEM     ? "out of memory"
                 : h->system_error ? h->problem
                                   : strerror(-rc));
    pthread_mutex_unlock(&p->lock);
    return rc;
}

static int each_piece(void *ctx, unsigned worker, uint64_t piece)
{
    struct pass *p = ctx;
    struct one one = {p, worker};
    const struct dump_piece *at = &p->d->pieces[piece];
    int rc = dump_read_piece(p->d, &p->readers[worker], at, each_item, &one, NULL);
    report_progress(p, at->to - at->from);
    return rc < 0 ? piece_failed(p, &p->readers[worker], rc) : 0;
}

int dump_each(const struct dump *d, dump_item_fn fn, void *ctx, struct err *err)
{
    struct pass p;
    int rc = pass_open(&p, d, err);
    if (rc == 0) {
        p.fn = fn;
        p.ctx = ctx;
        rc = workers_run(dump_workers(d), d->n_pieces, each_piece, &p);
        if (rc < 0)
            err_set(err, rc, "%s: %s", d->path, p.failure);
    }
    pass_close(&p);
    return rc;
}

unsigned dump_workers(const struct dump *d)
{
    return d->options.workers;
}

/* --- the first pass --------------------------------------------------------------------------- */

struct first {
    struct pass pass;
    struct scan scans[WORKERS_MAX];
};

struct first_one {
    struct first *first;
    unsigned worker;
    uint64_t seen; /* up to here has been reported */
};

static int first_item(void *ctx, struct hprof *h, const struct hprof_item *it)
{
    struct first_one *one = ctx;
    if (it->offset - one->seen >= PIECE) {
        report_progress(&one->first->pass, it->offset - one->seen);
        one->seen = it->offset;
    }
    return scan_item(&one->first->scans[one->worker], h, it);
}

static void first_problem(void *ctx, const struct hprof *h)
{
    struct first_one *one = ctx;
    struct pass *p = &one->first->pass;
    pthread_mutex_lock(&p->lock);
    dump_add_problem((struct dump *)(uintptr_t)p->d, h->problem_at, h->problem, h->cut);
    pthread_mutex_unlock(&p->lock);
}

static int first_piece(void *ctx, unsigned worker, uint64_t piece)
{
    struct first *f = ctx;
    struct pass *p = &f->pass;
    const struct dump_piece *at = &p->d->pieces[piece];
    struct first_one one = {f, worker, at->from};
    f->scans[worker].cut = at->from;
    int rc = dump_read_piece(p->d, &p->readers[worker], at, first_item, &one, first_problem);
    return rc < 0 ? piece_failed(p, &p->readers[worker], rc) : 0;
}

/* With addresses that are multiples of 1 << shift; 1 when some are not. */
static int first_pass(struct dump *d, struct first *f, unsigned shift, struct err *err)
{
    TRY(pass_open(&f->pass, d, err));
    for (unsigned i = 0; i < dump_workers(d); i++)
        scan_init(&f->scans[i], d, i, shift);
    int rc = workers_run(dump_workers(d), d->n_pieces, first_piece, f);
    for (unsigned i = 0; i < dump_workers(d); i++)
        if (f->scans[i].unaligned)
            return 1;
    return rc < 0 ? err_set(err, rc, "%s: %s", d->path, f->pass.failure) : 0;
}

static void first_close(struct first *f)
{
    for (unsigned i = 0; i < WORKERS_MAX; i++)
        scan_fini(&f->scans[i]);
    pass_close(&f->pass);
}

static int merge_ids(struct dump *d, struct first *f, struct err *err)
{
    d->ids = f->scans[0].ids;
    ids_init(&f->scans[0].ids, d->ids.shift);
    int rc = 0;
    for (unsigned i = 1; i < dump_workers(d) && rc == 0; i++)
        rc = ids_merge(&d->ids, &f->scans[i].ids);
    if (rc == 0)
        rc = ids_seal(&d->ids);
    d->n_objects = (uint32_t)d->ids.n;
    if (rc == -EOVERFLOW)
        return err_set(err, rc, "%s: more than four billion objects: too many for Orca", d->path);
    return rc < 0 ? err_set(err, rc, "%s: out of memory", d->path) : 0;
}

/* The end record is what HotSpot writes last, of version 1.0.2; a file may also end inside a heap
 * record, between two objects. */
static void check_end(struct dump *d, const struct first *f)
{
    bool seen = d->version == 101;
    for (unsigned i = 0; i < dump_workers(d); i++)
        seen |= f->scans[i].end_seen;
    uint64_t size = hprof_file_size(d->file);
    char text[256];
    snprintf(text, sizeof text,
             "offset 0x%llx: the dump does not end here (it is truncated): make it again, with "
             "enough room on the disk",
             (unsigned long long)size);
    if ((!seen && !d->partial) || (d->beyond && !d->missing.end))
        dump_add_problem(d, size, text, true);
    if (*hprof_file_damage(d->file))
        dump_add_problem(d, size, hprof_file_damage(d->file), true);
    if (!d->stated)
        d->missing.end_at = size;
}

static int read_all(struct dump *d, struct first *f, struct err *err)
{
    int rc = first_pass(d, f, SHIFT, err);
    if (rc == 1) { /* not HotSpot's addresses: a bit for each number */
        first_close(f);
        rc = first_pass(d, f, 0, err);
    }
    TRY(rc);
    d->size = hprof_file_size(d->file);
    check_end(d, f);
    TRY(merge_ids(d, f, err));
    if (divide_pieces(d, f->scans, dump_workers(d)) < 0)
        return err_set(err, -ENOMEM, "%s: out of memory", d->path);
    return dump_build(d, f->scans, dump_workers(d), err);
}

/* --- open and close --------------------------------------------------------------------------- */

/* Make an HPROF file of XML, and keep what was wrong. */
static int convert(struct dump *d, struct err *err)
{
    struct xml_dump x;
    TRY(hprof_file_convert(d->file, &x, d->options.progress, d->options.progress_ctx, err));
    d->stated = true;
    for (uint64_t i = 0; i < x.n_problems && i < XML_PROBLEMS; i++)
        dump_add_problem(d, x.problems[i].offset, x.problems[i].text, false);
    if (x.n_problems > XML_PROBLEMS)
        d->more_problems += x.n_problems - XML_PROBLEMS;
    if (x.cut)
        dump_add_problem(d, x.end.offset, x.end.text, true);
    d->missing.end_at = x.end.offset;
    return 0;
}

int dump_check(const char *path, struct err *err)
{
    struct hprof_file *f;
    struct hprof head;
    TRY(hprof_file_open(&f, path, err));
    int rc = hprof_file_is_xml(f) ? 0 : hprof_open(&head, f, err);
    if (rc == 0 && !hprof_file_is_xml(f))
        hprof_close(&head);
    hprof_file_close(f);
    return rc;
}

static int open_all(struct dump *d, struct err *err)
{
    if (hprof_file_is_xml(d->file))
        TRY(convert(d, err));
    TRY(hprof_open(&d->head, d->file, err));
    d->id_size = d->head.id_size;
    d->version = d->head.version;
    d->time_ms = d->head.time_ms;
    d->disk_size = hprof_file_disk_size(d->file);
    TRY(make_pieces(d, err));
    if (!d->stated)
        TRY(object_size_infer(d, err));
    struct first *f = calloc(1, sizeof *f);
    if (!f)
        return err_set(err, -ENOMEM, "%s: out of memory", d->path);
    int rc = read_all(d, f, err);
    first_close(f);
    free(f);
    return rc;
}

int dump_open(struct dump **out, const char *path, const struct dump_options *options,
              struct err *err)
{
    struct dump *d = calloc(1, sizeof *d);
    if (!d)
        return err_set(err, -ENOMEM, "%s: out of memory", path);
    if (options)
        d->options = *options;
    if (!d->options.workers)
        d->options.workers = workers_default();
    d->options.workers = min_u32(d->options.workers, WORKERS_MAX);
    arena_init(&d->arena, 0);
    int rc = hprof_file_open(&d->file, path, err);
    if (rc == 0) {
        d->path = hprof_file_path(d->file);
        rc = open_all(d, err);
    }
    if (rc < 0) {
        dump_close(d);
        return rc;
    }
    *out = d;
    return 0;
}

void dump_close(struct dump *d)
{
    if (!d)
        return;
    ids_fini(&d->ids);
    hprof_close(&d->head);
    hprof_file_close(d->file);
    free(d->pieces);
    buf_fini(&d->names);
    map_fini(&d->name_of);
    map_fini(&d->field_of);
    arena_fini(&d->arena);
    free(d);
}
