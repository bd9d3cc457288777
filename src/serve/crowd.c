#include "serve/crowd.h"

#include <string.h>

bool crowd_add(struct crowd *c, const struct guest *g)
{
    if (c->n >= c->max)
        return false;
    c->v[c->n++] = *g;
    return true;
}

struct guest *crowd_find(struct crowd *c, int fd)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].fd == fd)
            return &c->v[i];
    return NULL;
}

bool crowd_remove(struct crowd *c, int fd, struct guest *out)
{
    struct guest *g = crowd_find(c, fd);
    if (!g)
        return false;
    if (out)
        *out = *g;
    c->n--;
    memmove(g, g + 1, (size_t)(c->v + c->n - g) * sizeof *g);
    return true;
}

static size_t count_of(const struct crowd *c, uint32_t uid)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += c->v[i].uid == uid;
    return n;
}

const struct guest *crowd_last_choice(const struct crowd *c)
{
    const struct guest *found = NULL;
    size_t most = 0;
    for (size_t i = 0; i < c->n; i++) {
        size_t n = found && c->v[i].uid == found->uid ? 0 : count_of(c, c->v[i].uid);
        if (n > most) {
            most = n;
            found = &c->v[i];
        }
    }
    return found;
}

const struct guest *crowd_before(const struct crowd *c, uint64_t then)
{
    return c->n > 0 && c->v[0].since < then ? &c->v[0] : NULL;
}
