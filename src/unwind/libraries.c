#include "unwind/libraries.h"

#include "base/guarded.h"
#include "base/util.h"

#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 128, HALVES = 2, TRIES = 4 };

/* Words, so that each is read and written whole. */
struct entry {
    _Atomic uintptr_t begin, end;
    const struct library *_Atomic library;
};

/* Sorted by begin. */
struct table {
    struct table *retired; /* smaller ones from before, which a reader may still be in */
    uint32_t capacity;
    _Atomic uint32_t n;
    struct entry entries[];
};

struct libraries {
    _Atomic uint64_t changes;
    struct table *_Atomic halves[HALVES];
    struct library *_Atomic first;
    _Atomic bool missing;
    pthread_mutex_t refreshing; /* guards what follows, and all writing */
    struct library *last;
    unsigned long long adds, subs; /* the loader's, at the last refresh */
};

/* --- life ------------------------------------------------------------------------------------- */

static struct table *table_new(uint32_t capacity)
{
    struct table *t = calloc(1, sizeof *t + capacity * sizeof t->entries[0]);
    if (t)
        t->capacity = capacity;
    return t;
}

static void table_free(struct table *t)
{
    while (t) {
        struct table *next = t->retired;
        free(t);
        t = next;
    }
}

int libraries_new(struct libraries **out, struct err *err)
{
    struct libraries *l = calloc(1, sizeof *l);
    *out = l;
    if (!l)
        return err_set(err, -ENOMEM, "out of memory");
    pthread_mutex_init(&l->refreshing, NULL);
    for (int i = 0; i < HALVES; i++) {
        atomic_init(&l->halves[i], table_new(FIRST_CAPACITY));
        if (!atomic_load_explicit(&l->halves[i], memory_order_relaxed)) {
            libraries_free(l);
            *out = NULL;
            return err_set(err, -ENOMEM, "out of memory");
        }
    }
    return 0;
}

void libraries_free(struct libraries *l)
{
    if (!l)
        return;
    for (int i = 0; i < HALVES; i++)
        table_free(atomic_load_explicit(&l->halves[i], memory_order_relaxed));
    struct library *lib = atomic_load_explicit(&l->first, memory_order_relaxed);
    while (lib) {
        struct library *next = atomic_load_explicit(&lib->next, memory_order_relaxed);
        free(lib);
        lib = next;
    }
    pthread_mutex_destroy(&l->refreshing);
    free(l);
}

/* --- what the loader says --------------------------------------------------------------------- */

/* The GNU build id in a segment of notes: (name bytes, description bytes, type, name, description),
 * each part padded to four bytes. */
static void read_build_id(uintptr_t at, uintptr_t end, struct library *lib)
{
    enum { HEADER = 12, PAD = 4, TYPE = 8, BUILD_ID = 3, NAME_BYTES = 4 };
    uint32_t name, text, type, owner;
    while (end - at > HEADER && guarded_u32(at, &name) && guarded_u32(at + PAD, &text) &&
           guarded_u32(at + TYPE, &type) && guarded_u32(at + HEADER, &owner)) {
        uintptr_t room = end - at - HEADER;
        if (name > room || text > room || ALIGN_UP((uintptr_t)name, PAD) + text > room)
            return;
        uintptr_t from = at + HEADER + ALIGN_UP((uintptr_t)name, PAD);
        bool is_gnu = name == NAME_BYTES && memcmp(&owner, "GNU", NAME_BYTES) == 0;
        if (type == BUILD_ID && is_gnu && text <= LIBRARY_BUILD_ID &&
            guarded_bytes(from, lib->build_id, text)) {
            lib->build_id_bytes = text;
            return;
        }
        uintptr_t size = from - at + ALIGN_UP((uintptr_t)text, PAD);
        if (size >= end - at)
            return;
        at += size;
    }
}

/* Everything but id and path.  False: nothing is mapped. */
static bool describe(const struct dl_phdr_info *info, struct library *lib)
{
    uintptr_t page = (uintptr_t)getpagesize();
    memset(lib, 0, sizeof *lib);
    lib->begin = UINTPTR_MAX;
    lib->bias = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = lib->bias + p->p_vaddr, end = begin + p->p_memsz;
        if (end < begin)
            continue;
        if (p->p_type == PT_LOAD && begin < lib->begin)
            lib->begin = begin & ~(page - 1);
        if (p->p_type == PT_LOAD && end > lib->end)
            lib->end = ALIGN_UP(end, page);
        if (p->p_type == PT_GNU_EH_FRAME)
            lib->frame_hdr = begin, lib->frame_hdr_end = end;
        if (p->p_type == PT_NOTE && !lib->build_id_bytes)
            read_build_id(begin, end, lib);
    }
    if (lib->frame_hdr < lib->begin || lib->frame_hdr_end > lib->end)
        lib->frame_hdr = lib->frame_hdr_end = 0;
    return lib->begin < lib->end;
}

/* The loader gives the program itself no name, and others the one they were asked for by. */
static const char *path_of(const struct dl_phdr_info *info, const struct library *lib,
                           char buf[PATH_MAX])
{
    const char *name = info->dlpi_name ? info->dlpi_name : "";
    if (lib->begin == getauxval(AT_SYSINFO_EHDR))
        return "[vdso]";
    if (!*name) {
        ssize_t n = readlink("/proc/self/exe", buf, PATH_MAX - 1);
        if (n <= 0)
            return name;
        buf[n] = '\0';
        return buf;
    }
    return *name != '/' && realpath(name, buf) ? buf : name;
}

/* --- refresh ---------------------------------------------------------------------------------- */

struct refresh {
    struct libraries *l;
    struct table *to;
    int rc; /* 0: nothing new; 1; negative errno */
    unsigned long long adds, subs;
};

static bool same(const struct library *a, const struct library *b, const char *path)
{
    return a->begin == b->begin && a->end == b->end && a->bias == b->bias &&
           a->frame_hdr == b->frame_hdr && a->frame_hdr_end == b->frame_hdr_end &&
           a->build_id_bytes == b->build_id_bytes &&
           memcmp(a->build_id, b->build_id, sizeof a->build_id) == 0 && strcmp(a->path, path) == 0;
}

/* The record of a library that looks like `seen`: one from before, or a new one; NULL: no
 * memory. */
static struct library *intern(struct libraries *l, const struct library *seen, const char *path)
{
    struct library *lib = atomic_load_explicit(&l->first, memory_order_relaxed);
    for (; lib; lib = atomic_load_explicit(&lib->next, memory_order_relaxed))
        if (same(lib, seen, path))
            return lib;
    size_t n = strlen(path) + 1;
    lib = malloc(sizeof *lib + n);
    if (!lib)
        return NULL;
    memcpy(lib, seen, sizeof *lib);
    memcpy(lib->path, path, n);
    lib->id = l->last ? l->last->id + 1 : 1;
    /* release: a reader of the list meets a whole record; pairs with libraries_next */
    atomic_store_explicit(l->last ? &l->last->next : &l->first, lib, memory_order_release);
    l->last = lib;
    return lib;
}

static void put(struct table *t, uint32_t i, const struct library *lib)
{
    atomic_store_explicit(&t->entries[i].begin, lib->begin, memory_order_relaxed);
    atomic_store_explicit(&t->entries[i].end, lib->end, memory_order_relaxed);
    atomic_store_explicit(&t->entries[i].library, lib, memory_order_relaxed);
}

static const struct library *get(const struct table *t, uint32_t i)
{
    return atomic_load_explicit(&t->entries[i].library, memory_order_relaxed);
}

/* Insert by place. */
static int add(struct refresh *r, const struct library *lib)
{
    uint32_t n = atomic_load_explicit(&r->to->n, memory_order_relaxed), i = n;
    if (n == r->to->capacity) {
        struct table *larger = table_new(n * 2);
        if (!larger)
            return -ENOMEM;
        for (uint32_t k = 0; k < n; k++)
            put(larger, k, get(r->to, k));
        larger->retired = r->to;
        r->to = larger;
    }
    for (; i > 0 && get(r->to, i - 1)->begin > lib->begin; i--)
        put(r->to, i, get(r->to, i - 1));
    put(r->to, i, lib);
    atomic_store_explicit(&r->to->n, n + 1, memory_order_relaxed);
    return 0;
}

static int on_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct refresh *r = arg;
    struct library seen;
    char buf[PATH_MAX];
    if (r->rc == 0 && size >= offsetof(struct dl_phdr_info, dlpi_tls_modid)) {
        if (info->dlpi_adds == r->l->adds && info->dlpi_subs == r->l->subs)
            return 1;
        r->adds = info->dlpi_adds;
        r->subs = info->dlpi_subs;
    }
    r->rc = 1;
    if (!describe(info, &seen))
        return 0;
    const struct library *lib = intern(r->l, &seen, path_of(info, &seen, buf));
    if (!lib || add(r, lib) < 0)
        r->rc = -ENOMEM;
    return r->rc < 0;
}

int libraries_refresh(struct libraries *l, struct err *err)
{
    pthread_mutex_lock(&l->refreshing);
    uint64_t changes = atomic_load_explicit(&l->changes, memory_order_relaxed);
    struct table *_Atomic *unused = &l->halves[(changes + 1) & 1];
    struct refresh r = {.l = l, .to = atomic_load_explicit(unused, memory_order_relaxed)};
    /* release: who sees what is written now sees the last change, too; pairs with the fence in
     * libraries_find */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&r.to->n, 0, memory_order_relaxed);
    dl_iterate_phdr(on_object, &r);
    /* release: a larger table is whole before it is found */
    atomic_store_explicit(unused, r.to, memory_order_release);
    if (r.rc > 0) {
        l->adds = r.adds;
        l->subs = r.subs;
        /* release: records and table are whole; pairs with the acquire in libraries_find */
        atomic_store_explicit(&l->changes, changes + 1, memory_order_release);
    }
    pthread_mutex_unlock(&l->refreshing);
    return r.rc < 0 ? err_set(err, r.rc, "out of memory") : r.rc;
}

/* --- lookups ---------------------------------------------------------------------------------- */

static const struct library *search(const struct table *t, uintptr_t address)
{
    uint32_t low = 0, high = atomic_load_explicit(&t->n, memory_order_relaxed);
    if (high > t->capacity)
        return NULL;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct entry *e = &t->entries[middle];
        if (address < atomic_load_explicit(&e->begin, memory_order_relaxed))
            high = middle;
        else if (address >= atomic_load_explicit(&e->end, memory_order_relaxed))
            low = middle + 1;
        else
            return get(t, middle);
    }
    return NULL;
}

const struct library *libraries_find(const struct libraries *l, uintptr_t address)
{
    for (int i = 0; i < TRIES; i++) {
        uint64_t changes = libraries_changes(l);
        /* acquire: pairs with the release that put it there */
        const struct table *t = atomic_load_explicit(&l->halves[changes & 1], memory_order_acquire);
        const struct library *found = search(t, address);
        /* acquire: what was read comes before this second look; pairs with the fence in
         * libraries_refresh */
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&l->changes, memory_order_relaxed) == changes)
            return found;
    }
    return NULL;
}

uint64_t libraries_changes(const struct libraries *l)
{
    /* acquire: pairs with the release at the end of libraries_refresh */
    return atomic_load_explicit(&l->changes, memory_order_acquire);
}

const struct library *libraries_next(const struct libraries *l, const struct library *last)
{
    /* acquire: pairs with the release in intern */
    return atomic_load_explicit(last ? &last->next : &l->first, memory_order_acquire);
}

void libraries_note_missing(struct libraries *l)
{
    atomic_store_explicit(&l->missing, true, memory_order_relaxed);
}

bool libraries_missing(struct libraries *l)
{
    return atomic_exchange_explicit(&l->missing, false, memory_order_relaxed);
}
