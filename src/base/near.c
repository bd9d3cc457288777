#include "base/near.h"

#include <stdint.h>

enum { LONGEST = 63 };

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

size_t near_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    if (a_len > LONGEST || b_len > LONGEST)
        return SIZE_MAX;
    /* Three rows of the optimal-string-alignment matrix, the row for i kept in rows[i % 3]. */
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *now = rows[i % 3];
        const size_t *up = rows[(i - 1) % 3];
        const size_t *up2 = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            now[j] = min3(up[j] + 1, now[j - 1] + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = min3(now[j], up2[j - 2] + 1, SIZE_MAX);
        }
    }
    return rows[a_len % 3][b_len];
}

bool near_close(size_t distance, size_t len)
{
    return distance <= (len < 3 ? 0u : len < 5 ? 1u : 2u);
}
