/* pack.c - the pack of a page (docs/reference/view-protocol.md, "Pack"): meta, and the sections in
 * order. */
#include "base/util.h"
#include "view/pack_parts.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PACK_MAGIC = 0x314b504f,
    PACK_VERSION = 2,
    PACK_OVERVIEW = 1024, /* parts */
    PACK_LOCKS = 5000,    /* rows */
    PACK_PATH = 200000,   /* segments that a page of tiles has room for */
};

/* --- meta ------------------------------------------------------------------------------------- */

static int put_answer(const struct packer *p, const char *answer, const char *name, int value,
                      struct buf *out)
{
    char text[16];
    const struct view_param param = {name, text};
    const struct view_question q = {&param, name ? 1 : 0};
    snprintf(text, sizeof text, "%d", value);
    return view_json(p->v, answer, &q, out, p->err);
}

/* The rows of the answer `locks`. */
static int put_lock_rows(const struct packer *p, struct buf *out)
{
    struct buf answer = {0};
    int rc = put_answer(p, "locks", "top", PACK_LOCKS, &answer);
    json_t *j = rc == 0 && !answer.oom
                    ? json_loadb((const char *)answer.p, answer.len, JSON_DISABLE_EOF_CHECK, NULL)
                    : NULL;
    char *rows = j ? json_dumps(json_object_get(j, "locks"), JSON_COMPACT) : NULL;
    buf_fini(&answer);
    json_decref(j);
    if (rows)
        buf_puts(out, rows);
    free(rows);
    return rc < 0 ? rc : rows ? 0 : -ENOMEM;
}

static void put_said(const struct packer *p, struct buf *out)
{
    if (p->exact)
        buf_puts(out, ",\"packed\":\"exact\",\"said\":null}");
    else
        buf_printf(out,
                   ",\"packed\":\"tiles\",\"said\":\"The recording has %" PRIu64
                   " waits, too many for a page: it has sums instead of single waits. "
                   "orca view shows each wait, and orca html --exact %" PRIu64 " includes them.\"}",
                   timeline_waits(&p->v->a->timeline), timeline_waits(&p->v->a->timeline));
}

static int pack_meta(const struct packer *p, struct buf *out)
{
    TRY(put_answer(p, "meta", NULL, 0, out));
    while (!out->oom && out->len && out->p[out->len - 1] != '}')
        out->len--;
    out->len -= out->len > 0; /* goes on */
    buf_puts(out, ",\"report\":");
    TRY(put_answer(p, "report", NULL, 0, out));
    buf_puts(out, ",\"lock_rows\":");
    TRY(put_lock_rows(p, out));
    buf_puts(out, ",\"overview\":");
    TRY(put_answer(p, "overview", "n", PACK_OVERVIEW, out));
    put_said(p, out);
    return 0;
}

/* Whether all segments fit beside ready tiles. */
static bool has_whole_path(const struct packer *p)
{
    return p->exact || p->v->a->path.n <= PACK_PATH;
}

static int pack_path(const struct packer *p, struct buf *out)
{
    if (has_whole_path(p))
        view_put_whole_path(p->v, out);
    return 0;
}

static int pack_path_tiles(const struct packer *p, struct buf *out)
{
    return has_whole_path(p) ? 0 : pack_paths(p, out);
}

/* --- sections --------------------------------------------------------------------------------- */

enum { IN_EXACT = 1, IN_TILES = 2 };

static const struct {
    const char *name;
    pack_section *put;
    unsigned in;
} sections[] = {
    {"meta", pack_meta, IN_EXACT | IN_TILES}, {"waits", pack_waits, IN_EXACT},
    {"contexts", pack_contexts, IN_EXACT},    {"locks", pack_locks, IN_EXACT},
    {"sites", pack_sites, IN_EXACT},          {"stacks", pack_stacks, IN_EXACT},
    {"names", pack_names, IN_EXACT},          {"acts", pack_acts, IN_EXACT},
    {"wakes", pack_wakes, IN_EXACT},          {"regains", pack_regains, IN_EXACT},
    {"holds", pack_holds, IN_EXACT},          {"samples", pack_samples, IN_EXACT},
    {"executed", pack_executed, IN_EXACT},    {"owned", pack_owned, IN_EXACT},
    {"allocs", pack_allocs, IN_EXACT},        {"marks", pack_marks, IN_EXACT},
    {"starts", pack_starts, IN_EXACT},        {"still", pack_still, IN_EXACT},
    {"path", pack_path, IN_EXACT | IN_TILES}, {"tiles", pack_tiles, IN_TILES},
    {"arrows", pack_arrows, IN_TILES},        {"paths", pack_path_tiles, IN_TILES},
};

/* In the pack's head. */
struct section_head {
    char name[16];
    uint64_t offset, bytes;
};

static int put_sections(const struct packer *p, struct section_head *heads, uint32_t *n,
                        struct buf *out, size_t begin)
{
    unsigned kind = p->exact ? IN_EXACT : IN_TILES;
    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        if (!(sections[i].in & kind))
            continue;
        column_pad(out, begin);
        struct section_head *h = &heads[(*n)++];
        size_t from = out->len;
        memcpy(h->name, sections[i].name, strnlen(sections[i].name, sizeof h->name));
        h->offset = from - begin;
        TRY(sections[i].put(p, out));
        h->bytes = out->len - from;
    }
    return 0;
}

static uint32_t count_sections(const struct packer *p)
{
    uint32_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        n += (sections[i].in & (p->exact ? IN_EXACT : IN_TILES)) != 0;
    return n;
}

int view_pack(struct view *v, const struct pack_options *o, struct buf *out, struct err *err)
{
    uint64_t most = o->exact_max ? o->exact_max : VIEW_PACK_EXACT;
    const struct samples *samples = &v->a->samples;
    const struct allocs *allocs = &v->a->allocs;
    const struct packer p = {.v = v,
                             .exact = timeline_waits(&v->a->timeline) <= most,
                             .most = most,
                             .samples = samples->n[SAMPLE_CPU] + samples->n[SAMPLE_WALL] <= most,
                             .allocs = allocs->n[ALLOC_EXACT] + allocs->n[ALLOC_SAMPLED] +
                                           allocs->n_frees + allocs->n_batches <=
                                       most,
                             .err = err};
    struct section_head heads[ARRAY_LEN(sections)] = {0};
    const uint32_t head[] = {PACK_MAGIC, PACK_VERSION, count_sections(&p), 0};
    size_t begin = out->len, table = begin + sizeof head;
    uint32_t n = 0;
    buf_put(out, head, sizeof head);
    buf_put(out, heads, head[2] * sizeof *heads);
    int rc = put_sections(&p, heads, &n, out, begin);
    if (rc == 0 && answer_end(out, begin) < 0)
        rc = err_set(err, -ENOMEM, "%s: out of memory", v->about.name);
    if (rc < 0) {
        out->len = begin;
        return rc;
    }
    memcpy(out->p + table, heads, n * sizeof *heads);
    return 0;
}
