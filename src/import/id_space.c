#include "import/id_space.h"

#include "format/trace.h"

#include <string.h>

void id_space_init(struct id_space *s)
{
    memset(s, 0, sizeof *s);
    s->next = 1;
}

void id_space_fini(struct id_space *s)
{
    buf_fini(&s->taken);
    memset(s, 0, sizeof *s);
}

static bool is_taken(const struct id_space *s, uint64_t id)
{
    return id / 8 < s->taken.len && s->taken.p[id / 8] >> id % 8 & 1;
}

static uint32_t take(struct id_space *s, uint32_t id)
{
    size_t bytes = (size_t)id / 8 + 1;
    if (bytes > s->taken.len) {
        uint8_t *p = buf_reserve(&s->taken, bytes - s->taken.len);
        if (!p)
            return 0;
        memset(p, 0, bytes - s->taken.len);
        s->taken.len = bytes;
    }
    s->taken.p[id / 8] |= (uint8_t)(1u << id % 8);
    s->n++;
    return id;
}

uint32_t id_space_take(struct id_space *s, uint64_t want)
{
    if (want > 0 && want < trace_id_limit((size_t)s->n + 1) && want <= UINT32_MAX &&
        !is_taken(s, want))
        return take(s, (uint32_t)want);
    while (is_taken(s, s->next))
        s->next++;
    return take(s, s->next);
}
