#include "view/tile.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum {
    MANY_WAITS = 4 * VIEW_BUCKETS, /* in a tile: from then on its cells are kept */
    NEIGHBOURS = 16,               /* tiles that are made at once then */
};

/* What a cell of a tile is, in its order: docs/reference/view-protocol.md. */
struct occupancy_cell {
    uint8_t state[WAIT_STATES], lived, waits, locked, unknown, halted[HALTED_KINDS];
};

/* --- cells ------------------------------------------------------------------------------------ */

/* Turn the parts of a whole into 255ths: each part is what its end is, rounded, less what its
 * beginning is, so that they add up and none is wrong by a whole one.  Those that would vanish are
 * 1, at the cost of the greatest where it gets too much. */
static void share_out(const uint64_t *parts, unsigned n, uint64_t whole, uint8_t *out)
{
    double scale = 255.0 / (double)whole;
    uint64_t sum = 0;
    unsigned before = 0, greatest = 0, all = 0;
    for (unsigned i = 0; i < n; i++) {
        if (!parts[i])
            continue;
        sum += parts[i];
        unsigned now = (unsigned)((double)sum * scale + 0.5);
        out[i] = (uint8_t)(now > before ? now - before : 1);
        all += out[i];
        before = now;
        greatest = out[i] > out[greatest] ? i : greatest;
    }
    out[greatest] -= (uint8_t)(all > UINT8_MAX ? all - UINT8_MAX : 0);
}

static struct occupancy_cell make_cell(const struct pile_cell *c, uint64_t whole)
{
    enum { LOCKED = WAIT_STATES, UNKNOWN, HALTED, RUNNING = HALTED + HALTED_KINDS, PARTS };
    uint64_t parts[PARTS], waited = 0;
    uint8_t shares[PARTS] = {0};
    struct occupancy_cell cell = {.waits = (uint8_t)min_u64((uint64_t)c->waits, 255)};
    memcpy(parts, c->ns, WAIT_STATES * sizeof *parts);
    parts[LOCKED] = c->ns[COLUMN_HELD_UP];
    parts[UNKNOWN] = c->ns[STATE_UNKNOWN];
    memcpy(&parts[HALTED], &c->ns[COLUMN_HALTED], HALTED_KINDS * sizeof *parts);
    for (unsigned i = 0; i < RUNNING; i++)
        waited += parts[i];
    parts[RUNNING] = c->ns[COLUMN_LIFE] - min_u64(waited, c->ns[COLUMN_LIFE]);
    if (whole)
        share_out(parts, PARTS, whole, shares);
    for (unsigned i = 0; i < PARTS; i++)
        cell.lived += shares[i];
    memcpy(cell.state, shares, sizeof cell.state);
    cell.state[STATE_PARKED] += shares[LOCKED];
    cell.locked = shares[LOCKED];
    cell.unknown = shares[UNKNOWN];
    memcpy(cell.halted, &shares[HALTED], sizeof cell.halted);
    return cell;
}

/* Append the cells of a pile of that number of threads; false: all are empty, and nothing was
 * appended. */
static bool put_cells(struct pile *p, uint32_t threads, size_t begin, struct buf *out)
{
    struct occupancy_cell cells[VIEW_BUCKETS];
    bool any = false;
    pile_finish(p);
    for (unsigned k = 0; k < VIEW_BUCKETS; k++) {
        cells[k] = make_cell(&p->cells[k], (p->edges[k + 1] - p->edges[k]) * threads);
        any |= cells[k].lived || cells[k].waits;
    }
    if (any)
        column_put(out, begin, cells, sizeof cells);
    return any;
}

/* --- threads ---------------------------------------------------------------------------------- */

/* The columns of waits that are listed one by one. */
struct waits {
    double start[VIEW_EXACT_MAX], end[VIEW_EXACT_MAX], wake[VIEW_EXACT_MAX];
    uint32_t index[VIEW_EXACT_MAX], context[VIEW_EXACT_MAX], waker[VIEW_EXACT_MAX];
    uint8_t state[VIEW_EXACT_MAX], flags[VIEW_EXACT_MAX], how[VIEW_EXACT_MAX];
    uint32_t n;
};

static void add_wait(struct waits *w, const struct view *v, uint32_t thread, uint32_t index)
{
    const struct timeline *t = &v->a->timeline;
    const struct span *s = line_span(&t->lines[thread], index);
    const struct context *x = timeline_context(t, s->context);
    uint32_t k = w->n++;
    enum interaction how = span_interaction(t, thread, s);
    bool known = s->waker && cause_type(s->cause) != CAUSE_NONE;
    w->start[k] = view_time(v, s->start);
    w->end[k] = view_time(v, span_end(t, s));
    w->wake[k] = known ? view_time(v, span_wake_time(t, s)) : __builtin_nan("");
    w->index[k] = index;
    w->context[k] = s->context;
    w->waker[k] = s->waker;
    w->state[k] = x->what;
    bool locked = x->what == STATE_PARKED && purposes_held_up(&v->a->purposes, s->context, x->what);
    w->flags[k] = x->flags | (locked ? TILE_HELD_UP : 0);
    w->how[k] = how == INTERACTION_NONE ? UINT8_MAX : (uint8_t)how;
}

static void put_waits(const struct waits *w, size_t begin, struct buf *out)
{
    column_put(out, begin, w->start, w->n * sizeof *w->start);
    column_put(out, begin, w->end, w->n * sizeof *w->end);
    column_put(out, begin, w->wake, w->n * sizeof *w->wake);
    column_put(out, begin, w->index, w->n * sizeof *w->index);
    column_put(out, begin, w->context, w->n * sizeof *w->context);
    column_put(out, begin, w->waker, w->n * sizeof *w->waker);
    column_put(out, begin, w->state, w->n);
    column_put(out, begin, w->flags, w->n);
    column_put(out, begin, w->how, w->n);
}

static int make_thread_cells(const struct tile_query *q, uint32_t thread, struct buf *out)
{
    struct pile p;
    int rc = pile_init(&p, q->edges->at, VIEW_BUCKETS);
    rc = rc < 0 ? rc : pile_add(&p, &q->v->occupancy, thread);
    if (rc == 0)
        put_cells(&p, 1, q->begin, out);
    pile_fini(&p);
    return rc;
}

static struct cache_key thread_key(uint32_t thread, unsigned level, int64_t i)
{
    return (struct cache_key){.what = 't', .number = thread, .i = i, .level = level};
}

/* Keep the cells of the tiles around one that is asked for: who looks at one comes to the
 * others. */
static int keep_neighbours(const struct tile_query *q, uint32_t thread)
{
    int64_t first = q->i - q->i % NEIGHBOURS - (q->i % NEIGHBOURS < 0 ? NEIGHBOURS : 0);
    struct buf cells = {0};
    int rc = 0;
    for (int64_t i = first; i < first + NEIGHBOURS && rc == 0; i++) {
        const struct cache_key key = thread_key(thread, q->level, i);
        struct tile_edges edges;
        const struct tile_query one = {q->v, q->level, i, &edges, 0};
        if (tile_edges(q->v, q->level, i, &edges) < 0)
            continue;
        buf_clear(&cells);
        rc = make_thread_cells(&one, thread, &cells);
        if (rc == 0 && cells.len)
            cache_put(&q->v->answers, &key, cells.p, cells.len);
    }
    buf_fini(&cells);
    return rc;
}

/* n stretches in no wait in which it did not run. */
static void put_halts(const struct tile_query *q, const struct still *c, uint32_t n,
                      struct buf *out)
{
    size_t begin = q->begin;
    PUT_COLUMN(out, begin, double, n, view_time(q->v, c[k].from));
    PUT_COLUMN(out, begin, double, n, view_time(q->v, c[k].to));
    PUT_COLUMN(out, begin, uint32_t, n, c[k].peer.v);
    PUT_COLUMN(out, begin, uint8_t, n, c[k].what);
}

/* n: waits and halts that touch the tile. */
static int put_thread_cells(const struct tile_query *q, uint32_t thread, uint32_t n,
                            struct tile_row *row, struct buf *out)
{
    const struct cache_key key = thread_key(thread, q->level, q->i);
    row->kind = TILE_CELLS;
    row->n = VIEW_BUCKETS;
    row->m = 1;
    if (n < MANY_WAITS)
        return make_thread_cells(q, thread, out);
    if (cache_get(&q->v->answers, &key, out))
        return 0;
    TRY(keep_neighbours(q, thread));
    return cache_get(&q->v->answers, &key, out) ? 0 : make_thread_cells(q, thread, out);
}

int tile_of_thread(const struct tile_query *q, uint32_t thread, struct tile_row *row,
                   struct buf *out)
{
    const struct timeline *t = &q->v->a->timeline;
    if (thread == 0 || thread >= q->v->a->threads.n || thread >= t->n_lines)
        return 0;
    struct touching x =
        spans_touching(t, &t->lines[thread], tile_from(q->edges), tile_to(q->edges));
    const struct still_line *halts = stills_of(&q->v->a->halts, thread);
    uint32_t call, calls = still_touching(halts, tile_from(q->edges), tile_to(q->edges), &call);
    uint32_t n = touching_count(&x) + calls;
    if (n == 0)
        return 0;
    if (n > VIEW_EXACT_MAX)
        return put_thread_cells(q, thread, n, row, out);
    struct waits w;
    w.n = 0;
    if (x.over)
        add_wait(&w, q->v, thread, x.over - 1);
    for (uint32_t i = x.first; i < x.end; i++)
        add_wait(&w, q->v, thread, i);
    row->kind = TILE_WAITS;
    row->n = w.n;
    row->m = calls;
    put_waits(&w, q->begin, out);
    put_halts(q, halts->v + call, calls, out);
    return 0;
}

/* --- sets of threads -------------------------------------------------------------------------- */

static int make_set_cells(const struct tile_query *q, const struct view_set *set, uint32_t index,
                          struct buf *out)
{
    struct pile p;
    int rc = pile_init(&p, q->edges->at, VIEW_BUCKETS);
    for (uint32_t i = set->first[index]; rc == 0 && i < set->first[index + 1]; i++)
        rc = pile_add(&p, &q->v->occupancy, set->members[i]);
    if (rc == 0)
        put_cells(&p, set->peak[index], 0, out);
    pile_fini(&p);
    return rc;
}

int tile_of_set(const struct tile_query *q, const struct view_set *set, char letter, uint32_t index,
                struct tile_row *row, struct buf *out)
{
    const struct cache_key key = {
        .what = (uint8_t)letter, .number = index, .i = q->i, .level = q->level};
    struct buf cells;
    int rc = 0;
    if (index >= set->n)
        return 0;
    buf_init(&cells);
    if (!cache_get(&q->v->answers, &key, &cells)) {
        rc = make_set_cells(q, set, index, &cells);
        if (rc == 0 && !cells.oom)
            cache_put(&q->v->answers, &key, cells.p, cells.len);
    }
    if (cells.len) {
        row->kind = TILE_CELLS;
        row->n = VIEW_BUCKETS;
        row->m = set->peak[index];
        column_put(out, q->begin, cells.p, cells.len);
    }
    rc = rc == 0 && cells.oom ? -ENOMEM : rc;
    buf_fini(&cells);
    return rc;
}

/* --- the answer ------------------------------------------------------------------------------- */

/* The locks of a question and their histories. */
struct question_locks {
    uint32_t ids[VIEW_ROWS_MAX];
    struct lock_line *lines[VIEW_ROWS_MAX];
    size_t n, next;
};

static int get_locks(struct view *v, const struct view_row *rows, size_t n_rows,
                     struct question_locks *l)
{
    l->n = l->next = 0;
    memset(l->lines, 0, sizeof l->lines);
    for (size_t i = 0; i < n_rows; i++)
        if (rows[i].kind == 'l' && l->n < VIEW_ROWS_MAX)
            l->ids[l->n++] = rows[i].number;
    return l->n ? lock_lines_get(&v->locks, v->a, l->ids, l->n, l->lines) : 0;
}

static int put_row(const struct tile_query *q, struct view_row which, struct question_locks *locks,
                   struct tile_row *row, struct buf *out)
{
    column_pad(out, q->begin);
    *row = (struct tile_row){.kind = TILE_NOTHING, .offset = (uint32_t)(out->len - q->begin)};
    switch (which.kind) {
    case 't':
        return tile_of_thread(q, which.number, row, out);
    case 'p':
        return tile_of_set(q, &q->v->pools, 'p', which.number, row, out);
    case 'g':
        return tile_of_set(q, &q->v->groups, 'g', which.number, row, out);
    case 'l':
        if (locks->next < locks->n)
            tile_of_lock(q, locks->lines[locks->next++], row, out);
        return 0;
    default:
        return 0;
    }
}

static int put_rows(const struct tile_query *q, const struct view_row *rows, size_t n_rows,
                    struct tile_row *heads, struct buf *out)
{
    struct question_locks locks;
    const uint32_t magic[2] = {TILE_MAGIC, (uint32_t)n_rows};
    int rc = 0;
    TRY(get_locks(q->v, rows, n_rows, &locks));
    buf_put(out, magic, sizeof magic);
    buf_put(out, heads, n_rows * sizeof *heads);
    for (size_t k = 0; k < n_rows && rc == 0 && !out->oom; k++)
        rc = put_row(q, rows[k], &locks, &heads[k], out);
    if (locks.n)
        lock_lines_release(&q->v->locks, locks.lines, locks.n);
    return rc;
}

int tile_put(struct view *v, unsigned level, int64_t i, const struct view_row *rows, size_t n_rows,
             struct buf *out)
{
    struct tile_edges edges;
    struct tile_query q = {v, level, i, &edges, out->len};
    TRY(tile_edges(v, level, i, &edges));
    struct tile_row *heads = calloc(n_rows + 1, sizeof *heads);
    int rc = heads ? put_rows(&q, rows, n_rows, heads, out) : -ENOMEM;
    rc = rc == 0 ? answer_end(out, q.begin) : rc;
    if (rc == 0)
        memcpy(out->p + q.begin + 2 * sizeof(uint32_t), heads, n_rows * sizeof *heads);
    else
        out->len = q.begin;
    free(heads);
    return rc;
}

int view_tile(struct view *v, unsigned level, int64_t i, const struct view_row *rows, size_t n_rows,
              struct buf *out)
{
    return n_rows > VIEW_ROWS_MAX ? -EINVAL : tile_put(v, level, i, rows, n_rows, out);
}
