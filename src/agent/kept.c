#include "agent/kept.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Of a JDK's classes some 300 have native methods; one for which there is no room is put back. */
enum { KEPT_MAX = 4096 };

static struct {
    pthread_mutex_t lock;
    struct {
        char *name;
        unsigned parts;
    } v[KEPT_MAX];
    unsigned n;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The place of a class; kept.n: it has none.  Under the lock. */
static unsigned place_of(const char *name)
{
    unsigned i = 0;
    while (i < kept.n && strcmp(kept.v[i].name, name) != 0)
        i++;
    return i;
}

unsigned kept_parts(const char *name)
{
    pthread_mutex_lock(&kept.lock);
    unsigned i = place_of(name);
    unsigned parts = i < kept.n ? kept.v[i].parts : 0;
    pthread_mutex_unlock(&kept.lock);
    return parts;
}

void kept_note(const char *name, unsigned parts)
{
    if (strcmp(name, "java/lang/Object") == 0)
        return;
    pthread_mutex_lock(&kept.lock);
    unsigned i = place_of(name);
    if (i == kept.n && i < KEPT_MAX && parts && (kept.v[i].name = strdup(name)))
        kept.n++;
    if (i < kept.n)
        kept.v[i].parts = parts;
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
    for (unsigned i = 0; i < kept.n; i++)
        kept.v[i].parts = 0;
    pthread_mutex_unlock(&kept.lock);
}
