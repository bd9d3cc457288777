#include "agent/kept.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The hook asks at each class that the boot loader loads, the program's threads waiting. */
struct class
{
    char *name;
    unsigned parts;
};

static struct {
    pthread_mutex_t lock;
    struct map at;    /* a name's hash, or the next one that is free -> 1 + index */
    struct buf named; /* struct class [] */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct class *class_at(uint64_t place)
{
    return &((struct class *)(void *)kept.named.p)[place - 1];
}

/* NULL: it is not there; *hash: the key that it gets.  Under the lock. */
static struct class *find(const char *name, uint64_t *hash)
{
    const uint64_t *place;
    *hash = hash_bytes(name, strlen(name), 0);
    for (; (place = map_find(&kept.at, *hash)); ++*hash)
        if (strcmp(class_at(*place)->name, name) == 0)
            return class_at(*place);
    return NULL;
}

static void add(const char *name, uint64_t hash, unsigned parts)
{
    const struct class new = {strdup(name), parts};
    if (new.name)
        buf_put(&kept.named, &new, sizeof new);
    uint64_t *place = new.name && !kept.named.oom ? map_put(&kept.at, hash) : NULL;
    if (place)
        *place = kept.named.len / sizeof new;
    else
        free(new.name);
    kept.named.oom = false; /* one that has no room is put back at the end; others may have */
}

unsigned kept_parts(const char *name)
{
    uint64_t hash;
    pthread_mutex_lock(&kept.lock);
    const struct class *c = find(name, &hash);
    unsigned parts = c ? c->parts : 0;
    pthread_mutex_unlock(&kept.lock);
    return parts;
}

void kept_note(const char *name, unsigned parts)
{
    uint64_t hash;
    if (strcmp(name, "java/lang/Object") == 0)
        return;
    pthread_mutex_lock(&kept.lock);
    struct class *c = find(name, &hash);
    if (c)
        c->parts = parts;
    else if (parts)
        add(name, hash, parts);
    pthread_mutex_unlock(&kept.lock);
}

bool kept_settled(const char *name, unsigned part)
{
    unsigned parts = kept_parts(name);
    return (parts & part) && !(parts & KEPT_OTHER);
}

void kept_forget(void)
{
    pthread_mutex_lock(&kept.lock);
    for (uint64_t i = 1; i <= kept.named.len / sizeof(struct class); i++)
        class_at(i)->parts = 0;
    pthread_mutex_unlock(&kept.lock);
}
