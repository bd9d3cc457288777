#include "export/orca_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct owner {
    uint32_t hash, id;
};

static int by_hash_then_id(const void *a, const void *b)
{
    const struct owner *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_hash(const void *a, const void *b)
{
    const struct owner *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* The next number after `last` that is not a hash. */
static uint32_t next_free(uint32_t last, const struct owner *owners, size_t n)
{
    struct owner key = {.hash = last};
    do
        key.hash++;
    while (key.hash == 0 || bsearch(&key, owners, n, sizeof *owners, by_hash));
    return key.hash;
}

static void number(struct orca_ids *ids, struct owner *owners, orca_ids_hash *hash,
                   const void *table)
{
    size_t n = 0;
    uint32_t h;
    for (size_t i = 0; i < ids->n; i++)
        if (hash(table, i, &h) && h)
            owners[n++] = (struct owner){h, (uint32_t)i};
    qsort(owners, n, sizeof *owners, by_hash_then_id);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || owners[i].hash != owners[i - 1].hash)
            ids->number[owners[i].id] = owners[i].hash;
    uint32_t last = ORCA_IDS_FREE - 1;
    for (size_t i = 0; i < ids->n; i++)
        if (ids->number[i] == 0 && hash(table, i, &h))
            ids->number[i] = last = next_free(last, owners, n);
}

int orca_ids_init(struct orca_ids *ids, size_t n, orca_ids_hash *hash, const void *table)
{
    struct owner *owners = calloc(n + 1, sizeof *owners);
    ids->number = calloc(n + 1, sizeof *ids->number);
    ids->n = ids->number ? n : 0;
    int rc = owners && ids->number ? 0 : -ENOMEM;
    if (rc == 0)
        number(ids, owners, hash, table);
    free(owners);
    return rc;
}

void orca_ids_fini(struct orca_ids *ids)
{
    free(ids->number);
    memset(ids, 0, sizeof *ids);
}
