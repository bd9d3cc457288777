#include "agent/alloc_rows.h"

#include "base/map.h"
#include "base/util.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

/* Pages without counts do not exist.  ENTRIES, PROBES, the hash and the cells are as
 * java/java/lang/OrcaHeap.java has them. */
enum { ROWS = 1024, KINDS = 2048, ENTRIES_BITS = 12, ENTRIES = 1 << ENTRIES_BITS, PROBES = 4 };

struct cell {
    _Atomic uint64_t count, bytes; /* bytes: of arrays only, and written first */
};

/* What the reader has had of a cell. */
struct had {
    uint64_t count, bytes;
};

struct entry {
    _Atomic uint64_t java_thread, row; /* 0, 0: of none */
};

enum state { FREE, LIVE, ENDED };

struct alloc_row {
    struct entry *entry;
    struct cell *cells;
    struct had *had;
    thread_id thread;
    _Atomic int state; /* enum state */
};

static struct {
    pthread_mutex_t lock; /* of the directory's writers, of FREE rows, of kinds */
    struct entry *directory;
    struct cell *cells; /* ROWS times KINDS, as `had` */
    struct had *had;
    bool open;
    struct alloc_row rows[ROWS];
    _Atomic uint32_t n_rows; /* rows that have been in use */
    struct {
        class_id class_;
        uint64_t size;
    } kinds[KINDS];
    _Atomic uint32_t n_kinds;
    struct map places; /* class -> kind + 1 */
} rows = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { CELLS_BYTES = sizeof(struct cell[KINDS]), HAD_BYTES = sizeof(struct had[KINDS]) };

/* --- memory ----------------------------------------------------------------------------------- */

static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    madvise(p, bytes, MADV_NOHUGEPAGE);
    return p;
}

/* Once in the JVM's life. */
static bool have_memory(void)
{
    enum { DIRECTORY_BYTES = (ENTRIES + PROBES) * sizeof(struct entry) };
    if (rows.directory)
        return true;
    rows.cells = rows.cells ? rows.cells : reserve((size_t)ROWS * CELLS_BYTES);
    rows.had = rows.had ? rows.had : reserve((size_t)ROWS * HAD_BYTES);
    if (rows.cells && rows.had)
        rows.directory = reserve(DIRECTORY_BYTES);
    return rows.directory != NULL;
}

/* Memory that the program has locked (mlockall) is not given back. */
static void clear(void *p, size_t bytes)
{
    if (madvise(p, bytes, MADV_DONTNEED) != 0)
        memset(p, 0, bytes);
}

static void empty(struct alloc_row *row)
{
    clear(row->cells, CELLS_BYTES);
    clear(row->had, HAD_BYTES);
}

uintptr_t alloc_rows_open(void)
{
    pthread_mutex_lock(&rows.lock);
    if (have_memory() && !rows.open) {
        rows.open = true;
        map_init(&rows.places);
    }
    uintptr_t directory = (uintptr_t)rows.directory;
    pthread_mutex_unlock(&rows.lock);
    return directory;
}

/* --- the threads' side ------------------------------------------------------------------------ */

static int32_t place_under_lock(class_id class_, uint64_t size)
{
    uint32_t n = atomic_load_explicit(&rows.n_kinds, memory_order_relaxed);
    uint64_t *kind = rows.open && class_.v ? map_put(&rows.places, class_.v) : NULL;
    if (!kind || (*kind ? rows.kinds[*kind - 1].size != size : n == KINDS))
        return -1;
    if (!*kind) {
        rows.kinds[n].class_ = class_;
        rows.kinds[n].size = size;
        *kind = n + 1;
        /* release: the reader sees what kind it is */
        atomic_store_explicit(&rows.n_kinds, n + 1, memory_order_release);
    }
    return (int32_t)((*kind - 1) * sizeof(struct cell));
}

int32_t alloc_rows_place(class_id class_, uint64_t size)
{
    pthread_mutex_lock(&rows.lock);
    int32_t at = place_under_lock(class_, size);
    pthread_mutex_unlock(&rows.lock);
    return at;
}

static struct entry *free_entry(uintptr_t java_thread)
{
    enum { WORD_BITS = 64 };
    uint64_t hash = java_thread * UINT64_C(0x9e3779b97f4a7c15) >> (WORD_BITS - ENTRIES_BITS);
    struct entry *e = &rows.directory[hash];
    for (int i = 0; i < PROBES; i++)
        if (!atomic_load_explicit(&e[i].java_thread, memory_order_relaxed))
            return &e[i];
    return NULL;
}

static struct alloc_row *free_row(void)
{
    uint32_t n = atomic_load_explicit(&rows.n_rows, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++)
        if (atomic_load_explicit(&rows.rows[i].state, memory_order_acquire) == FREE)
            return &rows.rows[i];
    if (n == ROWS)
        return NULL;
    struct alloc_row *row = &rows.rows[n];
    row->cells = rows.cells + (size_t)n * KINDS;
    row->had = rows.had + (size_t)n * KINDS;
    atomic_store_explicit(&rows.n_rows, n + 1, memory_order_release);
    return row;
}

static void unlist(struct entry *e)
{
    /* Java code that finds the key finds no row, and none that is another's. */
    atomic_store_explicit(&e->row, 0, memory_order_release);
    atomic_store_explicit(&e->java_thread, 0, memory_order_release);
}

struct alloc_row *alloc_rows_join(uintptr_t java_thread, thread_id thread)
{
    pthread_mutex_lock(&rows.lock);
    struct entry *e = rows.open && java_thread ? free_entry(java_thread) : NULL;
    struct alloc_row *row = e ? free_row() : NULL;
    if (row) {
        row->entry = e;
        row->thread = thread;
        /* release: the reader sees whose it is */
        atomic_store_explicit(&row->state, LIVE, memory_order_release);
        atomic_store_explicit(&e->row, (uintptr_t)row->cells, memory_order_relaxed);
        atomic_store_explicit(&e->java_thread, java_thread, memory_order_release);
    }
    pthread_mutex_unlock(&rows.lock);
    return row;
}

void alloc_row_hide(struct alloc_row *row)
{
    if (row)
        atomic_store_explicit(&row->entry->row, 0, memory_order_relaxed);
}

void alloc_row_show(struct alloc_row *row)
{
    if (row)
        atomic_store_explicit(&row->entry->row, (uintptr_t)row->cells, memory_order_relaxed);
}

void alloc_row_leave(struct alloc_row *row)
{
    if (!row)
        return;
    pthread_mutex_lock(&rows.lock);
    unlist(row->entry);
    pthread_mutex_unlock(&rows.lock);
    /* release: all that was counted is there; behind it the row is the reader's */
    atomic_store_explicit(&row->state, ENDED, memory_order_release);
}

/* --- the reader's ----------------------------------------------------------------------------- */

/* An array's bytes come before its number, so a number has its bytes; those of the next one may be
 * among them, and are then missing there. */
static void read_row(struct alloc_row *row, uint32_t n,
                     void (*visit)(void *ctx, const struct alloc_news *n), void *ctx)
{
    for (uint32_t i = 0; i < n; i++) {
        struct cell *now = &row->cells[i];
        struct had *had = &row->had[i];
        /* acquire: the bytes as of this number, or later */
        uint64_t count = atomic_load_explicit(&now->count, memory_order_acquire);
        if (!count || count == had->count)
            continue;
        struct alloc_news news = {{row->thread, rows.kinds[i].class_, {0}}, count - had->count, 0};
        news.bytes = news.count * rows.kinds[i].size;
        if (!rows.kinds[i].size) {
            uint64_t bytes = atomic_load_explicit(&now->bytes, memory_order_relaxed);
            news.bytes = bytes - had->bytes;
            had->bytes = bytes;
        }
        had->count = count;
        visit(ctx, &news);
    }
}

void alloc_rows_news(void (*visit)(void *ctx, const struct alloc_news *n), void *ctx)
{
    uint32_t n = atomic_load_explicit(&rows.n_rows, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        struct alloc_row *row = &rows.rows[i];
        /* acquire: pairs with alloc_row_leave, and then with place_under_lock: a row has no kind
         * that is not among those */
        int state = atomic_load_explicit(&row->state, memory_order_acquire);
        uint32_t n_kinds = atomic_load_explicit(&rows.n_kinds, memory_order_acquire);
        if (state != FREE)
            read_row(row, n_kinds, visit, ctx);
        if (state == ENDED) {
            empty(row);
            /* release: pairs with free_row */
            atomic_store_explicit(&row->state, FREE, memory_order_release);
        }
    }
}

void alloc_rows_close(void)
{
    pthread_mutex_lock(&rows.lock);
    uint32_t n = atomic_load_explicit(&rows.n_rows, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++) {
        struct alloc_row *row = &rows.rows[i];
        if (atomic_load_explicit(&row->state, memory_order_relaxed) == LIVE)
            unlist(row->entry);
        empty(row);
        atomic_store_explicit(&row->state, FREE, memory_order_relaxed);
    }
    if (rows.open)
        map_fini(&rows.places);
    rows.open = false;
    atomic_store_explicit(&rows.n_kinds, 0, memory_order_relaxed);
    pthread_mutex_unlock(&rows.lock);
}
