#include "base/arena.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 256 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t used, cap;
    max_align_t data[];
};

void arena_init(struct arena *a, size_t limit)
{
    *a = (struct arena){.limit = limit};
}

void arena_fini(struct arena *a)
{
    while (a->blocks) {
        struct arena_block *b = a->blocks;
        a->blocks = b->next;
        free(b);
    }
    a->used = 0;
}

void *arena_alloc(struct arena *a, size_t n)
{
    if (n > SIZE_MAX / 2)
        return NULL;
    n = ALIGN_UP(n ? n : 1, (size_t)8);
    if (a->limit && n > a->limit - a->used)
        return NULL;
    struct arena_block *b = a->blocks;
    if (!b || b->cap - b->used < n) {
        size_t cap = n > BLOCK_SIZE / 4 ? n : BLOCK_SIZE;
        b = calloc(1, sizeof *b + cap);
        if (!b)
            return NULL;
        b->cap = cap;
        if (a->blocks && cap == n &&
            cap != BLOCK_SIZE) { /* a big one: keep filling the old block */
            b->next = a->blocks->next;
            a->blocks->next = b;
        } else {
            b->next = a->blocks;
            a->blocks = b;
        }
    }
    void *p = (char *)b->data + b->used;
    b->used += n;
    a->used += n;
    return p;
}

char *arena_strndup(struct arena *a, const char *p, size_t n)
{
    if (n == SIZE_MAX)
        return NULL;
    char *s = arena_alloc(a, n + 1);
    if (s && n)
        memcpy(s, p, n);
    return s;
}
