#include "analyze/wait_stats.h"

#include <string.h>

void wait_stats_init(struct wait_stats *s)
{
    memset(s, 0, sizeof *s);
    s->min = s->first = UINT64_MAX;
}

uint64_t wait_stats_avg(const struct wait_stats *s)
{
    uint64_t known = s->count - s->unknown;
    return known ? s->ns / known : 0;
}

uint64_t wait_stats_min(const struct wait_stats *s)
{
    return s->count > s->unknown ? s->min : 0;
}
