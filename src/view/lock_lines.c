#include "view/lock_lines.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

struct kept_line {
    struct lock_line *line;
    unsigned users;
    uint64_t question; /* the latest one that it was asked for in */
    struct kept_line *older;
};

static void free_kept(struct kept_line *k)
{
    lock_line_free(k->line);
    free(k);
}

void lock_lines_init(struct lock_lines *c)
{
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->guard, NULL);
}

void lock_lines_fini(struct lock_lines *c)
{
    for (struct kept_line *k = c->newest, *older; k; k = older) {
        older = k->older;
        free_kept(k);
    }
    pthread_mutex_destroy(&c->guard);
}

/* What is kept of a lock, put first and used once more; NULL: nothing is. */
static struct lock_line *find(struct lock_lines *c, uint32_t lock)
{
    struct kept_line **at = &c->newest;
    while (*at && (*at)->line->lock != lock)
        at = &(*at)->older;
    struct kept_line *k = *at;
    if (!k)
        return NULL;
    *at = k->older;
    k->older = c->newest;
    c->newest = k;
    k->users++;
    k->question = c->questions;
    return k->line;
}

/* Let go of what was used least recently beyond the limit.  What the latest question needed stays:
 * the next one will be about the same locks. */
static void trim(struct lock_lines *c)
{
    size_t bytes = 0;
    for (struct kept_line **at = &c->newest; *at;) {
        struct kept_line *k = *at;
        bool needed = k->users || k->question == c->questions;
        if (needed || bytes + k->line->bytes <= LOCK_LINES_BYTES) {
            bytes += needed ? 0 : k->line->bytes;
            at = &k->older;
            continue;
        }
        *at = k->older;
        free_kept(k);
    }
}

/* Keep a history that was made, unless another thread made it first; returns the one to use. */
static struct lock_line *keep(struct lock_lines *c, struct kept_line *k)
{
    struct lock_line *other = find(c, k->line->lock);
    if (other) {
        free_kept(k);
        return other;
    }
    k->users = 1;
    k->question = c->questions;
    k->older = c->newest;
    c->newest = k;
    return k->line;
}

/* So many users more, or less. */
static void use(struct lock_lines *c, const struct lock_line *l, int more)
{
    struct kept_line *k = c->newest;
    while (k && k->line != l)
        k = k->older;
    INVARIANT(k);
    k->users += (unsigned)more;
}

/* Those of the locks that are kept go to `out`, the others, each once, to `missing`. */
static size_t find_all(struct lock_lines *c, const struct analysis *a, const uint32_t *locks,
                       size_t n, struct lock_line **out, uint32_t *missing)
{
    size_t n_missing = 0;
    pthread_mutex_lock(&c->guard);
    c->questions++;
    for (size_t i = 0; i < n; i++) {
        out[i] = find(c, locks[i]);
        bool known = out[i] || !locks[i] || locks[i] >= a->locks.n_objects;
        for (size_t k = 0; k < n_missing && !known; k++)
            known = missing[k] == locks[i];
        if (!known)
            missing[n_missing++] = locks[i];
    }
    pthread_mutex_unlock(&c->guard);
    return n_missing;
}

/* Keep the new ones, and give them to whom they are missing. */
static void keep_all(struct lock_lines *c, struct kept_line **made, size_t n_made,
                     const uint32_t *locks, size_t n, struct lock_line **out)
{
    pthread_mutex_lock(&c->guard);
    for (size_t k = 0; k < n_made; k++) {
        struct lock_line *l = keep(c, made[k]);
        for (size_t i = 0; i < n; i++)
            if (!out[i] && locks[i] == l->lock) {
                out[i] = l;
                use(c, l, 1);
            }
        use(c, l, -1);
    }
    trim(c);
    pthread_mutex_unlock(&c->guard);
}

/* Make the histories of n different locks, to be kept.  -ENOMEM; then there are none. */
static int make(const struct analysis *a, const uint32_t *locks, size_t n, struct kept_line **made)
{
    struct lock_line **lines = calloc(n + 1, sizeof(void *));
    int rc = lines ? lock_lines_make(a, locks, n, true, lines) : -ENOMEM;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        made[i] = calloc(1, sizeof **made);
        rc = made[i] ? 0 : -ENOMEM;
    }
    for (size_t i = 0; lines && i < n; i++)
        if (rc == 0)
            made[i]->line = lines[i];
        else
            lock_line_free(lines[i]);
    for (size_t i = 0; rc < 0 && i < n; i++)
        free(made[i]);
    free(lines);
    return rc;
}

int lock_lines_get(struct lock_lines *c, const struct analysis *a, const uint32_t *locks, size_t n,
                   struct lock_line **out)
{
    uint32_t *missing = malloc((n + 1) * sizeof *missing);
    struct kept_line **made = calloc(n + 1, sizeof(void *));
    size_t n_made = 0;
    int rc = missing && made ? 0 : -ENOMEM;
    memset(out, 0, n * sizeof(void *));
    if (rc == 0) {
        n_made = find_all(c, a, locks, n, out, missing);
        rc = n_made ? make(a, missing, n_made, made) : 0;
    }
    if (rc == 0)
        keep_all(c, made, n_made, locks, n, out);
    else
        lock_lines_release(c, out, n);
    free(missing);
    free(made);
    return rc;
}

void lock_lines_release(struct lock_lines *c, struct lock_line **lines, size_t n)
{
    pthread_mutex_lock(&c->guard);
    for (size_t i = 0; i < n; i++) {
        if (lines[i])
            use(c, lines[i], -1);
        lines[i] = NULL;
    }
    trim(c);
    pthread_mutex_unlock(&c->guard);
}
