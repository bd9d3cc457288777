#include "analyze/time_sort.h"

#include "base/err.h"

#include <stdlib.h>

int time_sort_init(struct time_sort *s, size_t n)
{
    s->all = malloc((n + 1) * 2 * sizeof *s->all);
    if (!s->all)
        return -ENOMEM;
    s->v = s->all;
    s->spare = s->all + n + 1;
    return 0;
}

void time_sort_fini(struct time_sort *s)
{
    free(s->all);
}

struct time_key *time_sort(struct time_sort *s, size_t n)
{
    uint64_t differ = 0;
    for (size_t i = 1; i < n; i++)
        differ |= s->v[i].time ^ s->v[0].time;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t count[257] = {0};
        if (!(differ >> shift & 0xff))
            continue;
        for (size_t i = 0; i < n; i++)
            count[(s->v[i].time >> shift & 0xff) + 1]++;
        for (int i = 0; i < 256; i++)
            count[i + 1] += count[i];
        for (size_t i = 0; i < n; i++)
            s->spare[count[s->v[i].time >> shift & 0xff]++] = s->v[i];
        struct time_key *sorted = s->spare;
        s->spare = s->v;
        s->v = sorted;
    }
    return s->v;
}
